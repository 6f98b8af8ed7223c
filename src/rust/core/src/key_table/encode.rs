//! From values to dense codes in value order.
//!
//! Each function returns the column and, per value, the row where it first
//! occurs, so that the caller finds the value itself by indexing.
//!
//! Cost: one or two passes over the column where values are few or lie in a
//! narrow range, else one hash look-up per row.

use hashbrown::HashMap;

use super::column::{with_codes, Codes, Column};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, map_room, push, reserved};
use crate::parallel::{Monitor, ROWS_PER_CHECK};

const NOT_SEEN: u32 = u32::MAX;
/// R's missing integer.
const NA_INTEGER: i32 = i32::MIN;
/// bit64's missing integer.
const NA_WIDE: i64 = i64::MIN;

/// A coded column and the row of first occurrence of each of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Coded {
    /// The codes.
    pub column: Column,
    /// Entry `k - 1` is the first row with code `k`.
    pub first_rows: Vec<u32>,
}

/// Codes a factor: level numbers `1..=n_levels`, missing as R codes it.
/// `level_is_missing[l - 1]` marks a level that stands for missing.
pub fn encode_levels(levels: &[i32], level_is_missing: &[bool]) -> Result<Coded> {
    let n_levels = level_is_missing.len();
    if levels
        .iter()
        .any(|&l| l != NA_INTEGER && (l < 1 || l as usize > n_levels))
    {
        return Err(Error::bad_column(
            "The codes of a factor must be numbers of its levels.",
        ));
    }
    // Without a branch, which random missing values would make costly.
    let slot = |l: i32| l as usize * usize::from(l != NA_INTEGER);
    encode_slots(levels, n_levels, slot, |slot| {
        slot == 0 || level_is_missing[slot - 1]
    })
}

/// Codes integers in numeric order.
pub fn encode_integers(values: &[i32], monitor: &Monitor) -> Result<Coded> {
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    for &v in values {
        // A missing value is the smallest integer: keep it out of the range.
        low = low.min(if v == NA_INTEGER { i32::MAX } else { v });
        high = high.max(v);
    }
    if high == NA_INTEGER {
        return all_missing(values.len());
    }
    let range = (i64::from(high) - i64::from(low) + 1) as usize;
    if range <= narrow_range(values.len()) {
        let slot =
            |v: i32| (i64::from(v) - i64::from(low) + 1) as usize * usize::from(v != NA_INTEGER);
        return encode_slots(values, range, slot, |slot| slot == 0);
    }
    let bits = |&v: &i32| (v != NA_INTEGER).then_some(u64::from(v as u32));
    encode_by_hash(values, bits, monitor)?.in_order(|bits| bits as u32 as i32)
}

/// Codes 64-bit integers in numeric order.
pub fn encode_wide_integers(values: &[i64], monitor: &Monitor) -> Result<Coded> {
    let bits = |&v: &i64| (v != NA_WIDE).then_some(v as u64);
    encode_by_hash(values, bits, monitor)?.in_order(|bits| bits as i64)
}

/// Codes doubles in numeric order. NaN of any kind is missing, -0 is 0 and
/// the infinities are values.
pub fn encode_doubles(values: &[f64], monitor: &Monitor) -> Result<Coded> {
    if let Some((low, range)) = whole_number_range(values) {
        let slot = |v: f64| {
            if v.is_nan() {
                0
            } else {
                (v - low) as usize + 1
            }
        };
        return encode_slots(values, range, slot, |slot| slot == 0);
    }
    let bits = |&v: &f64| (!v.is_nan()).then(|| (v + 0.0).to_bits());
    encode_by_hash(values, bits, monitor)?.in_order(|bits| {
        // Orders doubles as integers: flip all bits of negatives, else the sign.
        let flip = ((bits as i64 >> 63) as u64) | (1 << 63);
        bits ^ flip
    })
}

/// Smallest value and size of the range, when all values are whole numbers
/// in a narrow range, as codes stored as doubles are.
fn whole_number_range(values: &[f64]) -> Option<(f64, usize)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for block in values.chunks(4096) {
        let mut whole = true;
        for &v in block {
            low = low.min(v);
            high = high.max(v);
            // Truncation through i32 is exact for the range that can qualify.
            whole &= v.is_nan() | ((f64::from(v as i32) - v).abs() <= 0.0);
        }
        if !whole {
            return None;
        }
    }
    let range = high - low + 1.0;
    (range >= 1.0 && range <= narrow_range(values.len()) as f64).then_some((low, range as usize))
}

/// A table over the whole range pays while it is not much longer than the
/// column.
fn narrow_range(n: usize) -> usize {
    n.clamp(1 << 12, 1 << 24)
}

fn all_missing(n: usize) -> Result<Coded> {
    Ok(Coded {
        column: Column::from_parts(Codes::U8(filled(0, n)?), 0, n),
        first_rows: Vec::new(),
    })
}

