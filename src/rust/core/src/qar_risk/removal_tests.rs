//! Removal paths against files really reduced.

use proptest::prelude::*;

use super::contribution_tests::{any_settings, columns, larger, settings, table, whole, without};
use super::removal::*;
use super::*;
use crate::parallel::with_threads;

fn adaptive(
    columns: &[Vec<u32>],
    p: usize,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    max_bytes: u64,
) -> Path {
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    let table = table(columns);
    let monitor = Monitor::new();
    adaptive_path(&table, sets, rule, plan, settings, max_bytes, &monitor).unwrap()
}

fn fixed(
    columns: &[Vec<u32>],
    p: usize,
    rows: &[u32],
    block: usize,
    settings: &TailSettings,
) -> Path {
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    let table = table(columns);
    let monitor = Monitor::new();
    let counts = partition::count_sets(&table, sets, &monitor).unwrap();
    fixed_path(&table, sets, &counts, rows, block, settings, &monitor).unwrap()
}

/// True if the estimates of a path are those of the reduced files.
fn check_estimates(columns: &[Vec<u32>], p: usize, path: &Path, block: usize, s: &TailSettings) {
    assert_eq!(path.before, whole(columns, p, s));
    for (b, after) in path.after.iter().enumerate() {
        let gone = &path.rows[..((b + 1) * block).min(path.rows.len())];
        assert_eq!(after, &whole(&without(columns, gone), p, s));
    }
}

/// Scores of a rule by brute force in the reduced file: one per remaining row.
fn scores(
    columns: &[Vec<u32>],
    left: &[u32],
    p: usize,
    rule: Rule,
    s: &TailSettings,
) -> Vec<(u32, f64)> {
    let gone: Vec<u32> = (0..columns[0].len() as u32)
        .filter(|row| !left.contains(row))
        .collect();
    let file = without(columns, &gone);
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    let members = sets.members();
    let counts = partition::count_sets(&table(&file), sets, &Monitor::new()).unwrap();
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|&set| std::cmp::Reverse(counts.distinct[set]));
    let key = |set: usize, r: usize| -> Vec<u32> {
        let set = &members[set * p..][..p];
        set.iter().map(|&v| file[usize::from(v)][r]).collect()
    };
    let unique =
        |set: usize, row: usize| (0..left.len()).all(|r| r == row || key(set, r) != key(set, row));
    let current = whole(&file, p, s).risk;
    let score = |row: usize| match rule {
        Rule::UPlus => (0..sets.len())
            .filter(|&set| unique(set, row))
            .map(|set| f64::from(counts.distinct[set]))
            .sum(),
        Rule::TopCount(n_top) => order[..n_top]
            .iter()
            .filter(|&&set| unique(set, row))
            .count() as f64,
        Rule::Proper => whole(&without(&file, &[row as u32]), p, s)
            .risk
            .map_or(f64::NEG_INFINITY, |t| current.unwrap_or(0.0) - t),
    };
    (0..left.len()).map(|row| (left[row], score(row))).collect()
}

fn check_rule(
    columns: &[Vec<u32>],
    p: usize,
    rule: Rule,
    plan: Plan,
    s: &TailSettings,
    path: &Path,
) {
    let n = columns[0].len() as u32;
    for (b, block) in path.rows.chunks(plan.block).enumerate() {
        let gone = &path.rows[..b * plan.block];
        let left: Vec<u32> = (0..n).filter(|row| !gone.contains(row)).collect();
        let mut scores = scores(columns, &left, p, rule, s);
        for &row in block {
            let most = scores.iter().map(|s| s.1).fold(f64::NEG_INFINITY, f64::max);
            let expected = scores.iter().find(|s| s.1 >= most - 1e-15).unwrap().0;
            assert_eq!(row, expected, "{rule:?} block {b}");
            scores.retain(|s| s.0 != row);
        }
    }
}

