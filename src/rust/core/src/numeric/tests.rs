use proptest::prelude::*;
use rand::Rng;

use super::{cost_of, learn_scales, mdav, nearest, optimal_groups, Dim, Metric, Points, Shape};
use crate::parallel::{with_threads, Monitor};
use crate::random::{Seed, Streams};

fn points(columns: &[Vec<f64>]) -> Points {
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    Points::from_columns(&columns).unwrap()
}

/// Whole numbers from a small range, so that there are ties, and missing values.
fn column(n: usize) -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        6 => (0..8i32).prop_map(|x| f64::from(x) / 2.0),
        1 => Just(f64::NAN)
    ];
    prop::collection::vec(value, n)
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Square),
        Just(Shape::Absolute),
        Just(Shape::Differ(1.5)),
        // Costs of any difference, and of some that are hard to meet.
        Just(Shape::Steps {
            edges: vec![0.0, 0.5, 0.5, 1.5],
            costs: vec![0.0, 1.0, 1.0, 2.0, 4.0]
        })
    ]
}

fn files() -> impl Strategy<Value = (Points, Points, Metric)> {
    (1usize..5, 1usize..60, 1usize..20).prop_flat_map(|(d, n, m)| {
        let known = prop::collection::vec(column(n), d);
        let released = prop::collection::vec(column(m), d);
        let metric = prop::collection::vec(shape(), d);
        (known, released, metric).prop_map(|(known, released, shapes)| {
            let dim = |shape| Dim::new(shape, 2.0).unwrap();
            (
                points(&known),
                points(&released),
                shapes.into_iter().map(dim).collect(),
            )
        })
    })
}

proptest! {
    #[test]
    fn the_nearest_are_those_of_all_pairs((known, released, metric) in files()) {
        let partners: Vec<Option<usize>> =
            (0..released.len()).map(|i| (i < known.len()).then_some(i)).collect();
        let ask = || nearest(&known, &released, &metric, Some(&partners), &Monitor::new());
        let found = ask().unwrap();
        let again = with_threads(3, ask).unwrap();
        prop_assert_eq!(&found, &again);
        for (i, partner) in partners.iter().enumerate() {
            let mut costs: Vec<f64> = (0..known.len())
                .map(|j| cost_of(&metric, known.row(j), released.row(i)))
                .collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let n = costs.iter().filter(|&&c| c <= least + 1e-12).count();
            prop_assert!((found.first[i] - least).abs() < 1e-12);
            prop_assert_eq!(found.n_best[i], n as u64);
            if let Some(j) = *partner {
                prop_assert_eq!(found.true_in_best[i], costs[j] <= least + 1e-12);
            }
            costs.sort_unstable_by(f64::total_cmp);
            let second = costs.get(1).copied().unwrap_or(f64::INFINITY);
            let infinite = second.is_infinite() && found.second[i].is_infinite();
            prop_assert!(infinite || (found.second[i] - second).abs() < 1e-12);
        }
    }

    #[test]
    fn mdav_makes_groups_of_k_and_more(
        columns in prop::collection::vec(prop::collection::vec(0..6i32, 30), 1..4), k in 1usize..9,
    ) {
        let columns: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| column.iter().map(|&x| f64::from(x)).collect())
            .collect();
        let points = points(&columns);
        let groups = mdav(&points, k, &Monitor::new()).unwrap();
        prop_assert_eq!(&groups, &slow_mdav(&points, k));
        let most = groups.iter().max().map_or(0, |&g| g as usize + 1);
        for group in 0..most {
            let size = groups.iter().filter(|&&g| g as usize == group).count();
            prop_assert!(size >= k && size < 2 * k);
        }
    }

    #[test]
    fn the_optimum_is_that_of_all_partitions(
        values in prop::collection::vec((0..20i32, 1..4i32), 2..13), k in 1usize..4,
    ) {
        prop_assume!(values.len() >= k);
        let mut values = values;
        values.sort_unstable();
        let x: Vec<f64> = values.iter().map(|v| f64::from(v.0)).collect();
        let w: Vec<f64> = values.iter().map(|v| f64::from(v.1)).collect();
        let ends = optimal_groups(&x, &w, k, &Monitor::new()).unwrap();
        let cost = |ends: &[usize]| -> f64 {
            let starts = std::iter::once(&0).chain(ends);
            starts.zip(ends).map(|(&from, &to)| squares(&x[from..to], &w[from..to])).sum()
        };
        // Every set of ends, as bits.
        let n = x.len();
        let least = (0..1u32 << (n - 1))
            .map(|bits| {
                let mut ends: Vec<usize> = (1..n).filter(|i| bits >> (i - 1) & 1 == 1).collect();
                ends.push(n);
                ends
            })
            .filter(|ends| {
                let starts = std::iter::once(&0).chain(ends.iter());
                starts.zip(ends).all(|(from, to)| to - from >= k)
            })
            .map(|ends| cost(&ends))
            .fold(f64::INFINITY, f64::min);
        prop_assert!((cost(&ends) - least).abs() < 1e-9);
    }
}

