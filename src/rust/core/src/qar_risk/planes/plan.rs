//! Division of the sets: prefixes, pieces of rows, and sets that are counted without bits.

use super::super::partition::{self, Partition, Search, Tally};
use super::layout::{Layout, RowCodes};
use super::leaf::{Job, Leaf, Split};
use super::seen::Sums;
use crate::error::Result;
use crate::key_sets::{KeySets, SetIndex};
use crate::key_table::KeyTable;
use crate::parallel::{self, Monitor};

/// Rows that may be sorted at once, over all columns they are sorted by,
/// unless more threads wait for work.
const ROWS_AT_ONCE: usize = 1 << 20;

/// Rows of a piece of work for one thread.
const ROWS_PER_PIECE: usize = 1 << 16;

/// A set, by its place in `combn()` order, and its classes.
pub type Counted = (usize, Tally);

/// The counting of some or all sets of one size.
pub struct Plan<'a> {
    table: &'a KeyTable,
    sets: KeySets,
    layout: &'a Layout,
    index: SetIndex,
    monitor: &'a Monitor,
    /// Per set whether its number of classes is wanted, and nothing else;
    /// without it all counts of all sets are.
    wanted: Option<&'a [bool]>,
}

impl<'a> Plan<'a> {
    /// To count all sets.
    pub fn new(
        table: &'a KeyTable,
        sets: KeySets,
        layout: &'a Layout,
        monitor: &'a Monitor,
    ) -> Self {
        Self {
            table,
            sets,
            layout,
            index: SetIndex::new(sets),
            monitor,
            wanted: None,
        }
    }

    /// To find no more than the number of classes of the sets marked.
    pub fn only_distinct(self, wanted: &'a [bool]) -> Self {
        Self {
            wanted: Some(wanted),
            ..self
        }
    }

    /// Does it.
    pub fn count(&self) -> Result<Vec<Counted>> {
        let mut counted = self.count_wide()?;
        counted.append(&mut self.descend(&Partition::whole(self.table), &[])?);
        Ok(counted)
    }

    fn wants(&self, place: usize) -> bool {
        self.wanted.is_none_or(|wanted| wanted[place])
    }

    /// Number of the last members that must be narrow: one that is counted in bits, and one that
    /// sorts the records of a chunk.
    fn n_inner(&self) -> usize {
        (self.sets.p() - 1).min(2)
    }

    /// The place of the set of the columns of `ranks`.
    fn place(&self, ranks: impl Iterator<Item = usize>) -> usize {
        let mut members: Vec<usize> = ranks.map(|rank| self.layout.column[rank]).collect();
        members.sort_unstable();
        self.index.of(&members)
    }

    /// Counts the sets that have too few narrow members.
    fn count_wide(&self) -> Result<Vec<Counted>> {
        let (p, n) = (self.sets.p(), self.layout.n_columns());
        let n_wide = n - self.layout.n_narrow();
        if p > 1 && n_wide + self.n_inner() < p + 1 {
            return Ok(Vec::new());
        }
        let mut places = Vec::new();
        let mut columns = Vec::new();
        for set in self.sets.members().chunks(p) {
            // In the order of falling rank the wide ones come first.
            let too_wide = p == 1 || usize::from(set[p - self.n_inner()]) < n_wide;
            let ranks = || set.iter().map(|&at| n - 1 - usize::from(at));
            if too_wide && self.wants(self.place(ranks())) {
                places.push(self.place(ranks()));
                columns.push(ranks().map(|rank| self.layout.column[rank]).collect());
            }
        }
        let tallies = partition::count_listed(self.table, &columns, self.monitor)?;
        Ok(places.into_iter().zip(tallies).collect())
    }

    /// Counts the sets that begin with `prefix`, ranks in falling order,
    /// whose classes are `partition`.
    fn descend(&self, partition: &Partition, prefix: &[usize]) -> Result<Vec<Counted>> {
        let needed = self.sets.p() - prefix.len();
        if needed < 2 {
            return Ok(Vec::new());
        }
        let below = prefix.last().copied().unwrap_or(self.layout.n_columns());
        // The widest first: they begin the most sets. Only so many at a time
        // that their sorted rows take no more than a small share of memory.
        let at_once = rayon::current_num_threads().max(ROWS_AT_ONCE / self.table.n_rows());
        let ranks: Vec<usize> = (needed - 1..below).rev().collect();
        let mut counted = Vec::new();
        for some in ranks.chunks(at_once) {
            let parts = parallel::try_map(some, self.monitor, |&rank| {
                let longer: Vec<usize> = prefix.iter().copied().chain([rank]).collect();
                self.begin_with(partition, &longer)
            })?;
            counted.append(&mut parts.concat());
        }
        Ok(counted)
    }

