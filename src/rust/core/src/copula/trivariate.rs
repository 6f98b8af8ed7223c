//! The normal probability of a rectangle in three dimensions.
//!
//! Given one of the variables, the other two are a normal pair, whose rectangles are
//! known. What is left is an integral over one variable, taken by the rule of Gauss
//! and Kronrod of 7 and 15 points in pieces that are halved until they agree.

#![allow(clippy::excessive_precision)]

use super::lanes::EDGE;
use crate::normal::{bivariate_rectangle, density};

/// Two variables with a correlation beyond this given the third are as good as one.
const MOST: f64 = 1.0 - 1e-14;
/// A conditional standard deviation below this is taken as this.
const LEAST: f64 = 1e-6;
/// A piece is halved while its two rules differ by more than this share of the
/// whole, or by this much.
const RELATIVE: f64 = 1e-10;
const ABSOLUTE: f64 = 1e-16;
/// At first no piece is longer than this.
const PIECE: f64 = 2.0;
/// The part this far beyond the likely end of an interval is negligible.
const TAIL: f64 = 12.0;
const MOST_PIECES: usize = 2000;

/// Positive nodes of Kronrod's rule, its weights and those of the rule of Gauss.
const RULE: [(f64, f64, f64); 7] = [
    (0.991_455_371_120_812_64, 0.022_935_322_010_529_225, 0.0),
    (
        0.949_107_912_342_758_52,
        0.063_092_092_629_978_553,
        0.129_484_966_168_869_69,
    ),
    (0.864_864_423_359_769_07, 0.104_790_010_322_250_18, 0.0),
    (
        0.741_531_185_599_394_44,
        0.140_653_259_715_525_92,
        0.279_705_391_489_276_67,
    ),
    (0.586_087_235_467_691_13, 0.169_004_726_639_267_9, 0.0),
    (
        0.405_845_151_377_397_17,
        0.190_350_578_064_785_41,
        0.381_830_050_505_118_94,
    ),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_89, 0.0),
];
const MIDDLE: (f64, f64) = (0.209_482_141_084_727_83, 0.417_959_183_673_469_39);

/// P(l_j < Z_j <= u_j for j = 0, 1, 2); `correlation` are those of the pairs (0, 1),
/// (0, 2) and (1, 2).
pub fn trivariate_rectangle(limits: [(f64, f64); 3], correlation: [f64; 3]) -> f64 {
    let of = |i: usize, j: usize| correlation[i + j - 1];
    // Over the variable that leaves the others most to vary.
    let tied = |i: usize| of(i, (i + 1) % 3).abs().max(of(i, (i + 2) % 3).abs());
    let i = (0..3).fold(0, |best, i| if tied(i) < tied(best) { i } else { best });
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let (a, b) = (of(i, j), of(i, k));
    let (sd_j, sd_k) = (
        (1.0 - a * a).max(0.0).sqrt().max(LEAST),
        (1.0 - b * b).max(0.0).sqrt().max(LEAST),
    );
    let r = ((of(j, k) - a * b) / (sd_j * sd_k)).clamp(-MOST, MOST);
    let given = |(low, high): (f64, f64), slope: f64, sd: f64, z: f64| {
        ((low - slope * z) / sd, (high - slope * z) / sd)
    };
    let at = |z: f64| {
        density(z)
            * bivariate_rectangle(
                given(limits[j], a, sd_j, z),
                given(limits[k], b, sd_k, z),
                r,
            )
    };
    let (low, high) = limits[i];
    let likely = 0.0f64.clamp(low.min(EDGE), high.max(-EDGE));
    integral(at, low.max(likely - TAIL), high.min(likely + TAIL)).min(1.0)
}

/// The integral of a function that is not negative.
fn integral(of: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    if high <= low {
        return 0.0;
    }
    let n = ((high - low) / PIECE).ceil().max(1.0);
    let end = |i: f64| low + (high - low) * i / n;
    let mut open: Vec<(f64, f64, f64, f64)> = (0..n as usize)
        .map(|i| piece(&of, end(i as f64), end(i as f64 + 1.0)))
        .collect();
    let mut total: f64 = open.iter().map(|piece| piece.2).sum();
    let mut done = 0.0;
    let mut n_pieces = open.len();
    while let Some((a, b, value, gap)) = open.pop() {
        if gap <= ABSOLUTE + RELATIVE * total || n_pieces >= MOST_PIECES {
            done += value;
            continue;
        }
        let middle = 0.5 * (a + b);
        let halves = [piece(&of, a, middle), piece(&of, middle, b)];
        total += halves[0].2 + halves[1].2 - value;
        open.extend(halves);
        n_pieces += 1;
    }
    done
}

