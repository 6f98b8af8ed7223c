//! The expected correct matches of the calibrated intruder, and nothing besides.
//!
//! A released record is matched rightly where no known record outweighs its partner; the
//! records that weigh as much share the chance. So the partner's weight is a threshold
//! that is known from the start, and records without a partner need no search. The tree
//! of the sorted known rows is searched for rows that reach the threshold. A node is left
//! out where the weight of its keys so far, with the largest weights that the query can
//! get for the keys to come, stays below. The first row above the threshold ends the
//! search; rows that equal it are counted. Of released records that are alike, only those
//! whose partner weighs most can be matched rightly: one search serves them all.
//!
//! Weights are multiples of 2^-40 and sums of them exact, in whatever order the keys come:
//! the ties, and so the result, are those of the engines to the last bit.
//!
//! Cost: a record that has hardly changed sees a node or two at each key. The fewer keys
//! its partner agrees on, the more nodes reach the threshold; from some number of nodes
//! on, all rows are compared one by one. A trial estimates the nodes. Where they are
//! many, the engines are prepared, and taken where they have less to do.

use std::collections::BTreeMap;

use super::choose::{Engine, Prepared};
use super::patterns::Patterns;
use super::reliability::{count_links, Margins, Reliability};
use super::score::sum_of_shares;
use super::weights::{KeyWeights, Touched, Weights};
use super::Files;
use crate::error::Result;
use crate::linkage::{self, Node, Tree};
use crate::memory::filled;
use crate::parallel::{self, Monitor};

/// Nanoseconds of one processor for a visit to a node, and for one key of a row that is
/// compared by itself: measured once.
const NS_PER_VISIT: f64 = 100.0;
const NS_PER_KEY: f64 = 3.0;
/// Price of preparing the engines, for every key of a distinct row.
const NS_TO_PREPARE: f64 = 100.0;
/// Queries on which the search is tried.
const TRIALS: usize = 256;
/// Queries per block of parallel work.
const BLOCK: usize = 256;

/// The expected correct matches of the intruder who knows how often each key agrees, by
/// value; `None` where they take more than `max_work` nanoseconds of one processor.
pub fn expected_correct(files: &Files, max_work: f64, monitor: &Monitor) -> Result<Option<f64>> {
    let weights = calibrated(files, monitor)?;
    let keys: Vec<usize> = (0..files.n_keys()).collect();
    let own = files.weights_of_partners(&weights, &keys)?;
    let patterns = linkage::Patterns::new(&files.waves()?, &keys, monitor)?;
    let linked = Linked::new(&patterns, &weights, &own, monitor)?;
    let work = linked.work(monitor)?;
    let n_rows = patterns.n_rows() + patterns.n_queries();
    if work > NS_TO_PREPARE * (n_rows * keys.len()) as f64 {
        let prepared = Prepared::new(Patterns::new(files, &keys, monitor)?, monitor)?;
        let plan = prepared.plan(&weights, Engine::Choose);
        if plan.work < work {
            return match plan.work <= max_work {
                true => prepared.expected(&weights, &plan, &own, monitor).map(Some),
                false => Ok(None),
            };
        }
    }
    match work <= max_work {
        true => linked.expected(monitor).map(Some),
        false => Ok(None),
    }
}

/// The weights of the calibrated intruder, by value.
fn calibrated(files: &Files, monitor: &Monitor) -> Result<Weights> {
    let levels = files.levels(true);
    let links = count_links(files, &levels, monitor)?;
    let columns = files.known.columns().iter().zip(files.released.columns());
    let keys = columns.zip(levels.iter().zip(&links));
    Weights::new(parallel::map(
        keys,
        |((known, released), (levels, links))| {
            let margins = Margins::new(known, released);
            Reliability::from_links(&margins, levels, links).weights(&margins, levels, true, true)
        },
    ))
}

/// Released records that are alike and have partners of one weight.
#[derive(Debug, Clone, Copy)]
struct Asked {
    query: u32,
    /// The weight of their partners: no record of the query has a partner that weighs more.
    weight: f64,
    n_records: u64,
}

