//! Keys that the members of a household share.
//!
//! A value suppressed in one member can be read from another: such a key is suppressed in all
//! members, or in none. More suppressed values lower no count of matches.

use hashbrown::HashMap;

use crate::error::Result;
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;

use super::problem::Problem;
use super::subsets::keys_of;
use super::{Rule, Suppression};

/// Blanks the shared keys of all members where one has them blank.
pub(super) fn complete(
    problem: &Problem<'_>,
    table: &KeyTable,
    found: &mut Suppression,
    monitor: &Monitor,
) -> Result<()> {
    // The strict rule has done so already: there every blank counts.
    let (Some(households), false) = (
        problem.settings.households,
        problem.settings.rule == Rule::Strict,
    ) else {
        return Ok(());
    };
    monitor.check()?;
    let shared = shared_keys(problem, table, households);
    let before = found.blanks.clone();
    spread(problem, households, shared, &mut found.blanks);
    for (household, (now, before)) in found
        .household
        .iter_mut()
        .zip(found.blanks.iter().zip(before))
    {
        *household |= now & !before;
    }
    Ok(())
}

/// Keys in which no two members of a household differ, missing values aside.
pub(super) fn shared_keys(problem: &Problem<'_>, table: &KeyTable, households: &Column) -> u64 {
    let n_households = households.n_values() as usize + 1;
    keys_of(problem.blankable)
        .filter(|&v| {
            let column = &table.columns()[v];
            let mut known = vec![0u32; n_households];
            (0..table.n_rows()).all(|row| {
                let code = column.codes().get(row);
                let seen = &mut known[households.codes().get(row) as usize];
                if *seen == 0 {
                    *seen = code;
                }
                code == 0 || *seen == code
            })
        })
        .fold(0, |all, v| all | 1 << v)
}

/// Blanks the keys of `shared` in every member of a household in which they are
/// blank in one.
pub(super) fn spread(problem: &Problem<'_>, households: &Column, shared: u64, blanks: &mut [u64]) {
    loop {
        let mut of_household: HashMap<u32, u64> = HashMap::new();
        for (row, &set) in blanks.iter().enumerate() {
            if set & shared != 0 {
                *of_household.entry(households.codes().get(row)).or_default() |= set & shared;
            }
        }
        let mut changed = false;
        for (row, set) in blanks.iter_mut().enumerate() {
            let Some(&more) = of_household.get(&households.codes().get(row)) else {
                continue;
            };
            let missing = problem.missing[problem.row_pattern[row] as usize];
            let all = problem.closed(*set | more & !missing, missing);
            changed |= all != *set;
            *set = all;
        }
        if !changed {
            return;
        }
    }
}
