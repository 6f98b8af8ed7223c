//! Laws of invariant PRAM, against full enumeration where files are small.

use proptest::prelude::*;

use super::calibrate::{exact_theta, paper_covers, paper_theta, reach};
use super::match_prob::Tally;
use super::pairing::{pair_nearest, Forbidden, Points};
use super::perturb::draw;
use super::*;
use crate::key_table::{Codes, Column};
use crate::parallel::with_threads;
use crate::random::{Seed, Streams};

fn bound(xi: f64) -> Probability {
    Probability::new(xi, "xi").unwrap()
}

fn tally(counts: &[u64]) -> Tally {
    Tally::new(counts.iter().copied())
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

fn streams(seed: u32) -> Streams {
    Streams::new(Seed::from_draws([seed, 2, 3, 4, 5, 6, 7, 8]))
}

fn settings<'a>(xi: f64, ordered: &'a [bool]) -> Settings<'a> {
    Settings {
        bound: bound(xi),
        scope: Scope::All,
        calibration: Calibration::Exact,
        prefer: Prefer::FewestChanges,
        unprotected: Unprotected::Refuse,
        ordered,
        forbidden: &[],
        level: None,
        family: None,
        weights: None,
    }
}

fn match_prob(t: &Tally, count: u64, theta: f64, a: u64) -> Option<f64> {
    let found = t.match_probs(count, theta, &[a], &Monitor::new());
    found.unwrap()[0]
}

/// All ways to write `n` as a sum of falling counts.
fn partitions(n: u64, most: u64) -> Vec<Vec<u64>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    (1..=n.min(most))
        .flat_map(|first| {
            partitions(n - first, first).into_iter().map(move |rest| {
                let mut all = vec![first];
                all.extend(rest);
                all
            })
        })
        .collect()
}

/// Sums over all releases, destination by destination: for every cell and `a`,
/// P(S = a) and P(S = a, the first record of the cell stays).
fn enumerate(counts: &[u64], theta: f64) -> Vec<Vec<(f64, f64)>> {
    let k = counts.len();
    let records: Vec<usize> = counts
        .iter()
        .enumerate()
        .flat_map(|(cell, &t)| std::iter::repeat_n(cell, t as usize))
        .collect();
    let n = records.len();
    let firsts: Vec<usize> = (0..k)
        .map(|cell| records.iter().position(|&c| c == cell).unwrap())
        .collect();
    let mut sums = vec![vec![(0.0, 0.0); n + 1]; k];
    let mut to = vec![0usize; n];
    loop {
        let mut probability = 1.0;
        let mut after = vec![0usize; k];
        for (&from, &to) in records.iter().zip(&to) {
            let t = counts[from] as f64;
            probability *= if from == to {
                1.0 - theta / t
            } else {
                theta / ((k - 1) as f64 * t)
            };
            after[to] += 1;
        }
        for cell in 0..k {
            let sum = &mut sums[cell][after[cell]];
            sum.0 += probability;
            if to[firsts[cell]] == cell {
                sum.1 += probability;
            }
        }
        // The next of the k^n releases.
        let Some(place) = to.iter().position(|&cell| cell + 1 < k) else {
            break;
        };
        to[..place].iter_mut().for_each(|cell| *cell = 0);
        to[place] += 1;
    }
    sums
}

#[test]
fn match_probabilities_equal_full_enumeration_on_every_file_of_up_to_8_records() {
    let mut n_files = 0;
    for n in 2..=8 {
        for counts in partitions(n, n) {
            if counts.len() < 2 {
                continue;
            }
            n_files += 1;
            let thetas: &[f64] = if n < 7 {
                &[0.15, 0.39, 0.66, 0.95]
            } else {
                &[0.39]
            };
            for &theta in thetas {
                let sums = enumerate(&counts, theta);
                let t = tally(&counts);
                let by_count = t.worst_by_count(theta);
                for (cell, &count) in counts.iter().enumerate() {
                    let mut worst: f64 = 0.0;
                    for (a, &(whole, stays)) in sums[cell].iter().enumerate().skip(1) {
                        let expected = stays / whole / a as f64;
                        let found = match_prob(&t, count, theta, a as u64).unwrap();
                        assert!(
                            (found - expected).abs() < 1e-10,
                            "{counts:?} theta {theta} cell {cell} a {a}: {found} {expected}"
                        );
                        worst = worst.max(expected);
                    }
                    let at = t.distinct().iter().position(|d| d.0 == count).unwrap();
                    assert!((by_count[at] - worst).abs() < 1e-10);
                }
            }
        }
    }
    // Partitions of 2 to 8 into two or more parts.
    assert_eq!(n_files, 1 + 2 + 4 + 6 + 10 + 14 + 21);
}

