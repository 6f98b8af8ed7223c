use super::*;
use crate::random::Seed;
use proptest::prelude::*;

fn streams() -> Streams {
    Streams::new(Seed::from_draws([3, 1, 4, 1, 5, 9, 2, 6]))
}

const FINE: Effort = Effort {
    tolerance: 1e-4,
    absolute: 0.0,
    max_blocks: 64,
};

fn probability(correlation: &[f64], limits: &[(f64, f64)]) -> Estimate {
    let d = limits.len();
    let correlation = Array2::from_shape_vec((d, d), correlation.to_vec()).unwrap();
    Rectangles::new(&correlation, FINE, &streams())
        .unwrap()
        .probability(limits, &mut Scratch::default())
}

/// A correlation matrix from loadings on common factors.
fn matrix(loadings: &[(f64, f64)]) -> Vec<f64> {
    let n = loadings.len();
    let norm: Vec<f64> = loadings
        .iter()
        .map(|(a, b)| (a * a + b * b + 0.3).sqrt())
        .collect();
    let mut out = vec![1.0; n * n];
    for i in 0..n {
        for j in 0..n {
            if i != j {
                let cross = loadings[i].0 * loadings[j].0 + loadings[i].1 * loadings[j].1;
                out[i * n + j] = cross / (norm[i] * norm[j]);
            }
        }
    }
    out
}

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[test]
fn independent_variables_multiply() {
    let limits = [(-1.0, 0.3), (0.5, f64::INFINITY), (-0.2, 0.1), (1.5, 1.7)];
    let mut correlation = vec![0.0; 16];
    (0..4).for_each(|j| correlation[j * 5] = 1.0);
    let exact: f64 = limits.iter().map(|&l| mass(l)).product();
    let found = probability(&correlation, &limits);
    assert!(
        (found.value / exact - 1.0).abs() < 1e-7,
        "{found:?} {exact}"
    );
}

#[test]
fn equicorrelated_orthants_are_known() {
    // P(all Z > 0) = 1 / (d + 1) where all correlations are 1/2.
    for d in 3..=10 {
        let mut correlation = vec![0.5; d * d];
        (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
        let found = probability(&correlation, &vec![(0.0, f64::INFINITY); d]);
        let exact = 1.0 / (d as f64 + 1.0);
        assert!(
            (found.value - exact).abs() <= 5.0 * found.error + 1e-9,
            "{d}: {found:?}"
        );
        assert!(found.error < 1e-3 * exact);
    }
}

#[test]
fn variables_without_limits_do_not_count() {
    let correlation = matrix(&[(1.0, 0.2), (-0.5, 0.9), (0.4, -0.3), (0.8, 0.8)]);
    let found = probability(&correlation, &[OPEN, (-1.0, 0.2), OPEN, (0.3, 2.0)]);
    let exact = bivariate_rectangle((-1.0, 0.2), (0.3, 2.0), correlation[7]);
    assert!((found.value - exact).abs() < 1e-15 && found.error <= 0.0);
    assert_eq!(probability(&correlation, &[OPEN; 4]), Estimate::exact(1.0));
    let empty = [(0.3, 0.3), OPEN, OPEN, OPEN];
    assert_eq!(probability(&correlation, &empty), Estimate::exact(0.0));
}

proptest! {
    #![proptest_config(crate::cases::cases(40))]

    #[test]
    fn rectangles_fill_the_space(
        loadings in proptest::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 3),
        cuts in proptest::collection::vec(proptest::collection::vec(-2.5f64..2.5, 1..3), 3)
    ) {
        let correlation = matrix(&loadings);
        let sides: Vec<Vec<f64>> = cuts.into_iter().map(|mut c| {
            c.extend([f64::NEG_INFINITY, f64::INFINITY]);
            c.sort_by(f64::total_cmp);
            c
        }).collect();
        let (mut total, mut variance) = (0.0, 0.0);
        for x in sides[0].windows(2) {
            for y in sides[1].windows(2) {
                for z in sides[2].windows(2) {
                    let cell = probability(
                        &correlation, &[(x[0], x[1]), (y[0], y[1]), (z[0], z[1])]
                    );
                    total += cell.value;
                    variance += cell.error;
                }
            }
        }
        prop_assert!((total - 1.0).abs() <= 5.0 * variance + 1e-6);
    }

    #[test]
    fn the_order_of_variables_does_not_matter(
        loadings in proptest::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 5),
        ends in proptest::collection::vec((-3.0f64..3.0, 0.05f64..2.0), 5)
    ) {
        let limits: Vec<_> = ends.iter().map(|&(low, width)| (low, low + width)).collect();
        let found = probability(&matrix(&loadings), &limits);
        let turned: Vec<usize> = vec![3, 0, 4, 2, 1];
        let loadings: Vec<_> = turned.iter().map(|&j| loadings[j]).collect();
        let limits: Vec<_> = turned.iter().map(|&j| limits[j]).collect();
        let again = probability(&matrix(&loadings), &limits);
        prop_assert!(
            (found.value - again.value).abs() <= 6.0 * (found.error + again.error) + 1e-12
        );
        prop_assert!(found.error <= 2e-3 * found.value || found.value < 1e-12);
    }
}

