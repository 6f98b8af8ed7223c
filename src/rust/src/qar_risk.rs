//! `qar_risk()`: settings in, counts and estimates out.

use extendr_api::prelude::*;
use sdcrisk_core::key_table::Column;
use sdcrisk_core::qar_risk::{
    qar_risk, qar_risk_of_counts, qar_risk_of_households, risk_alone, sampled_risk, Estimate, Pwm,
    QarRisk, RiskAlone, SetCounts, TailSettings, ThetaOne, MOST_SETS,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{KeySets, KeyTable, Probability, Result};

use crate::convert::{counts, frame, optional, texts, whole_numbers, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Common settings of all questions about the tail.
pub struct Tail {
    pub settings: TailSettings,
    p: usize,
    max_sets: usize,
}

impl Tail {
    /// Settings of fitting and reading the tail, from those of R.
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

/// Extreme risk over the key sets of size `p`, as data frames. `seed`: from a sample of
/// `max_sets` of them. `most_listed`: the risk alone, most key sets being excluded by bounds; if
/// all are counted, this many of the riskiest come back. `households`: the same of households,
/// whose table it is; `complete_only` leaves out those with an incomplete member.
#[extendr]
fn rs_qar_risk(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        with_table(&table, |table| {
            let frames = Frames::new(&tail, &settings, table.n_records())?;
            if let Some(households) = settings.optional("households")? {
                return with_table(&households, |homes| {
                    of_households(table, homes, &settings, frames, &run)
                });
            }
            if settings.optional("seed")?.is_some() {
                return sampled(table, &settings, &frames, &run);
            }
            let sets = tail.sets(table)?;
            if settings.optional("most_listed")?.is_none() {
                let grid = settings.probabilities("thresholds")?;
                // A key set takes a fraction of a step for a record.
                let steps = sets.len().saturating_mul(table.n_rows()) / 4;
                let found = run.brief(steps, |monitor| {
                    qar_risk(table, sets, &tail.settings, &grid, monitor)
                })?;
                return frames.whole(&found, sets, sets.len(), &grid);
            }
            let none = SetCounts {
                distinct: Vec::new(),
                unique: Vec::new(),
                pairs: Vec::new(),
            };
            match run.watched(|monitor| risk_alone(table, sets, &tail.settings, monitor))? {
                RiskAlone::Whole(found) => {
                    let n_listed = settings.count("most_listed")?.min(sets.len());
                    frames.whole(&found, sets, n_listed, &[])
                }
                RiskAlone::Pruned {
                    estimates,
                    share_counted,
                    key_distinct,
                } => Ok(list!(
                    estimates = frames.estimates(&estimates)?,
                    fit = frames.fit(&estimates)?,
                    without_theta_one = frames.without_theta_one(&[])?,
                    sets = frames.sets(&[], 0..0, &none)?,
                    identifying = frames.identifying(0.0, Rstr::na(), sets.len(), true)?,
                    identifying_variables = frames.identifying_variables(&[])?,
                    n_distinct = counts(key_distinct.into_iter()),
                    share_counted = share_counted
                )
                .into()),
            }
        })
    })
}

/// Risk from counts that an engine has made: `settings` holds them per key set in the order of
/// combn().
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
        let frames = Frames::new(&tail, &settings, n_records)?;
        frames.whole(&found, sets, sets.len(), &grid)
    })
}

fn of_households(
    table: &KeyTable,
    households: &KeyTable,
    settings: &Named,
    mut frames: Frames,
    run: &Run,
) -> Result<Robj> {
    let complete_only = settings.flag("complete_only")?;
    let sets = frames.tail.sets(table)?;
    let how = (&frames.tail.settings, &[][..]);
    let found = run.watched(|monitor| {
        qar_risk_of_households(table, households, complete_only, sets, how, monitor)
    })?;
    frames.n_records = found.n_households;
    Ok(list!(
        found = frames.whole(&found.risk, sets, sets.len(), &[])?,
        n_households = found.n_households as f64
    )
    .into())
}

fn sampled(table: &KeyTable, settings: &Named, frames: &Frames, run: &Run) -> Result<Robj> {
    let tail = frames.tail;
    let streams = Streams::new(settings.seed("seed")?);
    let sets = KeySets::new(table.columns().len(), tail.p, MOST_SETS)?;
    let found = run.watched(|monitor| {
        sampled_risk(table, sets, tail.max_sets, &tail.settings, streams, monitor)
    })?;
    let n = found.counts.distinct.len();
    let levels = tail.settings.alpha.len();
    let sampling = frame(
        levels,
        list!(
            p = frames.p(levels),
            alpha = frames.alpha(levels),
            n_sets = vec![sets.len() as f64; levels],
            n_counted = vec![n as i32; levels],
            n_complete = vec![found.n_complete as f64; levels],
            exact = vec![found.exact; levels],
            risk_se = optional(found.risk_se.iter().copied())
        ),
    )?;
    let first = frames.first_identifying(&found.members, 0..n, &found.counts);
    let n_identifying = found.identifying.n as f64;
    Ok(list!(
        estimates = frames.estimates(&found.estimates)?,
        fit = frames.fit(&found.estimates)?,
        without_theta_one = frames.without_theta_one(&[])?,
        sets = frames.sets(&found.members, 0..n, &found.counts)?,
        sampling = sampling,
        identifying = frames.identifying(n_identifying, first, n, found.all_identifying)?,
        identifying_variables = frames.identifying_variables(&found.identifying.containing)?,
        n_distinct = counts(table.columns().iter().map(Column::n_distinct)),
        share_counted = n as f64 / sets.len() as f64
    )
    .into())
}

