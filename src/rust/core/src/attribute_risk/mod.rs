//! Attribute disclosure: what does a key reveal of a sensitive value, without finding anybody?
//!
//! An intruder who knows the key of a target looks at its *matches*, and at their values
//! of a sensitive variable. Of the matches with a value let `c_v` have value `v`, `C` in
//! all, and let `q_v` be the share of `v` in the file. Per target
//!
//! ```text
//! posterior = c_own / C                                 (0 without a match)
//! told      = all matches with a value share one
//! ```
//!
//! and, the worst over the targets,
//!
//! ```text
//! l_distinct    least number of values                  (distinct l-diversity)
//! l_entropy     least exp(-sum of p ln p), p = c / C    (entropy l-diversity)
//! l_recursive   most c_max / (C - c_max)                (the c of (c, 2)-diversity)
//! t             greatest distance of p from q           (t-closeness)
//! alpha         most c_max / C                          ((alpha, k)-anonymity)
//! beta          most (p_v - q_v) / q_v                  (basic beta-likeness)
//! delta         most |ln(p_v / q_v)|, p_v > 0           (delta-disclosure)
//! ```
//!
//! Matches may be those of another file, such as a synthetic one.

use crate::error::{Error, Result};
use crate::key_table::Column;
use crate::memory::{collected, filled};
use crate::n_matches::{histograms, Histogram, LabelCounts, Question, Sensitive, Whole};
use crate::parallel::{self, blocks, try_map, Monitor};

/// The worst of all targets; without any value among the matches, not a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// Least number of values.
    pub l_distinct: f64,
    /// Their least entropy as a number of values.
    pub l_entropy: f64,
    /// Most frequent value over all others, at most; infinite if a target is told.
    pub l_recursive: f64,
    /// Greatest distance from the file's distribution.
    pub t: f64,
    /// Largest share of a value.
    pub alpha: f64,
    /// Largest relative gain of a value.
    pub beta: f64,
    /// Largest logarithm of the ratio of shares, either way.
    pub delta: f64,
}

/// Values of one sensitive variable among the matches of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The share of its value among the matches; `None` if it has no value.
    pub posterior: Option<f64>,
    /// True if all matches with a value share one.
    pub told: bool,
    /// True if that is its own value.
    pub right: bool,
    /// True if a match has a value.
    pub found: bool,
    /// True if its own value is the most frequent one among its matches, or in the file if
    /// none of them has a value; of several the first in their order.
    pub guessed: bool,
}

/// Disclosure of one sensitive variable.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeRisk {
    /// One per target.
    pub targets: Vec<Target>,
    /// The worst of the targets.
    pub worst: Worst,
    /// The shares of the values that occur in the file, in their order.
    pub shares: Vec<f64>,
}

