//! The factor of all probabilities in a population of known uniqueness.

use super::{alone, Mixture, Point, BLOCK};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// ln lambda lies within this,
const FARTHEST: f64 = 60.0;
/// and is not raised beyond that in the sample by more than this where taking away
/// uncertainty does as well.
pub(super) const MOST_RAISED: f64 = 3.0;
/// Uncertainty is taken away down to this share of it.
const SHARPEST: f64 = 1e-9;

/// Adjustment that brings a sample's mixture to a population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// The logarithm of the factor of all probabilities.
    pub ln_lambda: f64,
    /// The share of the uncertainty that is left.
    pub left: f64,
}

/// Finds the lambda for which the mean of xi among `n_people`, over records at `points`, each with
/// its weight, equals `uniqueness`. If hardly anybody is unique, only a lambda far from that of the
/// sample, `ln_sample`, would do, because uncertain probabilities leave everyone some chance; the
/// uncertainty is then removed. Without `uniqueness` nothing is adjusted.
pub fn anchor(
    mixture: &Mixture,
    ln_sample: f64,
    points: &[Point],
    weights: Option<&[f64]>,
    n_people: f64,
    uniqueness: f64,
    monitor: &Monitor,
) -> Result<Anchor> {
    let as_in_sample = Anchor {
        ln_lambda: ln_sample,
        left: 1.0,
    };
    if points.is_empty() || n_people <= 1.0 || uniqueness.is_nan() || uniqueness <= 0.0 {
        return Ok(as_in_sample);
    }
    let target = uniqueness.min(1.0 - 1e-10);
    let at = |mixture: &Mixture, ln_lambda: f64| {
        mean_unique(mixture, points, weights, n_people, ln_lambda, monitor)
    };
    let most = ln_sample + MOST_RAISED;
    let sharp = mixture.sharpened(SHARPEST);
    if at(mixture, most)?.0 <= target || at(&sharp, most)?.0 >= target {
        let ln_lambda = root(target, (-FARTHEST, FARTHEST), ln_sample, |x| at(mixture, x))?;
        return Ok(Anchor {
            ln_lambda,
            left: 1.0,
        });
    }
    // Halving: the slope in the uncertainty is not needed often.
    let (mut low, mut high) = (SHARPEST.ln(), 0.0);
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if at(&mixture.sharpened(middle.exp()), most)?.0 > target {
            high = middle;
        } else {
            low = middle;
        }
        if 0.5 * (low + high) <= low {
            break;
        }
    }
    Ok(Anchor {
        ln_lambda: most,
        left: low.exp(),
    })
}

/// Root at which a falling mean is `target`, by Newton's steps on the log-odds, which are nearly
/// straight; `of` gives the mean and its slope.
fn root(
    target: f64,
    (mut low, mut high): (f64, f64),
    start: f64,
    of: impl Fn(f64) -> Result<(f64, f64)>,
) -> Result<f64> {
    const MOST_STEPS: usize = 200;
    let mut at = start;
    for _ in 0..MOST_STEPS {
        let (mean, slope) = of(at)?;
        if mean > target {
            low = at;
        } else {
            high = at;
        }
        let step = (ln_odds(target) - ln_odds(mean)) * mean * (1.0 - mean) / slope;
        if step.abs() < 1e-13 || high - low < 1e-13 {
            break;
        }
        let next = at + step;
        at = if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
    }
    Ok(at)
}

fn ln_odds(share: f64) -> f64 {
    share.ln() - (-share).ln_1p()
}

/// The weighted mean of xi, and its slope in ln lambda.
fn mean_unique(
    mixture: &Mixture,
    points: &[Point],
    weights: Option<&[f64]>,
    n_people: f64,
    ln_lambda: f64,
    monitor: &Monitor,
) -> Result<(f64, f64)> {
    let parts = parallel::try_map(
        points.chunks(BLOCK).enumerate(),
        monitor,
        |(block, points)| {
            let mut sums = [0.0; 3];
            for (k, point) in points.iter().enumerate() {
                let weight = weights.map_or(1.0, |w| w[block * BLOCK + k]);
                let s = mixture.inverse_shape(point.variance);
                let x = (n_people - 1.0) * (point.ln_p + ln_lambda).exp();
                let unique = weight * alone(s, x * s);
                sums[0] += weight;
                sums[1] += unique;
                sums[2] -= unique * (1.0 + s) * x / (1.0 + x * s);
            }
            Ok(sums)
        },
    )?;
    let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<f64>();
    Ok((sum(1) / sum(0), sum(2) / sum(0)))
}
