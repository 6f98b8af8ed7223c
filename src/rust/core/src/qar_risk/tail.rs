//! The tail of the set risks: quantile, generalised Pareto fit, extreme risk.
//!
//! Risks are whole numbers over a common denominator, so ties are ties and
//! the threshold is exactly a risk where two order statistics agree.

use crate::probability::Probability;

/// Weights of the probability-weighted moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pwm {
    /// Plotting positions (j - 0.35) / n.
    Plotting,
    /// Unbiased estimators.
    Unbiased,
}

/// The weights of excesses in ascending order, kept for the next fit of as many.
#[derive(Debug, Clone)]
pub struct RankWeights {
    pwm: Pwm,
    of_rank: Vec<f64>,
}

impl RankWeights {
    /// Weights by these moments, of no excesses yet.
    pub fn new(pwm: Pwm) -> Self {
        Self {
            pwm,
            of_rank: Vec::new(),
        }
    }

    fn of(&mut self, n: usize) -> &[f64] {
        if self.of_rank.len() != n {
            let weight = |j: usize| match self.pwm {
                Pwm::Plotting => 1.0 - (j as f64 - 0.35) / n as f64,
                Pwm::Unbiased => (n as f64 - j as f64) / (n as f64 - 1.0),
            };
            self.of_rank = (1..=n).map(weight).collect();
        }
        &self.of_rank
    }
}

/// The largest of `n` risks, in descending order, over one denominator.
#[derive(Debug, Clone, Copy)]
pub struct TopRisks<'a> {
    /// Numerators; at least down to the lower order statistic in use.
    pub numerators: &'a [u64],
    /// Their common denominator.
    pub denominator: u64,
    /// Number of risks, listed here or not.
    pub n: usize,
}

/// Position of a quantile by definition 8 of Hyndman and Fan (1996) among `n`
/// ascending order statistics, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// The lower order statistic.
    pub lower: usize,
    /// The upper order statistic.
    pub upper: usize,
    /// Weight of the upper one.
    pub weight: f64,
}

impl Position {
    /// Place of the quantile of `n` values that a share of `share` exceeds.
    ///
    /// # Formula
    ///
    /// Definition 8 puts it at `(n + 1/3) (1 - share) + 1/3`, which is
    /// `((3 n + 1) share - 2) / 3` places below the top: counted from there, no
    /// digit of `share` is lost. A place that is whole in exact arithmetic is an
    /// order statistic, and nothing else will do: the values equal to it would
    /// lie above the quantile otherwise. Rounding moves a place by less than
    /// `8 eps n`. A share of at most d decimals has no other place closer than
    /// `10^-d / 3` to a whole one, so the two do not meet for up to six
    /// decimals and 10^8 values.
    pub fn exceeded_by(n: usize, share: Probability) -> Self {
        let n_values = n as f64;
        let from_top = ((3.0 * n_values + 1.0) * share.get() - 2.0) / 3.0;
        let whole = from_top.round();
        let near = (from_top - whole).abs() <= 8.0 * f64::EPSILON * n_values;
        let (steps, weight) = if near {
            (whole, 0.0)
        } else {
            (from_top.ceil(), from_top.ceil() - from_top)
        };
        let index = |place: f64| place.clamp(1.0, n_values) as usize;
        Self {
            lower: index(n_values - steps),
            upper: index(n_values - steps + 1.0),
            weight,
        }
    }

    /// Number of the largest values that the quantile and everything above it need.
    pub fn n_top(self, n: usize) -> usize {
        n + 1 - self.lower
    }

    /// The quantile, from the two order statistics: never outside them, and
    /// exactly the one where they agree or the place is whole.
    pub fn between(self, lower: f64, upper: f64) -> f64 {
        if lower >= upper || self.weight <= 0.0 {
            lower
        } else {
            ((1.0 - self.weight) * lower + self.weight * upper).clamp(lower, upper)
        }
    }
}

impl TopRisks<'_> {
    fn ascending(&self, k: usize) -> u64 {
        self.numerators[self.n - k]
    }

    /// A risk as a number.
    pub fn ratio(&self, numerator: u64) -> f64 {
        numerator as f64 / self.denominator as f64
    }

    /// The logit of a risk below 1.
    pub fn logit(&self, numerator: u64) -> f64 {
        (numerator as f64).ln() - ((self.denominator - numerator) as f64).ln()
    }

    /// The quantile that a share of `share` exceeds, definition 8.
    pub fn exceeded_by(&self, share: Probability) -> f64 {
        self.quantile(Position::exceeded_by(self.n, share))
    }

    fn quantile(&self, at: Position) -> f64 {
        let risk = |k: usize| self.ratio(self.ascending(k));
        at.between(risk(at.lower), risk(at.upper))
    }

    /// Numerators strictly above a threshold, in descending order.
    pub fn above(&self, threshold: f64) -> &[u64] {
        // Few are listed that do not exceed it.
        let last = (self.numerators.iter()).rposition(|&x| self.ratio(x) > threshold);
        &self.numerators[..last.map_or(0, |last| last + 1)]
    }
}

