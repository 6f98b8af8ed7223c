//! Cells of at least `k` equal records, a blank being a value.
//!
//! A bucket is a set of keys `Z` with the values outside it: blanking `Z` makes
//! its records equal. Records of small cells go to the bucket that serves most
//! of them for its cost; a bucket of fewer than `k` takes donors from cells that
//! keep `k`, or one whole small cell. What no bucket serves is blanked in all
//! keys, and if need be the cheapest bucket joins it.
//!
//! Several key sets, and keys that a household shares, are served in turn until
//! all hold: every turn adds blanks, so there is an end.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

use super::household::{shared_keys, spread};
use super::measure::released_table;
use super::problem::{with_stratum, Problem};
use super::subsets::{at_most, Subsets};
use super::Suppression;

/// Sets of keys that are tried before all keys are blanked.
const MOST_SETS: usize = 1000;

/// Records with equal released values.
#[derive(Debug)]
struct Cell {
    /// Keys of the key set that are blank.
    blank: u64,
    /// Its records; donors leave from the end.
    rows: Vec<u32>,
    /// What the keys outside a set are linked to depends on the first record.
    missing: u64,
    violating: bool,
    /// Somebody relies on it: it must keep `k`.
    fixed: bool,
    /// It went to a bucket.
    gone: bool,
}

/// Cells that blanks in `set` make equal.
#[derive(Debug)]
struct Bucket {
    set: u64,
    violators: Vec<u32>,
    donors: Vec<u32>,
    /// The cell that has these values already.
    target: Option<u32>,
    rows: Vec<u32>,
}

pub(super) fn release(
    problem: &Problem<'_>,
    table: &KeyTable,
    own_cost: f64,
    limit: f64,
    monitor: &Monitor,
) -> Result<Suppression> {
    let mut blanks = vec![0u64; table.n_rows()];
    let shared = problem
        .settings
        .households
        .map(|h| (h, shared_keys(problem, table, h)));
    let mut household = vec![0u64; table.n_rows()];
    loop {
        let mut changed = false;
        for s in 0..problem.sets.len() {
            monitor.check()?;
            changed |= Turn::new(problem, table, &blanks, s, monitor)?.serve(&mut blanks, limit)?;
        }
        if let Some((households, keys)) = shared {
            let before = blanks.clone();
            spread(problem, households, keys, &mut blanks);
            for (row, &set) in before.iter().enumerate() {
                household[row] |= blanks[row] & !set;
                changed |= blanks[row] != set;
            }
        }
        if !changed {
            break;
        }
    }
    let mut found = Suppression::new(problem, blanks, own_cost);
    found.household = household;
    Ok(found)
}

/// One key set, with the blanks so far.
struct Turn<'a> {
    problem: &'a Problem<'a>,
    keys: u64,
    cells: Vec<Cell>,
    /// The columns of the key set and the stratum, one row per cell.
    table: KeyTable,
    columns: Vec<usize>,
    /// Small cells not yet served.
    n_open: usize,
    full: Vec<Bucket>,
    monitor: &'a Monitor,
}

impl<'a> Turn<'a> {
    fn new(
        problem: &'a Problem<'a>,
        table: &KeyTable,
        blanks: &[u64],
        s: usize,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let keys = problem.sets[s];
        let columns = problem.columns(keys, 0);
        let released = with_stratum(&released_table(table, blanks)?, problem.settings.strata)?;
        let chosen: Vec<Column> = columns
            .iter()
            .map(|&v| released.columns()[v].clone())
            .collect();
        let part = KeyTable::new(chosen)?;
        let groups = part.group(monitor)?;
        let mut cells: Vec<Cell> = (groups.first_rows().iter())
            .map(|&row| {
                let missing = problem.missing[problem.row_pattern[row as usize] as usize];
                let all = missing | blanks[row as usize];
                Cell {
                    blank: all & keys,
                    rows: Vec::new(),
                    missing: all,
                    violating: false,
                    fixed: false,
                    gone: false,
                }
            })
            .collect();
        for (row, &cell) in (0u32..).zip(groups.row_group()) {
            cells[cell as usize].rows.push(row);
        }
        let mut turn = Self {
            problem,
            keys,
            table: part.select(groups.first_rows())?,
            columns,
            n_open: 0,
            cells: Vec::new(),
            full: Vec::new(),
            monitor,
        };
        for cell in &mut cells {
            cell.violating = turn.units(&cell.rows) < turn.k();
        }
        turn.n_open = cells.iter().filter(|c| c.violating).count();
        turn.cells = cells;
        Ok(turn)
    }

