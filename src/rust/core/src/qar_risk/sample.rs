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

use rand::seq::SliceRandom;
use rand::RngExt;

use super::partition::{count_listed, SetCounts};
use super::tail::{logistic, logit_of, rise, Position, Pwm};
use super::{planes, Estimate, Identifying, Status, TailSettings, ThetaOne};
use crate::error::Result;
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::probability::Probability;
use crate::random::Streams;

/// Sets whose bounds are looked at; more are too many to draw from.
pub const MOST_SETS: usize = 100_000_000;
/// Classes of bounds from which strata are put together.
const BINS: usize = 4096;
/// Strata below the one that is counted whole.
const STRATA: usize = 4;
/// Draws below which one stratum is enough.
const FEW_DRAWS: usize = 1000;
/// Random groups left out in turn for the error.
const GROUPS: usize = 10;

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
    /// Whether no other set can identify every record.
    pub all_identifying: bool,
    /// Whether the sets counted determine the result.
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
    let sample = |left_out: Option<u8>| -> Vec<(u32, f64)> {
        let mut in_stratum = [0usize; STRATA + 1];
        let chosen =
            |i: &usize| drawn.stratum[*i] == 0 || left_out.is_none_or(|g| drawn.group[*i] != g);
        let places: Vec<usize> = (0..listed.len()).filter(chosen).collect();
        for &i in &places {
            in_stratum[usize::from(drawn.stratum[i])] += 1;
        }
        let mut values: Vec<(u32, f64)> = places
            .into_iter()
            .map(|i| {
                let h = usize::from(drawn.stratum[i]);
                let weight = design.sizes[h] as f64 / in_stratum[h] as f64;
                (counts.distinct[i], weight)
            })
            .collect();
        values.sort_by_key(|&(h, _)| std::cmp::Reverse(h));
        values
    };
    let all = sample(None);
    let exact = design.settles(&counts, &drawn, sets.len(), n_records, settings);
    let estimates = weighted_estimates(&all, sets.len(), n_records, settings);
    let n_drawn = drawn.stratum.iter().filter(|&&h| h > 0).count();
    let risk_se = if exact {
        vec![Some(0.0); settings.alpha.len()]
    } else if n_drawn < 2 * GROUPS * design.sizes.iter().skip(1).filter(|&&n| n > 0).count() {
        vec![None; settings.alpha.len()]
    } else {
        let groups: Vec<Vec<Estimate>> = (0..GROUPS as u8)
            .map(|g| weighted_estimates(&sample(Some(g)), sets.len(), n_records, settings))
            .collect();
        // Sampling without replacement: what was counted has no error.
        let left = 1.0 - listed.len() as f64 / sets.len() as f64;
        let one_more = with_one_more(&all, &design, sets.len(), n_records, settings);
        (0..settings.alpha.len())
            .map(|a| {
                let jackknife = standard_error(groups.iter().map(|e| e[a].risk), left)?;
                let unseen = one_more[a].risk? - estimates[a].risk?;
                Some(jackknife.hypot(unseen * left.sqrt()))
            })
            .collect()
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

/// Upper bounds on the classes of every set, on the logarithmic scale. Beyond
/// the number of records they bound nothing, but still tell finer sets from
/// coarser ones.
struct Bounds {
    sets: KeySets,
    levels: Vec<f64>,
    /// By how much the pair count undercuts the product of levels.
    gain: Vec<f64>,
    /// No bound is larger.
    limit: f64,
    n_rows: f64,
}

impl Bounds {
    fn new(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<Self> {
        let n = sets.n_keys();
        let distinct: Vec<u32> = table.columns().iter().map(|c| c.n_distinct()).collect();
        let levels: Vec<f64> = distinct.iter().map(|&k| f64::from(k).ln()).collect();
        let mut gain = vec![0.0; n * n];
        if sets.p() > 1 {
            let pairs = KeySets::new(n, 2, usize::MAX)?;
            let counts = planes::count_sets(table, pairs, monitor)?;
            for (pair, &h) in pairs.members().chunks(2).zip(&counts.distinct) {
                let (a, b) = (usize::from(pair[0]), usize::from(pair[1]));
                gain[a * n + b] = levels[a] + levels[b] - f64::from(h).ln();
            }
        }
        let mut widest = levels.clone();
        widest.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok(Self {
            sets,
            limit: widest[..sets.p()].iter().sum(),
            levels,
            gain,
            n_rows: table.n_rows() as f64,
        })
    }

    fn of(&self, set: &[u16]) -> f64 {
        let n = self.sets.n_keys();
        let mut sum = 0.0;
        let mut best: f64 = 0.0;
        for (i, &a) in set.iter().enumerate() {
            sum += self.levels[usize::from(a)];
            for &b in &set[i + 1..] {
                best = best.max(self.gain[usize::from(a) * n + usize::from(b)]);
            }
        }
        sum - best
    }

    /// The class of a bound; class 0 has the highest bounds.
    fn bin(&self, set: &[u16]) -> usize {
        let share = if self.limit > 0.0 {
            self.of(set) / self.limit
        } else {
            1.0
        };
        BINS - 1 - (share.clamp(0.0, 1.0) * (BINS - 1) as f64) as usize
    }

    /// The largest number of classes a set of class `bin` can have.
    fn most_classes(&self, bin: usize) -> f64 {
        let top = (BINS - bin) as f64 / (BINS - 1) as f64;
        ((top.min(1.0) * self.limit).exp() * (1.0 + 1e-9)).min(self.n_rows)
    }
}

/// Which bounds are counted whole and which are sampled how densely.
struct Design {
    /// Per class of bounds its stratum; stratum 0 is counted whole.
    stratum_of: Vec<u8>,
    sizes: Vec<usize>,
    draws: Vec<usize>,
    /// The largest number of classes of a set outside stratum 0.
    rest_at_most: f64,
}

impl Design {
    fn new(bounds: &Bounds, max_sets: usize, monitor: &Monitor) -> Result<Self> {
        let mut per_bin = vec![0usize; BINS];
        bounds
            .sets
            .for_each(monitor, |set| per_bin[bounds.bin(set)] += 1)?;
        let mut stratum_of = vec![0u8; BINS];
        let mut sizes = vec![0usize; STRATA + 1];
        let mut bin = 0;
        while bin < BINS && sizes[0] + per_bin[bin] <= max_sets / 2 {
            sizes[0] += per_bin[bin];
            bin += 1;
        }
        let rest_at_most = if bin < BINS {
            bounds.most_classes(bin)
        } else {
            0.0
        };
        let rest = bounds.sets.len() - sizes[0];
        let draws_left = max_sets - sizes[0];
        let n_strata = if draws_left < FEW_DRAWS { 1 } else { STRATA };
        let mut seen = 0;
        for b in bin..BINS {
            let h = 1 + (seen * n_strata / rest.max(1)).min(n_strata - 1);
            stratum_of[b] = h as u8;
            sizes[h] += per_bin[b];
            seen += per_bin[b];
        }
        let draws = (0..=STRATA)
            .map(|h| match h {
                0 => sizes[0],
                _ => {
                    let share = sizes[h] as f64 / rest.max(1) as f64;
                    ((draws_left as f64 * share) as usize).clamp(sizes[h].min(1), sizes[h])
                }
            })
            .collect();
        Ok(Self {
            stratum_of,
            sizes,
            draws,
            rest_at_most,
        })
    }

    /// Draws without replacement, in one pass over the sets in their order.
    fn draw(&self, bounds: &Bounds, streams: Streams, monitor: &Monitor) -> Result<Drawn> {
        let mut rng = streams.block(0);
        let mut left = self.sizes.clone();
        let mut wanted = self.draws.clone();
        let mut drawn = Drawn::default();
        bounds.sets.for_each(monitor, |set| {
            let h = usize::from(self.stratum_of[bounds.bin(set)]);
            // Exactly `wanted` of the `left` are taken, all choices alike.
            let take = h == 0 || rng.random_range(0..left[h]) < wanted[h];
            left[h] -= 1;
            if take {
                wanted[h] -= 1;
                drawn.members.extend_from_slice(set);
                drawn.stratum.push(h as u8);
            }
        })?;
        drawn.group = vec![0; drawn.stratum.len()];
        for h in 1..=STRATA as u8 {
            let mut places: Vec<usize> = (0..drawn.stratum.len())
                .filter(|&i| drawn.stratum[i] == h)
                .collect();
            places.shuffle(&mut rng);
            for (i, place) in places.into_iter().enumerate() {
                drawn.group[place] = (i % GROUPS) as u8;
            }
        }
        Ok(drawn)
    }

    /// Whether no set outside stratum 0 can reach the lower order statistic
    /// of the threshold: then all that matters was counted. Sets that identify
    /// every record and are left out must all be known as well.
    fn settles(
        &self,
        counts: &SetCounts,
        drawn: &Drawn,
        n_sets: usize,
        n_records: u64,
        settings: &TailSettings,
    ) -> bool {
        let excluded = settings.theta_one == ThetaOne::Exclude;
        if excluded && self.rest_at_most >= n_records as f64 {
            return self.sizes[0] == n_sets;
        }
        let whole = || {
            let counted = drawn.stratum.iter().zip(&counts.distinct);
            counted
                .filter(|&(&h, _)| h == 0)
                .map(|(_, &distinct)| distinct)
        };
        let left_out = |h: u32| excluded && u64::from(h) == n_records;
        let n = n_sets - whole().filter(|&h| left_out(h)).count();
        if n == 0 {
            return true;
        }
        let needed = Position::exceeded_by(n, settings.pi_u).n_top(n);
        let sure = whole()
            .filter(|&h| !left_out(h) && f64::from(h) >= self.rest_at_most)
            .count();
        sure >= needed
    }
}

/// The sets drawn, in order, with their strata and random groups.
#[derive(Default)]
struct Drawn {
    members: Vec<u16>,
    stratum: Vec<u8>,
    group: Vec<u8>,
}

/// Estimates from distinct counts in falling order, each standing for `weight`
/// sets: [`super::estimate`] where all weights are one.
fn weighted_estimates(
    falling: &[(u32, f64)],
    n_sets: usize,
    n_records: u64,
    settings: &TailSettings,
) -> Vec<Estimate> {
    let ones: f64 = falling
        .iter()
        .take_while(|&&(h, _)| u64::from(h) == n_records)
        .map(|&(_, w)| w)
        .sum();
    let theta = |h: u32| {
        if u64::from(h) == n_records && settings.theta_one == ThetaOne::Clamp {
            (n_records as f64 - 0.5) / n_records as f64
        } else {
            f64::from(h) / n_records as f64
        }
    };
    let excluded = settings.theta_one == ThetaOne::Exclude;
    let values: Vec<(f64, f64)> = falling
        .iter()
        .filter(|&&(h, _)| !excluded || u64::from(h) < n_records)
        .map(|&(h, w)| (theta(h), w))
        .collect();
    let n = if excluded {
        (n_sets as f64 - ones).round() as usize
    } else {
        n_sets
    };
    if values.is_empty() || n == 0 {
        return vec![super::undetermined(Status::ThetaOne); settings.alpha.len()];
    }
    let certain = ones > 0.0 && settings.theta_one == ThetaOne::One;
    let quantile = |share: Probability| {
        let at = Position::exceeded_by(n, share);
        at.between(
            largest(&values, n - at.lower + 1),
            largest(&values, n - at.upper + 1),
        )
    };
    let threshold = quantile(settings.pi_u);
    let above: Vec<(f64, f64)> = values
        .iter()
        .copied()
        .take_while(|&(t, _)| t > threshold)
        .collect();
    let tail = WeightedTail::new(&above, threshold, values[0].0, settings.pwm, certain);
    let status = match (certain, n, tail.n_exceedances) {
        (true, _, _) => Status::ThetaOne,
        (_, 1, _) => Status::Single,
        (_, _, 0) => Status::NoExceedance,
        (_, _, 1..=9) => Status::Few,
        _ => Status::Ok,
    };
    settings
        .alpha
        .iter()
        .map(|&alpha| Estimate {
            risk: if certain {
                Some(1.0)
            } else {
                tail.risk((settings.pi_u.get() / alpha.get()).ln())
            },
            risk_empirical: Some(quantile(alpha)),
            threshold: Some(threshold),
            shape: tail.shape_scale.map(|s| s.0),
            scale: tail.shape_scale.map(|s| s.1),
            n_exceedances: tail.n_exceedances,
            n_sets: n,
            largest: Some(tail.largest),
            feasible: true,
            equal: tail.equal,
            status,
        })
        .collect()
}

/// What [`super::tail::Tail`] is for weighted values.
struct WeightedTail {
    threshold: f64,
    largest: f64,
    n_exceedances: usize,
    equal: bool,
    shape_scale: Option<(f64, f64)>,
}

impl WeightedTail {
    /// From the values above the threshold with their weights; `certain` where
    /// the logit of the largest is infinite.
    fn new(above: &[(f64, f64)], threshold: f64, largest: f64, pwm: Pwm, certain: bool) -> Self {
        let n_above: f64 = above.iter().map(|&(_, w)| w).sum();
        let n_exceedances = n_above.round() as usize;
        let unbiased = !certain && pwm == Pwm::Unbiased;
        let equal = unbiased && n_exceedances > 1 && above[0].0 <= above[above.len() - 1].0;
        let undetermined = certain || equal || (unbiased && n_exceedances == 1);
        Self {
            threshold,
            largest,
            n_exceedances,
            equal,
            shape_scale: if undetermined {
                None
            } else {
                moments(above, n_above, threshold, pwm)
            },
        }
    }

    /// The extreme risk where `log_ratio` is the logarithm of `pi_u / alpha`.
    fn risk(&self, log_ratio: f64) -> Option<f64> {
        if self.n_exceedances == 0 || log_ratio <= 0.0 {
            return Some(self.threshold);
        }
        if self.equal {
            return Some(self.largest);
        }
        let (shape, scale) = self.shape_scale?;
        Some(logistic(
            logit_of(self.threshold) + rise(shape, scale, log_ratio),
        ))
    }
}

/// The value of the `k`-th largest of the sets the sample stands for.
fn largest(values: &[(f64, f64)], k: usize) -> f64 {
    let mut above = 0.0;
    for &(value, weight) in values {
        above += weight;
        // Weights are ratios of counts: a billionth is rounding.
        if above >= k as f64 * (1.0 - 1e-9) {
            return value;
        }
    }
    values.last().map_or(f64::NAN, |v| v.0)
}

/// Shape and scale by probability-weighted moments of weighted excesses in
/// falling order: a value of weight `w` takes the mean of the `w` ranks it
/// stands for.
fn moments(above: &[(f64, f64)], n: f64, threshold: f64, pwm: Pwm) -> Option<(f64, f64)> {
    if above.is_empty() {
        return None;
    }
    let (mut a0, mut a1, mut before) = (0.0, 0.0, 0.0);
    for &(value, weight) in above {
        let excess = logit_of(value) - logit_of(threshold);
        let from_top = before + (weight - 1.0) / 2.0;
        let rank_weight = match pwm {
            Pwm::Plotting => (from_top + 0.35) / n,
            Pwm::Unbiased => from_top / (n - 1.0),
        };
        a0 += weight * excess;
        a1 += weight * rank_weight * excess;
        before += weight;
    }
    let (a0, a1) = (a0 / n, a1 / n);
    let difference = a0 - 2.0 * a1;
    (difference != 0.0).then(|| (2.0 - a0 / difference, 2.0 * a0 * a1 / difference))
}

/// The estimates had one more set been drawn as risky as the riskiest drawn, or
/// as the least risky above the threshold. Where few sets beyond those counted
/// whole reach the tail, a sample may miss them, and the jackknife cannot see
/// what no draw shows.
fn with_one_more(
    all: &[(u32, f64)],
    design: &Design,
    n_sets: usize,
    n_records: u64,
    settings: &TailSettings,
) -> Vec<Estimate> {
    let weight = (1..=STRATA)
        .filter(|&h| design.draws[h] > 0)
        .map(|h| design.sizes[h] as f64 / design.draws[h] as f64)
        .fold(0.0, f64::max);
    let k = Position::exceeded_by(n_sets, settings.pi_u).n_top(n_sets);
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
    weighted_estimates(&more, n_sets, n_records, settings)
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
#[path = "sample_tests.rs"]
mod tests;
