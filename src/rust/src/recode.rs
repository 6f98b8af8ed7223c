//! `recode_search()`: codes, hierarchies and limits in, recodings out.

use extendr_api::prelude::*;
use sdcrisk_core::recode::answer::{answer, blanked_records, Answer, Judged, Placed, Question};
use sdcrisk_core::recode::frontier::Measure;
use sdcrisk_core::recode::limits::Asked;
use sdcrisk_core::recode::search::Request;
use sdcrisk_core::recode::{Charge, Cost, Limit, Variable};
use sdcrisk_core::Result;

use crate::convert::{double_vectors, list, optional, whole, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::qar_risk::Tail;

/// The cheapest recodings under limits, and the frontier.
#[extendr]
fn rs_recode_search(table: Robj, variables: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let variables = hierarchies(&variables)?;
        let question = question(&settings)?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let found = run.watched(|monitor| answer(table, &variables, question, monitor))?;
            Ok(to_r(&found))
        })
    })
}

/// True if every record is blanked at the given levels.
#[extendr]
fn rs_recode_blanks(table: Robj, variables: Robj, settings: Robj, levels: Robj, run: Robj) -> Robj {
    guard(|| {
        let variables = hierarchies(&variables)?;
        let question = question(&settings)?;
        let levels = whole(&levels, "levels")?;
        let levels: Vec<usize> = levels.into_iter().map(|l| l as usize).collect();
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let blanked = run.watched(|monitor| {
                blanked_records(table, &variables, &question, &levels, monitor)
            })?;
            Ok(r!(blanked))
        })
    })
}

/// A number that may be missing.
fn maybe(settings: &Named, name: &str) -> Result<Option<f64>> {
    Ok(Some(settings.number(name)?).filter(|x| !x.is_nan()))
}

fn hierarchies(variables: &Robj) -> Result<Vec<Variable>> {
    list(variables, "variables")?
        .values()
        .map(|variable| {
            let variable = Named::new(&variable, "variables")?;
            let groups = variable
                .list("groups")?
                .values()
                .map(|level| whole(&level, "groups"))
                .collect::<Result<_>>()?;
            Ok(Variable {
                groups,
                leaves: double_vectors(&variable.get("leaves")?, "leaves")?,
                n_leaves: variable.number("n_leaves")?,
                allowed: variable.indices("allowed")?,
                weight: variable.number("weight")?,
            })
        })
        .collect()
}

fn question(settings: &Robj) -> Result<Question> {
    let settings = Named::new(settings, "settings")?;
    let cost = match settings.text("cost")?.as_str() {
        "entropy" => Cost::Entropy,
        "loss" => Cost::Loss,
        "levels" => Cost::Levels,
        _ => return Err(bad_call("cost")),
    };
    let frontier = match settings.text("frontier")?.as_str() {
        "k" => Some(Measure::Smallest),
        "prop_unique" => Some(Measure::Unique),
        "qar" => Some(Measure::Qar),
        _ => None,
    };
    Ok(Question {
        charge: Charge {
            cost,
            blank_price: settings.number("blank_price")?,
        },
        limit: Limit {
            k: settings.number("k")? as u64,
            prop_unique: maybe(&settings, "prop_unique")?,
            blankable: settings.number("blankable")? as u64,
        },
        asked: asked(&settings)?,
        request: Request {
            n_best: settings.number("n_best")? as usize,
            seconds: settings.number("seconds")?,
        },
        frontier,
    })
}

fn asked(settings: &Named) -> Result<Asked> {
    let qar = match maybe(settings, "qar")? {
        None => None,
        Some(limit) => Some((settings.count("p")?, Tail::new(settings)?.settings, limit)),
    };
    Ok(Asked { qar })
}

fn to_r(found: &Answer) -> Robj {
    list!(
        best = judged(&found.best),
        reached = judged(&found.reached),
        frontier = points(&found.frontier),
        whole_frontier = found.whole_frontier,
        n_nodes = found.n_nodes,
        n_evaluated = found.n_evaluated as f64,
        proven = found.proven,
        bound = found.bound
    )
    .into()
}

/// Levels, recoding after recoding.
fn levels<'a>(of: impl Iterator<Item = &'a Vec<usize>>) -> Robj {
    of.flatten().map(|&level| level as i32).collect_robj()
}

fn judged(found: &[Judged]) -> Robj {
    let count =
        |value: fn(&Judged) -> u64| -> Vec<f64> { found.iter().map(|j| value(j) as f64).collect() };
    let risk = |value: fn(&Judged) -> Option<f64>| optional(found.iter().map(value));
    let cost: Vec<f64> = found.iter().map(|j| j.measured.cost).collect();
    list!(
        levels = levels(found.iter().map(|j| &j.levels)),
        cost = cost,
        n_suppressed = count(|j| j.measured.n_blanked),
        violating = count(|j| j.measured.violating),
        n_unique = count(|j| j.measured.n_unique),
        smallest = count(|j| j.measured.smallest),
        qar = risk(|j| j.risks.qar)
    )
    .into()
}

fn points(found: &[Placed]) -> Robj {
    let column = |value: fn(&Placed) -> f64| -> Vec<f64> { found.iter().map(value).collect() };
    list!(
        levels = levels(found.iter().map(|p| &p.levels)),
        cost = column(|p| p.cost),
        risk = column(|p| p.risk),
        n_suppressed = column(|p| p.n_blanked as f64)
    )
    .into()
}

extendr_module! {
    mod recode;
    fn rs_recode_search;
    fn rs_recode_blanks;
}
