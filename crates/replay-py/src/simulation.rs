//! A simulation in which the caller is the scheduler.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use replay::cli::embed;

use crate::allocator::{Raised, raised, strategy};
use crate::error::{UsageError, natural, rejected, report};
use crate::pool::on_threads;
use crate::table::{frame, to_python};
use crate::trace::Workload;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::{Allocator, MachineEvent, Refusal, Request, RunSetup, Times};
use replay_engine::machine::Machine;
use replay_engine::metrics::{JobMeasures, Submitted};
use replay_engine::number::counted;
use replay_engine::simulation::is_always_coupled;
use replay_engine::table::{Column, Table as Rows};
use replay_engine::topology::NodeId;
use replay_engine::workload::Job;
use replay_experiment::{Measure, Trace};

/// A waiting job in `Simulation.queue`.
#[pyclass(frozen, module = "replay", get_all)]
#[derive(Clone)]
pub struct WaitingJob {
    /// Number of the job in the trace.
    job: i64,
    /// Submission time, in seconds of the trace.
    submit: i64,
    /// Number of processors.
    size: u32,
    /// User's estimate of the run time, in seconds.
    estimate: i64,
}

/// A running job in `Simulation.running`.
#[pyclass(frozen, module = "replay", get_all)]
#[derive(Clone)]
pub struct RunningJob {
    /// Number of the job in the trace.
    job: i64,
    /// Start time, in seconds of the trace.
    start: i64,
    /// Number of processors.
    size: u32,
    /// End according to the user's estimate, in seconds of the trace.
    estimated_end: i64,
    /// Numbers of the processors of the job.
    processors: Vec<u32>,
}

#[pymethods]
impl WaitingJob {
    fn __repr__(&self) -> String {
        let Self { job, submit, size, estimate } = self;
        format!("WaitingJob(job={job}, submit={submit}, size={size}, estimate={estimate})")
    }
}

#[pymethods]
impl RunningJob {
    fn __repr__(&self) -> String {
        let Self { job, start, size, estimated_end, .. } = self;
        format!("RunningJob(job={job}, start={start}, size={size}, estimated_end={estimated_end})")
    }
}

/// A job and its start time.
struct Row {
    job: Job,
    start: Option<i64>,
}

impl Rows for Row {
    const NAME: &'static str = "starts";
    const ROW: &'static str = "one row per job, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new(Submitted::JOB, "", "job number in the trace", |row: &Self| row.job.number),
            Column::new(Submitted::SUBMIT, "s", "submission time", |row: &Self| row.job.submit),
            Column::new(Submitted::SIZE, "processors", "number of processors", |row: &Self| {
                row.job.size
            }),
            Column::new(JobMeasures::RUN_TIME, "s", "run time", |row: &Self| row.job.run),
            Column::new(
                JobMeasures::START,
                "s",
                "start time; null if the job has not started",
                |row: &Self| row.start,
            ),
            Column::new(
                JobMeasures::WAIT,
                "s",
                "start time minus submission time; null if the job has not started",
                |row: &Self| row.start.map(|start| start - row.job.submit),
            ),
        ]
    }
}

/// A simulation that the caller advances step by step. The caller selects the waiting jobs that start.
#[pyclass(subclass, frozen, module = "replay._engine")]
pub struct Simulation {
    state: Mutex<State>,
}

/// The state of a simulation.
struct State {
    trace: Arc<Trace>,
    machine: Machine,
    /// The first allocator places jobs; every allocator can propose a placement.
    allocators: Vec<Box<dyn Allocator>>,
    raised: Raised,
    now: i64,
    /// Number of jobs that have arrived.
    arrived: usize,
    /// Indices of the waiting jobs in order of arrival.
    queue: Vec<usize>,
    /// End times and indices of the running jobs.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    /// Start time of each job; `None` if the job has not started.
    starts: Vec<Option<i64>>,
    /// Processors of each job; the list is empty if the job is not running.
    held: Vec<Vec<NodeId>>,
}

impl Simulation {
    /// Returns the state. Fails while another call uses the simulation. The other call is a call from another thread,
    /// or the call that is waiting for an allocator.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(UsageError::new_err(
                "the simulation is busy: an allocator or another thread uses it during a call",
            )),
        }
    }
}

