//! Exhaustive tabulation: all tables of some sizes, and their small cells.
//!
//! A cell of a table is a combination of values that occurs. It is a violation
//! where fewer records than a threshold fall into it, or where their sampling
//! weights sum to less than a threshold, or both, as the rule says. Counted are,
//! per record, the tables in which it stands in a violation; per size, variable
//! and category, the cells with that category and the violations among them.
//!
//! A record that misses a value of a table's variables is left out of that
//! table, or missing is a category, as asked.
//!
//! # Cost
//!
//! Tables share the cells of their first variables, so that a table costs one
//! step a distinct row, and another one where it has violations. Memory: 4
//! bytes a distinct row and first variable and 12 to 20 bytes a distinct row, per
//! thread.

use std::sync::Mutex;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::individual_risk::check_weights;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::parallel::{Monitor, ROWS_PER_CHECK};
use crate::qar_risk::key_sets::{binomial, KeySets, SetIndex};

/// Sums of weights closer than this share to a threshold reach it: 30 weights
/// of 0.1 reach 3.
const TOLERANCE: f64 = 1e-9;
/// Cells whose counters are kept side by side although many may be empty.
const SIDE_BY_SIDE: usize = 1 << 16;

/// Which cells are violations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Fewer records than this.
    Records(u32),
    /// Weights that sum to less than this.
    Weight(f64),
    /// The one or the other.
    Either(u32, f64),
    /// The one and the other.
    Both(u32, f64),
}

impl Rule {
    fn violated(self, n: u32, weight: f64) -> bool {
        let light = |threshold: f64| weight < threshold * (1.0 - TOLERANCE);
        match self {
            Rule::Records(threshold) => n < threshold,
            Rule::Weight(threshold) => light(threshold),
            Rule::Either(records, threshold) => n < records || light(threshold),
            Rule::Both(records, threshold) => n < records && light(threshold),
        }
    }

    fn weighs(self) -> bool {
        !matches!(self, Rule::Records(_))
    }
}

/// Cells and the violations among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cells {
    /// Cells that occur.
    pub n: u64,
    /// Violations.
    pub violations: u64,
}

impl Cells {
    fn add(&mut self, other: Cells) {
        self.n += other.n;
        self.violations += other.violations;
    }
}

/// One table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Table {
    /// Its cells.
    pub cells: Cells,
    /// Records in its violations.
    pub records: u64,
}

/// The records of a category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Records {
    /// Their number.
    pub n: u64,
    /// Those that stand in a violation of at least one table.
    pub violating: u64,
    /// The tables in which they do, summed over them.
    pub violations: u64,
}

/// What all tables together show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tabulation {
    /// Per row, the tables in which its records stand in a violation.
    pub violations: Vec<u32>,
    /// Per row, the tables it takes part in.
    pub tables_of_row: Vec<u32>,
    /// Per size asked for, per variable, per code from 0 (missing): the cells
    /// with that category.
    pub categories: Vec<Vec<Vec<Cells>>>,
    /// Per variable, per code from 0 (missing): the records of that category.
    pub records: Vec<Vec<Records>>,
    /// Per size asked for, the tables in the order of `combn()`.
    pub tables: Vec<Vec<Table>>,
}

/// Tabulates all tables of the sizes `dims`. `weights` has one entry per row,
/// `missing_counts` makes missing a category.
pub fn tabulate(
    table: &KeyTable,
    weights: Option<&[f64]>,
    dims: &[usize],
    rule: Rule,
    missing_counts: bool,
    max_tables: usize,
    monitor: &Monitor,
) -> Result<Tabulation> {
    let n_keys = table.columns().len();
    let sets = dims
        .iter()
        .map(|&dim| KeySets::new(n_keys, dim, max_tables))
        .collect::<Result<Vec<_>>>()?;
    let n_tables: usize = sets.iter().map(KeySets::len).sum();
    if n_tables > max_tables {
        return Err(Error::TooLarge(format!(
            "{n_tables} tables are more than the limit of {max_tables}."
        )));
    }
    match (rule.weighs(), weights) {
        (true, None) => {
            return Err(Error::BadArgument(
                "A threshold of weights needs weights.".into(),
            ))
        }
        (true, Some(weights)) => check_weights(table, weights)?,
        _ => {}
    }
    monitor.set_total(n_tables as u64);
    let weights = weights.filter(|_| rule.weighs());
    let groups = table.group(monitor)?;
    let distinct = table.distinct(&groups)?;
    let distinct_weights = weights.map(|weights| {
        let mut sums = vec![0.0; groups.len()];
        for (&group, &weight) in groups.row_group().iter().zip(weights) {
            sums[group as usize] += weight;
        }
        sums
    });
    let found = Search {
        table: &distinct,
        counts: groups.counts(),
        weights: distinct_weights.as_deref(),
        dims,
        places: sets.iter().map(|&s| SetIndex::new(s)).collect(),
        sets: &sets,
        rule,
        shift: u32::from(!missing_counts),
        workers: Mutex::new(Vec::new()),
        monitor,
    }
    .run()?;
    let of_rows = |values: Vec<u32>| -> Vec<u32> {
        groups
            .row_group()
            .iter()
            .map(|&g| values[g as usize])
            .collect()
    };
    let tables_of_row = of_rows(tables_of_rows(&distinct, dims, missing_counts));
    Ok(Tabulation {
        records: records_by_category(&distinct, groups.counts(), &found.violations),
        violations: of_rows(found.violations),
        tables_of_row,
        categories: found.categories,
        tables: found.tables,
    })
}

