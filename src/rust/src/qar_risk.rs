//! `qar_risk()`: settings in, counts and estimates out.

use extendr_api::prelude::*;
use sdcrisk_core::key_table::Column;
use sdcrisk_core::qar_risk::{
    qar_risk, qar_risk_of_counts, qar_risk_of_households, risk_alone, sampled_risk, Estimate, Pwm,
    QarRisk, RiskAlone, SetCounts, TailSettings, ThetaOne, MOST_SETS,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{KeySets, KeyTable, Result};

use crate::convert::{counts, optional, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// What every question about the tail is asked with.
pub struct Tail {
    pub settings: TailSettings,
    p: usize,
    max_sets: usize,
}

impl Tail {
    /// How the tail is fitted and read, from the settings of R.
    pub fn new(settings: &Named) -> Result<Self> {
        let [pi_u] = settings.probabilities("pi_u")?[..] else {
            return Err(bad_call("pi_u"));
        };
        Ok(Self {
            settings: TailSettings {
                alpha: settings.probabilities("alpha")?,
                pi_u,
                pwm: match settings.text("pwm")?.as_str() {
                    "plotting" => Pwm::Plotting,
                    "unbiased" => Pwm::Unbiased,
                    _ => return Err(bad_call("pwm")),
                },
                theta_one: match settings.text("theta_one")?.as_str() {
                    "one" => ThetaOne::One,
                    "clamp" => ThetaOne::Clamp,
                    "exclude" => ThetaOne::Exclude,
                    _ => return Err(bad_call("theta_one")),
                },
            },
            p: settings.count("p")?,
            max_sets: settings.count("max_sets")?,
        })
    }

    /// The key sets of a table, no more than may be counted.
    pub fn sets(&self, table: &KeyTable) -> Result<KeySets> {
        KeySets::new(table.columns().len(), self.p, self.max_sets)
    }
}

/// Extreme risk over the key sets of size `p`; members and counts of all sets come
/// back.
#[extendr]
fn rs_qar_risk(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let grid = settings.probabilities("thresholds")?;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            // A key set takes a fraction of a step for a record.
            let steps = sets.len().saturating_mul(table.n_rows()) / 4;
            let found = run.brief(steps, |monitor| {
                qar_risk(table, sets, &tail.settings, &grid, monitor)
            })?;
            to_r(&found, sets, sets.len())
        })
    })
}

/// The same of households: the table of them is `settings$households`, and
/// `complete_only` leaves out those with an incomplete member.
#[extendr]
fn rs_qar_risk_households(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let grid = settings.probabilities("thresholds")?;
        let complete_only = settings.flag("complete_only")?;
        with_table(&settings.get("households")?, |households| {
            with_table(&table, |table| {
                let sets = tail.sets(table)?;
                let how = (&tail.settings, &grid[..]);
                let found = run.watched(|monitor| {
                    qar_risk_of_households(table, households, complete_only, sets, how, monitor)
                })?;
                Ok(list!(
                    found = to_r(&found.risk, sets, sets.len())?,
                    n_households = found.n_households as f64,
                    n_records = found.n_records as f64
                )
                .into())
            })
        })
    })
}

/// The same from counts that an engine has made: `settings` holds them per key set in
/// the order of combn().
#[extendr]
fn rs_qar_risk_counted(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let grid = settings.probabilities("thresholds")?;
        let column = |name: &str| -> Result<Vec<u32>> {
            let numbers = settings.doubles(name)?;
            Ok(numbers.iter().map(|&n| n as u32).collect())
        };
        let counts = SetCounts {
            distinct: column("distinct")?,
            unique: column("unique")?,
            pairs: column("pairs")?,
        };
        let key_distinct = column("key_distinct")?;
        let n_records = settings.number("n_records")? as u64;
        let sets = KeySets::new(key_distinct.len(), tail.p, tail.max_sets)?;
        let found = run.watched(|_| {
            qar_risk_of_counts(counts, key_distinct, sets, n_records, &tail.settings, &grid)
        })?;
        to_r(&found, sets, sets.len())
    })
}

/// Extreme risk alone, most key sets being excluded by bounds; where all are
/// counted, the `most_listed` riskiest come back.
#[extendr]
fn rs_qar_risk_alone(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let n_listed = settings.count("most_listed")?;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            let found = run.watched(|monitor| risk_alone(table, sets, &tail.settings, monitor))?;
            match found {
                RiskAlone::Whole(found) => to_r(&found, sets, n_listed.min(sets.len())),
                RiskAlone::Pruned {
                    estimates: found,
                    share_counted,
                    key_distinct,
                } => Ok(list!(
                    n_sets = sets.len() as f64,
                    estimates = estimates(found.iter().map(Some)),
                    key_distinct = counts(key_distinct.into_iter()),
                    share_counted = share_counted
                )
                .into()),
            }
        })
    })
}

