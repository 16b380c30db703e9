//! Arguments that several commands share, and the arguments of the main job (`replay` without a subcommand), as typed
//! by the user.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::baseline::BaselineArg;
use super::exit::Failure;
use super::figure_args::FigureArgs;
use super::print::{FormatArg, SortArg, TableArgs};
use super::site_args::SiteRunArgs;
use super::terminal::{Stdout, stdout};
use super::write::{NamedOutput, OutputFile, check_apart, finish_all};
use replay_engine::metrics::{Needs, RunMetrics};
use replay_engine::workload::{
    Oversize, PartitionField, Policy, Shake, UnknownPartition, Workload,
};
use replay_experiment::Measure;

/// Arguments that select what is replayed, as typed.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct GridArgs {
    /// Workloads that replace the traces; empty on the command line.
    #[arg(skip)]
    #[serde(skip)]
    pub workloads: Vec<Arc<Workload>>,

    /// Replay this file or known trace (replay list traces).
    ///
    /// A name is looked up as a path, then as a file or alias, with or without .swf and .gz, in the current folder, in
    /// $REPLAY_TRACES, in traces/, and in the traces/ of the checkout. The name - reads standard input; the trace is
    /// then called stdin. To replay several traces, separate them by commas or repeat the option. Without this option,
    /// the trace that comes with the program is replayed.
    #[arg(long, short, value_name = "TRACE", help_heading = "Grid")]
    pub trace: Vec<String>,

    /// Set the machine: 10x10, torus:8x8, ...
    ///
    /// Further machines: hypercube:7; cluster:100x2; torus[x]:16x24, which wraps around only in x; torus:4x4x4*2 with
    /// two processors at every point, where a job receives whole points; tree:4x8x18 and block[18,72]:8x18; the systems
    /// of replay list systems; and a file topology.conf or topology.yaml of Slurm. topology.yaml:NAME is the topology
    /// NAME of a file with several topologies; without NAME, the machine is the topology with cluster_default: true, or
    /// else the first topology. The default is a two-dimensional mesh of MaxProcs processors (header of the trace),
    /// with sides as equal as possible.
    #[arg(long, value_name = "MACHINE", help_heading = "Grid")]
    pub machine: Vec<String>,

    /// Set the scheduler [default: fcfs].
    ///
    /// The command replay list schedulers lists the names.
    #[arg(long, short, value_name = "NAME[..]", help_heading = "Grid")]
    pub sched: Vec<String>,

    /// Set the allocator [default: mc1x1].
    ///
    /// The command replay list allocators lists the names. The name all selects every allocator that works with all machines and schedulers, except recorded, and reports
    /// the names of the other allocators. A replay without --alloc and --tie compares several allocators.
    #[arg(long, short, value_name = "NAME[..]", help_heading = "Grid")]
    pub alloc: Vec<String>,

    /// Break ties by this vector, none or auto; repeatable.
    ///
    /// The value auto tunes the vector of mc1x1 during the replay. A vector may be written in parentheses.
    #[arg(long, value_name = "SR,AF,WF,BF", allow_hyphen_values = true, help_heading = "Grid")]
    pub tie: Vec<String>,

    /// Seed all random draws [default: 0].
    ///
    /// The value is a number, a list or a range, such as 3, 1,2 or 0..9. Strategies that use random numbers run once
    /// for each seed.
    #[arg(
        long,
        value_name = "SEED",
        value_delimiter = ',',
        help_heading = "Grid",
        hide_short_help = true
    )]
    pub seed: Vec<String>,

    /// Clean traces by this policy.
    ///
    /// The command replay list policies lists the names.
    #[arg(
        long,
        alias = "clean",
        value_name = "NAME",
        default_value = Policy::DEFAULT,
        help_heading = "Grid", hide_short_help = true)]
    pub policy: String,

    /// Treat jobs larger than the machine by this rule [default: the policy's rule].
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Trace", hide_short_help = true)]
    pub oversize: Option<OversizeArg>,

    /// Plan with these estimates of run times: field9, file=FILE, perfect, factor=F, last2 [default: field9].
    ///
    /// field9: the time limit of the log, as the policy cleans it. file: a CSV file with the columns job,seconds; field 9 for
    /// jobs without a row. perfect: the run time. factor: the run time times F. last2: the mean run time of the last two jobs
    /// of the user that had ended in the log, at most field 9. The estimate orders and plans; it does not end a job.
    #[arg(long, value_name = "SOURCE", help_heading = "Trace", hide_short_help = true)]
    pub estimates: Option<String>,

    /// Treat jobs that depend on other jobs (fields 17, 18) by this rule: ignore, honour, shift, force [default:
    /// ignore].
    ///
    /// honour: a job arrives no earlier than the end of its predecessor in the replay plus the think time. shift: the
    /// time between the end of the predecessor and the arrival of the job is the same as in the log, and the wait is
    /// counted from this arrival. force: the same as honour, even if field 17 has the same value in all records and is
    /// therefore probably meaningless.
    #[arg(long, value_name = "RULE", help_heading = "Trace", hide_short_help = true)]
    pub deps: Option<String>,

    /// Take processors out of service at the times in this file (from,until,what).
    ///
    /// The first line is from,until,what. Times are seconds of the trace; if until is empty, the outage lasts until the
    /// end of the trace. The field what is `node 3` or `nodes 3-5,9` (numbers in scan order; ranges include both ends;
    /// if points have several processors, the numbers are point numbers), `box 0 0 3 3` (two corners, both included; in
    /// 3D x y z X Y Z), or `all`. Lines that begin with # are comments.
    #[arg(long, value_name = "FILE", help_heading = "Trace", hide_short_help = true)]
    pub down: Option<PathBuf>,

    /// Treat jobs on processors that go out of service by this rule: drain, kill, requeue [default: drain].
    ///
    /// drain: the jobs run to their end, and then their processors go out of service. kill: the jobs are ended at once
    /// and do not run again. requeue: the jobs are ended at once, return to their position in the queue, and run again
    /// from the beginning.
    #[arg(
        long,
        value_name = "RULE",
        requires = "down",
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub down_rule: Option<String>,

    /// Count processors out of service as walls in tie values.
    #[arg(long, requires = "down", help_heading = "Trace", hide_short_help = true)]
    pub down_walls: bool,

    /// Take the partitions of the jobs from this field of the trace [default: none].
    ///
    /// queue is field 15, partition is field 16. A job may start only on the nodes of its partition, and the scheduler
    /// counts free processors in each partition. A partition without --partition has all nodes.
    #[arg(long, value_enum, value_name = "FIELD", help_heading = "Trace", hide_short_help = true)]
    pub partitions: Option<PartitionsArg>,

    /// Define a partition: NAME=NODES[,tier=N][,max-time=TIME][,max-nodes=N]; may be repeated.
    ///
    /// NODES is all or a list of node numbers such as 0-15,20; partitions may overlap. NAME is a number of the field of
    /// --partitions, or its name in the header of the trace (; Queue: 1 short). Jobs of a partition with a higher tier
    /// (default 1) come first. A job that exceeds max-time (by field 9), max-nodes or the nodes of its partition is left
    /// out and counted. With --sched slurm, factor=N sets the factor of the partition in the priority.
    #[arg(long, value_name = "NAME=NODES", help_heading = "Trace", hide_short_help = true)]
    pub partition: Vec<String>,

    /// Treat jobs with an unknown partition or QOS by this rule.
    ///
    /// error: the first such job is an error. drop: such jobs are left out and counted. Without this option, a partition
    /// of the trace without --partition has all nodes, and a name that a site does not have is an error.
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Trace", hide_short_help = true)]
    pub unknown: Option<UnknownArg>,

    /// Map the nodes of a log to points, by a file node,x,y,z; for --alloc recorded.
    ///
    /// A log contains names of nodes but not their positions. Each line has a coordinate, from 0, for each dimension of
    /// the machine. A line with only node,x gives the number x of a point. Several nodes may map to the same point.
    /// Lines that begin with # are comments.
    #[arg(long, value_name = "FILE", help_heading = "Trace", hide_short_help = true)]
    pub node_map: Option<PathBuf>,

    /// Stop with an error if a log contradicts its machine or itself; for --sched recorded.
    ///
    /// A log contradicts its machine if its jobs use more processors at a time than the machine has. A log contradicts
    /// itself if, with --alloc recorded, a job gets processors that other jobs hold. The exit code is 3. Without
    /// --strict, the affected jobs are counted and reported, and the replay continues.
    #[arg(long, help_heading = "Trace", hide_short_help = true)]
    pub strict: bool,

    /// Begin at this time: seconds of the trace, or a date YYYY-MM-DD.
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub from: Option<String>,

    /// Replay at most this many jobs of each trace.
    #[arg(long, value_name = "N", help_heading = "Grid")]
    pub jobs: Option<usize>,

    /// Replay at most this many days of each trace.
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
    /// The load is the processor time of all jobs divided by the processor time of the machine from the first to the
    /// last submission. All times between arrivals are multiplied by the same factor; run times, sizes and the order of
    /// jobs do not change. Above a load of 1 there is no steady state: waits grow with the length of the trace.
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

