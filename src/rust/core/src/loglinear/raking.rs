//! Sampling fractions that follow the key variables and not single weights.
//!
//! The model is fitted to the unweighted counts: `mu`. A factor per level of
//! every key variable then rakes `mu` to the weighted one-way margins: `lambda`,
//! on the scale of the population, and `pi = mu / lambda`. Weights that differ
//! by keys are followed, those that do not average out over a level.
//!
//! Raking is itself a fit, of main effects with `mu` as the offset, so that
//! [`optimise::fit`](super::optimise) does it: its passes are those of the model
//! with the factors multiplied in.

use super::cells::Cells;
use super::fitted::Fitted;
use super::model::Model;
use super::optimise::{fit, Margins, Report};
use super::TOLERANCE;
use crate::error::Result;
use crate::parallel::Monitor;

/// One number per level of every variable.
pub type Effects = Vec<Vec<f64>>;

/// The one-way margins of values of cells.
pub fn one_way(cells: &Cells, values: impl Fn(usize) -> f64) -> Effects {
    let mut margins: Effects = cells.sizes().iter().map(|&s| vec![0.0; s]).collect();
    for cell in 0..cells.len() {
        let value = values(cell);
        for (margin, &code) in margins.iter_mut().zip(cells.codes(cell)) {
            margin[code as usize] += value;
        }
    }
    margins
}

/// The product of the effects of one cell.
pub fn effect_at(effects: &Effects, codes: &[u32]) -> f64 {
    effects
        .iter()
        .zip(codes)
        .map(|(effect, &code)| effect[code as usize])
        .product()
}

/// Multiplies effects into parameters, each in the first generator that has
/// its variable.
pub fn multiply_in(model: &Model, u: &mut [f64], effects: &[impl AsRef<[f64]>]) {
    let sizes = model.sizes();
    let mut placed = vec![false; sizes.len()];
    for generator in model.generators() {
        for &v in &generator.vars {
            if placed[v] {
                continue;
            }
            placed[v] = true;
            let stride = generator.stride(v);
            let effect = effects[v].as_ref();
            for i in 0..generator.len {
                u[generator.offset + i] *= effect[i / stride % sizes[v]];
            }
        }
    }
}

/// Passes that give the one-way margins of a fit times effects.
pub struct OneWay<'a> {
    model: &'a Model,
    u: &'a [f64],
    pass: &'a dyn Margins,
}

impl<'a> OneWay<'a> {
    /// Of the model with parameters `u`, whose passes are `pass`.
    pub fn new(model: &'a Model, u: &'a [f64], pass: &'a dyn Margins) -> Self {
        Self { model, u, pass }
    }
}

impl Margins for OneWay<'_> {
    fn margins(&self, effects: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        let mut u = self.u.to_vec();
        multiply_in(self.model, &mut u, &apart(self.model.sizes(), effects));
        let margins = self.pass.margins(&u, monitor)?;
        let mut out = Vec::with_capacity(effects.len());
        for (v, &size) in self.model.sizes().iter().enumerate() {
            let mut sums = vec![0.0; size];
            let home = self.model.generators().iter().find(|g| g.vars.contains(&v));
            if let Some(home) = home {
                let stride = home.stride(v);
                for i in 0..home.len {
                    sums[i / stride % size] += margins[home.offset + i];
                }
            }
            out.append(&mut sums);
        }
        Ok(out)
    }
}

/// Numbers of all levels in one row, by variable.
fn apart<'x>(sizes: &[usize], row: &'x [f64]) -> Vec<&'x [f64]> {
    let mut rest = row;
    sizes
        .iter()
        .map(|&size| {
            let (own, others) = rest.split_at(size);
            rest = others;
            own
        })
        .collect()
}

/// The effects that rake a fit to one-way margins, from `start` on.
pub fn rake(
    model: &Model,
    u: &[f64],
    pass: &dyn Margins,
    target: &Effects,
    start: &Effects,
    monitor: &Monitor,
) -> Result<(Effects, Report)> {
    let mut ranges = Vec::with_capacity(target.len());
    let mut at = 0;
    for margin in target {
        ranges.push(at..at + margin.len());
        at += margin.len();
    }
    let mut effects = start.concat();
    let one_way = OneWay::new(model, u, pass);
    let report = fit(
        &one_way,
        &target.concat(),
        &mut effects,
        TOLERANCE,
        &ranges,
        monitor,
    )?;
    let effects = apart(model.sizes(), &effects);
    Ok((effects.into_iter().map(<[f64]>::to_vec).collect(), report))
}

/// Start of raking: the effects that a model of independence needs.
pub fn first_effects(target: &Effects, counts: &Effects) -> Effects {
    let ratio = |(t, c): (&Vec<f64>, &Vec<f64>)| t.iter().zip(c).map(|(t, c)| t / c).collect();
    target.iter().zip(counts).map(ratio).collect()
}

/// The factor by which weights that differ within cells raise the variance of a
/// raked margin: `n sum(r^2) / sum(r)^2`, `r` being a weight over what the
/// effects make of it.
pub fn weighting_effect(cells: &Cells, fitted: &Fitted) -> f64 {
    let Some(effects) = &fitted.effects else {
        return 1.0;
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for cell in 0..cells.len() {
        let expected = effect_at(effects, cells.codes(cell));
        sum += cells.weights()[cell] / expected;
        squares += cells.squares()[cell] / (expected * expected);
    }
    (cells.n_records() * squares / (sum * sum)).max(1.0)
}
