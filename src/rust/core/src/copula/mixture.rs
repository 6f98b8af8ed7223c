//! Likelihoods of uniqueness where the probability of a record's values is itself
//! not certain.
//!
//! The tree of pairs gives a record the probability p, estimated from counts and
//! under a model. In the population its values have the probability `lambda p g`
//! with g a gamma variable of shape and rate `a`,
//!
//! `1 / a = 1 / alpha + c V`:
//!
//! `alpha` says how far cells are from the tree, V is the variance of ln p that the
//! counts of the record's pairs leave, and `c` how much of it tells. Someone drawn
//! from the population is in a frequent cell rather than in a rare one, so that for
//! the person g has the shape `a + 1`. With `x = (N - 1) lambda p` and
//! `y = N lambda p`,
//!
//! `xi = E exp(-x g) = (1 + x / a)^-(a + 1)`,
//! `kappa = E (1 - exp(-y g)) / (y g) = (1 - (1 + y / a)^-a) / y`.
//!
//! `alpha`, `c` and `lambda` in the sample are where the likelihood of which records
//! are unique in it, times a prior, is largest. In a population `lambda` is such
//! that the mean of xi over the sample's records is the population's uniqueness.

use std::collections::HashMap;

use rayon::prelude::*;

use super::projection::cholesky;
use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Standard deviations of the prior of ln alpha, ln lambda and ln c around 0.
const PRIOR_SD: [f64; 3] = [0.8, 0.7, 0.5];
/// Up to this many records a sample is kept record by record, beyond in a grid
const KEPT: usize = 4096;
/// of so many steps per unit of ln p
const P_STEPS: f64 = 32.0;
/// and of ln V.
const V_STEPS: f64 = 8.0;
/// Sums over records are taken in blocks, so that threads do not change them.
const BLOCK: usize = 1 << 13;
/// ln lambda lies within this,
const FARTHEST: f64 = 60.0;
/// and is not raised beyond that in the sample by more than this where taking away
/// uncertainty does as well.
const MOST_RAISED: f64 = 3.0;
/// Uncertainty is taken away down to this share of it.
const SHARPEST: f64 = 1e-9;

/// What the tree says of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The logarithm of the probability of its values.
    pub ln_p: f64,
    /// The variance of that logarithm, from the counts behind it.
    pub variance: f64,
}

/// Records of a sample at one point, or near it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// Where they are, each being left out of the counts it is judged by.
    pub point: Point,
    /// How much of the population they stand for.
    pub weight: f64,
    /// Number of records.
    pub n: f64,
    /// How many of them are unique in the sample.
    pub n_unique: f64,
}

/// How uncertain probabilities are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// The shape of what the tree misses.
    pub alpha: f64,
    /// How much of the counts' variance tells.
    pub spread: f64,
}

/// What is said of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The mean probability of its values.
    pub prob: f64,
    /// The likelihood of being unique.
    pub unique: f64,
    /// The likelihood that a match is right.
    pub correct: f64,
    /// The shape of the gamma variable.
    pub shape: f64,
}

/// E exp(-z g), g of shape `a + 1` and rate b, by `1 / a` and `ratio = z / b`.
fn alone(inverse_shape: f64, ratio: f64) -> f64 {
    ln_alone(inverse_shape, ratio).exp()
}

fn ln_alone(inverse_shape: f64, ratio: f64) -> f64 {
    -(1.0 / inverse_shape + 1.0) * ratio.ln_1p()
}

/// E (1 - exp(-z g)) / (z g) likewise.
fn right(inverse_shape: f64, ratio: f64) -> f64 {
    if ratio < 1e-300 {
        return 1.0;
    }
    -(-ratio.ln_1p() / inverse_shape).exp_m1() * inverse_shape / ratio
}

/// What brings a sample's mixture to a population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// The logarithm of the factor of all probabilities.
    pub ln_lambda: f64,
    /// The share of the uncertainty that is left.
    pub left: f64,
}

