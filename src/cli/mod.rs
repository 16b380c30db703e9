//! The command line.
//!
//! Arguments are resolved into values before any computation, and the manifest of every result records these values.
//! Data goes to standard output; all other text goes to standard error.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | done, but a published number differs, or some cells or downloads failed |
//! | 2 | usage or configuration |
//! | 3 | bad input data |
//! | 4 | no space for an output file: a full disk, a quota, or a limit on file size |
//! | 130 | interrupted; finished work is written |

mod args;
mod arguments;
mod baseline;
mod cell_kinds;
mod check_topology;
mod command_groups;
mod compare;
mod complete;
mod contend;
mod earlier;
pub mod embed;
mod eta;
mod exit;
mod explain;
mod explore;
mod fairshare;
mod fetch;
mod figure_args;
mod import;
mod interrupt;
mod job_name;
mod journal;
mod list;
mod merge;
mod messages;
mod named_value;
mod network;
mod output;
mod place;
mod print;
mod priority;
mod program;
mod progress;
mod report;
mod result_kind;
mod results;
mod resumable_run;
mod run;
mod search;
mod session;
mod shards;
mod shell;
mod show;
mod side_files;
mod site;
mod site_args;
mod skipped_jobs;
mod strategy_selection;
mod stream;
mod sweep;
mod synth;
mod terminal;
mod threads;
mod tie_lists;
mod usage;
mod verify;
mod when;
mod write;

pub use program::Program;
pub use terminal::record_closed_stdout;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::{Exit, Failure};
use program::Invocation;
use replay_engine::registries::Registries;

/// Replay job traces of supercomputers through schedulers and processor allocators.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    version,
    override_usage = "replay [COMMAND] [OPTIONS]",
    subcommand_negates_reqs = true,
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "Example: replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6",
    after_long_help = "Examples:
  replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6
      One run; prints one row of results.
  replay --trace KTH-SP2 --trace SDSC-Par96 --sched fcfs,easy \\
         --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit \\
         --tie none --tie 2,13,20,6 --out results/first
      A grid: every combination is a cell, and cells run in parallel. Writes tables, a manifest and figures to results/first.
  replay --trace a.swf.gz --machine torus:8x8 --alloc 'mc1x1[tie=3,9,3,2,order=scan]' --format json
      A machine and a strategy with parameters; prints one JSON object per run.
  replay sweep --trace KTH-SP2 --sr 1..9 --factors 0..10 --out results/sweep
      Ten thousand cells, resumable: after an interruption the same command continues.
  replay verify johnson --trace KTH-SP2
      Prints published numbers beside our numbers.

Without --trace the synthetic trace that comes with the program is replayed. The main job may have the name run: replay run [OPTIONS].

Exit codes: 0 done; 1 done, but a published number differs or some cells or downloads failed; 2 usage or configuration; 3 bad input data; 4 no space for an output file; 130 interrupted, finished work is written.

