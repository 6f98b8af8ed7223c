//! `invariant_pram()` and its audit: settings in, donor records and cells out.

use extendr_api::prelude::*;
use sdcrisk_core::pram::{
    exact_theta, margins, new_pairs, paper_theta, reach, release, simulate, Calibration, Design,
    Forbidden, Layout, Prefer, Scope, Settings, Tally, Unprotected,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{Probability, Result, Weights};

use crate::convert::{
    count, counts, doubles, indices, integers, list, optional, positions, seed, text, Run,
};
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

fn bound(x: &Robj) -> Result<Probability> {
    match doubles(x, "max_match_prob")? {
        [value] => Probability::new(*value, "max_match_prob"),
        _ => Err(bad_call("max_match_prob")),
    }
}

fn calibration(x: &Robj) -> Result<Calibration> {
    match text(x, "calibration")? {
        "exact" => Ok(Calibration::Exact),
        "paper" => Ok(Calibration::Paper),
        _ => Err(bad_call("calibration")),
    }
}

/// Levels or codes counted from 0; NULL is none.
fn numbers(x: &Robj, name: &str) -> Result<Option<Vec<u32>>> {
    if x.is_null() {
        return Ok(None);
    }
    Ok(Some(
        integers(x, name)?
            .iter()
            .map(|&i| u32::try_from(i).map_err(|_| bad_call(name)))
            .collect::<Result<_>>()?,
    ))
}

/// Rules as a list of list(key, codes, codes).
fn rules(x: &Robj) -> Result<Vec<Forbidden>> {
    list(x, "forbid")?
        .values()
        .map(|rule| {
            let parts: Vec<Robj> = list(&rule, "forbid")?.values().collect();
            let [key, first, second] = parts.as_slice() else {
                return Err(bad_call("forbid"));
            };
            let codes = |x| numbers(x, "forbid").map(Option::unwrap_or_default);
            Ok(Forbidden {
                key: count(key, "forbid")?.wrapping_sub(1),
                pairs: codes(first)?.into_iter().zip(codes(second)?).collect(),
            })
        })
        .collect()
}

fn logicals(x: &Robj, name: &str) -> Result<Vec<bool>> {
    let values = x.as_logical_slice().ok_or_else(|| bad_call(name))?;
    Ok(values.iter().map(|v| v.is_true()).collect())
}

/// Blocks as R counts them, NA for none.
fn block_numbers(blocks: &[Option<u32>]) -> Robj {
    blocks
        .iter()
        .map(|block| block.map_or(Rint::na(), |b| Rint::from(b as i32 + 1)))
        .collect::<Integers>()
        .into()
}

/// Designs the blocks of a file and draws a release.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_invariant_pram(
    table: Robj,
    max_match_prob: Robj,
    scope: Robj,
    calibrate: Robj,
    prefer: Robj,
    unprotected: Robj,
    ordered: Robj,
    forbid: Robj,
    level: Robj,
    family: Robj,
    weights: Robj,
    seeds: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let ordered = logicals(&ordered, "ordered")?;
        let forbidden = rules(&forbid)?;
        let level = numbers(&level, "level")?;
        let family = numbers(&family, "family")?;
        let weights = if weights.is_null() {
            None
        } else {
            Some(doubles(&weights, "weights")?)
        };
        let settings = Settings {
            bound: bound(&max_match_prob)?,
            scope: match text(&scope, "scope")? {
                "all" => Scope::All,
                "risky" => Scope::Risky,
                _ => return Err(bad_call("scope")),
            },
            calibration: calibration(&calibrate)?,
            prefer: match text(&prefer, "prefer")? {
                "fewest_changes" => Prefer::FewestChanges,
                "nearest" => Prefer::Nearest,
                "similar_weights" => Prefer::SimilarWeights,
                _ => return Err(bad_call("prefer")),
            },
            unprotected: match text(&unprotected, "unprotected")? {
                "error" => Unprotected::Refuse,
                "merge" => Unprotected::Merge,
                "keep" => Unprotected::Keep,
                _ => return Err(bad_call("unprotected")),
            },
            ordered: &ordered,
            forbidden: &forbidden,
            level: level.as_deref(),
            family: family.as_deref(),
            weights: weights.map(|w| Weights::new(w, w.len())).transpose()?,
        };
        let streams = Streams::new(seed(&seeds, "seeds")?);
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let columns = table.columns().len();
            if ordered.len() != columns || forbidden.iter().any(|rule| rule.key >= columns) {
                return Err(bad_call("ordered"));
            }
            let (found, donors) =
                run.watched(|monitor| release(table, &settings, &streams, monitor))?;
            Ok(design_list(&found, &donors))
        })
    })
}

