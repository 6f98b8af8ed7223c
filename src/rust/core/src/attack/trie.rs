//! The suffixes of the distinct known rows, level by level.
//!
//! Keys are eliminated in an order `v_1, ..., v_K`. Level `d` holds the distinct
//! suffixes `(v_{d+1}, ..., v_K)`: level 0 the distinct rows, level `K` one node.
//! Rows are sorted by `(v_K, ..., v_1)`, so that a node of level `d + 1` owns a
//! run of neighbours of level `d`, in which the key `v_{d+1}` rises: a node
//! whose value is missing comes first.

use super::patterns::{codes_of, sorted_with_changes, Patterns};
use crate::error::Result;
use crate::parallel::Monitor;

/// One level of suffixes.
pub(super) struct Level {
    /// Per node, the code of the first key of its suffix.
    pub codes: Vec<u32>,
    /// Per node, the node of the next level that owns it.
    pub parents: Vec<u32>,
    /// Per node of the next level, where its run begins; one entry more.
    pub runs: Vec<u32>,
    /// Nodes by code: those of code `c` are `by_code[code_starts[c]..code_starts[c + 1]]`,
    /// rising.
    code_starts: Vec<u32>,
    by_code: Vec<u32>,
}

impl Level {
    fn new(codes: Vec<u32>, parents: Vec<u32>, n_values: u32) -> Self {
        let mut runs = vec![0];
        for (node, pair) in parents.windows(2).enumerate() {
            if pair[0] != pair[1] {
                runs.push(node as u32 + 1);
            }
        }
        runs.push(parents.len() as u32);
        let mut code_starts = vec![0u32; n_values as usize + 2];
        for &code in &codes {
            code_starts[code as usize + 1] += 1;
        }
        for c in 1..code_starts.len() {
            code_starts[c] += code_starts[c - 1];
        }
        let mut next = code_starts.clone();
        let mut by_code = vec![0u32; codes.len()];
        for (node, &code) in (0u32..).zip(&codes) {
            let place = &mut next[code as usize];
            by_code[*place as usize] = node;
            *place += 1;
        }
        Self {
            codes,
            parents,
            runs,
            code_starts,
            by_code,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// The nodes whose codes lie in a range, by code.
    #[inline]
    pub fn with_codes(&self, first: u32, last: u32) -> &[u32] {
        let at = |c: u32| self.code_starts[c as usize] as usize;
        &self.by_code[at(first)..at(last + 1)]
    }

    /// The run of one node of the next level.
    #[inline]
    pub fn run(&self, node: usize) -> std::ops::Range<usize> {
        self.runs[node] as usize..self.runs[node + 1] as usize
    }

    /// True if the first node of a run misses the key.
    #[inline]
    pub fn is_missing(&self, node: usize) -> bool {
        self.codes[node] == 0
    }
}

/// All suffixes, and the sorted queries that walk them.
pub(super) struct Trie {
    /// Levels 0 to `K - 1`.
    pub levels: Vec<Level>,
    /// Keys in the order of elimination.
    pub order: Vec<usize>,
    /// Records per node of level 0.
    pub counts: Vec<u64>,
    /// Queries in the order `(v_1, ..., v_K)`, as their numbers.
    pub sorted: Vec<u32>,
    /// Per sorted query, how many of its first keys are those of the one before.
    pub shared: Vec<u8>,
    /// Per key of the order, the codes of the sorted queries.
    pub codes: Vec<Vec<u32>>,
}

impl Trie {
    pub fn new(patterns: &Patterns, order: &[usize], monitor: &Monitor) -> Result<Self> {
        let n_keys = order.len();
        let from_last = order.iter().rev().copied();
        let (rows, changes) = sorted_with_changes(&patterns.rows, from_last, monitor)?;
        // In the order of elimination the first place that differs counts from
        // the end: rows that differ there differ in all suffixes that hold it.
        let differs: Vec<u8> = changes
            .iter()
            .map(|&c| (n_keys - 1).saturating_sub(usize::from(c)) as u8)
            .collect();
        let mut starts: Vec<u32> = (0..rows.len() as u32).collect();
        let mut levels = Vec::with_capacity(n_keys);
        for (depth, &v) in order.iter().enumerate() {
            monitor.check()?;
            let column = &patterns.rows.columns()[v];
            let at: Vec<u32> = starts.iter().map(|&s| rows[s as usize]).collect();
            let mut parents = Vec::with_capacity(starts.len());
            let mut above = Vec::new();
            for &start in &starts {
                let is_new = start == 0 || usize::from(differs[start as usize]) > depth;
                if is_new {
                    above.push(start);
                }
                parents.push(above.len() as u32 - 1);
            }
            levels.push(Level::new(
                codes_of(column, &at),
                parents,
                column.n_values(),
            ));
            starts = above;
        }
        let counts = rows.iter().map(|&r| patterns.counts[r as usize]).collect();
        drop((rows, changes, differs));
        let (sorted, shared) =
            sorted_with_changes(&patterns.queries, order.iter().copied(), monitor)?;
        let codes = order
            .iter()
            .map(|&v| codes_of(&patterns.queries.columns()[v], &sorted))
            .collect();
        Ok(Self {
            levels,
            order: order.to_vec(),
            counts,
            sorted,
            shared,
            codes,
        })
    }

    pub fn n_keys(&self) -> usize {
        self.order.len()
    }

    /// Number of nodes of a level, from 0 to the number of keys.
    pub fn n_nodes(&self, depth: usize) -> usize {
        self.levels.get(depth).map_or(1, Level::len)
    }

    /// Elements that elimination looks at: per level the prefixes of the
    /// queries times the suffixes of the rows.
    pub fn work(&self) -> f64 {
        // Queries by the number of keys shared with the one before.
        let mut by_shared = vec![0u64; self.n_keys() + 1];
        for &shared in &self.shared {
            by_shared[usize::from(shared)] += 1;
        }
        let mut prefixes = 1.0;
        let mut longer = 0.0;
        let mut work = 0.0;
        for (level, begun) in self.levels.iter().zip(by_shared) {
            work += prefixes * level.len() as f64;
            longer += begun as f64;
            prefixes = longer;
        }
        work
    }
}
