//! The probability of a record from its margins and a tree of pairs.
//!
//! A latent correlation says how much two keys depend on each other, not which
//! of their combinations are the frequent ones. For the ranking of records that
//! matters more, so here the pairs speak for themselves:
//!
//! `p(x) = prod_j p_j(x_j) prod_(i,j) f_ij(x_i, x_j)`, with the second product over
//! the edges of the tree of largest mutual information (Chow and Liu 1968), less
//! what chance would show, and
//! `f_ij = (n_ij + c p_i p_j) / ((n + c) p_i p_j)`: the pair's share in the sample,
//! drawn towards independence by a prior of `c` records. `c` is, per edge, the one
//! under which the Dirichlet-multinomial likelihood of the table is largest.
//!
//! A category that the sample does not have gets 0.3 records, and no edge: of what
//! was not seen nothing is known about combinations.
//!
//! The counts leave ln p uncertain: its variance is taken as the sum over edges of
//! `1 / (n_ij + c p_i p_j)`. Records of the sample are left out of the counts they
//! are judged by, in p and in the variance: a pair that nobody else has is uncertain.

use ndarray::Array2;

use super::information::PairTable;
use super::margins::categories;
use super::mixture::{clusters, fit_mixture, Cluster, Mixture, Point};
use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::{self, Monitor};
use crate::weights::Weights;

/// Records a category counts for at least.
pub const LEAST_RECORDS: f64 = 0.3;

/// The category of a value that the sample does not have.
pub const UNSEEN: u32 = u32::MAX;

/// One edge: two keys, and the weight of independence in their pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The keys, the first before the second.
    pub keys: (usize, usize),
    /// Records the prior of independence counts for.
    pub prior: f64,
}

/// The edges of the tree of largest total `weight`, given per pair of `d` keys;
/// pairs without a positive weight are no edges.
pub fn spanning_tree(d: usize, pairs: &[(usize, usize)], weight: &[f64]) -> Vec<(usize, usize)> {
    let mut ranked: Vec<usize> = (0..pairs.len().min(weight.len()))
        .filter(|&e| weight[e] > 0.0)
        .collect();
    ranked.sort_by(|&a, &b| weight[b].total_cmp(&weight[a]).then(a.cmp(&b)));
    let mut part: Vec<usize> = (0..d).collect();
    let mut edges = Vec::with_capacity(d.saturating_sub(1));
    for e in ranked {
        let (i, j) = pairs[e];
        let (from, to) = (part[j], part[i]);
        if from != to {
            part.iter_mut()
                .filter(|p| **p == from)
                .for_each(|p| *p = to);
            edges.push((i, j));
        }
    }
    edges.sort_unstable();
    edges
}

/// The margin of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// Records of the sample per category; with weights scaled to records.
    pub counts: Vec<f64>,
    /// Probabilities that do not come from the sample, one per category.
    pub given: Option<Vec<f64>>,
}

/// A tree with all that its probabilities need.
#[derive(Debug, Clone)]
pub struct Tree<'a> {
    margins: Vec<Margin>,
    edges: Vec<(Edge, &'a PairTable)>,
    n: f64,
    scale: f64,
}

impl<'a> Tree<'a> {
    /// A tree over keys with these margins; `tables` belong to `edges`, `n` is
    /// the number of records and `scale` makes records of what the tables hold.
    pub fn new(
        margins: Vec<Margin>,
        edges: &[Edge],
        tables: &'a [PairTable],
        n: f64,
        scale: f64,
    ) -> Result<Self> {
        let fits = |(edge, table): (&Edge, &PairTable)| {
            let (i, j) = edge.keys;
            i < j
                && j < margins.len()
                && table.cells.dim() == (margins[i].counts.len(), margins[j].counts.len())
                && edge.prior > 0.0
        };
        let given_fits = |margin: &Margin| {
            margin
                .given
                .as_ref()
                .is_none_or(|given| given.len() >= margin.counts.len())
        };
        if edges.len() != tables.len()
            || !edges.iter().zip(tables).all(fits)
            || !margins.iter().all(given_fits)
            || n.is_nan()
            || n <= 1.0
        {
            return Err(Error::BadArgument(
                "The parts of the tree do not belong together.".into(),
            ));
        }
        Ok(Self {
            margins,
            edges: edges.iter().copied().zip(tables).collect(),
            n,
            scale,
        })
    }

