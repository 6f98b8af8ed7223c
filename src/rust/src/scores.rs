//! Scores of records: a fit in, one probability per record out.

use extendr_api::prelude::*;
use sdcrisk_core::copula::{
    anchor, edges_with_priors, mapped_categories, model_probabilities, pairs, spanning_tree,
    Cluster, Edge, Effort, Likelihood, Method, Mixture, PairTable, Point, Tree,
    TreeMargin as Margin, UNSEEN,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{Monitor, Result, Weights};

use crate::convert::{
    count, double_vectors, doubles, indices, integers, list, matrix, seed, text, Run,
};
use crate::copula::model_of;
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

fn pair_table(x: &Robj) -> Result<PairTable> {
    Ok(PairTable {
        cells: matrix(x, "pairs")?,
    })
}

fn pair_tables(x: &Robj) -> Result<Vec<PairTable>> {
    list(x, "pairs")?
        .values()
        .map(|table| pair_table(&table))
        .collect()
}

/// Counts per key, scaled to records, and margins known from elsewhere.
fn margins(counts: &Robj, given: &Robj, scale: f64) -> Result<Vec<Margin>> {
    let counts = double_vectors(counts, "counts")?;
    let given = list(given, "given")?;
    counts
        .into_iter()
        .zip(given.values())
        .map(|(counts, given)| {
            Ok(Margin {
                counts: counts.into_iter().map(|c| c * scale).collect(),
                given: if given.is_null() {
                    None
                } else {
                    Some(doubles(&given, "given")?.to_vec())
                },
            })
        })
        .collect()
}

fn number(x: &Robj, name: &str) -> Result<f64> {
    match doubles(x, name)? {
        [x] => Ok(*x),
        _ => Err(bad_call(name)),
    }
}

/// Edges from two rows of positions of keys and their priors.
fn edges(keys: &Robj, prior: &Robj) -> Result<Vec<Edge>> {
    let keys = indices(keys, "edges")?;
    let prior = doubles(prior, "prior")?;
    if keys.len() != 2 * prior.len() {
        return Err(bad_call("edges"));
    }
    Ok(keys
        .chunks_exact(2)
        .zip(prior)
        .map(|(keys, &prior)| Edge {
            keys: (keys[0], keys[1]),
            prior,
        })
        .collect())
}

/// Where records are, as R holds it.
fn points(ln_p: &Robj, variance: &Robj) -> Result<Vec<Point>> {
    let (ln_p, variance) = (doubles(ln_p, "ln_p")?, doubles(variance, "variance")?);
    if ln_p.len() != variance.len() {
        return Err(bad_call("variance"));
    }
    Ok(ln_p
        .iter()
        .zip(variance)
        .map(|(&ln_p, &variance)| Point { ln_p, variance })
        .collect())
}

fn mixture(alpha: &Robj, spread: &Robj) -> Result<Mixture> {
    Ok(Mixture {
        alpha: number(alpha, "alpha")?,
        spread: number(spread, "spread")?,
    })
}

/// One number per record, or none.
fn weights_of(weights: &Robj, n: usize) -> Result<Option<&[f64]>> {
    if weights.is_null() {
        return Ok(None);
    }
    let weights = doubles(weights, "weights")?;
    if weights.len() == n {
        Ok(Some(weights))
    } else {
        Err(bad_call("weights"))
    }
}

fn edge_columns(edges: &[Edge]) -> (Vec<i32>, Vec<f64>) {
    (
        edges
            .iter()
            .flat_map(|e| [e.keys.0 as i32 + 1, e.keys.1 as i32 + 1])
            .collect(),
        edges.iter().map(|e| e.prior).collect(),
    )
}

/// The tree of a sample, how uncertain its probabilities are, and where its
/// records lie, each being left out; without a sample the tree alone.
/// `pairs_of_keys` are the tables of all pairs, `excess` their information above
/// chance.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_tree_fit(
    table: Robj,
    weights: Robj,
    pairs_of_keys: Robj,
    excess: Robj,
    counts: Robj,
    given: Robj,
    n: Robj,
    scale: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let scale = number(&scale, "scale")?;
        let n = number(&n, "n")?;
        let margins = margins(&counts, &given, scale)?;
        let all = pairs(margins.len());
        let excess = doubles(&excess, "excess")?;
        let tables = list(&pairs_of_keys, "pairs")?;
        let tables: Vec<Robj> = tables.values().collect();
        if tables.len() != all.len() || excess.len() != all.len() {
            return Err(bad_call("pairs"));
        }
        let keys = spanning_tree(margins.len(), &all, excess);
        let tables = keys
            .iter()
            .map(|pair| match all.binary_search(pair) {
                Ok(at) => pair_table(&tables[at]),
                Err(_) => Err(bad_call("pairs")),
            })
            .collect::<Result<Vec<PairTable>>>()?;
        let run = Run::new(&run)?;
        if table.is_null() {
            let edges = run.watched(|m: &Monitor| edges_with_priors(&keys, &tables, scale, m))?;
            let (edges, prior) = edge_columns(&edges);
            return Ok(list!(edges = edges, prior = prior).into());
        }
        with_table(&table, |table| {
            let weights = weights_of(&weights, table.n_rows())?
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let (edges, (sample, mixture, ln_lambda)) = run.watched(|monitor| {
                let edges = edges_with_priors(&keys, &tables, scale, monitor)?;
                let tree = Tree::new(margins, &edges, &tables, n, scale)?;
                let found = tree.uncertainty(table, weights, monitor)?;
                Ok((edges, found))
            })?;
            let (edges, prior) = edge_columns(&edges);
            let column = |of: fn(&Cluster) -> f64| sample.iter().map(of).collect::<Vec<f64>>();
            Ok(list!(
                edges = edges,
                prior = prior,
                alpha = mixture.alpha,
                spread = mixture.spread,
                ln_lambda = ln_lambda,
                ln_p = column(|c| c.point.ln_p),
                variance = column(|c| c.point.variance),
                weight = column(|c| c.weight),
                n = column(|c| c.n),
                n_unique = column(|c| c.n_unique)
            )
            .into())
        })
    })
}

