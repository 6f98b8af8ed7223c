//! A limit on QaR's T over all key sets of a size: every set's distinct count depends on
//! its own levels only, so all counts are made once. T is not monotone under
//! coarsening, but `T >= u`, its threshold, and u is: it prunes a search, and only where no
//! record may be blanked; a recoding is judged by T itself.

use super::cells::{Cells, Numbering};
use super::Problem;
use crate::error::{Error, Result};
use crate::key_sets::KeySets;
use crate::parallel::Monitor;
use crate::qar_risk::{estimate, TailSettings};

/// Most counts of distinct cells that are made beforehand.
const MOST_COUNTS: usize = 20_000_000;

/// Limits besides that on cells.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Size of the key sets, how the tail is read, the largest T.
    pub qar: Option<(usize, TailSettings, f64)>,
}

/// The risks of a recoding on the records that are not blanked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Risks {
    /// QaR's T.
    pub qar: Option<f64>,
    /// Its threshold u.
    pub threshold: Option<f64>,
}

/// The limits, with what makes them fast.
#[derive(Debug)]
pub struct Limits {
    asked: Asked,
    counts: Option<SetCounts>,
}

/// Distinct cells of every key set at every choice of its levels.
#[derive(Debug)]
struct SetCounts {
    sets: KeySets,
    members: Vec<u16>,
    /// Start of the counts of every set; the last member's level runs
    /// fastest.
    starts: Vec<usize>,
    distinct: Vec<u32>,
}

impl Limits {
    /// Counts what can be counted beforehand.
    pub fn new(problem: &Problem, asked: Asked, monitor: &Monitor) -> Result<Self> {
        let counts = match &asked.qar {
            Some((p, ..)) => Some(SetCounts::new(problem, *p, monitor)?),
            None => None,
        };
        Ok(Self { asked, counts })
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.asked.qar.is_none()
    }

    /// True if a finer recoding than this can keep the limits; where records
    /// may be blanked, that is never denied.
    pub fn may_hold(&self, problem: &Problem, places: &[u8]) -> Result<bool> {
        if self.is_empty() || problem.limit.blankable > 0 {
            return Ok(true);
        }
        let risks = self.risks(problem, places, &Cells::default(), &[])?;
        Ok(match (risks.threshold, &self.asked.qar) {
            (Some(threshold), &Some((.., limit))) => threshold <= limit,
            _ => true,
        })
    }

    /// True if the limits hold.
    pub fn hold(&self, risks: &Risks) -> bool {
        self.excess(risks) <= 0.0
    }

    /// By how much the limits are exceeded, relative to them.
    pub fn excess(&self, risks: &Risks) -> f64 {
        match &self.asked.qar {
            Some((.., limit)) => risks
                .qar
                .map_or(1.0, |risk| ((risk - limit) / limit.max(1e-12)).max(0.0)),
            None => 0.0,
        }
    }

    /// The risks of a recoding; `blanked` is empty where no cell is.
    pub fn risks(
        &self,
        problem: &Problem,
        places: &[u8],
        cells: &Cells,
        blanked: &[bool],
    ) -> Result<Risks> {
        let mut risks = Risks::default();
        let whole = !blanked.contains(&true);
        if let (Some((_, settings, _)), Some(counts)) = (&self.asked.qar, &self.counts) {
            let (mut distinct, n) = if whole {
                (counts.at(problem, places), problem.n_records)
            } else {
                counts.recounted(problem, places, cells, blanked)?
            };
            distinct.sort_unstable_by(|a, b| b.cmp(a));
            if n > 0 {
                let tail = estimate(distinct.into_iter(), counts.sets.len(), n, settings);
                let tail = tail.first();
                risks.threshold = tail.and_then(|t| t.threshold);
                risks.qar = tail.and_then(|t| t.risk.or(t.threshold));
            }
        }
        Ok(risks)
    }
}

