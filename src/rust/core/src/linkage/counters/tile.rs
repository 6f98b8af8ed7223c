//! Values computed once for the rows of a tile.

use super::groups::Group;
use super::planes::{add_bit, set, smallest, Lane, Planes, ROWS, WORDS};
use crate::key_table::Column;
use crate::linkage::patterns::Patterns;
use crate::linkage::Agreement;
use crate::parallel;

/// Entries of a table that a thread fills at once.
const ENTRIES: usize = 128;

/// Data of one tile: planes per combination, and the admissible rows.
pub(super) struct Tile<const P: usize> {
    /// Per group.
    pub tables: Vec<Table<P>>,
    /// Per set of observed keys of the queries, the admissible rows.
    pub admissible: Vec<Lane>,
    /// The rows that are admissible for some query.
    pub anywhere: Lane,
}

/// The planes of one group's combinations.
pub(super) struct Table<const P: usize> {
    pub planes: Vec<Planes<P>>,
    /// Per entry of `planes`, the smallest number of differences in the tile.
    pub low: Vec<u8>,
    /// Per combination its entry, where they are not the same: a key with many
    /// codes has an entry for those that occur in the tile.
    entry: Option<Vec<u32>>,
}

impl<const P: usize> Table<P> {
    #[inline(always)]
    pub fn entry(&self, combination: u32) -> usize {
        match &self.entry {
            None => combination as usize,
            Some(entry) => entry[combination as usize] as usize,
        }
    }
}

impl<const P: usize> Tile<P> {
    pub fn empty(groups: &[Group]) -> Self {
        Self {
            tables: groups
                .iter()
                .map(|g| {
                    let n = if g.is_tabulated() {
                        g.n_combinations()
                    } else {
                        0
                    };
                    Table {
                        planes: vec![[[0; WORDS]; P]; n],
                        low: vec![0; n],
                        entry: None,
                    }
                })
                .collect(),
            admissible: Vec::new(),
            anywhere: [0; WORDS],
        }
    }

    /// Makes the tile that of the rows from `start`.
    pub fn fill(&mut self, patterns: &Patterns, groups: &[Group], masks: &[u64], start: usize) {
        let end = patterns.n_rows().min(start + ROWS);
        let mut valid = [0u64; WORDS];
        (0..end - start).for_each(|r| set(&mut valid, r));
        let keys = parallel::map(0..patterns.n_keys(), |v| {
            let (rows, queries) = (
                &patterns.rows().columns()[v],
                &patterns.queries().columns()[v],
            );
            KeyBitmaps::new(
                rows,
                queries.n_values(),
                patterns.agreements()[v],
                start,
                end,
            )
        });
        for (table, group) in self.tables.iter_mut().zip(groups) {
            if !group.is_tabulated() {
                *table = Table::of_key(&keys[group.keys[0]], patterns, group, &valid);
                continue;
            }
            let entries = table
                .planes
                .chunks_mut(ENTRIES)
                .zip(table.low.chunks_mut(ENTRIES));
            let parts = entries.zip(group.example.chunks(ENTRIES));
            parallel::for_each(parts, |((planes, low), queries)| {
                for ((planes, low), &query) in planes.iter_mut().zip(low).zip(queries) {
                    *planes = [[0; WORDS]; P];
                    for &v in &group.keys {
                        let code = patterns.queries().columns()[v].codes().get(query as usize);
                        add_bit(planes, keys[v].differing(code));
                    }
                    *low = smallest(planes, &valid);
                }
            });
        }
        self.admissible = match patterns.sharing() {
            None => vec![valid],
            Some((_, rows, least)) => parallel::map(masks, |mask| {
                let mut lane = [0u64; WORDS];
                for (r, observed) in rows[start..end].iter().enumerate() {
                    if (mask & observed).count_ones() >= least {
                        set(&mut lane, r);
                    }
                }
                lane
            }),
        };
        self.anywhere = [0; WORDS];
        for lane in &self.admissible {
            for (any, word) in self.anywhere.iter_mut().zip(lane) {
                *any |= word;
            }
        }
    }
}

impl<const P: usize> Table<P> {
    /// The table of a group of one key with many codes: its bitmaps.
    fn of_key(key: &KeyBitmaps, patterns: &Patterns, group: &Group, valid: &Lane) -> Self {
        let planes: Vec<Planes<P>> = key
            .bitmaps
            .iter()
            .map(|bitmap| {
                let mut planes = [[0; WORDS]; P];
                planes[0] = *bitmap;
                planes
            })
            .collect();
        let codes = patterns.queries().columns()[group.keys[0]].codes();
        let slot = |&query: &u32| key.slot[codes.get(query as usize) as usize];
        Self {
            low: planes.iter().map(|p| smallest(p, valid)).collect(),
            planes,
            entry: Some(group.example.iter().map(slot).collect()),
        }
    }
}

/// For every wave-2 code of one key, the rows of a tile that differ.
struct KeyBitmaps {
    bitmaps: Vec<Lane>,
    /// Per code from 0, its bitmap.
    slot: Vec<u32>,
}

/// The bitmap of a missing code, and that of a code no row agrees with.
const NOTHING: u32 = 0;
const OBSERVED: u32 = 1;

impl KeyBitmaps {
    fn new(column: &Column, n_codes: u32, agreement: &Agreement, start: usize, end: usize) -> Self {
        let mut observed = [0u64; WORDS];
        // Rows of the tile by code, so that ranges of codes are ranges here.
        let mut by_code: Vec<(u32, u32)> = Vec::with_capacity(end - start);
        for r in 0..end - start {
            let code = column.codes().get(start + r);
            if code != 0 {
                set(&mut observed, r);
                by_code.push((code, r as u32));
            }
        }
        by_code.sort_unstable();
        let mut slot = vec![OBSERVED; n_codes as usize + 1];
        slot[0] = NOTHING;
        let mut bitmaps = vec![[0; WORDS], observed];
        let mut give = |code: u32, agreeing: &[(u32, u32)]| {
            let slot = &mut slot[code as usize];
            if *slot == OBSERVED {
                *slot = bitmaps.len() as u32;
                bitmaps.push(observed);
            }
            let bitmap = &mut bitmaps[*slot as usize];
            for &(_, r) in agreeing {
                bitmap[r as usize / 64] &= !(1 << (r % 64));
            }
        };
        match agreement {
            // Only codes that occur in the tile need a bitmap of their own.
            Agreement::Same => by_code
                .chunk_by(|a, b| a.0 == b.0)
                .filter(|run| run[0].0 <= n_codes)
                .for_each(|run| give(run[0].0, run)),
            Agreement::Ranges { .. } => (1..=n_codes).for_each(|code| {
                agreement.for_ranges(code, |first, last| {
                    let low = by_code.partition_point(|&(c, _)| c < first);
                    let high = by_code.partition_point(|&(c, _)| c <= last);
                    if low < high {
                        give(code, &by_code[low..high]);
                    }
                });
            }),
        }
        Self { bitmaps, slot }
    }

    fn differing(&self, code: u32) -> &Lane {
        &self.bitmaps[self.slot[code as usize] as usize]
    }
}
