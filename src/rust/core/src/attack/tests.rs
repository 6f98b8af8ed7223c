//! All engines against brute force over all pairs, and the laws of the attack.

use proptest::prelude::*;

use super::choose::Prepared;
use super::em::Em;
use super::levels::KeyLevels;
use super::patterns::Patterns;
use super::reliability::{count_links, Margins};
use super::weights::{on_grid, KeyWeights, Weights};
use super::*;
use crate::key_table::{Codes, Column};
use crate::linkage::{Agreement, Method, NONE};
use crate::parallel::with_threads;
use crate::{KeyTable, Monitor};

mod linked;

type Rows = Vec<Vec<u32>>;

fn table(rows: &Rows, levels: &[u32]) -> KeyTable {
    let columns = levels
        .iter()
        .enumerate()
        .map(|(v, &k)| Column::new(Codes::pack(k, rows.iter().map(|r| r[v])), k).unwrap());
    KeyTable::new(columns.collect()).unwrap()
}

/// Two small files over the same keys, with partners and relations.
#[derive(Debug, Clone)]
struct Case {
    known: Rows,
    released: Rows,
    sizes: Vec<u32>,
    agreements: Vec<Agreement>,
    partners: Vec<u32>,
    /// Weights are drawn from few values, so that there are ties.
    draws: Vec<i32>,
}

/// Values within `width` of each other agree.
fn near(k: u32, width: u32) -> Agreement {
    Agreement::Ranges {
        starts: (0..=k).collect(),
        ranges: (1..=k)
            .map(|c| (c.saturating_sub(width).max(1), (c + width).min(k)))
            .collect(),
    }
}

fn cases() -> impl Strategy<Value = Case> {
    (prop::collection::vec(1u32..6, 1..6), 1usize..60, 1usize..40).prop_flat_map(
        |(sizes, n1, n2)| {
            let row: Vec<_> = sizes.iter().map(|&k| 0..=k).collect();
            let agreements: Vec<_> = sizes
                .iter()
                .map(|&k| {
                    prop::option::weighted(0.3, 0u32..3)
                        .prop_map(move |w| w.map_or(Agreement::Same, |w| near(k, w)))
                })
                .collect();
            (
                prop::collection::vec(row.clone(), n1..=n1),
                prop::collection::vec(row, n2..=n2),
                Just(sizes),
                agreements,
                prop::collection::vec(prop::option::of(0..n1 as u32), n2..=n2),
                prop::collection::vec(-4i32..5, 200..201),
            )
                .prop_map(
                    |(known, mut released, sizes, agreements, partners, draws)| {
                        // A linked record has many values of its partner.
                        for (row, partner) in released.iter_mut().zip(&partners) {
                            if let Some(p) = partner {
                                for (v, value) in row.iter_mut().enumerate() {
                                    if (*value as usize + v) % 3 != 0 {
                                        *value = known[*p as usize][v];
                                    }
                                }
                            }
                        }
                        Case {
                            known,
                            released,
                            sizes,
                            agreements,
                            partners: partners.into_iter().map(|p| p.unwrap_or(NONE)).collect(),
                            draws,
                        }
                    },
                )
        },
    )
}

impl Case {
    fn tables(&self) -> (KeyTable, KeyTable) {
        (
            table(&self.known, &self.sizes),
            table(&self.released, &self.sizes),
        )
    }

    fn levels(&self) -> Vec<KeyLevels> {
        let rules = self.agreements.iter().zip(&self.sizes);
        rules.map(|(a, &k)| KeyLevels::new(a, k, true)).collect()
    }

    /// Weights of every range; agreement need not weigh more.
    fn weights(&self, rising: bool) -> Weights {
        let mut draws = self
            .draws
            .iter()
            .cycle()
            .map(|&d| on_grid(f64::from(d) * 0.7));
        let all = self.levels();
        let keys = all.iter().map(|levels| {
            let differ = draws.next().unwrap();
            let weights: Vec<f64> = levels
                .ranges()
                .iter()
                .map(|_| {
                    let weight = draws.next().unwrap();
                    if rising {
                        differ + weight.abs() + 0.5
                    } else {
                        weight
                    }
                })
                .collect();
            KeyWeights::new(levels, &weights, differ)
        });
        Weights::new(keys.collect()).unwrap()
    }

