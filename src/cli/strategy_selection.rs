//! Selection of allocators for `--alloc all` and for the main job.

use super::args::GridArgs;
use super::check_topology;
use super::exit::Failure;
use super::exit::eprint_line;
use super::named_value::parse_list;
use super::sweep::{ListArgs, of_flags};
use super::tie_lists::TieLists;
use replay_engine::allocator::Allocator;
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::naming::split_list;
use replay_engine::registries::Registries;
use replay_engine::topology::Topology;
use replay_engine::workload::Shake;
use replay_experiment::compatibility::{
    ELSEWHERE, Incompatible, Requirement, can_send, check_outage_support, compatible_allocators,
};
use replay_experiment::grid::ParameterGrid;
use replay_experiment::resolve::{Notices, ResolvedGrid, Tried};
use replay_experiment::{Cell, Measure};
use std::path::Path;

/// The name that selects all allocators that work.
const ALL: &str = "all";

/// Allocators and tie vectors of the main job.
const MAIN_JOB: &str = "mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random";
const MAIN_JOB_TIES: [&str; 2] = ["none", "2,13,20,6"];

/// Default allocators of a grid whose jobs send messages.
pub const SENDING: &str = "mc1x1,hilbert-best-fit,mbs,gabl,paging,first-fit,random";

/// Options in which `all` and the default have been replaced with names of allocators.
pub struct Chosen {
    /// The options.
    pub args: GridArgs,
    /// Traces and allocators that were tried for the selection.
    pub tried: Option<Tried>,
}

/// Selects the allocators of the main job if neither an allocator nor a tie vector is given, and if no trace is given
/// or `alone` is true. In all other cases, replaces `all` with the allocators that work with every machine and
/// scheduler.
///
/// # Errors
/// Errors of reading the traces, and a usage error if a name is unknown.
pub fn chosen(
    registries: &Registries,
    args: &GridArgs,
    alone: bool,
    quiet: bool,
) -> Result<Chosen, Failure> {
    let open = args.alloc.is_empty() && args.tie.is_empty();
    if open && args.trace.is_empty() {
        let alloc = vec![MAIN_JOB.to_string()];
        let tie = MAIN_JOB_TIES.map(str::to_string).to_vec();
        return Ok(Chosen { args: GridArgs { alloc, tie, ..args.clone() }, tried: None });
    }
    if open && alone {
        return working_on_all(registries, args, quiet);
    }
    expanded(registries, args, &|_, _| Ok(()), quiet)
}

/// Returns the receiver of notices, which prints them on standard error.
pub fn notices(quiet: bool) -> Notices<'static> {
    if quiet { Notices::OFF } else { Notices::to(&|line| eprint_line(line)) }
}

/// Loads the traces of a grid, and warns about trees and blocks on which some jobs cannot run. If there is a grid file
/// `file`, errors about traces contain its name.
///
/// # Errors
/// A usage error for names that cannot be used together; a data error for a wrong trace.
pub fn load(
    grid: ParameterGrid,
    file: Option<&Path>,
    quiet: bool,
) -> Result<ResolvedGrid, Failure> {
    if !quiet {
        check_topology::warn_of_blocks(&grid.machines);
    }
    with_warnings(ResolvedGrid::load(grid, file, notices(quiet))?, quiet)
}

/// Creates the cells of a grid from traces that were loaded to select its allocators.
///
/// # Errors
/// A usage error if a strategy does not work.
pub fn planned(grid: ParameterGrid, tried: Tried, quiet: bool) -> Result<ResolvedGrid, Failure> {
    with_warnings(ResolvedGrid::planned(grid, tried, notices(quiet))?, quiet)
}

fn with_warnings(loaded: ResolvedGrid, quiet: bool) -> Result<ResolvedGrid, Failure> {
    if !quiet {
        let machines = loaded.traces.iter().map(|trace| &trace.topology);
        check_topology::warn_of_sizes(machines, || Ok(loaded.allocators()?))?;
    }
    Ok(loaded)
}

/// Resolves the options of a grid. If neither a trace, nor an allocator, nor a tie vector is given, resolves the
/// grid of the main job. All names are checked before any trace is read.
///
/// # Errors
/// A usage error for a wrong option; a data error for a wrong trace.
pub fn resolve(
    registries: &Registries,
    args: &GridArgs,
    shake: Option<Shake>,
    measure: Measure,
    quiet: bool,
) -> Result<ResolvedGrid, Failure> {
    resolved(registries, chosen(registries, args, false, quiet)?, shake, measure, quiet)
}

