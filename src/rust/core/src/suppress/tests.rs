use proptest::prelude::*;

use super::counter::Counter;
use super::greedy::State;
use super::listed::Listed;
use super::problem::{bits, Problem};
use super::subsets::keys_of;
use super::*;
use crate::key_table::Codes;
use crate::random::Seed;

/// Rows of codes, 0 being missing.
type Rows = Vec<Vec<u32>>;

fn column(codes: Vec<u32>) -> Column {
    let n_values = codes.iter().copied().max().unwrap_or(0);
    Column::new(Codes::pack(n_values, codes.into_iter()), n_values).unwrap()
}

fn table(rows: &Rows) -> KeyTable {
    let columns = (0..rows[0].len()).map(|v| column(rows.iter().map(|r| r[v]).collect()));
    KeyTable::new(columns.collect()).unwrap()
}

/// A question with its own copies of what the settings borrow.
#[derive(Debug, Clone)]
struct Asked {
    rows: Rows,
    k: u32,
    sets: Vec<Vec<usize>>,
    weights: Vec<f64>,
    linked: Vec<(usize, usize)>,
    strata: Option<Vec<u32>>,
    households: Option<Vec<u32>>,
    rounds: usize,
}

impl Asked {
    fn new(rows: Rows, k: u32) -> Self {
        let q = rows[0].len();
        Self {
            rows,
            k,
            sets: vec![(0..q).collect()],
            weights: vec![1.0; q],
            linked: Vec::new(),
            strata: None,
            households: None,
            rounds: 0,
        }
    }

