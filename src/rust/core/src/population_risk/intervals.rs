//! Intervals of the five measures: the posterior, an error of the model, and the chance of this one
//! population.
//!
//! The error of the model moves all five figures of a draw in log-odds. Its standard deviation is
//!
//! ```text
//! sqrt(BY_POSTERIOR v + (MODEL_ERROR ln(N / n) unusual)^2)
//! ```
//!
//! with `v` the variance of the figure over the posterior, and `unusual` see [`unusual`].

use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

use super::bins::{Bins, Cell};
use super::draws::{five, least_found, not_in_file, Draw, Sizes};
use super::law::{Parameters, THETA};
use super::misfit;
use super::Estimate;
use crate::random::{Seed, Streams};

/// Standard deviation of the model's error in log-odds over `ln(N / n)`, in a file like those that
/// the prior was fitted to: uniqueness, correctness, tau1, tau2, re-identifications. These and what
/// multiplies them, see [`unusual`], were chosen on populations used for development.
const MODEL_ERROR: [f64; 5] = [0.04, 0.022, 0.04, 0.034, 0.027];
/// What its logarithm gains per standard deviation of the prior between the parameters and its mean.
const BY_DISTANCE: f64 = 0.3;
/// The same, if the parameter is `ln theta`.
const BY_ALIKE: f64 = 0.2;
/// Variance of the model's error over that of the posterior.
const BY_POSTERIOR: f64 = 0.5;
/// Copies of every draw, each with its own errors of model and count.
const COPIES: usize = 20;
/// Unique people of a sample that it is not surprising to see none of, chosen on populations used for
/// development.
const UNSEEN: f64 = 0.1;

/// The shares of a file that are never smaller in expectation than those of its population:
/// records alone with their key, distinct keys. Two standard errors are added.
fn shares_of_file(bins: &Bins) -> [f64; 2] {
    if !bins.equal_chances() {
        return [1.0; 2];
    }
    let classes = |of: &dyn Fn(&Cell) -> f64| bins.cells.iter().map(of).sum::<f64>();
    let n = classes(&|cell| cell.classes * bins.frequencies[cell.at]);
    let alone = classes(&|cell| if cell.at == 0 { cell.classes } else { 0.0 });
    [alone, classes(&|cell| cell.classes)].map(|count| {
        let share = count / n;
        (share + 2.0 * (share * (1.0 - share).max(0.0) / n).sqrt()).min(1.0)
    })
}

/// How much larger the model's error is than in a file like those that the prior was fitted to: the
/// further the law lies from theirs, the more people are alike for reasons that are not in the
/// keys, and the further it moves the probabilities of the network.
fn unusual(points: &[(Parameters, f64)], bins: &Bins) -> f64 {
    let mean = Parameters::mean(points);
    let distance = mean.iter().map(|z| z * z).sum::<f64>().sqrt();
    let moved = misfit::moved(bins, points).abs().min(1.0);
    (BY_DISTANCE * distance + BY_ALIKE * mean[THETA].max(-1.0) + moved).exp()
}

/// Standard deviations of the model's error of the five measures, in log-odds.
fn model_errors(draws: &[Draw], sizes: &Sizes, tops: &[f64; 5], unusual: f64) -> [f64; 5] {
    let ratio = (sizes.people / sizes.n).max(1.0).ln();
    std::array::from_fn(|k| {
        // Half a person.
        let least = 0.5 * tops[k] / sizes.people;
        let log_odds = |draw: &Draw| {
            let value = five(draw, sizes)[k];
            (value.max(least) / (tops[k] - value).max(least)).ln()
        };
        let mean_of = |of: &dyn Fn(&Draw) -> f64| -> f64 {
            draws.iter().map(|draw| draw.weight * of(draw)).sum()
        };
        let mean = mean_of(&log_odds);
        let posterior = mean_of(&|draw| (log_odds(draw) - mean).powi(2));
        (BY_POSTERIOR * posterior + (MODEL_ERROR[k] * ratio * unusual).powi(2)).sqrt()
    })
}

