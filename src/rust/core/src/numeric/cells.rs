//! Bounds of costs by tables, for costs that take long to look up.
//!
//! The known values of each variable are put into cells of about as many values. A released
//! record has a table of the least cost of each cell; the bound of a box or a record is a look
//! into the table of each variable.

use super::tree::Tree;
use super::{Dim, Metric};
use crate::error::Result;
use crate::memory::{filled, reserved};

/// Cells of a variable; what is missing has the last number.
const CELLS: usize = if cfg!(test) { 3 } else { 255 };
const MISSING: u8 = CELLS as u8;

/// Least costs of one released record by cell, the last one if the known value is missing.
pub type Table = [f64; CELLS + 1];

/// One variable of the known records.
struct Column {
    /// Lowest and highest value of each cell.
    ranges: Vec<(f64, f64)>,
}

impl Column {
    fn new(rising: &[f64]) -> Self {
        let n = rising.len();
        let mut lows: Vec<f64> = (0..CELLS.min(n))
            .map(|cell| rising[cell * n / CELLS.min(n)])
            .collect();
        lows.dedup();
        let end = |cell: usize| match lows.get(cell + 1) {
            Some(&next) => rising.partition_point(|&x| x < next),
            None => n,
        };
        let ranges = lows.iter().enumerate();
        Self {
            ranges: ranges.map(|(c, &low)| (low, rising[end(c) - 1])).collect(),
        }
    }

    fn cell(&self, x: f64) -> u8 {
        if x.is_nan() || self.ranges.is_empty() {
            return MISSING;
        }
        let above = self.ranges.partition_point(|&(low, _)| low <= x);
        above.saturating_sub(1) as u8
    }

    /// `least` is the least difference of `x` from any known value.
    fn table(&self, dim: &Dim, x: f64, least: f64) -> Table {
        let mut table = [dim.missing; CELLS + 1];
        if !x.is_nan() {
            for (cost, &(low, high)) in table.iter_mut().zip(&self.ranges) {
                *cost = dim.of_gap((low - x).max(x - high).max(least));
            }
            // A box around `x` may have cells on both sides.
            if let Some(own) = self.ranges.first().map(|_| self.cell(x)) {
                table[usize::from(own)] = dim.of_gap(least);
            }
        }
        table
    }
}

/// Cells of a node's values in one variable.
#[derive(Clone, Copy)]
struct Span {
    low: u8,
    high: u8,
    has_missing: bool,
}

pub struct Cells {
    columns: Vec<Column>,
    /// By node and variable.
    spans: Vec<Span>,
    /// By record, in the order of the tree, and variable.
    rows: Vec<u8>,
}

/// A released record.
pub struct Asked {
    /// By variable, its own cell and its table.
    tables: Vec<(u8, Table)>,
    /// The cost of a known value that is missing.
    missing: Vec<f64>,
}

impl Cells {
    /// Of records with `values`, in the order of the tree, and their `rising` columns.
    pub fn new(tree: &Tree, values: &[f64], rising: &[Vec<f64>]) -> Result<Self> {
        let columns: Vec<Column> = rising.iter().map(|rising| Column::new(rising)).collect();
        let mut spans = reserved(tree.nodes.len() * columns.len())?;
        for node in 0..tree.nodes.len() {
            for (side, column) in tree.sides(node).iter().zip(&columns) {
                let of = |x| {
                    if side.has_values() {
                        column.cell(x)
                    } else {
                        MISSING
                    }
                };
                spans.push(Span {
                    low: of(side.low),
                    high: of(side.high),
                    has_missing: side.has_missing,
                });
            }
        }
        let mut rows = filled(MISSING, values.len())?;
        for (at, (cell, &x)) in rows.iter_mut().zip(values).enumerate() {
            *cell = columns[at % columns.len()].cell(x);
        }
        Ok(Self {
            columns,
            spans,
            rows,
        })
    }

    /// The tables of a record with these least differences from any known value.
    pub fn ask(&self, metric: &Metric, values: &[f64], least: &[f64]) -> Asked {
        let tables = self
            .columns
            .iter()
            .zip(metric)
            .zip(values.iter().zip(least));
        Asked {
            tables: tables
                .map(|((column, dim), (&x, &least))| (column.cell(x), column.table(dim, x, least)))
                .collect(),
            missing: metric.iter().map(|dim| dim.missing).collect(),
        }
    }

    /// At most the cost of any record of a node.
    #[inline]
    pub fn of_node(&self, node: usize, asked: &Asked) -> f64 {
        let n = asked.tables.len();
        let spans = &self.spans[node * n..(node + 1) * n];
        let mut sum = 0.0;
        for (span, ((own, table), &missing)) in
            spans.iter().zip(asked.tables.iter().zip(&asked.missing))
        {
            let cost = table[usize::from((*own).max(span.low).min(span.high))];
            sum += if span.has_missing {
                cost.min(missing)
            } else {
                cost
            };
        }
        sum
    }

    /// At most the cost of a record in the order of the tree.
    #[inline]
    pub fn of_row(&self, place: usize, asked: &Asked) -> f64 {
        let n = asked.tables.len();
        let cells = &self.rows[place * n..(place + 1) * n];
        let costs = cells.iter().zip(&asked.tables);
        costs.fold(0.0, |sum, (&cell, (_, table))| {
            sum + table[usize::from(cell)]
        })
    }
}
