//! Uniqueness and correctness at any population size from one set of draws, and
//! the model brought to the uniqueness that the sample itself shows.
//!
//! # From draws to a curve
//!
//! M draws fall into cells of f draws each. Of m people among them,
//! `S(m) = sum_cells (f / M) C(M - f, m - 1) / C(M - 1, m - 1)` is the share
//! expected to be unique, and
//! `K(m) = sum_cells (1 - C(M - f, m) / C(M, m)) / m` the share of distinct
//! records, which is the correctness: both free of bias. Beyond M draws, S is
//! continued by its slope in double logarithms.
//!
//! # Calibration
//!
//! The copula smooths: within a cell its probability q is right on average
//! only. With p = q g, g ~ Gamma(alpha, alpha), people drawn see g weighted by
//! itself, and since `(1 + m q / alpha)^-(alpha + 1)` is the mean of
//! `exp(-m q g)` over g ~ Gamma(alpha + 1, alpha), the uniqueness among m
//! people is that mean of `S(m g)`, and the correctness that of `K(m g)`. Alpha
//! is such that the sample's own uniqueness comes out at its size. Where the
//! model shows less of it than the sample, cells are too coarse instead, and
//! p = lambda q.

use super::sampling::Spectrum;
use crate::gamma::ln_gamma;

/// Points of the grid over the logarithm of the population size.
const GRID: usize = 320;
/// Points over the logarithm of g.
const NODES: i32 = 48;

/// Uniqueness and correctness by population size.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    spectrum: Spectrum,
    /// Logarithms of sizes, evenly spaced from 0.
    step: f64,
    uniqueness: Vec<f64>,
    distinct: Vec<f64>,
}

impl Curve {
    /// The curve of a set of draws.
    pub fn new(spectrum: Spectrum) -> Self {
        let step = spectrum.n_draws.max(2.0).ln() / (GRID - 1) as f64;
        let sizes = (0..GRID).map(|i| (step * i as f64).exp().min(spectrum.n_draws));
        let (uniqueness, distinct) = sizes
            .map(|m| (spectrum.unique_share(m), spectrum.distinct_share(m)))
            .unzip();
        Self {
            spectrum,
            step,
            uniqueness,
            distinct,
        }
    }

    /// The draws behind the curve.
    pub fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    /// Share of `m` people that are unique, read off the grid.
    pub fn uniqueness(&self, m: f64) -> f64 {
        self.read(&self.uniqueness, m)
    }

    /// Share of distinct records among `m` people, read off the grid.
    pub fn correctness(&self, m: f64) -> f64 {
        let last = self.spectrum.n_draws;
        if m <= last {
            return self.read(&self.distinct, m);
        }
        // Distinct records grow by S(m) per person.
        let (mut sum, pieces) = (0.0, 16);
        let ratio = (m / last).ln() / f64::from(pieces);
        let at = |i: i32| last * (ratio * f64::from(i)).exp();
        for i in 0..pieces {
            let (a, b) = (at(i), at(i + 1));
            sum += 0.5 * (b - a) * (self.uniqueness(a) + self.uniqueness(b));
        }
        (self.distinct[GRID - 1] * last + sum) / m
    }

    /// Cubic interpolation in the logarithm of `m`.
    fn read(&self, values: &[f64], m: f64) -> f64 {
        if m <= 1.0 {
            return 1.0;
        }
        let at = m.ln() / self.step;
        let last = values.len() - 1;
        if at >= last as f64 {
            let (end, before) = (values[last], values[last - 8]);
            if at <= last as f64 + 1e-9 || end <= 0.0 || before <= 0.0 {
                return end;
            }
            let slope = (end / before).ln() / (8.0 * self.step);
            return end * (slope * (at - last as f64) * self.step).exp();
        }
        let i = at as usize;
        let t = at - i as f64;
        let value = |k: usize| values[k.min(last)];
        let (y0, y1, y2, y3) = (
            value(i.saturating_sub(1)),
            value(i),
            value(i + 1),
            value(i + 2),
        );
        let cubic = y1
            + 0.5
                * t
                * (y2 - y0
                    + t * (2.0 * y0 - 5.0 * y1 + 4.0 * y2 - y3 + t * (3.0 * (y1 - y2) + y3 - y0)));
        cubic.clamp(0.0, 1.0)
    }
}

