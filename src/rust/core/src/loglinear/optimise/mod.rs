//! The fit of a model without closed form, and the solution of linear systems
//! with its information matrix. Both need only passes that give margins.
//!
//! The likelihood is convex in `theta = log u`; its gradient is the fitted
//! margins minus the data's. L-BFGS runs on coordinates scaled by the root of
//! the margins, where the diagonal of the Hessian is 1 at the solution. Zero
//! margins are the boundary of the model: their parameters are 0 and stay so.

mod descent;
mod inverse;
mod line_search;

pub use inverse::inverse_form;

use std::ops::Range;

use descent::{descend, Likelihood};

use crate::error::{in_lines, Error, Result};
use crate::parallel::Monitor;

/// Largest relative deviation of a margin of a fit that has converged. Others lie on
/// the boundary of their model, where cells tend to zero.
pub const CONVERGED: f64 = 1e-9;
/// A fit with a margin this far off, as a share of itself, is tried again.
const ROUGH: f64 = 0.1;
const SLOW_PASSES: usize = 500;

/// Course of a fit.
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
/// times itself; a fit that creeps is taken with less, see [`descend`].
/// `generators` are the ranges of parameters that every cell has one of.
pub fn fit(
    pass: &dyn Margins,
    target: &[f64],
    u: &mut [f64],
    tolerance: f64,
    generators: &[Range<usize>],
    monitor: &Monitor,
) -> Result<Report> {
    for (u, &t) in u.iter_mut().zip(target) {
        if t <= 0.0 {
            *u = 0.0;
        }
    }
    let likelihood = Likelihood::new(pass, target, generators, monitor);
    let mut report = descend(&likelihood, u, tolerance)?;
    if report.deviation.is_nan() || report.deviation >= ROUGH {
        creep(&likelihood, u, &mut report)?;
    }
    if !report.deviation.is_finite() {
        return Err(Error::NotConverged(in_lines(
            "The log-linear fit must have finite margins.",
            "Some margins are not finite.",
            "Take fewer interactions, or recode key variables.",
        )));
    }
    Ok(report)
}

/// Steps that always gain, however slowly, from the beginning; `u` becomes the best
/// of them where it is better than before.
fn creep(likelihood: &Likelihood<'_>, u: &mut [f64], report: &mut Report) -> Result<()> {
    let target = likelihood.target;
    let mut trial: Vec<f64> = (target.iter())
        .map(|&t| f64::from(u8::from(t > 0.0)))
        .collect();
    for _ in 0..SLOW_PASSES {
        let margins = likelihood.margins(&trial)?;
        let mut off = 0.0f64;
        for &i in &likelihood.active {
            let ratio = target[i] / margins[i];
            off = off.max((1.0 / ratio - 1.0).abs());
            trial[i] *= ratio.powf(1.0 / likelihood.generators.len() as f64);
        }
        report.passes += 1;
        if off < report.deviation || report.deviation.is_nan() {
            // `trial` is one step beyond the margins seen: no worse.
            report.deviation = off;
            u.copy_from_slice(&trial);
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
