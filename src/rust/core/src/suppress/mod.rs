//! Local suppression: values to suppress so that every record keeps the limit.
//!
//! `x_i` is an original record, `y_i` the released one, in which the keys
//! `S_i` are blanked beside those that were missing; `a ~ b` says that `a` and
//! `b` agree in every key known in both (a blank matches everything). In every
//! key set, with `w(S)` the summed weights of the keys of `S`:
//!
//! | rule | what must hold for every record `i` |
//! |---|---|
//! | [`Rule::Own`] | at least `k` originals fit: `#{j : x_j ~ y_i} >= k` |
//! | [`Rule::Shared`] | `f_i = #{j : y_j ~ y_i} >= k`, and `w(S_i)` at most what `i` needs under `Own`; only records with `f_i < k` before are blanked |
//! | [`Rule::Strict`] | at least `k` records have the very same `y_i`, a blank being a value |
//!
//! Without the cap of `Shared`, `k - 1` wholly blank records would serve the
//! whole file: such a release is never given.
//!
//! Blanking lowers no `f`. Hence only records that violate at the start can
//! ever violate, every `Own` solution keeps what the others have, and a record
//! can always be repaired by its own optimum. `Own` separates by record and is
//! solved exactly. `Shared` is a covering problem: a greedy on gains that are
//! kept exact after every move, with prices from a Lagrangian bound, gives back
//! what is no longer needed and can search on; the bound says how far from the
//! least possible the result can be. `Strict` fills cells greedily, with prices
//! and a Lagrangian bound of its own, and exchanges what it filled.
//!
//! Laws that the tests hold the code to: `Own` costs the sum of optima found by
//! enumeration, whatever the order of rows or the codes; `Shared` costs at most
//! `Own` and at least the bound; a `Strict` release has no cell below `k`; no
//! record without a violation is blanked under `Own` and `Shared`; the counts
//! kept during the moves are those of [`crate::n_matches`].
//!
//! Under `Own` a row can stand for many records: what a record needs follows from its
//! pattern. Under the other rules the blanks of a record depend on those of others, its
//! equals among them, and rows must be records.

mod bound;
mod counter;
mod greedy;
mod household;
mod listed;
mod measure;
mod own;
mod problem;
mod scan;
mod search;
mod shared;
mod strict;
mod subsets;

pub use measure::{released_table, Counts};

use crate::error::Result;
use crate::key_table::{Column, KeyTable};
use crate::memory::room_for;
use crate::parallel::Monitor;
use crate::random::Streams;

use counter::Counter;
use listed::Listed;
use problem::Problem;

/// Condition on every released record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Every released record fits `k` originals.
    Own,
    /// Every released record has `k` matches among the released.
    Shared,
    /// Every released record has `k - 1` others equal to it, blanks included.
    Strict,
}

/// Settings of a call. Keys are columns of the table, at most 64.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// The rule.
    pub rule: Rule,
    /// The least number of matches.
    pub k: u32,
    /// The key sets, as columns.
    pub sets: &'a [Vec<usize>],
    /// Cost of a blank, per column: positive, infinite for never.
    pub weights: &'a [f64],
    /// Pairs of columns: a blank in the first asks for one in the second.
    pub linked: &'a [(usize, usize)],
    /// The stratum of every record, none missing: matches are sought inside.
    pub strata: Option<&'a Column>,
    /// The household of every record, none missing: matches are households.
    pub households: Option<&'a Column>,
    /// Steps of the bound of `Shared`; `None` for a number that fits the size.
    pub bound_steps: Option<usize>,
    /// Rounds of local search under `Shared`, and more than those always made
    /// under `Strict`.
    pub rounds: usize,
    /// Random numbers of the search.
    pub streams: Streams,
}

/// The suppressed values and their quality.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppression {
    /// Per record, the bits of the columns blanked.
    pub blanks: Vec<u64>,
    /// Of these, the ones that a household shares with another member.
    pub household: Vec<u64>,
    /// True if the record had fewer than `k` matches in some key set.
    pub violating: Vec<bool>,
    /// Summed weights of all blanks.
    pub cost: f64,
    /// No release under this rule costs less.
    pub lower_bound: f64,
    /// True if some records were given fewer choices than the rule leaves
    /// them, because there are too many to look at.
    pub restricted: bool,
    /// Steps the bound took.
    pub bound_steps: usize,
    /// Rounds of the search that lowered the cost.
    pub improved: usize,
    /// Matches per key set: before, after, and of the originals in the release.
    pub counts: Vec<Counts>,
}

