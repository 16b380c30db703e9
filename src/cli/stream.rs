//! `replay stream`: replicated simulations of stochastic streams over loads, schedulers and allocators.

mod backlog;
mod figure;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::args::{OutputArgs, SeedArg};
use super::exit::{Exit, Failure, eprint_line};
use super::interrupt::cancel_token;
use super::messages::MessageArgs;
use super::output::{ranked_sheets, unranked};
use super::print::{FormatArg, SortArg, Sorting};
use super::program::Invocation;
use super::progress::Points;
use super::result_kind::Kind;
use super::results::Results;
use super::resumable_run::ResumableRun;
use super::session::Session;
use super::shards::{MergeArgs, ShardArg, ShardFolder, Shards};
use replay_engine::number::counted;
use replay_engine::registries::Registries;
use replay_experiment::grid::Values;
use replay_experiment::stream::{
    Counting, EstimatedPoints, Estimates, Metric, Point, PointError, ReplicationSpec, StreamRow,
    StreamSizeRow, StreamSpec, Streams,
};
use replay_experiment::{RunContext, RunKey};
use replay_output::plot::{Lines, Plots, save};
use replay_output::report::{Sheet, Shown};
use replay_results::FrameError;

/// Arguments of `replay stream`.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "Examples:
  replay stream --machine 16x16 --arrivals 1..10:1 --alloc first-fit,mbs
  replay stream --machine 32x32 --load 0.4,0.6,0.8 --sched fcfs,easy --out out
  replay stream --machine hypercube:8 --arrivals 2,4 --max-replications 100
  replay stream --backlog 1,16 --rules first,slurm,dl --replications 3",
    next_help_heading = "Stream"
)]
pub struct StreamArgs {
    /// Set the machine: 10x10, torus:8x8, ... [default: 16x16].
    ///
    /// The value may be a list. Trees and blocks are refused, because the jobs of a stream are boxes. With --backlog,
    /// the default is torus:16x16x16.
    #[arg(long, value_name = "MACHINE")]
    machine: Vec<String>,

    /// Offer this load, the share of the machine's processor time that jobs request.
    ///
    /// The value is a number, list or range, such as 0.7 or 0.3..0.9:0.2. Loads must not exceed 1, because with a
    /// larger load the queue would grow without bound. This option cannot be used with --pattern, because the work of a
    /// job is then unknown before the job runs.
    #[arg(long, value_name = "LOAD", conflicts_with = "arrivals")]
    load: Option<String>,

    /// Let this many jobs arrive per time unit; takes a list or a range FIRST..LAST:STEP [default: 1..10:1].
    ///
    /// With --pattern, a time unit is a cycle and the option is required.
    #[arg(long, value_name = "LIST")]
    arrivals: Option<String>,

    /// Draw side lengths of jobs from uniform, exponential, increasing, decreasing, ... (replay list sides).
    #[arg(long, value_name = "NAME[..]", default_value = "uniform")]
    sides: String,

    /// Draw service times from exponential, pareto, normal, deterministic (replay list services) [default:
    /// exponential].
    #[arg(long, value_name = "NAME[..]")]
    service: Option<String>,

    /// Let jobs send messages in a pattern: all-to-all, n-body, fft-2d, ... (replay list patterns).
    ///
    /// A job then ends when its messages are delivered, and a time unit is a cycle.
    #[arg(long, value_name = "NAME[..]", help_heading = "Messages")]
    pattern: Option<String>,

    #[command(flatten)]
    messages: MessageArgs,

    /// Generate N jobs.
    ///
    /// A replication ends when the last of its jobs has completed.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    jobs: u32,

    /// Exclude the first N completed jobs from mean times.
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    warm_up: u32,

    /// Measure until N of the --jobs jobs have completed, while the other jobs continue to arrive [default: all].
    ///
    /// With this option, times, utilization, fragmentation, units and busy lists are measured until the N-th
    /// completion. Packets, distances, attempts, operations and searches include all jobs. If --jobs is larger than
    /// --completions and --warm-up is given, a replication corresponds to one batch of a long run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000), hide_short_help = true)]
    completions: Option<u32>,

