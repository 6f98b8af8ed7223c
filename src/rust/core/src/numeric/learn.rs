//! How far a value is from that of the same person, learned without knowing who is who.

use super::Points;
use crate::error::Result;
use crate::parallel::{try_map, Monitor};

/// Per variable the standard deviation of the change of a value, which maximises the likelihood
/// of the released records: each has one partner, all known records being equally likely, and
/// normal changes (expectation and maximisation, `steps` times from `scales`). Missing values say
/// nothing. No scale falls below `least`.
pub fn learn_scales(
    known: &Points,
    released: &Points,
    scales: &[f64],
    least: f64,
    steps: usize,
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let d = known.n_dims;
    let mut scales = scales.to_vec();
    monitor.set_total(steps as u64);
    for _ in 0..steps {
        let parts = try_map(0..released.len(), monitor, |row| {
            Ok(expected(known, released.row(row), &scales))
        })?;
        let mut sums = vec![(0.0, 0.0); d];
        for part in parts {
            for (sum, (squares, weight)) in sums.iter_mut().zip(part) {
                sum.0 += squares;
                sum.1 += weight;
            }
        }
        let mut moved: f64 = 0.0;
        for (scale, (squares, weight)) in scales.iter_mut().zip(sums) {
            if weight > 0.0 {
                let new = (squares / weight).sqrt().max(least);
                moved = moved.max((new / *scale).ln().abs());
                *scale = new;
            }
        }
        monitor.advance(1);
        if moved < 1e-3 {
            break;
        }
    }
    Ok(scales)
}

/// The expected squares of the changes of one record, and the weight of those that are known.
fn expected(known: &Points, query: &[f64], scales: &[f64]) -> Vec<(f64, f64)> {
    let d = scales.len();
    let n = known.len();
    let factors: Vec<f64> = scales.iter().map(|s| 0.5 / (s * s)).collect();
    let mut costs = Vec::with_capacity(n);
    let mut least = f64::INFINITY;
    for row in 0..n {
        let terms = known.row(row).iter().zip(query).zip(&factors);
        let cost = terms.fold(0.0, |sum, ((x, y), factor)| {
            let square = (x - y) * (x - y) * factor;
            // An unrelated value costs what it does on average.
            sum + if square.is_nan() { *factor } else { square }
        });
        least = least.min(cost);
        costs.push(cost);
    }
    let mut sums = vec![(0.0, 0.0); d];
    let mut total = 0.0;
    for (row, cost) in costs.into_iter().enumerate() {
        let beyond = cost - least;
        if beyond > 40.0 {
            continue;
        }
        let weight = (-beyond).exp();
        total += weight;
        for ((sum, x), y) in sums.iter_mut().zip(known.row(row)).zip(query) {
            let square = (x - y) * (x - y);
            if !square.is_nan() {
                sum.0 += weight * square;
                sum.1 += weight;
            }
        }
    }
    for sum in &mut sums {
        sum.0 /= total;
        sum.1 /= total;
    }
    sums
}
