//! Counting every key set by a search over stripped partitions.
//!
//! The rows of a table fall into classes of equal values on a key set. Adding
//! a key variable splits classes and never joins them, so a row that is alone
//! stays alone: it is counted once and *stripped*. The search walks the key
//! sets in order, refines the classes of each prefix once, and at the last
//! variable only counts.
//!
//! # Cost
//!
//! At most `n_rows` steps a key set plus the refinements of its prefixes;
//! fewer as rows become unique. Memory: 8 bytes a row for each of the p - 1
//! prefixes, per thread.

use crate::error::Result;
use crate::key_sets::KeySets;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Per key set, in the order of [`KeySets`]: the classes of equal keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetCounts {
    /// Number of classes, H.
    pub distinct: Vec<u32>,
    /// Number of classes that hold one record.
    pub unique: Vec<u32>,
    /// Number of classes that hold two records.
    pub pairs: Vec<u32>,
}

impl SetCounts {
    /// Counts of no class for each of `n` sets.
    pub(super) fn zeros(n: usize) -> Self {
        Self {
            distinct: vec![0; n],
            unique: vec![0; n],
            pairs: vec![0; n],
        }
    }

    pub(super) fn set(&mut self, index: usize, tally: Tally) {
        self.distinct[index] = tally.distinct;
        self.unique[index] = tally.unique;
        self.pairs[index] = tally.pairs;
    }

    fn with_capacity(n: usize) -> Self {
        Self {
            distinct: Vec::with_capacity(n),
            unique: Vec::with_capacity(n),
            pairs: Vec::with_capacity(n),
        }
    }

    pub(super) fn push(&mut self, tally: Tally) {
        self.distinct.push(tally.distinct);
        self.unique.push(tally.unique);
        self.pairs.push(tally.pairs);
    }

    fn append(&mut self, mut other: Self) {
        self.distinct.append(&mut other.distinct);
        self.unique.append(&mut other.unique);
        self.pairs.append(&mut other.pairs);
    }
}

/// Counts all key sets of `sets` on the columns of `table`.
pub fn count_sets(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<SetCounts> {
    monitor.set_total(sets.len() as u64);
    let prefixes = sets.prefixes(sets.p().min(3) - 1);
    let parts = parallel::try_map(prefixes, monitor, |prefix| {
        let mut search = Search::new(table, monitor);
        let mut partition = Partition::whole(table);
        for &v in &prefix {
            partition = search.refine(&partition, v)?;
        }
        let from = prefix.last().map_or(0, |&v| v + 1);
        let mut counts = SetCounts::default();
        search.descend(&partition, sets, from, prefix.len(), &mut counts)?;
        Ok(counts)
    })?;
    let mut counts = SetCounts::with_capacity(sets.len());
    for part in parts {
        counts.append(part);
    }
    Ok(counts)
}

/// Counts the sets listed in `sets`, each a list of columns of `table`. Sets
/// that stand side by side and begin alike share the work on their beginning.
pub(super) fn count_listed(
    table: &KeyTable,
    sets: &[Vec<usize>],
    monitor: &Monitor,
) -> Result<Vec<Tally>> {
    let first_two = |set: &[usize]| (set.first().copied(), set.get(1).copied());
    let tasks = sets.chunk_by(|a, b| first_two(a) == first_two(b));
    let parts = parallel::try_map(tasks, monitor, |task| {
        let mut search = Search::new(table, monitor);
        let mut tallies = Vec::with_capacity(task.len());
        search.walk(&Partition::whole(table), task, 0, &mut tallies)?;
        Ok(tallies)
    })?;
    Ok(parts.concat())
}

/// Classes counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) distinct: u32,
    pub(super) unique: u32,
    pub(super) pairs: u32,
}

impl Tally {
    /// Counts one class that holds `records` records.
    pub(super) fn add(&mut self, records: u64) {
        self.distinct += 1;
        self.unique += u32::from(records == 1);
        self.pairs += u32::from(records == 2);
    }
}

/// The classes of two or more rows, one after the other, and the tally of
/// those already stripped.
pub(super) struct Partition {
    pub(super) rows: Vec<u32>,
    pub(super) ends: Vec<u32>,
    pub(super) stripped: Tally,
}

impl Partition {
    /// All rows in one class, or the only row stripped.
    pub(super) fn whole(table: &KeyTable) -> Self {
        let n = table.n_rows() as u32;
        let mut stripped = Tally::default();
        if n == 1 {
            stripped.add(table.n_records());
            return Self {
                rows: Vec::new(),
                ends: Vec::new(),
                stripped,
            };
        }
        Self {
            rows: (0..n).collect(),
            ends: vec![n],
            stripped,
        }
    }

    fn classes(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.rows[start as usize..end as usize])
    }
}

/// Scratch for refining partitions of one table.
pub(super) struct Search<'a> {
    table: &'a KeyTable,
    monitor: &'a Monitor,
    /// Per code: rows, then places, of the class at hand. Zero between classes.
    slots: Vec<u32>,
    /// Per code: records of the class at hand; empty when rows are records.
    records: Vec<u64>,
    /// Codes of the class at hand.
    touched: Vec<u32>,
}

