//! Compatibility of allocators, schedulers, machines and grid settings.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::grid::{ParameterGrid, idle_parameter};
use crate::{Cell, Prepared, Trace};
use replay_engine::allocator::Allocator;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::NameError;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{self, SimulationError, is_always_coupled};
use replay_engine::topology::Topology;
use replay_engine::workload::Dependencies;

/// Allocators for hypercubes, for clusters, and for any machine. These allocators are used on machines other than
/// meshes and tori.
pub const ELSEWHERE: &str =
    "cube-buddy,gray-code,multiple-gray-code,cube-free-list,afl,elmer,random";

/// An incompatibility and its reason.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{problem}", parameter.map(|key| format!("{key}: ")).unwrap_or_default())]
pub struct Incompatible {
    /// Key of the grid file that has the error; `None` if the error concerns a strategy or a machine.
    pub parameter: Option<&'static str>,
    /// Description of the error, without the key.
    pub problem: String,
}

impl Incompatible {
    /// Creates an error about a strategy or a machine.
    pub fn new(problem: String) -> Self {
        Self { parameter: None, problem }
    }

    /// Creates an error about the value of a parameter.
    pub fn of(parameter: &'static str, problem: impl Into<String>) -> Self {
        Self { parameter: Some(parameter), problem: problem.into() }
    }

    /// Creates the error of a strategy that does not support a machine.
    pub fn on(machine: &Topology, error: &NameError) -> Self {
        Self::new(format!("{error} (machine {machine})"))
    }
}

impl From<NameError> for Incompatible {
    fn from(error: NameError) -> Self {
        Self::new(error.to_string())
    }
}

/// Checks a grid on the machines that it names, before traces are loaded.
///
/// # Errors
/// [`Incompatible`] if a strategy does not support a machine, or if an option has no effect or contradicts another
/// option.
pub fn check_grid(grid: &ParameterGrid) -> Result<(), Incompatible> {
    check_strategies(grid, &grid.machines, &[])?;
    let recorded = grid.schedulers.iter().find(|scheduler| scheduler.recorded().is_some());
    match recorded {
        Some(scheduler) if grid.deps != Dependencies::Ignore => {
            let problem = format!(
                "{}: scheduler {scheduler} repeats recorded starts and ignores dependencies",
                grid.deps.name()
            );
            return Err(Incompatible::of("deps", problem));
        }
        Some(scheduler) if !grid.file.loads.is_empty() => {
            let problem = format!(
                "scheduler {scheduler} repeats recorded starts, so the load cannot be scaled"
            );
            return Err(Incompatible::of("loads", problem));
        }
        _ => {}
    }
    if grid.file.node_map.is_some()
        && !grid.strategies.of_each(AllocatorSpec::recorded)?.contains(&true)
    {
        return Err(Incompatible::of(
            "node-map",
            "applies only to allocator recorded (the file maps the nodes of a log to the machine)",
        ));
    }
    if grid.file.strict && recorded.is_none() {
        return Err(Incompatible::of(
            "strict",
            "applies only to scheduler recorded: replay stops if the log contradicts itself or \
             its machine (policy strict rejects records that cleaning would change)",
        ));
    }
    Ok(())
}

/// Checks that a grid supports the outages of its traces.
///
/// # Errors
/// [`Incompatible`] if a machine, a scheduler or an allocator does not support outages.
pub fn check_outages(grid: &ParameterGrid, traces: &[Arc<Trace>]) -> Result<(), Incompatible> {
    let Some(trace) = traces.iter().find(|trace| !trace.outages().is_empty()) else {
        return Ok(());
    };
    let machine = &trace.topology;
    let undefined = |why: String| Err(Incompatible::of("down", why));
    if machine.cluster().is_some() {
        return undefined(format!(
            "outages are not supported on {machine}, whose hosts are shared by jobs"
        ));
    }
    for scheduler in &grid.schedulers {
        if scheduler.recorded().is_some() {
            return undefined(format!(
                "scheduler {scheduler} repeats recorded starts, which already reflect outages"
            ));
        }
    }
    let mut entries = HashSet::new();
    let first = (0..grid.strategies.len()).filter(|&i| entries.insert(grid.strategies.entry(i)));
    for index in first {
        let strategy = grid.strategies.get(index)?;
        let checked =
            grid.prepared.check(&strategy, machine, |built| check_outage_support(&strategy, built));
        checked.map_err(|error| {
            let supports = |built: &dyn Allocator| built.capabilities().supports_outages;
            let problem =
                error.problem + &alternatives(grid, machine, "support outages here", supports);
            Incompatible { problem, ..error }
        })?;
    }
    Ok(())
}

