//! Contribution of every record to the extreme risk.
//!
//! # Formula
//!
//! `DT(i) = T - T(:i)`, where `T(:i)` is the extreme risk of the file without
//! record i: there, key set j has `H(j) - U(i, j)` distinct keys among L - 1
//! records. Source: Bera et al. (2023), hal-04165346, section 3, whose text
//! calls the exact values too expensive. They are not:
//!
//! * T depends on the m largest counts only, down to the lower of the two
//!   order statistics around the threshold. A removal lowers a count by one
//!   at most. So with `h` the m-th largest count, only the *candidates*
//!   `{j : H(j) >= h - 1}` can be among the m largest without record i.
//! * Records with the same bits of U on the candidates have the same DT: one
//!   evaluation per distinct pattern.
//! * Without record i the counts of the candidates are `H` where it is not unique
//!   and `H - 1` where it is: in the same order as before, but for equal counts.
//!
//! Every number is the one that a new analysis of the file without the record
//! gives, to the last bit: counts and denominator are the same whole numbers
//! and the same operations follow.

use std::ops::Range;

use hashbrown::HashTable;

use super::planes::count_sets;
use super::tail::{fit_tail_with, Position, RankWeights, TopRisks};
use super::ties::merge_ties;
use super::uniqueness::{uniqueness, BitRows, Uniqueness};
use super::{estimate, Estimate, TailSettings, ThetaOne};
use crate::error::Result;
use crate::hash::rolled;
use crate::key_sets::KeySets;
use crate::key_table::{with_codes, Code, KeyTable};
use crate::parallel::{self, Monitor};

/// The contributions of all records.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    /// The extreme risk of the whole file and its companions.
    pub whole: Estimate,
    /// DT per record; `None` where one of the two risks is not determined.
    pub contribution: Vec<Option<f64>>,
    /// Sum of theta over the key sets a record is unique on.
    pub u_plus: Vec<f64>,
    /// Sum of 1 - theta over these sets.
    pub u_star: Vec<f64>,
    /// Number of these sets.
    pub n_unique_sets: Vec<u32>,
    /// The key sets at the lower and the upper order statistic around the
    /// threshold, and the weight of the upper one; sets by their index.
    pub threshold_sets: (u32, u32, f64),
    /// Distinct counts of these two sets.
    pub threshold_distinct: (u32, u32),
    /// Per record, whether it is unique on each of the two.
    pub unique_at_threshold: Vec<(bool, bool)>,
    /// Candidate sets and distinct patterns of uniqueness on them.
    pub n_candidates: usize,
    /// Distinct patterns.
    pub n_patterns: usize,
}

/// Number of the largest counts that any estimate of `n_sets` sets draws, if at most `ones` of them
/// may belong to sets that identify every record.
pub fn depth(n_sets: usize, ones: usize, settings: &TailSettings) -> usize {
    let n_top = Position::exceeded_by(n_sets, settings.pi_u).n_top(n_sets);
    match settings.theta_one {
        // Sets left out let as many others move up.
        ThetaOne::Exclude => (n_top + ones).min(n_sets),
        ThetaOne::One | ThetaOne::Clamp => n_top,
    }
}

/// The smallest count among the `depth` largest.
pub fn count_at_depth(distinct: &[u32], depth: usize) -> u32 {
    let mut counts = distinct.to_vec();
    *counts.select_nth_unstable_by(depth - 1, |a, b| b.cmp(a)).1
}

