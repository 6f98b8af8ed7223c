//! A fitted model, by whichever way its structure allows, and its expectations.

use super::cells::Cells;
use super::graph::Tree;
use super::measures::Terms;
use super::model::{in_words, too_large, Model};
use super::moments::LikeCells;
use super::nested::Nested;
use super::optimise::{fit, Margins, Report};
use super::raking::{effect_at, first_effects, multiply_in, one_way, rake, Effects};
use super::tree::{Conditionals, Tables};
use crate::error::Result;
use crate::parallel::Monitor;

/// Cells of all clique tables beyond which a junction tree is not used.
const MOST_CLIQUE_CELLS: f64 = 2e7;

/// Cells of a table, per occupied one, up to which all are passed over for the risk.
const CELLS_PER_OCCUPIED: f64 = 8.0;

/// Sample uniques beyond which sums over bins of them are faster: all bins have as many nodes.
const MANY_UNIQUES: usize = 10_000;

/// Method of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Closed form of a decomposable model.
    Closed,
    /// Iterations on a junction tree.
    Tree,
    /// Iterations of nested passes over all cells.
    Nested,
}

impl Method {
    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            Method::Closed => "closed_form",
            Method::Tree => "junction_tree",
            Method::Nested => "nested_pass",
        }
    }
}

/// Source of the sampling fractions of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fractions {
    /// One for all cells.
    Overall,
    /// In an occupied cell its records over the sum of their weights.
    Cell,
    /// Raked to the weighted one-way margins, see [`super::raking`].
    Raked,
}

/// A sample with its scale: the weights sum to the number of records, and a
/// fitted count stands for `1 / pi` people.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The occupied cells.
    pub cells: &'a Cells,
    /// Overall sampling fraction.
    pub pi: f64,
    /// Values to which the model is fitted.
    pub values: Vec<f64>,
    /// Cells of the table beyond which it is not passed over.
    pub max_cells: f64,
    /// Places of the occupied cells in the table of all, ascending, and the cells, where the
    /// table is so small that one pass over it gives all of them fastest.
    pub places: Option<(Vec<usize>, Vec<usize>)>,
    /// The sample uniques.
    pub uniques: Vec<usize>,
    fractions: Fractions,
    /// The weights scaled to the number of records.
    weights: Vec<f64>,
    /// The weighted one-way margins, and the effects to begin raking with.
    raking: Option<(Effects, Effects)>,
}

impl<'a> Sample<'a> {
    /// The sample that cells make, its weights scaled to the number of records.
    pub fn new(cells: &'a Cells, pi: f64, fractions: Fractions, max_cells: f64) -> Self {
        let scale = cells.n_records() / cells.weights().iter().sum::<f64>();
        let weights: Vec<f64> = cells.weights().iter().map(|w| w * scale).collect();
        // With equal weights, or of a census, raked fractions are the overall one.
        let raked = fractions == Fractions::Raked && !cells.equal_weights() && pi < 1.0;
        let raking = raked.then(|| {
            let target = one_way(cells, |cell| weights[cell]);
            let counts = one_way(cells, |cell| cells.counts()[cell]);
            let first = first_effects(&target, &counts);
            (target, first)
        });
        Self {
            cells,
            pi,
            values: if raked {
                cells.counts().to_vec()
            } else {
                weights.clone()
            },
            max_cells,
            places: (cells.n_table() <= CELLS_PER_OCCUPIED * cells.len() as f64)
                .then(|| cells.places().into_iter().unzip()),
            uniques: cells.uniques(),
            fractions,
            weights,
            raking,
        }
    }
}

/// Expectations of a fit in the occupied cells.
#[derive(Debug, Clone)]
pub struct Expected {
    /// People in the population.
    pub lambda: Vec<f64>,
    /// Sampling fractions.
    pub pi: Vec<f64>,
    /// The cells without records, where the table is small.
    empty: Option<LikeCells>,
    /// The sample uniques, where they are many and have one sampling fraction.
    pub uniques: Option<LikeCells>,
}

