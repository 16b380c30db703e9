//! Utilization of a torus under a rule that selects boxes for jobs, with a backlog of jobs that is never empty.
//!
//! A stream of jobs waits for the machine. Each job has a size from a mix and a service time. The first W waiting jobs
//! form a window, which is refilled immediately when a job starts. At the beginning and after every completion, the
//! window is scanned in order. The first job for which there is a placement starts, and the scan restarts from the
//! first waiting job; scanning ends when no job can start. A window of W = 1 corresponds to first come, first served.
//! The run ends when the stream has too few jobs to refill the window. *Utilization* is the integral of the number of
//! busy processors from time 0 to the last processed completion, divided by the number of processors and by the length
//! of this interval. All rules are applied to the same jobs (common random numbers), so that the rules can be compared
//! seed by seed.
//!
//! Streams are synthetic: sizes and service times are independent, except in mixes that define a dependence. The
//! optical switches of real TPU pods, which can connect arbitrary blocks to a box, are not modelled.

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

use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::metrics::estimate::{Accumulator, StopRule, replicate};
use replay_engine::table::{Column, Table, names};
use replay_engine::topology::Topology;
use replay_experiment::compatibility::{Incompatible, require_one_processor_per_point};
use replay_experiment::journal::CellId;
use replay_experiment::stream::{PointError, SampleError};
use replay_experiment::{ProgressMeter, RunContext};
use replay_slurm::placement::decide::{Decider, Pick};
use replay_slurm::placement::menu::{Anchors, Menu};
use replay_slurm::placement::ties::{CandidateFilter, TermWeights, TieQuery, Ties};
use replay_slurm::placement::{Layout, Torus};
use replay_slurm::torus3d::tuned::{DEFAULT_TUNING, Tuner};

/// Number of integer time units in one mean service time.
const UNITS: f64 = 1e6;

/// Seed of the hypothetical machines on which the self-tuning rule compares rules. All streams use the same seed,
/// because the streams already differ.
const TUNER_SEED: u64 = 0;

/// Confidence level of intervals.
const CONFIDENCE: f64 = 0.95;

/// A permanent backlog of jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backlog {
    /// Distribution of job sizes.
    pub mix: Mix,
    /// Kind of estimates of service times.
    pub estimates: Estimates,
    /// Length of the window: the number of waiting jobs, counted from the first, that may start.
    pub window: usize,
    /// Number of jobs per stream.
    pub jobs: usize,
}

impl fmt::Display for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mix, estimates, window, jobs: _ } = self;
        write!(f, "{} {} backlog {window}", mix.name(), estimates.name())
    }
}

/// A backlog under a placement rule. The run is replicated with several seeds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    /// The jobs.
    pub backlog: Backlog,
    /// Placement rule.
    pub rule: Rule,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.backlog, self.rule.name())
    }
}

/// The utilization of a torus in each replication of a setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Busy {
    /// Utilization in each replication, from 0 to 1.
    pub shares: Vec<f64>,
    /// Whether the mean meets the stop rule.
    pub met: bool,
}

impl Setting {
    /// Id of the replications. Different settings, tori (`boxes`), seeds and stop rules have different ids.
    pub fn id(&self, boxes: &str, seed: u64, rule: &StopRule) -> CellId {
        let StopRule { relative, confidence, minimum, maximum } = rule;
        CellId::of(&format!(
            "replay backlog 1\n{boxes}\n{self}\n{}\n{seed}\n{relative} {confidence} {minimum} {maximum}\n",
            self.backlog.jobs
        ))
    }

    /// Replicates the setting on the current rayon pool until the mean utilization meets the stop rule.
    ///
    /// # Errors
    /// [`PointError`] if a replication fails.
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
            let jobs = mix.draw(bench.torus(), count, estimates, seed.wrapping_add(replication))?;
            let share = bench.run(&jobs, of, window, watch)?;
            if share.is_finite() { Ok([share]) } else { Err(SampleError::Drained) }
        };
        let runs = replicate(rule, &[0], run)?;
        Ok(Busy { shares: runs.samples.into_iter().flatten().collect(), met: runs.met })
    }
}

/// A torus prepared for runs.
#[derive(Clone, Debug)]
pub struct Bench {
    ties: Ties,
    layout: Arc<Layout>,
    decider: Decider,
}

