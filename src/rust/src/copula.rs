//! `copula_fit()` and what draws from a fit: parts in, numbers out.

use extendr_api::prelude::*;
use sdcrisk_core::copula::{
    fit, judge, uniqueness_of_sets, Family, Margin, Marginals, Model, ModelShares, Moments, Order,
    PairTable, PopulationEstimate as Estimate, PopulationSettings, Range, Sample, Sampler, Seen,
    Settings,
};
use sdcrisk_core::{Monitor, Result, Weights};

use crate::convert::{
    count, double_vectors, doubles, indices, list, matrix_to_r, seed, square, text, Run,
};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// R's places, counted from 1, per key.
fn places(x: &Robj, name: &str) -> Result<Vec<Vec<u32>>> {
    list(x, name)?
        .values()
        .map(|places| {
            let places = indices(&places, name)?;
            Ok(places.into_iter().map(|p| p as u32).collect())
        })
        .collect()
}

fn flag(x: &Robj, name: &str) -> Result<bool> {
    x.as_bool().ok_or_else(|| bad_call(name))
}

/// The model of a fit as R holds it.
pub fn model_of(shares: &Robj, orders: &Robj, correlation: &Robj) -> Result<Model> {
    Model::new(
        double_vectors(shares, "shares")?,
        places(orders, "orders")?,
        square(correlation, "correlation")?,
    )
}

fn order_of(order: &Robj, draws: &Robj) -> Result<Order> {
    Ok(match text(order, "order")? {
        "scaling" => Order::Scaling,
        "natural" => Order::Natural,
        "frequency" => Order::Frequency,
        "random" => Order::Random(seed(draws, "seed")?),
        _ => return Err(bad_call("order")),
    })
}

/// How a model is fitted, as R says it: a list of one entry per setting.
pub fn settings_of(x: &Robj) -> Result<Settings> {
    let given = list(x, "settings")?;
    let named: Vec<(&str, Robj)> = given.iter().collect();
    let get = |name: &'static str| {
        let entry = named.iter().find(|(known, _)| *known == name);
        entry.map(|(_, value)| value).ok_or_else(|| bad_call(name))
    };
    let nominal = get("nominal")?
        .as_logical_slice()
        .ok_or_else(|| bad_call("nominal"))?
        .iter()
        .map(|l| l.is_true())
        .collect();
    let shares = list(get("exogenous_shares")?, "exogenous")?;
    let natural = list(get("exogenous_places")?, "exogenous")?;
    let exogenous = shares
        .values()
        .zip(natural.values())
        .map(|(shares, places)| {
            if shares.is_null() {
                return Ok(None);
            }
            let places = indices(&places, "exogenous")?;
            let places = places.into_iter().map(|p| p as u32).collect();
            Ok(Some((doubles(&shares, "exogenous")?.to_vec(), places)))
        })
        .collect::<Result<_>>()?;
    let correlation = get("correlation")?;
    Ok(Settings {
        order: order_of(get("order")?, get("seed")?)?,
        nominal,
        marginals: match text(get("marginals")?, "marginals")? {
            "auto" => Marginals::Auto,
            _ => Marginals::Empirical,
        },
        exogenous,
        correlation: if correlation.is_null() {
            None
        } else {
            Some(square(correlation, "correlation")?)
        },
        signed: flag(get("signed")?, "signed")?,
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

/// A two-way table as a matrix: whole numbers as integers where they are.
fn pair_matrix(table: &PairTable, whole: bool) -> Result<Robj> {
    if whole {
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

/// Fits a copula to the records of a table.
#[extendr]
fn rs_copula_fit(table: Robj, weights: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = settings_of(&settings)?;
        let run = Run::new(&run)?;
        let weights = if weights.is_null() {
            None
        } else {
            Some(doubles(&weights, "weights")?)
        };
        with_table(&table, |table| {
            let d = table.columns().len() as u64;
            if settings.nominal.len() as u64 != d || settings.exogenous.len() as u64 != d {
                return Err(bad_call("settings"));
            }
            let weights = weights
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let (sample, found, sizes) = run.watched(|monitor| {
                monitor.set_total(d * (d - 1) + 1);
                let sample = Sample::count(table.columns(), weights, monitor)?;
                let found = fit(&sample, &settings, monitor)?;
                Ok((sample, found, table.group(monitor)?.sizes()))
            })?;
            let pairs = (sample.tables.iter())
                .map(|table| pair_matrix(table, weights.is_none()))
                .collect::<Result<Vec<Robj>>>()?;
            Ok(list!(
                shares = List::from_values(&found.model.shares),
                orders = one_based(&found.model.orders),
                correlation = matrix_to_r(&found.model.correlation)?,
                margins = margin_columns(&found.margins),
                counts = List::from_values(&sample.counts),
                n_effective = sample.n,
                pairs = List::from_values(pairs),
                information = found.information.clone(),
                expected = found.expected.clone(),
                rho = found.roots.iter().map(|r| r.rho).collect::<Vec<f64>>(),
                at_bound = found
                    .roots
                    .iter()
                    .map(|r| r.at_bound)
                    .collect::<Vec<bool>>(),
                least_eigenvalue = found.projection.least_eigenvalue,
                largest_change = found.projection.largest_change,
                steps = found.projection.steps as f64,
                cell_size = sizes.keys().map(|&s| s as f64).collect::<Vec<f64>>(),
                cell_times = sizes.values().map(|&t| f64::from(t)).collect::<Vec<f64>>()
            )
            .into())
        })
    })
}

/// Categories, counted from 1, of records drawn from a model.
#[extendr]
fn rs_copula_simulate(
    shares: Robj,
    orders: Robj,
    correlation: Robj,
    n: Robj,
    draws: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let model = model_of(&shares, &orders, &correlation)?;
        let n = count(&n, "n")?;
        let seed = seed(&draws, "seed")?;
        let run = Run::new(&run)?;
        let records =
            run.watched(|monitor: &Monitor| Sampler::new(&model)?.records(n, seed, monitor))?;
        Ok(one_based(&records))
    })
}

