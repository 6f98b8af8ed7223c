//! Two correlated normal variables.
//!
//! [`bivariate_cdf`]: Plackett's formula integrated by Gauss and Legendre, and near a
//! correlation of one Genz's expansion (2004); absolute error below 1e-14. No crate
//! of special functions has it.

use std::f64::consts::PI;

use super::{cdf, FAR, ROOT_2PI};

// Positive nodes of the Gauss-Legendre rules and their weights.
const RULE_6: [(f64, f64); 3] = [
    (0.932_469_514_203_152_03, 0.171_324_492_379_170_35),
    (0.661_209_386_466_264_51, 0.360_761_573_048_138_61),
    (0.238_619_186_083_196_91, 0.467_913_934_572_691_05),
];
const RULE_12: [(f64, f64); 6] = [
    (0.981_560_634_246_719_25, 0.047_175_336_386_511_827),
    (0.904_117_256_370_474_86, 0.106_939_325_995_318_43),
    (0.769_902_674_194_304_69, 0.160_078_328_543_346_23),
    (0.587_317_954_286_617_45, 0.203_167_426_723_065_92),
    (0.367_831_498_998_180_19, 0.233_492_536_538_354_81),
    (0.125_233_408_511_468_92, 0.249_147_045_813_402_79),
];
const RULE_20: [(f64, f64); 10] = [
    (0.993_128_599_185_094_92, 0.017_614_007_139_152_118),
    (0.963_971_927_277_913_79, 0.040_601_429_800_386_941),
    (0.912_234_428_251_325_91, 0.062_672_048_334_109_064),
    (0.839_116_971_822_218_82, 0.083_276_741_576_704_749),
    (0.746_331_906_460_150_79, 0.101_930_119_817_240_44),
    (0.636_053_680_726_515_03, 0.118_194_531_961_518_42),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.076_526_521_133_497_334, 0.152_753_387_130_725_85),
];

fn rule(r: f64) -> &'static [(f64, f64)] {
    match r.abs() {
        r if r < 0.3 => &RULE_6,
        r if r < 0.75 => &RULE_12,
        _ => &RULE_20,
    }
}

/// P(X <= h, Y <= k) for standard normal X and Y with correlation `r`.
/// Infinite limits are allowed.
pub fn bivariate_cdf(h: f64, k: f64, r: f64) -> f64 {
    bivariate_upper(-h, -k, r)
}

/// P(X > h, Y > k).
fn bivariate_upper(h: f64, k: f64, r: f64) -> f64 {
    if h.is_nan() || k.is_nan() || r.is_nan() || r.abs() > 1.0 {
        return f64::NAN;
    }
    if h >= FAR || k >= FAR {
        return 0.0;
    }
    if h <= -FAR {
        return cdf(-k);
    }
    if k <= -FAR {
        return cdf(-h);
    }
    let upper = if r.abs() < 0.925 {
        plackett(h, k, r)
    } else {
        near_line(h, k, r)
    };
    upper.clamp(0.0, 1.0)
}

/// Phi(-h) Phi(-k) and the integral over the angle from independence to `r`.
fn plackett(h: f64, k: f64, r: f64) -> f64 {
    let product = cdf(-h) * cdf(-k);
    let half_squares = 0.5 * (h * h + k * k);
    let cross = h * k;
    let half_angle = 0.5 * r.asin();
    let at = |node: f64| {
        let sine = (half_angle * (1.0 + node)).sin();
        ((sine * cross - half_squares) / (1.0 - sine * sine)).exp()
    };
    let integral: f64 = rule(r)
        .iter()
        .map(|&(node, weight)| weight * (at(-node) + at(node)))
        .sum();
    product + integral * half_angle / (2.0 * PI)
}

