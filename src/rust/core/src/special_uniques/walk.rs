//! A walk over key sets, from short to long, that shows which rows are alone on each.
//!
//! A class of a set holds the rows that agree on it with the *complete* rows of one key,
//! those without a missing value in the set: the complete rows themselves first, then
//! the rows that agree because values of theirs are missing, which stand in several
//! classes. Rows that are alone in their class leave it for good. Without missing values
//! these are the stripped partitions of `qar_risk`.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::memory::{collected, push};
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Rows in the classes of one set: more are an error. Missing values repeat rows.
const MOST_ROWS: usize = 1 << 28;

/// Shows `visit` for every set of `sizes` variables the rows that are alone on it and were
/// not without its last variable, and for the sets that these begin with. A set comes after
/// those it begins with; several threads show sets at once.
pub(super) fn walk(
    table: &KeyTable,
    sizes: RangeInclusive<usize>,
    visit: &(impl Fn(&[usize], &[u32]) + Sync),
    monitor: &Monitor,
) -> Result<()> {
    let n = table.n_rows();
    // A row that misses all later variables keeps the others of its class from being alone.
    let mut last_known = collected((0..n).map(|_| 0u16), n)?;
    for (v, column) in table.columns().iter().enumerate() {
        with_codes!(column.codes(), |codes| {
            for (last, code) in last_known.iter_mut().zip(codes) {
                if code.index() != 0 {
                    *last = v as u16 + 1;
                }
            }
        });
    }
    let walk = Walk {
        table,
        sizes,
        last_known,
        visit,
        monitor,
    };
    let rows = collected(0..n as u32, n)?;
    let whole = Classes {
        ends: vec![[n as u32, n as u32]],
        rows,
    };
    walk.descend(&whole, &[], &mut Scratch::new(table))
}

/// Rows by class.
#[derive(Debug, Default)]
struct Classes {
    rows: Vec<u32>,
    /// Per class, where its complete rows and all its rows end.
    ends: Vec<[u32; 2]>,
}

impl Classes {
    /// The complete rows of each class, and the others.
    fn iter(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end[1]));
        starts.zip(&self.ends).map(|(start, &[complete, end])| {
            (
                &self.rows[start as usize..complete as usize],
                &self.rows[complete as usize..end as usize],
            )
        })
    }
}

/// Memory of one thread per code of the variable at hand.
struct Scratch {
    /// Complete rows and other rows of the class with the code, and the first of the
    /// former or the place of the next.
    slots: Vec<[u32; 3]>,
    touched: Vec<u32>,
    alone: Vec<u32>,
}

impl Scratch {
    fn new(table: &KeyTable) -> Self {
        let widest = table.columns().iter().map(Column::n_values).max();
        Self {
            slots: vec![[0; 3]; widest.unwrap_or(0) as usize + 1],
            touched: Vec::new(),
            alone: Vec::new(),
        }
    }

    /// Counts the rows of a class by code.
    fn count<C: Code>(&mut self, codes: &[C], complete: &[u32], others: &[u32]) {
        for (kind, rows) in [complete, others].into_iter().enumerate() {
            for &row in rows {
                let code = codes[row as usize].value();
                let slot = &mut self.slots[code as usize];
                if slot[0] + slot[1] == 0 {
                    self.touched.push(code);
                }
                if kind == 0 && slot[0] == 0 {
                    slot[2] = row;
                }
                slot[kind] += 1;
            }
        }
    }

    fn clear(&mut self) {
        for code in self.touched.drain(..) {
            self.slots[code as usize] = [0; 3];
        }
    }

    /// The rows that are alone if the classes are split by one more variable.
    fn split(&mut self, classes: &Classes, column: &Column) {
        self.alone.clear();
        with_codes!(column.codes(), |codes| {
            for (complete, others) in classes.iter() {
                // A row that misses the variable agrees with all others.
                let missing = |&row: &u32| codes[row as usize].index() == 0;
                let all = || complete.iter().chain(others);
                if column.n_missing() > 0 && all().any(missing) {
                    continue;
                }
                self.count(codes, complete, others);
                for code in self.touched.drain(..) {
                    let slot = std::mem::take(&mut self.slots[code as usize]);
                    if slot[..2] == [1, 0] {
                        self.alone.push(slot[2]);
                    }
                }
            }
        });
    }
}

