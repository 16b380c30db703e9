//! `replay show`: the allocations of a run at an instant or over a window.

mod candidates;
mod window;

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde::Serialize;

use self::window::Window;
use super::args::{GridArgs, OutputArgs, WriteArg};
use super::exit::{Exit, Failure};
use super::explain::ONE_ALLOC;
use super::interrupt::cancel_token;
use super::job_name::{JobName, notation};
use super::output::configuration;
use super::print::FormatArg;
use super::program::Invocation;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::session::Session;
use super::side_files::read_beside;
use super::skipped_jobs::why_not_started;
use super::strategy_selection;
use crate::cli::terminal::stdout;
use replay_engine::metrics::{JobMeasures, Placement, Submitted};
use replay_engine::number::grouped;
use replay_engine::registries::Registries;
use replay_engine::swf::Header;
use replay_engine::topology::{Hierarchy, NodeId, Topology};
use replay_engine::workload::{Notation, TraceTime};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::snapshot::{HeldAllocation, Snapshot, When, snapshot};
use replay_experiment::{Cell, CellProblem};
use replay_output::plot::{Edge, JobNames, MachineMap, Plots, save};
use replay_output::report::machine::{ABSENT, Sheets, holders, machine_map, symbol};
use replay_output::report::{Sheet, Shown};

/// Arguments of `replay show`.
#[derive(Clone, Debug, Args)]
#[command(group(
    ArgGroup::new("what").required(true).args(["at", "job", "gantt", "perfetto"])
))]
#[command(after_help = "Examples:
  replay show --trace KTH-SP2 --job 5000
  replay show --trace KTH-SP2 --tie 2,13,20,6 --at 23d3h --out out/show
  replay show --trace KTH-SP2 --tie 2,13,20,6 --job 3333 --candidates --out out/candidates
  replay show --trace KTH-SP2 --at 100000 --down down.csv
  replay show --sched easy --alloc hilbert-best-fit --gantt 600000..700000 --out out/gantt
  replay show --trace KTH-SP2 --sched easy --perfetto --write kth.json")]
pub struct ShowArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    /// Show this instant of the trace: 2000000, 1d2h, 3:20:00, 1996-09-23T12:00.
    ///
    /// An instant is the time since the start of the log, in seconds or in days, hours, minutes and seconds. If the
    /// header of the log has UnixStartTime, an instant may also be a date in the local time of the log. The map shows
    /// the state after all events of this second.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Show")]
    pub at: Option<TraceTime>,

    /// Show or explain the start of this job: its number in the trace, or its id in the log.
    ///
    /// Ids are read from NAME.ids.csv beside the trace, which import writes: 500333, 500020_3. A number takes precedence
    /// over an equal id of another job; id:335 is always an id.
    #[arg(long, value_name = "JOB", allow_hyphen_values = true, help_heading = "Show")]
    pub job: Option<JobName>,

    /// Show the candidates for the job's processors, with scores and tie values.
    ///
    /// The command prints a map for each candidate, with the selected candidate first. A map shows the shells, and the
    /// weights of the processors that contribute to the tie value. With --at, the candidates are those of the job that
    /// started last among the jobs that hold processors at this instant. This option works with mc1x1, mm and gen-alg;
    /// replay explain works with every allocator.
    #[arg(long, conflicts_with_all = ["gantt", "perfetto"], help_heading = "Show")]
    pub candidates: bool,

    /// Show the jobs on the processors from one instant to another, as bars.
    ///
    /// Instants have the format of --at: 600000..700000, 7d..8d. Processors are in the order of the strategy's curve,
    /// or row by row. With --out, a table named fragmentation is also written, which contains the number of free
    /// processors and the largest free boxes and regions.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, help_heading = "Show")]
    pub gantt: Option<Window>,

    /// Print the whole run as events for ui.perfetto.dev and other viewers of Chrome's trace format.
    #[arg(long, conflicts_with = "out", help_heading = "Show")]
    pub perfetto: bool,

    #[command(flatten)]
    pub write: WriteArg,

    #[command(flatten)]
    pub output: OutputArgs,
}

const ABOUT_OUT: &str = "Write results into this folder.

The results are a table named held (Parquet, CSV), the map plots/machine as SVG, PNG, PDF and CSV, and a manifest. With \
--candidates, the table and the figure are named candidates. With --gantt, the tables are placements and \
fragmentation, and the figures are plots/fragmentation and plots/gantt.";

const ABOUT_WRITE: &str = "Write to this file [default: standard output].

