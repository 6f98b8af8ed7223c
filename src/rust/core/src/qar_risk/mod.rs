//! Extreme re-identification risk over all key sets of size p (QaR).
//!
//! # Formula
//!
//! A file has L records and N key variables. A key set j of p of them takes
//! `H(j)` distinct values; its risk is `theta(j) = H(j) / L`. The extreme risk
//! `T(p, alpha)` is the 1 - alpha quantile of the N_p = choose(N, p) risks,
//! estimated from those above their empirical `1 - pi_u` quantile u by a
//! generalised Pareto distribution on the logit scale.
//!
//! Source: Bera et al. (2023), hal-04165346, section 2.
//!
//! [`KeySets`] enumerates the sets, `planes` counts their classes with the
//! help of `partition`, `tail` fits and extrapolates; this page puts them
//! together.

mod bound;
mod contribution;
mod entropy;
mod households;
mod partition;
mod planes;
mod removal;
mod sample;
mod tail;
mod ties;
mod uniqueness;
mod walk;

pub use bound::removal_bounds;
pub use contribution::{contributions, surprisal};
pub use entropy::entropy;
pub use households::{qar_risk_of_households, HouseholdQar};
pub use partition::{count_sets as count_sets_by_partition, SetCounts};
pub use planes::{count_sets, top_sets};
pub use removal::{adaptive_path, fixed_path, Path, Plan, Rule};
pub use sample::{sampled_risk, MOST_SETS};
pub use tail::Pwm;

use tail::{fit_tail, Position, TopRisks};

use crate::error::{Error, Result};
use crate::key_sets::{binomial, KeySets};
use crate::key_table::{Column, KeyTable};
use crate::parallel::Monitor;
use crate::probability::Probability;

/// Treatment of key sets that identify every record, whose logit is infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThetaOne {
    /// The extreme risk is one.
    One,
    /// Count half a class less.
    Clamp,
    /// Leave these sets out.
    Exclude,
}

/// Settings of fitting and reading the tail.
#[derive(Debug, Clone, PartialEq)]
pub struct TailSettings {
    /// Levels at which the extreme risk is wanted; none exceeds `pi_u`.
    pub alpha: Vec<Probability>,
    /// Share of key sets above the threshold.
    pub pi_u: Probability,
    /// Weights of the moments.
    pub pwm: Pwm,
    /// Treatment of risks of one.
    pub theta_one: ThetaOne,
}

/// Reliability of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Ten exceedances or more.
    Ok,
    /// One to nine exceedances.
    Few,
    /// No risk above the threshold: the extreme risk is the threshold.
    NoExceedance,
    /// A key set identifies every record.
    ThetaOne,
    /// There is one key set: the extreme risk is its risk.
    Single,
}

impl Status {
    /// The word users see.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Few => "few",
            Status::NoExceedance => "no_exceedance",
            Status::ThetaOne => "theta_one",
            Status::Single => "single",
        }
    }
}

/// The extreme risk at one level; `None` is not determined.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The extreme risk T.
    pub risk: Option<f64>,
    /// The empirical 1 - alpha quantile of the risks.
    pub risk_empirical: Option<f64>,
    /// The threshold u.
    pub threshold: Option<f64>,
    /// Shape of the tail.
    pub shape: Option<f64>,
    /// Scale of the tail.
    pub scale: Option<f64>,
    /// Risks above the threshold.
    pub n_exceedances: usize,
    /// Key sets used.
    pub n_sets: usize,
    /// The largest of these risks.
    pub largest: Option<f64>,
    /// True if the largest risk lies below the end point of the fitted tail.
    pub feasible: bool,
    /// True if all risks above the threshold are equal, so that unbiased
    /// weights give no shape.
    pub equal: bool,
    /// Reliability.
    pub status: Status,
}

/// Share of sets that count as "top" in [`KeyProfile::share_top`].
pub const TOP_SHARE: f64 = 0.05;

