//! Why is a record unique? Minimal sample uniques and what they add up to.
//!
//! A record is *unique* on a set of key variables if no other record agrees with it on
//! all of them. A *minimal sample unique* (MSU) of a record is a set on which it is
//! unique while it is unique on no proper subset (Elliot, Manning and Ford 2002). A
//! missing value is a value of its own, or agrees with every value. In the latter case
//! a variable that a record misses tells it from nobody and is in none of its MSUs.
//!
//! Uniqueness only grows with the set: a record has the MSU `S` of size `s` if it is unique
//! on `S` and on none of the `s` subsets of size `s - 1`. One walk finds who is unique on the
//! sets of all sizes but the largest, a second one who is on those. An MSU of size `k` out of
//! `d` variables weighs
//!
//! ```text
//! w(k) = product over i from k to M of (d - i),   M = min(largest size, d - 1)
//! ```
//!
//! (Elliot et al. 2005), and the *contribution* of a variable to a record is the sum of
//! the weights of the MSUs that contain it.
//!
//! # Cost
//!
//! At most one step per set and row in each walk, fewer as rows become unique on shorter
//! sets ([`walk`]). Memory: one bit per row and set of all sizes but the largest, and `8 d`
//! bytes a row.

mod collect;
mod replicated;
mod walk;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::key_table::{Groups, KeyTable};
use crate::memory::filled;
use crate::missing::Missing;
use crate::n_matches::{n_matches, Question, Relation, Settings};
use crate::parallel::Monitor;
use collect::{find_minimal, Collected};
use replicated::{Others, Replicated};

/// Key sets of one size are no more than this.
const MOST_SETS: usize = 10_000_000;

/// Minimal sample uniques of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecialUniques {
    /// Per row and size from 1, its MSUs: the sizes of a row are neighbours.
    pub n_msu: Vec<u32>,
    /// Per row, the place in `sets` of the first of its smallest MSUs.
    pub smallest: Vec<Option<u32>>,
    /// Sets of variables, by size and then in the order of `combn()`.
    pub sets: Vec<Vec<usize>>,
    /// Per variable, the MSUs that contain it.
    pub n_by_variable: Vec<u64>,
    /// Per variable, the sum of its contributions over the rows.
    pub by_variable: Vec<f64>,
    /// Per variable and code (0 for missing), the same over the rows with this code.
    pub by_level: Vec<Vec<f64>>,
    /// Per variable and later variable, the sum of contributions of MSUs with both: the later
    /// variables are neighbours, 0 for those that are not later.
    pub by_pair: Vec<f64>,
    /// The rows with the largest scores, largest first and ties in order.
    pub top: Vec<u32>,
    /// Per top row and variable, its contribution: the variables of a row are neighbours.
    pub top_contributions: Vec<f64>,
    /// Records without a match on all key variables, and records with exactly one, if they
    /// were asked for.
    pub uniques_and_paired: Option<(u64, u64)>,
}

/// Finds the minimal sample uniques of up to `max_size` variables. `n_top` rows are
/// described in detail, and `pairs` asks for uniques and paired records on all key variables.
///
/// # Errors
///
/// If missing values exclude records (the table must be without them), and if the sets
/// are too many to keep.
pub fn special_uniques(
    table: &KeyTable,
    max_size: usize,
    missing: Missing,
    n_top: usize,
    pairs: bool,
    monitor: &Monitor,
) -> Result<SpecialUniques> {
    let d = table.columns().len();
    let incomplete = is_incomplete(table);
    let table = judged(table, missing, incomplete)?;
    monitor.set_total(steps(d, max_size)?);
    let groups = table.group(monitor)?;
    let rows = enough(&groups);
    let few = selected(&table, &rows)?;
    let found = Collected::new(few.n_rows(), d, max_size)?;
    find_minimal(&few, max_size, &found, monitor)?;
    let counts = groups.counts();
    let with = |k: u64| counts.iter().filter(|&&count| count == k).count() as u64;
    let uniques_and_paired = match (pairs, missing) {
        (false, _) => None,
        (true, Missing::Wildcard) if incomplete => Some(uniques_and_paired(&table, monitor)?),
        (true, _) => Some((with(1), 2 * with(2))),
    };
    Ok(SpecialUniques {
        uniques_and_paired,
        ..found.spread(&table, &few, &rows, n_top)?
    })
}