impl SetCounts {
    fn new(problem: &Problem, p: usize, monitor: &Monitor) -> Result<Self> {
        let n_levels: Vec<usize> = problem.variables.iter().map(|v| v.levels.len()).collect();
        let sets = KeySets::new(problem.variables.len(), p, MOST_COUNTS)?;
        let members = sets.members();
        let sizes = members.chunks(p).map(|set| {
            set.iter()
                .map(|&j| n_levels[usize::from(j)])
                .product::<usize>()
        });
        let mut starts = vec![0];
        for size in sizes {
            let end = starts.last().copied().unwrap_or(0) + size;
            if end > MOST_COUNTS {
                return Err(Error::too_large(
                    &format!(
                        "The key sets of size {p} may have at most {MOST_COUNTS} choices of levels."
                    ),
                    "They have more.",
                    "Take a smaller `p`, fewer key variables, or hierarchies of fewer levels.",
                ));
            }
            starts.push(end);
        }
        let mut numbering = Numbering::new(problem.n_rows())?;
        let mut distinct = Vec::with_capacity(starts.last().copied().unwrap_or(0));
        for set in members.chunks(p) {
            count_set(problem, set, &mut numbering, &mut distinct, monitor)?;
        }
        Ok(Self {
            sets,
            members,
            starts,
            distinct,
        })
    }

    /// The distinct cells of every set at the levels of a recoding.
    fn at(&self, problem: &Problem, places: &[u8]) -> Vec<u32> {
        let of = self.members.chunks(self.sets.p()).zip(&self.starts);
        of.map(|(set, &start)| {
            let at = set.iter().fold(0usize, |at, &j| {
                let j = usize::from(j);
                at * problem.variables[j].levels.len() + places[j] as usize
            });
            self.distinct[start + at]
        })
        .collect()
    }

    /// Counts without the suppressed cells, and the remaining records.
    fn recounted(
        &self,
        problem: &Problem,
        places: &[u8],
        cells: &Cells,
        blanked: &[bool],
    ) -> Result<(Vec<u32>, u64)> {
        let kept: Vec<u32> = (0..blanked.len())
            .filter(|&cell| !blanked[cell])
            .map(|cell| cells.first[cell])
            .collect();
        let n = (0..blanked.len())
            .filter(|&cell| !blanked[cell])
            .map(|cell| u64::from(cells.count[cell]))
            .sum();
        let mut numbering = Numbering::new(kept.len())?;
        let sets = self.members.chunks(self.sets.p());
        let distinct = sets.map(|set| {
            let at: Vec<u8> = set.iter().map(|&j| places[usize::from(j)]).collect();
            count_distinct(problem, set, &at, &kept, &mut numbering)
        });
        Ok((distinct.collect::<Result<_>>()?, n))
    }
}

/// The distinct cells of one set at every choice of its levels.
fn count_set(
    problem: &Problem,
    set: &[u16],
    numbering: &mut Numbering,
    distinct: &mut Vec<u32>,
    monitor: &Monitor,
) -> Result<()> {
    let all: Vec<u32> = (0..problem.n_rows() as u32).collect();
    // The distinct cells at the least levels stand for all rows.
    let mut at = vec![0u8; set.len()];
    let rows = distinct_rows(problem, set, &at, &all, numbering)?;
    loop {
        monitor.check()?;
        distinct.push(count_distinct(problem, set, &at, &rows, numbering)?);
        let Some(i) = (0..set.len())
            .rev()
            .find(|&i| at[i] < problem.top(usize::from(set[i])))
        else {
            return Ok(());
        };
        at[i] += 1;
        at[i + 1..].fill(0);
    }
}

fn count_distinct(
    problem: &Problem,
    set: &[u16],
    at: &[u8],
    rows: &[u32],
    numbering: &mut Numbering,
) -> Result<u32> {
    Ok(distinct_rows(problem, set, at, rows, numbering)?.len() as u32)
}

/// The first of the rows of every distinct cell.
fn distinct_rows(
    problem: &Problem,
    set: &[u16],
    at: &[u8],
    rows: &[u32],
    numbering: &mut Numbering,
) -> Result<Vec<u32>> {
    let mut keys = vec![0u64; rows.len()];
    for (i, (&j, &place)) in set.iter().zip(at).enumerate() {
        let level = &problem.variables[usize::from(j)].levels[place as usize];
        if i > 0 && i % 2 == 0 {
            // Cells so far need 32 bits, and so does a variable.
            numbering.clear();
            for key in &mut keys {
                *key = u64::from(numbering.number(*key)?.0);
            }
        }
        for (key, &row) in keys.iter_mut().zip(rows) {
            *key = *key * level.n_groups as u64 + u64::from(level.column[row as usize]);
        }
    }
    numbering.clear();
    let mut first = Vec::new();
    for (&key, &row) in keys.iter().zip(rows) {
        if numbering.number(key)?.1 {
            first.push(row);
        }
    }
    Ok(first)
}
