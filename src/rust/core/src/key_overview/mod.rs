//! Information of every key variable, and its addition to the others.
//!
//! # Formulas
//!
//! Over the records with a value of the key: entropy `-sum p ln p` of the
//! shares `p` of its values. Over the records with values of both keys: with
//! cells `n_ab`, margins `n_a`, `n_b`, and `r`, `c` values that occur,
//!
//! `phi2 = sum n_ab^2 / (n_a n_b) - 1`,
//! `V~ = sqrt(phi2~ / min(r~ - 1, c~ - 1))` with
//! `phi2~ = max(0, phi2 - (r - 1)(c - 1) / (n - 1))` and
//! `r~ = r - (r - 1)^2 / (n - 1)`, `c~` likewise,
//!
//! Cramer's V with the bias of small tables taken off (Bergsma 2013, doi
//! 10.1016/j.jkss.2012.10.002): near 0 for independent keys however many
//! values they have. Sample uniques count missing as a value of its own.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::Result;
use crate::key_table::{append_codes, with_codes, Code, Column, KeyTable};
use crate::memory::filled;
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

/// Cells of a two-way table that is counted in full; of more, those that occur.
const DENSE_CELLS: u64 = 1 << 22;

/// A cell is two bits, a row 8 bytes, and 28 if rows are grouped.
const CELLS_PER_ROW: usize = 64;

/// One key variable for itself.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyShares {
    /// Records with a value.
    pub n_observed: u64,
    /// Values that occur.
    pub n_levels: u32,
    /// Entropy of the values, natural logarithm.
    pub entropy: f64,
    /// Records with the most frequent value.
    pub largest: u64,
}

/// All key variables, and what they are to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyOverview {
    /// Per key.
    pub keys: Vec<KeyShares>,
    /// Association of every pair of keys, row by row; `None` where one of the
    /// two does not vary, and for a key with itself.
    pub association: Vec<Option<f64>>,
    /// Records unique on all keys.
    pub n_unique: u64,
    /// Records unique on all keys but one, per key left out.
    pub n_unique_without: Vec<u64>,
}

