//! The key sets of size p over N key variables, in the order of R's `combn()`.

use crate::error::{Error, Result};
use crate::parallel::{Monitor, ROWS_PER_CHECK};

/// Number of subsets of size `k` of `n` things; `None` beyond 64 bits.
pub fn binomial(n: u64, k: u64) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let mut value: u128 = 1;
    for i in 0..k.min(n - k) {
        value = value.checked_mul(u128::from(n - i))? / u128::from(i + 1);
        // Later factors are at least 1: once too large, always too large.
        if value > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(value).ok()
}

/// All subsets of size `p` of `n_keys` key variables, in lexicographic order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySets {
    n_keys: usize,
    p: usize,
    len: usize,
}

impl KeySets {
    /// Refuses sizes outside `1..=n_keys` and more sets than `limit`.
    pub fn new(n_keys: usize, p: usize, limit: usize) -> Result<Self> {
        if p == 0 || p > n_keys || n_keys > usize::from(u16::MAX) {
            return Err(Error::BadArgument(format!(
                "The size of key sets must lie between 1 and the number of key variables ({n_keys})."
            )));
        }
        match binomial(n_keys as u64, p as u64) {
            Some(len) if len <= limit as u64 => Ok(Self {
                n_keys,
                p,
                len: len as usize,
            }),
            len => Err(Error::too_large(
                &format!("At most {limit} key sets are counted."),
                &format!(
                    "{n_keys} key variables have {} key sets of size {p}.",
                    len.map_or_else(|| "more than 10^19".to_string(), |l| l.to_string())
                ),
                "Take fewer key variables, or smaller key sets.",
            )),
        }
    }

    /// Number of key variables.
    pub fn n_keys(&self) -> usize {
        self.n_keys
    }

    /// Size of every set.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true: there is at least one set.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members of all sets, `p` entries a set.
    pub fn members(&self) -> Vec<u16> {
        let mut all = Vec::with_capacity(self.len * self.p);
        self.walk(|set| {
            all.extend_from_slice(set);
            true
        });
        all
    }

    /// Shows every set to `look`, looking at the cancel flag now and then.
    pub fn for_each(&self, monitor: &Monitor, mut look: impl FnMut(&[u16])) -> Result<()> {
        let mut seen = 0usize;
        let mut outcome = Ok(());
        self.walk(|set| {
            look(set);
            seen += 1;
            if seen % ROWS_PER_CHECK == 0 {
                outcome = monitor.check();
            }
            outcome.is_ok()
        });
        outcome
    }

    /// Shows the sets in order until `look` says false.
    fn walk(&self, mut look: impl FnMut(&[u16]) -> bool) {
        let mut set: Vec<u16> = (0..self.p as u16).collect();
        loop {
            if !look(&set) {
                return;
            }
            // The last member that can still move up.
            let Some(i) = (0..self.p)
                .rev()
                .find(|&i| usize::from(set[i]) < self.n_keys - self.p + i)
            else {
                return;
            };
            let next = set[i] + 1;
            for (member, value) in set[i..].iter_mut().zip(next..) {
                *member = value;
            }
        }
    }

    /// All sets of size `depth` that can begin a set of size `p`, in order.
    /// The sets that begin with one of them stand side by side.
    pub fn prefixes(&self, depth: usize) -> Vec<Vec<usize>> {
        let mut prefixes = vec![Vec::new()];
        for d in 0..depth {
            let last_start = self.n_keys - self.p + d;
            prefixes = prefixes
                .into_iter()
                .flat_map(|prefix: Vec<usize>| {
                    let from = prefix.last().map_or(0, |&v| v + 1);
                    (from..=last_start).map(move |v| {
                        let mut longer = prefix.clone();
                        longer.push(v);
                        longer
                    })
                })
                .collect();
        }
        prefixes
    }
}

/// Finds the place of a set in the order of [`KeySets`].
#[derive(Debug, Clone)]
pub struct SetIndex {
    sets: KeySets,
    /// Subsets of size `k` of `n` things, at `n * (p + 1) + k`.
    subsets: Vec<u64>,
}

impl SetIndex {
    /// Prepares the places of `sets`.
    pub fn new(sets: KeySets) -> Self {
        let subsets = (0..sets.n_keys() as u64)
            // Numbers beyond 64 bits belong to no set and are never looked up.
            .flat_map(|n| (0..=sets.p() as u64).map(move |k| binomial(n, k).unwrap_or(0)))
            .collect();
        Self { sets, subsets }
    }

    /// The place of the set of the given members, which rise.
    pub fn of(&self, members: &[usize]) -> usize {
        let (n, p) = (self.sets.n_keys(), self.sets.p());
        let after: u64 = members
            .iter()
            .enumerate()
            .map(|(i, &v)| self.subsets[(n - 1 - v) * (p + 1) + p - i])
            .sum();
        self.sets.len() - 1 - after as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_are_exact_and_overflow_is_seen() {
        assert_eq!(binomial(18, 3), Some(816));
        assert_eq!(binomial(60, 3), Some(34_220));
        assert_eq!(binomial(5, 6), Some(0));
        assert_eq!(binomial(64, 32), Some(1_832_624_140_942_590_534));
        assert_eq!(binomial(70, 35), None);
        assert_eq!(binomial(60_000, 30_000), None);
    }

    #[test]
    fn sets_come_in_the_order_of_combn() {
        let sets = KeySets::new(4, 2, 10).unwrap();
        assert_eq!(sets.len(), 6);
        assert_eq!(sets.members(), [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3]);
        assert_eq!(KeySets::new(3, 3, 10).unwrap().members(), [0, 1, 2]);
        assert_eq!(KeySets::new(3, 1, 10).unwrap().members(), [0, 1, 2]);
    }

    #[test]
    fn every_set_is_found_at_its_place() {
        for (n, p) in [(1, 1), (6, 1), (7, 3), (5, 5), (9, 4)] {
            let sets = KeySets::new(n, p, 1000).unwrap();
            let index = SetIndex::new(sets);
            for (place, set) in sets.members().chunks(p).enumerate() {
                let set: Vec<usize> = set.iter().map(|&v| usize::from(v)).collect();
                assert_eq!(index.of(&set), place);
            }
        }
    }

    #[test]
    fn prefixes_keep_the_order_of_their_sets() {
        let sets = KeySets::new(5, 3, 10).unwrap();
        let expected: Vec<Vec<usize>> = vec![
            vec![0, 1],
            vec![0, 2],
            vec![0, 3],
            vec![1, 2],
            vec![1, 3],
            vec![2, 3],
        ];
        assert_eq!(sets.prefixes(2), expected);
        assert_eq!(sets.prefixes(0), vec![Vec::<usize>::new()]);
    }

    #[test]
    fn impossible_and_excessive_sizes_are_refused() {
        assert_eq!(KeySets::new(3, 0, 10).unwrap_err().kind(), "bad_argument");
        assert_eq!(KeySets::new(3, 4, 10).unwrap_err().kind(), "bad_argument");
        assert_eq!(KeySets::new(60, 3, 100).unwrap_err().kind(), "too_large");
        assert_eq!(KeySets::new(500, 250, 100).unwrap_err().kind(), "too_large");
    }
}
