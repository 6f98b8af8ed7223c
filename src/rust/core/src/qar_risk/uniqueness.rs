//! Records that are unique, by key set.
//!
//! # Formula
//!
//! `U(i, j) = 1` where no other record shares the key of record i on key set
//! j. Source: Bera et al. (2023), hal-04165346, section 3.3.
//!
//! The matrix U of records by key sets is not stored: its weighted row sums
//! are collected in one walk, and its bits on a few sets where they are asked
//! for. Sums are of whole numbers, so that no order of work can change them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::walk::{walk, Classes, Scratch, Visitor};
use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::key_table::{Column, KeyTable};
use crate::parallel::{self, Monitor};

/// Memory that the bits of all records may take.
pub const MAX_BYTES: u64 = 4_000_000_000;

/// One row of bits per record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitRows {
    words: usize,
    bits: Vec<u64>,
}

impl BitRows {
    /// Words that hold `n_bits` bits.
    pub fn words_for(n_bits: usize) -> usize {
        n_bits.div_ceil(64)
    }

    /// Rows of `words` words each.
    pub fn new(words: usize, bits: Vec<u64>) -> Self {
        Self { words, bits }
    }

    /// The words of one row.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..][..self.words]
    }

    /// The given rows.
    pub fn select(&self, rows: &[u32]) -> Self {
        let rows = rows.iter().flat_map(|&row| self.row(row as usize));
        Self {
            words: self.words,
            bits: rows.copied().collect(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[u64]) {
        self.bits.extend_from_slice(row);
    }

    /// Sets bit `place` of a row.
    pub fn set(&mut self, row: usize, place: usize) {
        self.bits[row * self.words + place / 64] |= 1 << (place % 64);
    }
}

/// Row sums of U, and its bits on some key sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniqueness {
    /// Per record, the key sets on which it is unique.
    pub n_sets: Vec<u32>,
    /// Per record, the weights of these sets, added up.
    pub weight: Vec<u64>,
    /// Per record, bit c tells whether it is unique on the c-th marked set.
    pub bits: BitRows,
}

/// Finds the uniqueness of all records. `n_unique` are the records unique on
/// each key set, `weight` its weight; sets of `marked`, in rising order, get
/// bits.
pub fn uniqueness(
    table: &KeyTable,
    sets: KeySets,
    n_unique: &[u32],
    weight: &[u64],
    marked: &[u32],
    monitor: &Monitor,
) -> Result<Uniqueness> {
    let n_rows = table.n_rows();
    let words = BitRows::words_for(marked.len());
    let bytes = n_rows as u64 * words as u64 * 8;
    if bytes > MAX_BYTES {
        return Err(Error::too_large(
            &format!(
                "The key sets near the threshold may take at most {} MB.",
                MAX_BYTES / 1_000_000
            ),
            &format!(
                "{} key sets of {n_rows} records need {} MB.",
                marked.len(),
                bytes / 1_000_000
            ),
            "Take a smaller `p`, or fewer key variables.",
        ));
    }
    let wanted: Vec<bool> = n_unique
        .iter()
        .zip(weight)
        .map(|(&n, &w)| n > 0 && w > 0)
        .collect();
    let mut weight_before = Vec::with_capacity(weight.len() + 1);
    let mut sets_before = Vec::with_capacity(weight.len() + 1);
    let (mut total, mut n) = (0, 0);
    weight_before.push(0);
    sets_before.push(0);
    for &w in weight {
        total += w;
        n += u64::from(w > 0);
        weight_before.push(total);
        sets_before.push(n);
    }
    let collector = Collector {
        weight_before,
        sets_before,
        marked,
        words,
        sums: zeros(2 * n_rows),
        bits: zeros(n_rows * words),
    };
    walk(table, sets, &wanted, &collector, monitor)?;
    let sums = &collector.sums;
    Ok(Uniqueness {
        n_sets: parallel::map_rows(n_rows, monitor, |i| sums[2 * i].load(Relaxed) as u32)?,
        weight: parallel::map_rows(n_rows, monitor, |i| sums[2 * i + 1].load(Relaxed))?,
        bits: BitRows {
            words,
            bits: collector
                .bits
                .into_iter()
                .map(AtomicU64::into_inner)
                .collect(),
        },
    })
}

fn zeros(n: usize) -> Vec<AtomicU64> {
    std::iter::repeat_with(AtomicU64::default).take(n).collect()
}

struct Collector<'a> {
    /// Weights, and sets of positive weight, before each set.
    weight_before: Vec<u64>,
    sets_before: Vec<u64>,
    marked: &'a [u32],
    words: usize,
    /// Per record, sets and weights: neighbours, so that one visit finds both.
    sums: Vec<AtomicU64>,
    bits: Vec<AtomicU64>,
}

impl Collector<'_> {
    /// Adds sets on which a row is unique.
    fn add(&self, row: u32, sets: &Range<usize>) {
        let of = |before: &[u64]| before[sets.end] - before[sets.start];
        let place = 2 * row as usize;
        self.sums[place].fetch_add(of(&self.sets_before), Relaxed);
        self.sums[place + 1].fetch_add(of(&self.weight_before), Relaxed);
    }

    /// The marked sets among `sets`, as their places.
    fn marks(&self, sets: &Range<usize>) -> Range<usize> {
        let place = |set: usize| self.marked.partition_point(|&m| (m as usize) < set);
        place(sets.start)..place(sets.end)
    }

    /// Sets the bits of the marked sets `marks` in a row.
    fn mark(&self, row: u32, marks: &Range<usize>) {
        let first = row as usize * self.words;
        for word in marks.start / 64..marks.end.div_ceil(64) {
            let from = marks.start.max(word * 64) - word * 64;
            let to = marks.end.min(word * 64 + 64) - word * 64;
            let mask = (u64::MAX >> (64 - (to - from))) << from;
            self.bits[first + word].fetch_or(mask, Relaxed);
        }
    }
}

impl Visitor for Collector<'_> {
    fn alone(&self, rows: &[u32], sets: Range<usize>) {
        let marks = self.marks(&sets);
        for &row in rows {
            self.add(row, &sets);
            if !marks.is_empty() {
                self.mark(row, &marks);
            }
        }
    }

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let sets = set..set + 1;
        let marks = self.marks(&sets);
        scratch.split(
            prefix,
            last,
            |_, row| row,
            |size, row| {
                if size == 1 {
                    self.add(row, &sets);
                    if !marks.is_empty() {
                        self.mark(row, &marks);
                    }
                }
            },
        );
    }
}
