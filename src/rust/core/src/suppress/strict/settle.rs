//! Full buckets put in order: buckets that others can take over are dissolved,
//! cells move to cheaper ones, and donors no longer needed go home.

use hashbrown::HashMap;

use crate::error::Result;

use super::Turn;

/// Rounds over all buckets.
const ROUNDS: usize = 4;

/// Possible places for the cells of a turn.
struct Index {
    /// The sets of full buckets, cheapest first.
    sets: Vec<u64>,
    /// Full buckets by their set and the values outside it.
    buckets: HashMap<(u64, Vec<u32>), usize>,
}

/// Lowers the cost of the full buckets of a turn; every one keeps `k` records.
pub(super) fn settle(turn: &mut Turn<'_>) -> Result<()> {
    for _ in 0..ROUNDS {
        let index = Index::new(turn);
        let mut changed = false;
        for b in 0..turn.full.len() {
            if b % 64 == 0 {
                turn.monitor.check()?;
            }
            changed |= dissolve(turn, &index, b) || thin(turn, &index, b);
        }
        turn.full.retain(|bucket| !bucket.violators.is_empty());
        if !changed {
            break;
        }
    }
    Ok(())
}

impl Index {
    fn new(turn: &Turn<'_>) -> Self {
        let mut sets: Vec<u64> = turn.full.iter().map(|bucket| bucket.set).collect();
        sets.sort_unstable();
        sets.dedup();
        let cost = |set: &u64| turn.problem.cost(*set);
        sets.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let place = |(b, bucket): (usize, &super::Bucket)| {
            (
                (bucket.set, values(turn, bucket.violators[0], bucket.set)),
                b,
            )
        };
        Self {
            buckets: turn.full.iter().enumerate().map(place).collect(),
            sets,
        }
    }

    /// The cheapest full bucket other than `b` for a cell, with its cost per
    /// record, if that is below `limit`.
    fn best(&self, turn: &Turn<'_>, cell: u32, b: usize, limit: f64) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for &set in &self.sets {
            let Some(cost) = turn.cost(cell, set) else {
                continue;
            };
            if cost >= best.map_or(limit, |best| best.0) {
                continue;
            }
            let at = self.buckets.get(&(set, values(turn, cell, set)));
            if let Some(&at) = at.filter(|&&at| at != b && !turn.full[at].violators.is_empty()) {
                best = Some((cost, at));
            }
        }
        best
    }
}

/// The values of a cell outside `set`.
fn values(turn: &Turn<'_>, cell: u32, set: u64) -> Vec<u32> {
    (turn.columns.iter().zip(turn.table.columns()))
        .filter(|(&v, _)| v >= turn.problem.n_keys || set >> v & 1 == 0)
        .map(|(_, column)| column.codes().get(cell as usize))
        .collect()
}

/// Cost of blanking `set` in all records of a cell.
fn price(turn: &Turn<'_>, cell: u32, set: u64, n: usize) -> f64 {
    turn.cost(cell, set).unwrap_or(f64::INFINITY) * n as f64
}

fn n_rows(turn: &Turn<'_>, cell: u32) -> usize {
    turn.cells[cell as usize].rows.len()
}

/// Gives all cells of bucket `b` to others, where that costs less; its donors go
/// home.
fn dissolve(turn: &mut Turn<'_>, index: &Index, b: usize) -> bool {
    let bucket = &turn.full[b];
    let bound = |d: &super::Donated| !has_home(turn, d);
    if bucket.violators.is_empty() || !bucket.joined.is_empty() || bucket.donated.iter().any(bound)
    {
        return false;
    }
    let own = bucket
        .violators
        .iter()
        .map(|&c| price(turn, c, bucket.set, n_rows(turn, c)));
    let given = bucket
        .donated
        .iter()
        .map(|d| price(turn, d.cell, bucket.set, d.rows.len()));
    let now: f64 = own.chain(given).sum();
    let mut moves = Vec::with_capacity(bucket.violators.len());
    let mut then = 0.0;
    for &cell in &bucket.violators {
        let Some((cost, to)) = index.best(turn, cell, b, f64::INFINITY) else {
            return false;
        };
        then += cost * n_rows(turn, cell) as f64;
        moves.push((cell, to));
        if then >= now * (1.0 - 1e-9) {
            return false;
        }
    }
    for (cell, to) in moves {
        turn.full[to].violators.push(cell);
    }
    turn.full[b].violators.clear();
    for donated in std::mem::take(&mut turn.full[b].donated) {
        go_home(turn, donated);
    }
    true
}

/// Lets cells of bucket `b` go to cheaper ones, and donors home, as long as it
/// keeps `k` records.
fn thin(turn: &mut Turn<'_>, index: &Index, b: usize) -> bool {
    let bucket = &turn.full[b];
    if bucket.violators.is_empty() || !bucket.joined.is_empty() {
        return false;
    }
    // With a cell that has these values anyway nobody else is needed.
    let least = if bucket.target.is_some() { 0 } else { turn.k() };
    let mut n = turn.rows(bucket).len();
    let mut changed = false;
    let mut kept = Vec::new();
    for mut donated in std::mem::take(&mut turn.full[b].donated) {
        let spare = n.saturating_sub(least);
        if spare == 0 || !has_home(turn, &donated) {
            kept.push(donated);
        } else if donated.rows.len() <= spare {
            n -= donated.rows.len();
            go_home(turn, donated);
            changed = true;
        } else if donated.whole {
            kept.push(donated);
        } else {
            n -= spare;
            let rows = donated.rows.split_off(donated.rows.len() - spare);
            let cell = donated.cell;
            go_home(
                turn,
                super::Donated {
                    cell,
                    rows,
                    whole: false,
                },
            );
            kept.push(donated);
            changed = true;
        }
    }
    turn.full[b].donated = kept;
    let violators = std::mem::take(&mut turn.full[b].violators);
    let mut stay = Vec::with_capacity(violators.len());
    for (at, &cell) in violators.iter().enumerate() {
        let size = n_rows(turn, cell);
        // One cell stays: its values are those of the bucket.
        let last = stay.is_empty() && at + 1 == violators.len();
        let limit = turn.cost(cell, turn.full[b].set).unwrap_or(0.0);
        let to = if n >= least + size && !last {
            index.best(turn, cell, b, limit * (1.0 - 1e-9))
        } else {
            None
        };
        match to {
            Some((_, to)) => {
                turn.full[to].violators.push(cell);
                n -= size;
                changed = true;
            }
            None => stay.push(cell),
        }
    }
    turn.full[b].violators = stay;
    changed
}

/// True if the cell of donors is still there, or comes back with them.
fn has_home(turn: &Turn<'_>, donated: &super::Donated) -> bool {
    donated.whole || !turn.cells[donated.cell as usize].gone
}

fn go_home(turn: &mut Turn<'_>, donated: super::Donated) {
    let cell = &mut turn.cells[donated.cell as usize];
    cell.rows.extend(donated.rows);
    cell.gone = false;
}
