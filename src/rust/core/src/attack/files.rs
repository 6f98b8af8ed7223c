//! The attack as a whole: both files, the intruders, what they get.

use super::assign::expected_one_to_one;
use super::ceiling::ceiling;
use super::choose::{Engine, Plan, Prepared};
use super::dependence::Dependence;
use super::em::{Em, Learning};
use super::levels::KeyLevels;
use super::patterns::Patterns;
use super::reliability::{count_links, Links, Margins, Reliability};
use super::score::Score;
use super::weights::{KeyWeights, Weights};
use super::Best;
use crate::error::{Error, Result};
use crate::key_table::{with_codes, Code, Codes, Column, KeyTable};
use crate::linkage::{Agreement, Method, Waves, MAX_KEYS, NONE};
use crate::memory::filled;
use crate::parallel::{self, Monitor, ROWS_PER_BLOCK};

/// Two files coded together.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    pub(super) known: &'a KeyTable,
    pub(super) released: &'a KeyTable,
    pub(super) agreements: &'a [Agreement],
    /// Per key, whether equal codes are a level of their own above those that
    /// agree otherwise.
    pub(super) exact_first: &'a [bool],
    /// Per released record the known record of the same person, or [`NONE`].
    pub(super) partners: Option<&'a [u32]>,
}

impl<'a> Files<'a> {
    /// Checks that the parts fit together.
    pub fn new(
        known: &'a KeyTable,
        released: &'a KeyTable,
        agreements: &'a [Agreement],
        exact_first: &'a [bool],
        partners: Option<&'a [u32]>,
    ) -> Result<Self> {
        Waves::new(known, released, agreements, partners, 0)?;
        if agreements.len() > MAX_KEYS {
            return Err(Error::too_large(
                &format!("Files can be linked on at most {MAX_KEYS} keys."),
                &format!("There are {}.", agreements.len()),
                "Leave out key variables.",
            ));
        }
        if exact_first.len() != agreements.len() {
            return Err(Error::BadArgument("Every key needs its rule.".into()));
        }
        Ok(Self {
            known,
            released,
            agreements,
            exact_first,
            partners,
        })
    }

    /// Number of keys.
    pub fn n_keys(&self) -> usize {
        self.agreements.len()
    }

    /// The files as waves, in which any two records can be a match.
    pub(super) fn waves(&self) -> Result<Waves<'a>> {
        Waves::new(self.known, self.released, self.agreements, self.partners, 0)
    }

    /// Both files with the same agreements, and fewer distinct records if hardly any are equal:
    /// values of a key that the other file has not are one, which agrees with none of it.
    fn with_shared_values(&self) -> Result<(KeyTable, KeyTable)> {
        let (known, released) = (self.known.columns(), self.released.columns());
        let keys = self.agreements.iter().zip(known.iter().zip(released));
        let columns =
            parallel::try_map(keys, &Monitor::new(), |(agreement, (known, released))| {
                Ok(match agreement {
                    Agreement::Same => (shared(known, released)?, shared(released, known)?),
                    Agreement::Ranges { .. } => (known.clone(), released.clone()),
                })
            })?;
        let (known, released) = columns.into_iter().unzip();
        Ok((KeyTable::new(known)?, KeyTable::new(released)?))
    }

    /// Released records with a partner, and the partner.
    pub(super) fn linked(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let partners = self.partners.unwrap_or(&[]).iter().enumerate();
        partners
            .filter(|(_, &p)| p != NONE)
            .map(|(row, &p)| (row, p as usize))
    }

    /// The levels of every key; with `split` equal codes have one of their own where
    /// that is their rule.
    pub(super) fn levels(&self, split: bool) -> Vec<KeyLevels> {
        let rules = self.agreements.iter().zip(self.exact_first);
        rules
            .zip(self.released.columns())
            .map(|((agreement, &exact), column)| {
                KeyLevels::new(agreement, column.n_values(), split && exact)
            })
            .collect()
    }

    /// The weight of every released record and its partner.
    pub(super) fn weights_of_partners(
        &self,
        weights: &Weights,
        keys: &[usize],
    ) -> Result<Vec<f64>> {
        let mut own = filled(f64::NAN, self.released.n_rows())?;
        let columns: Vec<_> = keys
            .iter()
            .map(|&v| {
                let columns = (&self.known.columns()[v], &self.released.columns()[v]);
                (columns.0.codes(), columns.1.codes())
            })
            .collect();
        let partners = self.partners.unwrap_or(&[]);
        let parts = own
            .chunks_mut(ROWS_PER_BLOCK)
            .zip(partners.chunks(ROWS_PER_BLOCK))
            .enumerate();
        parallel::for_each(parts, |(b, (own, partners))| {
            let rows = (b * ROWS_PER_BLOCK..).zip(own.iter_mut().zip(partners));
            for (row, (own, &p)) in rows.filter(|(_, (_, &p))| p != NONE) {
                let pairs = columns.iter().map(|(x, y)| (x.get(p as usize), y.get(row)));
                *own = weights.of_pair(pairs);
            }
        });
        Ok(own)
    }
}

