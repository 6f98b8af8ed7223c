//! Prefixes of recodings and their cells: the two kernels of the search.
//!
//! A prefix sets the levels of the first variables; the others are at their top.
//! Its rows lie cell by cell. Rows that no recoding below can tell apart are
//! one row, and a cell of one row is left out: it can never be split. So are
//! rows in cells below the threshold: they stay there, and only the codes of
//! the records are counted, since a lift is separable.

use super::Problem;
use crate::error::Result;
use crate::memory::filled;

/// Rows that are alike at all levels still possible.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// A distinct row of the file.
    pub of: u32,
    /// Records.
    pub count: u32,
}

/// A prefix of a recoding.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Number of variables that are set, in the order of the problem.
    pub depth: usize,
    /// The level where set, else the least that is still possible.
    pub places: Vec<u8>,
    /// Rows, cell by cell.
    pub rows: Vec<Row>,
    /// End of every cell.
    ends: Vec<u32>,
    /// Records in cells below the threshold.
    pub violating: u64,
    /// Of these, records by code, variable after variable.
    codes: Vec<u32>,
    /// No recoding below costs less.
    pub least: f64,
}

/// Room that the kernels use again and again.
pub(crate) struct Scratch {
    tally: Vec<u32>,
    size: Vec<u32>,
    place: Vec<u32>,
    touched: Vec<u32>,
    keys: Vec<u64>,
    slots: Vec<(u32, u32)>,
    stamp: u32,
}

impl Scratch {
    pub fn new(problem: &Problem) -> Result<Self> {
        let groups = problem.variables.iter().flat_map(|v| &v.levels);
        let most = groups.map(|l| l.n_groups).max().unwrap_or(1);
        Ok(Self {
            tally: filled(0, most)?,
            size: filled(0, most)?,
            place: filled(0, most)?,
            touched: Vec::new(),
            keys: Vec::new(),
            slots: Vec::new(),
            stamp: 0,
        })
    }
}

/// Fewer rows than this are compared pair by pair.
const FEW: usize = 8;

impl State {
    /// All variables at their top.
    pub fn root(problem: &Problem, scratch: &mut Scratch) -> Result<Self> {
        let rows: Vec<Row> = (0u32..)
            .zip(&problem.counts)
            .map(|(of, &count)| Row { of, count })
            .collect();
        let n_codes = problem.variables.iter().map(|v| v.n_codes).sum();
        let mut root = Self {
            depth: 0,
            places: vec![0; problem.variables.len()],
            ends: vec![rows.len() as u32],
            rows,
            violating: 0,
            codes: filled(0, n_codes)?,
            least: 0.0,
        };
        for (j, variable) in problem.variables.iter().enumerate() {
            let top = problem.top(j);
            if j == 0 || variable.levels[top as usize].n_groups > 1 {
                root = root.split(problem, j, top, scratch);
            }
        }
        Ok(root)
    }

