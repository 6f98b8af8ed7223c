//! Laws of coding and grouping, on small random columns and by hand.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::*;

fn codes_of(coded: &Coded) -> Vec<u32> {
    (0..coded.column.len())
        .map(|r| coded.column.codes().get(r))
        .collect()
}

/// Slow coding by ordered sets: what every encoder must agree with.
fn oracle<T: Ord + Clone>(values: &[Option<T>]) -> (Vec<u32>, Vec<u32>) {
    let distinct: BTreeSet<T> = values.iter().flatten().cloned().collect();
    let rank: BTreeMap<T, u32> = distinct.into_iter().zip(1..).collect();
    let codes: Vec<u32> = values
        .iter()
        .map(|v| v.as_ref().map_or(0, |v| rank[v]))
        .collect();
    let firsts = (1..=rank.len() as u32)
        .map(|k| codes.iter().position(|&c| c == k).unwrap() as u32)
        .collect();
    (codes, firsts)
}

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

#[test]
fn missing_is_code_zero_and_values_are_counted_in_order() {
    let coded = encode_integers(&[7, i32::MIN, -2, 7, 100], &Monitor::new()).unwrap();
    assert_eq!(codes_of(&coded), [2, 0, 1, 2, 3]);
    assert_eq!(coded.first_rows, [2, 0, 4]);
    assert_eq!(coded.column.n_missing(), 1);
    assert_eq!(coded.column.n_distinct(), 4);
}

#[test]
fn integers_far_apart_are_coded_like_integers_close_together() {
    let coded = encode_integers(
        &[i32::MAX, i32::MIN, -5, i32::MIN + 1, i32::MAX],
        &Monitor::new(),
    )
    .unwrap();
    assert_eq!(codes_of(&coded), [3, 0, 2, 1, 3]);
    assert_eq!(coded.first_rows, [3, 2, 0]);
}

#[test]
fn doubles_know_one_zero_one_missing_and_two_infinities() {
    let inf = f64::INFINITY;
    let coded = encode_doubles(
        &[0.0, -0.0, f64::NAN, inf, -inf, 0.5, -0.5],
        &Monitor::new(),
    )
    .unwrap();
    assert_eq!(codes_of(&coded), [3, 3, 0, 5, 1, 4, 2]);
    let whole = encode_doubles(&[3.0, f64::NAN, 1.0, -0.0, 0.0], &Monitor::new()).unwrap();
    assert_eq!(codes_of(&whole), [3, 0, 2, 1, 1]);
    let wide = encode_doubles(&[1e300, 1.0, 3e9, 1.0], &Monitor::new()).unwrap();
    assert_eq!(codes_of(&wide), [3, 1, 2, 1]);
    assert_eq!(
        codes_of(&encode_doubles(&[f64::NAN; 3], &Monitor::new()).unwrap()),
        [0, 0, 0]
    );
}

#[test]
fn wide_integers_keep_values_a_double_would_merge() {
    let big = 1i64 << 53;
    let coded = encode_wide_integers(&[big + 1, big, i64::MIN, -1], &Monitor::new()).unwrap();
    assert_eq!(codes_of(&coded), [3, 2, 0, 1]);
}

#[test]
fn factor_codes_follow_levels_and_unused_levels_leave_no_gap() {
    let na = i32::MIN;
    let coded = encode_levels(&[4, 2, na, 4, 3], &[false, false, true, false]).unwrap();
    assert_eq!(codes_of(&coded), [2, 1, 0, 2, 0]);
    assert_eq!(coded.first_rows, [1, 0]);
    for bad in [0, 5, -1] {
        let error = encode_levels(&[1, bad], &[false; 4]).unwrap_err();
        assert_eq!(error.kind(), "bad_column");
    }
}

#[test]
fn texts_with_equal_bytes_are_one_value_in_byte_order() {
    // Addresses 30 and 10 hold the same text; 0 is the missing text.
    let ids = text_ids(&[30, 20, 0, 10, 20], 0, &Monitor::new()).unwrap();
    assert_eq!(ids.addresses(), [30, 20, 10]);
    let coded = encode_texts(&ids, &["zo\u{eb}", "Anna", "zo\u{eb}"]).unwrap();
    assert_eq!(codes_of(&coded), [2, 1, 0, 2, 1]);
    assert_eq!(coded.first_rows, [1, 0]);
    assert!(encode_texts(&ids, &["one"]).is_err());
}

