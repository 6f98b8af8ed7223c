//! The normal probability of a rectangle in any number of dimensions.
//!
//! # Method
//!
//! Separation of variables (Genz 1992): with the Cholesky factor C of the
//! correlation matrix and y_1, ..., y_(i-1) already drawn inside their intervals,
//! variable i has the interval ((l_i - s) / C_ii, (u_i - s) / C_ii],
//! s = sum_k C_ik y_k; the product of the masses of these intervals has the
//! rectangle's probability as its mean. Variables are taken in the order of
//! Gibson, Glasbey and Elston (1994): always the one with the least expected
//! mass next. The points are an embedded lattice of rank one, shifted at random eight
//! times and folded by the tent map; the eight means give the standard error. Points
//! are added, doubling the lattice, until it is small enough.
//!
//! Variables without limits are left out. What remains with one to three variables
//! is exact. The points depend on the seed alone: a rectangle has the same
//! probability whatever else is computed.
//!
//! Near a singular matrix a variable j is all but determined by those before it, and
//! most draws of these leave it outside its interval: the whole lattice may miss
//! the rectangle. So a variable is drawn only where every such j can still be
//! reached, within [`REACH`] conditional standard deviations; nothing is lost by it.
//! Where few points count all the same, the error holds what one more of them could
//! have added at most.

use super::lanes::{self, Lanes, EDGE, LANES};
use super::trivariate::trivariate_rectangle;
use crate::error::{Error, Result};
use crate::normal::{bivariate_rectangle, cdf, density};
use crate::random::Streams;

use rand::RngExt;

/// Random shifts of the lattice, from which the error is found.
pub const SHIFTS: usize = 8;

/// Lattice points per shift and block.
const POINTS: usize = LANES / SHIFTS;

/// A conditional standard deviation below this is taken as this.
const LEAST_PIVOT: f64 = 1e-5;

/// A variable with a smaller conditional standard deviation is all but determined.
const NEAR: f64 = 0.1;

/// It lies within this many of them.
const REACH: f64 = 8.5;

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

/// How much work a rectangle is worth.
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

/// Probabilities of rectangles under one correlation matrix.
#[derive(Debug)]
pub struct Rectangles<'a> {
    correlation: &'a [f64],
    d: usize,
    lattice: Lattice,
    effort: Effort,
}

/// Memory that one rectangle after the other uses.
#[derive(Debug, Default)]
pub struct Scratch {
    order: Vec<usize>,
    limits: Vec<(f64, f64)>,
    factor: Vec<f64>,
    expected: Vec<f64>,
    reach: Vec<Reach>,
    y: Vec<Lanes>,
}

/// A variable that is all but determined once `drawn` is: where `drawn` may lie so
/// that it can be in its interval.
#[derive(Debug, Clone, Copy)]
struct Reach {
    drawn: usize,
    determined: usize,
    width: f64,
}

impl<'a> Rectangles<'a> {
    /// Rectangles under the `d` times `d` matrix `correlation`, row by row.
    pub fn new(
        correlation: &'a [f64],
        d: usize,
        effort: Effort,
        streams: &Streams,
    ) -> Result<Self> {
        if d == 0 || correlation.len() != d * d || effort.max_blocks == 0 {
            return Err(Error::BadArgument(
                "A correlation matrix needs a row and a column for every key variable.".into(),
            ));
        }
        Ok(Self {
            correlation,
            d,
            lattice: Lattice::new(d.saturating_sub(1), effort.max_blocks, streams),
            effort,
        })
    }

    /// P(l_j < Z_j <= u_j for all j); limits may be infinite.
    pub fn probability(&self, limits: &[(f64, f64)], scratch: &mut Scratch) -> Estimate {
        scratch.order.clear();
        scratch.limits.clear();
        for (j, &(low, high)) in limits.iter().enumerate() {
            if low >= high {
                return Estimate::exact(0.0);
            }
            if low > -EDGE || high < EDGE {
                scratch.order.push(j);
                // Infinities would have to be told apart in every step.
                scratch
                    .limits
                    .push((low.max(-2.0 * EDGE), high.min(2.0 * EDGE)));
            }
        }
        match *scratch.limits.as_slice() {
            [] => Estimate::exact(1.0),
            [one] => Estimate::exact(mass(one)),
            [first, second] => {
                let r = self.correlation[scratch.order[0] * self.d + scratch.order[1]];
                Estimate::exact(bivariate_rectangle(first, second, r))
            }
            [first, second, third] => {
                let r = |i: usize, j: usize| {
                    self.correlation[scratch.order[i] * self.d + scratch.order[j]]
                };
                let correlation = [r(0, 1), r(0, 2), r(1, 2)];
                Estimate::exact(trivariate_rectangle([first, second, third], correlation))
            }
            _ => {
                self.factorise(scratch);
                find_reach(scratch);
                self.separate(scratch)
            }
        }
    }

