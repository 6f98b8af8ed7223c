//! Matches of the records that can change, in one key set, kept exact after
//! every blank.
//!
//! Records are grouped by their blank set `M`. A record that looks with the
//! blank set `Q` matches those of `M` that equal it on the keys outside
//! `M + Q`: one look-up per `M` that occurs. Records that can never violate
//! are only counted, once per table; the *listed* ones (the violators; with
//! households all records) are kept in lists that follow every move.
//!
//! The listed records that violate and are not yet served are *open*. The sum
//! of their prices stands beside every list, so that the gain of a move, the
//! prices of those it newly matches, is the difference of two look-ups too.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use crate::error::Result;
use crate::key_table::{Column, KeyTable};
use crate::memory::{filled, map_room};
use crate::parallel::Monitor;

use super::listed::Listed;
use super::problem::Problem;

mod moves;

const NONE: u32 = u32::MAX;

/// Spreads the numbers of classes, which are dense, over the buckets.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }
    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }
    fn write_u64(&mut self, x: u64) {
        let product = (self.0 ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ product >> 32;
    }
}

/// Every record may be a class with memory of its own.
const RECORDS_PER_CHECK: usize = 1 << 14;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Classes of the listed patterns on the keys outside a blank set.
#[derive(Debug)]
struct Projection {
    /// Per listed pattern, its class.
    ids: Vec<u32>,
    /// Per blank set, the records of every class that are not listed.
    bases: Vec<(u64, Vec<u32>)>,
}

#[derive(Debug, Default)]
struct Class {
    open: i64,
    members: Vec<u32>,
}

/// The records of one blank set, by class on the keys that a look leaves.
#[derive(Debug)]
struct Table {
    projection: usize,
    /// Place of its records that are not listed in the projection's.
    base: Option<usize>,
    classes: Map<u32, Class>,
}

/// See the page of this module.
#[derive(Debug)]
pub(super) struct Counter<'p> {
    problem: &'p Problem<'p>,
    listed: &'p Listed,
    key_set: usize,
    /// The keys that count.
    set: u64,
    projections: Vec<Projection>,
    projection_of: Map<u64, usize>,
    tables: Vec<Table>,
    tables_of: Map<u64, Vec<usize>>,
    table_at: HashMap<(u64, u64), usize>,
    /// Blank sets that occur, in order of appearance.
    occurring: Vec<u64>,
    plans: Vec<(u64, Vec<usize>)>,
    plan_of: Map<u64, usize>,
    /// Per listed record, its blank set among the keys that count.
    blank: Vec<u64>,
    /// Per listed record, whether it violated in this key set.
    element: Vec<bool>,
    /// Its matches, where it violated.
    f: Vec<u32>,
    price: Vec<i64>,
    n_open: usize,
}

impl<'p> Counter<'p> {
    pub fn new(problem: &'p Problem<'p>, listed: &'p Listed, s: usize) -> Self {
        let violated = |&p: &u32| problem.before[s][p as usize] < problem.settings.k;
        let by_pattern: Vec<bool> = listed.patterns.iter().map(violated).collect();
        let mut counter = Self {
            problem,
            listed,
            key_set: s,
            set: problem.sets[s],
            projections: Vec::new(),
            projection_of: Map::default(),
            tables: Vec::new(),
            tables_of: Map::default(),
            table_at: HashMap::new(),
            occurring: Vec::new(),
            plans: Vec::new(),
            plan_of: Map::default(),
            blank: Vec::new(),
            element: listed
                .pattern
                .iter()
                .map(|&l| by_pattern[l as usize])
                .collect(),
            f: Vec::new(),
            price: vec![0; listed.rows.len()],
            n_open: 0,
        };
        counter.start();
        counter
    }

    /// Number of violators not yet served.
    pub fn n_open(&self) -> usize {
        self.n_open
    }

    /// True if `i` is a violator not yet served.
    pub fn is_open(&self, i: u32) -> bool {
        self.element[i as usize] && self.f[i as usize] < self.problem.settings.k
    }

    /// Takes all blanks back and sets the price of every violator.
    pub fn reset(&mut self, price: impl Fn(usize) -> i64) {
        self.price = (0..self.blank.len()).map(price).collect();
        self.tables.clear();
        self.tables_of.clear();
        self.table_at.clear();
        self.plans.clear();
        self.plan_of.clear();
        self.start();
    }

