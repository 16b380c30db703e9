use serde::{Deserialize, Serialize};

use super::column::{Needs, SearchColumn};
use super::constraint::Subject;
use super::objective::{Goal, Objective, Weights};
use replay_engine::metrics::measure::Finished;
use replay_engine::metrics::{Measures, PairwiseMetrics, RunMetrics, ScheduleMetrics};

/// Sums over all decisions of a replay, or over its first decisions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// Sums by job size. The sums are indexed by job size.
    pub classes: Vec<ClassSum>,
    /// Number of decisions made.
    pub decisions: usize,
    /// The requested measures, except the pairwise L1 of replays that run in lockstep.
    pub measures: Measures,
    /// Number of additional copies of the trace that are included in the sums.
    pub others: u64,
}

/// Sums over the jobs of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassSum {
    /// Number of jobs.
    pub jobs: u64,
    /// Total of the pairwise L1 sums of the jobs of this size.
    pub pairwise_l1: u64,
}

/// Job size with the largest worsening.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorstClass {
    /// Index of the part of the problem.
    pub part: usize,
    /// Job size in processors.
    pub size: u32,
    /// Number of jobs of this size.
    pub jobs: u64,
    /// Increase, in percent, of the mean pairwise L1 of the jobs of this size, compared with a replay without
    /// tie-breaking. The increase is negative if this size improves.
    pub worsened_percent: f64,
}

impl Tally {
    /// Adds the sums of a replay of another copy of the trace. Both replays must have the same number of decisions.
    pub fn add(&mut self, other: &Tally) {
        for (class, more) in self.classes.iter_mut().zip(&other.classes) {
            class.jobs += more.jobs;
            class.pairwise_l1 += more.pairwise_l1;
        }
        self.decisions += other.decisions;
        self.measures.add(&other.measures);
        self.others += 1 + other.others;
    }

    /// Returns the weighted sum of the pairwise L1 distances of all jobs.
    pub fn weighted_sum(&self, weights: &Weights) -> u128 {
        let classes = (0..).zip(&self.classes);
        classes
            .map(|(size, class)| u128::from(weights.of(size)) * u128::from(class.pairwise_l1))
            .sum()
    }

    /// Returns the sum of the weights of all jobs.
    pub fn weight(&self, weights: &Weights) -> u128 {
        let classes = (0..).zip(&self.classes);
        classes.map(|(size, class)| u128::from(weights.of(size)) * u128::from(class.jobs)).sum()
    }

    /// Returns the value of a column; NaN if the column was not measured.
    pub fn column(&self, search_column: &SearchColumn, schedule: &ScheduleMetrics) -> f64 {
        let total = self.classes.iter().map(|class| class.pairwise_l1).sum();
        let finished = Finished { schedule: Some(schedule), coupled: None };
        let metrics = RunMetrics {
            pairwise: PairwiseMetrics::new(total, schedule.jobs),
            ..self.measures.finish(&finished)
        };
        search_column.value(&metrics).unwrap_or(f64::NAN)
    }

    /// Returns the value of an objective; NaN if the total weight is 0.
    pub fn objective(&self, objective: &Objective, schedule: &ScheduleMetrics) -> f64 {
        if objective.search_column.column.name == PairwiseMetrics::mean_pairwise_l1 {
            // The average is over the replayed jobs, which may be only the first jobs of the trace.
            let weight = self.weight(&objective.weights);
            self.weighted_sum(&objective.weights) as f64 / weight as f64
        } else {
            self.column(objective.search_column, schedule)
        }
    }

    /// Returns whether a constraint on `subject` applies to any job size.
    pub fn has(&self, subject: &Subject, processors: usize) -> bool {
        match *subject {
            Subject::WorstClass { jobs, sizes } => {
                let admitted = |size, class: &ClassSum| class.jobs >= jobs && sizes.contains(size);
                self.worst_class(self, processors, admitted).is_some()
            }
            Subject::Column(_) => true,
        }
    }

