//! Probability of a key: a backoff Bayesian network, every key judged by the others.
//!
//! Variables are put in an order; each has at most three of its predecessors as parents.
//! With `l` of its parents, the probability of its value is the one with `l - 1` of them,
//! pulled towards the share among the records that agree on all `l`:
//!
//! ```text
//! p_l = (1 - e) (n(value, parents) + c p_(l-1)) / (n(parents) + c) + e p_(l-1)
//! p_0 = (n(value) + c / (L + 1 + U)) / (n + c)
//! U   = n_1 (n_1 - 1) / (2 (n_2 + 1))
//! ```
//!
//! for `L` values in the file, `n_1` of them seen once and `n_2` twice, and `U` unseen ones
//! (Chao 1984, without bias): a value that is seen once is rare, not one of `L`.
//!
//! The `f` records with the key itself are left out of all counts, so that a key that is
//! seen once is judged as if it had not been seen. So are the other members of their
//! households, who bring the values of the household along. `c` and the share `e` of
//! exceptions, 0 until a parent is chosen, are searched on grids, in which results are the
//! same whatever the order of the sums. A parent is kept if the sum of
//! `ln p` over the records gains more than [`LEAST_GAIN`]. The first variable is the
//! one with the largest entropy; the next one always that whose best parent gains most.
//!
//! The probability of a key mixes three products: with all parents, with the first ones
//! alone (a tree) and with none (independence), weighted by maximum likelihood.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::classes::Classes;
use crate::error::Result;
use crate::hash::spread;
use crate::memory::{collected, filled};
use crate::parallel::{self, Monitor};

/// Most parents of a variable.
const MOST_PARENTS: usize = 3;
/// Least gain in log-likelihood by a parent.
const LEAST_GAIN: f64 = 2.0;
/// Keys that a parent is judged by.
const MOST_SCORED: usize = 1 << 15;
/// Combinations of values that have a table of their own.
const DIRECT: usize = 1 << 22;
/// Combinations that are so few that those which do not occur are numbered, too.
const SPARSE: usize = 1 << 14;
/// Shares of records that do not follow their parents.
const EXCEPTIONS: [f64; 7] = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
/// Steps of the search for the weights of the three products.
const EM_STEPS: usize = 100;

/// Weights that the backoff may have: 2^(1/2) apart.
fn grid(k: usize) -> f64 {
    2f64.powf((k as f64 - 6.0) / 2.0)
}
const N_GRID: usize = 31;

/// `true` if `b` is larger by more than the order of a sum may change.
fn exceeds(b: f64, a: f64) -> bool {
    b > a + 1e-9 * (1.0 + a.abs())
}

/// Records that agree on some columns have one number below `n`.
struct Contexts {
    ids: Vec<u32>,
    n: usize,
}

impl Contexts {
    /// Told apart by one column more.
    fn joined(&self, codes: &[u32], n_values: usize) -> Result<Self> {
        let pairs = self.ids.iter().zip(codes);
        let place = |(&id, &code): (&u32, &u32)| id as usize * n_values + code as usize;
        // Few enough numbers need not all occur.
        if self.n == 1 || self.n.saturating_mul(n_values) <= SPARSE.min(codes.len()) {
            let n = self.n * n_values;
            let ids = collected(pairs.map(|pair| place(pair) as u32), codes.len())?;
            return Ok(Self { ids, n });
        }
        let mut n = 0;
        let mut number = |slot: &mut u32| {
            if *slot == u32::MAX {
                *slot = n;
                n += 1;
            }
            *slot
        };
        let ids = if self.n.saturating_mul(n_values) <= DIRECT {
            let mut table = filled(u32::MAX, self.n * n_values)?;
            collected(
                pairs.map(|pair| number(&mut table[place(pair)])),
                codes.len(),
            )?
        } else {
            let mut table: HashMap<usize, u32> = HashMap::new();
            let numbered = pairs.map(|pair| number(table.entry(place(pair)).or_insert(u32::MAX)));
            collected(numbered, codes.len())?
        };
        Ok(Self { ids, n: n as usize })
    }

