//! Checks the recorded schedules and placements of logs and reports irregularities before they are replayed.

use std::fs::File;
use std::sync::Arc;

use super::load::with_input;
use super::{InputError, Notices};
use crate::grid::ParameterGrid;
use crate::sweep::Plan;
use crate::{Places, Trace};
use replay_engine::cancel::CancelToken;
use replay_engine::number::counted;
use replay_engine::scheduler::WhenFull;
use replay_engine::swf::ReadOptions;
use replay_engine::topology::NodeMap;
use replay_engine::workload::{
    Change, Job, Policy, RecordedPlacements, RecordedPlacementsError, Workload,
};

/// Message about jobs for which too few processors are free at the recorded start.
const WITHOUT: &str = "these jobs get no processors and are excluded from all metrics";

/// Advice for logs in which several jobs share a node.
const SHARED: &str = "if jobs share nodes, choose a policy that counts processors and a machine with several processors \
                      at each point, such as 4x11*80";

/// Returns two flags: whether at least one strategy of a grid repeats recorded placements, and whether all strategies
/// do so.
///
/// # Errors
/// A usage error if a strategy cannot be built.
pub fn repeats_places(grid: &ParameterGrid) -> Result<(bool, bool), InputError> {
    let (mut some, mut all) = (false, true);
    for index in 0..grid.strategies.len() {
        let recorded = grid.strategies.get(index).map_err(InputError::usage)?.recorded();
        (some, all) = (some || recorded, all && recorded);
    }
    Ok((some, all))
}

/// Adds the recorded placements to a trace, and reports irregularities in them.
///
/// # Errors
/// A data error if the placements cannot be read, if they are missing for all jobs, or if they contradict the machine
/// under `--strict`; a usage error if the placements do not fit the policy or the machine.
pub fn placed(
    trace: Trace,
    grid: &ParameterGrid,
    rule: WhenFull,
    notices: Notices<'_>,
) -> Result<Trace, InputError> {
    let source = trace.workload.source.clone();
    let max_errors = grid.file.max_errors;
    let map = grid.file.node_map.as_deref().map(node_map).transpose()?;
    let options = ReadOptions { max_errors };
    let name = source.display().to_string();
    let nodes = with_input(&source, |text| RecordedPlacements::of_input(text, &name, options))
        .unwrap_or_else(|| RecordedPlacements::load(&source, options));
    let nodes = nodes.map_err(InputError::data)?;
    let renumbered = trace.workload.report.changes.contains_key(&Change::Renumbered);
    if nodes.is_by_number() && renumbered {
        return Err(InputError::usage_message(format!(
            "allocator recorded: policy {} renumbers jobs, and the nodes beside {name} are listed by job number; choose \
             another policy",
            trace.policy
        )));
    }
    nodes.check(&trace.workload).map_err(InputError::data)?;
    // Node lists in field 19 are identified by line, and node lists in a separate file are identified by job number.
    let by = if nodes.is_by_number() { "job" } else { "line" };
    let counts_nodes =
        Policy::by_name(&trace.policy).is_ok_and(|policy| policy.size.counts_nodes());
    let nodes = if counts_nodes { nodes.each_once() } else { nodes };
    let (nodes, too_long) = nodes.within(trace.topology.capacity());
    if let Some((count, first)) = too_long {
        let (lists, machine) = (counted(count, "list"), &trace.topology);
        notices.line(format_args!(
            "{}, recorded placements: {lists} with more nodes than {machine} has, first of {by} {first}; these jobs have no \
             placement",
            trace.workload.name
        ));
    }
    let places = Places::on(nodes, &trace.topology, map.as_ref()).map_err(|problem| match map {
        Some(_) => InputError::data(anyhow::anyhow!("{problem}")),
        None if trace.topology.hierarchy().is_some() => {
            InputError::data(anyhow::anyhow!("allocator recorded: {}: {problem}", source.display()))
        }
        None => InputError::usage_message(format!(
            "allocator recorded: {}: {problem}",
            source.display()
        )),
    })?;
    if places.in_order {
        notices.line(format_args!(
            "{}, recorded placements: node names are not numbers of points of {}; nodes are assigned to the first points in \
             the order of their names, so distances depend on this order (--node-map assigns other points)",
            trace.workload.name, trace.topology
        ));
    }
    if map.is_none() && !places.in_order && !places.by_name {
        notices.line(format_args!(
            "{}, recorded placements: node names are used as numbers of points of {} (--node-map assigns other points)",
            trace.workload.name, trace.topology
        ));
    }
    let trace = trace.placed(Some(Arc::new(places)));
    let stop = CancelToken::new();
    let (timeline, overfull) = trace.recorded_in_processors(&stop).map_err(InputError::data)?;
    let conflicts = trace.replay_placed(&timeline, &stop, |_, _| {}).map_err(InputError::data)?;
    let unreadable = trace.places().and_then(|places| places.nodes.unreadable());
    if conflicts.without_placement == timeline.events().len() as u64 / 2 {
        let unreadable = unreadable.map_or(String::new(), |lists| format!("; {lists}"));
        let why =
            anyhow::anyhow!("{}: no job has a recorded placement{unreadable}", source.display());
        return Err(InputError::data(why));
    }
    let (name, machine) = (&trace.workload.name, &trace.topology);
    let contradicts = |what: String| Err(InputError::data(anyhow::anyhow!("{what} ({SHARED})")));
    if grid.file.strict && conflicts.jobs > 0 {
        return contradicts(format!("{name} on {machine}, recorded placements: {conflicts}"));
    }
    if rule == WhenFull::Error && overfull.jobs > 0 {
        return contradicts(format!("{name} on {machine}, recorded: {overfull}"));
    }
    if let Some(lists) = unreadable {
        notices.line(format_args!(
            "{name}, recorded placements: {lists}; these jobs have no placement"
        ));
    }
    notices.line(format_args!("{name} on {machine}, recorded placements: {conflicts}"));
    if let Some(unmatched) = trace.unmatched() {
        notices.line(format_args!("{name}, recorded placements: {unmatched}"));
    }
    if overfull.jobs > 0 {
        // If jobs share nodes, the sum of their sizes in nodes can exceed the number of nodes of the machine.
        notices
            .line(format_args!("{name} on {machine}, recorded: {overfull}; {WITHOUT} ({SHARED})"));
    } else if conflicts.jobs > 0 {
        notices.line(format_args!("{name} on {machine}, recorded placements: {SHARED}"));
    }
    Ok(trace)
}

