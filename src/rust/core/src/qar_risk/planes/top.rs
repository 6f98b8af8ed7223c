//! The sets with the most classes, without counting all.
//!
//! Adding a column of K values to a set multiplies its classes by K at most:
//! `H(abc) <= min(H(ab) K_c, H(ac) K_b, H(bc) K_a, n)`. Counting the few pairs
//! bounds every set of three, and the sets whose bound is below what the
//! wanted ones reach need not be counted. They are taken by falling bound, in
//! growing a few batches, until no bound is left that reaches the last of the top.
//!
//! Sets of other sizes are all counted: of two there are few, and of four the
//! bounds from three cost more than they save.

use std::cmp::Reverse;

use super::layout::{Layout, MAX_BITS};
use super::pairs::pairs_distinct;
use super::plan::Plan;
use crate::error::Result;
use crate::key_sets::{KeySets, SetIndex};
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

/// The sets with the most classes.
#[derive(Debug, Clone, PartialEq)]
pub struct TopSets {
    /// Numbers of classes, falling.
    pub distinct: Vec<u32>,
    /// The sets they belong to, by place in `combn()` order; among equal
    /// numbers the places rise.
    pub sets: Vec<u32>,
    /// Share of all sets that were counted.
    pub share_counted: f64,
}

/// The `n_top` sets with the most classes, at least one: what sorting all counts would put
/// first, ties included.
pub fn top_sets(
    table: &KeyTable,
    sets: KeySets,
    n_top: usize,
    monitor: &Monitor,
) -> Result<TopSets> {
    top_with(table, sets, n_top, MAX_BITS, monitor)
}

/// Largest counts with columns of more than `max_bits` values as wide ones.
pub(super) fn top_with(
    table: &KeyTable,
    sets: KeySets,
    n_top: usize,
    max_bits: usize,
    monitor: &Monitor,
) -> Result<TopSets> {
    let n_top = n_top.clamp(1, sets.len());
    let layout = Layout::new(table, max_bits, monitor)?;
    if sets.p() != 3 {
        monitor.set_total(sets.len() as u64);
        let found = classes(table, sets, &layout, monitor)?;
        return Ok(first(found.into_iter().zip(0..).collect(), n_top, 1.0));
    }
    let pairs = KeySets::new(sets.n_keys(), 2, usize::MAX)?;
    monitor.set_total((sets.len() + pairs.len()) as u64);
    let bounds = bounds(table, sets, pairs, &layout, monitor)?;
    let mut by_bound: Vec<u32> = (0..sets.len() as u32).collect();
    by_bound.sort_by_key(|&set| Reverse(bounds[set as usize]));
    let mut wanted = vec![false; sets.len()];
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut n_counted = 0;
    loop {
        // Batches depend on counts alone, never on threads or time.
        let least = found.get(n_top - 1).map_or(0, |last| last.0);
        let batch: Vec<u32> = by_bound[n_counted..]
            .iter()
            .copied()
            .take_while(|&set| bounds[set as usize] >= least)
            .take(batch_size(n_counted, n_top))
            .collect();
        if batch.is_empty() {
            break;
        }
        n_counted += batch.len();
        wanted.fill(false);
        for &set in &batch {
            wanted[set as usize] = true;
        }
        let plan = Plan::new(table, sets, &layout, monitor).only_distinct(&wanted);
        for (set, tally) in plan.count()? {
            found.push((tally.distinct, set as u32));
        }
        found.sort_unstable_by_key(by_fall);
    }
    monitor.advance((sets.len() - n_counted) as u64);
    let share = n_counted as f64 / sets.len() as f64;
    Ok(first(found, n_top, share))
}

/// Sets of the next batch. Sets share work, so few batches cost least: the
/// first finds a limit, the second sharpens it, the third does what is left.
fn batch_size(n_counted: usize, n_top: usize) -> usize {
    match n_counted {
        n if n < 2 * n_top => n_top,
        _ => usize::MAX,
    }
}

/// Falling counts, equal ones in the order of their sets.
fn by_fall(&(distinct, set): &(u32, u32)) -> (Reverse<u32>, u32) {
    (Reverse(distinct), set)
}

fn first(mut found: Vec<(u32, u32)>, n_top: usize, share_counted: f64) -> TopSets {
    found.sort_unstable_by_key(by_fall);
    found.truncate(n_top);
    let (distinct, sets) = found.into_iter().unzip();
    TopSets {
        distinct,
        sets,
        share_counted,
    }
}

/// Upper bounds of the number of classes of every set.
fn bounds(
    table: &KeyTable,
    sets: KeySets,
    pairs: KeySets,
    layout: &Layout,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let classes = classes(table, pairs, layout, monitor)?;
    let values: Vec<u32> = table.columns().iter().map(Column::n_distinct).collect();
    let index = SetIndex::new(pairs);
    let with = |a: u16, b: u16, out: u16| {
        let (a, b, out) = (usize::from(a), usize::from(b), usize::from(out));
        classes[index.of(&[a, b])].saturating_mul(values[out])
    };
    let most = table.n_rows() as u32;
    Ok(sets
        .members()
        .chunks_exact(3)
        .map(|s| {
            let bound = with(s[0], s[1], s[2]).min(with(s[0], s[2], s[1]));
            bound.min(with(s[1], s[2], s[0])).min(most)
        })
        .collect())
}

/// Number of classes of all sets.
fn classes(
    table: &KeyTable,
    sets: KeySets,
    layout: &Layout,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    if sets.p() == 2 {
        if let Some(classes) = pairs_distinct(table, monitor) {
            return classes;
        }
    }
    let wanted = vec![true; sets.len()];
    let mut classes = vec![0u32; sets.len()];
    let plan = Plan::new(table, sets, layout, monitor).only_distinct(&wanted);
    for (set, tally) in plan.count()? {
        classes[set] = tally.distinct;
    }
    Ok(classes)
}
