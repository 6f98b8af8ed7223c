//! L-BFGS on the likelihood, with steps of iterative scaling where it fails.

use std::collections::VecDeque;
use std::ops::Range;

use super::line_search::LineSearch;
use super::{dot, Margins, Report, CONVERGED};
use crate::error::Result;
use crate::parallel::Monitor;

const MEMORY: usize = 12;
const MOST_PASSES: usize = 1500;
/// The most that one step changes the logarithm of a cell.
const MOST_CHANGE: f64 = 8.0;
/// Losses of likelihood up to this share are rounding.
const ROUNDING: f64 = 1e-9;

/// The likelihood of parameters, in coordinates scaled by the root of the margins.
pub(super) struct Likelihood<'a> {
    pass: &'a dyn Margins,
    pub target: &'a [f64],
    pub generators: &'a [Range<usize>],
    monitor: &'a Monitor,
    /// The parameters that are not 0 by a margin of 0.
    pub active: Vec<usize>,
    /// The roots of their margins.
    root: Vec<f64>,
}

/// Data of one point.
struct Place {
    /// The gradient in scaled coordinates.
    gradient: Vec<f64>,
    /// Largest relative difference between a fitted margin and the data's.
    deviation: f64,
    /// Minus the logarithm of the likelihood.
    value: f64,
}

impl Place {
    /// True if `next` is a loss: rounding may lose a gain, but a loss that
    /// shows is one.
    fn is_better_than(&self, next: &Place) -> bool {
        !next.value.is_finite() || next.value - self.value > ROUNDING * (self.value.abs() + 1.0)
    }
}

impl<'a> Likelihood<'a> {
    pub fn new(
        pass: &'a dyn Margins,
        target: &'a [f64],
        generators: &'a [Range<usize>],
        monitor: &'a Monitor,
    ) -> Self {
        let active: Vec<usize> = (0..target.len()).filter(|&i| target[i] > 0.0).collect();
        Self {
            root: active.iter().map(|&i| target[i].sqrt()).collect(),
            pass,
            target,
            generators,
            monitor,
            active,
        }
    }

    pub fn margins(&self, u: &[f64]) -> Result<Vec<f64>> {
        self.pass.margins(u, self.monitor)
    }

    fn at(&self, u: &[f64]) -> Result<Place> {
        let margins = self.margins(u)?;
        let first = self.generators.first().cloned().unwrap_or(0..0);
        let total: f64 = margins[first].iter().sum();
        let logarithms = self.active.iter().map(|&i| self.target[i] * u[i].ln());
        let likelihood: f64 = logarithms.sum();
        let mut deviation = 0.0f64;
        let gradient = (self.active.iter().zip(&self.root))
            .map(|(&i, &root)| {
                let difference = margins[i] - self.target[i];
                deviation = deviation.max((difference / self.target[i]).abs());
                difference / root
            })
            .collect();
        Ok(Place {
            gradient,
            deviation,
            value: total - likelihood,
        })
    }

    /// Makes `out` the parameters a step along `direction` away from `u`.
    fn go(&self, u: &[f64], step: f64, direction: &[f64], out: &mut [f64]) {
        for ((&i, &d), &r) in self.active.iter().zip(direction).zip(&self.root) {
            out[i] = u[i] * (step * d / r).exp();
        }
    }

    /// Makes `out` the parameters after a step of generalised iterative scaling,
    /// which never overshoots.
    fn scale(&self, u: &[f64], gradient: &[f64], out: &mut [f64]) {
        out.copy_from_slice(u);
        for ((&i, &g), &r) in self.active.iter().zip(gradient).zip(&self.root) {
            let ratio = (1.0 + g / r).max(1e-12);
            out[i] *= ratio.powf(-1.0 / self.generators.len() as f64);
        }
    }

    /// The most that a step could change the logarithm of a cell.
    fn longest_change(&self, direction: &[f64]) -> f64 {
        let mut generator = 0;
        let mut largest = vec![0.0f64; self.generators.len()];
        for ((&i, d), r) in self.active.iter().zip(direction).zip(&self.root) {
            while !self.generators[generator].contains(&i) {
                generator += 1;
            }
            largest[generator] = largest[generator].max((d / r).abs());
        }
        largest.iter().sum()
    }
}

