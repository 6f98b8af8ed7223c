//! The file as the rules see it: distinct patterns, and those that violate.

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::memory::{filled, room_for};
use crate::parallel::Monitor;

use super::measure::matches;
use super::subsets::keys_of;
use super::{Rule, Settings};

/// Distinct patterns of keys and stratum, with what they need.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub settings: &'a Settings<'a>,
    /// Number of key columns; the stratum, where there is one, comes after.
    pub n_keys: usize,
    /// The patterns, each with its number of records.
    pub distinct: KeyTable,
    /// Per record, its pattern.
    pub row_pattern: Vec<u32>,
    /// The records of every row, where a row can be many.
    pub times: Option<&'a [u64]>,
    /// Per pattern, its records.
    pub counts: Vec<u32>,
    /// Per pattern, the bits of its missing keys.
    pub missing: Vec<u64>,
    /// Per key set, the bits of its keys.
    pub sets: Vec<u64>,
    /// Per key set and pattern, the matches before.
    pub before: Vec<Vec<u32>>,
    /// Per pattern, whether some key set is violated.
    pub violating: Vec<bool>,
    /// The patterns that violate.
    pub violators: Vec<u32>,
    /// Keys of some key set that may be blanked.
    pub choosable: u64,
    /// These, and what they are linked to.
    pub blankable: u64,
}

impl<'a> Problem<'a> {
    pub fn new(table: &'a KeyTable, settings: &'a Settings<'a>, monitor: &Monitor) -> Result<Self> {
        check(table, settings)?;
        let n_keys = table.columns().len();
        let full = with_stratum(table, settings.strata)?;
        let groups = full.group(monitor)?;
        let distinct = full.distinct(&groups)?;
        room_for(distinct.n_rows() * (8 + 4 * settings.sets.len()))?;
        let sets: Vec<u64> = settings.sets.iter().map(|set| bits(set)).collect();
        let mut before = Vec::new();
        for set in &sets {
            before.push(match settings.households {
                None => matches(
                    &distinct,
                    None,
                    &columns_of(&distinct, n_keys, *set),
                    None,
                    monitor,
                )?,
                Some(_) => {
                    let columns = columns_of(&full, n_keys, *set);
                    let rows = matches(&full, None, &columns, settings.households, monitor)?;
                    groups
                        .first_rows()
                        .iter()
                        .map(|&r| rows[r as usize])
                        .collect()
                }
            });
        }
        let union = sets.iter().fold(0, |all, set| all | set);
        let all = union | bits(&settings.linked.iter().map(|l| l.1).collect::<Vec<_>>());
        let blankable = keys_of(all)
            .filter(|&v| settings.weights[v].is_finite())
            .fold(0, |all, v| all | 1 << v);
        let violating: Vec<bool> = (0..distinct.n_rows())
            .map(|p| before.iter().any(|f: &Vec<u32>| f[p] < settings.k))
            .collect();
        let problem = Self {
            settings,
            n_keys,
            missing: missing_bits(&distinct, n_keys, all)?,
            row_pattern: groups.row_group().to_vec(),
            times: table.multiplicity(),
            // Of a large count all that is asked is whether it is below `k`.
            counts: (groups.counts().iter())
                .map(|&c| c.min(u64::from(u32::MAX)) as u32)
                .collect(),
            distinct,
            sets,
            before,
            violators: (0u32..)
                .zip(&violating)
                .filter(|(_, &v)| v)
                .map(|(p, _)| p)
                .collect(),
            violating,
            choosable: blankable & union,
            blankable,
        };
        Ok(problem)
    }

    /// True if every cost is a whole number.
    pub fn has_whole_costs(&self) -> bool {
        let whole = |w: &f64| w.is_infinite() || w.fract() <= 0.0;
        self.settings.weights.iter().all(whole)
    }

    /// Cost of blanking `set`.
    pub fn cost(&self, set: u64) -> f64 {
        keys_of(set).map(|v| self.settings.weights[v]).sum()
    }

    /// `set` with what its keys are linked to, the keys `missing` anyway aside.
    pub fn closed(&self, mut set: u64, missing: u64) -> u64 {
        loop {
            let more = (self.settings.linked.iter())
                .filter(|(from, _)| set >> from & 1 == 1)
                .fold(set, |all, (_, to)| all | 1 << to)
                & !missing;
            if more == set {
                return set;
            }
            set = more;
        }
    }

    /// The columns that records must agree in when they are in `set` and the
    /// keys of `without` do not count.
    pub fn columns(&self, set: u64, without: u64) -> Vec<usize> {
        columns_of(&self.distinct, self.n_keys, set & !without)
    }
}

/// The bits of some columns.
pub(super) fn bits(columns: &[usize]) -> u64 {
    columns.iter().fold(0, |all, &v| all | 1 << v)
}

/// The columns of the bits of `set`, with the stratum that comes after the keys.
fn columns_of(table: &KeyTable, n_keys: usize, set: u64) -> Vec<usize> {
    keys_of(set).chain(n_keys..table.columns().len()).collect()
}

/// The table with the stratum as its last column.
pub(super) fn with_stratum(table: &KeyTable, strata: Option<&Column>) -> Result<KeyTable> {
    KeyTable::new(table.columns().iter().chain(strata).cloned().collect())?
        .with_multiplicity_of(table)
}

fn missing_bits(table: &KeyTable, n_keys: usize, union: u64) -> Result<Vec<u64>> {
    let mut missing = filled(0u64, table.n_rows())?;
    let columns = table.columns()[..n_keys].iter().enumerate();
    for (v, column) in columns.filter(|(v, c)| c.n_missing() > 0 && union >> v & 1 == 1) {
        with_codes!(column.codes(), |codes| {
            for (bits, code) in missing.iter_mut().zip(codes) {
                *bits |= u64::from(code.value() == 0) << v;
            }
        });
    }
    Ok(missing)
}

/// True if what a record needs follows from its pattern alone, so that a row can stand for
/// many records.
fn separates(settings: &Settings<'_>) -> bool {
    settings.rule == Rule::Own && settings.households.is_none()
}

fn check(table: &KeyTable, settings: &Settings<'_>) -> Result<()> {
    let q = table.columns().len();
    let n = table.n_rows();
    if q > 64 {
        return Err(Error::too_large(
            "Cells can be blanked in at most 64 key variables.",
            &format!("There are {q}."),
            "Leave out key variables.",
        ));
    }
    let column_fits =
        |column: Option<&Column>| column.is_none_or(|c| c.len() == n && c.n_missing() == 0);
    let fits = settings.k >= 1
        && !settings.sets.is_empty()
        && settings
            .sets
            .iter()
            .all(|set| !set.is_empty() && set.iter().all(|&v| v < q))
        && settings.weights.len() == q
        && settings.weights.iter().all(|&w| w > 0.0)
        && settings.linked.iter().all(|&(a, b)| a < q && b < q)
        && column_fits(settings.strata)
        && column_fits(settings.households)
        && (table.multiplicity().is_none() || separates(settings));
    if !fits {
        return Err(Error::BadArgument(
            "Settings of a suppression must fit its table.".into(),
        ));
    }
    Ok(())
}
