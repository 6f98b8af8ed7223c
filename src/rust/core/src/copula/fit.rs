//! All steps of a fit, from counts to a model.

use ndarray::Array2;
use rayon::prelude::*;

use super::correlation::{solve, Root};
use super::information::{expected_information, pair_tables, pairs, PairInformation, PairTable};
use super::margins::{best_margin, categories, category_counts, n_categories, plug_in, Margin};
use super::orders::{in_order, normal_scores, orders, Order};
use super::projection::{nearest_correlation, Projected};
use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::weights::Weights;

/// A Gaussian copula over d keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Per key the probability of every category: value order, missing after
    /// the values, unseen categories last.
    pub shares: Vec<Vec<f64>>,
    /// Per key the place of every category in the latent order, from 0.
    pub orders: Vec<Vec<u32>>,
    /// The correlation matrix.
    pub correlation: Array2<f64>,
}

impl Model {
    /// A model, after checking that its parts belong together.
    pub fn new(
        shares: Vec<Vec<f64>>,
        orders: Vec<Vec<u32>>,
        correlation: Array2<f64>,
    ) -> Result<Self> {
        let d = shares.len();
        let permutes = |shares: &Vec<f64>, places: &Vec<u32>| {
            let mut seen = vec![false; shares.len()];
            places.len() == shares.len()
                && places.iter().all(|&p| {
                    let place = seen.get_mut(p as usize);
                    place.is_some_and(|slot| !std::mem::replace(slot, true))
                })
        };
        let valid = d > 0
            && orders.len() == d
            && correlation.dim() == (d, d)
            && shares.iter().zip(&orders).all(|(s, o)| permutes(s, o))
            && shares
                .iter()
                .all(|s| s.iter().all(|&p| p >= 0.0) && (s.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        if valid {
            Ok(Self {
                shares,
                orders,
                correlation,
            })
        } else {
            Err(Error::BadArgument(
                "The parts of the copula model do not belong together.".into(),
            ))
        }
    }

    /// Number of keys.
    pub fn n_keys(&self) -> usize {
        self.shares.len()
    }

    /// The model of some of the keys: a copula is closed under leaving keys out.
    pub fn select(&self, keys: &[usize]) -> Self {
        let n = keys.len();
        Self {
            shares: keys.iter().map(|&j| self.shares[j].clone()).collect(),
            orders: keys.iter().map(|&j| self.orders[j].clone()).collect(),
            correlation: Array2::from_shape_fn((n, n), |(i, j)| {
                self.correlation[[keys[i], keys[j]]]
            }),
        }
    }
}

/// What a model is fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Records or weights per category and key.
    pub counts: Vec<Vec<f64>>,
    /// The two-way tables of all pairs.
    pub tables: Vec<PairTable>,
    /// Number of records; with weights Kish's effective number.
    pub n: f64,
    /// Makes records of weights.
    pub scale: f64,
}

impl Sample {
    /// Counts the records of coded keys, each with its weight; a row that stands for
    /// several records has the sum of their weights, which must be equal.
    pub fn count(
        table: &KeyTable,
        weights: Option<Weights<'_>>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let columns = table.columns();
        let times: Option<Vec<f64>> =
            (table.multiplicity()).map(|times| times.iter().map(|&n| n as f64).collect());
        let single = |row: usize| times.as_ref().map_or(1.0, |times| times[row]);
        let weighted = weights.map(Weights::values);
        let weights = weighted.or(times.as_deref());
        let counts: Vec<Vec<f64>> = columns
            .par_iter()
            .map(|column| {
                monitor.check()?;
                let categories = categories(column);
                Ok(category_counts(&categories, n_categories(column), weights))
            })
            .collect::<Result<_>>()?;
        let tables = pair_tables(columns, weights, monitor)?;
        let (n, scale) = match weighted {
            None => (table.n_records() as f64, 1.0),
            Some(weights) => {
                let sum: f64 = weights.iter().sum();
                let squares = weights.iter().enumerate();
                let squares: f64 = squares.map(|(row, w)| w * (w / single(row))).sum();
                let effective = (sum * sum / squares).round();
                (effective, effective / sum)
            }
        };
        Ok(Self {
            counts,
            tables,
            n,
            scale,
        })
    }
}

/// Which margins are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marginals {
    /// The shares of the sample.
    Empirical,
    /// The family of least BIC.
    Auto,
}

