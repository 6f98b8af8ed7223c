use proptest::prelude::*;

use super::best::Recoding;
use super::cells::Measured;
use super::frontier::{enumerate, undominated, Measure, Point};
use super::limits::{Asked, Limits};
use super::search::{search, Found, Request};
use super::*;
use crate::key_table::{Codes, Column};
use crate::probability::Probability;
use crate::qar_risk::{Pwm, TailSettings, ThetaOne};

const BITS: Charge = Charge {
    cost: Cost::Entropy,
    blank_price: 1.0,
};

fn limit(k: u64, blankable: u64) -> Limit {
    Limit {
        k,
        prop_unique: None,
        blankable,
    }
}

fn variables_of(groups: &[Vec<Vec<u32>>]) -> Vec<Variable> {
    groups
        .iter()
        .map(|levels| {
            let n_codes = levels[0].len();
            let leaves = levels.iter().map(|of| {
                // A missing value is a value of its hierarchy: no loss is below 0.
                let leaf = |code: usize| (0..n_codes).filter(|&c| of[c] == of[code]).count();
                (0..n_codes).map(|code| leaf(code) as f64).collect()
            });
            Variable {
                leaves: leaves.collect(),
                n_leaves: n_codes as f64,
                allowed: (0..levels.len()).collect(),
                weight: 1.0,
                groups: levels.clone(),
            }
        })
        .collect()
}

fn table_of(columns: &[Vec<u32>], groups: &[Vec<Vec<u32>>]) -> KeyTable {
    let columns = columns.iter().zip(groups).map(|(codes, levels)| {
        let n_values = levels[0].len() as u32 - 1;
        Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
    });
    KeyTable::new(columns.collect()).unwrap()
}

/// Columns of codes from 1, and per column the groups at every level.
fn problem_of(
    columns: &[Vec<u32>],
    groups: &[Vec<Vec<u32>>],
    charge: Charge,
    limit: Limit,
) -> Problem {
    let (table, variables) = (table_of(columns, groups), variables_of(groups));
    Problem::new(&table, &variables, charge, limit, &Monitor::new()).unwrap()
}

fn run(problem: &Problem, asked: Asked, n_best: usize) -> Found {
    let limits = Limits::new(problem, asked, &Monitor::new()).unwrap();
    let request = Request {
        n_best,
        seconds: 1e6,
    };
    search(problem, &limits, request, &Monitor::new()).unwrap()
}

/// Age in years, tens, all; sex, all.
fn toy(k: u64) -> Problem {
    let age = vec![
        vec![0, 1, 2, 3, 4, 5, 6, 7, 8],
        vec![0, 1, 1, 1, 1, 2, 2, 2, 2],
        vec![0; 9],
    ];
    let sex = vec![vec![0, 1, 2], vec![0; 3]];
    problem_of(
        &[vec![1, 2, 3, 4, 5, 6, 7, 8], vec![1, 1, 2, 2, 1, 1, 2, 2]],
        &[age, sex],
        BITS,
        limit(k, 0),
    )
}

#[test]
fn the_toy_of_eight_records_has_its_known_answers() {
    let answer = |k| {
        let found = run(&toy(k), Asked::default(), 10);
        assert!(found.proven);
        found.best
    };
    let two = answer(2);
    assert_eq!(two[0].places, [1, 0]);
    assert!((two[0].cost - 16.0).abs() < 1e-9);
    // A tie at 24 bits: equal sums of levels, then the smaller first level.
    let three = answer(3);
    assert_eq!(three[0].places, [1, 1]);
    assert_eq!(three[1].places, [2, 0]);
    assert!((three[0].cost - 24.0).abs() < 1e-9 && (three[1].cost - 24.0).abs() < 1e-9);
    assert!((answer(5)[0].cost - 32.0).abs() < 1e-9);
    assert!(answer(9).is_empty());
}

