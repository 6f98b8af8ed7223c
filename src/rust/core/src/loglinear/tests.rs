use super::cells::Cells;
use super::fitted::{choose, Fitted, Fractions, Method, Sample};
use super::graph::Tree;
use super::measures::{self, TermSeries, Terms, POWERS};
use super::model::{for_each_cell, Model};
use super::moments::LikeCells;
use super::nested::Nested;
use super::raking::{effect_at, multiply_in, one_way};
use super::spread::correct;
use super::tree::Tables;
use super::*;
use crate::key_table::{Codes, Column, KeyTable};
use crate::random::{Seed, Streams};
use crate::weights::Weights;
use proptest::prelude::*;
use rand::RngExt;

fn table(sizes: &[u32], rows: &[Vec<u32>]) -> KeyTable {
    let columns = sizes
        .iter()
        .enumerate()
        .map(|(v, &k)| Column::new(Codes::pack(k, rows.iter().map(|r| r[v])), k).unwrap())
        .collect();
    KeyTable::new(columns).unwrap()
}

/// `n` rows over the given levels, with dependence, and weights.
fn random_rows(sizes: &[u32], n: usize, seed: u32) -> (Vec<Vec<u32>>, Vec<f64>) {
    let mut rng = streams(seed).block(0);
    let mut rows = Vec::new();
    let mut weights = Vec::new();
    for _ in 0..n {
        let class: f64 = rng.random();
        rows.push(
            sizes
                .iter()
                .map(|&k| {
                    let u: f64 = rng.random();
                    1 + ((u * (0.4 + 0.6 * class) * f64::from(k)) as u32).min(k - 1)
                })
                .collect(),
        );
        weights.push(2.0 + 8.0 * rng.random::<f64>());
    }
    (rows, weights)
}

fn streams(seed: u32) -> Streams {
    Streams::new(Seed::from_draws([seed, 2, 3, 4, 5, 6, 7, 8]))
}

pub fn cells_of(sizes: &[u32], n: usize, seed: u32) -> Cells {
    let (rows, weights) = random_rows(sizes, n, seed);
    Cells::new(
        &table(sizes, &rows),
        Weights::new(&weights, weights.len()).ok(),
        &Monitor::new(),
    )
    .unwrap()
    .0
}

fn request(choice: Choice, fractions: Fractions, normal: Option<f64>) -> Request {
    Request {
        choice,
        fraction: SamplingFraction::new(0.1).ok(),
        max_cells: 1e9,
        fractions,
        normal,
    }
}

pub fn sample_of(cells: &Cells, pi: f64) -> Sample<'_> {
    Sample::new(cells, pi, Fractions::Overall, 1e9)
}

pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    // Error of a difference of two numbers near 1 in 64 bits.
    (a - b).abs() <= tolerance * a.abs().max(b.abs()) + 1e-17
}

fn same_terms(a: &Terms, b: &Terms, tolerance: f64) {
    for i in 0..2 {
        assert!(close(a.b[i], b.b[i], tolerance), "{a:?} {b:?}");
        assert!(close(a.v[i], b.v[i], tolerance), "{a:?} {b:?}");
        assert!(
            close(a.b_squared[i], b.b_squared[i], tolerance),
            "{a:?} {b:?}"
        );
    }
    assert!(close(a.uniques, b.uniques, tolerance), "{a:?} {b:?}");
}

/// All cells of a fit, in row-major order, by definition.
fn full_table(fitted: &Fitted) -> Vec<f64> {
    let sizes = fitted.model.sizes();
    let mut out = Vec::new();
    for_each_cell(sizes, &vec![0; sizes.len()], |cell, _| {
        let mut rest = cell;
        let mut codes = vec![0u32; sizes.len()];
        for v in (0..sizes.len()).rev() {
            codes[v] = (rest % sizes[v]) as u32;
            rest /= sizes[v];
        }
        out.push(fitted.model.at(&fitted.u, &codes));
    });
    out
}

