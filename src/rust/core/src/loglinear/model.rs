//! Hierarchical log-linear models: `lambda(x) = product over generators g of
//! U_g(x_g)`, the fit being that whose margins on the generators are the
//! data's.

use super::cells::Cells;
use crate::error::{Error, Result};

/// Parameters beyond which a model is refused: 400 MB in one vector of them.
pub const MOST_PARAMETERS: f64 = 5e7;

/// One term of highest order: a table over its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Places of its variables, ascending.
    pub vars: Vec<usize>,
    /// Start of its table among all parameters.
    pub offset: usize,
    /// Cells of its table.
    pub len: usize,
    strides: Vec<usize>,
}

impl Generator {
    /// Place of the cell with these levels among all parameters.
    #[inline]
    pub fn index(&self, codes: &[u32]) -> usize {
        let mut at = self.offset;
        for (i, &v) in self.vars.iter().enumerate() {
            at += codes[v] as usize * self.strides[i];
        }
        at
    }

    /// The step in the table from one level of `var` to the next.
    pub fn stride(&self, var: usize) -> usize {
        self.vars
            .iter()
            .position(|&v| v == var)
            .map_or(0, |i| self.strides[i])
    }
}

/// A hierarchical model over a table of given sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    sizes: Vec<usize>,
    generators: Vec<Generator>,
    n_parameters: usize,
}

impl Model {
    /// The smallest hierarchical model with all main effects and `terms`.
    pub fn new(sizes: &[usize], terms: &[Vec<usize>]) -> Result<Self> {
        let mut terms: Vec<Vec<usize>> = terms
            .iter()
            .cloned()
            .chain((0..sizes.len()).map(|v| vec![v]))
            .collect();
        for term in &mut terms {
            term.sort_unstable();
            term.dedup();
        }
        if terms.iter().flatten().any(|&v| v >= sizes.len()) {
            return Err(Error::BadArgument(
                "A term of the model names a key variable the table does not have.".into(),
            ));
        }
        terms.sort();
        terms.dedup();
        let maximal: Vec<Vec<usize>> = terms
            .iter()
            .filter(|term| {
                !terms
                    .iter()
                    .any(|other| other.len() > term.len() && is_subset(term, other))
            })
            .filter(|term| !term.is_empty())
            .cloned()
            .collect();
        let n: f64 = maximal
            .iter()
            .map(|term| term.iter().map(|&v| sizes[v] as f64).product::<f64>())
            .sum();
        if n > MOST_PARAMETERS {
            return Err(too_large(
                &format!("The margins of the model must have at most {MOST_PARAMETERS:.0} cells."),
                &format!("They have {n:.3e}."),
            ));
        }
        let mut offset = 0;
        let generators = maximal
            .into_iter()
            .map(|vars| {
                let own: Vec<usize> = vars.iter().map(|&v| sizes[v]).collect();
                let strides = row_major(&own);
                let len = own.iter().product();
                let generator = Generator {
                    vars,
                    offset,
                    len,
                    strides,
                };
                offset += len;
                generator
            })
            .collect();
        Ok(Self {
            sizes: sizes.to_vec(),
            generators,
            n_parameters: offset,
        })
    }

    /// All pairs of the variables.
    pub fn pairs(n: usize) -> Vec<Vec<usize>> {
        (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| vec![i, j]))
            .collect()
    }

    /// Levels of the variables.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Terms of highest order.
    pub fn generators(&self) -> &[Generator] {
        &self.generators
    }

    /// Place of the table of every generator among all parameters.
    pub fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let range = |g: &Generator| g.offset..g.offset + g.len;
        self.generators.iter().map(range).collect()
    }

    /// Cells of all generators' tables.
    pub fn n_parameters(&self) -> usize {
        self.n_parameters
    }

    /// The places of the variables of every generator.
    pub fn terms(&self) -> Vec<Vec<usize>> {
        self.generators.iter().map(|g| g.vars.clone()).collect()
    }

    /// Number of cells of the whole table.
    pub fn n_table(&self) -> f64 {
        self.sizes.iter().map(|&s| s as f64).product()
    }

    /// The margins on the generators of a table given by values of cells.
    pub fn margins(&self, cells: &Cells, values: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut margins = vec![0.0; self.n_parameters];
        for cell in 0..cells.len() {
            let codes = cells.codes(cell);
            let value = values(cell);
            for generator in &self.generators {
                margins[generator.index(codes)] += value;
            }
        }
        margins
    }

    /// The product of the parameters of one cell.
    #[inline]
    pub fn at(&self, u: &[f64], codes: &[u32]) -> f64 {
        let factors = self.generators.iter().map(|g| u[g.index(codes)]);
        let product: f64 = factors.clone().product();
        if product.is_finite() {
            return product;
        }
        // A part of the product left the range of numbers, the whole need not.
        factors.map(f64::ln).sum::<f64>().exp()
    }
}

fn is_subset(a: &[usize], b: &[usize]) -> bool {
    a.iter().all(|v| b.contains(v))
}

/// A number of cells in words: in full where it is short.
pub fn in_words(n_cells: f64) -> String {
    if n_cells < 1e7 {
        format!("{n_cells:.0}")
    } else {
        format!("{n_cells:.1e}")
    }
}

/// The refusal of a table, with what to do about it.
pub fn too_large(must: &str, found: &str) -> Error {
    let advice = "Leave out interactions or key variables, or recode to fewer categories.";
    Error::too_large(must, found, advice)
}

/// The steps from level to level of the variables of a table, whose sizes these
/// are; the last steps by 1.
pub fn row_major(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i] * sizes[i];
    }
    strides
}

/// Calls `visit(cell, target)` for all cells of a table with the levels
/// `sizes`, in row-major order, `target` being `sum(level * stride)`.
#[inline]
pub fn for_each_cell(sizes: &[usize], strides: &[usize], mut visit: impl FnMut(usize, usize)) {
    let Some((&last, outer)) = sizes.split_last() else {
        visit(0, 0);
        return;
    };
    let step = strides[outer.len()];
    let mut level = vec![0usize; outer.len()];
    let mut target = 0;
    let mut cell = 0;
    loop {
        for i in 0..last {
            visit(cell + i, target + i * step);
        }
        cell += last;
        let mut v = outer.len();
        loop {
            if v == 0 {
                return;
            }
            v -= 1;
            level[v] += 1;
            target += strides[v];
            if level[v] < outer[v] {
                break;
            }
            target -= level[v] * strides[v];
            level[v] = 0;
        }
    }
}
