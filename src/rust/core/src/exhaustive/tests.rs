use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::key_table::Codes;
use crate::parallel::with_threads;

fn table(rows: &[Vec<u32>], n_values: u32) -> KeyTable {
    let columns = (0..rows[0].len())
        .map(|v| {
            let codes = Codes::pack(n_values, rows.iter().map(|r| r[v]));
            Column::new(codes, n_values).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

/// Slow count by definition: every table is a map from cells to rows.
fn slow(
    rows: &[Vec<u32>],
    n_values: u32,
    weights: &[f64],
    dims: &[usize],
    rule: Rule,
    missing_counts: bool,
) -> Tabulation {
    let n_keys = rows[0].len();
    let mut out = Tabulation {
        violations: vec![0; rows.len()],
        tables_of_row: vec![0; rows.len()],
        categories: vec![vec![vec![Cells::default(); n_values as usize + 1]; n_keys]; dims.len()],
        records: vec![vec![Records::default(); n_values as usize + 1]; n_keys],
        tables: Vec::new(),
    };
    for (d, &dim) in dims.iter().enumerate() {
        let mut tables = Vec::new();
        for set in KeySets::new(n_keys, dim, 10_000)
            .unwrap()
            .members()
            .chunks(dim)
        {
            let mut cells: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
            for (i, row) in rows.iter().enumerate() {
                let key: Vec<u32> = set.iter().map(|&v| row[usize::from(v)]).collect();
                if missing_counts || !key.contains(&0) {
                    cells.entry(key).or_default().push(i);
                    out.tables_of_row[i] += 1;
                }
            }
            let mut found = Table::default();
            for (key, members) in cells {
                let weight: f64 = members.iter().map(|&i| weights[i]).sum();
                let violated = rule.violated(members.len() as u32, weight);
                let cell = Cells {
                    n: 1,
                    violations: u64::from(violated),
                };
                found.cells.add(cell);
                for (&v, &code) in set.iter().zip(&key) {
                    out.categories[d][usize::from(v)][code as usize].add(cell);
                }
                if violated {
                    found.records += members.len() as u64;
                    members.iter().for_each(|&i| out.violations[i] += 1);
                }
            }
            tables.push(found);
        }
        out.tables.push(tables);
    }
    for (row, &violations) in rows.iter().zip(&out.violations) {
        for (v, &code) in row.iter().enumerate() {
            let records = &mut out.records[v][code as usize];
            records.n += 1;
            records.violating += u64::from(violations > 0);
            records.violations += u64::from(violations);
        }
    }
    out
}

fn rule(which: u8, records: u32, weight: f64) -> Rule {
    match which {
        0 => Rule::Records(records),
        1 => Rule::Weight(weight),
        2 => Rule::Either(records, weight),
        _ => Rule::Both(records, weight),
    }
}

#[test]
fn weights_that_reach_a_threshold_but_for_rounding_reach_it() {
    let rows = vec![vec![1]; 30];
    let found = tabulate(
        &table(&rows, 1),
        Weights::new(&[0.1; 30], 30).ok(),
        &[1],
        Rule::Weight(3.0),
        Missing::Exclude,
        10,
        &Monitor::new(),
    )
    .unwrap();
    assert_eq!(found.violations, [0; 30]);
}

#[test]
fn many_values_are_counted_by_hash() {
    // More combinations of 3,000 values than are kept side by side.
    let rows: Vec<Vec<u32>> = (0..900u32)
        .map(|i| vec![i % 400 + 1, i * 7 % 400 + 1, i * i % 400 + 1])
        .collect();
    let weights: Vec<f64> = (0..900).map(|i| 1.0 + f64::from(i % 7)).collect();
    let rule = Rule::Either(2, 6.0);
    let found = tabulate(
        &table(&rows, 3000),
        Weights::new(&weights, 900).ok(),
        &[2, 3],
        rule,
        Missing::Exclude,
        10,
        &Monitor::new(),
    )
    .unwrap();
    assert_eq!(found, slow(&rows, 3000, &weights, &[2, 3], rule, false));
}

#[test]
fn too_many_tables_and_missing_weights_are_refused() {
    let table = table(&[vec![1, 1, 1, 1]], 1);
    let run = |rule, dims: &[usize], limit| {
        tabulate(
            &table,
            None,
            dims,
            rule,
            Missing::Category,
            limit,
            &Monitor::new(),
        )
        .unwrap_err()
        .kind()
    };
    assert_eq!(run(Rule::Records(3), &[1, 2], 9), "too_large");
    assert_eq!(run(Rule::Records(3), &[5], 9), "bad_argument");
    assert_eq!(run(Rule::Weight(3.0), &[1], 9), "bad_argument");
    let wildcard = Missing::Wildcard;
    let found = tabulate(
        &table,
        None,
        &[1],
        Rule::Records(3),
        wildcard,
        9,
        &Monitor::new(),
    );
    assert_eq!(found.map_err(|e| e.kind()), Err("bad_argument"));
}

#[test]
fn a_cancelled_tabulation_stops() {
    let monitor = Monitor::new();
    monitor.cancel();
    let table = table(&[vec![1, 2], vec![2, 1]], 2);
    let found = tabulate(
        &table,
        None,
        &[1],
        Rule::Records(3),
        Missing::Category,
        9,
        &monitor,
    );
    assert_eq!(found, Err(Error::Interrupted));
}

proptest! {
    #[test]
    fn equals_the_definition(
        rows in prop::collection::vec(prop::collection::vec(0u32..4, 4), 1..60),
        dims in prop::sample::subsequence(vec![1usize, 2, 3, 4], 1..=4),
        which in 0u8..4,
        records in 1u32..6,
        weight in 1.0f64..40.0,
        missing_counts: bool,
        threads in 1usize..4,
    ) {
        let weights: Vec<f64> = (0..rows.len()).map(|i| 1.0 + (i * i % 11) as f64).collect();
        let rule = rule(which, records, weight);
        let table = table(&rows, 3);
        let found = with_threads(threads, || {
            let given = Weights::new(&weights, rows.len()).ok();
            let missing = if missing_counts { Missing::Category } else { Missing::Exclude };
            tabulate(&table, given, &dims, rule, missing, 100, &Monitor::new())
        }).unwrap();
        prop_assert_eq!(&found, &slow(&rows, 3, &weights, &dims, rule, missing_counts));
    }

    #[test]
    fn finer_tables_have_no_fewer_violations(
        rows in prop::collection::vec(prop::collection::vec(1u32..4, 3), 1..40),
        records in 1u32..6,
    ) {
        // A record in a violation of a table is in one of every table beyond it.
        let run = |dims: &[usize]| tabulate(
            &table(&rows, 3), None, dims, Rule::Records(records), Missing::Category, 100, &Monitor::new(),
        ).unwrap().violations;
        let (two, three) = (run(&[2]), run(&[3]));
        for (a, b) in two.iter().zip(three) {
            prop_assert!(*a == 0 || b == 1);
        }
    }
}
