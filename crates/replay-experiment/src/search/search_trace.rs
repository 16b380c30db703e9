use std::sync::Arc;

use super::SearchError;
use super::column::Needs;
use super::lower_bound::least_pairwise_l1;
use super::objective::Objective;
use super::tally::{ClassSum, Tally};
use crate::cell::Schedule;
use crate::sweep::PlannedTrace;
use crate::{Measure, ProgressMeter, RunContext, Trace};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Batch, BatchPlacement};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::measure::{Placed, Scope};
use replay_engine::metrics::{Locality, Measures, ScheduleMetrics};
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Decision, Event, Observer, SimulationError, Starts};
use replay_engine::workload::JobId;

/// A trace of a search. The trace is scheduled once, and every evaluation replays its timeline.
#[derive(Clone, Debug)]
pub struct SearchTrace {
    /// Name of the trace in tables.
    pub name: String,
    /// Jobs and machine.
    pub trace: Arc<Trace>,
    schedule: Schedule,
    /// Canonical name of the scheduler.
    scheduler: String,
    /// Weight of a job, indexed by job size.
    weights: Vec<u64>,
    /// Lower bound of the contribution of the remaining jobs to the weighted sum, indexed by the number of decisions
    /// made.
    lower_bounds: Vec<u128>,
}

/// Limit at which a replay may stop early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayLimit {
    /// Weighted pairwise L1 sum above which the replay may stop. Only monotonic objectives have this limit.
    pub most: Option<u128>,
    /// Number of decisions of the whole evaluation, over all its replays; used to estimate the remaining time.
    pub of: usize,
}

impl SearchTrace {
    /// Creates a trace of a search and schedules it, unless cancelled through `stop`.
    ///
    /// # Errors
    /// [`SearchError::Simulation`] if a job does not fit the machine; [`SearchError::Cancelled`] if cancelled.
    pub fn new(
        name: String,
        trace: Arc<Trace>,
        scheduler: &SchedulerSpec,
        objective: &Objective,
        stop: &CancelToken,
    ) -> Result<Self, SearchError> {
        let schedule =
            trace.schedule(scheduler, stop).map_err(|cause| failed(&name, cause.into()))?;
        let jobs = &trace.workload.jobs;
        let largest = jobs.iter().map(|job| job.size).max().unwrap_or(0);
        let weights: Vec<u64> = (0..=largest).map(|size| objective.weights.of(size)).collect();
        let least = least_pairwise_l1(&trace.topology);
        let mut lower_bounds = vec![0];
        let mut rest = 0;
        for event in schedule.timeline.events().iter().rev() {
            if let Event::Start(id) = event {
                let size = jobs[id.index()].size;
                let points = trace.topology.points(size);
                rest += u128::from(weights[size as usize]) * u128::from(least[points as usize]);
                lower_bounds.push(rest);
            }
        }
        lower_bounds.reverse();
        Ok(Self { name, trace, schedule, scheduler: scheduler.to_string(), weights, lower_bounds })
    }

    /// Returns whether this trace and `other` are perturbed copies of the same trace, and this trace is the next copy
    /// after `other`.
    pub fn follows(&self, other: &Self) -> bool {
        other.trace.copy > 0 && self.trace.copy == other.trace.copy + 1 && self.name == other.name
    }

    /// Returns the number of decisions of a whole replay.
    pub fn decisions(&self) -> usize {
        self.lower_bounds.len() - 1
    }

    /// Returns a line of text with everything, except the strategy, that determines the replays of this trace. The name
    /// is ignored.
    pub fn identity(&self) -> String {
        let PlannedTrace { jobs_digest, starts_digest, topology, .. } =
            PlannedTrace::new(&self.trace);
        let starts = starts_digest.unwrap_or_default();
        format!("{jobs_digest} {starts} {topology} {}", self.scheduler)
    }

    /// Returns the metrics that depend only on the schedule.
    pub fn schedule_metrics(&self) -> &ScheduleMetrics {
        &self.schedule.metrics
    }

    /// Returns a lower bound of the weighted sum over all jobs.
    pub fn lower_bound(&self) -> u128 {
        self.lower_bounds[0]
    }

