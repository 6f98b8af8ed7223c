//! Means over a shifted lattice, and their errors.
//!
//! The points are an embedded lattice of rank one, shifted at random eight times and
//! folded by the tent map; the eight means give the standard error. Points are
//! added, doubling the lattice, until it is small enough.

use rand::RngExt;

use super::lanes::{Lanes, LANES};
use crate::random::Streams;

/// Random shifts of the lattice, from which the error is found.
pub const SHIFTS: usize = 8;

/// Lattice points per shift and block.
const POINTS: usize = LANES / SHIFTS;

/// With the weight of fewer points than this a mean over them is not trusted.
const ENOUGH_POINTS: f64 = 32.0;

/// A probability and the standard error of its computation, 0 where exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The probability.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl Estimate {
    /// A probability known exactly.
    pub fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }
}

/// Effort allowed for a rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Points are added until the standard error is below this share of the
    /// probability,
    pub tolerance: f64,
    /// or below this: a probability far below one in the population need not be
    /// known to any digit.
    pub absolute: f64,
    /// At most this many blocks of 256 points, [`MOST_BLOCKS`] in any case.
    pub max_blocks: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            tolerance: 0.01,
            absolute: 0.0,
            max_blocks: 16,
        }
    }
}

/// Blocks of shifted lattice points, folded by the tent map.
#[derive(Debug)]
pub(super) struct Lattice {
    /// Per block and coordinate.
    blocks: Vec<Vec<Lanes>>,
}

impl Lattice {
    pub(super) fn new(coordinates: usize, blocks: usize, streams: &Streams) -> Self {
        let mut rng = streams.block(0);
        let shifts: Vec<[f64; SHIFTS]> = (0..coordinates)
            .map(|_| std::array::from_fn(|_| rng.random()))
            .collect();
        let blocks = (0..blocks.min(MOST_BLOCKS))
            .map(|block| {
                shifts
                    .iter()
                    .enumerate()
                    .map(|(coordinate, shifts)| {
                        std::array::from_fn(|lane| {
                            let point = block * POINTS + lane % POINTS;
                            let x = lattice_point(point, coordinate) + shifts[lane / POINTS];
                            (2.0 * x.fract() - 1.0).abs()
                        })
                    })
                    .collect()
            })
            .collect();
        Self { blocks }
    }

    /// Means over blocks of the products that `of` finds for the points of a
    /// block, until they agree well enough over the shifts. Where most points may
    /// count for nothing, `of` returns the sum of what they could count for at most,
    /// otherwise 0.
    pub(super) fn integrate(
        &self,
        effort: Effort,
        mut of: impl FnMut(&[Lanes], &mut Lanes) -> f64,
    ) -> Estimate {
        let mut sums = [0.0; SHIFTS];
        let (mut squares, mut most) = (0.0, 0.0);
        let mut done = 0;
        let mut wanted = 1;
        let mut mass = [0.0; LANES];
        loop {
            for block in &self.blocks[done..wanted] {
                most += of(block, &mut mass);
                squares += mass.iter().map(|m| m * m).sum::<f64>();
                for (sum, masses) in sums.iter_mut().zip(mass.chunks_exact(POINTS)) {
                    *sum += masses.iter().sum::<f64>();
                }
            }
            done = wanted;
            let points = (done * POINTS) as f64;
            let shifts = SHIFTS as f64;
            let mean = sums.iter().sum::<f64>() / (points * shifts);
            let variance = sums
                .iter()
                .map(|sum| (sum / points - mean).powi(2))
                .sum::<f64>()
                / (shifts - 1.0);
            let total = mean * points * shifts;
            let missed = if total * total < ENOUGH_POINTS * squares || total <= 0.0 {
                most / (points * shifts).powi(2)
            } else {
                0.0
            };
            let estimate = Estimate {
                value: mean.min(1.0),
                error: (variance / shifts).sqrt().hypot(missed),
            };
            if done == self.blocks.len()
                || estimate.error <= effort.tolerance * mean + effort.absolute
            {
                return estimate;
            }
            wanted = (2 * done).min(self.blocks.len());
        }
    }
}

/// Points of the lattice in all.
const LATTICE_BITS: u32 = 13;

/// Most blocks of points there are.
pub const MOST_BLOCKS: usize = (1 << LATTICE_BITS) / POINTS;

/// The generating vector, found component by component: at every step the number
/// among 400 drawn ones whose worst-case error, in the Korobov space of smoothness
/// two with weights 0.9 / j^1.2, is smallest over all lattices of 32 to 8,192 points.
#[rustfmt::skip]
const GENERATOR: [u32; 100] = [
    1, 3539, 6041, 4219, 4541, 1751, 6499, 6547, 7901, 2021, 487, 1565, 2723, 2207,
    5907, 1299, 3439, 2987, 7007, 7031, 773, 1483, 5369, 4885, 5501, 5945, 7241, 6799,
    2891, 6753, 5451, 1883, 1053, 6001, 4867, 2571, 7785, 5437, 2059, 4917, 5073, 1133,
    4047, 3063, 2381, 2001, 4521, 5261, 6835, 4183, 2511, 8051, 2591, 1865, 7463, 6775,
    5357, 5831, 5033, 4423, 827, 843, 6385, 4279, 3037, 5531, 1057, 427, 747, 3331,
    3255, 1431, 2851, 3575, 7647, 2475, 3079, 1145, 7177, 3953, 85, 3821, 4995, 4693,
    1711, 2477, 6227, 5013, 1623, 1243, 181, 3593, 7971, 1223, 313, 881, 1981, 995,
    5167, 5737,
];

/// The component of the generating vector for a coordinate: any odd number beyond
/// those that were chosen.
fn generator(coordinate: usize) -> u32 {
    GENERATOR.get(coordinate).copied().unwrap_or_else(|| {
        ((coordinate as u32).wrapping_mul(2_654_435_761) % (1 << LATTICE_BITS)) | 1
    })
}

/// A point of the lattice before its shift. Points come in an order in which the
/// first 32, 64, 128, ... are lattices themselves.
fn lattice_point(point: usize, coordinate: usize) -> f64 {
    let index = (point as u32).reverse_bits() >> (32 - LATTICE_BITS);
    let product = u64::from(index) * u64::from(generator(coordinate));
    (product % (1 << LATTICE_BITS)) as f64 / f64::from(1u32 << LATTICE_BITS)
}

/// sum_k c_k y_k per point.
pub(super) fn shift<'a>(row: impl IntoIterator<Item = &'a f64>, y: &[Lanes]) -> Lanes {
    let mut shift = [0.0; LANES];
    for (&c, y) in row.into_iter().zip(y) {
        for (shift, y) in shift.iter_mut().zip(y) {
            *shift += c * y;
        }
    }
    shift
}
