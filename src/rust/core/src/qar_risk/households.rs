//! The extreme risk of households: their composition is the key.
//!
//! On a key set a household is known by the multiset of its members' keys, see
//! [`crate::household_risk`]. With `L` households that take `H(j)` compositions on
//! key set `j`, `theta(j) = H(j) / L` is the average over households of `1/m`, `m`
//! being the households of the same composition. The tail is that of persons.

use super::{judged, QarRisk, SetCounts, TailSettings};
use crate::error::{Error, Result};
use crate::household_risk::Households;
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::memory::room_for;
use crate::parallel::{self, Monitor};
use crate::probability::Probability;

/// Bytes a record at the peak, for each thread.
const PEAK_BYTES: usize = 80;

/// The analysis of households for one p.
#[derive(Debug, Clone, PartialEq)]
pub struct HouseholdQar {
    /// Risk, with households instead of records.
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
    let found = parallel::try_map(members.chunks(sets.p()), monitor, |members| {
        monitor.advance(1);
        count(members)
    })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_table::{Codes, Column};
    use crate::qar_risk::{Pwm, ThetaOne};

    fn table(columns: &[Vec<u32>]) -> KeyTable {
        let column = |codes: &Vec<u32>| {
            let n_values = codes.iter().copied().max().unwrap();
            Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
        };
        KeyTable::new(columns.iter().map(column).collect()).unwrap()
    }

    fn counted(keys: &[Vec<u32>], homes: Vec<u32>, complete_only: bool) -> Result<HouseholdQar> {
        let settings = TailSettings {
            alpha: vec![Probability::new(0.5, "x").unwrap()],
            pi_u: Probability::new(0.5, "x").unwrap(),
            pwm: Pwm::Unbiased,
            theta_one: ThetaOne::One,
        };
        qar_risk_of_households(
            &table(keys),
            &table(&[homes]),
            complete_only,
            KeySets::new(keys.len(), 1, 10).unwrap(),
            (&settings, &[]),
            &Monitor::new(),
        )
    }

    /// On the first key the compositions are {1, 2} twice, {1} and {3}; on the
    /// second, where all agree, two households of two persons and two of one.
    #[test]
    fn compositions_are_the_cells() {
        let keys = [vec![1, 2, 2, 1, 1, 3], vec![1; 6]];
        let found = counted(&keys, vec![1, 1, 2, 2, 3, 4], false).unwrap();
        assert_eq!((found.n_households, found.n_records), (4, 6));
        assert_eq!(found.risk.counts.distinct, [3, 2]);
        assert_eq!(found.risk.counts.unique, [2, 0]);
        assert_eq!(found.risk.counts.pairs, [1, 2]);
        assert_eq!(found.risk.key_distinct, [3, 2]);
        assert_eq!(found.risk.order, [0, 1]);
    }

    #[test]
    fn a_household_with_an_incomplete_member_is_left_out() {
        let keys = [vec![1, 0, 2, 1, 1, 3]];
        let found = counted(&keys, vec![1, 1, 2, 2, 3, 4], true).unwrap();
        assert_eq!((found.n_households, found.n_records), (3, 4));
        assert_eq!(found.risk.counts.distinct, [3]);
        let error = counted(&keys, vec![1, 1], true).unwrap_err();
        assert!(error.to_string().contains("Every record needs a household"));
    }
}
