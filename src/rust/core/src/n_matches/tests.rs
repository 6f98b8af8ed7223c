use std::borrow::Cow;

use super::*;

use crate::key_table::{Codes, Column, KeyTable};
use crate::missing::Missing;
use crate::parallel::with_threads;
use crate::weights::Weights;
use proptest::prelude::*;

/// Columns of codes, 0 for missing, at most `k` values each.
#[derive(Debug, Clone)]
struct File {
    codes: Vec<Vec<u32>>,
    n_values: Vec<u32>,
}

fn table(file: &File) -> KeyTable {
    let column = |(codes, &k): (&Vec<u32>, &u32)| {
        Column::new(Codes::pack(k, codes.iter().copied()), k).unwrap()
    };
    KeyTable::new(file.codes.iter().zip(&file.n_values).map(column).collect()).unwrap()
}

fn files(max_rows: usize) -> impl Strategy<Value = File> {
    (1usize..6, 1..=max_rows).prop_flat_map(|(columns, rows)| {
        let column = (1u32..9, 0u32..8).prop_flat_map(move |(k, missing)| {
            let code = (0..8u32, 1..=k)
                .prop_map(move |(draw, code)| if draw < missing { 0 } else { code });
            (Just(k), proptest::collection::vec(code, rows))
        });
        proptest::collection::vec(column, columns).prop_map(|columns| File {
            n_values: columns.iter().map(|c| c.0).collect(),
            codes: columns.into_iter().map(|c| c.1).collect(),
        })
    })
}

fn question<'a>(
    file: &'a KeyTable,
    relations: &[Relation],
    keys: &'a [Vec<usize>],
) -> Question<'a> {
    let settings = Settings {
        keys,
        ..Settings::default()
    };
    Question::new(file, None, relations.to_vec(), settings).unwrap()
}

fn keys_of(n: usize) -> Vec<Vec<usize>> {
    (0..n).map(|v| vec![v]).collect()
}

/// The definitions, value by value; 0 is missing.
fn diversity_of(among: &[u32], file: &[u32], ordered: bool) -> Diversity {
    let count = |labels: &[u32], v: u32| labels.iter().filter(|&&l| l == v).count() as f64;
    let known = |labels: &[u32]| labels.iter().filter(|&&l| l != 0).count() as f64;
    if known(among) < 1.0 {
        return Diversity::default();
    }
    let values: Vec<u32> = (1..7).filter(|&v| count(file, v) > 0.0).collect();
    let p = |v: u32| count(among, v) / known(among);
    let apart: Vec<f64> = (values.iter())
        .map(|&v| p(v) - count(file, v) / known(file))
        .collect();
    let entropy: f64 = (values.iter())
        .filter(|&&v| p(v) > 0.0)
        .map(|&v| -p(v) * p(v).ln())
        .sum();
    let upto = |i: usize| apart[..=i].iter().sum::<f64>().abs();
    let steps = values.len() as f64 - 1.0;
    Diversity {
        n_values: values.iter().filter(|&&v| p(v) > 0.0).count() as u32,
        l_entropy: entropy.exp(),
        t_closeness: match ordered {
            true if values.len() == 1 => 0.0,
            true => (0..values.len()).map(upto).sum::<f64>() / steps,
            false => apart.iter().map(|x| x.abs()).sum::<f64>() / 2.0,
        },
    }
}

fn alike(a: &Diversity, b: &Diversity) -> bool {
    a.n_values == b.n_values
        && (a.l_entropy - b.l_entropy).abs() < 1e-9
        && (a.t_closeness - b.t_closeness).abs() < 1e-9
}

fn ask(question: &Question<'_>, threads: usize) -> Answer {
    with_threads(threads, || n_matches(question, &Monitor::new())).unwrap()
}

fn counts(file: &KeyTable) -> Vec<f64> {
    let relations = vec![Relation::Equal; file.columns().len()];
    let keys = keys_of(file.columns().len());
    ask(&question(file, &relations, &keys), 2).matches
}

