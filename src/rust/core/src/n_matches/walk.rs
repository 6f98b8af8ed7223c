//! The walk that finds, for every target pattern, the compatible patterns.
//!
//! The targets form a tree of common beginnings, the patterns of the file
//! another (or the same) one. Going down the targets' tree column by column,
//! the walk keeps what of the file is compatible so far: nodes of the file's
//! tree, and, where these have become small, bits of neighbouring patterns, of
//! which every further column takes away by one `and` with a bitmap. Targets of
//! the same beginning share all this work; what is left is done target by
//! target, 64 patterns at a time.
//!
//! Where targets and file are the same and compatibility is symmetric, a
//! target looks at later patterns only and credits both.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bitmaps::{Bitmaps, WORD};
use super::compatibility::Relation;
use super::patterns::{Node, Patterns};
use super::sinks::Sink;
use crate::error::Result;
use crate::parallel::Monitor;

/// Nodes of the file with at most so many patterns are looked at as bits.
const FREEZE: usize = 128;
/// Nodes of the targets' tree of at most so many are looked at one by one.
const FEW_TARGETS: usize = 16;
/// Columns whose bitmaps are joined before the first look at the result.
const AT_ONCE: usize = 7;
/// Parts the work is cut into, about.
const TASKS: usize = 512;

/// Targets and file, and when they are compatible.
pub(super) struct Search<'a> {
    file: &'a Patterns,
    /// `None` where the file's own patterns are the targets, and each pair of
    /// them is to be met once.
    targets: Option<&'a Patterns>,
    relations: Vec<&'a Relation>,
    bitmaps: Bitmaps,
    /// Depths without bitmaps, from which no node is frozen unchecked.
    unmapped: Vec<usize>,
    /// The depths of every key, for `min_overlap`.
    keys: Vec<Vec<usize>>,
    min_overlap: usize,
}

impl<'a> Search<'a> {
    /// `relations` are by column of the table, and so are `keys`.
    pub fn new(
        file: &'a Patterns,
        targets: Option<&'a Patterns>,
        relations: &'a [Relation],
        keys: &[Vec<usize>],
        min_overlap: usize,
        monitor: &Monitor,
    ) -> Result<Self> {
        let columns = &file.layout.columns;
        let relations: Vec<&Relation> = columns.iter().map(|&v| &relations[v]).collect();
        // The first column of a large file is always done in the tree.
        let from = usize::from(file.len() > FREEZE);
        let bitmaps = Bitmaps::new(file, &relations, from, monitor)?;
        let unmapped = (from..columns.len()).filter(|&d| !bitmaps.has(d)).collect();
        let depth_of = |v: &usize| columns.iter().position(|c| c == v);
        Ok(Self {
            file,
            targets,
            relations,
            bitmaps,
            unmapped,
            keys: keys
                .iter()
                .map(|key| key.iter().filter_map(depth_of).collect())
                .collect(),
            min_overlap,
        })
    }

    fn target_patterns(&self) -> &'a Patterns {
        self.targets.unwrap_or(self.file)
    }

    /// Takes off what the bitmaps could not tell.
    fn checked(&self, x: usize, start: usize, mut bits: u64) -> u64 {
        if self.unmapped.is_empty() && self.min_overlap == 0 {
            return bits;
        }
        let mut left = bits;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let pattern = start + left.trailing_zeros() as usize;
            left ^= bit;
            let targets = self.target_patterns();
            let fits = self.unmapped.iter().all(|&d| {
                self.relations[d].compatible(targets.code(x, d), self.file.code(pattern, d))
            });
            if !fits || !self.overlaps(x, pattern) {
                bits ^= bit;
            }
        }
        bits
    }

    /// Whether both sides know enough keys in common.
    fn overlaps(&self, x: usize, pattern: usize) -> bool {
        if self.min_overlap == 0 {
            return true;
        }
        let (a, b) = (self.target_patterns().bytes(x), self.file.bytes(pattern));
        let shared = self
            .keys
            .iter()
            .filter(|key| key.iter().any(|&d| a[d] != 0 && b[d] != 0))
            .take(self.min_overlap)
            .count();
        shared == self.min_overlap
    }

    /// How many combinations of the target's values match a pattern.
    pub fn times(&self, x: usize, pattern: usize) -> u64 {
        let targets = self.target_patterns();
        let relations = self.relations.iter().enumerate();
        relations
            .filter(|(_, relation)| relation.is_counted())
            .map(|(d, relation)| relation.times(targets.code(x, d), self.file.code(pattern, d)))
            .product()
    }

    /// How many combinations of values the target may have.
    pub fn combinations(&self, targets: &Patterns, x: usize) -> f64 {
        let relations = self.relations.iter().enumerate();
        relations
            .map(|(d, relation)| relation.size(targets.code(x, d)))
            .product::<u64>() as f64
    }
}