/// How a model is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How categories are ordered.
    pub order: Order,
    /// Per key whether its values have no order.
    pub nominal: Vec<bool>,
    /// Which margins are fitted where none is given.
    pub marginals: Marginals,
    /// Per key a given margin, with the place of every category by value.
    pub exogenous: Vec<Option<(Vec<f64>, Vec<u32>)>>,
    /// A given correlation matrix.
    pub correlation: Option<Array2<f64>>,
    /// Whether a correlation may be negative.
    pub signed: bool,
}

/// A fitted model and how the fit went. Pairs in the order of [`pairs`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Per key the margin; a given one has no family of ours and no BIC.
    pub margins: Vec<Option<Margin>>,
    /// Per pair the mutual information of the sample.
    pub information: Vec<f64>,
    /// Per pair what chance alone would show.
    pub expected: Vec<f64>,
    /// Per pair the correlation, before projection.
    pub roots: Vec<Root>,
    /// The projection.
    pub projection: Projected,
}

/// Fits a model.
pub fn fit(sample: &Sample, settings: &Settings, monitor: &Monitor) -> Result<Fit> {
    let margins = margins_of(sample, settings);
    let (shares, natural) = known_shares(&margins, settings)?;
    monitor.check()?;
    let places = orders(
        settings.order,
        &sample.tables,
        &shares,
        &natural,
        &settings.nominal,
        sample.scale,
    );
    let fitted = fit_pairs(sample, settings, &shares, &places, monitor)?;
    let matrix = match &settings.correlation {
        Some(given) => given.clone(),
        None => {
            let mut matrix = Array2::eye(shares.len());
            for (&(i, j), (_, _, root)) in pairs(shares.len()).iter().zip(&fitted) {
                matrix[[i, j]] = root.rho;
                matrix[[j, i]] = root.rho;
            }
            matrix
        }
    };
    let projection = nearest_correlation(&matrix, monitor)?;
    Ok(Fit {
        model: Model::new(shares, places, projection.matrix.clone())?,
        margins,
        information: fitted.iter().map(|f| f.0).collect(),
        expected: fitted.iter().map(|f| f.1).collect(),
        roots: fitted.iter().map(|f| f.2).collect(),
        projection,
    })
}

/// The margin of every key that is not given.
fn margins_of(sample: &Sample, settings: &Settings) -> Vec<Option<Margin>> {
    sample
        .counts
        .iter()
        .zip(&settings.exogenous)
        .map(|(counts, given)| match (given, settings.marginals) {
            (Some(_), _) => None,
            (None, Marginals::Empirical) => Some(plug_in(counts, sample.n)),
            (None, Marginals::Auto) => Some(best_margin(counts, sample.n)),
        })
        .collect()
}

/// Numbers of every category of every key.
type PerKey<T> = Vec<Vec<T>>;

/// The shares of every key, fitted or given, and the places by value.
fn known_shares(
    margins: &[Option<Margin>],
    settings: &Settings,
) -> Result<(PerKey<f64>, PerKey<u32>)> {
    let mut shares = Vec::with_capacity(margins.len());
    let mut natural = Vec::with_capacity(margins.len());
    for (margin, given) in margins.iter().zip(&settings.exogenous) {
        let (share, places) = match (margin, given) {
            (_, Some((share, places))) => (share.clone(), places.clone()),
            (Some(margin), None) => {
                let places = (0..margin.shares.len() as u32).collect();
                (margin.shares.clone(), places)
            }
            (None, None) => return Err(Error::Internal("A margin is missing.".into())),
        };
        shares.push(share);
        natural.push(places);
    }
    Ok((shares, natural))
}