fn known(table: &KeyTable, row: usize, v: usize) -> u32 {
    table.columns()[v].codes().get(row)
}

/// The number of matches by its definition, one pair of rows after the other.
fn brute(question: &Question<'_>, amount: impl Fn(usize) -> f64) -> Vec<f64> {
    let targets = question.targets.as_deref().unwrap_or(&question.file);
    let file = &question.file;
    let columns = file.columns().len();
    (0..targets.n_rows())
        .map(|i| {
            (0..file.n_rows())
                .map(|j| {
                    let own = question.targets.is_none() && i == j;
                    let mut share = 1.0;
                    for v in 0..columns {
                        let (a, b) = (known(targets, i, v), known(file, j, v));
                        let relation = &question.relations[v];
                        share *= relation.times(a, b) as f64 / relation.size(a) as f64;
                        assert_eq!(relation.times(a, b) > 0, relation.compatible(a, b));
                    }
                    let shared = question.keys.iter().filter(|key| {
                        key.iter()
                            .any(|&v| known(targets, i, v) != 0 && known(file, j, v) != 0)
                    });
                    if !own && shared.count() < question.min_overlap {
                        return 0.0;
                    }
                    let complete = (0..columns).all(|v| known(file, j, v) != 0);
                    let same = (0..columns).all(|v| known(file, j, v) == known(targets, i, v));
                    let partial = if complete || same {
                        1.0
                    } else {
                        question.partial_weight
                    };
                    share * partial * amount(j)
                })
                .sum()
        })
        .collect()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
}

fn of_intervals(intervals: &[(f64, f64)], rule: Rule) -> Result<Relation> {
    Relation::of_pieces(
        &Pieces::intervals(intervals.to_vec())?,
        rule,
        &Monitor::new(),
    )
}

/// A relation for every column, of a kind told by `kinds`.
fn some_relations(file: &File, kinds: &[u8], rule: Rule) -> Vec<Relation> {
    let relation = |(v, &k): (usize, &u32)| match kinds[v % kinds.len()] % 4 {
        0 => Relation::Equal,
        1 => {
            let values: Vec<f64> = (0..k).map(|c| f64::from(c * c)).collect();
            Relation::within(&values, f64::from(k)).unwrap()
        }
        2 => {
            let sets: Vec<Vec<u32>> = (0..k).map(|c| (c % 4..=c % 4 + c / 4).collect()).collect();
            Relation::of_sets(&sets, rule, &Monitor::new()).unwrap()
        }
        _ => {
            let of = |c: u32| (f64::from(c % 3), f64::from(c % 3 + c / 3));
            let intervals: Vec<(f64, f64)> = (0..k).map(of).collect();
            of_intervals(&intervals, rule).unwrap()
        }
    };
    file.n_values.iter().enumerate().map(relation).collect()
}

