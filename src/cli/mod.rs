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
mod exit;
mod list;
mod load;
mod output;
mod plan;
mod progress;
mod run;
mod search;
mod shell;
mod synth;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::Exit;

/// Replays job traces of supercomputers through schedulers and processor allocators.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    max_term_width = 100,
    after_help = "Examples:
  replay --trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6
  replay --trace LANL-CM5 --sched fcfs,easy --alloc mc1x1,mm,hilbert-best-fit --out results/lanl
  replay verify johnson --trace KTH-SP2
  replay list allocators

Without --trace the synthetic trace that comes with the project is replayed.",
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
  replay verify johnson --trace KTH-SP2
      Published numbers beside ours.

Exit codes: 0 done; 1 done, but a published number differs or some cells failed; 2 usage or
configuration; 3 bad input data; 130 interrupted, what was done is written.

Units: times are seconds of the trace, distances are hops, sizes are processors."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

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
    /// Look for good tie vectors.
    ///
    /// Evaluates vectors on one or several traces and ranks them: every ratio of a grid, the
    /// neighbourhoods of the best so far, by successive halving, by a model, at random, or as
    /// another program asks. See the options under "Search"; vectors given by --tie are shown
    /// beside those found.
    Search(Box<search::SearchArgs>),
    /// List what can be named: allocators, schedulers, traces, policies, suites, columns.
    List(list::ListArgs),
    /// Make a synthetic trace and write it as SWF.
    Synth(synth::SynthArgs),
    /// Print a completion script for a shell.
    Completions(shell::CompletionArgs),
    /// Print the manual page.
    Man,
}

/// The whole command line.
fn definition() -> clap::Command {
    Cli::command().mut_subcommand("search", search::adapted)
}

/// Runs the program with these arguments and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed =
        definition().try_get_matches_from(&arguments).and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap knows.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Nobody is left to tell if this fails.
            let _ = error.print();
            return code.into();
        }
    };
    let outcome = match cli.command {
        None => run::run(&cli.run, &arguments),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Search(args)) => search::run(&args, &arguments),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Synth(args)) => synth::run(&args),
        Some(Command::Completions(args)) => shell::completions(&args, &mut definition()),
        Some(Command::Man) => shell::man(definition()),
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
