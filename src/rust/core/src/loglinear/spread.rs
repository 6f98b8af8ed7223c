//! Standard error of an estimated risk, and the estimate corrected for bias.
//!
//! Given the sample, the true `tau1` and `tau2` depend on the unseen rest of
//! the population; the estimate depends on the sample through the fit. Both
//! variances follow by the delta method:
//! `sum V(I(F = 1))` or `sum V(1 / F)` over sample uniques, and
//! `c' H^-1 c - c0^2 / n` for the fit to the unweighted counts, where `H` is the
//! information matrix, `c` the derivative of the estimate by the parameters of
//! the model and `c0` that by the total. Raking adds the same form of the main
//! effects times `deff - 1`, `deff` being the effect of weights that differ
//! within cells.
//!
//! The criterion `B` estimates the bias, with variance `V`. What is taken away
//! is `w B`, `w = z^2 / (1 + z^2)`, `z = B / sqrt(V)`: much where the bias is
//! beyond doubt, little where `B` is noise; before that, what chance in the
//! raked weights adds. Neither the bias nor its spread is
//! taken for larger than the estimate and its standard error.

use super::fitted::{Expected, Fitted, Sample};
use super::measures::{h1, h1_curvature, h1_slope, h2, h2_curvature, h2_slope, v1, v2};
use super::optimise::{inverse_form, Margins};
use super::raking::{one_way, weighting_effect, OneWay};
use super::risk::{taus, Measures};
use crate::error::Result;
use crate::parallel::Monitor;

/// Below this many expected persons the root no longer makes the spread even.
const LEAST: f64 = 0.01;

/// `tau1` and `tau2` with their bias taken away.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Standard errors of the estimates, their bias not counted.
    pub se: [f64; 2],
    /// The corrected estimates.
    pub corrected: [f64; 2],
    /// Their standard errors.
    pub corrected_se: [f64; 2],
    /// Lower ends of their intervals.
    pub low: [f64; 2],
    /// Upper ends.
    pub high: [f64; 2],
    /// The criterion over the root of its variance, by which was corrected.
    pub z: [Option<f64>; 2],
}

/// A corrected estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// The estimate.
    pub tau: f64,
    /// Its standard error.
    pub se: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Takes the bias `b` with variance `v` from `tau`, whose standard error is
/// `se`; `top` is the number of sample uniques, `normal` the quantile for the
/// interval.
pub fn correct(tau: f64, b: f64, v: f64, se: f64, top: f64, normal: f64) -> Corrected {
    let weight = if v > 0.0 { b * b / (b * b + v) } else { 0.0 };
    // If cells expect few records, B is noise of any size.
    let most = (tau + se).max(0.0);
    let plain = tau;
    let tau = (plain - (weight * b).clamp(-most, most)).clamp(0.0, top);
    let most = plain.max(tau) + se;
    let se = (se * se + v.min(most * most)).sqrt();
    // On the scale of the root: (r -+ x)^2 with r^2 = tau and 2 r x = reach.
    let reach = normal * se;
    let root = tau.max(LEAST).sqrt();
    let step = reach / (2.0 * root);
    let low = if step < root {
        (tau - reach + step * step).max(0.0)
    } else {
        0.0
    };
    Corrected {
        tau,
        se,
        low: low.min(tau),
        high: (tau + reach + step * step).min(top),
    }
}

/// The corrected estimates of a fit and their spread.
pub fn spread(
    fitted: &Fitted,
    sample: &Sample,
    expected: &Expected,
    measures: &Measures,
    normal: f64,
    monitor: &Monitor,
) -> Result<Spread> {
    let tau = taus(sample, expected);
    let uniques = sample.cells.uniques();
    let mut out = Spread {
        z: measures.z,
        corrected: tau,
        low: tau,
        high: tau,
        ..Spread::default()
    };
    // A census, or no sample unique.
    if uniques.iter().all(|&cell| expected.rest(cell) <= 0.0) {
        return Ok(out);
    }
    out.se = standard_errors(fitted, sample, expected, &uniques, monitor)?;
    let by_weights = bias_of_effects(fitted, sample, expected, &uniques);
    let top = uniques.len() as f64;
    let mut ends = [0, 1].map(|i| {
        correct(
            tau[i] - by_weights[i],
            measures.b[i],
            measures.v[i],
            out.se[i],
            top,
            normal,
        )
    });
    // The estimand is discrete: one person more or less is 1 in tau1, and up to a half in tau2.
    for (i, step) in [0.5f64, 0.25].into_iter().enumerate() {
        let step = step.min(2.0 * out.se[i]);
        ends[i].low = (ends[i].low - step).max(0.0);
        ends[i].high = (ends[i].high + step).min(top);
    }
    // No more people are certain matches than are matches.
    ends[0].tau = ends[0].tau.min(ends[1].tau);
    ends[0].low = ends[0].low.min(ends[0].tau);
    for (i, end) in ends.iter().enumerate() {
        out.corrected[i] = end.tau;
        out.corrected_se[i] = end.se;
        out.low[i] = end.low;
        out.high[i] = end.high;
    }
    Ok(out)
}

