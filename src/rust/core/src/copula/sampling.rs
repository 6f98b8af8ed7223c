//! Records drawn from a model, and how many of them are alike.
//!
//! Block b of the draws takes its normal variables from stream b, so that the
//! records do not depend on the number of threads. A record becomes one number:
//! by mixed radix in 64 or 128 bits where the categories' product fits, else
//! the sum of 128 random bits per category, by which two different records
//! agree with probability 2^-128.

use std::collections::BTreeMap;

use ndarray::Array2;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use statrs::function::gamma::ln_gamma;

use super::cholesky::cholesky;
use super::fit::Model;
use super::information::cuts;
use super::orders::{in_order, inverse};
use crate::error::{Error, Result};
use crate::hash::spread;
use crate::memory::{filled, reserved};
use crate::parallel::{self, Monitor};
use crate::random::{Seed, Streams};

/// Draws per block: fixed, so that results cannot depend on threads.
const BLOCK: usize = 1 << 12;
/// Keys held at a time; beyond, a share of the cells is kept.
const MOST_KEYS: u64 = 40_000_000;
/// Draws taken at most.
pub const MOST_DRAWS: u64 = 2_000_000_000;

/// A record as one number.
trait Key: Copy + Ord + Send + Sync + Default {
    fn plus(self, other: Self) -> Self;
    fn hash(self) -> u64;
}

impl Key for u64 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn hash(self) -> u64 {
        spread(self)
    }
}

impl Key for u128 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn hash(self) -> u64 {
        spread(self as u64 ^ spread((self >> 64) as u64))
    }
}

/// One key of the model, ready to be drawn.
#[derive(Debug, Clone)]
struct Margin {
    /// Thresholds between the places of the latent order.
    cuts: Vec<f64>,
    /// Category at every place.
    categories: Vec<u32>,
    /// Per slot of a grid over the normal axis, the first threshold to look at.
    guide: Vec<u32>,
    slots_per_unit: f64,
}

/// Half the width of the guide's grid.
const REACH: f64 = 6.0;

impl Margin {
    fn new(shares: &[f64], places: &[u32]) -> Self {
        let cuts: Vec<f64> = cuts(&in_order(shares, places))
            .into_iter()
            .map(|(cut, _)| cut)
            .collect();
        let slots = (8 * shares.len()).clamp(256, 1 << 16);
        let slots_per_unit = slots as f64 / (2.0 * REACH);
        let guide = (0..slots)
            .map(|slot| {
                let left = if slot == 0 {
                    f64::NEG_INFINITY
                } else {
                    slot as f64 / slots_per_unit - REACH
                };
                // The slot of a number near its edge may be rounded up.
                cuts.partition_point(|&cut| cut < left - 1e-9) as u32
            })
            .collect();
        Self {
            cuts,
            categories: inverse(places),
            guide,
            slots_per_unit,
        }
    }

    /// The place whose interval holds `z`.
    fn place(&self, z: f64) -> usize {
        let slot = ((z + REACH) * self.slots_per_unit) as usize;
        let mut place = self.guide[slot.min(self.guide.len() - 1)] as usize;
        while place < self.cuts.len() && z > self.cuts[place] {
            place += 1;
        }
        place
    }
}

/// Draws records of a model.
#[derive(Debug, Clone)]
pub struct Sampler {
    margins: Vec<Margin>,
    /// Lower triangular root of the correlation matrix.
    root: Array2<f64>,
}

impl Sampler {
    /// A sampler of `model`, whose correlation matrix is positive definite.
    pub fn new(model: &Model) -> Result<Self> {
        Ok(Self {
            margins: model
                .shares
                .iter()
                .zip(&model.orders)
                .map(|(shares, places)| Margin::new(shares, places))
                .collect(),
            root: cholesky(model.correlation.view())?,
        })
    }

