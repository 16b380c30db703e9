//! Logs of the scheduler Cobalt, as published by the Argonne Leadership Computing Facility: CSV with a header.
//!
//! On a Blue Gene/Q, `LOCATION` has the form `MIR-04880-37BB1-512`: two corners of a box and the number of nodes. A
//! corner has five hexadecimal digits, one for each of the dimensions A B C D E; both corners belong to the box. The
//! location is written to the nodes file as ranges, `A0-3 B4-7 C8-11 D8-11 E0-1`. On Mira (8 x 12 x 16 x 16 x 2), a box
//! may wrap around in a dimension; the digit of the first corner is then larger than that of the second corner. On
//! Theta, `LOCATION` is a list of nodes.

use std::fmt::Write;

use super::entry::{Entry, Line, UNKNOWN, count_nodes, dropped, noted, status};
use super::row::{Cell, Columns, Row};
use super::source::Source;
use super::value::{bare, seconds, whole};
use super::zone::{Moment, Zone, in_order};
use super::{Fault, Log, ReadStop, Reason, Sink};
use replay_workload::workload::midplanes::MIRA;

struct Places {
    id: usize,
    queued: usize,
    start: usize,
    end: usize,
    used: usize,
    requested: Option<usize>,
    limit: Option<usize>,
    runtime: Option<usize>,
    queue: Option<usize>,
    user: Option<usize>,
    project: Option<usize>,
    location: Option<usize>,
    exit: Option<usize>,
}

/// A reader of Cobalt logs.
pub(super) struct Cobalt {
    source: Source,
    columns: Option<Columns>,
    places: Option<Places>,
    cells: Vec<Cell>,
    nodes: String,
}

impl Cobalt {
    pub fn new(source: Source) -> Cobalt {
        Cobalt { source, columns: None, places: None, cells: Vec::new(), nodes: String::new() }
    }

    fn header(&mut self, line: Line<'_>) -> Result<(), ReadStop> {
        let columns = Columns::read(line, b',')?;
        self.places = Some(Places {
            id: columns.need("COBALT_JOBID")?,
            queued: columns.need("QUEUED_TIMESTAMP")?,
            start: columns.need("START_TIMESTAMP")?,
            end: columns.need("END_TIMESTAMP")?,
            used: columns.need("NODES_USED")?,
            requested: columns.find("NODES_REQUESTED")?,
            limit: columns.find("WALLTIME_SECONDS")?,
            runtime: columns.find("RUNTIME_SECONDS")?,
            queue: columns.find("QUEUE_NAME")?,
            user: columns.find("USERNAME_GENID")?,
            project: columns.find("PROJECT_NAME_GENID")?,
            location: columns.find("LOCATION")?,
            exit: columns.find("EXIT_STATUS")?,
        });
        self.columns = Some(columns);
        Ok(())
    }
}

/// Reads an optional number.
fn perhaps(row: Row<'_>, index: Option<usize>) -> Result<Option<i64>, Fault> {
    let index = index.filter(|&index| !row.text(index).is_empty());
    index.map(|index| row.read(index, Reason::NotANumber, seconds)).transpose()
}

/// Reads a point in time; `None` if the field is empty.
fn time(row: Row<'_>, index: usize, zone: &Zone) -> Result<Option<Moment>, Fault> {
    match row.text(index) {
        "" => Ok(None),
        _ => row.date(index, zone).map(Some),
    }
}

/// The meaning of a `LOCATION`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// The location is unknown.
    Unknown,
    /// A box in five dimensions: the first and the last coordinate in each dimension.
    Torus([(u64, u64); 5]),
    /// A list of nodes.
    List,
    /// A text that is neither a box nor a list of nodes, or a box whose volume differs from the given number of nodes.
    Odd,
}

/// Parses a `LOCATION`.
pub(super) fn location(text: &str) -> Location {
    if text.is_empty() || text.ends_with("UNKNOWN") {
        return Location::Unknown;
    }
    let parts: Vec<&str> = text.split('-').collect();
    if let [machine, from, to, nodes] = parts[..]
        && let (Some(from), Some(to)) = (corner(from), corner(to))
    {
        let sides = (machine == "MIR").then_some(MIRA);
        let mut product = 1;
        for axis in 0..5 {
            let side = sides.map_or(16, |sides| sides[axis]);
            let length = match (from[axis] <= to[axis], sides) {
                (true, _) if to[axis] < side => to[axis] - from[axis] + 1,
                (false, Some(_)) if from[axis] < side => side - from[axis] + to[axis] + 1,
                _ => return Location::Odd,
            };
            product *= length;
        }
        return match nodes.parse() == Ok(product) {
            true => Location::Torus(std::array::from_fn(|axis| (from[axis], to[axis]))),
            false => Location::Odd,
        };
    }
    match count_nodes(text) {
        Ok(_) if text.starts_with(|c: char| c.is_ascii_digit()) => Location::List,
        _ => Location::Odd,
    }
}