/// Reads a file that assigns a point of the machine to each node.
fn node_map(file: &str) -> Result<NodeMap, InputError> {
    let input = File::open(file).map_err(|error| {
        InputError::usage(anyhow::Error::new(error).context(format!("cannot read {file}")))
    })?;
    NodeMap::read(input, file).map_err(|error| match error {
        error @ RecordedPlacementsError::Io { .. } => InputError::usage(error),
        error => InputError::data(error),
    })
}

/// Reports the pairs of scheduler and strategy that a grid omits because they cannot be combined.
///
/// # Errors
/// A usage error if a strategy cannot be built.
pub fn report_left_out_pairs(plan: &Plan, notices: Notices<'_>) -> Result<(), InputError> {
    for (scheduler, strategy) in plan.pairs.incompatible() {
        let scheduler = &plan.grid.schedulers[scheduler];
        let strategy = plan.grid.strategies.get(strategy).map_err(InputError::usage)?;
        notices.line(format_args!(
            "left out: scheduler {scheduler} with allocator {strategy}, which repeats recorded placements and needs \
             scheduler recorded"
        ));
    }
    Ok(())
}

/// Reports how many jobs of a log have no recorded wait.
///
/// # Errors
/// A data error if no job has a recorded wait.
pub fn report_missing_waits(workload: &Workload, notices: Notices<'_>) -> Result<(), InputError> {
    let Workload { jobs, waits, name, .. } = workload;
    let without = || jobs.iter().filter(|job| waits.of(job).is_none());
    let (count, first) = (without().count(), without().min_by_key(|job| job.line));
    if count == jobs.len() {
        return Err(InputError::data(anyhow::anyhow!(
            "{}: no job has a recorded wait (field 3), which scheduler recorded needs",
            workload.source.display()
        )));
    }
    if let Some(Job { number, line, .. }) = first {
        notices.line(format_args!(
            "{name}, recorded: excluded from all metrics: {} without a recorded wait (field 3), first job {number} (line \
             {line}); other schedulers include these jobs",
            counted(count as u64, "job"),
        ));
    }
    Ok(())
}

/// Reports the times at which the jobs of a log use more processors than the machine has.
///
/// # Errors
/// A data error if the log oversubscribes the machine and the rule is [`WhenFull::Error`].
pub fn report_oversubscription(
    trace: &Trace,
    rule: WhenFull,
    notices: Notices<'_>,
) -> Result<(), InputError> {
    let (_, overfull) = trace.recorded(&CancelToken::new()).map_err(InputError::data)?;
    let (name, machine) = (&trace.workload.name, &trace.topology);
    let whole = match machine.per_point() {
        1 => String::new(),
        each => {
            format!(" (counted in points of {each} processors, because a job holds whole points)")
        }
    };
    let message = format!("{name} on {machine}, recorded: {overfull}{whole}");
    match rule {
        _ if overfull.jobs == 0 => {}
        WhenFull::Error => return Err(InputError::data(anyhow::anyhow!("{message}"))),
        WhenFull::Virtual => notices.line(format_args!("{message}; {WITHOUT}")),
    }
    Ok(())
}
