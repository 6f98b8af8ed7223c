//! `E(1/F)`: the expectation of one over a negative binomial frequency.

/// Below this frequency the recurrence is used where `x` is at least 1.
pub(super) const FEW: u64 = 8;
/// Below this frequency the recurrence is used where `x` is at least 9.
pub(super) const SOME: u64 = 30;

/// `E(1/F)` for a key that `f` records share whose weights sum to `population`.
/// If the weights sum to less than `f`, the population is the file: `1 / f`.
pub fn expected_inverse(f: u64, population: f64) -> f64 {
    let n = f as f64;
    let x = (population - n).max(0.0) / n;
    if (f <= FEW && x >= 1.0) || (f <= SOME && x >= 9.0) {
        by_recurrence(f, x)
    } else {
        by_series(n, x)
    }
}

pub(super) fn by_recurrence(f: u64, x: f64) -> f64 {
    let mut risk = x.ln_1p() / x;
    for i in 1..f {
        risk = (1.0 / i as f64 - risk) / x;
    }
    risk
}

pub(super) fn by_series(n: f64, x: f64) -> f64 {
    let q = x / (1.0 + x);
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut k = 0.0;
    while term > 1e-17 * sum {
        k += 1.0;
        term *= q * k / (n + k);
        sum += term;
    }
    sum / (n * (1.0 + x))
}