fn fit(sample: &Sample, terms: &[Vec<usize>]) -> Fitted {
    let model = Model::new(sample.cells.sizes(), terms).unwrap();
    Fitted::new(sample, model, TOLERANCE, &Monitor::new()).unwrap()
}

#[test]
fn differences_of_exponentials_lose_no_digits() {
    for q in [1e-9f64, 1e-5, 0.01, 0.3, 0.499_999, 0.500_001, 2.0, 30.0] {
        // The integral forms have no cancellation:
        // h2 - exp(-q) = integral over t in (0, 1) of exp(-qt) - exp(-q).
        let n = 20_000;
        let step = 1.0 / f64::from(n);
        let integral: f64 = (0..n)
            .map(|i| {
                let t = (f64::from(i) + 0.5) * step;
                -(-q).exp() * (-q * (1.0 - t)).exp_m1() * (q * (1.0 - t)).exp() * step
            })
            .sum();
        assert!(close(measures::h2_slope(q), integral, 1e-6), "{q}");
    }
    assert!(close(measures::h1(0.0), 1.0, 0.0) && close(measures::h2(0.0), 1.0, 0.0));
}

#[test]
fn curvatures_are_second_derivatives() {
    for q in [0.001f64, 0.2, 0.499, 0.501, 2.0, 20.0] {
        let step = 1e-3 * (1.0 + q);
        let second =
            |h: fn(f64) -> f64| (h(q + step) - 2.0 * h(q) + h((q - step).abs())) / (step * step);
        if q > step {
            assert!(
                close(measures::h1_curvature(q), second(measures::h1), 1e-4),
                "{q}"
            );
            assert!(
                close(measures::h2_curvature(q), second(measures::h2), 1e-4),
                "{q}"
            );
        }
    }
    assert!(close(measures::h2_curvature(0.0), 1.0 / 3.0, 1e-12));
    assert!(measures::h2_curvature(1e200) <= 0.0);
}

#[test]
fn the_variance_of_one_over_f_follows_its_definition() {
    for q in [1e-6f64, 0.01, 0.0199, 0.0201, 0.7, 5.0, 59.0, 61.0, 500.0] {
        let mut weight = (-q).exp();
        let (mut mean, mut square) = (0.0, 0.0);
        let most = (q + 40.0 * f64::sqrt(q) + 60.0) as u64;
        if weight > 0.0 && q < 400.0 {
            for j in 0..most {
                let x = 1.0 / (j as f64 + 1.0);
                mean += weight * x;
                square += weight * x * x;
                weight *= q / (j as f64 + 1.0);
            }
            let wanted = square - mean * mean;
            assert!(
                (measures::v2(q) - wanted).abs() < 2e-5 * wanted + 1e-15,
                "{q}"
            );
        } else {
            // For large means Var(1/F) is about 1/q^3.
            assert!(close(measures::v2(q), q.powi(-3), 0.05), "{q}");
        }
    }
}

#[test]
fn moments_give_the_terms_of_empty_cells() {
    for pi in [1e-6, 0.01, 0.3, 0.99, 1.0] {
        for lambda in [0.0, 1e-9, 1e-7, 1e-3, 0.2, 1.0, 3.0, 9.0, 80.0, 7e4, 1e9] {
            let mut cells = LikeCells::new(pi, 0.0);
            cells.add(0.5, &[2.0 * lambda, 4.0]);
            let mut wanted = Terms::of_cell(lambda, pi, 0.0);
            if lambda >= 1e-3 {
                // One cell alone, to as many digits as it matters.
                cells.remove(&[2.0]);
            } else {
                wanted.add(&Terms::of_cell(2.0, pi, 0.0));
            }
            let found = cells.terms();
            let tolerance = if lambda < 2.0 { 1e-12 } else { 1e-9 };
            let pairs = found.b.iter().chain(&found.v).chain(&found.b_squared);
            let wanted_pairs = wanted.b.iter().chain(&wanted.v).chain(&wanted.b_squared);
            for (a, b) in pairs.zip(wanted_pairs) {
                assert!(
                    (a - b).abs() <= tolerance * b.abs() + 1e-17,
                    "{pi} {lambda} {a} {b}"
                );
            }
            assert!(close(found.uniques, wanted.uniques, 1e-12), "{pi} {lambda}");
        }
    }
}

