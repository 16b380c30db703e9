//! Slurm's `sacct -P`.
//!
//! Fields are not quoted. The delimiter is taken from the header; with `-p`, every line also ends with the delimiter. Free
//! text may contain delimiters and line breaks:
//!
//! ```text
//! line -> fields = columns -> job
//!         more fields      -> Layout::split: the surplus belongs to free text
//!         malformed        -> held, if free text can continue on the next line -> joined with the next lines
//!                          -> passed, if the free text of the last record continues
//! ```
//!
//! A line that begins a record is never joined with the lines before it.

mod delimiter;
mod split;

use super::entry::{Line, UNKNOWN};
use super::row::{Cell, Columns, Row};
use super::slurm::{Id, Job, Jobs, NOTHING, Span, count, first_word};
use super::source::{Source, Submit, Unit};
use super::value::{digits, happened, is_not_set, slurm_duration};
use super::zone::{Moment, Zone};
use super::{Fault, Log, ReadStop, Reason, Sink};
use split::{Layout, Split};

/// Largest number of bytes, and of lines, of a record of several lines.
const LONGEST: (usize, usize) = (1 << 18, 1 << 10);

/// Notes on repaired records.
mod repaired {
    pub const DELIMITER: &str = "delimiter within free text";
    pub const LINES: &str = "record over several lines, joined";
}

/// Reason for passing over the lines of a record after its first line.
const CONTINUED: &str = "continuation line of a record";

/// Positions of the columns.
struct Places {
    id: usize,
    submit: usize,
    start: usize,
    state: usize,
    eligible: Option<usize>,
    end: Option<usize>,
    elapsed_raw: Option<usize>,
    elapsed: Option<usize>,
    limit_raw: Option<usize>,
    limit: Option<usize>,
    /// Columns with the size of a job that ran, in order of preference. For jobs that did not run, the columns in the
    /// next field are used.
    ran: Vec<usize>,
    asked: Vec<usize>,
    /// Whether sizes are numbers of processors although the user asked for nodes, because the log contains only
    /// processors.
    by_cores: bool,
    requested: Option<usize>,
    allocated: Option<usize>,
    cores: Option<usize>,
    list: Option<usize>,
    user: Option<usize>,
    account: Option<usize>,
    partition: Option<usize>,
}

impl Places {
    fn of(columns: &Columns, source: &Source) -> Result<Places, ReadStop> {
        let all = |names: &[&str]| -> Result<Vec<usize>, ReadStop> {
            names.iter().filter_map(|name| columns.find(name).transpose()).collect()
        };
        let (ran, asked) = match source.size {
            Unit::Nodes => (all(&["AllocNodes", "NNodes"])?, all(&["ReqNodes", "NNodes"])?),
            Unit::Cores => (all(&["AllocCPUS", "NCPUS"])?, all(&["ReqCPUS", "NCPUS"])?),
        };
        // If the log contains only numbers of processors, these numbers are used as sizes.
        let by_cores = source.size == Unit::Nodes && ran.is_empty();
        let cores = all(&["AllocCPUS", "NCPUS"])?;
        let ran = if ran.is_empty() { cores.clone() } else { ran };
        if ran.is_empty() {
            let what = "the header has none of the columns AllocNodes, NNodes and AllocCPUS";
            return Err(ReadStop::Header(what.to_string()));
        }
        let (end, elapsed_raw) = (columns.find("End")?, columns.find("ElapsedRaw")?);
        let elapsed = columns.find("Elapsed")?;
        if [end, elapsed_raw, elapsed] == [None; 3] {
            let what = "the header has none of the columns End, ElapsedRaw and Elapsed";
            return Err(ReadStop::Header(what.to_string()));
        }
        if source.running && elapsed_raw.or(elapsed).is_none() {
            let what = "running=yes needs the column ElapsedRaw or Elapsed for the run time so far";
            return Err(ReadStop::Header(what.to_string()));
        }
        Ok(Places {
            id: columns.need("JobID")?,
            submit: columns.need("Submit")?,
            start: columns.need("Start")?,
            state: columns.need("State")?,
            eligible: match source.submit {
                Submit::Submitted => None,
                Submit::Eligible => Some(columns.need("Eligible")?),
            },
            end,
            elapsed_raw,
            elapsed,
            limit_raw: columns.find("TimelimitRaw")?,
            limit: columns.find("Timelimit")?,
            requested: asked.first().copied(),
            allocated: columns.find("AllocNodes")?.or(columns.find("NNodes")?),
            cores: cores.first().copied(),
            list: columns.find("NodeList")?,
            user: columns.find("User")?,
            account: columns.find("Account")?,
            partition: columns.find("Partition")?,
            // Without requested sizes, allocated sizes are used.
            asked: if asked.is_empty() { ran.clone() } else { asked },
            ran,
            by_cores,
        })
    }

