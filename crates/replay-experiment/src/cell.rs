use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::partitions::Partitions;
use super::{LogJobs, Prepared, RunKey};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Allocator, Partitioned};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::metrics::{DeferredSeries, ScheduleMetrics};
use replay_engine::naming::NameError;
use replay_engine::number::counted;
use replay_engine::partitions::JobPartitions;
use replay_engine::sanitize::excerpt;
use replay_engine::scheduler::Scheduler;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{
    Conflicts, Outages, Overfull, Simulation, Timeline, TimelineError,
};
use replay_engine::topology::{NodeId, NodeMap, Topology};
use replay_engine::workload::{
    Chains, Dependencies, Job, JobId, RecordedPlacements, Shake, UnmatchedPlacements, Workload,
};

/// A workload on one machine, with a cached schedule for each scheduler.
#[derive(Debug)]
pub struct Trace {
    /// The jobs. A job may be larger than the machine only if the allocator folds jobs.
    pub workload: Arc<Workload>,
    /// The machine.
    pub topology: Topology,
    /// Name of the cleaning policy.
    pub policy: String,
    /// Number of the perturbed copy, from 1; 0 for the unperturbed trace.
    pub copy: u32,
    copies: Mutex<Copies>,
    /// The jobs with sizes in points; `None` on machines with one processor per point.
    in_points: Option<Vec<Job>>,
    /// Dependencies between jobs, and the rule by which they are applied.
    chains: Chains,
    dependencies: Dependencies,
    /// The times at which processors are out of service.
    outages: Arc<Outages>,
    /// The partitions, and the partition of each job if the partitions restrict the jobs.
    partitions: Option<Arc<Partitions>>,
    job_partitions: Option<JobPartitions>,
    /// Recorded placements of the jobs.
    places: Option<Arc<Places>>,
    /// Cache of the set of jobs over which runs are compared with the log.
    log_jobs: Mutex<Option<Option<Arc<LogJobs>>>>,
    schedules: Vec<(SchedulerSpec, CachedSchedule)>,
    /// Allocators that checks have built, for use by the cells of this trace.
    pub(crate) prepared: Prepared,
}

/// The perturbed copies that are in use, and the latest copy.
#[derive(Debug, Default)]
struct Copies {
    cached: Vec<(Shake, u32, Weak<Trace>)>,
    /// The latest copy, which is kept in memory between consecutive cells that use it.
    latest: Option<Arc<Trace>>,
}

/// Recorded placements of the jobs of a log, mapped to a machine.
#[derive(Clone, Debug)]
pub struct Places {
    /// Nodes of each job, as recorded in the log.
    pub nodes: RecordedPlacements,
    /// Point of each node.
    pub points: Vec<NodeId>,
    /// Whether nodes are assigned to points in the order of the node names, because the positions of the nodes are
    /// unknown.
    pub in_order: bool,
    /// Whether nodes are assigned to points by the machine's node names.
    pub by_name: bool,
}

impl Places {
    /// Maps the nodes of a log to the points of a machine, by the first of these methods that applies: by `map`; by the
    /// names of the machine's nodes; by the numbers in the node names, if all these numbers are valid point numbers; in
    /// the order of the node names, along the scan order of the machine.
    ///
    /// # Errors
    /// A message if some node names do not occur in the machine, if `map` lacks a node, or if the log has more nodes
    /// than the machine has points.
    pub fn on(
        nodes: RecordedPlacements,
        machine: &Topology,
        map: Option<&NodeMap>,
    ) -> Result<Self, String> {
        if let Some(map) = map {
            let points = map.points(nodes.names(), machine).map_err(|error| error.to_string())?;
            return Ok(Self { nodes, points, in_order: false, by_name: false });
        }
        if let Some(points) = by_name(&nodes, machine)? {
            return Ok(Self { nodes, points, in_order: false, by_name: true });
        }
        let (count, points) = (nodes.names().len(), machine.processors());
        if count > points {
            let [count, points] = [(count, "node"), (points, "point")]
                .map(|(count, what)| counted(count as u64, what));
            return Err(format!("the log names {count}, but {machine} has {points}"));
        }
        let in_order = || (0..count as u32).collect();
        let numbered = nodes.points(points);
        let in_order_of_names = numbered.is_none();
        let points = numbered.unwrap_or_else(in_order).into_iter().map(NodeId).collect();
        Ok(Self { nodes, points, in_order: in_order_of_names, by_name: false })
    }

