//! Nearest cells: who stands close to whom, in near-linear time.
//!
//! The distance of two cells is the number of key variables in which they
//! differ, then the number of steps between their values: the difference of
//! the codes of an ordered key, one for a nominal key or a missing value.
//!
//! Pairs at distance `d` agree on all but `d` keys. For every choice of `d`
//! keys the cells are sorted by the hash of the others, and neighbours in that
//! order are candidates; the closest are paired first. Few cells left are
//! compared one by one. Where choices would become too many, the rest is
//! paired along a sorted order: nearest then means near.

use crate::error::Result;
use crate::hash::spread;
use crate::memory::{collected, push, reserved};
use crate::parallel::Monitor;

/// Up to the square of this number of pairs are compared one by one.
const COMPARE_ALL: usize = 1500;
/// Sorted entries that one distance may cost.
const MOST_SORTED: usize = 200_000_000;
/// Candidates kept before the closest of them are paired.
const MOST_EDGES: usize = 20_000_000;

/// Levels of one key between which no record may move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbidden {
    /// Key left out.
    pub key: usize,
    /// Pairs of codes.
    pub pairs: Vec<(u32, u32)>,
}

/// Cells as points whose coordinates are the codes of the keys.
#[derive(Debug)]
pub struct Points<'a> {
    /// Per key, the code of every cell.
    pub codes: &'a [Vec<u32>],
    /// Per key, whether its codes have an order.
    pub ordered: &'a [bool],
    /// Levels never exchanged.
    pub forbidden: &'a [Forbidden],
}

impl Points<'_> {
    /// Number of differing keys, and steps between the values.
    pub fn distance(&self, i: u32, j: u32) -> (u32, u64) {
        let mut differing = 0;
        let mut steps = 0;
        for (codes, &ordered) in self.codes.iter().zip(self.ordered) {
            let (x, y) = (codes[i as usize], codes[j as usize]);
            if x != y {
                differing += 1;
                let both_known = x != 0 && y != 0;
                steps += if ordered && both_known {
                    u64::from(x.abs_diff(y))
                } else {
                    1
                };
            }
        }
        (differing, steps)
    }

    /// True if records may move between two cells.
    pub fn compatible(&self, i: u32, j: u32) -> bool {
        self.forbidden.iter().all(|rule| {
            let codes = &self.codes[rule.key];
            let (x, y) = (codes[i as usize], codes[j as usize]);
            !rule
                .pairs
                .iter()
                .any(|&(a, b)| (x == a && y == b) || (x == b && y == a))
        })
    }

    /// True if records may move between `i` and every one of `cells`.
    pub fn compatible_with_all(&self, i: u32, cells: &[u32]) -> bool {
        cells.iter().all(|&j| self.compatible(i, j))
    }

    /// One number per cell and key, to be summed over keys.
    fn mix(&self, key: usize, cell: u32) -> u64 {
        spread(((key as u64 + 1) << 32) | u64::from(self.codes[key][cell as usize]))
    }

    fn whole_mix(&self, cell: u32) -> u64 {
        (0..self.codes.len()).fold(0u64, |sum, key| sum.wrapping_add(self.mix(key, cell)))
    }
}

/// Two cells and the steps between them.
type Edge = (u64, u32, u32);

/// Pairs cells, the nearest ones first; what finds no partner is left over.
/// Only pairs of which one `needs` a partner and between which records may
/// move. `marks` has one flag for every cell of the file, all `false`.
pub fn pair_nearest(
    points: &Points,
    cells: &[u32],
    needs: &dyn Fn(u32) -> bool,
    marks: &mut [bool],
    monitor: &Monitor,
) -> Result<(Vec<[u32; 2]>, Vec<u32>)> {
    let found = pair_rounds(points, cells, needs, &mut Taken(marks), monitor);
    for &cell in cells {
        marks[cell as usize] = false;
    }
    found
}

fn pair_rounds(
    points: &Points,
    cells: &[u32],
    needs: &dyn Fn(u32) -> bool,
    taken: &mut Taken,
    monitor: &Monitor,
) -> Result<(Vec<[u32; 2]>, Vec<u32>)> {
    let n_keys = points.codes.len();
    let mut open = collected(cells.iter().copied(), cells.len())?;
    let mut pairs = reserved(open.len() / 2)?;
    for differing in 1..=n_keys {
        loop {
            monitor.check()?;
            let needy = open.iter().filter(|&&cell| needs(cell)).count();
            if open.len() < 2 || needy == 0 {
                return Ok((pairs, open));
            }
            if needy.saturating_mul(open.len()) <= COMPARE_ALL * COMPARE_ALL {
                pair_all(points, &mut open, needs, taken, &mut pairs)?;
                return Ok((pairs, open));
            }
            if choices(n_keys, differing).saturating_mul(open.len()) > MOST_SORTED {
                pair_sorted(points, &mut open, needs, taken, &mut pairs, monitor)?;
                return Ok((pairs, open));
            }
            let before = open.len();
            pair_at(
                points, &mut open, differing, needs, taken, &mut pairs, monitor,
            )?;
            if open.len() == before {
                break;
            }
        }
    }
    Ok((pairs, open))
}

/// Number of ways to choose `k` of `n`.
fn choices(n: usize, k: usize) -> usize {
    (0..k).fold(1usize, |ways, i| ways.saturating_mul(n - i) / (i + 1))
}

