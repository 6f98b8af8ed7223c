//! The intruder who weighs the keys: how many released records would be led
//! back to the right person of a known file?
//!
//! # Formula
//!
//! For a released record `i` and a known record `j`,
//!
//! ```text
//! W_ij    = sum over keys v of f_v(x_jv, y_iv), 0 where either is missing
//! w_i     = max over j of W_ij
//! b_i     = #{ j : W_ij = w_i }
//! p_i     = [W_i,true = w_i] / b_i
//! Z_i     = sum over j of exp(W_ij)
//! post_i  = exp(w_i) / (Z_i + n1 (1 - rho) / rho)
//! ```
//!
//! The weight of two values is the logarithm of a ratio of likelihoods: of one
//! person and of two. With `m_v` the probability that the records of one person
//! agree and `u_v` that those of two persons do, an agreement weighs
//! `log(m_v / u_v)`, or by value `log(m_v / q_v(y))` with `q_v(y)` the share of
//! the value in both files, and a disagreement `log((1 - m_v) / (1 - u_v))`.
//! `p_i` is the probability that the intruder who takes one of the best records
//! takes the right one, `post_i` what the intruder thinks of each of them, where
//! a person is in the known file with probability `rho`.
//!
//! Sources: Fellegi and Sunter 1969; for the rule that counts, Li, Li, Krenzke
//! and Chang 2021.
//!
//! # Algorithms
//!
//! All look at every pair, none lists them, and all give the same numbers:
//!
//! * [`eliminate`]: key by key over the distinct suffixes of the known rows,
//!   shared by all released rows with the same prefix;
//! * [`split`]: both files split by agreement on subsets of keys, for few keys
//!   with many values;
//! * [`tables`]: pair by pair with tables of groups of keys.
//!
//! [`choose`] takes the one with least work, which is counted before any is done.
//! If only the expected correct matches of the calibrated intruder are wanted,
//! [`linked`] looks at few pairs, for the same number.

mod assign;
mod ceiling;
mod choose;
mod dependence;
mod eliminate;
mod em;
mod files;
mod levels;
mod linked;
mod order;
mod patterns;
mod reliability;
mod score;
mod split;
mod tables;
mod ties;
mod trie;
mod weights;

pub use choose::{Engine, Plan};
pub use dependence::Dependence;
pub use em::Learning;
pub use files::{attack, Attack, Files, Found, Intruder, Outcome, Settings, Variable};
pub use linked::expected_correct;
pub use reliability::Reliability;
pub use score::{Claims, Score};

/// The best matches of one distinct released row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// The largest weight.
    pub weight: f64,
    /// Known records that have it.
    pub n: u64,
    /// The sum of the exponentials of all weights, divided by those of the
    /// shifts of the observed keys.
    pub sum: f64,
}

impl Best {
    fn new(weight: f64, n: u64, sum: f64) -> Self {
        Self { weight, n, sum }
    }
}

#[cfg(test)]
mod tests;
