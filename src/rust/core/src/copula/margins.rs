//! Margins: how often every category occurs, and parametric alternatives.
//!
//! The categories of a key are numbered 0.. in value order; where records miss
//! the key, missing is one more category, the last.
//!
//! A parametric margin describes the category of rank r by frequency (1 = most
//! frequent):
//! * logarithmic: `P(r) = theta^r / (-r ln(1 - theta))`;
//! * negative binomial: `r - 1 ~ NB(size, prob)`.
//!
//! The one of least `BIC = -2 ln L + k ln n` is taken, where the categorical
//! margin has `k = K - 1`. Ranks above K are categories the sample did not show.

use statrs::function::gamma::ln_gamma;

use crate::key_table::{with_codes, Code, Column};

/// Share of a parametric margin that its unseen categories may leave out.
const NEGLIGIBLE: f64 = 1e-9;
/// Unseen categories a parametric margin may have at most.
const MOST_UNSEEN: usize = 10_000;

/// Number of categories of a column, missing included where it occurs.
pub fn n_categories(column: &Column) -> usize {
    column.n_values() as usize + usize::from(column.n_missing() > 0)
}

/// The categories of all rows: value codes less one, missing last.
pub fn categories(column: &Column) -> Vec<u32> {
    let missing = column.n_values();
    with_codes!(column.codes(), |codes| codes
        .iter()
        .map(|code| match code.value() {
            0 => missing,
            code => code - 1,
        })
        .collect())
}

/// Records (or their weights, or what else rows count for) per category.
pub fn category_counts(
    categories: &[u32],
    n_categories: usize,
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let mut counts = vec![0.0; n_categories];
    match weights {
        None => categories.iter().for_each(|&c| counts[c as usize] += 1.0),
        Some(weights) => categories
            .iter()
            .zip(weights)
            .for_each(|(&c, w)| counts[c as usize] += w),
    }
    counts
}

/// The family of a margin with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// The shares of the sample.
    Categorical,
    /// Negative binomial over rank less one.
    NegativeBinomial {
        /// Number of successes, not necessarily whole.
        size: f64,
        /// Probability of a success.
        prob: f64,
    },
    /// Logarithmic over rank.
    Logarithmic {
        /// The parameter, between 0 and 1.
        theta: f64,
    },
}

/// A fitted margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// Family of the margin.
    pub family: Family,
    /// Its Bayesian information criterion.
    pub bic: f64,
    /// Probability per category; categories beyond those of the sample are
    /// unseen ones.
    pub shares: Vec<f64>,
}

/// The shares of the sample, with the criterion of a categorical margin over
/// `n` records.
pub fn plug_in(counts: &[f64], n: f64) -> Margin {
    let total: f64 = counts.iter().sum();
    let shares: Vec<f64> = counts.iter().map(|c| c / total).collect();
    let log_likelihood: f64 = shares
        .iter()
        .filter(|&&p| p > 0.0)
        .map(|p| n * p * p.ln())
        .sum();
    Margin {
        family: Family::Categorical,
        bic: -2.0 * log_likelihood + (n_shown(counts) as f64 - 1.0) * n.ln(),
        shares,
    }
}

/// Categories that occur.
fn n_shown(counts: &[f64]) -> usize {
    counts.iter().filter(|&&c| c > 0.0).count()
}

/// The margin of least criterion; the categorical one where they tie.
pub fn best_margin(counts: &[f64], n: f64) -> Margin {
    let categorical = plug_in(counts, n);
    let order = by_frequency(counts);
    let ranked: Vec<f64> = order
        .iter()
        .take(n_shown(counts))
        .map(|&c| categorical.shares[c as usize])
        .collect();
    [logarithmic(&ranked, n), negative_binomial(&ranked, n)]
        .into_iter()
        .flatten()
        .fold(categorical, |best, (family, log_likelihood, k)| {
            let bic = -2.0 * log_likelihood + k * n.ln();
            if bic < best.bic {
                Margin {
                    family,
                    bic,
                    shares: spread(family, &order),
                }
            } else {
                best
            }
        })
}

/// Categories from the most to the least frequent, ties by number.
pub fn by_frequency(counts: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_by(|&a, &b| counts[b as usize].total_cmp(&counts[a as usize]));
    order
}

/// Maximum likelihood of the logarithmic family: its mean is that of the ranks.
fn logarithmic(ranked: &[f64], n: f64) -> Option<(Family, f64, f64)> {
    let mean = mean_rank(ranked);
    if mean <= 1.0 {
        return None;
    }
    // The mean rises with theta; solved in the logit, where it is smooth.
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if logarithmic_mean(middle) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    let logit: f64 = 0.5 * (low + high);
    let theta = 1.0 / (1.0 + (-logit).exp());
    let norm = softplus(logit).ln();
    let log_likelihood = ranked
        .iter()
        .zip(1..)
        .map(|(p, rank)| {
            let rank = f64::from(rank);
            n * p * (-rank * softplus(-logit) - rank.ln() - norm)
        })
        .sum();
    Some((Family::Logarithmic { theta }, log_likelihood, 1.0))
}

