use proptest::prelude::*;

use super::counter::Counter;
use super::greedy::State;
use super::listed::Listed;
use super::problem::Problem;
use super::*;

mod oracle;
use oracle::*;

fn worked() -> Rows {
    [
        [1, 1, 1],
        [1, 1, 1],
        [1, 1, 2],
        [1, 1, 3],
        [1, 2, 4],
        [2, 2, 4],
    ]
    .map(|r| r.to_vec())
    .to_vec()
}

#[test]
fn worked_values_at_two() {
    let asked = Asked::new(worked(), 2);
    let own = asked.suppress(Rule::Own).unwrap();
    asked.check(Rule::Own, &own);
    assert_eq!(own.blanks, [0, 0, 4, 4, 1, 1]);
    assert_eq!(own.counts[0].after, [4, 4, 4, 4, 2, 2]);
    let intruder: f64 = own.counts[0]
        .intruder
        .iter()
        .map(|&g| 1.0 / f64::from(g))
        .sum();
    assert!((intruder - 2.5).abs() < 1e-12, "{:?}", own.counts[0]);
    let shared = asked.suppress(Rule::Shared).unwrap();
    asked.check(Rule::Shared, &shared);
    assert!((shared.cost - 2.0).abs() < 1e-12 && (shared.lower_bound - 2.0).abs() < 1e-12);
    assert_eq!(
        shared.counts[0]
            .intruder
            .iter()
            .filter(|&&g| g == 1)
            .count(),
        2
    );
    let intruder: f64 = shared.counts[0]
        .intruder
        .iter()
        .map(|&g| 1.0 / f64::from(g))
        .sum();
    assert!(
        (intruder - 11.0 / 3.0).abs() < 1e-12 || intruder < 11.0 / 3.0,
        "{intruder}"
    );
    let strict = asked.suppress(Rule::Strict).unwrap();
    asked.check(Rule::Strict, &strict);
    assert_eq!(strict.blanks, own.blanks);
}

#[test]
fn worked_values_at_three() {
    let asked = Asked::new(worked(), 3);
    let own = asked.suppress(Rule::Own).unwrap();
    asked.check(Rule::Own, &own);
    assert!((own.cost - 9.0).abs() < 1e-12);
    let sizes: Vec<u32> = own.blanks.iter().map(|s| s.count_ones()).collect();
    assert_eq!(sizes, [1, 1, 1, 1, 2, 3]);
    let shared = asked.suppress(Rule::Shared).unwrap();
    asked.check(Rule::Shared, &shared);
    assert!(shared.cost <= 5.0 && shared.cost >= asked.least_shared());
    let strict = asked.suppress(Rule::Strict).unwrap();
    asked.check(Rule::Strict, &strict);
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut asked = Asked::new(worked(), 7);
    for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
        assert_eq!(asked.suppress(rule).unwrap_err().kind(), "unprotectable");
    }
    asked.k = 2;
    asked.strata = Some(vec![1, 1, 1, 1, 1, 2]);
    assert_eq!(
        asked.suppress(Rule::Strict).unwrap_err().kind(),
        "unprotectable"
    );
    asked.strata = None;
    asked.weights[2] = f64::INFINITY;
    assert_eq!(
        asked.suppress(Rule::Own).unwrap_err().kind(),
        "unprotectable"
    );
    asked.weights = vec![1.0, 0.0, 1.0];
    assert_eq!(
        asked.suppress(Rule::Own).unwrap_err().kind(),
        "bad_argument"
    );
}

#[test]
fn what_links_forbid_is_refused() {
    // The first key goes with the second, which is never blanked: a missing value
    // matches record 3, and no blank makes another equal to it.
    let rows = vec![vec![0, 1], vec![0, 1], vec![3, 1]];
    let mut asked = Asked::new(rows, 2);
    asked.linked = vec![(0, 1)];
    asked.weights[1] = f64::INFINITY;
    assert!(asked.suppress(Rule::Own).unwrap().cost.abs() < 1e-12);
    assert_eq!(
        asked.suppress(Rule::Strict).unwrap_err().kind(),
        "unprotectable"
    );
}

