//! Orders that look at the file as it then is, by updating classes.

use super::*;
use crate::parallel::{self, ROWS_PER_BLOCK};

/// The key sets that the incremental scheme keeps.
pub(super) struct Kept {
    /// By falling count, ties in `combn()` order.
    pub(super) sets: Vec<u32>,
    depth: usize,
}

impl Kept {
    pub(super) fn new(
        distinct: &[u32],
        table: &KeyTable,
        rule: Rule,
        plan: Plan,
        settings: &TailSettings,
    ) -> Self {
        let depth = depth_while(distinct, table.n_records(), plan.n, settings);
        let wanted = match rule {
            Rule::UPlus => vec![true; distinct.len()],
            Rule::Proper => matter(distinct, depth, plan.n),
            Rule::TopCount(n_top) => matter(distinct, depth.max(n_top), plan.n),
        };
        let mut sets: Vec<u32> = (0u32..)
            .zip(wanted)
            .filter_map(|(set, w)| w.then_some(set))
            .collect();
        sets.sort_by_key(|&set| std::cmp::Reverse(distinct[set as usize]));
        Self { sets, depth }
    }

    pub(super) fn bytes(&self, table: &KeyTable, distinct: &[u32]) -> u64 {
        let classes: u64 = self
            .sets
            .iter()
            .map(|&set| u64::from(distinct[set as usize]))
            .sum();
        let cells = table.n_rows() as u64 * self.sets.len() as u64;
        // Classes are numbered by 32 bits.
        if classes >= u64::from(u32::MAX) {
            return u64::MAX;
        }
        4 * cells + cells / 8 + 8 * classes
    }
}

/// The file as it is after some removals.
struct State {
    n_kept: usize,
    /// Per row, its class on every kept set; classes of all sets in one
    /// numbering.
    class_of: Vec<u32>,
    /// Per class, its members and the exclusive or of their rows.
    size: Vec<u32>,
    xor: Vec<u32>,
    /// Distinct count of every kept set.
    distinct: Vec<u32>,
    /// Per row, bit k tells whether it is unique on kept set k.
    unique: BitRows,
    /// Per row, the sum of the counts of the sets it is unique on.
    u_plus: Vec<u64>,
    alive: Vec<bool>,
}

struct Numbering<'a> {
    places: &'a [u32],
    first: &'a [u32],
    n_kept: usize,
    class_of: Vec<AtomicU32>,
    size: Vec<AtomicU32>,
    xor: Vec<AtomicU32>,
}

impl Visitor for Numbering<'_> {
    fn alone(&self, _rows: &[u32], _sets: std::ops::Range<usize>) {}

    fn set(&self, set: usize, prefix: &Classes, last: &Column, scratch: &mut Scratch) {
        let k = self.places[set] as usize;
        let first = self.first[k];
        // No other thread touches the classes of this set.
        scratch.number(
            prefix,
            last,
            |row, number| {
                let class = first + number;
                self.class_of[row as usize * self.n_kept + k].store(class, Relaxed);
                let xor = &self.xor[class as usize];
                xor.store(xor.load(Relaxed) ^ row, Relaxed);
            },
            |number, size| self.size[(first + number) as usize].store(size, Relaxed),
        );
    }
}

impl State {
    fn new(
        table: &KeyTable,
        sets: KeySets,
        counts: &SetCounts,
        kept: &Kept,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n_kept = kept.sets.len();
        let n_rows = table.n_rows();
        let mut wanted = vec![false; sets.len()];
        let mut places = vec![0; sets.len()];
        let mut first = Vec::with_capacity(n_kept);
        let mut n_classes = 0u32;
        let mut distinct = Vec::with_capacity(n_kept);
        for (k, &set) in (0u32..).zip(&kept.sets) {
            wanted[set as usize] = true;
            places[set as usize] = k;
            first.push(n_classes);
            distinct.push(counts.distinct[set as usize]);
            n_classes += counts.distinct[set as usize];
        }
        let numbering = Numbering {
            places: &places,
            first: &first,
            n_kept,
            class_of: atomics(n_rows * n_kept),
            size: atomics(n_classes as usize),
            xor: atomics(n_classes as usize),
        };
        walk(table, sets, &wanted, &numbering, monitor)?;
        let plain = |v: Vec<AtomicU32>| v.into_iter().map(AtomicU32::into_inner).collect();
        let class_of: Vec<u32> = plain(numbering.class_of);
        let size: Vec<u32> = plain(numbering.size);
        let words = BitRows::words_for(n_kept);
        let mut bits = vec![0u64; n_rows * words];
        let parts =
            (bits.chunks_mut(ROWS_PER_BLOCK * words)).zip(class_of.chunks(ROWS_PER_BLOCK * n_kept));
        parallel::for_each(parts, |(bits, classes)| {
            for (bits, classes) in bits.chunks_mut(words).zip(classes.chunks(n_kept)) {
                for (k, &class) in classes.iter().enumerate() {
                    bits[k / 64] |= u64::from(size[class as usize] == 1) << (k % 64);
                }
            }
        });
        let unique = BitRows::new(words, bits);
        let u_plus = (0..n_rows)
            .map(|row| {
                ones(unique.row(row))
                    .map(|k| u64::from(distinct[k]))
                    .sum::<u64>()
            })
            .collect();
        Ok(Self {
            n_kept,
            class_of,
            size,
            xor: plain(numbering.xor),
            distinct,
            unique,
            u_plus,
            alive: vec![true; n_rows],
        })
    }