/// Source of an intruder's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intruder {
    /// Counts differing keys.
    Count,
    /// Knows how often each key agrees for one person.
    Calibrated,
    /// Takes one probability of agreement for all keys.
    Prior,
    /// Learns the probabilities from the files.
    Em,
}

/// Request for an attack.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The intruders, each once.
    pub intruders: Vec<Intruder>,
    /// True if agreements on rare values weigh more.
    pub by_value: bool,
    /// The probability of agreement of [`Intruder::Prior`].
    pub prior_match: f64,
    /// The probability that a released person is in the known file; `None` for
    /// the share of released records that are linked, 1 without links.
    pub coverage: Option<f64>,
    /// Engine that finds the best matches.
    pub engine: Engine,
    /// Most work, in nanoseconds of one processor.
    pub max_work: f64,
    /// Most work for the attack to be repeated without each key in turn.
    pub without_work: f64,
    /// True if the ceiling and the dependence of keys are asked for.
    pub details: bool,
    /// True if every known record is given to one released record at most, too.
    pub one_to_one: bool,
}

/// Result of one intruder, per released record.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Known records that are best.
    pub n_best: Vec<u64>,
    /// True if the partner is one of them.
    pub true_in_best: Vec<bool>,
    /// Posterior of each of them by the intruder; empty for one who counts.
    pub posterior: Vec<f64>,
}

/// One intruder's weights of a key.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Rates of agreement.
    pub reliability: Reliability,
    /// Expected correct matches of the first intruder who weighs without it.
    pub without: Option<f64>,
}

/// One intruder's attack.
#[derive(Debug, Clone)]
pub struct Found {
    /// Intruder.
    pub intruder: Intruder,
    /// Per released record.
    pub outcome: Outcome,
    /// Added up.
    pub score: Score,
    /// Per key; empty for one who counts.
    pub variables: Vec<Variable>,
    /// The engine and its work.
    pub plan: Option<Plan>,
    /// Course of the learning; `None` if probabilities were not learned.
    pub learning: Option<Learning>,
    /// Mean logarithm of the likelihood of a released record.
    pub log_likelihood: Option<f64>,
    /// Expected correct matches of the best assignment, where it was asked for.
    pub one_to_one: Option<f64>,
}

/// All attacks on one pair of files.
#[derive(Debug, Clone)]
pub struct Attack {
    /// By intruder, in the order asked for.
    pub found: Vec<Found>,
    /// The coverage that was taken.
    pub coverage: f64,
    /// Largest expected number of correct matches of any rule that looks at
    /// agreement alone; `None` where it is not known.
    pub ceiling: Option<f64>,
    /// The two keys that say most of the same thing.
    pub dependence: Option<Dependence>,
    /// Entropy of every key over both files, in nats.
    pub entropies: Vec<f64>,
    /// Distinct rows of the known and of the released file.
    pub n_patterns: (usize, usize),
}

