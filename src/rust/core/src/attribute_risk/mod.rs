//! What is learnt of a sensitive value from a key, without finding anybody?
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
use crate::n_matches::{histograms, Histogram, Question, Sensitive, Whole};
use crate::parallel::{self, Monitor};

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

/// What is known of one sensitive variable.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeRisk {
    /// Per target, the share of its value among the matches; `None` if it has no value.
    pub posterior: Vec<Option<f64>>,
    /// Per target, whether all matches with a value share one.
    pub told: Vec<bool>,
    /// Per target, whether that is its own value.
    pub right: Vec<bool>,
    /// Per target, whether a match has a value.
    pub found: Vec<bool>,
    /// Per target, whether its own value is the most frequent one among its matches, or in
    /// the file if none of them has a value; of several the first in their order.
    pub guessed: Vec<bool>,
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
    let n = found.pattern.len();
    if own.len() != sensitive.len() || own.iter().any(|column| column.len() != n) {
        return Err(Error::BadArgument(
            "Every target needs its sensitive values.".into(),
        ));
    }
    let matches = (found.pattern.iter())
        .map(|&pattern| found.matches[pattern as usize])
        .collect();
    let risks = (found.values.iter().zip(sensitive).zip(own))
        .map(|((values, sensitive), own)| {
            of_variable(values, &found.pattern, sensitive, own, monitor)
        })
        .collect::<Result<_>>()?;
    Ok((matches, risks))
}

fn of_variable(
    values: &[Histogram],
    pattern: &[u32],
    sensitive: &Sensitive<'_>,
    own: &Column,
    monitor: &Monitor,
) -> Result<AttributeRisk> {
    let whole = Whole::new(sensitive, None)?;
    let of_patterns = parallel::map_rows(values.len(), monitor, |p| worst_of(&values[p], &whole))?;
    let codes = own.codes();
    let of = |row: usize| &values[pattern[row] as usize];
    let rows = parallel::map_rows(pattern.len(), monitor, |row| {
        let (histogram, own) = (of(row), codes.get(row));
        let total: u64 = histogram.iter().map(|&(_, count)| count).sum();
        let same = histogram.iter().find(|&&(code, _)| code == own);
        let posterior = same.map_or(0.0, |&(_, count)| count as f64 / total as f64);
        (own != 0).then_some(posterior)
    })?;
    let most = most_frequent(&of_file(sensitive));
    let guessed = (0..pattern.len()).map(|row| {
        let own = codes.get(row);
        own != 0 && most_frequent(of(row)).or(most) == Some(own)
    });
    let guessed = guessed.collect();
    let told: Vec<bool> = (0..pattern.len()).map(|row| of(row).len() == 1).collect();
    Ok(AttributeRisk {
        right: told
            .iter()
            .zip(&rows)
            .map(|(&told, posterior)| told && posterior.is_some_and(|p| p > 0.0))
            .collect(),
        found: (0..pattern.len()).map(|row| !of(row).is_empty()).collect(),
        told,
        guessed,
        posterior: rows,
        worst: of_patterns.iter().flatten().fold(NOTHING, Worst::and),
        shares: whole.shares().to_vec(),
    })
}

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
fn of_file(sensitive: &Sensitive<'_>) -> Histogram {
    let codes = sensitive.column.codes();
    let mut counts = vec![0u64; sensitive.column.n_values() as usize + 1];
    for row in 0..codes.len() {
        counts[codes.get(row) as usize] += 1;
    }
    let counts = (0u32..).zip(counts).skip(1);
    counts.filter(|&(_, count)| count > 0).collect()
}

/// The value that most have, of several the first.
fn most_frequent(histogram: &Histogram) -> Option<u32> {
    let most = histogram.iter().map(|&(_, count)| count).max()?;
    let first = histogram.iter().find(|&&(_, count)| count == most);
    first.map(|&(code, _)| code)
}

/// What a target with these values among its matches is like.
fn worst_of(histogram: &Histogram, whole: &Whole) -> Option<Worst> {
    let total: u64 = histogram.iter().map(|&(_, count)| count).sum();
    let most = histogram.iter().map(|&(_, count)| count).max()?;
    let diversity = whole.of_codes(histogram);
    let ratios = histogram
        .iter()
        .map(|&(code, count)| count as f64 / total as f64 / whole.share(code));
    let largest = ratios.clone().fold(0.0, f64::max);
    Some(Worst {
        l_distinct: f64::from(diversity.n_values),
        l_entropy: diversity.l_entropy,
        l_recursive: most as f64 / (total - most) as f64,
        t: diversity.t_closeness,
        alpha: most as f64 / total as f64,
        beta: largest - 1.0,
        delta: ratios.map(|ratio| ratio.ln().abs()).fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests;