impl Mixture {
    /// The mixture with this share of the uncertainty.
    pub fn sharpened(&self, left: f64) -> Self {
        Self {
            alpha: self.alpha / left,
            spread: self.spread * left,
        }
    }

    /// One over the shape of a record's gamma variable.
    pub fn inverse_shape(&self, variance: f64) -> f64 {
        1.0 / self.alpha + self.spread * variance
    }

    /// A record's likelihoods among `n_people`.
    pub fn likelihood(&self, point: Point, ln_lambda: f64, n_people: f64) -> Likelihood {
        let s = self.inverse_shape(point.variance);
        let p = (point.ln_p + ln_lambda).exp();
        Likelihood {
            prob: p.min(1.0),
            unique: alone(s, (n_people - 1.0) * p * s),
            correct: right(s, n_people * p * s),
            shape: 1.0 / s,
        }
    }

    /// The same, given that `count` records of a sample of `n` have the record's
    /// values. A record that is not unique in the sample is not in the population;
    /// for one that is, the sample has made g smaller: it has the rate
    /// `a + n lambda p` where it had the rate `a`.
    pub fn likelihood_given(
        &self,
        point: Point,
        ln_lambda: f64,
        n_people: f64,
        (n, count): (f64, u32),
    ) -> Likelihood {
        let plain = self.likelihood(point, ln_lambda, n_people);
        if count > 1 {
            return Likelihood {
                unique: 0.0,
                correct: plain.correct.min(1.0 / f64::from(count)),
                ..plain
            };
        }
        let s = self.inverse_shape(point.variance);
        let p = (point.ln_p + ln_lambda).exp();
        let ratio = (n_people - n).max(0.0) * p * s / (1.0 + n * p * s);
        Likelihood {
            unique: alone(s, ratio),
            correct: right(s, ratio),
            ..plain
        }
    }
}

/// Brings the records of a sample together that are nearly at the same point.
/// `unique` says who is unique in the sample; `weights` are those of the records.
pub fn clusters(points: &[Point], weights: Option<&[f64]>, unique: &[bool]) -> Vec<Cluster> {
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let mut found: Vec<Cluster> = if points.len() <= KEPT {
        points
            .iter()
            .zip(unique)
            .enumerate()
            .map(|(row, (&point, &unique))| Cluster {
                point,
                weight: weight(row),
                n: 1.0,
                n_unique: f64::from(u8::from(unique)),
            })
            .collect()
    } else {
        grid(points, weight, unique)
    };
    let key = |c: &Cluster| [c.point.ln_p, c.point.variance, c.n_unique, c.weight];
    found.sort_unstable_by(|a, b| {
        let order = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b));
        order.fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
    });
    found
}

/// Means over the cells of a grid, in whole numbers: the order of records does not
/// matter.
fn grid(points: &[Point], weight: impl Fn(usize) -> f64, unique: &[bool]) -> Vec<Cluster> {
    const FINE: f64 = (1u64 << 24) as f64;
    // A key without edges has no variance.
    const LEAST: f64 = 1e-12;
    let whole = |x: f64| (x * FINE).round() as i128;
    let mut cells: HashMap<(i64, i64), [i128; 5]> = HashMap::new();
    for (row, (point, &unique)) in points.iter().zip(unique).enumerate() {
        let ln_v = point.variance.max(LEAST).ln();
        let at = (
            (point.ln_p * P_STEPS).floor() as i64,
            (ln_v * V_STEPS).floor() as i64,
        );
        let sums = cells.entry(at).or_insert([0; 5]);
        let more = [
            whole(point.ln_p),
            whole(ln_v),
            whole(weight(row)),
            1,
            i128::from(unique),
        ];
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum += more;
        }
    }
    cells
        .into_values()
        .map(|[ln_p, ln_v, weight, n, n_unique]| {
            let n = n as f64;
            let mean = |sum: i128| sum as f64 / FINE / n;
            let ln_v = mean(ln_v);
            Cluster {
                point: Point {
                    ln_p: mean(ln_p),
                    variance: if ln_v > LEAST.ln() + 1e-3 {
                        ln_v.exp()
                    } else {
                        0.0
                    },
                },
                weight: weight as f64 / FINE,
                n,
                n_unique: n_unique as f64,
            }
        })
        .collect()
}

