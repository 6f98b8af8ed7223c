//! One blank set at a time, the one that serves most for its cost.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::memory::room_for;
use crate::parallel::{self, Monitor};

use super::counter::Counter;
use super::listed::Listed;
use super::problem::Problem;

/// The sets that each record may lose, cheapest first.
#[derive(Debug)]
pub(super) struct Choices {
    /// Lists that records share.
    pub lists: Vec<Vec<(f64, u64)>>,
    /// Per listed record, its list and how much of it is within its cap; no
    /// choice for records that do not violate.
    pub of: Vec<(u32, u32)>,
}

impl Choices {
    /// The sets of a listed record.
    pub fn sets(&self, i: u32) -> &[(f64, u64)] {
        let (list, n) = self.of[i as usize];
        &self.lists[list as usize][..n as usize]
    }
}

/// A move and what it was worth when it was last looked at.
#[derive(Debug, Clone, Copy)]
struct Move {
    ratio: f64,
    f: u32,
    record: u32,
    choice: u32,
}

impl Ord for Move {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.ratio.total_cmp(&other.ratio))
            .then(self.f.cmp(&other.f))
            .then_with(|| Reverse(self.record).cmp(&Reverse(other.record)))
            .then_with(|| Reverse(self.choice).cmp(&Reverse(other.choice)))
    }
}

impl PartialOrd for Move {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Move {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Move {}

/// Blanks on their way, with the matches they give.
#[derive(Debug)]
pub(super) struct State<'a, 'p> {
    pub problem: &'p Problem<'p>,
    pub listed: &'p Listed,
    pub choices: &'a Choices,
    pub counters: &'a mut [Counter<'p>],
    /// Per listed record, the keys blanked by us.
    pub blank: Vec<u64>,
    pub monitor: &'a Monitor,
}

impl<'a, 'p> State<'a, 'p> {
    /// Nothing blanked; `price` of every listed record.
    pub fn new(
        problem: &'p Problem<'p>,
        listed: &'p Listed,
        choices: &'a Choices,
        counters: &'a mut [Counter<'p>],
        price: impl Fn(usize, usize) -> i64,
        monitor: &'a Monitor,
    ) -> Self {
        for (s, counter) in counters.iter_mut().enumerate() {
            counter.reset(|i| price(s, i));
        }
        Self {
            problem,
            listed,
            choices,
            counters,
            blank: vec![0; listed.rows.len()],
            monitor,
        }
    }

    /// Violations left.
    pub fn n_open(&self) -> usize {
        self.counters.iter().map(Counter::n_open).sum()
    }

    /// True if `i` has too few matches in some key set.
    pub fn is_open(&self, i: u32) -> bool {
        self.counters.iter().any(|counter| counter.is_open(i))
    }

    /// Keys that are missing in the original of `i`.
    pub fn missing(&self, i: u32) -> u64 {
        let pattern = self.listed.patterns[self.listed.pattern[i as usize] as usize];
        self.problem.missing[pattern as usize]
    }

    /// Cost of all blanks.
    pub fn cost(&self) -> f64 {
        self.blank
            .iter()
            .filter(|&&s| s != 0)
            .map(|&s| self.problem.cost(s))
            .sum()
    }

    /// Makes looks with the blank set `q` possible in all key sets.
    pub fn prepare(&mut self, q: u64) -> Result<()> {
        for counter in self.counters.iter_mut() {
            counter.prepare(q, self.monitor)?;
        }
        Ok(())
    }

    /// The worth of blanking `set` in `i`, looks prepared: gain per cost, and
    /// the smallest number of matches; `None` where it would not serve `i`.
    pub fn worth(&self, i: u32, cost: f64, set: u64) -> Option<(f64, u32)> {
        let q = set | self.missing(i);
        let (mut gain, mut least) = (0i64, u32::MAX);
        for counter in self.counters.iter() {
            let (more, f) = counter.gain(i, q)?;
            gain += more;
            least = least.min(f);
        }
        (gain > 0).then_some((gain as f64 / cost, least))
    }

    /// Gives `i` the blanks `set` instead of those it has.
    pub fn set_blanks(&mut self, i: u32, set: u64) -> Result<()> {
        let missing = self.missing(i);
        let now = self.blank[i as usize];
        for counter in self.counters.iter_mut() {
            if now & !set != 0 {
                counter.change(i, (now & set) | missing, self.monitor)?;
            }
            counter.change(i, set | missing, self.monitor)?;
        }
        self.blank[i as usize] = set;
        Ok(())
    }

