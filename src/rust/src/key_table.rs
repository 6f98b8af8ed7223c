//! Columns of R to a `KeyTable`, and what R asks of it.

use extendr_api::prelude::*;
use extendr_ffi::{R_NaString, DATAPTR_RO, SEXP, STRING_PTR_RO};
use rayon::prelude::*;
use sdcrisk_core::key_table::{
    encode_doubles, encode_integers, encode_levels, encode_texts, encode_wide_integers,
    hash_numbers, hash_texts, text_ids, Coded, TextIds,
};
use sdcrisk_core::memory::{collected, reserved};
use sdcrisk_core::{KeyTable, Monitor, Result};

use crate::convert::{count, counts, doubles, indices, integers, list, positions, whole};
use crate::guard::{bad_call, guard};
use crate::r_api::{append_text, protected};
use crate::watch::watched;

/// A key table as R holds it: empty once released.
pub struct Handle(Option<KeyTable>);

/// Runs `work` on the table behind an external pointer.
pub fn with_table<T>(pointer: &Robj, work: impl FnOnce(&KeyTable) -> Result<T>) -> Result<T> {
    let handle = <&ExternalPtr<Handle>>::try_from(pointer).map_err(|_| bad_call("table"))?;
    match handle.try_addr() {
        Ok(Handle(Some(table))) => work(table),
        _ => Err(bad_call("table")),
    }
}

fn pointer_to(table: KeyTable) -> Robj {
    ExternalPtr::new(Handle(Some(table))).into()
}

