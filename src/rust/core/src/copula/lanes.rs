//! One step of the separation of variables, for 256 lattice points at once.
//!
//! Everything here is arithmetic without branches, so that the compiler can treat
//! several points with one instruction. The approximations were fitted by
//! Chebyshev interpolation: a tail has a relative error below 5e-10, a quantile one
//! below 1e-8 down to a probability of 1e-61, and the lattice's own error is a
//! thousand times larger. For single values use [`crate::normal`].

#![allow(clippy::excessive_precision, clippy::inconsistent_digit_grouping)]

/// Lattice points treated together.
pub const LANES: usize = 256;

/// One number per lattice point.
pub type Lanes = [f64; LANES];

/// Beyond this many standard deviations intervals are cut off.
pub const EDGE: f64 = 37.5;

/// 1.5 * 2^52: adding it rounds a number to an integer in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = sum * x + coefficients[i];
    }
    sum
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if x > y {
        x
    } else {
        y
    }
}

#[inline(always)]
fn smaller(x: f64, y: f64) -> f64 {
    if x < y {
        x
    } else {
        y
    }
}

/// P(Z > x) for x from 0 to [`EDGE`].
#[inline(always)]
fn tail(x: f64) -> f64 {
    // exp(x^2 / 2) (x + 4) P(Z > x) in t = (x - 4) / (x + 4).
    const SHAPE: [f64; 13] = [
        0.755_285_130_606_771_96,
        -0.607_896_641_076_557_01,
        0.387_137_380_636_849_45,
        -0.186_521_893_884_561_4,
        0.060_396_915_889_639_119,
        -0.007_539_744_345_874_663_9,
        -0.003_481_801_406_951_413_2,
        0.001_628_343_786_101_870_9,
        0.000_139_213_446_549_887_71,
        -0.000_224_177_838_557_874_37,
        -9.302_561_713_507_196_2e-6,
        2.547_852_861_773_533_1e-5,
        3.828_395_707_469_749_1e-6,
    ];
    // 2^f for |f| <= 1/2.
    const POWER: [f64; 9] = [
        1.0,
        0.693_147_180_545_930_48,
        0.240_226_506_956_403,
        0.055_504_109_412_154_528,
        0.009_618_129_193_942_167_5,
        0.001_333_345_056_038_446_6,
        0.000_154_034_337_462_241_96,
        1.531_008_114_313_815e-5,
        1.325_964_625_027_045e-6,
    ];
    let inverse = 1.0 / (x + 4.0);
    let shape = polynomial(&SHAPE, (x - 4.0) * inverse) * inverse;
    let exponent = (x * x) * (-0.5 * std::f64::consts::LOG2_E);
    let rounded = exponent + (ROUND + 1023.0);
    let fraction = exponent - (rounded - (ROUND + 1023.0));
    let power = f64::from_bits(rounded.to_bits() << 52);
    shape * polynomial(&POWER, fraction) * power
}

