//! Evenness of a record's key sets over low and high values.
//!
//! # Formula
//!
//! `F(i, j)` is the number of records that are at most record i on every
//! variable of key set j, and `G(i, j)` the number of records r with
//! `F(r, j) <= F(i, j)`, both over L. With M intervals `[(m - 1)/M, m/M)`, the
//! last one closed, and `p_m` the share of the key sets with `G(i, j)` in
//! interval m, the entropy is `-sum p_m ln p_m`. M is the whole part of the
//! root of the number of key sets. Source: Bera et al. (2023), hal-04165346,
//! section 3.4, which leaves M, the ends and the logarithm open.
//!
//! F and G are whole numbers, so that ties and ends are exact. F comes from
//! prefix sums over the table of levels: records plus p times cells a key set.
//! Missing, code 0, lies below all values.

use super::ties::merge_ties;
use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::parallel::{self, Monitor, ROWS_PER_BLOCK};

/// Cells that the table of levels of one key set may have.
pub const MAX_CELLS: u64 = 100_000_000;
/// Counts of intervals that all records may have.
const MAX_COUNTS: u64 = 1_000_000_000;

/// Number of intervals for this many key sets.
pub fn n_intervals(n_sets: usize) -> usize {
    n_sets.isqrt()
}

/// The entropy of every record; rows of `table` are records. Sums that differ
/// by the order of their terms are made equal.
pub fn entropy(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<Vec<f64>> {
    let n = table.n_rows();
    let m = n_intervals(sets.len());
    check_size(table, sets, n, m)?;
    monitor.set_total(monitor.progress().0 + sets.len() as u64);
    let members = sets.members();
    let mut counts = vec![0u32; n * m];
    // A few key sets at a time: their intervals are found in parallel and
    // counted in parallel over the records.
    for batch in members.chunks(sets.p() * 2 * rayon::current_num_threads()) {
        let intervals: Vec<Vec<u16>> = parallel::try_map(batch.chunks(sets.p()), monitor, |set| {
            let columns: Vec<&Column> = set
                .iter()
                .map(|&v| &table.columns()[usize::from(v)])
                .collect();
            let found = intervals_of(&columns, n, m);
            monitor.advance(1);
            Ok(found)
        })?;
        parallel::for_each(
            counts.chunks_mut(ROWS_PER_BLOCK * m).enumerate(),
            |(b, counts)| {
                for (row, counts) in (b * ROWS_PER_BLOCK..).zip(counts.chunks_mut(m)) {
                    for set in &intervals {
                        counts[usize::from(set[row])] += 1;
                    }
                }
            },
        );
    }
    let n_sets = sets.len() as f64;
    let mut sums = parallel::map_rows(n, monitor, |row| {
        let terms = counts[row * m..][..m].iter().filter(|&&c| c > 0).map(|&c| {
            let share = f64::from(c) / n_sets;
            share * share.ln()
        });
        // Not -0 where all key sets lie in one interval.
        0.0 - terms.sum::<f64>()
    })?;
    merge_ties(&mut sums);
    Ok(sums)
}

fn check_size(table: &KeyTable, sets: KeySets, n: usize, m: usize) -> Result<()> {
    let mut levels: Vec<u64> = table
        .columns()
        .iter()
        .map(|c| u64::from(c.n_values()) + 1)
        .collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    let cells = levels[..sets.p()]
        .iter()
        .try_fold(1u64, |cells, &k| cells.checked_mul(k));
    if cells.is_none_or(|cells| cells > MAX_CELLS) {
        return Err(Error::too_large(
            &format!("The entropy needs a table of all levels of a key set, of at most {MAX_CELLS} cells."),
            &format!("The {} key variables with most levels have more.", sets.p()),
            "Take a smaller `p`, or recode key variables.",
        ));
    }
    if n as u64 * m as u64 > MAX_COUNTS || m > usize::from(u16::MAX) {
        return Err(Error::too_large(
            &format!("The entropy needs counts for each record, at most {MAX_COUNTS} in all."),
            &format!("{m} counts for each of {n} records are more."),
            "Take a smaller `p`, or fewer key variables.",
        ));
    }
    Ok(())
}

/// The interval of `G(i, j)` for every record on the key set of `columns`.
fn intervals_of(columns: &[&Column], n: usize, m: usize) -> Vec<u16> {
    let mut cell_of = vec![0u32; n];
    let mut n_cells = 1usize;
    for column in columns {
        let stride = n_cells as u32;
        with_codes!(column.codes(), |codes| {
            for (cell, code) in cell_of.iter_mut().zip(codes) {
                *cell += stride * code.value();
            }
        });
        n_cells *= column.n_values() as usize + 1;
    }
    let mut at_most = vec![0u32; n_cells];
    for &cell in &cell_of {
        at_most[cell as usize] += 1;
    }
    // Prefix sums along one variable after the other.
    let mut stride = 1;
    for column in columns {
        let levels = column.n_values() as usize + 1;
        for block in at_most.chunks_mut(stride * levels) {
            for i in stride..block.len() {
                block[i] += block[i - stride];
            }
        }
        stride *= levels;
    }
    let mut ranks = vec![0u32; n + 1];
    for &cell in &cell_of {
        ranks[at_most[cell as usize] as usize] += 1;
    }
    let mut sum = 0;
    for rank in &mut ranks {
        sum += *rank;
        *rank = sum;
    }
    cell_of
        .iter()
        .map(|&cell| {
            let rank = ranks[at_most[cell as usize] as usize] as usize;
            (rank * m / n).min(m - 1) as u16
        })
        .collect()
}