fn standard_errors(
    fitted: &Fitted,
    sample: &Sample,
    expected: &Expected,
    uniques: &[usize],
    monitor: &Monitor,
) -> Result<[f64; 2]> {
    let cells = sample.cells;
    let slopes: [fn(f64) -> f64; 2] = [h1_slope, h2_slope];
    let variances: [fn(f64) -> f64; 2] = [v1, v2];
    let is_unique: Vec<bool> = cells.counts().iter().map(|&f| f < 1.5).collect();
    let effect = weighting_effect(cells, fitted);
    let mut se = [0.0; 2];
    fitted.with_pass(|pass| {
        let margins = pass.margins(&fitted.u, monitor)?;
        for i in 0..2 {
            let slope = |cell: usize| {
                if is_unique[cell] {
                    slopes[i](expected.rest(cell))
                } else {
                    0.0
                }
            };
            let c = fitted.model.margins(cells, slope);
            let form = inverse_form(pass, &margins, &fitted.u, &c, monitor)?;
            let total: f64 = uniques.iter().map(|&cell| slope(cell)).sum();
            let of_fit = (form - total * total / cells.n_records()).max(0.0);
            let of_weights = (effect - 1.0)
                * of_effects(fitted, sample, pass, monitor, |cell| {
                    // q = mu (factor - 1) grows with the factor as lambda does.
                    slope(cell) / (1.0 - expected.pi[cell]).max(1e-12)
                })?;
            let rest = uniques
                .iter()
                .map(|&cell| variances[i](expected.rest(cell)));
            se[i] = (of_fit + of_weights + rest.sum::<f64>()).sqrt();
        }
        Ok(())
    })?;
    Ok(se)
}

/// Bias by raking to the weights of few records: the risks curve upwards, so that chance in
/// `lambda` raises their mean by half its variance times their second derivative. The variance is
/// that of margins that are independent.
fn bias_of_effects(
    fitted: &Fitted,
    sample: &Sample,
    expected: &Expected,
    uniques: &[usize],
) -> [f64; 2] {
    let cells = sample.cells;
    let effect = weighting_effect(cells, fitted) - 1.0;
    let mut bias = [0.0; 2];
    if effect <= 0.0 {
        return bias;
    }
    let inverse: Vec<Vec<f64>> = one_way(cells, |cell| cells.counts()[cell])
        .into_iter()
        .map(|counts| counts.into_iter().map(|n| 1.0 / n).collect())
        .collect();
    let total = (cells.sizes().len() as f64 - 1.0) / cells.n_records();
    for &cell in uniques {
        let codes = cells.codes(cell).iter();
        let shares = inverse.iter().zip(codes).map(|(of, &c)| of[c as usize]);
        let variance = effect * (shares.sum::<f64>() - total).max(0.0);
        let q = expected.rest(cell);
        let half = 0.5 * variance * expected.lambda[cell].powi(2);
        // No more than half the risk is laid to chance.
        bias[0] += (half * h1_curvature(q)).min(0.5 * h1(q));
        bias[1] += (half * h2_curvature(q)).min(0.5 * h2(q));
    }
    bias
}

/// The variance that raking to margins of equally weighted records has.
fn of_effects(
    fitted: &Fitted,
    sample: &Sample,
    pass: &dyn Margins,
    monitor: &Monitor,
    slope: impl Fn(usize) -> f64,
) -> Result<f64> {
    let Some(effects) = &fitted.effects else {
        return Ok(0.0);
    };
    let raked = OneWay::new(&fitted.model, &fitted.u, pass);
    let at = effects.concat();
    let margins = raked.margins(&at, monitor)?;
    let c = one_way(sample.cells, slope);
    let total: f64 = c.first().map_or(0.0, |c| c.iter().sum());
    let form = inverse_form(&raked, &margins, &at, &c.concat(), monitor)?;
    Ok((form - total * total / sample.cells.n_records()).max(0.0))
}
