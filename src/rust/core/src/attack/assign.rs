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
//!
//! Often several assignments have the largest sum. The duals of one of them tell which
//! pairs of rows occur in any ([`ties`]); their assignments are spread as evenly as they
//! can be, by largest entropy, so that the order of the records does not matter.

use hashbrown::HashMap;

use super::patterns::{codes_of, Patterns};
use super::ties::{evenly, Ties};
use super::weights::Weights;
use crate::error::Result;
use crate::memory::{filled, room_for};
use crate::parallel::{self, Monitor};

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

/// An assignment of least cost, and its duals.
struct Assigned {
    /// Per record of the assigned side, the record of the other it gets.
    of_record: Vec<usize>,
    /// Per record of the assigned side, and of the other, where the cost of a pair is at
    /// least the sum of both, and is it in every assignment of least cost.
    own_price: Vec<i64>,
    price: Vec<i64>,
}

fn assign(costs: &Costs, monitor: &Monitor) -> Result<Assigned> {
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
    Ok(Assigned {
        of_record,
        own_price,
        price,
    })
}

/// Per pair of rows, of the assigned side and the other (`row_of_other`), the records that
/// the assignments of least cost give each other on average.
fn even_flows(
    costs: &Costs,
    row_of_other: &[u32],
    monitor: &Monitor,
) -> Result<HashMap<(u32, u32), f64>> {
    let found = assign(costs, monitor)?;
    let n_other = row_of_other.iter().max().map_or(0, |&row| row as usize + 1);
    // Records of one row have one price.
    let mut first = filled(NOBODY, n_other)?;
    let mut ties = Ties::new(costs.of_row.len(), n_other)?;
    for (j, &row) in row_of_other.iter().enumerate() {
        first[row as usize] = j;
        ties.count_other(row, found.price[j] < 0);
    }
    let mut own_price = filled(0i64, costs.of_row.len())?;
    for ((&row, &j), &price) in (costs.row_of.iter())
        .zip(&found.of_record)
        .zip(&found.own_price)
    {
        own_price[row as usize] = price;
        ties.add_flow(row, row_of_other[j]);
    }
    for (row, own) in (0u32..).zip(&own_price) {
        monitor.check()?;
        let of_row = &costs.of_row[row as usize];
        for (other, &j) in (0u32..).zip(&first) {
            if j != NOBODY && i64::from(of_row[j]) == own + found.price[j] {
                ties.allow(row, other);
            }
        }
    }
    evenly(ties, monitor)
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
    let of_row = parallel::try_map(0..n_mine as u32, monitor, |a| {
        let costs = other.iter().map(|&b| match known_first {
            true => cost(a, b),
            false => cost(b, a),
        });
        Ok(costs.collect())
    })?;
    let costs = Costs {
        of_row,
        row_of: mine.to_vec(),
        n_other: other.len(),
    };
    let flows = even_flows(&costs, other, monitor)?;
    let shares = partners.map(|(released, known)| {
        let (row, query) = (row_of_known[known], queries[released]);
        let pair = if known_first {
            (row, query)
        } else {
            (query, row)
        };
        let flow = flows.get(&pair).copied().unwrap_or(0.0);
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

    /// All assignments of least cost.
    fn best(costs: &[Vec<i32>]) -> Vec<Vec<usize>> {
        let least = brute(costs, &mut vec![false; costs[0].len()]);
        let mut all = vec![Vec::new()];
        for row in costs {
            let longer = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
                let free = (0..row.len()).filter(|j| !chosen.contains(j));
                free.map(|j| [&chosen[..], &[j]].concat()).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all.retain(|chosen| total(costs, chosen) == least);
        all
    }

    fn flows_of(costs: &[Vec<i32>]) -> HashMap<(u32, u32), f64> {
        let m = costs[0].len();
        let asked = Costs {
            row_of: (0..costs.len() as u32).collect(),
            of_row: costs.to_vec(),
            n_other: m,
        };
        let other: Vec<u32> = (0..m as u32).collect();
        even_flows(&asked, &other, &Monitor::new()).unwrap()
    }

    proptest! {
        #[test]
        fn flows_are_on_the_pairs_of_the_best_assignments_whatever_the_order(
            costs in (1usize..5, 0usize..3).prop_flat_map(|(n, more)| {
                prop::collection::vec(prop::collection::vec(-1i32..2, n + more), n)
            }),
            turn in 0usize..5
        ) {
            let (n, m) = (costs.len(), costs[0].len());
            let flows = flows_of(&costs);
            let flow = |i: usize, j: usize| flows.get(&(i as u32, j as u32)).copied().unwrap_or(0.0);
            let all = best(&costs);
            for i in 0..n {
                prop_assert!(((0..m).map(|j| flow(i, j)).sum::<f64>() - 1.0).abs() < 1e-6);
                for j in 0..m {
                    let n_there = all.iter().filter(|chosen| chosen[i] == j).count();
                    prop_assert_eq!(flow(i, j) > 1e-9, n_there > 0);
                    let mean = n_there as f64 / all.len() as f64;
                    // The most even flows are the mean of all assignments but for their ends.
                    let tolerance = if n == m && n <= 2 { 1e-6 } else { 0.2 };
                    prop_assert!((flow(i, j) - mean).abs() < tolerance);
                }
            }
            for j in 0..m {
                prop_assert!((0..n).map(|i| flow(i, j)).sum::<f64>() < 1.0 + 1e-6);
            }
            let mut other = costs;
            other.rotate_left(turn % n);
            other.iter_mut().for_each(|row| row.rotate_left(turn % m));
            let turned = flows_of(&other);
            for i in 0..n {
                for j in 0..m {
                    let at = ((i + n - turn % n) % n, (j + m - turn % m) % m);
                    let there = turned.get(&(at.0 as u32, at.1 as u32)).copied().unwrap_or(0.0);
                    prop_assert!((flow(i, j) - there).abs() < 1e-6);
                }
            }
        }

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
            let chosen = assign(&asked, &Monitor::new()).unwrap().of_record;
            let mut seen = chosen.clone();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), costs.len());
            prop_assert_eq!(total(&costs, &chosen), brute(&costs, &mut vec![false; m]));
        }
    }
}