    /// The variables that are not set.
    pub fn unset<'a>(&self, problem: &'a Problem) -> &'a [usize] {
        &problem.order[self.depth..]
    }

    /// The bound on the cost of every recoding below.
    pub fn bound(&self, problem: &Problem) -> f64 {
        self.bound_at(problem, &self.places)
    }

    /// Bound for all recodings of these levels or higher ones.
    pub fn bound_at(&self, problem: &Problem, places: &[u8]) -> f64 {
        let base = problem.base(places);
        if self.violating == 0 || !problem.rule.blanks_all {
            return base;
        }
        let mut lift = 0.0;
        let mut at = 0;
        for (j, (variable, &place)) in problem.variables.iter().zip(places).enumerate() {
            lift += self.lift_at(problem, j, place, at);
            at += variable.n_codes;
        }
        base + lift
    }

    /// Addition by the records below the limit, or its least if `j` is not set, at `place`; their
    /// codes begin `at`.
    fn lift_at(&self, problem: &Problem, j: usize, place: u8, at: usize) -> f64 {
        let level = &problem.variables[j].levels[place as usize];
        let lifts = if problem.rank[j] < self.depth {
            &level.lift_of_code
        } else {
            &level.least_of_code
        };
        let codes = self.codes[at..].iter().zip(lifts);
        codes.map(|(&n, &lift)| f64::from(n) * lift).sum()
    }

    /// Addition to the bound by raising variable `j` by a level from `place`.
    pub fn rise(&self, problem: &Problem, j: usize, place: u8) -> f64 {
        let levels = &problem.variables[j].levels;
        let mut rise = levels[place as usize + 1].base - levels[place as usize].base;
        if self.violating > 0 && problem.rule.blanks_all {
            let at = problem.variables[..j].iter().map(|v| v.n_codes).sum();
            rise += self.lift_at(problem, j, place + 1, at) - self.lift_at(problem, j, place, at);
        }
        rise
    }

    /// Cost of blanking a record of a cell in the variables that are set.
    fn lift_of(&self, problem: &Problem, cell: &[Row]) -> f64 {
        let of = |&j: &usize| {
            let level = &problem.variables[j].levels[self.places[j] as usize];
            level.lift[level.column[cell[0].of as usize] as usize]
        };
        problem.order[..self.depth].iter().map(of).sum()
    }

    /// The cost of a recoding, all variables set, when all that violates is
    /// blanked: the same number however the recoding was reached.
    pub fn cost(&self, problem: &Problem) -> f64 {
        let mut lift = 0.0;
        let mut at = 0;
        for (variable, &place) in problem.variables.iter().zip(&self.places) {
            let level = &variable.levels[place as usize];
            let mut records = vec![0u64; level.n_groups];
            for (&n, &group) in self.codes[at..].iter().zip(&level.group_of_code) {
                records[group as usize] += u64::from(n);
            }
            let sums = records.iter().zip(&level.lift);
            lift += sums.map(|(&n, &l)| n as f64 * l).sum::<f64>();
            at += variable.n_codes;
        }
        problem.base(&self.places) + lift
    }

    fn cells(&self) -> impl Iterator<Item = &[Row]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.rows[start as usize..end as usize])
    }

    /// Least cost of suppression for the further records below the limit with variable `j` at
    /// `place`, the variables that are not set at their top; `None` if the limit cannot be kept.
    pub fn keeps(
        &self,
        problem: &Problem,
        j: usize,
        place: u8,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let level = &problem.variables[j].levels[place as usize];
        let column = &level.column[..];
        let least = problem.rule.threshold.min(u64::from(u32::MAX)) as u32;
        let most = problem.rule.most;
        let mut violating = self.violating;
        let mut lift = 0.0;
        let tally = &mut scratch.tally[..];
        for cell in self.cells() {
            let before = violating;
            let mut own = 0.0;
            let mut note = |group: u32, sum: u32| {
                if sum < least && sum > 0 {
                    violating += u64::from(sum);
                    own += f64::from(sum) * level.lift[group as usize];
                }
            };
            if let [a, b] = cell {
                let (of_a, of_b) = (column[a.of as usize], column[b.of as usize]);
                if of_a != of_b {
                    note(of_a, a.count);
                    note(of_b, b.count);
                }
            } else {
                for row in cell {
                    tally[column[row.of as usize] as usize] += row.count;
                }
                for row in cell {
                    let group = column[row.of as usize];
                    note(group, std::mem::take(&mut tally[group as usize]));
                }
            }
            if violating > most {
                return None;
            }
            if violating > before {
                lift += own + (violating - before) as f64 * self.lift_of(problem, cell);
            }
        }
        Some(lift)
    }

    /// The prefix with variable `j` at `place`; what is set must be said by
    /// [`State::set`].
    pub fn split(&self, problem: &Problem, j: usize, place: u8, scratch: &mut Scratch) -> Self {
        let column = &problem.variables[j].levels[place as usize].column[..];
        let least = problem.rule.threshold;
        let mut child = Self {
            depth: self.depth,
            places: self.places.clone(),
            rows: Vec::with_capacity(self.rows.len()),
            ends: Vec::with_capacity(self.ends.len()),
            violating: self.violating,
            codes: self.codes.clone(),
            least: self.least,
        };
        for cell in self.cells() {
            for row in cell {
                let group = column[row.of as usize] as usize;
                if scratch.tally[group] == 0 {
                    scratch.touched.push(group as u32);
                }
                scratch.tally[group] += row.count;
                scratch.size[group] += 1;
            }
            child.make_room(least, scratch);
            for row in cell {
                let group = column[row.of as usize] as usize;
                if u64::from(scratch.tally[group]) < least {
                    child.note_violating(problem, row);
                } else if scratch.size[group] > 1 {
                    child.rows[scratch.place[group] as usize] = *row;
                    scratch.place[group] += 1;
                }
            }
            for group in scratch.touched.drain(..) {
                scratch.tally[group as usize] = 0;
                scratch.size[group as usize] = 0;
            }
        }
        child
    }

    /// Room for the cells that one cell falls into, and where each begins.
    fn make_room(&mut self, least: u64, scratch: &mut Scratch) {
        let mut end = self.rows.len() as u32;
        for &group in &scratch.touched {
            let group = group as usize;
            if scratch.size[group] > 1 && u64::from(scratch.tally[group]) >= least {
                scratch.place[group] = end;
                end += scratch.size[group];
                self.ends.push(end);
            }
        }
        self.rows.resize(end as usize, Row { of: 0, count: 0 });
    }

    fn note_violating(&mut self, problem: &Problem, row: &Row) {
        self.violating += u64::from(row.count);
        let mut at = 0;
        for variable in &problem.variables {
            self.codes[at + variable.codes[row.of as usize] as usize] += row.count;
            at += variable.n_codes;
        }
    }

    /// The next variable is set to `place`.
    pub fn set(&mut self, problem: &Problem, place: u8) {
        self.places[problem.order[self.depth]] = place;
        self.depth += 1;
    }

    /// Makes one row of rows that no level still possible can tell apart.
    pub fn collapse(&mut self, problem: &Problem, scratch: &mut Scratch) {
        if !self.write_keys(problem, scratch) {
            return;
        }
        let (mut kept, mut start, mut n_ends) = (0usize, 0usize, 0usize);
        for cell in 0..self.ends.len() {
            let end = self.ends[cell] as usize;
            let first = kept;
            scratch.open(end - start);
            for at in start..end {
                let row = self.rows[at];
                let key = scratch.keys[at];
                match scratch.find(key, first, kept, end - start) {
                    Some(same) => self.rows[same].count += row.count,
                    None => {
                        self.rows[kept] = row;
                        scratch.keys[kept] = key;
                        kept += 1;
                    }
                }
            }
            if kept - first > 1 {
                self.ends[n_ends] = kept as u32;
                n_ends += 1;
            } else {
                kept = first;
            }
            start = end;
        }
        self.rows.truncate(kept);
        self.ends.truncate(n_ends);
    }

    /// One number per row for its groups at the least levels, unless that needs
    /// more than 64 bits.
    fn write_keys(&self, problem: &Problem, scratch: &mut Scratch) -> bool {
        scratch.keys.clear();
        scratch.keys.resize(self.rows.len(), 0);
        let mut range = 1u64;
        for &j in self.unset(problem) {
            let level = &problem.variables[j].levels[self.places[j] as usize];
            let n_groups = level.n_groups as u64;
            match range.checked_mul(n_groups) {
                Some(wider) => range = wider,
                None => return false,
            }
            for (key, row) in scratch.keys.iter_mut().zip(&self.rows) {
                *key = *key * n_groups + u64::from(level.column[row.of as usize]);
            }
        }
        true
    }
}