/// The contributions of all records to T at the first level of `settings`.
pub fn contributions(
    table: &KeyTable,
    sets: KeySets,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Contributions> {
    let n_records = table.n_records();
    let counts = count_sets(table, sets, monitor)?;
    monitor.set_total(monitor.progress().0 + sets.len() as u64);
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.sort_by_key(|&set| std::cmp::Reverse(counts.distinct[set as usize]));
    let falling = order.iter().map(|&set| counts.distinct[set as usize]);
    let whole = estimate(falling, sets.len(), n_records, settings).swap_remove(0);
    let candidates = candidates(&counts.distinct, n_records, settings);
    let (lower, upper, weight_of_upper) = threshold_sets(&order, whole.n_sets, settings);
    let weight: Vec<u64> = counts.distinct.iter().map(|&h| u64::from(h)).collect();
    let found = uniqueness(table, sets, &counts.unique, &weight, &candidates, monitor)?;
    let whole_risk = whole.risk;
    let (patterns, risks) = if n_records < 2 {
        // Nothing is left without the only record.
        (Patterns::one(table.n_rows()), vec![None])
    } else {
        let without = Without::new(
            candidates.iter().map(|&set| counts.distinct[set as usize]),
            sets.len(),
            n_records - 1,
            settings,
        );
        let mask = Mask::all(candidates.len());
        let patterns = Patterns::find(&found.bits, &mask, None, table.n_rows());
        let risks = without.risks(&patterns, &found.bits, monitor)?;
        (patterns, risks)
    };
    let changes: Vec<Option<f64>> = risks.iter().map(|r| Some(whole_risk? - (*r)?)).collect();
    let unique_at_threshold = {
        let place = |set: u32| candidates.binary_search(&set).ok();
        let (lower, upper) = (place(lower), place(upper));
        let bit = |row: usize, place: Option<usize>| {
            place.is_some_and(|c| found.bits.row(row)[c / 64] >> (c % 64) & 1 == 1)
        };
        (0..table.n_rows())
            .map(|row| (bit(row, lower), bit(row, upper)))
            .collect()
    };
    let Uniqueness { n_sets, weight, .. } = found;
    let of_sets = n_records as f64;
    Ok(Contributions {
        whole,
        contribution: patterns
            .of_row
            .iter()
            .map(|&pattern| changes[pattern as usize])
            .collect(),
        u_plus: weight.iter().map(|&w| w as f64 / of_sets).collect(),
        u_star: weight
            .iter()
            .zip(&n_sets)
            .map(|(&w, &n)| (u64::from(n) * n_records - w) as f64 / of_sets)
            .collect(),
        n_unique_sets: n_sets,
        threshold_sets: (lower, upper, weight_of_upper),
        threshold_distinct: (
            counts.distinct[lower as usize],
            counts.distinct[upper as usize],
        ),
        unique_at_threshold,
        n_candidates: candidates.len(),
        n_patterns: patterns.first_rows.len(),
    })
}

/// The key sets at the order statistics around the threshold, of which the
/// first `n_used` by rising risk are in use, and the weight of the upper one.
fn threshold_sets(order: &[u32], n_used: usize, settings: &TailSettings) -> (u32, u32, f64) {
    if n_used == 0 {
        return (order[0], order[0], 0.0);
    }
    let at = Position::exceeded_by(n_used, settings.pi_u);
    (
        order[order.len() - at.lower],
        order[order.len() - at.upper],
        at.weight,
    )
}

/// The key sets whose count can matter once any one record is removed, in
/// rising order.
fn candidates(distinct: &[u32], n_records: u64, settings: &TailSettings) -> Vec<u32> {
    let ones = distinct
        .iter()
        .filter(|&&h| u64::from(h) + 1 >= n_records)
        .count();
    let least = count_at_depth(distinct, depth(distinct.len(), ones, settings)).saturating_sub(1);
    (0u32..)
        .zip(distinct)
        .filter_map(|(set, &h)| (h >= least).then_some(set))
        .collect()
}

/// Records by their bits of U on the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// Per pattern, the first row that has it; `u32::MAX` where none is left.
    pub first_rows: Vec<u32>,
    /// Per row, its pattern; `u32::MAX` for rows left out.
    pub of_row: Vec<u32>,
}

impl Patterns {
    fn one(n_rows: usize) -> Self {
        Self {
            first_rows: vec![0],
            of_row: vec![0; n_rows],
        }
    }