impl Expected {
    /// People beside the records of a cell.
    pub fn rest(&self, cell: usize) -> f64 {
        (1.0 - self.pi[cell]) * self.lambda[cell]
    }
}

/// A model with the parameters of its fit, on the scale of the sample.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The product of these over generators is the fitted count.
    pub u: Vec<f64>,
    /// Method of the fit.
    pub method: Method,
    /// Course of the fit.
    pub report: Report,
    /// The factors that rake the fit, where fractions are raked.
    pub effects: Option<Effects>,
    tree: Tree,
    /// The data's margins on the generators.
    target: Vec<f64>,
}

struct TreePass<'a>(Tables<'a>);

impl Margins for TreePass<'_> {
    fn margins(&self, u: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        monitor.check()?;
        Ok(self.0.margins(u))
    }
}

impl Margins for Nested<'_> {
    fn margins(&self, u: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        Nested::margins(self, u, monitor)
    }
}

/// The way to fit a model, or the refusal of its table.
pub fn choose(model: &Model, tree: &Tree, max_cells: f64) -> Result<Method> {
    let n_table = model.n_table();
    let fits = tree.n_cells <= MOST_CLIQUE_CELLS;
    if tree.decomposable && fits {
        return Ok(Method::Closed);
    }
    // A cell of a clique costs about three of a nested pass.
    if fits && 3.0 * tree.n_cells < n_table {
        return Ok(Method::Tree);
    }
    if n_table <= max_cells {
        return Ok(Method::Nested);
    }
    Err(too_large(
        &format!(
            "A table without a sparse model must have at most {} cells.",
            in_words(max_cells)
        ),
        &format!("It has {}.", in_words(n_table)),
    ))
}

impl Fitted {
    /// Fits `model` to a sample.
    pub fn new(sample: &Sample, model: Model, tolerance: f64, monitor: &Monitor) -> Result<Self> {
        Self::fit(sample, model, None, tolerance, monitor)
    }

    /// Fits a model that contains this one to the same sample, from here on.
    pub fn extended(
        &self,
        sample: &Sample,
        model: Model,
        tolerance: f64,
        monitor: &Monitor,
    ) -> Result<Self> {
        Self::fit(sample, model, Some(self), tolerance, monitor)
    }

    fn fit(
        sample: &Sample,
        model: Model,
        smaller: Option<&Self>,
        tolerance: f64,
        monitor: &Monitor,
    ) -> Result<Self> {
        let tree = Tree::new(&model);
        let method = choose(&model, &tree, sample.max_cells)?;
        let cells = sample.cells;
        let weights = |cell: usize| sample.values[cell];
        let target = match smaller {
            Some(smaller) => extend_margins(smaller, &model, cells, weights),
            None => model.margins(cells, weights),
        };
        let (u, mut report) = match method {
            Method::Closed => {
                let tables = Tables::new(&model, &tree);
                let u = tables.parameters(&tables.closed_form(&target));
                (u, Report::default())
            }
            _ => {
                let mut u = match smaller {
                    Some(smaller) => extend(&smaller.model, &smaller.u, &model),
                    None => independence(&model, cells, weights),
                };
                let report = with_pass(&model, &tree, method, |pass| {
                    fit(pass, &target, &mut u, tolerance, &model.ranges(), monitor)
                })?;
                (u, report)
            }
        };
        let effects = match &sample.raking {
            None => None,
            Some((target, first)) => {
                let start = smaller.and_then(|s| s.effects.as_ref()).unwrap_or(first);
                let (effects, raked) = with_pass(&model, &tree, method, |pass| {
                    rake(&model, &u, pass, target, start, monitor)
                })?;
                report.deviation = report.deviation.max(raked.deviation);
                Some(effects)
            }
        };
        Ok(Self {
            model,
            u,
            method,
            report,
            effects,
            tree,
            target,
        })
    }

