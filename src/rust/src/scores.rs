//! Scores of records: a fit in, likelihoods of uniqueness per record out.

use extendr_api::prelude::*;
use sdcrisk_core::copula::{
    mapped_categories, model_probabilities, tree_of_pairs, Cluster, Edge, Effort, Likelihood,
    Method, Mixture, PairTable, Point, Populations, SampleTree, Tree, TreeMargin as Margin, UNSEEN,
};
use sdcrisk_core::random::Streams;
use sdcrisk_core::{KeyTable, Monitor, Result, Weights};

use crate::convert::{doubles, integers, list, matrix, Named, Run};
use crate::copula::model_of;
use crate::guard::{bad_call, guard};
use crate::key_table::with_table;

fn pair_tables(x: &List) -> Result<Vec<PairTable>> {
    x.values()
        .map(|table| {
            let cells = matrix(&table, "pairs")?;
            Ok(PairTable { cells })
        })
        .collect()
}

/// A tree as R holds it.
struct Fitted {
    margins: Vec<Margin>,
    edges: Vec<Edge>,
    tables: Vec<PairTable>,
    n: f64,
    scale: f64,
    mixture: Mixture,
    ln_sample: f64,
}

impl Fitted {
    fn new(given: &Named) -> Result<Self> {
        let scale = given.number("scale")?;
        let keys = given.indices("edges")?;
        let prior = given.doubles("prior")?;
        if keys.len() != 2 * prior.len() {
            return Err(bad_call("edges"));
        }
        let edge = |(keys, prior): (&[usize], f64)| Edge {
            keys: (keys[0], keys[1]),
            prior,
        };
        Ok(Self {
            margins: margins(given, scale)?,
            edges: keys.chunks_exact(2).zip(prior).map(edge).collect(),
            tables: pair_tables(&given.list("pairs")?)?,
            n: given.number("n")?,
            scale,
            mixture: Mixture {
                alpha: given.number("alpha")?,
                spread: given.number("spread")?,
            },
            ln_sample: given.number("ln_lambda")?,
        })
    }

    /// Places of records with these categories; the sample's own records, with their weights and
    /// multiplicities, are each left out.
    fn points(
        &self,
        categories: &[Vec<u32>],
        own: Option<(Option<Weights<'_>>, Option<&[u64]>)>,
        monitor: &Monitor,
    ) -> Result<Vec<Point>> {
        let margins = self.margins.clone();
        let tree = Tree::new(margins, &self.edges, &self.tables, self.n, self.scale)?;
        match own {
            Some((weights, times)) => tree.points_without(categories, weights, times, monitor),
            None => tree.points(categories, monitor),
        }
    }
}

/// Counts per key, scaled to records, and margins known from elsewhere.
fn margins(given: &Named, scale: f64) -> Result<Vec<Margin>> {
    let elsewhere = given.list("given")?;
    (given.list("counts")?.values().zip(elsewhere.values()))
        .map(|(counts, given)| {
            let counts = doubles(&counts, "counts")?.iter().map(|c| c * scale);
            let given = match given.is_null() {
                true => None,
                false => Some(doubles(&given, "given")?.to_vec()),
            };
            Ok(Margin {
                counts: counts.collect(),
                given,
            })
        })
        .collect()
}

/// The likelihoods that are asked for.
struct Asked {
    sizes: Vec<f64>,
    uniqueness: Option<Vec<f64>>,
    /// True if the records are those of the sample, with these weights.
    own: bool,
    weights: Option<Vec<f64>>,
    /// The records of the sample, where it is used how many equal each.
    given_sample: Option<f64>,
    /// Places of the sample's records, and their weights.
    anchors: Vec<Point>,
    anchor_weights: Option<Vec<f64>>,
}

impl Asked {
    fn new(given: &Named) -> Result<Self> {
        let anchor = given.named("anchor")?;
        let (ln_p, variance) = (anchor.doubles("ln_p")?, anchor.doubles("variance")?);
        let points = ln_p.into_iter().zip(variance);
        Ok(Self {
            sizes: given.doubles("sizes")?,
            uniqueness: given.optional_doubles("uniqueness")?,
            own: given.flag("own")?,
            weights: given.optional_doubles("weights")?,
            given_sample: match given.flag("given_sample")? {
                true => Some(given.number("n")?),
                false => None,
            },
            anchors: points
                .map(|(ln_p, variance)| Point { ln_p, variance })
                .collect(),
            anchor_weights: anchor.optional_doubles("weight")?,
        })
    }

