//! `longitudinal_link()`, `key_stability()` and `change_indicators()`: coded
//! waves in, numbers per wave-2 record or per key out.

use extendr_api::prelude::*;
use sdcrisk_core::linkage::{
    add_greedily, partners, scores, scores_by_shared, sensitivity, Agreement, Method, Score, Waves,
    NONE,
};
use sdcrisk_core::{KeyTable, Result};

use crate::convert::{count, counts, indices, integers, list, text, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// Per wave-2 record the wave-1 record with the same id, from two tables of
/// ids coded together.
#[extendr]
fn rs_partners(wave1: Robj, wave2: Robj) -> Robj {
    guard(|| {
        with_table(&wave1, |one| {
            with_table(&wave2, |two| {
                let found = partners(&one.columns()[0], &two.columns()[0])?;
                let rows = found.rows.iter().map(|&row| match row {
                    NONE => Rint::na(),
                    row => Rint::from(row as i32 + 1),
                });
                Ok(list!(
                    rows = rows.collect::<Integers>(),
                    n_repeated = [found.n_repeated.0 as f64, found.n_repeated.1 as f64]
                )
                .into())
            })
        })
    })
}

/// What R says of two waves, converted.
struct Setting {
    agreements: Vec<Agreement>,
    partners: Option<Vec<u32>>,
    min_shared: u32,
}

impl Setting {
    fn new(agreements: &Robj, partners: &Robj, min_shared: &Robj) -> Result<Self> {
        Ok(Self {
            agreements: agreements_of(agreements)?,
            partners: partners_of(partners)?,
            min_shared: count(min_shared, "min_shared")? as u32,
        })
    }

    fn with_waves<T>(
        &self,
        wave1: &Robj,
        wave2: &Robj,
        work: impl FnOnce(&Waves) -> Result<T>,
    ) -> Result<T> {
        let run = |one: &KeyTable, two: &KeyTable| {
            let partners = self.partners.as_deref();
            work(&Waves::new(
                one,
                two,
                &self.agreements,
                partners,
                self.min_shared,
            )?)
        };
        with_table(wave1, |one| with_table(wave2, |two| run(one, two)))
    }
}

/// The relation of every key.
pub fn agreements_of(given: &Robj) -> Result<Vec<Agreement>> {
    list(given, "agreements")?
        .values()
        .map(|given| agreement(&given))
        .collect()
}

/// Per record of the second file its partner in the first, NULL without ids.
pub fn partners_of(given: &Robj) -> Result<Option<Vec<u32>>> {
    if given.is_null() {
        return Ok(None);
    }
    let row = |&p: &i32| match p {
        i32::MIN => Ok(NONE),
        p => u32::try_from(p - 1).map_err(|_| bad_call("partners")),
    };
    let rows = integers(given, "partners")?.iter().map(row);
    rows.collect::<Result<_>>().map(Some)
}

/// NULL for equal values, else the ranges of wave-1 codes of every wave-2 code.
fn agreement(given: &Robj) -> Result<Agreement> {
    if given.is_null() {
        return Ok(Agreement::Same);
    }
    let parts = list(given, "agreements")?;
    let part = |name: &str| -> Result<Vec<u32>> {
        let part = parts.dollar(name).map_err(|_| bad_call("agreements"))?;
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

fn method(given: &Robj) -> Result<Method> {
    match text(given, "method")? {
        "estimate" => Ok(Method::Estimate),
        "counters" => Ok(Method::Counters),
        "walk" => Ok(Method::Walk),
        _ => Err(bad_call("method")),
    }
}

/// The nearest wave-1 records of every wave-2 record, and whether its partner
/// is one of them; with `without` the scores when each key is left out.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_link(
    wave1: Robj,
    wave2: Robj,
    agreements: Robj,
    partners: Robj,
    min_shared: Robj,
    method_name: Robj,
    without: Robj,
    most_pairs: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let setting = Setting::new(&agreements, &partners, &min_shared)?;
        let most_pairs = most_pairs.as_real().ok_or_else(|| bad_call("most_pairs"))?;
        let method = method(&method_name)?;
        let without = without.as_bool().ok_or_else(|| bad_call("without"))?;
        let run = Run::new(&run)?;
        setting.with_waves(&wave1, &wave2, |waves| {
            let keys: Vec<usize> = (0..waves.n_keys()).collect();
            let (own, nearest, sensitivity, by_shared) = run.watched(|monitor| {
                let own = waves.partner_differences(&keys, monitor)?;
                let nearest = waves.nearest(&keys, Some(&own), method, monitor)?;
                let sensitivity = match without {
                    true => sensitivity(waves, monitor)?,
                    false => Vec::new(),
                };
                let by_shared = scores_by_shared(waves, nearest.n_patterns, most_pairs, monitor)?;
                Ok((own, nearest, sensitivity, by_shared))
            })?;
            let few = waves.few_observed(setting.min_shared.max(1));
            let n = nearest.n_best.len();
            let is_best: Vec<bool> = (0..n)
                .map(|row| own.is_best(row, nearest.n_diff[row]))
                .collect();
            Ok(list!(
                n_diff = whole(&nearest.n_diff),
                n_best = counts(nearest.n_best.iter().map(|&b| b as u32)),
                true_diff = whole(&own.n_diff),
                is_best = is_best,
                score = score_columns(&[Score::new(&nearest, &own)]),
                sensitivity = score_columns(&sensitivity),
                by_shared = score_columns(&by_shared.unwrap_or_default()),
                n_few = [few.0 as f64, few.1 as f64],
                method = format!("{:?}", nearest.method).to_lowercase(),
                n_patterns = [nearest.n_patterns.0 as f64, nearest.n_patterns.1 as f64]
            )
            .into())
        })
    })
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
fn rs_key_changes(wave1: Robj, wave2: Robj, agreements: Robj, partners: Robj, run: Robj) -> Robj {
    guard(|| {
        let setting = Setting::new(&agreements, &partners, &r!(0))?;
        let run = Run::new(&run)?;
        setting.with_waves(&wave1, &wave2, |waves| {
            let changes = run.watched(|monitor| waves.changes(monitor))?;
            Ok(list!(
                n_compared = counts(changes.iter().map(|c| c.n_compared as u32)),
                n_changed = counts(changes.iter().map(|c| c.n_changed as u32)),
                entropy = waves.entropies()
            )
            .into())
        })
    })
}

/// Scores as keys are added: one after the other as they are given, or each
/// time the one that brings most.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_key_steps(
    wave1: Robj,
    wave2: Robj,
    agreements: Robj,
    partners: Robj,
    min_shared: Robj,
    order: Robj,
    greedy: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let setting = Setting::new(&agreements, &partners, &min_shared)?;
        let order = indices(&order, "order")?;
        let greedy = greedy.as_bool().ok_or_else(|| bad_call("greedy"))?;
        let run = Run::new(&run)?;
        setting.with_waves(&wave1, &wave2, |waves| {
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

/// Per key and wave-2 record, 1 where the record's partner has another value.
#[extendr]
fn rs_changed(wave1: Robj, wave2: Robj, agreements: Robj, partners: Robj) -> Robj {
    guard(|| {
        let setting = Setting::new(&agreements, &partners, &r!(0))?;
        setting.with_waves(&wave1, &wave2, |waves| {
            let columns: Vec<Robj> = (0..waves.n_keys())
                .map(|v| counts(waves.changed(v).into_iter().map(u32::from)))
                .collect();
            Ok(List::from_values(columns).into())
        })
    })
}

extendr_module! {
    mod linkage;
    fn rs_partners;
    fn rs_link;
    fn rs_key_changes;
    fn rs_key_steps;
    fn rs_changed;
}
