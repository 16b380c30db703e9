//! The command line for programs that embed it, such as the Python module.
//!
//! Options are those of the command line, as text; what they resolve to is returned instead of run. Messages that
//! the program writes to standard error are returned by [`with_messages`].

use std::ffi::OsString;
use std::sync::Arc;

use super::args::RunArgs;
use super::exit::{Failure, brief, collected};
use super::load::{load_traces, preloaded};
use super::resolved_grid::ResolvedGrid;
use super::skipped_jobs::LeftOut;
use super::sweep::{ListArgs, of_flags};
use super::tie_lists::TieLists;
use super::{parsed, run_program};
use replay_core::workload::{LoadError, Workload};
use replay_experiment::sweep::Plan;
use replay_experiment::{Measure, RunResult, Trace};

/// Why options are refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// The exit code of the program, see [`cli`](crate::cli).
    pub code: i32,
    /// The message of the program.
    pub message: String,
}

impl From<Failure> for EmbedError {
    fn from(failure: Failure) -> Self {
        Self { code: failure.exit().code(), message: failure.message() }
    }
}

/// Runs the program with these arguments, of which the first is its name, and returns its exit code.
pub fn run(arguments: &[OsString]) -> i32 {
    run_program(arguments).code()
}

/// Returns what the program would write to standard error during `work`, beside its result.
pub fn with_messages<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    collected(work)
}

/// The text of a trace and its name in messages.
#[derive(Clone, Copy, Debug)]
pub struct TraceText<'a> {
    /// The name, with or without `.swf`.
    pub name: &'a str,
    /// Records in the Standard Workload Format.
    pub text: &'a [u8],
}

/// Loads the one trace that options of the main job name, or this text under their policy and window.
///
/// # Errors
/// [`EmbedError`] if the options are wrong or the trace cannot be read.
pub fn load(
    options: &[OsString],
    text: Option<TraceText<'_>>,
) -> Result<Arc<Workload>, EmbedError> {
    let args = run_args(options)?;
    let grid = of_flags(&args.grid, &TieLists::default(), &ListArgs::default(), None)?;
    let errors = grid.file.max_errors;
    let [policy] = &grid.policies[..] else {
        return Err(Failure::usage_message("--policy: give one").into());
    };
    if let Some(TraceText { name, text }) = text {
        let options = replay_core::swf::ReadOptions { max_errors: errors };
        let loaded = Workload::from_reader(text, name, policy, &grid.window, options);
        let workload = loaded.map_err(|error| match error {
            LoadError::Window { .. } => Failure::usage(error),
            _ => Failure::data(error),
        })?;
        super::exit::tell(&workload.report);
        return Ok(Arc::new(workload));
    }
    let loaded = load_traces(&grid.file.traces, policy, &grid.window, errors, false)?;
    match <[Arc<Workload>; 1]>::try_from(loaded) {
        Ok([workload]) => Ok(workload),
        Err(_) => Err(Failure::usage_message("--trace: give one").into()),
    }
}

/// A grid whose traces are loaded.
#[derive(Debug)]
pub struct Grid {
    /// The cells by number.
    pub plan: Plan,
    /// Every trace on every machine.
    pub traces: Vec<Arc<Trace>>,
}

/// Resolves the grid of options of the main job, with these workloads for its traces.
///
/// # Errors
/// [`EmbedError`], as the program refuses the options.
pub fn resolve(
    options: &[OsString],
    workloads: Vec<Arc<Workload>>,
    measure: Measure,
) -> Result<Grid, EmbedError> {
    let args = run_args(options)?;
    let measure = Measure { ties: args.ties, ..measure };
    let resolve = || ResolvedGrid::main_job(&args.grid, args.shake.shake(), measure, false);
    let ResolvedGrid { plan, traces } = preloaded(workloads, resolve)?;
    Ok(Grid { plan, traces })
}

/// Returns the lines of the program on jobs that runs leave out for their sizes.
pub fn jobs_left_out<'a>(results: impl IntoIterator<Item = &'a RunResult>) -> Vec<String> {
    let mut left_out = LeftOut::default();
    results.into_iter().for_each(|result| left_out.take(&result.key, &result.turned_away));
    collected(|| left_out.tell()).1
}

fn run_args(options: &[OsString]) -> Result<RunArgs, EmbedError> {
    let arguments: Vec<OsString> =
        std::iter::once("replay".into()).chain(options.iter().cloned()).collect();
    let cli = parsed(&arguments).map_err(|error| {
        let message = brief(error).to_string();
        let message = message.trim_start_matches("error: ");
        // Without the usage, which is that of the program.
        let message = message.split("\n\nUsage").next().unwrap_or(message);
        let message = message.split("\n\nFor more information").next().unwrap_or(message);
        EmbedError { code: 2, message: message.trim().to_string() }
    })?;
    Ok(cli.run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &str) -> Vec<OsString> {
        words.split_whitespace().map(OsString::from).collect()
    }

    const TEXT: TraceText<'_> =
        TraceText { name: "tiny.swf", text: b"; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n" };

    #[test]
    fn options_resolve_to_the_cells_of_the_command_line() {
        let load = || load(&options("--policy pwa"), Some(TEXT));
        let (workload, messages) = with_messages(load);
        let workload = workload.expect("a trace");
        assert_eq!((workload.name.as_str(), messages.len()), ("tiny", 1));
        let resolve = || {
            let words = options("--trace tiny --sched fcfs,easy --alloc mc1x1 --machine 4x4");
            resolve(&words, vec![workload], Measure::default())
        };
        let (grid, messages) = with_messages(resolve);
        let Grid { plan, traces } = grid.expect("a grid");
        assert_eq!((plan.len(), traces.len(), messages), (2, 1, Vec::new()));
        assert_eq!(traces[0].topology.to_string(), "4x4");
    }

    #[test]
    fn refusals_have_the_message_and_the_code_of_the_program() {
        let refused = |words: &str| {
            let workload = load(&options(""), Some(TEXT)).expect("a trace");
            resolve(&options(words), vec![workload], Measure::default()).expect_err("refused")
        };
        let (told, _) = with_messages(|| {
            ["--machin 4x4", "--machine 4y4", "--machine 2x2 --alloc mc1x1"].map(refused)
        });
        let codes = told.each_ref().map(|error| error.code);
        assert_eq!(codes, [2, 2, 3]);
        assert!(told[0].message.contains("unexpected argument '--machin'"), "{}", told[0]);
        assert!(!told[0].message.contains("Usage"), "{}", told[0]);
    }
}
