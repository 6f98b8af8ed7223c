//! Measures by one draw of the parameters.
//!
//! Given its `f - 1` others in the sample, the rest of a record's others in the population
//! is NB(s + f - 1, q). For a record with frequency `f`
//!
//! ```text
//! E[1 / F | f] = q integral over z from 0 to 1 of z^(f - 1) (q + (1 - q) z)^(s - 2)
//! ```
//!
//! which for a sample unique is `q (1 - q^(s - 1)) / ((1 - q) (s - 1))`; it is unique in
//! the population with chance `q^s`, which is never larger. So in every draw of the
//! parameters tau1 <= tau2 <= re-identifications.

use super::bins::Bins;
use super::law::{Law, Parameters};
use super::network::Own;
use super::shares::{alone, Shares};

/// Largest class of the population that is looked at for the largest risk. The chance of nobody else,
/// which probabilities start at, is not below `exp(-700)` if so few people can be all.
pub(super) const SMALL: usize = 500;
/// People alike for reasons that are not in the keys, too few to lift the smallest class.
const FEW_ALIKE: f64 = 1.0;
/// ln of a chance that is taken for none.
const SURELY: f64 = -40.0;

/// Measures by one draw of the parameters.
pub(super) struct Draw {
    pub weight: f64,
    /// Per node: chance to be unique, given that the sample has no other.
    pub unique: Vec<f64>,
    /// Per cell: `f E[1 / F | f]` of one class.
    pub found: Vec<f64>,
    pub tau1: f64,
    pub tau2: f64,
    pub reidentifications: f64,
    /// Unique people and distinct keys of the population, expected.
    pub unique_people: f64,
    pub keys: f64,
    /// Variances of the counts, given the parameters.
    pub variance2: f64,
    pub variance_found: f64,
    /// ln of the chance that no record of any part has a class of at most 1, 2, ... people; in the
    /// draw of the first part.
    pub ln_none_below: Vec<f64>,
    /// The same if nobody is alike for reasons that are not in the keys.
    pub ln_none_by_keys: Vec<f64>,
}

/// Sizes of sample and population.
pub(super) struct Sizes {
    /// Records.
    pub n: f64,
    /// People.
    pub people: f64,
    /// Expected of the records that know nothing.
    pub found_anyway: f64,
    /// Most others that a record can have, alike in a household counted once.
    pub most: f64,
    /// Distinct keys of the file.
    pub keys: f64,
    /// What a key's own records add to its probability.
    pub own: Own,
}

/// People who are not in the file, at most: nobody has more with its key besides the file's.
pub(super) fn not_in_file(bins: &Bins, sizes: &Sizes) -> f64 {
    (sizes.most + 1.0 - bins.n_records).max(0.0)
}

/// The laws at the nodes of every part, each with its `q`.
fn laws(parts: &[Bins], parameters: &Parameters, most: f64) -> Vec<Vec<(Law, f64)>> {
    let of_bins = |bins: &Bins| {
        let laws = parameters.at_nodes(&bins.nodes, most).into_iter();
        let with_q = laws
            .zip(&bins.nodes)
            .map(|(law, node)| (law, law.q(node.fraction)));
        with_q.collect()
    };
    parts.iter().map(of_bins).collect()
}

/// One draw of all parts.
pub(super) fn draws(
    parts: &[Bins],
    sizes: &Sizes,
    parameters: &Parameters,
    weight: f64,
    shares: &Shares,
) -> Vec<Draw> {
    let of_parts = laws(parts, parameters, sizes.most);
    let each = parts.iter().zip(&of_parts);
    let mut draws: Vec<Draw> = each
        .map(|(bins, laws)| draw(bins, sizes, laws, weight, shares))
        .collect();
    let first = &mut draws[0];
    first.ln_none_below = no_small_class(parts, &of_parts);
    first.ln_none_by_keys = if parameters.theta() < FEW_ALIKE {
        first.ln_none_below.clone()
    } else {
        let by_keys = laws(parts, &parameters.without_theta(), sizes.most);
        no_small_class(parts, &by_keys)
    };
    draws
}

