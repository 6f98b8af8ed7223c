//! `n_matches()`: key sets and relations in, numbers per target out.

use std::borrow::Cow;

use extendr_api::prelude::*;
use sdcrisk_core::key_table::Column;
use sdcrisk_core::n_matches::{
    n_matches, Algorithm, Answer, Diversity, Pieces, Question, Relation, Rule, Sensitive, Settings,
};
use sdcrisk_core::{KeyTable, Missing, Monitor, Result, Weights};

use crate::convert::{
    counts, doubles, indices, integers, list, optional, positions, text, Named, Run,
};
use crate::guard::{bad_call, guard};
use crate::key_table::{n_cells, with_table};

/// Matches of the records of `table`, or of the rows of outside targets, on each of
/// some sets of its columns. `missing` has a word for each column; records that miss a
/// value of one with "exclude" are left out, and `rows` says which are left.
#[extendr]
fn rs_n_matches(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let asked = Asked::new(&settings)?;
        let run = Run::new(&run)?;
        let sensitive = sensitive_columns(settings.optional("sensitive")?)?;
        with_optional(settings.optional("households")?, |households| {
            with_optional(settings.optional("targets")?, |targets| {
                with_table(&table, |table| {
                    let households = households.map(|t| &t.columns()[0]);
                    let steps = asked.sets.iter().map(|set| set.steps(table, targets));
                    let steps = steps.fold(0, usize::saturating_add);
                    let found: Vec<Answer> = run.brief(steps, |monitor| {
                        let answer = |set| {
                            asked.answer(set, table, targets, &sensitive, households, monitor)
                        };
                        asked.sets.iter().map(answer).collect()
                    })?;
                    Ok(List::from_values(found.into_iter().map(to_r)).into())
                })
            })
        })
    })
}

/// The columns of a list of tables, each with whether its values are ordered.
fn sensitive_columns(tables: Option<Robj>) -> Result<Vec<Sensitive<'static>>> {
    let Some(tables) = tables else {
        return Ok(Vec::new());
    };
    let tables = list(&tables, "sensitive")?;
    let column = |of: Robj| {
        let of = Named::new(&of, "sensitive")?;
        let column = with_table(&of.get("table")?, |table| Ok(table.columns()[0].clone()))?;
        Ok(Sensitive {
            column: Cow::Owned(column),
            ordered: of.flag("ordered")?,
        })
    };
    tables.values().map(column).collect()
}

/// Runs `work` on the table behind a pointer, or without one.
fn with_optional<T>(
    pointer: Option<Robj>,
    work: impl FnOnce(Option<&KeyTable>) -> Result<T>,
) -> Result<T> {
    match pointer {
        Some(pointer) => with_table(&pointer, |table| work(Some(table))),
        None => work(None),
    }
}

/// Description of the values of a column by R.
enum Values {
    Plain,
    Within(Vec<f64>, f64),
    Pieces(Pieces),
    Sets(Vec<Vec<u32>>),
}

/// NULL for plain values, or a list with a `kind`.
fn values(x: &Robj) -> Result<Values> {
    if x.is_null() {
        return Ok(Values::Plain);
    }
    let parts = Named::new(x, "relations")?;
    let part = |name: &str| parts.get(name);
    match text(&part("kind")?, "relations")? {
        "within" => {
            let tolerance = part("tolerance")?;
            let tolerance = doubles(&tolerance, "relations")?;
            let tolerance = tolerance.first().ok_or_else(|| bad_call("relations"))?;
            let values = doubles(&part("values")?, "relations")?.to_vec();
            Ok(Values::Within(values, *tolerance))
        }
        "pieces" => {
            let (low, high, sizes) = (part("low")?, part("high")?, part("sizes")?);
            let high = doubles(&high, "relations")?.iter().copied();
            let ends = doubles(&low, "relations")?.iter().copied().zip(high);
            let sizes = integers(&sizes, "relations")?.iter();
            let sizes: Vec<usize> = sizes.map(|&size| size.max(0) as usize).collect();
            Ok(Values::Pieces(Pieces::new(ends.collect(), &sizes)?))
        }
        "sets" => {
            let sets = list(&part("sets")?, "relations")?
                .values()
                .map(|set| {
                    let values = indices(&set, "relations")?;
                    Ok(values.into_iter().map(|v| v as u32).collect())
                })
                .collect::<Result<Vec<Vec<u32>>>>()?;
            Ok(Values::Sets(sets))
        }
        _ => Err(bad_call("relations")),
    }
}

impl Values {
    fn relation(&self, rule: Rule, monitor: &Monitor) -> Result<Relation> {
        match self {
            Values::Plain => Ok(Relation::Equal),
            Values::Within(values, tolerance) => Relation::within(values, *tolerance),
            Values::Pieces(pieces) => Relation::of_pieces(pieces, rule, monitor),
            Values::Sets(sets) => Relation::of_sets(sets, rule, monitor),
        }
    }
}

/// Key sets and how to match.
struct Asked {
    sets: Vec<KeySet>,
    rule: Rule,
    min_overlap: usize,
    partial_weight: f64,
    weights: Option<Vec<f64>>,
    squares: Option<Vec<f64>>,
}

struct KeySet {
    columns: Vec<usize>,
    relations: Vec<Values>,
    keys: Vec<Vec<usize>>,
    missing: Vec<Missing>,
}

