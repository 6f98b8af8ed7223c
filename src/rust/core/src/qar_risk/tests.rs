//! Counting against brute force, the tail against hand-worked values.

use proptest::prelude::*;
use std::collections::HashMap;

use super::*;
use crate::key_table::{Codes, Column};
use crate::parallel::with_threads;

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

fn probability(x: f64) -> Probability {
    Probability::new(x, "x").unwrap()
}

fn settings(pi_u: f64, pwm: Pwm, theta_one: ThetaOne) -> TailSettings {
    TailSettings {
        alpha: vec![probability(0.01), probability(pi_u)],
        pi_u: probability(pi_u),
        pwm,
        theta_one,
    }
}

/// Classes of every set by hashing whole keys.
fn brute(columns: &[Vec<u32>], multiplicity: Option<&[u64]>, p: usize) -> SetCounts {
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    let mut counts = SetCounts::default();
    for set in sets.members().chunks(p) {
        let mut classes: HashMap<Vec<u32>, u64> = HashMap::new();
        for row in 0..columns[0].len() {
            let key = set.iter().map(|&v| columns[usize::from(v)][row]).collect();
            *classes.entry(key).or_default() += multiplicity.map_or(1, |m| m[row]);
        }
        let with = |n: u64| classes.values().filter(|&&c| c == n).count() as u32;
        counts.distinct.push(classes.len() as u32);
        counts.unique.push(with(1));
        counts.pairs.push(with(2));
    }
    counts
}

fn count(table: &KeyTable, p: usize) -> SetCounts {
    let sets = KeySets::new(table.columns().len(), p, 100_000).unwrap();
    partition::count_sets(table, sets, &Monitor::new()).unwrap()
}

fn columns() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..6, 1usize..30, 0u32..6).prop_flat_map(|(v, n, k)| {
        prop::collection::vec(prop::collection::vec(0..=k, n..=n), v..=v)
    })
}