/// The quantile of `p`, strictly between 0 and 1.
#[inline(always)]
fn quantile(p: f64) -> f64 {
    // |quantile| / sqrt(L), L = -ln(4 p (1 - p)), in t = (L - 12) / (L + 12).
    const SHAPE: [f64; 15] = [
        1.346_940_509_401_388_8,
        0.077_444_847_832_347_948,
        -0.022_573_050_958_881_623,
        0.008_020_402_369_964_909_9,
        0.005_248_929_767_007_752,
        -0.008_536_211_072_475_936_2,
        0.008_472_687_042_605_949_6,
        -0.000_728_485_392_402_727_12,
        -0.008_508_956_354_242_370_1,
        0.008_583_662_840_889_757_2,
        0.005_153_402_078_454_979_7,
        -0.007_838_138_014_148_705_1,
        -0.002_640_133_593_489_259_1,
        0.003_225_302_754_621_903,
        0.001_392_124_013_635_727_6,
    ];
    // ln(m) / s for m = (1 + s) / (1 - s) from 1 / sqrt(2) to sqrt(2), in s^2.
    const LOGARITHM: [f64; 6] = [
        2.0,
        0.666_666_666_796_439_82,
        0.399_999_948_739_372_33,
        0.285_721_678_762_430_57,
        0.221_741_816_520_095_28,
        0.196_090_376_581_662_46,
    ];
    const ROOT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
    let bits = (4.0 * p * (1.0 - p)).to_bits();
    // The exponent of two that leaves a mantissa around one, plus 1023.
    let shifted = bits.wrapping_add(0x3FF0_0000_0000_0000 - ROOT_HALF) >> 52;
    let exponent =
        f64::from_bits(shifted | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = f64::from_bits(
        bits.wrapping_sub(shifted << 52)
            .wrapping_add(0x3FF0_0000_0000_0000),
    );
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let logarithm = exponent * std::f64::consts::LN_2 + s * polynomial(&LOGARITHM, s * s);
    let size = smaller(larger(-logarithm, 0.0), 140.0);
    let quantile = size.sqrt() * polynomial(&SHAPE, (size - 12.0) / (size + 12.0));
    if p < 0.5 {
        -quantile
    } else {
        quantile
    }
}

/// An interval, mirrored to the lower half: its lower end's probability, its
/// mass, and the sign that mirrors back.
#[inline(always)]
fn lower_half(low: f64, high: f64) -> (f64, f64, f64) {
    let mirror = low + high > 0.0;
    let a = if mirror { -high } else { low };
    let b = if mirror { -low } else { high };
    let a = smaller(larger(a, -EDGE), 0.0);
    let b = smaller(larger(b, -EDGE), EDGE);
    let below = tail(-a);
    let outer = tail(b.abs());
    let upto = if b > 0.0 { 1.0 - outer } else { outer };
    (
        below,
        larger(upto - below, 0.0),
        if mirror { -1.0 } else { 1.0 },
    )
}

/// Multiplies `mass` by the probability of the interval from `low` to `high`
/// shifted by `shift` and scaled by `scale`, and draws `y` from the normal
/// distribution inside it by the coordinates `w`.
pub fn interval(
    (low, high): (f64, f64),
    scale: f64,
    shift: &Lanes,
    w: &Lanes,
    mass: &mut Lanes,
    y: &mut Lanes,
) {
    for k in 0..LANES {
        let (below, inside, sign) = lower_half((low - shift[k]) * scale, (high - shift[k]) * scale);
        mass[k] *= inside;
        y[k] = sign * quantile(below + w[k] * inside);
    }
}

/// The last [`interval`], for which nothing is drawn.
pub fn last_interval((low, high): (f64, f64), scale: f64, shift: &Lanes, mass: &mut Lanes) {
    for k in 0..LANES {
        let (_, inside, _) = lower_half((low - shift[k]) * scale, (high - shift[k]) * scale);
        mass[k] *= inside;
    }
}

/// The [`interval`] of the first variable, the same for all points: its mass.
pub fn first_interval((low, high): (f64, f64), w: &Lanes, y: &mut Lanes) -> f64 {
    let (below, inside, sign) = lower_half(low, high);
    for k in 0..LANES {
        y[k] = sign * quantile(below + w[k] * inside);
    }
    inside
}

/// An [`interval`] with limits of its own at every point.
pub fn moving_interval(
    (low, high): (&Lanes, &Lanes),
    scale: f64,
    shift: &Lanes,
    w: &Lanes,
    mass: &mut Lanes,
    y: &mut Lanes,
) {
    for k in 0..LANES {
        let (below, inside, sign) =
            lower_half((low[k] - shift[k]) * scale, (high[k] - shift[k]) * scale);
        mass[k] *= inside;
        y[k] = sign * quantile(below + w[k] * inside);
    }
}

/// Limits of intervals of probability `width` that begin at `start`.
pub fn limits(start: &Lanes, width: f64, low: &mut Lanes, high: &mut Lanes) {
    // Probabilities this close to 0 and 1 have quantiles near EDGE and 8.2.
    const LEAST: f64 = 1e-300;
    const MOST: f64 = 1.0 - 1e-16;
    for k in 0..LANES {
        low[k] = quantile(smaller(larger(start[k], LEAST), MOST));
        high[k] = quantile(smaller(larger(start[k] + width, LEAST), MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;

    #[test]
    fn tails_and_quantiles_are_as_accurate_as_said() {
        for i in 0..=3750 {
            let x = f64::from(i) / 100.0;
            let exact = normal::cdf(-x);
            assert!((tail(x) / exact - 1.0).abs() < 6e-10, "tail at {x}");
        }
        for i in 0..4000 {
            let p = 10f64.powf(-f64::from(i) / 66.0) * 0.999_999;
            let exact = normal::quantile(p);
            assert!(
                (quantile(p) - exact).abs() < 1.2e-8 * (1.0 + exact.abs()),
                "quantile at {p:e}"
            );
            assert!(
                (quantile(1.0 - p.min(0.5)) + normal::quantile(p.min(0.5))).abs() < 1e-7
                    || p < 1e-8
            );
        }
    }

    #[test]
    fn intervals_in_both_tails_keep_relative_accuracy() {
        for (low, high) in [
            (-9.0, -8.9),
            (8.9, 9.0),
            (-0.1, 0.2),
            (-40.0, 1.0),
            (3.0, 40.0),
        ] {
            let exact = if low > 0.0 {
                normal::cdf(-low) - normal::cdf(-high)
            } else {
                normal::cdf(high) - normal::cdf(low)
            };
            let mut mass = [1.0; LANES];
            last_interval((low, high), 1.0, &[0.0; LANES], &mut mass);
            assert!((mass[7] / exact - 1.0).abs() < 1e-8, "{low} {high}");
            let mut y = [0.0; LANES];
            let inside = first_interval((low, high), &[0.5; LANES], &mut y);
            assert!((inside / exact - 1.0).abs() < 1e-8);
            assert!(y.iter().all(|&y| low - 1e-6 <= y && y <= high + 1e-6));
        }
    }
}
