//! The model brought to what the sample shows, as far as the sample knows it.
//!
//! # Two nuisance parameters
//!
//! A copula smooths. Its cells may be too coarse or too fine by a factor
//! lambda, and vary about their probability by a gamma variable of mean one and
//! variance a. With l = ln lambda, a person is unique among m with probability
//! `U(m | a, l) = S_a(1 + e^l (m - 1))`, S_a the model's curve spread by a.
//!
//! # What is known of them
//!
//! Before the sample: l is normal with mean 0 and standard deviation 0.3,
//! ln max(a, 0.015) normal with mean ln 0.12 and standard deviation 1.5. The
//! sample of n records says how many, s, are unique: the likelihood is
//! `U^s (1 - U)^(n - s)` at m = n. Where few records stand on one side the prior
//! decides, where there are thousands the sample does; neither parameter is ever
//! put at an end of its range.
//!
//! The posterior is integrated by quadrature: over a by a fixed grid of ln a,
//! over l by a trapezoidal rule on the range that holds its mass.

use super::curve::Falling;

/// Prior standard deviation of l.
const SHIFT_SD: f64 = 0.3;
/// Values of l looked at lie between plus and minus this.
pub const MOST_SHIFT: f64 = 4.0;
/// Prior centre and standard deviation of ln a.
const SPREAD: (f64, f64) = (-2.120_263_536_200_091, 1.5);
/// Least and greatest a told apart; the least stands for none.
const SPREAD_RANGE: (f64, f64) = (0.015, 8.0);
const N_SPREADS: usize = 13;
/// Points over l, of the first look and of each further one.
const N_SHIFTS: usize = 41;
/// Points whose density is below the largest by more than this are left out.
const FAR: f64 = 16.0;
/// A posterior standard deviation above this share of the prior's has learnt
/// nothing.
const UNMOVED: f64 = 0.8;

/// Uniqueness that the sample shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Number of records.
    pub n: f64,
    /// Records that are unique.
    pub single: f64,
    /// Distinct records.
    pub distinct: f64,
}

/// One point of the posterior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Index of the spread curve.
    pub spread: usize,
    /// ln of its a over that at the centre of the prior, 0 below it.
    pub excess: f64,
    /// The shift l.
    pub shift: f64,
    /// Its share of the posterior.
    pub weight: f64,
}

/// Mean and standard deviation of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// True if the sample left it as it was before.
    pub shrunk: bool,
}

/// Posterior of the two parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The model's curve spread by every a of the grid.
    pub curves: Vec<Falling>,
    /// Points with their weights, which add up to one.
    pub points: Vec<Point>,
    /// Of l.
    pub shift: Moments,
    /// Of ln a, from ln 0.015 up.
    pub spread: Moments,
}

/// The grid of a: none, and evenly spaced logarithms.
fn spreads() -> [f64; N_SPREADS] {
    let (least, most) = SPREAD_RANGE;
    std::array::from_fn(|j| match j {
        0 => 0.0,
        _ => least * (most / least).powf(j as f64 / (N_SPREADS - 1) as f64),
    })
}

fn ln_normal(x: f64, mean: f64, sd: f64) -> f64 {
    let z = (x - mean) / sd;
    -0.5 * z * z
}

/// Support of a density: points evenly spaced over the range in which it is within e^-FAR of its
/// largest value, and their ln density.
fn support(ln_density: impl Fn(f64) -> f64) -> (f64, Vec<(f64, f64)>) {
    let (mut low, mut high) = (-MOST_SHIFT, MOST_SHIFT);
    loop {
        let step = (high - low) / (N_SHIFTS - 1) as f64;
        let points: Vec<(f64, f64)> = (0..N_SHIFTS)
            .map(|i| low + step * i as f64)
            .map(|x| (x, ln_density(x)))
            .collect();
        let top = points.iter().fold(f64::NEG_INFINITY, |t, p| t.max(p.1));
        let holds = |p: &(f64, f64)| p.1 > top - FAR;
        let first = points.iter().position(holds).unwrap_or(0);
        let last = points.iter().rposition(holds).unwrap_or(N_SHIFTS - 1);
        let kept = last - first + 2;
        if kept * 3 > N_SHIFTS || step < 1e-9 {
            return (step, points);
        }
        low = points[first.saturating_sub(1)].0;
        high = points[(last + 1).min(N_SHIFTS - 1)].0;
    }
}