proptest! {
    #[test]
    fn partitions_count_like_brute_force(columns in columns(), p in 1usize..5) {
        prop_assume!(p <= columns.len());
        prop_assert_eq!(count(&table(&columns), p), brute(&columns, None, p));
    }

    #[test]
    fn bits_count_like_brute_force(columns in columns(), p in 1usize..5) {
        prop_assume!(p <= columns.len());
        let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
        let counts = planes::count_sets(&table(&columns), sets, &Monitor::new()).unwrap();
        prop_assert_eq!(counts, brute(&columns, None, p));
    }

    #[test]
    fn multiplicities_count_like_repeated_rows(columns in columns(), seed in 0u64..1000, p in 1usize..4) {
        prop_assume!(p <= columns.len());
        let n = columns[0].len();
        let times: Vec<u64> = (0..n as u64).map(|i| (i * 7 + seed) % 3 + 1).collect();
        let rows = table(&columns).with_multiplicity(times.clone()).unwrap();
        prop_assert_eq!(count(&rows, p), brute(&columns, Some(&times), p));
        let repeated: Vec<Vec<u32>> = columns
            .iter()
            .map(|c| c.iter().zip(&times).flat_map(|(&x, &t)| vec![x; t as usize]).collect())
            .collect();
        prop_assert_eq!(count(&rows, p), count(&table(&repeated), p));
    }

    #[test]
    fn order_of_records_and_names_of_levels_change_nothing(columns in columns(), by in 1u32..5) {
        let reordered: Vec<Vec<u32>> = columns
            .iter()
            .map(|c| c.iter().rev().map(|&x| (x + by) % 6).collect())
            .collect();
        for p in 1..=columns.len().min(3) {
            prop_assert_eq!(count(&table(&columns), p), count(&table(&reordered), p));
        }
    }

    #[test]
    fn a_larger_key_set_never_has_fewer_classes(columns in columns()) {
        prop_assume!(columns.len() >= 2);
        let all = count(&table(&columns), columns.len()).distinct[0];
        let singles = count(&table(&columns), 1);
        prop_assert!(singles.distinct.iter().all(|&h| h <= all));
        // Classes of 1, of 2 and of 3 or more records make up the file.
        let n = columns[0].len() as u32;
        for i in 0..columns.len() {
            let more = singles.distinct[i] - singles.unique[i] - singles.pairs[i];
            prop_assert!(singles.unique[i] + 2 * singles.pairs[i] + 3 * more <= n);
        }
    }

    #[test]
    fn the_threshold_and_the_risk_are_ordered(h in prop::collection::vec(1u32..50, 2..200)) {
        let mut falling = h.clone();
        falling.sort_unstable_by(|a, b| b.cmp(a));
        for pwm in [Pwm::Plotting, Pwm::Unbiased] {
            let found = estimate(
                falling.iter().copied(), h.len(), 60, &settings(0.1, pwm, ThetaOne::One),
            );
            let u = found[0].threshold.unwrap();
            // At alpha = pi_u the extreme risk is the threshold, exactly.
            prop_assert_eq!(found[1].risk.map(f64::to_bits), Some(u.to_bits()));
            prop_assert_eq!(
                found[0].n_exceedances,
                h.iter().filter(|&&x| f64::from(x) / 60.0 > u).count()
            );
            if let Some(risk) = found[0].risk {
                prop_assert!(risk >= u && risk <= 1.0, "{risk} {u}");
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let columns: Vec<Vec<u32>> = (1..9u32)
        .map(|v| {
            (0..500u32)
                .map(|i| i.wrapping_mul(v * 2_654_435) / 97 % (v + 1))
                .collect()
        })
        .collect();
    let t = table(&columns);
    for p in 1..=4 {
        let one = with_threads(1, || Ok(count(&t, p))).unwrap();
        assert_eq!(one, brute(&columns, None, p));
        for threads in [2, 7] {
            assert_eq!(one, with_threads(threads, || Ok(count(&t, p))).unwrap());
        }
    }
}

#[test]
fn identifying_sets_are_all_counted_with_their_variables() {
    // Column 0 identifies everyone, columns 1 and 2 do together.
    let columns = vec![
        (0..12).collect(),
        (0..12).map(|i| i / 4).collect(),
        (0..12).map(|i| i % 4).collect(),
        vec![1; 12],
    ];
    let at = settings(0.3, Pwm::Plotting, ThetaOne::One);
    let sets = KeySets::new(4, 2, 10).unwrap();
    let found = qar_risk(&table(&columns), sets, &at, &[], &Monitor::new()).unwrap();
    assert_eq!(found.identifying.n, 4);
    assert_eq!(found.identifying.containing, [3, 2, 2, 1]);
}

#[test]
fn a_cancelled_count_ends_with_its_own_error() {
    let t = table(&[vec![1, 2, 1], vec![1, 1, 2]]);
    let monitor = Monitor::new();
    monitor.cancel();
    let sets = KeySets::new(2, 2, 10).unwrap();
    let error = partition::count_sets(&t, sets, &monitor).unwrap_err();
    assert_eq!(error.kind(), "interrupted");
}

#[test]
fn the_quantile_is_definition_8() {
    // 816 sets, pi_u = 0.05: between order statistics 775 and 776, 0.85 of
    // the way (methods of the paper's own example).
    let at = Position::exceeded_by(816, probability(0.05));
    assert_eq!((at.lower, at.upper), (775, 776));
    assert!((at.weight - 0.85).abs() < 1e-9);
    assert_eq!(at.n_top(816), 42);
    // Positions beyond the sample are its ends.
    let end = Position::exceeded_by(3, probability(0.01));
    assert_eq!((end.lower, end.upper), (3, 3));
    let whole = Position::exceeded_by(1, probability(0.5));
    assert_eq!((whole.lower, whole.upper), (1, 1));
}

/// Shares a / b as users write them.
fn shares() -> impl Iterator<Item = (u64, u64)> {
    let grid = (1..100).map(|a| (a, 100));
    grid.chain([(1, 1000), (7, 1000), (125, 1000), (999, 1000), (1, 100_000)])
        .chain([(123_457, 1_000_000)])
}

#[test]
fn places_are_whole_where_they_are_whole_in_exact_arithmetic() {
    let mut n_whole = 0;
    for (a, b) in shares() {
        for n in 1..=5000u64 {
            // The place (n + 1/3) (1 - a/b) + 1/3 times 3 b, a whole number.
            let place = (3 * n + 1) * (b - a) + b;
            let (floor, rest) = (place / (3 * b), place % (3 * b));
            let exact = rest as f64 / (3 * b) as f64;
            let share = a as f64 / b as f64;
            for share in [share, 1.0 - (b - a) as f64 / b as f64, share * 3.0 / 3.0] {
                let at = Position::exceeded_by(n as usize, probability(share));
                assert_eq!(at.lower as u64, floor.clamp(1, n), "{n} {share}");
                assert_eq!(at.upper as u64, (floor + 1).clamp(1, n), "{n} {share}");
                assert_eq!(at.weight == 0.0, rest == 0, "{n} {share}");
                assert!((at.weight - exact).abs() < 1e-11, "{n} {share}");
            }
            n_whole += usize::from(rest == 0);
        }
    }
    assert_eq!(n_whole, 8725);
    // In very many sets as well: 0.05 (3 n + 1) - 2 = 3 * 4,999,999.
    let n = 99_999_993;
    let at = Position::exceeded_by(n, probability(0.05));
    assert_eq!((at.lower, at.weight), (n - 4_999_999, 0.0));
    let next = Position::exceeded_by(n + 1, probability(0.05));
    assert!((next.weight - 0.95).abs() < 1e-7, "{}", next.weight);
}

#[test]
fn a_threshold_that_is_a_risk_is_no_exceedance() {
    // Falling risks of which the one at the place, and ties with it, stay out.
    for (n, share, from_top) in [
        (153, 0.05, 7),
        (253, 0.05, 12),
        (153, 0.2, 30),
        (153, 0.35, 53),
        (153, 0.5, 76),
        (165, 0.5, 82),
        (55, 0.5, 27),
        (253, 0.5, 126),
    ] {
        for ties in [0, 1, 5] {
            let risk = |k: usize| {
                if k > from_top && k <= from_top + ties {
                    2000 - from_top as u32
                } else {
                    2000 - k as u32
                }
            };
            let falling: Vec<u32> = (0..n).map(risk).collect();
            let at = settings(share, Pwm::Plotting, ThetaOne::One);
            let found = estimate(falling.iter().copied(), n, 2500, &at).swap_remove(0);
            let u = f64::from(2000 - from_top as u32) / 2500.0;
            assert_eq!(found.threshold.map(f64::to_bits), Some(u.to_bits()));
            assert_eq!(found.n_exceedances, from_top, "{n} {share} {ties}");
        }
    }
}

#[test]
fn tied_order_statistics_give_the_threshold_without_rounding() {
    // 0.15 * x + 0.85 * x is not x in floating point for these.
    let numerators = vec![11u64; 816];
    let risks = TopRisks {
        numerators: &numerators,
        denominator: 30,
        n: 816,
    };
    let u = risks.exceeded_by(probability(0.05));
    assert_eq!(u.to_bits(), (11.0f64 / 30.0).to_bits());
    assert_eq!(risks.above(u).len(), 0);
}

#[test]
fn degenerate_tails_have_their_stated_answers() {
    let one = |h: &[u32], pi_u: f64, pwm, theta_one| {
        estimate(
            h.iter().copied(),
            h.len(),
            20,
            &settings(pi_u, pwm, theta_one),
        )
    };
    use Pwm::{Plotting, Unbiased};
    use ThetaOne::{Clamp, Exclude, One};

    let certain = one(&[20, 9, 8, 7], 0.5, Plotting, One);
    assert_eq!(certain[0].risk, Some(1.0));
    assert_eq!(certain[0].status, Status::ThetaOne);
    assert_eq!(certain[0].shape, None);

    let excluded = one(&[20, 9, 8, 7], 0.5, Plotting, Exclude);
    assert_eq!(excluded[0].n_sets, 3);
    assert_eq!(excluded, one(&[9, 8, 7], 0.5, Plotting, One));

    let none_left = one(&[20, 20], 0.5, Plotting, Exclude);
    assert_eq!(none_left[0].risk, None);
    assert_eq!(none_left[0].status, Status::ThetaOne);

    let clamped = one(&[20, 9, 8, 7], 0.5, Plotting, Clamp);
    assert!(clamped[0].risk.unwrap() < 1.0);
    assert_eq!(clamped[0].n_sets, 4);

    let equal = one(&[9; 40], 0.1, Plotting, One);
    assert_eq!(equal[0].status, Status::NoExceedance);
    assert_eq!(equal[0].risk, Some(9.0 / 20.0));
    assert_eq!((equal[0].shape, equal[0].scale), (None, None));

    let single = one(&[9], 0.5, Plotting, One);
    assert_eq!(single[0].status, Status::Single);
    assert_eq!(single[0].risk, Some(9.0 / 20.0));

    // One exceedance: plotting positions give a = 0.35 l, so the shape is
    // 2 - 1 / 0.3; unbiased moments give nothing but the threshold.
    let few = one(&[12, 9, 9, 9, 9], 0.3, Plotting, One);
    assert_eq!(few[0].n_exceedances, 1);
    assert_eq!(few[0].status, Status::Few);
    assert!((few[0].shape.unwrap() - (2.0 - 1.0 / 0.3)).abs() < 1e-12);
    let unbiased = one(&[12, 9, 9, 9, 9], 0.3, Unbiased, One);
    assert_eq!((unbiased[0].risk, unbiased[0].shape), (None, None));
    assert_eq!(unbiased[1].risk, unbiased[1].threshold);

    // Equal excesses under unbiased moments: the risk is the largest risk,
    // and there is no shape.
    let point = one(&[12, 12, 12, 9, 9, 9, 9, 9, 9, 9], 0.35, Unbiased, One);
    assert_eq!(point[0].n_exceedances, 3);
    assert_eq!(point[0].risk, Some(0.6));
    assert_eq!((point[0].shape, point[0].scale), (None, None));
    assert!(point[0].equal && !few[0].equal);
    assert_eq!(point[1].risk, point[1].threshold);
    // Plotting positions have a shape there.
    let plotting = one(&[12, 12, 12, 9, 9, 9, 9, 9, 9, 9], 0.35, Plotting, One);
    assert!(plotting[0].shape.is_some() && !plotting[0].equal);
}

#[test]
fn the_moments_are_those_of_their_definition() {
    let n = 12.0;
    let l: Vec<f64> = (1..=12).map(f64::from).collect();
    let a0 = l.iter().sum::<f64>() / n;
    let plotting: f64 = l
        .iter()
        .zip(1..)
        .map(|(x, j)| x * (1.0 - (f64::from(j) - 0.35) / n))
        .sum::<f64>()
        / n;
    let expected = (
        2.0 - a0 / (a0 - 2.0 * plotting),
        2.0 * a0 * plotting / (a0 - 2.0 * plotting),
    );
    // Excesses as risks: theta_j = plogis(logit(u) + l_j) is not a ratio of whole numbers, so take
    // a very fine denominator.
    let denominator = 1u64 << 52;
    let mut numerators: Vec<u64> = l
        .iter()
        .map(|x| {
            let odds = (x / 10.0 - 3.0).exp();
            (odds / (1.0 + odds) * denominator as f64) as u64
        })
        .collect();
    let u = (-3.0f64).exp() / (1.0 + (-3.0f64).exp());
    numerators.reverse();
    numerators.resize(280, (u * denominator as f64) as u64);
    let tail = fit_tail(
        TopRisks {
            numerators: &numerators,
            denominator,
            n: 280,
        },
        probability(0.05),
        Pwm::Plotting,
    );
    assert_eq!(tail.n_exceedances, 12);
    let (shape, scale) = tail.shape_scale.unwrap();
    assert!((shape - expected.0).abs() < 1e-9, "{shape} {}", expected.0);
    assert!((scale - expected.1 / 10.0).abs() < 1e-9);
}
