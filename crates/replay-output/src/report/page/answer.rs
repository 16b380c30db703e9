//! The answer of a table of runs: what was compared, what is gained, what is paid for it, a short table, and figures of
//! the changes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::html::{escape, rounded};
use crate::plot::{Change, ChangeRow, Changes, Figure, PlotError};
use replay_engine::metrics::estimate::{Accumulator, Estimate};
use replay_engine::metrics::{HierarchyMetrics, PairwiseMetrics, ScheduleMetrics, comparable};
use replay_engine::number::{counted, fixed, grouped};
use replay_engine::table::Name;
use replay_experiment::shaken::CONFIDENCE;
use replay_experiment::{RunKey, RunResult};
use replay_results::{ResultTable, Row};

/// A measure of the answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerMeasure {
    /// Column of the table of runs.
    pub name: Name,
    /// Name in sentences.
    pub text: &'static str,
    /// Heading of the short table.
    heading: &'static str,
    /// Factor by which values are multiplied for the table.
    factor: f64,
    rises: bool,
}

const fn measure(name: Name, text: &'static str, heading: &'static str) -> AnswerMeasure {
    AnswerMeasure { name, text, heading, factor: 1.0, rises: false }
}

const WAIT: AnswerMeasure = measure(ScheduleMetrics::mean_wait, "mean wait", "wait (s)");
const SLOWDOWN: AnswerMeasure =
    measure(ScheduleMetrics::mean_bounded_slowdown, "mean bounded slowdown", "slowdown");
const UTILIZATION: AnswerMeasure = AnswerMeasure {
    factor: 100.0,
    rises: true,
    ..measure(ScheduleMetrics::utilization, "utilization", "utilization (%)")
};
const PAIRWISE: AnswerMeasure =
    measure(PairwiseMetrics::mean_pairwise_l1, "mean pairwise L1", "pairwise L1 (hops)");
const LEAVES: AnswerMeasure =
    measure(HierarchyMetrics::mean_leaves, "mean leaves per job", "leaves per job");

/// The runs of a strategy under a scheduler on a trace, with their seeds and copies.
#[derive(Clone, Debug)]
struct Case {
    /// Trace, machine and cleaning policy.
    trace: [String; 3],
    scheduler: String,
    strategy: String,
    folds: bool,
    /// Number of the first run on the unperturbed trace.
    run: Option<i64>,
    /// For each measure, the values by copy and seed.
    values: Vec<BTreeMap<(i64, String), f64>>,
}

/// The answer of a folder.
#[derive(Clone, Debug)]
pub struct Answer {
    cases: Vec<Case>,
    measures: Vec<AnswerMeasure>,
    copies: usize,
    jobs: Vec<u64>,
}

/// Computes the change from one run to another in percent with its interval, from the jobs of both runs.
pub type OfJobs<'a> = dyn Fn([i64; 2], Name) -> Option<(f64, [f64; 2])> + 'a;

/// The parts of an answer on the page.
#[derive(Clone, Debug, Default)]
pub struct AnswerParts {
    /// What was compared, what is gained, and what is paid for it.
    pub sentences: Vec<String>,
    /// The short table in HTML.
    pub table: String,
    /// Caption and SVG of each figure.
    pub figures: Vec<(String, String)>,
}

impl Answer {
    /// Returns the parts of the answer. `of_jobs` compares the jobs of two runs.
    ///
    /// # Errors
    /// [`PlotError`] if a figure cannot be drawn.
    pub fn parts(&self, of_jobs: &OfJobs<'_>) -> Result<AnswerParts, PlotError> {
        let figure = |figure: Changes| {
            Ok::<_, PlotError>((figure.head().caption().trim_end().to_string(), figure.svg()?))
        };
        let figures = self.figures(of_jobs).into_iter().map(figure).collect::<Result<_, _>>()?;
        Ok(AnswerParts { sentences: self.sentences(of_jobs), table: self.table(), figures })
    }

