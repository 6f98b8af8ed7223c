//! Drawing: which record gives every record its new key values.

use rand::RngExt;
use rayon::prelude::*;

use super::Design;
use crate::error::Result;
use crate::parallel::Monitor;
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

/// For every record the record whose key values it takes: itself where it
/// stays, the first record of its new cell where it moves.
pub fn draw(design: &Design, streams: &Streams, monitor: &Monitor) -> Result<Vec<u32>> {
    let members = Members::new(&design.block, design.thetas.len());
    let leave: Vec<f64> = (0..design.counts.len())
        .map(|cell| design.theta_of(cell) / design.counts[cell] as f64)
        .collect();
    let mut donors = vec![0u32; design.row_cell.len()];
    donors
        .par_chunks_mut(BLOCK)
        .zip(design.row_cell.par_chunks(BLOCK))
        .enumerate()
        .try_for_each(|(b, (donors, cells))| {
            monitor.check()?;
            let mut rng = streams.block(b as u64);
            let first = (b * BLOCK) as u32;
            for (row, (donor, &cell)) in (first..).zip(donors.iter_mut().zip(cells)) {
                *donor = row;
                let leave = leave[cell as usize];
                // Records that cannot move draw nothing.
                if leave > 0.0 && rng.random::<f64>() < leave {
                    if let Some(block) = design.block[cell as usize] {
                        let target = members.other(cell, block, &mut rng);
                        *donor = design.first_row[target as usize];
                    }
                }
            }
            monitor.advance(cells.len() as u64);
            Ok(())
        })?;
    Ok(donors)
}