#[test]
fn the_power_series_gives_the_terms() {
    for pi in [1e-5, 0.02, 0.5, 0.97] {
        let series = TermSeries::new(pi);
        for lambda in [1e-4f64, 0.1, 0.6, 1.0] {
            let powers: [f64; POWERS] = std::array::from_fn(|m| lambda.powi(m as i32 + 1));
            same_terms(
                &series.evaluate(&powers),
                &Terms::of_cell(lambda, pi, 0.0),
                1e-11,
            );
        }
    }
}

#[test]
fn the_nested_pass_gives_the_margins_and_sums_of_all_cells() {
    for (seed, terms) in [
        (1, Model::pairs(5)),
        (2, vec![vec![0, 1, 2], vec![2, 3], vec![1, 4]]),
        (3, vec![vec![0, 3, 4], vec![1, 2, 4], vec![0, 1]]),
        (4, Vec::new()),
    ] {
        let cells = cells_of(&[2, 3, 3, 4, 5], 120, seed);
        let sample = sample_of(&cells, 0.1);
        let fitted = fit(&sample, &terms);
        let all = full_table(&fitted);
        let nested = Nested::new(&fitted.model);
        let monitor = Monitor::new();
        let margins = nested.margins(&fitted.u, &monitor).unwrap();
        for (m, t) in margins
            .iter()
            .zip(fitted.model.margins(&cells, |c| sample.values[c]))
        {
            assert!((m - t).abs() < 1e-6 * t.max(1.0));
        }
        let mut wanted = Terms::default();
        all.iter()
            .filter(|x| **x > 0.0)
            .for_each(|x| wanted.add(&Terms::of_cell(x / 0.1, 0.1, 0.0)));
        same_terms(
            &nested
                .cells(&fitted.u, 10.0, 0.1, &monitor)
                .unwrap()
                .terms(),
            &wanted,
            1e-10,
        );
        // Sums by branch and bound, to compare.
        let tree = Tree::new(&fitted.model);
        let tables = Tables::new(&fitted.model, &tree);
        let of = tables.conditionals(&fitted.u);
        same_terms(
            &tables.cells(&of, 10.0, 0.1, &monitor).unwrap().terms(),
            &wanted,
            1e-10,
        );
        for (a, b) in tables.margins(&fitted.u).iter().zip(&margins) {
            assert!((a - b).abs() < 1e-9 * b.max(1.0));
        }
    }
}

#[test]
fn blocks_change_nothing() {
    // Large enough for several blocks.
    let cells = cells_of(&[3, 4, 5, 6, 7, 9], 500, 9);
    let sample = sample_of(&cells, 0.1);
    let fitted = fit(&sample, &Model::pairs(6));
    assert_eq!(fitted.method, Method::Nested);
    let monitor = Monitor::new();
    let all = full_table(&fitted);
    let nested = Nested::new(&fitted.model);
    let mut wanted = Terms::default();
    all.iter()
        .filter(|x| **x > 0.0)
        .for_each(|x| wanted.add(&Terms::of_cell(x / 0.1, 0.1, 0.0)));
    same_terms(
        &nested
            .cells(&fitted.u, 10.0, 0.1, &monitor)
            .unwrap()
            .terms(),
        &wanted,
        1e-10,
    );
    let total: f64 = all.iter().sum();
    assert!(close(total, 500.0, 1e-8));
}

