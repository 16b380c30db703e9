use std::collections::HashMap;

use super::archive::{Archive, SkippedWork, better_first};
use super::candidate::Candidate;
use super::problem::{Evaluation, Extent, Problem};
use super::ratio::Ratio;
use super::shaken::{self, Behind};
use crate::shaken::Apart;
use replay_core::metrics::estimate::Estimate;
use replay_core::table::{Column, Table, name};

/// Where a candidate comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// No tie-breaking.
    None,
    /// The search asked for it.
    Found,
    /// The user gave it to compare with.
    Given,
}

/// One evaluation of a search as tables show it.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRow {
    /// The traces that were searched, joined by `+`.
    pub searched: String,
    /// Where the vector comes from.
    pub origin: Origin,
    /// Place among the whole evaluations, from 1; feasible ones first.
    pub rank: Option<u64>,
    /// The vector and slack; `None` is no tie-breaking.
    pub candidate: Option<Candidate>,
    /// The objective, the mean over traces; `None` if stopped.
    pub value: Option<f64>,
    /// How much better than without tie-breaking, in percent; the mean over traces. Of a
    /// stopped evaluation an upper bound.
    pub improvement_percent: f64,
    /// The same on the test traces, if it was tried on any.
    pub test_improvement_percent: Option<f64>,
    /// The improvement over shaken copies with its interval.
    pub shaken: Option<Estimate>,
    /// The same on the test traces.
    pub test_shaken: Option<Estimate>,
    /// How it stands against the best on the same copies; `None` of the best itself.
    pub behind: Option<Behind>,
    /// Whether all constraints hold; `None` if stopped.
    pub feasible: Option<bool>,
    /// By how many percent constraints are exceeded at most; `None` if stopped.
    pub excess_percent: Option<f64>,
    /// The job size that fares worst: its processors, its jobs, how much it worsens in
    /// percent, and the trace.
    pub worst: Option<(u32, u64, f64, String)>,
    /// How far the evaluation went.
    pub extent: Extent,
    /// When the search asked for it, from 1; `None` if it did not.
    pub evaluation: Option<u64>,
    /// Decisions replayed.
    pub decisions: u64,
}

/// The rows of a search: no tie-breaking, whole evaluations with the best first, then the
/// others in their order. Of the `given` ones those that the search did not evaluate
/// stand among the whole ones without a rank.
pub fn rows(problem: &Problem, archive: &Archive, given: &Archive) -> Vec<SearchRow> {
    let maker = Maker { problem, searched: problem.name(), best: archive.best() };
    let numbered = |archive: &Archive| -> HashMap<_, u64> {
        archive.evaluations().iter().map(std::ptr::from_ref).zip(1..).collect()
    };
    let numbers = numbered(archive);
    let number = |one: &Evaluation| numbers.get(&std::ptr::from_ref(one)).copied();
    let whole = |one: &Evaluation| one.extent == Extent::Whole;
    let unknown =
        given.evaluations().iter().filter(|one| !archive.get(one.candidate).is_some_and(whole));
    let mut ranked = archive.ranked();
    ranked.extend(unknown);
    ranked.sort_by(|a, b| better_first(a, b));
    let mut rows = vec![maker.baseline()];
    let mut rank = 0;
    for one in ranked {
        let number = number(one);
        rank += u64::from(number.is_some());
        rows.push(maker.row(number.map(|_| rank), number, one));
    }
    let others = archive.evaluations().iter().filter(|one| !whole(one));
    rows.extend(others.map(|one| maker.row(None, number(one), one)));
    rows
}

struct Maker<'a> {
    problem: &'a Problem,
    searched: String,
    best: Option<&'a Evaluation>,
}

