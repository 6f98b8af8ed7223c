//! The mathematics of sdcRisk, without R.
//!
//! Data enter as a [`KeyTable`]: columns of dense codes with missing values
//! explicit, each row standing for one or more records. Kernels take a
//! `KeyTable` and give back numbers and row indices, never values: whoever
//! holds the original columns finds the values by indexing them.
//!
//! | module | question |
//! |---|---|
//! | [`key_table`] | how are values coded, compared and grouped? |
//! | [`key_sets`] | which sets of key variables are there? |
//! | [`recode`] | which recoding is the cheapest that keeps a limit? |
//! | [`key_overview`] | what does every key variable hold and add? |
//! | [`qar_risk`] | how large is the extreme risk over all key sets of size p? |
//! | [`n_matches`] | with how many records does a record agree, values missing or uncertain? |
//! | [`exhaustive`] | which cells of all small tables are small? |
//! | [`individual_risk`] | how likely does a key lead to the right person in the population? |
//! | [`household_risk`] | which households stand out by who lives together? |
//! | [`loglinear`] | which sample uniques are unique in the population? |
//! | [`special_uniques`] | by which few values is a record unique? |
//! | [`population_risk`] | how many records are unique, or found, in the population? |
//! | [`suppress`] | which cells are blanked so that no record stands out? |
//! | [`copula`] | how likely is a record unique in the population, from a sample? |
//! | [`pram`] | how are keys perturbed with a proven bound on correct matches? |
//! | [`linkage`] | how many respondents of two waves can be linked without ids? |
//! | [`attack`] | and how many by an intruder who weighs the keys? |
//! | [`attribute_risk`] | what does a key tell of a sensitive value? |
//! | [`numeric`] | which record is nearest, and which numbers can be averaged? |
//! | [`missing`] | what does a missing value mean? |
//! | [`weights`] | how many people does a record stand for? |
//! | [`fraction`] | which share of the population is in the file? |
//! | [`probability`] | is a number a probability? |
//! | [`normal`] | what is the probability of an interval or a rectangle? |
//! | [`kendall`] | how do two orders of the records agree? |
//! | `gamma`, `hash` | special functions, mixing of words |
//! | [`memory`] | is there room for what is to be made? |
//! | [`parallel`] | how many threads work, how far are they, should they stop? |
//! | [`random`] | which random numbers belong to which block of work? |
//! | [`error`] | what can go wrong, in words a statistician can act on? |

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod attack;
pub mod attribute_risk;
#[cfg(test)]
mod cases;
pub mod copula;
pub mod error;
pub mod exhaustive;
pub mod fraction;
mod gamma;
mod hash;
pub mod household_risk;
pub mod individual_risk;
pub mod kendall;
pub mod key_overview;
pub mod key_sets;
pub mod key_table;
pub mod linkage;
pub mod loglinear;
pub mod memory;
pub mod missing;
pub mod n_matches;
pub mod normal;
pub mod numeric;
pub mod parallel;
pub mod population_risk;
pub mod pram;
pub mod probability;
pub mod qar_risk;
pub mod random;
pub mod recode;
pub mod special_uniques;
pub mod suppress;
pub mod weights;

pub use error::{Error, Result};
pub use fraction::SamplingFraction;
pub use key_sets::KeySets;
pub use key_table::KeyTable;
pub use missing::Missing;
pub use parallel::Monitor;
pub use probability::Probability;
pub use weights::Weights;
