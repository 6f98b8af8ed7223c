//! A fitted model, by whichever way its structure allows, and the risk
//! measures read from it.

use super::cells::Cells;
use super::graph::Tree;
use super::measures::{h1, h2, Terms};
use super::model::{in_words, too_large, Model};
use super::nested::Nested;
use super::optimise::{fit, Margins, Report};
use super::tree::{Conditionals, Tables};
use crate::error::Result;
use crate::parallel::Monitor;

/// Cells of all clique tables beyond which a junction tree is not used.
const MOST_CLIQUE_CELLS: f64 = 2e7;

/// How a model is fitted.
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

/// A sample with its scale: the weights sum to the number of records, and a
/// fitted count stands for `1 / pi` people.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The occupied cells.
    pub cells: &'a Cells,
    /// Overall sampling fraction.
    pub pi: f64,
    /// Sampling fraction per occupied cell.
    pub cell_pi: Vec<f64>,
    /// Weights scaled so.
    pub weights: Vec<f64>,
    /// Cells of the table beyond which it is not passed over.
    pub max_cells: f64,
}

/// A model with the parameters of its fit, on the scale of the sample.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The product of these over generators is the fitted count.
    pub u: Vec<f64>,
    /// How it was fitted.
    pub method: Method,
    /// How that went.
    pub report: Report,
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
    Err(too_large(&format!(
        "A table without a sparse model must have at most {} cells, not {}.",
        in_words(max_cells),
        in_words(n_table)
    )))
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
        let weights = |cell: usize| sample.weights[cell];
        let target = match smaller {
            Some(smaller) => extend_margins(smaller, &model, cells, weights),
            None => model.margins(cells, weights),
        };
        let (u, report) = match method {
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
        Ok(Self {
            model,
            u,
            method,
            report,
            tree,
            target,
        })
    }

    /// Fits the same model to a simulated sample, quickly.
    pub fn refit(&self, sample: &Sample, tolerance: f64, monitor: &Monitor) -> Result<Vec<f64>> {
        let target = self
            .model
            .margins(sample.cells, |cell| sample.weights[cell]);
        if self.method == Method::Closed {
            let tables = Tables::new(&self.model, &self.tree);
            return Ok(tables.parameters(&tables.closed_form(&target)));
        }
        let mut u = self.u.clone();
        self.with_pass(|pass| {
            let ranges = self.model.ranges();
            fit(pass, &target, &mut u, tolerance, &ranges, monitor)
        })?;
        Ok(u)
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

    /// Cells that a pass goes through.
    pub fn pass_cells(&self) -> f64 {
        match self.method {
            Method::Nested => self.model.n_table(),
            _ => self.tree.n_cells,
        }
    }

    /// Expected population counts of the occupied cells.
    pub fn lambda(&self, cells: &Cells, pi: f64) -> Vec<f64> {
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
    pub fn terms(&self, sample: &Sample, lambda: &[f64], monitor: &Monitor) -> Result<Terms> {
        let pi = sample.pi;
        let on_tree = self.with_tables(|tables, of| tables.cells(of, 1.0 / pi, pi, monitor));
        let mut empty = match on_tree {
            Some(cells) => cells?,
            None => Nested::new(&self.model).cells(&self.u, 1.0 / pi, pi, monitor)?,
        };
        empty.remove(lambda);
        let mut terms = empty.terms();
        for (cell, &lambda) in lambda.iter().enumerate() {
            let f = sample.cells.counts()[cell];
            terms.add(&Terms::of_cell(lambda, sample.cell_pi[cell], f));
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

/// Parameters of the independence model, each main effect in the first
/// generator that has its variable.
fn independence(model: &Model, cells: &Cells, values: impl Fn(usize) -> f64) -> Vec<f64> {
    let sizes = model.sizes();
    let mut effects: Vec<Vec<f64>> = sizes.iter().map(|&s| vec![0.0; s]).collect();
    let mut total = 0.0;
    for cell in 0..cells.len() {
        let value = values(cell);
        total += value;
        for (effect, &code) in effects.iter_mut().zip(cells.codes(cell)) {
            effect[code as usize] += value;
        }
    }
    for effect in effects.iter_mut().skip(1) {
        effect.iter_mut().for_each(|x| *x /= total);
    }
    let mut u = vec![1.0; model.n_parameters()];
    let mut placed = vec![false; sizes.len()];
    for generator in model.generators() {
        for &v in &generator.vars {
            if placed[v] {
                continue;
            }
            placed[v] = true;
            let stride = generator.stride(v);
            for i in 0..generator.len {
                u[generator.offset + i] *= effects[v][i / stride % sizes[v]];
            }
        }
    }
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

/// The file-level measures of one fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measures {
    /// `tau1` and `tau2`.
    pub tau: [f64; 2],
    /// The criterion.
    pub b: [f64; 2],
    /// Over the root of its Poisson variance; `None` where that is 0.
    pub z: [Option<f64>; 2],
    /// Over the root of its empirical variance over cells.
    pub z_robust: [Option<f64>; 2],
    /// Expected sample uniques.
    pub expected_uniques: f64,
}

/// The measures of a fit.
pub fn measures(
    fitted: &Fitted,
    sample: &Sample,
    lambda: &[f64],
    monitor: &Monitor,
) -> Result<Measures> {
    let terms = fitted.terms(sample, lambda, monitor)?;
    let n_table = fitted.model.n_table();
    let ratio = |b: f64, variance: f64| (variance > 0.0).then(|| b / variance.sqrt());
    let mut out = Measures {
        tau: taus(sample, lambda),
        b: terms.b,
        expected_uniques: terms.uniques,
        ..Measures::default()
    };
    for i in 0..2 {
        out.z[i] = ratio(terms.b[i], terms.v[i]);
        let spread = terms.b_squared[i] - terms.b[i] * terms.b[i] / n_table;
        // A sum of squares that rounding alone makes positive is none.
        let real = spread > 1e-13 * terms.b_squared[i];
        out.z_robust[i] = if n_table > 1.0 && real {
            ratio(terms.b[i], spread / (n_table - 1.0) * n_table)
        } else {
            None
        };
    }
    Ok(out)
}

/// `tau1` and `tau2`: the sums over sample uniques.
pub fn taus(sample: &Sample, lambda: &[f64]) -> [f64; 2] {
    let mut tau = [0.0; 2];
    for cell in sample.cells.uniques() {
        let q = (1.0 - sample.cell_pi[cell]) * lambda[cell];
        tau[0] += h1(q);
        tau[1] += h2(q);
    }
    tau
}
