//! `loglinear_risk()`: settings in, measures and one number per record out.

use extendr_api::prelude::*;
use sdcrisk_core::loglinear::{
    analyse, Analysis, Cells, Choice, Fractions, Measures, Request, Spread, Step,
};
use sdcrisk_core::{KeyTable, Result, SamplingFraction, Weights};

use crate::convert::{counts, list, optional, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

/// One model of one table.
struct Asked {
    weights: Option<Vec<f64>>,
    squares: Option<Vec<f64>>,
    request: Request,
}

impl Asked {
    fn new(given: &Named) -> Result<Self> {
        let fraction = given.optional_number("fraction")?;
        Ok(Self {
            weights: given.optional_doubles("weights")?,
            squares: given.optional_doubles("squares")?,
            request: Request {
                choice: choice(given)?,
                fraction: fraction.map(SamplingFraction::new).transpose()?,
                max_cells: given.optional_number("max_cells")?.unwrap_or(f64::INFINITY),
                fractions: fractions(&given.text("sampling")?)?,
                normal: given.optional_number("normal")?,
            },
        })
    }

    fn fit(&self, table: &KeyTable, run: &Run) -> Result<Robj> {
        let weights = self.weights.as_deref();
        let weights = weights
            .map(|w| Weights::new(w, table.n_rows())?.with_squares(self.squares.as_deref()))
            .transpose()?;
        let (cells, row_cell, found) = run.watched(|monitor| {
            let (cells, row_cell) = Cells::new(table, weights, monitor)?;
            let found = analyse(&cells, &self.request, monitor)?;
            Ok((cells, row_cell, found))
        })?;
        Ok(to_r(&cells, &row_cell, &found))
    }
}

/// Log-linear models, one of each table; `settings` has a list for every one of them.
#[extendr]
fn rs_loglinear(tables: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let run = Run::new(&run)?;
        let tables = list(&tables, "tables")?;
        let fits = (tables.values().zip(list(&settings, "settings")?.values()))
            .map(|(table, settings)| {
                let asked = Asked::new(&Named::new(&settings, "settings")?)?;
                with_table(&table, |table| asked.fit(table, &run))
            })
            .collect::<Result<Vec<Robj>>>()?;
        Ok(List::from_values(fits).into())
    })
}

fn fractions(sampling: &str) -> Result<Fractions> {
    Ok(match sampling {
        "overall" => Fractions::Overall,
        "cell" => Fractions::Cell,
        "raked" => Fractions::Raked,
        _ => return Err(bad_call("sampling")),
    })
}

/// `terms` holds the variables of every interaction of a model of its own.
fn choice(given: &Named) -> Result<Choice> {
    Ok(match given.text("model")?.as_str() {
        "independence" => Choice::Independence,
        "two_way" => Choice::TwoWay,
        "search" => Choice::Search,
        "terms" => Choice::Terms(given.index_lists("terms")?),
        _ => return Err(bad_call("model")),
    })
}

fn to_r(cells: &Cells, row_cell: &[u32], found: &Analysis) -> Robj {
    let pi = found.fraction.get();
    let per_row = |values: &[f64]| -> Vec<f64> {
        row_cell.iter().map(|&cell| values[cell as usize]).collect()
    };
    let unique: Vec<bool> = row_cell
        .iter()
        .map(|&cell| cells.counts()[cell as usize] < 1.5)
        .collect();
    let terms: Vec<Robj> = found
        .terms
        .iter()
        .map(|term| counts(term.iter().map(|&v| v as u32 + 1)))
        .collect();
    let path: Vec<&Measures> = found.path.iter().map(|s| &s.measures).collect();
    let tried: Vec<&Measures> = found.tried.iter().map(|s| &s.measures).collect();
    let pair = |i: usize| -> Vec<i32> {
        let of = |s: &Step| s.added.map_or(0, |p| p[i] as i32 + 1);
        found.path.iter().map(of).collect()
    };
    let tried_pair =
        |i: usize| -> Vec<i32> { found.tried.iter().map(|t| t.added[i] as i32 + 1).collect() };
    let kept: Vec<bool> = found.path.iter().map(|s| s.kept).collect();
    let steps: Vec<i32> = found.tried.iter().map(|t| t.step as i32).collect();
    let n_terms: Vec<i32> = found.path.iter().map(|s| s.n_terms as i32).collect();
    list!(
        n = cells.n_records(),
        n_cells = cells.n_table(),
        n_occupied = cells.len() as f64,
        n_below = found.n_below as f64,
        n_unique = found.n_unique as f64,
        n_alone = found.n_alone as f64,
        n_zero_margins = found.n_zero_margins as f64,
        n_parameters = found.n_parameters as f64,
        fraction = pi,
        population = cells.n_records() / pi,
        measures = measures(&[&found.measures]),
        spread = spread(found.spread.as_ref()),
        terms = List::from_values(terms),
        method = found.method,
        passes = found.report.passes as f64,
        deviation = found.report.deviation,
        path = measures(&path),
        path_first = pair(0),
        path_second = pair(1),
        path_kept = kept,
        path_n_terms = n_terms,
        tried = measures(&tried),
        tried_first = tried_pair(0),
        tried_second = tried_pair(1),
        tried_step = steps,
        n_too_large = found.n_too_large as f64,
        sample_unique = unique,
        tau1 = per_row(&found.h1),
        tau2 = per_row(&found.h2),
        lambda = per_row(&found.lambda)
    )
    .into()
}

/// File-level measures as a list of columns.
fn measures(rows: &[&Measures]) -> Robj {
    let column =
        |value: fn(&Measures) -> f64| -> Vec<f64> { rows.iter().map(|m| value(m)).collect() };
    let known = |value: fn(&Measures) -> Option<f64>| optional(rows.iter().map(|m| value(m)));
    list!(
        tau1 = column(|m| m.tau[0]),
        tau2 = column(|m| m.tau[1]),
        b1 = column(|m| m.b[0]),
        b2 = column(|m| m.b[1]),
        z1 = known(|m| m.z[0]),
        z2 = known(|m| m.z[1]),
        z1_robust = known(|m| m.z_robust[0]),
        z2_robust = known(|m| m.z_robust[1]),
        expected_uniques = column(|m| m.expected_uniques)
    )
    .into()
}

fn spread(found: Option<&Spread>) -> Robj {
    let column = |value: fn(&Spread, usize) -> Option<f64>| {
        optional((0..2).map(|i| found.and_then(|s| value(s, i))))
    };
    list!(
        se = column(|s, i| Some(s.se[i])),
        corrected = column(|s, i| Some(s.corrected[i])),
        corrected_se = column(|s, i| Some(s.corrected_se[i])),
        low = column(|s, i| Some(s.low[i])),
        high = column(|s, i| Some(s.high[i])),
        z = column(|s, i| s.z[i])
    )
    .into()
}

extendr_module! {
    mod loglinear;
    fn rs_loglinear;
}