/// The mixture of a sample of `n` records, and ln lambda in it.
pub fn fit(sample: &[Cluster], n: f64, monitor: &Monitor) -> Result<(Mixture, f64)> {
    const MOST_STEPS: usize = 200;
    let mut at = [0.0; 3];
    let mut here = Posterior::at(&at, sample, n);
    for _ in 0..MOST_STEPS {
        monitor.check()?;
        let step = here.step()?;
        let size = step.iter().fold(0.0f64, |most, s| most.max(s.abs()));
        // Scoring may go too far; half the way is then better.
        let mut share = (2.0 / size).min(1.0);
        let next = loop {
            let next = std::array::from_fn(|k| at[k] + share * step[k]);
            let there = Posterior::at(&next, sample, n);
            if there.value >= here.value || share < 1e-6 {
                here = there;
                break next;
            }
            share *= 0.5;
        };
        at = next;
        if share * size < 1e-9 {
            break;
        }
    }
    let [ln_alpha, ln_lambda, ln_spread] = at;
    let mixture = Mixture {
        alpha: ln_alpha.exp(),
        spread: ln_spread.exp(),
    };
    Ok((mixture, ln_lambda))
}

/// The logarithm of the posterior density, its gradient, and the information.
#[derive(Debug, Clone, Copy)]
struct Posterior {
    value: f64,
    gradient: [f64; 3],
    information: [[f64; 3]; 3],
}

impl Posterior {
    /// At ln alpha, ln lambda and ln c.
    fn at(at: &[f64; 3], sample: &[Cluster], n: f64) -> Self {
        let mixture = Mixture {
            alpha: at[0].exp(),
            spread: at[2].exp(),
        };
        let parts: Vec<Self> = sample
            .par_chunks(BLOCK)
            .map(|clusters| {
                let mut sum = Self::nothing();
                for cluster in clusters {
                    sum.add(&mixture, at[1], cluster, n);
                }
                sum
            })
            .collect();
        let mut sum = Self::nothing();
        for part in parts {
            sum.value += part.value;
            for i in 0..3 {
                sum.gradient[i] += part.gradient[i];
                for j in 0..3 {
                    sum.information[i][j] += part.information[i][j];
                }
            }
        }
        for (k, sd) in PRIOR_SD.iter().enumerate() {
            let precision = 1.0 / (sd * sd);
            sum.value -= 0.5 * precision * at[k] * at[k];
            sum.gradient[k] -= precision * at[k];
            sum.information[k][k] += precision;
        }
        sum
    }

    fn nothing() -> Self {
        Self {
            value: 0.0,
            gradient: [0.0; 3],
            information: [[0.0; 3]; 3],
        }
    }

