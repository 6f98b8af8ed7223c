//! Number of random cases that a property test draws.

use proptest::test_runner::Config;

/// `usual` cases, or as many as `PROPTEST_CASES` says: a campaign draws millions.
pub(crate) fn cases(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    Config::with_cases(asked.unwrap_or(usual))
}

/// Numbers that make one tiny case, from its own seed.
pub(crate) struct Draws {
    state: u64,
    seen: u64,
}

impl Draws {
    fn new(seed: u64) -> Self {
        Self {
            state: seed,
            seen: 0,
        }
    }

    /// A whole number below `n`, by SplitMix64; what was drawn tells cases apart.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let drawn = (mix(self.state) % u64::from(n)) as u32;
        self.seen = mix(self.seen ^ u64::from(drawn)).wrapping_add(1);
        drawn
    }

    /// From `low` to `high`.
    pub(crate) fn within(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True once in `n`.
    pub(crate) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub(crate) fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Tells which case was at work when a check failed.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("tiny case {} fails", self.0);
        }
    }
}

/// `usual` tiny cases one after the other, or as many as `PROPTEST_CASES` says, from the
/// one that `CASES_FROM` names. `case` draws, checks, and says whether what it drew is
/// more than trivial, which at least a third must be.
pub(crate) fn tiny(usual: u64, case: impl Fn(&mut Draws) -> bool + Send) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let from = asked("CASES_FROM").unwrap_or(0);
    let cases = asked("PROPTEST_CASES").unwrap_or(usual);
    let work = move || {
        let mut distinct = hashbrown::HashSet::new();
        let mut reached = 0;
        for seed in from..from + cases {
            let told = Told(seed);
            let mut draws = Draws::new(mix(seed));
            reached += u64::from(case(&mut draws));
            distinct.insert(draws.seen);
            drop(told);
        }
        Ok((distinct.len(), reached))
    };
    let (distinct, reached) = crate::parallel::with_threads(1, work).unwrap();
    eprintln!("{cases} tiny cases from {from}: {distinct} distinct, {reached} reached");
    assert!(3 * reached >= cases || cases < 50);
}
