//! For every column and code of a target, the compatible patterns as bits.
//!
//! Patterns are numbered in sorted order, so that patterns with a common
//! beginning stand in neighbouring words. Columns with many codes have no
//! bitmaps: they are looked at first, in the tree, and checked pattern by
//! pattern where they are left over.

use rayon::prelude::*;

use super::compatibility::Relation;
use super::patterns::Patterns;
use crate::error::Result;
use crate::parallel::Monitor;

/// Patterns per word.
pub(super) const WORD: usize = u64::BITS as usize;
/// Codes of all columns with bitmaps: 1/8 byte a pattern each.
const MAX_CODES: u32 = 320;

/// The bitmaps of a set of patterns.
#[derive(Debug)]
pub(super) struct Bitmaps {
    n_words: usize,
    /// Per depth, one row of words for each code from 1; empty for none.
    rows: Vec<Vec<u64>>,
}

impl Bitmaps {
    /// Bitmaps for the columns from depth `from` on that have few codes.
    pub fn new(
        patterns: &Patterns,
        relations: &[&Relation],
        from: usize,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n_words = patterns.len().div_ceil(WORD);
        let n_values = &patterns.layout.n_values;
        // The last columns are those that the tree reaches least.
        let mut codes = 0;
        let kept: Vec<bool> = (0..n_values.len())
            .rev()
            .map(|depth| {
                let keep = depth >= from && codes + n_values[depth] <= MAX_CODES;
                codes += if keep { n_values[depth] } else { 0 };
                keep
            })
            .collect();
        let rows = (0..n_values.len())
            .into_par_iter()
            .map(|depth| {
                monitor.check()?;
                if kept[n_values.len() - 1 - depth] {
                    Ok(column_rows(patterns, relations[depth], depth, n_words))
                } else {
                    Ok(Vec::new())
                }
            })
            .collect::<Result<_>>()?;
        Ok(Self { n_words, rows })
    }

    /// Number of words of a row.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// Whether the column at `depth` has bitmaps.
    pub fn has(&self, depth: usize) -> bool {
        !self.rows[depth].is_empty()
    }

    /// The patterns compatible with `code` at `depth`; `None` for all of them,
    /// or where there are no bitmaps.
    pub fn row(&self, depth: usize, code: u32) -> Option<&[u64]> {
        let rows = &self.rows[depth];
        if code == 0 || rows.is_empty() {
            return None;
        }
        Some(&rows[(code as usize - 1) * self.n_words..][..self.n_words])
    }
}

fn column_rows(patterns: &Patterns, relation: &Relation, depth: usize, n_words: usize) -> Vec<u64> {
    let n_values = patterns.layout.n_values[depth] as usize;
    // Row 0 for missing.
    let mut has = vec![0u64; (n_values + 1) * n_words];
    for pattern in 0..patterns.len() {
        let code = patterns.code(pattern, depth) as usize;
        has[code * n_words + pattern / WORD] |= 1 << (pattern % WORD);
    }
    if matches!(relation, Relation::Equal) {
        let (missing, rows) = has.split_at_mut(n_words);
        for row in rows.chunks_exact_mut(n_words) {
            add(row, missing);
        }
        has.drain(..n_words);
        return has;
    }
    let (missing, known) = has.split_at(n_words);
    let mut rows = Vec::with_capacity(known.len());
    for code in 1..=n_values as u32 {
        let mut row = missing.to_vec();
        relation.each_compatible(
            code,
            n_values,
            |i| i as u32 + 1,
            |i| add(&mut row, &known[i * n_words..][..n_words]),
        );
        rows.extend(row);
    }
    rows
}

fn add(to: &mut [u64], bits: &[u64]) {
    for (to, bits) in to.iter_mut().zip(bits) {
        *to |= bits;
    }
}
