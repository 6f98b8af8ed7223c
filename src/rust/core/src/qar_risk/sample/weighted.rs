//! Estimates from counts that each stand for several key sets.

use crate::probability::Probability;
use crate::qar_risk::tail::{logistic, logit_of, rise, Position, Pwm};
use crate::qar_risk::{undetermined, Estimate, Status, TailSettings, ThetaOne};

/// Estimates from distinct counts in falling order, each standing for `weight`
/// sets: [`crate::qar_risk::estimate`] where all weights are one.
pub(super) fn weighted_estimates(
    falling: &[(u32, f64)],
    n_sets: usize,
    n_records: u64,
    settings: &TailSettings,
) -> Vec<Estimate> {
    let ones: f64 = falling
        .iter()
        .take_while(|&&(h, _)| u64::from(h) == n_records)
        .map(|&(_, w)| w)
        .sum();
    let theta = |h: u32| {
        if u64::from(h) == n_records && settings.theta_one == ThetaOne::Clamp {
            (n_records as f64 - 0.5) / n_records as f64
        } else {
            f64::from(h) / n_records as f64
        }
    };
    let excluded = settings.theta_one == ThetaOne::Exclude;
    let values: Vec<(f64, f64)> = falling
        .iter()
        .filter(|&&(h, _)| !excluded || u64::from(h) < n_records)
        .map(|&(h, w)| (theta(h), w))
        .collect();
    let n = if excluded {
        (n_sets as f64 - ones).round() as usize
    } else {
        n_sets
    };
    if values.is_empty() || n == 0 {
        return vec![undetermined(Status::ThetaOne); settings.alpha.len()];
    }
    let certain = ones > 0.0 && settings.theta_one == ThetaOne::One;
    let quantile = |share: Probability| {
        let at = Position::exceeded_by(n, share);
        at.between(
            largest(&values, n - at.lower + 1),
            largest(&values, n - at.upper + 1),
        )
    };
    let threshold = quantile(settings.pi_u);
    let above: Vec<(f64, f64)> = values
        .iter()
        .copied()
        .take_while(|&(t, _)| t > threshold)
        .collect();
    let tail = WeightedTail::new(&above, threshold, values[0].0, settings.pwm, certain);
    let status = match (certain, n, tail.n_exceedances) {
        (true, _, _) => Status::ThetaOne,
        (_, 1, _) => Status::Single,
        (_, _, 0) => Status::NoExceedance,
        (_, _, 1..=9) => Status::Few,
        _ => Status::Ok,
    };
    let at = |&alpha: &Probability| Estimate {
        risk: match certain {
            true => Some(1.0),
            false => tail.risk((settings.pi_u.get() / alpha.get()).ln()),
        },
        risk_empirical: Some(quantile(alpha)),
        threshold: Some(threshold),
        shape: tail.shape_scale.map(|s| s.0),
        scale: tail.shape_scale.map(|s| s.1),
        n_exceedances: tail.n_exceedances,
        n_sets: n,
        largest: Some(tail.largest),
        feasible: true,
        equal: tail.equal,
        status,
    };
    settings.alpha.iter().map(at).collect()
}

/// [`crate::qar_risk::tail::Tail`] for weighted values.
struct WeightedTail {
    threshold: f64,
    largest: f64,
    n_exceedances: usize,
    equal: bool,
    shape_scale: Option<(f64, f64)>,
}

impl WeightedTail {
    /// From the values above the threshold with their weights; `certain` where
    /// the logit of the largest is infinite.
    fn new(above: &[(f64, f64)], threshold: f64, largest: f64, pwm: Pwm, certain: bool) -> Self {
        let n_above: f64 = above.iter().map(|&(_, w)| w).sum();
        let n_exceedances = n_above.round() as usize;
        let unbiased = !certain && pwm == Pwm::Unbiased;
        let equal = unbiased && n_exceedances > 1 && above[0].0 <= above[above.len() - 1].0;
        let undetermined = certain || equal || (unbiased && n_exceedances == 1);
        Self {
            threshold,
            largest,
            n_exceedances,
            equal,
            shape_scale: if undetermined {
                None
            } else {
                moments(above, n_above, threshold, pwm)
            },
        }
    }

    /// The extreme risk where `log_ratio` is the logarithm of `pi_u / alpha`.
    fn risk(&self, log_ratio: f64) -> Option<f64> {
        if self.n_exceedances == 0 || log_ratio <= 0.0 {
            return Some(self.threshold);
        }
        if self.equal {
            return Some(self.largest);
        }
        let (shape, scale) = self.shape_scale?;
        Some(logistic(
            logit_of(self.threshold) + rise(shape, scale, log_ratio),
        ))
    }
}

/// The value of the `k`-th largest of the sets the sample stands for.
fn largest(values: &[(f64, f64)], k: usize) -> f64 {
    let mut above = 0.0;
    for &(value, weight) in values {
        above += weight;
        // Weights are ratios of counts: a billionth is rounding.
        if above >= k as f64 * (1.0 - 1e-9) {
            return value;
        }
    }
    values.last().map_or(f64::NAN, |v| v.0)
}

/// Shape and scale by probability-weighted moments of weighted excesses in
/// falling order: a value of weight `w` takes the mean of the `w` ranks it
/// stands for.
fn moments(above: &[(f64, f64)], n: f64, threshold: f64, pwm: Pwm) -> Option<(f64, f64)> {
    if above.is_empty() {
        return None;
    }
    let (mut a0, mut a1, mut before) = (0.0, 0.0, 0.0);
    for &(value, weight) in above {
        let excess = logit_of(value) - logit_of(threshold);
        let from_top = before + (weight - 1.0) / 2.0;
        let rank_weight = match pwm {
            Pwm::Plotting => (from_top + 0.35) / n,
            Pwm::Unbiased => from_top / (n - 1.0),
        };
        a0 += weight * excess;
        a1 += weight * rank_weight * excess;
        before += weight;
    }
    let (a0, a1) = (a0 / n, a1 / n);
    let difference = a0 - 2.0 * a1;
    (difference != 0.0).then(|| (2.0 - a0 / difference, 2.0 * a0 * a1 / difference))
}