#[test]
fn codes_take_the_narrowest_width() {
    let widths = [(255, 1), (256, 2), (65_535, 2), (65_536, 4)];
    for (k, bytes) in widths {
        let codes = Codes::pack(k, 0..=k);
        let width = match &codes {
            Codes::U8(_) => 1,
            Codes::U16(_) => 2,
            Codes::U32(_) => 4,
        };
        assert_eq!(width, bytes);
        assert_eq!(codes.get(k as usize), k);
    }
}

#[test]
fn tables_that_are_no_tables_are_refused() {
    assert!(KeyTable::new(vec![]).is_err());
    let column = |c: &[u32]| Column::new(Codes::pack(3, c.iter().copied()), 3).unwrap();
    assert!(KeyTable::new(vec![column(&[])]).is_err());
    assert!(KeyTable::new(vec![column(&[1]), column(&[1, 2])]).is_err());
    assert!(Column::new(Codes::U8(vec![4]), 3).is_err());
    let one = KeyTable::new(vec![column(&[1, 2])]).unwrap();
    assert!(one.clone().with_multiplicity(vec![1]).is_err());
    assert!(one.clone().with_multiplicity(vec![1, 0]).is_err());
    assert_eq!(one.with_multiplicity(vec![3, 4]).unwrap().n_records(), 7);
}

#[test]
fn levels_that_multiply_beyond_64_bits_are_grouped_exactly() {
    // Seven columns of 2000 levels: 2001^7 exceeds 2^64.
    let n = 4000u32;
    let columns: Vec<Vec<u32>> = (0..7)
        .map(|v| {
            (0..n)
                .map(|i| (i % 2000) * (v % 2 + 1) % 2000 + 1)
                .collect()
        })
        .collect();
    let mut with_maximum = columns;
    for column in &mut with_maximum {
        column.push(2000);
    }
    let groups = table(&with_maximum).group(&Monitor::new()).unwrap();
    let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
    for row in 0..=n as usize {
        let key: Vec<u32> = with_maximum.iter().map(|c| c[row]).collect();
        let next = seen.len() as u32;
        let id = *seen.entry(key).or_insert(next);
        assert_eq!(groups.row_group()[row], id);
    }
    assert_eq!(groups.len(), seen.len());
}

#[test]
fn many_blocks_group_like_one() {
    // More rows than a block, more distinct rows than a direct table takes.
    let n = 150_000u32;
    let columns: Vec<Vec<u32>> = [(7_919, 3_000), (104_729, 2_900), (31, 11)]
        .iter()
        .map(|&(step, k)| (0..n).map(|i| i.wrapping_mul(step) / 7 % k + 1).collect())
        .collect();
    let table = table(&columns);
    let groups = table.group(&Monitor::new()).unwrap();
    let mut seen: HashMap<Vec<u32>, (u32, u64)> = HashMap::new();
    for row in 0..n as usize {
        let key: Vec<u32> = columns.iter().map(|c| c[row]).collect();
        let next = seen.len() as u32;
        let entry = seen.entry(key).or_insert((next, 0));
        entry.1 += 1;
        assert_eq!(groups.row_group()[row], entry.0);
    }
    assert!(seen.len() > 70_000, "{}", seen.len());
    for (id, count) in seen.values() {
        assert_eq!(groups.counts()[*id as usize], *count);
    }
}

#[test]
fn the_hash_of_rows_is_that_of_their_set() {
    let of = |columns: &[&[u64]]| {
        let mut rows = vec![0; columns[0].len()];
        for column in columns {
            mix_rows(&mut rows, column.iter().copied());
        }
        hash_of_rows(&rows)
    };
    let hash = of(&[&[1, 2, 2], &[5, 6, 7]]);
    assert_eq!(of(&[&[2, 1, 2], &[7, 5, 6]]), hash);
    for other in [
        of(&[&[1, 2, 2], &[6, 5, 7]]),
        of(&[&[5, 6, 7], &[1, 2, 2]]),
        of(&[&[1, 2], &[5, 6]]),
        of(&[&[1, 1, 2, 2], &[5, 5, 6, 7]]),
    ] {
        assert_ne!(other, hash);
    }
}

