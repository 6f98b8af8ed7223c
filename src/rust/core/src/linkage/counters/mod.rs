//! Differences of all pairs, counted in bits.
//!
//! Wave 1 is cut into tiles of 512 sorted rows. For every key and wave-2 code
//! a bitmap marks the rows of the tile that differ; adding the bitmaps of all
//! keys with carry-save adders gives the numbers of differences of 512 pairs
//! in a few bit planes.
//!
//! Queries share most of that work. Keys are put into groups whose codes occur
//! in at most 1,024 combinations among the queries; the planes
//! of every combination are computed once per tile. Queries are sorted by the
//! bound of their smallest difference and by combinations, so that the groups
//! are added once for a run of queries. Since the rows of a tile are alike, the
//! combinations of most queries differ from all of them by more than the bound:
//! whole runs are then skipped without looking at a bit.
//!
//! Memory: about 40 bytes per distinct wave-2 row, and 0.3 KB per combination.

mod block;
mod groups;
mod planes;
mod queries;
mod tile;

use rayon::prelude::*;

use super::patterns::Patterns;
use super::Best;
use crate::error::{Error, Result};
use crate::parallel::Monitor;

use block::Block;
use groups::group_keys;
use planes::ROWS;
use queries::sort_queries;
use tile::Tile;

/// Queries per block of parallel work.
const BLOCK: usize = 2048;

pub(super) fn nearest(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
    // The planes must hold one more than the number of keys: nothing found.
    match patterns.n_keys() {
        0..=2 => Scan::<2>::run(patterns, monitor, report),
        3..=6 => Scan::<3>::run(patterns, monitor, report),
        7..=14 => Scan::<4>::run(patterns, monitor, report),
        15..=30 => Scan::<5>::run(patterns, monitor, report),
        31..=62 => Scan::<6>::run(patterns, monitor, report),
        63..=126 => Scan::<7>::run(patterns, monitor, report),
        _ => Err(Error::TooLarge("Too many keys to link on.".into())),
    }
}

struct Scan<const P: usize>;

impl<const P: usize> Scan<P> {
    fn run(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
        let groups = group_keys(patterns.queries(), monitor)?;
        let (queries, masks) = sort_queries(patterns, &groups, monitor)?;
        let bounds = patterns.bounds();
        let mut best: Vec<Best> = queries
            .original
            .iter()
            .map(|&q| Best {
                n_diff: bounds[q as usize],
                n_best: 0,
            })
            .collect();
        let starts: Vec<usize> = (0..patterns.n_rows()).step_by(ROWS).collect();
        if report {
            monitor.set_total(starts.len() as u64);
        }
        let mut tile = Tile::<P>::empty(&groups);
        for start in starts {
            monitor.check()?;
            tile.fill(patterns, &groups, &masks, start);
            let counts = &patterns.counts()[start..patterns.n_rows().min(start + ROWS)];
            best.par_chunks_mut(BLOCK)
                .enumerate()
                .try_for_each(|(b, best)| {
                    monitor.check()?;
                    let first = b * BLOCK;
                    Block::new(&tile, &queries, first, best.len(), counts).scan(best);
                    Ok(())
                })?;
            monitor.advance(u64::from(report));
        }
        let mut out = vec![
            Best {
                n_diff: 0,
                n_best: 0
            };
            best.len()
        ];
        for (&q, found) in queries.original.iter().zip(best) {
            out[q as usize] = found;
        }
        Ok(out)
    }
}
