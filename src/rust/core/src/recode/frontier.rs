//! Risk against cost over all recodings of a small lattice.
//!
//! A recoding's cells are made from those of the one that is one level lower in
//! the last variable raised: few cells are touched, far fewer than rows.
//! Every recoding gives the point without blanks, and where records may be
//! blanked the point with as many blanks as the risk can use.

use rayon::prelude::*;

use super::best::Recoding;
use super::cells::Numbering;
use super::limits::{Limits, Risks};
use super::Problem;
use crate::error::Result;
use crate::parallel::Monitor;

/// Which risk is set against cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// One over the smallest cell.
    Smallest,
    /// The share of sample uniques.
    Unique,
    /// QaR's T, without blanks.
    Qar,
}

/// Recodings times distinct rows that are enumerated.
const MOST_WORK: f64 = 6e8;
/// Recodings enumerated where each needs only its counts.
const MOST_COUNTED: f64 = 3e5;
/// Points kept before the dominated ones are dropped.
const MOST_POINTS: usize = 4096;

/// A recoding and its risk.
#[derive(Debug, Clone)]
pub struct Point {
    /// The recoding, blanks charged.
    pub recoding: Recoding,
    /// Its risk.
    pub risk: f64,
    /// Records blanked.
    pub n_blanked: u64,
}

/// Points that no other one beats in both, cheapest first.
pub fn undominated(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| {
        let tie = |x: &Point| Recoding {
            places: Vec::new(),
            level_sum: 0,
            ..x.recoding.clone()
        };
        tie(a)
            .order(&tie(b))
            .then(a.risk.total_cmp(&b.risk))
            .then_with(|| a.recoding.order(&b.recoding))
    });
    let mut least = f64::INFINITY;
    points.retain(|point| {
        let better = point.risk < least - 1e-12 * least.min(1.0);
        if better {
            least = point.risk;
        }
        better
    });
    points
}

/// Whether the lattice is small enough for [`enumerate`].
pub fn is_small(problem: &Problem, measure: Measure) -> bool {
    match measure {
        Measure::Qar => problem.n_nodes() <= MOST_COUNTED,
        _ => problem.n_nodes() * problem.n_rows() as f64 <= MOST_WORK && fields(problem).is_some(),
    }
}

/// The undominated points of all recodings.
pub fn enumerate(
    problem: &Problem,
    limits: &Limits,
    measure: Measure,
    monitor: &Monitor,
) -> Result<Vec<Point>> {
    let n_shared = problem.order.len().min(2);
    let mut tasks = vec![vec![0u8; problem.order.len()]];
    for &j in &problem.order[..n_shared] {
        tasks = tasks
            .into_iter()
            .flat_map(|places| {
                (0..=problem.top(j)).map(move |place| {
                    let mut places = places.clone();
                    places[j] = place;
                    places
                })
            })
            .collect();
    }
    let fields = fields(problem).unwrap_or_default();
    let points: Vec<Vec<Point>> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(|places| {
            let mut walk = Walk {
                problem,
                limits,
                measure,
                monitor,
                fields: &fields,
                numbering: Numbering::new(problem.n_rows())?,
                points: Vec::new(),
                stairs: Vec::new(),
            };
            let cells = walk.first(&places)?;
            walk.visit(places, &cells, n_shared)?;
            Ok(undominated(walk.points))
        })
        .collect::<Result<_>>()?;
    Ok(undominated(points.into_iter().flatten().collect()))
}

/// Where the group of every variable begins in a key of 64 bits.
fn fields(problem: &Problem) -> Option<Vec<u32>> {
    let mut at = 0;
    let fields = problem.variables.iter().map(|variable| {
        let from = at;
        at += u64::BITS - (variable.levels[0].n_groups as u64).leading_zeros();
        from
    });
    let fields = fields.collect();
    (at <= u64::BITS).then_some(fields)
}

/// A cell by the groups of all variables.
#[derive(Clone, Copy)]
struct Cell {
    key: u64,
    row: u32,
    count: u32,
}

struct Walk<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    measure: Measure,
    monitor: &'a Monitor,
    fields: &'a [u32],
    numbering: Numbering,
    points: Vec<Point>,
    /// Cost and risk of undominated points so far, the cost rising.
    stairs: Vec<(f64, f64)>,
}

