//! Tiny tables, fitted by iterative proportional fitting of all their cells, and the
//! sums of the definition over them.

use super::*;
use crate::cases::{tiny, Draws};
use crate::key_table::{Codes, Column, KeyTable};
use crate::weights::Weights;

/// The whole table of the levels that occur, one entry per cell.
struct Table {
    cells: Vec<Vec<u32>>,
    counts: Vec<f64>,
    weights: Vec<f64>,
}

impl Table {
    fn new(rows: &[Vec<u32>], weights: &[f64]) -> Self {
        let cells = (0..rows[0].len()).fold(vec![Vec::new()], |cells: Vec<Vec<u32>>, v| {
            let mut levels: Vec<u32> = rows.iter().map(|row| row[v]).collect();
            levels.sort_unstable();
            levels.dedup();
            let longer = |cell: Vec<u32>| {
                let cells = levels.iter().map(|&l| [&cell[..], &[l]].concat());
                cells.collect::<Vec<_>>()
            };
            cells.into_iter().flat_map(longer).collect()
        });
        let sum = |cell: &Vec<u32>, of: &dyn Fn(usize) -> f64| -> f64 {
            (0..rows.len()).filter(|&i| rows[i] == *cell).map(of).sum()
        };
        let scale = rows.len() as f64 / weights.iter().sum::<f64>();
        Self {
            counts: cells.iter().map(|cell| sum(cell, &|_| 1.0)).collect(),
            weights: cells
                .iter()
                .map(|cell| sum(cell, &|i| weights[i] * scale))
                .collect(),
            cells,
        }
    }

    /// The fit to the margins of `terms`, where the sweeps settle.
    fn fit(&self, terms: &[Vec<usize>]) -> Option<Vec<f64>> {
        let number = |term: &Vec<usize>| -> Vec<usize> {
            let of = |c: &Vec<u32>| term.iter().fold(0, |at, &v| at * 8 + c[v] as usize);
            self.cells.iter().map(of).collect()
        };
        let numbers: Vec<Vec<usize>> = terms.iter().map(number).collect();
        let margin = |of: &[f64], term: &[usize]| {
            let mut sums = [0.0; 512];
            of.iter().zip(term).for_each(|(x, &at)| sums[at] += x);
            sums
        };
        let targets: Vec<[f64; 512]> = numbers.iter().map(|t| margin(&self.weights, t)).collect();
        let mut fit = vec![1.0; self.cells.len()];
        for _ in 0..400 {
            let mut moved: f64 = 0.0;
            for (term, target) in numbers.iter().zip(&targets) {
                let now = margin(&fit, term);
                for (x, &at) in fit.iter_mut().zip(term) {
                    let factor = if now[at] > 0.0 {
                        target[at] / now[at]
                    } else {
                        0.0
                    };
                    if *x > 0.0 {
                        moved = moved.max((factor - 1.0).abs());
                    }
                    *x *= factor;
                }
            }
            if moved < 1e-11 {
                return Some(fit);
            }
        }
        None
    }
}

/// `tau`, the criterion and its variance by the formulas of the help page, where no
/// difference of exponentials loses its digits.
fn by_definition(counts: &[f64], lambda: &[f64], pi: f64) -> ([f64; 2], [f64; 2], [f64; 2]) {
    let (mut tau, mut b, mut v) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for (&f, &lambda) in counts.iter().zip(lambda).filter(|(_, &l)| l > 0.0) {
        let (mu, q) = (pi * lambda, (1.0 - pi) * lambda);
        let h2 = -(-q).exp_m1() / q;
        if (f - 1.0).abs() < 0.5 {
            tau[0] += (-q).exp();
            tau[1] += h2;
        }
        let a = [q * (-lambda).exp(), (-mu).exp() * h2 - (-lambda).exp()];
        let b2 = match q > 1e-2 {
            true => ((-mu).exp() * h2 - (-lambda).exp() * (1.0 + q / 2.0)) / mu,
            false => {
                let series = q / 6.0 - q * q / 8.0 + q * q * q / 20.0 - q.powi(4) / 72.0;
                (-mu).exp() * series * (1.0 - pi) / pi
            }
        };
        let slopes = [(1.0 - pi) * q * (-lambda).exp() / (2.0 * pi), b2];
        let e = f - mu;
        for i in 0..2 {
            b[i] += a[i] * e + slopes[i] * (e * e - f);
            v[i] += a[i] * a[i] * mu + 2.0 * slopes[i] * slopes[i] * mu * mu;
        }
    }
    (tau, b, v)
}

