//! Sums of the criterion's terms over all cells of a raked fit on a junction
//! tree, without visiting them.
//!
//! As in [`super::tree`], cliques are walked parents first, and where the
//! largest `lambda` below a node is small, a power series does. But `pi` differs
//! from cell to cell here, so the series is one in `mu` and `lambda`, whose
//! products of powers factorise both.

use std::ops::Range;

use super::measures::{alpha_coefficient, factorial, gamma_coefficient, Terms};
use super::model::for_each_cell;
use super::raking::Effects;
use super::tree::{times, Conditionals, Pace, Tables, FEW};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Largest `lambda` that the series is used for.
const SMALL: f64 = 0.25;
/// Largest sum of the powers of `mu` and `lambda`: the next terms are below
/// `1e-8` of the first at `SMALL` for the variance, `1e-14` for the criterion.
const DEGREE: usize = 12;
/// Products of powers with a positive sum of at most `DEGREE`.
const PRODUCTS: usize = (DEGREE + 1) * (DEGREE + 2) / 2 - 1;

/// A polynomial in `mu` and `lambda`: `[i][j]` belongs to `mu^i lambda^j`.
type Polynomial = [[f64; DEGREE + 1]; DEGREE + 1];

fn monomial(scale: f64, i: usize, j: usize) -> Polynomial {
    let mut out = [[0.0; DEGREE + 1]; DEGREE + 1];
    out[i][j] = scale;
    out
}

fn sum(a: &Polynomial, scale: f64, b: &Polynomial) -> Polynomial {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + scale * b[i][j]))
}

fn product(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let mut out = [[0.0; DEGREE + 1]; DEGREE + 1];
    for (i, j) in powers() {
        for k in 0..=i {
            for l in 0..=j {
                out[i][j] += a[k][l] * b[i - k][j - l];
            }
        }
    }
    out
}

/// `sum of coefficient(k) x^k`.
fn series(x: &Polynomial, coefficient: impl Fn(usize) -> f64) -> Polynomial {
    (0..=DEGREE).rev().fold(monomial(0.0, 0, 0), |value, k| {
        sum(&product(&value, x), coefficient(k), &monomial(1.0, 0, 0))
    })
}

/// All pairs of powers, those of the constant first.
fn powers() -> impl Iterator<Item = (usize, usize)> {
    (0..=DEGREE).flat_map(|degree| (0..=degree).map(move |i| (i, degree - i)))
}

/// The terms of empty cells from the sums of products of powers of their `mu`
/// and `lambda`.
struct Series {
    coefficients: [Polynomial; 7],
}

impl Series {
    fn new() -> Self {
        let (mu, lambda) = (monomial(1.0, 1, 0), monomial(1.0, 0, 1));
        let q = sum(&lambda, -1.0, &mu);
        let exp = |x: &Polynomial, rate: f64| series(x, |k| rate.powi(k as i32) / factorial(k));
        let alpha = series(&q, alpha_coefficient);
        let gamma = series(&q, gamma_coefficient);
        let mu_q = product(&mu, &q);
        let mu_q_q = product(&mu_q, &q);
        let q_q = product(&q, &q);
        let b1 = product(&exp(&lambda, -1.0), &sum(&mu_q_q, -2.0, &mu_q));
        let b1 = sum(&monomial(0.0, 0, 0), 0.5, &b1);
        let b2 = product(&exp(&lambda, -1.0), &mu_q);
        let b2 = sum(&monomial(0.0, 0, 0), -0.5, &b2);
        let v1 = product(
            &exp(&lambda, -2.0),
            &sum(&mu_q_q, 0.5, &product(&q_q, &q_q)),
        );
        let a_part = product(&mu, &product(&alpha, &alpha));
        let v2 = product(
            &exp(&mu, -2.0),
            &sum(&a_part, 2.0, &product(&gamma, &gamma)),
        );
        let squares = [product(&b1, &b1), product(&b2, &b2)];
        let uniques = product(&mu, &exp(&mu, -1.0));
        let [s1, s2] = squares;
        Self {
            coefficients: [b1, b2, v1, v2, s1, s2, uniques],
        }
    }

    fn evaluate(&self, products: &[f64; PRODUCTS]) -> Terms {
        let at = |f: usize| -> f64 {
            let terms = powers().skip(1).zip(products);
            terms
                .map(|((i, j), p)| self.coefficients[f][i][j] * p)
                .sum()
        };
        Terms {
            b: [at(0), at(1)],
            v: [at(2), at(3)],
            b_squared: [at(4), at(5)],
            uniques: at(6),
        }
    }
}