#[test]
fn the_fingerprint_is_pinned() {
    // A change here makes saved results refuse the data they came from.
    let t = table(&[vec![1, 2, 0, 1], (1..=4).map(|i| i * 100).collect()]);
    assert_eq!(
        format!("{:016x}", t.fingerprint(&[], &[b"sex", b"age"])),
        "67032155481c0a6d"
    );
}

#[test]
fn places_put_codes_in_an_order_of_their_own() {
    // Codes 1, 2, 3 of the first are 3, 1, 2 of the second, in every width.
    for wide in [0u32, 300, 70_000] {
        let rest = (0..wide).map(|code| code + 4);
        let first: Vec<u32> = [1, 2, 0, 3].into_iter().chain(rest.clone()).collect();
        let second: Vec<u32> = [3, 1, 0, 2].into_iter().chain(rest.clone()).collect();
        let places: Vec<u32> = [2, 3, 1].into_iter().chain(rest).collect();
        let one = table(&[first]);
        let other = table(&[second]);
        let names: [&[u8]; 1] = [b"v"];
        let expected = one.fingerprint(&[], &names);
        assert_ne!(other.fingerprint(&[], &names), expected);
        assert_eq!(other.fingerprint(&[Some(&places)], &names), expected);
    }
}

#[test]
fn hashes_of_values_tell_them_apart() {
    assert_eq!(
        hash_numbers(&[0.0, f64::NAN]),
        hash_numbers(&[-0.0, -f64::NAN])
    );
    assert_ne!(hash_numbers(&[1.0, 2.0]), hash_numbers(&[2.0, 1.0]));
    assert_ne!(hash_numbers(&[1.0]), hash_numbers(&[1.0 + f64::EPSILON]));
    let texts = |t: &[&str]| hash_texts(t.iter().map(|t| t.as_bytes()));
    assert_ne!(texts(&["ab", "c"]), texts(&["a", "bc"]));
    assert_ne!(texts(&["ab"]), texts(&["ab", ""]));
}

fn small_table() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..5, 1usize..40)
        .prop_flat_map(|(v, n)| prop::collection::vec(prop::collection::vec(0u32..4, n..=n), v..=v))
}

