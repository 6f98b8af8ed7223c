//! How many records match a record, when values are missing or only known as
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
//! * labels: how many distinct ones (sensitive values, households) occur among
//!   the matches.
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
mod patterns;
mod pieces;
mod sinks;
mod sums;
mod walk;

pub use compatibility::{Relation, Rule};
pub use pieces::Pieces;

use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::parallel::Monitor;

use dense::Plan;
use patterns::{walk_order, Layout, Patterns};
use sinks::{Amount, Distinct, Labels};
use sums::{fixed_point, shifted, Sums};
use walk::{run, Search};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The records that are matched against.
    pub file: &'a KeyTable,
    /// Patterns to look up in the file, coded like it; `None` for the file's
    /// own records.
    pub targets: Option<&'a KeyTable>,
    /// One per column.
    pub relations: &'a [Relation],
    /// The columns of every key, for `min_overlap`.
    pub keys: &'a [Vec<usize>],
    /// Keys known on both sides that partners must share.
    pub min_overlap: usize,
    /// What an incomplete partner with another pattern counts.
    pub partial_weight: f64,
    /// Weights of the records of the file.
    pub weights: Option<&'a [f64]>,
    /// A value per record of the file, of which the distinct ones are counted.
    pub sensitive: Option<&'a Column>,
    /// The household of every record of the file: 0 for none.
    pub households: Option<&'a Column>,
    /// How to count.
    pub algorithm: Algorithm,
}

/// Numbers per target, in the order of the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Matches.
    pub matches: Vec<f64>,
    /// Whether they are whole numbers.
    pub whole: bool,
    /// Sum of the weights of the matches.
    pub weighted: Option<Vec<f64>>,
    /// Sum of their squares, for the variance of theta.
    pub weighted_squares: Option<Vec<f64>>,
    /// Distinct sensitive values among the matches, missing not counted.
    pub n_sensitive: Option<Vec<u32>>,
    /// Distinct households among the matches; a record without one is a
    /// household of its own.
    pub n_households: Option<Vec<u32>>,
    /// Sum of the weights of these households.
    pub households_weighted: Option<Vec<f64>>,
    /// Records of the file without a missing value, and those of them that no
    /// other complete record equals.
    pub n_complete: u64,
    /// As said.
    pub n_unique_complete: u64,
    /// Distinct patterns of the file.
    pub n_patterns: usize,
    /// How the matches were counted.
    pub algorithm: Algorithm,
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
    check(question)?;
    let prepared = Prepared::new(question, monitor)?;
    prepared.answer(monitor)
}

fn check(question: &Question<'_>) -> Result<()> {
    let n_columns = question.file.columns().len();
    let n = question.file.n_rows();
    let fits = question.relations.len() == n_columns
        && question
            .targets
            .is_none_or(|t| t.columns().len() == n_columns)
        && question.keys.iter().flatten().all(|&v| v < n_columns)
        && question.weights.is_none_or(|w| w.len() == n)
        && question.sensitive.is_none_or(|c| c.len() == n)
        && question.households.is_none_or(|c| c.len() == n);
    if !fits || !(0.0..=1.0).contains(&question.partial_weight) {
        return Err(Error::BadArgument(
            "A question about matches must fit its file, and a partial weight lie in [0, 1]."
                .into(),
        ));
    }
    let bad = |w: &f64| !(w.is_finite() && *w > 0.0);
    if question.weights.is_some_and(|w| w.iter().any(bad)) {
        return Err(Error::BadArgument(
            "Weights must be finite and positive.".into(),
        ));
    }
    Ok(())
}

/// Patterns of file and targets, and the search in them.
struct Prepared<'a> {
    question: &'a Question<'a>,
    file: Patterns,
    targets: Option<Patterns>,
    /// Whether each pattern of the file is complete.
    complete: Vec<bool>,
}