proptest! {
    #[test]
    fn paths_of_every_rule_follow_brute_force(
        columns in columns(), p in 1usize..4, s in any_settings(),
        n in 1usize..12, block in 1usize..5, rule in 0usize..3,
    ) {
        prop_assume!(p <= columns.len());
        let n = n.min(columns[0].len() - 1);
        let n_sets = KeySets::new(columns.len(), p, 100_000).unwrap().len();
        let rule = [Rule::Proper, Rule::UPlus, Rule::TopCount(n_sets.div_ceil(3))][rule];
        let plan = Plan { n, block };
        let path = adaptive(&columns, p, rule, plan, &s, u64::MAX);
        prop_assert_eq!(path.rows.len(), n);
        check_estimates(&columns, p, &path, block, &s);
        check_rule(&columns, p, rule, plan, &s, &path);
        // Counting anew after every block gives the same path.
        let again = adaptive(&columns, p, rule, plan, &s, 0);
        prop_assert_eq!(&again.rows, &path.rows);
        prop_assert_eq!(&again.after, &path.after);
        // And so do the same rows in a fixed order.
        let fixed = fixed(&columns, p, &path.rows, block, &s);
        prop_assert_eq!(&fixed.before, &path.before);
        prop_assert_eq!(&fixed.after, &path.after);
    }
}

#[test]
fn paths_of_a_larger_file_keep_few_sets_and_stay_exact() {
    let columns = larger();
    let s = settings(0.01, 0.1, false, 0);
    let plan = Plan { n: 4, block: 1 };
    for rule in [Rule::Proper, Rule::UPlus, Rule::TopCount(12)] {
        let path = with_threads(1, || Ok(adaptive(&columns, 3, rule, plan, &s, u64::MAX))).unwrap();
        check_estimates(&columns, 3, &path, 1, &s);
        check_rule(&columns, 3, rule, plan, &s, &path);
        if rule != Rule::UPlus {
            assert!(path.n_kept < 120, "{}", path.n_kept);
        }
        for threads in [2, 7] {
            let more = with_threads(threads, || {
                Ok(adaptive(&columns, 3, rule, plan, &s, u64::MAX))
            });
            assert_eq!(more.unwrap(), path);
        }
    }
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let columns = vec![vec![1, 2, 1], vec![1, 1, 2]];
    let s = settings(0.1, 0.3, false, 0);
    let sets = KeySets::new(2, 1, 10).unwrap();
    let monitor = Monitor::new();
    let table = table(&columns);
    for (n, block) in [(3, 1), (0, 1), (1, 0)] {
        let plan = Plan { n, block };
        let error = adaptive_path(&table, sets, Rule::UPlus, plan, &s, 0, &monitor).unwrap_err();
        assert_eq!(error.kind(), "bad_argument");
    }
    let counts = partition::count_sets(&table, sets, &monitor).unwrap();
    for rows in [vec![0, 0], vec![3], vec![0, 1, 2]] {
        let error = fixed_path(&table, sets, &counts, &rows, 1, &s, &monitor).unwrap_err();
        assert_eq!(error.kind(), "bad_argument");
    }
    let cancelled = Monitor::new();
    cancelled.cancel();
    let plan = Plan { n: 1, block: 1 };
    let error = adaptive_path(&table, sets, Rule::Proper, plan, &s, 1 << 20, &cancelled);
    assert_eq!(error.unwrap_err().kind(), "interrupted");
}

#[test]
fn too_little_memory_and_small_blocks_are_refused_with_advice() {
    let columns = larger();
    let sets = KeySets::new(10, 3, 1000).unwrap();
    let plan = Plan { n: 390, block: 1 };
    let s = settings(0.1, 0.3, false, 0);
    let table = table(&columns);
    let error = adaptive_path(&table, sets, Rule::Proper, plan, &s, 1000, &Monitor::new());
    let error = error.unwrap_err();
    assert_eq!(error.kind(), "too_large");
    assert!(error.to_string().contains("`block` = 2"), "{error}");
}
