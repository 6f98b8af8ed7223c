//! The sets of keys that buckets are made of.

use hashbrown::HashSet;

use crate::suppress::problem::Problem;
use crate::suppress::subsets::{at_most, keys_of, Subsets};

use super::{Cell, Turn, MOST_SETS};

/// Sets of keys to be tried, for the cells that are open, cheapest first.
pub(super) struct Levels<'a> {
    problem: &'a Problem<'a>,
    keys: u64,
    /// By the keys that are blank, and those that are missing where links lead.
    by_blank: Vec<(u64, Subsets<'a>)>,
    seen: HashSet<u64>,
}

impl<'a> Levels<'a> {
    pub fn new(turn: &Turn<'a>) -> Self {
        let mut blank: Vec<u64> = (turn.cells.iter().filter(|c| c.violating))
            .map(|c| known_to_links(turn.problem, c))
            .collect();
        blank.sort_unstable();
        blank.dedup();
        let of = |blank| (blank, Subsets::within(turn.problem, blank, turn.keys));
        Self {
            problem: turn.problem,
            keys: turn.keys,
            by_blank: blank.into_iter().map(of).collect(),
            seen: HashSet::new(),
        }
    }

    /// The next sets, all that cost up to `limit` at least; none at the end.
    pub fn next(&mut self, limit: f64) -> Vec<u64> {
        let mut sets = Vec::new();
        if self.seen.is_empty() {
            // Others can be made equal to a record that has missing values.
            self.seen.insert(0);
            let blank = self.by_blank.iter().map(|b| b.0 & self.keys);
            sets.extend(blank.filter(|&blank| blank != 0));
            self.seen.extend(&sets);
        }
        loop {
            let mut ended = true;
            for (blank, subsets) in &mut self.by_blank {
                loop {
                    let level = subsets.level();
                    ended &= level.is_empty();
                    let on = level
                        .first()
                        .is_some_and(|l| !at_most(limit, l.cost) && sets.len() < MOST_SETS);
                    for costed in level {
                        let set = (costed.set | *blank) & self.keys;
                        if self.seen.insert(set) {
                            sets.push(set);
                        }
                    }
                    if !on {
                        break;
                    }
                }
            }
            if ended || !sets.is_empty() {
                return sets;
            }
        }
    }

    /// Least cost of a set that is still to come in a record of `cell`.
    pub fn least(&self, cell: &Cell) -> f64 {
        let blank = known_to_links(self.problem, cell);
        let subsets = self.by_blank.iter().find(|b| b.0 == blank);
        let least = subsets.map_or(0.0, |(_, subsets)| subsets.least());
        if least.is_finite() && !self.problem.settings.linked.is_empty() {
            // Values that are missing outside the key set make links cheaper.
            return keys_of(self.problem.choosable)
                .map(|v| self.problem.settings.weights[v])
                .fold(f64::INFINITY, f64::min);
        }
        least
    }
}

/// The blanks of a cell; a link that leads to a missing value ends there, so that with links
/// these belong to them.
fn known_to_links(problem: &Problem<'_>, cell: &Cell) -> u64 {
    match problem.settings.linked.is_empty() {
        true => cell.blank,
        false => cell.missing,
    }
}
