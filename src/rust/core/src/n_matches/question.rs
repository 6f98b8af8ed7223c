//! A question about matches, checked once.

use std::borrow::Cow;

use super::compatibility::Relation;
use super::Algorithm;
use crate::error::{Error, Result};
use crate::key_table::{Column, KeyTable};
use crate::memory::room_for;
use crate::missing::Missing;
use crate::weights::Weights;

/// Rules of counting, and the figures wanted.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Meaning of a missing value , by column; no entry at all is a wildcard
    /// everywhere.
    pub missing: &'a [Missing],
    /// The columns of every key, for `min_overlap`.
    pub keys: &'a [Vec<usize>],
    /// Keys known on both sides that partners must share.
    pub min_overlap: usize,
    /// Count of an incomplete partner with another pattern, from 0 to 1.
    pub partial_weight: f64,
    /// Weights of the records of the file.
    pub weights: Option<Weights<'a>>,
    /// Columns with a value per record of the file, whose distribution among the
    /// matches is looked at.
    pub sensitive: &'a [Sensitive<'a>],
    /// The household of every record of the file: 0 for none.
    pub households: Option<&'a Column>,
    /// Algorithm of counting.
    pub algorithm: Algorithm,
}

impl Default for Settings<'_> {
    /// Plain counts, missing values matching everything.
    fn default() -> Self {
        Self {
            missing: &[],
            keys: &[],
            min_overlap: 0,
            partial_weight: 1.0,
            weights: None,
            sensitive: &[],
            households: None,
            algorithm: Algorithm::Cheaper,
        }
    }
}

/// A column of sensitive values.
#[derive(Debug, Clone)]
pub struct Sensitive<'a> {
    /// The values, 0 for missing.
    pub column: Cow<'a, Column>,
    /// True if their order has a meaning.
    pub ordered: bool,
}

/// A question whose parts fit each other, without the records it leaves out:
/// a code of 0 matches everything from here on.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    pub(super) file: Cow<'a, KeyTable>,
    pub(super) targets: Option<Cow<'a, KeyTable>>,
    /// One per column.
    pub(super) relations: Vec<Relation>,
    pub(super) keys: &'a [Vec<usize>],
    pub(super) min_overlap: usize,
    pub(super) partial_weight: f64,
    pub(super) weights: Option<Cow<'a, [f64]>>,
    pub(super) squares: Option<Cow<'a, [f64]>>,
    pub(super) sensitive: Vec<Sensitive<'a>>,
    pub(super) households: Option<Cow<'a, Column>>,
    pub(super) algorithm: Algorithm,
    /// The rows in use, where some are excluded.
    pub(super) rows: Option<Vec<u32>>,
    pub(super) target_rows: Option<Vec<u32>>,
}

impl<'a> Question<'a> {
    /// Asks for the matches in `file` of its own records, or of the rows of
    /// `targets`, which are coded like it. `relations` has one entry per column.
    ///
    /// # Errors
    ///
    /// Fails if the parts do not fit each other, or a partial weight lies outside 0 to 1.
    pub fn new(
        file: &'a KeyTable,
        targets: Option<&'a KeyTable>,
        relations: Vec<Relation>,
        settings: Settings<'a>,
    ) -> Result<Self> {
        check(file, targets, &relations, &settings)?;
        let mut question = Self {
            file: Cow::Borrowed(file),
            targets: targets.map(Cow::Borrowed),
            relations,
            keys: settings.keys,
            min_overlap: settings.min_overlap,
            partial_weight: settings.partial_weight,
            weights: settings.weights.map(|w| Cow::Borrowed(w.values())),
            squares: (settings.weights.and_then(Weights::squares)).map(Cow::Borrowed),
            sensitive: settings.sensitive.to_vec(),
            households: settings.households.map(Cow::Borrowed),
            algorithm: settings.algorithm,
            rows: None,
            target_rows: None,
        };
        question.exclude(settings.missing)?;
        question.categorise(settings.missing);
        Ok(question)
    }

