//! Branch and bound over prefixes of recodings.
//!
//! Variables are set in order of falling cost of their top, each from its least
//! possible level up. At every prefix the least level of each variable still
//! to be set is raised as long as the limit cannot be kept with it; the bound
//! over these least levels prunes. What is left at the end is the optimum, with
//! proof. Prefixes go to the threads in batches of fixed size, each with the
//! best that earlier batches found: nothing depends on the number of threads.
//!
//! If time ends before, a best-first search says how far from the optimum the
//! best so far can be at most.

use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use super::best::{Best, Recoding};
use super::incumbent::{Incumbent, Seen};
use super::limits::Limits;
use super::partition::{Scratch, State};
use super::Problem;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Prefixes that are worked on before the threads learn of each other.
const BATCH: usize = 32;
/// Prefixes wanted before work is shared.
const ENOUGH: usize = 256;
/// Rows that open prefixes may hold together in the search for a bound.
const MOST_ROWS: usize = 40_000_000;
/// The part of the time for the search; the rest is for the bound.
const FOR_SEARCH: f64 = 0.75;

/// Settings of a search.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Number of the cheapest recodings.
    pub n_best: usize,
    /// Seconds it may take.
    pub seconds: f64,
}

/// Result of a search.
#[derive(Debug)]
pub struct Found {
    /// Cheapest first.
    pub best: Vec<Recoding>,
    /// Prefixes and recodings that were evaluated.
    pub n_evaluated: u64,
    /// True if nothing cheaper exists.
    pub proven: bool,
    /// No recoding costs less than this.
    pub bound: f64,
    /// Recodings looked at on the way to a first answer.
    pub seen: Vec<Seen>,
}

/// The cheapest recodings that keep the limits.
pub fn search(
    problem: &Problem,
    limits: &Limits,
    request: Request,
    monitor: &Monitor,
) -> Result<Found> {
    let begin = Instant::now();
    let first = Incumbent::find(problem, limits, request.n_best, monitor)?;
    let n_first = first.seen.len() as u64;
    let seconds = request.seconds.clamp(0.0, 1e9);
    let until = |share: f64| begin + Duration::from_secs_f64(share * seconds);
    let mut walk = Walk::new(problem, limits, first.best, until(FOR_SEARCH), monitor)?;
    let root = walk.root()?;
    let mut proven = true;
    if let Some(root) = root.clone() {
        proven = walk.branch(root)?;
    }
    let mut bound = walk.best.found().first().map_or(f64::INFINITY, |r| r.cost);
    if let (false, Some(root)) = (proven, root) {
        walk.deadline = until(1.0);
        walk.late = false;
        (bound, proven) = walk.bound(root)?;
    }
    Ok(Found {
        n_evaluated: n_first + walk.n_prefixes,
        best: walk.best.found().to_vec(),
        proven,
        bound,
        seen: first.seen,
    })
}

struct Walk<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    monitor: &'a Monitor,
    deadline: Instant,
    late: bool,
    best: Best,
    n_prefixes: u64,
    scratch: Scratch,
}

impl<'a> Walk<'a> {
    fn new(
        problem: &'a Problem,
        limits: &'a Limits,
        best: Best,
        deadline: Instant,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        Ok(Self {
            problem,
            limits,
            monitor,
            deadline,
            late: false,
            best,
            n_prefixes: 0,
            scratch: Scratch::new(problem)?,
        })
    }

    /// All variables at their top, unless even that breaks the limit.
    fn root(&mut self) -> Result<Option<State>> {
        let root = State::root(self.problem, &mut self.scratch)?;
        self.narrow(root, true)
    }

    /// Raises the least levels; nothing, where the prefix leads nowhere. Rows
    /// that became alike, in a state that is `coarser` than the one it comes from
    /// or by raising, become one only when all else has been tried.
    fn narrow(&mut self, mut state: State, coarser: bool) -> Result<Option<State>> {
        self.n_prefixes += 1;
        let problem = self.problem;
        if state.violating > problem.rule.most {
            return Ok(None);
        }
        let mut raised = false;
        let mut bound = state.bound(problem);
        // Per variable, what leaving it at its least level costs in blanks, and what
        // raising it costs.
        let mut forced: Vec<(f64, f64)> = Vec::new();
        for &j in &problem.order[state.depth..] {
            let top = problem.top(j);
            while state.places[j] < top {
                let place = state.places[j];
                let kept = state.keeps(problem, j, place, &mut self.scratch);
                let rise = state.rise(problem, j, place);
                let blanks = kept.filter(|_| problem.rule.blanks_all);
                let dear = |&blanks: &f64| {
                    let (best, places) = (&self.best, &state.places);
                    blanks > 0.0 && best.excludes(problem, bound + blanks, places)
                };
                if kept.is_some() && !blanks.as_ref().is_some_and(dear) {
                    forced.extend(blanks.filter(|&b| b > 0.0).map(|b| (b, rise)));
                    break;
                }
                bound += rise;
                state.places[j] += 1;
                raised = true;
            }
            if raised && self.best.is_dear(problem.base(&state.places)) {
                return Ok(None);
            }
        }
        state.least = bound + least_forced(&mut forced);
        if self.best.excludes(problem, state.least, &state.places) || !self.may_hold(&state)? {
            return Ok(None);
        }
        if (raised || coarser) && state.depth < self.n_variables() {
            state.collapse(problem, &mut self.scratch);
        }
        Ok(Some(state))
    }

    /// True if the limits beyond cells leave the prefix a chance.
    fn may_hold(&self, state: &State) -> Result<bool> {
        if self.limits.is_empty() {
            return Ok(true);
        }
        let mut coarsest = state.places.clone();
        for &j in state.unset(self.problem) {
            coarsest[j] = self.problem.top(j);
        }
        self.limits.may_hold(self.problem, &coarsest)
    }