/// The value at a correlation of one (minus one) less the integral back to
/// `r`. With rho = sqrt(1 - x^2) and b = |h - k| (after a change of sign of k for a
/// negative `r`), the integrand is
/// exp(-b^2 / (2 x^2)) exp(-h k / (1 + rho)) / rho; its steep first factor times a
/// quadratic in x^2 is integrated exactly, the smooth rest by the rule.
fn near_line(h: f64, k: f64, r: f64) -> f64 {
    let k = if r < 0.0 { -k } else { k };
    let cross = h * k;
    let mut integral = 0.0;
    if r.abs() < 1.0 {
        let end_square = (1.0 - r.abs()) * (1.0 + r.abs());
        let end = end_square.sqrt();
        let gap_square = (h - k) * (h - k);
        let c = (4.0 - cross) / 8.0;
        let d = (12.0 - cross) / 80.0;
        let exponent = -0.5 * (gap_square / end_square + cross);
        if exponent > -700.0 {
            integral = end
                * exponent.exp()
                * (1.0 - c * (gap_square - end_square) * (1.0 - d * gap_square) / 3.0
                    + c * d * end_square * end_square);
        }
        if cross > -1400.0 {
            let gap = gap_square.sqrt();
            integral -= (-0.5 * cross).exp()
                * ROOT_2PI
                * cdf(-gap / end)
                * gap
                * (1.0 - c * gap_square * (1.0 - d * gap_square) / 3.0);
        }
        let half = 0.5 * end;
        for &(node, weight) in &RULE_20 {
            for node in [-node, node] {
                let x_square = (half * (1.0 + node)) * (half * (1.0 + node));
                let exponent = -0.5 * (gap_square / x_square + cross);
                if exponent > -700.0 {
                    let rho = (1.0 - x_square).sqrt();
                    let series = 1.0 + c * x_square * (1.0 + 5.0 * d * x_square);
                    let whole = (-cross * x_square / (2.0 * (1.0 + rho) * (1.0 + rho))).exp() / rho;
                    integral += half * weight * exponent.exp() * (whole - series);
                }
            }
        }
        integral /= -2.0 * PI;
    }
    if r > 0.0 {
        return integral + cdf(-h.max(k));
    }
    let on_line = if h >= k {
        0.0
    } else if h < 0.0 {
        cdf(k) - cdf(h)
    } else {
        cdf(-h) - cdf(-k)
    };
    on_line - integral
}

/// The bivariate distribution function at many points with one correlation:
/// what depends on the correlation alone is computed once.
#[derive(Debug, Clone)]
pub struct Bivariate {
    r: f64,
    /// Per node of Plackett's integral: weight, sine, 1 / (1 - sine^2).
    nodes: Vec<(f64, f64, f64)>,
}

impl Bivariate {
    /// The distribution with correlation `r`, between -1 and 1.
    pub fn new(r: f64) -> Self {
        let mut nodes = Vec::new();
        if r.abs() < 0.925 {
            let half_angle = 0.5 * r.asin();
            for &(node, weight) in rule(r) {
                for node in [-node, node] {
                    let sine = (half_angle * (1.0 + node)).sin();
                    nodes.push((
                        weight * half_angle / (2.0 * PI),
                        sine,
                        1.0 / (1.0 - sine * sine),
                    ));
                }
            }
        }
        Self { r, nodes }
    }

    /// P(X <= h, Y <= k), where `p` and `q` are P(X <= h) and P(Y <= k).
    pub fn cdf(&self, h: f64, p: f64, k: f64, q: f64) -> f64 {
        if self.nodes.is_empty() || h.abs() >= FAR || k.abs() >= FAR {
            return bivariate_cdf(h, k, self.r);
        }
        let half_squares = 0.5 * (h * h + k * k);
        let cross = h * k;
        let integral: f64 = self
            .nodes
            .iter()
            .map(|&(weight, sine, inverse)| {
                weight * ((sine * cross - half_squares) * inverse).exp()
            })
            .sum();
        (p * q + integral).clamp(0.0, 1.0)
    }
}

