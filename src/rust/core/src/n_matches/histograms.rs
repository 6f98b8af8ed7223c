//! Which sensitive values the matches of a target have, and how many have each.

use std::sync::Arc;

use super::arrangement::Bits;
use super::diversity::LabelCounts;
use super::prepared::Prepared;
use super::search::Sink;
use super::sinks::each_bit;
use super::walk::run;
use super::{Question, Relation};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Codes of values, ascending, and the matches that have each.
pub type Histogram = Vec<(u32, u64)>;

/// The values among the matches, by pattern of the targets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histograms {
    /// Per target, its pattern.
    pub pattern: Vec<u32>,
    /// Per pattern, its matches, whether they have a value or not.
    pub matches: Vec<u64>,
    /// Per sensitive column and pattern, the values among the matches.
    pub values: Vec<Vec<Histogram>>,
}

/// The sensitive values among the matches of every target of `question`.
pub fn histograms(question: &Question<'_>, monitor: &Monitor) -> Result<Histograms> {
    if question.is_empty() {
        let left = question.target_rows().or_else(|| question.rows());
        return Ok(Histograms {
            pattern: vec![0; left.map_or(0, <[u32]>::len)],
            matches: vec![0],
            values: vec![vec![Vec::new()]; question.sensitive.len()],
        });
    }
    let prepared = Prepared::new(question, monitor)?;
    let times = question.file.multiplicity();
    let n_patterns = prepared.file.len();
    let counts = (question.sensitive.iter())
        .map(|sensitive| {
            LabelCounts::new(
                &sensitive.column,
                &prepared.file.row_pattern,
                n_patterns,
                times,
            )
        })
        .collect::<Result<Vec<LabelCounts>>>()?;
    let records: Vec<u64> = prepared.file.sums(|row| times.map_or(1, |t| t[row]));
    let targets = prepared.target_patterns();
    let complete = |patterns: &super::patterns::Patterns| {
        parallel::map_rows(patterns.len(), monitor, |p| {
            patterns.bytes(p).iter().all(|&byte| byte != 0)
        })
        .map(|all| all.into_iter().all(|complete| complete))
    };
    let equal = question.relations.iter().all(|r| *r == Relation::Equal);
    let (matches, values) = if equal && complete(&prepared.file)? && complete(targets)? {
        // Each target matches the pattern that equals its own.
        let twin = parallel::map_rows(targets.len(), monitor, |x| prepared.file.find(targets, x))?;
        let values = counts.iter().map(|counts| {
            let of = |twin: &Option<usize>| twin.map_or(Vec::new(), |p| counts.of(p).to_vec());
            twin.iter().map(of).collect()
        });
        let matches = twin.iter().map(|twin| twin.map_or(0, |p| records[p]));
        (matches.collect(), values.collect())
    } else {
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
        let mut matches = Vec::with_capacity(found.len());
        let mut values = vec![Vec::with_capacity(found.len()); counts.len()];
        for (n, histograms) in found {
            matches.push(n);
            for (values, histogram) in values.iter_mut().zip(histograms) {
                values.push(histogram);
            }
        }
        (matches, values)
    };
    Ok(Histograms {
        pattern: targets.row_pattern.clone(),
        matches,
        values,
    })
}

/// Gathers the values of the patterns found.
#[derive(Clone)]
struct Gather<'a> {
    records: &'a [u64],
    counts: &'a [LabelCounts],
    patterns: Arc<Vec<u32>>,
    n: u64,
    found: Vec<Histogram>,
    /// Entries of a histogram from which on it is merged.
    limit: usize,
}

impl Sink for Gather<'_> {
    type Amount = (u64, Vec<Histogram>);

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

/// One entry per value.
fn merge(histogram: &mut Histogram) {
    histogram.sort_unstable();
    histogram.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}