    fn populations<'a>(
        &'a self,
        tree: &Fitted,
        anchors: (&'a [Point], Option<&'a [f64]>),
    ) -> Populations<'a> {
        Populations {
            mixture: tree.mixture,
            ln_sample: tree.ln_sample,
            anchors,
            sizes: &self.sizes,
            uniqueness: self.uniqueness.as_deref(),
        }
    }
}

fn edge_columns(edges: &[Edge]) -> (Vec<i32>, Vec<f64>) {
    let keys = |e: &Edge| [e.keys.0 as i32 + 1, e.keys.1 as i32 + 1];
    (
        edges.iter().flat_map(keys).collect(),
        edges.iter().map(|e| e.prior).collect(),
    )
}

/// The tree of a sample for R.
pub fn tree_list(tree: &SampleTree) -> List {
    let (edges, prior) = edge_columns(&tree.edges);
    let column = |of: fn(&Cluster) -> f64| tree.clusters.iter().map(of).collect::<Vec<f64>>();
    list!(
        edges = edges,
        prior = prior,
        alpha = tree.mixture.alpha,
        spread = tree.mixture.spread,
        ln_lambda = tree.ln_lambda,
        ln_p = column(|c| c.point.ln_p),
        variance = column(|c| c.point.variance),
        weight = column(|c| c.weight),
        n = column(|c| c.n),
        n_unique = column(|c| c.n_unique)
    )
}

/// The tree over the keys of some pairs, without a sample: its edges and their
/// priors. `excess` is the information of the pairs above chance.
#[extendr]
fn rs_tree_part(pairs: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let tables = pair_tables(&list(&pairs, "pairs")?)?;
        let excess = settings.doubles("excess")?;
        let (d, scale) = (settings.count("n_keys")?, settings.number("scale")?);
        let run = Run::new(&run)?;
        let (edges, _) = run.watched(|m| tree_of_pairs(d, &tables, &excess, scale, m))?;
        let (edges, prior) = edge_columns(&edges);
        Ok(list!(edges = edges, prior = prior).into())
    })
}

/// Likelihoods of the records of a table, or without one of people where the sample's
/// records lie, in populations of the sizes asked for. `maps` says which category,
/// counted from 1, every code is: 0 for none. `cells` is a table whose equal records
/// are counted.
#[extendr]
fn rs_scores(table: Robj, settings: Robj, run: Robj) -> Robj {
    guard(|| {
        let settings = Named::new(&settings, "settings")?;
        let run = Run::new(&run)?;
        let counts = match settings.optional("cells")? {
            None => None,
            Some(cells) => Some(with_table(&cells, |cells| {
                run.watched(|monitor| counts_of_rows(cells, monitor))
            })?),
        };
        let mut found = match settings.text("score")?.as_str() {
            "tree" => by_tree(&table, &settings, counts.as_deref(), &run)?,
            "copula" => by_model(&table, &settings, Method::Rectangle, &run)?,
            "placement" => by_model(&table, &settings, Method::Placement, &run)?,
            _ => return Err(bad_call("score")),
        };
        found.push(("counts", counts.map_or(r!(NULL), |counts| r!(counts))));
        Ok(List::from_pairs(found).into())
    })
}

/// Number of records equal to each.
fn counts_of_rows(table: &KeyTable, monitor: &Monitor) -> Result<Vec<f64>> {
    let groups = table.group(monitor)?;
    let counts = groups.counts();
    let of_row = |&group: &u32| counts[group as usize] as f64;
    Ok(groups.row_group().iter().map(of_row).collect())
}

