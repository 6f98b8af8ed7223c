//! The sets with the most classes, without counting all.
//!
//! Adding a column of K values to a set multiplies its classes by K at most.
//! So a set has no more classes than any of its subsets of one member less
//! times the values of the member left out. Those subsets are few; counting
//! them bounds every set, and the sets whose bound is below what the wanted
//! ones reach need not be counted.

use std::cmp::Reverse;

use super::super::key_sets::{KeySets, SetIndex};
use super::layout::{Layout, MAX_BITS};
use super::pairs::pairs_distinct;
use super::plan::Plan;
use crate::error::Result;
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

/// The `n_top` sets with the most classes: what sorting all counts would put
/// first, ties included.
pub fn top_sets(
    table: &KeyTable,
    sets: KeySets,
    n_top: usize,
    monitor: &Monitor,
) -> Result<TopSets> {
    top_with(table, sets, n_top, MAX_BITS, monitor)
}

/// The same, columns of more than `max_bits` values being wide.
pub(super) fn top_with(
    table: &KeyTable,
    sets: KeySets,
    n_top: usize,
    max_bits: usize,
    monitor: &Monitor,
) -> Result<TopSets> {
    let n_top = n_top.min(sets.len());
    let smaller = smaller(sets);
    let n_smaller = smaller.map_or(0, |s| s.len());
    monitor.set_total((sets.len() + n_smaller) as u64);
    let layout = Layout::new(table, max_bits);
    let bounds = match smaller {
        Some(smaller) => bounds(table, sets, smaller, &layout, monitor)?,
        None => vec![table.n_rows() as u32; sets.len()],
    };
    let mut by_bound: Vec<u32> = (0..sets.len() as u32).collect();
    by_bound.sort_by_key(|&set| Reverse(bounds[set as usize]));
    let mut wanted = vec![false; sets.len()];
    let mut found: Vec<(Reverse<u32>, u32)> = Vec::new();
    let mut n_counted = 0;
    loop {
        // Batches depend on counts alone, never on threads or time.
        let least = found.get(n_top - 1).map_or(0, |last| last.0 .0);
        let batch: Vec<u32> = by_bound[n_counted..]
            .iter()
            .copied()
            .take_while(|&set| bounds[set as usize] >= least)
            .take(if found.is_empty() {
                n_top
            } else {
                n_top / 2 + 1
            })
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
            found.push((Reverse(tally.distinct), set as u32));
        }
        found.sort_unstable();
    }
    found.truncate(n_top);
    monitor.advance((sets.len() - n_counted) as u64);
    Ok(TopSets {
        distinct: found.iter().map(|&(h, _)| h.0).collect(),
        sets: found.iter().map(|&(_, set)| set).collect(),
        share_counted: n_counted as f64 / sets.len() as f64,
    })
}

/// The sets of one member less, unless they are about as many as the sets
/// themselves and so save nothing.
fn smaller(sets: KeySets) -> Option<KeySets> {
    match sets.p() {
        1 => None,
        p => KeySets::new(sets.n_keys(), p - 1, sets.len() / 2).ok(),
    }
}

/// Upper bounds of the number of classes of every set.
fn bounds(
    table: &KeyTable,
    sets: KeySets,
    smaller: KeySets,
    layout: &Layout,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let p = sets.p();
    let classes = classes(table, smaller, layout, monitor)?;
    let values: Vec<u32> = table.columns().iter().map(Column::n_distinct).collect();
    let index = SetIndex::new(smaller);
    let bound = |set: &[u16]| {
        let with_one_left_out = (0..p).map(|out| {
            let rest: Vec<usize> = (0..p)
                .filter(|&i| i != out)
                .map(|i| usize::from(set[i]))
                .collect();
            classes[index.of(&rest)].saturating_mul(values[usize::from(set[out])])
        });
        with_one_left_out.fold(table.n_rows() as u32, u32::min)
    };
    Ok(sets.members().chunks(p).map(bound).collect())
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
