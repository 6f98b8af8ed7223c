//! Boxes of records, and of boxes, by eights, whose bounds are computed together.

use std::ops::Range;

use super::tree::LEAF;
use super::{larger, Metric, Points};
use crate::error::Result;
use crate::memory::filled;

/// A number of each box of a block: loops over them become instructions that take several.
pub type Lanes = [f64; LEAF];

/// Boxes of [`LEAF`] boxes of the level below; on the lowest one, of one record.
pub struct Level {
    /// Number of boxes, and of records in a full one.
    n: usize,
    size: usize,
    n_dims: usize,
    /// By block and variable the lowest and highest values; infinity and minus infinity without
    /// any, but those of one record are equal and kept once.
    low: Vec<Lanes>,
    high: Vec<Lanes>,
    /// By block and variable, the boxes in which a value is missing, one a bit.
    missing: Vec<u8>,
}

/// A released record.
pub struct Query<'a> {
    pub values: &'a [f64],
    /// By variable, the cost of the least difference from any known value: a box does not tell
    /// that none of its records is equal.
    pub floors: &'a [f64],
}

/// The levels of the records in this order, the last of a single block.
pub fn levels(points: &Points) -> Result<Vec<Level>> {
    let mut top = Level::of_records(points)?;
    let mut levels = Vec::new();
    while top.n > LEAF {
        let above = top.above()?;
        levels.push(std::mem::replace(&mut top, above));
    }
    levels.push(top);
    Ok(levels)
}

impl Level {
    /// Each record is a box.
    fn of_records(points: &Points) -> Result<Self> {
        let n_dims = points.n_dims;
        let mut level = Self::empty(points.len(), 1, n_dims)?;
        for row in 0..points.len() {
            let (block, lane) = (row / LEAF, row % LEAF);
            for (v, &x) in points.row(row).iter().enumerate() {
                if x.is_nan() {
                    level.missing[block * n_dims + v] |= 1 << lane;
                } else {
                    level.low[block * n_dims + v][lane] = x;
                }
            }
        }
        Ok(level)
    }

    fn empty(n: usize, size: usize, n_dims: usize) -> Result<Self> {
        let n_lanes = n.div_ceil(LEAF).max(1) * n_dims;
        Ok(Self {
            n,
            size,
            n_dims,
            low: filled([f64::INFINITY; LEAF], n_lanes)?,
            high: Vec::new(),
            missing: filled(0, n_lanes)?,
        })
    }

    /// The level above.
    fn above(&self) -> Result<Self> {
        let n_dims = self.n_dims;
        let mut level = Self::empty(self.n.div_ceil(LEAF), self.size * LEAF, n_dims)?;
        level.high = filled([f64::NEG_INFINITY; LEAF], level.low.len())?;
        for block in 0..level.n {
            let lane = block % LEAF;
            for v in 0..n_dims {
                let from = block * n_dims + v;
                let to = block / LEAF * n_dims + v;
                let (low, high) = self.sides(from);
                // Without a value the highest is infinite, of either sign.
                let values = high.iter().copied().filter(|x| x.is_finite());
                level.low[to][lane] = low.iter().copied().fold(f64::INFINITY, f64::min);
                level.high[to][lane] = values.fold(f64::NEG_INFINITY, f64::max);
                level.missing[to] |= u8::from(self.missing[from] != 0) << lane;
            }
        }
        Ok(level)
    }

    /// The boxes of a block.
    pub fn boxes(&self, block: usize) -> Range<usize> {
        block * LEAF..((block + 1) * LEAF).min(self.n)
    }

    /// The records of a box, of `n`.
    pub fn rows(&self, at: usize, n: usize) -> Range<usize> {
        at * self.size..((at + 1) * self.size).min(n)
    }

    #[inline]
    fn sides(&self, at: usize) -> (&Lanes, &Lanes) {
        let low = &self.low[at];
        (low, self.high.get(at).unwrap_or(low))
    }

    /// At most the costs of the records of each box of a block; infinite where there is no box.
    #[inline]
    pub fn bounds(&self, block: usize, metric: &Metric, query: &Query) -> Lanes {
        let mut sums = [0.0; LEAF];
        for (v, dim) in metric.iter().enumerate() {
            let at = block * self.n_dims + v;
            let (low, high) = self.sides(at);
            let (x, floor) = (query.values[v], query.floors[v]);
            let mut costs = [dim.missing; LEAF];
            if !x.is_nan() {
                for (i, gap) in costs.iter_mut().enumerate() {
                    *gap = larger(larger(low[i] - x, x - high[i]), 0.0);
                }
                dim.least(&mut costs, floor);
                if self.missing[at] != 0 {
                    for (i, cost) in costs.iter_mut().enumerate() {
                        if self.missing[at] >> i & 1 == 1 {
                            *cost = cost.min(dim.missing);
                        }
                    }
                }
            }
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += costs[i];
            }
        }
        let n = self.boxes(block).len();
        for sum in &mut sums[n..] {
            *sum = f64::INFINITY;
        }
        sums
    }

    /// At least the costs of the records of a box.
    pub fn most(&self, at: usize, metric: &Metric, query: &Query) -> f64 {
        let (block, lane) = (at / LEAF, at % LEAF);
        let mut sum = 0.0;
        for (v, dim) in metric.iter().enumerate() {
            let at = block * self.n_dims + v;
            let (low, high) = self.sides(at);
            let (low, high, x) = (low[lane], high[lane], query.values[v]);
            sum += if x.is_nan() || low.is_infinite() {
                dim.missing
            } else {
                let cost = dim.of_gap((x - low).abs().max((high - x).abs()));
                match self.missing[at] >> lane & 1 {
                    0 => cost,
                    _ => cost.max(dim.missing),
                }
            };
        }
        sum
    }
}
