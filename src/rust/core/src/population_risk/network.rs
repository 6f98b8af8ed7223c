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

/// Records that agree on some columns, numbered.
struct Contexts {
    ids: Vec<u32>,
    n: usize,
}

impl Contexts {
    /// Told apart by one column more.
    fn joined(&self, codes: &[u32], n_values: usize) -> Result<Self> {
        let pairs = self.ids.iter().zip(codes);
        let place = |(&id, &code): (&u32, &u32)| id as usize * n_values + code as usize;
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

    /// Per class the records that agree with it, without its own and their households'.
    fn others(&self, classes: &Classes) -> Result<Vec<f64>> {
        let mut totals = filled(0.0, self.n)?;
        for (&id, &count) in self.ids.iter().zip(&classes.counts) {
            totals[id as usize] += count;
        }
        let others = self.ids.iter().zip(&classes.counts);
        let own = |count: f64| if classes.homes.is_empty() { count } else { 0.0 };
        let others = others.map(|(&id, &count)| totals[id as usize] - own(count));
        let mut others = collected(others, classes.len())?;
        for home in &classes.homes {
            for &class in home {
                let id = self.ids[class as usize];
                let alike = home.iter().filter(|&&other| self.ids[other as usize] == id);
                others[class as usize] -= alike.count() as f64;
            }
        }
        Ok(others)
    }
}

/// Counts of one variable with its parents so far.
struct Level {
    contexts: Contexts,
    /// Probability of the value of every class.
    p: Vec<f64>,
}

impl Level {
    /// These contexts with the probabilities that counts give.
    fn raised(&self, num: &[f64], den: &[f64], backoff: Backoff) -> Result<Self> {
        let counts = num.iter().zip(den).zip(&self.p);
        let p = counts.map(|((&num, &den), &low)| backoff.of(num, den, low));
        Ok(Self {
            p: collected(p, self.p.len())?,
            contexts: Contexts {
                ids: collected(self.contexts.ids.iter().copied(), self.p.len())?,
                n: self.contexts.n,
            },
        })
    }
}

/// A parent on trial.
#[derive(Debug, Clone, Copy)]
struct Trial {
    parent: usize,
    gain: f64,
}

/// Network found.
pub(super) struct Network {
    /// Logarithm of the probability of every class.
    pub ln_p: Vec<f64>,
    /// Weights of network, tree and independence.
    pub weights: [f64; 3],
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

struct Learner<'a> {
    classes: &'a Classes,
    /// Classes that a parent is judged by, those of one record first.
    scored: Vec<u32>,
    n_alone: usize,
    monitor: &'a Monitor,
}

impl Learner<'_> {
    /// The grid's best backoff with these `exceptions`, and the log-likelihood there; `at`
    /// gives, of a scored class, its counts with and without the value, and the
    /// probability below.
    fn best(&self, exceptions: f64, at: impl Fn(usize) -> (f64, f64, f64)) -> (Backoff, f64) {
        let cells = |scored: &[u32]| -> Vec<(f64, f64, f64)> {
            scored.iter().map(|&class| at(class as usize)).collect()
        };
        let (alone, several) = self.scored.split_at(self.n_alone);
        let (alone, of_several) = (cells(alone), cells(several));
        let times = several
            .iter()
            .map(|&class| self.classes.counts[class as usize]);
        let several: Vec<(f64, (f64, f64, f64))> = times.zip(of_several).collect();
        let value = |k: usize| -> f64 {
            let backoff = Backoff {
                c: grid(k),
                exceptions,
            };
            let p = |&(num, den, low): &(f64, f64, f64)| backoff.of(num, den, low).max(1e-30);
            // Sums of logarithms by logarithms of products.
            let of_alone = alone
                .chunks(8)
                .map(|part| part.iter().map(p).product::<f64>().ln());
            let of_several = several.iter().map(|(times, cell)| times * p(cell).ln());
            of_alone.sum::<f64>() + of_several.sum::<f64>()
        };
        let better = |a: (usize, f64), b: (usize, f64)| if exceeds(b.1, a.1) { b } else { a };
        let coarse = (0..N_GRID).step_by(5).map(|k| (k, value(k)));
        let first = coarse.reduce(better).unwrap_or((0, f64::NEG_INFINITY));
        let near = first.0.saturating_sub(4)..(first.0 + 5).min(N_GRID);
        let fine = near.filter(|&k| k != first.0).map(|k| (k, value(k)));
        let (k, found) = fine.fold(first, better);
        (
            Backoff {
                c: grid(k),
                exceptions,
            },
            found,
        )
    }

