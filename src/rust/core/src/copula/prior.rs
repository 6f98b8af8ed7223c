//! Number of records that the prior of independence counts for in a pair.

use statrs::function::gamma::ln_gamma;

use super::information::PairTable;
use super::tree::Edge;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// The edges between these keys, each with the prior of its table.
pub fn edges_with_priors(
    keys: &[(usize, usize)],
    tables: &[PairTable],
    scale: f64,
    monitor: &Monitor,
) -> Result<Vec<Edge>> {
    parallel::try_map(keys.iter().zip(tables), monitor, |(&keys, table)| {
        let prior = prior_records(table, scale);
        Ok(Edge { keys, prior })
    })
}

/// The number of prior records under which the Dirichlet-multinomial likelihood
/// of `table` is largest. `scale` makes records of weights.
pub fn prior_records(table: &PairTable, scale: f64) -> f64 {
    let (rows, columns) = (table.row_sums(), table.column_sums());
    let total: f64 = rows.iter().sum();
    let n = total * scale;
    let cells: Vec<(f64, f64)> = table
        .cells
        .indexed_iter()
        .filter(|(_, &cell)| cell > 0.0)
        .map(|((i, j), &cell)| (cell * scale, rows[i] * columns[j] / (total * total)))
        .collect();
    let likelihood = |ln_prior: f64| {
        let prior = ln_prior.exp();
        let cells: f64 = cells
            .iter()
            .map(|&(count, share)| ln_rising(prior * share, count))
            .sum();
        cells - ln_rising(prior, n)
    };
    maximum(likelihood, -2.0, (n.max(1.0) * 1e4).ln()).exp()
}

/// ln(Gamma(x + k) / Gamma(x)).
fn ln_rising(x: f64, k: f64) -> f64 {
    if k <= 8.0 && k.fract() <= 0.0 {
        let mut product = 1.0;
        let mut factor = x;
        for _ in 0..k as usize {
            product *= factor;
            factor += 1.0;
        }
        product.ln()
    } else {
        ln_gamma(x + k) - ln_gamma(x)
    }
}

/// Argument between `low` and `high` at which `of` is largest, to 0.02: the best of a grid, then
/// golden sections around it.
fn maximum(of: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const GRID: usize = 12;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let step = (high - low) / (GRID - 1) as f64;
    let at = |i: usize| low + step * i as f64;
    let mut best = (f64::NEG_INFINITY, 0);
    for i in 0..GRID {
        let value = of(at(i));
        if value > best.0 {
            best = (value, i);
        }
    }
    let (mut a, mut b) = (at(best.1.saturating_sub(1)), at((best.1 + 1).min(GRID - 1)));
    let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut fx, mut fy) = (of(x), of(y));
    while b - a > 0.02 {
        if fx >= fy {
            b = y;
            (y, fy) = (x, fx);
            x = b - GOLDEN * (b - a);
            fx = of(x);
        } else {
            a = x;
            (x, fx) = (y, fy);
            y = a + GOLDEN * (b - a);
            fy = of(y);
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn table(n_rows: usize, cells: &[f64]) -> PairTable {
        let shape = (n_rows, cells.len() / n_rows);
        PairTable {
            cells: Array2::from_shape_vec(shape, cells.to_vec()).unwrap(),
        }
    }

    #[test]
    fn the_prior_is_the_maximum_of_the_likelihood() {
        let table = table(3, &[9.0, 2.0, 0.0, 1.0, 7.0, 3.0, 0.0, 4.0, 12.0]);
        let (rows, columns) = (table.row_sums(), table.column_sums());
        let n: f64 = rows.iter().sum();
        let likelihood = |c: f64| {
            let mut sum = ln_gamma(c) - ln_gamma(n + c);
            for (i, a) in rows.iter().enumerate() {
                for (j, b) in columns.iter().enumerate() {
                    let q = c * a * b / (n * n);
                    sum += ln_gamma(table.cells[[i, j]] + q) - ln_gamma(q);
                }
            }
            sum
        };
        let found = prior_records(&table, 1.0);
        for factor in [0.9, 1.1] {
            assert!(likelihood(found) > likelihood(found * factor));
        }
        // Weights of two and a scale of a half are the same records.
        let doubled = PairTable {
            cells: 2.0 * &table.cells,
        };
        assert!((prior_records(&doubled, 0.5) / found - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_independent_table_is_drawn_to_independence() {
        let table = table(2, &[400.0, 600.0, 40.0, 60.0]);
        assert!(prior_records(&table, 1.0) > 1e6);
    }
}