    /// The blank sets and matches of the originals.
    fn start(&mut self) {
        let (problem, listed) = (self.problem, self.listed);
        let pattern = |l: &u32| listed.patterns[*l as usize] as usize;
        let missing = |l: &u32| problem.missing[pattern(l)] & self.set;
        self.blank = listed.pattern.iter().map(missing).collect();
        let before = &problem.before[self.key_set];
        self.f = listed.pattern.iter().map(|l| before[pattern(l)]).collect();
        self.n_open = self.element.iter().filter(|&&e| e).count();
        self.occurring = self.blank.clone();
        if listed.apart.is_none() {
            self.occurring
                .extend(problem.missing.iter().map(|m| m & self.set));
        }
        self.occurring.sort_unstable();
        self.occurring.dedup();
    }

    /// The classes on the keys outside `without`.
    fn projection(&mut self, without: u64, monitor: &Monitor) -> Result<usize> {
        if let Some(&at) = self.projection_of.get(&without) {
            return Ok(at);
        }
        let columns = self.problem.columns(self.set, without);
        let counted = self.listed.apart.is_none();
        let listed = &self.listed.patterns;
        let part = |table: &KeyTable| -> Result<Vec<u32>> {
            if columns.is_empty() {
                return filled(0, table.n_rows());
            }
            let chosen: Vec<Column> = columns
                .iter()
                .map(|&v| table.columns()[v].clone())
                .collect();
            Ok(KeyTable::new(chosen)?.group(monitor)?.row_group().to_vec())
        };
        let (mut ids, mut all) = if counted {
            let all = part(&self.problem.distinct)?;
            (listed.iter().map(|&p| all[p as usize]).collect(), all)
        } else {
            (part(&self.problem.distinct.select(listed)?)?, Vec::new())
        };
        let n_groups = ids.iter().chain(&all).max().map_or(0, |&g| g as usize + 1);
        let n_classes = renumber(&mut ids, &mut all, n_groups);
        let bases = self.bases(&all, n_classes, without)?;
        self.projections.push(Projection { ids, bases });
        self.projection_of
            .insert(without, self.projections.len() - 1);
        Ok(self.projections.len() - 1)
    }

    /// The table of the records of `blank`, seen with `without` left out.
    fn table(&mut self, blank: u64, without: u64, monitor: &Monitor) -> Result<usize> {
        if let Some(&at) = self.table_at.get(&(blank, without)) {
            return Ok(at);
        }
        monitor.check()?;
        let projection = self.projection(without, monitor)?;
        let bases = &self.projections[projection].bases;
        let base = bases.iter().position(|b| b.0 == blank);
        let mut table = Table {
            projection,
            base,
            classes: Map::default(),
        };
        let ids = &self.projections[projection].ids;
        for (i, &own) in self.blank.iter().enumerate() {
            if i % RECORDS_PER_CHECK == 0 {
                monitor.check()?;
            }
            if own == blank {
                map_room(&mut table.classes)?;
                let class = table
                    .classes
                    .entry(ids[self.listed.pattern[i] as usize])
                    .or_default();
                class.members.push(i as u32);
                if self.is_open(i as u32) {
                    class.open += self.price[i];
                }
            }
        }
        let at = self.tables.len();
        self.tables.push(table);
        self.table_at.insert((blank, without), at);
        self.tables_of.entry(blank).or_default().push(at);
        Ok(at)
    }

    /// Per blank set inside `without`, the records of every class that are not
    /// listed.
    fn bases(&self, all: &[u32], n_classes: usize, without: u64) -> Result<Vec<(u64, Vec<u32>)>> {
        let problem = self.problem;
        let mut bases: Vec<(u64, Vec<u32>)> = Vec::new();
        if problem.settings.households.is_some() {
            return Ok(bases);
        }
        let mut last = 0;
        for (p, &class) in all.iter().enumerate() {
            let blank = problem.missing[p] & self.set;
            if class == NONE || problem.violating[p] || blank & !without != 0 {
                continue;
            }
            if bases.get(last).is_none_or(|b| b.0 != blank) {
                last = match bases.iter().position(|b| b.0 == blank) {
                    Some(at) => at,
                    None => {
                        bases.push((blank, filled(0, n_classes)?));
                        bases.len() - 1
                    }
                };
            }
            bases[last].1[class as usize] += problem.counts[p];
        }
        Ok(bases)
    }