    /// The level of no parents, and its log-likelihood.
    fn at_root(&self, v: usize) -> Result<(Level, f64)> {
        let n = self.classes.len();
        let contexts = Contexts {
            ids: filled(0, n)?,
            n: 1,
        };
        let low = 1.0 / (self.classes.n_values[v] as f64 + 1.0 + self.unseen(v));
        let below = Level {
            contexts,
            p: filled(low, n)?,
        };
        let (num, den) = self.counts(&below.contexts, v)?;
        let (backoff, found) = self.best(0.0, |class| (num[class], den[class], low));
        Ok((below.raised(&num, &den, backoff)?, found))
    }

    /// Values of `v` that the population has and the file has not.
    fn unseen(&self, v: usize) -> f64 {
        let totals = totals(self.classes, v);
        let seen = |times: f64| totals.iter().filter(|&t| (t - times).abs() < 0.5).count() as f64;
        let (once, twice) = (seen(1.0), seen(2.0));
        once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }

    /// Others with and without the value of `v` who agree on the parents.
    fn counts(&self, contexts: &Contexts, v: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let with = contexts.joined(&self.classes.codes[v], self.classes.n_values[v])?;
        Ok((with.others(self.classes)?, contexts.others(self.classes)?))
    }

    fn joined(&self, below: &Level, parent: usize) -> Result<Contexts> {
        below
            .contexts
            .joined(&self.classes.codes[parent], self.classes.n_values[parent])
    }

    /// Gain by `parent` for `v`, whose log-likelihood below is `so_far`.
    fn trial(&self, v: usize, below: &Level, so_far: f64, parent: usize) -> Result<Trial> {
        self.monitor.check()?;
        let (num, den) = self.counts(&self.joined(below, parent)?, v)?;
        let (_, found) = self.best(0.0, |class| (num[class], den[class], below.p[class]));
        Ok(Trial {
            parent,
            gain: found - so_far,
        })
    }

    /// The level with one parent more, and its log-likelihood.
    fn with_parent(&self, v: usize, below: &Level, parent: usize) -> Result<(Level, f64)> {
        let contexts = self.joined(below, parent)?;
        let (num, den) = self.counts(&contexts, v)?;
        let tried = parallel::try_map(EXCEPTIONS, self.monitor, |exceptions| {
            Ok(self.best(exceptions, |class| (num[class], den[class], below.p[class])))
        })?;
        let better = |a: (Backoff, f64), b: (Backoff, f64)| if exceeds(b.1, a.1) { b } else { a };
        let none = Backoff {
            c: 1.0,
            exceptions: 0.0,
        };
        let (backoff, found) = tried.into_iter().reduce(better).unwrap_or((none, 0.0));
        let raised = below.raised(&num, &den, backoff)?;
        Ok((Level { contexts, ..raised }, found))
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
    let add = |sum: &mut Vec<f64>, level: &Level| {
        for (total, &p) in sum.iter_mut().zip(&level.p) {
            *total += p.max(1e-30).ln();
        }
    };
    for (place, (v, first)) in order.iter().enumerate() {
        // Made again: those of all variables are too large to keep.
        let (root, mut so_far) = learner.at_root(*v)?;
        add(&mut ln_p[2], &root);
        let mut kept: Option<Level> = None;
        let mut parents = Vec::new();
        if let Some(first) = first.filter(|first| first.gain > LEAST_GAIN) {
            let (level, found) = learner.with_parent(*v, &root, first.parent)?;
            (kept, so_far) = (Some(level), found);
            parents.push(first.parent);
        }
        add(&mut ln_p[1], kept.as_ref().unwrap_or(&root));
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
        add(&mut ln_p[0], kept.as_ref().unwrap_or(&root));
    }
    let weights = stacked(&ln_p, &learner.scored, &classes.counts);
    let mixed = (0..n).map(|class| mixture(&ln_p, class, &weights).0);
    Ok(Network {
        ln_p: collected(mixed, n)?,
        weights,
    })
}

/// Logarithm of the mixture at one class, and the share of each part.
fn mixture(ln_p: &[Vec<f64>; 3], class: usize, weights: &[f64; 3]) -> (f64, [f64; 3]) {
    let of = [0, 1, 2].map(|part| ln_p[part][class]);
    let largest = of[0].max(of[1]).max(of[2]);
    let shares = [0, 1, 2].map(|part| weights[part] * (of[part] - largest).exp());
    let sum: f64 = shares.iter().sum();
    (largest + sum.ln(), shares.map(|share| share / sum))
}

/// The weights of the three by EM.
fn stacked(ln_p: &[Vec<f64>; 3], scored: &[u32], counts: &[f64]) -> [f64; 3] {
    let n: f64 = scored.iter().map(|&class| counts[class as usize]).sum();
    let mut weights = [1.0 / 3.0; 3];
    for _ in 0..EM_STEPS {
        let mut sums = [0.0; 3];
        for &class in scored {
            let (_, shares) = mixture(ln_p, class as usize, &weights);
            sums = [0, 1, 2].map(|part| sums[part] + counts[class as usize] * shares[part]);
        }
        weights = sums.map(|sum| sum / n);
    }
    weights
}
