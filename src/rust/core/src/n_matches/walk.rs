//! The walk that finds, for every target pattern, the compatible patterns.
//!
//! Targets are taken in sorted order. Column by column the walk keeps what of
//! the file is compatible with the target so far: nodes of the arranged file's
//! tree, and ranges of patterns where it ends. Targets with a common beginning
//! share this work; what is left is done target by target, with the bitmaps.

use super::arrangement::{any, both, Arrangement, Bits, Node, BLOCK};
use super::search::{Search, Sink};
use crate::error::Result;
use crate::parallel::{self, Monitor};

/// Columns whose bitmaps are joined before the first look at the result.
const AT_ONCE: usize = 4;
/// Parts that the targets of an arrangement are cut into, for each thread.
const PARTS_PER_THREAD: usize = 32;

/// One result of a sink per target.
pub(super) fn run<S: Sink>(
    search: &Search<'_>,
    sink: impl Fn(&Arrangement) -> S,
    monitor: &Monitor,
) -> Result<Vec<S::Amount>> {
    monitor.set_total(monitor.progress().0 + search.targets.len() as u64);
    let mut results = vec![S::Amount::default(); search.targets.len()];
    let mut whole = Some(search.arrange(&[], monitor)?);
    let groups = search.groups(whole.as_ref().map_or(0, Arrangement::depth_of_tree));
    for (missing, targets) in groups {
        let arranged = match whole.take() {
            Some(arranged) if missing.is_empty() => arranged,
            _ => search.arrange(&missing, monitor)?,
        };
        let sink = sink(&arranged);
        let parts = PARTS_PER_THREAD * rayon::current_num_threads();
        let blocks = targets.chunks(targets.len().div_ceil(parts));
        let begin = || Walk::new(search, &arranged, sink.clone());
        let found = parallel::try_map_with(blocks, monitor, begin, |walk, targets| {
            let found = targets.iter().map(|&x| {
                monitor.check()?;
                Ok(walk.target(x as usize))
            });
            let found = found.collect::<Result<Vec<S::Amount>>>()?;
            monitor.advance(targets.len() as u64);
            Ok(found)
        })?;
        for (&x, result) in targets.iter().zip(found.into_iter().flatten()) {
            results[x as usize] = result;
        }
    }
    Ok(results)
}

/// The bits from each place of a block on.
static FROM: [Bits; BLOCK] = edges(true);
/// The bits up to each place, which included.
static TO: [Bits; BLOCK] = edges(false);

const fn edges(from: bool) -> [Bits; BLOCK] {
    let mut edges = [[0; BLOCK / 64]; BLOCK];
    let mut place = 0;
    while place < BLOCK {
        let mut bit = if from { place } else { 0 };
        while bit < if from { BLOCK } else { place + 1 } {
            edges[place][bit / 64] |= 1 << (bit % 64);
            bit += 1;
        }
        place += 1;
    }
    edges
}

/// Patterns that are compatible in the columns before `column`.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    column: usize,
}

/// Part of the file that is compatible with a beginning.
#[derive(Debug, Default, Clone)]
struct Level {
    nodes: Vec<Node>,
    pieces: Vec<Piece>,
}

impl Level {
    /// Adds a node of patterns that agree on the columns before `column`.
    fn push(&mut self, node: &Node, column: usize) {
        if !node.is_leaf() {
            self.nodes.push(*node);
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if last.end == node.start && last.column == column => last.end = node.end,
            _ => self.pieces.push(Piece {
                start: node.start,
                end: node.end,
                column,
            }),
        }
    }
}

struct Walk<'a, S> {
    search: &'a Search<'a>,
    arranged: &'a Arrangement,
    sink: S,
    /// The target before.
    before: Option<usize>,
    /// Patterns compatible with its first columns, by their number, up to `known`.
    levels: Vec<Level>,
    known: usize,
    /// The bitmaps of the target's codes, and how many of them come before each
    /// column.
    maps: Vec<usize>,
    maps_before: Vec<usize>,
}

