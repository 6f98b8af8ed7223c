//! Invariant post-randomisation with a bound on correct matches.
//!
//! Key variables cross-classify `n` records into `k` non-empty cells with
//! counts `T_i`. A unit B of cell `j` is in the file; the intruder knows its
//! cell and picks one of the `S_j` released records there. CM says that the
//! pick is B. Every record is randomised by itself, inside its block of cells:
//!
//! ```text
//! p_stay(i)    = 1 - theta / T_i
//! p_move(i, j) = theta / ((k - 1) T_i),   j != i,
//! ```
//!
//! which leaves all expected counts as they are, `E(S | T) = T`, and promises
//!
//! ```text
//! P(CM | S_j = a, T) <= xi   for every cell j and every a >= 1.
//! ```
//!
//! Source: Nayak, T. K., Identity disclosure risk control in microdata release
//! via post-randomization. There theta solves `(1 - theta) / (1 - theta +
//! theta^2) = xi`. Here, besides, theta is the smallest whose exact worst case
//! keeps the promise, and blocks can be small.
//!
//! | module | question |
//! |---|---|
//! | [`match_prob`] | how likely is a correct match, exactly? |
//! | [`calibrate`] | how small may theta be? |
//! | `levels` | inside which levels may records move? |
//! | `blocks`, [`pairing`] | which cells exchange records with which? |
//! | [`perturb`] | where does every record go? |
//! | [`audit`] | does it hold, and for whom else? what do analysts lose? |
//! | [`all_counts`] | what if all released counts are weighed? |
//! | `lowest` | which bounds can the file reach? |

mod all_counts;
mod audit;
mod blocks;
mod calibrate;
mod levels;
mod lowest;
mod match_prob;
mod pairing;
mod perturb;
mod plausibility;

use hashbrown::{HashMap, HashSet};

pub use audit::{margins, simulate, Layout};
pub use calibrate::{exact_theta, paper_theta, reach};
pub use match_prob::Tally;
pub use pairing::Forbidden;
pub use perturb::{draw, draw_next, Drawn, Moves};
pub use plausibility::{new_pairs, NewPairs};

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::memory::{reserved, room_for};
use crate::parallel::{self, Monitor};
use crate::probability::Probability;
use crate::random::Streams;
use crate::weights::Weights;

use blocks::{Formed, Search};
use levels::Cells;
use pairing::Points;

/// Choice of theta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calibration {
    /// The smallest theta whose exact worst case keeps the bound, by block.
    Exact,
    /// The published closed form.
    Paper,
}

/// The cells that are perturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All cells of a level, as one block.
    All,
    /// Cells above the bound, in small blocks.
    Risky,
}

/// Whom a risky cell is grouped with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefer {
    /// The nearest cell of the same count, where there is one.
    FewestChanges,
    /// The nearest cell.
    Nearest,
    /// The cell of the same count with the nearest mean weight.
    SimilarWeights,
}

/// Treatment of cells that cannot be protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unprotected {
    /// They are reported and nothing is drawn.
    Refuse,
    /// Their level is merged with that of the nearest cell.
    Merge,
    /// They get the protection there is.
    Keep,
}

/// Request for a design.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The bound xi.
    pub bound: Probability,
    /// Cells in scope.
    pub scope: Scope,
    /// Choice of theta.
    pub calibration: Calibration,
    /// Preferred partners.
    pub prefer: Prefer,
    /// Treatment of cells that cannot be protected.
    pub unprotected: Unprotected,
    /// Per key, whether its codes have an order.
    pub ordered: &'a [bool],
    /// Values never exchanged.
    pub forbidden: &'a [Forbidden],
    /// Level of every record, from 0; `None` for one level.
    pub level: Option<&'a [u32]>,
    /// Family of every level: only levels of one family may be merged.
    pub family: Option<&'a [u32]>,
    /// A weight of every record, for [`Prefer::SimilarWeights`].
    pub weights: Option<Weights<'a>>,
}

/// Exchanges between cells, with their probabilities.
#[derive(Debug, Clone)]
pub struct Design {
    /// Cell of every record.
    pub row_cell: Vec<u32>,
    /// First record of every cell.
    pub first_row: Vec<u32>,
    /// Records of every cell.
    pub counts: Vec<u64>,
    /// Block of every cell, `None` for a cell that stays untouched.
    pub block: Vec<Option<u32>>,
    /// Theta of every block.
    pub thetas: Vec<f64>,
    /// Exact worst P(CM | S_j = a) over all `a`, of every cell.
    pub match_prob: Vec<f64>,
    /// P(CM | all released counts) of every block, see [`all_counts`].
    pub all_counts: Vec<f64>,
    /// Per key, expected records whose value changes.
    pub expected_changes: Vec<f64>,
    /// Groups of cells that cannot be brought below the bound.
    pub unreached: Vec<Vec<u32>>,
    /// The lowest bound that works; where the groups are kept as they are, what
    /// they reach.
    pub lowest: f64,
    /// Levels that were merged with others.
    pub n_merged: usize,
}

