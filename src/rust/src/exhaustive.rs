//! `exhaustive_tabulation()`: thresholds in, counts of cells and records out.

use extendr_api::prelude::*;
use sdcrisk_core::exhaustive::{tabulate, Cells, Records, Rule, Table, Tabulation};
use sdcrisk_core::{Result, Weights};

use crate::convert::{count, counts, doubles, integers, text, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// All tables of the sizes `dims`. `weights` may have no entry where the rule
/// does not weigh.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_exhaustive(
    table: Robj,
    weights: Robj,
    dims: Robj,
    threshold: Robj,
    weight_threshold: Robj,
    combine: Robj,
    missing_counts: Robj,
    max_tables: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let weights = doubles(&weights, "weights")?;
        let weights = (!weights.is_empty()).then_some(weights);
        let dims = integers(&dims, "dims")?
            .iter()
            .map(|&d| usize::try_from(d).map_err(|_| bad_call("dims")))
            .collect::<Result<Vec<usize>>>()?;
        let rule = rule(&threshold, &weight_threshold, text(&combine, "combine")?)?;
        let missing_counts = missing_counts
            .as_bool()
            .ok_or_else(|| bad_call("missing_counts"))?;
        let max_tables = count(&max_tables, "max_tables")?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let weights = weights
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let found = run.watched(|monitor| {
                tabulate(
                    table,
                    weights,
                    &dims,
                    rule,
                    missing_counts,
                    max_tables,
                    monitor,
                )
            })?;
            Ok(to_r(&found, &dims))
        })
    })
}

/// A threshold of no entry is none.
fn rule(threshold: &Robj, weight_threshold: &Robj, combine: &str) -> Result<Rule> {
    let records = integers(threshold, "threshold")?
        .first()
        .map(|&t| u32::try_from(t).map_err(|_| bad_call("threshold")))
        .transpose()?;
    let weight = doubles(weight_threshold, "weight_threshold")?
        .first()
        .copied();
    match (records, weight, combine) {
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
