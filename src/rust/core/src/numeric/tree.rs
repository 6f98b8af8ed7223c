//! A k-d tree: boxes of records, halved at the median of the widest variable.

use std::ops::Range;

use super::{Metric, Points, Shape};
use crate::error::Result;
use crate::memory::{collected, push};

/// Records of a leaf at most.
pub const LEAF: usize = 8;

/// The values of the records of a node in one variable.
#[derive(Debug, Clone, Copy)]
struct Side {
    low: f64,
    high: f64,
    has_missing: bool,
}

impl Side {
    const EMPTY: Side = Side {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        has_missing: false,
    };

    fn add(&mut self, x: f64) {
        if x.is_nan() {
            self.has_missing = true;
        } else {
            self.low = self.low.min(x);
            self.high = self.high.max(x);
        }
    }

    fn has_values(&self) -> bool {
        self.low <= self.high
    }
}

#[derive(Debug)]
pub struct Node {
    /// Its records in [`Tree::order`].
    pub rows: Range<usize>,
    /// The two nodes it is made of; 0 for leaves.
    pub children: [usize; 2],
}

#[derive(Debug)]
pub struct Tree {
    /// Node 0 has all records.
    pub nodes: Vec<Node>,
    pub order: Vec<u32>,
}

impl Tree {
    pub fn new(points: &Points, metric: &Metric) -> Result<Self> {
        let n = points.len();
        let mut tree = Tree {
            nodes: Vec::new(),
            order: collected(0..n as u32, n)?,
        };
        if n > 0 {
            tree.grow(points, metric)?;
        }
        Ok(tree)
    }

    fn grow(&mut self, points: &Points, metric: &Metric) -> Result<()> {
        let mut open = vec![(0..points.len(), None)];
        while let Some((rows, place)) = open.pop() {
            let node = self.nodes.len();
            if let Some((parent, at)) = place {
                let parent: &mut Node = &mut self.nodes[parent];
                parent.children[at] = node;
            }
            let mut sides = vec![Side::EMPTY; points.n_dims];
            for &row in &self.order[rows.clone()] {
                let values = points.row(row as usize);
                for (side, &x) in sides.iter_mut().zip(values) {
                    side.add(x);
                }
            }
            let widest = widest(&sides, metric);
            let leaf = rows.len() <= LEAF || widest.is_none();
            push(
                &mut self.nodes,
                Node {
                    rows: rows.clone(),
                    children: [0, 0],
                },
            )?;
            let (false, Some(dim)) = (leaf, widest) else {
                continue;
            };
            let middle = half(rows.len());
            let value = |row: u32| points.row(row as usize)[dim];
            self.order[rows.clone()].select_nth_unstable_by(middle, |&a, &b| {
                value(a).total_cmp(&value(b)).then(a.cmp(&b))
            });
            let middle = rows.start + middle;
            open.push((middle..rows.end, Some((node, 1))));
            open.push((rows.start..middle, Some((node, 0))));
        }
        Ok(())
    }
}

/// The variable in which records cost most to exchange; `None` if all are equal.
fn widest(sides: &[Side], metric: &Metric) -> Option<usize> {
    let width = |(side, dim): (&Side, &super::Dim)| {
        let apart = if side.high > side.low {
            match dim.shape {
                Shape::Differ(cost) => cost.sqrt(),
                _ => side.high - side.low,
            }
        } else {
            0.0
        };
        if side.has_missing && side.has_values() {
            apart.max(dim.missing.sqrt())
        } else {
            apart
        }
    };
    let widths = sides.iter().zip(metric).map(width).enumerate();
    widths
        .filter(|&(_, width)| width > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        .map(|(dim, _)| dim)
}

/// About half of `n`, so that all leaves but the last are full, and so are boxes of so many
/// leaves, and of so many boxes.
fn half(n: usize) -> usize {
    let mut full = LEAF;
    while full * LEAF < n {
        full *= LEAF;
    }
    n.div_ceil(full) / 2 * full
}
