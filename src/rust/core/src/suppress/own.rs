//! Exact needs of every record below the limit, one by one.
//!
//! Sets of keys are looked at in the order of their cost, for all violators at
//! once; those that remain are solved one by one ([`super::scan`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::error::{in_lines, Error, Result};
use crate::key_table::{Column, KeyTable};
use crate::memory::{collected, filled, push, reserved};
use crate::parallel::{self, Monitor};

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

/// True if every violator is to be compared with all patterns, rather than
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
    let solved = parallel::try_map(&problem.violators, monitor, |&p| {
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
    })?;
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
            let served = parallel::map(asked.chunks(1 << 10), |asked| {
                let served = asked.iter().filter(meets);
                served.map(|&(at, _)| at).collect::<Vec<_>>()
            });
            for at in served.into_iter().flatten() {
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
    let found = parallel::try_map(asked, monitor, |&(at, _)| {
        let p = problem.violators[at];
        let apart = differences(problem, p)?;
        Ok(Optimum::new(cheapest(problem, p, &apart)?))
    })?;
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
    monitor: &Monitor,
) -> Result<Suppression> {
    let chosen = choose(problem, optima, monitor)?;
    let mut of_pattern = filled(0u64, problem.counts.len())?;
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
struct Buckets {
    /// The blanks of each, and where its members end.
    each: Vec<(u64, usize)>,
    /// Places among the violators.
    members: Vec<u32>,
}

impl Buckets {
    fn new(problem: &Problem<'_>, optima: &[Optimum], monitor: &Monitor) -> Result<Self> {
        // Sets by what is blank in the end, so that equal records meet.
        let mut by_blank: HashMap<(u64, u64), Vec<u32>> = HashMap::new();
        for (at, optimum) in (0u32..).zip(optima) {
            let missing = problem.missing[problem.violators[at as usize] as usize];
            for &set in &optimum.sets {
                push(by_blank.entry((set | missing, set)).or_default(), at)?;
            }
        }
        let mut sets: Vec<_> = by_blank.into_iter().collect();
        sets.sort_unstable();
        let union = problem.sets.iter().fold(0, |all, set| all | set);
        let mut buckets = Self {
            each: Vec::new(),
            members: reserved(optima.iter().map(|o| o.sets.len()).sum())?,
        };
        for ((blank, set), members) in sets {
            monitor.check()?;
            let rows = members.iter().map(|&at| problem.violators[at as usize]);
            let part = problem.distinct.select(&collected(rows, members.len())?)?;
            let columns: Vec<Column> = (problem.columns(union, blank).iter())
                .map(|&v| part.columns()[v].clone())
                .collect();
            if columns.is_empty() {
                buckets.add(set, &members, &filled(0, members.len())?, 1)?;
            } else {
                let groups = KeyTable::new(columns)?.group(monitor)?;
                buckets.add(set, &members, groups.row_group(), groups.len())?;
            }
        }
        Ok(buckets)
    }

    /// A bucket for each class; `class_of` says in which a member is.
    fn add(&mut self, set: u64, members: &[u32], class_of: &[u32], n: usize) -> Result<()> {
        let before = self.members.len();
        let mut end: Vec<usize> = filled(0, n)?;
        for &class in class_of {
            end[class as usize] += 1;
        }
        let mut from = before;
        for size in &mut end {
            from += std::mem::replace(size, from);
        }
        self.members.resize(before + members.len(), 0);
        for (&at, &class) in members.iter().zip(class_of) {
            let place = &mut end[class as usize];
            self.members[*place] = at;
            *place += 1;
        }
        for end in end {
            push(&mut self.each, (set, end))?;
        }
        Ok(())
    }

    fn members(&self, bucket: usize) -> &[u32] {
        let from = bucket
            .checked_sub(1)
            .map_or(0, |before| self.each[before].1);
        &self.members[from..self.each[bucket].1]
    }
}

/// One optimal set per violator.
fn choose(problem: &Problem<'_>, optima: &[Optimum], monitor: &Monitor) -> Result<Vec<u64>> {
    let buckets = Buckets::new(problem, optima, monitor)?;
    let mut chosen = filled(0u64, optima.len())?;
    let size = |bucket: usize, chosen: &[u64]| -> u64 {
        (buckets.members(bucket).iter())
            .filter(|&&at| chosen[at as usize] == 0)
            .map(|&at| u64::from(problem.counts[problem.violators[at as usize] as usize]))
            .sum()
    };
    let n = buckets.each.len();
    let entries = (0..n).map(|b| (size(b, &chosen), Reverse(b)));
    let mut heap = BinaryHeap::from(collected(entries, n)?);
    while let Some((before, b)) = heap.pop() {
        let now = size(b.0, &chosen);
        if now == 0 {
            continue;
        }
        if now < before {
            heap.push((now, b));
            continue;
        }
        for &at in buckets.members(b.0) {
            if chosen[at as usize] == 0 {
                chosen[at as usize] = buckets.each[b.0].0;
            }
        }
    }
    Ok(chosen)
}
