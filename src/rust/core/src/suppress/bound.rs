//! Lower bound of the cost of `Shared`: Lagrangian, with prices that also guide the greedy search.
//!
//! A violator with a blank of its own counts as served; one without needs
//! `d_i = k - f_i` others whose blanks reach it:
//!
//! ```text
//! min sum w(S) x_iS
//!     d_i sum_S x_iS + sum over j != i, S reaching i, of x_jS >= d_i
//!     sum_S x_iS <= 1
//! ```
//!
//! Every release under the rule satisfies this, so the value of its dual at any
//! prices `y >= 0` bounds the cost from below:
//!
//! ```text
//! L(y) = sum d_i y_i + sum_i min(0, min_S w(S) - C_S(i) + P(i) - d_i y_i)
//! ```
//!
//! `C_S(i)` sums the prices of the violators equal to `i` outside `S`, `P(i)`
//! those of its own pattern. Records of the same pattern have the same price.
//!
//! Violators that this cannot describe (values missing in the original, or not
//! all choices looked at) are left out: they cost nothing, and where one could
//! come to reach `i`, `d_i` is one less.

use hashbrown::HashMap;

use crate::error::Result;
use crate::key_table::{Column, KeyTable};
use crate::parallel::{self, Monitor};

use super::own::Optimum;
use super::problem::Problem;
use super::subsets::at_most;

const NONE: u32 = u32::MAX;
/// Looks in all, from which the number of steps follows.
const LOOKS: usize = 100_000_000;
const MOST_STEPS: usize = 400;
const LEAST_STEPS: usize = 40;
/// Pairs of violators compared because some cannot be described.
const MOST_PAIRS: usize = 2_000_000_000;

/// A bound and the prices that prove it.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub value: f64,
    /// Per key set and violator, its price; `None` for those left out.
    pub prices: Vec<Vec<Option<f64>>>,
    pub steps: usize,
}

/// Classes of the patterns on the keys of one key set outside a blank set.
struct View {
    key_set: usize,
    classes: Vec<u32>,
    n_classes: usize,
}

/// The relaxation over the patterns that it describes.
struct Relaxation {
    /// Records per pattern.
    times: Vec<f64>,
    /// Per key set and pattern, what it lacks.
    lacks: Vec<Vec<f64>>,
    views: Vec<View>,
    /// Per choice, its cost and the views it opens.
    choices: Vec<(f64, Vec<u32>)>,
    /// Per pattern, how many choices are within its cap.
    n_choices: Vec<u32>,
}

/// The bound below `upper`, the cost of some release. `described` are the places
/// of violators whose choices are a beginning of `list`, with their number.
pub(super) fn bound(
    problem: &Problem<'_>,
    optima: &[Optimum],
    described: &[(u32, u32)],
    list: &[(f64, u64)],
    upper: f64,
    monitor: &Monitor,
) -> Result<Bound> {
    let mut found = Bound {
        prices: vec![vec![None; optima.len()]; problem.sets.len()],
        ..Bound::default()
    };
    if described.is_empty() {
        return Ok(found);
    }
    let Some(relaxation) = Relaxation::new(problem, optima, described, list, monitor)? else {
        return Ok(found);
    };
    let most = problem
        .settings
        .bound_steps
        .unwrap_or_else(|| relaxation.affordable());
    let ascent = relaxation.ascend(upper, problem.has_whole_costs(), most, monitor)?;
    found.steps = ascent.steps;
    found.value = ascent.value.max(0.0);
    for (s, prices) in ascent.prices.iter().enumerate() {
        for (&(at, _), &price) in described.iter().zip(prices) {
            found.prices[s][at as usize] = Some(price);
        }
    }
    Ok(found)
}

struct Ascent {
    value: f64,
    prices: Vec<Vec<f64>>,
    steps: usize,
}

/// A bound that is a whole number in a file whose costs are.
pub(super) fn rounded(value: f64, whole: bool) -> f64 {
    if whole {
        (value - 1e-6).ceil()
    } else {
        value
    }
}

impl Relaxation {
    /// `None` where too many pairs of violators would have to be compared.
    fn new(
        problem: &Problem<'_>,
        optima: &[Optimum],
        described: &[(u32, u32)],
        list: &[(f64, u64)],
        monitor: &Monitor,
    ) -> Result<Option<Self>> {
        let rows: Vec<u32> = described
            .iter()
            .map(|d| problem.violators[d.0 as usize])
            .collect();
        let Some(lacks) = lacks(problem, optima, described, &rows, monitor)? else {
            return Ok(None);
        };
        let n_choices: Vec<u32> = described.iter().map(|d| d.1).collect();
        let most = n_choices.iter().max().map_or(0, |&n| n as usize);
        let part = problem.distinct.select(&rows)?;
        let mut views = Vec::new();
        let mut at: HashMap<(usize, u64), u32> = HashMap::new();
        let mut choices = Vec::new();
        for &(cost, set) in &list[..most] {
            let mut opened = Vec::new();
            for (s, keys) in problem.sets.iter().enumerate() {
                let seen = set & keys;
                if seen == 0 {
                    continue;
                }
                if !at.contains_key(&(s, seen)) {
                    at.insert((s, seen), views.len() as u32);
                    views.push(View::new(problem, &part, s, seen, monitor)?);
                }
                opened.push(at[&(s, seen)]);
            }
            choices.push((cost, opened));
        }
        Ok(Some(Self {
            times: rows
                .iter()
                .map(|&p| f64::from(problem.counts[p as usize]))
                .collect(),
            lacks,
            views,
            choices,
            n_choices,
        }))
    }

