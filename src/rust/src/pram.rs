//! `invariant_pram()` and its audit: settings in, donor records and cells out.

use extendr_api::prelude::*;
use sdcrisk_core::pram::{
    draw_next, exact_theta, margins, new_pairs, paper_theta, reach, release, simulate, Calibration,
    Design, Drawn, Forbidden, Layout, Moves, Prefer, Scope, Settings, Tally, Unprotected,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{KeyTable, Probability, Result, Weights};

use crate::convert::{
    count, counts, doubles, indices, integers, list, optional, positions, text, whole, Named, Run,
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

/// Levels counted from 0, where there are any.
fn numbers(settings: &Named, element: &str) -> Result<Option<Vec<u32>>> {
    let levels = settings.optional(element)?;
    levels.map(|x| whole(&x, element)).transpose()
}

/// R's positions as indices.
fn places(x: &Robj, name: &str) -> Result<Vec<u32>> {
    Ok(indices(x, name)?.into_iter().map(|i| i as u32).collect())
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
            let pairs = whole(first, "forbid")?.into_iter();
            Ok(Forbidden {
                key: count(key, "forbid")?.wrapping_sub(1),
                pairs: pairs.zip(whole(second, "forbid")?).collect(),
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

/// One number per unit or cell, or none.
fn numbers_of(settings: &Named, element: &str) -> Result<Option<Vec<f64>>> {
    let values = settings.optional(element)?;
    let values = values.map(|x| doubles(&x, element).map(<[f64]>::to_vec));
    values.transpose()
}

/// Designs the blocks of a file and draws a release. `rows` are the records that
/// stand for the units, where these are not the records.
#[extendr]
fn rs_invariant_pram(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (given, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let ordered = logicals(&given.get("ordered")?, "ordered")?;
        let forbidden = rules(&given.get("forbid")?)?;
        let level = numbers(&given, "level")?;
        let family = numbers(&given, "family")?;
        let weights = numbers_of(&given, "weights")?;
        let settings = Settings {
            bound: bound(&given.get("max_match_prob")?)?,
            scope: match given.text("scope")?.as_str() {
                "all" => Scope::All,
                "risky" => Scope::Risky,
                _ => return Err(bad_call("scope")),
            },
            calibration: calibration(&given.get("calibration")?)?,
            prefer: match given.text("prefer")?.as_str() {
                "fewest_changes" => Prefer::FewestChanges,
                "nearest" => Prefer::Nearest,
                "similar_weights" => Prefer::SimilarWeights,
                _ => return Err(bad_call("prefer")),
            },
            unprotected: match given.text("unprotected")?.as_str() {
                "error" => Unprotected::Refuse,
                "merge" => Unprotected::Merge,
                "keep" => Unprotected::Keep,
                _ => return Err(bad_call("unprotected")),
            },
            ordered: &ordered,
            forbidden: &forbidden,
            level: level.as_deref(),
            family: family.as_deref(),
            weights: (weights.as_deref())
                .map(|w| Weights::new(w, w.len()))
                .transpose()?,
        };
        let streams = Streams::new(given.seed("seed")?);
        let rows = given.optional("rows")?;
        let rows = rows.map(|x| places(&x, "rows")).transpose()?;
        with_table(&table, |table| match rows {
            None => designed(table, &settings, &streams, &run),
            Some(rows) if rows.iter().any(|&row| row as usize >= table.n_rows()) => {
                Err(bad_call("rows"))
            }
            Some(rows) => designed(&table.select(&rows)?, &settings, &streams, &run),
        })
    })
}

fn designed(table: &KeyTable, settings: &Settings, streams: &Streams, run: &Run) -> Result<Robj> {
    let columns = table.columns().len();
    let of_keys = settings.forbidden.iter().all(|rule| rule.key < columns);
    if settings.ordered.len() != columns || !of_keys {
        return Err(bad_call("ordered"));
    }
    let (found, donors) = run.watched(|monitor| release(table, settings, streams, monitor))?;
    Ok(design_list(&found, &donors))
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
fn rs_pram_match_prob(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let cells = settings.get("counts")?;
        let block = tally(&cells)?;
        let cells = doubles(&cells, "counts")?;
        let theta = settings.number("theta")?;
        let a = settings.get("a")?;
        let a: Vec<u64> = doubles(&a, "a")?.iter().map(|&a| a as u64).collect();
        let found = run.watched(|monitor| block.match_prob_table(theta, &a, monitor))?;
        let rows: Vec<Option<usize>> = cells.iter().map(|&t| block.place(t as u64)).collect();
        let of = |row: &Option<usize>, a: usize| row.and_then(|row| found[row][a]);
        let by_column = (0..a.len()).flat_map(|a| rows.iter().map(move |row| (row, a)));
        Ok(optional(by_column.map(|(row, a)| of(row, a))))
    })
}

/// Theta of every bound: published, or exact for one block (NA where no theta
/// reaches the bound, with the lowest that one does).
#[extendr]
fn rs_pram_theta(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let bounds = settings.probabilities("max_match_prob")?;
        let exact = match calibration(&settings.get("calibration")?)? {
            Calibration::Paper => None,
            Calibration::Exact => Some(tally(&settings.get("counts")?)?),
        };
        let (thetas, lowest) = run.watched(|_| match exact {
            None => Ok((
                bounds
                    .into_iter()
                    .map(paper_theta)
                    .map(|t| t.map(Some))
                    .collect::<Result<Vec<_>>>()?,
                None,
            )),
            Some(block) => Ok((
                (bounds.into_iter().map(|bound| exact_theta(&block, bound))).collect(),
                Some(reach(&block)),
            )),
        })?;
        Ok(list!(
            theta = optional(thetas.into_iter()),
            lowest = optional(std::iter::once(lowest))
        )
        .into())
    })
}

/// The new cells of the next records of a file that comes in parts.
#[extendr]
fn rs_pram_draw(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let blocks = block_indices(&settings.get("block")?)?;
        let cells = places(&settings.get("cells")?, "cells")?;
        let drawn = Drawn {
            rows: settings.number("rows")? as u64,
            words: settings.number("words")? as u64,
        };
        let counts = cell_counts(&settings.get("counts")?)?;
        let thetas = settings.get("thetas")?;
        let moves = Moves::new(&counts, &blocks, doubles(&thetas, "thetas")?)?;
        let streams = Streams::new(settings.seed("seed")?);
        let (targets, next) =
            run.watched(|monitor| draw_next(&moves, &cells, drawn, &streams, monitor))?;
        Ok(list!(
            cells = positions(&targets),
            rows = next.rows as f64,
            words = next.words as f64
        )
        .into())
    })
}

