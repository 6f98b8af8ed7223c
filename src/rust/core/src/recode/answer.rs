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
use crate::memory::room_for;
use crate::parallel::Monitor;

/// Settings of a call.
#[derive(Debug, Clone)]
pub struct Question {
    /// Loss that is charged.
    pub charge: Charge,
    /// The limit on cells.
    pub limit: Limit,
    /// Other limits.
    pub asked: Asked,
    /// Number of recodings wanted, and the time allowed.
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

/// Result of a call.
#[derive(Debug)]
pub struct Answer {
    /// Cheapest first.
    pub best: Vec<Judged>,
    /// Number of recodings in all.
    pub n_nodes: f64,
    /// Number evaluated, prefixes included.
    pub n_evaluated: u64,
    /// True if nothing cheaper exists.
    pub proven: bool,
    /// No recoding costs less.
    pub bound: f64,
    /// Undominated recodings, cheapest first.
    pub frontier: Vec<Placed>,
    /// True if the frontier is that of all recodings.
    pub whole_frontier: bool,
    /// Measures of the coarsest recoding and of those evaluated.
    pub reached: Vec<Judged>,
}

/// Approximate peak bytes of a search for every distinct row.
const SEARCH_BYTES: usize = 1500;

/// Answers the question for a file.
pub fn answer(
    table: &KeyTable,
    variables: &[Variable],
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
    let problem = Problem::new(table, variables, charge, limit, monitor)?;
    let limits = Limits::new(&problem, asked, monitor)?;
    room_for(SEARCH_BYTES * problem.n_rows())?;
    let found = search(&problem, &limits, request, monitor)?;
    let best = found
        .best
        .iter()
        .map(|recoding| {
            monitor.check()?;
            judge(&problem, &limits, &recoding.places)
        })
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

/// True if every record is blanked when the file is recoded to these levels.
pub fn blanked_records(
    table: &KeyTable,
    variables: &[Variable],
    question: &Question,
    levels: &[usize],
    monitor: &Monitor,
) -> Result<Vec<bool>> {
    let problem = Problem::new(table, variables, question.charge, question.limit, monitor)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_table::{Codes, Column};
    use crate::recode::Cost;

    /// Eight ages in years, tens and together; two sexes, and together.
    fn file() -> (KeyTable, Vec<Variable>) {
        let column = |codes: &[u32], n_values: u32| {
            Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
        };
        let ages = column(&[1, 2, 3, 4, 5, 6, 7, 8], 8);
        let sexes = column(&[1, 1, 2, 2, 1, 1, 2, 2], 2);
        let age = Variable {
            groups: vec![
                (0..9).collect(),
                vec![0, 1, 1, 1, 1, 2, 2, 2, 2],
                vec![0; 9],
            ],
            leaves: vec![vec![1.0; 9], vec![4.0; 9], vec![8.0; 9]],
            n_leaves: 8.0,
            allowed: vec![0, 1, 2],
            weight: 1.0,
        };
        let sex = Variable {
            groups: vec![vec![0, 1, 2], vec![0; 3]],
            leaves: vec![vec![1.0; 3], vec![2.0; 3]],
            n_leaves: 2.0,
            allowed: vec![0, 1],
            weight: 1.0,
        };
        (KeyTable::new(vec![ages, sexes]).unwrap(), vec![age, sex])
    }

    fn question(k: u64, blankable: u64) -> Question {
        Question {
            charge: Charge {
                cost: Cost::Entropy,
                blank_price: 1.0,
            },
            limit: Limit {
                k,
                prop_unique: None,
                blankable,
            },
            asked: Asked::default(),
            request: Request {
                n_best: 2,
                seconds: 1e6,
            },
            frontier: Some(Measure::Smallest),
        }
    }

    /// Tens cost 2 bits for each record, ages together 3, sexes together 1.
    #[test]
    fn the_cheapest_and_the_frontier_are_those_counted_by_hand() {
        let (table, variables) = file();
        let found = answer(&table, &variables, question(2, 0), &Monitor::new()).unwrap();
        assert_eq!(found.n_nodes.to_bits(), 6.0_f64.to_bits());
        assert!(found.proven && found.whole_frontier && found.reached.is_empty());
        let first = &found.best[0];
        assert_eq!(first.levels, [1, 0]);
        assert!((first.measured.cost - 16.0).abs() < 1e-9);
        let measured = &first.measured;
        assert_eq!(
            (measured.n_blanked, measured.smallest, measured.n_unique),
            (0, 2, 0)
        );
        let points: Vec<(u64, u64)> = (found.frontier.iter())
            .map(|p| (p.cost.round() as u64, (1.0 / p.risk).round() as u64))
            .collect();
        assert_eq!(points, [(0, 1), (16, 2), (24, 4), (32, 8)]);
    }

    #[test]
    fn without_an_answer_it_says_what_the_coarsest_reaches() {
        let (table, variables) = file();
        let found = answer(&table, &variables, question(9, 0), &Monitor::new()).unwrap();
        assert!(found.best.is_empty());
        assert_eq!(found.reached[0].levels, [2, 1]);
        assert_eq!(found.reached[0].measured.violating, 8);
        assert!((found.reached[0].measured.cost - 32.0).abs() < 1e-9);
    }

    /// Tens by sex make four cells of two.
    #[test]
    fn records_of_small_cells_are_blanked() {
        let (table, variables) = file();
        let blanked = |k, levels: &[usize]| {
            blanked_records(&table, &variables, &question(k, 8), levels, &Monitor::new()).unwrap()
        };
        assert_eq!(blanked(2, &[1, 0]), [false; 8]);
        assert_eq!(blanked(3, &[1, 0]), [true; 8]);
        assert_eq!(blanked(4, &[1, 1]), [false; 8]);
    }
}
