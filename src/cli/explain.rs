//! `replay explain`: the decisions behind the start of a job.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::args::{GridArgs, OutputArgs};
use super::exit::{Exit, Failure};
use super::interrupt::cancel_token;
use super::job_name::{JobName, notation};
use super::output::configuration;
use super::print::columns;
use super::print::{FormatArg, TableArgs, wrapped};
use super::program::Invocation;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::session::Session;
use super::site;
use super::site_args::SiteRunArgs;
use super::skipped_jobs::why_not_started;
use super::strategy_selection;
use crate::cli::terminal::stdout;
use replay_engine::allocator::explain::Part;
use replay_engine::registries::Registries;
use replay_experiment::explained::data::data;
use replay_experiment::explained::explain;
use replay_experiment::explained::steps::{Step, parts, steps};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::{Cell, CellProblem};
use replay_output::report::{Align, Sheet};
use replay_results::FrameError;

/// Arguments of `replay explain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay explain --tie 2,13,20,6 --job 3333
  replay explain --trace KTH-SP2 --sched easy --alloc mm --job 5000
  replay explain --sched easy --alloc gabl --job 250 --format md
  replay explain --sched easy --job 250 --format json

--format json prints one object with queues, running jobs, candidates, processors, and steps.")]
pub struct ExplainArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    /// Show or explain the start of this job: its number in the trace, or its id in the log.
    ///
    /// Ids are read from NAME.ids.csv beside the trace, which import writes: 500333, 500020_3. A number takes precedence
    /// over an equal id of another job; id:335 is always an id.
    #[arg(long, value_name = "JOB", allow_hyphen_values = true, help_heading = "Explain")]
    pub job: JobName,

    #[command(flatten)]
    pub site: SiteRunArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

const ABOUT_OUT: &str = "Write results into this folder.

The results are a table named steps (Parquet, CSV) and a manifest.";

/// Long help of `--alloc` in commands that look at one run and refuse `all`.
pub(super) const ONE_ALLOC: &str = "Set the allocator [default: mc1x1].

The command takes one allocator, trace, machine, scheduler and seed.";

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    command
        .mut_arg("out", |arg| arg.long_help(ABOUT_OUT))
        .mut_arg("alloc", |arg| arg.long_help(ONE_ALLOC))
        .mut_args(|arg| {
            let is_of_figures = FIGURES.contains(&arg.get_id().as_str());
            if is_of_figures { arg.hide(true) } else { arg }
        })
}

/// Options for figures. In this command, the options for figures have no effect and are hidden from
/// the help.
const FIGURES: [&str; 6] =
    ["plots", "no_plots", "figure_size", "font_size", "no_title", "figure_strategies"];

/// Runs the cell until the job starts, and explains the start.
pub fn run(
    registries: &Registries,
    args: &ExplainArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    if let Some(site) = site::site_run(&args.grid, &args.site, &args.output)? {
        return site::explain_job(registries, &site, &args.job);
    }
    let mut session = Session::begin(Kind::Explain, &args.output, command)?;
    let quiet = args.output.process.quiet;
    let why = "explain: allocator recorded repeats the placements of the log and has no decisions to explain; name another allocator";
    let (loaded, cell) = strategy_selection::one(registries, &args.grid, "explain", why, quiet)?;
    session.reads(loaded.inputs());
    let plan = loaded.plan.digest().map_err(Failure::usage)?;
    let cell = &cell;
    let notation = notation(&cell.trace.workload)?;
    let number = args.job.number(&cell.trace.workload, &notation)?;
    session.configure(&serde_json::json!({"plan": plan, "job": number}))?;
    let stop = cancel_token(quiet);
    let mut tally = Tally::of("explanations", 1);
    let mut explanation =
        Steps { cell, loaded: &loaded, parts: Vec::new(), rows: Vec::new(), is_printed: false };
    match explain(cell, number, &stop) {
        Ok(starts) if !starts.is_empty() => {
            tally.done = 1;
            explanation.parts = parts(&starts, &cell.trace.topology, &notation);
            explanation.rows = steps(&explanation.parts);
            if session.format() == FormatArg::Json {
                let mut data = data(&starts, &cell.trace.topology);
                let step = |step: &Step| json!({"step": step.step, "topic": step.topic, "text": step.text});
                data["steps"] = explanation.rows.iter().map(step).collect();
                let printed = writeln!(stdout(), "{data}");
                printed.map_err(Failure::stdout)?;
                explanation.is_printed = true;
            }
        }
        Ok(_) => {
            return Err(Failure::usage_message(why_not_started(cell, number, &notation)));
        }
        Err(CellProblem::Cancelled(_)) => {}
        Err(problem) => return Err(Failure::data(problem)),
    }
    if matches!(session.format(), FormatArg::Table | FormatArg::Md | FormatArg::Latex) {
        explanation.print(session.table()).map_err(Failure::stdout)?;
        explanation.is_printed = true;
    }
    session.publish(&mut explanation, &tally)
}

/// An explanation.
struct Steps<'a> {
    cell: &'a Cell,
    loaded: &'a ResolvedGrid,
    parts: Vec<(&'static str, Part)>,
    rows: Vec<Step>,
    is_printed: bool,
}

impl Steps<'_> {
    /// Prints the sentences of each topic below the heading of the topic, and prints lists as
    /// tables.
    fn print(&self, table: TableArgs) -> std::io::Result<()> {
        let mut out = stdout();
        let key = self.cell.key();
        let markdown = table.format == FormatArg::Md;
        let (trace, machine) = (&key.trace, &key.topology);
        writeln!(out, "{trace} on {machine}, {}, {}:", key.scheduler, key.strategy())?;
        let mut before = "";
        for (topic, part) in &self.parts {
            if *topic != before {
                let mark = if markdown { "## " } else { "" };
                writeln!(out, "\n{mark}{topic}\n")?;
                before = topic;
            }
            match part {
                Part::Words(words) if markdown => writeln!(out, "* {words}")?,
                Part::Words(words) => print_sentence(words, &mut out)?,
                Part::Listing(listing) => {
                    match markdown {
                        true => writeln!(out, "\n{}:\n", listing.about)?,
                        false => print_sentence(&format!("{}:", listing.about), &mut out)?,
                    }
                    let columns: Vec<_> =
                        listing.columns.iter().map(|&name| (name, Align::Right)).collect();
                    let mut sheet = Sheet::new(&columns);
                    listing.rows.iter().for_each(|row| sheet.push(row.clone()));
                    let indent = if markdown { 0 } else { 4 };
                    table.sheet(&sheet, indent, &mut out)?;
                    if listing.more > 0 {
                        writeln!(out, "{}and {} more", " ".repeat(indent), listing.more)?;
                    }
                    if markdown {
                        writeln!(out)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Maximum number of characters of a line.
const WIDTH: usize = 100;

/// Prints a sentence as indented lines.
fn print_sentence(words: &str, out: &mut impl Write) -> std::io::Result<()> {
    let width = columns().map_or(WIDTH, |columns| columns.min(WIDTH));
    wrapped(words, width.saturating_sub(2)).iter().try_for_each(|line| writeln!(out, "  {line}"))
}

impl Results for Steps<'_> {
    type Row = Step;

    fn rows(&self) -> &[Step] {
        &self.rows
    }

    fn is_printed(&self) -> bool {
        self.is_printed
    }

    fn sheets(&self) -> Vec<Sheet> {
        Vec::new()
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.loaded, false)
    }

    fn details(&self) -> impl Serialize {
        json!({"run": self.cell.key()})
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        replay_results::write(dir, &self.rows, metadata)
    }
}
