//! Forward search: two-way interactions are added to independence, at every
//! step the one that brings `z2` closest to zero, until none brings it closer.

use super::fitted::{Fitted, Sample};
use super::model::Model;
use super::risk::{measures, Measures};
use super::TOLERANCE;
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};

/// Precision of the fits of models that are only compared.
const ROUGH: f64 = 1e-4;

/// One model on the way.
#[derive(Debug, Clone)]
pub struct Step {
    /// The interaction added, none for independence.
    pub added: Option<[usize; 2]>,
    /// True if it was kept; the last step shows the best that was not.
    pub kept: bool,
    /// The measures of the model with it.
    pub measures: Measures,
    /// Number of interactions of the model.
    pub n_terms: usize,
}

/// A model that was fitted and not taken.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The interaction it added.
    pub added: [usize; 2],
    /// The step at which it was tried, from 1.
    pub step: usize,
    /// Its measures.
    pub measures: Measures,
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// The fit of the last model kept.
    pub fitted: Fitted,
    /// The models on the way.
    pub path: Vec<Step>,
    /// All others fitted.
    pub tried: Vec<Tried>,
    /// Candidates left out because their tables would be too large.
    pub n_too_large: usize,
}

/// Searches from independence.
pub fn search(sample: &Sample, monitor: &Monitor) -> Result<Found> {
    let sizes = sample.cells.sizes();
    let mut terms: Vec<Vec<usize>> = Vec::new();
    let model = Model::new(sizes, &terms)?;
    let mut current = Fitted::new(sample, model, TOLERANCE, monitor)?;
    let mut now = measures(
        &current,
        sample,
        &current.expected(sample, monitor)?,
        monitor,
    )?;
    let mut path = vec![Step {
        added: None,
        kept: true,
        measures: now,
        n_terms: 0,
    }];
    let mut tried = Vec::new();
    let mut too_large = Vec::new();
    // One-level variables have no interactions.
    let mut candidates: Vec<[usize; 2]> = Model::pairs(sizes.len())
        .into_iter()
        .map(|p| [p[0], p[1]])
        .filter(|p| p.iter().all(|&v| sizes[v] > 1))
        .collect();
    while let Some(z) = now.z[1] {
        let (done, _) = monitor.progress();
        monitor.set_total(done + candidates.len() as u64);
        let outcomes = parallel::try_map(&candidates, monitor, |pair| {
            let outcome = with_pair(sample, &current, &terms, *pair, ROUGH, monitor);
            monitor.advance(1);
            match outcome {
                Ok((_, measures)) => Ok(Some(measures)),
                Err(Error::TooLarge(_)) => Ok(None),
                Err(other) => Err(other),
            }
        })?;
        let distance = |m: &Measures| m.z[1].map_or(f64::INFINITY, f64::abs);
        let best = outcomes
            .iter()
            .enumerate()
            .filter_map(|(i, m)| m.as_ref().map(|m| (i, distance(m))))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, _)) = best else { break };
        let pair = candidates[best];
        for (i, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Some(measures) if i != best => tried.push(Tried {
                    added: candidates[i],
                    step: path.len(),
                    measures: *measures,
                }),
                Some(_) => {}
                None => too_large.push(candidates[i]),
            }
        }
        let (next, next_measures) = with_pair(sample, &current, &terms, pair, TOLERANCE, monitor)?;
        let kept = distance(&next_measures) < z.abs();
        path.push(Step {
            added: Some(pair),
            kept,
            measures: next_measures,
            n_terms: terms.len() + 1,
        });
        if !kept {
            break;
        }
        terms.push(pair.to_vec());
        current = next;
        now = next_measures;
        candidates.remove(best);
    }
    too_large.sort_unstable();
    too_large.dedup();
    Ok(Found {
        fitted: current,
        path,
        tried,
        n_too_large: too_large.len(),
    })
}

/// The current model with one more interaction, fitted from where it is.
fn with_pair(
    sample: &Sample,
    current: &Fitted,
    terms: &[Vec<usize>],
    pair: [usize; 2],
    tolerance: f64,
    monitor: &Monitor,
) -> Result<(Fitted, Measures)> {
    let mut terms = terms.to_vec();
    terms.push(pair.to_vec());
    let model = Model::new(sample.cells.sizes(), &terms)?;
    let fitted = current.extended(sample, model, tolerance, monitor)?;
    let measures = measures(&fitted, sample, &fitted.expected(sample, monitor)?, monitor)?;
    Ok((fitted, measures))
}
