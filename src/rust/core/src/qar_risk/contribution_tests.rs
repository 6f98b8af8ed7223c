//! Contributions against the removal of every record, and their laws.

use proptest::prelude::*;

use super::contribution::*;
use super::uniqueness::uniqueness;
use super::*;
use crate::key_table::Codes;
use crate::parallel::with_threads;

pub(super) fn table(columns: &[Vec<u32>]) -> KeyTable {
    let columns = columns
        .iter()
        .map(|c| {
            let k = c.iter().copied().max().unwrap_or(0);
            Column::new(Codes::pack(k, c.iter().copied()), k).unwrap()
        })
        .collect();
    KeyTable::new(columns).unwrap()
}

pub(super) fn settings(alpha: f64, pi_u: f64, unbiased: bool, theta_one: u8) -> TailSettings {
    TailSettings {
        alpha: vec![Probability::new(alpha, "alpha").unwrap()],
        pi_u: Probability::new(pi_u, "pi_u").unwrap(),
        pwm: if unbiased {
            Pwm::Unbiased
        } else {
            Pwm::Plotting
        },
        theta_one: [ThetaOne::One, ThetaOne::Clamp, ThetaOne::Exclude][usize::from(theta_one)],
    }
}

pub(super) fn without(columns: &[Vec<u32>], gone: &[u32]) -> Vec<Vec<u32>> {
    let kept = |column: &Vec<u32>| {
        (0u32..)
            .zip(column)
            .filter(|(row, _)| !gone.contains(row))
            .map(|(_, &code)| code)
            .collect()
    };
    columns.iter().map(kept).collect()
}

pub(super) fn whole(columns: &[Vec<u32>], p: usize, settings: &TailSettings) -> Estimate {
    let table = table(columns);
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    let mut found = qar_risk(&table, sets, settings, &[], &Monitor::new()).unwrap();
    found.estimates.swap_remove(0)
}

pub(super) fn columns() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..6, 2usize..24, 0u32..9).prop_flat_map(|(v, n, k)| {
        prop::collection::vec(prop::collection::vec(0..=k, n..=n), v..=v)
    })
}

pub(super) fn any_settings() -> impl Strategy<Value = TailSettings> {
    (0.05f64..0.6, 0.1f64..1.0, any::<bool>(), 0u8..3)
        .prop_map(|(pi_u, share, unbiased, one)| settings(pi_u * share, pi_u, unbiased, one))
}

fn find(columns: &[Vec<u32>], p: usize, settings: &TailSettings) -> Contributions {
    let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
    contributions(&table(columns), sets, settings, &Monitor::new()).unwrap()
}

/// U by comparing all pairs of records.
fn slow_unique(columns: &[Vec<u32>], set: &[u16], row: usize) -> bool {
    let key = |r: usize| -> Vec<u32> { set.iter().map(|&v| columns[usize::from(v)][r]).collect() };
    (0..columns[0].len()).all(|r| r == row || key(r) != key(row))
}

