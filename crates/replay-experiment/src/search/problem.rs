use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::SearchError;
use super::candidate::Candidate;
use super::column::Needs;
use super::constraint::Constraint;
use super::objective::Objective;
use super::search_trace::{Part, ReplayLimit};
use super::tally::{Tally, WorstClass, improvement_percent};
use crate::sweep::text_digest;
use crate::{RunContext, batched_run};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::cancel::Cancelled;

/// The format of identities: raised when the same evaluation would give other numbers than before.
const FORMAT: u32 = 1;

/// What is searched: a strategy's tie vector and slack, for one or several traces, or shaken copies
/// of them.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The traces; in their places, if they are shaken, their copies from 1, of each as many.
    pub parts: Vec<Part>,
    /// The strategy without a tie vector; its slack does not matter.
    pub allocator: AllocatorSpec,
    /// What is wanted.
    pub objective: Objective,
    /// What must not happen.
    pub constraints: Vec<Constraint>,
    needs: Needs,
    /// The replays without tie-breaking that evaluations are compared with, by part.
    baselines: Vec<Tally>,
}

/// How far an evaluation went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Extent {
    /// To the end of every trace.
    Whole,
    /// Until it was certain not to be among the best.
    Stopped,
}

/// What a candidate comes to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evaluation {
    /// The candidate, reduced.
    pub candidate: Candidate,
    /// How far the evaluation went.
    pub extent: Extent,
    /// How much better the objective is than without tie-breaking, in percent; the mean
    /// over parts. Of a stopped evaluation a number that it cannot exceed.
    pub improvement_percent: f64,
    /// The objective by part; empty if stopped.
    pub values: Vec<f64>,
    /// The improvement by part, in percent; empty if stopped.
    pub improvements: Vec<f64>,
    /// The job size that fares worst in any part; `None` if stopped or if none can change.
    pub worst: Option<WorstClass>,
    /// By how many percent the constraints are exceeded at most; 0 if all hold.
    pub excess_percent: f64,
    /// Decisions replayed.
    pub decisions: u64,
}

impl Evaluation {
    /// Whether all constraints hold; unknown, and `true`, if stopped.
    pub fn is_feasible(&self) -> bool {
        self.excess_percent == 0.0
    }
}

impl Problem {
    /// A problem on these parts; the allocator is measured without tie-breaking at once,
    /// unless or until the watch's flag is raised.
    ///
    /// # Errors
    /// [`SearchError`] if the allocator takes no vector or has one already, does not work
    /// on a machine, or leaves nothing to improve, or if a constraint is about no job size;
    /// or if stopped.
    pub fn new(
        parts: Vec<Part>,
        allocator: AllocatorSpec,
        objective: Objective,
        constraints: Vec<Constraint>,
        watch: RunContext<'_>,
    ) -> Result<Self, SearchError> {
        if !allocator.takes_tie() || allocator.tie().is_some() {
            return Err(SearchError::NoTie(allocator.to_string()));
        }
        let needs = constraints.iter().map(Constraint::needs).chain([objective.sought.needs]).max();
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
            let about = |(part, tally): (&Part, &Tally)| {
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
        let measure = |part: &Part| part.measure(&self.allocator, self.needs, limit, watch);
        let measured: Vec<_> = self.parts.par_iter().map(measure).collect();
        measured.into_iter().collect()
    }

    /// How many candidates are best evaluated together.
    pub fn at_once(&self) -> usize {
        self.parts.iter().map(|part| batched_run::at_once(&part.trace.topology)).min().unwrap_or(1)
    }

    /// The names of its traces, joined by `+`.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.traces().map(|copies| copies[0].name.as_str()).collect();
        names.join("+")
    }

    /// Its parts by trace.
    pub fn traces(&self) -> impl Iterator<Item = &[Part]> {
        self.parts.chunk_by(|part, next| next.follows(part))
    }

    /// What decides all evaluations: a digest of the jobs, when they start, machines, the strategy,
    /// what is wanted and what must not happen. Names do not count.
    pub fn identity(&self) -> String {
        let mut text = format!("replay search {FORMAT}\n{}\n", self.allocator.identity());
        let constraints = self.constraints.iter().map(ToString::to_string);
        let parts = self.parts.iter().map(Part::identity);
        for line in [self.objective.to_string()].into_iter().chain(constraints).chain(parts) {
            text.push_str(&line);
            text.push('\n');
        }
        text_digest(&text)
    }

    /// Parts of each trace: its shaken copies, or 1 for the trace itself.
    pub fn copies(&self) -> usize {
        self.traces().next().map_or(1, <[Part]>::len)
    }

    /// The objective without tie-breaking, by part.
    pub fn baseline_values(&self) -> Vec<f64> {
        let parts = self.parts.iter().zip(&self.baselines);
        parts
            .map(|(part, tally)| tally.objective(&self.objective, part.schedule_metrics()))
            .collect()
    }

    /// Decisions of a whole evaluation.
    pub fn decisions(&self) -> u64 {
        self.parts.iter().map(|part| part.decisions() as u64).sum()
    }

