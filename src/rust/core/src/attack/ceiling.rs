//! Ceiling of all rules that only use which keys agree, differ or are missing.
//!
//! Known records that agree with a released record on the same keys as its true
//! partner cannot be told from the partner: the rule is right with probability 1
//! over their number, at best. Rules that use values can exceed it.
//!
//! Their number is found like the best matches, key by key over the suffixes of
//! the known rows; but few suffixes remain, and only these are looked at.

use std::collections::BTreeMap;
use std::ops::Range;

use super::files::Files;
use super::levels::KeyLevels;
use super::patterns::{codes_of, sorted_with_changes};
use super::score::sum_of_shares;
use super::trie::{Level, Trie};
use crate::error::Result;
use crate::key_table::{Codes, Column, KeyTable};
use crate::memory::{collected, filled};
use crate::parallel::{self, Monitor};

/// Runs of conditions that are treated by themselves.
const RUNS: usize = 32;
/// Suffixes that one run may look at.
const MOST_WORK: u64 = 400_000_000;
/// Kinds of conditions of one released code: three levels, the known value
/// missing, and nothing asked.
const KINDS: u32 = 5;
const MISSING: u32 = 3;
const FREE: u32 = 4;

/// Suffixes that meet the conditions so far, and the records that end in them.
#[derive(Default)]
struct Remaining {
    nodes: Vec<u32>,
    n: Vec<u64>,
    /// Their places by code, once they are asked for twice.
    by_code: Vec<(u32, u32)>,
    asked: bool,
}

/// The largest expected number of correct matches of rules that look at
/// agreement alone; `None` where it would take too long.
pub(super) fn ceiling(
    files: &Files,
    levels: &[KeyLevels],
    trie: &Trie,
    monitor: &Monitor,
) -> Result<Option<f64>> {
    let linked: Vec<(usize, usize)> = files.linked().collect();
    let most = files.released.columns().iter().map(Column::n_values).max();
    if linked.is_empty() || most.unwrap_or(0) >= u32::MAX / KINDS - 1 {
        return Ok(linked.is_empty().then_some(0.0));
    }
    let columns = parallel::try_map(&trie.order, monitor, |&v| {
        conditions(files, &levels[v], v, &linked)
    })?;
    let table = KeyTable::new(columns)?;
    let groups = table.group(monitor)?;
    let distinct = table.select(groups.first_rows())?;
    drop((table, linked));
    let (sorted, shared) = sorted_with_changes(&distinct, 0..trie.n_keys(), monitor)?;
    let codes: Vec<Vec<u32>> = distinct
        .columns()
        .iter()
        .map(|c| codes_of(c, &sorted))
        .collect();
    let search = Search {
        levels: trie.order.iter().map(|&v| &levels[v]).collect(),
        trie,
        shared: &shared,
        codes: &codes,
    };
    let n = sorted.len();
    let runs = parallel::blocks(n, n.div_ceil(RUNS));
    let parts = parallel::try_map(runs, monitor, |run| search.run(run, monitor))?;
    let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
    let mut place = 0;
    for part in parts {
        let Some(found) = part else { return Ok(None) };
        for alike in found {
            *ties.entry(alike).or_default() += groups.counts()[sorted[place] as usize];
            place += 1;
        }
    }
    Ok(Some(sum_of_shares(&ties)))
}

/// Conditions on one key that the true partner of every linked record meets, as codes.
fn conditions(
    files: &Files,
    levels: &KeyLevels,
    v: usize,
    linked: &[(usize, usize)],
) -> Result<Column> {
    let (known, released) = (&files.known.columns()[v], &files.released.columns()[v]);
    let n_values = (released.n_values() + 1) * KINDS;
    let alike = alike(known, released, levels)?;
    let codes = linked.iter().map(|&(row, partner)| {
        let (x, y) = (known.codes().get(partner), released.codes().get(row));
        let kind = match (x, y) {
            (_, 0) => FREE,
            (0, _) => MISSING,
            // A key has three levels at most.
            (x, y) => levels.level(x, y) as u32,
        };
        alike[y as usize] * KINDS + kind + 1
    });
    Column::new(Codes::pack(n_values, codes), n_values)
}

