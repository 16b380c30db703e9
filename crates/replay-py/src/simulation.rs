//! A simulation whose scheduler is the caller.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use replay::cli::embed;

use crate::allocator::{Raised, raised, strategy};
use crate::error::{UsageError, refused, report};
use crate::table::Table;
use crate::trace::Workload;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::allocator::{Allocator, MachineEvent, Refusal, Request, RunSetup, Times};
use replay_core::machine::Machine;
use replay_core::table::{Column, Table as Rows, name};
use replay_core::topology::NodeId;
use replay_core::workload::Job;
use replay_experiment::{Measure, Trace};

/// A job that waits, as `Simulation.queue` lists it.
#[pyclass(frozen, module = "replay", get_all)]
#[derive(Clone)]
pub struct WaitingJob {
    /// Number of the job in the trace.
    job: i64,
    /// Submission, in seconds of the trace.
    submit: i64,
    /// Processors.
    size: u32,
    /// The user's estimate of the run time, in seconds.
    estimate: i64,
}

/// A job that runs, as `Simulation.running` lists it.
#[pyclass(frozen, module = "replay", get_all)]
#[derive(Clone)]
pub struct RunningJob {
    /// Number of the job in the trace.
    job: i64,
    /// Start, in seconds of the trace.
    start: i64,
    /// Processors.
    size: u32,
    /// End by the user's estimate, in seconds of the trace.
    estimated_end: i64,
    /// The numbers of its processors.
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

/// A job with its start.
struct Row {
    job: Job,
    start: Option<i64>,
}

impl Rows for Row {
    const NAME: &'static str = "starts";
    const ROW: &'static str = "one row per job, in order of submission";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::new(name::job, "", "job number in the trace", |row: &Self| row.job.number),
            Column::new(name::submit, "s", "submission", |row: &Self| row.job.submit),
            Column::new(name::size, "processors", "processors", |row: &Self| row.job.size),
            Column::new(name::run_time, "s", "run time", |row: &Self| row.job.run),
            Column::new(
                name::start,
                "s",
                "start; null if the job has not started",
                |row: &Self| row.start,
            ),
            Column::new(name::wait, "s", "start less submission", |row: &Self| {
                row.start.map(|start| start - row.job.submit)
            }),
        ]
    }
}

/// The engine step by step: the caller decides which waiting job starts and when time goes on.
#[pyclass(subclass, module = "replay._engine")]
pub struct Simulation {
    trace: Arc<Trace>,
    machine: Machine,
    /// The first places jobs; each makes a proposal.
    allocators: Mutex<Vec<Box<dyn Allocator>>>,
    raised: Raised,
    now: i64,
    /// Jobs that have arrived.
    arrived: usize,
    queue: Vec<usize>,
    /// Ends of running jobs; ties by job.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    starts: Vec<Option<i64>>,
    held: Vec<Vec<NodeId>>,
}

impl Simulation {
    fn request(&self, id: usize) -> Request {
        let job = &self.trace.jobs()[id];
        let times = Times { now: self.now, limit: job.limit, job: Some(job.number) };
        Request { times, ..Request::shaped(job.size, job.shape) }
    }

    /// The job at a position of the queue.
    fn waiting(&self, position: usize) -> PyResult<usize> {
        let waiting = self.queue.len();
        let none = || {
            PyIndexError::new_err(format!(
                "no job at position {position} of the queue; {waiting} wait"
            ))
        };
        self.queue.get(position).copied().ok_or_else(none)
    }

    /// Asks an allocator for processors; `None` if it refuses.
    fn ask(&mut self, allocator: usize, id: usize) -> PyResult<Option<Vec<NodeId>>> {
        let request = self.request(id);
        let mut chosen = Vec::new();
        let allocators =
            self.allocators.get_mut().map_err(|error| PyValueError::new_err(error.to_string()))?;
        match allocators[allocator].allocate(&self.machine, request, &mut chosen) {
            Ok(()) => Ok(Some(chosen)),
            Err(Refusal::Cancelled(_)) => {
                Err(raised(&self.raised).unwrap_or_else(|| PyValueError::new_err("interrupted")))
            }
            Err(_) => Ok(None),
        }
    }
}

