//! Differences of all pairs, counted in bits.
//!
//! Wave 1 is cut into tiles of 512 sorted rows. For every key and wave-2 code
//! a bitmap marks the rows of the tile that differ; adding the bitmaps of all
//! keys with carry-save adders gives the numbers of differences of 512 pairs
//! in a few bit planes.
//!
//! Queries share most of that work. Keys are put into groups whose codes occur
//! in at most [`MOST_COMBINATIONS`] combinations among the queries; the planes
//! of every combination are computed once per tile. Queries are sorted by the
//! bound of their smallest difference and by combinations, so that the groups
//! are added once for a run of queries. Since the rows of a tile are alike, the
//! combinations of most queries differ from all of them by more than the bound:
//! whole runs are then skipped without looking at a bit.
//!
//! Memory: about 40 bytes per distinct wave-2 row, and 0.3 KB per combination.

use rayon::prelude::*;

use super::patterns::{sorted_rows, Patterns};
use super::{Agreement, Best};
use crate::error::{Error, Result};
use crate::key_table::{Codes, Column, KeyTable};
use crate::parallel::Monitor;

/// Words of 64 rows in a tile.
const WORDS: usize = 8;
const ROWS: usize = WORDS * 64;
/// One bit per row of a tile.
type Lane = [u64; WORDS];
/// Numbers of differences of the rows of a tile, lowest bit first.
type Planes<const P: usize> = [Lane; P];
/// Keys share a group while their codes combine in at most so many ways.
const MOST_COMBINATIONS: u32 = 1024;
/// Queries per block of parallel work.
const BLOCK: usize = 2048;

pub(super) fn nearest(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
    // The planes must hold one more than the number of keys: nothing found.
    match patterns.n_keys() {
        0..=2 => Scan::<2>::run(patterns, monitor, report),
        3..=6 => Scan::<3>::run(patterns, monitor, report),
        7..=14 => Scan::<4>::run(patterns, monitor, report),
        15..=30 => Scan::<5>::run(patterns, monitor, report),
        31..=62 => Scan::<6>::run(patterns, monitor, report),
        63..=126 => Scan::<7>::run(patterns, monitor, report),
        _ => Err(Error::TooLarge("Too many keys to link on.".into())),
    }
}

/// Keys whose combinations of codes are tabulated together.
struct Group {
    keys: Vec<usize>,
    /// The combination of every query.
    combination: Column,
    /// Per combination, a query that has it.
    example: Vec<u32>,
}

impl Group {
    fn n_combinations(&self) -> usize {
        self.example.len()
    }

    fn is_tabulated(&self) -> bool {
        self.keys.len() > 1 || self.n_combinations() <= MOST_COMBINATIONS as usize
    }

    fn of(
        queries: &KeyTable,
        columns: Vec<Column>,
        keys: Vec<usize>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let groups = KeyTable::new(columns)?.group(monitor)?;
        let n = groups.len() as u32;
        let codes = Codes::pack(n, groups.row_group().iter().map(|&g| g + 1));
        debug_assert_eq!(codes.len(), queries.n_rows());
        Ok(Self {
            keys,
            combination: Column::new(codes, n)?,
            example: groups.first_rows().to_vec(),
        })
    }
}

/// Puts every key into the first group in which it leaves the number of
/// combinations small, or into one of its own.
fn group_keys(queries: &KeyTable, monitor: &Monitor) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (v, column) in queries.columns().iter().enumerate() {
        monitor.check()?;
        let mut place = None;
        for (g, group) in groups.iter().enumerate() {
            let most = MOST_COMBINATIONS as usize;
            if group.n_combinations() > most || column.n_values() >= MOST_COMBINATIONS {
                continue;
            }
            let mut keys = group.keys.clone();
            keys.push(v);
            let columns = vec![group.combination.clone(), column.clone()];
            let joined = Group::of(queries, columns, keys, monitor)?;
            if joined.n_combinations() <= most {
                place = Some((g, joined));
                break;
            }
        }
        match place {
            Some((g, joined)) => groups[g] = joined,
            None => groups.push(Group::of(queries, vec![column.clone()], vec![v], monitor)?),
        }
    }
    Ok(groups)
}