#[test]
fn nothing_to_do_is_nothing_done() {
    let asked = Asked::new(vec![vec![1, 2]; 5], 3);
    for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
        let found = asked.suppress(rule).unwrap();
        asked.check(rule, &found);
        assert_eq!(found.blanks, [0; 5]);
    }
}

/// Files that are small enough to try everything.
fn small(n: usize, q: usize, values: u32) -> impl Strategy<Value = Asked> {
    let rows = proptest::collection::vec(proptest::collection::vec(1..=values, q), 3..=n);
    (rows, 2..=3u32).prop_map(|(rows, k)| Asked::new(rows, k))
}

fn varied(n: usize) -> impl Strategy<Value = Asked> {
    let rows = proptest::collection::vec(proptest::collection::vec(0..=3u32, 4), 4..=n);
    let weights = proptest::collection::vec(1..=3u32, 4);
    let strata = proptest::option::of(proptest::collection::vec(1..=2u32, n));
    let linked = proptest::option::of((0..4usize, 0..4usize));
    let households = proptest::option::of(proptest::collection::vec(1..=9u32, n));
    let sets = 0..4usize;
    (rows, 2..=3u32, weights, strata, linked, households, sets).prop_map(
        |(rows, k, weights, strata, linked, households, sets)| {
            let n = rows.len();
            let cut = |x: Option<Vec<u32>>| x.map(|x| x[..n].to_vec());
            let mut asked = Asked::new(rows, k);
            asked.weights = weights.into_iter().map(f64::from).collect();
            asked.linked = linked.into_iter().filter(|(a, b)| a != b).collect();
            asked.strata = cut(strata);
            asked.households = cut(households);
            asked.sets = match sets {
                0 => vec![vec![0, 1, 2], vec![1, 2, 3]],
                1 => vec![vec![0, 1], vec![3]],
                _ => vec![vec![0, 1, 2, 3]],
            };
            asked
        },
    )
}

/// Links to a variable outside a key set, or all, that is often missing.
fn linked_outside() -> impl Strategy<Value = Asked> {
    let row = (1..=3u32, 1..=2u32, 0..=2u32).prop_map(|(a, b, z)| vec![a, b, z]);
    let rows = proptest::collection::vec(row, 4..=6);
    let weights = proptest::collection::vec(1..=3u32, 3);
    (rows, 2..=3u32, weights, 0..3usize, any::<bool>()).prop_map(
        |(rows, k, weights, sets, chain)| {
            let mut asked = Asked::new(rows, k);
            asked.weights = weights.into_iter().map(f64::from).collect();
            asked.sets = match sets {
                0 => vec![vec![0]],
                1 => vec![vec![0], vec![1, 2]],
                _ => vec![vec![0, 1]],
            };
            asked.linked = if chain {
                vec![(0, 2), (2, 1)]
            } else {
                vec![(0, 2)]
            };
            asked
        },
    )
}

#[test]
fn a_link_to_a_missing_value_costs_nothing_in_the_bound() {
    let z = [1, 2, 0, 0, 3, 4, 5];
    let a = [1, 1, 1, 2, 3, 3, 3];
    for (k, cost) in [(2, 2.0), (4, 12.0)] {
        let mut asked = Asked::new(a.iter().zip(z).map(|(&a, z)| vec![a, z]).collect(), k);
        asked.sets = vec![vec![0]];
        asked.linked = vec![(0, 1)];
        let found = asked.suppress(Rule::Strict).unwrap();
        asked.check(Rule::Strict, &found);
        assert!((found.cost - cost).abs() < 1e-9, "{found:?}");
        assert!(
            found.lower_bound <= cost && cost <= asked.least_strict() + 1e-9,
            "{found:?}"
        );
    }
}

/// True if the file has enough records, or households, in every stratum.
fn feasible(asked: &Asked) -> bool {
    let all = (1u64 << asked.rows[0].len()) - 1;
    let blanks = vec![all; asked.rows.len()];
    let sets = || asked.sets.iter();
    (0..asked.rows.len()).all(|i| sets().all(|s| asked.matches(i, &blanks, s) >= asked.k))
}