/// Of every target its number of matches, and of every sensitive variable of `question`
/// what the matches tell. `own` holds the values of the targets by variable, coded like
/// the file's.
///
/// # Errors
///
/// If `own` does not fit the question.
pub fn attribute_risk(
    question: &Question<'_>,
    sensitive: &[Sensitive<'_>],
    own: &[Column],
    monitor: &Monitor,
) -> Result<(Vec<u64>, Vec<AttributeRisk>)> {
    let found = histograms(question, monitor)?;
    let n = found.place.len();
    if own.len() != sensitive.len() || own.iter().any(|column| column.len() != n) {
        return Err(Error::BadArgument(
            "Every target needs its sensitive values.".into(),
        ));
    }
    let of = |&place: &u32| found.matches.get(place as usize).copied().unwrap_or(0);
    let matches = collected(found.place.iter().map(of), n)?;
    // Places without a target, such as those of a released file, tell nobody anything.
    let mut asked = filled(false, found.matches.len())?;
    for &place in &found.place {
        if let Some(asked) = asked.get_mut(place as usize) {
            *asked = true;
        }
    }
    let risks = (found.values.iter().zip(sensitive).zip(own))
        .map(|((values, sensitive), own)| {
            of_variable(values, &asked, &found.place, sensitive, own, monitor)
        })
        .collect::<Result<_>>()?;
    Ok((matches, risks))
}

fn of_variable(
    values: &LabelCounts,
    asked: &[bool],
    place: &[u32],
    sensitive: &Sensitive<'_>,
    own: &Column,
    monitor: &Monitor,
) -> Result<AttributeRisk> {
    let whole = Whole::new(sensitive, None)?;
    let file = of_file(sensitive)?;
    let mut single = filled(NOTHING, sensitive.column.n_values() as usize + 1)?;
    for &(code, _) in &file {
        single[code as usize] = worst_of(&[(code, 1)], &whole);
    }
    let parts = try_map(blocks(asked.len(), BLOCK), monitor, |places| {
        let asked = places.filter(|&place| asked[place]);
        Ok(asked.fold(NOTHING, |worst, place| match values.of(place) {
            [] => worst,
            &[(code, _)] => worst.and(&single[code as usize]),
            several => worst.and(&worst_of(several, &whole)),
        }))
    })?;
    let most = most_frequent(&file);
    let codes = own.codes();
    let targets = parallel::map_rows(place.len(), monitor, |row| {
        let (histogram, own) = (values.of(place[row] as usize), codes.get(row));
        let (known, told) = (own != 0, histogram.len() == 1);
        let total: u64 = histogram.iter().map(|&(_, count)| count).sum();
        let same = histogram.iter().find(|&&(code, _)| code == own);
        Target {
            posterior: known.then(|| same.map_or(0.0, |&(_, count)| count as f64 / total as f64)),
            told,
            right: told && same.is_some(),
            found: !histogram.is_empty(),
            guessed: known && most_frequent(histogram).or(most) == Some(own),
        }
    })?;
    Ok(AttributeRisk {
        targets,
        worst: parts.iter().fold(NOTHING, Worst::and),
        shares: whole.shares().to_vec(),
    })
}

/// Places that a thread takes at once.
const BLOCK: usize = 1 << 14;

const NOTHING: Worst = Worst {
    l_distinct: f64::NAN,
    l_entropy: f64::NAN,
    l_recursive: f64::NAN,
    t: f64::NAN,
    alpha: f64::NAN,
    beta: f64::NAN,
    delta: f64::NAN,
};

impl Worst {
    /// The worse of both; what is not a number is passed over.
    fn and(self, other: &Self) -> Self {
        Self {
            l_distinct: self.l_distinct.min(other.l_distinct),
            l_entropy: self.l_entropy.min(other.l_entropy),
            l_recursive: self.l_recursive.max(other.l_recursive),
            t: self.t.max(other.t),
            alpha: self.alpha.max(other.alpha),
            beta: self.beta.max(other.beta),
            delta: self.delta.max(other.delta),
        }
    }
}

/// The values of the file, and how many records have each.
fn of_file(sensitive: &Sensitive<'_>) -> Result<Vec<(u32, u64)>> {
    let codes = sensitive.column.codes();
    let mut counts = filled(0u64, sensitive.column.n_values() as usize + 1)?;
    for row in 0..codes.len() {
        counts[codes.get(row) as usize] += 1;
    }
    let n = counts.len();
    let counts = (0u32..).zip(counts).skip(1);
    collected(counts.filter(|&(_, count)| count > 0), n)
}

/// The value that most have, of several the first.
fn most_frequent(histogram: &Histogram) -> Option<u32> {
    let most = histogram.iter().map(|&(_, count)| count).max()?;
    let first = histogram.iter().find(|&&(_, count)| count == most);
    first.map(|&(code, _)| code)
}

/// The figures of a target with these values among its matches; there is one at least.
fn worst_of(histogram: &Histogram, whole: &Whole) -> Worst {
    let total: u64 = histogram.iter().map(|&(_, count)| count).sum();
    let most = histogram.iter().map(|&(_, count)| count).max().unwrap_or(0);
    let diversity = whole.of_codes(histogram);
    let ratios = histogram
        .iter()
        .map(|&(code, count)| count as f64 / total as f64 / whole.share(code));
    let largest = ratios.clone().fold(0.0, f64::max);
    Worst {
        l_distinct: f64::from(diversity.n_values),
        l_entropy: diversity.l_entropy,
        l_recursive: most as f64 / (total - most) as f64,
        t: diversity.t_closeness,
        alpha: most as f64 / total as f64,
        beta: largest - 1.0,
        delta: ratios.map(|ratio| ratio.ln().abs()).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests;
