//! The triangular root of a positive definite matrix.

use ndarray::{s, Array2, ArrayView2};

use crate::error::{Error, Result};

/// The lower triangular L with L L' = `matrix`.
///
/// # Errors
///
/// Fails if `matrix` is not positive definite.
pub(crate) fn cholesky(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
    let d = matrix.nrows();
    let mut root = Array2::zeros((d, d));
    for i in 0..d {
        for j in 0..=i {
            let known = root.slice(s![i, ..j]).dot(&root.slice(s![j, ..j]));
            let rest: f64 = matrix[[i, j]] - known;
            root[[i, j]] = if i != j {
                rest / root[[j, j]]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return Err(Error::BadArgument(
                    "The correlation matrix must be positive definite.".into(),
                ));
            };
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_root_times_itself_is_the_matrix() {
        let matrix = array![[4.0, 2.0, -0.6], [2.0, 5.0, 1.5], [-0.6, 1.5, 3.0]];
        let root = cholesky(matrix.view()).unwrap();
        let again = root.dot(&root.t());
        assert!(again
            .iter()
            .zip(&matrix)
            .all(|(a, b)| (a - b).abs() < 1e-14));
        assert!(root[[0, 1]].abs() + root[[0, 2]].abs() + root[[1, 2]].abs() <= 0.0);
        let singular = array![[1.0, 1.0], [1.0, 1.0]];
        assert!(cholesky(singular.view()).is_err());
    }
}
