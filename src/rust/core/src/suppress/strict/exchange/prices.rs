//! Worth of placing a record of a small cell, and a bound.
//!
//! Every record of a small cell must go to some place, and a place holds at least
//! `k` records or none. With a price `u_i` for every record of cell `i`, of which
//! there are `n_i`, the first need not be asked:
//!
//! ```text
//! L(u) = sum_i n_i u_i - sum_b max(0, V_b(u))
//! ```
//!
//! where `V_b` is the most that place `b` can gain: `u_i` less the cost of the set
//! for every record taken, all whose difference is positive; where these are fewer
//! than `k`, then also those that lose least, donors among them, as if nobody else
//! needed these. Any `u` gives a bound on what the release of the key set costs, as
//! long as no price exceeds what the record would cost in a set without a place.
//! Subgradient steps raise it.

use crate::error::Result;
use crate::parallel::Monitor;

use super::{Place, Places, NONE};

/// Steps, at most, and what they may look at in all.
const STEPS: usize = 120;
const MOST_LOOKS: usize = 40_000_000;
/// Steps without gain after which they become smaller, and by how much.
const PATIENCE: usize = 10;
const SHRINK: f64 = 0.6;
/// A price of nothing would leave a cell to the last.
const LEAST: f64 = 0.05;

/// Prices, and the bound they give.
#[derive(Debug)]
pub(in super::super) struct Prices {
    /// Worth of placing all records of a cell, by cell of the turn.
    pub worth: Vec<(u32, f64)>,
    /// No release of the key set costs less.
    pub bound: f64,
}

impl Places {
    /// Prices for those to be placed, of a release that costs `upper`.
    pub fn prices(&self, upper: f64, monitor: &Monitor) -> Result<Prices> {
        let pairs: usize = self.places.iter().map(|p| p.members.len()).sum();
        let steps = (MOST_LOOKS / pairs.max(1)).clamp(10, STEPS);
        let mut prices: Vec<f64> = (0..self.cells.len()).map(|i| self.first_price(i)).collect();
        let mut best = (f64::NEG_INFINITY, prices.clone());
        let (mut length, mut waited) = (1.0, 0);
        let mut taken = vec![0.0; prices.len()];
        let mut losing = Vec::new();
        for _ in 0..steps {
            monitor.check()?;
            let mut value = self.value(&prices, &mut taken, &mut losing);
            waited += 1;
            if value > best.0 {
                if value > best.0 + 1e-4 * upper {
                    waited = 0;
                }
                best.0 = value;
                best.1.clone_from(&prices);
            }
            if waited > PATIENCE {
                length *= SHRINK;
                waited = 0;
                prices.clone_from(&best.1);
                value = self.value(&prices, &mut taken, &mut losing);
            }
            let lacking = self.size.iter().zip(&taken).map(|(&n, t)| n as f64 - t);
            let norm: f64 = lacking.map(|g| g * g).sum();
            if norm <= 0.0 {
                break;
            }
            let by = length * (upper - value).max(1e-3 * upper) / norm;
            for (i, price) in prices.iter_mut().enumerate() {
                let raised = *price + by * (self.size[i] as f64 - taken[i]);
                *price = raised.clamp(0.0, self.beyond[i]);
            }
        }
        let (bound, prices) = best;
        let worth = |(i, price): (usize, f64)| {
            let each = price + LEAST * self.first_price(i);
            (self.cells[i], each * self.size[i] as f64)
        };
        Ok(Prices {
            worth: prices.into_iter().enumerate().map(worth).collect(),
            bound,
        })
    }

    /// Cost of a record in the best of its places, if all others that could be there were.
    fn first_price(&self, i: usize) -> f64 {
        let each = |&(at, price): &(u32, f64)| {
            let place = &self.places[at as usize];
            let lacking = match place.target {
                Some(_) => 0,
                None => self.k.saturating_sub(place.held),
            };
            price + place.donor * lacking as f64 / place.held as f64
        };
        let options = self.options[i].iter().take(16).map(each);
        options.fold(self.beyond[i], f64::min)
    }

    /// `L` at some prices, and of every cell the records taken there.
    fn value(&self, prices: &[f64], taken: &mut [f64], losing: &mut Vec<(f64, u32)>) -> f64 {
        taken.fill(0.0);
        let all = prices.iter().zip(&self.size);
        let mut value: f64 = all.map(|(price, &n)| price * n as f64).sum();
        for place in &self.places {
            let (mut gain, mut n) = (0.0, 0);
            for (&i, &cost) in place.members.iter().zip(&place.costs) {
                let each = prices[i as usize] - cost;
                if each > 0.0 {
                    gain += each * self.size[i as usize] as f64;
                    n += self.size[i as usize];
                }
            }
            if gain <= 0.0 {
                continue;
            }
            losing.clear();
            if n < self.k && place.target.is_none() {
                match self.fill_up(place, prices, self.k - n, gain, losing) {
                    Some(rest) => gain = rest,
                    None => continue,
                }
            }
            value -= gain;
            for (&i, &cost) in place.members.iter().zip(&place.costs) {
                if prices[i as usize] > cost {
                    taken[i as usize] += self.size[i as usize] as f64;
                }
            }
            for &(n, i) in losing.iter().filter(|l| l.1 != NONE) {
                taken[i as usize] += n;
            }
        }
        value
    }

    /// Rest of `gain` after a place takes the `lacking` records that lose least, noted in `losing`
    /// by number; `None` if it is not positive.
    fn fill_up(
        &self,
        place: &Place,
        prices: &[f64],
        lacking: usize,
        gain: f64,
        losing: &mut Vec<(f64, u32)>,
    ) -> Option<f64> {
        for (&i, &cost) in place.members.iter().zip(&place.costs) {
            let loss = cost - prices[i as usize];
            if loss >= 0.0 {
                losing.push((loss, i));
            }
        }
        if place.could_give > 0 {
            losing.push((place.donor, NONE));
        }
        let least = losing.iter().map(|l| l.0).fold(f64::INFINITY, f64::min);
        if gain <= least * lacking as f64 {
            return None;
        }
        losing.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut gain, mut lacking) = (gain, lacking);
        for entry in losing.iter_mut() {
            let (loss, i) = *entry;
            let n = match i {
                NONE => place.could_give,
                i => self.size[i as usize],
            };
            let n = n.min(lacking);
            gain -= loss * n as f64;
            lacking -= n;
            entry.0 = n as f64;
        }
        (lacking == 0 && gain > 0.0).then_some(gain)
    }
}
