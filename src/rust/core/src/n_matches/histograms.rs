//! Sensitive values among the matches of a target, with their frequencies.

use std::sync::Arc;

use super::arrangement::Bits;
use super::diversity::{merge, LabelCounts};
use super::patterns::Patterns;
use super::prepared::Prepared;
use super::search::Sink;
use super::sinks::each_bit;
use super::walk::run;
use super::{Question, Relation};
use crate::error::Result;
use crate::memory::{collected, filled, push, reserved};
use crate::parallel::{self, Monitor};

/// The values among the matches, by place: targets of one place have the same matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histograms {
    /// Per target, its place; beyond the last one without a match.
    pub place: Vec<u32>,
    /// Per place, its matches, whether they have a value or not.
    pub matches: Vec<u64>,
    /// Per sensitive column, the values among the matches of each place.
    pub values: Vec<LabelCounts>,
}

/// The sensitive values among the matches of every target of `question`.
pub fn histograms(question: &Question<'_>, monitor: &Monitor) -> Result<Histograms> {
    if question.is_empty() {
        let left = question.target_rows().or_else(|| question.rows());
        return Ok(Histograms {
            place: filled(0, left.map_or(0, <[u32]>::len))?,
            matches: Vec::new(),
            values: vec![LabelCounts::default(); question.sensitive.len()],
        });
    }
    let prepared = Prepared::new(question, monitor)?;
    let times = question.file.multiplicity();
    let counts = prepared.label_counts(monitor)?;
    let records: Vec<u64> = prepared.file.sums(|row| times.map_or(1, |t| t[row]));
    let targets = prepared.target_patterns();
    let is_complete = |x: usize| targets.bytes(x).iter().all(|&byte| byte != 0);
    let complete = prepared.complete.iter().all(|&complete| complete)
        && parallel::map_rows(targets.len(), monitor, is_complete)?
            .into_iter()
            .all(|complete| complete);
    if complete && question.relations.iter().all(|r| *r == Relation::Equal) {
        // Each target matches the pattern that equals its own.
        return Ok(Histograms {
            place: twins(question, &prepared.file, targets, monitor)?,
            matches: records,
            values: counts,
        });
    }
    let search = prepared.search();
    let found = run(
        &search,
        |arranged: &_| Gather {
            records: &records,
            counts: &counts,
            patterns: arranged.patterns.clone(),
            n: 0,
            found: vec![Vec::new(); counts.len()],
            limit: 1 << 12,
        },
        monitor,
    )?;
    let mut matches = reserved(found.len())?;
    let mut values = vec![LabelCounts::default(); counts.len()];
    for (n, histograms) in found {
        push(&mut matches, n)?;
        for (values, histogram) in values.iter_mut().zip(&histograms) {
            values.add(histogram)?;
        }
    }
    Ok(Histograms {
        place: targets.row_pattern.clone(),
        matches,
        values,
    })
}

/// The pattern of the file that equals each target.
fn twins(
    question: &Question<'_>,
    file: &Patterns,
    targets: &Patterns,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    if question.targets.is_none() {
        return Ok(file.row_pattern.clone());
    }
    let none = file.len() as u32;
    let twin = parallel::map_rows(targets.len(), monitor, |x| {
        file.find(targets, x).map_or(none, |pattern| pattern as u32)
    })?;
    let of = |&pattern: &u32| twin[pattern as usize];
    collected(
        targets.row_pattern.iter().map(of),
        targets.row_pattern.len(),
    )
}

/// Gathers the values of the patterns found.
#[derive(Clone)]
struct Gather<'a> {
    records: &'a [u64],
    counts: &'a [LabelCounts],
    patterns: Arc<Vec<u32>>,
    n: u64,
    found: Vec<Vec<(u32, u64)>>,
    /// Entries of a histogram from which on it is merged.
    limit: usize,
}

impl Sink for Gather<'_> {
    type Amount = (u64, Vec<Vec<(u32, u64)>>);

    fn found(&mut self, _x: usize, start: usize, bits: Bits) {
        each_bit(start, bits, |place| {
            let pattern = self.patterns[place] as usize;
            self.n += self.records[pattern];
            for (found, counts) in self.found.iter_mut().zip(self.counts) {
                found.extend_from_slice(counts.of(pattern));
                // Values repeat: what is gathered stays about as long as the values.
                if found.len() > self.limit {
                    merge(found);
                    self.limit = self.limit.max(2 * found.len());
                }
            }
        });
    }

    fn close(&mut self, _x: usize) -> Self::Amount {
        let found = self.found.iter_mut().map(|found| {
            merge(found);
            let exact = found.as_slice().to_vec();
            found.clear();
            exact
        });
        (std::mem::take(&mut self.n), found.collect())
    }
}
