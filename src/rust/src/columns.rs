//! Columns of R to codes, and to what a fingerprint says of them.

use extendr_api::prelude::*;
use extendr_ffi::{R_NaString, DATAPTR_RO, SEXP, STRING_PTR_RO};
use sdcrisk_core::key_table::{
    encode_doubles, encode_integers, encode_levels, encode_texts, encode_wide_integers,
    hash_numbers, hash_of_rows, hash_texts, hash_words, mix_rows, text_ids, Coded, TextIds,
};
use sdcrisk_core::memory::{collected, filled, reserved};
use sdcrisk_core::{parallel, Monitor, Result};

use crate::convert::{doubles, list, Named, Run};
use crate::guard::bad_call;
use crate::r_api::{append_text, protected};

/// The memory of one R column, and how to read it.
pub enum Column<'a> {
    Levels(&'a [i32], Vec<bool>),
    Integers(&'a [i32]),
    Doubles(&'a [f64]),
    WideIntegers(&'a [i64]),
    Texts(&'a [usize]),
}

impl<'a> Column<'a> {
    /// Finds the memory of `values`, which R may have to produce first.
    pub fn new(values: &'a Robj, kind: &str, level_is_missing: &Robj) -> Result<Self> {
        let n = values.len();
        let expected = match kind {
            "text" => Rtype::Strings,
            "double" | "wide" => Rtype::Doubles,
            "logical" => Rtype::Logicals,
            _ => Rtype::Integers,
        };
        if values.rtype() != expected {
            return Err(bad_call("columns"));
        }
        // SAFETY (all below): the type was checked, R's vectors do not move,
        // and the caller keeps `values` alive for `'a`.
        let sexp = unsafe { values.get() };
        if kind == "text" {
            let pointer = memory_of(values, || unsafe { STRING_PTR_RO(sexp) })?;
            return Ok(Column::Texts(unsafe { slice(pointer.cast(), n) }));
        }
        let pointer = memory_of(values, || unsafe { DATAPTR_RO(sexp) })?;
        Ok(match kind {
            "levels" => {
                let missing = level_is_missing
                    .as_logical_slice()
                    .ok_or_else(|| bad_call("level_is_missing"))?;
                let missing = missing.iter().map(|l| l.is_true()).collect();
                Column::Levels(unsafe { slice(pointer.cast(), n) }, missing)
            }
            "integer" | "logical" => Column::Integers(unsafe { slice(pointer.cast(), n) }),
            "double" => Column::Doubles(unsafe { slice(pointer.cast(), n) }),
            "wide" => Column::WideIntegers(unsafe { slice(pointer.cast(), n) }),
            _ => return Err(bad_call("kinds")),
        })
    }
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Column::Levels(x, _) | Column::Integers(x) => x.len(),
            Column::Doubles(x) => x.len(),
            Column::WideIntegers(x) => x.len(),
            Column::Texts(x) => x.len(),
        }
    }

    /// A hash of the memory, of texts that of their addresses: it changes with any value.
    fn memory(&self) -> u64 {
        let of_integers = |x: &[i32]| hash_words(x.iter().map(|&x| u64::from(x as u32)));
        match self {
            Column::Levels(x, _) | Column::Integers(x) => of_integers(x),
            Column::Doubles(x) => hash_words(x.iter().map(|x| x.to_bits())),
            Column::WideIntegers(x) => hash_words(x.iter().map(|&x| x as u64)),
            Column::Texts(x) => hash_words(x.iter().map(|&x| x as u64)),
        }
    }

    /// The same, as a part of the hash of every row.
    fn mix_memory(&self, rows: &mut [u64]) {
        match self {
            Column::Levels(x, _) | Column::Integers(x) => {
                mix_rows(rows, x.iter().map(|&x| u64::from(x as u32)))
            }
            Column::Doubles(x) => mix_rows(rows, x.iter().map(|x| x.to_bits())),
            Column::WideIntegers(x) => mix_rows(rows, x.iter().map(|&x| x as u64)),
            Column::Texts(x) => mix_rows(rows, x.iter().map(|&x| x as u64)),
        }
    }

    /// Codes the column, text by address only.
    fn draft(&self, missing_text: usize, monitor: &Monitor) -> Result<Draft> {
        Ok(match self {
            Column::Levels(x, missing) => Draft::Done(encode_levels(x, missing)?),
            Column::Integers(x) => Draft::Done(encode_integers(x, monitor)?),
            Column::Doubles(x) => Draft::Done(encode_doubles(x, monitor)?),
            Column::WideIntegers(x) => Draft::Done(encode_wide_integers(x, monitor)?),
            Column::Texts(x) => Draft::Text(text_ids(x, missing_text, monitor)?),
        })
    }
}

/// Applies `find` to the memory of a vector: R may raise an error if it has to produce the values
/// first.
fn memory_of<T>(values: &Robj, find: impl FnOnce() -> T) -> Result<T> {
    if values.is_altrep() {
        protected(find)
    } else {
        Ok(find())
    }
}

/// A slice over R's memory; R's pointer to no elements need not be aligned.
///
/// # Safety
///
/// `pointer` points to `n` elements that outlive `'a`.
unsafe fn slice<'a, T>(pointer: *const T, n: usize) -> &'a [T] {
    if n == 0 {
        &[]
    } else {
        unsafe { std::slice::from_raw_parts(pointer, n) }
    }
}

/// A column on its way: text still needs a look at its characters.
enum Draft {
    Done(Coded),
    Text(TextIds),
}

/// The distinct texts of a column, one after the other.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// The texts at `addresses`, which are elements of a live vector of R.
    fn behind(addresses: &[usize]) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut ends = reserved(addresses.len())?;
        for &address in addresses {
            append_text(address as SEXP, &mut bytes)?;
            ends.push(bytes.len());
        }
        Ok(Self { bytes, ends })
    }

    fn slices(&self) -> Result<Vec<&[u8]>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(a, &b)| &self.bytes[a..b]);
        collected(texts, self.ends.len())
    }
}

