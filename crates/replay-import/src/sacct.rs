//! Slurm's `sacct -P`.
//!
//! Fields are not quoted. The delimiter is the first character of the header that cannot be part of a column
//! name. With `-p`, every line also ends with a delimiter. Only job names contain delimiters; surplus fields are
//! therefore parts of the job name.

use super::entry::{Entry, Line, UNKNOWN, count_nodes, dropped, noted, status};
use super::pending_arrays::{self, Pending, Taken};
use super::row::{Cell, Columns, Row};
use super::source::{Source, Submit, Unit};
use super::value::{digits, slurm_duration};
use super::zone::{Moment, Zone, in_order};
use super::{Fault, Log, ReadStop, Reason, Sink};

/// Texts for unknown values.
const NOTHING: [&str; 4] = ["", "Unknown", "None", "N/A"];

/// Texts for durations that are unlimited or unknown.
const UNBOUNDED: [&str; 5] = ["", "UNLIMITED", "INFINITE", "Partition_Limit", "NOT_SET"];

/// Positions of the columns.
struct Places {
    id: usize,
    submit: usize,
    start: usize,
    state: usize,
    name: Option<usize>,
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
    list: Option<usize>,
    user: Option<usize>,
    account: Option<usize>,
    partition: Option<usize>,
}

/// A reader of the output of `sacct`.
pub(super) struct Sacct {
    source: Source,
    delimiter: u8,
    /// Whether every line ends with the delimiter.
    trailing: bool,
    columns: Option<Columns>,
    places: Option<Places>,
    cells: Vec<Cell>,
    /// Arrays with tasks that did not start, if the log has several files.
    pending: Pending,
}

impl Sacct {
    pub fn new(source: Source) -> Sacct {
        Sacct {
            source,
            delimiter: b'|',
            trailing: false,
            columns: None,
            places: None,
            cells: Vec::new(),
            pending: Pending::default(),
        }
    }

    fn header(&mut self, line: Line<'_>) -> Result<(), ReadStop> {
        let text = line.text.trim_start();
        self.delimiter = match delimiter(line) {
            // A table with columns of fixed width has no delimiter, so it cannot be read.
            Some(b' ') if text.contains("  ") => {
                let what = "this is a header with columns of fixed width, which sacct truncates: use sacct -P";
                return Err(ReadStop::Header(what.to_string()));
            }
            Some(delimiter) => delimiter,
            None => {
                let what =
                    "this is not a header of sacct -P, which has column names separated by |";
                return Err(ReadStop::Header(what.to_string()));
            }
        };
        let columns = Columns::read(line, self.delimiter)?;
        let (columns, trailing) = columns.without_last_if_empty();
        self.trailing = trailing;
        if ["JobID", "Submit", "Start", "End", "State"].iter().all(|name| !columns.has(name)) {
            let what = "this is not a header of sacct -P, which has columns such as JobID and State (sacct -n omits \
                the header)";
            return Err(ReadStop::Header(what.to_string()));
        }
        let all = |names: &[&str]| -> Result<Vec<usize>, ReadStop> {
            names.iter().filter_map(|name| columns.find(name).transpose()).collect()
        };
        let (ran, asked) = match self.source.size {
            Unit::Nodes => (all(&["AllocNodes", "NNodes"])?, all(&["ReqNodes", "NNodes"])?),
            Unit::Cores => (all(&["AllocCPUS", "NCPUS"])?, all(&["ReqCPUS", "NCPUS"])?),
        };
        // If the log contains only numbers of processors, these numbers are used as sizes.
        let by_cores = self.source.size == Unit::Nodes && ran.is_empty();
        let ran = if ran.is_empty() { all(&["AllocCPUS", "NCPUS"])? } else { ran };
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
        if self.source.running && elapsed_raw.or(elapsed).is_none() {
            let what = "running=yes needs the column ElapsedRaw or Elapsed for the run time so far";
            return Err(ReadStop::Header(what.to_string()));
        }
        self.places = Some(Places {
            id: columns.need("JobID")?,
            submit: columns.need("Submit")?,
            start: columns.need("Start")?,
            state: columns.need("State")?,
            name: columns.find("JobName")?,
            eligible: match self.source.submit {
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
            list: columns.find("NodeList")?,
            user: columns.find("User")?,
            account: columns.find("Account")?,
            partition: columns.find("Partition")?,
            // Without requested sizes, allocated sizes are used.
            asked: if asked.is_empty() { ran.clone() } else { asked },
            ran,
            by_cores,
        });
        self.columns = Some(columns);
        Ok(())
    }
}

/// Returns the delimiter of a header: the first character that cannot be part of a column name.
fn delimiter(line: Line<'_>) -> Option<u8> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = line.text.trim_start().chars().find(|c| !of_name(*c))?;
    u8::try_from(first).ok().filter(|first| first.is_ascii() && *first != b'"')
}

/// Splits a line. Surplus fields become parts of the job name.
fn cut<'a>(
    line: Line<'a>,
    columns: &'a Columns,
    delimiter: u8,
    trailing: bool,
    name: Option<usize>,
    cells: &'a mut Vec<Cell>,
) -> Result<Row<'a>, Fault> {
    let end = char::from(delimiter);
    let text = if trailing { line.text.strip_suffix(end).unwrap_or(line.text) } else { line.text };
    let line = Line { text, ..line };
    Cell::unquoted(text, delimiter, cells);
    let more = cells.len().saturating_sub(columns.len());
    if let Some(name) = name.filter(|_| more > 0) {
        Cell::join(cells, name, more);
    }
    columns.checked(line, cells)
}