#[test]
fn a_sum_over_the_third_variable_is_the_bivariate_rectangle() {
    let correlation = matrix(&[(1.5, 0.2), (-1.4, 0.3), (0.9, -1.0)]);
    for (first, second) in [((-0.4, 0.1), (0.2, 0.9)), ((2.0, 2.4), (-3.0, -2.5))] {
        let cuts = [f64::NEG_INFINITY, -1.0, 0.4, 1.3, f64::INFINITY];
        let total: f64 = cuts
            .windows(2)
            .map(|z| probability(&correlation, &[first, second, (z[0], z[1])]).value)
            .sum();
        let exact = bivariate_rectangle(first, second, correlation[1]);
        assert!((total / exact - 1.0).abs() < 1e-3, "{total:e} {exact:e}");
    }
}

#[test]
fn a_determined_variable_is_not_missed() {
    // Four variables, the last a sum of the others but for a variance of 1e-6.
    let weights = [0.5f64, -0.6, 0.4, (1.0f64 - 0.77 - 1e-6).sqrt()];
    let d = 5;
    let mut correlation = vec![0.0; d * d];
    (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
    for (j, w) in weights.iter().enumerate() {
        correlation[j * d + 4] = *w;
        correlation[4 * d + j] = *w;
    }
    // The interval of the last is all but out of reach of the others' box.
    let limits = [(1.0, 1.2), (-1.2, -1.0), (1.0, 1.2), (1.0, 1.2)];
    let top: f64 = limits
        .iter()
        .zip(weights)
        .map(|(l, w)| if w > 0.0 { w * l.1 } else { w * l.0 })
        .sum();
    let m = 60;
    for (low, high) in [
        (top - 0.02, 9.0),
        (top - 0.1, top - 0.098),
        (top - 0.2, top - 0.1),
    ] {
        // Midpoints of the first three, the fourth exactly.
        let mut exact = 0.0;
        let steps: Vec<f64> = limits.iter().map(|l| (l.1 - l.0) / f64::from(m)).collect();
        let at = |j: usize, i: i32| limits[j].0 + steps[j] * (f64::from(i) + 0.5);
        for i in 0..m {
            for j in 0..m {
                for k in 0..m {
                    let z = [at(0, i), at(1, j), at(2, k)];
                    let sum: f64 = z.iter().zip(weights).map(|(z, w)| z * w).sum();
                    let from = ((low - sum) / weights[3]).max(limits[3].0);
                    let to = ((high - sum) / weights[3]).min(limits[3].1);
                    let weight: f64 = (0..3).map(|v| density(z[v]) * steps[v]).product();
                    exact += weight * (cdf(to) - cdf(from)).max(0.0);
                }
            }
        }
        let mut all = limits.to_vec();
        all.push((low, high));
        let found = probability(&correlation, &all);
        // Of next to nothing the error is what may have been missed.
        assert!(
            found.error < found.value || exact < 1e-9,
            "{found:?} {exact:e}"
        );
        assert!(
            (found.value - exact).abs() < 5.0 * found.error + 0.02 * exact,
            "{found:?} {exact:e}"
        );
    }
}

#[test]
fn what_is_out_of_reach_has_an_error() {
    // Nothing of the rectangle can be reached: 0, and what one point could add.
    let w = (0.5f64 * (1.0 - 1e-8)).sqrt();
    let correlation = [
        1.0, 0.0, 0.0, w, 0.0, 1.0, 0.0, w, 0.0, 0.0, 1.0, 0.0, w, w, 0.0, 1.0,
    ];
    let limits = [(0.0, 0.5), (0.0, 0.5), (0.0, 1.0), (2.0, 2.5)];
    let found = probability(&correlation, &limits);
    assert!(found.value < 1e-12 && found.error > found.value && found.error < 1e-3);
}

#[test]
fn a_tail_far_from_the_centre_keeps_its_error_relative() {
    // Conditional independence given the first factor: an integral of one
    // variable, by the trapezoidal rule.
    let a: f64 = 0.9;
    let (d, low) = (6, 3.0);
    let mut correlation = vec![a * a; d * d];
    (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
    let step = 1e-3;
    let exact: f64 = (-9_000..9_000)
        .map(|i| {
            let z = f64::from(i) * step;
            density(z) * cdf((a * z - low) / (1.0 - a * a).sqrt()).powi(d as i32) * step
        })
        .sum();
    for limits in [
        vec![(low, f64::INFINITY); d],
        vec![(f64::NEG_INFINITY, -low); d],
    ] {
        let found = probability(&correlation, &limits);
        assert!(
            (found.value / exact - 1.0).abs() < 1e-3,
            "{found:?} {exact:e}"
        );
    }
}
