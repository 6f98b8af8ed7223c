//! Counting the classes of many key sets at once, in bits.
//!
//! Every value of a column is one bit of a record. Sort the records by all
//! members of a set but the one with the fewest values: within a group of
//! equal records, "or" and "and" of their bits count to three for *every*
//! possible last member at the same time, a few instructions a record for
//! dozens of sets. That gives the classes, those of one and those of two
//! records, since three is as good as more.
//!
//! The members of a set are taken by falling number of values: the wide ones
//! split the records into groups, the narrow ones cost few bits. The first
//! p - 2 members give classes of rows by [`super::partition`]; the rest of the
//! work goes in chunks of records that stay in the fast caches:
//! one counting sort a pair of column and chunk, then the bits.
//!
//! Sets with too few narrow columns are left to [`super::partition`].
//!
//! # Cost
//!
//! Per class prefix and further column about one nanosecond a row for the
//! sort, and for every 128 bits of last columns a quarter of one. Memory: one
//! byte a cell for the codes row by row, per thread 4 bytes a row for each of
//! the p - 2 first members, and less than 10 megabytes of scratch.

mod chunk;
mod layout;
mod leaf;
mod seen;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::key_sets::{KeySets, SetIndex};
use super::partition::{self, Partition, Search, SetCounts, Tally};
use crate::error::Result;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use layout::{Layout, RowCodes, MAX_BITS};
use leaf::{Job, Leaf, Split};
use seen::Sums;

/// Rows of a piece of work for one thread.
const ROWS_PER_PIECE: usize = 1 << 16;

/// Counts all key sets of `sets` on the columns of `table`. The same numbers
/// as [`partition::count_sets`], sooner.
pub fn count_sets(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<SetCounts> {
    count_with(table, sets, MAX_BITS, monitor)
}

/// The same, columns of more than `max_bits` values being wide.
fn count_with(
    table: &KeyTable,
    sets: KeySets,
    max_bits: usize,
    monitor: &Monitor,
) -> Result<SetCounts> {
    if sets.p() == 1 {
        return partition::count_sets(table, sets, monitor);
    }
    monitor.set_total(sets.len() as u64);
    let layout = Layout::new(table, max_bits);
    let plan = Plan {
        table,
        sets,
        layout: &layout,
        index: SetIndex::new(sets),
        monitor,
    };
    let mut counts = SetCounts::zeros(sets.len());
    for (set, tally) in plan.count_wide()? {
        counts.set(set, tally);
    }
    let whole = Partition::whole(table);
    for (set, tally) in plan.descend(&whole, &[])? {
        counts.set(set, tally);
    }
    Ok(counts)
}

/// A set, by its place in `combn()` order, and its classes.
type Counted = (usize, Tally);

struct Plan<'a> {
    table: &'a KeyTable,
    sets: KeySets,
    layout: &'a Layout,
    index: SetIndex,
    monitor: &'a Monitor,
}

impl Plan<'_> {
    /// Members that are counted in bits or split records into groups, and so
    /// must be narrow.
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
        if n_wide + self.n_inner() - 1 < p {
            return Ok(Vec::new());
        }
        // In the order of falling rank, a set whose member number
        // p - n_inner + 1 is wide has too few narrow ones.
        let ranks: Vec<Vec<usize>> = self
            .sets
            .members()
            .chunks(p)
            .filter(|set| usize::from(set[p - self.n_inner()]) < n_wide)
            .map(|set| set.iter().map(|&at| n - 1 - usize::from(at)).collect())
            .collect();
        let columns: Vec<Vec<usize>> = ranks
            .iter()
            .map(|set| set.iter().map(|&rank| self.layout.column[rank]).collect())
            .collect();
        let tallies = partition::count_listed(self.table, &columns, self.monitor)?;
        let places = ranks.into_iter().map(|set| self.place(set.into_iter()));
        Ok(places.zip(tallies).collect())
    }

    /// Counts the sets that begin with `prefix`, ranks in falling order,
    /// whose classes are `partition`.
    fn descend(&self, partition: &Partition, prefix: &[usize]) -> Result<Vec<Counted>> {
        let (p, depth) = (self.sets.p(), prefix.len());
        let below = prefix.last().copied().unwrap_or(self.layout.n_columns());
        if depth > 0 && depth + 2 >= p {
            return self.count_below(partition, self.layout.codes(), prefix);
        }
        // The widest first: they begin the most sets.
        let parts = (p - depth - 1..below)
            .rev()
            .collect::<Vec<usize>>()
            .into_par_iter()
            .with_max_len(1)
            .map(|rank| {
                let column = self.layout.column[rank];
                if p <= 3 && !self.layout.has_repeats() {
                    let width = rank.min(self.layout.n_narrow());
                    let (sorted, codes) = self.layout.sort_by(&self.table.columns()[column], width);
                    return self.count_below(&sorted, &codes, &[rank]);
                }
                let finer = Search::new(self.table, self.monitor).refine(partition, column)?;
                let mut longer = prefix.to_vec();
                longer.push(rank);
                self.descend(&finer, &longer)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(parts.concat())
    }

    /// Counts the sets of `prefix` and one or two columns of lower rank.
    /// `codes` holds the rows of the partition.
    fn count_below(
        &self,
        partition: &Partition,
        codes: &RowCodes,
        prefix: &[usize],
    ) -> Result<Vec<Counted>> {
        let below = prefix[prefix.len() - 1].min(self.layout.n_narrow());
        let jobs: Vec<Job> = match self.n_inner() {
            1 if below >= 1 => vec![Job::new(self.layout, Split::Whole, below)],
            2 => (1..below)
                .map(|rank| Job::new(self.layout, Split::Rank(rank), rank))
                .collect(),
            _ => Vec::new(),
        };
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let jobs = self.count_jobs(partition, codes, jobs)?;
        let mut counted = Vec::new();
        for job in &jobs {
            let split = match job.split {
                Split::Whole => None,
                Split::Rank(rank) => Some(rank),
            };
            for last in 0..job.n_last {
                let ranks = prefix.iter().copied().chain(split).chain([last]);
                let tally = tally(partition.stripped, job.sums(self.layout, last));
                counted.push((self.place(ranks), tally));
            }
        }
        Ok(counted)
    }

    /// Counts `jobs` on all classes, piece by piece.
    fn count_jobs(
        &self,
        partition: &Partition,
        codes: &RowCodes,
        jobs: Vec<Job>,
    ) -> Result<Vec<Job>> {
        let n_sets: u64 = jobs.iter().map(|job| job.n_last as u64).sum();
        let n_rows = partition.rows.len() as u64;
        let parts = pieces(partition)
            .into_par_iter()
            .with_max_len(1)
            .map_init(
                || Leaf::new(self.layout, codes, self.monitor),
                |leaf, (start, ends)| {
                    let end = ends[ends.len() - 1];
                    let rows = &partition.rows[start as usize..end as usize];
                    let mut mine = jobs.clone();
                    leaf.count(rows, ends, start, &mut mine)?;
                    let done = |row: u32| n_sets * u64::from(row) / n_rows;
                    self.monitor.advance(done(end) - done(start));
                    Ok(mine)
                },
            )
            .collect::<Result<Vec<Vec<Job>>>>()?;
        if parts.is_empty() {
            self.monitor.advance(n_sets);
        }
        let mut sum = jobs;
        for part in &parts {
            for (job, other) in sum.iter_mut().zip(part) {
                job.merge(other);
            }
        }
        Ok(sum)
    }
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