/// Resolves the options of the main job. If neither an allocator nor a tie vector is given, the main job compares
/// several strategies.
///
/// # Errors
/// The errors of [`resolve`].
pub fn main_job(
    registries: &Registries,
    args: &GridArgs,
    shake: Option<Shake>,
    measure: Measure,
    quiet: bool,
) -> Result<ResolvedGrid, Failure> {
    resolved(registries, chosen(registries, args, true, quiet)?, shake, measure, quiet)
}

/// Resolves the options of a grid whose jobs send messages. Without an allocator, resolves the default allocators
/// that [support](can_send) messages and work on the machines; `all` means all allocators that support messages and
/// work on the machines.
///
/// # Errors
/// The errors of [`resolve`].
pub fn resolve_sending(
    registries: &Registries,
    args: &GridArgs,
    shake: Option<Shake>,
    quiet: bool,
) -> Result<ResolvedGrid, Failure> {
    resolved(registries, sending(registries, args, quiet)?, shake, Measure::default(), quiet)
}

fn resolved(
    registries: &Registries,
    chosen: Chosen,
    shake: Option<Shake>,
    measure: Measure,
    quiet: bool,
) -> Result<ResolvedGrid, Failure> {
    let mut grid =
        of_flags(registries, &chosen.args, &TieLists::default(), &ListArgs::default(), shake)?;
    grid.measure = measure;
    match chosen.tried {
        Some(tried) => planned(grid, tried, quiet),
        None => load(grid, None, quiet),
    }
}

/// Resolves the single cell of a `command` that examines one run; the default allocator is MC1x1. `recorded` is the
/// error message for the case that the allocator is `recorded`.
///
/// # Errors
/// The errors of [`resolve`], and a usage error if there are several cells.
pub fn one(
    registries: &Registries,
    args: &GridArgs,
    command: &str,
    recorded: &'static str,
    quiet: bool,
) -> Result<(ResolvedGrid, Cell), Failure> {
    let mut grid = args.clone();
    if grid.alloc.is_empty() {
        grid.alloc = vec!["mc1x1".to_string()];
    }
    let loaded = resolve(registries, &grid, None, Measure::default(), quiet)?;
    if loaded.allocators()?.iter().any(AllocatorSpec::recorded) {
        return Err(Failure::usage_message(recorded));
    }
    match <[Cell; 1]>::try_from(loaded.cells()?) {
        Ok([cell]) => Ok((loaded, cell)),
        Err(cells) => Err(Failure::usage_message(format!(
            "{command} takes one trace, machine, scheduler, strategy and seed; the options give {} runs",
            cells.len()
        ))),
    }
}

/// Selects the allocators of the main job that work on the machines of the traces.
fn working_on_all(
    registries: &Registries,
    args: &GridArgs,
    quiet: bool,
) -> Result<Chosen, Failure> {
    let trial = trial(registries, args, quiet)?;
    let mut names = MAIN_JOB.to_string();
    if trial.machines().iter().any(|machine| machine.grid().is_none()) {
        // Some allocators are in both lists, `MAIN_JOB` and `ELSEWHERE`.
        let named = split_list(MAIN_JOB);
        let more = split_list(ELSEWHERE).into_iter().filter(|name| !named.contains(name));
        names = named.iter().copied().chain(more).collect::<Vec<_>>().join(",");
    }
    let (kept, refused) = trial.sorted(registries, &names, &|_, _| Ok(()))?;
    if !refused.is_empty() && !quiet {
        let (place, names) = (trial.place(), named(&kept).join(", "));
        eprint_line(format_args!("strategies that work on {place}: {names}"));
    }
    Ok(trial.chosen(args, kept))
}

/// Selects the allocators of a grid whose jobs send messages.
fn sending(registries: &Registries, args: &GridArgs, quiet: bool) -> Result<Chosen, Failure> {
    if !args.alloc.is_empty() {
        return expanded(registries, args, &can_send, quiet);
    }
    let trial = trial(registries, args, quiet)?;
    let (kept, refused) = trial.sorted(registries, SENDING, &can_send)?;
    if !quiet {
        refused.iter().for_each(|(_, why)| eprint_line(format_args!("left out: {why}")));
    }
    Ok(trial.chosen(args, kept))
}

fn named(allocators: &[AllocatorSpec]) -> Vec<String> {
    allocators.iter().map(ToString::to_string).collect()
}

