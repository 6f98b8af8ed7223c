//! A k-d tree: boxes of records, halved at the median of the widest variable.

use std::ops::Range;

use super::{Metric, Points, Shape};
use crate::error::Result;
use crate::memory::{collected, push};

/// Records of a leaf at most.
const LEAF: usize = 12;

/// The values of the records of a node in one variable.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    pub low: f64,
    pub high: f64,
    pub has_missing: bool,
}

impl Side {
    const EMPTY: Side = Side {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        has_missing: false,
    };

    pub fn add(&mut self, x: f64) {
        if x.is_nan() {
            self.has_missing = true;
        } else {
            self.low = self.low.min(x);
            self.high = self.high.max(x);
        }
    }

    pub fn has_values(&self) -> bool {
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
    /// Of each node the values in each variable, node by node.
    sides: Vec<Side>,
    pub order: Vec<u32>,
    n_dims: usize,
}

impl Tree {
    pub fn new(points: &Points, metric: &Metric) -> Result<Self> {
        let n = points.len();
        let mut tree = Tree {
            nodes: Vec::new(),
            sides: Vec::new(),
            order: collected(0..n as u32, n)?,
            n_dims: points.n_dims,
        };
        if n > 0 {
            tree.grow(points, metric)?;
        }
        Ok(tree)
    }

    pub fn sides(&self, node: usize) -> &[Side] {
        &self.sides[node * self.n_dims..(node + 1) * self.n_dims]
    }

    fn grow(&mut self, points: &Points, metric: &Metric) -> Result<()> {
        let mut open = vec![(0..points.len(), None)];
        while let Some((rows, place)) = open.pop() {
            let node = self.nodes.len();
            if let Some((parent, at)) = place {
                let parent: &mut Node = &mut self.nodes[parent];
                parent.children[at] = node;
            }
            let mut sides = vec![Side::EMPTY; self.n_dims];
            for &row in &self.order[rows.clone()] {
                let values = points.row(row as usize);
                for (side, &x) in sides.iter_mut().zip(values) {
                    side.add(x);
                }
            }
            let widest = widest(&sides, metric);
            for side in sides {
                push(&mut self.sides, side)?;
            }
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
            let middle = rows.len() / 2;
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
