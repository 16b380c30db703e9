//! Rules of what goes together: allocators, schedulers, machines, and what a grid asks of them.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::grid::{ParameterGrid, idle_parameter};
use crate::{Cell, Prepared, Trace};
use replay_core::allocator::Allocator;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::naming::{NameError, split_list};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::is_always_coupled;
use replay_core::topology::Topology;
use replay_core::workload::Dependencies;

/// What does not go together, and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{problem}", parameter.map(|key| format!("{key}: ")).unwrap_or_default())]
pub struct Incompatible {
    /// The key of the grid file at fault, if it is not a strategy or a machine.
    pub parameter: Option<&'static str>,
    /// What is wrong, without the key.
    pub problem: String,
}

impl Incompatible {
    fn new(problem: String) -> Self {
        Self { parameter: None, problem }
    }

    fn of(parameter: &'static str, problem: impl Into<String>) -> Self {
        Self { parameter: Some(parameter), problem: problem.into() }
    }

    /// The error of a strategy that does not work on a machine.
    pub(crate) fn on(machine: &Topology, error: &NameError) -> Self {
        Self::new(format!("{error} (machine {machine})"))
    }
}

impl From<NameError> for Incompatible {
    fn from(error: NameError) -> Self {
        Self::new(error.to_string())
    }
}

/// Checks a grid before its traces are loaded, on the machines that it names.
///
/// # Errors
/// [`Incompatible`] if a strategy does not work there, or an option has no effect or contradicts another.
pub fn check_grid(grid: &ParameterGrid) -> Result<(), Incompatible> {
    check_strategies(grid, &grid.machines, &[])?;
    let recorded = grid.schedulers.iter().find(|scheduler| scheduler.recorded().is_some());
    match recorded {
        Some(scheduler) if grid.deps != Dependencies::Ignore => {
            let problem = format!(
                "{}: scheduler {scheduler} repeats the starts of a log, whatever they followed",
                grid.deps.name()
            );
            return Err(Incompatible::of("deps", problem));
        }
        Some(scheduler) if !grid.file.loads.is_empty() => {
            let problem = format!(
                "scheduler {scheduler} repeats the starts of a log, which had the load that it had"
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
            "says where the nodes of a log stand, which only allocator recorded asks for",
        ));
    }
    if grid.file.strict && recorded.is_none() {
        return Err(Incompatible::of(
            "strict",
            "stops where a log contradicts itself, which only scheduler recorded repeats \
             (policy strict refuses records that cleaning would change)",
        ));
    }
    Ok(())
}

/// Checks the outages of the traces of a grid.
///
/// # Errors
/// [`Incompatible`] if a machine, a scheduler or an allocator does not support them.
pub fn check_outages(grid: &ParameterGrid, traces: &[Arc<Trace>]) -> Result<(), Incompatible> {
    let Some(trace) = traces.iter().find(|trace| !trace.outages().is_empty()) else {
        return Ok(());
    };
    let machine = &trace.topology;
    let undefined = |why: String| Err(Incompatible::of("down", why));
    if machine.cluster().is_some() {
        return undefined(format!("on {machine}, whose hosts jobs share, outages are not defined"));
    }
    for scheduler in &grid.schedulers {
        if scheduler.recorded().is_some() {
            return undefined(format!(
                "scheduler {scheduler} repeats the starts of a log, outages and all"
            ));
        }
    }
    let mut entries = HashSet::new();
    let first = (0..grid.strategies.len()).filter(|&i| entries.insert(grid.strategies.entry(i)));
    for index in first {
        let strategy = grid.strategies.get(index)?;
        grid.prepared.check(&strategy, machine, |built| check_outage_support(&strategy, built))?;
    }
    Ok(())
}

/// Checks that an allocator, as it was `built`, supports outages.
///
/// # Errors
/// [`Incompatible`] if it does not.
pub fn check_outage_support(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
) -> Result<(), Incompatible> {
    match built.capabilities().supports_outages {
        true => Ok(()),
        false => Err(Incompatible::of(
            "down",
            format!(
                "allocator {allocator} keeps books in which processors out of service have no place; mc1x1, mm, \
             curves, random, first-fit, paging, mbs, gabl and others work"
            ),
        )),
    }
}

