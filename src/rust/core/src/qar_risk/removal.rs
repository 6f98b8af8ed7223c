//! Removing records one after the other, and what that does to the risk.
//!
//! # Formula
//!
//! After a set R of records is removed, key set j has `H'(j) = H(j)` less the
//! classes that lie in R altogether, among L - |R| records; the extreme risk
//! follows as for any file. Source of the question and of the orders: Bera et
//! al. (2023), hal-04165346, section 3.
//!
//! *A fixed order* ([`fixed_path`]): the class of a key set dies with its last
//! member, so one walk over all key sets tells at which step each count falls.
//!
//! *An order that looks at the file as it then is* ([`adaptive_path`]): per key
//! set and class the number of members and the exclusive or of their rows.
//! Removing a record updates both; at one member left, the rest of the
//! exclusive or is the row that became unique, found without a search. Only
//! key sets that can matter within the removals asked for are kept: counts
//! fall by one a removal at most. Where that takes too much memory, files are
//! counted anew after every block.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::contribution::{count_at_depth, depth, Patterns, Without};
use super::key_sets::KeySets;
use super::partition::SetCounts;
use super::planes::count_sets;
use super::uniqueness::{uniqueness, BitRows};
use super::walk::{walk, Classes, Scratch, Visitor};
use super::{estimate, Estimate, TailSettings};
use crate::error::{Error, Result};
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

/// Contributions closer than this are ties.
const TIE: f64 = 1e-15;
/// Blocks after which a file too large for the incremental scheme may be
/// counted anew.
pub const MAX_RECOUNTS: usize = 200;

/// How many records go, and how many of them at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Records removed in all; fewer than there are.
    pub n: usize,
    /// Records removed before the risk is looked at again.
    pub block: usize,
}

impl Plan {
    fn n_blocks(self) -> usize {
        self.n.div_ceil(self.block)
    }

    /// Records removed after block `b`.
    fn removed(self, b: usize) -> usize {
        ((b + 1) * self.block).min(self.n)
    }

    fn check(self, table: &KeyTable) -> Result<()> {
        if self.n == 0 || self.block == 0 || self.n >= table.n_rows() {
            return Err(Error::BadArgument(format!(
                "Between 1 and {} of {} records can be removed.",
                table.n_rows().saturating_sub(1),
                table.n_rows()
            )));
        }
        Ok(())
    }
}

/// Rows in order of removal and the risk after every block.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Before any removal.
    pub before: Estimate,
    /// Rows in order of removal.
    pub rows: Vec<u32>,
    /// After every block.
    pub after: Vec<Estimate>,
    /// Key sets kept.
    pub n_kept: usize,
}

/// The rule that picks the next records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The largest contribution to T.
    Proper,
    /// The largest sum of theta over the sets a record is unique on.
    UPlus,
    /// The largest number of sets a record is unique on, among this many of
    /// highest risk, ties in `combn()` order.
    TopCount(usize),
}

/// How many of the largest counts estimates draw while up to `n` records go.
fn depth_while(distinct: &[u32], n_records: u64, n: usize, settings: &TailSettings) -> usize {
    let ones = distinct
        .iter()
        .filter(|&&h| u64::from(h) + n as u64 >= n_records)
        .count();
    depth(distinct.len(), ones, settings)
}

