//! The arguments of grids and of the main job, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::baseline::BaselineArg;
use super::exit::Failure;
use super::figure_args::FigureArgs;
use super::print::{FormatArg, SortArg, TableArgs};
use replay_core::metrics::RunMetrics;
use replay_core::metrics::run::Needs;
use replay_core::workload::{Oversize, Policy, Shake};
use replay_experiment::Measure;

/// What there is to run, as typed.
#[derive(Clone, Debug, Args)]
pub struct GridArgs {
    /// Trace: a file, or the name of a known one (replay list traces).
    ///
    /// A name is looked up as a path, then as a file or alias, with or without .swf and
    /// .gz, in $REPLAY_TRACES, in traces/, and in the traces/ of the checkout. - is standard
    /// input, which is read once and kept in memory; the trace is then called stdin.
    #[arg(long, short, value_name = "TRACE", help_heading = "Grid")]
    pub trace: Vec<String>,

    /// Machine: 10x10, 8x8x8, torus:16x16 [default: from the trace].
    ///
    /// Also torus[x]:16x24, hypercube:7, and torus:4x4x4*2 with two processors at every point, which a job
    /// has whole. The default is the square mesh of the header's MaxProcs, or its most nearly square
    /// factors if it is no square.
    #[arg(long, alias = "machine", value_name = "MACHINE", help_heading = "Grid")]
    pub mesh: Vec<String>,

    /// Machine that existed, by its name: blue-waters, ... (replay list systems).
    ///
    /// It is a machine like those of --mesh, which takes such names, too: --mesh blue-waters is the same. Both may be
    /// given; the machines of --mesh come first.
    #[arg(long, value_name = "NAME", help_heading = "Grid", hide_short_help = true)]
    pub system: Vec<String>,

    /// Scheduler: fcfs, easy, conservative, largest, ... [default: fcfs].
    #[arg(long, short, value_name = "NAME[..]", help_heading = "Grid")]
    pub sched: Vec<String>,

    /// Allocator: mc1x1, mm, gen-alg, ..., or all [default: mc1x1].
    ///
    /// all stands for every strategy that works on the machines with the schedulers, but for recorded; the
    /// names of the others are told. A replay without --alloc and --tie compares several.
    #[arg(long, short, value_name = "NAME[..]", help_heading = "Grid")]
    pub alloc: Vec<String>,

    /// Tie vector, none, or auto (mc1x1 tunes it itself); repeat for several.
    #[arg(long, value_name = "SR,AF,WF,BF", allow_hyphen_values = true, help_heading = "Grid")]
    pub tie: Vec<String>,

