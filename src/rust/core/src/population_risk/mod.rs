//! One law for the population: how many records are unique in it, how many are found.
//!
//! Three steps, each with its formulas on its own page:
//!
//! 1. `network`: the probability `p` of every key of the file, by a Bayesian network that
//!    leaves the records with this key out.
//! 2. `law`: given `p`, the number of other people with the key is gamma-Poisson. Six
//!    parameters say how far `p` can be trusted; the frequencies of the sample tell them.
//!    Their posterior is drawn from by importance sampling.
//! 3. `measures`: every figure is an expectation under this law, so that figures agree:
//!    tau1 <= tau2 <= re-identifications, and the risks of the records sum to the last.
//!
//! Intervals hold the posterior, the chance of this one population, and an error of the
//! model in log-odds that grows with `ln(N / n)` and with what is unusual in the file
//! (`intervals`). Where the sample refutes the fit (`misfit`), their upper ends are what holds
//! without a model: no more sample uniques are unique in the population than there are, and no
//! larger a share of the people.
//!
//! Nothing is random from call to call: streams have fixed seeds, and sums a fixed order.

use std::cmp::Reverse;
use std::collections::BTreeMap;

mod bins;
mod classes;
mod draws;
mod intervals;
mod law;
mod measures;
mod misfit;
mod network;
mod shares;

use bins::Bins;
use classes::Classes;
use draws::Sizes;

use crate::error::{in_lines, Error, Result};
use crate::key_table::{Groups, KeyTable};
use crate::memory::{collected, filled};
use crate::missing::Missing;
use crate::parallel::Monitor;

/// Records that are enough to fit the law to.
const LEAST_FITTED: usize = 500;

/// Records between two that are not of one household.
const APART: usize = 20;

/// Design of the sample.
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    /// People of the population.
    pub n_people: f64,
    /// Per row the sum of the weights of its records; `None` where all are equal.
    pub weights: Option<&'a [f64]>,
    /// Per row the number of the household; its members were drawn together.
    pub households: Option<&'a [u32]>,
}

/// An estimate with its interval at 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Expectation under the law.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The measures of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Share of the people who are alone with their key.
    pub uniqueness: Estimate,
    /// Distinct keys per person: the share that an intruder finds who guesses.
    pub correctness: Estimate,
    /// Sample uniques that are unique in the population.
    pub tau1: Estimate,
    /// Sample uniques that are found.
    pub tau2: Estimate,
    /// Records that are found.
    pub reidentifications: Estimate,
    /// People of the smallest class that holds a record: median, low, high; `None` for many.
    pub smallest_class: [Option<f64>; 3],
    /// Draws that the importance weights leave.
    pub effective_draws: f64,
    /// The sample refutes the fit: upper ends are bounds that rest on no model.
    pub refuted: bool,
}

/// Results for the file and for every row.
#[derive(Debug, Clone, PartialEq)]
pub struct PopulationRisk {
    /// The figures of the file.
    pub measures: Measures,
    /// `E[1 / F | f]` of the row's records.
    pub risk: Vec<f64>,
    /// Chance that a record is unique in the population.
    pub prob_unique: Vec<f64>,
    /// Weights of network, tree and independence.
    pub stacking: [f64; 3],
    /// Sets of key variables that records know.
    pub n_patterns: usize,
    /// Share of the pairs of neighbours in the order of the file that are alike, beyond that
    /// of distant pairs and chance; 0 if the table holds patterns.
    pub neighbours_alike: f64,
    /// The rarest keys of the file.
    pub rarest: Rarest,
}

/// The keys that the fewest records have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rarest {
    /// Records of each.
    pub count: f64,
    /// Keys with at most twice as many.
    pub n_alike: usize,
    /// The largest share of its people that the file holds of such a key.
    pub fraction: f64,
}

impl Rarest {
    /// Of each class: records, and the share of its people.
    fn new(classes: &[(f64, f64)]) -> Self {
        let count = classes.iter().map(|c| c.0).fold(f64::INFINITY, f64::min);
        let alike = classes.iter().filter(|c| c.0 <= 2.0 * count);
        Self {
            count,
            n_alike: alike.clone().count(),
            fraction: alike.map(|c| c.1).fold(0.0, f64::max),
        }
    }
}

