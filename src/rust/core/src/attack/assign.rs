//! Every known record for one released record at most.
//!
//! An intruder who knows that nobody is in a file twice can look for the
//! assignment whose weights have the largest sum. It is found by shortest
//! augmenting paths (Jonker and Volgenant 1987): released records come one by
//! one, and each time a chain of reassignments that costs least makes room.
//!
//! Records with equal values are exchangeable: with `f` assignments between the
//! `c` released records of one row and the `k` known records of another, a
//! released record of a true partner there is right with probability
//! `f / (c k)`.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::patterns::{codes_of, Patterns};
use super::weights::Weights;
use crate::error::Result;
use crate::memory::{filled, room_for};
use crate::parallel::Monitor;

/// Steps of a weight in one unit.
const GRID: f64 = 65536.0;
const NOBODY: usize = usize::MAX;

/// Weights of all pairs of two sets of rows, negative: what an assignment costs.
struct Costs {
    /// Per distinct row of the side that is assigned, the costs of all records of
    /// the other.
    of_row: Vec<Vec<i32>>,
    row_of: Vec<u32>,
    n_other: usize,
}

/// Per record of the assigned side, the record of the other it gets.
fn assign(costs: &Costs, monitor: &Monitor) -> Result<Vec<usize>> {
    let (n, m) = (costs.row_of.len(), costs.n_other);
    let mut price = filled(0i64, m)?;
    let mut owner = filled(NOBODY, m)?;
    let mut own_price = filled(0i64, n)?;
    for start in 0..n {
        let mut least = vec![i64::MAX; m];
        let mut before = vec![NOBODY; m];
        let mut done = vec![false; m];
        let (mut record, mut last) = (start, NOBODY);
        loop {
            monitor.check()?;
            let row = &costs.of_row[costs.row_of[record] as usize];
            let (mut step, mut next) = (i64::MAX, NOBODY);
            for (j, &cost) in row.iter().enumerate() {
                if done[j] {
                    continue;
                }
                let reduced = i64::from(cost) - own_price[record] - price[j];
                if reduced < least[j] {
                    least[j] = reduced;
                    before[j] = last;
                }
                if least[j] < step {
                    step = least[j];
                    next = j;
                }
            }
            // All chains grow by the shortest step.
            own_price[start] += step;
            for (j, &is_done) in done.iter().enumerate() {
                if is_done {
                    own_price[owner[j]] += step;
                    price[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            done[next] = true;
            last = next;
            if owner[next] == NOBODY {
                break;
            }
            record = owner[next];
        }
        // Back along the chain: everybody moves on by one.
        while last != NOBODY {
            let previous = before[last];
            owner[last] = if previous == NOBODY {
                start
            } else {
                owner[previous]
            };
            last = previous;
        }
    }
    let mut of_record = vec![NOBODY; n];
    for (j, &record) in owner.iter().enumerate() {
        if record != NOBODY {
            of_record[record] = j;
        }
    }
    Ok(of_record)
}

/// Expected correct matches of the best assignment; `row_of_known` and
/// `partners` say who is who.
pub(super) fn expected_one_to_one(
    patterns: &Patterns,
    row_of_known: &[u32],
    partners: impl Iterator<Item = (usize, usize)>,
    weights: &Weights,
    monitor: &Monitor,
) -> Result<f64> {
    let queries = &patterns.query_of_record;
    let (n1, n2) = (row_of_known.len(), queries.len());
    // The smaller side is assigned, so that everybody gets somebody.
    let known_first = n1 < n2;
    let (mine, other) = if known_first {
        (row_of_known, queries.as_slice())
    } else {
        (queries.as_slice(), row_of_known)
    };
    let n_mine = if known_first {
        patterns.n_rows()
    } else {
        patterns.n_queries()
    };
    room_for(n_mine * other.len() * 4)?;
    let all = |n: usize| (0..n as u32).collect::<Vec<u32>>();
    let codes = |table: &crate::key_table::KeyTable| -> Vec<Vec<u32>> {
        let rows = all(table.n_rows());
        table.columns().iter().map(|c| codes_of(c, &rows)).collect()
    };
    let (rows, asked) = (codes(&patterns.rows), codes(&patterns.queries));
    let cost = |row: u32, query: u32| {
        let pairs = rows.iter().zip(&asked);
        let pairs = pairs.map(|(x, y)| (x[row as usize], y[query as usize]));
        -(weights.of_pair(pairs) * GRID).round() as i32
    };
    let of_row = (0..n_mine as u32)
        .into_par_iter()
        .map(|a| {
            monitor.check()?;
            let costs = other.iter().map(|&b| match known_first {
                true => cost(a, b),
                false => cost(b, a),
            });
            Ok(costs.collect())
        })
        .collect::<Result<Vec<Vec<i32>>>>()?;
    let costs = Costs {
        of_row,
        row_of: mine.to_vec(),
        n_other: other.len(),
    };
    let mut flows: HashMap<(u32, u32), f64> = HashMap::new();
    for (record, &j) in assign(&costs, monitor)?.iter().enumerate() {
        let pair = match known_first {
            true => (mine[record], other[j]),
            false => (other[j], mine[record]),
        };
        *flows.entry(pair).or_insert(0.0) += 1.0;
    }
    let shares = partners.map(|(released, known)| {
        let (row, query) = (row_of_known[known], queries[released]);
        let flow = flows.get(&(row, query)).copied().unwrap_or(0.0);
        let (c, k) = (
            patterns.query_counts[query as usize] as f64,
            patterns.counts[row as usize] as f64,
        );
        flow / (c * k)
    });
    Ok(shares.sum::<f64>() + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(costs: &[Vec<i32>], chosen: &[usize]) -> i64 {
        let pairs = costs.iter().zip(chosen);
        pairs.map(|(row, &j)| i64::from(row[j])).sum()
    }

    /// The least sum over all assignments.
    fn brute(costs: &[Vec<i32>], taken: &mut Vec<bool>) -> i64 {
        let Some((row, rest)) = costs.split_first() else {
            return 0;
        };
        let mut best = i64::MAX;
        for (j, &cost) in row.iter().enumerate() {
            if !taken[j] {
                taken[j] = true;
                best = best.min(i64::from(cost) + brute(rest, taken));
                taken[j] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_assignment_costs_least(
            costs in (1usize..5, 0usize..3).prop_flat_map(|(n, more)| {
                prop::collection::vec(prop::collection::vec(-9i32..9, n + more), n)
            })
        ) {
            let m = costs[0].len();
            let asked = Costs {
                row_of: (0..costs.len() as u32).collect(),
                of_row: costs.clone(),
                n_other: m,
            };
            let chosen = assign(&asked, &Monitor::new()).unwrap();
            let mut seen = chosen.clone();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), costs.len());
            prop_assert_eq!(total(&costs, &chosen), brute(&costs, &mut vec![false; m]));
        }
    }
}