    /// Seeds of allocators that draw random numbers: 3, 1,2 or 0..9 [default: 0].
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Grid",
        hide_short_help = true
    )]
    pub seed: Vec<String>,

    /// Cleaning policy (replay list policies).
    #[arg(
        long,
        alias = "clean",
        value_name = "NAME",
        default_value = Policy::DEFAULT,
        help_heading = "Grid"
    )]
    pub policy: String,

    /// What to do with a job larger than the machine [default: the policy's rule].
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Trace", hide_short_help = true)]
    pub oversize: Option<OversizeArg>,

    /// Jobs that follow others (fields 17, 18): ignore, honour, shift [default: ignore].
    ///
    /// honour: a job does not arrive before the end of its predecessor, in the replay, and the think time.
    /// shift: it arrives as long after that end as it did in the log. Its wait counts from there. force: as
    /// honour, even where field 17 is the same in all records and thus says nothing.
    #[arg(long, value_name = "RULE", help_heading = "Trace", hide_short_help = true)]
    pub deps: Option<String>,

    /// Processors out of service at times: a file from,until,what.
    ///
    /// The first line is from,until,what. Times are seconds of the trace, until may be empty: to the end. what is
    /// `node 3` or `nodes 3-5,9` (numbers in scan order, one or ranges, both ends inclusive; of points, where these
    /// hold several processors), `box 0 0 3 3` (two corners, both inclusive; in 3D x y z X Y Z), or `all`. Lines that
    /// begin with # are comments.
    #[arg(long, value_name = "FILE", help_heading = "Trace", hide_short_help = true)]
    pub down: Option<PathBuf>,

    /// Jobs on processors that go out of service: drain, kill, requeue [default: drain].
    ///
    /// drain: they run to their end, and their processors leave then. kill: they are cut off, and have run.
    /// requeue: they are cut off and go back to their place in the queue, to run anew.
    #[arg(
        long,
        value_name = "RULE",
        requires = "down",
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub down_rule: Option<String>,

    /// In tie values, processors out of service are walls to their neighbours.
    #[arg(long, requires = "down", help_heading = "Trace", hide_short_help = true)]
    pub down_walls: bool,

    /// Where the nodes of a log stand: a file node,x,y,z, for --alloc recorded.
    ///
    /// A log names nodes, and does not tell where they are. As many of x, y, z as the machine has dimensions, from
    /// 0; x alone is the number of a point. Several nodes may stand at one point. Lines that begin with # are
    /// comments.
    #[arg(long, value_name = "FILE", help_heading = "Trace", hide_short_help = true)]
    pub node_map: Option<PathBuf>,

    /// With --sched recorded: stop where a log contradicts its machine, or itself.
    ///
    /// That is where more processors are busy than the machine has, or, with --alloc recorded, a job gets processors
    /// that others hold. Exit code 3. Without it such jobs are counted and told, and the replay goes on.
    #[arg(long, help_heading = "Trace", hide_short_help = true)]
    pub strict: bool,

    /// Begin here: seconds of the trace, or a date YYYY-MM-DD.
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub from: Option<String>,

    /// At most this many jobs.
    #[arg(long, value_name = "N", help_heading = "Grid")]
    pub jobs: Option<usize>,

    /// At most this many days.
    #[arg(
        long,
        value_name = "DAYS",
        allow_hyphen_values = true,
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub days: Option<f64>,

    /// Scale arrivals to these offered loads, such as 0.7 or 0.3..0.9:0.2.
    ///
    /// The load is the processor-time of all jobs over that of the machine from the first submission to
    /// the last. Times between arrivals are multiplied by one number, so that it is this; run times,
    /// sizes and the order stay. Above 1 there is no steady state: waits then grow with the trace.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub scale_load: Vec<String>,

    /// Skip up to this many malformed lines instead of stopping at the first.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub max_errors: usize,
}

/// Copies of the traces to run as well, as typed.
#[derive(Clone, Debug, Default, Args)]
#[group(id = "ShakeArgs", multiple = true)]
pub struct ShakeArgs {
    /// Error bars: run N copies of each trace as well, their times shaken by a second.
    ///
    /// In each copy every submit and run time is changed by -1, 0 or +1 s. A run time of 0 stays 0, and no other falls
    /// below 1 s. Means over the copies come
    /// with 95 % intervals; strategies are compared on the same copies.
    #[arg(long, value_name = "N", help_heading = "Trace", hide_short_help = true)]
    pub shake: Option<u32>,

    /// Shake by up to S seconds [default: 1].
    #[arg(
        long,
        value_name = "S",
        requires = "shake",
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub shake_width: Option<u32>,

    /// Seed of the copies [default: 0].
    #[arg(
        long,
        value_name = "SEED",
        requires = "shake",
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub shake_seed: Option<u64>,
}

impl ShakeArgs {
    /// How to shake, as typed; not yet checked.
    pub fn shake(&self) -> Option<Shake> {
        let usual = Shake::of(self.shake?);
        let (width, seed) = (self.shake_width, self.shake_seed);
        let (width, seed) = (width.unwrap_or(usual.width), seed.unwrap_or(usual.seed));
        Some(Shake { width, seed, ..usual })
    }

    /// How to shake.
    pub fn checked(&self) -> Result<Option<Shake>, Failure> {
        let shake = self.shake();
        match shake.as_ref().map(Shake::check) {
            Some(Err(error)) => {
                let flag = match error.field {
                    "width" => "--shake-width",
                    "seed" => "--shake-seed",
                    _ => "--shake",
                };
                Err(Failure::usage_message(format!("{flag}: {error}")))
            }
            _ => Ok(shake),
        }
    }
}

