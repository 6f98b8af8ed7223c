//! The distinct rows of both waves on the keys in use, in an order that suits
//! the search, with an upper bound of every smallest difference.

use rayon::prelude::*;

use super::{Agreement, Best, Method, Nearest, PartnerDifferences, Waves, BLOCK};
use crate::error::Result;
use crate::key_table::{Column, Groups, KeyTable};
use crate::parallel::{self, Monitor};

/// Sorted neighbours on either side that bound the smallest difference.
const NEIGHBOURS: usize = 3;

/// Distinct wave-1 rows, sorted, and distinct wave-2 rows, called queries.
pub(crate) struct Patterns<'a> {
    /// The keys in the order of the columns of `rows` and `queries`.
    order: Vec<usize>,
    /// Wave-1 rows in lexicographic order of the keys.
    rows: KeyTable,
    /// Number of records that each stands for.
    counts: Vec<u64>,
    /// Wave-2 rows in order of first appearance.
    queries: KeyTable,
    query_of_row: Vec<u32>,
    /// Per key, in that order.
    agreements: Vec<&'a Agreement>,
    /// Per query, a number that no smallest difference exceeds; empty before
    /// [`Patterns::bound`].
    bounds: Vec<u8>,
    /// Per query and per row, the observed keys as bits, where `min_shared`
    /// asks for them.
    observed: Option<(Vec<u64>, Vec<u64>)>,
    min_shared: u32,
}

impl<'a> Patterns<'a> {
    pub(crate) fn new(waves: &Waves<'a>, keys: &[usize], monitor: &Monitor) -> Result<Self> {
        let order = order_of_search(waves, keys, monitor)?;
        let (queries, groups) = distinct_rows(waves.wave2, &order, monitor)?;
        let query_of_row = groups.row_group().to_vec();
        drop(groups);
        let (unsorted, groups) = distinct_rows(waves.wave1, &order, monitor)?;
        let columns: Vec<&Column> = unsorted.columns().iter().collect();
        let sorted = sorted_rows(&columns, monitor)?;
        let counts: Vec<u64> = sorted
            .iter()
            .map(|&r| groups.counts()[r as usize])
            .collect();
        drop(groups);
        let rows = unsorted.select(&sorted)?;
        drop(unsorted);
        let observed =
            (waves.min_shared > 0).then(|| (observed_keys(&queries), observed_keys(&rows)));
        Ok(Self {
            rows,
            counts,
            queries,
            query_of_row,
            agreements: order.iter().map(|&v| &waves.agreements[v]).collect(),
            order,
            bounds: Vec::new(),
            observed,
            min_shared: waves.min_shared,
        })
    }

    /// Rows without missing values, all of which share as many keys with a query, where
    /// there are any, and the others, of which there is one at least.
    pub(super) fn split(&self) -> Result<(Option<Self>, Self)> {
        let missing = |row: &u32| {
            let mut columns = self.rows.columns().iter();
            columns.any(|c| c.codes().get(*row as usize) == 0)
        };
        let (mut others, mut complete): (Vec<u32>, Vec<u32>) =
            (0..self.n_rows() as u32).partition(missing);
        if others.is_empty() {
            others.extend(complete.pop());
        }
        let part = |rows: &[u32]| {
            Ok(Self {
                order: self.order.clone(),
                rows: self.rows.select(rows)?,
                counts: rows.iter().map(|&row| self.counts[row as usize]).collect(),
                queries: self.queries.clone(),
                query_of_row: Vec::new(),
                agreements: self.agreements.clone(),
                bounds: Vec::new(),
                observed: None,
                min_shared: 0,
            })
        };
        let complete = match complete.is_empty() {
            true => None,
            false => Some(part(&complete)?),
        };
        Ok((complete, part(&others)?))
    }

