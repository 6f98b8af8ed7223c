//! One pass over all cells without the table: nested loops that multiply
//! prefix products, for models such as all two-way interactions, which no
//! factorisation helps.
//!
//! At depth `j` the levels of variables `0..j` are chosen. `rows[j][l]` is the
//! product of all parameters that then depend on the level of variable `l`
//! alone; a generator enters it when its last but one variable is chosen. On
//! the way back `sums[j][l]` are the sums over the subtree by level of `l`,
//! from which the margins are collected at the same places. So a cell costs a
//! few multiplications and additions of vectors over the innermost variable.
//!
//! Work is cut into blocks of leading levels, a fixed number of them, and
//! added up in their order: results do not depend on threads.

use super::measures::Terms;
use super::model::Model;
use super::moments::LikeCells;
use super::raking::Effects;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Cells below which one block does.
const SMALL: f64 = 20_000.0;
const BLOCKS: usize = 64;
/// Accumulated parameters of all blocks together: 256 MB.
const MOST_ACCUMULATED: usize = 1 << 25;
/// Cells of a subtree from which interrupts are looked for.
const CHECK_FROM: usize = 1 << 16;

/// Passes over the cells of a model's table.
#[derive(Debug)]
pub struct Nested<'a> {
    model: &'a Model,
    /// Per variable, the generators whose last but one variable it is, with
    /// their last variable.
    entering: Vec<Vec<(usize, usize)>>,
    /// Generators of one variable.
    single: Vec<usize>,
    /// Start of the row of each variable.
    starts: Vec<usize>,
    /// Cells below each depth, capped.
    below: Vec<usize>,
    blocks: Vec<std::ops::Range<usize>>,
    /// Depth of the leading levels that number the blocks.
    split: usize,
}

/// Working memory of one block.
struct Work<'m> {
    codes: Vec<u32>,
    rows: Vec<Vec<f64>>,
    sums: Vec<Vec<f64>>,
    margins: Vec<f64>,
    line: Vec<f64>,
    range: std::ops::Range<usize>,
    monitor: &'m Monitor,
}

impl<'a> Nested<'a> {
    /// Prepares passes over the table of `model`.
    pub fn new(model: &'a Model) -> Self {
        let sizes = model.sizes();
        let d = sizes.len();
        let mut entering = vec![Vec::new(); d];
        let mut single = Vec::new();
        for (g, generator) in model.generators().iter().enumerate() {
            match generator.vars.as_slice() {
                [.., before, last] => entering[*before].push((g, *last)),
                _ => single.push(g),
            }
        }
        let mut starts = vec![0; d + 1];
        for v in 0..d {
            starts[v + 1] = starts[v] + sizes[v];
        }
        let mut below = vec![1usize; d + 1];
        for v in (0..d).rev() {
            below[v] = below[v + 1].saturating_mul(sizes[v]);
        }
        let (split, blocks) = blocks(model);
        Self {
            model,
            entering,
            single,
            starts,
            below,
            blocks,
            split,
        }
    }

