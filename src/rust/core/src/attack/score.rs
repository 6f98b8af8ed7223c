//! Success of an attack, over all released records.

use std::collections::BTreeMap;

use super::files::Outcome;
use crate::parallel;

/// Success of one intruder.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Expected number of correct matches.
    pub expected: f64,
    /// Linked records whose single best match is right.
    pub n_certain: u64,
    /// Released records with a single best match, right or wrong.
    pub n_single_best: u64,
    /// Sum of the posteriors of the best matches: what the intruder thinks.
    pub own_estimate: f64,
}

/// Matches that the intruder holds to be at least so sure.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Claims {
    /// Released records claimed.
    pub n_claimed: u64,
    /// Claims that are right; one of `b` ties counts `1 / b`.
    pub n_right: f64,
    /// Claims that the intruder expects to be right.
    pub expected: f64,
}

/// The sum of `1 / b` over the ties; equal ones are counted first, so that the
/// order of the records cannot matter.
pub(super) fn sum_of_shares(ties: &BTreeMap<u64, u64>) -> f64 {
    // The sum of nothing would be -0.
    ties.iter()
        .fold(0.0, |sum, (&b, &n)| sum + n as f64 / b as f64)
}

impl Score {
    /// Adds up one attack.
    pub fn new(outcome: &Outcome) -> Self {
        let mut score = Score::default();
        let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
        for (&n, &is_best) in outcome.n_best.iter().zip(&outcome.true_in_best) {
            score.n_single_best += u64::from(n == 1);
            if is_best {
                score.n_certain += u64::from(n == 1);
                *ties.entry(n).or_default() += 1;
            }
        }
        score.expected = sum_of_shares(&ties);
        score.own_estimate = outcome.posterior.iter().sum::<f64>() + 0.0;
        score
    }
}

impl Claims {
    /// The claims of one attack above every threshold.
    pub fn curve(outcome: &Outcome, thresholds: &[f64]) -> Vec<Self> {
        parallel::map(thresholds, |&least| {
            let mut claims = Self::default();
            let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
            for (row, &posterior) in outcome.posterior.iter().enumerate() {
                if posterior >= least {
                    claims.n_claimed += 1;
                    claims.expected += posterior;
                    if outcome.true_in_best[row] {
                        *ties.entry(outcome.n_best[row]).or_default() += 1;
                    }
                }
            }
            claims.n_right = sum_of_shares(&ties);
            claims
        })
    }
}
