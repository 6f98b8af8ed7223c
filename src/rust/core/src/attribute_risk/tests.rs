use std::borrow::Cow;

use super::*;
use crate::key_table::{Codes, KeyTable};
use crate::n_matches::{Relation, Settings};
use crate::parallel::with_threads;
use proptest::prelude::*;

fn column(codes: &[u32]) -> Column {
    let k = codes.iter().copied().max().unwrap_or(0);
    Column::new(Codes::pack(k, codes.iter().copied()), k).unwrap()
}

fn ask(keys: &[Vec<u32>], values: &[u32], threads: usize) -> (Vec<u64>, AttributeRisk) {
    let table = KeyTable::new(keys.iter().map(|codes| column(codes)).collect()).unwrap();
    let sensitive = [Sensitive {
        column: Cow::Owned(column(values)),
        ordered: false,
    }];
    let settings = Settings {
        sensitive: &sensitive,
        ..Settings::default()
    };
    let relations = vec![Relation::Equal; keys.len()];
    let question = Question::new(&table, None, relations, settings).unwrap();
    let (matches, mut risks) = with_threads(threads, || {
        attribute_risk(&question, &sensitive, &[column(values)], &Monitor::new())
    })
    .unwrap();
    (matches, risks.remove(0))
}

#[test]
fn a_file_is_worked_by_hand() {
    // Keys 1 1 1 2 2, values a a b a a: the second key tells its value.
    let (matches, found) = ask(&[vec![1, 1, 1, 2, 2]], &[1, 1, 2, 1, 1], 1);
    assert_eq!(matches, [3, 3, 3, 2, 2]);
    let third = 1.0 / 3.0;
    let of = |what: fn(&Target) -> bool| found.targets.iter().map(what).collect::<Vec<bool>>();
    let posterior: Vec<f64> = found.targets.iter().flat_map(|t| t.posterior).collect();
    assert_eq!(posterior, [2.0 * third, 2.0 * third, third, 1.0, 1.0]);
    assert_eq!(of(|t| t.told), [false, false, false, true, true]);
    assert_eq!(of(|t| t.right), of(|t| t.told));
    assert_eq!(of(|t| t.guessed), [true, true, false, true, true]);
    assert_eq!(found.shares, [0.8, 0.2]);
    assert_eq!(found.worst.l_distinct.to_bits(), 1f64.to_bits());
    assert_eq!(found.worst.alpha.to_bits(), 1f64.to_bits());
    assert!(found.worst.l_recursive.is_infinite());
    assert!((found.worst.beta - (third / 0.2 - 1.0)).abs() < 1e-15);
    assert!((found.worst.t - 0.2).abs() < 1e-12);
}

proptest! {
    #[test]
    fn matches_are_those_of_the_definition(
        rows in prop::collection::vec((0u32..4, 0u32..3, 0u32..4), 1..30)
    ) {
        let keys = vec![
            rows.iter().map(|r| r.0).collect::<Vec<u32>>(),
            rows.iter().map(|r| r.1).collect(),
        ];
        let values: Vec<u32> = rows.iter().map(|r| r.2).collect();
        let (matches, found) = ask(&keys, &values, 2);
        prop_assert_eq!(&found.targets, &ask(&keys, &values, 1).1.targets);
        let agree = |a: u32, b: u32| a == 0 || b == 0 || a == b;
        for i in 0..rows.len() {
            let all: Vec<usize> = (0..rows.len())
                .filter(|&j| keys.iter().all(|k| agree(k[i], k[j])))
                .collect();
            prop_assert_eq!(matches[i], all.len() as u64);
            let known: Vec<u32> = all.iter().map(|&j| values[j]).filter(|&v| v > 0).collect();
            let same = known.iter().filter(|&&v| v == values[i]).count() as f64;
            let expected = (values[i] > 0).then(|| same / known.len() as f64);
            prop_assert_eq!(found.targets[i].posterior, expected);
            let mut distinct = known.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(found.targets[i].told, distinct.len() == 1);
            prop_assert_eq!(found.targets[i].found, !known.is_empty());
            prop_assert!(known.is_empty() || found.worst.l_distinct <= distinct.len() as f64);
        }
    }
}