    /// Place of every record, whose categories are given key by key.
    pub fn points(&self, keys: &[Vec<u32>], monitor: &Monitor) -> Result<Vec<Point>> {
        self.points_by_tables(keys, 0.0, monitor)
    }

    /// Places of the records of the sample itself, each as if it were not in it. `weights` are
    /// those of the records, `None` for one each; those of a row that stands for `times` records
    /// are their sum.
    pub fn points_without(
        &self,
        keys: &[Vec<u32>],
        weights: Option<Weights<'_>>,
        times: Option<&[u64]>,
        monitor: &Monitor,
    ) -> Result<Vec<Point>> {
        let Some(weights) = weights else {
            return self.points_by_tables(keys, 1.0, monitor);
        };
        if keys.iter().any(|column| column.len() != weights.len()) {
            return Err(Error::BadArgument("Every record needs a weight.".into()));
        }
        self.over_records(keys, monitor, |row| {
            let single = weights[row] / times.map_or(1.0, |times| times[row] as f64);
            let own = single * self.scale;
            let mut point = Point {
                ln_p: 0.0,
                variance: 0.0,
            };
            for (j, column) in keys.iter().enumerate() {
                point.ln_p += self.margin(j, column[row], own).ln();
            }
            for (edge, table) in &self.edges {
                let pair = (keys[edge.keys.0][row], keys[edge.keys.1][row]);
                let factor = self.factor(edge, table, pair, own);
                point.ln_p += factor.value.ln();
                point.variance += factor.variance;
            }
            point
        })
    }

    /// Uncertainty of the probabilities of the sample's records: the records near each other, the
    /// mixture, and ln lambda in the sample.
    pub fn uncertainty(
        &self,
        sample: &KeyTable,
        weights: Option<Weights<'_>>,
        monitor: &Monitor,
    ) -> Result<(Vec<Cluster>, Mixture, f64)> {
        let keys: Vec<Vec<u32>> = sample.columns().iter().map(categories).collect();
        let times = sample.multiplicity();
        let points = self.points_without(&keys, weights, times, monitor)?;
        let unique = sample.group(monitor)?.alone();
        let clusters = clusters(&points, weights.map(Weights::values), times, &unique);
        let (mixture, ln_lambda) = fit_mixture(&clusters, sample.n_records() as f64, monitor)?;
        Ok((clusters, mixture, ln_lambda))
    }

    /// Places of records that all leave `own` records out.
    fn points_by_tables(
        &self,
        keys: &[Vec<u32>],
        own: f64,
        monitor: &Monitor,
    ) -> Result<Vec<Point>> {
        let margins: Vec<Vec<f64>> = (0..self.margins.len())
            .map(|j| {
                (0..self.margins[j].counts.len() as u32)
                    .map(|c| self.margin(j, c, own).ln())
                    .collect()
            })
            .collect();
        let factors = parallel::try_map(&self.edges, monitor, |(edge, table)| {
            Ok(Array2::from_shape_fn(table.cells.dim(), |(x, y)| {
                let factor = self.factor(edge, table, (x as u32, y as u32), own);
                Point {
                    ln_p: factor.value.ln(),
                    variance: factor.variance,
                }
            }))
        })?;
        let unseen = (LEAST_RECORDS / (self.n - own)).ln();
        self.over_records(keys, monitor, |row| {
            let mut point = Point {
                ln_p: 0.0,
                variance: 0.0,
            };
            for (column, margin) in keys.iter().zip(&margins) {
                point.ln_p += margin.get(column[row] as usize).copied().unwrap_or(unseen);
            }
            for ((edge, _), factors) in self.edges.iter().zip(&factors) {
                let (x, y) = (keys[edge.keys.0][row], keys[edge.keys.1][row]);
                if x != UNSEEN && y != UNSEEN {
                    let factor = factors[[x as usize, y as usize]];
                    point.ln_p += factor.ln_p;
                    point.variance += factor.variance;
                }
            }
            point
        })
    }