    fn pair(&self, weights: &Weights, i: usize, j: usize) -> f64 {
        let pairs = self.known[j].iter().zip(&self.released[i]);
        weights.of_pair(pairs.map(|(&x, &y)| (x, y)))
    }

    /// Largest weight, ties and sum, pair by pair.
    fn brute(&self, weights: &Weights) -> Vec<(f64, u64, f64)> {
        (0..self.released.len())
            .map(|i| {
                let all: Vec<f64> = (0..self.known.len())
                    .map(|j| self.pair(weights, i, j))
                    .collect();
                let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let ties = all.iter().filter(|&&w| w >= most).count() as u64;
                (most, ties, all.iter().map(|w| w.exp()).sum())
            })
            .collect()
    }
}

fn with_files<T>(case: &Case, work: impl FnOnce(&Files) -> T) -> T {
    let (known, released) = case.tables();
    let exact = vec![true; case.sizes.len()];
    let files = Files::new(
        &known,
        &released,
        &case.agreements,
        &exact,
        Some(&case.partners),
    );
    work(&files.unwrap())
}

fn prepared(files: &Files) -> Prepared {
    let keys: Vec<usize> = (0..files.n_keys()).collect();
    let monitor = Monitor::new();
    let patterns = Patterns::new(files, &keys, &monitor).unwrap();
    Prepared::new(patterns, &monitor).unwrap()
}

fn found(prepared: &Prepared, weights: &Weights, engine: Engine) -> Vec<Best> {
    let plan = Plan { engine, work: 0.0 };
    let best = prepared
        .best_matches(weights, &plan, &Monitor::new())
        .unwrap();
    let of_record = &prepared.patterns.query_of_record;
    of_record.iter().map(|&q| best[q as usize]).collect()
}

fn check(case: &Case, rising: bool, engines: &[Engine]) {
    let weights = case.weights(rising);
    let brute = case.brute(&weights);
    with_files(case, |files| {
        let prepared = prepared(files);
        for &engine in engines {
            for (best, slow) in found(&prepared, &weights, engine).iter().zip(&brute) {
                assert_eq!(
                    best.weight.to_bits(),
                    (slow.0 + 0.0).to_bits(),
                    "{engine:?}"
                );
                assert_eq!(best.n, slow.1, "{engine:?}");
                assert!((best.sum / slow.2 - 1.0).abs() < 1e-12, "{engine:?}");
            }
        }
    });
}