/// The queries that have partners, and the tree that they are looked for in.
pub(super) struct Linked<'a> {
    patterns: &'a linkage::Patterns<'a>,
    /// Per column of the patterns.
    keys: Vec<&'a KeyWeights>,
    tree: Tree,
    asked: Vec<Asked>,
    /// The most visits of one query: then rows are compared one by one.
    pub(super) limit: u64,
}

impl<'a> Linked<'a> {
    pub(super) fn new(
        patterns: &'a linkage::Patterns<'a>,
        weights: &'a Weights,
        own: &[f64],
        monitor: &Monitor,
    ) -> Result<Self> {
        let mut most = filled((f64::NEG_INFINITY, 0u64), patterns.n_queries())?;
        // Weights without a partner are not numbers, and equal nothing.
        for (&query, &own) in patterns.query_of_row().iter().zip(own) {
            let (weight, n) = &mut most[query as usize];
            if own > *weight {
                (*weight, *n) = (own, 1);
            } else if own >= *weight {
                *n += 1;
            }
        }
        let all = (0u32..)
            .zip(most)
            .map(|(query, (weight, n_records))| Asked {
                query,
                weight,
                n_records,
            });
        let row_by_row = (patterns.n_rows() * patterns.n_keys()) as f64 * NS_PER_KEY;
        Ok(Self {
            patterns,
            keys: (patterns.order().iter())
                .map(|&v| &weights.keys()[v])
                .collect(),
            tree: Tree::new(patterns.rows(), monitor)?,
            asked: all.filter(|asked| asked.n_records > 0).collect(),
            limit: (row_by_row / NS_PER_VISIT) as u64,
        })
    }

    /// Nanoseconds of one processor that the search takes, by a trial.
    fn work(&self, monitor: &Monitor) -> Result<f64> {
        let n = self.asked.len();
        let n_trials = TRIALS.min(n);
        let visits = parallel::try_map(0..n_trials, monitor, |t| {
            let mut search = Search::new(self);
            search.ties(&self.asked[t * n / n_trials]);
            Ok(search.visits)
        })?;
        let mean = visits.iter().sum::<u64>() as f64 / n_trials.max(1) as f64;
        Ok(mean * n as f64 * NS_PER_VISIT)
    }

    /// The expected correct matches.
    pub(super) fn expected(&self, monitor: &Monitor) -> Result<f64> {
        monitor.set_total(self.asked.len() as u64);
        let ties = parallel::try_map(self.asked.chunks(BLOCK), monitor, |asked| {
            let mut search = Search::new(self);
            let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
            for asked in asked {
                if let Some(n) = search.ties(asked) {
                    *ties.entry(n).or_default() += asked.n_records;
                }
            }
            monitor.advance(asked.len() as u64);
            Ok(ties)
        })?;
        let mut all: BTreeMap<u64, u64> = BTreeMap::new();
        for (n, n_records) in ties.into_iter().flatten() {
            *all.entry(n).or_default() += n_records;
        }
        Ok(sum_of_shares(&all))
    }
}

/// One key as a query sees it.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    /// Known values that do not weigh as the others; none where the query misses the key.
    touched: &'a [Touched],
    /// The weight of the other observed values.
    other: f64,
    /// The largest weight of this key and those after it.
    most: f64,
}

impl<'a> Seen<'a> {
    /// The touched range that holds an observed code.
    fn range(&self, code: u32) -> Option<&'a Touched> {
        let after = self.touched.partition_point(|t| t.first <= code);
        let range = self.touched.get(after.wrapping_sub(1))?;
        (range.last >= code).then_some(range)
    }

    fn weight(&self, code: u32) -> f64 {
        if code == 0 {
            return 0.0;
        }
        self.range(code).map_or(self.other, |range| range.weight)
    }
}

