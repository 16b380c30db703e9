//! `replay estimates`: do users' estimates help MC1x1 to break ties, or to choose among boxes?

use clap::Args;

use super::args::{GridArgs, ProcessArgs};
use super::cells::{Loaded, parse_list, seeds};
use super::compatible::never_down;
use super::exit::{Exit, Failure, tell};
use super::interrupt::interruption;
use super::print::TableArgs;
use super::search::{failure, listed_slacks};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::metrics::blocks::FEWEST_WEEKS;
use replay_core::number::{counted, fixed};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::stop::Stop;
use replay_core::table::Table;
use replay_experiment::estimates::{
    BoxFinding, Finding, Judged, Setting, Source, study, study_boxes,
};
use replay_experiment::search::SearchError;
use replay_experiment::{CellProblem, Measure, Trace, Watch};
use replay_output::report::{Align, Sheet};
use std::io::stdout;

/// Arguments of `replay estimates`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay estimates --trace KTH-SP2
  replay estimates --trace KTH-SP2 --trace CTC-SP2 --evaluations 400 --format csv
  replay estimates --alloc placements --mesh torus:4x5x5 --sched easy --jobs 2000
      The same for the boxes of a menu: what is compared is the processor-time that is lost.")]
pub struct EstimatesArgs {
    #[command(flatten)]
    grid: GridArgs,

    /// Vectors that each search tries: EF free, and EF = 0; of boxes no more than there are ways that know no estimates.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    evaluations: u64,

    /// Slacks that both searches may choose.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,0.05,0.1,0.2")]
    slack: Vec<String>,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Studies every trace with every source of estimates that it has.
pub fn run(args: &EstimatesArgs) -> Result<Exit, Failure> {
    let quiet = args.process.quiet;
    args.process.set_threads()?;
    let allocators: Vec<AllocatorSpec> = parse_list(&args.grid.alloc, "mc1x1")?;
    let boxes = match &allocators[..] {
        _ if !args.grid.tie.is_empty() => None,
        [one] if one.has_parameter("menu") && one.name().get("tie").is_none() => Some(Some(one)),
        _ if args.grid.alloc.is_empty() => Some(None),
        _ => None,
    };
    let Some(boxes) = boxes else {
        let message = "the study is about mc1x1, whose tie vectors it looks for itself, or with --alloc about \
                       placements or slurm-torus3d, whose tie it looks for: no other --alloc, no --tie";
        return Err(Failure::usage_message(message));
    };
    let [seed] = seeds(&args.grid.seed)?[..] else {
        return Err(Failure::usage_message("--seed: the study takes one"));
    };
    let setting =
        Setting { evaluations: args.evaluations, slacks: listed_slacks(&args.slack)?, seed };
    never_down(&args.grid)?;
    let alloc = allocators.iter().map(AllocatorSpec::to_string).collect();
    let grid = GridArgs { alloc, ..args.grid.clone() };
    let loaded = Loaded::resolve(&grid, None, Measure::default(), quiet)?;
    let stop = interruption(quiet);
    match boxes {
        None => each(args, &loaded, &stop, sheet, |trace, scheduler, source| {
            let found = study(trace, scheduler, source, &setting, Watch::new(&stop));
            found.map_err(|cause| match cause {
                SearchError::Stopped(_) => Failure::interrupted(),
                cause => failure(cause),
            })
        }),
        Some(base) => each(args, &loaded, &stop, sheet_of_boxes, |trace, scheduler, source| {
            let watch = Watch::new(&stop);
            let found = study_boxes(trace, scheduler, base, source, &setting, watch);
            found.map_err(|cause| match cause {
                CellProblem::Stopped(_) => Failure::interrupted(),
                cause => Failure::data(cause),
            })
        }),
    }
}

/// What both studies show of a row.
fn cells<Row: Judged>(row: &Row) -> Vec<String> {
    let one = row.outcome();
    let [with, without] = &one.winners;
    let setting =
        [one.trace.clone(), one.scheduler.clone(), one.source.name().to_string(), with.to_string()];
    let gains = [one.first_gain(), one.second_gain()].map(|gain| fixed(gain, 2));
    let end = [between(one.interval), verdict(one.helps())];
    setting.into_iter().chain([without.to_string()]).chain(gains).chain(end).collect()
}

/// The columns of a table for people, `with` what the estimates are used for.
fn headings(with: &'static str, more: &[(&'static str, Align)]) -> Vec<(&'static str, Align)> {
    let shared = [
        ("trace", Align::Left),
        ("scheduler", Align::Left),
        ("estimates", Align::Left),
        (with, Align::Left),
        ("without", Align::Left),
        ("first half %", Align::Right),
        ("second half %", Align::Right),
        ("95 %", Align::Right),
        ("helps", Align::Left),
    ];
    [&shared[..], more].concat()
}

