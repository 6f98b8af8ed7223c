use std::sync::atomic::{AtomicUsize, Ordering};

use super::law::Law;
use super::shares::Shares;
use super::*;
use crate::cases::{tiny, Draws};
use crate::key_table::{Codes, Column};
use crate::parallel::with_threads;

fn table_of(columns: &[Vec<u32>]) -> KeyTable {
    let columns = columns.iter().map(|codes| {
        let most = codes.iter().copied().max().unwrap();
        Column::new(Codes::pack(most, codes.iter().copied()), most).unwrap()
    });
    KeyTable::new(columns.collect()).unwrap()
}

fn found(columns: &[Vec<u32>], n_people: f64) -> PopulationRisk {
    of_design(columns, &design(n_people))
}

fn design(n_people: f64) -> Design<'static> {
    Design {
        n_people,
        weights: None,
        households: None,
    }
}

fn of_design(columns: &[Vec<u32>], design: &Design<'_>) -> PopulationRisk {
    let table = table_of(columns);
    population_risk(&table, design, Missing::Wildcard, None, &Monitor::new()).unwrap()
}

/// Columns of 3, 5, 7 and 11 values, the second and third following the first.
fn drawn(draws: &mut Draws, n: usize) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..n {
        let first = draws.below(11);
        let second = if draws.once_in(3) {
            draws.below(7)
        } else {
            first % 7
        };
        let third = if draws.once_in(4) {
            draws.below(5)
        } else {
            (first + second) % 5
        };
        let fourth = draws.below(3).min(draws.below(3));
        for (column, value) in columns.iter_mut().zip([fourth, third, second, first]) {
            column.push(value + 1);
        }
    }
    columns
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

fn figures(found: &PopulationRisk) -> Vec<f64> {
    let m = &found.measures;
    let all = [
        m.uniqueness,
        m.correctness,
        m.tau1,
        m.tau2,
        m.reidentifications,
    ];
    all.iter().flat_map(|e| [e.value, e.low, e.high]).collect()
}

#[test]
fn figures_agree_with_each_other_and_with_the_records() {
    tiny(30, |draws| {
        let n = draws.within(30, 150) as usize;
        let columns = drawn(draws, n);
        let people = n as f64 * f64::from(draws.within(1, 40));
        let found = found(&columns, people);
        let m = &found.measures;
        let order = |of: fn(&Estimate) -> f64| {
            let [t1, t2, r] = [m.tau1, m.tau2, m.reidentifications].map(|e| of(&e));
            assert!(t1 <= t2 + 1e-9 && t2 <= r + 1e-9, "{t1} {t2} {r}");
        };
        order(|e| e.value);
        order(|e| e.low);
        order(|e| e.high);
        for e in figures(&found).chunks(3) {
            assert!(e[1] <= e[0] && e[0] <= e[2] && e[1] >= 0.0, "{e:?}");
        }
        assert!(m.uniqueness.high <= 1.0 && m.correctness.high <= 1.0);
        assert!(m.uniqueness.value <= m.correctness.value + 1e-12);
        assert!(close(
            found.risk.iter().sum(),
            m.reidentifications.value,
            1e-9
        ));
        assert!(close(found.prob_unique.iter().sum(), m.tau1.value, 1e-9));
        assert!(found
            .risk
            .iter()
            .zip(&found.prob_unique)
            .all(|(r, p)| *r <= 1.0 && p <= r));
        m.tau1.value > 0.0
    });
}

#[test]
fn orders_and_names_change_nothing() {
    tiny(12, |draws| {
        let n = 120;
        let columns = drawn(draws, n);
        let people = 1000.0;
        let one = found(&columns, people);
        // Other records first, other columns first, values with other numbers.
        let rows: Vec<usize> = (0..n).map(|row| (row * 77 + 5) % n).collect();
        let mut other: Vec<Vec<u32>> = (columns.iter().rev())
            .map(|codes| rows.iter().map(|&row| codes[row]).collect())
            .collect();
        for codes in &mut other {
            let most = codes.iter().copied().max().unwrap();
            codes.iter_mut().for_each(|code| *code = most + 1 - *code);
        }
        let two = found(&other, people);
        for (a, b) in figures(&one).iter().zip(figures(&two)) {
            assert!(close(*a, b, 1e-9), "{a} {b}");
        }
        for (at, &row) in rows.iter().enumerate() {
            assert!(close(one.risk[row], two.risk[at], 1e-9));
        }
        true
    });
}

