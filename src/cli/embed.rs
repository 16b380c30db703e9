//! Functions for programs that embed the command line, such as the Python module.
//!
//! The functions take options of the command line as text. The functions return the resolved traces and grids instead
//! of running the grids. [`with_messages`] returns the lines that the program would write to standard error.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgAction;

use super::args::{GridArgs, RunArgs};
use super::arguments;
use super::exit::{Failure, collected, eprint_line, with_short_quotes};
use super::program::Invocation;
use super::skipped_jobs::SkippedJobs;
use super::strategy_selection::{self, notices};
use super::sweep::{ListArgs, of_flags};
use super::tie_lists::TieLists;
use super::{Program, definition, parsed, run_program};
use replay_engine::registries::Registries;
use replay_engine::workload::{LoadError, Workload};
use replay_experiment::resolve::{ResolvedGrid, load_traces};
use replay_experiment::{Measure, RunResult};

/// The reason why the program rejects the given options.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// The exit code that the program would return, see [`cli`](crate::cli).
    pub code: i32,
    /// The message that the program would print, without its prefix `replay: `.
    pub message: String,
}

impl From<Failure> for EmbedError {
    fn from(failure: Failure) -> Self {
        Self { code: failure.exit().code(), message: failure.message() }
    }
}

/// Runs a program with the given arguments and returns its exit code. The first argument is the program name.
pub fn run(program: &Program, arguments: &[OsString]) -> i32 {
    run_program(Invocation { program, arguments }).code()
}

/// Runs `work` and returns its result and the lines that it would write to standard error.
pub fn with_messages<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    collected(work)
}

/// A trace in memory.
#[derive(Clone, Copy, Debug)]
pub struct TraceText<'a> {
    /// Name of the trace, with or without the suffix `.swf`.
    pub name: &'a str,
    /// Contents in the Standard Workload Format.
    pub text: &'a [u8],
}

/// Loads the trace that is given by options of the main job. If `text` is given, loads this text instead, with the
/// cleaning policy and the window that the options select.
///
/// # Errors
/// [`EmbedError`] if an option is invalid, if the options name several traces or policies, or if the trace cannot be
/// read.
pub fn load(
    registries: &Registries,
    options: &[OsString],
    text: Option<TraceText<'_>>,
) -> Result<Arc<Workload>, EmbedError> {
    let args = run_args(options)?;
    let grid = of_flags(registries, &args.grid, &TieLists::default(), &ListArgs::default(), None)?;
    let errors = grid.file.max_errors;
    let [policy] = &grid.policies[..] else {
        return Err(Failure::usage_message("--policy: exactly one policy is required").into());
    };
    if let Some(TraceText { name, text }) = text {
        let options = replay_engine::swf::ReadOptions { max_errors: errors };
        let loaded = Workload::from_reader(text, name, policy, &grid.window, options);
        let workload = loaded.map_err(|error| match error {
            LoadError::Window { .. } => Failure::usage(error),
            _ => Failure::data(error),
        })?;
        eprint_line(&workload.report);
        return Ok(Arc::new(workload));
    }
    let loaded = load_traces(&grid.file.traces, policy, &grid.window, errors, notices(false))
        .map_err(Failure::from)?;
    match <[Arc<Workload>; 1]>::try_from(loaded) {
        Ok([workload]) => Ok(workload),
        Err(_) => Err(Failure::usage_message("--trace: exactly one trace is required").into()),
    }
}

/// A grid with its loaded traces.
#[derive(Debug)]
pub struct Grid {
    /// The cells.
    pub cells: ResolvedGrid,
    /// Number of threads; `None` for a thread per processor.
    pub threads: Option<usize>,
}

/// Resolves the grid that is given by options of the main job. `workloads` replace the traces of the options.
///
/// # Errors
/// [`EmbedError`] if the program would reject the options.
pub fn resolve(
    registries: &Registries,
    options: &[OsString],
    workloads: Vec<Arc<Workload>>,
    measure: Measure,
) -> Result<Grid, EmbedError> {
    let args = run_args(options)?;
    let measure = Measure { ties: args.ties, ..measure };
    let grid = GridArgs { workloads, ..args.grid.clone() };
    let shake = args.shake.shake();
    let cells = strategy_selection::main_job(registries, &grid, shake, measure, false)?;
    let threads = args.output.process.threads.map(|threads| threads as usize);
    Ok(Grid { cells, threads })
}