/// Values for R, by name.
type Columns = Vec<(&'static str, Robj)>;

fn by_tree(table: &Robj, settings: &Named, counts: Option<&[f64]>, run: &Run) -> Result<Columns> {
    let tree = Fitted::new(&settings.named("tree")?)?;
    let asked = Asked::new(settings)?;
    if table.is_null() {
        let anchors = (&asked.anchors[..], asked.anchor_weights.as_deref());
        let populations = asked.populations(&tree, anchors);
        let found = run.watched(|m| populations.likelihoods(&asked.anchors, None, m))?;
        return Ok(likelihood_columns(&found));
    }
    let maps = category_maps(settings)?;
    let counts = match (settings.optional("rows")?, counts) {
        (Some(_), Some(counts)) => {
            let rows = settings.indices("rows")?;
            let of_row = |&row: &usize| counts.get(row).copied().ok_or_else(|| bad_call("rows"));
            Some(rows.iter().map(of_row).collect::<Result<Vec<f64>>>()?)
        }
        (_, counts) => counts.map(<[f64]>::to_vec),
    };
    let sample = match (asked.given_sample, &counts) {
        (None, _) => None,
        (Some(n), Some(counts)) => Some((n, &counts[..])),
        (Some(_), None) => return Err(bad_call("cells")),
    };
    with_table(table, |table| {
        if sample.is_some_and(|(_, counts)| counts.len() != table.n_rows()) {
            return Err(bad_call("cells"));
        }
        let weights = asked.weights.as_deref();
        let own_weights = weights
            .map(|w| Weights::new(w, table.n_rows()))
            .transpose()?;
        let times = table.multiplicity();
        let numbers: Option<Vec<f64>> = times.map(|t| t.iter().map(|&n| n as f64).collect());
        let (unseen, found) = run.watched(|monitor| {
            let categories = mapped_categories(table, &maps)?;
            let own = asked.own.then_some((own_weights, times));
            let points = tree.points(&categories, own, monitor)?;
            let anchors = match asked.own {
                // The sample's own records anchor themselves, to the last digit.
                true => (&points[..], weights.or(numbers.as_deref())),
                false => (&asked.anchors[..], asked.anchor_weights.as_deref()),
            };
            let populations = asked.populations(&tree, anchors);
            let found = populations.likelihoods(&points, sample, monitor)?;
            Ok((unseen(&categories, times), found))
        })?;
        let mut columns = likelihood_columns(&found);
        columns.push(("unseen", unseen.into()));
        Ok(columns)
    })
}

/// All of the first population, and xi of every one.
fn likelihood_columns(found: &[Vec<Likelihood>]) -> Columns {
    let column = |found: &[Likelihood], of: fn(&Likelihood) -> f64| -> Robj {
        found.iter().map(of).collect::<Vec<f64>>().into()
    };
    let first = found.first().map_or(&[][..], Vec::as_slice);
    let xi = found.iter().map(|found| column(found, |l| l.unique));
    vec![
        ("prob", column(first, |l| l.prob)),
        ("kappa", column(first, |l| l.correct)),
        ("shape", column(first, |l| l.shape)),
        ("xi", List::from_values(xi).into()),
    ]
}

/// The probability of every record under the copula itself, and its standard error.
/// Equal records are computed once.
fn by_model(table: &Robj, settings: &Named, method: Method, run: &Run) -> Result<Columns> {
    let model = model_of(&settings.named("model")?)?;
    let maps = category_maps(settings)?;
    let least = settings.number("least")?;
    let effort = Effort {
        tolerance: settings.number("tolerance")?,
        absolute: settings.number("absolute")?,
        max_blocks: settings.count("max_blocks")?,
    };
    let streams = Streams::new(settings.seed("seed")?);
    with_table(table, |table| {
        let (unseen, found, row_group) = run.watched(|monitor| {
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
            let unseen = unseen(&categories, Some(groups.counts()));
            Ok((unseen, found, groups.row_group().to_vec()))
        })?;
        let of = |g: &u32| found[*g as usize];
        let prob = row_group.iter().map(|g| of(g).value).collect::<Vec<f64>>();
        let error = row_group.iter().map(|g| of(g).error).collect::<Vec<f64>>();
        Ok(vec![
            ("prob", prob.into()),
            ("error", error.into()),
            ("unseen", unseen.into()),
        ])
    })
}

/// Per key the records with a value that the fit does not know, each row standing for
/// one or for as many as `times` says.
fn unseen(categories: &[Vec<u32>], times: Option<&[u64]>) -> Vec<f64> {
    let of_key = |categories: &Vec<u32>| -> u64 {
        (categories.iter().enumerate())
            .filter(|(_, &category)| category == UNSEEN)
            .map(|(row, _)| times.map_or(1, |times| times[row]))
            .sum()
    };
    categories.iter().map(|c| of_key(c) as f64).collect()
}

fn category_maps(settings: &Named) -> Result<Vec<Vec<u32>>> {
    (settings.list("maps")?.values())
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
    fn rs_tree_part;
    fn rs_scores;
}
