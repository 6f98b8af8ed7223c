//! The intruder who weighs all released counts, not only the target's.
//!
//! The promise is on P(CM | S_j = a). Given the counts `s` of *all* cells of a
//! block a release is one of the ways to send the records there, with weights
//! `w_i = p_stay(i) / p_move(i)` for those that stay and 1 for those that move.
//! Write `w_i = 1 + v_i`: a record is held with weight `v_i`, or goes anywhere.
//! If every cell keeps its count, `s = T`, the sum over all ways
//! is the integral that also counts derangements,
//!
//! ```text
//! Z = integral over y of exp(-y) prod_i v_i^T_i L_(T_i)(-y / v_i),
//! L_T(-x) = sum over u of C(T, u) x^u / u!      (Laguerre's polynomial)
//! ```
//!
//! and with one record of cell `j` in its place, `L_(T_j)` gives way to
//! `L_(T_j - 1)`:
//!
//! ```text
//! P(CM | S = T) = w_j / (v_j T_j) E[ L_(T_j - 1)(-y / v_j) / L_(T_j)(-y / v_j) ],
//! ```
//!
//! the mean under the integrand. Its logarithm is concave in `y`, for the zeros
//! of Laguerre's polynomials are real: one peak, and a short sum.
//!
//! With two cells the other count follows from the first, and nothing is gained.
//! From a bound of 1/2 on `s = T` is the worst release, by enumeration of all
//! releases of small files; below it other releases can be worse.

use super::match_prob::Tally;

/// Intervals of the sum over `y`, a multiple of four.
const STEPS: usize = 400;
/// Fall of the logarithm of the integrand beyond which nothing is added.
const FALL: f64 = 40.0;

/// A distinct count of a block.
struct Kind {
    count: u64,
    /// Number of cells of that count.
    cells: f64,
    /// Weight of being held beside going anywhere.
    held: f64,
}

/// The largest P(CM | all released counts) of a block where every cell comes
/// out with its own count, and at least the worst P(CM | S_j = a).
pub fn all_counts(tally: &Tally, theta: f64) -> f64 {
    let worst = tally.worst(theta);
    if tally.n_cells() < 3 || theta <= 0.0 {
        return worst;
    }
    let others = (tally.n_cells() - 1) as f64;
    let kinds: Vec<Kind> = tally
        .distinct()
        .iter()
        .map(|&(count, cells)| Kind {
            count,
            cells: cells as f64,
            // Zero where all places are equally likely.
            held: ((count as f64 - theta) * others / theta - 1.0).max(1e-12),
        })
        .collect();
    let (low, peak, high) = range(&kinds);
    let mut sums = vec![0.0; kinds.len()];
    let mut whole = 0.0;
    for step in 0..=STEPS {
        let y = low + (high - low) * step as f64 / STEPS as f64;
        // Boole's rule.
        let share = match step {
            0 | STEPS => 7.0,
            _ if step % 2 == 1 => 32.0,
            _ if step % 4 == 2 => 12.0,
            _ => 14.0,
        };
        let weight = share * (log_integrand(&kinds, y).0 - peak).exp();
        whole += weight;
        for (sum, kind) in sums.iter_mut().zip(&kinds) {
            let x = y / kind.held;
            *sum += weight * laguerre(kind.count - 1, x).0 / laguerre(kind.count, x).0;
        }
    }
    kinds
        .iter()
        .zip(&sums)
        .map(|(kind, sum)| (1.0 + 1.0 / kind.held) / kind.count as f64 * sum / whole)
        .fold(worst, f64::max)
}

/// Range in which the integrand matters, and its logarithm at the peak.
fn range(kinds: &[Kind]) -> (f64, f64, f64) {
    let value = |y: f64| log_integrand(kinds, y).0;
    let mut mode = 0.0;
    if log_integrand(kinds, 0.0).1 > 0.0 {
        let mut high = 1.0;
        while log_integrand(kinds, high).1 > 0.0 {
            mode = high;
            high *= 2.0;
        }
        mode = bisect(mode, high, |y| log_integrand(kinds, y).1 > 0.0);
    }
    let peak = value(mode);
    let mut width = 1.0;
    while value(mode + width) > peak - FALL {
        width *= 2.0;
    }
    let high = bisect(mode, mode + width, |y| value(y) > peak - FALL);
    let low = if value(0.0) > peak - FALL {
        0.0
    } else {
        bisect(0.0, mode, |y| value(y) <= peak - FALL)
    };
    (low, peak, high)
}

/// The end of the part from `low` on where `holds`.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Logarithm of the integrand and its derivative.
fn log_integrand(kinds: &[Kind], y: f64) -> (f64, f64) {
    kinds.iter().fold((-y, -1.0), |(log, slope), kind| {
        let (value, rise) = laguerre(kind.count, y / kind.held);
        (
            log + kind.cells * value.ln(),
            slope + kind.cells * rise / value / kind.held,
        )
    })
}

/// `L_T(-x)` and its derivative in `x`: sums of positive terms.
fn laguerre(count: u64, x: f64) -> (f64, f64) {
    let (mut term, mut value, mut rise) = (1.0, 1.0, 0.0);
    for u in 1..=count {
        let u_real = u as f64;
        let step = (count - u + 1) as f64 / (u_real * u_real);
        rise += term * step * u_real;
        term *= step * x;
        value += term;
        if term < 1e-17 * value && step * x < 1.0 {
            break;
        }
    }
    (value, rise)
}
