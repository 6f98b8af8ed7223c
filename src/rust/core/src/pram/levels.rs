//! Levels inside which records move, and how they are merged.
//!
//! A level is a combination of the variables that PRAM works within. Pairs of
//! values that must not be exchanged cut levels further where whole levels are
//! blocks: the values of such a key are divided into classes in which no pair
//! is forbidden. A level that cannot be protected by itself may be merged with
//! the level of its nearest cell; cells with equal keys then become one.

use hashbrown::HashMap;

use super::pairing::{Forbidden, Points};
use crate::error::{Error, Result};
use crate::key_table::KeyTable;
use crate::memory::filled;
use crate::parallel::Monitor;

/// Comparisons that a round of merging may cost.
const MOST_COMPARISONS: u64 = 10_000_000_000;

/// The cells of a file and their levels.
#[derive(Debug)]
pub(super) struct Cells {
    /// Cell of every record.
    pub row_cell: Vec<u32>,
    /// First record of every cell.
    pub first_row: Vec<u32>,
    pub counts: Vec<u64>,
    /// Level of every cell.
    pub level: Vec<u32>,
    /// Family of every level: only levels of one family may be merged.
    pub family: Vec<u32>,
    /// Per key, the code of every cell.
    pub codes: Vec<Vec<u32>>,
}

impl Cells {
    /// Cells of equal keys and equal level.
    pub fn new(
        table: &KeyTable,
        level: Option<&[u32]>,
        family: Option<&[u32]>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let groups = match level {
            None => table.group(monitor)?,
            Some(level) => table.with_column(level)?.group(monitor)?,
        };
        let first_row = groups.first_rows().to_vec();
        let level: Vec<u32> = match level {
            None => vec![0; first_row.len()],
            Some(level) => first_row.iter().map(|&row| level[row as usize]).collect(),
        };
        let n_levels = level.iter().copied().max().map_or(1, |l| l as usize + 1);
        let family = family.map_or_else(|| vec![0; n_levels], <[u32]>::to_vec);
        if family.len() < n_levels {
            return Err(Error::Internal(
                "Every level must belong to a family.".into(),
            ));
        }
        let codes = table
            .columns()
            .iter()
            .map(|column| {
                let codes = column.codes();
                first_row
                    .iter()
                    .map(|&row| codes.get(row as usize))
                    .collect()
            })
            .collect();
        Ok(Self {
            counts: groups.counts().to_vec(),
            row_cell: groups.row_group().to_vec(),
            first_row,
            level,
            family,
            codes,
        })
    }

    pub fn len(&self) -> usize {
        self.first_row.len()
    }

    /// Cells of every level, in order.
    pub fn by_level(&self, monitor: &Monitor) -> Result<Vec<Vec<u32>>> {
        let mut members = filled(Vec::new(), self.family.len())?;
        for (cell, &level) in (0u32..).zip(&self.level) {
            monitor.check()?;
            members[level as usize].push(cell);
        }
        members.retain(|cells| !cells.is_empty());
        Ok(members)
    }

    /// Cuts levels so that no forbidden pair of values is in one of them.
    pub fn separate(&mut self, forbidden: &[Forbidden], monitor: &Monitor) -> Result<()> {
        let classes: Vec<HashMap<u32, u32>> = forbidden.iter().map(classes).collect();
        let mut number: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut families: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut family = Vec::new();
        for cell in 0..self.len() {
            monitor.check()?;
            let old = self.level[cell];
            let mut name = vec![self.family[old as usize]];
            name.extend(forbidden.iter().zip(&classes).map(|(rule, classes)| {
                let code = self.codes[rule.key][cell];
                classes.get(&code).copied().unwrap_or(0)
            }));
            let next_family = families.len() as u32;
            let of_family = *families.entry(name.clone()).or_insert(next_family);
            name.push(old);
            let next = number.len() as u32;
            let level = *number.entry(name).or_insert(next);
            if level == next {
                family.push(of_family);
            }
            self.level[cell] = level;
        }
        self.family = family;
        Ok(())
    }

