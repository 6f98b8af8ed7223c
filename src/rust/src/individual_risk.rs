//! `individual_risk()`: keys and weights in, risks of records and households
//! out.

use extendr_api::prelude::*;
use sdcrisk_core::individual_risk::{expected_inverse, household_risk, individual_risk};
use sdcrisk_core::{Missing, Weights};

use crate::convert::{doubles, optional, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::{n_cells, with_table};

/// The individual risk of every record, missing values matching everything or
/// being values of their own.
#[extendr]
fn rs_individual_risk(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let weights = settings.doubles("weights")?;
        let missing: Missing = settings.choice("missing")?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let weights = Weights::new(&weights, table.n_rows())?;
            let found = run.brief(n_cells(table), |m| {
                individual_risk(table, weights, missing, m)
            })?;
            let frequency: Vec<f64> = found.frequency.iter().map(|&f| f as f64).collect();
            Ok(list!(
                frequency = frequency,
                population = found.population,
                risk = found.risk,
                n_cells = optional(std::iter::once(found.n_cells.map(|n| n as f64))),
                n_below_sample = found.n_below_sample as f64
            )
            .into())
        })
    })
}

/// The risk of every record's household, from those of its members.
#[extendr]
fn rs_members_risk(households: Robj, risk: Robj, run: Robj) -> Robj {
    guard(|| {
        let risk = doubles(&risk, "risk")?;
        let run = Run::new(&run)?;
        with_table(&households, |households| {
            let found = run.brief(risk.len(), |monitor| {
                household_risk(households, risk, monitor)
            })?;
            Ok(list!(
                risk = found.risk,
                n_households = found.n_households as f64,
                expected = found.expected,
                largest = found.largest
            )
            .into())
        })
    })
}

/// `E(1/F)` given frequencies in the file and sums of weights, one by one.
#[extendr]
fn rs_expected_inverse(frequency: Robj, population: Robj) -> Robj {
    guard(|| {
        let frequency = doubles(&frequency, "frequency")?;
        let population = doubles(&population, "population")?;
        if frequency.len() != population.len() || frequency.iter().any(|&f| f.is_nan() || f < 1.0) {
            return Err(bad_call("frequency"));
        }
        let risk: Vec<f64> = frequency
            .iter()
            .zip(population)
            .map(|(&f, &population)| expected_inverse(f as u64, population))
            .collect();
        Ok(r!(risk))
    })
}

extendr_module! {
    mod individual_risk;
    fn rs_individual_risk;
    fn rs_members_risk;
    fn rs_expected_inverse;
}
