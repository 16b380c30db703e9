//! The command line.
//!
//! Arguments as typed are resolved into values before anything is computed; what they
//! resolve to is written into the manifest of every result. Data goes to standard output,
//! everything else to standard error.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | done, but a published number differs or some cells failed |
//! | 2 | usage or configuration |
//! | 3 | bad input data |
//! | 130 | interrupted; what was done is written |

mod args;
mod baseline;
mod build;
mod compare;
mod compatible;
mod complete;
mod contend;
mod earlier;
pub mod embed;
mod eta;
mod exit;
mod explain;
mod figure_args;
mod import;
mod interrupt;
mod journal;
mod kinds;
mod list;
mod load;
mod merge;
mod messages;
mod named_value;
mod network;
mod output;
mod place;
mod print;
mod progress;
mod recorded;
mod report;
mod resolved_grid;
mod result_kind;
mod results;
mod resumable_run;
mod run;
mod search;
mod session;
mod shards;
mod shell;
mod show;
mod skipped_jobs;
mod strategy_selection;
mod stream;
mod sweep;
mod synth;
mod threads;
mod tie_lists;
mod usage;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::Exit;

/// Replay job traces of supercomputers through schedulers and processor allocators.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    version,
    long_version = build::LONG_VERSION,
    override_usage = "replay [OPTIONS]\n       replay <COMMAND> [OPTIONS]",
    subcommand_negates_reqs = true,
    max_term_width = 100,
    disable_version_flag = true,
    after_help = "Example: replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6",
    after_long_help = "Examples:
  replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6
      One run; prints one row of results.
  replay --trace KTH-SP2 --trace SDSC-Par96 --sched fcfs,easy \\
         --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit \\
         --tie none --tie 2,13,20,6 --out results/first
      A grid: every combination is a cell, and cells run in parallel. Writes tables, a manifest and
      figures to results/first.
  replay --trace my.swf.gz --machine torus:16x24 --alloc 'mc1x1[tie=3,9,3,2,order=scan]' --format json
      A machine and a strategy with parameters; prints one JSON object per run.
  replay sweep --trace KTH-SP2 --sr 1..9 --factors 0..10 --out results/sweep
      Ten thousand cells, resumable: after an interruption the same command continues.
  replay verify johnson --trace KTH-SP2
      Published numbers beside ours.

Without --trace the synthetic trace that comes with the program is replayed.

Exit codes: 0 done; 1 done, but a published number differs or some cells failed; 2 usage or
configuration; 3 bad input data; 130 interrupted, finished work is written.