    /// The records that agree with a class, without its own and their households'.
    fn others<'a>(&'a self, classes: &'a Classes) -> Result<Others<'a>> {
        let mut totals = filled(0.0, self.n)?;
        for (&id, &count) in self.ids.iter().zip(&classes.counts) {
            totals[id as usize] += count;
        }
        let own = if classes.homes.is_empty() {
            Cow::Borrowed(classes.counts.as_slice())
        } else {
            let mut own = filled(0.0, classes.len())?;
            for home in &classes.homes {
                for &class in home {
                    let id = self.ids[class as usize];
                    let alike = home.iter().filter(|&&other| self.ids[other as usize] == id);
                    own[class as usize] += alike.count() as f64;
                }
            }
            Cow::Owned(own)
        };
        Ok(Others {
            ids: &self.ids,
            totals,
            own,
        })
    }
}

/// Numbers of records, all of them whole numbers, so that sums have no order.
struct Others<'a> {
    ids: &'a [u32],
    totals: Vec<f64>,
    own: Cow<'a, [f64]>,
}

impl Others<'_> {
    fn of(&self, class: usize) -> f64 {
        self.totals[self.ids[class] as usize] - self.own[class]
    }
}

/// Counts of one variable with its parents so far.
struct Level {
    contexts: Contexts,
    /// Probability of the value of every class.
    p: Vec<f64>,
    /// Per scored class the same with its own records counted.
    with_own: Vec<f64>,
}

/// A parent on trial.
#[derive(Debug, Clone, Copy)]
struct Trial {
    parent: usize,
    gain: f64,
}

/// Averages over the records of logarithms of their keys' probabilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    /// With own records counted over the network's without.
    pub counted: f64,
    /// Share of the file over the network's with own records counted.
    pub share: f64,
}

/// Network found.
pub(super) struct Network {
    /// Logarithm of the probability of every class.
    pub ln_p: Vec<f64>,
    /// Weights of network, tree and independence.
    pub weights: [f64; 3],
    /// What a key's own records add.
    pub own: Own,
}

/// Pull of a probability towards the one below.
#[derive(Debug, Clone, Copy)]
struct Backoff {
    c: f64,
    exceptions: f64,
}

impl Backoff {
    fn of(self, num: f64, den: f64, low: f64) -> f64 {
        let followed = (num + self.c * low) / (den + self.c);
        followed + self.exceptions * (low - followed)
    }
}

/// The pull where a key's own records are counted. The one searched for is too strong then: in a
/// file of few keys the others mislead, and equal shares are the better guess.
const OWN_COUNTED: Backoff = Backoff {
    c: 1.0,
    exceptions: 0.0,
};

/// Eight classes side by side: counts with and without a value, the probability below, and the
/// records. Those that fill up have probability 1.
struct Eight {
    num: [f64; 8],
    den: [f64; 8],
    low: [f64; 8],
    times: [f64; 8],
}

impl Default for Eight {
    fn default() -> Self {
        Self {
            num: [1.0; 8],
            den: [1.0; 8],
            low: [1.0; 8],
            times: [0.0; 8],
        }
    }
}

impl Eight {
    /// The probabilities of their values.
    #[inline]
    fn p(&self, backoff: Backoff) -> [f64; 8] {
        let mut p = [0.0; 8];
        for (i, p) in p.iter_mut().enumerate() {
            *p = backoff.of(self.num[i], self.den[i], self.low[i]);
        }
        for p in &mut p {
            *p = if *p > 1e-30 { *p } else { 1e-30 };
        }
        p
    }
}

/// The scored classes, those of one record first.
struct Cells {
    alone: Vec<Eight>,
    several: Vec<Eight>,
}

impl Cells {
    fn log_likelihood(&self, backoff: Backoff) -> f64 {
        // Sums of logarithms by logarithms of products.
        let mut of_alone = 0.0;
        for eight in &self.alone {
            of_alone += eight.p(backoff).iter().product::<f64>().ln();
        }
        let mut of_several = 0.0;
        for eight in &self.several {
            for (p, times) in eight.p(backoff).iter().zip(eight.times) {
                of_several += times * p.ln();
            }
        }
        of_alone + of_several
    }

