//! A few thousand records, small enough to stay in the fast caches while all
//! pairs of further columns are counted on them.

use super::layout::{Layout, GRANULE_BYTES};
use super::seen::{Granule, WORDS};

/// Records of a chunk. A power of two: an index is kept inside by its low
/// bits, which spares the check of bounds.
pub const ROWS: usize = 2048;
const INSIDE: usize = ROWS - 1;

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
    bits: Vec<[Granule; ROWS]>,
}

/// The records of a chunk in the order of class and one further column.
pub struct Sorted {
    /// Places in the chunk.
    pub order: Box<[u16; ROWS]>,
    /// Groups of two and more, or all when single records were asked for.
    pub groups: Vec<Group>,
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
            bits: vec![[[0; WORDS]; ROWS]; bytes.div_ceil(GRANULE_BYTES)],
        }
    }

    /// Bits of one granule of all records.
    pub fn granule(&self, g: usize) -> &[Granule; ROWS] {
        &self.bits[g]
    }

    /// Loads `rows`, whose classes end at `class_ends`: the codes of the
    /// first `n_codes` ranks and the bits of the first `n_bits` of them.
    pub fn load(
        &mut self,
        layout: &Layout,
        rows: &[u32],
        class_ends: &[u16],
        n_codes: usize,
        n_bits: usize,
    ) {
        self.n = rows.len();
        self.class_ends.clear();
        self.class_ends.extend_from_slice(class_ends);
        let mut start = 0;
        for (class, &end) in (0u16..).zip(class_ends) {
            self.class_of[start..usize::from(end)].fill(class);
            start = usize::from(end);
        }
        let n_bytes = layout.first_byte[n_bits];
        for granule in &mut self.bits[..n_bytes.div_ceil(GRANULE_BYTES)] {
            granule[..rows.len()].fill([0; WORDS]);
        }
        for (rank, codes) in self.codes[..n_codes].iter_mut().enumerate() {
            for (code, &row) in codes.iter_mut().zip(rows) {
                *code = layout.row(row)[rank];
            }
        }
        for rank in 0..n_bits {
            let first_bit = 8 * layout.first_byte[rank];
            set_bits(
                &mut self.bits,
                first_bit,
                layout.levels[rank],
                &self.codes[rank],
                rows.len(),
            );
        }
    }
}

/// Sets the bit of its code for every record, from `first_bit` on.
fn set_bits(
    bits: &mut [[Granule; ROWS]],
    first_bit: usize,
    levels: usize,
    codes: &[u8; ROWS],
    n: usize,
) {
    const BITS: usize = 8 * GRANULE_BYTES;
    let last = first_bit + levels - 1;
    if first_bit / BITS == last / BITS {
        // The usual case: one granule, whose bounds need no check.
        let shift = first_bit % BITS;
        for (record, &code) in bits[first_bit / BITS][..n].iter_mut().zip(codes) {
            let bit = shift + usize::from(code);
            record[bit / 64 % WORDS] |= 1 << (bit % 64);
        }
    } else {
        for (i, &code) in codes[..n].iter().enumerate() {
            let bit = first_bit + usize::from(code);
            bits[bit / BITS][i][bit / 64 % WORDS] |= 1 << (bit % 64);
        }
    }
}

impl Sorted {
    /// Room for the order of one chunk.
    pub fn new() -> Self {
        Self {
            order: Box::new([0; ROWS]),
            groups: Vec::with_capacity(ROWS),
            n_single: 0,
            by_code: Box::new([0; ROWS]),
        }
    }

    /// Groups the records by class alone.
    pub fn by_class(&mut self, chunk: &Chunk) {
        self.clear();
        for (place, i) in self.order[..chunk.n].iter_mut().zip(0u16..) {
            *place = i;
        }
        let mut start = 0;
        for &end in &chunk.class_ends {
            self.groups.push(Group {
                start,
                end,
                code: 0,
            });
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
        self.groups.clear();
        self.n_single = 0;
    }

    /// Counting sort of one class.
    fn sort_class(&mut self, codes: &[u8; ROWS], start: u16, end: u16, levels: usize, keep: bool) {
        let mut place = [0u16; 256];
        let (from, to) = (usize::from(start), usize::from(end));
        for &code in &codes[from..to] {
            place[usize::from(code)] += 1;
        }
        let least = if keep { 1 } else { 2 };
        let mut at = start;
        for (code, place) in (0u8..=255).zip(&mut place[..levels]) {
            let size = *place;
            *place = at;
            self.n_single += u32::from(size == 1 && !keep);
            if size >= least {
                self.groups.push(Group {
                    start: at,
                    end: at + size,
                    code,
                });
            }
            at += size;
        }
        for (i, &code) in (start..).zip(&codes[from..to]) {
            let place = &mut place[usize::from(code)];
            self.order[usize::from(*place) & INSIDE] = i;
            *place += 1;
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
            self.by_code[usize::from(*place) & INSIDE] = i;
            *place += 1;
        }
        let mut next = [0u16; ROWS];
        for (start, &end) in next[1..].iter_mut().zip(&chunk.class_ends) {
            *start = end;
        }
        for &i in &self.by_code[..n] {
            let class = usize::from(chunk.class_of[usize::from(i) & INSIDE]);
            let place = &mut next[class & INSIDE];
            self.order[usize::from(*place) & INSIDE] = i;
            *place += 1;
        }
        self.find_groups(chunk, codes, keep);
    }

    /// Finds the groups in the sorted order.
    fn find_groups(&mut self, chunk: &Chunk, codes: &[u8; ROWS], keep: bool) {
        let key = |i: u16| {
            let i = usize::from(i) & INSIDE;
            (chunk.class_of[i], codes[i])
        };
        let n = chunk.n as u16;
        let mut start = 0;
        while start < n {
            let first = key(self.order[usize::from(start)]);
            let mut end = start + 1;
            while end < n && key(self.order[usize::from(end)]) == first {
                end += 1;
            }
            if keep || end - start >= 2 {
                self.groups.push(Group {
                    start,
                    end,
                    code: first.1,
                });
            } else {
                self.n_single += 1;
            }
            start = end;
        }
    }
}
