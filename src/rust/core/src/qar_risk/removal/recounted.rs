//! Orders that look at the file as it then is, by counting it anew.

use super::*;

/// The path with the file counted anew after every block.
pub(super) fn recounted_path(
    table: &KeyTable,
    sets: KeySets,
    counts: SetCounts,
    rule: Rule,
    plan: Plan,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Path> {
    let n_sets = sets.len();
    let risk = |counts: &SetCounts, n_left: u64| {
        let depth = depth_while(&counts.distinct, n_left, 0, settings);
        estimate_of(counts.distinct.clone(), depth, n_sets, n_left, settings)
    };
    let mut path = Path {
        before: risk(&counts, table.n_records()),
        rows: Vec::with_capacity(plan.n),
        after: Vec::with_capacity(plan.n_blocks()),
        n_kept: n_sets,
    };
    let mut counts = counts;
    let mut rest: Vec<u32> = (0..table.n_rows() as u32).collect();
    let mut file = table.clone();
    for b in 0..plan.n_blocks() {
        let n_left = rest.len() as u64;
        let size = plan.removed(b) - path.rows.len();
        let current = path.after.last().unwrap_or(&path.before).risk;
        let picked = pick(&file, sets, &counts, rule, size, current, settings, monitor)?;
        let mut goes = vec![false; rest.len()];
        for &row in &picked {
            goes[row as usize] = true;
            path.rows.push(rest[row as usize]);
        }
        rest = rest
            .into_iter()
            .zip(goes)
            .filter_map(|(row, goes)| (!goes).then_some(row))
            .collect();
        file = table.select(&rest)?;
        counts = count_sets(&file, sets, monitor)?;
        // Counting sets the total anew: report blocks in its units.
        monitor.set_total(monitor.progress().0 / (b as u64 + 1) * (plan.n_blocks() as u64 + 1));
        path.after.push(risk(&counts, n_left - size as u64));
    }
    Ok(path)
}

/// The next rows of a file of which nothing but the counts is known.
#[allow(clippy::too_many_arguments)]
fn pick(
    file: &KeyTable,
    sets: KeySets,
    counts: &SetCounts,
    rule: Rule,
    size: usize,
    current: Option<f64>,
    settings: &TailSettings,
    monitor: &Monitor,
) -> Result<Vec<u32>> {
    let n_left = file.n_records();
    let everyone = vec![true; file.n_rows()];
    let weight: Vec<u64> = match rule {
        Rule::UPlus => counts.distinct.iter().map(|&h| u64::from(h)).collect(),
        Rule::TopCount(n_top) => {
            let all: Vec<u32> = (0..sets.len() as u32).collect();
            let mask = top_mask(&counts.distinct, &all, n_top);
            let mut weight = vec![0; sets.len()];
            for set in ones(&mask) {
                weight[set] = 1;
            }
            weight
        }
        Rule::Proper => {
            let depth = depth_while(&counts.distinct, n_left, 1, settings);
            let least = count_at_depth(&counts.distinct, depth).saturating_sub(1);
            let mut weight = vec![0; sets.len()];
            for (w, &h) in weight.iter_mut().zip(&counts.distinct) {
                *w = u64::from(h >= least);
            }
            weight
        }
    };
    let marked: Vec<u32> = match rule {
        Rule::Proper => (0u32..)
            .zip(&weight)
            .filter_map(|(set, &w)| (w > 0).then_some(set))
            .collect(),
        Rule::UPlus | Rule::TopCount(_) => Vec::new(),
    };
    let found = uniqueness(file, sets, &counts.unique, &weight, &marked, monitor)?;
    if rule != Rule::Proper {
        return Ok(largest(&everyone, size, |row| found.weight[row]));
    }
    let without = Without::new(
        marked.iter().map(|&set| counts.distinct[set as usize]),
        sets.len(),
        n_left - 1,
        settings,
    );
    let patterns = Patterns::find(&found.bits, &Mask::all(marked.len()), None, file.n_rows());
    let risks = without.risks(&patterns, &found.bits, monitor)?;
    Ok(largest_contributions(
        current,
        &Changes {
            patterns: &patterns,
            risks,
        },
        size,
    ))
}