#[test]
fn ways_to_fit_agree() {
    let cells = cells_of(&[3, 3, 4, 4, 5], 400, 5);
    let sample = sample_of(&cells, 0.1);
    // A cycle: not decomposable.
    let cycle = [vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0], vec![4]];
    let model = Model::new(cells.sizes(), &cycle).unwrap();
    let tree = Tree::new(&model);
    assert!(!tree.decomposable);
    let by_nested = fit(&sample, &cycle);
    let tables = Tables::new(&model, &tree);
    let margins = tables.margins(&by_nested.u);
    for (m, t) in margins
        .iter()
        .zip(model.margins(&cells, |c| sample.values[c]))
    {
        assert!((m - t).abs() < 1e-6 * t.max(1.0));
    }
    // A chain has a closed form; iterations find the same.
    let chain = [vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 4]];
    let closed = fit(&sample, &chain);
    assert_eq!(closed.method, Method::Closed);
    let lambda = closed.expected(&sample, &Monitor::new()).unwrap().lambda;
    let target = closed.model.margins(&cells, |c| sample.values[c]);
    let got = Nested::new(&closed.model)
        .margins(&closed.u, &Monitor::new())
        .unwrap();
    assert!(got
        .iter()
        .zip(&target)
        .all(|(a, b)| (a - b).abs() < 1e-9 * b.max(1.0)));
    assert!(lambda.iter().all(|l| *l > 0.0));
}

#[test]
fn structure_is_recognised() {
    let of = |sizes: &[usize], terms: &[Vec<usize>]| {
        let model = Model::new(sizes, terms).unwrap();
        let tree = Tree::new(&model);
        let method = choose(&model, &tree, 1e6);
        (tree, method)
    };
    let sizes = vec![20; 8];
    let (tree, method) = of(&sizes, &[]);
    assert!(tree.decomposable && tree.cliques.len() == 8);
    assert_eq!(method.unwrap(), Method::Closed);
    let (tree, method) = of(&sizes, &[vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0]]);
    assert!(!tree.decomposable);
    assert_eq!(method.unwrap(), Method::Tree);
    let (tree, _) = of(&sizes, &[vec![0, 1, 2], vec![1, 2, 3], vec![3, 4]]);
    assert!(tree.decomposable);
    // Three pairs are less than their clique.
    let (tree, _) = of(&sizes, &[vec![0, 1], vec![1, 2], vec![0, 2]]);
    assert!(!tree.decomposable);
    let (_, method) = of(&sizes, &Model::pairs(8));
    assert_eq!(method.map_err(|e| e.kind()), Err("too_large"));
    assert!(Model::new(&[2, 2], &[vec![0, 5]]).is_err());
    assert!(Model::new(&[100_000, 100_000], &[vec![0, 1]]).is_err());
}

#[test]
fn sums_are_exact_on_a_table_nobody_could_store() {
    // 10^12 cells; the expected number of records is the number of records.
    let cells = cells_of(&[10; 12], 300, 11);
    let sample = Sample::new(&cells, 0.001, Fractions::Overall, 1e6);
    let fitted = fit(&sample, &[]);
    let expected = fitted.expected(&sample, &Monitor::new()).unwrap();
    let terms = fitted.terms(&sample, &expected, &Monitor::new()).unwrap();
    assert!(terms.uniques > 250.0 && terms.uniques < 300.0);
    assert!(terms.v[1] > 0.0 && terms.v[1].is_finite());
}

/// All cells of a raked fit as empty ones, by definition.
fn raked_by_definition(fitted: &Fitted, scale: f64) -> Terms {
    let sizes = fitted.model.sizes();
    let effects = fitted.effects.as_ref().unwrap();
    let all = full_table(fitted);
    let mut wanted = Terms::default();
    for_each_cell(sizes, &vec![0; sizes.len()], |cell, _| {
        let mut rest = cell;
        let mut codes = vec![0u32; sizes.len()];
        for v in (0..sizes.len()).rev() {
            codes[v] = (rest % sizes[v]) as u32;
            rest /= sizes[v];
        }
        let mu = all[cell];
        if mu > 0.0 {
            let lambda = (mu * scale * effect_at(effects, &codes)).max(mu);
            wanted.add(&Terms::of_cell(lambda, mu / lambda, 0.0));
        }
    });
    wanted
}