    /// Runs `work` with a way to compute margins.
    pub fn with_pass<T>(&self, work: impl FnOnce(&dyn Margins) -> Result<T>) -> Result<T> {
        with_pass(&self.model, &self.tree, self.method, work)
    }

    /// The junction tree's tables and the distribution on them, where the
    /// model was fitted so.
    pub fn with_tables<T>(&self, work: impl FnOnce(&Tables, &Conditionals) -> T) -> Option<T> {
        (self.method != Method::Nested).then(|| {
            let tables = Tables::new(&self.model, &self.tree);
            let conditionals = tables.conditionals(&self.u);
            work(&tables, &conditionals)
        })
    }

    /// Expectations in the occupied cells.
    pub fn expected(&self, sample: &Sample, monitor: &Monitor) -> Result<Expected> {
        let cells = sample.cells;
        let (mut lambda, empty) = match self.by_pass(sample, monitor)? {
            Some((lambda, empty)) => (lambda, Some(empty)),
            None => (self.values(cells, sample.pi), None),
        };
        let pi = match (&self.effects, sample.fractions) {
            (Some(effects), _) => {
                // Nobody is drawn with a probability above 1.
                let raise = |(cell, x): (usize, &mut f64)| {
                    let factor = effect_at(effects, cells.codes(cell)).max(sample.pi);
                    *x *= factor;
                    (sample.pi / factor).min(1.0)
                };
                lambda.iter_mut().enumerate().map(raise).collect()
            }
            (None, Fractions::Cell) => {
                let ratio = cells.counts().iter().zip(&sample.weights);
                ratio.map(|(f, w)| (sample.pi * f / w).min(1.0)).collect()
            }
            _ => vec![sample.pi; cells.len()],
        };
        let many = sample.uniques.len() > MANY_UNIQUES;
        let mut uniques = None;
        if many && empty.is_some() && sample.fractions != Fractions::Cell {
            let own: Vec<f64> = sample.uniques.iter().map(|&cell| lambda[cell]).collect();
            if LikeCells::have_bins(&own) {
                let mut binned = LikeCells::new(sample.pi, 1.0);
                binned.add(1.0, &own);
                uniques = Some(binned);
            }
        }
        Ok(Expected {
            lambda,
            pi,
            empty,
            uniques,
        })
    }

    /// The expected counts of occupied cells, and all others as empty ones, by one pass over
    /// a small table.
    fn by_pass(&self, sample: &Sample, monitor: &Monitor) -> Result<Option<(Vec<f64>, LikeCells)>> {
        let (Some((places, occupied)), None) = (&sample.places, &self.effects) else {
            return Ok(None);
        };
        let (scale, pass) = (1.0 / sample.pi, Nested::new(&self.model));
        let (values, empty) = pass.values_and_others(&self.u, scale, sample.pi, places, monitor)?;
        // A part of a product may leave the range of numbers, though the whole does not.
        if !values.iter().all(|x| x.is_finite()) {
            return Ok(None);
        }
        let mut lambda = vec![0.0; values.len()];
        for (&cell, value) in occupied.iter().zip(values) {
            lambda[cell] = value;
        }
        Ok(Some((lambda, empty)))
    }

    /// The expected counts of occupied cells, one by one.
    fn values(&self, cells: &Cells, pi: f64) -> Vec<f64> {
        let mut lambda = self
            .with_tables(|tables, of| tables.values(of, cells))
            .unwrap_or_else(|| {
                let at = |cell| self.model.at(&self.u, cells.codes(cell));
                (0..cells.len()).map(at).collect()
            });
        lambda.iter_mut().for_each(|x| *x /= pi);
        lambda
    }

