//! The dense transform: sums over all patterns that could occur.
//!
//! Over a table with one cell per combination of codes, missing included, the
//! sums over compatible cells are found one column at a time: a known code
//! gets what missing has besides its own, and missing gets everything. That
//! costs the cells times the columns, whatever the number of records and of
//! missing values, and pays where key variables are few or have few values.
//!
//! Tables are kept in the size of a processor's cache: only the last columns
//! are transformed, once for every beginning that occurs among the targets,
//! over the patterns of the file whose beginning is compatible.

use std::ops::Range;

use super::arrangement::{BLOCK, SMALL};
use super::patterns::Patterns;
use super::search::Amount;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Bytes of one table at most.
const TABLE_BYTES: usize = 1 << 19;
/// Beginnings at most.
const MAX_BEGINNINGS: f64 = 4096.0;
/// Nanoseconds, about: a cell and column of a table, a pattern added to it, a
/// block of the walk looked at, a match that it adds up by itself, a target.
const CELL: f64 = 0.6;
const PATTERN: f64 = 2.0;
const BLOCK_VISIT: f64 = 14.0;
const PAIR: f64 = 2.0;
const TARGET: f64 = 200.0;

/// The columns that are transformed, and those before them.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Number of columns in the beginning.
    lead: usize,
    /// Codes of every other column, missing included.
    sizes: Vec<usize>,
    cells: usize,
}

impl Plan {
    /// A plan for sums of `bytes` each, where there is one.
    pub fn new(patterns: &Patterns, bytes: usize) -> Option<Self> {
        let codes = |&n: &u32| n as usize + 1;
        let n_values = &patterns.layout.n_values;
        let mut cells = 1usize;
        let mut lead = n_values.len();
        while lead > 0 {
            let more = cells.checked_mul(codes(&n_values[lead - 1]))?;
            if more * bytes > TABLE_BYTES {
                break;
            }
            cells = more;
            lead -= 1;
        }
        let beginnings: f64 = n_values[..lead].iter().map(|n| codes(n) as f64).product();
        (beginnings <= MAX_BEGINNINGS).then(|| Self {
            lead,
            sizes: n_values[lead..].iter().map(codes).collect(),
            cells,
        })
    }

    /// The plan, where it costs less than the walk: compared on a sample of
    /// pairs. `singly` is the share of patterns that the walk does not count in
    /// bits.
    pub fn if_cheaper(
        file: &Patterns,
        targets: &Patterns,
        bytes: usize,
        singly: f64,
    ) -> Option<Self> {
        let plan = Self::new(file, bytes)?;
        let depth = file.layout.depth();
        let every = |n: usize, most: usize| (0..n).step_by(n.div_ceil(most));
        // Per depth, the share of pairs that are compatible so far.
        let mut shares = vec![0.0; depth + 1];
        let mut n_pairs = 0.0;
        for x in every(targets.len(), 128) {
            for y in every(file.len(), 1024) {
                n_pairs += 1.0;
                let agree = (0..depth)
                    .take_while(|&d| {
                        let (a, b) = (targets.code(x, d), file.code(y, d));
                        a == 0 || b == 0 || a == b
                    })
                    .count();
                shares[..=agree].iter_mut().for_each(|share| *share += 1.0);
            }
        }
        shares.iter_mut().for_each(|share| *share /= n_pairs);
        // The walk looks at blocks from where few patterns have a beginning in common.
        let mut beginnings_so_far = 1.0;
        let codes = file.layout.n_values.iter().map(|&n| f64::from(n) + 1.0);
        let in_tree = codes
            .take_while(|codes| {
                let large = beginnings_so_far * (SMALL as f64) < file.len() as f64;
                beginnings_so_far *= codes;
                large
            })
            .count();
        let blocks = file.len() as f64 * shares[in_tree] / BLOCK as f64 + 1.0;
        let matches = file.len() as f64 * shares[depth] * singly;
        let walk = targets.len() as f64 * (blocks * BLOCK_VISIT + matches * PAIR + TARGET);
        let begun = beginnings(targets, plan.lead).len() as f64;
        let tables = begun * (plan.cells * plan.sizes.len()) as f64 * CELL;
        let filled = begun * file.len() as f64 * shares[plan.lead] * PATTERN;
        (tables + filled < walk).then_some(plan)
    }

    /// The cell of a pattern.
    fn cell(&self, patterns: &Patterns, pattern: usize) -> usize {
        let sizes = self.sizes.iter().enumerate();
        sizes.fold(0, |cell, (d, size)| {
            cell * size + patterns.code(pattern, self.lead + d) as usize
        })
    }

    /// Replaces every cell by the sum over the cells compatible with it.
    fn transform<T: Amount>(&self, table: &mut [T]) {
        let mut all = Vec::new();
        let mut inner = self.cells;
        for &size in &self.sizes {
            let outer = inner;
            inner /= size;
            for block in table.chunks_exact_mut(outer) {
                let (missing, known) = block.split_at_mut(inner);
                all.clear();
                all.extend_from_slice(missing);
                for code in known.chunks_exact_mut(inner) {
                    for ((own, missing), all) in code.iter_mut().zip(&*missing).zip(&mut all) {
                        *all += *own;
                        *own += *missing;
                    }
                }
                missing.copy_from_slice(&all);
            }
        }
    }
}

/// Runs of patterns with the same first `lead` codes.
fn beginnings(patterns: &Patterns, lead: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for p in 1..=patterns.len() {
        let ends = p == patterns.len()
            || (0..lead).any(|d| patterns.code(p, d) != patterns.code(p - 1, d));
        if ends {
            runs.push(start..p);
            start = p;
        }
    }
    runs
}

/// For every target, the sum of `amounts` over the compatible patterns of the
/// file.
pub(super) fn sums<T: Amount>(
    plan: &Plan,
    file: &Patterns,
    targets: &Patterns,
    amounts: &[T],
    monitor: &Monitor,
) -> Result<Vec<T>> {
    let file_runs = beginnings(file, plan.lead);
    let target_runs = beginnings(targets, plan.lead);
    monitor.set_total(monitor.progress().0 + target_runs.len() as u64);
    let begin = || vec![T::default(); plan.cells];
    let parts: Vec<Vec<T>> = parallel::try_map_with(target_runs, monitor, begin, |table, run| {
        table.fill(T::default());
        for other in &file_runs {
            monitor.check()?;
            let compatible = (0..plan.lead).all(|d| {
                let (a, b) = (targets.code(run.start, d), file.code(other.start, d));
                a == 0 || b == 0 || a == b
            });
            if compatible {
                for p in other.clone() {
                    table[plan.cell(file, p)] += amounts[p];
                }
            }
        }
        plan.transform(table);
        monitor.advance(1);
        Ok(run.map(|x| table[plan.cell(targets, x)]).collect())
    })?;
    Ok(parts.concat())
}
