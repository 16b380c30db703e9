//! A window of a run as bars over time, and a whole run as events.

use replay_centre::CurveOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{IDS, ids_of};
use crate::cli::args::WriteArg;
use crate::cli::exit::{Exit, Failure, eprint_line};
use crate::cli::interrupt::{cancel_token, end_by_signal};
use crate::cli::output::configuration;
use crate::cli::results::{Results, Tally};
use crate::cli::session::Session;
use replay_engine::metrics::{Allocation, JobMeasures, Submitted};
use replay_engine::number::{counted, duration, grouped};
use replay_engine::swf::Header;
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Notation, TraceTime};
use replay_experiment::fragmentation::{FreeSpace, fragmentation};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::{Cell, Measure, RunContext, RunResult, WithRun, run_cell};
use replay_output::plot::{Areas, Bar, Gantt, JobNames, Line, Lines, Plots, Point, save};
use replay_output::report::machine::{Sheets, leaves};
use replay_output::report::{Sheet, Shown, perfetto};
use replay_results::FrameError;

/// A window of a trace, from one instant to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window(pub [TraceTime; 2]);

impl Window {
    /// Returns the start and the end of the window in seconds of the trace.
    ///
    /// # Errors
    /// A usage error if the first instant is not before the second, or if a date cannot be converted.
    pub fn seconds(self, header: &Header) -> Result<[i64; 2], Failure> {
        let second = |at: TraceTime| super::seconds("FROM..TO", at, header);
        let [from, until] = [second(self.0[0])?, second(self.0[1])?];
        match from < until {
            true => Ok([from, until]),
            false => Err(Failure::usage_message("FROM..TO: FROM must be before TO")),
        }
    }
}

impl std::str::FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || {
            "write FROM..TO: two instants in seconds of the trace, such as 3600..90000, or two times since its start, \
             such as 7d..8d12h"
                .to_string()
        };
        let (from, until) = text.split_once("..").ok_or_else(problem)?;
        let instant = |text: &str| text.parse::<TraceTime>().map_err(|_| problem());
        Ok(Self([instant(from)?, instant(until)?]))
    }
}

/// Maximum number of bars of a figure.
const MOST: usize = 200_000;
/// Maximum number of rows of the table named fragmentation.
const INSTANTS: usize = 2_000;

/// Runs the cell and records its allocations; `None` if the run was interrupted.
fn ran(cell: &Cell, quiet: bool) -> Result<Option<RunResult>, Failure> {
    let stop = cancel_token(quiet);
    let measure = Measure { jobs: true, nodes: true, ..Measure::default() };
    match run_cell(0, cell, measure, RunContext::new(&stop)) {
        Ok(run) => Ok(Some(run)),
        Err(error) if error.is_stopped() => Ok(None),
        Err(error) => Err(Failure::data(error.cause)),
    }
}

/// Limits a window to the time from the first arrival to the last end of a run. A window outside of this time is not
/// changed.
fn within_run(run: &RunResult, [from, until]: [i64; 2]) -> [i64; 2] {
    let begin = run.jobs.iter().map(|job| job.arrival).min().unwrap_or(from);
    let end = run.allocations.iter().map(|one| one.end).max().unwrap_or(until);
    match [from.max(begin), until.min(end)] {
        [first, last] if first < last => [first, last],
        _ => [from, until],
    }
}

/// Draws a window of the cell, limited to the time of the run.
///
/// # Errors
/// A usage error if the window has no job or too many bars.
pub fn draw(
    session: &mut Session,
    loaded: &ResolvedGrid,
    cell: &Cell,
    notation: Notation,
    window: [i64; 2],
) -> Result<Exit, Failure> {
    let mut tally = Tally::of("pictures", 1);
    let mut part = WindowView { loaded, cell, notation, window, run: None, spaces: Vec::new() };
    if let Some(mut run) = ran(cell, session.is_quiet())? {
        let whole = window;
        let window = within_run(&run, window);
        part.window = window;
        let inside = |one: &Allocation| one.start < window[1] && one.end > window[0];
        part.spaces =
            fragmentation(&run, &cell.trace.topology, cell.trace.outages(), window, INSTANTS);
        run.allocations.retain(inside);
        run.jobs.clear();
        if run.allocations.is_empty() {
            let [from, until] = whole.map(|at| part.notation.instant(at));
            let message = format!("no job has processors between {from} and {until}");
            return Err(Failure::usage_message(message));
        }
        let bars = part.bars(&run).len();
        if bars > MOST {
            let (bars, most) = (grouped(bars as u64), grouped(MOST as u64));
            let message =
                format!("the window has {bars} bars, more than {most}: choose a shorter window");
            return Err(Failure::usage_message(message));
        }
        part.run = Some(run);
        tally.done = 1;
    }
    let run = part.run.clone();
    let rows: Vec<_> = run.iter().flat_map(RunResult::allocation_rows).collect();
    session.publish(&mut WindowRows { part, rows }, &tally)
}

