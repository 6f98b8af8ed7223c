//! Tiny questions, each against the definition, read off the values themselves.

use super::*;
use crate::cases::{tiny, Draws};
use crate::key_table::{Codes, Column, KeyTable};
use crate::missing::Missing;
use crate::weights::Weights;

/// The values behind the codes of a column, from code 1.
enum Values {
    Labels,
    Numbers { of: Vec<f64>, tolerance: f64 },
    Sets(Vec<Vec<u32>>),
    Pieces(Vec<Vec<(f64, f64)>>),
}

struct Key {
    k: u32,
    values: Values,
    missing: Missing,
}

fn set(draws: &mut Draws, most: u32) -> Vec<u32> {
    let mut left: Vec<u32> = (0..4).collect();
    let size = draws.within(1, most);
    (0..size)
        .map(|_| left.swap_remove(draws.below(left.len() as u32) as usize))
        .collect()
}

fn key(draws: &mut Draws) -> Key {
    let k = draws.within(1, 4);
    let values = match draws.below(4) {
        0 => Values::Labels,
        1 => {
            let mut last = f64::from(draws.below(3));
            let of = (0..k).map(|_| {
                last += 0.25 * f64::from(draws.within(1, 6));
                last
            });
            Values::Numbers {
                of: of.collect(),
                tolerance: 0.25 * f64::from(draws.below(9)),
            }
        }
        2 => Values::Sets((0..k).map(|_| set(draws, 3)).collect()),
        _ => {
            let one = |draws: &mut Draws| {
                if draws.once_in(2) {
                    let low = f64::from(draws.below(5));
                    vec![(low, low + f64::from(draws.below(4)))]
                } else {
                    let points = set(draws, 3);
                    let points = points.iter().map(|&v| f64::from(v) * 1.5);
                    points.map(|v| (v, v)).collect()
                }
            };
            Values::Pieces((0..k).map(|_| one(draws)).collect())
        }
    };
    let missing = draws.of(&[
        Missing::Wildcard,
        Missing::Wildcard,
        Missing::Category,
        Missing::Exclude,
    ]);
    Key { k, values, missing }
}

/// The share of the values of code `a` that code `b` admits, missing ones by their rule.
fn share(key: &Key, rule: Rule, a: u32, b: u32) -> f64 {
    if a == 0 || b == 0 {
        return f64::from(key.missing != Missing::Category || a == b);
    }
    let (a, b) = (a as usize - 1, b as usize - 1);
    match &key.values {
        Values::Labels => f64::from(a == b),
        Values::Numbers { of, tolerance } => f64::from((of[a] - of[b]).abs() <= *tolerance),
        Values::Sets(sets) => {
            let held = |v: &&u32| sets[b].contains(*v);
            let n = sets[a].iter().filter(held).count();
            match rule {
                Rule::First => f64::from(held(&&sets[a][0])),
                Rule::Overlap => f64::from(n > 0),
                Rule::Mean => n as f64 / sets[a].len() as f64,
            }
        }
        Values::Pieces(cells) => {
            let admits = |v: f64| cells[b].iter().any(|&(low, high)| low <= v && v <= high);
            let meets = |&(low, high): &(f64, f64)| {
                (cells[b].iter()).any(|&(from, to)| low <= to && from <= high)
            };
            match rule {
                Rule::First => f64::from(admits(cells[a][0].0)),
                Rule::Overlap => f64::from(cells[a].iter().any(meets)),
                Rule::Mean => {
                    let values = cells[a].iter().flat_map(|&(low, high)| {
                        (0..=(high - low) as u32).map(move |step| low + f64::from(step))
                    });
                    let values: Vec<f64> = values.collect();
                    let n = values.iter().filter(|&&v| admits(v)).count();
                    n as f64 / values.len() as f64
                }
            }
        }
    }
}

fn relation(key: &Key, rule: Rule) -> Relation {
    let monitor = Monitor::new();
    match &key.values {
        Values::Labels => Relation::Equal,
        Values::Numbers { of, tolerance } => Relation::within(of, *tolerance).unwrap(),
        Values::Sets(sets) => Relation::of_sets(sets, rule, &monitor).unwrap(),
        Values::Pieces(cells) => {
            let sizes: Vec<usize> = cells.iter().map(Vec::len).collect();
            let pieces = Pieces::new(cells.concat(), &sizes).unwrap();
            Relation::of_pieces(&pieces, rule, &monitor).unwrap()
        }
    }
}