    /// Steps that a file of this size can afford.
    fn affordable(&self) -> usize {
        let looks = 3 * self.times.len() * self.views.len();
        (LOOKS / looks.max(1)).clamp(LEAST_STEPS, MOST_STEPS)
    }

    /// Subgradient steps, halved where nothing is gained any more.
    fn ascend(&self, upper: f64, whole: bool, most: usize, monitor: &Monitor) -> Result<Ascent> {
        let mut prices = self.first_prices();
        let mut best = Ascent {
            value: f64::NEG_INFINITY,
            prices: prices.clone(),
            steps: 0,
        };
        let (mut theta, mut idle) = (1.0, 0);
        while best.steps < most && theta >= 1e-4 {
            monitor.check()?;
            best.steps += 1;
            let (value, slope) = self.value(&prices, monitor)?;
            if value > best.value {
                idle = 0;
                best.value = value;
                best.prices.clone_from(&prices);
            } else {
                idle += 1;
            }
            if rounded(best.value, whole) >= upper * (1.0 - 1e-9) {
                break;
            }
            if idle == 20 {
                idle = 0;
                theta /= 2.0;
                prices.clone_from(&best.prices);
                continue;
            }
            let norm: f64 = (slope.iter())
                .map(|g| {
                    g.iter()
                        .zip(&self.times)
                        .map(|(g, t)| t * g * g)
                        .sum::<f64>()
                })
                .sum();
            if norm <= 0.0 {
                break;
            }
            let step = theta * (upper - value).max(1e-6 * upper) / norm;
            for (prices, slope) in prices.iter_mut().zip(&slope) {
                for (price, g) in prices.iter_mut().zip(slope) {
                    *price = (*price + step * g).max(0.0);
                }
            }
        }
        best.value = rounded(best.value, whole);
        Ok(best)
    }

    /// Prices at which few choices are worth their cost.
    fn first_prices(&self) -> Vec<Vec<f64>> {
        let sums = self.sums(&vec![vec![1.0; self.times.len()]; self.lacks.len()]);
        (self.lacks.iter().enumerate())
            .map(|(s, lacks)| {
                let largest = lacks.iter().copied().fold(0.0, f64::max);
                let sums = &sums;
                let of = |p: usize| {
                    let choices = self.choices[..self.n_choices[p] as usize].iter();
                    let worth = choices.flat_map(|(cost, views)| {
                        let views = views.iter().map(|&v| v as usize);
                        views.filter(|&v| self.views[v].key_set == s).map(move |v| {
                            cost / (sums[v][self.views[v].classes[p] as usize] + largest - 1.0)
                        })
                    });
                    let least = worth.fold(f64::INFINITY, f64::min);
                    if least.is_finite() && lacks[p] > 0.0 {
                        least
                    } else {
                        0.0
                    }
                };
                (0..lacks.len()).map(of).collect()
            })
            .collect()
    }

    /// Per view and class, the sum of a number of every record.
    fn sums(&self, numbers: &[Vec<f64>]) -> Vec<Vec<f64>> {
        parallel::map(&self.views, |view| {
            let mut sums = vec![0.0; view.n_classes];
            let numbers = numbers[view.key_set].iter().zip(&self.times);
            for (&class, (number, times)) in view.classes.iter().zip(numbers) {
                sums[class as usize] += number * times;
            }
            sums
        })
    }

    /// The bound at some prices, and in which direction it rises.
    fn value(&self, prices: &[Vec<f64>], monitor: &Monitor) -> Result<(f64, Vec<Vec<f64>>)> {
        let sums = self.sums(prices);
        let n = self.times.len();
        let best = parallel::map_rows(n, monitor, |p| self.best_choice(p, prices, &sums))?;
        let of = |p: usize| -> f64 {
            let due = self.lacks.iter().zip(prices).map(|(l, y)| l[p] * y[p]);
            self.times[p] * (due.sum::<f64>() + best[p].0)
        };
        let value = (0..n).map(of).sum();
        Ok((value, self.slope(prices, &best, monitor)?))
    }

    /// The least of 0 and what every choice of a pattern costs beyond its worth.
    fn best_choice(&self, p: usize, prices: &[Vec<f64>], sums: &[Vec<f64>]) -> (f64, u32) {
        let mut best = (0.0, NONE);
        let choices = &self.choices[..self.n_choices[p] as usize];
        for (c, (cost, views)) in choices.iter().enumerate() {
            let mut left = *cost;
            for &v in views {
                let view = &self.views[v as usize];
                let s = view.key_set;
                let own = (self.lacks[s][p] - self.times[p]) * prices[s][p];
                left -= sums[v as usize][view.classes[p] as usize] + own;
            }
            if left < best.0 {
                best = (left, c as u32);
            }
        }
        best
    }