/// A number of R.
fn number(x: &Robj, name: &str) -> Result<f64> {
    x.as_real().ok_or_else(|| bad_call(name))
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

/// Uniqueness and correctness in populations of several sizes. `seen` holds the
/// numbers of records, of unique and of distinct ones.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_copula_population(
    shares: Robj,
    orders: Robj,
    correlation: Robj,
    sizes: Robj,
    seen: Robj,
    calibrated: Robj,
    bounded: Robj,
    level: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let model = model_of(&shares, &orders, &correlation)?;
        let sizes = doubles(&sizes, "sizes")?;
        let &[n, single, distinct] = doubles(&seen, "seen")? else {
            return Err(bad_call("seen"));
        };
        let settings = PopulationSettings {
            seen: Seen {
                n,
                single,
                distinct,
            },
            calibrated: flag(&calibrated, "calibrated")?,
            bounded: flag(&bounded, "bounded")?,
            level: number(&level, "level")?,
        };
        let run = Run::new(&run)?;
        let found = run.watched(|monitor| judge(&model, sizes, &settings, monitor))?;
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
            n_draws = found.n_draws as f64
        )
        .into())
    })
}

/// Uniqueness in a population on each of several sets of keys.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_copula_subsets(
    shares: Robj,
    orders: Robj,
    correlation: Robj,
    sets: Robj,
    size: Robj,
    draws: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let model = model_of(&shares, &orders, &correlation)?;
        let sets = list(&sets, "sets")?
            .values()
            .map(|set| indices(&set, "sets"))
            .collect::<Result<Vec<_>>>()?;
        if sets.iter().flatten().any(|&v| v >= model.n_keys()) {
            return Err(bad_call("sets"));
        }
        let size = number(&size, "size")?;
        let seed = seed(&draws, "seed")?;
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
