//! Bounds on the threshold and the empirical quantile after removing any n records.
//!
//! # Formula
//!
//! A class dies when all its members go, so n removals kill at most `m_j(n)`
//! classes of key set j: as many of its smallest classes as have n members
//! together. Hence `theta'(j) >= (H(j) - m_j(n)) / (L - n)`, whichever records
//! go, and every quantile of the risks is at least that of these bounds. It
//! answers an open question of Bera et al. (2023), hal-04165346, section 4.
//! For T itself there is no such bound: T can fall while risks rise.
//!
//! With [`ThetaOne::Exclude`] every set that might come to identify the rest,
//! `H(j) >= L - n`, may leave: as many of the largest bounds are left out.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::planes::count_sets;
use super::tail::TopRisks;
use super::walk::{walk, Classes, Scratch, Visitor};
use super::{estimate, Estimate, TailSettings, ThetaOne};
use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

/// The least values after any removal of some number of records; `None` where
/// no key set may be left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// Of the threshold.
    pub threshold: Option<f64>,
    /// Of the empirical quantile at the first level.
    pub risk_empirical: Option<f64>,
}

/// The estimate of the whole file and the least values for each of `removals`.
pub fn removal_bounds(
    table: &KeyTable,
    sets: KeySets,
    removals: &[u32],
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<(Estimate, Vec<Least>)> {
    let n_records = table.n_records();
    if removals.iter().any(|&n| u64::from(n) >= n_records) {
        return Err(Error::BadArgument(format!(
            "Fewer than {n_records} records can be removed."
        )));
    }
    let counts = count_sets(table, sets, monitor)?;
    monitor.set_total(monitor.progress().0 + sets.len() as u64);
    let mut falling = counts.distinct.clone();
    falling.sort_unstable_by(|a, b| b.cmp(a));
    let whole = estimate(falling.into_iter(), sets.len(), n_records, settings).swap_remove(0);
    let sizes = Sizes {
        removals,
        most: removals.iter().copied().max().unwrap_or(0),
        n_sets: sets.len(),
        killed: std::iter::repeat_with(AtomicU32::default)
            .take(removals.len() * sets.len())
            .collect(),
    };
    walk(table, sets, &vec![true; sets.len()], &sizes, monitor)?;
    let least = removals
        .iter()
        .zip(sizes.killed.chunks(sets.len()))
        .map(|(&n, killed)| {
            let left: Vec<u32> = counts
                .distinct
                .iter()
                .zip(killed)
                .map(|(&h, killed)| h - killed.load(Relaxed))
                .collect();
            let may_leave = counts
                .distinct
                .iter()
                .filter(|&&h| u64::from(h) + u64::from(n) >= n_records)
                .count();
            least_values(left, may_leave, n_records - u64::from(n), settings)
        })
        .collect();
    Ok((whole, least))
}

fn least_values(
    mut counts: Vec<u32>,
    may_leave: usize,
    n_left: u64,
    settings: &TailSettings,
) -> Least {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    if settings.theta_one == ThetaOne::Exclude {
        counts.drain(..may_leave);
    }
    if counts.is_empty() {
        return Least {
            threshold: None,
            risk_empirical: None,
        };
    }
    let denominator = 2 * n_left;
    let numerators: Vec<u64> = counts
        .iter()
        .map(|&h| match 2 * u64::from(h) {
            all if all >= denominator && settings.theta_one == ThetaOne::Clamp => denominator - 1,
            other => other,
        })
        .collect();
    let risks = TopRisks {
        numerators: &numerators,
        denominator,
        n: numerators.len(),
    };
    Least {
        threshold: Some(risks.exceeded_by(settings.pi_u)),
        risk_empirical: Some(risks.exceeded_by(settings.alpha[0])),
    }
}

struct Sizes<'a> {
    removals: &'a [u32],
    most: u32,
    n_sets: usize,
    killed: Vec<AtomicU32>,
}

impl Visitor for Sizes<'_> {
    fn alone(&self, _rows: &[u32], _sets: std::ops::Range<usize>) {}

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let mut of_size = std::mem::take(&mut scratch.sizes);
        of_size.resize(self.most as usize + 1, 0);
        let mut sizes = Vec::new();
        if self.most >= 1 {
            of_size[1] = prefix.alone().len() as u32;
            if of_size[1] > 0 {
                sizes.push(1);
            }
        }
        scratch.split(
            prefix,
            last,
            |_, _| 0,
            |size, _| {
                if size <= self.most {
                    if of_size[size as usize] == 0 {
                        sizes.push(size);
                    }
                    of_size[size as usize] += 1;
                }
            },
        );
        sizes.sort_unstable();
        for (r, &n) in self.removals.iter().enumerate() {
            let mut left = n;
            let mut killed = 0;
            for &size in &sizes {
                let classes = of_size[size as usize].min(left / size);
                killed += classes;
                left -= classes * size;
                if classes < of_size[size as usize] {
                    break;
                }
            }
            self.killed[r * self.n_sets + set].store(killed, Relaxed);
        }
        for size in sizes {
            of_size[size as usize] = 0;
        }
        scratch.sizes = of_size;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::contribution_tests::{
        any_settings, columns, settings, table, whole, without,
    };
    use super::*;

    fn bound(columns: &[Vec<u32>], p: usize, n: u32, s: &TailSettings) -> (Estimate, Least) {
        let sets = KeySets::new(columns.len(), p, 1000).unwrap();
        let (whole, least) =
            removal_bounds(&table(columns), sets, &[1, n], s, &Monitor::new()).unwrap();
        (whole, least[1])
    }

    proptest! {
        #[test]
        fn no_removal_of_n_records_goes_below_the_bound(
            columns in columns(), p in 1usize..4, n in 1u32..6, seed in any::<u64>(),
            s in any_settings(),
        ) {
            let n_rows = columns[0].len() as u32;
            prop_assume!(p <= columns.len() && n < n_rows);
            let (all, least) = bound(&columns, p, n, &s);
            prop_assert_eq!(all, whole(&columns, p, &s));
            let mut rows: Vec<u32> = (0..n_rows).collect();
            rows.sort_by_key(|&r| crate::hash::spread(seed ^ u64::from(r)));
            let left = whole(&without(&columns, &rows[..n as usize]), p, &s);
            if let (Some(u), Some(least)) = (left.threshold, least.threshold) {
                prop_assert!(u >= least - 1e-12, "{u} {least}");
            }
            if let (Some(q), Some(least)) = (left.risk_empirical, least.risk_empirical) {
                prop_assert!(q >= least - 1e-12, "{q} {least}");
            }
        }
    }

    #[test]
    fn a_bound_on_one_key_set_is_reached() {
        // Classes of 1, 1, 2 and 4 records: five removals kill three of them.
        let columns = vec![vec![1, 2, 3, 3, 4, 4, 4, 4]];
        let (all, least) = bound(&columns, 1, 5, &settings(0.1, 0.3, false, 0));
        assert_eq!(all.threshold, Some(0.5));
        assert_eq!(least.threshold, Some(1.0 / 3.0));
        let reached = without(&columns, &[0, 1, 2, 3, 4]);
        let left = whole(&reached, 1, &settings(0.1, 0.3, false, 0));
        assert_eq!(left.threshold, least.threshold);
    }
}
