//! The exact probability that a match is correct.
//!
//! A unit B of cell `j` stays there with probability `alpha_j`; every other
//! record of the block lands there with a probability of its own. With `W` the
//! number of other records that land in `j`,
//!
//! ```text
//! P(CM | S_j = a) = (1/a) alpha_j P(W = a-1)
//!                   / (alpha_j P(W = a-1) + (1 - alpha_j) P(W = a)).
//! ```
//!
//! `W` is a sum of independent binomials. Its probabilities are needed as a
//! ratio only, so they are tilted until `a` is their mean: nothing underflows,
//! however large the counts.
//!
//! # Why `a = 1` is the worst case
//!
//! Given `S_j = a` the records in cell `j` are a conditional Bernoulli sample:
//! record `r` is among them with probability `pi_r(a)`, and these sum to `a`.
//! The `T_j` records that began in `j` share one `pi`, so
//!
//! ```text
//! P(CM | S_j = a) = pi_own(a) / a = 1 / (T_j + sum_in pi_in(a) / pi_own(a)).
//! ```
//!
//! Elementary symmetric functions of positive numbers are log-concave, and it
//! follows that `pi_in(a) / pi_own(a)` does not fall in `a` for a record with
//! smaller odds of landing in `j`. Hence, where no record is more likely to
//! arrive in a cell than its own records are to stay, `a = 1` is the worst case
//! and has the closed form of [`Tally::unique_match`]. That is so up to
//! [`Tally::theta_limit`]. Beyond it, all `a` are tried until `1/a` falls below
//! the largest value found.

use std::convert::Infallible;

use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Coefficients multiplied between two looks at the monitor.
const CHUNK: usize = 1024;
/// Below this part of its largest coefficient a product is not read.
const FAINT: f64 = 1e-200;

/// The counts of the cells of one block, as distinct counts and their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tally {
    /// Distinct counts in rising order, each with the number of its cells.
    distinct: Vec<(u64, u64)>,
    n_cells: u64,
}

impl Tally {
    /// The tally of counts, all of which are at least one.
    pub fn new(counts: impl IntoIterator<Item = u64>) -> Self {
        let mut counts: Vec<u64> = counts.into_iter().collect();
        counts.sort_unstable();
        let mut distinct: Vec<(u64, u64)> = Vec::new();
        for &count in &counts {
            match distinct.last_mut() {
                Some((t, cells)) if *t == count => *cells += 1,
                _ => distinct.push((count, 1)),
            }
        }
        Self {
            distinct,
            n_cells: counts.len() as u64,
        }
    }

    /// Distinct counts in rising order, each with the number of its cells.
    pub fn distinct(&self) -> &[(u64, u64)] {
        &self.distinct
    }

    /// Number of cells.
    pub fn n_cells(&self) -> u64 {
        self.n_cells
    }

    /// Number of records.
    pub fn n_records(&self) -> u64 {
        self.distinct.iter().fold(0u64, |sum, &(t, cells)| {
            sum.saturating_add(t.saturating_mul(cells))
        })
    }

    /// The smallest count.
    pub fn smallest(&self) -> u64 {
        self.distinct.first().map_or(0, |&(t, _)| t)
    }

    /// The counts of the two smallest cells.
    fn two_smallest(&self) -> Option<(u64, u64)> {
        match self.distinct.as_slice() {
            [(t, cells), ..] if *cells > 1 => Some((*t, *t)),
            [(t, _), (next, _), ..] => Some((*t, *next)),
            _ => None,
        }
    }

    /// The largest theta, at most 1, up to which every record stays in its cell
    /// with at least the probability with which any other record arrives there.
    /// Beyond, an intruder does better to look elsewhere than where the target
    /// belongs. Zero for a block of one cell.
    pub fn theta_limit(&self) -> f64 {
        self.two_smallest().map_or(0.0, |(first, second)| {
            let others = (self.n_cells - 1) as f64;
            (1.0 / (1.0 / first as f64 + 1.0 / (others * second as f64))).min(1.0)
        })
    }

