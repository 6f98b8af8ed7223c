//! `risk_contribution()`: settings in, one number per record out.

use extendr_api::prelude::*;
use sdcrisk_core::kendall::kendall;
use sdcrisk_core::qar_risk::{contributions, entropy, surprisal};
use sdcrisk_core::Result;

use crate::convert::{counts, double_vectors, list, optional, Named, Run};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;
use crate::qar_risk::{estimates, Tail};

/// Contributions of all records to the extreme risk at one level.
#[extendr]
fn rs_risk_contribution(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let tail = Tail::new(&settings)?;
        let with_entropy = settings.flag("entropy")?;
        with_table(&table, |table| {
            let sets = tail.sets(table)?;
            let (found, surprisal, entropy) = run.watched(|monitor| {
                // Computations that may be refused for their size come first.
                let entropy = with_entropy
                    .then(|| entropy(table, sets, monitor))
                    .transpose()?;
                let found = contributions(table, sets, &tail.settings, monitor)?;
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

/// Kendall's rank correlations of pairs of vectors without missing values: of every
/// list of two.
#[extendr]
fn rs_kendall(pairs: Robj) -> Robj {
    guard(|| {
        let taus = list(&pairs, "pairs")?
            .values()
            .map(|pair| match &double_vectors(&pair, "pairs")?[..] {
                [x, y] => Ok(kendall(x, y)),
                _ => Err(bad_call("pairs")),
            })
            .collect::<Result<Vec<Option<f64>>>>()?;
        Ok(optional(taus.into_iter()))
    })
}

extendr_module! {
    mod contribution;
    fn rs_risk_contribution;
    fn rs_kendall;
}
