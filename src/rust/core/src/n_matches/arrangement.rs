//! The patterns of a file, arranged for targets that may lack certain columns.
//!
//! Sorted by the columns that remain, patterns with a common beginning stand
//! together: a tree of ranges finds them. A range without children is looked at
//! as bits: for every column and code of a target there is a bitmap of the
//! compatible patterns, and what is compatible in all columns is found by
//! joining bitmaps, a block of 256 patterns at a time. The bitmaps of one block
//! stand together, so that targets of similar patterns find them in the
//! processor's cache.
//!
//! A target that lacks a column by which the file is sorted would have to look
//! at all its ranges, many and short. So targets with the same missing columns
//! get an arrangement without these.

use std::ops::Range;
use std::sync::Arc;

use super::compatibility::Relation;
use super::patterns::Patterns;
use crate::error::Result;
use crate::memory::{collected, filled, room_for};
use crate::parallel::{self, Monitor};

/// Patterns per block.
pub(super) const BLOCK: usize = 256;
/// One bit per pattern of a block.
pub(super) type Bits = [u64; BLOCK / 64];

/// The bits of both.
#[inline(always)]
pub(super) fn both(a: &Bits, b: &Bits) -> Bits {
    // from_fn() would be a call for each word.
    let mut bits = *a;
    for (word, b) in bits.iter_mut().zip(b) {
        *word &= b;
    }
    bits
}

/// True if there is a bit.
#[inline(always)]
pub(super) fn any(bits: &Bits) -> bool {
    bits.iter().fold(0, |any, word| any | word) != 0
}

/// A range of at most so many patterns has no children.
pub(super) const SMALL: usize = if cfg!(test) { 8 } else { 1024 };
/// Threshold if a column without bitmaps follows.
const VERY_SMALL: usize = 8;
/// Patterns sorted by one piece of parallel work.
const PART: usize = if cfg!(test) { 64 } else { 1 << 15 };
/// Bytes that the first level of the tree takes for a child while it grows.
const CHILD_BYTES: usize = 256;
/// Codes of all columns with bitmaps: 1/8 byte a pattern each.
const MAX_CODES: u32 = 320;

/// A range of patterns that agree on their first columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub start: u32,
    pub end: u32,
    first_child: u32,
    n_children: u32,
    /// The code of the last column they agree on.
    pub code: u32,
}

impl Node {
    fn new(range: Range<usize>, code: u32) -> Self {
        Self {
            start: range.start as u32,
            end: range.end as u32,
            first_child: 0,
            n_children: 0,
            code,
        }
    }

    pub fn is_leaf(&self) -> bool {
        self.n_children == 0
    }
}

/// Patterns of a file in the order of some of their columns.
#[derive(Debug)]
pub(super) struct Arrangement {
    /// The columns, by their depths in the patterns' layout.
    pub depths: Vec<usize>,
    /// The pattern at every place.
    pub patterns: Arc<Vec<u32>>,
    nodes: Vec<Node>,
    /// Per column, the place of code 1 among a block's bitmaps.
    maps: Vec<Option<usize>>,
    /// Bitmaps per block.
    stride: usize,
    bits: Vec<Bits>,
    /// Columns without bitmaps that the tree may leave over.
    pub unmapped: Vec<usize>,
}

impl Arrangement {
    /// Arranges patterns by the columns at `depths`; `relations` are by depth.
    pub fn new(
        file: &Patterns,
        depths: Vec<usize>,
        relations: &[&Relation],
        monitor: &Monitor,
    ) -> Result<Self> {
        let mapped = mapped(file, &depths);
        let last_unmapped = mapped.iter().rposition(|&mapped| !mapped);
        let mut patterns: Vec<u32> = collected(0..file.len() as u32, file.len())?;
        let mut spare = filled(0u32, file.len())?;
        let sorting = Sorting {
            file,
            depths: &depths,
            last_unmapped,
            monitor,
        };
        let mut nodes = vec![Node::new(0..file.len(), 0)];
        sorting.tree(&mut nodes, &mut patterns, &mut spare, 0)?;
        drop(spare);
        // The tree resolves these columns for every pattern: they need no bitmap.
        let from = shallowest_leaf(&nodes);
        let unmapped = (from..depths.len()).filter(|&c| !mapped[c]).collect();
        let mut stride = 0;
        let mut maps = vec![None; depths.len()];
        for column in (from..depths.len()).filter(|&c| mapped[c]) {
            maps[column] = Some(stride);
            stride += file.layout.n_values[depths[column]] as usize;
        }
        let mut arrangement = Self {
            depths,
            patterns: Arc::new(patterns),
            nodes,
            maps,
            stride,
            bits: Vec::new(),
            unmapped,
        };
        arrangement.fill(file, relations, monitor)?;
        Ok(arrangement)
    }