    /// Adds the records of one cluster.
    fn add(&mut self, mixture: &Mixture, ln_lambda: f64, cluster: &Cluster, n: f64) {
        const LEAST: f64 = 1e-300;
        let s = mixture.inverse_shape(cluster.point.variance);
        let x = (n - 1.0) * (cluster.point.ln_p + ln_lambda).exp();
        let ln_unique = ln_alone(s, x * s);
        let other = -ln_unique.exp_m1();
        let (k, rest) = (cluster.n_unique, cluster.n - cluster.n_unique);
        self.value += k * ln_unique + rest * other.max(LEAST).ln();
        // ln xi by ln lambda and by s, and s by ln alpha and ln c.
        let by_lambda = -(1.0 + s) * x / (1.0 + x * s);
        let by_s = (x * s).ln_1p() / (s * s) - (1.0 / s + 1.0) * x / (1.0 + x * s);
        let slope = [
            -by_s / mixture.alpha,
            by_lambda,
            by_s * mixture.spread * cluster.point.variance,
        ];
        // d/d ln xi of the likelihood, and its variance.
        let unique = ln_unique.exp();
        let odds = if other > LEAST { unique / other } else { 0.0 };
        let score = k - rest * odds;
        for i in 0..3 {
            self.gradient[i] += score * slope[i];
            for j in 0..3 {
                self.information[i][j] += cluster.n * odds * slope[i] * slope[j];
            }
        }
    }

    /// Where scoring goes next.
    fn step(&self) -> Result<[f64; 3]> {
        let matrix: Vec<f64> = self.information.iter().flatten().copied().collect();
        let root = cholesky(&matrix, 3)?;
        let mut step = self.gradient;
        for i in 0..3 {
            let known: f64 = (0..i).map(|j| root[i * 3 + j] * step[j]).sum();
            step[i] = (step[i] - known) / root[i * 4];
        }
        for i in (0..3).rev() {
            let known: f64 = (i + 1..3).map(|j| root[j * 3 + i] * step[j]).sum();
            step[i] = (step[i] - known) / root[i * 4];
        }
        if step.iter().all(|s| s.is_finite()) {
            Ok(step)
        } else {
            Err(Error::NotConverged(
                "The uncertainty of record probabilities could not be found.".into(),
            ))
        }
    }
}

/// What makes the mean of xi among `n_people`, over records at `points`, each with
/// its weight, equal to `uniqueness`: a lambda, as a rule. Where next to nobody is
/// unique, only a lambda far from that of the sample, `ln_sample`, would do, because
/// uncertain probabilities leave everyone some chance; there the uncertainty is
/// taken away. Without uniqueness there is nothing to say.
pub fn anchor(
    mixture: &Mixture,
    ln_sample: f64,
    points: &[Point],
    weights: Option<&[f64]>,
    n_people: f64,
    uniqueness: f64,
    monitor: &Monitor,
) -> Result<Anchor> {
    let as_in_sample = Anchor {
        ln_lambda: ln_sample,
        left: 1.0,
    };
    if points.is_empty() || n_people <= 1.0 || uniqueness.is_nan() || uniqueness <= 0.0 {
        return Ok(as_in_sample);
    }
    let target = uniqueness.min(1.0 - 1e-10);
    let at = |mixture: &Mixture, ln_lambda: f64| {
        mean_unique(mixture, points, weights, n_people, ln_lambda, monitor)
    };
    let most = ln_sample + MOST_RAISED;
    let sharp = mixture.sharpened(SHARPEST);
    if at(mixture, most)?.0 <= target || at(&sharp, most)?.0 >= target {
        let ln_lambda = root(target, (-FARTHEST, FARTHEST), ln_sample, |x| at(mixture, x))?;
        return Ok(Anchor {
            ln_lambda,
            left: 1.0,
        });
    }
    // Halving: the slope in the uncertainty is not needed often.
    let (mut low, mut high) = (SHARPEST.ln(), 0.0);
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if at(&mixture.sharpened(middle.exp()), most)?.0 > target {
            high = middle;
        } else {
            low = middle;
        }
        if 0.5 * (low + high) <= low {
            break;
        }
    }
    Ok(Anchor {
        ln_lambda: most,
        left: low.exp(),
    })
}

