use std::cmp::Ordering;
use std::collections::HashMap;

use super::candidate::Candidate;
use super::problem::{Evaluation, Extent};

/// All evaluations of a search in the order of the requests.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    evaluations: Vec<Evaluation>,
    /// Index of the evaluation of each reduced candidate.
    known: HashMap<Candidate, usize>,
    /// Number of requests that were answered without an evaluation.
    repeats: u64,
}

/// Work that a search avoided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SkippedWork {
    /// Number of requests for candidates that had been requested before.
    pub repeats: u64,
    /// Number of evaluations that were stopped because their candidate was certain not to be among the best.
    pub stopped: u64,
    /// Number of decisions that the stopped evaluations did not replay.
    pub stopped_decisions: u64,
}

impl Archive {
    /// Adds an evaluation.
    pub fn insert(&mut self, evaluation: Evaluation) {
        self.known.insert(evaluation.candidate, self.evaluations.len());
        self.evaluations.push(evaluation);
    }

    /// Counts a request that was answered from the archive.
    pub fn repeat(&mut self) {
        self.repeats += 1;
    }

    /// All evaluations in order.
    pub fn evaluations(&self) -> &[Evaluation] {
        &self.evaluations
    }

    /// Returns the evaluation of a candidate; the evaluation may be whole or stopped. Candidates with the same ratio
    /// and slack are equal.
    pub fn get(&self, candidate: Candidate) -> Option<&Evaluation> {
        self.known.get(&candidate.reduced()).map(|&number| &self.evaluations[number])
    }

    /// Returns the whole evaluations (those that were not stopped), best first. Feasible evaluations precede infeasible
    /// evaluations. Infeasible evaluations are ordered by their excess over the constraints. Evaluations with equal
    /// excess are ordered by improvement, and those with equal improvement by the order of the requests.
    pub fn ranked(&self) -> Vec<&Evaluation> {
        let mut ranked: Vec<_> =
            self.evaluations.iter().filter(|one| one.extent == Extent::Whole).collect();
        ranked.sort_by(|a, b| better_first(a, b));
        ranked
    }

    /// The best whole evaluation.
    pub fn best(&self) -> Option<&Evaluation> {
        let whole = self.evaluations.iter().filter(|one| one.extent == Extent::Whole);
        whole.reduce(|best, one| if better_first(one, best).is_lt() { one } else { best })
    }

    /// Returns the threshold in percent: a candidate with a smaller improvement is certain not to be among the `keep`
    /// best. The threshold is the improvement of the evaluation at rank `keep`; `None` if this evaluation is not
    /// feasible or does not exist.
    pub fn stopping_threshold(&self, keep: usize) -> Option<f64> {
        let ranked = self.ranked();
        let last = ranked.get(keep.checked_sub(1)?)?;
        last.is_feasible().then_some(last.improvement_percent)
    }

    /// Returns the points at which the best improvement increased. Each point consists of the number of decisions
    /// replayed so far and the improvement in percent. Only whole and feasible evaluations count.
    pub fn convergence(&self) -> Vec<(u64, f64)> {
        let mut steps: Vec<(u64, f64)> = Vec::new();
        let mut decisions = 0;
        for one in &self.evaluations {
            decisions += one.decisions;
            let counts = one.extent == Extent::Whole && one.is_feasible();
            let so_far = steps.last().map_or(f64::NEG_INFINITY, |step| step.1);
            if counts && one.improvement_percent > so_far {
                steps.push((decisions, one.improvement_percent));
            }
        }
        steps
    }

    /// Number of decisions replayed.
    pub fn decisions(&self) -> u64 {
        self.evaluations.iter().map(|one| one.decisions).sum()
    }

    /// Returns the avoided work. `whole` is the number of decisions of a whole evaluation.
    pub fn skipped_work(&self, whole: u64) -> SkippedWork {
        let mut skipped = SkippedWork { repeats: self.repeats, ..SkippedWork::default() };
        for one in self.evaluations.iter().filter(|one| one.extent == Extent::Stopped) {
            skipped.stopped += 1;
            skipped.stopped_decisions += whole - one.decisions;
        }
        skipped
    }
}

/// Compares two evaluations in the order of [`Archive::ranked`]; evaluations that differ only in the order of their
/// requests compare as equal.
pub fn better_first(a: &Evaluation, b: &Evaluation) -> Ordering {
    let excess = a.excess_percent.total_cmp(&b.excess_percent);
    excess.then(b.improvement_percent.total_cmp(&a.improvement_percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(
        text: &str,
        extent: Extent,
        improvement_percent: f64,
        excess_percent: f64,
    ) -> Evaluation {
        Evaluation {
            candidate: text.parse().expect("a candidate"),
            extent,
            improvement_percent,
            values: vec![1.0],
            improvements: vec![improvement_percent],
            worst: None,
            excess_percent,
            decisions: 10,
        }
    }

    #[test]
    fn ranks_by_feasibility_then_improvement_then_order() {
        let mut archive = Archive::default();
        let whole = Extent::Whole;
        for one in [
            evaluation("1,1,0,0", whole, 1.0, 0.0),
            evaluation("1,2,1,0", whole, 9.0, 3.0),
            evaluation("1,3,1,0", whole, 2.0, 0.0),
            evaluation("1,4,1,0", Extent::Stopped, 2.0, 0.0),
            evaluation("1,5,1,0", whole, 9.5, 2.0),
            evaluation("1,6,1,0", whole, 2.0, 0.0),
        ] {
            archive.insert(one);
        }
        let ranked: Vec<_> =
            archive.ranked().iter().map(|one| one.candidate.vector.available).collect();
        assert_eq!(ranked, [3, 6, 1, 5, 2]);
        assert_eq!(archive.best().map(|one| one.candidate.vector.available), Some(3));
        assert_eq!(
            [0, 1, 3, 4, 6].map(|keep| archive.stopping_threshold(keep)),
            [None, Some(2.0), Some(1.0), None, None]
        );
        assert_eq!(archive.convergence(), [(10, 1.0), (30, 2.0)]);
        assert!(archive.get("1,8,2,0".parse().expect("a vector")).is_some());
    }

    #[test]
    fn counts_skipped_work_by_reason() {
        let mut archive = Archive::default();
        archive.insert(evaluation("1,2,1,0", Extent::Whole, 2.0, 0.0));
        archive.insert(evaluation("1,3,1,0", Extent::Stopped, 2.0, 0.0));
        archive.repeat();
        let expected = SkippedWork { repeats: 1, stopped: 1, stopped_decisions: 90 };
        assert_eq!(archive.skipped_work(100), expected);
        assert_eq!(archive.decisions(), 20);
    }
}
