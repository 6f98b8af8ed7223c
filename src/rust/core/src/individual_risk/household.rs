//! The risk of households, from those of their members.

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::parallel::Monitor;

/// Per row, the chance that at least one member of its household is found,
/// `1 - prod(1 - r)`, and the number of households with the sum of theirs.
/// Rows of `households` with equal codes are one household.
pub fn household_risk(
    households: &KeyTable,
    risk: &[f64],
    monitor: &Monitor,
) -> Result<HouseholdRisk> {
    if risk.len() != households.n_rows() {
        return Err(Error::BadArgument(
            "Every record needs a risk and a household.".into(),
        ));
    }
    let groups = households.group(monitor)?;
    let mut none_found = vec![0.0; groups.len()];
    for (&group, &risk) in groups.row_group().iter().zip(risk) {
        none_found[group as usize] += (-risk).ln_1p();
    }
    monitor.check()?;
    let of_household: Vec<f64> = none_found.iter().map(|&l: &f64| -l.exp_m1()).collect();
    Ok(HouseholdRisk {
        risk: groups
            .row_group()
            .iter()
            .map(|&g| of_household[g as usize])
            .collect(),
        n_households: groups.len(),
        expected: of_household.iter().sum(),
        largest: of_household.iter().copied().fold(0.0, f64::max),
    })
}

/// The risk of households.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseholdRisk {
    /// Per row, the risk of its household.
    pub risk: Vec<f64>,
    /// Number of households.
    pub n_households: usize,
    /// Sum of the risks over households.
    pub expected: f64,
    /// Largest risk of a household.
    pub largest: f64,
}
