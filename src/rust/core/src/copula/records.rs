//! Scores of records by a tree: its fit to a sample, and the likelihoods of records in populations
//! of several sizes.

use super::fit::{Fit, Sample};
use super::information::{pairs, PairTable};
use super::mixture::{anchor, Anchor, Cluster, Likelihood, Mixture, Point};
use super::prior::edges_with_priors;
use super::tree::{spanning_tree, Edge, Margin, Tree};
use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::weights::Weights;

/// A margin that differs from the sample's shares by less is the sample's own.
const SAME_SHARE: f64 = 1e-9;

/// The edges of the tree over some keys, and the tables of these edges. `tables` are
/// those of all pairs, `excess` their information above chance.
///
/// # Errors
///
/// If there is not one table and one number for every pair.
pub fn tree_of_pairs(
    d: usize,
    tables: &[PairTable],
    excess: &[f64],
    scale: f64,
    monitor: &Monitor,
) -> Result<(Vec<Edge>, Vec<PairTable>)> {
    let all = pairs(d);
    if tables.len() != all.len() || excess.len() != all.len() {
        return Err(Error::BadArgument(
            "Every pair of keys needs a table.".into(),
        ));
    }
    let keys = spanning_tree(d, &all, excess);
    let kept: Vec<PairTable> = (all.iter().zip(tables))
        .filter(|(pair, _)| keys.binary_search(pair).is_ok())
        .map(|(_, table)| table.clone())
        .collect();
    Ok((edges_with_priors(&keys, &kept, scale, monitor)?, kept))
}

/// The tree of a sample: its edges, how uncertain its probabilities are, and where
/// the sample's records lie, each being left out.
#[derive(Debug, Clone)]
pub struct SampleTree {
    /// Pairs of keys, each with the prior of its table.
    pub edges: Vec<Edge>,
    /// Uncertainty of probabilities.
    pub mixture: Mixture,
    /// The logarithm of their factor in the sample.
    pub ln_lambda: f64,
    /// Records near each other.
    pub clusters: Vec<Cluster>,
}

impl SampleTree {
    /// The tree of the records of `table`, counted as `sample`, whose margins and
    /// pairs are those of `fit`.
    pub fn new(
        table: &KeyTable,
        weights: Option<Weights<'_>>,
        sample: &Sample,
        fit: &Fit,
        monitor: &Monitor,
    ) -> Result<Self> {
        let total = sum_of(sample.counts.first().map_or(&[], Vec::as_slice));
        let scale = sample.n / total;
        let excess: Vec<f64> = (fit.information.iter().zip(&fit.expected))
            .map(|(information, expected)| information - expected)
            .collect();
        let d = sample.counts.len();
        let (edges, tables) = tree_of_pairs(d, &sample.tables, &excess, scale, monitor)?;
        let margins = (sample.counts.iter().zip(&fit.model.shares))
            .map(|(counts, shares)| margin(counts, shares, scale))
            .collect();
        let tree = Tree::new(margins, &edges, &tables, sample.n, scale)?;
        let (clusters, mixture, ln_lambda) = tree.uncertainty(table, weights, monitor)?;
        Ok(Self {
            edges,
            mixture,
            ln_lambda,
            clusters,
        })
    }
}

/// The margin of a key: its shares too, where they are not those of the sample.
fn margin(counts: &[f64], shares: &[f64], scale: f64) -> Margin {
    let total = sum_of(counts);
    let own = (counts.iter().zip(shares))
        .all(|(count, share)| (share - count / total).abs() < SAME_SHARE);
    Margin {
        counts: counts.iter().map(|count| count * scale).collect(),
        given: (!own).then(|| shares.to_vec()),
    }
}

/// A sum to the last digit, whatever the order of the numbers.
fn sum_of(numbers: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &x in numbers {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() {
            (sum - next) + x
        } else {
            (x - next) + sum
        };
        sum = next;
    }
    sum + lost
}

/// A fitted tree in populations of several sizes.
#[derive(Debug, Clone, Copy)]
pub struct Populations<'a> {
    /// Uncertainty of probabilities in the sample.
    pub mixture: Mixture,
    /// The logarithm of their factor in the sample.
    pub ln_sample: f64,
    /// Places of the records by which the tree is brought to a population, and their weights.
    pub anchors: (&'a [Point], Option<&'a [f64]>),
    /// Numbers of people.
    pub sizes: &'a [f64],
    /// The shares of them that are unique; without them the tree stays as it is.
    pub uniqueness: Option<&'a [f64]>,
}

