//! Compatibility of the values of a column.
//!
//! A missing code is compatible with every code, whatever the relation; what
//! is kept here is about codes `1..=K`. The code of the target stands first:
//! with candidate sets and the first-of rule the relation is not symmetric.

use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Pairs of codes of one column that a relation may list.
pub(super) const MAX_PAIRS: usize = 100_000_000;

/// Rule by which two sets of admissible values match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The target's value is the first of its set: the other set must hold it.
    First,
    /// The sets must have a value in common.
    Overlap,
    /// Every value of the target's set counts, each with the same chance.
    Mean,
}

/// Compatible codes of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// A code is compatible with itself.
    Equal,
    /// Entry `a - 1` holds the first and the last code compatible with `a`.
    Ranges(Vec<(u32, u32)>),
    /// Each code's own list.
    Lists(Lists),
}

/// For every code, the ascending list of compatible codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists {
    starts: Vec<usize>,
    codes: Vec<u32>,
    /// Number of the target's values that each compatible code admits; `None` if a match counts
    /// once.
    times: Option<Vec<u64>>,
    /// Number of values of each code's set, where matches are counted in them.
    sizes: Option<Vec<u64>>,
}

impl Relation {
    /// Values within `tolerance` of each other; `values` ascend with the codes.
    pub fn within(values: &[f64], tolerance: f64) -> Result<Self> {
        if !(tolerance >= 0.0 && tolerance.is_finite()) || values.iter().any(|v| v.is_nan()) {
            return Err(Error::BadArgument(
                "A tolerance must be a finite number of at least 0.".into(),
            ));
        }
        // Differences of decimal fractions are rarely exact.
        let near = |a: f64, b: f64| {
            let slack = 8.0 * f64::EPSILON * a.abs().max(b.abs());
            let apart = (a - b).abs();
            a.total_cmp(&b).is_eq() || apart.is_finite() && apart <= tolerance + slack
        };
        let (mut low, mut high) = (0, 0);
        let ranges = values.iter().enumerate().map(|(i, &value)| {
            while !near(values[low], value) {
                low += 1;
            }
            high = high.max(i);
            while high + 1 < values.len() && near(values[high + 1], value) {
                high += 1;
            }
            (low as u32 + 1, high as u32 + 1)
        });
        Ok(Relation::Ranges(ranges.collect()))
    }

