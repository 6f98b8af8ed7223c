//! A Gaussian copula for the key variables: how often is a record expected to
//! be unique in a population of which the file is a sample?
//!
//! # Formula
//!
//! A record x of d categorical keys has the probability
//! `q(x) = P(l_j < Z_j <= u_j, all j)`, Z normal with correlation matrix Sigma,
//! `l_j` and `u_j` the normal quantiles of the margin of key j below and at the
//! category of x in a latent order of the categories. Sigma is found pair by
//! pair: the correlation at which the bivariate table of rectangles has the
//! mutual information of the sample, less what independence would show in a
//! sample of this size.
//!
//! Source: Rocher, Hendrickx, de Montjoye (2019), doi 10.1038/s41467-019-10933-3.
//!
//! | module | step |
//! |---|---|
//! | `margins` | counts of categories, parametric margins by BIC |
//! | `information` | mutual information, its expectation, that of a copula |
//! | `orders` | the latent order of the categories |
//! | `correlation` | the correlation of one pair |
//! | `projection` | the nearest correlation matrix |
//! | `sampling` | records drawn from the model, and how many are unique |
//! | `curve` | uniqueness at any size from one set of draws |
//! | `calibration` | the model brought to the uniqueness of the sample |
//! | `forecast` | estimates and intervals of one population |
//! | `fit` | all steps of a fit |
//! | `population` | draws, calibration and forecast in one |
//! | `cholesky` | the triangular root of a matrix |
//! | `lattice` | means over shifted lattice points |
//! | `rectangle` | the probability of a record: equation 18 |
//! | `trivariate` | the same for three keys, exactly |
//! | `placement` | the same with random places of categories |
//! | `prior` | how strongly a pair is drawn towards independence |
//! | `tree` | the probability of a record from margins and a tree of pairs |
//! | `mixture` | likelihoods of uniqueness where these probabilities are not certain |
//! | `records` | the tree of a sample, and likelihoods in several populations |
//! | `scores` | one of these for every record of a table |
//! | `lanes` | normal intervals for many lattice points at once |

mod calibration;
pub(crate) mod cholesky;
mod correlation;
mod curve;
mod fit;
mod forecast;
mod information;
mod lanes;
mod lattice;
mod margins;
mod mixture;
mod orders;
mod placement;
mod population;
mod prior;
mod projection;
mod records;
mod rectangle;
mod sampling;
mod scores;
mod tree;
mod trivariate;

pub use calibration::{Moments, Seen};
pub use fit::{fit, Fit, Marginals, Model, Sample, Settings};
pub use forecast::Range;
pub use information::PairTable;
pub use lattice::{Effort, Estimate};
pub use margins::{Family, Margin};
pub use mixture::{Cluster, Likelihood, Mixture, Point};
pub use orders::Order;
pub use population::{
    judge, model_uniqueness, uniqueness_of_sets, Estimate as PopulationEstimate, ModelShares,
    Settings as PopulationSettings,
};
pub use records::{tree_of_pairs, Populations, SampleTree};
pub use rectangle::{Rectangles, Scratch};
pub use sampling::Sampler;
pub use scores::{mapped_categories, model_probabilities, Method};
pub use tree::{Edge, Margin as TreeMargin, Tree, UNSEEN};