impl<'a, S: Sink> Walk<'a, S> {
    fn new(search: &'a Search<'a>, arranged: &'a Arrangement, sink: S) -> Self {
        let mut levels = vec![Level::default(); arranged.depths.len() + 1];
        levels[0].push(arranged.root(), 0);
        Self {
            search,
            arranged,
            sink,
            before: None,
            levels,
            known: 0,
            maps: Vec::new(),
            maps_before: Vec::new(),
        }
    }

    fn target(&mut self, x: usize) -> S::Amount {
        let (targets, arranged) = (self.search.targets, self.arranged);
        if let Some(before) = self.before.replace(x) {
            let depths = arranged.depths[..self.known].iter();
            self.known = depths
                .take_while(|&&d| targets.code(before, d) == targets.code(x, d))
                .count();
        }
        while !self.levels[self.known].nodes.is_empty() {
            self.step(targets.code(x, arranged.depths[self.known]));
        }
        self.maps.clear();
        self.maps_before.clear();
        for (column, &d) in arranged.depths.iter().enumerate() {
            self.maps_before.push(self.maps.len());
            self.maps.extend(arranged.map(column, targets.code(x, d)));
        }
        self.maps_before.push(self.maps.len());
        let target = Target {
            search: self.search,
            arranged,
            x,
            is_checked: self.search.min_overlap > 0 || !arranged.unmapped.is_empty(),
        };
        for piece in &self.levels[self.known].pieces {
            let maps = &self.maps[self.maps_before[piece.column]..];
            match maps.len() {
                0 => target.scan::<0, S>(piece, maps, &mut self.sink),
                1 => target.scan::<1, S>(piece, maps, &mut self.sink),
                2 => target.scan::<2, S>(piece, maps, &mut self.sink),
                3 => target.scan::<3, S>(piece, maps, &mut self.sink),
                _ => target.scan::<AT_ONCE, S>(piece, maps, &mut self.sink),
            }
        }
        self.sink.close(x)
    }

    /// Restricts to patterns compatible with `code` in the next column.
    fn step(&mut self, code: u32) {
        let (above, below) = self.levels.split_at_mut(self.known + 1);
        let (level, below) = (&above[self.known], &mut below[0]);
        let depth = self.arranged.depths[self.known];
        self.known += 1;
        below.nodes.clear();
        below.pieces.clone_from(&level.pieces);
        for node in &level.nodes {
            let children = self.arranged.children(node);
            let (missing, known) = match children.split_first() {
                Some((missing, known)) if missing.code == 0 && code != 0 => (Some(missing), known),
                _ => (None, children),
            };
            if let Some(missing) = missing {
                below.push(missing, self.known);
            }
            if code == 0 {
                known.iter().for_each(|child| below.push(child, self.known));
                continue;
            }
            self.search.relations[depth].each_compatible(
                code,
                known.len(),
                |i| known[i].code,
                |i| below.push(&known[i], self.known),
            );
        }
    }
}

/// The target at hand.
struct Target<'a> {
    search: &'a Search<'a>,
    arranged: &'a Arrangement,
    x: usize,
    /// True if bitmaps do not tell all.
    is_checked: bool,
}

impl Target<'_> {
    /// Joins bitmaps over a piece: the first `N` without a look in between,
    /// which costs more than it saves.
    fn scan<const N: usize, S: Sink>(&self, piece: &Piece, maps: &[usize], sink: &mut S) {
        let mut first = [0; N];
        first.copy_from_slice(&maps[..N]);
        let (start, last) = (piece.start as usize, piece.end as usize - 1);
        let blocks = start / BLOCK..=last / BLOCK;
        for block in blocks.clone() {
            let bitmaps = self.arranged.block(block);
            // Without branches: pieces begin and end anywhere.
            let from = if block == *blocks.start() {
                start % BLOCK
            } else {
                0
            };
            let to = if block == *blocks.end() {
                last % BLOCK
            } else {
                BLOCK - 1
            };
            let mut bits = both(&FROM[from], &TO[to]);
            for map in first {
                bits = both(&bits, &bitmaps[map]);
            }
            if !any(&bits) {
                continue;
            }
            for &map in &maps[N..] {
                bits = both(&bits, &bitmaps[map]);
            }
            if self.is_checked {
                bits = self
                    .search
                    .checked(self.x, self.arranged, block * BLOCK, bits);
            }
            sink.found(self.x, block * BLOCK, bits);
        }
    }
}
