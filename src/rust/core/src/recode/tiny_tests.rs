//! Tiny files, all recodings of which are priced record by record.

use super::frontier::{enumerate, Measure};
use super::limits::{Asked, Limits};
use super::search::{search, Request};
use super::*;
use crate::cases::{tiny, Draws};
use crate::key_table::{Codes, Column};

struct Key {
    codes: Vec<u32>,
    variable: Variable,
}

/// A few codes, 0 for missing, and two to four levels of them; now and then one that
/// joins what the next tears apart.
fn key(draws: &mut Draws, n: u32, torn: bool) -> Key {
    let k = draws.within(1, 4);
    let mut groups: Vec<Vec<u32>> = vec![(0..=k).collect()];
    for _ in 0..draws.within(1, 2) {
        let last = &groups[groups.len() - 1];
        let (a, b) = (
            last[draws.below(k + 1) as usize],
            last[draws.below(k + 1) as usize],
        );
        groups.push(match torn {
            true => (0..=k).map(|_| draws.below(3)).collect(),
            false => last.iter().map(|&g| if g == a { b } else { g }).collect(),
        });
    }
    if draws.once_in(2) {
        groups.push(vec![7; k as usize + 1]);
    }
    let leaves = groups.iter().map(|of| {
        let leaf = |&g: &u32| of.iter().filter(|&&o| o == g).count() as f64;
        of.iter().map(leaf).collect()
    });
    let leaves = leaves.collect();
    let mut allowed: Vec<usize> = (0..groups.len()).filter(|_| !draws.once_in(6)).collect();
    if allowed.is_empty() {
        allowed.push(groups.len() - 1);
    }
    Key {
        codes: (0..n).map(|_| draws.below(k + 1)).collect(),
        variable: Variable {
            leaves,
            n_leaves: f64::from(k) + 1.0,
            allowed,
            weight: draws.of(&[1.0, 1.0, 2.5, 1e-3, 1e3]),
            groups,
        },
    }
}

/// True if equal groups of a level have equal groups at the next, pair by pair of codes.
fn is_nested(key: &Key) -> bool {
    let groups = &key.variable.groups;
    (1..groups.len()).all(|l| {
        let (below, above) = (&groups[l - 1], &groups[l]);
        let pairs = (0..below.len()).flat_map(|a| (0..below.len()).map(move |b| (a, b)));
        pairs
            .into_iter()
            .all(|(a, b)| below[a] != below[b] || above[a] == above[b])
    })
}

/// Cost of a recoding by these levels if it keeps the limit, the number of suppressed records, the
/// smallest cell and the uniques.
struct Priced {
    levels: Vec<usize>,
    places: Vec<u8>,
    cost: Option<f64>,
    base: f64,
    smallest: usize,
    n_unique: usize,
}

fn price(keys: &[Key], places: Vec<u8>, charge: Charge, limit: Limit) -> Priced {
    let n = keys[0].codes.len();
    let level = |j: usize| keys[j].variable.allowed[places[j] as usize];
    let group = |j: usize, i: usize| keys[j].variable.groups[level(j)][keys[j].codes[i] as usize];
    let alike = |i: usize, o: usize| (0..keys.len()).all(|j| group(j, i) == group(j, o));
    let sizes: Vec<usize> = (0..n)
        .map(|i| (0..n).filter(|&o| alike(i, o)).count())
        .collect();
    let share = |j: usize, i: usize| {
        let variable = &keys[j].variable;
        match charge.cost {
            Cost::Levels => level(j) as f64 / (variable.groups.len() as f64 - 1.0),
            _ => {
                (variable.leaves[level(j)][keys[j].codes[i] as usize] - 1.0)
                    / (variable.n_leaves - 1.0)
            }
        }
    };
    let loss = |j: usize, i: usize| match charge.cost {
        Cost::Entropy => {
            let of_group = (0..n).filter(|&o| group(j, o) == group(j, i)).count() as f64;
            let of_code = (0..n)
                .filter(|&o| keys[j].codes[o] == keys[j].codes[i])
                .count() as f64;
            ((of_group / of_code).log2(), (n as f64 / of_group).log2())
        }
        _ => (share(j, i), 1.0 - share(j, i)),
    };
    let sum = |i: usize, of: fn((f64, f64)) -> f64| -> f64 {
        (0..keys.len())
            .map(|j| of(loss(j, i)) * keys[j].variable.weight)
            .sum()
    };
    let base: f64 = (0..n).map(|i| sum(i, |l| l.0)).sum();
    let mut lifts: Vec<f64> = (0..n)
        .filter(|&i| sizes[i] < limit.k as usize || limit.k < 2 && sizes[i] == 1)
        .map(|i| sum(i, |l| l.1) * charge.blank_price)
        .collect();
    lifts.sort_by(f64::total_cmp);
    let (below, n_unique) = (lifts.len(), sizes.iter().filter(|&&s| s == 1).count());
    let blanks = match limit.prop_unique {
        _ if limit.k > 1 => below,
        None => 0,
        Some(most) => (0..=below)
            .find(|&x| (below - x) as f64 <= most * (n - x) as f64 + 1e-9)
            .unwrap(),
    };
    let cost = base + lifts[..blanks].iter().sum::<f64>();
    Priced {
        levels: (0..keys.len()).map(level).collect(),
        places,
        cost: (blanks <= limit.blankable as usize).then_some(cost),
        base,
        smallest: sizes.iter().copied().min().unwrap(),
        n_unique,
    }
}