/// Processor numbers for the caller.
fn numbers(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

#[pymethods]
impl Simulation {
    /// The first jobs have arrived, none has started.
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
        let slot = Raised::default();
        let mut specs: Vec<AllocatorSpec> = Vec::new();
        for allocator in &allocators {
            match allocator.extract::<String>() {
                Ok(name) => {
                    let spec =
                        name.parse().map_err(|error| UsageError::new_err(format!("{error}")))?;
                    specs.push(spec);
                }
                Err(_) => specs.push(strategy(allocator, &slot)?),
            }
        }
        options.extend(["--alloc".into(), "random".into()]);
        let resolve = || embed::resolve(&options, vec![workload.jobs.clone()], Measure::default());
        let (grid, messages) = embed::with_messages(resolve);
        report(py, messages, false)?;
        let trace = match <[Arc<Trace>; 1]>::try_from(grid.map_err(refused)?.traces) {
            Ok([trace]) => trace,
            Err(_) => return Err(UsageError::new_err("a simulation takes one machine")),
        };
        if !trace.outages().is_empty() || !trace.chains().follows.is_empty() {
            return Err(UsageError::new_err(
                "a simulation step by step supports neither outages nor dependencies",
            ));
        }
        let jobs = trace.workload.jobs.iter().skip(first).take(count.unwrap_or(usize::MAX));
        let trace = match (first, count) {
            (0, None) => trace,
            _ => Arc::new(trace.with_jobs(jobs.copied().collect())),
        };
        if trace.jobs().is_empty() {
            return Err(UsageError::new_err(format!("first={first}: the trace has no such job")));
        }
        let mut built = Vec::new();
        for spec in specs {
            let wrong = |error: &dyn std::fmt::Display| UsageError::new_err(error.to_string());
            let mut allocator = spec
                .on(&trace.topology)
                .build(&trace.topology, seed)
                .map_err(|error| wrong(&error))?;
            let capabilities = allocator.capabilities();
            let (folds, hosts) = (capabilities.folds, capabilities.hosts.is_some());
            if spec.recorded() || folds || hosts || capabilities.rejects_unsupported_sizes {
                return Err(UsageError::new_err(format!(
                    "a simulation step by step does not support {spec}"
                )));
            }
            // Allocators with books of their own take what they propose for placed.
            if allocators.len() > 1
                && (!capabilities.keeps_schedule || allocator.stats().census.is_some())
            {
                let problem = "several allocators: each serves every job with single processors";
                return Err(UsageError::new_err(format!(
                    "{spec} cannot make proposals beside others ({problem})"
                )));
            }
            let setup = RunSetup { jobs: trace.jobs(), ..RunSetup::default() };
            allocator
                .begin(&setup)
                .map_err(|error| raised(&slot).unwrap_or_else(|| wrong(&error)))?;
            built.push(allocator);
        }
        let count = trace.jobs().len();
        let mut simulation = Self {
            machine: Machine::new(trace.topology.clone()),
            trace,
            allocators: Mutex::new(built),
            raised: slot,
            now: 0,
            arrived: 0,
            queue: Vec::new(),
            ends: BinaryHeap::new(),
            starts: vec![None; count],
            held: vec![Vec::new(); count],
        };
        simulation.advance()?;
        Ok(simulation)
    }

    /// The time, in seconds of the trace.
    #[getter]
    fn now(&self) -> i64 {
        self.now
    }

    /// The waiting jobs in order of arrival.
    #[getter]
    fn queue(&self) -> Vec<WaitingJob> {
        let waiting = |&id: &usize| {
            let &Job { number: job, submit, size, estimate, .. } = &self.trace.jobs()[id];
            WaitingJob { job, submit, size, estimate }
        };
        self.queue.iter().map(waiting).collect()
    }

    /// The number of waiting jobs.
    #[getter]
    fn waiting_count(&self) -> usize {
        self.queue.len()
    }

    /// The running jobs, in order of submission.
    #[getter]
    fn running(&self) -> Vec<RunningJob> {
        let mut ids: Vec<usize> = self.ends.iter().map(|Reverse((_, id))| *id).collect();
        ids.sort_unstable();
        let running = |id: usize| {
            let &Job { number: job, size, estimate, .. } = &self.trace.jobs()[id];
            let start = self.starts[id].unwrap_or(self.now);
            let processors = numbers(&self.held[id]);
            RunningJob { job, start, size, estimated_end: start + estimate, processors }
        };
        ids.into_iter().map(running).collect()
    }

    /// The numbers of the free processors in ascending order.
    #[getter]
    fn free(&self) -> Vec<u32> {
        self.machine.free_nodes().map(|node| node.0).collect()
    }

    /// The number of free processors.
    #[getter]
    fn free_count(&self) -> usize {
        self.machine.free_count()
    }

    /// The number of processors.
    #[getter]
    fn processors(&self) -> usize {
        self.machine.processors()
    }

    /// Whether every job has ended.
    #[getter]
    fn done(&self) -> bool {
        self.arrived == self.starts.len() && self.queue.is_empty() && self.ends.is_empty()
    }

    /// The starts so far, a row for each job.
    #[getter]
    fn jobs(&self) -> PyResult<Table> {
        let rows = self.trace.jobs().iter().zip(&self.starts);
        Table::of(&rows.map(|(job, start)| Row { job: *job, start: *start }).collect::<Vec<_>>())
    }

    /// The processors that each allocator would give the job at a position of the queue, in the order of the
    /// allocators; `None` for one that refuses.
    fn propose(&mut self, position: usize) -> PyResult<Vec<Option<Vec<u32>>>> {
        let id = self.waiting(position)?;
        let count = self.allocators.get_mut().map_or(0, |allocators| allocators.len());
        if count < 2 {
            return Err(UsageError::new_err("proposals need several allocators"));
        }
        let proposals = (0..count).map(|allocator| self.ask(allocator, id));
        proposals.map(|proposal| Ok(proposal?.as_deref().map(numbers))).collect()
    }

    /// The sum of the distances between these processors, in hops.
    fn pairwise_l1(&self, processors: Vec<u32>) -> PyResult<u64> {
        let topology = self.machine.topology();
        if let Some(wrong) = processors.iter().find(|&&node| node as usize >= topology.processors())
        {
            return Err(PyIndexError::new_err(format!("there is no processor {wrong}")));
        }
        let pairs = processors.iter().enumerate().flat_map(|(i, &a)| {
            processors[..i].iter().map(move |&b| u64::from(topology.hops(NodeId(a), NodeId(b))))
        });
        Ok(pairs.sum())
    }

    /// Starts the job at a position of the queue, 0 for its head, on processors of the first allocator or on these.
    /// Returns whether it starts: `False` if too few processors are free or the allocator refuses.
    #[pyo3(signature = (position, processors=None))]
    fn start(&mut self, position: usize, processors: Option<Vec<u32>>) -> PyResult<bool> {
        let id = self.waiting(position)?;
        let job = self.trace.jobs()[id];
        let nodes = match processors {
            None => match self.ask(0, id)? {
                Some(nodes) => nodes,
                None => return Ok(false),
            },
            Some(processors) => {
                let mut distinct = processors.clone();
                distinct.sort_unstable();
                distinct.dedup();
                let free = |&node: &u32| {
                    (node as usize) < self.machine.processors()
                        && self.machine.is_free(NodeId(node))
                };
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
        self.queue.remove(position);
        self.machine.occupy(&nodes);
        self.held[id] = nodes;
        self.starts[id] = Some(self.now);
        self.ends.push(Reverse((self.now + job.run, id)));
        Ok(true)
    }

    /// Goes on to the next instant at which jobs end or arrive. Returns whether there is one; with waiting jobs that were
    /// not started and nothing to come it is an error.
    fn advance(&mut self) -> PyResult<bool> {
        let jobs = self.trace.jobs();
        let arrival = jobs.get(self.arrived).map(|job| job.submit);
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let Some(next) = arrival.into_iter().chain(end).min() else {
            if self.queue.is_empty() {
                return Ok(false);
            }
            let waiting = self.queue.len();
            return Err(UsageError::new_err(format!(
                "{waiting} jobs wait, and nothing runs or arrives: start one"
            )));
        };
        self.now = next;
        let allocators =
            self.allocators.get_mut().map_err(|error| PyValueError::new_err(error.to_string()))?;
        while let Some(&Reverse((end, id))) = self.ends.peek() {
            if end > next {
                break;
            }
            self.ends.pop();
            let nodes = std::mem::take(&mut self.held[id]);
            self.machine.release(&nodes);
            for allocator in allocators.iter_mut() {
                allocator.on_event(&self.machine, MachineEvent::Released(&nodes));
            }
        }
        while let Some(job) = jobs.get(self.arrived).filter(|job| job.submit <= next) {
            let request = Request::shaped(job.size, job.shape);
            for allocator in allocators.iter_mut() {
                allocator.on_event(&self.machine, MachineEvent::JobQueued(request));
            }
            self.queue.push(self.arrived);
            self.arrived += 1;
        }
        Ok(true)
    }

    fn __repr__(&self) -> String {
        let (waiting, running) = (self.queue.len(), self.ends.len());
        format!("<replay.Simulation at {} s: {waiting} jobs wait, {running} run>", self.now)
    }
}