/// A piece's ends, the integral over it, and how far the two rules differ.
fn piece(of: &impl Fn(f64) -> f64, a: f64, b: f64) -> (f64, f64, f64, f64) {
    let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
    let middle = of(centre);
    let (mut kronrod, mut gauss) = (MIDDLE.0 * middle, MIDDLE.1 * middle);
    for (node, long, short) in RULE {
        let both = of(centre - half * node) + of(centre + half * node);
        kronrod += long * both;
        gauss += short * both;
    }
    (a, b, half * kronrod, half * (kronrod - gauss).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::{bivariate_rectangle, cdf};

    const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn both_rules_are_exact_for_polynomials() {
        for power in [0, 2, 4, 6, 8, 10, 12] {
            let (_, _, value, gap) = piece(&|x: f64| x.powi(power), -1.0, 1.0);
            assert!(
                (value - 2.0 / f64::from(power + 1)).abs() < 1e-14,
                "{power}"
            );
            assert!(gap < 1e-14, "{power}");
        }
        let (_, _, value, _) = piece(&|x: f64| x.powi(22), -1.0, 1.0);
        assert!((value - 2.0 / 23.0).abs() < 1e-14);
    }

    #[test]
    fn orthants_have_their_closed_form() {
        // P(all > 0) = 1/8 + (asin r01 + asin r02 + asin r12) / (4 pi).
        for r in [
            [0.5, 0.5, 0.5],
            [0.9, -0.2, 0.1],
            [-0.7, 0.6, -0.9],
            [0.0; 3],
        ] {
            let exact = 0.125
                + r.iter().map(|r: &f64| r.asin()).sum::<f64>() / (4.0 * std::f64::consts::PI);
            let found = trivariate_rectangle([(0.0, f64::INFINITY); 3], r);
            assert!((found - exact).abs() < 1e-12, "{r:?} {found} {exact}");
        }
    }

    #[test]
    fn near_singular_rectangles_are_found() {
        // Z2 = (Z0 + Z1) / sqrt(2) but for a variance of 1e-10: the third interval cuts
        // a strip from the square of the first two.
        let r = (0.5f64 * (1.0 - 1e-10)).sqrt();
        for (third, inner) in [((0.9, 1.0), true), ((2.0, 2.5), false)] {
            let first = (0.5, 1.0);
            let found = trivariate_rectangle([first, first, third], [0.0, r, r]);
            // By the midpoint rule over the first variable.
            let m = 200_000;
            let step = 0.5 / f64::from(m);
            let root = 2.0f64.sqrt();
            let exact: f64 = (0..m)
                .map(|i| {
                    let z = 0.5 + step * (f64::from(i) + 0.5);
                    let low = (third.0 * root - z).max(first.0);
                    let high = (third.1 * root - z).min(first.1);
                    step * density(z) * (cdf(high) - cdf(low)).max(0.0)
                })
                .sum();
            assert!(
                (found - exact).abs() < 1e-6 * exact + 1e-12,
                "{found} {exact}"
            );
            assert_eq!(inner, exact > 1e-3);
        }
    }

    #[test]
    fn rectangles_add_up_to_those_of_two_variables() {
        let (r, first, second) = ([0.6, -0.4, 0.3], (-0.4, 0.1), (2.0, 2.4));
        let cuts = [f64::NEG_INFINITY, -3.0, -1.0, 0.4, 1.3, f64::INFINITY];
        let total: f64 = cuts
            .windows(2)
            .map(|z| trivariate_rectangle([first, second, (z[0], z[1])], r))
            .sum();
        let exact = bivariate_rectangle(first, second, r[0]);
        assert!((total / exact - 1.0).abs() < 1e-10, "{total:e} {exact:e}");
        assert!((trivariate_rectangle([ALL; 3], r) - 1.0).abs() < 1e-12);
        let tail = trivariate_rectangle([(6.0, 7.0), ALL, ALL], r);
        assert!((tail / (cdf(-6.0) - cdf(-7.0)) - 1.0).abs() < 1e-6);
    }
}
