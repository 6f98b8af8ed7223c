//! A few thousand records, small enough to stay in the fast caches while all
//! pairs of further columns are counted on them.

use std::ops::Range;

use super::layout::{Layout, RowCodes, GRANULE_BYTES};
use super::seen::Record;

/// Records of a chunk. A power of two: `% ROWS` costs next to nothing and
/// spares the check of bounds.
pub const ROWS: usize = 2048;

/// Records that are turned from rows of codes into columns and bits at once.
const ROWS_AT_ONCE: usize = 128;

/// Two or more records of one class that agree on a further column, as a
/// range of [`Sorted::order`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Group {
    /// First place.
    pub start: u16,
    /// One past the last place.
    pub end: u16,
    /// The code they agree on.
    pub code: u8,
}

/// Records in chunk order, with the classes they belong to.
pub struct Chunk {
    n: usize,
    /// One past the last record of every class.
    class_ends: Vec<u16>,
    class_of: Box<[u16; ROWS]>,
    /// Codes, column by column.
    codes: Vec<[u8; ROWS]>,
    /// Bits, granule by granule.
    bits: Vec<[Record; ROWS]>,
    /// Rows of codes that did not lie together.
    gathered: Vec<u8>,
}

/// The records of a chunk in the order of class and one further column.
pub struct Sorted {
    /// Places in the chunk.
    pub order: Box<[u16; ROWS]>,
    groups: Box<[Group; ROWS]>,
    n_groups: usize,
    /// Groups of one that were left out.
    pub n_single: u32,
    by_code: Box<[u16; ROWS]>,
}

impl Chunk {
    /// An empty chunk for the columns of `layout`.
    pub fn new(layout: &Layout) -> Self {
        let bytes = layout.first_byte[layout.n_narrow()];
        Self {
            n: 0,
            class_ends: Vec::new(),
            class_of: Box::new([0; ROWS]),
            codes: vec![[0; ROWS]; layout.n_narrow()],
            bits: vec![[[0; GRANULE_BYTES]; ROWS]; bytes.div_ceil(GRANULE_BYTES)],
            gathered: Vec::new(),
        }
    }

    /// Bits of one granule of all records.
    pub fn granule(&self, g: usize) -> &[Record; ROWS] {
        &self.bits[g]
    }

    /// Loads `rows`, whose classes end at `class_ends`: the bits of
    /// `ranks`, and the codes from their first rank to `n_codes`.
    pub fn load(
        &mut self,
        layout: &Layout,
        source: &RowCodes,
        rows: &[u32],
        class_ends: &[u16],
        n_codes: usize,
        ranks: Range<usize>,
    ) {
        self.n = rows.len();
        self.class_ends.clear();
        self.class_ends.extend_from_slice(class_ends);
        let mut start = 0;
        for (class, &end) in (0u16..).zip(class_ends) {
            self.class_of[start..usize::from(end)].fill(class);
            start = usize::from(end);
        }
        let granules = layout.first_byte[ranks.start] / GRANULE_BYTES
            ..layout.first_byte[ranks.end].div_ceil(GRANULE_BYTES);
        // A few rows at a time: what one column leaves in the fastest cache,
        // the next one finds there.
        let mut at = 0;
        for some in rows.chunks(ROWS_AT_ONCE) {
            let now = at..at + some.len();
            let block = source.block(some, &mut self.gathered);
            for granule in &mut self.bits[granules.clone()] {
                granule[now.clone()].fill([0; GRANULE_BYTES]);
            }
            for rank in ranks.start..n_codes {
                let codes = &mut self.codes[rank][now.clone()];
                for (code, row) in codes.iter_mut().zip(block.chunks_exact(source.width())) {
                    *code = row[rank];
                }
                if ranks.contains(&rank) {
                    let bytes = layout.first_byte[rank]..layout.first_byte[rank + 1];
                    set_bits(&mut self.bits, at, bytes, codes);
                }
            }
            at = now.end;
        }
    }
}

/// Sets the bit of its code for every record from `at` on, in the given bytes.
/// A column has its bytes for itself, so that they need not be read.
fn set_bits(bits: &mut [[Record; ROWS]], at: usize, bytes: Range<usize>, codes: &[u8]) {
    let (first, last) = (bytes.start, bytes.end - 1);
    let granule = first / GRANULE_BYTES;
    let shift = first % GRANULE_BYTES;
    if first == last {
        for (record, &code) in bits[granule][at..].iter_mut().zip(codes) {
            record[shift] = 1 << (code % 8);
        }
    } else if granule == last / GRANULE_BYTES {
        for (record, &code) in bits[granule][at..].iter_mut().zip(codes) {
            let byte = shift + usize::from(code / 8);
            record[byte % GRANULE_BYTES] = 1 << (code % 8);
        }
    } else {
        for (i, &code) in (at..).zip(codes) {
            let byte = first + usize::from(code / 8);
            bits[byte / GRANULE_BYTES][i][byte % GRANULE_BYTES] = 1 << (code % 8);
        }
    }
}

impl Sorted {
    /// Room for the order of one chunk.
    pub fn new() -> Self {
        Self {
            order: Box::new([0; ROWS]),
            groups: Box::new([Group::default(); ROWS]),
            n_groups: 0,
            n_single: 0,
            by_code: Box::new([0; ROWS]),
        }
    }

