//! What is gathered of the minimal sample uniques, size by size.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::walk::{walk, Visitor};
use super::{SpecialUniques, MOST_SETS};
use crate::error::{Error, Result};
use crate::key_sets::{KeySets, SetIndex};
use crate::key_table::KeyTable;
use crate::memory::{filled, reserved};
use crate::parallel::Monitor;

/// Bytes that the bits of two sizes may take.
const MAX_BYTES: u128 = 4_000_000_000;

/// Gathered so far.
pub(super) struct Collected {
    n_rows: usize,
    n_keys: usize,
    max_size: usize,
    /// Per row and size.
    n_msu: Vec<AtomicU32>,
    /// Per row, size and set of its smallest MSU: the size in the upper half.
    smallest: Vec<AtomicU64>,
    /// Per row and variable, sum of the weights of the MSUs with the variable.
    contributions: Vec<AtomicU64>,
    /// Per variable, MSUs that contain it.
    n_by_variable: Vec<AtomicU64>,
    /// Uniqueness of the rows on the sets of the size before.
    before: Bits,
}

/// Per row, the bits of the sets of one size.
#[derive(Default)]
struct Bits {
    words: usize,
    bits: Vec<AtomicU64>,
}

impl Bits {
    fn new(n_rows: usize, n_sets: usize) -> Result<Self> {
        let words = n_sets.div_ceil(64);
        Ok(Self {
            words,
            bits: zeros(n_rows * words)?,
        })
    }

    fn get(&self, row: u32, set: usize) -> bool {
        let word = self.bits[row as usize * self.words + set / 64].load(Relaxed);
        word >> (set % 64) & 1 == 1
    }

    fn set(&self, row: u32, sets: &Range<usize>) {
        if self.words == 0 || sets.is_empty() {
            return;
        }
        let first = row as usize * self.words;
        for word in sets.start / 64..sets.end.div_ceil(64) {
            let from = sets.start.max(word * 64) - word * 64;
            let to = sets.end.min(word * 64 + 64) - word * 64;
            let mask = (u64::MAX >> (64 - (to - from))) << from;
            self.bits[first + word].fetch_or(mask, Relaxed);
        }
    }
}

fn zeros(n: usize) -> Result<Vec<AtomicU64>> {
    let mut all = reserved(n)?;
    all.resize_with(n, AtomicU64::default);
    Ok(all)
}

/// Looks at the sets of one size.
struct Size<'a> {
    found: &'a Collected,
    size: usize,
    weight: u64,
    /// Places of the sets of the size before; none for size 1.
    index: Option<SetIndex>,
    /// Uniqueness on the sets of this size, if a larger size asks for it.
    now: Bits,
}

impl Collected {
    pub fn new(table: &KeyTable, max_size: usize) -> Result<Self> {
        let (n_rows, n_keys) = (table.n_rows(), table.columns().len());
        let mut n_msu = reserved(n_rows * max_size)?;
        n_msu.resize_with(n_rows * max_size, AtomicU32::default);
        let mut smallest = reserved(n_rows)?;
        smallest.resize_with(n_rows, || AtomicU64::new(u64::MAX));
        Ok(Self {
            n_rows,
            n_keys,
            max_size,
            n_msu,
            smallest,
            contributions: zeros(n_rows * n_keys)?,
            n_by_variable: zeros(n_keys)?,
            before: Bits::default(),
        })
    }

    /// The weight of an MSU of a size.
    fn weight(&self, size: usize) -> u64 {
        let last = self.max_size.min(self.n_keys - 1);
        (size..=last).map(|i| (self.n_keys - i) as u64).product()
    }

