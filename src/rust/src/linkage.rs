//! `longitudinal_link()`, `key_stability()` and `change_indicators()`: coded
//! waves in, numbers per wave-2 record or per key out.

use extendr_api::prelude::*;
use sdcrisk_core::linkage::{
    add_greedily, nearest_and_scores, scores, sensitivity, Agreement, KeyChanges, Method, Score,
    Waves, NONE,
};
use sdcrisk_core::{KeyTable, Result};

use crate::attack::expected_of;
use crate::convert::{counts, integers, optional, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Two coded files as R says them, and which of their values agree.
pub struct Files {
    wave1: Robj,
    wave2: Robj,
    pub agreements: Vec<Agreement>,
    /// Per record of the second file its partner in the first, `None` without ids.
    pub partners: Option<Vec<u32>>,
}

impl Files {
    pub fn new(given: &Named) -> Result<Self> {
        let agreements = given.list("agreements")?;
        Ok(Self {
            wave1: given.get("wave1")?,
            wave2: given.get("wave2")?,
            agreements: agreements
                .values()
                .map(|given| agreement(&given))
                .collect::<Result<_>>()?,
            partners: given
                .optional("partners")?
                .map(|partners| partners_of(&partners))
                .transpose()?,
        })
    }

    /// Values of people who are in both files.
    fn n_compared(&self) -> usize {
        self.partners.as_ref().map_or(0, Vec::len) * self.agreements.len()
    }

    pub fn with_tables<T>(
        &self,
        work: impl FnOnce(&KeyTable, &KeyTable) -> Result<T>,
    ) -> Result<T> {
        with_table(&self.wave1, |one| {
            with_table(&self.wave2, |two| work(one, two))
        })
    }

    fn with_waves<T>(&self, min_shared: u32, work: impl FnOnce(&Waves) -> Result<T>) -> Result<T> {
        self.with_tables(|one, two| {
            let partners = self.partners.as_deref();
            work(&Waves::new(
                one,
                two,
                &self.agreements,
                partners,
                min_shared,
            )?)
        })
    }
}

fn partners_of(given: &Robj) -> Result<Vec<u32>> {
    let row = |&p: &i32| match p {
        i32::MIN => Ok(NONE),
        p => u32::try_from(p - 1).map_err(|_| bad_call("partners")),
    };
    integers(given, "partners")?.iter().map(row).collect()
}

/// NULL for equal values, else the ranges of wave-1 codes of every wave-2 code.
fn agreement(given: &Robj) -> Result<Agreement> {
    if given.is_null() {
        return Ok(Agreement::Same);
    }
    let parts = Named::new(given, "agreements")?;
    let part = |name: &str| -> Result<Vec<u32>> {
        let part = parts.get(name)?;
        integers(&part, name)?
            .iter()
            .map(|&x| u32::try_from(x).map_err(|_| bad_call("agreements")))
            .collect()
    };
    Ok(Agreement::Ranges {
        starts: part("starts")?,
        ranges: part("first")?.into_iter().zip(part("last")?).collect(),
    })
}

fn method(name: &str) -> Result<Method> {
    match name {
        "estimate" => Ok(Method::Estimate),
        "counters" => Ok(Method::Counters),
        "walk" => Ok(Method::Walk),
        _ => Err(bad_call("method")),
    }
}

/// Request for a linkage.
struct Asked {
    min_shared: u32,
    method: Method,
    /// True if the scores without each key are wanted.
    without: bool,
    most_pairs: f64,
    /// True if it is wanted how often each key changes.
    changes: bool,
}

impl Asked {
    fn new(given: &Named) -> Result<Self> {
        Ok(Self {
            min_shared: given.count("min_overlap")? as u32,
            method: method(&given.text("method")?)?,
            without: given.flag("sensitivity")?,
            most_pairs: given.number("most_pairs")?,
            changes: given.flag("changes")?,
        })
    }
}

/// The nearest wave-1 records of every wave-2 record, and whether its partner
/// is one of them. `weighted_work` is the most work for the expected correct matches of an
/// intruder who weighs the keys, if they are asked for.
#[extendr]
fn rs_link(waves: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let waves = Named::new(&waves, "waves")?;
        let files = Files::new(&waves)?;
        let settings = Named::new(&settings, "settings")?;
        let asked = Asked::new(&settings)?;
        let run = Run::new(&run)?;
        let mut found = files.with_waves(asked.min_shared, |waves| link(waves, &asked, &run))?;
        let weighted = match settings.optional_number("weighted_work")? {
            None => None,
            Some(max_work) => expected_of(&waves, &files, max_work, &run)?,
        };
        found.push(("weighted", optional(std::iter::once(weighted))));
        Ok(List::from_pairs(found).into())
    })
}

