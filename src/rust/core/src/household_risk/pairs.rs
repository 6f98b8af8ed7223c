//! Two known members: households that hold the same two keys.

use super::holders;
use super::members::Members;
use super::worst::{Fits, Worst};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, push, reserved};
use crate::parallel::{Monitor, ROWS_PER_CHECK};

/// Pairs of keys looked at, at most: minutes of work.
const MAX_PAIRS: u64 = 1 << 32;

/// The keys of households that other households hold too, each at most twice,
/// ascending, and the households that hold each.
struct Shared {
    /// Start of the keys of each household; one entry more.
    starts: Vec<u32>,
    keys: Vec<u32>,
    /// Start of the holders of each key; one entry more.
    holder_starts: Vec<u32>,
    /// A household, and where the key stands in `keys`.
    holders: Vec<(u32, u32)>,
}

impl Shared {
    fn new(members: &Members, fits: &[Fits]) -> Result<Self> {
        let n = members.len();
        let mut starts: Vec<u32> = reserved(n + 1)?;
        let mut keys: Vec<u32> = reserved((0..n).map(|home| members.of(home).len()).sum())?;
        starts.push(0);
        for home in 0..n {
            let own = members.of(home);
            let kept = own
                .iter()
                .enumerate()
                .filter(|&(i, &key)| fits[key as usize].n > 1 && !(i > 1 && own[i - 2] == key));
            keys.extend(kept.map(|(_, &key)| key));
            starts.push(keys.len() as u32);
        }
        let mut holder_starts: Vec<u32> = reserved(fits.len() + 1)?;
        holder_starts.push(0);
        for (key, fits) in fits.iter().enumerate() {
            let shared = if fits.n > 1 { fits.n } else { 0 };
            holder_starts.push(holder_starts[key] + shared);
        }
        let mut next = collected(holder_starts.iter().copied(), fits.len())?;
        let mut holders = filled((0, 0), holder_starts[fits.len()] as usize)?;
        for home in 0..n {
            for place in starts[home]..starts[home + 1] {
                let key = keys[place as usize];
                if place == starts[home] || keys[place as usize - 1] != key {
                    let slot = &mut next[key as usize];
                    holders[*slot as usize] = (home as u32, place);
                    *slot += 1;
                }
            }
        }
        Ok(Self {
            starts,
            keys,
            holder_starts,
            holders,
        })
    }

    fn of(&self, home: usize) -> &[u32] {
        &self.keys[self.starts[home] as usize..self.starts[home + 1] as usize]
    }

    /// Pairs of keys that two distinct members of a household have.
    fn n_pairs(&self, home: usize) -> u64 {
        let keys = self.of(home);
        let twice = keys.windows(2).filter(|w| w[0] == w[1]).count() as u64;
        let distinct = keys.len() as u64 - twice;
        distinct * distinct.saturating_sub(1) / 2 + twice
    }

    /// The second keys of the pairs whose first is the key at `place`.
    fn partners(&self, home: usize, place: usize) -> impl Iterator<Item = usize> + '_ {
        let keys = &self.keys[place..self.starts[home + 1] as usize];
        let new = move |&i: &usize| i == 1 || keys[i] != keys[i - 1];
        (1..keys.len()).filter(new).map(move |i| keys[i] as usize)
    }

    fn holders(&self, key: usize) -> &[(u32, u32)] {
        &self.holders[self.holder_starts[key] as usize..self.holder_starts[key + 1] as usize]
    }
}

/// The household that has more pairs than all others together: one of its pairs is
/// in no other, so that its answer is known, and the others need only be told
/// which of their pairs it has.
struct Giant {
    home: usize,
    /// Number of times, at most twice, that it holds each key.
    times: Vec<u8>,
}

impl Giant {
    fn find(shared: &Shared, n_homes: usize, n_keys: usize, total: u64) -> Result<Option<Self>> {
        let largest = (0..n_homes).max_by_key(|&home| shared.n_pairs(home));
        let Some(home) = largest.filter(|&home| 2 * shared.n_pairs(home) > total) else {
            return Ok(None);
        };
        let mut times = filled(0u8, n_keys)?;
        for &key in shared.of(home) {
            times[key as usize] += 1;
        }
        Ok(Some(Self { home, times }))
    }

    fn holds(&self, first: usize, second: usize) -> bool {
        let needed = if first == second { 2 } else { 1 };
        self.times[first] >= needed && self.times[second] >= needed
    }
}

/// Two members known: the pair that the fewest households hold.
pub(super) fn see_pairs(members: &Members, worst: &mut Worst, monitor: &Monitor) -> Result<()> {
    let fits = holders(members, worst)?;
    for home in 0..members.len() {
        match members.of(home) {
            [] => {}
            // There is no second one to know.
            [key] => worst.see(home, &fits[*key as usize].judged(worst.is_weighted())),
            keys if keys.iter().any(|&key| fits[key as usize].n == 1) => worst.see_alone(home),
            _ => {}
        }
    }
    monitor.check()?;
    let shared = Shared::new(members, &fits)?;
    let total = (0..members.len()).map(|home| shared.n_pairs(home)).sum();
    let giant = Giant::find(&shared, members.len(), members.n_keys(), total)?;
    let listed = match &giant {
        None => total,
        Some(giant) => {
            worst.see_alone(giant.home);
            total - shared.n_pairs(giant.home)
        }
    };
    if listed > MAX_PAIRS {
        return Err(Error::too_large(
            &format!("The members of the households may make at most {MAX_PAIRS} pairs."),
            &format!("They make {listed}."),
            "Ask for one known member, or for all.",
        ));
    }
    count_pairs(&shared, giant.as_ref(), worst, monitor)
}

/// Counts the pairs first key by first key.
fn count_pairs(
    shared: &Shared,
    giant: Option<&Giant>,
    worst: &mut Worst,
    monitor: &Monitor,
) -> Result<()> {
    let n_keys = shared.holder_starts.len() - 1;
    let mut fits = filled(Fits::default(), n_keys)?;
    let mut judged = filled(Fits::default().judged(false), n_keys)?;
    let mut seconds: Vec<usize> = Vec::new();
    let mut steps = 0;
    let listed = |home: u32| giant.is_none_or(|giant| giant.home != home as usize);
    for first in 0..n_keys {
        for &(home, place) in shared.holders(first).iter().filter(|h| listed(h.0)) {
            for second in shared.partners(home as usize, place as usize) {
                if fits[second].n == 0 {
                    push(&mut seconds, second)?;
                }
                fits[second].add(worst.alone(home as usize));
                steps += 1;
            }
            if steps > ROWS_PER_CHECK {
                monitor.check()?;
                steps = 0;
            }
        }
        for &second in &seconds {
            if let Some(giant) = giant.filter(|giant| giant.holds(first, second)) {
                fits[second].add(worst.alone(giant.home));
            }
            judged[second] = fits[second].judged(worst.is_weighted());
            fits[second] = Fits::default();
        }
        seconds.clear();
        for &(home, place) in shared.holders(first).iter().filter(|h| listed(h.0)) {
            for second in shared.partners(home as usize, place as usize) {
                worst.see(home as usize, &judged[second]);
            }
        }
    }
    monitor.check()
}
