//! A 64-bit hash of a key table, stable across versions and platforms.

use super::{Codes, Column, KeyTable};
use crate::hash::{chained, spread, GOLDEN};
use crate::parallel;

/// Hashes words in four lanes, so that a word need not wait for the one
/// before it.
pub fn hash_words(mut words: impl Iterator<Item = u64>) -> u64 {
    let mut lanes = [1u64, 2, 3, 4];
    'words: loop {
        for lane in &mut lanes {
            let Some(word) = words.next() else {
                break 'words;
            };
            *lane = chained(*lane, word);
        }
    }
    lanes.into_iter().fold(GOLDEN, chained)
}

/// Takes a word of every row into the hash of the row.
pub fn mix_rows(rows: &mut [u64], words: impl Iterator<Item = u64>) {
    for (row, word) in rows.iter_mut().zip(words) {
        *row = chained(*row, word);
    }
}

/// The hash of rows in any order, each with its own hash.
pub fn hash_of_rows(rows: &[u64]) -> u64 {
    rows.iter()
        .fold(0, |sum, &row| sum.wrapping_add(spread(row)))
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let whole = bytes.chunks_exact(8);
    let mut rest = [0u8; 8];
    rest[..whole.remainder().len()].copy_from_slice(whole.remainder());
    let word = |chunk: &[u8]| {
        let mut eight = [0u8; 8];
        eight.copy_from_slice(chunk);
        u64::from_le_bytes(eight)
    };
    hash_words(whole.map(word).chain([word(&rest), bytes.len() as u64]))
}

/// Hashes numbers as values: -0 is 0, and NaN of any kind is one value.
pub fn hash_numbers(values: &[f64]) -> u64 {
    hash_words(values.iter().map(|&v| match v.is_nan() {
        true => f64::NAN.to_bits(),
        false => (v + 0.0).to_bits(),
    }))
}

/// Hashes texts, each closed by its length.
pub fn hash_texts<'a>(values: impl Iterator<Item = &'a [u8]>) -> u64 {
    hash_words(values.map(hash_bytes))
}

fn hash_codes(codes: &Codes) -> u64 {
    match codes {
        Codes::U8(c) => hash_bytes(c),
        Codes::U16(c) => hash_words(c.iter().map(|&x| u64::from(x))),
        Codes::U32(c) => hash_words(c.iter().map(|&x| u64::from(x))),
    }
}

/// The hash that `column` would have, were `places[code - 1]` its codes.
fn hash_placed(column: &Column, places: &[u32]) -> u64 {
    let place = |code: u32| match code {
        0 => 0,
        code => places.get(code as usize - 1).copied().unwrap_or(0),
    };
    match column.codes() {
        Codes::U8(c) => {
            let of: [u8; 256] = std::array::from_fn(|code| place(code as u32) as u8);
            let placed: Vec<u8> = c.iter().map(|&x| of[usize::from(x)]).collect();
            hash_bytes(&placed)
        }
        Codes::U16(c) => hash_words(c.iter().map(|&x| u64::from(place(u32::from(x))))),
        Codes::U32(c) => hash_words(c.iter().map(|&x| u64::from(place(x)))),
    }
}

pub(super) fn fingerprint(table: &KeyTable, places: &[Option<&[u32]>], names: &[&[u8]]) -> u64 {
    let columns = parallel::map(table.columns.iter().enumerate(), |(v, c)| {
        match places.get(v).copied().flatten() {
            Some(places) => hash_placed(c, places),
            None => hash_codes(c.codes()),
        }
    });
    let names = names.iter().map(|n| hash_bytes(n));
    let rows = table.multiplicity().map(|m| hash_words(m.iter().copied()));
    // The last steps spread the low bits over the whole word.
    let hash = [table.n_rows as u64]
        .into_iter()
        .chain(columns)
        .chain(names)
        .chain(rows)
        .fold(GOLDEN, chained);
    chained(hash ^ (hash >> 32), hash >> 17)
}
