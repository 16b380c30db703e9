use std::sync::Arc;

use super::SearchError;
use super::column::Needs;
use super::floor::least_pairwise_l1;
use super::objective::Objective;
use super::tally::{ClassSum, Tally};
use crate::batched_run::replayed_as_one;
use crate::cell::Schedule;
use crate::sweep::PlannedTrace;
use crate::{ProgressMeter, RunContext, Trace};
use replay_core::allocator::centre::BatchReplay;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::cancel::CancelToken;
use replay_core::metrics::{Locality, ScheduleMetrics};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Decision, Event, Observer, Placed, SimulationError, Starts};
use replay_core::workload::JobId;

/// One trace of a search, scheduled once; every evaluation replays its timeline.
#[derive(Clone, Debug)]
pub struct Part {
    /// What tables call it.
    pub name: String,
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    schedule: Schedule,
    /// Canonical name of who scheduled it.
    scheduler: String,
    /// Weight by job size.
    weights: Vec<u64>,
    /// By the number of decisions made: what the jobs still to come add to the weighted
    /// sum at least.
    floors: Vec<u128>,
}

/// When a replay may stop early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayLimit {
    /// The weighted pairwise L1 sum above which the replay need not go on; only for objectives
    /// that only grow.
    pub most: Option<u128>,
    /// Decisions of all replays of the evaluation, for the forecast of its duration.
    pub of: usize,
}

impl Part {
    /// Schedules the trace, unless or until `stop` is raised.
    ///
    /// # Errors
    /// [`SearchError::Simulation`] if a job does not fit the machine; [`SearchError::Cancelled`].
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
        let mut floors = vec![0];
        let mut rest = 0;
        for event in schedule.timeline.events().iter().rev() {
            if let Event::Start(id) = event {
                let size = jobs[id.index()].size;
                let points = trace.topology.points(size);
                rest += u128::from(weights[size as usize]) * u128::from(least[points as usize]);
                floors.push(rest);
            }
        }
        floors.reverse();
        Ok(Self { name, trace, schedule, scheduler: scheduler.to_string(), weights, floors })
    }

    /// Whether it is the next shaken copy of the trace that another part is a copy of.
    pub fn follows(&self, other: &Self) -> bool {
        other.trace.copy > 0 && self.trace.copy == other.trace.copy + 1 && self.name == other.name
    }

    /// Decisions of a whole replay.
    pub fn decisions(&self) -> usize {
        self.floors.len() - 1
    }

    /// What decides its replays beside the strategy, in one line. Its name does not count.
    pub fn identity(&self) -> String {
        let PlannedTrace { jobs_digest, starts_digest, topology, .. } =
            PlannedTrace::new(&self.trace);
        let starts = starts_digest.unwrap_or_default();
        format!("{jobs_digest} {starts} {topology} {}", self.scheduler)
    }

    /// What the schedule alone decides.
    pub fn schedule_metrics(&self) -> &ScheduleMetrics {
        &self.schedule.metrics
    }

    /// A lower bound of the weighted sum.
    pub fn floor(&self) -> u128 {
        self.floors[0]
    }

    /// Replays the timeline with allocators. A tally of fewer decisions than the part has exceeded
    /// [`ReplayLimit::most`].
    ///
    /// # Errors
    /// [`SearchError`] if a strategy does not work on the machine or refuses a job, or if
    /// the watch's flag is raised.
    pub fn measure_all(
        &self,
        runs: &[(AllocatorSpec, ReplayLimit)],
        needs: Needs,
        watch: RunContext<'_>,
    ) -> Result<Vec<Tally>, SearchError> {
        let specs = runs.iter().map(|(spec, _)| spec);
        let batch =
            replayed_as_one(specs, &self.trace.topology).filter(|_| needs == Needs::Pairwise);
        match batch {
            Some(batch) => self.measure_together(batch, runs, watch),
            None => runs.iter().map(|run| self.measure(&run.0, needs, run.1, watch)).collect(),
        }
    }

    /// [`measure_all`](Self::measure_all) in lockstep, of pairwise L1 alone.
    fn measure_together(
        &self,
        batch: BatchReplay,
        runs: &[(AllocatorSpec, ReplayLimit)],
        watch: RunContext<'_>,
    ) -> Result<Vec<Tally>, SearchError> {
        let jobs = &self.trace.workload.jobs;
        let of = runs.iter().map(|(_, limit)| limit.of).sum();
        let mut pace = ProgressMeter::new(watch, of).counted();
        let mut tallies = Tallies::new(self, runs);
        let mut observe = |placed: Placed<'_>| {
            let size = jobs[placed.job.index()].size;
            placed.configs.iter().for_each(|_| pace.started());
            tallies.add(self, placed.job, size, placed.pairwise_l1, placed.configs);
        };
        let simulation = self.trace.simulation(watch.stop);
        simulation
            .lockstep(&self.schedule.timeline, batch, &mut observe)
            .map_err(|cause| failed(&self.name, cause))?;
        Ok(tallies.done(self))
    }

    /// Replays the timeline with an allocator, as [`measure_all`](Self::measure_all).
    ///
    /// # Errors
    /// As there.
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
            pace: ProgressMeter::new(watch, limit.of).counted(),
            sum: Sum::new(self, limit),
            goes_on: true,
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