    /// Returns a text that identifies the recorded placements of `jobs`. Equal placements give equal texts.
    pub fn identity(&self, jobs: &[Job]) -> String {
        let mut text = String::new();
        for job in jobs {
            for &node in self.nodes.of(job).unwrap_or_default() {
                text += &format!(" {}", self.points[node as usize].0);
            }
            text.push('\n');
        }
        text
    }
}

/// Finds the points of nodes by name. Returns `None` if the machine has no named nodes. If the machine was not read
/// from a file, `None` is also returned if no node of the log has the name of a node of the machine.
fn by_name(nodes: &RecordedPlacements, machine: &Topology) -> Result<Option<Vec<NodeId>>, String> {
    let Some(machine) = machine.hierarchy() else { return Ok(None) };
    let names = machine.names().iter().map(String::as_str);
    let numbers: HashMap<&str, u32> = names.zip(0..).collect();
    let point = |name: &String| numbers.get(&name[..]).map(|&number| NodeId(number));
    let points: Vec<Option<NodeId>> = nodes.names().iter().map(point).collect();
    if points.iter().all(Option::is_none) && !machine.is_of_file() {
        return Ok(None);
    }
    let unknown = points.iter().zip(nodes.names()).find(|(point, _)| point.is_none());
    match unknown {
        Some((_, name)) => Err(format!(
            "the log names the node {}, which {machine} does not have (map nodes with --node-map)",
            excerpt(name)
        )),
        None => Ok(Some(points.into_iter().flatten().collect())),
    }
}

/// A schedule that is computed when it is first needed.
type CachedSchedule = Mutex<Option<Result<Schedule, TimelineError>>>;

/// The schedule of a trace under a scheduler, independent of the allocator.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Start times and end times of the jobs.
    pub timeline: Arc<Timeline>,
    /// Busy processors and queue length over time.
    pub series: Arc<DeferredSeries>,
    /// Metrics that depend only on the schedule.
    pub metrics: Arc<ScheduleMetrics>,
    /// Jobs with their arrival times in place of submit times; `None` if jobs have no dependencies.
    pub arrived: Option<Arc<[Job]>>,
    /// Wall-clock time of the computation.
    pub took: Duration,
}

impl Schedule {
    /// Returns the jobs with their arrival times in place of submit times. `jobs` are the jobs of the workload.
    pub fn arrived<'a>(&'a self, jobs: &'a [Job]) -> &'a [Job] {
        self.arrived.as_deref().unwrap_or(jobs)
    }
}

/// Returns jobs with the submit times replaced by the arrival times.
pub fn arrived(jobs: &[Job], arrivals: &[i64]) -> Vec<Job> {
    jobs.iter().zip(arrivals).map(|(job, &submit)| Job { submit, ..*job }).collect()
}

impl Trace {
    /// Creates a trace on a machine for use with `schedulers`.
    pub fn new(
        workload: Arc<Workload>,
        topology: Topology,
        policy: impl Into<String>,
        schedulers: &[SchedulerSpec],
    ) -> Self {
        let schedules = schedulers.iter().map(|spec| (spec.clone(), Mutex::default())).collect();
        let in_points = (topology.per_point() > 1).then(|| {
            // A shape is given in processors and does not apply to points.
            let points = |job: &Job| Job { size: topology.points(job.size), shape: None, ..*job };
            workload.jobs.iter().map(points).collect()
        });
        Self {
            in_points,
            workload,
            topology,
            policy: policy.into(),
            copy: 0,
            copies: Mutex::default(),
            chains: Chains::default(),
            dependencies: Dependencies::Ignore,
            outages: Arc::default(),
            partitions: None,
            job_partitions: None,
            places: None,
            log_jobs: Mutex::default(),
            schedules,
            prepared: Prepared::default(),
        }
    }