/// The estimate from counts in any order, which are all or the largest of
/// `n_sets`.
fn estimate_of(
    mut counts: Vec<u32>,
    depth: usize,
    n_sets: usize,
    n_records: u64,
    settings: &TailSettings,
) -> Estimate {
    if depth < counts.len() {
        counts.select_nth_unstable_by(depth - 1, |a, b| b.cmp(a));
        counts.truncate(depth);
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    estimate(counts.into_iter(), n_sets, n_records, settings).swap_remove(0)
}

/// The path of rows that go in the given order. `counts` are those of the
/// whole table.
pub fn fixed_path(
    table: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    rows: &[u32],
    block: usize,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let plan = Plan {
        n: rows.len(),
        block,
    };
    plan.check(table)?;
    let n_blocks = plan.n_blocks();
    let n_records = table.n_records();
    let depth = depth_while(&counts.distinct, n_records, plan.n, settings);
    let wanted = matter(&counts.distinct, depth, plan.n);
    let places: Vec<u32> = wanted
        .iter()
        .scan(0, |next, &w| {
            let place = *next;
            *next += u32::from(w);
            Some(place)
        })
        .collect();
    let n_kept = wanted.iter().filter(|&&w| w).count();
    check_bytes(n_kept as u64 * n_blocks as u64 * 4, FALL_BYTES, "path")?;
    let mut goes = vec![u32::MAX; table.n_rows()];
    for (i, &row) in (0u32..).zip(rows) {
        let place = goes.get_mut(row as usize).filter(|g| **g == u32::MAX);
        let Some(place) = place else {
            return Err(Error::BadArgument(
                "Records to remove must be distinct records of the file.".into(),
            ));
        };
        *place = i / block as u32;
    }
    monitor.set_total(monitor.progress().0 + n_kept as u64 + n_blocks as u64);
    let falls = Falls {
        goes: &goes,
        places: &places,
        n_blocks,
        falls: atomics(n_kept * n_blocks),
    };
    walk(table, sets, &wanted, &falls, monitor)?;
    let mut left: Vec<u32> = counts
        .distinct
        .iter()
        .zip(&wanted)
        .filter_map(|(&h, &w)| w.then_some(h))
        .collect();
    let before = estimate_of(left.clone(), depth, sets.len(), n_records, settings);
    let mut after = Vec::with_capacity(n_blocks);
    for b in 0..n_blocks {
        if b % 64 == 0 {
            monitor.check()?;
        }
        for (h, falls) in left.iter_mut().zip(falls.falls.chunks(n_blocks)) {
            *h -= falls[b].load(Relaxed);
        }
        let n_left = n_records - plan.removed(b) as u64;
        after.push(estimate_of(
            left.clone(),
            depth,
            sets.len(),
            n_left,
            settings,
        ));
        monitor.advance(1);
    }
    Ok(Path {
        before,
        rows: rows.to_vec(),
        after,
        n_kept,
    })
}

/// Memory that the falling counts of one path may take.
const FALL_BYTES: u64 = 2_000_000_000;

/// The key sets that can be among the `depth` largest while up to `n` records
/// go, one more included.
fn matter(distinct: &[u32], depth: usize, n: usize) -> Vec<bool> {
    let least = u64::from(count_at_depth(distinct, depth));
    distinct
        .iter()
        .map(|&h| u64::from(h) + n as u64 + 1 >= least)
        .collect()
}

fn atomics(n: usize) -> Vec<AtomicU32> {
    std::iter::repeat_with(AtomicU32::default).take(n).collect()
}

fn check_bytes(bytes: u64, limit: u64, what: &str) -> Result<()> {
    if bytes > limit {
        return Err(Error::TooLarge(format!(
            "The {what} needs {} MB, more than the limit of {} MB: take a larger `block`, a smaller `n` or a smaller `p`.",
            bytes / 1_000_000,
            limit / 1_000_000
        )));
    }
    Ok(())
}

/// Per kept key set and block, how many classes lose their last member.
struct Falls<'a> {
    /// Per row the block it goes with, `u32::MAX` for rows that stay.
    goes: &'a [u32],
    places: &'a [u32],
    n_blocks: usize,
    falls: Vec<AtomicU32>,
}

impl Visitor for Falls<'_> {
    fn alone(&self, _rows: &[u32], _sets: std::ops::Range<usize>) {}

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let of_set = &self.falls[self.places[set] as usize * self.n_blocks..][..self.n_blocks];
        let fall = |block: u32| {
            if block != u32::MAX {
                of_set[block as usize].fetch_add(1, Relaxed);
            }
        };
        for &row in prefix.alone() {
            fall(self.goes[row as usize]);
        }
        scratch.split(
            prefix,
            last,
            |latest, row| latest.max(self.goes[row as usize]),
            |_, latest| fall(latest),
        );
    }
}

/// The path of rows picked by a rule in the file as it then is, ties broken by
/// the lowest row. Takes up to `max_bytes` of memory, or counts anew after
/// every block.
pub fn adaptive_path(
    table: &KeyTable,
    sets: KeySets,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    max_bytes: u64,
    monitor: &Monitor,
) -> Result<Path> {
    plan.check(table)?;
    let counts = count_sets(table, sets, monitor)?;
    let kept = Kept::new(&counts.distinct, table, rule, plan, settings);
    if kept.bytes(table, &counts.distinct) <= max_bytes {
        return incremental_path(table, sets, &counts, &kept, rule, plan, settings, monitor);
    }
    if plan.n_blocks() > MAX_RECOUNTS {
        return Err(Error::TooLarge(format!(
            "Updating {} key sets of {} records after every block needs {} MB, more than the limit of {} MB: take `block` = {} or more, so that the file can be counted anew after every block, or a smaller `p`.",
            kept.sets.len(),
            table.n_rows(),
            kept.bytes(table, &counts.distinct) / 1_000_000,
            max_bytes / 1_000_000,
            plan.n.div_ceil(MAX_RECOUNTS)
        )));
    }
    recounted_path(table, sets, counts, rule, plan, settings, monitor)
}

