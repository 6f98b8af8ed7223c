//! `removal_path()` and `removal_bound()`: orders in, risks after removal out.

use extendr_api::prelude::*;
use sdcrisk_core::qar_risk::{
    adaptive_path, count_sets, fixed_path, removal_bounds, Path, Plan, Rule,
};
use sdcrisk_core::Result;

use crate::convert::{indices, optional, positions, whole, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::qar_risk::{estimates, Tail};

/// Paths of records that go in given orders.
#[extendr]
fn rs_fixed_paths(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let block = settings.count("block")?;
        let orders = settings
            .list("orders")?
            .values()
            .map(|order| {
                let rows = indices(&order, "orders")?;
                Ok(rows.iter().map(|&row| row as u32).collect())
            })
            .collect::<Result<Vec<Vec<u32>>>>()?;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            let paths = run.watched(|monitor| {
                let counts = count_sets(table, sets, monitor)?;
                let path = |rows: &Vec<u32>| {
                    fixed_path(table, sets, &counts, rows, block, &tail.settings, monitor)
                };
                orders.iter().map(path).collect::<Result<Vec<Path>>>()
            })?;
            Ok(List::from_values(paths.iter().map(to_r)).into())
        })
    })
}

/// The path of records picked by a rule in the file as it then is.
#[extendr]
fn rs_adaptive_path(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let rule = match settings.text("by")?.as_str() {
            "proper" => Rule::Proper,
            "u_plus_updated" => Rule::UPlus,
            "top_count" => Rule::TopCount(settings.count("n_top")?),
            _ => return Err(bad_call("by")),
        };
        let plan = Plan {
            n: settings.count("n")?,
            block: settings.count("block")?,
        };
        let max_bytes = settings.number("max_memory")? as u64;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            let path = run.watched(|monitor| {
                adaptive_path(table, sets, rule, plan, &tail.settings, max_bytes, monitor)
            })?;
            Ok(to_r(&path))
        })
    })
}

fn to_r(path: &Path) -> Robj {
    list!(
        rows = positions(&path.rows),
        before = estimates(std::iter::once(Some(&path.before))),
        after = estimates(path.after.iter().map(Some)),
        n_kept = path.n_kept as f64
    )
    .into()
}

/// The least threshold and empirical quantile after removals.
#[extendr]
fn rs_removal_bounds(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let removals = whole(&settings.get("n")?, "n")?;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            let (whole, least) = run.watched(|monitor| {
                removal_bounds(table, sets, &removals, &tail.settings, monitor)
            })?;
            Ok(list!(
                whole = estimates(std::iter::once(Some(&whole))),
                threshold = optional(least.iter().map(|l| l.threshold)),
                risk_empirical = optional(least.iter().map(|l| l.risk_empirical))
            )
            .into())
        })
    })
}

extendr_module! {
    mod removal;
    fn rs_fixed_paths;
    fn rs_adaptive_path;
    fn rs_removal_bounds;
}
