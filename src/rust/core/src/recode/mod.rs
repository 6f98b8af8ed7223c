//! The cheapest global recoding that brings a file under a limit.
//!
//! # Question
//!
//! Every key variable has a hierarchy: levels from 0 (as it is) upwards, each a
//! function of the one below. A *recoding* chooses one level per variable. Of
//! all recodings that keep a limit on the smallest cell or on the share of
//! sample uniques, which is the cheapest? A stated number of records may be
//! blanked on all key variables instead.
//!
//! # Cost
//!
//! Cost is separable, `sum_j C_j(l_j) + sum over blanked records of
//! sum_j lift_j(l_j)`, and `C_j` does not fall in `l_j`: see [`tables`].
//!
//! # Laws
//!
//! Coarsening merges cells. Hence, for a fixed set of records,
//! * the records in cells below k, and the number of sample uniques, do not
//!   rise: a prefix that fails with all other variables at their top fails
//!   with every choice for them;
//! * a record in a cell below k with the others at their top is blanked in
//!   every recoding below;
//! * `sum_j C_j` over least levels, plus what blanking the records blanked so far
//!   adds at least, bounds the cost of every recoding below. At a blank price of at
//!   most 1 that is their lift: what a coarser level takes from it, it charges as
//!   loss ([`tables`] for higher prices);
//! * a variable left at its least level may force more blanks: a recoding pays for
//!   these, or for raising the variable.
//!
//! [`search`] is a branch and bound over these; [`partition`] its two kernels;
//! [`cells`] evaluates one recoding from the start; [`limits`] adds limits that
//! have no such law in general; [`frontier`] enumerates small lattices;
//! [`answer`] puts them together.
//!
//! Sources: Samarati (2001); El Emam et al. (2009), OLA; Gionis and Tassa
//! (2009), non-uniform entropy.

pub mod answer;
pub mod best;
pub mod cells;
pub mod frontier;
pub mod incumbent;
pub mod limits;
pub mod partition;
pub mod search;
pub mod tables;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny_tests;

use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::memory::{collected, room_for};
use crate::parallel::Monitor;

use tables::{prepare_variable, Prepared};

/// Loss of information that is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Bits lost by non-uniform entropy.
    Entropy,
    /// Share of the hierarchy's values that can no longer be told apart.
    Loss,
    /// Level over the number of levels.
    Levels,
}

/// One key variable and its hierarchy.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Per level, the group of every code, code 0 (missing) first.
    pub groups: Vec<Vec<u32>>,
    /// Per level, the number of values of the hierarchy in the group of every
    /// code.
    pub leaves: Vec<Vec<f64>>,
    /// Values of the hierarchy.
    pub n_leaves: f64,
    /// Levels that may be chosen, rising.
    pub allowed: Vec<usize>,
    /// Factor of this variable's cost.
    pub weight: f64,
}

/// Charge for a recoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// Cost function.
    pub cost: Cost,
    /// Factor of the cost of a suppressed value.
    pub blank_price: f64,
}

/// Limits on the records that are not suppressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Least number of records in a cell; 1 asks nothing.
    pub k: u64,
    /// Largest share of sample uniques.
    pub prop_unique: Option<f64>,
    /// Records that may be blanked.
    pub blankable: u64,
}

/// The law of [`Limit`] that the search works with: records in cells below
/// `threshold` number at most `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Cells below this violate.
    pub threshold: u64,
    /// Records that may lie in such cells.
    pub most: u64,
    /// True if all records in such cells are blanked (else only as many
    /// uniques as the share asks for).
    pub blanks_all: bool,
}

impl Limit {
    pub(crate) fn rule(&self, n_records: u64) -> Rule {
        match self.prop_unique {
            // No cell below 2 has no unique.
            Some(share) if self.k < 2 => Rule {
                threshold: 2,
                most: (share * n_records as f64 + self.blankable as f64 * (1.0 - share) + 1e-9)
                    .floor() as u64,
                blanks_all: false,
            },
            _ => Rule {
                threshold: self.k,
                most: self.blankable,
                blanks_all: true,
            },
        }
    }

    /// Uniques to be blanked where there are `uniques`, so that at most the
    /// share stays.
    pub(crate) fn uniques_to_blank(&self, uniques: u64, n_records: u64) -> u64 {
        match self.prop_unique {
            Some(share) if share < 1.0 => {
                let excess = (uniques as f64 - share * n_records as f64) / (1.0 - share);
                ((excess - 1e-9).ceil().max(0.0) as u64).min(uniques)
            }
            _ => 0,
        }
    }
}

/// A file and its hierarchies, ready to be searched.
#[derive(Debug)]
pub struct Problem {
    pub(crate) n_records: u64,
    /// Records of every distinct row.
    pub(crate) counts: Vec<u32>,
    /// The distinct row of every record.
    pub(crate) row_group: Vec<u32>,
    pub(crate) variables: Vec<Prepared>,
    /// Variables by falling cost of their top.
    pub(crate) order: Vec<usize>,
    /// Per variable, its place in that order.
    pub(crate) rank: Vec<usize>,
    pub(crate) limit: Limit,
    pub(crate) rule: Rule,
}

