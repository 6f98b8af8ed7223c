//! Numbers of differences of the rows of a tile, in bit planes.

/// Words of 64 rows in a tile.
pub(super) const WORDS: usize = 8;
pub(super) const ROWS: usize = WORDS * 64;
/// One bit per row of a tile.
pub(super) type Lane = [u64; WORDS];
/// Numbers of differences of the rows of a tile, lowest bit first.
pub(super) type Planes<const P: usize> = [Lane; P];
pub(super) fn set(lane: &mut Lane, row: usize) {
    lane[row / 64] |= 1 << (row % 64);
}

/// Adds one to the rows that `bits` marks.
pub(super) fn add_bit<const P: usize>(planes: &mut Planes<P>, bits: &Lane) {
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
pub(super) fn add<const P: usize>(a: &Planes<P>, b: &Planes<P>) -> Planes<P> {
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
pub(super) fn smallest<const P: usize>(planes: &Planes<P>, among: &Lane) -> u8 {
    lowest(planes, *among).0
}

/// The smallest number among some rows, and the rows that have it.
pub(super) fn lowest<const P: usize>(planes: &Planes<P>, mut among: Lane) -> (u8, Lane) {
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

/// True if any of the rows of `among` has a number of at most `most`.
#[inline(always)]
pub(super) fn any_at_most<const P: usize>(
    a: &Planes<P>,
    b: &Planes<P>,
    among: &Lane,
    most: u8,
) -> bool {
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
