//! Key tables as R holds them: coded, taken apart, asked for groups and codes.

use extendr_api::prelude::*;
use sdcrisk_core::linkage::{partners, NONE};
use sdcrisk_core::memory::{collected, reserved};
use sdcrisk_core::random::secret_order;
use sdcrisk_core::{KeyTable, Result};

use crate::columns::{code_columns, hash_memory, hash_rows, hash_vectors, Column, Look, Mark};
use crate::convert::{indices, integers, list, positions, texts, whole, whole_numbers, Named, Run};
use crate::guard::{bad_call, guard};

/// A key table as R holds it: empty once released.
pub struct Handle(Option<KeyTable>);

/// Steps of work that looks at every cell of a table once.
pub fn n_cells(table: &KeyTable) -> usize {
    table.n_rows() * table.columns().len()
}

/// Runs `work` on the table behind an external pointer.
pub fn with_table<T>(pointer: &Robj, work: impl FnOnce(&KeyTable) -> Result<T>) -> Result<T> {
    work(table_of(pointer)?)
}

fn table_of(pointer: &Robj) -> Result<&KeyTable> {
    let handle = <&ExternalPtr<Handle>>::try_from(pointer).map_err(|_| bad_call("table"))?;
    match handle.try_addr() {
        Ok(Handle(Some(table))) => Ok(table),
        _ => Err(bad_call("table")),
    }
}

fn pointer_to(table: KeyTable) -> Robj {
    ExternalPtr::new(Handle(Some(table))).into()
}

/// Codes several sets of columns, each a list that R made, see
/// `R/door-table.R:coding_request()`.
#[extendr]
fn rs_code(requests: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let mut n_columns = 0;
        let mut kept = None;
        let coded = list(&requests, "requests")?
            .values()
            .map(|request| {
                let request = Named::new(&request, "requests")?;
                let coded = code(&request, n_columns, &mut kept, &run);
                n_columns += request.list("columns")?.len();
                coded
            })
            .collect::<Result<Vec<List>>>()?;
        Ok(List::from_values(coded).into())
    })
}

/// Codes the columns of one request, and hashes, cuts, deletes and merges what it
/// asks for. A column at fault is counted after the `n_before` of other requests;
/// `kept` are the rows that the last listwise deletion has left, which a request
/// can follow.
fn code(request: &Named, n_before: usize, kept: &mut Option<Vec<u32>>, run: &Run) -> Result<List> {
    let sources = request.list("columns")?;
    let sources = sources
        .values()
        .map(|source| Named::new(&source, "columns"))
        .collect::<Result<Vec<Named>>>()?;
    let values = sources
        .iter()
        .map(|source| source.get("values"))
        .collect::<Result<Vec<Robj>>>()?;
    let columns = (sources.iter().zip(&values))
        .map(|(source, values)| {
            Column::new(
                values,
                &source.text("kind")?,
                &source.get("level_is_missing")?,
            )
        })
        .collect::<Result<Vec<_>>>()?;
    let coded = code_columns(&columns, n_before, run)?;
    let fingerprint = request.optional("names")?;
    let marks = match &fingerprint {
        None => Vec::new(),
        Some(_) => (sources.iter().zip(&columns).zip(&coded))
            .map(|((source, column), coded)| Look::new(source)?.mark(column, &coded.first_rows))
            .collect::<Result<Vec<Mark>>>()?,
    };
    let mut n_values: Vec<i32> = coded.iter().map(|c| c.column.n_values() as i32).collect();
    let (coded, mut first_rows): (Vec<_>, Vec<_>) =
        coded.into_iter().map(|c| (c.column, c.first_rows)).unzip();
    let table = KeyTable::new(coded)?;
    let table = match request.optional_doubles("times")? {
        None => table,
        Some(times) => table.with_multiplicity(times.iter().map(|&n| n as u64).collect())?,
    };
    let table = match request.optional("n_levels")? {
        None => table,
        Some(n_levels) => below(table, &first_rows, &whole(&n_levels, "n_levels")?)?,
    };
    let parts = request.indices("ends")?;
    let listwise = request.flag("listwise")?;
    let keys = request
        .optional("keys")?
        .map(|keys| groups(&keys))
        .transpose()?;
    let parts = cut(table, &parts)?;
    let fingerprints = match fingerprint {
        None => r!(NULL),
        Some(names) => parts
            .iter()
            .map(|part| fingerprint_of(part, &marks, &names, request, run))
            .collect::<Result<Vec<String>>>()?
            .into_robj(),
    };
    let n_missing: Vec<Robj> = parts
        .iter()
        .map(|part| whole_numbers((0..part.columns().len()).map(|v| part.n_missing(v))))
        .collect();
    let n_complete =
        whole_numbers((parts.iter()).map(|part| part.n_records_of(&part.complete_rows())));
    let partners = match (request.flag("partners")?, parts.as_slice()) {
        (true, [one, two]) => partners_of(one, two)?,
        _ => r!(NULL),
    };
    let dense = request.flag("dense")?;
    let mut tables = Vec::new();
    let mut rows = Vec::new();
    for part in parts {
        let n_rows = part.n_rows();
        let (part, complete) = match kept {
            Some(rows) if request.flag("follows")? => (part.select(rows)?, None),
            _ => prepare(part, listwise, keys.as_deref(), run)?,
        };
        let some = complete.as_ref().filter(|rows| !rows.is_empty());
        let part = match some {
            Some(rows) if dense && rows.len() < n_rows => {
                let (part, first) = part.dense();
                let in_file = |first: &Vec<u32>| first.iter().map(|&r| rows[r as usize]).collect();
                first_rows = first.iter().map(in_file).collect();
                n_values = first.iter().map(|first| first.len() as i32).collect();
                part
            }
            _ => part,
        };
        if let Some(rows) = some {
            *kept = Some(rows.clone());
        }
        tables.push(pointer_to(part));
        rows.push(complete.map_or(r!(NULL), |rows| positions(&rows)));
    }
    let first_rows: Vec<Robj> = first_rows.iter().map(|rows| positions(rows)).collect();
    Ok(list!(
        tables = List::from_values(tables),
        n_values = n_values,
        n_missing = List::from_values(n_missing),
        n_complete = n_complete,
        first_rows = List::from_values(first_rows),
        fingerprints = fingerprints,
        rows = List::from_values(rows),
        partners = partners
    ))
}