    /// Replays the timeline with several allocators. If a tally contains fewer decisions than the trace, its replay has
    /// stopped because the sum exceeded [`ReplayLimit::most`].
    ///
    /// # Errors
    /// [`SearchError`] if a strategy does not support the machine or refuses a job, or if cancelled.
    pub fn measure_all(
        &self,
        runs: &[(AllocatorSpec, ReplayLimit)],
        needs: Needs,
        watch: RunContext<'_>,
    ) -> Result<Vec<Tally>, SearchError> {
        let specs = runs.iter().map(|(spec, _)| spec);
        let batch = AllocatorSpec::batch(specs, &self.trace.topology);
        match batch.filter(|_| needs == Needs::Pairwise) {
            Some(batch) => self.measure_in_lockstep(batch, runs, watch),
            None => runs.iter().map(|run| self.measure(&run.0, needs, run.1, watch)).collect(),
        }
    }

    /// Replays the timeline in lockstep, as [`measure_all`](Self::measure_all) does, and measures only pairwise L1.
    fn measure_in_lockstep(
        &self,
        mut batch: Box<dyn Batch>,
        runs: &[(AllocatorSpec, ReplayLimit)],
        watch: RunContext<'_>,
    ) -> Result<Vec<Tally>, SearchError> {
        let jobs = &self.trace.workload.jobs;
        let of = runs.iter().map(|(_, limit)| limit.of).sum();
        let mut meter = ProgressMeter::new(watch, of).counted();
        let mut tallies = Tallies::new(self, runs);
        let mut observe = |job: JobId, placed: BatchPlacement<'_>| {
            let size = jobs[job.index()].size;
            placed.configs.iter().for_each(|_| meter.started());
            tallies.add(self, job, size, placed.pairwise_l1, placed.configs);
        };
        let simulation = self.trace.simulation(watch.stop);
        simulation
            .lockstep(&self.schedule.timeline, batch.as_mut(), &mut observe)
            .map_err(|cause| failed(&self.name, cause))?;
        Ok(tallies.done(self))
    }

    /// Replays the timeline with one allocator as [`measure_all`](Self::measure_all) does.
    ///
    /// # Errors
    /// [`SearchError`] as for [`measure_all`](Self::measure_all).
    pub fn measure(
        &self,
        allocator: &AllocatorSpec,
        needs: Needs,
        limit: ReplayLimit,
        watch: RunContext<'_>,
    ) -> Result<Tally, SearchError> {
        let topology = &self.trace.topology;
        let mut allocator = allocator.build(topology, 0)?;
        let mut replay = Replay {
            part: self,
            needs,
            locality: Locality::new(topology),
            meter: ProgressMeter::new(watch, limit.of).counted(),
            sum: RunningSum::new(self, needs, limit),
            continues: true,
        };
        let simulation = self.trace.simulation(watch.stop).counting_ties(needs >= Needs::Ties);
        simulation
            .run(Starts::Timeline(&self.schedule.timeline), allocator.as_mut(), &mut replay)
            .map_err(|cause| failed(&self.name, cause))?;
        Ok(replay.sum.tally)
    }
}

fn failed(part: &str, cause: SimulationError) -> SearchError {
    match cause {
        SimulationError::Cancelled(stopped) => stopped.into(),
        cause => SearchError::Simulation { part: part.to_string(), cause },
    }
}

/// Measures the decisions of one replay until its sum exceeds the limit.
struct Replay<'a> {
    part: &'a SearchTrace,
    needs: Needs,
    locality: Locality,
    meter: ProgressMeter<'a>,
    sum: RunningSum,
    continues: bool,
}

impl Observer for Replay<'_> {
    fn started(&mut self, Decision { job, nodes, tied, .. }: Decision<'_>) {
        self.meter.started();
        let Trace { workload, topology, .. } = self.part.trace.as_ref();
        let size = workload.jobs[job.index()].size;
        let placement = (self.needs >= Needs::Placements)
            .then(|| self.locality.placement(nodes, topology.points(size)));
        let pairwise_l1 = match &placement {
            Some(placement) => placement.pairwise_l1,
            None => self.locality.pairwise_l1(nodes),
        };
        let placed = Placed { size, pairwise_l1, placement: placement.as_ref(), tied };
        self.sum.tally.measures.placed(&placed);
        self.continues = self.sum.add(self.part, size, pairwise_l1);
    }

    fn is_done(&self) -> bool {
        !self.continues
    }
}