    fn over_records(
        &self,
        keys: &[Vec<u32>],
        monitor: &Monitor,
        of: impl Fn(usize) -> Point + Sync,
    ) -> Result<Vec<Point>> {
        let n = keys.first().map_or(0, Vec::len);
        if keys.len() != self.margins.len() || keys.iter().any(|column| column.len() != n) {
            return Err(Error::BadArgument(
                "Records must have a category on every key of the tree.".into(),
            ));
        }
        parallel::map_rows(n, monitor, of)
    }

    /// The probability of a category, `own` records being left out.
    fn margin(&self, key: usize, category: u32, own: f64) -> f64 {
        let margin = &self.margins[key];
        let least = LEAST_RECORDS / (self.n - own);
        if let Some(given) = &margin.given {
            return given.get(category as usize).map_or(least, |p| p.max(least));
        }
        self.sample_share(key, category, own)
    }

    fn sample_share(&self, key: usize, category: u32, own: f64) -> f64 {
        let count = self.margins[key]
            .counts
            .get(category as usize)
            .map_or(0.0, |count| count - own);
        count.max(LEAST_RECORDS) / (self.n - own)
    }

    /// Frequency of a pair relative to independence.
    fn factor(&self, edge: &Edge, table: &PairTable, pair: (u32, u32), own: f64) -> Factor {
        let (x, y) = (pair.0 as usize, pair.1 as usize);
        let Some(cell) = table.cells.get((x, y)) else {
            return Factor {
                value: 1.0,
                variance: 0.0,
            };
        };
        let independent = self.sample_share(edge.keys.0, pair.0, own)
            * self.sample_share(edge.keys.1, pair.1, own);
        let count = (cell * self.scale - own).max(0.0);
        let records = count + edge.prior * independent;
        Factor {
            value: records / ((self.n - own + edge.prior) * independent),
            variance: 1.0 / records,
        }
    }
}

/// The factor of one pair, and the variance of its logarithm.
struct Factor {
    value: f64,
    variance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copula::information::pairs;
    use crate::copula::prior::prior_records;
    use proptest::prelude::*;

    fn table(n_rows: usize, cells: &[f64]) -> PairTable {
        PairTable {
            cells: Array2::from_shape_vec((n_rows, cells.len() / n_rows), cells.to_vec()).unwrap(),
        }
    }

    fn margin(counts: Vec<f64>) -> Margin {
        Margin {
            counts,
            given: None,
        }
    }

    #[test]
    fn the_tree_takes_the_strongest_pairs_without_a_circle() {
        let pairs = pairs(4);
        // (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
        let edges = spanning_tree(4, &pairs, &[0.5, 0.4, 0.1, 0.45, -0.1, 0.2]);
        assert_eq!(edges, vec![(0, 1), (1, 2), (2, 3)]);
        let forest = spanning_tree(4, &pairs, &[0.5, 0.0, -0.1, 0.0, -0.2, 0.2]);
        assert_eq!(forest, vec![(0, 1), (2, 3)]);
    }

