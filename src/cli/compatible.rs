//! What goes together: allocators, schedulers and machines. What does not is told before any work.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::args::GridArgs;
use super::exit::Failure;
use replay_core::allocator::Allocator;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::naming::split_list;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::topology::Topology;
use replay_core::workload::Dependencies;
use replay_experiment::Trace;
use replay_experiment::grid::{ParameterGrid, idle_parameter};

/// A usage failure if jobs are to follow others, or to come faster or slower, but start when a log says.
pub fn moves_no_log(grid: &ParameterGrid) -> Result<(), Failure> {
    let recorded = grid.schedulers.iter().find(|scheduler| scheduler.recorded().is_some());
    match recorded {
        Some(scheduler) if grid.deps != Dependencies::Ignore => {
            Err(Failure::usage_message(format!(
                "--deps {}: scheduler {scheduler} repeats the starts of a log, whatever they followed",
                grid.deps.name()
            )))
        }
        Some(scheduler) if !grid.file.loads.is_empty() => Err(Failure::usage_message(format!(
            "--scale-load: scheduler {scheduler} repeats the starts of a log, which had the load that it had"
        ))),
        _ => Ok(()),
    }
}

/// A usage failure if somebody says where nodes stand, and no strategy asks.
pub fn asks_for_nodes(grid: &ParameterGrid) -> Result<(), Failure> {
    let repeats = || grid.strategies.of_each(AllocatorSpec::recorded).map_err(Failure::usage);
    if grid.file.node_map.is_none() || repeats()?.contains(&true) {
        return Ok(());
    }
    let what =
        "--node-map: says where the nodes of a log stand, which only allocator recorded asks for";
    Err(Failure::usage_message(what))
}

/// A usage failure if logs must not contradict themselves, and none is repeated.
pub fn asks_for_logs(grid: &ParameterGrid) -> Result<(), Failure> {
    let repeats = |scheduler: &SchedulerSpec| scheduler.recorded().is_some();
    match grid.file.strict && !grid.schedulers.iter().any(repeats) {
        true => Err(Failure::usage_message(
            "--strict: stops where a log contradicts itself, which only scheduler recorded repeats \
             (--policy strict refuses records that cleaning would change)",
        )),
        false => Ok(()),
    }
}

/// A usage failure if processors are out of service at times, and a strategy knows nothing of that.
pub fn amid_outages(grid: &ParameterGrid, traces: &[Arc<Trace>]) -> Result<(), Failure> {
    let Some(trace) = traces.iter().find(|trace| !trace.outages().is_empty()) else {
        return Ok(());
    };
    let machine = &trace.topology;
    let undefined = |why: String| Err(Failure::usage_message(format!("--down: {why}")));
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
        let strategy = grid.strategies.get(index).map_err(Failure::usage)?;
        let built = strategy.build(machine, 0).map_err(Failure::usage)?;
        lives_with_outages(&strategy, built.as_ref())?;
    }
    Ok(())
}

/// A usage failure if the allocator, as it was `built`, knows nothing of processors out of service.
pub fn lives_with_outages(allocator: &AllocatorSpec, built: &dyn Allocator) -> Result<(), Failure> {
    match built.capabilities().supports_outages {
        true => Ok(()),
        false => Err(Failure::usage_message(format!(
            "--down: allocator {allocator} keeps books in which processors out of service have no place; mc1x1, mm, \
             curves, random, first-fit, paging, mbs, gabl and others work"
        ))),
    }
}

/// A usage failure for commands that know nothing of outages, nor of places of a log.
pub fn never_down(grid: &GridArgs) -> Result<(), Failure> {
    if grid.strict {
        return Err(Failure::usage_message("--strict: is for run, sweep, plan, show and explain"));
    }
    match (&grid.down, &grid.node_map) {
        (None, None) => Ok(()),
        (Some(_), _) => {
            Err(Failure::usage_message("--down: is for run, sweep, plan, show and explain"))
        }
        (None, Some(_)) => Err(Failure::usage_message("--node-map: is for run, sweep and plan")),
    }
}

/// The help of such commands: what they refuse it does not show.
pub fn hides_outages(command: clap::Command) -> clap::Command {
    let refused = ["down", "down_rule", "down_walls", "node_map", "strict"];
    refused.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
}

