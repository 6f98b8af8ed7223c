//! Full buckets exchanged: a few that lie near each other are dissolved, their
//! cells placed anew, and the new places kept where they cost no more.

use hashbrown::HashMap;
use rand::rngs::ChaCha8Rng;

use crate::error::Result;
use crate::memory::filled;

use super::levels::Levels;
use super::{Bucket, Cell, Donated, Turn, MOST_SETS};

pub(super) use prices::Prices;
use search::{Search, MOST_LINKS};

mod prices;
mod search;

const NONE: u32 = u32::MAX;
/// Pairs of a cell and a bucket that are kept, at most.
const MOST_PAIRS: usize = 2_000_000;
/// Donors kept for a bucket, at most.
const MOST_DONORS: usize = 16;

/// A bucket that could be filled.
#[derive(Debug)]
struct Place {
    set: u64,
    members: Vec<u32>,
    /// Per member, what the set costs in a record of it.
    costs: Vec<f64>,
    /// Records of all members.
    held: usize,
    /// Cells with records to spare, cheapest first.
    donors: Vec<(u32, f64)>,
    /// Records of larger cells, and what the cheapest of them cost.
    could_give: usize,
    donor: f64,
    /// The cell that has these values anyway.
    target: Option<u32>,
}

/// Records in a place.
#[derive(Debug, Clone, Default)]
struct Filling {
    /// Cells, with what the set costs in a record of theirs.
    items: Vec<(u32, f64)>,
    n: usize,
    /// Donors: their cell, how many, what the set costs in one of them.
    given: Vec<(u32, u32, f64)>,
}

/// All places of a key set, and who is where.
#[derive(Debug)]
pub(super) struct Places {
    k: usize,
    /// Pairs of a cell and a place.
    pub n_pairs: usize,
    cells: Vec<u32>,
    size: Vec<usize>,
    places: Vec<Place>,
    /// Per item, its places with their prices, cheapest first.
    options: Vec<Vec<(u32, f64)>>,
    /// Per item, the least that a set without a place costs.
    beyond: Vec<f64>,
    /// Gain of placing an item.
    worth: Vec<f64>,
    fillings: Vec<Filling>,
    place_of: Vec<u32>,
    /// Per cell, the records beyond `k`; fewer than none where all were given.
    spare: Vec<i64>,
}

impl Places {
    /// The places that the sets of `levels` open, the cheapest first, as many as
    /// there is room for. To be called while nobody is served.
    pub fn new(turn: &Turn<'_>, mut levels: Levels<'_>) -> Result<Self> {
        let mut item = filled(NONE, turn.cells.len())?;
        let mut all = Self {
            k: turn.k(),
            n_pairs: 0,
            cells: Vec::new(),
            size: Vec::new(),
            places: Vec::new(),
            options: Vec::new(),
            beyond: Vec::new(),
            worth: Vec::new(),
            fillings: Vec::new(),
            place_of: Vec::new(),
            spare: filled(0, turn.cells.len())?,
        };
        for (at, cell) in (0u32..).zip(&turn.cells).filter(|(_, cell)| cell.violating) {
            item[at as usize] = all.cells.len() as u32;
            all.cells.push(at);
            all.size.push(cell.rows.len());
            all.worth.push(cell.rows.len() as f64);
        }
        all.options = vec![Vec::new(); all.cells.len()];
        all.place_of = filled(NONE, all.cells.len())?;
        let (mut pairs, mut tried) = (0, 0);
        let mut left = levels.next(0.0);
        while !left.is_empty() && tried < MOST_SETS && pairs < MOST_PAIRS {
            let mut sets = left.into_iter();
            for set in sets.by_ref() {
                turn.monitor.check()?;
                for bucket in turn.buckets(set)? {
                    pairs += all.add(turn, &item, bucket);
                }
                tried += 1;
                if pairs > MOST_PAIRS {
                    break;
                }
            }
            left = sets.collect();
            if left.is_empty() {
                left = levels.next(0.0);
            }
        }
        all.n_pairs = pairs;
        // Least cost of a set that opens no place here.
        let least = |cell: &Cell| {
            let blank = cell.blank;
            let fits = |&&set: &&u64| blank & !set & turn.problem.blankable == 0;
            let costs = left.iter().filter(fits);
            let costs = costs.map(|&set| turn.problem.cost(set & !blank));
            costs.fold(levels.least(cell), f64::min)
        };
        let mut beyond: HashMap<(u64, u64), f64> = HashMap::new();
        for (&cell, options) in all.cells.iter().zip(&all.options) {
            let cell = &turn.cells[cell as usize];
            let key = (cell.blank, cell.missing);
            let least = *beyond.entry(key).or_insert_with(|| least(cell));
            let alone = options.is_empty() && least.is_infinite();
            all.beyond.push(if alone { 0.0 } else { least });
        }
        for options in &mut all.options {
            options.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        }
        all.fillings = vec![Filling::default(); all.places.len()];
        Ok(all)
    }