    /// Applies a rule to the [dependencies](replay_engine::workload::Links) between jobs, and adds the rule to the policy
    /// name.
    pub fn with_dependencies(self, dependencies: Dependencies) -> Self {
        if dependencies == Dependencies::Ignore {
            return self;
        }
        let chains = self.workload.links.chains(&self.workload.jobs, dependencies);
        let name = format!("[deps={}]", dependencies.name());
        Self { chains, dependencies, ..self }.with_policy_note(&name)
    }

    /// Adds outages of processors, and adds the rule for affected jobs to the policy name.
    pub fn with_outages(self, outages: Arc<Outages>) -> Self {
        if outages.is_empty() {
            return self;
        }
        let name = format!("[down={}]", outages.running.name());
        Self { outages, ..self }.with_policy_note(&name)
    }

    /// Restricts each job to the nodes of its partition, and adds the partitions to the policy name. All jobs must be
    /// [accepted](Partitions::accepted).
    pub fn with_partitions(self, partitions: Option<Arc<Partitions>>) -> Self {
        let Some(partitions) = partitions else { return self };
        let name = format!("[{}]", partitions.options().text);
        let job_partitions = partitions.assign(&self.workload);
        Self { partitions: Some(partitions), job_partitions, ..self }.with_policy_note(&name)
    }

    /// Returns the partitions; `None` if none were selected.
    pub fn partitions(&self) -> Option<&Arc<Partitions>> {
        self.partitions.as_ref()
    }

    /// Returns the partition of each job; `None` if jobs may use all nodes.
    pub fn job_partitions(&self) -> Option<&JobPartitions> {
        self.job_partitions.as_ref()
    }

    /// Sets the recorded placements.
    pub fn placed(self, places: Option<Arc<Places>>) -> Self {
        Self { places, log_jobs: Mutex::default(), ..self }
    }

    /// Sets the allocators that checks have built, so that runs can use these allocators.
    pub fn prepared(self, prepared: Prepared) -> Self {
        Self { prepared, ..self }
    }

    /// Returns the recorded placements, to be shared with another trace of the same log.
    pub fn shared_places(&self) -> Option<Arc<Places>> {
        self.places.clone()
    }

    /// Returns the recorded placements, if they were loaded.
    pub fn places(&self) -> Option<&Places> {
        self.places.as_deref()
    }

    /// Appends a note to the policy name, unless the name already contains the note.
    fn with_policy_note(self, what: &str) -> Self {
        let policy = match self.policy.contains(what) {
            true => self.policy,
            false => self.policy + what,
        };
        Self { policy, ..self }
    }

    /// Returns the outages of the machine.
    pub fn outages(&self) -> &Outages {
        &self.outages
    }

    /// Returns `true` if one of the schedulers of this trace is `recorded`, which repeats the log.
    pub fn is_recorded(&self) -> bool {
        self.schedules.iter().any(|(spec, _)| spec.recorded().is_some())
    }

    /// Returns the rule by which dependencies are applied.
    pub fn dependencies(&self) -> Dependencies {
        self.dependencies
    }

    /// Returns the dependencies between jobs, after applying the [rule](Self::dependencies).
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Returns the jobs with sizes in points. On machines with one processor per point, the result contains the jobs of
    /// the workload.
    pub fn jobs(&self) -> &[Job] {
        self.in_points.as_deref().unwrap_or(&self.workload.jobs)
    }

