//! Microaggregation: groups of at least `k` similar records.

use super::tree::Tree;
use super::{larger, Dim, Points, Shape};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, reserved};
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
    let mut left = Left::new(points)?;
    let mut groups = filled(u32::MAX, n)?;
    let mut group = 0;
    monitor.set_total(n as u64);
    while left.n >= 2 * k {
        monitor.check()?;
        left.move_centre();
        let one = left.farthest(&left.mean());
        let mut seeds = vec![one];
        if left.n >= 3 * k {
            seeds.push(left.farthest(points.row(one)));
        }
        // The second may be among the nearest of the first if most records are equal.
        for seed in seeds {
            for row in left.take_nearest(points.row(seed), k) {
                groups[row] = group;
            }
            group += 1;
        }
        monitor.advance((2 * k) as u64);
    }
    for of in groups.iter_mut().filter(|of| **of == u32::MAX) {
        *of = group;
    }
    Ok(groups)
}

/// A record in the order of the tree.
#[derive(Clone, Copy)]
struct Record {
    row: u32,
    /// The square of its distance from the centre.
    reach: f64,
}

/// A node of the tree without the records that were taken.
struct Part {
    /// The records of a leaf: those left come first.
    start: usize,
    n: usize,
    children: [usize; 2],
    parent: usize,
    /// Side of its parent.
    side: usize,
    /// Of each child the first record left, or [`u32::MAX`], and the largest reach.
    first: [u32; 2],
    reach: [f64; 2],
    /// The place of the values of its children.
    sides: usize,
}

/// The least and the largest value of the records left in each of two children.
#[derive(Clone, Copy)]
struct Sides {
    low: [f64; 2],
    high: [f64; 2],
}

/// The records that are in no group yet.
struct Left<'a> {
    points: &'a Points,
    /// Records and their values in the order of the tree.
    records: Vec<Record>,
    values: Vec<f64>,
    parts: Vec<Part>,
    /// By parent and variable.
    sides: Vec<Sides>,
    /// The leaf of each record.
    leaf: Vec<u32>,
    n: usize,
    sums: Vec<f64>,
    /// The mean when so many records were left.
    centre: Vec<f64>,
    n_at_centre: usize,
}

impl<'a> Left<'a> {
    fn new(points: &'a Points) -> Result<Self> {
        let square = Dim::new(Shape::Square, 0.0)?;
        let (n, n_dims) = (points.len(), points.n_dims);
        let tree = Tree::new(points, &vec![square; n_dims])?;
        let mut leaf = filled(0, n)?;
        let mut parts: Vec<Part> = reserved(tree.nodes.len())?;
        let mut n_sides = 0;
        for (at, node) in tree.nodes.iter().enumerate() {
            parts.push(Part {
                start: node.rows.start,
                n: node.rows.len(),
                children: node.children,
                parent: 0,
                side: 0,
                first: [u32::MAX; 2],
                reach: [0.0; 2],
                sides: n_sides,
            });
            if node.children[0] == 0 {
                for &row in &tree.order[node.rows.clone()] {
                    leaf[row as usize] = at as u32;
                }
            } else {
                n_sides += n_dims;
            }
        }
        for at in 0..parts.len() {
            for (side, child) in parts[at].children.into_iter().enumerate() {
                if child > 0 {
                    (parts[child].parent, parts[child].side) = (at, side);
                }
            }
        }
        let mut values = reserved(n * n_dims)?;
        for &row in &tree.order {
            values.extend_from_slice(points.row(row as usize));
        }
        let mut sums = vec![0.0; n_dims];
        for row in 0..n {
            add(&mut sums, points.row(row), 1.0);
        }
        let nothing = Sides {
            low: [f64::INFINITY; 2],
            high: [f64::NEG_INFINITY; 2],
        };
        let record = |&row| Record { row, reach: 0.0 };
        Ok(Self {
            points,
            records: collected(tree.order.iter().map(record), n)?,
            values,
            parts,
            sides: filled(nothing, n_sides)?,
            leaf,
            n,
            sums,
            centre: Vec::new(),
            n_at_centre: usize::MAX,
        })
    }

