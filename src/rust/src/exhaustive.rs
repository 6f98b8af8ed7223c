//! `exhaustive_tabulation()`: thresholds in, counts of cells and records out.

use extendr_api::prelude::*;
use sdcrisk_core::exhaustive::{tabulate, Cells, Records, Rule, Table, Tabulation};
use sdcrisk_core::key_sets::binomial;
use sdcrisk_core::{KeyTable, Missing, Result, Weights};

use crate::convert::{counts, whole, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Request of R for tables.
struct Asked {
    weights: Option<Vec<f64>>,
    dims: Vec<usize>,
    rule: Rule,
    missing: Missing,
    max_tables: usize,
}

impl Asked {
    fn new(given: &Named) -> Result<Self> {
        let dims = whole(&given.get("dims")?, "dims")?;
        Ok(Self {
            weights: given.optional_doubles("weights")?,
            dims: dims.into_iter().map(|dim| dim as usize).collect(),
            rule: rule(given)?,
            missing: given.choice("missing")?,
            max_tables: given.count("max_tables")?,
        })
    }

    /// Every table looks at the key variables it has of every record.
    fn steps(&self, table: &KeyTable) -> usize {
        let n_keys = table.columns().len();
        let cells = self.dims.iter().map(|&dim| {
            let n_tables = binomial(n_keys as u64, dim as u64).unwrap_or(u64::MAX);
            n_tables.saturating_mul(dim as u64 * table.n_rows() as u64)
        });
        cells.fold(0, u64::saturating_add) as usize
    }
}

/// All tables of the sizes `dims`.
#[extendr]
fn rs_exhaustive(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let asked = Asked::new(&Named::new(&settings, "settings")?)?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let weights = asked.weights.as_deref();
            let weights = weights
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let found = run.brief(asked.steps(table), |monitor| {
                tabulate(
                    table,
                    weights,
                    &asked.dims,
                    asked.rule,
                    asked.missing,
                    asked.max_tables,
                    monitor,
                )
            })?;
            Ok(to_r(&found, &asked.dims))
        })
    })
}

/// A threshold may be NULL.
fn rule(given: &Named) -> Result<Rule> {
    let records = match given.optional("threshold")? {
        None => None,
        Some(_) => Some(given.count("threshold")? as u32),
    };
    let weight = given.optional_number("weight_threshold")?;
    match (records, weight, given.text("combine")?.as_str()) {
        (Some(records), None, _) => Ok(Rule::Records(records)),
        (None, Some(weight), _) => Ok(Rule::Weight(weight)),
        (Some(records), Some(weight), "or") => Ok(Rule::Either(records, weight)),
        (Some(records), Some(weight), "and") => Ok(Rule::Both(records, weight)),
        _ => Err(bad_call("combine")),
    }
}

/// Categories come as long vectors: size, then variable, then code from 0.
fn to_r(found: &Tabulation, dims: &[usize]) -> Robj {
    let tables = || found.tables.iter().flatten();
    let categories = || found.categories.iter().flatten().flatten();
    let of_cells = |of: fn(&Cells) -> u64| -> Vec<f64> {
        categories().map(|cells| of(cells) as f64).collect()
    };
    let of_tables =
        |of: fn(&Table) -> u64| -> Vec<f64> { tables().map(|t| of(t) as f64).collect() };
    let of_records = |of: fn(&Records) -> u64| -> Vec<f64> {
        let records = found.records.iter().flatten();
        records.map(|r| of(r) as f64).collect()
    };
    let per_dim = dims.iter().zip(&found.tables);
    list!(
        n_violations = counts(found.violations.iter().copied()),
        n_tables = counts(found.tables_of_row.iter().copied()),
        category_cells = of_cells(|c| c.n),
        category_violations = of_cells(|c| c.violations),
        records_n = of_records(|r| r.n),
        records_violating = of_records(|r| r.violating),
        records_violations = of_records(|r| r.violations),
        table_dim = per_dim
            .flat_map(|(&dim, tables)| std::iter::repeat_n(dim as i32, tables.len()))
            .collect::<Vec<i32>>(),
        table_cells = of_tables(|t| t.cells.n),
        table_violations = of_tables(|t| t.cells.violations),
        table_records = of_tables(|t| t.records)
    )
    .into()
}

extendr_module! {
    mod exhaustive;
    fn rs_exhaustive;
}