fn near(a: f64, b: f64, slack: f64) -> bool {
    (a - b).abs() <= slack * (1.0 + a.abs().max(b.abs()))
}

fn asked(draws: &mut Draws, keys: u32) -> (Choice, Vec<Vec<usize>>) {
    let pairs: Vec<Vec<usize>> = (1..keys as usize)
        .flat_map(|b| (0..b).map(move |a| vec![a, b]))
        .collect();
    match draws.below(5) {
        0 => (Choice::Independence, Vec::new()),
        1 => (Choice::TwoWay, pairs),
        _ => {
            let sets = (1..1u32 << keys).filter(|_| draws.once_in(3));
            let sets: Vec<Vec<usize>> = sets
                .map(|set| (0..keys as usize).filter(|v| set >> v & 1 == 1).collect())
                .collect();
            (Choice::Terms(sets.clone()), sets)
        }
    }
}

#[test]
fn fits_and_sums_are_those_of_the_whole_table() {
    tiny(1000, |draws| {
        let (n, keys) = (draws.within(2, 8) as usize, draws.within(1, 3));
        let sizes: Vec<u32> = (0..keys).map(|_| draws.within(1, 3)).collect();
        let row = |draws: &mut Draws| sizes.iter().map(|&k| draws.within(1, k)).collect();
        let rows: Vec<Vec<u32>> = (0..n).map(|_| row(draws)).collect();
        let equal = draws.once_in(4);
        let weight = |draws: &mut Draws| f64::from(draws.within(1, 9)) / 2.0;
        let weights: Vec<f64> = (0..n)
            .map(|_| if equal { 2.0 } else { weight(draws) })
            .collect();
        let pi = draws.of(&[0.01, 0.1, 0.5, 0.9]);
        let raked = draws.once_in(6);
        let (choice, mut terms) = asked(draws, keys);
        let request = Request {
            choice,
            fraction: SamplingFraction::new(pi).ok(),
            max_cells: 1e9,
            fractions: if raked {
                Fractions::Raked
            } else {
                Fractions::Overall
            },
            normal: None,
        };
        let column = |(v, &k): (usize, &u32)| {
            Column::new(Codes::pack(k, rows.iter().map(|r| r[v])), k).unwrap()
        };
        let table = KeyTable::new(sizes.iter().enumerate().map(column).collect()).unwrap();
        let monitor = Monitor::new();
        let (cells, cell_of) =
            Cells::new(&table, Weights::new(&weights, n).ok(), &monitor).unwrap();
        let found = analyse(&cells, &request, &monitor).unwrap();

        let whole = Table::new(&rows, &weights);
        let uniques = whole
            .counts
            .iter()
            .filter(|&&f| (f - 1.0).abs() < 0.5)
            .count();
        assert_eq!(found.n_unique, uniques);
        let [tau1, tau2] = found.measures.tau;
        assert!(0.0 <= tau1 && tau1 <= tau2 + 1e-12 && tau2 <= uniques as f64 + 1e-12);
        terms.extend((0..keys as usize).map(|v| vec![v]));
        // Raked fractions, and a maximum at infinity, which sweeps do not reach: laws alone.
        let Some(fit) = whole.fit(&terms).filter(|_| !raked || equal) else {
            return false;
        };
        let lambda: Vec<f64> = fit.iter().map(|x| x / pi).collect();
        let slack = 1e-6 + 20.0 * found.report.deviation;
        for (row, &cell) in rows.iter().zip(&cell_of) {
            let at = whole.cells.iter().position(|c| c == row).unwrap();
            let told = found.lambda[cell as usize];
            assert!(
                near(told / lambda[at], 1.0, slack),
                "{told} {} {:?}",
                lambda[at],
                found.report
            );
        }
        let (tau, b, v) = by_definition(&whole.counts, &lambda, pi);
        for i in 0..2 {
            assert!(
                near(found.measures.tau[i], tau[i], slack),
                "{:?} {tau:?}",
                found.measures
            );
            assert!(
                near(found.measures.b[i], b[i], 10.0 * slack),
                "{:?} {b:?}",
                found.measures
            );
            assert!(
                near(found.measures.v[i], v[i], 10.0 * slack),
                "{:?} {v:?}",
                found.measures
            );
        }
        uniques > 0
    });
}
