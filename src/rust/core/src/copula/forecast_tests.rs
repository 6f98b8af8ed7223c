use super::*;
use crate::parallel::with_threads;

/// Cells of falling shares.
fn model() -> Falling {
    let raw: Vec<f64> = (1..3000).map(|r| 1.0 / (20.0 + f64::from(r))).collect();
    let total: f64 = raw.iter().sum();
    Falling::of(24.0, |y| {
        let of = |q: f64| q * (-y.exp() * q).exp();
        raw.iter().map(|x| of(x / total)).sum()
    })
}

/// A sample in which `share` times as many records are unique as the model says.
fn sample(n: f64, share: f64) -> Seen {
    let single = (n * share * model().at((n - 1.0).ln()).0).round().min(n);
    Seen {
        n,
        single,
        distinct: (single + 0.3 * (n - single)).round(),
    }
}

fn run(seen: &Seen, sizes: &[f64], threads: usize) -> Vec<Outlook> {
    let posterior = Posterior::new(&model(), seen.n, Some(seen));
    with_threads(threads, || {
        let start = Start::new(*seen, true, true, 0.95);
        outlooks(&posterior, &start, sizes, &Monitor::new())
    })
    .unwrap()
}

fn samples() -> Vec<Seen> {
    let mut all = Vec::new();
    for n in [60.0, 400.0, 3000.0, 2e5] {
        for share in [0.0, 0.5, 0.95, 1.0, 1.3, 50.0] {
            all.push(sample(n, share));
        }
    }
    all
}

#[test]
fn the_bound_is_that_of_pairs_and_of_singles() {
    let seen = |single| Seen {
        n: 1000.0,
        single,
        distinct: single,
    };
    assert!((bound(&seen(990.0), 0.025) - 0.996_753).abs() < 1e-6);
    assert!((bound(&seen(4.0), 0.025) - 0.010_241_59).abs() < 1e-8);
    assert!((bound(&seen(1000.0), 0.025) - 1.0).abs() < 1e-15);
}

#[test]
fn at_its_own_size_the_sample_is_the_population() {
    for seen in samples() {
        let found = run(&seen, &[seen.n], 1)[0];
        let own = Range::known(seen.single / seen.n);
        assert_eq!(found.uniqueness, own);
        assert_eq!(found.correctness, Range::known(seen.distinct / seen.n));
        // One more person moves it by no more than a few of N.
        let next = run(&seen, &[seen.n + 1.0], 1)[0];
        for (near, own) in [
            (next.uniqueness, own.estimate),
            (next.correctness, seen.distinct / seen.n),
        ] {
            assert!((near.estimate - own).abs() < 1.5 / seen.n);
            assert!(near.high - near.low <= 2.0 / seen.n, "{seen:?} {near:?}");
        }
    }
}

#[test]
fn laws_hold_for_every_sample_and_size() {
    let alone = model();
    for seen in samples() {
        let sizes: Vec<f64> = [1.001, 1.02, 1.1, 1.5, 2.0, 5.0, 20.0, 100.0, 1000.0]
            .iter()
            .map(|r| (r * seen.n).round().max(seen.n + 1.0))
            .collect();
        let most = bound(&seen, 0.025);
        let found = run(&seen, &sizes, 2);
        for (i, (o, &size)) in found.iter().zip(&sizes).enumerate() {
            let (u, k) = (o.uniqueness, o.correctness);
            for r in [u, k] {
                assert!(0.0 <= r.low && r.low <= r.estimate && r.estimate <= r.high);
                assert!(r.high <= 1.0);
            }
            assert!(u.high <= most + 1e-12, "{seen:?} {size} {u:?}");
            assert!(k.estimate >= u.estimate - 1e-12);
            assert!(k.low >= (seen.distinct / size).min(k.estimate) - 1e-12);
            assert!(k.low >= u.low);
            // A sample less unique than people are lets new ones be unique.
            let short = seen.single < 0.9 * seen.n * alone.at((seen.n - 1.0).ln()).0;
            if i > 0 && !short {
                let before = found[i - 1];
                let slack = if size < 1.6 * seen.n {
                    2.0 / seen.n
                } else {
                    0.0
                };
                assert!(
                    u.estimate <= before.uniqueness.estimate + slack,
                    "{seen:?} {size}"
                );
                assert!(
                    k.estimate <= before.correctness.estimate + slack,
                    "{seen:?} {size}"
                );
            }
        }
    }
}

#[test]
fn several_sizes_are_single_ones_on_any_number_of_threads() {
    let seen = sample(1000.0, 0.9);
    let sizes = [1000.0, 1500.0, 1e4, 3.3e5, 1e6];
    let together = run(&seen, &sizes, 1);
    assert_eq!(together, run(&seen, &sizes, 3));
    for (size, found) in sizes.iter().zip(&together) {
        assert_eq!(run(&seen, &[*size], 2)[0], *found);
    }
}

#[test]
fn counts_of_known_mean_and_variance_have_their_law() {
    // Binomial(4, 1/2), Poisson(2), and both added: mean 4, variance 3.
    let count = |mean, variance| Count {
        weight: 1.0,
        mean,
        variance,
    };
    assert!((count(2.0, 1.0).cdf(0.0) - 0.0625).abs() < 1e-12);
    assert!((count(2.0, 2.0).cdf(0.0) - (-2.0_f64).exp()).abs() < 1e-12);
    let both = 0.0625 * (-2.0_f64).exp();
    assert!((count(4.0, 3.0).cdf(0.0) - both).abs() < 2e-3);
    assert!((count(7.0, 0.0).cdf(6.0)).abs() < 1e-12);
    let halves = Mixture::new(vec![
        Count {
            weight: 0.5,
            ..count(0.0, 0.0)
        },
        Count {
            weight: 0.5,
            ..count(1000.0, 900.0)
        },
    ]);
    assert!((halves.mean() - 500.0).abs() < 1e-9);
    assert!(halves.quantile(0.025, 1e6).abs() < 1e-12);
    assert!((halves.quantile(0.975, 1e6) - 1049.0).abs() < 1.5);
}

#[test]
fn where_nothing_is_known_there_is_the_model_and_what_is_known_of_models() {
    let seen = sample(1000.0, 0.3);
    let prior = Posterior::new(&model(), seen.n, None);
    let start = Start::new(seen, false, false, 0.95);
    let sizes = [1000.0, 20_000.0];
    let found = outlooks(&prior, &start, &sizes, &Monitor::new()).unwrap();
    let alone = model();
    for (o, size) in found.iter().zip(sizes) {
        let own = alone.at((size - 1.0).ln()).0;
        assert!(o.uniqueness.low < own && own < o.uniqueness.high);
        // Distinct records of the model, one by one.
        let arrivals = (1..size as u32).map(|m| alone.at(f64::from(m).ln()).0);
        let distinct: f64 = 1.0 + arrivals.sum::<f64>();
        let k = o.correctness;
        assert!(k.low < distinct / size && distinct / size < k.high, "{k:?}");
        assert!(k.low > o.uniqueness.low && k.high > o.uniqueness.high);
    }
}

#[test]
fn models_that_had_to_be_bent_err_more() {
    // sqrt(0.02 + 4 / 800), sqrt(0.025 + 0.03 * 2^2), and the end at 3.
    assert!((error_sd(800.0, 0.0) - 0.158_113_883_0).abs() < 1e-9);
    assert!((error_sd(800.0, 2.0) - 0.380_788_655_3).abs() < 1e-9);
    assert!((error_sd(800.0, 9.0) - error_sd(800.0, 3.0)).abs() < 1e-15);
}
