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
//! exclusive or is the row that became unique, found without a search. By
//! contribution, rows are grouped by the key sets they are unique on once; then
//! the few that became unique change their groups ([`Grouped`]). Only
//! key sets that can matter within the removals asked for are kept: counts
//! fall by one a removal at most. Where that takes too much memory, files are
//! counted anew after every block.

mod choice;
mod fixed;
mod grouped;
mod incremental;
mod recounted;

pub use fixed::fixed_path;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::contribution::{count_at_depth, depth, Mask, Patterns, Without};
use super::partition::SetCounts;
use super::planes::count_sets;
use super::uniqueness::{uniqueness, BitRows};
use super::walk::{walk, Classes, Scratch, Visitor};
use super::{estimate, Estimate, TailSettings};
use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;
use choice::{largest, largest_contributions, ones, top_mask, Changes};
use grouped::Grouped;
use incremental::{incremental_path, Kept};
use recounted::recounted_path;

/// Blocks after which a file too large for the incremental scheme may be
/// counted anew.
pub const MAX_RECOUNTS: usize = 200;

/// Number of records to remove, and the number per step.
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

/// Number of the largest counts that estimates draw until `n` records are removed.
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
        return Err(Error::too_large(
            &format!(
                "Updating key sets after every block may take at most {} MB.",
                max_bytes / 1_000_000
            ),
            &format!(
                "{} key sets of {} records need {} MB.",
                kept.sets.len(),
                table.n_rows(),
                kept.bytes(table, &counts.distinct) / 1_000_000
            ),
            &format!(
                "Take `block` = {} or more, so that the file can be counted anew after every \
                 block, or a smaller `p`.",
                plan.n.div_ceil(MAX_RECOUNTS)
            ),
        ));
    }
    recounted_path(table, sets, counts, rule, plan, settings, monitor)
}
