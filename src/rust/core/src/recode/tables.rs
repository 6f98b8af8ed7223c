//! Cost of every level of every variable.
//!
//! For a record with value a, in group G at level l, of n records:
//! * entropy: `log2(n_G / n_a)` bits; blanked `log2(n / n_a)`, so that a blank
//!   costs `lift = log2(n / n_G)` more;
//! * loss: `(leaves of G - 1) / (leaves - 1)`; blanked 1;
//! * levels: `l / top`; blanked 1.
//!
//! The lift depends on the group only: no values are needed once rows are
//! collapsed. `C(l)` is the loss summed over records.

use super::{Charge, Cost, Variable};

/// One variable, priced.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Code at level 0 of every distinct row.
    pub codes: Vec<u32>,
    /// Number of codes, missing included.
    pub n_codes: usize,
    /// The levels that may be chosen.
    pub levels: Vec<Level>,
}

impl Prepared {
    /// The cost of the top.
    pub fn top_base(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.base)
    }
}

/// One level of one variable.
#[derive(Debug)]
pub(crate) struct Level {
    /// Its number in the hierarchy.
    pub level: usize,
    /// Group of every distinct row.
    pub column: Vec<u32>,
    pub n_groups: usize,
    /// Cost of recoding all records.
    pub base: f64,
    /// Cost of blanking a record of each group more.
    pub lift: Vec<f64>,
    /// Lift by code.
    pub lift_of_code: Vec<f64>,
    /// By code, what blanking adds at least to the cost of this level, at this level
    /// or above.
    pub least_of_code: Vec<f64>,
    /// Group of every code.
    pub group_of_code: Vec<u32>,
}

pub(super) fn prepare_variable(
    variable: &Variable,
    codes: Vec<u32>,
    counts: &[u32],
    n_records: u64,
    charge: Charge,
) -> Prepared {
    let n_codes = variable.groups.first().map_or(0, Vec::len);
    let mut records = vec![0u64; n_codes];
    for (&code, &count) in codes.iter().zip(counts) {
        records[code as usize] += u64::from(count);
    }
    let levels = variable.allowed.iter().map(|&level| {
        let (group_of_code, n_groups) = dense(&variable.groups[level]);
        let column = codes.iter().map(|&c| group_of_code[c as usize]).collect();
        let mut of_group = vec![0u64; n_groups];
        for (&group, &n) in group_of_code.iter().zip(&records) {
            of_group[group as usize] += n;
        }
        let price = Price {
            variable,
            level,
            charge,
            n_records: n_records as f64,
        };
        let mut base = 0.0;
        let mut lift = vec![0.0; n_groups];
        for (code, &n) in records.iter().enumerate().filter(|(_, &n)| n > 0) {
            let group = group_of_code[code] as usize;
            base += n as f64 * price.loss(code, n, of_group[group]);
            lift[group] = price.lift(code, of_group[group]);
        }
        Level {
            level,
            column,
            n_groups,
            base,
            lift_of_code: group_of_code.iter().map(|&g| lift[g as usize]).collect(),
            least_of_code: Vec::new(),
            lift,
            group_of_code,
        }
    });
    let mut levels: Vec<Level> = levels.collect();
    find_least(&mut levels, charge.blank_price);
    Prepared {
        levels,
        n_codes,
        codes,
    }
}

/// A coarser level charges a blanked record for its own loss what the lift falls by,
/// in units without the price. At a price above 1 the sum can fall: of the lift only
/// what it is at the top is charged at the full price for sure.
fn find_least(levels: &mut [Level], price: f64) {
    let top = levels.last().map_or(Vec::new(), |l| l.lift_of_code.clone());
    let beyond = 1.0 - 1.0 / price.max(1.0);
    for level in levels {
        let least = |(&own, &top): (&f64, &f64)| own / price.max(1.0) + beyond * top;
        level.least_of_code = level.lift_of_code.iter().zip(&top).map(least).collect();
    }
}

/// Groups numbered from 0 in order of first appearance.
fn dense(groups: &[u32]) -> (Vec<u32>, usize) {
    let mut number = hashbrown::HashMap::new();
    let of = groups.iter().map(|&g| {
        let next = number.len() as u32;
        *number.entry(g).or_insert(next)
    });
    let of: Vec<u32> = of.collect();
    let n = number.len();
    (of, n)
}

struct Price<'a> {
    variable: &'a Variable,
    level: usize,
    charge: Charge,
    n_records: f64,
}

impl Price<'_> {
    /// Loss of a record with `code`, as a share or in bits.
    fn loss(&self, code: usize, of_code: u64, of_group: u64) -> f64 {
        let loss = match self.charge.cost {
            Cost::Entropy => (of_group as f64 / of_code as f64).log2(),
            Cost::Loss | Cost::Levels => self.share(code),
        };
        loss * self.variable.weight
    }

    /// Additional loss by suppression.
    fn lift(&self, code: usize, of_group: u64) -> f64 {
        let lift = match self.charge.cost {
            Cost::Entropy => (self.n_records / of_group as f64).log2(),
            Cost::Loss | Cost::Levels => 1.0 - self.share(code),
        };
        lift * self.variable.weight * self.charge.blank_price
    }

    fn share(&self, code: usize) -> f64 {
        let (part, whole) = match self.charge.cost {
            Cost::Levels => (self.level as f64, (self.variable.groups.len() - 1) as f64),
            _ => (
                self.variable.leaves[self.level][code] - 1.0,
                self.variable.n_leaves - 1.0,
            ),
        };
        if whole > 0.0 {
            part / whole
        } else {
            0.0
        }
    }
}
