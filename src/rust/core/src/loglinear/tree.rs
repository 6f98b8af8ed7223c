//! Fits on a junction tree: tables over cliques only, never over all cells.
//!
//! A clique's table is laid out separator first, so that the conditional
//! distribution of the residual given the separator is a row of it. With
//! `phi_c` these conditionals, `lambda(x) = total * product of phi_c(x_c)`.
//!
//! Sums over all cells are exact without visiting them: cliques are walked
//! parents first; where the largest `lambda` below a node is at most 1, the
//! sums of its powers, which factorise like `lambda`, go into a power series
//! ([`TermSeries`]); elsewhere the walk descends. So at most about as many
//! nodes are visited as there are people in the population.

use std::ops::Range;

use super::cells::Cells;
use super::clique::{normalise_rows, Part, Table};
use super::graph::Tree;
use super::measures::{TermSeries, POWERS};
use super::model::{for_each_cell, Model};
use super::moments::LikeCells;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Ranges of the root's table that are walked in parallel.
const BLOCKS: f64 = 64.0;
const CELLS_PER_BLOCK: f64 = 65_536.0;
/// Cells below a node that cost no more than their series.
pub(super) const FEW: f64 = 16.0;
/// Nodes and cells between two looks for interrupts: of raked cells, which take two
/// exponentials each, a twentieth of a second.
const STEPS_PER_CHECK: usize = 1 << 19;

/// Looks for interrupts after so many steps of a walk.
pub(super) struct Pace<'m> {
    monitor: &'m Monitor,
    steps: usize,
}

impl<'m> Pace<'m> {
    /// Before the first step, which looks too: a walk may be shorter than all that.
    pub fn new(monitor: &'m Monitor) -> Self {
        Self {
            monitor,
            steps: STEPS_PER_CHECK,
        }
    }

    /// So many steps more.
    pub fn go(&mut self, steps: usize) -> Result<()> {
        self.steps += steps;
        if self.steps >= STEPS_PER_CHECK {
            self.steps = 0;
            self.monitor.check()?;
        }
        Ok(())
    }
}

/// The tables of a model's junction tree.
#[derive(Debug)]
pub struct Tables<'a> {
    pub(super) model: &'a Model,
    pub(super) tables: Vec<Table>,
    /// Per clique, the later ones whose parent is not later.
    pub(super) frontier: Vec<Vec<usize>>,
    /// Per clique, cells below one of its own.
    pub(super) below: Vec<f64>,
}

/// A distribution over the table as conditionals of cliques.
#[derive(Debug, Clone)]
pub struct Conditionals {
    /// Sum of all cells.
    pub total: f64,
    pub(super) tables: Vec<Vec<f64>>,
}

impl<'a> Tables<'a> {
    /// The tables of `tree`, the junction tree of `model`.
    pub fn new(model: &'a Model, tree: &Tree) -> Self {
        let sizes = model.sizes();
        let mut tables: Vec<Table> = tree
            .cliques
            .iter()
            .map(|clique| Table::new(clique, sizes))
            .collect();
        for generator in model.generators() {
            let home = tables
                .iter()
                .position(|t| generator.vars.iter().all(|v| t.vars.contains(v)));
            if let Some(home) = home {
                let steps = tables[home].vars.iter().map(|&v| generator.stride(v));
                let part = Part::new(generator.offset, steps.collect());
                tables[home].generators.push(part);
            }
        }
        for c in 0..tables.len() {
            if let Some(parent) = tree.cliques[c].parent {
                let strides = tables[parent]
                    .vars
                    .iter()
                    .map(|v| {
                        let place = tables[c].separator.iter().find(|(w, _)| w == v);
                        place.map_or(0, |&(_, stride)| stride)
                    })
                    .collect();
                tables[parent].children.push(Part::new(c, strides));
            }
        }
        let frontier = (0..tables.len())
            .map(|j| {
                (j + 1..tables.len())
                    .filter(|&k| tree.cliques[k].parent.is_some_and(|p| p <= j))
                    .collect()
            })
            .collect();
        let mut below = vec![1.0; tables.len()];
        for c in (1..tables.len()).rev() {
            below[c - 1] = below[c] * tables[c].n_residual as f64;
        }
        Self {
            model,
            tables,
            frontier,
            below,
        }
    }

    /// The distribution with parameters `u`: sums out from the leaves.
    pub fn conditionals(&self, u: &[f64]) -> Conditionals {
        let mut potentials: Vec<Vec<f64>> = vec![Vec::new(); self.tables.len()];
        let mut messages: Vec<Vec<f64>> = vec![Vec::new(); self.tables.len()];
        for c in (0..self.tables.len()).rev() {
            let mut potential = self.tables[c].product(u, &messages);
            messages[c] = normalise_rows(&mut potential, self.tables[c].n_residual);
            potentials[c] = potential;
        }
        Conditionals {
            total: messages
                .first()
                .and_then(|m| m.first())
                .copied()
                .unwrap_or(0.0),
            tables: potentials,
        }
    }

