//! Loads the traces of a grid, combines them with its machines, and creates the cells.

mod input_error;
mod load;
mod notices;
mod recorded;

pub use input_error::InputError;
pub use load::load_traces;
pub use notices::Notices;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compatibility::{check_grid, check_outages, check_partitions, check_strategies};
use crate::grid::ParameterGrid;
use crate::partitions::{PartitionedJobs, Partitions, PartitionsError, never_text};
use crate::sweep::Plan;
use crate::{Cell, Prepared, Trace};
use recorded::{
    placed, repeats_places, report_left_out_pairs, report_missing_waits, report_oversubscription,
};
use replay_engine::allocator::Request;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::number::{counted, grouped};
use replay_engine::sanitize::excerpt;
use replay_engine::scheduler::WhenFull;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{OutageError, OutageFile, Outages};
use replay_engine::topology::{DefaultMachine, MAX_POINTS, Topology, default_machine, split_name};
use replay_engine::workload::estimates::{Estimates, EstimatesError};
use replay_engine::workload::{
    Dependencies, Job, Oversize, Policy, Workload, scale_load, scaled_name,
};

/// Traces, and the allocators that work with these traces. The traces are read only once, because a pipe can be read
/// only once. The strategies are built only once, because building a strategy for a large machine takes long.
pub struct Tried {
    /// The traces.
    pub traces: Vec<Arc<Trace>>,
    /// Allocators that work on all machines with all schedulers.
    pub works: Vec<AllocatorSpec>,
    /// Allocators that were built for the test, so that runs need not build them again.
    pub prepared: Prepared,
}

/// A grid with its loaded traces, whose cells can run.
#[derive(Debug)]
pub struct ResolvedGrid {
    /// The cells by number.
    pub plan: Plan,
    /// Every combination of a trace, a policy and a machine.
    pub traces: Vec<Arc<Trace>>,
}

impl ResolvedGrid {
    /// Loads the traces of a grid. If there is a grid file `file`, errors about traces contain its name.
    ///
    /// # Errors
    /// A usage error for names that cannot be used together; a data error for a wrong trace.
    pub fn load(
        grid: ParameterGrid,
        file: Option<&Path>,
        notices: Notices<'_>,
    ) -> Result<Self, InputError> {
        check_grid(&grid)?;
        let outages = outages(&grid)?;
        let of_policy = |policy| {
            let errors = grid.file.max_errors;
            let workloads = match grid.workloads.is_empty() {
                true => load_traces(&grid.file.traces, policy, &grid.window, errors, notices)?,
                false => grid.workloads.clone(),
            };
            on_machines(workloads, &grid, outages.as_ref(), policy, notices)
        };
        let mut traces = Vec::new();
        for policy in &grid.policies {
            traces.extend(of_policy(policy).map_err(|failure| match file {
                Some(file) => failure.within(format!("{}: traces", file.display())),
                None => failure,
            })?);
        }
        // For the machines of the grid, strategies were built and checked when the grid was resolved. Strategies are
        // not built again, because building a strategy takes long for a large machine.
        let machines = traces.iter().map(|trace| &trace.topology);
        check_strategies(&grid, machines.filter(|machine| !grid.machines.contains(machine)), &[])?;
        Self::checked(grid, traces, notices)
    }

    /// Creates the cells of a grid from traces that were loaded to select its allocators.
    ///
    /// # Errors
    /// A usage error if a strategy does not work.
    pub fn planned(
        mut grid: ParameterGrid,
        tried: Tried,
        notices: Notices<'_>,
    ) -> Result<Self, InputError> {
        let Tried { traces, works, prepared } = tried;
        grid.prepared = prepared;
        check_strategies(&grid, traces.iter().map(|trace| &trace.topology), &works)?;
        Self::checked(grid, traces, notices)
    }

