//! Rates of agreement by key, learned from the files alone.
//!
//! Pairs are not independent units, and a latent class of "same origin" is far
//! larger than that of one person. So the units are released records: each has
//! one partner, uniform over the known file, with probability `rho`, and its
//! values given the partner's are independent across keys. With `u` (or the
//! shares of values) fixed, the likelihood of record `i` is
//!
//! ```text
//! L_i = rho / n1 * Z_i + 1 - rho
//! ```
//!
//! and expectation-maximisation takes for `m` the share of agreements among the
//! pairs, each with the probability `r_ij = rho / n1 * exp(W_ij) / L_i` that it is
//! one person. No pair is looked at for that: the derivatives of `log L_i` by the
//! weights are the expected agreements, and going back through the elimination
//! of the keys gives them for all keys at once.
//!
//! Squared extrapolation (Varadhan and Roland 2008) cuts the number of steps.

use std::ops::Range;

use super::levels::KeyLevels;
use super::reliability::{Margins, Reliability};
use super::trie::Trie;
use super::weights::{KeyWeights, Weights};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Runs of queries; fixed, since their sums are added up.
const RUNS: usize = 32;
/// A step that changes no probability by more ends the search.
const TOLERANCE: f64 = 1e-6;
/// Steps at most.
const MOST_STEPS: usize = 400;
/// Probabilities stay so far from 0.
const LEAST: f64 = 1e-9;

/// Result of the learning.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    /// Expectation steps.
    pub n_steps: usize,
    /// True if the tolerance was reached.
    pub converged: bool,
    /// Distinct released rows that were looked at.
    pub n_queries: usize,
    /// Mean logarithm of the likelihood of a record.
    pub log_likelihood: f64,
}

/// The problem: files eliminated key by key, and what stays fixed.
pub(super) struct Em<'a> {
    pub trie: &'a Trie,
    /// Records per query, by the number of the query.
    pub query_counts: &'a [u64],
    pub margins: &'a [Margins],
    pub levels: &'a [KeyLevels],
    pub by_value: bool,
    /// Records of the known file, and the probability of being in it.
    pub n_known: f64,
    pub rho: f64,
}

/// Pairs of one person, as expected: per key by level.
pub(super) type Expected = Vec<Vec<f64>>;

impl Em<'_> {
    /// Probabilities of agreement from a start that most keys agree.
    pub fn learn(&self, monitor: &Monitor) -> Result<(Vec<Reliability>, Learning)> {
        let start = |levels: &KeyLevels| match levels.len() {
            2 => vec![0.9, 0.1],
            _ => vec![0.8, 0.1, 0.1],
        };
        let mut now: Expected = self.levels.iter().map(start).collect();
        let mut n_steps = 0;
        let mut likelihood = f64::NEG_INFINITY;
        let mut converged = false;
        while n_steps < MOST_STEPS {
            let (one, at_now) = self.step(&now, monitor)?;
            n_steps += 1;
            likelihood = at_now;
            if distance(&one, &now) < TOLERANCE {
                now = one;
                converged = true;
                break;
            }
            let (two, at_one) = self.step(&one, monitor)?;
            let far = extrapolated(&now, &one, &two);
            let (next, at_far) = self.step(&far, monitor)?;
            n_steps += 2;
            likelihood = at_one;
            now = if at_far >= at_one { next } else { two };
        }
        let learned = (0..self.levels.len()).map(|v| self.reliability(v, &now[v]));
        let learning = Learning {
            n_steps,
            converged,
            n_queries: self.trie.sorted.len(),
            log_likelihood: likelihood,
        };
        Ok((learned.collect(), learning))
    }

    fn reliability(&self, v: usize, m: &[f64]) -> Reliability {
        Reliability::new(&self.margins[v], &self.levels[v], None, m.to_vec())
    }

    /// One step from `m`, and the mean log-likelihood at `m`.
    pub(super) fn step(&self, m: &Expected, monitor: &Monitor) -> Result<(Expected, f64)> {
        let keys = parallel::map(0..m.len(), |v| {
            let (margins, levels) = (&self.margins[v], &self.levels[v]);
            self.reliability(v, &m[v])
                .weights(margins, levels, self.by_value, false)
        });
        let weights = Weights::new(keys)?;
        let n = self.trie.sorted.len();
        let runs = parallel::blocks(n, n.div_ceil(RUNS));
        let parts = parallel::try_map(runs, monitor, |run| {
            let mut pass = Pass::new(self, &weights);
            pass.run(run, monitor)?;
            Ok((pass.expected, pass.observed, pass.log_likelihood))
        })?;
        let mut total: Expected = m.iter().map(|m| vec![0.0; m.len() - 1]).collect();
        let mut observed = vec![0.0; m.len()];
        let mut likelihood = 0.0;
        for (expected, seen, log) in parts {
            for (total, expected) in total.iter_mut().flatten().zip(expected.iter().flatten()) {
                *total += expected;
            }
            for (observed, seen) in observed.iter_mut().zip(seen) {
                *observed += seen;
            }
            likelihood += log;
        }
        let records: f64 = self.query_counts.iter().map(|&n| n as f64).sum();
        let next = total.iter().zip(&observed).zip(m);
        let next = next.map(|((agree, &n), before)| shares(agree, n, before));
        Ok((next.collect(), likelihood / records))
    }
}

