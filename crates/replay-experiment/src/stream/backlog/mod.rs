//! A backlog that never empties: how much of a torus of boxes a rule of placement keeps busy.
//!
//! There is always work. A stream of jobs, each a size from a mix and a service time, stands before
//! the machine; the first W of it wait, and the window is refilled at once. At the beginning and after
//! every completion the window is scanned in order, the first job that gets a place starts, and the
//! scan begins again; it stops when none starts. W = 1 is first come, first served. The run ends when
//! the stream can no longer refill the window. *Utilization* is the busy processors integrated from 0
//! to the last completion handled, over all processors and that time. The same jobs serve every rule
//! (common random numbers), so that rules are compared seed by seed.
//!
//! A synthetic stream: sizes and service times are independent but where the mix says otherwise, and
//! the boxes of a real TPU pod are wired freely by optical switches, which is not modelled.

mod mix;
mod rule;
mod search;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::sync::Arc;

pub use mix::{Job, Mix};
pub use rule::{Estimates, Rule};
pub use search::{Best, Found};

use serde::{Deserialize, Serialize};

use super::{PointError, SampleError};
use crate::journal::CellId;
use crate::{ProgressMeter, RunContext};
use replay_core::allocator::torus3d::tuned::{Tuner, Tuning};
use replay_core::cancel::{CancelToken, Cancelled};
use replay_core::metrics::estimate::{Accumulator, StopRule, replicate};
use replay_core::placement::decide::{Decider, Pick};
use replay_core::placement::ties::{CandidateFilter, TermWeights, TieQuery, Ties};
use replay_core::placement::{Layout, Torus};
use replay_core::table::{Column, Table, name};

/// Estimates are whole units of this part of the mean service time.
const UNITS: f64 = 1e6;

/// Which machines are beside the real one is drawn from it. Streams differ, so that it need not.
const TUNER_SEED: u64 = 0;

/// Confidence of intervals.
const CONFIDENCE: f64 = 0.95;

/// Jobs of which some wait at any time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backlog {
    /// The sizes.
    pub mix: Mix,
    /// What jobs say of their service time.
    pub estimates: Estimates,
    /// Waiting jobs that may start, the first included.
    pub window: usize,
    /// Jobs of a stream.
    pub jobs: usize,
}

impl fmt::Display for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mix, estimates, window, jobs: _ } = self;
        write!(f, "{} {} backlog {window}", mix.name(), estimates.name())
    }
}

/// A backlog under a rule of placement, which is replicated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    /// The jobs.
    pub backlog: Backlog,
    /// How places are chosen.
    pub rule: Rule,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.backlog, self.rule.name())
    }
}

/// The share of a torus that is busy in each replication of a setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Busy {
    /// By replication, from 0 to 1.
    pub shares: Vec<f64>,
    /// Whether their mean meets the stop rule.
    pub met: bool,
}

impl Setting {
    /// Identifies its replications among those of other settings, tori (`boxes`), seeds and stop rules.
    pub fn id(&self, boxes: &str, seed: u64, rule: &StopRule) -> CellId {
        let StopRule { relative, confidence, minimum, maximum } = rule;
        CellId::of(&format!(
            "replay backlog 1\n{boxes}\n{self}\n{}\n{seed}\n{relative} {confidence} {minimum} {maximum}\n",
            self.backlog.jobs
        ))
    }

    /// Replicates it on the current rayon pool until the mean share meets the rule.
    ///
    /// # Errors
    /// [`PointError`].
    pub fn estimate(
        &self,
        bench: &Bench,
        seed: u64,
        rule: &StopRule,
        watch: RunContext<'_>,
    ) -> Result<Busy, PointError> {
        let Self { backlog: Backlog { mix, estimates, window, jobs: count }, rule: of } = *self;
        let run = |replication: u64| -> Result<[f64; 1], SampleError> {
            watch.stop.check()?;
            let jobs = mix.draw(bench.torus(), count, estimates, seed.wrapping_add(replication));
            let share = bench.run(&jobs.unwrap_or_default(), of, window, watch)?;
            if share.is_finite() { Ok([share]) } else { Err(SampleError::Drained) }
        };
        let runs = replicate(rule, &[0], run)?;
        Ok(Busy { shares: runs.samples.into_iter().flatten().collect(), met: runs.met })
    }
}

/// A torus ready for runs.
#[derive(Clone, Debug)]
pub struct Bench {
    ties: Ties,
    layout: Arc<Layout>,
    decider: Decider,
}

impl Bench {
    /// An idle torus.
    pub fn new(torus: Torus) -> Self {
        let torus = Arc::new(torus);
        let layout = Arc::new(Layout::new([torus.clone()]));
        Self { decider: Decider::new(&layout), layout, ties: Ties::new(torus) }
    }

