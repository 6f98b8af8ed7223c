//! Consumers of the compatible patterns that the walk finds: sums, counts of combinations, distinct
//! labels.

use std::sync::Arc;

use super::arrangement::{any, both, Arrangement, Bits, BLOCK};
use super::search::{Amount, Search, Sink};

pub(super) fn each_bit(start: usize, bits: Bits, mut visit: impl FnMut(usize)) {
    for (i, mut word) in bits.into_iter().enumerate() {
        while word != 0 {
            visit(start + 64 * i + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// Counts bits by adding blocks up place by place, in binary digits that stand
/// in blocks of their own: bits are counted in one block of eight only.
#[derive(Clone, Default)]
struct BitCounter {
    ones: Bits,
    twos: Bits,
    fours: Bits,
    eights: u64,
}

impl BitCounter {
    #[inline(always)]
    fn add(&mut self, mut carry: Bits) {
        for digits in [&mut self.ones, &mut self.twos, &mut self.fours] {
            for (digit, carry) in digits.iter_mut().zip(&mut carry) {
                (*digit, *carry) = (*digit ^ *carry, *digit & *carry);
            }
        }
        if any(&carry) {
            self.eights += count(&carry);
        }
    }

    fn take(&mut self) -> u64 {
        let sum =
            count(&self.ones) + 2 * count(&self.twos) + 4 * count(&self.fours) + 8 * self.eights;
        *self = Self::default();
        sum
    }
}

fn count(bits: &Bits) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Sums over the matches.
#[derive(Clone)]
pub(super) struct Sum<T> {
    /// Count of most patterns, if any, and, by block, of the exceptions.
    usual: T,
    others: Arc<Vec<Bits>>,
    /// By place.
    amounts: Arc<Vec<T>>,
    n_usual: BitCounter,
    sum: T,
}

impl<T: Amount> Sum<T> {
    /// Sums of `amounts`, which are by pattern and of which most are `usual`.
    pub fn new(amounts: &[T], usual: T, arranged: &Arrangement) -> Self {
        let amounts: Vec<T> = (arranged.patterns.iter())
            .map(|&pattern| amounts[pattern as usize])
            .collect();
        let others = amounts.chunks(BLOCK).map(|amounts| {
            let mut others = [0; BLOCK / 64];
            for (i, amount) in amounts.iter().enumerate() {
                others[i / 64] |= u64::from(*amount != usual) << (i % 64);
            }
            others
        });
        Self {
            usual,
            others: Arc::new(others.collect()),
            amounts: Arc::new(amounts),
            n_usual: BitCounter::default(),
            sum: T::default(),
        }
    }
}

/// The amount of at least half of the patterns, or nothing.
pub(super) fn usual<T: Amount>(amounts: &[T]) -> T {
    // Only an amount that outlasts all others in pairs can be that of so many.
    let (mut candidate, mut lead) = (T::default(), 0usize);
    for &amount in amounts {
        match (lead, amount == candidate) {
            (0, _) => (candidate, lead) = (amount, 1),
            (_, true) => lead += 1,
            (_, false) => lead -= 1,
        }
    }
    let n = amounts
        .iter()
        .filter(|&&amount| amount == candidate)
        .count();
    if 2 * n >= amounts.len() {
        candidate
    } else {
        T::default()
    }
}

impl<T: Amount> Sink for Sum<T> {
    type Amount = T;

    #[inline(always)]
    fn found(&mut self, _x: usize, start: usize, bits: Bits) {
        let others = &self.others[start / BLOCK];
        let mut usual = bits;
        for (word, others) in usual.iter_mut().zip(others) {
            *word &= !others;
        }
        self.n_usual.add(usual);
        let different = both(&bits, others);
        if any(&different) {
            each_bit(start, different, |place| self.sum += self.amounts[place]);
        }
    }

    fn close(&mut self, _x: usize) -> T {
        let mut sum = std::mem::take(&mut self.sum);
        sum += self.usual.times(self.n_usual.take());
        sum
    }
}

/// Sums in which a pattern counts once for every combination of the target's
/// values that it matches.
#[derive(Clone)]
pub(super) struct Counted<'a, T> {
    search: &'a Search<'a>,
    patterns: Arc<Vec<u32>>,
    amounts: &'a [T],
    sum: T,
}

impl<'a, T: Amount> Counted<'a, T> {
    pub fn new(search: &'a Search<'a>, amounts: &'a [T], arranged: &Arrangement) -> Self {
        Self {
            search,
            patterns: arranged.patterns.clone(),
            amounts,
            sum: T::default(),
        }
    }
}

impl<T: Amount> Sink for Counted<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: Bits) {
        each_bit(start, bits, |place| {
            let pattern = self.patterns[place] as usize;
            self.sum += self.amounts[pattern].times(self.search.times(x, pattern));
        });
    }

    fn close(&mut self, _x: usize) -> T {
        std::mem::take(&mut self.sum)
    }
}

/// Labels of patterns: every pattern's records carry some.
pub(super) struct Labels<T> {
    /// Start of the labels of each pattern; one entry more.
    pub starts: Vec<u32>,
    /// From 0.
    pub labels: Vec<u32>,
    /// Count of each label.
    pub amounts: Vec<T>,
}

/// Sums over the distinct labels among the patterns found.
#[derive(Clone)]
pub(super) struct Distinct<'a, T> {
    labels: &'a Labels<T>,
    patterns: Arc<Vec<u32>>,
    /// Per label, one more than the target that has seen it last.
    seen: Vec<u32>,
    sum: T,
}

impl<'a, T: Amount> Distinct<'a, T> {
    pub fn new(labels: &'a Labels<T>, arranged: &Arrangement) -> Self {
        Self {
            labels,
            patterns: arranged.patterns.clone(),
            seen: vec![0; labels.amounts.len()],
            sum: T::default(),
        }
    }
}

impl<T: Amount> Sink for Distinct<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: Bits) {
        let mark = x as u32 + 1;
        each_bit(start, bits, |place| {
            let other = self.patterns[place] as usize;
            let range = self.labels.starts[other] as usize..self.labels.starts[other + 1] as usize;
            for &label in &self.labels.labels[range] {
                if self.seen[label as usize] != mark {
                    self.seen[label as usize] = mark;
                    self.sum += self.labels.amounts[label as usize];
                }
            }
        });
    }

    fn close(&mut self, _x: usize) -> T {
        std::mem::take(&mut self.sum)
    }
}