    #[test]
    fn probabilities_are_margins_times_edge_factors() {
        let pair = table(2, &[6.0, 1.0, 1.0, 2.0]);
        let edge = Edge {
            keys: (0, 1),
            prior: 5.0,
        };
        let tables = [pair];
        let margins = vec![margin(vec![7.0, 3.0]), margin(vec![7.0, 3.0])];
        let tree = Tree::new(margins, &[edge], &tables, 10.0, 1.0).unwrap();
        let keys = vec![vec![0, 1, 0, UNSEEN], vec![0, 0, UNSEEN, 1]];
        let found = tree.points(&keys, &Monitor::new()).unwrap();
        let shrunk = |n: f64, p: f64, q: f64| (n + 5.0 * p * q) / 15.0;
        let expected = [
            shrunk(6.0, 0.7, 0.7),
            shrunk(1.0, 0.3, 0.7),
            0.7 * 0.03,
            0.03 * 0.3,
        ];
        let variances = [1.0 / (6.0 + 5.0 * 0.49), 1.0 / (1.0 + 5.0 * 0.21), 0.0, 0.0];
        for ((found, expected), variance) in found.iter().zip(expected).zip(variances) {
            assert!((found.ln_p.exp() / expected - 1.0).abs() < 1e-14);
            assert!((found.variance - variance).abs() < 1e-14);
        }
        let sample = [vec![0, 1], vec![0, 1]];
        let without = tree
            .points_without(&sample, None, None, &Monitor::new())
            .unwrap();
        // Weights of one are no weights.
        let weighted = tree
            .points_without(
                &sample,
                Weights::new(&[1.0, 1.0], 2).ok(),
                None,
                &Monitor::new(),
            )
            .unwrap();
        for (a, b) in without.iter().zip(&weighted) {
            assert!((a.ln_p - b.ln_p).abs() < 1e-14 && (a.variance - b.variance).abs() < 1e-14);
        }
        let p = 6.0 / 9.0;
        let left = p * p * (5.0 + 5.0 * p * p) / (14.0 * p * p);
        assert!((without[0].ln_p.exp() / left - 1.0).abs() < 1e-14);
        assert!((without[0].variance - 1.0 / (5.0 + 5.0 * p * p)).abs() < 1e-14);
    }

    #[test]
    fn parts_that_do_not_belong_together_are_refused() {
        let tables = [table(2, &[1.0; 4])];
        let edge = Edge {
            keys: (0, 1),
            prior: 1.0,
        };
        let margins = vec![margin(vec![2.0, 2.0]), margin(vec![4.0])];
        assert!(Tree::new(margins, &[edge], &tables, 4.0, 1.0).is_err());
        let margins = vec![margin(vec![2.0, 2.0]), margin(vec![2.0, 2.0])];
        let tree = Tree::new(margins, &[edge], &tables, 4.0, 1.0).unwrap();
        assert!(tree.points(&[vec![0]], &Monitor::new()).is_err());
    }

    proptest! {
        #[test]
        fn probabilities_of_all_cells_add_up_to_at_most_about_one(
            first in proptest::collection::vec(0u32..40, 6),
            second in proptest::collection::vec(0u32..40, 6)
        ) {
            // Two tables over keys (0, 1) and (1, 2) with a common margin of key 1.
            let cells = |x: &[u32]| -> Vec<f64> {
                x.iter().map(|&c| f64::from(c) + 1.0).collect()
            };
            let a = table(3, &cells(&first));
            let target = a.column_sums();
            let mut b = table(2, &cells(&second));
            let rows = b.row_sums();
            for (k, cell) in b.cells.iter_mut().enumerate() {
                *cell *= target[k / 3] / rows[k / 3];
            }
            let n: f64 = target.iter().sum();
            let margins = vec![
                margin(a.row_sums()), margin(target.clone()), margin(b.column_sums())
            ];
            let edges = [
                Edge { keys: (0, 1), prior: prior_records(&a, 1.0) },
                Edge { keys: (1, 2), prior: prior_records(&b, 1.0) },
            ];
            let tables = [a, b];
            let tree = Tree::new(margins, &edges, &tables, n, 1.0).unwrap();
            let cells: Vec<(u32, u32, u32)> = (0..18).map(|c| (c / 6, c / 3 % 2, c % 3)).collect();
            let keys = vec![
                cells.iter().map(|c| c.0).collect(),
                cells.iter().map(|c| c.1).collect(),
                cells.iter().map(|c| c.2).collect(),
            ];
            let total: f64 = tree
                .points(&keys, &Monitor::new()).unwrap()
                .iter().map(|point| point.ln_p.exp()).sum();
            prop_assert!((total - 1.0).abs() < 1e-10);
        }
    }
}
