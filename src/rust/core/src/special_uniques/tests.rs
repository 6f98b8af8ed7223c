use super::*;
use crate::key_table::{Codes, Column};
use crate::parallel::with_threads;
use proptest::prelude::*;

/// Columns of codes, 0 for missing.
fn table(columns: &[Vec<u32>]) -> KeyTable {
    let column = |codes: &Vec<u32>| {
        let k = codes.iter().copied().max().unwrap_or(0);
        Column::new(Codes::pack(k, codes.iter().copied()), k).unwrap()
    };
    KeyTable::new(columns.iter().map(column).collect()).unwrap()
}

fn find(table: &KeyTable, max_size: usize, missing: Missing, threads: usize) -> SpecialUniques {
    with_threads(threads, || {
        special_uniques(table, max_size, missing, 3, true, &Monitor::new())
    })
    .unwrap()
}

/// The MSUs of every record, by the definition.
fn brute(columns: &[Vec<u32>], max_size: usize, wild: bool) -> Vec<Vec<Vec<usize>>> {
    let (n, d) = (columns[0].len(), columns.len());
    let agree = |a: u32, b: u32| a == b || wild && (a == 0 || b == 0);
    let alone = |i: usize, set: &[usize]| {
        (0..n).all(|j| i == j || !set.iter().all(|&v| agree(columns[v][i], columns[v][j])))
    };
    let mut sets: Vec<Vec<usize>> = (1u32..1 << d)
        .map(|bits| (0..d).filter(|v| bits >> v & 1 == 1).collect())
        .collect();
    sets.sort_by_key(|set: &Vec<usize>| (set.len(), set.clone()));
    let minimal = |i: usize, set: &Vec<usize>| {
        let without = |u: usize| set.iter().copied().filter(|&v| v != u).collect::<Vec<_>>();
        alone(i, set)
            && (set.len() == 1 && columns[set[0]][i] + u32::from(!wild) > 0
                || set.len() > 1 && set.iter().all(|&u| !alone(i, &without(u))))
    };
    (0..n)
        .map(|i| {
            let short = sets.iter().filter(|set| set.len() <= max_size);
            short.filter(|set| minimal(i, set)).cloned().collect()
        })
        .collect()
}

fn check(columns: &[Vec<u32>], max_size: usize, missing: Missing) {
    let d = columns.len();
    let found = find(&table(columns), max_size, missing, 2);
    assert_eq!(found, find(&table(columns), max_size, missing, 1));
    let expected = brute(columns, max_size, missing == Missing::Wildcard);
    let weight = |k: usize| -> f64 {
        let last = max_size.min(d - 1);
        (k..=last).map(|i| (d - i) as f64).product()
    };
    let mut by_variable = vec![0.0; d];
    let mut n_by_variable = vec![0; d];
    let mut by_pair = vec![0.0; d * d];
    for (i, sets) in expected.iter().enumerate() {
        for size in 1..=max_size {
            let n = sets.iter().filter(|set| set.len() == size).count() as u32;
            assert_eq!(found.n_msu[i * max_size + size - 1], n);
        }
        let first = found.smallest[i].map(|at| &found.sets[at as usize]);
        assert_eq!(first, sets.first());
        for set in sets {
            for &v in set {
                by_variable[v] += weight(set.len());
                n_by_variable[v] += 1;
                for &u in set.iter().filter(|&&u| u > v) {
                    by_pair[v * d + u] += weight(set.len());
                }
            }
        }
    }
    assert_eq!(found.by_variable, by_variable);
    assert_eq!(found.n_by_variable, n_by_variable);
    assert_eq!(found.by_pair, by_pair);
    for (sums, total) in found.by_level.iter().zip(&found.by_variable) {
        assert!((sums.iter().sum::<f64>() - total).abs() < 1e-12);
    }
    let score = |i: u32| -> f64 { expected[i as usize].iter().map(|s| weight(s.len())).sum() };
    assert!(found.top.windows(2).all(|w| score(w[0]) >= score(w[1])));
    for (&row, parts) in found.top.iter().zip(found.top_contributions.chunks(d)) {
        let sets = &expected[row as usize];
        for (v, &part) in parts.iter().enumerate() {
            let of = sets.iter().filter(|set| set.contains(&v));
            let sum: f64 = of.map(|set| weight(set.len())).sum();
            assert!((part - sum).abs() < 1e-12);
        }
    }
}

#[test]
fn the_example_of_the_handbook_holds() {
    // Residence, gender, education, labour status.
    let columns = vec![
        vec![1, 1, 1, 1, 2, 1, 1, 1, 1, 1],
        vec![1, 1, 1, 2, 1, 2, 1, 2, 1, 1],
        vec![1, 1, 2, 3, 3, 3, 4, 5, 1, 1],
        vec![1, 1, 2, 1, 3, 1, 2, 3, 2, 2],
    ];
    let found = find(&table(&columns), 3, Missing::Category, 1);
    let scores: Vec<u32> = (found.n_msu.chunks(3))
        .map(|n| 6 * n[0] + 2 * n[1] + n[2])
        .collect();
    assert_eq!(scores, [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]);
    check(&columns, 3, Missing::Wildcard);
}