Units: times are seconds of the trace, distances are hops, sizes are processors."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    run: args::RunArgs,

    /// Print help; --help prints all options.
    #[arg(short, long, global = true, action = clap::ArgAction::Help, help_heading = "Output")]
    help: Option<bool>,

    /// Print version.
    #[arg(short = 'V', long, action = clap::ArgAction::Version, hide_short_help = true, help_heading = "Output")]
    version: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare our numbers with published numbers.
    ///
    /// Each suite runs the traces, strategies and vectors of its paper; suites and their traces can be selected.
    #[command(subcommand_help_heading = command_groups::STUDIES)]
    Verify(verify::VerifyArgs),
    /// Run a large grid, which can be resumed and divided into shards.
    ///
    /// Finished cells are recorded in a journal in the output folder; after an interruption, the same command continues
    /// where it stopped. The result files have the same bytes as those of an uninterrupted run, for any number of
    /// threads and shards.
    #[command(subcommand_help_heading = command_groups::RUN)]
    Sweep(sweep::SweepArgs),
    /// Count the cells of a grid and estimate their run time.
    #[command(subcommand_help_heading = command_groups::RUN)]
    Plan(sweep::PlanArgs),
    /// Combine shards of a sweep, search, stream or contention run.
    ///
    /// The shards of searches and contention runs read their traces again, from the same paths.
    #[command(subcommand_help_heading = command_groups::RUN)]
    Merge(shards::MergeArgs),
    /// Show which jobs hold which processors at an instant of a run.
    ///
    /// The command prints a map of letters and a table; --out also writes a picture.
    #[command(subcommand_help_heading = command_groups::JUDGE)]
    Show(show::ShowArgs),
    /// Explain why a job started at its time and on its processors.
    ///
    /// The explanation has steps. For the scheduler, the explanation lists the waiting jobs, the jobs that started before this job, and the jobs
    /// that this job overtook, each with the reason. For the allocator, the explanation lists the placements that were
    /// tried, the reasons for refusals, and the selected candidate. Depending on the allocator, the placements are
    /// candidates (with scores and tie values), frames, runs of free processors, or blocks.
    #[command(subcommand_help_heading = command_groups::JUDGE)]
    Explain(explain::ExplainArgs),
    /// Write a page to look into runs: schedule, machine and queue.
    ///
    /// The page shows one to four runs of a trace: jobs as bars over time, the machine at an instant, the jobs that a job
    /// waited for, differences between two runs, and tables that can be sorted and filtered. The runs are read from
    /// folders, or the options of the main job give a grid that is run.
    #[command(subcommand_help_heading = command_groups::JUDGE)]
    Explore(explore::ExploreArgs),
    /// Compare runs job by job, with confidence intervals.
    #[command(subcommand_help_heading = command_groups::JUDGE)]
    Compare(compare::CompareArgs),
    /// Write one self-contained page of HTML from folders of results.
    ///
    /// The page shows the runs, the effects of cleaning, a ranking with its significance, sortable tables, figures, and
    /// published numbers next to our numbers.
    #[command(subcommand_help_heading = command_groups::JUDGE)]
    Report(report::ReportArgs),
    /// Search for good tie vectors.
    ///
    /// The command evaluates vectors on one or several traces and ranks the vectors. The option --strategy determines
    /// the vectors: every ratio of a grid, ratios near the best ratio so far, random ratios, or ratios from another
    /// program. Vectors given by --tie are shown in addition to the vectors that the search finds.
    #[command(subcommand_help_heading = command_groups::STUDIES)]
    Search(Box<search::SearchArgs>),
    /// List names: allocators, schedulers, traces, columns, ...
    #[command(subcommand_help_heading = command_groups::LOOK_UP)]
    List(list::ListArgs),
    /// Simulate random streams of jobs until the means are precise.
    ///
    /// The command runs every combination of loads, schedulers and allocators with common random numbers. The command
    /// reports means with 95 % intervals, as in studies of fragmentation. With --backlog, there are always waiting
    /// jobs, and the command compares placement rules on a torus.
    #[command(subcommand_help_heading = command_groups::STUDIES)]
    Stream(stream::StreamArgs),
    /// Simulate the messages of the jobs of a trace on a network.
    ///
    /// The number of packets of a job is chosen so that the job, if it runs without other jobs, sends packets for (run
    /// time) x scale cycles. The sending time of a job without other jobs differs from (run time) x scale by at most 1
    /// %, unless a single packet or step takes longer than 1 % of this time. With the other jobs, a job ends when its
    /// packets are delivered. The stretch of a job is the ratio of its time with the other jobs to its time without
    /// other jobs. The time without other jobs is measured on the shape of the job if the trace has shapes, or else on
    /// the most compact box that is large enough. An allocation of five processors in a row therefore stretches a job
    /// even without other jobs. A job of one processor holds the processor for run time x scale cycles and sends
    /// nothing. Means of stretch, packets, distances and dispersal include only the jobs that send packets; means of
    /// waits and turnarounds include all jobs. The use of a link is the reserved time of the link. On a torus, this
    /// time is summed over the virtual channels of the link.
    #[command(subcommand_help_heading = command_groups::STUDIES)]
    Contend(contend::ContendArgs),
    /// Send a list of packets through the flit-level network.
    ///
    /// The command writes a row for each packet, as CSV.
    #[command(subcommand_help_heading = command_groups::OTHER)]
    Network(network::NetworkArgs),
    /// Apply placement rules of Slurm and Kueue to single requests.
    ///
    /// Each row of a CSV file names a machine (a topology.yaml or topology.conf), the free nodes of the machine and a
    /// request. The result has the nodes that the rule selects and, for torus3d, the boxes.
    #[command(subcommand_help_heading = command_groups::OTHER)]
    Place(place::PlaceArgs),
    /// Compute the multifactor priority of jobs of a site.
    ///
    /// The site is described by its slurm.conf and the output of sacctmgr show qos. Each row of a CSV file is a job. The
    /// priorities are those that Slurm's priority/multifactor prints.
    #[command(subcommand_help_heading = command_groups::SITES)]
    Priority(priority::PriorityArgs),
    /// Compute the fair share of the users of a site.
    ///
    /// The site is described by its slurm.conf and the output of sacctmgr show assoc. The command prints the columns of
    /// sshare, by Slurm's fair tree or by the classic rule.
    #[command(subcommand_help_heading = command_groups::SITES)]
    Fairshare(fairshare::FairshareArgs),
    /// Print when the waiting jobs of a site start, and why they wait.
    ///
    /// The folder has the files of the site and the output of scontrol show job -o. The plan is that of Slurm's main loop and
    /// backfill at the present instant. Expected starts are those of a replay in which every job runs to its time limit, and
    /// the quantiles are those of replays with run times drawn from ended jobs. No further jobs arrive.
    #[command(subcommand_help_heading = command_groups::SITES)]
    When(when::WhenArgs),
    /// Check trees and blocks: sizes that never run, idle nodes.
    ///
    /// The command prints a row for each finding. For each size, a job is placed by Slurm's rule for the machine:
    /// slurm-tree or slurm-block, each without options.
    #[command(subcommand_help_heading = command_groups::SITES)]
    CheckTopology(check_topology::CheckTopologyArgs),
    /// Generate a synthetic trace as SWF.
    #[command(subcommand_help_heading = command_groups::GET_A_LOG)]
    Synth(synth::SynthArgs),
    /// Convert a log of Slurm, PBS, LSF, SGE or Cobalt to SWF.
    ///
    /// Any table in CSV or Parquet can be converted, too. Every line is converted to a job or is skipped. For each reason, the command reports the number of skipped lines
    /// and the first skipped line. The log is read once, in constant memory.
    #[command(subcommand_help_heading = command_groups::GET_A_LOG)]
    Import(import::ImportArgs),
    /// Fetch and verify traces of the Parallel Workloads Archive.
    ///
    /// The command downloads the files of known traces (replay list traces), or copies them from a folder, into a folder in
    /// which replay looks for traces.
    #[command(subcommand_help_heading = command_groups::GET_A_LOG)]
    Fetch(fetch::FetchArgs),
    /// Print a completion script for a shell.
    #[command(subcommand_help_heading = command_groups::OTHER)]
    Completions(shell::CompletionArgs),
    /// Print the manual page, or write a page for each subcommand.
    #[command(subcommand_help_heading = command_groups::OTHER)]
    Man(shell::ManArgs),
}