    fn k(&self) -> usize {
        self.problem.settings.k as usize
    }

    /// Records, or their households.
    fn units(&self, rows: &[u32]) -> usize {
        match self.problem.settings.households {
            None => rows.len(),
            Some(column) => {
                let mut all: Vec<u32> = rows
                    .iter()
                    .map(|&r| column.codes().get(r as usize))
                    .collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            }
        }
    }

    /// Whether there was anything to do.
    fn serve(mut self, blanks: &mut [u64], limit: f64) -> Result<bool> {
        if self.n_open == 0 {
            return Ok(false);
        }
        let blankable = self.problem.choosable & self.keys;
        let mut tried = 0;
        let mut levels = Levels::new(&self);
        while self.n_open > 0 && tried < MOST_SETS {
            let sets = levels.next(if tried == 0 { limit } else { 0.0 });
            if sets.is_empty() {
                break;
            }
            tried += sets.len();
            self.fill(&sets)?;
        }
        if self.n_open > 0 {
            self.fill(&[blankable])?;
            self.top_up(blankable)?;
        }
        for bucket in &self.full {
            for &row in &bucket.rows {
                let missing = self.problem.missing[self.problem.row_pattern[row as usize] as usize];
                let set = &mut blanks[row as usize];
                *set |= self.problem.closed(bucket.set & !missing, missing | *set) & !missing;
            }
        }
        Ok(true)
    }

    /// What blanking `set` costs in a record of `cell`; `None` where it cannot be
    /// done, or asks for more keys of this key set than `set` has.
    fn cost(&self, cell: u32, set: u64) -> Option<f64> {
        let cell = &self.cells[cell as usize];
        if cell.blank & !set & self.problem.blankable != 0 {
            return None;
        }
        let more = self.problem.closed(set & !cell.blank, cell.missing) & !cell.missing;
        let fits = more & self.keys & !set == 0 && more & !self.problem.blankable == 0;
        fits.then(|| self.problem.cost(more))
    }

    /// Classes of the cells on what is outside `set`.
    fn classes(&self, set: u64) -> Result<Vec<u32>> {
        let counts = |v: usize| v >= self.problem.n_keys || set >> v & 1 == 0;
        let chosen: Vec<Column> = (self.columns.iter().enumerate())
            .filter(|(_, &v)| counts(v))
            .map(|(at, _)| self.table.columns()[at].clone())
            .collect();
        if chosen.is_empty() {
            return Ok(vec![0; self.cells.len()]);
        }
        Ok(KeyTable::new(chosen)?
            .group(self.monitor)?
            .row_group()
            .to_vec())
    }

    /// The buckets of `set` that hold an open cell.
    fn buckets(&self, set: u64) -> Result<Vec<Bucket>> {
        let classes = self.classes(set)?;
        let n_classes = classes.iter().max().map_or(0, |&c| c as usize + 1);
        let mut of_class = vec![u32::MAX; n_classes];
        let mut buckets: Vec<Bucket> = Vec::new();
        for (cell, &class) in classes.iter().enumerate() {
            let fits = || self.cost(cell as u32, set).is_some();
            if self.is_open(cell) && of_class[class as usize] == u32::MAX && fits() {
                of_class[class as usize] = buckets.len() as u32;
                buckets.push(Bucket {
                    set,
                    violators: Vec::new(),
                    donors: Vec::new(),
                    target: None,
                    rows: Vec::new(),
                });
            }
        }
        for (at, &class) in classes.iter().enumerate() {
            let Some(bucket) = buckets.get_mut(of_class[class as usize] as usize) else {
                continue;
            };
            let Some(cost) = self.cost(at as u32, set) else {
                continue;
            };
            if self.is_open(at) {
                bucket.violators.push(at as u32);
            } else if !self.cells[at].violating && !self.cells[at].gone {
                if cost <= 0.0 {
                    bucket.target = Some(at as u32);
                } else {
                    bucket.donors.push(at as u32);
                }
            }
        }
        Ok(buckets)
    }