/// Multiplies the products of powers of `mu` and `lambda` into `out`.
fn multiply_powers(mu: f64, lambda: f64, out: &mut [f64]) {
    let (mut of_mu, mut of_lambda) = ([1.0; DEGREE + 1], [1.0; DEGREE + 1]);
    for k in 1..=DEGREE {
        of_mu[k] = of_mu[k - 1] * mu;
        of_lambda[k] = of_lambda[k - 1] * lambda;
    }
    for (x, (i, j)) in out.iter_mut().zip(powers().skip(1)) {
        *x *= of_mu[i] * of_lambda[j];
    }
}

/// Sums at and below the rows of one clique's table, relative to the product of the rows above.
#[derive(Default)]
struct Bounds {
    /// Largest `mu`.
    mu: Vec<f64>,
    /// Largest `lambda`.
    lambda: Vec<f64>,
    /// Least product of effects.
    effect: Vec<f64>,
    /// Sums of products of powers, each relative to its largest.
    products: Vec<f64>,
}

/// A raked distribution over the cells.
struct Raked<'a> {
    tables: &'a Tables<'a>,
    of: &'a Conditionals,
    /// Per clique, the product of the effects of its residual variables.
    effects: Vec<Vec<f64>>,
    bounds: Vec<Bounds>,
}

struct Walk<'m> {
    pace: Pace<'m>,
    codes: Vec<u32>,
    products: [f64; PRODUCTS],
    terms: Terms,
}

impl Tables<'_> {
    /// The terms of all cells as empty ones, `lambda` being `scale` times the
    /// distribution and the effects.
    pub fn raked_terms(
        &self,
        of: &Conditionals,
        scale: f64,
        effects: &Effects,
        monitor: &Monitor,
    ) -> Result<Terms> {
        let mut raked = Raked {
            tables: self,
            of,
            effects: self.residual_effects(effects),
            bounds: Vec::new(),
        };
        if self.below.iter().any(|&b| b > FEW) {
            raked.bounds = raked.bounds();
        }
        let series = Series::new();
        let parts: Vec<Terms> = parallel::try_map(self.blocks(), monitor, |range| {
            let mut walk = Walk {
                pace: Pace::new(monitor),
                codes: vec![0; self.model.sizes().len()],
                products: [0.0; PRODUCTS],
                terms: Terms::default(),
            };
            raked.walk(&mut walk, 0, range, of.total, scale)?;
            walk.terms.add(&series.evaluate(&walk.products));
            Ok(walk.terms)
        })?;
        let mut all = Terms::default();
        parts.iter().for_each(|part| all.add(part));
        Ok(all)
    }

    fn residual_effects(&self, effects: &Effects) -> Vec<Vec<f64>> {
        let sizes = self.model.sizes();
        let mut codes = vec![0u32; sizes.len()];
        let of_table = |table: &super::clique::Table| {
            (0..table.n_residual)
                .map(|r| {
                    table.set_residual(r, sizes, &mut codes);
                    let factor = |&v: &usize| effects[v][codes[v] as usize];
                    table.residual.iter().map(factor).product()
                })
                .collect()
        };
        self.tables.iter().map(of_table).collect()
    }
}

