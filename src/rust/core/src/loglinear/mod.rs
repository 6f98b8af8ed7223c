//! Log-linear re-identification risk (Skinner and Shlomo 2008): which sample
//! uniques are unique in the population?
//!
//! # Model
//!
//! The key variables span a table of cells. A cell has `F` people in the
//! population and `f` records in the sample; `F ~ Poisson(lambda)`, and every
//! person is drawn with probability `pi`. So given `f = 1`, `F - 1` is Poisson
//! with mean `q = (1 - pi) lambda`, and
//!
//! ```text
//! P(F = 1 | f = 1) = exp(-q)            tau1 = sum of it over sample uniques
//! E(1 / F | f = 1) = (1 - exp(-q)) / q  tau2 likewise
//! ```
//!
//! `lambda` is fitted by a hierarchical log-linear model to the weighted table
//! (pseudo maximum likelihood). Whether the model is right is judged by the
//! criterion `B = sum over all cells of a e + b (e^2 - f)`, `e = f - pi lambda`,
//! an estimate of the bias of `tau` with a known variance (`measures`). The
//! same estimate corrects `tau`, and goes into its interval (`spread`).
//!
//! # How
//!
//! No table of all cells is kept where the model does not need one:
//! `fitted::choose` takes the closed form of a decomposable model, iterations
//! on a junction tree of a sparse one (`tree`), or nested passes over the
//! cells (`nested`), and refuses the rest.

mod cells;
mod clique;
mod fitted;
mod graph;
mod measures;
mod model;
mod moments;
mod nested;
mod optimise;
mod raked_tree;
mod raking;
mod risk;
mod search;
mod spread;
mod tree;

use crate::error::{in_lines, Error, Result};
use crate::fraction::SamplingFraction;
use crate::parallel::Monitor;

pub use cells::Cells;
pub use fitted::Fractions;
pub use optimise::{Report, CONVERGED};
pub use risk::Measures;
pub use search::{Step, Tried};
pub use spread::Spread;

use fitted::{Expected, Fitted, Sample};
use measures::{h1, h2};
use model::Model;
use risk::measures as measures_of;
use search::search;
use spread::spread;

/// Relative deviation of a margin down to which a fit is iterated: so far below
/// [`CONVERGED`] that the order of levels and records decides about neither
/// the figures nor the boundary.
const TOLERANCE: f64 = 1e-11;

/// The model that is fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Main effects only.
    Independence,
    /// All two-way interactions.
    TwoWay,
    /// The two-way interactions a forward search picks.
    Search,
    /// These interactions, of any order, and all main effects.
    Terms(Vec<Vec<usize>>),
}

/// Settings of a call.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model.
    pub choice: Choice,
    /// Overall sampling fraction; that of the weights where it is not known.
    pub fraction: Option<SamplingFraction>,
    /// Cells of a table beyond which a dense model is refused.
    pub max_cells: f64,
    /// The sampling fractions of cells.
    pub fractions: Fractions,
    /// The standard normal quantile of intervals, where they are wanted.
    pub normal: Option<f64>,
}

/// Result of a call.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Overall sampling fraction.
    pub fraction: SamplingFraction,
    /// Cells whose weights sum to less than their records.
    pub n_below: usize,
    /// The file-level measures.
    pub measures: Measures,
    /// Their spread, where asked for.
    pub spread: Option<Spread>,
    /// Expected population count of every occupied cell.
    pub lambda: Vec<f64>,
    /// `h1` of every occupied cell, 0 but in sample uniques.
    pub h1: Vec<f64>,
    /// `h2` likewise.
    pub h2: Vec<f64>,
    /// Number of sample uniques.
    pub n_unique: usize,
    /// Sample uniques that are the only record on a margin of the model.
    pub n_alone: usize,
    /// Cells of the model's margins without a record.
    pub n_zero_margins: usize,
    /// Cells of the model's margins.
    pub n_parameters: usize,
    /// Terms of highest order, as key variables of the data.
    pub terms: Vec<Vec<usize>>,
    /// Method of the fit.
    pub method: &'static str,
    /// Course of the fit.
    pub report: Report,
    /// The search, where there was one.
    pub path: Vec<Step>,
    /// Models the search fitted and did not take.
    pub tried: Vec<Tried>,
    /// Candidates of the search that were too large.
    pub n_too_large: usize,
}

