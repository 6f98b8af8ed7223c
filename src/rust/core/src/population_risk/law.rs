//! Others like me: a gamma-Poisson law for the people who share a key.
//!
//! Of `N` people, a record whose key has probability `p` shares it with `K` others, who
//! are negative binomial with mean `R` and shape `s`:
//!
//! ```text
//! R = exp(A + (1 + b) y + e y |y|) (1 + v) + theta,   y = ln(N p)
//! s = 1 + 1 / v,   ln v = i + c y
//! ```
//!
//! `v` is the variance of what the model of `p` does not see, `A`, `b` and `e` its level,
//! slope and bend; `theta` are people who are alike for reasons that are not in the keys.
//! Keys are met by their people, so that a gamma of shape `1 / v` has shape `1 + 1 / v` and
//! mean `1 + v` where a record is. A sample holds each of the others with chance `fraction`,
//!
//! ```text
//! f - 1 ~ NB(s, R fraction),
//! ```
//!
//! and counts every class once although a class with `f` records could be met `f` times:
//! its likelihood is `NB(f - 1) / f` over `E[1 / f]`.

use ndarray::{Array1, Array2};
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use super::bins::{Bins, Node};
use crate::copula::cholesky::cholesky;
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};
use crate::random::{Seed, Streams};

/// Number of parameters: A, ln theta, i, b, c, e.
pub(super) const N: usize = 6;
/// Where `ln theta` stands.
pub(super) const THETA: usize = 1;
/// Means and standard deviations of their prior, fitted on populations used for
/// development alone.
const PRIOR: [(f64, f64); N] = [
    (0.0, 0.2),
    (-4.0, 2.2),
    (-1.6, 1.3),
    (-0.01, 0.1),
    (0.0, 0.15),
    (0.0, 0.02),
];
/// Starts of the search for the mode, in standard deviations.
const STARTS: [[f64; N]; 4] = [
    [0.0; N],
    [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 1.5, 0.0, 0.0, 0.0],
    [0.0, 0.0, -1.5, 0.0, 0.0, 0.0],
];
/// Draws from the posterior.
const DRAWS: usize = 250;
/// Degrees of freedom of the proposal.
const DEGREES: f64 = 6.0;
/// Steps of the search for the mode.
const STEPS: usize = 200;

/// One set of parameters, in standard deviations of the prior from its mean.
type Point = [f64; N];

/// The law at one node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    /// Shape.
    pub s: f64,
    /// Mean number of others in the population.
    pub r: f64,
}

/// Parameters as the formulas have them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters([f64; N]);

impl Parameters {
    fn new(point: &Point) -> Self {
        let mut values = [0.0; N];
        for ((value, z), (mean, sd)) in values.iter_mut().zip(point).zip(PRIOR) {
            *value = mean + sd * z;
        }
        Self(values)
    }

    pub fn at_nodes(&self, nodes: &[Node], most: f64) -> Vec<Law> {
        nodes.iter().map(|node| self.at(node.y, most)).collect()
    }

    fn at(&self, y: f64, most: f64) -> Law {
        let [_, theta, i, _, c, _] = self.0;
        let v = (i + c * y).clamp(-9.0, 9.0).exp();
        let line = (y + self.correction(y)).min(40.0);
        Law {
            s: 1.0 + 1.0 / v,
            r: (line.exp() * (1.0 + v) + theta.exp()).min(most),
        }
    }

    /// `A + b y + e y |y|`.
    pub fn correction(&self, y: f64) -> f64 {
        let [a, _, _, b, _, e] = self.0;
        a + b * y + e * y * y.abs()
    }

    /// People who are alike for reasons that are not in the keys.
    pub fn theta(&self) -> f64 {
        self.0[THETA].exp()
    }

    /// Mean over draws, in standard deviations of the prior from its mean.
    pub fn mean(draws: &[(Parameters, f64)]) -> Point {
        let sum = |k: usize| -> f64 { draws.iter().map(|(p, weight)| weight * p.0[k]).sum() };
        std::array::from_fn(|k| (sum(k) - PRIOR[k].0) / PRIOR[k].1)
    }

    /// These with nobody of them.
    pub fn without_theta(&self) -> Self {
        let mut values = self.0;
        values[THETA] = f64::NEG_INFINITY;
        Self(values)
    }
}