proptest! {
    #[test]
    fn engines_equal_brute_force(case in cases()) {
        check(&case, true, &[Engine::Elimination, Engine::Subsets, Engine::Tables]);
    }

    #[test]
    fn agreements_may_weigh_less_than_disagreements(case in cases()) {
        check(&case, false, &[Engine::Elimination, Engine::Tables]);
    }

    #[test]
    fn wide_weights_are_scaled(case in cases()) {
        let mut keys: Vec<KeyWeights> = case.weights(true).keys().to_vec();
        let levels = case.levels();
        for (key, levels) in keys.iter_mut().zip(&levels) {
            let weights = vec![on_grid(250.3); levels.ranges().len()];
            *key = KeyWeights::new(levels, &weights, on_grid(-30.1));
        }
        let weights = Weights::new(keys).unwrap();
        with_files(&case, |files| {
            let prepared = prepared(files);
            for engine in [Engine::Elimination, Engine::Subsets, Engine::Tables] {
                let found = found(&prepared, &weights, engine);
                for (i, best) in found.iter().enumerate() {
                    let shift: f64 = weights.keys().iter().zip(&case.released[i])
                        .filter(|(_, &y)| y != 0).map(|(k, _)| k.shift).sum();
                    let slow: Vec<f64> = (0..case.known.len())
                        .map(|j| case.pair(&weights, i, j)).collect();
                    let most = slow.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = slow.iter().map(|w| (w - most).exp()).sum();
                    let log = best.sum.ln() + shift;
                    assert!((log - most - sum.ln()).abs() < 1e-9, "{log} {most}");
                }
            }
        });
    }

    #[test]
    fn learning_equals_the_sums_over_all_pairs(case in cases(), by_value: bool, rho in 0.3f64..1.0) {
        with_files(&case, |files| {
            let monitor = Monitor::new();
            let prepared = prepared(files);
            let levels = case.levels();
            let margins: Vec<Margins> = files.known.columns().iter()
                .zip(files.released.columns()).map(|(a, b)| Margins::new(a, b)).collect();
            let em = Em {
                trie: &prepared.trie,
                query_counts: &prepared.patterns.query_counts,
                margins: &margins, levels: &levels, by_value,
                n_known: case.known.len() as f64, rho,
            };
            let m: Vec<Vec<f64>> = levels.iter().map(|l| match l.len() {
                2 => vec![0.8, 0.2],
                _ => vec![0.6, 0.3, 0.1],
            }).collect();
            let (next, log) = em.step(&m, &monitor).unwrap();
            let (slow, slow_log) = slow_step(&case, &em, &m);
            assert!((log - slow_log).abs() < 1e-9 * slow_log.abs().max(1.0), "{log} {slow_log}");
            for (a, b) in next.iter().flatten().zip(slow.iter().flatten()) {
                assert!((a - b).abs() < 1e-7, "{next:?} {slow:?}");
            }
        });
    }

    #[test]
    fn the_ceiling_equals_brute_force(case in cases()) {
        with_files(&case, |files| {
            let levels = case.levels();
            let prepared = prepared(files);
            let found = ceiling::ceiling(files, &levels, &prepared.trie, &Monitor::new()).unwrap();
            let cell = |i: usize, j: usize| -> Vec<usize> {
                levels.iter().zip(case.known[j].iter().zip(&case.released[i]))
                    .map(|(l, (&x, &y))| match (x, y) {
                        (_, 0) => 9,
                        (0, _) => 8,
                        _ => l.level(x, y),
                    }).collect()
            };
            let slow: f64 = files.linked().map(|(i, p)| {
                let own = cell(i, p);
                1.0 / (0..case.known.len()).filter(|&j| cell(i, j) == own).count() as f64
            }).sum();
            assert!((found.unwrap() - slow).abs() < 1e-9, "{found:?} {slow}");
        });
    }

    #[test]
    fn dependence_equals_the_correlation_over_all_pairs(case in cases()) {
        with_files(&case, |files| {
            let prepared = prepared(files);
            let found = Dependence::largest(&prepared.patterns, &Monitor::new()).unwrap();
            let mut largest: Option<f64> = None;
            for v in 0..case.sizes.len() {
                for w in v + 1..case.sizes.len() {
                    let phi = slow_phi(&case, v, w);
                    largest = Some(largest.map_or(phi, |l: f64| l.max(phi)));
                }
            }
            match (found, largest) {
                (Some(found), Some(phi)) => assert!((found.phi - phi).abs() < 1e-9),
                (None, None) => {}
                other => panic!("{other:?}"),
            }
        });
    }

    #[test]
    fn nothing_depends_on_threads_or_the_order_of_records(case in cases()) {
        let run = |case: &Case, threads| with_threads(threads, || {
            with_files(case, |files| attack(files, &settings(), &Monitor::new()))
        }).unwrap();
        let one = run(&case, 1);
        let two = run(&case, 3);
        let mut turned = case.clone();
        turned.known.reverse();
        let n = case.known.len() as u32;
        for p in turned.partners.iter_mut().filter(|p| **p != NONE) {
            *p = n - 1 - *p;
        }
        let turned = run(&turned, 2);
        for (a, (b, c)) in one.found.iter().zip(two.found.iter().zip(&turned.found)) {
            assert_eq!(a.score, b.score);
            assert_eq!(a.outcome.posterior, b.outcome.posterior);
            assert_eq!(a.outcome.n_best, b.outcome.n_best);
            if a.intruder != Intruder::Em {
                assert_eq!(a.outcome.n_best, c.outcome.n_best);
                assert_eq!(a.outcome.true_in_best, c.outcome.true_in_best);
                assert_eq!(a.score.expected.to_bits(), c.score.expected.to_bits());
            }
        }
        assert_eq!(one.ceiling, turned.ceiling);
    }
}

fn settings() -> Settings {
    Settings {
        intruders: vec![
            Intruder::Count,
            Intruder::Calibrated,
            Intruder::Prior,
            Intruder::Em,
        ],
        by_value: true,
        prior_match: 0.95,
        coverage: Some(0.7),
        engine: Engine::Choose,
        max_work: 1e12,
        without_work: 1e12,
        details: true,
        one_to_one: true,
    }
}

