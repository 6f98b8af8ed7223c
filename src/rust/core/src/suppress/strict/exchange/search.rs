//! One round of the exchange.

use rand::rngs::ChaCha8Rng;
use rand::RngExt;

use crate::error::Result;
use crate::memory::filled;

use super::{Filling, Places, NONE};

/// Buckets dissolved in a round, and the cells they may hold, at most.
const MOST_DISSOLVED: usize = 6;
/// Cells that can be placed anew in a round; larger buckets stay.
pub(super) const MOST_LINKS: usize = 32;
/// Attempts to find a bucket nearby.
const ATTEMPTS: usize = 12;
/// Rate at which the buckets of one place's members are tried first.
const TOGETHER: f64 = 0.5;
/// Share of chance in the order in which buckets are filled.
const CHANCE: f64 = 0.4;
const MOST_TAKEN: usize = 24;
/// Places looked at for a cell, the cheapest, at most.
const MOST_OPTIONS: usize = 40;

/// A place that those taken out could go to: all of them that can to an empty
/// one, a single one to others.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    at: u32,
    /// The cell that would join others.
    joins: u32,
    /// Those that would go there, by their bits.
    members: u32,
    n: u32,
    worth: f64,
    price: f64,
    luck: f64,
    /// Some of those that could go there went elsewhere since the ratio was taken.
    stale: bool,
}

/// Buckets are compared by the worth of what they serve to one of these powers.
#[derive(Debug, Clone, Copy)]
enum Power {
    One,
    FiveQuarters,
    ThreeHalves,
}

impl Power {
    const ALL: [Self; 3] = [Self::One, Self::FiveQuarters, Self::ThreeHalves];

    fn of(self, worth: f64) -> f64 {
        match self {
            Self::One => worth,
            Self::FiveQuarters => worth * worth.sqrt().sqrt(),
            Self::ThreeHalves => worth * worth.sqrt(),
        }
    }
}

pub(super) struct Search {
    pub places: Places,
    /// Per place, its candidate in the present round.
    candidate: Vec<u32>,
    candidates: Vec<Candidate>,
    /// Of every candidate, the worth of what it serves for the cost.
    ratios: Vec<f64>,
    /// Per cell taken out, its candidates and what each costs.
    links: Vec<Vec<(u32, f64)>>,
    /// Places touched in this round, as they were.
    before: Vec<(u32, Filling)>,
    touched: Vec<bool>,
    power: Power,
}

impl Search {
    pub fn new(places: Places) -> Result<Self> {
        let n = places.places.len();
        Ok(Self {
            places,
            candidate: filled(NONE, n)?,
            candidates: Vec::new(),
            ratios: Vec::new(),
            links: vec![Vec::new(); MOST_LINKS],
            before: Vec::new(),
            touched: filled(false, n)?,
            power: Power::One,
        })
    }

    /// One round from the bucket of `first`; whether the cost fell.
    pub fn round(&mut self, first: u32, rng: &mut ChaCha8Rng) -> bool {
        let chosen = self.near(first, rng);
        let mut open = Vec::new();
        let mut dearest = 0.0f64;
        for &at in &chosen {
            self.touch(at);
            self.give_back(at);
            let filling = std::mem::take(&mut self.places.fillings[at as usize]);
            for (i, price) in filling.items {
                self.places.place_of[i as usize] = NONE;
                dearest = dearest.max(price.max(2.0 * self.places.options[i as usize][0].1));
                open.push(i);
            }
        }
        self.power = Power::ALL[rng.random_range(0..Power::ALL.len())];
        let old = self.cost_before();
        let most = old + 1e-9 * (1.0 + old);
        let served = self.serve(&open, dearest, most, rng.random());
        let old = self.cost_before();
        let now = |at: u32| self.places.cost(&self.places.fillings[at as usize]);
        let new: f64 = self.before.iter().map(|b| now(b.0)).sum();
        let worse = !served || new > old + 1e-9 * (1.0 + old);
        let better = !worse && new < old - 1e-9 * (1.0 + old);
        let before = std::mem::take(&mut self.before);
        if worse {
            for (at, _) in &before {
                self.give_back(*at);
            }
        }
        for (at, filling) in before {
            self.touched[at as usize] = false;
            if worse {
                self.put_back(at, filling);
            }
        }
        better
    }

    /// Former cost of the places touched so far.
    fn cost_before(&self) -> f64 {
        self.before.iter().map(|b| self.places.cost(&b.1)).sum()
    }

