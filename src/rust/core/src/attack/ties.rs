//! Assignments of equal cost, spread as evenly as can be.
//!
//! Pairs of rows may share records where their cost equals the sum of their prices
//! ("tight"), and every assignment on tight pairs that gives away all records of the
//! assigned side, and all with a price of the other, costs least. Seen as flows, some
//! tight pairs have none in any of them: a pair has one in some assignment if it has
//! in the one at hand, or lies on a cycle of the pairs that could take more and those
//! that could give way, that is in one strongly connected component. On the pairs
//! that are left the flow of largest entropy is unique; it is the most likely one if
//! assignments are drawn at random. It is found by scaling rows and columns in turn
//! (Sinkhorn 1967).

use hashbrown::HashMap;

use crate::error::Result;
use crate::memory::filled;
use crate::parallel::Monitor;

/// Passes over the pairs, and what they may look at in all.
const PASSES: usize = 10_000;
const MOST_LOOKS: usize = 4_000_000_000;
/// Flows are right to this share.
const TOLERANCE: f64 = 1e-10;
const UNSEEN: u32 = u32::MAX;

/// Pairs of rows of two sides that may share records.
#[derive(Debug)]
pub(super) struct Ties {
    n_mine: usize,
    /// Records of every row: of the assigned side and then of the other.
    counts: Vec<f64>,
    /// True if all records of a row of the other side are given away.
    needed: Vec<bool>,
    /// Per row of the assigned side, the rows that may get its records.
    allowed: Vec<Vec<u32>>,
    /// The assignment at hand.
    flow: HashMap<(u32, u32), u32>,
}

impl Ties {
    pub fn new(n_mine: usize, n_other: usize) -> Result<Self> {
        Ok(Self {
            n_mine,
            counts: filled(0.0, n_mine + n_other)?,
            needed: filled(false, n_other)?,
            allowed: vec![Vec::new(); n_mine],
            flow: HashMap::new(),
        })
    }

    /// One more record of a row of the other side.
    pub fn count_other(&mut self, row: u32, needed: bool) {
        self.counts[self.n_mine + row as usize] += 1.0;
        self.needed[row as usize] |= needed;
    }

    /// One more record of a row of the assigned side, and the row it goes to.
    pub fn add_flow(&mut self, mine: u32, other: u32) {
        self.counts[mine as usize] += 1.0;
        *self.flow.entry((mine, other)).or_insert(0) += 1;
    }

    pub fn allow(&mut self, mine: u32, other: u32) {
        self.allowed[mine as usize].push(other);
    }

    /// Adds a row to the assigned side that takes what nobody gets; its number, where there
    /// is such a rest.
    fn add_rest(&mut self) -> Option<u32> {
        let mut left: Vec<f64> = self.counts[self.n_mine..].to_vec();
        for (&(_, other), &n) in &self.flow {
            left[other as usize] -= f64::from(n);
        }
        let total: f64 = left.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let rest = self.n_mine as u32;
        self.counts.insert(self.n_mine, total);
        self.n_mine += 1;
        let others = 0..left.len() as u32;
        let free =
            others.filter(|&other| !self.needed[other as usize] && left[other as usize] >= 0.0);
        self.allowed.push(free.collect());
        for (other, n) in (0u32..).zip(left).filter(|(_, n)| *n > 0.0) {
            self.flow.insert((rest, other), n as u32);
        }
        Some(rest)
    }

    /// Leaves the pairs that share records in some assignment.
    fn prune(&mut self) -> Result<()> {
        let n_mine = self.n_mine;
        let mut next: Vec<Vec<u32>> = self.allowed.clone();
        next.resize(self.counts.len(), Vec::new());
        for list in &mut next[..n_mine] {
            list.iter_mut().for_each(|other| *other += n_mine as u32);
        }
        for &(mine, other) in self.flow.keys() {
            next[n_mine + other as usize].push(mine);
        }
        let component = components(&next)?;
        for (mine, list) in self.allowed.iter_mut().enumerate() {
            list.retain(|&other| {
                component[mine] == component[n_mine + other as usize]
                    || self.flow.contains_key(&(mine as u32, other))
            });
        }
        Ok(())
    }
}