impl Problem {
    /// Groups the records and prices every level.
    pub fn new(
        table: &KeyTable,
        variables: &[Variable],
        charge: Charge,
        limit: Limit,
        monitor: &Monitor,
    ) -> Result<Self> {
        check(table, variables)?;
        let groups = table.group(monitor)?;
        let n_records = table.n_records();
        let counts = groups.counts().iter().map(|&c| c as u32);
        let counts = collected(counts, groups.len())?;
        let n_levels: usize = variables.iter().map(|v| v.allowed.len() + 1).sum();
        room_for(4 * n_levels * counts.len())?;
        let prepared: Vec<Prepared> = variables
            .iter()
            .zip(table.columns())
            .map(|(variable, column)| {
                let codes = groups.first_rows().iter();
                let codes = codes.map(|&row| column.codes().get(row as usize));
                prepare_variable(variable, codes.collect(), &counts, n_records, charge)
            })
            .collect();
        let mut order: Vec<usize> = (0..prepared.len()).collect();
        order.sort_by(|&a, &b| prepared[b].top_base().total_cmp(&prepared[a].top_base()));
        let mut rank = vec![0; order.len()];
        for (at, &j) in order.iter().enumerate() {
            rank[j] = at;
        }
        Ok(Self {
            n_records,
            rank,
            row_group: groups.row_group().to_vec(),
            counts,
            variables: prepared,
            order,
            rule: limit.rule(n_records),
            limit,
        })
    }

    /// Number of recodings.
    pub fn n_nodes(&self) -> f64 {
        let levels = self.variables.iter().map(|v| v.levels.len() as f64);
        levels.product()
    }

    /// Number of distinct rows.
    pub fn n_rows(&self) -> usize {
        self.counts.len()
    }

    /// Places among the allowed levels as the hierarchies' own levels.
    pub fn named(&self, places: &[u8]) -> Vec<usize> {
        let of = self.variables.iter().zip(places);
        of.map(|(v, &place)| v.levels[place as usize].level)
            .collect()
    }

    /// The place among the allowed levels of each of the hierarchies' levels.
    pub fn places(&self, levels: &[usize]) -> Result<Vec<u8>> {
        let place = |(v, &level): (&Prepared, &usize)| {
            let at = v.levels.iter().position(|l| l.level == level);
            at.map(|p| p as u8)
                .ok_or_else(|| Error::BadArgument("A level is not among those allowed.".into()))
        };
        if levels.len() != self.variables.len() {
            return Err(Error::BadArgument(
                "Every key variable must have a level.".into(),
            ));
        }
        self.variables.iter().zip(levels).map(place).collect()
    }

    /// The cost of a recoding without blanks.
    pub(crate) fn base(&self, places: &[u8]) -> f64 {
        let of = self.variables.iter().zip(places);
        of.map(|(v, &place)| v.levels[place as usize].base).sum()
    }

    pub(crate) fn level_sum(&self, places: &[u8]) -> usize {
        let of = self.variables.iter().zip(places);
        of.map(|(v, &place)| v.levels[place as usize].level).sum()
    }

    pub(crate) fn top(&self, j: usize) -> u8 {
        (self.variables[j].levels.len() - 1) as u8
    }
}

/// Checks shapes that R has checked already, so that nothing here can be out of bounds.
fn check(table: &KeyTable, variables: &[Variable]) -> Result<()> {
    let bad = |what: &str| Err(Error::BadArgument(what.to_owned()));
    if variables.len() != table.columns().len() {
        return bad("Every key variable must have a hierarchy.");
    }
    if u32::try_from(table.n_records()).is_err() {
        return bad("Recoding takes fewer than 2^32 records.");
    }
    for (variable, column) in variables.iter().zip(table.columns()) {
        let n_codes = column.n_values() as usize + 1;
        let n_levels = variable.groups.len();
        let shaped = variable.leaves.len() == n_levels
            && variable.groups.iter().all(|g| g.len() == n_codes)
            && variable.leaves.iter().all(|l| l.len() == n_codes);
        let rising = variable.allowed.windows(2).all(|w| w[0] < w[1]);
        let within = variable.allowed.last().is_some_and(|&l| l < n_levels);
        if !shaped || !rising || !within || variable.allowed.len() > 250 {
            return bad("A hierarchy must have a group for every value at every level.");
        }
        for pair in variable.groups.windows(2) {
            if !is_function(&pair[0], &pair[1]) {
                return bad("Every level of a hierarchy must be a function of the one below.");
            }
        }
    }
    Ok(())
}

/// True if equal entries of `below` have equal entries of `above`.
fn is_function(below: &[u32], above: &[u32]) -> bool {
    let mut seen = hashbrown::HashMap::new();
    below
        .iter()
        .zip(above)
        .all(|(&b, &a)| *seen.entry(b).or_insert(a) == a)
}