/// What is not known.
const NONE: &str = "-";

/// With fewer of either the interval says little, if there is one.
const FEW: (usize, usize) = (100, FEWEST_WEEKS);

/// Studies every trace under every scheduler with every source of estimates, and prints what comes of it.
fn each<Row: Judged + Table>(
    args: &EstimatesArgs,
    loaded: &Loaded,
    stop: &Stop,
    sheet: impl Fn(&[Row]) -> Sheet,
    study: impl Fn(&Trace, &SchedulerSpec, Source) -> Result<Option<Row>, Failure>,
) -> Result<Exit, Failure> {
    let quiet = args.process.quiet;
    let mut findings: Vec<Row> = Vec::new();
    'all: for trace in &loaded.traces {
        for scheduler in &loaded.plan.grid.schedulers {
            let mut told = false;
            for (name, source) in Source::ALL {
                let found = match study(trace, scheduler, source) {
                    Ok(found) => found,
                    Err(_) if stop.is_raised() => break 'all,
                    Err(failure) => return Err(failure),
                };
                let has_row = found.is_some();
                findings.extend(found);
                if quiet {
                    continue;
                }
                let trace_name = &trace.workload.name;
                if !has_row {
                    let why = source.why_none();
                    tell(format_args!("{trace_name}, {scheduler}: {name} left out, {why}"));
                    continue;
                }
                tell(format_args!("{trace_name}, {scheduler}: {name} done"));
                let few = findings.last().map(Row::outcome).map(|one| (one.jobs, one.blocks.0));
                let few = few.filter(|few| few.0 < FEW.0 || few.1 < FEW.1);
                if let Some((jobs, blocks)) = few.filter(|_| !std::mem::replace(&mut told, true)) {
                    tell(format_args!(
                        "{}, {scheduler}: {} in the second half, {} of time: too few to believe the \
                         intervals ({} and {} are a beginning)",
                        trace_name,
                        counted(jobs as u64, "job"),
                        counted(blocks as u64, "block"),
                        counted(FEW.0 as u64, "job"),
                        counted(FEW.1 as u64, "block"),
                    ));
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
    if !stop.is_raised() {
        return Ok(Exit::Done);
    }
    if !quiet {
        tell(format_args!("replay: interrupted after {}", counted(findings.len() as u64, "row")));
    }
    Ok(Exit::Interrupted)
}

/// From where to where an interval goes, if there is one.
fn between([low, high]: [f64; 2]) -> String {
    match low.is_finite() {
        true => format!("{} to {}", fixed(low, 2), fixed(high, 2)),
        false => NONE.to_string(),
    }
}

/// Whether estimates help, if that can be told.
fn verdict(helps: Option<bool>) -> String {
    helps.map_or(NONE, |helps| if helps { "yes" } else { "no" }).to_string()
}

/// Of boxes, for people.
fn sheet_of_boxes(findings: &[BoxFinding]) -> Sheet {
    let mut sheet = Sheet::new(&headings(
        "with EF, DL",
        &[
            ("lost with, processor s per job", Align::Right),
            ("without", Align::Right),
            ("refused with, per job", Align::Right),
            ("without", Align::Right),
        ],
    ));
    for one in findings {
        let lost = one.outcome.second.map(|lost| fixed(lost, 0));
        let refused = one.refusals.map(|refused| fixed(refused, 2));
        sheet.push(cells(one).into_iter().chain(lost).chain(refused).collect());
    }
    sheet
}

/// For people.
fn sheet(findings: &[Finding]) -> Sheet {
    let more = [("worst class, processors", Align::Right), ("its gain %", Align::Right)];
    let mut sheet = Sheet::new(&headings("with EF", &more));
    for one in findings {
        let sizes = |sizes: [u32; 2]| format!("{}..{}", sizes[0], sizes[1]);
        let worst = match one.worst() {
            None => [String::new(), String::new()],
            Some(class) => [sizes(class.sizes), fixed(class.gain, 2)],
        };
        sheet.push(cells(one).into_iter().chain(worst).collect());
    }
    sheet
}