/// Links between two tables of ids.
fn partners_of(one: &KeyTable, two: &KeyTable) -> Result<Robj> {
    let found = partners(&one.columns()[0], &two.columns()[0])?;
    let rows = found.rows.iter().map(|&row| match row {
        NONE => Rint::na(),
        row => Rint::from(row as i32 + 1),
    });
    Ok(list!(
        rows = rows.collect::<Integers>(),
        n_repeated = [found.n_repeated.0 as f64, found.n_repeated.1 as f64]
    )
    .into())
}

/// The fingerprint of a table with these marks, and of the further columns of
/// the request.
fn fingerprint_of(
    table: &KeyTable,
    marks: &[Mark],
    names: &Robj,
    request: &Named,
    run: &Run,
) -> Result<String> {
    let mut parts: Vec<String> = texts(names, "names")?;
    parts.extend(marks.iter().map(|mark| mark.text.clone()));
    if let Some(roles) = request.optional("roles")? {
        let roles = Named::new(&roles, "roles")?;
        let hashes = hash_vectors(&roles.get("values")?)?;
        parts.extend(texts(&roles.get("names")?, "roles")?);
        let scales = texts(&roles.get("scales")?, "roles")?;
        parts.extend(scales.iter().zip(hashes).map(|(s, h)| format!("{s} {h}")));
    }
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let places: Vec<Option<&[u32]>> = marks.iter().map(|mark| mark.places.as_deref()).collect();
    let hash = run.brief(n_cells(table), |_| Ok(table.fingerprint(&places, &parts)))?;
    Ok(format!("{hash:016x}"))
}

/// The records below the first ones, which hold the `n_levels` values that every
/// column is to know, in the order of the codes they are to have: other values
/// share the code after the last. Columns with fewer of them are filled up.
fn below(mut table: KeyTable, first_rows: &[Vec<u32>], n_levels: &[u32]) -> Result<KeyTable> {
    for (v, (rows, &n)) in first_rows.iter().zip(n_levels).enumerate() {
        let map: Vec<u32> = rows.iter().map(|&row| row.min(n) + 1).collect();
        table.recode(v, &map, n + 1)?;
    }
    let most = n_levels.iter().copied().max().unwrap_or(0);
    let n = table.n_rows();
    let rows: Vec<u32> = collected(most..n as u32, n.saturating_sub(most as usize))?;
    table.select(&rows)
}

/// The parts of a table of which `ends` says where each ends; the whole without.
fn cut(table: KeyTable, ends: &[usize]) -> Result<Vec<KeyTable>> {
    if ends.is_empty() {
        return Ok(vec![table]);
    }
    let starts = std::iter::once(0).chain(ends.iter().map(|&end| end + 1));
    starts
        .zip(ends)
        .map(|(start, &end)| {
            let rows: Vec<u32> = collected((start..=end).map(|row| row as u32), end + 1 - start)?;
            table.select(&rows)
        })
        .collect()
}

/// Leaves out incomplete records, and makes a column of every key. The rows that
/// are left, where records were asked to be left out; where none is, the table
/// stays whole.
fn prepare(
    table: KeyTable,
    listwise: bool,
    keys: Option<&[Vec<usize>]>,
    run: &Run,
) -> Result<(KeyTable, Option<Vec<u32>>)> {
    let rows = listwise.then(|| table.complete_rows());
    let table = match &rows {
        Some(rows) if !rows.is_empty() && rows.len() < table.n_rows() => table.select(rows)?,
        _ => table,
    };
    let table = match keys {
        Some(keys) => run.brief(n_cells(&table), |monitor| table.merge(keys, monitor))?,
        None => table,
    };
    Ok((table, rows))
}

