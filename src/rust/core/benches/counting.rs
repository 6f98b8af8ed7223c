//! Counting all key sets: bits against partitions, all sets against the top.
//!
//! Columns have 2 to 100 values, spread geometrically, with shares that fall
//! as a power of the rank and a common cause behind a fifth of the values.

#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{criterion_group, criterion_main, Criterion};
use sdcrisk_core::key_table::{Codes, Column};
use sdcrisk_core::parallel::with_threads;
use sdcrisk_core::qar_risk::{count_sets, count_sets_by_partition, top_sets};
use sdcrisk_core::{KeySets, KeyTable, Monitor};

/// Draws in [0, 1): the same on every machine.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn synthetic(n_rows: usize, n_columns: usize) -> KeyTable {
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let cause: Vec<f64> = (0..n_rows).map(|_| draws.next()).collect();
    let columns = (0..n_columns)
        .map(|j| {
            let k = (2.0 * 50f64.powf(j as f64 / (n_columns - 1) as f64)).round() as u32;
            let shares: Vec<f64> = (1..=k).map(|i| f64::from(i).powf(-0.8)).collect();
            let sum: f64 = shares.iter().sum();
            let mut below = 0.0;
            let limits: Vec<f64> = shares
                .iter()
                .map(|share| {
                    below += share / sum;
                    below
                })
                .collect();
            let codes = cause.iter().map(|&common| {
                let own = draws.next();
                let at = if draws.next() < 0.2 { common } else { own };
                (limits.partition_point(|&limit| limit < at) as u32 + 1).min(k)
            });
            Column::new(Codes::pack(k, codes), k).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

fn counting(c: &mut Criterion) {
    for (n_rows, n_columns, p) in [(11_000, 18, 3), (11_000, 18, 4), (100_000, 20, 3)] {
        let table = synthetic(n_rows, n_columns);
        let sets = KeySets::new(n_columns, p, usize::MAX).unwrap();
        let n_top = sets.len() / 20 + 1;
        let mut group = c.benchmark_group(format!("{n_rows} x {n_columns}, p = {p}"));
        group.sample_size(10);
        for threads in [1, 2] {
            group.bench_function(format!("bits, {threads} threads"), |b| {
                b.iter(|| with_threads(threads, || count_sets(&table, sets, &Monitor::new())))
            });
        }
        group.bench_function("partitions, 1 thread", |b| {
            b.iter(|| with_threads(1, || count_sets_by_partition(&table, sets, &Monitor::new())))
        });
        group.bench_function("top twentieth, 1 thread", |b| {
            b.iter(|| with_threads(1, || top_sets(&table, sets, n_top, &Monitor::new())))
        });
        group.finish();
    }
}

criterion_group!(benches, counting);
criterion_main!(benches);
