//! Microaggregation: groups of at least `k` similar records.

use super::tree::{Node, Side, Tree};
use super::{cost_of, Dim, Metric, Points, Shape};
use crate::error::{Error, Result};
use crate::memory::{filled, reserved};
use crate::parallel::Monitor;

/// The groups of MDAV (Domingo-Ferrer and Torra 2005), by number of record, from 0. While there
/// are 3k records, the one farthest from the mean of all that are left and its k - 1 nearest
/// make a group, and so do the one farthest from it and its k - 1 nearest. Of 2k to 3k - 1 the
/// first of the two and the rest. Equal distances go by the number of the record.
pub fn mdav(points: &Points, k: usize, monitor: &Monitor) -> Result<Vec<u32>> {
    let n = points.len();
    if k == 0 || n < k {
        return Err(Error::BadArgument(
            "There must be at least as many records as a group has.".into(),
        ));
    }
    let square = Dim {
        shape: Shape::Square,
        missing: 0.0,
    };
    let metric = vec![square; points.n_dims];
    let mut left = Left::new(points, &metric)?;
    let mut groups = Groups {
        of: filled(u32::MAX, n)?,
        n: 0,
    };
    monitor.set_total(n as u64);
    while left.n >= 2 * k {
        monitor.check()?;
        let farthest = left.farthest(&left.mean());
        let from = points.row(farthest);
        let second = (left.n >= 3 * k).then(|| left.farthest(from));
        groups.add(left.take_nearest(from, k));
        if let Some(second) = second {
            // It may be among the nearest of the first if most records are equal.
            let from = points.row(second);
            groups.add(left.take_nearest(from, k));
        }
        monitor.advance((2 * k) as u64);
    }
    let rest: Vec<usize> = (0..n).filter(|&row| left.alive[row]).collect();
    groups.add(rest);
    Ok(groups.of)
}

struct Groups {
    of: Vec<u32>,
    n: u32,
}

impl Groups {
    fn add(&mut self, rows: Vec<usize>) {
        if rows.is_empty() {
            return;
        }
        for row in rows {
            self.of[row] = self.n;
        }
        self.n += 1;
    }
}

/// The records that are in no group yet.
struct Left<'a> {
    points: &'a Points,
    metric: &'a Metric,
    tree: Tree,
    /// Of each node the number of the records left and the first of them, and the values of
    /// these, node by node.
    n_of: Vec<usize>,
    first: Vec<usize>,
    sides: Vec<Side>,
    parent: Vec<usize>,
    /// The leaf of each record.
    leaf: Vec<usize>,
    alive: Vec<bool>,
    n: usize,
    sums: Vec<f64>,
}

impl<'a> Left<'a> {
    fn new(points: &'a Points, metric: &'a Metric) -> Result<Self> {
        let tree = Tree::new(points, metric)?;
        let (n, n_nodes, n_dims) = (points.len(), tree.nodes.len(), points.n_dims);
        let mut parent = filled(usize::MAX, n_nodes)?;
        let mut leaf = filled(0, n)?;
        let mut sides = reserved(n_nodes * n_dims)?;
        let mut first = reserved(n_nodes)?;
        for (at, node) in tree.nodes.iter().enumerate() {
            sides.extend_from_slice(tree.sides(at));
            let rows = &tree.order[node.rows.clone()];
            first.push(rows.iter().min().map_or(0, |&row| row as usize));
            if node.children[0] == 0 {
                for &row in rows {
                    leaf[row as usize] = at;
                }
            } else {
                for child in node.children {
                    parent[child] = at;
                }
            }
        }
        let mut sums = vec![0.0; n_dims];
        for row in 0..n {
            for (sum, x) in sums.iter_mut().zip(points.row(row)) {
                *sum += x;
            }
        }
        Ok(Self {
            n_of: tree.nodes.iter().map(|node| node.rows.len()).collect(),
            points,
            metric,
            tree,
            first,
            sides,
            parent,
            leaf,
            alive: filled(true, n)?,
            n,
            sums,
        })
    }

