//! `replay contend`: simulates the messages of the jobs of a trace on the flit-level network.

mod figures;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::args::{GridArgs, OutputArgs, ShakeArgs, hide_outage_options};
use super::eta::First;
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::interrupt::cancel_token;
use super::messages::MessageArgs;
use super::named_value::{parse_list, trace_names};
use super::print::{SortArg, Sorting};
use super::program::Invocation;
use super::progress::Progress;
use super::result_kind::Kind;
use super::results::Results;
use super::resumable_run::ResumableRun;
use super::session::Session;
use super::shards::{MergeArgs, ShardArg, ShardFolder, Shards};
use super::skipped_jobs::SkippedJobs;
use super::strategy_selection;
use super::strategy_selection::SENDING;
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_experiment::compatibility::{
    can_send, reject_outages, reject_partitions, reject_recorded_scheduler,
};
use replay_experiment::contention::ranking::{Mean, Stretches, TwoJobReversal, two_job_reversals};
use replay_experiment::contention::{
    ContentionExperiment, ContentionRun, EstimatedPackets, Isolation, TOLERANCE, TraceError,
    UnmeasuredTrace, check_scale, contended_id, settings,
};
use replay_experiment::journal::CellId;
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::shaken::{Estimates, ShakenRow};
use replay_experiment::{RunContext, RunKey, Trace};
use replay_output::plot::Plots;
use replay_output::report::Sheet;
use replay_output::report::manifest::Configuration;
use replay_results::FrameError;

/// Arguments of `replay contend`.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[command(after_help = "Examples:
  replay contend --jobs 500 --alloc mc1x1,random
  replay contend --trace KTH-SP2 --jobs 1000 --alloc mm,hilbert-best-fit --seed 0..4 --out out/contend
  replay list patterns")]
pub struct ContendArgs {
    #[command(flatten)]
    grid: GridArgs,

    /// Let jobs send messages in a pattern: all-to-all, n-body, fft-2d, ... (replay list patterns).
    #[arg(long, value_name = "NAME[..]", default_value = "all-to-all", help_heading = "Messages")]
    pattern: String,

    #[command(flatten)]
    messages: MessageArgs,

    /// Simulate this many cycles for each second of the trace.
    ///
    /// Without other jobs, a job takes (its run time) x scale cycles. The number of packets of a job is a whole number,
    /// so the actual time may differ from the product by the time of one packet, or by the time of one step of the
    /// pattern. A larger scale makes this difference smaller.
    #[arg(long, value_name = "CYCLES", default_value_t = 1.0, help_heading = "Messages")]
    scale: f64,

    #[command(flatten)]
    shake: ShakeArgs,

    #[command(flatten)]
    sort: SortArg,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    #[serde(skip)]
    shard: ShardArg,
}

const ABOUT_OUT: &str = "Write results into this folder.

The table contend has a row for each run, and contend_jobs has a row for each job of each run. The table correlations has \
the correlations of distances, dispersal and stretch, and shaken has the means over perturbed copies (replay list columns).";

const ABOUT_MACHINE: &str = "Set the machine: 10x10, torus:8x8, ...

Further machines: hypercube:7; cluster:100; torus[x]:16x24, which wraps around only in x; torus:4x4x4*2 with two processors at \
every point, where a job receives whole points; and the meshes and tori of replay list systems. Trees and blocks are \
refused, because their links are not defined. The default is a two-dimensional mesh of MaxProcs processors (header of the trace), \
with sides as equal as possible.";

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    hide_outage_options(command)
        .mut_arg("deps", |arg| arg.hide(true))
        .mut_arg("quota", |arg| arg.hide(true))
        .mut_arg("out", |arg| arg.long_help(ABOUT_OUT))
        .mut_arg("machine", |arg| arg.long_help(ABOUT_MACHINE))
        .mut_arg("alloc", |arg| {
            let first = "Set the allocator";
            arg.help(format!("{first} [default: several]")).long_help(format!(
                "{first} [default: several].\n\nThe default is every allocator of the list {SENDING} that works on the \
                 machine. The value all selects every allocator whose jobs can send messages on the machine."
            ))
        })
}