    /// The grid's best backoff with these `exceptions`, and the log-likelihood there.
    fn best(&self, exceptions: f64) -> (Backoff, f64) {
        let backoff = |k: usize| Backoff {
            c: grid(k),
            exceptions,
        };
        let value = |k: usize| self.log_likelihood(backoff(k));
        let better = |a: (usize, f64), b: (usize, f64)| if exceeds(b.1, a.1) { b } else { a };
        let coarse = (0..N_GRID).step_by(5).map(|k| (k, value(k)));
        let first = coarse.reduce(better).unwrap_or((0, f64::NEG_INFINITY));
        let near = first.0.saturating_sub(4)..(first.0 + 5).min(N_GRID);
        let fine = near.filter(|&k| k != first.0).map(|k| (k, value(k)));
        let (k, found) = fine.fold(first, better);
        (backoff(k), found)
    }
}

struct Learner<'a> {
    classes: &'a Classes,
    /// Classes that a parent is judged by, those of one record first.
    scored: Vec<u32>,
    n_alone: usize,
    monitor: &'a Monitor,
}

impl Learner<'_> {
    /// What is known of the scored classes.
    fn cells(&self, num: &Others, den: &Others, low: &[f64]) -> Cells {
        let eights = |scored: &[u32]| -> Vec<Eight> {
            let eight = |classes: &[u32]| {
                let mut eight = Eight::default();
                for (i, class) in classes.iter().map(|&class| class as usize).enumerate() {
                    eight.num[i] = num.of(class);
                    eight.den[i] = den.of(class);
                    eight.low[i] = low[class];
                    eight.times[i] = self.classes.counts[class];
                }
                eight
            };
            scored.chunks(8).map(eight).collect()
        };
        let (alone, several) = self.scored.split_at(self.n_alone);
        Cells {
            alone: eights(alone),
            several: eights(several),
        }
    }

    /// The probabilities that counts give, and those of scored classes with own records counted.
    fn raised(
        &self,
        below: &Level,
        num: &Others,
        den: &Others,
        backoff: Backoff,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let p = below.p.iter().enumerate();
        let p = p.map(|(class, &low)| backoff.of(num.of(class), den.of(class), low));
        let own = |(&class, &low): (&u32, &f64)| {
            let (class, count) = (class as usize, self.classes.counts[class as usize]);
            OWN_COUNTED.of(num.of(class) + count, den.of(class) + count, low)
        };
        let with_own = self.scored.iter().zip(&below.with_own).map(own);
        Ok((
            collected(p, below.p.len())?,
            collected(with_own, self.scored.len())?,
        ))
    }

    /// The level of no parents, and its log-likelihood.
    fn at_root(&self, v: usize) -> Result<(Level, f64)> {
        let n = self.classes.len();
        let contexts = Contexts {
            ids: filled(0, n)?,
            n: 1,
        };
        let low = 1.0 / (self.classes.n_values[v] as f64 + 1.0 + self.unseen(v));
        let mut root = Level {
            contexts,
            p: filled(low, n)?,
            with_own: filled(low, self.scored.len())?,
        };
        let with = self.joined(&root.contexts, v)?;
        let (num, den) = (
            with.others(self.classes)?,
            root.contexts.others(self.classes)?,
        );
        let (backoff, found) = self.cells(&num, &den, &root.p).best(0.0);
        (root.p, root.with_own) = self.raised(&root, &num, &den, backoff)?;
        Ok((root, found))
    }

    /// Values of `v` that the population has and the file has not.
    fn unseen(&self, v: usize) -> f64 {
        let totals = totals(self.classes, v);
        let seen = |times: f64| totals.iter().filter(|&t| (t - times).abs() < 0.5).count() as f64;
        let (once, twice) = (seen(1.0), seen(2.0));
        once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }

    /// Contexts that the values of `v` divide.
    fn joined(&self, contexts: &Contexts, v: usize) -> Result<Contexts> {
        contexts.joined(&self.classes.codes[v], self.classes.n_values[v])
    }

    /// Gain by `parent` for `v`, whose log-likelihood below is `so_far`.
    fn trial(&self, v: usize, below: &Level, so_far: f64, parent: usize) -> Result<Trial> {
        self.monitor.check()?;
        let contexts = self.joined(&below.contexts, parent)?;
        let with = self.joined(&contexts, v)?;
        let (num, den) = (with.others(self.classes)?, contexts.others(self.classes)?);
        let (_, found) = self.cells(&num, &den, &below.p).best(0.0);
        Ok(Trial {
            parent,
            gain: found - so_far,
        })
    }

    /// The level with one parent more, and its log-likelihood.
    fn with_parent(&self, v: usize, below: &Level, parent: usize) -> Result<(Level, f64)> {
        let contexts = self.joined(&below.contexts, parent)?;
        let with = self.joined(&contexts, v)?;
        let (num, den) = (with.others(self.classes)?, contexts.others(self.classes)?);
        let cells = self.cells(&num, &den, &below.p);
        let tried = parallel::try_map(EXCEPTIONS, self.monitor, |exceptions| {
            Ok(cells.best(exceptions))
        })?;
        let better = |a: (Backoff, f64), b: (Backoff, f64)| if exceeds(b.1, a.1) { b } else { a };
        let none = Backoff {
            c: 1.0,
            exceptions: 0.0,
        };
        let (backoff, found) = tried.into_iter().reduce(better).unwrap_or((none, 0.0));
        let (p, with_own) = self.raised(below, &num, &den, backoff)?;
        Ok((
            Level {
                contexts,
                p,
                with_own,
            },
            found,
        ))
    }
}