    /// The terms of the criterion summed over all cells of the table.
    pub fn terms(&self, sample: &Sample, expected: &Expected, monitor: &Monitor) -> Result<Terms> {
        let mut terms = match (&self.effects, &expected.empty) {
            (Some(effects), _) => self.raked_terms(sample, effects, expected, monitor)?,
            (None, Some(empty)) => empty.terms(),
            (None, None) => {
                let mut empty = self.empty_cells(sample.pi, monitor)?;
                empty.remove(&expected.lambda);
                empty.terms()
            }
        };
        if let Some(uniques) = &expected.uniques {
            terms.add(&uniques.terms());
        }
        for (cell, (&lambda, &pi)) in expected.lambda.iter().zip(&expected.pi).enumerate() {
            let count = sample.cells.counts()[cell];
            if count > 1.5 || expected.uniques.is_none() {
                terms.add(&Terms::of_cell(lambda, pi, count));
            }
        }
        Ok(terms)
    }

    /// All cells as empty ones, with one sampling fraction.
    fn empty_cells(&self, pi: f64, monitor: &Monitor) -> Result<LikeCells> {
        match self.with_tables(|tables, of| tables.cells(of, 1.0 / pi, pi, monitor)) {
            Some(cells) => cells,
            None => Nested::new(&self.model).cells(&self.u, 1.0 / pi, pi, monitor),
        }
    }

    /// The terms of the cells without records, with raked fractions.
    fn raked_terms(
        &self,
        sample: &Sample,
        effects: &Effects,
        expected: &Expected,
        monitor: &Monitor,
    ) -> Result<Terms> {
        let scale = 1.0 / sample.pi;
        let on_tree =
            self.with_tables(|tables, of| tables.raked_terms(of, scale, effects, monitor));
        let mut terms = match on_tree {
            Some(terms) => terms?,
            None => Nested::new(&self.model).raked_terms(&self.u, scale, effects, monitor)?,
        };
        for (&lambda, &pi) in expected.lambda.iter().zip(&expected.pi) {
            terms.subtract(&Terms::of_empty_cell(pi * lambda, lambda));
        }
        Ok(terms)
    }
}

fn with_pass<T>(
    model: &Model,
    tree: &Tree,
    method: Method,
    work: impl FnOnce(&dyn Margins) -> Result<T>,
) -> Result<T> {
    match method {
        Method::Nested => work(&Nested::new(model)),
        _ => work(&TreePass(Tables::new(model, tree))),
    }
}

/// Parameters of the independence model.
fn independence(model: &Model, cells: &Cells, values: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut effects = one_way(cells, values);
    let total: f64 = effects.first().map_or(0.0, |e| e.iter().sum());
    for effect in effects.iter_mut().skip(1) {
        effect.iter_mut().for_each(|x| *x /= total);
    }
    let mut u = vec![1.0; model.n_parameters()];
    multiply_in(model, &mut u, &effects);
    u
}

/// The data's margins on a model that contains a fitted one.
fn extend_margins(
    smaller: &Fitted,
    larger: &Model,
    cells: &Cells,
    values: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut margins = vec![0.0; larger.n_parameters()];
    for generator in larger.generators() {
        let known = smaller.model.generators();
        let margin = &mut margins[generator.offset..][..generator.len];
        if let Some(same) = known.iter().find(|g| g.vars == generator.vars) {
            margin.copy_from_slice(&smaller.target[same.offset..][..same.len]);
            continue;
        }
        for cell in 0..cells.len() {
            margin[generator.index(cells.codes(cell)) - generator.offset] += values(cell);
        }
    }
    margins
}

/// The parameters of `larger` that give the fit of `smaller`, a model it
/// contains.
fn extend(smaller: &Model, u: &[f64], larger: &Model) -> Vec<f64> {
    let mut out = vec![1.0; larger.n_parameters()];
    for part in smaller.generators() {
        let home = larger
            .generators()
            .iter()
            .find(|g| part.vars.iter().all(|v| g.vars.contains(v)));
        let Some(home) = home else { continue };
        let sizes: Vec<usize> = home.vars.iter().map(|&v| larger.sizes()[v]).collect();
        let strides: Vec<usize> = home.vars.iter().map(|&v| part.stride(v)).collect();
        super::model::for_each_cell(&sizes, &strides, |i, t| {
            out[home.offset + i] *= u[part.offset + t];
        });
    }
    out
}
