use std::path::PathBuf;

use rayon::prelude::*;

use super::hierarchy::{fragmentation_over_time, leaves_by_class};
use super::name::{FileNames, groups, joined, machine, policy, seed, setting};
use super::number::grouped;
use super::shaken::{Improvements, over_copies, overall};
use super::spread::{WaitFigure, not_shown, waits};
use super::waits_by_load::{AtLoad, waits_by_load};
use super::waits_by_size::{RECORDED, waits_by_class};
use super::{
    Comparison, Figure, Improvement, Load, Order, PlotError, Plots, StrategyBar, StrategyBars,
    TieRow, Ties, WaitDistributions, save,
};
use replay_engine::metrics::by_size::improvement;
use replay_engine::metrics::{PairwiseMetrics, PlacementMetrics, ScheduleMetrics, comparable};
use replay_engine::table::Name;
use replay_engine::topology::Topology;
use replay_engine::workload::unscaled_name;
use replay_experiment::{RunKey, RunResult};

/// Saves a figure in a directory under a file stem.
type SaveFigure = Box<dyn Fn(&Plots, &str) -> Result<Vec<PathBuf>, PlotError> + Send + Sync>;

/// A figure with the parts of its file name.
type NamedFigure = (Vec<String>, SaveFigure);

fn named_figure(parts: Vec<String>, figure: impl Figure + Send + Sync + 'static) -> NamedFigure {
    (parts, Box::new(move |plots, stem| save(plots, stem, &figure)))
}

/// Draws all figures that apply to `results` in the directory of `plots`, and returns the paths of all files:
///
/// * Improvement by job size and by rank of the size: for every run with a tie vector, if `results` also contain the
///   same run without a tie vector.
/// * Bars of the strategies: for every trace, machine and scheduler with at least two strategies. If the schedule
///   depends on the strategy, a comparison by several measures is also drawn. Strategies that fold jobs are not
///   compared with other strategies by distance.
/// * Distributions of waits and bounded slowdowns, if `of_jobs` contains them: for every trace, machine and scheduler,
///   and for every trace and machine with several schedulers.
/// * Wait by load: for every trace, machine and scheduler with at least three loads.
/// * Mean wait by job size: for every trace, machine and strategy under the scheduler `recorded` and others.
/// * Tie counts: one figure of all counts.
/// * Load over time under the first strategy: for every trace, machine and scheduler.
/// * Leaves of a job by job size on trees and blocks, and Slurm's fragmentation over time on blocks: for every trace,
///   machine and scheduler.
///
/// If there are more strategies than the style allows, a figure shows the strategies with the best values and states
/// the number of omitted strategies.
///
/// With perturbed copies of traces, figures show means over the copies with 95 % intervals. The figures of load and
/// ties show the unperturbed traces.
///
/// File names state the content, such as `improvement-by-size--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6.svg`, and
/// do not depend on other results. File names include the cleaning policy and the seed if these are not the default.
/// Equal results give byte-identical files.
///
/// # Errors
/// Returns the first [`PlotError`] of a figure that cannot be drawn or written.
pub fn gallery(
    plots: &Plots,
    results: &[RunResult],
    of_jobs: &[WaitDistributions],
) -> Result<Vec<PathBuf>, PlotError> {
    // Every figure compares runs. If a replay of the log excludes jobs, all runs use the metrics over the remaining
    // jobs.
    let compared: Vec<RunResult>;
    let results = match results.iter().any(|run| run.over_log.is_some()) {
        true => {
            compared = results.iter().map(RunResult::as_compared).collect();
            &compared
        }
        false => results,
    };
    let figures = Figures::new(results, plots.style().strategies);
    let mut pictures = figures.improvements();
    pictures.extend(figures.settings());
    pictures.extend(figures.spreads(of_jobs));
    pictures.extend(figures.waits());
    pictures.extend(figures.recorded());
    pictures.extend(figures.ties());
    let mut stems = FileNames::default();
    let stemmed: Vec<(String, SaveFigure)> = pictures
        .into_iter()
        .map(|(parts, picture)| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            (stems.unique(&parts), picture)
        })
        .collect();
    let paths: Result<Vec<Vec<PathBuf>>, PlotError> =
        stemmed.par_iter().map(|(stem, picture)| picture(plots, stem)).collect();
    Ok(paths?.into_iter().flatten().collect())
}

