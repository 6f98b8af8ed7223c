//! The path of rows that go in an order fixed beforehand.

use super::*;

/// Memory that the falling counts of one path may take.
const FALL_BYTES: u64 = 2_000_000_000;

/// The path of rows that go in the given order. `counts` are those of the
/// whole table.
pub fn fixed_path(
    table: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    rows: &[u32],
    block: usize,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let plan = Plan {
        n: rows.len(),
        block,
    };
    plan.check(table)?;
    let n_blocks = plan.n_blocks();
    let n_records = table.n_records();
    let depth = depth_while(&counts.distinct, n_records, plan.n, settings);
    let wanted = matter(&counts.distinct, depth, plan.n);
    let places: Vec<u32> = wanted
        .iter()
        .scan(0, |next, &w| {
            let place = *next;
            *next += u32::from(w);
            Some(place)
        })
        .collect();
    let n_kept = wanted.iter().filter(|&&w| w).count();
    check_bytes(n_kept as u64 * n_blocks as u64 * 4, FALL_BYTES, "path")?;
    let mut goes = vec![u32::MAX; table.n_rows()];
    for (i, &row) in (0u32..).zip(rows) {
        let place = goes.get_mut(row as usize).filter(|g| **g == u32::MAX);
        let Some(place) = place else {
            return Err(Error::BadArgument(
                "Records to remove must be distinct records of the file.".into(),
            ));
        };
        *place = i / block as u32;
    }
    monitor.set_total(monitor.progress().0 + n_kept as u64 + n_blocks as u64);
    let falls = Falls {
        goes: &goes,
        places: &places,
        n_blocks,
        falls: atomics(n_kept * n_blocks),
    };
    walk(table, sets, &wanted, &falls, monitor)?;
    let mut left: Vec<u32> = counts
        .distinct
        .iter()
        .zip(&wanted)
        .filter_map(|(&h, &w)| w.then_some(h))
        .collect();
    let before = estimate_of(left.clone(), depth, sets.len(), n_records, settings);
    let mut after = Vec::with_capacity(n_blocks);
    for b in 0..n_blocks {
        if b % 64 == 0 {
            monitor.check()?;
        }
        for (h, falls) in left.iter_mut().zip(falls.falls.chunks(n_blocks)) {
            *h -= falls[b].load(Relaxed);
        }
        let n_left = n_records - plan.removed(b) as u64;
        after.push(estimate_of(
            left.clone(),
            depth,
            sets.len(),
            n_left,
            settings,
        ));
        monitor.advance(1);
    }
    Ok(Path {
        before,
        rows: rows.to_vec(),
        after,
        n_kept,
    })
}

fn check_bytes(bytes: u64, limit: u64, what: &str) -> Result<()> {
    if bytes > limit {
        return Err(Error::too_large(
            &format!("The {what} may take at most {} MB.", limit / 1_000_000),
            &format!("It needs {} MB.", bytes / 1_000_000),
            "Take a larger `block`, a smaller `n` or a smaller `p`.",
        ));
    }
    Ok(())
}

/// Per kept key set and block, how many classes lose their last member.
struct Falls<'a> {
    /// Per row the block it goes with, `u32::MAX` for rows that stay.
    goes: &'a [u32],
    places: &'a [u32],
    n_blocks: usize,
    falls: Vec<AtomicU32>,
}

impl Visitor for Falls<'_> {
    fn alone(&self, _rows: &[u32], _sets: std::ops::Range<usize>) {}

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let of_set = &self.falls[self.places[set] as usize * self.n_blocks..][..self.n_blocks];
        let fall = |block: u32| {
            if block != u32::MAX {
                of_set[block as usize].fetch_add(1, Relaxed);
            }
        };
        for &row in prefix.alone() {
            fall(self.goes[row as usize]);
        }
        scratch.split(
            prefix,
            last,
            |latest, row| latest.max(self.goes[row as usize]),
            |_, latest| fall(latest),
        );
    }
}