/// Where every record of a table lies in the tree of a fit. `maps` says which
/// category, counted from 1, every code is: 0 for none. `own`: the records are
/// those of the sample, with `weights`; each is then left out.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_tree_points(
    table: Robj,
    maps: Robj,
    edge_keys: Robj,
    prior: Robj,
    pairs_of_edges: Robj,
    counts: Robj,
    given: Robj,
    n: Robj,
    scale: Robj,
    own: Robj,
    weights: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let scale = number(&scale, "scale")?;
        let n = number(&n, "n")?;
        let margins = margins(&counts, &given, scale)?;
        let edges = edges(&edge_keys, &prior)?;
        let tables = pair_tables(&pairs_of_edges)?;
        let maps = category_maps(&maps)?;
        let own = own.as_bool().ok_or_else(|| bad_call("own"))?;
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let weights = weights_of(&weights, table.n_rows())?;
            let own_weights = weights
                .map(|w| Weights::new(w, table.n_rows()))
                .transpose()?;
            let found = run.watched(|monitor| {
                let tree = Tree::new(margins, &edges, &tables, n, scale)?;
                let categories = mapped_categories(table, &maps)?;
                if own {
                    tree.points_without(&categories, own_weights, monitor)
                } else {
                    tree.points(&categories, monitor)
                }
            })?;
            Ok(list!(
                ln_p = found.iter().map(|p| p.ln_p).collect::<Vec<f64>>(),
                variance = found.iter().map(|p| p.variance).collect::<Vec<f64>>()
            )
            .into())
        })
    })
}

/// The logarithm of the factor of all probabilities, and the share of their
/// uncertainty, under which records at these points are unique among `n_people` as
/// often as `uniqueness` says.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_tree_anchor(
    ln_p: Robj,
    variance: Robj,
    weights: Robj,
    alpha: Robj,
    spread: Robj,
    ln_sample: Robj,
    n_people: Robj,
    uniqueness: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let points = points(&ln_p, &variance)?;
        let weights = weights_of(&weights, points.len())?;
        let mixture = mixture(&alpha, &spread)?;
        let ln_sample = number(&ln_sample, "ln_sample")?;
        let n_people = number(&n_people, "n_people")?;
        let uniqueness = number(&uniqueness, "uniqueness")?;
        let run = Run::new(&run)?;
        let found = run.watched(|monitor| {
            anchor(
                &mixture, ln_sample, &points, weights, n_people, uniqueness, monitor,
            )
        })?;
        Ok(list!(ln_lambda = found.ln_lambda, left = found.left).into())
    })
}