impl Spectrum {
    /// Expected share of uniques among `m` of the draws.
    pub fn unique_share(&self, m: f64) -> f64 {
        self.mean_over_draws(|f| self.alone(f, m))
    }

    /// Expected share of distinct records among `m` of the draws.
    pub fn distinct_share(&self, m: f64) -> f64 {
        // 1 - C(M - f, m) / C(M, m) = 1 - (1 - m / M) C(M - 1 - (f - 1), m) / C(M - 1, m)
        let ratio = self.n_draws / m;
        self.mean_over_draws(|f| {
            let none =
                (1.0 - m / self.n_draws).max(0.0) * self.none_of(f - 1.0, m, self.n_draws - 1.0);
            ratio * (1.0 - none) / f
        })
    }

    /// Expected share of records that `m` of the draws contain exactly twice.
    fn paired_share(&self, m: f64) -> f64 {
        let others = self.n_draws - 1.0;
        if m < 2.0 {
            return 0.0;
        }
        self.mean_over_draws(|f| {
            if f < 2.0 || m - 1.0 > others - (f - 2.0) {
                return 0.0;
            }
            // One of the f - 1 others is among the m - 1, the rest are not.
            let alone = self.none_of(f - 2.0, m - 2.0, others - 1.0);
            alone * (f - 1.0) * (m - 1.0) / others
        })
    }

    /// Monte Carlo standard errors of the shares of uniques and of distinct
    /// records among `m` people. For m draws, cells having Poisson counts given
    /// their sum, `Var s1 = E s1 - E d2(2m) / 2 - (E s1 - 2 E d2)^2 / m` and
    /// `Var k = E k(2m) - E k(m) - (E s1)^2 / m`, with s1 uniques, d2 pairs and k
    /// distinct records; a mean over all subsets of m of M draws has at most m / M
    /// of that variance (Hoeffding). Where there are fewer than 2m draws the
    /// unknown terms are left out or bounded: the error is then an upper bound.
    pub fn standard_errors(&self, m: f64) -> (f64, f64) {
        let unique = self.unique_share(m);
        // `paired_share` counts records, two per pair.
        let slope = unique - self.paired_share(m);
        let (pairs_twice, growth) = if 2.0 * m <= self.n_draws {
            (
                self.paired_share(2.0 * m),
                2.0 * self.distinct_share(2.0 * m) - self.distinct_share(m),
            )
        } else {
            (0.0, unique)
        };
        let variance = unique - 0.5 * pairs_twice - slope * slope;
        let distinct_variance = growth - unique * unique;
        (
            (variance.max(0.0) / self.n_kept).sqrt(),
            (distinct_variance.max(0.0) / self.n_kept).sqrt(),
        )
    }

    /// Probability that none of the f - 1 cell mates of a draw is among m - 1
    /// others.
    fn alone(&self, f: f64, m: f64) -> f64 {
        self.none_of(f - 1.0, m - 1.0, self.n_draws - 1.0)
    }

    /// Probability that none of `mates` special ones is among `taken` of
    /// `total`.
    fn none_of(&self, mates: f64, taken: f64, total: f64) -> f64 {
        if mates <= 0.0 || taken <= 0.0 {
            return 1.0;
        }
        let left = total - taken;
        if left <= mates - 1.0 {
            return 0.0;
        }
        if mates < 40.0 {
            let mut product = 1.0;
            let mut i = 0.0;
            while i < mates {
                product *= (left - i) / (total - i);
                i += 1.0;
            }
            return product;
        }
        (ln_gamma(left + 1.0) - ln_gamma(left - mates + 1.0) - ln_gamma(total + 1.0)
            + ln_gamma(total - mates + 1.0))
        .exp()
    }

    fn mean_over_draws(&self, of_cell: impl Fn(f64) -> f64) -> f64 {
        self.cells
            .iter()
            .map(|&(f, times)| f * times * of_cell(f))
            .sum::<f64>()
            / self.n_kept
    }
}