impl<'a> Prepared<'a> {
    fn new(question: &'a Question<'a>, monitor: &Monitor) -> Result<Self> {
        let tables = || std::iter::once(question.file).chain(question.targets);
        let n_values: Vec<u32> = (0..question.file.columns().len())
            .map(|v| {
                tables()
                    .map(|t| t.columns()[v].n_values())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let order = walk_order(question.file, &n_values);
        let layout = Layout::new(order, &n_values);
        let file = Patterns::new(question.file, layout.clone(), monitor)?;
        let targets = question
            .targets
            .map(|t| Patterns::new(t, layout, monitor))
            .transpose()?;
        let never = question.file.columns().iter().any(|c| c.n_values() == 0);
        let complete = (0..file.len())
            .map(|p| !never && file.bytes(p).iter().all(|&b| b != 0))
            .collect();
        Ok(Self {
            question,
            file,
            targets,
            complete,
        })
    }

    fn target_patterns(&self) -> &Patterns {
        self.targets.as_ref().unwrap_or(&self.file)
    }

    fn search(&self) -> Search<'_> {
        Search::new(
            &self.file,
            self.target_patterns(),
            self.question.relations,
            self.question.keys,
            self.question.min_overlap,
        )
    }

    fn answer(&self, monitor: &Monitor) -> Result<Answer> {
        let question = self.question;
        let counted = question.relations.iter().any(Relation::is_counted);
        let plan = self.plan();
        let walked = plan.is_none();
        let search = self.search();
        let sums = Sums {
            prepared: self,
            search: &search,
            plan,
            counted,
        };
        let (n_complete, n_unique_complete) = self.complete_records();
        let matches = sums.matches(monitor)?;
        let (weighted, weighted_squares) = match question.weights {
            None => (None, None),
            Some(weights) => (
                Some(sums.weighted(|row| weights[row], monitor)?),
                Some(sums.squares(weights, monitor)?),
            ),
        };
        let (mut n_sensitive, mut n_households, mut households_weighted) = (None, None, None);
        if let Some(column) = question.sensitive {
            let labels = self.labels(column, false, |_| 1u32);
            let found = distinct(&search, &labels, monitor)?;
            let codes = column.codes();
            n_sensitive = Some(self.spread(&found, |row| u32::from(codes.get(row) != 0)));
        }
        if let Some(column) = question.households {
            let labels = self.labels(column, true, |_| 1u32);
            let found = distinct(&search, &labels, monitor)?;
            n_households = Some(self.spread(&found, |_| 1));
            if let Some(weights) = question.weights {
                let (fixed, digits) = fixed_point(weights.len(), |row| weights[row], 0);
                let labels = self.labels(column, true, |row| fixed[row]);
                let found = distinct(&search, &labels, monitor)?;
                let number = |sum: u128| shifted(sum.number(), -digits);
                let found: Vec<f64> = found.into_iter().map(number).collect();
                households_weighted = Some(self.spread(&found, |row| weights[row]));
            }
        }
        Ok(Answer {
            matches,
            whole: !counted && (question.partial_weight - 1.0).abs() <= 0.0,
            weighted,
            weighted_squares,
            n_sensitive,
            n_households,
            households_weighted,
            n_complete,
            n_unique_complete,
            n_patterns: self.file.len(),
            algorithm: if walked {
                Algorithm::Walk
            } else {
                Algorithm::Dense
            },
        })
    }

    /// The plan of the dense transform, where it applies and is to be used.
    fn plan(&self) -> Option<Plan> {
        let question = self.question;
        let plain =
            question.min_overlap == 0 && question.relations.iter().all(|r| *r == Relation::Equal);
        if !plain || self.file.len() < 2 {
            return None;
        }
        // Weights are summed in wider numbers than counts.
        let bytes = if question.weights.is_some() { 16 } else { 8 };
        let targets = self.target_patterns();
        match question.algorithm {
            Algorithm::Walk => None,
            Algorithm::Dense => Plan::new(&self.file, bytes),
            Algorithm::Cheaper => {
                // Weights differ, and so do the counts of patterns with twins.
                let twins = question.file.n_records() as f64 / self.file.len() as f64 - 1.0;
                let singly = if question.weights.is_some() {
                    1.0
                } else {
                    twins.min(1.0)
                };
                Plan::if_cheaper(&self.file, targets, bytes, singly)
            }
        }
    }

    /// Numbers of complete records, and of those that are unique among them.
    fn complete_records(&self) -> (u64, u64) {
        let times = self.question.file.multiplicity();
        let amounts = self.file.sums(|row| times.map_or(1, |t| t[row]));
        amounts
            .iter()
            .zip(&self.complete)
            .filter(|(_, &complete)| complete)
            .fold((0, 0), |(n, unique), (&count, _)| {
                (n + count, unique + u64::from(count == 1))
            })
    }

    /// Numbers of patterns to rows. A row of the file that knows fewer keys
    /// than partners must share matches itself alone.
    fn spread<T: Copy>(&self, by_pattern: &[T], own: impl Fn(usize) -> T) -> Vec<T> {
        let targets = self.target_patterns();
        let min_overlap = self.question.min_overlap;
        if min_overlap == 0 || self.targets.is_some() {
            let value = |&p: &u32| by_pattern[p as usize];
            return targets.row_pattern.iter().map(value).collect();
        }
        let alone: Vec<bool> = (0..targets.len()).map(|p| self.is_alone(p)).collect();
        (targets.row_pattern.iter().enumerate())
            .map(|(row, &p)| match alone[p as usize] {
                true => own(row),
                false => by_pattern[p as usize],
            })
            .collect()
    }

    /// Whether a target knows fewer keys than partners must share.
    fn is_alone(&self, target: usize) -> bool {
        let targets = self.target_patterns();
        let columns = &targets.layout.columns;
        let bytes = targets.bytes(target);
        let known = |v: &usize| columns.iter().zip(bytes).any(|(c, &b)| c == v && b != 0);
        let keys = self.question.keys.iter();
        keys.filter(|key| key.iter().any(known)).count() < self.question.min_overlap
    }

    /// The distinct labels of every pattern's records. Code 0 is none, or, for
    /// `lonely`, a label of its own.
    fn labels<T: Amount>(
        &self,
        column: &Column,
        lonely: bool,
        amount: impl Fn(usize) -> T,
    ) -> Labels<T> {
        let mut n_labels = column.n_values();
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(column.len());
        let mut amounts = vec![T::default(); n_labels as usize];
        with_codes!(column.codes(), |codes| {
            for (row, code) in codes.iter().enumerate() {
                let label = match (code.value(), lonely) {
                    (0, false) => continue,
                    (0, true) => {
                        n_labels += 1;
                        amounts.push(T::default());
                        n_labels - 1
                    }
                    (code, _) => code - 1,
                };
                // All records of a household have its weight.
                amounts[label as usize] = amount(row);
                pairs.push((self.file.row_pattern[row], label));
            }
        });
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0u32; self.file.len() + 1];
        for &(pattern, _) in &pairs {
            starts[pattern as usize + 1] += 1;
        }
        for p in 0..self.file.len() {
            starts[p + 1] += starts[p];
        }
        Labels {
            starts,
            labels: pairs.into_iter().map(|(_, label)| label).collect(),
            amounts,
        }
    }
}

fn distinct<T: Amount>(
    search: &Search<'_>,
    labels: &Labels<T>,
    monitor: &Monitor,
) -> Result<Vec<T>> {
    run(search, |arranged| Distinct::new(labels, arranged), monitor)
}

#[cfg(test)]
mod tests;
