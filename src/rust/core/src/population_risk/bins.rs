//! Classes in bins of their probability, sampling fraction and frequency.
//!
//! The law is smooth in all three, so that it is evaluated at nodes; a class is spread
//! over the nodes around it, by linear weights, and has what these have. The weights are
//! multiples of a power of two: their sums do not depend on the order of the records.

use super::classes::Classes;

/// Nodes per unit of `ln(N p)`.
const PER_UNIT: f64 = 8.0;
/// Nodes per unit of the logarithm of the sampling fraction.
const PER_UNIT_OF_FRACTION: f64 = 4.0;
/// The largest size of `ln(N p)`.
const MOST: f64 = 25.0;
/// The lowest place on its axis.
const LOWEST: i32 = (-MOST * PER_UNIT) as i32;
/// No node, or no cell.
const NONE: u32 = u32::MAX;
/// Frequencies that are nodes each; from here on nodes are 15 % apart.
const EXACT: f64 = 24.0;

/// Nodes at which the law is evaluated, for classes of any frequency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Logarithm of the people of the population that the key is expected to have.
    pub y: f64,
    /// The share of the other people with the key that the file holds.
    pub fraction: f64,
}

/// A node at one frequency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub node: usize,
    /// Place of the frequency among [`Bins::frequencies`].
    pub at: usize,
    /// Number of classes.
    pub classes: f64,
    /// Number that are judged by their keys.
    pub judged: f64,
}

/// Numbers at a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// Records that share their key with no other.
    pub unique: f64,
    /// People outside the file.
    pub outside: f64,
    /// Those of them who share their key with no member of their household.
    pub outside_alone: f64,
}

/// All classes in bins.
pub(super) struct Bins {
    pub nodes: Vec<Node>,
    pub loads: Vec<Load>,
    pub cells: Vec<Cell>,
    pub frequencies: Vec<f64>,
    /// Cells by node and frequency, and nodes by their places on both axes, [`NONE`] where there
    /// are no classes.
    place: Vec<u32>,
    node_of: Vec<u32>,
    /// Lowest place on the axis of the fraction, and the number of places.
    fractions: (i32, usize),
    /// Per class the place on the axis of `ln(N p)`, and of the fraction.
    y: Vec<f64>,
    fraction: Option<Vec<f64>>,
    /// Records of all classes, alike in a household counted once.
    pub n_records: f64,
}

/// Two neighbours on an axis and the weight of the second.
fn between(x: f64, steps: f64) -> (i32, f64) {
    let low = x.floor();
    (low as i32, ((x - low) * steps).round() / steps)
}

fn frequencies(largest: f64) -> Vec<f64> {
    let mut nodes = vec![1.0];
    let mut f: f64 = 1.0;
    while f < largest {
        f = if f < EXACT {
            f + 1.0
        } else {
            (1.15 * f).ceil()
        };
        nodes.push(f);
    }
    nodes
}

impl Bins {
    /// All classes where the law is fitted to them; otherwise those that are judged.
    pub fn new(classes: &Classes, ln_p: &[f64], fitted: bool) -> Self {
        let held = |class: &usize| fitted || classes.judged[*class] > 0.0;
        let overall = classes.fraction.first().copied().unwrap_or(1.0);
        let varies = classes
            .fraction
            .iter()
            .any(|&f| (f / overall - 1.0).abs() > 1e-9);
        let people = |class: usize| classes.n_records / classes.fraction[class];
        let y = (0..classes.len())
            .map(|class| (ln_p[class] + people(class).ln()).clamp(-MOST, MOST) * PER_UNIT)
            .collect();
        let of_fraction = |class: usize| classes.fraction[class].ln() * PER_UNIT_OF_FRACTION;
        let fraction: Option<Vec<f64>> =
            varies.then(|| (0..classes.len()).map(of_fraction).collect());
        let places = || fraction.iter().flatten().map(|x| x.floor() as i32);
        let lowest = places().min().unwrap_or(0);
        let n_fractions = (places().max().unwrap_or(0) - lowest) as usize + 2;
        let mut bins = Self {
            nodes: Vec::new(),
            loads: Vec::new(),
            cells: Vec::new(),
            frequencies: frequencies(classes.counts.iter().fold(1.0, |a, &b| a.max(b))),
            place: Vec::new(),
            node_of: vec![NONE; (2 - 2 * LOWEST) as usize * n_fractions],
            fractions: (lowest, n_fractions),
            y,
            fraction,
            n_records: classes.n_records,
        };
        for class in (0..classes.len()).filter(held) {
            for (at, _) in bins.nodes_of(class) {
                bins.node_of[at] = 0;
            }
        }
        let n = classes.n_records;
        let used = bins.node_of.iter_mut().enumerate();
        for (number, (at, id)) in used.filter(|(_, id)| **id != NONE).enumerate() {
            *id = number as u32;
            let k = LOWEST + (at / n_fractions) as i32;
            let w = lowest + (at % n_fractions) as i32;
            let fraction = if varies {
                (f64::from(w) / PER_UNIT_OF_FRACTION).exp()
            } else {
                overall
            };
            let others = (n / fraction - 1.0).max(f64::MIN_POSITIVE);
            let fraction = if fraction < 1.0 {
                (n - 1.0) / others
            } else {
                1.0
            };
            bins.nodes.push(Node {
                y: f64::from(k) / PER_UNIT,
                fraction,
            });
        }
        bins.loads = vec![Load::default(); bins.nodes.len()];
        bins.place = vec![NONE; bins.nodes.len() * bins.frequencies.len()];
        bins.fill(classes, held);
        bins
    }