    /// Returns a trace with other jobs, but the same machine, schedulers and settings.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Self {
        let workload = Arc::new(self.workload.with_jobs(jobs));
        let schedulers: Vec<_> = self.schedules.iter().map(|(spec, _)| spec.clone()).collect();
        let made = Self::new(workload, self.topology.clone(), self.policy.clone(), &schedulers);
        let made = made.with_dependencies(self.dependencies).with_outages(self.outages.clone());
        let made = made.with_partitions(self.partitions.clone());
        made.placed(self.shared_places()).prepared(self.prepared.clone())
    }

    /// Returns the perturbed copy with number `copy`, from 1; copy 0 is the unperturbed trace. A copy that is still in
    /// use is shared, including its schedules. An unused copy is dropped when another copy is made.
    pub fn shaken(self: &Arc<Self>, shake: &Shake, copy: u32) -> Arc<Trace> {
        if copy == 0 {
            return self.clone();
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |cached: &&(Shake, u32, Weak<Trace>)| {
            (cached.0.width, cached.0.seed, cached.1) == (shake.width, shake.seed, copy)
        };
        let cached = copies.cached.iter().find(same).and_then(|(.., trace)| trace.upgrade());
        if let Some(trace) = cached {
            return trace;
        }
        let made = self.with_jobs(shake.copy(&self.workload.jobs, copy));
        let made = Arc::new(Self { copy, ..made });
        copies.latest = Some(made.clone());
        copies.cached.retain(|(.., trace)| trace.strong_count() > 0);
        copies.cached.push((*shake, copy, Arc::downgrade(&made)));
        made
    }

    /// Returns the recorded schedule with sizes in points, and statistics of the times at which the jobs of the log
    /// occupy more processors than the machine has.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine, or if cancelled.
    pub fn recorded(&self, stop: &CancelToken) -> Result<(Timeline, Overfull), TimelineError> {
        let (jobs, waits) = (self.jobs(), &self.workload.waits);
        let points = self.topology.processors() as u32;
        Timeline::recorded(jobs, points, |job| waits.start(job), stop)
    }

    /// Returns the recorded schedule with sizes in processors, for logs in which jobs can share points.
    ///
    /// # Errors
    /// [`TimelineError`] under the conditions of [`recorded`](Self::recorded).
    pub fn recorded_in_processors(
        &self,
        stop: &CancelToken,
    ) -> Result<(Timeline, Overfull), TimelineError> {
        let (jobs, waits) = (&self.workload.jobs, &self.workload.waits);
        Timeline::recorded(jobs, self.topology.capacity() as u32, |job| waits.start(job), stop)
    }

    /// Returns the jobs over which runs are compared with the run that repeats the log. Returns `None` if all jobs are
    /// compared, or if no run repeats the log.
    ///
    /// # Errors
    /// [`TimelineError`] under the conditions of [`recorded`](Self::recorded).
    pub fn log_jobs(&self, stop: &CancelToken) -> Result<Option<Arc<LogJobs>>, TimelineError> {
        let mut cached = self.log_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = &*cached {
            return Ok(cached.clone());
        }
        let found = LogJobs::of(self, stop)?.map(Arc::new);
        *cached = Some(found.clone());
        Ok(found)
    }

    /// Returns the recorded placements that match no job of the trace.
    pub fn unmatched(&self) -> Option<UnmatchedPlacements> {
        self.places()?.nodes.unmatched(&self.workload.jobs)
    }

    /// Replays the recorded schedule and placements, and calls `observe` with the points of each job. If the trace has
    /// no [recorded placements](Self::places), no job has points.
    ///
    /// # Errors
    /// [`Cancelled`] if cancelled.
    pub fn replay_placed(
        &self,
        timeline: &Timeline,
        stop: &CancelToken,
        observe: impl FnMut(JobId, &[NodeId]),
    ) -> Result<Conflicts, Cancelled> {
        let of = |job: &Job| self.places().and_then(|places| places.nodes.of(job));
        let points = self.places().map_or(&[][..], |places| &places.points);
        let simulation = Simulation::new(&self.workload.jobs, &self.topology, stop);
        simulation.replay_recorded(timeline, of, points, observe)
    }

    /// Creates a simulation of the jobs on the machine, with dependencies and outages.
    pub fn simulation<'a>(&'a self, stop: &'a CancelToken) -> Simulation<'a> {
        Simulation::new(self.jobs(), &self.topology, stop)
            .with_chains(&self.chains.follows)
            .with_outages(&self.outages)
            .with_partitions(self.job_partitions.as_ref())
    }

    /// Returns the schedule under a scheduler. The first call computes the schedule. The schedule does not include
    /// [outages](Self::outages), because with outages every schedule depends on the allocator.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine, or if cancelled.
    pub fn schedule(
        &self,
        scheduler: &SchedulerSpec,
        stop: &CancelToken,
    ) -> Result<Schedule, TimelineError> {
        let compute = || {
            let begin = Instant::now();
            let points = self.topology.processors() as u32;
            let timeline = match scheduler.recorded() {
                Some(_) => self.recorded(stop)?.0,
                None => self.simulation(stop).schedule(scheduler.build(points).as_mut())?,
            };
            let arrived_jobs =
                timeline.arrivals().map(|times| arrived(&self.workload.jobs, times).into());
            let jobs: &[Job] = arrived_jobs.as_deref().unwrap_or(&self.workload.jobs);
            let jobs = timeline.placed(jobs);
            let starts = timeline.placed(timeline.starts());
            Ok(Schedule {
                series: Arc::new(DeferredSeries::new(&jobs, &starts)),
                metrics: Arc::new(ScheduleMetrics::new(&jobs, &starts, &self.topology)),
                timeline: Arc::new(timeline),
                arrived: arrived_jobs,
                took: begin.elapsed(),
            })
        };
        let Some(cached) = self.cached(scheduler) else { return compute() };
        // Other callers wait here while the schedule is computed.
        let mut cached = cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schedule) = &*cached {
            return schedule.clone();
        }
        let schedule = compute();
        // A cancelled computation is not cached, because another caller may complete the computation.
        if !matches!(schedule, Err(TimelineError::Cancelled(_))) {
            *cached = Some(schedule.clone());
        }
        schedule
    }

    /// Returns the schedule under a scheduler if it has already been computed.
    pub fn scheduled(&self, scheduler: &SchedulerSpec) -> Option<Schedule> {
        let cached = self.cached(scheduler)?.lock().unwrap_or_else(PoisonError::into_inner);
        cached.as_ref()?.as_ref().ok().cloned()
    }

    fn cached(&self, scheduler: &SchedulerSpec) -> Option<&CachedSchedule> {
        self.schedules.iter().find(|(spec, _)| spec == scheduler).map(|(_, cached)| cached)
    }
}

