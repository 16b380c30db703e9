use std::collections::HashMap;

use super::archive::{Archive, better_first};
use super::candidate::Candidate;
use super::problem::{Evaluation, Extent, Problem};

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
    let maker = Maker::new(problem);
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
}

impl<'a> Maker<'a> {
    fn new(problem: &'a Problem) -> Self {
        Self { problem, searched: problem.name() }
    }

    fn baseline(&self) -> SearchRow {
        SearchRow {
            searched: self.searched.clone(),
            origin: Origin::None,
            rank: None,
            candidate: None,
            value: Some(mean(&self.problem.baseline_values())),
            improvement_percent: 0.0,
            test_improvement_percent: None,
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