struct Walk<'a, V> {
    table: &'a KeyTable,
    sizes: RangeInclusive<usize>,
    /// Per row, one more than the last variable that it knows.
    last_known: Vec<u16>,
    visit: &'a V,
    monitor: &'a Monitor,
}

impl<V: Fn(&[usize], &[u32]) + Sync> Walk<'_, V> {
    /// Walks the sets that extend `prefix`, whose classes are given, by later variables.
    fn descend(&self, classes: &Classes, prefix: &[usize], scratch: &mut Scratch) -> Result<()> {
        let depth = prefix.len();
        let columns = self.table.columns();
        // Later variables must be left for a set of the smallest size.
        let left = self.sizes.start().saturating_sub(depth + 1);
        let later = prefix.last().map_or(0, |&v| v + 1)..columns.len().saturating_sub(left);
        let mut members = [prefix, &[0]].concat();
        if depth + 1 == *self.sizes.end() {
            let mut work = usize::MAX;
            for v in later.clone() {
                if work > ROWS_PER_CHECK {
                    self.monitor.check()?;
                    work = 0;
                }
                work += classes.rows.len();
                members[depth] = v;
                scratch.split(classes, &columns[v]);
                (self.visit)(&members, &scratch.alone);
            }
            self.monitor.advance(later.len() as u64);
            return Ok(());
        }
        let below = |v: usize, members: &mut [usize], scratch: &mut Scratch| {
            members[depth] = v;
            let finer = self.refine(classes, v, scratch)?;
            (self.visit)(members, &scratch.alone);
            self.descend(&finer, members, scratch)
        };
        if depth < 2 {
            return parallel::try_for_each(later, self.monitor, |v| {
                below(v, &mut members.clone(), &mut Scratch::new(self.table))
            });
        }
        self.monitor.check()?;
        later
            .into_iter()
            .try_for_each(|v| below(v, &mut members, scratch))
    }

    /// The classes split by one more variable; the rows that are alone are in the scratch.
    fn refine(&self, classes: &Classes, v: usize, scratch: &mut Scratch) -> Result<Classes> {
        let column = &self.table.columns()[v];
        let mut finer = Classes::default();
        let mut missing: Vec<u32> = Vec::new();
        scratch.alone.clear();
        with_codes!(column.codes(), |codes| {
            for (complete, others) in classes.iter() {
                let code = |row: u32| codes[row as usize].index();
                missing.clear();
                if column.n_missing() > 0 {
                    let all = complete.iter().chain(others).copied();
                    missing.extend(all.filter(|&row| code(row) == 0));
                    if (missing.iter()).any(|&r| usize::from(self.last_known[r as usize]) <= v + 1)
                    {
                        continue;
                    }
                }
                scratch.count(codes, complete, others);
                let mut place = finer.rows.len();
                for &code in &scratch.touched {
                    let slot = &mut scratch.slots[code as usize];
                    let [whole, part, row] = *slot;
                    if code == 0 || whole == 0 {
                        slot[2] = u32::MAX;
                    } else if whole == 1 && part == 0 && missing.is_empty() {
                        scratch.alone.push(row);
                        slot[2] = u32::MAX;
                    } else {
                        slot[2] = place as u32;
                        let complete = place + whole as usize;
                        place = complete + part as usize + missing.len();
                        if place > MOST_ROWS {
                            return Err(too_many_matches());
                        }
                        push(&mut finer.ends, [complete as u32, place as u32])?;
                    }
                }
                let more = place - finer.rows.len();
                finer
                    .rows
                    .try_reserve(more)
                    .map_err(|_| crate::memory::too_large(4 * place))?;
                finer.rows.resize(place, 0);
                for &row in complete.iter().chain(others) {
                    let slot = &mut scratch.slots[code(row)];
                    if slot[2] != u32::MAX {
                        finer.rows[slot[2] as usize] = row;
                        slot[2] += 1;
                    }
                }
                if !missing.is_empty() {
                    for &code in &scratch.touched {
                        let place = scratch.slots[code as usize][2];
                        if place != u32::MAX {
                            finer.rows[place as usize..][..missing.len()].copy_from_slice(&missing);
                        }
                    }
                }
                scratch.clear();
            }
        });
        Ok(finer)
    }
}

fn too_many_matches() -> Error {
    Error::too_large(
        &format!("At most {MOST_ROWS} agreements of records are kept at a time."),
        "Missing values make records agree with more than that.",
        "Use `missing = \"category\"`, a smaller `max_size`, or fewer key variables.",
    )
}