    /// Adds the MSUs of one size, the next one.
    pub fn of_size(&mut self, table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<()> {
        let size = sets.p();
        let n_sets = if size < self.max_size { sets.len() } else { 0 };
        let words = (n_sets.div_ceil(64) + self.before.words) as u128;
        let bytes = words * self.n_rows as u128 * 8;
        if bytes > MAX_BYTES {
            return Err(Error::too_large(
                &format!(
                    "The sets on which records are unique may take at most {} MB.",
                    MAX_BYTES / 1_000_000
                ),
                &format!(
                    "{n_sets} sets of {size} key variables for {} distinct records need {} MB.",
                    self.n_rows,
                    bytes / 1_000_000
                ),
                "Take a smaller `max_size`, or fewer key variables.",
            ));
        }
        let index = match size {
            1 => None,
            _ => Some(SetIndex::new(KeySets::new(
                self.n_keys,
                size - 1,
                MOST_SETS,
            )?)),
        };
        let visitor = Size {
            size,
            weight: self.weight(size),
            index,
            now: Bits::new(self.n_rows, n_sets)?,
            found: self,
        };
        walk(table, sets, &visitor, monitor)?;
        self.before = visitor.now;
        Ok(())
    }

    /// What was found of the rows of `few`, which stand for `rows` of `table`.
    pub fn spread(
        self,
        table: &KeyTable,
        few: &KeyTable,
        rows: &[u32],
        n_top: usize,
    ) -> Result<SpecialUniques> {
        let d = self.n_keys;
        let of_row = |row: usize| &self.contributions[row * d..][..d];
        let value = |sum: &AtomicU64| sum.load(Relaxed) as f64;
        let mut by_variable = vec![0.0; d];
        let mut by_level = Vec::with_capacity(d);
        for (v, column) in few.columns().iter().enumerate() {
            let mut sums = filled(0u64, column.n_values() as usize + 1)?;
            for row in 0..self.n_rows {
                let sum = of_row(row)[v].load(Relaxed);
                if sum > 0 {
                    sums[column.codes().get(row) as usize] += sum;
                }
            }
            by_variable[v] = sums.iter().map(|&sum| sum as f64).sum();
            by_level.push(sums.into_iter().map(|sum| sum as f64).collect());
        }
        let (sets, place) = self.smallest_sets()?;
        let mut n_msu = filled(0u32, table.n_rows() * self.max_size)?;
        let mut smallest = filled(None, table.n_rows())?;
        let mut scores: Vec<(u64, u32, u32)> = Vec::new();
        for (row, &of) in rows.iter().enumerate() {
            let first = self.smallest[row].load(Relaxed);
            let Ok(at) = place.binary_search(&first) else {
                continue;
            };
            smallest[of as usize] = Some(at as u32);
            let mut score = 0;
            for size in 0..self.max_size {
                let n = self.n_msu[row * self.max_size + size].load(Relaxed);
                n_msu[of as usize * self.max_size + size] = n;
                score += u64::from(n) * self.weight(size + 1);
            }
            scores.push((u64::MAX - score, of, row as u32));
        }
        scores.sort_unstable();
        scores.truncate(n_top);
        let details = scores.iter().flat_map(|&(_, _, row)| of_row(row as usize));
        Ok(SpecialUniques {
            n_by_variable: self.n_by_variable.iter().map(|n| n.load(Relaxed)).collect(),
            by_variable,
            by_level,
            top_contributions: details.map(value).collect(),
            top: scores.iter().map(|&(_, of, _)| of).collect(),
            n_msu,
            smallest,
            sets,
            uniques_and_paired: None,
        })
    }

    /// The smallest MSUs that occur, and size and set of each.
    fn smallest_sets(&self) -> Result<(Vec<Vec<usize>>, Vec<u64>)> {
        let mut wanted: Vec<u64> = reserved(self.n_rows)?;
        wanted.extend(self.smallest.iter().map(|first| first.load(Relaxed)));
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|&first| first != u64::MAX);
        let mut sets = Vec::with_capacity(wanted.len());
        for size in 1..=self.max_size {
            let all = KeySets::new(self.n_keys, size, MOST_SETS)?;
            let mut key = key_of(size, 0);
            all.for_each(&Monitor::new(), |members| {
                if wanted.get(sets.len()) == Some(&key) {
                    sets.push(members.iter().map(|&v| usize::from(v)).collect());
                }
                key += 1;
            })?;
        }
        Ok((sets, wanted))
    }
}

/// Orders sets by size, and then by place.
fn key_of(size: usize, set: usize) -> u64 {
    (size as u64) << 32 | set as u64
}

impl Visitor for Size<'_> {
    fn alone(&self, rows: &[u32], sets: Range<usize>) {
        for &row in rows {
            self.now.set(row, &sets);
        }
    }

    fn newly_alone(&self, rows: &[u32], set: usize, members: &[usize]) {
        let found = self.found;
        let without = |i: usize| -> Vec<usize> {
            let kept = members.iter().enumerate().filter(|&(j, _)| j != i);
            kept.map(|(_, &v)| v).collect()
        };
        let subsets: Vec<usize> = match &self.index {
            None => Vec::new(),
            Some(index) => (0..self.size - 1).map(|i| index.of(&without(i))).collect(),
        };
        let mut n = 0;
        for &row in rows {
            self.now.set(row, &(set..set + 1));
            if subsets.iter().any(|&subset| found.before.get(row, subset)) {
                continue;
            }
            n += 1;
            let at = row as usize;
            found.n_msu[at * found.max_size + self.size - 1].fetch_add(1, Relaxed);
            found.smallest[at].fetch_min(key_of(self.size, set), Relaxed);
            for &v in members {
                found.contributions[at * found.n_keys + v].fetch_add(self.weight, Relaxed);
            }
        }
        for &v in members {
            found.n_by_variable[v].fetch_add(n, Relaxed);
        }
    }
}
