//! The probability of every record under a fitted model.
//!
//! Records are given by their categories, key by key. Equal records are computed
//! once. A category that the sample does not have stands alone: its least
//! probability times that of the rest.

use super::fit::Model;
use super::lattice::{Effort, Estimate};
use super::placement::{self, Placements};
use super::rectangle::{self, Rectangles};
use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, KeyTable};
use crate::normal::quantile;
use crate::parallel::{self, Monitor};
use crate::random::Streams;

/// Model that gives a record its probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The rectangle of its categories (equation 18).
    Rectangle,
    /// The mean over random places of its categories.
    Placement,
}

/// The categories of all rows, key by key. `maps` says, per key, which category
/// every code is, beginning with the code of missing; [`super::UNSEEN`] for none.
pub fn mapped_categories(table: &KeyTable, maps: &[Vec<u32>]) -> Result<Vec<Vec<u32>>> {
    let fits = maps.len() == table.columns().len()
        && table
            .columns()
            .iter()
            .zip(maps)
            .all(|(column, map)| map.len() > column.n_values() as usize);
    if !fits {
        return Err(Error::BadArgument(
            "Every code of every key needs a category.".into(),
        ));
    }
    let columns = table.columns().iter().zip(maps);
    Ok(parallel::map(columns, |(column, map)| {
        with_codes!(column.codes(), |codes| codes
            .iter()
            .map(|code| map[code.index()])
            .collect())
    }))
}

/// Intervals of the latent normal variable for the categories of one key.
#[derive(Debug)]
struct Key {
    shares: Vec<f64>,
    limits: Vec<(f64, f64)>,
}

impl Key {
    /// `places` are those of the categories in the latent order.
    fn new(shares: &[f64], places: &[u32]) -> Self {
        let mut at_place = vec![0; shares.len()];
        for (category, &place) in places.iter().enumerate() {
            at_place[place as usize] = category;
        }
        // Sums from the nearer end, so that thin tails keep their digits.
        let mut below = vec![0.0; shares.len() + 1];
        let mut above = vec![0.0; shares.len() + 1];
        for (place, &category) in at_place.iter().enumerate() {
            below[place + 1] = below[place] + shares[category];
        }
        for (place, &category) in at_place.iter().enumerate().rev() {
            above[place] = above[place + 1] + shares[category];
        }
        let cut = |place: usize| {
            if place == 0 {
                f64::NEG_INFINITY
            } else if place == shares.len() {
                f64::INFINITY
            } else if below[place] <= 0.5 {
                quantile(below[place])
            } else {
                -quantile(above[place].min(1.0))
            }
        };
        Self {
            shares: shares.to_vec(),
            limits: places
                .iter()
                .map(|&place| (cut(place as usize), cut(place as usize + 1)))
                .collect(),
        }
    }
}

/// The probability of every row of `rows`, whose categories are `categories`, key
/// by key. A category of no probability gets `least`.
pub fn model_probabilities(
    model: &Model,
    categories: &[Vec<u32>],
    method: Method,
    least: f64,
    effort: Effort,
    streams: &Streams,
    monitor: &Monitor,
) -> Result<Vec<Estimate>> {
    // Few enough for an interrupt to be noticed, enough to be worth a task.
    const BLOCK: usize = 64;
    let d = model.n_keys();
    let n = categories.first().map_or(0, Vec::len);
    if categories.len() != d || categories.iter().any(|c| c.len() != n) {
        return Err(Error::BadArgument(
            "Records must have a category on every key of the model.".into(),
        ));
    }
    let keys: Vec<Key> = model
        .shares
        .iter()
        .zip(&model.orders)
        .map(|(shares, places)| Key::new(shares, places))
        .collect();
    let machine = Machine::new(model, method, effort, streams)?;
    monitor.set_total(n as u64);
    let blocks: Vec<Vec<Estimate>> =
        parallel::try_map(parallel::blocks(n, BLOCK), monitor, |rows| {
            let mut scratch = (rectangle::Scratch::default(), placement::Scratch::default());
            let mut place = vec![(f64::NEG_INFINITY, f64::INFINITY); d];
            let mut share = vec![1.0; d];
            let n_rows = rows.len() as u64;
            let found = rows
                .map(|row| {
                    let mut outside = 1.0;
                    for (j, key) in keys.iter().enumerate() {
                        let category = categories[j][row] as usize;
                        match key.shares.get(category) {
                            Some(&p) if p > 0.0 => {
                                place[j] = key.limits[category];
                                share[j] = p;
                            }
                            _ => {
                                outside *= least;
                                place[j] = (f64::NEG_INFINITY, f64::INFINITY);
                                share[j] = 1.0;
                            }
                        }
                    }
                    let inside = match &machine {
                        Machine::Rectangles(all) => all.probability(&place, &mut scratch.0),
                        Machine::Placements(all) => all.probability(&share, &mut scratch.1),
                    };
                    Estimate {
                        value: inside.value * outside,
                        error: inside.error * outside,
                    }
                })
                .collect();
            monitor.advance(n_rows);
            Ok(found)
        })?;
    Ok(blocks.into_iter().flatten().collect())
}

