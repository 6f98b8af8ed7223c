//! Mixing of 64-bit words, for hash tables, partitions and fingerprints.
//!
//! None of these numbers is a secret, and none has to withstand an adversary: a
//! multiplication by an odd constant and a shift are enough, and cost a
//! nanosecond. [`chained`] is part of the fingerprint that results store, so that
//! it must give the same numbers for ever.

/// The golden ratio's fraction in 64 bits, made odd (Knuth, volume 3, 6.4).
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// The second multiplier of [`spread`] (Steele, Lea and Flood 2014).
const SECOND: u64 = 0xBF58_476D_1CE4_E5B9;

/// `key` mixed upwards: the high bits of the product hold all of the key. Folding
/// lets the key's own high bits take part.
#[inline]
pub(crate) fn mixed_up(key: u64) -> u64 {
    (key ^ (key >> 32)).wrapping_mul(GOLDEN)
}

/// `key` mixed in both directions: every bit depends on every bit.
#[inline]
pub(crate) fn spread(key: u64) -> u64 {
    let once = mixed_up(key);
    let twice = (once ^ (once >> 29)).wrapping_mul(SECOND);
    twice ^ (twice >> 32)
}

/// One more word of a row in a running hash, to be folded once at the end.
#[inline]
pub(crate) fn rolled(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(26) ^ word).wrapping_mul(GOLDEN)
}

/// One more word in a fingerprint.
#[inline]
pub(crate) fn chained(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(GOLDEN)
        .rotate_left(29)
        .wrapping_add(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_fingerprints_keep_their_numbers() {
        assert_eq!(chained(GOLDEN, 1), 0x29DF_BBB4_8821_966E);
        assert_eq!(
            [2, 3, 5].into_iter().fold(GOLDEN, chained),
            0xF457_12A7_4DE9_1815
        );
    }

    #[test]
    fn near_keys_lie_far_apart() {
        // Half of all bits change with any one bit of the key, within ten of 64.
        for bit in 0..64 {
            let changed: u32 = (0..256u64)
                .map(|key| (spread(key) ^ spread(key ^ (1 << bit))).count_ones())
                .sum();
            assert!(changed.abs_diff(256 * 32) < 256 * 10, "{bit} {changed}");
        }
    }
}