    /// Returns the columns that determine a job.
    fn used(&self) -> Vec<usize> {
        let Places { id, submit, start, state, eligible, end, elapsed_raw, elapsed, .. } = *self;
        let Places {
            limit_raw,
            limit,
            requested,
            allocated,
            cores,
            list,
            user,
            account,
            partition,
            ..
        } = *self;
        let optional = [
            eligible,
            end,
            elapsed_raw,
            elapsed,
            limit_raw,
            limit,
            requested,
            allocated,
            cores,
            list,
        ];
        let names = [user, account, partition];
        let sizes = self.ran.iter().chain(&self.asked).copied();
        let optional = optional.into_iter().chain(names).flatten();
        [id, submit, start, state].into_iter().chain(optional).chain(sizes).collect()
    }
}

/// The columns of the current header.
struct Table {
    places: Places,
    layout: Layout,
}

/// Lines of a record that is not complete.
#[derive(Default)]
struct Held {
    /// Each line with its number.
    lines: Vec<(u64, String)>,
    /// Number of bytes of the lines.
    bytes: usize,
    /// Whether these lines may continue the record before them instead.
    follows: bool,
}

/// A reader of the output of `sacct`.
pub(super) struct Sacct {
    delimiter: String,
    /// Whether every line ends with the delimiter.
    trailing: bool,
    columns: Option<Columns>,
    table: Option<Table>,
    /// Names of columns of a log without a header, until the delimiter is known.
    given: Option<String>,
    jobs: Jobs,
    cells: Vec<Cell>,
    held: Option<Held>,
    /// The record of the last line if its free text may continue: the number of its line, and whether it continued.
    open: Option<(u64, bool)>,
}

impl Sacct {
    pub fn new(source: Source) -> Sacct {
        Sacct {
            delimiter: "|".to_string(),
            trailing: false,
            columns: None,
            table: None,
            given: None,
            jobs: Jobs::new(source),
            cells: Vec::new(),
            held: None,
            open: None,
        }
    }

    fn header(&mut self, line: Line<'_>) -> Result<(), ReadStop> {
        let text = line.text.trim_start();
        let delimiter = match delimiter::of_header(text) {
            // A table with columns of fixed width has no delimiter, so it cannot be read.
            Some(" ") if text.contains("  ") => {
                let what = "this is a header with columns of fixed width, which sacct truncates: use sacct -P";
                return Err(ReadStop::Header(what.to_string()));
            }
            Some(delimiter) => delimiter,
            None => {
                let what = "this is not a header of sacct -P, which has column names separated by |; --header gives the \
                    column names of a log without a header";
                return Err(ReadStop::Header(what.to_string()));
            }
        };
        let (columns, trailing) = names(text, delimiter).without_last_if_empty();
        if ["JobID", "Submit", "Start", "End", "State"].iter().all(|name| !columns.has(name)) {
            let what = "this is not a header of sacct -P, which has columns such as JobID and State (sacct -n omits \
                the header; --header gives the column names)";
            return Err(ReadStop::Header(what.to_string()));
        }
        self.set(columns, delimiter.to_string(), trailing)
    }

    /// Uses these columns for the lines that follow.
    fn set(&mut self, columns: Columns, delimiter: String, trailing: bool) -> Result<(), ReadStop> {
        let source = &self.jobs.source;
        let places = Places::of(&columns, source)?;
        let times = [Some(places.submit), Some(places.start), places.end];
        let layout = Layout::new(columns.iter(), places.used(), times, source.zone.clone());
        self.table = Some(Table { places, layout });
        (self.columns, self.delimiter, self.trailing) = (Some(columns), delimiter, trailing);
        (self.held, self.open) = (None, None);
        Ok(())
    }