impl Walk<'_> {
    fn first(&self, places: &[u8]) -> Result<Vec<Cell>> {
        if self.measure == Measure::Qar {
            return Ok(Vec::new());
        }
        let cells = self.problem.cells(places)?;
        let of = cells.first.iter().zip(&cells.count);
        Ok(of
            .map(|(&row, &count)| Cell {
                key: self.key(places, row),
                row,
                count,
            })
            .collect())
    }

    fn key(&self, places: &[u8], row: u32) -> u64 {
        let of = self.problem.variables.iter().zip(places).zip(self.fields);
        of.map(|((variable, &place), &field)| {
            u64::from(variable.levels[place as usize].column[row as usize]) << field
        })
        .sum()
    }

    /// This recoding and all that raise variables from the `from`th on.
    fn visit(&mut self, places: Vec<u8>, cells: &[Cell], from: usize) -> Result<()> {
        self.monitor.check()?;
        self.note(&places, cells)?;
        for d in from..self.problem.order.len() {
            let j = self.problem.order[d];
            if places[j] < self.problem.top(j) {
                let mut higher = places.clone();
                higher[j] += 1;
                let merged = self.merge(&higher, j, cells)?;
                self.visit(higher, &merged, d)?;
            }
        }
        Ok(())
    }

    fn merge(&mut self, places: &[u8], j: usize, cells: &[Cell]) -> Result<Vec<Cell>> {
        let mut merged: Vec<Cell> = Vec::with_capacity(cells.len());
        if cells.is_empty() {
            return Ok(merged);
        }
        let levels = &self.problem.variables[j].levels;
        let (below, above) = (&levels[places[j] as usize - 1], &levels[places[j] as usize]);
        let field = self.fields[j];
        self.numbering.restart(cells.len());
        for cell in cells {
            let row = cell.row as usize;
            let key = cell.key - (u64::from(below.column[row]) << field)
                + (u64::from(above.column[row]) << field);
            let (number, new) = self.numbering.number(key)?;
            if new {
                merged.push(Cell { key, ..*cell });
            } else {
                merged[number as usize].count += cell.count;
            }
        }
        Ok(merged)
    }

    fn note(&mut self, places: &[u8], cells: &[Cell]) -> Result<()> {
        let n = self.problem.n_records as f64;
        match self.measure {
            Measure::Qar => {
                let none = super::cells::Cells::default();
                let Risks { qar, .. } = self.limits.risks(self.problem, places, &none, &[])?;
                self.push(places, qar.unwrap_or(f64::INFINITY), 0.0, 0);
            }
            Measure::Smallest => {
                let smallest = cells.iter().map(|c| c.count).min().unwrap_or(1);
                self.push(places, 1.0 / f64::from(smallest), 0.0, 0);
                self.note_largest_k(places, cells);
            }
            Measure::Unique => {
                let mut lifts: Vec<f64> = cells
                    .iter()
                    .filter(|c| c.count == 1)
                    .map(|c| self.problem.lift(places, c.row))
                    .collect();
                self.push(places, lifts.len() as f64 / n, 0.0, 0);
                let blanks = lifts.len().min(self.problem.limit.blankable as usize);
                if blanks > 0 && n > blanks as f64 {
                    lifts.sort_by(f64::total_cmp);
                    let risk = (lifts.len() - blanks) as f64 / (n - blanks as f64);
                    let lift = lifts[..blanks].iter().sum();
                    self.push(places, risk, lift, blanks as u64);
                }
            }
        }
        Ok(())
    }

    /// The largest k that blanking whole cells can bring.
    fn note_largest_k(&mut self, places: &[u8], cells: &[Cell]) {
        let most = self.problem.limit.blankable;
        if most == 0 {
            return;
        }
        let (blanked, below) = most_blanked(cells, most);
        let kept = cells.iter().filter(|c| c.count >= below);
        let Some(smallest) = kept.map(|c| c.count).min() else {
            return;
        };
        let risk = 1.0 / f64::from(smallest);
        if blanked > 0 && !self.is_beaten(self.problem.base(places), risk) {
            let lost = cells.iter().filter(|c| c.count < below);
            let lift = lost
                .map(|c| f64::from(c.count) * self.problem.lift(places, c.row))
                .sum();
            self.push(places, risk, lift, blanked);
        }
    }

    fn push(&mut self, places: &[u8], risk: f64, lift: f64, n_blanked: u64) {
        let cost = self.problem.base(places) + lift;
        if self.is_beaten(cost, risk) {
            return;
        }
        let at = self.stairs.partition_point(|s| s.0 < cost);
        let end = at + self.stairs[at..].iter().take_while(|s| s.1 >= risk).count();
        self.stairs.splice(at..end, [(cost, risk)]);
        self.points.push(Point {
            recoding: Recoding::new(self.problem, cost, places),
            risk,
            n_blanked,
        });
        if self.points.len() > MOST_POINTS {
            self.points = undominated(std::mem::take(&mut self.points));
        }
    }

    /// Whether a point that costs less, not by rounding alone, has no more risk.
    fn is_beaten(&self, cost: f64, risk: f64) -> bool {
        let clearly = cost - 1e-9 * cost.abs().max(1.0);
        let below = self.stairs.partition_point(|s| s.0 < clearly);
        below > 0 && self.stairs[below - 1].1 <= risk
    }
}

/// Cells of up to so many records are counted by their size.
const COUNTED: usize = 256;

/// How many records lie in the smallest cells, taken whole while there are at most
/// `most` of them, and the size below which all cells were taken.
fn most_blanked(cells: &[Cell], most: u64) -> (u64, u32) {
    let mut records = [0u64; COUNTED + 1];
    let mut larger: Vec<u32> = Vec::new();
    for cell in cells {
        let size = cell.count as usize;
        if size <= COUNTED {
            records[size] += size as u64;
        } else if size as u64 <= most {
            larger.push(cell.count);
        }
    }
    larger.sort_unstable();
    let counted = (0u32..).zip(records).filter(|(_, n)| *n > 0);
    let same = larger
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len() as u64 * u64::from(same[0])));
    let (mut blanked, mut below) = (0, 0);
    for (size, n) in counted.chain(same) {
        if blanked + n > most {
            break;
        }
        blanked += n;
        below = size + 1;
    }
    (blanked, below)
}