/// The key sets that the incremental scheme keeps.
struct Kept {
    /// By falling count, ties in `combn()` order.
    sets: Vec<u32>,
    depth: usize,
}

impl Kept {
    fn new(
        distinct: &[u32],
        table: &KeyTable,
        rule: Rule,
        plan: Plan,
        settings: &TailSettings,
    ) -> Self {
        let depth = depth_while(distinct, table.n_records(), plan.n, settings);
        let wanted = match rule {
            Rule::UPlus => vec![true; distinct.len()],
            Rule::Proper => matter(distinct, depth, plan.n),
            Rule::TopCount(n_top) => matter(distinct, depth.max(n_top), plan.n),
        };
        let mut sets: Vec<u32> = (0u32..)
            .zip(wanted)
            .filter_map(|(set, w)| w.then_some(set))
            .collect();
        sets.sort_by_key(|&set| std::cmp::Reverse(distinct[set as usize]));
        Self { sets, depth }
    }

    fn bytes(&self, table: &KeyTable, distinct: &[u32]) -> u64 {
        let classes: u64 = self
            .sets
            .iter()
            .map(|&set| u64::from(distinct[set as usize]))
            .sum();
        let cells = table.n_rows() as u64 * self.sets.len() as u64;
        // Classes are numbered by 32 bits.
        if classes >= u64::from(u32::MAX) {
            return u64::MAX;
        }
        4 * cells + cells / 8 + 8 * classes
    }
}

/// The file as it is after some removals.
struct State {
    n_kept: usize,
    /// Per row, its class on every kept set; classes of all sets in one
    /// numbering.
    class_of: Vec<u32>,
    /// Per class, its members and the exclusive or of their rows.
    size: Vec<u32>,
    xor: Vec<u32>,
    /// Distinct count of every kept set.
    distinct: Vec<u32>,
    /// Per row, bit k tells whether it is unique on kept set k.
    unique: BitRows,
    /// Per row, the sum of the counts of the sets it is unique on.
    u_plus: Vec<u64>,
    alive: Vec<bool>,
}

struct Numbering<'a> {
    places: &'a [u32],
    first: &'a [u32],
    n_kept: usize,
    class_of: Vec<AtomicU32>,
    size: Vec<AtomicU32>,
    xor: Vec<AtomicU32>,
}

impl Visitor for Numbering<'_> {
    fn alone(&self, _rows: &[u32], _sets: std::ops::Range<usize>) {}

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let k = self.places[set] as usize;
        let first = self.first[k];
        // No other thread touches the classes of this set.
        scratch.number(
            prefix,
            last,
            |row, number| {
                let class = first + number;
                self.class_of[row as usize * self.n_kept + k].store(class, Relaxed);
                let xor = &self.xor[class as usize];
                xor.store(xor.load(Relaxed) ^ row, Relaxed);
            },
            |number, size| self.size[(first + number) as usize].store(size, Relaxed),
        );
    }
}