/// Records that know the same key variables, judged by these among all that know them.
struct Part {
    /// Rows of the table that know them.
    rows: Vec<u32>,
    judged: Vec<bool>,
    groups: Groups,
    classes: Classes,
    bins: Bins,
    stacking: [f64; 3],
    own: network::Own,
    neighbours_alike: f64,
}

impl Part {
    fn new(
        table: &KeyTable,
        design: &Design<'_>,
        known: &[bool],
        pattern: &[u64],
        fitted: bool,
        monitor: &Monitor,
    ) -> Result<Self> {
        let rows = table.rows_complete_on(known);
        let columns: Vec<Vec<usize>> = (0..known.len())
            .filter(|&v| known[v])
            .map(|v| vec![v])
            .collect();
        let own = pattern_of(known);
        let judged: Vec<bool> = rows
            .iter()
            .map(|&row| pattern[row as usize] == own)
            .collect();
        let table = table.merge(&columns, monitor)?.select(&rows)?;
        let of_rows = |values: &[f64]| rows.iter().map(|&row| values[row as usize]).collect();
        let weights: Option<Vec<f64>> = design.weights.map(of_rows);
        let of_rows = |values: &[u32]| rows.iter().map(|&row| values[row as usize]).collect();
        let households: Option<Vec<u32>> = design.households.map(of_rows);
        let design = Design {
            n_people: design.n_people,
            weights: weights.as_deref(),
            households: households.as_deref(),
        };
        let groups = table.group(monitor)?;
        let classes = Classes::new(&table, &groups, &design, &judged, monitor)?;
        let network = network::network(&classes, monitor)?;
        let bins = Bins::new(&classes, &network.ln_p, fitted);
        let neighbours_alike = match table.multiplicity() {
            None => neighbours_alike(&groups),
            Some(_) => 0.0,
        };
        Ok(Self {
            rows,
            judged,
            groups,
            classes,
            bins,
            stacking: network.weights,
            own: network.own,
            neighbours_alike,
        })
    }
}

/// Excess rate at which two adjacent records share their key, relative to two that are [`APART`]
/// records apart, less three standard errors. A file sorted by its keys gives no evidence: all
/// records with one key are adjacent.
fn neighbours_alike(groups: &Groups) -> f64 {
    let rows = groups.row_group();
    if rows.len() <= APART {
        return 0.0;
    }
    let n = (rows.len() - APART) as f64;
    let alike = |apart: usize| -> f64 {
        let pairs = rows[apart..].iter().zip(rows);
        pairs.take(n as usize).filter(|(a, b)| a == b).count() as f64 / n
    };
    let (near, far) = (alike(1), alike(APART));
    let runs = 1 + rows.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if runs == groups.len() {
        return 0.0;
    }
    near - far - 3.0 * ((near + far) / n).sqrt()
}

/// Known columns, as a number.
fn pattern_of(known: &[bool]) -> u64 {
    known
        .iter()
        .fold(0, |bits, &known| 2 * bits + u64::from(known))
}

/// The key variables that every row knows; all of them where missing is a value.
fn patterns(table: &KeyTable) -> Vec<u64> {
    let mut patterns = vec![0; table.n_rows()];
    for column in table.columns() {
        for (row, pattern) in patterns.iter_mut().enumerate() {
            *pattern = 2 * *pattern + u64::from(column.codes().get(row) > 0);
        }
    }
    patterns
}