impl<'a> Search<'a> {
    pub(super) fn new(table: &'a KeyTable, monitor: &'a Monitor) -> Self {
        let widest = table.columns().iter().map(Column::n_values).max();
        let width = widest.unwrap_or(0) as usize + 1;
        Self {
            table,
            monitor,
            slots: vec![0; width],
            records: vec![0; table.multiplicity().map_or(0, |_| width)],
            touched: Vec::new(),
        }
    }

    /// Counts all sets that extend a prefix of `depth` variables, whose
    /// classes are `partition`, by variables from `from` on.
    fn descend(
        &mut self,
        partition: &Partition,
        sets: KeySets,
        from: usize,
        depth: usize,
        counts: &mut SetCounts,
    ) -> Result<()> {
        let last = depth + 1 == sets.p();
        for v in from..=sets.n_keys() - sets.p() + depth {
            if last {
                counts.push(self.count(partition, v)?);
                self.monitor.advance(1);
            } else {
                let finer = self.refine(partition, v)?;
                self.descend(&finer, sets, v + 1, depth + 1, counts)?;
            }
        }
        Ok(())
    }

    /// Counts listed sets that agree in their first `depth` variables, whose
    /// classes are `partition`.
    fn walk(
        &mut self,
        partition: &Partition,
        sets: &[Vec<usize>],
        depth: usize,
        tallies: &mut Vec<Tally>,
    ) -> Result<()> {
        for alike in sets.chunk_by(|a, b| a[depth] == b[depth]) {
            let v = alike[0][depth];
            if depth + 1 == alike[0].len() {
                tallies.push(self.count(partition, v)?);
                self.monitor.advance(1);
            } else {
                let finer = self.refine(partition, v)?;
                self.walk(&finer, alike, depth + 1, tallies)?;
            }
        }
        Ok(())
    }

    /// Splits the classes of `partition` by variable `v`.
    pub(super) fn refine(&mut self, partition: &Partition, v: usize) -> Result<Partition> {
        let mut finer = Partition {
            rows: Vec::with_capacity(partition.rows.len()),
            ends: Vec::new(),
            stripped: partition.stripped,
        };
        let table = self.table;
        with_codes!(table.columns()[v].codes(), |codes| {
            let mut work = 0;
            for class in partition.classes() {
                self.pause(&mut work, class.len())?;
                self.tabulate(class, codes);
                let mut place = finer.rows.len() as u32;
                for &code in &self.touched {
                    let slot = &mut self.slots[code as usize];
                    let size = *slot;
                    // A class of one row is marked, not placed.
                    *slot = if size == 1 { u32::MAX } else { place };
                    if size > 1 {
                        place += size;
                        finer.ends.push(place);
                    }
                }
                finer.rows.resize(place as usize, 0);
                for &row in class {
                    let code = codes[row as usize].index();
                    let slot = &mut self.slots[code];
                    if *slot == u32::MAX {
                        let records = table.multiplicity().map_or(1, |m| m[row as usize]);
                        finer.stripped.add(records);
                    } else {
                        finer.rows[*slot as usize] = row;
                        *slot += 1;
                    }
                }
                self.clear();
            }
            Ok(finer)
        })
    }

    /// Counts the classes that `v` splits `partition` into.
    fn count(&mut self, partition: &Partition, v: usize) -> Result<Tally> {
        let mut tally = partition.stripped;
        let table = self.table;
        with_codes!(table.columns()[v].codes(), |codes| {
            let mut work = 0;
            for class in partition.classes() {
                self.pause(&mut work, class.len())?;
                self.tabulate(class, codes);
                match table.multiplicity() {
                    None => {
                        for &code in &self.touched {
                            tally.add(u64::from(self.slots[code as usize]));
                        }
                    }
                    Some(multiplicity) => {
                        for &row in class {
                            let code = codes[row as usize].index();
                            self.records[code] += multiplicity[row as usize];
                        }
                        for &code in &self.touched {
                            tally.add(std::mem::take(&mut self.records[code as usize]));
                        }
                    }
                }
                self.clear();
            }
            Ok(tally)
        })
    }

    /// Rows per code of one class.
    fn tabulate<C: Code>(&mut self, class: &[u32], codes: &[C]) {
        for &row in class {
            let code = codes[row as usize].value();
            let slot = &mut self.slots[code as usize];
            if *slot == 0 {
                self.touched.push(code);
            }
            *slot += 1;
        }
    }

    fn clear(&mut self) {
        for code in self.touched.drain(..) {
            self.slots[code as usize] = 0;
        }
    }

    /// Looks at the cancel flag once in a while.
    fn pause(&self, work: &mut usize, rows: usize) -> Result<()> {
        if *work == 0 {
            self.monitor.check()?;
        }
        *work += rows;
        if *work > ROWS_PER_CHECK {
            *work = 0;
        }
        Ok(())
    }
}
