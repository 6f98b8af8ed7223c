//! Likelihoods of uniqueness where the probability of a record's values is itself
//! not certain.
//!
//! The tree of pairs gives a record the probability p, estimated from counts and
//! under a model. In the population its values have the probability `lambda p g`
//! with g a gamma variable of shape and rate `a`,
//!
//! `1 / a = 1 / alpha + c V`:
//!
//! `alpha` says how far cells are from the tree, V is the variance of ln p that the
//! counts of the record's pairs leave, and `c` is the weight given to it. Someone drawn
//! from the population is in a frequent cell rather than in a rare one, so that for
//! the person g has the shape `a + 1`. With `x = (N - 1) lambda p` and
//! `y = N lambda p`,
//!
//! `xi = E exp(-x g) = (1 + x / a)^-(a + 1)`,
//! `kappa = E (1 - exp(-y g)) / (y g) = (1 - (1 + y / a)^-a) / y`.
//!
//! `alpha`, `c` and `lambda` in the sample are where the likelihood of which records
//! are unique in it, times a prior, is largest. In a population `lambda` is such
//! that the mean of xi over the sample's records is the population's uniqueness.
//!
//! [`fit_mixture`] finds alpha, c and lambda in a sample, [`anchor`] the lambda of a
//! population.

mod anchor;
mod fit;

use crate::error::Result;
use crate::parallel::{self, Monitor};

pub use anchor::{anchor, Anchor};
pub use fit::{clusters, fit_mixture, Cluster};

/// Sums over records are taken in blocks, so that threads do not change them.
const BLOCK: usize = 1 << 13;

/// Probability of a record by the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The logarithm of the probability of its values.
    pub ln_p: f64,
    /// The variance of that logarithm, from the counts behind it.
    pub variance: f64,
}

/// Uncertainty of probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// The shape of what the tree misses.
    pub alpha: f64,
    /// Weight of the counts' variance.
    pub spread: f64,
}

/// Estimates for one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The mean probability of its values.
    pub prob: f64,
    /// The likelihood of being unique.
    pub unique: f64,
    /// The likelihood that a match is right.
    pub correct: f64,
    /// The shape of the gamma variable.
    pub shape: f64,
}

/// E exp(-z g), g of shape `a + 1` and rate b, by `1 / a` and `ratio = z / b`.
fn alone(inverse_shape: f64, ratio: f64) -> f64 {
    ln_alone(inverse_shape, ratio).exp()
}

fn ln_alone(inverse_shape: f64, ratio: f64) -> f64 {
    -(1.0 / inverse_shape + 1.0) * ratio.ln_1p()
}

/// E (1 - exp(-z g)) / (z g) likewise.
fn right(inverse_shape: f64, ratio: f64) -> f64 {
    if ratio < 1e-300 {
        return 1.0;
    }
    -(-ratio.ln_1p() / inverse_shape).exp_m1() * inverse_shape / ratio
}

impl Mixture {
    /// The mixture with this share of the uncertainty.
    pub fn sharpened(&self, left: f64) -> Self {
        Self {
            alpha: self.alpha / left,
            spread: self.spread * left,
        }
    }

    /// One over the shape of a record's gamma variable.
    pub fn inverse_shape(&self, variance: f64) -> f64 {
        1.0 / self.alpha + self.spread * variance
    }

    /// A record's likelihoods among `n_people`.
    pub fn likelihood(&self, point: Point, ln_lambda: f64, n_people: f64) -> Likelihood {
        let s = self.inverse_shape(point.variance);
        let p = (point.ln_p + ln_lambda).exp();
        Likelihood {
            prob: p.min(1.0),
            unique: alone(s, (n_people - 1.0) * p * s),
            correct: right(s, n_people * p * s),
            shape: 1.0 / s,
        }
    }

    /// The likelihoods of many records. `sample`: its size, and how many of its records
    /// each equals, where that is to be used.
    pub fn likelihoods(
        &self,
        points: &[Point],
        ln_lambda: f64,
        n_people: f64,
        sample: Option<(f64, &[f64])>,
        monitor: &Monitor,
    ) -> Result<Vec<Likelihood>> {
        parallel::map_rows(points.len(), monitor, |row| match sample {
            None => self.likelihood(points[row], ln_lambda, n_people),
            Some((n, counts)) => {
                let seen = (n, counts[row] as u32);
                self.likelihood_given(points[row], ln_lambda, n_people, seen)
            }
        })
    }

    /// A record's likelihoods, given that `count` records of a sample of `n` have the record's
    /// values. A record that is not unique in the sample is not in the population;
    /// for one that is, the sample has made g smaller: it has the rate
    /// `a + n lambda p` where it had the rate `a`.
    pub fn likelihood_given(
        &self,
        point: Point,
        ln_lambda: f64,
        n_people: f64,
        (n, count): (f64, u32),
    ) -> Likelihood {
        let plain = self.likelihood(point, ln_lambda, n_people);
        if count > 1 {
            return Likelihood {
                unique: 0.0,
                correct: plain.correct.min(1.0 / f64::from(count)),
                ..plain
            };
        }
        let s = self.inverse_shape(point.variance);
        let p = (point.ln_p + ln_lambda).exp();
        let ratio = (n_people - n).max(0.0) * p * s / (1.0 + n * p * s);
        Likelihood {
            unique: alone(s, ratio),
            correct: right(s, ratio),
            ..plain
        }
    }
}

#[cfg(test)]
mod tests;