    /// Creates the cells of a grid whose strategies are known to work.
    fn checked(
        grid: ParameterGrid,
        traces: Vec<Arc<Trace>>,
        notices: Notices<'_>,
    ) -> Result<Self, InputError> {
        check_outages(&grid, &traces)?;
        check_partitions(&grid, &traces)?;
        let plan = Plan::new(grid, &traces).map_err(InputError::usage)?;
        report_left_out_pairs(&plan, notices)?;
        Ok(Self { plan, traces })
    }

    /// Returns the paths of the input files.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let traces = self.traces.iter().map(|trace| trace.workload.source.clone());
        let file = &self.plan.grid.file;
        let down = file.down.iter().map(|down| PathBuf::from(&down.file));
        let map = file.node_map.iter().map(PathBuf::from);
        let estimates = match &self.plan.grid.estimates {
            Estimates::File(file) => Some(PathBuf::from(file)),
            _ => None,
        };
        let machines = file.machines.iter().filter_map(|name| split_name(name));
        let machines = machines.map(|(path, _)| PathBuf::from(path));
        traces.chain(down).chain(map).chain(estimates).chain(machines).collect()
    }

    /// Returns all cells in order.
    ///
    /// # Errors
    /// A usage error if a strategy cannot be built.
    pub fn cells(&self) -> Result<Vec<Cell>, InputError> {
        let cell = |run| self.plan.cell(&self.traces, run).map_err(InputError::usage);
        (0..self.plan.len()).map(cell).collect()
    }

    /// Returns the distinct strategies.
    ///
    /// # Errors
    /// A usage error if a strategy cannot be built.
    pub fn allocators(&self) -> Result<Vec<AllocatorSpec>, InputError> {
        let strategies = &self.plan.grid.strategies;
        let strategy = |index| strategies.get(index).map_err(InputError::usage);
        (0..strategies.len()).map(strategy).collect()
    }
}

/// Returns a trace for each combination of a workload and a machine of a grid. If the grid has no machines, each
/// workload runs on the machine that the header of its log defines.
fn on_machines(
    workloads: Vec<Arc<Workload>>,
    grid: &ParameterGrid,
    outages: Option<&OutageFile>,
    policy: &Policy,
    notices: Notices<'_>,
) -> Result<Vec<Arc<Trace>>, InputError> {
    let mut traces = Vec::new();
    for workload in with_distinct_names(workloads) {
        let machines = match &grid.machines[..] {
            [] => vec![machine_of(&workload, notices)?],
            named => named.to_vec(),
        };
        for machine in machines {
            warn_of_a_larger_machine(&workload, &machine, notices);
            let outages = Arc::new(outages_on(outages, grid, &machine)?);
            let workload = fitted(&workload, &machine, grid, policy.oversize, notices)?;
            let rule = |scheduler: &SchedulerSpec| match grid.file.strict {
                true => scheduler.recorded().and(Some(WhenFull::Error)),
                false => scheduler.recorded(),
            };
            let workload = estimated(&workload, grid, notices)?;
            let recorded = grid.schedulers.iter().filter_map(rule).max();
            if recorded.is_some() {
                report_missing_waits(&workload, notices)?;
            }
            let (workload, partitions) = partitioned(workload, &machine, grid, notices)?;
            for workload in at_loads(&workload, &machine, &grid.loads, notices)? {
                let machine = machine.clone();
                let trace = Trace::new(workload, machine, policy.name, &grid.schedulers);
                let trace = trace.with_dependencies(grid.deps).with_outages(outages.clone());
                let trace = trace.with_partitions(partitions.clone());
                let trace = trace.prepared(grid.prepared.clone());
                let (some, all) = repeats_places(grid)?;
                let trace = match (some, recorded) {
                    (true, Some(rule)) => placed(trace, grid, rule, notices)?,
                    _ => trace,
                };
                if grid.deps != Dependencies::Ignore {
                    let name = &trace.workload.name;
                    notices.line(format_args!(
                        "{name}, deps={}: {}",
                        grid.deps.name(),
                        trace.chains()
                    ));
                }
                // Oversubscription was already reported if all strategies repeat recorded placements, or if some do and
                // each point has one processor.
                let is_reported = all || some && trace.topology.per_point() == 1;
                if let Some(rule) = recorded.filter(|_| !is_reported) {
                    report_oversubscription(&trace, rule, notices)?;
                }
                traces.push(Arc::new(trace));
            }
        }
    }
    Ok(traces)
}

