//! The mixture of a sample: where the likelihood of which records are unique in
//! it, times a prior, is largest.

use std::collections::HashMap;

use ndarray::arr2;

use super::super::cholesky::cholesky;
use super::{ln_alone, Mixture, Point, BLOCK};
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};

/// Standard deviations of the prior of ln alpha, ln lambda and ln c around 0.
const PRIOR_SD: [f64; 3] = [0.8, 0.7, 0.5];
/// Up to this many records a sample is kept record by record, beyond in a grid
const KEPT: u64 = 4096;
/// of so many steps per unit of ln p
const P_STEPS: f64 = 32.0;
/// and of ln V.
const V_STEPS: f64 = 8.0;

/// Records of a sample at one point, or near it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// Places of the records, each left out of the counts it is scored by.
    pub point: Point,
    /// Share of the population that they represent.
    pub weight: f64,
    /// Number of records.
    pub n: f64,
    /// Number of them that are unique in the sample.
    pub n_unique: f64,
}

/// Brings the records of a sample together that are nearly at the same point.
/// `unique` says who is unique in the sample; `weights` are those of the records. A point
/// may be that of `times` records: `weights` are their sums then.
pub fn clusters(
    points: &[Point],
    weights: Option<&[f64]>,
    times: Option<&[u64]>,
    unique: &[bool],
) -> Vec<Cluster> {
    let n_at = |row: usize| times.map_or(1, |times| times[row]);
    let weight = |row: usize| weights.map_or(n_at(row) as f64, |w| w[row]);
    let n_records = times.map_or(points.len() as u64, |times| times.iter().sum());
    let mut found: Vec<Cluster> = if n_records <= KEPT {
        points
            .iter()
            .zip(unique)
            .enumerate()
            .map(|(row, (&point, &unique))| Cluster {
                point,
                weight: weight(row),
                n: n_at(row) as f64,
                n_unique: f64::from(u8::from(unique)),
            })
            .collect()
    } else {
        grid(points, weight, n_at, unique)
    };
    let key = |c: &Cluster| [c.point.ln_p, c.point.variance, c.n_unique, c.weight];
    found.sort_unstable_by(|a, b| {
        let order = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b));
        order.fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
    });
    found
}

/// Means over the cells of a grid, in whole numbers: the order of records does not
/// matter.
fn grid(
    points: &[Point],
    weight: impl Fn(usize) -> f64,
    n_at: impl Fn(usize) -> u64,
    unique: &[bool],
) -> Vec<Cluster> {
    const FINE: f64 = (1u64 << 24) as f64;
    // A key without edges has no variance.
    const LEAST: f64 = 1e-12;
    let whole = |x: f64| (x * FINE).round() as i128;
    let mut cells: HashMap<(i64, i64), [i128; 5]> = HashMap::new();
    for (row, (point, &unique)) in points.iter().zip(unique).enumerate() {
        let ln_v = point.variance.max(LEAST).ln();
        let at = (
            (point.ln_p * P_STEPS).floor() as i64,
            (ln_v * V_STEPS).floor() as i64,
        );
        let sums = cells.entry(at).or_insert([0; 5]);
        let times = i128::from(n_at(row));
        let more = [
            times * whole(point.ln_p),
            times * whole(ln_v),
            whole(weight(row)),
            times,
            i128::from(unique),
        ];
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum += more;
        }
    }
    cells
        .into_values()
        .map(|[ln_p, ln_v, weight, n, n_unique]| {
            let n = n as f64;
            let mean = |sum: i128| sum as f64 / FINE / n;
            let ln_v = mean(ln_v);
            Cluster {
                point: Point {
                    ln_p: mean(ln_p),
                    variance: if ln_v > LEAST.ln() + 1e-3 {
                        ln_v.exp()
                    } else {
                        0.0
                    },
                },
                weight: weight as f64 / FINE,
                n,
                n_unique: n_unique as f64,
            }
        })
        .collect()
}