/// Pairs cells that differ in `differing` keys.
fn pair_at(
    points: &Points,
    open: &mut Vec<u32>,
    differing: usize,
    needs: &dyn Fn(u32) -> bool,
    taken: &mut Taken,
    pairs: &mut Vec<[u32; 2]>,
    monitor: &Monitor,
) -> Result<()> {
    let whole = collected(open.iter().map(|&cell| points.whole_mix(cell)), open.len())?;
    let mut edges: Vec<Edge> = Vec::new();
    let mut dropped: Vec<usize> = (0..differing).collect();
    loop {
        monitor.check()?;
        let still_open = open
            .iter()
            .zip(&whole)
            .filter(|(&cell, _)| !taken.contains(cell))
            .map(|(&cell, &whole)| {
                let rest = dropped
                    .iter()
                    .fold(whole, |sum, &key| sum.wrapping_sub(points.mix(key, cell)));
                (rest, place(points, &dropped, cell), cell)
            });
        let mut sorted: Vec<(u64, u64, u32)> = collected(still_open, open.len())?;
        sorted.sort_unstable();
        for two in sorted.windows(2) {
            let ((rest, _, i), (next_rest, _, j)) = (two[0], two[1]);
            if rest != next_rest || !(needs(i) || needs(j)) || !points.compatible(i, j) {
                continue;
            }
            let (different, steps) = points.distance(i, j);
            // Equal hashes of different values would be a farther pair.
            if different as usize <= differing {
                push(&mut edges, (steps, i.min(j), i.max(j)))?;
            }
        }
        let more = next_choice(&mut dropped, points.codes.len());
        if edges.len() > MOST_EDGES || !more {
            take_edges(&mut edges, taken, pairs);
        }
        if !more {
            break;
        }
    }
    open.retain(|&cell| !taken.contains(cell));
    Ok(())
}

/// Place of a cell among those that agree on the other keys.
fn place(points: &Points, dropped: &[usize], cell: u32) -> u64 {
    let code =
        |key: Option<&usize>| key.map_or(0, |&key| u64::from(points.codes[key][cell as usize]));
    (code(dropped.first()) << 32) | code(dropped.get(1))
}

/// The next choice of keys in lexicographic order; `false` after the last.
fn next_choice(choice: &mut [usize], n: usize) -> bool {
    let k = choice.len();
    for i in (0..k).rev() {
        if choice[i] < n - k + i {
            choice[i] += 1;
            for later in i + 1..k {
                choice[later] = choice[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// The cells that have found a partner.
struct Taken<'a>(&'a mut [bool]);

impl Taken<'_> {
    fn contains(&self, cell: u32) -> bool {
        self.0[cell as usize]
    }

    fn insert(&mut self, cell: u32) {
        self.0[cell as usize] = true;
    }
}

/// Pairs along the edges, shortest first.
fn take_edges(edges: &mut Vec<Edge>, taken: &mut Taken, pairs: &mut Vec<[u32; 2]>) {
    edges.sort_unstable();
    for &(_, i, j) in edges.iter() {
        if !taken.contains(i) && !taken.contains(j) {
            taken.insert(i);
            taken.insert(j);
            pairs.push([i, j]);
        }
    }
    edges.clear();
}

/// Pairs a few cells by comparing all of them.
fn pair_all(
    points: &Points,
    open: &mut Vec<u32>,
    needs: &dyn Fn(u32) -> bool,
    taken: &mut Taken,
    pairs: &mut Vec<[u32; 2]>,
) -> Result<()> {
    let mut edges: Vec<Edge> = Vec::new();
    for &i in open.iter().filter(|&&cell| needs(cell)) {
        for &j in open.iter() {
            // Two needy cells meet twice; once is enough.
            if i != j && !(needs(j) && j < i) && points.compatible(i, j) {
                let (differing, steps) = points.distance(i, j);
                let steps = steps.min((1 << 48) - 1);
                let key = (u64::from(differing) << 48) | steps;
                push(&mut edges, (key, i.min(j), i.max(j)))?;
            }
        }
    }
    take_edges(&mut edges, taken, pairs);
    open.retain(|&cell| !taken.contains(cell));
    Ok(())
}

/// Pairs neighbours in the lexicographic order of the codes, the keys with the
/// fewest values first.
fn pair_sorted(
    points: &Points,
    open: &mut Vec<u32>,
    needs: &dyn Fn(u32) -> bool,
    taken: &mut Taken,
    pairs: &mut Vec<[u32; 2]>,
    monitor: &Monitor,
) -> Result<()> {
    let mut keys: Vec<usize> = (0..points.codes.len()).collect();
    keys.sort_by_key(|&key| {
        open.iter()
            .map(|&cell| points.codes[key][cell as usize])
            .max()
    });
    open.sort_unstable_by(|&i, &j| {
        keys.iter()
            .map(|&key| points.codes[key][i as usize].cmp(&points.codes[key][j as usize]))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| i.cmp(&j))
    });
    loop {
        monitor.check()?;
        let mut left = reserved(open.len())?;
        let before = open.len();
        for &cell in open.iter() {
            match left.last() {
                Some(&last) if (needs(last) || needs(cell)) && points.compatible(last, cell) => {
                    left.pop();
                    pairs.push([last, cell]);
                }
                _ => left.push(cell),
            }
        }
        *open = left;
        if open.len() == before {
            break;
        }
    }
    let needy = open.iter().filter(|&&cell| needs(cell)).count();
    if needy.saturating_mul(open.len()) <= COMPARE_ALL * COMPARE_ALL {
        pair_all(points, open, needs, taken, pairs)?;
    }
    Ok(())
}