impl KeySet {
    fn new(given: &Named) -> Result<Self> {
        let words = given.get("missing")?;
        let words = words.as_str_vector().ok_or_else(|| bad_call("missing"))?;
        Ok(Self {
            columns: given.indices("columns")?,
            relations: (given.list("relations")?.values())
                .map(|relation| values(&relation))
                .collect::<Result<_>>()?,
            keys: given.index_lists("keys")?,
            missing: (words.into_iter())
                .map(str::parse)
                .collect::<Result<Vec<Missing>>>()?,
        })
    }

    /// Steps of the search: one for every cell where values match themselves alone, and
    /// at most one for every pair of rows where some match others.
    fn steps(&self, table: &KeyTable, targets: Option<&KeyTable>) -> usize {
        let targets = targets.unwrap_or(table);
        let plain = self.relations.iter().all(|v| matches!(v, Values::Plain));
        let complete = |t: &KeyTable| {
            let mut columns = self.columns.iter().filter_map(|&v| t.columns().get(v));
            columns.all(|column| column.n_missing() == 0)
        };
        match plain && complete(table) && complete(targets) {
            true => n_cells(table).max(n_cells(targets)),
            false => table.n_rows().saturating_mul(targets.n_rows()),
        }
    }

    /// The table of the columns asked for.
    fn part(&self, table: &KeyTable) -> Result<KeyTable> {
        let columns = self.columns.iter().map(|&v| {
            let column = table.columns().get(v);
            column.cloned().ok_or_else(|| bad_call("columns"))
        });
        let part = KeyTable::new(columns.collect::<Result<_>>()?)?;
        part.with_multiplicity_of(table)
    }
}

impl Asked {
    fn new(given: &Named) -> Result<Self> {
        Ok(Self {
            sets: (given.list("sets")?.values())
                .map(|set| KeySet::new(&Named::new(&set, "sets")?))
                .collect::<Result<_>>()?,
            rule: match given.text("rule")?.as_str() {
                "first" => Rule::First,
                "overlap" => Rule::Overlap,
                "mean" => Rule::Mean,
                _ => return Err(bad_call("rule")),
            },
            min_overlap: given.count("min_overlap")?,
            partial_weight: given.number("partial_weight")?,
            weights: given.optional_doubles("weights")?,
            squares: given.optional_doubles("squares")?,
        })
    }

    fn answer(
        &self,
        set: &KeySet,
        table: &KeyTable,
        targets: Option<&KeyTable>,
        sensitive: &[Sensitive<'_>],
        households: Option<&Column>,
        monitor: &Monitor,
    ) -> Result<Answer> {
        let file = set.part(table)?;
        let targets = targets.map(|t| set.part(t)).transpose()?;
        let relations = (set.relations.iter())
            .map(|values| values.relation(self.rule, monitor))
            .collect::<Result<Vec<Relation>>>()?;
        let settings = Settings {
            missing: &set.missing,
            keys: &set.keys,
            min_overlap: self.min_overlap,
            partial_weight: self.partial_weight,
            weights: (self.weights.as_deref())
                .map(|w| Weights::new(w, table.n_rows())?.with_squares(self.squares.as_deref()))
                .transpose()?,
            sensitive,
            households,
            ..Settings::default()
        };
        n_matches(
            &Question::new(&file, targets.as_ref(), relations, settings)?,
            monitor,
        )
    }
}

/// Diversity of sensitive values, not determined without any.
fn diversity(found: &[Diversity]) -> Robj {
    let number =
        |of: fn(&Diversity) -> f64| optional(found.iter().map(|d| (d.n_values > 0).then(|| of(d))));
    list!(
        n_sensitive = counts(found.iter().map(|d| d.n_values)),
        l_entropy = number(|d| d.l_entropy),
        t_closeness = number(|d| d.t_closeness)
    )
    .into()
}

fn to_r(answer: Answer) -> Robj {
    let whole = answer.whole && answer.matches.iter().all(|&m| m <= f64::from(i32::MAX));
    let matches: Robj = if whole {
        answer.matches.iter().map(|&m| m as i32).collect_robj()
    } else {
        answer.matches.into()
    };
    let numbers = |x: Option<Vec<f64>>| x.map_or(r!(NULL), |x| r!(x));
    let whole_numbers = |x: Option<Vec<u32>>| x.map_or(r!(NULL), |x| counts(x.into_iter()));
    let rows = |x: Option<Vec<u32>>| x.map_or(r!(NULL), |x| positions(&x));
    list!(
        n_matches = matches,
        n_matches_weighted = numbers(answer.weighted),
        weighted_squares = numbers(answer.weighted_squares),
        sensitive = List::from_values(answer.sensitive.iter().map(|found| diversity(found))),
        n_households = whole_numbers(answer.n_households),
        households_weighted = numbers(answer.households_weighted),
        n_complete = answer.n_complete as f64,
        n_unique_complete = answer.n_unique_complete as f64,
        n_patterns = answer.n_patterns as f64,
        algorithm = match answer.algorithm {
            Algorithm::Dense => "dense",
            _ => "walk",
        },
        rows = rows(answer.rows),
        target_rows = rows(answer.target_rows)
    )
    .into()
}

extendr_module! {
    mod n_matches;
    fn rs_n_matches;
}