/// The mixture of a sample of `n` records, and ln lambda in it.
pub fn fit_mixture(sample: &[Cluster], n: f64, monitor: &Monitor) -> Result<(Mixture, f64)> {
    const MOST_STEPS: usize = 200;
    let mut at = [0.0; 3];
    let mut here = Posterior::at(&at, sample, n);
    for _ in 0..MOST_STEPS {
        monitor.check()?;
        let step = here.step()?;
        let size = step.iter().fold(0.0f64, |most, s| most.max(s.abs()));
        // Scoring may go too far; half the way is then better.
        let mut share = (2.0 / size).min(1.0);
        let next = loop {
            let next = std::array::from_fn(|k| at[k] + share * step[k]);
            let there = Posterior::at(&next, sample, n);
            if there.value >= here.value || share < 1e-6 {
                here = there;
                break next;
            }
            share *= 0.5;
        };
        at = next;
        if share * size < 1e-9 {
            break;
        }
    }
    let [ln_alpha, ln_lambda, ln_spread] = at;
    let mixture = Mixture {
        alpha: ln_alpha.exp(),
        spread: ln_spread.exp(),
    };
    Ok((mixture, ln_lambda))
}

/// The logarithm of the posterior density, its gradient, and the information.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posterior {
    pub value: f64,
    pub gradient: [f64; 3],
    information: [[f64; 3]; 3],
}

impl Posterior {
    /// At ln alpha, ln lambda and ln c.
    pub fn at(at: &[f64; 3], sample: &[Cluster], n: f64) -> Self {
        let mixture = Mixture {
            alpha: at[0].exp(),
            spread: at[2].exp(),
        };
        let parts = parallel::map(sample.chunks(BLOCK), |clusters| {
            let mut sum = Self::nothing();
            for cluster in clusters {
                sum.add(&mixture, at[1], cluster, n);
            }
            sum
        });
        let mut sum = Self::nothing();
        for part in parts {
            sum.value += part.value;
            for i in 0..3 {
                sum.gradient[i] += part.gradient[i];
                for j in 0..3 {
                    sum.information[i][j] += part.information[i][j];
                }
            }
        }
        for (k, sd) in PRIOR_SD.iter().enumerate() {
            let precision = 1.0 / (sd * sd);
            sum.value -= 0.5 * precision * at[k] * at[k];
            sum.gradient[k] -= precision * at[k];
            sum.information[k][k] += precision;
        }
        sum
    }

    fn nothing() -> Self {
        Self {
            value: 0.0,
            gradient: [0.0; 3],
            information: [[0.0; 3]; 3],
        }
    }

    /// Adds the records of one cluster.
    fn add(&mut self, mixture: &Mixture, ln_lambda: f64, cluster: &Cluster, n: f64) {
        const LEAST: f64 = 1e-300;
        let s = mixture.inverse_shape(cluster.point.variance);
        let x = (n - 1.0) * (cluster.point.ln_p + ln_lambda).exp();
        let ln_unique = ln_alone(s, x * s);
        let other = -ln_unique.exp_m1();
        let (k, rest) = (cluster.n_unique, cluster.n - cluster.n_unique);
        self.value += k * ln_unique + rest * other.max(LEAST).ln();
        // ln xi by ln lambda and by s, and s by ln alpha and ln c.
        let by_lambda = -(1.0 + s) * x / (1.0 + x * s);
        let by_s = (x * s).ln_1p() / (s * s) - (1.0 / s + 1.0) * x / (1.0 + x * s);
        let slope = [
            -by_s / mixture.alpha,
            by_lambda,
            by_s * mixture.spread * cluster.point.variance,
        ];
        // d/d ln xi of the likelihood, and its variance.
        let unique = ln_unique.exp();
        let odds = if other > LEAST { unique / other } else { 0.0 };
        let score = k - rest * odds;
        for i in 0..3 {
            self.gradient[i] += score * slope[i];
            for j in 0..3 {
                self.information[i][j] += cluster.n * odds * slope[i] * slope[j];
            }
        }
    }

    /// Next step of the scoring.
    fn step(&self) -> Result<[f64; 3]> {
        let root = cholesky(arr2(&self.information).view())?;
        let mut step = self.gradient;
        for i in 0..3 {
            let known: f64 = (0..i).map(|j| root[[i, j]] * step[j]).sum();
            step[i] = (step[i] - known) / root[[i, i]];
        }
        for i in (0..3).rev() {
            let known: f64 = (i + 1..3).map(|j| root[[j, i]] * step[j]).sum();
            step[i] = (step[i] - known) / root[[i, i]];
        }
        if step.iter().all(|s| s.is_finite()) {
            Ok(step)
        } else {
            Err(Error::NotConverged(
                "The uncertainty of record probabilities could not be found.".into(),
            ))
        }
    }
}