/// Returns a workload with the estimates of a grid.
///
/// # Errors
/// A usage error if a file of estimates cannot be read, a data error if it is not valid.
pub fn estimated(
    workload: &Arc<Workload>,
    grid: &ParameterGrid,
    notices: Notices<'_>,
) -> Result<Arc<Workload>, InputError> {
    if grid.estimates == Estimates::Field9 {
        return Ok(workload.clone());
    }
    let mut changed = Workload::clone(workload);
    let report = grid.estimates.apply(&mut changed).map_err(|error| match error {
        error @ EstimatesError::Unreadable(_) => InputError::usage(error),
        error => InputError::data(error),
    })?;
    notices.line(format_args!("{}, estimates={}: {report}", changed.name, grid.estimates));
    Ok(Arc::new(changed))
}

/// Reads the file of outages of a grid, which does not depend on the machine.
fn outages(grid: &ParameterGrid) -> Result<Option<OutageFile>, InputError> {
    let Some(down) = &grid.file.down else { return Ok(None) };
    let file = File::open(&down.file).map_err(|error| {
        InputError::usage(anyhow::Error::new(error).context(format!("cannot read {}", down.file)))
    })?;
    OutageFile::read(file, &down.file).map(Some).map_err(|error| match error {
        error @ OutageError::Read { .. } => InputError::usage(error),
        error => InputError::data(error),
    })
}

/// Resolves the outages of a file on a machine.
fn outages_on(
    file: Option<&OutageFile>,
    grid: &ParameterGrid,
    machine: &Topology,
) -> Result<Outages, InputError> {
    let windows = file.map_or(Ok(Vec::new()), |file| file.on(machine)).map_err(InputError::data)?;
    let walls = grid.file.down.as_ref().is_some_and(|down| down.walls);
    Ok(Outages { windows, running: grid.when_down, walls })
}

/// Resolves the partitions of a grid on a machine, and leaves out the jobs that these do not accept.
fn partitioned(
    workload: Arc<Workload>,
    machine: &Topology,
    grid: &ParameterGrid,
    notices: Notices<'_>,
) -> Result<(Arc<Workload>, Option<Arc<Partitions>>), InputError> {
    let Some(options) = &grid.partitions else { return Ok((workload, None)) };
    let partitions = Partitions::on(options, &workload, machine).map_err(|error| match error {
        PartitionsError::Definition(problem) => {
            InputError::usage_message(format!("--partition: {problem} (machine {machine})"))
        }
        error @ PartitionsError::Job(_) => InputError::data(error),
    })?;
    let name = &workload.name;
    notices.line(format_args!("{name} on {machine}: {}", partitions.describe(&workload)));
    let PartitionedJobs { jobs, never, unknown } = partitions.accepted(&workload, machine);
    if !never.is_empty() {
        let left_out: u64 = never.values().sum();
        let (jobs, whose) = (counted(left_out, "job"), if left_out == 1 { "its" } else { "their" });
        let reasons = never_text(&never);
        notices.line(format_args!(
            "{name} on {machine}: {jobs} left out that can never start in {whose} partition: {reasons}"
        ));
    }
    if unknown > 0 {
        let jobs = counted(unknown, "job");
        notices.line(format_args!(
            "{name} on {machine}: {jobs} in partitions without a definition left out"
        ));
    }
    if jobs.is_empty() {
        return Err(InputError::usage_message(format!(
            "{name}: no job can start in its partition on {machine}"
        )));
    }
    let workload = match jobs.len() == workload.jobs.len() {
        true => workload,
        false => Arc::new(workload.with_jobs(jobs)),
    };
    Ok((workload, Some(Arc::new(partitions))))
}