/// Checks the strategies of a grid on machines. Those `known` are [compatible](compatible_allocators) there.
///
/// # Errors
/// [`Incompatible`] if one does not work on a machine, or not with a scheduler.
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
    // On a large machine it takes long to make one.
    let on_all = |&index: &usize| -> Result<bool, Incompatible> {
        let strategy = grid.strategies.get(index)?;
        if !grid.measure.ties && known.contains(&strategy) {
            return Ok(false);
        }
        // A plan leaves out the others beside a scheduler that repeats the log.
        let is_recorded = |scheduler: &&SchedulerSpec| scheduler.recorded().is_some();
        let repeats = strategy.recorded() && grid.schedulers.iter().any(|s| is_recorded(&s));
        let mut counts = false;
        for machine in &machines {
            let with = grid.schedulers.iter().filter(|s| !repeats || is_recorded(s));
            counts |= grid.prepared.check(&strategy, machine, |built| {
                check_pairs(&strategy, built, with, machine)?;
                Ok(grid.measure.ties && built.capabilities().counts_ties)
            })?;
        }
        Ok(counts)
    };
    let counts: Vec<Result<bool, Incompatible>> = first.par_iter().map(on_all).collect();
    let counts: Vec<bool> = counts.into_iter().collect::<Result<_, _>>()?;
    let counted = !grid.measure.ties || machines.is_empty() || counts.contains(&true);
    if !counted {
        return Err(Incompatible::of(
            "ties",
            "none of these allocators scores candidates, so none has ties to count; mc1x1, \
             gen-alg and mm have",
        ));
    }
    Ok(())
}

/// Builds an allocator for a machine, to be used with each of the schedulers.
///
/// # Errors
/// [`Incompatible`] if it does not work there, or may refuse or round up and one of the schedulers works only with
/// allocators that keep its schedule.
pub fn build<'a>(
    allocator: &AllocatorSpec,
    schedulers: impl IntoIterator<Item = &'a SchedulerSpec>,
    machine: &Topology,
) -> Result<Box<dyn Allocator>, Incompatible> {
    let built = allocator.build(machine, 0).map_err(|error| Incompatible::on(machine, &error))?;
    check_pairs(allocator, built.as_ref(), schedulers, machine)?;
    Ok(built)
}

fn check_pairs<'a>(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
    schedulers: impl IntoIterator<Item = &'a SchedulerSpec>,
    machine: &Topology,
) -> Result<(), Incompatible> {
    schedulers.into_iter().try_for_each(|one| check_pair(allocator, built, one, machine))
}

/// Checks a cell, for which its allocator was `built`.
///
/// # Errors
/// [`Incompatible`] if allocator, scheduler, machine and outages do not go together.
pub(crate) fn check_cell(cell: &Cell, built: &dyn Allocator) -> Result<(), Incompatible> {
    let Cell { trace, scheduler, allocator, .. } = cell;
    check_pair(allocator, built, scheduler, &trace.topology)?;
    match trace.outages().is_empty() {
        true => Ok(()),
        false => check_outage_support(allocator, built),
    }
}

fn check_pair(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
    scheduler: &SchedulerSpec,
    machine: &Topology,
) -> Result<(), Incompatible> {
    if allocator.recorded() && scheduler.recorded().is_none() {
        return Err(Incompatible::new(format!(
            "allocator {allocator} repeats the placements of a log, which are free when the log started its \
             jobs: it goes with scheduler recorded, not with {scheduler}"
        )));
    }
    let strategy = built.capabilities();
    if strategy.folds && machine.per_point() > 1 {
        return Err(Incompatible::new(format!(
            "allocator {allocator} folds jobs to fewer processors; on {machine}, where a job has whole \
             points, that is not defined"
        )));
    }
    if scheduler.recorded().is_some() && is_always_coupled(built) {
        return Err(Incompatible::new(format!(
            "allocator {allocator} may change the schedule; scheduler {scheduler} has that of the log and \
             cannot work with that"
        )));
    }
    let discipline = scheduler.capabilities();
    if !strategy.keeps_schedule && !discipline.takes_refusals {
        if strategy.folds {
            return Err(Incompatible::new(format!(
                "allocator {allocator} decides only when a job starts on how many processors and for \
                 how long; scheduler {scheduler} reserves both when the job arrives and cannot work with \
                 that"
            )));
        }
        return Err(Incompatible::new(format!(
            "allocator {allocator} may refuse a job although enough processors are free, or give it \
             more than it asks for; scheduler {scheduler} reserves numbers of processors and cannot \
             work with that"
        )));
    }
    let asks = discipline.reserves_places;
    if asks && !strategy.keeps_schedule && built.try_clone().is_none() {
        return Err(Incompatible::new(format!(
            "scheduler {scheduler} asks for places on a copy of the machine, which allocator {allocator} \
             cannot tell; guard=count works with it"
        )));
    }
    if asks && !strategy.refusals_last && !strategy.reserves_by_trial {
        return Err(Incompatible::new(format!(
            "allocator {allocator} may refuse a job although its place is free, because the other free \
             processors decide where it looks; scheduler {scheduler} cannot promise a place with it; \
             guard=count works with it"
        )));
    }
    if machine.slots() > machine.processors() && scheduler.uses_estimates() {
        return Err(Incompatible::new(format!(
            "scheduler {scheduler} goes by estimates of run times; on hosts that jobs share ({machine}) \
             how long a job takes is not known beforehand"
        )));
    }
    Ok(())
}