/// P(l_1 < X <= u_1, l_2 < Y <= u_2). Intervals in an upper tail are mirrored, so
/// that only lower tails are subtracted from each other.
pub fn bivariate_rectangle(first: (f64, f64), second: (f64, f64), r: f64) -> f64 {
    let mirrored = |(low, high): (f64, f64)| {
        if low + high > 0.0 {
            (-high, -low, -1.0)
        } else {
            (low, high, 1.0)
        }
    };
    let (l1, u1, s1) = mirrored(first);
    let (l2, u2, s2) = mirrored(second);
    let r = r * s1 * s2;
    let mass = bivariate_cdf(u1, u2, r) - bivariate_cdf(l1, u2, r) - bivariate_cdf(u1, l2, r)
        + bivariate_cdf(l1, l2, r);
    mass.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::density;
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!(
            (found - expected).abs() <= relative * expected.abs(),
            "{found:e} is not {expected:e}"
        );
    }

    // Reference values: mpmath 1.3.0 with 40 digits.
    #[test]
    fn bivariate_values_are_those_of_the_reference() {
        for (h, k, r, expected) in [
            (0.5, -0.3, 0.2, 0.290_764_288_136_553_666),
            (-1.0, -2.0, -0.6, 0.000_034_970_980_174_365_423_6),
            (1.5, 0.2, 0.8, 0.577_961_655_692_879_082),
            (-2.5, -2.0, 0.93, 0.005_734_264_550_827_323_96),
            (-1.0, 1.1, -0.97, 0.035_800_710_006_478_475_2),
            (0.3, 0.301, 0.999, 0.611_296_460_655_823_01),
            (-3.0, 2.0, -0.9999, 0.0),
            (2.0, 2.5, 0.95, 0.977_015_132_523_915_429),
            (-1.0, -1.2, 0.99, 0.113_975_277_398_086_412),
            (4.0, -5.0, -0.95, 8.680_417_731_786_935_4e-10),
            (-4.0, -4.5, 0.95, 3.084_986_590_777_679_41e-6),
            (0.1, -6.0, 0.5, 9.864_626_376_000_142_54e-10),
            (0.7, -0.3, -0.9, 0.156_286_491_576_173_431),
        ] {
            let found = bivariate_cdf(h, k, r);
            assert!((found - expected).abs() < 1e-15, "{h} {k} {r}: {found:e}");
        }
    }

    /// P(X <= h, Y <= k) as the integral of the conditional probability, by the
    /// 20-point rule on 150 panels.
    fn by_conditioning(h: f64, k: f64, r: f64) -> f64 {
        let low = -9.0;
        if h <= low {
            return 0.0;
        }
        let scale = (1.0 - r * r).sqrt();
        let half = (h - low) / 300.0;
        let at = |x: f64| density(x) * cdf((k - r * x) / scale);
        (0..150)
            .map(|panel| {
                let middle = low + (2.0 * f64::from(panel) + 1.0) * half;
                RULE_20
                    .iter()
                    .map(|&(node, weight)| {
                        half * weight * (at(middle - half * node) + at(middle + half * node))
                    })
                    .sum::<f64>()
            })
            .sum()
    }

    proptest! {
        #![proptest_config(crate::cases::cases(300))]
        #[test]
        fn bivariate_values_equal_quadrature(
            h in -6.0f64..6.0, k in -6.0f64..6.0, r in -0.998f64..0.998
        ) {
            let found = bivariate_cdf(h, k, r);
            prop_assert!((found - by_conditioning(h, k, r)).abs() < 1e-14);
            prop_assert!((found - bivariate_cdf(k, h, r)).abs() < 1e-15);
            // Y and -Y share the probability of X <= h.
            prop_assert!((found + bivariate_cdf(h, -k, -r) - cdf(h)).abs() < 1e-14);
        }

        #[test]
        fn rectangles_of_a_grid_add_up_to_one(
            cuts in proptest::collection::vec(-5.0f64..5.0, 1..6),
            others in proptest::collection::vec(-5.0f64..5.0, 1..6),
            r in -1.0f64..=1.0
        ) {
            let grid = |mut cuts: Vec<f64>| {
                cuts.extend([f64::NEG_INFINITY, f64::INFINITY]);
                cuts.sort_by(f64::total_cmp);
                cuts
            };
            let (xs, ys) = (grid(cuts), grid(others));
            let mut total = 0.0;
            for x in xs.windows(2) {
                for y in ys.windows(2) {
                    total += bivariate_rectangle((x[0], x[1]), (y[0], y[1]), r);
                }
            }
            prop_assert!((total - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn limits_of_correlation_are_exact() {
        for (h, k) in [(0.3, -1.2), (-2.0, 1.0), (1.5, 0.1), (-0.7, -0.2)] {
            close(bivariate_cdf(h, k, 1.0), cdf(h.min(k)), 1e-15);
            close(bivariate_cdf(h, k, 0.0), cdf(h) * cdf(k), 1e-15);
            let opposite = (cdf(h) - cdf(-k)).max(0.0);
            assert!((bivariate_cdf(h, k, -1.0) - opposite).abs() < 1e-16);
        }
        assert!(bivariate_cdf(f64::NEG_INFINITY, 1.0, 0.5) <= 0.0);
        close(bivariate_cdf(f64::INFINITY, 1.0, 0.5), cdf(1.0), 1e-16);
    }

    #[test]
    fn one_correlation_at_many_points_equals_single_points() {
        for r in [-0.999, -0.8, -0.2, 0.0, 0.1, 0.5, 0.9, 0.95] {
            let many = Bivariate::new(r);
            for h in [-3.0, -0.4, 0.0, 1.3, f64::INFINITY] {
                for k in [-2.0, 0.1, 2.5] {
                    let found = many.cdf(h, cdf(h), k, cdf(k));
                    assert!((found - bivariate_cdf(h, k, r)).abs() < 1e-15);
                }
            }
        }
    }
}
