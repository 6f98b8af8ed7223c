//! Pair by pair, with tables of groups of keys: slow, and of known cost.
//!
//! Known rows are cut into tiles. Keys whose values combine in few ways among a
//! block of queries share a table: per combination, the weights of the tile's
//! rows and their exponentials. Queries are sorted by combinations, so that the
//! sums over the first groups are shared by a run of queries; the last group is
//! one addition, one maximum and one multiplication a pair.

use super::patterns::{codes_of, Patterns};
use super::weights::Weights;
use super::Best;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Rows of a tile.
const TILE: usize = if cfg!(test) { 16 } else { 512 };
/// Queries of a block.
const BLOCK: usize = if cfg!(test) { 16 } else { 4096 };
/// Keys share a table while their codes combine in at most so many ways.
const MOST_COMBINATIONS: usize = if cfg!(test) { 6 } else { 512 };
/// Sums that are added up side by side.
const LANES: usize = 8;

/// Weights and exponentials of the rows of a tile.
#[derive(Clone)]
struct Lane {
    weights: Vec<f64>,
    factors: Vec<f64>,
}

impl Lane {
    fn new(n: usize) -> Self {
        Self {
            weights: vec![0.0; n],
            factors: vec![1.0; n],
        }
    }

    fn set(&mut self, weights: &[f64], factors: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.factors.copy_from_slice(factors);
    }

    /// Adds the pairs of one released code.
    fn add_key(&mut self, key: &super::weights::KeyWeights, rows: &[u32], code: u32) {
        if code == 0 {
            return;
        }
        let lanes = self.weights.iter_mut().zip(&mut self.factors);
        for ((weight, factor), &row) in lanes.zip(rows) {
            let (w, e) = key.pair(row, code);
            *weight += w;
            *factor *= e;
        }
    }

    fn set_sum(&mut self, one: &Lane, two: &Lane) {
        let sums = one.weights.iter().zip(&two.weights);
        for (sum, (a, b)) in self.weights.iter_mut().zip(sums) {
            *sum = a + b;
        }
        let products = one.factors.iter().zip(&two.factors);
        for (product, (a, b)) in self.factors.iter_mut().zip(products) {
            *product = a * b;
        }
    }
}

/// Keys whose combinations of codes share a table.
struct Group {
    keys: Vec<usize>,
    /// Per query of the block, its combination.
    combination: Vec<u32>,
    /// Per combination, a query that has it.
    example: Vec<u32>,
}