impl Design {
    /// Theta of the block of a cell, 0 for an untouched cell.
    pub fn theta_of(&self, cell: usize) -> f64 {
        self.block[cell].map_or(0.0, |block| self.thetas[block as usize])
    }
}

/// Upper bound of a design's bytes per row if all rows are cells of their own: vectors of many
/// lengths, for which the memory is checked before the first.
const BYTES_PER_ROW: usize = 900;

/// Finds blocks and their thetas.
pub fn design(table: &KeyTable, settings: &Settings, monitor: &Monitor) -> Result<Design> {
    if settings.weights.is_some_and(|w| w.len() != table.n_rows()) {
        return Err(Error::BadArgument("Every record needs a weight.".into()));
    }
    if settings.calibration == Calibration::Paper {
        paper_theta(settings.bound)?;
    }
    room_for(BYTES_PER_ROW * table.n_rows())?;
    let (cells, formed, n_merged) = arrange(table, settings, monitor)?;
    let mut design = finish(cells, formed, settings, n_merged, monitor)?;
    if lowest::is_wanted(settings, design.lowest, &design.unreached) {
        design.lowest = lowest::lowest_bound(table, settings, design.lowest, monitor)?;
    }
    Ok(design)
}

/// A design, and for every record the one whose values it takes: of nobody where
/// some cells cannot be protected and are not to be kept, or where a row of the table
/// stands for many records, which [`draw_next`] draws.
pub fn release(
    table: &KeyTable,
    settings: &Settings,
    streams: &Streams,
    monitor: &Monitor,
) -> Result<(Design, Vec<u32>)> {
    let found = design(table, settings, monitor)?;
    let refused = settings.unprotected != Unprotected::Keep && !found.unreached.is_empty();
    let donors = if refused || table.multiplicity().is_some() {
        Vec::new()
    } else {
        draw(&found, streams, monitor)?
    };
    Ok((found, donors))
}

/// Cells and their blocks, and the number of levels merged on the way.
fn arrange(
    table: &KeyTable,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<(Cells, Formed, usize)> {
    let mut cells = Cells::new(table, settings.level, settings.family, monitor)?;
    if settings.scope == Scope::All && !settings.forbidden.is_empty() {
        cells.separate(settings.forbidden, monitor)?;
    }
    let mut n_merged = 0;
    let formed = loop {
        let codes = std::mem::take(&mut cells.codes);
        let points = Points {
            codes: &codes,
            ordered: settings.ordered,
            forbidden: settings.forbidden,
        };
        let formed = form(&cells, &points, settings, monitor)?;
        let wanted = settings.unprotected == Unprotected::Merge && !formed.unreached.is_empty();
        let merged = if wanted {
            cells.merge(&formed.unreached, &points, monitor)?
        } else {
            0
        };
        cells.codes = codes;
        if merged == 0 {
            break formed;
        }
        n_merged += merged;
        cells.collapse(monitor)?;
    };
    Ok((cells, formed, n_merged))
}

/// Blocks of cells as the levels now are.
fn form(cells: &Cells, points: &Points, settings: &Settings, monitor: &Monitor) -> Result<Formed> {
    let weights = settings
        .weights
        .filter(|_| settings.prefer == Prefer::SimilarWeights)
        .map(|weights| mean_weights(cells, &weights));
    let search = Search {
        points,
        counts: &cells.counts,
        bound: settings.bound,
        calibration: settings.calibration,
        prefer: settings.prefer,
        weights: weights.as_deref(),
        monitor,
    };
    let mut all = Formed::default();
    let mut marks = vec![false; cells.len()];
    for members in cells.by_level(monitor)? {
        monitor.check()?;
        match settings.scope {
            Scope::All => {
                let safe = !members.iter().any(|&cell| search.is_risky(cell));
                if safe || search.suffices(&members) {
                    all.blocks.push(members);
                } else {
                    all.unreached.push(members);
                }
            }
            Scope::Risky => {
                let formed = search.small_blocks(&members, &mut marks)?;
                all.blocks.extend(formed.blocks);
                all.unreached.extend(formed.unreached);
            }
        }
    }
    Ok(all)
}

/// Mean weight of the records of every cell.
fn mean_weights(cells: &Cells, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; cells.len()];
    for (&cell, &weight) in cells.row_cell.iter().zip(weights) {
        sums[cell as usize] += weight;
    }
    for (sum, &count) in sums.iter_mut().zip(&cells.counts) {
        *sum /= count as f64;
    }
    sums
}