    /// Adds a bucket that can come to hold enough; how many pairs that makes.
    fn add(&mut self, turn: &Turn<'_>, item: &[u32], bucket: Bucket) -> usize {
        let size = |cell: u32| turn.cells[cell as usize].rows.len();
        let price = |cell: u32| turn.cost(cell, bucket.set).unwrap_or(f64::INFINITY);
        let held: usize = bucket.violators.iter().map(|&c| size(c)).sum();
        let could_give: usize = bucket.donors.iter().map(|&c| size(c)).sum();
        let cheapest = bucket.donors.iter().map(|&c| price(c));
        let donor = if could_give > 0 {
            cheapest.fold(f64::INFINITY, f64::min)
        } else {
            0.0
        };
        let mut donors: Vec<(u32, f64)> = (bucket.donors.iter())
            .filter(|&&c| size(c) > self.k)
            .map(|&c| (c, price(c)))
            .collect();
        donors.sort_by(|a, b| {
            (a.1.total_cmp(&b.1)).then(size(b.0).cmp(&size(a.0)).then(a.0.cmp(&b.0)))
        });
        donors.truncate(MOST_DONORS);
        if bucket.target.is_none() && held + could_give < self.k {
            return 0;
        }
        let at = self.places.len() as u32;
        let mut members = Vec::with_capacity(bucket.violators.len());
        let mut costs = Vec::with_capacity(bucket.violators.len());
        for &cell in &bucket.violators {
            members.push(item[cell as usize]);
            costs.push(price(cell));
            self.options[item[cell as usize] as usize].push((at, price(cell)));
        }
        let n = members.len();
        self.places.push(Place {
            set: bucket.set,
            members,
            costs,
            held,
            donors,
            could_give,
            donor,
            target: bucket.target,
        });
        n
    }

    /// From now on an item is worth what the turn says.
    pub fn value_as(&mut self, turn: &Turn<'_>) {
        let of = |&cell: &u32| turn.worth[cell as usize];
        self.worth = self.cells.iter().map(of).collect();
    }

    /// Takes over the full buckets of a turn that have a place; the others stay.
    fn enter(&mut self, turn: &mut Turn<'_>) {
        for place in &mut self.places {
            place.target = place.target.filter(|&t| !turn.cells[t as usize].gone);
        }
        let item: HashMap<u32, u32> = self.cells.iter().copied().zip(0u32..).collect();
        let (mut held, mut stay) = (Vec::new(), Vec::new());
        for bucket in std::mem::take(&mut turn.full) {
            let simple = bucket.joined.is_empty() && !bucket.violators.is_empty();
            let place = bucket.violators.first().and_then(|first| {
                let options = &self.options[item[first] as usize];
                let mut places = options.iter().map(|o| o.0);
                places.find(|&at| self.places[at as usize].set == bucket.set)
            });
            match place.filter(|_| simple) {
                Some(at) => held.push((at, bucket)),
                None => stay.push(bucket),
            }
        }
        turn.full = stay;
        for (at, bucket) in held {
            let filling = &mut self.fillings[at as usize];
            for donated in bucket.donated {
                let price = turn.cost(donated.cell, bucket.set).unwrap_or(0.0);
                filling
                    .given
                    .push((donated.cell, donated.rows.len() as u32, price));
                let cell = &mut turn.cells[donated.cell as usize];
                cell.rows.extend(donated.rows);
                cell.gone = false;
            }
            for cell in &bucket.violators {
                let i = item[cell];
                let options = &self.options[i as usize];
                let price = options.iter().find(|o| o.0 == at).map_or(0.0, |o| o.1);
                filling.items.push((i, price));
                filling.n += self.size[i as usize];
                self.place_of[i as usize] = at;
            }
        }
        for (spare, cell) in self.spare.iter_mut().zip(&turn.cells) {
            *spare = if cell.gone || cell.violating {
                0
            } else {
                cell.rows.len() as i64 - self.k as i64
            };
        }
        for filling in &self.fillings {
            for &(cell, n, _) in &filling.given {
                self.spare[cell as usize] -= i64::from(n);
            }
        }
    }

    /// Gives the buckets back to the turn.
    fn leave(self, turn: &mut Turn<'_>) {
        for (place, filling) in self.places.into_iter().zip(self.fillings) {
            if filling.items.is_empty() {
                continue;
            }
            let donated = filling.given.iter().map(|&(at, n, _)| {
                let cell = &mut turn.cells[at as usize];
                let rows = cell.rows.split_off(cell.rows.len() - n as usize);
                cell.gone = cell.rows.is_empty();
                Donated {
                    cell: at,
                    rows,
                    whole: cell.gone,
                }
            });
            let donated = donated.collect();
            turn.full.push(Bucket {
                set: place.set,
                violators: filling
                    .items
                    .iter()
                    .map(|i| self.cells[i.0 as usize])
                    .collect(),
                donors: Vec::new(),
                target: place.target,
                donated,
                joined: Vec::new(),
            });
        }
    }

    /// Cost of a filling.
    fn cost(&self, filling: &Filling) -> f64 {
        let own = filling
            .items
            .iter()
            .map(|&(i, price)| price * self.size[i as usize] as f64);
        let given = filling
            .given
            .iter()
            .map(|&(_, n, price)| price * f64::from(n));
        own.chain(given).sum()
    }
}

/// Exchanges full buckets for so many rounds; how many of them lowered the cost.
pub(super) fn exchange(
    turn: &mut Turn<'_>,
    mut places: Places,
    rounds: usize,
    rng: &mut ChaCha8Rng,
) -> Result<usize> {
    places.enter(turn);
    let movable: Vec<u32> = (0..places.cells.len() as u32)
        .filter(|&i| places.place_of[i as usize] != NONE)
        .collect();
    let mut improved = 0;
    if !movable.is_empty() {
        let mut search = Search::new(places)?;
        for round in 0..rounds {
            if round % 64 == 0 {
                turn.monitor.check()?;
            }
            let first = search.choose(&movable, rng);
            let home = search.places.place_of[first as usize] as usize;
            if search.places.fillings[home].items.len() <= MOST_LINKS {
                improved += usize::from(search.round(first, rng));
            }
        }
        places = search.places;
    }
    places.leave(turn);
    Ok(improved)
}