/// Effect of one key variable on the extreme risk.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyProfile {
    /// Share of the riskiest sets that contain it.
    pub share_top: f64,
    /// The extreme risk of the file without it, per level; `None` when too
    /// few key variables remain.
    pub risk_without: Vec<Option<f64>>,
}

/// The key sets among those counted that identify every record.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifying {
    /// Number of key sets.
    pub n: usize,
    /// Number of them that contain each key variable.
    pub containing: Vec<usize>,
}

impl Identifying {
    /// From sets of members and their distinct counts.
    pub fn new<'a>(
        sets: impl Iterator<Item = (&'a [u16], u32)>,
        n_keys: usize,
        n_records: u64,
    ) -> Self {
        let mut found = Self {
            n: 0,
            containing: vec![0; n_keys],
        };
        for (members, _) in sets.filter(|&(_, h)| u64::from(h) == n_records) {
            found.n += 1;
            for &key in members {
                found.containing[usize::from(key)] += 1;
            }
        }
        found
    }
}

/// The whole analysis for one p.
#[derive(Debug, Clone, PartialEq)]
pub struct QarRisk {
    /// Classes per key set, in `combn()` order.
    pub counts: SetCounts,
    /// Indices of the sets by falling risk, ties in `combn()` order.
    pub order: Vec<u32>,
    /// Members of the sets in `combn()` order, p entries a set.
    pub members: Vec<u16>,
    /// One per level.
    pub estimates: Vec<Estimate>,
    /// One per level, sets of risk one left out; empty when there is none.
    pub without_theta_one: Vec<Estimate>,
    /// One per key variable.
    pub keys: Vec<KeyProfile>,
    /// Key sets that identify every record.
    pub identifying: Identifying,
    /// Values of every key variable that occur, missing being one.
    pub key_distinct: Vec<u32>,
    /// Per threshold share of the grid, one per level; levels above the share
    /// have no estimate.
    pub sensitivity: Vec<Vec<Option<Estimate>>>,
}

/// Counts all key sets of size `p` and fits the tail of their risks.
pub fn qar_risk(
    table: &KeyTable,
    sets: KeySets,
    settings: &TailSettings,
    grid: &[Probability],
    monitor: &Monitor,
) -> Result<QarRisk> {
    let counts = planes::count_sets(table, sets, monitor)?;
    let key_distinct = table.columns().iter().map(Column::n_distinct).collect();
    Ok(judged(
        counts,
        key_distinct,
        sets,
        table.n_records(),
        settings,
        grid,
    ))
}

/// Risk from counts that were made elsewhere, of a file with `n_records` records whose key
/// variables have `key_distinct` values, missing being one.
///
/// # Errors
///
/// If there is not one count for every key set and key variable, or a key set has
/// none or more values than there are records.
pub fn qar_risk_of_counts(
    counts: SetCounts,
    key_distinct: Vec<u32>,
    sets: KeySets,
    n_records: u64,
    settings: &TailSettings,
    grid: &[Probability],
) -> Result<QarRisk> {
    let complete = [&counts.distinct, &counts.unique, &counts.pairs]
        .iter()
        .all(|counted| counted.len() == sets.len());
    let possible = |&distinct: &u32| distinct > 0 && u64::from(distinct) <= n_records;
    if !complete
        || key_distinct.len() != sets.n_keys()
        || !counts.distinct.iter().chain(&key_distinct).all(possible)
    {
        return Err(Error::BadArgument(
            "Every key set must have counts that fit the number of records.".into(),
        ));
    }
    Ok(judged(
        counts,
        key_distinct,
        sets,
        n_records,
        settings,
        grid,
    ))
}