    /// The violators that would lack matches in some key set without `i`.
    pub fn leaning(&mut self, i: u32) -> Result<Vec<u32>> {
        let mut all = Vec::new();
        for counter in self.counters.iter_mut() {
            all.extend(counter.leaning(i, self.monitor)?);
        }
        Ok(all)
    }

    /// All moves of records without blanks, looked at once.
    fn moves(&mut self) -> Result<BinaryHeap<Move>> {
        let mut looks: Vec<u64> = Vec::new();
        for i in 0..self.blank.len() as u32 {
            let missing = self.missing(i);
            let sets = self.choices.sets(i);
            if !sets.is_empty() {
                looks.push(missing);
                looks.extend(sets.iter().map(|&(_, set)| set | missing));
            }
            if looks.len() > 1 << 20 {
                looks.sort_unstable();
                looks.dedup();
            }
        }
        looks.sort_unstable();
        looks.dedup();
        for q in looks {
            self.prepare(q)?;
        }
        let n_moves: usize = self.choices.of.iter().map(|&(_, n)| n as usize).sum();
        room_for(n_moves * size_of::<Move>())?;
        let this = &*self;
        let blocks = parallel::blocks(this.blank.len(), 256);
        let found = parallel::try_map(blocks, this.monitor, |rows| {
            let open = rows.filter(|&i| this.blank[i] == 0).map(|i| i as u32);
            let moves = open.flat_map(|i| {
                let sets = this.choices.sets(i).iter().enumerate();
                sets.filter_map(move |(choice, &(cost, set))| {
                    let (ratio, f) = this.worth(i, cost, set)?;
                    Some(Move {
                        ratio,
                        f,
                        record: i,
                        choice: choice as u32,
                    })
                })
            });
            Ok(moves.collect::<Vec<Move>>())
        })?;
        Ok(BinaryHeap::from(found.concat()))
    }

    /// Blanks until no violation is left.
    pub fn serve(&mut self) -> Result<()> {
        while self.n_open() > 0 {
            let mut moves = self.moves()?;
            let mut applied = 0;
            let mut looked = 0u32;
            while self.n_open() > 0 {
                let Some(mut best) = moves.pop() else { break };
                looked += 1;
                if looked % 256 == 0 {
                    self.monitor.check()?;
                }
                if self.blank[best.record as usize] != 0 {
                    continue;
                }
                let (cost, set) = self.choices.sets(best.record)[best.choice as usize];
                self.prepare(set | self.missing(best.record))?;
                self.prepare(self.missing(best.record))?;
                let Some((ratio, f)) = self.worth(best.record, cost, set) else {
                    continue;
                };
                if ratio < best.ratio {
                    (best.ratio, best.f) = (ratio, f);
                    moves.push(best);
                    continue;
                }
                self.set_blanks(best.record, set)?;
                applied += 1;
            }
            if applied == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Takes blanks back, or changes them for cheaper ones, as long as nobody
    /// is left with too few matches.
    pub fn give_back(&mut self) -> Result<()> {
        loop {
            let mut blanked: Vec<(f64, u32)> = (0u32..)
                .zip(&self.blank)
                .filter(|(_, &set)| set != 0)
                .map(|(i, &set)| (self.problem.cost(set), i))
                .collect();
            blanked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut changed = false;
            for (at, (cost, i)) in blanked.into_iter().enumerate() {
                if at % 64 == 0 {
                    self.monitor.check()?;
                }
                if let Some(set) = self.cheaper(i, cost)? {
                    self.set_blanks(i, set)?;
                    changed = true;
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// The cheapest blanks below `cost` with which `i` and those who lean on it
    /// have matches enough.
    fn cheaper(&mut self, i: u32, cost: f64) -> Result<Option<u64>> {
        let missing = self.missing(i);
        let choices = self.choices;
        let mut leaning = Vec::with_capacity(self.counters.len());
        for counter in self.counters.iter_mut() {
            leaning.push(counter.leaning(i, self.monitor)?);
        }
        let none = std::iter::once((0.0, 0));
        for (less, set) in none.chain(choices.sets(i).iter().copied()) {
            if less >= cost * (1.0 - 1e-9) {
                break;
            }
            let mut serves = true;
            for (counter, leaning) in self.counters.iter_mut().zip(&leaning) {
                serves &= counter.can_do_with(i, set | missing, leaning, self.monitor)?;
                if !serves {
                    break;
                }
            }
            if serves {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }
}