proptest! {
    #![proptest_config(crate::cases::cases(400))]

    #[test]
    fn missing_means_what_its_rule_says(
        file in files(60), kinds in proptest::collection::vec(any::<u8>(), 1..6),
        rules in proptest::collection::vec(0usize..3, 6), split in 0usize..60,
    ) {
        let table = table(&file);
        let (n, d) = (table.n_rows(), table.columns().len());
        let relations = some_relations(&file, &kinds, Rule::Overlap);
        let rules: Vec<Missing> = rules[..d]
            .iter()
            .map(|&r| [Missing::Wildcard, Missing::Category, Missing::Exclude][r])
            .collect();
        let targets: Vec<u32> = (split.min(n) as u32..n as u32).collect();
        let outside = (!targets.is_empty()).then(|| table.select(&targets).unwrap());
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
        let settings = Settings {
            missing: &rules,
            weights: Some(Weights::new(&weights, n).unwrap()),
            ..Settings::default()
        };
        let asked = Question::new(&table, outside.as_ref(), relations.clone(), settings).unwrap();
        let found = ask(&asked, 2);
        let kept = |row: &u32| {
            (0..d).all(|v| rules[v] != Missing::Exclude || known(&table, *row as usize, v) != 0)
        };
        let rows: Vec<u32> = (0..n as u32).filter(kept).collect();
        let fits = |i: u32, j: u32| (0..d).all(|v| {
            let (a, b) = (known(&table, i as usize, v), known(&table, j as usize, v));
            match rules[v] {
                Missing::Category if a == 0 || b == 0 => a == b,
                _ => relations[v].compatible(a, b),
            }
        });
        let sought = if outside.is_some() { &targets } else { &rows };
        let sums = |amount: &dyn Fn(u32) -> f64| -> Vec<f64> {
            let of = |&i: &u32| rows.iter().filter(|&&j| fits(i, j)).map(|&j| amount(j)).sum();
            // Nobody left to match: nothing is told, of outside targets either.
            let some = if rows.is_empty() { &[][..] } else { sought };
            some.iter().filter(|i| kept(i)).map(of).collect()
        };
        prop_assert!(close(&found.matches, &sums(&|_| 1.0)));
        let weighted = found.weighted.unwrap_or_default();
        prop_assert!(close(&weighted, &sums(&|j| weights[j as usize])));
        if rules.contains(&Missing::Exclude) {
            prop_assert_eq!(found.rows, Some(rows));
        } else {
            prop_assert_eq!(found.rows, None);
        }
    }

    #[test]
    fn counts_follow_the_definition(file in files(300)) {
        let table = table(&file);
        let relations = vec![Relation::Equal; table.columns().len()];
        let keys = keys_of(relations.len());
        let question = question(&table, &relations, &keys);
        let expected = brute(&question, |_| 1.0);
        for algorithm in [Algorithm::Cheaper, Algorithm::Walk, Algorithm::Dense] {
            let question = Question { algorithm, ..question.clone() };
            prop_assert_eq!(&ask(&question, 2).matches, &expected);
        }
    }

    #[test]
    fn variations_follow_the_definition(
        file in files(120), kinds in proptest::collection::vec(any::<u8>(), 1..6),
        rule in 0usize..3, min_overlap in 0usize..4, partial in 0..4, split in 0usize..80,
        grouped in any::<bool>(),
    ) {
        let rule = [Rule::First, Rule::Overlap, Rule::Mean][rule];
        let whole = table(&file);
        let n = whole.n_rows();
        let relations = some_relations(&file, &kinds, rule);
        let mut keys = keys_of(relations.len());
        if grouped && keys.len() > 1 {
            let last = keys.pop().unwrap();
            keys[0].extend(last);
        }
        let rows: Vec<u32> = (0..n as u32).collect();
        let (outside, inside) = rows.split_at(split.min(n - 1));
        let inside = whole.select(inside).unwrap();
        let outside = (!outside.is_empty()).then(|| whole.select(outside).unwrap());
        let weights: Vec<f64> = (0..inside.n_rows()).map(|i| 0.3 + (i % 7) as f64).collect();
        let mut question = question(&inside, &relations, &keys);
        question.targets = outside.as_ref().map(Cow::Borrowed);
        question.min_overlap = min_overlap;
        question.partial_weight = f64::from(partial) / 3.0;
        question.weights = Some(Cow::Borrowed(&weights));
        let found = ask(&question, 2);
        prop_assert!(close(&found.matches, &brute(&question, |_| 1.0)));
        let weighted = found.weighted.clone().unwrap();
        prop_assert!(close(&weighted, &brute(&question, |j| weights[j])));
        let squares = found.weighted_squares.clone().unwrap();
        prop_assert!(close(&squares, &brute(&question, |j| weights[j] * weights[j])));
        prop_assert_eq!(&ask(&question, 1), &found);
        prop_assert_eq!(&ask(&question, 7), &found);
    }

    #[test]
    fn distinct_labels_follow_the_definition(
        file in files(80), kinds in proptest::collection::vec(any::<u8>(), 1..4),
        min_overlap in 0usize..3, labels in proptest::collection::vec(0u32..6, 80),
        ordered in any::<bool>(),
    ) {
        let table = table(&file);
        let n = table.n_rows();
        let relations = some_relations(&file, &kinds, Rule::First);
        let keys = keys_of(relations.len());
        let labels = &labels[..n];
        let column = Column::new(Codes::pack(6, labels.iter().copied()), 6).unwrap();
        let weights: Vec<f64> = labels.iter().map(|&l| 1.5 + f64::from(l)).collect();
        let mut question = question(&table, &relations, &keys);
        question.min_overlap = min_overlap;
        question.sensitive = vec![Sensitive { column: Cow::Borrowed(&column), ordered }];
        question.households = Some(Cow::Borrowed(&column));
        question.weights = Some(Cow::Borrowed(&weights));
        let found = ask(&question, 2);
        for i in 0..n {
            let row = table.select(&[i as u32]).unwrap();
            let one = Question { targets: Some(Cow::Borrowed(&row)), weights: None, ..question.clone() };
            let matches: Vec<usize> = (0..n).filter(|&j| {
                let file = table.select(&[j as u32]).unwrap();
                let alone = Question { file: Cow::Borrowed(&file), sensitive: Vec::new(), households: None, ..one.clone() };
                i == j || brute(&alone, |_| 1.0)[0] > 0.0
            }).collect();
            let mut seen: Vec<u32> = matches.iter().map(|&j| labels[j]).collect();
            seen.sort_unstable();
            let expected = diversity_of(&seen, labels, ordered);
            prop_assert!(alike(&found.sensitive[0][i], &expected), "{:?} {:?}", found.sensitive[0][i], expected);
            let lonely = seen.iter().filter(|&&l| l == 0).count();
            seen.dedup();
            seen.retain(|&l| l != 0);
            prop_assert_eq!(found.n_households.as_ref().unwrap()[i] as usize, seen.len() + lonely);
            let sum: f64 = seen.iter().map(|&l| 1.5 + f64::from(l)).sum::<f64>() + 1.5 * lonely as f64;
            prop_assert!(close(&[found.households_weighted.as_ref().unwrap()[i]], &[sum]));
        }
    }

    #[test]
    fn without_missing_values_matches_are_classes(file in files(200)) {
        let mut file = file;
        file.codes.iter_mut().flatten().for_each(|c| *c = (*c).max(1));
        let table = table(&file);
        let groups = table.group(&Monitor::new()).unwrap();
        let sizes: Vec<f64> = groups.row_group().iter().map(|&g| groups.counts()[g as usize] as f64).collect();
        prop_assert_eq!(counts(&table), sizes);
    }

    #[test]
    fn a_further_key_raises_nothing_and_a_blank_lowers_nothing(
        file in files(100), row in any::<prop::sample::Index>(), v in any::<prop::sample::Index>(),
    ) {
        let all = counts(&table(&file));
        let mut blanked = file.clone();
        let v = v.index(file.codes.len());
        let row = row.index(all.len());
        blanked.codes[v][row] = 0;
        prop_assert!(counts(&table(&blanked)).iter().zip(&all).all(|(b, a)| b >= a));
        if file.codes.len() > 1 {
            let mut fewer = file.clone();
            fewer.codes.remove(v);
            fewer.n_values.remove(v);
            prop_assert!(counts(&table(&fewer)).iter().zip(&all).all(|(b, a)| b >= a));
        }
        for codes in &mut blanked.codes {
            codes[row] = 0;
        }
        let matched = counts(&table(&blanked))[row];
        prop_assert!(close(&[matched], &[all.len() as f64]));
    }

    #[test]
    fn order_and_labels_do_not_matter(file in files(150), seed in any::<u64>()) {
        let table = table(&file);
        let n = table.n_rows();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let before = counts(&table);
        let after = counts(&table.select(&order).unwrap());
        prop_assert!(order.iter().zip(&after).all(|(&i, a)| (a - before[i as usize]).abs() < 0.5));
        let mut relabelled = table.clone();
        for (v, &k) in file.n_values.iter().enumerate() {
            let map: Vec<u32> = (1..=k).rev().collect();
            relabelled.recode(v, &map, k).unwrap();
        }
        prop_assert_eq!(counts(&relabelled), before);
    }

    #[test]
    fn rows_may_stand_for_several_records(file in files(150)) {
        let table = table(&file);
        let groups = table.group(&Monitor::new()).unwrap();
        let distinct = table.distinct(&groups).unwrap();
        let by_group = counts(&distinct);
        let by_row: Vec<f64> = groups.row_group().iter().map(|&g| by_group[g as usize]).collect();
        prop_assert_eq!(by_row, counts(&table));
    }
}

