//! The walk over all tables: cells of the first variables are split by the next.

use std::sync::Mutex;

use hashbrown::HashMap;

use super::{Cells, Rule, Table};
use crate::error::{Error, Result};
use crate::key_sets::{KeySets, SetIndex};
use crate::key_table::{with_codes, Code, KeyTable};
use crate::memory::{filled, map_room, reserved, room_of};
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Cells whose counters are kept side by side although many may be empty.
const SIDE_BY_SIDE: usize = 1 << 16;

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

/// Counters and working memory of a thread.
struct Worker {
    violations: Vec<u32>,
    categories: Vec<Vec<Vec<Cells>>>,
    tables: Vec<Vec<(usize, Table)>>,
    cell_of_row: Vec<u32>,
    counts: Vec<u32>,
    weights: Vec<f64>,
    violated: Vec<bool>,
}

/// Result of all threads.
pub(super) struct Found {
    pub violations: Vec<u32>,
    pub categories: Vec<Vec<Vec<Cells>>>,
    pub tables: Vec<Vec<Table>>,
}

/// Tables to count, and the threads' counters.
pub(super) struct Search<'a> {
    pub data: Data<'a>,
    places: Vec<SetIndex>,
    /// 1 where code 0, missing, is left out.
    shift: u32,
    workers: Mutex<Vec<Worker>>,
    monitor: &'a Monitor,
}

/// Distinct rows, each for `counts` records whose weights sum to `weights`, and
/// which of their tables are wanted.
pub(super) struct Data<'a> {
    pub table: &'a KeyTable,
    pub counts: &'a [u64],
    pub weights: Option<&'a [f64]>,
    pub dims: &'a [usize],
    /// Per size, its tables.
    pub sets: &'a [KeySets],
    pub rule: Rule,
    pub missing_counts: bool,
}

impl<'a> Search<'a> {
    pub fn new(data: Data<'a>, monitor: &'a Monitor) -> Self {
        Self {
            places: data.sets.iter().map(|&s| SetIndex::new(s)).collect(),
            shift: u32::from(!data.missing_counts),
            workers: Mutex::new(Vec::new()),
            data,
            monitor,
        }
    }

