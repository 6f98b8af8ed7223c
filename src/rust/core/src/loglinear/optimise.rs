//! The fit of a model without closed form, and the solution of linear systems
//! with its information matrix. Both need only passes that give margins.
//!
//! The likelihood is convex in `theta = log u`; its gradient is the fitted
//! margins minus the data's. L-BFGS runs on coordinates scaled by the root of
//! the margins, where the diagonal of the Hessian is 1 at the solution. Zero
//! margins are the boundary of the model: their parameters are 0 and stay so.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::parallel::Monitor;

const MEMORY: usize = 12;
const MOST_PASSES: usize = 1500;
/// A fit with a margin this far off, as a share of itself, is tried again.
const ROUGH: f64 = 0.1;
const SLOW_PASSES: usize = 500;
/// The most that one step changes the logarithm of a cell.
const MOST_CHANGE: f64 = 8.0;

/// How a fit went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Report {
    /// Passes over the table or the tree.
    pub passes: usize,
    /// Largest relative difference between a fitted margin and the data's.
    pub deviation: f64,
}

/// A step and the change of the gradient along it.
struct Pair {
    moved: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// Gives the margins on all generators for parameters `u`.
pub trait Margins: Sync {
    /// The margins.
    fn margins(&self, u: &[f64], monitor: &Monitor) -> Result<Vec<f64>>;
}

/// Changes `u` until no margin differs from `target` by more than `tolerance`
/// times itself; a fit that creeps is taken with less, see [`wanted`].
/// `generators` are the ranges of parameters that every cell has one of.
pub fn fit(
    pass: &dyn Margins,
    target: &[f64],
    u: &mut [f64],
    tolerance: f64,
    generators: &[Range<usize>],
    monitor: &Monitor,
) -> Result<Report> {
    let active: Vec<usize> = (0..target.len()).filter(|&i| target[i] > 0.0).collect();
    for (u, &t) in u.iter_mut().zip(target) {
        if t <= 0.0 {
            *u = 0.0;
        }
    }
    let root: Vec<f64> = active.iter().map(|&i| target[i].sqrt()).collect();
    let first_generator = generators.first().cloned().unwrap_or(0..0);
    // The gradient in scaled coordinates, the deviation and minus the
    // logarithm of the likelihood at parameters `u`.
    let evaluate = |u: &[f64]| -> Result<(Vec<f64>, f64, f64)> {
        let margins = pass.margins(u, monitor)?;
        let total: f64 = margins[first_generator.clone()].iter().sum();
        let likelihood: f64 = active.iter().map(|&i| target[i] * u[i].ln()).sum();
        let mut deviation = 0.0f64;
        let gradient = active
            .iter()
            .zip(&root)
            .map(|(&i, &root)| {
                let difference = margins[i] - target[i];
                deviation = deviation.max((difference / target[i]).abs());
                difference / root
            })
            .collect();
        Ok((gradient, deviation, total - likelihood))
    };
    let (mut gradient, mut deviation, mut value) = evaluate(u)?;
    let mut memory: VecDeque<Pair> = VecDeque::new();
    let mut trial = u.to_vec();
    let mut passes = 1;
    while deviation.is_nan() || deviation > wanted(tolerance, passes) {
        if passes >= MOST_PASSES {
            // On the boundary: the report says how rough the fit is.
            break;
        }
        let mut direction = descent(&gradient, &memory);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            memory.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        let first = if memory.is_empty() {
            1.0 / generators.len() as f64
        } else {
            1.0
        };
        let longest = longest_change(&direction, &root, &active, generators);
        let search = LineSearch::new(f64::min(first, MOST_CHANGE / longest), slope);
        let found = search.run(&mut passes, |step| {
            for ((&i, &d), &r) in active.iter().zip(&direction).zip(&root) {
                trial[i] = u[i] * (step * d / r).exp();
            }
            let (at, deviation, now) = evaluate(&trial)?;
            let slope = dot(&direction, &at);
            // Rounding may lose a gain, but a loss that shows is one.
            let loses = !now.is_finite() || now - value > 1e-9 * (value.abs() + 1.0);
            let slope = if loses { f64::NAN } else { slope };
            Ok((slope, (at, deviation, now)))
        })?;
        let Some((step, (next, next_deviation, next_value))) = found else {
            // A step of generalised iterative scaling, which never overshoots.
            trial.copy_from_slice(u);
            for ((&i, &g), &r) in active.iter().zip(&gradient).zip(&root) {
                let ratio = (1.0 + g / r).max(1e-12);
                trial[i] *= ratio.powf(-1.0 / generators.len() as f64);
            }
            memory.clear();
            let (at, after, now) = evaluate(&trial)?;
            if !after.is_finite() || !now.is_finite() || now - value > 1e-9 * (value.abs() + 1.0) {
                // Parameters have run to the ends of the range of numbers.
                break;
            }
            u.copy_from_slice(&trial);
            (gradient, deviation, value) = (at, after, now);
            passes += 1;
            continue;
        };
        for ((&i, &d), &r) in active.iter().zip(&direction).zip(&root) {
            u[i] *= (step * d / r).exp();
        }
        let moved: Vec<f64> = direction.iter().map(|d| step * d).collect();
        let change: Vec<f64> = next.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&moved, &change);
        if curvature > 1e-14 * dot(&change, &change).sqrt() * dot(&moved, &moved).sqrt() {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back(Pair {
                moved,
                change,
                inverse: 1.0 / curvature,
            });
        }
        gradient = next;
        deviation = next_deviation;
        value = next_value;
    }
    if deviation.is_nan() || deviation >= ROUGH {
        // Steps that always gain, however slowly, from the beginning.
        for (trial, &t) in trial.iter_mut().zip(target) {
            *trial = f64::from(u8::from(t > 0.0));
        }
        for _ in 0..SLOW_PASSES {
            let margins = pass.margins(&trial, monitor)?;
            let mut off = 0.0f64;
            for &i in &active {
                let ratio = target[i] / margins[i];
                off = off.max((1.0 / ratio - 1.0).abs());
                trial[i] *= ratio.powf(1.0 / generators.len() as f64);
            }
            passes += 1;
            if off < deviation || deviation.is_nan() {
                // `trial` is one step beyond the margins seen: no worse.
                deviation = off;
                u.copy_from_slice(&trial);
            }
        }
    }
    if !deviation.is_finite() {
        return Err(Error::NotConverged(
            "The log-linear fit must have finite margins. Fewer interactions or coarser key \
             variables help."
                .into(),
        ));
    }
    Ok(Report { passes, deviation })
}