    /// Groups rows by the bits that `mask` lets through; `alive` says which
    /// rows take part.
    pub fn find(bits: &BitRows, mask: &Mask, alive: Option<&[bool]>, n_rows: usize) -> Self {
        let mut seen: HashTable<u32> = HashTable::new();
        let mut first_rows: Vec<u32> = Vec::new();
        let of_row = (0..n_rows)
            .map(|row| {
                if alive.is_some_and(|alive| !alive[row]) {
                    return u32::MAX;
                }
                let words = bits.row(row);
                let found = seen
                    .entry(
                        mask.hash(words),
                        |&p| mask.equal(bits.row(first_rows[p as usize] as usize), words),
                        |&p| mask.hash(bits.row(first_rows[p as usize] as usize)),
                    )
                    .or_insert(first_rows.len() as u32);
                let pattern = *found.get();
                if pattern as usize == first_rows.len() {
                    first_rows.push(row as u32);
                }
                pattern
            })
            .collect();
        Self { first_rows, of_row }
    }
}

/// The bits of U by which rows are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The words that have such bits, and these bits.
    used: Vec<(usize, u64)>,
}

impl Mask {
    /// The bits that `words` have.
    pub fn new(words: &[u64]) -> Self {
        let words = words.iter().copied().enumerate();
        Self {
            used: words.filter(|&(_, m)| m != 0).collect(),
        }
    }

    /// All of `n_bits` bits.
    pub fn all(n_bits: usize) -> Self {
        Self::new(&vec![u64::MAX; BitRows::words_for(n_bits)])
    }

    /// True if it has all bits of `words`.
    pub fn covers(&self, words: &[u64]) -> bool {
        let mut left = words.to_vec();
        for &(word, mask) in &self.used {
            left[word] &= !mask;
        }
        left.iter().all(|&word| word == 0)
    }

    /// A hash of the bits of a row.
    pub fn hash(&self, row: &[u64]) -> u64 {
        let mixed =
            (self.used.iter()).fold(0, |hash, &(word, mask)| rolled(hash, row[word] & mask));
        // The table reads low and high bits; products mix upwards only.
        mixed ^ (mixed >> 32)
    }

    /// True if two rows have the same bits.
    pub fn equal(&self, a: &[u64], b: &[u64]) -> bool {
        let differ = |&(word, mask): &(usize, u64)| (a[word] ^ b[word]) & mask != 0;
        !self.used.iter().any(differ)
    }
}

/// The extreme risk of a file without one record, from its bits of U.
pub struct Without<'a> {
    /// Counts of the candidates in falling order, and the bit of each.
    distinct: Vec<u32>,
    places: Vec<u32>,
    /// If two or more counts are equal.
    ties: Vec<Range<usize>>,
    n_sets: usize,
    n_records: u64,
    /// The place of the threshold among all sets.
    at: Position,
    /// Logits of counts from `lowest` on.
    lowest: u32,
    logits: Vec<f64>,
    settings: &'a TailSettings,
}

impl<'a> Without<'a> {
    /// For candidates with these counts, whose bits stand in the same order,
    /// among `n_sets` sets; `n_records` are left.
    pub fn new(
        counts: impl Iterator<Item = u32>,
        n_sets: usize,
        n_records: u64,
        settings: &'a TailSettings,
    ) -> Self {
        Self::with_places((0..).zip(counts).collect(), n_sets, n_records, settings)
    }

    /// For candidates given as pairs of bit and count.
    pub fn with_places(
        mut candidates: Vec<(u32, u32)>,
        n_sets: usize,
        n_records: u64,
        settings: &'a TailSettings,
    ) -> Self {
        candidates.sort_unstable_by_key(|&(place, h)| (std::cmp::Reverse(h), place));
        let distinct: Vec<u32> = candidates.iter().map(|c| c.1).collect();
        let lowest = distinct.last().map_or(0, |&h| h.saturating_sub(1));
        let highest = distinct.first().copied().unwrap_or(0);
        let mut logits = vec![f64::NAN; (highest - lowest) as usize + 1];
        let risks = TopRisks {
            numerators: &[],
            denominator: 2 * n_records,
            n: n_sets,
        };
        for &h in &distinct {
            // A set that identifies every record falls with any of them.
            for count in h.saturating_sub(1)..=h.min(n_records as u32) {
                logits[(count - lowest) as usize] = risks.logit(2 * u64::from(count));
            }
        }
        let mut ties = Vec::new();
        let mut start = 0;
        for equal in distinct.chunk_by(|a, b| a == b) {
            if equal.len() > 1 {
                ties.push(start..start + equal.len());
            }
            start += equal.len();
        }
        Self {
            distinct,
            places: candidates.iter().map(|c| c.0).collect(),
            ties,
            n_sets,
            n_records,
            at: Position::exceeded_by(n_sets, settings.pi_u),
            lowest,
            logits,
            settings,
        }
    }