proptest! {
    #![proptest_config(crate::cases::cases(200))]

    #[test]
    fn own_is_the_sum_of_enumerated_optima(asked in varied(14)) {
        if !feasible(&asked) {
            prop_assert!(asked.suppress(Rule::Own).is_err());
            return Ok(());
        }
        let found = asked.suppress(Rule::Own).unwrap();
        asked.check(Rule::Own, &found);
        let optima: f64 = (0..asked.rows.len())
            .filter(|&i| asked.violating(i))
            .map(|i| asked.own(i))
            .sum();
        prop_assert!((found.lower_bound - optima).abs() < 1e-9);
        if asked.households.is_none() {
            prop_assert!((found.cost - optima).abs() < 1e-9);
        }
    }

    #[test]
    fn own_of_patterns_is_that_of_their_records(asked in varied(14)) {
        let mut asked = asked;
        asked.households = None;
        let whole = asked.suppress(Rule::Own);
        let found = asked.with(Rule::Own, |table, settings| {
            let monitor = Monitor::new();
            let full = problem::with_stratum(table, settings.strata).unwrap();
            let groups = full.group(&monitor).unwrap();
            let patterns = table.select(groups.first_rows()).unwrap();
            let patterns = patterns.with_multiplicity(groups.counts().to_vec()).unwrap();
            let strata = settings.strata.map(|column| {
                let rows = groups.first_rows().iter();
                oracle::column(rows.map(|&r| column.codes().get(r as usize)).collect())
            });
            let settings = Settings { strata: strata.as_ref(), ..settings.clone() };
            let shared = Settings { rule: Rule::Shared, ..settings.clone() };
            assert_eq!(suppress(&patterns, &shared, &monitor).unwrap_err().kind(), "bad_argument");
            (suppress(&patterns, &settings, &monitor), groups.row_group().to_vec())
        });
        let (Ok(whole), (Ok(found), pattern)) = (whole, found) else {
            prop_assert!(!feasible(&asked));
            return Ok(());
        };
        let spread = |x: &[u32]| -> Vec<u32> { pattern.iter().map(|&p| x[p as usize]).collect() };
        for (row, &p) in pattern.iter().enumerate() {
            prop_assert_eq!(whole.blanks[row], found.blanks[p as usize]);
            prop_assert_eq!(whole.violating[row], found.violating[p as usize]);
        }
        prop_assert!((whole.cost - found.cost).abs() < 1e-9);
        prop_assert!((whole.lower_bound - found.lower_bound).abs() < 1e-9);
        for (a, b) in whole.counts.iter().zip(&found.counts) {
            prop_assert_eq!(&a.before, &spread(&b.before));
            prop_assert_eq!(&a.after, &spread(&b.after));
            prop_assert_eq!(&a.intruder, &spread(&b.intruder));
        }
    }

    #[test]
    fn shared_lies_between_its_bound_and_own(asked in varied(14), rounds in 0..30usize) {
        if !feasible(&asked) {
            return Ok(());
        }
        let mut asked = asked;
        asked.rounds = rounds;
        let own = asked.suppress(Rule::Own).unwrap();
        let shared = asked.suppress(Rule::Shared).unwrap();
        asked.check(Rule::Shared, &shared);
        if asked.households.is_none() {
            prop_assert!(shared.cost <= own.cost * (1.0 + 1e-9));
        }
    }

    #[test]
    fn shared_is_never_below_the_least_and_neither_is_the_bound_above(
        asked in small(7, 3, 3)
    ) {
        let found = asked.suppress(Rule::Shared).unwrap();
        asked.check(Rule::Shared, &found);
        let least = asked.least_shared();
        prop_assert!(found.cost >= least - 1e-9);
        prop_assert!(found.lower_bound <= least + 1e-9);
    }

    #[test]
    fn bounds_hold_with_missing_values_weights_links_and_key_sets(asked in varied(6)) {
        if !feasible(&asked) {
            return Ok(());
        }
        let found = asked.suppress(Rule::Shared).unwrap();
        let least = asked.least_shared();
        prop_assert!(found.lower_bound <= least + 1e-9);
        prop_assert!(found.cost >= least - 1e-9);
    }

    #[test]
    fn strict_is_never_below_the_least_and_neither_is_the_bound_above(
        asked in proptest::prop_oneof![small(6, 3, 3), varied(4)]
    ) {
        if !feasible(&asked) || asked.households.is_some() {
            return Ok(());
        }
        let found = asked.suppress(Rule::Strict).unwrap();
        asked.check(Rule::Strict, &found);
        let least = asked.least_strict();
        prop_assert!(found.cost >= least - 1e-9, "{} below {least}: {found:?}", found.cost);
        prop_assert!(found.lower_bound <= least + 1e-9, "{least}: {found:?}");
    }

    #[test]
    fn strict_is_bounded_with_links_to_values_that_are_missing(asked in linked_outside()) {
        if !feasible(&asked) {
            return Ok(());
        }
        let found = asked.suppress(Rule::Strict).unwrap();
        asked.check(Rule::Strict, &found);
        let least = asked.least_strict();
        prop_assert!(found.cost >= least - 1e-9, "{} below {least}: {found:?}", found.cost);
        prop_assert!(found.lower_bound <= least + 1e-9, "{least}: {found:?}");
    }

    #[test]
    fn strict_cells_hold_k(asked in varied(14)) {
        if !feasible(&asked) {
            prop_assert!(asked.suppress(Rule::Strict).is_err());
            return Ok(());
        }
        let found = asked.suppress(Rule::Strict).unwrap();
        asked.check(Rule::Strict, &found);
    }

    #[test]
    fn counts_by_levels_and_by_scan_agree_with_plain_ones_after_every_move(
        asked in varied(12), scanned: bool, moves in proptest::collection::vec((0..100usize, 0..16u64), 1..12)
    ) {
        asked.with(Rule::Shared, |table, settings| {
            let monitor = Monitor::new();
            let problem = Problem::new(table, settings, &monitor).unwrap();
            if problem.violators.is_empty() || !feasible(&asked) {
                return;
            }
            let scanned = scanned && settings.households.is_none();
            let apart = scanned.then(|| {
                let of = |&p: &u32| super::scan::differences(&problem, p).unwrap();
                problem.violators.iter().map(of).collect()
            });
            let listed = Listed::new(&problem, apart);
            let mut counters: Vec<Counter<'_>> =
                (0..problem.sets.len()).map(|s| Counter::new(&problem, &listed, s)).collect();
            if !scanned {
                let levels =
                    super::own::by_levels(&problem, &listed, &mut counters, &monitor).unwrap();
                for (&p, optimum) in problem.violators.iter().zip(&levels) {
                    let row = problem.row_pattern.iter().position(|&r| r == p).unwrap();
                    assert!((optimum.cost - asked.own(row)).abs() < 1e-9);
                }
            }
            let choices = super::greedy::Choices {
                lists: vec![Vec::new()],
                of: vec![(0, 0); listed.rows.len()],
            };
            let price = |_: usize, _: usize| 1;
            let mut state =
                State::new(&problem, &listed, &choices, &mut counters, price, &monitor);
            let mut blanks = vec![0u64; asked.rows.len()];
            for (i, set) in moves {
                let i = (i % listed.rows.len()) as u32;
                let row = listed.rows[i as usize] as usize;
                let set = set & problem.blankable & !asked.missing(row);
                state.set_blanks(i, set).unwrap();
                blanks[row] = set;
                let open: usize = (asked.sets.iter())
                    .map(|keys| {
                        let low = |&i: &usize| asked.matches(i, &blanks, keys) < asked.k;
                        (0..asked.rows.len()).filter(low).count()
                    })
                    .sum();
                assert_eq!(state.n_open(), open);
            }
        });
    }

    #[test]
    fn own_does_not_depend_on_the_order_of_rows_or_codes(
        asked in small(12, 4, 3), shift in 1..12usize
    ) {
        let cost = asked.suppress(Rule::Own).unwrap().cost;
        let mut other = asked.clone();
        other.rows.rotate_left(shift % asked.rows.len());
        prop_assert!((other.suppress(Rule::Own).unwrap().cost - cost).abs() < 1e-9);
        for row in &mut other.rows {
            for code in row.iter_mut() {
                *code = 4 - *code;
            }
        }
        for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
            let found = other.suppress(rule).unwrap();
            other.check(rule, &found);
            if rule == Rule::Own {
                prop_assert!((found.cost - cost).abs() < 1e-9);
            }
        }
    }
}
