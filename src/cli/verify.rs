use std::path::PathBuf;

use clap::Args;

use super::args::{FormatArg, ProcessArgs, ShakeArgs};
use super::exit::{Exit, Failure, tell};
use super::interrupt::interruption;
use super::stdout::stdout;
use crate::files::Whole;
use crate::naming::nearest;
use crate::published::{Check, NotRun, SUITES, Selection, Suite, Verdict, VerifyError};
use crate::shown::shown;
use crate::table::{Table, write_csv};
use crate::workload::SearchPath;

/// Arguments of `replay verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// Suites (replay list suites) [default: all].
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,

    /// Replicate streams until their intervals are as narrow as the papers' (5 % of the mean),
    /// instead of 20 times. Minutes instead of seconds.
    #[arg(long)]
    full: bool,

    #[command(flatten)]
    shake: ShakeArgs,

    /// Only these published traces, meshes or side distributions.
    #[arg(long, short, value_name = "TRACE", value_delimiter = ',')]
    trace: Vec<String>,

    /// Fail as well if a number could not be checked because its trace is absent.
    #[arg(long)]
    complete: bool,

    /// Write the checks at full precision into this CSV file as well.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Format of the checks on standard output.
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Runs suites of published numbers and prints ours beside them.
pub fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let quiet = args.process.quiet;
    args.process.set_threads(false)?;
    let suites = if args.suites.is_empty() {
        SUITES.to_vec()
    } else {
        args.suites.iter().map(|name| suite(name)).collect::<Result<_, _>>()?
    };
    let shake = args.shake.checked()?;
    if shake.is_some() && !suites.iter().any(|suite| suite.name == "johnson") {
        return Err(Failure::usage_message(
            "--shake is for the suite johnson: the others replicate their streams",
        ));
    }
    // A path that cannot be written is found before any work.
    let unwritten = |path: &PathBuf, e| Failure::output(path.display(), e);
    let begun = args
        .write
        .as_ref()
        .map(|path| Whole::create(path).map(|file| (path, file)).map_err(|e| unwritten(path, e)));
    let begun = begun.transpose()?;
    let selection = Selection {
        traces: SearchPath::from_env(),
        only: args.trace.clone(),
        full: args.full,
        shake,
        stop: interruption(quiet),
    };
    let mut checks = Vec::new();
    let mut unfinished = None;
    for suite in suites {
        let mut progress = |line: &str| {
            if !quiet {
                tell(format_args!("{}: {line}", suite.name));
            }
        };
        match (suite.verify)(&selection, &mut progress) {
            Ok(of_suite) => checks.extend(of_suite),
            // Numbers of a part of its runs would not be those of the suite.
            Err(_) if selection.stop.is_raised() => {
                unfinished = Some(suite.name);
                break;
            }
            Err(error @ VerifyError::Load(_)) => return Err(Failure::data(error)),
            Err(error) => return Err(Failure::usage(error)),
        }
    }
    if checks.is_empty() && unfinished.is_some() {
        return Err(Failure::interrupted());
    }
    if checks.is_empty() {
        return Err(Failure::usage_message(
            "no published number is about such a trace (replay list suites)",
        ));
    }
    if let Some((path, mut file)) = begun {
        write_csv(&Check::columns(), &checks, true, &mut file)
            .and_then(|()| file.finish())
            .map_err(|e| unwritten(path, e))?;
    }
    args.format
        .print(&checks, || vec![Check::sheet(&checks)], &mut stdout())
        .map_err(|e| Failure::output("standard output", e))?;
    let count = |which: fn(&Verdict) -> bool| checks.iter().filter(|c| which(&c.verdict())).count();
    let differ = count(|v| *v == Verdict::Differs);
    let (same, within) = (count(|v| *v == Verdict::Same), count(|v| *v == Verdict::Within));
    let undecided = count(|v| *v == Verdict::Undecided);
    if !quiet {
        let not_run = count(|v| matches!(v, Verdict::NotRun(_)));
        let not_judged = count(|v| matches!(v, Verdict::NotJudged(_)));
        tell(format_args!(
            "{same} same, {within} within, {undecided} undecided, {differ} differ, {not_judged} not judged, \
             {not_run} not run"
        ));
    }
    if let Some(suite) = unfinished {
        tell(format_args!("replay: interrupted in {suite}; the suites before it are whole"));
        return Ok(Exit::Interrupted);
    }
    let absent = count(|v| matches!(v, Verdict::NotRun(NotRun::Absent(_))));
    if same + within + undecided + differ == 0 && !quiet {
        tell("replay: nothing was compared: no trace is here");
    }
    let incomplete = args.complete && absent > 0;
    Ok(if differ > 0 || incomplete { Exit::Differs } else { Exit::Done })
}

fn suite(name: &str) -> Result<Suite, Failure> {
    SUITES.iter().find(|suite| suite.name == name).copied().ok_or_else(|| {
        let known = SUITES.iter().map(|suite| suite.name);
        let hint = nearest(name, known)
            .map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        Failure::usage_message(format!(
            "unknown suite \"{}\"{hint} (replay list suites)",
            shown(name)
        ))
    })
}
