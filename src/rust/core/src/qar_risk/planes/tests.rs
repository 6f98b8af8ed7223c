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
