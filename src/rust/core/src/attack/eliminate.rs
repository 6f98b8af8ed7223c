//! The best weight, its ties and the sum of exponentials, key by key.
//!
//! For a query and the keys eliminated so far, every suffix of the known rows
//! has the largest weight of the rows that end in it, the records that have it
//! and the sum of their exponentials. Eliminating a key combines the suffixes
//! that differ in nothing else. All queries with the same first keys share
//! these numbers, and all values of one key share the step in which known
//! values weigh as those beyond: only the suffixes whose value is touched by
//! the query's are looked at again.
//!
//! That second look adds what a touched suffix weighs more. Its weight as if
//! beyond stays behind in the maximum, which does no harm where all touched
//! values weigh more than those beyond, since it is then below its own new
//! weight. Elsewhere the run is combined anew with exact weights: a key whose
//! agreement weighs less than its disagreement would give wrong best matches
//! without a sign.

use std::ops::Range;

use super::trie::{Level, Trie};
use super::weights::{KeyWeights, Weights};
use super::Best;
use crate::error::Result;
use crate::memory::room_for;
use crate::parallel::{self, Monitor};

/// Runs of queries that are treated by themselves.
const RUNS: usize = 32;

/// Totals over the rows that end in a suffix.
#[derive(Debug, Clone, Copy)]
struct Cell {
    weight: f64,
    sum: f64,
    n: u64,
}

const NOTHING: Cell = Cell {
    weight: f64::NEG_INFINITY,
    sum: 0.0,
    n: 0,
};

impl Cell {
    /// Takes in rows of this weight.
    #[inline]
    fn take(&mut self, weight: f64, n: u64) {
        if weight > self.weight {
            self.weight = weight;
            self.n = n;
        } else if weight >= self.weight {
            self.n += n;
        }
    }
}

/// The numbers of one run of queries, level by level.
struct Stack {
    /// Per level, the cells of the current prefix.
    cells: Vec<Vec<Cell>>,
    /// Per level below the last, those of the next level if the value of the
    /// query were beyond all.
    beyond: Vec<Vec<Cell>>,
    has_beyond: Vec<bool>,
}

impl Stack {
    fn new(trie: &Trie) -> Self {
        let n_keys = trie.n_keys();
        let mut cells: Vec<Vec<Cell>> = (0..=n_keys)
            .map(|depth| vec![NOTHING; trie.n_nodes(depth)])
            .collect();
        for (cell, &n) in cells[0].iter_mut().zip(&trie.counts) {
            *cell = Cell {
                weight: 0.0,
                sum: n as f64,
                n,
            };
        }
        Self {
            cells,
            beyond: (1..=n_keys)
                .map(|depth| vec![NOTHING; trie.n_nodes(depth)])
                .collect(),
            has_beyond: vec![false; n_keys],
        }
    }

    /// Eliminates the key of `depth` for the released code `y`.
    fn step(&mut self, level: &Level, weights: &KeyWeights, depth: usize, y: u32) {
        let (done, open) = self.cells.split_at_mut(depth + 1);
        let (from, into) = (&done[depth], &mut open[0]);
        if y == 0 {
            combine_alike(level, from, into);
            return;
        }
        let beyond = &mut self.beyond[depth];
        if !self.has_beyond[depth] {
            combine_beyond(level, weights, from, beyond);
            self.has_beyond[depth] = true;
        }
        into.copy_from_slice(beyond);
        if weights.is_rising(y) {
            add_touched(level, weights, from, into, y);
        } else {
            combine_touched(level, weights, from, into, y);
        }
    }
}

/// The query misses the key: all rows of a run weigh the same.
fn combine_alike(level: &Level, from: &[Cell], into: &mut [Cell]) {
    for (node, cell) in into.iter_mut().enumerate() {
        *cell = NOTHING;
        for other in &from[level.run(node)] {
            cell.take(other.weight, other.n);
            cell.sum += other.sum;
        }
    }
}

