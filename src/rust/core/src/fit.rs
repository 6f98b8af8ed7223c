//! The commonest value of one column for each value of another: how close is the one to a function
//! of the other?

use crate::error::Result;
use crate::memory::{filled, reserved};

/// What codes of a column say of those of another.
#[derive(Debug, PartialEq)]
pub struct Fit {
    /// Codes of the groups that have a record, in order.
    pub groups: Vec<i32>,
    /// Per group its commonest value, of several the first.
    pub best: Vec<i32>,
    /// Records with a group and a value.
    pub n: usize,
    /// Of these, those with another value than the commonest of their group.
    pub errors: usize,
    /// Records of the commonest value.
    pub commonest: usize,
}

/// The fit of `values` to `groups`, both codes from 1, 0 for missing.
pub fn column_fit(groups: &[i32], values: &[i32]) -> Result<Fit> {
    let known = || (groups.iter().zip(values)).filter(|(&group, &value)| group > 0 && value > 0);
    let most = |codes: &[i32]| codes.iter().copied().max().unwrap_or(0).max(0) as usize;
    let mut ends = filled(0usize, most(groups) + 2)?;
    for (&group, _) in known() {
        ends[group as usize + 1] += 1;
    }
    for group in 1..ends.len() {
        ends[group] += ends[group - 1];
    }
    let n = ends[ends.len() - 1];
    // The values by group. Afterwards the end of a group is the start of the next.
    let mut sorted = filled(0i32, n)?;
    for (&group, &value) in known() {
        let at = &mut ends[group as usize];
        sorted[*at] = value;
        *at += 1;
    }
    let mut total = filled(0usize, most(values) + 1)?;
    let mut count = filled(0usize, most(values) + 1)?;
    let n_groups = ends.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let mut fit = Fit {
        groups: reserved(n_groups)?,
        best: reserved(n_groups)?,
        n,
        errors: n,
        commonest: 0,
    };
    for group in 1..ends.len() - 1 {
        let members = &sorted[ends[group - 1]..ends[group]];
        let mut best = (0, 0);
        for &value in members {
            count[value as usize] += 1;
        }
        for &value in members {
            let size = count[value as usize];
            if size > best.0 || size == best.0 && value < best.1 {
                best = (size, value);
            }
        }
        for &value in members {
            total[value as usize] += 1;
            count[value as usize] = 0;
        }
        if best.0 > 0 {
            fit.groups.push(group as i32);
            fit.best.push(best.1);
            fit.errors -= best.0;
        }
    }
    fit.commonest = total.into_iter().max().unwrap_or(0);
    Ok(fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn no_record_is_known() {
        let empty = column_fit(&[0, 1], &[1, 0]).unwrap();
        assert_eq!((empty.n, empty.errors, empty.commonest), (0, 0, 0));
        assert!(empty.groups.is_empty() && empty.best.is_empty());
        assert_eq!(column_fit(&[], &[]).unwrap().n, 0);
    }

    proptest! {
        #[test]
        fn agrees_with_maps(pairs in prop::collection::vec((0i32..8, 0i32..5), 0..80)) {
            let (groups, values): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
            let mut cells: BTreeMap<i32, BTreeMap<i32, usize>> = BTreeMap::new();
            let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
            for &(group, value) in pairs.iter().filter(|pair| pair.0 > 0 && pair.1 > 0) {
                *cells.entry(group).or_default().entry(value).or_default() += 1;
                *counts.entry(value).or_default() += 1;
            }
            let best: Vec<(i32, usize)> = cells.values().map(|of| {
                let most = *of.values().max().unwrap();
                (*of.iter().find(|cell| *cell.1 == most).unwrap().0, most)
            }).collect();
            let n: usize = counts.values().sum();
            let fit = column_fit(&groups, &values).unwrap();
            prop_assert_eq!(fit, Fit {
                groups: cells.keys().copied().collect(),
                best: best.iter().map(|pair| pair.0).collect(),
                n,
                errors: n - best.iter().map(|pair| pair.1).sum::<usize>(),
                commonest: counts.values().copied().max().unwrap_or(0),
            });
        }
    }
}