    /// Bounds the smallest differences by neighbours and by the partners that share
    /// enough keys.
    pub(super) fn bound(
        &mut self,
        own: Option<&PartnerDifferences>,
        monitor: &Monitor,
    ) -> Result<()> {
        self.bounds = self.bound_by_neighbours(monitor)?;
        if let Some(own) = own {
            self.bound_by_partners(own);
        }
        Ok(())
    }

    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn rows(&self) -> &KeyTable {
        &self.rows
    }

    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }

    pub(crate) fn queries(&self) -> &KeyTable {
        &self.queries
    }

    /// Per wave-2 row, its query.
    pub(crate) fn query_of_row(&self) -> &[u32] {
        &self.query_of_row
    }

    pub(super) fn agreements(&self) -> &[&'a Agreement] {
        &self.agreements
    }

    pub(super) fn bounds(&self) -> &[u8] {
        &self.bounds
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    pub(crate) fn n_queries(&self) -> usize {
        self.queries.n_rows()
    }

    /// Pairs of distinct rows.
    pub(super) fn n_pairs(&self) -> f64 {
        self.n_rows() as f64 * self.n_queries() as f64
    }

    pub(crate) fn n_keys(&self) -> usize {
        self.agreements.len()
    }

    /// The observed keys of queries and rows, and how many a pair must share;
    /// `None` where every pair counts.
    pub(super) fn sharing(&self) -> Option<(&[u64], &[u64], u32)> {
        let (queries, rows) = self.observed().filter(|_| self.min_shared > 0)?;
        Some((queries, rows, self.min_shared))
    }

    /// True if the pair shares enough observed keys.
    pub(super) fn is_admissible(&self, query: usize, row: usize) -> bool {
        match &self.observed {
            None => true,
            Some((queries, rows)) => (queries[query] & rows[row]).count_ones() >= self.min_shared,
        }
    }

    /// The best matches of queries as those of the wave-2 rows.
    pub(super) fn nearest(&self, found: impl Fn(usize) -> Best + Sync, method: Method) -> Nearest {
        let of_row = &self.query_of_row;
        let mut n_diff = vec![None; of_row.len()];
        let mut n_best = vec![0u64; of_row.len()];
        let parts = n_diff
            .chunks_mut(BLOCK)
            .zip(n_best.chunks_mut(BLOCK))
            .zip(of_row.chunks(BLOCK));
        parallel::for_each(parts, |((n_diff, n_best), of_row)| {
            for ((diff, best), &query) in n_diff.iter_mut().zip(n_best).zip(of_row) {
                let nearest = found(query as usize);
                *best = nearest.n_best;
                *diff = (nearest.n_best > 0).then_some(u32::from(nearest.n_diff));
            }
        });
        Nearest {
            n_diff,
            n_best,
            method,
            n_patterns: (self.n_rows(), self.n_queries()),
        }
    }

    /// Sets what bounds the smallest difference of every query.
    pub(super) fn set_bounds(&mut self, bounds: Vec<u8>) {
        self.bounds = bounds;
    }

    /// Keeps in mind which keys are observed, whatever a pair must share.
    pub(super) fn observe(&mut self) {
        let observed = || (observed_keys(&self.queries), observed_keys(&self.rows));
        self.observed.get_or_insert_with(observed);
    }

    /// The observed keys of queries and rows, where they are kept in mind.
    pub(super) fn observed(&self) -> Option<(&[u64], &[u64])> {
        let (queries, rows) = self.observed.as_ref()?;
        Some((queries, rows))
    }

    /// Number of observed keys of a query, if stored.
    pub(super) fn n_observed(&self, query: usize) -> usize {
        let (queries, _) = self.observed().unwrap_or_default();
        queries
            .get(query)
            .map_or(0, |query| query.count_ones() as usize)
    }

    /// Number of observed keys that a pair shares, if stored.
    pub(super) fn shared(&self, query: usize, row: usize) -> usize {
        let (queries, rows) = self.observed().unwrap_or_default();
        match (queries.get(query), rows.get(row)) {
            (Some(query), Some(row)) => (query & row).count_ones() as usize,
            _ => 0,
        }
    }

    /// The number of differing keys of a pair.
    pub(super) fn distance(&self, query: usize, row: usize) -> u8 {
        let columns = self.queries.columns().iter().zip(self.rows.columns());
        columns
            .zip(&self.agreements)
            .map(|((q, r), a)| u8::from(a.differs(r.codes().get(row), q.codes().get(query))))
            .sum()
    }

    /// The rows next to a query in the order of the rows are likely near it.
    fn bound_by_neighbours(&self, monitor: &Monitor) -> Result<Vec<u8>> {
        let n = self.n_rows();
        let none = self.n_keys() as u8 + 1;
        let mut bounds = vec![none; self.n_queries()];
        parallel::try_for_each(
            bounds.chunks_mut(BLOCK).enumerate(),
            monitor,
            |(b, bounds)| {
                for (q, bound) in (b * BLOCK..).zip(bounds) {
                    let place = self.place_of(q);
                    let near = place.saturating_sub(NEIGHBOURS)..(place + NEIGHBOURS).min(n);
                    *bound = near
                        .filter(|&row| self.is_admissible(q, row))
                        .map(|row| self.distance(q, row))
                        .min()
                        .unwrap_or(none);
                }
                Ok(())
            },
        )?;
        Ok(bounds)
    }

    /// The first row that is not before the query.
    fn place_of(&self, query: usize) -> usize {
        let (mut low, mut high) = (0, self.n_rows());
        for (q, r) in self.queries.columns().iter().zip(self.rows.columns()) {
            if low == high {
                break;
            }
            let (code, codes) = (q.codes().get(query), r.codes());
            low = first_from(low, high, |row| codes.get(row) >= code);
            high = first_from(low, high, |row| codes.get(row) > code);
        }
        low
    }

    fn bound_by_partners(&mut self, own: &PartnerDifferences) {
        for (row, &query) in self.query_of_row.iter().enumerate() {
            if let (Some(diff), true) = (own.n_diff[row], own.is_admissible(row)) {
                let bound = &mut self.bounds[query as usize];
                *bound = (*bound).min(diff as u8);
            }
        }
    }
}