    fn with<T>(&self, rule: Rule, work: impl FnOnce(&KeyTable, &Settings<'_>) -> T) -> T {
        let strata = self.strata.clone().map(column);
        let households = self.households.clone().map(column);
        let settings = Settings {
            rule,
            k: self.k,
            sets: &self.sets,
            weights: &self.weights,
            linked: &self.linked,
            strata: strata.as_ref(),
            households: households.as_ref(),
            bound_steps: None,
            rounds: self.rounds,
            streams: Streams::new(Seed::from_draws([1, 2, 3, 4, 5, 6, 7, 8])),
        };
        work(&table(&self.rows), &settings)
    }

    fn suppress(&self, rule: Rule) -> Result<Suppression> {
        self.with(rule, |table, settings| {
            suppress(table, settings, &Monitor::new())
        })
    }

    fn cost(&self, set: u64) -> f64 {
        keys_of(set).map(|v| self.weights[v]).sum()
    }

    fn missing(&self, row: usize) -> u64 {
        let row = self.rows[row].iter().enumerate();
        row.filter(|(_, &c)| c == 0)
            .fold(0, |all, (v, _)| all | 1 << v)
    }

    /// Whether `i` and `j` match with these blanks beside the missing values.
    fn match_with(&self, i: usize, a: u64, j: usize, b: u64, set: &[usize]) -> bool {
        let blank = a | b | self.missing(i) | self.missing(j);
        self.strata.as_ref().is_none_or(|s| s[i] == s[j])
            && set
                .iter()
                .all(|&v| blank >> v & 1 == 1 || self.rows[i][v] == self.rows[j][v])
    }

    /// Matches of `i`, in records or households.
    fn matches(&self, i: usize, blanks: &[u64], set: &[usize]) -> u32 {
        let n = self.rows.len();
        let partners = (0..n).filter(|&j| self.match_with(i, blanks[i], j, blanks[j], set));
        self.units(partners)
    }

    fn units(&self, rows: impl Iterator<Item = usize>) -> u32 {
        match &self.households {
            None => rows.count() as u32,
            Some(h) => rows
                .map(|j| h[j])
                .collect::<std::collections::BTreeSet<_>>()
                .len() as u32,
        }
    }

    fn equals(&self, i: usize, blanks: &[u64], set: &[usize]) -> u32 {
        let value = |row: usize, v: usize| match blanks[row] >> v & 1 {
            0 => self.rows[row][v],
            _ => 0,
        };
        let same = |j: &usize| {
            self.strata.as_ref().is_none_or(|s| s[i] == s[*j])
                && set.iter().all(|&v| value(i, v) == value(*j, v))
        };
        self.units((0..self.rows.len()).filter(same))
    }

    fn violating(&self, i: usize) -> bool {
        let none = vec![0; self.rows.len()];
        self.sets
            .iter()
            .any(|set| self.matches(i, &none, set) < self.k)
    }

    /// Sets of keys that record `i` may lose.
    fn allowed(&self, i: usize) -> Vec<u64> {
        let links = self.linked.iter().fold(0, |all, l| all | 1 << l.1);
        let union = self.sets.iter().fold(links, |all, set| all | bits(set));
        let missing = self.missing(i);
        (0..1u64 << self.rows[0].len())
            .filter(|set| set & !union == 0 && set & missing == 0 && self.cost(*set).is_finite())
            .filter(|set| {
                let holds =
                    |&(a, b): &(usize, usize)| set >> a & 1 == 0 || (set | missing) >> b & 1 == 1;
                self.linked.iter().all(holds)
            })
            .collect()
    }

    /// What record `i` needs alone, by enumeration.
    fn own(&self, i: usize) -> f64 {
        let mut blanks = vec![0; self.rows.len()];
        (self.allowed(i).into_iter())
            .filter(|&set| {
                blanks[i] = set;
                self.sets
                    .iter()
                    .all(|keys| self.matches(i, &blanks, keys) >= self.k)
            })
            .map(|set| self.cost(set))
            .fold(f64::INFINITY, f64::min)
    }

    /// The least cost under the shared rule, by enumeration.
    fn least_shared(&self) -> f64 {
        let n = self.rows.len();
        let choices: Vec<Vec<u64>> = (0..n)
            .map(|i| match self.violating(i) {
                false => vec![0],
                true => {
                    let cap = self.own(i) * (1.0 + 1e-9);
                    self.allowed(i)
                        .into_iter()
                        .filter(|&s| self.cost(s) <= cap)
                        .collect()
                }
            })
            .collect();
        let mut blanks = vec![0u64; n];
        let mut best = f64::INFINITY;
        self.enumerate(0, 0.0, &choices, &mut blanks, &mut best);
        best
    }

    fn enumerate(
        &self,
        i: usize,
        cost: f64,
        choices: &[Vec<u64>],
        blanks: &mut Vec<u64>,
        best: &mut f64,
    ) {
        if cost >= *best {
            return;
        }
        if i == choices.len() {
            let serves = |set: &Vec<usize>| (0..i).all(|j| self.matches(j, blanks, set) >= self.k);
            if self.sets.iter().all(serves) {
                *best = cost;
            }
            return;
        }
        for &set in &choices[i] {
            blanks[i] = set;
            self.enumerate(i + 1, cost + self.cost(set), choices, blanks, best);
        }
        blanks[i] = 0;
    }

    /// What holds for every release.
    fn check(&self, rule: Rule, found: &Suppression) {
        let n = self.rows.len();
        let none = vec![0; n];
        assert!(
            (found.cost - found.blanks.iter().map(|&s| self.cost(s)).sum::<f64>()).abs() < 1e-9
        );
        assert!(found.lower_bound <= found.cost * (1.0 + 1e-9), "{found:?}");
        for i in 0..n {
            assert_eq!(found.blanks[i] & self.missing(i), 0);
            assert_eq!(found.violating[i], self.violating(i));
            for &(a, b) in &self.linked {
                let all = found.blanks[i] | self.missing(i);
                assert!(found.blanks[i] >> a & 1 == 0 || all >> b & 1 == 1);
            }
            for (s, set) in self.sets.iter().enumerate() {
                let counts = &found.counts[s];
                assert_eq!(counts.before[i], self.matches(i, &none, set));
                assert_eq!(counts.after[i], self.matches(i, &found.blanks, set));
                assert!(counts.after[i] >= self.k);
                if rule == Rule::Strict {
                    assert!(
                        self.equals(i, &found.blanks, set) >= self.k,
                        "{self:?} {found:?}"
                    );
                    assert_eq!(
                        counts.equal.as_ref().unwrap()[i],
                        self.equals(i, &found.blanks, set)
                    );
                }
            }
            let mine = found.blanks[i] & !found.household[i];
            if rule != Rule::Strict {
                assert!(self.violating(i) || mine == 0);
                if self.violating(i) {
                    assert!(self.cost(mine) <= self.own(i) * (1.0 + 1e-9));
                }
            }
            if rule == Rule::Own {
                let mut alone = none.clone();
                alone[i] = found.blanks[i];
                let serves = |set: &Vec<usize>| self.matches(i, &alone, set) >= self.k;
                assert!(self.sets.iter().all(serves));
            }
        }
    }
}

fn worked() -> Rows {
    [
        [1, 1, 1],
        [1, 1, 1],
        [1, 1, 2],
        [1, 1, 3],
        [1, 2, 4],
        [2, 2, 4],
    ]
    .map(|r| r.to_vec())
    .to_vec()
}

#[test]
fn worked_values_at_two() {
    let asked = Asked::new(worked(), 2);
    let own = asked.suppress(Rule::Own).unwrap();
    asked.check(Rule::Own, &own);
    assert_eq!(own.blanks, [0, 0, 4, 4, 1, 1]);
    assert_eq!(own.counts[0].after, [4, 4, 4, 4, 2, 2]);
    let intruder: f64 = own.counts[0]
        .intruder
        .iter()
        .map(|&g| 1.0 / f64::from(g))
        .sum();
    assert!((intruder - 2.5).abs() < 1e-12, "{:?}", own.counts[0]);
    let shared = asked.suppress(Rule::Shared).unwrap();
    asked.check(Rule::Shared, &shared);
    assert!((shared.cost - 2.0).abs() < 1e-12 && (shared.lower_bound - 2.0).abs() < 1e-12);
    assert_eq!(
        shared.counts[0]
            .intruder
            .iter()
            .filter(|&&g| g == 1)
            .count(),
        2
    );
    let intruder: f64 = shared.counts[0]
        .intruder
        .iter()
        .map(|&g| 1.0 / f64::from(g))
        .sum();
    assert!(
        (intruder - 11.0 / 3.0).abs() < 1e-12 || intruder < 11.0 / 3.0,
        "{intruder}"
    );
    let strict = asked.suppress(Rule::Strict).unwrap();
    asked.check(Rule::Strict, &strict);
    assert_eq!(strict.blanks, own.blanks);
}

#[test]
fn worked_values_at_three() {
    let asked = Asked::new(worked(), 3);
    let own = asked.suppress(Rule::Own).unwrap();
    asked.check(Rule::Own, &own);
    assert!((own.cost - 9.0).abs() < 1e-12);
    let sizes: Vec<u32> = own.blanks.iter().map(|s| s.count_ones()).collect();
    assert_eq!(sizes, [1, 1, 1, 1, 2, 3]);
    let shared = asked.suppress(Rule::Shared).unwrap();
    asked.check(Rule::Shared, &shared);
    assert!(shared.cost <= 5.0 && shared.cost >= asked.least_shared());
    let strict = asked.suppress(Rule::Strict).unwrap();
    asked.check(Rule::Strict, &strict);
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut asked = Asked::new(worked(), 7);
    for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
        assert_eq!(asked.suppress(rule).unwrap_err().kind(), "unprotectable");
    }
    asked.k = 2;
    asked.strata = Some(vec![1, 1, 1, 1, 1, 2]);
    assert_eq!(
        asked.suppress(Rule::Strict).unwrap_err().kind(),
        "unprotectable"
    );
    asked.strata = None;
    asked.weights[2] = f64::INFINITY;
    assert_eq!(
        asked.suppress(Rule::Own).unwrap_err().kind(),
        "unprotectable"
    );
    asked.weights = vec![1.0, 0.0, 1.0];
    assert_eq!(
        asked.suppress(Rule::Own).unwrap_err().kind(),
        "bad_argument"
    );
}

