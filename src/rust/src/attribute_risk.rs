//! `attribute_risk()`: a file with sensitive values, and perhaps another one, in; what
//! keys tell of the values out.

use std::borrow::Cow;

use extendr_api::prelude::*;
use sdcrisk_core::attribute_risk::{attribute_risk, AttributeRisk, Target};
use sdcrisk_core::key_table::Column;
use sdcrisk_core::n_matches::{Question, Relation, Sensitive, Settings};
use sdcrisk_core::{KeyTable, Missing, Result};

use crate::convert::{optional, positions, whole, Named, Run};
use crate::guard::guard;
use crate::key_table::with_table;

/// Sensitive values that the matches of the records of `targets` among those of `file` reveal.
/// `sensitive` has for each variable the table of the file's values, of the targets' own, and
/// whether values are ordered. Records that "exclude" leaves out are not in the answer: `rows`
/// names the others.
#[extendr]
fn rs_attribute_risk(file: Robj, targets: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let missing: Missing = settings.choice("missing")?;
        let given = settings.list("sensitive")?;
        let mut sensitive = Vec::new();
        let mut own = Vec::new();
        for one in given.values() {
            let one = Named::new(&one, "sensitive")?;
            sensitive.push(Sensitive {
                column: Cow::Owned(values(&one, "file")?),
                ordered: one.flag("ordered")?,
            });
            own.push(values(&one, "own")?);
        }
        let run = Run::new(&run)?;
        with_table(&file, |file| {
            let ask = |targets: Option<&KeyTable>| {
                let rule = vec![missing; file.columns().len()];
                let settings = Settings {
                    missing: &rule,
                    sensitive: &sensitive,
                    ..Settings::default()
                };
                let relations = vec![Relation::Equal; file.columns().len()];
                let question = Question::new(file, targets, relations, settings)?;
                let rows = question.target_rows().or_else(|| question.rows());
                let rows = rows.map(<[u32]>::to_vec);
                let select = |column: &Column| match &rows {
                    None => column.clone(),
                    Some(rows) => column.select(rows),
                };
                let own: Vec<Column> = own.iter().map(select).collect();
                // The question has left out records of the file, too.
                let sensitive = question.sensitive().to_vec();
                let found =
                    run.watched(|monitor| attribute_risk(&question, &sensitive, &own, monitor))?;
                Ok((found, rows))
            };
            let ((matches, risks), rows) = match targets.is_null() {
                true => ask(None)?,
                false => with_table(&targets, |targets| ask(Some(targets)))?,
            };
            let matches: Vec<f64> = matches.iter().map(|&m| m as f64).collect();
            Ok(list!(
                matches = matches,
                sensitive = List::from_values(risks.into_iter().map(to_r)),
                rows = rows.map_or_else(|| r!(NULL), |rows| positions(&rows))
            )
            .into())
        })
    })
}

/// The column of a table of one, its codes being those of groups where `groups` has the
/// group of each.
fn values(one: &Named, name: &str) -> Result<Column> {
    let table = one.get(name)?;
    let mut table = with_table(&table, |table| Ok(KeyTable::clone(table)))?;
    if let Some(groups) = one.optional("groups")? {
        let map: Vec<u32> = whole(&groups, "groups")?;
        table.recode(0, &map, map.iter().copied().max().unwrap_or(0))?;
    }
    Ok(table.columns()[0].clone())
}

/// The posterior of every target and whether its value is told rightly, and numbers of
/// targets: told, with a value, of these found and guessed.
fn to_r(risk: AttributeRisk) -> Robj {
    let worst = risk.worst;
    let targets = risk.targets;
    let number = |is: fn(&Target) -> bool| targets.iter().filter(|&t| is(t)).count() as f64;
    list!(
        posterior = optional(targets.iter().map(|target| target.posterior)),
        right = targets.iter().map(|target| target.right).collect_robj(),
        n_told = number(|target| target.told),
        n_known = number(|target| target.posterior.is_some()),
        n_found = number(|target| target.found && target.posterior.is_some()),
        n_guessed = number(|target| target.guessed),
        worst = list!(
            l_distinct = worst.l_distinct,
            l_entropy = worst.l_entropy,
            l_recursive = worst.l_recursive,
            t = worst.t,
            alpha = worst.alpha,
            beta = worst.beta,
            delta = worst.delta
        ),
        shares = risk.shares
    )
    .into()
}

extendr_module! {
    mod attribute_risk;
    fn rs_attribute_risk;
}
