//! Sets of keys in the order of what they cost.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hashbrown::HashSet;

use super::problem::Problem;

/// Sums of weights that differ by rounding alone are equal.
pub(super) fn at_most(a: f64, b: f64) -> bool {
    a <= b + 1e-9 * b.abs()
}

/// A cost and the set it is for, ordered by the cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costed {
    pub cost: f64,
    pub set: u64,
}

impl Ord for Costed {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.cost.total_cmp(&other.cost)).then(self.set.cmp(&other.set))
    }
}

impl PartialOrd for Costed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Costed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Costed {}

/// The sets that a record with the missing keys `missing` can lose, cheapest
/// first; each holds what its keys are linked to.
pub(super) struct Subsets<'p> {
    problem: &'p Problem<'p>,
    missing: u64,
    keys: u64,
    heap: BinaryHeap<Reverse<Costed>>,
    seen: HashSet<u64>,
}

impl<'p> Subsets<'p> {
    pub fn new(problem: &'p Problem<'p>, missing: u64) -> Self {
        Self::within(problem, missing, problem.choosable)
    }

    /// Subsets of some keys, with the variables linked to them.
    pub fn within(problem: &'p Problem<'p>, missing: u64, keys: u64) -> Self {
        let mut all = Self {
            problem,
            missing,
            keys,
            heap: BinaryHeap::new(),
            seen: HashSet::new(),
        };
        all.extend(0);
        all
    }

    fn extend(&mut self, set: u64) {
        let free = self.problem.choosable & self.keys & !set & !self.missing;
        for key in keys_of(free) {
            let larger = self.problem.closed(set | 1 << key, self.missing);
            if larger & !self.problem.blankable == 0 && self.seen.insert(larger) {
                self.heap.push(Reverse(Costed {
                    cost: self.problem.cost(larger),
                    set: larger,
                }));
            }
        }
    }

    /// Cost of the next sets; infinite where there is none.
    pub fn least(&self) -> f64 {
        self.heap.peek().map_or(f64::INFINITY, |next| next.0.cost)
    }

    /// The next sets, all of the same cost.
    pub fn level(&mut self) -> Vec<Costed> {
        let mut level: Vec<Costed> = Vec::new();
        while let Some(Reverse(next)) = self.heap.peek().copied() {
            if level.first().is_some_and(|f| !at_most(next.cost, f.cost)) {
                break;
            }
            self.heap.pop();
            level.push(next);
            self.extend(next.set);
        }
        level
    }
}

/// The numbers of the bits of `set`, ascending.
pub(super) fn keys_of(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let key = set.trailing_zeros() as usize;
            set &= set - 1;
            key
        })
    })
}
