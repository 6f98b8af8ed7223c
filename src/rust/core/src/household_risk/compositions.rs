//! Households with equal compositions.

use hashbrown::hash_table::{Entry, HashTable};

use super::members::Members;
use crate::error::{Error, Result};
use crate::hash::{rolled, spread, GOLDEN};
use crate::key_table::{with_codes, Code, Groups, KeyTable};
use crate::memory::{collected, filled};
use crate::parallel::{Monitor, ROWS_PER_CHECK};

/// Members of households.
pub(crate) struct Households {
    homes: Groups,
    in_use: Vec<bool>,
}

/// Households by their compositions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CompositionCounts {
    /// Different compositions.
    pub distinct: u32,
    /// Those of one household.
    pub unique: u32,
    /// Those of two.
    pub pairs: u32,
}

impl Households {
    /// Rows of `households` with equal codes live together. `complete_only` leaves
    /// out households with a member that misses a value of `table`.
    pub fn new(
        table: &KeyTable,
        households: &KeyTable,
        complete_only: bool,
        monitor: &Monitor,
    ) -> Result<Self> {
        let homes = households.group(monitor)?;
        let mut in_use = filled(true, homes.len())?;
        if complete_only {
            for column in table.columns().iter().filter(|c| c.n_missing() > 0) {
                with_codes!(column.codes(), |codes| {
                    for (code, &home) in codes.iter().zip(homes.row_group()) {
                        in_use[home as usize] &= code.value() != 0;
                    }
                });
            }
        }
        Ok(Self { homes, in_use })
    }

    pub fn into_groups(self) -> Groups {
        self.homes
    }

    /// Households in use, and the records in them.
    pub fn n_in_use(&self) -> (u64, u64) {
        let homes = self.homes.counts().iter().zip(&self.in_use);
        let used = homes.filter(|&(_, &used)| used);
        used.fold((0, 0), |(n, records), (&size, _)| (n + 1, records + size))
    }

    /// The members by their keys.
    pub fn members(&self, persons: &Groups, monitor: &Monitor) -> Result<Members> {
        Members::new(persons, &self.homes, &self.in_use, monitor)
    }

    /// Number of compositions of the households on the columns of `table`.
    pub fn compositions(&self, table: &KeyTable, monitor: &Monitor) -> Result<CompositionCounts> {
        let members = self.members(&table.group(monitor)?, monitor)?;
        let first_alike = first_alike(&members, monitor)?;
        let mut sizes = filled(0u32, members.len())?;
        for (home, &first) in first_alike.iter().enumerate() {
            sizes[first as usize] += u32::from(!members.of(home).is_empty());
        }
        let of_size = |size: u32| sizes.iter().filter(|&&n| n == size).count() as u32;
        Ok(CompositionCounts {
            distinct: sizes.len() as u32 - of_size(0),
            unique: of_size(1),
            pairs: of_size(2),
        })
    }
}

/// Per household, the first one with the same composition; one that is not in use
/// is its own.
pub(super) fn first_alike(members: &Members, monitor: &Monitor) -> Result<Vec<u32>> {
    let n = members.len();
    let hashes: Vec<u64> = collected(
        (0..n).map(|home| {
            let keys = members.of(home);
            let key = |hash, &key| rolled(hash, u64::from(key));
            spread(keys.iter().fold(GOLDEN ^ keys.len() as u64, key))
        }),
        n,
    )?;
    let mut first_alike: Vec<u32> = collected(0..n as u32, n)?;
    let mut seen: HashTable<u32> = HashTable::new();
    seen.try_reserve(n, |&home| hashes[home as usize])
        .map_err(|_| Error::TooLarge("There is no memory for that many households.".into()))?;
    for home in (0..n).filter(|&home| !members.of(home).is_empty()) {
        if home % ROWS_PER_CHECK == 0 {
            monitor.check()?;
        }
        // Equal hashes are a hint; the keys decide.
        let alike = |&other: &u32| members.of(other as usize) == members.of(home);
        match seen.entry(hashes[home], alike, |&home| hashes[home as usize]) {
            Entry::Occupied(entry) => first_alike[home] = *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert(home as u32);
            }
        }
    }
    Ok(first_alike)
}
