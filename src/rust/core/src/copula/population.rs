//! Uniqueness and correctness in populations of given sizes, and how the
//! estimates vary over samples.
//!
//! # How estimates vary
//!
//! Samples of the size of the real one are drawn from the model and treated as
//! the real one is: margins, orders and correlations are fitted again, and the
//! calibration too. A refitted model is compared with the first one at a
//! population of moderate size N': with S and S_b their curves, s_b is such that
//! `S(s_b N') = S_b(N')`, and S_b is taken as S with sizes stretched by s_b. The
//! refit's estimate so found, against the true S(N), is again a stretch of sizes,
//! under which the estimate from the real sample is read once more. So an error
//! of the model is not covered: samples come from the model.

use rayon::prelude::*;

use super::calibration::{Calibration, Curve};
use super::fit::{fit, Model, Sample, Settings};
use super::sampling::{n_steps, Sampler};
use crate::error::Result;
use crate::key_table::{Codes, Column, KeyTable};
use crate::parallel::Monitor;
use crate::random::{Seed, Streams};

/// Fewest draws behind a curve.
const FEWEST_DRAWS: u64 = 200_000;
/// Up to this many people, twice as many are drawn.
const TWICE_UP_TO: u64 = 10_000_000;
/// Refits are compared at this many people, or at ten times the sample.
const COMPARED_AT: u64 = 100_000;

/// What the sample shows, for calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Number of records.
    pub n: f64,
    /// Share of them that are unique in the sample.
    pub uniqueness: f64,
}

/// Estimates for one population size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Share of people that are unique.
    pub uniqueness: f64,
    /// Its Monte Carlo error.
    pub uniqueness_se: f64,
    /// Share of distinct records.
    pub correctness: f64,
    /// Its Monte Carlo error.
    pub correctness_se: f64,
    /// Share of people that are unique before calibration.
    pub model_uniqueness: f64,
}

/// A model's curve, calibrated where asked for.
#[derive(Debug, Clone)]
pub struct Population {
    curve: Curve,
    /// How the curve was calibrated.
    pub calibration: Calibration,
    calibrated_at: f64,
}

/// Draws for population sizes up to `largest` and a sample of `n`.
pub fn n_draws(largest: f64, n: f64) -> u64 {
    let largest = largest.max(n).ceil() as u64;
    let twice = if largest <= TWICE_UP_TO {
        2 * largest
    } else {
        largest
    };
    twice.max(FEWEST_DRAWS)
}

impl Population {
    /// Draws `n_draws` people of a model.
    pub fn draw(
        model: &Model,
        n_draws: u64,
        observed: Option<Observed>,
        seed: Seed,
        monitor: &Monitor,
    ) -> Result<Self> {
        let spectrum = Sampler::new(model)?.spectrum(n_draws, seed, monitor)?;
        let curve = Curve::new(spectrum);
        let calibration = observed.map_or(Calibration::None, |seen| {
            Calibration::fit(&curve, seen.n, seen.uniqueness)
        });
        Ok(Self {
            curve,
            calibration,
            calibrated_at: observed.map_or(0.0, |seen| seen.n),
        })
    }

    /// The estimates at one population size.
    pub fn at(&self, size: f64) -> Estimate {
        let spectrum = self.curve.spectrum();
        let (mut uniqueness_se, mut correctness_se) = spectrum.standard_errors(size);
        let model_uniqueness = spectrum.unique_share(size);
        let (uniqueness, correctness) = match self.calibration {
            Calibration::None => (model_uniqueness, spectrum.distinct_share(size)),
            calibration => {
                // The curve's error where it was calibrated adds to it.
                let (unique, distinct) = spectrum.standard_errors(self.calibrated_at);
                uniqueness_se = uniqueness_se.hypot(unique);
                correctness_se = correctness_se.hypot(distinct);
                (
                    calibration.uniqueness(&self.curve, size),
                    calibration.correctness(&self.curve, size),
                )
            }
        };
        Estimate {
            uniqueness,
            uniqueness_se,
            correctness,
            correctness_se,
            model_uniqueness,
        }
    }
}

