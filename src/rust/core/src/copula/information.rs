//! Mutual information: of a two-way table, expected by chance, and of the table
//! that a bivariate normal cuts into rectangles. All in natural logarithms.
//!
//! # Expected by chance
//!
//! With margins a_i and b_j of n records fixed, a cell count is hypergeometric,
//! and
//! `E[I] = sum_ij E[(k / n) ln(n k / (a_i b_j))], k ~ Hyp(n, a_i, b_j)`
//! (Vinh, Epps and Bailey 2010). Cells with equal margins share a term. Where a
//! count spreads widely, its sum is taken over a lattice of half standard
//! deviations: on a smooth bell-shaped summand that is exact to rounding.

use ndarray::{Array2, ArrayView1};
use statrs::function::gamma::ln_gamma;

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Column};
use crate::normal;
use crate::parallel::{self, Monitor, ROWS_PER_CHECK};

use super::margins::n_categories;

/// Cells that all two-way tables together may have.
pub const MOST_CELLS: usize = 30_000_000;

/// A two-way table: the first key has the rows, the second the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTable {
    /// Records, or their weights, per cell.
    pub cells: Array2<f64>,
}

impl PairTable {
    /// Sums of the rows.
    pub fn row_sums(&self) -> Vec<f64> {
        let rows = self.cells.rows().into_iter();
        rows.map(|row| row.iter().sum()).collect()
    }

    /// Sums of the columns.
    pub fn column_sums(&self) -> Vec<f64> {
        let columns = self.cells.columns().into_iter();
        columns.map(|column| column.iter().sum()).collect()
    }

    /// Mutual information of the shares.
    pub fn information(&self) -> f64 {
        let (rows, columns) = (self.row_sums(), self.column_sums());
        let total: f64 = rows.iter().sum();
        let of_row = |(row, a): (ArrayView1<'_, f64>, &f64)| {
            row.iter()
                .zip(&columns)
                .filter(|(&cell, _)| cell > 0.0)
                .map(|(cell, b)| cell * (cell * total / (a * b)).ln())
                .sum::<f64>()
        };
        let sum: f64 = self.cells.rows().into_iter().zip(&rows).map(of_row).sum();
        (sum / total).max(0.0)
    }
}

/// Pairs of `d` keys in the order (0, 1), (0, 2), ..., (1, 2), ...
pub fn pairs(d: usize) -> Vec<(usize, usize)> {
    (0..d)
        .flat_map(|i| (i + 1..d).map(move |j| (i, j)))
        .collect()
}

/// The two-way tables of all pairs of columns.
pub fn pair_tables(
    columns: &[Column],
    weights: Option<&[f64]>,
    monitor: &Monitor,
) -> Result<Vec<PairTable>> {
    let sizes: Vec<usize> = columns.iter().map(n_categories).collect();
    let all = pairs(columns.len());
    let needed: u128 = all
        .iter()
        .map(|&(i, j)| sizes[i] as u128 * sizes[j] as u128)
        .sum();
    if needed > MOST_CELLS as u128 {
        return Err(Error::too_large(
            &format!("The two-way tables of the key variables may have {MOST_CELLS} cells."),
            &format!("They have {needed}."),
            "Leave out or recode key variables with very many values.",
        ));
    }
    parallel::try_map(all, monitor, |(i, j)| {
        let table = pair_table(&columns[i], &columns[j], weights, monitor);
        monitor.advance(1);
        table
    })
}

fn pair_table(
    first: &Column,
    second: &Column,
    weights: Option<&[f64]>,
    monitor: &Monitor,
) -> Result<PairTable> {
    // Counted by code, where missing is 0, then put last.
    let stride = second.n_values() as usize + 1;
    let n_codes = (first.n_values() as usize + 1) * stride;
    let by_code = with_codes!(first.codes(), |x| with_codes!(second.codes(), |y| {
        match weights {
            None => counted(x, y, stride, n_codes, monitor)?,
            Some(weights) => weighed(x, y, weights, stride, n_codes, monitor)?,
        }
    }));
    let (n_rows, n_columns) = (n_categories(first), n_categories(second));
    let code = |category: usize, column: &Column| match column.n_values() as usize {
        n_values if category < n_values => category + 1,
        _ => 0,
    };
    let cells = Array2::from_shape_fn((n_rows, n_columns), |(row, column)| {
        by_code[code(row, first) * stride + code(column, second)]
    });
    Ok(PairTable { cells })
}

fn counted<A: Code, B: Code>(
    x: &[A],
    y: &[B],
    stride: usize,
    n_codes: usize,
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let mut counts = vec![0u32; n_codes];
    for (x, y) in x.chunks(ROWS_PER_CHECK).zip(y.chunks(ROWS_PER_CHECK)) {
        monitor.check()?;
        for (a, b) in x.iter().zip(y) {
            counts[a.index() * stride + b.index()] += 1;
        }
    }
    Ok(counts.into_iter().map(f64::from).collect())
}

