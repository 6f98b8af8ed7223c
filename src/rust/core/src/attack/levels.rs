//! Levels of agreement of two values of one key.
//!
//! A pair of observed values is at the first level that holds: the same value;
//! values in the relation that the key's [`Agreement`] admits; beyond. A key
//! without a relation of its own has two levels, the same and beyond.

use crate::linkage::Agreement;

/// Known values that are at one level with a released value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// First and last code.
    pub first: u32,
    pub last: u32,
    /// The level, from 0.
    pub level: u8,
}

/// The levels of one key: per released code the ranges of known codes that are
/// not beyond, rising and apart.
#[derive(Debug, Clone)]
pub(super) struct KeyLevels {
    starts: Vec<u32>,
    ranges: Vec<Range>,
    n_levels: usize,
}

impl KeyLevels {
    /// The levels of a key whose released codes are `1..=n_values`. With
    /// `exact_first` equal codes have a level of their own, where the relation
    /// admits them.
    pub fn new(agreement: &Agreement, n_values: u32, exact_first: bool) -> Self {
        let mut starts = vec![0];
        let mut ranges = Vec::new();
        let is_relation = !matches!(agreement, Agreement::Same);
        for code in 1..=n_values {
            agreement.for_ranges(code, |first, last| {
                if is_relation && exact_first && (first..=last).contains(&code) {
                    let parts = [(first, code - 1, 1), (code, code, 0), (code + 1, last, 1)];
                    let some = parts.into_iter().filter(|p| p.0 <= p.1);
                    ranges.extend(some.map(|(first, last, level)| Range { first, last, level }));
                } else {
                    let level = u8::from(is_relation && exact_first);
                    ranges.push(Range { first, last, level });
                }
            });
            starts.push(ranges.len() as u32);
        }
        let mut levels = Self {
            starts,
            ranges,
            n_levels: 2,
        };
        levels.number();
        levels
    }

    /// Leaves out levels that no pair of codes is at.
    fn number(&mut self) {
        let some = |level| self.ranges.iter().any(|r| r.level == level);
        if some(0) && some(1) {
            self.n_levels = 3;
        } else {
            for range in &mut self.ranges {
                range.level = 0;
            }
        }
    }

    /// Number of levels; the last is beyond.
    pub fn len(&self) -> usize {
        self.n_levels
    }

    /// Number of released codes.
    pub fn n_values(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Start of the ranges of every released code, and their end.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The ranges of all released codes.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The ranges of one released code.
    pub fn of(&self, code: u32) -> &[Range] {
        let at = |c: u32| self.starts[c as usize] as usize;
        &self.ranges[at(code - 1)..at(code)]
    }

    /// The level of two observed codes.
    pub fn level(&self, known: u32, released: u32) -> usize {
        let ranges = self.of(released);
        let after = ranges.partition_point(|r| r.first <= known);
        match ranges.get(after.wrapping_sub(1)) {
            Some(range) if range.last >= known => usize::from(range.level),
            _ => self.n_levels - 1,
        }
    }
}