    /// Returns the answer of a table of runs; `None` for other tables and for a single run.
    pub fn of(tables: &[ResultTable]) -> Option<Self> {
        let runs = tables
            .iter()
            .find(|table| table.name == <RunResult as replay_engine::table::Table>::NAME)?;
        let has = |name: Name| runs.rows().any(|row| row.number(name).is_some());
        let distance = if has(LEAVES.name) { LEAVES } else { PAIRWISE };
        let measures = vec![WAIT, SLOWDOWN, UTILIZATION, distance];
        let mut cases: Vec<Case> = Vec::new();
        let (mut copies, mut jobs) = (0, Vec::new());
        for row in runs.rows() {
            let text = |name| row.value(name).to_string();
            let trace = [RunKey::TRACE, RunKey::TOPOLOGY, RunKey::POLICY].map(text);
            let (scheduler, strategy) = (text(RunKey::SCHEDULER), strategy(row));
            let is_same = |case: &Case| {
                (&case.trace, &case.scheduler, &case.strategy) == (&trace, &scheduler, &strategy)
            };
            let place = cases.iter().position(is_same).unwrap_or_else(|| {
                let values = vec![BTreeMap::new(); measures.len()];
                let (trace, scheduler, strategy) =
                    (trace.clone(), scheduler.clone(), strategy.clone());
                cases.push(Case { trace, scheduler, strategy, folds: false, run: None, values });
                cases.len() - 1
            });
            let case = &mut cases[place];
            let copy = row.integer(RunKey::COPY).unwrap_or(0);
            copies = copies.max(copy);
            case.folds |= comparable::folds(row.number(comparable::FOLDED));
            if copy == 0 {
                jobs.extend(row.number(ScheduleMetrics::jobs).map(|jobs| jobs as u64));
                case.run = case.run.or(row.integer(RunResult::RUN));
            }
            for (values, measure) in case.values.iter_mut().zip(&measures) {
                if let Some(value) = row.number(measure.name).filter(|value| value.is_finite()) {
                    values.insert((copy, text(RunKey::SEED)), value);
                }
            }
        }
        (cases.len() > 1).then_some(Self { cases, measures, copies: copies.max(0) as usize, jobs })
    }

    fn traces(&self) -> Vec<&[String; 3]> {
        distinct(self.cases.iter().map(|case| &case.trace))
    }

    fn schedulers(&self) -> Vec<&String> {
        let mut all = distinct(self.cases.iter().map(|case| &case.scheduler));
        // The log is the base of every comparison.
        all.sort_by_key(|name| !is_recorded(name));
        all
    }

    fn strategies(&self) -> Vec<&String> {
        distinct(self.cases.iter().map(|case| &case.strategy))
    }

    fn case(&self, trace: &[String; 3], scheduler: &str, strategy: &str) -> Option<&Case> {
        let is_this = |case: &&Case| {
            case.trace == *trace && case.scheduler == scheduler && case.strategy == strategy
        };
        self.cases.iter().find(is_this)
    }

    /// Returns the change of a measure from one case to another: paired over copies if there are copies, otherwise over
    /// the jobs, otherwise the change of the means.
    fn change(&self, [base, other]: [&Case; 2], at: usize, of_jobs: &OfJobs<'_>) -> Option<Change> {
        let measure = self.measures[at];
        if comparable::is_distance(measure.name) && base.folds != other.folds {
            return None;
        }
        let [a, b] = [base, other].map(|case| &case.values[at]);
        let mut by_copy: BTreeMap<i64, [Accumulator; 2]> = BTreeMap::new();
        for (key, value) in a {
            if let Some(other) = b.get(key) {
                let [one, two] = by_copy.entry(key.0).or_default();
                one.push(*value);
                two.push(*other);
            }
        }
        if by_copy.len() > 1 {
            by_copy.remove(&0);
        }
        let percent = |[a, b]: &[Accumulator; 2]| {
            let (a, b) = (a.mean(), b.mean());
            if a == b { Some(0.0) } else { (a != 0.0).then(|| 100.0 * (b / a - 1.0)) }
        };
        let changes: Vec<f64> = by_copy.values().map(percent).collect::<Option<_>>()?;
        let mean: Estimate = changes.iter().copied().collect::<Accumulator>().estimate(CONFIDENCE);
        if mean.half_width.is_finite() {
            return Some(Change { percent: mean.mean, interval: Some(mean.interval()) });
        }
        let own = Change { percent: *changes.first()?, interval: None };
        let jobs = base.run.zip(other.run).and_then(|(a, b)| of_jobs([a, b], measure.name));
        Some(match jobs {
            Some((percent, interval)) if interval.iter().all(|end| end.is_finite()) => {
                Change { percent, interval: Some(interval) }
            }
            _ => own,
        })
    }