/// Fits a model and measures the risk.
pub fn analyse(cells: &Cells, request: &Request, monitor: &Monitor) -> Result<Analysis> {
    monitor.check()?;
    let fraction = match request.fraction {
        Some(fraction) => fraction,
        None => SamplingFraction::of_weights(cells.n_records(), cells.weights().iter().sum())?,
    };
    let pi = fraction.get();
    let n_below = n_below(cells, pi, request.fractions)?;
    let sample = Sample::new(cells, pi, request.fractions, request.max_cells);
    let place = |terms: &[Vec<usize>]| -> Vec<Vec<usize>> {
        let of = |t: &Vec<usize>| t.iter().map(|&v| cells.place_of(v)).collect();
        terms.iter().map(of).collect()
    };
    let fit = |terms: &[Vec<usize>]| {
        let model = Model::new(cells.sizes(), terms)?;
        Fitted::new(&sample, model, TOLERANCE, monitor)
    };
    let (mut path, mut tried, mut n_too_large) = (Vec::new(), Vec::new(), 0);
    let fitted = match &request.choice {
        Choice::Independence => fit(&[])?,
        Choice::TwoWay => fit(&Model::pairs(cells.sizes().len()))?,
        Choice::Terms(terms) => fit(&place(terms))?,
        Choice::Search => {
            let found = search(&sample, monitor)?;
            path = found.path;
            tried = found.tried;
            n_too_large = found.n_too_large;
            found.fitted
        }
    };
    let expected = fitted.expected(&sample, monitor)?;
    let measures = measures_of(&fitted, &sample, &expected, monitor)?;
    let spread = match request.normal {
        None => None,
        Some(normal) => {
            let as_asked = (&fitted, &sample, &expected, &measures);
            Some(spread_of(as_asked, normal, monitor)?)
        }
    };
    let uniques = cells.uniques();
    let risk = |h: fn(f64) -> f64| -> Vec<f64> {
        let mut risk = vec![0.0; cells.len()];
        for &cell in &uniques {
            risk[cell] = h(expected.rest(cell));
        }
        risk
    };
    let counts = fitted.model.margins(cells, |cell| cells.counts()[cell]);
    let alone = |cell: &&usize| {
        let codes = cells.codes(**cell);
        let generators = fitted.model.generators();
        generators.iter().any(|g| counts[g.index(codes)] < 1.5)
    };
    for step in &mut path {
        step.added = step.added.map(|pair| pair.map(|v| cells.variable_at(v)));
    }
    for one in &mut tried {
        one.added = one.added.map(|v| cells.variable_at(v));
    }
    Ok(Analysis {
        fraction,
        n_below,
        h1: risk(h1),
        h2: risk(h2),
        n_unique: uniques.len(),
        n_alone: uniques.iter().filter(alone).count(),
        n_zero_margins: counts.iter().filter(|&&c| c < 0.5).count(),
        n_parameters: fitted.model.n_parameters(),
        terms: terms_of_data(&fitted.model, cells),
        method: fitted.method.name(),
        report: fitted.report,
        measures,
        spread,
        lambda: expected.lambda,
        path,
        tried,
        n_too_large,
    })
}

/// The terms of a model in the key variables of the data.
fn terms_of_data(model: &Model, cells: &Cells) -> Vec<Vec<usize>> {
    let variables = |term: Vec<usize>| -> Vec<usize> {
        let mut variables: Vec<usize> = term.iter().map(|&v| cells.variable_at(v)).collect();
        variables.sort_unstable();
        variables
    };
    let mut terms: Vec<Vec<usize>> = model.terms().into_iter().map(variables).collect();
    terms.sort();
    terms
}

/// In how many cells the weights, scaled to the population, sum to less than the
/// records: fractions by cell would exceed 1 there.
fn n_below(cells: &Cells, pi: f64, fractions: Fractions) -> Result<usize> {
    let scale = cells.n_records() / pi / cells.weights().iter().sum::<f64>();
    let pairs = cells.counts().iter().zip(cells.weights());
    let below = pairs
        .filter(|(&f, &w)| f > w * scale * (1.0 + 1e-9))
        .count();
    if fractions == Fractions::Cell && below > 0 {
        return Err(Error::BadWeights(in_lines(
            "The weights in a cell must sum to at least its number of records for \
             `sampling = \"cell\"`.",
            &format!(
                "In {below} cell{} they do not.",
                if below == 1 { "" } else { "s" }
            ),
            "Take `sampling = \"raked\"`, which does not need this.",
        )));
    }
    Ok(below)
}

/// The spread by raked fractions, for which the criterion is that of the fit
/// whatever the weights; other fractions have the same model fitted again.
fn spread_of(
    (fitted, sample, expected, measures): (&Fitted, &Sample, &Expected, &Measures),
    normal: f64,
    monitor: &Monitor,
) -> Result<Spread> {
    let cells = sample.cells;
    if cells.equal_weights() || fitted.effects.is_some() {
        return spread(fitted, sample, expected, measures, normal, monitor);
    }
    let raked = Sample::new(cells, sample.pi, Fractions::Raked, sample.max_cells);
    let fitted = Fitted::new(&raked, fitted.model.clone(), TOLERANCE, monitor)?;
    let expected = fitted.expected(&raked, monitor)?;
    let measures = measures_of(&fitted, &raked, &expected, monitor)?;
    spread(&fitted, &raked, &expected, &measures, normal, monitor)
}

#[cfg(test)]
mod small_table_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny_tests;