#[test]
fn raked_fits_have_the_weighted_margins_and_the_sums_of_all_cells() {
    for (seed, pi, terms) in [
        (1, 0.1, Model::pairs(5)),
        (2, 0.02, vec![vec![0, 1, 2], vec![2, 3], vec![1, 4]]),
        // Some cells have more records than people: nobody is left there.
        (3, 0.9, vec![vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 0]]),
        (4, 0.1, Vec::new()),
        (5, 0.7, vec![vec![0, 4], vec![1, 4]]),
    ] {
        let cells = cells_of(&[2, 3, 3, 4, 5], 120, seed);
        let sample = Sample::new(&cells, pi, Fractions::Raked, 1e9);
        let fitted = fit(&sample, &terms);
        let effects = fitted.effects.as_ref().unwrap();
        // The counts' margins before raking, the weights' after it.
        let monitor = Monitor::new();
        let nested = Nested::new(&fitted.model);
        let plain = nested.margins(&fitted.u, &monitor).unwrap();
        let counts = fitted.model.margins(&cells, |c| cells.counts()[c]);
        for (m, t) in plain.iter().zip(counts) {
            assert!((m - t).abs() < 1e-6 * t.max(1.0));
        }
        let mut u = fitted.u.clone();
        multiply_in(&fitted.model, &mut u, effects);
        let mut raked = fitted.clone();
        raked.u = u;
        let weights: f64 = cells.weights().iter().sum();
        let mut found: Vec<Vec<f64>> = cells.sizes().iter().map(|&s| vec![0.0; s]).collect();
        let strides: Vec<Vec<usize>> = (0..5)
            .map(|v| (0..5).map(|w| usize::from(v == w)).collect())
            .collect();
        let table = full_table(&raked);
        for (v, stride) in strides.iter().enumerate() {
            for_each_cell(cells.sizes(), stride, |i, t| found[v][t] += table[i]);
        }
        let target = one_way(&cells, |c| cells.weights()[c] * 120.0 / weights);
        for (m, t) in found.concat().iter().zip(target.concat()) {
            assert!(close(*m, t, 1e-7), "{seed} {m} {t}");
        }
        let wanted = raked_by_definition(&fitted, 1.0 / pi);
        let by_nested = nested
            .raked_terms(&fitted.u, 1.0 / pi, effects, &monitor)
            .unwrap();
        same_terms(&by_nested, &wanted, 1e-11);
        let tree = Tree::new(&fitted.model);
        let tables = Tables::new(&fitted.model, &tree);
        let of = tables.conditionals(&fitted.u);
        let on_tree = tables
            .raked_terms(&of, 1.0 / pi, effects, &monitor)
            .unwrap();
        same_terms(&on_tree, &wanted, 1e-8);
    }
}

#[test]
fn raked_sums_need_no_table() {
    // Rare levels: nearly all cells go into the series. Of 20,000 cells all
    // can be visited.
    let cells = cells_of(&[10, 10, 10, 20], 60, 12);
    let sample = Sample::new(&cells, 0.2, Fractions::Raked, 1e9);
    let fitted = fit(&sample, &[]);
    let tree = Tree::new(&fitted.model);
    let tables = Tables::new(&fitted.model, &tree);
    let of = tables.conditionals(&fitted.u);
    let effects = fitted.effects.as_ref().unwrap();
    let on_tree = tables
        .raked_terms(&of, 5.0, effects, &Monitor::new())
        .unwrap();
    same_terms(&on_tree, &raked_by_definition(&fitted, 5.0), 1e-8);
    // 10^12 cells.
    let cells = cells_of(&[10; 12], 300, 11);
    let sample = Sample::new(&cells, 0.001, Fractions::Raked, 1e6);
    let fitted = fit(&sample, &[]);
    let expected = fitted.expected(&sample, &Monitor::new()).unwrap();
    let terms = fitted.terms(&sample, &expected, &Monitor::new()).unwrap();
    assert!(terms.uniques > 250.0 && terms.uniques < 300.0);
    assert!(terms.v[1] > 0.0 && terms.v[1].is_finite());
}

