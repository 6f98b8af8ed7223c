//! The distinct keys of a file: how often, and how they were drawn.

use super::Design;
use crate::error::Result;
use crate::key_table::{Groups, KeyTable};
use crate::memory::{collected, filled};
use crate::parallel::Monitor;

/// Rounds of the raking of weights to those of the values.
const RAKING: usize = 12;

/// Distinct keys, each with what the law asks of it.
pub(super) struct Classes {
    /// Per variable the value of every class, from 0.
    pub codes: Vec<Vec<u32>>,
    /// Per variable how many values there are.
    pub n_values: Vec<usize>,
    /// Records of every class; members of a household that share a key count once.
    pub counts: Vec<f64>,
    /// Their sum.
    pub n_records: f64,
    /// Records of every class, all members counted.
    pub members: Vec<f64>,
    /// People of the population outside the file whom the class stands for, alike in a
    /// household counted once.
    pub outside: Vec<f64>,
    /// Records without those that share their key with a member of their household.
    pub outside_alone: Vec<f64>,
    /// The share of the population's people with this key that the file holds.
    pub fraction: Vec<f64>,
    /// Records over people, of all classes.
    pub fraction_of_all: f64,
    /// The classes of the members of every household, each once; none where households
    /// are not known.
    pub homes: Vec<Vec<u32>>,
    /// Share of the class that is judged by its key; the others know more of theirs.
    pub judged: Vec<f64>,
}

impl Classes {
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    pub fn new(
        table: &KeyTable,
        groups: &Groups,
        design: &Design<'_>,
        judged: &[bool],
        monitor: &Monitor,
    ) -> Result<Self> {
        let n_classes = groups.len();
        let all = vec![true; table.columns().len()];
        let (distinct, _) = table.distinct(groups)?.missing_as_value(&all).dense();
        let mut codes = Vec::new();
        for column in distinct.columns() {
            monitor.check()?;
            let from_zero = (0..n_classes).map(|class| column.codes().get(class) - 1);
            codes.push(collected(from_zero, n_classes)?);
        }
        let n_values = distinct
            .columns()
            .iter()
            .map(|c| c.n_values() as usize)
            .collect();
        let members: Vec<f64> = collected(groups.counts().iter().map(|&f| f as f64), n_classes)?;
        let mut classes = Self {
            codes,
            n_values,
            counts: members.clone(),
            n_records: 0.0,
            outside: filled(0.0, n_classes)?,
            outside_alone: filled(0.0, n_classes)?,
            fraction: Vec::new(),
            fraction_of_all: 1.0,
            homes: Vec::new(),
            judged: filled(0.0, n_classes)?,
            members,
        };
        let times = |row: usize| table.multiplicity().map_or(1.0, |m| m[row] as f64);
        let n: f64 = classes.members.iter().sum();
        // A record stands for so many people, itself included.
        let sum: f64 = design.weights.map_or(n, |w| w.iter().sum());
        let scale = design.n_people / sum;
        let stands_for = |row: usize| scale * design.weights.map_or(times(row), |w| w[row]);
        let row_group = groups.row_group();
        let mut homes = design
            .households
            .map(|h| Homes::new(h, row_group))
            .transpose()?;
        if let Some(homes) = &mut homes {
            classes.counts.fill(0.0);
            for (row, &class) in row_group.iter().enumerate() {
                classes.counts[class as usize] += 1.0 / homes.alike[row];
            }
            // Sums of shares such as 1/3 that are whole numbers.
            classes
                .counts
                .iter_mut()
                .for_each(|count| *count = count.round());
            classes.homes = std::mem::take(&mut homes.classes);
        }
        for (row, &class) in row_group.iter().enumerate() {
            let outside = (stands_for(row) - times(row)).max(0.0);
            if judged[row] {
                classes.judged[class as usize] += times(row) / classes.members[class as usize];
            }
            let alike = homes.as_ref().map_or(1.0, |homes| homes.alike[row]);
            classes.outside[class as usize] += outside / alike;
            if alike < 1.5 {
                classes.outside_alone[class as usize] += outside;
            }
        }
        classes.fraction_of_all = (n / design.n_people).min(1.0);
        classes.n_records = classes.counts.iter().sum();
        classes.fraction = match design.weights {
            None => filled((n / design.n_people).min(1.0), n_classes)?,
            Some(_) => {
                let mut people = filled(0.0, n_classes)?;
                for (row, &class) in row_group.iter().enumerate() {
                    people[class as usize] += stands_for(row);
                }
                classes.raked(&people, n / design.n_people)?
            }
        };
        Ok(classes)
    }

    /// Fractions by main effects: those whose weights have the sums of every value.
    fn raked(&self, people: &[f64], overall: f64) -> Result<Vec<f64>> {
        let of_values = |codes: &[u32], n_values: usize| {
            let mut sums = vec![0.0; n_values];
            for (&code, &people) in codes.iter().zip(people) {
                sums[code as usize] += people;
            }
            sums
        };
        let of_file: Vec<Vec<f64>> = (self.codes.iter().zip(&self.n_values))
            .map(|(codes, &n_values)| of_values(codes, n_values))
            .collect();
        let mut ln_weight = filled(-overall.ln(), self.len())?;
        for _ in 0..RAKING {
            for (codes, of_file) in self.codes.iter().zip(&of_file) {
                let mut of_model = vec![0.0; of_file.len()];
                for (class, &code) in codes.iter().enumerate() {
                    of_model[code as usize] += self.members[class] * ln_weight[class].exp();
                }
                let step: Vec<f64> = of_file
                    .iter()
                    .zip(&of_model)
                    .map(|(&file, &model)| (file / model).ln())
                    .collect();
                for (weight, &code) in ln_weight.iter_mut().zip(codes) {
                    *weight += step[code as usize];
                }
            }
        }
        collected(
            ln_weight.into_iter().map(|w| (-w).exp().min(1.0)),
            self.len(),
        )
    }
}

/// The households of a file.
struct Homes {
    /// Number of records that share household and key with every row, itself included.
    alike: Vec<f64>,
    /// The classes of the members of every household, each once.
    classes: Vec<Vec<u32>>,
}

impl Homes {
    fn new(households: &[u32], row_group: &[u32]) -> Result<Self> {
        let pairs = households.iter().zip(row_group);
        let mut keys: Vec<(u32, u32, u32)> = collected(
            pairs
                .zip(0u32..)
                .map(|((&home, &class), row)| (home, class, row)),
            row_group.len(),
        )?;
        keys.sort_unstable();
        let mut alike = filled(1.0, row_group.len())?;
        let mut classes = Vec::new();
        for home in keys.chunk_by(|a, b| a.0 == b.0) {
            let mut of_home = Vec::new();
            for same in home.chunk_by(|a, b| a.1 == b.1) {
                of_home.push(same[0].1);
                for &(.., row) in same {
                    alike[row as usize] = same.len() as f64;
                }
            }
            classes.push(of_home);
        }
        Ok(Self { alike, classes })
    }
}