    /// Shortfall of every constraint under the best choices.
    fn slope(
        &self,
        prices: &[Vec<f64>],
        best: &[(f64, u32)],
        monitor: &Monitor,
    ) -> Result<Vec<Vec<f64>>> {
        let opened = |p: usize| match best[p].1 {
            NONE => &[][..],
            c => &self.choices[c as usize].1,
        };
        let mut covered: Vec<Vec<f64>> = self
            .views
            .iter()
            .map(|view| vec![0.0; view.n_classes])
            .collect();
        for p in 0..self.times.len() {
            for &v in opened(p) {
                let class = self.views[v as usize].classes[p];
                covered[v as usize][class as usize] += self.times[p];
            }
        }
        (0..self.lacks.len())
            .map(|s| {
                let views = || {
                    self.views
                        .iter()
                        .enumerate()
                        .filter(|(_, view)| view.key_set == s)
                };
                let of = |p: usize| {
                    let reached: f64 = views()
                        .map(|(v, view)| covered[v][view.classes[p] as usize])
                        .sum();
                    let mine = opened(p)
                        .iter()
                        .filter(|&&v| self.views[v as usize].key_set == s);
                    let mine = mine.count() as f64;
                    let lacking =
                        self.lacks[s][p] * (1.0 - mine) - (reached - mine * self.times[p]);
                    if prices[s][p] <= 0.0 && lacking < 0.0 {
                        0.0
                    } else {
                        lacking
                    }
                };
                parallel::map_rows(self.times.len(), monitor, of)
            })
            .collect()
    }
}

impl View {
    fn new(
        problem: &Problem<'_>,
        part: &KeyTable,
        key_set: usize,
        without: u64,
        monitor: &Monitor,
    ) -> Result<Self> {
        let columns: Vec<Column> = (problem.columns(problem.sets[key_set], without).iter())
            .map(|&v| part.columns()[v].clone())
            .collect();
        if columns.is_empty() {
            return Ok(Self {
                key_set,
                classes: vec![0; part.n_rows()],
                n_classes: 1,
            });
        }
        let groups = KeyTable::new(columns)?.group(monitor)?;
        Ok(Self {
            key_set,
            classes: groups.row_group().to_vec(),
            n_classes: groups.len(),
        })
    }
}

/// Shortfall of every described pattern, less the records left out that could come to reach it.
/// `None` if there are too many pairs.
fn lacks(
    problem: &Problem<'_>,
    optima: &[Optimum],
    described: &[(u32, u32)],
    rows: &[u32],
    monitor: &Monitor,
) -> Result<Option<Vec<Vec<f64>>>> {
    let mut out = vec![true; optima.len()];
    for &(at, _) in described {
        out[at as usize] = false;
    }
    let left_out: Vec<u32> = (0u32..)
        .zip(&out)
        .filter(|(_, &o)| o)
        .map(|(at, _)| at)
        .collect();
    if left_out.len().saturating_mul(rows.len()) > MOST_PAIRS {
        return Ok(None);
    }
    let codes = |p: u32| -> Vec<u32> {
        let columns = problem.distinct.columns().iter();
        columns.map(|c| c.codes().get(p as usize)).collect()
    };
    let outside: Vec<Vec<u32>> = left_out
        .iter()
        .map(|&at| codes(problem.violators[at as usize]))
        .collect();
    let k = problem.settings.k;
    let of = |s: usize| {
        let keys = problem.sets[s];
        parallel::map_rows(rows.len(), monitor, |row| {
            let p = rows[row];
            let lack = k.saturating_sub(problem.before[s][p as usize]);
            let own = codes(p);
            let mut reach = 0;
            for (&at, other) in left_out.iter().zip(&outside) {
                if reach >= lack {
                    break;
                }
                if reaches(problem, keys, &own, other, at, optima) {
                    reach += problem.counts[problem.violators[at as usize] as usize];
                }
            }
            f64::from(lack.saturating_sub(reach))
        })
    };
    Ok(Some(
        (0..problem.sets.len()).map(of).collect::<Result<_>>()?,
    ))
}

/// True if violator `at` with the codes `other` could come to match a pattern by
/// blanks within its cap.
fn reaches(
    problem: &Problem<'_>,
    keys: u64,
    own: &[u32],
    other: &[u32],
    at: u32,
    optima: &[Optimum],
) -> bool {
    let n = problem.n_keys;
    if own[n..] != other[n..] {
        return false;
    }
    let apart = (0..n)
        .filter(|&v| keys >> v & 1 == 1 && own[v] != other[v] && own[v] != 0 && other[v] != 0)
        .fold(0u64, |all, v| all | 1 << v);
    apart != 0
        && apart & !problem.blankable == 0
        && at_most(problem.cost(apart), optima[at as usize].cost)
}