#[test]
fn equal_weights_make_raked_fractions_the_overall_one() {
    let (rows, _) = random_rows(&[3, 4, 5], 90, 6);
    let weights = vec![10.0; 90];
    let (cells, _) = Cells::new(
        &table(&[3, 4, 5], &rows),
        Weights::new(&weights, weights.len()).ok(),
        &Monitor::new(),
    )
    .unwrap();
    let run = |fractions| {
        let ask = request(Choice::TwoWay, fractions, Some(1.96));
        analyse(&cells, &ask, &Monitor::new()).unwrap()
    };
    let overall = run(Fractions::Overall);
    for other in [Fractions::Raked, Fractions::Cell] {
        let found = run(other);
        assert_eq!(found.lambda, overall.lambda);
        assert_eq!(
            found.measures.tau.map(f64::to_bits),
            overall.measures.tau.map(f64::to_bits)
        );
        // The last digits of sums depend on the compiler.
        let numbers = |spread: &Option<Spread>| {
            let s = spread.as_ref().unwrap();
            [
                s.se,
                s.corrected,
                s.corrected_se,
                s.low,
                s.high,
                s.z.map(Option::unwrap),
            ]
            .concat()
        };
        for (a, b) in numbers(&found.spread)
            .into_iter()
            .zip(numbers(&overall.spread))
        {
            assert!(close(a, b, 1e-14), "{a} and {b}");
        }
    }
}

#[test]
fn the_correction_follows_its_formula() {
    let found = correct(42.6, -11.1, 5.6 * 5.6, 5.3, 1000.0, 1.96);
    let near = |a: f64, b: f64| (a - b).abs() < 5e-5;
    assert!(near(found.tau, 51.447_97), "{found:?}");
    assert!(
        near(found.low, 37.4454) && near(found.high, 67.6701),
        "{found:?}"
    );
    assert!(close(found.se, f64::hypot(5.3, 5.6), 1e-12));
    // An estimate that is 0 for certain.
    let none = correct(0.0, 0.0, 0.0, 0.0, 879.0, 1.96);
    assert!(none.tau <= 0.0 && none.low <= 0.0 && none.high <= 0.0);
    let tiny = correct(1e-40, 0.0, 0.0, 1e-20, 879.0, 1.96);
    assert!(tiny.low <= 0.0 && tiny.high < 1e-19, "{tiny:?}");
    // A criterion that is nothing but noise does not swamp a small estimate.
    let small = correct(0.5, 0.6, 5.0, 0.13, 52.0, 1.96);
    assert!(
        near(small.tau, 0.459_70) && near(small.se, 0.643_27) && near(small.high, 2.585_02),
        "{small:?}"
    );
    let wild = correct(0.5, -60.0, 100.0, 0.13, 52.0, 1.96);
    assert!(close(wild.tau, 0.5 + 0.63, 1e-12), "{wild:?}");
    // The bounds hold, the estimate is inside, and ends move without jumps.
    let mut last: Option<f64> = None;
    for i in 0..4000 {
        let tau = 1e-3 * f64::from(i);
        let x = correct(tau, 0.5, 1.0, 0.8, 3.0, 1.96);
        assert!(0.0 <= x.low && x.low <= x.tau && x.tau <= x.high && x.high <= 3.0);
        assert!(last.is_none_or(|l: f64| (x.high - l).abs() < 0.15));
        last = Some(x.high);
    }
}