impl GridArgs {
    /// Returns whether an option of partitions is given.
    pub fn has_partitions(&self) -> bool {
        self.partitions.is_some() || !self.partition.is_empty() || self.unknown.is_some()
    }
}

/// `--partitions`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionsArg {
    /// All jobs are in one partition.
    #[default]
    None,
    /// Field 15 of the trace, the queue.
    Queue,
    /// Field 16 of the trace, the partition.
    Partition,
}

impl PartitionsArg {
    /// Returns the field.
    pub fn field(self) -> PartitionField {
        match self {
            Self::None => PartitionField::None,
            Self::Queue => PartitionField::Queue,
            Self::Partition => PartitionField::Partition,
        }
    }
}

/// `--unknown`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownArg {
    /// An unknown name is an error.
    #[default]
    Error,
    /// Jobs with an unknown name are left out and counted.
    Drop,
}

impl UnknownArg {
    /// Returns the value as typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Drop => "drop",
        }
    }
}

impl From<UnknownArg> for UnknownPartition {
    fn from(arg: UnknownArg) -> Self {
        match arg {
            UnknownArg::Error => Self::Error,
            UnknownArg::Drop => Self::Drop,
        }
    }
}

/// Hides the options of outages, partitions and recorded placements in the help of a command that does not support them.
pub fn hide_outage_options(command: clap::Command) -> clap::Command {
    let refused = [
        "down",
        "down_rule",
        "down_walls",
        "node_map",
        "strict",
        "partitions",
        "partition",
        "unknown",
    ];
    refused.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
}