/// Likelihoods of records at these points among `n_people`. `counts`: how many
/// records of the sample of `n` each equals, where that is to be used, or NULL.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_tree_likelihoods(
    ln_p: Robj,
    variance: Robj,
    alpha: Robj,
    spread: Robj,
    ln_lambda: Robj,
    left: Robj,
    n_people: Robj,
    counts: Robj,
    n: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let points = points(&ln_p, &variance)?;
        let counts = weights_of(&counts, points.len())?;
        let mixture = mixture(&alpha, &spread)?.sharpened(number(&left, "left")?);
        let ln_lambda = number(&ln_lambda, "ln_lambda")?;
        let n_people = number(&n_people, "n_people")?;
        let n = number(&n, "n")?;
        let run = Run::new(&run)?;
        let sample = counts.map(|counts| (n, counts));
        let found = run.watched(|monitor| {
            mixture.likelihoods(&points, ln_lambda, n_people, sample, monitor)
        })?;
        let column = |of: fn(&Likelihood) -> f64| found.iter().map(of).collect::<Vec<f64>>();
        Ok(list!(
            prob = column(|l| l.prob),
            xi = column(|l| l.unique),
            kappa = column(|l| l.correct),
            shape = column(|l| l.shape)
        )
        .into())
    })
}

/// The probability of every record of a table under a model, and its standard
/// error. Equal records are computed once.
#[extendr]
#[allow(clippy::too_many_arguments)]
fn rs_model_scores(
    table: Robj,
    maps: Robj,
    shares: Robj,
    orders: Robj,
    correlation: Robj,
    method: Robj,
    least: Robj,
    tolerance: Robj,
    absolute: Robj,
    max_blocks: Robj,
    draws: Robj,
    run: Robj,
) -> Robj {
    guard(|| {
        let model = model_of(&shares, &orders, &correlation)?;
        let maps = category_maps(&maps)?;
        let method = match text(&method, "method")? {
            "copula" => Method::Rectangle,
            "placement" => Method::Placement,
            _ => return Err(bad_call("method")),
        };
        let least = number(&least, "least")?;
        let effort = Effort {
            tolerance: number(&tolerance, "tolerance")?,
            absolute: number(&absolute, "absolute")?,
            max_blocks: count(&max_blocks, "max_blocks")?,
        };
        let streams = Streams::new(seed(&draws, "seed")?);
        let run = Run::new(&run)?;
        with_table(&table, |table| {
            let (found, row_group) = run.watched(|monitor| {
                let groups = table.group(monitor)?;
                let distinct = table.distinct(&groups)?;
                let categories = mapped_categories(&distinct, &maps)?;
                let found = model_probabilities(
                    &model,
                    &categories,
                    method,
                    least,
                    effort,
                    &streams,
                    monitor,
                )?;
                Ok((found, groups.row_group().to_vec()))
            })?;
            let of = |g: &u32| found[*g as usize];
            Ok(list!(
                prob = row_group.iter().map(|g| of(g).value).collect::<Vec<f64>>(),
                error = row_group.iter().map(|g| of(g).error).collect::<Vec<f64>>()
            )
            .into())
        })
    })
}

fn category_maps(x: &Robj) -> Result<Vec<Vec<u32>>> {
    list(x, "maps")?
        .values()
        .map(|map| {
            Ok(integers(&map, "maps")?
                .iter()
                .map(|&c| u32::try_from(c - 1).unwrap_or(UNSEEN))
                .collect())
        })
        .collect()
}

extendr_module! {
    mod scores;
    fn rs_tree_fit;
    fn rs_tree_points;
    fn rs_tree_anchor;
    fn rs_tree_likelihoods;
    fn rs_model_scores;
}