    /// Returns the three sentences of the answer: what was compared, what is gained, and what is paid for it.
    pub fn sentences(&self, of_jobs: &OfJobs<'_>) -> Vec<String> {
        let (traces, schedulers, strategies) =
            (self.traces(), self.schedulers(), self.strategies());
        let names = |all: &[&String], one: &str, many: &str| {
            let names: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
            let noun = if all.len() == 1 { one } else { many };
            format!("{} {noun} ({})", all.len(), names.join(", "))
        };
        let trace_names: Vec<&String> = distinct(traces.iter().map(|trace| &trace[0]));
        let (least, most) = (self.jobs.iter().min(), self.jobs.iter().max());
        let jobs = match (least, most) {
            (Some(least), Some(most)) if least == most => format!(", {} jobs each", grouped(*most)),
            (Some(least), Some(most)) => {
                format!(", {} to {} jobs", grouped(*least), grouped(*most))
            }
            _ => String::new(),
        };
        let copies = match self.copies {
            0 => String::new(),
            n => format!(", on {}", counted(n as u64, "perturbed copy").replace("copys", "copies")),
        };
        let what = format!(
            "Compared: {} under {} on {}{jobs}{copies}.",
            names(&strategies, "strategy", "strategies"),
            names(&schedulers, "scheduler", "schedulers"),
            names(&trace_names, "trace", "traces"),
        );
        let mut sentences = vec![what];
        if schedulers.len() > 1 {
            sentences.extend(self.of_schedulers(&schedulers, strategies[0], of_jobs));
        } else {
            sentences.extend(self.of_strategies(&strategies, of_jobs));
        }
        sentences
    }

    /// Returns the gain of each scheduler against the first scheduler, or against the log, and what is paid for it.
    fn of_schedulers(
        &self,
        schedulers: &[&String],
        strategy: &str,
        of_jobs: &OfJobs<'_>,
    ) -> Vec<String> {
        let base = schedulers[0];
        let against = if is_recorded(base) { "the log".to_string() } else { base.clone() };
        let (mut gains, mut paid) = (Vec::new(), Vec::new());
        let several = self.traces().len() > 1;
        for scheduler in &schedulers[1..] {
            let (mut of_traces, mut worse) = (Vec::new(), Vec::new());
            for trace in self.traces() {
                let pair =
                    self.case(trace, base, strategy).zip(self.case(trace, scheduler, strategy));
                let Some((one, other)) = pair else { continue };
                let on = if several { format!(" on {}", trace[0]) } else { String::new() };
                let of = |at: usize| self.change([one, other], at, of_jobs);
                of_traces.push(match of(0) {
                    Some(wait) if wait.is_zero() => format!("unchanged{on}"),
                    Some(wait) => format!("{}{}{on}", wait.text(), doubt(wait)),
                    None => format!("0 s in the base{on}"),
                });
                for (at, measure) in self.measures.iter().enumerate() {
                    if let Some(change) = of(at).filter(|change| is_worse(*measure, *change)) {
                        worse.push(format!("{} {}{on}", measure.text, change.text()));
                    }
                }
            }
            gains.push(format!("{}: wait {}", title(scheduler), of_traces.join(", ")));
            if !worse.is_empty() {
                paid.push(format!("under {scheduler}, {}", worse.join(", ")));
            }
        }
        let on =
            if self.strategies().len() > 1 { format!(", under {strategy}") } else { String::new() };
        let gain = format!("{}, against {against}{on}.", gains.join("; "));
        let paid = match &paid[..] {
            [] => "Paid for it: no other measure of the table below is significantly worse."
                .to_string(),
            paid => format!("Paid for it: {}.", paid.join("; ")),
        };
        vec![gain, paid]
    }

