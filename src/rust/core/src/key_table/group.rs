//! Distinct rows of a set of columns, with the row -> group index.
//!
//! A row becomes one 64-bit number by mixed radix. Where the columns' levels
//! multiply beyond 64 bits, the columns so far are first replaced by their
//! group numbers, which need 32 bits at most; so no two different rows can
//! ever share a number. Small ranges are grouped by a table over the range;
//! otherwise numbers are scattered to partitions by hash, and every partition
//! is grouped by itself in parallel.
//!
//! Memory beyond the columns: 28 bytes a row at the peak, 8 bytes a row and
//! 12 a group in the result.

use std::collections::BTreeMap;

use super::column::{with_codes, Code, Codes, Column};
use crate::error::Result;
use crate::hash::mixed_up;
use crate::memory::{filled, room_for};
use crate::parallel::{self, Monitor};

/// Rows per block of parallel work: fixed, so that results cannot depend on
/// the number of threads.
const BLOCK: usize = 1 << 16;
/// Bytes a row at the peak.
const PEAK_BYTES: usize = 28;
const PARTITION_BITS: u32 = 8;
const EMPTY: u32 = u32::MAX;

/// The distinct rows of a table, numbered in order of first appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    first_rows: Vec<u32>,
    counts: Vec<u64>,
    row_group: Vec<u32>,
}

impl Groups {
    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.first_rows.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.first_rows.is_empty()
    }

    /// Per group, the row where it first occurs.
    pub fn first_rows(&self) -> &[u32] {
        &self.first_rows
    }

    /// Per group, the number of records.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Per row, the number of its group, from 0.
    pub fn row_group(&self) -> &[u32] {
        &self.row_group
    }

    /// Number of groups by number of records, ascending.
    pub fn sizes(&self) -> BTreeMap<u64, u32> {
        let mut sizes = BTreeMap::new();
        for &size in &self.counts {
            *sizes.entry(size).or_insert(0) += 1;
        }
        sizes
    }

    /// Per row, whether it is the only record of its group.
    pub fn alone(&self) -> Vec<bool> {
        let alone = |&group: &u32| self.counts[group as usize] == 1;
        self.row_group.iter().map(alone).collect()
    }

    /// The groups as a column whose values are the groups.
    pub(super) fn into_column(self) -> Column {
        let n_values = self.first_rows.len() as u32;
        let codes = Codes::pack(n_values, self.row_group.iter().map(|&g| g + 1));
        Column::from_parts(codes, n_values, 0)
    }
}

/// Groups the rows of `columns`; a row counts as often as its multiplicity.
pub(super) fn group_columns(
    columns: &[&Column],
    n_rows: usize,
    multiplicity: Option<&[u64]>,
    monitor: &Monitor,
) -> Result<Groups> {
    room_for(PEAK_BYTES * n_rows)?;
    let mut keys = filled(0u64, n_rows)?;
    let mut range: u64 = 1;
    for column in columns {
        monitor.check()?;
        let radix = u64::from(column.n_values()) + 1;
        if range.checked_mul(radix).is_none() {
            let (first_rows, ids) = number_groups(first_of_group(&keys, range));
            for (key, id) in keys.iter_mut().zip(ids) {
                *key = u64::from(id);
            }
            range = first_rows.len() as u64;
        }
        append_codes(&mut keys, column);
        range *= radix;
    }
    monitor.check()?;
    let first_of = first_of_group(&keys, range);
    drop(keys);
    monitor.check()?;
    let (first_rows, row_group) = number_groups(first_of);
    let mut counts = vec![0u64; first_rows.len()];
    match multiplicity {
        None => row_group.iter().for_each(|&g| counts[g as usize] += 1),
        Some(times) => row_group
            .iter()
            .zip(times)
            .for_each(|(&g, &times)| counts[g as usize] += times),
    }
    Ok(Groups {
        first_rows,
        counts,
        row_group,
    })
}

/// Makes the codes of `column` the last digit of the keys of its rows.
pub(crate) fn append_codes(keys: &mut [u64], column: &Column) {
    let radix = u64::from(column.n_values()) + 1;
    with_codes!(column.codes(), |codes| {
        parallel::for_each(
            keys.chunks_mut(BLOCK).zip(codes.chunks(BLOCK)),
            |(keys, codes)| {
                for (key, code) in keys.iter_mut().zip(codes) {
                    *key = *key * radix + u64::from(code.value());
                }
            },
        );
    });
}

