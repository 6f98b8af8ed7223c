//! `key_overview()`: a table in, one row per key out.

use extendr_api::prelude::*;
use sdcrisk_core::key_overview::{key_overview, KeyShares};

use crate::convert::{counts, optional, Run};
use crate::guard::guard;
use crate::key_table::{n_cells, with_table};

/// Shares, associations and uniques of all columns of a table.
#[extendr]
fn rs_key_overview(table: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            // Every key variable is left out once, and looked at beside every other.
            let steps = n_cells(table) * table.columns().len();
            let found = run.brief(steps, |monitor| key_overview(table, monitor))?;
            let of = |value: fn(&KeyShares) -> f64| -> Vec<f64> {
                found.keys.iter().map(value).collect()
            };
            let without: Vec<f64> = found.n_unique_without.iter().map(|&n| n as f64).collect();
            Ok(list!(
                n_levels = counts(found.keys.iter().map(|k| k.n_levels)),
                n_observed = of(|k| k.n_observed as f64),
                entropy = of(|k| k.entropy),
                largest = of(|k| k.largest as f64),
                association = optional(found.association.iter().copied()),
                n_unique = found.n_unique as f64,
                n_unique_without = without
            )
            .into())
        })
    })
}

extendr_module! {
    mod key_overview;
    fn rs_key_overview;
}
