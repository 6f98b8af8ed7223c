//! The nearest wave-1 rows under every least number of shared observed keys.
//!
//! With `d*_i(s)` the smallest difference to a record that shares at least `s`
//! observed keys, `d*_i(s)` never falls with `s`. So one search with a growing
//! budget answers for all `s`: what it finds is counted by the number of keys
//! shared, and the numbers `s` are settled one after the other.

use rayon::prelude::*;

use super::patterns::Patterns;
use super::walk::Search;
use super::{Best, NS_PER_VISIT, TRIALS};
use crate::error::Result;
use crate::memory::filled;
use crate::parallel::Monitor;

/// Queries per block of parallel work.
const BLOCK: usize = 256;
/// Pairs of missing patterns that are compared.
const MOST_PAIRS: usize = 100_000_000;
/// Nanoseconds in which a query and a row are compared key by key, for each key.
const NS_PER_KEY: f64 = 1.5;

/// Per query, the best matches that share at least `least`, `least + 1`, ... up to
/// all keys; `None` where looking at all pairs is cheaper than the search.
pub(super) fn nearest(
    patterns: &Patterns,
    least: usize,
    ns_per_query: f64,
    monitor: &Monitor,
) -> Result<Option<Vec<Best>>> {
    let Some(attainable) = attainable(patterns) else {
        return Ok(None);
    };
    let n = patterns.n_queries();
    let width = patterns.n_keys() + 1 - least;
    let asked = Asked {
        patterns,
        least,
        // From here on the search costs as much as comparing all rows one by one.
        limit: (patterns.n_rows() as f64 * patterns.n_keys() as f64 * NS_PER_KEY / NS_PER_VISIT)
            as u64,
    };
    let none = Best {
        n_diff: 0,
        n_best: 0,
    };
    let n_trials = TRIALS.min(n);
    let visits = (0..n_trials)
        .into_par_iter()
        .map(|t| {
            monitor.check()?;
            let query = t * n / n_trials;
            Ok(asked.search(query, attainable[query], &mut vec![none; width]))
        })
        .collect::<Result<Vec<u64>>>()?;
    let mean = visits.iter().sum::<u64>() as f64 / n_trials.max(1) as f64;
    if mean * NS_PER_VISIT > ns_per_query * width as f64 {
        return Ok(None);
    }
    monitor.set_total(n as u64);
    let mut found = filled(none, n * width)?;
    found
        .par_chunks_mut(BLOCK * width)
        .enumerate()
        .try_for_each(|(b, found)| {
            for (query, best) in (b * BLOCK..).zip(found.chunks_mut(width)) {
                monitor.check()?;
                asked.search(query, attainable[query], best);
            }
            monitor.advance((found.len() / width) as u64);
            Ok(())
        })?;
    Ok(Some(found))
}

/// Per query, the most observed keys that it shares with any row; `None` where
/// that is much to compare.
fn attainable(patterns: &Patterns) -> Option<Vec<usize>> {
    let (queries, rows) = patterns.observed()?;
    let distinct = |masks: &[u64]| {
        let mut masks = masks.to_vec();
        masks.sort_unstable();
        masks.dedup();
        masks
    };
    let (of_queries, of_rows) = (distinct(queries), distinct(rows));
    if of_queries.len() * of_rows.len() > MOST_PAIRS {
        return None;
    }
    let most = |query: &u64| of_rows.iter().map(|row| (query & row).count_ones()).max();
    let most: Vec<usize> = of_queries
        .iter()
        .map(|query| most(query).unwrap_or(0) as usize)
        .collect();
    let place = |query: &u64| of_queries.partition_point(|other| other < query);
    Some(queries.iter().map(|query| most[place(query)]).collect())
}

/// What is asked of every query.
struct Asked<'p> {
    patterns: &'p Patterns<'p>,
    least: usize,
    limit: u64,
}

impl Asked<'_> {
    /// Settles what a query that shares at most `attainable` keys can be matched with:
    /// the ranges visited.
    fn search(&self, query: usize, attainable: usize, best: &mut [Best]) -> u64 {
        let mut search = Search::new(self.patterns, query, self.limit);
        let can = (attainable + 1).saturating_sub(self.least);
        let mut settled = 0;
        for budget in 0..=self.patterns.n_keys() as u8 {
            if settled == can {
                break;
            }
            let Some(found) = search.by_shared(budget) else {
                self.compare_all(query, best);
                break;
            };
            // What costs less was not found, so what is found costs `budget`.
            while settled < can {
                let n_best = found[self.least + settled..].iter().sum();
                if n_best == 0 {
                    break;
                }
                best[settled] = Best {
                    n_diff: budget,
                    n_best,
                };
                settled += 1;
            }
        }
        search.visits()
    }

    /// The same by a look at every row.
    fn compare_all(&self, query: usize, best: &mut [Best]) {
        best.iter_mut().for_each(|best| best.n_best = 0);
        for (row, &count) in self.patterns.counts().iter().enumerate() {
            let n_diff = self.patterns.distance(query, row);
            let shared = (self.patterns.shared(query, row) + 1).saturating_sub(self.least);
            for best in &mut best[..shared] {
                if best.n_best == 0 || n_diff < best.n_diff {
                    *best = Best { n_diff, n_best: 0 };
                }
                best.n_best += if n_diff == best.n_diff { count } else { 0 };
            }
        }
    }
}
