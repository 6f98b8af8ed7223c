//! Counting the classes of many key sets at once, in bits.
//!
//! Every value of a column is one bit of a record. Sort the records by all
//! members of a set but the one with the fewest values: within a group of
//! equal records, "or" and "and" of their bits count to three for *every*
//! possible last member at the same time, a few instructions a record for
//! dozens of sets. That gives the classes, those of one and those of two
//! records, since three is as good as more.
//!
//! The members of a set are taken by falling number of values: the wide ones
//! split the records into groups, the narrow ones cost few bits. The first
//! p - 2 members give classes of rows by [`super::partition`]; the rest of the
//! work goes in chunks of records that stay in the fast caches:
//! one counting sort a pair of column and chunk, then the bits.
//!
//! Sets with too few narrow columns are left to [`super::partition`].
//!
//! # Cost
//!
//! For every first p - 2 members: two nanoseconds a row and further column to
//! bring the records together, about one a row and column to sort, and a
//! quarter of one a row for every 128 bits of last columns. Memory: one byte
//! a cell for the codes row by row; per thread as much again and 4 bytes a
//! row for every first member; a few megabytes of scratch.

mod chunk;
mod layout;
mod leaf;
mod pairs;
mod plan;
mod seen;
#[cfg(test)]
mod tests;
mod top;

pub use top::top_sets;

use super::partition::SetCounts;
use crate::error::Result;
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use layout::{Layout, MAX_BITS};
use plan::Plan;

/// Counts all key sets of `sets` on the columns of `table`. The same numbers
/// as [`super::partition::count_sets`], sooner.
pub fn count_sets(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<SetCounts> {
    count_with(table, sets, MAX_BITS, monitor)
}

/// Counts with columns of more than `max_bits` values as wide ones.
fn count_with(
    table: &KeyTable,
    sets: KeySets,
    max_bits: usize,
    monitor: &Monitor,
) -> Result<SetCounts> {
    monitor.set_total(sets.len() as u64);
    let layout = Layout::new(table, max_bits, monitor)?;
    let mut counts = SetCounts::zeros(sets.len());
    for (set, tally) in Plan::new(table, sets, &layout, monitor).count()? {
        counts.set(set, tally);
    }
    Ok(counts)
}
