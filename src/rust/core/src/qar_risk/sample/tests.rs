//! Weights against counts, samples against all sets.

use super::*;
use crate::key_table::{Codes, Column};
use crate::probability::Probability;
use crate::qar_risk::estimate;
use crate::qar_risk::{planes, Pwm, ThetaOne};
use crate::random::Seed;
use proptest::prelude::*;

fn settings(pi_u: f64, pwm: Pwm) -> TailSettings {
    TailSettings {
        alpha: vec![
            Probability::new(0.02, "alpha").unwrap(),
            Probability::new(pi_u, "alpha").unwrap(),
        ],
        pi_u: Probability::new(pi_u, "pi_u").unwrap(),
        pwm,
        theta_one: ThetaOne::One,
    }
}

fn table(n_columns: usize, n: u32) -> KeyTable {
    let columns = (0..n_columns as u32)
        .map(|v| {
            let k = 2 + v * v % 23;
            let codes = (0..n).map(|i| (i.wrapping_mul(2_654_435_761 + 40_503 * v) >> 9) % k + 1);
            Column::new(Codes::pack(k, codes), k).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

fn run(table: &KeyTable, sets: KeySets, max_sets: usize, seed: u32) -> SampledRisk {
    let streams = Streams::new(Seed::from_draws([seed; 8]));
    let at = settings(0.1, Pwm::Plotting);
    sampled_risk(table, sets, max_sets, &at, streams, &Monitor::new()).unwrap()
}

proptest! {
    #[test]
    fn weights_of_one_give_the_estimate_of_all(h in prop::collection::vec(1u32..60, 2..150)) {
        let mut falling = h.clone();
        falling.sort_unstable_by(|a, b| b.cmp(a));
        let weighted: Vec<(u32, f64)> = falling.iter().map(|&h| (h, 1.0)).collect();
        for (pi_u, pwm) in [
            (0.2, Pwm::Plotting), (0.2, Pwm::Unbiased), (0.5, Pwm::Plotting), (0.5, Pwm::Unbiased),
        ] {
            let at = settings(pi_u, pwm);
            let expected = estimate(falling.iter().copied(), h.len(), 70, &at);
            let found = weighted_estimates(&weighted, h.len(), 70, &at);
            for (a, b) in expected.iter().zip(&found) {
                prop_assert_eq!(a.n_exceedances, b.n_exceedances);
                prop_assert_eq!((a.status, a.equal), (b.status, b.equal));
                prop_assert_eq!(a.risk.is_some(), b.risk.is_some());
                if let (Some(a), Some(b)) = (a.risk, b.risk) {
                    prop_assert!((a - b).abs() < 1e-9);
                }
                prop_assert_eq!(a.threshold.map(f64::to_bits), b.threshold.map(f64::to_bits));
                prop_assert_eq!(
                    a.risk_empirical.map(f64::to_bits), b.risk_empirical.map(f64::to_bits)
                );
                prop_assert_eq!(a.largest.map(f64::to_bits), b.largest.map(f64::to_bits));
            }
        }
    }

    #[test]
    fn no_set_exceeds_its_bound(seed in 0u32..50) {
        let t = table(9, 100 + seed);
        let sets = KeySets::new(9, 3, 1000).unwrap();
        let bounds = Bounds::new(&t, sets, &Monitor::new()).unwrap();
        let counts = planes::count_sets(&t, sets, &Monitor::new()).unwrap();
        for (set, &h) in sets.members().chunks(3).zip(&counts.distinct) {
            prop_assert!(f64::from(h) <= bounds.most_classes(bounds.bin(set)));
        }
    }
}

#[test]
fn equal_excesses_of_a_sample_give_the_largest_risk_under_unbiased_weights() {
    let values: Vec<(u32, f64)> = [(16, 1.0), (16, 1.0), (16, 2.5)]
        .into_iter()
        .chain((0..13).map(|i| (12 - i / 5, 2.5)))
        .collect();
    let found = weighted_estimates(&values, 37, 100, &settings(0.13, Pwm::Unbiased));
    assert!(found[0].equal && found[0].n_exceedances > 1);
    assert_eq!(found[0].risk, Some(0.16));
    assert_eq!((found[0].shape, found[0].scale), (None, None));
    assert_eq!(found[1].risk, found[1].threshold);
}

#[test]
fn a_sample_of_all_sets_is_the_full_run() {
    let t = table(14, 400);
    let sets = KeySets::new(14, 3, 1000).unwrap();
    let found = run(&t, sets, 2 * sets.len(), 1);
    assert!(found.exact);
    assert_eq!(found.n_complete, 364);
    assert_eq!(found.members, sets.members());
    assert_eq!(
        found.counts,
        planes::count_sets(&t, sets, &Monitor::new()).unwrap()
    );
    assert_eq!(found.risk_se, [Some(0.0), Some(0.0)]);
}

#[test]
fn samples_are_of_the_size_asked_and_cover_the_truth() {
    let t = table(26, 3000);
    let sets = KeySets::new(26, 3, 10_000).unwrap();
    let full = planes::count_sets(&t, sets, &Monitor::new()).unwrap();
    let mut falling = full.distinct.clone();
    falling.sort_unstable_by(|a, b| b.cmp(a));
    let truth = estimate(
        falling.into_iter(),
        sets.len(),
        3000,
        &settings(0.1, Pwm::Plotting),
    );
    let truth = truth[0].risk.unwrap();
    let mut covered = 0;
    for seed in 0..40 {
        let found = run(&t, sets, 500, seed);
        assert!(found.counts.distinct.len() <= 500);
        assert!(found.counts.distinct.len() >= 490);
        let risk = found.estimates[0].risk.unwrap();
        let se = found.risk_se[0].unwrap();
        covered += usize::from(found.exact || (risk - truth).abs() <= 2.5 * se);
    }
    assert!(covered >= 34, "{covered}");
}

#[test]
fn the_seed_decides_which_sets_are_drawn() {
    let t = table(26, 500);
    let sets = KeySets::new(26, 3, 10_000).unwrap();
    assert_eq!(run(&t, sets, 300, 5).members, run(&t, sets, 300, 5).members);
    assert_ne!(run(&t, sets, 300, 5).members, run(&t, sets, 300, 6).members);
}