    /// The torus.
    pub fn torus(&self) -> &Torus {
        self.ties.torus()
    }

    /// The utilization, 0 to 1, of these jobs under a rule; NaN if none was over when the stream was at
    /// its end.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn run(
        &self,
        jobs: &[Job],
        rule: Rule,
        window: usize,
        watch: RunContext<'_>,
    ) -> Result<f64, Cancelled> {
        self.decide(jobs, rule, window, watch).map(|(utilization, _)| utilization)
    }

    /// The same, with the number of decisions: how often the rule was asked for a place, those without
    /// one included.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn decide(
        &self,
        jobs: &[Job],
        rule: Rule,
        window: usize,
        watch: RunContext<'_>,
    ) -> Result<(f64, u64), Cancelled> {
        let tuner = match rule {
            Rule::Auto => {
                let tuning = Tuning::default();
                Some(Tuner::new(&self.ties, self.layout.clone(), None, tuning, TUNER_SEED))
            }
            _ => None,
        };
        let mut run = Run {
            bench: self.clone(),
            tuner,
            worth: Vec::new(),
            rule,
            jobs,
            next: 0,
            window,
            waiting: VecDeque::with_capacity(window),
            running: BinaryHeap::new(),
            seen: vec![0; self.torus().placements().len()],
            all_seen: 0,
            busy: 0,
            processors: self.torus().nodes.len(),
            no_place: Vec::new(),
            decisions: 0,
            never: CancelToken::new(),
            pace: ProgressMeter::new(watch, jobs.len()).counted(),
        };
        let (mut now, mut area) = (0.0, 0.0);
        while run.refill() && run.start(now) {
            watch.stop.check()?;
            let Some(Reverse(end)) = run.running.pop() else { break };
            let at = f64::from_bits(end.at);
            area += f64::from(run.busy) * (at - now);
            now = at;
            run.finish(&end);
        }
        Ok((area / (f64::from(run.processors) * now), run.decisions))
    }
}

/// A job on the machine. Times are not negative, so their bits have their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: u64,
    job: usize,
    place: Option<[usize; 2]>,
}

struct Run<'a> {
    bench: Bench,
    rule: Rule,
    tuner: Option<Tuner>,
    /// By placement: what a free box of it is worth, for the decision at hand.
    worth: Vec<u64>,
    jobs: &'a [Job],
    next: usize,
    window: usize,
    waiting: VecDeque<usize>,
    running: BinaryHeap<Reverse<End>>,
    /// By placement: jobs of its size that have come to the window; and all that have.
    seen: Vec<u64>,
    all_seen: u64,
    busy: u32,
    processors: u32,
    /// Sizes that have no place on the machine as it is.
    no_place: Vec<u32>,
    decisions: u64,
    /// Stops no decision: between two of them somebody looks.
    never: CancelToken,
    pace: ProgressMeter<'a>,
}

impl Run<'_> {
    /// Fills the window; `false` if the stream is at its end.
    fn refill(&mut self) -> bool {
        while self.waiting.len() < self.window {
            let Some(job) = self.jobs.get(self.next) else { return false };
            self.waiting.push_back(self.next);
            self.next += 1;
            self.all_seen += 1;
            let placements = self.bench.ties.torus().placements().iter();
            let of_size = placements.zip(&mut self.seen).filter(|(one, _)| one.size == job.size);
            of_size.for_each(|(_, seen)| *seen += 1);
        }
        true
    }

    /// Starts what gets a place; `false` if the stream came to its end.
    fn start(&mut self, now: f64) -> bool {
        let mut at = 0;
        while let Some(&job) = self.waiting.get(at) {
            let size = self.jobs[job].size;
            let place = match self.no_place.contains(&size) {
                true => None,
                false => self.place(&self.jobs[job], now),
            };
            let Some(place) = place else {
                self.no_place.push(size);
                at += 1;
                continue;
            };
            self.waiting.remove(at);
            self.begin(job, place, now);
            at = 0;
            if !self.refill() {
                return false;
            }
        }
        true
    }

    /// A place for a job; `Some(None)` where only the count matters.
    fn place(&mut self, job: &Job, now: f64) -> Option<Option<[usize; 2]>> {
        self.decisions += 1;
        let picked = |pick: Option<Pick>| pick.map(|pick| Some([pick.placement, pick.anchor]));
        if self.rule == Rule::Count {
            return (self.busy + job.size <= self.processors).then_some(None);
        }
        if self.rule == Rule::First {
            return self.bench.ties.first(job.size).map(Some);
        }
        let all = self.all_seen.max(1);
        let placements = self.bench.ties.torus().placements().iter().zip(&self.seen);
        self.worth.clear();
        self.worth.extend(placements.map(|(one, seen)| u64::from(one.size) * (1000 * seen / all)));
        let Self { bench: Bench { ties, layout, decider }, tuner, worth, rule, .. } = self;
        let question = question(job, worth, now);
        match (rule, tuner) {
            (Rule::SelectionRule(way), _) => picked(way.place(layout, decider, ties, &question)),
            (_, Some(tuner)) => {
                tuner.ask(question.now);
                let pick = tuner.place(ties, &question);
                if pick.is_none() {
                    tuner.refused(job.size);
                }
                picked(pick)
            }
            (_, None) => None,
        }
    }

    fn begin(&mut self, job: usize, place: Option<[usize; 2]>, now: f64) {
        let Job { size, service, estimate } = self.jobs[job];
        let end = units(now + estimate).max(1);
        if let Some(tuner) = &mut self.tuner {
            let question = question(&self.jobs[job], &self.worth, now);
            tuner.start(job as u64, &question, end, &self.never);
        }
        if let Some(place) = place {
            self.bench.ties.start(place, end, true);
        }
        self.pace.started();
        self.busy += size;
        self.running.push(Reverse(End { at: (now + service).to_bits(), job, place }));
    }

    fn finish(&mut self, end: &End) {
        if let Some(place) = end.place {
            self.bench.ties.finish(place);
        }
        if let Some(tuner) = &mut self.tuner {
            tuner.end(end.job as u64);
        }
        self.busy -= self.jobs[end.job].size;
        self.no_place.clear();
    }
}