/// Data that all intruders share.
struct Scene<'a> {
    files: &'a Files<'a>,
    settings: &'a Settings,
    margins: Vec<Margins>,
    levels: Vec<KeyLevels>,
    links: Option<Vec<Links>>,
    prepared: Prepared,
    coverage: f64,
    monitor: &'a Monitor,
}

/// Runs the attacks of all intruders.
pub fn attack(files: &Files, settings: &Settings, monitor: &Monitor) -> Result<Attack> {
    let scene = Scene::new(files, settings, monitor)?;
    let weighing = settings.intruders.iter().filter(|&&i| i != Intruder::Count);
    let n = scene.prepared.patterns.n_queries() as u64;
    monitor.set_total(n * weighing.count().max(1) as u64);
    let mut found = settings
        .intruders
        .iter()
        .map(|&intruder| match intruder {
            Intruder::Count => scene.count(),
            weighing => scene.weigh(weighing),
        })
        .collect::<Result<Vec<Found>>>()?;
    if let Some(first) = found.iter_mut().find(|f| f.intruder != Intruder::Count) {
        scene.leave_out_each(first)?;
    }
    let ceiling = match files.partners {
        Some(_) if settings.details => {
            ceiling(files, &scene.levels, &scene.prepared.trie, monitor)?
        }
        _ => None,
    };
    let dependence = match settings.details {
        false => None,
        true => Dependence::largest(&scene.prepared.patterns, monitor)?,
    };
    Ok(Attack {
        found,
        coverage: scene.coverage,
        ceiling,
        dependence,
        entropies: scene.margins.iter().map(Margins::entropy).collect(),
        n_patterns: (
            scene.prepared.patterns.n_rows(),
            scene.prepared.patterns.n_queries(),
        ),
    })
}

impl<'a> Scene<'a> {
    fn new(files: &'a Files, settings: &'a Settings, monitor: &'a Monitor) -> Result<Self> {
        let columns = files.known.columns().iter().zip(files.released.columns());
        let margins = parallel::map(columns, |(one, two)| Margins::new(one, two));
        let levels = files.levels(true);
        let links = match files.partners {
            None => None,
            Some(_) => Some(count_links(files, &levels, monitor)?),
        };
        let n_linked = files.linked().count();
        // If nobody is linked, the share says nothing of what is believed.
        let share = match n_linked {
            0 => 1.0,
            n => n as f64 / files.released.n_rows() as f64,
        };
        let keys: Vec<usize> = (0..files.n_keys()).collect();
        Ok(Self {
            files,
            settings,
            margins,
            levels,
            links,
            prepared: Prepared::new(Patterns::new(files, &keys, monitor)?, monitor)?,
            coverage: settings.coverage.unwrap_or(share),
            monitor,
        })
    }

    /// The rule of the fewest differing keys.
    fn count(&self) -> Result<Found> {
        let waves = self.files.waves()?;
        let keys: Vec<usize> = (0..self.files.n_keys()).collect();
        let own = waves.partner_differences(&keys, self.monitor)?;
        let (known, released) = self.files.with_shared_values()?;
        let waves = Files {
            known: &known,
            released: &released,
            ..*self.files
        }
        .waves()?;
        let nearest = waves.search(&keys, Some(&own), Method::Estimate, self.monitor, false)?;
        let rows = 0..nearest.n_best.len();
        let outcome = Outcome {
            true_in_best: rows
                .map(|row| own.is_best(row, nearest.n_diff[row]))
                .collect(),
            n_best: nearest.n_best,
            posterior: Vec::new(),
        };
        Ok(Found {
            intruder: Intruder::Count,
            score: Score::new(&outcome),
            outcome,
            variables: Vec::new(),
            plan: None,
            learning: None,
            log_likelihood: None,
            one_to_one: None,
        })
    }