/// Expectation and maximisation over all pairs.
fn slow_step(case: &Case, em: &Em, m: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
    let keys = m.iter().enumerate().map(|(v, m)| {
        Reliability::new(&em.margins[v], &em.levels[v], None, m.clone()).weights(
            &em.margins[v],
            &em.levels[v],
            em.by_value,
            false,
        )
    });
    let weights = Weights::new(keys.collect()).unwrap();
    let mut agree: Vec<Vec<f64>> = m.iter().map(|m| vec![0.0; m.len()]).collect();
    let mut log = 0.0;
    for (i, query) in case.released.iter().enumerate() {
        let e: Vec<f64> = (0..case.known.len())
            .map(|j| em.rho / em.n_known * case.pair(&weights, i, j).exp())
            .collect();
        let likelihood = e.iter().sum::<f64>() + 1.0 - em.rho;
        log += likelihood.ln();
        for (row, e) in case.known.iter().zip(&e) {
            for (v, levels) in em.levels.iter().enumerate() {
                if row[v] != 0 && query[v] != 0 {
                    agree[v][levels.level(row[v], query[v])] += e / likelihood;
                }
            }
        }
    }
    let next = agree.iter().zip(m).map(|(agree, before)| {
        let n: f64 = agree.iter().sum();
        if n <= 0.0 {
            return before.clone();
        }
        agree.iter().map(|a| a / n).collect()
    });
    (next.collect(), log / case.released.len() as f64)
}

fn slow_phi(case: &Case, v: usize, w: usize) -> f64 {
    let (mut n, mut p, mut u, mut t) = (0.0, 0.0, 0.0, 0.0);
    for y in &case.released {
        for x in &case.known {
            if x[v] != 0 && x[w] != 0 && y[v] != 0 && y[w] != 0 {
                let (a, b) = (x[v] == y[v], x[w] == y[w]);
                n += 1.0;
                p += f64::from(u8::from(a && b));
                u += f64::from(u8::from(a));
                t += f64::from(u8::from(b));
            }
        }
    }
    let (p, u, t) = (p / n, u / n, t / n);
    let spread = (u * (1.0 - u) * t * (1.0 - t)).sqrt();
    if spread > 0.0 {
        (p - u * t) / spread
    } else {
        0.0
    }
}

/// Weights of keys of equal values, pooled.
fn simple(sizes: &[u32], agree: &[f64], differ: &[f64]) -> Weights {
    let keys = sizes
        .iter()
        .zip(agree.iter().zip(differ))
        .map(|(&k, (&a, &d))| {
            let levels = KeyLevels::new(&Agreement::Same, k, true);
            KeyWeights::new(&levels, &vec![on_grid(a); k as usize], on_grid(d))
        });
    Weights::new(keys.collect()).unwrap()
}

fn plain(known: Rows, released: Rows, sizes: &[u32]) -> Case {
    Case {
        partners: vec![NONE; released.len()],
        agreements: vec![Agreement::Same; sizes.len()],
        sizes: sizes.to_vec(),
        known,
        released,
        draws: vec![0],
    }
}

#[test]
fn three_records_by_hand() {
    let nine = 9f64.ln();
    let weights = simple(&[2, 2], &[nine, nine], &[-nine, -nine]);
    let case = plain(
        vec![vec![1, 1], vec![1, 2], vec![2, 2]],
        vec![vec![1, 2], vec![1, 0]],
        &[2, 2],
    );
    with_files(&case, |files| {
        let prepared = prepared(files);
        for engine in [Engine::Elimination, Engine::Subsets, Engine::Tables] {
            let best = found(&prepared, &weights, engine);
            assert!((best[0].sum - 83.0).abs() < 1e-9);
            assert_eq!((best[0].n, best[1].n), (1, 2));
            assert!((best[0].weight - 2.0 * nine).abs() < 1e-9);
            assert!((best[1].weight - nine).abs() < 1e-9);
        }
    });
}

#[test]
fn a_key_whose_agreement_weighs_less_than_its_disagreement() {
    // Persons grow older between the files: agreement on age speaks against a
    // pair. The shortcut for maxima would leave the weight of a disagreement
    // behind for the record that agrees.
    let weights = simple(&[2, 2], &[-1.0, 2.0], &[0.5, -2.0]);
    let case = plain(
        vec![vec![1, 1], vec![2, 1], vec![1, 2]],
        vec![vec![1, 1]],
        &[2, 2],
    );
    with_files(&case, |files| {
        let prepared = prepared(files);
        for engine in [Engine::Elimination, Engine::Tables, Engine::Choose] {
            let engine = match engine {
                Engine::Choose => prepared.plan(&weights, Engine::Choose).engine,
                given => given,
            };
            assert_ne!(engine, Engine::Subsets);
            let best = found(&prepared, &weights, engine)[0];
            // The one record of the other age, at 2.5; two of the same age below.
            assert!((best.weight - 2.5).abs() < 1e-9);
            assert_eq!(best.n, 1);
        }
    });
}

