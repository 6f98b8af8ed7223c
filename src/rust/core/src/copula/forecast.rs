//! From what is known of the model to the numbers of one population: estimates
//! and intervals.
//!
//! # Formulas
//!
//! n of N people are in the sample, f = n / N. Given a, l and a standard normal
//! z, sizes are stretched on the way from n to N by the model's error: with
//! L = ln(N / n), people are as unique among N as the model says of
//! `u(N) = S_a(1 + (n - 1) e^(l + max(0, L + z s(L))))`,
//! `s(L)^2 = (0.02 + 4 / n + 0.03 e^2) L`, e = ln(a / 0.12) held between 0 and 3: a
//! model whose cells vary more than most to agree with the sample is one that does not
//! know the population's cells, and errs more on the way. At n the sample has decided,
//! so that the error grows from nothing; u falls in N.
//!
//! The people in the sample are known. Of its s unique records a share
//! u(N) / u(n) is still unique among N; of the N - n others a share u(N) is:
//! `U_N = (s u(N) / u(n) + (N - n) u(N)) / N`. To its d distinct records everyone
//! who is unique on arrival adds one: `K_N = (d + int_n^N u(m) dm) / N`, so that
//! K_N cannot be below U_N or d / N. At N = n both are the sample's own.
//!
//! The estimate is the mean over the posterior and z. The interval is that of the
//! counts of this one population: a mixture of counts with the means above and
//! the variances `s r (1 - r) + (N - n) (u - (u - e)^2)`, r = u(N) / u(n) and
//! e = -du / d ln N, and `(N - n) u (1 - u)`; no random number is needed.
//!
//! Uniqueness falls with N, so that it is at most what the sample's own allows
//! ([`bound`]); and everyone who comes adds or takes one unique person at most.
//!
//! Forecast without the sample's counts, when nobody is known: `U_N = u(N)` and `K_N = int_0^N u(m)
//! dm / N`, over the prior.

use super::calibration::{Point, Posterior, Seen};
use super::curve::Falling;
use crate::error::Result;
use crate::gamma::{beta_cdf, gamma_cdf, gamma_quantile};
use crate::normal;
use crate::parallel::{self, Monitor};

/// Variance of the model's error in ln N, per unit of ln(N / n); what one over n
/// adds to it, as rare values are missing from small samples; and the square of
/// ln a in excess of the usual, which is not looked at beyond an end.
const MODEL_VARIANCE: (f64, f64, f64) = (0.02, 4.0, 0.03);
const MOST_EXCESS: f64 = 3.0;
/// Equally likely values of z.
const N_ERRORS: usize = 15;
/// Panels of ln N over which new records are added up.
const PANEL: f64 = 0.1;
/// Groups that a mixture is reduced to.
const N_GROUPS: usize = 400;
/// Means from which counts are normal.
const MANY: f64 = 60.0;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Range {
    fn known(value: f64) -> Self {
        Self {
            estimate: value,
            low: value,
            high: value,
        }
    }

    /// This interval around another estimate.
    pub fn around(self, estimate: f64) -> Self {
        Self {
            estimate,
            low: self.low.min(estimate),
            high: self.high.max(estimate),
        }
    }
}

/// Expectations for one population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Share of unique people.
    pub uniqueness: Range,
    /// Share of distinct records.
    pub correctness: Range,
}

/// The most that the uniqueness of any larger population can be, but for a
/// chance of `tail`. The k records that are not unique come at least in pairs, so
/// pairs are counted; where few are unique, these are.
pub fn bound(seen: &Seen, tail: f64) -> f64 {
    let others = seen.n - seen.single;
    let most = if others < 0.5 {
        1.0
    } else if others < seen.n / 2.0 {
        1.0 - 2.0 * gamma_quantile(others / 2.0, tail) / seen.n
    } else {
        gamma_quantile(seen.single + 1.0, 1.0 - tail) / seen.n
    };
    most.max(seen.single / seen.n).min(1.0)
}

/// A count of which mean and variance are known, and its share in a mixture.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    weight: f64,
    mean: f64,
    variance: f64,
}

