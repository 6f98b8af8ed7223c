//! A walk over all key sets that shows the classes of equal keys of each.
//!
//! [`partition`](super::partition) counts; this walk lets a [`Visitor`] see
//! which rows stand in which class. Rows that are alone on the first
//! variables of a set are alone on the whole set: they leave the classes for
//! good and are shown once, with the range of sets they are alone on.
//!
//! # Cost
//!
//! At most `n_rows` steps a wanted key set plus the refinements of its
//! prefixes. Memory: 8 bytes a row for each of the p - 1 prefixes, per thread.

use std::ops::Range;

use crate::error::Result;
use crate::key_sets::{binomial, KeySets};
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Rows by class on the first variables of a key set.
#[derive(Debug, Default)]
pub struct Classes {
    rows: Vec<u32>,
    ends: Vec<u32>,
    alone: Vec<u32>,
}

impl Classes {
    fn whole(n_rows: usize) -> Self {
        let rows: Vec<u32> = (0..n_rows as u32).collect();
        if n_rows == 1 {
            return Self {
                alone: rows,
                ..Self::default()
            };
        }
        Self {
            rows,
            ends: vec![n_rows as u32],
            alone: Vec::new(),
        }
    }

    /// The classes of two or more rows.
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.rows[start as usize..end as usize])
    }

    /// The rows that are alone.
    pub fn alone(&self) -> &[u32] {
        &self.alone
    }
}

/// Memory of one thread per code of the variable at hand.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Rows of the class at hand and what the visitor gathers of them.
    slots: Vec<[u32; 2]>,
    touched: Vec<u32>,
    /// Counts per class size, for visitors that want them.
    pub sizes: Vec<u32>,
}

impl Scratch {
    fn new(table: &KeyTable) -> Self {
        let widest = table.columns().iter().map(Column::n_values).max();
        Self {
            slots: vec![[0, 0]; widest.unwrap_or(0) as usize + 1],
            ..Self::default()
        }
    }

    /// Splits the classes of a prefix by one more variable. Every new class
    /// is told to `done` as its number of rows and the `gather`ed numbers of
    /// its rows.
    pub fn split(
        &mut self,
        prefix: &Classes,
        column: &Column,
        gather: impl Fn(u32, u32) -> u32,
        mut done: impl FnMut(u32, u32),
    ) {
        let Self { slots, touched, .. } = self;
        with_codes!(column.codes(), |codes| {
            for class in prefix.iter() {
                for &row in class {
                    let code = codes[row as usize].value();
                    let slot = &mut slots[code as usize];
                    if slot[0] == 0 {
                        touched.push(code);
                    }
                    slot[0] += 1;
                    slot[1] = gather(slot[1], row);
                }
                for code in touched.drain(..) {
                    let [size, gathered] = std::mem::take(&mut slots[code as usize]);
                    done(size, gathered);
                }
            }
        });
    }

    /// Numbers the classes of a prefix split by one more variable, from 0 and
    /// in the order of their first rows there: `place(row, number)` for every
    /// row of a class, then `done(number, size)`.
    pub fn number(
        &mut self,
        prefix: &Classes,
        column: &Column,
        mut place: impl FnMut(u32, u32),
        mut done: impl FnMut(u32, u32),
    ) {
        let Self { slots, touched, .. } = self;
        let mut next = 0;
        with_codes!(column.codes(), |codes| {
            for class in prefix.iter() {
                for &row in class {
                    let code = codes[row as usize].value();
                    let slot = &mut slots[code as usize];
                    if slot[0] == 0 {
                        touched.push(code);
                        slot[1] = next;
                        next += 1;
                    }
                    slot[0] += 1;
                    place(row, slot[1]);
                }
                for code in touched.drain(..) {
                    let [size, number] = std::mem::take(&mut slots[code as usize]);
                    done(number, size);
                }
            }
        });
        for &row in prefix.alone() {
            place(row, next);
            done(next, 1);
            next += 1;
        }
    }

