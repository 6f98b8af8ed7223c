//! Weight of a pair of values of one key.
//!
//! A weight is a logarithm of a ratio of likelihoods. It is rounded once to a
//! multiple of 2^-40: sums are then exact in an `f64` as long as they stay
//! below 2^12, so ties are ties in whatever order, engine or number of threads
//! they are found.

use super::levels::KeyLevels;
use crate::error::{in_lines, Error, Result};

/// Steps of a weight in one unit.
const GRID: f64 = (1u64 << 40) as f64;
/// No sum of weights is larger: 12 bits before the point, 40 behind it.
const LARGEST: f64 = 4096.0;
/// The exponentials of all weights fit an `f64` below this range of their sums.
const UNSCALED: f64 = 600.0;

/// A weight on the grid.
pub(super) fn on_grid(weight: f64) -> f64 {
    (weight * GRID).round() / GRID
}

/// Known values that do not have the weight of those beyond.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    /// First and last code.
    pub first: u32,
    pub last: u32,
    /// The level, from 0.
    pub level: u8,
    /// The weight and its exponential.
    pub weight: f64,
    pub e: f64,
}

/// The weights of one key.
#[derive(Debug, Clone)]
pub(super) struct KeyWeights {
    starts: Vec<u32>,
    touched: Vec<Touched>,
    /// Per released code, whether all touched values weigh more than the rest.
    rising: Vec<bool>,
    /// The weight of values beyond, its exponential, and that of a pair of
    /// which one value is missing (whose weight is 0).
    pub differ: f64,
    pub e_differ: f64,
    pub e_missing: f64,
    /// Logarithm of the divisor of the exponentials.
    pub shift: f64,
}

impl KeyWeights {
    /// The weights of the ranges of `levels`, in their order, and of the rest.
    pub fn new(levels: &KeyLevels, weights: &[f64], differ: f64) -> Self {
        let touched: Vec<Touched> = levels
            .ranges()
            .iter()
            .zip(weights)
            .map(|(range, &weight)| Touched {
                first: range.first,
                last: range.last,
                level: range.level,
                weight,
                e: weight.exp(),
            })
            .collect();
        let mut weights = Self {
            starts: levels.starts().to_vec(),
            touched,
            rising: Vec::new(),
            differ,
            e_differ: differ.exp(),
            e_missing: 1.0,
            shift: 0.0,
        };
        weights.rising = (1..=levels.n_values())
            .map(|y| weights.of(y).iter().all(|t| t.weight > differ))
            .collect();
        weights
    }

    /// The touched known values of a released code, which is not missing.
    #[inline]
    pub fn of(&self, released: u32) -> &[Touched] {
        let at = |c: u32| self.starts[c as usize] as usize;
        &self.touched[at(released - 1)..at(released)]
    }

    /// True if all touched values of a released code weigh more than the rest.
    #[inline]
    pub fn is_rising(&self, released: u32) -> bool {
        self.rising[released as usize - 1]
    }

    /// True if that holds of all released codes.
    pub fn all_rising(&self) -> bool {
        self.rising.iter().all(|&r| r)
    }

    /// The weight of two codes and its exponential.
    #[inline]
    pub fn pair(&self, known: u32, released: u32) -> (f64, f64) {
        if released == 0 {
            return (0.0, 1.0);
        }
        if known == 0 {
            return (0.0, self.e_missing);
        }
        let touched = self.of(released);
        let after = touched.partition_point(|t| t.first <= known);
        match touched.get(after.wrapping_sub(1)) {
            Some(t) if t.last >= known => (t.weight, t.e),
            _ => (self.differ, self.e_differ),
        }
    }

    /// Smallest and largest weight, that of missing values included.
    fn range(&self) -> (f64, f64) {
        let start = (self.differ.min(0.0), self.differ.max(0.0));
        self.touched.iter().fold(start, |(low, high), t| {
            (low.min(t.weight), high.max(t.weight))
        })
    }

    /// Divides the exponentials of observed released values by `e^shift`.
    fn scale(&mut self, shift: f64) {
        self.shift = shift;
        self.e_missing = (-shift).exp();
        self.e_differ = (self.differ - shift).exp();
        for t in &mut self.touched {
            t.e = (t.weight - shift).exp();
        }
    }
}

/// The weights of all keys of one intruder.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    keys: Vec<KeyWeights>,
}

impl Weights {
    /// Checks that sums of the weights are exact and their exponentials finite.
    pub fn new(mut keys: Vec<KeyWeights>) -> Result<Self> {
        let ranges: Vec<(f64, f64)> = keys.iter().map(KeyWeights::range).collect();
        let low: f64 = ranges.iter().map(|r| r.0).sum();
        let high: f64 = ranges.iter().map(|r| r.1).sum();
        let within = |x: f64| x.abs() < LARGEST;
        if !within(low) || !within(high) {
            return Err(Error::BadArgument(in_lines(
                "The weights of all keys together must stay below 4096.",
                &format!("They reach from {low:.0} to {high:.0}."),
                "Take fewer keys, or probabilities of agreement further from 0 and 1.",
            )));
        }
        if high - low > UNSCALED {
            for (key, (low, high)) in keys.iter_mut().zip(ranges) {
                key.scale((low + high) / 2.0);
            }
        }
        Ok(Self { keys })
    }

    /// The weights, key by key.
    pub fn keys(&self) -> &[KeyWeights] {
        &self.keys
    }

    /// The weight of two records, in the order of the keys.
    pub fn of_pair(&self, pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
        let weights = self.keys.iter().zip(pairs);
        weights.map(|(key, (x, y))| key.pair(x, y).0).sum()
    }
}