#[test]
fn threads_change_nothing() {
    let cells = cells_of(&[3, 4, 5, 6], 200, 21);
    for fractions in [Fractions::Overall, Fractions::Cell, Fractions::Raked] {
        for choice in [Choice::Independence, Choice::TwoWay, Choice::Search] {
            let ask = request(choice, fractions, Some(1.96));
            let run = |threads: usize| {
                crate::parallel::with_threads(threads, || analyse(&cells, &ask, &Monitor::new()))
                    .unwrap()
            };
            let (one, three) = (run(1), run(3));
            assert_eq!(one.spread, three.spread);
            assert_eq!(one.measures, three.measures);
            let spread = one.spread.unwrap();
            for i in 0..2 {
                assert!(spread.low[i] <= spread.corrected[i]);
                assert!(spread.corrected[i] <= spread.high[i]);
            }
        }
    }
}

#[test]
fn the_search_reports_its_path_and_stops_at_the_best() {
    let cells = cells_of(&[3, 4, 5, 6], 300, 4);
    let found = analyse(
        &cells,
        &request(Choice::Search, Fractions::Overall, None),
        &Monitor::new(),
    )
    .unwrap();
    let z: Vec<f64> = found
        .path
        .iter()
        .map(|s| s.measures.z[1].unwrap().abs())
        .collect();
    let kept: Vec<bool> = found.path.iter().map(|s| s.kept).collect();
    for i in 1..z.len() {
        assert_eq!(kept[i], z[i] < z[i - 1]);
    }
    let best = z.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(close(found.measures.z[1].unwrap().abs(), best, 1e-6));
}

#[test]
fn a_cancelled_analysis_is_interrupted() {
    let cells = cells_of(&[3, 4, 5, 6], 100, 4);
    let monitor = Monitor::new();
    monitor.cancel();
    for choice in [Choice::TwoWay, Choice::Search] {
        let outcome = analyse(
            &cells,
            &request(choice, Fractions::Raked, Some(1.96)),
            &monitor,
        );
        assert_eq!(
            outcome.map(|_| ()).map_err(|e| e.kind()),
            Err("interrupted")
        );
    }
}

#[test]
fn sums_over_all_cells_are_interrupted_however_few_their_nodes() {
    let cells = cells_of(&[10, 10, 10, 20], 60, 12);
    let sample = Sample::new(&cells, 0.2, Fractions::Raked, 1e9);
    let fitted = fit(&sample, &[]);
    let tree = Tree::new(&fitted.model);
    let tables = Tables::new(&fitted.model, &tree);
    let of = tables.conditionals(&fitted.u);
    let effects = fitted.effects.as_ref().unwrap();
    let monitor = Monitor::new();
    monitor.cancel();
    let raked = tables.raked_terms(&of, 5.0, effects, &monitor).map(|_| ());
    assert_eq!(raked.unwrap_err().kind(), "interrupted");
    let empty = tables.cells(&of, 5.0, 0.2, &monitor).map(|_| ());
    assert_eq!(empty.unwrap_err().kind(), "interrupted");
}

#[test]
fn a_census_identifies_its_uniques_for_certain() {
    let cells = cells_of(&[3, 4, 5], 40, 8);
    let mut request = request(Choice::TwoWay, Fractions::Raked, Some(1.96));
    request.fraction = SamplingFraction::new(1.0).ok();
    let found = analyse(&cells, &request, &Monitor::new()).unwrap();
    assert!(close(found.measures.tau[0], found.n_unique as f64, 1e-12));
    let spread = found.spread.unwrap();
    assert!(spread.se[0] <= 0.0 && close(spread.low[1], spread.high[1], 0.0));
}

