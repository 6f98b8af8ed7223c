//! One coded column, stored in the narrowest width that holds its codes.

use crate::error::{Error, Result};
use crate::memory::collected;

/// Codes of one column: 0 is missing, `1..=n_values` the values in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// Up to 255 values.
    U8(Vec<u8>),
    /// Up to 65,535 values.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

/// A code of any width.
pub(crate) trait Code: Copy {
    /// The code as a number.
    fn value(self) -> u32;
    /// The code as an index.
    fn index(self) -> usize {
        self.value() as usize
    }
}

impl Code for u8 {
    fn value(self) -> u32 {
        u32::from(self)
    }
}

impl Code for u16 {
    fn value(self) -> u32 {
        u32::from(self)
    }
}

impl Code for u32 {
    fn value(self) -> u32 {
        self
    }
}

/// Evaluates an expression with the codes as a slice of their own width.
macro_rules! with_codes {
    ($codes:expr, |$slice:ident| $body:expr) => {
        match $codes {
            $crate::key_table::Codes::U8($slice) => $body,
            $crate::key_table::Codes::U16($slice) => $body,
            $crate::key_table::Codes::U32($slice) => $body,
        }
    };
}
pub(crate) use with_codes;

impl Codes {
    /// Packs codes `0..=n_values` into the narrowest width.
    pub fn pack(n_values: u32, codes: impl Iterator<Item = u32>) -> Self {
        // The casts lose nothing: every code is at most `n_values`.
        match n_values {
            0..=0xFF => Codes::U8(codes.map(|c| c as u8).collect()),
            0x100..=0xFFFF => Codes::U16(codes.map(|c| c as u16).collect()),
            _ => Codes::U32(codes.collect()),
        }
    }

    /// Packs `n` codes; fails if there is no memory for them.
    pub fn try_pack(n_values: u32, codes: impl Iterator<Item = u32>, n: usize) -> Result<Self> {
        Ok(match n_values {
            0..=0xFF => Codes::U8(collected(codes.map(|c| c as u8), n)?),
            0x100..=0xFFFF => Codes::U16(collected(codes.map(|c| c as u16), n)?),
            _ => Codes::U32(collected(codes, n)?),
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        with_codes!(self, |codes| codes.len())
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of one row.
    pub fn get(&self, row: usize) -> u32 {
        with_codes!(self, |codes| codes[row].value())
    }
}

/// A coded column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    codes: Codes,
    n_values: u32,
    n_missing: usize,
}

impl Column {
    /// Wraps codes after checking that none exceeds `n_values`.
    pub fn new(codes: Codes, n_values: u32) -> Result<Self> {
        let (largest, n_missing) = with_codes!(&codes, |slice| (
            slice.iter().map(|c| c.value()).max().unwrap_or(0),
            slice.iter().filter(|&&c| c == 0).count()
        ));
        if largest > n_values {
            return Err(Error::bad_column(
                "The codes of a column must be numbers of its values.",
            ));
        }
        Ok(Self {
            codes,
            n_values,
            n_missing,
        })
    }

    /// Wraps codes whose range and missing count the caller has established.
    pub(super) fn from_parts(codes: Codes, n_values: u32, n_missing: usize) -> Self {
        Self {
            codes,
            n_values,
            n_missing,
        }
    }

    /// The codes.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// Number of values; missing is not one.
    pub fn n_values(&self) -> u32 {
        self.n_values
    }

    /// Number of missing rows.
    pub fn n_missing(&self) -> usize {
        self.n_missing
    }

    /// Number of codes that occur, the one for missing included.
    pub fn n_distinct(&self) -> u32 {
        let mut seen = vec![false; self.n_values as usize + 1];
        with_codes!(&self.codes, |codes| codes
            .iter()
            .for_each(|c| seen[c.index()] = true));
        seen.into_iter().map(u32::from).sum()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The codes of the given rows, in the given order.
    pub fn select(&self, rows: &[u32]) -> Self {
        let codes = match &self.codes {
            Codes::U8(c) => Codes::U8(rows.iter().map(|&r| c[r as usize]).collect()),
            Codes::U16(c) => Codes::U16(rows.iter().map(|&r| c[r as usize]).collect()),
            Codes::U32(c) => Codes::U32(rows.iter().map(|&r| c[r as usize]).collect()),
        };
        let n_missing = with_codes!(&codes, |c| c.iter().filter(|&&code| code == 0).count());
        Self::from_parts(codes, self.n_values, n_missing)
    }

    pub(super) fn missing_as_value(self) -> Self {
        let n_values = self.n_values + 1;
        let codes = with_codes!(&self.codes, |codes| Codes::pack(
            n_values,
            codes.iter().map(|c| match c.value() {
                0 => n_values,
                code => code,
            })
        ));
        Self::from_parts(codes, n_values, 0)
    }

    /// Numbers anew the values that are `kept`, which are all that occur.
    pub(super) fn keep_values(&mut self, kept: &[bool]) {
        let mut n_values = 0;
        let map: Vec<u32> = (kept.iter())
            .map(|&kept| {
                n_values += u32::from(kept);
                n_values
            })
            .collect();
        self.renumber(&map, n_values);
    }

    pub(super) fn recode(&mut self, map: &[u32], n_values: u32) -> Result<()> {
        if map.len() != self.n_values as usize || map.iter().any(|&c| c == 0 || c > n_values) {
            return Err(Error::BadArgument(
                "A shared dictionary must give every value a place.".into(),
            ));
        }
        self.renumber(map, n_values);
        Ok(())
    }

    /// Gives every value the number that `map` has for it.
    fn renumber(&mut self, map: &[u32], n_values: u32) {
        self.codes = with_codes!(&self.codes, |codes| Codes::pack(
            n_values,
            codes.iter().map(|c| match c.index() {
                0 => 0,
                code => map[code - 1],
            })
        ));
        self.n_values = n_values;
    }
}