    /// Expected records that arrive in one cell, as odds summed over the
    /// records of one other cell of count `t`.
    fn arrivals(&self, t: u64, theta: f64) -> f64 {
        let others = (self.n_cells - 1) as f64;
        theta * t as f64 / (others * t as f64 - theta)
    }

    fn all_arrivals(&self, theta: f64) -> f64 {
        self.distinct
            .iter()
            .map(|&(t, cells)| cells as f64 * self.arrivals(t, theta))
            .sum()
    }

    /// P(CM | S_j = 1) of a cell of count `t`: the paper's equation 9.
    pub fn unique_match(&self, t: u64, theta: f64) -> f64 {
        if self.n_cells < 2 || theta <= 0.0 {
            return 1.0 / t as f64;
        }
        self.unique_match_given(t, theta, self.all_arrivals(theta))
    }

    fn unique_match_given(&self, t: u64, theta: f64, arrivals: f64) -> f64 {
        let count = t as f64;
        let odds = (count - theta) / theta;
        if odds <= 0.0 {
            return 0.0;
        }
        1.0 / (count + (arrivals - self.arrivals(t, theta)) / odds)
    }

    /// The largest P(CM | S_j = a) over all `a`, for every distinct count.
    pub fn worst_by_count(&self, theta: f64) -> Vec<f64> {
        if self.n_cells < 2 || theta <= 0.0 {
            return self.distinct.iter().map(|&(t, _)| 1.0 / t as f64).collect();
        }
        let within_limit = theta <= self.theta_limit() + 1e-12;
        let arrivals = self.all_arrivals(theta);
        self.distinct
            .iter()
            .map(|&(t, _)| {
                if within_limit {
                    self.unique_match_given(t, theta, arrivals)
                } else {
                    let (own, others) = self.landing(t, theta);
                    worst_match(own, &others)
                }
            })
            .collect()
    }

    /// The largest P(CM | S_j = a) over all cells and all `a`.
    pub fn worst(&self, theta: f64) -> f64 {
        self.worst_by_count(theta).into_iter().fold(0.0, f64::max)
    }

    /// Landing of the block's records in a cell of count `t`: the probability of one of its own,
    /// and all the others.
    fn landing(&self, t: u64, theta: f64) -> (f64, Landing) {
        let own = 1.0 - theta / t as f64;
        let others = (self.n_cells - 1) as f64;
        let mut landing = Landing::default();
        landing.add(t - 1, own);
        for &(count, cells) in &self.distinct {
            let cells = if count == t { cells - 1 } else { cells };
            landing.add(count * cells, theta / (others * count as f64));
        }
        (own, landing)
    }

    /// P(CM | S_j = a) of a cell of count `t` for every `a`; `None` where
    /// `S_j = a` is impossible. At `theta = 0` the limit for a falling theta.
    pub fn match_probs(
        &self,
        t: u64,
        theta: f64,
        a: &[u64],
        monitor: &Monitor,
    ) -> Result<Vec<Option<f64>>> {
        if self.n_cells >= 2 && theta > 0.0 {
            let (own, others) = self.landing(t, theta);
            return matches_given(own, &others, a, monitor);
        }
        Ok(a.iter()
            .map(|&a| match self.n_cells {
                _ if a == 0 || a > self.n_records() => None,
                0 | 1 => (a == t).then(|| 1.0 / t as f64),
                _ => Some(1.0 / a.max(t) as f64),
            })
            .collect())
    }

    /// Place of a count among the distinct ones.
    pub fn place(&self, t: u64) -> Option<usize> {
        self.distinct.binary_search_by_key(&t, |d| d.0).ok()
    }

