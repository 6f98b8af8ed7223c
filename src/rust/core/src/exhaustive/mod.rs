//! Exhaustive tabulation: all tables of some sizes, and their small cells.
//!
//! A cell of a table is a combination of values that occurs. It is a violation
//! where fewer records than a threshold fall into it, or where their sampling
//! weights sum to less than a threshold, or both, as the rule says. Counted are,
//! per record, the tables in which it stands in a violation; per size, variable
//! and category, the cells with that category and the violations among them.
//!
//! A record that misses a value of a table's variables is left out of that
//! table, or missing is a category, as asked.
//!
//! # Cost
//!
//! Tables share the cells of their first variables, so that a table costs one
//! step a distinct row, and another one where it has violations. Memory: 4
//! bytes a distinct row and first variable and 12 to 20 bytes a distinct row, per
//! thread.

mod search;

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::missing::Missing;
use crate::parallel::{self, Monitor};
use crate::weights::Weights;

use crate::key_sets::{binomial, KeySets};
use search::{Data, Search};

/// Sums of weights closer than this share to a threshold reach it: 30 weights
/// of 0.1 reach 3.
const TOLERANCE: f64 = 1e-9;

/// The cells that are violations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Fewer records than this.
    Records(u32),
    /// Weights that sum to less than this.
    Weight(f64),
    /// The one or the other.
    Either(u32, f64),
    /// The one and the other.
    Both(u32, f64),
}

impl Rule {
    fn violated(self, n: u32, weight: f64) -> bool {
        let light = |threshold: f64| weight < threshold * (1.0 - TOLERANCE);
        match self {
            Rule::Records(threshold) => n < threshold,
            Rule::Weight(threshold) => light(threshold),
            Rule::Either(records, threshold) => n < records || light(threshold),
            Rule::Both(records, threshold) => n < records && light(threshold),
        }
    }

    fn weighs(self) -> bool {
        !matches!(self, Rule::Records(_))
    }
}

/// Cells and the violations among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cells {
    /// Cells that occur.
    pub n: u64,
    /// Violations.
    pub violations: u64,
}

impl Cells {
    fn add(&mut self, other: Cells) {
        self.n += other.n;
        self.violations += other.violations;
    }
}

/// One table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Table {
    /// Its cells.
    pub cells: Cells,
    /// Records in its violations.
    pub records: u64,
}

/// The records of a category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Records {
    /// Their number.
    pub n: u64,
    /// Those that stand in a violation of at least one table.
    pub violating: u64,
    /// The tables in which they do, summed over them.
    pub violations: u64,
}

/// Counts over all tables together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tabulation {
    /// Per row, the tables in which its records stand in a violation.
    pub violations: Vec<u32>,
    /// Per row, the tables it takes part in.
    pub tables_of_row: Vec<u32>,
    /// Per size asked for, per variable, per code from 0 (missing): the cells
    /// with that category.
    pub categories: Vec<Vec<Vec<Cells>>>,
    /// Per variable, per code from 0 (missing): the records of that category.
    pub records: Vec<Vec<Records>>,
    /// Per size asked for, the tables in the order of `combn()`.
    pub tables: Vec<Vec<Table>>,
}

/// Tabulates all tables of the sizes `dims`. `missing` is a category, or excludes
/// a record from the tables in which it misses a value.
///
/// # Errors
///
/// If missing values are to match everything: a record has one cell in a table.
/// If there are too many tables, or weights are needed and not given.
pub fn tabulate(
    table: &KeyTable,
    weights: Option<Weights<'_>>,
    dims: &[usize],
    rule: Rule,
    missing: Missing,
    max_tables: usize,
    monitor: &Monitor,
) -> Result<Tabulation> {
    let missing_counts = match missing {
        Missing::Category => true,
        Missing::Exclude => false,
        Missing::Wildcard => {
            return Err(Error::BadArgument(
                "A record that misses a value must have one cell in a table, or none.".into(),
            ))
        }
    };
    let n_keys = table.columns().len();
    let sets = dims
        .iter()
        .map(|&dim| KeySets::new(n_keys, dim, max_tables))
        .collect::<Result<Vec<_>>>()?;
    let n_tables: usize = sets.iter().map(KeySets::len).sum();
    if n_tables > max_tables {
        return Err(Error::too_large(
            &format!("At most {max_tables} tables are counted (`max_tables`)."),
            &format!("{n_tables} were asked for."),
            "Take fewer key variables or smaller `dims`, or give a larger `max_tables`.",
        ));
    }
    if rule.weighs() && weights.is_none() {
        return Err(Error::BadArgument(
            "A threshold of weights needs weights.".into(),
        ));
    }
    monitor.set_total(n_tables as u64);
    let weights = weights.filter(|_| rule.weighs());
    let groups = table.group(monitor)?;
    let distinct = table.distinct(&groups)?;
    let distinct_weights = weights.map(|weights| {
        let mut sums = vec![0.0; groups.len()];
        for (&group, &weight) in groups.row_group().iter().zip(&*weights) {
            sums[group as usize] += weight;
        }
        sums
    });
    let data = Data {
        table: &distinct,
        counts: groups.counts(),
        weights: distinct_weights.as_deref(),
        dims,
        sets: &sets,
        rule,
        missing_counts,
    };
    let found = Search::new(data, monitor).run()?;
    let of_rows = |values: Vec<u32>| -> Vec<u32> {
        groups
            .row_group()
            .iter()
            .map(|&g| values[g as usize])
            .collect()
    };
    let tables_of_row = of_rows(tables_of_rows(&distinct, dims, missing_counts));
    Ok(Tabulation {
        records: records_by_category(&distinct, groups.counts(), &found.violations),
        violations: of_rows(found.violations),
        tables_of_row,
        categories: found.categories,
        tables: found.tables,
    })
}

/// The records of every category; row `i` stands for `counts[i]` of them, each
/// in as many violations as `violations` says.
fn records_by_category(table: &KeyTable, counts: &[u64], violations: &[u32]) -> Vec<Vec<Records>> {
    let of_column = |column: &Column| {
        let mut sums = vec![Records::default(); column.n_values() as usize + 1];
        with_codes!(column.codes(), |codes| {
            for ((code, &n), &violations) in codes.iter().zip(counts).zip(violations) {
                let sum = &mut sums[code.index()];
                sum.n += n;
                sum.violating += n * u64::from(violations > 0);
                sum.violations += n * u64::from(violations);
            }
        });
        sums
    };
    parallel::map(table.columns(), of_column)
}

/// Per row, the number of tables it is complete in.
fn tables_of_rows(table: &KeyTable, dims: &[usize], missing_counts: bool) -> Vec<u32> {
    let n_keys = table.columns().len();
    let mut complete = vec![n_keys as u32; table.n_rows()];
    if !missing_counts {
        for column in table.columns().iter().filter(|c| c.n_missing() > 0) {
            with_codes!(column.codes(), |codes| {
                for (n, code) in complete.iter_mut().zip(codes) {
                    *n -= u32::from(code.value() == 0);
                }
            });
        }
    }
    // No number exceeds that of all tables, which was checked.
    let tables: Vec<u32> = (0..=n_keys as u64)
        .map(|c| {
            dims.iter()
                .map(|&d| binomial(c, d as u64).unwrap_or(0) as u32)
                .sum()
        })
        .collect();
    complete.iter().map(|&c| tables[c as usize]).collect()
}

#[cfg(test)]
mod tests;
