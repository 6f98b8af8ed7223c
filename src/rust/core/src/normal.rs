//! The normal distribution: one variable, its inverse, two variables.
//!
//! * [`cdf`]: Cody's rational approximations of the error function (1969), with
//!   full relative accuracy in both tails.
//! * [`quantile`]: Wichura's algorithm AS 241 (1988), relative error about 1e-16.
//! * [`bivariate_cdf`]: Plackett's formula integrated by Gauss and Legendre, and
//!   near a correlation of one Genz's expansion (2004); absolute error below 1e-14.

// Coefficients are quoted with all their published digits.
#![allow(clippy::excessive_precision, clippy::inconsistent_digit_grouping)]

use std::f64::consts::PI;

/// The root of 2 pi.
const ROOT_2PI: f64 = 2.506_628_274_631_000_502_4;

/// Beyond this many standard deviations a tail is below the least number.
const FAR: f64 = 38.6;

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// exp(-x^2 / 2) without the loss of digits that squaring a large `x` brings.
fn half_square_exp(x: f64) -> f64 {
    let coarse = (x * 16.0).trunc() / 16.0;
    let rest = (x - coarse) * (x + coarse);
    (-0.5 * coarse * coarse).exp() * (-0.5 * rest).exp()
}

/// P(Z <= x) for a standard normal Z.
pub fn cdf(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    let y = x.abs();
    if y <= 0.674_489_75 {
        return 0.5 + centre(x);
    }
    let tail = upper_tail(y);
    if x > 0.0 {
        1.0 - tail
    } else {
        tail
    }
}

/// P(0 < Z <= x), for small `x`, of either sign.
fn centre(x: f64) -> f64 {
    const A: [f64; 5] = [
        18154.981_253_343_561_249,
        1067.689_485_460_370_968_2,
        161.028_231_068_555_878_81,
        2.235_252_035_460_683_928_7,
        0.065_682_337_918_207_449_113,
    ];
    const B: [f64; 5] = [
        45507.789_335_026_729_956,
        10260.932_208_618_978_205,
        976.098_551_737_776_693_22,
        47.202_581_904_688_241_87,
        1.0,
    ];
    let square = x * x;
    x * polynomial(&A, square) / polynomial(&B, square)
}

/// P(Z > y) for y above 0.67.
fn upper_tail(y: f64) -> f64 {
    const C: [f64; 9] = [
        9842.714_838_383_978_021_8,
        11602.651_437_647_350_124,
        6848.190_450_536_282_332_6,
        2494.537_585_290_372_671_1,
        597.270_276_394_800_262_26,
        93.506_656_132_177_855_979,
        8.883_149_794_388_375_941_2,
        0.398_941_512_088_134_662_69,
        1.076_557_677_372_019_231_7e-8,
    ];
    const D: [f64; 9] = [
        19685.429_676_859_990_727,
        38912.003_286_093_271_411,
        34900.952_721_145_977_266,
        18615.571_640_885_098_091,
        6485.558_298_266_760_755,
        1519.377_599_407_554_805,
        235.387_901_782_624_998_61,
        22.266_688_044_328_115_691,
        1.0,
    ];
    const P: [f64; 6] = [
        2.911_287_495_116_879_2e-5,
        0.001_421_619_193_227_893_466,
        0.022_235_277_870_649_807,
        0.127_401_161_160_247_363_9,
        0.215_898_534_057_956_99,
        0.023_073_441_764_940_173_03,
    ];
    const Q: [f64; 6] = [
        7.297_515_550_839_662_05e-5,
        0.003_782_396_332_027_582_44,
        0.065_988_137_868_928_555_1,
        0.468_238_212_480_865_118,
        1.284_260_096_144_911_21,
        1.0,
    ];
    if y > FAR {
        return 0.0;
    }
    if y <= 32.0_f64.sqrt() {
        return half_square_exp(y) * polynomial(&C, y) / polynomial(&D, y);
    }
    let inverse = 1.0 / (y * y);
    let correction = inverse * polynomial(&P, inverse) / polynomial(&Q, inverse);
    half_square_exp(y) * (1.0 / ROOT_2PI - correction) / y
}