/// `n` rows of codes, 0 for missing.
fn rows(draws: &mut Draws, keys: &[Key], n: u32) -> Vec<Vec<u32>> {
    let code = |draws: &mut Draws, key: &Key| match draws.once_in(5) {
        true => 0,
        false => draws.within(1, key.k),
    };
    (0..n)
        .map(|_| keys.iter().map(|key| code(draws, key)).collect())
        .collect()
}

fn table(keys: &[Key], rows: &[Vec<u32>]) -> KeyTable {
    let column = |(v, key): (usize, &Key)| {
        Column::new(Codes::pack(key.k, rows.iter().map(|r| r[v])), key.k).unwrap()
    };
    KeyTable::new(keys.iter().enumerate().map(column).collect()).unwrap()
}

fn same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b), "{found:?} {expected:?}");
    }
}

/// Distinct households, each with its weight; a record without one is one of its own.
fn households(of: &[u32], weights: &[f64], matches: &[usize]) -> (u32, f64) {
    let counts = |at: usize| {
        let first = matches[..at].iter().all(|&j| of[j] != of[matches[at]]);
        of[matches[at]] == 0 || first
    };
    let kept: Vec<usize> = (0..matches.len()).filter(|&at| counts(at)).collect();
    let weight = kept.iter().map(|&at| weights[matches[at]]).sum();
    (kept.len() as u32, weight)
}

/// Number of distinct labels, their entropy as a number, the total variation.
fn diversity(labels: &[u32], matches: &[usize], file: &[usize]) -> [f64; 3] {
    let shares = |among: &[usize]| -> Option<Vec<f64>> {
        let known: Vec<u32> = (among.iter().map(|&j| labels[j]))
            .filter(|&l| l > 0)
            .collect();
        let share = |l: u32| known.iter().filter(|&&o| o == l).count() as f64 / known.len() as f64;
        (!known.is_empty()).then(|| (1..=3).map(share).collect())
    };
    let (Some(own), Some(all)) = (shares(matches), shares(file)) else {
        return [0.0; 3];
    };
    let some = own.iter().filter(|&&p| p > 0.0);
    let apart = own.iter().zip(&all).map(|(p, q)| (p - q).abs() / 2.0);
    [
        some.clone().count() as f64,
        some.map(|p| -p * p.ln()).sum::<f64>().exp(),
        apart.sum(),
    ]
}

