//! Bits against partitions.

use super::super::partition;
use super::*;
use crate::key_table::{Codes, Column};
use crate::parallel::with_threads;
use proptest::prelude::*;

fn table(columns: &[Vec<u32>]) -> KeyTable {
    let columns = columns
        .iter()
        .map(|c| {
            let k = c.iter().copied().max().unwrap_or(0);
            Column::new(Codes::pack(k, c.iter().copied()), k).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

/// A column of `n` rows and up to `k` values, the first ones frequent.
fn skewed(n: usize, k: u32, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let share = f64::from(state >> 8) / f64::from(1u32 << 24);
            (f64::from(k) * share * share) as u32
        })
        .collect()
}

fn agree(table: &KeyTable, p: usize, max_bits: usize) {
    let sets = KeySets::new(table.columns().len(), p, 1_000_000).unwrap();
    let monitor = Monitor::new();
    let expected = partition::count_sets(table, sets, &Monitor::new()).unwrap();
    assert_eq!(
        count_with(table, sets, max_bits, &monitor).unwrap(),
        expected
    );
    let (done, total) = monitor.progress();
    assert_eq!(done, total);
}

fn top_agrees(table: &KeyTable, p: usize, n_top: usize, max_bits: usize) {
    let sets = KeySets::new(table.columns().len(), p, 1_000_000).unwrap();
    let all = partition::count_sets(table, sets, &Monitor::new())
        .unwrap()
        .distinct;
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.sort_by_key(|&set| std::cmp::Reverse(all[set as usize]));
    order.truncate(n_top);
    let monitor = Monitor::new();
    let top = top::top_with(table, sets, n_top, max_bits, &monitor).unwrap();
    let (done, total) = monitor.progress();
    assert_eq!(done, total);
    assert_eq!(top.sets, order);
    let expected: Vec<u32> = order.iter().map(|&set| all[set as usize]).collect();
    assert_eq!(top.distinct, expected);
    assert!(top.share_counted <= 1.0);
}

proptest! {
    #[test]
    fn the_top_is_that_of_all_sets(
        n in 1usize..200,
        levels in prop::collection::vec(1u32..40, 2..9),
        max_bits in 0usize..50,
        n_top in 1usize..30,
        seed in 0u32..1000,
    ) {
        let columns: Vec<Vec<u32>> = (seed..).zip(&levels).map(|(s, &k)| skewed(n, k, s)).collect();
        let rows = table(&columns);
        for p in 1..=levels.len().min(4) {
            top_agrees(&rows, p, n_top, max_bits);
        }
    }

    #[test]
    fn bits_count_like_partitions(
        n in 1usize..60,
        levels in prop::collection::vec(1u32..40, 2..7),
        max_bits in 0usize..50,
        seed in 0u32..1000,
    ) {
        let columns: Vec<Vec<u32>> = (seed..).zip(&levels).map(|(s, &k)| skewed(n, k, s)).collect();
        let rows = table(&columns);
        for p in 1..=levels.len().min(5) {
            agree(&rows, p, max_bits);
        }
        let times = skewed(n, 5, seed).iter().map(|&t| u64::from(t) + 1).collect();
        agree(&rows.with_multiplicity(times).unwrap(), levels.len().min(3), max_bits);
    }
}

#[test]
fn classes_longer_and_shorter_than_a_chunk_count_alike() {
    let levels = [1, 2, 3, 7, 30, 64, 65, 129, 256, 300, 3000];
    let columns: Vec<Vec<u32>> = (0..)
        .zip(levels)
        .map(|(s, k)| skewed(9_000, k, s))
        .collect();
    let rows = table(&columns);
    for p in 2..=4 {
        agree(&rows, p, MAX_BITS);
    }
    let times = skewed(9_000, 4, 77)
        .iter()
        .map(|&t| u64::from(t) + 1)
        .collect();
    agree(&rows.with_multiplicity(times).unwrap(), 3, MAX_BITS);
}

#[test]
fn threads_change_nothing_in_bits() {
    let columns: Vec<Vec<u32>> = (0..9).map(|s| skewed(5_000, 3 + 5 * s, s)).collect();
    let rows = table(&columns);
    for p in 2..=4 {
        let sets = KeySets::new(9, p, 1000).unwrap();
        let count =
            |threads| with_threads(threads, || count_sets(&rows, sets, &Monitor::new())).unwrap();
        let one = count(1);
        assert_eq!(one, count(2));
        assert_eq!(one, count(7));
    }
}

#[test]
fn one_row_and_missing_columns_count() {
    agree(&table(&[vec![3], vec![0], vec![9]]), 2, MAX_BITS);
    agree(&table(&[vec![0; 9], vec![0; 9], vec![1; 9]]), 3, MAX_BITS);
    agree(&table(&[vec![0; 9], vec![0; 9], vec![1; 9]]), 3, 0);
}

#[test]
fn values_never_three_times_are_counted_apart() {
    // Groups of 1, 2, 3 and 4 equal records, in one class and a short chunk.
    let column: Vec<u32> = vec![1, 2, 2, 3, 3, 3, 4, 4, 4, 4];
    let rows = table(&[vec![1; 10], vec![1; 10], column]);
    let sets = KeySets::new(3, 3, 10).unwrap();
    let counts = count_sets(&rows, sets, &Monitor::new()).unwrap();
    assert_eq!(
        (counts.distinct[0], counts.unique[0], counts.pairs[0]),
        (4, 1, 1)
    );
}

#[test]
fn a_cancelled_count_ends_early() {
    let columns: Vec<Vec<u32>> = (0..6).map(|s| skewed(500, 5 + s, s)).collect();
    let rows = table(&columns);
    let monitor = Monitor::new();
    monitor.cancel();
    for p in 1..=4 {
        let sets = KeySets::new(6, p, 100).unwrap();
        let error = count_sets(&rows, sets, &monitor).unwrap_err();
        assert_eq!(error.kind(), "interrupted");
        assert!(top_sets(&rows, sets, 2, &monitor).is_err());
    }
}

#[test]
fn the_top_of_large_tables_leaves_most_sets_uncounted() {
    let columns: Vec<Vec<u32>> = (0..14).map(|s| skewed(4_000, 2 + s * s / 3, s)).collect();
    let rows = table(&columns);
    top_agrees(&rows, 3, 20, MAX_BITS);
    let sets = KeySets::new(14, 3, 1000).unwrap();
    let top =
        |threads| with_threads(threads, || top_sets(&rows, sets, 20, &Monitor::new())).unwrap();
    let one = top(1);
    assert!(one.share_counted < 0.5, "{}", one.share_counted);
    assert_eq!(one, top(2));
    assert_eq!(one, top(7));
}

#[test]
fn columns_of_more_than_65535_values_count() {
    let n = 70_000;
    let columns = vec![
        skewed(n, 300, 1),
        (0..n as u32).rev().collect(),
        skewed(n, 20, 2),
        (0..n as u32).map(|i| i / 2).collect(),
        skewed(n, 3, 3),
    ];
    for p in 2..=3 {
        agree(&table(&columns), p, MAX_BITS);
    }
}
