//! Contribution of one cell of the table: the two risks, their variances, and the terms of the
//! minimum-error criterion.
//!
//! With `q = (1 - pi) lambda` and `mu = pi lambda`, `F - 1` is Poisson with
//! mean `q` in a cell with `f = 1`. Every function is written so that nothing
//! cancels: differences of exponentials go through [`gamma`].

/// Below this `q` the differences of exponentials are summed as series.
const SERIES_BELOW: f64 = 0.5;

/// The powers of `lambda` that a series in a subtree keeps.
pub const POWERS: usize = 32;

/// `P(F = 1 | f = 1) = exp(-q)`.
pub fn h1(q: f64) -> f64 {
    (-q).exp()
}

/// `E(1 / F | f = 1) = (1 - exp(-q)) / q`, 1 at `q = 0`.
pub fn h2(q: f64) -> f64 {
    if q > 0.0 {
        -(-q).exp_m1() / q
    } else {
        1.0
    }
}

/// Minus the derivative of `h1` by the logarithm of `lambda`.
pub fn h1_slope(q: f64) -> f64 {
    q * (-q).exp()
}

/// Minus the derivative of `h2` by the logarithm of `lambda`.
pub fn h2_slope(q: f64) -> f64 {
    let exp_q = (-q).exp();
    gamma(q, exp_q) + 0.5 * q * exp_q
}

/// The second derivative of `h1` by `q`.
pub fn h1_curvature(q: f64) -> f64 {
    (-q).exp()
}

/// The second derivative of `h2` by `q`, the integral of `t^2 exp(-q t)` over
/// `t` from 0 to 1.
pub fn h2_curvature(q: f64) -> f64 {
    if q < SERIES_BELOW {
        let mut term = 1.0;
        let mut sum = 0.0;
        for k in 0..14 {
            sum += term / (f64::from(k) + 3.0);
            term *= -q / (f64::from(k) + 1.0);
        }
        return sum;
    }
    if q > 1e100 {
        return 0.0;
    }
    (2.0 - (-q).exp() * (q * q + 2.0 * q + 2.0)) / (q * q * q)
}

/// Variance of `I(F = 1)` given `f = 1`.
pub fn v1(q: f64) -> f64 {
    -(-q).exp() * (-q).exp_m1()
}

/// Variance of `1 / F` given `f = 1`.
pub fn v2(q: f64) -> f64 {
    if q < 0.02 {
        // E(1/F) = 1 - q/2 + q^2/6 - q^3/24, E(1/F^2) = 1 - 3q/4 + 11q^2/36 - 25q^3/288.
        return q * (0.25 + q * (-5.0 / 18.0 + q * 47.0 / 288.0));
    }
    (second_moment(q) - h2(q).powi(2)).max(0.0)
}

/// `E(1 / F^2 | f = 1) = exp(-q) sum_j q^j / (j! (j + 1)^2)`.
fn second_moment(q: f64) -> f64 {
    if q > 60.0 {
        // E(X + 1)^-2 in falling powers of q; the next term is below 1e-6 of it.
        let r = 1.0 / q;
        return r * r * (1.0 + r * (1.0 + r * (2.0 + r * (6.0 + r * 24.0))));
    }
    let mut weight = (-q).exp();
    let mut sum = 0.0;
    let mut j = 0.0;
    loop {
        let term = weight / ((j + 1.0) * (j + 1.0));
        sum += term;
        j += 1.0;
        weight *= q / j;
        if j > q && term < 1e-18 * sum {
            return sum;
        }
    }
}

/// `h2(q) - exp(-q) (1 + q / 2)`. With `q exp(-q) / 2`, which is positive like
/// it, it makes `h2(q) - exp(-q)`.
fn gamma(q: f64, exp_q: f64) -> f64 {
    if q < SERIES_BELOW {
        GAMMA.iter().rev().fold(0.0, |sum, c| sum * q + c)
    } else {
        (1.0 - exp_q) / q - exp_q * (1.0 + 0.5 * q)
    }
}

pub(super) const fn factorial(k: usize) -> f64 {
    let mut product = 1.0;
    let mut i = 2;
    while i <= k {
        product *= i as f64;
        i += 1;
    }
    product
}

const fn sign(k: usize) -> f64 {
    if k % 2 == 0 {
        1.0
    } else {
        -1.0
    }
}

pub(super) const fn alpha_coefficient(k: usize) -> f64 {
    sign(k) * (1.0 / factorial(k + 1) - 1.0 / factorial(k))
}

pub(super) const fn gamma_coefficient(k: usize) -> f64 {
    let half = if k == 0 {
        0.0
    } else {
        0.5 * sign(k) / factorial(k - 1)
    };
    alpha_coefficient(k) + half
}

/// 14 terms leave less than 1e-17 at `q = 0.5`.
const GAMMA: [f64; 14] = {
    let mut table = [0.0; 14];
    let mut k = 0;
    while k < 14 {
        table[k] = gamma_coefficient(k);
        k += 1;
    }
    table
};

/// Sums over cells of the terms of the criterion.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Terms {
    /// The criterion `B`, for `h1` and `h2`.
    pub b: [f64; 2],
    /// Its variance under the Poisson model.
    pub v: [f64; 2],
    /// Its squares, for the empirical variance over cells.
    pub b_squared: [f64; 2],
    /// Expected sample uniques, `mu exp(-mu)`.
    pub uniques: f64,
}

