//! Collection of the minimal sample uniques.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::walk::walk;
use super::{SpecialUniques, MOST_SETS};
use crate::error::{Error, Result};
use crate::key_sets::{KeySets, SetIndex};
use crate::key_table::KeyTable;
use crate::memory::{filled, reserved};
use crate::parallel::{self, Monitor};

/// Bytes that the rows that are alone on each set may take.
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
    /// Per pair of variables, the later one in the row of the earlier, the sum of the weights
    /// of the MSUs with both.
    by_pair: Vec<AtomicU64>,
}

/// Per set of one size, a bit for every row that is alone on it.
struct Size {
    sets: KeySets,
    index: SetIndex,
    words: usize,
    bits: Vec<AtomicU64>,
}

impl Size {
    fn of(&self, members: &[usize]) -> &[AtomicU64] {
        &self.bits[self.index.of(members) * self.words..][..self.words]
    }

    fn mark(words: &[AtomicU64], row: u32) {
        // A set is written by one thread alone.
        let word = &words[row as usize / 64];
        word.store(word.load(Relaxed) | 1 << (row % 64), Relaxed);
    }
}

fn has(words: &[AtomicU64], row: u32) -> bool {
    words[row as usize / 64].load(Relaxed) >> (row % 64) & 1 == 1
}

fn zeros(n: usize) -> Result<Vec<AtomicU64>> {
    let mut all = reserved(n)?;
    all.resize_with(n, AtomicU64::default);
    Ok(all)
}

/// What is done with the MSUs of a table, each shown once, by several threads.
pub(super) trait Minimal: Sync {
    /// `rows` have the MSU `members`, the set of this place among those of its size.
    fn add(&self, set: usize, members: &[usize], rows: impl Iterator<Item = u32>);
}

/// Shows `found` the MSUs of the rows of `table`. The sets on which they are alone are kept by
/// all sizes but the largest, whose sets are as many as all others and looked up by none.
pub(super) fn find_minimal(
    table: &KeyTable,
    max_size: usize,
    found: &impl Minimal,
    monitor: &Monitor,
) -> Result<()> {
    let n_keys = table.columns().len();
    let sizes = sizes(table.n_rows(), n_keys, max_size)?;
    if max_size > 1 {
        let mark = |members: &[usize], rows: &[u32]| {
            let now = sizes[members.len() - 1].of(members);
            if let [before @ .., _] = members {
                if !before.is_empty() {
                    let before = sizes[before.len() - 1].of(before);
                    for (to, from) in now.iter().zip(before) {
                        to.store(from.load(Relaxed), Relaxed);
                    }
                }
            }
            rows.iter().for_each(|&row| Size::mark(now, row));
        };
        walk(table, 1..=max_size - 1, &mark, monitor)?;
        for size in 1..max_size {
            of_size(&sizes, size, found, monitor)?;
        }
    }
    let index = SetIndex::new(sets(n_keys, max_size)?);
    let look = |members: &[usize], rows: &[u32]| {
        if members.len() == max_size && !rows.is_empty() {
            let subsets = subsets(&sizes, members, max_size - 1);
            let minimal = |&&row: &&u32| !subsets.iter().any(|words| has(words, row));
            found.add(
                index.of(members),
                members,
                rows.iter().filter(minimal).copied(),
            );
        }
    };
    walk(table, max_size..=max_size, &look, monitor)
}

fn sets(n_keys: usize, size: usize) -> Result<KeySets> {
    KeySets::new(n_keys, size, MOST_SETS)
}

/// Room for the rows that are alone on the sets of every size but the largest.
fn sizes(n_rows: usize, n_keys: usize, max_size: usize) -> Result<Vec<Size>> {
    let words = n_rows.div_ceil(64);
    let all = (1..max_size)
        .map(|size| sets(n_keys, size))
        .collect::<Result<Vec<KeySets>>>()?;
    let n_sets: usize = all.iter().map(KeySets::len).sum();
    let bytes = 8 * words as u128 * n_sets as u128;
    if bytes > MAX_BYTES {
        return Err(Error::too_large(
            &format!(
                "The sets on which records are unique may take at most {} MB.",
                MAX_BYTES / 1_000_000
            ),
            &format!(
                "{n_sets} sets of up to {} key variables for {} distinct records need {} MB.",
                max_size - 1,
                n_rows,
                bytes / 1_000_000
            ),
            "Take a smaller `max_size`, or fewer key variables.",
        ));
    }
    let room = |sets: KeySets| {
        Ok(Size {
            sets,
            index: SetIndex::new(sets),
            words,
            bits: zeros(words * sets.len())?,
        })
    };
    all.into_iter().map(room).collect()
}

