//! `copula_fit()` and what draws from a fit: parts in, numbers out.

use extendr_api::prelude::*;
use sdcrisk_core::copula::{
    fit, judge, model_uniqueness, uniqueness_of_sets, Family, Fit, Margin, Marginals, Model,
    ModelShares, Moments, Order, PairTable, PopulationEstimate as Estimate, PopulationSettings,
    Range, Sample, SampleTree, Sampler, Seen, Settings,
};
use sdcrisk_core::{Monitor, Result, Weights};

use crate::convert::{double_vectors, doubles, indices, matrix_to_r, square, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::scores::tree_list;

/// R's places, counted from 1.
fn places(positions: Vec<usize>) -> Vec<u32> {
    positions.into_iter().map(|p| p as u32).collect()
}

/// The model of a fit as R holds it.
pub fn model_of(given: &Named) -> Result<Model> {
    Model::new(
        double_vectors(&given.get("shares")?, "shares")?,
        (given.index_lists("orders")?.into_iter())
            .map(places)
            .collect(),
        square(&given.get("correlation")?, "correlation")?,
    )
}

fn order_of(given: &Named) -> Result<Order> {
    Ok(match given.text("order")?.as_str() {
        "scaling" => Order::Scaling,
        "natural" => Order::Natural,
        "frequency" => Order::Frequency,
        "random" => Order::Random(given.seed("seed")?),
        _ => return Err(bad_call("order")),
    })
}

/// Settings of a model from those of R.
fn settings_of(given: &Named) -> Result<Settings> {
    let shares = given.list("exogenous_shares")?;
    let natural = given.list("exogenous_places")?;
    let exogenous = shares
        .values()
        .zip(natural.values())
        .map(|(shares, natural)| {
            if shares.is_null() {
                return Ok(None);
            }
            let natural = places(indices(&natural, "exogenous")?);
            Ok(Some((doubles(&shares, "exogenous")?.to_vec(), natural)))
        })
        .collect::<Result<_>>()?;
    let correlation = given.optional("correlation")?;
    Ok(Settings {
        order: order_of(given)?,
        nominal: given.flags("nominal")?,
        marginals: match given.text("marginals")?.as_str() {
            "auto" => Marginals::Auto,
            _ => Marginals::Empirical,
        },
        exogenous,
        correlation: correlation
            .map(|correlation| square(&correlation, "correlation"))
            .transpose()?,
        signed: given.flag("signed")?,
    })
}

fn margin_columns(margins: &[Option<Margin>]) -> List {
    let name = |m: &Option<Margin>| match m.as_ref().map(|m| m.family) {
        None => "exogenous",
        Some(Family::Categorical) => "categorical",
        Some(Family::NegativeBinomial { .. }) => "negative binomial",
        Some(Family::Logarithmic { .. }) => "logarithmic",
    };
    let parameter = |which: usize| -> Robj {
        let values = margins.iter().map(|m| {
            let values = match m.as_ref().map(|m| m.family) {
                Some(Family::NegativeBinomial { size, prob }) => [Some(size), Some(prob), None],
                Some(Family::Logarithmic { theta }) => [None, None, Some(theta)],
                _ => [None; 3],
            };
            values[which]
        });
        crate::convert::optional(values)
    };
    list!(
        family = margins.iter().map(name).collect::<Vec<&str>>(),
        size = parameter(0),
        prob = parameter(1),
        theta = parameter(2),
        bic = crate::convert::optional(margins.iter().map(|m| m.as_ref().map(|m| m.bic)))
    )
}

/// A two-way table as a matrix: whole numbers as integers where they are and fit.
fn pair_matrix(table: &PairTable, whole: bool) -> Result<Robj> {
    if whole && table.cells.iter().all(|&n| n <= f64::from(i32::MAX)) {
        matrix_to_r(&table.cells.mapv(|x| x as i32))
    } else {
        matrix_to_r(&table.cells)
    }
}

fn one_based(places: &[Vec<u32>]) -> Robj {
    List::from_values(
        places
            .iter()
            .map(|p| p.iter().map(|&p| p as i32 + 1).collect_robj()),
    )
    .into()
}

/// Fits a copula to the records of a table, and the tree that scores them.
#[extendr]
fn rs_copula_fit(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let given = Named::new(&settings, "settings")?;
        let settings = settings_of(&given)?;
        let weights = given.optional_doubles("weights")?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let d = table.columns().len() as u64;
            if settings.nominal.len() as u64 != d || settings.exogenous.len() as u64 != d {
                return Err(bad_call("settings"));
            }
            let weights = weights
                .as_deref()
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let (sample, found, sizes, tree) = run.watched(|monitor| {
                monitor.set_total(d * (d - 1) + 1);
                let sample = Sample::count(table, weights, monitor)?;
                let found = fit(&sample, &settings, monitor)?;
                let sizes = table.group(monitor)?.sizes();
                let tree = SampleTree::new(table, weights, &sample, &found, monitor)?;
                Ok((sample, found, sizes, tree))
            })?;
            let times: Vec<f64> = sizes.values().map(|&t| f64::from(t)).collect();
            let sizes: Vec<f64> = sizes.keys().map(|&s| s as f64).collect();
            let mut columns = fit_columns(&sample, &found, weights.is_none())?;
            columns.extend([
                ("cell_size", r!(sizes)),
                ("cell_times", r!(times)),
                ("tree", tree_list(&tree).into()),
            ]);
            Ok(List::from_pairs(columns).into())
        })
    })
}