/// The first index from `low` where `after` holds; `high` where it never does.
/// `after` is false and then true.
pub(super) fn first_from(low: usize, high: usize, after: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if after(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Keys that tell most and change least come first: the search is then cut
/// off early, and rows near each other in the order are alike.
fn order_of_search(waves: &Waves, keys: &[usize], monitor: &Monitor) -> Result<Vec<usize>> {
    let mut scored = parallel::try_map(keys, monitor, |&v| {
        let mut changes = super::KeyChanges::default();
        waves.for_partners(v, |_, observed, differs| {
            changes.n_compared += u64::from(observed);
            changes.n_changed += u64::from(differs);
        });
        let rate = changes.n_changed as f64 / changes.n_compared.max(1) as f64;
        Ok((
            entropy(&waves.wave1.columns()[v]) * (1.0 - 5.0 * rate).max(0.0),
            v,
        ))
    })?;
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(scored.into_iter().map(|(_, v)| v).collect())
}

/// Entropy of a column among its observed rows.
pub(super) fn entropy(column: &Column) -> f64 {
    let mut counts = vec![0u64; column.n_values() as usize + 1];
    for row in 0..column.len() {
        counts[column.codes().get(row) as usize] += 1;
    }
    let n = (column.len() - column.n_missing()) as f64;
    let observed = counts[1..].iter().filter(|&&c| c > 0);
    observed
        .map(|&c| c as f64 / n)
        .map(|share| -share * share.ln())
        .sum()
}

/// The distinct rows of a table on the given keys.
fn distinct_rows(
    table: &KeyTable,
    keys: &[usize],
    monitor: &Monitor,
) -> Result<(KeyTable, Groups)> {
    let columns = keys.iter().map(|&v| table.columns()[v].clone()).collect();
    let chosen = KeyTable::new(columns)?;
    let groups = chosen.group(monitor)?;
    Ok((chosen.select(groups.first_rows())?, groups))
}

/// Rows in lexicographic order of the columns.
pub(crate) fn sorted_rows(columns: &[&Column], monitor: &Monitor) -> Result<Vec<u32>> {
    monitor.check()?;
    let n = columns.first().map_or(0, |c| c.len());
    // As many leading columns as 64 bits hold decide most comparisons.
    let mut packed: Vec<(u64, u32)> = (0..n as u32).map(|row| (0, row)).collect();
    let mut bits = 0;
    let mut rest = columns;
    while let [column, others @ ..] = rest {
        let width = 32 - column.n_values().leading_zeros();
        if bits + width > 64 {
            break;
        }
        bits += width;
        parallel::for_each(packed.chunks_mut(BLOCK), |chunk| {
            for (key, row) in chunk {
                // A shift by 64 would need a column of 2^64 values.
                *key = (*key << width) | u64::from(column.codes().get(*row as usize));
            }
        });
        rest = others;
    }
    monitor.check()?;
    packed.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| {
            let codes = |row: u32| rest.iter().map(move |c| c.codes().get(row as usize));
            codes(a.1).cmp(codes(b.1)).then(a.1.cmp(&b.1))
        })
    });
    Ok(packed.into_iter().map(|(_, row)| row).collect())
}

/// Per row, the observed keys as bits.
fn observed_keys(table: &KeyTable) -> Vec<u64> {
    let mut observed = vec![0u64; table.n_rows()];
    for (v, column) in table.columns().iter().enumerate() {
        for (row, bits) in observed.iter_mut().enumerate() {
            *bits |= u64::from(column.codes().get(row) != 0) << v;
        }
    }
    observed
}
