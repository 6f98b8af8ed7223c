//! What every violating record needs alone: exact.
//!
//! Sets of keys are looked at in the order of their cost, for all violators at
//! once; those that remain are solved one by one ([`super::scan`]).

use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{in_lines, Error, Result};
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

use super::counter::Counter;
use super::listed::Listed;
use super::problem::Problem;
use super::scan::{cheapest, differences, Apart};
use super::subsets::{at_most, Costed, Subsets};
use super::Suppression;

/// The cheapest blanks of a pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Optimum {
    pub cost: f64,
    /// All sets of this cost that serve, ascending.
    pub sets: Vec<u64>,
}

impl Optimum {
    fn new(mut best: Vec<Costed>) -> Self {
        best.sort_unstable_by_key(|b| b.set);
        Self {
            cost: best.first().map_or(0.0, |b| b.cost),
            sets: best.iter().map(|b| b.set).collect(),
        }
    }
}

/// A look at one pattern of the file costs this much less than a step of
/// grouping it.
const SCAN_ADVANTAGE: usize = 6;

/// Whether every violator is to be compared with all patterns, rather than
/// counted on combinations of keys.
pub(super) fn scans(problem: &Problem<'_>) -> bool {
    let mut masks = problem.missing.clone();
    masks.sort_unstable();
    masks.dedup();
    let combinations = 40 * masks.len();
    problem.settings.households.is_none()
        && problem.violators.len() <= SCAN_ADVANTAGE * combinations
}

/// The optima of all violators, one by one, and their differences from others
/// that blanks of the same cost could bridge.
pub(super) fn by_scan(
    problem: &Problem<'_>,
    monitor: &Monitor,
) -> Result<(Vec<Optimum>, Vec<Vec<Apart>>)> {
    let solved: Vec<(Optimum, Vec<Apart>)> = (problem.violators.par_iter())
        .map(|&p| {
            monitor.check()?;
            let mut apart = differences(problem, p)?;
            let optimum = Optimum::new(cheapest(problem, p, &apart)?);
            let union = problem.sets.iter().fold(0, |all, set| all | set);
            // Differences are told per key set: what others count for does not
            // depend on keys outside of it.
            if problem.sets.iter().all(|&set| set == union) {
                apart.retain(|a| at_most(problem.cost(a.keys), optimum.cost));
            }
            apart.retain(|a| a.others > 0);
            Ok((optimum, apart))
        })
        .collect::<Result<_>>()?;
    let (optima, apart): (Vec<_>, Vec<_>) = solved.into_iter().unzip();
    check_all(problem, &optima)?;
    Ok((optima, apart))
}

/// The optima of all violators by ascending sets of keys.
pub(super) fn by_levels(
    problem: &Problem<'_>,
    listed: &Listed,
    counters: &mut [Counter<'_>],
    monitor: &Monitor,
) -> Result<Vec<Optimum>> {
    let mut of_pattern: HashMap<u32, u32> = HashMap::new();
    for (i, &l) in (0u32..).zip(&listed.pattern) {
        of_pattern.entry(listed.patterns[l as usize]).or_insert(i);
    }
    let mut by_missing: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, &p) in problem.violators.iter().enumerate() {
        by_missing
            .entry(problem.missing[p as usize])
            .or_default()
            .push(at);
    }
    let mut groups: Vec<(u64, Vec<usize>)> = by_missing.into_iter().collect();
    groups.sort_unstable();
    let mut optima = vec![Optimum::default(); problem.violators.len()];
    for (missing, group) in groups {
        let asked: Vec<(usize, u32)> = (group.into_iter())
            .map(|at| (at, of_pattern[&problem.violators[at]]))
            .collect();
        levels_of(problem, counters, missing, asked, &mut optima, monitor)?;
    }
    check_all(problem, &optima)?;
    Ok(optima)
}