#[test]
fn levels_that_are_not_nested_are_refused() {
    let table = KeyTable::new(vec![
        Column::new(Codes::pack(3, [1, 2, 3].into_iter()), 3).unwrap()
    ]);
    let variable = Variable {
        groups: vec![vec![0, 1, 2, 2], vec![0, 1, 1, 2]],
        leaves: vec![vec![1.0; 4]; 2],
        n_leaves: 3.0,
        allowed: vec![0, 1],
        weight: 1.0,
    };
    let error = Problem::new(
        &table.unwrap(),
        &[variable],
        BITS,
        limit(2, 0),
        &Monitor::new(),
    );
    assert_eq!(error.unwrap_err().kind(), "bad_argument");
}

/// A small file: codes, and per variable a chain of coarser and coarser maps.
#[derive(Debug, Clone)]
struct File {
    columns: Vec<Vec<u32>>,
    groups: Vec<Vec<Vec<u32>>>,
}

fn file() -> impl Strategy<Value = File> {
    let variable = (2usize..6, 1usize..4, any::<u64>(), any::<bool>());
    (
        prop::collection::vec(variable, 2..5),
        3usize..40,
        any::<u64>(),
    )
        .prop_map(|(variables, n, seed)| {
            let mut state = seed | 1;
            let mut draw = |below: u64| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 33) % below
            };
            let groups: Vec<Vec<Vec<u32>>> = variables
                .iter()
                .map(|&(n_values, n_levels, _, drop)| {
                    let mut levels = vec![(0..=n_values as u32).collect::<Vec<u32>>()];
                    for _ in 1..n_levels {
                        let last = &levels[levels.len() - 1];
                        let (a, b) = (draw(n_values as u64 + 1), draw(n_values as u64 + 1));
                        let (a, b) = (last[a as usize], last[b as usize]);
                        levels.push(last.iter().map(|&g| if g == a { b } else { g }).collect());
                    }
                    if drop {
                        levels.push(vec![0; n_values + 1]);
                    }
                    levels
                })
                .collect();
            let columns = groups
                .iter()
                .map(|levels| {
                    let n_codes = levels[0].len() as u64;
                    (0..n).map(|_| (draw(n_codes) * draw(2)) as u32).collect()
                })
                .collect();
            File { columns, groups }
        })
}

/// All recodings, each from the start.
fn all(problem: &Problem) -> Vec<Vec<u8>> {
    (0..problem.variables.len()).fold(vec![Vec::new()], |nodes: Vec<Vec<u8>>, j| {
        let longer = nodes.iter().flat_map(|node| {
            (0..=problem.top(j)).map(move |place| {
                let mut node = node.clone();
                node.push(place);
                node
            })
        });
        longer.collect()
    })
}

/// The definition, by counting equal rows record by record.
fn by_definition(file: &File, problem: &Problem, places: &[u8], charge: Charge) -> Measured {
    let n = file.columns[0].len();
    let group =
        |j: usize, i: usize| file.groups[j][places[j] as usize][file.columns[j][i] as usize];
    let size: Vec<u64> = (0..n)
        .map(|i| {
            let same = |o: &usize| (0..places.len()).all(|j| group(j, i) == group(j, *o));
            (0..n).filter(same).count() as u64
        })
        .collect();
    let share = |j: usize, i: usize, at_group: bool| {
        let same = |o: &usize| match at_group {
            true => group(j, *o) == group(j, i),
            false => file.columns[j][*o] == file.columns[j][i],
        };
        (0..n).filter(same).count() as f64
    };
    let lift = |i: usize| -> f64 {
        let of = (0..places.len()).map(|j| (n as f64 / share(j, i, true)).log2());
        of.sum::<f64>() * charge.blank_price
    };
    let mut blanked = vec![false; n];
    if problem.rule.blanks_all {
        for i in 0..n {
            blanked[i] = size[i] < problem.limit.k;
        }
    } else {
        let mut uniques: Vec<usize> = (0..n).filter(|&i| size[i] == 1).collect();
        uniques.sort_by(|&a, &b| lift(a).total_cmp(&lift(b)));
        let most = problem.limit.prop_unique.unwrap();
        // The fewest that bring the share down, by trying.
        let u = uniques.len();
        let enough = |x: usize| (u - x) as f64 <= most * (n - x) as f64 + 1e-9;
        let x = (0..=u).find(|&x| enough(x)).unwrap();
        uniques[..x].iter().for_each(|&i| blanked[i] = true);
    }
    let base: f64 = (0..n)
        .flat_map(|i| (0..places.len()).map(move |j| (i, j)))
        .map(|(i, j)| (share(j, i, true) / share(j, i, false)).log2())
        .sum();
    let lifts: f64 = (0..n).filter(|&i| blanked[i]).map(lift).sum();
    Measured {
        cost: base + lifts,
        n_blanked: blanked.iter().filter(|&&b| b).count() as u64,
        violating: size.iter().filter(|&&s| s < problem.rule.threshold).count() as u64,
        n_unique: size.iter().filter(|&&s| s == 1).count() as u64,
        smallest: (0..n)
            .filter(|&i| !blanked[i])
            .map(|i| size[i])
            .min()
            .unwrap_or(0),
    }
}

