//! The nearest wave-1 rows under every least number of shared observed keys.
//!
//! With `d*_i(s)` the smallest difference to a record that shares at least `s`
//! observed keys, `d*_i(s)` never falls with `s`.
//!
//! Rows without missing values share as many keys with a query as it has observed,
//! the most there can be: one search among them bounds `d*_i(s)` for every `s`.
//! Of the others, often few, those within that bound are counted by their difference
//! and the number of keys shared, and the numbers `s` are settled one after the other.
//! The counters find them in a look at all pairs, or a search of their tree with a
//! growing budget, whichever an estimate finds cheaper.

use super::counters::{self, Within};
use super::patterns::Patterns;
use super::tree::Tree;
use super::walk::Search;
use super::{best_of, Best, Method, MAX_KEYS, NS_PER_PAIR, NS_PER_VISIT, TRIALS};
use crate::error::Result;
use crate::memory::filled;
use crate::parallel::{self, Monitor};

/// Queries per block of parallel work.
const BLOCK: usize = 256;
/// Pairs of missing patterns that are compared.
const MOST_PAIRS: usize = 100_000_000;
/// Nanoseconds in which a query and a row are compared key by key, for each key.
const NS_PER_KEY: f64 = 1.5;
const NONE: Best = Best {
    n_diff: 0,
    n_best: 0,
};

/// Per query, the best matches that share at least `least`, `least + 1`, ... up to
/// all keys; `None` where looking at all pairs so often, in `ns_per_pair` each, is
/// cheaper than the search. `method` says how rows with missing values are found.
pub(super) fn nearest(
    patterns: &Patterns,
    least: usize,
    method: Method,
    ns_per_pair: f64,
    monitor: &Monitor,
) -> Result<Option<Vec<Best>>> {
    let (complete, mut others) = patterns.split()?;
    others.observe();
    let Some(attainable) = attainable(&others) else {
        return Ok(None);
    };
    let complete = match complete {
        None => None,
        Some(mut complete) => {
            complete.bound(None, monitor)?;
            Some(best_of(&complete, Method::Estimate, monitor, false)?.0)
        }
    };
    let n = others.n_queries();
    let n_keys = others.n_keys();
    others.set_bounds(match &complete {
        None => filled(n_keys as u8, n)?,
        Some(complete) => complete.iter().map(|best| best.n_diff).collect(),
    });
    let width = n_keys + 1 - least;
    let asked = Asked {
        tree: Tree::new(others.rows(), monitor)?,
        // From here on the search costs as much as comparing all rows one by one.
        limit: (others.n_rows() as f64 * n_keys as f64 * NS_PER_KEY / NS_PER_VISIT) as u64,
        patterns: &others,
        least,
        attainable,
        complete,
    };
    let ns_of_search = NS_PER_VISIT * asked.mean_visits(monitor)?;
    let ns_of_counters = match asked.complete {
        // Without a bound all rows would be listed.
        None => f64::INFINITY,
        Some(_) => NS_PER_PAIR * others.n_rows() as f64,
    };
    let method = match method {
        Method::Estimate if ns_of_counters < ns_of_search => Method::Counters,
        Method::Estimate => Method::Walk,
        given => given,
    };
    let ns = ns_of_search.min(ns_of_counters);
    if ns > ns_per_pair * (patterns.n_rows() * width) as f64 {
        return Ok(None);
    }
    let within = match method {
        Method::Counters => Some(counters::within(&others, monitor)?),
        _ => None,
    };
    monitor.set_total(n as u64);
    let mut found = filled(NONE, n * width)?;
    parallel::try_for_each(
        found.chunks_mut(BLOCK * width).enumerate(),
        monitor,
        |(b, found)| {
            for (query, best) in (b * BLOCK..).zip(found.chunks_mut(width)) {
                monitor.check()?;
                match &within {
                    Some(within) => asked.look_up(query, &within[query], best),
                    None => {
                        asked.search(query, best);
                    }
                }
            }
            monitor.advance((found.len() / width) as u64);
            Ok(())
        },
    )?;
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

/// Settings of every query.
struct Asked<'p> {
    /// The rows with missing values, or one row.
    patterns: &'p Patterns<'p>,
    tree: Tree,
    least: usize,
    limit: u64,
    /// Per query, the most keys that it shares with a row of the tree.
    attainable: Vec<usize>,
    /// Per query, the best of the rows without missing values, where there are any.
    complete: Option<Vec<Best>>,
}