/// A strategy that does not work on a machine, or not with a scheduler, is found before any
/// work. Those `known` were [found to work](working) there.
pub fn compatible<'a>(
    grid: &ParameterGrid,
    machines: impl IntoIterator<Item = &'a Topology>,
    known: &[AllocatorSpec],
) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    let machines: Vec<&Topology> = machines.into_iter().filter(|one| seen.insert(*one)).collect();
    let mut entries = HashSet::new();
    let first: Vec<usize> =
        (0..grid.strategies.len()).filter(|&i| entries.insert(grid.strategies.entry(i))).collect();
    // On a large machine it takes long to make one.
    let on_all = |&index: &usize| -> Result<bool, Failure> {
        let strategy = grid.strategies.get(index).map_err(Failure::usage)?;
        if !grid.measure.ties && known.contains(&strategy) {
            return Ok(false);
        }
        // A plan leaves out the others beside a scheduler that repeats the log.
        let is_recorded = |scheduler: &&SchedulerSpec| scheduler.recorded().is_some();
        let repeats = strategy.recorded() && grid.schedulers.iter().any(|s| is_recorded(&s));
        let mut counts = false;
        for machine in &machines {
            let with = grid.schedulers.iter().filter(|s| !repeats || is_recorded(s));
            let built = works(&strategy, with, machine)?;
            counts |= grid.measure.ties && built.capabilities().counts_ties;
        }
        Ok(counts)
    };
    let counts: Vec<Result<bool, Failure>> = first.par_iter().map(on_all).collect();
    let counts: Vec<bool> = counts.into_iter().collect::<Result<_, _>>()?;
    let counted = !grid.measure.ties || machines.is_empty() || counts.contains(&true);
    if !counted {
        return Err(Failure::usage_message(
            "--ties: none of these allocators scores candidates, so none has ties to count; mc1x1, \
             gen-alg and mm have",
        ));
    }
    Ok(())
}

/// The allocator on the machine; a usage failure if it does not work there, or may refuse or round up
/// and one of the schedulers works only with allocators that keep its schedule.
pub fn works<'a>(
    allocator: &AllocatorSpec,
    schedulers: impl IntoIterator<Item = &'a SchedulerSpec>,
    machine: &Topology,
) -> Result<Box<dyn Allocator>, Failure> {
    let built = allocator
        .build(machine, 0)
        .map_err(|e| Failure::usage_message(format!("{e} (machine {machine})")))?;
    for scheduler in schedulers {
        works_with(allocator, built.as_ref(), scheduler, machine)?;
    }
    Ok(built)
}

/// The same of one scheduler, and of the allocator as it was `built` for the machine.
fn works_with(
    allocator: &AllocatorSpec,
    built: &dyn Allocator,
    scheduler: &SchedulerSpec,
    machine: &Topology,
) -> Result<(), Failure> {
    if allocator.recorded() && scheduler.recorded().is_none() {
        return Err(Failure::usage_message(format!(
            "allocator {allocator} repeats the placements of a log, which are free when the log started its \
             jobs: it goes with scheduler recorded, not with {scheduler}"
        )));
    }
    let strategy = built.capabilities();
    if strategy.folds && machine.per_point() > 1 {
        return Err(Failure::usage_message(format!(
            "allocator {allocator} folds jobs to fewer processors; on {machine}, where a job has whole \
             points, that is not defined"
        )));
    }
    if scheduler.recorded().is_some()
        && (!strategy.keeps_schedule || built.stats().census.is_some())
    {
        return Err(Failure::usage_message(format!(
            "allocator {allocator} may change the schedule; scheduler {scheduler} has that of the log and \
             cannot work with that"
        )));
    }
    let discipline = scheduler.build(machine.processors() as u32).capabilities();
    if !strategy.keeps_schedule && !discipline.takes_refusals {
        if strategy.folds {
            return Err(Failure::usage_message(format!(
                "allocator {allocator} decides only when a job starts on how many processors and for \
                 how long; scheduler {scheduler} reserves both when the job arrives and cannot work with \
                 that"
            )));
        }
        return Err(Failure::usage_message(format!(
            "allocator {allocator} may refuse a job although enough processors are free, or give it \
             more than it asks for; scheduler {scheduler} reserves numbers of processors and cannot \
             work with that"
        )));
    }
    let asks = discipline.reserves_places;
    if asks && !strategy.keeps_schedule && built.try_clone().is_none() {
        return Err(Failure::usage_message(format!(
            "scheduler {scheduler} asks for places on a copy of the machine, which allocator {allocator} \
             cannot tell; guard=count works with it"
        )));
    }
    if asks && !strategy.refusals_last {
        return Err(Failure::usage_message(format!(
            "allocator {allocator} may refuse a job although its place is free, because the other free \
             processors decide where it looks; scheduler {scheduler} cannot promise a place with it; \
             guard=count works with it"
        )));
    }
    if machine.slots() > machine.processors() && scheduler.uses_estimates() {
        return Err(Failure::usage_message(format!(
            "scheduler {scheduler} goes by estimates of run times; on hosts that jobs share ({machine}) \
             nobody can tell how long a job takes"
        )));
    }
    Ok(())
}

