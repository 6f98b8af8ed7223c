//! All measures from one law: the draws of its parameters together, see `draws`.

use super::bins::Bins;
use super::draws::{draws, together, Draw, Sizes, SMALL};
use super::intervals::intervals;
use super::law::Posterior;
use super::misfit::refuted;
use super::shares::Shares;
use super::Measures;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// All measures, and what every node and cell of every part has of them. The law is
/// fitted to the first part, whose keys are those that uniqueness is about.
pub(super) fn measures(
    parts: &[Bins],
    sizes: &Sizes,
    bounded: bool,
    monitor: &Monitor,
) -> Result<(Measures, Vec<OfBins>)> {
    let points = Posterior::new(&parts[0], sizes.most).draws(monitor)?;
    let shares = Shares::new(bounded);
    let draws = parallel::try_map(&points, monitor, |(parameters, weight)| {
        Ok(draws(parts, sizes, parameters, *weight, &shares))
    })?;
    // In the order of the sums below, so that the average of ones is one.
    let total: f64 = draws.iter().map(|draw| draw[0].weight).sum();
    let of_parts = (0..parts.len()).map(|part| {
        let averaged = |of: fn(&Draw) -> &Vec<f64>| {
            let mut sums = vec![0.0; of(&draws[0][part]).len()];
            for draw in &draws {
                for (sum, value) in sums.iter_mut().zip(of(&draw[part])) {
                    *sum += draw[part].weight * value;
                }
            }
            sums.iter_mut().for_each(|sum| *sum /= total);
            sums
        };
        OfBins {
            unique: averaged(|draw| &draw.unique),
            found: averaged(|draw| &draw.found),
        }
    });
    let of_parts = of_parts.collect();
    let mut draws: Vec<Draw> = draws.into_iter().filter_map(together).collect();
    for draw in &mut draws {
        draw.keys = draw.keys.max(sizes.keys);
    }
    // A file of everybody needs no law.
    let refuted = sizes.n < sizes.people && refuted(&parts[0], &points, sizes.most, sizes.own);
    let [uniqueness, correctness, tau1, tau2, reidentifications] =
        intervals(&draws, &points, parts, sizes, refuted);
    let square: f64 = draws.iter().map(|d| d.weight * d.weight).sum();
    let measures = Measures {
        uniqueness,
        correctness,
        tau1,
        tau2,
        reidentifications,
        smallest_class: smallest_class(&draws),
        effective_draws: 1.0 / square,
        refuted,
    };
    Ok((measures, of_parts))
}

/// Values of nodes and cells, on average over the draws.
pub(super) struct OfBins {
    /// Per node the chance that a sample unique is unique in the population.
    pub unique: Vec<f64>,
    /// Per cell `f E[1 / F | f]` of one class.
    pub found: Vec<f64>,
}

/// At m of a draw; beyond those looked at it is the last.
fn none_below(ln_none: &[f64], m: usize) -> f64 {
    ln_none[m.min(ln_none.len() - 1)]
}
/// The smallest class of the population that holds a record: median and 95 % interval;
/// `None` where it has more than [`SMALL`] people.
fn smallest_class(draws: &[Draw]) -> [Option<f64>; 3] {
    let chance = |m: usize, ln_none: fn(&Draw) -> &Vec<f64>| {
        let none = draws
            .iter()
            .map(|d| d.weight * none_below(ln_none(d), m).exp());
        1.0 - none.sum::<f64>()
    };
    let all: fn(&Draw) -> &Vec<f64> = |d| &d.ln_none_below;
    // That records have so many people in common is known on average only.
    let by_keys: fn(&Draw) -> &Vec<f64> = |d| &d.ln_none_by_keys;
    // It grows with m.
    [(0.5, all), (0.975, all), (0.025, by_keys)].map(|(share, of)| {
        let (mut low, mut high) = (0, SMALL);
        while low < high {
            let middle = (low + high) / 2;
            if chance(middle, of) >= share {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        (low < SMALL).then_some(low as f64 + 1.0)
    })
}