impl Count {
    /// P(count <= k): normal where it is large, else the binomial or Poisson
    /// count of this mean and variance.
    fn cdf(&self, k: f64) -> f64 {
        if self.variance < 1e-9 {
            return if self.mean <= k + 0.5 { 1.0 } else { 0.0 };
        }
        if self.mean > MANY {
            return normal::cdf((k + 0.5 - self.mean) / self.variance.sqrt());
        }
        let share = 1.0 - self.variance / self.mean;
        if share < 0.02 {
            return 1.0 - gamma_cdf(k + 1.0, self.mean);
        }
        let size = self.mean / share;
        if k >= size {
            1.0
        } else {
            beta_cdf(size - k, k + 1.0, 1.0 - share)
        }
    }
}

/// A mixture of counts.
struct Mixture(Vec<Count>);

impl Mixture {
    /// Counts of nearly the same mean are put together.
    fn new(mut counts: Vec<Count>) -> Self {
        counts.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let mut groups: Vec<Count> = Vec::with_capacity(N_GROUPS + 1);
        let mut sums = [0.0; 4];
        for (i, count) in counts.iter().enumerate() {
            sums[0] += count.weight;
            sums[1] += count.weight * count.mean;
            sums[2] += count.weight * count.mean * count.mean;
            sums[3] += count.weight * count.variance;
            if sums[0] >= 1.0 / N_GROUPS as f64 || i + 1 == counts.len() {
                let mean = sums[1] / sums[0];
                let between = (sums[2] / sums[0] - mean * mean).max(0.0);
                groups.push(Count {
                    weight: sums[0],
                    mean,
                    variance: sums[3] / sums[0] + between,
                });
                sums = [0.0; 4];
            }
        }
        Self(groups)
    }

    /// The mean, as a whole number, of the count at which a share `p` of the mixture is
    /// reached, and its standard deviation.
    fn count_at(&self, p: f64) -> (f64, f64) {
        let mut mass = 0.0;
        let reaches = |c: &&Count| {
            mass += c.weight;
            mass >= p
        };
        let count = self.0.iter().find(reaches).or(self.0.last());
        let of = |c: &Count| (c.mean.floor(), c.variance.sqrt().ceil().max(1.0));
        count.map_or((0.0, 1.0), of)
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|c| c.weight * c.mean).sum()
    }

    /// The least whole number that is not exceeded with probability `p`.
    fn quantile(&self, p: f64, most: f64) -> f64 {
        let reached = |k: f64| self.0.iter().map(|c| c.weight * c.cdf(k)).sum::<f64>() >= p;
        let (mut below, mut above) = (-1.0, most.floor());
        // It is near the quantile of the means.
        let (mut near, mut step) = self.count_at(p);
        while near > below && near < above {
            if reached(near) {
                above = near;
                near -= step;
            } else {
                below = near;
                near += step;
            }
            if above - below <= step {
                break;
            }
            step *= 2.0;
        }
        while above - below > 1.5 {
            let middle = ((below + above) / 2.0).floor();
            if reached(middle) {
                above = middle;
            } else {
                below = middle;
            }
        }
        above
    }
}

/// Forecast for a population by one point of the posterior and one z.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    unique: Count,
    new: Count,
}

/// Start of all paths.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Uniqueness that the sample shows.
    pub seen: Seen,
    /// True if its counts are looked at.
    pub known: bool,
    /// The largest uniqueness that they allow.
    most: f64,
    tail: f64,
}

impl Start {
    /// A number of unique people among `size` that can be.
    fn held(&self, count: f64, size: f64) -> f64 {
        let count = count.min(self.most * size);
        if self.known {
            let others = size - self.seen.n;
            count.clamp(self.seen.single - others, self.seen.single + others)
        } else {
            count
        }
    }

    /// From a sample, for intervals of a level. `bounded`: whether its own
    /// uniqueness is an upper bound.
    pub fn new(seen: Seen, known: bool, bounded: bool, level: f64) -> Self {
        let tail = 0.5 * (1.0 - level);
        Self {
            seen,
            known,
            most: if bounded { bound(&seen, tail) } else { 1.0 },
            tail,
        }
    }
}

