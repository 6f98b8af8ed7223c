//! Sampling weights: how many people of the population a record stands for.

use std::ops::Deref;

use crate::error::{Error, Result};

/// One finite, positive weight for every record of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights<'a>(&'a [f64]);

impl<'a> Weights<'a> {
    /// The weights of the `n_records` records of a file.
    ///
    /// # Errors
    ///
    /// Where there is not one for every record, or one is not finite and positive.
    pub fn new(values: &'a [f64], n_records: usize) -> Result<Self> {
        let good = |&weight: &f64| weight > 0.0 && weight.is_finite();
        if values.len() == n_records && values.iter().all(good) {
            Ok(Self(values))
        } else {
            Err(Error::BadArgument(
                "Every record needs a finite and positive weight.".into(),
            ))
        }
    }

    /// The numbers, for as long as they live.
    pub fn values(self) -> &'a [f64] {
        self.0
    }

    /// The estimated number of people in the population.
    pub fn sum(self) -> f64 {
        self.0.iter().sum()
    }

    /// The weights of some of the records.
    pub fn of_rows(self, rows: &[u32]) -> Vec<f64> {
        rows.iter().map(|&row| self.0[row as usize]).collect()
    }
}

impl Deref for Weights<'_> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_positive_number_for_every_record_or_none_at_all() {
        for bad in [
            &[1.0][..],
            &[1.0, 0.0],
            &[1.0, -2.0],
            &[1.0, f64::NAN],
            &[1.0, f64::INFINITY],
            &[1.0, 2.0, 3.0],
        ] {
            assert_eq!(
                Weights::new(bad, 2).map_err(|e| e.kind()),
                Err("bad_argument")
            );
        }
        let weights = Weights::new(&[1.0, 2.5, 4.0], 3).unwrap();
        assert_eq!(weights.of_rows(&[2, 0]), [4.0, 1.0]);
        assert!((weights.sum() - 7.5).abs() < 1e-15);
    }
}
