//! `suppress_cells()`: key sets and a rule in, the cells to blank out.

use extendr_api::prelude::*;
use sdcrisk_core::key_table::{Codes, Column};
use sdcrisk_core::random::Streams;
use sdcrisk_core::suppress::{suppress, Counts, Reason, Rule, Settings, Suppression};
use sdcrisk_core::Result;

use crate::convert::{counts, doubles, indices, integers, positions, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Request of R, with its own copies of the data that the core borrows.
struct Asked {
    rule: Rule,
    k: u32,
    sets: Vec<Vec<usize>>,
    weights: Vec<f64>,
    linked: Vec<(usize, usize)>,
    strata: Option<Column>,
    households: Option<Column>,
    rounds: usize,
    streams: Streams,
}

/// The cells of `table` to be blanked. `settings` has the fields of [`Asked`]
/// by name; `run` has `threads` and `tick`.
#[extendr]
fn rs_suppress_cells(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let asked = asked(&settings)?;
        let run = Run::new(&run)?;
        let settings = Settings {
            rule: asked.rule,
            k: asked.k,
            sets: &asked.sets,
            weights: &asked.weights,
            linked: &asked.linked,
            strata: asked.strata.as_ref(),
            households: asked.households.as_ref(),
            bound_steps: None,
            rounds: asked.rounds,
            streams: asked.streams,
        };
        with_table(&table, |table| {
            let found = run.watched(|monitor| suppress(table, &settings, monitor))?;
            Ok(suppression_list(&found, &settings))
        })
    })
}

fn asked(settings: &Robj) -> Result<Asked> {
    let settings = Named::new(settings, "settings")?;
    let sets = (settings.list("sets")?.values())
        .map(|set| indices(&set, "sets"))
        .collect::<Result<_>>()?;
    let from = settings.indices("linked_from")?;
    Ok(Asked {
        rule: match settings.text("rule")?.as_str() {
            "own" => Rule::Own,
            "shared" => Rule::Shared,
            "strict" => Rule::Strict,
            _ => return Err(bad_call("rule")),
        },
        k: settings.count("k")? as u32,
        sets,
        weights: doubles(&settings.get("weights")?, "weights")?.to_vec(),
        linked: from
            .into_iter()
            .zip(settings.indices("linked_to")?)
            .collect(),
        strata: labels(settings.optional("strata")?, "strata")?,
        households: labels(settings.optional("households")?, "households")?,
        rounds: settings.count("rounds")?,
        streams: Streams::new(settings.seed("seeds")?),
    })
}

/// Numbers from 1 of the strata or households of the records; NULL is none.
fn labels(x: Option<Robj>, name: &str) -> Result<Option<Column>> {
    let Some(x) = x else { return Ok(None) };
    let numbers = integers(&x, name)?;
    if numbers.iter().any(|&i| i < 1) {
        return Err(bad_call(name));
    }
    let most = numbers.iter().copied().max().unwrap_or(0) as u32;
    let codes = Codes::try_pack(most, numbers.iter().map(|&i| i as u32), numbers.len())?;
    Column::new(codes, most).map(Some)
}

fn suppression_list(found: &Suppression, settings: &Settings<'_>) -> Robj {
    let cells = found.cells(settings);
    let rows: Vec<u32> = cells.iter().map(|c| c.0).collect();
    let columns: Vec<u32> = cells.iter().map(|c| c.1).collect();
    let reasons: Robj = cells.iter().map(|c| reason(c.2)).collect_robj();
    let by_set: List = List::from_values(found.counts.iter().map(counts_list));
    let violating: Robj = found
        .violating
        .iter()
        .map(|&v| Rbool::from(v))
        .collect_robj();
    list!(
        record = positions(&rows),
        variable = positions(&columns),
        reason = reasons,
        violating = violating,
        cost = found.cost,
        lower_bound = found.lower_bound,
        restricted = found.restricted,
        bound_steps = found.bound_steps as i32,
        improved = found.improved as i32,
        counts = by_set
    )
    .into()
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Violation => "violation",
        Reason::Linked => "linked",
        Reason::Household => "household",
        Reason::Donor => "donor",
    }
}

fn counts_list(found: &Counts) -> Robj {
    let of = |x: &[u32]| counts(x.iter().copied());
    list!(
        before = of(&found.before),
        after = of(&found.after),
        intruder = of(&found.intruder),
        equal = found.equal.as_deref().map_or(r!(NULL), of)
    )
    .into()
}

extendr_module! {
    mod suppress;
    fn rs_suppress_cells;
}
