//! Counting to three in bits.
//!
//! A record is a string of bits with one bit set per column, that of its
//! value. Of the records of a group, three such strings remember which values
//! were seen once or more, twice or more, three times or more: one step
//! counts a record for all columns at once.

use super::layout::GRANULE_BYTES;

/// 64-bit words of a granule.
pub const WORDS: usize = GRANULE_BYTES / 8;

/// The bits of one record in one granule.
pub type Record = [u8; GRANULE_BYTES];

// Loops over words have indices: without link-time optimisation the iterators of a pair of arrays
// can be calls, a record each.

/// A word of a record.
#[inline(always)]
fn word(record: &Record, w: usize) -> u64 {
    let b = &record[8 * w..8 * w + 8];
    u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])
}

/// Values seen at least once, twice and three times in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen<const W: usize> {
    once: [u64; W],
    twice: [u64; W],
    thrice: [u64; W],
}

impl<const W: usize> Seen<W> {
    /// Nothing seen.
    pub const NOTHING: Self = Self {
        once: [0; W],
        twice: [0; W],
        thrice: [0; W],
    };

    /// Adds a record by the first words of its granule; for `D`, distinct
    /// values only, it does not count further than one.
    #[inline(always)]
    pub fn add<const D: bool>(&mut self, record: &Record) {
        for w in 0..W {
            let bits = word(record, w);
            if !D {
                self.thrice[w] |= self.twice[w] & bits;
                self.twice[w] |= self.once[w] & bits;
            }
            self.once[w] |= bits;
        }
    }

    /// Adds other records of the same group, as far as their words go.
    #[inline(always)]
    pub fn merge<const V: usize>(&mut self, other: &Seen<V>) {
        for w in 0..W.min(V) {
            self.thrice[w] |=
                other.thrice[w] | (self.twice[w] & other.once[w]) | (self.once[w] & other.twice[w]);
            self.twice[w] |= other.twice[w] | (self.once[w] & other.once[w]);
            self.once[w] |= other.once[w];
        }
    }
}

/// Sums, over groups, of the values seen once, twice and three times or more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Values seen at all.
    pub once: u32,
    /// Values seen twice or more.
    pub twice: u32,
    /// Values seen three times or more.
    pub thrice: u32,
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.once += other.once;
        self.twice += other.twice;
        self.thrice += other.thrice;
    }
}

/// Sums byte by byte over groups, in bytes as long as these cannot overflow.
pub struct ByteSums<'a, const W: usize> {
    pending: Seen<W>,
    n_pending: u32,
    /// One entry a byte.
    totals: &'a mut [Sums],
}

impl<'a, const W: usize> ByteSums<'a, W> {
    /// Groups that a byte holds: each adds at most its eight bits.
    const ROOM: u32 = 255 / 8;

    /// Adds to `totals`, one entry a byte.
    pub fn new(totals: &'a mut [Sums]) -> Self {
        Self {
            pending: Seen::NOTHING,
            n_pending: 0,
            totals,
        }
    }

    /// Adds one group, whose values were counted to one for `D`.
    #[inline(always)]
    pub fn add<const D: bool>(&mut self, seen: &Seen<W>) {
        for w in 0..W {
            self.pending.once[w] += ones_per_byte(seen.once[w]);
            if !D {
                self.pending.twice[w] += ones_per_byte(seen.twice[w]);
                self.pending.thrice[w] += ones_per_byte(seen.thrice[w]);
            }
        }
        self.n_pending += 1;
        if self.n_pending == Self::ROOM {
            self.flush();
        }
    }

    /// Empties the bytes into the totals.
    pub fn flush(&mut self) {
        for (w, totals) in (0..W).zip(self.totals.chunks_mut(8)) {
            let once = self.pending.once[w].to_le_bytes();
            let twice = self.pending.twice[w].to_le_bytes();
            let thrice = self.pending.thrice[w].to_le_bytes();
            for (byte, total) in totals.iter_mut().enumerate() {
                *total += Sums {
                    once: u32::from(once[byte]),
                    twice: u32::from(twice[byte]),
                    thrice: u32::from(thrice[byte]),
                };
            }
        }
        self.pending = Seen::NOTHING;
        self.n_pending = 0;
    }
}

/// The number of ones in each byte, in that byte.
#[inline(always)]
fn ones_per_byte(word: u64) -> u64 {
    const ODD: u64 = 0x5555_5555_5555_5555;
    const PAIR: u64 = 0x3333_3333_3333_3333;
    const LOW: u64 = 0x0F0F_0F0F_0F0F_0F0F;
    let word = word - ((word >> 1) & ODD);
    let word = (word & PAIR) + ((word >> 2) & PAIR);
    (word + (word >> 4)) & LOW
}
