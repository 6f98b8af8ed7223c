//! Uniqueness and correctness in populations of given sizes.
//!
//! People are drawn from the model once, from one fixed seed: the draws are the
//! nodes of a numerical integral, whose error is reported. The curve they give is
//! brought to what the sample shows ([`super::calibration`]) and carried to the
//! population ([`super::forecast`]).

use super::calibration::{Posterior, Seen, MOST_SHIFT};
use super::curve::Falling;
use super::fit::Model;
use super::forecast::{outlooks, Outlook, Range, Start};
use super::sampling::{n_steps, Sampler, Spectrum};
use crate::error::Result;
use crate::parallel::Monitor;
use crate::random::Seed;

/// Fewest draws behind a curve.
const FEWEST_DRAWS: u64 = 200_000;
/// Up to this many people, twice as many are drawn.
const TWICE_UP_TO: u64 = 10_000_000;
/// Range over which sizes are stretched and spread, in logarithms.
const BEYOND: f64 = MOST_SHIFT + 10.0;

/// Estimates for one population size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Share of people that are unique.
    pub uniqueness: Range,
    /// Its numerical error.
    pub uniqueness_se: f64,
    /// Share of distinct records.
    pub correctness: Range,
    /// Its numerical error.
    pub correctness_se: f64,
    /// Share of people that are unique before calibration.
    pub model_uniqueness: f64,
}

/// Settings of estimates for populations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Uniqueness that the sample shows.
    pub seen: Seen,
    /// True if the model is brought to it.
    pub calibrated: bool,
    /// True if the sample's own uniqueness is an upper bound.
    pub bounded: bool,
    /// Level of the intervals; none without it.
    pub level: f64,
}