/// Shares of the levels among `n`; as before where nothing was compared.
fn shares(agree: &[f64], n: f64, before: &[f64]) -> Vec<f64> {
    if n <= 0.0 {
        return before.to_vec();
    }
    let mut m: Vec<f64> = agree.iter().map(|a| a / n).collect();
    m.push(1.0 - m.iter().sum::<f64>());
    bounded(m)
}

fn bounded(mut m: Vec<f64>) -> Vec<f64> {
    for p in &mut m {
        *p = p.max(LEAST);
    }
    let sum: f64 = m.iter().sum();
    m.iter().map(|p| p / sum).collect()
}

fn distance(a: &Expected, b: &Expected) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Extrapolation of two steps, on the scale of log-odds.
fn extrapolated(start: &Expected, one: &Expected, two: &Expected) -> Expected {
    let logits = |m: &[f64]| -> Vec<f64> {
        let last = m[m.len() - 1];
        m.iter().map(|p| (p / last).ln()).collect()
    };
    let odds: Vec<[Vec<f64>; 3]> = start
        .iter()
        .zip(one)
        .zip(two)
        .map(|((a, b), c)| [logits(a), logits(b), logits(c)])
        .collect();
    let (mut first, mut change) = (0.0, 0.0);
    for [a, b, c] in &odds {
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            first += (b - a).powi(2);
            change += (c - 2.0 * b + a).powi(2);
        }
    }
    if change <= 0.0 {
        return two.clone();
    }
    let length = -(first / change).sqrt().max(1.0);
    odds.iter()
        .map(|[a, b, c]| {
            let points = a.iter().zip(b).zip(c).map(|((a, b), c)| {
                let (r, v) = (b - a, c - 2.0 * b + a);
                // Odds beyond e^20 are beyond what probabilities can tell.
                (a - 2.0 * length * r + length * length * v)
                    .clamp(-20.0, 20.0)
                    .exp()
            });
            let odds: Vec<f64> = points.collect();
            let sum: f64 = odds.iter().sum();
            bounded(odds.iter().map(|o| o / sum).collect())
        })
        .collect()
}

/// One run of queries there and back.
struct Pass<'a> {
    em: &'a Em<'a>,
    weights: &'a Weights,
    /// Per level the sums of exponentials, and those of the next level if the
    /// value of the query were beyond all.
    sums: Vec<Vec<f64>>,
    beyond: Vec<Vec<f64>>,
    has_beyond: Vec<bool>,
    /// The derivatives of the log-likelihood by these.
    back: Vec<Vec<f64>>,
    back_beyond: Vec<Vec<f64>>,
    expected: Expected,
    observed: Vec<f64>,
    log_likelihood: f64,
}

impl<'a> Pass<'a> {
    fn new(em: &'a Em<'a>, weights: &'a Weights) -> Self {
        let trie = em.trie;
        let n_keys = trie.n_keys();
        let zeros = |from: usize| -> Vec<Vec<f64>> {
            (from..=n_keys)
                .map(|d| vec![0.0; trie.n_nodes(d)])
                .collect()
        };
        let mut sums = zeros(0);
        for (sum, &n) in sums[0].iter_mut().zip(&trie.counts) {
            *sum = n as f64;
        }
        Self {
            em,
            weights,
            sums,
            beyond: zeros(1),
            has_beyond: vec![false; n_keys],
            back: zeros(0),
            back_beyond: zeros(1),
            expected: em.levels.iter().map(|l| vec![0.0; l.len() - 1]).collect(),
            observed: vec![0.0; n_keys],
            log_likelihood: 0.0,
        }
    }

    fn run(&mut self, queries: Range<usize>, monitor: &Monitor) -> Result<()> {
        let trie = self.em.trie;
        let n_keys = trie.n_keys();
        for query in queries.clone() {
            monitor.check()?;
            let shared = if query == queries.start {
                0
            } else {
                usize::from(trie.shared[query])
            };
            if query > queries.start {
                self.leave(shared, query - 1);
            }
            for depth in shared..n_keys {
                self.enter(depth, trie.codes[depth][query]);
            }
            self.arrive(query);
        }
        if !queries.is_empty() {
            self.leave(0, queries.end - 1);
        }
        Ok(())
    }

