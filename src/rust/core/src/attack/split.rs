//! Agreement subsets: for few keys with many values.
//!
//! With `D` the exponential of a disagreement and `B(y)` what that of an
//! agreement on `y` has more, every factor of a pair is `D + B(y) [agree]`. The
//! product over the keys is a sum over the subsets of keys on which the pair
//! agrees at least, and all terms are positive. So the files are split together:
//! at every key once left as they are, with the factor `D`, and once into the
//! records of equal values, with the factor `B(y)`. Where one side has become
//! small, its pairs are looked at one by one.
//!
//! The largest weight is found on the way: a pair that agrees where it was left
//! whole has too small a weight there, and its true one in another branch. This
//! needs agreement to weigh more than disagreement, for every value.

use rayon::prelude::*;

use super::patterns::{codes_of, Patterns};
use super::weights::Weights;
use super::Best;
use crate::error::Result;
use crate::memory::{filled, room_for};
use crate::parallel::{self, Monitor};

/// Records from which parts are treated in parallel.
const LARGE: usize = if cfg!(test) { 24 } else { 1 << 13 };
/// Price of a split relative to a pair, element by element.
const SPLIT_PRICE: f64 = if cfg!(test) { 0.1 } else { 4.0 };

/// A query with what the keys so far have brought.
#[derive(Debug, Clone, Copy)]
struct Partial {
    query: u32,
    /// Place in which its numbers are collected.
    place: u32,
    weight: f64,
    factor: f64,
}

/// Best match, ties and sum of one query so far.
#[derive(Debug, Clone, Copy)]
struct Found {
    weight: f64,
    n: u64,
    sum: f64,
}

const NOTHING: Found = Found {
    weight: f64::NEG_INFINITY,
    n: 0,
    sum: 0.0,
};

impl Found {
    #[inline]
    fn take(&mut self, weight: f64, n: u64, sum: f64) {
        if weight > self.weight {
            self.weight = weight;
            self.n = n;
        } else if weight >= self.weight {
            self.n += n;
        }
        self.sum += sum;
    }
}

/// Both files, keys with most values first.
struct Splitter<'a> {
    rows: Vec<Vec<u32>>,
    queries: Vec<Vec<u32>>,
    counts: &'a [u64],
    weights: &'a Weights,
    order: Vec<usize>,
    monitor: &'a Monitor,
}

/// Keys by their effective number of values, the largest first.
pub(super) fn order_of_splits(patterns: &Patterns) -> (Vec<usize>, Vec<f64>) {
    let collisions: Vec<f64> = patterns
        .rows
        .columns()
        .iter()
        .map(|column| {
            let mut counts = vec![0.0f64; column.n_values() as usize + 1];
            for row in 0..column.len() {
                counts[column.codes().get(row) as usize] += 1.0;
            }
            let n = (column.len() as f64).max(1.0);
            counts.iter().map(|c| (c / n) * (c / n)).sum()
        })
        .collect();
    let mut order: Vec<usize> = (0..collisions.len()).collect();
    order.sort_by(|&a, &b| collisions[a].total_cmp(&collisions[b]).then(a.cmp(&b)));
    let sorted = order.iter().map(|&v| collisions[v]).collect();
    (order, sorted)
}

/// True if pairs one by one are cheaper than splitting on so many keys more.
fn is_small(rows: f64, queries: f64, keys_left: usize) -> bool {
    let splits = f64::from(1u32 << keys_left.min(6));
    rows * queries * keys_left as f64 <= SPLIT_PRICE * (rows + queries) * splits
}

/// Elements that splitting is expected to look at, as if the keys were
/// independent.
pub(super) fn work(patterns: &Patterns) -> f64 {
    let (_, collisions) = order_of_splits(patterns);
    let (n, q) = (patterns.n_rows() as f64, patterns.n_queries() as f64);
    // More subsets than this are more than any other way takes.
    if collisions.len() > 20 {
        return f64::INFINITY;
    }
    expected_work(&collisions, n, q)
}

fn expected_work(collisions: &[f64], rows: f64, queries: f64) -> f64 {
    let Some((&collision, rest)) = collisions.split_first() else {
        return queries;
    };
    if is_small(rows, queries, collisions.len()) {
        return rows * queries * collisions.len() as f64;
    }
    let parts = 1.0 / collision.max(1e-12);
    let parts = parts.min(rows).min(queries).max(1.0);
    let split = parts * expected_work(rest, rows / parts, queries / parts);
    10.0 * (rows + queries) + split + expected_work(rest, rows, queries)
}

/// Rows or queries sorted by the code of one key.
fn by_code(items: &[u32], codes: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted: Vec<(u32, u32)> = items.iter().map(|&i| (codes[i as usize], i)).collect();
    if sorted.len() > LARGE {
        sorted.par_sort_unstable();
    } else {
        sorted.sort_unstable();
    }
    sorted
}

/// Queries of one code and the rows that agree with them to one level.
struct Part {
    queries: Vec<Partial>,
    rows: Vec<u32>,
}

