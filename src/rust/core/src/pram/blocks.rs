//! Blocks of cells that exchange records.
//!
//! With scope "all" a level of the variables that PRAM works within is one
//! block. With scope "risky" only cells whose own match probability exceeds the
//! bound need company: each is put into a small block with near cells, and all
//! others stay untouched. A block is large enough once some theta keeps its
//! worst case below the bound; from a bound of 1/2 on, two cells are.

use super::calibrate::{paper_covers, reach, SLACK};
use super::match_prob::Tally;
use super::pairing::{pair_nearest, Points};
use super::{Calibration, Prefer};
use crate::error::Result;
use crate::parallel::Monitor;
use crate::probability::Probability;

/// The cells of a file as the search for blocks sees them.
pub(super) struct Search<'a> {
    pub points: &'a Points<'a>,
    pub counts: &'a [u64],
    pub bound: Probability,
    pub calibration: Calibration,
    pub prefer: Prefer,
    /// Mean weight of the records of every cell, for [`Prefer::SimilarWeights`].
    pub weights: Option<&'a [f64]>,
    pub monitor: &'a Monitor,
}

impl Search<'_> {
    pub fn tally(&self, cells: &[u32]) -> Tally {
        Tally::new(cells.iter().map(|&cell| self.counts[cell as usize]))
    }

    /// True if some theta protects these cells as one block; with the
    /// published theta, whether the theorem covers them.
    pub fn suffices(&self, cells: &[u32]) -> bool {
        if self.calibration == Calibration::Paper {
            let n_cells = cells.len() as u64;
            return n_cells >= 2 && paper_covers(self.bound, n_cells);
        }
        if cells.len() >= 2 && self.bound.get() >= 0.5 {
            return true;
        }
        reach(&self.tally(cells)) <= self.bound.get() + SLACK
    }

    /// True if a cell exceeds the bound as it is.
    pub fn is_risky(&self, cell: u32) -> bool {
        1.0 / self.counts[cell as usize] as f64 > self.bound.get() + SLACK
    }

    fn compatible(&self, x: &[u32], y: &[u32]) -> bool {
        self.points.forbidden.is_empty() || x.iter().all(|&i| self.points.compatible_with_all(i, y))
    }

    /// True if two groups may be one block that is protected.
    fn can_join(&self, x: &[u32], y: &[u32]) -> bool {
        self.compatible(x, y) && self.suffices(&[x, y].concat())
    }

    /// Small blocks around the risky cells among `cells`, and the risky cells
    /// for which none is large enough. `marks` as in [`pair_nearest`].
    pub fn small_blocks(&self, cells: &[u32], marks: &mut [bool]) -> Result<Formed> {
        let mut formed = Formed::default();
        let mut risky: Vec<u32> = cells
            .iter()
            .copied()
            .filter(|&c| self.is_risky(c))
            .collect();
        if risky.is_empty() {
            return Ok(formed);
        }
        let loose = match self.prefer {
            Prefer::Nearest => {
                let needs = |cell: u32| self.is_risky(cell);
                let (pairs, rest) = pair_nearest(self.points, cells, &needs, marks, self.monitor)?;
                let mut loose = self.alone(rest.into_iter().filter(|&cell| self.is_risky(cell)))?;
                self.sort_out(pairs.iter().map(|p| p.to_vec()), &mut formed, &mut loose)?;
                loose
            }
            Prefer::FewestChanges => {
                // Cells of one count need the same theta.
                risky.sort_by_key(|&cell| (self.counts[cell as usize], cell));
                let mut loose = Vec::new();
                for alike in
                    risky.chunk_by(|&i, &j| self.counts[i as usize] == self.counts[j as usize])
                {
                    loose.extend(self.pair_alike(alike, &mut formed, marks)?);
                }
                loose
            }
            Prefer::SimilarWeights => self.chain_by_weight(risky, &mut formed)?,
        };
        self.take_in(cells, loose, &mut formed)?;
        Ok(formed)
    }

    /// A group of every cell. Many small vectors are many looks: where memory runs out,
    /// each of them may take a page.
    fn alone(&self, cells: impl Iterator<Item = u32>) -> Result<Vec<Vec<u32>>> {
        cells
            .map(|cell| self.monitor.check().map(|()| vec![cell]))
            .collect()
    }

    /// Keeps the groups that suffice as blocks, the others stay loose.
    fn sort_out(
        &self,
        groups: impl Iterator<Item = Vec<u32>>,
        formed: &mut Formed,
        loose: &mut Vec<Vec<u32>>,
    ) -> Result<()> {
        for group in groups {
            self.monitor.check()?;
            if self.suffices(&group) {
                formed.blocks.push(group);
            } else {
                loose.push(group);
            }
        }
        Ok(())
    }

    /// Pairs cells of one count, then pairs of pairs where the bound asks for
    /// more; what stays alone joins the nearest block made here.
    fn pair_alike(
        &self,
        alike: &[u32],
        formed: &mut Formed,
        marks: &mut [bool],
    ) -> Result<Vec<Vec<u32>>> {
        let first_block = formed.blocks.len();
        let mut short = self.alone(alike.iter().copied())?;
        // A group is found again by its first cell.
        loop {
            short.sort_unstable_by_key(|group| group[0]);
            let heads: Vec<u32> = short.iter().map(|group| group[0]).collect();
            let (pairs, _) = pair_nearest(self.points, &heads, &|_| true, marks, self.monitor)?;
            let mut joined = Vec::new();
            for [i, j] in pairs {
                self.monitor.check()?;
                let (Ok(i), Ok(j)) = (heads.binary_search(&i), heads.binary_search(&j)) else {
                    continue;
                };
                if self.compatible(&short[i], &short[j]) {
                    let mut group = std::mem::take(&mut short[i]);
                    group.append(&mut short[j]);
                    joined.push(group);
                }
            }
            let moved = !joined.is_empty();
            short.retain(|group| !group.is_empty());
            self.sort_out(joined.into_iter(), formed, &mut short)?;
            if !moved || short.len() < 2 {
                break;
            }
        }
        // The odd one out joins a block of its kind: three cells still move
        // fewer records than it would with a cell of another count.
        let mut loose = Vec::new();
        for group in short {
            self.monitor.check()?;
            let blocks = &mut formed.blocks[first_block..];
            let nearest = (0..blocks.len())
                .filter(|&b| self.can_join(&group, &blocks[b]))
                .min_by_key(|&b| {
                    let near = blocks[b]
                        .iter()
                        .map(|&cell| self.points.distance(group[0], cell))
                        .min();
                    (near, blocks[b].len(), b)
                });
            match nearest {
                Some(b) => blocks[b].extend(group),
                None => loose.push(group),
            }
        }
        Ok(loose)
    }

    /// Cells of one count after each other by mean weight, cut into blocks as
    /// soon as they suffice.
    fn chain_by_weight(&self, mut risky: Vec<u32>, formed: &mut Formed) -> Result<Vec<Vec<u32>>> {
        let weight = |cell: u32| self.weights.map_or(1.0, |w| w[cell as usize]);
        risky.sort_by(|&i, &j| {
            self.counts[i as usize]
                .cmp(&self.counts[j as usize])
                .then(weight(i).total_cmp(&weight(j)))
                .then(i.cmp(&j))
        });
        let mut loose: Vec<Vec<u32>> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        for cell in risky {
            self.monitor.check()?;
            if !self.points.compatible_with_all(cell, &open) {
                loose.push(vec![cell]);
                continue;
            }
            open.push(cell);
            if self.suffices(&open) {
                formed.blocks.push(std::mem::take(&mut open));
            }
        }
        match formed.blocks.last_mut() {
            _ if open.is_empty() => {}
            Some(last) if self.can_join(&open, last) => last.extend(open),
            _ => loose.push(open),
        }
        Ok(loose)
    }

    /// Gives every loose group the nearest cells of the level, with the blocks
    /// these are in, until it suffices.
    fn take_in(&self, cells: &[u32], loose: Vec<Vec<u32>>, formed: &mut Formed) -> Result<()> {
        if loose.is_empty() {
            return Ok(());
        }
        // Blocks that were taken over stay behind as empty ones until the end.
        let mut block_of: hashbrown::HashMap<u32, usize> = hashbrown::HashMap::new();
        for group in loose {
            formed.blocks.push(group);
        }
        for (b, block) in formed.blocks.iter().enumerate() {
            block_of.extend(block.iter().map(|&cell| (cell, b)));
        }
        for b in 0..formed.blocks.len() {
            self.monitor.check()?;
            while !formed.blocks[b].is_empty() && !self.suffices(&formed.blocks[b]) {
                self.monitor.check()?;
                let group = &formed.blocks[b];
                let fits = |cell: u32| match block_of.get(&cell) {
                    // Emptied: its cells were given up.
                    Some(&other) if formed.blocks[other].is_empty() => false,
                    Some(&other) => self.compatible(&formed.blocks[other], group),
                    None => self.compatible(&[cell], group),
                };
                let nearest = cells
                    .iter()
                    .copied()
                    .filter(|&cell| block_of.get(&cell) != Some(&b))
                    .filter(|&cell| fits(cell))
                    .min_by_key(|&cell| {
                        let near = group
                            .iter()
                            .map(|&own| self.points.distance(own, cell))
                            .min();
                        (near, cell)
                    });
                let Some(cell) = nearest else {
                    let group = std::mem::take(&mut formed.blocks[b]);
                    formed.unreached.push(group);
                    break;
                };
                let taken = match block_of.get(&cell) {
                    Some(&other) => std::mem::take(&mut formed.blocks[other]),
                    None => vec![cell],
                };
                for &cell in &taken {
                    block_of.insert(cell, b);
                }
                formed.blocks[b].extend(taken);
            }
        }
        formed.blocks.retain(|block| !block.is_empty());
        Ok(())
    }
}

/// Blocks found, and groups that cannot be made to suffice.
#[derive(Debug, Default)]
pub(super) struct Formed {
    pub blocks: Vec<Vec<u32>>,
    pub unreached: Vec<Vec<u32>>,
}
