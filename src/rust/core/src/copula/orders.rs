//! The latent order of the categories of every key.
//!
//! Ordinal keys keep the order of their values. For nominal keys the order is
//! free, and mutual information matched under a good order describes more of
//! the dependence. Optimal scaling: with normal scores s of the other keys, let
//! row c of M hold the mean scores of the records in category c, shrunk by
//! five pseudo-records; with v the leading right singular vector of
//! `diag(sqrt(n_c / n)) M`, categories are ordered by `M v`. Keys take turns,
//! four times.

use ndarray::Axis;
use rand::seq::SliceRandom;

use super::information::PairTable;
use super::margins::by_frequency;
use crate::normal;
use crate::random::{Seed, Streams};

const PASSES: usize = 4;
const PSEUDO_RECORDS: f64 = 5.0;
const POWER_STEPS: usize = 1000;

/// Order of the categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nominal keys by optimal scaling.
    Scaling,
    /// All keys in the order of their values.
    Natural,
    /// Nominal keys at random.
    Random(Seed),
    /// All keys by falling frequency.
    Frequency,
}

/// Per key the place of every category. `natural` are the places by value;
/// categories beyond those of the tables (unseen ones) come last in a nominal
/// key. `scale` makes records of the weights in `tables`.
pub fn orders(
    kind: Order,
    tables: &[PairTable],
    shares: &[Vec<f64>],
    natural: &[Vec<u32>],
    nominal: &[bool],
    scale: f64,
) -> Vec<Vec<u32>> {
    let mut places = natural.to_vec();
    match kind {
        Order::Natural => {}
        Order::Frequency => {
            for (place, share) in places.iter_mut().zip(shares) {
                *place = inverse(&by_frequency(share));
            }
        }
        Order::Random(seed) => {
            for (j, place) in places.iter_mut().enumerate().filter(|(j, _)| nominal[*j]) {
                place.shuffle(&mut Streams::new(seed).block(j as u64));
            }
        }
        Order::Scaling => scale_nominal(&mut places, tables, shares, nominal, scale),
    }
    places
}

/// The inverse of a permutation.
pub fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (&at, place) in order.iter().zip(0..) {
        places[at as usize] = place;
    }
    places
}

/// Values in latent order.
pub fn in_order(values: &[f64], places: &[u32]) -> Vec<f64> {
    let mut sorted = vec![0.0; values.len()];
    for (&value, &place) in values.iter().zip(places) {
        sorted[place as usize] = value;
    }
    sorted
}

/// Per category the mean of a normal variable over its interval.
pub fn normal_scores(shares: &[f64], places: &[u32]) -> Vec<f64> {
    let mut cumulative = 0.0;
    let mut below = (f64::NEG_INFINITY, 0.0);
    let sorted: Vec<f64> = in_order(shares, places)
        .into_iter()
        .map(|share| {
            cumulative += share;
            let cut = normal::quantile(f64::min(cumulative, 1.0));
            let here = (cut, normal::density(cut));
            let score = if share > 0.0 {
                (below.1 - here.1) / share
            } else if cut.is_finite() {
                cut
            } else {
                0.0
            };
            below = here;
            score
        })
        .collect();
    places.iter().map(|&place| sorted[place as usize]).collect()
}

/// The two-way table of keys `j` and `i`, and whether `j` is its row key.
pub fn table_of(tables: &[PairTable], d: usize, j: usize, i: usize) -> (&PairTable, bool) {
    let (first, second) = (j.min(i), j.max(i));
    let before = first * (2 * d - first - 1) / 2;
    (&tables[before + second - first - 1], j < i)
}

fn scale_nominal(
    places: &mut [Vec<u32>],
    tables: &[PairTable],
    shares: &[Vec<f64>],
    nominal: &[bool],
    scale: f64,
) {
    let d = places.len();
    if d < 2 {
        return;
    }
    let mut scores: Vec<Vec<f64>> = (0..d)
        .map(|j| normal_scores(&shares[j], &places[j]))
        .collect();
    for _ in 0..PASSES {
        for j in (0..d).filter(|&j| nominal[j]) {
            let means = category_means(tables, d, j, &scores, scale);
            let direction = leading_direction(&means.mean, &means.weight);
            let value: Vec<f64> = means.mean.iter().map(|row| dot(row, &direction)).collect();
            let mut order: Vec<u32> = (0..value.len() as u32).collect();
            order.sort_by(|&a, &b| value[a as usize].total_cmp(&value[b as usize]));
            order.extend(value.len() as u32..shares[j].len() as u32);
            places[j] = inverse(&order);
            scores[j] = normal_scores(&shares[j], &places[j]);
        }
    }
}

struct CategoryMeans {
    /// Per category the shrunken mean score of every other key.
    mean: Vec<Vec<f64>>,
    /// Share of the records.
    weight: Vec<f64>,
}