    fn n_variables(&self) -> usize {
        self.problem.variables.len()
    }

    /// Shows the prefixes one variable longer to `take`, cheapest level first.
    fn extend(
        &mut self,
        state: &State,
        take: &mut dyn FnMut(&mut Self, State) -> Result<()>,
    ) -> Result<()> {
        let problem = self.problem;
        let j = problem.order[state.depth];
        let mut places = state.places.clone();
        for place in state.places[j]..=problem.top(j) {
            self.monitor.check()?;
            if self.late || Instant::now() > self.deadline {
                self.late = true;
                return Ok(());
            }
            places[j] = place;
            if self.best.is_dear(problem.base(&places)) {
                return Ok(());
            }
            let bound = state.bound_at(problem, &places);
            if self.best.excludes(problem, bound, &places) {
                continue;
            }
            let mut child = state.split(problem, j, place, &mut self.scratch);
            child.set(problem, place);
            if let Some(child) = self.narrow(child, place > state.places[j])? {
                take(self, child)?;
            }
        }
        Ok(())
    }

    fn descend(&mut self, state: State) -> Result<()> {
        if state.depth == self.n_variables() {
            return self.arrive(&state);
        }
        self.extend(&state, &mut |walk, child| walk.descend(child))
    }

    /// A whole recoding.
    fn arrive(&mut self, state: &State) -> Result<()> {
        let problem = self.problem;
        let cost = if problem.rule.blanks_all && self.limits.is_empty() {
            state.cost(problem)
        } else {
            let (measured, cells, blanked) = problem.measure(&state.places)?;
            if self.best.is_dear(measured.cost) {
                return Ok(());
            }
            let risks = self
                .limits
                .risks(problem, &state.places, &cells, &blanked)?;
            if !self.limits.hold(&risks) {
                return Ok(());
            }
            measured.cost
        };
        self.best
            .insert(Recoding::new(problem, cost, &state.places));
        Ok(())
    }

    /// The whole tree, shared among the threads; whether time sufficed.
    fn branch(&mut self, root: State) -> Result<bool> {
        let mut open = vec![root];
        let deepest = self.n_variables().saturating_sub(1);
        while open.len() < ENOUGH && open.first().is_some_and(|s| s.depth < deepest) {
            let mut next = Vec::new();
            for state in &open {
                self.extend(state, &mut |_, child| {
                    next.push(child);
                    Ok(())
                })?;
            }
            open = next;
        }
        let mut open: Vec<(f64, State)> =
            open.into_iter().map(|state| (state.least, state)).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.monitor.set_total(open.len() as u64);
        let mut open = open.into_iter().peekable();
        while open.peek().is_some() && !self.late {
            let batch: Vec<State> = open.by_ref().take(BATCH).map(|(_, s)| s).collect();
            self.work_on(batch)?;
        }
        Ok(!self.late)
    }

    fn work_on(&mut self, batch: Vec<State>) -> Result<()> {
        let n = batch.len() as u64;
        let (problem, limits, monitor) = (self.problem, self.limits, self.monitor);
        let (best, deadline) = (&self.best, self.deadline);
        let done = parallel::try_map(batch, monitor, |state| {
            let mut walk = Walk::new(problem, limits, best.clone(), deadline, monitor)?;
            if !walk.best.excludes(problem, state.least, &state.places) {
                walk.descend(state)?;
            }
            Ok((walk.best, walk.n_prefixes, walk.late))
        })?;
        for (best, n_prefixes, late) in done {
            self.best.merge(best);
            self.n_prefixes += n_prefixes;
            self.late |= late;
        }
        self.monitor.advance(n);
        Ok(())
    }

    /// The prefix with the smallest bound first: what no recoding can cost less
    /// than when time or room ends, and whether it came to an end itself.
    fn bound(&mut self, root: State) -> Result<(f64, bool)> {
        let mut open = BinaryHeap::new();
        let mut n_rows = root.rows.len();
        let mut bound = root.least;
        open.push(Open { bound, state: root });
        while let Some(Open { bound: next, state }) = open.pop() {
            n_rows -= state.rows.len();
            bound = next;
            if self.best.is_dear(bound) {
                // So are all others.
                break;
            }
            if self.best.excludes(self.problem, bound, &state.places) {
                continue;
            }
            if state.depth == self.n_variables() {
                self.arrive(&state)?;
                continue;
            }
            self.extend(&state, &mut |_, child| {
                n_rows += child.rows.len();
                let bound = child.least.max(bound);
                open.push(Open {
                    bound,
                    state: child,
                });
                Ok(())
            })?;
            if self.late || n_rows > MOST_ROWS {
                return Ok((bound, false));
            }
        }
        let cheapest = self.best.found().first().map_or(bound, |r| r.cost);
        Ok((cheapest, true))
    }
}

/// Some variables stay at their least level and force blanks, which may be the same
/// for all of them; the others rise: the least that this costs, of pairs of both.
fn least_forced(forced: &mut [(f64, f64)]) -> f64 {
    forced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rises: f64 = forced.iter().map(|f| f.1).sum();
    let mut least = rises;
    for &(blanks, rise) in forced.iter() {
        rises -= rise;
        least = least.min(blanks + rises);
    }
    least.max(0.0)
}

/// A prefix by its bound, the smallest first.
struct Open {
    bound: f64,
    state: State,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other
            .bound
            .total_cmp(&self.bound)
            // Among equals the deepest: it comes to an end.
            .then(self.state.depth.cmp(&other.state.depth))
    }
}