This option is for --perfetto.";

/// Adapts the help of shared options to this command.
pub fn adapted(command: clap::Command) -> clap::Command {
    command
        .override_usage("replay show [OPTIONS] <--at|--job|--gantt|--perfetto>")
        .mut_arg("out", |arg| arg.long_help(ABOUT_OUT))
        .mut_arg("alloc", |arg| arg.long_help(ONE_ALLOC))
        .mut_arg("write", |arg| arg.long_help(ABOUT_WRITE).help_heading("Show"))
}

/// Runs the cell until the instant and shows the machine.
pub fn run(
    registries: &Registries,
    args: &ShowArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    if args.write.is_given() && !args.perfetto {
        return Err(Failure::usage_message(
            "--write is for --perfetto; --out writes tables and figures",
        ));
    }
    let mut session = Session::begin(Kind::Show, &args.output, command)?;
    let quiet = args.output.process.quiet;
    let why = "show: allocator recorded may place several jobs on a processor, which show cannot draw; name another allocator";
    let (loaded, cell) = strategy_selection::one(registries, &args.grid, "show", why, quiet)?;
    session.reads(loaded.inputs());
    let cell = &cell;
    let workload = &cell.trace.workload;
    let notation = notation(workload)?;
    let job = args.job.as_ref().map(|job| job.number(workload, &notation)).transpose()?;
    session.configure(&serde_json::json!({
        "plan": loaded.plan.digest().map_err(Failure::usage)?,
        "shown": selection(args, job),
    }))?;
    if cell.trace.topology.cluster().is_some() {
        let windowed = args.gantt.is_some() || args.perfetto;
        if windowed || args.candidates {
            let message = "show: on a cluster jobs move from slot to slot while they run, and there are no candidates; \
                           --at and --job show the jobs on each host";
            return Err(Failure::usage_message(message));
        }
    }
    if let Some(window) = args.gantt {
        let window = window.seconds(&cell.trace.workload.header)?;
        return window::draw(&mut session, &loaded, cell, notation, window);
    }
    if args.perfetto {
        let beside = loaded.traces.iter().flat_map(|trace| read_beside(&trace.workload.source));
        let is_piped = args.grid.trace.iter().any(|name| name == "-");
        let stdin = is_piped.then(|| PathBuf::from("-"));
        let inputs = loaded.inputs().into_iter().chain(beside).chain(stdin);
        return window::events(inputs, cell, &notation, &args.write, quiet);
    }
    let when = match (args.at, job) {
        (Some(at), _) => When::At(seconds("--at", at, &cell.trace.workload.header)?),
        (None, number) => When::Started(number.unwrap_or_default()),
    };
    if args.candidates {
        return candidates::show_candidates(&mut session, &loaded, cell, notation, when);
    }
    let stop = cancel_token(quiet);
    let mut tally = Tally::of("pictures", 1);
    let mut shown = Picture { cell, loaded: &loaded, notation, taken: None };
    match snapshot(cell, when, &stop) {
        Ok(Some(taken)) => {
            tally.done = 1;
            shown.taken = Some(taken);
        }
        Ok(None) => {
            let number = job.unwrap_or_default();
            return Err(Failure::usage_message(why_not_started(cell, number, &shown.notation)));
        }
        Err(CellProblem::Cancelled(_)) => {}
        Err(problem) => return Err(Failure::data(problem)),
    }
    if let (FormatArg::Table | FormatArg::Md | FormatArg::Latex, Some(taken)) =
        (session.format(), &shown.taken)
    {
        shown.print(taken).map_err(Failure::stdout)?;
    }
    if let Some(taken) = &shown.taken
        && taken.holds.is_empty()
    {
        session.print_line(match taken.span {
            Some([first, last]) => format!(
                "no job runs at that time; the jobs run from {} to {}",
                shown.notation.instant(first),
                shown.notation.instant(last)
            ),
            None => "no job runs at any time".to_string(),
        });
    }
    session.publish(&mut shown, &tally)
}

/// Returns the options that select what is shown. The text is part of the identity of results: its form must not change.
/// The last part was the window of an option that was removed.
fn selection(args: &ShowArgs, job: Option<i64>) -> String {
    let optional = |value: Option<String>| value.map_or("None".into(), |it| format!("Some({it})"));
    let instant = |at: TraceTime| match at {
        TraceTime::Seconds(seconds) => format!("Seconds({seconds})"),
        TraceTime::Local(local) => format!("Local({local})"),
    };
    let window = |window: Option<Window>| {
        let ends = window.map(|Window(ends)| ends.map(instant));
        optional(ends.map(|[from, until]| format!("Window([{from}, {until}])")))
    };
    let (at, job) = (optional(args.at.map(instant)), optional(job.map(|it| it.to_string())));
    format!("({at}, {job}, {}, {}, None)", args.candidates, window(args.gantt))
}

