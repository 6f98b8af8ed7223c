//! The nearest known record of every released one.

use std::cmp::Ordering;

use super::tree::{Side, Tree};
use super::{cost_of, Dim, Metric, Points};
use crate::error::Result;
use crate::memory::{collected, filled, reserved};
use crate::parallel::{blocks, try_map, Monitor};

/// What an intruder finds who takes the nearest known record, one element per released record.
#[derive(Debug, Default, PartialEq)]
pub struct Nearest {
    /// The least cost.
    pub first: Vec<f64>,
    /// The cost of the next record, `first` if several are nearest; infinite without one.
    pub second: Vec<f64>,
    /// How many known records are nearest.
    pub n_best: Vec<u64>,
    /// Whether the record of the same person is among them.
    pub true_in_best: Vec<bool>,
}

/// Costs that differ by less than this share are equal: they differ by rounding.
const ROUNDING: f64 = 1e-9;
/// And those below this: standardised values of records that are equal.
const NOTHING: f64 = 1e-24;

/// Released records that a thread takes at once.
const BLOCK: usize = 256;

/// The nearest of the `known` records of each released one by the `metric`; `partners` are the
/// known records of the same persons.
pub fn nearest(
    known: &Points,
    released: &Points,
    metric: &Metric,
    partners: Option<&[Option<usize>]>,
    monitor: &Monitor,
) -> Result<Nearest> {
    let known = Distinct::new(known)?;
    let asked = Distinct::new(released)?;
    let tree = Tree::new(&known.points, metric)?;
    let n = asked.points.len();
    monitor.set_total(n as u64);
    let found = try_map(blocks(n, BLOCK), monitor, |rows| {
        let search = Search {
            known: &known,
            tree: &tree,
            metric,
        };
        let steps = rows.len() as u64;
        let found: Vec<Best> = rows.map(|row| search.best(asked.points.row(row))).collect();
        monitor.advance(steps);
        Ok(found)
    })?;
    let found: Vec<Best> = found.into_iter().flatten().collect();
    let n = released.len();
    let mut out = Nearest {
        first: reserved(n)?,
        second: reserved(n)?,
        n_best: reserved(n)?,
        true_in_best: filled(false, n)?,
    };
    for row in 0..n {
        let best = &found[asked.number[row] as usize];
        out.first.push(best.first);
        out.second.push(best.second);
        out.n_best.push(best.n);
        if let Some(Some(partner)) = partners.map(|partners| partners[row]) {
            let partner = known.points.row(known.number[partner] as usize);
            let cost = cost_of(metric, partner, released.row(row));
            out.true_in_best[row] = cost <= best.radius;
        }
    }
    Ok(out)
}

/// Records without repetitions.
struct Distinct {
    points: Points,
    /// How many records each is.
    n: Vec<u64>,
    /// Which one each record is.
    number: Vec<u32>,
}

impl Distinct {
    fn new(points: &Points) -> Result<Self> {
        let n = points.len();
        let mut order: Vec<u32> = collected(0..n as u32, n)?;
        let compare = |&a: &u32, &b: &u32| {
            let pairs = points.row(a as usize).iter().zip(points.row(b as usize));
            pairs.fold(Ordering::Equal, |order, (a, b)| {
                order.then(compared(*a, *b))
            })
        };
        order.sort_unstable_by(compare);
        let mut out = Self {
            points: Points {
                values: reserved(points.values.len())?,
                n_dims: points.n_dims,
            },
            n: reserved(n)?,
            number: filled(0, n)?,
        };
        let mut last: Option<u32> = None;
        for &row in &order {
            if last.is_none_or(|last| compare(&last, &row).is_ne()) {
                out.points
                    .values
                    .extend_from_slice(points.row(row as usize));
                out.n.push(0);
            }
            let at = out.n.len() - 1;
            out.n[at] += 1;
            out.number[row as usize] = at as u32;
            last = Some(row);
        }
        Ok(out)
    }
}

/// All missing values are equal.
fn compared(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        _ => a.total_cmp(&b),
    }
}

