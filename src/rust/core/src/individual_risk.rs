//! The individual risk of Benedetti and Franconi: the chance that the key of a
//! record leads to the right person in the population.
//!
//! A key occurs `f` times in the file and `F` times in the population. Given
//! `f`, `F` is taken as negative binomial,
//! `P(F = h | f) = C(h - 1, f - 1) p^f q^(h - f)`, `q = 1 - p`, with
//! `p = f / W`, `W` being the sum of the sampling weights of the `f` records.
//! The risk of each of them is the expectation of `1 / F`,
//!
//! ```text
//! r = E(1/F | f) = (p^f / f) 2F1(f, f; f + 1; q)
//!   = integral over s from 0 to 1 of s^(f - 1) / (1 + x s),   x = q / p
//!   = (p / f) sum over k of q^k k! f! / (f + k)!
//! ```
//!
//! (Benedetti and Franconi 1998; the integral by substituting the probability
//! generating function, the sum by Pfaff's transformation). All terms of the
//! sum are positive, so it is exact to rounding wherever it is short. It is
//! long only for small `f` and small `p`; there the recurrence
//! `r(f + 1) = (1 / f - r(f)) / x` from `r(1) = ln(1 + x) / x` divides every
//! rounding error by `x > 1`.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::n_matches::{n_matches, Algorithm, Question, Relation};
use crate::parallel::{Monitor, ROWS_PER_CHECK};

/// Below this frequency the recurrence is used where `x` is at least 1.
const FEW: u64 = 8;
/// Below this frequency the recurrence is used where `x` is at least 9.
const SOME: u64 = 30;
/// Sums of weights closer than this share to the frequency equal it.
const TOLERANCE: f64 = 1e-9;

/// `E(1/F)` for a key that `f` records share whose weights sum to `population`.
/// Where the weights sum to less than `f`, the population is the file: `1 / f`.
pub fn expected_inverse(f: u64, population: f64) -> f64 {
    let n = f as f64;
    let x = (population - n).max(0.0) / n;
    if (f <= FEW && x >= 1.0) || (f <= SOME && x >= 9.0) {
        by_recurrence(f, x)
    } else {
        by_series(n, x)
    }
}

fn by_recurrence(f: u64, x: f64) -> f64 {
    let mut risk = x.ln_1p() / x;
    for i in 1..f {
        risk = (1.0 / i as f64 - risk) / x;
    }
    risk
}

fn by_series(n: f64, x: f64) -> f64 {
    let q = x / (1.0 + x);
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut k = 0.0;
    while term > 1e-17 * sum {
        k += 1.0;
        term *= q * k / (n + k);
        sum += term;
    }
    sum / (n * (1.0 + x))
}

/// What is known of every row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct IndividualRisk {
    /// Records that share the key of the row.
    pub frequency: Vec<u64>,
    /// Sum of their weights, the estimated frequency in the population.
    pub population: Vec<f64>,
    /// The risk of the row's records.
    pub risk: Vec<f64>,
    /// Number of distinct keys; `None` where missing matches everything, which
    /// leaves no classes to count.
    pub n_cells: Option<usize>,
    /// Distinct keys, or rows where there are none, whose weights sum to less
    /// than their records.
    pub n_below_sample: usize,
}

/// The individual risk of every row; `weights` has one entry per row.
pub fn individual_risk(
    table: &KeyTable,
    weights: &[f64],
    monitor: &Monitor,
) -> Result<IndividualRisk> {
    check_weights(table, weights)?;
    let groups = table.group(monitor)?;
    let mut population = vec![0.0; groups.len()];
    for (&group, &weight) in groups.row_group().iter().zip(weights) {
        population[group as usize] += weight;
    }
    monitor.check()?;
    let risk = expected_inverses(groups.counts(), &population, monitor)?;
    let n_below_sample = below_sample(groups.counts(), &population);
    let row_group = groups.row_group();
    let of_rows =
        |values: &[f64]| -> Vec<f64> { row_group.iter().map(|&g| values[g as usize]).collect() };
    Ok(IndividualRisk {
        frequency: row_group
            .iter()
            .map(|&g| groups.counts()[g as usize])
            .collect(),
        population: of_rows(&population),
        risk: of_rows(&risk),
        n_cells: Some(groups.len()),
        n_below_sample,
    })
}