/// The records of every category; row `i` stands for `counts[i]` of them, each
/// in as many violations as `violations` says.
fn records_by_category(table: &KeyTable, counts: &[u64], violations: &[u32]) -> Vec<Vec<Records>> {
    let of_column = |column: &Column| {
        let mut sums = vec![Records::default(); column.n_values() as usize + 1];
        with_codes!(column.codes(), |codes| {
            for ((code, &n), &violations) in codes.iter().zip(counts).zip(violations) {
                let sum = &mut sums[code.index()];
                sum.n += n;
                sum.violating += n * u64::from(violations > 0);
                sum.violations += n * u64::from(violations);
            }
        });
        sums
    };
    table.columns().par_iter().map(of_column).collect()
}

/// Per row, the number of tables it is complete in.
fn tables_of_rows(table: &KeyTable, dims: &[usize], missing_counts: bool) -> Vec<u32> {
    let n_keys = table.columns().len();
    let mut complete = vec![n_keys as u32; table.n_rows()];
    if !missing_counts {
        for column in table.columns().iter().filter(|c| c.n_missing() > 0) {
            with_codes!(column.codes(), |codes| {
                for (n, code) in complete.iter_mut().zip(codes) {
                    *n -= u32::from(code.value() == 0);
                }
            });
        }
    }
    // No number exceeds that of all tables, which was checked.
    let tables: Vec<u32> = (0..=n_keys as u64)
        .map(|c| {
            dims.iter()
                .map(|&d| binomial(c, d as u64).unwrap_or(0) as u32)
                .sum()
        })
        .collect();
    complete.iter().map(|&c| tables[c as usize]).collect()
}

/// The cells of the first variables of tables: `ids` numbers those that occur,
/// `first_rows.len()` stands for rows left out.
struct Prefix {
    ids: Vec<u32>,
    first_rows: Vec<u32>,
    members: Vec<usize>,
}

impl Prefix {
    fn n_cells(&self) -> usize {
        self.first_rows.len()
    }
}

/// What a thread counts into, and its working memory.
struct Worker {
    violations: Vec<u32>,
    categories: Vec<Vec<Vec<Cells>>>,
    tables: Vec<Vec<(usize, Table)>>,
    cell_of_row: Vec<u32>,
    counts: Vec<u32>,
    weights: Vec<f64>,
    violated: Vec<bool>,
}

struct Found {
    violations: Vec<u32>,
    categories: Vec<Vec<Vec<Cells>>>,
    tables: Vec<Vec<Table>>,
}

/// `table` has distinct rows, each for `counts` records.
struct Search<'a> {
    table: &'a KeyTable,
    counts: &'a [u64],
    weights: Option<&'a [f64]>,
    dims: &'a [usize],
    places: Vec<SetIndex>,
    sets: &'a [KeySets],
    rule: Rule,
    /// 1 where code 0, missing, is left out.
    shift: u32,
    workers: Mutex<Vec<Worker>>,
    monitor: &'a Monitor,
}

