//! The fewest blanks such that every record has its matches, none losing more
//! than it needs alone.

use hashbrown::HashMap;

use crate::error::Result;
use crate::parallel::Monitor;

use super::bound::{bound, Bound};
use super::counter::Counter;
use super::greedy::{Choices, State};
use super::listed::Listed;
use super::own::Optimum;
use super::problem::Problem;
use super::search::search;
use super::subsets::{at_most, Subsets};
use super::Suppression;

/// Sets of keys that every record is offered, at most; whole costs at a time.
const MOST_CHOICES: usize = 500;
/// One, in the whole numbers that prices are.
const UNIT: f64 = (1 << 20) as f64;
/// Value of a violator in addition to its price in the bound: at a price of 0 it must be served
/// too.
const LEAST_PRICE: f64 = 0.02;

/// Choices of the listed records, and which violators have all that the rule
/// leaves them: their places, with the number of choices.
struct Offered {
    choices: Choices,
    complete: Vec<(u32, u32)>,
    restricted: bool,
}

pub(super) fn release<'p>(
    problem: &'p Problem<'p>,
    listed: &'p Listed,
    counters: &mut [Counter<'p>],
    optima: &[Optimum],
    monitor: &Monitor,
) -> Result<Suppression> {
    let offered = offer(problem, listed, optima);
    let choices = &offered.choices;
    let place = places(problem, listed);
    let plain = |_: usize, _: usize| UNIT as i64;
    let mut state = State::new(problem, listed, choices, counters, plain, monitor);
    state.serve()?;
    state.give_back()?;
    let (mut blank, mut cost) = (state.blank.clone(), state.cost());

    let list = choices.lists.first().map_or(&[][..], |list| list);
    let found = bound(problem, optima, &offered.complete, list, cost, monitor)?;
    if cost > found.value * (1.0 + 1e-9) {
        let prices = prices(problem, &found);
        let priced = |s: usize, i: usize| match place[i] {
            u32::MAX => 0,
            at => prices[s][at as usize],
        };
        let mut state = State::new(problem, listed, choices, counters, priced, monitor);
        state.serve()?;
        state.give_back()?;
        if state.cost() < cost {
            (blank, cost) = (state.blank.clone(), state.cost());
        }
    }
    let mut improved = 0;
    if problem.settings.rounds > 0 && cost > found.value * (1.0 + 1e-9) {
        let mut state = State::new(problem, listed, choices, counters, plain, monitor);
        for (i, &set) in (0u32..).zip(&blank) {
            state.set_blanks(i, set)?;
        }
        improved = search(&mut state, found.value)?;
        blank.clone_from(&state.blank);
    }
    let mut blanks = vec![0u64; problem.row_pattern.len()];
    for (&row, &set) in listed.rows.iter().zip(&blank) {
        blanks[row as usize] = set;
    }
    let mut suppression = Suppression::new(problem, blanks, found.value);
    suppression.restricted = offered.restricted;
    suppression.bound_steps = found.steps;
    suppression.improved = improved;
    Ok(suppression)
}

/// Per listed record, the place of its pattern among the violators.
fn places(problem: &Problem<'_>, listed: &Listed) -> Vec<u32> {
    let mut place = vec![u32::MAX; problem.counts.len()];
    for (at, &p) in (0u32..).zip(&problem.violators) {
        place[p as usize] = at;
    }
    let of = |&l: &u32| place[listed.patterns[l as usize] as usize];
    listed.pattern.iter().map(of).collect()
}

/// The choices of every violator: all sets within its cap, or, where these are
/// too many, the cheaper ones and its own optima.
fn offer(problem: &Problem<'_>, listed: &Listed, optima: &[Optimum]) -> Offered {
    let mut lists: Vec<Vec<(f64, u64)>> = vec![Vec::new()];
    let mut list_of: HashMap<u64, u32> = HashMap::from([(0, 0)]);
    let mut own_lists: HashMap<(u32, Vec<u64>), (u32, u32)> = HashMap::new();
    // Up to this cost a list is whole.
    let mut whole: Vec<f64> = vec![0.0];
    for (&p, optimum) in problem.violators.iter().zip(optima) {
        let missing = problem.missing[p as usize];
        let next = lists.len() as u32;
        let list = *list_of.entry(missing).or_insert(next);
        if list == next {
            lists.push(Vec::new());
            whole.push(0.0);
        }
        whole[list as usize] = whole[list as usize].max(optimum.cost);
    }
    for (&missing, &list) in &list_of {
        let at = list as usize;
        (lists[at], whole[at]) = affordable(problem, missing, whole[at]);
    }
    let mut offered = Offered {
        choices: Choices {
            lists: Vec::new(),
            of: Vec::new(),
        },
        complete: Vec::new(),
        restricted: false,
    };
    let mut of_violator = Vec::with_capacity(optima.len());
    for (at, (&p, optimum)) in (0u32..).zip(problem.violators.iter().zip(optima)) {
        let missing = problem.missing[p as usize];
        let list = list_of[&missing];
        let within = |&(cost, _): &(f64, u64)| at_most(cost, optimum.cost);
        if at_most(optimum.cost, whole[list as usize]) {
            let n = lists[list as usize].partition_point(within) as u32;
            of_violator.push((list, n));
            if missing == 0 {
                offered.complete.push((at, n));
            }
            continue;
        }
        offered.restricted = true;
        let key = (list, optimum.sets.clone());
        let entry = *own_lists.entry(key).or_insert_with(|| {
            let mut own = lists[list as usize].clone();
            own.extend(optimum.sets.iter().map(|&set| (optimum.cost, set)));
            let n = own.len() as u32;
            lists.push(own);
            (lists.len() as u32 - 1, n)
        });
        of_violator.push(entry);
    }
    let place = places(problem, listed);
    let of = |&at: &u32| of_violator.get(at as usize).copied().unwrap_or((0, 0));
    offered.choices = Choices {
        of: place.iter().map(of).collect(),
        lists,
    };
    offered
}

/// The sets of keys that cost at most `limit`, or as many whole costs as there
/// is room for; beside them the cost up to which they are all there.
fn affordable(problem: &Problem<'_>, missing: u64, limit: f64) -> (Vec<(f64, u64)>, f64) {
    let mut subsets = Subsets::new(problem, missing);
    let mut list: Vec<(f64, u64)> = Vec::new();
    let mut whole = 0.0;
    loop {
        let level = subsets.level();
        let beyond = level.first().is_none_or(|l| !at_most(l.cost, limit));
        if beyond || list.len() + level.len() > MOST_CHOICES && !list.is_empty() {
            return (list, if beyond { limit } else { whole });
        }
        whole = level.first().map_or(whole, |l| l.cost);
        list.extend(level.iter().map(|l| (l.cost, l.set)));
    }
}

/// Prices as whole numbers, so that sums of them are exact.
fn prices(problem: &Problem<'_>, found: &Bound) -> Vec<Vec<i64>> {
    let finite = problem.settings.weights.iter().filter(|w| w.is_finite());
    let largest = finite.copied().fold(f64::MIN_POSITIVE, f64::max);
    (found.prices.iter())
        .map(|prices| {
            let known: Vec<f64> = prices.iter().flatten().copied().collect();
            let usual = if known.is_empty() {
                largest
            } else {
                known.iter().sum::<f64>() / known.len() as f64
            };
            let of = |price: &Option<f64>| {
                let price = price.unwrap_or(usual) / largest + LEAST_PRICE;
                (UNIT * price).round() as i64
            };
            prices.iter().map(of).collect()
        })
        .collect()
}