/// Returns a copy of a workload for every load; without loads, returns the workload itself. Each copy is scaled to its
/// load and has the load in its name.
fn at_loads(
    workload: &Arc<Workload>,
    machine: &Topology,
    loads: &[f64],
    notices: Notices<'_>,
) -> Result<Vec<Arc<Workload>>, InputError> {
    if loads.is_empty() {
        return Ok(vec![workload.clone()]);
    }
    let processors = machine.capacity();
    let at = |&load: &f64| {
        let mut scaled = Workload::clone(workload);
        let Some(scaling) = scale_load(&mut scaled.jobs, processors, load) else {
            let name = &workload.name;
            let why = "all jobs are submitted at one instant, or no job runs, so the trace has no load to scale";
            return Err(InputError::usage_message(format!("--scale-load: {name}: {why}")));
        };
        scaled.name = scaled_name(&workload.name, load);
        notices.line(format_args!(
            "{}: load {:.4} on {} processors, times between arrivals x {:.4}, load {:.4} after rounding{}",
            scaled.name,
            scaling.before,
            grouped(processors as u64),
            scaling.factor,
            scaling.after,
            if load > 1.0 {
                "; above a load of 1, waits grow with the length of the trace"
            } else {
                ""
            },
        ));
        Ok(Arc::new(scaled))
    };
    loads.iter().map(at).collect()
}

/// If different traces have the same name, appends the first eight digits of their digests to their names. Removes
/// repetitions of a trace.
fn with_distinct_names(workloads: Vec<Arc<Workload>>) -> Vec<Arc<Workload>> {
    let mut distinct: Vec<Arc<Workload>> = Vec::new();
    for workload in workloads {
        if !distinct
            .iter()
            .any(|other| other.digest == workload.digest && other.name == workload.name)
        {
            distinct.push(workload);
        }
    }
    let clashes = |name: &str| distinct.iter().filter(|other| other.name == name).count() > 1;
    let renamed = distinct.iter().map(|workload| {
        if !clashes(&workload.name) {
            return workload.clone();
        }
        let name = format!("{}~{}", workload.name, &workload.digest[..8]);
        Arc::new(Workload { name, ..Workload::clone(workload) })
    });
    renamed.collect()
}

fn machine_of(workload: &Workload, notices: Notices<'_>) -> Result<Topology, InputError> {
    let header = &workload.header;
    let source = workload.source.display();
    let of_header = [("MaxProcs", header.max_procs()), ("MaxNodes", header.max_nodes())];
    let mut of_header = of_header.into_iter().map(|(key, value)| match value {
        Some(value) => Ok(Some((key, value as usize))),
        None => header.unreadable(key).map_or(Ok(None), |text| Err((key, text))),
    });
    // MaxNodes does not replace a value of MaxProcs that has digits but cannot be read.
    let usable = of_header.find_map(Result::transpose).transpose();
    let message = "the header has no usable MaxProcs; set the machine with --machine";
    let (key, processors) = match usable {
        Ok(Some(usable)) => usable,
        Ok(None) => return Err(InputError::usage_message(format!("{source}: {message}"))),
        Err((key, text)) => {
            let message =
                format!("{source}: {message} ({key} \"{}\" is not one integer)", excerpt(text));
            return Err(InputError::usage_message(message));
        }
    };
    let machine = default_machine(processors).ok_or_else(|| {
        InputError::usage_message(format!(
            "{source}: the header's {key} is {processors}; a machine has 1 to {} processors and sides up to 65,535; set \
             the machine with --machine",
            grouped(MAX_POINTS as u64)
        ))
    })?;
    let machine = DefaultMachine { rule: machine.rule.replace("MaxProcs", key), ..machine };
    notices.line(format_args!("{}: machine {machine}", workload.name));
    Ok(machine.topology)
}

