//! The records whose blanks can change, or whose partners must be told apart.

use super::problem::Problem;
use super::scan::Apart;

const NONE: u32 = u32::MAX;

/// The listed records, shared by all key sets.
#[derive(Debug)]
pub(super) struct Listed {
    /// Their rows.
    pub rows: Vec<u32>,
    /// Place of their pattern in `patterns`.
    pub pattern: Vec<u32>,
    /// The listed patterns.
    pub patterns: Vec<u32>,
    /// The household of each, empty without households.
    pub household: Vec<u32>,
    /// Per listed pattern, other records by the keys in which they differ;
    /// `None` where they are counted by combination of keys.
    pub apart: Option<Vec<Vec<Apart>>>,
}

impl Listed {
    pub fn new(problem: &Problem<'_>, apart: Option<Vec<Vec<Apart>>>) -> Self {
        let all = problem.settings.households.is_some();
        let patterns: Vec<u32> = if all {
            (0..problem.counts.len() as u32).collect()
        } else {
            problem.violators.clone()
        };
        let mut place = vec![NONE; problem.counts.len()];
        for (at, &p) in (0u32..).zip(&patterns) {
            place[p as usize] = at;
        }
        // A row of many records is listed once for each: few, since they violate.
        let times = |row: u32| {
            problem
                .times
                .map_or(1, |times| times[row as usize] as usize)
        };
        let rows: Vec<u32> = (0u32..)
            .zip(&problem.row_pattern)
            .filter(|(_, &p)| place[p as usize] != NONE)
            .flat_map(|(row, _)| std::iter::repeat_n(row, times(row)))
            .collect();
        let of = |&row: &u32| place[problem.row_pattern[row as usize] as usize];
        Self {
            pattern: rows.iter().map(of).collect(),
            household: match problem.settings.households {
                None => Vec::new(),
                Some(column) => rows
                    .iter()
                    .map(|&r| column.codes().get(r as usize))
                    .collect(),
            },
            rows,
            patterns,
            apart,
        }
    }
}
