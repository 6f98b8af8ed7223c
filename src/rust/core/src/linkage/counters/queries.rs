//! The records of wave 2 in the order in which they are compared.

use super::groups::Group;
use crate::error::Result;
use crate::key_table::{Codes, Column};
use crate::linkage::patterns::{sorted_rows, Patterns};
use crate::parallel::Monitor;

/// Queries in the order of their bounds and combinations.
pub(super) struct Queries {
    /// Per group, the combination of every query, from 0.
    pub combination: Vec<Vec<u32>>,
    /// Per query, where the queries with its bound and first combination end.
    pub run_end: Vec<u32>,
    /// Per query, its set of observed keys.
    pub mask: Vec<u32>,
    /// Position of each query before sorting.
    pub original: Vec<u32>,
}

/// The sorted queries, and their distinct sets of observed keys: one set that
/// says nothing where all pairs are admissible.
pub(super) fn sort_queries(
    patterns: &Patterns,
    groups: &[Group],
    monitor: &Monitor,
) -> Result<(Queries, Vec<u64>)> {
    let bounds = patterns.bounds();
    let bound = Column::new(Codes::U8(bounds.to_vec()), u32::from(u8::MAX))?;
    let mut columns = vec![&bound];
    columns.extend(groups.iter().map(|g| &g.combination));
    let original = sorted_rows(&columns, monitor)?;
    let combination: Vec<Vec<u32>> = columns[1..]
        .iter()
        .map(|c| {
            let codes = original.iter().map(|&q| c.codes().get(q as usize));
            codes.map(|code| code - 1).collect()
        })
        .collect();
    let (mask, masks) = match patterns.sharing() {
        None => (vec![0; original.len()], vec![0]),
        Some((observed, _, _)) => {
            let mut masks: Vec<u64> = observed.to_vec();
            masks.sort_unstable();
            masks.dedup();
            let place = |bits: u64| masks.partition_point(|&m| m < bits) as u32;
            let of = |&q: &u32| place(observed[q as usize]);
            (original.iter().map(of).collect(), masks)
        }
    };
    let mut run_end = vec![original.len() as u32; original.len()];
    for q in (1..original.len()).rev() {
        let bound = |q: usize| bounds[original[q] as usize];
        let same = bound(q - 1) == bound(q) && combination[0][q - 1] == combination[0][q];
        run_end[q - 1] = if same { run_end[q] } else { q as u32 };
    }
    let queries = Queries {
        combination,
        run_end,
        mask,
        original,
    };
    Ok((queries, masks))
}
