//! Households that stand out by who lives together.
//!
//! The *composition* of a household is the multiset of its members' keys. What
//! its members share is part of every member's key, so that two households with
//! equal compositions share that too. An intruder who knows `known` members of
//! household `h` is left with the households that fit:
//!
//! ```text
//! all:  households with the composition of h
//! two:  households with two distinct members that have the two known keys
//! one:  households with a member that has the known key
//! ```
//!
//! `h` itself always among them. Of one or two members the choice with the
//! fewest households that fit counts; a household of one has no second member,
//! and both ask for that one.
//!
//! Laws, which the tests hold the code to: the order of members and households
//! changes nothing; knowing more leaves at most as many households; where
//! everybody lives alone all three are the sizes of the persons' cells. The sum
//! of `1/m` over households is, where all are known, the number of distinct
//! compositions.
//!
//! Compositions are compared key by key wherever their hashes agree: no answer
//! rests on a hash. Cost: sorting the members of each household, and for two
//! known members a step for every pair of different keys in a household, keys
//! that no other household has left out. The household with more pairs than all
//! others together has one that no other has, and needs no list of its pairs.

mod compositions;
mod members;
mod pairs;
mod worst;

pub(crate) use compositions::Households;
pub use worst::HouseholdRisk;

use crate::error::{Error, Result};
use crate::key_table::{Column, Groups, KeyTable};
use crate::memory::{collected, filled, room_for};
use crate::parallel::{Monitor, ROWS_PER_CHECK};
use crate::weights::Weights;
use members::Members;
use worst::{Fits, Worst};

/// Number of members of a household that the intruder knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// One of them.
    One,
    /// Two of them.
    Two,
    /// All, and that they are all.
    All,
}

/// Settings of a call.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Knowledge of the intruder.
    pub known: Known,
    /// The columns that the members of a household are to share.
    pub shared: &'a [usize],
    /// True if households with an incomplete member are left out.
    pub complete_only: bool,
    /// Per record the weight of its household, equal within it.
    pub weights: Option<Weights<'a>>,
}

/// Bytes a record at the peak, beyond grouping.
const PEAK_BYTES: usize = 24;

/// Number of households that fit each household. Rows of `households` with equal codes
/// are one household.
pub fn household_risk(
    table: &KeyTable,
    households: &KeyTable,
    settings: &Settings<'_>,
    monitor: &Monitor,
) -> Result<HouseholdRisk> {
    let n = table.n_rows();
    let fits = settings.weights.is_none_or(|w| w.len() == n)
        && settings.shared.iter().all(|&v| v < table.columns().len());
    if households.n_rows() != n || !fits {
        return Err(Error::BadArgument(
            "Every record needs a household, and every argument must fit the records.".into(),
        ));
    }
    let homes = Households::new(table, households, settings.complete_only, monitor)?;
    let persons = table.group(monitor)?;
    room_for(PEAK_BYTES * n)?;
    let members = homes.members(&persons, monitor)?;
    drop(persons);
    let homes = homes.into_groups();
    let weights = settings.weights.map(|weights| {
        let first = homes.first_rows().iter();
        first.map(|&row| weights[row as usize]).collect()
    });
    let mut worst = Worst::new(members.len(), weights)?;
    match settings.known {
        Known::All => see_compositions(&members, &mut worst, monitor)?,
        Known::One => see_members(&members, &mut worst, monitor)?,
        Known::Two => pairs::see_pairs(&members, &mut worst, monitor)?,
    }
    let unequal = (settings.shared.iter())
        .map(|&v| n_unequal(&table.columns()[v], &homes))
        .collect::<Result<Vec<u32>>>()?;
    Ok(worst.answer(&homes, unequal))
}

/// Households whose members differ in a column.
fn n_unequal(column: &Column, homes: &Groups) -> Result<u32> {
    let codes = column.codes();
    let mut differs = filled(false, homes.len())?;
    for (row, &home) in homes.row_group().iter().enumerate() {
        let first = homes.first_rows()[home as usize] as usize;
        differs[home as usize] |= codes.get(row) != codes.get(first);
    }
    Ok(differs.into_iter().map(u32::from).sum())
}

/// All members known: households are alike that have the same keys, each as often.
fn see_compositions(members: &Members, worst: &mut Worst, monitor: &Monitor) -> Result<()> {
    let first_alike = compositions::first_alike(members, monitor)?;
    let mut fits = filled(Fits::default(), members.len())?;
    let in_use = |&(home, _): &(usize, &u32)| !members.of(home).is_empty();
    let alike = || first_alike.iter().enumerate().filter(in_use);
    for (home, &first) in alike() {
        fits[first as usize].add(worst.alone(home));
    }
    for (home, &first) in alike() {
        worst.see(home, &fits[first as usize].judged(worst.is_weighted()));
    }
    Ok(())
}

/// Per key, the households with a member that has it.
fn holders(members: &Members, worst: &Worst) -> Result<Vec<Fits>> {
    let mut fits = filled(Fits::default(), members.n_keys())?;
    for home in 0..members.len() {
        for key in members.distinct(home) {
            fits[key as usize].add(worst.alone(home));
        }
    }
    Ok(fits)
}

/// One member known: the one whose key the fewest households hold.
fn see_members(members: &Members, worst: &mut Worst, monitor: &Monitor) -> Result<()> {
    let fits = holders(members, worst)?;
    let judged: Vec<_> = collected(
        fits.iter().map(|fits| fits.judged(worst.is_weighted())),
        fits.len(),
    )?;
    for home in 0..members.len() {
        if home % ROWS_PER_CHECK == 0 {
            monitor.check()?;
        }
        for key in members.distinct(home) {
            worst.see(home, &judged[key as usize]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