/// Measures the time of every job without other jobs, then runs the trace under every scheduler and allocator.
pub fn run(
    registries: &Registries,
    args: &ContendArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    run_or_merge(registries, args, command, None)
}

/// Merges the shards of contention runs; reads the traces again.
///
/// # Errors
/// A data error if the folders are not shards of the same runs, or if a shard is missing or incomplete.
pub fn merge(
    registries: &Registries,
    args: &MergeArgs,
    command: Invocation<'_>,
    parts: &[ShardFolder],
) -> Result<Exit, Failure> {
    let (mut runs, shards) = Shards::of_one_command::<ContendArgs>(parts, args)?;
    args.replace_output(&mut runs.sort, &mut runs.output);
    run_or_merge(registries, &runs, command, Some(&shards))
}

/// Runs the traces, or reads the results of their runs from shards.
fn run_or_merge(
    registries: &Registries,
    args: &ContendArgs,
    command: Invocation<'_>,
    shards: Option<&Shards<'_>>,
) -> Result<Exit, Failure> {
    let mut session = Session::begin(Kind::Contend, &args.output, command)?;
    let sorting = args.sort.of()?;
    let quiet = args.output.process.quiet;
    check_scale(args.scale)?;
    if args.messages.has_quota() {
        return Err(Failure::usage_message(
            "--quota: contend computes the quota of a job from the run time of the job x --scale",
        ));
    }
    let GridArgs { down, node_map, strict, .. } = &args.grid;
    reject_outages(down.is_some(), node_map.is_some(), *strict)?;
    reject_partitions(args.grid.has_partitions())?;
    if let Some(rule) = args.grid.deps.as_deref().filter(|rule| *rule != "ignore") {
        return Err(Failure::usage_message(format!(
            "--deps {rule} is for replays of traces (replay without a command, sweep, search)"
        )));
    }
    let traces = trace_names(&args.grid.trace);
    if let Some(problem) = args.shard.shard().and_then(|shard| shard.problem(&traces)) {
        return Err(Failure::usage_message(problem));
    }
    reject_recorded_scheduler(&parse_list(&args.grid.sched, "fcfs", |name| {
        registries.schedulers.read(name)
    })?)?;
    let spec = args.messages.spec();
    let messages = spec.resolve(&args.pattern)?;
    let pattern = spec.pattern_name(&messages);
    let loaded =
        strategy_selection::resolve_sending(registries, &args.grid, args.shake.shake(), quiet)?;
    session.reads(loaded.inputs());
    if let Some(trace) = loaded.traces.iter().find(|trace| trace.topology.per_point() > 1)
        && !quiet
    {
        eprint_line(format_args!(
            "{}: a job has one process at each of its points; sizes are in points",
            trace.topology
        ));
    }
    for allocator in loaded.allocators()? {
        for trace in &loaded.traces {
            let prepared = &loaded.plan.grid.prepared;
            prepared.check(&allocator, &trace.topology, |built| can_send(&allocator, built))?;
        }
    }
    let cells = loaded.cells()?;
    let mut experiment = ContentionExperiment::new(&cells, &messages, args.scale);
    let (digest, plan) = (messages.digest(), &loaded.plan);
    let shake = plan.grid.shake.as_ref();
    let ids = cells.iter().enumerate().map(|(run, cell)| {
        let [trace, ..] = plan.places(run as u32);
        contended_id(&plan.traces[trace].jobs_digest, cell, shake, &digest, args.scale)
    });
    let ids: Vec<CellId> = ids.collect();
    let mut contended = ResumableRun::begin(&mut session, ids, args, args.shard, shards)?;
    let missing: Vec<u32> = contended.missing().collect();
    let settings = experiment.to_measure(&missing);
    let of_cells = missing.iter().map(|&cell| &experiment.cells[cell as usize].trace);
    let traces = settings.iter().map(|(trace, _)| trace).chain(of_cells);
    let jobs = traces.map(|trace| trace.workload.jobs.len() as u64).sum();
    let stop = cancel_token(quiet);
    let progress = Progress::new(quiet, First::MeasuredAlone, missing.len(), jobs);
    if missing.is_empty() {
        progress.begun();
    }
    let context = RunContext { stop: &stop, watch: &progress };
    let ran = match measure(&mut experiment, settings, context, &progress, quiet) {
        Ok(()) => contended.run(&experiment, context, |place, outcome| match outcome {
            Ok(_) => {
                progress.cell_done();
                if !quiet {
                    progress.print_line(&format!("{}: done", experiment.name(place as u32)));
                }
            }
            Err(why) => progress.print_line(&format!("replay: cell failed: {why}")),
        }),
        Err(UnmeasuredTrace { cause: TraceError::Cancelled(_), .. }) => Ok(()),
        Err(error) => Err(of_trace(error)),
    };
    progress.finish();
    ran?;
    let (done, tally) = contended.take("cells");
    let mut left_out = SkippedJobs::new(registries);
    let runs = done.into_iter().map(|(place, mut run)| {
        let (cell, pattern) = (&experiment.cells[place], pattern.clone());
        if let Some(away) = &experiment.rejected[place] {
            run.system.fragmentation.no_such_size_jobs =
                Some(away.iter().map(|one| one.jobs).sum());
            left_out.add(&cell.key(), away);
        }
        ContentionRun::new(place as u32, cell.key(), cell.trace.clone(), pattern, run)
    });
    let runs: Vec<ContentionRun> = runs.collect();
    if !quiet && session.shard_journal().is_none() {
        left_out.report();
        decided_by_two_jobs(&runs).iter().for_each(eprint_warning);
    }
    let shaken = over_copies(&loaded, &runs)?;
    session.publish(&mut Contention { args, loaded: &loaded, runs, shaken, sorting }, &tally)
}