/// Results as data frames of R; `names` are those of the key variables.
struct Frames<'a> {
    tail: &'a Tail,
    names: Vec<String>,
    n_records: u64,
}

impl<'a> Frames<'a> {
    fn new(tail: &'a Tail, settings: &Named, n_records: u64) -> Result<Self> {
        Ok(Self {
            tail,
            names: texts(&settings.get("names")?, "names")?,
            n_records,
        })
    }

    /// Of all key sets, of which the first `n_listed` by falling risk are listed.
    fn whole(
        &self,
        found: &QarRisk,
        sets: KeySets,
        n_listed: usize,
        grid: &[Probability],
    ) -> Result<Robj> {
        let listed = || found.order[..n_listed].iter().map(|&set| set as usize);
        let first = self.first_identifying(&found.members, listed(), &found.counts);
        let n_identifying = found.identifying.n as f64;
        Ok(list!(
            estimates = self.estimates(&found.estimates)?,
            fit = self.fit(&found.estimates)?,
            without_theta_one = self.without_theta_one(&found.without_theta_one)?,
            sets = self.sets(&found.members, listed(), &found.counts)?,
            threshold = self.threshold(found, grid)?,
            variables = self.variables(found)?,
            identifying = self.identifying(n_identifying, first, sets.len(), true)?,
            identifying_variables = self.identifying_variables(&found.identifying.containing)?,
            n_distinct = counts(found.key_distinct.iter().copied()),
            share_counted = 1.0
        )
        .into())
    }

    fn p(&self, n: usize) -> Vec<i32> {
        vec![self.tail.p as i32; n]
    }

    /// The levels, again and again up to `n`.
    fn alpha(&self, n: usize) -> Vec<f64> {
        let levels = self.tail.settings.alpha.iter().map(|alpha| alpha.get());
        levels.cycle().take(n).collect()
    }

    fn columns(&self, rows: &[Estimate]) -> Vec<(&'static str, Robj)> {
        let n = rows.len();
        let column = |value: fn(&Estimate) -> Option<f64>| optional(rows.iter().map(value));
        let status: Vec<&str> = rows.iter().map(|e| e.status.name()).collect();
        vec![
            ("p", r!(self.p(n))),
            ("alpha", r!(self.alpha(n))),
            ("risk", column(|e| e.risk)),
            ("risk_empirical", column(|e| e.risk_empirical)),
            ("threshold", column(|e| e.threshold)),
            ("shape", column(|e| e.shape)),
            ("scale", column(|e| e.scale)),
            (
                "n_exceedances",
                counts(rows.iter().map(|e| e.n_exceedances as u32)),
            ),
            ("n_sets", counts(rows.iter().map(|e| e.n_sets as u32))),
            ("n_records", self.records(n)),
            ("status", r!(status)),
        ]
    }

    fn records(&self, n: usize) -> Robj {
        whole_numbers(std::iter::repeat_n(self.n_records, n))
    }

    fn estimates(&self, rows: &[Estimate]) -> Result<Robj> {
        frame(rows.len(), List::from_pairs(self.columns(rows)))
    }

    fn without_theta_one(&self, rows: &[Estimate]) -> Result<Robj> {
        let feasible: Vec<bool> = rows.iter().map(|e| e.feasible).collect();
        let mut columns = self.columns(rows);
        columns.push(("feasible", r!(feasible)));
        frame(rows.len(), List::from_pairs(columns))
    }

    fn fit(&self, rows: &[Estimate]) -> Result<Robj> {
        let n = rows.len();
        let alpha = self.alpha(n);
        let flags = |flag: fn(&Estimate) -> bool| rows.iter().map(flag).collect::<Vec<bool>>();
        // A share of the key sets that is less than one of them.
        let beyond: Vec<bool> = (rows.iter().zip(&alpha))
            .map(|(e, alpha)| {
                ["ok", "few"].contains(&e.status.name()) && alpha * (e.n_sets as f64) < 1.0 - 1e-9
            })
            .collect();
        frame(
            n,
            list!(
                p = self.p(n),
                alpha = alpha,
                largest = optional(rows.iter().map(|e| e.largest)),
                feasible = flags(|e| e.feasible),
                beyond = beyond,
                equal = flags(|e| e.equal)
            ),
        )
    }

