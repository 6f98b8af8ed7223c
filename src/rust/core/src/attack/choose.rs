//! Choice of the cheapest engine, and the limits of all engines.
//!
//! Work is counted, not timed, so that the choice is the same on every machine.

use std::collections::BTreeMap;

use super::eliminate;
use super::order::order_of_elimination;
use super::patterns::Patterns;
use super::score::sum_of_shares;
use super::split;
use super::tables;
use super::trie::Trie;
use super::weights::Weights;
use super::Best;
use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Engine that finds the best matches; the numbers do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The cheapest one.
    Choose,
    /// Elimination of keys over the suffixes of the known rows.
    Elimination,
    /// Splits by agreement on subsets of keys.
    Subsets,
    /// All pairs, with tables of groups of keys.
    Tables,
}

/// Nanoseconds of one element of each engine: measured once, only their ratios
/// matter for the choice.
const NS_ELIMINATION: f64 = 4.5;
const NS_SUBSETS: f64 = 6.0;
const NS_TABLES: f64 = 2.0;

/// Predicted cost of one attack on a set of keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The engine that is used.
    pub engine: Engine,
    /// Its work, in nanoseconds of one processor.
    pub work: f64,
}

/// The files on a set of keys, with all that engines need.
pub(super) struct Prepared {
    pub patterns: Patterns,
    pub trie: Trie,
}

impl Prepared {
    pub fn new(patterns: Patterns, monitor: &Monitor) -> Result<Self> {
        let order = order_of_elimination(&patterns, monitor)?;
        let trie = Trie::new(&patterns, &order, monitor)?;
        Ok(Self { patterns, trie })
    }

    /// Pairs of distinct rows.
    fn pairs(&self) -> f64 {
        self.patterns.n_rows() as f64 * self.patterns.n_queries() as f64
    }

    /// The engine for these weights, and its work.
    pub fn plan(&self, weights: &Weights, engine: Engine) -> Plan {
        let rising = weights.keys().iter().all(|key| key.all_rising());
        let elimination = NS_ELIMINATION * self.trie.work();
        // Finding out what splitting takes has a price of its own.
        let subsets = match engine {
            Engine::Choose if !rising || elimination < 1e6 => f64::INFINITY,
            Engine::Choose | Engine::Subsets => NS_SUBSETS * split::work(&self.patterns),
            _ => f64::INFINITY,
        };
        let plans = [
            (Engine::Elimination, elimination),
            (Engine::Subsets, subsets),
            (Engine::Tables, NS_TABLES * self.pairs()),
        ];
        let plans = plans.map(|(engine, work)| Plan { engine, work });
        let wanted = plans.iter().find(|plan| plan.engine == engine);
        let least = || {
            plans
                .iter()
                .skip(1)
                .fold(plans[0], |a, &b| if b.work < a.work { b } else { a })
        };
        wanted.copied().unwrap_or_else(least)
    }

    /// The best matches of all queries.
    pub fn best_matches(
        &self,
        weights: &Weights,
        plan: &Plan,
        monitor: &Monitor,
    ) -> Result<Vec<Best>> {
        match plan.engine {
            Engine::Subsets => split::best_matches(&self.patterns, weights, monitor),
            Engine::Tables => tables::best_matches(&self.patterns, weights, monitor),
            _ => eliminate::best_matches(&self.trie, weights, monitor),
        }
    }

    /// The expected correct matches, where `own` are the weights of the released
    /// records and their partners, not numbers without one.
    pub fn expected(
        &self,
        weights: &Weights,
        plan: &Plan,
        own: &[f64],
        monitor: &Monitor,
    ) -> Result<f64> {
        let best = self.best_matches(weights, plan, monitor)?;
        let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
        for (&query, &own) in self.patterns.query_of_record.iter().zip(own) {
            let best = best[query as usize];
            if own >= best.weight {
                *ties.entry(best.n).or_default() += 1;
            }
        }
        Ok(sum_of_shares(&ties))
    }
}

impl Plan {
    /// Refuses more work than `most` nanoseconds.
    pub fn check(&self, most: f64, what: &str) -> Result<()> {
        if self.work <= most {
            return Ok(());
        }
        Err(Error::too_large(
            &format!(
                "{what} must take at most {} of one processor, the limit `max_work`.",
                in_words(most)
            ),
            &format!("The cheapest engine takes about {}.", in_words(self.work)),
            "Give a larger `max_work`, or fewer records.",
        ))
    }
}

/// So many nanoseconds in words.
fn in_words(ns: f64) -> String {
    let seconds = ns / 1e9;
    if seconds < 120.0 {
        format!("{seconds:.0} seconds")
    } else if seconds < 7200.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else if seconds < 172_800.0 {
        format!("{:.0} hours", seconds / 3600.0)
    } else {
        format!("{:.0} days", seconds / 86_400.0)
    }
}
