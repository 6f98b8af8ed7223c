//! Quadratic forms in the inverse of the information matrix.

use super::{dot, Margins};
use crate::error::Result;
use crate::parallel::Monitor;

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