/// The strongly connected component of every node (Tarjan 1972, without recursion).
fn components(next: &[Vec<u32>]) -> Result<Vec<u32>> {
    let n = next.len();
    let (mut index, mut low) = (filled(UNSEEN, n)?, filled(0u32, n)?);
    let mut component = filled(UNSEEN, n)?;
    let (mut seen, mut n_components) = (0, 0);
    let (mut path, mut open) = (Vec::new(), Vec::new());
    for start in 0..n as u32 {
        if index[start as usize] != UNSEEN {
            continue;
        }
        path.push((start, 0usize));
        while let Some((node, at)) = path.pop() {
            let v = node as usize;
            if at == 0 {
                index[v] = seen;
                low[v] = seen;
                seen += 1;
                open.push(node);
            } else {
                low[v] = low[v].min(low[next[v][at - 1] as usize]);
            }
            let mut at = at;
            while let Some(&to) = next[v].get(at) {
                at += 1;
                if index[to as usize] == UNSEEN {
                    path.push((node, at));
                    path.push((to, 0));
                    break;
                }
                if component[to as usize] == UNSEEN {
                    low[v] = low[v].min(index[to as usize]);
                }
            }
            if path.last().is_some_and(|&(_, at)| at == 0) {
                continue;
            }
            if low[v] == index[v] {
                while let Some(member) = open.pop() {
                    component[member as usize] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    Ok(component)
}

/// The records that pairs of rows share, of all assignments on the pairs allowed the one
/// of largest entropy.
pub(super) fn evenly(mut ties: Ties, monitor: &Monitor) -> Result<HashMap<(u32, u32), f64>> {
    let rest = ties.add_rest();
    ties.prune()?;
    let n_mine = ties.n_mine;
    let pairs: usize = ties.allowed.iter().map(Vec::len).sum();
    let passes = PASSES.min(MOST_LOOKS / pairs.max(1)).max(1);
    let (mine, others) = ties.counts.split_at(n_mine);
    let mut of_mine = filled(1.0, n_mine)?;
    let mut of_other = filled(1.0, others.len())?;
    let mut sums = filled(0.0, others.len())?;
    for _ in 0..passes {
        monitor.check()?;
        sums.fill(0.0);
        for (i, list) in ties.allowed.iter().enumerate() {
            let sum: f64 = list.iter().map(|&j| of_other[j as usize]).sum();
            of_mine[i] = mine[i] / sum;
            list.iter().for_each(|&j| sums[j as usize] += of_mine[i]);
        }
        let mut off = 0.0f64;
        for ((factor, &sum), &n) in of_other.iter_mut().zip(&sums).zip(others) {
            if sum > 0.0 {
                off = off.max((*factor * sum / n - 1.0).abs());
                *factor = n / sum;
            }
        }
        if off < TOLERANCE {
            break;
        }
    }
    let mut flows = HashMap::new();
    for (i, list) in (0u32..).zip(&ties.allowed) {
        if Some(i) != rest {
            let share = |&j: &u32| ((i, j), of_mine[i as usize] * of_other[j as usize]);
            flows.extend(list.iter().map(share));
        }
    }
    Ok(flows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reaches(next: &[Vec<u32>], from: usize) -> Vec<bool> {
        let mut seen = vec![false; next.len()];
        let mut left = vec![from];
        while let Some(v) = left.pop() {
            if !std::mem::replace(&mut seen[v], true) {
                left.extend(next[v].iter().map(|&to| to as usize));
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn components_are_nodes_that_reach_each_other(
            next in (1usize..9).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0..n as u32, 0..4), n)
            })
        ) {
            let found = components(&next).unwrap();
            let reached: Vec<Vec<bool>> = (0..next.len()).map(|v| reaches(&next, v)).collect();
            for a in 0..next.len() {
                for b in 0..next.len() {
                    prop_assert_eq!(found[a] == found[b], reached[a][b] && reached[b][a]);
                }
            }
        }
    }
}
