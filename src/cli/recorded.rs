//! What a log did, on the way to cells that repeat it.

use std::fs::File;
use std::sync::Arc;

use super::exit::{Failure, tell};
use super::load::with_input;
use replay_core::cancel::CancelToken;
use replay_core::number::counted;
use replay_core::scheduler::WhenFull;
use replay_core::swf::ReadOptions;
use replay_core::workload::{
    Change, Job, NodeMap, Policy, RecordedPlacements, RecordedPlacementsError, Workload,
};
use replay_experiment::grid::ParameterGrid;
use replay_experiment::sweep::Plan;
use replay_experiment::{Places, Trace};

/// What becomes of jobs for which a machine has no processors when their log starts them.
const WITHOUT: &str = "such jobs have none, and are in no measure";

/// What helps where the nodes of a log hold several jobs at once.
const SHARED: &str = "where jobs share nodes, a policy that counts processors and a machine with as many at \
                      each point, such as 4x11*80, count each processor once";

/// Whether some strategy of a grid repeats the placements of its logs, and whether all do.
pub fn repeats_places(grid: &ParameterGrid) -> Result<(bool, bool), Failure> {
    let (mut some, mut all) = (false, true);
    for index in 0..grid.strategies.len() {
        let recorded = grid.strategies.get(index).map_err(Failure::usage)?.recorded();
        (some, all) = (some || recorded, all && recorded);
    }
    Ok((some, all))
}

/// A trace with the places of its jobs, and what is odd about these.
pub fn placed(
    trace: Trace,
    grid: &ParameterGrid,
    rule: WhenFull,
    quiet: bool,
) -> Result<Trace, Failure> {
    let source = trace.workload.source.clone();
    let max_errors = grid.file.max_errors;
    let map = grid.file.node_map.as_deref().map(node_map).transpose()?;
    let options = ReadOptions { max_errors };
    let name = source.display().to_string();
    let nodes = with_input(&source, |text| RecordedPlacements::of_input(text, &name, options))
        .unwrap_or_else(|| RecordedPlacements::load(&source, options));
    let nodes = nodes.map_err(Failure::data)?;
    let renumbered = trace.workload.report.changes.contains_key(&Change::Renumbered);
    if nodes.is_by_number() && renumbered {
        return Err(Failure::usage_message(format!(
            "allocator recorded: policy {} numbers jobs anew, and the nodes beside {name} are told by job number",
            trace.policy
        )));
    }
    nodes.check(&trace.workload).map_err(Failure::data)?;
    // Of field 19 a job is told by its line.
    let by = if nodes.is_by_number() { "job" } else { "line" };
    let counts_nodes =
        Policy::by_name(&trace.policy).is_ok_and(|policy| policy.size.counts_nodes());
    let nodes = if counts_nodes { nodes.each_once() } else { nodes };
    let (nodes, too_long) = nodes.within(trace.topology.capacity());
    if let (Some((count, first)), false) = (too_long, quiet) {
        let (lists, machine) = (counted(count, "list"), &trace.topology);
        tell(format_args!(
            "{}, recorded placements: {lists} of more nodes than {machine} has, first of {by} {first}; these jobs have \
             no place",
            trace.workload.name
        ));
    }
    let places = Places::on(nodes, &trace.topology, map.as_ref()).map_err(|problem| match map {
        Some(_) => Failure::data(anyhow::anyhow!("{problem}")),
        None => {
            Failure::usage_message(format!("allocator recorded: {}: {problem}", source.display()))
        }
    })?;
    if !quiet && places.in_order {
        tell(format_args!(
            "{}, recorded placements: names of nodes are no numbers of points of {}; the nodes stand on its first \
             points in order of their names, and distances mean as much as that order (--node-map tells where they are)",
            trace.workload.name, trace.topology
        ));
    }
    if !quiet && map.is_none() && !places.in_order && !places.by_name {
        tell(format_args!(
            "{}, recorded placements: names of nodes are taken as numbers of points of {} (--node-map tells where \
             they are)",
            trace.workload.name, trace.topology
        ));
    }
    let trace = trace.placed(Some(Arc::new(places)));
    let stop = CancelToken::new();
    let (timeline, overfull) = trace.recorded_in_processors(&stop).map_err(Failure::data)?;
    let conflicts = trace.replay_placed(&timeline, &stop, |_, _| {}).map_err(Failure::data)?;
    let unreadable = trace.places().and_then(|places| places.nodes.unreadable());
    if conflicts.without_placement == timeline.events().len() as u64 / 2 {
        let unreadable = unreadable.map_or(String::new(), |lists| format!("; {lists}"));
        let why = anyhow::anyhow!(
            "{}: of none of its jobs anything tells where it ran{unreadable}",
            source.display()
        );
        return Err(Failure::data(why));
    }
    let (name, machine) = (&trace.workload.name, &trace.topology);
    let contradicts = |what: String| Err(Failure::data(anyhow::anyhow!("{what} ({SHARED})")));
    if grid.file.strict && conflicts.jobs > 0 {
        return contradicts(format!("{name} on {machine}, recorded placements: {conflicts}"));
    }
    if rule == WhenFull::Error && overfull.jobs > 0 {
        return contradicts(format!("{name} on {machine}, recorded: {overfull}"));
    }
    if !quiet {
        if let Some(lists) = unreadable {
            tell(format_args!("{name}, recorded placements: {lists}; these jobs have no place"));
        }
        tell(format_args!("{name} on {machine}, recorded placements: {conflicts}"));
        if let Some(unmatched) = trace.unmatched() {
            tell(format_args!("{name}, recorded placements: {unmatched}"));
        }
        if overfull.jobs > 0 {
            // Of a log whose jobs share nodes sizes in nodes come to more than there are.
            tell(format_args!("{name} on {machine}, recorded: {overfull}; {WITHOUT} ({SHARED})"));
        } else if conflicts.jobs > 0 {
            tell(format_args!("{name} on {machine}, recorded placements: {SHARED}"));
        }
    }
    Ok(trace)
}

