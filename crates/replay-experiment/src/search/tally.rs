use serde::{Deserialize, Serialize};

use super::column::{Needs, Sought};
use super::constraint::Subject;
use super::objective::{Goal, Objective, Weights};
use replay_core::metrics::run::{PlacementMeans, RunMetrics};
use replay_core::metrics::{ScheduleMetrics, TieStatistics};

/// What a replay, or the first part of one, sums up to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// By job size from 0.
    pub classes: Vec<ClassSum>,
    /// Decisions made.
    pub decisions: usize,
    /// Measures of placements, if they were asked for.
    pub placements: PlacementMeans,
    /// Counts of ties, if they were asked for.
    pub ties: TieStatistics,
    /// Further copies of the trace that are in the sums.
    pub others: u64,
}

/// The jobs of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassSum {
    /// How many they are.
    pub jobs: u64,
    /// Their pairwise L1 sums, added up.
    pub pairwise_l1: u64,
}

/// The job size that fares worst.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorstClass {
    /// Number of the part of the problem.
    pub part: usize,
    /// Processors.
    pub size: u32,
    /// Jobs of the size.
    pub jobs: u64,
    /// How much larger their mean pairwise L1 is than without tie-breaking, in percent;
    /// below 0 if even this class gains.
    pub worsened_percent: f64,
}

impl Tally {
    /// Adds what a replay of another copy of the trace, as far, sums up to.
    pub fn add(&mut self, other: &Tally) {
        for (class, more) in self.classes.iter_mut().zip(&other.classes) {
            class.jobs += more.jobs;
            class.pairwise_l1 += more.pairwise_l1;
        }
        self.decisions += other.decisions;
        self.placements.add(&other.placements);
        self.ties.add(other.ties);
        self.others += 1 + other.others;
    }

    /// The sum of weights times pairwise L1 sums.
    pub fn weighted_sum(&self, weights: &Weights) -> u128 {
        let classes = (0..).zip(&self.classes);
        classes
            .map(|(size, class)| u128::from(weights.of(size)) * u128::from(class.pairwise_l1))
            .sum()
    }

    /// The sum of weights.
    pub fn weight(&self, weights: &Weights) -> u128 {
        let classes = (0..).zip(&self.classes);
        classes.map(|(size, class)| u128::from(weights.of(size)) * u128::from(class.jobs)).sum()
    }

    /// The value of a column; not a number if it was not measured.
    pub fn column(&self, sought: &Sought, schedule: &ScheduleMetrics) -> f64 {
        let total = self.classes.iter().map(|class| class.pairwise_l1).sum();
        let ties = (self.ties.decisions > 0).then_some(self.ties);
        let metrics = RunMetrics::new(schedule, total, &self.placements, ties, None);
        sought.value(&metrics).unwrap_or(f64::NAN)
    }

    /// The value of an objective; not a number if nothing has a weight.
    pub fn objective(&self, objective: &Objective, schedule: &ScheduleMetrics) -> f64 {
        if objective.sought.column.name == "mean_pairwise_l1" {
            // Over the jobs seen, which may be the first part only.
            let weight = self.weight(&objective.weights);
            self.weighted_sum(&objective.weights) as f64 / weight as f64
        } else {
            self.column(objective.sought, schedule)
        }
    }

    /// Whether there is anything that a constraint on `subject` can be about.
    pub fn has(&self, subject: &Subject, processors: usize) -> bool {
        match *subject {
            Subject::WorstClass { jobs, sizes } => {
                let admitted = |size, class: &ClassSum| class.jobs >= jobs && sizes.contains(size);
                self.worst_class(self, processors, admitted).is_some()
            }
            Subject::Column(_) => true,
        }
    }

    /// How much worse a subject of a constraint is than in `baseline`, in percent.
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
                // Of no class, none is worse.
                .map_or(f64::NEG_INFINITY, |worst| worst.worsened_percent),
            Subject::Column(sought) => {
                let goal = if sought.column.rises { Goal::Max } else { Goal::Min };
                let (before, after) = match sought.needs {
                    Needs::Pairwise => {
                        let sum = |tally: &Tally| tally.weighted_sum(&Weights::Jobs) as f64;
                        (sum(baseline), sum(self))
                    }
                    _ => (baseline.column(sought, schedule), self.column(sought, schedule)),
                };
                -improvement_percent(goal, before, after)
            }
        }
    }

    /// The admitted job size whose mean pairwise L1 worsens most against `baseline`; the
    /// smaller of equals. One-processor and whole-machine jobs, which no allocator can
    /// change, are left out.
    pub fn worst_class(
        &self,
        baseline: &Tally,
        processors: usize,
        admitted: impl Fn(u32, &ClassSum) -> bool,
    ) -> Option<WorstClass> {
        let mut worst: Option<WorstClass> = None;
        // Of one copy of the trace.
        let of_one = |class: &ClassSum| ClassSum { jobs: class.jobs / (1 + self.others), ..*class };
        for (size, (class, base)) in (0u32..).zip(self.classes.iter().zip(&baseline.classes)) {
            let one = of_one(class);
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

/// How much better a value is than `before`, in percent of `before`; 0 if both are 0.
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
    fn the_worst_class_is_one_that_can_change() {
        // Sizes 0 to 4 on a machine of 4: only 2 and 3 can change.
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
    fn weights_are_those_of_the_jobs() {
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