/// Searches with one sink per thread and adds their sums up.
pub(super) fn run<S: Sink>(
    search: &Search<'_>,
    sink: impl Fn() -> S + Sync,
    monitor: &Monitor,
) -> Result<Vec<S::Amount>> {
    let tasks = tasks(search);
    monitor.set_total(search.target_patterns().len() as u64);
    let next = AtomicUsize::new(0);
    let parts = (0..rayon::current_num_threads())
        .into_par_iter()
        .map(|_| {
            let mut walk = Walk {
                search,
                sink: sink(),
                places: Vec::new(),
                left: Level::default(),
                levels: vec![Level::default(); search.relations.len() + 1],
                monitor,
            };
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                walk.node(&task.node, task.depth, &task.level)?;
            }
            Ok(walk.sink.into_sums())
        })
        .collect::<Result<Vec<Vec<S::Amount>>>>()?;
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (sum, more) in total.iter_mut().zip(part) {
            *sum += more;
        }
    }
    Ok(total)
}

/// What of the file is compatible with a beginning of some depth.
#[derive(Debug, Default, Clone)]
struct Level {
    /// Nodes at that depth.
    nodes: Vec<Node>,
    /// Words and their bits.
    words: Vec<u32>,
    bits: Vec<u64>,
}

impl Level {
    fn clear(&mut self) {
        self.nodes.clear();
        self.words.clear();
        self.bits.clear();
    }

    /// Adds the words of another level of which `some` leaves bits. Writing every
    /// word and counting those that stay costs less than to guess which do.
    fn push_some(&mut self, from: &Level, some: impl Fn(usize, u64) -> u64) {
        let mut n = self.words.len();
        self.words.resize(n + from.words.len(), 0);
        self.bits.resize(n + from.words.len(), 0);
        for (&word, &bits) in from.words.iter().zip(&from.bits) {
            let bits = some(word as usize, bits);
            self.words[n] = word;
            self.bits[n] = bits;
            n += usize::from(bits != 0);
        }
        self.words.truncate(n);
        self.bits.truncate(n);
    }

    /// Adds a range of patterns as bits.
    fn push_range(&mut self, range: std::ops::Range<usize>) {
        let (first, last) = (range.start / WORD, (range.end - 1) / WORD);
        for word in first..=last {
            let mut bits = u64::MAX;
            if word == first {
                bits &= u64::MAX << (range.start % WORD);
            }
            if word == last {
                bits &= u64::MAX >> (WORD - 1 - (range.end - 1) % WORD);
            }
            match (self.words.last(), self.bits.last_mut()) {
                (Some(&previous), Some(joined)) if previous as usize == word => *joined |= bits,
                _ => {
                    self.words.push(word as u32);
                    self.bits.push(bits);
                }
            }
        }
    }

    /// Adds a node at `depth`, as bits where it is small enough.
    fn push(&mut self, node: &Node, depth: usize, search: &Search<'_>) {
        let unmapped = search.unmapped.last().is_some_and(|&d| d >= depth);
        if !node.is_leaf() && (node.len() > FREEZE || unmapped) {
            self.nodes.push(*node);
        } else {
            self.push_range(node.range());
        }
    }
}

/// Targets with a common beginning and what is compatible with it.
struct Task {
    node: Node,
    depth: usize,
    level: Level,
}

/// The tasks, the largest first.
fn tasks(search: &Search<'_>) -> Vec<Task> {
    let targets = search.target_patterns();
    let mut level = Level::default();
    if search.targets.is_some() {
        level.push(search.file.root(), 0, search);
    }
    let mut tasks = Vec::new();
    let mut open = vec![Task {
        node: *targets.root(),
        depth: 0,
        level,
    }];
    while let Some(task) = open.pop() {
        if task.node.len() <= targets.len() / TASKS || task.node.is_leaf() {
            tasks.push(task);
            continue;
        }
        let children = targets.children(&task.node);
        for i in 0..children.len() {
            let mut level = Level::default();
            step_to_child(search, &task.level, task.depth, children, i, &mut level);
            open.push(Task {
                node: children[i],
                depth: task.depth + 1,
                level,
            });
        }
    }
    tasks.sort_by_key(|task| (std::cmp::Reverse(task.node.len()), task.node.start));
    tasks
}

/// What is left for child `i` of a node of targets at `depth`.
fn step_to_child(
    search: &Search<'_>,
    level: &Level,
    depth: usize,
    children: &[Node],
    i: usize,
    below: &mut Level,
) {
    let code = children[i].code;
    step(search, level, depth, code, below);
    if search.targets.is_none() {
        // Later children of the same node, which is not among its own nodes.
        for other in &children[i + 1..] {
            if search.relations[depth].compatible(code, other.code) {
                below.push(other, depth + 1, search);
            }
        }
    }
}