    fn mean(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.n as f64).collect()
    }

    fn sides(&self, node: usize) -> &[Side] {
        let n_dims = self.points.n_dims;
        &self.sides[node * n_dims..(node + 1) * n_dims]
    }

    fn cost(&self, row: usize, from: &[f64]) -> f64 {
        cost_of(self.metric, self.points.row(row), from)
    }

    fn bound(&self, node: usize, from: &[f64], gap: impl Fn(&Side, f64) -> f64) -> f64 {
        let sides = self.sides(node).iter().zip(from);
        sides.fold(0.0, |sum, (side, &x)| {
            let gap = gap(side, x);
            sum + gap * gap
        })
    }

    fn least(&self, node: usize, from: &[f64]) -> f64 {
        self.bound(node, from, |side, x| {
            (side.low - x).max(x - side.high).max(0.0)
        })
    }

    fn most(&self, node: usize, from: &[f64]) -> f64 {
        self.bound(node, from, |side, x| (x - side.low).max(side.high - x))
    }

    fn rows(&self, node: &Node) -> impl Iterator<Item = usize> + '_ {
        let rows = self.tree.order[node.rows.clone()].iter();
        rows.map(|&row| row as usize).filter(|&row| self.alive[row])
    }

    /// The record farthest from a point, the first of several.
    fn farthest(&self, from: &[f64]) -> usize {
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        let mut open = vec![(self.most(0, from), 0)];
        while let Some((bound, at)) = open.pop() {
            if !is_farther((bound, self.first[at]), best) {
                continue;
            }
            let node = &self.tree.nodes[at];
            if node.children[0] == 0 {
                for row in self.rows(node) {
                    let here = (self.cost(row, from), row);
                    if is_farther(here, best) {
                        best = here;
                    }
                }
                continue;
            }
            let mut next = node
                .children
                .map(|child| (self.bound_of(child, from), child));
            if next[0].0 > next[1].0 {
                next.swap(0, 1);
            }
            open.extend(next.into_iter().filter(|&(_, child)| self.n_of[child] > 0));
        }
        best.1
    }

    fn bound_of(&self, node: usize, from: &[f64]) -> f64 {
        if self.n_of[node] == 0 {
            f64::NEG_INFINITY
        } else {
            self.most(node, from)
        }
    }

    /// Takes the `k` records nearest to a point, the first ones of several.
    fn take_nearest(&mut self, from: &[f64], k: usize) -> Vec<usize> {
        let mut best: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
        let mut open = vec![(0.0, 0)];
        while let Some((bound, at)) = open.pop() {
            if best.len() == k && !is_nearer((bound, self.first[at]), best[k - 1]) {
                continue;
            }
            let node = &self.tree.nodes[at];
            if node.children[0] == 0 {
                for row in self.rows(node) {
                    let here = (self.cost(row, from), row);
                    if best.len() < k || is_nearer(here, best[k - 1]) {
                        let place = best.partition_point(|&other| is_nearer(other, here));
                        best.insert(place, here);
                        best.truncate(k);
                    }
                }
                continue;
            }
            let mut next = node.children.map(|child| (self.least(child, from), child));
            if next[0].0 < next[1].0 {
                next.swap(0, 1);
            }
            open.extend(next.into_iter().filter(|&(_, child)| self.n_of[child] > 0));
        }
        let rows: Vec<usize> = best.into_iter().map(|(_, row)| row).collect();
        for &row in &rows {
            self.remove(row);
        }
        rows
    }

    fn remove(&mut self, row: usize) {
        self.alive[row] = false;
        self.n -= 1;
        for (sum, x) in self.sums.iter_mut().zip(self.points.row(row)) {
            *sum -= x;
        }
        let mut at = self.leaf[row];
        loop {
            self.shrink(at);
            if at == 0 {
                return;
            }
            at = self.parent[at];
        }
    }

    /// Counts and bounds a node anew, after its children.
    fn shrink(&mut self, at: usize) {
        let node = &self.tree.nodes[at];
        let n_dims = self.points.n_dims;
        self.n_of[at] -= 1;
        let mut first = usize::MAX;
        let mut sides = vec![EMPTY; n_dims];
        if node.children[0] == 0 {
            for row in self.rows(node) {
                first = first.min(row);
                for (side, &x) in sides.iter_mut().zip(self.points.row(row)) {
                    side.add(x);
                }
            }
        } else {
            for child in node.children {
                if self.n_of[child] == 0 {
                    continue;
                }
                first = first.min(self.first[child]);
                for (side, of) in sides.iter_mut().zip(self.sides(child)) {
                    side.low = side.low.min(of.low);
                    side.high = side.high.max(of.high);
                }
            }
        }
        self.first[at] = first;
        self.sides[at * n_dims..(at + 1) * n_dims].copy_from_slice(&sides);
    }
}

const EMPTY: Side = Side {
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
    has_missing: false,
};

fn is_nearer(a: (f64, usize), b: (f64, usize)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()
}

fn is_farther(a: (f64, usize), b: (f64, usize)) -> bool {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).is_lt()
}

/// The groups of at least `k` neighbours among rising values with the least sum of squares about
/// their weighted means (Hansen and Mukherjee 2003): no group of an optimum has 2k or more. The
/// ends of the groups.
pub fn optimal_groups(
    values: &[f64],
    weights: &[f64],
    k: usize,
    monitor: &Monitor,
) -> Result<Vec<usize>> {
    let n = values.len();
    if k == 0 || n < k || weights.len() != n {
        return Err(Error::BadArgument(
            "There must be at least as many records as a group has.".into(),
        ));
    }
    // Of the first records, the least sum and the size of the last group.
    let mut least = filled(f64::INFINITY, n + 1)?;
    let mut size = filled(0usize, n + 1)?;
    least[0] = 0.0;
    for end in k..=n {
        if end % (1 << 16) == 0 {
            monitor.check()?;
        }
        let (mut weight, mut mean, mut sum) = (0.0, 0.0, 0.0);
        for s in 1..=(2 * k - 1).min(end) {
            let (x, w) = (values[end - s], weights[end - s]);
            weight += w;
            let apart = x - mean;
            mean += apart * w / weight;
            sum += w * apart * (x - mean);
            let cost = least[end - s] + sum;
            if s >= k && cost < least[end] {
                least[end] = cost;
                size[end] = s;
            }
        }
    }
    let mut ends = Vec::new();
    let mut end = n;
    while end > 0 {
        ends.push(end);
        if size[end] == 0 {
            return Err(Error::BadArgument("Sums of squares must be finite.".into()));
        }
        end -= size[end];
    }
    ends.reverse();
    Ok(ends)
}