/// `ln(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Mean of the logarithmic family at `theta = 1 / (1 + e^-logit)`:
/// `theta / ((1 - theta) (-ln(1 - theta)))`.
fn logarithmic_mean(logit: f64) -> f64 {
    logit.exp() / softplus(logit)
}

/// Maximum likelihood of the negative binomial family over rank less one: for
/// a given size the mean fixes the probability, and the size is searched.
fn negative_binomial(ranked: &[f64], n: f64) -> Option<(Family, f64, f64)> {
    let mean = mean_rank(ranked) - 1.0;
    if mean <= 0.0 {
        return None;
    }
    let log_likelihood = |ln_size: f64| -> f64 {
        let size = ln_size.exp();
        let (ln_prob, ln_rest) = (
            -(mean / size).ln_1p(),
            mean.ln() - size.ln() - (mean / size).ln_1p(),
        );
        let base = ln_gamma(size);
        ranked
            .iter()
            .zip(0u32..)
            .map(|(p, y)| {
                let y = f64::from(y);
                n * p
                    * (ln_gamma(y + size) - base - ln_gamma(y + 1.0) + size * ln_prob + y * ln_rest)
            })
            .sum()
    };
    let ln_size = maximise(log_likelihood, -8.0, 14.0);
    let size = ln_size.exp();
    let prob = size / (size + mean);
    Some((
        Family::NegativeBinomial { size, prob },
        log_likelihood(ln_size),
        2.0,
    ))
}

fn mean_rank(ranked: &[f64]) -> f64 {
    ranked
        .iter()
        .zip(1u32..)
        .map(|(p, rank)| p * f64::from(rank))
        .sum()
}

/// Argument at which `f` is largest: the best of a grid, refined by golden sections.
fn maximise(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const STEPS: usize = 44;
    let width = (high - low) / STEPS as f64;
    let at = |i: usize| low + width * i as f64;
    let best = (0..=STEPS)
        .map(|i| (i, f(at(i))))
        .fold((0, f64::NEG_INFINITY), |best, new| {
            if new.1 > best.1 {
                new
            } else {
                best
            }
        })
        .0;
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(STEPS)));
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    while b - a > 1e-9 {
        if fc >= fd {
            (b, d, fd) = (d, c, fc);
            c = b - ratio * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + ratio * (b - a);
            fd = f(d);
        }
    }
    0.5 * (a + b)
}

/// Probability per category: that of its rank, then those of unseen ranks.
fn spread(family: Family, order: &[u32]) -> Vec<f64> {
    let seen = order.len();
    let ln_share = |rank: usize| -> f64 {
        let r = rank as f64;
        match family {
            Family::Categorical => f64::NEG_INFINITY,
            Family::Logarithmic { theta } => r * theta.ln() - r.ln() - (-(-theta).ln_1p()).ln(),
            Family::NegativeBinomial { size, prob } => {
                let y = r - 1.0;
                ln_gamma(y + size) - ln_gamma(size) - ln_gamma(y + 1.0)
                    + size * prob.ln()
                    + y * (-prob).ln_1p()
            }
        }
    };
    let mut shares = vec![0.0; seen];
    let mut covered = 0.0;
    for (&category, rank) in order.iter().zip(1..) {
        shares[category as usize] = ln_share(rank).exp();
        covered += shares[category as usize];
    }
    for rank in seen + 1..=seen + MOST_UNSEEN {
        if 1.0 - covered <= NEGLIGIBLE {
            break;
        }
        let share = ln_share(rank).exp();
        shares.push(share);
        covered += share;
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|s| *s /= total);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(counts: &[f64]) -> Margin {
        best_margin(counts, counts.iter().sum())
    }

    #[test]
    fn equal_counts_are_categorical_and_a_falling_series_is_logarithmic() {
        assert_eq!(auto(&[10.0; 5]).family, Family::Categorical);
        let found = auto(&[721.0, 180.0, 60.0, 23.0, 9.0, 4.0, 2.0, 1.0]);
        assert!(
            matches!(found.family, Family::Logarithmic { theta } if (theta - 0.5).abs() < 0.01)
        );
        assert!(found.shares.len() > 8);
        assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_hump_in_ranks_is_negative_binomial_and_shares_follow_ranks() {
        // Many categories of slowly falling counts: few parameters win.
        let (size, prob) = (1.0_f64, 0.05_f64);
        let counts: Vec<f64> = (0..80)
            .map(|y| {
                let y = f64::from(y);
                let ln = size * prob.ln() + y * (1.0 - prob).ln();
                (400.0 * ln.exp()).ceil()
            })
            .collect();
        let found = auto(&counts);
        assert!(
            matches!(found.family, Family::NegativeBinomial { size, .. } if (size - 1.0).abs() < 0.3)
        );
        let mut backwards = counts.clone();
        backwards.reverse();
        let mirrored = auto(&backwards);
        assert!((mirrored.bic - found.bic).abs() < 1e-9);
        // Tied categories may swap ranks.
        let sorted = |shares: &[f64]| {
            let mut sorted = shares[..80].to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        for (a, b) in sorted(&found.shares).iter().zip(sorted(&mirrored.shares)) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn one_category_is_certain() {
        let found = auto(&[7.0]);
        assert_eq!(found.shares, vec![1.0]);
        assert_eq!(found.family, Family::Categorical);
    }
}
