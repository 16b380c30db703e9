//! `replay verify`: compares our numbers with published numbers and gives a verdict on each.

mod figures;

use std::path::PathBuf;

use clap::Args;

use super::args::{ProcessArgs, ShakeArgs};
use super::exit::{Exit, Failure, eprint_line};
use super::figure_args::FigureArgs;
use super::interrupt::cancel_token;
use super::output::writable;
use super::print::TableArgs;
use super::write::{NamedOutput, OutputFile, check_apart};
use crate::cli::terminal::stdout;
use replay_engine::naming::{hint, retired};
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Table, write_csv};
use replay_engine::workload::{Manifest, SearchPath};
use replay_output::plot::Plots;
use replay_published::{
    Audit, Check, Class, NotRun, SUITES, Selection, Suite, Verdict, VerifyError, unnoticed,
    without_verdict,
};

/// Arguments of `replay verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay list suites
  replay verify johnson --trace KTH-SP2
  replay verify johnson --trace KTH-SP2 --out out/johnson
  replay verify --full --write out/checks.csv")]
pub struct VerifyArgs {
    /// Suites of published numbers (replay list suites) [default: all].
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,

    /// Run more or longer replications, which takes minutes instead of seconds.
    ///
    /// See replay list suites for the changes in each suite.
    #[arg(long)]
    full: bool,

    #[command(flatten)]
    shake: ShakeArgs,

    /// Check only numbers of this trace, mesh or side distribution of a paper.
    #[arg(long, short, value_name = "TRACE", value_delimiter = ',')]
    trace: Vec<String>,

    /// Also fail if a number cannot be checked because its trace is absent.
    #[arg(long)]
    complete: bool,

    /// Print how many verdicts could fail, instead of the checks.
    ///
    /// A verdict can fail if it would change when the number of the row is replaced with the number of another
    /// strategy. The command also fails if the counts are not as declared. Rows whose log is absent are counted as
    /// absent.
    #[arg(long, conflicts_with_all = ["full", "trace", "shake"])]
    audit: bool,

    /// Write to this file.
    ///
    /// The file is a CSV table of the checks at full precision, in addition to the table on standard output.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Write results into this folder.
    ///
    /// Each figure or table of a suite is drawn as a figure with the published numbers and our numbers, as SVG, PNG,
    /// PDF and CSV.
    #[arg(long, value_name = "DIR", conflicts_with = "audit", group = "figures")]
    out: Option<PathBuf>,

    #[command(flatten)]
    figures: FigureArgs,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Runs suites of published numbers and prints our numbers next to them.
pub fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let quiet = args.process.quiet;
    args.process.set_threads()?;
    let suites = if args.suites.is_empty() {
        SUITES.to_vec()
    } else {
        args.suites.iter().map(|name| suite(name)).collect::<Result<_, _>>()?
    };
    let shake = args.shake.checked()?;
    if shake.is_some() && !suites.iter().any(|suite| suite.name == "johnson") {
        return Err(Failure::usage_message(
            "--shake is for the suite johnson: the other suites replicate their streams",
        ));
    }
    if args.full && !suites.iter().any(|suite| suite.full.is_some()) {
        return Err(Failure::usage_message(
            "--full has no effect in these suites; replay list suites describes the effect of --full",
        ));
    }
    // Outputs are checked before any work.
    let traces = SearchPath::from_env();
    let outputs: Vec<_> = args.write.iter().map(|path| NamedOutput::of("--write", path)).collect();
    check_apart(known_traces(&traces), &outputs)?;
    let begun = args.write.as_deref().map(OutputFile::create).transpose()?;
    let style = args.figures.style()?;
    if let Some(dir) = &args.out {
        writable(dir)?;
    }
    let selection = Selection {
        traces,
        only: args.trace.clone(),
        full: args.full,
        shake,
        stop: cancel_token(quiet),
    };
    let (mut checks, mut audits) = (Vec::new(), Vec::new());
    let mut of_suites = Vec::new();
    let mut unfinished = None;
    for suite in suites {
        let mut progress = |line: &str| {
            if !quiet {
                eprint_line(format_args!("{}: {line}", suite.name));
            }
        };
        match suite.checks(&selection, &mut progress) {
            Ok(of_suite) => {
                audits.push(Audit::new(&suite, &of_suite));
                of_suites.push((suite.name, checks.len()..checks.len() + of_suite.len()));
                checks.extend(of_suite);
            }
            // A suite that was interrupted has no numbers.
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
            "--trace: no published number belongs to these traces (replay list suites)",
        ));
    }
    if let Some(mut file) = begun {
        let written = write_csv(&Check::columns(), &checks, true, &mut file);
        written.map_err(|e| file.failed(e))?;
        file.finish()?;
    }
    if let Some(dir) = &args.out {
        let of_suites: Vec<_> =
            of_suites.into_iter().map(|(suite, range)| (suite, &checks[range])).collect();
        let drawn = figures::write(&Plots::new(dir, style), &of_suites);
        let drawn = drawn.map_err(|e| Failure::output(dir.display(), e))?;
        if drawn.is_empty() && !quiet {
            eprint_line("--out: these suites have no printed numbers, so no figure is drawn");
        }
    }
    let printed = match args.audit {
        true => {
            let sheets =
                || vec![Audit::sheet(&audits), without_verdict(&audits), unnoticed(&checks)];
            args.table.print(&audits, sheets, &mut stdout())
        }
        false => args.table.print(&checks, || vec![Check::sheet(&checks)], &mut stdout()),
    };
    printed.map_err(Failure::stdout)?;
    let complaints = complaints(&checks, args.audit.then_some(audits.as_slice()));
    if !quiet {
        eprint_line(summary(&checks));
        if checks.iter().any(Check::is_judged) {
            eprint_line(by_class(&checks));
        }
    }
    for missing in audits.iter().filter(|_| args.audit && !quiet).filter_map(Audit::missing) {
        eprint_line(format_args!("replay: {missing} (--complete makes this a failure)"));
    }
    for complaint in &complaints {
        eprint_line(format_args!("replay: {complaint}"));
    }
    if let Some(suite) = unfinished {
        eprint_line(format_args!(
            "replay: interrupted in {suite}; the earlier suites are complete"
        ));
        return Ok(Exit::Interrupted);
    }
    if !checks.iter().any(Check::is_judged) && !quiet {
        let absent = |check: &Check| matches!(check.verdict(), Verdict::NotRun(NotRun::Absent(_)));
        eprint_line(match checks.iter().any(absent) {
            true => "replay: nothing was compared: no trace is present",
            false => "replay: no number received a verdict; the table has the reasons",
        });
    }
    let absent = |check: &Check| matches!(check.verdict(), Verdict::NotRun(NotRun::Absent(_)));
    let incomplete = args.complete && checks.iter().any(absent);
    Ok(if complaints.is_empty() && !incomplete { Exit::Done } else { Exit::Differs })
}