fn cell_counts(x: &Robj) -> Result<Vec<u64>> {
    Ok(doubles(x, "counts")?.iter().map(|&t| t as u64).collect())
}

/// Blocks as R counts them, NA for none.
fn block_indices(x: &Robj) -> Result<Vec<Option<u32>>> {
    Ok((integers(x, "block")?.iter())
        .map(|&b| (b != i32::MIN).then(|| (b as u32).wrapping_sub(1)))
        .collect())
}

/// The cells of a release as R keeps them.
fn layout(settings: &Named) -> Result<Layout> {
    let blocks = settings.get("block")?;
    let cells = settings.get("counts")?;
    let thetas = settings.get("thetas")?;
    Layout::new(
        cell_counts(&cells)?,
        block_indices(&blocks)?,
        doubles(&thetas, "thetas")?.to_vec(),
    )
}

/// Number of groups of a grouping.
fn n_groups(group: &[u32]) -> usize {
    group.iter().max().map_or(0, |&last| last as usize + 1)
}

/// Exact match probability and variance of groups of cells, for every grouping.
#[extendr]
fn rs_pram_margins(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let layout = layout(&settings)?;
        let squares = numbers_of(&settings, "squares")?;
        let groupings = settings
            .list("groups")?
            .values()
            .map(|group| places(&group, "groups"))
            .collect::<Result<Vec<_>>>()?;
        let found = run.watched(|monitor| {
            let squares = squares.as_deref();
            (groupings.iter())
                .map(|group| margins(&layout, group, n_groups(group), squares, monitor))
                .collect::<Result<Vec<_>>>()
        })?;
        let columns = found.iter().map(|found| {
            let before: Vec<f64> = found.iter().map(|m| m.count as f64).collect();
            let match_prob: Vec<f64> = found.iter().map(|m| m.match_prob).collect();
            let variance: Vec<f64> = found.iter().map(|m| m.variance).collect();
            list!(count = before, match_prob = match_prob, variance = variance)
        });
        Ok(List::from_values(columns).into())
    })
}

/// Simulated attempts, by count of the target's group before and after.
#[extendr]
fn rs_pram_simulate(settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let layout = layout(&settings)?;
        let group = places(&settings.get("group")?, "group")?;
        let n_sim = settings.count("n_sim")?;
        let streams = Streams::new(settings.seed("seed")?);
        let found = run.watched(|monitor| {
            simulate(&layout, &group, n_groups(&group), n_sim, &streams, monitor)
        })?;
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
fn rs_pram_new_pairs(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let (settings, run) = (Named::new(&settings, "settings")?, Run::new(&run)?);
        let donors = places(&settings.get("donors")?, "donors")?;
        let others = settings.get("others")?;
        with_table(&table, |keys| {
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
    fn rs_pram_draw;
    fn rs_pram_match_prob;
    fn rs_pram_theta;
    fn rs_pram_margins;
    fn rs_pram_simulate;
    fn rs_pram_new_pairs;
}