/// Returns a line for each setting and each mean for which two jobs determine the order of the strategies.
fn decided_by_two_jobs(runs: &[ContentionRun]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in settings(runs) {
        let strategies: Vec<Stretches> = group.iter().map(|&run| run.into()).collect();
        let decided = two_job_reversals(&strategies);
        let RunKey { trace, topology, scheduler, seed, .. } = &group[0].key;
        for mean in Mean::ALL {
            let of_mean: Vec<&TwoJobReversal> =
                decided.iter().filter(|one| one.mean == mean).collect();
            if of_mean.is_empty() {
                continue;
            }
            let mut turned: Vec<String> =
                of_mean.iter().take(MOST_DECIDED).map(ToString::to_string).collect();
            if let more @ 1.. = of_mean.len().saturating_sub(MOST_DECIDED) {
                turned.push(format!("{more} more"));
            }
            lines.push(format!(
                "{trace} {topology} {scheduler} seed {seed}: the order by {} depends on two jobs: {}",
                mean.name(),
                turned.join("; ")
            ));
        }
    }
    lines
}

/// Maximum number of orders of strategies that a line lists.
const MOST_DECIDED: usize = 4;

/// The results of `replay contend`.
struct Contention<'a> {
    args: &'a ContendArgs,
    loaded: &'a ResolvedGrid,
    runs: Vec<ContentionRun>,
    /// Means over perturbed copies of the traces.
    shaken: Vec<ShakenRow>,
    sorting: Option<Sorting<ContentionRun>>,
}

impl Results for Contention<'_> {
    type Row = ContentionRun;

    fn rows(&self) -> &[ContentionRun] {
        &self.runs
    }

    fn arrange(&mut self) {
        if let Some(sorting) = &self.sorting {
            self.runs.sort_by(|a, b| sorting.order(a, b));
        }
    }

    fn sheets(&self) -> Vec<Sheet> {
        tables::sheets(&self.runs, &self.shaken)
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.args, self.loaded)
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        tables::write(dir, &self.runs, &self.shaken, metadata)
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        figures::write(plots, &self.runs, &self.shaken)
    }
}

/// Returns the means of runs over perturbed copies of their traces; empty if there are no copies.
///
/// # Errors
/// A usage error if a strategy cannot be named.
fn over_copies(loaded: &ResolvedGrid, runs: &[ContentionRun]) -> Result<Vec<ShakenRow>, Failure> {
    let plan = &loaded.plan;
    if plan.grid.shake.is_none() {
        return Ok(Vec::new());
    }
    let mut estimates = Estimates::new(plan, replay_experiment::contention::Contention::columns());
    for run in runs {
        estimates.take(plan, run.run, &run.means);
    }
    estimates.rows(plan).map_err(Failure::usage)
}

