//! Minimal sample uniques that another file repeats: the same variables with the same values.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

use super::collect::Minimal;
use crate::error::Result;
use crate::key_table::KeyTable;
use crate::memory::reserved;

/// The MSUs of the other file: per set its rows, in the order of their values.
pub(super) struct Others<'a> {
    table: &'a KeyTable,
    rows: Mutex<HashMap<Vec<usize>, Vec<u32>>>,
}

/// Compares rows of two tables by some of their columns.
fn by_values(a: (&KeyTable, u32), b: (&KeyTable, u32), members: &[usize]) -> Ordering {
    let code =
        |(table, row): (&KeyTable, u32), v: usize| table.columns()[v].codes().get(row as usize);
    let order = members.iter().map(|&v| code(a, v).cmp(&code(b, v)));
    order.fold(Ordering::Equal, Ordering::then)
}

impl<'a> Others<'a> {
    pub fn of(table: &'a KeyTable) -> Self {
        Self {
            table,
            rows: Mutex::new(HashMap::new()),
        }
    }
}

impl Minimal for Others<'_> {
    fn add(&self, _set: usize, members: &[usize], rows: impl Iterator<Item = u32>) {
        let mut rows: Vec<u32> = rows.collect();
        rows.sort_unstable_by(|&a, &b| by_values((self.table, a), (self.table, b), members));
        let mut all = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(members.to_vec(), rows);
    }
}

/// The MSUs of a file that the other one has as well.
pub(super) struct Replicated<'a> {
    table: &'a KeyTable,
    released: &'a KeyTable,
    others: HashMap<Vec<usize>, Vec<u32>>,
    max_size: usize,
    /// Per row and size.
    n_msu: Vec<AtomicU32>,
}

impl<'a> Replicated<'a> {
    pub fn new(table: &'a KeyTable, others: Others<'a>, max_size: usize) -> Result<Self> {
        let mut n_msu = reserved(table.n_rows() * max_size)?;
        n_msu.resize_with(table.n_rows() * max_size, AtomicU32::default);
        Ok(Self {
            table,
            released: others.table,
            others: (others.rows.into_inner()).unwrap_or_else(PoisonError::into_inner),
            max_size,
            n_msu,
        })
    }

    /// Per row and size from 1, its MSUs that the other file has: the sizes are neighbours.
    pub fn counts(self) -> Vec<u32> {
        self.n_msu.into_iter().map(AtomicU32::into_inner).collect()
    }
}

impl Minimal for Replicated<'_> {
    fn add(&self, _set: usize, members: &[usize], rows: impl Iterator<Item = u32>) {
        let Some(others) = self.others.get(members) else {
            return;
        };
        for row in rows {
            let same = |&other: &u32| by_values((self.released, other), (self.table, row), members);
            if others.binary_search_by(same).is_ok() {
                let at = row as usize * self.max_size + members.len() - 1;
                self.n_msu[at].fetch_add(1, Relaxed);
            }
        }
    }
}
