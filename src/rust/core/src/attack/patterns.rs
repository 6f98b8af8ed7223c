//! The distinct rows of both files on the keys in use.

use super::Files;
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column, Groups, KeyTable};
use crate::linkage::sorted_rows;
use crate::memory::{filled, room_for};
use crate::parallel::{self, Monitor, ROWS_PER_BLOCK};

/// Distinct rows of the known file, and of the released one, called queries.
pub(super) struct Patterns {
    pub rows: KeyTable,
    /// Records per row.
    pub counts: Vec<u64>,
    pub queries: KeyTable,
    pub query_counts: Vec<u64>,
    /// Per known record, its row.
    pub row_of_known: Vec<u32>,
    /// Per released record, its query.
    pub query_of_record: Vec<u32>,
}

impl Patterns {
    pub fn new(files: &Files, keys: &[usize], monitor: &Monitor) -> Result<Self> {
        let (rows, groups) = distinct_rows(files.known, keys, monitor)?;
        let counts = groups.counts().to_vec();
        let row_of_known = groups.row_group().to_vec();
        drop(groups);
        let (queries, groups) = distinct_rows(files.released, keys, monitor)?;
        Ok(Self {
            rows,
            counts,
            row_of_known,
            queries,
            query_counts: groups.counts().to_vec(),
            query_of_record: groups.row_group().to_vec(),
        })
    }

    pub fn n_keys(&self) -> usize {
        self.rows.columns().len()
    }

    pub fn n_queries(&self) -> usize {
        self.queries.n_rows()
    }

    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Every `step`-th query alone.
    pub fn sample(&self, step: usize) -> Result<Self> {
        let chosen: Vec<u32> = (0..self.n_queries() as u32).step_by(step).collect();
        Ok(Self {
            rows: self.rows.clone(),
            counts: self.counts.clone(),
            queries: self.queries.select(&chosen)?,
            query_counts: chosen
                .iter()
                .map(|&q| self.query_counts[q as usize])
                .collect(),
            row_of_known: Vec::new(),
            query_of_record: Vec::new(),
        })
    }
}

fn distinct_rows(
    table: &KeyTable,
    keys: &[usize],
    monitor: &Monitor,
) -> Result<(KeyTable, Groups)> {
    room_for(4 * table.n_rows() * keys.len())?;
    let columns = keys.iter().map(|&v| table.columns()[v].clone()).collect();
    let chosen = KeyTable::new(columns)?;
    let groups = chosen.group(monitor)?;
    Ok((chosen.select(groups.first_rows())?, groups))
}

/// The codes of the given rows of one column.
pub(super) fn codes_of(column: &Column, rows: &[u32]) -> Vec<u32> {
    with_codes!(column.codes(), |codes| rows
        .iter()
        .map(|&r| codes[r as usize].value())
        .collect())
}

/// Rows of a table in lexicographic order of the given columns, and per row the
/// place, among the columns, where it first differs from the row before; the
/// number of columns where it does not.
pub(super) fn sorted_with_changes(
    table: &KeyTable,
    order: impl Iterator<Item = usize>,
    monitor: &Monitor,
) -> Result<(Vec<u32>, Vec<u8>)> {
    let columns: Vec<&Column> = order.map(|v| &table.columns()[v]).collect();
    let sorted = sorted_rows(&columns, monitor)?;
    let mut changes = filled(columns.len() as u8, sorted.len())?;
    // From the last column to the first: the first place that differs stays.
    for (place, column) in columns.iter().enumerate().rev() {
        monitor.check()?;
        with_codes!(column.codes(), |codes| {
            parallel::for_each(
                changes.chunks_mut(ROWS_PER_BLOCK).enumerate(),
                |(b, changes)| {
                    // The row before stands in front of the block; the first row has none.
                    let rows = &sorted[(b * ROWS_PER_BLOCK).saturating_sub(1)..];
                    let skip = usize::from(b == 0);
                    for (change, pair) in changes.iter_mut().skip(skip).zip(rows.windows(2)) {
                        if codes[pair[0] as usize] != codes[pair[1] as usize] {
                            *change = place as u8;
                        }
                    }
                },
            );
        });
    }
    changes[0] = 0;
    Ok((sorted, changes))
}