/// Queries in the order of their bounds and combinations.
struct Queries {
    /// Per group, the combination of every query, from 0.
    combination: Vec<Vec<u32>>,
    /// Per query, where the queries with its bound and first combination end.
    run_end: Vec<u32>,
    /// Per query, its set of observed keys.
    mask: Vec<u32>,
    /// Where each query stood before sorting.
    original: Vec<u32>,
}

/// What one tile knows: planes per combination, and which rows are admissible.
struct Tile<const P: usize> {
    /// Per group.
    tables: Vec<Table<P>>,
    /// Per set of observed keys of the queries, the admissible rows.
    admissible: Vec<Lane>,
    /// The rows that are admissible for some query.
    anywhere: Lane,
}

/// The planes of one group's combinations.
struct Table<const P: usize> {
    planes: Vec<Planes<P>>,
    /// Per entry of `planes`, the smallest number of differences in the tile.
    low: Vec<u8>,
    /// Per combination its entry, where they are not the same: a key with many
    /// codes has an entry for those that occur in the tile.
    entry: Option<Vec<u32>>,
}

impl<const P: usize> Table<P> {
    #[inline(always)]
    fn entry(&self, combination: u32) -> usize {
        match &self.entry {
            None => combination as usize,
            Some(entry) => entry[combination as usize] as usize,
        }
    }
}

struct Scan<const P: usize>;

impl<const P: usize> Scan<P> {
    fn run(patterns: &Patterns, monitor: &Monitor, report: bool) -> Result<Vec<Best>> {
        let groups = group_keys(patterns.queries(), monitor)?;
        let (queries, masks) = sort_queries(patterns, &groups, monitor)?;
        let bounds = patterns.bounds();
        let mut best: Vec<Best> = queries
            .original
            .iter()
            .map(|&q| Best {
                n_diff: bounds[q as usize],
                n_best: 0,
            })
            .collect();
        let starts: Vec<usize> = (0..patterns.n_rows()).step_by(ROWS).collect();
        if report {
            monitor.set_total(starts.len() as u64);
        }
        let mut tile = Tile::<P>::empty(&groups);
        for start in starts {
            monitor.check()?;
            tile.fill(patterns, &groups, &masks, start);
            let counts = &patterns.counts()[start..patterns.n_rows().min(start + ROWS)];
            best.par_chunks_mut(BLOCK)
                .enumerate()
                .try_for_each(|(b, best)| {
                    monitor.check()?;
                    let first = b * BLOCK;
                    Block::new(&tile, &queries, first, best.len(), counts).scan(best);
                    Ok(())
                })?;
            monitor.advance(u64::from(report));
        }
        {
            let mut h = [[0u64; 8]; 8];
            for (&q, f) in queries.original.iter().zip(&best) {
                h[(bounds[q as usize] as usize).min(7)][(f.n_diff as usize).min(7)] += 1;
            }
        }
        let mut out = vec![
            Best {
                n_diff: 0,
                n_best: 0
            };
            best.len()
        ];
        for (&q, found) in queries.original.iter().zip(best) {
            out[q as usize] = found;
        }
        Ok(out)
    }
}

/// The sorted queries, and their distinct sets of observed keys: one set that
/// says nothing where all pairs are admissible.
fn sort_queries(
    patterns: &Patterns,
    groups: &[Group],
    monitor: &Monitor,
) -> Result<(Queries, Vec<u64>)> {
    let bounds = patterns.bounds();
    let bound = Column::new(Codes::U8(bounds.to_vec()), u32::from(u8::MAX))?;
    let mut columns = vec![&bound];
    columns.extend(groups.iter().map(|g| &g.combination));
    let original = sorted_rows(&columns, monitor)?;
    let combination: Vec<Vec<u32>> = columns[1..]
        .iter()
        .map(|c| {
            let codes = original.iter().map(|&q| c.codes().get(q as usize));
            codes.map(|code| code - 1).collect()
        })
        .collect();
    let (mask, masks) = match patterns.sharing() {
        None => (vec![0; original.len()], vec![0]),
        Some((observed, _, _)) => {
            let mut masks: Vec<u64> = observed.to_vec();
            masks.sort_unstable();
            masks.dedup();
            let place = |bits: u64| masks.partition_point(|&m| m < bits) as u32;
            let of = |&q: &u32| place(observed[q as usize]);
            (original.iter().map(of).collect(), masks)
        }
    };
    let mut run_end = vec![original.len() as u32; original.len()];
    for q in (1..original.len()).rev() {
        let bound = |q: usize| bounds[original[q] as usize];
        let same = bound(q - 1) == bound(q) && combination[0][q - 1] == combination[0][q];
        run_end[q - 1] = if same { run_end[q] } else { q as u32 };
    }
    let queries = Queries {
        combination,
        run_end,
        mask,
        original,
    };
    Ok((queries, masks))
}