/// A part of a coded table: of the columns of `keys`, a column for each key where
/// `merged`; without incomplete records where `listwise`.
#[extendr]
fn rs_part(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let settings = Named::new(&settings, "settings")?;
        let columns = settings.indices("columns")?;
        let keys = settings
            .optional("keys")?
            .map(|keys| groups(&keys))
            .transpose()?;
        let listwise = settings.flag("listwise")?;
        with_table(&table, |table| {
            let columns = columns
                .iter()
                .map(|&v| {
                    table
                        .columns()
                        .get(v)
                        .cloned()
                        .ok_or_else(|| bad_call("columns"))
                })
                .collect::<Result<Vec<_>>>()?;
            let part = KeyTable::new(columns)?.with_multiplicity_of(table)?;
            let (part, rows) = prepare(part, listwise, keys.as_deref(), &run)?;
            Ok(list!(
                table = pointer_to(part),
                rows = rows.map_or(r!(NULL), |rows| positions(&rows))
            )
            .into())
        })
    })
}

/// A table of some rows of another one, as often as each is named.
#[extendr]
fn rs_rows(table: Robj, rows: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let rows = integers(&rows, "rows")?;
        with_table(&table, |table| {
            let n = table.n_rows();
            let row = |&r: &i32| match usize::try_from(r - 1) {
                Ok(row) if row < n => Ok(row as u32),
                _ => Err(bad_call("rows")),
            };
            let mut chosen = reserved(rows.len())?;
            for r in rows {
                chosen.push(row(r)?);
            }
            let steps = chosen.len() * table.columns().len();
            Ok(pointer_to(run.brief(steps, |_| table.select(&chosen))?))
        })
    })
}

/// Keys as the columns that each consists of.
fn groups(keys: &Robj) -> Result<Vec<Vec<usize>>> {
    list(keys, "keys")?
        .values()
        .map(|members| indices(&members, "keys"))
        .collect()
}

/// Frees the memory of tables before R's collector would.
#[extendr]
fn rs_release(tables: Robj) -> Robj {
    guard(|| {
        for table in list(&tables, "tables")?.values() {
            let mut pointer =
                ExternalPtr::<Handle>::try_from(table).map_err(|_| bad_call("tables"))?;
            if let Ok(handle) = pointer.try_addr_mut() {
                handle.0 = None;
            }
        }
        Ok(r!(NULL))
    })
}

/// The fingerprint of a table by its codes, as sixteen hexadecimal digits.
#[extendr]
fn rs_fingerprint(table: Robj, names: Robj, run: Robj) -> Robj {
    guard(|| {
        let names = texts(&names, "names")?;
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        with_table(&table, |table| {
            let run = Run::new(&run)?;
            let hash = run.brief(n_cells(table), |_| Ok(table.fingerprint(&[], &names)))?;
            Ok(r!(format!("{hash:016x}")))
        })
    })
}

/// The distinct rows of a table: where they first occur, the records of each and
/// the number of each row's group.
#[extendr]
fn rs_group(table: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let groups = run.brief(n_cells(table), |monitor| table.group(monitor))?;
            let counts: Vec<f64> = groups.counts().iter().map(|&c| c as f64).collect();
            Ok(list!(
                first_rows = positions(groups.first_rows()),
                counts = counts,
                row_group = positions(groups.row_group())
            )
            .into())
        })
    })
}

/// The codes of all columns of several tables: 0 for missing.
#[extendr]
fn rs_codes(tables: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let codes = list(&tables, "tables")?
            .values()
            .map(|table| with_table(&table, |table| codes_of(table, &run)))
            .collect::<Result<Vec<List>>>()?;
        Ok(List::from_values(codes).into())
    })
}

fn codes_of(table: &KeyTable, run: &Run) -> Result<List> {
    let n = table.n_rows();
    let columns = table
        .columns()
        .iter()
        .map(|column| {
            let codes = (0..n).map(|row| column.codes().get(row) as i32);
            run.brief(n, |_| collected(codes, n)).map(Robj::from)
        })
        .collect::<Result<Vec<Robj>>>()?;
    Ok(List::from_values(columns))
}

/// A hash of the memory of every vector.
#[extendr]
fn rs_memory(vectors: Robj) -> Robj {
    guard(|| Ok(hash_memory(&vectors)?.into()))
}

/// A hash of the rows of vectors, whatever their order.
#[extendr]
fn rs_memory_of_rows(vectors: Robj) -> Robj {
    guard(|| Ok(hash_rows(&vectors)?.into()))
}

/// Positions of rows in a secret order, rows of one group together.
#[extendr]
fn rs_secret_order(groups: Robj) -> Robj {
    guard(|| Ok(positions(&secret_order(&whole(&groups, "groups")?))))
}

extendr_module! {
    mod key_table;
    fn rs_code;
    fn rs_part;
    fn rs_rows;
    fn rs_release;
    fn rs_fingerprint;
    fn rs_group;
    fn rs_codes;
    fn rs_memory;
    fn rs_memory_of_rows;
    fn rs_secret_order;
}
