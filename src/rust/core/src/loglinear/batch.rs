//! The terms of many empty cells, for passes over whole tables.
//!
//! Cells are gathered into blocks, and every step is done for a whole block:
//! this is what compilers turn into vector instructions. The exponential is
//! written out for the same reason.

use super::measures::{gamma, Terms};

const BLOCK: usize = 64;

/// Sums of the terms of empty cells.
#[derive(Debug)]
pub struct EmptyCells {
    pi: f64,
    lambda: [f64; BLOCK],
    n: usize,
    /// By place in the block.
    sums: [[f64; BLOCK]; 7],
}

impl EmptyCells {
    /// None yet.
    pub fn new(pi: f64) -> Self {
        Self {
            pi,
            lambda: [0.0; BLOCK],
            n: 0,
            /// By place in the block.
            sums: [[0.0; BLOCK]; 7],
        }
    }

    /// Adds cells with the expected counts `scale * line`.
    #[inline]
    pub fn add(&mut self, scale: f64, line: &[f64]) {
        for &x in line {
            self.lambda[self.n] = scale * x;
            self.n += 1;
            if self.n == BLOCK {
                self.sum_block();
            }
        }
    }

    /// The sums over all cells added.
    pub fn terms(mut self) -> Terms {
        // Cells that nobody is expected in contribute nothing.
        self.lambda[self.n..].fill(0.0);
        self.sum_block();
        let sum = |i: usize| self.sums[i].iter().sum::<f64>();
        Terms {
            b: [sum(0), sum(1)],
            v: [sum(2), sum(3)],
            b_squared: [sum(4), sum(5)],
            uniques: sum(6),
        }
    }

    /// `B1 = mu q exp(-lambda) (q / 2 - 1)`, `B2 = -mu q exp(-lambda) / 2`, and
    /// the other terms as in [`Terms::of_cell`].
    fn sum_block(&mut self) {
        self.n = 0;
        let (mut exp_mu, mut exp_q, mut gammas) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            exp_mu[i] = exp_minus(self.pi * self.lambda[i]);
        }
        for i in 0..BLOCK {
            exp_q[i] = exp_minus((1.0 - self.pi) * self.lambda[i]);
        }
        for i in 0..BLOCK {
            gammas[i] = gamma((1.0 - self.pi) * self.lambda[i], exp_q[i]);
        }
        let sums = &mut self.sums;
        for i in 0..BLOCK {
            let (mu, q) = (self.pi * self.lambda[i], (1.0 - self.pi) * self.lambda[i]);
            let half = 0.5 * q;
            let exp_lambda = exp_mu[i] * exp_q[i];
            let base = mu * q * exp_lambda;
            let (b1, b2) = (base * (half - 1.0), -0.5 * base);
            let a1 = q * exp_lambda;
            let a2 = exp_mu[i] * (gammas[i] + half * exp_q[i]);
            let c2 = exp_mu[i] * gammas[i];
            sums[0][i] += b1;
            sums[1][i] += b2;
            sums[2][i] += a1 * a1 * (mu + q * half);
            sums[3][i] += a2 * a2 * mu + 2.0 * c2 * c2;
            sums[4][i] += b1 * b1;
            sums[5][i] += b2 * b2;
            sums[6][i] += mu * exp_mu[i];
        }
    }
}

/// `exp(-x)` for `x >= 0` to the last digit but one; no less than `exp(-700)`.
#[inline(always)]
fn exp_minus(x: f64) -> f64 {
    /// Numbers added to it are rounded, and its last bits hold them.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// `ln 2`, of which the first part has few digits.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    let x = if x < 700.0 { x } else { 700.0 };
    // exp(-x) = 2^n exp(r), |r| <= ln(2) / 2.
    let shifted = ROUND - x * std::f64::consts::LOG2_E;
    let n = shifted - ROUND;
    let r = (-x - n * LN_2[0]) - n * LN_2[1];
    // Two sums that do not wait for each other.
    let square = r * r;
    let (mut even, mut odd) = (INVERSE_FACTORIALS[12], INVERSE_FACTORIALS[13]);
    for k in (0..6).rev() {
        even = even * square + INVERSE_FACTORIALS[2 * k];
        odd = odd * square + INVERSE_FACTORIALS[2 * k + 1];
    }
    (even + r * odd) * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

const INVERSE_FACTORIALS: [f64; 14] = {
    let mut table = [1.0; 14];
    let mut k = 1;
    while k < 14 {
        table[k] = table[k - 1] / k as f64;
        k += 1;
    }
    table
};
