//! Sampling weights: how many people of the population a record stands for.

use std::ops::Deref;

use crate::error::{Error, Result};

/// One finite, positive weight for every record of a file; for a row that stands for
/// several records the sum of theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights<'a> {
    sums: &'a [f64],
    squares: Option<&'a [f64]>,
}

impl<'a> Weights<'a> {
    /// The weights of the `n_records` records of a file.
    ///
    /// # Errors
    ///
    /// If there is not one for every record, or one is not finite and positive.
    pub fn new(values: &'a [f64], n_records: usize) -> Result<Self> {
        let good = |&weight: &f64| weight > 0.0 && weight.is_finite();
        if values.len() == n_records && values.iter().all(good) {
            Ok(Self {
                sums: values,
                squares: None,
            })
        } else {
            Err(Error::BadArgument(
                "Every record needs a finite and positive weight.".into(),
            ))
        }
    }

    /// Also sets the sums of the squared weights of the records that a row stands for: without them
    /// a row is taken for one record, or its records for equal.
    ///
    /// # Errors
    ///
    /// If there is not one for every row, or one is not finite and positive.
    pub fn with_squares(self, squares: Option<&'a [f64]>) -> Result<Self> {
        if let Some(squares) = squares {
            Self::new(squares, self.sums.len())?;
        }
        Ok(Self { squares, ..self })
    }

    /// The numbers, for as long as they live.
    pub fn values(self) -> &'a [f64] {
        self.sums
    }

    /// The sums of squares, where they were given.
    pub fn squares(self) -> Option<&'a [f64]> {
        self.squares
    }

    /// The estimated number of people in the population.
    pub fn sum(self) -> f64 {
        self.sums.iter().sum()
    }

    /// The weights of some of the records.
    pub fn of_rows(self, rows: &[u32]) -> Vec<f64> {
        rows.iter().map(|&row| self.sums[row as usize]).collect()
    }
}

impl Deref for Weights<'_> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.sums
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
        assert_eq!(weights.squares(), None);
        let squares = [1.0, 6.25, 16.0];
        let both = weights.with_squares(Some(&squares)).unwrap();
        assert_eq!(both.squares(), Some(&squares[..]));
        assert_eq!(both.values(), weights.values());
        assert!(weights.with_squares(Some(&squares[..2])).is_err());
        assert!(weights.with_squares(Some(&[1.0, 0.0, 2.0])).is_err());
    }
}
