//! `replay estimates`: do users' estimates help MC1x1 to break ties?

use clap::Args;

use super::args::{GridArgs, ProcessArgs};
use super::cells::{Loaded, seeds};
use super::compatible::never_down;
use super::exit::{Exit, Failure, tell};
use super::interrupt::interruption;
use super::print::TableArgs;
use super::search::{failure, listed_slacks};
use super::stdout::stdout;
use crate::experiment::estimates::{Finding, Setting, Source, study};
use crate::experiment::search::SearchError;
use crate::experiment::{Measure, Watch};
use crate::number::fixed;
use crate::report::{Align, Sheet};

/// Arguments of `replay estimates`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay estimates --trace KTH-SP2
  replay estimates --trace KTH-SP2 --trace CTC-SP2 --evaluations 400 --format csv")]
pub struct EstimatesArgs {
    #[command(flatten)]
    grid: GridArgs,

    /// Vectors that each search tries: EF free, and EF = 0.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    evaluations: u64,

    /// Slacks that both searches may choose.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,0.05,0.1,0.2")]
    slack: Vec<String>,

    /// Samples of the bootstrap behind the intervals.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: u32,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Studies every trace with every source of estimates that it has.
pub fn run(args: &EstimatesArgs) -> Result<Exit, Failure> {
    let quiet = args.process.quiet;
    args.process.set_threads(false)?;
    if !(args.grid.alloc.is_empty() && args.grid.tie.is_empty()) {
        let message =
            "the study is about mc1x1, whose tie vectors it looks for itself: no --alloc, no --tie";
        return Err(Failure::usage_message(message));
    }
    let [seed] = seeds(&args.grid.seed)?[..] else {
        return Err(Failure::usage_message("--seed: the study takes one"));
    };
    let setting = Setting {
        evaluations: args.evaluations,
        slacks: listed_slacks(&args.slack)?,
        samples: args.samples,
        seed,
    };
    never_down(&args.grid)?;
    let grid = GridArgs { alloc: vec!["mc1x1".to_string()], ..args.grid.clone() };
    let loaded = Loaded::resolve(&grid, None, Measure::default(), quiet)?;
    let stop = interruption(quiet);
    let mut findings = Vec::new();
    'all: for trace in &loaded.traces {
        for scheduler in &loaded.plan.grid.schedulers {
            for (name, source) in Source::ALL {
                match study(trace, scheduler, source, &setting, Watch::new(&stop)) {
                    Ok(found) => findings.extend(found),
                    Err(SearchError::Stopped(_)) => break 'all,
                    Err(cause) => return Err(failure(cause)),
                }
                if !quiet {
                    tell(format_args!("{}, {scheduler}: {name} done", trace.workload.name));
                }
            }
        }
    }
    if findings.is_empty() && stop.is_raised() {
        return Err(Failure::interrupted());
    }
    args.table
        .print(&findings, || vec![sheet(&findings)], &mut stdout())
        .map_err(|e| Failure::output("standard output", e))?;
    if stop.is_raised() { Err(Failure::interrupted()) } else { Ok(Exit::Done) }
}

/// For people.
fn sheet(findings: &[Finding]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("trace", Align::Left),
        ("scheduler", Align::Left),
        ("estimates", Align::Left),
        ("with EF", Align::Left),
        ("without", Align::Left),
        ("first half %", Align::Right),
        ("second half %", Align::Right),
        ("95 %", Align::Right),
        ("helps", Align::Left),
        ("worst class", Align::Right),
        ("its gain %", Align::Right),
    ]);
    for one in findings {
        let worst = one.worst();
        sheet.push(vec![
            one.trace.clone(),
            one.scheduler.clone(),
            one.source.name().to_string(),
            one.winners[0].to_string(),
            one.winners[1].to_string(),
            fixed(one.first_gain(), 2),
            fixed(one.second_gain(), 2),
            format!("{} to {}", fixed(one.interval[0], 2), fixed(one.interval[1], 2)),
            if one.helps() { "yes" } else { "no" }.to_string(),
            worst.map_or(String::new(), |class| format!("{}..{}", class.sizes[0], class.sizes[1])),
            worst.map_or(String::new(), |class| fixed(class.gain, 2)),
        ]);
    }
    sheet
}