#[test]
fn bounds_stand_for_small_risks_alone() {
    let bounded = AtomicUsize::new(0);
    tiny(12, |draws| {
        let columns = drawn(draws, 2000);
        let table = table_of(&columns[..2]);
        let people = [2_500.0, 20_000.0, 100_000.0][draws.below(3) as usize];
        let of = |least| {
            population_risk(
                &table,
                &design(people),
                Missing::Wildcard,
                least,
                &Monitor::new(),
            )
            .unwrap()
        };
        let (all, least) = (of(None), [1e-4, 0.005, 0.05][draws.below(3) as usize]);
        let some = of(Some(least));
        let largest = |found: &PopulationRisk| found.risk.iter().fold(0.0, |a: f64, &b| a.max(b));
        assert_eq!(largest(&some).to_bits(), largest(&all).to_bits());
        assert_eq!(some.prob_unique, all.prob_unique);
        assert_eq!(some.measures.tau1, all.measures.tau1);
        assert_eq!(some.measures.smallest_class, all.measures.smallest_class);
        for (&some, &all) in some.risk.iter().zip(&all.risk) {
            let equal = some.to_bits() == all.to_bits();
            assert!(equal || all < some && some < least);
            bounded.fetch_add(usize::from(!equal), Ordering::Relaxed);
        }
        true
    });
    assert!(bounded.into_inner() > 0);
}

#[test]
fn threads_change_nothing() {
    tiny(1, |draws| {
        let columns = drawn(draws, 300);
        let of = |threads| {
            with_threads(threads, || {
                population_risk(
                    &table_of(&columns),
                    &design(3000.0),
                    Missing::Wildcard,
                    None,
                    &Monitor::new(),
                )
            })
        };
        assert_eq!(of(1), of(3));
        true
    });
}

#[test]
fn a_file_of_everybody_has_its_own_counts() {
    tiny(10, |draws| {
        let columns = drawn(draws, 100);
        let one = found(&columns, 100.0);
        let groups = table_of(&columns).group(&Monitor::new()).unwrap();
        let unique = groups.counts().iter().filter(|&&f| f == 1).count() as f64;
        let m = one.measures;
        for (e, truth) in [
            (m.uniqueness, unique / 100.0),
            (m.correctness, groups.len() as f64 / 100.0),
            (m.tau1, unique),
            (m.tau2, unique),
            (m.reidentifications, groups.len() as f64),
        ] {
            assert!(
                close(e.value, truth, 1e-9) && close(e.low, truth, 1e-9),
                "{e:?} {truth}"
            );
            assert!(close(e.high, truth, 1e-9), "{e:?} {truth}");
        }
        true
    });
}

#[test]
fn records_alike_share_their_risk_and_blanks_lower_it() {
    tiny(6, |draws| {
        let mut columns = drawn(draws, 200);
        let before = found(&columns, 2000.0);
        // Half of the records lose their first value, one loses all.
        columns[3][..100].fill(0);
        columns.iter_mut().for_each(|column| column[0] = 0);
        let after = found(&columns, 2000.0);
        assert_eq!(after.n_patterns, 2);
        assert!(close(after.risk[0], 1.0 / 2000.0, 1e-12));
        let sum = |risks: &[f64]| risks.iter().sum::<f64>();
        assert!(sum(&after.risk[1..100]) < sum(&before.risk[1..100]));
        assert!(close(
            sum(&after.risk),
            after.measures.reidentifications.value,
            1e-9
        ));
        let names = |row: usize| -> Vec<u32> { columns.iter().map(|c| c[row]).collect() };
        for row in 1..200 {
            let alike = (0..row).find(|&other| names(other) == names(row));
            if let Some(other) = alike {
                assert!(close(after.risk[row], after.risk[other], 1e-12));
            }
        }
        true
    });
}