/// Cheaper first; ties by the sum of levels, then by the first level.
fn order(a: (f64, &Priced), b: (f64, &Priced)) -> std::cmp::Ordering {
    let tie = (a.0 - b.0).abs() <= 1e-9 * a.0.abs().max(b.0.abs());
    let sum = |p: &Priced| p.levels.iter().sum::<usize>();
    let by_cost = match tie {
        true => std::cmp::Ordering::Equal,
        false => a.0.total_cmp(&b.0),
    };
    by_cost
        .then(sum(a.1).cmp(&sum(b.1)))
        .then_with(|| a.1.places.cmp(&b.1.places))
}

fn all_places(keys: &[Key]) -> Vec<Vec<u8>> {
    keys.iter()
        .fold(vec![Vec::new()], |nodes: Vec<Vec<u8>>, key| {
            let places = 0..key.variable.allowed.len() as u8;
            let longer = |node: Vec<u8>| places.clone().map(move |p| [&node[..], &[p]].concat());
            nodes.into_iter().flat_map(longer).collect()
        })
}

fn same(found: &best::Recoding, cost: f64, places: &[u8]) {
    assert_eq!(found.places, places);
    assert!(
        (found.cost - cost).abs() <= 1e-9 * cost.abs().max(1e-3),
        "{found:?} {cost}"
    );
}

#[test]
fn searches_and_frontiers_are_those_of_all_recodings() {
    tiny(1000, |draws| {
        let n = draws.within(2, 6);
        let torn = draws.once_in(8);
        let keys: Vec<Key> = (0..draws.within(1, 3))
            .map(|_| key(draws, n, torn))
            .collect();
        let charge = Charge {
            cost: draws.of(&[Cost::Entropy, Cost::Loss, Cost::Levels]),
            blank_price: draws.of(&[1.0, 1.0, 0.3, 3.0]),
        };
        let limit = Limit {
            k: draws.of(&[1u32, 2, 2, 3, 4]).into(),
            prop_unique: draws.of(&[None, Some(0.0), Some(0.2), Some(0.5)]),
            blankable: draws.of(&[0, 0, 1, n / 2, n - 1]).into(),
        };
        let columns = keys.iter().map(|key| {
            let k = key.variable.groups[0].len() as u32 - 1;
            Column::new(Codes::pack(k, key.codes.iter().copied()), k).unwrap()
        });
        let table = KeyTable::new(columns.collect()).unwrap();
        let variables: Vec<Variable> = keys.iter().map(|key| key.variable.clone()).collect();
        let monitor = Monitor::new();
        let problem = |limit| Problem::new(&table, &variables, charge, limit, &monitor);
        if !keys.iter().all(is_nested) {
            assert_eq!(problem(limit).unwrap_err().kind(), "bad_argument");
            return true;
        }
        let priced: Vec<Priced> = (all_places(&keys).into_iter())
            .map(|places| price(&keys, places, charge, limit))
            .collect();
        let mut kept: Vec<(f64, &Priced)> =
            priced.iter().filter_map(|p| Some((p.cost?, p))).collect();
        kept.sort_by(|&a, &b| order(a, b));
        let limited = problem(limit).unwrap();
        let limits = Limits::new(&limited, Asked::default(), &Monitor::new()).unwrap();
        let n_best = draws.within(1, 4) as usize;
        let request = Request {
            n_best,
            seconds: 1e6,
        };
        let found = search(&limited, &limits, request, &monitor).unwrap();
        assert!(found.proven);
        assert_eq!(found.best.len(), kept.len().min(n_best));
        for (recoding, (cost, wanted)) in found.best.iter().zip(&kept) {
            same(recoding, *cost, &wanted.places);
        }

        // No other costs as little or less at as little risk or less.
        let free = problem(Limit {
            k: 1,
            prop_unique: None,
            blankable: 0,
        })
        .unwrap();
        let limits = Limits::new(&free, Asked::default(), &Monitor::new()).unwrap();
        let by_cells = draws.once_in(2);
        let measure = if by_cells {
            Measure::Smallest
        } else {
            Measure::Unique
        };
        let risk = |p: &Priced| match by_cells {
            true => 1.0 / p.smallest as f64,
            false => p.n_unique as f64 / f64::from(n),
        };
        let points = enumerate(&free, &limits, measure, &monitor).unwrap();
        let mut front: Vec<(f64, &Priced)> = (priced.iter().map(|p| (p.base, p)))
            .filter(|&(cost, p)| {
                priced.iter().all(|o| {
                    let (mine, other) = (risk(p), risk(o));
                    let near = 1e-9 * cost.abs().max(o.base.abs());
                    let dearer = o.base > cost + near;
                    let ties = !dearer && o.base >= cost - near && other >= mine - 1e-12;
                    let later = order((cost, p), (o.base, o)).is_le();
                    dearer || other > mine + 1e-12 || ties && later
                })
            })
            .collect();
        front.sort_by(|&a, &b| order(a, b));
        assert_eq!(points.len(), front.len());
        for (point, (cost, wanted)) in points.iter().zip(&front) {
            same(&point.recoding, *cost, &wanted.places);
            assert!((point.risk - risk(wanted)).abs() < 1e-12);
        }
        // Some recodings keep the limit and some do not, or several are worth a look.
        (!kept.is_empty() && kept.len() < priced.len()) || front.len() > 1
    });
}