/// Per released code the first one that sets the same conditions: all those that no known record
/// agrees with, such as most measurements, are one.
fn alike(known: &Column, released: &Column, levels: &KeyLevels) -> Result<Vec<u32>> {
    let n_values = known.n_values() as usize;
    // Codes before each one that a known record has.
    let mut before = filled(0u32, n_values + 2)?;
    for row in 0..known.codes().len() {
        before[known.codes().get(row) as usize + 1] = 1;
    }
    for code in 1..before.len() {
        before[code] += before[code - 1];
    }
    let has = |first: u32, last: u32| before[last as usize + 1] > before[first as usize];
    let mut none = None;
    let codes = (0..=released.n_values()).map(|y| {
        if y == 0 || levels.of(y).iter().any(|r| has(r.first, r.last)) {
            y
        } else {
            *none.get_or_insert(y)
        }
    });
    collected(codes, released.n_values() as usize + 1)
}

struct Search<'a> {
    /// In the order of elimination.
    levels: Vec<&'a KeyLevels>,
    trie: &'a Trie,
    shared: &'a [u8],
    codes: &'a [Vec<u32>],
}

impl Search<'_> {
    /// Per sorted condition, the known records that meet it.
    fn run(&self, conditions: Range<usize>, monitor: &Monitor) -> Result<Option<Vec<u64>>> {
        let n_keys = self.trie.n_keys();
        let mut stack: Vec<Remaining> = (0..=n_keys).map(|_| Remaining::default()).collect();
        stack[0].nodes = (0..self.trie.n_nodes(0) as u32).collect();
        stack[0].n.clone_from(&self.trie.counts);
        let mut found = Vec::with_capacity(conditions.len());
        let mut work = 0;
        for at in conditions.clone() {
            let shared = if at == conditions.start {
                0
            } else {
                usize::from(self.shared[at])
            };
            for depth in shared..n_keys {
                monitor.check()?;
                let (done, open) = stack.split_at_mut(depth + 1);
                let code = self.codes[depth][at] - 1;
                work += self.narrow(depth, code, &mut done[depth], &mut open[0]);
                if work > MOST_WORK {
                    return Ok(None);
                }
            }
            found.push(stack[n_keys].n.iter().sum());
        }
        Ok(Some(found))
    }

    /// The suffixes of the next level that meet the condition `code` on the key
    /// of `depth`. The elements looked at.
    fn narrow(&self, depth: usize, code: u32, from: &mut Remaining, into: &mut Remaining) -> u64 {
        into.nodes.clear();
        into.n.clear();
        into.asked = false;
        let level = &self.trie.levels[depth];
        let (y, kind) = (code / KINDS, code % KINDS);
        let levels = self.levels[depth];
        if kind == FREE || (kind != MISSING && kind as usize == levels.len() - 1) {
            let all = kind == FREE;
            let keeps = |x: u32| all || (x != 0 && levels.level(x, y) == kind as usize);
            return merge(level, from, into, keeps);
        }
        let ranges: Vec<(u32, u32)> = if kind == MISSING {
            vec![(0, 0)]
        } else {
            let of_level = levels.of(y).iter().filter(|r| u32::from(r.level) == kind);
            of_level.map(|r| (r.first, r.last)).collect()
        };
        let within = |x: u32| ranges.iter().any(|&(a, b)| a <= x && x <= b);
        let one_code = matches!(ranges.as_slice(), [(a, b)] if a == b);
        if !one_code || !from.asked {
            from.asked = true;
            from.by_code.clear();
            return merge(level, from, into, within);
        }
        pick(level, from, into, ranges[0].0)
    }
}

/// Suffixes with one code, found by it: no two of them have the same parent.
fn pick(level: &Level, from: &mut Remaining, into: &mut Remaining, code: u32) -> u64 {
    let mut work = 0;
    if from.by_code.is_empty() {
        let codes = from.nodes.iter().map(|&node| level.codes[node as usize]);
        from.by_code = codes.zip(0u32..).collect();
        from.by_code.sort_unstable();
        work += 4 * from.nodes.len() as u64;
    }
    let start = from.by_code.partition_point(|c| c.0 < code);
    for &(found, place) in &from.by_code[start..] {
        if found != code {
            break;
        }
        let node = from.nodes[place as usize];
        into.nodes.push(level.parents[node as usize]);
        into.n.push(from.n[place as usize]);
    }
    work + into.nodes.len() as u64 + 1
}

/// Suffixes whose code `keeps`, those with one parent together.
fn merge(
    level: &Level,
    from: &Remaining,
    into: &mut Remaining,
    keeps: impl Fn(u32) -> bool,
) -> u64 {
    for (&node, &n) in from.nodes.iter().zip(&from.n) {
        if keeps(level.codes[node as usize]) {
            let parent = level.parents[node as usize];
            match into.n.last_mut() {
                Some(last) if into.nodes.last() == Some(&parent) => *last += n,
                _ => {
                    into.nodes.push(parent);
                    into.n.push(n);
                }
            }
        }
    }
    from.nodes.len() as u64
}