/// A fit for R; of `whole` records, or of weights.
fn fit_columns(sample: &Sample, found: &Fit, whole: bool) -> Result<Vec<(&'static str, Robj)>> {
    let pairs = (sample.tables.iter())
        .map(|table| pair_matrix(table, whole))
        .collect::<Result<Vec<Robj>>>()?;
    let rho: Vec<f64> = found.roots.iter().map(|r| r.rho).collect();
    let at_bound: Vec<bool> = found.roots.iter().map(|r| r.at_bound).collect();
    Ok(vec![
        ("shares", List::from_values(&found.model.shares).into()),
        ("orders", one_based(&found.model.orders)),
        ("correlation", matrix_to_r(&found.model.correlation)?),
        ("margins", margin_columns(&found.margins).into()),
        ("counts", List::from_values(&sample.counts).into()),
        ("n_effective", r!(sample.n)),
        ("pairs", List::from_values(pairs).into()),
        ("information", r!(found.information.clone())),
        ("expected", r!(found.expected.clone())),
        ("rho", r!(rho)),
        ("at_bound", r!(at_bound)),
        ("least_eigenvalue", r!(found.projection.least_eigenvalue)),
        ("largest_change", r!(found.projection.largest_change)),
        ("steps", r!(found.projection.steps as f64)),
    ])
}

/// Categories, counted from 1, of records drawn from a model.
#[extendr]
fn rs_copula_simulate(model: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let model = model_of(&Named::new(&model, "model")?)?;
        let settings = Named::new(&settings, "settings")?;
        let n = settings.count("n")?;
        let seed = settings.seed("seed")?;
        let run = Run::new(&run)?;
        let records =
            run.watched(|monitor: &Monitor| Sampler::new(&model)?.records(n, seed, monitor))?;
        Ok(one_based(&records))
    })
}

/// Estimates and intervals as columns.
fn range_columns(estimates: &[Estimate], of: fn(&Estimate) -> Range) -> List {
    let column =
        |end: fn(Range) -> f64| -> Vec<f64> { estimates.iter().map(|e| end(of(e))).collect() };
    list!(
        estimate = column(|r| r.estimate),
        low = column(|r| r.low),
        high = column(|r| r.high)
    )
}

fn moments(known: &Moments) -> List {
    list!(mean = known.mean, sd = known.sd, shrunk = known.shrunk)
}

/// Uniqueness and correctness in populations of several sizes.
#[extendr]
fn rs_copula_population(model: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let model = model_of(&Named::new(&model, "model")?)?;
        let given = Named::new(&settings, "settings")?;
        let settings = PopulationSettings {
            seen: Seen {
                n: given.number("n")?,
                single: given.number("n_single")?,
                distinct: given.number("n_distinct")?,
            },
            calibrated: given.flag("calibrated")?,
            bounded: given.flag("bounded")?,
            level: given.number("level")?,
        };
        let sizes = given.doubles("sizes")?;
        let subsets = given.doubles("subsets")?;
        let run = Run::new(&run)?;
        let (found, shares) = run.watched(|monitor| {
            let found = judge(&model, &sizes, &settings, monitor)?;
            let shares = match subsets.is_empty() {
                true => Vec::new(),
                false => model_uniqueness(&model, &subsets, settings.seen.n, monitor)?,
            };
            Ok((found, shares))
        })?;
        let column =
            |of: fn(&Estimate) -> f64| found.estimates.iter().map(of).collect::<Vec<f64>>();
        Ok(list!(
            uniqueness = range_columns(&found.estimates, |e| e.uniqueness),
            uniqueness_mc_se = column(|e| e.uniqueness_se),
            correctness = range_columns(&found.estimates, |e| e.correctness),
            correctness_mc_se = column(|e| e.correctness_se),
            model_uniqueness = column(|e| e.model_uniqueness),
            ln_scale = moments(&found.posterior.shift),
            ln_spread = moments(&found.posterior.spread),
            subsets = shares,
            n_draws = found.n_draws as f64
        )
        .into())
    })
}

/// Uniqueness in a population on each of several sets of keys.
#[extendr]
fn rs_copula_subsets(model: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let model = model_of(&Named::new(&model, "model")?)?;
        let settings = Named::new(&settings, "settings")?;
        let sets = settings.index_lists("sets")?;
        if sets.iter().flatten().any(|&v| v >= model.n_keys()) {
            return Err(bad_call("sets"));
        }
        let size = settings.number("size")?;
        let seed = settings.seed("seed")?;
        let run = Run::new(&run)?;
        let found =
            run.watched(|monitor| uniqueness_of_sets(&model, &sets, size, seed, monitor))?;
        let column = |of: fn(&ModelShares) -> f64| found.iter().map(of).collect::<Vec<f64>>();
        Ok(list!(
            uniqueness = column(|e| e.0),
            uniqueness_mc_se = column(|e| e.1),
            correctness = column(|e| e.2)
        )
        .into())
    })
}

extendr_module! {
    mod copula;
    fn rs_copula_fit;
    fn rs_copula_subsets;
    fn rs_copula_population;
    fn rs_copula_simulate;
}
