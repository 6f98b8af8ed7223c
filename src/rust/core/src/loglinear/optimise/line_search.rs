//! Step length along a direction of descent.

use crate::error::Result;

/// A search along a direction of descent of a convex function, by its slope
/// alone: small differences of its values would be lost in rounding. A slope
/// that is not a number stands for a step that is too long.
pub(super) struct LineSearch {
    step: f64,
    slope: f64,
}

impl LineSearch {
    pub fn new(step: f64, slope: f64) -> Self {
        Self { step, slope }
    }

    /// Looks for a step where the slope is much flatter; `at` gives the slope
    /// at a step and what the caller wants to know of it.
    pub fn run<T>(
        self,
        passes: &mut usize,
        mut at: impl FnMut(f64) -> Result<(f64, T)>,
    ) -> Result<Option<(f64, T)>> {
        let mut step = self.step;
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut low_slope = self.slope;
        let mut best = None;
        for _ in 0..12 {
            let (slope, found) = at(step)?;
            *passes += 1;
            if slope.abs() <= 0.6 * self.slope.abs() {
                return Ok(Some((step, found)));
            }
            let inside = |x: f64, low: f64, high: f64| {
                x.clamp(low + 0.1 * (high - low), high - 0.1 * (high - low))
            };
            if slope < 0.0 {
                // Too short.
                let secant = step + (step - low) * slope / (low_slope - slope);
                best = Some((step, found));
                low = step;
                low_slope = slope;
                step = if high.is_finite() {
                    inside(secant, low, high)
                } else if secant.is_finite() && secant > step {
                    secant.clamp(1.5 * step, 5.0 * step)
                } else {
                    3.0 * step
                };
            } else {
                high = step;
                let secant = low + (step - low) * low_slope / (low_slope - slope);
                step = if secant.is_finite() {
                    inside(secant, low, high)
                } else {
                    low + 0.2 * (high - low)
                };
            }
        }
        Ok(best)
    }
}