impl Law {
    /// `ln E[1 / (1 + K)]` where each of the others is there with chance `fraction`.
    pub fn ln_mean_inverse(&self, fraction: f64) -> f64 {
        let m = self.r * fraction / self.s;
        if m < 1e-12 {
            return 0.0;
        }
        let a = self.s - 1.0;
        (-(-a * m.ln_1p()).exp_m1() / (m * a)).ln()
    }

    /// The chance that each of the others was not thinned away, given the `f - 1` that
    /// are there: the rest is NB(s + f - 1, q).
    pub fn q(&self, fraction: f64) -> f64 {
        (1.0 + self.r * fraction / self.s) / (1.0 + self.r / self.s)
    }
}

/// The log-posterior of the parameters.
pub(super) struct Posterior<'a> {
    bins: &'a Bins,
    /// Most others that a record can have.
    most: f64,
    /// ln(f - 1)! at every frequency.
    ln_factorial: Vec<f64>,
}

impl<'a> Posterior<'a> {
    pub fn new(bins: &'a Bins, most: f64) -> Self {
        let ln_factorial = bins.frequencies.iter().map(|&f| ln_gamma(f)).collect();
        Self {
            bins,
            most,
            ln_factorial,
        }
    }

    fn value(&self, point: &Point) -> f64 {
        let laws = Parameters::new(point).at_nodes(&self.bins.nodes, self.most);
        let prior: f64 = point.iter().map(|z| -0.5 * z * z).sum();
        let cells = &self.bins.cells;
        let likelihood: f64 = (cells.chunk_by(|a, b| a.node == b.node))
            .map(|cells| {
                let node = cells[0].node;
                self.of_node(cells, &laws[node], &self.bins.nodes[node])
            })
            .sum();
        prior + likelihood
    }

    fn of_node(&self, cells: &[super::bins::Cell], law: &Law, node: &Node) -> f64 {
        let m = law.r * node.fraction;
        let ln_share = -(law.s / m).ln_1p();
        let ln_none = -law.s * (m / law.s).ln_1p();
        let ln_kept = law.ln_mean_inverse(node.fraction);
        let mut ln_rising = 0.0;
        let mut reached = 1.0;
        let mut sum = 0.0;
        for cell in cells {
            let f = self.bins.frequencies[cell.at];
            // ln of gamma(s + f - 1) / gamma(s).
            if f <= 24.0 {
                while reached < f {
                    ln_rising += (law.s + reached - 1.0).ln();
                    reached += 1.0;
                }
            } else {
                ln_rising = ln_gamma(law.s + f - 1.0) - ln_gamma(law.s);
            }
            let ln_nb = ln_rising - self.ln_factorial[cell.at] + (f - 1.0) * ln_share + ln_none;
            sum += cell.classes * (ln_nb - ln_kept);
        }
        sum
    }

    fn gradient(&self, point: &Point) -> Point {
        let mut gradient = [0.0; N];
        for (k, slope) in gradient.iter_mut().enumerate() {
            let at = |step: f64| {
                let mut moved = *point;
                moved[k] += step;
                self.value(&moved)
            };
            *slope = (at(1e-4) - at(-1e-4)) / 2e-4;
        }
        gradient
    }

    /// Climbs from `start` by BFGS.
    fn climb(&self, start: Point, monitor: &Monitor) -> Result<(Point, f64)> {
        let mut at = start;
        let mut value = self.value(&at);
        let mut slope = self.gradient(&at);
        let mut inverse = Array2::<f64>::eye(N);
        let size = |x: &Point| x.iter().map(|z| z * z).sum::<f64>().sqrt();
        // The first step is short.
        inverse *= 0.1 / size(&slope).max(0.1);
        for _ in 0..STEPS {
            monitor.check()?;
            let direction = inverse.dot(&Array1::from(slope.to_vec()));
            let mut direction: Point = std::array::from_fn(|k| direction[k]);
            let mut gain: f64 = direction.iter().zip(&slope).map(|(d, g)| d * g).sum();
            if gain.is_nan() || gain <= 0.0 {
                inverse = Array2::eye(N) * (0.1 / size(&slope).max(0.1));
                direction = slope.map(|g| 0.1 * g / size(&slope).max(0.1));
                gain = direction.iter().zip(&slope).map(|(d, g)| d * g).sum();
            }
            if gain < 1e-9 {
                break;
            }
            let mut length = (2.0 / size(&direction)).min(1.0);
            let mut next = at;
            let mut found = f64::NEG_INFINITY;
            for _ in 0..30 {
                next = std::array::from_fn(|k| at[k] + length * direction[k]);
                found = self.value(&next);
                if found > value + 1e-4 * length * gain {
                    break;
                }
                length *= 0.4;
            }
            if found.is_nan() || found <= value {
                break;
            }
            let there = self.gradient(&next);
            let step = Array1::from_iter((0..N).map(|k| next[k] - at[k]));
            let change = Array1::from_iter((0..N).map(|k| slope[k] - there[k]));
            let curve = step.dot(&change);
            if curve > 1e-12 {
                let moved = inverse.dot(&change);
                let scale = (1.0 + change.dot(&moved) / curve) / curve;
                for i in 0..N {
                    for j in 0..N {
                        inverse[[i, j]] += scale * step[i] * step[j]
                            - (moved[i] * step[j] + step[i] * moved[j]) / curve;
                    }
                }
            }
            let done = found - value < 1e-10 * (1.0 + value.abs()) && size(&there) < 1e-3;
            (at, value, slope) = (next, found, there);
            if done {
                break;
            }
        }
        Ok((at, value))
    }

