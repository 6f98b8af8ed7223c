//! `special_uniques()`: a table in, minimal sample uniques out.

use extendr_api::prelude::*;
use sdcrisk_core::special_uniques::{replicated, special_uniques};
use sdcrisk_core::Missing;

use crate::convert::{counts, optional, positions, Named, Run};
use crate::guard::guard;
use crate::key_table::{n_cells, with_table};

/// The minimal sample uniques of every record, and what they add up to by variable and
/// level.
#[extendr]
fn rs_special_uniques(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let missing: Missing = settings.choice("missing")?;
        let max_size = settings.count("max_size")?;
        let n_top = settings.count("n_top")?;
        let pairs = settings.flag("pairs")?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let found = run.brief(n_cells(table).saturating_mul(max_size), |monitor| {
                special_uniques(table, max_size, missing, n_top, pairs, monitor)
            })?;
            let sets: Vec<Robj> = (found.sets.iter())
                .map(|set| counts(set.iter().map(|&v| v as u32 + 1)))
                .collect();
            let place = found
                .smallest
                .iter()
                .map(|at| at.map(|at| f64::from(at + 1)));
            let pairs = found
                .uniques_and_paired
                .map(|(u, p)| vec![u as f64, p as f64]);
            let n_by_variable: Vec<f64> = found.n_by_variable.iter().map(|&n| n as f64).collect();
            Ok(list!(
                n_msu = by_size(&found.n_msu, max_size),
                smallest = optional(place),
                sets = List::from_values(sets),
                n_by_variable = n_by_variable,
                by_variable = found.by_variable,
                by_pair = found.by_pair,
                by_level = List::from_values(found.by_level),
                top = positions(&found.top),
                top_contributions = found.top_contributions,
                uniques_and_paired = pairs.map_or_else(|| r!(NULL), |both| r!(both))
            )
            .into())
        })
    })
}

/// The minimal sample uniques of every record that a released file, coded alike, has as well.
#[extendr]
fn rs_replicated_uniques(table: Robj, released: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let missing: Missing = settings.choice("missing")?;
        let max_size = settings.count("max_size")?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            with_table(&released, |released| {
                let n_msu =
                    run.watched(|monitor| replicated(table, released, max_size, missing, monitor))?;
                Ok(by_size(&n_msu, max_size))
            })
        })
    })
}

/// One column per size.
fn by_size(n_msu: &[u32], max_size: usize) -> Robj {
    counts((0..max_size).flat_map(|size| n_msu.iter().skip(size).step_by(max_size).copied()))
}

extendr_module! {
    mod special_uniques;
    fn rs_special_uniques;
    fn rs_replicated_uniques;
}