/// Maximum number of characters of a line of help.
const HELP_WIDTH: usize = 80;

/// Returns the definition of the command line. Help has at most the width of the terminal.
fn definition() -> clap::Command {
    let command = Cli::command().max_term_width(HELP_WIDTH);
    let command = match print::columns() {
        Some(width) => command.term_width(width.min(HELP_WIDTH)),
        None => command,
    };
    command
        .mut_subcommand("search", search::adapted)
        .mut_subcommand("contend", contend::adapted)
        .mut_subcommand("show", show::adapted)
        .mut_subcommand("explain", explain::adapted)
        .mut_subcommand("synth", synth::adapted)
        .mut_subcommand("import", import::adapted)
}

/// Parses arguments by a definition of the program. The first argument is the name of the program.
fn parsed(arguments: &[OsString], definition: clap::Command) -> Result<Cli, clap::Error> {
    let arguments = &arguments::prepared(arguments, &definition);
    let parsed =
        command_groups::listed(definition).try_get_matches_from(arguments).and_then(|matches| {
            options_after_the_subcommand(&matches)?;
            Cli::from_arg_matches(&matches)
        });
    parsed.map_err(|error| {
        let mut definition = self::definition();
        definition.build();
        usage::explained(error, arguments, &definition)
    })
}

/// Returns an error if an option of the main job precedes a subcommand. Options that every command has are allowed
/// before the subcommand.
fn options_after_the_subcommand(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some(subcommand) = matches.subcommand_name() else { return Ok(()) };
    let definition = definition();
    let is_given = |arg: &&clap::Arg| {
        let source = matches.try_contains_id(arg.get_id().as_str()).ok().filter(|given| *given);
        source.and_then(|_| matches.value_source(arg.get_id().as_str()))
            == Some(ValueSource::CommandLine)
    };
    let given = definition.get_arguments().filter(|arg| !arg.is_global_set()).find(is_given);
    let Some(option) = given.and_then(|arg| arg.get_long()) else { return Ok(()) };
    Err(clap::Error::raw(
        clap::error::ErrorKind::ArgumentConflict,
        format!(
            "--{option} is before {subcommand}: options of a command follow the name of the command\n\nFor more information, try \
             '--help'.\n"
        ),
    ))
}