impl Search<'_> {
    fn run(self) -> Result<Found> {
        let n_rows = self.table.n_rows();
        let whole = Prefix {
            ids: vec![0; n_rows],
            first_rows: vec![0],
            members: Vec::new(),
        };
        self.descend(&whole)?;
        let mut found = Found {
            violations: vec![0; n_rows],
            categories: self.no_categories(),
            tables: self
                .sets
                .iter()
                .map(|s| vec![Table::default(); s.len()])
                .collect(),
        };
        let workers = self
            .workers
            .into_inner()
            .map_err(|_| Error::Internal("A thread failed while it counted.".into()))?;
        for worker in workers {
            for (sum, n) in found.violations.iter_mut().zip(worker.violations) {
                *sum += n;
            }
            let sums = found.categories.iter_mut().flatten().flatten();
            for (sum, cells) in sums.zip(worker.categories.into_iter().flatten().flatten()) {
                sum.add(cells);
            }
            for (all, some) in found.tables.iter_mut().zip(worker.tables) {
                for (place, table) in some {
                    all[place] = table;
                }
            }
        }
        Ok(found)
    }

    fn no_categories(&self) -> Vec<Vec<Vec<Cells>>> {
        let of_columns: Vec<Vec<Cells>> = self
            .table
            .columns()
            .iter()
            .map(|c| vec![Cells::default(); c.n_values() as usize + 1])
            .collect();
        vec![of_columns; self.dims.len()]
    }

    /// Counts the tables that extend `prefix`, by one variable or more.
    fn descend(&self, prefix: &Prefix) -> Result<()> {
        let n_keys = self.table.columns().len();
        let size = prefix.members.len() + 1;
        let from = prefix.members.last().map_or(0, |&v| v + 1);
        if let Some(dim) = self.dims.iter().position(|&d| d == size) {
            let mut worker = self.take_worker()?;
            let mut work = usize::MAX;
            for v in from..n_keys {
                if work > ROWS_PER_CHECK {
                    self.monitor.check()?;
                    work = 0;
                }
                work += 2 * self.table.n_rows();
                self.count(prefix, v, dim, &mut worker)?;
                self.monitor.advance(1);
            }
            self.give_back(worker)?;
        }
        if self.dims.iter().all(|&d| d <= size) {
            return Ok(());
        }
        (from..n_keys).into_par_iter().try_for_each(|v| {
            self.monitor.check()?;
            // A prefix that no wanted size can complete needs no cells.
            let longest = size + n_keys - v - 1;
            if !self.dims.iter().any(|&d| d > size && d <= longest) {
                return Ok(());
            }
            self.descend(&self.extend(prefix, v)?)
        })
    }

    /// The cells of `prefix` split by variable `v`, numbered as they appear.
    fn extend(&self, prefix: &Prefix, v: usize) -> Result<Prefix> {
        let column = &self.table.columns()[v];
        let n_rows = self.table.n_rows();
        let width = u64::from(column.n_values() + 1 - self.shift);
        let out = prefix.n_cells() as u32;
        let n_keys = u64::from(out) * width;
        let mut ids = Vec::with_capacity(n_rows);
        let mut first_rows: Vec<u32> = Vec::new();
        let shift = self.shift;
        const LEFT_OUT: u32 = u32::MAX;
        let key = |id: u32, code: u32| {
            (id != out && code >= shift).then(|| u64::from(id) * width + u64::from(code - shift))
        };
        with_codes!(column.codes(), |codes| {
            let rows = prefix.ids.iter().zip(codes).zip(0u32..);
            if n_keys <= 16 * (n_rows as u64).max(SIDE_BY_SIDE as u64) {
                let mut number = vec![LEFT_OUT; n_keys as usize];
                ids.extend(rows.map(|((&id, &code), row)| {
                    let Some(key) = key(id, code.value()) else {
                        return LEFT_OUT;
                    };
                    let slot = &mut number[key as usize];
                    if *slot == LEFT_OUT {
                        *slot = first_rows.len() as u32;
                        first_rows.push(row);
                    }
                    *slot
                }));
            } else {
                let mut number: HashMap<u64, u32> = HashMap::new();
                for (((&id, &code), row), step) in rows.zip(0usize..) {
                    if step % ROWS_PER_CHECK == 0 {
                        self.monitor.check()?;
                    }
                    ids.push(match key(id, code.value()) {
                        None => LEFT_OUT,
                        Some(key) => *number.entry(key).or_insert_with(|| {
                            first_rows.push(row);
                            first_rows.len() as u32 - 1
                        }),
                    });
                }
            }
        });
        let n_cells = first_rows.len() as u32;
        for id in ids.iter_mut().filter(|id| **id == LEFT_OUT) {
            *id = n_cells;
        }
        let mut members = prefix.members.clone();
        members.push(v);
        Ok(Prefix {
            ids,
            first_rows,
            members,
        })
    }

    /// Counts the table of `prefix` and variable `v`.
    fn count(&self, prefix: &Prefix, v: usize, dim: usize, worker: &mut Worker) -> Result<()> {
        let column = &self.table.columns()[v];
        let width = (column.n_values() + 1 - self.shift) as usize;
        let n_keys = prefix.n_cells() * width;
        let mut members = prefix.members.clone();
        members.push(v);
        let mut found = Table::default();
        if n_keys <= self.table.n_rows().max(SIDE_BY_SIDE) {
            let out = prefix.n_cells() as u32;
            let shift = self.shift;
            worker.cell_of_row.clear();
            with_codes!(column.codes(), |codes| {
                let cells = prefix.ids.iter().zip(codes).map(|(&id, &code)| {
                    let code = code.value();
                    if id == out || code < shift {
                        n_keys as u32
                    } else {
                        id * width as u32 + (code - shift)
                    }
                });
                worker.cell_of_row.extend(cells);
            });
            self.fill(n_keys, worker);
            for (id, &row) in prefix.first_rows.iter().enumerate() {
                let mut of_prefix = Cells::default();
                for code in 0..width {
                    let cell = self.judge(id * width + code, worker);
                    if cell.n > 0 {
                        worker.categories[dim][v][code + shift as usize].add(cell);
                        of_prefix.add(cell);
                    }
                }
                self.tell(dim, &prefix.members, row, of_prefix, worker);
                found.cells.add(of_prefix);
            }
        } else {
            let fine = self.extend(prefix, v)?;
            worker.cell_of_row.clear();
            worker.cell_of_row.extend_from_slice(&fine.ids);
            self.fill(fine.n_cells(), worker);
            for (id, &row) in fine.first_rows.iter().enumerate() {
                let cell = self.judge(id, worker);
                self.tell(dim, &fine.members, row, cell, worker);
                found.cells.add(cell);
            }
        }
        if found.cells.violations > 0 {
            let rows = worker.violations.iter_mut().zip(&worker.cell_of_row);
            for ((sum, &cell), &n) in rows.zip(self.counts) {
                let violated = worker.violated[cell as usize];
                *sum += u32::from(violated);
                found.records += n * u64::from(violated);
            }
        }
        worker.tables[dim].push((self.places[dim].of(&members), found));
        Ok(())
    }

    /// Adds the rows up by cell; the cell after the last takes the rows left
    /// out.
    fn fill(&self, n_cells: usize, worker: &mut Worker) {
        let Worker {
            cell_of_row,
            counts,
            weights,
            violated,
            ..
        } = worker;
        counts.clear();
        counts.resize(n_cells + 1, 0);
        for (&cell, &n) in cell_of_row.iter().zip(self.counts) {
            let sum = &mut counts[cell as usize];
            *sum = sum.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
        }
        if let Some(of_rows) = self.weights {
            weights.clear();
            weights.resize(n_cells + 1, 0.0);
            for (&cell, &weight) in cell_of_row.iter().zip(of_rows) {
                weights[cell as usize] += weight;
            }
        }
        violated.clear();
        violated.resize(n_cells + 1, false);
    }

    /// Whether a cell occurs and is a violation.
    fn judge(&self, cell: usize, worker: &mut Worker) -> Cells {
        let n = worker.counts[cell];
        if n == 0 {
            return Cells::default();
        }
        let weight = worker.weights.get(cell).copied().unwrap_or(0.0);
        let violated = self.rule.violated(n, weight);
        worker.violated[cell] = violated;
        Cells {
            n: 1,
            violations: u64::from(violated),
        }
    }

    /// Adds cells that contain the values of `row` to those of its categories.
    fn tell(&self, dim: usize, members: &[usize], row: u32, cells: Cells, worker: &mut Worker) {
        for &member in members {
            let code = self.table.columns()[member].codes().get(row as usize);
            worker.categories[dim][member][code as usize].add(cells);
        }
    }

    fn take_worker(&self) -> Result<Worker> {
        let mut idle = self.lock()?;
        Ok(idle.pop().unwrap_or_else(|| Worker {
            violations: vec![0; self.table.n_rows()],
            categories: self.no_categories(),
            tables: vec![Vec::new(); self.dims.len()],
            cell_of_row: Vec::new(),
            counts: Vec::new(),
            weights: Vec::new(),
            violated: Vec::new(),
        }))
    }

    fn give_back(&self, worker: Worker) -> Result<()> {
        self.lock()?.push(worker);
        Ok(())
    }

    fn lock(&self) -> Result<std::sync::MutexGuard<'_, Vec<Worker>>> {
        self.workers
            .lock()
            .map_err(|_| Error::Internal("A thread failed while it counted.".into()))
    }
}

#[cfg(test)]
#[path = "exhaustive_tests.rs"]
mod tests;