/// A file of the kind the speed targets are about.
fn skewed(n: usize, levels: &[u32], missing: u64) -> KeyTable {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % below
    };
    let columns = levels.iter().map(|&k| {
        let codes: Vec<u32> = (0..n)
            .map(|_| {
                let low = draw(u64::from(k)).min(draw(u64::from(k)));
                if draw(100) < missing {
                    0
                } else {
                    low as u32 + 1
                }
            })
            .collect();
        Column::new(Codes::pack(k, codes.into_iter()), k).unwrap()
    });
    KeyTable::new(columns.collect()).unwrap()
}

#[test]
fn larger_files_agree_with_the_definition_and_with_any_number_of_threads() {
    let shapes: [(&[u32], u64); 6] = [
        (&[2, 3, 5, 12, 60], 0),
        (&[2, 3, 5, 12, 60], 20),
        (&[2; 14], 30),
        (&[300, 4, 900, 3], 40),
        (&[4000, 3000], 10),
        (&[70, 70, 70, 70, 70, 70], 60),
    ];
    for (levels, missing) in shapes {
        let table = skewed(4_000, levels, missing);
        let relations = vec![Relation::Equal; levels.len()];
        let keys = keys_of(levels.len());
        let question = question(&table, &relations, &keys);
        let expected = brute(&question, |_| 1.0);
        for algorithm in [Algorithm::Cheaper, Algorithm::Walk, Algorithm::Dense] {
            let question = Question {
                algorithm,
                ..question.clone()
            };
            for threads in [1, 2, 7] {
                assert_eq!(ask(&question, threads).matches, expected, "{levels:?}");
            }
        }
    }
}