impl Bench {
    /// Creates an idle torus: a machine with the boxes of a menu at the permitted `anchors`. If `turned`, a box may have
    /// any orientation.
    ///
    /// # Errors
    /// [`Incompatible`] if the machine is not a torus or mesh with one processor per point, or if no box of the menu
    /// fits.
    pub fn new(
        machine: &Topology,
        menu: &Menu,
        anchors: Anchors,
        turned: bool,
    ) -> Result<Self, Incompatible> {
        require_one_processor_per_point([machine])?;
        let Some(grid) = machine.grid() else {
            let other = format!("{machine}: is not a torus or mesh");
            return Err(Incompatible::of("machine", other));
        };
        if *menu == Menu::Trace {
            let why = "the menu trace consists of the job sizes of a trace, but a stream has no trace: use another menu, such as pow2, or a list such as list:2x2x1+2x2x2";
            return Err(Incompatible::of("menu", why));
        }
        let torus =
            menu.torus(grid, anchors, turned).map_err(|why| Incompatible::of("menu", why))?;
        let torus = Arc::new(torus);
        let layout = Arc::new(Layout::new([torus.clone()]));
        Ok(Self { decider: Decider::new(&layout), layout, ties: Ties::new(torus) })
    }

    /// The torus.
    pub fn torus(&self) -> &Torus {
        self.ties.torus()
    }

    /// Runs the jobs under a rule and returns the utilization, from 0 to 1; NaN if no job has finished when the stream
    /// ends.
    ///
    /// # Errors
    /// [`Cancelled`] if the context is cancelled.
    pub fn run(
        &self,
        jobs: &[Job],
        rule: Rule,
        window: usize,
        watch: RunContext<'_>,
    ) -> Result<f64, Cancelled> {
        self.decide(jobs, rule, window, watch).map(|(utilization, _)| utilization)
    }

    /// Runs the jobs as [`run`](Self::run) does. Returns the utilization and the number of decisions. Every request for
    /// a placement is a decision, even if no placement is found.
    ///
    /// # Errors
    /// [`Cancelled`] if the context is cancelled.
    pub fn decide(
        &self,
        jobs: &[Job],
        rule: Rule,
        window: usize,
        watch: RunContext<'_>,
    ) -> Result<(f64, u64), Cancelled> {
        let tuner = match rule {
            Rule::Auto => {
                let tuning = DEFAULT_TUNING;
                Some(Tuner::new(&self.ties, self.layout.clone(), None, tuning, TUNER_SEED))
            }
            _ => None,
        };
        let mut run = BacklogRun {
            bench: self.clone(),
            tuner,
            worth: Vec::new(),
            rule,
            jobs,
            next: 0,
            window,
            waiting: VecDeque::with_capacity(window),
            running: BinaryHeap::new(),
            seen_by_placement: vec![0; self.torus().placements().len()],
            all_seen: 0,
            busy: 0,
            processors: self.torus().nodes.len(),
            no_place: Vec::new(),
            decisions: 0,
            never_raised: CancelToken::new(),
            meter: ProgressMeter::new(watch, jobs.len()).counted(),
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

/// The end of a running job. Times are nonnegative, so the order of their bit patterns is the order of the times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: u64,
    job: usize,
    place: Option<[usize; 2]>,
}

struct BacklogRun<'a> {
    bench: Bench,
    rule: Rule,
    tuner: Option<Tuner>,
    /// For each placement, the value that a free box of this placement has in the current decision.
    worth: Vec<u64>,
    jobs: &'a [Job],
    next: usize,
    window: usize,
    waiting: VecDeque<usize>,
    running: BinaryHeap<Reverse<End>>,
    /// For each placement, the number of jobs with its size that have entered the window.
    seen_by_placement: Vec<u64>,
    /// Number of all jobs that have entered the window.
    all_seen: u64,
    busy: u32,
    processors: u32,
    /// Job sizes for which there is no placement in the current state of the machine.
    no_place: Vec<u32>,
    decisions: u64,
    /// A token that is never raised, because cancellation is checked between decisions.
    never_raised: CancelToken,
    meter: ProgressMeter<'a>,
}

impl BacklogRun<'_> {
    /// Fills the window. Returns `false` if the stream has ended.
    fn refill(&mut self) -> bool {
        while self.waiting.len() < self.window {
            let Some(job) = self.jobs.get(self.next) else { return false };
            self.waiting.push_back(self.next);
            self.next += 1;
            self.all_seen += 1;
            let placements = self.bench.ties.torus().placements().iter();
            let of_size =
                placements.zip(&mut self.seen_by_placement).filter(|(one, _)| one.size == job.size);
            of_size.for_each(|(_, seen_by_placement)| *seen_by_placement += 1);
        }
        true
    }

    /// Starts all jobs in the window that get a placement. Returns `false` if the stream has ended.
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

