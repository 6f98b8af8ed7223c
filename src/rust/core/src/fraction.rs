//! The sampling fraction: the share of the population that is in the file.

use crate::error::{in_lines, Error, Result};

/// Fractions that exceed 1 by less are 1: sums of weights are rounded.
const TOLERANCE: f64 = 1e-9;

/// A number above 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct SamplingFraction(f64);

impl SamplingFraction {
    /// A fraction that is known.
    ///
    /// # Errors
    ///
    /// Fails unless `value` is above 0 and at most 1.
    pub fn new(value: f64) -> Result<Self> {
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(Error::BadArgument(
                "A sampling fraction must be above 0 and at most 1.".into(),
            ))
        }
    }

    /// The fraction of `n_records` records whose weights sum to `people`.
    ///
    /// # Errors
    ///
    /// Fails if the sample would be larger than its population.
    pub fn of_weights(n_records: f64, people: f64) -> Result<Self> {
        let value = n_records / people;
        if value > 1.0 + TOLERANCE {
            return Err(Error::BadWeights(in_lines(
                "The weights must sum to at least the number of records.",
                &format!("They sum to {people:.0}, with {n_records:.0} records."),
                "Give weights that say how many people a record stands for.",
            )));
        }
        Self::new(value.min(1.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_part_of_its_population() {
        for bad in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(
                SamplingFraction::new(bad).map_err(|e| e.kind()),
                Err("bad_argument")
            );
        }
        let of = |n, people| SamplingFraction::of_weights(n, people).map(SamplingFraction::get);
        assert_eq!(of(5.0, 20.0), Ok(0.25));
        assert_eq!(of(3.0, 3.0 - 1e-12), Ok(1.0));
        assert_eq!(of(3.0, 2.9).map_err(|e| e.kind()), Err("bad_weights"));
    }
}