#[test]
fn members_of_a_household_who_share_a_key_count_once() {
    tiny(4, |draws| {
        let once = drawn(draws, 150);
        let twice: Vec<Vec<u32>> = once.iter().map(|c| [&c[..], &c[..]].concat()).collect();
        let homes: Vec<u32> = (0..150).chain(0..150).collect();
        let design = Design {
            n_people: 3000.0,
            weights: None,
            households: Some(&homes),
        };
        let (one, two) = (found(&once, 1500.0), of_design(&twice, &design));
        // Nobody is alone, and each pair is found once.
        assert!(two.measures.tau1.value <= 0.0 && two.measures.uniqueness.value <= 0.0);
        let found = [one, two].map(|x| x.measures.reidentifications.value);
        assert!(close(found[1], found[0], 1e-6), "{found:?}");
        true
    });
}

#[test]
fn values_that_nobody_shares_are_not_taken_for_common_ones() {
    tiny(3, |draws| {
        let n = 1000;
        // Thirty large classes, and one record in 20 with a value of its own.
        let mut columns = vec![Vec::new(), Vec::new()];
        for row in 0..n {
            columns[0].push(1 + draws.below(30));
            columns[1].push(if draws.once_in(20) { 2 + row } else { 1 });
        }
        let most: u32 = columns[1].iter().filter(|&&value| value > 1).count() as u32;
        let mut value = 1;
        for code in columns[1].iter_mut().filter(|code| **code > 1) {
            value += 1;
            *code = value;
        }
        let found = found(&columns, 10_000.0);
        let tau1 = found.measures.tau1;
        assert!(
            tau1.value > 0.8 * f64::from(most) && tau1.high > 0.97 * f64::from(most),
            "{tau1:?} {most}"
        );
        assert!(!found.measures.refuted);
        most > 30
    });
}

#[test]
fn a_fit_that_the_frequencies_refute_has_bounds_without_a_model() {
    tiny(3, |draws| {
        // The third value follows from two others, which no single parent tells; some do not
        // follow.
        let mut columns = vec![Vec::new(), Vec::new(), Vec::new()];
        let n = 8000;
        for _ in 0..n {
            let (a, b) = (draws.below(30), draws.below(30));
            let c = if draws.once_in(20) {
                draws.below(30)
            } else {
                (a + b) % 30
            };
            for (column, value) in columns.iter_mut().zip([a, b, c]) {
                column.push(value + 1);
            }
        }
        let found = found(&columns, 16_000.0).measures;
        let groups = table_of(&columns).group(&Monitor::new()).unwrap();
        let alone = groups.counts().iter().filter(|&&f| f == 1).count() as f64;
        assert!(found.refuted);
        assert!(close(found.tau1.high, alone, 1e-9) && close(found.tau2.high, alone, 1e-9));
        assert!(close(
            found.reidentifications.high,
            groups.len() as f64,
            1e-9
        ));
        let share = alone / f64::from(n);
        let most = share + 2.0 * (share * (1.0 - share) / f64::from(n)).sqrt();
        assert!(close(found.uniqueness.high, most, 1e-9), "{found:?}");
        true
    });
}

/// Four columns of four values; with `parity` the last follows from the others, except in one record
/// of `once_in`.
fn of_four(draws: &mut Draws, n: usize, parity: bool, once_in: u32) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..n {
        let mut values: [u32; 4] = std::array::from_fn(|_| draws.below(4));
        if parity && !draws.once_in(once_in) {
            values[3] = (values[0] + values[1] + values[2]) % 4;
        }
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value + 1);
        }
    }
    columns
}

#[test]
fn exceptions_from_what_all_variables_together_say_are_not_judged_by_the_law() {
    tiny(6, |draws| {
        let n = 1500;
        let columns = of_four(draws, n, true, 250);
        let groups = table_of(&columns).group(&Monitor::new()).unwrap();
        let alone = groups.counts().iter().filter(|&&f| f == 1).count() as f64;
        let found = found(&columns, 50_000.0).measures;
        assert!(found.refuted);
        assert!(close(found.tau1.high, alone, 1e-9) && close(found.tau2.high, alone, 1e-9));
        let unrelated = of_four(draws, n, false, 1);
        let found = of_design(&unrelated, &design(50_000.0)).measures;
        assert!(!found.refuted);
        alone > 0.0
    });
}

