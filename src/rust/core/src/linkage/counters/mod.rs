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
mod kept;
mod planes;
mod queries;
mod tile;

use super::patterns::Patterns;
use super::Best;
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};

use block::Block;
use groups::group_keys;
pub(super) use kept::Within;
use kept::{Kept, Rows};
use planes::ROWS;
use queries::sort_queries;
use tile::Tile;

/// Queries per block of parallel work.
const BLOCK: usize = 2048;

/// Per query, the nearest rows.
pub(super) fn nearest(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
    let bounds = patterns.bounds();
    let begin = |query: usize| Best {
        n_diff: bounds[query],
        n_best: 0,
    };
    scan(patterns, monitor, report, begin)
}

/// Per query, all rows that differ on no more keys than its bound, by the number of
/// observed keys that they share.
pub(super) fn within(patterns: &Patterns, monitor: &Monitor) -> Result<Vec<Within>> {
    let bounds = patterns.bounds();
    let (observed, _) = patterns.observed().unwrap_or_default();
    let begin = |query: usize| {
        let observed = observed.get(query).copied().unwrap_or(u64::MAX);
        Within::new(bounds[query], observed)
    };
    scan(patterns, monitor, false, begin)
}

/// State kept of every query after all rows, `begin` giving what it begins with.
fn scan<K: Kept>(
    patterns: &Patterns,
    monitor: &Monitor,
    report: bool,
    begin: impl Fn(usize) -> K,
) -> Result<Vec<K>> {
    // The planes must hold one more than the number of keys: nothing found.
    match patterns.n_keys() {
        0..=2 => Scan::<2>::run(patterns, monitor, report, begin),
        3..=6 => Scan::<3>::run(patterns, monitor, report, begin),
        7..=14 => Scan::<4>::run(patterns, monitor, report, begin),
        15..=30 => Scan::<5>::run(patterns, monitor, report, begin),
        31..=62 => Scan::<6>::run(patterns, monitor, report, begin),
        63..=126 => Scan::<7>::run(patterns, monitor, report, begin),
        _ => Err(Error::TooLarge("Too many keys to link on.".into())),
    }
}

struct Scan<const P: usize>;

impl<const P: usize> Scan<P> {
    fn run<K: Kept>(
        patterns: &Patterns,
        monitor: &Monitor,
        report: bool,
        begin: impl Fn(usize) -> K,
    ) -> Result<Vec<K>> {
        let groups = group_keys(patterns.queries(), monitor)?;
        let (queries, masks) = sort_queries(patterns, &groups, monitor)?;
        let mut kept: Vec<K> = (queries.original.iter())
            .map(|&q| begin(q as usize))
            .collect();
        let starts: Vec<usize> = (0..patterns.n_rows()).step_by(ROWS).collect();
        if report {
            monitor.set_total(starts.len() as u64);
        }
        let mut tile = Tile::<P>::empty(&groups);
        for start in starts {
            monitor.check()?;
            tile.fill(patterns, &groups, &masks, start);
            let rows = start..patterns.n_rows().min(start + ROWS);
            let observed = patterns.observed().map(|(_, observed)| observed);
            let rows = Rows::new(
                &patterns.counts()[rows.clone()],
                observed.map(|observed| &observed[rows]),
            );
            parallel::try_for_each(kept.chunks_mut(BLOCK).enumerate(), monitor, |(b, kept)| {
                let first = b * BLOCK;
                Block::new(&tile, &queries, first, kept.len(), &rows).scan(kept);
                Ok(())
            })?;
            monitor.advance(u64::from(report));
        }
        let mut out: Vec<K> = (0..kept.len()).map(begin).collect();
        for (&q, found) in queries.original.iter().zip(kept) {
            out[q as usize] = found;
        }
        Ok(out)
    }
}
