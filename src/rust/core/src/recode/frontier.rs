//! Risk against cost over all recodings of a small lattice.
//!
//! A recoding's cells are made from those of the one that is one level lower in
//! the last variable raised: few cells are touched, far fewer than rows. The
//! variable of most levels is raised last, and cells are kept in an order in which
//! those that it merges are neighbours.
//! Every recoding gives the point without blanks, and where records may be
//! blanked the point with as many blanks as the risk can use.

use super::best::Recoding;
use super::limits::{Limits, Risks};
use super::tables::Level;
use super::Problem;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// The risk that is set against cost.
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

/// True if the lattice is small enough for [`enumerate`].
pub fn is_small(problem: &Problem, measure: Measure) -> bool {
    match measure {
        Measure::Qar => problem.n_nodes() <= MOST_COUNTED,
        _ => {
            problem.n_nodes() * problem.n_rows() as f64 <= MOST_WORK
                && fields(problem, &problem.order).is_some()
        }
    }
}

/// The undominated points of all recodings.
pub fn enumerate(
    problem: &Problem,
    limits: &Limits,
    measure: Measure,
    monitor: &Monitor,
) -> Result<Vec<Point>> {
    let order = raised(problem);
    let numbers: Vec<Vec<Vec<u32>>> = (problem.variables.iter())
        .map(|variable| numbers(&variable.levels))
        .collect();
    let n_shared = problem.order.len().min(2);
    let mut tasks = vec![vec![0u8; problem.order.len()]];
    for &j in &order[..n_shared] {
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
    let fields = fields(problem, &order).unwrap_or_default();
    let points = parallel::try_map(tasks, monitor, |places| {
        let mut walk = Walk {
            problem,
            limits,
            measure,
            monitor,
            fields: &fields,
            order: &order,
            numbers: &numbers,
            points: Vec::new(),
            stairs: Vec::new(),
        };
        let cells = walk.first(&places)?;
        walk.visit(places, &cells, n_shared)?;
        Ok(undominated(walk.points))
    })?;
    Ok(undominated(points.into_iter().flatten().collect()))
}

/// Per level of a variable its groups, numbered so that those which a higher level
/// merges follow each other.
fn numbers(levels: &[Level]) -> Vec<Vec<u32>> {
    let n_codes = levels.first().map_or(0, |level| level.group_of_code.len());
    let mut codes: Vec<usize> = (0..n_codes).collect();
    codes.sort_by_cached_key(|&code| {
        let groups = levels.iter().rev().map(|level| level.group_of_code[code]);
        groups.collect::<Vec<u32>>()
    });
    let number = |level: &Level| {
        let mut numbers = vec![u32::MAX; level.n_groups];
        let mut next = 0;
        for &code in &codes {
            let number = &mut numbers[level.group_of_code[code] as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
        }
        numbers
    };
    levels.iter().map(number).collect()
}

/// The order in which variables are raised: by falling number of levels, that of most,
/// whose groups are neighbours in the order of keys, last.
fn raised(problem: &Problem) -> Vec<usize> {
    let mut order = problem.order.clone();
    order.sort_by_key(|&j| std::cmp::Reverse(problem.variables[j].levels.len()));
    order.rotate_left(1);
    order
}

/// Bits for a group.
fn width(levels: &[Level]) -> u32 {
    u64::BITS - (levels[0].n_groups as u64).leading_zeros()
}

/// Start of the group of every variable in a key of 64 bits, that of the last one
/// in `order` lowest.
fn fields(problem: &Problem, order: &[usize]) -> Option<Vec<u32>> {
    let mut at = 0;
    let mut fields = vec![0; order.len()];
    for &j in order.iter().rev() {
        fields[j] = at;
        at += width(&problem.variables[j].levels);
    }
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
    order: &'a [usize],
    numbers: &'a [Vec<Vec<u32>>],
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
        let mut cells: Vec<Cell> = of
            .map(|(&row, &count)| Cell {
                key: self.key(places, row),
                row,
                count,
            })
            .collect();
        cells.sort_unstable_by_key(|cell| cell.key);
        Ok(cells)
    }

    fn key(&self, places: &[u8], row: u32) -> u64 {
        let of = places.iter().zip(self.fields).enumerate();
        of.map(|(j, (&place, &field))| u64::from(self.group(j, place, row)) << field)
            .sum()
    }

    /// The number of a row's group in a key.
    fn group(&self, j: usize, place: u8, row: u32) -> u32 {
        let group = self.problem.variables[j].levels[place as usize].column[row as usize];
        self.numbers[j][place as usize][group as usize]
    }

    /// This recoding and all that raise variables from the `from`th on.
    fn visit(&mut self, places: Vec<u8>, cells: &[Cell], from: usize) -> Result<()> {
        self.monitor.check()?;
        self.note(&places, cells)?;
        for d in from..self.order.len() {
            let j = self.order[d];
            if places[j] < self.problem.top(j) {
                let mut higher = places.clone();
                higher[j] += 1;
                // Cost does not fall from here on, and no risk is below 0.
                if !self.is_beaten(self.problem.base(&higher), 0.0) {
                    let merged = self.merge(&higher, j, cells);
                    self.visit(higher, &merged, d)?;
                }
            }
        }
        Ok(())
    }

    /// The cells with variable `j` at its place in `places`, one level higher than in
    /// `cells`. Those that become equal lie in one run of the variables before `j`,
    /// in as many ordered parts as groups are merged.
    fn merge(&self, places: &[u8], j: usize, cells: &[Cell]) -> Vec<Cell> {
        if cells.is_empty() {
            return Vec::new();
        }
        let level = &self.problem.variables[j].levels[places[j] as usize];
        let numbers = &self.numbers[j][places[j] as usize];
        let field = self.fields[j];
        let mask = self.mask(j) << field;
        let mut merged: Vec<Cell> = (cells.iter())
            .map(|cell| {
                let group = numbers[level.column[cell.row as usize] as usize];
                Cell {
                    key: cell.key & !mask | u64::from(group) << field,
                    ..*cell
                }
            })
            .collect();
        if field > 0 {
            for run in merged.chunk_by_mut(|a, b| a.key >> field == b.key >> field) {
                run.sort_by_key(|cell| cell.key);
            }
        }
        merged.dedup_by(|next, kept| {
            let same = next.key == kept.key;
            kept.count += if same { next.count } else { 0 };
            same
        });
        merged
    }

    /// The bits of a group of variable `j`.
    fn mask(&self, j: usize) -> u64 {
        u64::MAX >> (u64::BITS - width(&self.problem.variables[j].levels))
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
                let uniques = cells.iter().filter(|c| c.count == 1).count();
                self.push(places, uniques as f64 / n, 0.0, 0);
                self.note_fewest_uniques(places, cells, uniques);
            }
        }
        Ok(())
    }

    /// The smallest share of uniques that blanks can bring, those blanked that cost
    /// least.
    fn note_fewest_uniques(&mut self, places: &[u8], cells: &[Cell], uniques: usize) {
        let blanks = uniques.min(self.problem.limit.blankable as usize);
        let left = self.problem.n_records as f64 - blanks as f64;
        if blanks == 0 || left <= 0.0 {
            return;
        }
        let risk = (uniques - blanks) as f64 / left;
        if self.is_beaten(self.problem.base(places), risk) {
            return;
        }
        let blanked = cells.iter().filter(|c| c.count == 1);
        let mut lifts: Vec<f64> = blanked.map(|c| self.problem.lift(places, c.row)).collect();
        if blanks < lifts.len() {
            lifts.select_nth_unstable_by(blanks, f64::total_cmp);
            lifts.truncate(blanks);
        }
        // One order of the sum, whatever that of the cells.
        lifts.sort_unstable_by(f64::total_cmp);
        self.push(places, risk, lifts.iter().sum(), blanks as u64);
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

    /// True if a point that costs less, not by rounding alone, has no more risk.
    fn is_beaten(&self, cost: f64, risk: f64) -> bool {
        let clearly = cost - 1e-9 * cost.abs().max(1.0);
        let below = self.stairs.partition_point(|s| s.0 < clearly);
        below > 0 && self.stairs[below - 1].1 <= risk
    }
}

/// Cells of up to so many records are counted by their size.
const COUNTED: usize = 256;

/// Number of records that lie in the smallest cells, taken whole while there are at most
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