    /// The risk per pattern; `None` for one without rows.
    pub fn risks(
        &self,
        patterns: &Patterns,
        bits: &BitRows,
        monitor: &Monitor,
    ) -> Result<Vec<Option<f64>>> {
        let blocks: Vec<Vec<Option<f64>>> =
            parallel::try_map(patterns.first_rows.chunks(256), monitor, |rows| {
                let mut numerators = Vec::new();
                let mut weights = RankWeights::new(self.settings.pwm);
                Ok(rows
                    .iter()
                    .map(|&row| match row {
                        u32::MAX => None,
                        row => self.risk(bits.row(row as usize), &mut numerators, &mut weights),
                    })
                    .collect())
            })?;
        Ok(blocks.concat())
    }

    /// The risk without a record with these bits: what
    /// [`estimate`](super::estimate) gives for the counts after its removal.
    fn risk(
        &self,
        bits: &[u64],
        numerators: &mut Vec<u64>,
        weights: &mut RankWeights,
    ) -> Option<f64> {
        let denominator = 2 * self.n_records;
        let counts = self.distinct.iter().zip(&self.places);
        numerators.clear();
        // Falls by one leave counts in falling order, but for those that are equal.
        numerators.extend(counts.map(|(&h, &place)| {
            let falls = bits[(place / 64) as usize] >> (place % 64) & 1;
            2 * (u64::from(h) - falls)
        }));
        for ties in &self.ties {
            numerators[ties.clone()].sort_unstable_by(|a, b| b.cmp(a));
        }
        let ones = (numerators.iter())
            .take_while(|&&numerator| numerator == denominator)
            .count();
        let (n, at) = match self.settings.theta_one {
            ThetaOne::One if ones > 0 => return Some(1.0),
            ThetaOne::Exclude if ones > 0 => {
                let n = self.n_sets - ones;
                if n == 0 {
                    return None;
                }
                numerators.drain(..ones);
                (n, Position::exceeded_by(n, self.settings.pi_u))
            }
            _ => {
                // Half a class less than every record.
                numerators[..ones].fill(denominator - 1);
                (self.n_sets, self.at)
            }
        };
        numerators.truncate(at.n_top(n));
        let risks = TopRisks {
            numerators,
            denominator,
            n,
        };
        let logit = |numerator: u64| {
            if numerator % 2 == 1 {
                risks.logit(numerator)
            } else {
                self.logits[(numerator / 2 - u64::from(self.lowest)) as usize]
            }
        };
        fit_tail_with(risks, self.settings.pi_u, at, weights, logit).risk(self.settings.alpha[0])
    }
}

/// Mean over the key variables of `-ln` of the share of records that have a
/// record's own category; missing is a category. Means that differ by the order
/// of their terms are made equal.
pub fn surprisal(table: &KeyTable) -> Vec<f64> {
    let n = table.n_rows();
    let mut sums = vec![0.0f64; n];
    for column in table.columns() {
        let mut counts = vec![0u32; column.n_values() as usize + 1];
        with_codes!(column.codes(), |codes| {
            codes.iter().for_each(|c| counts[c.index()] += 1);
            let cost: Vec<f64> = counts
                .iter()
                .map(|&c| (n as f64 / f64::from(c)).ln())
                .collect();
            for (sum, c) in sums.iter_mut().zip(codes) {
                *sum += cost[c.index()];
            }
        });
    }
    let n_keys = table.columns().len() as f64;
    let mut means: Vec<f64> = sums.iter().map(|s| s / n_keys).collect();
    merge_ties(&mut means);
    means
}