/// Results from the counts of all key sets of a file with `n_records`.
fn judged(
    counts: SetCounts,
    key_distinct: Vec<u32>,
    sets: KeySets,
    n_records: u64,
    settings: &TailSettings,
    grid: &[Probability],
) -> QarRisk {
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.sort_by_key(|&set| std::cmp::Reverse(counts.distinct[set as usize]));
    let members = sets.members();
    let falling = || order.iter().map(|&set| counts.distinct[set as usize]);
    let estimates = estimate(falling(), sets.len(), n_records, settings);
    let identifies_all = falling().next().map(u64::from) == Some(n_records);
    let without_theta_one = if identifies_all {
        let left_out = TailSettings {
            theta_one: ThetaOne::Exclude,
            ..settings.clone()
        };
        estimate(falling(), sets.len(), n_records, &left_out)
    } else {
        Vec::new()
    };
    let sensitivity = grid
        .iter()
        .map(|&pi_u| {
            let alpha: Vec<Probability> = settings
                .alpha
                .iter()
                .copied()
                .filter(|&a| a <= pi_u)
                .collect();
            let at = TailSettings {
                alpha,
                pi_u,
                ..settings.clone()
            };
            let mut found = estimate(falling(), sets.len(), n_records, &at).into_iter();
            settings
                .alpha
                .iter()
                .map(|&a| if a <= pi_u { found.next() } else { None })
                .collect()
        })
        .collect();
    let keys = key_profiles(sets, &members, &order, &counts.distinct, |falling, n| {
        estimate(falling, n, n_records, settings)
    });
    let listed = members
        .chunks(sets.p())
        .zip(counts.distinct.iter().copied());
    let identifying = Identifying::new(listed, sets.n_keys(), n_records);
    QarRisk {
        counts,
        order,
        members,
        estimates,
        without_theta_one,
        keys,
        identifying,
        key_distinct,
        sensitivity,
    }
}

/// The extreme risk alone.
#[derive(Debug, Clone, PartialEq)]
pub enum RiskAlone {
    /// From the sets that matter, the others excluded by bounds.
    Pruned {
        /// One estimate per level.
        estimates: Vec<Estimate>,
        /// Share of the sets that were counted.
        share_counted: f64,
        /// Values of every key variable that occur, missing being one.
        key_distinct: Vec<u32>,
    },
    /// A set identifies every record: all sets were counted to say which do.
    Whole(Box<QarRisk>),
}