fn category_means(
    tables: &[PairTable],
    d: usize,
    j: usize,
    scores: &[Vec<f64>],
    scale: f64,
) -> CategoryMeans {
    let mut mean: Vec<Vec<f64>> = Vec::new();
    let mut counts: Vec<f64> = Vec::new();
    for i in (0..d).filter(|&i| i != j) {
        let (table, by_row) = table_of(tables, d, j, i);
        let sums = |c: usize| -> (f64, f64) {
            let cell = |k: usize| {
                if by_row {
                    table.cells[[c, k]]
                } else {
                    table.cells[[k, c]]
                }
            };
            let width = table.cells.len_of(Axis(usize::from(by_row)));
            (0..width).fold((0.0, 0.0), |(n, sum), k| {
                let cell = scale * cell(k);
                (n + cell, sum + cell * scores[i][k])
            })
        };
        let n_categories = table.cells.len_of(Axis(usize::from(!by_row)));
        if counts.is_empty() {
            mean = vec![Vec::with_capacity(d - 1); n_categories];
            counts = (0..n_categories).map(|c| sums(c).0).collect();
        }
        for (c, row) in mean.iter_mut().enumerate() {
            let (n, sum) = sums(c);
            row.push(sum / (n + PSEUDO_RECORDS));
        }
    }
    let total: f64 = counts.iter().sum();
    CategoryMeans {
        mean,
        weight: counts.iter().map(|n| n / total).collect(),
    }
}

/// The leading eigenvector of `M' W M` by the power method, its largest
/// component positive.
fn leading_direction(mean: &[Vec<f64>], weight: &[f64]) -> Vec<f64> {
    let m = mean.first().map_or(0, Vec::len);
    let mut matrix = vec![vec![0.0; m]; m];
    for (row, w) in mean.iter().zip(weight) {
        for (a, line) in row.iter().zip(&mut matrix) {
            for (b, slot) in row.iter().zip(line) {
                *slot += w * a * b;
            }
        }
    }
    let largest = (0..m)
        .max_by(|&a, &b| matrix[a][a].total_cmp(&matrix[b][b]))
        .unwrap_or(0);
    let mut vector = matrix.get(largest).cloned().unwrap_or_default();
    for _ in 0..POWER_STEPS {
        let length = dot(&vector, &vector).sqrt();
        if length < 1e-300 {
            return vec![1.0; m];
        }
        vector.iter_mut().for_each(|x| *x /= length);
        let next: Vec<f64> = matrix.iter().map(|line| dot(line, &vector)).collect();
        let size = dot(&next, &next).sqrt();
        let moved: f64 = next
            .iter()
            .zip(&vector)
            .map(|(a, b)| (a / size - b).abs())
            .sum();
        vector = next;
        if moved < 1e-12 {
            break;
        }
    }
    let sign = vector
        .iter()
        .fold(0.0_f64, |big, &x| if x.abs() > big.abs() { x } else { big });
    if sign < 0.0 {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn scores_have_mean_zero_and_rise_with_place() {
        let shares = [0.2, 0.1, 0.0, 0.7];
        let places = [2, 0, 3, 1];
        let scores = normal_scores(&shares, &places);
        let mean: f64 = shares.iter().zip(&scores).map(|(p, s)| p * s).sum();
        assert!(mean.abs() < 1e-12);
        assert!(scores[1] < scores[3] && scores[3] < scores[0]);
    }

    #[test]
    fn scaling_finds_the_hidden_order_of_a_nominal_key() {
        // Category c of the first key goes with value hidden[c] of the second.
        let hidden = [2usize, 0, 3, 1];
        let mut cells = vec![2.0; 16];
        for (c, &k) in hidden.iter().enumerate() {
            for other in 0..4 {
                cells[c * 4 + other] += 40.0 / (1.0 + 3.0 * (other.abs_diff(k)) as f64);
            }
        }
        let cells = Array2::from_shape_vec((4, 4), cells).unwrap();
        let table = PairTable { cells };
        let shares: Vec<Vec<f64>> = [table.row_sums(), table.column_sums()]
            .into_iter()
            .map(|sums| {
                let total: f64 = sums.iter().sum();
                sums.iter().map(|s| s / total).collect()
            })
            .collect();
        let natural = vec![(0..4).collect::<Vec<u32>>(); 2];
        let found = orders(
            Order::Scaling,
            &[table],
            &shares,
            &natural,
            &[true, false],
            1.0,
        );
        assert_eq!(found[0], hidden.map(|k| k as u32));
        assert_eq!(found[1], natural[1]);
    }

    #[test]
    fn pairs_are_found_in_either_direction() {
        let tables: Vec<PairTable> = super::super::information::pairs(5)
            .into_iter()
            .map(|(i, j)| PairTable {
                cells: Array2::zeros((i, j)),
            })
            .collect();
        for i in 0..5 {
            for j in 0..5 {
                if i != j {
                    let (table, by_row) = table_of(&tables, 5, i, j);
                    assert_eq!(table.cells.dim(), (i.min(j), i.max(j)));
                    assert_eq!(by_row, i < j);
                }
            }
        }
    }
}
