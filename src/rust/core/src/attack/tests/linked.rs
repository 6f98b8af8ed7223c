//! The search with the partner's weight as threshold against the engines.

use super::*;
use crate::attack::linked::Linked;
use crate::linkage;

/// The expected correct matches, pair by pair.
fn brute_expected(case: &Case, weights: &Weights) -> f64 {
    let best = case.brute(weights);
    let linked = case.partners.iter().enumerate().filter(|p| *p.1 != NONE);
    linked
        .map(
            |(i, &p)| match case.pair(weights, i, p as usize) >= best[i].0 {
                true => 1.0 / best[i].1 as f64,
                false => 0.0,
            },
        )
        .sum()
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]

    #[test]
    fn expected_matches_equal_those_of_the_engines(case in cases(), rising: bool, limit in 0u64..40) {
        let weights = case.weights(rising);
        let slow = brute_expected(&case, &weights);
        with_files(&case, |files| {
            let monitor = Monitor::new();
            let keys: Vec<usize> = (0..files.n_keys()).collect();
            let own = files.weights_of_partners(&weights, &keys).unwrap();
            let prepared = prepared(files);
            let plan = Plan { engine: Engine::Elimination, work: 0.0 };
            let engine = prepared.expected(&weights, &plan, &own, &monitor).unwrap();
            assert!((engine - slow).abs() < 1e-9);
            let waves = files.waves().unwrap();
            let patterns = linkage::Patterns::new(&waves, &keys, &monitor).unwrap();
            let mut linked = Linked::new(&patterns, &weights, &own, &monitor).unwrap();
            // Beyond the limit rows are compared one by one.
            for limit in [u64::MAX / 4, limit, 0] {
                linked.limit = limit;
                let found = linked.expected(&monitor).unwrap();
                assert_eq!(found.to_bits(), engine.to_bits(), "{limit}: {found} {engine}");
            }
        });
    }

    #[test]
    fn the_calibrated_intruder_is_that_of_the_attack(case in cases(), threads in 1usize..4) {
        let asked = Settings { intruders: vec![Intruder::Calibrated], coverage: None, ..settings() };
        with_files(&case, |files| {
            let attack = attack(files, &asked, &Monitor::new()).unwrap();
            let found = with_threads(threads, || {
                expected_correct(files, f64::INFINITY, &Monitor::new())
            }).unwrap();
            assert_eq!(found.map(f64::to_bits), Some(attack.found[0].score.expected.to_bits()));
        });
    }
}

/// Rows that agree on nothing much: many nodes reach any threshold.
fn scattered() -> Case {
    let sizes = vec![40; 8];
    let rows = |n: u64, salt: u64| -> Rows {
        let code = |i: u64, v: u64| {
            let x = (i * 31 + v * 1009 + salt).wrapping_mul(crate::hash::GOLDEN);
            ((x >> 33) % 41) as u32
        };
        (0..n)
            .map(|i| (0..8).map(|v| code(i, v)).collect())
            .collect()
    };
    let mut case = plain(rows(900, 1), rows(700, 7), &sizes);
    case.partners = (0..700).collect();
    case
}

#[test]
fn partners_that_agree_on_nothing_are_refused_by_their_work_alone() {
    // Their weights are low, so that the search sees all rows.
    let case = scattered();
    let asked = Settings {
        intruders: vec![Intruder::Calibrated],
        ..settings()
    };
    with_files(&case, |files| {
        let monitor = Monitor::new();
        let attack = attack(files, &asked, &monitor).unwrap();
        let expected = attack.found[0].score.expected;
        let found = expected_correct(files, f64::INFINITY, &monitor).unwrap();
        assert_eq!(found, Some(expected));
        assert_eq!(expected_correct(files, 1e3, &monitor).unwrap(), None);
    });
}

#[test]
fn five_records_by_hand() {
    // The partner of the first differs on the second key, and two records agree on both;
    // that of the second ties with a record like it.
    let nine = 9f64.ln();
    let weights = simple(&[2, 2], &[nine, nine], &[-nine, -nine]);
    let mut case = plain(
        vec![vec![1, 1], vec![1, 2], vec![1, 2], vec![2, 0], vec![2, 0]],
        vec![vec![1, 2], vec![2, 0], vec![1, 1], vec![2, 2]],
        &[2, 2],
    );
    case.partners = vec![0, 3, 0, NONE];
    with_files(&case, |files| {
        let monitor = Monitor::new();
        let own = files.weights_of_partners(&weights, &[0, 1]).unwrap();
        let waves = files.waves().unwrap();
        let patterns = linkage::Patterns::new(&waves, &[0, 1], &monitor).unwrap();
        let linked = Linked::new(&patterns, &weights, &own, &monitor).unwrap();
        // Nothing, one of two, and one of one.
        assert_eq!(
            linked.expected(&monitor).unwrap().to_bits(),
            1.5f64.to_bits()
        );
        monitor.cancel();
        assert_eq!(linked.expected(&monitor).unwrap_err().kind(), "interrupted");
    });
}

#[test]
fn nobody_linked_expects_nothing() {
    let case = plain(vec![vec![1]; 3], vec![vec![1]; 2], &[2]);
    with_files(&case, |files| {
        let found = expected_correct(files, f64::INFINITY, &Monitor::new()).unwrap();
        assert_eq!(found.map(f64::to_bits), Some(0f64.to_bits()));
    });
}