    /// P(CM | S_j = a): distinct counts in rising order, times `a`.
    pub fn match_prob_table(
        &self,
        theta: f64,
        a: &[u64],
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Option<f64>>>> {
        parallel::try_map(&self.distinct, monitor, |&(t, _)| {
            self.match_probs(t, theta, a, monitor)
        })
    }
}

/// Records other than the target, by their probability of landing in a cell.
#[derive(Debug, Clone, Default)]
pub struct Landing {
    /// Records that land there for certain.
    sure: u64,
    /// Numbers of records and their odds of landing there.
    odds: Vec<(u64, f64)>,
}

impl Landing {
    /// Adds `n` records that land with probability `alpha`.
    pub fn add(&mut self, n: u64, alpha: f64) {
        if n == 0 || alpha <= 0.0 {
            return;
        }
        if alpha >= 1.0 {
            self.sure += n;
        } else {
            self.odds.push((n, alpha / (1.0 - alpha)));
        }
    }

    fn n_unsure(&self) -> u64 {
        self.odds.iter().map(|&(n, _)| n).sum()
    }

    /// Coefficients of the product of `(1 + odds tilt z)^n` up to `degree`, the
    /// largest being 1; `check` may stop the work.
    fn product<E>(
        &self,
        tilt: f64,
        degree: usize,
        check: impl Fn() -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<f64>, E> {
        let mut product = vec![1.0];
        for &(n, odds) in &self.odds {
            let factor = binomial_shape(n, odds * tilt, degree);
            let mut next = vec![0.0; (product.len() + factor.len() - 1).min(degree + 1)];
            for (part, x) in product.chunks(CHUNK).enumerate() {
                check()?;
                accumulate(&mut next, part * CHUNK, x, &factor);
            }
            let largest = next.iter().copied().fold(0.0, f64::max);
            next.iter_mut().for_each(|p| *p /= largest);
            product = next;
        }
        Ok(product)
    }

    /// P(W = m) / P(W = m - 1) of the unsure records, for `m` of at least 1 and
    /// at most their number.
    fn ratio(&self, m: u64) -> f64 {
        let tilt = self.tilt(m);
        let Ok(product) = self.product(tilt, m as usize, || Ok::<(), Infallible>(()));
        ratio_at(&product, m) / tilt
    }

    /// [`Landing::ratio`] of many `m`, in rising order. One tilted product has
    /// the probabilities of all `m` that are not too far from its mean: all its
    /// terms are positive, so a coefficient is exact to rounding until it
    /// underflows. Those beyond take a product of their own.
    fn ratios(&self, wanted: &[u64], monitor: &Monitor) -> Result<Vec<f64>> {
        let (Some(&largest), middle) = (wanted.last(), wanted.len() / 2) else {
            return Ok(Vec::new());
        };
        let tilt = self.tilt(wanted[middle]);
        let product = self.product(tilt, largest as usize, || monitor.check())?;
        let at = |m: u64| product.get(m as usize).copied().unwrap_or(0.0);
        let seen = |&m: &u64| at(m) > FAINT && at(m - 1) > FAINT;
        let from = (0..=middle).find(|&i| seen(&wanted[i])).unwrap_or(middle);
        let to = (middle..wanted.len())
            .rfind(|&i| seen(&wanted[i]))
            .unwrap_or(middle);
        let mut out = self.ratios(&wanted[..from], monitor)?;
        out.extend(
            wanted[from..=to]
                .iter()
                .map(|&m| ratio_at(&product, m) / tilt),
        );
        out.extend(self.ratios(&wanted[to + 1..], monitor)?);
        Ok(out)
    }

    /// The factor on all odds under which `m - 1/2` records land on average.
    fn tilt(&self, m: u64) -> f64 {
        let wanted = m as f64 - 0.5;
        let mean = |log_tilt: f64| -> f64 {
            self.odds
                .iter()
                .map(|&(n, odds)| {
                    let odds = odds * log_tilt.exp();
                    n as f64 * odds / (1.0 + odds)
                })
                .sum()
        };
        let (mut low, mut high) = (-100.0, 100.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if mean(middle) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        (0.5 * (low + high)).exp()
    }
}

/// Coefficients of `(1 + odds z)^n` up to `degree`, the largest being 1.
fn binomial_shape(n: u64, odds: f64, degree: usize) -> Vec<f64> {
    let last = degree.min(usize::try_from(n).unwrap_or(usize::MAX));
    let mut shape = vec![0.0; last + 1];
    let mode = ((n as f64 + 1.0) * odds / (1.0 + odds)).floor();
    let mode = (mode.max(0.0) as usize).min(last);
    let step = |m: usize| (n - m as u64 + 1) as f64 / m as f64 * odds;
    shape[mode] = 1.0;
    for m in mode + 1..=last {
        shape[m] = shape[m - 1] * step(m);
    }
    for m in (0..mode).rev() {
        shape[m] = shape[m + 1] / step(m + 1);
    }
    shape
}

/// A coefficient over the one before it.
fn ratio_at(product: &[f64], m: u64) -> f64 {
    let at = |i: u64| product.get(i as usize).copied().unwrap_or(0.0);
    at(m) / at(m - 1)
}

/// Adds to a product what the coefficients `x`, from degree `start` on, bring.
fn accumulate(product: &mut [f64], start: usize, x: &[f64], y: &[f64]) {
    for (i, &x) in (start..).zip(x) {
        for (place, &y) in product.iter_mut().skip(i).zip(y) {
            *place += x * y;
        }
    }
}

/// Consequence of `S = a` before any count is weighed.
enum Case {
    Impossible,
    Settled(f64),
    /// P(W = m) / P(W = m - 1) of the unsure others decides, for this `m`.
    Open(u64),
}

fn case(own: f64, others: &Landing, a: u64) -> Case {
    let n = others.n_unsure();
    // Unsure others needed beside the target, and without it.
    let beside = a.checked_sub(others.sure + 1).filter(|&m| m <= n);
    let without = a.checked_sub(others.sure).filter(|&m| m <= n);
    let with_target = own > 0.0 && beside.is_some();
    let without_target = own < 1.0 && without.is_some();
    match (with_target, without_target) {
        (false, false) => Case::Impossible,
        (false, true) => Case::Settled(0.0),
        (true, false) => Case::Settled(1.0 / a as f64),
        (true, true) => Case::Open(a - others.sure),
    }
}

fn match_of_ratio(own: f64, a: u64, ratio: f64) -> f64 {
    1.0 / (a as f64 * (1.0 + (1.0 - own) / own * ratio))
}

/// [`match_given`] for many `a`, in their order.
fn matches_given(
    own: f64,
    others: &Landing,
    a: &[u64],
    monitor: &Monitor,
) -> Result<Vec<Option<f64>>> {
    let cases: Vec<Case> = a.iter().map(|&a| case(own, others, a)).collect();
    let mut wanted: Vec<u64> = cases
        .iter()
        .filter_map(|case| match case {
            Case::Open(m) => Some(*m),
            _ => None,
        })
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let ratios = others.ratios(&wanted, monitor)?;
    Ok(cases
        .iter()
        .zip(a)
        .map(|(case, &a)| match case {
            Case::Impossible => None,
            Case::Settled(probability) => Some(*probability),
            Case::Open(m) => {
                let at = wanted.binary_search(m).ok()?;
                Some(match_of_ratio(own, a, ratios[at]))
            }
        })
        .collect())
}

/// P(CM | S = a) for a target that lands with probability `own`; `None` where
/// `S = a` is impossible.
fn match_given(own: f64, others: &Landing, a: u64) -> Option<f64> {
    match case(own, others, a) {
        Case::Impossible => None,
        Case::Settled(probability) => Some(probability),
        Case::Open(m) => Some(match_of_ratio(own, a, others.ratio(m))),
    }
}

/// The largest P(CM | S = a) over all `a`.
pub fn worst_match(own: f64, others: &Landing) -> f64 {
    let most = others.sure + others.n_unsure() + 1;
    let mut worst = 0.0;
    for a in 1..=most {
        if 1.0 / a as f64 <= worst {
            break;
        }
        if let Some(found) = match_given(own, others, a) {
            worst = f64::max(worst, found);
        }
    }
    worst
}
