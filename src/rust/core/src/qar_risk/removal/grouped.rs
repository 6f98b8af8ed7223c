//! Rows by the key sets they are unique on, kept while rows are removed.

use hashbrown::HashTable;

use super::*;

/// Rows by pattern: their bits of U under a mask.
pub(super) struct Grouped {
    mask: Mask,
    pub(super) patterns: Patterns,
    /// Per pattern, the bits of a row that has it; how many rows do.
    bits: BitRows,
    n_rows: Vec<u32>,
    seen: HashTable<u32>,
}

impl Grouped {
    /// Groups the rows that are `alive`.
    pub(super) fn new(unique: &BitRows, mask: Mask, alive: &[bool]) -> Self {
        let patterns = Patterns::find(unique, &mask, Some(alive), alive.len());
        let mut n_rows = vec![0; patterns.first_rows.len()];
        for &pattern in patterns.of_row.iter().filter(|&&p| p != u32::MAX) {
            n_rows[pattern as usize] += 1;
        }
        let bits = unique.select(&patterns.first_rows);
        let mut seen = HashTable::with_capacity(n_rows.len());
        for pattern in 0..n_rows.len() {
            let hash = |&p: &u32| mask.hash(bits.row(p as usize));
            seen.insert_unique(hash(&(pattern as u32)), pattern as u32, hash);
        }
        Self {
            mask,
            patterns,
            bits,
            n_rows,
            seen,
        }
    }

    /// True if rows that differ in one of the bits of `words` have different patterns.
    pub(super) fn tells(&self, words: &[u64]) -> bool {
        self.mask.covers(words)
    }

    /// Takes a row out that is removed.
    pub(super) fn remove(&mut self, row: usize) {
        let Patterns { first_rows, of_row } = &mut self.patterns;
        let pattern = std::mem::replace(&mut of_row[row], u32::MAX);
        let n_rows = &mut self.n_rows[pattern as usize];
        let first = &mut first_rows[pattern as usize];
        *n_rows -= 1;
        if *n_rows == 0 {
            *first = u32::MAX;
        } else if *first as usize == row {
            let later = of_row[row..].iter().position(|&p| p == pattern);
            *first = later.map_or(u32::MAX, |after| (row + after) as u32);
        }
    }

    /// Puts a row whose bits have changed where it belongs.
    pub(super) fn update(&mut self, row: usize, bits: &[u64]) {
        let old = self.patterns.of_row[row] as usize;
        if self.mask.equal(bits, self.bits.row(old)) {
            return;
        }
        self.remove(row);
        let Self {
            mask,
            bits: known,
            seen,
            ..
        } = self;
        let next = self.n_rows.len() as u32;
        let found = seen.entry(
            mask.hash(bits),
            |&p| mask.equal(known.row(p as usize), bits),
            |&p| mask.hash(known.row(p as usize)),
        );
        let pattern = *found.or_insert(next).get();
        if pattern == next {
            known.push(bits);
            self.n_rows.push(0);
            self.patterns.first_rows.push(u32::MAX);
        }
        self.n_rows[pattern as usize] += 1;
        let first = &mut self.patterns.first_rows[pattern as usize];
        *first = (*first).min(row as u32);
        self.patterns.of_row[row] = pattern;
    }
}