#[test]
fn a_lonely_record_is_unique_by_all_it_knows() {
    let found = find(
        &table(&[vec![1], vec![0], vec![1]]),
        2,
        Missing::Wildcard,
        1,
    );
    assert_eq!(found.n_msu, [2, 0]);
    assert_eq!(found.n_by_variable, [1, 0, 1]);
    assert_eq!(found.uniques_and_paired, Some((1, 0)));
}

#[test]
fn equal_records_are_unique_on_nothing() {
    let twice = table(&[vec![1, 2]]).with_multiplicity(vec![2, 1]).unwrap();
    let found = find(&twice, 1, Missing::Category, 1);
    assert_eq!(found.n_msu, [0, 1]);
    assert_eq!(found.uniques_and_paired, Some((1, 2)));
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let incomplete = table(&[vec![1, 0]]);
    let ask = |table: &KeyTable, size: usize, missing: Missing| {
        let found = special_uniques(table, size, missing, 3, false, &Monitor::new());
        found.map_err(|e| e.kind())
    };
    assert_eq!(ask(&incomplete, 1, Missing::Exclude), Err("bad_argument"));
    assert_eq!(ask(&incomplete, 2, Missing::Category), Err("bad_argument"));
    let wide = table(&vec![vec![1, 2]; 60]);
    assert_eq!(ask(&wide, 30, Missing::Category), Err("too_large"));
}

fn files() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..7, 1usize..13, 2u32..6)
        .prop_flat_map(|(d, n, k)| prop::collection::vec(prop::collection::vec(0..k, n), d))
}

/// The MSUs of a file that the other has, too, by the definition.
fn check_replicated(own: &[Vec<u32>], released: &[Vec<u32>], max_size: usize, missing: Missing) {
    let wild = missing == Missing::Wildcard;
    let n_values = |v: usize| {
        own[v]
            .iter()
            .chain(&released[v])
            .copied()
            .max()
            .unwrap_or(0)
    };
    let alike = |columns: &[Vec<u32>]| {
        let column = |(v, codes): (usize, &Vec<u32>)| {
            let k = n_values(v);
            Column::new(Codes::pack(k, codes.iter().copied()), k).unwrap()
        };
        KeyTable::new(columns.iter().enumerate().map(column).collect()).unwrap()
    };
    let of = brute(own, max_size, wild);
    let theirs = brute(released, max_size, wild);
    let same = |i: usize, set: &Vec<usize>| {
        (0..released[0].len())
            .any(|j| theirs[j].contains(set) && set.iter().all(|&v| own[v][i] == released[v][j]))
    };
    for threads in [1, 2] {
        let (a, b) = (alike(own), alike(released));
        let found = with_threads(threads, || {
            replicated(&a, &b, max_size, missing, &Monitor::new())
        });
        let found = found.unwrap();
        for (i, sets) in of.iter().enumerate() {
            for size in 1..=max_size {
                let n = sets
                    .iter()
                    .filter(|s| s.len() == size && same(i, s))
                    .count();
                assert_eq!(found[i * max_size + size - 1] as usize, n);
            }
        }
    }
}

#[test]
fn a_copy_repeats_all_and_other_values_nothing() {
    let own = vec![vec![1, 1, 2, 3], vec![1, 2, 2, 3]];
    let n = |released: &[Vec<u32>]| {
        let found = replicated(
            &table(&own),
            &table(released),
            2,
            Missing::Category,
            &Monitor::new(),
        );
        found.unwrap().iter().sum::<u32>()
    };
    let all: u32 = find(&table(&own), 2, Missing::Category, 1)
        .n_msu
        .iter()
        .sum();
    assert_eq!(n(&own), all);
    assert_eq!(n(&[vec![3, 3, 3], vec![1, 1, 2]]), 0);
}

fn two_files() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<Vec<u32>>)> {
    let file = |d, n, k| prop::collection::vec(prop::collection::vec(0u32..k, n), d);
    (1usize..6, 1usize..10, 1usize..10, 2u32..5)
        .prop_flat_map(move |(d, n, m, k)| (file(d, n, k), file(d, m, k)))
}

proptest! {
    #[test]
    fn replicated_ones_equal_the_definition((own, released) in two_files(), size in 1usize..6) {
        let size = size.min(own.len());
        check_replicated(&own, &released, size, Missing::Category);
        check_replicated(&own, &released, size, Missing::Wildcard);
    }

    #[test]
    fn equals_the_definition(columns in files(), size in 1usize..7) {
        let size = size.min(columns.len());
        check(&columns, size, Missing::Category);
        check(&columns, size, Missing::Wildcard);
        let complete: Vec<Vec<u32>> = columns
            .iter()
            .map(|codes| codes.iter().map(|c| c + 1).collect())
            .collect();
        check(&complete, size, Missing::Exclude);
    }
}