Units: times are seconds of the trace, distances are hops, sizes are processors."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print version.
    #[arg(short = 'V', long, action = clap::ArgAction::Version, hide_short_help = true)]
    version: Option<bool>,

    #[command(flatten)]
    run: args::RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare our numbers with published ones.
    ///
    /// Each suite runs the traces, strategies and vectors of its paper; suites and their traces can be selected.
    Verify(verify::VerifyArgs),
    /// Run a large grid, resumable and in shards.
    ///
    /// Finished cells are recorded in a journal in the output folder; after an interruption the same command continues
    /// where it stopped. The result files are the same bytes as those of an uninterrupted run, for any number of threads
    /// and shards.
    Sweep(sweep::SweepArgs),
    /// Count the cells of a grid and estimate their time, or list them.
    Plan(sweep::PlanArgs),
    /// Combine the shards of a sweep or a search.
    ///
    /// The shards of a search read their traces again, from the same paths.
    Merge(shards::MergeArgs),
    /// Show which jobs hold which processors at an instant of a run.
    ///
    /// Prints a map of letters and a table; --out writes a picture as well.
    Show(show::ShowArgs),
    /// Explain step by step why a job started when and where it did.
    ///
    /// For the scheduler: the waiting jobs, the jobs that started before it, and the jobs that it overtook with the reason.
    /// For the allocator: what it examined (candidates with scores and tie values, frames, runs of free processors,
    /// blocks), why it refused, and which candidate won.
    Explain(explain::ExplainArgs),
    /// Compare runs of the same jobs, job by job, with confidence intervals.
    Compare(compare::CompareArgs),
    /// Write one self-contained page of HTML from folders of results.
    ///
    /// The page has the runs, the effects of cleaning, a ranking with its significance, sortable tables, figures, and
    /// published numbers beside ours.
    Report(report::ReportArgs),
    /// Search for good tie vectors.
    ///
    /// Evaluates vectors on one or several traces and ranks them. --strategy chooses the vectors: every ratio of a grid,
    /// ratios near the best so far, ratios at random, or those of another program. Vectors given by --tie are shown beside
    /// those found.
    Search(Box<search::SearchArgs>),
    /// List names: allocators, schedulers, traces, policies, suites, columns, ...
    List(list::ListArgs),
    /// Simulate stochastic streams of jobs, replicated until the means are precise.
    ///
    /// Runs every combination of loads, schedulers and allocators with common random numbers and reports means with 95 %
    /// intervals, as in studies of fragmentation. With --backlog jobs always wait, and placement rules on a torus are
    /// compared.
    Stream(stream::StreamArgs),
    /// Simulate the messages of the jobs of a trace on a network.
    ///
    /// A job sends as many packets as keep it busy for its run time x scale when it is alone, within 1 % unless a single
    /// packet or step takes longer; among the others it ends when its packets are delivered. Its stretch is the ratio of
    /// the two times. Alone a job has its own shape if the trace has shapes, else the most compact box that holds it, so
    /// that a row of five processors stretches a job even without other jobs. Jobs of one processor hold it for run time x
    /// scale cycles and send nothing. Means of stretch, packets, distances and dispersal cover the jobs that send; waits
    /// and turnarounds cover all. The use of links is reserved time, summed over the virtual channels of a link of a torus.
    Contend(contend::ContendArgs),
    /// Send a list of packets through the flit-level network.
    ///
    /// Writes a row for each packet, as CSV.
    Network(network::NetworkArgs),
    /// Decide cases of the placement rule of Slurm's topology/torus3d.
    ///
    /// Each row of a CSV file names a machine (a topology.yaml), its free nodes and a request; the result has the boxes
    /// that the rule takes and what they block.
    Place(place::PlaceArgs),
    /// Generate a synthetic trace as SWF.
    Synth(synth::SynthArgs),
    /// Convert a log of another format to SWF: sacct, Cobalt, Torque, or any table.
    ///
    /// Every line becomes a job or is counted by reason, with the number of the first such line. The log is read once, in
    /// constant memory.
    Import(import::ImportArgs),
    /// Print a completion script for a shell.
    Completions(shell::CompletionArgs),
    /// Print the manual page, or write one for each subcommand.
    Man(shell::ManArgs),
}

/// Returns the definition of the command line.
fn definition() -> clap::Command {
    Cli::command()
        .mut_subcommand("search", search::adapted)
        .mut_subcommand("contend", contend::adapted)
        .mut_subcommand("show", show::adapted)
        .mut_subcommand("explain", explain::adapted)
        .mut_subcommand("synth", synth::adapted)
        .mut_subcommand("import", import::adapted)
}

/// Parses arguments, of which the first is the name of the program.
fn parsed(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let parsed = definition().try_get_matches_from(arguments).and_then(|matches| {
        options_after_the_subcommand(&matches)?;
        Cli::from_arg_matches(&matches)
    });
    parsed.map_err(|error| {
        let mut definition = definition();
        definition.build();
        usage::explained(error, arguments, &definition)
    })
}

/// Refuses options of the main job before a subcommand, except those that every command takes.
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
            "--{option} is before {subcommand}: options of a command follow its name\n\nFor more information, try \
             '--help'.\n"
        ),
    ))
}

/// Returns the arguments of a search; `None` for another command or an error.
fn search_of(arguments: &[OsString]) -> Option<search::SearchArgs> {
    match parsed(arguments).ok()?.command? {
        Command::Search(args) => Some(*args),
        _ => None,
    }
}

/// Runs the program with these arguments and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_program(&arguments.into_iter().collect::<Vec<_>>()).into()
}

fn run_program(arguments: &[OsString]) -> Exit {
    // A file that may not grow is told as an error; the signal would kill without a word.
    let heard = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    interrupt::listen();
    let cli = match parsed(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap knows.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Nobody is left to tell if this fails.
            let _ = exit::brief(error).print();
            return code;
        }
    };
    let outcome = match cli.command {
        None => run::run(&cli.run, arguments),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args, arguments),
        Some(Command::Plan(args)) => sweep::plan(&args),
        Some(Command::Merge(args)) => merge::run(&args, arguments, search_of),
        Some(Command::Show(args)) => show::run(&args, arguments),
        Some(Command::Explain(args)) => explain::run(&args, arguments),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Search(args)) => search::run(&args, arguments),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Stream(args)) => stream::run(&args, arguments),
        Some(Command::Contend(args)) => contend::run(&args, arguments),
        Some(Command::Network(args)) => network::run(&args),
        Some(Command::Place(args)) => place::run(&args),
        Some(Command::Synth(args)) => synth::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Completions(args)) => shell::completions(&args, definition()),
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