/// Finds the cells to blank.
pub fn suppress(
    table: &KeyTable,
    settings: &Settings<'_>,
    monitor: &Monitor,
) -> Result<Suppression> {
    // Shares of the work, roughly.
    monitor.set_total(100);
    let problem = Problem::new(table, settings, monitor)?;
    room_for(match settings.rule {
        Rule::Own => 700 * problem.violators.len(),
        Rule::Shared => 1400 * problem.violators.len(),
        // Records that are no violators may have to give what others lack.
        Rule::Strict => 3000 * problem.distinct.n_rows(),
    })?;
    monitor.advance(10);
    let scanned = match own::scans(&problem) {
        true => Some(own::by_scan(&problem, monitor)?),
        false => None,
    };
    let (optima, apart) = scanned.map_or((None, None), |(o, a)| (Some(o), Some(a)));
    let listed = Listed::new(&problem, apart);
    let mut counters: Vec<Counter<'_>> = (0..problem.sets.len())
        .map(|s| Counter::new(&problem, &listed, s))
        .collect();
    let optima = match optima {
        Some(optima) => optima,
        None => own::by_levels(&problem, &listed, &mut counters, monitor)?,
    };
    monitor.advance(20);
    let own_cost: f64 = (problem.violators.iter().zip(&optima))
        .map(|(&p, optimum)| f64::from(problem.counts[p as usize]) * optimum.cost)
        .sum();
    let mut found = match settings.rule {
        Rule::Own => own::release(&problem, &optima, own_cost, monitor)?,
        Rule::Shared => shared::release(&problem, &listed, &mut counters, &optima, monitor)?,
        Rule::Strict => {
            let largest = optima.iter().map(|o| o.cost).fold(0.0, f64::max);
            strict::release(&problem, table, own_cost, largest, monitor)?
        }
    };
    monitor.advance(60);
    household::complete(&problem, table, &mut found, monitor)?;
    found.cost = match table.multiplicity() {
        None => (found.blanks.iter()).map(|&s| problem.cost(s)).sum(),
        Some(times) => (found.blanks.iter().zip(times))
            .filter(|(&s, _)| s != 0)
            .map(|(&s, &n)| n as f64 * problem.cost(s))
            .sum(),
    };
    found.counts = measure::counts(table, settings, &found.blanks, monitor)?;
    monitor.advance(10);
    Ok(found)
}

/// Why a cell was blanked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The record had too few matches.
    Violation,
    /// A key it is linked to was blanked.
    Linked,
    /// Another member of the household has it blank.
    Household,
    /// The record gives others the equals they lack.
    Donor,
}

impl Suppression {
    /// The blanked cells by record and column.
    pub fn cells(&self, settings: &Settings<'_>) -> Vec<(u32, u32, Reason)> {
        let mut cells = Vec::new();
        for (row, &set) in self.blanks.iter().enumerate().filter(|(_, &set)| set != 0) {
            let household = self.household[row];
            let linked = implied(set & !household, settings.linked);
            for key in subsets::keys_of(set) {
                let reason = if household >> key & 1 == 1 {
                    Reason::Household
                } else if linked >> key & 1 == 1 {
                    Reason::Linked
                } else if self.violating[row] {
                    Reason::Violation
                } else {
                    Reason::Donor
                };
                cells.push((row as u32, key as u32, reason));
            }
        }
        cells
    }

    fn new(problem: &Problem<'_>, blanks: Vec<u64>, lower_bound: f64) -> Self {
        let violating = |&p: &u32| problem.violating[p as usize];
        Self {
            household: vec![0; blanks.len()],
            violating: problem.row_pattern.iter().map(violating).collect(),
            blanks,
            cost: 0.0,
            lower_bound,
            restricted: false,
            bound_steps: 0,
            improved: 0,
            counts: Vec::new(),
        }
    }
}

/// The keys of `set` that are there because others are linked to them; of keys
/// linked to each other the first is not.
fn implied(set: u64, linked: &[(usize, usize)]) -> u64 {
    let mut causes = set;
    for key in subsets::keys_of(set).collect::<Vec<_>>().into_iter().rev() {
        let others = causes & !(1 << key);
        let mut reached = others;
        loop {
            let from_reached = linked.iter().filter(|(from, _)| reached >> from & 1 == 1);
            let more = from_reached.fold(reached, |all, (_, to)| all | 1 << to);
            if more == reached {
                break;
            }
            reached = more;
        }
        if reached >> key & 1 == 1 {
            causes = others;
        }
    }
    set & !causes
}

#[cfg(test)]
mod tests;