    fn fill(&mut self, classes: &Classes, held: impl Fn(&usize) -> bool) {
        for class in (0..classes.len()).filter(held) {
            let (at, second) = self.frequency_of(classes.counts[class]);
            for (node, share) in self
                .nodes_of(class)
                .map(|(at, share)| (self.node_of[at], share))
            {
                let load = &mut self.loads[node as usize];
                load.outside += share * classes.outside[class];
                load.outside_alone += share * classes.outside_alone[class];
                if classes.members[class] < 1.5 {
                    load.unique += share * classes.judged[class];
                }
                for (at, part) in [(at, 1.0 - second), (at + 1, second)] {
                    if part > 0.0 {
                        let place = self.place_of(node, at);
                        if self.place[place] == NONE {
                            self.place[place] = self.cells.len() as u32;
                            self.cells.push(Cell {
                                node: node as usize,
                                at,
                                classes: 0.0,
                                judged: 0.0,
                            });
                        }
                        let cell = &mut self.cells[self.place[place] as usize];
                        cell.classes += share * part;
                        cell.judged += share * part * classes.judged[class];
                    }
                }
            }
        }
        // One order, whatever that of the classes.
        let mut cells = Vec::with_capacity(self.cells.len());
        for cell in self.place.iter_mut().filter(|cell| **cell != NONE) {
            cells.push(self.cells[*cell as usize]);
            *cell = cells.len() as u32 - 1;
        }
        self.cells = cells;
    }

    /// `true` if all records were drawn with equal chances.
    pub fn equal_chances(&self) -> bool {
        self.fraction.is_none()
    }

    fn place_of(&self, node: u32, at: usize) -> usize {
        node as usize * self.frequencies.len() + at
    }

    /// The nodes around a class, by their places, with their weights.
    fn nodes_of(&self, class: usize) -> impl Iterator<Item = (usize, f64)> {
        let (k, high) = between(self.y[class], 4096.0);
        let (w, low) = match &self.fraction {
            Some(fraction) => between(fraction[class], 1024.0),
            None => (0, 0.0),
        };
        let (lowest, n_fractions) = self.fractions;
        let at = (k - LOWEST) as usize * n_fractions + (w - lowest) as usize;
        let all = [
            (at, (1.0 - high) * (1.0 - low)),
            (at + n_fractions, high * (1.0 - low)),
            (at + 1, (1.0 - high) * low),
            (at + n_fractions + 1, high * low),
        ];
        all.into_iter().filter(|&(_, share)| share > 0.0)
    }

    /// `true` if a class of `f` records is judged by frequencies above `most`, too.
    pub fn beyond(&self, f: f64, most: f64) -> bool {
        let (at, second) = self.frequency_of(f);
        self.frequencies[at + usize::from(second > 0.0)] > most
    }

    /// The frequency's place and the weight of the next one.
    fn frequency_of(&self, f: f64) -> (usize, f64) {
        let above = self.frequencies.partition_point(|&node| node < f);
        let high = self.frequencies[above];
        if above == 0 || high <= f {
            return (above, 0.0);
        }
        let low = self.frequencies[above - 1];
        (
            above - 1,
            ((f - low) / (high - low) * 1024.0).round() / 1024.0,
        )
    }

    /// Value of a class from those of its cells.
    pub fn of_class(&self, class: usize, f: f64, of_cells: &[f64]) -> f64 {
        let (at, second) = self.frequency_of(f);
        self.nodes_of(class)
            .map(|(place, share)| {
                let node = self.node_of[place];
                let cell = |at: usize| of_cells[self.place[self.place_of(node, at)] as usize];
                let high = if second > 0.0 {
                    second * cell(at + 1)
                } else {
                    0.0
                };
                share
                    * ((if second < 1.0 {
                        (1.0 - second) * cell(at)
                    } else {
                        0.0
                    }) + high)
            })
            .sum()
    }

    /// Value of a class from those of its nodes.
    pub fn of_node(&self, class: usize, of_nodes: &[f64]) -> f64 {
        self.nodes_of(class)
            .map(|(place, share)| share * of_nodes[self.node_of[place] as usize])
            .sum()
    }
}