fn squares(x: &[f64], w: &[f64]) -> f64 {
    let total: f64 = w.iter().sum();
    let mean = x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() / total;
    x.iter().zip(w).map(|(x, w)| w * (x - mean).powi(2)).sum()
}

#[test]
fn the_nearest_of_many_records_are_those_of_all_pairs() {
    let mut rng = Streams::new(Seed::from_draws([7; 8])).block(0);
    let mut draw = || f64::from(rng.next_u32()) / 4_294_967_296.0;
    // Costs that jump at any difference, and rise like its logarithm; of one level; of most.
    let edges: Vec<f64> = (0..30).map(|i| 1e-3 * 1.4_f64.powi(i)).collect();
    let many = Shape::Steps {
        edges: [&[0.0], edges.as_slice()].concat(),
        costs: [0.0]
            .into_iter()
            .chain((0..31).map(|i| 5.0 + f64::from(i) * 0.17))
            .collect(),
    };
    let one = Shape::Steps {
        edges: Vec::new(),
        costs: vec![1.25],
    };
    let jump = Shape::Steps {
        edges: vec![-0.0],
        costs: vec![0.0, 0.1],
    };
    let square = || Shape::Square;
    for (n, m, digits, share_missing, shapes) in [
        (
            900,
            60,
            1e9,
            0.0,
            vec![many.clone(), many.clone(), many.clone()],
        ),
        (
            700,
            60,
            4.0,
            0.1,
            vec![many.clone(), jump.clone(), many.clone()],
        ),
        (530, 40, 40.0, 0.5, vec![square(), many, Shape::Differ(0.3)]),
        (600, 40, 10.0, 0.0, vec![one.clone(), jump, square()]),
        (600, 20, 1e9, 0.2, vec![one.clone(), one]),
        (590, 60, 1e9, 0.0, vec![square(), Shape::Absolute]),
    ] {
        let mut columns = |n: usize| -> Vec<Vec<f64>> {
            let mut value = || {
                let x = (-(1.0 - draw()).ln() * digits).round() / digits;
                if draw() < share_missing {
                    f64::NAN
                } else {
                    x
                }
            };
            (0..shapes.len())
                .map(|_| (0..n).map(|_| value()).collect())
                .collect()
        };
        let (known, released) = (points(&columns(n)), points(&columns(m)));
        let metric: Metric = shapes
            .into_iter()
            .map(|shape| Dim::new(shape, 0.7).unwrap())
            .collect();
        let found = nearest(&known, &released, &metric, None, &Monitor::new()).unwrap();
        for i in 0..m {
            let mut costs: Vec<f64> = (0..n)
                .map(|j| slow_cost(&metric, known.row(j), released.row(i)))
                .collect();
            costs.sort_unstable_by(f64::total_cmp);
            let n_best = costs.partition_point(|&cost| cost <= costs[0] * (1.0 + 1e-9) + 1e-24);
            let second = costs[usize::from(n_best == 1)];
            // To the last bit.
            assert_eq!(found.first[i].to_bits(), costs[0].to_bits());
            assert_eq!(found.second[i].to_bits(), second.to_bits());
            assert_eq!(found.n_best[i], n_best as u64);
        }
    }
}