    /// The name of the key set with these members.
    fn label(&self, members: &[u16], set: usize) -> String {
        let p = self.tail.p;
        let names = members[set * p..][..p].iter();
        let names: Vec<&str> = names
            .map(|&v| self.names[usize::from(v)].as_str())
            .collect();
        names.join(" + ")
    }

    fn sets(
        &self,
        members: &[u16],
        listed: impl Iterator<Item = usize>,
        counted: &SetCounts,
    ) -> Result<Robj> {
        let listed: Vec<usize> = listed.collect();
        let n = listed.len();
        let column = |values: &[u32]| counts(listed.iter().map(|&set| values[set]));
        let labels: Vec<String> = listed.iter().map(|&set| self.label(members, set)).collect();
        let risks: Vec<f64> = (listed.iter())
            .map(|&set| f64::from(counted.distinct[set]) / self.n_records as f64)
            .collect();
        frame(
            n,
            list!(
                key_set = labels,
                p = self.p(n),
                n = self.records(n),
                n_distinct = column(&counted.distinct),
                n_unique = column(&counted.unique),
                n_pairs = column(&counted.pairs),
                set_risk = risks
            ),
        )
    }

    /// The first key set listed that identifies every record.
    fn first_identifying(
        &self,
        members: &[u16],
        mut listed: impl Iterator<Item = usize>,
        counted: &SetCounts,
    ) -> Rstr {
        match listed.find(|&set| u64::from(counted.distinct[set]) == self.n_records) {
            Some(set) => Rstr::from(self.label(members, set)),
            None => Rstr::na(),
        }
    }

    /// Number of key sets that identify every record.
    fn identifying(&self, n: f64, first: Rstr, n_counted: usize, all: bool) -> Result<Robj> {
        frame(
            1,
            list!(
                p = self.p(1),
                n_identifying = n,
                key_set = first,
                n_counted = n_counted as f64,
                all_known = all
            ),
        )
    }

    /// Number of them that contain each key variable, the most frequent first.
    fn identifying_variables(&self, containing: &[usize]) -> Result<Robj> {
        let mut keys: Vec<usize> = (0..containing.len())
            .filter(|&v| containing[v] > 0)
            .collect();
        keys.sort_by_key(|&v| std::cmp::Reverse(containing[v]));
        let names: Vec<&str> = keys.iter().map(|&v| self.names[v].as_str()).collect();
        let n: Vec<f64> = keys.iter().map(|&v| containing[v] as f64).collect();
        frame(
            keys.len(),
            list!(p = self.p(keys.len()), variable = names, n_identifying = n),
        )
    }

    /// The estimates by threshold share.
    fn threshold(&self, found: &QarRisk, grid: &[Probability]) -> Result<Robj> {
        let rows: Vec<Option<&Estimate>> = (found.sensitivity.iter())
            .flat_map(|at| at.iter().map(Option::as_ref))
            .collect();
        let n = rows.len();
        let levels = self.tail.settings.alpha.len();
        let column =
            |value: fn(&Estimate) -> Option<f64>| optional(rows.iter().map(|e| e.and_then(value)));
        let pi_u: Vec<f64> = (grid.iter())
            .flat_map(|share| std::iter::repeat_n(share.get(), levels))
            .collect();
        let n_exceedances: Integers = (rows.iter())
            .map(|e| e.map_or(Rint::na(), |e| Rint::from(e.n_exceedances as i32)))
            .collect();
        let status: Vec<Option<&str>> = rows.iter().map(|e| e.map(|e| e.status.name())).collect();
        frame(
            n,
            list!(
                p = self.p(n),
                alpha = self.alpha(n),
                pi_u = pi_u,
                risk = column(|e| e.risk),
                threshold = column(|e| e.threshold),
                shape = column(|e| e.shape),
                n_exceedances = n_exceedances,
                status = status
            ),
        )
    }

    /// Per level and key variable, what the variable does to the risk.
    fn variables(&self, found: &QarRisk) -> Result<Robj> {
        let levels = &self.tail.settings.alpha;
        let (n_keys, n) = (self.names.len(), self.names.len() * levels.len());
        let alpha: Vec<f64> = (levels.iter())
            .flat_map(|alpha| std::iter::repeat_n(alpha.get(), n_keys))
            .collect();
        let of_level = |level: usize| found.keys.iter().map(move |key| key.risk_without[level]);
        let keys = || found.keys.iter().cycle().take(n);
        let share_top: Vec<f64> = keys().map(|key| key.share_top).collect();
        let names: Vec<&str> = self
            .names
            .iter()
            .map(String::as_str)
            .cycle()
            .take(n)
            .collect();
        frame(
            n,
            list!(
                p = self.p(n),
                alpha = alpha,
                variable = names,
                n_distinct = counts(found.key_distinct.iter().copied().cycle().take(n)),
                share_top = share_top,
                risk_without = optional((0..levels.len()).flat_map(of_level))
            ),
        )
    }
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
    fn rs_qar_risk_counted;
}
