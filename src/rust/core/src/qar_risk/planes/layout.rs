//! Order of the columns for counting: by number of values, the narrow ones as bits.

use super::super::partition::{Partition, Tally};
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::memory::{filled, room_for};
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Columns with more values than this are too wide for bits: a record would
/// spend more time on them than on a look-up in a table.
pub const MAX_BITS: usize = 256;

/// Bytes of a granule: as many bits as the registers of any machine hold
/// three times over.
pub const GRANULE_BYTES: usize = 32;

/// Rows that are turned from columns into rows of codes at once: few enough
/// to stay in the caches while one column after the other is filled in.
const ROWS_PER_BLOCK: usize = 1 << 12;

/// The columns in rising number of values, and the codes of the narrow ones
/// row by row, renumbered so that every code occurs.
pub struct Layout {
    /// Per rank: the column of the table.
    pub column: Vec<usize>,
    /// Per narrow rank: the number of codes that occur.
    pub levels: Vec<usize>,
    /// Per narrow rank: its first byte among the bits of a record. One entry
    /// more closes the last rank.
    pub first_byte: Vec<usize>,
    /// Codes of the narrow ranks.
    codes: RowCodes,
    /// Per row the number of records, at most three; empty if all are one.
    repeats: Vec<u8>,
}

impl Layout {
    /// Lines up the columns of `table`; columns of more than `max_bits`
    /// values are wide.
    pub fn new(table: &KeyTable, max_bits: usize, monitor: &Monitor) -> Result<Self> {
        let renumbered = parallel::try_map(table.columns(), monitor, |column| Ok(dense(column)))?;
        let mut column: Vec<usize> = (0..renumbered.len()).collect();
        column.sort_by_key(|&v| (renumbered[v].0, v));
        let levels: Vec<usize> = column
            .iter()
            .map(|&v| renumbered[v].0)
            .take_while(|&k| k <= max_bits.min(MAX_BITS))
            .collect();
        let mut first_byte = vec![0];
        for k in &levels {
            first_byte.push(first_byte[first_byte.len() - 1] + k.div_ceil(8));
        }
        let n_narrow = levels.len();
        // These codes, and per thread those of the rows it has sorted.
        let sorted = rayon::current_num_threads() * (n_narrow + 8);
        room_for(table.n_rows() * (n_narrow + 4 + sorted))?;
        let mut codes = filled(0u8, table.n_rows() * n_narrow)?;
        let some_rows = (n_narrow * ROWS_PER_BLOCK).max(1);
        parallel::try_for_each(
            codes.chunks_mut(some_rows).enumerate(),
            monitor,
            |(i, block)| {
                for (rank, &v) in column[..n_narrow].iter().enumerate() {
                    with_codes!(table.columns()[v].codes(), |old| {
                        let old = &old[i * ROWS_PER_BLOCK..];
                        for (row, c) in block.chunks_exact_mut(n_narrow).zip(old) {
                            row[rank] = renumbered[v].1[c.index()] as u8;
                        }
                    });
                }
                Ok(())
            },
        )?;
        let repeats = table.multiplicity().map_or_else(Vec::new, |m| {
            m.iter().map(|&records| records.min(3) as u8).collect()
        });
        Ok(Self {
            column,
            levels,
            first_byte,
            codes: RowCodes {
                codes,
                width: n_narrow,
            },
            repeats,
        })
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.column.len()
    }

    /// Number of columns that go as bits; they have the first ranks.
    pub fn n_narrow(&self) -> usize {
        self.levels.len()
    }

    /// Codes of the narrow ranks, in the order of the table.
    pub fn codes(&self) -> &RowCodes {
        &self.codes
    }

    /// The rows sorted by `column`: the classes, whose rows are numbered in
    /// the new order, and the codes of the first `width` ranks in that order.
    /// Rows alone in their class are stripped. One pass that reads in order
    /// and writes in as many places as there are values: later passes over a
    /// class then read what lies together.
    pub fn sort_by(
        &self,
        column: &Column,
        width: usize,
        monitor: &Monitor,
    ) -> Result<(Partition, RowCodes)> {
        let n_codes = column.n_values() as usize + 1;
        let mut place = vec![0u32; n_codes];
        let mut stripped = Tally::default();
        let mut ends = Vec::new();
        let mut at = 0;
        with_codes!(column.codes(), |by| {
            for code in by {
                place[code.index()] += 1;
            }
            for place in &mut place {
                let size = *place;
                *place = if size == 1 { u32::MAX } else { at };
                match size {
                    0 => {}
                    1 => stripped.add(1),
                    _ => {
                        at += size;
                        ends.push(at);
                    }
                }
            }
            let mut codes = filled(0u8, at as usize * width)?;
            let rows = self.codes.codes.chunks(self.n_narrow() * ROWS_PER_CHECK);
            for (by, rows) in by.chunks(ROWS_PER_CHECK).zip(rows) {
                monitor.check()?;
                for (code, row) in by.iter().zip(rows.chunks_exact(self.n_narrow())) {
                    let place = &mut place[code.index()];
                    if *place != u32::MAX {
                        codes[*place as usize * width..][..width].copy_from_slice(&row[..width]);
                        *place += 1;
                    }
                }
            }
            let partition = Partition {
                rows: (0..at).collect(),
                ends,
                stripped,
            };
            Ok((partition, RowCodes { codes, width }))
        })
    }

    /// Number of times a row is counted: more than three records are three.
    pub fn repeats(&self, row: u32) -> u8 {
        self.repeats.get(row as usize).copied().unwrap_or(1)
    }

    /// True if rows stand for more than one record.
    pub fn has_repeats(&self) -> bool {
        !self.repeats.is_empty()
    }
}

/// Codes of the first ranks, row by row.
pub struct RowCodes {
    codes: Vec<u8>,
    width: usize,
}

impl RowCodes {
    /// Codes of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of `rows`, one after the other: as they stand where they
    /// stand together, else brought together in `gathered`.
    pub fn block<'a>(&'a self, rows: &[u32], gathered: &'a mut Vec<u8>) -> &'a [u8] {
        let at = |row: u32| row as usize * self.width;
        if rows.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return &self.codes[at(rows[0])..][..rows.len() * self.width];
        }
        gathered.clear();
        for &row in rows {
            gathered.extend_from_slice(&self.codes[at(row)..][..self.width]);
        }
        gathered
    }
}

/// Number of codes of a column that occur, and per code its number among them.
fn dense(column: &Column) -> (usize, Vec<u32>) {
    let mut number = vec![0u32; column.n_values() as usize + 1];
    with_codes!(column.codes(), |codes| codes
        .iter()
        .for_each(|c| number[c.index()] = 1));
    let mut n = 0;
    for place in &mut number {
        let occurs = *place;
        *place = n;
        n += occurs;
    }
    (n as usize, number)
}
