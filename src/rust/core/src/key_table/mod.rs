//! Key variables as columns of dense codes: the one type every method takes.
//!
//! In a [`KeyTable`] with `n` rows, column `v` holds codes `0..=K_v`. Code 0
//! is missing; codes `1..=K_v` number the values that occur, in value order.
//! A row stands for one record, or, in a table of distinct rows, for as many
//! records as its multiplicity says.

mod column;
mod encode;
mod fingerprint;
mod group;

pub use column::{Codes, Column};
pub use encode::{
    encode_doubles, encode_integers, encode_levels, encode_texts, encode_wide_integers, text_ids,
    Coded, TextIds,
};
pub use fingerprint::{hash_numbers, hash_of_rows, hash_texts, hash_words, mix_rows};
pub(crate) use group::append_codes;
pub use group::Groups;

pub(crate) use column::{with_codes, Code};

use crate::error::{Error, Result};
use crate::memory::room_for;
use crate::parallel::{self, Monitor};

/// Coded key variables, each row with a multiplicity.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyTable {
    columns: Vec<Column>,
    n_rows: usize,
    multiplicity: Option<Vec<u64>>,
}

impl KeyTable {
    /// A table of records: every row stands for one.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, Column::len);
        if columns.is_empty() || n_rows == 0 {
            return Err(Error::BadArgument(
                "A key table needs at least one key variable and one record.".into(),
            ));
        }
        if u32::try_from(n_rows).is_err() {
            return Err(Error::TooLarge(format!(
                "A key table has at most {} rows, not {n_rows}.",
                u32::MAX
            )));
        }
        if columns.iter().any(|c| c.len() != n_rows) {
            return Err(Error::BadArgument(
                "All key variables must have the same number of records.".into(),
            ));
        }
        Ok(Self {
            columns,
            n_rows,
            multiplicity: None,
        })
    }

    /// Sets the number of records of each row: `multiplicity[i]` for row `i`.
    pub fn with_multiplicity(mut self, multiplicity: Vec<u64>) -> Result<Self> {
        if multiplicity.len() != self.n_rows || multiplicity.contains(&0) {
            return Err(Error::BadArgument(
                "Every row of a key table must stand for at least one record.".into(),
            ));
        }
        self.multiplicity = Some(multiplicity);
        Ok(self)
    }

    /// Sets the number of records of each row to that in a table with these rows.
    pub fn with_multiplicity_of(self, other: &Self) -> Result<Self> {
        match &other.multiplicity {
            None => Ok(self),
            Some(m) => self.with_multiplicity(m.clone()),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of records the rows stand for.
    pub fn n_records(&self) -> u64 {
        match &self.multiplicity {
            None => self.n_rows as u64,
            Some(m) => m.iter().sum(),
        }
    }

    /// The columns, in the order of the key variables.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Number of records in some of the rows.
    pub fn n_records_of(&self, rows: &[u32]) -> u64 {
        match &self.multiplicity {
            None => rows.len() as u64,
            Some(m) => rows.iter().map(|&row| m[row as usize]).sum(),
        }
    }

    /// Records that miss a value of column `v`.
    pub fn n_missing(&self, v: usize) -> u64 {
        let column = &self.columns[v];
        match &self.multiplicity {
            Some(m) if column.n_missing() > 0 => with_codes!(column.codes(), |codes| codes
                .iter()
                .zip(m)
                .filter(|(code, _)| code.index() == 0)
                .map(|(_, times)| times)
                .sum()),
            _ => column.n_missing() as u64,
        }
    }

    /// Records per row; `None` when every row is one record.
    pub fn multiplicity(&self) -> Option<&[u64]> {
        self.multiplicity.as_deref()
    }

    /// Indices of the rows without a missing value.
    pub fn complete_rows(&self) -> Vec<u32> {
        self.rows_complete_on(&vec![true; self.columns.len()])
    }

    /// Indices of the rows without a missing value in the columns that `chosen`
    /// names by their place.
    pub fn rows_complete_on(&self, chosen: &[bool]) -> Vec<u32> {
        let mut complete = vec![true; self.n_rows];
        let columns = self.columns.iter().zip(chosen);
        for (column, _) in columns.filter(|(c, &chosen)| chosen && c.n_missing() > 0) {
            with_codes!(column.codes(), |codes| {
                for (flag, &code) in complete.iter_mut().zip(codes) {
                    *flag &= code != 0;
                }
            });
        }
        (0u32..)
            .zip(complete)
            .filter_map(|(row, keep)| keep.then_some(row))
            .collect()
    }

    /// The table of the given rows, in the given order. Codes stay as they
    /// are, so a value may no longer occur.
    pub fn select(&self, rows: &[u32]) -> Result<Self> {
        room_for(4 * rows.len() * self.columns.len())?;
        let columns = self.columns.iter().map(|c| c.select(rows)).collect();
        let table = Self::new(columns)?;
        match &self.multiplicity {
            None => Ok(table),
            Some(m) => table.with_multiplicity(rows.iter().map(|&r| m[r as usize]).collect()),
        }
    }

    /// The table in which every member of `keys`, a list of column indices,
    /// is one column: a group's columns become one, whose values are the
    /// combinations that occur, missing being a value of its own inside.
    pub fn merge(&self, keys: &[Vec<usize>], monitor: &Monitor) -> Result<Self> {
        if keys.iter().flatten().any(|&v| v >= self.columns.len()) {
            return Err(Error::BadArgument(
                "A key group names a column the table does not have.".into(),
            ));
        }
        let columns = keys
            .iter()
            .map(|members| match members.as_slice() {
                [one] => Ok(self.columns[*one].clone()),
                several => {
                    let parts: Vec<&Column> = several.iter().map(|&v| &self.columns[v]).collect();
                    let groups = group::group_columns(&parts, self.n_rows, None, monitor)?;
                    Ok(groups.into_column())
                }
            })
            .collect::<Result<_>>()?;
        let mut merged = Self::new(columns)?;
        merged.multiplicity.clone_from(&self.multiplicity);
        Ok(merged)
    }

    /// The table with one column more, whose values are numbers from 0.
    pub fn with_column(&self, values: &[u32]) -> Result<Self> {
        let n_values = values.iter().max().map_or(0, |&largest| largest + 1);
        let codes = Codes::pack(n_values, values.iter().map(|&value| value + 1));
        let mut columns = self.columns.clone();
        columns.push(Column::new(codes, n_values)?);
        Self::new(columns)?.with_multiplicity_of(self)
    }

    /// The table in which missing is a value of its own, the last one, of the
    /// columns that `chosen` names by their place.
    pub fn missing_as_value(self, chosen: &[bool]) -> Self {
        let columns = self.columns.into_iter().enumerate();
        let columns = columns.map(|(v, column)| match chosen.get(v) {
            Some(true) => column.missing_as_value(),
            _ => column,
        });
        Self {
            columns: columns.collect(),
            ..self
        }
    }

    /// The distinct rows, in order of first appearance.
    pub fn group(&self, monitor: &Monitor) -> Result<Groups> {
        let columns: Vec<&Column> = self.columns.iter().collect();
        group::group_columns(&columns, self.n_rows, self.multiplicity(), monitor)
    }

    /// The table whose rows are the distinct rows of this one.
    pub fn distinct(&self, groups: &Groups) -> Result<Self> {
        let columns = self.selected_columns(groups.first_rows());
        Self::new(columns)?.with_multiplicity(groups.counts().to_vec())
    }

    /// The columns of the given rows, on all threads.
    pub(crate) fn selected_columns(&self, rows: &[u32]) -> Vec<Column> {
        parallel::map(&self.columns, |column| column.select(rows))
    }

    /// Replaces the codes of column `v` by `map[code - 1]`, for codes counted
    /// in a dictionary of `n_values` values shared with other tables.
    pub fn recode(&mut self, v: usize, map: &[u32], n_values: u32) -> Result<()> {
        let Some(column) = self.columns.get_mut(v) else {
            return Err(Error::BadArgument(
                "There is no such column to recode.".into(),
            ));
        };
        column.recode(map, n_values)
    }

    /// The table in which only values that occur have codes, in their order, and
    /// per column the row in which each first occurs.
    pub fn dense(mut self) -> (Self, Vec<Vec<u32>>) {
        let mut first_rows = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let mut first = vec![u32::MAX; column.n_values() as usize];
            with_codes!(column.codes(), |codes| {
                for (row, code) in (0u32..).zip(codes).filter(|(_, code)| code.index() > 0) {
                    let slot = &mut first[code.index() - 1];
                    *slot = row.min(*slot);
                }
            });
            column.keep_values(
                &first
                    .iter()
                    .map(|&row| row < u32::MAX)
                    .collect::<Vec<bool>>(),
            );
            first.retain(|&row| row < u32::MAX);
            first_rows.push(first);
        }
        (self, first_rows)
    }

    /// 64 bits that tell tables apart: the hash of all codes, the names of
    /// the columns and the number of rows. `places` gives, for a column whose
    /// values have no order, code `k` the place `places[k - 1]` among its values
    /// in an order that does not depend on how they were listed.
    pub fn fingerprint(&self, places: &[Option<&[u32]>], names: &[&[u8]]) -> u64 {
        fingerprint::fingerprint(self, places, names)
    }
}

#[cfg(test)]
mod tests;
