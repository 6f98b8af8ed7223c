use super::inverse::{by_recurrence, by_series, FEW, SOME};
use super::*;
use crate::key_table::{Codes, Column};
use proptest::prelude::*;

/// The integral in `s = e^-u`, by Simpson's rule on panels fine enough.
fn by_quadrature(f: u64, x: f64) -> f64 {
    let n = f as f64;
    let g = |s: f64| s.powf(n - 1.0) / (1.0 + x * s);
    // In t with s = t^m the integrand is smooth near zero for large x.
    let m = 8.0;
    let h = |t: f64| g(t.powf(m)) * m * t.powf(m - 1.0);
    let panels = 40_000;
    let width = 1.0 / panels as f64;
    let mut sum = h(0.0) + h(1.0);
    for i in 1..panels {
        sum += h(i as f64 * width) * if i % 2 == 1 { 4.0 } else { 2.0 };
    }
    sum * width / 3.0
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs()
}

#[test]
fn closed_forms_hold() {
    for p in [1e-12_f64, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999] {
        let q = 1.0 - p;
        let one = -p / q * p.ln();
        assert!(close(expected_inverse(1, 1.0 / p), one, 1e-9), "{p}");
    }
    // p = 1/2: r(1) = ln 2, r(2) = 1 - ln 2, r(3) = ln 2 - 1/2.
    let ln2 = std::f64::consts::LN_2;
    assert!(close(expected_inverse(1, 2.0), ln2, 1e-15));
    assert!(close(expected_inverse(2, 4.0), 1.0 - ln2, 1e-14));
    assert!(close(expected_inverse(3, 6.0), ln2 - 0.5, 1e-14));
}

#[test]
fn a_file_that_is_the_population_has_one_over_f() {
    for f in [1u64, 2, 7, 31, 1_000_000] {
        assert!(close(expected_inverse(f, f as f64), 1.0 / f as f64, 1e-15));
        assert!(close(
            expected_inverse(f, f as f64 * 0.5),
            1.0 / f as f64,
            1e-15
        ));
    }
}

#[test]
fn series_and_recurrence_agree_where_they_meet() {
    for f in 1..=SOME {
        for x in [1.0, 1.5, 3.0, 8.9, 9.0, 40.0] {
            let tolerance = if x < 2.0 && f > FEW { 1e-7 } else { 2e-14 };
            assert!(
                close(by_recurrence(f, x), by_series(f as f64, x), tolerance),
                "{f} {x}"
            );
        }
    }
}

#[test]
fn small_fractions_follow_the_known_limit() {
    // For p -> 0 the risk of f >= 2 tends to p / (f - 1).
    for f in 2u64..200 {
        let p = 1e-13;
        let risk = expected_inverse(f, f as f64 / p);
        assert!(close(risk, p / (f as f64 - 1.0), 1e-10), "{f}");
    }
}

fn column(codes: &[u32]) -> KeyTable {
    let n = codes.iter().copied().max().unwrap_or(0);
    KeyTable::new(vec![
        Column::new(Codes::pack(n, codes.iter().copied()), n).unwrap()
    ])
    .unwrap()
}

#[test]
fn households_are_found_when_any_member_is() {
    let found = household_risk(
        &column(&[1, 2, 1, 3]),
        &[0.5, 0.1, 0.2, 1.0],
        &Monitor::new(),
    )
    .unwrap();
    for (got, expected) in found.risk.iter().zip([0.6, 0.1, 0.6, 1.0]) {
        assert!(close(*got, expected, 1e-15));
    }
    assert_eq!(found.n_households, 3);
    assert!(close(found.expected, 1.7, 1e-15));
    assert!(close(found.largest, 1.0, 1e-15));
}

proptest! {
    #[test]
    fn equals_quadrature(f in 1u64..60, log_x in -4.0f64..4.0) {
        let x = 10f64.powf(log_x);
        let exact = expected_inverse(f, f as f64 * (1.0 + x));
        prop_assert!(close(exact, by_quadrature(f, x), 1e-9), "{f} {x} {exact}");
    }

    #[test]
    fn satisfies_its_recurrence(f in 1u64..100_000, log_x in -6.0f64..8.0) {
        let x = 10f64.powf(log_x);
        let at = |f: u64| expected_inverse(f, f as f64 * (1.0 + x));
        // 1 / f = r(f) + x r(f + 1), both terms positive.
        prop_assert!(close(at(f) + x * at(f + 1), 1.0 / f as f64, 1e-13));
    }

    #[test]
    fn lies_between_its_bounds_and_falls(f in 1u64..1000, w in 1.0f64..1e6) {
        let n = f as f64;
        let risk = expected_inverse(f, n * w);
        // Jensen: E(1/F) >= 1 / E(F), and E(F) = f / p.
        prop_assert!(risk >= 1.0 / (n * w) * (1.0 - 1e-14));
        prop_assert!(risk <= 1.0 / n * (1.0 + 1e-14));
        prop_assert!(expected_inverse(f, n * w * 1.5) < risk);
    }

    #[test]
    fn missing_as_a_wildcard_takes_all_matches(codes in prop::collection::vec(0u32..4, 1..40)) {
        let table = column(&codes);
        let weights: Vec<f64> = (0..codes.len()).map(|i| 1.0 + i as f64).collect();
        let given = Weights::new(&weights, weights.len()).unwrap();
        let found =
            individual_risk(&table, given, Missing::Wildcard, &Monitor::new()).unwrap();
        prop_assert_eq!(found.n_cells, None);
        for i in 0..codes.len() {
            let fits = |j: &usize| codes[i] == 0 || codes[*j] == 0 || codes[*j] == codes[i];
            let matches: Vec<usize> = (0..codes.len()).filter(fits).collect();
            prop_assert_eq!(found.frequency[i], matches.len() as u64);
            let sum: f64 = matches.iter().map(|&j| weights[j]).sum();
            prop_assert!(close(found.population[i], sum, 1e-14));
            let risk = expected_inverse(matches.len() as u64, sum);
            prop_assert!(close(found.risk[i], risk, 1e-13));
        }
    }

    #[test]
    fn rows_with_one_key_share_one_risk(codes in prop::collection::vec(0u32..5, 1..40)) {
        let table = column(&codes);
        let weights: Vec<f64> = (0..codes.len()).map(|i| 1.0 + i as f64).collect();
        let given = Weights::new(&weights, weights.len()).unwrap();
        let found =
            individual_risk(&table, given, Missing::Category, &Monitor::new()).unwrap();
        let complete = !codes.contains(&0);
        let excluded = individual_risk(&table, given, Missing::Exclude, &Monitor::new());
        prop_assert_eq!(excluded.ok(), complete.then(|| found.clone()));
        for i in 0..codes.len() {
            let same: Vec<usize> =
                (0..codes.len()).filter(|&j| codes[j] == codes[i]).collect();
            prop_assert_eq!(found.frequency[i], same.len() as u64);
            let sum: f64 = same.iter().map(|&j| weights[j]).sum();
            prop_assert!(close(found.population[i], sum, 1e-14));
            prop_assert!(close(found.risk[i], expected_inverse(same.len() as u64, sum), 1e-13));
        }
    }
}