/// A step and the change of the gradient along it.
struct Pair {
    moved: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// The last steps, which know the curvature.
#[derive(Default)]
struct Memory(VecDeque<Pair>);

impl Memory {
    /// A direction of descent, and the slope along it.
    fn direction(&mut self, gradient: &[f64]) -> (Vec<f64>, f64) {
        let direction = self.descent(gradient);
        let slope = dot(&direction, gradient);
        if slope >= 0.0 {
            self.0.clear();
            let steepest = gradient.iter().map(|g| -g).collect();
            return (steepest, -dot(gradient, gradient));
        }
        (direction, slope)
    }

    fn remember(&mut self, moved: Vec<f64>, change: Vec<f64>) {
        let curvature = dot(&moved, &change);
        if curvature > 1e-14 * dot(&change, &change).sqrt() * dot(&moved, &moved).sqrt() {
            if self.0.len() == MEMORY {
                self.0.pop_front();
            }
            self.0.push_back(Pair {
                moved,
                change,
                inverse: 1.0 / curvature,
            });
        }
    }

    /// Minus the inverse Hessian, as the memory knows it, times the gradient.
    fn descent(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut weights = Vec::with_capacity(self.0.len());
        for pair in self.0.iter().rev() {
            let a = pair.inverse * dot(&pair.moved, &q);
            for (q, c) in q.iter_mut().zip(&pair.change) {
                *q -= a * c;
            }
            weights.push(a);
        }
        if let Some(last) = self.0.back() {
            let scale = dot(&last.moved, &last.change) / dot(&last.change, &last.change);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for (pair, a) in self.0.iter().zip(weights.into_iter().rev()) {
            let b = pair.inverse * dot(&pair.change, &q);
            for (q, m) in q.iter_mut().zip(&pair.moved) {
                *q += (a - b) * m;
            }
        }
        q
    }
}

/// Goes down until the deviation is small enough, or nothing helps: on the boundary
/// of a model, cells tend to zero and their margins to the data's at a pace that no
/// statistician waits for, and less is [`wanted`].
pub(super) fn descend(
    likelihood: &Likelihood<'_>,
    u: &mut [f64],
    tolerance: f64,
) -> Result<Report> {
    let mut here = likelihood.at(u)?;
    let mut memory = Memory::default();
    let mut trial = u.to_vec();
    let mut passes = 1;
    while here.deviation.is_nan() || here.deviation > wanted(tolerance, passes) {
        if passes >= MOST_PASSES {
            // On the boundary: the report says how rough the fit is.
            break;
        }
        let (direction, slope) = memory.direction(&here.gradient);
        let first = match memory.0.len() {
            0 => 1.0 / likelihood.generators.len() as f64,
            _ => 1.0,
        };
        let longest = likelihood.longest_change(&direction);
        let search = LineSearch::new(f64::min(first, MOST_CHANGE / longest), slope);
        let found = search.run(&mut passes, |step| {
            likelihood.go(u, step, &direction, &mut trial);
            let there = likelihood.at(&trial)?;
            let slope = match here.is_better_than(&there) {
                true => f64::NAN,
                false => dot(&direction, &there.gradient),
            };
            Ok((slope, there))
        })?;
        if let Some((step, next)) = found {
            likelihood.go(u, step, &direction, &mut trial);
            u.copy_from_slice(&trial);
            let moved: Vec<f64> = direction.iter().map(|d| step * d).collect();
            let change = next.gradient.iter().zip(&here.gradient);
            memory.remember(moved, change.map(|(a, b)| a - b).collect());
            here = next;
            continue;
        }
        likelihood.scale(u, &here.gradient, &mut trial);
        memory = Memory::default();
        let next = likelihood.at(&trial)?;
        if !next.deviation.is_finite() || here.is_better_than(&next) {
            // Parameters have run to the ends of the range of numbers.
            break;
        }
        u.copy_from_slice(&trial);
        here = next;
        passes += 1;
    }
    Ok(Report {
        passes,
        deviation: here.deviation,
    })
}

/// The tolerance that is good enough after so many passes.
fn wanted(tolerance: f64, passes: usize) -> f64 {
    match passes {
        0..100 => tolerance,
        100..400 => tolerance.max(CONVERGED),
        400..600 => tolerance.max(1e-7),
        600..1000 => tolerance.max(1e-6),
        _ => tolerance.max(1e-5),
    }
}