/// All observed values of a run are beyond that of the query.
fn combine_beyond(level: &Level, weights: &KeyWeights, from: &[Cell], into: &mut [Cell]) {
    for (node, cell) in into.iter_mut().enumerate() {
        let mut run = level.run(node);
        let missing = level.is_missing(run.start).then_some(from[run.start]);
        run.start += usize::from(missing.is_some());
        *cell = NOTHING;
        for other in &from[run] {
            cell.take(other.weight, other.n);
            cell.sum += other.sum;
        }
        cell.weight += weights.differ;
        cell.sum *= weights.e_differ;
        if let Some(missing) = missing {
            cell.take(missing.weight, missing.n);
            cell.sum += missing.sum * weights.e_missing;
        }
    }
}

/// Touched rows weigh more than if they were beyond.
fn add_touched(level: &Level, weights: &KeyWeights, from: &[Cell], into: &mut [Cell], y: u32) {
    for touched in weights.of(y) {
        let more = touched.e - weights.e_differ;
        for &node in level.with_codes(touched.first, touched.last) {
            let other = from[node as usize];
            let cell = &mut into[level.parents[node as usize] as usize];
            cell.take(other.weight + touched.weight, other.n);
            cell.sum += other.sum * more;
        }
    }
}

/// Touched rows need not weigh more: their runs are combined anew.
fn combine_touched(level: &Level, weights: &KeyWeights, from: &[Cell], into: &mut [Cell], y: u32) {
    for touched in weights.of(y) {
        for &node in level.with_codes(touched.first, touched.last) {
            // A run with several touched rows is combined several times, each
            // time to the same numbers.
            let parent = level.parents[node as usize] as usize;
            let mut cell = NOTHING;
            for at in level.run(parent) {
                let (weight, e) = weights.pair(level.codes[at], y);
                cell.take(from[at].weight + weight, from[at].n);
                cell.sum += from[at].sum * e;
            }
            into[parent] = cell;
        }
    }
}

/// The best matches of one run of sorted queries.
fn matches_of_run(
    trie: &Trie,
    weights: &Weights,
    run: Range<usize>,
    stack: &mut Stack,
    monitor: &Monitor,
) -> Result<Vec<Best>> {
    let n_keys = trie.n_keys();
    let mut found = Vec::with_capacity(run.len());
    for query in run.clone() {
        let shared = if query == run.start {
            0
        } else {
            usize::from(trie.shared[query])
        };
        for depth in shared..n_keys {
            monitor.check()?;
            let key = &weights.keys()[trie.order[depth]];
            stack.step(&trie.levels[depth], key, depth, trie.codes[depth][query]);
            if depth + 1 < n_keys {
                stack.has_beyond[depth + 1] = false;
            }
        }
        let cell = stack.cells[n_keys][0];
        found.push(Best::new(cell.weight, cell.n, cell.sum));
        monitor.advance(1);
    }
    Ok(found)
}

/// The best matches of all queries, by their numbers.
pub(super) fn best_matches(trie: &Trie, weights: &Weights, monitor: &Monitor) -> Result<Vec<Best>> {
    let n_keys = trie.n_keys();
    let n_cells: usize = (0..=n_keys).map(|d| 2 * trie.n_nodes(d)).sum();
    room_for(n_cells * size_of::<Cell>() * rayon::current_num_threads())?;
    let n = trie.sorted.len();
    let runs = parallel::blocks(n, n.div_ceil(RUNS));
    // A stack serves one run after the other: level 0 is the same for all.
    let parts = parallel::try_map_with(
        runs,
        monitor,
        || Stack::new(trie),
        |stack, run| matches_of_run(trie, weights, run, stack, monitor),
    )?;
    let mut best = vec![Best::new(0.0, 0, 0.0); n];
    for (found, &query) in parts.into_iter().flatten().zip(&trie.sorted) {
        best[query as usize] = found;
    }
    Ok(best)
}