    /// Minus the second derivatives.
    fn curvature(&self, mode: &Point) -> Array2<f64> {
        let step = 0.02;
        let at = |moves: &[(usize, f64)]| {
            let mut point = *mode;
            for &(k, by) in moves {
                point[k] += by;
            }
            self.value(&point)
        };
        let top = at(&[]);
        let mut curvature = Array2::zeros((N, N));
        for i in 0..N {
            let two = at(&[(i, step)]) + at(&[(i, -step)]) - 2.0 * top;
            curvature[[i, i]] = -two / (step * step);
            for j in 0..i {
                let of = |a: f64, b: f64| at(&[(i, a * step), (j, b * step)]);
                let cross = of(1.0, 1.0) - of(1.0, -1.0) - of(-1.0, 1.0) + of(-1.0, -1.0);
                curvature[[i, j]] = -cross / (4.0 * step * step);
                curvature[[j, i]] = curvature[[i, j]];
            }
        }
        curvature
    }

    /// Draws with their weights, which sum to 1.
    pub fn draws(&self, monitor: &Monitor) -> Result<Vec<(Parameters, f64)>> {
        let climbs = parallel::try_map(STARTS, monitor, |start| self.climb(start, monitor))?;
        let higher = |a: (Point, f64), b: (Point, f64)| if b.1 > a.1 { b } else { a };
        let (mode, top) = climbs
            .into_iter()
            .reduce(higher)
            .unwrap_or((STARTS[0], 0.0));
        let root = steep_root(self.curvature(&mode))?;
        let mut rng = Streams::new(Seed::from_draws([40; 8])).block(0);
        let degrees = ChiSquared::new(DEGREES).map_err(|e| Error::Internal(e.to_string()))?;
        let proposals: Vec<(Point, f64)> = (0..DRAWS)
            .map(|_| {
                let z: Point = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
                let scale = degrees.sample(&mut rng) / DEGREES;
                let square: f64 = z.iter().map(|z| z * z).sum();
                let step = solved_transposed(&root, &z.map(|z| z / scale.sqrt()));
                let ln_t = -0.5 * (DEGREES + N as f64) * (square / scale / DEGREES).ln_1p();
                (std::array::from_fn(|k| mode[k] + step[k]), ln_t)
            })
            .collect();
        let values = parallel::try_map(proposals, monitor, |(point, ln_t)| {
            Ok((point, (self.value(&point) - top) - ln_t))
        })?;
        let largest = values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(b.1));
        let weights: Vec<f64> = values.iter().map(|(_, w)| (w - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let points = values.iter().map(|(point, _)| Parameters::new(point));
        Ok(points.zip(weights).map(|(p, w)| (p, w / sum)).collect())
    }
}

fn ln_gamma(x: f64) -> f64 {
    statrs::function::gamma::ln_gamma(x)
}

/// The triangular root of a matrix that is made steeper until it has one.
fn steep_root(mut matrix: Array2<f64>) -> Result<Array2<f64>> {
    let mut ridge = 0.1;
    loop {
        match cholesky(matrix.view()) {
            Err(_) if ridge < 1e12 => {
                matrix.diag_mut().mapv_inplace(|x| x + ridge);
                ridge *= 4.0;
            }
            root => return root,
        }
    }
}

/// x with L' x = b.
fn solved_transposed(root: &Array2<f64>, b: &Point) -> Point {
    let mut x = *b;
    for i in (0..N).rev() {
        for j in i + 1..N {
            x[i] -= root[[j, i]] * x[j];
        }
        x[i] /= root[[i, i]];
    }
    x
}
