//! The nearest correlation matrix.
//!
//! Higham (2002): alternating projections on the matrices with eigenvalues of
//! at least `FLOOR` and on those with unit diagonal, with Dykstra's correction
//! for the former. A matrix whose least eigenvalue is large enough stays as it is.

use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Matrices with a least eigenvalue below this are projected.
const ENOUGH: f64 = 1e-8;
/// Least eigenvalue of a projected matrix.
const FLOOR: f64 = 1e-6;
const MOST_STEPS: usize = 500;
const MOST_SWEEPS: usize = 60;

/// A correlation matrix and what was done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Projected {
    /// The matrix, row by row.
    pub matrix: Vec<f64>,
    /// Least eigenvalue before.
    pub least_eigenvalue: f64,
    /// Largest change of an entry.
    pub largest_change: f64,
    /// Steps taken: 0 where nothing was to do.
    pub steps: usize,
}

/// The correlation matrix nearest to the symmetric `matrix` of order `d`.
pub fn nearest_correlation(matrix: &[f64], d: usize, monitor: &Monitor) -> Result<Projected> {
    let least = least_eigenvalue(matrix, d)?;
    if least >= ENOUGH {
        return Ok(Projected {
            matrix: matrix.to_vec(),
            least_eigenvalue: least,
            largest_change: 0.0,
            steps: 0,
        });
    }
    let mut current = matrix.to_vec();
    let mut correction = vec![0.0; d * d];
    let mut steps = 0;
    loop {
        monitor.check()?;
        steps += 1;
        let shifted: Vec<f64> = current
            .iter()
            .zip(&correction)
            .map(|(y, s)| y - s)
            .collect();
        let positive = clip(&shifted, d)?;
        for ((slot, x), r) in correction.iter_mut().zip(&positive).zip(&shifted) {
            *slot = x - r;
        }
        current = positive.clone();
        for i in 0..d {
            current[i * d + i] = 1.0;
        }
        let gap = largest_difference(&current, &positive);
        if gap < 1e-10 {
            break;
        }
        if steps == MOST_STEPS {
            break;
        }
    }
    // What the last step left below the threshold is shrunk towards zero
    // correlation.
    let left = least_eigenvalue(&current, d)?;
    if left < ENOUGH {
        let share = (ENOUGH - left) / (1.0 - left);
        for i in 0..d {
            for j in 0..d {
                if i != j {
                    current[i * d + j] *= 1.0 - share;
                }
            }
        }
    }
    Ok(Projected {
        largest_change: largest_difference(&current, matrix),
        matrix: current,
        least_eigenvalue: least,
        steps,
    })
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f64::max)
}

/// The least eigenvalue of a symmetric matrix.
pub fn least_eigenvalue(matrix: &[f64], d: usize) -> Result<f64> {
    Ok(eigen(matrix, d)?
        .0
        .into_iter()
        .fold(f64::INFINITY, f64::min))
}

/// The matrix with eigenvalues raised to the floor.
fn clip(matrix: &[f64], d: usize) -> Result<Vec<f64>> {
    let (values, vectors) = eigen(matrix, d)?;
    let mut result = vec![0.0; d * d];
    for (k, value) in values.iter().enumerate() {
        let value = value.max(FLOOR);
        for i in 0..d {
            let left = value * vectors[i * d + k];
            for j in 0..d {
                result[i * d + j] += left * vectors[j * d + k];
            }
        }
    }
    Ok(result)
}

/// Eigenvalues and eigenvectors (in columns) of a symmetric matrix by Jacobi's
/// rotations.
fn eigen(matrix: &[f64], d: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut a = matrix.to_vec();
    let mut v = vec![0.0; d * d];
    for i in 0..d {
        v[i * d + i] = 1.0;
    }
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..d)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * d + j] * a[i * d + j])
            .sum();
        if off < 1e-26 {
            let values = (0..d).map(|i| a[i * d + i]).collect();
            return Ok((values, v));
        }
        for p in 0..d {
            for q in p + 1..d {
                rotate(&mut a, &mut v, d, p, q);
            }
        }
    }
    Err(Error::NotConverged(
        "The eigenvalues of the correlation matrix could not be found.".into(),
    ))
}

/// Makes the element (p, q) zero.
fn rotate(a: &mut [f64], v: &mut [f64], d: usize, p: usize, q: usize) {
    let off = a[p * d + q];
    if off.abs() < 1e-300 {
        return;
    }
    let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta.abs() > 0.0 { t } else { 1.0 };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..d {
        let (x, y) = (a[k * d + p], a[k * d + q]);
        a[k * d + p] = c * x - s * y;
        a[k * d + q] = s * x + c * y;
    }
    for k in 0..d {
        let (x, y) = (a[p * d + k], a[q * d + k]);
        a[p * d + k] = c * x - s * y;
        a[q * d + k] = s * x + c * y;
    }
    for k in 0..d {
        let (x, y) = (v[k * d + p], v[k * d + q]);
        v[k * d + p] = c * x - s * y;
        v[k * d + q] = s * x + c * y;
    }
}

/// The lower triangular root of a positive definite matrix, row by row.
pub fn cholesky(matrix: &[f64], d: usize) -> Result<Vec<f64>> {
    let mut root = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let below: f64 = (0..j).map(|k| root[i * d + k] * root[j * d + k]).sum();
            let rest = matrix[i * d + j] - below;
            root[i * d + j] = if i == j {
                if rest <= 0.0 {
                    return Err(Error::BadArgument(
                        "The correlation matrix must be positive definite.".into(),
                    ));
                }
                rest.sqrt()
            } else {
                rest / root[j * d + j]
            };
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correlation_matrix_stays_and_an_impossible_one_moves_least() {
        let monitor = Monitor::new();
        let good = [1.0, 0.5, 0.5, 1.0];
        let kept = nearest_correlation(&good, 2, &monitor).unwrap();
        assert_eq!(kept.matrix, good);
        assert_eq!(kept.steps, 0);
        // Higham's example: the nearest correlation matrix has 0.7607, 0.1573.
        let bad = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        let moved = nearest_correlation(&bad, 3, &monitor).unwrap();
        assert!((moved.matrix[1] - 0.760_689_85).abs() < 1e-5);
        assert!((moved.matrix[2] - 0.157_298_1).abs() < 1e-5);
        assert!((moved.least_eigenvalue - (1.0 - 2.0_f64.sqrt())).abs() < 1e-12);
        for i in 0..3 {
            assert!((moved.matrix[i * 3 + i] - 1.0).abs() < 1e-15);
        }
        assert!(least_eigenvalue(&moved.matrix, 3).unwrap() >= 0.9e-8);
        assert!(cholesky(&moved.matrix, 3).is_ok());
        assert!(cholesky(&bad, 3).is_err());
    }
}