    /// An intruder who weighs.
    fn weigh(&self, intruder: Intruder) -> Result<Found> {
        let mut learning = None;
        let prior_levels = self.files.levels(false);
        let levels = match intruder {
            Intruder::Prior => &prior_levels,
            _ => &self.levels,
        };
        let reliabilities: Vec<Reliability> = match (intruder, &self.links) {
            (Intruder::Calibrated, Some(links)) => (0..levels.len())
                .map(|v| Reliability::from_links(&self.margins[v], &levels[v], &links[v]))
                .collect(),
            (Intruder::Calibrated, None) => {
                return Err(Error::BadArgument(
                    "Calibrated weights need the true links.".into(),
                ))
            }
            (Intruder::Prior, _) => {
                let m = vec![self.settings.prior_match, 1.0 - self.settings.prior_match];
                let keys = self.margins.iter().zip(levels);
                keys.map(|(margins, levels)| Reliability::new(margins, levels, None, m.clone()))
                    .collect()
            }
            _ => {
                let (learned, how) = self.learn()?;
                learning = Some(how);
                learned
            }
        };
        let keys = parallel::map(reliabilities.iter().enumerate(), |(v, r)| {
            r.weights(&self.margins[v], &levels[v], self.settings.by_value, true)
        });
        let weights = Weights::new(keys)?;
        let plan = self.prepared.plan(&weights, self.settings.engine);
        plan.check(self.settings.max_work, "This attack")?;
        let best = self.prepared.best_matches(&weights, &plan, self.monitor)?;
        let every: Vec<usize> = (0..self.files.n_keys()).collect();
        let (outcome, log_likelihood) = self.outcome(&best, &weights, &every)?;
        let one_to_one = match self.settings.one_to_one {
            false => None,
            true => Some(expected_one_to_one(
                &self.prepared.patterns,
                &self.prepared.patterns.row_of_known,
                self.files.linked(),
                &weights,
                self.monitor,
            )?),
        };
        let variable = |reliability| Variable {
            reliability,
            without: None,
        };
        Ok(Found {
            intruder,
            score: Score::new(&outcome),
            outcome,
            variables: reliabilities.into_iter().map(variable).collect(),
            plan: Some(plan),
            learning,
            log_likelihood: Some(log_likelihood),
            one_to_one,
        })
    }

    /// Result of the best matches for every released record, and the mean logarithm of the
    /// likelihood of a record.
    fn outcome(&self, best: &[Best], weights: &Weights, keys: &[usize]) -> Result<(Outcome, f64)> {
        let n_known = self.files.known.n_rows() as f64;
        let rho = self.coverage;
        let outside = (n_known * (1.0 - rho) / rho).ln();
        let patterns = &self.prepared.patterns;
        let shifts: Vec<(&crate::key_table::Codes, f64)> = weights
            .keys()
            .iter()
            .zip(keys)
            .filter(|(key, _)| key.shift != 0.0)
            .map(|(key, &v)| (patterns.queries.columns()[v].codes(), key.shift))
            .collect();
        let per_query = parallel::map_rows(best.len(), self.monitor, |q| {
            let best = &best[q];
            let observed = shifts.iter().filter(|(codes, _)| codes.get(q) != 0);
            let shift: f64 = observed.map(|(_, shift)| shift).sum();
            // The best records are part of the sum, whatever its range lost.
            let least = best.weight + (best.n as f64).ln();
            let all = log_sum((best.sum.ln() + shift).max(least), outside);
            ((best.weight - all).exp(), all + (rho / n_known).ln())
        })?;
        let logs = per_query.iter().zip(&patterns.query_counts);
        let log: f64 = logs.map(|((_, log), &n)| log * n as f64).sum();
        let own = self.files.weights_of_partners(weights, keys)?;
        let n = own.len();
        let mut outcome = Outcome {
            n_best: filled(0, n)?,
            true_in_best: filled(false, n)?,
            posterior: filled(0.0, n)?,
        };
        for (row, &query) in patterns.query_of_record.iter().enumerate() {
            let query = query as usize;
            outcome.n_best[row] = best[query].n;
            // Not a number without a partner.
            outcome.true_in_best[row] = own[row] >= best[query].weight;
            outcome.posterior[row] = per_query[query].0;
        }
        Ok((outcome, log / n as f64))
    }

