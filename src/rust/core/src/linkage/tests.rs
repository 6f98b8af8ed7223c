//! Both algorithms against brute force, and the laws of linkage.

use proptest::prelude::*;

use super::*;
use crate::key_table::{Codes, Column};

type Rows = Vec<Vec<u32>>;

fn table(rows: &Rows, levels: &[u32]) -> KeyTable {
    let columns = levels
        .iter()
        .enumerate()
        .map(|(v, &k)| Column::new(Codes::pack(k, rows.iter().map(|r| r[v])), k).unwrap())
        .collect();
    KeyTable::new(columns).unwrap()
}

/// Smallest difference and ties of every wave-2 row, pair by pair.
fn brute(one: &Rows, two: &Rows, agreements: &[Agreement], least: u32) -> Vec<(Option<u32>, u64)> {
    two.iter()
        .map(|q| {
            let distances: Vec<u32> = one
                .iter()
                .filter(|r| {
                    let shared = q.iter().zip(*r).filter(|&(&a, &b)| a != 0 && b != 0);
                    shared.count() as u32 >= least
                })
                .map(|r| {
                    let pairs = q.iter().zip(r).zip(agreements);
                    pairs.filter(|&((&c2, &c1), a)| a.differs(c1, c2)).count() as u32
                })
                .collect();
            let smallest = distances.iter().min().copied();
            let ties = distances.iter().filter(|&&d| Some(d) == smallest).count();
            (smallest, ties as u64)
        })
        .collect()
}

fn found(waves: &Waves, method: Method) -> Vec<(Option<u32>, u64)> {
    let keys: Vec<usize> = (0..waves.n_keys()).collect();
    let own = waves
        .partners
        .map(|_| waves.partner_differences(&keys, &Monitor::new()).unwrap());
    let nearest = waves
        .nearest(&keys, own.as_ref(), method, &Monitor::new())
        .unwrap();
    nearest.n_diff.into_iter().zip(nearest.n_best).collect()
}

/// Two waves over the same keys; some keys with a relation of their own.
fn waves() -> impl Strategy<Value = (Rows, Rows, Vec<u32>, Vec<Agreement>, u32)> {
    (
        prop::collection::vec(1u32..7, 1..8),
        1usize..90,
        1usize..60,
        0u32..4,
    )
        .prop_flat_map(|(levels, n1, n2, least)| {
            let row: Vec<_> = levels.iter().map(|&k| 0..=k).collect();
            let agreement: Vec<_> = levels
                .iter()
                .map(|&k| {
                    let pairs = (k * k) as usize;
                    prop::option::of(prop::collection::vec(any::<bool>(), pairs..=pairs))
                        .prop_map(move |m| m.map_or(Agreement::Same, |m| relation(&m, k)))
                })
                .collect();
            (
                prop::collection::vec(row.clone(), n1..=n1),
                prop::collection::vec(row, n2..=n2),
                Just(levels),
                agreement,
                Just(least),
            )
        })
}

