//! The search for targets in the file, and the sums over the patterns found.

use super::arrangement::{Arrangement, Bits};
use super::compatibility::Relation;
use super::patterns::Patterns;
use crate::error::Result;
use crate::parallel::Monitor;

/// Columns of which the missing ones tell the arrangement of a target.
const MAX_LEADING: usize = 4;
/// An arrangement is made where so many patterns of the file, at most, come to
/// a target that uses it.
const PATTERNS_PER_TARGET: usize = 48;

/// Summands: exact integers, so that no order of summing matters.
pub(super) trait Amount:
    Copy + Default + PartialEq + Send + Sync + std::ops::AddAssign + std::ops::Sub<Output = Self>
{
    /// The amount, `n` times.
    fn times(self, n: u64) -> Self;
    /// The amount as a number.
    fn number(self) -> f64;
}

macro_rules! amounts {
    ($($integer:ty),*) => {$(
        impl Amount for $integer {
            fn times(self, n: u64) -> Self {
                self * n as $integer
            }

            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}
amounts!(u32, u64, u128);

/// Consumer of the patterns found.
pub(super) trait Sink: Clone + Send + Sync {
    /// Figures of a target.
    type Amount: Clone + Default + Send + Sync;
    /// The patterns `bits` from place `start` of the arrangement on are
    /// compatible with target `x`.
    fn found(&mut self, x: usize, start: usize, bits: Bits);
    /// Target `x` has seen everything.
    fn close(&mut self, x: usize) -> Self::Amount;
}

/// Targets and file, and when they are compatible.
pub(super) struct Search<'a> {
    pub file: &'a Patterns,
    pub targets: &'a Patterns,
    /// By depth.
    pub relations: Vec<&'a Relation>,
    /// The depths of every key, for `min_overlap`.
    keys: Vec<Vec<usize>>,
    pub min_overlap: usize,
}

impl<'a> Search<'a> {
    /// `relations` are by column of the table, and so are `keys`.
    pub fn new(
        file: &'a Patterns,
        targets: &'a Patterns,
        relations: &'a [Relation],
        keys: &[Vec<usize>],
        min_overlap: usize,
    ) -> Self {
        let columns = &file.layout.columns;
        let depth_of = |v: &usize| columns.iter().position(|c| c == v);
        Self {
            file,
            targets,
            relations: columns.iter().map(|&v| &relations[v]).collect(),
            keys: keys
                .iter()
                .map(|key| key.iter().filter_map(depth_of).collect())
                .collect(),
            min_overlap,
        }
    }

    /// Takes off what the bitmaps could not tell.
    pub fn checked(&self, x: usize, arranged: &Arrangement, start: usize, mut bits: Bits) -> Bits {
        for (i, word) in bits.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let place = start + 64 * i + bit.trailing_zeros() as usize;
                let pattern = arranged.patterns[place] as usize;
                let fits = arranged.unmapped.iter().all(|&column| {
                    let d = arranged.depths[column];
                    self.relations[d]
                        .compatible(self.targets.code(x, d), self.file.code(pattern, d))
                });
                if !fits || !self.overlaps(x, pattern) {
                    *word ^= bit;
                }
            }
        }
        bits
    }

    /// True if both sides know enough keys in common.
    fn overlaps(&self, x: usize, pattern: usize) -> bool {
        if self.min_overlap == 0 {
            return true;
        }
        let (a, b) = (self.targets.bytes(x), self.file.bytes(pattern));
        let shared = self
            .keys
            .iter()
            .filter(|key| key.iter().any(|&d| a[d] != 0 && b[d] != 0))
            .take(self.min_overlap)
            .count();
        shared == self.min_overlap
    }

    /// Number of combinations of the target's values that match a pattern.
    pub fn times(&self, x: usize, pattern: usize) -> u64 {
        let relations = self.relations.iter().enumerate();
        relations
            .filter(|(_, relation)| relation.is_counted())
            .map(|(d, relation)| {
                relation.times(self.targets.code(x, d), self.file.code(pattern, d))
            })
            .product()
    }

    /// Number of combinations of values that the target may have.
    pub fn combinations(&self, x: usize) -> f64 {
        let relations = self.relations.iter().enumerate();
        relations
            .map(|(d, relation)| relation.size(self.targets.code(x, d)))
            .product::<u64>() as f64
    }

    pub fn arrange(&self, missing: &[usize], monitor: &Monitor) -> Result<Arrangement> {
        let depths = 0..self.file.layout.depth();
        let depths = depths.filter(|d| !missing.contains(d)).collect();
        Arrangement::new(self.file, depths, &self.relations, monitor)
    }

    /// Targets, ascending, by the columns that an arrangement for them leaves
    /// out. Those that lack all of these columns are enough to pay for it.
    pub fn groups(&self, depth_of_tree: usize) -> Vec<(Vec<usize>, Vec<u32>)> {
        let lacks = |x: usize, d: usize| self.targets.bytes(x)[d] == 0;
        let leading: Vec<usize> = (0..depth_of_tree)
            .filter(|&d| (0..self.targets.len()).any(|x| lacks(x, d)))
            .take(MAX_LEADING)
            .collect();
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); 1 << leading.len()];
        for x in 0..self.targets.len() {
            let columns = leading.iter().enumerate();
            let group: usize = columns.map(|(i, &d)| usize::from(lacks(x, d)) << i).sum();
            groups[group].push(x as u32);
        }
        // Those with most columns left out first: what is too small goes on to
        // a group that leaves out one less.
        let mut order: Vec<usize> = (1..groups.len()).collect();
        order.sort_by_key(|group| std::cmp::Reverse(group.count_ones()));
        for group in order {
            if groups[group].len() * PATTERNS_PER_TARGET < self.file.len() {
                let small = std::mem::take(&mut groups[group]);
                let last = group.ilog2();
                let larger = &mut groups[group ^ 1 << last];
                larger.extend(small);
                larger.sort_unstable();
            }
        }
        let columns = |group: usize| {
            let columns = leading.iter().enumerate();
            columns
                .filter(move |(i, _)| group >> i & 1 == 1)
                .map(|(_, &d)| d)
                .collect()
        };
        let groups = groups.into_iter().enumerate();
        groups
            .filter(|(_, targets)| !targets.is_empty())
            .map(|(group, targets)| (columns(group), targets))
            .collect()
    }
}