/// Options for perturbed copies of the traces, as typed.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[group(id = "ShakeArgs", multiple = true)]
pub struct ShakeArgs {
    /// Also replay N perturbed copies of each trace, for error bars.
    ///
    /// In each copy, every submit time and every run time changes by -1, 0 or +1 s. A run time of 0 does not change,
    /// and other run times are at least 1 s. Means over the copies have 95 % intervals. Strategies are compared on the
    /// same copies.
    #[arg(long, value_name = "N", help_heading = "Trace", hide_short_help = true)]
    pub shake: Option<u32>,

    /// Perturb times by up to S seconds [default: 1].
    #[arg(
        long,
        value_name = "S",
        requires = "shake",
        help_heading = "Trace",
        hide_short_help = true
    )]
    pub shake_width: Option<u32>,

    /// Seed the perturbed copies [default: 0].
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
    /// Returns the perturbation that the options describe, without checking its values.
    pub fn shake(&self) -> Option<Shake> {
        let usual = Shake::of(self.shake?);
        let (width, seed) = (self.shake_width, self.shake_seed);
        let (width, seed) = (width.unwrap_or(usual.width), seed.unwrap_or(usual.seed));
        Some(Shake { width, seed, ..usual })
    }

    /// Returns the perturbation.
    ///
    /// # Errors
    /// A usage error that names the option with a value out of range.
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

/// Arguments of the main job (`replay` without a subcommand), as typed by the user.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub shake: ShakeArgs,

    #[command(flatten)]
    pub site: SiteRunArgs,

    /// Count tied decisions, at several times the cost.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub ties: bool,

    /// Do not write the table of every job (jobs.parquet), the largest table.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    pub no_jobs: bool,

    /// Print these columns in this order [default: for csv and json all of runs.csv and timings].
    ///
    /// replay list columns lists the names. A named column enables the measurements that it needs: tied_percent, for
    /// example, counts ties, as --ties does. Without --out, the formats csv and json include diameter, dispersal and
    /// components, except if --columns omits them. Files have all columns.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Output",
        hide_short_help = true
    )]
    pub columns: Vec<String>,

    /// Write the processors of every job (placements.parquet).
    ///
    /// Each row describes one allocation: job, start, end, the processors as a list in the order of allocation, and the
    /// corner and sides of the box if the processors fill a box. A job that was ended by an outage and requeued has
    /// several rows. Perturbed copies have no rows.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    pub placements: bool,

    #[command(flatten)]
    pub baseline: BaselineArg,

    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub output: OutputArgs,
}