struct Best {
    first: f64,
    second: f64,
    /// Costs up to this are as small as the first.
    radius: f64,
    n: u64,
}

struct Search<'a> {
    known: &'a Distinct,
    tree: &'a Tree,
    metric: &'a Metric,
}

impl Search<'_> {
    fn best(&self, query: &[f64]) -> Best {
        let mut two = Two {
            first: f64::INFINITY,
            second: f64::INFINITY,
            n: 0,
        };
        if !self.tree.nodes.is_empty() {
            self.look(0, self.least(0, query), query, &mut two);
        }
        let radius = two.first * (1.0 + ROUNDING) + NOTHING;
        let n = if two.second <= radius {
            self.within(0, query, radius)
        } else {
            two.n
        };
        let second = if n > 1 { two.first } else { two.second };
        Best {
            first: two.first,
            second,
            radius,
            n,
        }
    }

    /// The least cost of two distinct records of a node.
    fn look(&self, node: usize, bound: f64, query: &[f64], two: &mut Two) {
        if bound >= two.second {
            return;
        }
        let here = &self.tree.nodes[node];
        if here.children[0] == 0 {
            for &row in &self.tree.order[here.rows.clone()] {
                let row = row as usize;
                let cost = cost_of(self.metric, self.known.points.row(row), query);
                two.add(cost, self.known.n[row]);
            }
            return;
        }
        let [a, b] = here.children;
        let (of_a, of_b) = (self.least(a, query), self.least(b, query));
        let [(near, first), (far, then)] = if of_b < of_a {
            [(b, of_b), (a, of_a)]
        } else {
            [(a, of_a), (b, of_b)]
        };
        self.look(near, first, query, two);
        self.look(far, then, query, two);
    }

    /// How many records cost at most `radius`.
    fn within(&self, node: usize, query: &[f64], radius: f64) -> u64 {
        let here = &self.tree.nodes[node];
        let rows = &self.tree.order[here.rows.clone()];
        if self.least(node, query) > radius {
            0
        } else if self.most(node, query) <= radius {
            rows.iter().map(|&row| self.known.n[row as usize]).sum()
        } else if here.children[0] == 0 {
            let cost = |row: usize| cost_of(self.metric, self.known.points.row(row), query);
            let near = rows.iter().map(|&row| row as usize);
            near.filter(|&row| cost(row) <= radius)
                .map(|row| self.known.n[row])
                .sum()
        } else {
            let [a, b] = here.children;
            self.within(a, query, radius) + self.within(b, query, radius)
        }
    }

    fn least(&self, node: usize, query: &[f64]) -> f64 {
        self.bound(node, query, |dim, side, x| {
            let gap = (side.low - x).max(x - side.high).max(0.0);
            (dim.shape.cost(gap), f64::min)
        })
    }

    fn most(&self, node: usize, query: &[f64]) -> f64 {
        self.bound(node, query, |dim, side, x| {
            let gap = (x - side.low).abs().max((side.high - x).abs());
            (dim.shape.cost(gap), f64::max)
        })
    }

    /// The sum of bounds, each of the values and then with missing ones.
    #[inline]
    fn bound(
        &self,
        node: usize,
        query: &[f64],
        of: impl Fn(&Dim, &Side, f64) -> (f64, fn(f64, f64) -> f64),
    ) -> f64 {
        let sides = self.tree.sides(node).iter().zip(query);
        let terms = self.metric.iter().zip(sides);
        terms.fold(0.0, |sum, (dim, (side, &x))| {
            let term = if x.is_nan() || !side.has_values() {
                dim.missing
            } else {
                let (cost, join) = of(dim, side, x);
                if side.has_missing {
                    join(cost, dim.missing)
                } else {
                    cost
                }
            };
            sum + term
        })
    }
}

/// The two least costs so far, of distinct records.
struct Two {
    first: f64,
    second: f64,
    /// How many records the first is.
    n: u64,
}

impl Two {
    #[inline]
    fn add(&mut self, cost: f64, n: u64) {
        if cost < self.first {
            self.second = self.first;
            self.first = cost;
            self.n = n;
        } else if cost < self.second {
            self.second = cost;
        }
    }
}