/// The individual risk of every row where a missing value matches everything: the
/// frequencies in file and population are those of the records that match.
pub fn wildcard_risk(
    table: &KeyTable,
    weights: &[f64],
    monitor: &Monitor,
) -> Result<IndividualRisk> {
    check_weights(table, weights)?;
    let found = n_matches(
        &Question {
            file: table,
            targets: None,
            relations: &vec![Relation::Equal; table.columns().len()],
            keys: &[],
            min_overlap: 0,
            partial_weight: 1.0,
            weights: Some(weights),
            sensitive: None,
            households: None,
            algorithm: Algorithm::Cheaper,
        },
        monitor,
    )?;
    // Whole numbers, so that the cast loses nothing.
    let frequency: Vec<u64> = found.matches.iter().map(|&f| f as u64).collect();
    let population = found.weighted.unwrap_or_default();
    let risk = expected_inverses(&frequency, &population, monitor)?;
    Ok(IndividualRisk {
        n_cells: None,
        n_below_sample: below_sample(&frequency, &population),
        frequency,
        population,
        risk,
    })
}

fn expected_inverses(frequency: &[u64], population: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
    monitor.check()?;
    let blocks = frequency.par_iter().zip(population);
    blocks
        .with_min_len(ROWS_PER_CHECK >> 6)
        .map(|(&f, &population)| {
            monitor.check()?;
            Ok(expected_inverse(f, population))
        })
        .collect()
}

/// How many frequencies the population falls short of.
fn below_sample(frequency: &[u64], population: &[f64]) -> usize {
    let pairs = frequency.iter().zip(population);
    pairs
        .filter(|&(&f, &population)| population < f as f64 * (1.0 - TOLERANCE))
        .count()
}

/// Refuses weights that are not one finite positive number per row.
pub(crate) fn check_weights(table: &KeyTable, weights: &[f64]) -> Result<()> {
    if weights.len() != table.n_rows() || !weights.iter().all(|&w| w > 0.0 && w.is_finite()) {
        return Err(Error::BadArgument(
            "Every record needs a finite and positive weight.".into(),
        ));
    }
    Ok(())
}

/// Per row, the chance that at least one member of its household is found,
/// `1 - prod(1 - r)`, and the number of households with the sum of theirs.
/// Rows of `households` with equal codes are one household.
pub fn household_risk(
    households: &KeyTable,
    risk: &[f64],
    monitor: &Monitor,
) -> Result<HouseholdRisk> {
    if risk.len() != households.n_rows() {
        return Err(Error::BadArgument(
            "Every record needs a risk and a household.".into(),
        ));
    }
    let groups = households.group(monitor)?;
    let mut none_found = vec![0.0; groups.len()];
    for (&group, &risk) in groups.row_group().iter().zip(risk) {
        none_found[group as usize] += (-risk).ln_1p();
    }
    monitor.check()?;
    let of_household: Vec<f64> = none_found.iter().map(|&l: &f64| -l.exp_m1()).collect();
    Ok(HouseholdRisk {
        risk: groups
            .row_group()
            .iter()
            .map(|&g| of_household[g as usize])
            .collect(),
        n_households: groups.len(),
        expected: of_household.iter().sum(),
        largest: of_household.iter().copied().fold(0.0, f64::max),
    })
}

/// The risk of households.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseholdRisk {
    /// Per row, the risk of its household.
    pub risk: Vec<f64>,
    /// Number of households.
    pub n_households: usize,
    /// Sum of the risks over households.
    pub expected: f64,
    /// Largest risk of a household.
    pub largest: f64,
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn bad_weights_are_refused() {
        let table = column(&[1, 2]);
        for bad in [vec![1.0], vec![1.0, 0.0], vec![1.0, f64::NAN]] {
            let error = individual_risk(&table, &bad, &Monitor::new()).unwrap_err();
            assert_eq!(error.kind(), "bad_argument");
        }
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
            let found = wildcard_risk(&table, &weights, &Monitor::new()).unwrap();
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
            let found = individual_risk(&table, &weights, &Monitor::new()).unwrap();
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
}
