//! Linking two waves of a survey without ids: how many respondents could be
//! followed?
//!
//! # Formula
//!
//! For a wave-2 record `i` and a wave-1 record `j`,
//!
//! ```text
//! d(i, j) = #{ keys v : v observed in both and different }
//! d*_i    = min over j of d(i, j)
//! b_i     = #{ j : d(i, j) = d*_i }
//! p_i     = [d(i, true) = d*_i] / b_i
//! ```
//!
//! where `true` is the wave-1 record of the same person. The sum of the `p_i`
//! is the expected number of correct matches; a match with `p_i = 1` is
//! certain. A missing value never differs. What "different" means is stated by
//! an [`Agreement`] per key: not equal, or not in an admissible relation. With
//! `min_shared` a pair counts only where at least so many keys are observed in
//! both.
//!
//! Source: Li, Li, Krenzke and Chang, "An approach to estimate the
//! re-identification risk in longitudinal survey microdata", section 3.2.
//!
//! # Algorithms
//!
//! Both work on distinct rows, know an upper bound of `d*_i` from the true
//! record and from neighbours in the sorted rows, and give the same numbers:
//!
//! * [`counters`]: every pair is looked at, hundreds of wave-1 rows at a time,
//!   their differences being counted in bits;
//! * [`walk`]: the [`tree`] of the sorted wave-1 rows is searched with a budget
//!   of differences that grows from zero. Under every least number
//!   of shared keys ([`by_shared`]) one such search answers.
//!
//! The ties are counted and never listed.

mod agreement;
mod by_shared;
mod counters;
mod partners;
mod patterns;
mod score;
mod tree;
mod walk;

pub use agreement::Agreement;
pub use partners::{partners, Partners};
pub(crate) use patterns::{sorted_rows, Patterns};
pub use score::{add_greedily, nearest_and_scores, scores, sensitivity, Score};
pub(crate) use tree::{Node, Tree};

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::{self, Monitor};

/// Most keys two waves can be linked on: missing values of a row are 64 bits.
pub const MAX_KEYS: usize = 64;
/// No record: the partner of a record that has none.
pub const NONE: u32 = u32::MAX;
/// Rows per block of parallel work.
const BLOCK: usize = 1 << 14;

/// Two waves in codes, and what is to count as a difference.
#[derive(Debug, Clone, Copy)]
pub struct Waves<'a> {
    wave1: &'a KeyTable,
    wave2: &'a KeyTable,
    agreements: &'a [Agreement],
    /// Per wave-2 row the wave-1 row of the same person, or [`NONE`].
    partners: Option<&'a [u32]>,
    min_shared: u32,
}

/// Search for the smallest differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The cheaper one, by estimate.
    Estimate,
    /// Bit-sliced counters over all pairs.
    Counters,
    /// The walk with a growing budget.
    Walk,
}

/// The nearest wave-1 records of every wave-2 row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Smallest number of differing keys; `None` where no record is admissible.
    pub n_diff: Vec<Option<u32>>,
    /// Number of wave-1 records that have it.
    pub n_best: Vec<u64>,
    /// Search that found them.
    pub method: Method,
    /// Distinct rows of the two waves.
    pub n_patterns: (usize, usize),
}

/// The differences between the records of one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerDifferences {
    /// Number of differing keys; `None` without a partner.
    pub n_diff: Vec<Option<u32>>,
    /// Number of keys observed in both records; 0 without a partner.
    n_shared: Vec<u8>,
    /// So many must be for the partner to be a match at all.
    min_shared: u32,
}

/// Number of changes of one key between the two records of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyChanges {
    /// Pairs observed in both waves.
    pub n_compared: u64,
    /// Pairs of these that differ.
    pub n_changed: u64,
}

impl<'a> Waves<'a> {
    /// Checks that the tables, the agreements and the partners fit together.
    pub fn new(
        wave1: &'a KeyTable,
        wave2: &'a KeyTable,
        agreements: &'a [Agreement],
        partners: Option<&'a [u32]>,
        min_shared: u32,
    ) -> Result<Self> {
        let keys = wave1.columns().len();
        if wave2.columns().len() != keys || agreements.len() != keys {
            return Err(Error::BadArgument(
                "Both waves need the same key variables.".into(),
            ));
        }
        for ((one, two), agreement) in wave1.columns().iter().zip(wave2.columns()).zip(agreements) {
            agreement.check(one.n_values(), two.n_values())?;
        }
        if let Some(partners) = partners {
            let n = wave1.n_rows() as u64;
            let outside = |&p: &u32| p != NONE && u64::from(p) >= n;
            if partners.len() != wave2.n_rows() || partners.iter().any(outside) {
                return Err(Error::BadArgument(
                    "Every partner must be a record of wave 1.".into(),
                ));
            }
        }
        Ok(Self {
            wave1,
            wave2,
            agreements,
            partners,
            min_shared,
        })
    }

