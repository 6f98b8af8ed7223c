//! Distinct patterns in sorted order.
//!
//! Columns stand in an order of our own, the one that rules out most pairs
//! first: a column's place in it is its depth.

use rayon::prelude::*;

use crate::error::Result;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::memory::{collected, filled, room_for};
use crate::parallel::{self, Monitor};

/// Rows per block of parallel work.
const BLOCK: usize = 1 << 15;
/// Bits of one sorting stage beside a rank and a row of 32 bits each.
const STAGE_BITS: u32 = 64;

/// The columns of a table in the order of the walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The column at every depth.
    pub columns: Vec<usize>,
    /// The largest code at every depth.
    pub n_values: Vec<u32>,
}

impl Layout {
    /// Looks at the columns in the given order; codes of column `v` are at most
    /// `n_values[v]`.
    pub fn new(order: Vec<usize>, n_values: &[u32]) -> Self {
        Self {
            n_values: order.iter().map(|&v| n_values[v]).collect(),
            columns: order,
        }
    }

    /// Number of columns.
    pub fn depth(&self) -> usize {
        self.columns.len()
    }

    fn bits(&self, depth: usize) -> u32 {
        (u32::BITS - self.n_values[depth].leading_zeros()).max(1)
    }
}

/// The distinct rows of a table in sorted order.
#[derive(Debug, Clone)]
pub(super) struct Patterns {
    pub layout: Layout,
    /// The codes of every pattern in one byte each, 255 standing for a code
    /// that needs more.
    bytes: Vec<u8>,
    /// Per depth, the codes of a column with more than 254 values.
    wide: Vec<Vec<u32>>,
    /// Per pattern, a row that has it.
    pub rows: Vec<u32>,
    /// Per row, its pattern.
    pub row_pattern: Vec<u32>,
}

impl Patterns {
    /// Sorts the rows of `table` by the columns of `layout`.
    pub fn new(table: &KeyTable, layout: Layout, monitor: &Monitor) -> Result<Self> {
        let (rows, row_pattern) = sorted_rows(table, &layout, monitor)?;
        monitor.check()?;
        let wide = layout.n_values.iter().filter(|&&k| k >= 255).count();
        room_for(rows.len() * (layout.depth() + 4 * wide))?;
        let (bytes, wide) = gathered(table, &layout, &rows);
        monitor.check()?;
        Ok(Self {
            layout,
            bytes,
            wide,
            rows,
            row_pattern,
        })
    }

    /// Number of distinct patterns.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The codes of `pattern` as bytes, 255 where it needs more.
    pub fn bytes(&self, pattern: usize) -> &[u8] {
        let depth = self.layout.depth();
        &self.bytes[pattern * depth..][..depth]
    }

    /// The code of `pattern` in the column at `depth`.
    pub fn code(&self, pattern: usize, depth: usize) -> u32 {
        match self.wide[depth].get(pattern) {
            Some(&code) => code,
            None => u32::from(self.bytes[pattern * self.layout.depth() + depth]),
        }
    }

    /// The pattern equal to pattern `x` of `other`, which has the same layout.
    pub fn find(&self, other: &Patterns, x: usize) -> Option<usize> {
        let depth = self.layout.depth();
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            let order = (0..depth)
                .map(|d| self.code(middle, d).cmp(&other.code(x, d)))
                .find(|o| o.is_ne());
            match order {
                None => return Some(middle),
                Some(std::cmp::Ordering::Less) => low = middle + 1,
                Some(_) => high = middle,
            }
        }
        None
    }

    /// The rows of every pattern.
    pub fn rows_of(&self) -> Result<RowsOf> {
        let mut starts = filled(0u32, self.len() + 1)?;
        for &pattern in &self.row_pattern {
            starts[pattern as usize + 1] += 1;
        }
        for pattern in 0..self.len() {
            starts[pattern + 1] += starts[pattern];
        }
        let mut next = collected(starts.iter().copied(), self.len())?;
        let mut rows = filled(0, self.row_pattern.len())?;
        for (row, &pattern) in (0u32..).zip(&self.row_pattern) {
            let place = &mut next[pattern as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        Ok(RowsOf { starts, rows })
    }

    /// The sum over the rows of every pattern.
    pub fn sums<T: Copy + Default + std::ops::AddAssign>(
        &self,
        amount: impl Fn(usize) -> T,
    ) -> Vec<T> {
        let mut sums = vec![T::default(); self.len()];
        for (row, &pattern) in self.row_pattern.iter().enumerate() {
            sums[pattern as usize] += amount(row);
        }
        sums
    }
}

/// Rows in the order of their patterns.
pub(super) struct RowsOf {
    /// Start of each pattern in `rows`; one entry more.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl RowsOf {
    /// Number of patterns.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of `pattern`, ascending.
    pub fn of(&self, pattern: usize) -> &[u32] {
        &self.rows[self.starts[pattern] as usize..self.starts[pattern + 1] as usize]
    }
}

/// Columns by ascending chance that two rows are compatible in them, as if
/// values were compatible with themselves and missing only; columns without a
/// value are left out.
pub(super) fn walk_order(table: &KeyTable, n_values: &[u32]) -> Vec<usize> {
    let columns = table.columns().iter().enumerate();
    let columns = columns.filter(|&(v, _)| n_values[v] > 0);
    let mut order = parallel::map(columns, |(v, column)| (compatible_share(column), v));
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, v)| v).collect()
}

