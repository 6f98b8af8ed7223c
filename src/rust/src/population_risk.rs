//! `population_risk()`: keys and the design of the sample in, figures and risks out.

use extendr_api::prelude::*;
use sdcrisk_core::population_risk::{population_risk, Design, Estimate};
use sdcrisk_core::{Missing, Monitor};

use crate::convert::{optional, Named, Run};
use crate::guard::guard;
use crate::key_table::with_table;

fn three(found: Estimate) -> [f64; 3] {
    [found.value, found.low, found.high]
}

/// The figures of a file and the risk of every row.
#[extendr]
fn rs_population_risk(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let weights = settings.optional_doubles("weights")?;
        let n_people = settings.number("n_people")?;
        let missing: Missing = settings.choice("missing")?;
        let least = settings.optional_number("least")?;
        let households = match settings.optional("households")? {
            None => None,
            Some(pointer) => Some(with_table(&pointer, |homes| {
                Ok(homes.group(&Monitor::new())?.row_group().to_vec())
            })?),
        };
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let design = Design {
                n_people,
                weights: weights.as_deref(),
                households: households.as_deref(),
            };
            let found =
                run.watched(|monitor| population_risk(table, &design, missing, least, monitor))?;
            let measures = found.measures;
            let figures = [
                measures.uniqueness,
                measures.correctness,
                measures.tau1,
                measures.tau2,
                measures.reidentifications,
            ];
            Ok(list!(
                figures = figures.map(three).concat(),
                smallest_class = optional(measures.smallest_class.into_iter()),
                effective_draws = measures.effective_draws,
                refuted = measures.refuted,
                stacking = found.stacking.to_vec(),
                n_patterns = found.n_patterns as f64,
                neighbours_alike = found.neighbours_alike,
                rarest = list!(
                    count = found.rarest.count,
                    n_alike = found.rarest.n_alike as f64,
                    fraction = found.rarest.fraction
                ),
                risk = found.risk,
                prob_unique = found.prob_unique
            )
            .into())
        })
    })
}

extendr_module! {
    mod population_risk;
    fn rs_population_risk;
}