/// A usage failure if a strategy is told something that it does not heed.
pub fn heeds_all(allocator: &AllocatorSpec) -> Result<(), Failure> {
    match allocator.idle() {
        None => Ok(()),
        Some(key) => Err(Failure::usage_message(idle_parameter(allocator, &key))),
    }
}

/// A usage failure if the allocator folds jobs, where jobs live as long as their messages take.
pub fn sends(allocator: &AllocatorSpec, machine: &Topology) -> Result<(), Failure> {
    let built = allocator.build(machine, 0).map_err(Failure::usage)?;
    can_send(allocator, built.as_ref())
}

/// The same of the allocator as it was `built`.
pub fn can_send(allocator: &AllocatorSpec, built: &dyn Allocator) -> Result<(), Failure> {
    match built.capabilities().folds {
        false => Ok(()),
        true => Err(Failure::usage_message(format!(
            "allocator {allocator} folds jobs; what fewer processes would send to each other is not \
             modelled, so it does not work where jobs live as long as their messages take"
        ))),
    }
}

/// A usage failure if a machine has several processors at a point, for commands whose jobs have a
/// shape or whose packets go from point to point.
pub fn one_a_point<'a>(machines: impl IntoIterator<Item = &'a Topology>) -> Result<(), Failure> {
    match machines.into_iter().find(|machine| machine.per_point() > 1) {
        None => Ok(()),
        Some(machine) => Err(Failure::usage_message(format!(
            "machine {machine}: several processors at a point are for traces (run, sweep, search, \
             contend); here a point has one"
        ))),
    }
}

/// What else an allocator, as it was built, must be able to do.
pub type Also<'a> = &'a (dyn Fn(&AllocatorSpec, &dyn Allocator) -> Result<(), Failure> + Sync);

/// The `allocators` of a list that work on every machine and with every scheduler, and what `also` asks for; `left_out`
/// hears why each of the others does not.
pub fn working(
    allocators: &str,
    machines: &[Topology],
    schedulers: &[SchedulerSpec],
    also: Also<'_>,
    mut left_out: impl FnMut(&AllocatorSpec, Failure),
) -> Result<Vec<AllocatorSpec>, Failure> {
    let named: Result<Vec<AllocatorSpec>, _> =
        split_list(allocators).into_iter().map(str::parse).collect();
    let on_all = |allocator: AllocatorSpec| {
        let on = |machine| also(&allocator, works(&allocator, schedulers, machine)?.as_ref());
        let why = machines.iter().map(on).find_map(Result::err);
        (allocator, why)
    };
    let tried: Vec<_> = named.map_err(Failure::usage)?.into_par_iter().map(on_all).collect();
    let mut kept = Vec::new();
    for (allocator, why) in tried {
        match why {
            None => kept.push(allocator),
            Some(why) => left_out(&allocator, why),
        }
    }
    Ok(kept)
}

/// Refuses schedulers that decide nothing, for commands that simulate what was never recorded.
pub fn deciding(schedulers: &[SchedulerSpec]) -> Result<(), Failure> {
    match schedulers.iter().find(|scheduler| scheduler.recorded().is_some()) {
        None => Ok(()),
        Some(scheduler) => Err(Failure::usage_message(format!(
            "scheduler {scheduler} repeats the starts of a log; it decides nothing and has no place here"
        ))),
    }
}
