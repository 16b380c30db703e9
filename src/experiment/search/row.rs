use std::collections::HashMap;

use super::archive::Archive;
use super::problem::{Evaluation, Extent, Problem};
use crate::allocator::centre::TieVector;

/// One evaluation of a search as tables show it.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRow {
    /// The traces that were searched, joined by `+`.
    pub searched: String,
    /// Place among the whole evaluations, from 1; feasible ones first.
    pub rank: Option<u64>,
    /// The vector; `None` is no tie-breaking.
    pub vector: Option<TieVector>,
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
    /// When it was asked for, from 1; 0 is no tie-breaking.
    pub evaluation: u64,
    /// Decisions replayed.
    pub decisions: u64,
}

/// The rows of a search: no tie-breaking, whole evaluations by rank, then the others in
/// their order.
pub fn rows(problem: &Problem, archive: &Archive) -> Vec<SearchRow> {
    let names: Vec<&str> = problem.parts.iter().map(|part| part.name.as_str()).collect();
    let searched = names.join("+");
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let row = |rank: Option<u64>, evaluation: u64, one: &Evaluation| {
        let stopped = one.extent == Extent::Stopped;
        SearchRow {
            searched: searched.clone(),
            rank,
            vector: Some(one.vector),
            value: (!stopped).then(|| mean(&one.values)),
            improvement_percent: one.improvement_percent,
            test_improvement_percent: None,
            feasible: (!stopped).then(|| one.is_feasible()),
            excess_percent: (!stopped).then_some(one.excess_percent),
            worst: one.worst.map(|worst| {
                (worst.size, worst.jobs, worst.worsened_percent, names[worst.part].to_string())
            }),
            extent: one.extent,
            evaluation,
            decisions: one.decisions,
        }
    };
    let ranked = archive.ranked();
    let place = |one: &Evaluation| std::ptr::from_ref(one);
    let numbers: HashMap<_, u64> = archive.evaluations().iter().map(place).zip(1..).collect();
    let number = |one: &Evaluation| numbers.get(&place(one)).copied().unwrap_or(0);
    let mut rows = vec![SearchRow {
        searched: searched.clone(),
        rank: None,
        vector: None,
        value: Some(mean(&problem.baseline_values())),
        improvement_percent: 0.0,
        test_improvement_percent: None,
        feasible: None,
        excess_percent: None,
        worst: None,
        extent: Extent::Whole,
        evaluation: 0,
        decisions: problem.decisions(),
    }];
    rows.extend((1..).zip(&ranked).map(|(rank, one)| row(Some(rank), number(one), one)));
    let others = archive.evaluations().iter().filter(|one| one.extent != Extent::Whole);
    rows.extend(others.map(|one| row(None, number(one), one)));
    rows
}