/// Reads a point in time; `None` if the field is empty or states that the time is unknown.
fn time(row: Row<'_>, index: usize, zone: &Zone) -> Result<Option<Moment>, Fault> {
    let text = row.text(index);
    if NOTHING.contains(&text) {
        return Ok(None);
    }
    match digits(text) {
        Some(time) => Ok(Some(Moment::at(time))),
        None => row.date(index, zone).map(Some),
    }
}

/// Returns the first number above 0 among the fields at `places`.
fn size(row: Row<'_>, places: &[usize]) -> Result<i64, Fault> {
    for &index in places {
        let text = row.text(index);
        let number = if NOTHING.contains(&text) { Some(0) } else { digits(text) };
        match number {
            Some(0) => {}
            Some(number) => return Ok(number),
            None => return Err(row.fault(index, Reason::NotANumber)),
        }
    }
    Ok(0)
}

/// Returns the first word of a state: `CANCELLED` for `CANCELLED by 2017`, and for `CANCELLED+`, which Slurm writes in
/// narrow columns.
pub(super) fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default().trim_end_matches('+')
}

/// Classifies a state of Slurm by its first word. Returns the status, whether the job has ended, and whether
/// the word is known.
pub(super) fn state(word: &str) -> (i64, bool, bool) {
    match word {
        "COMPLETED" => (status::COMPLETED, true, true),
        "FAILED" | "NODE_FAIL" | "BOOT_FAIL" | "OUT_OF_MEMORY" | "DEADLINE" | "TIMEOUT" => {
            (status::FAILED, true, true)
        }
        "CANCELLED" | "REVOKED" => (status::CANCELLED, true, true),
        "PREEMPTED" | "REQUEUED" | "SUSPENDED" => (status::PARTIAL, true, true),
        "RUNNING" | "PENDING" | "RESIZING" | "COMPLETING" | "CONFIGURING" => (UNKNOWN, false, true),
        _ => (status::FAILED, true, false),
    }
}

impl Log for Sacct {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let (Some(columns), Some(places)) = (&self.columns, &self.places) else {
            return self.header(line);
        };
        let Places { submit, start, .. } = *places;
        let zone = &self.source.zone;
        let cells = &mut self.cells;
        let row = cut(line, columns, self.delimiter, self.trailing, places.name, cells)?;
        let number = line.number;

