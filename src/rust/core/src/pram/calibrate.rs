//! The smallest theta that keeps all correct-match probabilities below a bound.

use super::match_prob::Tally;
use crate::error::{Error, Result};
use crate::probability::Probability;

/// Rounding that a bound forgives.
pub(super) const SLACK: f64 = 1e-12;

/// The lower end of the bounds for which the published theta is proven.
pub const PAPER_LOWEST: f64 = 3.0 / 7.0;

/// The published theta: the root of `(1 - theta) / (1 - theta + theta^2) = xi`,
/// whatever the counts. Proven for bounds of at least 1/2, and of at least 3/7
/// with three or more cells.
pub fn paper_theta(bound: Probability) -> Result<f64> {
    let xi = bound.get();
    if xi < PAPER_LOWEST - SLACK {
        return Err(Error::BadArgument(
            "The published theta is proven for bounds from 3/7 = 0.4286 only.".into(),
        ));
    }
    // xi theta^2 + (1 - xi) theta - (1 - xi) = 0, free of cancellation.
    let rest = 1.0 - xi;
    Ok(2.0 * rest / (rest + (rest * rest + 4.0 * xi * rest).sqrt()))
}

/// True if a block of so many cells is covered by the theorem at this bound.
pub fn paper_covers(bound: Probability, n_cells: u64) -> bool {
    bound.get() >= 0.5 - SLACK || n_cells >= 3
}

/// The lowest bound a block can reach: its worst case at the largest theta.
pub fn reach(tally: &Tally) -> f64 {
    tally.worst(tally.theta_limit())
}

/// The smallest theta whose worst case over all cells and all `a` stays below
/// the bound; `None` where no theta up to [`Tally::theta_limit`] does.
///
/// Up to that limit the worst case is the closed form for `a = 1`, which falls
/// in theta: the odds of staying fall and those of arriving rise.
pub fn exact_theta(tally: &Tally, bound: Probability) -> Option<f64> {
    let xi = bound.get() + SLACK;
    if 1.0 / tally.smallest() as f64 <= xi {
        return Some(0.0);
    }
    let mut high = tally.theta_limit();
    if tally.worst(high) > xi {
        return None;
    }
    let mut low = 0.0;
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if tally.worst(middle) <= xi {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