/// The density of a standard normal.
pub fn density(x: f64) -> f64 {
    if x.abs() > FAR {
        0.0
    } else {
        half_square_exp(x) / ROOT_2PI
    }
}

/// The x with P(Z <= x) = `p`: infinite at 0 and 1, NaN outside.
pub fn quantile(p: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1971.590_950_306_551_442_7,
        13731.693_765_509_461_125,
        45921.953_931_549_871_457,
        67265.770_927_008_700_853,
        33430.575_583_588_128_105,
        2509.080_928_730_122_672_7,
    ];
    const B: [f64; 8] = [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5394.196_021_424_751_107_7,
        21213.794_301_586_595_867,
        39307.895_800_092_710_61,
        28729.085_735_721_942_674,
        5226.495_278_852_854_561,
    ];
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let from_centre = p - 0.5;
    if from_centre.abs() <= 0.425 {
        let r = 0.180_625 - from_centre * from_centre;
        return from_centre * polynomial(&A, r) / polynomial(&B, r);
    }
    let tail = if from_centre < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return if from_centre < 0.0 {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
    }
    let size = tail_quantile((-tail.ln()).sqrt());
    if from_centre < 0.0 {
        -size
    } else {
        size
    }
}

/// The quantile of the upper tail exp(-r^2), for tails below 0.075.
fn tail_quantile(r: f64) -> f64 {
    const C: [f64; 8] = [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_558_9,
        7.745_450_142_783_414_076_4e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_196_6,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        0.001_242_660_947_388_078_438_6,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_615_025,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ];
    if r <= 5.0 {
        polynomial(&C, r - 1.6) / polynomial(&D, r - 1.6)
    } else {
        polynomial(&E, r - 5.0) / polynomial(&F, r - 5.0)
    }
}

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
    fn tails_keep_their_relative_accuracy() {
        for (x, expected) in [
            (-37.5, 4.605_353_009_581_954_84e-308),
            (-10.0, 7.619_853_024_160_526_07e-24),
            (-5.7, 5.990_371_401_063_528_19e-9),
            (-1.25, 0.105_649_773_666_855_258),
            (-0.5, 0.308_537_538_725_986_896),
            (-1e-10, 0.499_999_999_960_105_772),
            (0.3, 0.617_911_422_188_952_637),
            (0.7, 0.758_036_347_776_926_985),
            (2.0, 0.977_249_868_051_820_793),
            (6.0, 0.999_999_999_013_412_355),
        ] {
            close(cdf(x), expected, 5e-16);
        }
        assert!(cdf(f64::NEG_INFINITY) <= 0.0 && cdf(f64::INFINITY) >= 1.0);
        assert!(cdf(f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_are_those_of_the_reference() {
        for (p, expected) in [
            (1e-300, -37.047_096_299_361_199_2),
            (1e-20, -9.26234008979840757),
            (1e-5, -4.264_890_793_922_824_63),
            (0.02, -2.053_748_910_631_823_05),
            (0.07, -1.475_791_028_179_170_74),
            (0.3, -0.524_400_512_708_040_784),
            (0.9, 1.281_551_565_544_600_47),
            (0.999, 3.090_232_306_167_813_54),
        ] {
            close(quantile(p), expected, 1e-15);
        }
        assert!(quantile(0.0) < f64::MIN && quantile(1.0) > f64::MAX);
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan());
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_cdf(x in -37.0f64..6.0) {
            let p = cdf(x);
            // One ulp of p moves the quantile by ulp / density.
            let slack = 4.0 * f64::EPSILON * (1.0 + x.abs()) + 2.0 * f64::EPSILON * p / density(x);
            prop_assert!((quantile(p) - x).abs() <= slack);
        }
    }

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
        #![proptest_config(ProptestConfig::with_cases(300))]
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
