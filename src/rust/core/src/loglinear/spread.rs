//! How far the true risk may lie from its estimate.
//!
//! Given the sample, the true `tau1` and `tau2` depend on the unseen rest of
//! the population; the estimate depends on the sample through the fit. Both
//! ways to the error `estimate - truth` take the fitted model as true.
//!
//! Bootstrap: the sample is drawn anew from the fit, records carrying weights
//! drawn from the file's; the rest of the population is drawn for its sample
//! uniques; the model is refitted. Intervals turn the quantiles of the error
//! on the scale of the square root, where counts have a constant spread.
//!
//! Delta method: the variance of the rest of the population given the sample,
//! and `deff (c' H^-1 c - c0^2 / n)` for the fit, where `H` is the information
//! matrix, `c` the derivative of the estimate by the parameters of the model,
//! `c0` that by the total, and `deff` the effect of unequal weights.

use hashbrown::HashMap;
use rand::rngs::ChaCha8Rng;
use rand::RngExt;
use rayon::prelude::*;

use super::cells::Cells;
use super::fitted::{taus, Fitted, Method, Sample};
use super::measures::{h1_slope, h2_slope, v1, v2};
use super::model::{in_words, Model};
use super::nested::Nested;
use super::optimise::inverse_form;
use super::poisson::poisson;
use super::tree::Sampler;
use crate::error::{Error, Result};
use crate::parallel::Monitor;
use crate::random::Streams;

/// Cells whose cumulated fit a bootstrap may hold.
const MOST_CELLS: f64 = 1e7;
/// Cell visits that an automatic choice spends on a bootstrap.
const AFFORDABLE: f64 = 4e8;
/// Passes a refit is taken to need.
const PASSES: f64 = 25.0;
const REFIT_TOLERANCE: f64 = 1e-4;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// The bootstrap where it is cheap, else the delta method.
    Automatic,
    /// The bootstrap.
    Bootstrap,
    /// The delta method.
    Delta,
}

/// Standard error and interval of `tau1` and `tau2`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// Standard errors.
    pub se: [f64; 2],
    /// Lower ends.
    pub low: [f64; 2],
    /// Upper ends.
    pub high: [f64; 2],
    /// Which way was taken.
    pub bootstrap: bool,
}

/// How an interval is made.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// What is asked.
    pub wanted: Wanted,
    /// Replicates of the bootstrap.
    pub n_boot: usize,
    /// Confidence level.
    pub level: f64,
    /// The standard normal quantile of `(1 + level) / 2`.
    pub normal: f64,
    /// Whether sampling fractions are those of cells.
    pub cell_fractions: bool,
}

/// The spread of the estimates `tau`.
pub fn spread(
    fitted: &Fitted,
    sample: &Sample,
    lambda: &[f64],
    settings: &Settings,
    streams: Streams,
    monitor: &Monitor,
) -> Result<Option<Spread>> {
    if settings.wanted == Wanted::Nothing {
        return Ok(None);
    }
    let tau = taus(sample, lambda);
    let uniques = sample.cells.uniques();
    let certain = uniques
        .iter()
        .all(|&cell| (1.0 - sample.cell_pi[cell]) * lambda[cell] <= 0.0);
    if certain {
        return Ok(Some(Spread {
            se: [0.0; 2],
            low: tau,
            high: tau,
            bootstrap: false,
        }));
    }
    let bootstrap = match settings.wanted {
        Wanted::Bootstrap => true,
        Wanted::Automatic => is_cheap(fitted, sample, settings.n_boot),
        _ => false,
    };
    let top = uniques.len() as f64;
    let out = if bootstrap {
        let errors = replicates(fitted, sample, settings, streams, monitor)?;
        from_replicates(&errors, tau, top, settings.level)
    } else {
        delta(fitted, sample, lambda, settings, monitor)?
    };
    Ok(Some(out))
}

fn is_cheap(fitted: &Fitted, sample: &Sample, n_boot: usize) -> bool {
    let draws = sample.cells.n_records() * (sample.cells.sizes().len() as f64 + 15.0);
    let refit = match fitted.method {
        Method::Closed => fitted.pass_cells(),
        Method::Tree => 3.0 * PASSES * fitted.pass_cells(),
        Method::Nested => PASSES * fitted.pass_cells(),
    };
    n_boot as f64 * (draws + refit) <= AFFORDABLE && can_draw(fitted)
}