impl Maker<'_> {
    fn baseline(&self) -> SearchRow {
        SearchRow {
            searched: self.searched.clone(),
            origin: Origin::None,
            rank: None,
            candidate: None,
            value: Some(mean(&self.problem.baseline_values())),
            improvement_percent: 0.0,
            test_improvement_percent: None,
            shaken: None,
            test_shaken: None,
            behind: None,
            feasible: None,
            excess_percent: None,
            worst: None,
            extent: Extent::Whole,
            evaluation: None,
            decisions: self.problem.decisions(),
        }
    }

    fn row(&self, rank: Option<u64>, evaluation: Option<u64>, one: &Evaluation) -> SearchRow {
        let stopped = one.extent == Extent::Stopped;
        SearchRow {
            searched: self.searched.clone(),
            origin: if evaluation.is_some() { Origin::Found } else { Origin::Given },
            rank,
            candidate: Some(one.candidate),
            value: (!stopped).then(|| mean(&one.values)),
            improvement_percent: one.improvement_percent,
            test_improvement_percent: None,
            shaken: one.by_copy(self.problem).map(|copies| shaken::mean(&copies)),
            test_shaken: None,
            behind: self.best.and_then(|best| {
                (best.candidate != one.candidate).then(|| one.behind(best, self.problem))?
            }),
            feasible: (!stopped).then(|| one.is_feasible()),
            excess_percent: (!stopped).then_some(one.excess_percent),
            worst: one.worst.map(|worst| {
                let part = self.problem.parts[worst.part].name.clone();
                (worst.size, worst.jobs, worst.worsened_percent, part)
            }),
            extent: one.extent,
            evaluation,
            decisions: one.decisions,
        }
    }
}

/// The mean of values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn yes(flag: bool) -> String {
    (if flag { "yes" } else { "no" }).to_string()
}

/// The column of the traces that were searched.
pub(super) fn searched<Row>(
    read: impl for<'a> Fn(&'a Row) -> Option<&'a str> + Send + Sync + 'static,
) -> Column<Row> {
    Column::text(name::searched, "traces that were searched, joined by +", read)
}

/// The columns that tell how good a candidate is: objective, improvement.
#[rustfmt::skip]
pub(super) fn worth<Row>(
    value: impl Fn(&Row) -> Option<f64> + Send + Sync + 'static,
    improvement: impl Fn(&Row) -> f64 + Send + Sync + 'static,
) -> [Column<Row>; 2] {
    [
        Column::new(name::value, "as the objective", "the objective, mean over the row's traces; null if stopped", value),
        Column::new(name::improvement_percent, "%", "improvement on no tie-breaking, mean over the row's traces; an upper bound if stopped", improvement).rising(),
    ]
}

/// The column of constraints exceeded.
pub(super) fn excess<Row>(
    read: impl Fn(&Row) -> Option<f64> + Send + Sync + 'static,
) -> Column<Row> {
    let meaning = "by how much constraints are exceeded at most, 0 if all hold; null if stopped, and without tie-breaking";
    Column::new(name::excess_percent, "%", meaning, read)
}

