//! Choice of the next rows: the largest scores, the lowest rows among ties.

use std::ops::Range;

use super::*;
use crate::parallel::{self, ROWS_PER_BLOCK};

/// Contributions closer than this are ties.
const TIE: f64 = 1e-15;

/// Places of the bits that are set.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(w, &word)| {
        std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|&rest| rest != 0)
            .map(move |rest| w * 64 + rest.trailing_zeros() as usize)
    })
}

/// The bits of the `n_top` kept sets of highest count, ties in the order of
/// `combn()`.
pub(super) fn top_mask(distinct: &[u32], sets: &[u32], n_top: usize) -> Vec<u64> {
    let mut mask = vec![0u64; BitRows::words_for(distinct.len())];
    let mut order: Vec<u32> = (0..distinct.len() as u32).collect();
    if n_top < order.len() {
        let key = |&k: &u32| (std::cmp::Reverse(distinct[k as usize]), sets[k as usize]);
        order.select_nth_unstable_by_key(n_top, key);
        order.truncate(n_top);
    }
    for k in order {
        mask[(k / 64) as usize] |= 1 << (k % 64);
    }
    mask
}

/// The `size` rows of largest score, ties by the lowest row.
pub(super) fn largest(
    alive: &[bool],
    size: usize,
    score: impl Fn(usize) -> u64 + Sync,
) -> Vec<u32> {
    let key = |row: usize| (std::cmp::Reverse(score(row)), row as u32);
    let keys = |rows: Range<usize>| rows.filter(|&row| alive[row]).map(key);
    let blocks = parallel::blocks(alive.len(), ROWS_PER_BLOCK);
    if size == 1 {
        let first = parallel::map(blocks, |rows| keys(rows).min());
        return first
            .into_iter()
            .flatten()
            .min()
            .map(|k| k.1)
            .into_iter()
            .collect();
    }
    let mut keys = parallel::map(blocks, |rows| keys(rows).collect::<Vec<_>>()).concat();
    if size < keys.len() {
        keys.select_nth_unstable(size);
        keys.truncate(size);
    }
    keys.sort_unstable();
    keys.into_iter().map(|k| k.1).collect()
}

/// Rows by pattern, and the risk without a row of each.
pub(super) struct Changes<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) risks: Vec<Option<f64>>,
}

/// The `size` rows of largest contribution, one after the other: of those
/// within [`TIE`] of the largest that is left, the lowest row. Contributions
/// that are not determined come last.
pub(super) fn largest_contributions(
    current: Option<f64>,
    changes: &Changes<'_>,
    size: usize,
) -> Vec<u32> {
    let Changes { patterns, risks } = changes;
    let value = |pattern: u32| match risks[pattern as usize] {
        Some(risk) => current.unwrap_or(0.0) - risk,
        None => f64::NEG_INFINITY,
    };
    if size == 1 {
        let all = || 0..risks.len() as u32;
        let most = all().map(value).fold(f64::NEG_INFINITY, f64::max);
        let best = all()
            .filter(|&p| value(p) >= most - TIE)
            .map(|p| patterns.first_rows[p as usize])
            .min();
        return best.into_iter().collect();
    }
    let mut order: Vec<u32> = (0..risks.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    // Patterns from the largest value on, until they hold enough rows with
    // all that tie with the last of them.
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); risks.len()];
    let mut n_rows = vec![0usize; risks.len()];
    for &pattern in patterns.of_row.iter().filter(|&&p| p != u32::MAX) {
        n_rows[pattern as usize] += 1;
    }
    let mut enough = 0;
    let mut n = 0;
    while enough < order.len()
        && (n < size || value(order[enough]) >= value(order[enough - 1]) - TIE)
    {
        n += n_rows[order[enough] as usize];
        enough += 1;
    }
    let mut useful = vec![false; risks.len()];
    for &pattern in &order[..enough] {
        useful[pattern as usize] = true;
    }
    for (row, &pattern) in (0u32..).zip(&patterns.of_row) {
        if pattern != u32::MAX && useful[pattern as usize] {
            rows_of[pattern as usize].push(row);
        }
    }
    let mut next = vec![0usize; risks.len()];
    let mut first = 0;
    let mut picked = Vec::with_capacity(size);
    while picked.len() < size && first < enough {
        let head = order[first] as usize;
        if next[head] == rows_of[head].len() {
            first += 1;
            continue;
        }
        let at_least = value(order[first]) - TIE;
        let best = order[first..enough]
            .iter()
            .take_while(|&&p| value(p) >= at_least)
            .filter_map(|&p| {
                let row = rows_of[p as usize].get(next[p as usize])?;
                Some((*row, p))
            })
            .min();
        if let Some((row, pattern)) = best {
            picked.push(row);
            next[pattern as usize] += 1;
        }
    }
    picked
}
