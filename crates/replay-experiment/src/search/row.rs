use std::collections::HashMap;

use super::archive::{Archive, SkippedWork, better_first};
use super::candidate::Candidate;
use super::problem::{Evaluation, Extent, Problem};
use super::ratio::Ratio;
use super::shaken::{self, GapToBest};
use crate::RunKey;
use crate::shaken::Significance;
use replay_engine::metrics::estimate::Estimate;
use replay_engine::table::{Column, Table, names};

/// Origin of the candidate in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The row contains the result without tie-breaking.
    None,
    /// The search requested the candidate.
    Found,
    /// The user gave the candidate for comparison.
    Given,
}

/// An evaluation of a search as a table row.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRow {
    /// Names of the searched traces, joined by `+`.
    pub searched: String,
    /// Origin of the candidate.
    pub origin: Origin,
    /// Rank among the whole evaluations, from 1. Feasible evaluations precede infeasible evaluations.
    pub rank: Option<u64>,
    /// Vector and slack; `None` for the row without tie-breaking.
    pub candidate: Option<Candidate>,
    /// Objective averaged over traces; `None` if the evaluation stopped.
    pub value: Option<f64>,
    /// Improvement over no tie-breaking in percent, averaged over traces. If the evaluation stopped, the value is an
    /// upper bound.
    pub improvement_percent: f64,
    /// Improvement on the test traces in percent; `None` if the candidate was not evaluated on the test traces.
    pub test_improvement_percent: Option<f64>,
    /// Mean improvement over the perturbed copies, with a confidence interval.
    pub shaken: Option<Estimate>,
    /// Mean improvement over the perturbed copies of the test traces, with a confidence interval.
    pub test_shaken: Option<Estimate>,
    /// Difference from the best candidate on the same copies; `None` for the best candidate.
    pub behind: Option<GapToBest>,
    /// Whether all constraints are satisfied; `None` if the evaluation stopped.
    pub feasible: Option<bool>,
    /// Largest excess over a constraint in percentage points; `None` if the evaluation stopped.
    pub excess_percent: Option<f64>,
    /// Job size with the largest worsening: the size in processors, the number of jobs of this size, the worsening in
    /// percent, and the trace.
    pub worst: Option<(u32, u64, f64, String)>,
    /// Extent of the evaluation.
    pub extent: Extent,
    /// Position of the evaluation, from 1, among all evaluations of the search in the order of the requests; `None` if
    /// the search did not request the candidate.
    pub evaluation: Option<u64>,
    /// Number of decisions replayed.
    pub decisions: u64,
}

/// Returns the rows of a search: the result without tie-breaking, the whole evaluations from best to worst, and the
/// stopped evaluations in the order of the requests. Vectors in `given` that the search did not evaluate are listed,
/// without a rank, among the whole evaluations.
pub fn rows(problem: &Problem, archive: &Archive, given: &Archive) -> Vec<SearchRow> {
    let builder = RowBuilder { problem, searched: problem.name(), best: archive.best() };
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
    let mut rows = vec![builder.baseline()];
    let mut rank = 0;
    for one in ranked {
        let number = number(one);
        rank += u64::from(number.is_some());
        rows.push(builder.row(number.map(|_| rank), number, one));
    }
    let others = archive.evaluations().iter().filter(|one| !whole(one));
    rows.extend(others.map(|one| builder.row(None, number(one), one)));
    rows
}

struct RowBuilder<'a> {
    problem: &'a Problem,
    searched: String,
    best: Option<&'a Evaluation>,
}

impl RowBuilder<'_> {
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

/// Mean of values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn yes_or_no(flag: bool) -> String {
    (if flag { "yes" } else { "no" }).to_string()
}

/// Creates the column with the names of the searched traces.
pub(super) fn searched<Row>(
    read: impl for<'a> Fn(&'a Row) -> Option<&'a str> + Send + Sync + 'static,
) -> Column<Row> {
    Column::text(SearchRow::SEARCHED, "searched traces, joined by +", read)
}