/// Where a falling mean is `target`, by Newton's steps on the log-odds, which are
/// nearly straight; `of` gives the mean and its slope.
fn root(
    target: f64,
    (mut low, mut high): (f64, f64),
    start: f64,
    of: impl Fn(f64) -> Result<(f64, f64)>,
) -> Result<f64> {
    const MOST_STEPS: usize = 200;
    let mut at = start;
    for _ in 0..MOST_STEPS {
        let (mean, slope) = of(at)?;
        if mean > target {
            low = at;
        } else {
            high = at;
        }
        let step = (ln_odds(target) - ln_odds(mean)) * mean * (1.0 - mean) / slope;
        if step.abs() < 1e-13 || high - low < 1e-13 {
            break;
        }
        let next = at + step;
        at = if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
    }
    Ok(at)
}

fn ln_odds(share: f64) -> f64 {
    share.ln() - (-share).ln_1p()
}

/// The weighted mean of xi, and its slope in ln lambda.
fn mean_unique(
    mixture: &Mixture,
    points: &[Point],
    weights: Option<&[f64]>,
    n_people: f64,
    ln_lambda: f64,
    monitor: &Monitor,
) -> Result<(f64, f64)> {
    let parts: Vec<[f64; 3]> = points
        .par_chunks(BLOCK)
        .enumerate()
        .map(|(block, points)| {
            monitor.check()?;
            let mut sums = [0.0; 3];
            for (k, point) in points.iter().enumerate() {
                let weight = weights.map_or(1.0, |w| w[block * BLOCK + k]);
                let s = mixture.inverse_shape(point.variance);
                let x = (n_people - 1.0) * (point.ln_p + ln_lambda).exp();
                let unique = weight * alone(s, x * s);
                sums[0] += weight;
                sums[1] += unique;
                sums[2] -= unique * (1.0 + s) * x / (1.0 + x * s);
            }
            Ok(sums)
        })
        .collect::<Result<_>>()?;
    let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<f64>();
    Ok((sum(1) / sum(0), sum(2) / sum(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_threads;
    use proptest::prelude::*;

    fn point(p: f64, variance: f64) -> Point {
        Point {
            ln_p: p.ln(),
            variance,
        }
    }

    const PLAIN: Mixture = Mixture {
        alpha: 2.0,
        spread: 1.0,
    };

    #[test]
    fn likelihoods_have_their_worked_values() {
        let found = PLAIN.likelihood(point(1e-4, 0.0), 0.0, 10_000.0);
        assert!((found.unique - 0.296_325_927_9).abs() < 1e-10);
        assert!((found.correct - 0.555_555_555_6).abs() < 1e-10);
        assert!((found.shape - 2.0).abs() < 1e-15 && (found.prob / 1e-4 - 1.0).abs() < 1e-12);
        // The variance of the counts makes the shape 1 / (1/2 + 1/2).
        let less = PLAIN.likelihood(point(1e-4, 0.5), 0.0, 10_000.0);
        assert!((less.shape - 1.0).abs() < 1e-15);
        assert!((less.unique - 1.9999f64.powi(-2)).abs() < 1e-12);
        // Without uncertainty the powers of the probability.
        let sure = Mixture {
            alpha: 1e12,
            spread: 1.0,
        };
        let found = sure.likelihood(point(1e-4, 0.0), 0.0, 10_000.0);
        assert!((found.unique - (-0.9999f64).exp()).abs() < 1e-9);
        assert!((found.correct + (-1.0f64).exp_m1()).abs() < 1e-9);
        assert!((sure.likelihood(point(1e-320, 0.0), 0.0, 10.0).correct - 1.0).abs() < 1e-15);
    }

    #[test]
    fn likelihoods_are_means_over_the_gamma_variable() {
        // By the midpoint rule over g of shape a + 1 and rate a + n lambda p.
        let (p, ln_lambda, n, n_people) = (3e-4, 0.4f64, 2_000.0, 9_000.0);
        let x = p * ln_lambda.exp();
        let given = PLAIN.likelihood_given(point(p, 0.3), ln_lambda, n_people, (n, 1));
        let a = given.shape;
        let mean = |rate: f64, of: &dyn Fn(f64) -> f64| {
            let (mut mass, mut sum) = (0.0, 0.0);
            for i in 0..400_000 {
                let g = (f64::from(i) + 0.5) * 1e-4;
                let weight = (a * g.ln() - rate * g).exp();
                mass += weight;
                sum += weight * of(g);
            }
            sum / mass
        };
        let right = |z: f64| move |g: f64| -(-z * g).exp_m1() / (z * g);
        let rest = (n_people - n) * x;
        assert!((given.unique - mean(a + n * x, &|g| (-rest * g).exp())).abs() < 1e-6);
        assert!((given.correct - mean(a + n * x, &right(rest))).abs() < 1e-6);
        let plain = PLAIN.likelihood(point(p, 0.3), ln_lambda, n_people);
        let others = (n_people - 1.0) * x;
        assert!((plain.unique - mean(a, &|g| (-others * g).exp())).abs() < 1e-6);
        assert!((plain.correct - mean(a, &right(n_people * x))).abs() < 1e-6);
        let twice = PLAIN.likelihood_given(point(p, 0.3), ln_lambda, n_people, (n, 2));
        assert!(twice.unique <= 0.0 && twice.correct <= 0.5);
    }

    /// Points and who is unique among `n` people, from the mixture itself.
    fn sample(n: usize) -> (Vec<Point>, Vec<bool>) {
        let mut state = 7u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..n)
            .map(|_| {
                let point = point((-11.0 + 6.0 * uniform()).exp(), 2.0 * uniform().powi(3));
                let xi = PLAIN.likelihood(point, 0.3, n as f64).unique;
                (point, uniform() < xi)
            })
            .unzip()
    }

    #[test]
    fn a_mixture_is_found_again() {
        let (points, unique) = sample(40_000);
        let all = clusters(&points, None, &unique);
        assert!(all.len() < 20_000);
        assert!((all.iter().map(|c| c.n).sum::<f64>() - 40_000.0).abs() < 1e-9);
        let (mixture, ln_lambda) = fit(&all, 40_000.0, &Monitor::new()).unwrap();
        assert!((mixture.alpha / 2.0 - 1.0).abs() < 0.3, "{mixture:?}");
        assert!((mixture.spread - 1.0).abs() < 0.4, "{mixture:?}");
        assert!((ln_lambda - 0.3).abs() < 0.1, "{ln_lambda}");
        // A summit: no step in any direction is higher.
        let top = [mixture.alpha.ln(), ln_lambda, mixture.spread.ln()];
        let summit = Posterior::at(&top, &all, 40_000.0);
        for k in 0..3 {
            assert!(summit.gradient[k].abs() < 1e-4);
            for step in [-1e-3, 1e-3] {
                let mut beside = top;
                beside[k] += step;
                assert!(Posterior::at(&beside, &all, 40_000.0).value < summit.value);
            }
        }
    }

    #[test]
    fn order_and_threads_change_nothing() {
        let (points, unique) = sample(9_000);
        let turned: Vec<usize> = (0..9_000).rev().collect();
        let again = clusters(
            &turned.iter().map(|&i| points[i]).collect::<Vec<_>>(),
            None,
            &turned.iter().map(|&i| unique[i]).collect::<Vec<_>>(),
        );
        let all = clusters(&points, None, &unique);
        assert_eq!(all, again);
        let run = |threads| {
            with_threads(threads, || {
                let monitor = Monitor::new();
                let (mixture, _) = fit(&all, 9_000.0, &monitor)?;
                let found = anchor(&mixture, 0.0, &points, None, 1e6, 0.01, &monitor)?;
                Ok((mixture, found))
            })
            .unwrap()
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn a_grid_hardly_moves_records() {
        let (points, unique) = sample(20_000);
        let all = clusters(&points, None, &unique);
        let near: Vec<Point> = all.iter().map(|c| c.point).collect();
        let weights: Vec<f64> = all.iter().map(|c| c.weight).collect();
        let monitor = Monitor::new();
        for uniqueness in [0.003, 0.2, 0.8] {
            let at = |points: &[Point], weights: Option<&[f64]>| {
                anchor(&PLAIN, 0.3, points, weights, 4e4, uniqueness, &monitor).unwrap()
            };
            let (exact, found) = (at(&points, None), at(&near, Some(&weights)));
            assert!(
                (exact.ln_lambda - found.ln_lambda).abs() < 1e-3,
                "{exact:?} {found:?}"
            );
            assert!(
                (exact.left / found.left - 1.0).abs() < 1e-2,
                "{exact:?} {found:?}"
            );
        }
    }

    #[test]
    fn without_uniqueness_nothing_is_moved() {
        let monitor = Monitor::new();
        let points = [point(0.5, 0.0); 3];
        for (n_people, uniqueness) in [(100.0, 0.0), (1.0, 0.5), (100.0, f64::NAN)] {
            let found = anchor(&PLAIN, 0.2, &points, None, n_people, uniqueness, &monitor);
            let found = found.unwrap();
            assert!((found.ln_lambda - 0.2).abs() < 1e-15 && found.left >= 1.0);
        }
        assert!(anchor(&PLAIN, 0.2, &[], None, 100.0, 0.5, &monitor).is_ok());
    }

    #[test]
    fn where_next_to_nobody_is_unique_lambda_stays_where_it_was() {
        let monitor = Monitor::new();
        let points = [point(0.01, 0.001), point(0.02, 0.0005)];
        for uniqueness in [1e-9, 1e-30, 1e-100] {
            let found = anchor(&PLAIN, 0.2, &points, None, 1e4, uniqueness, &monitor).unwrap();
            assert!(found.ln_lambda <= 0.2 + MOST_RAISED + 1e-12);
            let mixture = PLAIN.sharpened(found.left);
            let unique = |point| mixture.likelihood(point, found.ln_lambda, 1e4).unique;
            let mean = 0.5 * (unique(points[0]) + unique(points[1]));
            assert!(
                (mean / uniqueness - 1.0).abs() < 1e-6,
                "{mean:e} {uniqueness:e}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_match_is_right_at_least_as_often_as_unique(
            ln_p in -40.0f64..0.0, variance in 0.0f64..1e4, ln_lambda in -5.0f64..5.0,
            n_people in 2.0f64..1e9, alpha in 0.01f64..100.0, share in 0.0f64..1.0
        ) {
            let mixture = Mixture { alpha, spread: 0.7 };
            let point = Point { ln_p, variance };
            let plain = mixture.likelihood(point, ln_lambda, n_people);
            let given = mixture.likelihood_given(
                point, ln_lambda, n_people, (share * n_people, 1)
            );
            for found in [plain, given] {
                prop_assert!((0.0..=1.0).contains(&found.unique));
                prop_assert!(found.correct <= 1.0 && found.correct >= found.unique - 1e-12);
            }
        }

        #[test]
        fn the_anchor_gives_the_uniqueness_asked_for(
            ln_p in proptest::collection::vec(-14.0f64..-2.0, 1..60),
            n in 10.0f64..1e6, uniqueness in 0.001f64..0.999
        ) {
            let points: Vec<Point> = ln_p
                .iter()
                .map(|&ln_p| Point { ln_p, variance: (ln_p + 14.0) / 3.0 })
                .collect();
            let monitor = Monitor::new();
            let found = anchor(&PLAIN, 0.0, &points, None, n, uniqueness, &monitor).unwrap();
            let mixture = PLAIN.sharpened(found.left);
            let mean = points
                .iter()
                .map(|&point| mixture.likelihood(point, found.ln_lambda, n).unique)
                .sum::<f64>() / points.len() as f64;
            prop_assert!((mean / uniqueness - 1.0).abs() < 1e-9);
        }
    }
}