/// The tolerance that is good enough after so many passes. On the boundary of
/// a model, cells tend to zero and their margins to the data's, at a pace that
/// no statistician waits for.
fn wanted(tolerance: f64, passes: usize) -> f64 {
    match passes {
        0..150 => tolerance,
        150..300 => tolerance.max(1e-8),
        300..600 => tolerance.max(1e-7),
        600..1000 => tolerance.max(1e-6),
        _ => tolerance.max(1e-5),
    }
}

/// The most that a step could change the logarithm of a cell.
fn longest_change(
    direction: &[f64],
    root: &[f64],
    active: &[usize],
    generators: &[Range<usize>],
) -> f64 {
    let mut generator = 0;
    let mut largest = vec![0.0f64; generators.len()];
    for ((&i, d), r) in active.iter().zip(direction).zip(root) {
        while !generators[generator].contains(&i) {
            generator += 1;
        }
        largest[generator] = largest[generator].max((d / r).abs());
    }
    largest.iter().sum()
}

/// A search along a direction of descent of a convex function, by its slope
/// alone: small differences of its values would be lost in rounding. A slope
/// that is not a number stands for a step that is too long.
struct LineSearch {
    step: f64,
    slope: f64,
}

impl LineSearch {
    fn new(step: f64, slope: f64) -> Self {
        Self { step, slope }
    }

