//! One recoding from the start: its cells and what they say.

use super::best::Recoding;
use super::partition::mix;
use super::Problem;
use crate::error::Result;
use crate::memory::{filled, push};

/// The cells of a recoding.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    /// A distinct row of every cell.
    pub first: Vec<u32>,
    /// Records of every cell.
    pub count: Vec<u32>,
    /// The cell of every distinct row.
    pub of_row: Vec<u32>,
}

/// Cost of a recoding and what it reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Cost, blanks included.
    pub cost: f64,
    /// Records blanked.
    pub n_blanked: u64,
    /// Records in cells below the threshold of the limit.
    pub violating: u64,
    /// Sample uniques, before blanks.
    pub n_unique: u64,
    /// Smallest cell among those not blanked; 0 where all are.
    pub smallest: u64,
}

/// Numbers the distinct keys of rows.
pub(crate) struct Numbering {
    slots: Vec<u32>,
    keys: Vec<u64>,
}

const EMPTY: u32 = u32::MAX;

impl Numbering {
    pub fn new(n_rows: usize) -> Result<Self> {
        Ok(Self {
            slots: filled(EMPTY, (2 * n_rows.max(1)).next_power_of_two())?,
            keys: Vec::new(),
        })
    }

    pub fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.keys.clear();
    }

    /// The number of this key, and whether it is new.
    pub fn number(&mut self, key: u64) -> Result<(u32, bool)> {
        let mask = self.slots.len() - 1;
        let mut slot = mix(key) as usize & mask;
        loop {
            let at = self.slots[slot];
            if at == EMPTY {
                let number = self.keys.len() as u32;
                self.slots[slot] = number;
                push(&mut self.keys, key)?;
                return Ok((number, true));
            }
            if self.keys[at as usize] == key {
                return Ok((at, false));
            }
            slot = (slot + 1) & mask;
        }
    }
}

impl Problem {
    /// The cells of a recoding, numbered by their first distinct row.
    pub fn cells(&self, places: &[u8]) -> Result<Cells> {
        let keys = self.row_keys(places)?;
        let mut numbering = Numbering::new(keys.len())?;
        let mut cells = Cells::default();
        for (row, &key) in keys.iter().enumerate() {
            let (cell, new) = numbering.number(key)?;
            if new {
                push(&mut cells.first, row as u32)?;
                push(&mut cells.count, 0)?;
            }
            cells.count[cell as usize] += self.counts[row];
            push(&mut cells.of_row, cell)?;
        }
        Ok(cells)
    }

    /// One number per distinct row for its cell. Where the levels multiply
    /// beyond 64 bits, the variables so far are replaced by their cells.
    fn row_keys(&self, places: &[u8]) -> Result<Vec<u64>> {
        let mut keys = filled(0u64, self.counts.len())?;
        let mut range = 1u64;
        for (variable, &place) in self.variables.iter().zip(places) {
            let level = &variable.levels[place as usize];
            let n_groups = level.n_groups as u64;
            if range.checked_mul(n_groups).is_none() {
                let mut numbering = Numbering::new(keys.len())?;
                for key in &mut keys {
                    *key = u64::from(numbering.number(*key)?.0);
                }
                range = keys.len() as u64;
            }
            range *= n_groups;
            for (key, &group) in keys.iter_mut().zip(&level.column) {
                *key = *key * n_groups + u64::from(group);
            }
        }
        Ok(keys)
    }

    /// Cells of a recoding that are suppressed: all below k, or the number of uniques that the
    /// share requires, starting with those that cost least (ties by first row).
    pub fn blanked(&self, places: &[u8], cells: &Cells) -> Vec<bool> {
        let below = |&count: &u32| u64::from(count) < self.rule.threshold;
        if self.rule.blanks_all {
            return cells.count.iter().map(below).collect();
        }
        let mut uniques: Vec<(f64, usize)> = (0..cells.count.len())
            .filter(|&cell| cells.count[cell] == 1)
            .map(|cell| (self.lift(places, cells.first[cell]), cell))
            .collect();
        uniques.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let n = self.uniques_to_blank(uniques.len() as u64);
        let mut blanked = vec![false; cells.count.len()];
        for &(_, cell) in uniques.iter().take(n as usize) {
            blanked[cell] = true;
        }
        blanked
    }

    fn uniques_to_blank(&self, uniques: u64) -> u64 {
        self.limit.uniques_to_blank(uniques, self.n_records)
    }

    /// Cost of blanking a record of a distinct row more.
    pub(crate) fn lift(&self, places: &[u8], row: u32) -> f64 {
        let of = self.variables.iter().zip(places);
        of.map(|(variable, &place)| {
            let level = &variable.levels[place as usize];
            level.lift[level.column[row as usize] as usize]
        })
        .sum()
    }

    /// Cost of a recoding and what it reaches; its cells are given back.
    pub fn measure(&self, places: &[u8]) -> Result<(Measured, Cells, Vec<bool>)> {
        let cells = self.cells(places)?;
        let blanked = self.blanked(places, &cells);
        let counts = || cells.count.iter().map(|&c| u64::from(c));
        let below = |limit: u64| counts().filter(|&c| c < limit).sum::<u64>();
        let kept = || counts().zip(&blanked).filter(|(_, &b)| !b).map(|(c, _)| c);
        let measured = Measured {
            cost: self.base(places) + self.blank_cost(places, &cells, &blanked),
            n_blanked: self.n_records - kept().sum::<u64>(),
            violating: below(self.rule.threshold),
            n_unique: below(2),
            smallest: kept().min().unwrap_or(0),
        };
        Ok((measured, cells, blanked))
    }

    /// Cost of the blanks: summed by group, so that the order of the rows
    /// cannot matter.
    fn blank_cost(&self, places: &[u8], cells: &Cells, blanked: &[bool]) -> f64 {
        let mut lift = 0.0;
        for (variable, &place) in self.variables.iter().zip(places) {
            let level = &variable.levels[place as usize];
            let mut records = vec![0u64; level.n_groups];
            for cell in (0..blanked.len()).filter(|&cell| blanked[cell]) {
                let group = level.column[cells.first[cell] as usize];
                records[group as usize] += u64::from(cells.count[cell]);
            }
            let sums = records.iter().zip(&level.lift);
            lift += sums.map(|(&n, &l)| n as f64 * l).sum::<f64>();
        }
        lift
    }

    /// The recoding where it keeps the limit on cells.
    pub(crate) fn admitted(&self, places: &[u8], measured: &Measured) -> Option<Recoding> {
        (measured.violating <= self.rule.most).then(|| Recoding::new(self, measured.cost, places))
    }

    /// True if every record is blanked by a recoding.
    pub fn record_blanked(&self, cells: &Cells, blanked: &[bool]) -> Vec<bool> {
        let rows = self.row_group.iter();
        rows.map(|&row| blanked[cells.of_row[row as usize] as usize])
            .collect()
    }
}