impl Splitter<'_> {
    fn visit(
        &self,
        depth: usize,
        rows: &[u32],
        queries: Vec<Partial>,
        found: &mut [Found],
    ) -> Result<()> {
        if rows.is_empty() || queries.is_empty() {
            return Ok(());
        }
        let keys_left = self.order.len() - depth;
        if keys_left == 0 {
            let n: u64 = rows.iter().map(|&r| self.counts[r as usize]).sum();
            for q in &queries {
                found[q.place as usize].take(q.weight, n, q.factor * n as f64);
            }
            return Ok(());
        }
        self.monitor.check()?;
        if is_small(rows.len() as f64, queries.len() as f64, keys_left) {
            self.compare(depth, rows, &queries, found);
            return Ok(());
        }
        self.split(depth, rows, queries, found)
    }

    /// All pairs, one by one.
    fn compare(&self, depth: usize, rows: &[u32], queries: &[Partial], found: &mut [Found]) {
        for q in queries {
            let mut best = found[q.place as usize];
            for &row in rows {
                let (mut weight, mut factor) = (q.weight, q.factor);
                for at in depth..self.order.len() {
                    let (w, e) = self.weights.keys()[self.order[at]].pair(
                        self.rows[at][row as usize],
                        self.queries[at][q.query as usize],
                    );
                    weight += w;
                    factor *= e;
                }
                let n = self.counts[row as usize];
                best.take(weight, n, factor * n as f64);
            }
            found[q.place as usize] = best;
        }
    }

    /// Once whole and once by the values of the key.
    fn split(
        &self,
        depth: usize,
        rows: &[u32],
        queries: Vec<Partial>,
        found: &mut [Found],
    ) -> Result<()> {
        let key = &self.weights.keys()[self.order[depth]];
        let (row_codes, codes) = (&self.rows[depth], &self.queries[depth]);
        let (known, unknown): (Vec<Partial>, Vec<Partial>) = queries
            .into_iter()
            .partition(|q| codes[q.query as usize] != 0);
        self.visit(depth + 1, rows, unknown, found)?;
        let (observed, missing): (Vec<u32>, Vec<u32>) =
            rows.iter().partition(|&&r| row_codes[r as usize] != 0);
        let times = |weight: f64, e: f64| {
            let scaled = known.iter().map(|&q| Partial {
                weight: q.weight + weight,
                factor: q.factor * e,
                ..q
            });
            scaled.collect::<Vec<_>>()
        };
        if !missing.is_empty() {
            self.visit(depth + 1, &missing, times(0.0, key.e_missing), found)?;
        }
        let whole = times(key.differ, key.e_differ);
        self.visit(depth + 1, &observed, whole, found)?;
        let parts = self.parts(depth, &observed, &known);
        if rows.len() + known.len() < LARGE {
            for part in parts {
                self.visit(depth + 1, &part.rows, part.queries, found)?;
            }
            return Ok(());
        }
        self.visit_apart(depth + 1, parts, found)
    }

    /// The queries of every code and level with their rows.
    fn parts(&self, depth: usize, rows: &[u32], queries: &[Partial]) -> Vec<Part> {
        let key = &self.weights.keys()[self.order[depth]];
        let rows = by_code(rows, &self.rows[depth]);
        let codes = &self.queries[depth];
        let mut sorted: Vec<Partial> = queries.to_vec();
        sorted.sort_unstable_by_key(|q| (codes[q.query as usize], q.place));
        let mut parts = Vec::new();
        for of_code in sorted.chunk_by(|a, b| codes[a.query as usize] == codes[b.query as usize]) {
            for touched in key.of(codes[of_code[0].query as usize]) {
                let from = rows.partition_point(|r| r.0 < touched.first);
                let to = rows.partition_point(|r| r.0 <= touched.last);
                if from < to {
                    let more = touched.e - key.e_differ;
                    parts.push(Part {
                        queries: of_code
                            .iter()
                            .map(|&q| Partial {
                                weight: q.weight + touched.weight,
                                factor: q.factor * more,
                                ..q
                            })
                            .collect(),
                        rows: rows[from..to].iter().map(|r| r.1).collect(),
                    });
                }
            }
        }
        parts
    }

    /// The parts in parallel, each with numbers of its own, which are put
    /// together in the order of the parts.
    fn visit_apart(&self, depth: usize, parts: Vec<Part>, found: &mut [Found]) -> Result<()> {
        const TOGETHER: usize = 256;
        for some in parts.chunks(TOGETHER) {
            let results = parallel::try_map(some, self.monitor, |part| {
                let mut own = vec![NOTHING; part.queries.len()];
                let queries = (0u32..).zip(&part.queries);
                let queries = queries.map(|(place, &q)| Partial { place, ..q }).collect();
                self.visit(depth, &part.rows, queries, &mut own)?;
                Ok(own)
            })?;
            for (part, own) in some.iter().zip(results) {
                for (q, own) in part.queries.iter().zip(own) {
                    found[q.place as usize].take(own.weight, own.n, own.sum);
                }
            }
        }
        Ok(())
    }
}

/// The best matches of all queries, by their numbers. All weights must be rising.
pub(super) fn best_matches(
    patterns: &Patterns,
    weights: &Weights,
    monitor: &Monitor,
) -> Result<Vec<Best>> {
    let (order, _) = order_of_splits(patterns);
    let (n, q) = (patterns.n_rows(), patterns.n_queries());
    // Codes, and lists of both files at every key.
    room_for((n + q) * order.len() * 40)?;
    let of = |table: &crate::key_table::KeyTable, n: usize| -> Vec<Vec<u32>> {
        let all: Vec<u32> = (0..n as u32).collect();
        let columns = order.iter().map(|&v| codes_of(&table.columns()[v], &all));
        columns.collect()
    };
    let splitter = Splitter {
        rows: of(&patterns.rows, n),
        queries: of(&patterns.queries, q),
        counts: &patterns.counts,
        weights,
        order,
        monitor,
    };
    let rows: Vec<u32> = (0..n as u32).collect();
    let queries = (0..q as u32).map(|query| Partial {
        query,
        place: query,
        weight: 0.0,
        factor: 1.0,
    });
    let mut found = filled(NOTHING, q)?;
    splitter.visit(0, &rows, queries.collect(), &mut found)?;
    monitor.advance(q as u64);
    let best = found.into_iter().map(|f| Best::new(f.weight, f.n, f.sum));
    Ok(best.collect())
}