impl Asked<'_> {
    /// The nodes that the search visits for a query, by a trial.
    fn mean_visits(&self, monitor: &Monitor) -> Result<f64> {
        let n = self.patterns.n_queries();
        let n_trials = TRIALS.min(n);
        let width = self.patterns.n_keys() + 1 - self.least;
        let visits = parallel::try_map(0..n_trials, monitor, |t| {
            Ok(self.search(t * n / n_trials, &mut vec![NONE; width]))
        })?;
        Ok(visits.iter().sum::<u64>() as f64 / n_trials.max(1) as f64)
    }

    /// Settles what a query can be matched with by a search of the tree: the nodes
    /// visited.
    fn search(&self, query: usize, best: &mut [Best]) -> u64 {
        let mut search = Search::new(self.patterns, &self.tree, query, self.limit);
        let is_settled = self.settle(query, best, |budget, by_shared| {
            match search.by_shared(budget) {
                Some(found) => {
                    by_shared.copy_from_slice(found);
                    true
                }
                None => false,
            }
        });
        if !is_settled {
            self.compare_all(query, best);
        }
        search.visits()
    }

    /// Looks up a query whose rows within its bound are known.
    fn look_up(&self, query: usize, within: &Within, best: &mut [Best]) {
        self.settle(query, best, |budget, by_shared| {
            // Those of smaller budgets are there.
            for near in within.near().iter().filter(|near| near.n_diff == budget) {
                by_shared[usize::from(near.shared)] += near.n;
            }
            true
        });
    }

    /// Settles the least numbers of shared keys one after the other. `find` is asked for
    /// the records of the tree that cost at most a budget, by the number of keys shared,
    /// for budgets from 0 on; where it gives up, nothing is settled.
    fn settle(
        &self,
        query: usize,
        best: &mut [Best],
        mut find: impl FnMut(u8, &mut [u64]) -> bool,
    ) -> bool {
        let complete = self.complete.as_ref().map(|complete| complete[query]);
        let n_keys = self.patterns.n_keys();
        // Numbers of shared keys from `least` on that rows of the tree, and all rows, reach.
        let numbers = |most: usize| (most + 1).saturating_sub(self.least);
        let in_tree = numbers(self.attainable[query]);
        let can = match complete {
            Some(_) => numbers(self.patterns.n_observed(query)).max(in_tree),
            None => in_tree,
        };
        let mut by_shared = [0; MAX_KEYS + 1];
        let by_shared = &mut by_shared[..=n_keys];
        let mut settled = 0;
        for budget in 0..=n_keys as u8 {
            if settled == can {
                break;
            }
            let of_complete = match complete {
                Some(complete) if complete.n_diff == budget => complete.n_best,
                _ => 0,
            };
            // Nothing in the tree shares more.
            if settled < in_tree && !find(budget, by_shared) {
                return false;
            }
            // Cheaper rows were not found, so these cost `budget`.
            while settled < can {
                let shared = self.least + settled;
                let n_best = by_shared.iter().skip(shared).sum::<u64>() + of_complete;
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
        true
    }

    /// Compares with every row.
    fn compare_all(&self, query: usize, best: &mut [Best]) {
        best.fill(NONE);
        if let Some(complete) = &self.complete {
            let shared = (self.patterns.n_observed(query) + 1).saturating_sub(self.least);
            best[..shared].fill(complete[query]);
        }
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
