use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::{LogJobs, Prepared, RunKey};
use replay_core::allocator::Allocator;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::cancel::{CancelToken, Cancelled};
use replay_core::metrics::{ScheduleMetrics, Series};
use replay_core::naming::NameError;
use replay_core::number::counted;
use replay_core::sanitize::excerpt;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Conflicts, Outages, Overfull, Simulation, Timeline, TimelineError};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::{
    Chains, Dependencies, Job, JobId, NodeMap, RecordedPlacements, Shake, UnmatchedPlacements,
    Workload,
};

/// A workload on one machine, with the timeline of each scheduler that cells ask for.
#[derive(Debug)]
pub struct Trace {
    /// The jobs, none larger than the machine unless its allocator folds them.
    pub workload: Arc<Workload>,
    /// The machine.
    pub topology: Topology,
    /// Name of the cleaning policy.
    pub policy: String,
    /// Which shaken copy it is, from 1; 0 if it is the trace itself.
    pub copy: u32,
    copies: Mutex<Copies>,
    /// The jobs with sizes in points, where a point holds several processors.
    in_points: Option<Vec<Job>>,
    /// Which jobs follow others, and how the log's dependencies are taken.
    chains: Chains,
    dependencies: Dependencies,
    /// When processors are out of service.
    outages: Arc<Outages>,
    /// Where its jobs ran, as the log says.
    places: Option<Arc<Places>>,
    /// The jobs over which runs are set against the log, once somebody has asked.
    log_jobs: Mutex<Option<Option<Arc<LogJobs>>>>,
    schedules: Vec<(SchedulerSpec, Known)>,
    /// Allocators that checks have built for its cells.
    prepared: Prepared,
}

/// Shaken copies that somebody uses, and the latest one.
#[derive(Debug, Default)]
struct Copies {
    known: Vec<(Shake, u32, Weak<Trace>)>,
    /// Cells of one copy follow each other: it stays between two of them.
    latest: Option<Arc<Trace>>,
}

/// Where the jobs of a log ran, on a machine.
#[derive(Clone, Debug)]
pub struct Places {
    /// What the log says.
    pub nodes: RecordedPlacements,
    /// The point of each node.
    pub points: Vec<NodeId>,
    /// Whether nodes are not where somebody says but in order of their names.
    pub in_order: bool,
    /// Whether their names are those of nodes of the machine.
    pub by_name: bool,
}

impl Places {
    /// Puts the nodes of a log on a machine: where a map says; else, on a machine whose nodes have names, by these; else on
    /// the points whose numbers they have, if all have one, else in order along the scan order.
    ///
    /// # Errors
    /// In words, if the machine has some of the names and not all, the map has no place for a node, or there are more nodes than points.
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
            return Err(format!("the log names {count}, {machine} has {points}"));
        }
        let in_order = || (0..count as u32).collect();
        let told = nodes.points(points);
        let in_order_of_names = told.is_none();
        let points = told.unwrap_or_else(in_order).into_iter().map(NodeId).collect();
        Ok(Self { nodes, points, in_order: in_order_of_names, by_name: false })
    }

    /// What tells the places of these jobs from others, as text.
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

/// The points of nodes by their names, if the machine has some of these.
fn by_name(nodes: &RecordedPlacements, machine: &Topology) -> Result<Option<Vec<NodeId>>, String> {
    let Some(machine) = machine.hierarchy() else { return Ok(None) };
    let names = machine.names().iter().map(String::as_str);
    let numbers: HashMap<&str, u32> = names.zip(0..).collect();
    let point = |name: &String| numbers.get(&name[..]).map(|&number| NodeId(number));
    let points: Vec<Option<NodeId>> = nodes.names().iter().map(point).collect();
    if points.iter().all(Option::is_none) {
        return Ok(None);
    }
    let unknown = points.iter().zip(nodes.names()).find(|(point, _)| point.is_none());
    match unknown {
        Some((_, name)) => Err(format!(
            "the log names the node {}, which {machine} does not have (--node-map gives nodes their places)",
            excerpt(name)
        )),
        None => Ok(Some(points.into_iter().flatten().collect())),
    }
}

/// A schedule once it is computed.
type Known = Mutex<Option<Result<Schedule, TimelineError>>>;

/// A timeline and the load over time that follows from it.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Starts and ends.
    pub timeline: Arc<Timeline>,
    /// Busy processors and queue length.
    pub series: Arc<Series>,
    /// What follows from the schedule alone.
    pub metrics: Arc<ScheduleMetrics>,
    /// The jobs as they arrived, where some follow others.
    pub arrived: Option<Arc<[Job]>>,
    /// How long it took to compute, by the clock on the wall.
    pub took: Duration,
}

