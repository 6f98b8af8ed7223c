//! What the sensitive values among the matches are like.
//!
//! Of the matches of a target that have a value, let `c_v` have value `v`, `C`
//! in all, and let `q_v` be the share of `v` among the records of the file that
//! have one. Then
//!
//! ```text
//! n_values    = number of v with c_v > 0                   (distinct l-diversity)
//! l_entropy   = exp(-sum of (c_v / C) ln(c_v / C))          (entropy l-diversity)
//! t_closeness = sum of max(0, c_v / C - q_v)               (values without order)
//!             = sum over all v but the last of
//!               |sum up to v of (c / C - q)| / (K - 1)     (K ordered values)
//! ```
//!
//! (Machanavajjhala et al. 2007; Li, Li and Venkatasubramanian 2007: the earth
//! mover's distance with equal and with ordered distances, the first of which is
//! the total variation). `K` values occur in the file. All sums run in the order
//! of the values, so that no order of records changes them.

use std::sync::Arc;

use super::arrangement::{Arrangement, Bits};
use super::search::Sink;
use super::sinks::each_bit;
use super::Sensitive;
use crate::error::Result;
use crate::key_table::Column;
use crate::memory::{collected, filled, push, reserved};

/// What the sensitive values among the matches of a target are like.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Diversity {
    /// Distinct values, missing not counted.
    pub n_values: u32,
    /// Their entropy as a number of equally frequent values; 0 without any.
    pub l_entropy: f64,
    /// The distance of their distribution from the file's; 0 without any.
    pub t_closeness: f64,
}

/// The values of the file.
#[derive(Debug, Clone)]
pub struct Whole {
    ordered: bool,
    /// Per code, from 1: how many records have a smaller value that occurs.
    ranks: Vec<u32>,
    /// Per rank, the share of the records with a value.
    shares: Vec<f64>,
    /// Per rank, the share with this value or a smaller one, and the sum of these
    /// over the smaller ranks; one entry more.
    upto: Vec<f64>,
    sums: Vec<f64>,
}

impl Whole {
    /// The values of a column, each row standing for `multiplicity` records.
    pub fn new(sensitive: &Sensitive<'_>, multiplicity: Option<&[u64]>) -> Result<Self> {
        let codes = sensitive.column.codes();
        let mut counts = filled(0u64, sensitive.column.n_values() as usize + 1)?;
        for row in 0..codes.len() {
            counts[codes.get(row) as usize] += multiplicity.map_or(1, |m| m[row]);
        }
        counts[0] = 0;
        let total: u64 = counts.iter().sum();
        let mut ranks: Vec<u32> = reserved(counts.len())?;
        let mut shares = Vec::new();
        let (mut upto, mut sums) = (Vec::new(), vec![0.0]);
        let (mut below, mut sum) = (0, 0.0);
        for &count in &counts {
            ranks.push(shares.len() as u32);
            if count > 0 {
                below += count;
                shares.push(count as f64 / total as f64);
                upto.push(below as f64 / total as f64);
                sum += below as f64 / total as f64;
                sums.push(sum);
            }
        }
        Ok(Self {
            ordered: sensitive.ordered,
            ranks,
            shares,
            upto,
            sums,
        })
    }

    /// A target whose only match has this code.
    pub fn of_one(&self, code: u32) -> Diversity {
        match code {
            0 => Diversity::default(),
            code => self.look(&[(self.ranks[code as usize], 1)]),
        }
    }

    /// What matches are like of which so many have each of these codes, ascending.
    pub fn of_codes(&self, found: &[(u32, u64)]) -> Diversity {
        let ranks = found
            .iter()
            .map(|&(code, count)| (self.ranks[code as usize], count));
        self.look(&ranks.collect::<Vec<_>>())
    }

    /// The share of the records with a value that have this code, which occurs.
    pub fn share(&self, code: u32) -> f64 {
        self.shares[self.ranks[code as usize] as usize]
    }

    /// The shares of all values that occur, in their order.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// `found` are ranks, ascending, and how many matches have each.
    fn look(&self, found: &[(u32, u64)]) -> Diversity {
        let total: u64 = found.iter().map(|&(_, count)| count).sum();
        let total = match total {
            0 => return Diversity::default(),
            total => total as f64,
        };
        let logs = found
            .iter()
            .map(|&(_, count)| count as f64 * (count as f64).ln());
        let entropy = match found {
            // Without rounding.
            [_] => 0.0,
            _ => total.ln() - logs.sum::<f64>() / total,
        };
        Diversity {
            n_values: found.len() as u32,
            l_entropy: entropy.exp(),
            t_closeness: match self.ordered {
                true => self.moved(found, total),
                false => (found.iter())
                    .map(|&(rank, count)| count as f64 / total - self.shares[rank as usize])
                    .filter(|&more| more > 0.0)
                    .sum(),
            },
        }
    }

