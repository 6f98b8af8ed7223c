//! Search of the tree of the wave-1 rows with a growing budget of differences.
//!
//! A query descends with a budget: agreeing children, missing ones among them,
//! are free and every other child costs one. The budget grows from zero until
//! rows are found; their cost is then the smallest difference.
//!
//! Cost: with few changes a query sees a few hundred nodes, whatever the
//! number of rows; it grows steeply with the smallest difference.

use super::patterns::Patterns;
use super::tree::{Node, Tree};
use super::{Best, MAX_KEYS};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Queries per block of parallel work.
const BLOCK: usize = 256;

pub(super) fn nearest(
    patterns: &Patterns,
    tree: &Tree,
    monitor: &Monitor,
    report: bool,
) -> Result<Vec<Best>> {
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
    parallel::try_for_each(
        found.chunks_mut(BLOCK).enumerate(),
        monitor,
        |(b, found)| {
            for (query, best) in (b * BLOCK..).zip(found.iter_mut()) {
                monitor.check()?;
                *best = Search::new(patterns, tree, query, u64::MAX).nearest();
            }
            monitor.advance(if report { found.len() as u64 } else { 0 });
            Ok(())
        },
    )?;
    Ok(found)
}

/// Number of nodes that one query visits, up to `limit`.
pub(super) fn visits(patterns: &Patterns, tree: &Tree, query: usize, limit: u64) -> u64 {
    let mut search = Search::new(patterns, tree, query, limit);
    search.nearest();
    search.visits()
}

pub(super) struct Search<'p> {
    patterns: &'p Patterns<'p>,
    tree: &'p Tree,
    query: usize,
    codes: [u32; MAX_KEYS],
    /// Records found within the budget, where the search is for it by the number of
    /// observed keys that they share with the query.
    found: Vec<u64>,
    visits: u64,
    limit: u64,
}

impl<'p> Search<'p> {
    /// A search that visits no more than `limit` nodes.
    pub(super) fn new(
        patterns: &'p Patterns<'p>,
        tree: &'p Tree,
        query: usize,
        limit: u64,
    ) -> Self {
        let mut codes = [0; MAX_KEYS];
        for (code, column) in codes.iter_mut().zip(patterns.queries().columns()) {
            *code = column.codes().get(query);
        }
        Self {
            patterns,
            tree,
            query,
            codes,
            found: vec![0],
            visits: 0,
            limit,
        }
    }

    /// Number of nodes visited.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// Rows that cost at most `budget`, by the number of observed keys shared; `None` beyond the
    /// limit.
    pub(super) fn by_shared(&mut self, budget: u8) -> Option<&[u64]> {
        self.found.clear();
        self.found.resize(self.patterns.n_keys() + 1, 0);
        self.visit(self.tree.root(), budget);
        (self.visits <= self.limit).then_some(&self.found)
    }

    fn nearest(&mut self) -> Best {
        let most = self.patterns.n_keys() as u8;
        for budget in 0..=self.patterns.bounds()[self.query].min(most) {
            // Cheaper rows were not found, so these cost `budget`.
            self.visit(self.tree.root(), budget);
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

    /// Searches the rows of a node.
    fn visit(&mut self, node: Node, budget: u8) {
        self.visits += 1;
        if self.visits > self.limit {
            return;
        }
        let (codes, child) = self.tree.children(node);
        if codes.is_empty() {
            for row in self.tree.rows(node) {
                self.compare(node.depth, row, budget);
            }
            return;
        }
        let (agreement, code) = (
            self.patterns.agreements()[node.depth],
            self.codes[node.depth],
        );
        if code == 0 || budget > 0 {
            for (place, &one) in codes.iter().enumerate() {
                if let Some(left) = budget.checked_sub(u8::from(agreement.differs(one, code))) {
                    self.visit(child.next(place), left);
                }
            }
            return;
        }
        if codes[0] == 0 {
            self.visit(child, 0);
        }
        agreement.for_ranges(code, |first, last| {
            let start = codes.partition_point(|&one| one < first);
            let within = codes[start..].iter().take_while(|&&one| one <= last);
            for place in start..start + within.count() {
                self.visit(child.next(place), 0);
            }
        });
    }

    /// Counts one row if its keys from `depth` on cost no more than the budget.
    fn compare(&mut self, depth: usize, row: usize, budget: u8) {
        let agreements = &self.patterns.agreements()[depth..];
        let codes = self.tree.codes_from(depth, row).iter();
        let mut left = budget;
        for ((&one, &two), agreement) in codes.zip(&self.codes[depth..]).zip(agreements) {
            if agreement.differs(one, two) {
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