    fn is_open(&self, cell: usize) -> bool {
        self.cells[cell].violating && !self.cells[cell].gone
    }

    /// Fills buckets of `sets`, the one that serves most for its cost first.
    fn fill(&mut self, sets: &[u64]) -> Result<()> {
        let mut buckets = Vec::new();
        for &set in sets {
            self.monitor.check()?;
            buckets.extend(self.buckets(set)?);
        }
        let mut heap: BinaryHeap<(Ratio, Reverse<usize>)> = BinaryHeap::new();
        for (b, bucket) in buckets.iter().enumerate() {
            if let Some(plan) = self.plan(bucket) {
                heap.push((Ratio(plan.ratio), Reverse(b)));
            }
        }
        let mut buckets: Vec<Option<Bucket>> = buckets.into_iter().map(Some).collect();
        while let (Some((before, b)), true) = (heap.pop(), self.n_open > 0) {
            let Some(bucket) = &buckets[b.0] else {
                continue;
            };
            let Some(plan) = self.plan(bucket) else {
                continue;
            };
            if plan.ratio < before.0 {
                heap.push((Ratio(plan.ratio), b));
                continue;
            }
            if let Some(bucket) = buckets[b.0].take() {
                self.apply(bucket, &plan);
            }
        }
        Ok(())
    }

    /// What filling a bucket takes now; `None` where it serves nobody or lacks
    /// donors.
    fn plan(&self, bucket: &Bucket) -> Option<Plan> {
        let (mut served, mut cost) = (0, 0.0);
        let mut rows: Vec<u32> = Vec::new();
        let households = self.problem.settings.households.is_some();
        for &cell in bucket
            .violators
            .iter()
            .filter(|&&c| self.is_open(c as usize))
        {
            let each = self.cost(cell, bucket.set)?;
            let cell = &self.cells[cell as usize];
            served += cell.rows.len();
            cost += each * cell.rows.len() as f64;
            if households {
                rows.extend(&cell.rows);
            }
        }
        let target = bucket.target.filter(|&t| !self.cells[t as usize].gone);
        if served == 0 {
            return None;
        }
        let mut have = if households {
            self.units(&rows)
        } else {
            served
        };
        let mut donors = Vec::new();
        if target.is_none() && have < self.k() {
            if !households {
                have += self.surplus(bucket, self.k() - have, &mut donors, &mut cost);
            }
            if have < self.k() {
                let (cell, price) = self.whole(bucket)?;
                donors.clear();
                donors.push((cell, self.cells[cell as usize].rows.len()));
                cost += price;
            }
        }
        Some(Plan {
            ratio: served as f64 / cost.max(f64::MIN_POSITIVE),
            donors,
        })
    }

    /// Donors from cells that keep `k`, cheapest first; how many there are.
    fn surplus(
        &self,
        bucket: &Bucket,
        wanted: usize,
        donors: &mut Vec<(u32, usize)>,
        cost: &mut f64,
    ) -> usize {
        let mut found = 0;
        for &cell in &bucket.donors {
            let c = &self.cells[cell as usize];
            let spare = if c.gone {
                0
            } else {
                c.rows.len().saturating_sub(self.k())
            };
            let n = spare.min(wanted - found);
            if n > 0 {
                donors.push((cell, n));
                found += n;
                *cost += n as f64 * self.cost(cell, bucket.set).unwrap_or(f64::INFINITY);
            }
            if found == wanted {
                break;
            }
        }
        if found < wanted {
            *cost -= (donors.iter())
                .map(|&(cell, n)| n as f64 * self.cost(cell, bucket.set).unwrap_or(0.0))
                .sum::<f64>();
            return 0;
        }
        found
    }