/// Sums of one replay so far.
#[derive(Debug)]
struct RunningSum {
    tally: Tally,
    weighted: u128,
    limit: ReplayLimit,
}

impl RunningSum {
    fn new(part: &SearchTrace, needs: Needs, limit: ReplayLimit) -> Self {
        let classes = vec![ClassSum::default(); part.weights.len()];
        let measure = Measure { placements: needs >= Needs::Placements, ..Measure::default() };
        let measures = Measures::new(&measure.setup(&part.trace, Scope::Allocations));
        Self { tally: Tally { classes, measures, ..Tally::default() }, weighted: 0, limit }
    }

    /// Adds a decision. Returns whether the replay must continue.
    #[inline]
    fn add(&mut self, part: &SearchTrace, size: u32, pairwise_l1: u64) -> bool {
        let Self { tally, weighted, limit } = self;
        let class = &mut tally.classes[size as usize];
        class.jobs += 1;
        class.pairwise_l1 += pairwise_l1;
        tally.decisions += 1;
        *weighted += u128::from(part.weights[size as usize]) * u128::from(pairwise_l1);
        let least = *weighted + part.lower_bounds[tally.decisions];
        limit.most.is_none_or(|most| least <= most)
    }
}

/// Sums for many configurations whose replays run in lockstep.
struct Tallies<'a> {
    runs: &'a [(AllocatorSpec, ReplayLimit)],
    /// Pairwise L1 sums, indexed by job size and then by configuration.
    pairwise_l1: Vec<u64>,
    /// Weighted sum of each configuration that has a limit.
    weighted: Vec<u128>,
    /// Number of decisions made so far.
    made: usize,
    /// For each configuration, the number of decisions after which its replay stopped; `None` if the replay has not
    /// stopped.
    ended: Vec<Option<usize>>,
    latest: Option<JobId>,
}

impl<'a> Tallies<'a> {
    fn new(part: &SearchTrace, runs: &'a [(AllocatorSpec, ReplayLimit)]) -> Self {
        Self {
            runs,
            pairwise_l1: vec![0; part.weights.len() * runs.len()],
            weighted: vec![0; runs.len()],
            made: 0,
            ended: vec![None; runs.len()],
            latest: None,
        }
    }

    /// Adds the next decision of the configurations in `configs`. If the replay of a configuration stops, the
    /// configuration is removed from `configs`.
    fn add(
        &mut self,
        part: &SearchTrace,
        job: JobId,
        size: u32,
        pairwise_l1: u64,
        configs: &mut Vec<u32>,
    ) {
        if self.latest != Some(job) {
            (self.latest, self.made) = (Some(job), self.made + 1);
        }
        let Self { runs, pairwise_l1: sums, weighted, made, ended, .. } = self;
        let sums = &mut sums[size as usize * runs.len()..][..runs.len()];
        let more = u128::from(part.weights[size as usize]) * u128::from(pairwise_l1);
        configs.retain(|&config| {
            let config = config as usize;
            sums[config] += pairwise_l1;
            let continues = runs[config].1.most.is_none_or(|most| {
                weighted[config] += more;
                weighted[config] + part.lower_bounds[*made] <= most
            });
            if !continues {
                ended[config] = Some(*made);
            }
            continues
        });
    }

    /// Tally of each configuration.
    fn done(self, part: &SearchTrace) -> Vec<Tally> {
        let jobs = &part.trace.workload.jobs;
        let mut counted = (0, vec![0; part.weights.len()]);
        let mut tally = |config: usize| {
            let decisions = self.ended[config].unwrap_or(self.made);
            if counted.0 != decisions {
                counted = (decisions, vec![0; part.weights.len()]);
                let started = |event: &Event| match *event {
                    Event::Start(id) => Some(jobs[id.index()].size as usize),
                    Event::End(_) => None,
                };
                let sizes = part.schedule.timeline.events().iter().filter_map(started);
                sizes.take(decisions).for_each(|size| counted.1[size] += 1);
            }
            let class = |(size, &jobs): (usize, &u64)| ClassSum {
                jobs,
                pairwise_l1: self.pairwise_l1[size * self.runs.len() + config],
            };
            let classes = counted.1.iter().enumerate().map(class).collect();
            Tally { classes, decisions, ..Tally::default() }
        };
        (0..self.runs.len()).map(&mut tally).collect()
    }
}