impl State {
    fn request(&self, id: usize) -> Request {
        let job = &self.trace.jobs()[id];
        let (submitted, number) = (Some(job.submit), Some(job.number));
        let times = Times { now: self.now, limit: job.limit, submitted, job: number };
        Request { times, ..Request::shaped(job.size, job.shape) }
    }

    /// Returns the index of the job at a position of the queue.
    fn waiting(&self, position: usize) -> PyResult<usize> {
        let waiting = self.queue.len() as u64;
        let none = || {
            PyIndexError::new_err(format!(
                "no job at position {position} (from 0) of the queue, which has {}",
                counted(waiting, "job")
            ))
        };
        self.queue.get(position).copied().ok_or_else(none)
    }

    /// Reads numbers of processors of the machine.
    fn listed(&self, processors: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let count = self.machine.processors();
        let mut nodes = Vec::new();
        for item in processors.try_iter()? {
            let node = natural("processors", &item?)?;
            if node >= count {
                return Err(UsageError::new_err(format!(
                    "processors: {node} is not from 0 to {}",
                    count - 1
                )));
            }
            nodes.push(node as u32);
        }
        Ok(nodes)
    }

    /// Requests processors for a job from an allocator; `None` if the allocator refuses.
    fn ask(&mut self, allocator: usize, id: usize) -> PyResult<Option<Vec<NodeId>>> {
        let request = self.request(id);
        let mut chosen = Vec::new();
        match self.allocators[allocator].allocate(&self.machine, request, &mut chosen) {
            Ok(()) => Ok(Some(chosen)),
            Err(Refusal::Cancelled(_)) => {
                Err(raised(&self.raised).unwrap_or_else(|| PyValueError::new_err("interrupted")))
            }
            Err(_) => Ok(None),
        }
    }

    /// Advances to the next instant at which a job ends or arrives.
    fn advance(&mut self) -> PyResult<bool> {
        let trace = self.trace.clone();
        let jobs = trace.jobs();
        let arrival = jobs.get(self.arrived).map(|job| job.submit);
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let Some(next) = arrival.into_iter().chain(end).min() else {
            if self.queue.is_empty() {
                return Ok(false);
            }
            let waiting = self.queue.len();
            return Err(UsageError::new_err(format!(
                "advance: {waiting} jobs wait, no job is running and no job arrives later; start a job"
            )));
        };
        self.now = next;
        while let Some(&Reverse((end, id))) = self.ends.peek() {
            if end > next {
                break;
            }
            self.ends.pop();
            let nodes = std::mem::take(&mut self.held[id]);
            self.machine.release(&nodes);
            for allocator in &mut self.allocators {
                allocator.on_event(&self.machine, MachineEvent::Released(&nodes));
            }
        }
        while let Some(job) = jobs.get(self.arrived).filter(|job| job.submit <= next) {
            let request = Request::shaped(job.size, job.shape);
            for allocator in &mut self.allocators {
                allocator.on_event(&self.machine, MachineEvent::JobQueued(request));
            }
            self.queue.push(self.arrived);
            self.arrived += 1;
        }
        Ok(true)
    }
}