    /// Sets of admissible values: `sets[c - 1]` holds the numbers of the values
    /// of code `c`, in the order in which they were given.
    pub fn of_sets(sets: &[Vec<u32>], rule: Rule, monitor: &Monitor) -> Result<Self> {
        if sets.iter().any(Vec::is_empty) {
            return Err(Error::bad_column(
                "A set of candidates must hold at least one value.",
            ));
        }
        let n_values = sets.iter().flatten().max().map_or(0, |&v| v as usize + 1);
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); n_values];
        for (code, set) in (0u32..).zip(sets) {
            for &value in set {
                holders[value as usize].push(code);
            }
        }
        let compared = |code: usize| -> &[u32] {
            match rule {
                Rule::First => &sets[code][..1],
                Rule::Overlap | Rule::Mean => &sets[code],
            }
        };
        // A set meets at least all that hold its most frequent value.
        let n_pairs: usize = (0..sets.len())
            .filter_map(|code| {
                let values = compared(code).iter();
                values.map(|&value| holders[value as usize].len()).max()
            })
            .sum();
        if n_pairs > MAX_PAIRS {
            return Err(too_many_pairs());
        }
        let sizes = sets.iter().map(|set| set.len() as u64);
        build(sizes, rule, monitor, |code, found| {
            for &value in compared(code) {
                for &other in &holders[value as usize] {
                    found.add(other as usize, 1);
                }
            }
        })
    }

    /// Gives the further code `code`, one above the last, compatible with itself
    /// only.
    pub fn add_code(&mut self, code: u32) {
        match self {
            Relation::Equal => {}
            Relation::Ranges(ranges) => ranges.push((code, code)),
            Relation::Lists(lists) => {
                lists.codes.push(code);
                lists.starts.push(lists.codes.len());
                if let Some(times) = &mut lists.times {
                    times.push(1);
                }
                if let Some(sizes) = &mut lists.sizes {
                    sizes.push(1);
                }
            }
        }
    }

    /// True if the target's code `a` is compatible with `b`.
    pub fn compatible(&self, a: u32, b: u32) -> bool {
        a == 0
            || b == 0
            || match self {
                Relation::Equal => a == b,
                Relation::Ranges(ranges) => {
                    let (low, high) = ranges[a as usize - 1];
                    (low..=high).contains(&b)
                }
                Relation::Lists(lists) => lists.of(a).binary_search(&b).is_ok(),
            }
    }

    /// The first and the last compatible code of every code, where that is all.
    pub(super) fn ranges(&self) -> Option<&[(u32, u32)]> {
        match self {
            Relation::Ranges(ranges) => Some(ranges),
            Relation::Equal | Relation::Lists(_) => None,
        }
    }

    /// True if matches are counted in values of the target's set.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Relation::Lists(Lists { times: Some(_), .. }))
    }

    /// Number of values of the target's code `a` that are compatible with `b`.
    pub(super) fn times(&self, a: u32, b: u32) -> u64 {
        match self {
            Relation::Lists(Lists {
                starts,
                codes,
                times: Some(times),
                ..
            }) if a != 0 => {
                let start = starts[a as usize - 1];
                let list = &codes[start..starts[a as usize]];
                if b == 0 {
                    self.size(a)
                } else {
                    list.binary_search(&b).map_or(0, |at| times[start + at])
                }
            }
            _ => u64::from(self.compatible(a, b)),
        }
    }

    /// Number of values of the set of code `a`.
    pub(super) fn size(&self, a: u32) -> u64 {
        match self {
            Relation::Lists(Lists {
                sizes: Some(sizes), ..
            }) if a != 0 => sizes[a as usize - 1],
            _ => 1,
        }
    }

    /// The largest set.
    pub(super) fn largest_size(&self) -> u64 {
        match self {
            Relation::Lists(Lists {
                sizes: Some(sizes), ..
            }) => sizes.iter().copied().max().unwrap_or(1),
            _ => 1,
        }
    }

    /// Visits the codes among `codes`, which ascend, that are compatible with
    /// the target's code `a`, by their places.
    pub(super) fn each_compatible(
        &self,
        a: u32,
        n: usize,
        code: impl Fn(usize) -> u32,
        mut visit: impl FnMut(usize),
    ) {
        let place = |value: u32| {
            let (mut low, mut high) = (0, n);
            while low < high {
                let middle = (low + high) / 2;
                if code(middle) < value {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        match self {
            Relation::Equal => {
                let at = place(a);
                if at < n && code(at) == a {
                    visit(at);
                }
            }
            Relation::Ranges(ranges) => {
                let (low, high) = ranges[a as usize - 1];
                (place(low)..n)
                    .take_while(|&i| code(i) <= high)
                    .for_each(visit);
            }
            Relation::Lists(lists) => {
                let list = lists.of(a);
                if list.len() * 8 < n {
                    for &value in list {
                        let at = place(value);
                        if at < n && code(at) == value {
                            visit(at);
                        }
                    }
                } else {
                    let mut list = list.iter().peekable();
                    for i in 0..n {
                        while list.next_if(|&&c| c < code(i)).is_some() {}
                        if list.peek() == Some(&&code(i)) {
                            visit(i);
                        }
                    }
                }
            }
        }
    }
}

impl Lists {
    fn of(&self, a: u32) -> &[u32] {
        &self.codes[self.starts[a as usize - 1]..self.starts[a as usize]]
    }
}

pub(super) fn too_many_pairs() -> Error {
    Error::too_large(
        &format!("The candidate sets of a column may be compatible in at most {MAX_PAIRS} pairs."),
        "They are compatible in more.",
        "Take fewer or smaller sets, or a smaller `tolerance`.",
    )
}

/// The cells that one cell is compatible with.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Per cell, for how many values it is.
    times: Vec<u64>,
    /// The cells with an entry above, in any order.
    cells: Vec<u32>,
}

impl Found {
    /// Cell `cell` is compatible for `times` values more, at least one.
    pub fn add(&mut self, cell: usize, times: u64) {
        if self.times[cell] == 0 {
            self.cells.push(cell as u32);
        }
        self.times[cell] += times;
    }
}

/// Lists for codes with sets of the given sizes; `find` names the cells that cell
/// `i`, of code `i + 1`, is compatible with.
pub(super) fn build(
    sizes: impl Iterator<Item = u64>,
    rule: Rule,
    monitor: &Monitor,
    mut find: impl FnMut(usize, &mut Found),
) -> Result<Relation> {
    let sizes: Vec<u64> = sizes.collect();
    let mut lists = Lists {
        starts: vec![0],
        codes: Vec::new(),
        times: (rule == Rule::Mean).then(Vec::new),
        sizes: None,
    };
    let mut found = Found {
        times: vec![0; sizes.len()],
        cells: Vec::new(),
    };
    for cell in 0..sizes.len() {
        monitor.check()?;
        find(cell, &mut found);
        if lists.codes.len() + found.cells.len() > MAX_PAIRS {
            return Err(too_many_pairs());
        }
        found.cells.sort_unstable();
        for &other in &found.cells {
            lists.codes.push(other + 1);
            let times = std::mem::take(&mut found.times[other as usize]);
            if let Some(all) = &mut lists.times {
                all.push(times);
            }
        }
        found.cells.clear();
        lists.starts.push(lists.codes.len());
    }
    if rule == Rule::Mean {
        lists.sizes = Some(sizes);
    }
    Ok(Relation::Lists(lists))
}