#[test]
fn answers_follow_the_definition() {
    tiny(1000, |draws| {
        let rule = draws.of(&[Rule::First, Rule::Overlap, Rule::Mean]);
        let n_keys = draws.within(1, 3);
        let keys: Vec<Key> = (0..n_keys).map(|_| key(draws)).collect();
        let n = draws.within(2, 6) as usize;
        let records = rows(draws, &keys, n as u32);
        let n_targets = draws.of(&[0, 0, 1, 3]);
        let targets = rows(draws, &keys, n_targets);
        let outside = n_targets > 0;
        let mut groups: Vec<Vec<usize>> = (0..keys.len()).map(|v| vec![v]).collect();
        if keys.len() > 1 && draws.once_in(4) {
            groups = vec![(0..keys.len()).collect()];
        }
        let home: Vec<u32> = (0..n).map(|_| draws.below(4)).collect();
        let labels: Vec<u32> = (0..n).map(|_| draws.below(4)).collect();
        let scale = draws.of(&[1.0, 0.3, 1e-200, 1e200]);
        // One weight per household.
        let weights: Vec<f64> = home.iter().map(|&h| f64::from(7 - h) * scale).collect();
        let column = |codes: &[u32]| Column::new(Codes::pack(3, codes.iter().copied()), 3).unwrap();
        let (home_column, sensitive) = (
            column(&home),
            [Sensitive {
                column: std::borrow::Cow::Owned(column(&labels)),
                ordered: false,
            }],
        );
        let rules: Vec<Missing> = keys.iter().map(|key| key.missing).collect();
        let more = draws.once_in(2);
        let settings = Settings {
            missing: &rules,
            keys: &groups,
            min_overlap: draws.of(&[0, 0, 1, 2]),
            partial_weight: draws.of(&[1.0, 1.0, 0.5, 0.0]),
            weights: Some(Weights::new(&weights, n).unwrap()),
            sensitive: if more { &sensitive } else { &[] },
            households: more.then_some(&home_column),
            algorithm: draws.of(&[Algorithm::Cheaper, Algorithm::Walk, Algorithm::Dense]),
        };
        let (min_overlap, partial) = (settings.min_overlap, settings.partial_weight);
        let relations = keys.iter().map(|key| relation(key, rule)).collect();
        let file = table(&keys, &records);
        let others = outside.then(|| table(&keys, &targets));
        let question = Question::new(&file, others.as_ref(), relations, settings).unwrap();
        let found = n_matches(&question, &Monitor::new()).unwrap();

        let lacks = |row: &[u32], rule: Missing| {
            (keys.iter().zip(row)).any(|(key, &code)| key.missing == rule && code == 0)
        };
        let kept = |rows: &[Vec<u32>]| -> Vec<usize> {
            (0..rows.len())
                .filter(|&i| !lacks(&rows[i], Missing::Exclude))
                .collect()
        };
        let known = |v: usize, code: u32| code > 0 || keys[v].missing == Missing::Category;
        let left = kept(&records);
        let asked = if outside { &targets } else { &records };
        let mut sums: [Vec<f64>; 3] = Default::default();
        let mut matches: Vec<Vec<usize>> = Vec::new();
        for i in kept(asked) {
            let row = &asked[i];
            let counted: Vec<(usize, f64)> = (left.iter())
                .map(|&j| {
                    let other = &records[j];
                    let shares = (0..keys.len()).map(|v| share(&keys[v], rule, row[v], other[v]));
                    let common = groups.iter().filter(|group| {
                        (group.iter()).any(|&v| known(v, row[v]) && known(v, other[v]))
                    });
                    let own = !outside && i == j;
                    let enough = own || common.count() >= min_overlap;
                    (j, shares.product::<f64>() * f64::from(enough))
                })
                .filter(|&(_, share)| share > 0.0)
                .collect();
            let amount = |of: &dyn Fn(usize) -> f64| -> f64 {
                let counts =
                    |j: usize| match !lacks(&records[j], Missing::Wildcard) || records[j] == *row {
                        true => 1.0,
                        false => partial,
                    };
                counted
                    .iter()
                    .map(|&(j, share)| share * counts(j) * of(j))
                    .sum()
            };
            sums[0].push(amount(&|_| 1.0));
            sums[1].push(amount(&|j| weights[j] / scale));
            sums[2].push(amount(&|j| (weights[j] / scale).powi(2)));
            matches.push(counted.iter().map(|&(j, _)| j).collect());
        }
        let scaled = |numbers: &Option<Vec<f64>>, by: f64| -> Vec<f64> {
            (numbers.as_ref().unwrap().iter()).map(|x| x / by).collect()
        };
        same(&found.matches, &sums[0]);
        same(&scaled(&found.weighted, scale), &sums[1]);
        if scale > 1e-100 && scale < 1e100 {
            same(&scaled(&found.weighted_squares, scale * scale), &sums[2]);
        }
        if rules.contains(&Missing::Exclude) {
            let of = |rows: &[usize]| Some(rows.iter().map(|&i| i as u32).collect::<Vec<u32>>());
            assert_eq!(found.rows, of(&left));
            assert_eq!(found.target_rows, of(&kept(&targets)).filter(|_| outside));
        }
        let complete: Vec<&Vec<u32>> = (left.iter().map(|&j| &records[j]))
            .filter(|row| !lacks(row, Missing::Wildcard))
            .collect();
        let unique = (complete.iter()).filter(|a| complete.iter().filter(|b| a == b).count() == 1);
        assert_eq!(found.n_complete, complete.len() as u64);
        assert_eq!(found.n_unique_complete, unique.count() as u64);
        if more {
            for (at, own) in matches.iter().enumerate() {
                let (n, weight) = households(&home, &weights, own);
                assert_eq!(found.n_households.as_ref().unwrap()[at], n);
                let sum = found.households_weighted.as_ref().unwrap()[at];
                same(&[sum / scale], &[weight / scale]);
                let told = &found.sensitive[0][at];
                let told = [f64::from(told.n_values), told.l_entropy, told.t_closeness];
                same(&told, &diversity(&labels, own, &left));
            }
        }
        // Somebody matches another, and not everybody matches all.
        let pairs: usize = matches.iter().map(Vec::len).sum();
        pairs > if outside { 0 } else { matches.len() } && pairs < matches.len() * left.len()
    });
}