/// Replaces `all` with the allocators that work and that meet the additional requirement `also`.
fn expanded(
    registries: &Registries,
    args: &GridArgs,
    also: Requirement<'_>,
    quiet: bool,
) -> Result<Chosen, Failure> {
    let mut named: Vec<&str> = args.alloc.iter().flat_map(|list| split_list(list)).collect();
    let before = named.len();
    named.retain(|name| !name.trim().eq_ignore_ascii_case(ALL));
    if named.len() == before {
        return Ok(Chosen { args: args.clone(), tried: None });
    }
    let trial = trial(registries, args, quiet)?;
    // The allocator named `recorded` requires the scheduler named `recorded`.
    let names = registries.allocators.names().filter(|name| *name != "recorded");
    let names: Vec<&str> = names.filter(|name| !named.contains(name)).collect();
    let (kept, refused) = trial.sorted(registries, &names.join(","), also)?;
    if !quiet {
        let not = match refused.is_empty() {
            true => String::new(),
            false => {
                let names: Vec<String> = refused.iter().map(|(one, _)| one.to_string()).collect();
                format!("; {} do not: {}", refused.len(), names.join(", "))
            }
        };
        let (place, more) = (trial.place(), if named.is_empty() { "" } else { " more" });
        eprint_line(format_args!(
            "--alloc all: {}{more} strategies work on {place}{not}",
            kept.len()
        ));
    }
    let names = kept.iter().map(ToString::to_string);
    let alloc = named.into_iter().map(str::to_string).chain(names).collect();
    let tried = Some(trial.tried(kept));
    Ok(Chosen { args: GridArgs { alloc, ..args.clone() }, tried })
}

/// Allocators that do not work, with their reasons.
type Refused = Vec<(AllocatorSpec, Incompatible)>;

/// Traces and machines of the options, loaded with the allocator `random`, which works on every machine.
struct Trial(ResolvedGrid);

fn trial(registries: &Registries, args: &GridArgs, quiet: bool) -> Result<Trial, Failure> {
    let args = GridArgs { alloc: vec!["random".to_string()], tie: Vec::new(), ..args.clone() };
    let mut grid = of_flags(registries, &args, &TieLists::default(), &ListArgs::default(), None)?;
    grid.measure = Measure::default();
    load(grid, None, quiet).map(Trial)
}

impl Trial {
    /// Returns the options with these allocators. If no tie vector is given, the allocators get the tie vectors of the
    /// main job.
    fn chosen(self, args: &GridArgs, kept: Vec<AllocatorSpec>) -> Chosen {
        let tie = match args.tie.is_empty() && kept.iter().any(AllocatorSpec::takes_tie) {
            true => MAIN_JOB_TIES.map(str::to_string).to_vec(),
            false => args.tie.clone(),
        };
        let args = GridArgs { alloc: named(&kept), tie, ..args.clone() };
        Chosen { args, tried: Some(self.tried(kept)) }
    }

    /// Returns the traces, together with the strategies that work on them.
    fn tried(self, works: Vec<AllocatorSpec>) -> Tried {
        let ResolvedGrid { traces, plan } = self.0;
        Tried { traces, works, prepared: plan.grid.prepared }
    }

    fn machines(&self) -> Vec<Topology> {
        let mut machines: Vec<Topology> = Vec::new();
        for trace in &self.0.traces {
            if !machines.contains(&trace.topology) {
                machines.push(trace.topology.clone());
            }
        }
        machines
    }

    /// Returns a text that contains the machines and the schedulers, and states whether there are outages.
    fn place(&self) -> String {
        let machines: Vec<String> = self.machines().iter().map(Topology::to_string).collect();
        let schedulers = &self.0.plan.grid.schedulers;
        let schedulers: Vec<String> = schedulers.iter().map(ToString::to_string).collect();
        let down = if self.is_down() { " with outages" } else { "" };
        format!("{} with {}{down}", machines.join(", "), schedulers.join(", "))
    }

    fn is_down(&self) -> bool {
        self.0.traces.iter().any(|trace| !trace.outages().is_empty())
    }

    /// Returns the allocators that work and that meet the additional requirement `also`; also returns the rejected
    /// allocators with their reasons.
    fn sorted(
        &self,
        registries: &Registries,
        names: &str,
        also: Requirement<'_>,
    ) -> Result<(Vec<AllocatorSpec>, Refused), Failure> {
        let mut refused = Vec::new();
        let down = self.is_down();
        let also = |one: &AllocatorSpec, built: &dyn Allocator| match down {
            true => check_outage_support(one, built).and_then(|()| also(one, built)),
            false => also(one, built),
        };
        let (machines, grid) = (self.machines(), &self.0.plan.grid);
        let left_out = |one: &AllocatorSpec, why| refused.push((one.clone(), why));
        let kept = compatible_allocators(
            parse_list(&[], names, |name| registries.allocators.read(name))?,
            &machines,
            &grid.schedulers,
            &grid.prepared,
            &also,
            left_out,
        );
        Ok((kept, refused))
    }
}