    /// Number of keys.
    pub fn n_keys(&self) -> usize {
        self.agreements.len()
    }

    /// Pairs of records.
    fn n_pairs(&self) -> f64 {
        self.wave1.n_rows() as f64 * self.wave2.n_rows() as f64
    }

    fn check_keys(&self, keys: &[usize]) -> Result<()> {
        if keys.len() > MAX_KEYS {
            return Err(Error::too_large(
                &format!("Two waves can be linked on at most {MAX_KEYS} keys."),
                &format!("There are {}.", keys.len()),
                "Leave out key variables.",
            ));
        }
        if keys.is_empty() || keys.iter().any(|&v| v >= self.n_keys()) {
            return Err(Error::BadArgument(
                "Linking needs keys of the two waves.".into(),
            ));
        }
        Ok(())
    }

    /// The changes of every key among known partners.
    pub fn changes(&self, monitor: &Monitor) -> Result<Vec<KeyChanges>> {
        parallel::try_map(0..self.n_keys(), monitor, |v| {
            let mut changes = KeyChanges::default();
            self.for_partners(v, |_, observed, differs| {
                changes.n_compared += u64::from(observed);
                changes.n_changed += u64::from(differs);
            });
            Ok(changes)
        })
    }

    /// Per wave-2 row, whether key `v` is observed in both waves and differs.
    pub fn changed(&self, v: usize) -> Vec<bool> {
        let mut changed = vec![false; self.wave2.n_rows()];
        self.for_partners(v, |row, _, differs| changed[row] = differs);
        changed
    }

    /// Per wave-2 row the code that its partner has of key `v`, where `changed` says
    /// that it is another one; 0 elsewhere.
    pub fn before(&self, v: usize, changed: &[bool]) -> Vec<u32> {
        let codes = self.wave1.columns()[v].codes();
        let partners = self.partners.unwrap_or(&[]);
        (changed.iter().zip(partners))
            .map(|(&changed, &partner)| match changed && partner != NONE {
                true => codes.get(partner as usize),
                false => 0,
            })
            .collect()
    }

    /// Tells `visit` of every row with a partner: whether key `v` is observed
    /// in both waves, and whether it differs.
    fn for_partners(&self, v: usize, mut visit: impl FnMut(usize, bool, bool)) {
        let Some(partners) = self.partners else {
            return;
        };
        let (one, two) = (
            self.wave1.columns()[v].codes(),
            self.wave2.columns()[v].codes(),
        );
        for (row, &partner) in partners.iter().enumerate() {
            if partner != NONE {
                let (c1, c2) = (one.get(partner as usize), two.get(row));
                let observed = c1 != 0 && c2 != 0;
                visit(row, observed, self.agreements[v].differs(c1, c2));
            }
        }
    }

    /// Restricts matches to those that share at least this number of observed keys.
    fn sharing(&self, min_shared: u32) -> Self {
        Self {
            min_shared,
            ..*self
        }
    }

    /// Rows of each wave with fewer than `least` observed keys.
    pub fn few_observed(&self, least: u32) -> (u64, u64) {
        let of = |table| {
            let few = self.observed(table).into_iter().filter(|&n| n < least);
            few.count() as u64
        };
        (of(self.wave1), of(self.wave2))
    }

    /// The fewest observed keys of a row, in each wave.
    fn fewest_observed(&self) -> (u32, u32) {
        let of = |table| self.observed(table).into_iter().min().unwrap_or(0);
        (of(self.wave1), of(self.wave2))
    }

    /// Observed keys per row.
    fn observed(&self, table: &KeyTable) -> Vec<u32> {
        let mut observed = vec![self.n_keys() as u32; table.n_rows()];
        for column in table.columns().iter().filter(|c| c.n_missing() > 0) {
            for (row, n) in observed.iter_mut().enumerate() {
                *n -= u32::from(column.codes().get(row) == 0);
            }
        }
        observed
    }

    /// Entropy of every key in wave 1, missing values left out.
    pub fn entropies(&self) -> Vec<f64> {
        self.wave1.columns().iter().map(patterns::entropy).collect()
    }

    /// The differences of every wave-2 row to its own wave-1 record.
    pub fn partner_differences(
        &self,
        keys: &[usize],
        monitor: &Monitor,
    ) -> Result<PartnerDifferences> {
        self.check_keys(keys)?;
        let n = self.wave2.n_rows();
        let mut diff = vec![0u8; n];
        let mut shared = vec![0u8; n];
        for &v in keys {
            monitor.check()?;
            self.for_partners(v, |row, observed, differs| {
                diff[row] += u8::from(differs);
                shared[row] += u8::from(observed);
            });
        }
        let has_partner = |row: usize| self.partners.is_some_and(|p| p[row] != NONE);
        Ok(PartnerDifferences {
            n_diff: (0..n)
                .map(|row| has_partner(row).then_some(u32::from(diff[row])))
                .collect(),
            n_shared: shared,
            min_shared: self.min_shared,
        })
    }