/// Dense codes of every column.
pub fn code_columns(columns: &[Column], n_before: usize, run: &Run) -> Result<Vec<Coded>> {
    // SAFETY: a constant of R.
    let missing_text = unsafe { R_NaString } as usize;
    let cells = columns.iter().map(Column::len).sum();
    let drafts = run.brief(cells, |monitor| {
        monitor.set_total(columns.len() as u64);
        parallel::try_map(columns.iter().enumerate(), monitor, |(v, column)| {
            let draft = column.draft(missing_text, monitor);
            monitor.advance(1);
            draft.map_err(|error| error.at_column(n_before + v))
        })
    })?;
    let texts = drafts
        .iter()
        .map(|draft| match draft {
            Draft::Done(_) => Ok(Texts::default()),
            Draft::Text(ids) => Texts::behind(ids.addresses()),
        })
        .collect::<Result<Vec<Texts>>>()?;
    run.brief(cells, |monitor| {
        parallel::try_map(
            drafts.into_iter().zip(&texts),
            monitor,
            |(draft, texts)| match draft {
                Draft::Done(coded) => Ok(coded),
                Draft::Text(ids) => encode_texts(&ids, &texts.slices()?),
            },
        )
    })
}

/// Description of a column by R besides its values: their form in a fingerprint.
pub struct Look {
    /// Kind of values that can be equal to these.
    scale: String,
    /// The names of the levels, where values are levels.
    names: Vec<Vec<u8>>,
    /// True if the order of the levels says nothing.
    unordered: bool,
}

/// The value in a fingerprint, and the places of the codes among the values
/// where these do not follow the codes.
pub struct Mark {
    pub text: String,
    pub places: Option<Vec<u32>>,
}

impl Look {
    pub fn new(source: &Named) -> Result<Self> {
        let names = source.get("level_names")?;
        let names = match names.as_str_iter() {
            Some(names) => names.map(|name| name.as_bytes().to_vec()).collect(),
            None => Vec::new(),
        };
        Ok(Self {
            scale: source.text("scale")?,
            names,
            unordered: source.flag("unordered")?,
        })
    }

