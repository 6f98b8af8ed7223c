//! The lowest bound that a file can reach.
//!
//! The risky cells and the small blocks depend on the bound asked for, so the reach of the blocks
//! tried is not the answer. The bounds between are tried themselves, to four digits: first a few on
//! the way, then by bisection below the lowest of these that works.

use super::{arrange, Calibration, Settings, Unprotected};
use crate::error::Result;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::probability::Probability;

use super::calibrate::{PAPER_LOWEST, SLACK};

/// Bounds tried on the way from the bound asked for to one that works.
const WAYPOINTS: u64 = 8;

/// A bound to four digits for which every cell finds a block, while no cell is
/// left over: above `settings.bound`, for which there is none. `reached` is
/// what the blocks tried there can reach. One where no bound works.
pub(super) fn lowest_bound(
    table: &KeyTable,
    settings: &Settings,
    reached: f64,
    monitor: &Monitor,
) -> Result<f64> {
    let asked = settings.bound.get();
    let start = reached.max(asked);
    let digits = 3.0 - (start.log10() + 1e-12).floor();
    let scale = 10f64.powi(digits as i32);
    let works = |k: u64| -> Result<bool> {
        let bound = k as f64 / scale;
        let covered = settings.calibration == Calibration::Exact || bound >= PAPER_LOWEST - SLACK;
        if !covered || bound >= 1.0 {
            return Ok(false);
        }
        let mut settings = *settings;
        settings.bound = Probability::new(bound, "max_match_prob")?;
        Ok(arrange(table, &settings, monitor)?.1.unreached.is_empty())
    };
    // Bounds are whole numbers over `scale`; that of `low` does not work.
    let low = (asked * scale).floor() as u64;
    let Some(high) = first_above(start, scale, settings.calibration, works)? else {
        return Ok(1.0);
    };
    let (mut low, mut high) = (low, high);
    let step = ((high - low) / WAYPOINTS).max(1);
    for k in (low + 1..high).step_by(step as usize) {
        if works(k)? {
            high = k;
            break;
        }
        low = k;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if works(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high as f64 / scale)
}

/// A bound from `start` on that works.
fn first_above(
    start: f64,
    scale: f64,
    calibration: Calibration,
    works: impl Fn(u64) -> Result<bool>,
) -> Result<Option<u64>> {
    let top = scale as u64;
    let first = ((start * scale - 1e-6).ceil() as u64).max(1);
    let half = (scale / 2.0) as u64;
    let mut tries = vec![first];
    if calibration == Calibration::Paper && first < half {
        tries.push(half);
    }
    // Half of what is left to one, again and again.
    let mut gap = top.saturating_sub(first);
    while gap > 1 {
        gap /= 2;
        tries.push(top - gap);
    }
    tries.sort_unstable();
    for k in tries {
        if works(k)? {
            return Ok(Some(k));
        }
    }
    Ok(None)
}

/// True if the search is wanted: where cells are left over and refused.
pub(super) fn is_wanted(settings: &Settings, reached: f64, unreached: &[Vec<u32>]) -> bool {
    settings.unprotected != Unprotected::Keep && !unreached.is_empty() && reached < 1.0 - SLACK
}