/// The measures in their order, by `draws` of all parts together and the parameters `points` of each.
pub(super) fn intervals(
    draws: &[Draw],
    points: &[(Parameters, f64)],
    parts: &[Bins],
    sizes: &Sizes,
    refuted: bool,
) -> [Estimate; 5] {
    let n_unique: f64 = parts
        .iter()
        .flat_map(|bins| &bins.loads)
        .map(|load| load.unique)
        .sum();
    let n_classes: f64 = parts
        .iter()
        .flat_map(|bins| &bins.cells)
        .map(|cell| cell.judged)
        .sum();
    let mut rng = Streams::new(Seed::from_draws([40; 8])).block(1);
    let mut copies: [Vec<(f64, f64)>; 5] = Default::default();
    let sum_least = |of: &dyn Fn(&Bins, f64) -> f64| -> f64 {
        (parts.iter())
            .map(|bins| of(bins, not_in_file(bins, sizes)))
            .sum()
    };
    let least_of_unique = sum_least(&|bins, left| {
        let unique: f64 = bins.loads.iter().map(|load| load.unique).sum();
        unique * least_found(1.0, left)
    });
    let least_of_all = sum_least(&|bins, left| {
        (bins.cells.iter())
            .map(|cell| cell.judged * least_found(bins.frequencies[cell.at], left))
            .sum()
    });
    let bottoms = [
        0.0,
        sizes.keys / sizes.people,
        0.0,
        least_of_unique,
        least_of_all + sizes.found_anyway,
    ];
    let tops = [1.0, 1.0, n_unique, n_unique, n_classes + sizes.found_anyway];
    let errors = model_errors(draws, sizes, &tops, unusual(points, &parts[0]));
    for draw in draws {
        let expected = five(draw, sizes);
        for copy in 0..COPIES {
            // One error of the model for all five, half of the copies on each side.
            let z: f64 = StandardNormal.sample(&mut rng);
            let z = if copy % 2 == 0 { z.abs() } else { -z.abs() };
            let found: [f64; 5] = std::array::from_fn(|k| {
                let moved = moved(expected[k], tops[k], errors[k] * z);
                let found = counted(k, moved, tops[k], draw, sizes, &mut rng);
                found.max(bottoms[k].min(tops[k]))
            });
            let ordered = [
                found[0],
                found[1].max(found[0]),
                found[2],
                found[3].max(found[2]),
                found[4].max(found[3]).max(found[2]),
            ];
            for (copies, value) in copies.iter_mut().zip(ordered) {
                copies.push((value, draw.weight / COPIES as f64));
            }
        }
    }
    let mean = |k: usize| {
        draws
            .iter()
            .map(|d| d.weight * five(d, sizes)[k])
            .sum::<f64>()
    };
    let mut estimates: [Estimate; 5] = std::array::from_fn(|k| {
        let value = mean(k);
        let [low, high] = [0.025, 0.975].map(|share| quantile(&mut copies[k], share));
        // People are counted in whole numbers.
        let unit = [
            sizes.people,
            f64::INFINITY,
            1.0,
            f64::INFINITY,
            f64::INFINITY,
        ][k];
        let whole = if unit.is_finite() {
            ((value * unit - 1e-9).ceil() / unit).min(tops[k])
        } else {
            value
        };
        Estimate {
            value,
            low: low.min(value),
            high: high.max(value).max(whole),
        }
    });
    if refuted {
        let [unique, keys] = shares_of_file(&parts[0]);
        for (estimate, most) in estimates
            .iter_mut()
            .zip([unique, keys, tops[2], tops[3], tops[4]])
        {
            estimate.high = estimate.high.max(most);
        }
    }
    for (below, above) in [(0, 1), (2, 3), (3, 4)] {
        estimates[above].high = estimates[above].high.max(estimates[below].high);
    }
    estimates
}

/// `value` of at most `top`, moved by `by` on the scale of its log-odds.
fn moved(value: f64, top: f64, by: f64) -> f64 {
    if value <= 0.0 || value >= top {
        return value;
    }
    let odds = value / (top - value) * by.exp();
    top * odds / (1.0 + odds)
}

/// A figure of this population from the one expected.
fn counted(k: usize, mean: f64, top: f64, draw: &Draw, sizes: &Sizes, rng: &mut ChaCha8Rng) -> f64 {
    let z: f64 = StandardNormal.sample(rng);
    let unit = if k < 2 { sizes.people } else { 1.0 };
    let count = mean * unit;
    let left = 1.0 - mean / top.max(f64::MIN_POSITIVE);
    let value = match k {
        // Square roots of counts have one variance: few or none in the sample do not say that
        // there are none.
        0 if z > 0.0 => {
            let fraction = sizes.n / sizes.people;
            let left = 1.0 - fraction;
            let root = (count * fraction + UNSEEN * left).sqrt() + 0.5 * z * left.sqrt();
            root * root / fraction
        }
        // Binomial of the records, as far as they are not all people.
        0 | 1 => {
            count
                + z * (count * left * (sizes.people / sizes.n - 1.0))
                    .max(0.0)
                    .sqrt()
        }
        2 if count < 30.0 && left > 0.5 => few(count, rng),
        2 if top - count < 30.0 => top - few(top - count, rng),
        2 => count + z * (count * left).max(0.0).sqrt(),
        3 => count + z * draw.variance2.sqrt(),
        _ => count + z * draw.variance_found.sqrt(),
    };
    value.clamp(0.0, top * unit) / unit
}

/// A Poisson number.
fn few(mean: f64, rng: &mut ChaCha8Rng) -> f64 {
    Poisson::new(mean).map_or(0.0, |law| law.sample(rng))
}

fn quantile(copies: &mut [(f64, f64)], share: f64) -> f64 {
    copies.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    for &(value, weight) in copies.iter() {
        sum += weight;
        if sum >= share {
            return value;
        }
    }
    copies.last().map_or(f64::NAN, |last| last.0)
}