/// The search for one query after the other.
struct Search<'a> {
    linked: &'a Linked<'a>,
    /// Per key, and one more behind the last.
    seen: Vec<Seen<'a>>,
    /// The weight that is to be reached.
    threshold: f64,
    /// True if a row weighs more.
    is_outweighed: bool,
    /// Records of the rows that weigh as much.
    n: u64,
    visits: u64,
    /// The visits at which rows are compared one by one.
    most_visits: u64,
}

impl<'a> Search<'a> {
    fn new(linked: &'a Linked<'a>) -> Self {
        const END: Seen = Seen {
            touched: &[],
            other: 0.0,
            most: 0.0,
        };
        Self {
            linked,
            seen: vec![END; linked.keys.len() + 1],
            threshold: 0.0,
            is_outweighed: false,
            n: 0,
            visits: 0,
            most_visits: 0,
        }
    }

    /// Number of known records that weigh as much as the partner; `None` if one weighs more.
    fn ties(&mut self, asked: &Asked) -> Option<u64> {
        let linked = self.linked;
        let columns = linked.patterns.queries().columns();
        for v in (0..linked.keys.len()).rev() {
            let key = linked.keys[v];
            let after = self.seen[v + 1].most;
            self.seen[v] = match columns[v].codes().get(asked.query as usize) {
                0 => Seen {
                    touched: &[],
                    other: 0.0,
                    most: after,
                },
                code => {
                    let touched = key.of(code);
                    let weights = touched.iter().map(|t| t.weight);
                    // A missing value of a known row weighs 0.
                    let most = weights.fold(key.differ.max(0.0), f64::max);
                    Seen {
                        touched,
                        other: key.differ,
                        most: after + most,
                    }
                }
            };
        }
        self.threshold = asked.weight;
        self.is_outweighed = false;
        self.n = 0;
        self.most_visits = self.visits + linked.limit;
        self.visit(linked.tree.root(), 0.0);
        if self.visits > self.most_visits {
            // As long again.
            self.visits = self.most_visits + linked.limit;
            self.n = 0;
            for row in 0..linked.patterns.n_rows() {
                if !self.is_outweighed {
                    self.compare(0, row, 0.0);
                }
            }
        }
        (!self.is_outweighed).then_some(self.n)
    }

    /// Searches the rows of a node, whose keys so far weigh `sum`.
    fn visit(&mut self, node: Node, sum: f64) {
        self.visits += 1;
        if self.is_outweighed || self.visits > self.most_visits {
            return;
        }
        let tree = &self.linked.tree;
        let (codes, child) = tree.children(node);
        if codes.is_empty() {
            for row in tree.rows(node) {
                self.compare(node.depth, row, sum);
            }
            return;
        }
        let (key, after) = (self.seen[node.depth], self.seen[node.depth + 1].most);
        let threshold = self.threshold;
        let reaches = |weight: f64| sum + weight + after >= threshold;
        // Agreeing ranges come first: a row that outweighs the partner is likely there.
        for range in key.touched.iter().filter(|range| reaches(range.weight)) {
            let start = codes.partition_point(|&code| code < range.first);
            let within = codes[start..]
                .iter()
                .take_while(|&&code| code <= range.last);
            for place in start..start + within.count() {
                self.visit(child.next(place), sum + range.weight);
            }
        }
        if codes[0] == 0 && reaches(0.0) {
            self.visit(child, sum);
        }
        if reaches(key.other) {
            for (place, &code) in codes.iter().enumerate() {
                if code != 0 && key.range(code).is_none() {
                    self.visit(child.next(place), sum + key.other);
                }
            }
        }
    }

    /// Counts one row, whose keys before `depth` weigh `sum`, where it reaches the
    /// threshold.
    fn compare(&mut self, depth: usize, row: usize, mut sum: f64) {
        let codes = self.linked.tree.codes_from(depth, row);
        for (v, &code) in (depth..).zip(codes) {
            sum += self.seen[v].weight(code);
            if sum + self.seen[v + 1].most < self.threshold {
                return;
            }
        }
        if sum > self.threshold {
            self.is_outweighed = true;
        } else {
            self.n += self.linked.patterns.counts()[row];
        }
    }
}