/// Checks that a grid supports the partitions of its traces.
///
/// # Errors
/// [`Incompatible`] if a machine, a scheduler or an allocator does not support partitions, or if there are outages.
pub fn check_partitions(grid: &ParameterGrid, traces: &[Arc<Trace>]) -> Result<(), Incompatible> {
    for trace in traces.iter().filter(|trace| trace.job_partitions().is_some()) {
        for scheduler in &grid.schedulers {
            check_partitioned_schedule(trace, scheduler).map_err(|error| {
                let works = |name: &&str| {
                    let spec = grid.registries.schedulers.read(name).ok();
                    spec.is_some_and(|spec| check_partitioned_schedule(trace, &spec).is_ok())
                };
                let names: Vec<&str> = grid.registries.schedulers.names().filter(works).collect();
                let problem = match names.is_empty() {
                    true => error.problem,
                    false => format!("{}; schedulers that do: {}", error.problem, names.join(", ")),
                };
                Incompatible { problem, ..error }
            })?;
        }
        let machine = &trace.topology;
        let mut entries = HashSet::new();
        let first =
            (0..grid.strategies.len()).filter(|&i| entries.insert(grid.strategies.entry(i)));
        for index in first {
            let strategy = grid.strategies.get(index)?;
            let check = |built: &mut dyn Allocator| check_partitioned_allocator(&strategy, built);
            grid.prepared.check(&strategy, machine, check).map_err(|error| {
                let supports = |built: &dyn Allocator| {
                    let of = built.capabilities();
                    of.supports_outages && !of.folds
                };
                let problem = error.problem
                    + &alternatives(grid, machine, "support partitions here", supports);
                Incompatible { problem, ..error }
            })?;
        }
    }
    Ok(())
}

/// Checks that a scheduler supports the partitions of a trace.
fn check_partitioned_schedule(
    trace: &Trace,
    scheduler: &SchedulerSpec,
) -> Result<(), Incompatible> {
    let Some(partitions) = trace.job_partitions() else { return Ok(()) };
    let problem = if trace.topology.cluster().is_some() {
        let machine = &trace.topology;
        format!("partitions are not supported on {machine}, whose hosts are shared by jobs")
    } else if !trace.outages().is_empty() {
        "partitions cannot be combined with outages (down)".to_string()
    } else if scheduler.recorded().is_some() {
        format!("scheduler {scheduler} repeats recorded starts, which do not depend on partitions")
    } else if scheduler.build_partitioned(partitions).is_none() {
        format!("scheduler {scheduler} does not support partitions")
    } else {
        return Ok(());
    };
    Err(Incompatible::of("partitions", problem))
}

/// Checks that an allocator supports partitions. `built` is the allocator, built for a machine.
fn check_partitioned_allocator(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
) -> Result<(), Incompatible> {
    let capabilities = built.capabilities();
    let problem = match (capabilities.supports_outages, capabilities.folds) {
        (true, false) => return Ok(()),
        (_, true) => "folds jobs, which is not supported with partitions",
        (false, _) => {
            "needs a machine without nodes out of service and does not support partitions"
        }
    };
    Err(Incompatible::of("partitions", format!("allocator {allocator} {problem}")))
}

/// Checks that a grid of a search or contention runs has no partitions, which these experiments do not support.
///
/// # Errors
/// [`Incompatible`] that names the commands with these options.
pub fn reject_partitions(partitions: bool) -> Result<(), Incompatible> {
    match partitions {
        false => Ok(()),
        true => Err(Incompatible::new(
            "--partitions and --partition are for replay without a command, sweep, plan, show and explain"
                .to_string(),
        )),
    }
}