/// Replaces each row's first row by the number of its group, groups counted
/// in order of first appearance. Works in place: a first row is never later
/// than the row itself, so its number is already known.
fn number_groups(mut first_of: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let mut first_rows = Vec::new();
    for row in 0..first_of.len() {
        let first = first_of[row] as usize;
        first_of[row] = if first == row {
            first_rows.push(row as u32);
            first_rows.len() as u32 - 1
        } else {
            first_of[first]
        };
    }
    (first_rows, first_of)
}

/// For each row, the first row with the same key; keys lie below `range`.
fn first_of_group(keys: &[u64], range: u64) -> Vec<u32> {
    if range <= (keys.len() as u64).max(1 << 16) {
        let mut first = vec![EMPTY; range as usize];
        return (0u32..)
            .zip(keys)
            .map(|(row, &key)| {
                let slot = &mut first[key as usize];
                if *slot == EMPTY {
                    *slot = row;
                }
                *slot
            })
            .collect();
    }
    first_of_group_by_partition(keys)
}

/// The rows of one block, sorted by partition.
struct SortedBlock {
    keys: Vec<u64>,
    /// Row within the block.
    rows: Vec<u16>,
    /// Start of each partition; one entry more than there are partitions.
    starts: Vec<u32>,
}

const PARTITIONS: usize = 1 << PARTITION_BITS;

fn partition_of(key: u64) -> usize {
    (mixed_up(key) >> (64 - PARTITION_BITS)) as usize
}

fn sort_block(keys: &[u64]) -> SortedBlock {
    let mut starts = vec![0u32; PARTITIONS + 1];
    for &key in keys {
        starts[partition_of(key) + 1] += 1;
    }
    for p in 0..PARTITIONS {
        starts[p + 1] += starts[p];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u64; keys.len()];
    let mut rows = vec![0u16; keys.len()];
    for (row, &key) in keys.iter().enumerate() {
        let place = &mut next[partition_of(key)];
        sorted[*place as usize] = key;
        rows[*place as usize] = row as u16;
        *place += 1;
    }
    SortedBlock {
        keys: sorted,
        rows,
        starts,
    }
}

impl SortedBlock {
    fn range(&self, partition: usize) -> std::ops::Range<usize> {
        self.starts[partition] as usize..self.starts[partition + 1] as usize
    }
}

/// First rows of one partition, in the order blocks list its rows.
fn first_of_partition(blocks: &[SortedBlock], partition: usize) -> Vec<u32> {
    let n: usize = blocks.iter().map(|b| b.range(partition).len()).sum();
    let bits = (2 * n).next_power_of_two().trailing_zeros().max(1);
    let mask = (1usize << bits) - 1;
    let mut table_keys = vec![0u64; mask + 1];
    let mut table_rows = vec![EMPTY; mask + 1];
    let mut firsts = Vec::with_capacity(n);
    for (b, block) in blocks.iter().enumerate() {
        for place in block.range(partition) {
            let key = block.keys[place];
            let mut slot = ((mixed_up(key) << PARTITION_BITS) >> (64 - bits)) as usize;
            while table_rows[slot] != EMPTY && table_keys[slot] != key {
                slot = (slot + 1) & mask;
            }
            if table_rows[slot] == EMPTY {
                table_keys[slot] = key;
                table_rows[slot] = (b * BLOCK + usize::from(block.rows[place])) as u32;
            }
            firsts.push(table_rows[slot]);
        }
    }
    firsts
}

fn first_of_group_by_partition(keys: &[u64]) -> Vec<u32> {
    let blocks = parallel::map(keys.chunks(BLOCK), sort_block);
    let firsts = parallel::map(0..PARTITIONS, |p| first_of_partition(&blocks, p));
    // Start of the rows of a block in the list of each partition.
    let mut offset = vec![0usize; PARTITIONS];
    let offsets: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            let here = offset.clone();
            for (p, o) in offset.iter_mut().enumerate() {
                *o += block.range(p).len();
            }
            here
        })
        .collect();
    let mut first_of = vec![0u32; keys.len()];
    parallel::for_each(
        first_of.chunks_mut(BLOCK).zip(blocks.iter().zip(offsets)),
        |(first_of, (block, offsets))| {
            for (p, &offset) in offsets.iter().enumerate() {
                let range = block.range(p);
                let firsts = &firsts[p][offset..offset + range.len()];
                for (&row, &first) in block.rows[range].iter().zip(firsts) {
                    first_of[usize::from(row)] = first;
                }
            }
        },
    );
    first_of
}
