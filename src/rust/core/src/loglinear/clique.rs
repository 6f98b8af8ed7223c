//! The table of one clique, separator first, and the smaller tables that are
//! multiplied into it or summed out of it.

use super::graph::Clique;
use super::model::{for_each_cell, row_major};

/// One clique with the steps to the tables it talks to.
#[derive(Debug)]
pub struct Table {
    /// The separator's variables, then the others.
    pub vars: Vec<usize>,
    /// Their numbers of levels.
    pub sizes: Vec<usize>,
    /// Rows of the table.
    pub n_separator: usize,
    /// Cells of a row.
    pub n_residual: usize,
    /// Variables that are not the separator's.
    pub residual: Vec<usize>,
    /// Separator variables and their steps in the table's rows.
    pub separator: Vec<(usize, usize)>,
    /// Steps of all variables in the table.
    pub strides: Vec<usize>,
    /// Generators whose home this clique is, by their offset.
    pub generators: Vec<Part>,
    /// Children, with steps in their rows.
    pub children: Vec<Part>,
}

/// A table over some of the variables of a clique.
#[derive(Debug)]
pub struct Part {
    /// Index.
    pub of: usize,
    /// Its steps for the clique's variables up to the last one it has.
    pub strides: Vec<usize>,
}

impl Part {
    /// A table with the steps of all the clique's variables.
    pub fn new(of: usize, mut strides: Vec<usize>) -> Self {
        while strides.len() > 1 && strides.last() == Some(&0) {
            strides.pop();
        }
        Self { of, strides }
    }
}

/// The parts whose last variable is the one at `depth`.
fn ending(parts: &[Part], depth: usize) -> impl Iterator<Item = &Part> {
    let ends = move |part: &&Part| part.strides.len() == depth + 1;
    parts.iter().filter(ends)
}

impl Table {
    /// The table of a clique, its generators and children not yet known.
    pub fn new(clique: &Clique, sizes: &[usize]) -> Self {
        let of = |vars: &[usize]| -> Vec<usize> { vars.iter().map(|&v| sizes[v]).collect() };
        let rows = of(&clique.separator);
        let vars = clique.vars();
        Self {
            n_separator: rows.iter().product(),
            n_residual: of(&clique.residual).iter().product(),
            residual: clique.residual.clone(),
            separator: clique
                .separator
                .iter()
                .copied()
                .zip(row_major(&rows))
                .collect(),
            strides: row_major(&of(&vars)),
            sizes: of(&vars),
            generators: Vec::new(),
            children: Vec::new(),
            vars,
        }
    }

    /// The row of the cells with these levels.
    pub fn row(&self, codes: &[u32]) -> usize {
        self.separator
            .iter()
            .map(|&(v, stride)| codes[v] as usize * stride)
            .sum()
    }

    /// Place of the cell with these levels.
    pub fn place(&self, codes: &[u32]) -> usize {
        let steps = self.vars.iter().zip(&self.strides);
        steps.map(|(&v, &stride)| codes[v] as usize * stride).sum()
    }

    /// Sets the levels of the residual variables to those of the next cell.
    pub fn next_residual(&self, sizes: &[usize], codes: &mut [u32]) {
        for &v in self.residual.iter().rev() {
            codes[v] += 1;
            if (codes[v] as usize) < sizes[v] {
                return;
            }
            codes[v] = 0;
        }
    }

    /// The product of generators and messages, variable by variable: what ends
    /// at an early one is multiplied in while the table is small.
    pub fn product(&self, u: &[f64], messages: &[Vec<f64>]) -> Vec<f64> {
        let mut product = vec![1.0];
        for (depth, &size) in self.sizes.iter().enumerate() {
            let sizes = &self.sizes[..=depth];
            let mut next = Vec::with_capacity(product.len() * size);
            for &x in &product {
                next.resize(next.len() + size, x);
            }
            for part in ending(&self.generators, depth) {
                let factors = &u[part.of..];
                for_each_cell(sizes, &part.strides, |i, t| next[i] *= factors[t]);
            }
            for part in ending(&self.children, depth) {
                let factors = &messages[part.of];
                for_each_cell(sizes, &part.strides, |i, t| next[i] *= factors[t]);
            }
            product = next;
        }
        product
    }

    /// Adds a distribution's margins to those on generators and to the rows of
    /// children, summing out variable by variable.
    pub fn sum_up(&self, mut table: Vec<f64>, margins: &mut [f64], rows: &mut [Vec<f64>]) {
        for (depth, &size) in self.sizes.iter().enumerate().rev() {
            let sizes = &self.sizes[..=depth];
            for part in ending(&self.generators, depth) {
                let margin = &mut margins[part.of..];
                for_each_cell(sizes, &part.strides, |i, t| margin[t] += table[i]);
            }
            for part in ending(&self.children, depth) {
                let row = &mut rows[part.of];
                for_each_cell(sizes, &part.strides, |i, t| row[t] += table[i]);
            }
            table = table.chunks(size).map(|line| line.iter().sum()).collect();
        }
    }

    /// The steps of a part for all variables of the clique.
    pub fn all_strides(&self, part: &Part) -> Vec<usize> {
        let mut strides = part.strides.clone();
        strides.resize(self.sizes.len(), 0);
        strides
    }

    /// Per child, its number and the steps of its separator for all variables.
    pub fn child_strides(&self) -> Vec<(usize, Vec<usize>)> {
        let of = |part: &Part| (part.of, self.all_strides(part));
        self.children.iter().map(of).collect()
    }

    /// Sets the levels of the residual variables to those of cell `r`.
    pub fn set_residual(&self, mut r: usize, sizes: &[usize], codes: &mut [u32]) {
        for &v in self.residual.iter().rev() {
            codes[v] = 0;
            if r > 0 {
                codes[v] = (r % sizes[v]) as u32;
                r /= sizes[v];
            }
        }
    }
}

/// Divides every row by its sum and returns the sums.
pub fn normalise_rows(table: &mut [f64], width: usize) -> Vec<f64> {
    table
        .chunks_mut(width)
        .map(|line| {
            let sum: f64 = line.iter().sum();
            if sum > 0.0 {
                line.iter_mut().for_each(|x| *x /= sum);
            }
            sum
        })
        .collect()
}