proptest! {
    #[test]
    fn contributions_are_those_of_real_removal(
        columns in columns(), p in 1usize..4, settings in any_settings(),
    ) {
        prop_assume!(p <= columns.len());
        let found = find(&columns, p, &settings);
        let all = whole(&columns, p, &settings);
        prop_assert_eq!(&found.whole, &all);
        for (row, dt) in (0u32..).zip(&found.contribution) {
            let left = whole(&without(&columns, &[row]), p, &settings);
            let expected = all.risk.and_then(|t| Some(t - left.risk?));
            prop_assert_eq!(dt.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }

    #[test]
    fn sums_over_unique_sets_are_those_of_the_matrix(columns in columns(), p in 1usize..4) {
        prop_assume!(p <= columns.len());
        let found = find(&columns, p, &settings(0.1, 0.3, false, 0));
        let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
        let counts = partition::count_sets(&table(&columns), sets, &Monitor::new()).unwrap();
        let n = columns[0].len();
        let members = sets.members();
        for row in 0..n {
            let theta = members.chunks(p).zip(&counts.distinct)
                .filter(|(set, _)| slow_unique(&columns, set, row))
                .map(|(_, &h)| f64::from(h) / n as f64);
            let theta: Vec<f64> = theta.collect();
            prop_assert_eq!(found.n_unique_sets[row] as usize, theta.len());
            prop_assert!((found.u_plus[row] - theta.iter().sum::<f64>()).abs() < 1e-10);
            // U+ and U* share the sets a record is unique on.
            let both = found.u_plus[row] + found.u_star[row];
            prop_assert!((both - theta.len() as f64).abs() < 1e-10);
        }
        // Every set's uniques are counted once.
        let total: u64 = found.n_unique_sets.iter().map(|&u| u64::from(u)).sum();
        prop_assert_eq!(total, counts.unique.iter().map(|&u| u64::from(u)).sum::<u64>());
    }

    #[test]
    fn marked_bits_are_those_of_the_matrix(columns in columns(), p in 1usize..4, every in 1usize..4) {
        prop_assume!(p <= columns.len());
        let table = table(&columns);
        let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
        let counts = partition::count_sets(&table, sets, &Monitor::new()).unwrap();
        let marked: Vec<u32> = (0..sets.len() as u32).step_by(every).collect();
        let weight = vec![1; sets.len()];
        let found = uniqueness(&table, sets, &counts.unique, &weight, &marked, &Monitor::new()).unwrap();
        let members = sets.members();
        for row in 0..table.n_rows() {
            for (c, &set) in marked.iter().enumerate() {
                let bit = found.bits.row(row)[c / 64] >> (c % 64) & 1 == 1;
                let set = &members[set as usize * p..][..p];
                prop_assert_eq!(bit, slow_unique(&columns, set, row));
            }
        }
    }

    #[test]
    fn permuting_records_permutes_contributions(columns in columns(), shift in 1usize..20, settings in any_settings()) {
        let p = columns.len().min(2);
        let n = columns[0].len();
        let moved: Vec<Vec<u32>> = columns.iter()
            .map(|c| (0..n).map(|i| c[(i + shift) % n]).collect())
            .collect();
        let (found, there) = (find(&columns, p, &settings), find(&moved, p, &settings));
        let bits = |x: Option<f64>| x.map(f64::to_bits);
        for i in 0..n {
            let j = (i + shift) % n;
            prop_assert_eq!(bits(there.contribution[i]), bits(found.contribution[j]));
            prop_assert_eq!(there.n_unique_sets[i], found.n_unique_sets[j]);
            prop_assert_eq!(there.u_plus[i].to_bits(), found.u_plus[j].to_bits());
            prop_assert_eq!(there.unique_at_threshold[i], found.unique_at_threshold[j]);
        }
    }

    #[test]
    fn a_duplicated_record_is_unique_nowhere(columns in columns(), row in 0usize..20) {
        let row = row % columns[0].len();
        let doubled: Vec<Vec<u32>> = columns.iter()
            .map(|c| c.iter().copied().chain(std::iter::once(c[row])).collect())
            .collect();
        let found = find(&doubled, columns.len().min(2), &settings(0.1, 0.3, false, 0));
        for twin in [row, columns[0].len()] {
            prop_assert_eq!(found.n_unique_sets[twin], 0);
            prop_assert_eq!(found.u_plus[twin].to_bits(), 0f64.to_bits());
            prop_assert_eq!(found.u_star[twin].to_bits(), 0f64.to_bits());
        }
    }

    #[test]
    fn surprisal_is_the_mean_of_its_terms(columns in columns()) {
        let found = surprisal(&table(&columns));
        let n = columns[0].len();
        for (row, found) in found.iter().enumerate() {
            let terms = columns.iter().map(|c| {
                let same = c.iter().filter(|&&x| x == c[row]).count();
                -(same as f64 / n as f64).ln()
            });
            let mean = terms.sum::<f64>() / columns.len() as f64;
            prop_assert!((found - mean).abs() < 1e-12);
        }
    }

    #[test]
    fn entropy_is_that_of_its_definition(columns in columns(), p in 1usize..4) {
        prop_assume!(p <= columns.len());
        let sets = KeySets::new(columns.len(), p, 100_000).unwrap();
        let found = entropy::entropy(&table(&columns), sets, &Monitor::new()).unwrap();
        let n = columns[0].len();
        let m = entropy::n_intervals(sets.len());
        let members = sets.members();
        let mut counts = vec![vec![0usize; m]; n];
        for set in members.chunks(p) {
            let at_most: Vec<usize> = (0..n).map(|i| (0..n).filter(|&r| {
                set.iter().all(|&v| columns[usize::from(v)][r] <= columns[usize::from(v)][i])
            }).count()).collect();
            for i in 0..n {
                let rank = at_most.iter().filter(|&&f| f <= at_most[i]).count();
                // G lies in [k/M, (k+1)/M) where k n <= rank M < (k+1) n.
                let k = (0..m).rev().find(|k| k * n <= rank * m).unwrap();
                counts[i][k] += 1;
            }
        }
        for i in 0..n {
            let expected: f64 = counts[i].iter().filter(|&&c| c > 0).map(|&c| {
                let share = c as f64 / sets.len() as f64;
                -share * share.ln()
            }).sum();
            prop_assert!((found[i] - expected).abs() < 1e-12);
        }
    }
}

/// Ten columns of 400 records with few ties among counts.
pub(super) fn larger() -> Vec<Vec<u32>> {
    (1..11u32)
        .map(|v| {
            (0..400u32)
                .map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(v) >> 7) % (2 * v + 1))
                .collect()
        })
        .collect()
}