        // An id has one of the forms N, N.step, N_T, N_[T-T:S%M] and N+K.
        let id = row.text(places.id);
        let digits_in_front = id.bytes().take_while(u8::is_ascii_digit).count();
        let kind = &id[digits_in_front..];
        if digits_in_front == 0 {
            return Err(row.fault(places.id, Reason::NotAJob).into());
        }
        if kind.contains('.') && !kind.starts_with("_[") {
            sink.passed(number, "step of a job", 1);
            return Ok(());
        }
        if let Some(tasks) = kind.strip_prefix("_[") {
            let tasks = tasks.split(['%', ']']).next().unwrap_or_default();
            // Slurm truncates long lists of tasks with `,...`, unless SLURM_BITSTR_LEN is 0.
            let cut = tasks.strip_suffix(",...");
            let tasks = cut.unwrap_or(tasks);
            let Some((count, ranges)) = pending_arrays::tasks(tasks) else {
                return Err(row.fault(places.id, Reason::NotAJob).into());
            };
            if cut.is_some() {
                sink.noted(number, "list of tasks truncated by Slurm");
            }
            let taken = match sink.is_of_several() {
                true => self.pending.take(&id[..digits_in_front], ranges, sink.place(number)),
                false => Taken::Full,
            };
            match taken {
                Taken::New => sink.dropped(number, dropped::NOT_STARTED),
                Taken::Again => sink.dropped(number, dropped::SAME_ARRAY),
                Taken::Full => {
                    sink.dropped(number, dropped::NOT_STARTED);
                    sink.noted_times(number, noted::TASKS, count);
                }
            }
            return Ok(());
        }
        let part = match kind.as_bytes().first() {
            None => None,
            Some(b'_') => Some("task of an array"),
            Some(b'+') => Some("part of a heterogeneous job"),
            _ => return Err(row.fault(places.id, Reason::NotAJob).into()),
        };
        let task = part.and_then(|_| digits(&kind[1..]));
        if part.is_some() && task.is_none() {
            return Err(row.fault(places.id, Reason::NotAJob).into());
        }
        if let (Some(task), true) = (task, kind.starts_with('_')) {
            // The task is now a separate job, even if it is dropped later.
            self.pending.started(&id[..digits_in_front], task as u64);
        }