/// Theta of a block, and what it comes to.
struct Solved {
    theta: f64,
    /// Worst P(CM | S_j = a), per distinct count.
    worst: Vec<f64>,
    all_counts: f64,
}

/// The published theta where it is asked for and covers the block.
fn solve(tally: &Tally, paper: Option<f64>, bound: Probability) -> Solved {
    let theta = match paper {
        _ if tally.n_cells() < 2 => 0.0,
        Some(theta) => theta,
        None => exact_theta(tally, bound).unwrap_or_else(|| tally.theta_limit()),
    };
    Solved {
        theta,
        worst: tally.worst_by_count(theta),
        all_counts: all_counts::all_counts(tally, theta),
    }
}

/// Thetas and exact match probabilities of the blocks.
fn finish(
    cells: Cells,
    formed: Formed,
    settings: &Settings,
    n_merged: usize,
    monitor: &Monitor,
) -> Result<Design> {
    let Formed {
        mut blocks,
        unreached,
    } = formed;
    let tally_of = |members: &[u32]| Tally::new(members.iter().map(|&c| cells.counts[c as usize]));
    let lowest = unreached
        .iter()
        .map(|group| reach(&tally_of(group)))
        .fold(0.0, f64::max);
    let n_reached = blocks.len();
    if settings.unprotected == Unprotected::Keep {
        for group in &unreached {
            monitor.check()?;
            blocks.push(group.clone());
        }
    }
    let paper = match settings.calibration {
        Calibration::Paper => Some(paper_theta(settings.bound)?),
        Calibration::Exact => None,
    };
    // Small blocks have few different tallies.
    let mut tallies: Vec<(Tally, bool)> = reserved(blocks.len())?;
    for (b, members) in blocks.iter().enumerate() {
        monitor.check()?;
        tallies.push((tally_of(members), b < n_reached));
    }
    let different: HashSet<&(Tally, bool)> = tallies.iter().collect();
    let solved = parallel::try_map(different, monitor, |kind| {
        let paper = paper.filter(|_| kind.1);
        Ok((kind, solve(&kind.0, paper, settings.bound)))
    })?;
    let solved: HashMap<&(Tally, bool), Solved> = solved.into_iter().collect();
    let mut block_of = vec![None; cells.len()];
    let mut match_prob: Vec<f64> = cells.counts.iter().map(|&t| 1.0 / t as f64).collect();
    for ((b, members), kind) in (0u32..).zip(&blocks).zip(&tallies) {
        for &cell in members {
            let count = cells.counts[cell as usize];
            block_of[cell as usize] = Some(b);
            if let Some(at) = kind.0.place(count) {
                match_prob[cell as usize] = solved[kind].worst[at];
            }
        }
    }
    let thetas: Vec<f64> = tallies.iter().map(|kind| solved[kind].theta).collect();
    let all_counts = tallies.iter().map(|kind| solved[kind].all_counts).collect();
    let expected_changes = expected_changes(&cells, &blocks, &thetas);
    Ok(Design {
        row_cell: cells.row_cell,
        first_row: cells.first_row,
        counts: cells.counts,
        block: block_of,
        thetas,
        match_prob,
        all_counts,
        expected_changes,
        unreached,
        lowest,
        n_merged,
    })
}

/// Per key, expected records whose value changes: theta records leave every
/// cell of a block, each for one of the other cells with equal probability.
fn expected_changes(cells: &Cells, blocks: &[Vec<u32>], thetas: &[f64]) -> Vec<f64> {
    cells
        .codes
        .iter()
        .map(|codes| {
            let mut sizes: HashMap<u32, u64> = HashMap::new();
            blocks
                .iter()
                .zip(thetas)
                .filter(|(_, &theta)| theta > 0.0)
                .map(|(members, &theta)| {
                    sizes.clear();
                    for &cell in members {
                        *sizes.entry(codes[cell as usize]).or_insert(0) += 1;
                    }
                    let k = members.len() as u64;
                    let same: u64 = sizes.values().map(|&s| s * s).sum();
                    theta * (k * k - same) as f64 / (k - 1) as f64
                })
                .sum()
        })
        .collect()
}

#[cfg(test)]
mod audit_tests;
#[cfg(test)]
mod tests;