/// Returns the numbers of processors.
fn numbers(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

#[pymethods]
impl Simulation {
    /// Creates a simulation at the instant of the first submission.
    #[new]
    #[pyo3(signature = (workload, options, allocators, seed, first=0, count=None))]
    fn new(
        py: Python<'_>,
        workload: PyRef<'_, Workload>,
        mut options: Vec<OsString>,
        allocators: Vec<Bound<'_, PyAny>>,
        seed: u64,
        first: usize,
        count: Option<usize>,
    ) -> PyResult<Self> {
        if allocators.is_empty() {
            return Err(UsageError::new_err(
                "alloc: the list is empty; pass at least one allocator",
            ));
        }
        let slot = Raised::default();
        let mut specs: Vec<AllocatorSpec> = Vec::new();
        for allocator in &allocators {
            match allocator.extract::<String>() {
                Ok(name) => {
                    let spec = crate::program()
                        .registries
                        .allocators
                        .read(&name)
                        .map_err(|error| UsageError::new_err(format!("{error}")))?;
                    specs.push(spec);
                }
                Err(_) => specs.push(strategy(allocator, &slot)?),
            }
        }
        options.extend(["--alloc".into(), "random".into()]);
        let jobs = vec![workload.jobs.clone()];
        let resolve =
            || embed::resolve(&crate::program().registries, &options, jobs, Measure::default());
        let (grid, messages) = on_threads(py, || embed::with_messages(resolve))?;
        report(py, messages, false)?;
        let trace = match <[Arc<Trace>; 1]>::try_from(grid.map_err(rejected)?.cells.traces) {
            Ok([trace]) => trace,
            Err(_) => {
                return Err(UsageError::new_err("Simulation: exactly one machine is required"));
            }
        };
        let is_restricted = !trace.outages().is_empty() || trace.job_partitions().is_some();
        if is_restricted || !trace.chains().follows.is_empty() {
            return Err(UsageError::new_err(
                "Simulation does not support outages, partitions and dependencies",
            ));
        }
        let all = trace.jobs().len();
        let jobs = trace.workload.jobs.iter().skip(first).take(count.unwrap_or(usize::MAX));
        let trace = match (first, count) {
            (0, None) => trace,
            _ => Arc::new(trace.with_jobs(jobs.copied().collect())),
        };
        if trace.jobs().is_empty() {
            return Err(UsageError::new_err(format!(
                "first: no job at index {first}; after the option oversize is applied, the trace has {all} jobs"
            )));
        }
        let mut built = Vec::new();
        for spec in specs {
            let wrong = |error: &dyn std::fmt::Display| UsageError::new_err(error.to_string());
            let mut allocator = spec
                .on(&trace.topology)
                .build(&trace.topology, seed)
                .map_err(|error| wrong(&error))?;
            let capabilities = allocator.capabilities();
            let (folds, hosts) = (capabilities.folds, capabilities.shares_hosts);
            if spec.recorded() || folds || hosts || capabilities.rejects_unsupported_sizes {
                return Err(UsageError::new_err(format!(
                    "Simulation does not support the allocator {spec}"
                )));
            }
            // Proposals are computed by calls of the allocator, so an allocator that records its calls would record
            // proposals as allocations.
            if allocators.len() > 1 && is_always_coupled(allocator.as_ref()) {
                let problem = "with several allocators, each must be able to choose any free processors and must never refuse a job";
                return Err(UsageError::new_err(format!(
                    "Simulation does not support {spec} in a list of allocators: {problem}"
                )));
            }
            let setup = RunSetup { jobs: trace.jobs(), ..RunSetup::default() };
            allocator
                .begin(&setup)
                .map_err(|error| raised(&slot).unwrap_or_else(|| wrong(&error)))?;
            built.push(allocator);
        }
        let count = trace.jobs().len();
        let mut state = State {
            machine: Machine::new(trace.topology.clone()),
            trace,
            allocators: built,
            raised: slot,
            now: 0,
            arrived: 0,
            queue: Vec::new(),
            ends: BinaryHeap::new(),
            starts: vec![None; count],
            held: vec![Vec::new(); count],
        };
        state.advance()?;
        Ok(Self { state: Mutex::new(state) })
    }

    /// Current time, in seconds of the trace.
    #[getter]
    fn now(&self) -> PyResult<i64> {
        let state = self.state()?;
        Ok(state.now)
    }

    /// Waiting jobs in order of arrival.
    #[getter]
    fn queue(&self) -> PyResult<Vec<WaitingJob>> {
        let state = self.state()?;
        let waiting = |&id: &usize| {
            let &Job { number: job, submit, size, estimate, .. } = &state.trace.jobs()[id];
            WaitingJob { job, submit, size, estimate }
        };
        Ok(state.queue.iter().map(waiting).collect())
    }

    /// Number of waiting jobs.
    #[getter]
    fn waiting_count(&self) -> PyResult<usize> {
        let state = self.state()?;
        Ok(state.queue.len())
    }

    /// Running jobs in order of submission.
    #[getter]
    fn running(&self) -> PyResult<Vec<RunningJob>> {
        let state = self.state()?;
        let mut ids: Vec<usize> = state.ends.iter().map(|Reverse((_, id))| *id).collect();
        ids.sort_unstable();
        let running = |id: usize| {
            let &Job { number: job, size, estimate, .. } = &state.trace.jobs()[id];
            let start = state.starts[id].unwrap_or(state.now);
            let processors = numbers(&state.held[id]);
            RunningJob { job, start, size, estimated_end: start + estimate, processors }
        };
        Ok(ids.into_iter().map(running).collect())
    }

    /// Numbers of the free processors in ascending order.
    #[getter]
    fn free(&self) -> PyResult<Vec<u32>> {
        let state = self.state()?;
        Ok(state.machine.free_nodes().map(|node| node.0).collect())
    }

    /// Number of free processors.
    #[getter]
    fn free_count(&self) -> PyResult<usize> {
        let state = self.state()?;
        Ok(state.machine.free_count())
    }

    /// Number of processors of the machine.
    #[getter]
    fn processors(&self) -> PyResult<usize> {
        let state = self.state()?;
        Ok(state.machine.processors())
    }

    /// Whether every job has ended.
    #[getter]
    fn done(&self) -> PyResult<bool> {
        let state = self.state()?;
        Ok(state.arrived == state.starts.len() && state.queue.is_empty() && state.ends.is_empty())
    }

    /// Table of all jobs with the start times so far.
    #[getter]
    fn jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state()?;
        let rows = state.trace.jobs().iter().zip(&state.starts);
        let rows: Vec<Row> = rows.map(|(job, start)| Row { job: *job, start: *start }).collect();
        to_python(py, frame(&rows)?)
    }

    /// Returns the processors that each allocator would choose for the job at a position of the queue, in the order of the
    /// allocators; `None` for an allocator that refuses.
    fn propose(&self, position: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vec<u32>>>> {
        let mut state = self.state()?;
        let id = state.waiting(natural("position", position)?)?;
        let count = state.allocators.len();
        if count < 2 {
            return Err(UsageError::new_err(
                "propose: the simulation has only one allocator; pass a list as alloc",
            ));
        }
        let proposals = (0..count).map(|allocator| state.ask(allocator, id));
        proposals.map(|proposal| Ok(proposal?.as_deref().map(numbers))).collect()
    }

    /// Returns the sum of the distances between all pairs of the given processors, in hops.
    fn pairwise_l1(&self, processors: &Bound<'_, PyAny>) -> PyResult<u64> {
        let state = self.state()?;
        let processors = state.listed(processors)?;
        let topology = state.machine.topology();
        let pairs = processors.iter().enumerate().flat_map(|(i, &a)| {
            processors[..i].iter().map(move |&b| u64::from(topology.hops(NodeId(a), NodeId(b))))
        });
        Ok(pairs.sum())
    }

    /// Starts the job at a position of the queue; position 0 is the head. The job starts on the given processors or, if
    /// none are given, on the processors that the first allocator chooses. Returns `False` if too few processors are
    /// free or the allocator refuses; the job then keeps its position.
    #[pyo3(signature = (position, processors=None))]
    fn start(
        &self,
        position: &Bound<'_, PyAny>,
        processors: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let mut state = self.state()?;
        let position = natural("position", position)?;
        let id = state.waiting(position)?;
        let job = state.trace.jobs()[id];
        let nodes = match processors {
            None => match state.ask(0, id)? {
                Some(nodes) => nodes,
                None => return Ok(false),
            },
            Some(processors) => {
                let processors = state.listed(processors)?;
                let mut distinct = processors.clone();
                distinct.sort_unstable();
                distinct.dedup();
                let free = |&node: &u32| state.machine.is_free(NodeId(node));
                if distinct.len() != job.size as usize || processors.len() != distinct.len() {
                    return Err(UsageError::new_err(format!(
                        "job {} needs {} distinct processors, not {}",
                        job.number,
                        job.size,
                        processors.len()
                    )));
                }
                if let Some(busy) = processors.iter().find(|node| !free(node)) {
                    return Err(UsageError::new_err(format!(
                        "job {}: processor {busy} is not free",
                        job.number
                    )));
                }
                processors.into_iter().map(NodeId).collect()
            }
        };
        let now = state.now;
        state.queue.remove(position);
        state.machine.occupy(&nodes);
        state.held[id] = nodes;
        state.starts[id] = Some(now);
        state.ends.push(Reverse((now + job.run, id)));
        Ok(true)
    }

    /// Advances to the next instant at which a job ends or arrives. Returns `False` if all jobs have ended. Raises
    /// `UsageError` if jobs wait, no job is running, and no job arrives later.
    fn advance(&self) -> PyResult<bool> {
        self.state()?.advance()
    }

    fn __repr__(&self) -> PyResult<String> {
        let state = self.state()?;
        let (waiting, running) = (state.queue.len(), state.ends.len());
        Ok(format!("<replay.Simulation at {} s: {waiting} jobs wait, {running} run>", state.now))
    }
}