    pub fn run(self) -> Result<Found> {
        let n_rows = self.data.table.n_rows();
        let whole = Prefix {
            ids: filled(0, n_rows)?,
            first_rows: vec![0],
            members: Vec::new(),
        };
        self.descend(&whole)?;
        let mut found = Found {
            violations: filled(0, n_rows)?,
            categories: self.no_categories(),
            tables: self
                .data
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
            .data
            .table
            .columns()
            .iter()
            .map(|c| vec![Cells::default(); c.n_values() as usize + 1])
            .collect();
        vec![of_columns; self.data.dims.len()]
    }

    /// Counts the tables that extend `prefix`, by one variable or more.
    fn descend(&self, prefix: &Prefix) -> Result<()> {
        let n_keys = self.data.table.columns().len();
        let size = prefix.members.len() + 1;
        let from = prefix.members.last().map_or(0, |&v| v + 1);
        if let Some(dim) = self.data.dims.iter().position(|&d| d == size) {
            let mut worker = self.take_worker()?;
            let mut work = usize::MAX;
            for v in from..n_keys {
                if work > ROWS_PER_CHECK {
                    self.monitor.check()?;
                    work = 0;
                }
                work += 2 * self.data.table.n_rows();
                self.count(prefix, v, dim, &mut worker)?;
                self.monitor.advance(1);
            }
            self.give_back(worker)?;
        }
        if self.data.dims.iter().all(|&d| d <= size) {
            return Ok(());
        }
        parallel::try_for_each(from..n_keys, self.monitor, |v| {
            // A prefix that no wanted size can complete needs no cells.
            let longest = size + n_keys - v - 1;
            if !self.data.dims.iter().any(|&d| d > size && d <= longest) {
                return Ok(());
            }
            self.descend(&self.extend(prefix, v)?)
        })
    }

    /// The cells of `prefix` split by variable `v`, numbered as they appear.
    fn extend(&self, prefix: &Prefix, v: usize) -> Result<Prefix> {
        let column = &self.data.table.columns()[v];
        let n_rows = self.data.table.n_rows();
        let width = u64::from(column.n_values() + 1 - self.shift);
        let out = prefix.n_cells() as u32;
        let n_keys = u64::from(out) * width;
        let mut ids = reserved(n_rows)?;
        let mut first_rows: Vec<u32> = reserved(n_keys.min(n_rows as u64) as usize)?;
        let shift = self.shift;
        const LEFT_OUT: u32 = u32::MAX;
        let key = |id: u32, code: u32| {
            (id != out && code >= shift).then(|| u64::from(id) * width + u64::from(code - shift))
        };
        with_codes!(column.codes(), |codes| {
            let rows = prefix.ids.iter().zip(codes).zip(0u32..);
            if n_keys <= 16 * (n_rows as u64).max(SIDE_BY_SIDE as u64) {
                let mut number = filled(LEFT_OUT, n_keys as usize)?;
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
                    map_room(&mut number)?;
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
        let column = &self.data.table.columns()[v];
        let width = (column.n_values() + 1 - self.shift) as usize;
        let n_keys = prefix.n_cells() * width;
        let mut members = prefix.members.clone();
        members.push(v);
        let mut found = Table::default();
        if n_keys <= self.data.table.n_rows().max(SIDE_BY_SIDE) {
            let out = prefix.n_cells() as u32;
            let shift = self.shift;
            room_of(&mut worker.cell_of_row, self.data.table.n_rows())?;
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
            self.fill(n_keys, worker)?;
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
            room_of(&mut worker.cell_of_row, fine.ids.len())?;
            worker.cell_of_row.extend_from_slice(&fine.ids);
            self.fill(fine.n_cells(), worker)?;
            for (id, &row) in fine.first_rows.iter().enumerate() {
                let cell = self.judge(id, worker);
                self.tell(dim, &fine.members, row, cell, worker);
                found.cells.add(cell);
            }
        }
        if found.cells.violations > 0 {
            let rows = worker.violations.iter_mut().zip(&worker.cell_of_row);
            for ((sum, &cell), &n) in rows.zip(self.data.counts) {
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
    fn fill(&self, n_cells: usize, worker: &mut Worker) -> Result<()> {
        let Worker {
            cell_of_row,
            counts,
            weights,
            violated,
            ..
        } = worker;
        room_of(counts, n_cells + 1)?;
        counts.resize(n_cells + 1, 0);
        for (&cell, &n) in cell_of_row.iter().zip(self.data.counts) {
            let sum = &mut counts[cell as usize];
            *sum = sum.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
        }
        if let Some(of_rows) = self.data.weights {
            room_of(weights, n_cells + 1)?;
            weights.resize(n_cells + 1, 0.0);
            for (&cell, &weight) in cell_of_row.iter().zip(of_rows) {
                weights[cell as usize] += weight;
            }
        }
        room_of(violated, n_cells + 1)?;
        violated.resize(n_cells + 1, false);
        Ok(())
    }

    /// True if a cell occurs and is a violation.
    fn judge(&self, cell: usize, worker: &mut Worker) -> Cells {
        let n = worker.counts[cell];
        if n == 0 {
            return Cells::default();
        }
        let weight = worker.weights.get(cell).copied().unwrap_or(0.0);
        let violated = self.data.rule.violated(n, weight);
        worker.violated[cell] = violated;
        Cells {
            n: 1,
            violations: u64::from(violated),
        }
    }

    /// Adds cells that contain the values of `row` to those of its categories.
    fn tell(&self, dim: usize, members: &[usize], row: u32, cells: Cells, worker: &mut Worker) {
        for &member in members {
            let code = self.data.table.columns()[member].codes().get(row as usize);
            worker.categories[dim][member][code as usize].add(cells);
        }
    }

    fn take_worker(&self) -> Result<Worker> {
        if let Some(idle) = self.lock()?.pop() {
            return Ok(idle);
        }
        Ok(Worker {
            violations: filled(0, self.data.table.n_rows())?,
            categories: self.no_categories(),
            tables: vec![Vec::new(); self.data.dims.len()],
            cell_of_row: Vec::new(),
            counts: Vec::new(),
            weights: Vec::new(),
            violated: Vec::new(),
        })
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