/// Measures the decisions of one replay, until its sum exceeds the limit.
struct Replay<'a> {
    part: &'a Part,
    needs: Needs,
    locality: Locality,
    pace: ProgressMeter<'a>,
    sum: Sum,
    goes_on: bool,
}

impl Observer for Replay<'_> {
    fn started(&mut self, Decision { job, nodes, tied, .. }: Decision<'_>) {
        self.pace.started();
        let Trace { workload, topology, .. } = self.part.trace.as_ref();
        let size = workload.jobs[job.index()].size;
        let pairwise_l1 = if self.needs >= Needs::Placements {
            let placement = self.locality.placement(nodes, topology.points(size));
            self.sum.tally.placements.record(&placement);
            placement.pairwise_l1
        } else {
            self.locality.pairwise_l1(nodes)
        };
        if let Some(sets) = tied {
            self.sum.tally.ties.record(sets);
        }
        self.goes_on = self.sum.add(self.part, size, pairwise_l1);
    }

    fn is_done(&self) -> bool {
        !self.goes_on
    }
}

/// What one replay has come to so far.
#[derive(Debug)]
struct Sum {
    tally: Tally,
    weighted: u128,
    limit: ReplayLimit,
}

impl Sum {
    fn new(part: &Part, limit: ReplayLimit) -> Self {
        let classes = vec![ClassSum::default(); part.weights.len()];
        Self { tally: Tally { classes, ..Tally::default() }, weighted: 0, limit }
    }

    /// Adds a decision. Returns whether the replay is to go on.
    #[inline]
    fn add(&mut self, part: &Part, size: u32, pairwise_l1: u64) -> bool {
        let Self { tally, weighted, limit } = self;
        let class = &mut tally.classes[size as usize];
        class.jobs += 1;
        class.pairwise_l1 += pairwise_l1;
        tally.decisions += 1;
        *weighted += u128::from(part.weights[size as usize]) * u128::from(pairwise_l1);
        let least = *weighted + part.floors[tally.decisions];
        limit.most.is_none_or(|most| least <= most)
    }
}

/// What the replays of many ways in lockstep have come to so far.
struct Tallies<'a> {
    runs: &'a [(AllocatorSpec, ReplayLimit)],
    /// Pairwise L1 sums by job size, and of each size by way.
    pairwise_l1: Vec<u64>,
    /// Weighted sums by way, where one can lose.
    weighted: Vec<u128>,
    /// Decisions made by those that go on, and by way, if it does not.
    made: usize,
    ended: Vec<Option<usize>>,
    latest: Option<JobId>,
}

impl<'a> Tallies<'a> {
    fn new(part: &Part, runs: &'a [(AllocatorSpec, ReplayLimit)]) -> Self {
        Self {
            runs,
            pairwise_l1: vec![0; part.weights.len() * runs.len()],
            weighted: vec![0; runs.len()],
            made: 0,
            ended: vec![None; runs.len()],
            latest: None,
        }
    }

    /// The next decision, as some ways make it; those whose replay is not to go on are taken out.
    fn add(&mut self, part: &Part, job: JobId, size: u32, pairwise_l1: u64, ways: &mut Vec<u32>) {
        if self.latest != Some(job) {
            (self.latest, self.made) = (Some(job), self.made + 1);
        }
        let Self { runs, pairwise_l1: sums, weighted, made, ended, .. } = self;
        let sums = &mut sums[size as usize * runs.len()..][..runs.len()];
        let more = u128::from(part.weights[size as usize]) * u128::from(pairwise_l1);
        ways.retain(|&way| {
            let way = way as usize;
            sums[way] += pairwise_l1;
            let goes_on = runs[way].1.most.is_none_or(|most| {
                weighted[way] += more;
                weighted[way] + part.floors[*made] <= most
            });
            if !goes_on {
                ended[way] = Some(*made);
            }
            goes_on
        });
    }

    /// What each has come to.
    fn done(self, part: &Part) -> Vec<Tally> {
        let jobs = &part.trace.workload.jobs;
        let mut counted = (0, vec![0; part.weights.len()]);
        let mut tally = |way: usize| {
            let decisions = self.ended[way].unwrap_or(self.made);
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
                pairwise_l1: self.pairwise_l1[size * self.runs.len() + way],
            };
            let classes = counted.1.iter().enumerate().map(class).collect();
            Tally { classes, decisions, ..Tally::default() }
        };
        (0..self.runs.len()).map(&mut tally).collect()
    }
}