/// Extreme risk from a sample of at most `max_sets` key sets of size `p`.
#[extendr]
fn rs_qar_risk_sampled(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let streams = Streams::new(settings.seed("seed")?);
        with_table(&table, |table| {
            let sets = KeySets::new(table.columns().len(), tail.p, MOST_SETS)?;
            let found = run.watched(|monitor| {
                sampled_risk(table, sets, tail.max_sets, &tail.settings, streams, monitor)
            })?;
            let key_distinct = table.columns().iter().map(Column::n_distinct);
            // Column-major, as for all sets.
            let members = (0..tail.p).flat_map(|i| {
                let sets = found.members.chunks(tail.p);
                sets.map(move |set| u32::from(set[i]) + 1)
            });
            Ok(list!(
                n_sets = sets.len() as f64,
                members = counts(members),
                distinct = counts(found.counts.distinct.iter().copied()),
                unique = counts(found.counts.unique.iter().copied()),
                pairs = counts(found.counts.pairs.iter().copied()),
                estimates = estimates(found.estimates.iter().map(Some)),
                key_distinct = counts(key_distinct),
                n_identifying = found.identifying.n as f64,
                identifying_by = tallies(&found.identifying.containing),
                all_identifying = found.all_identifying,
                n_complete = found.n_complete as f64,
                exact = found.exact,
                risk_se = optional(found.risk_se.iter().copied())
            )
            .into())
        })
    })
}

fn to_r(found: &QarRisk, sets: KeySets, n_listed: usize) -> Result<Robj> {
    let listed = &found.order[..n_listed];
    let column = |values: &[u32]| counts(listed.iter().map(|&set| values[set as usize]));
    // Column-major: one column of positions per member.
    let members = (0..sets.p()).flat_map(|i| {
        listed
            .iter()
            .map(move |&set| u32::from(found.members[set as usize * sets.p() + i]) + 1)
    });
    let sensitivity: Vec<Robj> = found
        .sensitivity
        .iter()
        .map(|at| estimates(at.iter().map(Option::as_ref)))
        .collect();
    let risk_without = found.keys.iter().flat_map(|k| k.risk_without.clone());
    let share_top: Vec<f64> = found.keys.iter().map(|k| k.share_top).collect();
    Ok(list!(
        n_sets = sets.len() as f64,
        members = counts(members),
        distinct = column(&found.counts.distinct),
        unique = column(&found.counts.unique),
        pairs = column(&found.counts.pairs),
        estimates = estimates(found.estimates.iter().map(Some)),
        without_theta_one = estimates(found.without_theta_one.iter().map(Some)),
        n_identifying = found.identifying.n as f64,
        identifying_by = tallies(&found.identifying.containing),
        all_identifying = true,
        key_distinct = counts(found.key_distinct.iter().copied()),
        share_top = share_top,
        risk_without = optional(risk_without),
        sensitivity = List::from_values(sensitivity)
    )
    .into())
}

/// Numbers of key sets, which a double holds.
fn tallies(values: &[usize]) -> Vec<f64> {
    values.iter().map(|&n| n as f64).collect()
}

/// Estimates as a list of columns.
pub fn estimates<'a>(rows: impl Iterator<Item = Option<&'a Estimate>>) -> Robj {
    let rows: Vec<Option<&Estimate>> = rows.collect();
    let column =
        |value: fn(&Estimate) -> Option<f64>| optional(rows.iter().map(|e| e.and_then(value)));
    let status: Vec<Option<&str>> = rows.iter().map(|e| e.map(|e| e.status.name())).collect();
    let flags = |value: fn(&Estimate) -> bool| -> Vec<Option<bool>> {
        rows.iter().map(|e| e.map(value)).collect()
    };
    list!(
        risk = column(|e| e.risk),
        risk_empirical = column(|e| e.risk_empirical),
        threshold = column(|e| e.threshold),
        shape = column(|e| e.shape),
        scale = column(|e| e.scale),
        n_exceedances = column(|e| Some(e.n_exceedances as f64)),
        n_sets = column(|e| Some(e.n_sets as f64)),
        status = status,
        largest = column(|e| e.largest),
        feasible = flags(|e| e.feasible),
        equal = flags(|e| e.equal)
    )
    .into()
}

extendr_module! {
    mod qar_risk;
    fn rs_qar_risk;
    fn rs_qar_risk_households;
    fn rs_qar_risk_counted;
    fn rs_qar_risk_alone;
    fn rs_qar_risk_sampled;
}
