//! The nearest correlation matrix.
//!
//! Higham (2002): alternating projections on the matrices with eigenvalues of
//! at least `FLOOR` and on those with unit diagonal, with Dykstra's correction
//! for the former. A matrix whose least eigenvalue is large enough stays as it is.

use ndarray::{Array1, Array2, ArrayViewMut2};

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
    /// The matrix.
    pub matrix: Array2<f64>,
    /// Least eigenvalue before.
    pub least_eigenvalue: f64,
    /// Largest change of an entry.
    pub largest_change: f64,
    /// Steps taken: 0 where nothing was to do.
    pub steps: usize,
}

/// The correlation matrix nearest to the symmetric `matrix`.
pub fn nearest_correlation(matrix: &Array2<f64>, monitor: &Monitor) -> Result<Projected> {
    let least = least_eigenvalue(matrix)?;
    if least >= ENOUGH {
        return Ok(Projected {
            matrix: matrix.clone(),
            least_eigenvalue: least,
            largest_change: 0.0,
            steps: 0,
        });
    }
    let mut current = matrix.clone();
    let mut correction = Array2::zeros(matrix.dim());
    let mut steps = 0;
    loop {
        monitor.check()?;
        steps += 1;
        let shifted = &current - &correction;
        let positive = clip(&shifted)?;
        correction = &positive - &shifted;
        current.assign(&positive);
        current.diag_mut().fill(1.0);
        if largest_difference(&current, &positive) < 1e-10 || steps == MOST_STEPS {
            break;
        }
    }
    // Eigenvalues that the last step left below the threshold are shrunk towards zero correlation.
    let left = least_eigenvalue(&current)?;
    if left < ENOUGH {
        current *= 1.0 - (ENOUGH - left) / (1.0 - left);
        current.diag_mut().fill(1.0);
    }
    Ok(Projected {
        largest_change: largest_difference(&current, matrix),
        matrix: current,
        least_eigenvalue: least,
        steps,
    })
}

fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f64::max)
}

/// The least eigenvalue of a symmetric matrix.
fn least_eigenvalue(matrix: &Array2<f64>) -> Result<f64> {
    let (values, _) = eigen(matrix)?;
    Ok(values.into_iter().fold(f64::INFINITY, f64::min))
}

/// The matrix with eigenvalues raised to the floor.
fn clip(matrix: &Array2<f64>) -> Result<Array2<f64>> {
    let (values, vectors) = eigen(matrix)?;
    let raised = &vectors * &values.mapv(|value| value.max(FLOOR));
    Ok(raised.dot(&vectors.t()))
}

/// Eigenvalues and eigenvectors (in columns) of a symmetric matrix by Jacobi's
/// rotations.
fn eigen(matrix: &Array2<f64>) -> Result<(Array1<f64>, Array2<f64>)> {
    let d = matrix.nrows();
    let mut a = matrix.clone();
    let mut v = Array2::eye(d);
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..d)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|at| a[at] * a[at])
            .sum();
        if off < 1e-26 {
            return Ok((a.diag().to_owned(), v));
        }
        for p in 0..d {
            for q in p + 1..d {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    Err(Error::NotConverged(
        "The eigenvalues of the correlation matrix could not be found.".into(),
    ))
}

/// Makes the element (p, q) zero.
fn rotate(a: &mut Array2<f64>, v: &mut Array2<f64>, p: usize, q: usize) {
    let off = a[[p, q]];
    if off.abs() < 1e-300 {
        return;
    }
    let theta = (a[[q, q]] - a[[p, p]]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta.abs() > 0.0 { t } else { 1.0 };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    turn(a.view_mut(), p, q, (c, s));
    turn(a.view_mut().reversed_axes(), p, q, (c, s));
    turn(v.view_mut(), p, q, (c, s));
}

/// Turns columns `p` and `q` by the angle of this cosine and sine.
fn turn(mut matrix: ArrayViewMut2<'_, f64>, p: usize, q: usize, (c, s): (f64, f64)) {
    for mut row in matrix.rows_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cholesky::cholesky;
    use super::*;
    use ndarray::array;

    #[test]
    fn a_correlation_matrix_stays_and_an_impossible_one_moves_least() {
        let monitor = Monitor::new();
        let good = array![[1.0, 0.5], [0.5, 1.0]];
        let kept = nearest_correlation(&good, &monitor).unwrap();
        assert_eq!(kept.matrix, good);
        assert_eq!(kept.steps, 0);
        // Higham's example: the nearest correlation matrix has 0.7607, 0.1573.
        let bad = array![[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]];
        let moved = nearest_correlation(&bad, &monitor).unwrap();
        assert!((moved.matrix[[0, 1]] - 0.760_689_85).abs() < 1e-5);
        assert!((moved.matrix[[0, 2]] - 0.157_298_1).abs() < 1e-5);
        assert!((moved.least_eigenvalue - (1.0 - 2.0_f64.sqrt())).abs() < 1e-12);
        for i in 0..3 {
            assert!((moved.matrix[[i, i]] - 1.0).abs() < 1e-15);
        }
        assert!(least_eigenvalue(&moved.matrix).unwrap() >= 0.9e-8);
        assert!(cholesky(moved.matrix.view()).is_ok());
        assert!(cholesky(bad.view()).is_err());
    }
}