impl Table for SearchRow {
    const NAME: &'static str = "search";
    const ROW: &'static str = "one row per evaluation of a search";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<SearchRow>;
        let [value, improvement] = worth(|r: &Self| r.value, |r| r.improvement_percent);
        let ratio = |r: &Self| r.candidate.map(|one| Ratio::of(one.vector));
        vec![
            searched(|r: &Self| Some(&r.searched)),
            C::new(name::rank, "", "place among whole evaluations, from 1, those that keep the constraints first; null if not whole or not found by the search", |r| r.rank),
            C::text(name::origin, "found by the search; given by --tie; none, no tie-breaking", |r| Some(match r.origin { Origin::None => "none", Origin::Found => "found", Origin::Given => "given" })),
            C::new(name::tie, "", "tie vector SR,AF,WF,BF or auto; null without tie-breaking", |r| r.candidate.map(|one| one.vector.to_string())),
            C::new(name::sr, "shells", "scan radius", |r| r.candidate.map(|one| one.vector.scan_radius)),
            C::new(name::af, "", "available factor", |r| r.candidate.map(|one| i64::from(one.vector.available))),
            C::new(name::wf, "", "wall factor", |r| r.candidate.map(|one| i64::from(one.vector.wall))),
            C::new(name::bf, "", "border factor", |r| r.candidate.map(|one| i64::from(one.vector.border))),
            C::new(name::slack, "", "share of the best score by which a candidate may be worse and compete by tie value; null without tie-breaking", |r| r.candidate.map(|one| one.slack.share())),
            C::new(name::wall_share, "", "WF / (AF + WF); 0 if both are 0; negative factors count as 0", move |r| ratio(r).map(|ratio| ratio.wall)),
            C::new(name::border_share, "", "BF / (AF + WF + BF); negative factors count as 0", move |r| ratio(r).map(|ratio| ratio.border)),
            value,
            improvement,
            C::new(name::test_improvement_percent, "%", "the same on the test traces; null if not tried there", |r| r.test_improvement_percent).rising(),
            C::new(name::improvement_half_width, "%", "half the width of the 95 % interval of the improvement over shaken copies; null without shaking", |r| r.shaken.map(|mean| mean.half_width)),
            C::new(name::test_half_width, "%", "half the width of the 95 % interval of the improvement on shaken copies of the test traces; null without shaking", |r| r.test_shaken.map(|mean| mean.half_width)),
            C::new(name::behind_percent, "%", "how much less it improves than the best vector of the search, mean over the same shaken copies; null for the best, and without shaking", |r| r.behind.map(|behind| behind.percent.mean)),
            C::new(name::behind_half_width, "%", "half the width of the 95 % interval of that difference", |r| r.behind.map(|behind| behind.percent.half_width)),
            C::text(name::told_from_best, "whether that interval leaves out 0: yes, no, or same if both come to the same on every copy", |r| r.behind.map(|behind| behind.verdict.word())),
            C::new(name::feasible, "", "whether all constraints hold, yes or no; null if stopped, and without tie-breaking", |r| r.feasible.map(yes)),
            excess(|r: &Self| r.excess_percent),
            C::new(name::worst_size, "processors", "job size whose mean pairwise L1 worsens most; null if stopped", |r| r.worst.as_ref().map(|worst| worst.0)),
            C::new(name::worst_jobs, "jobs", "jobs of that size", |r| r.worst.as_ref().map(|worst| worst.1)),
            C::new(name::worst_percent, "%", "how much it worsens; below 0 if it gains", |r| r.worst.as_ref().map(|worst| worst.2)),
            C::text(name::worst_trace, "the trace in which", |r| r.worst.as_ref().map(|worst| worst.3.as_str())),
            C::text(name::extent, "whole; or stopped, because certain not to be among the best", |r| Some(match r.extent { Extent::Whole => "whole", Extent::Stopped => "stopped" })),
            C::new(name::evaluation, "", "when the search asked for it, from 1; null if it did not", |r| r.evaluation),
            C::new(name::decisions, "decisions", "decisions replayed", |r| r.decisions),
        ]
    }
}

/// Evaluations that a search did without, for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedWorkRow {
    /// The traces that were searched, joined by `+`.
    pub searched: String,
    /// Why, in a word.
    pub reason: &'static str,
    /// Why, in a sentence.
    pub about: &'static str,
    /// How many evaluations.
    pub evaluations: u64,
    /// How many decisions they would have taken.
    pub decisions: u64,
}

impl SkippedWorkRow {
    /// What a search spared that left out so many `equal_ratios`.
    #[rustfmt::skip]
    pub fn of(problem: &Problem, spared: &SkippedWork, equal_ratios: u64) -> [Self; 3] {
        let whole = problem.decisions();
        [
            ("equal-ratio", equal_ratios, equal_ratios * whole, "vectors of the grid that break no tie or have the ratio of another"),
            ("repeated", spared.repeats, spared.repeats * whole, "vectors that were asked for again"),
            ("stopped", spared.stopped, spared.stopped_decisions, "evaluations stopped because certain not to be among the best"),
        ]
        .map(|(reason, evaluations, decisions, about)| {
            Self { searched: problem.name(), reason, about, evaluations, decisions }
        })
    }
}

impl Table for SkippedWorkRow {
    const NAME: &'static str = "spared";
    const ROW: &'static str = "one row per search and reason why it did without some evaluations";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<SkippedWorkRow>;
        vec![
            searched(|r: &Self| Some(&r.searched)),
            C::text(name::reason, "why they were not needed: equal-ratio, repeated, stopped", |r| Some(r.reason)),
            C::new(name::evaluations, "evaluations", "evaluations that were not needed, or not in whole", |r| r.evaluations),
            C::new(name::spared_decisions, "decisions", "decisions that they would still have taken", |r| r.decisions),
            C::text(name::about, "the reason in words", |r| Some(r.about)),
        ]
    }
}

impl SearchRow {
    /// Whether the search found it and it cannot be told from the best.
    pub fn is_as_good(&self) -> bool {
        let told = self.behind.is_some_and(|behind| behind.verdict != Apart::Yes);
        self.rank.is_some() && self.feasible == Some(true) && told
    }
}