/// Writes the whole run as events. `inputs` are the files that the command reads.
///
/// # Errors
/// A usage error if the file cannot be written or is an input.
pub fn events(
    inputs: impl IntoIterator<Item = PathBuf>,
    cell: &Cell,
    notation: &Notation,
    write: &WriteArg,
    quiet: bool,
) -> Result<Exit, Failure> {
    // Outputs are checked before any work. Until the run begins, a signal ends the program at once, even if opening a
    // pipe blocks.
    let mut out = write.begin(inputs)?;
    let Some(run) = ran(cell, quiet)? else {
        eprint_line("replay: interrupted; nothing is written");
        return Ok(Exit::Interrupted);
    };
    // The run is done; writing into a pipe may block.
    end_by_signal();
    let mut buffer = BufWriter::new(out.stream());
    let label = |one: &Allocation| (one.job, notation.job(one.job));
    let names = JobNames(run.allocations.iter().map(label).collect());
    let slices = perfetto::write(&run, &names, &mut buffer);
    let slices = slices.and_then(|slices| buffer.flush().map(|()| slices));
    drop(buffer);
    let slices = slices.map_err(|e| out.failed(e))?;
    out.finish()?;
    if let Some(path) = write.file().filter(|_| !quiet) {
        let (jobs, slices) = (grouped(run.allocations.len() as u64), grouped(slices as u64));
        eprint_line(format_args!("{}: {jobs} jobs in {slices} slices", path.display()));
    }
    Ok(Exit::Done)
}

struct WindowView<'a> {
    loaded: &'a ResolvedGrid,
    cell: &'a Cell,
    notation: Notation,
    window: [i64; 2],
    run: Option<RunResult>,
    spaces: Vec<FreeSpace>,
}

impl WindowView<'_> {
    fn title(&self) -> String {
        let key = self.cell.key();
        format!("{} on {}, {}, {}", key.trace, key.topology, key.scheduler, key.strategy())
    }

    /// Returns the leaves of a tree or of blocks, with their nodes; empty on other machines.
    fn leaves(&self) -> Vec<(&str, &[NodeId])> {
        self.cell.trace.topology.hierarchy().map_or(Vec::new(), leaves)
    }

    /// Returns the order of the processors in the figure: its name, and the position of each processor.
    fn order(&self) -> (String, Vec<usize>) {
        let topology = &self.cell.trace.topology;
        let mut places = vec![0; topology.processors()];
        let curve = self.cell.allocator.options::<CurveOptions>().zip(topology.grid());
        match curve {
            Some((CurveOptions { curve, .. }, grid)) => {
                for (place, node) in curve.order(grid).into_iter().enumerate() {
                    places[node.index()] = place;
                }
                (format!("along the {} curve", curve.name()), places)
            }
            None if topology.hierarchy().is_some() => {
                let leaves = self.leaves().into_iter().rev();
                let nodes = leaves.flat_map(|leaf| leaf.1.iter().rev());
                nodes.enumerate().for_each(|(place, node)| places[node.index()] = place);
                ("leaf by leaf".to_string(), places)
            }
            None => {
                let sheets = Sheets::of(topology);
                for (place, processor) in sheets.processors().enumerate() {
                    places[processor] = place;
                }
                let words = match topology {
                    Topology::Grid(_) => "row by row",
                    _ => "by number",
                };
                (words.to_string(), places)
            }
        }
    }

    fn bars(&self, run: &RunResult) -> Vec<Bar> {
        let (_, places) = self.order();
        let mut bars = Vec::new();
        for Allocation { job, start, end, nodes, .. } in &run.allocations {
            let mut of_job: Vec<usize> = nodes.iter().map(|node| places[node.index()]).collect();
            of_job.sort_unstable();
            for ranks in of_job.chunk_by(|a, b| a + 1 == *b) {
                let (first, count) = (ranks[0], ranks.len());
                bars.push(Bar { job: *job, start: *start, end: *end, first, count });
            }
        }
        bars
    }

    fn subtitle(&self, run: &RunResult) -> String {
        let jobs = counted(run.allocations.len() as u64, "job");
        let [from, until] = self.window;
        let lasts = duration(until - from);
        let span = match (self.notation.date(from), self.notation.date(until)) {
            (Some(from), Some(until)) => format!("from {from} to {until} ({lasts})"),
            _ => format!("from {} s to {} s of the trace ({lasts})", grouped(from), grouped(until)),
        };
        let ids = match self.notation.ids {
            Some(_) => format!("; {IDS}"),
            None => String::new(),
        };
        format!("{jobs} {span}; distant jobs may share a colour{ids}")
    }

    /// Returns the figure of the free processors over time, with the largest free box and the largest connected free
    /// region.
    fn free_space(&self) -> Areas {
        let line = |name: &str, value: &dyn Fn(&FreeSpace) -> Option<u32>| {
            let mut points = Vec::new();
            let mut before = None;
            for space in &self.spaces {
                let Some(value) = value(space) else { continue };
                let x = space.at as f64 / 3600.0;
                // The value is constant until the next row.
                points.extend(before.map(|before| Point::new(x, before)));
                points.push(Point::new(x, f64::from(value)));
                before = Some(f64::from(value));
            }
            // Extend the line to the end of the window.
            points.extend(before.map(|last| Point::new(self.window[1] as f64 / 3600.0, last)));
            Line { name: name.to_string(), points }
        };
        let boxes = |space: &FreeSpace| space.largest_box;
        // The neighbours of a node are the other nodes of its leaf, so a connected free region consists of free nodes
        // of one leaf.
        let is_hierarchy = self.cell.trace.topology.hierarchy().is_some();
        let [title, region, unit] = match is_hierarchy {
            true => {
                ["Free nodes, and the most free nodes of one leaf", "most on one leaf", "Nodes"]
            }
            false => [
                "Free processors, and the largest free box and region",
                "largest connected region",
                "Processors",
            ],
        };
        let mut lines = vec![
            line("free", &|space| Some(space.free)),
            line(region, &|space| Some(space.largest_region)),
        ];
        if self.cell.trace.topology.grid().is_some() {
            lines.push(line("largest box", &boxes));
        }
        Areas(Lines {
            title: title.to_string(),
            subtitle: vec![self.title()],
            x_title: "Time of the trace (h)".to_string(),
            y_title: unit.to_string(),
            log_x: false,
            log_y: false,
            plain: true,
            lines,
        })
    }
}