impl Posterior {
    /// The posterior given what the sample shows; without it the prior.
    pub fn new(model: &Falling, n: f64, seen: Option<&Seen>) -> Self {
        let grid = spreads();
        let curves: Vec<Falling> = grid.iter().map(|&a| model.spread(a)).collect();
        let at_n = (n - 1.0).max(1e-3).ln();
        let ln_spread = |j: usize| grid[j].max(SPREAD_RANGE.0).ln();
        let mut points = Vec::new();
        for (j, curve) in curves.iter().enumerate() {
            let before = ln_normal(ln_spread(j), SPREAD.0, SPREAD.1);
            let (step, support) = support(|shift| {
                let alone = curve.at(at_n + shift).0.clamp(1e-12, 1.0 - 1e-12);
                let likelihood = seen.map_or(0.0, |seen| {
                    seen.single * alone.ln() + (seen.n - seen.single) * (-alone).ln_1p()
                });
                likelihood + before + ln_normal(shift, 0.0, SHIFT_SD)
            });
            points.extend(support.into_iter().map(|(shift, ln_density)| Point {
                spread: j,
                excess: (ln_spread(j) - SPREAD.0).max(0.0),
                shift,
                weight: ln_density + step.ln(),
            }));
        }
        let top = points
            .iter()
            .fold(f64::NEG_INFINITY, |t, p| t.max(p.weight));
        points.retain(|p| p.weight > top - FAR);
        points
            .iter_mut()
            .for_each(|p| p.weight = (p.weight - top).exp());
        let mass: f64 = points.iter().map(|p| p.weight).sum();
        points.iter_mut().for_each(|p| p.weight /= mass);
        let prior_sd = {
            // On the grid, which is bounded.
            let weights: Vec<(f64, f64)> = (0..N_SPREADS)
                .map(|j| {
                    (
                        ln_spread(j),
                        ln_normal(ln_spread(j), SPREAD.0, SPREAD.1).exp(),
                    )
                })
                .collect();
            moments(weights.into_iter()).1
        };
        let known = |values: (f64, f64), prior_sd: f64| Moments {
            mean: values.0,
            sd: values.1,
            shrunk: values.1 > UNMOVED * prior_sd,
        };
        let shift = moments(points.iter().map(|p| (p.shift, p.weight)));
        let spread = moments(points.iter().map(|p| (ln_spread(p.spread), p.weight)));
        Self {
            curves,
            shift: known(shift, SHIFT_SD),
            spread: known(spread, prior_sd),
            points,
        }
    }
}

/// Mean and standard deviation of weighted values.
fn moments(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let mass: f64 = values.clone().map(|(_, w)| w).sum();
    let mean = values.clone().map(|(x, w)| w * x).sum::<f64>() / mass;
    let square = values.map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>();
    (mean, (square / mass).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of falling shares.
    fn model() -> Falling {
        let raw: Vec<f64> = (1..3000).map(|r| 1.0 / (20.0 + f64::from(r))).collect();
        let total: f64 = raw.iter().sum();
        Falling::of(20.0, |y| {
            raw.iter()
                .map(|x| x / total)
                .map(|q| q * (-y.exp() * q).exp())
                .sum()
        })
    }

    fn alone(posterior: &Posterior, n: f64) -> f64 {
        let at = |p: &Point| posterior.curves[p.spread].at((n - 1.0).ln() + p.shift).0;
        posterior.points.iter().map(|p| p.weight * at(p)).sum()
    }

    #[test]
    fn thousands_of_records_decide_and_few_do_not() {
        let model = model();
        for n in [300.0_f64, 3e3, 3e4] {
            let own = model.at((n - 1.0).ln()).0;
            let seen = Seen {
                n,
                single: 0.9 * own * n,
                distinct: n,
            };
            let posterior = Posterior::new(&model, n, Some(&seen));
            let mass: f64 = posterior.points.iter().map(|p| p.weight).sum();
            assert!((mass - 1.0).abs() < 1e-12);
            let error = 3.0 * (0.9 * own / n).sqrt() + 0.1 * own * (1e3 / n).min(1.0);
            assert!((alone(&posterior, n) - 0.9 * own).abs() < error);
            assert!(posterior.points.len() > 20);
        }
        // Of twelve records the prior is hardly moved.
        let own = model.at(11.0_f64.ln()).0;
        let seen = Seen {
            n: 12.0,
            single: 12.0,
            distinct: 12.0,
        };
        let posterior = Posterior::new(&model, 12.0, Some(&seen));
        assert!(alone(&posterior, 12.0) - own < 0.5 * (1.0 - own));
        assert!(posterior.shift.shrunk && posterior.spread.shrunk);
        let known = Seen {
            n: 1e6,
            single: 2e5,
            distinct: 5e5,
        };
        assert!(!Posterior::new(&model, 1e6, Some(&known)).shift.shrunk);
    }

    #[test]
    fn without_a_sample_there_is_the_prior() {
        let prior = Posterior::new(&model(), 1000.0, None);
        assert!(prior.shift.mean.abs() < 1e-9);
        assert!((prior.shift.sd - SHIFT_SD).abs() < 1e-3);
        assert!(prior.shift.shrunk && prior.spread.shrunk);
        assert!((prior.spread.mean - SPREAD.0).abs() < 0.2);
    }
}
