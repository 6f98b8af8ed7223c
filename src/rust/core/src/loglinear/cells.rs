//! The occupied cells of the table: the sample, with its counts and weights.

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, KeyTable};
use crate::parallel::Monitor;

/// The occupied cells. Key variables stand in the order of their number of
/// observed levels, the longest last; levels that no record has do not exist.
#[derive(Debug, Clone)]
pub struct Cells {
    sizes: Vec<usize>,
    order: Vec<usize>,
    codes: Vec<u32>,
    counts: Vec<f64>,
    weights: Vec<f64>,
    /// Weights of single records and, cumulated, how many have them; empty
    /// where all are equal.
    pool: Vec<(f64, f64)>,
}

impl Cells {
    /// The cells of `table`. `row_weights` are the weights of its rows;
    /// without them every record has the same. Also returns the cell of every
    /// row.
    pub fn new(
        table: &KeyTable,
        row_weights: Option<&[f64]>,
        monitor: &Monitor,
    ) -> Result<(Self, Vec<u32>)> {
        if row_weights.is_some_and(|w| w.len() != table.n_rows()) {
            return Err(Error::BadArgument(
                "There must be one weight for every record.".into(),
            ));
        }
        let groups = table.group(monitor)?;
        let d = table.columns().len();
        let n_cells = groups.len();
        let mut levels = Vec::with_capacity(d);
        for column in table.columns() {
            let mut level = vec![u32::MAX; column.n_values() as usize + 1];
            with_codes!(column.codes(), |codes| codes
                .iter()
                .for_each(|c| level[c.index()] = 0));
            let mut next = 0;
            for place in level.iter_mut().filter(|p| **p == 0) {
                *place = next;
                next += 1;
            }
            levels.push((level, next as usize));
        }
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by_key(|&v| levels[v].1);
        let mut codes = vec![0u32; n_cells * d];
        for (place, &v) in order.iter().enumerate() {
            let level = &levels[v].0;
            with_codes!(table.columns()[v].codes(), |column| {
                for (cell, &row) in groups.first_rows().iter().enumerate() {
                    codes[cell * d + place] = level[column[row as usize].index()];
                }
            });
        }
        let counts: Vec<f64> = groups.counts().iter().map(|&c| c as f64).collect();
        let weights = match row_weights {
            None => counts.clone(),
            Some(row_weights) => {
                let mut sums = vec![0.0; n_cells];
                for (&cell, &w) in groups.row_group().iter().zip(row_weights) {
                    sums[cell as usize] += w;
                }
                sums
            }
        };
        let cells = Self {
            sizes: order.iter().map(|&v| levels[v].1).collect(),
            order,
            codes,
            counts,
            weights,
            pool: row_weights.map_or_else(Vec::new, |w| pool(w, table.multiplicity())),
        };
        Ok((cells, groups.row_group().to_vec()))
    }

    /// Cells that a simulation occupied, in the same table as `self`.
    pub(super) fn simulated(&self, codes: Vec<u32>, counts: Vec<f64>, weights: Vec<f64>) -> Self {
        Self {
            sizes: self.sizes.clone(),
            order: self.order.clone(),
            codes,
            counts,
            weights,
            pool: Vec::new(),
        }
    }

    /// Levels of the key variables, in the order of the table.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The place in the table of key variable `v` of the data.
    pub fn place_of(&self, v: usize) -> usize {
        self.order.iter().position(|&o| o == v).unwrap_or(0)
    }

    /// The key variable of the data at a place of the table.
    pub fn variable_at(&self, place: usize) -> usize {
        self.order[place]
    }

    /// Number of occupied cells.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The levels of one cell, from 0.
    pub fn codes(&self, cell: usize) -> &[u32] {
        &self.codes[cell * self.sizes.len()..][..self.sizes.len()]
    }

    /// Records per cell.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Summed weights per cell.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of records.
    pub fn n_records(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// By what factor unequal weights raise the variance of a weighted count:
    /// `n sum(w^2) / sum(w)^2`.
    pub fn weighting_effect(&self) -> f64 {
        let (mut before, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for &(weight, until) in &self.pool {
            sum += weight * (until - before);
            squares += weight * weight * (until - before);
            before = until;
        }
        if self.pool.is_empty() {
            1.0
        } else {
            before * squares / (sum * sum)
        }
    }

    /// Whether all records have the same weight.
    pub fn equal_weights(&self) -> bool {
        self.pool.is_empty()
    }

    /// The weight of a record drawn by `uniform`, a number in `[0, 1)`.
    pub fn weight_at(&self, uniform: f64) -> f64 {
        let Some(&(last, total)) = self.pool.last() else {
            return 1.0;
        };
        let place = self
            .pool
            .partition_point(|&(_, until)| until <= uniform * total);
        self.pool.get(place).map_or(last, |&(weight, _)| weight)
    }

    /// Number of cells of the whole table.
    pub fn n_table(&self) -> f64 {
        self.sizes.iter().map(|&s| s as f64).product()
    }

    /// Cells with exactly one record.
    pub fn uniques(&self) -> Vec<usize> {
        // Counts are whole numbers.
        (0..self.len()).filter(|&c| self.counts[c] < 1.5).collect()
    }
}

/// The weights of single records with cumulated numbers of records, nothing
/// where they are all equal.
fn pool(row_weights: &[f64], multiplicity: Option<&[u64]>) -> Vec<(f64, f64)> {
    let mut until = 0.0;
    let pool: Vec<(f64, f64)> = row_weights
        .iter()
        .enumerate()
        .map(|(row, &w)| {
            let times = multiplicity.map_or(1.0, |m| m[row] as f64);
            until += times;
            (w / times, until)
        })
        .collect();
    let least = pool.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let most = pool.iter().map(|p| p.0).fold(0.0, f64::max);
    if most - least <= 1e-12 * most {
        Vec::new()
    } else {
        pool
    }
}
