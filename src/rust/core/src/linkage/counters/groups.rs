//! Keys whose combinations of codes are tabulated together.

use crate::error::Result;
use crate::key_table::{Codes, Column, KeyTable};
use crate::parallel::Monitor;

/// Keys share a group while their codes combine in at most so many ways.
const MOST_COMBINATIONS: u32 = 1024;

/// Keys whose combinations of codes are tabulated together.
pub(super) struct Group {
    pub keys: Vec<usize>,
    /// The combination of every query.
    pub combination: Column,
    /// Per combination, a query that has it.
    pub example: Vec<u32>,
}

impl Group {
    pub fn n_combinations(&self) -> usize {
        self.example.len()
    }

    pub fn is_tabulated(&self) -> bool {
        self.keys.len() > 1 || self.n_combinations() <= MOST_COMBINATIONS as usize
    }

    fn of(
        queries: &KeyTable,
        columns: Vec<Column>,
        keys: Vec<usize>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let groups = KeyTable::new(columns)?.group(monitor)?;
        let n = groups.len() as u32;
        let codes = Codes::pack(n, groups.row_group().iter().map(|&g| g + 1));
        debug_assert_eq!(codes.len(), queries.n_rows());
        Ok(Self {
            keys,
            combination: Column::new(codes, n)?,
            example: groups.first_rows().to_vec(),
        })
    }
}

/// Puts every key into the first group in which it leaves the number of
/// combinations small, or into one of its own.
pub(super) fn group_keys(queries: &KeyTable, monitor: &Monitor) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (v, column) in queries.columns().iter().enumerate() {
        monitor.check()?;
        let mut place = None;
        for (g, group) in groups.iter().enumerate() {
            let most = MOST_COMBINATIONS as usize;
            if group.n_combinations() > most || column.n_values() >= MOST_COMBINATIONS {
                continue;
            }
            let mut keys = group.keys.clone();
            keys.push(v);
            let columns = vec![group.combination.clone(), column.clone()];
            let joined = Group::of(queries, columns, keys, monitor)?;
            if joined.n_combinations() <= most {
                place = Some((g, joined));
                break;
            }
        }
        match place {
            Some((g, joined)) => groups[g] = joined,
            None => groups.push(Group::of(queries, vec![column.clone()], vec![v], monitor)?),
        }
    }
    Ok(groups)
}