    /// Probabilities from the files alone.
    fn learn(&self) -> Result<(Vec<Reliability>, Learning)> {
        // So many released rows tell the probabilities to two digits and more.
        const MOST: usize = 5000;
        const FEWEST: usize = 200;
        const MOST_WORK: f64 = 3e8;
        let patterns = &self.prepared.patterns;
        let order = &self.prepared.trie.order;
        let mut step = patterns.n_queries().div_ceil(MOST);
        loop {
            let sampled;
            let (sample, trie) = if step == 1 {
                (patterns, &self.prepared.trie)
            } else {
                let part = patterns.sample(step)?;
                let trie = super::trie::Trie::new(&part, order, self.monitor)?;
                sampled = (part, trie);
                (&sampled.0, &sampled.1)
            };
            let enough = patterns.n_queries() / (2 * step) < FEWEST;
            if trie.work() > MOST_WORK && !enough {
                step *= 2;
                continue;
            }
            let plan = Plan {
                engine: Engine::Elimination,
                work: 100.0 * trie.work(),
            };
            plan.check(self.settings.max_work, "Learning weights from the files")?;
            let em = Em {
                trie,
                query_counts: &sample.query_counts,
                margins: &self.margins,
                levels: &self.levels,
                by_value: self.settings.by_value,
                n_known: self.files.known.n_rows() as f64,
                rho: self.coverage,
            };
            return em.learn(self.monitor);
        }
    }

    /// The expected correct matches of an intruder without each key in turn,
    /// where that is not too much work.
    fn leave_out_each(&self, first: &mut Found) -> Result<()> {
        let n_keys = self.files.n_keys();
        let work = first.plan.map_or(0.0, |plan| plan.work) * n_keys as f64;
        if n_keys < 2 || self.files.partners.is_none() || work > self.settings.without_work {
            return Ok(());
        }
        let prior_levels = self.files.levels(false);
        let levels = match first.intruder {
            Intruder::Prior => &prior_levels,
            _ => &self.levels,
        };
        let weights: Vec<KeyWeights> = first
            .variables
            .iter()
            .enumerate()
            .map(|(v, variable)| {
                let (margins, by_value) = (&self.margins[v], self.settings.by_value);
                variable
                    .reliability
                    .weights(margins, &levels[v], by_value, true)
            })
            .collect();
        let (done, _) = self.monitor.progress();
        let n = self.prepared.patterns.n_queries() as u64;
        self.monitor.set_total(done + n * n_keys as u64);
        for v in 0..n_keys {
            let keys: Vec<usize> = (0..n_keys).filter(|&w| w != v).collect();
            let some = keys.iter().map(|&w| weights[w].clone()).collect();
            first.variables[v].without = Some(self.expected_on(&keys, Weights::new(some)?)?);
        }
        Ok(())
    }

    /// Expected correct matches on some of the keys.
    fn expected_on(&self, keys: &[usize], weights: Weights) -> Result<f64> {
        let patterns = Patterns::new(self.files, keys, self.monitor)?;
        let prepared = Prepared::new(patterns, self.monitor)?;
        let plan = prepared.plan(&weights, self.settings.engine);
        let own = self.files.weights_of_partners(&weights, keys)?;
        prepared.expected(&weights, &plan, &own, self.monitor)
    }
}

/// A column in which the values that `other` has not are the first one of them.
fn shared(column: &Column, other: &Column) -> Result<Column> {
    let n_values = column.n_values();
    let mut alike = filled(0, n_values.max(other.n_values()) as usize + 1)?;
    with_codes!(other.codes(), |codes| {
        for code in codes {
            alike[code.index()] = code.value();
        }
    });
    let n = column.codes().len();
    with_codes!(column.codes(), |codes| {
        let lone = codes
            .iter()
            .find(|code| code.value() > 0 && alike[code.index()] == 0);
        let lone = lone.map_or(0, |code| code.value());
        // Missing stays missing.
        let codes = codes.iter().map(|code| match alike[code.index()] {
            0 if code.value() > 0 => lone,
            code => code,
        });
        Column::new(Codes::try_pack(n_values, codes, n)?, n_values)
    })
}

/// The logarithm of the sum of two exponentials.
fn log_sum(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}