    /// Makes looks with the blank set `q` possible; its number.
    pub fn prepare(&mut self, q: u64, monitor: &Monitor) -> Result<usize> {
        let q = q & self.set;
        let at = match self.plan_of.get(&q) {
            Some(&at) => at,
            None => {
                self.plans.push((q, Vec::new()));
                self.plan_of.insert(q, self.plans.len() - 1);
                self.plans.len() - 1
            }
        };
        while self.plans[at].1.len() < self.occurring.len() {
            let blank = self.occurring[self.plans[at].1.len()];
            let table = self.table(blank, blank | q, monitor)?;
            self.plans[at].1.push(table);
        }
        Ok(at)
    }

    fn class(&self, table: usize, i: u32) -> (u32, Option<&Class>) {
        let table = &self.tables[table];
        let projection = &self.projections[table.projection];
        let id = projection.ids[self.listed.pattern[i as usize] as usize];
        let base = table.base.map_or(0, |b| projection.bases[b].1[id as usize]);
        (base, table.classes.get(&id))
    }

    /// Matches of `i` when it looks by a prepared plan.
    pub fn count(&self, i: u32, plan: usize) -> u32 {
        let (q, tables) = &self.plans[plan];
        if !self.listed.household.is_empty() {
            let mut households: Vec<u32> = Vec::new();
            for &table in tables {
                let members = self.class(table, i).1.map_or(&[][..], |c| &c.members);
                households.extend(members.iter().map(|&j| self.listed.household[j as usize]));
            }
            households.sort_unstable();
            households.dedup();
            return households.len() as u32;
        }
        let near = self.listed.apart.as_ref().map_or(0, |apart| {
            (apart[self.listed.pattern[i as usize] as usize].iter())
                .filter(|a| a.keys & self.set & !q == 0)
                .map(|a| a.others)
                .sum()
        });
        tables.iter().fold(near, |sum, &table| {
            let (base, class) = self.class(table, i);
            sum + base + class.map_or(0, |c| c.members.len() as u32)
        })
    }

    fn open_price(&self, i: u32, plan: usize) -> i64 {
        let tables = self.plans[plan].1.iter();
        tables
            .map(|&t| self.class(t, i).1.map_or(0, |c| c.open))
            .sum()
    }

    /// Gain of moving `i` to the blank set `q`, both prepared: the prices of open violators it
    /// newly matches, and its own for its shortfall; `None` if it would still lack matches. Also
    /// returns the matches it then has.
    pub fn gain(&self, i: u32, q: u64) -> Option<(i64, u32)> {
        let own = self.blank[i as usize];
        let to = (q & self.set) | own;
        let at = i as usize;
        let k = self.problem.settings.k;
        if to == own {
            return (!self.is_open(i)).then_some((0, u32::MAX));
        }
        let (from, to) = (*self.plan_of.get(&own)?, *self.plan_of.get(&to)?);
        let mut gain = self.open_price(i, to) - self.open_price(i, from);
        let mut f = u32::MAX;
        if self.element[at] {
            f = self.count(i, to);
            if f < k {
                return None;
            }
            gain += self.price[at] * i64::from(k.saturating_sub(self.f[at]));
        }
        Some((gain, f))
    }

    /// The listed records that match `i` with the blank set of `large`, and not
    /// with that of `small`.
    fn between(&self, i: u32, small: usize, large: usize) -> Vec<u32> {
        let pattern = &self.listed.pattern;
        let own = pattern[i as usize] as usize;
        let mut found = Vec::new();
        for (&small, &large) in self.plans[small].1.iter().zip(&self.plans[large].1) {
            let ids = &self.projections[self.tables[small].projection].ids;
            if let Some(class) = self.class(large, i).1 {
                let apart = |&&j: &&u32| j != i && ids[pattern[j as usize] as usize] != ids[own];
                found.extend(class.members.iter().filter(apart));
            }
        }
        found
    }
}

/// Numbers the classes of the listed patterns from 0; others get none.
fn renumber(ids: &mut [u32], all: &mut [u32], n_groups: usize) -> usize {
    let mut number = vec![NONE; n_groups];
    let mut n_classes = 0u32;
    for id in ids.iter_mut() {
        let entry = &mut number[*id as usize];
        if *entry == NONE {
            *entry = n_classes;
            n_classes += 1;
        }
        *id = *entry;
    }
    for id in all.iter_mut() {
        *id = number[*id as usize];
    }
    n_classes as usize
}
