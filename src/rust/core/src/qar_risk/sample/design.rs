//! Choice of the key sets that are counted fully or drawn.

use rand::seq::SliceRandom;
use rand::RngExt;

use crate::error::Result;
use crate::key_sets::KeySets;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;
use crate::qar_risk::partition::SetCounts;
use crate::qar_risk::tail::Position;
use crate::qar_risk::{planes, TailSettings, ThetaOne};
use crate::random::Streams;

/// Classes of bounds from which strata are put together.
const BINS: usize = 4096;
/// Strata below the one that is counted whole.
pub(super) const STRATA: usize = 4;
/// Draws below which one stratum is enough.
const FEW_DRAWS: usize = 1000;
/// Random groups left out in turn for the error.
pub(super) const GROUPS: usize = 10;

/// Upper bounds on the classes of every set, on the logarithmic scale. Beyond
/// the number of records they bound nothing, but still tell finer sets from
/// coarser ones.
pub(super) struct Bounds {
    sets: KeySets,
    levels: Vec<f64>,
    /// By how much the pair count undercuts the product of levels.
    gain: Vec<f64>,
    /// No bound is larger.
    limit: f64,
    n_rows: f64,
}

impl Bounds {
    pub fn new(table: &KeyTable, sets: KeySets, monitor: &Monitor) -> Result<Self> {
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
    pub fn bin(&self, set: &[u16]) -> usize {
        let share = if self.limit > 0.0 {
            self.of(set) / self.limit
        } else {
            1.0
        };
        BINS - 1 - (share.clamp(0.0, 1.0) * (BINS - 1) as f64) as usize
    }

    /// The largest number of classes a set of class `bin` can have.
    pub fn most_classes(&self, bin: usize) -> f64 {
        let top = (BINS - bin) as f64 / (BINS - 1) as f64;
        ((top.min(1.0) * self.limit).exp() * (1.0 + 1e-9)).min(self.n_rows)
    }
}

/// Bounds that are counted fully, and sampling rates of the others.
pub(super) struct Design {
    /// Per class of bounds its stratum; stratum 0 is counted whole.
    stratum_of: Vec<u8>,
    pub sizes: Vec<usize>,
    pub draws: Vec<usize>,
    /// The largest number of classes of a set outside stratum 0.
    pub rest_at_most: f64,
}

impl Design {
    pub fn new(bounds: &Bounds, max_sets: usize, monitor: &Monitor) -> Result<Self> {
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
    pub fn draw(&self, bounds: &Bounds, streams: Streams, monitor: &Monitor) -> Result<Drawn> {
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

    /// True if no set outside stratum 0 can reach the lower order statistic
    /// of the threshold: then all that matters was counted. Sets that identify
    /// every record and are left out must all be known as well.
    pub fn settles(
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
pub(super) struct Drawn {
    pub members: Vec<u16>,
    pub stratum: Vec<u8>,
    pub group: Vec<u8>,
}
