//! Local search: take a few alike blanks back, serve whoever is left over anew,
//! keep what costs no more.

use rand::rngs::ChaCha8Rng;
use rand::RngExt;

use crate::error::Result;

use super::greedy::State;

/// Blanks taken back in a round, at most.
const MOST_TAKEN: usize = 6;
/// Blanked records looked at for alike ones.
const LOOKED_AT: usize = 400;

/// Rounds of search from a state without violations until the rounds are over
/// or the cost is `least`; how many of them lowered the cost.
pub(super) fn search(state: &mut State<'_, '_>, least: f64) -> Result<usize> {
    let mut rng = state.problem.settings.streams.block(0);
    let mut cost = state.cost();
    let mut improved = 0;
    for round in 0..state.problem.settings.rounds {
        if round % 16 == 0 {
            state.monitor.check()?;
        }
        if cost <= least * (1.0 + 1e-9) {
            break;
        }
        let Some(taken) = alike(state, &mut rng) else {
            break;
        };
        let before: f64 = taken
            .iter()
            .map(|&i| state.problem.cost(state.blank[i as usize]))
            .sum();
        let changed = anew(state, &taken, before, &mut rng)?;
        if changed < -1e-9 * cost {
            improved += 1;
        }
        cost += changed;
    }
    Ok(improved)
}

/// A blanked record and others equal to it outside two keys.
fn alike(state: &State<'_, '_>, rng: &mut ChaCha8Rng) -> Option<Vec<u32>> {
    let blanked: Vec<u32> = (0u32..)
        .zip(&state.blank)
        .filter(|(_, &set)| set != 0)
        .map(|(i, _)| i)
        .collect();
    if blanked.is_empty() {
        return None;
    }
    let first = blanked[rng.random_range(0..blanked.len())];
    let n_keys = state.problem.n_keys;
    let (a, b) = (rng.random_range(0..n_keys), rng.random_range(0..n_keys));
    let table = &state.problem.distinct;
    let row = |i: u32| state.listed.patterns[state.listed.pattern[i as usize] as usize] as usize;
    let equal = |i: u32| {
        table.columns().iter().enumerate().all(|(v, column)| {
            v == a || v == b || column.codes().get(row(i)) == column.codes().get(row(first))
        })
    };
    let start = rng.random_range(0..blanked.len());
    let mut taken = vec![first];
    for step in 0..blanked.len().min(LOOKED_AT) {
        let i = blanked[(start + step) % blanked.len()];
        if taken.len() < MOST_TAKEN && i != first && equal(i) {
            taken.push(i);
        }
    }
    Some(taken)
}

/// Takes the blanks of some records back and serves whom that leaves open.
/// Change of the cost; 0 if everything is restored because it would rise.
fn anew(
    state: &mut State<'_, '_>,
    taken: &[u32],
    before: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64> {
    let mut old: Vec<(u32, u64)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for &i in taken {
        old.push((i, state.blank[i as usize]));
        open.extend(state.leaning(i)?);
        state.set_blanks(i, 0)?;
    }
    open.extend(taken);
    open.sort_unstable();
    open.dedup();
    // A record that depends on others in spite of its own suppressed values is served anew, too.
    let mut paid = before;
    while let Some(&i) = open
        .iter()
        .find(|&&i| state.blank[i as usize] != 0 && state.is_open(i))
    {
        paid += state.problem.cost(state.blank[i as usize]);
        old.push((i, state.blank[i as usize]));
        let more = state.leaning(i)?;
        state.set_blanks(i, 0)?;
        open.extend(more);
        open.sort_unstable();
        open.dedup();
    }
    let mut spent = 0.0;
    while let Some((i, cost, set)) = best_move(state, &open, rng)? {
        spent += cost;
        if spent > paid * (1.0 + 1e-9) {
            break;
        }
        old.push((i, 0));
        state.set_blanks(i, set)?;
    }
    if state.n_open() == 0 && spent <= paid * (1.0 + 1e-9) {
        return Ok(spent - paid);
    }
    for &(i, set) in old.iter().rev() {
        state.set_blanks(i, set)?;
    }
    Ok(0.0)
}

/// The move of one of the records `asked`, without blanks, that serves most for
/// its cost; ties at random.
fn best_move(
    state: &mut State<'_, '_>,
    asked: &[u32],
    rng: &mut ChaCha8Rng,
) -> Result<Option<(u32, f64, u64)>> {
    if state.n_open() == 0 {
        return Ok(None);
    }
    let choices = state.choices;
    let mut best: Option<(f64, u32, f64, u64)> = None;
    let mut ties = 0u32;
    for &i in asked.iter().filter(|&&i| choices.of[i as usize].1 > 0) {
        if state.blank[i as usize] != 0 {
            continue;
        }
        let missing = state.missing(i);
        state.prepare(missing)?;
        for &(cost, set) in choices.sets(i) {
            state.prepare(set | missing)?;
            let Some((ratio, _)) = state.worth(i, cost, set) else {
                continue;
            };
            let order = best.map_or(std::cmp::Ordering::Greater, |b| ratio.total_cmp(&b.0));
            if order.is_eq() {
                ties += 1;
            } else if order.is_gt() {
                ties = 1;
            }
            if order.is_gt() || order.is_eq() && rng.random_range(0..ties) == 0 {
                best = Some((ratio, i, cost, set));
            }
        }
    }
    Ok(best.map(|(_, i, cost, set)| (i, cost, set)))
}