impl State {
    fn new(
        table: &KeyTable,
        sets: KeySets,
        counts: &SetCounts,
        kept: &Kept,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n_kept = kept.sets.len();
        let n_rows = table.n_rows();
        let mut wanted = vec![false; sets.len()];
        let mut places = vec![0; sets.len()];
        let mut first = Vec::with_capacity(n_kept);
        let mut n_classes = 0u32;
        let mut distinct = Vec::with_capacity(n_kept);
        for (k, &set) in (0u32..).zip(&kept.sets) {
            wanted[set as usize] = true;
            places[set as usize] = k;
            first.push(n_classes);
            distinct.push(counts.distinct[set as usize]);
            n_classes += counts.distinct[set as usize];
        }
        let numbering = Numbering {
            places: &places,
            first: &first,
            n_kept,
            class_of: atomics(n_rows * n_kept),
            size: atomics(n_classes as usize),
            xor: atomics(n_classes as usize),
        };
        walk(table, sets, &wanted, &numbering, monitor)?;
        let plain = |v: Vec<AtomicU32>| v.into_iter().map(AtomicU32::into_inner).collect();
        let class_of: Vec<u32> = plain(numbering.class_of);
        let size: Vec<u32> = plain(numbering.size);
        let words = BitRows::words_for(n_kept);
        let mut bits = vec![0u64; n_rows * words];
        bits.par_chunks_mut(words)
            .zip(class_of.par_chunks(n_kept))
            .for_each(|(bits, classes)| {
                for (k, &class) in classes.iter().enumerate() {
                    bits[k / 64] |= u64::from(size[class as usize] == 1) << (k % 64);
                }
            });
        let unique = BitRows::new(words, bits);
        let u_plus = (0..n_rows)
            .map(|row| {
                ones(unique.row(row))
                    .map(|k| u64::from(distinct[k]))
                    .sum::<u64>()
            })
            .collect();
        Ok(Self {
            n_kept,
            class_of,
            size,
            xor: plain(numbering.xor),
            distinct,
            unique,
            u_plus,
            alive: vec![true; n_rows],
        })
    }

    /// Removes one row.
    fn remove(&mut self, row: usize, follow_u_plus: bool) {
        self.alive[row] = false;
        if follow_u_plus {
            // The counts of the sets the row is unique on fall by one.
            let gone = self.unique.row(row).to_vec();
            let Self {
                u_plus,
                unique,
                alive,
                ..
            } = self;
            u_plus
                .par_iter_mut()
                .with_min_len(1 << 14)
                .enumerate()
                .filter(|(other, _)| alive[*other])
                .for_each(|(other, sum)| {
                    let shared: u32 = unique
                        .row(other)
                        .iter()
                        .zip(&gone)
                        .map(|(a, b)| (a & b).count_ones())
                        .sum();
                    *sum -= u64::from(shared);
                });
        }
        for k in ones(self.unique.row(row)) {
            self.distinct[k] -= 1;
        }
        for k in 0..self.n_kept {
            let class = self.class_of[row * self.n_kept + k] as usize;
            self.size[class] -= 1;
            self.xor[class] ^= row as u32;
            if self.size[class] == 1 {
                let last = self.xor[class] as usize;
                self.unique.set(last, k);
                self.u_plus[last] += u64::from(self.distinct[k]);
            }
        }
    }
}

/// Places of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(w, &word)| {
        std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|&rest| rest != 0)
            .map(move |rest| w * 64 + rest.trailing_zeros() as usize)
    })
}

#[allow(clippy::too_many_arguments)]
fn incremental_path(
    table: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    kept: &Kept,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let n_blocks = plan.n_blocks();
    monitor.set_total(monitor.progress().0 + kept.sets.len() as u64 + plan.n as u64);
    let mut state = State::new(table, sets, counts, kept, monitor)?;
    let risk = |state: &State, n_left: u64| {
        estimate_of(
            state.distinct.clone(),
            kept.depth,
            sets.len(),
            n_left,
            settings,
        )
    };
    let n_records = table.n_records();
    let mut path = Path {
        before: risk(&state, n_records),
        rows: Vec::with_capacity(plan.n),
        after: Vec::with_capacity(n_blocks),
        n_kept: kept.sets.len(),
    };
    for b in 0..n_blocks {
        monitor.check()?;
        let n_left = n_records - path.rows.len() as u64;
        let size = plan.removed(b) - path.rows.len();
        let picked = match rule {
            Rule::UPlus => {
                let score = |row: usize| state.u_plus[row];
                largest(&state.alive, size, score)
            }
            Rule::TopCount(n_top) => {
                let mask = top_mask(&state.distinct, &kept.sets, n_top);
                let score = |row: usize| -> u64 {
                    let bits = state.unique.row(row).iter().zip(&mask);
                    bits.map(|(a, b)| u64::from((a & b).count_ones())).sum()
                };
                largest(&state.alive, size, score)
            }
            Rule::Proper => {
                let current = path.after.last().unwrap_or(&path.before).risk;
                let changes = changes(&state, kept.depth, sets.len(), n_left, settings, monitor)?;
                largest_contributions(current, &changes, size)
            }
        };
        for row in picked {
            monitor.check()?;
            state.remove(row as usize, rule == Rule::UPlus);
            path.rows.push(row);
            monitor.advance(1);
        }
        let n_left = n_records - path.rows.len() as u64;
        path.after.push(risk(&state, n_left));
    }
    Ok(path)
}

