use super::anchor::MOST_RAISED;
use super::fit::Posterior;
use super::*;
use crate::parallel::with_threads;
use proptest::prelude::*;

fn point(p: f64, variance: f64) -> Point {
    Point {
        ln_p: p.ln(),
        variance,
    }
}

const PLAIN: Mixture = Mixture {
    alpha: 2.0,
    spread: 1.0,
};

#[test]
fn likelihoods_have_their_worked_values() {
    let found = PLAIN.likelihood(point(1e-4, 0.0), 0.0, 10_000.0);
    assert!((found.unique - 0.296_325_927_9).abs() < 1e-10);
    assert!((found.correct - 0.555_555_555_6).abs() < 1e-10);
    assert!((found.shape - 2.0).abs() < 1e-15 && (found.prob / 1e-4 - 1.0).abs() < 1e-12);
    // The variance of the counts makes the shape 1 / (1/2 + 1/2).
    let less = PLAIN.likelihood(point(1e-4, 0.5), 0.0, 10_000.0);
    assert!((less.shape - 1.0).abs() < 1e-15);
    assert!((less.unique - 1.9999f64.powi(-2)).abs() < 1e-12);
    // Without uncertainty the powers of the probability.
    let sure = Mixture {
        alpha: 1e12,
        spread: 1.0,
    };
    let found = sure.likelihood(point(1e-4, 0.0), 0.0, 10_000.0);
    assert!((found.unique - (-0.9999f64).exp()).abs() < 1e-9);
    assert!((found.correct + (-1.0f64).exp_m1()).abs() < 1e-9);
    assert!((sure.likelihood(point(1e-320, 0.0), 0.0, 10.0).correct - 1.0).abs() < 1e-15);
}

#[test]
fn likelihoods_are_means_over_the_gamma_variable() {
    // By the midpoint rule over g of shape a + 1 and rate a + n lambda p.
    let (p, ln_lambda, n, n_people) = (3e-4, 0.4f64, 2_000.0, 9_000.0);
    let x = p * ln_lambda.exp();
    let given = PLAIN.likelihood_given(point(p, 0.3), ln_lambda, n_people, (n, 1));
    let a = given.shape;
    let mean = |rate: f64, of: &dyn Fn(f64) -> f64| {
        let (mut mass, mut sum) = (0.0, 0.0);
        for i in 0..400_000 {
            let g = (f64::from(i) + 0.5) * 1e-4;
            let weight = (a * g.ln() - rate * g).exp();
            mass += weight;
            sum += weight * of(g);
        }
        sum / mass
    };
    let right = |z: f64| move |g: f64| -(-z * g).exp_m1() / (z * g);
    let rest = (n_people - n) * x;
    assert!((given.unique - mean(a + n * x, &|g| (-rest * g).exp())).abs() < 1e-6);
    assert!((given.correct - mean(a + n * x, &right(rest))).abs() < 1e-6);
    let plain = PLAIN.likelihood(point(p, 0.3), ln_lambda, n_people);
    let others = (n_people - 1.0) * x;
    assert!((plain.unique - mean(a, &|g| (-others * g).exp())).abs() < 1e-6);
    assert!((plain.correct - mean(a, &right(n_people * x))).abs() < 1e-6);
    let twice = PLAIN.likelihood_given(point(p, 0.3), ln_lambda, n_people, (n, 2));
    assert!(twice.unique <= 0.0 && twice.correct <= 0.5);
}

/// Points and who is unique among `n` people, from the mixture itself.
fn sample(n: usize) -> (Vec<Point>, Vec<bool>) {
    let mut state = 7u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n)
        .map(|_| {
            let point = point((-11.0 + 6.0 * uniform()).exp(), 2.0 * uniform().powi(3));
            let xi = PLAIN.likelihood(point, 0.3, n as f64).unique;
            (point, uniform() < xi)
        })
        .unzip()
}

#[test]
fn a_mixture_is_found_again() {
    let (points, unique) = sample(40_000);
    let all = clusters(&points, None, None, &unique);
    assert!(all.len() < 20_000);
    assert!((all.iter().map(|c| c.n).sum::<f64>() - 40_000.0).abs() < 1e-9);
    let (mixture, ln_lambda) = fit_mixture(&all, 40_000.0, &Monitor::new()).unwrap();
    assert!((mixture.alpha / 2.0 - 1.0).abs() < 0.3, "{mixture:?}");
    assert!((mixture.spread - 1.0).abs() < 0.4, "{mixture:?}");
    assert!((ln_lambda - 0.3).abs() < 0.1, "{ln_lambda}");
    // A summit: no step in any direction is higher.
    let top = [mixture.alpha.ln(), ln_lambda, mixture.spread.ln()];
    let summit = Posterior::at(&top, &all, 40_000.0);
    for k in 0..3 {
        assert!(summit.gradient[k].abs() < 1e-4);
        for step in [-1e-3, 1e-3] {
            let mut beside = top;
            beside[k] += step;
            assert!(Posterior::at(&beside, &all, 40_000.0).value < summit.value);
        }
    }
}

