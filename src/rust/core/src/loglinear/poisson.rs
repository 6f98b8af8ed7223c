//! Draws of Poisson variates.

use rand::rngs::ChaCha8Rng;
use rand::RngExt;

/// A Poisson variate: by inversion below 30, else by transformed rejection
/// with squeeze (Hörmann 1993, algorithm PTRS).
pub fn poisson(mean: f64, rng: &mut ChaCha8Rng) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    if mean < 30.0 {
        let mut term = (-mean).exp();
        let mut left = rng.random::<f64>();
        let mut k = 0.0;
        while left > term && k < 400.0 {
            left -= term;
            k += 1.0;
            term *= mean / k;
        }
        return k;
    }
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse = 1.1239 + 1.1328 / (b - 3.4);
    let squeeze = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = rng.random::<f64>() - 0.5;
        let v = rng.random::<f64>();
        let s = 0.5 - u.abs();
        let k = ((2.0 * a / s + b) * u + mean + 0.43).floor();
        if s >= 0.07 && v <= squeeze {
            return k;
        }
        if k < 0.0 || (s < 0.013 && v > s) {
            continue;
        }
        let left = (v * inverse / (a / (s * s) + b)).ln();
        if left <= k * mean.ln() - mean - ln_factorial(k) {
            return k;
        }
    }
}

/// `ln(k!)` by Stirling's series, exact sums for small `k`.
pub fn ln_factorial(k: f64) -> f64 {
    if k < 10.0 {
        let mut sum = 0.0;
        let mut i = 2.0;
        while i <= k {
            sum += f64::ln(i);
            i += 1.0;
        }
        return sum;
    }
    let r = 1.0 / k;
    (k + 0.5) * k.ln() - k + 0.918_938_533_204_672_7 + r * (1.0 / 12.0 - r * r / 360.0)
}