    /// Orders the variables and finds the Cholesky factor in that order.
    fn factorise(&self, scratch: &mut Scratch) {
        let n = scratch.order.len();
        let Scratch {
            order,
            limits,
            factor,
            expected,
            ..
        } = scratch;
        factor.clear();
        factor.resize(n * n, 0.0);
        expected.clear();
        for i in 0..n {
            let mut best = (f64::INFINITY, i, 1.0, 0.0);
            for j in i..n {
                let row = &factor[j * n..j * n + i];
                let mean: f64 = row.iter().zip(expected.iter()).map(|(c, y)| c * y).sum();
                let explained: f64 = row.iter().map(|c| c * c).sum();
                let pivot = (1.0 - explained).max(0.0).sqrt().max(LEAST_PIVOT);
                let (low, high) = limits[j];
                let inside = mass(((low - mean) / pivot, (high - mean) / pivot));
                if inside < best.0 {
                    best = (inside, j, pivot, mean);
                }
            }
            let (inside, j, pivot, mean) = best;
            order.swap(i, j);
            limits.swap(i, j);
            for k in 0..i {
                factor.swap(i * n + k, j * n + k);
            }
            factor[i * n + i] = pivot;
            for l in i + 1..n {
                let explained: f64 = (0..i).map(|k| factor[l * n + k] * factor[i * n + k]).sum();
                factor[l * n + i] =
                    (self.correlation[order[l] * self.d + order[i]] - explained) / pivot;
            }
            let (low, high) = limits[i];
            expected.push(mean_inside(
                ((low - mean) / pivot, (high - mean) / pivot),
                inside,
            ));
        }
    }

    fn separate(&self, scratch: &mut Scratch) -> Estimate {
        let n = scratch.order.len();
        let Scratch {
            limits,
            factor,
            reach,
            y,
            ..
        } = scratch;
        if y.len() < n {
            y.resize(n, [0.0; LANES]);
        }
        let concerned = |i: usize| reach.iter().any(|bound| bound.concerns(i));
        // What a point counts for at most: but for variables that are determined or
        // determine one.
        let mut most = [1.0; LANES];
        self.lattice.integrate(self.effort, |points, mass| {
            *mass = [1.0; LANES];
            most = [1.0; LANES];
            for i in 0..n {
                let (drawn, rest) = y.split_at_mut(i);
                let row = &factor[i * n..i * n + i];
                let scale = 1.0 / factor[i * n + i];
                let counted = if concerned(i) { &mut *mass } else { &mut most };
                if reach.iter().any(|bound| bound.drawn == i) {
                    let (mut low, mut high) = within(limits[i], scale, &shift(row, drawn));
                    for bound in reach.iter().filter(|bound| bound.drawn == i) {
                        let j = bound.determined;
                        let shift = shift(&factor[j * n..j * n + i], drawn);
                        bound.narrow(limits[j], factor[j * n + i], &shift, &mut low, &mut high);
                    }
                    let (ends, own) = ((&low, &high), [0.0; LANES]);
                    lanes::moving_interval(ends, 1.0, &own, &points[i], counted, &mut rest[0]);
                } else if i == 0 {
                    let first = lanes::first_interval(limits[0], &points[0], &mut rest[0]);
                    *counted = [first; LANES];
                } else if i + 1 < n {
                    let shift = shift(row, drawn);
                    lanes::interval(limits[i], scale, &shift, &points[i], counted, &mut rest[0]);
                } else {
                    lanes::last_interval(limits[i], scale, &shift(row, drawn), counted);
                }
            }
            for (mass, most) in mass.iter_mut().zip(&most) {
                *mass *= most;
            }
            if reach.is_empty() {
                0.0
            } else {
                most.iter().sum()
            }
        })
    }
}