    /// The classes of a prefix split by one more variable, as classes.
    fn refine(&mut self, prefix: &Classes, column: &Column) -> Classes {
        let mut finer = Classes {
            rows: Vec::with_capacity(prefix.rows.len()),
            ends: Vec::new(),
            alone: prefix.alone.clone(),
        };
        let Self { slots, touched, .. } = self;
        with_codes!(column.codes(), |codes| {
            for class in prefix.iter() {
                for &row in class {
                    let code = codes[row as usize].value();
                    let slot = &mut slots[code as usize];
                    if slot[0] == 0 {
                        touched.push(code);
                    }
                    slot[0] += 1;
                }
                let mut place = finer.rows.len() as u32;
                for &code in touched.iter() {
                    let slot = &mut slots[code as usize];
                    slot[1] = place;
                    if slot[0] > 1 {
                        place += slot[0];
                        finer.ends.push(place);
                    }
                }
                finer.rows.resize(place as usize, 0);
                for &row in class {
                    let slot = &mut slots[codes[row as usize].index()];
                    if slot[0] == 1 {
                        finer.alone.push(row);
                    } else {
                        finer.rows[slot[1] as usize] = row;
                        slot[1] += 1;
                    }
                }
                for code in touched.drain(..) {
                    slots[code as usize] = [0, 0];
                }
            }
        });
        finer
    }
}

/// Sees the classes of key sets; several threads call it at once.
pub trait Visitor: Sync {
    /// `rows` turned out to be alone on the first variables of `sets`.
    fn alone(&self, rows: &[u32], sets: Range<usize>);
    /// The classes of key set `set` are those of `prefix` split by `last`.
    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch);
}

/// Shows `visitor` the classes of every key set that `wanted` marks. Rows of
/// `table` are records.
pub fn walk(
    table: &KeyTable,
    sets: KeySets,
    wanted: &[bool],
    visitor: &impl Visitor,
    monitor: &Monitor,
) -> Result<()> {
    let mut wanted_before = Vec::with_capacity(wanted.len() + 1);
    let mut n = 0usize;
    wanted_before.push(0);
    for &w in wanted {
        n += usize::from(w);
        wanted_before.push(n);
    }
    let walk = Walk {
        table,
        sets,
        wanted_before: &wanted_before,
        visitor,
        monitor,
    };
    let whole = Classes::whole(table.n_rows());
    visitor.alone(whole.alone(), 0..sets.len());
    walk.descend(&whole, 0, 0, 0)
}

struct Walk<'a, V> {
    table: &'a KeyTable,
    sets: KeySets,
    /// Wanted sets before each set.
    wanted_before: &'a [usize],
    visitor: &'a V,
    monitor: &'a Monitor,
}

impl<V: Visitor> Walk<'_, V> {
    fn n_wanted(&self, sets: &Range<usize>) -> usize {
        self.wanted_before[sets.end] - self.wanted_before[sets.start]
    }

    /// Number of sets that extend a prefix of `depth` variables by `v`.
    fn n_below(&self, depth: usize, v: usize) -> usize {
        let after = self.sets.n_keys() - v - 1;
        let more = self.sets.p() - depth - 1;
        binomial(after as u64, more as u64).unwrap_or(0) as usize
    }

    /// Walks the sets that extend a prefix of `depth` variables by variables
    /// from `from` on; the first of them is `first`.
    fn descend(&self, prefix: &Classes, from: usize, depth: usize, first: usize) -> Result<()> {
        let mut start = first;
        let branches: Vec<(usize, Range<usize>)> = (from..=self.sets.n_keys() - self.sets.p()
            + depth)
            .map(|v| {
                let sets = start..start + self.n_below(depth, v);
                start = sets.end;
                (v, sets)
            })
            .filter(|(_, sets)| self.n_wanted(sets) > 0)
            .collect();
        if depth + 1 == self.sets.p() {
            let mut scratch = Scratch::new(self.table);
            let mut work = usize::MAX;
            for (v, sets) in branches {
                if work > ROWS_PER_CHECK {
                    self.monitor.check()?;
                    work = 0;
                }
                work += prefix.rows.len();
                let last = &self.table.columns()[v];
                self.visitor.set(sets.start, prefix, last, &mut scratch);
                self.monitor.advance(1);
            }
            return Ok(());
        }
        parallel::try_for_each(branches, self.monitor, |(v, sets)| {
            let column = &self.table.columns()[v];
            let finer = Scratch::new(self.table).refine(prefix, column);
            let known = prefix.alone.len();
            self.visitor.alone(&finer.alone[known..], sets.clone());
            self.descend(&finer, v + 1, depth + 1, sets.start)
        })
    }
}