    /// Groups of two and more, or all when single records were asked for.
    pub fn groups(&self) -> &[Group] {
        &self.groups[..self.n_groups]
    }

    /// Groups the records by class alone.
    pub fn by_class(&mut self, chunk: &Chunk) {
        self.clear();
        for (place, i) in self.order[..chunk.n].iter_mut().zip(0u16..) {
            *place = i;
        }
        let mut start = 0;
        for &end in &chunk.class_ends {
            self.groups[self.n_groups] = Group {
                start,
                end,
                code: 0,
            };
            self.n_groups += 1;
            start = end;
        }
    }

    /// Groups the records by class and the column of `rank`, which has
    /// `levels` codes. Single records are left out, or kept as groups.
    pub fn by_rank(&mut self, chunk: &Chunk, rank: usize, levels: usize, keep_single: bool) {
        self.clear();
        let codes = &chunk.codes[rank];
        // A class costs a look at every code, or two more passes its records.
        if chunk.class_ends.len() * levels <= 2 * chunk.n {
            let mut start = 0;
            for &end in &chunk.class_ends {
                self.sort_class(codes, start, end, levels, keep_single);
                start = end;
            }
        } else {
            self.sort_all(chunk, codes, levels, keep_single);
        }
    }

    fn clear(&mut self) {
        self.n_groups = 0;
        self.n_single = 0;
    }

    /// Counting sort of one class, in two halves at the same time: a frequent
    /// code would otherwise wait for its own counter.
    fn sort_class(&mut self, codes: &[u8; ROWS], start: u16, end: u16, levels: usize, keep: bool) {
        let half = (end - start) / 2;
        let (low, rest) = codes[usize::from(start)..usize::from(end)].split_at(usize::from(half));
        let (high, odd) = rest.split_at(usize::from(half));
        let (mut low_place, mut high_place) = ([0u16; 256], [0u16; 256]);
        for (&a, &b) in low.iter().zip(high) {
            low_place[usize::from(a)] += 1;
            high_place[usize::from(b)] += 1;
        }
        for &code in odd {
            high_place[usize::from(code)] += 1;
        }
        let least = if keep { 1 } else { 2 };
        let mut at = start;
        let places = low_place[..levels].iter_mut().zip(&mut high_place);
        for (code, (low, high)) in (0u8..=255).zip(places) {
            let group = Group {
                start: at,
                end: at + *low + *high,
                code,
            };
            (*low, *high) = (at, at + *low);
            at = group.end;
            let size = group.end - group.start;
            self.groups[self.n_groups % ROWS] = group;
            self.n_groups += usize::from(size >= least);
            self.n_single += u32::from(size == 1 && !keep);
        }
        let order = &mut self.order;
        let mut put = |place: &mut u16, i: u16| {
            order[usize::from(*place) % ROWS] = i;
            *place += 1;
        };
        for ((i, &a), &b) in (start..).zip(low).zip(high) {
            put(&mut low_place[usize::from(a)], i);
            put(&mut high_place[usize::from(b)], i + half);
        }
        for &code in odd {
            put(&mut high_place[usize::from(code)], end - 1);
        }
    }

    /// Sorts all classes at once: by code, then back into the classes.
    fn sort_all(&mut self, chunk: &Chunk, codes: &[u8; ROWS], levels: usize, keep: bool) {
        let n = chunk.n;
        let mut place = [0u16; 256];
        for &code in &codes[..n] {
            place[usize::from(code)] += 1;
        }
        let mut at = 0;
        for place in &mut place[..levels] {
            at += std::mem::replace(place, at);
        }
        for (i, &code) in (0u16..).zip(&codes[..n]) {
            let place = &mut place[usize::from(code)];
            self.by_code[usize::from(*place) % ROWS] = i;
            *place += 1;
        }
        let mut next = [0u16; ROWS];
        for (start, &end) in next[1..].iter_mut().zip(&chunk.class_ends) {
            *start = end;
        }
        for &i in &self.by_code[..n] {
            let class = usize::from(chunk.class_of[usize::from(i) % ROWS]);
            let place = &mut next[class % ROWS];
            self.order[usize::from(*place) % ROWS] = i;
            *place += 1;
        }
        self.find_groups(chunk, codes, keep);
    }

    /// Finds the groups in the sorted order. Groups are short here: no branch
    /// that depends on where they end could be foreseen.
    fn find_groups(&mut self, chunk: &Chunk, codes: &[u8; ROWS], keep: bool) {
        let least = if keep { 1 } else { 2 };
        let key = |i: u16| {
            let i = usize::from(i) % ROWS;
            u32::from(chunk.class_of[i]) << 8 | u32::from(codes[i])
        };
        let mut start = 0;
        let mut last = key(self.order[0]);
        let order = &self.order[1..chunk.n];
        // One more key, equal to none, closes the last group.
        let keys = order.iter().map(|&i| key(i)).chain([u32::MAX]);
        for (end, next) in (1u16..).zip(keys) {
            self.groups[self.n_groups % ROWS] = Group {
                start,
                end,
                code: last as u8,
            };
            let ends = next != last;
            let keeps = end - start >= least;
            self.n_groups += usize::from(ends & keeps);
            self.n_single += u32::from(ends & !keeps);
            start = if ends { end } else { start };
            last = next;
        }
    }
}