/// The trial that gains most, the first of equals.
fn best_of(trials: Vec<Trial>) -> Option<Trial> {
    let better = |a: Trial, b: Trial| if exceeds(b.gain, a.gain) { b } else { a };
    trials.into_iter().reduce(better)
}

/// Records with every value.
fn totals(classes: &Classes, v: usize) -> Vec<f64> {
    let mut totals = vec![0.0; classes.n_values[v]];
    for (&code, &count) in classes.codes[v].iter().zip(&classes.counts) {
        totals[code as usize] += count;
    }
    totals
}

fn entropy(classes: &Classes, v: usize) -> f64 {
    -(totals(classes, v).iter())
        .map(|&t| t / classes.n_records)
        .map(|p| if p > 0.0 { p * p.ln() } else { 0.0 })
        .sum::<f64>()
}

/// The classes that parents are judged by: all, or some that their values choose.
fn scored(classes: &Classes) -> Vec<u32> {
    let n = classes.len();
    if n <= MOST_SCORED {
        return (0..n as u32).collect();
    }
    let hash = |class: usize| {
        let word = |hash, codes: &Vec<u32>| spread(hash ^ u64::from(codes[class]));
        classes.codes.iter().fold(0, word)
    };
    let share = MOST_SCORED as f64 / n as f64;
    let limit = (share * u64::MAX as f64) as u64;
    (0..n as u32)
        .filter(|&class| hash(class as usize) <= limit)
        .collect()
}

/// The order of the variables, and for each its best single parent.
fn ordered(entropies: &[f64], firsts: &[Vec<Trial>]) -> Vec<(usize, Option<Trial>)> {
    let d = entropies.len();
    let larger = |a, b| {
        if exceeds(entropies[b], entropies[a]) {
            b
        } else {
            a
        }
    };
    let mut order = vec![((1..d).fold(0, larger), None)];
    while order.len() < d {
        let mut best: Option<(usize, Trial)> = None;
        for v in (0..d).filter(|&v| order.iter().all(|&(placed, _)| placed != v)) {
            let of_placed = |t: &&Trial| order.iter().any(|&(placed, _)| placed == t.parent);
            for &trial in firsts[v].iter().filter(of_placed) {
                if best.is_none_or(|(_, found)| exceeds(trial.gain, found.gain)) {
                    best = Some((v, trial));
                }
            }
        }
        let Some((v, first)) = best else { break };
        order.push((v, Some(first)));
    }
    order
}

