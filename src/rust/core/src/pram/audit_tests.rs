//! The audit against enumeration of who lands where.

use proptest::prelude::*;

use super::audit::{margins, simulate, Layout};
use super::match_prob::Tally;
use crate::parallel::{with_threads, Monitor};
use crate::random::{Seed, Streams};

fn streams(seed: u32) -> Streams {
    Streams::new(Seed::from_draws([seed, 2, 3, 4, 5, 6, 7, 8]))
}

fn match_prob(t: &Tally, count: u64, theta: f64, a: u64) -> Option<f64> {
    let found = t.match_probs(count, theta, &[a], &Monitor::new());
    found.unwrap()[0]
}

/// Sums over all releases of a design of blocks, seen in groups of cells.
fn enumerate_groups(
    counts: &[u64],
    block: &[Option<u32>],
    thetas: &[f64],
    group: &[u32],
    of: u32,
) -> (f64, f64, f64) {
    // Every record lands in the group or not: 2^n cases of indicators.
    let mut landing: Vec<(f64, bool)> = Vec::new();
    for (cell, &t) in counts.iter().enumerate() {
        let inside = group[cell] == of;
        let alpha = match block[cell] {
            Some(b) if thetas[b as usize] > 0.0 => {
                let members: Vec<usize> =
                    (0..counts.len()).filter(|&c| block[c] == Some(b)).collect();
                let leave = thetas[b as usize] / t as f64;
                let stay = if inside { 1.0 - leave } else { 0.0 };
                let others = members
                    .iter()
                    .filter(|&&c| c != cell && group[c] == of)
                    .count();
                stay + leave * others as f64 / (members.len() - 1) as f64
            }
            _ => f64::from(u8::from(inside)),
        };
        landing.extend((0..t).map(|_| (alpha, inside)));
    }
    let n = landing.len();
    let mut whole = vec![0.0; n + 1];
    let mut stays = vec![vec![0.0; n + 1]; n];
    for case in 0u32..1 << n {
        let mut probability = 1.0;
        for (r, &(alpha, _)) in landing.iter().enumerate() {
            probability *= if case >> r & 1 == 1 {
                alpha
            } else {
                1.0 - alpha
            };
        }
        let s = case.count_ones() as usize;
        whole[s] += probability;
        for (r, stays) in stays.iter_mut().enumerate() {
            if case >> r & 1 == 1 {
                stays[s] += probability;
            }
        }
    }
    let mut worst: f64 = 0.0;
    for (r, &(_, inside)) in landing.iter().enumerate() {
        for a in 1..=n {
            if inside && whole[a] > 0.0 {
                worst = worst.max(stays[r][a] / whole[a] / a as f64);
            }
        }
    }
    let mean: f64 = (0..=n).map(|s| s as f64 * whole[s]).sum();
    let square: f64 = (0..=n).map(|s| (s * s) as f64 * whole[s]).sum();
    (worst, mean, square - mean * mean)
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]
    #[test]
    fn groups_of_cells_equal_enumeration(
        cells in prop::collection::vec((1u64..4, prop::option::of(0u32..3), 0u32..3), 2..7),
        thetas in prop::collection::vec(0.0f64..1.0, 3),
        paper in any::<bool>(),
    ) {
        let counts: Vec<u64> = cells.iter().map(|c| c.0).collect();
        prop_assume!(counts.iter().sum::<u64>() <= 10);
        let block: Vec<Option<u32>> = cells.iter().map(|c| c.1).collect();
        let group: Vec<u32> = cells.iter().map(|c| c.2).collect();
        let size = |b: u32| block.iter().filter(|&&x| x == Some(b)).count();
        let thetas: Vec<f64> = (0..3)
            .map(|b| {
                if size(b) < 2 {
                    return 0.0;
                }
                let members = (0..counts.len()).filter(|&c| block[c] == Some(b));
                let limit = Tally::new(members.map(|c| counts[c])).theta_limit();
                // Beyond the limit too, where every a must be tried.
                if paper { thetas[b as usize] } else { thetas[b as usize] * limit }
            })
            .collect();
        let layout = Layout::new(counts.clone(), block.clone(), thetas.clone()).unwrap();
        let found = margins(&layout, &group, 3, None, &Monitor::new()).unwrap();
        for of in 0..3u32 {
            let margin = &found[of as usize];
            if margin.count == 0 {
                continue;
            }
            let (worst, mean, variance) = enumerate_groups(&counts, &block, &thetas, &group, of);
            prop_assert!((margin.match_prob - worst).abs() < 1e-9,
                "{counts:?} {block:?} {thetas:?} {group:?}: {} {worst}", margin.match_prob);
            prop_assert!((margin.count as f64 - mean).abs() < 1e-9);
            prop_assert!((margin.variance - variance).abs() < 1e-9);
        }
    }
}

#[test]
fn the_simulated_intruder_meets_the_exact_probability() {
    let cases: [(&[u64], f64); 3] = [
        (&[1, 1, 2, 3, 5], 0.39039),
        (&[1, 1, 1], 0.4),
        (&[1, 9], 0.3),
    ];
    for (counts, theta) in cases {
        let k = counts.len();
        let block = vec![Some(0); k];
        let layout = Layout::new(counts.to_vec(), block, vec![theta]).unwrap();
        let group: Vec<u32> = (0..k as u32).collect();
        let run = |threads| {
            with_threads(threads, || {
                simulate(&layout, &group, k, 40_000, &streams(9), &Monitor::new())
            })
            .unwrap()
        };
        let table = run(2);
        assert_eq!(table, run(1));
        let t = Tally::new(counts.iter().copied());
        for &(count, _) in t.distinct() {
            for a in 1..=2u64 {
                let attempts = &table[count as usize - 1][a as usize - 1];
                if attempts.n > 500 {
                    let rate = attempts.rate().unwrap();
                    let exact = match_prob(&t, count, theta, a).unwrap();
                    let error = attempts.std_error().unwrap();
                    assert!((rate - exact).abs() < 4.0 * error, "{counts:?} {count} {a}");
                }
            }
        }
    }
}