#[test]
fn worked_values() {
    let cases: [(&[u64], f64, f64, f64); 7] = [
        (&[1, 1, 2, 3, 5], 0.8, 0.79157, 0.38292),
        (&[1, 1, 2, 3, 5], 0.5, 0.47889, 0.60393),
        (&[1, 2], 0.8, 0.76299, 0.36159),
        (&[1; 10], 0.8, 0.79281, 0.38397),
        (&[1, 1], 0.8, 0.70917, 1.0 / 3.0),
        (&[2, 2, 2, 2], 0.8, 0.47590, 0.0),
        (&[1, 100], 0.8, 0.79937, 0.38981),
    ];
    for (counts, xi, worst, smallest) in cases {
        let t = tally(counts);
        let theta = paper_theta(bound(xi)).unwrap();
        assert!((t.worst(theta) - worst).abs() < 1e-5, "{counts:?}");
        let exact = exact_theta(&t, bound(xi)).unwrap();
        assert!((exact - smallest).abs() < 1e-5, "{counts:?} {exact}");
    }
    let published = [
        (3.0 / 7.0, 2.0 / 3.0),
        (0.5, 0.6180339887),
        (0.75, 0.4342585459),
        (0.8, 0.3903882032),
        (0.9, 0.2823756961),
        (0.95, 0.2046043260),
    ];
    for (xi, theta) in published {
        assert!((paper_theta(bound(xi)).unwrap() - theta).abs() < 1e-10);
    }
    assert!((reach(&tally(&[1; 10])) - 0.1).abs() < 1e-12);
    assert!((reach(&tally(&[5, 5, 5])) - 0.19).abs() < 5e-3);
    assert_eq!(paper_theta(bound(0.42)).unwrap_err().kind(), "bad_argument");
}

#[test]
fn large_counts_do_not_underflow() {
    let t = tally(&[1, 2, 700, 30_000, 2_000_000]);
    for (count, a) in [
        (700, 700),
        (700, 699),
        (30_000, 30_001),
        (1, 50),
        (2_000_000, 5),
    ] {
        let found = match_prob(&t, count, 0.39, a).unwrap();
        let largest = 1.0 / count.max(a) as f64;
        assert!(
            found > 0.0 && found <= largest * (1.0 + 1e-9),
            "{count} {a} {found}"
        );
    }
    assert!(match_prob(&t, 1, 0.39, 3_000_000).is_none());
}

#[test]
fn many_records_found_are_answered_as_one_by_one() {
    // Far more than one product holds without underflow.
    let cases: [(Vec<u64>, f64); 4] = [
        ((1..=50).collect(), 0.4),
        (vec![1; 3000], 0.4),
        (vec![2, 700, 5000], 0.39),
        (vec![1, 1, 2, 3, 5], 0.6),
    ];
    for (counts, theta) in cases {
        let t = tally(&counts);
        let n = t.n_records();
        let step = (n / 40).max(1) as usize;
        let a: Vec<u64> = (1..=n + 2).rev().step_by(step).chain([3, 3, 1]).collect();
        for &(count, _) in t.distinct().iter().step_by(1 + counts.len() / 8) {
            let all = t.match_probs(count, theta, &a, &Monitor::new()).unwrap();
            for (&a, &found) in a.iter().zip(&all) {
                let one = match_prob(&t, count, theta, a);
                assert_eq!(found.is_some(), one.is_some(), "{count} {a}");
                if let (Some(found), Some(one)) = (found, one) {
                    assert!(
                        (found / one - 1.0).abs() < 1e-10,
                        "{count} {a}: {found} {one}"
                    );
                }
            }
        }
    }
    let stopped = Monitor::new();
    stopped.cancel();
    assert!(tally(&[1, 2])
        .match_probs(1, 0.4, &[1, 2], &stopped)
        .is_err());
}