/// Returns a label with the strategy of a run. If other strategies in the same setting have the same load over time,
/// the label states how many strategies have this load.
fn strategy_label(run: &RunResult, group: &[&RunResult]) -> String {
    let strategies: Vec<(String, bool)> = by_strategy(group)
        .into_iter()
        .map(|(name, runs)| (name, runs.iter().all(|other| other.series == run.series)))
        .collect();
    let alike = strategies.iter().filter(|(_, alike)| *alike).count();
    let name = run.key.strategy();
    match (strategies.len(), alike) {
        (1, _) => name,
        (all, alike) if all == alike => format!("{name} (same load under all {all} strategies)"),
        (_, 0 | 1) => name,
        (all, alike) => format!("{name} (same load under {alike} of {all} strategies)"),
    }
}

/// Groups runs by strategy in order of first appearance.
fn by_strategy<'a>(group: &[&'a RunResult]) -> Vec<(String, Vec<&'a RunResult>)> {
    let alike = groups(group.iter().copied(), |a, b| a.key.strategy() == b.key.strategy());
    alike.into_iter().map(|runs| (runs[0].key.strategy(), runs)).collect()
}

/// Returns the runs of one setting that are [ranked](comparable::ranked) by distance measures. The second value is the
/// number of strategies that are not ranked because at least one of their runs folds jobs.
fn ranked_by_distance<'a>(group: &[&'a RunResult]) -> (Vec<&'a RunResult>, usize) {
    let strategies = by_strategy(group);
    let folds: Vec<bool> =
        strategies.iter().map(|(_, runs)| runs.iter().any(|run| run.folds())).collect();
    let ranked = comparable::ranked(&folds);
    let unranked = ranked.iter().filter(|ranked| !**ranked).count();
    let unranked_names: Vec<&String> = strategies
        .iter()
        .zip(&ranked)
        .filter(|(_, ranked)| !**ranked)
        .map(|((name, _), _)| name)
        .collect();
    let is_ranked = |run: &&&RunResult| !unranked_names.contains(&&run.key.strategy());
    (group.iter().filter(is_ranked).copied().collect(), unranked)
}

/// Subtitle clause that states the order of the strategies.
const ORDER: &str = "ordered by mean pairwise L₁, then by name";

/// Subtitle clause that explains why strategies that fold jobs are not compared by distance.
const WHY_NOT_BY_DISTANCE: &str = "folded jobs use fewer processors, which shortens distances";

fn strategies_of(count: usize) -> String {
    match count {
        1 => "1 strategy".to_string(),
        count => format!("{count} strategies"),
    }
}

/// Returns the mean of a value over the runs that have this value.
fn mean(runs: &[&RunResult], value: impl Fn(&RunResult) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Function that returns a value of a run, or `None` if the run does not have this value.
type Value = fn(&RunResult) -> Option<f64>;

/// Title, column and value of each compared measure.
const COMPARED: [(&str, Name, Value); 4] = [
    ("Pairwise L₁ (hops)", PairwiseMetrics::mean_pairwise_l1, |run| {
        Some(run.metrics.pairwise.mean_pairwise_l1)
    }),
    ("Dispersal (%)", PlacementMetrics::mean_dispersal, |run| {
        Some(100.0 * run.metrics.placements?.mean_dispersal)
    }),
    ("Turnaround (s)", ScheduleMetrics::mean_turnaround, |run| {
        Some(run.metrics.schedule.mean_turnaround)
    }),
    ("Utilization (%)", ScheduleMetrics::utilization, |run| {
        Some(100.0 * run.metrics.schedule.utilization)
    }),
];

/// Results of a gallery, and the key fields in which the results differ.
struct Figures<'a> {
    results: Vec<&'a RunResult>,
    /// Results on perturbed copies.
    shaken: Vec<&'a RunResult>,
    policies: bool,
    seeds: bool,
    /// Maximum number of strategies in a figure.
    most: usize,
}