    fn fill(&mut self, file: &Patterns, relations: &[&Relation], monitor: &Monitor) -> Result<()> {
        if self.stride == 0 {
            return Ok(());
        }
        let n_bits = self.stride * self.patterns.len().div_ceil(BLOCK);
        let mut bits: Vec<Bits> = filled([0; BLOCK / 64], n_bits)?;
        let parts = (bits.chunks_exact_mut(self.stride)).zip(self.patterns.chunks(BLOCK));
        parallel::try_map_with(parts, monitor, Vec::new, |known, (bits, patterns)| {
            for (&depth, map) in self.depths.iter().zip(&self.maps) {
                let Some(map) = *map else { continue };
                let n_values = file.layout.n_values[depth] as usize;
                known.clear();
                known.resize(n_values + 1, [0; BLOCK / 64]);
                // Word after word, which do not wait for one another.
                for i in 0..64 {
                    for (word, &pattern) in patterns.iter().skip(i).step_by(64).enumerate() {
                        let code = file.code(pattern as usize, depth) as usize;
                        known[code][word] |= 1 << i;
                    }
                }
                compatible(relations[depth], known, &mut bits[map..][..n_values]);
            }
            Ok(())
        })?;
        self.bits = bits;
        Ok(())
    }

    /// The node of all patterns.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// The nodes below `node`, by ascending code.
    pub fn children(&self, node: &Node) -> &[Node] {
        &self.nodes[node.first_child as usize..][..node.n_children as usize]
    }

    /// The place of `code` of a column among the bitmaps of a block; `None` for
    /// missing, which rules nothing out, and where there are no bitmaps.
    pub fn map(&self, column: usize, code: u32) -> Option<usize> {
        match self.maps[column] {
            Some(map) if code != 0 => Some(map + code as usize - 1),
            _ => None,
        }
    }

    /// The bitmaps of a block.
    pub fn block(&self, block: usize) -> &[Bits] {
        &self.bits[block * self.stride..][..self.stride]
    }

    /// One more than the depth of the deepest node with children.
    pub fn depth_of_tree(&self) -> usize {
        let mut level = vec![self.root()];
        let mut depth = 0;
        loop {
            level = level.iter().flat_map(|node| self.children(node)).collect();
            if level.is_empty() {
                return depth;
            }
            depth += 1;
        }
    }
}

/// Columns with bitmaps: the last ones, which the tree reaches least.
fn mapped(file: &Patterns, depths: &[usize]) -> Vec<bool> {
    let mut n_codes = 0;
    let mut mapped = vec![false; depths.len()];
    for (column, &depth) in depths.iter().enumerate().rev() {
        let n_values = file.layout.n_values[depth];
        if n_codes + n_values <= MAX_CODES {
            n_codes += n_values;
            mapped[column] = true;
        }
    }
    mapped
}

fn shallowest_leaf(nodes: &[Node]) -> usize {
    let mut level = vec![&nodes[0]];
    let mut depth = 0;
    while level.iter().all(|node| !node.is_leaf()) {
        let below = |node: &&Node| {
            let first = node.first_child as usize;
            first..first + node.n_children as usize
        };
        level = level.iter().flat_map(below).map(|i| &nodes[i]).collect();
        depth += 1;
    }
    depth
}

/// From the patterns that have each code, 0 being missing, to those that are
/// compatible with each code from 1.
fn compatible(relation: &Relation, known: &[Bits], found: &mut [Bits]) {
    let join = |into: &mut Bits, bits: &Bits| {
        into.iter_mut()
            .zip(bits)
            .for_each(|(into, bits)| *into |= bits);
    };
    for (code, bits) in (1u32..).zip(found) {
        *bits = known[0];
        match relation {
            Relation::Equal => join(bits, &known[code as usize]),
            _ => relation.each_compatible(
                code,
                known.len() - 1,
                |i| i as u32 + 1,
                |i| join(bits, &known[i + 1]),
            ),
        }
    }
}

/// Sorting into a tree, column by column.
struct Sorting<'a> {
    file: &'a Patterns,
    depths: &'a [usize],
    last_unmapped: Option<usize>,
    monitor: &'a Monitor,
}