impl Reach {
    fn concerns(&self, i: usize) -> bool {
        self.drawn == i || self.determined == i
    }

    /// Narrows the ends between which a variable is drawn to what lets the
    /// determined one, `slope` times it plus `shift`, reach its interval.
    fn narrow(
        &self,
        limits: (f64, f64),
        slope: f64,
        shift: &Lanes,
        low: &mut Lanes,
        high: &mut Lanes,
    ) {
        let inverse = 1.0 / slope;
        for k in 0..LANES {
            let from = (limits.0 - self.width - shift[k]) * inverse;
            let to = (limits.1 + self.width - shift[k]) * inverse;
            low[k] = low[k].max(from.min(to));
            high[k] = high[k].min(from.max(to));
        }
    }
}

/// The ends of an interval for the variable's own draw, per point.
fn within((low, high): (f64, f64), scale: f64, shift: &Lanes) -> (Lanes, Lanes) {
    (
        shift.map(|by| (low - by) * scale),
        shift.map(|by| (high - by) * scale),
    )
}

/// Finds which variables are all but determined by which.
fn find_reach(scratch: &mut Scratch) {
    let n = scratch.order.len();
    let factor = &scratch.factor;
    scratch.reach.clear();
    for determined in 1..n {
        let row = &factor[determined * n..=determined * n + determined];
        let mut left = 0.0;
        for drawn in (0..determined).rev() {
            left += row[drawn + 1] * row[drawn + 1];
            let sd = left.sqrt();
            if sd >= NEAR {
                break;
            }
            if row[drawn].abs() > sd {
                scratch.reach.push(Reach {
                    drawn,
                    determined,
                    width: REACH * sd,
                });
            }
        }
    }
}

/// sum_k c_k y_k per point.
pub(super) fn shift(row: &[f64], y: &[Lanes]) -> Lanes {
    let mut shift = [0.0; LANES];
    for (&c, y) in row.iter().zip(y) {
        for (shift, y) in shift.iter_mut().zip(y) {
            *shift += c * y;
        }
    }
    shift
}

/// P(low < Z <= high) with full relative accuracy in both tails.
pub fn mass((low, high): (f64, f64)) -> f64 {
    let (low, high) = if low > 0.0 {
        (-high, -low)
    } else {
        (low, high)
    };
    (cdf(high) - cdf(low)).max(0.0)
}