/// Numbers the distinct pairs of two codes.
fn numbered(pairs: impl Iterator<Item = (u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    let mut sorted: Vec<((u32, u32), u32)> = pairs.zip(0u32..).collect();
    sorted.sort_unstable();
    let mut numbers = vec![0; sorted.len()];
    let mut example: Vec<u32> = Vec::new();
    let mut before = None;
    for (pair, place) in sorted {
        if before != Some(pair) {
            example.push(place);
            before = Some(pair);
        }
        numbers[place as usize] = example.len() as u32 - 1;
    }
    (numbers, example)
}

/// The groups of the keys for one block, whose codes are given by key: the first
/// one, of any number of combinations, and those with tables.
fn groups(codes: &[Vec<u32>]) -> (Group, Vec<Group>) {
    let n = codes.first().map_or(0, Vec::len);
    let empty = || Group {
        keys: Vec::new(),
        combination: vec![0; n],
        example: vec![0],
    };
    let mut first = empty();
    let mut tabled: Vec<Group> = Vec::new();
    for (v, codes) in codes.iter().enumerate() {
        let with =
            |group: &Group| numbered(group.combination.iter().copied().zip(codes.iter().copied()));
        let (combination, example) = with(&empty());
        let several = tabled.last().map(with);
        match several {
            Some((combination, example)) if example.len() <= MOST_COMBINATIONS => {
                if let Some(group) = tabled.last_mut() {
                    group.keys.push(v);
                    group.combination = combination;
                    group.example = example;
                }
            }
            _ if example.len() <= MOST_COMBINATIONS => tabled.push(Group {
                keys: vec![v],
                combination,
                example,
            }),
            _ => {
                let (combination, example) = with(&first);
                first.keys.push(v);
                first.combination = combination;
                first.example = example;
            }
        }
    }
    if tabled.is_empty() {
        tabled.push(empty());
    }
    (first, tabled)
}

/// The best of a tile, where it reaches the best so far.
#[derive(Debug, Clone, Copy)]
struct Found {
    weight: f64,
    n: u64,
    sum: f64,
}

impl Found {
    /// Looks at the pairs of a query with the rows of a tile, whose weights are
    /// the sums of two lanes.
    fn look(&mut self, one: &Lane, two: &Lane, counts: &[f64]) {
        let mut most = [f64::NEG_INFINITY; LANES];
        let mut sum = [0.0f64; LANES];
        let chunks = one
            .weights
            .chunks_exact(LANES)
            .zip(two.weights.chunks_exact(LANES))
            .zip(one.factors.chunks_exact(LANES))
            .zip(two.factors.chunks_exact(LANES));
        for (((w1, w2), f1), f2) in chunks {
            for (lane, (most, sum)) in most.iter_mut().zip(&mut sum).enumerate() {
                let weight = w1[lane] + w2[lane];
                *most = if weight > *most { weight } else { *most };
                *sum += f1[lane] * f2[lane];
            }
        }
        let most = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        self.sum += sum.iter().sum::<f64>();
        if most >= self.weight {
            let weights = one.weights.iter().zip(&two.weights);
            let ties = weights.zip(counts).filter(|((a, b), _)| *a + *b >= most);
            let n = ties.map(|(_, &n)| n as u64).sum::<u64>();
            self.n = n + if most > self.weight { 0 } else { self.n };
            self.weight = most;
        }
    }
}

/// The rows of one tile: codes by key, padded with rows that stand for nobody.
struct Tile {
    codes: Vec<Vec<u32>>,
    counts: Vec<f64>,
    /// The weight of nothing compared: that of no record is below all others.
    start: Lane,
}

impl Tile {
    fn new(patterns: &Patterns, from: usize) -> Self {
        let to = (from + TILE).min(patterns.n_rows());
        let rows: Vec<u32> = (from as u32..to as u32).collect();
        let codes = patterns.rows.columns().iter().map(|column| {
            let mut codes = codes_of(column, &rows);
            codes.resize(TILE, 0);
            codes
        });
        let mut counts: Vec<f64> = patterns.counts[from..to]
            .iter()
            .map(|&n| n as f64)
            .collect();
        counts.resize(TILE, 0.0);
        let mut start = Lane::new(TILE);
        start.set(
            &(0..TILE)
                .map(|r| {
                    if r < rows.len() {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect::<Vec<f64>>(),
            &counts,
        );
        Self {
            codes: codes.collect(),
            counts,
            start,
        }
    }
}

/// The pairs of one block of queries with all rows.
fn block(
    patterns: &Patterns,
    tiles: &[Tile],
    weights: &Weights,
    queries: &[u32],
    monitor: &Monitor,
) -> Result<Vec<(u32, Found)>> {
    let columns = patterns.queries.columns();
    let codes: Vec<Vec<u32>> = columns.iter().map(|c| codes_of(c, queries)).collect();
    let (first, tabled) = groups(&codes);
    let mut sorted: Vec<usize> = (0..queries.len()).collect();
    let combinations = |q: usize| {
        let tabled = tabled.iter().map(move |g| g.combination[q]);
        std::iter::once(first.combination[q]).chain(tabled)
    };
    sorted.sort_unstable_by(|&a, &b| combinations(a).cmp(combinations(b)).then(a.cmp(&b)));
    let nothing = Found {
        weight: f64::NEG_INFINITY,
        n: 0,
        sum: 0.0,
    };
    let mut found = vec![nothing; queries.len()];
    let lanes = |group: &Group| vec![Lane::new(TILE); group.example.len()];
    let mut tables: Vec<Vec<Lane>> = tabled.iter().map(lanes).collect();
    // Sums over the first groups; the last is added when pairs are looked at.
    let mut sums = vec![Lane::new(TILE); tabled.len()];
    for tile in tiles {
        monitor.check()?;
        let fill = |lane: &mut Lane, keys: &[usize], q: usize| {
            for &v in keys {
                lane.add_key(&weights.keys()[v], &tile.codes[v], codes[v][q]);
            }
        };
        for (group, table) in tabled.iter().zip(&mut tables) {
            for (lane, &q) in table.iter_mut().zip(&group.example) {
                *lane = Lane::new(TILE);
                fill(lane, &group.keys, q as usize);
            }
        }
        let mut before: Option<usize> = None;
        for &q in &sorted {
            let changed = before.map_or(0, |b| {
                let pairs = combinations(b).zip(combinations(q));
                pairs.take_while(|(x, y)| x == y).count()
            });
            if changed == 0 {
                sums[0].set(&tile.start.weights, &tile.start.factors);
                fill(&mut sums[0], &first.keys, q);
            }
            for at in changed.max(1)..tabled.len() {
                let (done, open) = sums.split_at_mut(at);
                let lane = &tables[at - 1][tabled[at - 1].combination[q] as usize];
                open[0].set_sum(&done[at - 1], lane);
            }
            let last = tabled.len() - 1;
            let lane = &tables[last][tabled[last].combination[q] as usize];
            found[q].look(&sums[last], lane, &tile.counts);
            before = Some(q);
        }
    }
    monitor.advance(queries.len() as u64);
    Ok(queries.iter().copied().zip(found).collect())
}

/// The best matches of all queries, by their numbers.
pub(super) fn best_matches(
    patterns: &Patterns,
    weights: &Weights,
    monitor: &Monitor,
) -> Result<Vec<Best>> {
    let starts = (0..patterns.n_rows()).step_by(TILE);
    let tiles = parallel::map(starts, |from| Tile::new(patterns, from));
    let queries: Vec<u32> = (0..patterns.n_queries() as u32).collect();
    let blocks = parallel::try_map(queries.chunks(BLOCK), monitor, |queries| {
        block(patterns, &tiles, weights, queries, monitor)
    })?;
    let found = blocks.into_iter().flatten();
    Ok(found
        .map(|(_, f)| Best::new(f.weight, f.n, f.sum))
        .collect())
}