impl<const P: usize> Tile<P> {
    fn empty(groups: &[Group]) -> Self {
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
    fn fill(&mut self, patterns: &Patterns, groups: &[Group], masks: &[u64], start: usize) {
        let end = patterns.n_rows().min(start + ROWS);
        let mut valid = [0u64; WORDS];
        (0..end - start).for_each(|r| set(&mut valid, r));
        let keys: Vec<KeyBitmaps> = (0..patterns.n_keys())
            .into_par_iter()
            .map(|v| {
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
            })
            .collect();
        for (table, group) in self.tables.iter_mut().zip(groups) {
            if !group.is_tabulated() {
                *table = Table::of_key(&keys[group.keys[0]], patterns, group, &valid);
                continue;
            }
            table
                .planes
                .par_iter_mut()
                .zip(&mut table.low)
                .zip(&group.example)
                .with_min_len(128)
                .for_each(|((planes, low), &query)| {
                    *planes = [[0; WORDS]; P];
                    for &v in &group.keys {
                        let code = patterns.queries().columns()[v].codes().get(query as usize);
                        add_bit(planes, keys[v].differing(code));
                    }
                    *low = smallest(planes, &valid);
                });
        }
        self.admissible = match patterns.sharing() {
            None => vec![valid],
            Some((_, rows, least)) => masks
                .par_iter()
                .map(|mask| {
                    let mut lane = [0u64; WORDS];
                    for (r, observed) in rows[start..end].iter().enumerate() {
                        if (mask & observed).count_ones() >= least {
                            set(&mut lane, r);
                        }
                    }
                    lane
                })
                .collect(),
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

fn set(lane: &mut Lane, row: usize) {
    lane[row / 64] |= 1 << (row % 64);
}

/// Adds one to the rows that `bits` marks.
fn add_bit<const P: usize>(planes: &mut Planes<P>, bits: &Lane) {
    let mut carry = *bits;
    for plane in planes {
        for (sum, carry) in plane.iter_mut().zip(&mut carry) {
            let before = *sum;
            *sum = before ^ *carry;
            *carry &= before;
        }
    }
}

/// The sum of two numbers per row.
#[inline(always)]
fn add<const P: usize>(a: &Planes<P>, b: &Planes<P>) -> Planes<P> {
    let mut out = [[0; WORDS]; P];
    let mut carry = [0u64; WORDS];
    for p in 0..P {
        for w in 0..WORDS {
            let (a, b, c) = (a[p][w], b[p][w], carry[w]);
            let either = a ^ b;
            out[p][w] = either ^ c;
            carry[w] = (a & b) | (c & either);
        }
    }
    out
}

/// The smallest number among the rows of `among`.
fn smallest<const P: usize>(planes: &Planes<P>, among: &Lane) -> u8 {
    lowest(planes, *among).0
}

/// The smallest number among some rows, and the rows that have it.
fn lowest<const P: usize>(planes: &Planes<P>, mut among: Lane) -> (u8, Lane) {
    let mut least = 0;
    for (p, plane) in planes.iter().enumerate().rev() {
        let mut zero = [0u64; WORDS];
        for w in 0..WORDS {
            zero[w] = among[w] & !plane[w];
        }
        if zero.iter().any(|&z| z != 0) {
            among = zero;
        } else {
            least |= 1 << p;
        }
    }
    (least, among)
}

/// Whether any of the rows of `among` has a number of at most `most`.
#[inline(always)]
fn any_at_most<const P: usize>(a: &Planes<P>, b: &Planes<P>, among: &Lane, most: u8) -> bool {
    let mut carry = [0u64; WORDS];
    // Going up, `above` says whether the low bits exceed those of `most`.
    let mut above = [0u64; WORDS];
    for p in 0..P {
        let bit = 0u64.wrapping_sub(u64::from(most >> p & 1));
        for w in 0..WORDS {
            let (a, b, c) = (a[p][w], b[p][w], carry[w]);
            let either = a ^ b;
            let sum = either ^ c;
            carry[w] = (a & b) | (c & either);
            // This bit decides where it differs from that of `most`.
            above[w] = (sum & !bit) | (above[w] & !(sum ^ bit));
        }
    }
    (0..WORDS).fold(0, |any, w| any | (among[w] & !above[w])) != 0
}

/// A block of queries before one tile.
struct Block<'a, const P: usize> {
    tile: &'a Tile<P>,
    /// Per group, the combinations of the queries of the block.
    combinations: Vec<&'a [u32]>,
    run_end: &'a [u32],
    masks: &'a [u32],
    first: usize,
    /// Records that the rows of the tile stand for.
    counts: &'a [u64],
}

impl<'a, const P: usize> Block<'a, P> {
    fn new(
        tile: &'a Tile<P>,
        queries: &'a Queries,
        first: usize,
        len: usize,
        counts: &'a [u64],
    ) -> Self {
        let range = first..first + len;
        Self {
            tile,
            combinations: queries
                .combination
                .iter()
                .map(|c| &c[range.clone()])
                .collect(),
            run_end: &queries.run_end[range.clone()],
            masks: &queries.mask[range],
            first,
            counts,
        }
    }

    /// Compares all queries of the block with all rows of the tile.
    fn scan(&self, best: &mut [Best]) {
        let none = [[0; WORDS]; P];
        let mut start = 0;
        while start < best.len() {
            let end = (self.run_end[start] as usize - self.first).min(best.len());
            // The bound of a run only falls while it is searched.
            let bound = best[start..end].iter().map(|b| b.n_diff).max().unwrap_or(0);
            self.scan_run(0, start, end, &none, 0, bound, best);
            start = end;
        }
    }

    /// Compares the queries `start..end`, which agree in the first groups:
    /// `sum` are the differences there, at least `low`.
    #[allow(clippy::too_many_arguments)]
    fn scan_run(
        &self,
        group: usize,
        start: usize,
        end: usize,
        sum: &Planes<P>,
        low: u8,
        bound: u8,
        best: &mut [Best],
    ) {
        let table = &self.tile.tables[group];
        let combinations = self.combinations[group];
        if group + 1 == self.combinations.len() {
            for q in start..end {
                let entry = table.entry(combinations[q]);
                if low + table.low[entry] <= best[q].n_diff {
                    self.compare(q, sum, &table.planes[entry], &mut best[q]);
                }
            }
            return;
        }
        let mut i = start;
        while i < end {
            let combination = combinations[i];
            let same = combinations[i..end]
                .iter()
                .take_while(|&&c| c == combination);
            let stop = i + same.count();
            let entry = table.entry(combination);
            let alone = stop - i == 1;
            // What the groups to come add at least.
            let rest = if alone { self.low_after(group, i) } else { 0 };
            let bound = if alone { best[i].n_diff } else { bound };
            if low + table.low[entry] + rest <= bound {
                let sum = add(sum, &table.planes[entry]);
                let low = smallest(&sum, &self.tile.anywhere);
                if low + rest <= bound {
                    self.scan_run(group + 1, i, stop, &sum, low, bound, best);
                }
            }
            i = stop;
        }
    }

    /// The least number of differences of one query in the groups after one.
    fn low_after(&self, group: usize, query: usize) -> u8 {
        let groups = self
            .tile
            .tables
            .iter()
            .zip(&self.combinations)
            .skip(group + 1);
        groups
            .map(|(table, c)| table.low[table.entry(c[query])])
            .sum()
    }

    /// Compares one query, whose differences are the sum of `a` and `b`.
    fn compare(&self, query: usize, a: &Planes<P>, b: &Planes<P>, best: &mut Best) {
        let admissible = &self.tile.admissible[self.masks[query] as usize];
        if any_at_most(a, b, admissible, best.n_diff) {
            let (least, rows) = lowest(&add(a, b), *admissible);
            if least < best.n_diff {
                *best = Best {
                    n_diff: least,
                    n_best: 0,
                };
            }
            best.n_best += records(&rows, self.counts);
        }
    }
}

/// How many records the marked rows stand for.
fn records(rows: &Lane, counts: &[u64]) -> u64 {
    let mut n = 0;
    for (w, &word) in rows.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            n += counts[w * 64 + word.trailing_zeros() as usize];
            word &= word - 1;
        }
    }
    n
}
