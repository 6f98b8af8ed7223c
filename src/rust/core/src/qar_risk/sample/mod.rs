//! The extreme risk from a sample of key sets, where there are too many to
//! count.
//!
//! The pair counts bound the classes of a set: `H(S) <= H(ab) prod K` over the
//! other members, and at most the number of records. Sets of the highest
//! bounds are all counted; where they suffice to know every risk down to the
//! threshold, the result is exact. Otherwise the rest is cut into strata by
//! bound, each is sampled at random without replacement, and every set stands
//! for as many as its stratum has per set drawn. The error is that of the
//! design alone: the jackknife, the spread of the estimate when one random group
//! of the sample at a time is left out, and what one more draw above the
//! threshold would have changed.

mod design;
mod weighted;

use super::partition::{count_listed, SetCounts};
use super::tail::Position;
use super::{Estimate, Identifying, TailSettings};
use crate::error::Result;
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::random::Streams;

use design::{Bounds, Design, Drawn, GROUPS, STRATA};
use weighted::weighted_estimates;

/// Sets whose bounds are looked at; more are too many to draw from.
pub const MOST_SETS: usize = 100_000_000;

/// Key sets counted in place of all, and what they say.
#[derive(Debug, Clone)]
pub struct SampledRisk {
    /// Members of the sets counted, p entries a set, in `combn()` order.
    pub members: Vec<u16>,
    /// Their classes.
    pub counts: SetCounts,
    /// Sets counted because of their bounds.
    pub n_complete: usize,
    /// Those that identify every record.
    pub identifying: Identifying,
    /// True if no other set can identify every record.
    pub all_identifying: bool,
    /// True if the sets counted determine the result.
    pub exact: bool,
    /// One estimate per level.
    pub estimates: Vec<Estimate>,
    /// Standard error of the risk by design, per level.
    pub risk_se: Vec<Option<f64>>,
}

/// Counts at most about `max_sets` of the sets and estimates from them.
pub fn sampled_risk(
    table: &KeyTable,
    sets: KeySets,
    max_sets: usize,
    settings: &TailSettings,
    streams: Streams,
    monitor: &Monitor,
) -> Result<SampledRisk> {
    let bounds = Bounds::new(table, sets, monitor)?;
    let design = Design::new(&bounds, max_sets, monitor)?;
    let drawn = design.draw(&bounds, streams, monitor)?;
    let p = sets.p();
    let listed: Vec<Vec<usize>> = drawn
        .members
        .chunks(p)
        .map(|set| set.iter().map(|&v| usize::from(v)).collect())
        .collect();
    monitor.set_total(listed.len() as u64);
    let mut counts = SetCounts::default();
    for tally in count_listed(table, &listed, monitor)? {
        counts.push(tally);
    }
    let n_records = table.n_records();
    let exact = design.settles(&counts, &drawn, sets.len(), n_records, settings);
    let counted = Counted {
        design: &design,
        drawn: &drawn,
        distinct: &counts.distinct,
        n_sets: sets.len(),
        n_records,
        settings,
    };
    let estimates = counted.estimates(&counted.values(None));
    let risk_se = if exact {
        vec![Some(0.0); settings.alpha.len()]
    } else {
        counted.standard_errors(&estimates)
    };
    let of_members = drawn.members.chunks(p).zip(counts.distinct.iter().copied());
    Ok(SampledRisk {
        identifying: Identifying::new(of_members, sets.n_keys(), n_records),
        all_identifying: design.rest_at_most < n_records as f64 || listed.len() == sets.len(),
        members: drawn.members,
        counts,
        n_complete: design.sizes[0],
        exact,
        estimates,
        risk_se,
    })
}

/// The sets counted, and what is asked of them.
struct Counted<'a> {
    design: &'a Design,
    drawn: &'a Drawn,
    /// Per set, its classes.
    distinct: &'a [u32],
    n_sets: usize,
    n_records: u64,
    settings: &'a TailSettings,
}

