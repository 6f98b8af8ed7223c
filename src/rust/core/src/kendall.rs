//! Kendall's rank correlation in n log n steps.
//!
//! # Formula
//!
//! `tau_b = (concordant - discordant) / sqrt((n0 - n1) (n0 - n2))`, with `n0`
//! the pairs, `n1` and `n2` the pairs tied in the one or the other variable:
//! what R's `cor(method = "kendall")` computes in n^2 steps. Discordant pairs
//! are counted by merging (Knight 1966, doi 10.1080/01621459.1966.10480879).

use std::cmp::Ordering;

/// Kendall's tau-b; `None` where a variable is constant.
pub fn kendall(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    let mut order: Vec<u32> = (0..n as u32).collect();
    let by = |v: &[f64], a: u32, b: u32| -> Ordering { v[a as usize].total_cmp(&v[b as usize]) };
    order.sort_unstable_by(|&a, &b| by(x, a, b).then(by(y, a, b)));
    let same_x = |a: u32, b: u32| by(x, a, b).is_eq();
    let same_both = |a: u32, b: u32| same_x(a, b) && by(y, a, b).is_eq();
    let pairs = |n: u64| n * n.saturating_sub(1) / 2;
    let tied_x = tied_pairs(&order, same_x);
    let tied_both = tied_pairs(&order, same_both);
    let mut values: Vec<f64> = order.iter().map(|&i| y[i as usize]).collect();
    let discordant = sort_counting(&mut values);
    let tied_y = tied_pairs(&values, |a, b| a.total_cmp(&b).is_eq());
    let all = pairs(n as u64);
    if all == tied_x || all == tied_y {
        return None;
    }
    // Differences may be negative; pairs of 2^32 records fit 64 bits.
    let score = (all + tied_both) as i128 - (tied_x + tied_y + 2 * discordant) as i128;
    let scale = ((all - tied_x) as f64).sqrt() * ((all - tied_y) as f64).sqrt();
    Some(score as f64 / scale)
}

/// Pairs within runs of equal neighbours.
fn tied_pairs<T: Copy>(sorted: &[T], same: impl Fn(T, T) -> bool) -> u64 {
    sorted
        .chunk_by(|&a, &b| same(a, b))
        .map(|run| run.len() as u64 * (run.len() as u64 - 1) / 2)
        .sum()
}

/// Sorts and counts the pairs that stood in the wrong order.
fn sort_counting(values: &mut [f64]) -> u64 {
    let n = values.len();
    let mut merged = vec![0.0; n];
    let mut wrong = 0;
    let mut width = 1;
    while width < n {
        for start in (0..n).step_by(2 * width) {
            let middle = (start + width).min(n);
            let end = (start + 2 * width).min(n);
            let (mut left, mut right) = (start, middle);
            for slot in &mut merged[start..end] {
                let from_right = left == middle
                    || (right < end && values[right].total_cmp(&values[left]).is_lt());
                *slot = if from_right {
                    wrong += (middle - left) as u64;
                    right += 1;
                    values[right - 1]
                } else {
                    left += 1;
                    values[left - 1]
                };
            }
        }
        values.copy_from_slice(&merged);
        width *= 2;
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(x: &[f64], y: &[f64]) -> Option<f64> {
        let (mut score, mut nx, mut ny) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
                let (a, b) = (sign(x[i] - x[j]), sign(y[i] - y[j]));
                score += a * b;
                nx += a * a;
                ny += b * b;
            }
        }
        (nx > 0.0 && ny > 0.0).then(|| score / f64::sqrt(nx * ny))
    }

    proptest! {
        #[test]
        fn merging_counts_like_all_pairs(xy in prop::collection::vec((0u8..6, 0u8..6), 0..40)) {
            let x: Vec<f64> = xy.iter().map(|p| f64::from(p.0)).collect();
            let y: Vec<f64> = xy.iter().map(|p| f64::from(p.1)).collect();
            match (kendall(&x, &y), slow(&x, &y)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }
}