/// A window with its allocations as rows.
struct WindowRows<'a, 'b> {
    part: WindowView<'a>,
    rows: Vec<WithRun<'b, Allocation>>,
}

impl<'b> Results for WindowRows<'_, 'b> {
    type Row = WithRun<'b, Allocation>;

    fn rows(&self) -> &[Self::Row] {
        &self.rows
    }

    fn sheets(&self) -> Vec<Sheet> {
        let notation = &self.part.notation;
        let id = |row: &Self::Row| {
            let id = notation.ids.as_ref().and_then(|ids| ids.id(row.row.job));
            id.map(str::to_string)
        };
        let mut columns = vec![Shown::column(Submitted::JOB, "job", 0)];
        columns.extend(notation.ids.is_some().then(|| Shown::text("id", id).right()));
        match notation.epoch {
            None => columns.extend([
                Shown::column(JobMeasures::START, "start s", 0),
                Shown::column(JobMeasures::END, "end s", 0),
            ]),
            Some(_) => columns.extend([
                Shown::text("start", |row: &Self::Row| notation.date(row.row.start)),
                Shown::text("end", |row: &Self::Row| notation.date(row.row.end)),
            ]),
        }
        columns.push(Shown::column(Allocation::NODES, "processors", 0));
        vec![Sheet::of(&self.rows, columns)]
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(self.part.loaded, false)
    }

    fn details(&self) -> impl Serialize {
        serde_json::json!({"run": self.part.cell.key(), "window": self.part.window})
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        let mut paths = replay_results::write(dir, &self.rows, metadata)?;
        paths.extend(replay_results::write(dir, &self.part.spaces, metadata)?);
        Ok(paths)
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        let Some(run) = &self.part.run else { return Ok(Vec::new()) };
        let mut first = self.part.cell.trace.topology.processors();
        let leaves = self.part.leaves().into_iter().map(|(name, nodes)| {
            first -= nodes.len();
            (first, name.to_string())
        });
        let mut leaves: Vec<(usize, String)> = leaves.collect();
        leaves.reverse();
        let figure = Gantt {
            title: self.part.title(),
            subtitle: vec![self.part.subtitle(run)],
            window: self.part.window,
            epoch: self.part.notation.epoch,
            processors: self.part.cell.trace.topology.processors(),
            order: self.part.order().0,
            leaves,
            names: ids_of(&self.part.notation, run.allocations.iter().map(|one| one.job)),
            bars: self.part.bars(run),
        };
        let mut paths = save(plots, "gantt", &figure)?;
        if self.part.spaces.len() > 1 {
            paths.extend(save(plots, "fragmentation", &self.part.free_space())?);
        }
        Ok(paths)
    }
}
