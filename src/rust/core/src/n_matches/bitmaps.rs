//! For every column and code of a target, the compatible patterns as bits.
//!
//! Patterns are numbered in sorted order, so that patterns with a common
//! beginning stand in neighbouring words. The words of all codes for the same
//! patterns stand together: targets of one group look at the same patterns, which
//! then stay in the processor's cache. Columns with many codes have no bitmaps:
//! they are looked at first, in the tree, and checked pattern by pattern where
//! they are left over.

use rayon::prelude::*;

use super::compatibility::Relation;
use super::patterns::Patterns;
use crate::error::Result;
use crate::parallel::Monitor;

/// Patterns per word.
pub(super) const WORD: usize = u64::BITS as usize;
/// Codes of all columns with bitmaps: 1/8 byte a pattern each.
const MAX_CODES: u32 = 320;
/// Words made by one piece of parallel work.
const WORDS_AT_ONCE: usize = 64;

/// The bitmaps of a set of patterns.
#[derive(Debug)]
pub(super) struct Bitmaps {
    /// Codes with bitmaps.
    stride: usize,
    /// Per depth, the place of code 1 among them.
    places: Vec<Option<usize>>,
    /// `stride` words for every 64 patterns.
    words: Vec<u64>,
}

impl Bitmaps {
    /// Bitmaps for the columns from depth `from` on that have few codes.
    pub fn new(
        patterns: &Patterns,
        relations: &[&Relation],
        from: usize,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n_values = &patterns.layout.n_values;
        // The last columns are those that the tree reaches least.
        let mut stride = 0;
        let mut places = vec![None; n_values.len()];
        for depth in (from..n_values.len()).rev() {
            if stride + n_values[depth] <= MAX_CODES {
                places[depth] = Some(stride as usize);
                stride += n_values[depth];
            }
        }
        let stride = stride as usize;
        let mut words = vec![0u64; stride * patterns.len().div_ceil(WORD)];
        if stride > 0 {
            words
                .par_chunks_mut(stride * WORDS_AT_ONCE)
                .enumerate()
                .try_for_each(|(chunk, words)| {
                    monitor.check()?;
                    let mut known = Vec::new();
                    for (i, words) in words.chunks_exact_mut(stride).enumerate() {
                        let start = (chunk * WORDS_AT_ONCE + i) * WORD;
                        let end = patterns.len().min(start + WORD);
                        for (depth, place) in places.iter().enumerate() {
                            let Some(place) = *place else { continue };
                            known.clear();
                            known.resize(n_values[depth] as usize + 1, 0);
                            for pattern in start..end {
                                let code = patterns.code(pattern, depth) as usize;
                                known[code] |= 1 << (pattern - start);
                            }
                            let words = &mut words[place..][..known.len() - 1];
                            compatible(relations[depth], &known, words);
                        }
                    }
                    Ok(())
                })?;
        }
        Ok(Self {
            stride,
            places,
            words,
        })
    }

    /// Whether the column at `depth` has bitmaps.
    pub fn has(&self, depth: usize) -> bool {
        self.places[depth].is_some()
    }

    /// The place of `code` at `depth` among the words of 64 patterns; `None`
    /// for missing, which cuts nothing, or where there are no bitmaps.
    pub fn place(&self, depth: usize, code: u32) -> Option<usize> {
        match self.places[depth] {
            Some(place) if code != 0 => Some(place + code as usize - 1),
            _ => None,
        }
    }

    /// The words of the 64 patterns of number `word`.
    pub fn words(&self, word: usize) -> &[u64] {
        &self.words[word * self.stride..][..self.stride]
    }
}

/// From the patterns that have each code, 0 being missing, to those that are
/// compatible with each code from 1.
fn compatible(relation: &Relation, known: &[u64], words: &mut [u64]) {
    for (code, word) in (1u32..).zip(words.iter_mut()) {
        *word = known[0];
        match relation {
            Relation::Equal => *word |= known[code as usize],
            _ => relation.each_compatible(
                code,
                known.len() - 1,
                |i| i as u32 + 1,
                |i| *word |= known[i + 1],
            ),
        }
    }
}
