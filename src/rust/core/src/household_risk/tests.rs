use proptest::prelude::*;

use super::*;
use crate::hash::spread;
use crate::key_table::Codes;

fn column(codes: &[u32]) -> Column {
    let n_values = codes.iter().copied().max().unwrap_or(0);
    Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
}

fn table(columns: &[Vec<u32>]) -> KeyTable {
    KeyTable::new(columns.iter().map(|codes| column(codes)).collect()).unwrap()
}

fn plain(known: Known) -> Settings<'static> {
    Settings {
        known,
        shared: &[],
        complete_only: false,
        weights: None,
    }
}

fn ask(keys: &[Vec<u32>], homes: &[u32], settings: &Settings<'_>) -> HouseholdRisk {
    let homes = table(&[homes.to_vec()]);
    household_risk(&table(keys), &homes, settings, &Monitor::new()).unwrap()
}

/// Per row, the answer of its household.
fn by_row(found: &HouseholdRisk) -> Vec<u32> {
    let of = |&home: &u32| found.matches[home as usize];
    found.household.iter().map(of).collect()
}

/// The slow and obvious way.
fn oracle(keys: &[Vec<u32>], homes: &[u32], known: Known) -> Vec<u32> {
    let key = |row: usize| keys.iter().map(|codes| codes[row]).collect::<Vec<u32>>();
    let members = |home: u32| {
        let rows = (0..homes.len()).filter(|&row| homes[row] == home);
        let mut keys: Vec<Vec<u32>> = rows.map(key).collect();
        keys.sort();
        keys
    };
    let mut all: Vec<u32> = homes.to_vec();
    all.sort_unstable();
    all.dedup();
    let n_with = |wanted: &[Vec<u32>]| {
        let holds = |&&home: &&u32| {
            let mut left = members(home);
            wanted.iter().all(|key| {
                let at = left.iter().position(|k| k == key);
                at.map(|at| left.remove(at)).is_some()
            })
        };
        all.iter().filter(holds).count() as u32
    };
    let answer = |&home: &u32| {
        let own = members(home);
        let choices: Vec<Vec<Vec<u32>>> = match known {
            Known::All => return all.iter().filter(|&&other| members(other) == own).count() as u32,
            Known::Two if own.len() > 1 => (0..own.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| vec![own[i].clone(), own[j].clone()])
                .collect(),
            _ => own.iter().map(|key| vec![key.clone()]).collect(),
        };
        choices.iter().map(|wanted| n_with(wanted)).min().unwrap()
    };
    homes.iter().map(answer).collect()
}

const ALL: [Known; 3] = [Known::One, Known::Two, Known::All];

/// Few keys and few households, some of them with many members.
fn files() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<u32>)> {
    (1usize..30, 1u32..4, 1u32..9).prop_flat_map(|(n, n_values, n_homes)| {
        let keys = prop::collection::vec(prop::collection::vec(0..=n_values, n), 1..3);
        (keys, prop::collection::vec(1..=n_homes, n))
    })
}

proptest! {
    #![proptest_config(crate::cases::cases(600))]

    #[test]
    fn the_oracle_agrees((keys, homes) in files()) {
        for known in ALL {
            let found = by_row(&ask(&keys, &homes, &plain(known)));
            prop_assert_eq!(found, oracle(&keys, &homes, known), "{:?}", known);
        }
    }

    #[test]
    fn order_and_labels_change_nothing((keys, homes) in files(), seed in 0usize..1000) {
        let n = homes.len();
        let order: Vec<usize> = {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|&row| spread((row + seed) as u64));
            order
        };
        let turned: Vec<Vec<u32>> = (keys.iter())
            .map(|codes| order.iter().map(|&row| codes[row]).collect())
            .collect();
        let renamed: Vec<u32> = order.iter().map(|&row| 10 - homes[row]).collect();
        for known in ALL {
            let found = by_row(&ask(&keys, &homes, &plain(known)));
            let again = by_row(&ask(&turned, &renamed, &plain(known)));
            let expected: Vec<u32> = order.iter().map(|&row| found[row]).collect();
            prop_assert_eq!(again, expected);
        }
    }

    #[test]
    fn laws_hold((keys, homes) in files()) {
        let [one, two, all] = ALL.map(|known| ask(&keys, &homes, &plain(known)));
        for home in 0..one.matches.len() {
            prop_assert!(one.matches[home] >= two.matches[home]);
            prop_assert!(two.matches[home] >= all.matches[home]);
            prop_assert!(all.matches[home] >= 1);
        }
        // Everybody alone: the cells of persons.
        let apart: Vec<u32> = (1..=homes.len() as u32).collect();
        let cells = table(&keys).group(&Monitor::new()).unwrap();
        let sizes: Vec<u32> = (cells.row_group().iter())
            .map(|&cell| cells.counts()[cell as usize] as u32)
            .collect();
        for known in ALL {
            prop_assert_eq!(&by_row(&ask(&keys, &apart, &plain(known))), &sizes);
        }
    }

    #[test]
    fn equal_weights_are_counts((keys, homes) in files()) {
        let weights = vec![3.0; homes.len()];
        for known in ALL {
            let weights = Weights::new(&weights, homes.len()).unwrap();
            let settings = Settings { weights: Some(weights), ..plain(known) };
            let found = ask(&keys, &homes, &settings);
            let (sums, risk) = (found.weighted.unwrap(), found.risk.unwrap());
            for (home, &m) in found.matches.iter().enumerate() {
                prop_assert!((sums[home] - 3.0 * f64::from(m)).abs() < 1e-9);
                let expected = crate::individual_risk::expected_inverse(u64::from(m), sums[home]);
                prop_assert!((risk[home] - expected).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_household_that_is_nearly_the_file() {
    // 3000 members with keys of their own but for those of ten small households.
    let n = 3000u32;
    let mut keys: Vec<u32> = (1..=n).collect();
    let mut homes = vec![1; n as usize];
    for home in 2..12 {
        keys.extend([2 * home, 2 * home + 1]);
        homes.extend([home; 2]);
    }
    for known in ALL {
        let found = ask(&[keys.clone()], &homes, &plain(known));
        let expected = match known {
            Known::All => 1,
            _ => 2,
        };
        assert_eq!(found.matches[0], 1);
        assert!(found.matches[1..].iter().all(|&m| m == expected));
    }
}

#[test]
fn households_with_an_incomplete_member_can_be_left_out() {
    let keys = [vec![1, 0, 1, 1, 1, 1]];
    let homes = [1, 1, 2, 2, 3, 3];
    let settings = Settings {
        complete_only: true,
        ..plain(Known::All)
    };
    assert_eq!(ask(&keys, &homes, &settings).matches, [0, 2, 2]);
    assert_eq!(ask(&keys, &homes, &plain(Known::All)).matches, [1, 2, 2]);
}

#[test]
fn members_that_differ_are_counted() {
    let keys = [vec![1, 1, 1, 2], vec![1, 1, 1, 1]];
    let homes = [1, 1, 2, 2];
    let settings = Settings {
        shared: &[0, 1],
        ..plain(Known::One)
    };
    assert_eq!(ask(&keys, &homes, &settings).unequal, [1, 0]);
}
