use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::key_table::Codes;

fn table(columns: &[Vec<u32>]) -> KeyTable {
    let columns = columns
        .iter()
        .map(|codes| {
            let k = codes.iter().copied().max().unwrap_or(0);
            Column::new(Codes::pack(k, codes.iter().copied()), k).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

/// Uniques on the given columns, by comparing all records.
fn slow_unique(columns: &[&Vec<u32>], n: usize) -> u64 {
    (0..n)
        .filter(|&i| (0..n).all(|j| i == j || columns.iter().any(|c| c[i] != c[j])))
        .count() as u64
}

fn slow_v(x: &[u32], y: &[u32]) -> Option<f64> {
    let both: Vec<(u32, u32)> = x
        .iter()
        .zip(y)
        .map(|(&a, &b)| (a, b))
        .filter(|&(a, b)| a > 0 && b > 0)
        .collect();
    let n = both.len() as f64;
    let mut cells: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let (mut rows, mut cols) = (BTreeMap::new(), BTreeMap::new());
    for &(a, b) in &both {
        *cells.entry((a, b)).or_insert(0.0) += 1.0;
        *rows.entry(a).or_insert(0.0) += 1.0;
        *cols.entry(b).or_insert(0.0) += 1.0;
    }
    let mut chi2 = 0.0;
    for (a, na) in &rows {
        for (b, nb) in &cols {
            let expected: f64 = na * nb / n;
            let seen = cells.get(&(*a, *b)).copied().unwrap_or(0.0);
            chi2 += (seen - expected).powi(2) / expected;
        }
    }
    let (r, c) = (rows.len() as f64, cols.len() as f64);
    if n < 2.0 || r < 2.0 || c < 2.0 {
        return None;
    }
    let phi2 = (chi2 / n - (r - 1.0) * (c - 1.0) / (n - 1.0)).max(0.0);
    let r = r - (r - 1.0).powi(2) / (n - 1.0);
    let c = c - (c - 1.0).powi(2) / (n - 1.0);
    let room = (r - 1.0).min(c - 1.0);
    (room > 1e-9).then(|| (phi2 / room).sqrt().min(1.0))
}

fn columns() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..5, 1usize..40)
        .prop_flat_map(|(p, n)| prop::collection::vec(prop::collection::vec(0u32..5, n), p))
}

proptest! {
    #[test]
    fn equals_the_definition(columns in columns()) {
        let (p, n) = (columns.len(), columns[0].len());
        let found = key_overview(&table(&columns), &Monitor::new()).unwrap();
        let all: Vec<&Vec<u32>> = columns.iter().collect();
        prop_assert_eq!(found.n_unique, slow_unique(&all, n));
        for v in 0..p {
            let mut rest = all.clone();
            rest.remove(v);
            prop_assert_eq!(found.n_unique_without[v], slow_unique(&rest, n));
            prop_assert!(found.n_unique_without[v] <= found.n_unique);
            let observed = columns[v].iter().filter(|&&c| c > 0).count() as u64;
            prop_assert_eq!(found.keys[v].n_observed, observed);
            for w in 0..p {
                let value = found.association[v * p + w];
                if v == w {
                    prop_assert_eq!(value, None);
                    continue;
                }
                match (value, slow_v(&columns[v], &columns[w])) {
                    (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-6, "{a} {b}"),
                    (a, b) => prop_assert_eq!(a, b),
                }
            }
        }
    }

    #[test]
    fn order_and_labels_change_nothing(columns in columns()) {
        let n = columns[0].len();
        let found = key_overview(&table(&columns), &Monitor::new()).unwrap();
        let turned: Vec<Vec<u32>> = columns
            .iter()
            .map(|c| c.iter().rev().map(|&x| if x == 0 { 0 } else { 5 - x }).collect())
            .collect();
        let again = key_overview(&table(&turned), &Monitor::new()).unwrap();
        prop_assert_eq!(&found.n_unique_without, &again.n_unique_without);
        for (a, b) in found.association.iter().zip(&again.association) {
            prop_assert_eq!(a.is_some(), b.is_some());
            prop_assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-6);
        }
        for (a, b) in found.keys.iter().zip(&again.keys) {
            prop_assert!((a.entropy - b.entropy).abs() < 1e-12);
            prop_assert_eq!(a.largest, b.largest);
            prop_assert!(a.largest <= n as u64);
        }
    }

    #[test]
    fn distinct_rows_with_counts_give_the_same(columns in columns()) {
        let records = table(&columns);
        let groups = records.group(&Monitor::new()).unwrap();
        let rows = records.distinct(&groups).unwrap();
        let one = key_overview(&records, &Monitor::new()).unwrap();
        let two = key_overview(&rows, &Monitor::new()).unwrap();
        prop_assert_eq!(one, two);
    }
}

#[test]
fn many_values_are_counted_by_those_that_occur() {
    // More cells than are counted in full: a copy of a column is found out.
    let n = 5000u32;
    let x: Vec<u32> = (0..n).map(|i| i / 2 + 1).collect();
    let y = x.clone();
    let found = key_overview(&table(&[x, y]), &Monitor::new()).unwrap();
    assert!((found.association[1].unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(found.n_unique, 0);
}

#[test]
fn a_key_of_different_values_has_no_association() {
    let found = key_overview(&table(&[vec![1, 2, 3], vec![1, 1, 2]]), &Monitor::new()).unwrap();
    assert_eq!(found.association[1], None);
    assert_eq!(found.n_unique_without, vec![1, 3]);
}

#[test]
fn a_cancelled_overview_stops() {
    let monitor = Monitor::new();
    monitor.cancel();
    assert!(key_overview(&table(&[vec![1, 2], vec![1, 2]]), &monitor).is_err());
}