    /// Add results for classes of job size.
    ///
    /// The added results are turnaround times, in a table and in figures.
    #[arg(long, requires = "out", hide_short_help = true)]
    by_size: bool,

    /// Draw turnaround on a logarithmic axis.
    #[arg(long, requires = "out", conflicts_with = "no_plots", hide_short_help = true)]
    log: bool,

    /// Set the scheduler [default: fcfs].
    ///
    /// The value may be a list (replay list schedulers). With --pattern, a scheduler must not use estimates of run times.
    #[arg(long, short, value_name = "NAME[..]")]
    sched: Vec<String>,

    /// Set the allocator [default: several].
    ///
    /// The value may be a list (replay list allocators). The default is first-fit,best-fit,frame-sliding,paging,mbs on meshes and tori. On a
    /// hypercube or cluster, the default is the allocator named random, together with all allocators for this kind of
    /// machine.
    #[arg(long, short, value_name = "NAME[..]")]
    alloc: Vec<String>,

    #[command(flatten)]
    seed: SeedArg,

    /// Stop when 95 % intervals have at most this half-width, as a share of the mean.
    ///
    /// The rule applies to the intervals of finish time, turnaround and utilization.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, allow_negative_numbers = true)]
    precision: f64,

    /// Run exactly N replications, whatever the width of the intervals.
    #[arg(long, value_name = "N", conflicts_with_all = ["precision", "min_replications", "max_replications"])]
    replications: Option<u64>,

    /// Run at least N replications.
    #[arg(long, value_name = "N", default_value_t = 30, hide_short_help = true)]
    min_replications: u64,

    /// Run at most N replications.
    #[arg(long, value_name = "N", default_value_t = 5000, hide_short_help = true)]
    max_replications: u64,

    #[command(flatten)]
    backlog: backlog::BacklogArgs,

    #[command(flatten)]
    sort: SortArg,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    #[serde(skip)]
    shard: ShardArg,
}

/// Estimates the means of every point (machine, scheduler, allocator and load) and prints them with their intervals.
pub fn run(
    registries: &Registries,
    args: &StreamArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    run_or_merge(registries, args, command, None)
}

/// Merges the shards of streams.
///
/// # Errors
/// A data error if the folders are not shards of the same streams, or if a shard is missing or incomplete.
pub fn merge(
    registries: &Registries,
    args: &MergeArgs,
    command: Invocation<'_>,
    parts: &[ShardFolder],
) -> Result<Exit, Failure> {
    let (mut streams, shards) = Shards::of_one_command::<StreamArgs>(parts, args)?;
    if streams.backlog.is_given() && args.sort.sort.is_some() {
        return Err(Failure::usage_message(
            "--sort cannot be used with shards of stream --backlog",
        ));
    }
    args.replace_output(&mut streams.sort, &mut streams.output);
    run_or_merge(registries, &streams, command, Some(&shards))
}

/// Computes the results of every point, or reads them from shards.
fn run_or_merge(
    registries: &Registries,
    args: &StreamArgs,
    command: Invocation<'_>,
    shards: Option<&Shards<'_>>,
) -> Result<Exit, Failure> {
    let session = Session::begin(Kind::Stream, &args.output, command)?;
    match args.backlog.is_given() {
        true => backlog::run(args, &args.replications().resolve()?, session, shards),
        false => run_points(registries, args, session, shards),
    }
}

impl StreamArgs {
    fn replications(&self) -> ReplicationSpec {
        match self.replications {
            Some(replications) => ReplicationSpec::Exactly(replications),
            None => ReplicationSpec::Until {
                precision: self.precision,
                minimum: self.min_replications,
                maximum: self.max_replications,
            },
        }
    }

    /// Returns the settings of streams with arrivals.
    fn spec(&self) -> StreamSpec {
        StreamSpec {
            machines: self.machine.clone(),
            loads: self.load.as_deref().map(Values::listed),
            arrivals: self.arrivals.as_deref().map(Values::listed),
            sides: self.sides.clone(),
            service: self.service.clone(),
            pattern: self.pattern.clone(),
            messages: self.messages.spec(),
            jobs: self.jobs,
            counting: Counting {
                warm_up: self.warm_up,
                by_size: self.by_size,
                completions: self.completions,
            },
            schedulers: self.sched.clone(),
            allocators: self.alloc.clone(),
            seed: self.seed.seed,
            replications: self.replications(),
        }
    }
}