    /// Returns the worsening of a constrained quantity relative to `baseline`, in percent.
    pub fn worsening(
        &self,
        baseline: &Tally,
        subject: &Subject,
        schedule: &ScheduleMetrics,
        processors: usize,
    ) -> f64 {
        match *subject {
            Subject::WorstClass { jobs, sizes } => self
                .worst_class(baseline, processors, |size, class| {
                    class.jobs >= jobs && sizes.contains(size)
                })
                // If no job size matches, no quantity worsens.
                .map_or(f64::NEG_INFINITY, |worst| worst.worsened_percent),
            Subject::Column(search_column) => {
                let goal = if search_column.column.rises { Goal::Max } else { Goal::Min };
                let (before, after) = match search_column.needs {
                    Needs::Pairwise => {
                        let sum = |tally: &Tally| tally.weighted_sum(&Weights::Jobs) as f64;
                        (sum(baseline), sum(self))
                    }
                    _ => (
                        baseline.column(search_column, schedule),
                        self.column(search_column, schedule),
                    ),
                };
                -improvement_percent(goal, before, after)
            }
        }
    }

    /// Returns, among the admitted job sizes, the size whose mean pairwise L1 has the largest increase over `baseline`.
    /// If two sizes have the same increase, the smaller size is returned. Jobs of one processor and of the whole
    /// machine are skipped, because no allocator can change them.
    pub fn worst_class(
        &self,
        baseline: &Tally,
        processors: usize,
        admitted: impl Fn(u32, &ClassSum) -> bool,
    ) -> Option<WorstClass> {
        let mut worst: Option<WorstClass> = None;
        // Number of jobs in one copy of the trace.
        let per_copy =
            |class: &ClassSum| ClassSum { jobs: class.jobs / (1 + self.others), ..*class };
        for (size, (class, base)) in (0u32..).zip(self.classes.iter().zip(&baseline.classes)) {
            let one = per_copy(class);
            let fixed = size <= 1 || size as usize == processors;
            if fixed || class.jobs == 0 || base.pairwise_l1 == 0 || !admitted(size, &one) {
                continue;
            }
            let worsened_percent =
                -improvement_percent(Goal::Min, base.pairwise_l1 as f64, class.pairwise_l1 as f64);
            if worst.is_none_or(|worst| worsened_percent > worst.worsened_percent) {
                worst = Some(WorstClass { part: 0, size, jobs: one.jobs, worsened_percent });
            }
        }
        worst
    }
}

/// Returns the improvement from `before` to `after` in percent of `before`; 0 if the values are equal.
pub fn improvement_percent(goal: Goal, before: f64, after: f64) -> f64 {
    if before == after {
        return 0.0;
    }
    let change = 100.0 * (after - before) / before;
    if goal == Goal::Max { change } else { -change }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(classes: &[(u64, u64)]) -> Tally {
        let classes: Vec<_> =
            classes.iter().map(|&(jobs, pairwise_l1)| ClassSum { jobs, pairwise_l1 }).collect();
        let decisions = classes.iter().map(|class| class.jobs as usize).sum();
        Tally { classes, decisions, ..Tally::default() }
    }

    #[test]
    fn the_worst_class_can_be_changed_by_an_allocator() {
        // The sizes are 0 to 4 on a machine of 4 processors. Only the values of sizes 2 and 3 can change.
        let before = tally(&[(0, 0), (9, 0), (20, 100), (2, 10), (1, 8)]);
        let after = tally(&[(0, 0), (9, 0), (20, 101), (2, 12), (1, 8)]);
        let worst = |least| {
            let worst = after.worst_class(&before, 4, |_, class| class.jobs >= least);
            worst.map(|worst| (worst.size, worst.jobs, worst.worsened_percent))
        };
        assert_eq!((worst(1), worst(20)), (Some((3, 2, 20.0)), Some((2, 20, 1.0))));
        assert_eq!(worst(21), None);
        let same = before.worst_class(&before, 4, |_, _| true).expect("a class");
        assert_eq!((same.size, same.worsened_percent), (2, 0.0));
    }

    #[test]
    fn weights_apply_to_jobs() {
        let tally = tally(&[(0, 0), (9, 0), (2, 4), (1, 6)]);
        let mean = |weights: &str| {
            let objective: Objective = format!("mean_pairwise_l1{weights}").parse().expect("one");
            tally.weighted_sum(&objective.weights) as f64 / tally.weight(&objective.weights) as f64
        };
        assert_eq!(mean(""), 10.0 / 12.0);
        assert_eq!(mean("[weights=size]"), (2.0 * 4.0 + 3.0 * 6.0) / (9.0 + 4.0 + 3.0));
        assert_eq!(mean("[weights=2:5]"), 2.0);
        assert!(mean("[weights=7:1]").is_nan());
    }
}