#[test]
fn the_cheaper_way_is_taken() {
    let way = |levels: &[u32]| {
        let table = skewed(20_000, levels, 20);
        let relations = vec![Relation::Equal; levels.len()];
        let keys = keys_of(levels.len());
        ask(&question(&table, &relations, &keys), 2).algorithm
    };
    assert_eq!(way(&[2, 3, 2, 4]), Algorithm::Dense);
    assert_eq!(way(&[200, 300, 100, 50]), Algorithm::Walk);
}

#[test]
fn many_columns_are_sorted_in_stages() {
    let levels: Vec<u32> = (0..40).map(|v| 2 + v * 37 % 400).collect();
    let table = skewed(700, &levels, 70);
    let relations = vec![Relation::Equal; 40];
    let keys = keys_of(40);
    let question = question(&table, &relations, &keys);
    assert_eq!(ask(&question, 2).matches, brute(&question, |_| 1.0));
}

#[test]
fn hard_cases_have_right_answers() {
    let file = |codes: Vec<Vec<u32>>, k: u32| {
        let n_values = vec![k; codes.len()];
        counts(&table(&File { codes, n_values }))
    };
    assert_eq!(file(vec![vec![1]], 1), [1.0]);
    assert_eq!(file(vec![vec![0]], 0), [1.0]);
    assert_eq!(file(vec![vec![0; 5], vec![0; 5]], 0), [5.0; 5]);
    assert_eq!(file(vec![vec![1; 70], vec![2; 70]], 2), [70.0; 70]);
    let unique: Vec<u32> = (1..=500).collect();
    assert_eq!(file(vec![unique.clone(), unique], 500), [1.0; 500]);
}