enum Machine<'a> {
    Rectangles(Rectangles<'a>),
    Placements(Placements),
}

impl<'a> Machine<'a> {
    fn new(model: &'a Model, method: Method, effort: Effort, streams: &Streams) -> Result<Self> {
        let matrix = &model.correlation;
        Ok(match method {
            Method::Rectangle => Self::Rectangles(Rectangles::new(matrix, effort, streams)?),
            Method::Placement => Self::Placements(Placements::new(matrix, effort, streams)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::UNSEEN;
    use super::*;
    use crate::key_table::{Codes, Column};
    use crate::parallel::with_threads;
    use crate::random::Seed;

    fn model() -> Model {
        Model::new(
            vec![
                vec![0.2, 0.5, 0.3],
                vec![0.6, 0.4],
                vec![0.1, 0.2, 0.3, 0.4],
            ],
            vec![vec![2, 0, 1], vec![0, 1], vec![1, 3, 0, 2]],
            ndarray::array![[1.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 1.0]],
        )
        .unwrap()
    }

    fn streams() -> Streams {
        Streams::new(Seed::from_draws([1; 8]))
    }

    fn all_cells() -> Vec<Vec<u32>> {
        vec![
            (0..24).map(|c| c / 8).collect(),
            (0..24).map(|c| c / 4 % 2).collect(),
            (0..24).map(|c| c % 4).collect(),
        ]
    }

    fn scores(cells: &[Vec<u32>], method: Method, threads: usize) -> Vec<Estimate> {
        let effort = Effort {
            tolerance: 1e-4,
            absolute: 0.0,
            max_blocks: 64,
        };
        scores_with(effort, cells, method, threads)
    }

    fn scores_with(
        effort: Effort,
        cells: &[Vec<u32>],
        method: Method,
        threads: usize,
    ) -> Vec<Estimate> {
        with_threads(threads, || {
            model_probabilities(
                &model(),
                cells,
                method,
                0.01,
                effort,
                &streams(),
                &Monitor::new(),
            )
        })
        .unwrap()
    }

    #[test]
    fn rectangles_of_all_cells_add_up_to_one_and_to_the_margins() {
        let cells = all_cells();
        let effort = Effort {
            tolerance: 1e-7,
            absolute: 0.0,
            max_blocks: 256,
        };
        let found = scores_with(effort, &cells, Method::Rectangle, 2);
        let total: f64 = found.iter().map(|e| e.value).sum();
        assert!((total - 1.0).abs() < 2e-6, "{total}");
        for category in 0..4u32 {
            let sum: f64 = found
                .iter()
                .zip(&cells[2])
                .filter(|(_, &c)| c == category)
                .map(|(e, _)| e.value)
                .sum();
            assert!((sum - model().shares[2][category as usize]).abs() < 1e-5);
        }
    }

    #[test]
    fn scores_do_not_depend_on_threads_or_company() {
        let cells: Vec<Vec<u32>> = all_cells()
            .into_iter()
            .map(|column| column.repeat(9))
            .collect();
        for method in [Method::Rectangle, Method::Placement] {
            let two = scores(&cells, method, 2);
            assert_eq!(two, scores(&cells, method, 1));
            assert_eq!(two[..24], two[48..72]);
        }
    }

    #[test]
    fn an_unseen_category_stands_alone() {
        let cells = vec![vec![UNSEEN], vec![1], vec![2]];
        let rest = scores(
            &[vec![0, 1, 2], vec![1; 3], vec![2; 3]],
            Method::Rectangle,
            1,
        );
        let rest: f64 = rest.iter().map(|e| e.value).sum();
        let found = scores(&cells, Method::Rectangle, 1)[0].value;
        assert!((found / (0.01 * rest) - 1.0).abs() < 1e-3);
        assert_eq!(cells[0][0], UNSEEN);
    }

    #[test]
    fn codes_become_categories_by_their_maps() {
        let column = Column::new(Codes::pack(3, [1, 0, 3, 2].into_iter()), 3).unwrap();
        let table = KeyTable::new(vec![column]).unwrap();
        let found = mapped_categories(&table, &[vec![2, 0, 1, UNSEEN]]).unwrap();
        assert_eq!(found, vec![vec![0, 2, UNSEEN, 1]]);
        assert!(mapped_categories(&table, &[vec![2, 0, 1]]).is_err());
        assert!(mapped_categories(&table, &[]).is_err());
    }
}