#[test]
fn order_and_threads_change_nothing() {
    let (points, unique) = sample(9_000);
    let turned: Vec<usize> = (0..9_000).rev().collect();
    let again = clusters(
        &turned.iter().map(|&i| points[i]).collect::<Vec<_>>(),
        None,
        None,
        &turned.iter().map(|&i| unique[i]).collect::<Vec<_>>(),
    );
    let all = clusters(&points, None, None, &unique);
    assert_eq!(all, again);
    let run = |threads| {
        with_threads(threads, || {
            let monitor = Monitor::new();
            let (mixture, _) = fit_mixture(&all, 9_000.0, &monitor)?;
            let found = anchor(&mixture, 0.0, &points, None, 1e6, 0.01, &monitor)?;
            Ok((mixture, found))
        })
        .unwrap()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn points_of_several_records_are_those_records() {
    for n in [500, 9_000] {
        let (points, mut unique) = sample(n);
        let times: Vec<u64> = (0..n as u64).map(|i| 1 + i % 3).collect();
        unique
            .iter_mut()
            .zip(&times)
            .for_each(|(u, &t)| *u &= t == 1);
        let rows = (0..n).flat_map(|i| std::iter::repeat_n(i, times[i] as usize));
        let (mut all, mut alone) = (Vec::new(), Vec::new());
        for row in rows {
            all.push(points[row]);
            alone.push(unique[row]);
        }
        let monitor = Monitor::new();
        let total = all.len() as f64;
        let (one, ln_one) =
            fit_mixture(&clusters(&all, None, None, &alone), total, &monitor).unwrap();
        let grouped = clusters(&points, None, Some(&times), &unique);
        let (other, ln_other) = fit_mixture(&grouped, total, &monitor).unwrap();
        assert!((one.alpha / other.alpha - 1.0).abs() < 1e-7);
        assert!((one.spread / other.spread - 1.0).abs() < 1e-7);
        assert!((ln_one - ln_other).abs() < 1e-7);
    }
}

#[test]
fn a_grid_hardly_moves_records() {
    let (points, unique) = sample(20_000);
    let all = clusters(&points, None, None, &unique);
    let near: Vec<Point> = all.iter().map(|c| c.point).collect();
    let weights: Vec<f64> = all.iter().map(|c| c.weight).collect();
    let monitor = Monitor::new();
    for uniqueness in [0.003, 0.2, 0.8] {
        let at = |points: &[Point], weights: Option<&[f64]>| {
            anchor(&PLAIN, 0.3, points, weights, 4e4, uniqueness, &monitor).unwrap()
        };
        let (exact, found) = (at(&points, None), at(&near, Some(&weights)));
        assert!(
            (exact.ln_lambda - found.ln_lambda).abs() < 1e-3,
            "{exact:?} {found:?}"
        );
        assert!(
            (exact.left / found.left - 1.0).abs() < 1e-2,
            "{exact:?} {found:?}"
        );
    }
}

#[test]
fn without_uniqueness_nothing_is_moved() {
    let monitor = Monitor::new();
    let points = [point(0.5, 0.0); 3];
    for (n_people, uniqueness) in [(100.0, 0.0), (1.0, 0.5), (100.0, f64::NAN)] {
        let found = anchor(&PLAIN, 0.2, &points, None, n_people, uniqueness, &monitor);
        let found = found.unwrap();
        assert!((found.ln_lambda - 0.2).abs() < 1e-15 && found.left >= 1.0);
    }
    assert!(anchor(&PLAIN, 0.2, &[], None, 100.0, 0.5, &monitor).is_ok());
}

#[test]
fn where_next_to_nobody_is_unique_lambda_stays_where_it_was() {
    let monitor = Monitor::new();
    let points = [point(0.01, 0.001), point(0.02, 0.0005)];
    for uniqueness in [1e-9, 1e-30, 1e-100] {
        let found = anchor(&PLAIN, 0.2, &points, None, 1e4, uniqueness, &monitor).unwrap();
        assert!(found.ln_lambda <= 0.2 + MOST_RAISED + 1e-12);
        let mixture = PLAIN.sharpened(found.left);
        let unique = |point| mixture.likelihood(point, found.ln_lambda, 1e4).unique;
        let mean = 0.5 * (unique(points[0]) + unique(points[1]));
        assert!(
            (mean / uniqueness - 1.0).abs() < 1e-6,
            "{mean:e} {uniqueness:e}"
        );
    }
}

proptest! {
    #[test]
    fn a_match_is_right_at_least_as_often_as_unique(
        ln_p in -40.0f64..0.0, variance in 0.0f64..1e4, ln_lambda in -5.0f64..5.0,
        n_people in 2.0f64..1e9, alpha in 0.01f64..100.0, share in 0.0f64..1.0
    ) {
        let mixture = Mixture { alpha, spread: 0.7 };
        let point = Point { ln_p, variance };
        let plain = mixture.likelihood(point, ln_lambda, n_people);
        let given = mixture.likelihood_given(
            point, ln_lambda, n_people, (share * n_people, 1)
        );
        for found in [plain, given] {
            prop_assert!((0.0..=1.0).contains(&found.unique));
            prop_assert!(found.correct <= 1.0 && found.correct >= found.unique - 1e-12);
        }
    }

    #[test]
    fn the_anchor_gives_the_uniqueness_asked_for(
        ln_p in proptest::collection::vec(-14.0f64..-2.0, 1..60),
        n in 10.0f64..1e6, uniqueness in 0.001f64..0.999
    ) {
        let points: Vec<Point> = ln_p
            .iter()
            .map(|&ln_p| Point { ln_p, variance: (ln_p + 14.0) / 3.0 })
            .collect();
        let monitor = Monitor::new();
        let found = anchor(&PLAIN, 0.0, &points, None, n, uniqueness, &monitor).unwrap();
        let mixture = PLAIN.sharpened(found.left);
        let mean = points
            .iter()
            .map(|&point| mixture.likelihood(point, found.ln_lambda, n).unique)
            .sum::<f64>() / points.len() as f64;
        prop_assert!((mean / uniqueness - 1.0).abs() < 1e-9);
    }
}