/// Measures the time of every job without other jobs, and prints what was measured.
///
/// # Errors
/// The first trace that cannot be measured.
fn measure(
    experiment: &mut ContentionExperiment<'_>,
    settings: Vec<(Arc<Trace>, u64)>,
    context: RunContext<'_>,
    progress: &Progress<'_>,
    quiet: bool,
) -> Result<(), UnmeasuredTrace> {
    // The estimate is the same for all seeds, and perturbed copies of a trace send about the same number of packets, so
    // each line is printed only once.
    let mut lines: Vec<String> = Vec::new();
    let expected = |trace: &Trace, estimate: EstimatedPackets| {
        let line = estimate_in_words(trace, estimate);
        if !quiet && trace.copy == 0 && !lines.contains(&line) {
            progress.print_line(&line);
            lines.push(line);
        }
    };
    let measured = |trace: &Trace, isolation: &Isolation| {
        // Perturbed copies differ only by seconds and have about the same counts.
        if !quiet && trace.copy == 0 {
            progress.print_line(&isolation_line(trace, isolation));
        }
    };
    experiment.measure(settings, context, expected, measured)
}

/// Returns a line with the estimated number of packets of a run.
fn estimate_in_words(trace: &Trace, estimate: EstimatedPackets) -> String {
    let EstimatedPackets { packets, is_upper_bound } = estimate;
    let (name, topology) = (&trace.workload.name, &trace.topology);
    let packets = grouped(packets.ceil() as u64);
    match is_upper_bound {
        true => {
            format!("{name}: at most {packets} packets in a run on {topology} (an upper bound)")
        }
        false => format!("{name}: about {packets} packets in a run on {topology} (estimated)"),
    }
}

/// Returns a line with three numbers of jobs: the jobs that were measured without other jobs, the jobs that send
/// packets, and the jobs whose time misses the target.
fn isolation_line(trace: &Trace, isolation: &Isolation) -> String {
    let (jobs, sending) = (isolation.jobs.len(), isolation.sending());
    format!(
        "{}: {} {} measured without other jobs, {} {} packets; the times of {} miss the target by more than \
         {} %, because a single packet or step takes longer (a larger --scale reduces this number of jobs)",
        trace.workload.name,
        counted(jobs as u64, "job"),
        if jobs == 1 { "was" } else { "were" },
        grouped(sending as u64),
        if sending == 1 { "sends" } else { "send" },
        counted(isolation.off_target() as u64, "job"),
        100.0 * TOLERANCE,
    )
}

/// Converts the error of a trace to a usage error; an error that `--scale` can cause begins with the name of this
/// option.
fn of_trace(UnmeasuredTrace { trace, cause }: UnmeasuredTrace) -> Failure {
    match cause {
        error @ TraceError::Scale { .. } => {
            Failure::usage_message(format!("--scale: {trace}: {error}"))
        }
        error @ TraceError::Packets { .. } => Failure::usage_message(format!(
            "--scale: {trace}: {error}; lower --scale, select fewer or shorter jobs (--jobs, --from), or use link loads \
             (--network links)"
        )),
        error => Failure::usage(error),
    }
}

/// Returns the configuration, which determines the numbers.
fn configuration(args: &ContendArgs, loaded: &ResolvedGrid) -> Result<serde_json::Value, Failure> {
    let Configuration { traces, schedulers, allocators, seeds, policy, window, shake, .. } =
        super::output::configuration(loaded, false)?;
    let mut messages = args.messages.spec().describe();
    if let Some(messages) = messages.as_object_mut() {
        // The quotas are omitted, because they are derived from run times.
        messages.remove("quota");
    }
    Ok(serde_json::json!({
        "traces": traces,
        "schedulers": schedulers,
        "allocators": allocators,
        "seeds": seeds,
        "policy": policy,
        "window": window,
        "shake": shake,
        "pattern": args.pattern,
        "messages": messages,
        "scale": args.scale,
    }))
}