impl RunArgs {
    /// Returns the measurements that are needed for the files, for the printed columns, and for sorting.
    pub fn measure(&self) -> Measure {
        let sort = self.sort.column();
        let named = |needs: Needs| {
            let groups = RunMetrics::groups();
            let columns = groups.iter().filter(|(of, _)| *of == needs).flat_map(|(_, all)| all);
            let mut names = columns.map(|column| column.name.text());
            names
                .any(|name| sort == Some(name) || self.columns.iter().any(|one| name == one.trim()))
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

/// Output folder and figures of a command, as typed.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct OutputArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub table: TableArgs,

    /// Write results into this folder.
    ///
    /// The results are tables (Parquet and CSV), figures in the subfolder plots, and a manifest.
    #[arg(long, value_name = "DIR", group = "figures", help_heading = "Output")]
    #[serde(skip)]
    pub out: Option<PathBuf>,

    /// Replace results of another command or configuration, and results that were changed by hand.
    #[arg(long, requires = "out", help_heading = "Output", hide_short_help = true)]
    #[serde(skip)]
    pub force: bool,

    /// Draw figures; this is the default with --out.
    #[arg(
        long,
        requires = "out",
        overrides_with = "no_plots",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub plots: bool,

    /// Do not draw figures.
    ///
    /// This option needs --force if the folder contains figures of the same results.
    #[arg(
        long,
        requires = "out",
        overrides_with = "plots",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub no_plots: bool,

    #[command(flatten)]
    pub figures: FigureArgs,

    #[command(flatten)]
    #[serde(skip)]
    pub process: ProcessArgs,
}

/// The number of threads and the verbosity of a command, as typed.
#[derive(Clone, Debug, Default, Args)]
pub struct ProcessArgs {
    /// Run on N threads [default: all processors].
    ///
    /// Results do not depend on the number of threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024), help_heading = "Output", hide_short_help = true)]
    pub threads: Option<u64>,

    /// Print only errors on standard error.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
}

/// `--quiet` of a command that runs on one thread.
#[derive(Clone, Copy, Debug, Args)]
pub struct QuietArg {
    /// Print only errors on standard error.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
}

/// `--seed` of a command that takes one seed.
#[derive(Clone, Copy, Debug, Args, Serialize, Deserialize)]
pub struct SeedArg {
    /// Seed all random draws.
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_short_help = true)]
    pub seed: u64,
}

/// `--write` of a command whose data is one file.
#[derive(Clone, Debug, Args)]
pub struct WriteArg {
    /// Write to this file [default: standard output].
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

impl WriteArg {
    /// Returns whether the option was given.
    pub fn is_given(&self) -> bool {
        self.write.is_some()
    }

    /// Returns the path of the output file; `None` for standard output, which is the default and can also be given as
    /// `-`.
    pub fn file(&self) -> Option<&Path> {
        self.write.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Begins the output to standard output, or to a file that gets its final name only in [`Output::finish`].
    ///
    /// # Errors
    /// A usage error if the file cannot be created, or if the file is one of `inputs`.
    pub fn begin(
        &self,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Output, Failure> {
        check_apart(inputs, &self.outputs())?;
        self.create()
    }

    /// Returns the file of the option for [`check_apart`]; empty for standard output.
    pub fn outputs(&self) -> Vec<NamedOutput> {
        self.file().map(|path| NamedOutput::of("--write", path)).into_iter().collect()
    }

    /// Begins the output as [`begin`](Self::begin) does, after [`check_apart`].
    ///
    /// # Errors
    /// A usage error if the file cannot be created.
    pub fn create(&self) -> Result<Output, Failure> {
        Ok(match self.file() {
            None => Output::Standard(BufWriter::new(stdout())),
            Some(path) => Output::File(OutputFile::create(path)?),
        })
    }
}

/// Output to which [`WriteArg`] sends the data of a command.
pub enum Output {
    /// Standard output.
    Standard(BufWriter<Stdout>),
    /// A file.
    File(OutputFile),
}

impl Output {
    /// Returns the stream to write to.
    pub fn stream(&mut self) -> &mut dyn Write {
        match self {
            Output::Standard(out) => out,
            Output::File(file) => file,
        }
    }

    /// Converts a write error to a failure that names the output.
    pub fn failed(&self, error: io::Error) -> Failure {
        match self {
            Output::Standard(_) => Failure::stdout(error),
            Output::File(file) => file.failed(error),
        }
    }

    /// Flushes the output; a file then gets its final name.
    ///
    /// # Errors
    /// A usage error if the file cannot be written or renamed.
    pub fn finish(self) -> Result<(), Failure> {
        self.finish_with(None)
    }

    /// Flushes the output. Then the output and the `other` file get their final names, after both are complete.
    ///
    /// # Errors
    /// A usage error if a file cannot be written or renamed.
    pub fn finish_with(self, other: Option<OutputFile>) -> Result<(), Failure> {
        match self {
            Output::Standard(mut out) => {
                other.iter().try_for_each(OutputFile::complete)?;
                out.flush().map_err(Failure::stdout)?;
                finish_all(other)
            }
            Output::File(file) => finish_all([file].into_iter().chain(other)),
        }
    }
}

impl ProcessArgs {
    /// Sets the number of threads of the process to the value of `--threads`; if the option is absent, uses one thread
    /// per processor.
    pub fn set_threads(&self) -> Result<(), Failure> {
        super::threads::set_threads(self.threads)
    }
}

/// `--oversize`.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
pub enum OversizeArg {
    /// Stop with an error that contains the line of the job.
    Error,
    /// Drop the job.
    Drop,
    /// Give the job the whole machine.
    Clamp,
}

impl OversizeArg {
    /// Returns the name of the rule on the command line, such as `clamp`.
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
