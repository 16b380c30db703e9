//! From arguments to cells.

use std::path::Path;
use std::sync::Arc;

use super::args::GridArgs;
use super::exit::{Failure, tell};
use super::load::load_traces;
use crate::allocator::centre::TieRule;
use crate::allocator::registry::AllocatorSpec;
use crate::experiment::grid::Values;
use crate::experiment::{Cell, Trace};
use crate::naming::split_list;
use crate::report::manifest::WindowRecord;
use crate::scheduler::registry::SchedulerSpec;
use crate::topology::{DefaultMachine, MAX_PROCESSORS, Topology, default_machine};
use crate::workload::{Oversize, Policy, Window, Workload};

/// What a run comes down to.
#[derive(Debug)]
pub struct Plan {
    /// Every trace on every machine.
    pub traces: Vec<Arc<Trace>>,
    /// Scheduling disciplines.
    pub schedulers: Vec<SchedulerSpec>,
    /// Allocation strategies with their tie vectors.
    pub allocators: Vec<AllocatorSpec>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Cleaning policy.
    pub policy: Policy,
    /// Part of the traces, as it was asked for.
    pub window: WindowRecord,
}

impl Plan {
    /// Resolves arguments and loads the traces. All names are checked before any trace is
    /// read.
    pub fn resolve(args: &GridArgs, quiet: bool) -> Result<Self, Failure> {
        let mut policy = Policy::by_name(&args.policy).map_err(Failure::usage)?.clone();
        if let Some(rule) = args.oversize {
            policy.oversize = rule.into();
        }
        let window =
            Window::parse(args.from.as_deref(), args.jobs, args.days).map_err(Failure::usage)?;
        let schedulers = parse_list::<SchedulerSpec>(&args.sched, "fcfs")?;
        let main_job = args.trace.is_empty() && args.alloc.is_empty() && args.tie.is_empty();
        let (alloc, tie) = if main_job {
            (vec![MAIN_JOB_ALLOCATORS.to_string()], MAIN_JOB_TIES.map(str::to_string).to_vec())
        } else {
            (args.alloc.clone(), args.tie.clone())
        };
        let allocators = with_ties(parse_list(&alloc, "mc1x1")?, &tie)?;
        let machines = args
            .mesh
            .iter()
            .flat_map(|list| split_list(list))
            .map(|text| text.parse::<Topology>().map_err(Failure::usage))
            .collect::<Result<Vec<_>, _>>()?;
        for machine in &machines {
            check_all(&allocators, &schedulers, machine)?;
        }
        let seeds = seeds(&args.seed)?;
        let names = trace_names(&args.trace);
        let workloads = load_traces(&names, &policy, &window, args.max_errors, quiet)?;
        let traces = on_machines(workloads, &machines, &policy, &schedulers, quiet)?;
        for trace in &traces {
            check_all(&allocators, &schedulers, &trace.topology)?;
        }
        let window = WindowRecord { from: args.from.clone(), jobs: args.jobs, days: args.days };
        Ok(Self { traces, schedulers, allocators, seeds, policy, window })
    }

    /// Every combination, traces outermost; equal cells once.
    pub fn cells(&self) -> Vec<Cell> {
        let mut seen = std::collections::HashSet::new();
        let mut cells = Vec::new();
        for (place, trace) in self.traces.iter().enumerate() {
            for scheduler in &self.schedulers {
                for allocator in &self.allocators {
                    for &seed in &self.seeds {
                        if seen.insert((place, scheduler, allocator.identity(), seed)) {
                            let (trace, scheduler) = (trace.clone(), scheduler.clone());
                            cells.push(Cell {
                                trace,
                                scheduler,
                                allocator: allocator.clone(),
                                seed,
                            });
                        }
                    }
                }
            }
        }
        cells
    }
}

const MAIN_JOB_ALLOCATORS: &str = "mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random";
const MAIN_JOB_TIES: [&str; 2] = ["none", "2,13,20,6"];

/// The seeds of lists and ranges; 0 without any.
pub fn seeds(lists: &[String]) -> Result<Vec<u64>, Failure> {
    if lists.is_empty() {
        return Ok(vec![0]);
    }
    let seeds: Values = lists.iter().cloned().collect();
    seeds.integers().map_err(|e| Failure::usage_message(format!("--seed: {e}")))
}

/// Names of lists, or of the default if there are none.
pub fn parse_list<T>(lists: &[String], default: &str) -> Result<Vec<T>, Failure>
where
    T: std::str::FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let default = [default.to_string()];
    let lists = if lists.is_empty() { &default[..] } else { lists };
    let names = lists.iter().flat_map(|list| split_list(list));
    names.map(|name| name.parse().map_err(Failure::usage)).collect()
}

/// A strategy that does not work on a machine, or not with a scheduler, is found before any
/// work.
fn check_all(
    allocators: &[AllocatorSpec],
    schedulers: &[SchedulerSpec],
    machine: &Topology,
) -> Result<(), Failure> {
    for allocator in allocators {
        schedulers.iter().try_for_each(|scheduler| works(allocator, scheduler, machine))?;
    }
    Ok(())
}