    /// Merges the level of every group with the level of the nearest cell of
    /// another level. Returns how many were merged.
    pub fn merge(
        &mut self,
        groups: &[Vec<u32>],
        points: &Points,
        monitor: &Monitor,
    ) -> Result<usize> {
        let work = (groups.len() as u64).saturating_mul(self.len() as u64);
        if work > MOST_COMPARISONS {
            return Err(Error::too_large(
                &format!("Merging levels may take at most {MOST_COMPARISONS} comparisons."),
                &format!(
                    "Levels of {} of {} cells need merging.",
                    groups.len(),
                    self.len()
                ),
                "Take coarser variables in `within`.",
            ));
        }
        let mut target: Vec<u32> = (0..self.family.len() as u32).collect();
        let mut merged = 0;
        let mut touched = vec![false; self.family.len()];
        for group in groups {
            monitor.check()?;
            let Some(&head) = group.first() else { continue };
            let from = find(&target, self.level[head as usize]);
            if touched[from as usize] {
                // The changes of this round may suffice.
                continue;
            }
            let family = self.family[from as usize];
            let nearest = (0..self.len() as u32)
                .filter(|&cell| {
                    let level = find(&target, self.level[cell as usize]);
                    level != from && self.family[level as usize] == family
                })
                .filter(|&cell| points.compatible(head, cell))
                .min_by_key(|&cell| (points.distance(head, cell), cell));
            if let Some(cell) = nearest {
                let to = find(&target, self.level[cell as usize]);
                target[from.max(to) as usize] = from.min(to);
                touched[from.min(to) as usize] = true;
                merged += 1;
            }
        }
        for level in &mut self.level {
            *level = find(&target, *level);
        }
        Ok(merged)
    }

    /// Makes one cell of cells with equal keys in one level.
    pub fn collapse(&mut self, monitor: &Monitor) -> Result<()> {
        let mut number: HashMap<(u32, Vec<u32>), u32> = HashMap::with_capacity(self.len());
        let mut new_cell = Vec::with_capacity(self.len());
        let mut kept: Vec<usize> = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        for cell in 0..self.len() {
            monitor.check()?;
            let name = (
                self.level[cell],
                self.codes.iter().map(|codes| codes[cell]).collect(),
            );
            let next = kept.len() as u32;
            let at = *number.entry(name).or_insert(next);
            if at == next {
                kept.push(cell);
                counts.push(0);
            }
            counts[at as usize] += self.counts[cell];
            new_cell.push(at);
        }
        for cell in &mut self.row_cell {
            *cell = new_cell[*cell as usize];
        }
        self.first_row = kept.iter().map(|&cell| self.first_row[cell]).collect();
        self.level = kept.iter().map(|&cell| self.level[cell]).collect();
        for codes in &mut self.codes {
            *codes = kept.iter().map(|&cell| codes[cell]).collect();
        }
        self.counts = counts;
        Ok(())
    }
}

/// The level that a level was merged into.
fn find(target: &[u32], mut level: u32) -> u32 {
    while target[level as usize] != level {
        level = target[level as usize];
    }
    level
}

/// Classes of the values named in a rule such that no forbidden pair shares
/// one; every value takes the first class without a conflict.
fn classes(rule: &Forbidden) -> HashMap<u32, u32> {
    let mut values: Vec<u32> = rule.pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    values.sort_unstable();
    values.dedup();
    let mut classes: HashMap<u32, u32> = HashMap::new();
    for &value in &values {
        let conflicts: Vec<u32> = rule
            .pairs
            .iter()
            .filter_map(|&(a, b)| match value {
                v if v == a => classes.get(&b).copied(),
                v if v == b => classes.get(&a).copied(),
                _ => None,
            })
            .collect();
        let class = (0..).find(|class| !conflicts.contains(class)).unwrap_or(0);
        classes.insert(value, class);
    }
    classes
}
