//! Rates of agreement by key: for one person (m), for two persons (u).

use super::levels::KeyLevels;
use super::weights::{on_grid, KeyWeights};
use super::Files;
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column};
use crate::parallel::{self, Monitor};

/// Records of one key by code, in each file; place 0 is missing.
#[derive(Debug, Clone)]
pub(super) struct Margins {
    known: Vec<f64>,
    released: Vec<f64>,
    /// Sums of both files over the codes up to each, missing left out.
    up_to: Vec<f64>,
}

fn counts(column: &Column) -> Vec<f64> {
    let mut counts = vec![0.0; column.n_values() as usize + 1];
    with_codes!(column.codes(), |codes| {
        for code in codes {
            counts[code.index()] += 1.0;
        }
    });
    counts
}

impl Margins {
    pub fn new(known: &Column, released: &Column) -> Self {
        let (known, released) = (counts(known), counts(released));
        let mut sum = 0.0;
        let up_to = (0..known.len().max(released.len()))
            .map(|c| {
                let at = |counts: &[f64]| counts.get(c).copied().unwrap_or(0.0);
                sum += if c > 0 {
                    at(&known) + at(&released)
                } else {
                    0.0
                };
                sum
            })
            .collect();
        Self {
            known,
            released,
            up_to,
        }
    }

    /// Observed values of both files, at least 1: a key may miss all.
    fn n_observed(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0).max(1.0)
    }

    /// Share of the observed values of both files that are codes in a range; at
    /// least half a record has a value.
    fn share(&self, first: u32, last: u32) -> f64 {
        let n = self.up_to[last as usize] - self.up_to[first as usize - 1];
        n / self.n_observed()
    }

    fn least_share(&self) -> f64 {
        0.5 / self.n_observed()
    }

    /// Pairs of records observed in both files.
    fn observed_pairs(&self) -> f64 {
        let of = |counts: &[f64]| counts[1..].iter().sum::<f64>();
        of(&self.known) * of(&self.released)
    }

    /// Pairs of observed records at every level, the last left out.
    fn pairs_by_level(&self, levels: &KeyLevels) -> Vec<f64> {
        let mut up_to = vec![0.0; self.known.len()];
        for c in 1..up_to.len() {
            up_to[c] = up_to[c - 1] + self.known[c];
        }
        let mut pairs = vec![0.0; levels.len() - 1];
        for (code, &n) in (1u32..).zip(&self.released[1..]) {
            for range in levels.of(code) {
                let known = up_to[range.last as usize] - up_to[range.first as usize - 1];
                pairs[usize::from(range.level)] += n * known;
            }
        }
        pairs
    }

    /// Entropy of the values of both files together, in nats.
    pub fn entropy(&self) -> f64 {
        let n = self.n_observed();
        let shares = self.up_to.windows(2).map(|w| (w[1] - w[0]) / n);
        shares
            .filter(|&p| p > 0.0)
            .map(|p| -p * p.ln())
            .sum::<f64>()
            + 0.0
    }
}

/// True links of one key: at every level, the last beyond.
pub(super) type Links = Vec<f64>;

/// The true links of every key by level.
pub(super) fn count_links(
    files: &Files,
    levels: &[KeyLevels],
    monitor: &Monitor,
) -> Result<Vec<Links>> {
    parallel::try_map(levels.iter().enumerate(), monitor, |(v, levels)| {
        let mut links = vec![0.0; levels.len()];
        let columns = (&files.known.columns()[v], &files.released.columns()[v]);
        for (row, partner) in files.linked() {
            let x = columns.0.codes().get(partner);
            let y = columns.1.codes().get(row);
            if x != 0 && y != 0 {
                links[levels.level(x, y)] += 1.0;
            }
        }
        Ok(links)
    })
}

/// The probabilities of the levels of one key: of one person and of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// Of two records of one person, by level; they sum to 1.
    pub m: Vec<f64>,
    /// Of records of two persons.
    pub u: Vec<f64>,
}

/// Half a pair more at every level.
fn smoothed(counts: &[f64]) -> Vec<f64> {
    let n: f64 = counts.iter().sum();
    let total = n + 0.5 * counts.len() as f64;
    counts.iter().map(|&c| (c + 0.5) / total).collect()
}

impl Reliability {
    /// `u` from the margins of both files, the pairs `without` left out; `m` as
    /// it is given.
    pub(super) fn new(
        margins: &Margins,
        levels: &KeyLevels,
        without: Option<&Links>,
        m: Vec<f64>,
    ) -> Self {
        let mut pairs = margins.pairs_by_level(levels);
        pairs.push(margins.observed_pairs() - pairs.iter().sum::<f64>());
        for (pairs, links) in pairs.iter_mut().zip(without.into_iter().flatten()) {
            *pairs -= links;
        }
        Self {
            m,
            u: smoothed(&pairs),
        }
    }

    /// As [`Reliability::new`], `m` from true links.
    pub(super) fn from_links(margins: &Margins, levels: &KeyLevels, links: &Links) -> Self {
        Self::new(margins, levels, Some(links), smoothed(links))
    }

    /// The weights of the key: `by_value` an agreement on a rare value weighs
    /// more than one on a frequent value.
    pub(super) fn weights(
        &self,
        margins: &Margins,
        levels: &KeyLevels,
        by_value: bool,
        rounded: bool,
    ) -> KeyWeights {
        let round = |x: f64| if rounded { on_grid(x) } else { x };
        let last = levels.len() - 1;
        let pooled: Vec<f64> = (0..last).map(|l| (self.m[l] / self.u[l]).ln()).collect();
        let mut weights = Vec::with_capacity(levels.ranges().len());
        for code in 1..=levels.n_values() {
            let ranges = levels.of(code);
            let start = weights.len();
            if by_value {
                let mut share = vec![0.0; last];
                for r in ranges {
                    share[usize::from(r.level)] += margins.share(r.first, r.last);
                }
                weights.extend(ranges.iter().map(|r| {
                    let level = usize::from(r.level);
                    (self.m[level] / share[level].max(margins.least_share())).ln()
                }));
            } else {
                weights.extend(ranges.iter().map(|r| pooled[usize::from(r.level)]));
            }
            for weight in &mut weights[start..] {
                *weight = round(*weight);
            }
        }
        let mut differ = round((self.m[last] / self.u[last]).ln());
        let touched = margins.pairs_by_level(levels);
        let beyond = margins.observed_pairs() - touched.iter().sum::<f64>();
        // A key on which all observed pairs are alike tells nobody from another;
        // a weight of its only level would set blanks apart from values.
        let n_levels = touched.iter().filter(|&&n| n > 0.5).count();
        match (n_levels, beyond < 0.5) {
            (1, true) => weights.fill(0.0),
            (0, false) => differ = 0.0,
            _ => {}
        }
        if beyond < 0.5 {
            // Nobody differs, so that this weight is nobody's: low enough for
            // engines that ask agreement to weigh more.
            let lowest = weights.iter().copied().fold(0.0, f64::min);
            differ = differ.min(round(lowest - 1.0));
        }
        KeyWeights::new(levels, &weights, differ)
    }
}