/// The largest P(CM | all counts) over all releases and cells.
fn worst_all_counts(counts: &[u64], theta: f64) -> f64 {
    let k = counts.len();
    let records: Vec<usize> = (0..k)
        .flat_map(|cell| std::iter::repeat_n(cell, counts[cell] as usize))
        .collect();
    let mut sums: HashMap<Vec<usize>, (f64, Vec<f64>)> = HashMap::new();
    let mut to = vec![0usize; records.len()];
    loop {
        let mut probability = 1.0;
        let mut after = vec![0usize; k];
        for (&from, &to) in records.iter().zip(&to) {
            let t = counts[from] as f64;
            probability *= if from == to {
                1.0 - theta / t
            } else {
                theta / ((k - 1) as f64 * t)
            };
            after[to] += 1;
        }
        let sum = sums.entry(after).or_insert_with(|| (0.0, vec![0.0; k]));
        sum.0 += probability;
        for cell in 0..k {
            let first = records.iter().position(|&c| c == cell).unwrap();
            if to[first] == cell {
                sum.1[cell] += probability;
            }
        }
        let Some(place) = to.iter().position(|&cell| cell + 1 < k) else {
            break;
        };
        to[..place].iter_mut().for_each(|cell| *cell = 0);
        to[place] += 1;
    }
    sums.iter()
        .flat_map(|(after, (whole, stays))| {
            (0..k)
                .filter(|&cell| after[cell] > 0 && *whole > 0.0)
                .map(move |cell| stays[cell] / whole / after[cell] as f64)
        })
        .fold(0.0, f64::max)
}

#[test]
fn who_weighs_all_counts_is_right_as_often_as_enumeration_says() {
    for n in 2..=6 {
        for counts in partitions(n, n).into_iter().filter(|c| c.len() > 1) {
            let t = tally(&counts);
            for xi in [0.5, 0.65, 0.8, 0.95] {
                for theta in [exact_theta(&t, bound(xi)), paper_theta(bound(xi)).ok()] {
                    let Some(theta) = theta else { continue };
                    let found = all_counts::all_counts(&t, theta);
                    let worst = worst_all_counts(&counts, theta);
                    // Below one half other releases can be worse.
                    if worst > 0.5 + 1e-9 && theta <= t.theta_limit() {
                        assert!(
                            (found - worst).abs() < 1e-7,
                            "{counts:?} {xi}: {found} {worst}"
                        );
                    }
                    assert!(found <= worst.max(t.worst(theta)) + 1e-7, "{counts:?} {xi}");
                }
            }
        }
    }
    // Published nowhere: three uniques, a hundred and a thousand at 0.8.
    for (counts, expected) in [
        (vec![1, 1, 1], 0.83995),
        (vec![1, 1, 2], 0.848),
        (vec![1; 4], 0.866),
        (vec![1, 1, 2, 3], 0.881),
        (vec![1; 10], 0.928),
        (vec![1; 100], 0.989),
        (vec![1; 1000], 0.9989),
    ] {
        let t = tally(&counts);
        let theta = exact_theta(&t, bound(0.8)).unwrap();
        let found = all_counts::all_counts(&t, theta);
        assert!((found - expected).abs() < 6e-4, "{}: {found}", counts.len());
    }
}

fn counts() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![3 => 1u64..4, 1 => 1u64..40], 2..12)
}