fn weighed<A: Code, B: Code>(
    x: &[A],
    y: &[B],
    weights: &[f64],
    stride: usize,
    n_codes: usize,
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; n_codes];
    let chunks = x.chunks(ROWS_PER_CHECK).zip(y.chunks(ROWS_PER_CHECK));
    for ((x, y), weights) in chunks.zip(weights.chunks(ROWS_PER_CHECK)) {
        monitor.check()?;
        for ((a, b), w) in x.iter().zip(y).zip(weights) {
            sums[a.index() * stride + b.index()] += w;
        }
    }
    Ok(sums)
}

/// Expected mutual information of two keys with these margins, independent of
/// each other.
pub fn expected_information(rows: &[u64], columns: &[u64]) -> f64 {
    let n: u64 = rows.iter().sum();
    let (rows, columns) = (multiplicities(rows), multiplicities(columns));
    rows.iter()
        .map(|&(a, times_a)| {
            columns
                .iter()
                .map(|&(b, times_b)| times_b * expected_cell(n, a, b))
                .sum::<f64>()
                * times_a
        })
        .sum::<f64>()
        .max(0.0)
}

/// Distinct positive values with the number of times each occurs.
fn multiplicities(values: &[u64]) -> Vec<(u64, f64)> {
    let mut sorted: Vec<u64> = values.iter().copied().filter(|&v| v > 0).collect();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len() as f64))
        .collect()
}

/// One cell's share of the expected information.
fn expected_cell(n: u64, a: u64, b: u64) -> f64 {
    let (nf, af, bf) = (n as f64, a as f64, b as f64);
    let ln_expected = (nf / af).ln() - bf.ln();
    let low = (a + b).saturating_sub(n);
    let high = a.min(b);
    let term = |k: f64| {
        if k > 0.0 {
            k / nf * (k.ln() + ln_expected)
        } else {
            0.0
        }
    };
    if low == high {
        return term(low as f64);
    }
    let mean = af * bf / nf;
    let variance = mean * (1.0 - af / nf) * (1.0 - bf / nf) * nf / (nf - 1.0);
    if variance > 256.0 {
        return lattice_mean(n, a, b, mean, variance.sqrt(), term);
    }
    // From the mode both ways by the ratio of neighbouring probabilities.
    let mode = (((af + 1.0) * (bf + 1.0) / (nf + 2.0)) as u64).clamp(low, high);
    let up =
        |k: u64| (a - k) as f64 * (b - k) as f64 / ((k + 1) as f64 * ((n + k + 1) - a - b) as f64);
    let (mut mass, mut sum) = (1.0, term(mode as f64));
    let mut p = 1.0;
    for k in mode..high {
        p *= up(k);
        mass += p;
        sum += p * term((k + 1) as f64);
        if p < 1e-18 {
            break;
        }
    }
    p = 1.0;
    for k in (low..mode).rev() {
        p /= up(k);
        mass += p;
        sum += p * term(k as f64);
        if p < 1e-18 {
            break;
        }
    }
    sum / mass
}

/// The mean of `term` over a lattice of half standard deviations.
fn lattice_mean(n: u64, a: u64, b: u64, mean: f64, sd: f64, term: impl Fn(f64) -> f64) -> f64 {
    let step = (0.5 * sd).floor();
    let centre = mean.round();
    let ln_weight = |k: f64| {
        let rest = (n as f64) - (a as f64) - (b as f64) + k;
        -(ln_gamma(k + 1.0)
            + ln_gamma(a as f64 - k + 1.0)
            + ln_gamma(b as f64 - k + 1.0)
            + ln_gamma(rest + 1.0))
    };
    let peak = ln_weight(centre);
    let (mut mass, mut sum) = (0.0, 0.0);
    for i in -20..=20 {
        let k = centre + step * f64::from(i);
        let weight = (ln_weight(k) - peak).exp();
        mass += weight;
        sum += weight * term(k);
    }
    sum / mass
}

/// Bivariate normal rectangles over two margins in their latent orders.
#[derive(Debug, Clone)]
pub struct PairInformation {
    row_shares: Vec<f64>,
    column_shares: Vec<f64>,
    /// Thresholds between categories, and the cumulative shares at them.
    row_cuts: Vec<(f64, f64)>,
    column_cuts: Vec<(f64, f64)>,
}

impl PairInformation {
    /// The rectangles of two margins given in latent order.
    pub fn new(row_shares: Vec<f64>, column_shares: Vec<f64>) -> Self {
        Self {
            row_cuts: cuts(&row_shares),
            column_cuts: cuts(&column_shares),
            row_shares,
            column_shares,
        }
    }