        let submitted = time(row, submit, zone)?;
        let submitted = submitted.ok_or_else(|| row.fault(submit, Reason::Empty))?;
        let started = time(row, start, zone)?;
        let ended = places.end.map(|end| time(row, end, zone)).transpose()?.flatten();
        let elapsed = match (places.elapsed_raw, places.elapsed) {
            (Some(raw), _) if !NOTHING.contains(&row.text(raw)) => {
                Some(row.read(raw, Reason::NotANumber, digits)?)
            }
            (_, Some(index)) if !NOTHING.contains(&row.text(index)) => {
                Some(row.read(index, Reason::NotADuration, slurm_duration)?)
            }
            _ => None,
        };
        let (status, over, known) = state(first_word(row.text(places.state)));
        // If a job was cancelled while it waited, older versions of Slurm record the time of cancellation as its start,
        // and no nodes.
        let no_time = elapsed.unwrap_or(0) == 0 && (ended.is_none() || ended == started);
        let had_none = status == status::CANCELLED && no_time && size(row, &places.ran)? == 0;
        let started = started.filter(|_| !had_none);
        let is_open = started.is_some() && ended.is_none() && places.end.is_some();
        // A job that may continue has no end yet. For other jobs, the elapsed time determines the end.
        let may_go_on = !known || status == status::PARTIAL;
        let unfinished = !over || (is_open && (may_go_on || elapsed.is_none()));
        let is_known = self.source.running && started.is_some() && elapsed.is_some();
        if unfinished && !is_known {
            sink.dropped(number, dropped::UNFINISHED);
            return Ok(());
        }
        let sizes = match started {
            Some(_) => &places.ran,
            None => &places.asked,
        };
        let size = size(row, sizes)?;
        if size == 0 && sizes.iter().all(|&at| NOTHING.contains(&row.text(at))) {
            sink.dropped(number, dropped::NO_SIZE);
            return Ok(());
        }
        let eligible = places.eligible.map(|at| time(row, at, zone)).transpose()?.flatten();
        let times = in_order(submitted, started, ended.filter(|_| over), elapsed);
        let (submitted, started, ended) = (times.submit, times.start, times.end);
        let eligible = eligible.map(|eligible| eligible.earlier);
        let later = eligible.filter(|&eligible| eligible > submitted);
        let from = later.unwrap_or(submitted);
        let (wait, run) = match started {
            None => (UNKNOWN, 0),
            Some(started) => {
                let ended = ended.or(elapsed.map(|elapsed| started.saturating_add(elapsed)));
                (started - from, ended.map_or(UNKNOWN, |ended| ended - started))
            }
        };
        if started.is_some() && (wait < 0 || run < 0) {
            let without_end = ended.is_none() && elapsed.is_none();
            sink.dropped(
                number,
                match (wait < 0, without_end) {
                    (true, _) => dropped::WAIT,
                    (false, true) => dropped::NO_END,
                    (false, false) => dropped::RUN,
                },
            );
            return Ok(());
        }
        let raw = row.perhaps(places.limit_raw);
        let estimate = match (places.limit_raw, places.limit) {
            (Some(index), _) if !UNBOUNDED.contains(&raw) => {
                Some(row.read(index, Reason::NotANumber, digits)?.saturating_mul(60))
            }
            (_, Some(index)) if !UNBOUNDED.contains(&row.text(index)) => {
                Some(row.read(index, Reason::NotADuration, slurm_duration)?)
            }
            _ => None,
        };
        let list = row.perhaps(places.list);
        let list = if list == "None assigned" || NOTHING.contains(&list) { "" } else { list };
        let allocated = places.allocated.map(|at| row.text(at)).and_then(digits);
        let (list, odd_list) = match count_nodes(list) {
            Ok(0) => ("", None),
            Ok(named) => {
                let unlike = allocated.is_some_and(|nodes| nodes as u64 != named);
                (list, unlike.then_some(noted::UNLIKE))
            }
            Err(why) => ("", Some(why)),
        };

        let kept = sink.job(
            number,
            &Entry {
                id,
                submit: from,
                wait,
                run,
                size,
                requested: places
                    .requested
                    .map(|at| row.text(at))
                    .and_then(digits)
                    .unwrap_or(UNKNOWN),
                estimate,
                status: if started.is_none() { status::CANCELLED } else { status },
                user: row.perhaps(places.user),
                group: row.perhaps(places.account),
                queue: row.perhaps(places.partition),
                nodes: list,
                ..Entry::NONE
            },
        )?;
        if !kept {
            return Ok(());
        }
        if places.by_cores {
            sink.noted(number, "size in processors, because no column has numbers of nodes");
        }
        if is_open && over && !unfinished {
            sink.noted(number, "end computed from the elapsed time, because the log has no end");
        }
        if let Some(note) = times.note {
            sink.noted(number, note);
        }
        if let Some(what) = odd_list {
            sink.noted(number, what);
        }
        if let Some(part) = part {
            sink.noted(number, part);
        }
        if !known {
            sink.noted(number, "unknown state, treated as failed");
        }
        if later.is_some() {
            sink.noted(number, "submission moved to the time at which the job became eligible");
        }
        if started.is_none() {
            sink.noted(number, noted::NEVER_STARTED);
        } else if ended.is_some() && elapsed.is_some_and(|elapsed| elapsed.abs_diff(run) > 1) {
            sink.noted(number, noted::ELAPSED);
        }
        Ok(())
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }

    fn names(&self, line: Line<'_>) -> Option<Columns> {
        let columns = Columns::read(line, delimiter(line)?).ok()?;
        Some(columns.without_last_if_empty().0)
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        for (place, tasks) in std::mem::take(&mut self.pending).finish() {
            sink.noted_at(place, noted::TASKS, tasks);
        }
    }
}
