//! Which values of a column are compatible with which.
//!
//! A missing code is compatible with every code, whatever the relation; what
//! is kept here is about codes `1..=K`. The code of the target stands first:
//! with candidate sets and the first-of rule the relation is not symmetric.

use crate::error::{Error, Result};

/// Pairs of codes of one column that a relation may list.
const MAX_PAIRS: usize = 100_000_000;

/// How a set of admissible values matches another one.
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
    /// How many of the target's values each compatible code admits; `None`
    /// where a match counts once.
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
    pub fn of_sets(sets: &[Vec<u32>], rule: Rule) -> Result<Self> {
        if sets.iter().any(Vec::is_empty) {
            return Err(Error::bad_column(
                "A set of candidates must hold at least one value.",
            ));
        }
        let n_values = sets.iter().flatten().max().map_or(0, |&v| v as usize + 1);
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); n_values];
        for (code, set) in (1u32..).zip(sets) {
            for &value in set {
                holders[value as usize].push(code);
            }
        }
        let sizes = sets.iter().map(|set| set.len() as u64);
        build(sizes, rule, |code, found| {
            let set = &sets[code];
            let values = if rule == Rule::First { &set[..1] } else { set };
            for &value in values {
                found.extend(holders[value as usize].iter().map(|&c| (c, 1)));
            }
        })
    }

    /// Intervals from `low` to `high`, both included. The first value of an
    /// interval is its lower end; `Rule::Mean` takes an interval for the whole
    /// numbers in it.
    pub fn of_intervals(intervals: &[(f64, f64)], rule: Rule) -> Result<Self> {
        if intervals
            .iter()
            .any(|&(low, high)| low > high || low.is_nan() || high.is_nan())
        {
            return Err(Error::bad_column(
                "The lower end of an interval must not exceed its upper end.",
            ));
        }
        let whole = |x: f64| x.is_finite() && x.abs() < 9e15 && (x - x.round()).abs() <= 0.0;
        let mean = rule == Rule::Mean;
        if mean && !intervals.iter().all(|&(l, h)| whole(l) && whole(h)) {
            return Err(Error::BadArgument(
                "The mean over the values of intervals needs whole numbers as their ends.".into(),
            ));
        }
        let count = |low: f64, high: f64| if mean { (high - low) as u64 + 1 } else { 1 };
        let mut by_low: Vec<u32> = (0..intervals.len() as u32).collect();
        by_low.sort_by(|&a, &b| intervals[a as usize].0.total_cmp(&intervals[b as usize].0));
        let sizes = intervals.iter().map(|&(low, high)| count(low, high));
        build(sizes, rule, |code, found| {
            let (low, mut high) = intervals[code];
            if rule == Rule::First {
                high = low;
            }
            for &other in &by_low {
                let (other_low, other_high) = intervals[other as usize];
                if other_low > high {
                    break;
                }
                if other_high >= low {
                    let shared = count(low.max(other_low), high.min(other_high));
                    found.push((other + 1, shared));
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

    /// Whether the target's code `a` is compatible with `b`.
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

    /// Whether matches are counted in values of the target's set.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Relation::Lists(Lists { times: Some(_), .. }))
    }

    /// How many of the values of the target's code `a` are compatible with `b`.
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

/// Lists for codes with sets of the given sizes; `find` names the compatible
/// codes of code `i + 1`, with the number of values for which they are, in any
/// order and in parts.
fn build(
    sizes: impl Iterator<Item = u64>,
    rule: Rule,
    mut find: impl FnMut(usize, &mut Vec<(u32, u64)>),
) -> Result<Relation> {
    let sizes: Vec<u64> = sizes.collect();
    let mut lists = Lists {
        starts: vec![0],
        codes: Vec::new(),
        times: (rule == Rule::Mean).then(Vec::new),
        sizes: None,
    };
    let mut found = Vec::new();
    for code in 0..sizes.len() {
        found.clear();
        find(code, &mut found);
        found.sort_unstable();
        if lists.codes.len() + found.len() > MAX_PAIRS {
            return Err(Error::TooLarge(format!(
                "The candidate sets of a column may be compatible in at most {MAX_PAIRS} pairs."
            )));
        }
        let start = lists.codes.len();
        for &(other, times) in &found {
            let again = lists.codes.len() > start && lists.codes.last() == Some(&other);
            if !again {
                lists.codes.push(other);
            }
            if let Some(all) = &mut lists.times {
                match all.last_mut() {
                    Some(last) if again => *last += times,
                    _ => all.push(times),
                }
            }
        }
        lists.starts.push(lists.codes.len());
    }
    if rule == Rule::Mean {
        lists.sizes = Some(sizes);
    }
    Ok(Relation::Lists(lists))
}