/// The relation of a matrix: entry `(c2 - 1) * k + c1 - 1`.
fn relation(matrix: &[bool], k: u32) -> Agreement {
    let mut starts = vec![0];
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for row in matrix.chunks(k as usize) {
        for (c, &agrees) in (1..).zip(row) {
            let begins = starts[starts.len() - 1] as usize;
            match ranges[begins..].last_mut() {
                _ if !agrees => {}
                Some(last) if last.1 + 1 == c => last.1 = c,
                _ => ranges.push((c, c)),
            }
        }
        starts.push(ranges.len() as u32);
    }
    Agreement::Ranges { starts, ranges }
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]

    #[test]
    fn both_algorithms_equal_brute_force((one, two, levels, agreements, least) in waves()) {
        let (t1, t2) = (table(&one, &levels), table(&two, &levels));
        let partners: Vec<u32> = (0..two.len())
            .map(|i| if i % 3 == 0 || i >= one.len() { NONE } else { i as u32 })
            .collect();
        for partners in [None, Some(partners.as_slice())] {
            let waves = Waves::new(&t1, &t2, &agreements, partners, least).unwrap();
            let expected = brute(&one, &two, &agreements, least);
            prop_assert_eq!(&found(&waves, Method::Counters), &expected);
            prop_assert_eq!(&found(&waves, Method::Walk), &expected);
        }
    }

    #[test]
    fn one_search_settles_all_numbers_of_shared_keys((one, two, levels, agreements, least) in waves()) {
        let (t1, t2) = (table(&one, &levels), table(&two, &levels));
        let least = least.min(levels.len() as u32);
        let waves = Waves::new(&t1, &t2, &agreements, None, least).unwrap();
        let keys: Vec<usize> = (0..levels.len()).collect();
        let monitor = Monitor::new();
        let all = 0.0..=1e9;
        for method in [Method::Estimate, Method::Counters, Method::Walk] {
            let found = waves
                .search_by_shared(&keys, method, all.clone(), f64::INFINITY, &monitor)
                .unwrap()
                .unwrap();
            prop_assert_eq!(found.len() + least as usize, keys.len() + 1);
            for (least, nearest) in (least..).zip(found) {
                let found: Vec<_> = nearest.n_diff.into_iter().zip(nearest.n_best).collect();
                prop_assert_eq!(found, brute(&one, &two, &agreements, least));
            }
        }
        let none = |pairs, ns| {
            let found = waves.search_by_shared(&keys, Method::Estimate, pairs, ns, &monitor);
            found.unwrap().is_none()
        };
        prop_assert!(none(0.0..=1e9, -1.0));
        prop_assert!(none(0.0..=0.5, f64::INFINITY));
        prop_assert!(none(1e9..=2e9, f64::INFINITY));
    }

    #[test]
    fn scores_by_shared_keys_are_those_of_every_search((one, two, levels, agreements, _) in waves()) {
        let (t1, t2) = (table(&one, &levels), table(&two, &levels));
        let partners: Vec<u32> = (0..two.len())
            .map(|i| if i >= one.len() { NONE } else { i as u32 })
            .collect();
        let keys: Vec<usize> = (0..levels.len()).collect();
        let monitor = Monitor::new();
        let with = |least| Waves::new(&t1, &t2, &agreements, Some(&partners), least).unwrap();
        let own = with(0).partner_differences(&keys, &monitor).unwrap();
        let by_shared = |most| {
            nearest_and_scores(&with(0), &own, Method::Walk, most, &monitor).unwrap().1
        };
        let complete = one.iter().chain(&two).flatten().all(|&c| c > 0);
        match by_shared(f64::INFINITY) {
            None => prop_assert!(complete),
            Some(found) => {
                prop_assert!(!complete);
                let expected: Vec<Score> = (0..=keys.len() as u32)
                    .map(|least| {
                        let all = std::slice::from_ref(&keys);
                        scores(&with(least), all, &monitor).unwrap()[0]
                    })
                    .collect();
                prop_assert_eq!(found, expected);
                prop_assert!(by_shared(0.0).is_none());
            }
        }
    }

    #[test]
    fn permuting_records_permutes_results((one, two, levels, agreements, least) in waves()) {
        let (mut back1, mut back2) = (one.clone(), two.clone());
        back1.reverse();
        back2.reverse();
        let tables = [table(&one, &levels), table(&two, &levels)];
        let backwards = [table(&back1, &levels), table(&back2, &levels)];
        let waves = Waves::new(&tables[0], &tables[1], &agreements, None, least).unwrap();
        let other = Waves::new(&backwards[0], &backwards[1], &agreements, None, least).unwrap();
        let mut reversed = found(&other, Method::Counters);
        reversed.reverse();
        prop_assert_eq!(found(&waves, Method::Counters), reversed);
    }

    #[test]
    fn doubling_wave_1_doubles_ties((one, two, levels, agreements, least) in waves()) {
        let twice: Rows = one.iter().chain(&one).cloned().collect();
        let (t1, t2, t3) = (table(&one, &levels), table(&two, &levels), table(&twice, &levels));
        let waves = Waves::new(&t1, &t2, &agreements, None, least).unwrap();
        let doubled = Waves::new(&t3, &t2, &agreements, None, least).unwrap();
        for (a, b) in found(&waves, Method::Counters).iter().zip(found(&doubled, Method::Counters)) {
            prop_assert_eq!((a.0, 2 * a.1), b);
        }
    }

    #[test]
    fn own_record_is_never_nearer_than_the_nearest((one, two, levels, agreements, least) in waves()) {
        let (t1, t2) = (table(&one, &levels), table(&two, &levels));
        let partners: Vec<u32> = (0..two.len()).map(|i| (i % one.len()) as u32).collect();
        let waves = Waves::new(&t1, &t2, &agreements, Some(&partners), least).unwrap();
        let keys: Vec<usize> = (0..levels.len()).collect();
        let own = waves.partner_differences(&keys, &Monitor::new()).unwrap();
        for (row, (smallest, _)) in found(&waves, Method::Walk).into_iter().enumerate() {
            if own.is_admissible(row) {
                prop_assert!(smallest <= own.n_diff[row]);
            }
        }
    }
}