/// Arguments of the main job, as typed.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// What there is to run.
    #[command(flatten)]
    pub grid: GridArgs,

    /// Copies of the traces.
    #[command(flatten)]
    pub shake: ShakeArgs,

    /// Count tied decisions (several times the cost).
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub ties: bool,

    /// Write no table of every job (jobs.parquet), the largest one.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    pub no_jobs: bool,

    /// Columns on standard output, in this order [default: of csv and json, all of runs.csv and timings].
    ///
    /// Names are those of replay list columns. What a named column needs is measured: tied_percent counts ties, as
    /// --ties does. Without --out, csv and json measure diameter, dispersal and components unless --columns leaves
    /// their columns out. Files have all columns.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Output",
        hide_short_help = true
    )]
    pub columns: Vec<String>,

    /// Write which processors each job was given (placements.parquet).
    ///
    /// A row is one allocation: job, start, end, its processors as a list in the order of allocation, and
    /// corner and sides of the box that they fill, if they fill one. A job that was cut off by an outage
    /// and ran anew has several. Of shaken copies there are none.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    pub placements: bool,

    /// What it is printed beside.
    #[command(flatten)]
    pub baseline: BaselineArg,

    /// The order of what is printed.
    #[command(flatten)]
    pub sort: SortArg,

    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl RunArgs {
    /// What to measure: what files, standard output and its order need.
    pub fn measure(&self) -> Measure {
        let sort = self.sort.column();
        let named = |needs: Needs| {
            let groups = RunMetrics::groups();
            let columns = groups.iter().filter(|(of, _)| *of == needs).flat_map(|(_, all)| all);
            let mut names = columns.map(|column| column.name);
            names.any(|name| {
                sort == Some(&*name) || self.columns.iter().any(|one| name == one.trim())
            })
        };
        let output = &self.output;
        let whole = self.columns.is_empty()
            && matches!(output.table.format, FormatArg::Json | FormatArg::Csv);
        Measure {
            ties: self.ties || named(Needs::Ties),
            placements: output.out.is_some() || whole || named(Needs::Placements),
            jobs: output.out.is_some() && !self.no_jobs,
            nodes: self.placements,
        }
    }
}

/// Where results go, as typed.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    #[command(flatten)]
    pub table: TableArgs,

    /// Write tables (Parquet, CSV), plots and a manifest into this folder.
    #[arg(long, value_name = "DIR", group = "figures", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Replace results of another command or configuration in the folder, and results changed since.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    pub force: bool,

    /// Draw plots [default with --out].
    #[arg(
        long,
        requires = "out",
        overrides_with = "no_plots",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub plots: bool,

    /// Draw no plots; refused without --force where the folder has plots of the same results.
    #[arg(
        long,
        requires = "out",
        overrides_with = "plots",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub no_plots: bool,

    /// How figures look.
    #[command(flatten)]
    pub figures: FigureArgs,

    /// How to run.
    #[command(flatten)]
    pub process: ProcessArgs,
}

/// How a command runs, as typed.
#[derive(Clone, Debug, Args)]
pub struct ProcessArgs {
    /// Threads [default: all processors]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024), help_heading = "Output", hide_short_help = true)]
    pub threads: Option<u64>,

    /// Nothing on standard error but errors.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

impl ProcessArgs {
    /// Sets the number of threads for everything that follows; without a number, all
    /// processors.
    pub fn set_threads(&self) -> Result<(), Failure> {
        super::threads::set_threads(self.threads)
    }
}

/// `--oversize`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OversizeArg {
    /// Stop with the line of the job.
    Error,
    /// Drop the job.
    Drop,
    /// Give it the whole machine.
    Clamp,
}

impl OversizeArg {
    /// The rule as typed.
    pub fn word(self) -> &'static str {
        match self {
            OversizeArg::Error => "error",
            OversizeArg::Drop => "drop",
            OversizeArg::Clamp => "clamp",
        }
    }
}

impl From<OversizeArg> for Oversize {
    fn from(rule: OversizeArg) -> Self {
        match rule {
            OversizeArg::Error => Oversize::Error,
            OversizeArg::Drop => Oversize::Drop,
            OversizeArg::Clamp => Oversize::Clamp,
        }
    }
}