impl<'a> Figures<'a> {
    fn new(results: &'a [RunResult], most: usize) -> Self {
        let differ = |same: fn(&RunKey, &RunKey) -> bool| {
            results.windows(2).any(|pair| !same(&pair[0].key, &pair[1].key))
        };
        let (results, shaken) = results.iter().partition(|run| run.is_unshaken());
        Self {
            results,
            shaken,
            policies: differ(|a, b| a.policy == b.policy),
            seeds: differ(|a, b| a.seed == b.seed),
            most,
        }
    }

    /// Returns the parts of a file name: kind of figure, trace, machine, scheduler and policy.
    fn parts(&self, kind: &str, key: &RunKey) -> Vec<String> {
        let setting = [kind, &key.trace, &key.topology, &key.scheduler];
        let mut parts: Vec<String> = setting.map(str::to_string).to_vec();
        parts.extend(policy(key));
        parts
    }

    fn subtitle(&self, key: &RunKey) -> Vec<String> {
        let mut subtitle = setting(key);
        if self.policies || policy(key).is_some() {
            subtitle.push(format!("policy {}", key.policy));
        }
        subtitle
    }

    /// Returns the runs of a cell on perturbed copies.
    fn copies(&self, key: &RunKey) -> impl Iterator<Item = &'a RunResult> + '_ {
        let key = key.clone();
        self.shaken.iter().copied().filter(move |run| RunKey { copy: 0, ..run.key.clone() } == key)
    }

    /// Returns the subtitle clause about error bars.
    fn intervals(&self, copies: u64) -> String {
        format!("means over {copies} perturbed copies of the trace with 95 % intervals")
    }

    fn improvements(&self) -> Vec<NamedFigure> {
        let mut figures: Vec<(Vec<String>, Improvement)> = Vec::new();
        for &run in self.results.iter().filter(|run| run.key.tie.is_some()) {
            let untied = RunKey { tie: None, ..run.key.clone() };
            let Some(&baseline) = self.results.iter().find(|base| base.key == untied) else {
                continue;
            };
            let pairs = self.copies(&run.key).filter_map(|run| {
                let same = |base: &&RunResult| base.key.copy == run.key.copy;
                Some((self.copies(&untied).find(same)?, run))
            });
            let shaken = Improvements::of(pairs);
            let overall = overall(baseline, run);
            let mut subtitle = self.subtitle(&run.key);
            let (strategy, plain) = (run.key.strategy(), &run.key.allocator);
            subtitle.push(format!("{strategy} against {plain} without tie-breaking"));
            let mut changes = improvement(&baseline.by_size, &run.by_size, run.processors);
            let mut half_widths = Vec::new();
            if shaken.copies() > 1 {
                let mean = shaken.overall();
                let [mean, half] = [mean.mean, mean.half_width].map(|value| grouped(value, 2));
                subtitle.push(format!("{mean} ± {half} % over all jobs"));
                subtitle.push(self.intervals(shaken.copies()));
                half_widths = shaken.fill(&mut changes);
            } else if overall.is_finite() {
                subtitle.push(format!("{} % over all jobs", grouped(overall, 2)));
            }
            for (kind, order) in
                [("improvement-by-size", Order::Size), ("improvement-by-rank", Order::Rank)]
            {
                let mut parts = self.parts(kind, &run.key);
                parts.push(run.key.strategy());
                parts.extend(seed(&run.key));
                let (subtitle, changes) = (subtitle.clone(), changes.clone());
                let half_widths = half_widths.clone();
                let reach = [0.0; 2];
                figures.push((parts, Improvement { subtitle, order, changes, half_widths, reach }));
            }
        }
        // The figures by size and by rank show the same run and are meant to be compared, so they share a scale.
        let reach = figures.iter().map(|(_, figure)| figure.extremes());
        let reach = reach.fold([0.0_f64; 2], |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let several = figures.len() > 2;
        let scaled = |(parts, mut figure): (Vec<String>, Improvement)| {
            figure.reach = reach;
            if several {
                figure.subtitle.push("all improvement figures share one scale".to_string());
            }
            named_figure(parts, figure)
        };
        figures.into_iter().map(scaled).collect()
    }

    /// Groups results by trace, machine, scheduler and policy in order of first appearance.
    fn by_setting(&self) -> Vec<Vec<&'a RunResult>> {
        fn setting(key: &RunKey) -> [&str; 4] {
            [&key.trace, &key.topology, &key.scheduler, &key.policy]
        }
        groups(self.results.iter().copied(), |a, b| setting(&a.key) == setting(&b.key))
    }

