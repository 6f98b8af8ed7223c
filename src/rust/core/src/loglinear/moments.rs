//! Sums of the criterion's terms over many cells with the same number of records.
//!
//! The terms of such a cell are smooth functions of its `lambda`. So cells
//! are sorted into narrow bins of `lambda`, of which only the first moments are
//! kept; in the end a few nodes with the same moments stand for the cells of a
//! bin. Polynomials of degree 7 are summed exactly, and the terms, which fall
//! like `exp(-lambda)`, to twelve digits below `lambda = 2` and to nine at 9. A
//! cell costs a few multiplications instead of two exponentials.

use super::measures::Terms;

/// Moments of a bin, from the number of its cells on.
const MOMENTS: usize = 8;
/// Bins between one power of 2 and the next are 2 to this power.
const BITS: u32 = 5;
/// Powers of 2 between which `lambda + 2^LOWEST` has bins; cells above are few.
const LOWEST: i32 = -20;
const HIGHEST: i32 = 16;
/// Bits of the fraction of a number, and the bits of 1.
const FRACTION: u32 = 52;
const ONE: u64 = 1023 << FRACTION;

/// Moments, in one line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Bin([f64; MOMENTS]);

/// Cells with the same number of records, by their expected counts.
#[derive(Debug, Clone)]
pub struct LikeCells {
    pi: f64,
    count: f64,
    bins: Vec<Bin>,
    /// Terms that are no sums of moments.
    others: Terms,
}

impl LikeCells {
    /// None yet, of cells with `count` records.
    pub fn new(pi: f64, count: f64) -> Self {
        Self {
            pi,
            count,
            bins: vec![Bin([0.0; MOMENTS]); ((HIGHEST - LOWEST) as usize) << BITS],
            others: Terms::default(),
        }
    }

    /// Adds cells with the expected counts `scale * line`.
    #[inline]
    pub fn add(&mut self, scale: f64, line: &[f64]) {
        for &x in line {
            let bits = (scale * x + lowest()).to_bits();
            match self.bins.get_mut(bin(bits)) {
                Some(sums) => {
                    // From -1 to 1 over the bin.
                    let s =
                        f64::from_bits(((bits << BITS) & ((1 << FRACTION) - 1)) | ONE) * 2.0 - 3.0;
                    let (s2, s4) = (s * s, s * s * (s * s));
                    let powers = [1.0, s, s2, s2 * s, s4, s4 * s, s4 * s2, s4 * s2 * s];
                    for (sum, power) in sums.0.iter_mut().zip(powers) {
                        *sum += power;
                    }
                }
                None => {
                    let terms = Terms::of_cell(scale * x, self.pi, self.count);
                    self.others.add(&terms);
                }
            }
        }
    }

    /// Adds terms known otherwise.
    pub fn add_terms(&mut self, terms: &Terms) {
        self.others.add(terms);
    }

    /// Adds other cells.
    pub fn append(&mut self, other: &Self) {
        for (sums, more) in self.bins.iter_mut().zip(&other.bins) {
            for (sum, x) in sums.0.iter_mut().zip(more.0) {
                *sum += x;
            }
        }
        self.others.add(&other.others);
    }

    /// Takes cells away that were added.
    pub fn remove(&mut self, lambda: &[f64]) {
        let mut gone = Self::new(self.pi, self.count);
        gone.add(1.0, lambda);
        for (sums, less) in self.bins.iter_mut().zip(&gone.bins) {
            for (sum, x) in sums.0.iter_mut().zip(less.0) {
                *sum -= x;
            }
        }
        self.others.subtract(&gone.others);
    }

    /// The terms summed over all cells.
    pub fn terms(&self) -> Terms {
        let mut terms = self.others;
        self.for_each_node(|weight, lambda| {
            terms.add_times(weight, &Terms::of_cell(lambda, self.pi, self.count));
        });
        terms
    }

    /// Calls `visit(weight, lambda)` for the nodes of all bins: sums of smooth functions of
    /// `lambda` over the cells in bins are sums over these, times weights.
    pub fn for_each_node(&self, mut visit: impl FnMut(f64, f64)) {
        let nodes = nodes();
        let polynomials = lagrange(&nodes);
        for (i, Bin(moments)) in self.bins.iter().enumerate() {
            // A bin without cells.
            if moments.iter().all(|m| m.abs() <= 0.0) {
                continue;
            }
            let start = f64::from_bits(first_bin() + ((i as u64) << (FRACTION - BITS)));
            let next = f64::from_bits(first_bin() + ((i as u64 + 1) << (FRACTION - BITS)));
            for (node, polynomial) in nodes.iter().zip(&polynomials) {
                let weight = dot(polynomial, moments);
                let lambda = start - lowest() + (next - start) * (0.5 + 0.5 * node);
                visit(weight, lambda);
            }
        }
    }

    /// True if cells with these expected counts all have bins.
    pub fn have_bins(lambda: &[f64]) -> bool {
        lambda.iter().all(|&x| x < 2f64.powi(HIGHEST - 1))
    }
}

fn lowest() -> f64 {
    f64::from_bits(first_bin())
}

const fn first_bin() -> u64 {
    ((1023 + LOWEST) as u64) << FRACTION
}

/// The bin of a number, beyond all bins where there is none.
#[inline]
fn bin(bits: u64) -> usize {
    (bits.wrapping_sub(first_bin()) >> (FRACTION - BITS)) as usize
}

/// Chebyshev's nodes between -1 and 1.
fn nodes() -> [f64; MOMENTS] {
    std::array::from_fn(|j| {
        let turn = (j as f64 + 0.5) / MOMENTS as f64;
        (std::f64::consts::PI * turn).cos()
    })
}

/// Per node, the coefficients of the polynomial that is 1 there and 0 at the
/// others.
fn lagrange(nodes: &[f64; MOMENTS]) -> [[f64; MOMENTS]; MOMENTS] {
    std::array::from_fn(|j| {
        let mut polynomial = [0.0; MOMENTS];
        polynomial[0] = 1.0;
        for (_, node) in nodes.iter().enumerate().filter(|&(i, _)| i != j) {
            // Times (s - node) / (nodes[j] - node).
            let scale = 1.0 / (nodes[j] - node);
            for k in (0..MOMENTS).rev() {
                let lower = if k > 0 { polynomial[k - 1] } else { 0.0 };
                polynomial[k] = scale * (lower - node * polynomial[k]);
            }
        }
        polynomial
    })
}

fn dot(a: &[f64; MOMENTS], b: &[f64; MOMENTS]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
