use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::name::{Stems, machine, setting};
use super::number::grouped;
use super::{
    Comparison, Figure, Improvement, Load, Order, PlotError, StrategyBar, StrategyBars, TieRow,
    Ties, save,
};
use crate::experiment::{RunKey, RunResult};
use crate::metrics::by_size::improvement;

/// Saves a figure in a folder under a stem.
type Picture = Box<dyn Fn(&Path, &str) -> Result<[PathBuf; 3], PlotError> + Send + Sync>;

/// Parts of a file name, and the figure.
type Named = (Vec<String>, Picture);

fn named(parts: Vec<String>, figure: impl Figure + Send + Sync + 'static) -> Named {
    (parts, Box::new(move |dir, stem| save(dir, stem, &figure)))
}

/// Draws in the folder `dir` whatever applies to `results`, and returns the paths of all
/// files:
///
/// * for every run with a tie vector whose twin without one is there, its improvement by
///   job size and by rank of the size;
/// * for every trace, machine and scheduler with at least two strategies, these, and if the
///   schedule depends on them a comparison by several measures;
/// * all tie counts in one figure;
/// * for every trace, machine and scheduler, the load.
///
/// Names say what is drawn, such as
/// `improvement-by-size--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6.svg`; cleaning
/// policy and seed are in them where the results hold several. Same results, same files,
/// byte for byte.
///
/// # Errors
/// The first [`PlotError`] of a figure that cannot be drawn or written.
pub fn gallery(dir: &Path, results: &[RunResult]) -> Result<Vec<PathBuf>, PlotError> {
    let album = Album::new(results);
    let mut pictures = album.improvements();
    pictures.extend(album.settings());
    pictures.extend(album.ties());
    let mut stems = Stems::default();
    let stemmed: Vec<(String, Picture)> = pictures
        .into_iter()
        .map(|(parts, picture)| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            (stems.give(&parts), picture)
        })
        .collect();
    let paths: Result<Vec<[PathBuf; 3]>, PlotError> =
        stemmed.par_iter().map(|(stem, picture)| picture(dir, stem)).collect();
    Ok(paths?.into_iter().flatten().collect())
}

/// Results, and what must be said because they differ in it.
struct Album<'a> {
    results: &'a [RunResult],
    policies: bool,
    seeds: bool,
}

impl<'a> Album<'a> {
    fn new(results: &'a [RunResult]) -> Self {
        let differ = |same: fn(&RunKey, &RunKey) -> bool| {
            results.windows(2).any(|pair| !same(&pair[0].key, &pair[1].key))
        };
        Self {
            results,
            policies: differ(|a, b| a.policy == b.policy),
            seeds: differ(|a, b| a.seed == b.seed),
        }
    }

    /// What kind of figure, of which trace, machine, scheduler and, if that differs, policy.
    fn parts(&self, kind: &str, key: &RunKey) -> Vec<String> {
        let setting = [kind, &key.trace, &key.topology, &key.scheduler];
        let mut parts: Vec<String> = setting.map(str::to_string).to_vec();
        if self.policies {
            parts.push(key.policy.clone());
        }
        parts
    }

    fn subtitle(&self, key: &RunKey) -> Vec<String> {
        let mut subtitle = setting(key);
        if self.policies {
            subtitle.push(format!("policy {}", key.policy));
        }
        subtitle
    }

    fn improvements(&self) -> Vec<Named> {
        let mut pictures = Vec::new();
        for run in self.results.iter().filter(|run| run.key.tie.is_some()) {
            let untied = RunKey { tie: None, ..run.key.clone() };
            let Some(baseline) = self.results.iter().find(|base| base.key == untied) else {
                continue;
            };
            let before = baseline.metrics.mean_pairwise_l1;
            let overall = 100.0 * (before - run.metrics.mean_pairwise_l1) / before;
            let mut subtitle = self.subtitle(&run.key);
            let (strategy, plain) = (run.key.strategy(), &run.key.allocator);
            subtitle.push(format!("{strategy} against {plain} without tie-breaking"));
            if overall.is_finite() {
                subtitle.push(format!("{} % over all jobs", grouped(overall, 2)));
            }
            let changes = improvement(&baseline.by_size, &run.by_size, run.processors);
            for (kind, order) in
                [("improvement-by-size", Order::Size), ("improvement-by-rank", Order::Rank)]
            {
                let mut parts = self.parts(kind, &run.key);
                parts.push(run.key.strategy());
                if self.seeds {
                    parts.push(format!("seed-{}", run.key.seed));
                }
                let (subtitle, changes) = (subtitle.clone(), changes.clone());
                pictures.push(named(parts, Improvement { subtitle, order, changes }));
            }
        }
        pictures
    }