/// An option of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandOption {
    /// Name without dashes, such as `shake-seed`.
    pub name: String,
    /// Placeholder of the value; empty for a flag.
    pub value: String,
    /// Help text with defaults and possible values.
    pub help: String,
    /// Type of the value.
    pub kind: ValueKind,
    /// Whether the option may be repeated, once for each member of a list.
    pub is_list: bool,
    /// The possible values; empty if the option does not enumerate its values.
    pub choices: Vec<String>,
}

/// Type of the value of an option, or of each member if the option may be repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// No value.
    Flag,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// Integers: one, several separated by commas, or a range FIRST..LAST:STEP.
    Integers,
    /// Numbers: one, several separated by commas, or a range FIRST..LAST:STEP.
    Numbers,
    /// A duration, such as `90s`.
    Duration,
    /// The path of a file or a folder.
    Path,
    /// Any other text.
    Text,
}

/// Placeholders of text that is a list or a range.
const LISTS: [(&str, ValueKind); 3] =
    [("LIST", ValueKind::Numbers), ("LOAD", ValueKind::Numbers), ("SEED", ValueKind::Integers)];

impl ValueKind {
    /// Returns the name of the type, such as `integer`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Integers => "integers",
            Self::Numbers => "numbers",
            Self::Duration => "duration",
            Self::Path => "path",
            Self::Text => "text",
        }
    }

    fn of(arg: &clap::Arg, placeholder: &str) -> Self {
        let parsed = arg.get_value_parser().type_id();
        let list = LISTS.iter().find(|(name, _)| *name == placeholder);
        match list {
            _ if !arg.get_action().takes_values() => Self::Flag,
            _ if arguments::integers().iter().any(|one| parsed == *one) => Self::Integer,
            _ if parsed == TypeId::of::<f64>() => Self::Number,
            _ if parsed == TypeId::of::<Duration>() => Self::Duration,
            _ if parsed == TypeId::of::<PathBuf>() => Self::Path,
            Some((_, kind)) if parsed == TypeId::of::<String>() => *kind,
            _ => Self::Text,
        }
    }
}

/// Returns the name and the visible options of each command, in the order of the help text. The main job has the name
/// `run`.
pub fn options() -> Vec<(String, Vec<CommandOption>)> {
    let definition = definition();
    let main = ("run".to_string(), options_of(&definition));
    let commands = definition.get_subcommands();
    let commands = commands.map(|command| (command.get_name().to_string(), options_of(command)));
    std::iter::once(main).chain(commands).collect()
}

fn options_of(command: &clap::Command) -> Vec<CommandOption> {
    let option = |arg: &clap::Arg| {
        let name = arg.get_long()?.to_string();
        let takes_value = arg.get_action().takes_values();
        let names = arg.get_value_names().filter(|_| takes_value).unwrap_or_default();
        let value = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        let mut help = help.unwrap_or_default();
        let possible = if takes_value { arg.get_possible_values() } else { Vec::new() };
        let choices: Vec<String> = possible.iter().map(|one| one.get_name().to_string()).collect();
        if !choices.is_empty() {
            help += &format!(" [possible values: {}]", choices.join(", "));
        }
        let defaults: Vec<&str> =
            arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        if takes_value && !defaults.is_empty() {
            help += &format!(" [default: {}]", defaults.join(", "));
        }
        let kind = ValueKind::of(arg, &value);
        let is_list = matches!(arg.get_action(), ArgAction::Append);
        Some(CommandOption { name, value, help, kind, is_list, choices })
    };
    command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(option).collect()
}

/// Returns the warnings of the program about jobs that are left out of runs because the allocator does not support
/// their sizes.
pub fn jobs_left_out<'a>(
    registries: &Registries,
    results: impl IntoIterator<Item = &'a RunResult>,
) -> Vec<String> {
    let mut skipped = SkippedJobs::new(registries);
    results.into_iter().for_each(|result| skipped.add(&result.key, &result.turned_away));
    collected(|| skipped.report()).1
}

