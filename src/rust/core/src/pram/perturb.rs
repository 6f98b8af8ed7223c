//! Drawing: which record gives every record its new key values.

use rand::RngExt;

use super::Design;
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};
use crate::random::Streams;

/// Records per stream of random numbers.
const BLOCK: usize = 1 << 16;

/// The cells of every block, and the place of every cell in its block.
#[derive(Debug)]
pub(super) struct Members {
    starts: Vec<u32>,
    cells: Vec<u32>,
    /// Place of every cell among the members of its block.
    place: Vec<u32>,
}

impl Members {
    pub fn new(block_of: &[Option<u32>], n_blocks: usize) -> Self {
        let mut starts = vec![0u32; n_blocks + 1];
        for block in block_of.iter().flatten() {
            starts[*block as usize + 1] += 1;
        }
        for b in 0..n_blocks {
            starts[b + 1] += starts[b];
        }
        let mut next = starts.clone();
        let mut cells = vec![0u32; starts[n_blocks] as usize];
        let mut place = vec![0u32; block_of.len()];
        for (cell, block) in (0u32..).zip(block_of) {
            if let Some(block) = block {
                let at = next[*block as usize];
                cells[at as usize] = cell;
                place[cell as usize] = at - starts[*block as usize];
                next[*block as usize] += 1;
            }
        }
        Self {
            starts,
            cells,
            place,
        }
    }

    /// The cells of a block.
    pub fn of(&self, block: u32) -> &[u32] {
        let b = block as usize;
        &self.cells[self.starts[b] as usize..self.starts[b + 1] as usize]
    }

    /// A cell of the same block other than `cell`, all with one probability.
    pub fn other(&self, cell: u32, block: u32, rng: &mut impl RngExt) -> u32 {
        let cells = self.of(block);
        let here = self.place[cell as usize];
        let drawn = rng.random_range(0..cells.len() as u32 - 1);
        cells[(drawn + u32::from(drawn >= here)) as usize]
    }
}

/// Moves of records that are drawn one after the other.
#[derive(Debug)]
pub struct Moves<'a> {
    members: Members,
    block: &'a [Option<u32>],
    /// Per cell, the probability that a record leaves it.
    leave: Vec<f64>,
}

impl<'a> Moves<'a> {
    /// Counts and blocks of the cells, thetas of the blocks.
    pub fn new(counts: &[u64], block: &'a [Option<u32>], thetas: &[f64]) -> Result<Self> {
        let known = |b: &u32| (*b as usize) < thetas.len();
        if counts.len() != block.len() || counts.contains(&0) || !block.iter().flatten().all(known)
        {
            return Err(Error::BadArgument(
                "The cells of a design must have counts of at least 1 and known blocks.".into(),
            ));
        }
        let leave = |(&count, block): (&u64, &Option<u32>)| {
            block.map_or(0.0, |block| thetas[block as usize]) / count as f64
        };
        Ok(Self {
            members: Members::new(block, thetas.len()),
            block,
            leave: counts.iter().zip(block).map(leave).collect(),
        })
    }

    /// The new cell of a record, `None` where it stays; one that cannot move draws nothing.
    fn target(&self, cell: u32, rng: &mut impl RngExt) -> Option<u32> {
        let leave = self.leave[cell as usize];
        if leave > 0.0 && rng.random::<f64>() < leave {
            self.block[cell as usize].map(|block| self.members.other(cell, block, rng))
        } else {
            None
        }
    }
}

/// For every record the record whose key values it takes: itself where it
/// stays, the first record of its new cell where it moves.
pub fn draw(design: &Design, streams: &Streams, monitor: &Monitor) -> Result<Vec<u32>> {
    let moves = Moves::new(&design.counts, &design.block, &design.thetas)?;
    let mut donors = vec![0u32; design.row_cell.len()];
    let parts = donors.chunks_mut(BLOCK).zip(design.row_cell.chunks(BLOCK));
    parallel::try_for_each(parts.enumerate(), monitor, |(b, (donors, cells))| {
        let mut rng = streams.block(b as u64);
        let first = (b * BLOCK) as u32;
        for (row, (donor, &cell)) in (first..).zip(donors.iter_mut().zip(cells)) {
            let target = moves.target(cell, &mut rng);
            *donor = target.map_or(row, |target| design.first_row[target as usize]);
        }
        monitor.advance(cells.len() as u64);
        Ok(())
    })?;
    Ok(donors)
}

/// Position up to which the records of a file were drawn: the next one continues there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Records so far.
    pub rows: u64,
    /// Words that the stream of the block at work has given.
    pub words: u64,
}

/// The new cells of the next records of a file, the own one where a record stays: what
/// [`draw`] says of all records at once, whatever the parts it is asked for.
pub fn draw_next(
    moves: &Moves<'_>,
    cells: &[u32],
    drawn: Drawn,
    streams: &Streams,
    monitor: &Monitor,
) -> Result<(Vec<u32>, Drawn)> {
    if cells.iter().any(|&cell| cell as usize >= moves.leave.len()) {
        return Err(Error::BadArgument("Every record needs a cell.".into()));
    }
    let mut next = drawn;
    let mut targets = Vec::with_capacity(cells.len());
    let mut rest = cells;
    while !rest.is_empty() {
        monitor.check()?;
        let within = (next.rows % BLOCK as u64) as usize;
        let (now, later) = rest.split_at(rest.len().min(BLOCK - within));
        let mut rng = streams.block(next.rows / BLOCK as u64);
        rng.set_word_pos(u128::from(next.words));
        targets.extend(now.iter().map(|&c| moves.target(c, &mut rng).unwrap_or(c)));
        next.rows += now.len() as u64;
        next.words = match within + now.len() == BLOCK {
            true => 0,
            false => rng.get_word_pos() as u64,
        };
        rest = later;
    }
    Ok((targets, next))
}
