//! Random numbers that do not depend on the number of threads.
//!
//! Work is cut into blocks of fixed size; block `b` draws from stream `b` of
//! one ChaCha8 generator. Which thread treats a block, and when, is then of no
//! consequence.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use rand::rngs::ChaCha8Rng;
use rand::SeedableRng;

/// 256 bits that start all streams of one computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from eight 32-bit draws of the caller's generator.
    pub fn from_draws(draws: [u32; 8]) -> Self {
        let mut bytes = [0; 32];
        for (place, draw) in bytes.chunks_exact_mut(4).zip(draws) {
            place.copy_from_slice(&draw.to_le_bytes());
        }
        Self(bytes)
    }
}

/// The independent streams of random numbers started by one seed.
#[derive(Debug, Clone, Copy)]
pub struct Streams(Seed);

impl Streams {
    /// The streams of `seed`.
    pub fn new(seed: Seed) -> Self {
        Self(seed)
    }

    /// The generator of block `block`, always at its beginning.
    pub fn block(&self, block: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.0 .0);
        rng.set_stream(block);
        rng
    }
}

/// Row numbers in an order that cannot be computed again; rows of one group stay together.
///
/// The key comes from the operating system and not from a [`Seed`]: the order of a release
/// would be undone by anyone who learns or guesses the seed of a script.
pub fn secret_order(groups: &[u32]) -> Vec<u32> {
    let key = RandomState::new();
    let mut rows: Vec<(u64, u32, u64, u32)> = (0u32..)
        .zip(groups)
        .map(|(row, &group)| (key.hash_one(group), group, key.hash_one((group, row)), row))
        .collect();
    rows.sort_unstable();
    rows.into_iter().map(|(.., row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn draws(threads: usize, seed: Seed) -> Vec<u64> {
        crate::parallel::with_threads(threads, || {
            let draws = crate::parallel::map(0..97u64, |block| {
                let mut rng = Streams::new(seed).block(block);
                [(); 13].map(|()| rng.next_u64())
            });
            Ok(draws.concat())
        })
        .unwrap_or_default()
    }

    #[test]
    fn streams_do_not_depend_on_threads_and_do_depend_on_the_seed() {
        let seed = Seed::from_draws([1, 2, 3, 4, 5, 6, 7, 8]);
        let one = draws(1, seed);
        assert_eq!(one.len(), 97 * 13);
        assert_eq!(one, draws(2, seed));
        assert_eq!(one, draws(7, seed));
        assert_ne!(one, draws(1, Seed::from_draws([1, 2, 3, 4, 5, 6, 7, 9])));
    }

    #[test]
    fn secret_orders_are_permutations_that_keep_groups_together_and_differ() {
        let groups: Vec<u32> = (0..1000).map(|row| row % 300).collect();
        let (one, other) = (secret_order(&groups), secret_order(&groups));
        assert_ne!(one, other);
        let mut rows = one.clone();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..1000));
        let mut met: Vec<u32> = one.iter().map(|&row| groups[row as usize]).collect();
        met.dedup();
        assert_eq!(met.len(), 300);
        // Neighbours in the file are not neighbours in the release.
        let kept = one.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert!(kept < 20);
    }
}