#[test]
fn a_sample_without_unique_records_leaves_room_for_unique_people() {
    tiny(2, |draws| {
        let n = 2000;
        let columns = vec![
            (0..n).map(|_| 1 + draws.below(3)).collect::<Vec<u32>>(),
            (0..n).map(|_| 1 + draws.below(5)).collect(),
        ];
        let uniqueness = found(&columns, 100_000.0).measures.uniqueness;
        // (sqrt(0.1) + 1.96 / 2)^2 of 2,000 at a fraction of nearly none.
        let most = 1.68 / f64::from(n);
        assert!(uniqueness.value < 1e-9 && uniqueness.low < 1e-9);
        assert!(
            (uniqueness.high / most - 1.0).abs() < 0.08,
            "{uniqueness:?}"
        );
        true
    });
}

#[test]
fn equal_weights_are_none() {
    tiny(4, |draws| {
        let columns = drawn(draws, 150);
        let weights = vec![8.0; 150];
        let design = Design {
            n_people: 1200.0,
            weights: Some(&weights),
            households: None,
        };
        let (one, two) = (found(&columns, 1200.0), of_design(&columns, &design));
        for (a, b) in figures(&one).iter().zip(figures(&two)) {
            assert!(close(*a, b, 1e-9), "{a} {b}");
        }
        true
    });
}

/// `f E[1 / (f + rest)]`, rest ~ NB(s + f - 1, q), term by term.
fn summed(f: f64, s: f64, q: f64) -> f64 {
    let shape = s + f - 1.0;
    let mut term = q.powf(shape);
    let (mut sum, mut k) = (0.0, 0.0);
    while k < 200_000.0 {
        sum += term * f / (f + k);
        k += 1.0;
        term *= (shape + k - 1.0) / k * (1.0 - q);
    }
    sum
}

#[test]
fn expected_shares_are_their_sums() {
    let shares = Shares::new(false);
    let frequencies = [1.0, 2.0, 3.0, 7.0, 20.0, 28.0, 90.0];
    for s in [1.01, 1.3, 2.0, 5.0, 60.0] {
        for q in [0.02, 0.2, 0.45, 0.55, 0.9, 0.999] {
            shares.at(&frequencies, s, q, |at, value| {
                let truth = summed(frequencies[at], s, q);
                assert!(
                    (value - truth).abs() < 1e-6,
                    "{} {s} {q}: {value} {truth}",
                    frequencies[at]
                );
            });
        }
    }
}

#[test]
fn the_kept_share_is_its_sum() {
    for (s, r) in [(1.2, 0.3), (3.0, 4.0), (40.0, 11.0)] {
        for fraction in [0.1, 1.0] {
            let law = Law { s, r };
            let (m, mut term) = (r * fraction, (1.0 + r * fraction / s).powf(-s));
            let (mut sum, mut k) = (0.0, 0.0);
            while k < 3000.0 {
                sum += term / (1.0 + k);
                k += 1.0;
                term *= (s + k - 1.0) / k * (m / (s + m));
            }
            assert!(close(law.ln_mean_inverse(fraction).exp(), sum, 1e-10));
        }
    }
}

#[test]
fn a_sample_larger_than_its_population_is_refused() {
    let table = table_of(&[vec![1, 2, 2]]);
    let of = |people| {
        population_risk(
            &table,
            &design(people),
            Missing::Category,
            None,
            &Monitor::new(),
        )
        .map_err(|e| e.kind())
    };
    assert_eq!(of(2.0).err(), Some("bad_argument"));
    assert!(of(3.0).is_ok());
    let blank = table_of(&[vec![0, 0], vec![0, 0]]);
    let found = population_risk(
        &blank,
        &design(9.0),
        Missing::Wildcard,
        None,
        &Monitor::new(),
    );
    assert_eq!(found.map_err(|e| e.kind()).err(), Some("bad_argument"));
    let stopped = Monitor::new();
    stopped.cancel();
    let found = population_risk(&table, &design(9.0), Missing::Category, None, &stopped);
    assert_eq!(found.map_err(|e| e.kind()).err(), Some("interrupted"));
}