impl Schedule {
    /// The jobs with their arrivals as submissions; `jobs` are those of the workload.
    pub fn arrived<'a>(&'a self, jobs: &'a [Job]) -> &'a [Job] {
        self.arrived.as_deref().unwrap_or(jobs)
    }
}

/// Jobs whose submissions are their arrivals.
pub fn arrived(jobs: &[Job], arrivals: &[i64]) -> Vec<Job> {
    jobs.iter().zip(arrivals).map(|(job, &submit)| Job { submit, ..*job }).collect()
}

impl Trace {
    /// A trace on a machine, to be scheduled by any of `schedulers`.
    pub fn new(
        workload: Arc<Workload>,
        topology: Topology,
        policy: impl Into<String>,
        schedulers: &[SchedulerSpec],
    ) -> Self {
        let schedules = schedulers.iter().map(|spec| (spec.clone(), Mutex::default())).collect();
        let in_points = (topology.per_point() > 1).then(|| {
            // A shape is one of processors, and says nothing about points.
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
            places: None,
            log_jobs: Mutex::default(),
            schedules,
            prepared: Prepared::default(),
        }
    }

    /// The same trace with its [dependencies](replay_core::workload::Links) taken by a rule, which its policy then
    /// names.
    pub fn following(self, dependencies: Dependencies) -> Self {
        if dependencies == Dependencies::Ignore {
            return self;
        }
        let chains = self.workload.links.chains(&self.workload.jobs, dependencies);
        let name = format!("[deps={}]", dependencies.name());
        Self { chains, dependencies, ..self }.noting(&name)
    }

    /// The same trace on a machine of which processors are out of service at times, which its policy then
    /// names.
    pub fn amid(self, outages: Arc<Outages>) -> Self {
        if outages.is_empty() {
            return self;
        }
        let name = format!("[down={}]", outages.running.name());
        Self { outages, ..self }.noting(&name)
    }

    /// The same trace with the places of its jobs.
    pub fn placed(self, places: Option<Arc<Places>>) -> Self {
        Self { places, log_jobs: Mutex::default(), ..self }
    }

    /// The same trace, whose cells use the allocators that checks have built.
    pub fn prepared(self, prepared: Prepared) -> Self {
        Self { prepared, ..self }
    }

    /// The same for another trace of this log.
    pub fn shared_places(&self) -> Option<Arc<Places>> {
        self.places.clone()
    }

    /// Where its jobs ran, as the log says, if that was asked for.
    pub fn places(&self) -> Option<&Places> {
        self.places.as_deref()
    }

    /// With a policy that says this, once.
    fn noting(self, what: &str) -> Self {
        let policy = match self.policy.contains(what) {
            true => self.policy,
            false => self.policy + what,
        };
        Self { policy, ..self }
    }

    /// When processors of its machine are out of service.
    pub fn outages(&self) -> &Outages {
        &self.outages
    }

    /// Whether some of its cells repeat what the log did.
    pub fn is_recorded(&self) -> bool {
        self.schedules.iter().any(|(spec, _)| spec.recorded().is_some())
    }

    /// How its dependencies are taken.
    pub fn dependencies(&self) -> Dependencies {
        self.dependencies
    }

    /// Which of its jobs follow others.
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// The jobs as the machine sees them, their sizes in points: those of the workload, where a point
    /// holds one processor.
    pub fn jobs(&self) -> &[Job] {
        self.in_points.as_deref().unwrap_or(&self.workload.jobs)
    }

    /// The same trace with other jobs, on the same machine, for the same schedulers.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Self {
        let workload = Arc::new(self.workload.with_jobs(jobs));
        let schedulers: Vec<_> = self.schedules.iter().map(|(spec, _)| spec.clone()).collect();
        let made = Self::new(workload, self.topology.clone(), self.policy.clone(), &schedulers);
        let made = made.following(self.dependencies).amid(self.outages.clone());
        made.placed(self.shared_places()).prepared(self.prepared.clone())
    }