/// The probability of every class.
pub(super) fn network(classes: &Classes, monitor: &Monitor) -> Result<Network> {
    let d = classes.codes.len();
    let n = classes.len();
    let (mut scored, several): (Vec<u32>, Vec<u32>) =
        (scored(classes).into_iter()).partition(|&class| classes.counts[class as usize] < 1.5);
    let n_alone = scored.len();
    scored.extend(several);
    let learner = Learner {
        classes,
        scored,
        n_alone,
        monitor,
    };
    let firsts = parallel::try_map(0..d, monitor, |v| {
        let (root, so_far) = learner.at_root(v)?;
        let parents = (0..d).filter(|&q| q != v);
        parents
            .map(|q| learner.trial(v, &root, so_far, q))
            .collect::<Result<Vec<Trial>>>()
    })?;
    let entropies: Vec<f64> = (0..d).map(|v| entropy(classes, v)).collect();
    let order = ordered(&entropies, &firsts);
    let mut ln_p = [filled(0.0, n)?, filled(0.0, n)?, filled(0.0, n)?];
    let n_scored = learner.scored.len();
    let mut with_own = [
        filled(0.0, n_scored)?,
        filled(0.0, n_scored)?,
        filled(0.0, n_scored)?,
    ];
    let mut add = |part: usize, level: &Level| {
        for (sum, of) in [
            (&mut ln_p[part], &level.p),
            (&mut with_own[part], &level.with_own),
        ] {
            for (total, &p) in sum.iter_mut().zip(of) {
                *total += p.max(1e-30).ln();
            }
        }
    };
    for (place, (v, first)) in order.iter().enumerate() {
        // Made again: those of all variables are too large to keep.
        let (root, mut so_far) = learner.at_root(*v)?;
        add(2, &root);
        let mut kept: Option<Level> = None;
        let mut parents = Vec::new();
        if let Some(first) = first.filter(|first| first.gain > LEAST_GAIN) {
            let (level, found) = learner.with_parent(*v, &root, first.parent)?;
            (kept, so_far) = (Some(level), found);
            parents.push(first.parent);
        }
        add(1, kept.as_ref().unwrap_or(&root));
        while let Some(below) = kept.as_ref().filter(|_| parents.len() < MOST_PARENTS) {
            let placed = order[..place].iter().map(|&(q, _)| q);
            let open: Vec<usize> = placed.filter(|q| !parents.contains(q)).collect();
            let trials = parallel::try_map(open, monitor, |q| learner.trial(*v, below, so_far, q))?;
            let Some(best) = best_of(trials).filter(|t| t.gain > LEAST_GAIN) else {
                break;
            };
            let (level, found) = learner.with_parent(*v, below, best.parent)?;
            so_far = found;
            parents.push(best.parent);
            kept = Some(level);
        }
        add(0, kept.as_ref().unwrap_or(&root));
    }
    let weights = stacked(&ln_p, &learner.scored, &classes.counts);
    let mixed = (0..n).map(|class| mixture(&ln_p, class, &weights));
    let ln_p = collected(mixed, n)?;
    let (mut counted, mut share, mut records) = (0.0, 0.0, 0.0);
    for (at, &class) in learner.scored.iter().enumerate() {
        let count = classes.counts[class as usize];
        let with_own = mixture(&with_own, at, &weights);
        counted += count * (with_own - ln_p[class as usize]);
        share += count * ((count / classes.n_records).ln() - with_own);
        records += count;
    }
    Ok(Network {
        ln_p,
        weights,
        own: Own {
            counted: counted / records,
            share: share / records,
        },
    })
}

/// The largest logarithm of one class, and every part over it.
fn parts(ln_p: &[Vec<f64>; 3], class: usize) -> (f64, [f64; 3]) {
    let of = [0, 1, 2].map(|part| ln_p[part][class]);
    let largest = of[0].max(of[1]).max(of[2]);
    (largest, of.map(|ln| (ln - largest).exp()))
}

/// Logarithm of the mixture at one class.
fn mixture(ln_p: &[Vec<f64>; 3], class: usize, weights: &[f64; 3]) -> f64 {
    let (largest, of) = parts(ln_p, class);
    let shares = [0, 1, 2].map(|part| weights[part] * of[part]);
    largest + shares.iter().sum::<f64>().ln()
}

/// The weights of the three by EM.
fn stacked(ln_p: &[Vec<f64>; 3], scored: &[u32], counts: &[f64]) -> [f64; 3] {
    let cells: Vec<(f64, [f64; 3])> = scored
        .iter()
        .map(|&class| (counts[class as usize], parts(ln_p, class as usize).1))
        .collect();
    let n: f64 = cells.iter().map(|&(count, _)| count).sum();
    let mut weights = [1.0 / 3.0; 3];
    for _ in 0..EM_STEPS {
        let mut sums = [0.0; 3];
        for (count, of) in &cells {
            let (a, b, c) = (weights[0] * of[0], weights[1] * of[1], weights[2] * of[2]);
            let sum = a + b + c;
            for (total, share) in sums.iter_mut().zip([a, b, c]) {
                *total += count * (share / sum);
            }
        }
        weights = sums.map(|sum| sum / n);
    }
    weights
}
