use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::SearchError;
use super::candidate::Candidate;
use super::column::Needs;
use super::constraint::Constraint;
use super::objective::Objective;
use super::search_trace::{ReplayLimit, SearchTrace};
use super::tally::{Tally, WorstClass, improvement_percent};
use crate::sweep::text_digest;
use crate::{RunContext, batched_run};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::cancel::Cancelled;

/// Format number of identities. Increase this number whenever a change of the code alters the results of evaluations.
const FORMAT: u32 = 1;

/// A search problem: find the tie vector and the slack of a strategy for one or several traces or their perturbed
/// copies.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The traces. If perturbed copies are used, the list contains the copies of each trace, numbered from 1, instead
    /// of the trace. The number of copies is the same for each trace.
    pub parts: Vec<SearchTrace>,
    /// Allocation strategy without a tie vector. The slack of this strategy is ignored.
    pub allocator: AllocatorSpec,
    /// Quantity to optimize.
    pub objective: Objective,
    /// Constraints on vectors.
    pub constraints: Vec<Constraint>,
    needs: Needs,
    /// Results without tie-breaking, one for each part; candidates are compared with these results.
    baselines: Vec<Tally>,
}

/// Extent of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Extent {
    /// The evaluation reached the end of every trace.
    Whole,
    /// The evaluation stopped when the candidate was certain not to be among the best.
    Stopped,
}

/// Result of evaluating a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evaluation {
    /// The reduced candidate.
    pub candidate: Candidate,
    /// Extent of the evaluation.
    pub extent: Extent,
    /// Improvement of the objective over no tie-breaking in percent, averaged over parts. If the evaluation stopped,
    /// the value is an upper bound.
    pub improvement_percent: f64,
    /// Objective for each part; empty if the evaluation stopped.
    pub values: Vec<f64>,
    /// Improvement for each part, in percent; empty if the evaluation stopped.
    pub improvements: Vec<f64>,
    /// Job size with the largest worsening in any trace; `None` if the evaluation stopped or if no size can change.
    pub worst: Option<WorstClass>,
    /// Largest excess over a constraint in percentage points; 0 if all constraints are satisfied.
    pub excess_percent: f64,
    /// Number of decisions replayed.
    pub decisions: u64,
}

impl Evaluation {
    /// Returns whether all constraints are satisfied. For a stopped evaluation, it is unknown whether all constraints
    /// are satisfied, and the function returns `true`.
    pub fn is_feasible(&self) -> bool {
        self.excess_percent == 0.0
    }
}

impl Problem {
    /// Creates a problem and measures the allocator without tie-breaking on all parts.
    ///
    /// # Errors
    /// [`SearchError`] if the allocator has no tie vector, or its tie vector is already set; if the allocator does not
    /// support a machine; if the objective without tie-breaking is 0 or unknown; if a constraint does not apply to any
    /// job size; or if cancelled.
    pub fn new(
        parts: Vec<SearchTrace>,
        allocator: AllocatorSpec,
        objective: Objective,
        constraints: Vec<Constraint>,
        watch: RunContext<'_>,
    ) -> Result<Self, SearchError> {
        if !allocator.takes_tie() || allocator.tie().is_some() {
            return Err(SearchError::NoTie(allocator.to_string()));
        }
        let needs =
            constraints.iter().map(Constraint::needs).chain([objective.search_column.needs]).max();
        let mut problem = Self {
            parts,
            allocator,
            objective,
            constraints,
            needs: needs.unwrap_or(Needs::Pairwise),
            baselines: Vec::new(),
        };
        problem.baselines = problem.measure_baselines(watch)?;
        for (part, value) in problem.parts.iter().zip(problem.baseline_values()) {
            if !(value > 0.0 && value.is_finite()) {
                let (part, objective) = (part.name.clone(), problem.objective.to_string());
                return Err(SearchError::NothingToImprove { part, objective, value });
            }
        }
        for constraint in &problem.constraints {
            let mut parts = problem.parts.iter().zip(&problem.baselines);
            let about = |(part, tally): (&SearchTrace, &Tally)| {
                tally.has(&constraint.subject, part.trace.topology.capacity())
            };
            if !parts.any(about) {
                return Err(SearchError::NothingConstrained(constraint.to_string()));
            }
        }
        Ok(problem)
    }

    /// Replays every part without tie-breaking.
    fn measure_baselines(&self, watch: RunContext<'_>) -> Result<Vec<Tally>, SearchError> {
        let limit = ReplayLimit { most: None, of: self.decisions() as usize };
        let measure = |part: &SearchTrace| part.measure(&self.allocator, self.needs, limit, watch);
        let measured: Vec<_> = self.parts.par_iter().map(measure).collect();
        measured.into_iter().collect()
    }