    fn mean(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.n as f64).collect()
    }

    /// Takes the mean for the centre if it may have moved far.
    fn move_centre(&mut self) {
        if self.n > self.n_at_centre - self.n_at_centre / 32 {
            return;
        }
        self.centre = self.mean();
        self.n_at_centre = self.n;
        let rows = self.values.chunks_exact(self.points.n_dims);
        for (record, values) in self.records.iter_mut().zip(rows) {
            record.reach = square(values, &self.centre);
        }
        // Children come after their parents.
        for at in (1..self.parts.len()).rev() {
            self.tell_parent(at);
        }
    }

    /// The sides of the children of a part, by variable.
    #[inline]
    fn sides(&self, part: &Part) -> &[Sides] {
        &self.sides[part.sides..][..self.points.n_dims]
    }

    /// Looks at the parts that `may` hold what is sought, from the one with the least of
    /// `costs`, and shows the records of leaves with their squared distances to `see`.
    fn search<S>(
        &self,
        from: &[f64],
        sought: &mut S,
        costs: impl Fn(&Part) -> [f64; 2],
        may: impl Fn(&S, Place) -> bool,
        see: impl Fn(&mut S, Place),
    ) {
        let n_dims = self.points.n_dims;
        let mut open = Vec::with_capacity(64);
        open.push(((f64::NEG_INFINITY, 0), 0));
        while let Some((bound, at)) = open.pop() {
            if !may(sought, bound) {
                continue;
            }
            let part = &self.parts[at];
            if part.children[0] == 0 {
                let rows = part.start..part.start + part.n;
                let values = self.values[rows.start * n_dims..].chunks_exact(n_dims);
                for (record, values) in self.records[rows].iter().zip(values) {
                    see(sought, (square(values, from), record.row));
                }
                continue;
            }
            let costs = costs(part);
            let last = usize::from(costs[1] < costs[0]);
            for side in [1 - last, last] {
                let bound = (costs[side], part.first[side]);
                if bound.1 != u32::MAX && may(sought, bound) {
                    open.push((bound, part.children[side]));
                }
            }
        }
    }

    /// The record farthest from a point, the first of several.
    fn farthest(&self, from: &[f64]) -> usize {
        let centre = self.centre.iter().zip(from);
        let about: Vec<[f64; 3]> = centre.map(|(&c, &x)| [x, c, c - x]).collect();
        let apart = square(&self.centre, from);
        // Negative: the farthest record has the least cost.
        let costs = |part: &Part| {
            let (mut of_box, mut along) = ([0.0; 2], [0.0; 2]);
            for (sides, &[x, c, away]) in self.sides(part).iter().zip(&about) {
                for side in 0..2 {
                    let (low, high) = (sides.low[side], sides.high[side]);
                    let gap = larger(x - low, high - x);
                    of_box[side] += gap * gap;
                    along[side] += larger((low - c) * away, (high - c) * away);
                }
            }
            // The square of a sum, with the centre between the two; larger than all rounding.
            for side in 0..2 {
                let sum = (part.reach[side] + apart) * (1.0 + 1e-12) + 2.0 * along[side];
                of_box[side] = -sum.min(of_box[side]);
            }
            of_box
        };
        let mut best = (f64::INFINITY, u32::MAX);
        let may = |best: &Place, bound| is_nearer(bound, *best);
        self.search(from, &mut best, costs, may, |best, (cost, row)| {
            if is_nearer((-cost, row), *best) {
                *best = (-cost, row);
            }
        });
        best.1 as usize
    }

    /// Takes the `k` records nearest to a point, the first ones of several.
    fn take_nearest(&mut self, from: &[f64], k: usize) -> Vec<usize> {
        let costs = |part: &Part| {
            let mut costs = [0.0; 2];
            for (sides, &x) in self.sides(part).iter().zip(from) {
                for (side, cost) in costs.iter_mut().enumerate() {
                    let gap = larger(larger(sides.low[side] - x, x - sides.high[side]), 0.0);
                    *cost += gap * gap;
                }
            }
            costs
        };
        let mut best = vec![(f64::INFINITY, u32::MAX); k];
        let may = |best: &Vec<Place>, bound| is_nearer(bound, best[k - 1]);
        self.search(from, &mut best, costs, may, |best, here| {
            if is_nearer(here, best[k - 1]) {
                let place = best.partition_point(|&other| is_nearer(other, here));
                best[place..].rotate_right(1);
                best[place] = here;
            }
        });
        let rows: Vec<usize> = best.into_iter().map(|(_, row)| row as usize).collect();
        for &row in &rows {
            self.remove(row);
        }
        rows
    }

    fn remove(&mut self, row: usize) {
        self.n -= 1;
        add(&mut self.sums, self.points.row(row), -1.0);
        let mut at = self.leaf[row] as usize;
        // The last record of the leaf takes its place.
        let leaf = &mut self.parts[at];
        leaf.n -= 1;
        let (start, last) = (leaf.start, leaf.start + leaf.n);
        let here = (start..last).find(|&place| self.records[place].row as usize == row);
        if let Some(here) = here {
            let n_dims = self.points.n_dims;
            self.records[here] = self.records[last];
            self.values
                .copy_within(last * n_dims..(last + 1) * n_dims, here * n_dims);
        }
        while at > 0 && self.tell_parent(at) {
            at = self.parts[at].parent;
        }
    }

    /// Reports the rest of a part to its parent; `true` if it is new.
    fn tell_parent(&mut self, at: usize) -> bool {
        let n_dims = self.points.n_dims;
        let part = &self.parts[at];
        let (parent, side) = (part.parent, part.side);
        let rows = part.start..part.start + part.n;
        let is_leaf = part.children[0] == 0;
        let (first, reach) = if is_leaf {
            let records = self.records[rows.clone()].iter();
            records.fold((u32::MAX, 0.0), |(first, reach), record| {
                (first.min(record.row), larger(reach, record.reach))
            })
        } else {
            let ([a, b], [c, d]) = (part.first, part.reach);
            (a.min(b), larger(c, d))
        };
        let values = &self.values[rows.start * n_dims..rows.end * n_dims];
        let (own, told) = (part.sides, self.parts[parent].sides);
        let mut new = false;
        for v in 0..n_dims {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            if is_leaf {
                for row in values.chunks_exact(n_dims) {
                    low = -larger(-low, -row[v]);
                    high = larger(high, row[v]);
                }
            } else {
                let Sides {
                    low: [a, b],
                    high: [c, d],
                } = self.sides[own + v];
                (low, high) = (-larger(-a, -b), larger(c, d));
            }
            let sides = &mut self.sides[told + v];
            new |= low > sides.low[side] || high < sides.high[side];
            (sides.low[side], sides.high[side]) = (low, high);
        }
        let parent = &mut self.parts[parent];
        new |= first != parent.first[side] || reach < parent.reach[side];
        (parent.first[side], parent.reach[side]) = (first, reach);
        new
    }
}

/// A squared distance and a record.
type Place = (f64, u32);

#[inline]
fn square(x: &[f64], y: &[f64]) -> f64 {
    let gaps = x.iter().zip(y).map(|(x, y)| x - y);
    gaps.fold(0.0, |sum, gap| sum + gap * gap)
}

fn add(sums: &mut [f64], values: &[f64], times: f64) {
    for (sum, x) in sums.iter_mut().zip(values) {
        *sum += times * x;
    }
}

#[inline]
fn is_nearer(a: Place, b: Place) -> bool {
    a.0 < b.0 || (a.0 <= b.0 && a.1 < b.1)
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
