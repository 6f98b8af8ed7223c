//! Continuous variables: the nearest record, the scale of changes, groups of similar records.
//!
//! A [`Metric`] says what the difference of two records costs, variable by variable: the sum
//! over variables of a function of the absolute difference that never falls, or of a constant
//! if a value is missing. Everything here is exact. Costs are summed in the order of the
//! variables, so that a bound of a box of records is never above the cost of one of them, not
//! even by rounding.

mod aggregate;
mod boxes;
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
    /// Of [`Shape::Steps`].
    grid: Option<Grid>,
}

/// Costs in steps by a grid of differences: cells that are a 32nd of their start wide, so that
/// few steps are in one, and that the leading bits of a difference tell.
#[derive(Debug, Clone, PartialEq)]
struct Grid {
    /// The starts of the first cell, which has all smaller differences too, and of the last one,
    /// above all edges.
    low: f64,
    high: f64,
    /// By cell, the edges below its start, and the cost there, the least in the cell.
    below: Vec<u32>,
    least: Box<[f64; CELLS]>,
}

/// Cells of a grid.
const CELLS: usize = 512;
/// The bits of a number behind its sign, its exponent and five of its digits.
const FINE: u32 = 47;

impl Grid {
    fn new(edges: &[f64], costs: &[f64]) -> Self {
        // An edge may be minus zero.
        let last = (edges.last().map_or(0, |last| last.abs().to_bits()) >> FINE) + 1;
        let first = last.saturating_sub(CELLS as u64 - 1);
        let mut grid = Self {
            low: f64::from_bits(first << FINE),
            high: f64::from_bits(last << FINE),
            below: vec![0; CELLS],
            least: Box::new([costs[0]; CELLS]),
        };
        for bits in first + 1..=last {
            let start = f64::from_bits(bits << FINE);
            let below = edges.partition_point(|&edge| edge < start);
            let cell = grid.cell(start);
            grid.below[cell] = below as u32;
            grid.least[cell] = costs[below];
        }
        grid
    }

    /// The cell of a difference. No two of so many that follow each other have one number.
    #[inline]
    fn cell(&self, gap: f64) -> usize {
        let gap = larger(gap, self.low);
        let gap = if gap < self.high { gap } else { self.high };
        (gap.to_bits() >> FINE) as usize % CELLS
    }
}

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
        let grid = match &shape {
            Shape::Steps { edges, costs } => Some(Grid::new(edges, costs)),
            _ => None,
        };
        Ok(Self {
            shape,
            missing,
            grid,
        })
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
                let below = |grid: &Grid| grid.below[grid.cell(gap)] as usize;
                let mut at = self.grid.as_ref().map_or(0, below);
                while edges.get(at).is_some_and(|&edge| edge < gap) {
                    at += 1;
                }
                costs[at]
            }
        }
    }

    /// The costs of differences, or less; of any difference from a known value at least `floor`.
    #[inline]
    fn least(&self, gaps: &mut [f64], floor: f64) {
        match (&self.shape, &self.grid) {
            (Shape::Square, _) => {
                for gap in gaps {
                    *gap *= *gap;
                }
            }
            (Shape::Differ(cost), _) => {
                for gap in gaps {
                    *gap = if *gap > 0.0 { *cost } else { floor };
                }
            }
            (_, Some(grid)) => {
                for gap in gaps {
                    *gap = larger(grid.least[grid.cell(*gap)], floor);
                }
            }
            _ => {}
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

/// The larger one, without a case for numbers that are missing.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b {
        a
    } else {
        b
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
