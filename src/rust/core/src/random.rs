//! Random numbers that do not depend on the number of threads.
//!
//! Work is cut into blocks of fixed size; block `b` draws from stream `b` of
//! one ChaCha8 generator. Which thread treats a block, and when, is then of no
//! consequence.

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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rayon::prelude::*;

    fn draws(threads: usize, seed: Seed) -> Vec<u64> {
        crate::parallel::with_threads(threads, || {
            Ok((0..97u64)
                .into_par_iter()
                .flat_map_iter(|block| {
                    let mut rng = Streams::new(seed).block(block);
                    (0..13).map(move |_| rng.next_u64())
                })
                .collect())
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
}
