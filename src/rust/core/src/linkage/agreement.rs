//! Agreement of the values of one key between the waves.

use crate::error::{Error, Result};

/// The wave-1 codes that every wave-2 code of one key agrees with. Missing
/// agrees with everything and is not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Equal codes, both waves being coded with one dictionary.
    Same,
    /// The wave-1 codes in ranges, for wave-2 codes with their own relation:
    /// an admissible change, or sets of admissible values.
    Ranges {
        /// Start of the ranges of wave-2 code `c`: `starts[c - 1]`; one
        /// entry more than there are codes.
        starts: Vec<u32>,
        /// First and last wave-1 code of every range, rising and apart within
        /// a wave-2 code.
        ranges: Vec<(u32, u32)>,
    },
}

impl Agreement {
    /// True if the relation fits codes `1..=n_one` and `1..=n_two`.
    pub(super) fn check(&self, n_one: u32, n_two: u32) -> Result<()> {
        let fits = match self {
            Agreement::Same => true,
            Agreement::Ranges { starts, ranges } => {
                let rising = starts.windows(2).all(|w| w[0] <= w[1]);
                let whole = starts.len() == n_two as usize + 1
                    && starts.first() == Some(&0)
                    && starts.last().copied() == u32::try_from(ranges.len()).ok();
                rising
                    && whole
                    && (1..=n_two).all(|c| {
                        let of_code = self.ranges_of(c);
                        of_code.iter().all(|&(a, b)| 1 <= a && a <= b && b <= n_one)
                            && of_code.windows(2).all(|w| w[0].1 < w[1].0)
                    })
            }
        };
        if fits {
            Ok(())
        } else {
            Err(Error::BadArgument(
                "Admissible changes must be rising ranges of the values of wave 1.".into(),
            ))
        }
    }

    fn ranges_of(&self, code: u32) -> &[(u32, u32)] {
        match self {
            Agreement::Same => &[],
            Agreement::Ranges { starts, ranges } => {
                let at = |c: u32| starts[c as usize] as usize;
                &ranges[at(code - 1)..at(code)]
            }
        }
    }

    /// True if wave-1 code `one` and wave-2 code `two` are observed and differ.
    pub(super) fn differs(&self, one: u32, two: u32) -> bool {
        if one == 0 || two == 0 {
            return false;
        }
        match self {
            Agreement::Same => one != two,
            Agreement::Ranges { .. } => {
                let ranges = self.ranges_of(two);
                let after = ranges.partition_point(|&(first, _)| first <= one);
                after == 0 || ranges[after - 1].1 < one
            }
        }
    }

    /// Tells `visit` the ranges of wave-1 codes that agree with the observed
    /// wave-2 code `two`.
    pub(crate) fn for_ranges(&self, two: u32, mut visit: impl FnMut(u32, u32)) {
        match self {
            Agreement::Same => visit(two, two),
            Agreement::Ranges { .. } => {
                for &(first, last) in self.ranges_of(two) {
                    visit(first, last);
                }
            }
        }
    }
}