proptest! {
    #[test]
    fn integers_agree_with_ordered_sets(
        values in prop::collection::vec(prop::option::of(-30i32..30), 1..60),
        spread in prop::sample::select(vec![1, 70_000_000]),
    ) {
        let values: Vec<Option<i32>> = values.iter().map(|v| v.map(|v| v * spread)).collect();
        let ints: Vec<i32> = values.iter().map(|v| v.unwrap_or(i32::MIN)).collect();
        let doubles: Vec<f64> = values.iter().map(|v| v.map_or(f64::NAN, f64::from)).collect();
        let halves: Vec<f64> = doubles.iter().map(|v| v / 2.0).collect();
        let wide: Vec<i64> = values.iter().map(|v| v.map_or(i64::MIN, i64::from)).collect();
        let (codes, firsts) = oracle(&values);
        for coded in [
            encode_integers(&ints, &Monitor::new()).unwrap(),
            encode_doubles(&doubles, &Monitor::new()).unwrap(),
            encode_doubles(&halves, &Monitor::new()).unwrap(),
            encode_wide_integers(&wide, &Monitor::new()).unwrap(),
        ] {
            prop_assert_eq!(&codes_of(&coded), &codes);
            prop_assert_eq!(&coded.first_rows, &firsts);
            prop_assert_eq!(coded.column.n_values() as usize, firsts.len());
            let missing = codes.iter().filter(|&&c| c == 0).count();
            prop_assert_eq!(coded.column.n_missing(), missing);
        }
    }

    #[test]
    fn groups_are_the_classes_of_equal_rows(columns in small_table()) {
        let t = table(&columns);
        let groups = t.group(&Monitor::new()).unwrap();
        let n = t.n_rows();
        for a in 0..n {
            for b in 0..n {
                let equal = columns.iter().all(|c| c[a] == c[b]);
                prop_assert_eq!(equal, groups.row_group()[a] == groups.row_group()[b]);
            }
        }
        prop_assert_eq!(groups.counts().iter().sum::<u64>(), n as u64);
        prop_assert!(groups.first_rows().windows(2).all(|w| w[0] < w[1]));
        let distinct = t.distinct(&groups).unwrap();
        prop_assert_eq!(distinct.n_rows(), groups.len());
        prop_assert_eq!(distinct.n_records(), n as u64);
        // Grouping distinct rows changes nothing but keeps the counts.
        let again = distinct.group(&Monitor::new()).unwrap();
        prop_assert_eq!(again.counts(), groups.counts());
    }

    #[test]
    fn merging_all_columns_numbers_the_classes(columns in small_table()) {
        let t = table(&columns);
        let all: Vec<usize> = (0..columns.len()).collect();
        let merged = t.merge(std::slice::from_ref(&all), &Monitor::new()).unwrap();
        let classes = t.group(&Monitor::new()).unwrap();
        if columns.len() > 1 {
            prop_assert_eq!(merged.columns()[0].n_values() as usize, classes.len());
            prop_assert_eq!(merged.columns()[0].n_missing(), 0);
        }
        let again = merged.group(&Monitor::new()).unwrap();
        prop_assert_eq!(again.row_group(), classes.row_group());
    }

    #[test]
    fn complete_rows_are_those_without_zero(columns in small_table()) {
        let t = table(&columns);
        let expected: Vec<u32> = (0..t.n_rows() as u32)
            .filter(|&r| columns.iter().all(|c| c[r as usize] != 0))
            .collect();
        prop_assert_eq!(t.complete_rows(), expected);
    }

    #[test]
    fn dense_codes_are_those_of_the_rows_alone(columns in small_table(), rows in 1usize..40) {
        let t = table(&columns);
        let rows: Vec<u32> = (0..rows.min(t.n_rows()) as u32).collect();
        let part = t.select(&rows).unwrap();
        let (dense, first_rows) = part.clone().dense();
        for ((column, dense), first) in columns.iter().zip(dense.columns()).zip(first_rows) {
            let seen: Vec<u32> = rows.iter().map(|&row| column[row as usize]).collect();
            let mut values: Vec<u32> = seen.iter().copied().filter(|&code| code > 0).collect();
            values.sort_unstable();
            values.dedup();
            prop_assert_eq!(dense.n_values() as usize, values.len());
            for (value, row) in values.iter().zip(&first) {
                let first = seen.iter().position(|code| code == value);
                prop_assert_eq!(first, Some(*row as usize));
            }
            for (row, &code) in seen.iter().enumerate() {
                let expected = values.iter().position(|&v| v == code).map_or(0, |at| at + 1);
                prop_assert_eq!(dense.codes().get(row) as usize, expected);
            }
        }
    }

    #[test]
    fn one_changed_cell_changes_the_fingerprint(
        columns in small_table(), row in 0usize..40, by in 1u32..4,
    ) {
        let t = table(&columns);
        let names: Vec<&[u8]> = columns.iter().map(|_| &b"v"[..]).collect();
        let mut changed = columns.clone();
        let n = t.n_rows();
        changed[0][row % n] = (changed[0][row % n] + by) % 4;
        prop_assert_ne!(t.fingerprint(&[], &names), table(&changed).fingerprint(&[], &names));
    }

    #[test]
    fn recoding_to_a_shared_dictionary_keeps_classes(columns in small_table(), shift in 0u32..300) {
        let mut t = table(&columns);
        let before = t.group(&Monitor::new()).unwrap();
        let k = t.columns()[0].n_values();
        let map: Vec<u32> = (1..=k).map(|c| k - c + 1 + shift).collect();
        t.recode(0, &map, k + shift).unwrap();
        let after = t.group(&Monitor::new()).unwrap();
        prop_assert_eq!(after.row_group(), before.row_group());
        // Of a column without values no map is too short.
        prop_assert_eq!(t.recode(0, &[], 1).is_err(), k + shift > 0);
    }
}

#[test]
fn sizes_of_groups_and_single_rows_are_told() {
    let codes = Codes::pack(4, [1, 2, 2, 3, 4, 4, 4].into_iter());
    let table = KeyTable::new(vec![Column::new(codes, 4).unwrap()]).unwrap();
    let groups = table.group(&Monitor::new()).unwrap();
    let sizes: Vec<(u64, u32)> = groups.sizes().into_iter().collect();
    assert_eq!(sizes, [(1, 2), (2, 1), (3, 1)]);
    let alone = [true, false, false, true, false, false, false];
    assert_eq!(groups.alone(), alone);
}
