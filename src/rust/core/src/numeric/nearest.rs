//! The nearest known record of every released one.

use std::cmp::Ordering;

use super::boxes::{levels, Level, Query};
use super::tree::{Tree, LEAF};
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
    let floors = floors(&known.points, &asked.points, metric)?;
    let n = order.len();
    monitor.set_total(n as u64);
    let parts = try_map(order.chunks(BLOCK), monitor, |rows| {
        let best = |&row: &u32| {
            search.best(&Query {
                values: asked.points.row(row as usize),
                floors: floors.row(row as usize),
            })
        };
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

/// For each asked value the cost of the least difference from any known one, in the place of the
/// value.
fn floors(known: &Points, asked: &Points, metric: &Metric) -> Result<Points> {
    let mut floors = filled(0.0, asked.values.len())?;
    for (v, dim) in metric.iter().enumerate() {
        // Worth the search only if costs jump.
        if matches!(dim.shape, Shape::Square | Shape::Absolute) {
            continue;
        }
        let rising = |points: &Points| -> Result<Vec<(f64, usize)>> {
            let places = (v..points.values.len()).step_by(points.n_dims);
            let column = places.map(|place| (points.values[place], place));
            let mut column = collected(column.filter(|(x, _)| !x.is_nan()), points.len())?;
            column.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            Ok(column)
        };
        let known = rising(known)?;
        let mut at = 0;
        for (x, place) in rising(asked)? {
            at += known[at..]
                .iter()
                .take_while(|&&(other, _)| other < x)
                .count();
            let around = &known[at.saturating_sub(1)..(at + 1).min(known.len())];
            let gaps = around.iter().map(|(other, _)| (x - other).abs());
            floors[place] = dim.of_gap(gaps.fold(f64::INFINITY, f64::min));
        }
    }
    Ok(Points {
        values: floors,
        n_dims: asked.n_dims,
    })
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
    levels: Vec<Level>,
    /// The distinct known records and how many each is, in the order of the boxes.
    points: Points,
    n: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(known: &Distinct, metric: &'a Metric) -> Result<Self> {
        let order = Tree::new(&known.points, metric)?.order;
        let mut values = reserved(known.points.values.len())?;
        for &row in &order {
            values.extend_from_slice(known.points.row(row as usize));
        }
        let n = order.iter().map(|&row| known.n[row as usize]);
        let points = Points {
            values,
            n_dims: metric.len(),
        };
        Ok(Self {
            metric,
            levels: levels(&points)?,
            n: collected(n, known.n.len())?,
            points,
        })
    }

    fn best(&self, query: &Query) -> Best {
        let mut two = Two {
            first: f64::INFINITY,
            second: f64::INFINITY,
            n: 0,
        };
        let top = self.levels.len() - 1;
        self.look(top, 0, query, &mut two);
        let radius = two.first * (1.0 + ROUNDING) + NOTHING;
        let n = if two.second <= radius {
            self.within(top, 0, query, radius)
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

    /// The least cost of two distinct records of a block.
    fn look(&self, level: usize, block: usize, query: &Query, two: &mut Two) {
        let bounds = self.levels[level].bounds(block, self.metric, query);
        let mut near = [0; LEAF];
        let mut n = 0;
        for (lane, bound) in bounds.iter().enumerate() {
            // Without a branch, which could not be foretold.
            near[n] = lane;
            n += usize::from(*bound < two.second);
        }
        for at in 0..n {
            for other in at + 1..n {
                if bounds[near[other]] < bounds[near[at]] {
                    near.swap(at, other);
                }
            }
            if bounds[near[at]] >= two.second {
                return;
            }
            let place = block * LEAF + near[at];
            if level > 0 {
                self.look(level - 1, place, query, two);
            } else {
                let cost = cost_of(self.metric, self.points.row(place), query.values);
                two.add(cost, self.n[place]);
            }
        }
    }

    /// Number of records that cost at most `radius`.
    fn within(&self, level: usize, block: usize, query: &Query, radius: f64) -> u64 {
        let here = &self.levels[level];
        let bounds = here.bounds(block, self.metric, query);
        let near = here
            .boxes(block)
            .zip(bounds)
            .filter(|&(_, bound)| bound <= radius);
        let n = near.map(|(at, _)| {
            if here.most(at, self.metric, query) <= radius {
                self.n[here.rows(at, self.n.len())].iter().sum()
            } else if level > 0 {
                self.within(level - 1, at, query, radius)
            } else {
                0
            }
        });
        n.sum()
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
