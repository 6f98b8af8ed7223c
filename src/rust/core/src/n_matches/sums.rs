//! Sums over the matches of every target, exact whatever their order: counts are
//! integers, and weights are brought to a fixed point.

use super::dense::{self, Plan};
use super::prepared::Prepared;
use super::search::{Amount, Search};
use super::sinks::{usual, Counted, Sum};
use super::walk::run;
use crate::error::{Error, Result};
use crate::parallel::Monitor;

/// Sums of amounts over matches.
pub(super) struct Sums<'a> {
    pub prepared: &'a Prepared<'a>,
    pub search: &'a Search<'a>,
    pub plan: Option<Plan>,
    /// True if matches are counted in values of the target's sets.
    pub counted: bool,
}

impl Sums<'_> {
    /// The number of matches of every target.
    pub fn matches(&self, monitor: &Monitor) -> Result<Vec<f64>> {
        let prepared = self.prepared;
        let table = &prepared.question.file;
        let times = |row: usize| table.multiplicity().map_or(1, |t| t[row]);
        let by_pattern = if self.counted {
            self.room(table.n_records())?;
            let amounts = prepared.file.sums(|row| u128::from(times(row)));
            self.values(&amounts, monitor)?
        } else if u32::try_from(table.n_records()).is_ok() {
            let amounts = prepared.file.sums(|row| times(row) as u32);
            self.values(&amounts, monitor)?
        } else {
            let amounts = prepared.file.sums(times);
            self.values(&amounts, monitor)?
        };
        // A record that is too incomplete to match others matches itself alone.
        Ok(prepared.spread(&by_pattern, |_| 1.0))
    }

    /// The sum of a weight over the matches of every target.
    pub fn weighted(&self, weight: impl Fn(usize) -> f64, monitor: &Monitor) -> Result<Vec<f64>> {
        let prepared = self.prepared;
        let spare = if self.counted { self.room(1)? } else { 0 };
        let (fixed, digits) = fixed_point(prepared.question.file.n_rows(), &weight, spare);
        let amounts = prepared.file.sums(|row| fixed[row]);
        drop(fixed);
        let mut by_pattern = self.values(&amounts, monitor)?;
        for value in &mut by_pattern {
            *value = shifted(*value, -digits);
        }
        // Of a row of several records that match themselves alone, the mean.
        let times = prepared.question.file.multiplicity();
        Ok(prepared.spread(&by_pattern, |row| {
            weight(row) / times.map_or(1.0, |t| t[row] as f64)
        }))
    }

    /// The sum of the squared weights over the matches of every target; `squares` are
    /// those of rows of several records.
    pub fn squares(
        &self,
        weights: &[f64],
        squares: Option<&[f64]>,
        monitor: &Monitor,
    ) -> Result<Vec<f64>> {
        // In units of the largest weight, the squares of none are lost.
        let largest = exponent(weights.iter().copied().fold(0.0, f64::max));
        let square = |row: usize| match squares {
            None => shifted(weights[row], -largest).powi(2),
            Some(squares) => shifted(squares[row], -2 * largest),
        };
        let mut sums = self.weighted(square, monitor)?;
        for sum in &mut sums {
            *sum = shifted(*sum, 2 * largest);
        }
        Ok(sums)
    }

    /// Binary digits that counting combinations of values can add to a sum of
    /// `total`.
    fn room(&self, total: u64) -> Result<u32> {
        let relations = self.prepared.question.relations.iter();
        let digits = |n: u64| u64::BITS - n.leading_zeros();
        let room: u32 = relations.map(|r| digits(r.largest_size() - 1)).sum();
        if room + digits(total) > 64 {
            return Err(Error::too_large(
                "The candidate sets of a record may be combined in at most 2^64 ways.",
                "They can be combined in more.",
                "Take `rule = \"overlap\"`, or fewer or smaller sets.",
            ));
        }
        Ok(room)
    }

    /// Per target pattern, the matches with incomplete partners weighted, as
    /// averages over the target's values.
    fn values<T: Amount>(&self, amounts: &[T], monitor: &Monitor) -> Result<Vec<f64>> {
        let prepared = self.prepared;
        let alpha = prepared.question.partial_weight;
        let all = self.average(self.total(amounts, monitor)?);
        if (alpha - 1.0).abs() <= 0.0 {
            return Ok(all);
        }
        let complete: Vec<T> = (amounts.iter().zip(&prepared.complete))
            .map(|(&amount, &complete)| if complete { amount } else { T::default() })
            .collect();
        let complete = self.average(self.total(&complete, monitor)?);
        let targets = prepared.target_patterns();
        Ok((all.into_iter().zip(complete).enumerate())
            .map(|(x, (all, complete))| {
                let same = match prepared.file.find(targets, x) {
                    Some(p) if !prepared.complete[p] && !prepared.is_alone(x) => {
                        amounts[p].number()
                    }
                    _ => 0.0,
                };
                alpha * all + (1.0 - alpha) * (complete + same)
            })
            .collect())
    }

    fn total<T: Amount>(&self, amounts: &[T], monitor: &Monitor) -> Result<Vec<T>> {
        if self.prepared.matches_itself_alone() {
            return Ok(amounts.to_vec());
        }
        if let Some(plan) = &self.plan {
            let (file, targets) = (&self.prepared.file, self.prepared.target_patterns());
            return dense::sums(plan, file, targets, amounts, monitor);
        }
        if self.counted {
            let sink = |arranged: &_| Counted::new(self.search, amounts, arranged);
            return run(self.search, sink, monitor);
        }
        if let Some(ranges) = self.only_ranges() {
            return Ok(self.sums_of_ranges(ranges, amounts));
        }
        let usual = usual(amounts);
        run(
            self.search,
            |arranged| Sum::new(amounts, usual, arranged),
            monitor,
        )
    }

    /// The ranges of compatible codes, where there is one column and nothing else
    /// to look at.
    fn only_ranges(&self) -> Option<&[(u32, u32)]> {
        let prepared = self.prepared;
        match (
            &prepared.file.layout.columns[..],
            prepared.question.min_overlap,
        ) {
            (&[column], 0) => prepared.question.relations[column].ranges(),
            _ => None,
        }
    }

    /// Sums over ranges of the codes of one column: differences of sums up to a
    /// code, so that nothing is looked at twice.
    fn sums_of_ranges<T: Amount>(&self, ranges: &[(u32, u32)], amounts: &[T]) -> Vec<T> {
        let (file, targets) = (&self.prepared.file, self.prepared.target_patterns());
        let mut missing = T::default();
        let mut upto = vec![T::default(); ranges.len() + 1];
        for (pattern, &amount) in amounts.iter().enumerate() {
            match file.code(pattern, 0) as usize {
                0 => missing += amount,
                code => upto[code] += amount,
            }
        }
        for code in 1..upto.len() {
            let before = upto[code - 1];
            upto[code] += before;
        }
        let sum = |x: usize| {
            let (first, last) = match targets.code(x, 0) as usize {
                0 => (1, ranges.len()),
                code => (ranges[code - 1].0 as usize, ranges[code - 1].1 as usize),
            };
            let mut sum = upto[last] - upto[first - 1];
            sum += missing;
            sum
        };
        (0..targets.len()).map(sum).collect()
    }

    /// Sums over the target's values as averages.
    fn average<T: Amount>(&self, sums: Vec<T>) -> Vec<f64> {
        (sums.into_iter().enumerate())
            .map(|(x, sum)| match self.counted {
                true => sum.number() / self.search.combinations(x),
                false => sum.number(),
            })
            .collect()
    }
}

/// Weights as whole multiples of a unit, 2 to the power of minus the second
/// number, so small that nothing is lost beside their sum; `spare` binary digits
/// are left free.
pub(super) fn fixed_point(n: usize, weight: impl Fn(usize) -> f64, spare: u32) -> (Vec<u128>, i32) {
    let total: f64 = (0..n).map(&weight).sum();
    let digits = 120 - spare as i32 - exponent(total);
    let fixed = |row| shifted(weight(row), digits) as u128;
    ((0..n).map(fixed).collect(), digits)
}

/// The power of two that a positive number is at most.
fn exponent(x: f64) -> i32 {
    x.log2().ceil().clamp(-1100.0, 1100.0) as i32
}

/// `x` times a power of two, in steps: that power itself may be no number.
pub(super) fn shifted(x: f64, exponent: i32) -> f64 {
    let third = exponent / 3;
    x * 2f64.powi(third) * 2f64.powi(third) * 2f64.powi(exponent - 2 * third)
}