/// The optima of patterns with the same missing keys: `asked` holds their
/// places among the violators and a listed record of each.
fn levels_of(
    problem: &Problem<'_>,
    counters: &mut [Counter<'_>],
    missing: u64,
    mut asked: Vec<(usize, u32)>,
    optima: &mut [Optimum],
    monitor: &Monitor,
) -> Result<()> {
    let mut subsets = Subsets::new(problem, missing);
    while !asked.is_empty() {
        let level = subsets.level();
        if level.is_empty() {
            return Ok(());
        }
        let alone = problem.settings.households.is_none();
        if alone && asked.len() <= SCAN_ADVANTAGE * level.len() {
            return one_by_one(problem, &asked, optima, monitor);
        }
        for costed in &level {
            monitor.check()?;
            let q = costed.set | missing;
            let mut plans = Vec::with_capacity(counters.len());
            for counter in counters.iter_mut() {
                plans.push(counter.prepare(q, monitor)?);
            }
            let meets = |&&(at, i): &&(usize, u32)| {
                let p = problem.violators[at] as usize;
                counters.iter().enumerate().all(|(s, counter)| {
                    let k = problem.settings.k;
                    problem.before[s][p] >= k || counter.count(i, plans[s]) >= k
                })
            };
            let served: Vec<usize> = asked.par_iter().filter(meets).map(|&(at, _)| at).collect();
            for at in served {
                optima[at].cost = costed.cost;
                optima[at].sets.push(costed.set);
            }
        }
        asked.retain(|&(at, _)| optima[at].sets.is_empty());
    }
    Ok(())
}

fn one_by_one(
    problem: &Problem<'_>,
    asked: &[(usize, u32)],
    optima: &mut [Optimum],
    monitor: &Monitor,
) -> Result<()> {
    let found: Vec<Optimum> = (asked.par_iter())
        .map(|&(at, _)| {
            monitor.check()?;
            let p = problem.violators[at];
            let apart = differences(problem, p)?;
            Ok(Optimum::new(cheapest(problem, p, &apart)?))
        })
        .collect::<Result<_>>()?;
    for (&(at, _), optimum) in asked.iter().zip(found) {
        optima[at] = optimum;
    }
    Ok(())
}

fn check_all(problem: &Problem<'_>, optima: &[Optimum]) -> Result<()> {
    let hopeless: u64 = (problem.violators.iter().zip(optima))
        .filter(|(_, optimum)| optimum.sets.is_empty())
        .map(|(&p, _)| u64::from(problem.counts[p as usize]))
        .sum();
    if hopeless == 0 {
        return Ok(());
    }
    Err(Error::Unprotectable(in_lines(
        &format!(
            "Blanks must give every record {} matches.",
            problem.settings.k
        ),
        &format!(
            "{hopeless} record{} cannot get so many, whatever is blanked.",
            if hopeless == 1 { "" } else { "s" }
        ),
        "Take a smaller `k`, or let more key variables be blanked.",
    )))
}

/// The release: of several optimal sets of a record, the one it shares with
/// most others that it then equals, so that they hide each other.
pub(super) fn release(
    problem: &Problem<'_>,
    optima: &[Optimum],
    own_cost: f64,
) -> Result<Suppression> {
    let chosen = choose(problem, optima)?;
    let mut of_pattern = vec![0u64; problem.counts.len()];
    for (&p, set) in problem.violators.iter().zip(chosen) {
        of_pattern[p as usize] = set;
    }
    let blanks = problem
        .row_pattern
        .iter()
        .map(|&p| of_pattern[p as usize])
        .collect();
    Ok(Suppression::new(problem, blanks, own_cost))
}

/// Violators that would become equal by the same blanks.
struct Bucket {
    set: u64,
    members: Vec<u32>,
}

/// One optimal set per violator.
pub(super) fn choose(problem: &Problem<'_>, optima: &[Optimum]) -> Result<Vec<u64>> {
    let buckets = buckets(problem, optima)?;
    let mut chosen = vec![0u64; optima.len()];
    let size = |bucket: &Bucket, chosen: &[u64]| -> u64 {
        (bucket.members.iter())
            .filter(|&&at| chosen[at as usize] == 0)
            .map(|&at| u64::from(problem.counts[problem.violators[at as usize] as usize]))
            .sum()
    };
    let entry = |b: usize, size: u64| (size, std::cmp::Reverse(b));
    let mut heap: BinaryHeap<_> = (buckets.iter().enumerate())
        .map(|(b, bucket)| entry(b, size(bucket, &chosen)))
        .collect();
    while let Some((before, b)) = heap.pop() {
        let bucket = &buckets[b.0];
        let now = size(bucket, &chosen);
        if now == 0 {
            continue;
        }
        if now < before {
            heap.push(entry(b.0, now));
            continue;
        }
        for &at in &bucket.members {
            if chosen[at as usize] == 0 {
                chosen[at as usize] = bucket.set;
            }
        }
    }
    Ok(chosen)
}

fn buckets(problem: &Problem<'_>, optima: &[Optimum]) -> Result<Vec<Bucket>> {
    // Sets by what is blank in the end, so that equal records meet.
    let mut by_blank: HashMap<(u64, u64), Vec<u32>> = HashMap::new();
    for (at, optimum) in (0u32..).zip(optima) {
        let missing = problem.missing[problem.violators[at as usize] as usize];
        for &set in &optimum.sets {
            by_blank.entry((set | missing, set)).or_default().push(at);
        }
    }
    let mut sets: Vec<_> = by_blank.into_iter().collect();
    sets.sort_unstable();
    let union = problem.sets.iter().fold(0, |all, set| all | set);
    let mut buckets = Vec::new();
    for ((blank, set), members) in sets {
        let rows: Vec<u32> = members
            .iter()
            .map(|&at| problem.violators[at as usize])
            .collect();
        let part = problem.distinct.select(&rows)?;
        let columns: Vec<Column> = (problem.columns(union, blank).iter())
            .map(|&v| part.columns()[v].clone())
            .collect();
        let classes = if columns.is_empty() {
            vec![0; rows.len()]
        } else {
            KeyTable::new(columns)?
                .group(&Monitor::new())?
                .row_group()
                .to_vec()
        };
        let first = buckets.len();
        for (&at, &class) in members.iter().zip(&classes) {
            let place = first + class as usize;
            if place == buckets.len() {
                buckets.push(Bucket {
                    set,
                    members: Vec::new(),
                });
            }
            buckets[place].members.push(at);
        }
    }
    Ok(buckets)
}
