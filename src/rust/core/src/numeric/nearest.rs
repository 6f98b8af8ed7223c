//! The nearest known record of every released one.

use std::cmp::Ordering;

use super::cells::{Asked, Cells};
use super::tree::{Side, Tree};
use super::{cost_of, Metric, Points, Shape};
use crate::error::Result;
use crate::memory::{collected, filled, reserved};
use crate::parallel::{try_map, Monitor};

/// Result of an intruder who takes the nearest known record, one element per released record.
#[derive(Debug, Default, PartialEq)]
pub struct Nearest {
    /// The least cost.
    pub first: Vec<f64>,
    /// The cost of the next record, `first` if several are nearest; infinite without one.
    pub second: Vec<f64>,
    /// Number of known records that are nearest.
    pub n_best: Vec<u64>,
    /// `true` if the record of the same person is among them.
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
    let search = Search::new(&known, metric)?;
    // Records that are near to each other look at the same part of memory.
    let order = Tree::new(&asked.points, metric)?.order;
    let n = order.len();
    monitor.set_total(n as u64);
    let parts = try_map(order.chunks(BLOCK), monitor, |rows| {
        let best = |&row: &u32| search.best(asked.points.row(row as usize));
        let found: Vec<Best> = rows.iter().map(best).collect();
        monitor.advance(rows.len() as u64);
        Ok(found)
    })?;
    let mut found = filled(Best::default(), n)?;
    for (&row, best) in order.iter().zip(parts.into_iter().flatten()) {
        found[row as usize] = best;
    }
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
    /// Number of records of each.
    n: Vec<u64>,
    /// Number of each record's pattern.
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

#[derive(Clone, Copy, Default)]
struct Best {
    first: f64,
    second: f64,
    /// Costs up to this are as small as the first.
    radius: f64,
    n: u64,
}

struct Search<'a> {
    metric: &'a Metric,
    tree: Tree,
    /// The distinct known records and how many each is, in the order of the tree.
    values: Vec<f64>,
    n: Vec<u64>,
    /// The known values of each variable, rising.
    columns: Vec<Vec<f64>>,
    /// For costs that take long to look up.
    cells: Option<Cells>,
}

/// A released record.
struct Query<'a> {
    values: &'a [f64],
    /// By variable the least difference from any known record: a box of records does not tell
    /// that none is equal.
    least: Vec<f64>,
    asked: Option<Asked>,
}

impl<'a> Search<'a> {
    fn new(known: &Distinct, metric: &'a Metric) -> Result<Self> {
        let tree = Tree::new(&known.points, metric)?;
        let mut values = reserved(known.points.values.len())?;
        for &row in &tree.order {
            values.extend_from_slice(known.points.row(row as usize));
        }
        let n = tree.order.iter().map(|&row| known.n[row as usize]);
        let columns = (0..metric.len()).map(|v| {
            let column = values.iter().copied().skip(v).step_by(metric.len());
            let mut rising = collected(column.filter(|x| !x.is_nan()), known.n.len())?;
            rising.sort_unstable_by(f64::total_cmp);
            Ok(rising)
        });
        let columns = columns.collect::<Result<Vec<Vec<f64>>>>()?;
        let has_steps = metric
            .iter()
            .any(|dim| matches!(dim.shape, Shape::Steps { .. }));
        let cells = match has_steps {
            true => Some(Cells::new(&tree, &values, &columns)?),
            false => None,
        };
        Ok(Self {
            columns,
            cells,
            metric,
            values,
            n: collected(n, known.n.len())?,
            tree,
        })
    }

    /// The cost of a record in the order of the tree; part of it, from `limit` on, if it is more.
    #[inline]
    fn cost(&self, place: usize, query: &Query, limit: f64) -> f64 {
        if let (Some(cells), Some(asked)) = (&self.cells, &query.asked) {
            let bound = cells.of_row(place, asked);
            if bound > limit {
                return bound;
            }
        }
        let n_dims = query.values.len();
        let values = &self.values[place * n_dims..][..n_dims];
        let mut cost = 0.0;
        for (v, dim) in self.metric.iter().enumerate() {
            cost += dim.cost(values[v], query.values[v]);
            if cost > limit {
                break;
            }
        }
        cost
    }

    fn best(&self, values: &[f64]) -> Best {
        let columns = self.columns.iter().zip(self.metric).zip(values);
        let least = columns.map(|((column, dim), &x)| {
            // Worth the search only if costs jump.
            if matches!(dim.shape, Shape::Square | Shape::Absolute) {
                return 0.0;
            }
            let at = column.partition_point(|&other| other < x);
            let around = &column[at.saturating_sub(1)..(at + 1).min(column.len())];
            let gaps = around.iter().map(|other| (x - other).abs());
            gaps.fold(f64::INFINITY, f64::min)
        });
        let least: Vec<f64> = least.collect();
        let cells = self.cells.as_ref();
        let query = &Query {
            values,
            asked: cells.map(|cells| cells.ask(self.metric, values, &least)),
            least,
        };
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
    fn look(&self, node: usize, bound: f64, query: &Query, two: &mut Two) {
        if bound >= two.second {
            return;
        }
        let here = &self.tree.nodes[node];
        if here.children[0] == 0 {
            for place in here.rows.clone() {
                two.add(self.cost(place, query, two.second), self.n[place]);
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

    /// Number of records that cost at most `radius`.
    fn within(&self, node: usize, query: &Query, radius: f64) -> u64 {
        let here = &self.tree.nodes[node];
        let rows = here.rows.clone();
        if self.least(node, query) > radius {
            0
        } else if self.most(node, query) <= radius {
            self.n[rows].iter().sum()
        } else if here.children[0] == 0 {
            let near = rows.filter(|&place| self.cost(place, query, radius) <= radius);
            near.map(|place| self.n[place]).sum()
        } else {
            let [a, b] = here.children;
            self.within(a, query, radius) + self.within(b, query, radius)
        }
    }

    fn least(&self, node: usize, query: &Query) -> f64 {
        if let (Some(cells), Some(asked)) = (&self.cells, &query.asked) {
            return cells.of_node(node, asked);
        }
        let gap = |side: &Side, x: f64, least: f64| (side.low - x).max(x - side.high).max(least);
        self.bound(node, query, gap, f64::min)
    }

    fn most(&self, node: usize, query: &Query) -> f64 {
        let gap = |side: &Side, x: f64, _| (x - side.low).abs().max((side.high - x).abs());
        self.bound(node, query, gap, f64::max)
    }

    /// The sum of bounds, each of the values and then with missing ones.
    #[inline]
    fn bound(
        &self,
        node: usize,
        query: &Query,
        gap: impl Fn(&Side, f64, f64) -> f64,
        join: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let mut sum = 0.0;
        let sides = self.tree.sides(node);
        for (v, dim) in self.metric.iter().enumerate() {
            let (side, x, least) = (&sides[v], query.values[v], query.least[v]);
            sum += if x.is_nan() || !side.has_values() {
                dim.missing
            } else {
                let cost = dim.of_gap(gap(side, x, least));
                if side.has_missing {
                    join(cost, dim.missing)
                } else {
                    cost
                }
            };
        }
        sum
    }
}

/// The two least costs so far, of distinct records.
struct Two {
    first: f64,
    second: f64,
    /// Number of records of the first.
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
