//! State kept of a query while it is compared with the rows.

use super::planes::{lowest, set, Lane, Planes};
use crate::linkage::Best;

/// Records behind the rows of a tile.
pub(super) struct Rows<'a> {
    /// Number of records.
    pub counts: &'a [u64],
    /// Those of more than one record.
    pub repeated: Lane,
    /// The observed keys, where they are kept in mind.
    pub observed: Option<&'a [u64]>,
}

impl<'a> Rows<'a> {
    pub fn new(counts: &'a [u64], observed: Option<&'a [u64]>) -> Self {
        let mut repeated = Lane::default();
        for (row, _) in counts.iter().enumerate().filter(|(_, &n)| n > 1) {
            set(&mut repeated, row);
        }
        Self {
            counts,
            repeated,
            observed,
        }
    }

    /// Number of records of the marked rows.
    fn count(&self, rows: &Lane) -> u64 {
        let mut n: u64 = rows.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut repeated = *rows;
        for (word, again) in repeated.iter_mut().zip(&self.repeated) {
            *word &= again;
        }
        Self::for_each(&repeated, |row| n += self.counts[row] - 1);
        n
    }

    /// Tells `visit` of every marked row.
    fn for_each(rows: &Lane, mut visit: impl FnMut(usize)) {
        for (w, &word) in rows.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                visit(w * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

/// State kept of a query.
pub(super) trait Kept: Send {
    /// Rows that differ on more keys are of no use.
    fn bound(&self) -> u8;

    /// Takes the rows of `among`, of which one at least is within the bound.
    fn take<const P: usize>(&mut self, differences: &Planes<P>, among: &Lane, rows: &Rows);
}

/// The nearest rows alone.
impl Kept for Best {
    fn bound(&self) -> u8 {
        self.n_diff
    }

    fn take<const P: usize>(&mut self, differences: &Planes<P>, among: &Lane, rows: &Rows) {
        let (least, nearest) = lowest(differences, *among);
        if least < self.n_diff {
            *self = Best {
                n_diff: least,
                n_best: 0,
            };
        }
        self.n_best += rows.count(&nearest);
    }
}

/// All rows within a bound, by the number of keys on which they differ and of observed
/// keys that they share with the query.
pub(in crate::linkage) struct Within {
    bound: u8,
    observed: u64,
    near: Vec<Near>,
}

/// Records that differ on as many keys and share as many.
pub(in crate::linkage) struct Near {
    pub n_diff: u8,
    pub shared: u8,
    pub n: u64,
}

impl Within {
    pub(super) fn new(bound: u8, observed: u64) -> Self {
        Self {
            bound,
            observed,
            near: Vec::new(),
        }
    }

    pub(in crate::linkage) fn near(&self) -> &[Near] {
        &self.near
    }

    fn add(&mut self, n_diff: u8, shared: u8, n: u64) {
        let mut alike = self.near.iter_mut();
        match alike.find(|near| near.n_diff == n_diff && near.shared == shared) {
            Some(near) => near.n += n,
            None => self.near.push(Near { n_diff, shared, n }),
        }
    }
}

impl Kept for Within {
    fn bound(&self) -> u8 {
        self.bound
    }

    fn take<const P: usize>(&mut self, differences: &Planes<P>, among: &Lane, rows: &Rows) {
        let mut left = *among;
        loop {
            // Of no rows the smallest number is the largest there is, beyond all bounds.
            let (n_diff, found) = lowest(differences, left);
            if n_diff > self.bound {
                return;
            }
            Rows::for_each(&found, |row| {
                let observed = rows.observed.map_or(u64::MAX, |observed| observed[row]);
                let shared = (self.observed & observed).count_ones() as u8;
                self.add(n_diff, shared, rows.counts[row]);
            });
            for (left, found) in left.iter_mut().zip(&found) {
                *left &= !found;
            }
        }
    }
}