proptest! {
    #[test]
    fn values_of_one_file_alone_change_no_count(case in cases()) {
        with_files(&case, |files| {
            let asked = Settings {
                intruders: vec![Intruder::Count],
                one_to_one: false,
                ..settings()
            };
            let found = attack(files, &asked, &Monitor::new()).unwrap();
            let keys: Vec<usize> = (0..files.n_keys()).collect();
            let waves = files.waves().unwrap();
            let own = waves.partner_differences(&keys, &Monitor::new()).unwrap();
            let counted = waves.nearest(&keys, None, Method::Counters, &Monitor::new()).unwrap();
            let outcome = &found.found[0].outcome;
            assert_eq!(outcome.n_best, counted.n_best);
            for (row, &in_best) in outcome.true_in_best.iter().enumerate() {
                assert_eq!(in_best, own.is_best(row, counted.n_diff[row]));
            }
        });
    }
}

#[test]
fn counting_equals_the_linkage_of_waves() {
    let case = plain(
        vec![vec![1, 1], vec![1, 2], vec![2, 0]],
        vec![vec![1, 2], vec![2, 1]],
        &[2, 2],
    );
    let mut case = case;
    case.partners = vec![1, 2];
    with_files(&case, |files| {
        let found = attack(files, &settings(), &Monitor::new()).unwrap();
        let count = &found.found[0];
        assert_eq!(count.intruder, Intruder::Count);
        assert_eq!(count.outcome.n_best, [1, 1]);
        assert_eq!(count.score.n_certain, 2);
        assert!(count.outcome.posterior.is_empty());
    });
}

#[test]
fn what_no_engine_can_do_is_refused_at_once() {
    let case = plain(vec![vec![1, 1]; 3], vec![vec![1, 2]; 2], &[2, 2]);
    let asked = Settings {
        intruders: vec![Intruder::Prior],
        max_work: 0.5,
        ..settings()
    };
    with_files(&case, |files| {
        let refused = attack(files, &asked, &Monitor::new()).unwrap_err();
        assert_eq!(refused.kind(), "too_large");
        assert!(refused.to_string().contains("max_work"));
    });
}

#[test]
fn interrupts_stop_every_engine() {
    let case = plain(vec![vec![1, 1]; 3], vec![vec![1, 2]; 2], &[2, 2]);
    let weights = simple(&[2, 2], &[1.0, 1.0], &[-1.0, -1.0]);
    with_files(&case, |files| {
        let prepared = prepared(files);
        let monitor = Monitor::new();
        monitor.cancel();
        for engine in [Engine::Elimination, Engine::Subsets, Engine::Tables] {
            let plan = Plan { engine, work: 0.0 };
            let stopped = prepared
                .best_matches(&weights, &plan, &monitor)
                .unwrap_err();
            assert_eq!(stopped.kind(), "interrupted");
        }
    });
}

#[test]
fn links_are_counted_by_level() {
    let mut case = plain(
        vec![vec![1], vec![2], vec![3], vec![0]],
        vec![vec![1], vec![3], vec![1], vec![2]],
        &[3],
    );
    case.agreements = vec![near(3, 1)];
    case.partners = vec![0, 1, 2, 3];
    with_files(&case, |files| {
        let links = count_links(files, &case.levels(), &Monitor::new()).unwrap();
        assert_eq!(links, [[1.0, 1.0, 1.0]]);
    });
}

#[test]
fn the_ceiling_is_found_if_no_values_agree() {
    // Every pair looked at once would be too much work.
    let n = 150_000;
    let case = Case {
        known: (1..=n).map(|x| vec![x]).collect(),
        released: (1..=n).map(|x| vec![n + x]).collect(),
        sizes: vec![2 * n],
        agreements: vec![Agreement::Same],
        partners: (0..n).collect(),
        draws: vec![0],
    };
    with_files(&case, |files| {
        let trie = prepared(files).trie;
        let found = ceiling::ceiling(files, &case.levels(), &trie, &Monitor::new()).unwrap();
        assert!((found.unwrap() - 1.0).abs() < 1e-9, "{found:?}");
    });
}
