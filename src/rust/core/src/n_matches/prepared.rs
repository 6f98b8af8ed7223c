//! The distinct patterns of a file and its targets, and the answer from them.

use super::dense::Plan;
use super::diversity::{Diversities, LabelCounts, Whole};
use super::patterns::{walk_order, Layout, Patterns};
use super::search::{Amount, Search};
use super::sinks::{Distinct, Labels};
use super::sums::{fixed_point, shifted, Sums};
use super::walk::run;
use super::{Algorithm, Answer, Question, Relation};
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column};
use crate::parallel::Monitor;

/// Patterns of file and targets, and the search in them.
pub(super) struct Prepared<'a> {
    pub question: &'a Question<'a>,
    pub file: Patterns,
    targets: Option<Patterns>,
    /// True if each pattern of the file is complete.
    pub complete: Vec<bool>,
}

impl<'a> Prepared<'a> {
    pub fn new(question: &'a Question<'a>, monitor: &Monitor) -> Result<Self> {
        let targets = question.targets.as_deref();
        let tables = || std::iter::once(&*question.file).chain(targets);
        let n_values: Vec<u32> = (0..question.file.columns().len())
            .map(|v| {
                tables()
                    .map(|t| t.columns()[v].n_values())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let order = walk_order(&question.file, &n_values);
        let layout = Layout::new(order, &n_values);
        let file = Patterns::new(&question.file, layout.clone(), monitor)?;
        let targets = targets
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

    pub fn target_patterns(&self) -> &Patterns {
        self.targets.as_ref().unwrap_or(&self.file)
    }

    pub fn search(&self) -> Search<'_> {
        Search::new(
            &self.file,
            self.target_patterns(),
            &self.question.relations,
            self.question.keys,
            self.question.min_overlap,
        )
    }

    pub fn answer(&self, monitor: &Monitor) -> Result<Answer> {
        let question = self.question;
        let search = self.search();
        let sums = Sums {
            prepared: self,
            search: &search,
            plan: self.plan(),
            counted: question.relations.iter().any(Relation::is_counted),
        };
        let (n_complete, n_unique_complete) = self.complete_records();
        let mut answer = Answer {
            matches: sums.matches(monitor)?,
            whole: !sums.counted && (question.partial_weight - 1.0).abs() <= 0.0,
            n_complete,
            n_unique_complete,
            n_patterns: self.file.len(),
            algorithm: match sums.plan {
                None => Algorithm::Walk,
                Some(_) => Algorithm::Dense,
            },
            ..Answer::default()
        };
        if let Some(weights) = question.weights.as_deref() {
            answer.weighted = Some(sums.weighted(|row| weights[row], monitor)?);
            let squares = question.squares.as_deref();
            answer.weighted_squares = Some(sums.squares(weights, squares, monitor)?);
        }
        self.count_labels(&search, &mut answer, monitor)?;
        Ok(answer)
    }

    /// The sensitive values of every pattern of the file, column by column.
    pub fn label_counts(&self, monitor: &Monitor) -> Result<Vec<LabelCounts>> {
        let question = self.question;
        if question.sensitive.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.file.rows_of()?;
        let times = question.file.multiplicity();
        let sensitive = question.sensitive.iter();
        sensitive
            .map(|s| LabelCounts::new(&s.column, &rows, times, monitor))
            .collect()
    }

    /// Adds what sensitive values and households there are among the matches.
    fn count_labels(
        &self,
        search: &Search<'_>,
        answer: &mut Answer,
        monitor: &Monitor,
    ) -> Result<()> {
        let question = self.question;
        let counts = self.label_counts(monitor)?;
        for (sensitive, counts) in question.sensitive.iter().zip(&counts) {
            let whole = Whole::new(sensitive, question.file.multiplicity())?;
            let sink = |arranged: &_| Diversities::new(&whole, counts, arranged);
            let found = run(search, sink, monitor)?;
            let codes = sensitive.column.codes();
            let own = |row: usize| whole.of_one(codes.get(row));
            answer.sensitive.push(self.spread(&found, own));
        }
        if let Some(column) = question.households.as_deref() {
            let labels = self.labels(column, |_| 1u32);
            let found = distinct(search, &labels, monitor)?;
            answer.n_households = Some(self.spread(&found, |_| 1));
            if let Some(weights) = question.weights.as_deref() {
                let (fixed, digits) = fixed_point(weights.len(), |row| weights[row], 0);
                let labels = self.labels(column, |row| fixed[row]);
                let found = distinct(search, &labels, monitor)?;
                let number = |sum: u128| shifted(sum.number(), -digits);
                let found: Vec<f64> = found.into_iter().map(number).collect();
                answer.households_weighted = Some(self.spread(&found, |row| weights[row]));
            }
        }
        Ok(())
    }

    /// True if the matches of a pattern are the records that have it: complete ones are
    /// compared with each other for equality.
    pub fn matches_itself_alone(&self) -> bool {
        self.question.algorithm == Algorithm::Cheaper
            && self.targets.is_none()
            && self.is_plain()
            && self.complete.iter().all(|&complete| complete)
    }

    fn is_plain(&self) -> bool {
        let equal = |relation: &Relation| *relation == Relation::Equal;
        self.question.min_overlap == 0 && self.question.relations.iter().all(equal)
    }

    /// The plan of the dense transform, where it applies and is to be used.
    fn plan(&self) -> Option<Plan> {
        let question = self.question;
        if !self.is_plain() || self.file.len() < 2 || self.matches_itself_alone() {
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
    pub fn complete_records(&self) -> (u64, u64) {
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
    pub fn spread<T: Copy>(&self, by_pattern: &[T], own: impl Fn(usize) -> T) -> Vec<T> {
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

    /// True if a target knows fewer keys than partners must share.
    pub fn is_alone(&self, target: usize) -> bool {
        let targets = self.target_patterns();
        let columns = &targets.layout.columns;
        let bytes = targets.bytes(target);
        let known = |v: &usize| columns.iter().zip(bytes).any(|(c, &b)| c == v && b != 0);
        let keys = self.question.keys.iter();
        keys.filter(|key| key.iter().any(known)).count() < self.question.min_overlap
    }

    /// The distinct labels of every pattern's records. Every code 0 is a label of
    /// its own.
    fn labels<T: Amount>(&self, column: &Column, amount: impl Fn(usize) -> T) -> Labels<T> {
        let mut n_labels = column.n_values();
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(column.len());
        let mut amounts = vec![T::default(); n_labels as usize];
        with_codes!(column.codes(), |codes| {
            for (row, code) in codes.iter().enumerate() {
                let label = match code.value() {
                    0 => {
                        n_labels += 1;
                        amounts.push(T::default());
                        n_labels - 1
                    }
                    code => code - 1,
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