/// What is left once the column at `depth` has `code`.
fn step(search: &Search<'_>, level: &Level, depth: usize, code: u32, below: &mut Level) {
    match search.bitmaps.place(depth, code) {
        None => {
            below.words.extend_from_slice(&level.words);
            below.bits.extend_from_slice(&level.bits);
        }
        Some(place) => {
            below.push_some(level, |word, bits| bits & search.bitmaps.words(word)[place]);
        }
    }
    for node in &level.nodes {
        let children = search.file.children(node);
        if code == 0 {
            for child in children {
                below.push(child, depth + 1, search);
            }
            continue;
        }
        let known = match children.split_first() {
            Some((missing, known)) if missing.code == 0 => {
                below.push(missing, depth + 1, search);
                known
            }
            _ => children,
        };
        search.relations[depth].each_compatible(
            code,
            known.len(),
            |i| known[i].code,
            |i| below.push(&known[i], depth + 1, search),
        );
    }
}

struct Walk<'a, S> {
    search: &'a Search<'a>,
    sink: S,
    /// The places of the target's codes among the bitmaps.
    places: Vec<usize>,
    /// What is left of the words for the target at hand.
    left: Level,
    /// What is left at each depth, kept for its memory.
    levels: Vec<Level>,
    monitor: &'a Monitor,
}

impl<S: Sink> Walk<'_, S> {
    fn node(&mut self, node: &Node, depth: usize, level: &Level) -> Result<()> {
        let one_by_one = node.is_leaf() || level.nodes.is_empty() && node.len() <= FEW_TARGETS;
        if one_by_one {
            self.monitor.check()?;
            for x in node.range() {
                let own = x + 1..node.end as usize;
                self.target(x, depth, level, own);
            }
            self.monitor.advance(node.len() as u64);
            return Ok(());
        }
        let children = self.search.target_patterns().children(node);
        let mut below = std::mem::take(&mut self.levels[depth]);
        for (i, child) in children.iter().enumerate() {
            below.clear();
            step_to_child(self.search, level, depth, children, i, &mut below);
            self.node(child, depth + 1, &below)?;
        }
        self.levels[depth] = below;
        Ok(())
    }

    /// One target; `own` are the later patterns of its own node.
    fn target(&mut self, x: usize, depth: usize, level: &Level, own: std::ops::Range<usize>) {
        let own = if self.search.targets.is_none() {
            own
        } else {
            0..0
        };
        if level.nodes.is_empty() {
            self.rest(x, depth, level, own);
            self.sink.close(x);
            return;
        }
        if !own.is_empty() {
            self.rest(x, depth, &Level::default(), own);
        }
        let mut below = std::mem::take(&mut self.levels[depth]);
        below.clear();
        let code = self.search.target_patterns().code(x, depth);
        step(self.search, level, depth, code, &mut below);
        self.target(x, depth + 1, &below, 0..0);
        self.levels[depth] = below;
    }

    /// Everything that is left as bits, and a range of patterns.
    fn rest(&mut self, x: usize, depth: usize, level: &Level, own: std::ops::Range<usize>) {
        let (search, targets) = (self.search, self.search.target_patterns());
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(
            (depth..search.relations.len())
                .filter_map(|d| search.bitmaps.place(d, targets.code(x, d))),
        );
        if !own.is_empty() {
            let mut few = Level::default();
            few.push_range(own);
            self.scan_places(x, &places, &few);
        }
        self.scan_places(x, &places, level);
        self.places = places;
    }

    fn scan_places(&mut self, x: usize, places: &[usize], level: &Level) {
        match places.len() {
            0 => self.scan::<0>(x, places, level),
            1 => self.scan::<1>(x, places, level),
            2 => self.scan::<2>(x, places, level),
            3 => self.scan::<3>(x, places, level),
            4 => self.scan::<4>(x, places, level),
            5 => self.scan::<5>(x, places, level),
            6 => self.scan::<6>(x, places, level),
            _ => self.scan::<AT_ONCE>(x, places, level),
        }
    }

    /// `N` columns are joined without a look in between, which costs more than
    /// it saves.
    fn scan<const N: usize>(&mut self, x: usize, places: &[usize], level: &Level) {
        let bitmaps = &self.search.bitmaps;
        let first: [usize; N] = std::array::from_fn(|i| places[i]);
        let rest = &places[N..];
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.push_some(level, |word, bits| {
            let words = bitmaps.words(word);
            first.iter().fold(bits, |bits, &place| bits & words[place])
        });
        for (&word, &bits) in left.words.iter().zip(&left.bits) {
            let word = word as usize;
            let words = bitmaps.words(word);
            let bits = rest.iter().fold(bits, |bits, &place| bits & words[place]);
            let bits = self.search.checked(x, word * WORD, bits);
            self.sink.found(x, word * WORD, bits);
        }
        self.left = left;
    }
}