/// Per pair its information, what chance would show of it, and its correlation.
fn fit_pairs(
    sample: &Sample,
    settings: &Settings,
    shares: &[Vec<f64>],
    places: &[Vec<u32>],
    monitor: &Monitor,
) -> Result<Vec<(f64, f64, Root)>> {
    let by_key = |of: fn(&[f64], &[u32]) -> Vec<f64>| -> Vec<Vec<f64>> {
        let keys = shares.iter().zip(places);
        keys.map(|(share, place)| of(share, place)).collect()
    };
    let (scores, sorted) = (by_key(normal_scores), by_key(in_order));
    let whole: Vec<Vec<u64>> = sample
        .counts
        .iter()
        .map(|counts| whole_counts(counts, sample.n))
        .collect();
    pairs(shares.len())
        .par_iter()
        .zip(&sample.tables)
        .map(|(&(i, j), table)| {
            monitor.check()?;
            let information = table.information();
            let expected = expected_information(&whole[i], &whole[j]);
            let root = if settings.correlation.is_some() {
                solve(&PairInformation::new(vec![1.0], vec![1.0]), 0.0, 1.0)
            } else {
                let sign = if settings.signed {
                    score_product(table, &scores[i], &scores[j])
                } else {
                    1.0
                };
                let rectangles = PairInformation::new(sorted[i].clone(), sorted[j].clone());
                solve(&rectangles, information - expected, sign)
            };
            monitor.advance(1);
            Ok((information, expected, root))
        })
        .collect()
}

/// The sum of products of scores over the records, whose sign is that of the
/// normal-score correlation.
fn score_product(table: &PairTable, rows: &[f64], columns: &[f64]) -> f64 {
    table
        .cells
        .rows()
        .into_iter()
        .zip(rows)
        .map(|(row, a)| {
            let inner: f64 = row.iter().zip(columns).map(|(n, b)| n * b).sum();
            a * inner
        })
        .sum()
}

/// Counts as whole numbers that add up to `n`: themselves, or with weights
/// their shares of `n`, rounded by largest remainders.
fn whole_counts(counts: &[f64], n: f64) -> Vec<u64> {
    let total: f64 = counts.iter().sum();
    let scaled: Vec<f64> = counts.iter().map(|c| c / total * n).collect();
    let mut whole: Vec<u64> = scaled.iter().map(|x| (x + 1e-9).floor() as u64).collect();
    let missing = (n as u64).saturating_sub(whole.iter().sum());
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| {
        let rest = |i: usize| scaled[i] - whole[i] as f64;
        rest(b).total_cmp(&rest(a))
    });
    for &i in order.iter().cycle().take(missing as usize) {
        whole[i] += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn whole_counts_add_up() {
        assert_eq!(whole_counts(&[3.0, 4.0, 5.0], 12.0), vec![3, 4, 5]);
        assert_eq!(whole_counts(&[0.5, 0.5, 0.5], 7.0), vec![3, 2, 2]);
    }

    #[test]
    fn models_are_checked_and_selected() {
        let model = Model::new(
            vec![vec![0.5, 0.5], vec![1.0], vec![0.2, 0.3, 0.5]],
            vec![vec![1, 0], vec![0], vec![2, 0, 1]],
            array![[1.0, 0.0, 0.4], [0.0, 1.0, 0.0], [0.4, 0.0, 1.0]],
        )
        .unwrap();
        let part = model.select(&[2, 0]);
        assert_eq!(part.correlation, array![[1.0, 0.4], [0.4, 1.0]]);
        assert_eq!(part.orders, vec![vec![2, 0, 1], vec![1, 0]]);
        assert!(Model::new(vec![vec![0.5, 0.6]], vec![vec![0, 1]], array![[1.0]]).is_err());
        assert!(Model::new(vec![vec![0.5, 0.5]], vec![vec![0, 0]], array![[1.0]]).is_err());
    }
}