fn design_list(found: &Design, donors: &[u32]) -> Robj {
    let cell_counts: Vec<f64> = found.counts.iter().map(|&c| c as f64).collect();
    let stay: Vec<f64> = (0..found.counts.len())
        .map(|cell| 1.0 - found.theta_of(cell) / found.counts[cell] as f64)
        .collect();
    let unreached: Vec<u32> = found.unreached.concat();
    list!(
        row_cell = positions(&found.row_cell),
        first_row = positions(&found.first_row),
        counts = cell_counts,
        block = block_numbers(&found.block),
        thetas = found.thetas.clone(),
        stay_prob = stay,
        match_prob = found.match_prob.clone(),
        all_counts = found.all_counts.clone(),
        expected_changes = found.expected_changes.clone(),
        unreached = positions(&unreached),
        unreached_sizes = counts(found.unreached.iter().map(|group| group.len() as u32)),
        lowest = found.lowest,
        n_merged = found.n_merged as i32,
        donors = positions(donors)
    )
    .into()
}

fn tally(x: &Robj) -> Result<Tally> {
    let cells = doubles(x, "counts")?;
    if cells.iter().any(|t| !(1.0..=9e15).contains(t)) {
        return Err(bad_call("counts"));
    }
    Ok(Tally::new(cells.iter().map(|&t| t as u64)))
}

/// Exact match probabilities of the cells of one block: cells times `a`.
#[extendr]
fn rs_pram_match_prob(cells: Robj, theta: Robj, a: Robj, run: Robj) -> Robj {
    guard(|| {
        let block = tally(&cells)?;
        let cells = doubles(&cells, "counts")?;
        let &[theta] = doubles(&theta, "theta")? else {
            return Err(bad_call("theta"));
        };
        let a: Vec<u64> = doubles(&a, "a")?.iter().map(|&a| a as u64).collect();
        let found =
            Run::new(&run)?.watched(|monitor| block.match_prob_table(theta, &a, monitor))?;
        let rows: Vec<Option<usize>> = cells.iter().map(|&t| block.place(t as u64)).collect();
        let of = |row: &Option<usize>, a: usize| row.and_then(|row| found[row][a]);
        let by_column = (0..a.len()).flat_map(|a| rows.iter().map(move |row| (row, a)));
        Ok(optional(by_column.map(|(row, a)| of(row, a))))
    })
}

/// Theta of a bound: published, or exact for one block (NA where no theta
/// reaches the bound, with the lowest that one does).
#[extendr]
fn rs_pram_theta(max_match_prob: Robj, cells: Robj, calibrate: Robj) -> Robj {
    guard(|| {
        let bound = bound(&max_match_prob)?;
        let (theta, lowest) = match calibration(&calibrate)? {
            Calibration::Paper => (Some(paper_theta(bound)?), None),
            Calibration::Exact => {
                let block = tally(&cells)?;
                (exact_theta(&block, bound), Some(reach(&block)))
            }
        };
        Ok(list!(
            theta = optional(std::iter::once(theta)),
            lowest = optional(std::iter::once(lowest))
        )
        .into())
    })
}

