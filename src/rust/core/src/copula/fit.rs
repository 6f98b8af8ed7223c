//! All steps of a fit, from counts to a model.

use ndarray::Array2;

use super::correlation::{solve, Root};
use super::information::{expected_information, pair_tables, pairs, PairInformation, PairTable};
use super::margins::{best_margin, categories, category_counts, n_categories, plug_in, Margin};
use super::orders::{in_order, normal_scores, orders, Order};
use super::projection::{nearest_correlation, Projected};
use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::{self, Monitor};
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

/// Data to which a model is fitted.
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
        let counts = parallel::try_map(columns, monitor, |column| {
            let categories = categories(column);
            Ok(category_counts(&categories, n_categories(column), weights))
        })?;
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

/// The margins that are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marginals {
    /// The shares of the sample.
    Empirical,
    /// The family of least BIC.
    Auto,
}

/// Settings of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Order of the categories.
    pub order: Order,
    /// Per key whether its values have no order.
    pub nominal: Vec<bool>,
    /// Margins fitted for keys without a given one.
    pub marginals: Marginals,
    /// Per key a given margin, with the place of every category by value.
    pub exogenous: Vec<Option<(Vec<f64>, Vec<u32>)>>,
    /// A given correlation matrix.
    pub correlation: Option<Array2<f64>>,
    /// True if a correlation may be negative.
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
    let tables = pairs(shares.len()).into_iter().zip(&sample.tables);
    parallel::try_map(tables, monitor, |((i, j), table)| {
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
    use crate::key_table::{Codes, Column};
    use ndarray::array;
    use std::f64::consts::PI;

    const CELLS: [(u32, u32, usize); 4] = [(1, 1, 14), (1, 2, 6), (2, 1, 6), (2, 2, 14)];

    /// 40 records of two keys with two equally frequent values each; of 28 the values
    /// have the same place.
    fn halves() -> KeyTable {
        let records = |of: fn(&(u32, u32, usize)) -> u32| {
            let cells = CELLS.iter();
            cells.flat_map(move |cell| std::iter::repeat_n(of(cell), cell.2))
        };
        table(&[records(|c| c.0).collect(), records(|c| c.1).collect()])
    }

    fn table(keys: &[Vec<u32>]) -> KeyTable {
        let column = |codes: &Vec<u32>| {
            let n_values = *codes.iter().max().unwrap();
            Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
        };
        KeyTable::new(keys.iter().map(column).collect()).unwrap()
    }

    fn settings(n_keys: usize) -> Settings {
        Settings {
            order: Order::Natural,
            nominal: vec![false; n_keys],
            marginals: Marginals::Empirical,
            exogenous: vec![None; n_keys],
            correlation: None,
            signed: true,
        }
    }

    /// Information where two halves agree for a share `p` of the records.
    fn information(p: f64) -> f64 {
        p * (2.0 * p).ln() + (1.0 - p) * (2.0 * (1.0 - p)).ln()
    }

    /// Its mean over all ways to draw `m` of `2 m` records for a half.
    fn by_chance(m: u32) -> f64 {
        let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(m - i) / f64::from(i + 1));
        let total: f64 = (0..=m).map(|k| choose(k).powi(2)).sum();
        let inner = 1..m;
        let extremes = 2.0 * 2f64.ln();
        let rest: f64 = inner
            .map(|k| choose(k).powi(2) * information(f64::from(k) / f64::from(m)))
            .sum();
        (extremes + rest) / total
    }

    /// The correlation of normals whose halves have information `target`: they agree
    /// with probability 1/2 + asin(rho) / pi.
    fn correlation_of(target: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let rho: f64 = (low + high) / 2.0;
            if information(0.5 + rho.asin() / PI) < target {
                low = rho;
            } else {
                high = rho;
            }
        }
        low
    }

    #[test]
    fn two_halves_have_the_correlation_of_the_orthant_formula() {
        let monitor = Monitor::new();
        let sample = Sample::count(&halves(), None, &monitor).unwrap();
        assert_eq!((sample.n, sample.scale), (40.0, 1.0));
        let found = fit(&sample, &settings(2), &monitor).unwrap();
        assert!((found.information[0] - information(0.7)).abs() < 1e-14);
        assert!((found.expected[0] - by_chance(20)).abs() < 1e-12);
        let rho = correlation_of(information(0.7) - by_chance(20));
        assert!(
            (found.model.correlation[[0, 1]] - rho).abs() < 1e-9,
            "{rho}"
        );
        assert_eq!(found.model.shares, vec![vec![0.5, 0.5]; 2]);
        assert_eq!(found.projection.steps, 0);
        assert!(!found.roots[0].at_bound);
    }

    #[test]
    fn the_sign_is_that_of_the_scores_where_signs_are_asked_for() {
        let monitor = Monitor::new();
        let positive = fit(
            &Sample::count(&halves(), None, &monitor).unwrap(),
            &settings(2),
            &monitor,
        )
        .unwrap();
        let turned: Vec<u32> = (CELLS.iter())
            .flat_map(|cell| std::iter::repeat_n(3 - cell.1, cell.2))
            .collect();
        let first: Vec<u32> = (CELLS.iter())
            .flat_map(|cell| std::iter::repeat_n(cell.0, cell.2))
            .collect();
        let sample = Sample::count(&table(&[first, turned]), None, &monitor).unwrap();
        let rho = |signed: bool| {
            let settings = Settings {
                signed,
                ..settings(2)
            };
            fit(&sample, &settings, &monitor).unwrap().roots[0].rho
        };
        assert!((rho(true) + positive.roots[0].rho).abs() < 1e-9);
        assert!((rho(false) - positive.roots[0].rho).abs() < 1e-9);
    }

    #[test]
    fn weights_count_as_the_effective_number_of_records() {
        let monitor = Monitor::new();
        let weights: Vec<f64> = (0..40).map(|i| [1.0, 3.0][i % 2]).collect();
        let weights = Weights::new(&weights, 40).unwrap();
        let sample = Sample::count(&halves(), Some(weights), &monitor).unwrap();
        // (20 + 60)^2 / (20 + 20 * 9) = 32 records, 0.4 for a weight of 1.
        assert_eq!((sample.n, sample.scale), (32.0, 0.4));
        assert_eq!(sample.counts, vec![vec![40.0, 40.0]; 2]);
        let found = fit(&sample, &settings(2), &monitor).unwrap();
        assert!((found.expected[0] - by_chance(16)).abs() < 1e-12);
        let rho = correlation_of(information(0.7) - by_chance(16));
        assert!((found.roots[0].rho - rho).abs() < 1e-9);
    }

    #[test]
    fn rows_that_stand_for_records_are_those_records() {
        let monitor = Monitor::new();
        let rows = table(&[
            CELLS.iter().map(|cell| cell.0).collect(),
            CELLS.iter().map(|cell| cell.1).collect(),
        ])
        .with_multiplicity(CELLS.iter().map(|cell| cell.2 as u64).collect())
        .unwrap();
        let one_by_one = Sample::count(&halves(), None, &monitor).unwrap();
        assert_eq!(Sample::count(&rows, None, &monitor).unwrap(), one_by_one);
        // Weights of a row are the sum of its records' equal weights.
        let weights: Vec<f64> = CELLS.iter().map(|cell| 2.5 * cell.2 as f64).collect();
        let weights = Weights::new(&weights, 4).unwrap();
        let sample = Sample::count(&rows, Some(weights), &monitor).unwrap();
        assert_eq!((sample.n, sample.scale), (40.0, 0.4));
    }

    #[test]
    fn given_margins_and_correlations_are_taken() {
        let monitor = Monitor::new();
        let sample = Sample::count(&halves(), None, &monitor).unwrap();
        let given = Settings {
            exogenous: vec![Some((vec![0.3, 0.7], vec![1, 0])), None],
            correlation: Some(array![[1.0, -0.25], [-0.25, 1.0]]),
            ..settings(2)
        };
        let found = fit(&sample, &given, &monitor).unwrap();
        assert_eq!(found.model.shares, vec![vec![0.3, 0.7], vec![0.5, 0.5]]);
        assert_eq!(found.model.orders, vec![vec![1, 0], vec![0, 1]]);
        assert_eq!(
            found.model.correlation[[0, 1]].to_bits(),
            (-0.25f64).to_bits()
        );
        assert!(found.margins[0].is_none());
        // Two parameters less one, two shares of one half: 2 n ln 2 + ln n.
        let bic = found.margins[1].as_ref().unwrap().bic;
        assert!((bic - (80.0 * 2f64.ln() + 40f64.ln())).abs() < 1e-10);
        // Correlations that no three normals can have are projected.
        let third: Vec<u32> = (0..40).map(|i| 1 + i % 2).collect();
        let columns = halves();
        let codes = |j: usize| -> Vec<u32> {
            let categories = categories(&columns.columns()[j]);
            categories.iter().map(|c| c + 1).collect()
        };
        let three = table(&[codes(0), codes(1), third]);
        let sample = Sample::count(&three, None, &monitor).unwrap();
        let impossible = Settings {
            correlation: Some(array![
                [1.0, -0.9, -0.9],
                [-0.9, 1.0, -0.9],
                [-0.9, -0.9, 1.0]
            ]),
            ..settings(3)
        };
        let found = fit(&sample, &impossible, &monitor).unwrap();
        // By symmetry all are -1/2, where the matrix begins to be singular.
        for (&(i, j), root) in pairs(3).iter().zip(&found.roots) {
            assert!((found.model.correlation[[i, j]] + 0.5).abs() < 1e-3);
            assert_eq!(root.rho.abs().to_bits(), 0);
        }
        assert!((found.projection.least_eigenvalue + 0.8).abs() < 1e-12);
    }

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