/// The memory of one R column, and how to read it.
enum Column<'a> {
    Levels(&'a [i32], Vec<bool>),
    Integers(&'a [i32]),
    Doubles(&'a [f64]),
    WideIntegers(&'a [i64]),
    Texts(&'a [usize]),
}

impl<'a> Column<'a> {
    /// Finds the memory of `values`, which R may have to produce first.
    fn new(values: &'a Robj, kind: &str, level_is_missing: &Robj) -> Result<Self> {
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
            let pointer = protected(|| unsafe { STRING_PTR_RO(sexp) })?;
            return Ok(Column::Texts(unsafe { slice(pointer.cast(), n) }));
        }
        let pointer = protected(|| unsafe { DATAPTR_RO(sexp) })?;
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

/// Codes columns. Returns the table, and per column its numbers of values and
/// of missing rows and the rows where its values first occur.
#[extendr]
fn rs_key_table(
    columns: Robj,
    kinds: Robj,
    level_is_missing: Robj,
    threads: Robj,
    tick: Robj,
) -> Robj {
    guard(|| {
        let columns = list(&columns, "columns")?;
        let missing_levels = list(&level_is_missing, "level_is_missing")?;
        let kinds: Vec<&str> = kinds.as_str_vector().ok_or_else(|| bad_call("kinds"))?;
        let threads = count(&threads, "threads")?;
        let values: Vec<Robj> = columns.values().collect();
        let sources = values
            .iter()
            .zip(&kinds)
            .zip(missing_levels.values())
            .map(|((values, kind), missing)| Column::new(values, kind, &missing))
            .collect::<Result<Vec<_>>>()?;
        // SAFETY: a constant of R.
        let missing_text = unsafe { R_NaString } as usize;
        let drafts = watched(threads, &tick, |monitor| {
            monitor.set_total(sources.len() as u64);
            sources
                .par_iter()
                .enumerate()
                .map(|(v, source)| {
                    monitor.check()?;
                    let draft = source.draft(missing_text, monitor);
                    monitor.advance(1);
                    draft.map_err(|error| error.at_column(v))
                })
                .collect::<Result<Vec<Draft>>>()
        })?;
        let texts = drafts
            .iter()
            .map(|draft| match draft {
                Draft::Done(_) => Ok(Texts::default()),
                Draft::Text(ids) => Texts::behind(ids.addresses()),
            })
            .collect::<Result<Vec<Texts>>>()?;
        let coded = watched(threads, &tick, |monitor| {
            drafts
                .into_par_iter()
                .zip(&texts)
                .map(|(draft, texts)| {
                    monitor.check()?;
                    match draft {
                        Draft::Done(coded) => Ok(coded),
                        Draft::Text(ids) => encode_texts(&ids, &texts.slices()?),
                    }
                })
                .collect::<Result<Vec<Coded>>>()
        })?;
        let n_values: Vec<i32> = coded.iter().map(|c| c.column.n_values() as i32).collect();
        let n_missing: Vec<i32> = coded.iter().map(|c| c.column.n_missing() as i32).collect();
        let first_rows: Vec<Robj> = coded.iter().map(|c| positions(&c.first_rows)).collect();
        let table = KeyTable::new(coded.into_iter().map(|c| c.column).collect())?;
        Ok(list!(
            table = pointer_to(table),
            n_values = n_values,
            n_missing = n_missing,
            first_rows = List::from_values(first_rows)
        )
        .into())
    })
}

/// Frees the memory of a table before R's collector would.
#[extendr]
fn rs_release(table: Robj) -> Robj {
    guard(|| {
        let mut pointer = ExternalPtr::<Handle>::try_from(table).map_err(|_| bad_call("table"))?;
        if let Ok(handle) = pointer.try_addr_mut() {
            handle.0 = None;
        }
        Ok(r!(NULL))
    })
}

/// The fingerprint of a table, as sixteen hexadecimal digits. `places` holds
/// per column the places of its codes, or NULL where they are in place.
#[extendr]
fn rs_fingerprint(table: Robj, places: Robj, names: Robj, threads: Robj) -> Robj {
    guard(|| {
        let names: Vec<&str> = names.as_str_vector().ok_or_else(|| bad_call("names"))?;
        let names: Vec<&[u8]> = names.iter().map(|n| n.as_bytes()).collect();
        let places = list(&places, "places")?
            .values()
            .map(|p| match p.is_null() {
                true => Ok(None),
                false => whole(&p, "places").map(Some),
            })
            .collect::<Result<Vec<_>>>()?;
        let places: Vec<Option<&[u32]>> = places.iter().map(Option::as_deref).collect();
        with_table(&table, |table| {
            let threads = count(&threads, "threads")?;
            let hash = watched(threads, &r!(NULL), |_| {
                Ok(table.fingerprint(&places, &names))
            })?;
            Ok(r!(format!("{hash:016x}")))
        })
    })
}

/// The hash of every vector of numbers or of texts, as sixteen hexadecimal
/// digits.
#[extendr]
fn rs_hash_values(vectors: Robj) -> Robj {
    guard(|| {
        let hashes = list(&vectors, "vectors")?
            .values()
            .map(|values| {
                let hash = if values.rtype() == Rtype::Strings {
                    let texts = values.as_str_iter().ok_or_else(|| bad_call("vectors"))?;
                    hash_texts(texts.map(str::as_bytes))
                } else {
                    hash_numbers(doubles(&values, "vectors")?)
                };
                Ok(format!("{hash:016x}"))
            })
            .collect::<Result<Vec<String>>>()?;
        Ok(r!(hashes))
    })
}

/// Rows without a missing value.
#[extendr]
fn rs_complete_rows(table: Robj) -> Robj {
    guard(|| with_table(&table, |table| Ok(positions(&table.complete_rows()))))
}

/// The table of some of the rows, and its missing rows per column.
#[extendr]
fn rs_select_rows(table: Robj, rows: Robj) -> Robj {
    guard(|| {
        let rows = integers(&rows, "rows")?;
        with_table(&table, |table| {
            let n = table.n_rows();
            let rows = rows
                .iter()
                .map(|&r| match u32::try_from(r - 1) {
                    Ok(row) if (row as usize) < n => Ok(row),
                    _ => Err(bad_call("rows")),
                })
                .collect::<Result<Vec<u32>>>()?;
            let selected = table.select(&rows)?;
            let n_missing = selected.columns().iter().map(|c| c.n_missing() as u32);
            let n_missing = counts(n_missing);
            Ok(list!(table = pointer_to(selected), n_missing = n_missing).into())
        })
    })
}

/// The table whose columns are keys, a key of several columns being one.
#[extendr]
fn rs_merge_keys(table: Robj, keys: Robj, threads: Robj, tick: Robj) -> Robj {
    guard(|| {
        let keys = list(&keys, "keys")?
            .values()
            .map(|members| indices(&members, "keys"))
            .collect::<Result<Vec<_>>>()?;
        let threads = count(&threads, "threads")?;
        with_table(&table, |table| {
            let merged = watched(threads, &tick, |monitor| table.merge(&keys, monitor))?;
            Ok(pointer_to(merged))
        })
    })
}

/// The distinct rows of a table: as a table, with the rows where they first
/// occur, the records of each and the number of each row's group.
#[extendr]
fn rs_group(table: Robj, threads: Robj, tick: Robj) -> Robj {
    guard(|| {
        let threads = count(&threads, "threads")?;
        with_table(&table, |table| {
            let (groups, distinct) = watched(threads, &tick, |monitor| {
                let groups = table.group(monitor)?;
                let distinct = table.distinct(&groups)?;
                Ok((groups, distinct))
            })?;
            let counts: Vec<f64> = groups.counts().iter().map(|&c| c as f64).collect();
            Ok(list!(
                table = pointer_to(distinct),
                first_rows = positions(groups.first_rows()),
                counts = counts,
                row_group = positions(groups.row_group())
            )
            .into())
        })
    })
}

/// The table with the codes of one column replaced by places in a dictionary
/// of `n_values` values shared with other tables.
#[extendr]
fn rs_recode(table: Robj, column: Robj, map: Robj, n_values: Robj) -> Robj {
    guard(|| {
        let column = count(&column, "column")?;
        let map = whole(&map, "map")?;
        let n_values = count(&n_values, "n_values")? as u32;
        with_table(&table, |table| {
            let mut recoded = table.clone();
            recoded.recode(column.wrapping_sub(1), &map, n_values)?;
            Ok(pointer_to(recoded))
        })
    })
}

/// The codes of one column: 0 for missing.
#[extendr]
fn rs_codes(table: Robj, column: Robj) -> Robj {
    guard(|| {
        let column = count(&column, "column")?.wrapping_sub(1);
        with_table(&table, |table| {
            let codes = table
                .columns()
                .get(column)
                .ok_or_else(|| bad_call("column"))?
                .codes();
            let codes: Vec<i32> = (0..table.n_rows()).map(|r| codes.get(r) as i32).collect();
            Ok(r!(codes))
        })
    })
}

extendr_module! {
    mod key_table;
    fn rs_key_table;
    fn rs_release;
    fn rs_fingerprint;
    fn rs_hash_values;
    fn rs_complete_rows;
    fn rs_select_rows;
    fn rs_merge_keys;
    fn rs_group;
    fn rs_recode;
    fn rs_codes;
}