/// As in the definition.
fn slow_cost(metric: &Metric, x: &[f64], y: &[f64]) -> f64 {
    let pairs = metric.iter().zip(x.iter().zip(y));
    pairs.fold(0.0, |sum, (dim, (x, y))| {
        let gap = (x - y).abs();
        sum + match &dim.shape {
            _ if gap.is_nan() => dim.missing,
            Shape::Square => gap * gap,
            Shape::Absolute => gap,
            Shape::Differ(cost) => cost * f64::from(u8::from(gap > 0.0)),
            Shape::Steps { edges, costs } => costs[edges.iter().filter(|&&e| e < gap).count()],
        }
    })
}

#[test]
fn mdav_of_many_records_is_that_on_paper() {
    let mut rng = Streams::new(Seed::from_draws([5; 8])).block(0);
    let mut draw = || f64::from(rng.next_u32()) / 4_294_967_296.0;
    for (n, k, digits) in [(900, 3, 1e9), (1200, 5, 4.0), (700, 2, 40.0)] {
        // Skewed, so that the mean moves; with few digits many are equal.
        let mut column = || -> Vec<f64> {
            let skewed = (0..n).map(|_| -(1.0 - draw()).ln());
            skewed.map(|x| (x * digits).round() / digits).collect()
        };
        let points = points(&[column(), column(), column()]);
        let found = mdav(&points, k, &Monitor::new()).unwrap();
        assert_eq!(found, slow_mdav(&points, k));
    }
}

/// As on paper.
fn slow_mdav(points: &Points, k: usize) -> Vec<u32> {
    let n = points.len();
    let d = points.row(0).len();
    let mut left: Vec<usize> = (0..n).collect();
    let mut sums = vec![0.0; d];
    for &row in &left {
        for (sum, x) in sums.iter_mut().zip(points.row(row)) {
            *sum += x;
        }
    }
    let mut groups = vec![0; n];
    let mut group = 0;
    let distance = |row: usize, from: &[f64]| -> f64 {
        points
            .row(row)
            .iter()
            .zip(from)
            .map(|(x, y)| (x - y) * (x - y))
            .sum()
    };
    let farthest = |left: &[usize], from: &[f64]| -> usize {
        let mut best = left[0];
        for &row in left {
            if distance(row, from) > distance(best, from) {
                best = row;
            }
        }
        best
    };
    while left.len() >= 2 * k {
        let mean: Vec<f64> = sums.iter().map(|sum| sum / left.len() as f64).collect();
        let one = farthest(&left, &mean);
        let mut centres = vec![one];
        if left.len() >= 3 * k {
            centres.push(farthest(&left, points.row(one)));
        }
        for centre in centres {
            let mut near = left.clone();
            let from = points.row(centre);
            near.sort_by(|&a, &b| {
                distance(a, from)
                    .total_cmp(&distance(b, from))
                    .then(a.cmp(&b))
            });
            for &row in &near[..k] {
                groups[row] = group;
                left.retain(|&other| other != row);
                for (sum, x) in sums.iter_mut().zip(points.row(row)) {
                    *sum -= x;
                }
            }
            group += 1;
        }
    }
    for row in left {
        groups[row] = group;
    }
    groups
}

#[test]
fn scales_are_those_of_the_changes() {
    let n = 400;
    let known: Vec<f64> = (0..n).map(f64::from).collect();
    // Changes of 0.2 up and down; another variable of nobody.
    let change = |i: i32| if i % 2 == 0 { 0.2 } else { -0.2 };
    let released: Vec<f64> = (0..n).map(|i| f64::from(i) + change(i)).collect();
    let known = points(&[known]);
    let released = points(&[released]);
    let found = learn_scales(&known, &released, &[0.5], 1e-6, 500, &Monitor::new()).unwrap();
    assert!((found[0] - 0.2).abs() < 0.01, "{found:?}");
}

#[test]
fn bad_input_is_an_error() {
    let column = [1.0, f64::INFINITY];
    assert_eq!(
        Points::from_columns(&[&column]).unwrap_err().kind(),
        "bad_column"
    );
    assert!(Points::from_columns(&[]).is_err());
    let falling = Shape::Steps {
        edges: vec![1.0],
        costs: vec![1.0, 0.0],
    };
    assert!(Dim::new(falling, 0.0).is_err());
    assert!(mdav(&points(&[vec![1.0]]), 2, &Monitor::new()).is_err());
    assert!(optimal_groups(&[1.0], &[1.0], 2, &Monitor::new()).is_err());
}