/// A seed that is always the same.
fn fixed_seed() -> Seed {
    Seed::from_draws([0x5DC2_0190, 1, 2, 3, 4, 5, 6, 7])
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

/// Estimates for several populations, and for the model.
#[derive(Debug, Clone)]
pub struct Found {
    /// In the order of the sizes given.
    pub estimates: Vec<Estimate>,
    /// Posterior of the two nuisance parameters.
    pub posterior: Posterior,
    /// People drawn.
    pub n_draws: u64,
}

/// Estimates for populations of `sizes`, none below the sample's.
pub fn judge(
    model: &Model,
    sizes: &[f64],
    settings: &Settings,
    monitor: &Monitor,
) -> Result<Found> {
    let seen = settings.seen;
    let largest = largest_of(sizes);
    let n_draws = n_draws(largest, seen.n);
    let spectrum = drawn(model, n_draws, monitor)?;
    let curve = Falling::of_spectrum(&spectrum, largest.max(seen.n).ln() + BEYOND);
    let shown = settings.calibrated.then_some(&seen);
    let posterior = Posterior::new(&curve, seen.n, shown);
    let start = Start::new(seen, settings.calibrated, settings.bounded, settings.level);
    let mut ascending = sizes.to_vec();
    ascending.sort_by(f64::total_cmp);
    let found = outlooks(&posterior, &start, &ascending, monitor)?;
    let estimates = sizes
        .iter()
        .map(|size| {
            let at = ascending.partition_point(|other| other < size);
            estimate(&spectrum, *size, settings, &found[at])
        })
        .collect();
    Ok(Found {
        estimates,
        posterior,
        n_draws,
    })
}

/// Share of people that are unique in files of `sizes`, below a sample of `n` or above
/// it, as the model says alone.
pub fn model_uniqueness(
    model: &Model,
    sizes: &[f64],
    n: f64,
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let spectrum = drawn(model, n_draws(largest_of(sizes), n), monitor)?;
    Ok(sizes.iter().map(|&m| spectrum.unique_share(m)).collect())
}

fn largest_of(sizes: &[f64]) -> f64 {
    sizes.iter().copied().fold(1.0, f64::max)
}

fn drawn(model: &Model, n_draws: u64, monitor: &Monitor) -> Result<Spectrum> {
    monitor.set_total(n_steps(n_draws));
    Sampler::new(model)?.spectrum(n_draws, fixed_seed(), monitor)
}

/// One population: not calibrated, the estimate is the model's own, and the
/// interval what is known of models beforehand.
fn estimate(spectrum: &Spectrum, size: f64, settings: &Settings, found: &Outlook) -> Estimate {
    let (mut uniqueness_se, mut correctness_se) = spectrum.standard_errors(size);
    let model_uniqueness = spectrum.unique_share(size);
    let (mut uniqueness, mut correctness) = (found.uniqueness, found.correctness);
    let n = settings.seen.n;
    if settings.calibrated {
        // The curve's error where it was calibrated adds to it; the sample is known.
        let (unique, distinct) = spectrum.standard_errors(n);
        let others = (1.0 - n / size).max(0.0);
        uniqueness_se = others * uniqueness_se.hypot(unique);
        correctness_se = others * correctness_se.hypot(distinct);
    } else {
        uniqueness = uniqueness.around(model_uniqueness);
        correctness = correctness.around(spectrum.distinct_share(size));
    }
    Estimate {
        uniqueness,
        uniqueness_se,
        correctness,
        correctness_se,
        model_uniqueness,
    }
}

/// Share of unique people, its numerical error, and share of distinct records.
pub type ModelShares = (f64, f64, f64);

/// Uniqueness by the model in a population of `size` on each of several sets of keys. Sets share
/// their random numbers.
pub fn uniqueness_of_sets(
    model: &Model,
    sets: &[Vec<usize>],
    size: f64,
    seed: Seed,
    monitor: &Monitor,
) -> Result<Vec<ModelShares>> {
    let n_draws = n_draws(size, 1.0).min((size as u64).max(FEWEST_DRAWS));
    monitor.set_total(n_steps(n_draws) * sets.len() as u64);
    sets.iter()
        .map(|set| {
            let part = model.select(set);
            let spectrum = Sampler::new(&part)?.spectrum(n_draws, seed, monitor)?;
            let (error, _) = spectrum.standard_errors(size);
            Ok((
                spectrum.unique_share(size),
                error,
                spectrum.distinct_share(size),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_threads;

    fn model() -> Model {
        let d = 4;
        let mut correlation = ndarray::Array2::from_elem((d, d), 0.3);
        correlation.diag_mut().fill(1.0);
        let falling: Vec<f64> = (1..=8).map(|r| 1.0 / f64::from(r)).collect();
        let total: f64 = falling.iter().sum();
        let shares: Vec<f64> = falling.iter().map(|x| x / total).collect();
        Model::new(vec![shares; d], vec![(0..8).collect(); d], correlation).unwrap()
    }

    fn settings(single: f64) -> Settings {
        Settings {
            seen: Seen {
                n: 2000.0,
                single,
                distinct: single + 300.0,
            },
            calibrated: true,
            bounded: true,
            level: 0.95,
        }
    }

    #[test]
    fn estimates_do_not_depend_on_threads_or_on_the_order_of_sizes() {
        let run = |threads, sizes: &[f64]| {
            with_threads(threads, || {
                let found = judge(&model(), sizes, &settings(200.0), &Monitor::new())?;
                Ok(found.estimates)
            })
            .unwrap()
        };
        let one = run(1, &[9000.0, 2000.0, 4000.0]);
        assert_eq!(one, run(3, &[9000.0, 2000.0, 4000.0]));
        assert_eq!(one[2], run(2, &[4000.0, 9000.0])[0]);
        assert!((one[1].uniqueness.estimate - 0.1).abs() < 1e-12);
        assert!(one[1].uniqueness_se < 1e-12);
    }

    #[test]
    fn the_model_alone_is_what_its_draws_show() {
        let alone = |bounded| {
            let settings = Settings {
                calibrated: false,
                bounded,
                ..settings(0.0)
            };
            judge(&model(), &[2000.0, 9000.0], &settings, &Monitor::new())
                .unwrap()
                .estimates
        };
        for (e, cut) in alone(false).iter().zip(alone(true)) {
            assert!((e.uniqueness.estimate - e.model_uniqueness).abs() < 1e-15);
            // A sample without a unique record allows less than this model says.
            assert!((cut.uniqueness.high - e.model_uniqueness).abs() < 1e-15);
            assert!(e.uniqueness.low < e.model_uniqueness);
            assert!(e.uniqueness.high > e.model_uniqueness);
            assert!(e.correctness.estimate > e.uniqueness.estimate);
        }
        let shares: Vec<f64> = alone(false).iter().map(|e| e.model_uniqueness).collect();
        let sizes = [2000.0, 9000.0];
        let curve = model_uniqueness(&model(), &sizes, 2000.0, &Monitor::new()).unwrap();
        assert_eq!(curve, shares);
    }
}