/// One draw of a part.
fn draw(bins: &Bins, sizes: &Sizes, laws: &[(Law, f64)], weight: f64, shares: &Shares) -> Draw {
    let left = not_in_file(bins, sizes);
    let unique: Vec<f64> = laws.iter().map(|(law, q)| q.powf(law.s)).collect();
    let mut found = vec![0.0; bins.cells.len()];
    let mut start = 0;
    for cells in bins.cells.chunk_by(|a, b| a.node == b.node) {
        let node = cells[0].node;
        let frequencies: Vec<f64> = cells.iter().map(|c| bins.frequencies[c.at]).collect();
        let part = &mut found[start..start + cells.len()];
        let (law, q) = &laws[node];
        shares.at(&frequencies, law.s, *q, |at, value| {
            part[at] = value.min(1.0).max(least_found(frequencies[at], left))
        });
        start += cells.len();
    }
    let mut draw = Draw {
        weight,
        unique,
        found,
        tau1: 0.0,
        tau2: 0.0,
        reidentifications: 0.0,
        unique_people: 0.0,
        keys: 0.0,
        variance2: 0.0,
        variance_found: 0.0,
        ln_none_below: Vec::new(),
        ln_none_by_keys: Vec::new(),
    };
    for (node, load) in bins.loads.iter().enumerate() {
        let (law, q) = &laws[node];
        let first = (alone(law.s, *q).max(draw.unique[node])).max(least_found(1.0, left));
        draw.tau1 += load.unique * draw.unique[node];
        draw.tau2 += load.unique * first;
        // 1/F is 1, or at most 1/2.
        let square = draw.unique[node] + 0.5 * (first - draw.unique[node]);
        draw.variance2 += load.unique * (square - first * first).max(0.0);
        draw.unique_people += load.outside_alone * (-law.s * (law.r / law.s).ln_1p()).exp();
        draw.keys += load.outside * law.ln_mean_inverse(1.0).exp();
    }
    for (cell, &found) in bins.cells.iter().zip(&draw.found) {
        draw.reidentifications += cell.judged * found;
        if cell.at > 0 {
            draw.variance_found += cell.judged * 0.25 * found * (1.0 - found);
        }
    }
    draw.variance_found += draw.variance2;
    draw.reidentifications = draw.reidentifications.max(draw.tau2);
    draw.unique_people += draw.tau1;
    draw.keys += draw.reidentifications;
    draw
}

/// `f / F` if all who are not in the file have the key.
pub(super) fn least_found(f: f64, left: f64) -> f64 {
    f / (f + left)
}

/// ln P(every class of the file has more than m people), m = 1, 2, ... until that is sure not to
/// be so; `laws` of the nodes of every part, each with its `q`.
fn no_small_class(bins: &[Bins], laws: &[Vec<(Law, f64)>]) -> Vec<f64> {
    struct Part {
        f: f64,
        judged: f64,
        s: f64,
        q: f64,
        /// P(rest = k) of the last k, and its sum so far.
        term: f64,
        sum: f64,
        ln_none: f64,
    }
    let mut parts: Vec<Part> = Vec::new();
    for (bins, laws) in bins.iter().zip(laws) {
        for cell in &bins.cells {
            let f = bins.frequencies[cell.at];
            if cell.judged > 0.0 && f <= SMALL as f64 {
                let (law, q) = laws[cell.node];
                parts.push(Part {
                    f,
                    judged: cell.judged,
                    s: law.s + f - 1.0,
                    q,
                    term: 0.0,
                    sum: 0.0,
                    ln_none: 0.0,
                });
            }
        }
    }
    let mut ln_none: Vec<f64> = Vec::new();
    for m in 1..=SMALL {
        let mut ln = 0.0;
        for part in &mut parts {
            let k = m as f64 - part.f;
            if k < 0.0 {
                continue;
            }
            part.term = if k < 1.0 {
                part.q.powf(part.s)
            } else {
                part.term * (part.s + k - 1.0) / k * (1.0 - part.q)
            };
            part.sum += part.term;
            let sum = part.sum.min(1.0 - 1e-12);
            // ln(1 - x) is -x, to the last bit.
            let ln_none = if sum < f64::EPSILON / 4.0 {
                -sum
            } else {
                (-sum).ln_1p()
            };
            part.ln_none = part.judged * ln_none;
        }
        if m > 1 {
            // A loop without calls: each sum waits for the one before.
            for part in &parts {
                ln += part.ln_none;
            }
        }
        if m == 1 {
            // Members of one household are never alone.
            for (bins, laws) in bins.iter().zip(laws) {
                for (load, (law, q)) in bins.loads.iter().zip(laws) {
                    let alone = q.powf(law.s).min(1.0 - 1e-12);
                    ln += load.unique * (-alone).ln_1p();
                }
            }
        }
        ln_none.push(ln_none.last().map_or(ln, |&before| ln.min(before)));
        if ln < SURELY {
            break;
        }
    }
    ln_none
}

/// One draw of all parts: their records add up.
pub(super) fn together(parts: Vec<Draw>) -> Option<Draw> {
    parts.into_iter().reduce(|mut all, part| {
        all.tau1 += part.tau1;
        all.tau2 += part.tau2;
        all.reidentifications += part.reidentifications;
        all.variance2 += part.variance2;
        all.variance_found += part.variance_found;
        all
    })
}

/// The five measures of one draw or copy, in the order of [`Measures`].
pub(super) fn five(draw: &Draw, sizes: &Sizes) -> [f64; 5] {
    [
        draw.unique_people / sizes.people,
        draw.keys / sizes.people,
        draw.tau1,
        draw.tau2,
        draw.reidentifications + sizes.found_anyway,
    ]
}
