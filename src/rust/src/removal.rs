//! `removal_path()` and `removal_bound()`: orders in, risks after removal out.

use extendr_api::prelude::*;
use sdcrisk_core::qar_risk::bound::removal_bounds;
use sdcrisk_core::qar_risk::planes::count_sets;
use sdcrisk_core::qar_risk::removal::{adaptive_path, fixed_path, Path, Plan, Rule};
use sdcrisk_core::qar_risk::KeySets;

use crate::convert::{count, doubles, indices, list, optional, positions, text};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::qar_risk::{estimates, tail_settings};
use crate::watch::watched;

/// Paths of records that go in given orders.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_fixed_paths(
    table: Robj,
    p: Robj,
    alpha: Robj,
    pi_u: Robj,
    pwm: Robj,
    theta_one: Robj,
    orders: Robj,
    block: Robj,
    max_sets: Robj,
    threads: Robj,
    tick: Robj,
) -> Robj {
    guard(|| {
        let settings = tail_settings(&alpha, &pi_u, &pwm, &theta_one)?;
        let p = count(&p, "p")?;
        let block = count(&block, "block")?;
        let max_sets = count(&max_sets, "max_sets")?;
        let threads = count(&threads, "threads")?;
        let orders = list(&orders, "orders")?
            .values()
            .map(|order| {
                Ok(indices(&order, "orders")?
                    .iter()
                    .map(|&i| i as u32)
                    .collect())
            })
            .collect::<sdcrisk_core::Result<Vec<Vec<u32>>>>()?;
        with_table(&table, |table| {
            let sets = KeySets::new(table.columns().len(), p, max_sets)?;
            let paths = watched(threads, &tick, |monitor| {
                let counts = count_sets(table, sets, monitor)?;
                orders
                    .iter()
                    .map(|rows| fixed_path(table, sets, &counts, rows, block, &settings, monitor))
                    .collect::<sdcrisk_core::Result<Vec<Path>>>()
            })?;
            Ok(List::from_values(paths.iter().map(to_r)).into())
        })
    })
}

/// The path of records picked by a rule in the file as it then is.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_adaptive_path(
    table: Robj,
    p: Robj,
    alpha: Robj,
    pi_u: Robj,
    pwm: Robj,
    theta_one: Robj,
    rule: Robj,
    n_top: Robj,
    n: Robj,
    block: Robj,
    max_bytes: Robj,
    max_sets: Robj,
    threads: Robj,
    tick: Robj,
) -> Robj {
    guard(|| {
        let settings = tail_settings(&alpha, &pi_u, &pwm, &theta_one)?;
        let p = count(&p, "p")?;
        let rule = match text(&rule, "rule")? {
            "proper" => Rule::Proper,
            "u_plus_updated" => Rule::UPlus,
            "top_count" => Rule::TopCount(count(&n_top, "n_top")?),
            _ => return Err(bad_call("rule")),
        };
        let plan = Plan {
            n: count(&n, "n")?,
            block: count(&block, "block")?,
        };
        let max_bytes = match doubles(&max_bytes, "max_bytes")? {
            [bytes] => *bytes as u64,
            _ => return Err(bad_call("max_bytes")),
        };
        let max_sets = count(&max_sets, "max_sets")?;
        let threads = count(&threads, "threads")?;
        with_table(&table, |table| {
            let sets = KeySets::new(table.columns().len(), p, max_sets)?;
            let path = watched(threads, &tick, |monitor| {
                adaptive_path(table, sets, rule, plan, &settings, max_bytes, monitor)
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
#[allow(clippy::too_many_arguments)]
fn rs_removal_bounds(
    table: Robj,
    p: Robj,
    alpha: Robj,
    pi_u: Robj,
    pwm: Robj,
    theta_one: Robj,
    n: Robj,
    max_sets: Robj,
    threads: Robj,
    tick: Robj,
) -> Robj {
    guard(|| {
        let settings = tail_settings(&alpha, &pi_u, &pwm, &theta_one)?;
        let p = count(&p, "p")?;
        let removals: Vec<u32> = indices(&n, "n")?.iter().map(|&i| i as u32 + 1).collect();
        let max_sets = count(&max_sets, "max_sets")?;
        let threads = count(&threads, "threads")?;
        with_table(&table, |table| {
            let sets = KeySets::new(table.columns().len(), p, max_sets)?;
            let (whole, least) = watched(threads, &tick, |monitor| {
                removal_bounds(table, sets, &removals, &settings, monitor)
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
