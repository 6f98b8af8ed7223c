//! The released design, looked at from outside.
//!
//! [`margins`] is exact for anyone who sees cells only in groups: an intruder
//! who knows some of the keys, an analyst who tabulates one or two of them. A
//! record of cell `i` lands in group `c`, which holds `m` of the `k` cells of
//! its block, with probability
//!
//! ```text
//! alpha = 1 - (theta / T_i) (k - m) / (k - 1)   if i is in c,
//! alpha = (theta / T_i) m / (k - 1)             if not.
//! ```
//!
//! The released count of a group is a sum of independent indicators; its
//! variance is the sum of `alpha (1 - alpha)`. The records found in a group are
//! a conditional Bernoulli sample as in [`super::match_prob`]: where some
//! records land there for certain, they are the worst case, with one over their
//! number; otherwise `S = 1` is, for the record with the largest odds.
//!
//! [`simulate`] plays the intruder.

use hashbrown::HashMap;
use rand::{Rng, RngExt};

use super::match_prob::{worst_match, Landing, Tally};
use super::perturb::Members;
use crate::error::{Error, Result};
use crate::parallel::{self, Monitor};
use crate::random::Streams;

/// The cells of a released design.
#[derive(Debug)]
pub struct Layout {
    counts: Vec<u64>,
    block: Vec<Option<u32>>,
    thetas: Vec<f64>,
    members: Members,
    tallies: Vec<Tally>,
}

impl Layout {
    /// Counts and blocks of the cells, thetas of the blocks.
    pub fn new(counts: Vec<u64>, block: Vec<Option<u32>>, thetas: Vec<f64>) -> Result<Self> {
        let known = |b: &u32| (*b as usize) < thetas.len();
        if counts.len() != block.len()
            || counts.contains(&0)
            || !block.iter().flatten().all(known)
            || !thetas.iter().all(|theta| (0.0..=1.0).contains(theta))
        {
            return Err(Error::BadArgument(
                "The cells of a design must have counts of at least 1 and known blocks.".into(),
            ));
        }
        let members = Members::new(&block, thetas.len());
        let tallies = (0..thetas.len() as u32)
            .map(|b| Tally::new(members.of(b).iter().map(|&cell| counts[cell as usize])))
            .collect();
        Ok(Self {
            counts,
            block,
            thetas,
            members,
            tallies,
        })
    }

    /// Block of a cell whose records may move, with its theta and cells.
    fn moving(&self, cell: usize) -> Option<(u32, f64, f64)> {
        let block = self.block[cell]?;
        let theta = self.thetas[block as usize];
        let k = self.tallies[block as usize].n_cells();
        (theta > 0.0 && k > 1).then_some((block, theta, k as f64))
    }

    fn check_groups(&self, group: &[u32], n_groups: usize) -> Result<()> {
        if group.len() == self.counts.len() && group.iter().all(|&g| (g as usize) < n_groups) {
            Ok(())
        } else {
            Err(Error::BadArgument(
                "Every cell must belong to a group.".into(),
            ))
        }
    }
}

/// One group of cells as the release shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// Records before.
    pub count: u64,
    /// Exact worst P(CM | S = a) over all `a` and all its records.
    pub match_prob: f64,
    /// Variance of the released count, or of released totals of units.
    pub variance: f64,
}

/// Exact match probability and variance of groups of cells. `squares` holds per
/// cell the sum of squared sizes of its units, where these are not records.
pub fn margins(
    layout: &Layout,
    group: &[u32],
    n_groups: usize,
    squares: Option<&[f64]>,
    monitor: &Monitor,
) -> Result<Vec<Margin>> {
    layout.check_groups(group, n_groups)?;
    let square = |cell: usize| squares.map_or(layout.counts[cell] as f64, |s| s[cell]);
    // Per block the sums over cells from which variances are made.
    let mut by_count = vec![(0.0, 0.0); layout.thetas.len()];
    for (cell, block) in layout.block.iter().enumerate() {
        if let Some(block) = block {
            let t = layout.counts[cell] as f64;
            let sums = &mut by_count[*block as usize];
            sums.0 += square(cell) / t;
            sums.1 += square(cell) / (t * t);
        }
    }
    let mut cells_of: Vec<Vec<u32>> = vec![Vec::new(); n_groups];
    for (cell, &g) in (0u32..).zip(group) {
        cells_of[g as usize].push(cell);
    }
    let mut arrivals: HashMap<(u32, u64), f64> = HashMap::new();
    let mut out = Vec::with_capacity(n_groups);
    for (done, cells) in cells_of.iter().enumerate() {
        if done % 4096 == 0 {
            monitor.check()?;
        }
        out.push(margin(layout, cells, &square, &by_count, &mut arrivals));
    }
    Ok(out)
}

