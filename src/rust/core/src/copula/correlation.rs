//! The correlation of one pair of keys: where the rectangles of a bivariate
//! normal have the mutual information that the sample shows beyond chance.
//!
//! `I(rho)` does not decrease with `|rho|` on either side of zero, and it stays
//! below the information `-ln(1 - rho^2) / 2` of the normal pair itself. So the
//! root lies above `g(target)` with `g(I) = sqrt(1 - exp(-2 I))`, and `g(I(rho))`
//! is nearly proportional to `rho`: a few steps suffice.

use super::information::PairInformation;

/// No correlation goes beyond this.
pub const BOUND: f64 = 0.999;
const TOLERANCE: f64 = 1e-11;
const FIRST_STEP: f64 = 1e-7;
const MOST_STEPS: usize = 120;
/// Information below this is rounding.
const NOTHING: f64 = 1e-12;

/// A correlation, and whether it hit the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// The correlation.
    pub rho: f64,
    /// True if even the bound has less information than the target.
    pub at_bound: bool,
}

/// The correlation on the side of `sign` at which `table` has information
/// `target`.
pub fn solve(table: &PairInformation, target: f64, sign: f64) -> Root {
    let sign = if sign < 0.0 { -1.0 } else { 1.0 };
    let done = |size: f64, at_bound: bool| Root {
        rho: sign * size,
        at_bound,
    };
    if target < NOTHING {
        return done(0.0, false);
    }
    let goal = as_correlation(target);
    let at = |size: f64| as_correlation(table.information(sign * size));
    let (mut low, mut low_value) = (0.0, 0.0);
    let mut high: Option<(f64, f64)> = None;
    let mut size = (1.1 * goal).min(BOUND);
    for step in 0..MOST_STEPS {
        let value = at(size);
        if (value - goal).abs() < 1e-12 {
            return done(size, false);
        }
        if value < goal {
            if size >= BOUND {
                return done(BOUND, true);
            }
            (low, low_value) = (size, value);
        } else {
            high = Some((size, value));
        }
        let next = match high {
            // Proportional to the correlation; where the information is flat,
            // further and further.
            None if value > 0.0 => {
                let further = FIRST_STEP * 4f64.powi(step as i32);
                size + (size * (goal / value - 1.0)).max(further)
            }
            None => 2.0 * size,
            Some((high, high_value)) => {
                let share = (goal - low_value) / (high_value - low_value);
                low + (high - low) * share
            }
        };
        let mut next = next.min(BOUND);
        if let Some((high, _)) = high {
            if high - low < TOLERANCE {
                return done(0.5 * (low + high), false);
            }
            // A side that stays put would slow the secant down, and small steps
            // would look like the end: every third one halves.
            if step % 3 == 2 {
                next = 0.5 * (low + high);
            } else {
                let margin = 0.02 * (high - low);
                next = next.clamp(low + margin, high - margin);
            }
        } else if next <= low {
            next = (low + 0.1 * (BOUND - low)).min(BOUND);
        }
        size = next;
    }
    done(size, false)
}

/// The correlation of a normal pair with this information.
fn as_correlation(information: f64) -> f64 {
    (-(-2.0 * information).exp_m1()).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(raw: &[u8]) -> Vec<f64> {
        let total: f64 = raw.iter().map(|&x| f64::from(x) + 1.0).sum();
        raw.iter().map(|&x| (f64::from(x) + 1.0) / total).collect()
    }

    proptest! {
        #[test]
        fn the_root_gives_back_the_correlation(
            rows in prop::collection::vec(0u8..60, 2..9),
            columns in prop::collection::vec(0u8..60, 2..9),
            rho in -0.99f64..0.99,
        ) {
            let table = PairInformation::new(shares(&rows), shares(&columns));
            let target = table.information(rho);
            let found = solve(&table, target, rho);
            prop_assert!(!found.at_bound);
            // Either is met: information is flat near zero, and where a small
            // category is all but inside a large one.
            let missed = (table.information(found.rho) - target).abs();
            prop_assert!(
                (found.rho - rho).abs() < 1e-6 || missed < 1e-8,
                "{} {} {}", found.rho, rho, missed
            );
        }
    }

    #[test]
    fn nothing_and_too_much() {
        let table = PairInformation::new(vec![0.5; 2], vec![0.25; 4]);
        assert!(solve(&table, -0.1, 1.0).rho.abs() < 1e-300);
        let most = solve(&table, 0.7, -1.0);
        assert!(most.at_bound && (most.rho + BOUND).abs() < 1e-15);
    }
}