/// A place between sample and population: L = ln(m / n), m / n and the root of L.
#[derive(Debug, Clone, Copy)]
struct Place {
    ln_ratio: f64,
    ratio: f64,
    root: f64,
}

impl Place {
    fn new(ln_ratio: f64) -> Self {
        Self {
            ln_ratio,
            ratio: ln_ratio.exp(),
            root: ln_ratio.max(0.0).sqrt(),
        }
    }
}

/// A piece of what is integrated over L, which ends where `end` is.
#[derive(Debug, Clone, Copy)]
struct Panel {
    width: f64,
    middle: Place,
    end: Place,
}

impl Panel {
    fn new(from: f64, to: f64) -> Self {
        Self {
            width: to - from,
            middle: Place::new(0.5 * (from + to)),
            end: Place::new(to),
        }
    }
}

/// Common part of all paths from a sample to populations of several sizes.
struct Route {
    /// From the sample on, each as wide as the other.
    panels: Vec<Panel>,
    /// Per size, ascending, the number of whole panels before it, and the rest.
    stops: Vec<(usize, Panel)>,
}

impl Route {
    /// To sizes of these ascending L.
    fn new(ln_ratios: &[f64]) -> Self {
        let from = |done: usize| PANEL * done as f64;
        let mut done = 0;
        let stops = ln_ratios.iter().map(|&ln_ratio| {
            while from(done + 1) <= ln_ratio {
                done += 1;
            }
            (done, Panel::new(from(done), ln_ratio))
        });
        let stops: Vec<_> = stops.collect();
        let panels = (0..done)
            .map(|k| Panel::new(from(k), from(k + 1)))
            .collect();
        Self { panels, stops }
    }
}

/// One way from the sample to the population.
struct Path<'a> {
    curve: &'a Falling,
    start: f64,
    /// z times the standard deviation of the model's error at L = 1.
    error: f64,
}

impl Path<'_> {
    /// u and -du / d ln N; below n the model has no error.
    fn at(&self, place: &Place) -> (f64, f64) {
        let stretched = if place.ln_ratio > 0.0 {
            (place.ln_ratio + self.error * place.root).max(0.0)
        } else {
            place.ln_ratio
        };
        let (share, slope) = self.curve.at(self.start + stretched);
        (share, -slope)
    }

    /// u(m) m, which is integrated over ln m.
    fn arrivals(&self, place: &Place) -> f64 {
        self.at(place).0 * place.ratio
    }

    /// The integral of u over a panel by Simpson's rule, in units of n, given its
    /// arrivals at both ends.
    fn integral(&self, panel: &Panel, first: f64, last: f64) -> f64 {
        panel.width / 6.0 * (first + 4.0 * self.arrivals(&panel.middle) + last)
    }

    /// The number of distinct records among n people, where none are known.
    fn distinct(&self, n: f64) -> f64 {
        let panels = (n.ln() / PANEL).ceil().max(1.0);
        let width = n.ln() / panels;
        let mut sum = 0.0;
        let mut right = 0.0;
        let mut last = self.arrivals(&Place::new(-width * right));
        while right < panels {
            let from = -width * (right + 1.0);
            let first = self.arrivals(&Place::new(from));
            sum += self.integral(&Panel::new(from, -width * right), first, last);
            last = first;
            right += 1.0;
        }
        1.0 + n * sum
    }

    /// The parts at every stop of a route.
    fn parts(&self, from: &Start, route: &Route, weight: f64) -> Vec<Parts> {
        let n = from.seen.n;
        let alone = self.curve.at(self.start).0;
        let (single, distinct) = match from.known {
            true => (from.seen.single, 0.0),
            false => (n * alone, self.distinct(n)),
        };
        let (mut done, mut sum) = (0, 0.0);
        let mut reached = self.arrivals(&Place::new(0.0));
        route
            .stops
            .iter()
            .map(|(n_panels, rest)| {
                for panel in &route.panels[done..*n_panels] {
                    let last = self.arrivals(&panel.end);
                    sum += self.integral(panel, reached, last);
                    reached = last;
                }
                done = *n_panels;
                let (share, fall) = self.at(&rest.end);
                let new = n * (sum + self.integral(rest, reached, share * rest.end.ratio));
                let others = n * rest.end.ln_ratio.exp_m1();
                let kept = if alone > 0.0 { share / alone } else { 1.0 };
                let mean = single * kept + others * share;
                let among_others = share - (share - fall).powi(2);
                let unseen = if from.known { others } else { n + others };
                let known_single = if from.known { single } else { 0.0 };
                Parts {
                    unique: Count {
                        weight,
                        mean: from.held(mean, n + others),
                        variance: known_single * kept * (1.0 - kept)
                            + unseen * among_others.clamp(0.0, share),
                    },
                    new: Count {
                        weight,
                        mean: distinct + new,
                        variance: unseen * share * (1.0 - share),
                    },
                }
            })
            .collect()
    }
}