fn margin(
    layout: &Layout,
    cells: &[u32],
    square: &dyn Fn(usize) -> f64,
    by_count: &[(f64, f64)],
    arrivals: &mut HashMap<(u32, u64), f64>,
) -> Margin {
    let count = cells.iter().map(|&cell| layout.counts[cell as usize]).sum();
    let mut in_group: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut order: Vec<u32> = Vec::new();
    let mut sure = 0;
    for &cell in cells {
        match layout.moving(cell as usize) {
            None => sure += layout.counts[cell as usize],
            Some((block, _, _)) => {
                in_group
                    .entry(block)
                    .or_insert_with(|| {
                        order.push(block);
                        Vec::new()
                    })
                    .push(cell);
            }
        }
    }
    let mut variance = 0.0;
    let mut odds = 0.0;
    let mut largest: f64 = 0.0;
    let mut within_limit = true;
    for &block in &order {
        let own = &in_group[&block];
        let tally = &layout.tallies[block as usize];
        let theta = layout.thetas[block as usize];
        let (k, m) = (tally.n_cells(), own.len() as u64);
        if m == k {
            sure += tally.n_records();
            continue;
        }
        within_limit &= theta <= tally.theta_limit() + 1e-12;
        let (share_out, share_in) = (
            theta * (k - m) as f64 / (k - 1) as f64,
            theta * m as f64 / (k - 1) as f64,
        );
        let (mut squares_t, mut squares_tt) = by_count[block as usize];
        let mut arriving = *arrivals.entry((block, m)).or_insert_with(|| {
            let of = |&(t, cells): &(u64, u64)| cells as f64 * arriving_odds(t, share_in);
            tally.distinct().iter().map(of).sum()
        });
        for &cell in own {
            let t = layout.counts[cell as usize];
            let count = t as f64;
            let squares = square(cell as usize);
            squares_t -= squares / count;
            squares_tt -= squares / (count * count);
            arriving -= arriving_odds(t, share_in);
            let leave = share_out / count;
            variance += squares * leave * (1.0 - leave);
            let staying = (1.0 - leave) / leave;
            odds += count * staying;
            largest = largest.max(staying);
        }
        variance += share_in * squares_t - share_in * share_in * squares_tt;
        odds += arriving;
    }
    let match_prob = if !within_limit {
        worst_in_group(layout, &order, &in_group, sure)
    } else if sure > 0 {
        1.0 / sure as f64
    } else if odds > 0.0 {
        largest / odds
    } else {
        0.0
    };
    Margin {
        count,
        match_prob,
        variance: variance.max(0.0),
    }
}

/// Odds of arriving, summed over the records of a cell of count `t`.
fn arriving_odds(t: u64, share_in: f64) -> f64 {
    let t = t as f64;
    t * share_in / (t - share_in)
}

/// The worst case by trying all `a`, for thetas so large that records arrive
/// more easily than they stay.
fn worst_in_group(
    layout: &Layout,
    order: &[u32],
    in_group: &HashMap<u32, Vec<u32>>,
    sure: u64,
) -> f64 {
    let mut all = Landing::default();
    all.add(sure, 1.0);
    let mut kinds: Vec<f64> = Vec::new();
    let mut parts: Vec<(u64, f64)> = Vec::new();
    for block in order {
        let own = &in_group[block];
        let theta = layout.thetas[*block as usize];
        let members = layout.members.of(*block);
        let (k, m) = (members.len() as f64, own.len() as f64);
        if own.len() == members.len() {
            continue;
        }
        for &cell in members {
            let t = layout.counts[cell as usize];
            if own.contains(&cell) {
                let stay = 1.0 - theta / t as f64 * (k - m) / (k - 1.0);
                kinds.push(stay);
                parts.push((t, stay));
            } else {
                parts.push((t, theta / t as f64 * m / (k - 1.0)));
            }
        }
    }
    let mut worst: f64 = if sure > 0 { 1.0 / sure as f64 } else { 0.0 };
    for &stay in &kinds {
        let mut others = all.clone();
        let mut left_out = false;
        for &(t, alpha) in &parts {
            let same = !left_out && (alpha - stay).abs() < 1e-15;
            left_out |= same;
            others.add(if same { t - 1 } else { t }, alpha);
        }
        worst = worst.max(worst_match(stay, &others));
    }
    worst
}

/// Counts of targets by which attempts are told apart: 1 to 10, and more.
pub const COUNT_CLASSES: usize = 11;
/// Released counts by which attempts are told apart: 1, 2, and more.
pub const FOUND_CLASSES: usize = 3;

/// Attempts of one kind over all simulated releases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Picks made.
    pub n: u64,
    /// Picks that were the target.
    pub hits: u64,
    /// Sums over releases of squared and mixed numbers of one release.
    n_squared: u128,
    mixed: u128,
    hits_squared: u128,
}

impl Attempts {
    fn of_release(n: u64, hits: u64) -> Self {
        let (wide_n, wide_hits) = (u128::from(n), u128::from(hits));
        Self {
            n,
            hits,
            n_squared: wide_n * wide_n,
            mixed: wide_n * wide_hits,
            hits_squared: wide_hits * wide_hits,
        }
    }

    fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.hits += other.hits;
        self.n_squared += other.n_squared;
        self.mixed += other.mixed;
        self.hits_squared += other.hits_squared;
    }

    /// Share of picks that were right; `None` without a pick.
    pub fn rate(&self) -> Option<f64> {
        (self.n > 0).then(|| self.hits as f64 / self.n as f64)
    }

    /// Standard error of the rate, releases being independent and picks in one
    /// release not.
    pub fn std_error(&self) -> Option<f64> {
        let rate = self.rate()?;
        let spread = self.hits_squared as f64 - 2.0 * rate * self.mixed as f64
            + rate * rate * self.n_squared as f64;
        Some(spread.max(0.0).sqrt() / self.n as f64)
    }
}

/// Simulates `n_sim` releases. In each, every cell that records can leave has
/// one target, drawn from it; the intruder, who sees groups of cells, picks one
/// of the records released in the target's group. Attempts by the count of that
/// group before and after.
pub fn simulate(
    layout: &Layout,
    group: &[u32],
    n_groups: usize,
    n_sim: usize,
    streams: &Streams,
    monitor: &Monitor,
) -> Result<Vec<[Attempts; FOUND_CLASSES]>> {
    layout.check_groups(group, n_groups)?;
    let mut before = vec![0u64; n_groups];
    for (&g, &count) in group.iter().zip(&layout.counts) {
        before[g as usize] += count;
    }
    let moving: Vec<Moving> = (0..layout.counts.len() as u32)
        .filter_map(|cell| Moving::new(layout, cell))
        .collect();
    monitor.set_total(n_sim as u64);
    let empty = vec![[Attempts::default(); FOUND_CLASSES]; COUNT_CLASSES];
    let add = |mut sum: Vec<[Attempts; FOUND_CLASSES]>, table: Vec<[Attempts; FOUND_CLASSES]>| {
        for (sum, table) in sum.iter_mut().flatten().zip(table.iter().flatten()) {
            sum.add(table);
        }
        sum
    };
    let parts = parallel::try_map(parallel::blocks(n_sim, 16), monitor, |sims| {
        sims.into_iter().try_fold(empty.clone(), |sum, sim| {
            monitor.check()?;
            let mut rng = streams.block(sim as u64);
            let table = release(layout, &moving, group, &before, &mut rng);
            monitor.advance(1);
            Ok(add(sum, table))
        })
    })?;
    Ok(parts.into_iter().fold(empty, add))
}

/// A cell that records can leave.
struct Moving {
    cell: u32,
    block: u32,
    count: u64,
    /// Odds of leaving, of one record.
    odds: f64,
    /// Probability that nobody leaves.
    nobody: f64,
}

impl Moving {
    fn new(layout: &Layout, cell: u32) -> Option<Self> {
        let (block, theta, _) = layout.moving(cell as usize)?;
        let count = layout.counts[cell as usize];
        let leave = theta / count as f64;
        Some(Self {
            cell,
            block,
            count,
            odds: leave / (1.0 - leave),
            nobody: (count as f64 * (-leave).ln_1p()).exp(),
        })
    }

    /// Number of leavers: a binomial number with a mean of at most 1, by inversion.
    fn draw_leaving(&self, rng: &mut impl Rng) -> u64 {
        let mut left = rng.random::<f64>();
        let mut probability = self.nobody;
        let mut drawn = 0;
        if !self.odds.is_finite() {
            return self.count;
        }
        while left >= probability && drawn < self.count {
            left -= probability;
            probability *= (self.count - drawn) as f64 / (drawn + 1) as f64 * self.odds;
            drawn += 1;
        }
        drawn
    }
}

/// One release and one attempt on every cell that moves.
fn release(
    layout: &Layout,
    moving: &[Moving],
    group: &[u32],
    before: &[u64],
    rng: &mut impl Rng,
) -> Vec<[Attempts; FOUND_CLASSES]> {
    let mut after = before.to_vec();
    // True if the target of a cell is found in its own group.
    let mut there = vec![true; moving.len()];
    for (from, there) in moving.iter().zip(&mut there) {
        let leaving = from.draw_leaving(rng);
        if leaving == 0 {
            continue;
        }
        let here = group[from.cell as usize];
        let target = rng.random_range(0..from.count);
        for record in 0..leaving {
            let to = group[layout.members.other(from.cell, from.block, rng) as usize];
            after[here as usize] -= 1;
            after[to as usize] += 1;
            if record == target {
                *there = to == here;
            }
        }
    }
    let mut counted = vec![[(0u64, 0u64); FOUND_CLASSES]; COUNT_CLASSES];
    for (from, &there) in moving.iter().zip(&there) {
        let g = group[from.cell as usize] as usize;
        let found = after[g];
        if found == 0 {
            continue;
        }
        let hit = there && (found == 1 || rng.random_range(0..found) == 0);
        let count_class = (before[g] as usize).min(COUNT_CLASSES) - 1;
        let found_class = (found as usize).min(FOUND_CLASSES) - 1;
        let entry = &mut counted[count_class][found_class];
        entry.0 += 1;
        entry.1 += u64::from(hit);
    }
    counted
        .iter()
        .map(|row| row.map(|(n, hits)| Attempts::of_release(n, hits)))
        .collect()
}
