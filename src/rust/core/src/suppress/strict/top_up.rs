//! Records that no bucket serves: suppressed in all keys, with as many others as it takes.

use crate::error::{in_lines, Error, Result};

use super::Turn;

impl Turn<'_> {
    /// Records still open join the cheapest full buckets or cells of their stratum, all keys
    /// suppressed.
    pub(super) fn top_up(&mut self, all: u64) -> Result<()> {
        let classes = self.classes(all)?;
        for mut bucket in self.buckets(all)? {
            let class = classes[bucket.violators[0] as usize];
            for &at in &bucket.violators {
                self.cells[at as usize].gone = true;
                self.n_open -= 1;
            }
            while self.units(&self.rows(&bucket)) < self.k() {
                let Some(rows) = self.joining(all, class, &classes) else {
                    return Err(self.too_few(self.rows(&bucket).len()));
                };
                bucket.joined.extend(rows);
            }
            self.full.push(bucket);
        }
        if self.n_open > 0 {
            // Links to variables that are never blanked leave them as they are.
            let open = self.cells.iter().filter(|c| c.violating && !c.gone);
            return Err(self.too_few(open.map(|c| c.rows.len()).sum()));
        }
        Ok(())
    }

    fn too_few(&self, records: usize) -> Error {
        Error::Unprotectable(in_lines(
            &format!("Blanks must give every record {} equals.", self.k()),
            &format!("{records} records cannot get so many, whatever is blanked."),
            "Take a smaller `k`, or let more key variables be blanked.",
        ))
    }

    /// The records of the full bucket, or else of the cell, of `class` that cost
    /// least to blank in all keys.
    fn joining(&mut self, all: u64, class: u32, classes: &[u32]) -> Option<Vec<u32>> {
        let here = |cell: u32| classes[cell as usize] == class;
        let price = |n: usize, set: u64| n as f64 * self.problem.cost(all & !set);
        let bucket = (self.full.iter().enumerate())
            .filter(|(_, full)| here(full.violators[0]))
            .map(|(b, full)| (price(self.rows(full).len(), full.set), b))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, b)) = bucket {
            let bucket = self.full.swap_remove(b);
            return Some(self.rows(&bucket));
        }
        let cell = (self.cells.iter().enumerate())
            .filter(|(at, cell)| here(*at as u32) && !cell.gone && !cell.violating)
            .map(|(at, cell)| (price(cell.rows.len(), cell.blank), at))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        cell.map(|(_, at)| {
            self.cells[at].gone = true;
            std::mem::take(&mut self.cells[at].rows)
        })
    }
}