/// Codes values that a cheap function sends to slots `0..=n_slots`, the slots
/// being in value order.
fn encode_slots<T: Copy>(
    values: &[T],
    n_slots: usize,
    slot: impl Fn(T) -> usize,
    is_missing: impl Fn(usize) -> bool,
) -> Result<Coded> {
    let mut first = filled(NOT_SEEN, n_slots + 1)?;
    for (row, &v) in (0u32..).zip(values) {
        let place = &mut first[slot(v)];
        if *place == NOT_SEEN {
            *place = row;
        }
    }
    let mut code_of = filled(0u32, n_slots + 1)?;
    let mut first_rows = Vec::new();
    for (s, &row) in first.iter().enumerate() {
        if row != NOT_SEEN && !is_missing(s) {
            push(&mut first_rows, row)?;
            code_of[s] = first_rows.len() as u32;
        }
    }
    coded(
        values.iter().map(|&v| code_of[slot(v)]),
        first_rows,
        values.len(),
    )
}

/// Packs codes and counts the missing ones.
fn coded(codes: impl Iterator<Item = u32>, first_rows: Vec<u32>, n: usize) -> Result<Coded> {
    let n_values = first_rows.len() as u32;
    let codes = Codes::try_pack(n_values, codes, n)?;
    debug_assert_eq!(codes.len(), n);
    let n_missing = with_codes!(&codes, |c| c.iter().filter(|&&code| code == 0).count());
    Ok(Coded {
        column: Column::from_parts(codes, n_values, n_missing),
        first_rows,
    })
}

/// Values numbered in order of appearance.
struct Appearance {
    /// Per row: 0 for missing, else 1 + the number of the value.
    ids: Vec<u32>,
    /// Per value: its 64 bits and the row where it first occurs.
    values: Vec<(u64, u32)>,
}

fn encode_by_hash<T>(
    values: &[T],
    bits: impl Fn(&T) -> Option<u64>,
    monitor: &Monitor,
) -> Result<Appearance> {
    let mut ids = reserved(values.len())?;
    let mut seen: HashMap<u64, u32> = HashMap::default();
    let mut distinct = Vec::new();
    let mut row = 0u32;
    for block in values.chunks(ROWS_PER_CHECK) {
        monitor.check()?;
        for value in block {
            let id = match bits(value) {
                None => 0,
                Some(key) => {
                    map_room(&mut seen)?;
                    let next = distinct.len() as u32 + 1;
                    let id = *seen.entry(key).or_insert(next);
                    if id == next {
                        push(&mut distinct, (key, row))?;
                    }
                    id
                }
            };
            ids.push(id);
            row += 1;
        }
    }
    Ok(Appearance {
        ids,
        values: distinct,
    })
}

impl Appearance {
    /// Codes in the order of `key`, equal keys being equal values.
    fn in_order<K: Ord + Copy>(self, key: impl Fn(u64) -> K) -> Result<Coded> {
        let n = self.values.len();
        let keys: Vec<K> = collected(self.values.iter().map(|&(bits, _)| key(bits)), n)?;
        let firsts: Vec<u32> = collected(self.values.iter().map(|&(_, row)| row), n)?;
        recode_in_order(&self.ids, &firsts, &keys)
    }
}

/// Turns numbers in order of appearance into codes in the order of `keys`;
/// values with equal keys become one.
fn recode_in_order<K: Ord>(ids: &[u32], firsts: &[u32], keys: &[K]) -> Result<Coded> {
    let mut order: Vec<u32> = collected(0..keys.len() as u32, keys.len())?;
    // Rows break ties, so that the first of equal values is the first row.
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        keys[a].cmp(&keys[b]).then(firsts[a].cmp(&firsts[b]))
    });
    let mut code_of = filled(0u32, keys.len() + 1)?;
    let mut first_rows: Vec<u32> = reserved(keys.len())?;
    let mut previous: Option<&K> = None;
    for id in order {
        let key = &keys[id as usize];
        if previous != Some(key) {
            first_rows.push(firsts[id as usize]);
            previous = Some(key);
        }
        code_of[id as usize + 1] = first_rows.len() as u32;
    }
    coded(
        ids.iter().map(|&id| code_of[id as usize]),
        first_rows,
        ids.len(),
    )
}

/// Texts told apart by address only: the first half of coding text, which
/// needs no look at the characters.
#[derive(Debug, Clone)]
pub struct TextIds {
    ids: Vec<u32>,
    first_rows: Vec<u32>,
    addresses: Vec<usize>,
}

impl TextIds {
    /// The distinct addresses, in order of appearance.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses
    }
}

/// Numbers texts by address; `missing` is the address of the missing text.
pub fn text_ids(addresses: &[usize], missing: usize, monitor: &Monitor) -> Result<TextIds> {
    let bits = |&a: &usize| (a != missing).then_some(a as u64);
    let seen = encode_by_hash(addresses, bits, monitor)?;
    let n = seen.values.len();
    Ok(TextIds {
        ids: seen.ids,
        first_rows: collected(seen.values.iter().map(|&(_, row)| row), n)?,
        addresses: collected(seen.values.iter().map(|&(bits, _)| bits as usize), n)?,
    })
}

/// Codes text in the order of its bytes (the C locale). `texts[i]` belongs to
/// address `i` of `ids`; the same bytes at two addresses are one value.
pub fn encode_texts<T: AsRef<[u8]>>(ids: &TextIds, texts: &[T]) -> Result<Coded> {
    if texts.len() != ids.addresses.len() {
        return Err(Error::BadArgument(
            "Every distinct address needs its text.".into(),
        ));
    }
    let keys: Vec<&[u8]> = collected(texts.iter().map(AsRef::as_ref), texts.len())?;
    recode_in_order(&ids.ids, &ids.first_rows, &keys)
}