fn can_draw(fitted: &Fitted) -> bool {
    match fitted.method {
        Method::Nested => fitted.model.n_table() <= MOST_CELLS,
        _ => fitted.model.n_table() <= 1e37,
    }
}

/// Draws cells from a fit.
enum Draws<'t> {
    Tree(Sampler<'t>),
    Table {
        cumulative: Vec<f64>,
        sizes: Vec<usize>,
    },
}

impl Draws<'_> {
    fn draw(&self, rng: &mut ChaCha8Rng, codes: &mut [u32]) {
        match self {
            Draws::Tree(sampler) => sampler.draw(|| rng.random::<f64>(), codes),
            Draws::Table { cumulative, sizes } => {
                let end = cumulative[cumulative.len() - 1];
                let at = rng.random::<f64>() * end;
                let mut cell = cumulative
                    .partition_point(|&c| c <= at)
                    .min(cumulative.len() - 1);
                for (code, &size) in codes.iter_mut().zip(sizes).rev() {
                    *code = (cell % size) as u32;
                    cell /= size;
                }
            }
        }
    }
}

/// The estimates and the truths of all replicates.
fn replicates(
    fitted: &Fitted,
    sample: &Sample,
    settings: &Settings,
    streams: Streams,
    monitor: &Monitor,
) -> Result<Vec<[(f64, f64); 2]>> {
    if !can_draw(fitted) {
        return Err(Error::TooLarge(format!(
            "A bootstrap needs a table of at most {} cells, not {}. \
             The delta method needs none: `interval = \"delta\"`.",
            in_words(MOST_CELLS),
            in_words(fitted.model.n_table())
        )));
    }
    let (done, _) = monitor.progress();
    monitor.set_total(done + settings.n_boot as u64);
    let run = |draws: &Draws| -> Result<Vec<[(f64, f64); 2]>> {
        (0..settings.n_boot as u64)
            .into_par_iter()
            .map(|b| {
                monitor.check()?;
                let mut rng = streams.block(b);
                let out = replicate(fitted, sample, settings, draws, &mut rng, monitor);
                monitor.advance(1);
                out
            })
            .collect()
    };
    let on_tree = fitted.with_tables(|tables, of| run(&Draws::Tree(tables.sampler(of))));
    match on_tree {
        Some(errors) => errors,
        None => {
            let mut cumulative = Nested::new(&fitted.model).table(&fitted.u, monitor)?;
            let mut sum = 0.0;
            for x in &mut cumulative {
                sum += *x;
                *x = sum;
            }
            run(&Draws::Table {
                cumulative,
                sizes: fitted.model.sizes().to_vec(),
            })
        }
    }
}

fn replicate(
    fitted: &Fitted,
    sample: &Sample,
    settings: &Settings,
    draws: &Draws,
    rng: &mut ChaCha8Rng,
    monitor: &Monitor,
) -> Result<[(f64, f64); 2]> {
    let cells = draw_cells(&fitted.model, sample.cells, draws, rng);
    let drawn = sample_of(&cells, sample.pi, settings.cell_fractions, sample.max_cells);
    let u = fitted.refit(&drawn, REFIT_TOLERANCE, monitor)?;
    let lambda: Vec<f64> = (0..cells.len())
        .map(|cell| fitted.model.at(&u, cells.codes(cell)) / sample.pi)
        .collect();
    let estimate = taus(&drawn, &lambda);
    let mut truth = [0.0; 2];
    for cell in cells.uniques() {
        let rest = (1.0 - sample.pi) * fitted.model.at(&fitted.u, cells.codes(cell)) / sample.pi;
        let others = poisson(rest, rng);
        truth[0] += f64::from(others < 0.5);
        truth[1] += 1.0 / (1.0 + others);
    }
    Ok([(estimate[0], truth[0]), (estimate[1], truth[1])])
}

