//! Questions on small files and their answers by enumeration.

use super::super::problem::bits;
use super::super::subsets::keys_of;
use super::super::*;
use crate::key_table::Codes;
use crate::random::Seed;

/// Rows of codes, 0 being missing.
pub type Rows = Vec<Vec<u32>>;

pub fn column(codes: Vec<u32>) -> Column {
    let n_values = codes.iter().copied().max().unwrap_or(0);
    Column::new(Codes::pack(n_values, codes.into_iter()), n_values).unwrap()
}

pub fn table(rows: &Rows) -> KeyTable {
    let columns = (0..rows[0].len()).map(|v| column(rows.iter().map(|r| r[v]).collect()));
    KeyTable::new(columns.collect()).unwrap()
}

/// A question with its own copies of what the settings borrow.
#[derive(Debug, Clone)]
pub struct Asked {
    pub rows: Rows,
    pub k: u32,
    pub sets: Vec<Vec<usize>>,
    pub weights: Vec<f64>,
    pub linked: Vec<(usize, usize)>,
    pub strata: Option<Vec<u32>>,
    pub households: Option<Vec<u32>>,
    pub rounds: usize,
}

impl Asked {
    pub fn new(rows: Rows, k: u32) -> Self {
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

    pub fn with<T>(&self, rule: Rule, work: impl FnOnce(&KeyTable, &Settings<'_>) -> T) -> T {
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

    pub fn suppress(&self, rule: Rule) -> Result<Suppression> {
        self.with(rule, |table, settings| {
            suppress(table, settings, &Monitor::new())
        })
    }

    pub fn cost(&self, set: u64) -> f64 {
        keys_of(set).map(|v| self.weights[v]).sum()
    }

    pub fn missing(&self, row: usize) -> u64 {
        let row = self.rows[row].iter().enumerate();
        row.filter(|(_, &c)| c == 0)
            .fold(0, |all, (v, _)| all | 1 << v)
    }

    /// True if `i` and `j` match with these blanks beside the missing values.
    pub fn match_with(&self, i: usize, a: u64, j: usize, b: u64, set: &[usize]) -> bool {
        let blank = a | b | self.missing(i) | self.missing(j);
        self.strata.as_ref().is_none_or(|s| s[i] == s[j])
            && set
                .iter()
                .all(|&v| blank >> v & 1 == 1 || self.rows[i][v] == self.rows[j][v])
    }

    /// Matches of `i`, in records or households.
    pub fn matches(&self, i: usize, blanks: &[u64], set: &[usize]) -> u32 {
        let n = self.rows.len();
        let partners = (0..n).filter(|&j| self.match_with(i, blanks[i], j, blanks[j], set));
        self.units(partners)
    }

    pub fn units(&self, rows: impl Iterator<Item = usize>) -> u32 {
        match &self.households {
            None => rows.count() as u32,
            Some(h) => rows
                .map(|j| h[j])
                .collect::<std::collections::BTreeSet<_>>()
                .len() as u32,
        }
    }

    pub fn equals(&self, i: usize, blanks: &[u64], set: &[usize]) -> u32 {
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

    pub fn violating(&self, i: usize) -> bool {
        let none = vec![0; self.rows.len()];
        self.sets
            .iter()
            .any(|set| self.matches(i, &none, set) < self.k)
    }

    /// Sets of keys that record `i` may lose.
    pub fn allowed(&self, i: usize) -> Vec<u64> {
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

    /// Needs of record `i` alone, by enumeration.
    pub fn own(&self, i: usize) -> f64 {
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
    pub fn least_shared(&self) -> f64 {
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
        let mut best = f64::INFINITY;
        let holds = |blanks: &[u64]| {
            let serves = |set: &Vec<usize>| (0..n).all(|j| self.matches(j, blanks, set) >= self.k);
            self.sets.iter().all(serves)
        };
        self.enumerate(0, 0.0, &choices, &mut vec![0; n], &holds, &mut best);
        best
    }

    /// The least cost under the strict rule, by enumeration.
    pub fn least_strict(&self) -> f64 {
        let n = self.rows.len();
        let choices: Vec<Vec<u64>> = (0..n).map(|i| self.allowed(i)).collect();
        let mut best = f64::INFINITY;
        let holds = |blanks: &[u64]| {
            let serves = |set: &Vec<usize>| (0..n).all(|j| self.equals(j, blanks, set) >= self.k);
            self.sets.iter().all(serves)
        };
        self.enumerate(0, 0.0, &choices, &mut vec![0; n], &holds, &mut best);
        best
    }

    fn enumerate(
        &self,
        i: usize,
        cost: f64,
        choices: &[Vec<u64>],
        blanks: &mut Vec<u64>,
        holds: &dyn Fn(&[u64]) -> bool,
        best: &mut f64,
    ) {
        if cost >= *best {
            return;
        }
        if i == choices.len() {
            if holds(blanks) {
                *best = cost;
            }
            return;
        }
        for &set in &choices[i] {
            blanks[i] = set;
            self.enumerate(i + 1, cost + self.cost(set), choices, blanks, holds, best);
        }
        blanks[i] = 0;
    }

    /// Properties of every release.
    pub fn check(&self, rule: Rule, found: &Suppression) {
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