    /// The nearest wave-1 records of every wave-2 row on `keys`.
    pub fn nearest(
        &self,
        keys: &[usize],
        own: Option<&PartnerDifferences>,
        method: Method,
        monitor: &Monitor,
    ) -> Result<Nearest> {
        self.search(keys, own, method, monitor, true)
    }

    /// As [`Waves::nearest`]; `report` says whether the monitor is told the
    /// progress of this search, or that of several.
    pub(crate) fn search(
        &self,
        keys: &[usize],
        own: Option<&PartnerDifferences>,
        method: Method,
        monitor: &Monitor,
        report: bool,
    ) -> Result<Nearest> {
        self.check_keys(keys)?;
        let mut patterns = Patterns::new(self, keys, monitor)?;
        patterns.bound(own, monitor)?;
        let (found, method) = best_of(&patterns, method, monitor, report)?;
        Ok(patterns.nearest(|query| found[query], method))
    }

    /// The nearest wave-1 records where a match must share at least so many observed
    /// keys as here, one more, ... up to all of them, in one search; `None` where there
    /// are fewer or more `pairs` of distinct rows, or where comparing them so often, in
    /// `ns_per_pair` each, would be cheaper. `method` finds rows with missing values.
    fn search_by_shared(
        &self,
        keys: &[usize],
        method: Method,
        pairs: std::ops::RangeInclusive<f64>,
        ns_per_pair: f64,
        monitor: &Monitor,
    ) -> Result<Option<Vec<Nearest>>> {
        self.check_keys(keys)?;
        let least = self.min_shared as usize;
        let width = keys.len() + 1 - least;
        let patterns = Patterns::new(self, keys, monitor)?;
        if !pairs.contains(&patterns.n_pairs()) {
            return Ok(None);
        }
        let found = by_shared::nearest(&patterns, least, method, ns_per_pair, monitor)?;
        Ok(found.map(|found| {
            (0..width)
                .map(|more| patterns.nearest(|query| found[query * width + more], Method::Walk))
                .collect()
        }))
    }
}

/// The best matches of one distinct wave-2 row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Best {
    n_diff: u8,
    /// Zero as long as nothing was found.
    n_best: u64,
}

/// Nanoseconds for one visit of the walk to a node, and for one pair
/// of the counters: measured once, only their ratio matters.
const NS_PER_VISIT: f64 = 100.0;
const NS_PER_PAIR: f64 = 0.07;
/// The counters need less than a moment for so many pairs: nothing to choose.
const FEW_PAIRS: f64 = 1e9;
/// Distinct wave-2 rows on which the walk is tried.
const TRIALS: usize = 256;

/// The best matches of every query, and what found them.
fn best_of(
    patterns: &Patterns,
    method: Method,
    monitor: &Monitor,
    report: bool,
) -> Result<(Vec<Best>, Method)> {
    let tree = match method {
        Method::Estimate => tree_if_cheaper(patterns, monitor)?,
        Method::Walk => Some(Tree::new(patterns.rows(), monitor)?),
        Method::Counters => None,
    };
    Ok(match tree {
        Some(tree) => (
            walk::nearest(patterns, &tree, monitor, report)?,
            Method::Walk,
        ),
        None => (
            counters::nearest(patterns, monitor, report)?,
            Method::Counters,
        ),
    })
}

/// The tree, where a trial on some rows finds the walk cheaper. Counts work, not
/// time, so that the choice is the same on every machine.
fn tree_if_cheaper(patterns: &Patterns, monitor: &Monitor) -> Result<Option<Tree>> {
    if patterns.n_pairs() < FEW_PAIRS {
        return Ok(None);
    }
    let tree = Tree::new(patterns.rows(), monitor)?;
    let per_query = NS_PER_PAIR * patterns.n_rows() as f64;
    let limit = (per_query / NS_PER_VISIT) as u64;
    let n = patterns.n_queries();
    let visits = parallel::try_map(0..TRIALS.min(n), monitor, |t| {
        // A query beyond thirty times what the counters need settles it.
        Ok(walk::visits(
            patterns,
            &tree,
            t * n / TRIALS.min(n),
            30 * limit,
        ))
    })?;
    let mean = visits.iter().sum::<u64>() as f64 / visits.len().max(1) as f64;
    Ok((mean * NS_PER_VISIT < per_query).then_some(tree))
}

#[cfg(test)]
mod tests;