/// Parses five hexadecimal digits.
fn corner(text: &str) -> Option<[u64; 5]> {
    let digits: Option<Vec<u64>> = text.chars().map(|c| c.to_digit(16).map(u64::from)).collect();
    digits?.try_into().ok()
}

impl Log for Cobalt {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let (Some(columns), Some(places)) = (&self.columns, &self.places) else {
            return self.header(line);
        };
        let row = columns.row(line, b',', &mut self.cells)?;
        let number = line.number;
        let zone = &self.source.zone;
        let queued = time(row, places.queued, zone)?;
        let queued = queued.ok_or_else(|| row.fault(places.queued, Reason::Empty))?;
        let (start, end) = (time(row, places.start, zone)?, time(row, places.end, zone)?);
        let size = super::mapped::size(row, places.used, self.source.round_up)?;
        let requested = perhaps(row, places.requested)?.filter(|&nodes| nodes > 0);
        let estimate = perhaps(row, places.limit)?;
        let runtime = perhaps(row, places.runtime)?;
        let exit = places.exit.filter(|&exit| !row.text(exit).is_empty());
        let exit = exit.map(|exit| row.read(exit, Reason::NotANumber, whole)).transpose()?;
        let times = in_order(queued, start, end, runtime);
        let queued = times.submit;
        if let (Some(start), Some(end), Some(runtime)) = (times.start, times.end, runtime) {
            sink.elapsed(number, runtime, end.saturating_sub(start));
        }
        let ran = match (times.start, times.end) {
            (Some(start), Some(end)) => Some((start - queued, end - start)),
            (Some(_), None) => {
                sink.dropped(number, dropped::UNFINISHED);
                return Ok(());
            }
            (None, _) => None,
        };
        let (wait, run) = ran.unwrap_or((UNKNOWN, 0));
        if ran.is_some() && (wait < 0 || run < 0) {
            sink.dropped(number, if wait < 0 { dropped::WAIT } else { dropped::RUN });
            return Ok(());
        }
        let Ok(size) = size.map_err(|why| sink.dropped(number, why)) else {
            return Ok(());
        };
        if ran.is_none() {
            sink.about(noted::NEVER_STARTED);
        } else if runtime.is_some_and(|runtime| runtime.abs_diff(run) > 1) {
            sink.about(noted::ELAPSED);
        }
        self.nodes.clear();
        let text = row.perhaps(places.location);
        match location(text) {
            Location::Unknown => sink.about("no location"),
            Location::Odd => sink.about("impossible location, omitted"),
            Location::List => {
                if count_nodes(text) != Ok(size as u64) {
                    sink.about(noted::UNLIKE);
                }
                self.nodes.push_str(text);
            }
            Location::Torus(ranges) => {
                let nodes = text.rsplit('-').next().and_then(|nodes| nodes.parse().ok());
                if nodes != Some(size) {
                    sink.about("number of nodes of the box differs from the job's number of nodes");
                }
                for (axis, (from, to)) in "ABCDE".chars().zip(ranges) {
                    // Writing to memory does not fail.
                    let _ = write!(self.nodes, " {axis}{from}-{to}");
                }
            }
        }
        if let Some(note) = times.note {
            sink.about(note);
        }
        let id = bare(row.text(places.id));
        sink.job(
            number,
            &Entry {
                id,
                submit: queued,
                wait,
                run,
                size,
                requested: requested.unwrap_or(UNKNOWN),
                estimate,
                status: match exit {
                    _ if ran.is_none() => status::CANCELLED,
                    None => UNKNOWN,
                    Some(0) => status::COMPLETED,
                    Some(_) => status::FAILED,
                },
                user: row.perhaps(places.user),
                group: row.perhaps(places.project),
                queue: row.perhaps(places.queue),
                nodes: self.nodes.trim_start(),
                ..Entry::NONE
            },
        )?;
        Ok(())
    }

    fn separator(&self) -> Option<u8> {
        Some(b',')
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }
}
