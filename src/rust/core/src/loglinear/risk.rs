//! The risk measures of a file, read from a fitted model.

use super::fitted::{Expected, Fitted, Sample};
use super::measures::{h1, h2};
use crate::error::Result;
use crate::parallel::Monitor;

/// The file-level measures of one fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measures {
    /// `tau1` and `tau2`.
    pub tau: [f64; 2],
    /// The criterion.
    pub b: [f64; 2],
    /// Its Poisson variance.
    pub v: [f64; 2],
    /// The criterion over the root of it; `None` where that is 0.
    pub z: [Option<f64>; 2],
    /// Over the root of its empirical variance over cells.
    pub z_robust: [Option<f64>; 2],
    /// Expected sample uniques.
    pub expected_uniques: f64,
}

/// The measures of a fit.
pub fn measures(
    fitted: &Fitted,
    sample: &Sample,
    expected: &Expected,
    monitor: &Monitor,
) -> Result<Measures> {
    let terms = fitted.terms(sample, expected, monitor)?;
    let n_table = fitted.model.n_table();
    let ratio = |b: f64, variance: f64| (variance > 0.0).then(|| b / variance.sqrt());
    let mut out = Measures {
        tau: taus(sample, expected),
        b: terms.b,
        v: terms.v,
        expected_uniques: terms.uniques,
        ..Measures::default()
    };
    for i in 0..2 {
        out.z[i] = ratio(terms.b[i], terms.v[i]);
        let spread = terms.b_squared[i] - terms.b[i] * terms.b[i] / n_table;
        // A sum of squares that rounding alone makes positive is none.
        let real = spread > 1e-13 * terms.b_squared[i];
        out.z_robust[i] = if n_table > 1.0 && real {
            ratio(terms.b[i], spread / (n_table - 1.0) * n_table)
        } else {
            None
        };
    }
    Ok(out)
}

/// `tau1` and `tau2`: the sums over sample uniques.
pub fn taus(sample: &Sample, expected: &Expected) -> [f64; 2] {
    let mut tau = [0.0; 2];
    if let Some(uniques) = &expected.uniques {
        uniques.for_each_node(|weight, lambda| {
            let q = (1.0 - sample.pi) * lambda;
            tau[0] += weight * h1(q);
            tau[1] += weight * h2(q);
        });
        return tau;
    }
    for &cell in &sample.uniques {
        let q = expected.rest(cell);
        tau[0] += h1(q);
        tau[1] += h2(q);
    }
    tau
}
