//! Distances of values from those of the same person, learned without true links.

use super::Points;
use crate::error::Result;
use crate::memory::{collected, room_of};
use crate::parallel::{try_map_with, Monitor};

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
    let columns = (0..d).map(|v| {
        let column = known.values.iter().copied().skip(v).step_by(d);
        collected(column, known.len())
    });
    let columns: Vec<Vec<f64>> = columns.collect::<Result<_>>()?;
    monitor.set_total(steps as u64);
    for _ in 0..steps {
        let parts = try_map_with(0..released.len(), monitor, Vec::new, |costs, row| {
            costs_of(&columns, released.row(row), &scales, costs)?;
            Ok(expected(known, released.row(row), costs))
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

/// Costs of each known record, variable by variable.
fn costs_of(
    columns: &[Vec<f64>],
    query: &[f64],
    scales: &[f64],
    costs: &mut Vec<f64>,
) -> Result<()> {
    let n = columns.first().map_or(0, Vec::len);
    room_of(costs, n)?;
    costs.resize(n, 0.0);
    // In parts that stay in the fastest memory.
    for (part, costs) in costs.chunks_mut(1024).enumerate() {
        for (column, (y, scale)) in columns.iter().zip(query.iter().zip(scales)) {
            let factor = 0.5 / (scale * scale);
            let values = &column[part * 1024..][..costs.len()];
            for (row, cost) in costs.iter_mut().enumerate() {
                let square = (values[row] - y) * (values[row] - y) * factor;
                // An unrelated value costs what it does on average.
                *cost += if square.is_nan() { factor } else { square };
            }
        }
    }
    Ok(())
}

/// The expected squares of the changes of one record, and the weight of those that are known.
fn expected(known: &Points, query: &[f64], costs: &[f64]) -> Vec<(f64, f64)> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let mut sums = vec![(0.0, 0.0); query.len()];
    let mut total = 0.0;
    for (row, cost) in costs.iter().enumerate() {
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