impl Populations<'_> {
    /// The likelihoods of records at these points, size by size. `sample`: its size,
    /// and how many of its records each equals, where that is to be used.
    pub fn likelihoods(
        &self,
        points: &[Point],
        sample: Option<(f64, &[f64])>,
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Likelihood>>> {
        if self.uniqueness.is_some_and(|u| u.len() != self.sizes.len()) {
            return Err(Error::BadArgument(
                "Every population needs its uniqueness.".into(),
            ));
        }
        (self.sizes.iter().enumerate())
            .map(|(i, &n_people)| {
                let uniqueness = self.uniqueness.map(|u| u[i]);
                let factor = self.factor(n_people, uniqueness, monitor)?;
                let mixture = self.mixture.sharpened(factor.left);
                mixture.likelihoods(points, factor.ln_lambda, n_people, sample, monitor)
            })
            .collect()
    }

    /// Factor that brings the tree to one population.
    fn factor(&self, n_people: f64, uniqueness: Option<f64>, monitor: &Monitor) -> Result<Anchor> {
        /// The share of uncertainty that is left where nobody is unique.
        const NEXT_TO_NONE: f64 = 1e-9;
        let Some(uniqueness) = uniqueness else {
            return Ok(Anchor {
                ln_lambda: 0.0,
                left: 1.0,
            });
        };
        if uniqueness <= 0.0 {
            return Ok(Anchor {
                ln_lambda: self.ln_sample,
                left: NEXT_TO_NONE,
            });
        }
        let (points, weights) = self.anchors;
        anchor(
            &self.mixture,
            self.ln_sample,
            points,
            weights,
            n_people,
            uniqueness,
            monitor,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_their_last_digit() {
        assert_eq!(sum_of(&[1.0, 1e100, 1.0, -1e100]).to_bits(), 2f64.to_bits());
        assert_eq!(sum_of(&[0.1; 10]).to_bits(), 1f64.to_bits());
        assert_eq!(sum_of(&[]).to_bits(), 0f64.to_bits());
    }

    #[test]
    fn a_margin_of_the_sample_is_not_given() {
        assert_eq!(margin(&[3.0, 1.0], &[0.75, 0.25], 2.0).given, None);
        let other = margin(&[3.0, 1.0], &[0.7, 0.2, 0.1], 2.0);
        assert_eq!(other.given, Some(vec![0.7, 0.2, 0.1]));
        assert_eq!(other.counts, vec![6.0, 2.0]);
    }

    #[test]
    fn the_tree_takes_the_tables_of_its_edges() {
        let table = |x: f64| PairTable {
            cells: ndarray::array![[x, 1.0], [1.0, x]],
        };
        let tables = [table(1.0), table(2.0), table(3.0)];
        let monitor = Monitor::new();
        let (edges, kept) = tree_of_pairs(3, &tables, &[0.1, 0.3, 0.2], 1.0, &monitor).unwrap();
        let keys: Vec<_> = edges.iter().map(|edge| edge.keys).collect();
        assert_eq!(keys, vec![(0, 2), (1, 2)]);
        assert_eq!(kept, tables[1..]);
        assert!(tree_of_pairs(3, &tables[1..], &[0.1; 3], 1.0, &monitor).is_err());
    }

    #[test]
    fn where_nobody_is_unique_nobody_is_likely_unique() {
        let points = [Point {
            ln_p: -5.0,
            variance: 0.1,
        }];
        let populations = Populations {
            mixture: Mixture {
                alpha: 2.0,
                spread: 1.0,
            },
            ln_sample: 0.0,
            anchors: (&points, None),
            sizes: &[1e4, 1e4],
            uniqueness: Some(&[0.0, 0.2]),
        };
        let found = populations
            .likelihoods(&points, None, &Monitor::new())
            .unwrap();
        assert!(found[0][0].unique < 1e-20);
        assert!((found[1][0].unique - 0.2).abs() < 1e-9);
        let short = Populations {
            uniqueness: Some(&[0.2]),
            ..populations
        };
        assert!(short.likelihoods(&points, None, &Monitor::new()).is_err());
    }
}