    /// Returns the number of candidates for which joint evaluation is most efficient.
    pub fn batch_size(&self) -> usize {
        self.parts
            .iter()
            .map(|part| batched_run::batch_size(&part.trace.topology))
            .min()
            .unwrap_or(1)
    }

    /// Returns the names of the traces, joined by `+`.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.traces().map(|copies| copies[0].name.as_str()).collect();
        names.join("+")
    }

    /// Parts grouped by trace.
    pub fn traces(&self) -> impl Iterator<Item = &[SearchTrace]> {
        self.parts.chunk_by(|part, next| next.follows(part))
    }

    /// Returns a digest of everything that determines the results of evaluations: jobs, start times, machines, the
    /// strategy, the objective and the constraints. Names are ignored.
    pub fn identity(&self) -> String {
        let mut text = format!("replay search {FORMAT}\n{}\n", self.allocator.identity());
        let constraints = self.constraints.iter().map(ToString::to_string);
        let parts = self.parts.iter().map(SearchTrace::identity);
        for line in [self.objective.to_string()].into_iter().chain(constraints).chain(parts) {
            text.push_str(&line);
            text.push('\n');
        }
        text_digest(&text)
    }

    /// Returns the number of parts per trace: the number of perturbed copies, or 1 if there are no perturbed copies.
    pub fn copies(&self) -> usize {
        self.traces().next().map_or(1, <[SearchTrace]>::len)
    }

    /// Returns the value of the objective without tie-breaking for each part.
    pub fn baseline_values(&self) -> Vec<f64> {
        let parts = self.parts.iter().zip(&self.baselines);
        parts
            .map(|(part, tally)| tally.objective(&self.objective, part.schedule_metrics()))
            .collect()
    }

    /// Returns the number of decisions of a whole evaluation, over all parts.
    pub fn decisions(&self) -> u64 {
        self.parts.iter().map(|part| part.decisions() as u64).sum()
    }

    /// Evaluates a candidate. With a `threshold` in percent, the evaluation stops as soon as the improvement is certain
    /// to be below the threshold. The threshold is used only if the objective is [monotonic](Objective::is_monotonic).
    ///
    /// # Errors
    /// [`SearchError`] under the conditions of [`SearchTrace::measure`].
    pub fn evaluate(
        &self,
        candidate: Candidate,
        threshold: Option<f64>,
        watch: RunContext<'_>,
    ) -> Result<Evaluation, SearchError> {
        let mut one = self.evaluate_all(&[candidate], threshold, watch)?;
        one.pop().ok_or(SearchError::Cancelled(Cancelled))
    }

    /// Evaluates several candidates. Candidates that make the same decisions share one replay. The results are the same
    /// as from [`evaluate`](Self::evaluate).
    ///
    /// # Errors
    /// [`SearchError`] under the conditions of [`SearchTrace::measure_all`].
    pub fn evaluate_all(
        &self,
        candidates: &[Candidate],
        threshold: Option<f64>,
        watch: RunContext<'_>,
    ) -> Result<Vec<Evaluation>, SearchError> {
        let threshold = threshold.filter(|_| self.objective.is_monotonic());
        let start_state = |candidate: &Candidate| self.begin(candidate.reduced(), threshold);
        let mut states: Vec<CandidateProgress> =
            candidates.iter().map(start_state).collect::<Result<_, _>>()?;
        let of = self.decisions() as usize;
        for (number, (part, baseline)) in self.parts.iter().zip(&self.baselines).enumerate() {
            let open: Vec<usize> = (0..states.len())
                .filter(|&at| states[at].evaluation.extent != Extent::Stopped)
                .collect();
            let run = |&at: &usize| {
                let CandidateProgress { allocator, improvements, .. } = &states[at];
                let most = threshold.map(|threshold| {
                    let others = improvements.iter().sum::<f64>() - improvements[number];
                    self.largest_sum(baseline, threshold * improvements.len() as f64 - others)
                });
                (allocator.clone(), ReplayLimit { most, of })
            };
            let runs: Vec<_> = open.iter().map(run).collect();
            let tallies = part.measure_all(&runs, self.needs, watch)?;
            for (at, tally) in open.into_iter().zip(tallies) {
                self.add_part(&mut states[at], number, tally, baseline, threshold);
            }
        }
        Ok(states.into_iter().map(CandidateProgress::end).collect())
    }

    /// Creates the state of a candidate's evaluation before its first part.
    fn begin(
        &self,
        candidate: Candidate,
        threshold: Option<f64>,
    ) -> Result<CandidateProgress, SearchError> {
        let most = |part| match threshold {
            Some(_) => self.improvement_bound(part),
            None => 0.0,
        };
        Ok(CandidateProgress {
            allocator: self.allocator.with_tie_breaking(candidate.tie_breaking())?,
            evaluation: Evaluation {
                candidate,
                extent: Extent::Whole,
                improvement_percent: 0.0,
                values: Vec::with_capacity(self.parts.len()),
                improvements: Vec::new(),
                worst: None,
                excess_percent: 0.0,
                decisions: 0,
            },
            improvements: (0..self.parts.len()).map(most).collect(),
            copies: None,
        })
    }

    /// Adds the result of a candidate on a part.
    fn add_part(
        &self,
        state: &mut CandidateProgress,
        number: usize,
        tally: Tally,
        baseline: &Tally,
        threshold: Option<f64>,
    ) {
        let CandidateProgress { evaluation, improvements, copies, .. } = state;
        let part = &self.parts[number];
        evaluation.decisions += tally.decisions as u64;
        if tally.decisions < baseline.decisions {
            evaluation.extent = Extent::Stopped;
            evaluation.improvement_percent = threshold.unwrap_or(0.0);
            evaluation.values.clear();
            evaluation.worst = None;
            evaluation.excess_percent = 0.0;
            return;
        }
        let value = tally.objective(&self.objective, part.schedule_metrics());
        let before = baseline.objective(&self.objective, part.schedule_metrics());
        evaluation.values.push(value);
        improvements[number] = improvement_percent(self.objective.goal, before, value);
        // For each job size, the sums are combined over all copies of a trace before the worsening is computed.
        let (all, before) = match copies.take() {
            None => (tally, baseline.clone()),
            Some((mut all, mut before)) => {
                all.add(&tally);
                before.add(baseline);
                (all, before)
            }
        };
        match self.parts.get(number + 1).is_some_and(|next| next.follows(part)) {
            true => *copies = Some((all, before)),
            false => self.record_trace(evaluation, number, &all, &before),
        }
    }

    /// Updates the worst job size and the constraint excess from one trace. `number` is the index of the last part of
    /// this trace.
    fn record_trace(
        &self,
        evaluation: &mut Evaluation,
        number: usize,
        tally: &Tally,
        baseline: &Tally,
    ) {
        let part = &self.parts[number];
        let (schedule, processors) = (part.schedule_metrics(), part.trace.topology.capacity());
        if let Some(worst) = tally.worst_class(baseline, processors, |_, _| true) {
            let so_far = evaluation.worst.map_or(f64::NEG_INFINITY, |worst| worst.worsened_percent);
            if worst.worsened_percent > so_far {
                evaluation.worst = Some(WorstClass { part: number, ..worst });
            }
        }
        for constraint in &self.constraints {
            let worsening = tally.worsening(baseline, &constraint.subject, schedule, processors);
            let excess = worsening - constraint.most_percent;
            evaluation.excess_percent = evaluation.excess_percent.max(excess);
        }
    }

    /// Returns an upper bound, in percent, of the improvement that a candidate can achieve on a part.
    fn improvement_bound(&self, part: usize) -> f64 {
        let baseline = &self.baselines[part];
        let lower_bound = self.parts[part].lower_bound() as f64;
        100.0 * (1.0 - lower_bound / baseline.weighted_sum(&self.objective.weights) as f64)
    }

    /// Returns the largest weighted sum with which a candidate can still improve on the baseline by `percent`. The sum
    /// is rounded up, so that no candidate is stopped by a rounding error.
    fn largest_sum(&self, baseline: &Tally, percent: f64) -> u128 {
        let sum = baseline.weighted_sum(&self.objective.weights) as f64;
        ((sum * (1.0 - percent / 100.0)) * (1.0 + 1e-12) + 1.0).max(0.0) as u128
    }
}

/// Progress of a candidate through the parts.
struct CandidateProgress {
    allocator: AllocatorSpec,
    evaluation: Evaluation,
    /// Improvement for each part, in percent. For parts that have not been replayed yet, the value is an upper bound.
    improvements: Vec<f64>,
    /// Two sums over those copies of the current trace that have been replayed so far: the sum of the candidate, and
    /// the sum of the baseline.
    copies: Option<(Tally, Tally)>,
}

impl CandidateProgress {
    /// Returns the evaluation after the last part.
    fn end(self) -> Evaluation {
        let Self { mut evaluation, improvements, .. } = self;
        if evaluation.extent != Extent::Stopped {
            evaluation.improvement_percent =
                improvements.iter().sum::<f64>() / improvements.len() as f64;
            evaluation.improvements = improvements;
        }
        evaluation
    }
}
