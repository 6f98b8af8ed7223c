//! What is made of the compatible patterns that the walk finds: sums for one
//! side or both, counts of combinations, distinct labels.

use super::walk::Search;

/// What is summed: exact integers, so that no order of summing matters.
pub(super) trait Amount:
    Copy + Default + PartialEq + Send + Sync + std::ops::AddAssign
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

/// What becomes of the patterns found.
pub(super) trait Sink {
    /// What is summed.
    type Amount: Amount;
    /// The patterns `bits` from `start` on are compatible with target `x`.
    fn found(&mut self, x: usize, start: usize, bits: u64);
    /// Target `x` has seen everything.
    fn close(&mut self, _x: usize) {}
    /// One sum per target.
    fn into_sums(self) -> Vec<Self::Amount>;
}

fn each_bit(start: usize, mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(start + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// Sums for both patterns of every pair that is met once.
pub(super) struct BothSides<'a, T> {
    amounts: &'a [T],
    /// Whether all amounts are equal, as they are where no record has a twin.
    equal: bool,
    sums: Vec<T>,
}

impl<'a, T: Amount> BothSides<'a, T> {
    pub fn new(amounts: &'a [T]) -> Self {
        Self {
            amounts,
            equal: amounts.iter().all(|a| *a == amounts[0]),
            sums: vec![T::default(); amounts.len()],
        }
    }
}

impl<T: Amount> Sink for BothSides<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: u64) {
        let amount = self.amounts[x];
        if self.equal {
            self.sums[x] += amount.times(u64::from(bits.count_ones()));
            each_bit(start, bits, |other| self.sums[other] += amount);
            return;
        }
        let mut sum = T::default();
        each_bit(start, bits, |other| {
            sum += self.amounts[other];
            self.sums[other] += amount;
        });
        self.sums[x] += sum;
    }

    fn close(&mut self, x: usize) {
        self.sums[x] += self.amounts[x];
    }

    fn into_sums(self) -> Vec<T> {
        self.sums
    }
}

/// Sums for targets.
pub(super) struct OneSide<'a, T> {
    amounts: &'a [T],
    sums: Vec<T>,
}

impl<'a, T: Amount> OneSide<'a, T> {
    pub fn new(amounts: &'a [T], n_targets: usize) -> Self {
        Self {
            amounts,
            sums: vec![T::default(); n_targets],
        }
    }
}

impl<T: Amount> Sink for OneSide<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: u64) {
        each_bit(start, bits, |other| self.sums[x] += self.amounts[other]);
    }

    fn into_sums(self) -> Vec<T> {
        self.sums
    }
}

/// Sums for targets in which a pattern counts once for every combination of
/// the target's values that it matches.
pub(super) struct Counted<'a, T> {
    search: &'a Search<'a>,
    side: OneSide<'a, T>,
}

impl<'a, T: Amount> Counted<'a, T> {
    pub fn new(search: &'a Search<'a>, amounts: &'a [T], n_targets: usize) -> Self {
        Self {
            search,
            side: OneSide::new(amounts, n_targets),
        }
    }
}

impl<T: Amount> Sink for Counted<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: u64) {
        each_bit(start, bits, |other| {
            self.side.sums[x] += self.side.amounts[other].times(self.search.times(x, other));
        });
    }

    fn into_sums(self) -> Vec<T> {
        self.side.sums
    }
}

/// Labels of patterns: every pattern's records carry some.
pub(super) struct Labels<T> {
    /// Where the labels of each pattern begin; one entry more.
    pub starts: Vec<u32>,
    /// From 0.
    pub labels: Vec<u32>,
    /// What each label counts.
    pub amounts: Vec<T>,
}

/// Sums over the distinct labels among the patterns found.
pub(super) struct Distinct<'a, T> {
    labels: &'a Labels<T>,
    /// Per label, one more than the target that has seen it last.
    seen: Vec<u32>,
    sums: Vec<T>,
}

impl<'a, T: Amount> Distinct<'a, T> {
    pub fn new(labels: &'a Labels<T>, n_targets: usize) -> Self {
        Self {
            labels,
            seen: vec![0; labels.amounts.len()],
            sums: vec![T::default(); n_targets],
        }
    }
}

impl<T: Amount> Sink for Distinct<'_, T> {
    type Amount = T;

    fn found(&mut self, x: usize, start: usize, bits: u64) {
        let mark = x as u32 + 1;
        each_bit(start, bits, |other| {
            let range = self.labels.starts[other] as usize..self.labels.starts[other + 1] as usize;
            for &label in &self.labels.labels[range] {
                if self.seen[label as usize] != mark {
                    self.seen[label as usize] = mark;
                    self.sums[x] += self.labels.amounts[label as usize];
                }
            }
        });
    }

    fn into_sums(self) -> Vec<T> {
        self.sums
    }
}