/// The extreme risk without the table of all sets: the same numbers as
/// [`qar_risk`], from the sets that can reach the threshold.
pub fn risk_alone(
    table: &KeyTable,
    sets: KeySets,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<RiskAlone> {
    let n_top = Position::exceeded_by(sets.len(), settings.pi_u).n_top(sets.len());
    let top = planes::top_sets(table, sets, n_top, monitor)?;
    let n_records = table.n_records();
    if top.distinct.first().map(|&h| u64::from(h)) == Some(n_records) {
        let whole = qar_risk(table, sets, settings, &[], monitor)?;
        return Ok(RiskAlone::Whole(Box::new(whole)));
    }
    Ok(RiskAlone::Pruned {
        estimates: estimate(top.distinct.into_iter(), sets.len(), n_records, settings),
        share_counted: top.share_counted,
        key_distinct: table.columns().iter().map(Column::n_distinct).collect(),
    })
}

/// Share of every key variable in the top sets, and the risk without it.
fn key_profiles(
    sets: KeySets,
    members: &[u16],
    order: &[u32],
    distinct: &[u32],
    estimate: impl Fn(&mut dyn Iterator<Item = u32>, usize) -> Vec<Estimate>,
) -> Vec<KeyProfile> {
    let members_of = |set: u32| &members[set as usize * sets.p()..][..sets.p()];
    let n_top = (TOP_SHARE * sets.len() as f64).ceil() as usize;
    let mut in_top = vec![0usize; sets.n_keys()];
    for &set in &order[..n_top] {
        for &key in members_of(set) {
            in_top[usize::from(key)] += 1;
        }
    }
    let n_without = binomial(sets.n_keys() as u64 - 1, sets.p() as u64).unwrap_or(0) as usize;
    (0..sets.n_keys())
        .map(|key| KeyProfile {
            share_top: in_top[key] as f64 / n_top as f64,
            risk_without: {
                let mut falling = order
                    .iter()
                    .filter(|&&set| !members_of(set).contains(&(key as u16)))
                    .map(|&set| distinct[set as usize]);
                estimate(&mut falling, n_without)
                    .iter()
                    .map(|e| e.risk)
                    .collect()
            },
        })
        .collect()
}

/// Estimates from the distinct counts of `n_sets` sets in falling order. Only
/// the counts that can matter are drawn from `falling`.
pub fn estimate(
    falling: impl Iterator<Item = u32>,
    n_sets: usize,
    n_records: u64,
    settings: &TailSettings,
) -> Vec<Estimate> {
    // Twice the counts over twice the records: half a class is a whole number.
    let denominator = 2 * n_records;
    let mut falling = falling.map(u64::from).peekable();
    let mut ones = 0usize;
    while falling.next_if_eq(&n_records).is_some() {
        ones += 1;
    }
    let n = match settings.theta_one {
        ThetaOne::Exclude => n_sets - ones,
        ThetaOne::One | ThetaOne::Clamp => n_sets,
    };
    if n == 0 {
        let status = if ones > 0 {
            Status::ThetaOne
        } else {
            Status::Single
        };
        return vec![undetermined(status); settings.alpha.len()];
    }
    let (n_ones, one) = match settings.theta_one {
        ThetaOne::Exclude => (0, 0),
        ThetaOne::One => (ones, denominator),
        ThetaOne::Clamp => (ones, denominator - 1),
    };
    let n_top = Position::exceeded_by(n, settings.pi_u).n_top(n);
    let numerators: Vec<u64> = std::iter::repeat_n(one, n_ones)
        .chain(falling.map(|h| 2 * h))
        .take(n_top)
        .collect();
    let risks = TopRisks {
        numerators: &numerators,
        denominator,
        n,
    };
    let certain = ones > 0 && settings.theta_one == ThetaOne::One;
    let tail = if certain {
        // The logit of one is infinite: only the threshold exists.
        None
    } else {
        Some(fit_tail(risks, settings.pi_u, settings.pwm))
    };
    let threshold = risks.exceeded_by(settings.pi_u);
    let n_exceedances = risks.above(threshold).len();
    let status = match (certain, n, n_exceedances) {
        (true, _, _) => Status::ThetaOne,
        (_, 1, _) => Status::Single,
        (_, _, 0) => Status::NoExceedance,
        (_, _, 1..=9) => Status::Few,
        _ => Status::Ok,
    };
    let shape_scale = tail.and_then(|t| t.shape_scale);
    settings
        .alpha
        .iter()
        .map(|&alpha| Estimate {
            risk: match &tail {
                None => Some(1.0),
                Some(tail) => tail.risk(alpha),
            },
            risk_empirical: Some(risks.exceeded_by(alpha)),
            threshold: Some(threshold),
            shape: shape_scale.map(|s| s.0),
            scale: shape_scale.map(|s| s.1),
            n_exceedances,
            n_sets: n,
            largest: Some(risks.ratio(numerators[0])),
            feasible: tail.is_none_or(|t| t.feasible),
            equal: tail.is_some_and(|t| t.equal),
            status,
        })
        .collect()
}

fn undetermined(status: Status) -> Estimate {
    Estimate {
        risk: None,
        risk_empirical: None,
        threshold: None,
        shape: None,
        scale: None,
        n_exceedances: 0,
        n_sets: 0,
        largest: None,
        feasible: true,
        equal: false,
        status,
    }
}

#[cfg(test)]
mod contribution_tests;
#[cfg(test)]
mod removal_tests;
#[cfg(test)]
mod tests;
