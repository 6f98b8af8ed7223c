//! The occupied cells of the table: the sample, with its counts and weights.

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, KeyTable};
use crate::parallel::Monitor;
use crate::weights::Weights;

/// The occupied cells. Key variables stand in the order of their number of
/// observed levels, the longest last; levels that no record has do not exist.
#[derive(Debug, Clone)]
pub struct Cells {
    sizes: Vec<usize>,
    order: Vec<usize>,
    codes: Vec<u32>,
    counts: Vec<f64>,
    weights: Vec<f64>,
    /// Summed squares of the weights of single records.
    squares: Vec<f64>,
    /// True if all records have the same weight.
    equal: bool,
}

impl Cells {
    /// The cells of `table`. `row_weights` are the weights of its rows, sums where a row
    /// stands for several records;
    /// without them every record has the same. Also returns the cell of every
    /// row.
    pub fn new(
        table: &KeyTable,
        row_weights: Option<Weights<'_>>,
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
        let (weights, squares, equal) = match row_weights {
            None => (counts.clone(), counts.clone(), true),
            Some(weights) => sums(weights, groups.row_group(), n_cells, table.multiplicity()),
        };
        let cells = Self {
            sizes: order.iter().map(|&v| levels[v].1).collect(),
            order,
            codes,
            counts,
            weights,
            squares,
            equal,
        };
        Ok((cells, groups.row_group().to_vec()))
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

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The levels of one cell, from 0.
    pub fn codes(&self, cell: usize) -> &[u32] {
        &self.codes[cell * self.sizes.len()..][..self.sizes.len()]
    }

    /// The places of the cells in the table of all, ascending, each with its cell.
    pub fn places(&self) -> Vec<(usize, usize)> {
        let place = |cell| {
            let levels = self.codes(cell).iter().zip(&self.sizes);
            levels.fold(0, |at, (&level, &size)| at * size + level as usize)
        };
        let mut places: Vec<_> = (0..self.len()).map(|cell| (place(cell), cell)).collect();
        places.sort_unstable();
        places
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

    /// Summed squares of the weights of the records of a cell.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// True if all records have the same weight.
    pub fn equal_weights(&self) -> bool {
        self.equal
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

/// Per cell the sum of the weights and of their squares, and whether all
/// records have the same weight. A row may stand for several records.
fn sums(
    row_weights: Weights<'_>,
    row_cell: &[u32],
    n_cells: usize,
    multiplicity: Option<&[u64]>,
) -> (Vec<f64>, Vec<f64>, bool) {
    let (mut weights, mut squares) = (vec![0.0; n_cells], vec![0.0; n_cells]);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    let mut equal_within = true;
    for (row, (&cell, &w)) in row_cell.iter().zip(&*row_weights).enumerate() {
        let times = multiplicity.map_or(1.0, |m| m[row] as f64);
        let single = w / times;
        let square = row_weights.squares().map_or(single * w, |s| s[row]);
        equal_within &= square - single * w <= 1e-12 * square;
        weights[cell as usize] += w;
        squares[cell as usize] += square;
        least = least.min(single);
        most = most.max(single);
    }
    let equal = equal_within && most - least <= 1e-12 * most;
    (weights, squares, equal)
}