    /// The earth mover's distance between ordered values.
    fn moved(&self, found: &[(u32, u64)], total: f64) -> f64 {
        let last = self.shares.len() - 1;
        if last == 0 {
            return 0.0;
        }
        let (mut below, mut sum, mut from) = (0u64, 0.0, 0);
        for &(rank, count) in found {
            let rank = rank as usize;
            sum += self.apart(from, rank, below as f64 / total);
            below += count;
            from = rank;
        }
        sum += self.apart(from, last, 1.0);
        sum / last as f64
    }

    /// The sum of `|share - upto|` over ranks from `from` and before `to`.
    fn apart(&self, from: usize, to: usize, share: f64) -> f64 {
        let turn = from + self.upto[from..to].partition_point(|&upto| upto <= share);
        let lower = share * (turn - from) as f64 - (self.sums[turn] - self.sums[from]);
        let upper = (self.sums[to] - self.sums[turn]) - share * (to - turn) as f64;
        lower.max(0.0) + upper.max(0.0)
    }
}

/// How many records of each pattern have each value.
pub(super) struct LabelCounts {
    /// Start of the values of each pattern; one entry more.
    starts: Vec<u32>,
    /// Codes of values, and records that have them.
    counts: Vec<(u32, u64)>,
}

impl LabelCounts {
    pub fn new(
        column: &Column,
        row_pattern: &[u32],
        n_patterns: usize,
        multiplicity: Option<&[u64]>,
    ) -> Result<Self> {
        let codes = column.codes();
        let known = (0..codes.len()).filter(|&row| codes.get(row) != 0);
        let cell = |row: usize| {
            let times = multiplicity.map_or(1, |m| m[row]);
            (row_pattern[row], codes.get(row), times)
        };
        let mut cells: Vec<(u32, u32, u64)> = collected(known.map(cell), codes.len())?;
        cells.sort_unstable();
        let mut starts = filled(0u32, n_patterns + 1)?;
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for alike in cells.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (pattern, code, _) = alike[0];
            let count = alike.iter().map(|cell| cell.2).sum();
            starts[pattern as usize + 1] += 1;
            push(&mut counts, (code, count))?;
        }
        for pattern in 0..n_patterns {
            starts[pattern + 1] += starts[pattern];
        }
        Ok(Self { starts, counts })
    }

    pub fn of(&self, pattern: usize) -> &[(u32, u64)] {
        &self.counts[self.starts[pattern] as usize..self.starts[pattern + 1] as usize]
    }
}

/// Looks at the values among the patterns found.
#[derive(Clone)]
pub(super) struct Diversities<'a> {
    whole: &'a Whole,
    counts: &'a LabelCounts,
    patterns: Arc<Vec<u32>>,
    /// Per rank, what was found so far.
    tally: Vec<u64>,
    found: Vec<(u32, u64)>,
}

impl<'a> Diversities<'a> {
    pub fn new(whole: &'a Whole, counts: &'a LabelCounts, arranged: &Arrangement) -> Self {
        Self {
            whole,
            counts,
            patterns: arranged.patterns.clone(),
            tally: vec![0; whole.shares.len()],
            found: Vec::new(),
        }
    }
}

impl Sink for Diversities<'_> {
    type Amount = Diversity;

    fn found(&mut self, _x: usize, start: usize, bits: Bits) {
        each_bit(start, bits, |place| {
            for &(code, count) in self.counts.of(self.patterns[place] as usize) {
                let rank = self.whole.ranks[code as usize];
                let tally = &mut self.tally[rank as usize];
                if *tally == 0 {
                    self.found.push((rank, 0));
                }
                *tally += count;
            }
        });
    }

    fn close(&mut self, _x: usize) -> Diversity {
        self.found.sort_unstable();
        for (rank, count) in &mut self.found {
            *count = std::mem::take(&mut self.tally[*rank as usize]);
        }
        let diversity = self.whole.look(&self.found);
        self.found.clear();
        diversity
    }
}