    /// Of two of `movable` the one that costs more beyond its worth.
    pub fn choose(&self, movable: &[u32], rng: &mut ChaCha8Rng) -> u32 {
        let mut pick = || movable[rng.random_range(0..movable.len())];
        let (a, b) = (pick(), pick());
        if self.excess(a) >= self.excess(b) {
            a
        } else {
            b
        }
    }

    fn excess(&self, i: u32) -> f64 {
        let all = &self.places;
        let filling = &all.fillings[all.place_of[i as usize] as usize];
        let each = all.worth[i as usize] / all.size[i as usize] as f64;
        all.cost(filling) / filling.n as f64 - each
    }

    /// The place of an item and others that hold cells its own could join: those
    /// that could all be in one place, then any.
    fn near(&self, first: u32, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let all = &self.places;
        let mut chosen = vec![all.place_of[first as usize]];
        let items = |at: u32| all.fillings[at as usize].items.iter().map(|i| i.0);
        let mut taken: Vec<u32> = items(chosen[0]).collect();
        // Cheap ones rather than dear ones.
        let place_for = |from: u32, rng: &mut ChaCha8Rng| {
            let options = &all.options[from as usize];
            let most = options.len() as f64 * rng.random::<f64>() * rng.random::<f64>();
            &all.places[options[most as usize].0 as usize]
        };
        let mut join = |other: u32, taken: &mut Vec<u32>| {
            let at = all.place_of[other as usize];
            let fits = |at| taken.len() + all.fillings[at as usize].items.len() <= MOST_LINKS;
            if at != NONE && !chosen.contains(&at) && fits(at) {
                chosen.push(at);
                taken.extend(items(at));
            }
            chosen.len() < MOST_DISSOLVED && taken.len() < MOST_TAKEN
        };
        let mut more = true;
        if rng.random::<f64>() < TOGETHER {
            let members = &place_for(first, rng).members;
            let start = rng.random_range(0..members.len());
            for at in (start..members.len()).chain(0..start).take(ATTEMPTS) {
                more = more && join(members[at], &mut taken);
            }
        }
        for _ in 0..ATTEMPTS {
            if !more {
                break;
            }
            let from = taken[rng.random_range(0..taken.len())];
            let members = &place_for(from, rng).members;
            more = join(members[rng.random_range(0..members.len())], &mut taken);
        }
        chosen
    }

    /// Places all of `open`; whether that was possible for at most `most`.
    fn serve(&mut self, open: &[u32], dearest: f64, most: f64, salt: u64) -> bool {
        let mut rest: f64 = open.iter().map(|&i| self.least(i)).sum();
        self.collect(open, dearest, salt);
        let mut spent = 0.0;
        let mut left = open.len();
        while left > 0 {
            let Some(best) = self.best() else {
                return false;
            };
            let Candidate {
                at,
                joins,
                mut members,
                ..
            } = self.candidates[best];
            self.touch(at);
            let was = self.places.cost(&self.places.fillings[at as usize]);
            while members != 0 {
                let o = members.trailing_zeros() as usize;
                members &= members - 1;
                let i = open[o];
                let Some(link) = self.links[o].iter().find(|l| l.0 as usize == best) else {
                    continue;
                };
                let (n, price) = (self.places.size[i as usize], link.1);
                let filling = &mut self.places.fillings[at as usize];
                filling.items.push((i, price));
                filling.n += n;
                self.places.place_of[i as usize] = at;
                left -= 1;
                rest -= self.least(i);
                self.forget(o, i);
            }
            self.give_back(at);
            if !self.supply(at) {
                return false;
            }
            spent += self.places.cost(&self.places.fillings[at as usize]) - was;
            if spent + rest > most {
                return false;
            }
            if joins != NONE {
                for c in 0..self.candidates.len() {
                    if self.candidates[c].at == at {
                        self.ratios[c] = self.ratio(c);
                    }
                }
            }
        }
        true
    }

    /// The candidate with the largest ratio; ratios that are stale are taken anew
    /// only where they would be the largest.
    fn best(&mut self) -> Option<usize> {
        let mut best = (0.0, None);
        for c in 0..self.ratios.len() {
            if self.ratios[c] > best.0 && self.candidates[c].stale {
                self.candidates[c].stale = false;
                self.ratios[c] = self.ratio(c);
            }
            if self.ratios[c] > best.0 {
                best = (self.ratios[c], Some(c));
            }
        }
        best.1
    }

    /// Least cost of placing an item.
    fn least(&self, i: u32) -> f64 {
        self.places.options[i as usize][0].1 * self.places.size[i as usize] as f64
    }