/// The cheapest by looking at every recoding.
fn exhaustive(problem: &Problem, limits: &Limits, n_best: usize) -> Vec<Recoding> {
    let mut found: Vec<Recoding> = all(problem)
        .into_iter()
        .filter_map(|places| {
            let (measured, cells, blanked) = problem.measure(&places).unwrap();
            let risks = limits.risks(problem, &places, &cells, &blanked).unwrap();
            let recoding = problem.admitted(&places, &measured)?;
            (measured.n_blanked <= problem.limit.blankable && limits.hold(&risks))
                .then_some(recoding)
        })
        .collect();
    found.sort_by(Recoding::order);
    found.truncate(n_best);
    found
}

fn same(found: &[Recoding], expected: &[Recoding]) {
    let key = |r: &[Recoding]| r.iter().map(|r| r.places.clone()).collect::<Vec<_>>();
    assert_eq!(key(found), key(expected));
    for (a, b) in found.iter().zip(expected) {
        assert!((a.cost - b.cost).abs() <= 1e-9 * b.cost.abs().max(1.0));
    }
}

fn limits_to_try(n: u64) -> Vec<Limit> {
    let mut limits = vec![
        limit(1, 0),
        limit(2, 0),
        limit(3, 0),
        limit(2, n / 5),
        limit(4, n / 3),
    ];
    for share in [0.0, 0.1, 0.3] {
        limits.extend([0, n / 6].map(|blankable| Limit {
            k: 1,
            prop_unique: Some(share),
            blankable,
        }));
    }
    limits
}

fn tail(p: usize, limit: f64) -> Option<(usize, TailSettings, f64)> {
    let settings = TailSettings {
        alpha: vec![Probability::new(0.1, "alpha").unwrap()],
        pi_u: Probability::new(0.5, "pi_u").unwrap(),
        pwm: Pwm::Plotting,
        theta_one: ThetaOne::One,
    };
    Some((p, settings, limit))
}

