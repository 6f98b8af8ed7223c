//! The probability of a record when the places of its categories are random.
//!
//! Nominal categories have no order. Equation 18 of Rocher et al. (2019) needs one;
//! the authors' published program does without it: every category of share p_j gets
//! an interval (v_j, v_j + p_j] with v_j uniform on (0, 1 - p_j), and the
//! probabilities of the rectangles are averaged. Here places and rectangle are one
//! integral over one lattice. The numbers need not add up to one over all records.

use ndarray::Array2;

use super::cholesky::cholesky;
use super::lanes::{self, Lanes, LANES};
use super::lattice::{shift, Effort, Estimate, Lattice};
use crate::error::{Error, Result};
use crate::random::Streams;

/// Averages over places under one correlation matrix.
#[derive(Debug)]
pub struct Placements {
    factor: Array2<f64>,
    d: usize,
    lattice: Lattice,
    effort: Effort,
}

/// Memory that one record after the other uses.
#[derive(Debug, Default)]
pub struct Scratch {
    y: Vec<Lanes>,
}

impl Placements {
    /// Averages under the matrix `correlation`.
    ///
    /// # Errors
    ///
    /// Fails if the matrix is empty or not positive definite.
    pub fn new(correlation: &Array2<f64>, effort: Effort, streams: &Streams) -> Result<Self> {
        let d = correlation.nrows();
        if d == 0 || effort.max_blocks == 0 {
            return Err(Error::BadArgument(
                "A correlation matrix needs a row and a column for every key variable.".into(),
            ));
        }
        Ok(Self {
            factor: cholesky(correlation.view())?,
            d,
            // A place and a draw per key, but no draw for the last one.
            lattice: Lattice::new(2 * d - 1, effort.max_blocks, streams),
            effort,
        })
    }

    /// The mean probability of a record whose categories have these `shares`.
    pub fn probability(&self, shares: &[f64], scratch: &mut Scratch) -> Estimate {
        if shares.iter().any(|&p| p <= 0.0) {
            return Estimate::exact(0.0);
        }
        let d = self.d;
        if let [share] = *shares {
            return Estimate::exact(share);
        }
        if scratch.y.len() < d {
            scratch.y.resize(d, [0.0; LANES]);
        }
        let (mut low, mut high, mut start) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        self.lattice.integrate(self.effort, |points, mass| {
            *mass = [1.0; LANES];
            for (i, &share) in shares.iter().enumerate() {
                for (start, v) in start.iter_mut().zip(&points[i]) {
                    *start = v * (1.0 - share).max(0.0);
                }
                lanes::limits(&start, share, &mut low, &mut high);
                let (drawn, rest) = scratch.y.split_at_mut(i);
                let shift = shift(self.factor.row(i), drawn);
                let scale = 1.0 / self.factor[[i, i]];
                // The last key's draw is made for nothing: it takes any point.
                let w = &points[(d + i).min(2 * d - 2)];
                lanes::moving_interval((&low, &high), scale, &shift, w, mass, &mut rest[0]);
            }
            0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::{bivariate_rectangle, quantile};
    use crate::random::Seed;

    fn found(correlation: &[f64], shares: &[f64]) -> Estimate {
        let effort = Effort {
            tolerance: 1e-4,
            absolute: 0.0,
            max_blocks: 64,
        };
        let streams = Streams::new(Seed::from_draws([9, 8, 7, 6, 5, 4, 3, 2]));
        let d = shares.len();
        let correlation = Array2::from_shape_vec((d, d), correlation.to_vec()).unwrap();
        Placements::new(&correlation, effort, &streams)
            .unwrap()
            .probability(shares, &mut Scratch::default())
    }

    #[test]
    fn without_dependence_places_do_not_matter() {
        let mut correlation = vec![0.0; 16];
        (0..4).for_each(|j| correlation[j * 5] = 1.0);
        let shares = [0.3, 0.05, 0.6, 0.01];
        let exact: f64 = shares.iter().product();
        let found = found(&correlation, &shares);
        assert!((found.value / exact - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn two_keys_equal_the_average_of_exact_rectangles() {
        let (p, q, r) = (0.2, 0.35, 0.7);
        let m = 200;
        let mut exact = 0.0;
        for i in 0..m {
            for j in 0..m {
                let v = (f64::from(i) + 0.5) / f64::from(m) * (1.0 - p);
                let w = (f64::from(j) + 0.5) / f64::from(m) * (1.0 - q);
                exact += bivariate_rectangle(
                    (quantile(v), quantile(v + p)),
                    (quantile(w), quantile(w + q)),
                    r,
                );
            }
        }
        exact /= f64::from(m * m);
        let found = found(&[1.0, r, r, 1.0], &[p, q]);
        assert!(
            (found.value / exact - 1.0).abs() < 1e-3,
            "{found:?} {exact}"
        );
    }

    #[test]
    fn a_category_that_nobody_or_everybody_has() {
        let correlation = [1.0, 0.5, 0.5, 1.0];
        assert!(found(&correlation, &[0.0, 0.3]).value <= 0.0);
        assert!((found(&correlation, &[1.0, 0.3]).value - 0.3).abs() < 1e-3);
        assert_eq!(found(&[1.0], &[0.4]), Estimate::exact(0.4));
    }
}