impl Counted<'_> {
    /// Counts in falling order, each with the number of sets it stands for, without
    /// one of the random groups.
    fn values(&self, left_out: Option<u8>) -> Vec<(u32, f64)> {
        let drawn = self.drawn;
        let mut in_stratum = [0usize; STRATA + 1];
        let chosen =
            |i: &usize| drawn.stratum[*i] == 0 || left_out.is_none_or(|g| drawn.group[*i] != g);
        let places: Vec<usize> = (0..self.distinct.len()).filter(chosen).collect();
        for &i in &places {
            in_stratum[usize::from(drawn.stratum[i])] += 1;
        }
        let mut values: Vec<(u32, f64)> = places
            .into_iter()
            .map(|i| {
                let h = usize::from(drawn.stratum[i]);
                let weight = self.design.sizes[h] as f64 / in_stratum[h] as f64;
                (self.distinct[i], weight)
            })
            .collect();
        values.sort_by_key(|&(h, _)| std::cmp::Reverse(h));
        values
    }

    fn estimates(&self, values: &[(u32, f64)]) -> Vec<Estimate> {
        weighted_estimates(values, self.n_sets, self.n_records, self.settings)
    }

    /// Per level, the error by design; none where too few sets were drawn.
    fn standard_errors(&self, estimates: &[Estimate]) -> Vec<Option<f64>> {
        let n_drawn = self.drawn.stratum.iter().filter(|&&h| h > 0).count();
        let n_strata = self.design.sizes.iter().skip(1).filter(|&&n| n > 0).count();
        if n_drawn < 2 * GROUPS * n_strata {
            return vec![None; estimates.len()];
        }
        let groups: Vec<Vec<Estimate>> = (0..GROUPS as u8)
            .map(|g| self.estimates(&self.values(Some(g))))
            .collect();
        // Sampling without replacement: what was counted has no error.
        let left = 1.0 - self.distinct.len() as f64 / self.n_sets as f64;
        let one_more = self.with_one_more(&self.values(None));
        (0..estimates.len())
            .map(|a| {
                let jackknife = standard_error(groups.iter().map(|e| e[a].risk), left)?;
                let unseen = one_more[a].risk? - estimates[a].risk?;
                Some(jackknife.hypot(unseen * left.sqrt()))
            })
            .collect()
    }

    /// The estimates had one more set been drawn as risky as the riskiest drawn, or
    /// as the least risky above the threshold. Where few sets beyond those counted
    /// whole reach the tail, a sample may miss them, and the jackknife cannot see
    /// what no draw shows.
    fn with_one_more(&self, all: &[(u32, f64)]) -> Vec<Estimate> {
        let weight = (1..=STRATA)
            .filter(|&h| self.design.draws[h] > 0)
            .map(|h| self.design.sizes[h] as f64 / self.design.draws[h] as f64)
            .fold(0.0, f64::max);
        let k = Position::exceeded_by(self.n_sets, self.settings.pi_u).n_top(self.n_sets);
        let mut above = 0.0;
        let threshold = all.iter().find(|(_, w)| {
            above += w;
            above >= k as f64 * (1.0 - 1e-9)
        });
        let at_least = threshold.map_or(0, |t| t.0);
        let above = all.iter().rev().map(|v| v.0).find(|&h| h > at_least);
        // Sets drawn, and none counted whole, weigh more than one.
        let drawn = all.iter().find(|v| v.1 > 1.0).map(|v| v.0);
        let risky = above.max(drawn).unwrap_or(at_least);
        let mut more = all.to_vec();
        more.insert(all.partition_point(|v| v.0 > risky), (risky, weight));
        self.estimates(&more)
    }
}

/// Standard error by the jackknife over groups, `left` being the share of sets
/// not counted.
fn standard_error(risks: impl Iterator<Item = Option<f64>>, left: f64) -> Option<f64> {
    let risks: Vec<f64> = risks.collect::<Option<_>>()?;
    let n = risks.len() as f64;
    let mean = risks.iter().sum::<f64>() / n;
    let squares: f64 = risks.iter().map(|r| (r - mean).powi(2)).sum();
    Some((left * squares * (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests;