/// Checks that a grid of a search or of contention runs uses neither outages (`down`), a map of nodes, nor strict checks
/// of recorded schedules, which these experiments do not support.
///
/// # Errors
/// [`Incompatible`] that names the option and the commands that have this option.
pub fn reject_outages(down: bool, node_map: bool, strict: bool) -> Result<(), Incompatible> {
    let problem = match (strict, down, node_map) {
        (true, ..) => "--strict is for replay without a command, sweep, plan, show and explain",
        (_, true, _) => "--down is for replay without a command, sweep, plan, show and explain",
        (.., true) => "--node-map is for replay without a command, sweep and plan",
        _ => return Ok(()),
    };
    Err(Incompatible::new(problem.to_string()))
}

/// Maximum number of allocators that a message names.
const MOST_NAMED: usize = 8;

/// Returns the end of a message that names allocators which support `machine` with their default parameters and have the
/// property `also`, which `property` describes; empty if there are none.
fn alternatives(
    grid: &ParameterGrid,
    machine: &Topology,
    property: &str,
    also: impl Fn(&dyn Allocator) -> bool,
) -> String {
    let works = |name: &&str| {
        let spec = grid.registries.allocators.read(name).ok().filter(|spec| !spec.recorded());
        spec.and_then(|spec| spec.build(machine, 0).ok()).is_some_and(|built| also(built.as_ref()))
    };
    let mut names: Vec<&str> = grid.registries.allocators.names().filter(works).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let named = format!("; allocators that {property}: {}", names.join(", "));
    match (names.is_empty(), more) {
        (true, _) => String::new(),
        (_, 0) => named,
        _ => format!("{named} and {more} more"),
    }
}

/// Checks that an allocator supports outages. `built` is the allocator, built for a machine.
///
/// # Errors
/// [`Incompatible`] if the allocator does not support outages.
pub fn check_outage_support(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
) -> Result<(), Incompatible> {
    match built.capabilities().supports_outages {
        true => Ok(()),
        false => {
            Err(Incompatible::of("down", format!("allocator {allocator} does not support outages")))
        }
    }
}

/// Checks the strategies of a grid on machines. The strategies in `known` are not checked, because they are already
/// known to be [compatible](compatible_allocators).
///
/// # Errors
/// [`Incompatible`] if a strategy does not support a machine or a scheduler.
pub fn check_strategies<'a>(
    grid: &ParameterGrid,
    machines: impl IntoIterator<Item = &'a Topology>,
    known: &[AllocatorSpec],
) -> Result<(), Incompatible> {
    let mut seen = HashSet::new();
    let machines: Vec<&Topology> = machines.into_iter().filter(|one| seen.insert(*one)).collect();
    let mut entries = HashSet::new();
    let first: Vec<usize> =
        (0..grid.strategies.len()).filter(|&i| entries.insert(grid.strategies.entry(i))).collect();
    // Strategies are checked in parallel, because building an allocator for a large machine takes a long time.
    let on_all = |&index: &usize| -> Result<bool, Incompatible> {
        let strategy = grid.strategies.get(index)?;
        if !grid.measure.ties && known.contains(&strategy) {
            return Ok(false);
        }
        // In a plan, the allocator that repeats the log is combined only with schedulers that repeat the log.
        let is_recorded = |scheduler: &&SchedulerSpec| scheduler.recorded().is_some();
        let repeats = strategy.recorded() && grid.schedulers.iter().any(|s| is_recorded(&s));
        let mut counts = false;
        for machine in &machines {
            let with = grid.schedulers.iter().filter(|s| !repeats || is_recorded(s));
            let checked = grid.prepared.check(&strategy, machine, |built| {
                check_pairs(&strategy, built, with, machine)?;
                Ok(grid.measure.ties && built.capabilities().counts_ties)
            });
            counts |= checked.map_err(|error| match strategy.build(machine, 0) {
                Ok(_) => error,
                Err(_) => {
                    let problem = error.problem
                        + &alternatives(grid, machine, "support this machine", |_| true);
                    Incompatible { problem, ..error }
                }
            })?;
        }
        Ok(counts)
    };
    let counts: Vec<Result<bool, Incompatible>> = first.par_iter().map(on_all).collect();
    let counts: Vec<bool> = counts.into_iter().collect::<Result<_, _>>()?;
    let counted = !grid.measure.ties || machines.is_empty() || counts.contains(&true);
    if !counted {
        let problem = "none of these allocators scores candidates, so there are no ties to count";
        let scores = |built: &dyn Allocator| built.capabilities().counts_ties;
        let others = machines
            .first()
            .map(|machine| alternatives(grid, machine, "score candidates here", scores));
        return Err(Incompatible::of("ties", problem.to_string() + &others.unwrap_or_default()));
    }
    Ok(())
}