/// The risks of a file. Missing is a value of its own, or a record with missing values is
/// judged by those it has, among all records that have them; where it has none, everybody
/// matches it.
///
/// Where `least` is given, risks of records below it, but not the largest, may be bounds of them
/// that are below it as well, and so may be the re-identifications.
///
/// # Errors
///
/// Fails if the sample is larger than its population, or there are more than 63 key variables with
/// missing values.
pub fn population_risk(
    table: &KeyTable,
    design: &Design<'_>,
    missing: Missing,
    least: Option<f64>,
    monitor: &Monitor,
) -> Result<PopulationRisk> {
    let filled_in;
    let table = match missing {
        Missing::Category => {
            filled_in = table
                .clone()
                .missing_as_value(&vec![true; table.columns().len()]);
            &filled_in
        }
        Missing::Wildcard | Missing::Exclude => table,
    };
    let n = table.n_records() as f64;
    let d = table.columns().len();
    if design.n_people < n {
        return Err(Error::BadArgument(in_lines(
            "The population must have at least as many people as the file has records.",
            &format!("It has {:.0}, with {n:.0} records.", design.n_people),
            "Give the size of the population that the file was drawn from.",
        )));
    }
    if d > 63 {
        return Err(Error::too_large(
            "There must be at most 63 key variables.",
            &format!("There are {d}."),
            "Choose those that an intruder can know.",
        ));
    }
    let pattern = patterns(table);
    let times = |row: usize| table.multiplicity().map_or(1.0, |m| m[row] as f64);
    let empty = pattern.iter().enumerate().filter(|&(_, &known)| known == 0);
    let n_empty: f64 = empty.map(|(row, _)| times(row)).sum();
    // The pattern of most records first: the law is fitted to its keys.
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    for &known in pattern.iter().filter(|&&known| known > 0) {
        *sizes.entry(known).or_default() += 1;
    }
    let complete = (1u64 << d) - 1;
    let mut order: Vec<u64> = sizes.keys().copied().collect();
    let few = |known: &u64| sizes[known].min(LEAST_FITTED);
    order.sort_by_key(|known| {
        (
            Reverse(few(known)),
            *known != complete,
            Reverse(sizes[known]),
            *known,
        )
    });
    let parts = order
        .iter()
        .map(|bits| {
            let known: Vec<bool> = (0..d).rev().map(|v| bits >> v & 1 == 1).collect();
            Part::new(table, design, &known, &pattern, *bits == order[0], monitor)
        })
        .collect::<Result<Vec<Part>>>()?;
    let Some(first) = parts.first() else {
        return Err(Error::BadArgument("Some record must have a value.".into()));
    };
    let sizes = Sizes {
        n,
        people: design.n_people,
        found_anyway: n_empty / design.n_people,
        most: (first.classes.n_records / first.classes.fraction_of_all - 1.0).max(0.0),
        keys: first.classes.len() as f64,
        own: first.own,
    };
    let (stacking, n_patterns) = (first.stacking, parts.len());
    let neighbours_alike = first.neighbours_alike;
    let (judged, bins): (Vec<_>, Vec<Bins>) = parts
        .into_iter()
        .map(|part| {
            (
                (part.rows, part.judged, part.groups, part.classes),
                part.bins,
            )
        })
        .unzip();
    let of_classes = judged.iter().flat_map(|(_, _, _, classes)| {
        let known = (0..classes.len()).filter(|&class| classes.judged[class] > 0.0);
        known.map(|class| (classes.counts[class], classes.fraction[class]))
    });
    let rarest = Rarest::new(&of_classes.collect::<Vec<_>>());
    let judge = |bounded: bool| -> Result<(PopulationRisk, [f64; 2])> {
        let (measures, of_bins) = measures::measures(&bins, &sizes, bounded, monitor)?;
        // Everybody matches a record that knows nothing.
        let mut risk = filled(1.0 / design.n_people, table.n_rows())?;
        let mut prob_unique = filled(0.0, table.n_rows())?;
        // The largest risk, and the largest that is a bound.
        let mut largest = [0.0; 2];
        for (((rows, judged, groups, classes), bins), of) in judged.iter().zip(&bins).zip(&of_bins)
        {
            let of_class = |class: usize| {
                if classes.judged[class] == 0.0 {
                    return (0.0, 0.0);
                }
                let members = classes.members[class];
                let found = bins.of_class(class, classes.counts[class], &of.found) / members;
                let beyond = bins.beyond(classes.counts[class], shares::RECURRED);
                let of_kind: &mut f64 = &mut largest[usize::from(bounded && beyond)];
                *of_kind = of_kind.max(found);
                (
                    found,
                    if members < 1.5 {
                        bins.of_node(class, &of.unique)
                    } else {
                        0.0
                    },
                )
            };
            let of_classes: Vec<(f64, f64)> =
                collected((0..classes.len()).map(of_class), classes.len())?;
            for (at, &row) in rows.iter().enumerate().filter(|&(at, _)| judged[at]) {
                let found = of_classes[groups.row_group()[at] as usize];
                (risk[row as usize], prob_unique[row as usize]) = found;
            }
        }
        let found = PopulationRisk {
            measures,
            risk,
            prob_unique,
            stacking,
            n_patterns,
            neighbours_alike,
            rarest,
        };
        Ok((found, largest))
    };
    if let Some(least) = least {
        let (found, [largest, bound]) = judge(true)?;
        if bound < largest.min(least) {
            return Ok(found);
        }
    }
    Ok(judge(false)?.0)
}

#[cfg(test)]
mod tests;