/// The overview of all columns of a table.
pub fn key_overview(table: &KeyTable, monitor: &Monitor) -> Result<KeyOverview> {
    let p = table.columns().len();
    let pairs: Vec<(usize, usize)> = (0..p)
        .flat_map(|a| (a + 1..p).map(move |b| (a, b)))
        .collect();
    monitor.set_total((pairs.len() + p + 1) as u64);
    let keys = table
        .columns()
        .iter()
        .map(|column| shares(column, table.multiplicity()))
        .collect();
    let values = parallel::try_map(&pairs, monitor, |&(a, b)| {
        let value = pair_association(table, a, b, monitor)?;
        monitor.advance(1);
        Ok(value)
    })?;
    let mut association = vec![None; p * p];
    for (&(a, b), value) in pairs.iter().zip(values) {
        association[a * p + b] = value;
        association[b * p + a] = value;
    }
    let groups = table.group(monitor)?;
    let distinct = table.distinct(&groups)?;
    drop(groups);
    let n_unique = count_unique(distinct.multiplicity());
    monitor.advance(1);
    let n_unique_without = (0..p)
        .map(|left_out| {
            let count = match unique_by_cells(&distinct, left_out, monitor)? {
                Some(count) => count,
                None => unique_without(&distinct, left_out, monitor)?,
            };
            monitor.advance(1);
            Ok(count)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(KeyOverview {
        keys,
        association,
        n_unique,
        n_unique_without,
    })
}

/// Counts of the codes of a column, that of missing first.
fn code_counts(column: &Column, times: Option<&[u64]>) -> Vec<u64> {
    let mut counts = vec![0u64; column.n_values() as usize + 1];
    with_codes!(column.codes(), |codes| match times {
        None => codes.iter().for_each(|c| counts[c.index()] += 1),
        Some(times) => codes
            .iter()
            .zip(times)
            .for_each(|(c, &t)| counts[c.index()] += t),
    });
    counts
}

fn shares(column: &Column, times: Option<&[u64]>) -> KeyShares {
    let counts = code_counts(column, times);
    let observed = &counts[1..];
    let n_observed: u64 = observed.iter().sum();
    let entropy: f64 = observed
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| count as f64 / n_observed as f64)
        .map(|share| -share * share.ln())
        .sum();
    KeyShares {
        n_observed,
        n_levels: observed.iter().filter(|&&count| count > 0).count() as u32,
        // One value alone gives -1 ln 1, which is a negative zero.
        entropy: entropy.max(0.0),
        largest: observed.iter().copied().max().unwrap_or(0),
    }
}

/// Bias-corrected Cramer's V of two columns over the rows that have both.
fn pair_association(
    table: &KeyTable,
    a: usize,
    b: usize,
    monitor: &Monitor,
) -> Result<Option<f64>> {
    monitor.check()?;
    let (x, y) = (&table.columns()[a], &table.columns()[b]);
    let cells = two_way(x, y, table.multiplicity(), monitor)?;
    let mut margin_x = vec![0u64; x.n_values() as usize + 1];
    let mut margin_y = vec![0u64; y.n_values() as usize + 1];
    for &(i, j, count) in &cells {
        margin_x[i as usize] += count;
        margin_y[j as usize] += count;
    }
    let phi2 = cells
        .iter()
        .map(|&(i, j, count)| {
            let expected = margin_x[i as usize] as f64 * margin_y[j as usize] as f64;
            count as f64 * (count as f64 / expected)
        })
        .sum::<f64>()
        - 1.0;
    let n: u64 = margin_x.iter().sum();
    let occurring = |margin: &[u64]| margin.iter().filter(|&&count| count > 0).count();
    Ok(corrected_v(
        phi2,
        n,
        occurring(&margin_x),
        occurring(&margin_y),
    ))
}

/// Bergsma's correction of Cramer's V.
fn corrected_v(phi2: f64, n: u64, r: usize, c: usize) -> Option<f64> {
    if n < 2 || r < 2 || c < 2 {
        return None;
    }
    let (n1, r1, c1) = ((n - 1) as f64, (r - 1) as f64, (c - 1) as f64);
    let phi2 = (phi2 - r1 * c1 / n1).max(0.0);
    let room = (r1 - r1 * r1 / n1).min(c1 - c1 * c1 / n1);
    // A key whose values are all different leaves no room: it says nothing.
    (room > 1e-12).then(|| (phi2 / room).sqrt().min(1.0))
}

/// The cells of two columns that occur, in order, rows with both values only.
fn two_way(
    x: &Column,
    y: &Column,
    times: Option<&[u64]>,
    monitor: &Monitor,
) -> Result<Vec<(u32, u32, u64)>> {
    let width = u64::from(y.n_values()) + 1;
    let size = (u64::from(x.n_values()) + 1) * width;
    if size <= DENSE_CELLS {
        let mut counts = vec![0u64; size as usize];
        for_cells(x, y, times, monitor, |cell, t| counts[cell as usize] += t)?;
        let cells = (0..).zip(counts).filter(|&(_, count)| count > 0);
        return Ok(observed_cells(cells, width));
    }
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for_cells(x, y, times, monitor, |cell, t| {
        *counts.entry(cell).or_insert(0) += t;
    })?;
    // In order, so that sums do not depend on the hash.
    let mut cells: Vec<(u64, u64)> = counts.into_iter().collect();
    cells.par_sort_unstable();
    Ok(observed_cells(cells.into_iter(), width))
}

/// Cells as codes, without those of a missing value.
fn observed_cells(cells: impl Iterator<Item = (u64, u64)>, width: u64) -> Vec<(u32, u32, u64)> {
    cells
        .map(|(cell, count)| ((cell / width) as u32, (cell % width) as u32, count))
        .filter(|&(i, j, _)| i > 0 && j > 0)
        .collect()
}

/// Hands every row's cell and number of records to `add`.
fn for_cells(
    x: &Column,
    y: &Column,
    times: Option<&[u64]>,
    monitor: &Monitor,
    mut add: impl FnMut(u64, u64),
) -> Result<()> {
    let width = u64::from(y.n_values()) + 1;
    let n = x.len();
    for start in (0..n).step_by(ROWS_PER_CHECK) {
        monitor.check()?;
        let rows = start..(start + ROWS_PER_CHECK).min(n);
        with_codes!(x.codes(), |xs| with_codes!(y.codes(), |ys| {
            let cells = xs[rows.clone()]
                .iter()
                .zip(&ys[rows.clone()])
                .map(|(i, j)| u64::from(i.value()) * width + u64::from(j.value()));
            match times {
                None => cells.for_each(|cell| add(cell, 1)),
                Some(times) => cells
                    .zip(&times[rows.clone()])
                    .for_each(|(cell, &t)| add(cell, t)),
            }
        }));
    }
    Ok(())
}

fn count_unique(counts: Option<&[u64]>) -> u64 {
    counts.map_or(0, |counts| {
        counts.iter().filter(|&&c| c == 1).count() as u64
    })
}

/// As [`unique_without`], from two bits for every cell, if there are not many more of these than
/// rows.
fn unique_by_cells(distinct: &KeyTable, left_out: usize, monitor: &Monitor) -> Result<Option<u64>> {
    let columns = distinct.columns().iter().enumerate();
    let others: Vec<&Column> = columns
        .filter(|&(v, _)| v != left_out)
        .map(|(_, column)| column)
        .collect();
    let cells = others.iter().try_fold(1usize, |cells, column| {
        cells.checked_mul(column.n_values() as usize + 1)
    });
    let Some(cells) = cells.filter(|&cells| cells <= CELLS_PER_ROW * distinct.n_rows()) else {
        return Ok(None);
    };
    let mut once = filled(0u64, cells.div_ceil(64))?;
    let mut more = filled(0u64, once.len())?;
    let mut keys = filled(0u64, distinct.n_rows())?;
    for column in others {
        monitor.check()?;
        append_codes(&mut keys, column);
    }
    for (row, key) in keys.into_iter().enumerate() {
        let (word, bit) = ((key / 64) as usize, 1 << (key % 64));
        let alone = distinct.multiplicity().is_none_or(|times| times[row] == 1);
        more[word] |= if alone { once[word] & bit } else { bit };
        once[word] |= bit;
    }
    let words = once.iter().zip(&more);
    let alone = words.map(|(once, more)| u64::from((once & !more).count_ones()));
    Ok(Some(alone.sum()))
}

/// Records unique on all columns but one.
fn unique_without(distinct: &KeyTable, left_out: usize, monitor: &Monitor) -> Result<u64> {
    monitor.check()?;
    let others: Vec<Column> = distinct
        .columns()
        .iter()
        .enumerate()
        .filter(|&(v, _)| v != left_out)
        .map(|(_, column)| column.clone())
        .collect();
    if others.is_empty() {
        // Without keys all records are alike.
        return Ok(u64::from(distinct.n_records() == 1));
    }
    let mut rest = KeyTable::new(others)?;
    if let Some(times) = distinct.multiplicity() {
        rest = rest.with_multiplicity(times.to_vec())?;
    }
    Ok(count_unique(Some(rest.group(monitor)?.counts())))
}

#[cfg(test)]
mod tests;