/// Creates the columns of the objective and of the improvement.
#[rustfmt::skip]
pub(super) fn objective_columns<Row>(
    value: impl Fn(&Row) -> Option<f64> + Send + Sync + 'static,
    improvement: impl Fn(&Row) -> f64 + Send + Sync + 'static,
) -> [Column<Row>; 2] {
    [
        Column::new(SearchRow::VALUE, "as the objective", "the objective, mean over the row's traces; null if the evaluation was stopped", value),
        Column::new(SearchRow::IMPROVEMENT_PERCENT, "%", "improvement over no tie-breaking, mean over the row's traces; an upper bound if the evaluation was stopped", improvement).rising(),
    ]
}

/// Creates the column of the constraint excess.
pub(super) fn excess<Row>(
    read: impl Fn(&Row) -> Option<f64> + Send + Sync + 'static,
) -> Column<Row> {
    let meaning = "largest excess over a constraint, 0 if all constraints are satisfied; null if the evaluation was stopped, and without tie-breaking";
    Column::new(SearchRow::EXCESS_PERCENT, "%", meaning, read)
}

impl SearchRow {
    names! {
        DISTINCT_FROM_BEST = "distinct_from_best",
        EXCESS_PERCENT = "excess_percent",
        IMPROVEMENT_HALF_WIDTH = "improvement_half_width",
        IMPROVEMENT_PERCENT = "improvement_percent",
        RANK = "rank",
        SEARCHED = "searched",
        TEST_IMPROVEMENT_PERCENT = "test_improvement_percent",
        VALUE = "value",
        WORST_JOBS = "worst_jobs",
        WORST_PERCENT = "worst_percent",
        WORST_SIZE = "worst_size",
    }
}

impl Table for SearchRow {
    const NAME: &'static str = "search";
    const ROW: &'static str = "one row per evaluation of a search";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<SearchRow>;
        let [value, improvement] = objective_columns(|r: &Self| r.value, |r| r.improvement_percent);
        let ratio = |r: &Self| r.candidate.map(|one| Ratio::of(one.vector));
        vec![
            searched(|r: &Self| Some(&r.searched)),
            C::new(SearchRow::RANK, "", "rank among whole evaluations, from 1, feasible evaluations first; null if the evaluation was stopped or was not requested by the search", |r| r.rank),
            C::text("origin", "origin of the vector: found (by the search), given (by --tie), or none (no tie-breaking)", |r| Some(match r.origin { Origin::None => "none", Origin::Found => "found", Origin::Given => "given" })),
            C::new(RunKey::TIE, "", "tie vector SR,AF,WF,BF or auto; null without tie-breaking", |r| r.candidate.map(|one| one.vector.to_string())),
            C::new("sr", "shells", "scan radius", |r| r.candidate.map(|one| one.vector.scan_radius)),
            C::new("af", "", "available factor", |r| r.candidate.map(|one| i64::from(one.vector.available))),
            C::new("wf", "", "wall factor", |r| r.candidate.map(|one| i64::from(one.vector.wall))),
            C::new("bf", "", "border factor", |r| r.candidate.map(|one| i64::from(one.vector.border))),
            C::new("slack", "", "share of the best score by which the score of a competing processor set may be worse; null without tie-breaking", |r| r.candidate.map(|one| one.slack.share())),
            C::new("wall_share", "", "WF / (AF + WF); 0 if AF and WF are 0; negative factors are treated as 0", move |r| ratio(r).map(|ratio| ratio.wall)),
            C::new("border_share", "", "BF / (AF + WF + BF); negative factors are treated as 0", move |r| ratio(r).map(|ratio| ratio.border)),
            value,
            improvement,
            C::new(SearchRow::TEST_IMPROVEMENT_PERCENT, "%", "improvement over no tie-breaking on the test traces; null if the candidate was not evaluated on the test traces", |r| r.test_improvement_percent).rising(),
            C::new(SearchRow::IMPROVEMENT_HALF_WIDTH, "%", "half the width of the 95 % interval of the improvement over perturbed copies; null without --shake", |r| r.shaken.map(|mean| mean.half_width)),
            C::new("test_half_width", "%", "half the width of the 95 % interval of the improvement over perturbed copies of the test traces; null without --shake", |r| r.test_shaken.map(|mean| mean.half_width)),
            C::new("behind_percent", "%", "improvement of the best vector of the search minus the improvement of this vector, mean over the same perturbed copies; null for the best vector, and without --shake", |r| r.behind.map(|behind| behind.percent.mean)),
            C::new("behind_half_width", "%", "half the width of the 95 % interval of behind_percent", |r| r.behind.map(|behind| behind.percent.half_width)),
            C::text(SearchRow::DISTINCT_FROM_BEST, "whether the interval of behind_percent excludes 0: yes, no, or same if the two vectors have equal improvements on every copy", |r| r.behind.map(|behind| behind.verdict.word())),
            C::new("feasible", "", "whether all constraints are satisfied, yes or no; null if the evaluation was stopped, and without tie-breaking", |r| r.feasible.map(yes_or_no)),
            excess(|r: &Self| r.excess_percent),
            C::new(SearchRow::WORST_SIZE, "processors", "job size with the largest worsening of mean pairwise L1; null if the evaluation was stopped", |r| r.worst.as_ref().map(|worst| worst.0)),
            C::new(SearchRow::WORST_JOBS, "jobs", "number of jobs of the size worst_size", |r| r.worst.as_ref().map(|worst| worst.1)),
            C::new(SearchRow::WORST_PERCENT, "%", "increase of the mean pairwise L1 of the size worst_size; negative if it decreases", |r| r.worst.as_ref().map(|worst| worst.2)),
            C::text("worst_trace", "trace in which the size worst_size worsens", |r| r.worst.as_ref().map(|worst| worst.3.as_str())),
            C::text("extent", "whole, or stopped because the candidate was certain not to be among the best", |r| Some(match r.extent { Extent::Whole => "whole", Extent::Stopped => "stopped" })),
            C::new("evaluation", "", "number of the search's request for this candidate, from 1; null if the search did not request it", |r| r.evaluation),
            C::new("decisions", "decisions", "decisions replayed", |r| r.decisions),
        ]
    }
}

