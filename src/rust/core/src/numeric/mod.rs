//! Continuous variables: the nearest record, the scale of changes, groups of similar records.
//!
//! A [`Metric`] says what the difference of two records costs, variable by variable: the sum
//! over variables of a function of the absolute difference that never falls, or of a constant
//! if a value is missing. Everything here is exact. Costs are summed in the order of the
//! variables, so that a bound of a box of records is never above the cost of one of them, not
//! even by rounding.

mod aggregate;
mod cells;
mod learn;
mod nearest;
#[cfg(test)]
mod tests;
mod tree;

pub use aggregate::{mdav, optimal_groups};
pub use learn::learn_scales;
pub use nearest::{nearest, Nearest};

use crate::error::{Error, Result};
use crate::memory::reserved;

/// Cost of an absolute difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Its square.
    Square,
    /// Itself.
    Absolute,
    /// This, if there is one.
    Differ(f64),
    /// Of `costs`, the one behind as many `edges` as are below it; rising, one more cost than
    /// edges.
    Steps {
        /// Differences at which the cost rises.
        edges: Vec<f64>,
        /// The cost up to the first edge, up to the second one, ...
        costs: Vec<f64>,
    },
}

/// The costs of one variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Dim {
    /// The cost of a difference.
    pub shape: Shape,
    /// The cost if a value is missing.
    pub missing: f64,
    /// Of [`Shape::Steps`] the edges below each cell of a grid of differences, so that few are
    /// left to look at, and the number of its cells in a difference of 1.
    below: Vec<u32>,
    per_gap: f64,
}

/// Cells of a grid of differences.
const CELLS: usize = 512;

impl Dim {
    /// # Errors
    ///
    /// Costs that fall, or are negative or infinite.
    pub fn new(shape: Shape, missing: f64) -> Result<Self> {
        let good = match &shape {
            Shape::Square | Shape::Absolute => true,
            Shape::Differ(cost) => cost.is_finite() && *cost >= 0.0,
            Shape::Steps { edges, costs } => {
                costs.len() == edges.len() + 1
                    && edges
                        .iter()
                        .chain(costs)
                        .all(|x| x.is_finite() && *x >= 0.0)
                    && edges.is_sorted()
                    && costs.is_sorted()
            }
        };
        if !good || !missing.is_finite() || missing < 0.0 {
            return Err(Error::BadArgument(
                "Costs of differences must be finite, at least 0, and never fall.".into(),
            ));
        }
        let mut dim = Self {
            shape,
            missing,
            below: Vec::new(),
            per_gap: 0.0,
        };
        if let Shape::Steps { edges, .. } = &dim.shape {
            let last = edges.last().copied().unwrap_or(0.0);
            if last > 0.0 {
                dim.per_gap = (CELLS as f64 / last).min(f64::MAX);
            }
            // The start of a cell, less than any rounding of a difference in it.
            let start = |cell: usize| cell as f64 / CELLS as f64 * last * (1.0 - 1e-9);
            let below = |cell| edges.partition_point(|&edge| edge < start(cell)) as u32;
            dim.below = (0..=CELLS).map(below).collect();
        }
        Ok(dim)
    }

    /// The cost of an absolute difference.
    #[inline]
    fn of_gap(&self, gap: f64) -> f64 {
        match &self.shape {
            Shape::Square => gap * gap,
            Shape::Absolute => gap,
            Shape::Differ(cost) => {
                if gap > 0.0 {
                    *cost
                } else {
                    0.0
                }
            }
            Shape::Steps { edges, costs } => {
                let cell = ((gap * self.per_gap) as usize).min(CELLS);
                let mut at = self.below[cell] as usize;
                while edges.get(at).is_some_and(|&edge| edge < gap) {
                    at += 1;
                }
                costs[at]
            }
        }
    }

    #[inline]
    fn cost(&self, x: f64, y: f64) -> f64 {
        let gap = (x - y).abs();
        if gap.is_nan() {
            self.missing
        } else {
            self.of_gap(gap)
        }
    }
}

/// The costs of all variables.
pub type Metric = Vec<Dim>;

#[inline]
fn cost_of(metric: &[Dim], x: &[f64], y: &[f64]) -> f64 {
    let terms = metric.iter().zip(x.iter().zip(y));
    terms.fold(0.0, |sum, (dim, (&x, &y))| sum + dim.cost(x, y))
}

/// Records of numbers, row by row; NaN is missing.
#[derive(Debug, Clone)]
pub struct Points {
    values: Vec<f64>,
    n_dims: usize,
}

impl Points {
    /// # Errors
    ///
    /// No columns, columns of different lengths, infinite values, or no memory.
    pub fn from_columns(columns: &[&[f64]]) -> Result<Self> {
        let n = columns.first().map_or(0, |column| column.len());
        if columns.is_empty() || columns.iter().any(|column| column.len() != n) {
            return Err(Error::BadArgument(
                "Records must have the same variables, at least one.".into(),
            ));
        }
        let mut values = reserved(n.saturating_mul(columns.len()))?;
        for row in 0..n {
            // Minus zero becomes zero.
            values.extend(columns.iter().map(|column| column[row] + 0.0));
        }
        if values.iter().any(|x| x.is_infinite()) {
            return Err(Error::bad_column("Values must be finite."));
        }
        Ok(Self {
            values,
            n_dims: columns.len(),
        })
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_dims
    }

    /// `true` without records.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    #[inline]
    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_dims..(row + 1) * self.n_dims]
    }
}