/// Where nodes stand, by a file.
fn node_map(file: &str) -> Result<NodeMap, Failure> {
    let input = File::open(file).map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot read {file}")))
    })?;
    NodeMap::read(input, file).map_err(|error| match error {
        error @ RecordedPlacementsError::Io { .. } => Failure::usage(error),
        error => Failure::data(error),
    })
}

/// Says which schedulers and strategies of a grid do not go together.
pub fn tell_left_out(plan: &Plan) -> Result<(), Failure> {
    for (scheduler, strategy) in plan.pairs.incompatible() {
        let scheduler = &plan.grid.schedulers[scheduler];
        let strategy = plan.grid.strategies.get(strategy).map_err(Failure::usage)?;
        tell(format_args!(
            "left out: scheduler {scheduler} with allocator {strategy}, which repeats placements and goes \
             with scheduler recorded only"
        ));
    }
    Ok(())
}

/// Says of how many jobs a log does not tell when they started.
///
/// # Errors
/// If it tells it of none.
pub fn tell_without_waits(workload: &Workload, quiet: bool) -> Result<(), Failure> {
    let Workload { jobs, waits, name, .. } = workload;
    let without = || jobs.iter().filter(|job| waits.of(job).is_none());
    let (count, first) = (without().count(), without().min_by_key(|job| job.line));
    if count == jobs.len() {
        return Err(Failure::data(anyhow::anyhow!(
            "{}: the log does not tell how long its jobs waited (field 3): scheduler recorded has nothing \
             to go by",
            workload.source.display()
        )));
    }
    if let (Some(Job { number, line, .. }), false) = (first, quiet) {
        tell(format_args!(
            "{name}, recorded: the log does not tell how long {} waited (field 3), first job {number} (line {line}); \
             such jobs are in no measure of recorded, and other schedulers run them",
            counted(count as u64, "job"),
        ));
    }
    Ok(())
}

/// Says where a log has more processors busy than the machine has.
pub fn tell_conflicts(trace: &Trace, rule: WhenFull, quiet: bool) -> Result<(), Failure> {
    let (_, overfull) = trace.recorded(&CancelToken::new()).map_err(Failure::data)?;
    let (name, machine) = (&trace.workload.name, &trace.topology);
    let whole = match machine.per_point() {
        1 => String::new(),
        each => {
            format!(" (counted in points of {each} processors, of which a job holds whole ones)")
        }
    };
    let told = format!("{name} on {machine}, recorded: {overfull}{whole}");
    match rule {
        _ if overfull.jobs == 0 => {}
        WhenFull::Error => return Err(Failure::data(anyhow::anyhow!("{told}"))),
        WhenFull::Virtual if !quiet => tell(format_args!("{told}; {WITHOUT}")),
        WhenFull::Virtual => {}
    }
    Ok(())
}