/// Standard deviation of the model's error where ln(N / n) is 1.
fn error_sd(n: f64, excess: f64) -> f64 {
    let excess = excess.clamp(0.0, MOST_EXCESS);
    (MODEL_VARIANCE.0 + MODEL_VARIANCE.1 / n + MODEL_VARIANCE.2 * excess * excess).sqrt()
}

/// Forecasts of the posterior for populations of ascending sizes, none below n.
pub fn outlooks(
    posterior: &Posterior,
    start: &Start,
    sizes: &[f64],
    monitor: &Monitor,
) -> Result<Vec<Outlook>> {
    let n = start.seen.n;
    let ln_ratios: Vec<f64> = sizes.iter().map(|m| (m / n).ln().max(0.0)).collect();
    let route = Route::new(&ln_ratios);
    let errors: [f64; N_ERRORS] =
        std::array::from_fn(|i| normal::quantile((i as f64 + 0.5) / N_ERRORS as f64));
    let of_point = |point: &Point| {
        let sd = error_sd(n, point.excess);
        Ok(errors
            .iter()
            .map(|z| {
                let path = Path {
                    curve: &posterior.curves[point.spread],
                    start: (n - 1.0).max(1e-3).ln() + point.shift,
                    error: z * sd,
                };
                path.parts(start, &route, point.weight / N_ERRORS as f64)
            })
            .collect::<Vec<_>>())
    };
    let parts: Vec<Vec<Vec<Parts>>> = parallel::try_map(&posterior.points, monitor, of_point)?;
    parallel::try_map(0..sizes.len(), monitor, |i| {
        let pick = |of: fn(&Parts) -> Count| {
            Mixture::new(parts.iter().flatten().map(|p| of(&p[i])).collect())
        };
        Ok(start.read_off(sizes[i], &pick(|p| p.unique), &pick(|p| p.new)))
    })
}

impl Start {
    /// Estimates and intervals of one population from the mixtures of its counts.
    fn read_off(&self, size: f64, unique: &Mixture, new: &Mixture) -> Outlook {
        let seen = &self.seen;
        if self.known && size - seen.n < 0.5 {
            return Outlook {
                uniqueness: Range::known(seen.single / seen.n),
                correctness: Range::known(seen.distinct / seen.n),
            };
        }
        let (low, high) = (self.tail, 1.0 - self.tail);
        let estimate = unique.mean() / size;
        let uniqueness = Range {
            estimate,
            low: (self.held(unique.quantile(low, size), size) / size).min(estimate),
            high: (self.held(unique.quantile(high, size), size) / size).max(estimate),
        };
        let base = if self.known { seen.distinct } else { 0.0 };
        let share = |count: f64| ((base + count) / size).min(1.0);
        let estimate = share(new.mean()).max(uniqueness.estimate);
        let correctness = Range {
            estimate,
            low: share(new.quantile(low, size))
                .max(uniqueness.low)
                .min(estimate),
            high: share(new.quantile(high, size)).max(estimate),
        };
        Outlook {
            uniqueness,
            correctness,
        }
    }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
