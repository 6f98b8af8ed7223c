//! The fit of a model without closed form, and the solution of linear systems
//! with its information matrix. Both need only passes that give margins.
//!
//! The likelihood is convex in `theta = log u`; its gradient is the fitted
//! margins minus the data's. L-BFGS runs on coordinates scaled by the root of
//! the margins, where the diagonal of the Hessian is 1 at the solution. Zero
//! margins are the boundary of the model: their parameters are 0 and stay so.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::parallel::Monitor;

const MEMORY: usize = 12;
const MOST_PASSES: usize = 5000;

/// How a fit went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Report {
    /// Passes over the table or the tree.
    pub passes: usize,
    /// Largest relative difference between a fitted margin and the data's.
    pub deviation: f64,
}

/// Gives the margins on all generators for parameters `u`.
pub trait Margins: Sync {
    /// The margins.
    fn margins(&self, u: &[f64], monitor: &Monitor) -> Result<Vec<f64>>;
}

/// Changes `u` until no margin differs from `target` by more than `tolerance`
/// times itself.
pub fn fit(
    pass: &dyn Margins,
    target: &[f64],
    u: &mut [f64],
    tolerance: f64,
    n_generators: usize,
    monitor: &Monitor,
) -> Result<Report> {
    let active: Vec<usize> = (0..target.len()).filter(|&i| target[i] > 0.0).collect();
    for (u, &t) in u.iter_mut().zip(target) {
        if t <= 0.0 {
            *u = 0.0;
        }
    }
    let root: Vec<f64> = active.iter().map(|&i| target[i].sqrt()).collect();
    // The gradient in scaled coordinates and the deviation at parameters `u`.
    let evaluate = |u: &[f64]| -> Result<(Vec<f64>, f64)> {
        let margins = pass.margins(u, monitor)?;
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
        Ok((gradient, deviation))
    };
    let (mut gradient, mut deviation) = evaluate(u)?;
    let mut memory: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
    let mut trial = u.to_vec();
    let mut evaluations = 1;
    while deviation > tolerance {
        if evaluations > MOST_PASSES {
            return Err(Error::NotConverged(format!(
                "The log-linear fit must reach its tolerance of {tolerance:e}: after {evaluations} \
                 passes a margin still differs by {deviation:.1e} of itself."
            )));
        }
        let mut direction = descent(&gradient, &memory);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            memory.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        // No parameter may change by more than a factor of e^4 in one step.
        let longest = direction
            .iter()
            .zip(&root)
            .map(|(d, r)| (d / r).abs())
            .fold(0.0, f64::max);
        let mut step = if memory.is_empty() {
            1.0 / n_generators as f64
        } else {
            1.0
        };
        step = f64::min(step, 4.0 / longest);
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut low_slope = slope;
        let mut best: Option<(f64, Vec<f64>, f64)> = None;
        for _ in 0..12 {
            for ((&i, &d), &r) in active.iter().zip(&direction).zip(&root) {
                trial[i] = u[i] * (step * d / r).exp();
            }
            let (at, deviation) = evaluate(&trial)?;
            evaluations += 1;
            let at_slope = dot(&direction, &at);
            if at_slope.is_finite() && at_slope.abs() <= 0.6 * slope.abs() {
                best = Some((step, at, deviation));
                break;
            }
            if at_slope.is_finite() && at_slope < 0.0 {
                // Too short: the slope is negative still.
                let secant = step + (step - low) * at_slope / (low_slope - at_slope);
                low = step;
                low_slope = at_slope;
                best = Some((step, at, deviation));
                step = if high.is_finite() {
                    secant.clamp(low + 0.1 * (high - low), high - 0.1 * (high - low))
                } else if secant.is_finite() && secant > step {
                    secant.clamp(1.5 * step, 5.0 * step)
                } else {
                    3.0 * step
                };
            } else {
                high = step;
                let secant = low + (step - low) * low_slope / (low_slope - at_slope);
                step = if secant.is_finite() {
                    secant.clamp(low + 0.1 * (high - low), high - 0.1 * (high - low))
                } else {
                    low + 0.2 * (high - low)
                };
            }
        }
        let Some((step, next, next_deviation)) = best else {
            // Rounding leaves nothing to gain.
            if deviation <= tolerance.max(1e-5) {
                break;
            }
            if memory.is_empty() {
                return Err(Error::NotConverged(format!(
                    "The log-linear fit must reach its tolerance of {tolerance:e}; it stopped where \
                     a margin differs by {deviation:.1e} of itself."
                )));
            }
            memory.clear();
            continue;
        };
        for ((&i, &d), &r) in active.iter().zip(&direction).zip(&root) {
            u[i] *= (step * d / r).exp();
        }
        let moved: Vec<f64> = direction.iter().map(|d| step * d).collect();
        let change: Vec<f64> = next.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&moved, &change);
        if curvature > 1e-300 && curvature > 1e-14 * dot(&change, &change).sqrt() {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back((moved, change, 1.0 / curvature));
        }
        gradient = next;
        deviation = next_deviation;
    }
    Ok(Report {
        passes: evaluations,
        deviation,
    })
}

/// Minus the inverse Hessian, as the memory knows it, times the gradient.
fn descent(gradient: &[f64], memory: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut weights = Vec::with_capacity(memory.len());
    for (moved, change, rho) in memory.iter().rev() {
        let a = rho * dot(moved, &q);
        for (q, c) in q.iter_mut().zip(change) {
            *q -= a * c;
        }
        weights.push(a);
    }
    if let Some((moved, change, _)) = memory.back() {
        let scale = dot(moved, change) / dot(change, change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((moved, change, rho), a) in memory.iter().zip(weights.into_iter().rev()) {
        let b = rho * dot(change, &q);
        for (q, m) in q.iter_mut().zip(moved) {
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
        if !(curvature > 0.0) {
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
