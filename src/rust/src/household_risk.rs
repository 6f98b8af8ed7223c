//! `household_risk()`: records and their households in, households that fit out.

use extendr_api::prelude::*;
use sdcrisk_core::household_risk::{household_risk, Known, Settings};
use sdcrisk_core::Weights;

use crate::convert::{counts, doubles, positions, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Number of households that fit every household. `settings`: the table of `households`,
/// how many members are `known`, the columns they `share`, whether households with
/// an incomplete member are left out (`complete_only`), and `weights` or NULL.
#[extendr]
fn rs_household_risk(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let run = Run::new(&run)?;
        let known = match settings.text("known")?.as_str() {
            "1" => Known::One,
            "2" => Known::Two,
            "all" => Known::All,
            _ => return Err(bad_call("known")),
        };
        let shared = settings.indices("shared")?;
        let complete_only = settings.flag("complete_only")?;
        let weights = settings.optional("weights")?;
        let weights = weights.as_ref().map(|w| doubles(w, "weights"));
        let weights = weights.transpose()?;
        with_table(&settings.get("households")?, |households| {
            with_table(&table, |table| {
                let weights = weights.map(|w| Weights::new(w, table.n_rows()));
                let asked = Settings {
                    known,
                    shared: &shared,
                    complete_only,
                    weights: weights.transpose()?,
                };
                let found =
                    run.watched(|monitor| household_risk(table, households, &asked, monitor))?;
                let numbers = |x: Option<Vec<f64>>| x.map_or(r!(NULL), |x| r!(x));
                Ok(list!(
                    household = positions(&found.household),
                    size = counts(found.size.into_iter()),
                    n_matches = counts(found.matches.into_iter()),
                    weighted = numbers(found.weighted),
                    risk = numbers(found.risk),
                    n_unequal = counts(found.unequal.into_iter())
                )
                .into())
            })
        })
    })
}

extendr_module! {
    mod household_risk;
    fn rs_household_risk;
}
