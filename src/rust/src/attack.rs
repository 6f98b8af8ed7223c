//! `link_attack()`: two coded files in, numbers per released record, intruder
//! and key out.

use extendr_api::prelude::*;
use sdcrisk_core::attack::{
    attack, expected_correct, Attack, Claims, Engine, Files, Found, Intruder, Settings, Variable,
};
use sdcrisk_core::{Error, Result};

use crate::convert::{counts, optional, texts, Named, Run};
use crate::guard::{bad_call, guard};
use crate::linkage;

fn intruder(name: &str) -> Result<Intruder> {
    match name {
        "count" => Ok(Intruder::Count),
        "calibrated" => Ok(Intruder::Calibrated),
        "prior" => Ok(Intruder::Prior),
        "em" => Ok(Intruder::Em),
        _ => Err(bad_call("intruders")),
    }
}

fn engine(name: &str) -> Result<Engine> {
    match name {
        "choose" => Ok(Engine::Choose),
        "elimination" => Ok(Engine::Elimination),
        "subsets" => Ok(Engine::Subsets),
        "tables" => Ok(Engine::Tables),
        _ => Err(bad_call("engine")),
    }
}

/// Request of R for an attack, and the posteriors above which claims are counted.
struct Asked {
    settings: Settings,
    thresholds: Vec<f64>,
}

impl Asked {
    fn new(given: &Robj) -> Result<Self> {
        let given = Named::new(given, "settings")?;
        let intruders = texts(&given.get("intruders")?, "intruders")?;
        Ok(Self {
            settings: Settings {
                intruders: intruders
                    .iter()
                    .map(|name| intruder(name))
                    .collect::<Result<_>>()?,
                by_value: given.flag("by_value")?,
                prior_match: given.number("prior_match")?,
                coverage: given.optional_number("coverage")?,
                engine: engine(&given.text("engine")?)?,
                max_work: given.number("max_work")?,
                without_work: given.number("without_work")?,
                details: given.flag("details")?,
                one_to_one: given.flag("one_to_one")?,
            },
            thresholds: given.doubles("thresholds")?,
        })
    }

    fn run(&self, files: &Files, run: &Run) -> Result<(Attack, Vec<Vec<Claims>>)> {
        run.watched(|monitor| {
            let done = attack(files, &self.settings, monitor)?;
            let curve = |found: &Found| Claims::curve(&found.outcome, &self.thresholds);
            let claims = done.found.iter().map(curve).collect();
            Ok((done, claims))
        })
    }
}

/// Works on two files, of whose keys `exact_first` says which hold one value each.
fn with_files<T>(
    given: &Named,
    files: &linkage::Files,
    work: impl FnOnce(&Files) -> Result<T>,
) -> Result<T> {
    let exact = given.flags("exact_first")?;
    files.with_tables(|known, released| {
        let partners = files.partners.as_deref();
        work(&Files::new(
            known,
            released,
            &files.agreements,
            &exact,
            partners,
        )?)
    })
}

/// Attacks of several intruders on one pair of files.
#[extendr]
fn rs_attack(files: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let given = Named::new(&files, "files")?;
        let files = linkage::Files::new(&given)?;
        let asked = Asked::new(&settings)?;
        let run = Run::new(&run)?;
        let (done, claims) = with_files(&given, &files, |files| asked.run(files, &run))?;
        attack_list(&done, &claims)
    })
}

/// The expected correct matches of the calibrated intruder; `None` where they take more
/// work, or memory, than there may be.
pub fn expected_of(
    given: &Named,
    files: &linkage::Files,
    max_work: f64,
    run: &Run,
) -> Result<Option<f64>> {
    let expected =
        |files: &Files| run.watched(|monitor| expected_correct(files, max_work, monitor));
    match with_files(given, files, expected) {
        Err(Error::TooLarge(_)) => Ok(None),
        found => found,
    }
}

fn attack_list(done: &Attack, claims: &[Vec<Claims>]) -> Result<Robj> {
    let found = done.found.iter().zip(claims);
    let dependence = done.dependence;
    let keys = dependence.map(|d| [d.keys.0 as i32 + 1, d.keys.1 as i32 + 1]);
    Ok(list!(
        found = List::from_values(
            found
                .map(|(found, claims)| found_list(found, claims))
                .collect::<Result<Vec<Robj>>>()?
        ),
        coverage = done.coverage,
        ceiling = optional(std::iter::once(done.ceiling)),
        dependent_keys = keys.map_or(r!(NULL), |keys| keys.iter().copied().collect_robj()),
        phi = optional(std::iter::once(dependence.map(|d| d.phi))),
        entropy = done.entropies.clone(),
        n_patterns = [done.n_patterns.0 as f64, done.n_patterns.1 as f64]
    )
    .into())
}

fn found_list(found: &Found, claims: &[Claims]) -> Result<Robj> {
    let outcome = &found.outcome;
    if outcome.n_best.iter().any(|&n| n > i32::MAX as u64) {
        return Err(Error::TooLarge("More ties than R can count.".into()));
    }
    let score = found.score;
    let learning = found.learning.as_ref();
    let plan = found.plan;
    let of = |number: fn(&Claims) -> f64| claims.iter().map(number).collect::<Vec<f64>>();
    Ok(list!(
        n_best = counts(outcome.n_best.iter().map(|&n| n as u32)),
        true_in_best = outcome.true_in_best.clone(),
        posterior = outcome.posterior.clone(),
        expected = score.expected,
        n_certain = score.n_certain as f64,
        n_single_best = score.n_single_best as f64,
        own_estimate = score.own_estimate,
        n_claimed = of(|c| c.n_claimed as f64),
        n_right = of(|c| c.n_right),
        n_expected = of(|c| c.expected),
        m = levels(&found.variables, |v| &v.reliability.m),
        u = levels(&found.variables, |v| &v.reliability.u),
        without = optional(found.variables.iter().map(|v| v.without)),
        engine = plan.map_or("counters".into(), |p| format!("{:?}", p.engine)
            .to_lowercase()),
        work = optional(std::iter::once(plan.map(|p| p.work))),
        one_to_one = optional(std::iter::once(found.one_to_one)),
        log_likelihood = optional(std::iter::once(found.log_likelihood)),
        n_steps = learning.map_or(Rint::na(), |l| Rint::from(l.n_steps as i32)),
        converged = learning.map_or(Rbool::na(), |l| Rbool::from(l.converged)),
        n_learned = learning.map_or(Rint::na(), |l| Rint::from(l.n_queries as i32))
    )
    .into())
}

/// A probability of every level, key by key.
fn levels(variables: &[Variable], of: impl Fn(&Variable) -> &Vec<f64>) -> Robj {
    let keys = variables.iter().map(|v| of(v).clone().into_robj());
    List::from_values(keys).into()
}

extendr_module! {
    mod attack;
    fn rs_attack;
}