/// Converts the instant of an option to seconds of the trace.
///
/// # Errors
/// A usage error if the instant is a date and the header has no start time.
fn seconds(option: &str, at: TraceTime, header: &Header) -> Result<i64, Failure> {
    at.seconds(header).map_err(|error| Failure::usage_message(format!("{option}: {error}")))
}

/// Returns the kind of boundary that a machine has in x and in y: wall, wraparound, or neither.
fn edges(topology: &Topology) -> [Edge; 2] {
    let edge = |axis: usize| match topology.grid().map(|grid| grid.axes()[axis].wrapped) {
        Some(false) => Edge::Wall,
        Some(true) => Edge::Wrapped,
        None => Edge::Plain,
    };
    [edge(0), edge(1)]
}

/// Clause of the subtitle of a figure whose jobs have the ids of the log.
const IDS: &str = "jobs are labelled with their ids in the log";

/// Returns the ids in the log of these jobs, as far as they differ from the numbers.
fn ids_of(notation: &Notation, jobs: impl Iterator<Item = i64>) -> JobNames {
    let Some(ids) = &notation.ids else { return JobNames::default() };
    JobNames(jobs.filter_map(|job| Some((job, ids.id(job)?.to_string()))).collect())
}

/// A snapshot of a cell.
struct Picture<'a> {
    cell: &'a Cell,
    loaded: &'a ResolvedGrid,
    notation: Notation,
    taken: Option<Snapshot>,
}

impl Picture<'_> {
    /// Returns a line about the run, and a sentence about the snapshot.
    fn words(&self, taken: &Snapshot) -> [String; 2] {
        let key = self.cell.key();
        let topology = &self.cell.trace.topology;
        let all = topology.slots();
        let held: usize = taken.holds.iter().map(|hold| hold.nodes.len()).sum();
        let what = match topology.cluster() {
            Some(_) => "slots",
            None if topology.per_point() > 1 => "points",
            None => "processors",
        };
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let (jobs, waiting) = (taken.holds.len() as u64, taken.waiting);
        let down = match taken.down.len() as u64 {
            0 => String::new(),
            down => format!(", {} out of service", grouped(down)),
        };
        [
            format!("{} on {}, {}, {}", key.trace, key.topology, key.scheduler, key.strategy()),
            format!(
                "at {}: {} job{} on {} of {} {what}{down}, {} job{} waiting",
                self.notation.instant(taken.at),
                grouped(jobs),
                plural(jobs),
                grouped(held as u64),
                grouped(all as u64),
                grouped(waiting),
                plural(waiting)
            ),
        ]
    }

    /// Prints the map, which precedes the table.
    fn print(&self, taken: &Snapshot) -> std::io::Result<()> {
        let mut out = stdout();
        let [run, doing] = self.words(taken);
        writeln!(out, "{run}:\n{doing}\n")?;
        let lines = machine_map(&self.cell.trace.topology, taken);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(out)
    }
}