proptest! {
    #[test]
    fn result_1_and_2_of_the_paper(counts in counts(), xi in 3.0f64 / 7.0..0.999) {
        let t = tally(&counts);
        let theta = paper_theta(bound(xi)).unwrap();
        for &(count, _) in t.distinct() {
            prop_assert!(t.unique_match(count, theta) <= xi + 1e-12);
            if paper_covers(bound(xi), t.n_cells()) {
                for a in 1..=t.n_records().min(30) {
                    prop_assert!(match_prob(&t, count, theta, a).unwrap() <= xi + 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_worst_case_is_a_unique_match_up_to_the_limit(
        counts in counts(), share in 0.01f64..1.0,
    ) {
        let t = tally(&counts);
        let theta = share * t.theta_limit();
        for &(count, _) in t.distinct() {
            let mut last = f64::INFINITY;
            for a in 1..=t.n_records().min(60) {
                let here = match_prob(&t, count, theta, a).unwrap();
                prop_assert!(here <= last + 1e-9, "{:?} {} {} {}", counts, theta, count, a);
                last = here;
            }
            let one = match_prob(&t, count, theta, 1).unwrap();
            prop_assert!((t.unique_match(count, theta) - one).abs() < 1e-10);
        }
    }

    #[test]
    fn the_smallest_theta_meets_the_bound_and_no_smaller_one_does(
        counts in counts(), xi in 0.02f64..0.99,
    ) {
        let t = tally(&counts);
        match exact_theta(&t, bound(xi)) {
            None => prop_assert!(reach(&t) > xi),
            Some(theta) => {
                prop_assert!(t.worst(theta) <= xi + 1e-11);
                for share in [0.25, 0.5, 0.75, 0.9, 0.99, 0.9999] {
                    prop_assert!(theta <= 0.0 || t.worst(share * theta) > xi - 1e-12);
                }
                if xi >= 0.5 {
                    prop_assert!(theta <= paper_theta(bound(xi)).unwrap() + 1e-9);
                }
            }
        }
    }
}

fn random_columns() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (2usize..5, 2usize..60)
        .prop_flat_map(|(q, n)| prop::collection::vec(prop::collection::vec(0u32..5, n), q))
}

proptest! {
    #![proptest_config(crate::cases::cases(200))]
    #[test]
    fn every_design_keeps_its_bound(
        columns in random_columns(),
        xi in prop_oneof![Just(0.8), Just(0.5), 0.1f64..0.95],
        risky in any::<bool>(), prefer in 0u8..3, levels in 1u32..4, paper in any::<bool>(),
        forbid in any::<bool>(), unprotected in 0u8..3,
    ) {
        let table = table(&columns);
        let n = table.n_rows();
        let ordered: Vec<bool> = (0..columns.len()).map(|v| v % 2 == 0).collect();
        let level: Vec<u32> = (0..n as u32).map(|row| row * 7 % levels).collect();
        let weights: Vec<f64> = (0..n).map(|row| 1.0 + (row * 13 % 7) as f64).collect();
        let rules = [Forbidden { key: 0, pairs: vec![(1, 2), (0, 3)] }];
        let mut asked = settings(xi, &ordered);
        asked.scope = if risky { Scope::Risky } else { Scope::All };
        asked.calibration = if paper && xi >= 3.0 / 7.0 {
            Calibration::Paper
        } else {
            Calibration::Exact
        };
        asked.prefer = [Prefer::FewestChanges, Prefer::Nearest, Prefer::SimilarWeights]
            [prefer as usize];
        asked.unprotected = [Unprotected::Refuse, Unprotected::Merge, Unprotected::Keep]
            [unprotected as usize];
        asked.level = Some(&level);
        asked.weights = Weights::new(&weights, n).ok();
        if forbid {
            asked.forbidden = &rules;
        }
        let found = design(&table, &asked, &Monitor::new()).unwrap();
        // Cells are keys within levels, or within merged ones.
        let total: u64 = found.counts.iter().sum();
        prop_assert_eq!(total, n as u64);
        let unreached: Vec<u32> = found.unreached.concat();
        for cell in 0..found.counts.len() {
            let safe = found.match_prob[cell] <= xi + 1e-9;
            prop_assert!(safe || unreached.contains(&(cell as u32)));
        }
        // The theorem of the published theta may leave out what a theta reaches.
        let refused = asked.calibration == Calibration::Paper && xi < 0.5;
        prop_assert!(found.unreached.is_empty() || found.lowest > xi || refused);
        // Blocks: exact values, within one level, no forbidden pair.
        for b in 0..found.thetas.len() as u32 {
            let members: Vec<usize> = (0..found.counts.len())
                .filter(|&c| found.block[c] == Some(b))
                .collect();
            let t = Tally::new(members.iter().map(|&c| found.counts[c]));
            let theta = found.thetas[b as usize];
            for &cell in &members {
                let worst = (1..=t.n_records())
                    .filter_map(|a| match_prob(&t, found.counts[cell], theta, a))
                    .fold(0.0, f64::max);
                prop_assert!((found.match_prob[cell] - worst).abs() < 1e-9);
            }
            if risky {
                prop_assert!(members.len() >= 2 || unreached.contains(&(members[0] as u32)));
            }
            for &i in &members {
                for &j in &members {
                    let row = |cell: usize| found.first_row[cell] as usize;
                    if found.n_merged == 0 {
                        prop_assert_eq!(level[row(i)], level[row(j)]);
                    }
                    let pair = (columns[0][row(i)], columns[0][row(j)]);
                    prop_assert!(!forbid || (pair != (1, 2) && pair != (0, 3)));
                }
            }
        }
        // Draws stay in the block.
        let donors = draw(&found, &streams(n as u32), &Monitor::new()).unwrap();
        for (row, &donor) in donors.iter().enumerate() {
            let (from, to) = (found.row_cell[row], found.row_cell[donor as usize]);
            prop_assert!(
                donor as usize == row
                    || (from != to
                        && found.block[from as usize].is_some()
                        && found.block[from as usize] == found.block[to as usize])
            );
        }
    }

    #[test]
    fn permuting_records_changes_no_probability(columns in random_columns(), xi in 0.3f64..0.9) {
        let ordered = vec![true; columns.len()];
        let mut asked = settings(xi, &ordered);
        asked.unprotected = Unprotected::Keep;
        let reversed: Vec<Vec<u32>> =
            columns.iter().map(|c| c.iter().rev().copied().collect()).collect();
        let summary = |columns: &[Vec<u32>]| {
            let found = design(&table(columns), &asked, &Monitor::new()).unwrap();
            let n = found.row_cell.len();
            (0..n)
                .map(|row| (found.match_prob[found.row_cell[row] as usize] * 1e9).round())
                .collect::<Vec<f64>>()
        };
        let mut backwards = summary(&reversed);
        backwards.reverse();
        prop_assert_eq!(summary(&columns), backwards);
    }

    #[test]
    fn pairs_are_the_nearest_there_are(columns in random_columns()) {
        let n = columns[0].len() as u32;
        let ordered: Vec<bool> = (0..columns.len()).map(|v| v % 2 == 1).collect();
        let points = Points { codes: &columns, ordered: &ordered, forbidden: &[] };
        let cells: Vec<u32> = (0..n).collect();
        let mut marks = vec![false; n as usize];
        let (pairs, rest) =
            pair_nearest(&points, &cells, &|_| true, &mut marks, &Monitor::new()).unwrap();
        prop_assert_eq!(2 * pairs.len() + rest.len(), n as usize);
        prop_assert!(rest.len() <= 1);
        prop_assert!(!marks.iter().any(|&m| m));
        // The closest pair of all is among them.
        let closest = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .map(|(i, j)| points.distance(i, j))
            .min();
        prop_assert_eq!(pairs.iter().map(|&[i, j]| points.distance(i, j)).min(), closest);
    }
}

#[test]
fn many_cells_pair_with_their_neighbours() {
    // A grid of 60 x 60 cells: everybody has a neighbour one step away.
    let codes: Vec<Vec<u32>> = vec![
        (0..3600).map(|i| i % 60 + 1).collect(),
        (0..3600).map(|i| i / 60 + 1).collect(),
    ];
    let points = Points {
        codes: &codes,
        ordered: &[true, true],
        forbidden: &[],
    };
    let cells: Vec<u32> = (0..3600).collect();
    let mut marks = vec![false; 3600];
    let (pairs, rest) =
        pair_nearest(&points, &cells, &|_| true, &mut marks, &Monitor::new()).unwrap();
    assert!(rest.is_empty());
    let steps: u64 = pairs.iter().map(|&[i, j]| points.distance(i, j).1).sum();
    assert_eq!(pairs.len(), 1800);
    assert!(steps < 2000, "{steps}");
}

#[test]
fn uniques_are_grouped_with_uniques_and_move_little() {
    // 41 uniques among cells of two and three.
    let mut ids: Vec<u32> = (1..=41).collect();
    for cell in 42..=60u32 {
        ids.extend(std::iter::repeat_n(cell, 2 + cell as usize % 2));
    }
    let columns = vec![ids.iter().map(|i| i % 9 + 1).collect(), ids.clone()];
    let ordered = [false, true];
    let mut asked = settings(0.8, &ordered);
    asked.scope = Scope::Risky;
    let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
    let touched: Vec<u64> = (0..found.counts.len())
        .filter(|&c| found.block[c].is_some())
        .map(|c| found.counts[c])
        .collect();
    assert_eq!(touched, vec![1; 41]);
    assert_eq!(found.thetas.len(), 20);
    let moved: f64 = (0..found.counts.len()).map(|c| found.theta_of(c)).sum();
    assert!(moved / 41.0 < 0.34, "{moved}");
    assert!(found.expected_changes.iter().all(|&e| e <= moved + 1e-9));
}

#[test]
fn a_level_with_one_risky_cell_is_refused_merged_or_kept() {
    let columns = vec![vec![1, 2, 2, 3, 3, 4], vec![1, 1, 1, 1, 1, 1]];
    let level = [0, 1, 1, 1, 1, 1];
    let ordered = [true, true];
    for scope in [Scope::All, Scope::Risky] {
        let mut asked = settings(0.8, &ordered);
        asked.scope = scope;
        asked.level = Some(&level);
        let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
        assert_eq!(found.unreached[0], vec![0]);
        assert!((found.lowest - 1.0).abs() < 1e-12);
        asked.unprotected = Unprotected::Merge;
        let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
        assert!(found.unreached.is_empty());
        assert_eq!(found.n_merged, 1);
        assert!(found.match_prob.iter().all(|&p| p <= 0.8 + 1e-9));
        // Not across families.
        let family = [0, 1];
        asked.family = Some(&family);
        let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
        assert_eq!(found.unreached[0], vec![0]);
        asked.unprotected = Unprotected::Keep;
        let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
        assert!((found.match_prob[0] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_lowest_bound_is_one_that_works_and_the_next_below_does_not() {
    let files: [&[u32]; 3] = [
        &[4, 4, 1, 4, 1, 3, 1, 1, 3, 1, 4, 2],
        &[1, 1, 1, 2, 2, 3, 4, 4, 4, 4, 5],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ];
    for (file, asked) in files.into_iter().zip([0.28, 0.21, 0.05]) {
        let table = table(&[file.to_vec()]);
        for scope in [Scope::All, Scope::Risky] {
            let run = |xi: f64| {
                let mut asked = settings(xi, &[true]);
                asked.scope = scope;
                design(&table, &asked, &Monitor::new()).unwrap()
            };
            let found = run(asked);
            assert!(!found.unreached.is_empty() && found.lowest > asked);
            assert!(run(found.lowest).unreached.is_empty());
            assert!(!run(found.lowest - 1e-4).unreached.is_empty());
        }
    }
}

#[test]
fn cells_with_equal_keys_of_merged_levels_become_one() {
    // One key in two levels; level 1 holds no other.
    let columns = vec![vec![1, 2, 1]];
    let level = [0, 0, 1];
    let mut asked = settings(0.8, &[true]);
    asked.level = Some(&level);
    asked.unprotected = Unprotected::Merge;
    let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
    assert_eq!(found.counts, vec![2, 1]);
    assert_eq!(found.row_cell, vec![0, 1, 0]);
}

#[test]
fn draws_do_not_depend_on_threads_and_follow_their_probabilities() {
    let n = 200_000u32;
    let columns = vec![(0..n).map(|i| i % 1000).collect::<Vec<u32>>()];
    let asked = settings(0.004, &[true]);
    let found = design(&table(&columns), &asked, &Monitor::new()).unwrap();
    assert!(found.unreached.is_empty() == (found.lowest <= 0.0));
    let mut design = found;
    design.block = vec![Some(0); 1000];
    design.thetas = vec![0.8];
    let run =
        |threads| with_threads(threads, || draw(&design, &streams(4), &Monitor::new())).unwrap();
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
    let moved = one
        .iter()
        .enumerate()
        .filter(|(r, &d)| *r as u32 != d)
        .count() as f64;
    let expected: f64 = 800.0;
    assert!((moved - expected).abs() < 4.0 * expected.sqrt(), "{moved}");
}

#[test]
fn new_pairs_are_counted() {
    let keys = table(&[vec![1, 2, 3, 1]]);
    let others = table(&[vec![1, 1, 2, 2], vec![0, 0, 0, 0]]);
    // Record 0 takes key 3, never seen beside 1; record 1 takes key 1.
    let found = new_pairs(&keys, &others, &[2, 0, 2, 3], &Monitor::new()).unwrap();
    assert_eq!(found, vec![vec![Some((2, 1)), Some((2, 0))]]);
}

#[test]
fn a_file_drawn_in_parts_is_the_file_drawn_at_once() {
    // More than two blocks of random numbers, cells of one to some thousand records.
    let n = 150_000u32;
    let codes: Vec<u32> = (0..n)
        .map(|i| 1 + i.wrapping_mul(2_654_435_761) / 7 % 20_000)
        .collect();
    let keys = table(&[codes, (0..n).map(|i| 1 + i % 3).collect()]);
    let ordered = [true, false];
    let asked = Settings {
        scope: Scope::Risky,
        unprotected: Unprotected::Keep,
        ..settings(0.6, &ordered)
    };
    let monitor = Monitor::new();
    let (design, donors) = release(&keys, &asked, &streams(5), &monitor).unwrap();
    let expected: Vec<u32> = donors
        .iter()
        .map(|&d| design.row_cell[d as usize])
        .collect();
    assert!(expected != design.row_cell);
    let moves = Moves::new(&design.counts, &design.block, &design.thetas).unwrap();
    for part in [1usize, 1000, 65_536, 100_000, 1 << 20] {
        let rows = if part == 1 {
            70_000
        } else {
            design.row_cell.len()
        };
        let mut drawn = Drawn::default();
        let mut found = Vec::new();
        for cells in design.row_cell[..rows].chunks(part) {
            let (next, after) = draw_next(&moves, cells, drawn, &streams(5), &monitor).unwrap();
            found.extend(next);
            drawn = after;
        }
        assert_eq!(found, expected[..rows], "{part}");
        assert_eq!(drawn.rows, rows as u64);
    }
    let unknown = [design.counts.len() as u32];
    assert!(draw_next(&moves, &unknown, Drawn::default(), &streams(5), &monitor).is_err());
}

#[test]
fn patterns_have_the_design_of_their_records() {
    let codes: Vec<u32> = (0..500u32).map(|i| 1 + (i * i) % 37).collect();
    let others: Vec<u32> = (0..500u32).map(|i| (i / 9) % 4).collect();
    let records = table(&[codes, others]);
    let ordered = [true, true];
    let monitor = Monitor::new();
    for scope in [Scope::All, Scope::Risky] {
        let asked = Settings {
            scope,
            unprotected: Unprotected::Keep,
            ..settings(0.5, &ordered)
        };
        let groups = records.group(&monitor).unwrap();
        let patterns = records.distinct(&groups).unwrap();
        let (by_record, _) = release(&records, &asked, &streams(1), &monitor).unwrap();
        let (by_pattern, donors) = release(&patterns, &asked, &streams(1), &monitor).unwrap();
        assert!(donors.is_empty());
        assert_eq!(by_pattern.counts, by_record.counts);
        assert_eq!(by_pattern.block, by_record.block);
        assert_eq!(by_pattern.thetas, by_record.thetas);
        assert_eq!(by_pattern.match_prob, by_record.match_prob);
        assert_eq!(by_pattern.expected_changes, by_record.expected_changes);
    }
}
