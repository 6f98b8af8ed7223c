//! Pairs of values that the release brings together for the first time.

use crate::error::Result;
use crate::key_table::{with_codes, Code, KeyTable};
use crate::parallel::{self, Monitor};

/// Cells that the table of two columns may have.
const MOST_CELLS: u64 = 100_000_000;

/// Records whose value of a key changed, and those of them whose new value
/// stands nowhere in the original beside their value of another column; `None`
/// where the table of both columns would be too large.
pub type NewPairs = Option<(u64, u64)>;

/// [`NewPairs`] of every key with every other column.
pub fn new_pairs(
    keys: &KeyTable,
    others: &KeyTable,
    donors: &[u32],
    monitor: &Monitor,
) -> Result<Vec<Vec<NewPairs>>> {
    let moved: Vec<(u32, u32)> = (0u32..)
        .zip(donors.iter().copied())
        .filter(|(row, donor)| row != donor)
        .collect();
    monitor.set_total((keys.columns().len() * others.columns().len()) as u64);
    let pairs = (keys.columns().iter())
        .flat_map(|key| others.columns().iter().map(move |other| (key, other)));
    let found = parallel::try_map(pairs, monitor, |(key, other)| {
        let width = u64::from(other.n_values()) + 1;
        let size = width * (u64::from(key.n_values()) + 1);
        if size > MOST_CELLS {
            return Ok(None);
        }
        let mut seen = vec![false; size as usize];
        let width = width as usize;
        with_codes!(key.codes(), |x| with_codes!(other.codes(), |y| {
            for (x, y) in x.iter().zip(y) {
                seen[x.index() * width + y.index()] = true;
            }
        }));
        let (mut changed, mut new) = (0, 0);
        for &(row, donor) in &moved {
            let (row, donor) = (row as usize, donor as usize);
            let value = key.codes().get(donor);
            if value != key.codes().get(row) {
                changed += 1;
                let pair = value as usize * width + other.codes().get(row) as usize;
                new += u64::from(!seen[pair]);
            }
        }
        monitor.advance(1);
        Ok(Some((changed, new)))
    })?;
    Ok(found
        .chunks(others.columns().len())
        .map(<[_]>::to_vec)
        .collect())
}
