//! A first answer, so that the search can prune from its start.
//!
//! From level 0, the variable is raised whose level brings the largest fall of
//! violating records, down to those allowed, per cost; then single steps up and
//! down and exchanges are tried as long as one is cheaper. Good, never a proof.

use super::best::{Best, Recoding};
use super::cells::Measured;
use super::limits::{Limits, Risks};
use super::Problem;
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Recodings evaluated while steps are tried, at most.
const MOST_STEPS: usize = 600;

/// A recoding that was looked at on the way.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Places of its levels.
    pub places: Vec<u8>,
    /// Measures of the recoding.
    pub measured: Measured,
    /// Its other risks.
    pub risks: Risks,
}

/// The way to a first answer.
pub struct Incumbent<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    monitor: &'a Monitor,
    /// The cheapest so far.
    pub best: Best,
    /// All that were looked at, in order.
    pub seen: Vec<Seen>,
    known: hashbrown::HashSet<Vec<u8>>,
}

impl<'a> Incumbent<'a> {
    /// Climbs, then improves.
    pub fn find(
        problem: &'a Problem,
        limits: &'a Limits,
        n_best: usize,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let mut way = Self {
            problem,
            limits,
            monitor,
            best: Best::new(n_best),
            seen: Vec::new(),
            known: hashbrown::HashSet::new(),
        };
        way.climb()?;
        way.improve()?;
        Ok(way)
    }

    /// Looks at those recodings that are new, in parallel; the result does not
    /// depend on the threads.
    fn look(&mut self, places: Vec<Vec<u8>>) -> Result<Vec<Seen>> {
        let new: Vec<Vec<u8>> = places
            .into_iter()
            .filter(|p| self.known.insert(p.clone()))
            .collect();
        let (problem, limits, monitor) = (self.problem, self.limits, self.monitor);
        let seen = parallel::try_map(new, monitor, |places| {
            let (measured, cells, blanked) = problem.measure(&places)?;
            let risks = limits.risks(problem, &places, &cells, &blanked)?;
            Ok(Seen {
                places,
                measured,
                risks,
            })
        })?;
        for one in &seen {
            if let Some(recoding) = self.admitted(one) {
                self.best.insert(recoding);
            }
        }
        self.seen.extend(seen.iter().cloned());
        Ok(seen)
    }

    fn admitted(&self, seen: &Seen) -> Option<Recoding> {
        let recoding = self.problem.admitted(&seen.places, &seen.measured)?;
        self.limits.hold(&seen.risks).then_some(recoding)
    }

    /// Distance from the limits: the share of records too many, and the excess.
    fn distance(&self, seen: &Seen) -> f64 {
        let most = self.problem.rule.most;
        let over = seen.measured.violating.saturating_sub(most);
        over as f64 / self.problem.n_records as f64 + self.limits.excess(&seen.risks)
    }

    fn climb(&mut self) -> Result<()> {
        let bottom = vec![0; self.problem.variables.len()];
        let mut at = self.look(vec![bottom])?.swap_remove(0);
        while self.admitted(&at).is_none() {
            let up = (0..at.places.len())
                .filter(|&j| at.places[j] < self.problem.top(j))
                .map(|j| moved(&at.places, &[(j, 1)]))
                .collect();
            let (from, cost) = (self.distance(&at), self.problem.base(&at.places));
            let mut steps = self.look(up)?;
            let per_cost = |seen: &Seen| {
                let rise = self.problem.base(&seen.places) - cost;
                (from - self.distance(seen)) / rise.max(1e-9)
            };
            steps.sort_by(|a, b| per_cost(b).total_cmp(&per_cost(a)));
            match steps.into_iter().next() {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn improve(&mut self) -> Result<()> {
        let begin = self.seen.len();
        let mut tried: Option<Vec<u8>> = None;
        while let Some(best) = self.best.found().first().cloned() {
            if tried.as_ref() == Some(&best.places) || self.seen.len() - begin > MOST_STEPS {
                break;
            }
            let near = self.neighbours(&best.places);
            let cheap = near
                .into_iter()
                .filter(|p| self.problem.base(p) <= best.cost)
                .collect();
            self.look(cheap)?;
            tried = Some(best.places);
        }
        Ok(())
    }

    fn neighbours(&self, places: &[u8]) -> Vec<Vec<u8>> {
        let n = places.len();
        let room_up = |j: usize| self.problem.top(j) - places[j];
        let mut near = Vec::new();
        for j in 0..n {
            if room_up(j) > 0 {
                near.push(moved(places, &[(j, 1)]));
            }
            for down in 1..=places[j].min(2) {
                near.push(moved(places, &[(j, -i16::from(down))]));
                for other in (0..n).filter(|&other| other != j) {
                    for up in 1..=room_up(other).min(2) {
                        let steps = [(j, -i16::from(down)), (other, i16::from(up))];
                        near.push(moved(places, &steps));
                    }
                }
            }
        }
        near
    }
}

fn moved(places: &[u8], steps: &[(usize, i16)]) -> Vec<u8> {
    let mut places = places.to_vec();
    for &(j, step) in steps {
        places[j] = (i16::from(places[j]) + step) as u8;
    }
    places
}
