//! Cells of at least `k` equal records, a blank being a value.
//!
//! A bucket is a set of keys `Z` with the values outside it: blanking `Z` makes
//! its records equal. Records of small cells go to the bucket that serves most
//! of them for its cost; a bucket of fewer than `k` takes donors from cells that
//! keep `k`, or one whole small cell. What no bucket serves is blanked in all
//! keys, and if need be the cheapest bucket joins it. Several scoring exponents are tried; the
//! best result is kept, and its buckets are exchanged: a few at a time are dissolved
//! and their cells placed anew ([`exchange`]). Prices of the records to be served
//! say who is hard to serve, and bound what any release must cost
//! ([`exchange::Places::prices`]).
//!
//! Several key sets, and keys that a household shares, are served in turn until
//! all hold: every turn adds blanks, so there is an end.

use crate::error::Result;
use crate::key_table::{Column, KeyTable};
use crate::parallel::{self, Monitor};

use super::bound::rounded;
use super::household::{shared_keys, spread};
use super::measure::released_table;
use super::problem::{with_stratum, Problem};
use super::Suppression;

use exchange::{exchange, Places, Prices};
use levels::Levels;
use settle::settle;

mod exchange;
mod fill;
mod levels;
mod settle;
mod top_up;

/// Sets of keys that are tried before all keys are blanked.
const MOST_SETS: usize = 1000;

/// Records with equal released values.
#[derive(Debug, Clone)]
struct Cell {
    /// Keys of the key set that are blank.
    blank: u64,
    /// Its records; donors leave from the end.
    rows: Vec<u32>,
    /// Keys, of the key set or beyond it, that are missing or blank in some of its records:
    /// a link to them costs nothing there, so that no record costs less than [`Turn::cost`].
    missing: u64,
    violating: bool,
    /// A donor target depends on this cell, so it must keep at least `k` records.
    fixed: bool,
    /// It went to a bucket.
    gone: bool,
}

/// Cells that blanks in `set` make equal.
#[derive(Debug, Clone)]
struct Bucket {
    set: u64,
    violators: Vec<u32>,
    donors: Vec<u32>,
    /// The cell that has these values already.
    target: Option<u32>,
    /// The donors taken: their cells, and whether these came whole.
    donated: Vec<Donated>,
    /// Records of other buckets that joined.
    joined: Vec<u32>,
}

/// Records that a cell gave to a bucket.
#[derive(Debug, Clone)]
struct Donated {
    cell: u32,
    rows: Vec<u32>,
    whole: bool,
}

pub(super) fn release(
    problem: &Problem<'_>,
    table: &KeyTable,
    own_cost: f64,
    limit: f64,
    monitor: &Monitor,
) -> Result<Suppression> {
    let mut blanks = vec![0u64; table.n_rows()];
    let shared = problem
        .settings
        .households
        .map(|h| (h, shared_keys(problem, table, h)));
    let mut household = vec![0u64; table.n_rows()];
    let mut bound = own_cost;
    loop {
        let mut changed = false;
        for s in 0..problem.sets.len() {
            monitor.check()?;
            if let Some(served) = turns(problem, table, &blanks, s, limit, monitor)? {
                // Once something is blank the bound is about the rest.
                if blanks.iter().all(|&set| set == 0) {
                    bound = bound.max(rounded(served.bound, problem.has_whole_costs()));
                }
                blanks = served.blanks;
                changed = true;
            }
        }
        if let Some((households, keys)) = shared {
            let before = blanks.clone();
            spread(problem, households, keys, &mut blanks);
            for (row, &set) in before.iter().enumerate() {
                household[row] |= blanks[row] & !set;
                changed |= blanks[row] != set;
            }
        }
        if !changed {
            break;
        }
    }
    let mut found = Suppression::new(problem, blanks, bound);
    found.household = household;
    Ok(found)
}

/// Comparison of buckets: the worth of the records they serve to this power, per cost to which this
/// is added for every donor. The worth is the number of records, or follows from prices.
#[derive(Debug, Clone, Copy)]
struct Taste {
    size: f64,
    donor: f64,
}

impl Taste {
    const fn new(size: f64, donor: f64) -> Self {
        Self { size, donor }
    }
}

/// The taste that is tried first, for an upper bound, and the one that is best with
/// prices: on 7 files of 4,580 to 100,000 records others came before it once, by 4 cells
/// of 2,433, before the exchange. Without prices all are tried.
const FIRST: Taste = Taste::new(1.2, 0.0);
const PRICED: Taste = Taste::new(1.0, 0.0);
const PLAIN: [Taste; 2] = [Taste::new(1.0, 0.0), Taste::new(1.0, 1.0)];
/// Rounds of the exchange: for every violating cell, and at most. They take longer
/// the more places there are for a cell, so that there is a limit to their product.
const ROUNDS_EACH: usize = 16;
const MOST_ROUNDS: usize = 30_000;
const MOST_LOOKS: usize = 1_000_000;