    /// The values of cells in a distribution.
    pub fn values(&self, of: &Conditionals, cells: &Cells) -> Vec<f64> {
        let mut values = vec![of.total; cells.len()];
        for (table, conditionals) in self.tables.iter().zip(&of.tables) {
            for (cell, value) in values.iter_mut().enumerate() {
                *value *= conditionals[table.place(cells.codes(cell))];
            }
        }
        values
    }

    /// The closed form of a decomposable model, whose generators are cliques:
    /// the conditionals in the data's `margins` on them.
    pub fn closed_form(&self, margins: &[f64]) -> Conditionals {
        let mut tables: Vec<Vec<f64>> = Vec::with_capacity(self.tables.len());
        let mut total = 0.0;
        for (c, table) in self.tables.iter().enumerate() {
            let mut margin = vec![0.0; table.n_separator * table.n_residual];
            for part in &table.generators {
                let strides = table.all_strides(part);
                let target = &margins[part.of..];
                for_each_cell(&table.sizes, &strides, |i, t| margin[i] = target[t]);
            }
            let rows = normalise_rows(&mut margin, table.n_residual);
            if c == 0 {
                total = rows.iter().sum();
            }
            tables.push(margin);
        }
        Conditionals { total, tables }
    }

    /// The parameters of a decomposable model, whose generators are cliques.
    pub fn parameters(&self, of: &Conditionals) -> Vec<f64> {
        let mut u = vec![1.0; self.model.n_parameters()];
        for (c, (table, values)) in self.tables.iter().zip(&of.tables).enumerate() {
            let scale = if c == 0 { of.total } else { 1.0 };
            for part in &table.generators {
                let strides = table.all_strides(part);
                let u = &mut u[part.of..];
                for_each_cell(&table.sizes, &strides, |i, t| u[t] = scale * values[i]);
            }
        }
        u
    }

    /// The margins on all generators of the table with parameters `u`.
    pub fn margins(&self, u: &[f64]) -> Vec<f64> {
        let conditionals = self.conditionals(u);
        let mut margins = vec![0.0; self.model.n_parameters()];
        let mut rows: Vec<Vec<f64>> = self
            .tables
            .iter()
            .map(|t| vec![0.0; t.n_separator])
            .collect();
        if let Some(first) = rows.first_mut() {
            first.fill(conditionals.total);
        }
        for (c, (table, mut marginal)) in self.tables.iter().zip(conditionals.tables).enumerate() {
            for (line, &row) in marginal.chunks_mut(table.n_residual).zip(&rows[c]) {
                line.iter_mut().for_each(|x| *x *= row);
            }
            table.sum_up(marginal, &mut margins, &mut rows);
        }
        margins
    }

    /// All cells as empty ones, `lambda` being `scale` times the distribution.
    pub fn cells(
        &self,
        of: &Conditionals,
        scale: f64,
        pi: f64,
        monitor: &Monitor,
    ) -> Result<LikeCells> {
        let series = TermSeries::new(pi);
        let bounds = if self.below.iter().any(|&b| b > FEW) {
            self.bounds(of)
        } else {
            Vec::new()
        };
        let parts = parallel::try_map(self.blocks(), monitor, |range| {
            let mut walk = Walk {
                of,
                bounds: &bounds,
                pace: Pace::new(monitor),
                codes: vec![0; self.model.sizes().len()],
                powers: [0.0; POWERS],
                cells: LikeCells::new(pi, 0.0),
            };
            self.walk(&mut walk, 0, range, scale * of.total)?;
            walk.cells.add_terms(&series.evaluate(&walk.powers));
            Ok(walk.cells)
        })?;
        let mut all = LikeCells::new(pi, 0.0);
        for part in &parts {
            all.append(part);
        }
        Ok(all)
    }

    /// The levels of the first clique, cut into blocks of parallel work.
    pub(super) fn blocks(&self) -> Vec<Range<usize>> {
        let n = self.tables.first().map_or(0, |t| t.n_residual);
        let wanted = (self.model.n_table() / CELLS_PER_BLOCK).clamp(1.0, BLOCKS);
        let blocks = n.min(wanted as usize);
        (0..blocks)
            .map(|b| b * n / blocks..(b + 1) * n / blocks)
            .collect()
    }