    /// The rows of the file in use, where some are excluded.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// The sensitive columns of the records in use.
    pub fn sensitive(&self) -> &[Sensitive<'a>] {
        &self.sensitive
    }

    /// The rows of outside targets in use, where some are excluded.
    pub fn target_rows(&self) -> Option<&[u32]> {
        self.target_rows.as_deref()
    }

    /// True if excluding has left no record, or no target.
    pub(super) fn is_empty(&self) -> bool {
        self.has_no_file() || self.target_rows.as_ref().is_some_and(Vec::is_empty)
    }

    /// True if excluding has left no record to match.
    pub(super) fn has_no_file(&self) -> bool {
        self.rows.as_ref().is_some_and(Vec::is_empty)
    }

    /// The question about the records of the file, without outside targets.
    pub(super) fn of_file(&self) -> Self {
        Self {
            targets: None,
            target_rows: None,
            ..self.clone()
        }
    }

    /// Leaves out the rows that miss a value they must have.
    fn exclude(&mut self, missing: &[Missing]) -> Result<()> {
        let chosen = columns_with(missing, Missing::Exclude);
        if !chosen.contains(&true) {
            return Ok(());
        }
        let rows = self.file.rows_complete_on(&chosen);
        let target_rows = self.targets.as_ref().map(|t| t.rows_complete_on(&chosen));
        if let (Some(targets), Some(rows)) = (&self.targets, &target_rows) {
            if !rows.is_empty() {
                self.targets = Some(Cow::Owned(targets.select(rows)?));
            }
        }
        self.target_rows = target_rows;
        if rows.is_empty() {
            self.rows = Some(rows);
            return Ok(());
        }
        self.file = Cow::Owned(self.file.select(&rows)?);
        for numbers in [&mut self.weights, &mut self.squares].into_iter().flatten() {
            *numbers = Cow::Owned(rows.iter().map(|&row| numbers[row as usize]).collect());
        }
        let sensitive = self.sensitive.iter_mut().map(|s| &mut s.column);
        for column in sensitive.chain(self.households.as_mut()) {
            room_for(4 * rows.len())?;
            *column = Cow::Owned(column.select(&rows));
        }
        self.rows = Some(rows);
        Ok(())
    }

    /// Gives missing values a code of their own where they are one.
    fn categorise(&mut self, missing: &[Missing]) {
        let chosen = columns_with(missing, Missing::Category);
        if !chosen.contains(&true) {
            return;
        }
        let coded = |table: &KeyTable| Cow::Owned(table.clone().missing_as_value(&chosen));
        self.file = coded(&self.file);
        self.targets = self.targets.as_ref().map(|t| coded(t));
        let columns = self.relations.iter_mut().zip(self.file.columns());
        for ((relation, column), _) in columns.zip(&chosen).filter(|(_, &chosen)| chosen) {
            relation.add_code(column.n_values());
        }
    }
}

fn columns_with(missing: &[Missing], rule: Missing) -> Vec<bool> {
    missing.iter().map(|&m| m == rule).collect()
}

fn check(
    file: &KeyTable,
    targets: Option<&KeyTable>,
    relations: &[Relation],
    settings: &Settings<'_>,
) -> Result<()> {
    let (n_columns, n) = (file.columns().len(), file.n_rows());
    let one_each = |len: usize| len == n_columns;
    let fits = one_each(relations.len())
        && (settings.missing.is_empty() || one_each(settings.missing.len()))
        && targets.is_none_or(|t| one_each(t.columns().len()))
        && settings.keys.iter().flatten().all(|&v| v < n_columns)
        && settings.weights.is_none_or(|w| w.len() == n)
        && settings.sensitive.iter().all(|s| s.column.len() == n)
        && settings.households.is_none_or(|c| c.len() == n);
    if !fits || !(0.0..=1.0).contains(&settings.partial_weight) {
        return Err(Error::BadArgument(
            "A question about matches must fit its file, and a partial weight lie in [0, 1]."
                .into(),
        ));
    }
    Ok(())
}