/// Runs streams with arrivals.
fn run_points(
    registries: &Registries,
    args: &StreamArgs,
    mut session: Session,
    shards: Option<&Shards<'_>>,
) -> Result<Exit, Failure> {
    let streams = args.spec().resolve(registries)?;
    let points = &streams.points;
    let sorting = args.sort.of()?;
    let about = |point: &Point, estimates: &Estimates| {
        let load = estimates.of(Metric::Utilization).mean;
        let reached = point
            .is_overloaded(estimates)
            .then(|| format!(", overloaded: the load reached is {load:.1} %"));
        (estimates.replications, estimates.met, reached.unwrap_or_default())
    };
    let cells = ResumableRun::begin(&mut session, streams.ids(), args, args.shard, shards)?;
    let done = estimated(args, &session, points, cells, about, |point, watch| {
        streams.estimate(point, watch)
    })?;
    let (done, tally) = done.take("points");
    let done = done.into_iter();
    let results: Vec<_> = done.map(|(place, all)| StreamRow(points[place].clone(), all)).collect();
    let wide = results.iter().any(|StreamRow(_, estimates)| !estimates.met);
    let overloaded = results.iter().filter(|row| row.0.is_overloaded(&row.1)).count();
    let points = counted(results.len() as u64, "point");
    if let Some(sorting) = sorting.as_ref()
        && matches!(session.format(), FormatArg::Json | FormatArg::Csv)
    {
        unranked(&results, sorting, "point").iter().for_each(|line| session.print_line(line));
    }
    let exit = session
        .publish(&mut StreamResults { args, streams: &streams, results, sorting }, &tally)?;
    warn_if_wide(args, &session, wide);
    if overloaded > 0 {
        session.print_line(format_args!(
            "replay: warning: at {overloaded} of {points}, jobs arrive faster than the machine serves them: the queue grows \
             until the last arrival, and waits depend on --jobs; the utilization is the load reached (lower the arrivals \
             or the load)"
        ));
    }
    Ok(exit)
}

/// Reports intervals that are wider than `--precision`.
fn warn_if_wide(args: &StreamArgs, session: &Session, wide: bool) {
    if wide && args.replications.is_none() {
        session.print_line(
            "replay: warning: some intervals are wider than --precision (raise --max-replications)",
        );
    }
}

/// Estimates the points without a result. `about` returns the number of replications of a result, whether the intervals
/// of the result are narrow enough, and further text about the result.
///
/// # Errors
/// Fails if the journal cannot be read or written.
fn estimated<P: Display + Sync, R: Serialize + DeserializeOwned + Send>(
    args: &StreamArgs,
    session: &Session,
    points: &[P],
    mut cells: ResumableRun<R>,
    about: impl Fn(&P, &R) -> (u64, bool, String),
    estimate: impl Fn(&P, RunContext<'_>) -> Result<R, PointError> + Sync,
) -> Result<ResumableRun<R>, Failure> {
    let (quiet, exact) = (session.is_quiet(), args.replications.is_some());
    let stop = cancel_token(quiet);
    let progress = Points::new(quiet, points.len());
    let context = RunContext { stop: &stop, watch: &progress };
    let ran = cells.run(&EstimatedPoints(points, estimate), context, |place, outcome| {
        progress.point_done();
        progress.above(|| match outcome {
            Ok(result) => {
                let point = &points[place];
                let (replications, met, more) = about(point, result);
                let met = if met || exact { "" } else { ", wider than --precision" };
                session.print_line(format_args!("{point}: {replications} replications{met}{more}"));
            }
            Err(error) => eprint_line(format_args!("replay: cell failed: {error}")),
        });
    });
    progress.finish();
    ran.map(|()| cells)
}

/// Results of `replay stream`: a row for each point.
struct StreamResults<'a> {
    args: &'a StreamArgs,
    streams: &'a Streams,
    results: Vec<StreamRow>,
    sorting: Option<Sorting<StreamRow>>,
}