impl Terms {
    /// The terms of a cell with `f` records.
    pub fn of_cell(lambda: f64, pi: f64, f: f64) -> Self {
        let (mu, q) = (pi * lambda, (1.0 - pi) * lambda);
        let (exp_mu, exp_q) = ((-mu).exp(), (-q).exp());
        let exp_lambda = exp_mu * exp_q;
        let gamma = gamma(q, exp_q);
        let residual = f - mu;
        let square = residual * residual - f;
        // If the exponential is 0, so is its product with any power of q.
        let q_exp = |x: f64, exp: f64| if exp > 0.0 { x * exp } else { 0.0 };
        let a = [
            q_exp(q, exp_lambda),
            exp_mu * (gamma + q_exp(0.5 * q, exp_q)),
        ];
        // b mu, which stays finite where mu vanishes.
        let b_mu = [q_exp(0.5 * q * q, exp_lambda), exp_mu * gamma];
        let mut terms = Self::default();
        for i in 0..2 {
            let b = if mu > 0.0 {
                a[i] * residual + b_mu[i] / mu * square
            } else {
                0.0
            };
            terms.b[i] = b;
            terms.v[i] = a[i] * a[i] * mu + 2.0 * b_mu[i] * b_mu[i];
            terms.b_squared[i] = b * b;
        }
        terms.uniques = mu * exp_mu;
        terms
    }

    /// The terms of a cell without records, `lambda` being at least `mu`.
    #[inline]
    pub fn of_empty_cell(mu: f64, lambda: f64) -> Self {
        if mu > 0.0 {
            Self::of_cell(lambda.max(mu), (mu / lambda).min(1.0), 0.0)
        } else {
            Self::default()
        }
    }

    /// Adds the terms of other cells.
    pub fn add(&mut self, other: &Self) {
        self.add_times(1.0, other);
    }

    /// Takes the terms of cells away.
    pub fn subtract(&mut self, other: &Self) {
        self.add_times(-1.0, other);
    }

    /// Adds the terms of `n` cells like another, of fewer than none too.
    pub fn add_times(&mut self, n: f64, other: &Self) {
        for i in 0..2 {
            self.b[i] += n * other.b[i];
            self.v[i] += n * other.v[i];
            self.b_squared[i] += n * other.b_squared[i];
        }
        self.uniques += n * other.uniques;
    }
}

/// The terms of empty cells with `lambda <= 1` from the sums of their powers
/// `lambda^1, lambda^2, ...`: every term is an entire function of `lambda`.
#[derive(Debug, Clone)]
pub struct TermSeries {
    coefficients: [[f64; POWERS + 1]; 7],
}

type Polynomial = [f64; POWERS + 1];

fn polynomial(coefficient: impl Fn(usize) -> f64) -> Polynomial {
    std::array::from_fn(coefficient)
}

fn product(a: &Polynomial, b: &Polynomial) -> Polynomial {
    polynomial(|m| (0..=m).map(|i| a[i] * b[m - i]).sum())
}

fn times_power(a: &Polynomial, scale: f64, power: usize) -> Polynomial {
    polynomial(|m| if m < power { 0.0 } else { scale * a[m - power] })
}

fn sum(a: &Polynomial, b: &Polynomial) -> Polynomial {
    polynomial(|m| a[m] + b[m])
}

impl TermSeries {
    /// The series for the sampling fraction `pi`.
    pub fn new(pi: f64) -> Self {
        let rest = 1.0 - pi;
        let exponential = |rate: f64| polynomial(|k| sign(k) * rate.powi(k as i32) / factorial(k));
        let in_q =
            |coefficient: fn(usize) -> f64| polynomial(|k| coefficient(k) * rest.powi(k as i32));
        let exp_lambda = exponential(1.0);
        let exp_two = exponential(2.0);
        let exp_mu = exponential(pi);
        let a2 = product(&exp_mu, &in_q(alpha_coefficient));
        let c2 = product(&exp_mu, &in_q(gamma_coefficient));
        let b1 = sum(
            &times_power(&exp_lambda, 0.5 * pi * rest * rest, 3),
            &times_power(&exp_lambda, -pi * rest, 2),
        );
        let b2 = times_power(&exp_lambda, -0.5 * pi * rest, 2);
        let v1 = sum(
            &times_power(&exp_two, pi * rest * rest, 3),
            &times_power(&exp_two, 0.5 * rest.powi(4), 4),
        );
        let v2 = sum(
            &times_power(&product(&a2, &a2), pi, 1),
            &times_power(&product(&c2, &c2), 2.0, 0),
        );
        let squares = [product(&b1, &b1), product(&b2, &b2)];
        let uniques = times_power(&exp_mu, pi, 1);
        Self {
            coefficients: [b1, b2, v1, v2, squares[0], squares[1], uniques],
        }
    }

    /// The terms, `powers[m - 1]` being the sum of `lambda^m`.
    pub fn evaluate(&self, powers: &[f64; POWERS]) -> Terms {
        let at = |j: usize| -> f64 {
            // From the smallest terms up.
            (0..POWERS)
                .rev()
                .map(|m| self.coefficients[j][m + 1] * powers[m])
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
