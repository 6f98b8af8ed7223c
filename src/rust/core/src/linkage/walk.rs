//! Search of the sorted wave-1 rows with a growing budget of differences.
//!
//! The sorted rows are a tree that nobody builds: a range of rows that agree
//! on the first keys is a node, its runs of one code at the next key are the
//! children. A query descends with a budget: agreeing children, missing ones
//! among them, are free and every other child costs one. The budget grows from
//! zero until rows are found; their cost is then the smallest difference.
//!
//! Cost: with few changes a query sees a few hundred ranges, whatever the
//! number of rows; it grows steeply with the smallest difference.

use rayon::prelude::*;

use super::patterns::{first_from, Patterns};
use super::{Best, MAX_KEYS};
use crate::error::Result;
use crate::parallel::Monitor;

/// Queries per block of parallel work.
const BLOCK: usize = 256;
/// Ranges of so few rows are compared row by row.
const FEW: usize = 6;

pub(super) fn nearest(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
    let n = patterns.n_queries();
    let mut found = vec![
        Best {
            n_diff: 0,
            n_best: 0
        };
        n
    ];
    if report {
        monitor.set_total(n as u64);
    }
    found
        .par_chunks_mut(BLOCK)
        .enumerate()
        .try_for_each(|(b, found)| {
            for (query, best) in (b * BLOCK..).zip(found.iter_mut()) {
                monitor.check()?;
                *best = Search::new(patterns, query, u64::MAX).nearest();
            }
            monitor.advance(if report { found.len() as u64 } else { 0 });
            Ok(())
        })?;
    Ok(found)
}

/// How many ranges one query visits, no further than `limit`.
pub(super) fn visits(patterns: &Patterns, query: usize, limit: u64) -> u64 {
    let mut search = Search::new(patterns, query, limit);
    search.nearest();
    search.visits()
}

pub(super) struct Search<'p> {
    patterns: &'p Patterns<'p>,
    query: usize,
    codes: [u32; MAX_KEYS],
    /// Records found within the budget, where the search is for it by the number of
    /// observed keys that they share with the query.
    found: Vec<u64>,
    visits: u64,
    limit: u64,
}

impl<'p> Search<'p> {
    /// A search that visits no more than `limit` ranges.
    pub(super) fn new(patterns: &'p Patterns, query: usize, limit: u64) -> Self {
        let mut codes = [0; MAX_KEYS];
        for (code, column) in codes.iter_mut().zip(patterns.queries().columns()) {
            *code = column.codes().get(query);
        }
        Self {
            patterns,
            query,
            codes,
            found: vec![0],
            visits: 0,
            limit,
        }
    }

    /// How many ranges it has visited.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// What costs at most `budget`, by the number of observed keys shared; `None`
    /// beyond the limit.
    pub(super) fn by_shared(&mut self, budget: u8) -> Option<&[u64]> {
        self.found.clear();
        self.found.resize(self.patterns.n_keys() + 1, 0);
        self.descend(0, 0, self.patterns.n_rows(), budget);
        (self.visits <= self.limit).then_some(&self.found)
    }

    fn nearest(&mut self) -> Best {
        let most = self.patterns.n_keys() as u8;
        for budget in 0..=self.patterns.bounds()[self.query].min(most) {
            // What costs less was not found, so what is found costs `budget`.
            self.descend(0, 0, self.patterns.n_rows(), budget);
            if self.found[0] > 0 || self.visits > self.limit {
                return Best {
                    n_diff: budget,
                    n_best: self.found[0],
                };
            }
        }
        Best {
            n_diff: 0,
            n_best: 0,
        }
    }

    /// Searches the rows `low..high`, which agree on the first `depth` keys.
    fn descend(&mut self, depth: usize, low: usize, high: usize, budget: u8) {
        self.visits += 1;
        if self.visits > self.limit {
            return;
        }
        if high - low <= FEW || depth == self.patterns.n_keys() {
            for row in low..high {
                self.compare(depth, row, budget);
            }
            return;
        }
        let codes = self.patterns.rows().columns()[depth].codes();
        let agreement = self.patterns.agreements()[depth];
        let code = self.codes[depth];
        if code == 0 || budget > 0 {
            self.runs(depth, low, high, |one| {
                budget.checked_sub(u8::from(agreement.differs(one, code)))
            });
            return;
        }
        let observed = first_from(low, high, |row| codes.get(row) > 0);
        if observed > low {
            self.descend(depth + 1, low, observed, budget);
        }
        agreement.for_ranges(code, |first, last| {
            let start = first_from(observed, high, |row| codes.get(row) >= first);
            let end = first_from(start, high, |row| codes.get(row) > last);
            self.runs(depth, start, end, |_| Some(0));
        });
    }

    /// Descends into every run of one code at key `depth`, with the budget
    /// that `left` gives its code, if any.
    fn runs(&mut self, depth: usize, low: usize, high: usize, left: impl Fn(u32) -> Option<u8>) {
        let codes = self.patterns.rows().columns()[depth].codes();
        let mut start = low;
        while start < high {
            let code = codes.get(start);
            let end = end_of_run(start, high, |row| codes.get(row) != code);
            if let Some(budget) = left(code) {
                self.descend(depth + 1, start, end, budget);
            }
            start = end;
        }
    }

    /// Counts one row if its remaining keys cost no more than the budget.
    fn compare(&mut self, depth: usize, row: usize, budget: u8) {
        let columns = &self.patterns.rows().columns()[depth..];
        let agreements = &self.patterns.agreements()[depth..];
        let mut left = budget;
        for ((column, agreement), &code) in columns.iter().zip(agreements).zip(&self.codes[depth..])
        {
            if agreement.differs(column.codes().get(row), code) {
                match left.checked_sub(1) {
                    None => return,
                    Some(less) => left = less,
                }
            }
        }
        if self.patterns.is_admissible(self.query, row) {
            let shared = match self.found.len() {
                1 => 0,
                _ => self.patterns.shared(self.query, row),
            };
            self.found[shared] += self.patterns.counts()[row];
        }
    }
}

/// The end of the run that begins at `start`: runs are mostly short.
fn end_of_run(start: usize, high: usize, is_other: impl Fn(usize) -> bool) -> usize {
    let mut step = 1;
    let mut low = start + 1;
    loop {
        let probe = (start + step).min(high);
        if probe == high || is_other(probe) {
            return first_from(low, probe, &is_other);
        }
        low = probe + 1;
        step *= 2;
    }
}