    /// Correlated normal variables of `n` records of one block, key by key.
    fn latent(&self, streams: &Streams, block: u64, n: usize, latent: &mut Vec<f64>) {
        let d = self.margins.len();
        let mut rng = streams.block(block);
        latent.clear();
        latent.extend((0..n * d).map(|_| rng.sample::<f64, _>(StandardNormal)));
        for j in (0..d).rev() {
            let (before, here) = latent.split_at_mut(j * n);
            let here = &mut here[..n];
            let diagonal = self.root[[j, j]];
            here.iter_mut().for_each(|z| *z *= diagonal);
            for (i, column) in before.chunks(n).enumerate() {
                let share = self.root[[j, i]];
                if share.abs() > 0.0 {
                    for (z, e) in here.iter_mut().zip(column) {
                        *z += share * e;
                    }
                }
            }
        }
    }

    /// The categories of `n` records, per key.
    pub fn records(&self, n: usize, seed: Seed, monitor: &Monitor) -> Result<Vec<Vec<u32>>> {
        let streams = Streams::new(seed);
        let mut columns: Vec<Vec<u32>> = (0..self.margins.len())
            .map(|_| filled(0, n))
            .collect::<Result<_>>()?;
        // Per block its part of every column.
        let mut parts: Vec<Vec<&mut [u32]>> = blocks(n as u64).iter().map(|_| Vec::new()).collect();
        for column in &mut columns {
            for (part, slice) in parts.iter_mut().zip(column.chunks_mut(BLOCK)) {
                part.push(slice);
            }
        }
        let parts = parts.into_iter().zip(blocks(n as u64));
        parallel::try_map_with(parts, monitor, Vec::new, |latent, (part, (block, size))| {
            self.latent(&streams, block, size, latent);
            for ((z, margin), codes) in latent.chunks(size).zip(&self.margins).zip(part) {
                for (code, &z) in codes.iter_mut().zip(z) {
                    *code = margin.categories[margin.place(z)];
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// Number of equal draws among `n`.
    pub fn spectrum(&self, n: u64, seed: Seed, monitor: &Monitor) -> Result<Spectrum> {
        if n > MOST_DRAWS {
            return Err(Error::too_large(
                &format!("At most {MOST_DRAWS} people can be drawn."),
                &format!("{n} were asked for."),
                "Give a smaller `pop_size`.",
            ));
        }
        let product = self.margins.iter().try_fold(1u128, |product, margin| {
            product.checked_mul(margin.categories.len() as u128)
        });
        match product {
            Some(product) if product <= u128::from(u64::MAX) => {
                let mut stride = 1u64;
                let digits = self.digits(|n_categories| {
                    let here = stride;
                    stride = stride.wrapping_mul(n_categories as u64);
                    move |category| here.wrapping_mul(u64::from(category))
                });
                self.count(&digits, n, seed, monitor)
            }
            Some(_) => {
                let mut stride = 1u128;
                let digits = self.digits(|n_categories| {
                    let here = stride;
                    stride = stride.wrapping_mul(n_categories as u128);
                    move |category| here.wrapping_mul(u128::from(category))
                });
                self.count(&digits, n, seed, monitor)
            }
            None => {
                let mut rng = Streams::new(seed).block(u64::MAX);
                let digits = self.digits(|n_categories| {
                    let bits: Vec<u128> = (0..n_categories)
                        .map(|_| u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))
                        .collect();
                    move |category| bits[category as usize]
                });
                self.count(&digits, n, seed, monitor)
            }
        }
    }

    /// Summand of every category in a record's number, by place.
    fn digits<K: Key, F: Fn(u32) -> K>(&self, mut of_key: impl FnMut(usize) -> F) -> Vec<Vec<K>> {
        self.margins
            .iter()
            .map(|margin| {
                let of = of_key(margin.categories.len());
                margin.categories.iter().map(|&c| of(c)).collect()
            })
            .collect()
    }

    fn count<K: Key>(
        &self,
        digits: &[Vec<K>],
        n: u64,
        seed: Seed,
        monitor: &Monitor,
    ) -> Result<Spectrum> {
        let streams = Streams::new(seed);
        // Whole cells are kept or left, by their hash.
        let bound = if n <= MOST_KEYS {
            u64::MAX
        } else {
            (MOST_KEYS as f64 / n as f64 * u64::MAX as f64) as u64
        };
        let blocks = blocks(n);
        let mut keys: Vec<K> = if bound == u64::MAX {
            let mut keys = filled(K::default(), n as usize)?;
            let parts = keys.chunks_mut(BLOCK).zip(blocks);
            parallel::try_map_with(parts, monitor, Vec::new, |latent, (keys, (block, _))| {
                self.fill(keys, digits, &streams, block, latent);
                monitor.advance(1);
                Ok(())
            })?;
            keys
        } else {
            let parts =
                parallel::try_map_with(blocks, monitor, Vec::new, |latent, (block, size)| {
                    let mut keys = vec![K::default(); size];
                    self.fill(&mut keys, digits, &streams, block, latent);
                    monitor.advance(1);
                    keys.retain(|key| key.hash() <= bound);
                    keys.shrink_to_fit();
                    Ok(keys)
                })?;
            let mut keys = reserved(parts.iter().map(Vec::len).sum())?;
            for part in parts {
                keys.extend(part);
            }
            keys
        };
        monitor.check()?;
        Ok(Spectrum::of_keys(&mut keys, n))
    }

    fn fill<K: Key>(
        &self,
        keys: &mut [K],
        digits: &[Vec<K>],
        streams: &Streams,
        block: u64,
        latent: &mut Vec<f64>,
    ) {
        let n = keys.len();
        self.latent(streams, block, n, latent);
        for ((z, margin), digits) in latent.chunks(n).zip(&self.margins).zip(digits) {
            for (key, &z) in keys.iter_mut().zip(z) {
                *key = key.plus(digits[margin.place(z)]);
            }
        }
    }
}

/// Steps that drawing `n` records reports to a monitor.
pub fn n_steps(n: u64) -> u64 {
    n.div_ceil(BLOCK as u64)
}

/// Block numbers and sizes of `n` draws.
fn blocks(n: u64) -> Vec<(u64, usize)> {
    let size = BLOCK as u64;
    (0..n.div_ceil(size))
        .map(|block| (block, size.min(n - block * size) as usize))
        .collect()
}

/// Number of cells by number of draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Draws taken, those in cells that were not kept included.
    pub n_draws: f64,
    /// Draws in the cells kept.
    pub n_kept: f64,
    /// Draws per cell and the number of such cells, ascending.
    pub cells: Vec<(f64, f64)>,
    /// Per number f of draws of a cell, `ln (M - f)!` of M draws: every share asked of
    /// a spectrum needs it.
    pub(super) ln_rest: Vec<f64>,
}

impl Spectrum {
    /// Cells of `n_draws` draws, of which `n_kept` are in the cells given.
    pub fn new(n_draws: f64, n_kept: f64, cells: Vec<(f64, f64)>) -> Self {
        let rest = cells.iter().map(|&(f, _)| ln_gamma(n_draws - f + 1.0));
        Self {
            n_draws,
            n_kept,
            ln_rest: rest.collect(),
            cells,
        }
    }

    fn of_keys<K: Key>(keys: &mut [K], n_draws: u64) -> Self {
        keys.par_sort_unstable();
        let mut cells: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut single, mut double) = (0, 0);
        for run in keys.chunk_by(|a, b| a == b) {
            match run.len() {
                1 => single += 1,
                2 => double += 1,
                size => *cells.entry(size as u64).or_insert(0) += 1,
            }
        }
        cells.insert(1, single);
        cells.insert(2, double);
        let cells = cells
            .into_iter()
            .filter(|&(_, times)| times > 0)
            .map(|(size, times)| (size as f64, times as f64))
            .collect();
        Self::new(n_draws as f64, keys.len() as f64, cells)
    }
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;