/// What a job asks, whatever the way.
fn question<'a>(job: &Job, worth: &'a [u64], now: f64) -> TieQuery<'a> {
    let (weights, filter) = (TermWeights::default(), CandidateFilter::All);
    let (now, estimate) = (units(now), units(job.estimate).max(1));
    TieQuery { size: job.size, weights, filter, worth, now, estimate, has_estimate: true }
}

fn units(time: f64) -> u64 {
    (time * UNITS).round() as u64
}

/// The utilization of a setting over its replications.
#[derive(Clone, Debug)]
pub struct Outcome {
    setting: Setting,
    /// In percent.
    utilization: Accumulator,
    /// Minus that of Slurm's rule on the same jobs, in percentage points.
    gain: Accumulator,
}

impl Outcome {
    /// The outcome of a setting beside that of Slurm's rule on the same jobs.
    pub fn new(setting: Setting, busy: &Busy, slurm: Option<&Busy>) -> Self {
        let (utilization, base) = (percent(&busy.shares), slurm.map_or(&[][..], |one| &one.shares));
        Self { setting, utilization, gain: gain(&busy.shares, base) }
    }
}

/// Shares in percent.
fn percent(shares: &[f64]) -> Accumulator {
    shares.iter().map(|share| 100.0 * share).collect()
}

/// Shares minus those of the same replications of another, in percentage points.
fn gain(shares: &[f64], base: &[f64]) -> Accumulator {
    shares.iter().zip(base).map(|(share, base)| 100.0 * (share - base)).collect()
}

impl Table for Outcome {
    const NAME: &'static str = "saturated";
    const ROW: &'static str = "one row per mix, estimates, window and rule of placement";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let of = |of: fn(&Self) -> &Accumulator| move |row: &Self| of(row).estimate(CONFIDENCE);
        let (utilization, gain) = (of(|row| &row.utilization), of(|row| &row.gain));
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        vec![
            Column::text(name::mix, "sizes of the jobs", |row: &Self| Some(row.setting.backlog.mix.name())),
            Column::text(name::estimates, "what jobs say of their service time", |row: &Self| Some(row.setting.backlog.estimates.name())),
            Column::new(name::window, "jobs", "waiting jobs that may start, the first included", |row: &Self| row.setting.backlog.window as u32),
            Column::text(name::rule, "rule of placement", |row: &Self| Some(row.setting.rule.name())),
            Column::new(name::stream_jobs, "jobs", "jobs of each stream", |row: &Self| row.setting.backlog.jobs as u32),
            Column::new(name::streams, "", "streams, each with a seed of its own", |row: &Self| row.utilization.count() as u32),
            Column::new(name::saturated_utilization, "%", "busy processors over all, mean over streams of time means", move |row| finite(utilization(row).mean)),
            Column::new(name::saturated_utilization_half_width, "%", "half of its 95 % interval over streams", move |row| finite(utilization(row).half_width)),
            Column::new(name::gain_on_slurm, "%", "its utilization minus that of slurm on the same streams, in percentage points; null for slurm", move |row| finite(gain(row).mean)),
            Column::new(name::gain_on_slurm_half_width, "%", "half of the 95 % interval of the gain, by streams", move |row| finite(gain(row).half_width)),
        ]
    }
}

#[cfg(test)]
mod tests;
