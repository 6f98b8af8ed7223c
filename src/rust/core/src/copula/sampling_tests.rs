use super::*;
use crate::parallel::with_threads;

fn seed() -> Seed {
    Seed::from_draws([3, 1, 4, 1, 5, 9, 2, 6])
}

fn model(d: usize, k: usize, rho: f64) -> Model {
    let mut correlation = Array2::from_elem((d, d), rho);
    correlation.diag_mut().fill(1.0);
    Model::new(
        vec![vec![1.0 / k as f64; k]; d],
        vec![(0..k as u32).collect(); d],
        correlation,
    )
    .unwrap()
}

#[test]
fn normal_variables_have_the_normal_distribution() {
    // One key, so that the latent variables are those that were drawn.
    let sampler = Sampler::new(&model(1, 2, 0.0)).unwrap();
    let (n, mut draws) = (400_000, Vec::new());
    sampler.latent(&Streams::new(seed()), 0, n as usize, &mut draws);
    let moment = |k: i32| draws.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
    assert!(moment(1).abs() < 0.006);
    assert!((moment(2) - 1.0).abs() < 0.01);
    assert!((moment(4) - 3.0).abs() < 0.06);
    // 2 Phi(-3.6541...): the tail, which the ziggurat draws by another rule.
    let beyond = draws
        .iter()
        .filter(|x| x.abs() > 3.654_152_885_361_009)
        .count() as f64;
    assert!((beyond - 2.58e-4 * f64::from(n)).abs() < 45.0);
    draws.sort_by(f64::total_cmp);
    let distance = draws
        .iter()
        .zip(0..)
        .map(|(&x, i)| (crate::normal::cdf(x) - f64::from(i) / f64::from(n)).abs())
        .fold(0.0, f64::max);
    // The 99.9% point of Kolmogorov's distance.
    assert!(distance < 1.95 / f64::from(n).sqrt());
}

#[test]
fn margins_and_pairs_come_out_as_they_went_in() {
    let model = Model::new(
        vec![vec![0.1, 0.6, 0.3], vec![0.25, 0.0, 0.75]],
        vec![vec![2, 0, 1], vec![0, 1, 2]],
        ndarray::array![[1.0, 0.7], [0.7, 1.0]],
    )
    .unwrap();
    let n = 200_000;
    let records = Sampler::new(&model)
        .unwrap()
        .records(n, seed(), &Monitor::new())
        .unwrap();
    let share = |a: u32, b: u32| {
        let hits = records[0]
            .iter()
            .zip(&records[1])
            .filter(|(&x, &y)| x == a && y == b)
            .count();
        hits as f64 / n as f64
    };
    let q = crate::normal::quantile;
    let mut cumulative = [0.0, 0.6, 0.9, 1.0].map(q);
    cumulative[3] = f64::INFINITY;
    for (category, place) in [(0u32, 2usize), (1, 0), (2, 1)] {
        for (b, low, high) in [
            (0u32, f64::NEG_INFINITY, q(0.25)),
            (2, q(0.25), f64::INFINITY),
        ] {
            let exact = crate::normal::bivariate_rectangle(
                (cumulative[place], cumulative[place + 1]),
                (low, high),
                0.7,
            );
            assert!((share(category, b) - exact).abs() < 0.005);
        }
        assert!(share(category, 1) < 1e-12);
    }
}

#[test]
fn uniform_cells_have_the_known_uniqueness() {
    // 4^5 cells and 1,000 people: (1 - 1/1024)^999 = .3768.
    let model = model(5, 4, 0.0);
    let spectrum = Sampler::new(&model)
        .unwrap()
        .spectrum(400_000, seed(), &Monitor::new())
        .unwrap();
    assert!((spectrum.unique_share(1000.0) - 0.3768).abs() < 0.001);
    // 10^3 cells: .3681.
    let model = super::tests::model(3, 10, 0.0);
    let spectrum = Sampler::new(&model)
        .unwrap()
        .spectrum(400_000, seed(), &Monitor::new())
        .unwrap();
    assert!((spectrum.unique_share(1000.0) - 0.3681).abs() < 0.001);
}

#[test]
fn draws_are_the_same_on_any_number_of_threads_and_in_any_key_width() {
    for (d, k) in [(4, 7), (30, 12), (50, 40)] {
        let model = model(d, k, 0.5);
        let sampler = Sampler::new(&model).unwrap();
        let run = |threads| {
            with_threads(threads, || {
                sampler.spectrum(30_000, seed(), &Monitor::new())
            })
            .unwrap()
        };
        let one = run(1);
        assert_eq!(one, run(3));
        assert!((one.cells.iter().map(|(f, t)| f * t).sum::<f64>() - 30_000.0).abs() < 1e-9);
        // Counts equal records by their text.
        let records = sampler.records(30_000, seed(), &Monitor::new()).unwrap();
        let mut rows: Vec<Vec<u32>> = (0..30_000)
            .map(|i| records.iter().map(|column| column[i]).collect())
            .collect();
        rows.sort_unstable();
        let single = rows
            .chunk_by(|a, b| a == b)
            .filter(|r| r.len() == 1)
            .count();
        let found = one.cells.iter().find(|c| c.0 < 1.5).map_or(0.0, |c| c.1);
        assert!((single as f64 - found).abs() < 0.5);
    }
}

#[test]
fn the_monte_carlo_error_is_that_of_repeated_draws() {
    let model = model(6, 5, 0.4);
    let sampler = Sampler::new(&model).unwrap();
    let sd_over = |n_draws: u64, m: f64| {
        let runs: Vec<(f64, f64)> = (0..300)
            .map(|i| {
                let seed = Seed::from_draws([i, 2, 3, 4, 5, 6, 7, 8]);
                let spectrum = sampler.spectrum(n_draws, seed, &Monitor::new()).unwrap();
                (spectrum.unique_share(m), spectrum.distinct_share(m))
            })
            .collect();
        let sd = |x: Vec<f64>| {
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            (x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (x.len() - 1) as f64).sqrt()
        };
        (
            sd(runs.iter().map(|r| r.0).collect()),
            sd(runs.iter().map(|r| r.1).collect()),
        )
    };
    let spectrum = sampler.spectrum(8000, seed(), &Monitor::new()).unwrap();
    let (unique, distinct) = spectrum.standard_errors(4000.0);
    // The error of 4,000 draws, and at least that of means over 8,000 draws.
    let root = 2.0_f64.sqrt();
    let (one_unique, one_distinct) = sd_over(4000, 4000.0);
    assert!((root * unique / one_unique - 1.0).abs() < 0.15);
    assert!((root * distinct / one_distinct - 1.0).abs() < 0.15);
    let (two_unique, two_distinct) = sd_over(8000, 4000.0);
    assert!(unique > 0.9 * two_unique && distinct > 0.9 * two_distinct);
}