/// Warns if a machine has more processors than the machine of the log, because utilization and load are shares of all
/// processors.
fn warn_of_a_larger_machine(workload: &Workload, machine: &Topology, notices: Notices<'_>) {
    let Some(of_log) = workload.header.max_procs() else { return };
    let processors = machine.capacity();
    if processors > of_log as usize {
        notices.line(format_args!(
            "{} on {machine}: warning: the log's machine has {} processors (MaxProcs), this machine has {}; utilization \
             and load are shares of the processors of this machine",
            workload.name,
            grouped(of_log),
            grouped(processors as u64)
        ));
    }
}

/// Returns whether every strategy of a grid folds all jobs that are larger than the machine.
fn all_fold(
    grid: &ParameterGrid,
    workload: &Workload,
    machine: &Topology,
) -> Result<bool, InputError> {
    let processors = machine.processors() as u32;
    if machine.per_point() > 1 {
        return Ok(false);
    }
    for index in 0..grid.strategies.len() {
        let strategy = grid.strategies.get(index).map_err(InputError::usage)?;
        let all_fold = grid.prepared.check(&strategy, machine, |built| {
            let folds = |job: &Job| {
                let bounds = built.bounds(Request::shaped(job.size, job.shape));
                bounds.min_processors <= processors && bounds.servable
            };
            Ok(workload.jobs.iter().filter(|job| job.size > processors).all(folds))
        })?;
        if !all_fold {
            return Ok(false);
        }
    }
    Ok(true)
}

fn fitted(
    workload: &Arc<Workload>,
    machine: &Topology,
    grid: &ParameterGrid,
    rule: Oversize,
    notices: Notices<'_>,
) -> Result<Arc<Workload>, InputError> {
    let times = workload.jobs.iter().map(|job| i128::from(job.run.max(job.estimate)));
    let latest = workload.jobs.iter().map(|job| i128::from(job.submit)).max().unwrap_or(0);
    if latest + times.sum::<i128>() > i128::from(i64::MAX / 4) {
        let source = workload.source.display();
        return Err(InputError::data(anyhow::anyhow!(
            "{source}: the sum of the times in this trace is out of range"
        )));
    }
    if machine.per_point() > 1 {
        let shaped = workload.jobs.iter().filter(|job| job.shape.is_some()).count();
        if shaped > 0 {
            notices.line(format_args!(
                "{} on {machine}: the shapes of {} are ignored, because shapes are in processors and each point of the machine has several processors",
                workload.name,
                counted(shaped as u64, "job")
            ));
        }
    }
    let processors = machine.capacity() as u32;
    if workload.jobs.iter().all(|job| job.size <= processors) {
        return Ok(workload.clone());
    }
    if rule == Oversize::Error && all_fold(grid, workload, machine)? {
        let larger = workload.jobs.iter().filter(|job| job.size > processors).count();
        let (name, jobs) = (&workload.name, counted(larger as u64, "job"));
        let are = if larger == 1 { "is" } else { "are" };
        notices.line(format_args!(
            "{name} on {machine}: {jobs} {are} larger than the machine and {are} folded"
        ));
        return Ok(workload.clone());
    }
    let mut fitted = Workload::clone(workload);
    fitted.fit_to_machine(processors, rule).map_err(|e| {
        InputError::data(anyhow::Error::new(e).context(format!(
            "machine {machine} is too small (use --oversize drop or clamp, or a larger --machine)"
        )))
    })?;
    if fitted.jobs.is_empty() {
        return Err(InputError::usage_message(format!("{}: no job fits {machine}", workload.name)));
    }
    notices.line(format_args!("{} on {machine}", fitted.report));
    Ok(Arc::new(fitted))
}
