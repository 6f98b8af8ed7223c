//! The choice of known members that is worst for a household.

use crate::error::Result;
use crate::individual_risk::expected_inverse;
use crate::key_table::Groups;
use crate::memory::filled;

/// Households that fit what is known: their number and the sum of their weights.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fits {
    pub n: u32,
    pub weight: f64,
}

/// A household with the chance that follows from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    fits: Fits,
    risk: f64,
}

impl Fits {
    pub fn add(&mut self, other: Self) {
        self.n += other.n;
        self.weight += other.weight;
    }

    /// `E(1/F)` given these households, where weights say how many there are.
    pub fn judged(self, weighted: bool) -> Judged {
        let risk = if weighted {
            expected_inverse(u64::from(self.n), self.weight)
        } else {
            0.0
        };
        Judged { fits: self, risk }
    }
}

/// Result for every household.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseholdRisk {
    /// Per row, the number of its household, from 0.
    pub household: Vec<u32>,
    /// Members of every household.
    pub size: Vec<u32>,
    /// Households that fit it, by the worst choice of known members; 0 for those
    /// left out.
    pub matches: Vec<u32>,
    /// Smallest sum of the weights of the households that fit.
    pub weighted: Option<Vec<f64>>,
    /// Largest `E(1/F)`.
    pub risk: Option<Vec<f64>>,
    /// Per column that members share, the households whose members differ.
    pub unequal: Vec<u32>,
}

/// The worst seen so far of every household.
pub(super) struct Worst {
    weights: Option<Vec<f64>>,
    matches: Vec<u32>,
    weighted: Vec<f64>,
    risk: Vec<f64>,
}

impl Worst {
    pub fn new(n: usize, weights: Option<Vec<f64>>) -> Result<Self> {
        let n_weighted = weights.as_ref().map_or(0, Vec::len);
        Ok(Self {
            weights,
            matches: filled(u32::MAX, n)?,
            weighted: filled(f64::INFINITY, n_weighted)?,
            risk: filled(0.0, n_weighted)?,
        })
    }

    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// A household that only itself fits.
    pub fn alone(&self, home: usize) -> Fits {
        let weight = self.weights.as_ref().map_or(0.0, |w| w[home]);
        Fits { n: 1, weight }
    }

    /// One more choice of known members.
    pub fn see(&mut self, home: usize, choice: &Judged) {
        let least = &mut self.matches[home];
        *least = (*least).min(choice.fits.n);
        if self.weights.is_some() {
            self.weighted[home] = self.weighted[home].min(choice.fits.weight);
            self.risk[home] = self.risk[home].max(choice.risk);
        }
    }

    /// No choice can be worse than one that no other household fits.
    pub fn see_alone(&mut self, home: usize) {
        let alone = self.alone(home).judged(self.is_weighted());
        self.see(home, &alone);
    }

    pub fn answer(self, homes: &Groups, unequal: Vec<u32>) -> HouseholdRisk {
        // Without a member in use nothing was seen.
        let matches: Vec<u32> = (self.matches.into_iter())
            .map(|n| if n == u32::MAX { 0 } else { n })
            .collect();
        let weighted = self.weights.is_some();
        HouseholdRisk {
            household: homes.row_group().to_vec(),
            size: homes.counts().iter().map(|&size| size as u32).collect(),
            matches,
            weighted: weighted.then_some(self.weighted),
            risk: weighted.then_some(self.risk),
            unequal,
        }
    }
}
