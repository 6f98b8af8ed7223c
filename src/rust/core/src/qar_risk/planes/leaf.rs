//! The last one or two columns of all sets that share a prefix.

use std::ops::Range;

use super::chunk::{Chunk, Group, Sorted, ROWS};
use super::layout::{Layout, RowCodes, GRANULE_BYTES};
use super::seen::{ByteSums, Record, Seen, Sums, WORDS};
use crate::error::Result;
use crate::parallel::Monitor;

/// Bytes that the half-counted groups of a class longer than a chunk may take
/// before the columns are treated in several rounds; few in tests, so that
/// they come to that.
const ROOM_FOR_STATES: usize = if cfg!(test) { 1 << 13 } else { 1 << 22 };

/// A column that splits the classes before the last column is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// None: the last column is counted on the classes as they are.
    Whole,
    /// The column of this rank.
    Rank(usize),
}

impl Split {
    fn levels(self, layout: &Layout) -> usize {
        match self {
            Split::Whole => 1,
            Split::Rank(rank) => layout.levels[rank],
        }
    }
}

/// Sets to count: one split and the last columns, those of ranks below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The column before the last.
    pub split: Split,
    /// Ranks of the last columns.
    pub last: Range<usize>,
    /// The first granule that they reach into.
    first_granule: usize,
    /// Sums per byte of the bits, from that granule on.
    totals: Vec<Sums>,
    /// Groups of one record: one class each, whatever the last column.
    n_single: u32,
    /// Start of the half-counted groups of a long class.
    first_state: usize,
}

impl Job {
    /// Nothing counted yet.
    pub fn new(layout: &Layout, split: Split, last: Range<usize>) -> Self {
        let first_granule = layout.first_byte[last.start] / GRANULE_BYTES;
        let n_bytes = layout.first_byte[last.end] - first_granule * GRANULE_BYTES;
        Self {
            split,
            last,
            first_granule,
            totals: vec![Sums::default(); n_bytes],
            n_single: 0,
            first_state: 0,
        }
    }

    /// The sums of the last column of `rank`.
    pub fn sums(&self, layout: &Layout, rank: usize) -> Sums {
        let mut sums = Sums {
            once: self.n_single,
            ..Sums::default()
        };
        let before = self.first_granule * GRANULE_BYTES;
        let bytes = layout.first_byte[rank] - before..layout.first_byte[rank + 1] - before;
        for byte in &self.totals[bytes] {
            sums += *byte;
        }
        sums
    }

    /// Adds what another part of the rows gave.
    pub fn merge(&mut self, other: &Self) {
        self.n_single += other.n_single;
        for (mine, theirs) in self.totals.iter_mut().zip(&other.totals) {
            *mine += *theirs;
        }
    }

    /// Ranks whose codes or bits are needed.
    fn n_ranks(&self) -> usize {
        match self.split {
            Split::Whole => self.last.end,
            Split::Rank(rank) => rank + 1,
        }
    }

    fn n_granules(&self) -> usize {
        self.totals.len().div_ceil(GRANULE_BYTES)
    }
}

/// Scratch of one thread.
pub struct Leaf<'a> {
    layout: &'a Layout,
    codes: &'a RowCodes,
    monitor: &'a Monitor,
    chunk: Chunk,
    sorted: Sorted,
    states: Vec<Seen<WORDS>>,
    only_distinct: bool,
}

impl<'a> Leaf<'a> {
    /// Scratch for the columns of `layout`, whose rows are those of `codes`.
    pub fn new(
        layout: &'a Layout,
        codes: &'a RowCodes,
        monitor: &'a Monitor,
        only_distinct: bool,
    ) -> Self {
        Self {
            layout,
            codes,
            monitor,
            chunk: Chunk::new(layout),
            sorted: Sorted::new(),
            states: Vec::new(),
            only_distinct,
        }
    }

    /// Counts `jobs` on `rows`, whose classes end at `ends` (places in a
    /// longer list, in which `rows` begins at `start`). The jobs stand in
    /// rising order of their columns.
    pub fn count(
        &mut self,
        rows: &[u32],
        ends: &[u32],
        start: u32,
        jobs: &mut [Job],
    ) -> Result<()> {
        let mut filled: Vec<u32> = Vec::with_capacity(ROWS);
        let mut class_ends: Vec<u16> = Vec::new();
        let mut from = 0;
        for &end in ends {
            let class = &rows[from..(end - start) as usize];
            from = (end - start) as usize;
            let records: usize = if self.layout.has_repeats() {
                class
                    .iter()
                    .map(|&r| usize::from(self.layout.repeats(r)))
                    .sum()
            } else {
                class.len()
            };
            if filled.len() + records > ROWS {
                self.count_short(&mut filled, &mut class_ends, jobs)?;
            }
            if records > ROWS {
                self.count_long(class, jobs)?;
            } else {
                for &row in class {
                    for _ in 0..self.layout.repeats(row) {
                        filled.push(row);
                    }
                }
                class_ends.push(filled.len() as u16);
            }
        }
        self.count_short(&mut filled, &mut class_ends, jobs)
    }

    /// Counts a chunk of whole classes and empties it.
    fn count_short(
        &mut self,
        rows: &mut Vec<u32>,
        ends: &mut Vec<u16>,
        jobs: &mut [Job],
    ) -> Result<()> {
        if !rows.is_empty() {
            self.load(rows, ends, jobs)?;
            for job in jobs.iter_mut() {
                self.sort(job, false);
                job.n_single += self.sorted.n_single;
                for g in 0..job.n_granules() {
                    self.short_granule(g, job);
                }
            }
        }
        rows.clear();
        ends.clear();
        Ok(())
    }