    /// Multiplies `out` by the sums of the subtrees below a node, in the rows that
    /// `codes` choose; `sums` gives those of a clique, as long as `out` for a row.
    pub(super) fn times_below<'b>(
        &self,
        clique: usize,
        codes: &[u32],
        sums: impl Fn(usize) -> &'b [f64],
        out: &mut [f64],
    ) {
        for &k in &self.frontier[clique] {
            let row = self.tables[k].row(codes);
            times(out, &sums(k)[row * out.len()..]);
        }
    }

    fn walk(&self, walk: &mut Walk, clique: usize, range: Range<usize>, value: f64) -> Result<()> {
        let table = &self.tables[clique];
        let sizes = self.model.sizes();
        let start = table.row(&walk.codes) * table.n_residual;
        let line = &walk.of.tables[clique][start..start + table.n_residual];
        walk.pace.go(range.len())?;
        if clique + 1 == self.tables.len() {
            walk.cells.add(value, &line[range]);
            return Ok(());
        }
        let bounded = self.below[clique] > FEW;
        let next = self.tables[clique + 1].n_residual;
        table.set_residual(range.start, sizes, &mut walk.codes);
        for (i, &x) in line[range].iter().enumerate() {
            if i > 0 {
                table.next_residual(sizes, &mut walk.codes);
            }
            let value = value * x;
            if value <= 0.0 {
                continue;
            }
            if bounded {
                let mut largest = value;
                for &k in &self.frontier[clique] {
                    largest *= walk.bounds[k].largest[self.tables[k].row(&walk.codes)];
                }
                if largest <= 1.0 {
                    self.add_powers(walk, clique, largest);
                    continue;
                }
            }
            self.walk(walk, clique + 1, 0..next, value)?;
        }
        Ok(())
    }

    /// Adds the sums of powers of all cells below a node, the largest of which
    /// is `largest`.
    #[inline(never)]
    fn add_powers(&self, walk: &mut Walk, clique: usize, largest: f64) {
        let mut powers = [0.0; POWERS];
        let mut power = 1.0;
        for p in &mut powers {
            power *= largest;
            *p = power;
        }
        let sums = |k: usize| &walk.bounds[k].powers[..];
        self.times_below(clique, &walk.codes, sums, &mut powers);
        for (sum, p) in walk.powers.iter_mut().zip(powers) {
            *sum += p;
        }
    }

    /// Per clique and row of its table, the largest product of conditionals
    /// at and below it, and the sums of powers of these products relative to
    /// the largest.
    fn bounds(&self, of: &Conditionals) -> Vec<Bounds> {
        let mut bounds: Vec<Bounds> = self.tables.iter().map(|_| Bounds::default()).collect();
        for c in (0..self.tables.len()).rev() {
            let table = &self.tables[c];
            let mut largest_below = of.tables[c].clone();
            let children = table.child_strides();
            for (child, strides) in &children {
                let largest = &bounds[*child].largest;
                for_each_cell(&table.sizes, strides, |i, t| largest_below[i] *= largest[t]);
            }
            let mut largest: Vec<f64> = Vec::with_capacity(table.n_separator);
            for line in largest_below.chunks_mut(table.n_residual) {
                let top = line.iter().copied().fold(0.0, f64::max);
                largest.push(top);
                if top > 0.0 {
                    line.iter_mut().for_each(|x| *x /= top);
                }
            }
            let mut powers = vec![0.0; table.n_separator * POWERS];
            let mut power = largest_below.clone();
            let mut term = vec![0.0; power.len()];
            for m in 0..POWERS {
                term.copy_from_slice(&power);
                for (child, strides) in &children {
                    let below = &bounds[*child].powers;
                    for_each_cell(&table.sizes, strides, |i, t| {
                        term[i] *= below[t * POWERS + m]
                    });
                }
                for (row, line) in term.chunks(table.n_residual).enumerate() {
                    powers[row * POWERS + m] = line.iter().sum();
                }
                for (p, &x) in power.iter_mut().zip(&largest_below) {
                    *p *= x;
                }
            }
            bounds[c] = Bounds { largest, powers };
        }
        bounds
    }
}

/// Multiplies numbers by as many others.
pub(super) fn times(out: &mut [f64], by: &[f64]) {
    for (x, &y) in out.iter_mut().zip(by) {
        *x *= y;
    }
}

#[derive(Debug, Default)]
struct Bounds {
    largest: Vec<f64>,
    powers: Vec<f64>,
}

struct Walk<'w> {
    of: &'w Conditionals,
    bounds: &'w [Bounds],
    pace: Pace<'w>,
    codes: Vec<u32>,
    powers: [f64; POWERS],
    cells: LikeCells,
}