impl Scratch {
    /// A new cell of `n` rows: no key has been seen in it.
    fn open(&mut self, n: usize) {
        if n > FEW {
            let needed = (2 * n).next_power_of_two();
            if self.slots.len() < needed {
                self.slots.clear();
                self.slots.resize(needed, (0, 0));
                self.stamp = 0;
            }
            if self.stamp == u32::MAX {
                self.slots.fill((0, 0));
                self.stamp = 0;
            }
            self.stamp += 1;
        }
    }

    /// The row with this key among those kept from `first` to `kept`; where
    /// there is none, the key is to be written at `kept`.
    fn find(&mut self, key: u64, first: usize, kept: usize, n: usize) -> Option<usize> {
        if n <= FEW {
            return (first..kept).find(|&at| self.keys[at] == key);
        }
        // Only as many slots as the cell needs: they stay in the cache.
        let mask = (2 * n).next_power_of_two() - 1;
        let mut slot = mix(key) as usize & mask;
        loop {
            let (stamp, at) = self.slots[slot];
            if stamp != self.stamp {
                self.slots[slot] = (self.stamp, kept as u32);
                return None;
            }
            if self.keys[at as usize] == key {
                return Some(at as usize);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// Spreads keys over slots: fields of few bits, which one round would leave
/// clustered.
#[inline]
pub(crate) fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let key = (key ^ (key >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key ^ (key >> 32)
}