#[test]
fn nothing_to_do_is_nothing_done() {
    let asked = Asked::new(vec![vec![1, 2]; 5], 3);
    for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
        let found = asked.suppress(rule).unwrap();
        asked.check(rule, &found);
        assert_eq!(found.blanks, [0; 5]);
    }
}

/// Files that are small enough to try everything.
fn small(n: usize, q: usize, values: u32) -> impl Strategy<Value = Asked> {
    let rows = proptest::collection::vec(proptest::collection::vec(1..=values, q), 3..=n);
    (rows, 2..=3u32).prop_map(|(rows, k)| Asked::new(rows, k))
}

fn varied(n: usize) -> impl Strategy<Value = Asked> {
    let rows = proptest::collection::vec(proptest::collection::vec(0..=3u32, 4), 4..=n);
    let weights = proptest::collection::vec(1..=3u32, 4);
    let strata = proptest::option::of(proptest::collection::vec(1..=2u32, n));
    let linked = proptest::option::of((0..4usize, 0..4usize));
    let households = proptest::option::of(proptest::collection::vec(1..=9u32, n));
    let sets = 0..4usize;
    (rows, 2..=3u32, weights, strata, linked, households, sets).prop_map(
        |(rows, k, weights, strata, linked, households, sets)| {
            let n = rows.len();
            let cut = |x: Option<Vec<u32>>| x.map(|x| x[..n].to_vec());
            let mut asked = Asked::new(rows, k);
            asked.weights = weights.into_iter().map(f64::from).collect();
            asked.linked = linked.into_iter().filter(|(a, b)| a != b).collect();
            asked.strata = cut(strata);
            asked.households = cut(households);
            asked.sets = match sets {
                0 => vec![vec![0, 1, 2], vec![1, 2, 3]],
                1 => vec![vec![0, 1], vec![3]],
                _ => vec![vec![0, 1, 2, 3]],
            };
            asked
        },
    )
}

