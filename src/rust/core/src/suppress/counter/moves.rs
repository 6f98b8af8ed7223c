//! Blank sets that change, and the counts with them.

use crate::error::Result;
use crate::parallel::Monitor;

use super::Counter;

impl Counter<'_> {
    /// Gives `i` the blank set `to`, which holds its present one or is held by
    /// it.
    pub fn change(&mut self, i: u32, to: u64, monitor: &Monitor) -> Result<()> {
        let (from, to) = (self.blank[i as usize], to & self.set);
        if from == to {
            return Ok(());
        }
        let rising = from & !to == 0;
        let (plan_from, plan_to) = (self.prepare(from, monitor)?, self.prepare(to, monitor)?);
        let partners = if rising {
            self.between(i, plan_from, plan_to)
        } else {
            self.between(i, plan_to, plan_from)
        };
        self.relocate(i, from, to);
        let plan_to = self.prepare(to, monitor)?;
        let f = self.count(i, plan_to);
        self.set_matches(i, f);
        for j in partners {
            if !self.element[j as usize] {
                continue;
            }
            let f = if !self.listed.household.is_empty() {
                let plan = self.prepare(self.blank[j as usize], monitor)?;
                self.count(j, plan)
            } else if rising {
                self.f[j as usize] + 1
            } else {
                self.f[j as usize] - 1
            };
            self.set_matches(j, f);
        }
        Ok(())
    }

    /// Takes `i` from the lists of one blank set to those of another.
    fn relocate(&mut self, i: u32, from: u64, to: u64) {
        let pattern = self.listed.pattern[i as usize] as usize;
        let price = if self.is_open(i) {
            self.price[i as usize]
        } else {
            0
        };
        for &t in self.tables_of.get(&from).into_iter().flatten() {
            let table = &mut self.tables[t];
            let id = self.projections[table.projection].ids[pattern];
            if let Some(class) = table.classes.get_mut(&id) {
                if let Some(at) = class.members.iter().position(|&j| j == i) {
                    class.members.swap_remove(at);
                    class.open -= price;
                }
            }
        }
        self.blank[i as usize] = to;
        match self.tables_of.get(&to) {
            None if !self.occurring.contains(&to) => self.occurring.push(to),
            None => {}
            Some(tables) => {
                for &t in tables {
                    let table = &mut self.tables[t];
                    let id = self.projections[table.projection].ids[pattern];
                    let class = table.classes.entry(id).or_default();
                    class.members.push(i);
                    class.open += price;
                }
            }
        }
    }

    /// Notes the matches of a violator, and whether it is served.
    fn set_matches(&mut self, i: u32, f: u32) {
        let at = i as usize;
        if !self.element[at] {
            return;
        }
        let was_open = self.is_open(i);
        self.f[at] = f;
        let opens = i64::from(self.is_open(i)) - i64::from(was_open);
        if opens == 0 {
            return;
        }
        self.n_open = (self.n_open as i64 + opens) as usize;
        let pattern = self.listed.pattern[at] as usize;
        for &t in self.tables_of.get(&self.blank[at]).into_iter().flatten() {
            let table = &mut self.tables[t];
            let id = self.projections[table.projection].ids[pattern];
            if let Some(class) = table.classes.get_mut(&id) {
                class.open += opens * self.price[at];
            }
        }
    }

    /// The violators that would be left with too few matches if `i` no longer
    /// matched them.
    pub fn leaning(&mut self, i: u32, monitor: &Monitor) -> Result<Vec<u32>> {
        let own = self.blank[i as usize];
        let plan = self.prepare(own, monitor)?;
        let k = self.problem.settings.k;
        let tight = |&&j: &&u32| j != i && self.element[j as usize] && self.f[j as usize] <= k;
        let tables = self.plans[plan].1.iter();
        let lists = tables.filter_map(|&t| self.class(t, i).1);
        Ok(lists
            .flat_map(|c| c.members.iter().filter(tight))
            .copied()
            .collect())
    }

    /// True if `i`, with the blank set `q`, has matches enough and still matches
    /// all of `partners`.
    pub fn can_do_with(
        &mut self,
        i: u32,
        q: u64,
        partners: &[u32],
        monitor: &Monitor,
    ) -> Result<bool> {
        let plan = self.prepare(q, monitor)?;
        if self.element[i as usize] && self.count(i, plan) < self.problem.settings.k {
            return Ok(false);
        }
        let q = q & self.set;
        let (own, pattern) = (
            self.listed.pattern[i as usize] as usize,
            &self.listed.pattern,
        );
        Ok(partners.iter().all(|&j| {
            let without = self.blank[j as usize] | q;
            let ids = self
                .projection_of
                .get(&without)
                .map(|&p| &self.projections[p].ids);
            ids.is_some_and(|ids| ids[own] == ids[pattern[j as usize] as usize])
        }))
    }
}