    fn settings(&self) -> Vec<NamedFigure> {
        let mut pictures = Vec::new();
        for group in self.by_setting() {
            let (first, key) = (group[0], &group[0].key);
            let (compared, unranked) = ranked_by_distance(&group);
            let (strategies, copies) = self.strategies(&compared);
            if strategies.len() >= 2 {
                let mut subtitle = self.subtitle(key);
                if self.seeds {
                    subtitle.push("means over seeds".to_string());
                }
                if unranked > 0 {
                    subtitle.push(format!(
                        "not shown because jobs are folded: {}",
                        strategies_of(unranked)
                    ));
                    subtitle.push(WHY_NOT_BY_DISTANCE.to_string());
                }
                subtitle.extend(copies.map(|copies| self.intervals(copies)));
                let mut strategies = strategies;
                strategies.sort_by(|a, b| {
                    let by_name = || a.name.cmp(&b.name);
                    a.mean_pairwise_l1.total_cmp(&b.mean_pairwise_l1).then_with(by_name)
                });
                subtitle.push(ORDER.to_string());
                subtitle.extend(not_shown(strategies.len().saturating_sub(self.most)));
                strategies.truncate(self.most);
                let figure = StrategyBars { subtitle, strategies };
                pictures.push(named_figure(self.parts("strategies", key), figure));
            }
            if group.len() >= 2 && group.iter().any(|run| run.metrics.system.is_some()) {
                let figure =
                    self.comparison(self.subtitle(key), &group).merged().truncated(self.most);
                pictures.push(named_figure(self.parts("comparison", key), figure));
            }
            pictures.extend(self.hierarchy(&group));
            if first.series.times.len() > 1 {
                let utilization = first.metrics.schedule.utilization;
                let subtitle = self.subtitle(key);
                let strategy = strategy_label(first, &group);
                let (series, processors) = (&first.series, first.processors);
                let held =
                    first.metrics.system.and_then(|system| system.sharing.slots_held_percent);
                let machine = key.topology.parse::<Topology>().ok();
                let figure = match held.zip(machine) {
                    None => Load::new(subtitle, strategy, series, processors, utilization),
                    Some((held, machine)) => {
                        Load::of_slots(subtitle, strategy, series, machine.slots(), held / 100.0)
                    }
                };
                let mut parts = self.parts("load", key);
                parts.push(key.strategy());
                parts.extend(seed(key));
                pictures.push(named_figure(parts, figure));
            }
        }
        pictures
    }

    /// Returns figures of the leaves by job size and of the fragmentation over time, for runs of one setting on a tree
    /// or on blocks.
    fn hierarchy(&self, group: &[&RunResult]) -> Vec<NamedFigure> {
        let key = &group[0].key;
        let strategies = by_strategy(group);
        let hidden = not_shown(strategies.len().saturating_sub(self.most));
        let shown = &strategies[..self.most.min(strategies.len())];
        let subtitle = |clause: Option<String>| {
            let clauses = clause.filter(|_| self.seeds).into_iter().chain(hidden.clone());
            self.subtitle(key).into_iter().chain(clauses).collect()
        };
        let leaves = leaves_by_class(subtitle(Some("means over seeds".to_string())), shown);
        let seed = format!("seed {}", key.seed);
        let fragmentation = fragmentation_over_time(subtitle(Some(seed)), shown);
        let figures = [("leaves-by-size", leaves), ("block-fragmentation", fragmentation)];
        let named = figures.into_iter().filter(|(_, figure)| !figure.lines.is_empty());
        named.map(|(kind, figure)| named_figure(self.parts(kind, key), figure)).collect()
    }

