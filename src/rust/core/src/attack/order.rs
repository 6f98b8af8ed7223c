//! In which order elimination takes the keys.

use super::patterns::Patterns;
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column};
use crate::parallel::{self, Monitor};

/// Rows and queries that the order is chosen on.
const SAMPLE: usize = 8192;

/// Per key, mixed codes of a sample of the rows: sums of them tell combinations
/// of codes apart, nearly always.
fn mixed(column: &Column, key: usize, step: usize) -> Vec<u64> {
    let mix = |code: u32| {
        let mut z = (u64::from(code) << 8 | key as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    with_codes!(column.codes(), |codes| codes
        .iter()
        .step_by(step)
        .map(|c| mix(c.value()))
        .collect())
}

fn n_distinct(mut sums: Vec<u64>) -> f64 {
    sums.sort_unstable();
    sums.dedup();
    sums.len() as f64
}

/// From the front, each time the key that leaves least to do: the distinct
/// values of the queries on the keys so far, times those of the rows on the
/// keys still to come.
pub(super) fn order_of_elimination(patterns: &Patterns, monitor: &Monitor) -> Result<Vec<usize>> {
    let n_keys = patterns.n_keys();
    let step = |n: usize| (n / SAMPLE).max(1);
    let of = |table: &crate::key_table::KeyTable| -> Vec<Vec<u64>> {
        let step = step(table.n_rows());
        parallel::map(table.columns().iter().enumerate(), |(v, c)| {
            mixed(c, v, step)
        })
    };
    let (rows, queries) = (of(&patterns.rows), of(&patterns.queries));
    let mut rest = rows.iter().fold(vec![0u64; rows[0].len()], |sums, key| {
        added(&sums, key, u64::wrapping_add)
    });
    let mut chosen = vec![0u64; queries[0].len()];
    let mut left: Vec<usize> = (0..n_keys).collect();
    let mut order = Vec::with_capacity(n_keys);
    while !left.is_empty() {
        monitor.check()?;
        let costs = parallel::map(&left, |&v| {
            n_distinct(added(&chosen, &queries[v], u64::wrapping_add))
                * n_distinct(added(&rest, &rows[v], u64::wrapping_sub))
        });
        let mut best = 0;
        for (at, cost) in costs.iter().enumerate() {
            if *cost < costs[best] {
                best = at;
            }
        }
        let v = left.remove(best);
        chosen = added(&chosen, &queries[v], u64::wrapping_add);
        rest = added(&rest, &rows[v], u64::wrapping_sub);
        order.push(v);
    }
    Ok(order)
}

fn added(sums: &[u64], key: &[u64], add: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    sums.iter().zip(key).map(|(&s, &k)| add(s, k)).collect()
}