/// Adds the MSUs of one size: who is alone on a set, and on no set without one of its
/// variables.
fn of_size(sizes: &[Size], size: usize, found: &impl Minimal, monitor: &Monitor) -> Result<()> {
    let sets = sizes[size - 1].sets;
    let members = sets.members();
    parallel::try_for_each(parallel::blocks(sets.len(), 64), monitor, |block| {
        for set in block {
            let members = &members[set * size..][..size];
            let members: Vec<usize> = members.iter().map(|&v| usize::from(v)).collect();
            let subsets = subsets(sizes, &members, size);
            let words = sizes[size - 1].of(&members).iter().enumerate();
            let rows = words.flat_map(|(at, word)| {
                let alone = word.load(Relaxed);
                let shorter = |known, words: &&[AtomicU64]| known | words[at].load(Relaxed);
                let mut left = match alone {
                    0 => 0,
                    _ => alone & !subsets.iter().fold(0, shorter),
                };
                std::iter::from_fn(move || {
                    let row = at as u32 * 64 + left.trailing_zeros();
                    let some = (left != 0).then_some(row);
                    left &= left.wrapping_sub(1);
                    some
                })
            });
            found.add(set, &members, rows);
        }
        Ok(())
    })
}

impl Minimal for Collected {
    fn add(&self, set: usize, members: &[usize], rows: impl Iterator<Item = u32>) {
        let size = members.len();
        let weight = self.weight(size);
        let mut n = 0;
        for row in rows {
            n += 1;
            let at = row as usize;
            self.n_msu[at * self.max_size + size - 1].fetch_add(1, Relaxed);
            self.smallest[at].fetch_min(key_of(size, set), Relaxed);
            for &v in members {
                self.contributions[at * self.n_keys + v].fetch_add(weight, Relaxed);
            }
        }
        for (i, &v) in members.iter().enumerate() {
            self.n_by_variable[v].fetch_add(n, Relaxed);
            for &later in &members[i + 1..] {
                self.by_pair[v * self.n_keys + later].fetch_add(n * weight, Relaxed);
            }
        }
    }
}

impl Collected {
    pub fn new(n_rows: usize, n_keys: usize, max_size: usize) -> Result<Self> {
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
            by_pair: zeros(n_keys * n_keys)?,
        })
    }

    fn has_any(&self, row: usize) -> bool {
        self.smallest[row].load(Relaxed) != u64::MAX
    }

    /// The weight of an MSU of a size.
    fn weight(&self, size: usize) -> u64 {
        let last = self.max_size.min(self.n_keys - 1);
        (size..=last).map(|i| (self.n_keys - i) as u64).product()
    }

    /// Spreads the results for the rows of `few` to those of `table`: they stand for `rows`.
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
        let columns = few.columns().iter();
        let mut by_level: Vec<Vec<f64>> = columns
            .map(|column| filled(0.0, column.n_values() as usize + 1))
            .collect::<Result<_>>()?;
        for row in (0..self.n_rows).filter(|&row| self.has_any(row)) {
            let columns = by_level.iter_mut().zip(few.columns());
            for ((sums, column), sum) in columns.zip(of_row(row)) {
                sums[column.codes().get(row) as usize] += value(sum);
            }
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
            by_variable: by_level.iter().map(|sums| sums.iter().sum()).collect(),
            by_level,
            by_pair: self.by_pair.iter().map(value).collect(),
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
        let rows = (0..self.n_rows).filter(|&row| self.has_any(row));
        wanted.extend(rows.map(|row| self.smallest[row].load(Relaxed)));
        wanted.sort_unstable();
        wanted.dedup();
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

/// Records unique on the sets of the size before without one of the first `n` of `members`.
fn subsets<'a>(sizes: &'a [Size], members: &[usize], n: usize) -> Vec<&'a [AtomicU64]> {
    if members.len() == 1 {
        return Vec::new();
    }
    let without = |i: usize| [&members[..i], &members[i + 1..]].concat();
    (0..n)
        .map(|i| sizes[members.len() - 2].of(&without(i)))
        .collect()
}