#[test]
fn weights_of_very_different_size_lose_nothing() {
    let file = File {
        codes: vec![vec![1, 1, 2, 0]],
        n_values: vec![2],
    };
    let table = table(&file);
    let relations = [Relation::Equal];
    let keys = keys_of(1);
    let weights = [1e12, 1e-12, 3e-13, 2.0];
    let mut question = question(&table, &relations, &keys);
    question.weights = Some(Cow::Borrowed(&weights));
    let found = ask(&question, 2).weighted.unwrap();
    assert!((found[2] - 2.0000000000003).abs() < 1e-15);
    assert!((found[0] - (1e12 + 2.0)).abs() < 1e-3);
}

#[test]
fn relations_say_what_they_do_not_take() {
    assert_eq!(
        Relation::within(&[1.0], -1.0).unwrap_err().kind(),
        "bad_argument"
    );
    assert_eq!(
        Relation::of_sets(&[vec![]], Rule::First, &Monitor::new())
            .unwrap_err()
            .kind(),
        "bad_column"
    );
    let backwards = of_intervals(&[(2.0, 1.0)], Rule::First);
    assert_eq!(backwards.unwrap_err().kind(), "bad_column");
    let fraction = of_intervals(&[(1.0, 1.5)], Rule::Mean);
    assert_eq!(fraction.unwrap_err().kind(), "bad_argument");
    assert!(of_intervals(&[(1.0, 1.5)], Rule::Overlap).is_ok());
}

#[test]
fn the_first_of_a_set_is_not_symmetric() {
    // {3, 4} does not match {4, 5}, while {4, 5} matches {3, 4}.
    let sets = [vec![3, 4], vec![4, 5]];
    let first = Relation::of_sets(&sets, Rule::First, &Monitor::new()).unwrap();
    assert!(!first.compatible(1, 2) && first.compatible(2, 1));
    let overlap = Relation::of_sets(&sets, Rule::Overlap, &Monitor::new()).unwrap();
    assert!(overlap.compatible(1, 2) && overlap.compatible(2, 1));
    let mean = Relation::of_sets(&sets, Rule::Mean, &Monitor::new()).unwrap();
    assert_eq!(
        (
            mean.times(1, 2),
            mean.times(1, 1),
            mean.times(1, 0),
            mean.size(1)
        ),
        (1, 2, 2, 2)
    );
}

#[test]
fn tolerance_is_not_fooled_by_decimal_fractions() {
    let relation = Relation::within(&[0.1, 0.2, 0.3, 0.45], 0.1).unwrap();
    assert!(relation.compatible(1, 2) && relation.compatible(2, 3) && relation.compatible(3, 2));
    assert!(!relation.compatible(3, 4) && !relation.compatible(1, 3));
    let infinite = Relation::within(&[f64::NEG_INFINITY, 0.0, f64::INFINITY], 1e300).unwrap();
    assert!(infinite.compatible(1, 1) && infinite.compatible(3, 3));
    assert!(!infinite.compatible(1, 3) && !infinite.compatible(2, 3));
}

/// True if a value is admitted by a cell of pieces.
fn admits(cell: &[(f64, f64)], value: f64) -> bool {
    cell.iter()
        .any(|&(low, high)| low <= value && value <= high)
}

/// The values of a cell, an interval being the whole numbers in it.
fn values_of(cell: &[(f64, f64)]) -> Vec<f64> {
    let whole = |&(low, high): &(f64, f64)| {
        let n = (high - low) as u32;
        (0..=n).map(move |i| low + f64::from(i))
    };
    cell.iter().flat_map(whole).collect()
}

