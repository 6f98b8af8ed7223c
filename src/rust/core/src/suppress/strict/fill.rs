//! Buckets filled in the order of what they serve for their cost.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::error::Result;

use super::{Bucket, Donated, Turn};

impl Turn<'_> {
    /// Fills buckets of `sets`, the one that serves most for its cost first.
    pub(super) fn fill(&mut self, sets: &[u64]) -> Result<()> {
        let mut buckets = Vec::new();
        for &set in sets {
            self.monitor.check()?;
            buckets.extend(self.buckets(set)?);
        }
        let mut heap: BinaryHeap<(Ratio, Reverse<usize>)> = BinaryHeap::new();
        for (b, bucket) in buckets.iter().enumerate() {
            if let Some(plan) = self.plan(bucket) {
                heap.push((Ratio(plan.ratio), Reverse(b)));
            }
        }
        let mut buckets: Vec<Option<Bucket>> = buckets.into_iter().map(Some).collect();
        let mut looked = 0u32;
        while let (Some((before, b)), true) = (heap.pop(), self.n_open > 0) {
            looked += 1;
            if looked % 256 == 0 {
                self.monitor.check()?;
            }
            let Some(bucket) = &buckets[b.0] else {
                continue;
            };
            let Some(plan) = self.plan(bucket) else {
                continue;
            };
            if plan.ratio < before.0 {
                heap.push((Ratio(plan.ratio), b));
                continue;
            }
            if let Some(bucket) = buckets[b.0].take() {
                self.apply(bucket, &plan);
            }
        }
        Ok(())
    }

    /// Present cost of filling a bucket; `None` if it serves nobody or lacks donors.
    fn plan(&self, bucket: &Bucket) -> Option<Plan> {
        let (mut served, mut worth, mut cost) = (0, 0.0, 0.0);
        let mut rows: Vec<u32> = Vec::new();
        let households = self.problem.settings.households.is_some();
        for &cell in bucket
            .violators
            .iter()
            .filter(|&&c| self.is_open(c as usize))
        {
            let each = self.cost(cell, bucket.set)?;
            worth += self.worth[cell as usize];
            let cell = &self.cells[cell as usize];
            served += cell.rows.len();
            cost += each * cell.rows.len() as f64;
            if households {
                rows.extend(&cell.rows);
            }
        }
        let target = bucket.target.filter(|&t| !self.cells[t as usize].gone);
        if served == 0 {
            return None;
        }
        let mut have = if households {
            self.units(&rows)
        } else {
            served
        };
        let mut donors = Vec::new();
        if target.is_none() && have < self.k() {
            if !households {
                have += self.surplus(bucket, self.k() - have, &mut donors, &mut cost);
            }
            if have < self.k() {
                let (cell, price) = self.whole(bucket)?;
                donors.clear();
                donors.push((cell, self.cells[cell as usize].rows.len()));
                cost += price;
            }
        }
        Some(Plan {
            ratio: {
                let given: usize = donors.iter().map(|d: &(u32, usize)| d.1).sum();
                let extra = self.taste.donor * given as f64 * self.problem.cost(bucket.set);
                worth.powf(self.taste.size) / (cost + extra).max(f64::MIN_POSITIVE)
            },
            donors,
        })
    }

    /// Donors from cells that keep `k`, cheapest first; how many there are.
    fn surplus(
        &self,
        bucket: &Bucket,
        wanted: usize,
        donors: &mut Vec<(u32, usize)>,
        cost: &mut f64,
    ) -> usize {
        let mut found = 0;
        for &cell in &bucket.donors {
            let c = &self.cells[cell as usize];
            let spare = if c.gone {
                0
            } else {
                c.rows.len().saturating_sub(self.k())
            };
            let n = spare.min(wanted - found);
            if n > 0 {
                donors.push((cell, n));
                found += n;
                *cost += n as f64 * self.cost(cell, bucket.set).unwrap_or(f64::INFINITY);
            }
            if found == wanted {
                break;
            }
        }
        if found < wanted {
            *cost -= (donors.iter())
                .map(|&(cell, n)| n as f64 * self.cost(cell, bucket.set).unwrap_or(0.0))
                .sum::<f64>();
            return 0;
        }
        found
    }

    /// The cheapest cell that can go to the bucket as a whole.
    fn whole(&self, bucket: &Bucket) -> Option<(u32, f64)> {
        (bucket.donors.iter())
            .filter(|&&c| !self.cells[c as usize].fixed && !self.cells[c as usize].gone)
            .filter_map(|&c| {
                let each = self.cost(c, bucket.set)?;
                Some((c, each * self.cells[c as usize].rows.len() as f64))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
    }

    fn apply(&mut self, mut bucket: Bucket, plan: &Plan) {
        for &(at, n) in &plan.donors {
            let cell = &mut self.cells[at as usize];
            let keep = cell.rows.len() - n;
            bucket.donated.push(Donated {
                cell: at,
                rows: cell.rows.split_off(keep),
                whole: keep == 0,
            });
            cell.gone = keep == 0;
        }
        let mut violators = std::mem::take(&mut bucket.violators);
        violators.retain(|&at| self.is_open(at as usize));
        for &at in &violators {
            self.cells[at as usize].gone = true;
            self.n_open -= 1;
        }
        bucket.violators = violators;
        if let Some(target) = bucket.target {
            self.cells[target as usize].fixed = true;
        }
        self.full.push(bucket);
    }
}

/// Worth of a bucket per cost, and its records.
struct Plan {
    ratio: f64,
    donors: Vec<(u32, usize)>,
}

/// Served per cost.
#[derive(Debug, Clone, Copy)]
struct Ratio(f64);

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}