    /// Mutual information of the table at correlation `rho`.
    pub fn information(&self, rho: f64) -> f64 {
        let n_columns = self.column_shares.len();
        let surface = normal::Bivariate::new(rho);
        // Distribution function along the last and the present threshold.
        let mut below = vec![0.0; n_columns];
        let mut here = vec![0.0; n_columns];
        let mut information = 0.0;
        for (row, a) in self.row_shares.iter().enumerate() {
            if let Some(&(h, p)) = self.row_cuts.get(row) {
                for (slot, &(k, q)) in here.iter_mut().zip(&self.column_cuts) {
                    *slot = surface.cdf(h, p, k, q);
                }
                here[n_columns - 1] = p;
            } else {
                for (slot, &(_, q)) in here.iter_mut().zip(&self.column_cuts) {
                    *slot = q;
                }
                here[n_columns - 1] = 1.0;
            }
            let mut left = 0.0;
            for ((b, now), before) in self.column_shares.iter().zip(&here).zip(&below) {
                let strip = now - before;
                let cell = strip - left;
                left = strip;
                // A cell below rounding adds nothing.
                if cell > 1e-15 {
                    information += cell * (cell / (a * b)).ln();
                }
            }
            std::mem::swap(&mut below, &mut here);
        }
        information.max(0.0)
    }
}

/// Inner thresholds with the cumulative share at each.
pub fn cuts(shares: &[f64]) -> Vec<(f64, f64)> {
    let mut cumulative = 0.0;
    shares
        .split_last()
        .map_or(&[][..], |(_, inner)| inner)
        .iter()
        .map(|share| {
            cumulative += share;
            let p = f64::min(cumulative, 1.0);
            (normal::quantile(p), p)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table with these margins, with its probability.
    fn enumerate(rows: &[u64], columns: &[u64]) -> f64 {
        // Places the records of the first key in order over all arrangements
        // of the second one.
        let labels = |margin: &[u64]| -> Vec<usize> {
            (0..margin.len())
                .flat_map(|i| std::iter::repeat_n(i, margin[i] as usize))
                .collect()
        };
        let x = labels(rows);
        let mut y = labels(columns);
        let (mut sum, mut times) = (0.0, 0.0);
        permute(&mut y, 0, &mut |y| {
            let mut cells = Array2::zeros((rows.len(), columns.len()));
            for (&a, &b) in x.iter().zip(y) {
                cells[[a, b]] += 1.0;
            }
            sum += PairTable { cells }.information();
            times += 1.0;
        });
        sum / times
    }

    fn permute(y: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
        if from == y.len() {
            visit(y);
            return;
        }
        for i in from..y.len() {
            y.swap(from, i);
            permute(y, from + 1, visit);
            y.swap(from, i);
        }
    }

    #[test]
    fn expected_information_equals_the_mean_over_all_permutations() {
        for (rows, columns) in [
            (vec![3, 4], vec![5, 2]),
            (vec![1, 2, 4], vec![3, 3, 1]),
            (vec![8], vec![4, 4]),
            (vec![1; 7], vec![3, 4]),
            (vec![2, 2, 3], vec![1, 1, 5]),
        ] {
            let exact = enumerate(&rows, &columns);
            assert!((expected_information(&rows, &columns) - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn the_lattice_equals_the_full_sum() {
        for (n, a, b) in [
            (10_000, 3_000, 2_500),
            (100_000, 50_000, 700),
            (4_000, 2_000, 3_000),
        ] {
            let (nf, af, bf) = (n as f64, a as f64, b as f64);
            let ln_fact = |k: u64| ln_gamma(k as f64 + 1.0);
            let low = (a + b as u64).saturating_sub(n);
            let (mut mass, mut sum) = (0.0, 0.0);
            let peak = |k: u64| {
                -(ln_fact(k)
                    + ln_fact(a - k)
                    + ln_fact(b as u64 - k)
                    + ln_fact(n + k - a - b as u64))
            };
            let mode = (af * bf / nf) as u64;
            for k in low..=a.min(b as u64) {
                let p = (peak(k) - peak(mode)).exp();
                mass += p;
                if k > 0 {
                    let k = k as f64;
                    sum += p * k / nf * (nf * k / (af * bf)).ln();
                }
            }
            let full = sum / mass;
            let fast = expected_cell(n, a, b as u64);
            assert!((fast / full - 1.0).abs() < 1e-7, "{fast} {full}");
        }
    }

    #[test]
    fn information_of_rectangles_rises_with_correlation_and_is_nil_without() {
        let table = PairInformation::new(vec![0.2, 0.5, 0.3], vec![0.1, 0.4, 0.1, 0.4]);
        assert!(table.information(0.0) < 1e-14);
        for sign in [-1.0, 1.0] {
            let mut last = 0.0;
            for step in 1..100 {
                let now = table.information(sign * f64::from(step) / 100.0);
                assert!(now > last);
                last = now;
            }
        }
        // Two halves: the cell probability is 1/4 + asin(rho) / (2 pi).
        let halves = PairInformation::new(vec![0.5; 2], vec![0.5; 2]);
        let p = 0.25 + 0.6_f64.asin() / (2.0 * std::f64::consts::PI);
        let exact = 2.0 * (p * (4.0 * p).ln() + (0.5 - p) * (4.0 * (0.5 - p)).ln());
        assert!((halves.information(0.6) - exact).abs() < 1e-14);
    }
}