proptest! {
    #[test]
    fn sets_against_intervals_follow_the_definition(
        cells in proptest::collection::vec(
            (proptest::collection::btree_set(0i8..12, 1..4), 0i8..12, 0i8..5, any::<bool>()), 1..20,
        ),
        halves in any::<bool>(),
    ) {
        let cells: Vec<Vec<(f64, f64)>> = cells.into_iter().map(|(set, low, length, is_set)| {
            // Values between whole numbers are values, and in no interval's count.
            let point = |v: i8| f64::from(v) + if halves && v % 3 == 0 { 0.5 } else { 0.0 };
            if is_set {
                set.into_iter().rev().map(|v| (point(v), point(v))).collect()
            } else {
                vec![(f64::from(low), f64::from(low) + f64::from(length))]
            }
        }).collect();
        let sizes: Vec<usize> = cells.iter().map(Vec::len).collect();
        let pieces = Pieces::new(cells.concat(), &sizes).unwrap();
        let monitor = Monitor::new();
        let relation = |rule| Relation::of_pieces(&pieces, rule, &monitor).unwrap();
        let (first, overlap, mean) =
            (relation(Rule::First), relation(Rule::Overlap), relation(Rule::Mean));
        for (i, a) in (1u32..).zip(&cells) {
            let values = values_of(a);
            for (j, b) in (1u32..).zip(&cells) {
                let meets = a.iter().any(|&(l, h)| b.iter().any(|&(low, high)| l <= high && low <= h));
                prop_assert_eq!(first.compatible(i, j), admits(b, a[0].0));
                prop_assert_eq!(overlap.compatible(i, j), meets);
                let times = values.iter().filter(|&&v| admits(b, v)).count() as u64;
                prop_assert_eq!(mean.times(i, j), times);
            }
            prop_assert_eq!(mean.size(i), values.len() as u64);
        }
    }
}

#[test]
fn weights_far_from_one_keep_their_digits() {
    let file = table(&File {
        codes: vec![vec![1, 1, 2, 0]],
        n_values: vec![2],
    });
    let relations = [Relation::Equal];
    let keys = keys_of(1);
    for unit in [5e-324, 1e-308, 1e-300, 1e-200, 1e200, 1e300] {
        let weights = [unit, 3.0 * unit, 7.0 * unit, 5.0 * unit];
        let mut question = question(&file, &relations, &keys);
        question.weights = Some(Cow::Borrowed(&weights));
        let found = ask(&question, 2).weighted.unwrap();
        let expected = [9.0 * unit, 9.0 * unit, 12.0 * unit, 16.0 * unit];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-14, "{found} {expected}");
        }
    }
    // Of very different weights the large ones decide, and none becomes zero.
    let weights = [1e-300, 1e-308, 1e-300, 1e-308];
    let mut question = question(&file, &relations, &keys);
    question.weights = Some(Cow::Borrowed(&weights));
    let found = ask(&question, 2).weighted.unwrap();
    assert!((found[0] / (1e-300 + 2e-308) - 1.0).abs() < 1e-14);
    let squares = ask(&question, 2).weighted_squares.unwrap();
    assert!(squares.iter().all(|s| s.is_finite()));
}

#[test]
fn too_many_pairs_are_refused_before_they_are_listed() {
    let monitor = Monitor::new();
    let wide: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i), 1e9)).collect();
    let wide = Pieces::intervals(wide).unwrap();
    // Cancelled: the number of pairs is told without the work.
    monitor.cancel();
    let refused = Relation::of_pieces(&wide, Rule::Overlap, &monitor);
    assert_eq!(refused.unwrap_err().kind(), "too_large");
    let sets: Vec<Vec<u32>> = (1..20_000).map(|i| vec![i, 0]).collect();
    let refused = Relation::of_sets(&sets, Rule::Overlap, &monitor);
    assert_eq!(refused.unwrap_err().kind(), "too_large");
    let few = Pieces::intervals(vec![(0.0, 1.0); 3]).unwrap();
    let stopped = Relation::of_pieces(&few, Rule::Overlap, &monitor);
    assert_eq!(stopped.unwrap_err().kind(), "interrupted");
    let stopped = Relation::of_sets(&sets[..3], Rule::Overlap, &monitor);
    assert_eq!(stopped.unwrap_err().kind(), "interrupted");
}
