//! Uniqueness and correctness at any population size from one set of draws.
//!
//! M draws fall into cells of f draws each. Of m people among them,
//! `S(m) = sum_cells (f / M) C(M - f, m - 1) / C(M - 1, m - 1)` is the share
//! expected to be unique, and
//! `K(m) = sum_cells (1 - C(M - f, m) / C(M, m)) / m` the share of distinct
//! records, which is the correctness: both free of bias. Beyond M draws, S is
//! continued by its slope in double logarithms.

use statrs::function::gamma::ln_gamma;

use super::sampling::Spectrum;

/// Sizes m are looked at by y = ln(m - 1), from here on.
const START: f64 = -4.0;
/// Steps of y.
const STEP: f64 = 0.05;
/// Steps back over which the slope at the end is taken.
const BACK: usize = 8;

/// A falling function of y = ln(m - 1): values on a grid, and between them the
/// cubic whose slopes keep it falling (Fritsch and Butland 1984).
#[derive(Debug, Clone, PartialEq)]
pub struct Falling {
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Falling {
    /// From values at the points of the grid; each is held below the one before.
    fn new(mut values: Vec<f64>) -> Self {
        let mut least = 1.0_f64;
        for value in &mut values {
            least = least.min(value.max(0.0));
            *value = least;
        }
        let secant = |i: usize| values[i + 1] - values[i];
        let slopes = (0..values.len())
            .map(|i| {
                if i == 0 || i + 1 >= values.len() {
                    return 0.0;
                }
                let (left, right) = (secant(i - 1), secant(i));
                if left * right > 0.0 {
                    2.0 * left * right / (left + right)
                } else {
                    0.0
                }
            })
            .collect();
        Self { values, slopes }
    }

    /// The value at y, and its slope there.
    pub fn at(&self, y: f64) -> (f64, f64) {
        let last = self.values.len() - 1;
        let place = ((y - START) / STEP).clamp(0.0, last as f64);
        let i = (place as usize).min(last.saturating_sub(1));
        let t = place - i as f64;
        let (a, b) = (self.values[i], self.values[(i + 1).min(last)]);
        let (u, v) = (self.slopes[i], self.slopes[(i + 1).min(last)]);
        // Hermite's cubic as a polynomial of t.
        let (c2, c3) = (3.0 * (b - a) - 2.0 * u - v, 2.0 * (a - b) + u + v);
        let value = a + t * (u + t * (c2 + t * c3));
        let slope = (u + t * (2.0 * c2 + t * 3.0 * c3)) / STEP;
        (value.clamp(0.0, 1.0), slope.min(0.0))
    }

    /// This function when cells vary by a gamma variable g of mean one and
    /// variance `spread`. A person drawn sees g weighted by itself, and since
    /// `(1 + a m q)^-(1 / a + 1)` is the mean of `exp(-m q g)` over
    /// g ~ Gamma(1 / a + 1, 1 / a), the share of uniques is the mean of S(m g).
    pub fn spread(&self, spread: f64) -> Self {
        if spread <= 0.0 {
            return self.clone();
        }
        let shape = 1.0 / spread;
        // The density of t = ln g, up to a factor, at steps of the grid: the
        // trapezoidal rule is exact to rounding on it.
        let top = ((shape + 1.0) / shape).ln();
        let width = 1.0 / (shape + 1.0).sqrt();
        let from = ((top - 9.0 * width.max(4.0 / (shape + 1.0))) / STEP).floor() as i64;
        let to = ((top + 6.0 * width) / STEP).ceil() as i64;
        let weights: Vec<f64> = (from..=to)
            .map(|i| {
                let t = i as f64 * STEP;
                ((shape + 1.0) * (t - top) - shape * (t.exp() - top.exp())).exp()
            })
            .collect();
        let mass: f64 = weights.iter().sum();
        let last = self.values.len() as i64 - 1;
        let values = (0..=last)
            .map(|k| {
                let of = |i: i64| match k + i {
                    before if before < 0 => 1.0,
                    at => self.values[at.min(last) as usize],
                };
                (from..=to)
                    .zip(&weights)
                    .map(|(i, w)| w * of(i))
                    .sum::<f64>()
                    / mass
            })
            .collect();
        Self::new(values)
    }

    /// The share of uniques that a set of draws shows, for y up to `reach`.
    pub fn of_spectrum(spectrum: &Spectrum, reach: f64) -> Self {
        let end = (spectrum.n_draws.max(3.0) - 1.0).ln();
        Self::new(continued(reach, end, |y| {
            spectrum.unique_share(1.0 + y.exp())
        }))
    }

    /// Curve of any known function of y.
    #[cfg(test)]
    pub fn of(reach: f64, share: impl Fn(f64) -> f64) -> Self {
        Self::new(continued(reach, reach, share))
    }
}

/// Values of a function of y on the grid, beyond `end` by its slope in double
/// logarithms.
fn continued(reach: f64, end: f64, share: impl Fn(f64) -> f64) -> Vec<f64> {
    let steps = ((reach - START) / STEP).ceil().max(1.0) as usize;
    let known = (((end - START) / STEP + 1e-9).floor().max(0.0) as usize).min(steps);
    let mut values: Vec<f64> = (0..=known)
        .map(|i| share(START + STEP * i as f64))
        .collect();
    let (last, before) = (values[known], values[known.saturating_sub(BACK)]);
    let slope = if last > 0.0 && before > 0.0 && known > 0 {
        (last / before).ln() / known.min(BACK) as f64
    } else {
        0.0
    };
    values.extend((known + 1..=steps).map(|i| last * (slope * (i - known) as f64).exp()));
    values
}

impl Spectrum {
    /// Expected share of uniques among `m` of the draws.
    pub fn unique_share(&self, m: f64) -> f64 {
        let others = Taken::new(m - 1.0, self.n_draws - 1.0);
        self.mean_over_draws(|f, ln_rest| others.none_of(f - 1.0, ln_rest))
    }