    /// A cell that was placed is no longer to be had.
    fn forget(&mut self, o: usize, i: u32) {
        let n = self.places.size[i as usize];
        for &(c, price) in &self.links[o] {
            let candidate = &mut self.candidates[c as usize];
            candidate.members &= !(1 << o);
            candidate.n -= n as u32;
            candidate.worth -= self.places.worth[i as usize];
            candidate.price -= price * n as f64;
            candidate.stale = true;
        }
    }

    /// Places for the records taken out, at a price of at most `dearest`.
    fn collect(&mut self, open: &[u32], dearest: f64, salt: u64) {
        self.candidates.clear();
        self.ratios.clear();
        for (o, &i) in open.iter().enumerate() {
            let n = self.places.size[i as usize];
            self.links[o].clear();
            let options = &self.places.options[i as usize];
            for &(at, price) in options.iter().take(MOST_OPTIONS) {
                if price > dearest {
                    break;
                }
                let empty = self.places.fillings[at as usize].items.is_empty();
                let c = self.candidate[at as usize];
                let c = if c == NONE {
                    let c = self.candidates.len() as u32;
                    if empty {
                        self.candidate[at as usize] = c;
                    }
                    self.candidates.push(Candidate {
                        at,
                        joins: if empty { NONE } else { i },
                        members: 0,
                        n: 0,
                        worth: 0.0,
                        price: 0.0,
                        luck: 1.0 + CHANCE * chance(salt, at),
                        stale: false,
                    });
                    c
                } else {
                    c
                };
                let candidate = &mut self.candidates[c as usize];
                candidate.members |= 1 << o;
                candidate.n += n as u32;
                candidate.worth += self.places.worth[i as usize];
                candidate.price += price * n as f64;
                self.links[o].push((c, price));
            }
        }
        for c in 0..self.candidates.len() {
            self.candidate[self.candidates[c].at as usize] = NONE;
            let ratio = self.ratio(c);
            self.ratios.push(ratio);
        }
    }

    /// The worth of what is served for the cost; 0 where donors lack.
    fn ratio(&self, c: usize) -> f64 {
        let candidate = &self.candidates[c];
        if candidate.n == 0 {
            return 0.0;
        }
        let at = candidate.at as usize;
        let place = &self.places.places[at];
        let filling = &self.places.fillings[at];
        let (k, n) = (self.places.k, candidate.n as usize);
        let donor = place.donors.first().map_or(0.0, |d| d.1);
        let mut cost = candidate.price;
        if candidate.joins != NONE {
            let given: usize = filling.given.iter().map(|g| g.1 as usize).sum();
            let back = given.min((filling.n + given + n).saturating_sub(k));
            cost -= donor * back as f64;
        } else if place.target.is_none() && n < k {
            let lacking = k - n;
            let mut found = 0;
            for donor in &place.donors {
                found += self.places.spare[donor.0 as usize].max(0) as usize;
                if found >= lacking {
                    break;
                }
            }
            if found < lacking {
                return 0.0;
            }
            cost += donor * lacking as f64;
        }
        self.power.of(candidate.worth.max(0.0)) * candidate.luck / cost.max(1e-9)
    }

    fn touch(&mut self, at: u32) {
        if !self.touched[at as usize] {
            self.touched[at as usize] = true;
            self.before
                .push((at, self.places.fillings[at as usize].clone()));
        }
    }

    /// Donors of a place go home.
    fn give_back(&mut self, at: u32) {
        for (cell, n, _) in self.places.fillings[at as usize].given.drain(..) {
            self.places.spare[cell as usize] += i64::from(n);
        }
    }

    /// Donors for what a place lacks; whether there are enough.
    fn supply(&mut self, at: u32) -> bool {
        let place = &self.places.places[at as usize];
        let filling = &mut self.places.fillings[at as usize];
        if place.target.is_some() {
            return true;
        }
        let mut lacking = self.places.k.saturating_sub(filling.n) as i64;
        for &(cell, price) in &place.donors {
            let n = lacking.min(self.places.spare[cell as usize]);
            if n > 0 {
                self.places.spare[cell as usize] -= n;
                filling.given.push((cell, n as u32, price));
                lacking -= n;
            }
            if lacking == 0 {
                break;
            }
        }
        lacking == 0
    }

    fn put_back(&mut self, at: u32, filling: Filling) {
        for &(cell, n, _) in &filling.given {
            self.places.spare[cell as usize] -= i64::from(n);
        }
        for &(i, _) in &filling.items {
            self.places.place_of[i as usize] = at;
        }
        self.places.fillings[at as usize] = filling;
    }
}

/// A number from 0 to 1 that belongs to a place in this round.
fn chance(salt: u64, at: u32) -> f64 {
    let mut x = (salt ^ u64::from(at)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((x >> 40) as f64) / f64::from(1u32 << 24)
}