impl Raked<'_> {
    /// `mu` and `factor = lambda / mu` are those of the levels chosen so far.
    fn walk(
        &self,
        walk: &mut Walk,
        clique: usize,
        range: Range<usize>,
        mu: f64,
        factor: f64,
    ) -> Result<()> {
        let tables = &self.tables.tables;
        let table = &tables[clique];
        let sizes = self.tables.model.sizes();
        let start = table.row(&walk.codes) * table.n_residual;
        let line = &self.of.tables[clique][start..start + table.n_residual];
        let effects = &self.effects[clique][range.clone()];
        walk.pace.go(range.len())?;
        if clique + 1 == tables.len() {
            for (&x, &effect) in line[range].iter().zip(effects) {
                let mu = mu * x;
                let terms = Terms::of_empty_cell(mu, mu * factor * effect);
                walk.terms.add(&terms);
            }
            return Ok(());
        }
        let bounded = self.tables.below[clique] > FEW;
        let next = tables[clique + 1].n_residual;
        table.set_residual(range.start, sizes, &mut walk.codes);
        for (i, (&x, &effect)) in line[range].iter().zip(effects).enumerate() {
            if i > 0 {
                table.next_residual(sizes, &mut walk.codes);
            }
            let (mu, factor) = (mu * x, factor * effect);
            if mu <= 0.0 {
                continue;
            }
            if bounded && self.add_products(walk, clique, mu, factor) {
                continue;
            }
            self.walk(walk, clique + 1, 0..next, mu, factor)?;
        }
        Ok(())
    }

    /// Adds all cells below a node by their products of powers, where `lambda`
    /// is small in all of them and nowhere less than `mu`.
    fn add_products(&self, walk: &mut Walk, clique: usize, mu: f64, factor: f64) -> bool {
        let tables = &self.tables.tables;
        let (mut most_mu, mut most_lambda, mut least) = (mu, mu * factor, factor);
        for &k in &self.tables.frontier[clique] {
            let row = tables[k].row(&walk.codes);
            most_mu *= self.bounds[k].mu[row];
            most_lambda *= self.bounds[k].lambda[row];
            least *= self.bounds[k].effect[row];
        }
        if most_lambda > SMALL || least < 1.0 {
            return false;
        }
        let mut products = [1.0; PRODUCTS];
        multiply_powers(most_mu, most_lambda, &mut products);
        let sums = |k: usize| &self.bounds[k].products[..];
        self.tables
            .times_below(clique, &walk.codes, sums, &mut products);
        for (sum, p) in walk.products.iter_mut().zip(products) {
            *sum += p;
        }
        true
    }

    fn bounds(&self) -> Vec<Bounds> {
        let n = self.tables.tables.len();
        let mut bounds: Vec<Bounds> = (0..n).map(|_| Bounds::default()).collect();
        for clique in (0..n).rev() {
            bounds[clique] = self.bounds_of(clique, &bounds);
        }
        bounds
    }

    /// The bounds of one clique from those of its children.
    fn bounds_of(&self, clique: usize, bounds: &[Bounds]) -> Bounds {
        let table = &self.tables.tables[clique];
        let width = table.n_residual;
        let mut mu = self.of.tables[clique].clone();
        let mut effect: Vec<f64> = self.effects[clique].repeat(table.n_separator);
        let mut lambda: Vec<f64> = mu.iter().zip(&effect).map(|(x, e)| x * e).collect();
        let children = table.child_strides();
        for (child, strides) in &children {
            let child = &bounds[*child];
            for_each_cell(&table.sizes, strides, |i, t| {
                mu[i] *= child.mu[t];
                lambda[i] *= child.lambda[t];
                effect[i] *= child.effect[t];
            });
        }
        let largest = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
        // Cells that cannot be do not bind.
        let least = |(effect, mu): (&[f64], &[f64])| {
            let possible = effect.iter().zip(mu).filter(|(_, &mu)| mu > 0.0);
            possible.map(|(&e, _)| e).fold(f64::INFINITY, f64::min)
        };
        let mut out = Bounds {
            mu: mu.chunks(width).map(largest).collect(),
            lambda: lambda.chunks(width).map(largest).collect(),
            effect: effect
                .chunks(width)
                .zip(mu.chunks(width))
                .map(least)
                .collect(),
            products: vec![0.0; table.n_separator * PRODUCTS],
        };
        let steps: Vec<&Vec<usize>> = children.iter().map(|(_, s)| s).collect();
        let targets = positions(&table.sizes, &steps);
        let mut term = [1.0; PRODUCTS];
        for i in (0..mu.len()).filter(|&i| mu[i] > 0.0) {
            let row = i / width;
            term.fill(1.0);
            multiply_powers(mu[i] / out.mu[row], lambda[i] / out.lambda[row], &mut term);
            for ((child, _), target) in children.iter().zip(&targets) {
                times(&mut term, &bounds[*child].products[target[i] * PRODUCTS..]);
            }
            for (sum, &t) in out.products[row * PRODUCTS..].iter_mut().zip(&term) {
                *sum += t;
            }
        }
        out
    }
}

/// Per part of a table, the place in it of every cell.
fn positions(sizes: &[usize], strides: &[&Vec<usize>]) -> Vec<Vec<usize>> {
    strides
        .iter()
        .map(|strides| {
            let mut places = Vec::with_capacity(sizes.iter().product());
            for_each_cell(sizes, strides, |_, target| places.push(target));
            places
        })
        .collect()
}