/// The bits of the `n_top` kept sets of highest count, ties in the order of
/// `combn()`.
fn top_mask(distinct: &[u32], sets: &[u32], n_top: usize) -> Vec<u64> {
    let mut mask = vec![0u64; BitRows::words_for(distinct.len())];
    let mut order: Vec<u32> = (0..distinct.len() as u32).collect();
    if n_top < order.len() {
        let key = |&k: &u32| (std::cmp::Reverse(distinct[k as usize]), sets[k as usize]);
        order.select_nth_unstable_by_key(n_top, key);
        order.truncate(n_top);
    }
    for k in order {
        mask[(k / 64) as usize] |= 1 << (k % 64);
    }
    mask
}

/// The `size` rows of largest score, ties by the lowest row.
fn largest(alive: &[bool], size: usize, score: impl Fn(usize) -> u64 + Sync) -> Vec<u32> {
    let key = |row: usize| (std::cmp::Reverse(score(row)), row as u32);
    let rows = (0..alive.len())
        .into_par_iter()
        .with_min_len(1 << 14)
        .filter(|&row| alive[row]);
    if size == 1 {
        return rows.map(key).min().map(|k| k.1).into_iter().collect();
    }
    let mut keys: Vec<_> = rows.map(key).collect();
    if size < keys.len() {
        keys.select_nth_unstable(size);
        keys.truncate(size);
    }
    keys.sort_unstable();
    keys.into_iter().map(|k| k.1).collect()
}

/// Rows by pattern, and the risk without a row of each.
struct Changes {
    patterns: Patterns,
    risks: Vec<Option<f64>>,
}

fn changes(
    state: &State,
    depth: usize,
    n_sets: usize,
    n_left: u64,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Changes> {
    let least = count_at_depth(&state.distinct, depth).saturating_sub(1);
    let candidates: Vec<(u32, u32)> = (0u32..)
        .zip(&state.distinct)
        .filter_map(|(k, &h)| (h >= least).then_some((k, h)))
        .collect();
    let mut mask = vec![0u64; BitRows::words_for(state.n_kept)];
    for &(k, _) in &candidates {
        mask[(k / 64) as usize] |= 1 << (k % 64);
    }
    let patterns = Patterns::find(&state.unique, &mask, Some(&state.alive), state.alive.len());
    let without = Without::with_places(candidates, n_sets, n_left - 1, settings);
    let risks = without.risks(&patterns, &state.unique, monitor)?;
    Ok(Changes { patterns, risks })
}

/// The `size` rows of largest contribution, one after the other: of those
/// within [`TIE`] of the largest that is left, the lowest row. Contributions
/// that are not determined come last.
fn largest_contributions(current: Option<f64>, changes: &Changes, size: usize) -> Vec<u32> {
    let Changes { patterns, risks } = changes;
    let value = |pattern: u32| match risks[pattern as usize] {
        Some(risk) => current.unwrap_or(0.0) - risk,
        None => f64::NEG_INFINITY,
    };
    if size == 1 {
        let all = || 0..risks.len() as u32;
        let most = all().map(value).fold(f64::NEG_INFINITY, f64::max);
        let best = all()
            .filter(|&p| value(p) >= most - TIE)
            .map(|p| patterns.first_rows[p as usize])
            .min();
        return best.into_iter().collect();
    }
    let mut order: Vec<u32> = (0..risks.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    // Patterns from the largest value on, until they hold enough rows with
    // all that tie with the last of them.
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); risks.len()];
    let mut n_rows = vec![0usize; risks.len()];
    for &pattern in patterns.of_row.iter().filter(|&&p| p != u32::MAX) {
        n_rows[pattern as usize] += 1;
    }
    let mut enough = 0;
    let mut n = 0;
    while enough < order.len()
        && (n < size || value(order[enough]) >= value(order[enough - 1]) - TIE)
    {
        n += n_rows[order[enough] as usize];
        enough += 1;
    }
    let mut useful = vec![false; risks.len()];
    for &pattern in &order[..enough] {
        useful[pattern as usize] = true;
    }
    for (row, &pattern) in (0u32..).zip(&patterns.of_row) {
        if pattern != u32::MAX && useful[pattern as usize] {
            rows_of[pattern as usize].push(row);
        }
    }
    let mut next = vec![0usize; risks.len()];
    let mut first = 0;
    let mut picked = Vec::with_capacity(size);
    while picked.len() < size && first < enough {
        let head = order[first] as usize;
        if next[head] == rows_of[head].len() {
            first += 1;
            continue;
        }
        let at_least = value(order[first]) - TIE;
        let best = order[first..enough]
            .iter()
            .take_while(|&&p| value(p) >= at_least)
            .filter_map(|&p| {
                let row = rows_of[p as usize].get(next[p as usize])?;
                Some((*row, p))
            })
            .min();
        if let Some((row, pattern)) = best {
            picked.push(row);
            next[pattern as usize] += 1;
        }
    }
    picked
}