impl Sorting<'_> {
    /// Sorts `patterns`, those of the last of `nodes`, by `column` and those
    /// after it, and adds the nodes below.
    fn tree(
        &self,
        nodes: &mut Vec<Node>,
        patterns: &mut [u32],
        spare: &mut [u32],
        column: usize,
    ) -> Result<()> {
        let unmapped = self.last_unmapped.is_some_and(|last| column <= last);
        let small = if unmapped { VERY_SMALL } else { SMALL };
        if patterns.len() <= small || column == self.depths.len() {
            return Ok(());
        }
        self.monitor.check()?;
        let depth = self.depths[column];
        if column == 0 {
            let n_values = self.file.layout.n_values[depth] as usize + 1;
            room_for(CHILD_BYTES * n_values.min(patterns.len()))?;
        }
        let ranges = match column {
            0 => self.sort_in_parts(patterns, spare, depth),
            _ => self.sort(patterns, spare, depth),
        };
        let node = nodes.len() - 1;
        let (offset, first_child) = (nodes[node].start as usize, nodes.len());
        nodes[node].first_child = first_child as u32;
        nodes[node].n_children = ranges.len() as u32;
        let mut rest = (patterns, spare);
        let mut parts = Vec::with_capacity(ranges.len());
        for (code, range) in ranges {
            let (patterns, later) = rest.0.split_at_mut(range.len());
            let (spare, later_spare) = rest.1.split_at_mut(range.len());
            rest = (later, later_spare);
            let node = Node::new(offset + range.start..offset + range.end, code);
            nodes.push(node);
            parts.push((node, patterns, spare));
        }
        // Below each child by itself, its own node being the first there.
        let below = |(node, patterns, spare): (Node, &mut [u32], &mut [u32])| {
            let mut below = vec![node];
            self.tree(&mut below, patterns, spare, column + 1)?;
            Ok(below)
        };
        let below: Vec<Vec<Node>> = if column == 0 {
            parallel::try_map(parts, self.monitor, below)?
        } else {
            parts.into_iter().map(below).collect::<Result<_>>()?
        };
        for (child, below) in below.into_iter().enumerate() {
            // Their numbers were counted from their own first node.
            let shift = nodes.len() as u32 - 1;
            for (i, mut node) in below.into_iter().enumerate() {
                if !node.is_leaf() {
                    node.first_child += shift;
                }
                match i {
                    0 => nodes[first_child + child] = node,
                    _ => nodes.push(node),
                }
            }
        }
        Ok(())
    }

    /// As [`Self::sort`], on all threads.
    fn sort_in_parts(
        &self,
        patterns: &mut [u32],
        spare: &mut [u32],
        depth: usize,
    ) -> Vec<(u32, Range<usize>)> {
        if self.file.layout.n_values[depth] as usize >= PART {
            return self.sort(patterns, spare, depth);
        }
        let parts = patterns.chunks_mut(PART).zip(spare.chunks_mut(PART));
        let parts = parallel::map(parts, |(patterns, spare)| self.sort(patterns, spare, depth));
        let mut ranges = Vec::new();
        let mut rest: Vec<_> = parts.iter().map(|part| part.iter().peekable()).collect();
        let mut start = 0;
        for code in 0..=self.file.layout.n_values[depth] {
            let mut end = start;
            for (part, rest) in rest.iter_mut().enumerate() {
                if let Some((_, range)) = rest.next_if(|(next, _)| *next == code) {
                    let from = part * PART + range.start;
                    spare[end..end + range.len()]
                        .copy_from_slice(&patterns[from..from + range.len()]);
                    end += range.len();
                }
            }
            if end > start {
                ranges.push((code, start..end));
            }
            start = end;
        }
        patterns.copy_from_slice(spare);
        ranges
    }

    /// Sorts by the codes at `depth`, leaving patterns of one code in their
    /// order: the codes that occur and their ranges.
    fn sort(
        &self,
        patterns: &mut [u32],
        spare: &mut [u32],
        depth: usize,
    ) -> Vec<(u32, Range<usize>)> {
        let code = |pattern: u32| self.file.code(pattern as usize, depth);
        let n_codes = self.file.layout.n_values[depth] as usize + 1;
        let mut ranges = Vec::new();
        if n_codes > 2 * patterns.len() {
            patterns.sort_by_key(|&pattern| code(pattern));
            let mut start = 0;
            for run in patterns.chunk_by(|&a, &b| code(a) == code(b)) {
                ranges.push((code(run[0]), start..start + run.len()));
                start += run.len();
            }
            return ranges;
        }
        let mut ends = vec![0u32; n_codes];
        let (mut last, mut is_sorted) = (0, true);
        for &pattern in &*patterns {
            let code = code(pattern);
            ends[code as usize] += 1;
            is_sorted &= last <= code;
            last = code;
        }
        let mut start = 0;
        for (code, end) in (0u32..).zip(&mut ends) {
            let range = start..start + *end as usize;
            start = range.end;
            // From here on the place of the next pattern with the code.
            *end = range.start as u32;
            if !range.is_empty() {
                ranges.push((code, range));
            }
        }
        // As it is before the first column left out.
        if is_sorted {
            return ranges;
        }
        for &pattern in &*patterns {
            let place = &mut ends[code(pattern) as usize];
            spare[*place as usize] = pattern;
            *place += 1;
        }
        patterns.copy_from_slice(spare);
        ranges
    }
}