fn run_args(options: &[OsString]) -> Result<RunArgs, EmbedError> {
    let arguments: Vec<OsString> =
        std::iter::once("replay".into()).chain(options.iter().cloned()).collect();
    let cli = parsed(&arguments, definition()).map_err(|error| {
        let message = with_short_quotes(error).to_string();
        let message = message.trim_start_matches("error: ");
        // The usage text describes the program, not the embedding module.
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
    fn resolves_options_to_the_cells_of_the_command_line() {
        let load = || load(replay_strategies::standard(), &options("--policy pwa"), Some(TEXT));
        let (workload, messages) = with_messages(load);
        let workload = workload.expect("a trace");
        assert_eq!((workload.name.as_str(), messages.len()), ("tiny", 1));
        let resolve = || {
            let words = options("--trace tiny --sched fcfs,easy --alloc mc1x1 --machine 4x4");
            resolve(replay_strategies::standard(), &words, vec![workload], Measure::default())
        };
        let (grid, messages) = with_messages(resolve);
        let ResolvedGrid { plan, traces } = grid.expect("a grid").cells;
        assert_eq!((plan.len(), traces.len(), messages), (2, 1, Vec::new()));
        assert_eq!(traces[0].topology.to_string(), "4x4");
    }

    #[test]
    fn lists_the_options_of_every_command() {
        let commands = super::options();
        let of = |name: &str| commands.iter().find(|(command, _)| command == name).map(|it| &it.1);
        let option = |command: &str, name: &str| {
            of(command).and_then(|options| options.iter().find(|option| option.name == name))
        };
        let strategy = option("search", "strategy").expect("an option");
        assert_eq!(strategy.value, "NAME");
        assert!(strategy.help.contains("[possible values: exhaustive, "), "{}", strategy.help);
        assert_eq!(option("run", "strict").expect("a flag").value, "");
        assert!(option("run", "sr").is_none());
        assert!(option("contend", "deps").is_none(), "the option is hidden");
        assert_eq!(strategy.choices, ["exhaustive", "local", "random", "external"]);
    }

    #[test]
    fn options_have_the_types_of_their_values() {
        use ValueKind::{Duration, Flag, Integer, Integers, Number, Numbers, Path, Text};
        let commands = super::options();
        for (command, name, kind, is_list) in [
            ("run", "strict", Flag, false),
            ("run", "sched", Text, true),
            ("run", "down", Path, false),
            ("run", "seed", Integers, true),
            ("run", "shake-seed", Integer, false),
            ("run", "columns", Text, true),
            ("search", "sr", Numbers, false),
            ("search", "time", Duration, false),
            ("search", "split", Number, false),
            ("stream", "seed", Integer, false),
            ("stream", "load", Numbers, false),
            ("stream", "backlog", Integer, true),
            ("compare", "measure", Text, true),
            ("import", "partition", Text, true),
        ] {
            let (_, options) = commands.iter().find(|(one, _)| one == command).expect("a command");
            let option = options.iter().find(|one| one.name == name).expect("an option");
            assert_eq!((option.kind, option.is_list), (kind, is_list), "{command} --{name}");
        }
    }

    #[test]
    fn rejected_options_have_the_message_and_exit_code_of_the_program() {
        let rejected_options = |words: &str| {
            let workload =
                load(replay_strategies::standard(), &options(""), Some(TEXT)).expect("a trace");
            resolve(
                replay_strategies::standard(),
                &options(words),
                vec![workload],
                Measure::default(),
            )
            .expect_err("refused")
        };
        let (rejected, _) = with_messages(|| {
            ["--machin 4x4", "--machine 4y4", "--machine 2x2 --alloc mc1x1"].map(rejected_options)
        });
        let codes = rejected.each_ref().map(|error| error.code);
        assert_eq!(codes, [2, 2, 3]);
        assert!(rejected[0].message.contains("unexpected argument '--machin'"), "{}", rejected[0]);
        assert!(!rejected[0].message.contains("Usage"), "{}", rejected[0]);
    }
}
