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
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::Exit;

/// Replays job traces of supercomputers through schedulers and processor allocators.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    version,
    long_version = build::LONG_VERSION,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    max_term_width = 100,
    disable_version_flag = true,
    after_help = "Example: replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6",
    after_long_help = "Examples:
  replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6
      One run; one line of results.
  replay --trace KTH-SP2 --trace SDSC-Par96 --sched fcfs,easy \\
         --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit \\
         --tie none --tie 2,13,20,6 --out results/first
      A grid: every combination is a cell, cells run in parallel. Tables, a manifest and plots go to
      results/first.
  replay --trace my.swf.gz --mesh torus:16x24 --alloc 'mc1x1[tie=3,9,3,2,order=scan]' --format json
      A machine and a strategy in full; one JSON object per run on standard output.
  replay sweep --trace KTH-SP2 --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10 --out results/sweep
      Ten thousand cells, resumable: after an interruption the same command goes on.
  replay verify johnson --trace KTH-SP2
      Published numbers beside ours.

Without --trace the synthetic trace that comes with the project is replayed.

Exit codes: 0 done; 1 done, but a published number differs or some cells failed; 2 usage or
configuration; 3 bad input data; 130 interrupted, what was done is written.

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
    /// Each suite runs the traces, strategies and vectors of its paper; only which suites
    /// and which of their traces can be chosen.
    Verify(verify::VerifyArgs),
    /// Run a grid that takes long: resumable, in shards if need be.
    ///
    /// Finished cells are journalled in the output folder; after any interruption the same
    /// command goes on where it stopped. The result files are the same bytes as those of an
    /// uninterrupted run, for any number of threads and shards.
    Sweep(sweep::SweepArgs),
    /// List the cells of a grid, count them, estimate their time.
    Plan(sweep::PlanArgs),
    /// Put the shards of a sweep or a search together.
    ///
    /// Those of a search have the traces read again, which must be where they were.
    Merge(shards::MergeArgs),
    /// Show the machine at an instant of a run: who holds which processors.
    ///
    /// As a map of letters and a table; with --out as a picture as well.
    Show(show::ShowArgs),
    /// Explain a decision step by step: why a job started when and where it did.
    ///
    /// For the scheduler: who waited, who started before it, whom it overtook and why it might. For the
    /// allocator: what it looked at (candidates with scores and tie values, frames, runs of free
    /// processors, blocks), why it refused, and who won.
    Explain(explain::ExplainArgs),
    /// Compare runs of the same jobs, job by job: what changed, and whether that can be told.
    Compare(compare::CompareArgs),
    /// Make one self-contained page of HTML of folders of results.
    ///
    /// What ran, what cleaning did, who comes first and whether that can be told, tables that can be sorted, figures, and
    /// published numbers beside ours.
    Report(report::ReportArgs),
    /// Look for good tie vectors.
    ///
    /// Evaluates vectors on one or several traces and ranks them: every ratio of a grid, the
    /// neighbourhoods of the best so far, at random, or as another program asks. See the options
    /// under "Search"; vectors given by --tie are shown beside those found.
    Search(Box<search::SearchArgs>),
    /// List what can be named: allocators, schedulers, traces, policies, suites, columns.
    List(list::ListArgs),
    /// Run stochastic streams of jobs, replicated until their means are known well enough.
    ///
    /// The experiments on fragmentation: every combination of loads, schedulers and
    /// allocators; means with 95 % intervals; common random numbers. With --backlog jobs always wait, and rules of
    /// placement on a torus are compared.
    Stream(stream::StreamArgs),
    /// Run the jobs of a trace as messages on a network: does allocation make them faster?
    ///
    /// A job's packets are as many as would keep it busy for its run time x scale alone, within
    /// 1 % unless a single packet or step is longer; among the others it lives as long as the
    /// network takes. Its stretch is the ratio of the two. Alone means in its own shape if the
    /// trace has shapes, else in the most compact box that holds it, so that five processors
    /// in a row stretch a job even where nobody else is. Jobs of one processor hold it for
    /// run time x scale cycles and send nothing. Means of stretch, packets, distances and
    /// dispersal are over the jobs that send, waits and turnarounds over all. Use of links is
    /// time reserved; the virtual channels of a torus' link are added up.
    Contend(contend::ContendArgs),
    /// Send a list of packets through the flit-level network and say what became of each.
    Network(network::NetworkArgs),
    /// Answer a list of decisions by the placement rule of Slurm's topology/torus3d.
    ///
    /// Each row of a CSV file names a machine (a topology.yaml), its free nodes and a request; the
    /// answer says which boxes the rule takes and what that blocks.
    Place(place::PlaceArgs),
    /// Make a synthetic trace and write it as SWF.
    Synth(synth::SynthArgs),
    /// Make a trace of a log of another kind: sacct, Cobalt, Torque, or any table.
    ///
    /// Every line becomes a job or is counted by reason, with the number of the first such line.
    /// The log is read once and memory does not grow with it.
    Import(import::ImportArgs),
    /// Print a completion script for a shell.
    Completions(shell::CompletionArgs),
    /// Print the manual page, or write one for each subcommand.
    Man(shell::ManArgs),
}

/// The whole command line.
fn definition() -> clap::Command {
    Cli::command()
        .mut_subcommand("search", search::adapted)
        .mut_subcommand("contend", contend::adapted)
        .mut_subcommand("show", show::adapted)
        .mut_subcommand("explain", explain::adapted)
}

/// What arguments mean, the name of the program first.
fn parsed(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    definition().try_get_matches_from(arguments).and_then(|m| Cli::from_arg_matches(&m))
}

/// The arguments of a search, if it is one.
fn search_of(arguments: &[OsString]) -> Option<search::SearchArgs> {
    match parsed(arguments).ok()?.command? {
        Command::Search(args) => Some(*args),
        _ => None,
    }
}

/// Runs the program with these arguments and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // A file that may not grow is told as an error; the signal would kill without a word.
    let heard = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    interrupt::listen();
    let cli = match parsed(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap knows.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Nobody is left to tell if this fails.
            let _ = exit::brief(error).print();
            return code.into();
        }
    };
    let outcome = match cli.command {
        None => run::run(&cli.run, &arguments),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args, &arguments),
        Some(Command::Plan(args)) => sweep::plan(&args),
        Some(Command::Merge(args)) => merge::run(&args, &arguments, search_of),
        Some(Command::Show(args)) => show::run(&args, &arguments),
        Some(Command::Explain(args)) => explain::run(&args, &arguments),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Search(args)) => search::run(&args, &arguments),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Stream(args)) => stream::run(&args, &arguments),
        Some(Command::Contend(args)) => contend::run(&args, &arguments),
        Some(Command::Network(args)) => network::run(&args),
        Some(Command::Place(args)) => place::run(&args),
        Some(Command::Synth(args)) => synth::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Completions(args)) => shell::completions(&args, definition()),
        Some(Command::Man(args)) => shell::man(&args, definition()),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }
}
