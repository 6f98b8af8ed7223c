//! Diversity of the sensitive values among the matches.
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
use super::patterns::RowsOf;
use super::search::Sink;
use super::sinks::each_bit;
use super::Sensitive;
use crate::error::Result;
use crate::key_table::Column;
use crate::memory::{append, filled, push, reserved, room_of};
use crate::parallel::{blocks, try_map, Monitor};

/// Patterns that a thread takes at once.
const BLOCK: usize = 1 << 14;

/// Diversity of the sensitive values among the matches of a target.
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
            code => self.of_codes(&[(code, 1)]),
        }
    }

    /// Diversity of matches with these numbers of each code, ascending.
    pub fn of_codes(&self, found: &Histogram) -> Diversity {
        self.look(found, |code| self.ranks[code as usize])
    }

    /// The share of the records with a value that have this code, which occurs.
    pub fn share(&self, code: u32) -> f64 {
        self.shares[self.ranks[code as usize] as usize]
    }

    /// The shares of all values that occur, in their order.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// `found` are values whose ranks ascend, and how many matches have each.
    fn look(&self, found: &Histogram, rank: impl Fn(u32) -> u32) -> Diversity {
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
        let ranked = found
            .iter()
            .map(|&(value, count)| (rank(value) as usize, count));
        Diversity {
            n_values: found.len() as u32,
            l_entropy: entropy.exp(),
            t_closeness: match self.ordered {
                true => self.moved(ranked, total),
                false => ranked
                    .map(|(rank, count)| count as f64 / total - self.shares[rank])
                    .filter(|&more| more > 0.0)
                    .sum(),
            },
        }
    }

    /// The earth mover's distance between ordered values.
    fn moved(&self, found: impl Iterator<Item = (usize, u64)>, total: f64) -> f64 {
        let last = self.shares.len() - 1;
        if last == 0 {
            return 0.0;
        }
        let (mut below, mut sum, mut from) = (0u64, 0.0, 0);
        for (rank, count) in found {
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

/// Codes of values, ascending, and how many records have each.
pub type Histogram = [(u32, u64)];

/// The values of many places: of the patterns of a file, or of the matches of targets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelCounts {
    /// The end of each place in `counts`.
    ends: Vec<u32>,
    /// A histogram for each place.
    counts: Vec<(u32, u64)>,
}

impl LabelCounts {
    /// Those of the rows of every pattern.
    pub(super) fn new(
        column: &Column,
        patterns: &RowsOf,
        multiplicity: Option<&[u64]>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let codes = column.codes();
        let cell = |&row: &u32| {
            let row = row as usize;
            (codes.get(row), multiplicity.map_or(1, |m| m[row]))
        };
        let parts = try_map(blocks(patterns.len(), BLOCK), monitor, |block| {
            let mut part = Self::default();
            let mut found = Vec::new();
            for rows in block.map(|pattern| patterns.of(pattern)) {
                room_of(&mut found, rows.len())?;
                found.extend(rows.iter().map(cell).filter(|cell| cell.0 != 0));
                merge(&mut found);
                part.add(&found)?;
            }
            Ok(part)
        })?;
        let mut all = Self {
            ends: reserved(patterns.len())?,
            counts: reserved(parts.iter().map(|part| part.counts.len()).sum())?,
        };
        for part in parts {
            let before = all.counts.len() as u32;
            all.ends.extend(part.ends.iter().map(|&end| before + end));
            all.counts.extend_from_slice(&part.counts);
        }
        Ok(all)
    }

    /// Adds a place.
    pub(super) fn add(&mut self, histogram: &Histogram) -> Result<()> {
        append(&mut self.counts, histogram)?;
        push(&mut self.ends, self.counts.len() as u32)
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no place.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values of a place; none beyond the last one.
    pub fn of(&self, place: usize) -> &Histogram {
        let start = place.checked_sub(1).map_or(0, |before| self.end(before));
        &self.counts[start..self.end(place)]
    }

    fn end(&self, place: usize) -> usize {
        self.ends
            .get(place)
            .map_or(self.counts.len(), |&end| end as usize)
    }
}

/// One entry per value.
pub(super) fn merge(cells: &mut Vec<(u32, u64)>) {
    cells.sort_unstable();
    cells.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
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
        let diversity = self.whole.look(&self.found, |rank| rank);
        self.found.clear();
        diversity
    }
}
