//! One record beside all patterns: in which keys do they differ?
//!
//! For few violators, or many sets of missing keys, this costs less than
//! counting on every combination of keys; and a record whose optimum is large
//! is solved by it without looking at all sets of keys.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code};
use crate::memory::filled;

use super::problem::Problem;
use super::subsets::{at_most, Costed};

/// Sets that one record may be asked about.
const MOST_SETS: usize = 2_000_000;

/// Patterns that differ from one pattern in the same keys, both known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Apart {
    /// The keys.
    pub keys: u64,
    /// Records of such patterns.
    pub records: u32,
    /// Those of them that never violate.
    pub others: u32,
}

/// The patterns of `p`'s stratum by the keys in which they differ from `p`.
pub(super) fn differences(problem: &Problem<'_>, p: u32) -> Result<Vec<Apart>> {
    let table = &problem.distinct;
    let union = problem.sets.iter().fold(0, |all, set| all | set);
    let mut apart = filled(0u64, table.n_rows())?;
    let mut elsewhere: Option<Vec<bool>> = None;
    for (v, column) in table.columns().iter().enumerate() {
        let own = column.codes().get(p as usize);
        if v >= problem.n_keys {
            let here = |row| column.codes().get(row) != own;
            elsewhere = Some((0..table.n_rows()).map(here).collect());
        } else if own != 0 && union >> v & 1 == 1 {
            with_codes!(column.codes(), |codes| {
                for (bits, code) in apart.iter_mut().zip(codes) {
                    let code = code.value();
                    *bits |= u64::from(code != own && code != 0) << v;
                }
            });
        }
    }
    let mut found: HashMap<u64, (u32, u32)> = HashMap::new();
    for (row, &keys) in apart.iter().enumerate() {
        if elsewhere.as_ref().is_some_and(|e| e[row]) {
            continue;
        }
        let entry = found.entry(keys).or_default();
        entry.0 += problem.counts[row];
        if !problem.violating[row] {
            entry.1 += problem.counts[row];
        }
    }
    let mut found: Vec<Apart> = (found.into_iter())
        .map(|(keys, (records, others))| Apart {
            keys,
            records,
            others,
        })
        .collect();
    found.sort_unstable_by_key(|a| a.keys);
    Ok(found)
}

/// The cheapest sets of keys whose blanks give pattern `p` its `k` records in
/// every key set; empty where there is none.
pub(super) fn cheapest(problem: &Problem<'_>, p: u32, apart: &[Apart]) -> Result<Vec<Costed>> {
    let missing = problem.missing[p as usize];
    let near = near(problem, missing, apart);
    let meets = |set: u64| {
        near.iter()
            .all(|near| count(near, set) >= problem.settings.k)
    };
    let mut all: Vec<Costed> = near.iter().flatten().map(|&(costed, _)| costed).collect();
    all.sort_unstable();
    all.dedup();
    // Some set that serves, to leave out what costs more.
    let mut set = 0;
    let mut enough = f64::INFINITY;
    for costed in &all {
        set |= costed.set;
        if meets(set) {
            enough = problem.cost(set);
            break;
        }
    }
    let mut best: Vec<Costed> = Vec::new();
    if !enough.is_finite() {
        return Ok(best);
    }
    let mut heap = BinaryHeap::from([Reverse(Costed { cost: 0.0, set: 0 })]);
    let mut seen: HashSet<u64> = HashSet::new();
    while let Some(Reverse(next)) = heap.pop() {
        if best.first().is_some_and(|b| !at_most(next.cost, b.cost)) {
            break;
        }
        if meets(next.set) {
            best.push(next);
            continue;
        }
        for costed in &all {
            let set = next.set | costed.set;
            let cost = problem.cost(set);
            if at_most(cost, enough) && seen.insert(set) {
                heap.push(Reverse(Costed { cost, set }));
            }
        }
        if seen.len() > MOST_SETS {
            return Err(Error::too_large(
                &format!("The cheapest blanks of a record are sought among {MOST_SETS} sets."),
                "Some records differ from all others in more ways.",
                "Take fewer key variables, or recode them first: see recode_search().",
            ));
        }
    }
    Ok(best)
}

/// Per key set, what would have to be blanked to fit how many records; what
/// cannot be blanked left out.
fn near(problem: &Problem<'_>, missing: u64, apart: &[Apart]) -> Vec<Vec<(Costed, u32)>> {
    (problem.sets.iter())
        .map(|keys| {
            let mut by_set: HashMap<u64, u32> = HashMap::new();
            for a in apart {
                let set = problem.closed(a.keys & keys, missing);
                if set & !problem.blankable == 0 {
                    *by_set.entry(set).or_default() += a.records;
                }
            }
            let costed = |(set, n)| {
                let cost = problem.cost(set);
                (Costed { cost, set }, n)
            };
            by_set.into_iter().map(costed).collect()
        })
        .collect()
}

fn count(near: &[(Costed, u32)], set: u64) -> u32 {
    (near.iter())
        .filter(|(costed, _)| costed.set & !set == 0)
        .map(|&(_, n)| n)
        .sum()
}
