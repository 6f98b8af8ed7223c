//! Matches before and after, by the counter of [`crate::n_matches`], which
//! knows nothing of how the blanks were found.

use crate::error::Result;
use crate::key_table::{Codes, Column, KeyTable};
use crate::n_matches::{self, n_matches, Question, Relation};
use crate::parallel::Monitor;

use super::problem::{bits, with_stratum};
use super::subsets::keys_of;
use super::{Rule, Settings};

/// Matches of every record in one key set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// Of the originals among the originals.
    pub before: Vec<u32>,
    /// Of the released among the released.
    pub after: Vec<u32>,
    /// Of the originals among the released: what someone finds who knows the
    /// true values.
    pub intruder: Vec<u32>,
    /// Released records equal to the record, a blank being a value; under
    /// [`Rule::Strict`].
    pub equal: Option<Vec<u32>>,
}

/// The table that is released.
pub fn released_table(table: &KeyTable, blanks: &[u64]) -> Result<KeyTable> {
    let columns = table.columns().iter().enumerate().map(|(v, column)| {
        let codes = (0..column.len()).map(|row| match blanks[row] >> v & 1 {
            0 => column.codes().get(row),
            _ => 0,
        });
        let codes = Codes::try_pack(column.n_values(), codes, column.len())?;
        Column::new(codes, column.n_values())
    });
    KeyTable::new(columns.collect::<Result<_>>()?)?.with_multiplicity_of(table)
}

/// Matches of the rows of `targets`, or of `file` itself, on some columns.
pub(super) fn matches(
    file: &KeyTable,
    targets: Option<&KeyTable>,
    columns: &[usize],
    households: Option<&Column>,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let chosen = |table: &KeyTable| {
        let part = KeyTable::new(
            columns
                .iter()
                .map(|&v| table.columns()[v].clone())
                .collect(),
        )?;
        match table.multiplicity() {
            None => Ok(part),
            Some(times) => part.with_multiplicity(times.to_vec()),
        }
    };
    let file = chosen(file)?;
    let targets = targets.map(chosen).transpose()?;
    let relations = vec![Relation::Equal; columns.len()];
    let settings = n_matches::Settings {
        households,
        ..n_matches::Settings::default()
    };
    let question = Question::new(&file, targets.as_ref(), relations, settings)?;
    let answer = n_matches(&question, monitor)?;
    Ok(match answer.n_households {
        Some(households) => households,
        None => answer.matches.iter().map(|&m| m as u32).collect(),
    })
}

/// All counts of a release.
pub(super) fn counts(
    table: &KeyTable,
    settings: &Settings<'_>,
    blanks: &[u64],
    monitor: &Monitor,
) -> Result<Vec<Counts>> {
    let released = with_stratum(&released_table(table, blanks)?, settings.strata)?;
    let original = with_stratum(table, settings.strata)?;
    let n_keys = table.columns().len();
    let households = settings.households;
    let of = |set: &Vec<usize>| {
        let columns: Vec<usize> = keys_of(bits(set))
            .chain(n_keys..released.columns().len())
            .collect();
        let count = |file, targets| matches(file, targets, &columns, households, monitor);
        Ok(Counts {
            before: count(&original, None)?,
            after: count(&released, None)?,
            intruder: count(&released, Some(&original))?,
            equal: match settings.rule {
                Rule::Strict => Some(equal(&released, &columns, households, monitor)?),
                _ => None,
            },
        })
    };
    settings.sets.iter().map(of).collect()
}

/// Records, or households, of the same values, a blank being one.
fn equal(
    table: &KeyTable,
    columns: &[usize],
    households: Option<&Column>,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let chosen = columns
        .iter()
        .map(|&v| table.columns()[v].clone())
        .collect();
    let whole = KeyTable::new(chosen)?.missing_as_value(&vec![true; columns.len()]);
    let columns: Vec<usize> = (0..columns.len()).collect();
    matches(&whole, None, &columns, households, monitor)
}