/// How the model was brought to the sample's uniqueness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Calibration {
    /// Not at all.
    None,
    /// Cell probabilities vary by a gamma variable of this shape.
    Gamma {
        /// The shape alpha.
        alpha: f64,
    },
    /// Cell probabilities are this fraction of the model's.
    Scale {
        /// The fraction lambda.
        lambda: f64,
    },
}

/// Range of alpha: beyond, the gamma variable is one, or hardly ever not nil.
const ALPHA: (f64, f64) = (1e-3, 1e5);

impl Calibration {
    /// The calibration under which `n` records show the uniqueness `observed`.
    pub fn fit(curve: &Curve, n: f64, observed: f64) -> Self {
        let model = curve.uniqueness(n);
        let bisect = |mut low: f64, mut high: f64, below: &dyn Fn(f64) -> bool| {
            // In logarithms, until it cannot matter.
            for _ in 0..60 {
                let middle = (low * high).sqrt();
                if below(middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            (low * high).sqrt()
        };
        if observed > model {
            let lambda = bisect(1e-3 / n, 1.0, &|lambda| {
                Calibration::Scale { lambda }.uniqueness(curve, n) > observed
            });
            return Calibration::Scale { lambda };
        }
        let at = |alpha: f64| Calibration::Gamma { alpha }.uniqueness(curve, n);
        if at(ALPHA.1) <= observed {
            return Calibration::None;
        }
        let alpha = bisect(ALPHA.0, ALPHA.1, &|alpha| at(alpha) < observed);
        Calibration::Gamma { alpha }
    }

    /// Share of `m` people that are unique.
    pub fn uniqueness(&self, curve: &Curve, m: f64) -> f64 {
        self.mean(m, |size| curve.uniqueness(size))
    }

    /// Share of distinct records among `m` people.
    pub fn correctness(&self, curve: &Curve, m: f64) -> f64 {
        self.mean(m, |size| curve.correctness(size))
    }

    /// The mean over calibrated sizes of any function of size.
    pub fn mean(&self, m: f64, of: impl Fn(f64) -> f64) -> f64 {
        if m <= 1.0 {
            return 1.0;
        }
        match *self {
            Calibration::None => of(m),
            Calibration::Scale { lambda } => of(1.0 + lambda * (m - 1.0)),
            Calibration::Gamma { alpha } => {
                // The density of t = ln g is exp((alpha + 1) t - alpha e^t) up to
                // a factor; the trapezoidal rule is exact to rounding on it.
                let top = ((alpha + 1.0) / alpha).ln();
                let width = 1.0 / (alpha + 1.0).sqrt();
                let (left, right) = (
                    top - 9.0 * width.max(4.0 / (alpha + 1.0)),
                    top + 6.0 * width,
                );
                let ln_density = |t: f64| (alpha + 1.0) * (t - top) - alpha * (t.exp() - top.exp());
                let (mut mass, mut sum) = (0.0, 0.0);
                for i in 0..=NODES {
                    let t = left + (right - left) * f64::from(i) / f64::from(NODES);
                    let weight = ln_density(t).exp();
                    mass += weight;
                    sum += weight * of(1.0 + t.exp() * (m - 1.0));
                }
                sum / mass
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of given probabilities: the exact expected curve.
    fn exact(shares: &[f64], m: f64) -> f64 {
        shares.iter().map(|p| p * (1.0 - p).powf(m - 1.0)).sum()
    }

    #[test]
    fn subsets_of_draws_are_counted_as_by_enumeration() {
        // Cells of 1, 2 and 3 draws; all subsets of size m.
        let spectrum = Spectrum {
            n_draws: 6.0,
            n_kept: 6.0,
            cells: vec![(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)],
        };
        let cell = [0usize, 1, 1, 2, 2, 2];
        for m in 1..=6u32 {
            let (mut unique, mut distinct, mut paired, mut subsets) = (0.0, 0.0, 0.0, 0.0);
            for set in 0u32..64 {
                if set.count_ones() != m {
                    continue;
                }
                subsets += 1.0;
                let mut counts = [0; 3];
                for (i, &c) in cell.iter().enumerate() {
                    counts[c] += (set >> i) & 1;
                }
                unique += counts.iter().filter(|&&c| c == 1).count() as f64;
                paired += 2.0 * counts.iter().filter(|&&c| c == 2).count() as f64;
                distinct += counts.iter().filter(|&&c| c > 0).count() as f64;
            }
            let m = f64::from(m);
            assert!((spectrum.unique_share(m) - unique / subsets / m).abs() < 1e-12);
            assert!((spectrum.distinct_share(m) - distinct / subsets / m).abs() < 1e-12);
            assert!((spectrum.paired_share(m) - paired / subsets / m).abs() < 1e-12);
        }
    }

    #[test]
    fn long_products_equal_gamma_functions() {
        let spectrum = Spectrum {
            n_draws: 1000.0,
            n_kept: 1000.0,
            cells: vec![],
        };
        let long = spectrum.none_of(60.0, 80.0, 999.0);
        let product: f64 = (0..60)
            .map(|i| (919.0 - f64::from(i)) / (999.0 - f64::from(i)))
            .product();
        assert!((long / product - 1.0).abs() < 1e-10);
    }

    /// A spectrum that stands for known probabilities: expected Poisson counts.
    fn expected_spectrum(shares: &[f64], n: f64) -> Spectrum {
        let mut cells = Vec::new();
        for f in 1..1000 {
            let f = f64::from(f);
            let times: f64 = shares
                .iter()
                .map(|p| (f * (n * p).ln() - n * p - ln_gamma(f + 1.0)).exp())
                .sum();
            cells.push((f, times));
        }
        let n_kept = cells.iter().map(|(f, t)| f * t).sum();
        Spectrum {
            n_draws: n,
            n_kept,
            cells,
        }
    }

    fn falling_shares() -> Vec<f64> {
        let raw: Vec<f64> = (1..3000).map(|r| 1.0 / (20.0 + f64::from(r))).collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|x| x / total).collect()
    }

    #[test]
    fn the_curve_follows_known_probabilities() {
        let shares = falling_shares();
        let curve = Curve::new(expected_spectrum(&shares, 20_000.0));
        for m in [1.5, 17.0, 400.0, 3_333.0, 20_000.0] {
            assert!(
                (curve.uniqueness(m) - exact(&shares, m)).abs() < 2e-4,
                "{m}"
            );
            let distinct: f64 = shares.iter().map(|p| 1.0 - (1.0 - p).powf(m)).sum();
            assert!((curve.correctness(m) - distinct / m).abs() < 2e-4, "{m}");
        }
        // A little beyond the draws.
        assert!((curve.uniqueness(26_000.0) - exact(&shares, 26_000.0)).abs() < 5e-3);
    }

    #[test]
    fn a_gamma_mixture_is_recognised() {
        // Cells p = q g, with g at the quantiles of a gamma variable: truth by
        // the closed form (1 + m q / alpha)^-(alpha + 1).
        let shares = falling_shares();
        let curve = Curve::new(expected_spectrum(&shares, 60_000.0));
        for alpha in [0.4, 1.0, 6.0] {
            let truth = |m: f64| -> f64 {
                shares
                    .iter()
                    .map(|q| q * (1.0 + (m - 1.0) * q / alpha).powf(-alpha - 1.0))
                    .sum()
            };
            let found = Calibration::fit(&curve, 1_000.0, truth(1_000.0));
            let Calibration::Gamma { alpha: fitted } = found else {
                panic!("not a gamma calibration");
            };
            assert!((fitted / alpha - 1.0).abs() < 0.02, "{fitted} {alpha}");
            for m in [50.0, 1_000.0, 5_000.0] {
                assert!((found.uniqueness(&curve, m) - truth(m)).abs() < 1e-3, "{m}");
            }
            // Correctness is the running mean of uniqueness.
            let m = 2_000.0;
            let sum: f64 = (1..=2000).map(|k| truth(f64::from(k))).sum();
            assert!((found.correctness(&curve, m) - sum / m).abs() < 2e-3);
        }
        let less = Calibration::fit(&curve, 1_000.0, curve.uniqueness(500.0));
        assert!(matches!(less, Calibration::Scale { lambda } if (lambda - 0.5).abs() < 0.01));
        assert_eq!(
            Calibration::fit(&curve, 1_000.0, curve.uniqueness(1_000.0)),
            Calibration::None
        );
    }
}