/// Whether the file has enough records, or households, in every stratum.
fn feasible(asked: &Asked) -> bool {
    let all = (1u64 << asked.rows[0].len()) - 1;
    let blanks = vec![all; asked.rows.len()];
    let sets = || asked.sets.iter();
    (0..asked.rows.len()).all(|i| sets().all(|s| asked.matches(i, &blanks, s) >= asked.k))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn own_is_the_sum_of_enumerated_optima(asked in varied(14)) {
        if !feasible(&asked) {
            prop_assert!(asked.suppress(Rule::Own).is_err());
            return Ok(());
        }
        let found = asked.suppress(Rule::Own).unwrap();
        asked.check(Rule::Own, &found);
        let optima: f64 = (0..asked.rows.len())
            .filter(|&i| asked.violating(i))
            .map(|i| asked.own(i))
            .sum();
        prop_assert!((found.lower_bound - optima).abs() < 1e-9);
        if asked.households.is_none() {
            prop_assert!((found.cost - optima).abs() < 1e-9);
        }
    }

    #[test]
    fn shared_lies_between_its_bound_and_own(asked in varied(14), rounds in 0..30usize) {
        if !feasible(&asked) {
            return Ok(());
        }
        let mut asked = asked;
        asked.rounds = rounds;
        let own = asked.suppress(Rule::Own).unwrap();
        let shared = asked.suppress(Rule::Shared).unwrap();
        asked.check(Rule::Shared, &shared);
        if asked.households.is_none() {
            prop_assert!(shared.cost <= own.cost * (1.0 + 1e-9));
        }
    }

    #[test]
    fn shared_is_never_below_the_least_and_neither_is_the_bound_above(
        asked in small(7, 3, 3)
    ) {
        let found = asked.suppress(Rule::Shared).unwrap();
        asked.check(Rule::Shared, &found);
        let least = asked.least_shared();
        prop_assert!(found.cost >= least - 1e-9);
        prop_assert!(found.lower_bound <= least + 1e-9);
    }

    #[test]
    fn bounds_hold_with_missing_values_weights_links_and_key_sets(asked in varied(6)) {
        if !feasible(&asked) {
            return Ok(());
        }
        let found = asked.suppress(Rule::Shared).unwrap();
        let least = asked.least_shared();
        prop_assert!(found.lower_bound <= least + 1e-9);
        prop_assert!(found.cost >= least - 1e-9);
    }

    #[test]
    fn strict_cells_hold_k(asked in varied(14)) {
        if !feasible(&asked) {
            prop_assert!(asked.suppress(Rule::Strict).is_err());
            return Ok(());
        }
        let found = asked.suppress(Rule::Strict).unwrap();
        asked.check(Rule::Strict, &found);
    }

    #[test]
    fn counts_by_levels_and_by_scan_agree_with_plain_ones_after_every_move(
        asked in varied(12), scanned: bool, moves in proptest::collection::vec((0..100usize, 0..16u64), 1..12)
    ) {
        asked.with(Rule::Shared, |table, settings| {
            let monitor = Monitor::new();
            let problem = Problem::new(table, settings, &monitor).unwrap();
            if problem.violators.is_empty() || !feasible(&asked) {
                return;
            }
            let scanned = scanned && settings.households.is_none();
            let apart = scanned.then(|| {
                let of = |&p: &u32| super::scan::differences(&problem, p).unwrap();
                problem.violators.iter().map(of).collect()
            });
            let listed = Listed::new(&problem, apart);
            let mut counters: Vec<Counter<'_>> =
                (0..problem.sets.len()).map(|s| Counter::new(&problem, &listed, s)).collect();
            if !scanned {
                let levels =
                    super::own::by_levels(&problem, &listed, &mut counters, &monitor).unwrap();
                for (&p, optimum) in problem.violators.iter().zip(&levels) {
                    let row = problem.row_pattern.iter().position(|&r| r == p).unwrap();
                    assert!((optimum.cost - asked.own(row)).abs() < 1e-9);
                }
            }
            let choices = super::greedy::Choices {
                lists: vec![Vec::new()],
                of: vec![(0, 0); listed.rows.len()],
            };
            let price = |_: usize, _: usize| 1;
            let mut state =
                State::new(&problem, &listed, &choices, &mut counters, price, &monitor);
            let mut blanks = vec![0u64; asked.rows.len()];
            for (i, set) in moves {
                let i = (i % listed.rows.len()) as u32;
                let row = listed.rows[i as usize] as usize;
                let set = set & problem.blankable & !asked.missing(row);
                state.set_blanks(i, set).unwrap();
                blanks[row] = set;
                let open: usize = (asked.sets.iter())
                    .map(|keys| {
                        let low = |&i: &usize| asked.matches(i, &blanks, keys) < asked.k;
                        (0..asked.rows.len()).filter(low).count()
                    })
                    .sum();
                assert_eq!(state.n_open(), open);
            }
        });
    }

    #[test]
    fn own_does_not_depend_on_the_order_of_rows_or_codes(
        asked in small(12, 4, 3), shift in 1..12usize
    ) {
        let cost = asked.suppress(Rule::Own).unwrap().cost;
        let mut other = asked.clone();
        other.rows.rotate_left(shift % asked.rows.len());
        prop_assert!((other.suppress(Rule::Own).unwrap().cost - cost).abs() < 1e-9);
        for row in &mut other.rows {
            for code in row.iter_mut() {
                *code = 4 - *code;
            }
        }
        for rule in [Rule::Own, Rule::Shared, Rule::Strict] {
            let found = other.suppress(rule).unwrap();
            other.check(rule, &found);
            if rule == Rule::Own {
                prop_assert!((found.cost - cost).abs() < 1e-9);
            }
        }
    }
}