/// How many samples are drawn from the model, and how they are fitted.
#[derive(Debug, Clone)]
pub struct Refits<'a> {
    /// Number of samples.
    pub times: usize,
    /// How the real sample was fitted.
    pub settings: &'a Settings,
    /// Records in a sample.
    pub n: usize,
}

/// Draws of one refit for populations up to `largest`.
fn n_compared(largest: f64, n: usize) -> u64 {
    let most = COMPARED_AT
        .max(10 * n as u64)
        .min(4 * COMPARED_AT)
        .max(n as u64);
    (largest as u64).clamp(n as u64, most)
}

/// Steps that drawing and refitting report to a monitor.
pub fn n_monitor_steps(n_draws: u64, largest: f64, refits: Option<&Refits>) -> u64 {
    n_steps(n_draws) + refits.map_or(0, |r| r.times as u64 * n_steps(n_compared(largest, r.n)))
}

impl Refits<'_> {
    /// Per refit and size the estimates of uniqueness and correctness that
    /// another sample could have given.
    pub fn run(
        &self,
        model: &Model,
        population: &Population,
        sizes: &[f64],
        seed: Seed,
        monitor: &Monitor,
    ) -> Result<Vec<Vec<(f64, f64)>>> {
        let sampler = Sampler::new(model)?;
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        (0..self.times)
            .into_par_iter()
            .map(|b| {
                monitor.check()?;
                let records = sampler.records(self.n, seed_of(seed, 2 * b as u64), monitor)?;
                let table = table_of(records, &model.shares)?;
                let sample = Sample::count(table.columns(), None, monitor)?;
                let refitted = fit(&sample, self.settings, monitor)?.model;
                let compared = n_compared(largest, self.n);
                let observed = match population.calibration {
                    _ if population.calibrated_at < 1.0 => None,
                    _ => {
                        let groups = table.group(monitor)?;
                        let single = groups.counts().iter().filter(|&&c| c == 1).count();
                        Some(Observed {
                            n: self.n as f64,
                            uniqueness: single as f64 / self.n as f64,
                        })
                    }
                };
                let other = Population::draw(
                    &refitted,
                    compared,
                    observed,
                    seed_of(seed, 2 * b as u64 + 1),
                    monitor,
                )?;
                Ok(transported(population, &other, compared as f64, sizes))
            })
            .collect()
    }
}

/// Estimates for a population of `size`, not calibrated, on each of several sets
/// of keys. Sets share their random numbers.
pub fn uniqueness_of_sets(
    model: &Model,
    sets: &[Vec<usize>],
    size: f64,
    seed: Seed,
    monitor: &Monitor,
) -> Result<Vec<Estimate>> {
    let n_draws = n_draws(size, 1.0).min((size as u64).max(FEWEST_DRAWS));
    monitor.set_total(n_steps(n_draws) * sets.len() as u64);
    sets.iter()
        .map(|set| {
            let part = model.select(set);
            Ok(Population::draw(&part, n_draws, None, seed, monitor)?.at(size))
        })
        .collect()
}

/// The estimates of `first` as they would be from the sample of `other`.
fn transported(
    first: &Population,
    other: &Population,
    compared: f64,
    sizes: &[f64],
) -> Vec<(f64, f64)> {
    let unique = |m: f64| first.curve.uniqueness(m);
    let correct = |m: f64| first.curve.correctness(m);
    let stretch_unique = stretch(&unique, compared, other.curve.uniqueness(compared));
    let stretch_correct = stretch(&correct, compared, other.curve.correctness(compared));
    sizes
        .iter()
        .map(|&size| {
            let found = other
                .calibration
                .mean(size, |m| unique(1.0 + stretch_unique * (m - 1.0)));
            let s = stretch(&unique, size, found);
            let uniqueness = first.calibration.mean(1.0 + s * (size - 1.0), unique);
            let found = other
                .calibration
                .mean(size, |m| correct(1.0 + stretch_correct * (m - 1.0)));
            let s = stretch(&correct, size, found);
            let correctness = first.calibration.mean(1.0 + s * (size - 1.0), correct);
            (uniqueness, correctness)
        })
        .collect()
}

