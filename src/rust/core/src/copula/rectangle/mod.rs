//! The normal probability of a rectangle in any number of dimensions.
//!
//! # Method
//!
//! Separation of variables (Genz 1992): with the Cholesky factor C of the
//! correlation matrix and y_1, ..., y_(i-1) already drawn inside their intervals,
//! variable i has the interval ((l_i - s) / C_ii, (u_i - s) / C_ii],
//! s = sum_k C_ik y_k; the product of the masses of these intervals has the
//! rectangle's probability as its mean. Variables are taken in the order of
//! Gibson, Glasbey and Elston (1994): always the one with the least expected
//! mass next. The points are those of a shifted lattice (`lattice.rs`).
//!
//! Variables without limits are left out. What remains with one to three variables
//! is exact. The points depend on the seed alone: a rectangle has the same
//! probability whatever else is computed.
//!
//! Near a singular matrix a variable j is all but determined by those before it, and
//! most draws of these leave it outside its interval: the whole lattice may miss
//! the rectangle. So a variable is drawn only where every such j can still be
//! reached, within [`REACH`] conditional standard deviations; nothing is lost by it.
//! If only few points count, the error includes what one more of them could
//! have added at most.

use ndarray::Array2;

use super::lanes::{self, Lanes, EDGE, LANES};
use super::lattice::{shift, Effort, Estimate, Lattice};
use super::trivariate::trivariate_rectangle;
use crate::error::{Error, Result};
use crate::normal::{bivariate_rectangle, cdf, density};
use crate::random::Streams;

/// A conditional standard deviation below this is taken as this.
const LEAST_PIVOT: f64 = 1e-5;

/// A variable with a smaller conditional standard deviation is all but determined.
const NEAR: f64 = 0.1;

/// It lies within this many of them.
const REACH: f64 = 8.5;

/// Probabilities of rectangles under one correlation matrix.
#[derive(Debug)]
pub struct Rectangles<'a> {
    correlation: &'a Array2<f64>,
    lattice: Lattice,
    effort: Effort,
}

/// Memory that one rectangle after the other uses.
#[derive(Debug, Default)]
pub struct Scratch {
    order: Vec<usize>,
    limits: Vec<(f64, f64)>,
    factor: Vec<f64>,
    expected: Vec<f64>,
    reach: Vec<Reach>,
    y: Vec<Lanes>,
}

/// A variable that is all but determined once `drawn` is: where `drawn` may lie so
/// that it can be in its interval.
#[derive(Debug, Clone, Copy)]
struct Reach {
    drawn: usize,
    determined: usize,
    width: f64,
}

impl<'a> Rectangles<'a> {
    /// Rectangles under the matrix `correlation`.
    ///
    /// # Errors
    ///
    /// Fails if the matrix is empty, or no point may be used.
    pub fn new(correlation: &'a Array2<f64>, effort: Effort, streams: &Streams) -> Result<Self> {
        let d = correlation.nrows();
        if d == 0 || effort.max_blocks == 0 {
            return Err(Error::BadArgument(
                "A correlation matrix needs a row and a column for every key variable.".into(),
            ));
        }
        Ok(Self {
            correlation,
            lattice: Lattice::new(d.saturating_sub(1), effort.max_blocks, streams),
            effort,
        })
    }

    /// P(l_j < Z_j <= u_j for all j); limits may be infinite.
    pub fn probability(&self, limits: &[(f64, f64)], scratch: &mut Scratch) -> Estimate {
        scratch.order.clear();
        scratch.limits.clear();
        for (j, &(low, high)) in limits.iter().enumerate() {
            if low >= high {
                return Estimate::exact(0.0);
            }
            if low > -EDGE || high < EDGE {
                scratch.order.push(j);
                // Infinities would have to be told apart in every step.
                scratch
                    .limits
                    .push((low.max(-2.0 * EDGE), high.min(2.0 * EDGE)));
            }
        }
        match *scratch.limits.as_slice() {
            [] => Estimate::exact(1.0),
            [one] => Estimate::exact(mass(one)),
            [first, second] => {
                let r = self.correlation[[scratch.order[0], scratch.order[1]]];
                Estimate::exact(bivariate_rectangle(first, second, r))
            }
            [first, second, third] => {
                let r = |i: usize, j: usize| self.correlation[[scratch.order[i], scratch.order[j]]];
                let correlation = [r(0, 1), r(0, 2), r(1, 2)];
                Estimate::exact(trivariate_rectangle([first, second, third], correlation))
            }
            _ => {
                self.factorise(scratch);
                find_reach(scratch);
                self.separate(scratch)
            }
        }
    }