    /// Returns the gain of the strategy with the shortest distances against the first strategy, and what is paid for it.
    fn of_strategies(&self, strategies: &[&String], of_jobs: &OfJobs<'_>) -> Vec<String> {
        let (mut gains, mut paid) = (Vec::new(), Vec::new());
        let last = self.measures.len() - 1;
        let text = self.measures[last].text;
        for trace in self.traces() {
            let Some(scheduler) = self.schedulers().into_iter().next() else { continue };
            let cases = strategies.iter().filter_map(|name| self.case(trace, scheduler, name));
            let cases: Vec<&Case> = cases.collect();
            let [base, others @ ..] = &cases[..] else { continue };
            let changes = others
                .iter()
                .filter_map(|case| Some((case, self.change([base, case], last, of_jobs)?)));
            let best = changes.min_by(|a, b| a.1.percent.total_cmp(&b.1.percent));
            let Some((best, change)) = best else { continue };
            gains.push(format!(
                "{} {}{} on {}",
                best.strategy,
                change.text(),
                doubt(change),
                trace[0]
            ));
            for (at, measure) in self.measures[..last].iter().enumerate() {
                let change = self.change([base, best], at, of_jobs);
                if let Some(change) = change.filter(|change| is_worse(*measure, *change)) {
                    paid.push(format!("{} {} on {}", measure.text, change.text(), trace[0]));
                }
            }
        }
        if gains.is_empty() {
            return Vec::new();
        }
        let gain =
            format!("Shortest distances, {text} against {}: {}.", strategies[0], gains.join(", "));
        let paid = match &paid[..] {
            [] => "Paid for it: neither waits nor utilization are significantly worse.".to_string(),
            paid => format!("Paid for it: {}.", paid.join(", ")),
        };
        vec![gain, paid]
    }