/// The same path with the file counted anew after every block.
fn recounted_path(
    table: &KeyTable,
    sets: KeySets,
    counts: SetCounts,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let n_sets = sets.len();
    let risk = |counts: &SetCounts, n_left: u64| {
        let depth = depth_while(&counts.distinct, n_left, 0, settings);
        estimate_of(counts.distinct.clone(), depth, n_sets, n_left, settings)
    };
    let mut path = Path {
        before: risk(&counts, table.n_records()),
        rows: Vec::with_capacity(plan.n),
        after: Vec::with_capacity(plan.n_blocks()),
        n_kept: n_sets,
    };
    let mut counts = counts;
    let mut rest: Vec<u32> = (0..table.n_rows() as u32).collect();
    let mut file = table.clone();
    for b in 0..plan.n_blocks() {
        let n_left = rest.len() as u64;
        let size = plan.removed(b) - path.rows.len();
        let current = path.after.last().unwrap_or(&path.before).risk;
        let picked = pick(&file, sets, &counts, rule, size, current, settings, monitor)?;
        let mut goes = vec![false; rest.len()];
        for &row in &picked {
            goes[row as usize] = true;
            path.rows.push(rest[row as usize]);
        }
        rest = rest
            .into_iter()
            .zip(goes)
            .filter_map(|(row, goes)| (!goes).then_some(row))
            .collect();
        file = table.select(&rest)?;
        counts = count_sets(&file, sets, monitor)?;
        // Counting sets the total anew: report blocks in its units.
        monitor.set_total(monitor.progress().0 / (b as u64 + 1) * (plan.n_blocks() as u64 + 1));
        path.after.push(risk(&counts, n_left - size as u64));
    }
    Ok(path)
}

/// The next rows of a file of which nothing but the counts is known.
#[allow(clippy::too_many_arguments)]
fn pick(
    file: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    rule: Rule,
    size: usize,
    current: Option<f64>,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let n_left = file.n_records();
    let everyone = vec![true; file.n_rows()];
    let weight: Vec<u64> = match rule {
        Rule::UPlus => counts.distinct.iter().map(|&h| u64::from(h)).collect(),
        Rule::TopCount(n_top) => {
            let all: Vec<u32> = (0..sets.len() as u32).collect();
            let mask = top_mask(&counts.distinct, &all, n_top);
            let mut weight = vec![0; sets.len()];
            for set in ones(&mask) {
                weight[set] = 1;
            }
            weight
        }
        Rule::Proper => {
            let depth = depth_while(&counts.distinct, n_left, 1, settings);
            let least = count_at_depth(&counts.distinct, depth).saturating_sub(1);
            let mut weight = vec![0; sets.len()];
            for (w, &h) in weight.iter_mut().zip(&counts.distinct) {
                *w = u64::from(h >= least);
            }
            weight
        }
    };
    let marked: Vec<u32> = match rule {
        Rule::Proper => (0u32..)
            .zip(&weight)
            .filter_map(|(set, &w)| (w > 0).then_some(set))
            .collect(),
        Rule::UPlus | Rule::TopCount(_) => Vec::new(),
    };
    let found = uniqueness(file, sets, &counts.unique, &weight, &marked, monitor)?;
    if rule != Rule::Proper {
        return Ok(largest(&everyone, size, |row| found.weight[row]));
    }
    let without = Without::new(
        marked.iter().map(|&set| counts.distinct[set as usize]),
        sets.len(),
        n_left - 1,
        settings,
    );
    let mask = vec![u64::MAX; BitRows::words_for(marked.len())];
    let patterns = Patterns::find(&found.bits, &mask, None, file.n_rows());
    let risks = without.risks(&patterns, &found.bits, monitor)?;
    Ok(largest_contributions(
        current,
        &Changes { patterns, risks },
        size,
    ))
}