    fn load(&mut self, rows: &[u32], ends: &[u16], jobs: &[Job]) -> Result<()> {
        self.monitor.check()?;
        let n_codes = jobs.iter().map(Job::n_ranks).max().unwrap_or(0);
        let first = jobs.iter().map(|job| job.last.start).min().unwrap_or(0);
        let end = jobs.iter().map(|job| job.last.end).max().unwrap_or(0);
        self.chunk
            .load(self.layout, self.codes, rows, ends, n_codes, first..end);
        Ok(())
    }

    fn sort(&mut self, job: &Job, keep_single: bool) {
        match job.split {
            Split::Whole => self.sorted.by_class(&self.chunk),
            Split::Rank(rank) => {
                let levels = self.layout.levels[rank];
                self.sorted.by_rank(&self.chunk, rank, levels, keep_single);
            }
        }
    }

    fn short_granule(&self, g: usize, job: &mut Job) {
        let totals = &mut job.totals[g * GRANULE_BYTES..];
        let bits = self.chunk.granule(job.first_granule + g);
        match (totals.len() <= GRANULE_BYTES / 2, self.only_distinct) {
            (true, true) => sum_groups::<2, true>(bits, &self.sorted, totals),
            (true, false) => sum_groups::<2, false>(bits, &self.sorted, totals),
            (false, true) => sum_groups::<4, true>(bits, &self.sorted, totals),
            (false, false) => sum_groups::<4, false>(bits, &self.sorted, totals),
        }
    }

    /// Counts one class that is longer than a chunk: groups are carried from
    /// chunk to chunk, for as many jobs at a time as there is room.
    fn count_long(&mut self, class: &[u32], jobs: &mut [Job]) -> Result<()> {
        let mut rest = jobs;
        while !rest.is_empty() {
            let mut n_states = 0;
            let mut n_jobs = 0;
            for job in rest.iter_mut() {
                let more = job.split.levels(self.layout) * job.n_granules();
                if n_jobs > 0 && (n_states + more) * 3 * GRANULE_BYTES > ROOM_FOR_STATES {
                    break;
                }
                job.first_state = n_states;
                n_states += more;
                n_jobs += 1;
            }
            let (now, later) = rest.split_at_mut(n_jobs);
            self.states.clear();
            self.states.resize(n_states, Seen::NOTHING);
            self.carry(class, now)?;
            self.finish(now);
            rest = later;
        }
        Ok(())
    }

    fn carry(&mut self, class: &[u32], jobs: &[Job]) -> Result<()> {
        let mut repeated = Vec::with_capacity(ROWS);
        // A row counts three times at most.
        let step = if self.layout.has_repeats() {
            ROWS / 3
        } else {
            ROWS
        };
        for part in class.chunks(step) {
            repeated.clear();
            for &row in part {
                for _ in 0..self.layout.repeats(row) {
                    repeated.push(row);
                }
            }
            self.load(&repeated, &[repeated.len() as u16], jobs)?;
            for job in jobs {
                self.sort(job, true);
                for g in 0..job.n_granules() {
                    self.long_granule(g, job);
                }
            }
        }
        Ok(())
    }

    fn long_granule(&mut self, g: usize, job: &Job) {
        let levels = job.split.levels(self.layout);
        let states = &mut self.states[job.first_state + g * levels..][..levels];
        let bits = self.chunk.granule(job.first_granule + g);
        let n_bytes = job.totals.len() - g * GRANULE_BYTES;
        match (n_bytes <= GRANULE_BYTES / 2, self.only_distinct) {
            (true, true) => carry_groups::<2, true>(bits, &self.sorted, states),
            (true, false) => carry_groups::<2, false>(bits, &self.sorted, states),
            (false, true) => carry_groups::<4, true>(bits, &self.sorted, states),
            (false, false) => carry_groups::<4, false>(bits, &self.sorted, states),
        }
    }

    /// Sums the groups of a long class once all its records were seen.
    fn finish(&self, jobs: &mut [Job]) {
        for job in jobs {
            let levels = job.split.levels(self.layout);
            for (g, totals) in job.totals.chunks_mut(GRANULE_BYTES).enumerate() {
                let mut sums = ByteSums::<WORDS>::new(totals);
                for state in &self.states[job.first_state + g * levels..][..levels] {
                    sums.add::<false>(state);
                }
                sums.flush();
            }
        }
    }
}

/// Counts the records of a group, or, for `D`, just sees which values occur.
#[inline(always)]
fn see<const W: usize, const D: bool>(
    bits: &[Record; ROWS],
    order: &[u16; ROWS],
    group: Group,
) -> Seen<W> {
    let mut seen = Seen::NOTHING;
    for &i in &order[usize::from(group.start)..usize::from(group.end)] {
        seen.add::<D>(&bits[usize::from(i) % ROWS]);
    }
    seen
}

fn sum_groups<const W: usize, const D: bool>(
    bits: &[Record; ROWS],
    sorted: &Sorted,
    totals: &mut [Sums],
) {
    let mut sums = ByteSums::<W>::new(totals);
    for &group in sorted.groups() {
        sums.add::<D>(&see::<W, D>(bits, &sorted.order, group));
    }
    sums.flush();
}

fn carry_groups<const W: usize, const D: bool>(
    bits: &[Record; ROWS],
    sorted: &Sorted,
    states: &mut [Seen<WORDS>],
) {
    for &group in sorted.groups() {
        states[usize::from(group.code)].merge(&see::<W, D>(bits, &sorted.order, group));
    }
}