    /// Looks for a step where the slope is much flatter; `at` gives the slope
    /// at a step and what the caller wants to know of it.
    fn run<T>(
        self,
        passes: &mut usize,
        mut at: impl FnMut(f64) -> Result<(f64, T)>,
    ) -> Result<Option<(f64, T)>> {
        let mut step = self.step;
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut low_slope = self.slope;
        let mut best = None;
        for _ in 0..12 {
            let (slope, found) = at(step)?;
            *passes += 1;
            if slope.abs() <= 0.6 * self.slope.abs() {
                return Ok(Some((step, found)));
            }
            let inside = |x: f64, low: f64, high: f64| {
                x.clamp(low + 0.1 * (high - low), high - 0.1 * (high - low))
            };
            if slope < 0.0 {
                // Too short.
                let secant = step + (step - low) * slope / (low_slope - slope);
                best = Some((step, found));
                low = step;
                low_slope = slope;
                step = if high.is_finite() {
                    inside(secant, low, high)
                } else if secant.is_finite() && secant > step {
                    secant.clamp(1.5 * step, 5.0 * step)
                } else {
                    3.0 * step
                };
            } else {
                high = step;
                let secant = low + (step - low) * low_slope / (low_slope - slope);
                step = if secant.is_finite() {
                    inside(secant, low, high)
                } else {
                    low + 0.2 * (high - low)
                };
            }
        }
        Ok(best)
    }
}

/// Minus the inverse Hessian, as the memory knows it, times the gradient.
fn descent(gradient: &[f64], memory: &VecDeque<Pair>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(memory.len());
    for pair in memory.iter().rev() {
        let a = pair.inverse * dot(&pair.moved, &q);
        for (q, c) in q.iter_mut().zip(&pair.change) {
            *q -= a * c;
        }
        weights.push(a);
    }
    if let Some(last) = memory.back() {
        let scale = dot(&last.moved, &last.change) / dot(&last.change, &last.change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (pair, a) in memory.iter().zip(weights.into_iter().rev()) {
        let b = pair.inverse * dot(&pair.change, &q);
        for (q, m) in q.iter_mut().zip(&pair.moved) {
            *q += (a - b) * m;
        }
    }
    q
}

/// `c' H^-1 c`, `H` being the Hessian at `u`, by conjugate gradients; products
/// with `H` are differences of margins.
pub fn inverse_form(
    pass: &dyn Margins,
    margins: &[f64],
    u: &[f64],
    c: &[f64],
    monitor: &Monitor,
) -> Result<f64> {
    const STEP: f64 = 1e-5;
    const MOST: usize = 200;
    let active: Vec<usize> = (0..u.len())
        .filter(|&i| margins[i] > 0.0 && u[i] > 0.0)
        .collect();
    let root: Vec<f64> = active.iter().map(|&i| margins[i].sqrt()).collect();
    let mut residual: Vec<f64> = active.iter().zip(&root).map(|(&i, r)| c[i] / r).collect();
    let mut squared = dot(&residual, &residual);
    let mut direction = residual.clone();
    let mut form = 0.0;
    let mut trial = u.to_vec();
    let mut small_gains = 0;
    for _ in 0..MOST {
        if squared <= 0.0 {
            break;
        }
        let longest = direction
            .iter()
            .zip(&root)
            .map(|(d, r)| (d / r).abs())
            .fold(0.0, f64::max);
        let step = STEP / longest;
        let mut move_by = |sign: f64| -> Result<Vec<f64>> {
            for ((&i, &d), &r) in active.iter().zip(&direction).zip(&root) {
                trial[i] = u[i] * (sign * step * d / r).exp();
            }
            pass.margins(&trial, monitor)
        };
        let ahead = move_by(1.0)?;
        let product: Vec<f64> = active
            .iter()
            .zip(&root)
            .map(|(&i, &r)| (ahead[i] - margins[i]) / (step * r))
            .collect();
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = squared / curvature;
        let gain = length * squared;
        form += gain;
        for (r, p) in residual.iter_mut().zip(&product) {
            *r -= length * p;
        }
        let next = dot(&residual, &residual);
        // The standard error is wanted to three digits.
        small_gains = if gain <= 2e-4 * form {
            small_gains + 1
        } else {
            0
        };
        if small_gains == 3 || next <= 1e-20 {
            break;
        }
        let turn = next / squared;
        for (d, r) in direction.iter_mut().zip(&residual) {
            *d = r + turn * *d;
        }
        squared = next;
    }
    Ok(form)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