/// Returns the files of the known traces, which suites may read.
fn known_traces(path: &SearchPath) -> Vec<PathBuf> {
    // The manifest is part of the program; a suite reports an error in it.
    let Ok(manifest) = Manifest::embedded() else { return Vec::new() };
    let names = manifest.names().into_iter();
    names.filter_map(|name| path.resolve(name, &manifest).ok()).collect()
}

/// Returns a message for each check and each audit whose outcome is not as declared.
fn complaints(checks: &[Check], audits: Option<&[Audit]>) -> Vec<String> {
    let audits = audits.into_iter().flatten().filter_map(Audit::complaint);
    checks.iter().filter_map(Check::complaint).chain(audits).collect()
}

/// Returns the number of rows with each verdict.
fn summary(checks: &[Check]) -> String {
    let count = |which: fn(&Verdict) -> bool| checks.iter().filter(|c| which(&c.verdict())).count();
    let beyond = |verdict: Verdict| {
        let of = || checks.iter().filter(|check| check.verdict() == verdict);
        let (all, known) = (of().count(), of().filter(|check| check.known.is_some()).count());
        (all, if known > 0 { format!(" ({known} known)") } else { String::new() })
    };
    let (same, within) = (count(|v| *v == Verdict::Same), count(|v| *v == Verdict::Within));
    let undecided = count(|v| *v == Verdict::Undecided);
    let (differ, known_to_differ) = beyond(Verdict::Differs);
    let (contradict, known_to_contradict) = beyond(Verdict::Contradicts);
    let not_judged = count(|v| matches!(v, Verdict::NotJudged(_)));
    let not_run = count(|v| matches!(v, Verdict::NotRun(_)));
    format!(
        "{same} same, {within} within, {undecided} undecided, {differ} differ{known_to_differ}, \
         {contradict} contradict{known_to_contradict}, {not_judged} not judged, {not_run} not run"
    )
}

/// Returns the number of judged rows, in total and by class.
fn by_class(checks: &[Check]) -> String {
    let judged = || checks.iter().filter(|check| check.is_judged());
    let count = |class| judged().filter(|check| check.class() == class).count();
    let parts: Vec<String> =
        Class::ALL.into_iter().map(|class| format!("{} {class}", count(class))).collect();
    format!("{} judged: {}", judged().count(), parts.join(", "))
}

fn suite(name: &str) -> Result<Suite, Failure> {
    SUITES.iter().find(|suite| suite.name == name).copied().ok_or_else(|| {
        let known = SUITES.iter().map(|suite| suite.name);
        let hint = match retired("suite", name) {
            Some(instead) => format!("; {instead}"),
            None => hint(name, known),
        };
        Failure::usage_message(format!(
            "unknown suite \"{}\"{hint} (replay list suites)",
            excerpt(name)
        ))
    })
}
