//! The individual risk of Benedetti and Franconi: the chance that the key of a
//! record leads to the right person in the population.
//!
//! A key occurs `f` times in the file and `F` times in the population. Given
//! `f`, `F` is taken as negative binomial,
//! `P(F = h | f) = C(h - 1, f - 1) p^f q^(h - f)`, `q = 1 - p`, with
//! `p = f / W`, `W` being the sum of the sampling weights of the `f` records.
//! The risk of each of them is the expectation of `1 / F`,
//!
//! ```text
//! r = E(1/F | f) = (p^f / f) 2F1(f, f; f + 1; q)
//!   = integral over s from 0 to 1 of s^(f - 1) / (1 + x s),   x = q / p
//!   = (p / f) sum over k of q^k k! f! / (f + k)!
//! ```
//!
//! (Benedetti and Franconi 1998; the integral by substituting the probability
//! generating function, the sum by Pfaff's transformation). All terms of the
//! sum are positive, so it is exact to rounding wherever it is short. It is
//! long only for small `f` and small `p`; there the recurrence
//! `r(f + 1) = (1 / f - r(f)) / x` from `r(1) = ln(1 + x) / x` divides every
//! rounding error by `x > 1`.

mod household;
mod inverse;

pub use household::{household_risk, HouseholdRisk};
pub use inverse::expected_inverse;

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::missing::Missing;
use crate::n_matches::{n_matches, Question, Relation, Settings};
use crate::parallel::{self, Monitor};
use crate::weights::Weights;

/// Sums of weights closer than this share to the frequency equal it.
const TOLERANCE: f64 = 1e-9;

/// Data of every row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct IndividualRisk {
    /// Records that share the key of the row.
    pub frequency: Vec<u64>,
    /// Sum of their weights, the estimated frequency in the population.
    pub population: Vec<f64>,
    /// The risk of the row's records.
    pub risk: Vec<f64>,
    /// Number of distinct keys; `None` where missing matches everything, which
    /// leaves no classes to count.
    pub n_cells: Option<usize>,
    /// Distinct keys, or records where there are none, whose weights sum to less
    /// than their records.
    pub n_below_sample: u64,
}

/// The individual risk of every row. A missing value matches everything or is a value
/// of its own.
///
/// # Errors
///
/// If missing values exclude records: the table is to be without them.
pub fn individual_risk(
    table: &KeyTable,
    weights: Weights<'_>,
    missing: Missing,
    monitor: &Monitor,
) -> Result<IndividualRisk> {
    match missing {
        Missing::Wildcard => by_matches(table, weights, monitor),
        Missing::Category => by_cells(table, weights, monitor),
        Missing::Exclude if table.columns().iter().all(|c| c.n_missing() == 0) => {
            by_cells(table, weights, monitor)
        }
        Missing::Exclude => Err(Error::BadArgument(
            "Incomplete records must be left out of the table.".into(),
        )),
    }
}

/// Missing is a value of its own.
fn by_cells(table: &KeyTable, weights: Weights<'_>, monitor: &Monitor) -> Result<IndividualRisk> {
    let groups = table.group(monitor)?;
    let mut population = vec![0.0; groups.len()];
    for (&group, &weight) in groups.row_group().iter().zip(&*weights) {
        population[group as usize] += weight;
    }
    monitor.check()?;
    let risk = expected_inverses(groups.counts(), &population, monitor)?;
    let n_below_sample = below_sample(groups.counts(), &population, None);
    let row_group = groups.row_group();
    let of_rows =
        |values: &[f64]| -> Vec<f64> { row_group.iter().map(|&g| values[g as usize]).collect() };
    Ok(IndividualRisk {
        frequency: row_group
            .iter()
            .map(|&g| groups.counts()[g as usize])
            .collect(),
        population: of_rows(&population),
        risk: of_rows(&risk),
        n_cells: Some(groups.len()),
        n_below_sample,
    })
}

/// A missing value matches everything: the frequencies in file and population are
/// those of the records that match.
fn by_matches(table: &KeyTable, weights: Weights<'_>, monitor: &Monitor) -> Result<IndividualRisk> {
    let settings = Settings {
        weights: Some(weights),
        ..Settings::default()
    };
    let relations = vec![Relation::Equal; table.columns().len()];
    let found = n_matches(&Question::new(table, None, relations, settings)?, monitor)?;
    // Whole numbers, so that the cast loses nothing.
    let frequency: Vec<u64> = found.matches.iter().map(|&f| f as u64).collect();
    let population = found.weighted.unwrap_or_default();
    let risk = expected_inverses(&frequency, &population, monitor)?;
    Ok(IndividualRisk {
        n_cells: None,
        n_below_sample: below_sample(&frequency, &population, table.multiplicity()),
        frequency,
        population,
        risk,
    })
}

fn expected_inverses(frequency: &[u64], population: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
    parallel::map_rows(frequency.len(), monitor, |row| {
        expected_inverse(frequency[row], population[row])
    })
}

/// Number of frequencies above the population's, each counted `times` times.
fn below_sample(frequency: &[u64], population: &[f64], times: Option<&[u64]>) -> u64 {
    let pairs = frequency.iter().zip(population).enumerate();
    pairs
        .filter(|&(_, (&f, &population))| population < f as f64 * (1.0 - TOLERANCE))
        .map(|(row, _)| times.map_or(1, |t| t[row]))
        .sum()
}

#[cfg(test)]
mod tests;