    /// Evaluates a candidate. With a `bar`, the evaluation is stopped as soon as its improvement is certain to be below it, in percent; this takes
    /// an objective that only grows, otherwise the bar is ignored.
    ///
    /// # Errors
    /// [`SearchError`] as in [`Part::measure`].
    pub fn evaluate(
        &self,
        candidate: Candidate,
        bar: Option<f64>,
        watch: RunContext<'_>,
    ) -> Result<Evaluation, SearchError> {
        let mut one = self.evaluate_all(&[candidate], bar, watch)?;
        one.pop().ok_or(SearchError::Cancelled(Cancelled))
    }

    /// [`evaluate`](Self::evaluate) for several candidates, which are replayed as one as far as they
    /// choose the same; what comes out is the same as of each alone.
    ///
    /// # Errors
    /// [`SearchError`] as in [`Part::measure_all`].
    pub fn evaluate_all(
        &self,
        candidates: &[Candidate],
        bar: Option<f64>,
        watch: RunContext<'_>,
    ) -> Result<Vec<Evaluation>, SearchError> {
        let bar = bar.filter(|_| self.objective.only_grows());
        let begun = |candidate: &Candidate| self.begin(candidate.reduced(), bar);
        let mut courses: Vec<CandidateProgress> =
            candidates.iter().map(begun).collect::<Result<_, _>>()?;
        let of = self.decisions() as usize;
        for (number, (part, baseline)) in self.parts.iter().zip(&self.baselines).enumerate() {
            let open: Vec<usize> = (0..courses.len())
                .filter(|&at| courses[at].evaluation.extent != Extent::Stopped)
                .collect();
            let run = |&at: &usize| {
                let CandidateProgress { allocator, improvements, .. } = &courses[at];
                let most = bar.map(|bar| {
                    let others = improvements.iter().sum::<f64>() - improvements[number];
                    self.most_sum(baseline, bar * improvements.len() as f64 - others)
                });
                (allocator.clone(), ReplayLimit { most, of })
            };
            let runs: Vec<_> = open.iter().map(run).collect();
            let tallies = part.measure_all(&runs, self.needs, watch)?;
            for (at, tally) in open.into_iter().zip(tallies) {
                self.go_on(&mut courses[at], number, tally, baseline, bar);
            }
        }
        Ok(courses.into_iter().map(CandidateProgress::end).collect())
    }

    /// Nothing of a candidate is replayed yet.
    fn begin(
        &self,
        candidate: Candidate,
        bar: Option<f64>,
    ) -> Result<CandidateProgress, SearchError> {
        let most = |part| match bar {
            Some(_) => self.most_improvement(part),
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

    /// Takes in what a candidate came to on a part.
    fn go_on(
        &self,
        course: &mut CandidateProgress,
        number: usize,
        tally: Tally,
        baseline: &Tally,
        bar: Option<f64>,
    ) {
        let CandidateProgress { evaluation, improvements, copies, .. } = course;
        let part = &self.parts[number];
        evaluation.decisions += tally.decisions as u64;
        if tally.decisions < baseline.decisions {
            evaluation.extent = Extent::Stopped;
            evaluation.improvement_percent = bar.unwrap_or(0.0);
            evaluation.values.clear();
            evaluation.worst = None;
            evaluation.excess_percent = 0.0;
            return;
        }
        let value = tally.objective(&self.objective, part.schedule_metrics());
        let before = baseline.objective(&self.objective, part.schedule_metrics());
        evaluation.values.push(value);
        improvements[number] = improvement_percent(self.objective.goal, before, value);
        // What is said of job sizes is said of all copies of a trace together.
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
            false => self.take(evaluation, number, &all, &before),
        }
    }

    /// Notes what job sizes and constraints of one trace came to; `number` is that of its last part.
    fn take(&self, evaluation: &mut Evaluation, number: usize, tally: &Tally, baseline: &Tally) {
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

    /// The improvement that a part cannot exceed, in percent.
    fn most_improvement(&self, part: usize) -> f64 {
        let baseline = &self.baselines[part];
        let floor = self.parts[part].floor() as f64;
        100.0 * (1.0 - floor / baseline.weighted_sum(&self.objective.weights) as f64)
    }

    /// The largest weighted sum whose improvement on the baseline is not certain to be
    /// below `percent`; rounding is on the safe side.
    fn most_sum(&self, baseline: &Tally, percent: f64) -> u128 {
        let sum = baseline.weighted_sum(&self.objective.weights) as f64;
        ((sum * (1.0 - percent / 100.0)) * (1.0 + 1e-12) + 1.0).max(0.0) as u128
    }
}

/// A candidate on its way through the parts.
struct CandidateProgress {
    allocator: AllocatorSpec,
    evaluation: Evaluation,
    /// By part: the most it can still improve, or what it has come to, in percent.
    improvements: Vec<f64>,
    /// Copies of one trace so far, and what they are measured against.
    copies: Option<(Tally, Tally)>,
}

impl CandidateProgress {
    /// The parts are through.
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