    /// The mark of a column with these values, of which `rows` are the first.
    pub fn mark(&self, column: &Column, rows: &[u32]) -> Result<Mark> {
        let rows = rows.iter().map(|&row| row as usize);
        let mut places = None;
        let hash = match column {
            Column::Levels(x, _) => {
                let name = |row: usize| {
                    let level = usize::try_from(x[row] - 1).ok();
                    let name = level.and_then(|level| self.names.get(level));
                    name.map(Vec::as_slice)
                        .ok_or_else(|| bad_call("level_names"))
                };
                let mut names = rows.map(name).collect::<Result<Vec<_>>>()?;
                if self.unordered {
                    let mut order: Vec<usize> = (0..names.len()).collect();
                    order.sort_by_key(|&code| names[code]);
                    places = places_of(&order);
                    names.sort_unstable();
                }
                hash_texts(names.into_iter())
            }
            Column::Integers(x) => numbers(rows.map(|row| f64::from(x[row]))),
            Column::Doubles(x) => numbers(rows.map(|row| x[row])),
            Column::WideIntegers(x) => {
                let half = |word: i32| match word {
                    i32::MIN => f64::NAN,
                    word => f64::from(word),
                };
                numbers(rows.flat_map(|row| [half(x[row] as i32), half((x[row] >> 32) as i32)]))
            }
            Column::Texts(x) => {
                let addresses: Vec<usize> = rows.map(|row| x[row]).collect();
                let texts = Texts::behind(&addresses)?;
                hash_texts(texts.slices()?.into_iter())
            }
        };
        Ok(Mark {
            text: format!("{} {hash:016x}", self.scale),
            places,
        })
    }
}

fn numbers(values: impl Iterator<Item = f64>) -> u64 {
    hash_numbers(&values.collect::<Vec<f64>>())
}

/// The place, from 1, of every code in an order of codes; `None` where the
/// order is theirs.
fn places_of(order: &[usize]) -> Option<Vec<u32>> {
    if order.is_sorted() {
        return None;
    }
    let mut places = vec![0; order.len()];
    for (place, &code) in order.iter().enumerate() {
        places[code] = place as u32 + 1;
    }
    Some(places)
}

/// The hash of the memory of every vector, by which a change in place is seen.
pub fn hash_memory(vectors: &Robj) -> Result<Vec<String>> {
    list(vectors, "vectors")?
        .values()
        .map(|values| Ok(as_digits(plain_column(&values)?.memory())))
        .collect()
}

/// The hash of the rows of vectors, whatever their order.
pub fn hash_rows(vectors: &Robj) -> Result<String> {
    let vectors = list(vectors, "vectors")?;
    let n = vectors.values().next().map_or(0, |values| values.len());
    let mut rows = filled(0, n)?;
    for values in vectors.values() {
        plain_column(&values)?.mix_memory(&mut rows);
    }
    Ok(as_digits(hash_of_rows(&rows)))
}

fn plain_column(values: &Robj) -> Result<Column<'_>> {
    let kind = match values.rtype() {
        Rtype::Strings => "text",
        Rtype::Doubles => "double",
        Rtype::Logicals => "logical",
        Rtype::Integers => "integer",
        _ => return Err(bad_call("vectors")),
    };
    Column::new(values, kind, &r!(NULL))
}

fn as_digits(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The hash of every vector of numbers or of texts, as sixteen hexadecimal
/// digits.
pub fn hash_vectors(vectors: &Robj) -> Result<Vec<String>> {
    list(vectors, "vectors")?
        .values()
        .map(|values| {
            let hash = if values.rtype() == Rtype::Strings {
                let texts = values.as_str_iter().ok_or_else(|| bad_call("vectors"))?;
                hash_texts(texts.map(str::as_bytes))
            } else {
                hash_numbers(doubles(&values, "vectors")?)
            };
            Ok(as_digits(hash))
        })
        .collect()
}