/// A cell of a grid: one run.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    /// Scheduler of the run.
    pub scheduler: SchedulerSpec,
    /// Allocator of the run.
    pub allocator: AllocatorSpec,
    /// Seed of random allocators.
    pub seed: u64,
}

impl Cell {
    /// Returns the allocator for one run. An allocator that a check of the cell has built is reused. On a machine with
    /// partitions, each partition has an allocator with the same seed.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not support the machine.
    pub fn build_allocator(&self) -> Result<Box<dyn Allocator>, NameError> {
        let Trace { prepared, topology, .. } = self.trace.as_ref();
        let build = || prepared.take(&self.allocator, topology, self.seed);
        let Some(partitions) = self.trace.job_partitions() else { return build() };
        let parts = partitions.set.all().iter().map(|_| build()).collect::<Result<_, _>>()?;
        Ok(Box::new(Partitioned::new(partitions.clone(), topology, parts)))
    }

    /// Builds the scheduler with an empty queue.
    pub fn build_scheduler(&self) -> Box<dyn Scheduler> {
        // A scheduler without support of partitions is rejected before a cell runs.
        let partitions = self.trace.job_partitions();
        if let Some(scheduler) = partitions.and_then(|of| self.scheduler.build_partitioned(of)) {
            return scheduler;
        }
        // On a cluster, a job occupies slots, so the scheduler counts slots.
        self.scheduler.build(self.trace.topology.slots() as u32)
    }

    /// Returns the schedule that a simulation of this cell replays; `None` if the simulation is
    /// [coupled](Simulation::is_coupled) and requires a scheduler.
    ///
    /// # Errors
    /// [`TimelineError`] under the conditions of [`Trace::schedule`].
    pub fn replayed_schedule(
        &self,
        simulation: &Simulation<'_>,
        allocator: &dyn Allocator,
        stop: &CancelToken,
    ) -> Result<Option<Schedule>, TimelineError> {
        match simulation.is_coupled(allocator) {
            true => Ok(None),
            false => self.trace.schedule(&self.scheduler, stop).map(Some),
        }
    }

    /// Returns the key of the cell.
    pub fn key(&self) -> RunKey {
        RunKey {
            trace: self.trace.workload.name.clone(),
            topology: self.trace.topology.to_string(),
            scheduler: self.scheduler.to_string(),
            allocator: self.allocator.without_tie().to_string(),
            tie: self.allocator.tie().map(|tie| tie.to_string()),
            policy: self.trace.policy.clone(),
            seed: self.seed,
            copy: self.trace.copy,
        }
    }
}