    /// Returns the short table: a row for each trace, scheduler and strategy, with waits.
    pub fn table(&self) -> String {
        let mut out = String::from(
            "<div class=\"wide\"><table class=\"sortable\">\n<thead><tr><th scope=\"col\">run</th>",
        );
        for measure in &self.measures {
            let heading = escape(measure.heading);
            let _ = write!(out, "<th scope=\"col\" class=\"number\">{heading}</th>");
        }
        out += "</tr></thead>\n<tbody>\n";
        let several = self.traces().len() > 1;
        for case in &self.cases {
            let name = [
                Some(&case.trace[0]).filter(|_| several),
                Some(&case.scheduler),
                Some(&case.strategy),
            ];
            let name: Vec<&str> = name.into_iter().flatten().map(String::as_str).collect();
            let _ = write!(out, "<tr><td>{}</td>", escape(&name.join(" \u{B7} ")));
            for (values, measure) in case.values.iter().zip(&self.measures) {
                let mean = over_copies(values);
                let text = |value: f64| rounded(measure.factor * value);
                let (short, full) = match mean {
                    None => (String::new(), String::new()),
                    Some(mean) if mean.half_width.is_finite() && mean.half_width > 0.0 => (
                        format!(
                            "{} ± {}",
                            text(mean.mean),
                            fixed(measure.factor * mean.half_width, decimals(&text(mean.mean)))
                        ),
                        mean.mean.to_string(),
                    ),
                    Some(mean) => (text(mean.mean), mean.mean.to_string()),
                };
                let _ = write!(out, "<td class=\"number\" data-value=\"{full}\">{short}</td>");
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n"
    }

    /// Returns figures of the changes of waits and of distances, at most two. A figure without any change is omitted.
    pub fn figures(&self, of_jobs: &OfJobs<'_>) -> Vec<Changes> {
        let (schedulers, strategies) = (self.schedulers(), self.strategies());
        let last = self.measures.len() - 1;
        let mut figures = Vec::new();
        for at in [0, last] {
            let of_strategies = self.figure(&strategies, &schedulers, at, false, of_jobs);
            let of_schedulers = self.figure(&schedulers, &strategies, at, true, of_jobs);
            // Waits are compared between schedulers first, distances between strategies.
            let both = if at == 0 {
                [of_schedulers, of_strategies]
            } else {
                [of_strategies, of_schedulers]
            };
            figures.extend(both.into_iter().flatten().next());
        }
        figures
    }

    /// Returns the figure of the changes from the first of `names` to the others, with a panel for each of `panels`.
    fn figure(
        &self,
        names: &[&String],
        panels: &[&String],
        at: usize,
        by_scheduler: bool,
        of_jobs: &OfJobs<'_>,
    ) -> Option<Changes> {
        let [base, others @ ..] = names else { return None };
        let case = |trace: &[String; 3], name: &str, panel: &str| match by_scheduler {
            true => self.case(trace, name, panel),
            false => self.case(trace, panel, name),
        };
        let row = |trace: &[String; 3], name: &&String| {
            let point = |panel: &&String| {
                let pair = [case(trace, base, panel)?, case(trace, name, panel)?];
                self.change(pair, at, of_jobs)
            };
            ChangeRow { name: (*name).clone(), points: panels.iter().map(point).collect() }
        };
        let several = distinct(self.traces().iter().map(|trace| &trace[1])).len() > 1;
        let groups = self.traces().into_iter().map(|trace| {
            let title =
                if several { format!("{} on {}", trace[0], trace[1]) } else { trace[0].clone() };
            (title, others.iter().map(|name| row(trace, name)).collect())
        });
        let groups: Vec<(String, Vec<ChangeRow>)> = groups.collect();
        let points = || {
            let rows = groups.iter().flat_map(|(_, rows)| rows);
            rows.flat_map(|row| row.points.iter().flatten())
        };
        if points().all(|point| point.is_zero()) {
            return None;
        }
        let has_intervals = points().any(|point| point.interval.is_some());
        let mut subtitle = vec![match self.copies {
            0 if has_intervals => {
                "points: change of the mean; lines: 95 % intervals over weeks or days".to_string()
            }
            0 => "points: change of the mean".to_string(),
            n => format!(
                "points: mean change over {n} perturbed copies; lines: paired 95 % intervals"
            ),
        }];
        subtitle.push("left of 0 is less".to_string());
        // Panels with equal points are one panel.
        let alike = |row: &ChangeRow| row.points.windows(2).all(|pair| pair[0] == pair[1]);
        let mut groups = groups;
        let mut columns: Vec<String> = panels.iter().map(|panel| (*panel).clone()).collect();
        if columns.len() > 1 && groups.iter().flat_map(|(_, rows)| rows).all(alike) {
            let noun = if by_scheduler { "strategies" } else { "schedulers" };
            columns = vec![format!("all {} {noun}", columns.len())];
            groups.iter_mut().flat_map(|(_, rows)| rows).for_each(|row| row.points.truncate(1));
        }
        Some(Changes {
            subtitle,
            measure: self.measures[at].text.to_string(),
            base: if is_recorded(base) { "the log".to_string() } else { (*base).clone() },
            columns,
            groups,
            names: names.iter().map(|name| (*name).clone()).collect(),
        })
    }
}

/// Returns a note for a change whose interval contains 0.
fn doubt(change: Change) -> &'static str {
    match change.interval {
        Some([low, high]) if low <= 0.0 && high >= 0.0 => ", not significant",
        _ => "",
    }
}

/// Returns whether a change is worse, and significantly so if it has an interval.
fn is_worse(measure: AnswerMeasure, change: Change) -> bool {
    let sign = if measure.rises { -1.0 } else { 1.0 };
    let [a, b] = change.interval.unwrap_or([change.percent; 2]);
    (sign * a).min(sign * b) > 0.0
}

/// Returns the number of decimals of a printed number.
fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

fn is_recorded(scheduler: &str) -> bool {
    scheduler.starts_with("recorded")
}

/// Returns the usual spelling of a scheduler at the start of a sentence.
fn title(scheduler: &str) -> String {
    match scheduler {
        "easy" | "fcfs" => scheduler.to_uppercase(),
        name => name.to_string(),
    }
}

/// Returns allocator and tie vector.
fn strategy(row: Row<'_>) -> String {
    let allocator = row.text(RunKey::ALLOCATOR).unwrap_or_default();
    match row.text(RunKey::TIE) {
        None => allocator.to_string(),
        Some(tie) => format!("{allocator} ({tie})"),
    }
}

/// Returns the estimate of a measure over copies or, without copies, the mean over seeds.
fn over_copies(values: &BTreeMap<(i64, String), f64>) -> Option<Estimate> {
    let has_copies = values.keys().any(|(copy, _)| *copy > 0);
    let mut by_copy: BTreeMap<i64, Accumulator> = BTreeMap::new();
    for ((copy, _), value) in values.iter().filter(|((copy, _), _)| !has_copies || *copy > 0) {
        by_copy.entry(*copy).or_default().push(*value);
    }
    let means: Accumulator = by_copy.values().map(Accumulator::mean).collect();
    (means.count() > 0).then(|| means.estimate(CONFIDENCE))
}

/// Returns the items without repetitions, in order of first appearance.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}
