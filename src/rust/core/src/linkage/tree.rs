//! The sorted wave-1 rows as a tree of keys.
//!
//! A node of level `v` is a run of rows that agree on the keys `0..=v`; its
//! children are the runs of one code at the next key. Runs of so few rows that
//! comparing them is cheaper have none. The codes of a level stand side by side,
//! as do those of a row: a search reads neighbours.

use std::ops::Range;

use crate::error::Result;
use crate::key_table::KeyTable;
use crate::memory::filled;
use crate::parallel::Monitor;

/// Runs of so few rows have no children.
const FEW: u32 = 6;

/// The tree of a table whose rows are in lexicographic order.
pub(crate) struct Tree {
    levels: Vec<Level>,
    /// The codes of the first row, of the second one, ...
    codes: Vec<u32>,
    n_keys: usize,
}

/// Nodes in the order of their rows.
#[derive(Default)]
struct Level {
    /// Per node, the code of the key.
    codes: Vec<u32>,
    /// Per node, its rows.
    rows: Vec<Range<u32>>,
    /// Per node, where its children begin; one entry more.
    children: Vec<u32>,
}

impl Tree {
    pub(crate) fn new(table: &KeyTable, monitor: &Monitor) -> Result<Self> {
        let (n_rows, n_keys) = (table.n_rows(), table.columns().len());
        let mut tree = Self {
            levels: Vec::with_capacity(n_keys),
            codes: filled(0, n_rows * n_keys)?,
            n_keys,
        };
        for (v, column) in table.columns().iter().enumerate() {
            monitor.check()?;
            let of_key = tree.codes.iter_mut().skip(v).step_by(n_keys);
            for (row, code) in of_key.enumerate() {
                *code = column.codes().get(row);
            }
        }
        let mut above = Level {
            rows: std::iter::once(0..n_rows as u32).collect(),
            ..Level::default()
        };
        for v in 0..n_keys {
            monitor.check()?;
            let level = tree.below(&mut above, v);
            tree.levels.push(std::mem::replace(&mut above, level));
        }
        above.children = filled(0, above.rows.len() + 1)?;
        tree.levels.push(above);
        Ok(tree)
    }

    /// The children of the nodes of a level, by their codes at key `v`.
    fn below(&self, above: &mut Level, v: usize) -> Level {
        let mut level = Level::default();
        for rows in &above.rows {
            above.children.push(level.codes.len() as u32);
            if rows.end - rows.start <= FEW {
                continue;
            }
            let mut rows = rows.clone();
            while rows.start < rows.end {
                let code = self.code(rows.start, v);
                let is_other = |&row: &u32| self.code(row, v) != code;
                let end = rows.clone().find(is_other).unwrap_or(rows.end);
                level.codes.push(code);
                level.rows.push(rows.start..end);
                rows.start = end;
            }
        }
        above.children.push(level.codes.len() as u32);
        level
    }

    fn code(&self, row: u32, v: usize) -> u32 {
        self.codes[row as usize * self.n_keys + v]
    }

    /// The codes of a row at the keys from `v` on.
    pub(crate) fn codes_from(&self, v: usize, row: usize) -> &[u32] {
        &self.codes[row * self.n_keys + v..(row + 1) * self.n_keys]
    }

    /// The node of all rows, above the first key.
    pub(crate) fn root(&self) -> Node {
        Node { depth: 0, place: 0 }
    }

    /// The rows of a node.
    pub(crate) fn rows(&self, node: Node) -> Range<usize> {
        let rows = &self.levels[node.depth].rows[node.place];
        rows.start as usize..rows.end as usize
    }

    /// The codes of the children at the next key, which rise, and the first child.
    pub(crate) fn children(&self, node: Node) -> (&[u32], Node) {
        let starts = &self.levels[node.depth].children[node.place..];
        let (first, end) = (starts[0] as usize, starts[1] as usize);
        let below = Node {
            depth: node.depth + 1,
            place: first,
        };
        match self.levels.get(below.depth) {
            Some(level) => (&level.codes[first..end], below),
            None => (&[], below),
        }
    }
}

/// A node, whose rows agree on the first `depth` keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) depth: usize,
    place: usize,
}

impl Node {
    /// The sibling so many places on.
    pub(crate) fn next(self, n: usize) -> Self {
        Self {
            place: self.place + n,
            ..self
        }
    }
}