#[test]
fn terms_of_huge_expected_counts_are_numbers() {
    for lambda in [1e9, 1e200, 1e302] {
        let terms = Terms::of_cell(lambda, 1e-300, 1.0);
        for x in terms.b.iter().chain(&terms.v).chain(&terms.b_squared) {
            assert!(x.is_finite(), "{lambda} {terms:?}");
        }
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(24))]

    #[test]
    fn laws(
        sizes in proptest::collection::vec(1u32..5, 2..5),
        n in 3usize..80,
        seed in 0u32..1000,
        two_way in any::<bool>(),
    ) {
        let (rows, weights) = random_rows(&sizes, n, seed);
        let choice = if two_way { Choice::TwoWay } else { Choice::Independence };
        let fractions = if seed % 2 == 0 { Fractions::Raked } else { Fractions::Overall };
        let ask = request(choice, fractions, None);
        let run = |rows: &[Vec<u32>], weights: &[f64], sizes: &[u32]| {
            let (cells, _) =
                Cells::new(&table(sizes, rows), Weights::new(weights, weights.len()).ok(), &Monitor::new()).unwrap();
            analyse(&cells, &ask, &Monitor::new()).unwrap()
        };
        let found = run(&rows, &weights, &sizes);
        let [tau1, tau2] = found.measures.tau;
        prop_assert!(tau1 >= 0.0 && tau1 <= tau2 + 1e-12);
        prop_assert!(tau2 <= found.n_unique as f64 + 1e-12);
        // Records in another order, levels under other names, keys in another
        // order: the same risk.
        let reversed: Vec<Vec<u32>> = rows
            .iter()
            .rev()
            .map(|r| r.iter().zip(&sizes).rev().map(|(c, k)| k + 1 - c).collect())
            .collect();
        let weights: Vec<f64> = weights.into_iter().rev().collect();
        let sizes: Vec<u32> = sizes.into_iter().rev().collect();
        let again = run(&reversed, &weights, &sizes);
        prop_assert_eq!(found.n_unique, again.n_unique);
        for i in 0..2 {
            let (a, b) = (found.measures.tau[i], again.measures.tau[i]);
            // Both fits are as good as their reports say, on the boundary too.
            let rough = found.report.deviation.max(again.report.deviation);
            let bound = f64::max(1e-7, (2.0 * rough).min(rough.max(1e-5)));
            prop_assert!((a - b).abs() <= bound * (1.0 + a), "{} {} {}", a, b, rough);
        }
    }
}

/// Sparse tables on most of which the maximum lies at infinity: fits creep
/// towards it and are taken for what they are worth; none fails or runs away.
/// If no cell vanishes the maximum is inside, and the fit must reach it.
#[test]
fn fits_on_the_boundary_end() {
    let (mut inside, mut good) = (0, 0);
    for seed in 0..160u32 {
        let mut rng = streams(seed).block(7);
        let keys = 3 + seed as usize % 5;
        let sizes: Vec<u32> = (0..keys).map(|_| rng.random_range(2..6)).collect();
        let n = rng.random_range(12..60);
        let (rows, mut weights) = random_rows(&sizes, n, seed);
        if seed % 2 == 1 {
            // Weights over four orders of magnitude.
            weights.iter_mut().for_each(|w| *w = (*w - 1.0).powi(4));
        }
        let (cells, _) = Cells::new(
            &table(&sizes, &rows),
            Weights::new(&weights, weights.len()).ok(),
            &Monitor::new(),
        )
        .unwrap();
        let sample = sample_of(&cells, 0.1);
        let fitted = fit(&sample, &Model::pairs(cells.sizes().len()));
        let deviation = fitted.report.deviation;
        let all = full_table(&fitted);
        // Cells on zero margins are 0 and belong to no maximum.
        let real = all.iter().copied().filter(|&x| x > 0.0);
        if real.fold(f64::INFINITY, f64::min) > 1e-5 {
            inside += 1;
            assert!(
                deviation <= optimise::CONVERGED,
                "{seed} {:?}",
                fitted.report
            );
        }
        good += u32::from(deviation <= 1e-5);
        assert!(deviation < 0.3, "{seed} {:?}", fitted.report);
        let total: f64 = all.iter().sum();
        assert!((total / n as f64 - 1.0).abs() < 0.02, "{seed} {total} {n}");
    }
    assert!(inside >= 10 && good >= 120, "{inside} {good}");
}
