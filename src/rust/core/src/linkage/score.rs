//! What a set of keys is worth to an intruder: matches over all respondents.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Method, Nearest, PartnerDifferences, Waves, FEW_PAIRS, NS_PER_PAIR};
use crate::error::Result;
use crate::parallel::Monitor;

/// Matches that linking on one set of keys brings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Certain matches.
    pub n_certain: u64,
    /// Expected number of correct matches.
    pub expected: f64,
    /// Wave-2 records with a single best match, right or wrong.
    pub n_single_best: u64,
    /// Wave-2 records that any wave-1 record can match.
    pub n_matched: u64,
}

impl Score {
    /// Adds up matches. Equal probabilities are counted before they are
    /// added, so that the order of the records cannot matter.
    pub fn new(nearest: &Nearest, own: &PartnerDifferences) -> Self {
        let mut score = Score::default();
        let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
        for row in 0..nearest.n_best.len() {
            let n_best = nearest.n_best[row];
            score.n_single_best += u64::from(n_best == 1);
            score.n_matched += u64::from(n_best > 0);
            if own.is_best(row, nearest.n_diff[row]) {
                score.n_certain += u64::from(n_best == 1);
                *ties.entry(n_best).or_default() += 1;
            }
        }
        // The sum of nothing would be -0.
        score.expected = ties
            .iter()
            .fold(0.0, |sum, (&b, &n)| sum + n as f64 / b as f64);
        score
    }
}

impl PartnerDifferences {
    /// Whether the partner of a row is among its best matches.
    pub fn is_best(&self, row: usize, smallest: Option<u32>) -> bool {
        self.admissible[row] && self.n_diff[row] == smallest
    }
}

/// The score of one set of keys after the other.
pub fn scores(waves: &Waves, key_sets: &[Vec<usize>], monitor: &Monitor) -> Result<Vec<Score>> {
    monitor.set_total(key_sets.len() as u64);
    key_sets
        .iter()
        .map(|keys| score(waves, keys, monitor))
        .collect()
}

/// The scores with each key left out in turn; none where there is one key only.
pub fn sensitivity(waves: &Waves, monitor: &Monitor) -> Result<Vec<Score>> {
    let n_keys = waves.n_keys();
    let without = |v: usize| (0..n_keys).filter(|&key| key != v).collect();
    let key_sets: Vec<Vec<usize>> = match n_keys {
        0 | 1 => Vec::new(),
        _ => (0..n_keys).map(without).collect(),
    };
    scores(waves, &key_sets, monitor)
}

fn score(waves: &Waves, keys: &[usize], monitor: &Monitor) -> Result<Score> {
    let own = waves.partner_differences(keys, monitor)?;
    let nearest = waves.search(keys, Some(&own), Method::Estimate, monitor, false)?;
    monitor.advance(1);
    Ok(Score::new(&nearest, &own))
}

/// The scores on all keys where the records of a match must share at least 0,
/// 1, ... observed keys, up to all of them. `None` where no value is missing, so
/// that all are the same, or where more than `most_pairs` pairs of distinct rows
/// would have to be compared.
pub fn scores_by_shared(
    waves: &Waves,
    n_patterns: (usize, usize),
    most_pairs: f64,
    monitor: &Monitor,
) -> Result<Option<Vec<Score>>> {
    let n_keys = waves.n_keys() as u32;
    let (one, two) = waves.fewest_observed();
    // All pairs share so many keys: smaller numbers ask for nothing more.
    let always = (one + two).saturating_sub(n_keys);
    let pairs = n_patterns.0 as f64 * n_patterns.1 as f64;
    if always == n_keys || pairs * f64::from(n_keys - always + 1) > most_pairs {
        return Ok(None);
    }
    let keys: Vec<usize> = (0..waves.n_keys()).collect();
    let at_once = match pairs < FEW_PAIRS {
        true => None,
        false => (waves.sharing(always)).search_by_shared(&keys, NS_PER_PAIR, monitor)?,
    };
    let found = match at_once {
        Some(nearest) => (always..)
            .zip(&nearest)
            .map(|(least, nearest)| {
                let own = waves.sharing(least).partner_differences(&keys, monitor)?;
                Ok(Score::new(nearest, &own))
            })
            .collect::<Result<Vec<Score>>>()?,
        None => {
            monitor.set_total(u64::from(n_keys - always) + 1);
            (always..=n_keys)
                .map(|least| score(&waves.sharing(least), &keys, monitor))
                .collect::<Result<Vec<Score>>>()?
        }
    };
    let repeated = std::iter::repeat_n(found[0], always as usize);
    Ok(Some(repeated.chain(found.iter().copied()).collect()))
}

/// Adds the key that brings most expected correct matches, until all of `keys`
/// are in; of equal ones the first in `keys`. The key and the score of every
/// step.
pub fn add_greedily(
    waves: &Waves,
    keys: &[usize],
    monitor: &Monitor,
) -> Result<Vec<(usize, Score)>> {
    monitor.set_total((keys.len() * (keys.len() + 1) / 2) as u64);
    let mut chosen: Vec<usize> = Vec::new();
    let mut left = keys.to_vec();
    let mut steps = Vec::new();
    while !left.is_empty() {
        let tried = left
            .par_iter()
            .map(|&v| {
                let with: Vec<usize> = chosen.iter().copied().chain([v]).collect();
                score(waves, &with, monitor)
            })
            .collect::<Result<Vec<Score>>>()?;
        let mut best = 0;
        for (i, score) in tried.iter().enumerate() {
            if score.expected > tried[best].expected {
                best = i;
            }
        }
        let key = left.remove(best);
        chosen.push(key);
        steps.push((key, tried[best]));
    }
    Ok(steps)
}
