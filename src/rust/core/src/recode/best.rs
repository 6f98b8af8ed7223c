//! The cheapest recodings found so far, in one order for all of them.
//!
//! Costs within `1e-9` of each other tie; then the smaller sum of levels goes
//! first, then the smaller first level.

use std::cmp::Ordering;

use super::Problem;

/// Costs this near are equal: they are sums whose order differs.
const TOLERANCE: f64 = 1e-9;

/// A recoding that keeps the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Recoding {
    /// Its cost, blanks included.
    pub cost: f64,
    /// Place of the level among those allowed, per variable.
    pub places: Vec<u8>,
    /// Sum of levels.
    pub level_sum: usize,
}

impl Recoding {
    /// A recoding with what the order needs.
    pub fn new(problem: &Problem, cost: f64, places: &[u8]) -> Self {
        Self {
            cost,
            places: places.to_vec(),
            level_sum: problem.level_sum(places),
        }
    }

    /// Cheaper first, ties by levels.
    pub fn order(&self, other: &Self) -> Ordering {
        let near = TOLERANCE * self.cost.abs().max(other.cost.abs());
        let by_cost = if (self.cost - other.cost).abs() <= near {
            Ordering::Equal
        } else {
            self.cost.total_cmp(&other.cost)
        };
        by_cost
            .then(self.level_sum.cmp(&other.level_sum))
            .then_with(|| self.places.cmp(&other.places))
    }
}

/// The `n` cheapest recodings.
#[derive(Debug, Clone)]
pub struct Best {
    n: usize,
    found: Vec<Recoding>,
}

impl Best {
    /// None found yet.
    pub fn new(n: usize) -> Self {
        Self {
            n: n.max(1),
            found: Vec::new(),
        }
    }

    /// Cheapest first.
    pub fn found(&self) -> &[Recoding] {
        &self.found
    }

    /// Takes a recoding in, where it is among the cheapest and new.
    pub fn insert(&mut self, recoding: Recoding) {
        if self.found.iter().any(|r| r.places == recoding.places) {
            return;
        }
        let at = self
            .found
            .partition_point(|r| r.order(&recoding) == Ordering::Less);
        self.found.insert(at, recoding);
        self.found.truncate(self.n);
    }

    /// Takes in all that another list holds.
    pub fn merge(&mut self, other: Best) {
        for recoding in other.found {
            self.insert(recoding);
        }
    }

    /// True if nothing that costs at least `bound`, with levels of at least
    /// `least`, can still enter.
    pub fn excludes(&self, problem: &Problem, bound: f64, least: &[u8]) -> bool {
        match self.last() {
            None => false,
            Some(last) => {
                let near = TOLERANCE * last.cost.abs();
                bound > last.cost + near
                    || (bound >= last.cost - near
                        && Recoding::new(problem, last.cost, least).order(last) != Ordering::Less)
            }
        }
    }

    /// The last of a full list.
    fn last(&self) -> Option<&Recoding> {
        self.found.get(self.n - 1)
    }

    /// True if a cost is beyond a full list.
    pub fn is_dear(&self, cost: f64) -> bool {
        self.last()
            .is_some_and(|last| cost > last.cost * (1.0 + TOLERANCE))
    }
}