fn compatible_share(column: &Column) -> f64 {
    // 65,536 rows tell enough.
    let n = column.len();
    let step = n.div_ceil(1 << 16).max(1);
    let mut counts = vec![0u32; column.n_values() as usize + 1];
    with_codes!(column.codes(), |codes| codes
        .iter()
        .step_by(step)
        .for_each(|c| counts[c.index()] += 1));
    let n = n.div_ceil(step) as f64;
    let missing = f64::from(counts[0]) / n;
    let same: f64 = counts[1..]
        .iter()
        .map(|&c| (f64::from(c) / n).powi(2))
        .sum();
    2.0 * missing - missing * missing + same
}

/// Rows, one per distinct pattern in sorted order, and the pattern of each row.
fn sorted_rows(
    table: &KeyTable,
    layout: &Layout,
    monitor: &Monitor,
) -> Result<(Vec<u32>, Vec<u32>)> {
    let n = table.n_rows();
    let row_bits = (usize::BITS - (n - 1).leading_zeros()).max(1);
    let depths: Vec<usize> = (0..layout.depth()).collect();
    let total: u32 = depths.iter().map(|&d| layout.bits(d)).sum();
    // The keys, and the ranks and rows made of them.
    let key = if total + row_bits <= u64::BITS { 8 } else { 16 };
    room_for((key + 16) * n)?;
    if total + row_bits <= u64::BITS {
        let mut keys = filled(0u64, n)?;
        append(&mut keys, table, layout, &depths);
        number(&mut keys, row_bits);
        monitor.check()?;
        keys.par_sort_unstable();
        return Ok(ranks(&keys, row_bits));
    }
    // Stage by stage, the rank among the columns so far and some more columns.
    let mut found = (vec![0u32], vec![0u32; n]);
    let mut rest = &depths[..];
    while !rest.is_empty() {
        monitor.check()?;
        let mut bits = 0;
        let stage = rest
            .iter()
            .take_while(|&&d| {
                bits += layout.bits(d);
                bits <= STAGE_BITS
            })
            .count();
        let (now, later) = rest.split_at(stage);
        let mut keys: Vec<u128> = found.1.iter().map(|&rank| u128::from(rank)).collect();
        append(&mut keys, table, layout, now);
        number(&mut keys, u32::BITS);
        monitor.check()?;
        keys.par_sort_unstable();
        found = ranks(&keys, u32::BITS);
        rest = later;
    }
    Ok(found)
}

/// An integer that holds codes, a rank and a row.
trait Key: Copy + Ord + Send + Sync {
    fn append(&mut self, bits: u32, code: u32);
    fn split(self, row_bits: u32) -> (Self, u32);
}

impl Key for u64 {
    fn append(&mut self, bits: u32, code: u32) {
        *self = (*self << bits) | u64::from(code);
    }
    fn split(self, row_bits: u32) -> (Self, u32) {
        (self >> row_bits, (self & ((1 << row_bits) - 1)) as u32)
    }
}

impl Key for u128 {
    fn append(&mut self, bits: u32, code: u32) {
        *self = (*self << bits) | u128::from(code);
    }
    fn split(self, row_bits: u32) -> (Self, u32) {
        (self >> row_bits, (self & ((1 << row_bits) - 1)) as u32)
    }
}

fn append<K: Key>(keys: &mut [K], table: &KeyTable, layout: &Layout, depths: &[usize]) {
    parallel::for_each(keys.chunks_mut(BLOCK).enumerate(), |(block, keys)| {
        for &depth in depths {
            let bits = layout.bits(depth);
            let codes = table.columns()[layout.columns[depth]].codes();
            with_codes!(codes, |codes| {
                for (key, code) in keys.iter_mut().zip(&codes[block * BLOCK..]) {
                    key.append(bits, code.value());
                }
            });
        }
    });
}

fn number<K: Key>(keys: &mut [K], row_bits: u32) {
    for (row, key) in (0u32..).zip(keys) {
        key.append(row_bits, row);
    }
}

fn ranks<K: Key>(sorted: &[K], row_bits: u32) -> (Vec<u32>, Vec<u32>) {
    let mut rows = Vec::new();
    let mut rank = vec![0u32; sorted.len()];
    let mut previous = None;
    for key in sorted {
        let (pattern, row) = key.split(row_bits);
        if previous != Some(pattern) {
            rows.push(row);
            previous = Some(pattern);
        }
        rank[row as usize] = rows.len() as u32 - 1;
    }
    (rows, rank)
}

/// Codes of the patterns that stand in `rows`: as bytes, pattern by pattern,
/// and per depth where bytes are too short.
fn gathered(table: &KeyTable, layout: &Layout, rows: &[u32]) -> (Vec<u8>, Vec<Vec<u32>>) {
    let depth = layout.depth();
    let mut bytes = vec![0u8; rows.len() * depth];
    let parts = bytes
        .chunks_mut(BLOCK * depth.max(1))
        .zip(rows.chunks(BLOCK));
    parallel::for_each(parts, |(bytes, rows)| {
        for (d, &column) in layout.columns.iter().enumerate() {
            with_codes!(table.columns()[column].codes(), |codes| {
                for (pattern, &row) in bytes.chunks_exact_mut(depth).zip(rows) {
                    pattern[d] = codes[row as usize].value().min(255) as u8;
                }
            });
        }
    });
    let columns = layout.columns.iter().zip(&layout.n_values);
    let wide = parallel::map(columns, |(&column, &n_values)| {
        if n_values < 255 {
            return Vec::new();
        }
        let codes = table.columns()[column].codes();
        rows.iter().map(|&row| codes.get(row as usize)).collect()
    });
    (bytes, wide)
}