/// A served key set.
struct Served {
    blanks: Vec<u64>,
    /// No release of this key set costs less; 0 where that is not known.
    bound: f64,
}

/// The blanks after serving one key set; `None` where nothing is to be done.
fn turns(
    problem: &Problem<'_>,
    table: &KeyTable,
    blanks: &[u64],
    s: usize,
    limit: f64,
    monitor: &Monitor,
) -> Result<Option<Served>> {
    let begin = Turn::new(problem, table, blanks, s, monitor)?;
    if begin.n_open == 0 {
        return Ok(None);
    }
    let cost = |blanks: &[u64]| blanks.iter().map(|&set| problem.cost(set)).sum::<f64>();
    let serve = |taste: Taste, prices: Option<&Prices>| {
        let mut turn = begin.clone();
        turn.taste = taste;
        if let Some(prices) = prices {
            turn.value_as(prices);
        }
        turn.serve(limit)?;
        Ok((cost(&turn.blanks(blanks)), turn))
    };
    let levels = Levels::new(&begin);
    let (places, first) = rayon::join(
        || match problem.settings.households {
            None => Places::new(&begin, levels).map(Some),
            Some(_) => Ok(None),
        },
        || serve(FIRST, None),
    );
    let (places, first) = (places?, first?);
    let prices = match &places {
        Some(places) => Some(places.prices(first.0 - cost(blanks), monitor)?),
        None => None,
    };
    let more: &[Taste] = match prices {
        Some(_) => &[PRICED],
        None => &PLAIN,
    };
    let more = parallel::try_map(more, monitor, |&taste| serve(taste, prices.as_ref()))?;
    let mut best = first;
    for found in more {
        if found.0 < best.0 {
            best = found;
        }
    }
    let mut turn = best.1;
    if let (Some(mut places), Some(prices)) = (places, &prices) {
        turn.value_as(prices);
        places.value_as(&turn);
        let mut rng = problem.settings.streams.block(0);
        let rounds = turn.rounds(&places);
        exchange(&mut turn, places, rounds, &mut rng)?;
    }
    Ok(Some(Served {
        blanks: turn.blanks(blanks),
        bound: prices.map_or(0.0, |prices| prices.bound),
    }))
}

/// One key set, with the blanks so far.
#[derive(Debug, Clone)]
struct Turn<'a> {
    problem: &'a Problem<'a>,
    keys: u64,
    cells: Vec<Cell>,
    /// The columns of the key set and the stratum, one row per cell.
    table: KeyTable,
    columns: Vec<usize>,
    /// Small cells not yet served.
    n_open: usize,
    full: Vec<Bucket>,
    taste: Taste,
    /// Worth of serving a cell.
    worth: Vec<f64>,
    monitor: &'a Monitor,
}

impl<'a> Turn<'a> {
    fn new(
        problem: &'a Problem<'a>,
        table: &KeyTable,
        blanks: &[u64],
        s: usize,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let keys = problem.sets[s];
        let columns = problem.columns(keys, 0);
        let released = with_stratum(&released_table(table, blanks)?, problem.settings.strata)?;
        let chosen: Vec<Column> = columns
            .iter()
            .map(|&v| released.columns()[v].clone())
            .collect();
        let part = KeyTable::new(chosen)?;
        let groups = part.group(monitor)?;
        let missing_in = |row: u32| {
            problem.missing[problem.row_pattern[row as usize] as usize] | blanks[row as usize]
        };
        let mut cells: Vec<Cell> = (groups.first_rows().iter())
            .map(|&row| {
                let missing = missing_in(row);
                Cell {
                    blank: missing & keys,
                    rows: Vec::new(),
                    missing,
                    violating: false,
                    fixed: false,
                    gone: false,
                }
            })
            .collect();
        for (row, &cell) in (0u32..).zip(groups.row_group()) {
            let cell = &mut cells[cell as usize];
            cell.rows.push(row);
            cell.missing |= missing_in(row);
        }
        let mut turn = Self {
            problem,
            keys,
            table: part.select(groups.first_rows())?,
            columns,
            n_open: 0,
            cells: Vec::new(),
            full: Vec::new(),
            taste: FIRST,
            worth: cells.iter().map(|cell| cell.rows.len() as f64).collect(),
            monitor,
        };
        for cell in &mut cells {
            cell.violating = turn.units(&cell.rows) < turn.k();
        }
        turn.n_open = cells.iter().filter(|c| c.violating).count();
        turn.cells = cells;
        Ok(turn)
    }

    fn k(&self) -> usize {
        self.problem.settings.k as usize
    }

    /// Records, or their households.
    fn units(&self, rows: &[u32]) -> usize {
        match self.problem.settings.households {
            None => rows.len(),
            Some(column) => {
                let mut all: Vec<u32> = rows
                    .iter()
                    .map(|&r| column.codes().get(r as usize))
                    .collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            }
        }
    }

