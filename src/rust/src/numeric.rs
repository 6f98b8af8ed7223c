//! Continuous variables: columns of numbers in, nearest records and groups out.

use extendr_api::prelude::*;
use sdcrisk_core::numeric::{
    learn_scales, mdav, nearest, optimal_groups, Dim, Metric, Points, Shape,
};
use sdcrisk_core::Result;

use crate::convert::{count, doubles, integers, list, positions, Named, Run};
use crate::guard::{bad_call, guard};

fn points(columns: &Robj, name: &str) -> Result<Points> {
    let columns = list(columns, name)?;
    let columns: Vec<Robj> = columns.values().collect();
    let columns: Vec<&[f64]> = columns
        .iter()
        .map(|column| doubles(column, name))
        .collect::<Result<_>>()?;
    Points::from_columns(&columns)
}

/// The costs of a variable: its `shape`, the cost of a `missing` value, and for some shapes
/// `edges` and `costs`.
fn dim(given: &Robj) -> Result<Dim> {
    let given = Named::new(given, "metric")?;
    let costs = given.doubles("costs")?;
    let shape = match (given.text("shape")?.as_str(), costs.as_slice()) {
        ("square", _) => Shape::Square,
        ("absolute", _) => Shape::Absolute,
        ("differ", [cost]) => Shape::Differ(*cost),
        ("steps", _) => Shape::Steps {
            edges: given.doubles("edges")?,
            costs,
        },
        _ => return Err(bad_call("metric")),
    };
    Dim::new(shape, given.number("missing")?)
}

/// The nearest `known` record of each of `released`, both lists of columns. `partners`: the
/// known records of the same persons by number, NA for none, or NULL.
#[extendr]
fn rs_nearest(known: Robj, released: Robj, metric: Robj, partners: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let known = points(&known, "known")?;
        let released = points(&released, "released")?;
        let metric = list(&metric, "metric")?
            .values()
            .map(|given| dim(&given))
            .collect::<Result<Metric>>()?;
        let partners: Option<Vec<Option<usize>>> = if partners.is_null() {
            None
        } else {
            let rows = integers(&partners, "partners")?;
            // NA is the smallest integer.
            let partner = |&row: &i32| usize::try_from(row.checked_sub(1)?).ok();
            Some(rows.iter().map(partner).collect())
        };
        let steps = known.len().saturating_mul(released.len());
        let found = run.brief(steps, |monitor| {
            nearest(&known, &released, &metric, partners.as_deref(), monitor)
        })?;
        let n_best: Vec<f64> = found.n_best.iter().map(|&n| n as f64).collect();
        Ok(list!(
            first = found.first,
            second = found.second,
            n_best = n_best,
            true_in_best = found.true_in_best
        )
        .into())
    })
}

/// The scales of changes that explain the `released` records best.
#[extendr]
fn rs_learn_scales(known: Robj, released: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let settings = Named::new(&settings, "settings")?;
        let known = points(&known, "known")?;
        let released = points(&released, "released")?;
        let scales = settings.doubles("scales")?;
        let least = settings.number("least")?;
        let steps = settings.count("steps")?;
        let found =
            run.watched(|monitor| learn_scales(&known, &released, &scales, least, steps, monitor))?;
        Ok(found.into_robj())
    })
}

/// The groups of MDAV, numbered from 1.
#[extendr]
fn rs_mdav(columns: Robj, k: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let points = points(&columns, "columns")?;
        let k = count(&k, "k")?;
        let groups = run.watched(|monitor| mdav(&points, k, monitor))?;
        Ok(positions(&groups))
    })
}

/// The ends of the best groups of rising values.
#[extendr]
fn rs_optimal_groups(values: Robj, weights: Robj, k: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let values = doubles(&values, "values")?;
        let weights = doubles(&weights, "weights")?;
        let k = count(&k, "k")?;
        let ends = run.watched(|monitor| optimal_groups(values, weights, k, monitor))?;
        Ok(ends.iter().map(|&end| end as i32).collect_robj())
    })
}

extendr_module! {
    mod numeric;
    fn rs_nearest;
    fn rs_learn_scales;
    fn rs_mdav;
    fn rs_optimal_groups;
}