    fn key(&self, depth: usize) -> (usize, &'a KeyWeights) {
        let v = self.em.trie.order[depth];
        (v, &self.weights.keys()[v])
    }

    /// Eliminates the key of `depth` for the released code `y`.
    fn enter(&mut self, depth: usize, y: u32) {
        let level = &self.em.trie.levels[depth];
        let (_, key) = self.key(depth);
        let (done, open) = self.sums.split_at_mut(depth + 1);
        let (from, into) = (&done[depth], &mut open[0]);
        if y == 0 {
            for (node, sum) in into.iter_mut().enumerate() {
                *sum = from[level.run(node)].iter().sum();
            }
        } else {
            let beyond = &mut self.beyond[depth];
            if !self.has_beyond[depth] {
                for (node, sum) in beyond.iter_mut().enumerate() {
                    let mut run = level.run(node);
                    let missing = level.is_missing(run.start);
                    let first = from[run.start];
                    run.start += usize::from(missing);
                    *sum = from[run].iter().sum::<f64>() * key.e_differ;
                    if missing {
                        *sum += first * key.e_missing;
                    }
                }
                self.has_beyond[depth] = true;
            }
            into.copy_from_slice(beyond);
            for touched in key.of(y) {
                let more = touched.e - key.e_differ;
                for &node in level.with_codes(touched.first, touched.last) {
                    into[level.parents[node as usize] as usize] += from[node as usize] * more;
                }
            }
        }
        if let Some(has) = self.has_beyond.get_mut(depth + 1) {
            *has = false;
        }
    }

    /// The likelihood of a query, and its derivative by the last sum.
    fn arrive(&mut self, query: usize) {
        let em = self.em;
        let n_keys = em.trie.n_keys();
        let times = em.query_counts[em.trie.sorted[query] as usize] as f64;
        let observed = (0..n_keys).filter(|&d| em.trie.codes[d][query] != 0);
        let shift: f64 = observed.map(|d| self.key(d).1.shift).sum();
        let sum = self.sums[n_keys][0];
        // In units of e^shift.
        let outside = em.n_known * (1.0 - em.rho) / em.rho * (-shift).exp();
        self.log_likelihood += times * ((em.rho / em.n_known * (sum + outside)).ln() + shift);
        self.back[n_keys][0] = times / (sum + outside);
    }

    /// Hands the derivatives of the levels below `depth` up to it, for the
    /// values of `query`.
    fn leave(&mut self, depth: usize, query: usize) {
        let n_keys = self.em.trie.n_keys();
        for at in (depth..n_keys).rev() {
            if at + 1 < n_keys && self.has_beyond[at + 1] {
                self.leave_beyond(at + 1);
            }
            self.leave_value(at, self.em.trie.codes[at][query]);
        }
        if depth == 0 && self.has_beyond[0] {
            self.leave_beyond(0);
        }
    }

    /// From the level below the key of `depth` to the levels that gave it.
    fn leave_value(&mut self, depth: usize, y: u32) {
        let level = &self.em.trie.levels[depth];
        let (v, key) = self.key(depth);
        let (done, open) = self.back.split_at_mut(depth + 1);
        let (into, from) = (&mut done[depth], &mut open[0]);
        if y == 0 {
            for (node, back) in into.iter_mut().enumerate() {
                *back += from[level.parents[node] as usize];
            }
        } else {
            for (sum, back) in self.back_beyond[depth].iter_mut().zip(from.iter()) {
                *sum += back;
            }
            for touched in key.of(y) {
                let more = touched.e - key.e_differ;
                for &node in level.with_codes(touched.first, touched.last) {
                    let node = node as usize;
                    let back = from[level.parents[node] as usize];
                    let pairs = self.sums[depth][node] * back;
                    into[node] += more * back;
                    self.expected[v][usize::from(touched.level)] += pairs * touched.e;
                    self.observed[v] += pairs * more;
                }
            }
        }
        from.fill(0.0);
    }

    /// Part shared by all values of the key of `depth`.
    fn leave_beyond(&mut self, depth: usize) {
        let level = &self.em.trie.levels[depth];
        let (v, key) = self.key(depth);
        let into = &mut self.back[depth];
        for (node, back) in into.iter_mut().enumerate() {
            let from = self.back_beyond[depth][level.parents[node] as usize];
            if level.is_missing(node) {
                *back += from * key.e_missing;
            } else {
                let more = from * key.e_differ;
                *back += more;
                self.observed[v] += self.sums[depth][node] * more;
            }
        }
        self.back_beyond[depth].fill(0.0);
    }
}