    /// Uses the given names for the lines from `line` on, and finds the delimiter of these lines: the first text with which
    /// all columns have valid values.
    fn find_delimiter(&mut self, header: &str, line: Line<'_>) -> Result<(), ReadStop> {
        let own = delimiter::of_header(header).unwrap_or(",");
        let (columns, _) = names(header, own).without_last_if_empty();
        let mut candidates = delimiter::candidates(line.text);
        if own != "," {
            candidates = vec![own];
        }
        for delimiter in candidates {
            for trailing in [false, true] {
                self.set(columns.clone(), delimiter.to_string(), trailing)?;
                let has_end = line.text.ends_with(delimiter);
                let fields = self.fields(line.text);
                let Some(table) = &self.table else { continue };
                if trailing == has_end
                    && !matches!(table.layout.split(fields, &self.cells), Split::Nothing)
                {
                    return Ok(());
                }
            }
        }
        Err(ReadStop::Header(format!(
            "no separator splits this line into the {} columns of --header",
            columns.len()
        )))
    }

    /// Splits a line at its delimiters, and returns the line without the delimiter at its end.
    fn fields<'a>(&mut self, text: &'a str) -> &'a str {
        let text = match self.trailing {
            true => text.strip_suffix(&*self.delimiter).unwrap_or(text),
            false => text,
        };
        delimiter::split(text, &self.delimiter, &mut self.cells);
        text
    }

    /// Reads a line, or several joined lines, as a record.
    fn record(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let text = self.fields(line.text);
        let line = Line { text, ..line };
        let (Some(columns), Some(table)) = (&self.columns, &self.table) else { return Ok(()) };
        let repaired = self.cells.len() > columns.len() && table.layout.has_free();
        if repaired {
            match table.layout.split(text, &self.cells) {
                Split::One(cells) => self.cells = cells,
                Split::Nothing => {}
                Split::Several => {
                    let field =
                        format!("{} fields, the header has {}:", self.cells.len(), columns.len());
                    let fault =
                        Fault { reason: Reason::Ambiguous, field, at: 0, text: text.to_string() };
                    return Err(fault.into());
                }
            }
        }
        let row = columns.checked(line, &self.cells)?;
        read(row, &table.places, &mut self.jobs, sink)?;
        if repaired {
            sink.repaired(line.number, repaired::DELIMITER);
        }
        let continues =
            table.layout.ends_free() && !(self.trailing && text.len() < line.text.len());
        self.open = continues.then_some((line.number, false));
        Ok(())
    }

    /// Reads a line that belongs to no held record.
    fn fresh(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let open = self.open.take();
        let fault = match self.record(line, sink) {
            Err(ReadStop::Fault(fault)) => fault,
            other => return other,
        };
        let text = self.fields(line.text);
        let Some(table) = &self.table else { return Err(fault.into()) };
        let layout = &table.layout;
        let follows = open.is_some() && !layout.begins(text, &self.cells);
        if self.is_header(line) {
            return Err(fault.into());
        }
        if layout.can_continue(text, &self.cells) {
            sink.forget();
            let lines = vec![(line.number, line.text.to_string())];
            self.held = Some(Held { lines, bytes: line.text.len(), follows });
            self.open = open;
            return Ok(());
        }
        match (follows, open) {
            (true, Some(open)) => {
                self.continued(line.number, open, sink);
                Ok(())
            }
            _ => Err(fault.into()),
        }
    }

    /// Counts a line that continues the free text of the record of the last line.
    fn continued(&mut self, line: u64, (record, is_counted): (u64, bool), sink: &mut Sink<'_>) {
        if !is_counted {
            sink.repaired(record, repaired::LINES);
        }
        sink.passed(line, CONTINUED, 1);
        self.open = Some((record, true));
    }

    fn is_header(&self, line: Line<'_>) -> bool {
        let names = self.names(line);
        names.zip(self.columns.as_ref()).is_some_and(|(names, own)| names.are_alike(own))
    }

    /// Adds a line to the held record, and reads the record if it is complete.
    fn join(
        &mut self,
        mut held: Held,
        line: Line<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadStop> {
        held.bytes += line.text.len();
        held.lines.push((line.number, line.text.to_string()));
        if held.bytes > LONGEST.0 || held.lines.len() > LONGEST.1 {
            return self.give_up(held, sink);
        }
        let joined = |lines: &[(u64, String)]| {
            lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let whole = joined(&held.lines);
        if !self.splits(&whole) {
            self.held = Some(held);
            return Ok(());
        }
        let first = held.lines.first().map_or(line.number, |first| first.0);
        // If the last lines are a record by themselves, the first lines may be a record that is cut.
        if (1..held.lines.len()).any(|at| self.splits(&joined(&held.lines[at..]))) {
            held.follows = false;
            return self.give_up(held, sink);
        }
        match self.record(Line { number: first, text: &whole }, sink) {
            Ok(()) => {}
            Err(ReadStop::Fault(_)) => return self.give_up(held, sink),
            other => return other,
        }
        sink.repaired(first, repaired::LINES);
        sink.passed(first + 1, CONTINUED, held.lines.len() as u64 - 1);
        self.open = self.open.map(|_| (first, true));
        Ok(())
    }

    /// Returns whether a text has a valid split.
    fn splits(&mut self, text: &str) -> bool {
        let text = self.fields(text);
        let Some(table) = &self.table else { return false };
        !matches!(table.layout.split(text, &self.cells), Split::Nothing)
    }

    /// Counts held lines that are not a record: as the continuation of the record before them if this is possible, otherwise
    /// as malformed.
    fn give_up(&mut self, held: Held, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let open = self.open.take().filter(|_| held.follows);
        if let Some((record, is_counted)) = open {
            let mut open = (record, is_counted);
            for (number, _) in held.lines {
                self.continued(number, open, sink);
                open = (record, true);
            }
            return Ok(());
        }
        for (number, text) in held.lines {
            let line = Line { number, text: &text };
            match self.record(line, sink) {
                Err(ReadStop::Fault(fault)) => {
                    sink.malformed(number, &text, fault).map_err(ReadStop::Import)?
                }
                other => other?,
            }
        }
        Ok(())
    }
}

/// Parses the names of a header. Names may be quoted, as in tables that were written by other programs.
fn names(header: &str, delimiter: &str) -> Columns {
    let name = |name: &str| name.trim().trim_matches('"').to_string();
    Columns::named(header.split(delimiter).map(name))
}

/// Reads a point in time; `None` if the field is empty or states that the time is unknown.
fn time(row: Row<'_>, index: usize, zone: &Zone) -> Result<Option<Moment>, Fault> {
    let text = row.text(index);
    if NOTHING.contains(&text) {
        return Ok(None);
    }
    match digits(text) {
        Some(time) => Ok(Some(Moment::at(happened(time)))),
        None => row.date(index, zone).map(Some),
    }
}

/// Returns the first number above 0 among the fields at `places`, or 0; `None` if all these fields are empty.
fn size(row: Row<'_>, places: &[usize]) -> Result<Option<i64>, Fault> {
    for &index in places {
        match row.read(index, Reason::NotANumber, count)? {
            0 => {}
            number => return Ok(Some(number)),
        }
    }
    let is_empty = places.iter().all(|&at| NOTHING.contains(&row.text(at)));
    Ok((!is_empty).then_some(0))
}

/// Reads a duration from the first of two columns that has one. The first column is in units of `unit` seconds.
fn span(row: Row<'_>, raw: Option<usize>, text: Option<usize>, unit: i64) -> Result<Span, Fault> {
    let number = |text: &str| digits(text).map(|number| number.saturating_mul(unit));
    let read = |index, reason, of: &dyn Fn(&str) -> Option<i64>| {
        row.read(index, reason, |text| Span::read(text, of))
    };
    let raw = raw.map_or(Ok(Span::Unknown), |raw| read(raw, Reason::NotANumber, &number))?;
    match (raw, text) {
        (Span::Seconds(_), _) | (_, None) => Ok(raw),
        (_, Some(text)) => read(text, Reason::NotADuration, &slurm_duration),
    }
}

/// Reads a row: a job, a step, or tasks that did not start.
fn read(
    row: Row<'_>,
    places: &Places,
    jobs: &mut Jobs,
    sink: &mut Sink<'_>,
) -> Result<(), ReadStop> {
    let number = row.line.number;
    let id = row.text(places.id);
    let not_a_job = || row.fault(places.id, Reason::NotAJob);
    let part = match Id::read(id).ok_or_else(not_a_job)? {
        Id::Step => {
            sink.passed(number, "step of a job", 1);
            return Ok(());
        }
        Id::Tasks(array, tasks) => {
            return match jobs.tasks(number, array, tasks, sink) {
                true => Ok(()),
                false => Err(not_a_job().into()),
            };
        }
        Id::Job(part, task) => {
            task.into_iter().for_each(|task| jobs.started(task));
            part
        }
    };
    let zone = jobs.source.zone.clone();
    let perhaps = |at: Option<usize>| at.map_or(Ok(None), |at| time(row, at, &zone));
    let submit = time(row, places.submit, &zone)?;
    let submit = submit.ok_or_else(|| row.fault(places.submit, Reason::Empty))?;
    if digits(row.text(places.submit)).is_some_and(is_not_set) {
        return Err(row.fault(places.submit, Reason::NotATime).into());
    }
    let start = time(row, places.start, &zone)?;
    let job = Job {
        id,
        part,
        submit,
        eligible: perhaps(places.eligible)?,
        start,
        end: perhaps(places.end)?,
        has_ends: places.end.is_some(),
        on_clock: digits(row.text(places.start)).is_none(),
        elapsed: span(row, places.elapsed_raw, places.elapsed, 1)?,
        state: first_word(row.text(places.state)),
        ran: size(row, &places.ran),
        asked: size(row, &places.asked),
        by_cores: places.by_cores,
        requested: places
            .requested
            .and_then(|at| count(row.text(at)))
            .filter(|&n| n > 0)
            .unwrap_or(UNKNOWN),
        limit: span(row, places.limit_raw, places.limit, 60),
        allocated: places.allocated.and_then(|at| digits(row.text(at))),
        cores: places.cores.and_then(|at| count(row.text(at))),
        nodes: row.perhaps(places.list),
        user: row.perhaps(places.user),
        account: row.perhaps(places.account),
        partition: row.perhaps(places.partition),
    };
    jobs.take(number, job, sink)
}

impl Log for Sacct {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        if self.table.is_none() {
            let Some(header) = self.given.clone() else { return self.header(line) };
            // A file may have a header although the names are given.
            if self.names(line).is_some_and(|names| names.has("JobID")) {
                self.header(line)?;
                sink.header(line.number, "header");
                return Ok(());
            }
            self.find_delimiter(&header, line)?;
        }
        let Some(held) = self.held.take() else { return self.fresh(line, sink) };
        let text = self.fields(line.text);
        let begins =
            self.table.as_ref().is_some_and(|table| table.layout.begins(text, &self.cells));
        if !begins && !self.is_header(line) {
            return self.join(held, line, sink);
        }
        self.give_up(held, sink)?;
        self.fresh(line, sink)
    }

    fn given(&mut self, header: &str, _: &mut Sink<'_>) -> Result<(), ReadStop> {
        self.given = Some(header.to_string());
        Ok(())
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }

    fn begin(&mut self) {
        (self.columns, self.table, self.held, self.open) = (None, None, None, None);
    }

    fn names(&self, line: Line<'_>) -> Option<Columns> {
        let text = line.text.trim_start();
        Some(names(text, delimiter::of_header(text)?).without_last_if_empty().0)
    }

    fn restart(&mut self, line: Line<'_>, _: &mut Sink<'_>) -> Result<(), ReadStop> {
        self.header(line)
    }

    fn is_begun(&mut self) -> bool {
        self.columns.is_some() || self.given.is_some()
    }

    fn file_end(&mut self, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        match self.held.take() {
            Some(held) => self.give_up(held, sink),
            None => Ok(()),
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.jobs.end(sink);
    }
}
