//! Do the agreements of two keys say the same thing twice?
//!
//! Over all pairs of records, agreement on one key and on another are two events;
//! `phi` is their correlation. The weights of an intruder take them for
//! independent. Both files' two-way margins give it exactly: the pairs that
//! agree on both keys are the sum over the cells of the product of their counts.

use hashbrown::HashMap;

use super::patterns::Patterns;
use crate::error::Result;
use crate::key_table::{with_codes, Code, Column, KeyTable};
use crate::memory::map_room;
use crate::parallel::{self, Monitor};

/// The two keys whose agreements depend most on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Their places.
    pub keys: (usize, usize),
    /// The correlation of their agreements over all pairs.
    pub phi: f64,
}

/// Records per cell of two columns, observed in both.
enum Cells {
    /// All cells, place `a * (k2 + 1) + b`, where there are few.
    All(Vec<f64>),
    /// Those that occur.
    Occurring(HashMap<u64, f64>),
}

/// Records of one file by the cells of two of its keys, and by each key among
/// the records observed on both.
struct Table {
    cells: Cells,
    margins: (Vec<f64>, Vec<f64>),
    n: f64,
}

/// Cells that are counted in a table of all of them.
const MOST_CELLS: u64 = 1 << 20;

impl Table {
    fn new(rows: &KeyTable, counts: &[u64], v: usize, w: usize) -> Result<Self> {
        let (one, two) = (&rows.columns()[v], &rows.columns()[w]);
        let margin = |column: &Column| vec![0.0; column.n_values() as usize + 1];
        let mut margins = (margin(one), margin(two));
        let width = u64::from(two.n_values()) + 1;
        let n_cells = (u64::from(one.n_values()) + 1) * width;
        let mut cells = if n_cells <= MOST_CELLS {
            Cells::All(vec![0.0; n_cells as usize])
        } else {
            Cells::Occurring(HashMap::new())
        };
        let mut n = 0.0;
        with_codes!(one.codes(), |a| with_codes!(two.codes(), |b| {
            for ((a, b), &times) in a.iter().zip(b).zip(counts) {
                let (a, b, times) = (a.index(), b.index(), times as f64);
                if a == 0 || b == 0 {
                    continue;
                }
                n += times;
                margins.0[a] += times;
                margins.1[b] += times;
                let cell = a as u64 * width + b as u64;
                match &mut cells {
                    Cells::All(all) => all[cell as usize] += times,
                    Cells::Occurring(some) => {
                        map_room(some)?;
                        *some.entry(cell).or_insert(0.0) += times;
                    }
                }
            }
        }));
        Ok(Self { cells, margins, n })
    }
}

fn product(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| a * b).sum()
}

/// The correlation of agreements on equal values over the pairs observed on both
/// keys.
fn phi(patterns: &Patterns, v: usize, w: usize) -> Result<f64> {
    let known = Table::new(&patterns.rows, &patterns.counts, v, w)?;
    let released = Table::new(&patterns.queries, &patterns.query_counts, v, w)?;
    let both = match (&known.cells, &released.cells) {
        (Cells::All(one), Cells::All(two)) => product(one, two),
        (Cells::Occurring(one), Cells::Occurring(two)) => sorted_sum(
            two.iter()
                .filter_map(|(cell, n)| one.get(cell).map(|m| n * m)),
        ),
        // Both files have the same dictionaries.
        _ => 0.0,
    };
    let n = known.n * released.n;
    let (p, u, t) = (
        both / n,
        product(&known.margins.0, &released.margins.0) / n,
        product(&known.margins.1, &released.margins.1) / n,
    );
    let spread = (u * (1.0 - u) * t * (1.0 - t)).sqrt();
    Ok(if spread > 0.0 {
        (p - u * t) / spread
    } else {
        0.0
    })
}

/// A sum of whole numbers, which no order of a map changes as long as they are
/// exact; beyond, the order is that of size.
fn sorted_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}

impl Dependence {
    /// The pair of keys with the largest correlation; `None` with one key.
    pub(super) fn largest(patterns: &Patterns, monitor: &Monitor) -> Result<Option<Self>> {
        let n_keys = patterns.n_keys();
        let pairs = (0..n_keys).flat_map(|v| (v + 1..n_keys).map(move |w| (v, w)));
        let found = parallel::try_map(pairs, monitor, |(v, w)| {
            Ok(Self {
                keys: (v, w),
                phi: phi(patterns, v, w)?,
            })
        })?;
        let larger = |a: Self, b: Self| if b.phi > a.phi { b } else { a };
        Ok(found.into_iter().reduce(larger))
    }
}