    /// Returns figures of the distributions of waits and slowdowns of jobs.
    fn spreads(&self, of_jobs: &[WaitDistributions]) -> Vec<NamedFigure> {
        let figures = waits(of_jobs, |key| self.subtitle(key), self.most);
        let named_figure = |WaitFigure { kind, key, of_scheduler, spreads }: WaitFigure<'_>| {
            let mut parts = self.parts(kind, key);
            if !of_scheduler {
                parts.retain(|part| *part != key.scheduler);
            }
            named_figure(parts, spreads)
        };
        figures.into_iter().map(named_figure).collect()
    }

    /// Returns figures that compare waits in the log with waits under other schedulers.
    fn recorded(&self) -> Vec<NamedFigure> {
        let is_recorded = |run: &RunResult| run.key.scheduler.starts_with(RECORDED);
        let of_log = |log: &RunResult| {
            let same = |run: &&RunResult| {
                let scheduler = log.key.scheduler.clone();
                RunKey { scheduler, ..run.key.clone() } == log.key
            };
            let runs: Vec<&RunResult> = self.results.iter().copied().filter(same).collect();
            let key = &log.key;
            let subtitle = vec![key.trace.clone(), machine(&key.topology), key.strategy()];
            let parts = ["waits-by-size", &key.trace, &key.topology, &key.strategy()];
            let mut parts = parts.map(str::to_string).to_vec();
            parts.extend(policy(key).into_iter().chain(seed(key)));
            (runs.len() > 1).then(|| named_figure(parts, waits_by_class(subtitle, &runs)))
        };
        self.results.iter().filter(|run| is_recorded(run)).filter_map(|run| of_log(run)).collect()
    }

    /// Returns the strategies of one setting in order of first appearance, each with the mean over its seeds. The
    /// second value is the number of perturbed copies if the means are over copies.
    fn strategies(&self, group: &[&RunResult]) -> (Vec<StrategyBar>, Option<u64>) {
        let seeds = by_strategy(group);
        let pairwise = |run: &RunResult| Some(run.metrics.pairwise.mean_pairwise_l1);
        let mut copies = None;
        let strategy = |(name, runs): (String, Vec<&RunResult>)| {
            let shaken = over_copies(runs.iter().flat_map(|run| self.copies(&run.key)), pairwise);
            copies = copies.max(shaken.map(|mean| mean.count));
            let own = runs.iter().map(|run| run.metrics.pairwise.mean_pairwise_l1).sum::<f64>();
            let own = own / runs.len() as f64;
            StrategyBar {
                name,
                mean_pairwise_l1: shaken.map_or(own, |mean| mean.mean),
                half_width: shaken.map(|mean| mean.half_width),
            }
        };
        (seeds.into_iter().map(strategy).collect(), copies)
    }

    /// Returns a comparison of the strategies of one setting by means over their seeds, with the most compact strategy
    /// first. If only some strategies fold jobs, these strategies are last and have no distances.
    fn comparison(&self, mut subtitle: Vec<String>, group: &[&RunResult]) -> Comparison {
        let pairwise = |run: &RunResult| Some(run.metrics.pairwise.mean_pairwise_l1);
        let (ranked, unranked) = ranked_by_distance(group);
        let ranked: Vec<String> = by_strategy(&ranked).into_iter().map(|(name, _)| name).collect();
        let mut seeds = by_strategy(group);
        seeds.sort_by(|(one, a), (other, b)| {
            let behind = [one, other].map(|name| !ranked.contains(name));
            let [a, b] = [a, b].map(|runs| mean(runs, pairwise).unwrap_or(f64::INFINITY));
            let by_value = behind[0].cmp(&behind[1]).then(a.total_cmp(&b));
            by_value.then_with(|| one.cmp(other))
        });
        let (mut strategies, mut intervals) = (Vec::new(), Vec::new());
        let mut copies: Option<u64> = None;
        for (name, runs) in seeds {
            let ranked_by_distance = ranked.contains(&name);
            let of_copies = || runs.iter().flat_map(|run| self.copies(&run.key));
            let shown = COMPARED.map(|(_, column, value)| {
                let is_shown = ranked_by_distance || !comparable::is_distance(column);
                let shaken = over_copies(of_copies(), value).filter(|_| is_shown);
                copies = copies.max(shaken.map(|mean| mean.count));
                let own = || mean(&runs, value).filter(|_| is_shown);
                (shaken.map(|mean| mean.mean).or_else(own), shaken.map(|mean| mean.interval()))
            });
            let (values, of_values): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
            strategies.push((name, values));
            intervals.push(of_values);
        }
        if self.seeds {
            subtitle.push("means over seeds".to_string());
        }
        // Strategies that fold jobs are last, so truncation may remove them.
        let shown = unranked.saturating_sub(strategies.len().saturating_sub(self.most));
        subtitle.push(ORDER.to_string());
        if shown > 0 {
            subtitle.push(format!(
                "shown last and without distances because jobs are folded: {}",
                strategies_of(shown)
            ));
            subtitle.push(WHY_NOT_BY_DISTANCE.to_string());
        }
        match copies {
            Some(copies) => subtitle.push(self.intervals(copies)),
            None => intervals.clear(),
        }
        let measures = COMPARED.iter().map(|(title, ..)| title.to_string()).collect();
        Comparison { subtitle, measures, strategies, intervals, ..Comparison::default() }
    }

    /// Returns figures of the wait by load, each for settings that differ only in the load.
    fn waits(&self) -> Vec<NamedFigure> {
        let mut settings: Vec<(RunKey, Vec<AtLoad<'a>>)> = Vec::new();
        for &run in &self.results {
            let Some((name, load)) = unscaled_name(&run.key.trace) else { continue };
            let same = |of: &RunKey| {
                (of.trace.as_str(), &of.topology, &of.scheduler, &of.policy)
                    == (name, &run.key.topology, &run.key.scheduler, &run.key.policy)
            };
            let place = settings.iter().position(|(of, _)| same(of)).unwrap_or_else(|| {
                settings.push((RunKey { trace: name.to_string(), ..run.key.clone() }, Vec::new()));
                settings.len() - 1
            });
            let points = &mut settings[place].1;
            let strategy = run.key.strategy();
            let shaken = self.copies(&run.key);
            match points.iter_mut().find(|at| at.load == load && at.strategy == strategy) {
                Some(at) => {
                    at.runs.push(run);
                    at.shaken.extend(shaken);
                }
                None => points.push(AtLoad {
                    load,
                    strategy,
                    runs: vec![run],
                    shaken: shaken.collect(),
                }),
            }
        }
        let figure = |(key, points): (RunKey, Vec<AtLoad>)| {
            let mut subtitle = self.subtitle(&key);
            if self.seeds {
                subtitle.push("means over seeds".to_string());
            }
            let copies = points.iter().flat_map(|at| &at.shaken).map(|run| run.key.copy).max();
            subtitle.extend(copies.map(|copies| self.intervals(u64::from(copies))));
            let figure = waits_by_load(subtitle, &points, self.most)?;
            Some(named_figure(self.parts("wait-by-load", &key), figure))
        };
        settings.into_iter().filter_map(figure).collect()
    }

    fn ties(&self) -> Option<NamedFigure> {
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
            // Keep the schedulers of one trace together.
            let after = rows.iter().rposition(|other| other.label == row.label);
            rows.insert(after.map_or(rows.len(), |place| place + 1), row);
        }
        let subtitle = if strategies { Vec::new() } else { vec![first.key.strategy()] };
        let different = |text: fn(&RunKey) -> String, what: &str| {
            joined(counted.iter().map(|run| text(&run.key)), what)
        };
        let mut parts = vec![
            "ties".to_string(),
            different(|key| key.trace.clone(), "traces"),
            different(|key| key.topology.clone(), "machines"),
            different(|key| key.scheduler.clone(), "schedulers"),
            different(RunKey::strategy, "strategies"),
        ];
        parts.extend(policy(&first.key).filter(|_| !self.policies));
        parts.extend(seed(&first.key).filter(|_| !self.seeds));
        Some(named_figure(parts, Ties { subtitle, rows }))
    }

    fn machines_differ_within_trace(&self) -> bool {
        let clash = |a: &RunKey, b: &RunKey| a.trace == b.trace && a.topology != b.topology;
        self.results.iter().any(|a| self.results.iter().any(|b| clash(&a.key, &b.key)))
    }
}