    /// The kept sets whose count can matter once any one row is removed, with
    /// their counts, and as bits.
    fn candidates(&self, depth: usize) -> (Vec<(u32, u32)>, Vec<u64>) {
        let least = count_at_depth(&self.distinct, depth).saturating_sub(1);
        let candidates: Vec<(u32, u32)> = (0u32..)
            .zip(&self.distinct)
            .filter_map(|(k, &h)| (h >= least).then_some((k, h)))
            .collect();
        let mut mask = vec![0u64; BitRows::words_for(self.n_kept)];
        for &(k, _) in &candidates {
            mask[(k / 64) as usize] |= 1 << (k % 64);
        }
        (candidates, mask)
    }

    /// Removes one row; `became_unique` is told of rows that are now unique on one
    /// more key set.
    fn remove(&mut self, row: usize, follow_u_plus: bool, became_unique: &mut Vec<usize>) {
        self.alive[row] = false;
        if follow_u_plus {
            // The counts of the sets the row is unique on fall by one.
            let gone = self.unique.row(row).to_vec();
            let Self {
                u_plus,
                unique,
                alive,
                ..
            } = self;
            parallel::for_each(
                u_plus.chunks_mut(ROWS_PER_BLOCK).enumerate(),
                |(b, sums)| {
                    let rows = (b * ROWS_PER_BLOCK..).zip(sums);
                    for (other, sum) in rows.filter(|&(other, _)| alive[other]) {
                        let shared: u32 = unique
                            .row(other)
                            .iter()
                            .zip(&gone)
                            .map(|(a, b)| (a & b).count_ones())
                            .sum();
                        *sum -= u64::from(shared);
                    }
                },
            );
        }
        for k in ones(self.unique.row(row)) {
            self.distinct[k] -= 1;
        }
        for k in 0..self.n_kept {
            let class = self.class_of[row * self.n_kept + k] as usize;
            self.size[class] -= 1;
            self.xor[class] ^= row as u32;
            if self.size[class] == 1 {
                let last = self.xor[class] as usize;
                self.unique.set(last, k);
                became_unique.push(last);
                self.u_plus[last] += u64::from(self.distinct[k]);
            }
        }
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) fn incremental_path(
    table: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    kept: &Kept,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let n_blocks = plan.n_blocks();
    monitor.set_total(monitor.progress().0 + kept.sets.len() as u64 + plan.n as u64);
    let mut state = State::new(table, sets, counts, kept, monitor)?;
    let risk = |state: &State, n_left: u64| {
        estimate_of(
            state.distinct.clone(),
            kept.depth,
            sets.len(),
            n_left,
            settings,
        )
    };
    let n_records = table.n_records();
    let mut path = Path {
        before: risk(&state, n_records),
        rows: Vec::with_capacity(plan.n),
        after: Vec::with_capacity(n_blocks),
        n_kept: kept.sets.len(),
    };
    let mut grouped = None;
    let mut became_unique = Vec::new();
    for b in 0..n_blocks {
        monitor.check()?;
        let n_left = n_records - path.rows.len() as u64;
        let size = plan.removed(b) - path.rows.len();
        let picked = match rule {
            Rule::UPlus => {
                let score = |row: usize| state.u_plus[row];
                largest(&state.alive, size, score)
            }
            Rule::TopCount(n_top) => {
                let mask = top_mask(&state.distinct, &kept.sets, n_top);
                let score = |row: usize| -> u64 {
                    let bits = state.unique.row(row).iter().zip(&mask);
                    bits.map(|(a, b)| u64::from((a & b).count_ones())).sum()
                };
                largest(&state.alive, size, score)
            }
            Rule::Proper => {
                let current = path.after.last().unwrap_or(&path.before).risk;
                let (candidates, mask) = state.candidates(kept.depth);
                // Key sets that no longer matter may go on telling rows apart.
                grouped.take_if(|grouped: &mut Grouped| !grouped.tells(&mask));
                let grouped = grouped.get_or_insert_with(|| {
                    Grouped::new(&state.unique, Mask::new(&mask), &state.alive)
                });
                let patterns = &grouped.patterns;
                let without = Without::with_places(candidates, sets.len(), n_left - 1, settings);
                let risks = without.risks(patterns, &state.unique, monitor)?;
                largest_contributions(current, &Changes { patterns, risks }, size)
            }
        };
        for row in picked {
            monitor.check()?;
            state.remove(row as usize, rule == Rule::UPlus, &mut became_unique);
            if let Some(grouped) = &mut grouped {
                grouped.remove(row as usize);
                for &row in &became_unique {
                    grouped.update(row, state.unique.row(row));
                }
            }
            became_unique.clear();
            path.rows.push(row);
            monitor.advance(1);
        }
        let n_left = n_records - path.rows.len() as u64;
        path.after.push(risk(&state, n_left));
    }
    Ok(path)
}
