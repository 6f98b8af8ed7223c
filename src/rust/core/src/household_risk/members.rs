//! The keys of the members of every household.

use rayon::prelude::*;

use crate::error::Result;
use crate::key_table::Groups;
use crate::memory::filled;
use crate::parallel::Monitor;

/// Households sorted in one go between two looks at the cancel flag.
const HOMES_PER_CHECK: usize = 1 << 14;

/// The keys of the members, ascending within each household. Households that
/// are not in use have none.
pub(crate) struct Members {
    /// Start of each household; one entry more.
    starts: Vec<u32>,
    keys: Vec<u32>,
    n_keys: usize,
}

impl Members {
    /// `persons` says which records have equal keys, `homes` which live together.
    pub fn new(
        persons: &Groups,
        homes: &Groups,
        in_use: &[bool],
        monitor: &Monitor,
    ) -> Result<Self> {
        let mut starts = filled(0u32, homes.len() + 1)?;
        for (home, (&size, &used)) in homes.counts().iter().zip(in_use).enumerate() {
            // No household has more members than there are rows.
            starts[home + 1] = starts[home] + if used { size as u32 } else { 0 };
        }
        let mut next = filled(0u32, homes.len())?;
        next.copy_from_slice(&starts[..homes.len()]);
        let mut keys = filled(0u32, starts[homes.len()] as usize)?;
        for (&key, &home) in persons.row_group().iter().zip(homes.row_group()) {
            if in_use[home as usize] {
                let place = &mut next[home as usize];
                keys[*place as usize] = key;
                *place += 1;
            }
        }
        let mut members = Self {
            starts,
            keys,
            n_keys: persons.len(),
        };
        members.sort(monitor)?;
        Ok(members)
    }

    fn sort(&mut self, monitor: &Monitor) -> Result<()> {
        let mut rest = &mut self.keys[..];
        for homes in self
            .starts
            .windows(HOMES_PER_CHECK + 1)
            .step_by(HOMES_PER_CHECK)
        {
            rest = sort_homes(homes, rest, monitor)?;
        }
        let done = (self.starts.len() - 1) / HOMES_PER_CHECK * HOMES_PER_CHECK;
        sort_homes(&self.starts[done..], rest, monitor)?;
        Ok(())
    }

    /// Number of households.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of different keys.
    pub fn n_keys(&self) -> usize {
        self.n_keys
    }

    /// The keys of a household.
    pub fn of(&self, home: usize) -> &[u32] {
        &self.keys[self.starts[home] as usize..self.starts[home + 1] as usize]
    }

    /// The different keys of a household.
    pub fn distinct(&self, home: usize) -> impl Iterator<Item = u32> + '_ {
        let keys = self.of(home);
        let new = move |&(i, key): &(usize, &u32)| i == 0 || keys[i - 1] != *key;
        keys.iter().enumerate().filter(new).map(|(_, &key)| key)
    }
}

/// Sorts the keys of some households, which begin at `starts`, and gives back
/// what comes after them.
fn sort_homes<'a>(
    starts: &[u32],
    mut keys: &'a mut [u32],
    monitor: &Monitor,
) -> Result<&'a mut [u32]> {
    monitor.check()?;
    for home in starts.windows(2) {
        let (own, rest) = keys.split_at_mut((home[1] - home[0]) as usize);
        // One household may be the whole file.
        if own.len() > HOMES_PER_CHECK {
            own.par_sort_unstable();
        } else {
            own.sort_unstable();
        }
        keys = rest;
    }
    Ok(keys)
}
