//! `risk_contribution()`: settings in, one number per record out.

use extendr_api::prelude::*;
use sdcrisk_core::association::kendall;
use sdcrisk_core::qar_risk::contribution::{contributions, surprisal};
use sdcrisk_core::qar_risk::entropy::entropy;
use sdcrisk_core::qar_risk::KeySets;

use crate::convert::{count, counts, doubles, optional};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::qar_risk::{estimates, tail_settings};
use crate::watch::watched;

/// Contributions of all records to the extreme risk at one level.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_risk_contribution(
    table: Robj,
    p: Robj,
    alpha: Robj,
    pi_u: Robj,
    pwm: Robj,
    theta_one: Robj,
    with_entropy: Robj,
    max_sets: Robj,
    threads: Robj,
    tick: Robj,
) -> Robj {
    guard(|| {
        let settings = tail_settings(&alpha, &pi_u, &pwm, &theta_one)?;
        let p = count(&p, "p")?;
        let max_sets = count(&max_sets, "max_sets")?;
        let threads = count(&threads, "threads")?;
        let with_entropy = with_entropy.as_bool().ok_or_else(|| bad_call("entropy"))?;
        with_table(&table, |table| {
            let sets = KeySets::new(table.columns().len(), p, max_sets)?;
            let (found, surprisal, entropy) = watched(threads, &tick, |monitor| {
                // What may be refused for its size comes first.
                let entropy = with_entropy
                    .then(|| entropy(table, sets, monitor))
                    .transpose()?;
                let found = contributions(table, sets, &settings, monitor)?;
                Ok((found, surprisal(table), entropy))
            })?;
            let (lower, upper, weight) = found.threshold_sets;
            let members = sets.members();
            let members_of = |set: u32| {
                let members = &members[set as usize * sets.p()..][..sets.p()];
                counts(members.iter().map(|&v| u32::from(v) + 1))
            };
            let flags = |of: fn(&(bool, bool)) -> bool| -> Vec<bool> {
                found.unique_at_threshold.iter().map(of).collect()
            };
            Ok(list!(
                whole = estimates(std::iter::once(Some(&found.whole))),
                contribution = optional(found.contribution.iter().copied()),
                u_plus = found.u_plus.clone(),
                u_star = found.u_star.clone(),
                n_unique_sets = counts(found.n_unique_sets.iter().copied()),
                surprisal = surprisal,
                entropy = entropy.map_or(r!(NULL), |e| r!(e)),
                lower = members_of(lower),
                upper = members_of(upper),
                upper_weight = weight,
                threshold_distinct =
                    counts([found.threshold_distinct.0, found.threshold_distinct.1].into_iter()),
                unique_lower = flags(|u| u.0),
                unique_upper = flags(|u| u.1),
                n_sets = sets.len() as f64,
                n_candidates = found.n_candidates as f64,
                n_patterns = found.n_patterns as f64
            )
            .into())
        })
    })
}

/// Kendall's rank correlation of two vectors without missing values.
#[extendr]
fn rs_kendall(x: Robj, y: Robj) -> Robj {
    guard(|| {
        let (x, y) = (doubles(&x, "x")?, doubles(&y, "y")?);
        Ok(optional(std::iter::once(kendall(x, y))))
    })
}

extendr_module! {
    mod contribution;
    fn rs_risk_contribution;
    fn rs_kendall;
}