#[test]
fn contributions_of_a_larger_file_are_exact_for_any_number_of_threads() {
    let columns = larger();
    let settings = settings(0.01, 0.1, false, 0);
    let one = with_threads(1, || Ok(find(&columns, 3, &settings))).unwrap();
    for threads in [2, 7] {
        let more = with_threads(threads, || Ok(find(&columns, 3, &settings))).unwrap();
        assert_eq!(one, more);
    }
    assert!(one.n_candidates < 40, "{}", one.n_candidates);
    for row in (0..400).step_by(37) {
        let left = whole(&without(&columns, &[row]), 3, &settings);
        let expected = one.whole.risk.unwrap() - left.risk.unwrap();
        let found = one.contribution[row as usize].unwrap();
        assert_eq!(found.to_bits(), expected.to_bits());
    }
}

#[test]
fn the_same_shares_in_other_columns_have_the_same_surprisal() {
    // Three columns with categories of 1, 2, 3, ... records, each shifted by
    // another number of rows: many records have the same shares in another
    // order, and 2 * 6 = 3 * 4 in other shares.
    let category: Vec<u32> = (1u32..=12)
        .flat_map(|k| std::iter::repeat_n(k, k as usize))
        .collect();
    let n = category.len();
    let columns: Vec<Vec<u32>> = [0, 29, 50]
        .iter()
        .map(|shift| (0..n).map(|i| category[(i + shift) % n]).collect())
        .collect();
    let found = surprisal(&table(&columns));
    let product = |row: usize| columns.iter().map(|c| u64::from(c[row])).product::<u64>();
    let mut ties = 0;
    for a in 0..n {
        for b in 0..a {
            assert_eq!(
                product(a) == product(b),
                found[a].to_bits() == found[b].to_bits(),
                "{a} {b}"
            );
            ties += usize::from(product(a) == product(b));
        }
    }
    assert!(ties > 50, "{ties}");
}

#[test]
fn the_only_record_has_no_contribution() {
    let found = find(&[vec![1], vec![2]], 1, &settings(0.1, 0.3, false, 0));
    assert_eq!(found.contribution, [None]);
    assert_eq!(found.n_unique_sets, [2]);
}

#[test]
fn a_cancelled_search_ends_with_its_own_error() {
    let monitor = Monitor::new();
    monitor.cancel();
    let sets = KeySets::new(2, 2, 10).unwrap();
    let table = table(&[vec![1, 2, 1], vec![1, 1, 2]]);
    let cancelled = |kind: &str| assert_eq!(kind, "interrupted");
    cancelled(
        contributions(&table, sets, &settings(0.1, 0.3, false, 0), &monitor)
            .unwrap_err()
            .kind(),
    );
    cancelled(entropy::entropy(&table, sets, &monitor).unwrap_err().kind());
}

#[test]
fn tables_of_levels_beyond_memory_are_refused() {
    let wide: Vec<u32> = (0..2000).collect();
    let table = table(&[wide.clone(), wide.clone(), wide]);
    let sets = KeySets::new(3, 3, 10).unwrap();
    let error = entropy::entropy(&table, sets, &Monitor::new()).unwrap_err();
    assert_eq!(error.kind(), "too_large");
}