/// Runs a program with these strategies and the arguments of the process, and returns its exit code. Results record the
/// digest of the executable in place of its sources, which are not known.
pub fn main_with(registries: Registries) -> ExitCode {
    main(&Program::of_file(std::env::current_exe(), registries), std::env::args_os())
}

/// Runs the program with these arguments and returns its exit code.
pub fn main(program: &Program, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    run_program(Invocation { program, arguments: &arguments }).into()
}

fn run_program(invocation: Invocation<'_>) -> Exit {
    let registries = &invocation.program.registries;
    // With a handler of SIGXFSZ, a write beyond the limit on file size fails with an error; without a handler, this
    // signal would kill the program.
    let received = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, received);
    interrupt::install_handler();
    let definition = || definition().long_version(invocation.program.long_version);
    let cli = match parsed(invocation.arguments, definition()) {
        Ok(cli) => cli,
        Err(error) => {
            // The parser returns help and version as errors whose text belongs on standard output.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // If standard error is closed, only the exit code is reported.
            let printed = exit::with_short_quotes(error).print();
            let written = printed.and_then(|()| terminal::stdout().flush());
            return match written {
                Err(error) if code == Exit::Done => Failure::stdout(error).report(),
                _ => code,
            };
        }
    };
    let outcome = match cli.command {
        None => run::run(registries, &cli.run, invocation),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Sweep(args)) => sweep::sweep(registries, &args, invocation),
        Some(Command::Plan(args)) => sweep::plan(registries, &args),
        Some(Command::Merge(args)) => merge::run(registries, &args, invocation),
        Some(Command::Show(args)) => show::run(registries, &args, invocation),
        Some(Command::Explain(args)) => explain::run(registries, &args, invocation),
        Some(Command::Explore(args)) => explore::run(registries, &args, invocation),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Report(args)) => report::run(&args, invocation.program),
        Some(Command::Search(args)) => search::run(registries, &args, invocation),
        Some(Command::List(args)) => list::run(registries, &args),
        Some(Command::Stream(args)) => stream::run(registries, &args, invocation),
        Some(Command::Contend(args)) => contend::run(registries, &args, invocation),
        Some(Command::Network(args)) => network::run(&args),
        Some(Command::Place(args)) => place::run(&args),
        Some(Command::Priority(args)) => priority::run(&args),
        Some(Command::Fairshare(args)) => fairshare::run(&args),
        Some(Command::When(args)) => when::run(&args),
        Some(Command::CheckTopology(args)) => check_topology::run(registries, &args),
        Some(Command::Synth(args)) => synth::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Fetch(args)) => fetch::run(&args),
        Some(Command::Completions(args)) => shell::completions(registries, &args, definition()),
        Some(Command::Man(args)) => shell::man(&args, definition()),
    };
    match outcome {
        Ok(exit) => exit,
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod option_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }
}