    /// A shaken copy of it, from 1, on the same machine; copy 0 is the trace itself. Whoever asks for
    /// a copy that is in use gets that one, with its schedules; one that nobody uses is dropped when
    /// another is made.
    pub fn shaken(self: &Arc<Self>, shake: &Shake, copy: u32) -> Arc<Trace> {
        if copy == 0 {
            return self.clone();
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&(Shake, u32, Weak<Trace>)| {
            (known.0.width, known.0.seed, known.1) == (shake.width, shake.seed, copy)
        };
        let known = copies.known.iter().find(same).and_then(|(.., trace)| trace.upgrade());
        if let Some(trace) = known {
            return trace;
        }
        let made = self.with_jobs(shake.copy(&self.workload.jobs, copy));
        let made = Arc::new(Self { copy, ..made });
        copies.latest = Some(made.clone());
        copies.known.retain(|(.., trace)| trace.strong_count() > 0);
        copies.known.push((*shake, copy, Arc::downgrade(&made)));
        made
    }

    /// The schedule that the log tells, and when it had more processors busy than there are.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine, or if stopped.
    pub fn recorded(&self, stop: &CancelToken) -> Result<(Timeline, Overfull), TimelineError> {
        let (jobs, waits) = (self.jobs(), &self.workload.waits);
        let points = self.topology.processors() as u32;
        Timeline::recorded(jobs, points, |job| waits.start(job), stop)
    }

    /// The same where jobs may share points: counted in processors.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn recorded_in_processors(
        &self,
        stop: &CancelToken,
    ) -> Result<(Timeline, Overfull), TimelineError> {
        let (jobs, waits) = (&self.workload.jobs, &self.workload.waits);
        Timeline::recorded(jobs, self.topology.capacity() as u32, |job| waits.start(job), stop)
    }

    /// The jobs over which its runs are set against the one that repeats the log; `None` if they are all its
    /// jobs, or no run does.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn log_jobs(&self, stop: &CancelToken) -> Result<Option<Arc<LogJobs>>, TimelineError> {
        let mut known = self.log_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let found = LogJobs::of(self, stop)?.map(Arc::new);
        *known = Some(found.clone());
        Ok(found)
    }

    /// Placements beside the log that are of none of its jobs.
    pub fn unmatched(&self) -> Option<UnmatchedPlacements> {
        self.places()?.nodes.unmatched(&self.workload.jobs)
    }

    /// The log with its places: `observe` sees each job with its points. Without [places](Self::places)
    /// nobody knows where they are.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
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

    /// A simulation of its jobs on its machine.
    pub fn simulation<'a>(&'a self, stop: &'a CancelToken) -> Simulation<'a> {
        Simulation::new(self.jobs(), &self.topology, stop)
            .with_chains(&self.chains.follows)
            .with_outages(&self.outages)
    }

    /// The schedule under a scheduler, computed at the first call, unless or until `stop` is
    /// raised. It knows of no [outages](Self::outages): amid these there is no schedule that no allocator
    /// influences.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine, or if stopped.
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
            let moved = timeline.arrivals().map(|times| arrived(&self.workload.jobs, times).into());
            let jobs: &[Job] = moved.as_deref().unwrap_or(&self.workload.jobs);
            let jobs = timeline.placed(jobs);
            let starts = timeline.placed(timeline.starts());
            Ok(Schedule {
                series: Arc::new(Series::new(&jobs, &starts)),
                metrics: Arc::new(ScheduleMetrics::new(&jobs, &starts, &self.topology)),
                timeline: Arc::new(timeline),
                arrived: moved,
                took: begin.elapsed(),
            })
        };
        let Some(known) = self.known(scheduler) else { return compute() };
        // Whoever else wants it waits here; the one that computes it looks at the flag.
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schedule) = &*known {
            return schedule.clone();
        }
        let schedule = compute();
        // Another flag may let it go on.
        if !matches!(schedule, Err(TimelineError::Cancelled(_))) {
            *known = Some(schedule.clone());
        }
        schedule
    }

    /// The schedule under a scheduler, if somebody has asked for it.
    pub fn scheduled(&self, scheduler: &SchedulerSpec) -> Option<Schedule> {
        let known = self.known(scheduler)?.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.as_ref().ok().cloned()
    }

    fn known(&self, scheduler: &SchedulerSpec) -> Option<&Known> {
        self.schedules.iter().find(|(spec, _)| spec == scheduler).map(|(_, known)| known)
    }
}

/// One cell of a grid.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The jobs and the machine.
    pub trace: Arc<Trace>,
    /// Who starts when.
    pub scheduler: SchedulerSpec,
    /// Who gets which processors.
    pub allocator: AllocatorSpec,
    /// Seed of allocators that draw random numbers.
    pub seed: u64,
}

impl Cell {
    /// The allocator for one run: that which a check of the cell has built, if there is one.
    ///
    /// # Errors
    /// [`NameError`] if the strategy does not work on the machine.
    pub fn build_allocator(&self) -> Result<Box<dyn Allocator>, NameError> {
        self.trace.prepared.take(&self.allocator, &self.trace.topology, self.seed)
    }

    /// What identifies the cell.
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