/// The s with `falling(s m) = value`, one where it does not matter.
fn stretch(falling: &dyn Fn(f64) -> f64, m: f64, value: f64) -> f64 {
    let at = |s: f64| falling(1.0 + s * (m - 1.0));
    if (at(1.0) - value).abs() < 1e-12 {
        return 1.0;
    }
    let (mut low, mut high) = (1e-4_f64, 1e4_f64);
    for _ in 0..50 {
        let middle = (low * high).sqrt();
        if at(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

/// A seed of its own for part `part` of a computation.
fn seed_of(seed: Seed, part: u64) -> Seed {
    use rand::Rng;
    // Streams of draws are numbered from 0 up.
    let mut rng = Streams::new(seed).block(u64::MAX - 1 - part);
    Seed::from_draws(std::array::from_fn(|_| rng.next_u32()))
}

/// Categories as a table in which every one is a value.
fn table_of(records: Vec<Vec<u32>>, shares: &[Vec<f64>]) -> Result<KeyTable> {
    let columns = records
        .into_iter()
        .zip(shares)
        .map(|(categories, shares)| {
            let n_values = shares.len() as u32;
            let codes = Codes::pack(n_values, categories.into_iter().map(|c| c + 1));
            Column::new(codes, n_values)
        })
        .collect::<Result<_>>()?;
    KeyTable::new(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copula::fit::Marginals;
    use crate::copula::orders::Order;
    use crate::parallel::with_threads;

    fn model() -> Model {
        let d = 4;
        let mut correlation = vec![0.3; d * d];
        for i in 0..d {
            correlation[i * d + i] = 1.0;
        }
        let falling: Vec<f64> = (1..=8).map(|r| 1.0 / f64::from(r)).collect();
        let total: f64 = falling.iter().sum();
        let shares: Vec<f64> = falling.iter().map(|x| x / total).collect();
        Model::new(vec![shares; d], vec![(0..8).collect(); d], correlation).unwrap()
    }

    fn settings(d: usize) -> Settings {
        Settings {
            order: Order::Natural,
            nominal: vec![false; d],
            marginals: Marginals::Empirical,
            exogenous: vec![None; d],
            correlation: None,
            signed: true,
        }
    }

    #[test]
    fn estimates_do_not_depend_on_threads() {
        let seed = Seed::from_draws([1; 8]);
        let run = |threads| {
            with_threads(threads, || {
                let monitor = Monitor::new();
                let model = model();
                let seen = Observed {
                    n: 2000.0,
                    uniqueness: 0.1,
                };
                let population = Population::draw(&model, 20_000, Some(seen), seed, &monitor)?;
                let refits = Refits {
                    times: 3,
                    settings: &settings(4),
                    n: 2000,
                };
                let spread = refits.run(&model, &population, &[2000.0, 9000.0], seed, &monitor)?;
                Ok((population.at(9000.0), spread))
            })
            .unwrap()
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn the_sample_s_own_uniqueness_comes_back_at_its_size() {
        let seed = Seed::from_draws([7; 8]);
        let monitor = Monitor::new();
        for uniqueness in [0.02, 0.1, 0.3, 0.6] {
            let seen = Observed {
                n: 1500.0,
                uniqueness,
            };
            let population =
                Population::draw(&model(), 200_000, Some(seen), seed, &monitor).unwrap();
            let back = population.at(1500.0).uniqueness;
            assert!(
                (back - uniqueness).abs() < 1e-6,
                "{back} {uniqueness} {:?}",
                population.calibration
            );
            assert!(population.at(1500.0).correctness > uniqueness);
        }
    }
}