/// The mean of Z between limits that hold the probability `inside`.
fn mean_inside((low, high): (f64, f64), inside: f64) -> f64 {
    if inside > f64::MIN_POSITIVE {
        ((density(low) - density(high)) / inside).clamp(low, high)
    } else if low.abs() < high.abs() {
        low
    } else {
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;
    use proptest::prelude::*;

    fn streams() -> Streams {
        Streams::new(Seed::from_draws([3, 1, 4, 1, 5, 9, 2, 6]))
    }

    const FINE: Effort = Effort {
        tolerance: 1e-4,
        absolute: 0.0,
        max_blocks: 64,
    };

    fn probability(correlation: &[f64], limits: &[(f64, f64)]) -> Estimate {
        Rectangles::new(correlation, limits.len(), FINE, &streams())
            .unwrap()
            .probability(limits, &mut Scratch::default())
    }

    /// A correlation matrix from loadings on common factors.
    fn matrix(loadings: &[(f64, f64)]) -> Vec<f64> {
        let n = loadings.len();
        let norm: Vec<f64> = loadings
            .iter()
            .map(|(a, b)| (a * a + b * b + 0.3).sqrt())
            .collect();
        let mut out = vec![1.0; n * n];
        for i in 0..n {
            for j in 0..n {
                if i != j {
                    let cross = loadings[i].0 * loadings[j].0 + loadings[i].1 * loadings[j].1;
                    out[i * n + j] = cross / (norm[i] * norm[j]);
                }
            }
        }
        out
    }

    const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn independent_variables_multiply() {
        let limits = [(-1.0, 0.3), (0.5, f64::INFINITY), (-0.2, 0.1), (1.5, 1.7)];
        let mut correlation = vec![0.0; 16];
        (0..4).for_each(|j| correlation[j * 5] = 1.0);
        let exact: f64 = limits.iter().map(|&l| mass(l)).product();
        let found = probability(&correlation, &limits);
        assert!(
            (found.value / exact - 1.0).abs() < 1e-7,
            "{found:?} {exact}"
        );
    }

    #[test]
    fn equicorrelated_orthants_are_known() {
        // P(all Z > 0) = 1 / (d + 1) where all correlations are 1/2.
        for d in 3..=10 {
            let mut correlation = vec![0.5; d * d];
            (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
            let found = probability(&correlation, &vec![(0.0, f64::INFINITY); d]);
            let exact = 1.0 / (d as f64 + 1.0);
            assert!(
                (found.value - exact).abs() <= 5.0 * found.error + 1e-9,
                "{d}: {found:?}"
            );
            assert!(found.error < 1e-3 * exact);
        }
    }

    #[test]
    fn variables_without_limits_do_not_count() {
        let correlation = matrix(&[(1.0, 0.2), (-0.5, 0.9), (0.4, -0.3), (0.8, 0.8)]);
        let found = probability(&correlation, &[OPEN, (-1.0, 0.2), OPEN, (0.3, 2.0)]);
        let exact = bivariate_rectangle((-1.0, 0.2), (0.3, 2.0), correlation[7]);
        assert!((found.value - exact).abs() < 1e-15 && found.error <= 0.0);
        assert_eq!(probability(&correlation, &[OPEN; 4]), Estimate::exact(1.0));
        let empty = [(0.3, 0.3), OPEN, OPEN, OPEN];
        assert_eq!(probability(&correlation, &empty), Estimate::exact(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn rectangles_fill_the_space(
            loadings in proptest::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 3),
            cuts in proptest::collection::vec(proptest::collection::vec(-2.5f64..2.5, 1..3), 3)
        ) {
            let correlation = matrix(&loadings);
            let sides: Vec<Vec<f64>> = cuts.into_iter().map(|mut c| {
                c.extend([f64::NEG_INFINITY, f64::INFINITY]);
                c.sort_by(f64::total_cmp);
                c
            }).collect();
            let (mut total, mut variance) = (0.0, 0.0);
            for x in sides[0].windows(2) {
                for y in sides[1].windows(2) {
                    for z in sides[2].windows(2) {
                        let cell = probability(
                            &correlation, &[(x[0], x[1]), (y[0], y[1]), (z[0], z[1])]
                        );
                        total += cell.value;
                        variance += cell.error;
                    }
                }
            }
            prop_assert!((total - 1.0).abs() <= 5.0 * variance + 1e-6);
        }

        #[test]
        fn the_order_of_variables_does_not_matter(
            loadings in proptest::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 5),
            ends in proptest::collection::vec((-3.0f64..3.0, 0.05f64..2.0), 5)
        ) {
            let limits: Vec<_> = ends.iter().map(|&(low, width)| (low, low + width)).collect();
            let found = probability(&matrix(&loadings), &limits);
            let turned: Vec<usize> = vec![3, 0, 4, 2, 1];
            let loadings: Vec<_> = turned.iter().map(|&j| loadings[j]).collect();
            let limits: Vec<_> = turned.iter().map(|&j| limits[j]).collect();
            let again = probability(&matrix(&loadings), &limits);
            prop_assert!(
                (found.value - again.value).abs() <= 6.0 * (found.error + again.error) + 1e-12
            );
            prop_assert!(found.error <= 2e-3 * found.value || found.value < 1e-12);
        }
    }

    #[test]
    fn a_sum_over_the_third_variable_is_the_bivariate_rectangle() {
        let correlation = matrix(&[(1.5, 0.2), (-1.4, 0.3), (0.9, -1.0)]);
        for (first, second) in [((-0.4, 0.1), (0.2, 0.9)), ((2.0, 2.4), (-3.0, -2.5))] {
            let cuts = [f64::NEG_INFINITY, -1.0, 0.4, 1.3, f64::INFINITY];
            let total: f64 = cuts
                .windows(2)
                .map(|z| probability(&correlation, &[first, second, (z[0], z[1])]).value)
                .sum();
            let exact = bivariate_rectangle(first, second, correlation[1]);
            assert!((total / exact - 1.0).abs() < 1e-3, "{total:e} {exact:e}");
        }
    }

    #[test]
    fn a_determined_variable_is_not_missed() {
        // Four variables, the last a sum of the others but for a variance of 1e-6.
        let weights = [0.5f64, -0.6, 0.4, (1.0f64 - 0.77 - 1e-6).sqrt()];
        let d = 5;
        let mut correlation = vec![0.0; d * d];
        (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
        for (j, w) in weights.iter().enumerate() {
            correlation[j * d + 4] = *w;
            correlation[4 * d + j] = *w;
        }
        // The interval of the last is all but out of reach of the others' box.
        let limits = [(1.0, 1.2), (-1.2, -1.0), (1.0, 1.2), (1.0, 1.2)];
        let top: f64 = limits
            .iter()
            .zip(weights)
            .map(|(l, w)| if w > 0.0 { w * l.1 } else { w * l.0 })
            .sum();
        let m = 60;
        for (low, high) in [
            (top - 0.02, 9.0),
            (top - 0.1, top - 0.098),
            (top - 0.2, top - 0.1),
        ] {
            // Midpoints of the first three, the fourth exactly.
            let mut exact = 0.0;
            let steps: Vec<f64> = limits.iter().map(|l| (l.1 - l.0) / f64::from(m)).collect();
            let at = |j: usize, i: i32| limits[j].0 + steps[j] * (f64::from(i) + 0.5);
            for i in 0..m {
                for j in 0..m {
                    for k in 0..m {
                        let z = [at(0, i), at(1, j), at(2, k)];
                        let sum: f64 = z.iter().zip(weights).map(|(z, w)| z * w).sum();
                        let from = ((low - sum) / weights[3]).max(limits[3].0);
                        let to = ((high - sum) / weights[3]).min(limits[3].1);
                        let weight: f64 = (0..3).map(|v| density(z[v]) * steps[v]).product();
                        exact += weight * (cdf(to) - cdf(from)).max(0.0);
                    }
                }
            }
            let mut all = limits.to_vec();
            all.push((low, high));
            let found = probability(&correlation, &all);
            // Of next to nothing the error is what may have been missed.
            assert!(
                found.error < found.value || exact < 1e-9,
                "{found:?} {exact:e}"
            );
            assert!(
                (found.value - exact).abs() < 5.0 * found.error + 0.02 * exact,
                "{found:?} {exact:e}"
            );
        }
    }

    #[test]
    fn what_is_out_of_reach_has_an_error() {
        // Nothing of the rectangle can be reached: 0, and what one point could add.
        let w = (0.5f64 * (1.0 - 1e-8)).sqrt();
        let correlation = [
            1.0, 0.0, 0.0, w, 0.0, 1.0, 0.0, w, 0.0, 0.0, 1.0, 0.0, w, w, 0.0, 1.0,
        ];
        let limits = [(0.0, 0.5), (0.0, 0.5), (0.0, 1.0), (2.0, 2.5)];
        let found = probability(&correlation, &limits);
        assert!(found.value < 1e-12 && found.error > found.value && found.error < 1e-3);
    }

    #[test]
    fn a_tail_far_from_the_centre_keeps_its_error_relative() {
        // Conditional independence given the first factor: an integral of one
        // variable, by the trapezoidal rule.
        let a: f64 = 0.9;
        let (d, low) = (6, 3.0);
        let mut correlation = vec![a * a; d * d];
        (0..d).for_each(|j| correlation[j * (d + 1)] = 1.0);
        let step = 1e-3;
        let exact: f64 = (-9_000..9_000)
            .map(|i| {
                let z = f64::from(i) * step;
                density(z) * cdf((a * z - low) / (1.0 - a * a).sqrt()).powi(d as i32) * step
            })
            .sum();
        for limits in [
            vec![(low, f64::INFINITY); d],
            vec![(f64::NEG_INFINITY, -low); d],
        ] {
            let found = probability(&correlation, &limits);
            assert!(
                (found.value / exact - 1.0).abs() < 1e-3,
                "{found:?} {exact:e}"
            );
        }
    }
}