    /// Results by trace, machine, scheduler and policy, in order of first appearance.
    fn by_setting(&self) -> Vec<Vec<&'a RunResult>> {
        let same = |a: &RunKey, b: &RunKey| {
            (&a.trace, &a.topology, &a.scheduler, &a.policy)
                == (&b.trace, &b.topology, &b.scheduler, &b.policy)
        };
        let mut groups: Vec<Vec<&RunResult>> = Vec::new();
        for run in self.results {
            match groups.iter_mut().find(|group| same(&group[0].key, &run.key)) {
                Some(group) => group.push(run),
                None => groups.push(vec![run]),
            }
        }
        groups
    }

    fn settings(&self) -> Vec<Named> {
        let mut pictures = Vec::new();
        for group in self.by_setting() {
            let (first, key) = (group[0], &group[0].key);
            let strategies = strategies(&group);
            if strategies.len() >= 2 {
                let mut subtitle = self.subtitle(key);
                if self.seeds {
                    subtitle.push("means over seeds".to_string());
                }
                let figure = StrategyBars { subtitle, strategies };
                pictures.push(named(self.parts("strategies", key), figure));
            }
            if group.len() >= 2 && group.iter().any(|run| run.metrics.system.is_some()) {
                let figure = comparison(self.subtitle(key), &group);
                pictures.push(named(self.parts("comparison", key), figure));
            }
            if first.series.times.len() > 1 {
                let utilization = first.metrics.schedule.utilization;
                let mut subtitle = self.subtitle(key);
                if first.metrics.system.is_some() {
                    subtitle.push(key.strategy());
                }
                let figure = Load::new(subtitle, &first.series, first.processors, utilization);
                pictures.push(named(self.parts("load", key), figure));
            }
        }
        pictures
    }

    fn ties(&self) -> Option<Named> {
        let counted: Vec<_> =
            self.results.iter().filter(|run| run.metrics.ties.is_some()).collect();
        let first = counted.first()?;
        let differ = |text: fn(&RunKey) -> String| {
            counted.iter().any(|run| text(&run.key) != text(&first.key))
        };
        let (strategies, machines) =
            (differ(RunKey::strategy), self.machines_differ_within_trace());
        let label = |key: &RunKey| {
            let mut parts = vec![key.trace.clone()];
            parts.extend(machines.then(|| machine(&key.topology)));
            parts.extend(self.policies.then(|| key.policy.clone()));
            parts.extend(strategies.then(|| key.strategy()));
            parts.extend(self.seeds.then(|| format!("seed {}", key.seed)));
            parts.join(" \u{B7} ")
        };
        let mut rows: Vec<TieRow> = Vec::new();
        for run in &counted {
            let Some(ties) = run.metrics.ties else { continue };
            let (label, scheduler) = (label(&run.key), run.key.scheduler.clone());
            let row = TieRow { label, scheduler, ties };
            // Schedulers of one trace stand together.
            let after = rows.iter().rposition(|other| other.label == row.label);
            rows.insert(after.map_or(rows.len(), |place| place + 1), row);
        }
        let subtitle = if strategies { Vec::new() } else { vec![first.key.strategy()] };
        Some(named(vec!["ties".to_string()], Ties { subtitle, rows }))
    }

    fn machines_differ_within_trace(&self) -> bool {
        let clash = |a: &RunKey, b: &RunKey| a.trace == b.trace && a.topology != b.topology;
        self.results.iter().any(|a| self.results.iter().any(|b| clash(&a.key, &b.key)))
    }
}

/// StrategyBars of one setting in order of first appearance, each the mean over its seeds.
fn strategies(group: &[&RunResult]) -> Vec<StrategyBar> {
    let mut sums: Vec<(String, f64, f64)> = Vec::new();
    for run in group {
        let (name, value) = (run.key.strategy(), run.metrics.mean_pairwise_l1);
        match sums.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + value, *count + 1.0),
            None => sums.push((name, value, 1.0)),
        }
    }
    sums.into_iter()
        .map(|(name, sum, count)| StrategyBar { name, mean_pairwise_l1: sum / count })
        .collect()
}

/// The runs of one setting, the most compact first.
fn comparison(subtitle: Vec<String>, group: &[&RunResult]) -> Comparison {
    let mut runs = group.to_vec();
    runs.sort_by(|a, b| a.metrics.mean_pairwise_l1.total_cmp(&b.metrics.mean_pairwise_l1));
    let measures = ["Pairwise L₁ (hops)", "Dispersal (%)", "Turnaround (s)", "Utilization (%)"];
    let row = |run: &&RunResult| {
        let m = &run.metrics;
        let values = vec![
            Some(m.mean_pairwise_l1),
            m.placements.map(|places| 100.0 * places.mean_dispersal),
            Some(m.schedule.mean_turnaround),
            Some(100.0 * m.schedule.utilization),
        ];
        (run.key.strategy(), values)
    };
    Comparison {
        subtitle,
        measures: measures.map(str::to_string).to_vec(),
        strategies: runs.iter().map(row).collect(),
    }
}
