//! Relations of cells that are pieces of a line: intervals, and the single
//! values of sets that are matched against intervals.

use super::compatibility::{build, Relation, Rule, MAX_PAIRS};
use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Cells as pieces of a line, each from its lower to its upper end, both
/// included. A cell is one interval, or several values, which are pieces without
/// length, in the order in which they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    ends: Vec<(f64, f64)>,
    /// Start of the pieces of each cell; one entry more.
    starts: Vec<usize>,
}

impl Pieces {
    /// Cell `i` consists of the next `sizes[i]` of the pieces.
    pub fn new(ends: Vec<(f64, f64)>, sizes: &[usize]) -> Result<Self> {
        let backwards = |&(low, high): &(f64, f64)| low > high || low.is_nan() || high.is_nan();
        if ends.iter().any(backwards) {
            return Err(Error::bad_column(
                "The lower end of an interval must not exceed its upper end.",
            ));
        }
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        starts.push(0);
        let mut upto = 0;
        starts.extend(sizes.iter().map(|size| {
            upto += size;
            upto
        }));
        if sizes.contains(&0) || upto != ends.len() {
            return Err(Error::bad_column(
                "Every cell must consist of pieces of its own.",
            ));
        }
        Ok(Self { ends, starts })
    }

    /// One interval per cell.
    pub fn intervals(ends: Vec<(f64, f64)>) -> Result<Self> {
        let sizes = vec![1; ends.len()];
        Self::new(ends, &sizes)
    }

    fn n_cells(&self) -> usize {
        self.starts.len() - 1
    }

    /// The pieces of a cell that a target is compared by.
    fn compared(&self, cell: usize, rule: Rule) -> &[(f64, f64)] {
        let pieces = &self.ends[self.starts[cell]..self.starts[cell + 1]];
        match rule {
            Rule::First => &pieces[..1],
            Rule::Overlap | Rule::Mean => pieces,
        }
    }
}

/// A piece as the values of it that count: its lower end where the first value
/// is sought.
fn sought((low, high): (f64, f64), rule: Rule) -> (f64, f64) {
    match rule {
        Rule::First => (low, low),
        Rule::Overlap | Rule::Mean => (low, high),
    }
}

/// The number of values from `low` to `high`: of an interval with whole ends the
/// whole numbers in it, of a piece without length its one value.
fn n_values(low: f64, high: f64) -> u64 {
    if low < high {
        (high - low) as u64 + 1
    } else {
        1
    }
}

/// Number of values of `target` in `other`, which it meets.
fn n_shared(target: (f64, f64), other: (f64, f64)) -> u64 {
    let (low, high) = (target.0.max(other.0), target.1.min(other.1));
    // A single value counts for an interval where it is one of its whole numbers.
    let counts = low < high || target.0 >= target.1 || is_whole(low);
    if counts {
        n_values(low, high)
    } else {
        0
    }
}

fn is_whole(x: f64) -> bool {
    x.is_finite() && x.abs() < 9e15 && (x - x.round()).abs() <= 0.0
}

impl Relation {
    /// Cells are compatible where pieces of theirs meet. The first value of an
    /// interval is its lower end; [`Rule::Mean`] takes an interval for the whole
    /// numbers in it.
    pub fn of_pieces(pieces: &Pieces, rule: Rule, monitor: &Monitor) -> Result<Self> {
        let mean = rule == Rule::Mean;
        let fits = |&(low, high): &(f64, f64)| low >= high || is_whole(low) && is_whole(high);
        if mean && !pieces.ends.iter().all(fits) {
            return Err(Error::BadArgument(
                "The mean over the values of intervals needs whole numbers as their ends.".into(),
            ));
        }
        check_pairs(pieces, rule)?;
        let tree = Tree::new(pieces);
        let sizes = (0..pieces.n_cells()).map(|cell| {
            let values = pieces.compared(cell, rule).iter();
            let n = |&(low, high): &(f64, f64)| if mean { n_values(low, high) } else { 1 };
            values.map(n).sum()
        });
        build(sizes, rule, monitor, |cell, found| {
            for &piece in pieces.compared(cell, rule) {
                let target = sought(piece, rule);
                tree.meet(target, |other, ends| {
                    let shared = if mean { n_shared(target, ends) } else { 1 };
                    if shared > 0 {
                        found.add(other, shared);
                    }
                });
            }
        })
    }
}

/// Refuses intervals with too many compatible pairs before any pair is looked
/// at: their number follows from the sorted ends.
fn check_pairs(pieces: &Pieces, rule: Rule) -> Result<()> {
    if pieces.ends.len() > pieces.n_cells() {
        // Cells of several values are counted as they are found.
        return Ok(());
    }
    let sorted = |end: fn(&(f64, f64)) -> f64| {
        let mut ends: Vec<f64> = pieces.ends.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lows, highs) = (sorted(|e| e.0), sorted(|e| e.1));
    let n_pairs: usize = (pieces.ends.iter())
        .map(|&piece| {
            let (low, high) = sought(piece, rule);
            let begun = lows.partition_point(|&other| other <= high);
            begun - highs.partition_point(|&other| other < low)
        })
        .sum();
    if n_pairs > MAX_PAIRS {
        return Err(super::compatibility::too_many_pairs());
    }
    Ok(())
}

/// Pieces by their lower ends, with the highest upper end of every half, quarter
/// and so on of them: those that meet a given piece are found without looking at
/// the others.
struct Tree<'a> {
    pieces: &'a Pieces,
    /// By lower end, the pieces and their cells.
    order: Vec<(u32, u32)>,
    lows: Vec<f64>,
    /// Node 1 is all of them, nodes `2 i` and `2 i + 1` the halves of node `i`.
    highest: Vec<f64>,
    n_leaves: usize,
}

impl<'a> Tree<'a> {
    fn new(pieces: &'a Pieces) -> Self {
        let cells = 0..pieces.n_cells();
        let mut order: Vec<(u32, u32)> = cells
            .flat_map(|cell| {
                let own = pieces.starts[cell]..pieces.starts[cell + 1];
                own.map(move |piece| (piece as u32, cell as u32))
            })
            .collect();
        let low = |&(piece, _): &(u32, u32)| pieces.ends[piece as usize].0;
        order.sort_by(|a, b| low(a).total_cmp(&low(b)));
        let lows = order.iter().map(low).collect();
        let n_leaves = order.len().next_power_of_two();
        let mut highest = vec![f64::NEG_INFINITY; 2 * n_leaves];
        for (leaf, &(piece, _)) in highest[n_leaves..].iter_mut().zip(&order) {
            *leaf = pieces.ends[piece as usize].1;
        }
        for node in (1..n_leaves).rev() {
            highest[node] = highest[2 * node].max(highest[2 * node + 1]);
        }
        Self {
            pieces,
            order,
            lows,
            highest,
            n_leaves,
        }
    }

    /// Visits the cells of all pieces that have a point in common with `target`,
    /// and the ends of the piece.
    fn meet(&self, target: (f64, f64), mut visit: impl FnMut(usize, (f64, f64))) {
        let begun = self.lows.partition_point(|&low| low <= target.1);
        let mut nodes = vec![(1, 0, self.n_leaves)];
        while let Some((node, first, size)) = nodes.pop() {
            if first >= begun || self.highest[node] < target.0 {
                continue;
            }
            if size == 1 {
                let (piece, cell) = self.order[first];
                visit(cell as usize, self.pieces.ends[piece as usize]);
                continue;
            }
            let half = size / 2;
            nodes.push((2 * node + 1, first + half, half));
            nodes.push((2 * node, first, half));
        }
    }
}
