//! `f E[1 / F | f]` of one class, see `draws`.

/// Nodes of the quadrature.
const NODES: usize = 48;
/// Frequencies with a recurrence. Those of more records are integrated, or bounded.
pub(super) const RECURRED: f64 = 64.0;

/// Gauss-Legendre nodes and weights on (0, 1).
fn legendre() -> [(f64, f64); NODES] {
    std::array::from_fn(|i| {
        let n = NODES as f64;
        let mut x = ((i as f64 + 0.75) / (n + 0.5) * std::f64::consts::PI).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut below, mut value) = (1.0, x);
            for k in 2..=NODES {
                let k = k as f64;
                (below, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * below) / k);
            }
            slope = n * (x * value - below) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        ((1.0 + x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    })
}

/// `f E[1 / F | f]` for growing frequencies.
pub(super) struct Shares {
    quadrature: [(f64, f64); NODES],
    /// Instead of the integral of a frequency above [`RECURRED`] a bound: it is the mean of
    /// `q (q + (1 - q) z)^(s - 2)` over a law of `z` that grows with `f`.
    bounded: bool,
}

impl Shares {
    pub fn new(bounded: bool) -> Self {
        Self {
            quadrature: legendre(),
            bounded,
        }
    }

    /// `q` times the integral, by the recurrence where that is stable: from `f` to `f + 1`
    /// it divides errors by `(1 - q) (f + s - 1) / (f q)`.
    pub fn at(&self, frequencies: &[f64], s: f64, q: f64, mut each: impl FnMut(usize, f64)) {
        let (mut f, mut value) = (1.0, alone(s, q));
        for (at, &wanted) in frequencies.iter().enumerate() {
            if q > 1.0 - 1e-12 {
                // Nobody else is left.
                each(at, 1.0);
            } else if wanted <= 1.0 {
                each(at, value);
            } else if self.bounded && wanted > RECURRED {
                each(at, alone(s, q).max(q));
            } else if q < 0.5 && wanted <= RECURRED {
                while f < wanted {
                    value = q * (1.0 - f * value) / ((1.0 - q) * (f + s - 1.0));
                    f += 1.0;
                }
                each(at, wanted * value);
            } else {
                each(at, wanted * self.integral(wanted, s, q));
            }
        }
    }

    fn integral(&self, f: f64, s: f64, q: f64) -> f64 {
        let decay = (f - 1.0) + (s - 2.0) * (1.0 - q);
        let width = if decay > 40.0 { 40.0 / decay } else { 1.0 };
        let sum: f64 = (self.quadrature.iter())
            .map(|&(node, weight)| {
                let x = width * node;
                // z = 1 - x.
                let ln_z = (f - 1.0) * (-x).ln_1p();
                weight * (ln_z + (s - 2.0) * (-(1.0 - q) * x).ln_1p()).exp()
            })
            .sum();
        q * width * sum
    }
}

/// `E[1 / F | f = 1]`.
pub(super) fn alone(s: f64, q: f64) -> f64 {
    let r = 1.0 - q;
    if r < 1e-12 {
        return 1.0;
    }
    let a = s - 1.0;
    q * -(a * q.ln()).exp_m1() / (r * a)
}