/// A usage failure if the allocator does not work on the machine, or may refuse or round up
/// and the scheduler works only with allocators that keep its schedule.
pub fn works(
    allocator: &AllocatorSpec,
    scheduler: &SchedulerSpec,
    machine: &Topology,
) -> Result<(), Failure> {
    let built = allocator
        .build(machine, 0)
        .map_err(|e| Failure::usage_message(format!("{e} (machine {machine})")))?;
    if !built.keeps_schedule() && !scheduler.build(machine.processors() as u32).takes_refusals() {
        return Err(Failure::usage_message(format!(
            "allocator {allocator} may refuse a job although enough processors are free, or give it \
             more than it asks for; scheduler {scheduler} reserves numbers of processors and cannot \
             work with that"
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

/// Every allocator with every tie vector. A strategy that takes none, or that was written
/// with its own, stays one.
fn with_ties(
    allocators: Vec<AllocatorSpec>,
    ties: &[String],
) -> Result<Vec<AllocatorSpec>, Failure> {
    if ties.is_empty() {
        return Ok(allocators);
    }
    let rules = ties
        .iter()
        .map(|text| text.parse::<TieRule>().map_err(Failure::usage))
        .collect::<Result<Vec<_>, _>>()?;
    if !allocators.iter().any(AllocatorSpec::takes_tie) {
        return Err(Failure::usage_message(
            "--tie: none of these allocators breaks ties by a vector",
        ));
    }
    let mut all = Vec::new();
    for allocator in allocators {
        if allocator.takes_tie() && allocator.tie().is_none() {
            for &rule in &rules {
                all.push(allocator.with_tie(rule).map_err(Failure::usage)?);
            }
        } else {
            all.push(allocator);
        }
    }
    Ok(all)
}

/// Every workload on every machine, or on the one that its header names, to be scheduled
/// by any of `schedulers`.
pub fn on_machines(
    workloads: Vec<Arc<Workload>>,
    machines: &[Topology],
    policy: &Policy,
    schedulers: &[SchedulerSpec],
    quiet: bool,
) -> Result<Vec<Arc<Trace>>, Failure> {
    let mut traces = Vec::new();
    for workload in told_apart(workloads) {
        let machines = match machines {
            [] => vec![machine_of(&workload, quiet)?],
            named => named.to_vec(),
        };
        for machine in machines {
            let workload = fitted(&workload, &machine, policy.oversize, quiet)?;
            traces.push(Arc::new(Trace::new(workload, machine, policy.name, schedulers)));
        }
    }
    Ok(traces)
}

/// The traces of all lists. A file may have a comma in its name.
pub fn trace_names(lists: &[String]) -> Vec<String> {
    let names = lists.iter().flat_map(|list| match Path::new(list).exists() {
        true => vec![list.as_str()],
        false => split_list(list).into_iter().map(str::trim).collect(),
    });
    names.map(str::to_string).collect()
}

/// Tells apart different traces of one file name by the beginning of their digests, and
/// drops a trace that was named twice.
fn told_apart(workloads: Vec<Arc<Workload>>) -> Vec<Arc<Workload>> {
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

fn machine_of(workload: &Workload, quiet: bool) -> Result<Topology, Failure> {
    let of_header =
        [("MaxProcs", workload.header.max_procs()), ("MaxNodes", workload.header.max_nodes())];
    let of_header =
        of_header.into_iter().find_map(|(key, value)| Some((key, usize::try_from(value?).ok()?)));
    let source = workload.source.display();
    let Some((key, processors)) = of_header else {
        let message =
            format!("{source}: the header has no usable MaxProcs; say which machine with --mesh");
        return Err(Failure::usage_message(message));
    };
    let machine = default_machine(processors).ok_or_else(|| {
        Failure::usage_message(format!(
            "{source}: the header's {key} is {processors}; a machine has 1 to {MAX_PROCESSORS} processors"
        ))
    })?;
    let machine = DefaultMachine { rule: machine.rule.replace("MaxProcs", key), ..machine };
    if !quiet {
        tell(format_args!("{}: machine {machine}", workload.name));
    }
    Ok(machine.topology)
}

fn fitted(
    workload: &Arc<Workload>,
    machine: &Topology,
    rule: Oversize,
    quiet: bool,
) -> Result<Arc<Workload>, Failure> {
    let times = workload.jobs.iter().map(|job| i128::from(job.run.max(job.estimate)));
    let latest = workload.jobs.iter().map(|job| i128::from(job.submit)).max().unwrap_or(0);
    if latest + times.sum::<i128>() > i128::from(i64::MAX / 4) {
        let source = workload.source.display();
        return Err(Failure::data(anyhow::anyhow!(
            "{source}: its times add up to more than can be counted"
        )));
    }
    let processors = machine.processors() as u32;
    if workload.jobs.iter().all(|job| job.size <= processors) {
        return Ok(workload.clone());
    }
    let mut fitted = Workload::clone(workload);
    fitted.fit_to_machine(processors, rule).map_err(|e| {
        Failure::data(
            anyhow::Error::new(e).context(format!(
                "machine {machine} (--oversize drop or clamp, or a larger --mesh)"
            )),
        )
    })?;
    if fitted.jobs.is_empty() {
        return Err(Failure::usage_message(format!("{}: no job fits {machine}", workload.name)));
    }
    if !quiet {
        tell(format_args!("{} on {machine}", fitted.report));
    }
    Ok(Arc::new(fitted))
}