/// Checks that every parameter of an allocator has an effect.
///
/// # Errors
/// [`Incompatible`] names one that has none.
pub fn reject_unused_parameters(allocator: &AllocatorSpec) -> Result<(), Incompatible> {
    match allocator.idle() {
        None => Ok(()),
        Some(key) => Err(Incompatible::new(idle_parameter(allocator, &key))),
    }
}

/// Checks that an allocator, as it was `built`, works where jobs live as long as their messages take.
///
/// # Errors
/// [`Incompatible`] if it folds jobs.
pub fn can_send(allocator: &AllocatorSpec, built: &dyn Allocator) -> Result<(), Incompatible> {
    match built.capabilities().folds {
        false => Ok(()),
        true => Err(Incompatible::new(format!(
            "allocator {allocator} folds jobs; what fewer processes would send to each other is not \
             modelled, so it does not work where jobs live as long as their messages take"
        ))),
    }
}

/// Checks machines for jobs that have a shape or whose packets go from point to point.
///
/// # Errors
/// [`Incompatible`] if one has several processors at a point.
pub fn require_one_processor_per_point<'a>(
    machines: impl IntoIterator<Item = &'a Topology>,
) -> Result<(), Incompatible> {
    match machines.into_iter().find(|machine| machine.per_point() > 1) {
        None => Ok(()),
        Some(machine) => Err(Incompatible::new(format!(
            "machine {machine}: several processors at a point are for traces (run, sweep, search, \
             contend); here a point has one"
        ))),
    }
}

/// A further check of an allocator, as it was built.
pub type Requirement<'a> =
    &'a (dyn Fn(&AllocatorSpec, &dyn Allocator) -> Result<(), Incompatible> + Sync);

/// The `allocators` of a list that work on every machine and with every scheduler and pass `also`; `prepared` keeps
/// what is built. Calls `left_out` with the reason for each of the others.
///
/// # Errors
/// [`Incompatible`] if the list cannot be read.
pub fn compatible_allocators(
    allocators: &str,
    machines: &[Topology],
    schedulers: &[SchedulerSpec],
    prepared: &Prepared,
    also: Requirement<'_>,
    mut left_out: impl FnMut(&AllocatorSpec, Incompatible),
) -> Result<Vec<AllocatorSpec>, Incompatible> {
    let named: Result<Vec<AllocatorSpec>, _> =
        split_list(allocators).into_iter().map(str::parse).collect();
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
    let tried: Vec<_> = named?.into_par_iter().map(on_all).collect();
    let mut kept = Vec::new();
    for (allocator, why) in tried {
        match why {
            None => kept.push(allocator),
            Some(why) => left_out(&allocator, why),
        }
    }
    Ok(kept)
}

/// Checks schedulers of jobs that were never recorded.
///
/// # Errors
/// [`Incompatible`] if one repeats the starts of a log.
pub fn reject_recorded_scheduler(schedulers: &[SchedulerSpec]) -> Result<(), Incompatible> {
    match schedulers.iter().find(|scheduler| scheduler.recorded().is_some()) {
        None => Ok(()),
        Some(scheduler) => Err(Incompatible::new(format!(
            "scheduler {scheduler} repeats the starts of a log; it decides nothing and has no place here"
        ))),
    }
}