proptest! {
    #![proptest_config(crate::cases::cases(60))]

    #[test]
    fn a_recoding_is_measured_as_defined(file in file(), price in 0.5f64..3.0) {
        let charge = Charge { blank_price: price, ..BITS };
        for limit in limits_to_try(file.columns[0].len() as u64) {
            let problem = problem_of(&file.columns, &file.groups, charge, limit);
            for places in all(&problem) {
                let (measured, ..) = problem.measure(&places).unwrap();
                let expected = by_definition(&file, &problem, &places, charge);
                prop_assert!((measured.cost - expected.cost).abs() < 1e-8);
                prop_assert_eq!(Measured { cost: 0.0, ..measured }, Measured { cost: 0.0, ..expected });
            }
        }
    }

    #[test]
    fn the_search_finds_what_looking_at_all_finds(
        file in file(), n_best in 1usize..12, price in 0.3f64..6.0
    ) {
        for cost in [Cost::Entropy, Cost::Loss, Cost::Levels] {
            for limit in limits_to_try(file.columns[0].len() as u64) {
                let charge = Charge { cost, blank_price: price };
                let problem = problem_of(&file.columns, &file.groups, charge, limit);
                let limits = Limits::new(&problem, Asked::default(), &Monitor::new()).unwrap();
                let found = run(&problem, Asked::default(), n_best);
                prop_assert!(found.proven);
                same(&found.best, &exhaustive(&problem, &limits, n_best));
            }
        }
    }

    #[test]
    fn rows_that_stand_for_many_records_are_searched_as_these_records(
        file in file(), times in prop::collection::vec(1usize..5, 40), qar in 0.1f64..0.9
    ) {
        let n_rows = file.columns[0].len();
        let mut expanded = file.clone();
        for column in &mut expanded.columns {
            let rows = column.iter().zip(&times);
            *column = rows.flat_map(|(&code, &n)| vec![code; n]).collect();
        }
        let counted: Vec<u64> = times[..n_rows].iter().map(|&n| n as u64).collect();
        let table = table_of(&file.columns, &file.groups);
        let table = table.with_multiplicity(counted.clone()).unwrap();
        let asked = || Asked { qar: tail(2, qar) };
        for limit in limits_to_try(counted.iter().sum()) {
            let variables = variables_of(&file.groups);
            let counts = Problem::new(&table, &variables, BITS, limit, &Monitor::new()).unwrap();
            let records = problem_of(&expanded.columns, &file.groups, BITS, limit);
            let (found, expected) = (run(&counts, asked(), 9), run(&records, asked(), 9));
            prop_assert_eq!(found.proven, expected.proven);
            same(&found.best, &expected.best);
        }
    }

    #[test]
    fn limits_beyond_cells_are_kept_exactly(file in file(), level in 0.1f64..0.9) {
        let n = file.columns[0].len() as u64;
        for asked in [Asked { qar: tail(2, level) }, Asked { qar: tail(1, level) }] {
            for limit in [limit(1, 0), limit(2, 0), limit(2, n / 5)] {
                let problem = problem_of(&file.columns, &file.groups, BITS, limit);
                let limits = Limits::new(&problem, asked.clone(), &Monitor::new()).unwrap();
                let found = run(&problem, asked.clone(), 4);
                prop_assert!(found.proven);
                same(&found.best, &exhaustive(&problem, &limits, 4));
            }
        }
    }

    #[test]
    fn a_bound_is_never_above_the_optimum(file in file()) {
        let limit = limit(3, file.columns[0].len() as u64 / 5);
        let problem = problem_of(&file.columns, &file.groups, BITS, limit);
        let limits = Limits::new(&problem, Asked::default(), &Monitor::new()).unwrap();
        let request = Request { n_best: 1, seconds: 0.0 };
        let found = search(&problem, &limits, request, &Monitor::new()).unwrap();
        if let Some(best) = exhaustive(&problem, &limits, 1).first() {
            prop_assert!(found.bound <= best.cost * (1.0 + 1e-9));
        }
    }

    #[test]
    fn the_frontier_blanks_the_uniques_that_cost_least(file in file(), blankable in 1u64..5) {
        let n = file.columns[0].len() as u64;
        let limit = Limit { prop_unique: Some(0.0), ..limit(1, blankable) };
        let problem = problem_of(&file.columns, &file.groups, BITS, limit);
        let limits = Limits::new(&problem, Asked::default(), &Monitor::new()).unwrap();
        let found = enumerate(&problem, &limits, Measure::Unique, &Monitor::new()).unwrap();
        let points = all(&problem).into_iter().flat_map(|places| {
            let cells = problem.cells(&places).unwrap();
            let uniques = (0..cells.count.len()).filter(|&cell| cells.count[cell] == 1);
            let lift = |cell: usize| problem.lift(&places, cells.first[cell]);
            let mut lifts: Vec<f64> = uniques.map(lift).collect();
            lifts.sort_by(f64::total_cmp);
            let fewest = lifts.len().min(blankable as usize);
            [0, fewest].map(|blanks| Point {
                risk: (lifts.len() - blanks) as f64 / (n - blanks as u64).max(1) as f64,
                recoding: Recoding::new(
                    &problem,
                    problem.base(&places) + lifts[..blanks].iter().sum::<f64>(),
                    &places,
                ),
                n_blanked: blanks as u64,
            })
        });
        let points: Vec<Point> = points.filter(|p| p.n_blanked < n).collect();
        let expected = undominated(points);
        prop_assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            prop_assert!((a.risk - b.risk).abs() < 1e-9);
            prop_assert_eq!(&a.recoding.places, &b.recoding.places);
            prop_assert_eq!(a.n_blanked, b.n_blanked);
        }
    }

    #[test]
    fn the_frontier_is_that_of_all_recodings(file in file()) {
        let n = file.columns[0].len() as u64;
        let problem = problem_of(&file.columns, &file.groups, BITS, limit(1, 0));
        let asked = Asked { qar: tail(2, 1.0) };
        let limits = Limits::new(&problem, asked, &Monitor::new()).unwrap();
        for measure in [Measure::Smallest, Measure::Unique, Measure::Qar] {
            let found = enumerate(&problem, &limits, measure, &Monitor::new()).unwrap();
            let points = all(&problem).into_iter().map(|places| {
                let (measured, cells, _) = problem.measure(&places).unwrap();
                let risks = limits.risks(&problem, &places, &cells, &[]).unwrap();
                Point {
                    risk: match measure {
                        Measure::Smallest => 1.0 / measured.smallest as f64,
                        Measure::Unique => measured.n_unique as f64 / n as f64,
                        Measure::Qar => risks.qar.unwrap(),
                    },
                    recoding: Recoding::new(&problem, measured.cost, &places),
                    n_blanked: 0,
                }
            });
            let expected = undominated(points.collect());
            prop_assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(&expected) {
                prop_assert!((a.risk - b.risk).abs() < 1e-9);
                prop_assert_eq!(&a.recoding.places, &b.recoding.places);
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let file = |n: u32| {
        let codes = |m: u32| (0..n).map(move |i| 1 + (i.wrapping_mul(2_654_435_761) >> 7) % m);
        vec![
            codes(7).collect::<Vec<u32>>(),
            codes(5).collect(),
            codes(3).collect(),
        ]
    };
    let chain = |m: u32| {
        let halves = |by: u32| (0..=m).map(|c| c.div_ceil(by)).collect::<Vec<u32>>();
        vec![halves(1), halves(2), halves(4), vec![0; m as usize + 1]]
    };
    let groups = [chain(7), chain(5), chain(3)];
    let problem = problem_of(&file(400), &groups, BITS, limit(5, 20));
    let once = |threads| {
        crate::parallel::with_threads(threads, || Ok(run(&problem, Asked::default(), 5))).unwrap()
    };
    let (one, three) = (once(1), once(3));
    same(&three.best, &one.best);
    assert_eq!(one.n_evaluated, three.n_evaluated);
}

#[test]
fn a_cancelled_search_is_interrupted() {
    let problem = toy(2);
    let asked = || Asked { qar: tail(1, 0.5) };
    let monitor = Monitor::new();
    let limits = Limits::new(&problem, asked(), &monitor).unwrap();
    monitor.cancel();
    // The counts of all choices of levels, which were made whole once.
    let counted = Limits::new(&problem, asked(), &monitor).map(|_| ());
    assert_eq!(counted.unwrap_err().kind(), "interrupted");
    let request = Request {
        n_best: 1,
        seconds: 1e6,
    };
    let found = search(&problem, &limits, request, &monitor).map(|_| ());
    assert_eq!(found.unwrap_err().kind(), "interrupted");
}