/// A generalised Pareto distribution fitted to the excesses over a threshold
/// on the logit scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// The threshold u, the empirical 1 - pi_u quantile.
    pub threshold: f64,
    /// Its logit.
    at_threshold: f64,
    /// Risks strictly above it.
    pub n_exceedances: usize,
    /// Shape and scale; `None` where the moments do not determine them.
    pub shape_scale: Option<(f64, f64)>,
    /// True if all excesses are equal, so that unbiased moments give no shape.
    pub equal: bool,
    /// True if the largest excess lies below the fitted end point.
    pub feasible: bool,
    /// The largest risk.
    pub largest: f64,
    pi_u: Probability,
}

/// Fits the tail of `risks`, none of which may be 1.
///
/// # Formula
///
/// With excesses `l = logit(theta) - logit(u)` in ascending order,
/// `a0 = mean(l)` and `a1 = mean(w_j l_(j))`: shape `2 - a0 / (a0 - 2 a1)`,
/// scale `2 a0 a1 / (a0 - 2 a1)` (Hosking and Wallis 1987), where
/// `w_j = 1 - (j - 0.35) / n` (plotting) or `(n - j) / (n - 1)` (unbiased).
/// Equal excesses have `a0 = 2 a1` under unbiased weights: there is no shape,
/// and as excesses draw together T tends to the largest risk, which it then is.
pub fn fit_tail(risks: TopRisks, pi_u: Probability, pwm: Pwm) -> Tail {
    let at = Position::exceeded_by(risks.n, pi_u);
    let logit = |numerator| risks.logit(numerator);
    fit_tail_with(risks, pi_u, at, &mut RankWeights::new(pwm), logit)
}

/// [`fit_tail`] with what the caller knows of many fits: the place of the threshold, weights, and
/// logits; `logit(numerator)` must be what [`TopRisks::logit`] gives.
pub fn fit_tail_with(
    risks: TopRisks,
    pi_u: Probability,
    at: Position,
    weights: &mut RankWeights,
    logit: impl Fn(u64) -> f64,
) -> Tail {
    let pwm = weights.pwm;
    let threshold = risks.quantile(at);
    let exceedances = risks.above(threshold);
    let n = exceedances.len();
    let at_threshold = logit_of(threshold);
    let excess = |numerator: u64| logit(numerator) - at_threshold;
    let mut tail = Tail {
        threshold,
        at_threshold,
        n_exceedances: n,
        shape_scale: None,
        equal: pwm == Pwm::Unbiased && n > 1 && exceedances[0] == exceedances[n - 1],
        feasible: true,
        largest: risks.ratio(risks.numerators[0]),
        pi_u,
    };
    if n == 0 || (n == 1 && pwm == Pwm::Unbiased) || tail.equal {
        return tail;
    }
    let (mut a0, mut a1) = (0.0, 0.0);
    for (&weight, &numerator) in weights.of(n).iter().zip(exceedances.iter().rev()) {
        let excess = excess(numerator);
        a0 += excess;
        a1 += weight * excess;
    }
    a0 /= n as f64;
    a1 /= n as f64;
    let shape = 2.0 - a0 / (a0 - 2.0 * a1);
    let scale = 2.0 * a0 * a1 / (a0 - 2.0 * a1);
    tail.shape_scale = Some((shape, scale));
    tail.feasible = shape >= 0.0 || excess(exceedances[0]) <= -scale / shape;
    tail
}

impl Tail {
    /// The extreme risk T(p, alpha), for `alpha <= pi_u`; `None` where the
    /// moments do not determine it.
    ///
    /// # Formula
    ///
    /// `logit T = logit u + (scale / shape) ((alpha / pi_u)^(-shape) - 1)`,
    /// with limit `scale log(pi_u / alpha)` at shape 0, evaluated without
    /// cancellation by `expm1`.
    pub fn risk(&self, alpha: Probability) -> Option<f64> {
        let log_ratio = (self.pi_u.get() / alpha.get()).ln();
        if self.n_exceedances == 0 || log_ratio <= 0.0 {
            return Some(self.threshold);
        }
        if self.equal {
            return Some(self.largest);
        }
        let (shape, scale) = self.shape_scale?;
        let rise = rise(shape, scale, log_ratio);
        Some(logistic(self.at_threshold + rise))
    }
}

/// The logit of a risk.
pub(super) fn logit_of(risk: f64) -> f64 {
    risk.ln() - (-risk).ln_1p()
}

/// The risk of a logit.
pub(super) fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Distance of the quantile above the threshold on the logit scale, where `log_ratio` is the
/// logarithm of `pi_u / alpha`.
pub(super) fn rise(shape: f64, scale: f64, log_ratio: f64) -> f64 {
    let t = shape * log_ratio;
    let factor = if t == 0.0 { 1.0 } else { t.exp_m1() / t };
    scale * log_ratio * factor
}