    fn work<'m>(&self, u: &[f64], block: usize, monitor: &'m Monitor, margins: bool) -> Work<'m> {
        let d = self.model.sizes().len();
        let width = self.starts[d];
        let mut first = vec![1.0; width];
        for &g in &self.single {
            let generator = &self.model.generators()[g];
            let start = self.starts[generator.vars[0]];
            for i in 0..generator.len {
                first[start + i] = u[generator.offset + i];
            }
        }
        let mut rows = vec![vec![0.0; width]; d];
        rows[0] = first;
        Work {
            codes: vec![0; d],
            rows,
            sums: if margins {
                vec![vec![0.0; width]; d]
            } else {
                Vec::new()
            },
            margins: if margins {
                vec![0.0; self.model.n_parameters()]
            } else {
                Vec::new()
            },
            line: vec![0.0; self.model.sizes()[d - 1]],
            range: self.blocks[block].clone(),
            monitor,
        }
    }

    /// The margins on all generators of the table with parameters `u`.
    pub fn margins(&self, u: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        let parts = parallel::try_map(0..self.blocks.len(), monitor, |block| {
            let mut work = self.work(u, block, monitor, true);
            self.add_margins(&mut work, u, 0, 1.0, 0)?;
            for &g in &self.single {
                let generator = &self.model.generators()[g];
                let start = self.starts[generator.vars[0]];
                for i in 0..generator.len {
                    work.margins[generator.offset + i] += work.sums[0][start + i];
                }
            }
            Ok(work.margins)
        })?;
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            for (sum, x) in all.iter_mut().zip(part) {
                *sum += x;
            }
        }
        Ok(all)
    }

    /// True if a prefix of `depth` levels with number `number` has cells in
    /// the block.
    fn in_block(&self, work: &Work, depth: usize, number: usize) -> bool {
        if depth > self.split {
            return true;
        }
        let sizes = self.model.sizes();
        let width: usize = sizes[depth..self.split].iter().product();
        number * width < work.range.end && (number + 1) * width > work.range.start
    }

    /// Lets the generators that enter at `depth` multiply the rows below it.
    fn enter(&self, work: &mut Work, u: &[f64], depth: usize) {
        let (from, to) = (self.starts[depth + 1], self.starts[self.starts.len() - 1]);
        let (above, below) = work.rows.split_at_mut(depth + 1);
        let row = &mut below[0];
        row[from..to].copy_from_slice(&above[depth][from..to]);
        for &(g, last) in &self.entering[depth] {
            work.codes[last] = 0;
            let generator = &self.model.generators()[g];
            let at = generator.index(&work.codes);
            let size = self.model.sizes()[last];
            let target = &mut row[self.starts[last]..][..size];
            for (x, &factor) in target.iter_mut().zip(&u[at..at + size]) {
                *x *= factor;
            }
        }
    }

    /// The cells below a prefix of `d - 1` levels, into `work.line`.
    fn fill_line(&self, work: &mut Work, u: &[f64], depth: usize, value: f64) {
        let last = depth + 1;
        let size = self.model.sizes()[last];
        let row = &work.rows[depth][self.starts[last]..][..size];
        let line = &mut work.line[..size];
        work.codes[last] = 0;
        match self.entering[depth].as_slice() {
            [(g, _)] => {
                let at = self.model.generators()[*g].index(&work.codes);
                let factors = &u[at..at + size];
                for (i, x) in line.iter_mut().enumerate() {
                    *x = value * row[i] * factors[i];
                }
            }
            entering => {
                for (x, &r) in line.iter_mut().zip(row) {
                    *x = value * r;
                }
                for (g, _) in entering {
                    let at = self.model.generators()[*g].index(&work.codes);
                    for (x, &factor) in line.iter_mut().zip(&u[at..at + size]) {
                        *x *= factor;
                    }
                }
            }
        }
    }

    fn add_margins(
        &self,
        work: &mut Work,
        u: &[f64],
        depth: usize,
        value: f64,
        number: usize,
    ) -> Result<()> {
        let sizes = self.model.sizes();
        let d = sizes.len();
        let from = self.starts[depth];
        work.sums[depth][from..].fill(0.0);
        if depth + 1 == d {
            // A table of one variable.
            for i in 0..sizes[depth] {
                work.sums[depth][from + i] = value * work.rows[depth][from + i];
            }
            return Ok(());
        }
        if self.below[depth] >= CHECK_FROM {
            work.monitor.check()?;
        }
        for level in 0..sizes[depth] {
            let value = value * work.rows[depth][from + level];
            let number = number * sizes[depth] + level;
            if value <= 0.0 || !self.in_block(work, depth + 1, number) {
                continue;
            }
            work.codes[depth] = level as u32;
            if depth + 2 == d {
                self.fill_line(work, u, depth, value);
                let last = depth + 1;
                let start = self.starts[last];
                let mut total = 0.0;
                for (sum, &x) in work.sums[depth][start..].iter_mut().zip(&work.line) {
                    *sum += x;
                    total += x;
                }
                work.sums[depth][from + level] = total;
                for (g, _) in &self.entering[depth] {
                    let at = self.model.generators()[*g].index(&work.codes);
                    for (sum, &x) in work.margins[at..].iter_mut().zip(&work.line) {
                        *sum += x;
                    }
                }
                continue;
            }
            self.enter(work, u, depth);
            self.add_margins(work, u, depth + 1, value, number)?;
            for &(g, last) in &self.entering[depth] {
                work.codes[last] = 0;
                let at = self.model.generators()[g].index(&work.codes);
                let size = sizes[last];
                let below = &work.sums[depth + 1][self.starts[last]..][..size];
                for (sum, &x) in work.margins[at..at + size].iter_mut().zip(below) {
                    *sum += x;
                }
            }
            let (above, below) = work.sums.split_at_mut(depth + 1);
            let next = self.starts[depth + 1];
            for (sum, &x) in above[depth][next..].iter_mut().zip(&below[0][next..]) {
                *sum += x;
            }
            above[depth][from + level] = below[0][next..next + sizes[depth + 1]].iter().sum();
        }
        Ok(())
    }

    /// The `lambda` of the cells at `places`, which ascend in row-major order, and all others
    /// as empty ones. In one thread: a search fits its models in parallel.
    pub fn values_and_others(
        &self,
        u: &[f64],
        scale: f64,
        pi: f64,
        places: &[usize],
        monitor: &Monitor,
    ) -> Result<(Vec<f64>, LikeCells)> {
        let mut others = LikeCells::new(pi, 0.0);
        let mut values = Vec::with_capacity(places.len());
        let mut work = self.work(u, 0, monitor, false);
        work.range = 0..usize::MAX;
        let mut at = 0;
        self.lines(&mut work, u, 0, scale, 0, &mut |_, line| {
            let mut from = 0;
            while let Some(&place) = places.get(values.len()).filter(|&&p| p < at + line.len()) {
                others.add(1.0, &line[from..place - at]);
                values.push(line[place - at]);
                from = place - at + 1;
            }
            others.add(1.0, &line[from..]);
            at += line.len();
        })?;
        Ok((values, others))
    }

    /// All cells as empty ones, `lambda` being `scale` times the product of
    /// parameters.
    pub fn cells(&self, u: &[f64], scale: f64, pi: f64, monitor: &Monitor) -> Result<LikeCells> {
        let parts = parallel::try_map(0..self.blocks.len(), monitor, |block| {
            let mut cells = LikeCells::new(pi, 0.0);
            let mut work = self.work(u, block, monitor, false);
            self.lines(&mut work, u, 0, scale, 0, &mut |_, line| {
                cells.add(1.0, line)
            })?;
            Ok(cells)
        })?;
        let mut all = LikeCells::new(pi, 0.0);
        for part in &parts {
            all.append(part);
        }
        Ok(all)
    }

    /// The terms of all cells as empty ones, `lambda` being `scale` times the
    /// product of parameters and of `effects`, and `pi` what that makes of it.
    pub fn raked_terms(
        &self,
        u: &[f64],
        scale: f64,
        effects: &Effects,
        monitor: &Monitor,
    ) -> Result<Terms> {
        let parts: Vec<Terms> = parallel::try_map(0..self.blocks.len(), monitor, |block| {
            let mut terms = Terms::default();
            let mut work = self.work(u, block, monitor, false);
            let Some((last, outer)) = effects.split_last() else {
                return Ok(terms);
            };
            self.lines(&mut work, u, 0, 1.0, 0, &mut |codes, line| {
                let factors = outer.iter().zip(codes).map(|(e, &c)| e[c as usize]);
                let above = scale * factors.product::<f64>();
                for (&mu, &effect) in line.iter().zip(last) {
                    terms.add(&Terms::of_empty_cell(mu, mu * above * effect));
                }
            })?;
            Ok(terms)
        })?;
        let mut all = Terms::default();
        parts.iter().for_each(|part| all.add(part));
        Ok(all)
    }

    /// Calls `visit` with the levels of every prefix of `d - 1` variables and
    /// the cells below it.
    fn lines(
        &self,
        work: &mut Work,
        u: &[f64],
        depth: usize,
        value: f64,
        number: usize,
        visit: &mut impl FnMut(&[u32], &[f64]),
    ) -> Result<()> {
        let sizes = self.model.sizes();
        let d = sizes.len();
        let from = self.starts[depth];
        if depth + 1 == d {
            for (x, &r) in work.line.iter_mut().zip(&work.rows[depth][from..]) {
                *x = value * r;
            }
            visit(&work.codes, &work.line);
            return Ok(());
        }
        if self.below[depth] >= CHECK_FROM {
            work.monitor.check()?;
        }
        for level in 0..sizes[depth] {
            let value = value * work.rows[depth][from + level];
            let number = number * sizes[depth] + level;
            if !self.in_block(work, depth + 1, number) {
                continue;
            }
            work.codes[depth] = level as u32;
            if depth + 2 == d {
                self.fill_line(work, u, depth, value);
                visit(&work.codes, &work.line);
                continue;
            }
            self.enter(work, u, depth);
            self.lines(work, u, depth + 1, value, number, visit)?;
        }
        Ok(())
    }
}

/// The depth of leading levels whose combinations are split into blocks, and
/// the blocks: they depend on the model alone.
fn blocks(model: &Model) -> (usize, Vec<std::ops::Range<usize>>) {
    let sizes = model.sizes();
    if sizes.len() < 2 || model.n_table() < SMALL {
        return (0, std::iter::once(0..1).collect());
    }
    let wanted = BLOCKS.min((MOST_ACCUMULATED / model.n_parameters().max(1)).max(1));
    let mut split = 0;
    let mut combinations = 1;
    while combinations < wanted && split + 2 < sizes.len() {
        combinations *= sizes[split];
        split += 1;
    }
    let n = combinations.min(wanted);
    let blocks = (0..n)
        .map(|b| b * combinations / n..(b + 1) * combinations / n)
        .collect();
    (split, blocks)
}