    /// Orders the variables and finds the Cholesky factor in that order.
    fn factorise(&self, scratch: &mut Scratch) {
        let n = scratch.order.len();
        let Scratch {
            order,
            limits,
            factor,
            expected,
            ..
        } = scratch;
        factor.clear();
        factor.resize(n * n, 0.0);
        expected.clear();
        for i in 0..n {
            let mut best = (f64::INFINITY, i, 1.0, 0.0);
            for j in i..n {
                let row = &factor[j * n..j * n + i];
                let mean: f64 = row.iter().zip(expected.iter()).map(|(c, y)| c * y).sum();
                let explained: f64 = row.iter().map(|c| c * c).sum();
                let pivot = (1.0 - explained).max(0.0).sqrt().max(LEAST_PIVOT);
                let (low, high) = limits[j];
                let inside = mass(((low - mean) / pivot, (high - mean) / pivot));
                if inside < best.0 {
                    best = (inside, j, pivot, mean);
                }
            }
            let (inside, j, pivot, mean) = best;
            order.swap(i, j);
            limits.swap(i, j);
            for k in 0..i {
                factor.swap(i * n + k, j * n + k);
            }
            factor[i * n + i] = pivot;
            for l in i + 1..n {
                let explained: f64 = (0..i).map(|k| factor[l * n + k] * factor[i * n + k]).sum();
                factor[l * n + i] = (self.correlation[[order[l], order[i]]] - explained) / pivot;
            }
            let (low, high) = limits[i];
            expected.push(mean_inside(
                ((low - mean) / pivot, (high - mean) / pivot),
                inside,
            ));
        }
    }

    fn separate(&self, scratch: &mut Scratch) -> Estimate {
        let n = scratch.order.len();
        let Scratch {
            limits,
            factor,
            reach,
            y,
            ..
        } = scratch;
        if y.len() < n {
            y.resize(n, [0.0; LANES]);
        }
        let concerned = |i: usize| reach.iter().any(|bound| bound.concerns(i));
        // Largest contribution of a point, except for variables that are determined or determine
        // one.
        let mut most = [1.0; LANES];
        self.lattice.integrate(self.effort, |points, mass| {
            *mass = [1.0; LANES];
            most = [1.0; LANES];
            for i in 0..n {
                let (drawn, rest) = y.split_at_mut(i);
                let row = &factor[i * n..i * n + i];
                let scale = 1.0 / factor[i * n + i];
                let counted = if concerned(i) { &mut *mass } else { &mut most };
                if reach.iter().any(|bound| bound.drawn == i) {
                    let (mut low, mut high) = within(limits[i], scale, &shift(row, drawn));
                    for bound in reach.iter().filter(|bound| bound.drawn == i) {
                        let j = bound.determined;
                        let shift = shift(&factor[j * n..j * n + i], drawn);
                        bound.narrow(limits[j], factor[j * n + i], &shift, &mut low, &mut high);
                    }
                    let (ends, own) = ((&low, &high), [0.0; LANES]);
                    lanes::moving_interval(ends, 1.0, &own, &points[i], counted, &mut rest[0]);
                } else if i == 0 {
                    let first = lanes::first_interval(limits[0], &points[0], &mut rest[0]);
                    *counted = [first; LANES];
                } else if i + 1 < n {
                    let shift = shift(row, drawn);
                    lanes::interval(limits[i], scale, &shift, &points[i], counted, &mut rest[0]);
                } else {
                    lanes::last_interval(limits[i], scale, &shift(row, drawn), counted);
                }
            }
            for (mass, most) in mass.iter_mut().zip(&most) {
                *mass *= most;
            }
            if reach.is_empty() {
                0.0
            } else {
                most.iter().sum()
            }
        })
    }
}

impl Reach {
    fn concerns(&self, i: usize) -> bool {
        self.drawn == i || self.determined == i
    }

    /// Narrows the ends between which a variable is drawn to what lets the
    /// determined one, `slope` times it plus `shift`, reach its interval.
    fn narrow(
        &self,
        limits: (f64, f64),
        slope: f64,
        shift: &Lanes,
        low: &mut Lanes,
        high: &mut Lanes,
    ) {
        let inverse = 1.0 / slope;
        for k in 0..LANES {
            let from = (limits.0 - self.width - shift[k]) * inverse;
            let to = (limits.1 + self.width - shift[k]) * inverse;
            low[k] = low[k].max(from.min(to));
            high[k] = high[k].min(from.max(to));
        }
    }
}

/// The ends of an interval for the variable's own draw, per point.
fn within((low, high): (f64, f64), scale: f64, shift: &Lanes) -> (Lanes, Lanes) {
    (
        shift.map(|by| (low - by) * scale),
        shift.map(|by| (high - by) * scale),
    )
}

/// Finds which variables are all but determined by which.
fn find_reach(scratch: &mut Scratch) {
    let n = scratch.order.len();
    let factor = &scratch.factor;
    scratch.reach.clear();
    for determined in 1..n {
        let row = &factor[determined * n..=determined * n + determined];
        let mut left = 0.0;
        for drawn in (0..determined).rev() {
            left += row[drawn + 1] * row[drawn + 1];
            let sd = left.sqrt();
            if sd >= NEAR {
                break;
            }
            if row[drawn].abs() > sd {
                scratch.reach.push(Reach {
                    drawn,
                    determined,
                    width: REACH * sd,
                });
            }
        }
    }
}

/// P(low < Z <= high) with full relative accuracy in both tails.
pub fn mass((low, high): (f64, f64)) -> f64 {
    let (low, high) = if low > 0.0 {
        (-high, -low)
    } else {
        (low, high)
    };
    (cdf(high) - cdf(low)).max(0.0)
}

/// The mean of Z between limits that hold the probability `inside`.
fn mean_inside((low, high): (f64, f64), inside: f64) -> f64 {
    if inside > f64::MIN_POSITIVE {
        ((density(low) - density(high)) / inside).clamp(low, high)
    } else if low.abs() < high.abs() {
        low
    } else {
        high
    }
}

#[cfg(test)]
mod tests;