impl Results for StreamResults<'_> {
    type Row = StreamRow;

    fn rows(&self) -> &[StreamRow] {
        &self.results
    }

    fn arrange(&mut self) {
        if let Some(sorting) = &self.sorting {
            self.results.sort_by(|a, b| sorting.order(a, b));
        }
    }

    fn sheets(&self) -> Vec<Sheet> {
        let rows: Vec<&StreamRow> = self.results.iter().collect();
        let shares = self.args.load.is_some();
        ranked_sheets(&rows, self.sorting.as_ref(), |rows| sheet(rows, shares))
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        Ok(configuration(self))
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        let mut files = replay_results::write(dir, &self.results, metadata)?;
        if self.args.by_size {
            files.extend(replay_results::write(
                dir,
                &StreamSizeRow::rows(&self.results),
                metadata,
            )?);
        }
        Ok(files)
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        let most = plots.style().strategies;
        let mut files = Vec::new();
        for metric in Metric::ALL {
            if let Some(figure) =
                figure::figure(metric, &self.results, self.args.load.is_some(), most)
            {
                let log_y = self.args.log && metric == Metric::Turnaround;
                let figure = Lines { log_y, ..figure };
                let stem = figure::stem(metric.caption().words, &self.results, None);
                files.extend(save(plots, &stem, &figure)?);
            }
        }
        if self.args.by_size {
            for (load, figure) in figure::by_size(&self.results, self.args.load.is_some(), most) {
                let stem = figure::stem("turnaround by size", &self.results, Some(load));
                files.extend(save(plots, &stem, &figure)?);
            }
        }
        Ok(files)
    }
}

/// Returns the configuration, which determines the numbers.
fn configuration(results: &StreamResults<'_>) -> serde_json::Value {
    let StreamResults { args, streams: Streams { rule, machines, .. }, results, .. } = results;
    let points = results.iter().map(|StreamRow(point, estimates)| {
        serde_json::json!({
            "point": point.to_string(),
            "replications": estimates.replications,
            "precise": estimates.met,
        })
    });
    serde_json::json!({
        "machines": machines,
        "stream": results.first().map(|StreamRow(point, _)| &point.stream),
        "pattern": args.pattern,
        "messages": args.pattern.as_ref().map(|_| args.messages.spec().describe()),
        "seed": args.seed.seed,
        "warm_up": args.warm_up,
        "completions": args.completions,
        "stop_rule": rule,
        "points": points.collect::<Vec<_>>(),
    })
}

/// Returns the printed table, with a column of offered loads if `shares` is true, or else of arrival rates.
fn sheet(results: &[&StreamRow], shares: bool) -> Sheet {
    let mut shown = vec![
        Shown::column(RunKey::TOPOLOGY, "machine", 0),
        Shown::column(Point::SIDES, "sides", 0),
        Shown::column(RunKey::SCHEDULER, "scheduler", 0),
        Shown::text("allocator", |StreamRow(point, _)| Some(point.allocator.to_string())).rank(1),
        Shown::text(if shares { "load" } else { "arrivals" }, move |StreamRow(point, _)| {
            let value = point.offered_load().filter(|_| shares).unwrap_or(point.arrivals());
            Some(((value * 1e6).round() / 1e6).to_string())
        })
        .right()
        .rank(1),
        Shown::column(StreamRow::REPLICATIONS, "runs", 0),
    ];
    // In a narrow terminal, the compared strategies and the measures of rank 1 are kept longest.
    for (metric, title, rank) in [
        (Metric::FinishTime, "finish time", 1),
        (Metric::Utilization, "util %", 1),
        (Metric::Turnaround, "turnaround", 0),
        (Metric::ExternalFragmentation, "fragmented %", 0),
        (Metric::InternalFragmentation, "lost %", 0),
        (Metric::Blocks, "blocks", 0),
        // Pairwise L1 is the only printed measure that differs among strategies that never refuse a job.
        (Metric::PairwiseL1, "pairwise L1", 1),
    ] {
        let caption = metric.caption();
        let mean = match caption.unit {
            // The title contains the unit %, so the unit is not added.
            "%" => Shown::column(caption.column, title, 2),
            _ => Shown::measure(caption.column, title, 2),
        };
        shown.push(mean.plus_minus(caption.half_width, 2).rank(rank));
    }
    Sheet::of(results.iter().copied(), shown)
}