/// The MSUs of `table` that `released`, coded alike, has as well: the same variables with the
/// same values. Per row and size from 1, the sizes of a row being neighbours.
///
/// # Errors
///
/// Those of [`special_uniques`].
pub fn replicated(
    table: &KeyTable,
    released: &KeyTable,
    max_size: usize,
    missing: Missing,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let d = table.columns().len();
    // Missing values have one code in both files.
    let incomplete = is_incomplete(table) || is_incomplete(released);
    let table = judged(table, missing, incomplete)?;
    let released = judged(released, missing, incomplete)?;
    monitor.set_total(2 * steps(d, max_size)?);
    let few_released = selected(&released, &enough(&released.group(monitor)?))?;
    let others = Others::of(&few_released);
    find_minimal(&few_released, max_size, &others, monitor)?;
    let rows = enough(&table.group(monitor)?);
    let few = selected(&table, &rows)?;
    let found = Replicated::new(&few, others, max_size)?;
    find_minimal(&few, max_size, &found, monitor)?;
    let mut n_msu = filled(0u32, table.n_rows() * max_size)?;
    for (counts, &row) in found.counts().chunks(max_size).zip(&rows) {
        n_msu[row as usize * max_size..][..max_size].copy_from_slice(counts);
    }
    Ok(n_msu)
}

fn is_incomplete(table: &KeyTable) -> bool {
    table.columns().iter().any(|c| c.n_missing() > 0)
}

/// The table with missing values as values, if they are.
fn judged(table: &KeyTable, missing: Missing, incomplete: bool) -> Result<Cow<'_, KeyTable>> {
    match missing {
        Missing::Category if incomplete => {
            let all = vec![true; table.columns().len()];
            Ok(Cow::Owned(table.clone().missing_as_value(&all)))
        }
        Missing::Exclude if incomplete => Err(Error::BadArgument(
            "Incomplete records must be left out of the table.".into(),
        )),
        _ => Ok(Cow::Borrowed(table)),
    }
}

/// Sets of variables that are looked at.
fn steps(d: usize, max_size: usize) -> Result<u64> {
    if max_size == 0 || max_size > d {
        return Err(Error::BadArgument(format!(
            "The largest size must lie between 1 and the number of key variables ({d})."
        )));
    }
    ((max_size - 1).max(1)..=max_size)
        .map(|size| KeySets::new(d, size, MOST_SETS).map(|sets| sets.len() as u64))
        .sum()
}

/// Two records with one key are unique on no set: two of them are as good as all.
fn enough(groups: &Groups) -> Vec<u32> {
    let mut rows: Vec<u32> = Vec::with_capacity(2 * groups.len());
    for (&first, &count) in groups.first_rows().iter().zip(groups.counts()) {
        rows.push(first);
        if count > 1 {
            rows.push(first);
        }
    }
    rows
}

fn selected<'a>(table: &'a KeyTable, rows: &[u32]) -> Result<Cow<'a, KeyTable>> {
    let plain = rows.len() == table.n_rows() && table.multiplicity().is_none();
    if plain && rows.iter().zip(0..).all(|(&row, i)| row == i) {
        return Ok(Cow::Borrowed(table));
    }
    Ok(Cow::Owned(KeyTable::new(table.selected_columns(rows))?))
}

/// Uniques if missing values match everything.
fn uniques_and_paired(table: &KeyTable, monitor: &Monitor) -> Result<(u64, u64)> {
    let relations = vec![Relation::Equal; table.columns().len()];
    let question = Question::new(table, None, relations, Settings::default())?;
    let matches = n_matches(&question, monitor)?.matches;
    let with = |k: u64| -> u64 {
        let rows = matches.iter().enumerate().filter(|(_, &m)| m as u64 == k);
        rows.map(|(row, _)| table.multiplicity().map_or(1, |m| m[row]))
            .sum()
    };
    Ok((with(1), with(2)))
}

#[cfg(test)]
mod tests;