    /// Expected share of distinct records among `m` of the draws.
    pub fn distinct_share(&self, m: f64) -> f64 {
        // 1 - C(M - f, m) / C(M, m) = 1 - (1 - m / M) C(M - 1 - (f - 1), m) / C(M - 1, m)
        let ratio = self.n_draws / m;
        let first = (1.0 - m / self.n_draws).max(0.0);
        let taken = Taken::new(m, self.n_draws - 1.0);
        self.mean_over_draws(|f, ln_rest| {
            ratio * (1.0 - first * taken.none_of(f - 1.0, ln_rest)) / f
        })
    }

    /// Expected share of records that `m` of the draws contain exactly twice.
    fn paired_share(&self, m: f64) -> f64 {
        let others = self.n_draws - 1.0;
        if m < 2.0 {
            return 0.0;
        }
        let rest = Taken::new(m - 2.0, others - 1.0);
        self.mean_over_draws(|f, ln_rest| {
            if f < 2.0 || m - 1.0 > others - (f - 2.0) {
                return 0.0;
            }
            // One of the f - 1 others is among the m - 1, the rest are not.
            let alone = rest.none_of(f - 2.0, ln_rest);
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

    /// The mean of what `of_cell` says of cells, given their draws and `ln_rest`.
    fn mean_over_draws(&self, of_cell: impl Fn(f64, f64) -> f64) -> f64 {
        (self.cells.iter().zip(&self.ln_rest))
            .map(|(&(f, times), &ln_rest)| f * times * of_cell(f, ln_rest))
            .sum::<f64>()
            / self.n_kept
    }
}

/// Below this, `exp` is 0.
const LEAST_LN: f64 = -750.0;

/// Some of all draws, and what is the same for the mates of every cell.
struct Taken {
    taken: f64,
    total: f64,
    left: f64,
    /// `ln(left / total)`, `ln left!` and `ln total!`
    ln_share: f64,
    ln_left: f64,
    ln_total: f64,
}

impl Taken {
    /// `taken` of `total` draws.
    fn new(taken: f64, total: f64) -> Self {
        let left = total - taken;
        Self {
            taken,
            total,
            left,
            ln_share: (left / total).ln(),
            ln_left: ln_gamma(left.max(0.0) + 1.0),
            ln_total: ln_gamma(total + 1.0),
        }
    }

    /// Probability that none of `mates` special ones is among those taken; `ln_rest` is
    /// `ln (total - mates)!`.
    fn none_of(&self, mates: f64, ln_rest: f64) -> f64 {
        let (left, total) = (self.left, self.total);
        if mates <= 0.0 || self.taken <= 0.0 {
            return 1.0;
        }
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
        // No factor of the product is above the first.
        if mates * self.ln_share < LEAST_LN {
            return 0.0;
        }
        (self.ln_left - ln_gamma(left - mates + 1.0) - self.ln_total + ln_rest).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_of_draws_are_counted_as_by_enumeration() {
        // Cells of 1, 2 and 3 draws; all subsets of size m.
        let spectrum = Spectrum::new(6.0, 6.0, vec![(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]);
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
        let long = Taken::new(80.0, 999.0).none_of(60.0, ln_gamma(940.0));
        let product: f64 = (0..60)
            .map(|i| (919.0 - f64::from(i)) / (999.0 - f64::from(i)))
            .product();
        assert!((long / product - 1.0).abs() < 1e-10);
    }

    /// Cells of these shares, people drawn one by one: q exp(-(m - 1) q).
    fn poisson(shares: &[f64]) -> impl Fn(f64) -> f64 + '_ {
        |y| shares.iter().map(|q| q * (-y.exp() * q).exp()).sum()
    }

    #[test]
    fn cells_that_vary_are_the_closed_form() {
        let shares = [0.4, 0.3, 0.2, 0.1];
        let plain = Falling::of(12.0, poisson(&shares));
        let closed = |a: f64, m: f64| -> f64 {
            let of = |q: &f64| q * (1.0 + (m - 1.0) * q * a).powf(-1.0 / a - 1.0);
            shares.iter().map(of).sum()
        };
        // Ten people, variance one half.
        let (found, _) = plain.spread(0.5).at(9.0_f64.ln());
        assert!((found - 0.103_298_281_9).abs() < 1e-6, "{found}");
        for a in [0.015, 0.12, 1.0, 8.0] {
            let mixed = plain.spread(a);
            for m in [2.0, 10.0, 75.0] {
                let (found, _) = mixed.at((m - 1.0_f64).ln());
                assert!((found - closed(a, m)).abs() < 2e-5, "{a} {m} {found}");
            }
        }
        let (none, _) = plain.spread(0.0).at(9.0_f64.ln());
        assert!((none - poisson(&shares)(9.0_f64.ln())).abs() < 1e-6);
    }

    #[test]
    fn between_the_points_the_curve_falls_and_has_its_slope() {
        let shares = [0.5, 0.2, 0.05, 0.01, 0.24];
        let curve = Falling::of(10.0, poisson(&shares)).spread(0.3);
        let mut before = 1.0;
        for i in 0..4000 {
            let y = -5.0 + 0.004 * f64::from(i);
            let (value, slope) = curve.at(y);
            assert!(value <= before && slope <= 0.0);
            let step = curve.at(y + 1e-4).0 - curve.at(y - 1e-4).0;
            assert!((step / 2e-4 - slope).abs() < 2e-3, "{y} {slope}");
            before = value;
        }
    }

    #[test]
    fn draws_give_the_curve_of_their_cells_and_its_continuation() {
        // 3,000 cells of falling shares as expected Poisson counts of 20,000 draws.
        let raw: Vec<f64> = (1..3000).map(|r| 1.0 / (20.0 + f64::from(r))).collect();
        let total: f64 = raw.iter().sum();
        let shares: Vec<f64> = raw.iter().map(|x| x / total).collect();
        let n = 20_000.0;
        let cells: Vec<(f64, f64)> = (1..1000)
            .map(|f| {
                let f = f64::from(f);
                let of = |p: &f64| (f * (n * p).ln() - n * p - ln_gamma(f + 1.0)).exp();
                (f, shares.iter().map(of).sum())
            })
            .collect();
        let n_kept = cells.iter().map(|(f, t)| f * t).sum();
        let spectrum = Spectrum::new(n, n_kept, cells);
        let curve = Falling::of_spectrum(&spectrum, 12.0);
        let exact = |m: f64| -> f64 { shares.iter().map(|p| p * (1.0 - p).powf(m - 1.0)).sum() };
        for (m, error) in [
            (17.0, 2e-4),
            (400.0, 2e-4),
            (3333.0, 2e-4),
            (26_000.0, 5e-3),
        ] {
            let (found, _) = curve.at((m - 1.0_f64).ln());
            assert!((found - exact(m)).abs() < error, "{m}");
        }
        let distinct: f64 = shares.iter().map(|p| 1.0 - (1.0 - p).powf(400.0)).sum();
        assert!((spectrum.distinct_share(400.0) - distinct / 400.0).abs() < 2e-4);
    }
}