/// Pseudo-random rows without a generator.
fn scattered(n: usize, levels: &[u32], salt: u64) -> Rows {
    (0..n as u64)
        .map(|i| {
            levels
                .iter()
                .enumerate()
                .map(|(v, &k)| {
                    let x = (i * 31 + v as u64 * 1009 + salt).wrapping_mul(crate::hash::GOLDEN);
                    ((x >> 33) % u64::from(k + 1)) as u32
                })
                .collect()
        })
        .collect()
}

#[test]
fn several_tiles_and_a_key_of_many_values_equal_brute_force() {
    let levels = [3000, 2, 9, 40, 1, 5];
    let (one, two) = (scattered(2300, &levels, 1), scattered(1700, &levels, 7));
    let (t1, t2) = (table(&one, &levels), table(&two, &levels));
    let agreements = vec![Agreement::Same; levels.len()];
    for least in [0, 4] {
        let waves = Waves::new(&t1, &t2, &agreements, None, least).unwrap();
        let expected = brute(&one, &two, &agreements, least);
        assert_eq!(found(&waves, Method::Counters), expected);
        assert_eq!(found(&waves, Method::Walk), expected);
    }
}

#[test]
fn every_number_of_keys_has_enough_planes() {
    for k in [1usize, 2, 3, 6, 7, 14, 15, 30, 31, 62, 63, 64] {
        let levels = vec![3; k];
        let (one, two) = (scattered(70, &levels, 3), scattered(50, &levels, 5));
        let (t1, t2) = (table(&one, &levels), table(&two, &levels));
        let agreements = vec![Agreement::Same; k];
        let waves = Waves::new(&t1, &t2, &agreements, None, 1).unwrap();
        let expected = brute(&one, &two, &agreements, 1);
        assert_eq!(found(&waves, Method::Counters), expected, "{k} keys");
        assert_eq!(found(&waves, Method::Walk), expected, "{k} keys");
    }
}

#[test]
fn a_key_that_is_the_id_makes_every_match_certain() {
    let levels = [500, 4];
    let one: Rows = (0..500).map(|i| vec![i + 1, i % 4 + 1]).collect();
    let t = table(&one, &levels);
    let partners: Vec<u32> = (0..500).collect();
    let agreements = vec![Agreement::Same; 2];
    let waves = Waves::new(&t, &t, &agreements, Some(&partners), 0).unwrap();
    let scores = scores(&waves, &[vec![0, 1], vec![1]], &Monitor::new()).unwrap();
    assert_eq!((scores[0].n_certain, scores[0].n_single_best), (500, 500));
    assert!((scores[0].expected - 500.0).abs() < 1e-9);
    assert_eq!(scores[1].n_certain, 0);
    assert!((scores[1].expected - 4.0).abs() < 1e-9);
    let steps = add_greedily(&waves, &[1, 0], &Monitor::new()).unwrap();
    assert_eq!(steps[0].0, 0);
    assert_eq!(steps[1].0, 1);
}

#[test]
fn changes_count_pairs_observed_in_both_waves() {
    let levels = [3];
    let (one, two) = (
        vec![vec![1], vec![2], vec![0]],
        vec![vec![1], vec![3], vec![2], vec![1]],
    );
    let (t1, t2) = (table(&one, &levels), table(&two, &levels));
    let agreements = vec![Agreement::Same];
    let partners = [0, 1, 2, NONE];
    let waves = Waves::new(&t1, &t2, &agreements, Some(&partners), 0).unwrap();
    let changes = waves.changes(&Monitor::new()).unwrap();
    assert_eq!((changes[0].n_compared, changes[0].n_changed), (2, 1));
    assert_eq!(waves.changed(0), [false, true, false, false]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let t = table(&vec![vec![1, 1]], &[1, 1]);
    let same = vec![Agreement::Same; 2];
    assert!(Waves::new(&t, &t, &same[..1], None, 0).is_err());
    assert!(Waves::new(&t, &t, &same, Some(&[7]), 0).is_err());
    let outside = Agreement::Ranges {
        starts: vec![0, 1],
        ranges: vec![(1, 2)],
    };
    assert!(Waves::new(&t, &t, &[Agreement::Same, outside], None, 0).is_err());
    let waves = Waves::new(&t, &t, &same, None, 0).unwrap();
    let monitor = Monitor::new();
    assert!(waves.nearest(&[], None, Method::Walk, &monitor).is_err());
    assert!(waves.nearest(&[2], None, Method::Walk, &monitor).is_err());
    assert_eq!(
        waves
            .nearest(&[0; 65], None, Method::Walk, &monitor)
            .unwrap_err()
            .kind(),
        "too_large"
    );
    monitor.cancel();
    let stopped = waves.nearest(&[0, 1], None, Method::Counters, &monitor);
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
}