fn link(waves: &Waves, asked: &Asked, run: &Run) -> Result<Vec<(&'static str, Robj)>> {
    let keys: Vec<usize> = (0..waves.n_keys()).collect();
    let (own, nearest, sensitivity, by_shared, changes) = run.watched(|monitor| {
        let own = waves.partner_differences(&keys, monitor)?;
        let (nearest, by_shared) =
            nearest_and_scores(waves, &own, asked.method, asked.most_pairs, monitor)?;
        let sensitivity = match asked.without {
            true => sensitivity(waves, monitor)?,
            false => Vec::new(),
        };
        let changes = match asked.changes {
            true => waves.changes(monitor)?,
            false => Vec::new(),
        };
        Ok((own, nearest, sensitivity, by_shared, changes))
    })?;
    let few = waves.few_observed(asked.min_shared.max(1));
    let n = nearest.n_best.len();
    let is_best: Vec<bool> = (0..n)
        .map(|row| own.is_best(row, nearest.n_diff[row]))
        .collect();
    let patterns = nearest.n_patterns;
    let method = format!("{:?}", nearest.method).to_lowercase();
    Ok(vec![
        ("n_diff", whole(&nearest.n_diff).into()),
        ("n_best", counts(nearest.n_best.iter().map(|&b| b as u32))),
        ("true_diff", whole(&own.n_diff).into()),
        ("is_best", r!(is_best)),
        ("score", score_columns(&[Score::new(&nearest, &own)])),
        ("sensitivity", score_columns(&sensitivity)),
        ("by_shared", score_columns(&by_shared.unwrap_or_default())),
        ("n_few", r!([few.0 as f64, few.1 as f64])),
        ("method", r!(method)),
        ("n_patterns", r!([patterns.0 as f64, patterns.1 as f64])),
        ("changes", change_columns(&changes).into()),
    ])
}

fn change_columns(changes: &[KeyChanges]) -> List {
    list!(
        n_compared = counts(changes.iter().map(|c| c.n_compared as u32)),
        n_changed = counts(changes.iter().map(|c| c.n_changed as u32))
    )
}

fn whole(numbers: &[Option<u32>]) -> Integers {
    numbers
        .iter()
        .map(|x| x.map_or(Rint::na(), |x| Rint::from(x as i32)))
        .collect()
}

fn score_columns(scores: &[Score]) -> Robj {
    list!(
        n_certain = scores
            .iter()
            .map(|s| s.n_certain as f64)
            .collect::<Vec<_>>(),
        expected = scores.iter().map(|s| s.expected).collect::<Vec<_>>(),
        n_single_best = scores
            .iter()
            .map(|s| s.n_single_best as f64)
            .collect::<Vec<_>>(),
        n_matched = scores
            .iter()
            .map(|s| s.n_matched as f64)
            .collect::<Vec<_>>()
    )
    .into()
}

/// Pairs of known partners per key: compared, and changed.
#[extendr]
fn rs_key_changes(waves: Robj, run: Robj) -> Robj {
    guard(|| {
        let files = Files::new(&Named::new(&waves, "waves")?)?;
        let run = Run::new(&run)?;
        files.with_waves(0, |waves| {
            let changes = run.brief(files.n_compared(), |monitor| waves.changes(monitor))?;
            Ok(list!(
                changes = change_columns(&changes),
                entropy = waves.entropies()
            )
            .into())
        })
    })
}

/// Scores as keys are added: one after the other as they are given, or each
/// time the one that brings most.
#[extendr]
fn rs_key_steps(waves: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let files = Files::new(&Named::new(&waves, "waves")?)?;
        let settings = Named::new(&settings, "settings")?;
        let order = settings.indices("order")?;
        let greedy = settings.flag("greedy")?;
        let run = Run::new(&run)?;
        files.with_waves(0, |waves| {
            let steps = run.watched(|monitor| {
                if greedy {
                    return add_greedily(waves, &order, monitor);
                }
                let sets: Vec<Vec<usize>> =
                    (1..=order.len()).map(|n| order[..n].to_vec()).collect();
                let found = scores(waves, &sets, monitor)?;
                Ok(order.iter().copied().zip(found).collect())
            })?;
            let found: Vec<Score> = steps.iter().map(|&(_, score)| score).collect();
            Ok(list!(
                key = counts(steps.iter().map(|&(key, _)| key as u32 + 1)),
                score = score_columns(&found)
            )
            .into())
        })
    })
}

/// Per key and wave-2 record, 1 where the record's partner has another value; with
/// `values` that value's code too, 0 elsewhere.
#[extendr]
fn rs_changed(waves: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let files = Files::new(&Named::new(&waves, "waves")?)?;
        let values = Named::new(&settings, "settings")?.flag("values")?;
        let run = Run::new(&run)?;
        let (changed, before) = files.with_waves(0, |waves| {
            run.watched(|_| {
                let changed: Vec<Vec<bool>> =
                    (0..waves.n_keys()).map(|v| waves.changed(v)).collect();
                let before: Vec<Vec<u32>> = match values {
                    true => (changed.iter().enumerate())
                        .map(|(v, changed)| waves.before(v, changed))
                        .collect(),
                    false => Vec::new(),
                };
                Ok((changed, before))
            })
        })?;
        let flags = (changed.into_iter()).map(|of_key| counts(of_key.into_iter().map(u32::from)));
        let codes = before.into_iter().map(|of_key| counts(of_key.into_iter()));
        Ok(list!(
            changed = List::from_values(flags),
            before = List::from_values(codes)
        )
        .into())
    })
}

extendr_module! {
    mod linkage;
    fn rs_link;
    fn rs_key_changes;
    fn rs_key_steps;
    fn rs_changed;
}