    /// Returns the placement for a job. `None` means that the job cannot start. `Some(None)` means that the job can
    /// start and needs no placement, because the rule considers only the number of processors.
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
        let placements = self.bench.ties.torus().placements().iter().zip(&self.seen_by_placement);
        self.worth.clear();
        self.worth.extend(placements.map(|(one, seen_by_placement)| {
            u64::from(one.size) * (1000 * seen_by_placement / all)
        }));
        let Self { bench: Bench { ties, layout, decider }, tuner, worth, rule, .. } = self;
        let placement_query = placement_query(job, worth, now);
        match (rule, tuner) {
            (Rule::Selection(selection), _) => {
                picked(selection.place(layout, decider, ties, &placement_query))
            }
            (_, Some(tuner)) => {
                tuner.advance_to(placement_query.now);
                let pick = tuner.place(ties, &placement_query);
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
            let placement_query = placement_query(&self.jobs[job], &self.worth, now);
            tuner.start(job as u64, &placement_query, end, &self.never_raised);
        }
        if let Some(place) = place {
            self.bench.ties.start(place, end, true);
        }
        self.meter.started();
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

/// Creates the placement query of a job. The query does not depend on the rule.
fn placement_query<'a>(job: &Job, worth: &'a [u64], now: f64) -> TieQuery<'a> {
    let (weights, filter) = (TermWeights::default(), CandidateFilter::All);
    let (now, estimate) = (units(now), units(job.estimate).max(1));
    TieQuery { size: job.size, weights, filter, worth, now, estimate, has_estimate: true }
}

fn units(time: f64) -> u64 {
    (time * UNITS).round() as u64
}

/// Utilization of a setting over its replications.
#[derive(Clone, Debug)]
pub struct Outcome {
    setting: Setting,
    /// Utilization in percent.
    utilization: Accumulator,
    /// Utilization in each replication minus the utilization under Slurm's rule on the same jobs, in percentage points.
    gain: Accumulator,
}

impl Outcome {
    names! {
        ESTIMATES = "estimates",
        GAIN_ON_SLURM = "gain_on_slurm",
        GAIN_ON_SLURM_HALF_WIDTH = "gain_on_slurm_half_width",
        MIX = "mix",
        RULE = "rule",
        SATURATED_UTILIZATION = "saturated_utilization",
        SATURATED_UTILIZATION_HALF_WIDTH = "saturated_utilization_half_width",
        STREAM_JOBS = "stream_jobs",
        STREAMS = "streams",
        WINDOW = "window",
    }

    /// Creates the outcome of a setting. If `slurm` is given, the outcome is compared with Slurm's rule on the same
    /// jobs.
    pub fn new(setting: Setting, busy: &Busy, slurm: Option<&Busy>) -> Self {
        let (utilization, base) = (percent(&busy.shares), slurm.map_or(&[][..], |one| &one.shares));
        Self { setting, utilization, gain: gain(&busy.shares, base) }
    }
}

/// Converts shares to percent.
fn percent(shares: &[f64]) -> Accumulator {
    shares.iter().map(|share| 100.0 * share).collect()
}

/// Returns, for each replication, the utilization in `shares` minus the utilization in `base`, in percentage points.
fn gain(shares: &[f64], base: &[f64]) -> Accumulator {
    shares.iter().zip(base).map(|(share, base)| 100.0 * (share - base)).collect()
}

impl Table for Outcome {
    const NAME: &'static str = "saturated";
    const ROW: &'static str = "one row per mix, estimates, window and placement rule";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        let of = |of: fn(&Self) -> &Accumulator| move |row: &Self| of(row).estimate(CONFIDENCE);
        let (utilization, gain) = (of(|row| &row.utilization), of(|row| &row.gain));
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        vec![
            Column::text(Outcome::MIX, "sizes of the jobs", |row: &Self| Some(row.setting.backlog.mix.name())),
            Column::text(Outcome::ESTIMATES, "kind of estimates of service times", |row: &Self| Some(row.setting.backlog.estimates.name())),
            Column::new(Outcome::WINDOW, "jobs", "number of waiting jobs that may start, including the first", |row: &Self| row.setting.backlog.window as u32),
            Column::text(Outcome::RULE, "placement rule", |row: &Self| Some(row.setting.rule.name())),
            Column::new(Outcome::STREAM_JOBS, "jobs", "number of jobs per stream", |row: &Self| row.setting.backlog.jobs as u32),
            Column::new(Outcome::STREAMS, "", "number of streams, each with its own seed", |row: &Self| row.utilization.count() as u32),
            Column::new(Outcome::SATURATED_UTILIZATION, "%", "utilization: share of busy processors, averaged over time and streams", move |row| finite(utilization(row).mean)),
            Column::new(Outcome::SATURATED_UTILIZATION_HALF_WIDTH, "%", "half the width of the 95 % interval of saturated_utilization over streams", move |row| finite(utilization(row).half_width)),
            Column::new(Outcome::GAIN_ON_SLURM, "%", "saturated_utilization minus the saturated_utilization of the rule slurm on the same streams, in percentage points; null for the rule slurm", move |row| finite(gain(row).mean)),
            Column::new(Outcome::GAIN_ON_SLURM_HALF_WIDTH, "%", "half the width of the 95 % interval of gain_on_slurm over streams", move |row| finite(gain(row).half_width)),
        ]
    }
}

#[cfg(test)]
mod tests;