    /// Serves all cells that are open.
    fn serve(&mut self, limit: f64) -> Result<()> {
        let blankable = self.problem.choosable & self.keys;
        let mut tried = 0;
        let mut levels = Levels::new(self);
        while self.n_open > 0 && tried < MOST_SETS {
            let sets = levels.next(if tried == 0 { limit } else { 0.0 });
            if sets.is_empty() {
                break;
            }
            tried += sets.len();
            self.fill(&sets)?;
        }
        if self.n_open > 0 {
            self.fill(&[blankable])?;
        }
        if self.problem.settings.households.is_none() {
            settle(self)?;
        }
        if self.n_open > 0 {
            self.top_up(blankable)?;
        }
        Ok(())
    }

    /// The blanks so far with those of the full buckets.
    fn blanks(&self, before: &[u64]) -> Vec<u64> {
        let mut blanks = before.to_vec();
        for bucket in &self.full {
            for row in self.rows(bucket) {
                let missing = self.problem.missing[self.problem.row_pattern[row as usize] as usize];
                let set = &mut blanks[row as usize];
                *set |= self.problem.closed(bucket.set & !missing, missing | *set) & !missing;
            }
        }
        blanks
    }

    /// From now on serving a cell is worth what the prices say.
    fn value_as(&mut self, prices: &Prices) {
        for &(cell, worth) in &prices.worth {
            self.worth[cell as usize] = worth;
        }
    }

    /// Rounds of the exchange, and those asked for.
    fn rounds(&self, places: &Places) -> usize {
        let n = self.cells.iter().filter(|c| c.violating).count();
        let each = (places.n_pairs / n.max(1)).max(1);
        let most = MOST_ROUNDS.min(MOST_LOOKS / each);
        (ROUNDS_EACH * n).min(most) + self.problem.settings.rounds
    }

    /// Lower bound of the cost of blanking `set` in a record of `cell`; `None` where it cannot be
    /// done, or asks for more keys of this key set than `set` has.
    fn cost(&self, cell: u32, set: u64) -> Option<f64> {
        let cell = &self.cells[cell as usize];
        if cell.blank & !set & self.problem.blankable != 0 {
            return None;
        }
        let more = self.problem.closed(set & !cell.blank, cell.missing) & !cell.missing;
        let fits = more & self.keys & !set == 0 && more & !self.problem.blankable == 0;
        fits.then(|| self.problem.cost(more))
    }

    /// Classes of the cells on what is outside `set`.
    fn classes(&self, set: u64) -> Result<Vec<u32>> {
        let counts = |v: usize| v >= self.problem.n_keys || set >> v & 1 == 0;
        let chosen: Vec<Column> = (self.columns.iter().enumerate())
            .filter(|(_, &v)| counts(v))
            .map(|(at, _)| self.table.columns()[at].clone())
            .collect();
        if chosen.is_empty() {
            return Ok(vec![0; self.cells.len()]);
        }
        Ok(KeyTable::new(chosen)?
            .group(self.monitor)?
            .row_group()
            .to_vec())
    }

    /// The buckets of `set` that hold an open cell.
    fn buckets(&self, set: u64) -> Result<Vec<Bucket>> {
        let classes = self.classes(set)?;
        let n_classes = classes.iter().max().map_or(0, |&c| c as usize + 1);
        let mut of_class = vec![u32::MAX; n_classes];
        let mut buckets: Vec<Bucket> = Vec::new();
        for (cell, &class) in classes.iter().enumerate() {
            let fits = || self.cost(cell as u32, set).is_some();
            if self.is_open(cell) && of_class[class as usize] == u32::MAX && fits() {
                of_class[class as usize] = buckets.len() as u32;
                buckets.push(Bucket {
                    set,
                    violators: Vec::new(),
                    donors: Vec::new(),
                    target: None,
                    donated: Vec::new(),
                    joined: Vec::new(),
                });
            }
        }
        for (at, &class) in classes.iter().enumerate() {
            let Some(bucket) = buckets.get_mut(of_class[class as usize] as usize) else {
                continue;
            };
            let Some(cost) = self.cost(at as u32, set) else {
                continue;
            };
            if self.is_open(at) {
                bucket.violators.push(at as u32);
            } else if !self.cells[at].violating && !self.cells[at].gone {
                if cost <= 0.0 {
                    bucket.target = Some(at as u32);
                } else {
                    bucket.donors.push(at as u32);
                }
            }
        }
        Ok(buckets)
    }

    fn is_open(&self, cell: usize) -> bool {
        self.cells[cell].violating && !self.cells[cell].gone
    }

    /// The records of a full bucket.
    fn rows(&self, bucket: &Bucket) -> Vec<u32> {
        let own = bucket
            .violators
            .iter()
            .flat_map(|&c| &self.cells[c as usize].rows);
        let donated = bucket.donated.iter().flat_map(|d| &d.rows);
        own.chain(donated).chain(&bucket.joined).copied().collect()
    }
}