fn check_pairs<'a>(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
    schedulers: impl IntoIterator<Item = &'a SchedulerSpec>,
    machine: &Topology,
) -> Result<(), Incompatible> {
    schedulers.into_iter().try_for_each(|one| check_pair(allocator, built, one, machine))
}

/// Checks a cell. `built` is the allocator, built for this cell.
///
/// # Errors
/// [`Incompatible`] if allocator, scheduler, machine and outages are incompatible.
pub(crate) fn check_cell(cell: &Cell, built: &dyn Allocator) -> Result<(), Incompatible> {
    let Cell { trace, scheduler, allocator, .. } = cell;
    check_pair(allocator, built, scheduler, &trace.topology)?;
    if trace.job_partitions().is_some() {
        check_partitioned_schedule(trace, scheduler)?;
        check_partitioned_allocator(allocator, built)?;
    }
    match trace.outages().is_empty() {
        true => Ok(()),
        false => check_outage_support(allocator, built),
    }
}

/// Checks an allocator with a scheduler on a machine. `built` is the allocator, built for the machine.
///
/// # Errors
/// [`Incompatible`] if the scheduler or the machine does not support the allocator.
pub(crate) fn check_pair(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
    scheduler: &SchedulerSpec,
    machine: &Topology,
) -> Result<(), Incompatible> {
    if allocator.recorded() && scheduler.recorded().is_none() {
        return Err(Incompatible::new(format!(
            "allocator {allocator} repeats recorded placements, which are free only at the recorded \
             starts: use scheduler recorded instead of {scheduler}"
        )));
    }
    let strategy = built.capabilities();
    if strategy.folds && machine.per_point() > 1 {
        return Err(Incompatible::new(format!(
            "allocator {allocator} folds jobs to fewer processors, which is not supported on {machine}, \
             where jobs get whole points"
        )));
    }
    if scheduler.recorded().is_some() && is_always_coupled(built) {
        return Err(Incompatible::new(format!(
            "allocator {allocator} may change the schedule; scheduler {scheduler} repeats the \
             schedule of the log and does not support this"
        )));
    }
    simulation::check_pair(&scheduler.capabilities(), built).map_err(|error| {
        Incompatible::new(match error {
            SimulationError::Scheduler if strategy.folds => format!(
                "allocator {allocator} chooses the number of processors and the run time only when a \
                 job starts; scheduler {scheduler} reserves processors and run time when the job \
                 arrives and does not support this"
            ),
            SimulationError::Scheduler => format!(
                "allocator {allocator} may refuse a job although enough processors are free, or allocate \
                 more than requested; scheduler {scheduler} reserves numbers of processors and does not \
                 support this"
            ),
            SimulationError::NoCopies => format!(
                "scheduler {scheduler} searches for placements on a copy of the machine, which allocator \
                 {allocator} does not support; use guard=count"
            ),
            SimulationError::NoLastingPlaces => format!(
                "allocator {allocator} may refuse a job although its reserved placement is free, because \
                 its search depends on all free processors; scheduler {scheduler} cannot guarantee a placement; \
                 use guard=count"
            ),
            error => error.to_string(),
        })
    })?;
    if machine.slots() > machine.processors() && scheduler.uses_estimates() {
        return Err(Incompatible::new(format!(
            "scheduler {scheduler} uses estimates of run times, which are not defined on hosts \
             shared by jobs ({machine})"
        )));
    }
    Ok(())
}