    /// The cheapest cell that can go to the bucket as a whole.
    fn whole(&self, bucket: &Bucket) -> Option<(u32, f64)> {
        (bucket.donors.iter())
            .filter(|&&c| !self.cells[c as usize].fixed && !self.cells[c as usize].gone)
            .filter_map(|&c| {
                let each = self.cost(c, bucket.set)?;
                Some((c, each * self.cells[c as usize].rows.len() as f64))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
    }

    fn apply(&mut self, mut bucket: Bucket, plan: &Plan) {
        for &(cell, n) in &plan.donors {
            let cell = &mut self.cells[cell as usize];
            let keep = cell.rows.len() - n;
            bucket.rows.extend(cell.rows.drain(keep..));
            cell.gone = cell.rows.is_empty();
        }
        for at in bucket.violators.clone() {
            if self.is_open(at as usize) {
                let cell = &mut self.cells[at as usize];
                bucket.rows.extend(&cell.rows);
                cell.gone = true;
                self.n_open -= 1;
            }
        }
        if let Some(target) = bucket.target {
            self.cells[target as usize].fixed = true;
        }
        self.full.push(bucket);
    }

    /// What is open even so joins the cheapest full buckets or cells of its
    /// stratum, all keys blank.
    fn top_up(&mut self, all: u64) -> Result<()> {
        let classes = self.classes(all)?;
        for mut bucket in self.buckets(all)? {
            let class = classes[bucket.violators[0] as usize];
            for at in bucket.violators.clone() {
                bucket.rows.extend(&self.cells[at as usize].rows);
                self.cells[at as usize].gone = true;
                self.n_open -= 1;
            }
            while self.units(&bucket.rows) < self.k() {
                let Some(rows) = self.joining(all, class, &classes) else {
                    return Err(Error::Unprotectable(format!(
                        "{} records cannot get {} equals, whatever is blanked.",
                        bucket.rows.len(),
                        self.k()
                    )));
                };
                bucket.rows.extend(rows);
            }
            self.full.push(bucket);
        }
        Ok(())
    }

    /// The records of the full bucket, or else of the cell, of `class` that cost
    /// least to blank in all keys.
    fn joining(&mut self, all: u64, class: u32, classes: &[u32]) -> Option<Vec<u32>> {
        let here = |cell: u32| classes[cell as usize] == class;
        let price = |n: usize, set: u64| n as f64 * self.problem.cost(all & !set);
        let bucket = (self.full.iter().enumerate())
            .filter(|(_, full)| here(full.violators[0]))
            .map(|(b, full)| (price(full.rows.len(), full.set), b))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, b)) = bucket {
            return Some(self.full.swap_remove(b).rows);
        }
        let cell = (self.cells.iter().enumerate())
            .filter(|(at, cell)| here(*at as u32) && !cell.gone && !cell.violating)
            .map(|(at, cell)| (price(cell.rows.len(), cell.blank), at))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        cell.map(|(_, at)| {
            self.cells[at].gone = true;
            std::mem::take(&mut self.cells[at].rows)
        })
    }
}

/// Sets of keys to be tried, for the cells that are open, cheapest first.
struct Levels<'a> {
    keys: u64,
    by_blank: Vec<(u64, Subsets<'a>)>,
    seen: HashSet<u64>,
}

impl<'a> Levels<'a> {
    fn new(turn: &Turn<'a>) -> Self {
        let mut blank: Vec<u64> = (turn.cells.iter().filter(|c| c.violating))
            .map(|c| c.blank)
            .collect();
        blank.sort_unstable();
        blank.dedup();
        let of = |blank| (blank, Subsets::within(turn.problem, blank, turn.keys));
        Self {
            keys: turn.keys,
            by_blank: blank.into_iter().map(of).collect(),
            seen: HashSet::new(),
        }
    }

    /// The next sets, all that cost up to `limit` at least.
    fn next(&mut self, limit: f64) -> Vec<u64> {
        let mut sets = Vec::new();
        for (blank, subsets) in &mut self.by_blank {
            loop {
                let level = subsets.level();
                let on = level
                    .first()
                    .is_some_and(|l| !at_most(limit, l.cost) && sets.len() < MOST_SETS);
                for costed in level {
                    let set = (costed.set | *blank) & self.keys;
                    if self.seen.insert(set) {
                        sets.push(set);
                    }
                }
                if !on {
                    break;
                }
            }
        }
        sets
    }
}

/// What a bucket serves for its cost, and whom it takes.
struct Plan {
    ratio: f64,
    donors: Vec<(u32, usize)>,
}

/// Served per cost.
#[derive(Debug, Clone, Copy)]
struct Ratio(f64);

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}
