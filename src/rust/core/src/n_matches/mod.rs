//! Number of records that match a record, when values are missing or only known as
//! candidates.
//!
//! Rows `i` and `j` are *compatible*, `i ~ j`, when in every key variable one
//! of them is missing, or their values are compatible: equal, or what the
//! [`Relation`] of the column says. The number of matches of row `i` is
//!
//! ```text
//! m_i = sum over j with i ~ j of w_j          (w_j = 1 for the count)
//! ```
//!
//! itself included. `~` is reflexive, and symmetric unless candidate sets are
//! matched by the first of the target's values, but not transitive: there are
//! no classes to count. Laws, which the tests hold the code to: without missing
//! values `m_i` is the size of `i`'s class; a further key raises no `m`;
//! blanking a cell lowers no `m`; a row without any value has `m = n`; the sum
//! of all `m` is the number of ordered compatible pairs.
//!
//! Variations:
//!
//! * `min_overlap`: partners must share so many keys known on both sides; the
//!   row itself always counts.
//! * `partial_weight` alpha: a partner that is incomplete and has another
//!   pattern counts alpha, so that with `C_i` the complete partners and `P_i`
//!   the rows of the same, incomplete pattern
//!   `m_i(alpha) = alpha m_i + (1 - alpha) (C_i + P_i)`.
//! * [`Rule::Mean`]: the average of `m_i` over the values that the target may
//!   have, which is one sum of whole numbers over a product of set sizes.
//! * households: how many distinct ones occur among the matches.
//! * sensitive values: how many distinct ones occur among the matches, how evenly,
//!   and how far their distribution is from the file's.
//! * targets from outside the file, coded with the same dictionaries.
//!
//! All sums are exact: counts are integers, and weights are brought to a fixed
//! point of at least 100 binary digits, so that no order of summing, and no
//! number of threads, changes a result.
//!
//! Source: Mulder, "Ensuring anonymity in survey panel research"; the correct
//! form of its step 3, candidates on both sides and the algorithms are ours.

mod arrangement;
mod compatibility;
mod dense;
mod diversity;
mod histograms;
mod patterns;
mod pieces;
mod prepared;
mod question;
mod search;
mod sinks;
mod sums;
mod walk;

pub use compatibility::{Relation, Rule};
pub use diversity::{Diversity, Histogram, LabelCounts, Whole};
pub use histograms::{histograms, Histograms};
pub use pieces::Pieces;
pub use question::{Question, Sensitive, Settings};

use crate::error::Result;
use crate::parallel::Monitor;
use prepared::Prepared;

/// Numbers per target, in the order of the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Matches.
    pub matches: Vec<f64>,
    /// True if they are whole numbers.
    pub whole: bool,
    /// Sum of the weights of the matches.
    pub weighted: Option<Vec<f64>>,
    /// Sum of their squares, for the variance of theta.
    pub weighted_squares: Option<Vec<f64>>,
    /// Per sensitive column, what its values among the matches are like.
    pub sensitive: Vec<Vec<Diversity>>,
    /// Distinct households among the matches; a record without one is a
    /// household of its own.
    pub n_households: Option<Vec<u32>>,
    /// Sum of the weights of these households.
    pub households_weighted: Option<Vec<f64>>,
    /// Records of the file without a missing value.
    pub n_complete: u64,
    /// Those of them that no other complete record equals.
    pub n_unique_complete: u64,
    /// Distinct patterns of the file.
    pub n_patterns: usize,
    /// Algorithm that counted the matches.
    pub algorithm: Algorithm,
    /// The rows of the file that are left where incomplete ones are excluded;
    /// without outside targets the numbers are theirs.
    pub rows: Option<Vec<u32>>,
    /// The rows of outside targets that are left, likewise.
    pub target_rows: Option<Vec<u32>>,
}

/// Ways to count, which give the same numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The one that is estimated to cost less.
    #[default]
    Cheaper,
    /// The walk over the sorted distinct patterns.
    Walk,
    /// The dense transform of tables, where there is one.
    Dense,
}

/// Counts the matches of every target.
pub fn n_matches(question: &Question<'_>, monitor: &Monitor) -> Result<Answer> {
    let mut answer = if question.is_empty() {
        of_nobody(question, monitor)?
    } else {
        Prepared::new(question, monitor)?.answer(monitor)?
    };
    answer.rows = question.rows().map(<[u32]>::to_vec);
    answer.target_rows = question.target_rows().map(<[u32]>::to_vec);
    Ok(answer)
}

/// The answer where excluding has left no record, or no target: targets that are
/// left match nobody, and every number asked for is there.
fn of_nobody(question: &Question<'_>, monitor: &Monitor) -> Result<Answer> {
    let left = question.target_rows().or_else(|| question.rows());
    let n = left.map_or(0, <[u32]>::len);
    let weighs = question.weights.is_some();
    let zeros = |asked: bool| asked.then(|| vec![0.0; n]);
    let (n_complete, n_unique_complete) = if question.has_no_file() {
        (0, 0)
    } else {
        Prepared::new(&question.of_file(), monitor)?.complete_records()
    };
    Ok(Answer {
        matches: vec![0.0; n],
        whole: true,
        weighted: zeros(weighs),
        weighted_squares: zeros(weighs),
        sensitive: vec![vec![Diversity::default(); n]; question.sensitive.len()],
        n_households: question.households.as_ref().map(|_| vec![0; n]),
        households_weighted: zeros(weighs && question.households.is_some()),
        n_complete,
        n_unique_complete,
        ..Answer::default()
    })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny_tests;