/// The cells of a release as R keeps them.
fn layout(cells: &Robj, block: &Robj, thetas: &Robj) -> Result<Layout> {
    let blocks = integers(block, "block")?
        .iter()
        .map(|&b| (b != i32::MIN).then(|| (b as u32).wrapping_sub(1)))
        .collect();
    Layout::new(
        doubles(cells, "counts")?
            .iter()
            .map(|&t| t as u64)
            .collect(),
        blocks,
        doubles(thetas, "thetas")?.to_vec(),
    )
}

fn groups(x: &Robj) -> Result<Vec<u32>> {
    Ok(indices(x, "group")?.into_iter().map(|g| g as u32).collect())
}

/// Exact match probability and variance of groups of cells.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_pram_margins(
    cells: Robj,
    block: Robj,
    thetas: Robj,
    group: Robj,
    n_groups: Robj,
    squares: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let layout = layout(&cells, &block, &thetas)?;
        let group = groups(&group)?;
        let n_groups = count(&n_groups, "n_groups")?;
        let squares = if squares.is_null() {
            None
        } else {
            Some(doubles(&squares, "squares")?)
        };
        let found = Run::new(&run)?
            .watched(|monitor| margins(&layout, &group, n_groups, squares, monitor))?;
        let before: Vec<f64> = found.iter().map(|m| m.count as f64).collect();
        let match_prob: Vec<f64> = found.iter().map(|m| m.match_prob).collect();
        let variance: Vec<f64> = found.iter().map(|m| m.variance).collect();
        Ok(list!(count = before, match_prob = match_prob, variance = variance).into())
    })
}

/// Simulated attempts, by count of the target's group before and after.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_pram_simulate(
    cells: Robj,
    block: Robj,
    thetas: Robj,
    group: Robj,
    n_groups: Robj,
    n_sim: Robj,
    seeds: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let layout = layout(&cells, &block, &thetas)?;
        let group = groups(&group)?;
        let n_groups = count(&n_groups, "n_groups")?;
        let n_sim = count(&n_sim, "n_sim")?;
        let streams = Streams::new(seed(&seeds, "seeds")?);
        let found = Run::new(&run)?
            .watched(|monitor| simulate(&layout, &group, n_groups, n_sim, &streams, monitor))?;
        let cells = || found.iter().flatten();
        let n: Vec<f64> = cells().map(|a| a.n as f64).collect();
        let hits: Vec<f64> = cells().map(|a| a.hits as f64).collect();
        Ok(list!(
            n = n,
            hits = hits,
            rate = optional(cells().map(|a| a.rate())),
            std_error = optional(cells().map(|a| a.std_error()))
        )
        .into())
    })
}

/// Changed records and new pairs, other columns within keys; NA where the
/// table of two columns would be too large.
#[extendr]
fn rs_pram_new_pairs(keys: Robj, others: Robj, donors: Robj, run: Robj) -> Robj {
    guard(|| {
        let donors: Vec<u32> = indices(&donors, "donors")?
            .into_iter()
            .map(|d| d as u32)
            .collect();
        let run = Run::new(&run)?;
        with_table(&keys, |keys| {
            with_table(&others, |others| {
                let n = keys.n_rows();
                if others.n_rows() != n
                    || donors.len() != n
                    || donors.iter().any(|&d| d as usize >= n)
                {
                    return Err(bad_call("donors"));
                }
                let found = run.watched(|monitor| new_pairs(keys, others, &donors, monitor))?;
                let pairs = || found.iter().flatten();
                Ok(list!(
                    changed = optional(pairs().map(|p| p.map(|(changed, _)| changed as f64))),
                    new = optional(pairs().map(|p| p.map(|(_, new)| new as f64)))
                )
                .into())
            })
        })
    })
}

extendr_module! {
    mod pram;
    fn rs_invariant_pram;
    fn rs_pram_match_prob;
    fn rs_pram_theta;
    fn rs_pram_margins;
    fn rs_pram_simulate;
    fn rs_pram_new_pairs;
}