/// As many records as the file has, drawn from the fit.
fn draw_cells(model: &Model, like: &Cells, draws: &Draws, rng: &mut ChaCha8Rng) -> Cells {
    let sizes = model.sizes();
    let mut code = vec![0u32; sizes.len()];
    let mut places: HashMap<u128, usize> = HashMap::new();
    let (mut codes, mut counts, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..like.n_records() as u64 {
        draws.draw(rng, &mut code);
        let number = code
            .iter()
            .zip(sizes)
            .fold(0u128, |at, (&c, &size)| at * size as u128 + u128::from(c));
        let weight = if like.equal_weights() {
            1.0
        } else {
            like.weight_at(rng.random())
        };
        let place = *places.entry(number).or_insert_with(|| {
            codes.extend_from_slice(&code);
            counts.push(0.0);
            weights.push(0.0);
            counts.len() - 1
        });
        counts[place] += 1.0;
        weights[place] += weight;
    }
    like.simulated(codes, counts, weights)
}

/// The sample that cells make, its weights scaled to the number of records.
pub fn sample_of(cells: &Cells, pi: f64, cell_fractions: bool, max_cells: f64) -> Sample<'_> {
    let scale = cells.n_records() / cells.weights().iter().sum::<f64>();
    let weights: Vec<f64> = cells.weights().iter().map(|w| w * scale).collect();
    let cell_pi = if cell_fractions {
        let ratio = cells.counts().iter().zip(&weights);
        ratio.map(|(f, w)| (pi * f / w).min(1.0)).collect()
    } else {
        vec![pi; cells.len()]
    };
    Sample {
        cells,
        pi,
        cell_pi,
        weights,
        max_cells,
    }
}

fn from_replicates(errors: &[[(f64, f64); 2]], tau: [f64; 2], top: f64, level: f64) -> Spread {
    let mut out = Spread {
        se: [0.0; 2],
        low: tau,
        high: tau,
        bootstrap: true,
    };
    let n = errors.len() as f64;
    for i in 0..2 {
        let differences: Vec<f64> = errors.iter().map(|e| e[i].0 - e[i].1).collect();
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        out.se[i] = (squares / (n - 1.0)).sqrt();
        let mut roots: Vec<f64> = errors
            .iter()
            .map(|e| e[i].0.sqrt() - e[i].1.sqrt())
            .collect();
        roots.sort_by(f64::total_cmp);
        let at = |p: f64| {
            let place = p * (n - 1.0);
            let below = place.floor() as usize;
            let above = (below + 1).min(roots.len() - 1);
            roots[below] + (place - place.floor()) * (roots[above] - roots[below])
        };
        let end = |p: f64| (tau[i].sqrt() - at(p)).max(0.0).powi(2).min(top);
        out.low[i] = end((1.0 + level) / 2.0);
        out.high[i] = end((1.0 - level) / 2.0);
    }
    out
}

fn delta(
    fitted: &Fitted,
    sample: &Sample,
    lambda: &[f64],
    settings: &Settings,
    monitor: &Monitor,
) -> Result<Spread> {
    let cells = sample.cells;
    let uniques = cells.uniques();
    let tau = taus(sample, lambda);
    let top = uniques.len() as f64;
    let deff = cells.weighting_effect();
    let mut out = Spread {
        se: [0.0; 2],
        low: tau,
        high: tau,
        bootstrap: false,
    };
    let q = |cell: usize| (1.0 - sample.cell_pi[cell]) * lambda[cell];
    let slopes: [fn(f64) -> f64; 2] = [h1_slope, h2_slope];
    let variances: [fn(f64) -> f64; 2] = [v1, v2];
    let is_unique: Vec<bool> = cells.counts().iter().map(|&f| f < 1.5).collect();
    let forms = fitted.with_pass(|pass| {
        let margins = pass.margins(&fitted.u, monitor)?;
        let mut forms = [0.0; 2];
        for i in 0..2 {
            let slope = |cell: usize| {
                if is_unique[cell] {
                    slopes[i](q(cell))
                } else {
                    0.0
                }
            };
            let c = fitted.model.margins(cells, slope);
            forms[i] = inverse_form(pass, &margins, &fitted.u, &c, monitor)?;
        }
        Ok(forms)
    })?;
    for i in 0..2 {
        let total: f64 = uniques.iter().map(|&cell| slopes[i](q(cell))).sum();
        let of_fit = deff * (forms[i] - total * total / cells.n_records()).max(0.0);
        let of_rest: f64 = uniques.iter().map(|&cell| variances[i](q(cell))).sum();
        out.se[i] = (of_fit + of_rest).sqrt();
        // On the scale of the square root.
        let root = tau[i].sqrt();
        let reach = settings.normal * out.se[i] / (2.0 * root);
        out.low[i] = (root - reach).max(0.0).powi(2);
        out.high[i] = (root + reach).powi(2).min(top);
    }
    Ok(out)
}