/// Evaluations that a search avoided for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedWorkRow {
    /// Names of the searched traces, joined by `+`.
    pub searched: String,
    /// Identifier of the reason.
    pub reason: &'static str,
    /// Description of the reason.
    pub about: &'static str,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of decisions that these evaluations did not replay.
    pub decisions: u64,
}

impl SkippedWorkRow {
    /// Returns the work that a search avoided, with one row for each reason. `equal_ratios` is the number of vectors
    /// that the grid omits because they break no tie or have the same ratio as another vector.
    #[rustfmt::skip]
    pub fn of(problem: &Problem, skipped: &SkippedWork, equal_ratios: u64) -> [Self; 3] {
        let whole = problem.decisions();
        [
            ("equal-ratio", equal_ratios, equal_ratios * whole, "vectors of the grid that break no tie or have the same ratio as another vector"),
            ("repeated", skipped.repeats, skipped.repeats * whole, "vectors that were requested again"),
            ("stopped", skipped.stopped, skipped.stopped_decisions, "evaluations stopped because their candidate was certain not to be among the best"),
        ]
        .map(|(reason, evaluations, decisions, about)| {
            Self { searched: problem.name(), reason, about, evaluations, decisions }
        })
    }
}

impl Table for SkippedWorkRow {
    const NAME: &'static str = "spared";
    const ROW: &'static str = "one row per search and reason for skipping evaluations";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        type C = Column<SkippedWorkRow>;
        vec![
            searched(|r: &Self| Some(&r.searched)),
            C::text("reason", "reason for skipping: equal-ratio, repeated, stopped", |r| Some(r.reason)),
            C::new("evaluations", "evaluations", "evaluations that were skipped or stopped", |r| r.evaluations),
            C::new("spared_decisions", "decisions", "decisions that the skipped or stopped evaluations would still have replayed", |r| r.decisions),
            C::text("about", "reason as a sentence", |r| Some(r.about)),
        ]
    }
}

impl SearchRow {
    /// Returns whether the search found this candidate, the candidate satisfies all constraints, and its difference
    /// from the best candidate is not significant.
    pub fn is_as_good(&self) -> bool {
        let is_not_separated =
            self.behind.is_some_and(|behind| behind.verdict != Significance::Yes);
        self.rank.is_some() && self.feasible == Some(true) && is_not_separated
    }
}