impl Results for Picture<'_> {
    type Row = HeldAllocation;

    fn rows(&self) -> &[HeldAllocation] {
        self.taken.as_ref().map_or(&[], |taken| &taken.holds)
    }

    fn exist(&self) -> bool {
        self.taken.is_some()
    }

    fn sheets(&self) -> Vec<Sheet> {
        let Some(taken) = self.taken.as_ref().filter(|taken| !taken.holds.is_empty()) else {
            return Vec::new();
        };
        let place = |hold: &HeldAllocation| {
            let place = taken.holds.iter().position(|other| std::ptr::eq(other, hold));
            place.map(|place| symbol(taken, place).to_string())
        };
        let notation = &self.notation;
        let id = |hold: &HeldAllocation| {
            let id = notation.ids.as_ref().and_then(|ids| ids.id(hold.job.number));
            id.map(str::to_string)
        };
        let mut columns = vec![Shown::text("map", place), Shown::column(Submitted::JOB, "job", 0)];
        columns.extend(notation.ids.is_some().then(|| Shown::text("id", id).right()));
        columns.push(Shown::column(Submitted::SIZE, "size", 0));
        match notation.epoch {
            None => columns.extend([
                Shown::measure(Submitted::SUBMIT, "submit", 0),
                Shown::measure(JobMeasures::START, "start", 0),
                Shown::measure(JobMeasures::END, "end", 0),
            ]),
            Some(_) => columns.extend([
                Shown::text("submit", |hold: &HeldAllocation| notation.date(hold.job.submit)),
                Shown::text("start", |hold: &HeldAllocation| notation.date(hold.job.start)),
                Shown::text("end", |hold: &HeldAllocation| {
                    notation.date(hold.job.start + hold.job.run)
                }),
            ]),
        }
        columns.push(Shown::measure(JobMeasures::WAIT, "wait", 0));
        let distance = Shown::column(Placement::DISTANCE, "mean hops", 2);
        match self.cell.trace.topology.hierarchy() {
            Some(machine) => {
                let leaves = |hold: &HeldAllocation| Some(grouped(machine.leaf_count(&hold.nodes)));
                columns.extend([Shown::text("leaves", leaves).right(), distance]);
            }
            None => columns.extend([
                Shown::measure(Placement::PAIRWISE_L1, "pairwise L1", 0),
                distance,
                Shown::column(Placement::COMPONENTS, "components", 0),
            ]),
        }
        vec![Sheet::of(&taken.holds, columns)]
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.loaded, false)
    }

    fn details(&self) -> impl Serialize {
        self.taken.as_ref().map(|taken| {
            serde_json::json!({"run": self.cell.key(), "at": taken.at, "waiting": taken.waiting})
        })
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        let Some(taken) = &self.taken else { return Ok(Vec::new()) };
        let topology = &self.cell.trace.topology;
        let sheets = Sheets::of(topology);
        let [title, doing] = self.words(taken);
        let job = taken.requested.map(|place| taken.holds[place].job.number);
        let job = job
            .map(|number| format!("job {} in black has just started", self.notation.job(number)));
        let hosts = topology
            .cluster()
            .filter(|cluster| cluster.levels() > 1)
            .map(|_| "each column is a host; the job in the lowest row has priority".to_string());
        let leaves = (!sheets.row_names().is_empty()).then(|| {
            let leaf = match topology.hierarchy().and_then(Hierarchy::blocks) {
                Some(_) => "base block",
                None => "leaf switch",
            };
            match sheets.has_wrapped_rows() {
                true => format!(
                    "the nodes of a {leaf} fill several consecutive rows, with a cell for each of its nodes"
                ),
                false => format!("a row is a {leaf} with a cell for each of its nodes"),
            }
        });
        let ids = self.notation.ids.is_some().then(|| IDS.to_string());
        let figure = MachineMap {
            title,
            subtitle: [Some(doing), hosts, leaves, Sheets::unfolded(topology), job, ids]
                .into_iter()
                .flatten()
                .collect(),
            sides: sheets.sides,
            holders: holders(taken, &sheets),
            down: match taken.down.is_empty() {
                true => Vec::new(),
                false => {
                    let is_down =
                        |node: usize| taken.down.binary_search(&NodeId(node as u32)).is_ok();
                    sheets.processors().map(is_down).collect()
                }
            },
            jobs: taken.holds.iter().map(|hold| hold.job.number).collect(),
            names: ids_of(&self.notation, taken.holds.iter().map(|hold| hold.job.number)),
            highlighted: taken.requested,
            edges: edges(topology),
            rows: sheets.row_names().to_vec(),
            absent: match sheets.row_names().is_empty() {
                true => Vec::new(),
                false => sheets.processors().map(|processor| processor == ABSENT).collect(),
            },
            slices: (0..sheets.sides[2])
                .filter_map(|z| Some((sheets.slice_name(z)?, sheets.first_column(z))))
                .collect(),
        };
        Ok(save(plots, "machine", &figure)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: ShowArgs,
    }

    /// Results of earlier versions are recognized by this text.
    #[test]
    fn selections_have_a_stable_form() {
        for (options, expected) in [
            ("--at 1d", "(Some(Seconds(86400)), None, false, None, None)"),
            ("--job 7 --candidates", "(None, Some(7), true, None, None)"),
            (
                "--gantt 5..1970-01-01T00:01",
                "(None, None, false, Some(Window([Seconds(5), Local(60)])), None)",
            ),
        ] {
            let words = ["show"].into_iter().chain(options.split(' '));
            let command = Command::try_parse_from(words).expect("valid options");
            let job = command.args.job.as_ref().map(|_| 7);
            assert_eq!(selection(&command.args, job), expected);
        }
    }
}
