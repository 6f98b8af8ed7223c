//! The comparison of a block of queries with the rows of a tile.

use super::kept::{Kept, Rows};
use super::planes::{add, any_at_most, smallest, Planes, WORDS};
use super::queries::Queries;
use super::tile::Tile;

/// A block of queries before one tile.
pub(super) struct Block<'a, const P: usize> {
    tile: &'a Tile<P>,
    /// Per group, the combinations of the queries of the block.
    combinations: Vec<&'a [u32]>,
    run_end: &'a [u32],
    masks: &'a [u32],
    first: usize,
    rows: &'a Rows<'a>,
}

impl<'a, const P: usize> Block<'a, P> {
    pub fn new(
        tile: &'a Tile<P>,
        queries: &'a Queries,
        first: usize,
        len: usize,
        rows: &'a Rows<'a>,
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
            rows,
        }
    }

    /// Compares all queries of the block with all rows of the tile.
    pub fn scan<K: Kept>(&self, kept: &mut [K]) {
        let none = [[0; WORDS]; P];
        let mut start = 0;
        while start < kept.len() {
            let end = (self.run_end[start] as usize - self.first).min(kept.len());
            // The bound of a run only falls while it is searched.
            let bound = kept[start..end].iter().map(Kept::bound).max().unwrap_or(0);
            self.scan_run(0, start, end, &none, 0, bound, kept);
            start = end;
        }
    }

    /// Compares the queries `start..end`, which agree in the first groups:
    /// `sum` are the differences there, at least `low`.
    #[allow(clippy::too_many_arguments)]
    fn scan_run<K: Kept>(
        &self,
        group: usize,
        start: usize,
        end: usize,
        sum: &Planes<P>,
        low: u8,
        bound: u8,
        kept: &mut [K],
    ) {
        let table = &self.tile.tables[group];
        let combinations = self.combinations[group];
        if group + 1 == self.combinations.len() {
            for q in start..end {
                let entry = table.entry(combinations[q]);
                if low + table.low[entry] <= kept[q].bound() {
                    self.compare(q, sum, &table.planes[entry], &mut kept[q]);
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
            // Least addition by the remaining groups.
            let rest = if alone { self.low_after(group, i) } else { 0 };
            let bound = if alone { kept[i].bound() } else { bound };
            if low + table.low[entry] + rest <= bound {
                let sum = add(sum, &table.planes[entry]);
                let low = smallest(&sum, &self.tile.anywhere);
                if low + rest <= bound {
                    self.scan_run(group + 1, i, stop, &sum, low, bound, kept);
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
    fn compare<K: Kept>(&self, query: usize, a: &Planes<P>, b: &Planes<P>, kept: &mut K) {
        let admissible = &self.tile.admissible[self.masks[query] as usize];
        if any_at_most(a, b, admissible, kept.bound()) {
            kept.take(&add(a, b), admissible, self.rows);
        }
    }
}