    /// Counts the sets that begin with `prefix`; `partition` holds the
    /// classes of all its members but the last.
    fn begin_with(&self, partition: &Partition, prefix: &[usize]) -> Result<Vec<Counted>> {
        let rank = prefix[prefix.len() - 1];
        let column = &self.table.columns()[self.layout.column[rank]];
        let refine =
            || Search::new(self.table, self.monitor).refine(partition, self.layout.column[rank]);
        if prefix.len() + self.n_inner() < self.sets.p() {
            return self.descend(&refine()?, prefix);
        }
        let jobs = self.jobs(prefix);
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        if prefix.len() == 1 && !self.layout.has_repeats() {
            let width = rank.min(self.layout.n_narrow());
            let (sorted, codes) = self.layout.sort_by(column, width, self.monitor)?;
            self.count_jobs(&sorted, &codes, prefix, jobs)
        } else {
            self.count_jobs(&refine()?, self.layout.codes(), prefix, jobs)
        }
    }

    /// The work on the last one or two members of the sets of `prefix`.
    fn jobs(&self, prefix: &[usize]) -> Vec<Job> {
        let below = prefix[prefix.len() - 1].min(self.layout.n_narrow());
        let splits: Vec<(Split, usize)> = match self.n_inner() {
            1 => vec![(Split::Whole, below)],
            _ => (1..below).map(|rank| (Split::Rank(rank), rank)).collect(),
        };
        splits
            .into_iter()
            .filter_map(|(split, n_last)| {
                let wants = |&last: &usize| self.wants(self.place(members(prefix, split, last)));
                let first = (0..n_last).find(wants)?;
                let last = (first..n_last).rev().find(wants)?;
                Some(Job::new(self.layout, split, first..last + 1))
            })
            .collect()
    }

    /// Does `jobs` on all classes, piece by piece. `codes` holds the rows of
    /// the partition.
    fn count_jobs(
        &self,
        partition: &Partition,
        codes: &RowCodes,
        prefix: &[usize],
        mut jobs: Vec<Job>,
    ) -> Result<Vec<Counted>> {
        let parts = parallel::try_map_with(
            pieces(partition),
            self.monitor,
            || Leaf::new(self.layout, codes, self.monitor, self.wanted.is_some()),
            |leaf, (start, ends)| {
                let rows = &partition.rows[start as usize..ends[ends.len() - 1] as usize];
                let mut mine = jobs.clone();
                leaf.count(rows, ends, start, &mut mine)?;
                Ok(mine)
            },
        )?;
        for part in &parts {
            for (job, other) in jobs.iter_mut().zip(part) {
                job.merge(other);
            }
        }
        let mut counted = Vec::new();
        for job in &jobs {
            for last in job.last.clone() {
                let place = self.place(members(prefix, job.split, last));
                if self.wants(place) {
                    let sums = job.sums(self.layout, last);
                    counted.push((place, tally(partition.stripped, sums)));
                }
            }
        }
        self.monitor.advance(counted.len() as u64);
        Ok(counted)
    }
}

/// The ranks of a set.
fn members(prefix: &[usize], split: Split, last: usize) -> impl Iterator<Item = usize> + '_ {
    let split = match split {
        Split::Whole => None,
        Split::Rank(rank) => Some(rank),
    };
    prefix.iter().copied().chain(split).chain([last])
}

/// Cuts the classes into pieces of about equal size: where a piece begins,
/// and the ends of its classes.
fn pieces(partition: &Partition) -> Vec<(u32, &[u32])> {
    let size = ROWS_PER_PIECE.max(partition.rows.len() / 64);
    let mut pieces = Vec::new();
    let (mut start, mut first) = (0, 0);
    for (i, &end) in partition.ends.iter().enumerate() {
        if (end - start) as usize >= size || i + 1 == partition.ends.len() {
            pieces.push((start, &partition.ends[first..=i]));
            (start, first) = (end, i + 1);
        }
    }
    pieces
}

/// Classes from those already stripped and the sums of the rest.
fn tally(stripped: Tally, sums: Sums) -> Tally {
    Tally {
        distinct: stripped.distinct + sums.once,
        unique: stripped.unique + sums.once - sums.twice,
        pairs: stripped.pairs + sums.twice - sums.thrice,
    }
}