/// Checks that every parameter of an allocator has an effect.
///
/// # Errors
/// [`Incompatible`] with the first parameter that has no effect.
pub fn reject_unused_parameters(allocator: &AllocatorSpec) -> Result<(), Incompatible> {
    match allocator.idle() {
        None => Ok(()),
        Some(key) => Err(Incompatible::new(idle_parameter(allocator, &key))),
    }
}

/// Checks that an allocator supports jobs whose run times depend on messages. `built` is the allocator, built for a
/// machine.
///
/// # Errors
/// [`Incompatible`] if the allocator folds jobs.
pub fn can_send(allocator: &AllocatorSpec, built: &dyn Allocator) -> Result<(), Incompatible> {
    match built.capabilities().folds {
        false => Ok(()),
        true => Err(Incompatible::new(format!(
            "allocator {allocator} folds jobs, which is not supported if messages determine run times: the \
             messages of fewer processes are not modelled"
        ))),
    }
}

/// Checks that machines have one processor per point, as required for shaped jobs and message simulation.
///
/// # Errors
/// [`Incompatible`] if a machine has several processors per point.
pub fn require_one_processor_per_point<'a>(
    machines: impl IntoIterator<Item = &'a Topology>,
) -> Result<(), Incompatible> {
    match machines.into_iter().find(|machine| machine.per_point() > 1) {
        None => Ok(()),
        Some(machine) => Err(Incompatible::new(format!(
            "machine {machine}: this command supports one processor per point; replay without a command, \
             sweep, search and contend support several"
        ))),
    }
}

/// Checks that machines have sides, because the sides of the machine bound the sides of the jobs in a stochastic
/// stream.
///
/// # Errors
/// [`Incompatible`] if a machine is a tree or consists of blocks.
pub fn require_sides<'a>(
    machines: impl IntoIterator<Item = &'a Topology>,
) -> Result<(), Incompatible> {
    match machines.into_iter().find(|machine| machine.hierarchy().is_some()) {
        None => Ok(()),
        Some(machine) => Err(Incompatible::new(format!(
            "machine {machine}: the jobs of a stream are boxes, which trees and blocks do not have; replay \
             a trace instead, such as one made by replay synth --processors {} --write FILE",
            machine.processors()
        ))),
    }
}

/// An additional check of a built allocator.
pub type Requirement<'a> =
    &'a (dyn Fn(&AllocatorSpec, &dyn Allocator) -> Result<(), Incompatible> + Sync);

/// Returns the allocators that support every machine and scheduler and that pass the
/// additional check `also`. The built allocators are kept in `prepared`. `left_out` is called with each incompatible
/// allocator and the reason.
pub fn compatible_allocators(
    allocators: Vec<AllocatorSpec>,
    machines: &[Topology],
    schedulers: &[SchedulerSpec],
    prepared: &Prepared,
    also: Requirement<'_>,
    mut left_out: impl FnMut(&AllocatorSpec, Incompatible),
) -> Vec<AllocatorSpec> {
    let on_all = |allocator: AllocatorSpec| {
        let on = |machine| {
            prepared.check(&allocator, machine, |built| {
                check_pairs(&allocator, built, schedulers, machine)?;
                also(&allocator, built)
            })
        };
        let why = machines.iter().map(on).find_map(Result::err);
        (allocator, why)
    };
    let tried: Vec<_> = allocators.into_par_iter().map(on_all).collect();
    let mut kept = Vec::new();
    for (allocator, why) in tried {
        match why {
            None => kept.push(allocator),
            Some(why) => left_out(&allocator, why),
        }
    }
    kept
}

/// Checks that no scheduler repeats recorded start times, because only jobs from a log have recorded start times.
///
/// # Errors
/// [`Incompatible`] if a scheduler repeats recorded start times.
pub fn reject_recorded_scheduler(schedulers: &[SchedulerSpec]) -> Result<(), Incompatible> {
    match schedulers.iter().find(|scheduler| scheduler.recorded().is_some()) {
        None => Ok(()),
        Some(scheduler) => Err(Incompatible::new(format!(
            "scheduler {scheduler} repeats recorded starts and cannot be used with this command"
        ))),
    }
}
