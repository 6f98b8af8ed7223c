//! The interaction graph of a model and its junction tree.
//!
//! Variables that share a generator are joined. A triangulation (least fill,
//! then smallest table) gives cliques; a spanning tree of largest separators
//! makes a junction tree of them. A model is decomposable where nothing had to
//! be filled in and every clique is a generator.

use super::model::Model;

/// A clique of the triangulated graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clique {
    /// Variables shared with the parent, ascending.
    pub separator: Vec<usize>,
    /// The other variables, ascending.
    pub residual: Vec<usize>,
    /// An earlier clique; `None` for the first.
    pub parent: Option<usize>,
}

impl Clique {
    /// Separator and residual.
    pub fn vars(&self) -> Vec<usize> {
        self.separator
            .iter()
            .chain(&self.residual)
            .copied()
            .collect()
    }
}

/// Cliques, parents before children.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The cliques in an order in which parents stand first.
    pub cliques: Vec<Clique>,
    /// True if the model is decomposable: then its fit has a closed form.
    pub decomposable: bool,
    /// Cells of all clique tables.
    pub n_cells: f64,
}

impl Tree {
    /// The junction tree of a model.
    pub fn new(model: &Model) -> Self {
        let sizes = model.sizes();
        let d = sizes.len();
        let mut joined = vec![vec![false; d]; d];
        for generator in model.generators() {
            for &a in &generator.vars {
                for &b in &generator.vars {
                    joined[a][b] = a != b;
                }
            }
        }
        let (cliques, filled) = triangulate(joined, sizes);
        let decomposable = filled == 0
            && cliques
                .iter()
                .all(|clique| model.generators().iter().any(|g| g.vars == *clique));
        let n_cells = cliques
            .iter()
            .map(|c| c.iter().map(|&v| sizes[v] as f64).product::<f64>())
            .sum();
        Self {
            cliques: rooted(&cliques, sizes),
            decomposable,
            n_cells,
        }
    }
}

/// Maximal cliques of a triangulation, and the number of edges filled in.
fn triangulate(mut joined: Vec<Vec<bool>>, sizes: &[usize]) -> (Vec<Vec<usize>>, usize) {
    let d = sizes.len();
    let mut left = vec![true; d];
    let mut cliques: Vec<Vec<usize>> = Vec::new();
    let mut filled = 0;
    for _ in 0..d {
        let neighbours =
            |v: usize| -> Vec<usize> { (0..d).filter(|&w| left[w] && joined[v][w]).collect() };
        let fill = |v: usize| -> usize {
            let near = neighbours(v);
            near.iter()
                .enumerate()
                .map(|(i, &a)| near[i + 1..].iter().filter(|&&b| !joined[a][b]).count())
                .sum()
        };
        let table = |v: usize| -> f64 {
            neighbours(v)
                .iter()
                .map(|&w| (sizes[w] as f64).ln())
                .sum::<f64>()
                + (sizes[v] as f64).ln()
        };
        let best = (0..d)
            .filter(|&v| left[v])
            .map(|v| (fill(v), table(v), v))
            .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((edges, _, v)) = best else { break };
        let near = neighbours(v);
        filled += edges;
        for &a in &near {
            for &b in &near {
                if a != b {
                    joined[a][b] = true;
                }
            }
        }
        let mut clique = near;
        clique.push(v);
        clique.sort_unstable();
        if !cliques.iter().any(|c| clique.iter().all(|x| c.contains(x))) {
            cliques.push(clique);
        }
        left[v] = false;
    }
    (cliques, filled)
}

/// Joins cliques by largest separators (Prim's algorithm) from the largest
/// clique on, parents first.
fn rooted(cliques: &[Vec<usize>], sizes: &[usize]) -> Vec<Clique> {
    let log_size = |c: &Vec<usize>| c.iter().map(|&v| (sizes[v] as f64).ln()).sum::<f64>();
    let root = (0..cliques.len())
        .max_by(|&a, &b| log_size(&cliques[a]).total_cmp(&log_size(&cliques[b])))
        .unwrap_or(0);
    let shared = |a: usize, b: usize| -> Vec<usize> {
        cliques[a]
            .iter()
            .copied()
            .filter(|v| cliques[b].contains(v))
            .collect()
    };
    let mut order = vec![root];
    let mut out = vec![Clique {
        separator: Vec::new(),
        residual: cliques[root].clone(),
        parent: None,
    }];
    while order.len() < cliques.len() {
        let mut best: Option<(usize, usize, Vec<usize>)> = None;
        for c in (0..cliques.len()).filter(|c| !order.contains(c)) {
            for (place, &p) in order.iter().enumerate() {
                let separator = shared(c, p);
                if best.as_ref().is_none_or(|b| separator.len() > b.2.len()) {
                    best = Some((c, place, separator));
                }
            }
        }
        let Some((c, parent, separator)) = best else {
            break;
        };
        let residual = cliques[c]
            .iter()
            .copied()
            .filter(|v| !separator.contains(v))
            .collect();
        order.push(c);
        out.push(Clique {
            separator,
            residual,
            parent: Some(parent),
        });
    }
    out
}
