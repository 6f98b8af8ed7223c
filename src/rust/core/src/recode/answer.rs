//! The whole question: the cheapest recodings, what each is worth, and the
//! frontier.

use super::best::Recoding;
use super::cells::Measured;
use super::frontier::{enumerate, is_small, undominated, Measure, Point};
use super::incumbent::Seen;
use super::limits::{Asked, Limits, Risks};
use super::search::{search, Request};
use super::{Charge, Limit, Problem, Variable};
use crate::error::Result;
use crate::key_table::KeyTable;
use crate::parallel::Monitor;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// How a recoding is charged.
    pub charge: Charge,
    /// The limit on cells.
    pub limit: Limit,
    /// Other limits.
    pub asked: Asked,
    /// How many recodings, and for how long.
    pub request: Request,
    /// The risk of the frontier; none is made without it.
    pub frontier: Option<Measure>,
}

/// A recoding by the hierarchies' own levels, and what it is worth.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Level per variable.
    pub levels: Vec<usize>,
    /// Cost, blanks, cells.
    pub measured: Measured,
    /// Other risks.
    pub risks: Risks,
}

/// A point of the frontier by the hierarchies' own levels.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Level per variable.
    pub levels: Vec<usize>,
    /// Cost, blanks charged.
    pub cost: f64,
    /// The risk.
    pub risk: f64,
    /// Records blanked.
    pub n_blanked: u64,
}

/// What was found.
#[derive(Debug)]
pub struct Answer {
    /// Cheapest first.
    pub best: Vec<Judged>,
    /// Number of recodings in all.
    pub n_nodes: f64,
    /// How many were evaluated, prefixes included.
    pub n_evaluated: u64,
    /// Whether nothing cheaper exists.
    pub proven: bool,
    /// No recoding costs less.
    pub bound: f64,
    /// Undominated recodings, cheapest first.
    pub frontier: Vec<Placed>,
    /// Whether the frontier is that of all recodings.
    pub whole_frontier: bool,
    /// What the coarsest recoding and those looked at reach.
    pub reached: Vec<Judged>,
}

/// Answers the question for a file.
pub fn answer(
    table: &KeyTable,
    variables: &[Variable],
    weights: Option<&[f64]>,
    question: Question,
    monitor: &Monitor,
) -> Result<Answer> {
    let Question {
        charge,
        limit,
        asked,
        request,
        frontier,
    } = question;
    let problem = Problem::new(table, variables, weights, charge, limit, monitor)?;
    let limits = Limits::new(&problem, asked)?;
    let found = search(&problem, &limits, request, monitor)?;
    let best = found
        .best
        .iter()
        .map(|recoding| judge(&problem, &limits, &recoding.places))
        .collect::<Result<Vec<_>>>()?;
    let reached = if best.is_empty() {
        let top: Vec<u8> = (0..variables.len()).map(|j| problem.top(j)).collect();
        let mut reached = vec![judge(&problem, &limits, &top)?];
        reached.extend(found.seen.iter().map(|seen| Judged {
            levels: problem.named(&seen.places),
            measured: seen.measured.clone(),
            risks: seen.risks,
        }));
        reached
    } else {
        Vec::new()
    };
    let (points, whole_frontier) = match frontier {
        None => (Vec::new(), false),
        Some(measure) if is_small(&problem, measure) => {
            (enumerate(&problem, &limits, measure, monitor)?, true)
        }
        Some(measure) => (seen_points(&problem, &found.seen, measure), false),
    };
    Ok(Answer {
        best,
        n_nodes: problem.n_nodes(),
        n_evaluated: found.n_evaluated,
        proven: found.proven,
        bound: found.bound,
        frontier: points.into_iter().map(|p| placed(&problem, p)).collect(),
        whole_frontier,
        reached,
    })
}

/// Whether every record is blanked when the file is recoded to these levels.
pub fn blanked_records(
    table: &KeyTable,
    variables: &[Variable],
    question: &Question,
    levels: &[usize],
    monitor: &Monitor,
) -> Result<Vec<bool>> {
    let problem = Problem::new(
        table,
        variables,
        None,
        question.charge,
        question.limit,
        monitor,
    )?;
    let places = problem.places(levels)?;
    let cells = problem.cells(&places)?;
    let blanked = problem.blanked(&places, &cells);
    Ok(problem.record_blanked(&cells, &blanked))
}

fn judge(problem: &Problem, limits: &Limits, places: &[u8]) -> Result<Judged> {
    let (measured, cells, blanked) = problem.measure(places)?;
    Ok(Judged {
        levels: problem.named(places),
        risks: limits.risks(problem, places, &cells, &blanked)?,
        measured,
    })
}

fn placed(problem: &Problem, point: Point) -> Placed {
    Placed {
        levels: problem.named(&point.recoding.places),
        cost: point.recoding.cost,
        risk: point.risk,
        n_blanked: point.n_blanked,
    }
}

/// The frontier of the recodings looked at on the way to a first answer.
fn seen_points(problem: &Problem, seen: &[Seen], measure: Measure) -> Vec<Point> {
    let point = |seen: &Seen| {
        let kept = problem.n_records - seen.measured.n_blanked;
        let within = seen.measured.n_blanked <= problem.limit.blankable;
        let uniques = seen
            .measured
            .n_unique
            .saturating_sub(seen.measured.n_blanked);
        let risk = match measure {
            Measure::Smallest => 1.0 / seen.measured.smallest.max(1) as f64,
            Measure::Unique if problem.rule.blanks_all && problem.rule.threshold > 1 => 0.0,
            Measure::Unique => uniques as f64 / kept.max(1) as f64,
            Measure::Qar => seen.risks.qar?,
        };
        within.then(|| Point {
            recoding: Recoding::new(problem, seen.measured.cost, &seen.places),
            risk,
            n_blanked: seen.measured.n_blanked,
        })
    };
    undominated(seen.iter().filter_map(point).collect())
}
