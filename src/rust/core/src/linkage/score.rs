//! Value of a set of keys to an intruder: matches over all respondents.

use std::collections::BTreeMap;

use super::{Method, Nearest, PartnerDifferences, Waves, FEW_PAIRS, NS_PER_PAIR};
use crate::error::Result;
use crate::parallel::{self, Monitor};

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
                match n_best {
                    1 => score.n_certain += 1,
                    _ => *ties.entry(n_best).or_default() += 1,
                }
            }
        }
        if score.n_certain > 0 {
            ties.insert(1, score.n_certain);
        }
        // The sum of nothing would be -0.
        score.expected = ties
            .iter()
            .fold(0.0, |sum, (&b, &n)| sum + n as f64 / b as f64);
        score
    }
}

impl PartnerDifferences {
    /// True if the partner of a row is among its best matches.
    pub fn is_best(&self, row: usize, smallest: Option<u32>) -> bool {
        self.n_diff[row] == smallest && self.is_admissible(row)
    }

    /// True if a row has a partner that shares enough observed keys to be a match.
    pub(super) fn is_admissible(&self, row: usize) -> bool {
        self.n_diff[row].is_some() && u32::from(self.n_shared[row]) >= self.min_shared
    }

    /// Restricts matches to those that share at least this number of observed keys.
    fn sharing(&mut self, min_shared: u32) -> &Self {
        self.min_shared = min_shared;
        self
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

/// The nearest wave-1 records on all keys, and the scores where the records of a match
/// must share at least 0, 1, ... observed keys, up to all of them: one search for both
/// where that is cheaper. No scores where no value is missing, so that all are the same,
/// or where more than `most_pairs` pairs of distinct rows would have to be compared.
pub fn nearest_and_scores(
    waves: &Waves,
    own: &PartnerDifferences,
    method: Method,
    most_pairs: f64,
    monitor: &Monitor,
) -> Result<(Nearest, Option<Vec<Score>>)> {
    let keys: Vec<usize> = (0..waves.n_keys()).collect();
    let n_keys = waves.n_keys() as u32;
    let (one, two) = waves.fewest_observed();
    // All pairs share so many keys: smaller numbers ask for nothing more.
    let always = (one + two).saturating_sub(n_keys);
    let most = most_pairs / f64::from(n_keys - always + 1);
    let repeated = |found: Vec<Score>| {
        let repeated = std::iter::repeat_n(found[0], always as usize);
        repeated.chain(found.iter().copied()).collect()
    };
    if always < n_keys && method == Method::Estimate && waves.n_pairs() >= FEW_PAIRS {
        let from = waves.sharing(always);
        let pairs = FEW_PAIRS..=most;
        if let Some(mut found) =
            from.search_by_shared(&keys, method, pairs, NS_PER_PAIR, monitor)?
        {
            let mut own = own.clone();
            let scores = (always..)
                .zip(&found)
                .map(|(least, nearest)| Score::new(nearest, own.sharing(least)))
                .collect();
            let asked = waves.min_shared.saturating_sub(always) as usize;
            return Ok((found.swap_remove(asked), Some(repeated(scores))));
        }
    }
    let nearest = waves.nearest(&keys, Some(own), method, monitor)?;
    let pairs = nearest.n_patterns.0 as f64 * nearest.n_patterns.1 as f64;
    if always == n_keys || pairs > most {
        return Ok((nearest, None));
    }
    monitor.set_total(u64::from(n_keys - always) + 1);
    let scores = (always..=n_keys)
        .map(|least| score(&waves.sharing(least), &keys, monitor))
        .collect::<Result<Vec<Score>>>()?;
    Ok((nearest, Some(repeated(scores))))
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
        let tried = parallel::try_map(&left, monitor, |&v| {
            let with: Vec<usize> = chosen.iter().copied().chain([v]).collect();
            score(waves, &with, monitor)
        })?;
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
