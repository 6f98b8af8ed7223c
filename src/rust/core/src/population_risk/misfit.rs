//! Does the sample refute the fit?
//!
//! Keep every record of the file with chance `g`. Of the records that are then alone with
//! their key, some are alone in the file as well. How many can be counted, and the law has
//! its own expectation:
//!
//! ```text
//! counted  n_1 / sum over classes of f (1 - g)^(f - 1)
//! law      sum E[f = 1 | seen] / sum E[f (1 - g)^(f - 1) | seen]
//! ```
//!
//! The step from such a part to the file is like the one from the file to the population. A
//! law that is wrong about the first by more than chance and by more than [`MOST`] in
//! log-odds is not relied on for the second.
//!
//! Nor is a law that moves the probabilities of the network by more than [`MOST_MOVED`]. The
//! network judges every key by other keys, and cannot see that the last variable follows from all
//! the others. Keys are then several times as frequent as it says, and `A`, `b` and `e` make up for
//! that, also for keys that are exceptions. Among a thousand records of frequent keys a few of such
//! a key are no misfit of the frequencies: any law with some spread has them.
//! The shares of keys in the file must say so as well: a law of few keys can be far from each, and
//! shares of rare keys are far from any probability.

use super::bins::Bins;
use super::law::Parameters;
use super::network::Own;

/// Chances to keep a record.
const KEPT: [f64; 3] = [0.5, 0.25, 0.1];
/// Difference in log-odds that a law may have, chosen on populations used for development.
const MOST: f64 = 0.2;
/// Standard errors that it may have as well.
const ERRORS: f64 = 3.0;

/// Logarithm of the factor by which keys may be more frequent than the network says with their own
/// records counted, chosen on populations used for development.
const MOST_MOVED: f64 = 0.6;

/// Log-odds of `part` among `part + rest`.
fn log_odds(part: f64, rest: f64) -> f64 {
    (part.max(0.5) / rest.max(0.5)).ln()
}

/// `true` if the frequencies of the sample contradict the law.
pub(super) fn refuted(bins: &Bins, draws: &[(Parameters, f64)], most: f64, own: Own) -> bool {
    own.share.min(moved(bins, draws) - own.counted) > MOST_MOVED
        || KEPT.iter().any(|&kept| {
            let (counted, error) = counted(bins, kept);
            let law: f64 = (draws.iter())
                .map(|(parameters, weight)| weight * expected(bins, parameters, most, kept))
                .sum();
            let misfit = (counted - law).abs();
            misfit > MOST && misfit > ERRORS * error
        })
}

/// Logarithm of the factor by which the law moves the probability of a record's key, on average.
pub(super) fn moved(bins: &Bins, draws: &[(Parameters, f64)]) -> f64 {
    let (mut sum, mut records) = (0.0, 0.0);
    for cells in bins.cells.chunk_by(|a, b| a.node == b.node) {
        let of_node: f64 = (cells.iter())
            .map(|cell| cell.classes * bins.frequencies[cell.at])
            .sum();
        let y = bins.nodes[cells[0].node].y;
        let by: f64 = (draws.iter())
            .map(|(parameters, weight)| weight * parameters.correction(y))
            .sum();
        sum += of_node * by;
        records += of_node;
    }
    sum / records
}

/// Log-odds of being alone in the file as well, and their standard error.
fn counted(bins: &Bins, kept: f64) -> (f64, f64) {
    let (mut alone, mut others, mut square) = (0.0, 0.0, 0.0);
    for cell in &bins.cells {
        let f = bins.frequencies[cell.at];
        let share = f * (1.0 - kept).powf(f - 1.0);
        if cell.at == 0 {
            alone += cell.classes;
        } else {
            others += cell.classes * share;
            square += cell.classes * share * share;
        }
    }
    let variance = 1.0 / f64::max(alone, 0.5) + square / f64::max(others, 0.5).powi(2);
    (log_odds(alone, others), variance.sqrt())
}

fn expected(bins: &Bins, parameters: &Parameters, most: f64, kept: f64) -> f64 {
    let laws = parameters.at_nodes(&bins.nodes, most);
    let (mut alone, mut in_part) = (0.0, 0.0);
    for cells in bins.cells.chunk_by(|a, b| a.node == b.node) {
        let (law, node) = (&laws[cells[0].node], &bins.nodes[cells[0].node]);
        let classes: f64 = cells.iter().map(|cell| cell.classes).sum();
        let records = classes / law.ln_mean_inverse(node.fraction).exp();
        let none = |fraction: f64| (-law.s * (law.r * fraction / law.s).ln_1p()).exp();
        alone += records * none(node.fraction);
        in_part += records * none(kept * node.fraction);
    }
    log_odds(alone, in_part - alone)
}
