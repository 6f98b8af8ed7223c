//! The extreme risk of households: their composition is the key.
//!
//! On a key set a household is known by the multiset of its members' keys, see
//! [`crate::household_risk`]. With `L` households that take `H(j)` compositions on
//! key set `j`, `theta(j) = H(j) / L` is the average over households of `1/m`, `m`
//! being the households of the same composition. The tail is that of persons.

use rayon::prelude::*;

use super::{judged, QarRisk, SetCounts, TailSettings};
use crate::error::{Error, Result};
use crate::household_risk::{CompositionCounts, Households};
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::memory::room_for;
use crate::parallel::Monitor;
use crate::probability::Probability;

/// Bytes a record at the peak, for each thread.
const PEAK_BYTES: usize = 80;

/// The analysis of households for one p.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseholdQar {
    /// What is found, households in the place of records.
    pub risk: QarRisk,
    /// Households in use.
    pub n_households: u64,
    /// Records in them.
    pub n_records: u64,
}

/// Counts the compositions on all key sets and fits the tail of their risks. Rows of
/// `households` with equal codes live together; `complete_only` leaves out households
/// with an incomplete member.
pub fn qar_risk_of_households(
    table: &KeyTable,
    households: &KeyTable,
    complete_only: bool,
    sets: KeySets,
    (settings, grid): (&TailSettings, &[Probability]),
    monitor: &Monitor,
) -> Result<HouseholdQar> {
    if households.n_rows() != table.n_rows() {
        return Err(Error::BadArgument("Every record needs a household.".into()));
    }
    room_for(PEAK_BYTES * rayon::current_num_threads() * table.n_rows())?;
    let homes = Households::new(table, households, complete_only, monitor)?;
    let (n_households, n_records) = homes.n_in_use();
    let count = |members: &[usize]| {
        let columns = members.iter().map(|&v| table.columns()[v].clone());
        homes.compositions(&KeyTable::new(columns.collect())?, monitor)
    };
    let members: Vec<usize> = sets.members().into_iter().map(usize::from).collect();
    monitor.set_total(sets.len() as u64);
    let found = (members.par_chunks(sets.p()))
        .map(|members| {
            monitor.check()?;
            monitor.advance(1);
            count(members)
        })
        .collect::<Result<Vec<CompositionCounts>>>()?;
    let counts = SetCounts {
        distinct: found.iter().map(|c| c.distinct).collect(),
        unique: found.iter().map(|c| c.unique).collect(),
        pairs: found.iter().map(|c| c.pairs).collect(),
    };
    let alone = |v: usize| count(&[v]).map(|counts| counts.distinct);
    let key_distinct = (0..table.columns().len())
        .map(alone)
        .collect::<Result<Vec<u32>>>()?;
    Ok(HouseholdQar {
        risk: judged(counts, key_distinct, sets, n_households, settings, grid),
        n_households,
        n_records,
    })
}
