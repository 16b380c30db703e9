//! Reader of tables with a [`ColumnMap`]: splits text into rows, and converts rows of text or Parquet tables to jobs.

use std::borrow::Cow;

use super::entry::{
    Entry, LONGEST_LIMIT, Line, State, UNKNOWN, count_nodes, dropped, noted, status,
};
use super::layouts::GWF_COLUMNS;
use super::map::{Absent, Clock, Column, ColumnMap, Span, Status, Unit};
use super::row::{Cell, Columns, Row};
use super::slurm;
use super::source::{Kind, Limit, Source};
use super::value::{bare, digits, hours, is_not_set, number, seconds, whole};
use super::zone::{Moment, Zone, in_order};
use super::{Fault, Log, ReadStop, Reason, Sink};

/// The type of a column as declared in the table. The declared type takes precedence over the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// No declared type: the column contains text or numbers.
    No,
    /// Points in time, written as dates.
    Date,
    /// Durations, written in seconds.
    Span,
}

/// Number of fields that a record in the Grid Workloads Format needs: those up to the number of processors.
const GWF_NEEDED: usize = 5;

/// Positions of the columns that a map names.
struct Places {
    id: Option<usize>,
    submit: usize,
    start: Option<usize>,
    end: Option<usize>,
    wait: Option<(usize, Unit)>,
    run: Option<(usize, Unit)>,
    size: Option<usize>,
    requested: Option<usize>,
    estimate: Option<(usize, Unit)>,
    status: Option<usize>,
    user: Option<usize>,
    group: Option<usize>,
    queue: Option<usize>,
    nodes: Option<usize>,
}

/// Converts rows to jobs.
pub(super) struct Jobs {
    source: Source,
    status: Option<Status>,
    clock: Clock,
    zone: Zone,
    places: Places,
    /// For each column: whether the table declares dates, and the texts that denote a missing value.
    columns: Vec<(bool, Vec<Absent>)>,
    /// Note about the unit of limits. The note is present only if the format does not define the unit and the user has
    /// specified the unit.
    limit_note: Option<&'static str>,
}

impl Jobs {
    /// Finds the map's columns in the table.
    pub fn new(
        source: &Source,
        map: &ColumnMap,
        columns: &Columns,
        typed: impl Fn(usize) -> Typed,
    ) -> Result<Jobs, ReadStop> {
        let fields = &map.columns;
        let mut texts = vec![map.none.clone(); columns.len()];
        let mut found = |(name, none): (&str, &[Absent])| {
            let place = columns.need(name)?;
            texts[place].extend_from_slice(none);
            Ok::<usize, ReadStop>(place)
        };
        let id = fields.id.as_ref().map(|id| found(id.parts())).transpose()?;
        let submit = found(fields.submit.parts())?;
        let mut perhaps = |column: &Option<Column>| {
            column.as_ref().map(|column| found(column.parts())).transpose()
        };
        let (start, end) = (perhaps(&fields.start)?, perhaps(&fields.end)?);
        let (size, requested) = (perhaps(&fields.size)?, perhaps(&fields.requested)?);
        let nodes = perhaps(&fields.nodes)?;
        let (user, group) = (perhaps(&fields.user)?, perhaps(&fields.group)?);
        let queue = perhaps(&fields.queue)?;
        let mut span = |span: &Option<Span>| {
            let found = |span: &Span| -> Result<(usize, Unit), ReadStop> {
                let place = found(span.parts())?;
                let unit = if typed(place) == Typed::Span { Unit::Seconds } else { span.unit() };
                Ok((place, unit))
            };
            span.as_ref().map(found).transpose()
        };
        let (wait, run, estimate) =
            (span(&fields.wait)?, span(&fields.run)?, span(&fields.estimate)?);
        let is_open = fields.estimate.as_ref().is_some_and(|span| span.unit() == Unit::Either);
        let limit_note = match source.limit {
            Limit::Minutes if is_open => Some("limit read in minutes"),
            Limit::Seconds if is_open => Some("limit read in seconds"),
            _ => None,
        };
        let places = Places {
            id,
            submit,
            start,
            end,
            wait,
            run,
            size,
            requested,
            estimate: estimate.map(|(place, unit)| match (unit, source.limit) {
                (Unit::Either, Limit::Minutes) => (place, Unit::Minutes),
                (Unit::Either, Limit::Seconds) => (place, Unit::Seconds),
                _ => (place, unit),
            }),
            status: fields
                .status
                .as_ref()
                .map(|status| columns.need(&status.column))
                .transpose()?,
            user,
            group,
            queue,
            nodes,
        };
        let dates = |place| typed(place) == Typed::Date;
        let columns = texts.into_iter().enumerate().map(|(place, none)| (dates(place), none));
        let columns = columns.collect();
        let (source, status, zone) = (source.clone(), fields.status.clone(), map.zone());
        if source.join && places.id.is_none() {
            return Err(ReadStop::Header(
                "join=yes needs the key \"id\" in [columns] of the map".to_string(),
            ));
        }
        let clock = map.time.clone();
        Ok(Jobs { source, status, clock, zone, places, columns, limit_note })
    }

    /// Returns the indices of the columns that are read.
    pub fn columns(&self) -> Vec<usize> {
        let &Places { id, submit, start, end, wait, run, size, requested, .. } = &self.places;
        let &Places { estimate, status, user, group, queue, nodes, .. } = &self.places;
        let spans = [wait, run, estimate].into_iter().flatten().map(|(place, _)| place);
        let times = [Some(submit), start, end];
        let others = [size, requested, id, status, user, group, queue, nodes];
        let others = times.into_iter().chain(others).flatten();
        let mut all: Vec<usize> = others.chain(spans).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the text of a field, or the empty text if the field denotes a missing value.
    fn text<'a>(&self, row: Row<'a>, index: usize) -> &'a str {
        let text = row.text(index);
        let is_absent = |(_, none): &(bool, Vec<Absent>)| none.iter().any(|none| none.is(text));
        if self.columns.get(index).is_some_and(is_absent) { "" } else { text }
    }

    /// Returns the text of a field without doubled quotes, or the empty text if the table does not have the column or the
    /// field denotes a missing value.
    fn unquoted_text<'a>(&self, row: Row<'a>, index: Option<usize>) -> Cow<'a, str> {
        let index = index.filter(|&index| !self.text(row, index).is_empty());
        row.unquoted_text(index)
    }

    /// Reads a point in time; `None` if the value is missing.
    fn time(&self, row: Row<'_>, index: usize) -> Result<Option<Moment>, Fault> {
        if self.text(row, index).is_empty() {
            return Ok(None);
        }
        let number = || row.read(index, Reason::NotATime, seconds);
        let is_date = self.columns.get(index).is_some_and(|&(is_date, _)| is_date);
        let clock = if is_date { &Clock::Iso } else { &self.clock };
        let time = match clock {
            Clock::Iso => row.date(index, &self.zone)?,
            Clock::Unix | Clock::Seconds => Moment::at(number()?),
            Clock::UnixMs => Moment::at(number()?.saturating_add(500).div_euclid(1000)),
            Clock::Format(format) => {
                let text = row.unquoted_text(Some(index));
                let time = format.moment(&text, &self.zone);
                time.map_err(|reason| row.fault(index, reason))?
            }
        };
        // Times that are counted from the origin of the log have no such numbers.
        if matches!(clock, Clock::Seconds) || !is_not_set(time.earlier) {
            return Ok(Some(time));
        }
        if index == self.places.submit {
            return Err(row.fault(index, Reason::NotATime));
        }
        Ok(Some(Moment::at(0)))
    }

    /// Reads a duration and converts it to seconds; with [`Unit::Either`], the number is not converted, because its unit is
    /// not yet known. Returns `None` if the value is missing.
    fn span(&self, row: Row<'_>, place: Option<(usize, Unit)>) -> Result<Option<i64>, Fault> {
        let place = place.filter(|(index, _)| !self.text(row, *index).is_empty());
        place.map(|place| span(row, place)).transpose()
    }

    /// Reads a size, see [`size`]; `None` if the value is missing.
    fn size(
        &self,
        row: Row<'_>,
        index: Option<usize>,
    ) -> Result<Option<Result<i64, &'static str>>, Fault> {
        let index = index.filter(|&index| !self.text(row, index).is_empty());
        let size = index.map(|index| size(row, index, self.source.round_up)).transpose()?;
        Ok(size.filter(|size| !size.is_ok_and(is_not_set)))
    }

    /// Returns the status of a job, and whether the job has ended.
    fn status(&self, row: Row<'_>, sink: &mut Sink<'_>) -> (i64, bool) {
        let (Some(at), Some(words)) = (self.places.status, &self.status) else {
            return (UNKNOWN, true);
        };
        let word = &*self.unquoted_text(row, Some(at));
        if word.is_empty() {
            return (UNKNOWN, true);
        }
        if words.slurm {
            let word = slurm::first_word(word);
            let word = digits(word).and_then(|code| CODES.get(code as usize)).unwrap_or(&word);
            let (status, over, known) = slurm::state(word);
            if !known {
                sink.about("unknown state, treated as failed");
            }
            return (status, over);
        }
        let has = |words: &[String]| words.iter().any(|own| own == word);
        if has(&words.running) {
            return (UNKNOWN, false);
        }
        let status = match [&words.ok, &words.failed, &words.cancelled].map(|words| has(words)) {
            [true, ..] => status::COMPLETED,
            [_, true, _] => status::FAILED,
            [.., true] => status::CANCELLED,
            _ => {
                sink.about("status that is not in the map");
                UNKNOWN
            }
        };
        (status, true)
    }

    /// Converts a row to a job; if this is not possible, counts the row.
    pub fn row(&mut self, row: Row<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let places = &self.places;
        let submit = self.time(row, places.submit)?;
        let submit = submit.ok_or_else(|| row.fault(places.submit, Reason::Empty))?;
        let perhaps = |place: Option<usize>| match place {
            Some(place) => self.time(row, place),
            None => Ok(None),
        };
        let (start, end) = (perhaps(places.start)?, perhaps(places.end)?);
        let (given_wait, given_run) = (self.span(row, places.wait)?, self.span(row, places.run)?);
        // A time of 0 since 1970 stands for a missing time.
        let is_zero = |time: Option<Moment>| time == Some(Moment::at(0));
        let has_zero = !matches!(self.clock, Clock::Seconds)
            && submit.earlier > 0
            && (is_zero(start) || is_zero(end));
        let times = in_order(submit, start, end, given_run);
        let (submit, start, end) = (times.submit, times.start, times.end);
        let estimate = self.span(row, places.estimate)?;
        let waited = start.map(|start| start.saturating_sub(submit));
        let wait = given_wait.or(waited);
        let begin = start.or(wait.map(|wait| submit.saturating_add(wait)));
        let ran = begin.and_then(|begin| Some(end?.saturating_sub(begin)));
        let run = given_run.or(ran);
        let is_date = |place: Option<usize>| {
            let declared = place.and_then(|place| self.columns.get(place));
            let is_clock = matches!(self.clock, Clock::Iso | Clock::Format(_));
            declared.is_some_and(|&(is_date, _)| is_date || is_clock)
        };
        if let (Some(given), Some(ran), true) =
            (given_run, ran, is_date(places.start) && is_date(places.end))
        {
            sink.elapsed(row.line.number, given, ran);
        }
        let mut list = node_list(self.unquoted_text(row, places.nodes));
        let (count, odd_list) = match count_nodes(&list) {
            Ok(count) => (count, None),
            Err(why) => {
                list = "".into();
                (0, Some(why))
            }
        };
        // Without a column of allocated sizes, the nodes of a job are its size.
        let own = match places.size {
            Some(_) => self.size(row, places.size)?,
            None => Some(Ok(count as i64)).filter(|_| count > 0),
        };
        let is_allocated = own.is_some_and(|size| size != Ok(0));
        let requested = match self.size(row, places.requested) {
            Err(_) if is_allocated => None,
            requested => requested?,
        };
        let size = match (own, requested) {
            (Some(own), _) if is_allocated => own,
            (_, Some(requested)) => requested,
            (Some(own), None) => own,
            (None, None) => Err(dropped::NO_SIZE),
        };

        let number = row.line.number;
        let (mut known, over) = self.status(row, sink);
        let has_words = self.status.as_ref().is_some_and(|words| words.slurm);
        let state = self.unquoted_text(row, places.status.filter(|_| has_words));
        if !over {
            sink.dropped(number, dropped::UNFINISHED);
            return Ok(());
        }
        // The table may contain a start time for a job that never started; this time is ignored. A job that never
        // started may nevertheless have an end time.
        let has_starts = places.start.is_some() || places.wait.is_some();
        let did_not_run = match run {
            None => known != status::COMPLETED,
            Some(run) => run == 0 && known == status::CANCELLED,
        };
        let idle = has_starts && begin.is_none() && did_not_run;
        let run = if idle { Some(0) } else { run };
        let Some(run) = run else {
            let still_runs = begin.is_some() && known == UNKNOWN;
            sink.dropped(number, if still_runs { dropped::UNFINISHED } else { dropped::NO_RUN });
            return Ok(());
        };
        if run < 0 || wait.is_some_and(|wait| wait < 0) {
            let why = match run < 0 {
                _ if has_zero => dropped::ZERO,
                true => dropped::RUN,
                false => dropped::WAIT,
            };
            sink.dropped(number, why);
            return Ok(());
        }
        if idle && matches!(size, Ok(..=0) | Err(dropped::NO_SIZE)) {
            sink.dropped(number, dropped::IDLE);
            return Ok(());
        }
        let Ok(size) = size.map_err(|why| sink.dropped(number, why)) else {
            return Ok(());
        };
        if let Some(note) = times.note {
            sink.about(note);
        }
        if let Some(what) = odd_list {
            sink.about(what);
        }
        if !is_allocated && !idle && (places.size.or(places.nodes)).is_some() {
            sink.about(noted::REQUESTED);
        }
        if idle {
            known = status::CANCELLED;
            sink.about(noted::NEVER_STARTED);
        }
        for (place, given, other, what) in [
            (places.wait, given_wait, waited, noted::WAIT),
            (places.run, given_run, ran, noted::RUN),
        ] {
            if let (Some(place), Some(given), Some(other)) = (place, given, other)
                && given.abs_diff(other) > grain(row, place)
            {
                sink.about(what);
            }
        }
        let [id, user, group, queue] = [places.id, places.user, places.group, places.queue]
            .map(|at| self.unquoted_text(row, at));
        let entry = Entry {
            id: bare(&id),
            submit,
            wait: wait.unwrap_or(UNKNOWN),
            run,
            size,
            requested: requested.and_then(Result::ok).unwrap_or(UNKNOWN),
            estimate,
            status: known,
            state: State(slurm::first_word(&state)),
            user: &user,
            group: &group,
            queue: &queue,
            nodes: &list,
            ..Entry::NONE
        };
        let kept = sink.job(number, &entry)?;
        let limit = estimate.filter(|limit| kept && (1..=LONGEST_LIMIT).contains(limit));
        if let (Some((_, Unit::Either)), Some(limit)) = (places.estimate, limit) {
            sink.limit(number, limit, known == status::COMPLETED, run);
        }
        if let (Some(note), Some(_)) = (self.limit_note, limit) {
            sink.noted(number, note);
        }
        Ok(())
    }
}

/// The states of Slurm's database, which stores them as numbers from 0.
const CODES: [&str; 12] = [
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
];

/// Converts a list of nodes to items that are separated by commas. In the notation of Python and JSON, `[1, 2]` or
/// `['n1', 'n2']`, items are in brackets and quotes. In the notation of Batsim, OAR and evalys, `0 3-5`, items are
/// separated by blanks.
fn node_list(list: Cow<'_, str>) -> Cow<'_, str> {
    let within = [('[', ']'), ('{', '}')].into_iter().find_map(|(open, close)| {
        let within = list.strip_prefix(open)?.strip_suffix(close)?;
        Some(within).filter(|within| !within.contains([open, close]))
    });
    let Some(text) = within.or_else(|| list.contains(char::is_whitespace).then_some(&*list)) else {
        return list;
    };
    let mut depth = 0;
    let is_between = |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    let items = text.split(is_between).map(|item| item.trim_matches(['\'', '"']));
    items.filter(|item| !item.is_empty()).collect::<Vec<_>>().join(",").into()
}

/// Reads a size: an integer, or a fraction, which is rounded up if `round_up` is set. For any other size, returns
/// the reason for dropping the job.
pub(super) fn size(
    row: Row<'_>,
    index: usize,
    round_up: bool,
) -> Result<Result<i64, &'static str>, Fault> {
    let text = row.text(index);
    if text.is_empty() {
        return Ok(Err(dropped::NO_SIZE));
    }
    if let Some(size) = whole(text) {
        return Ok(Ok(size));
    }
    let size = row.read(index, Reason::NotANumber, number)?;
    Ok(if round_up { Ok(size.ceil() as i64) } else { Err(dropped::FRACTION) })
}

/// Returns the precision of a duration as written, in seconds: one unit of its last digit, but at least 1 s.
fn grain(row: Row<'_>, (index, unit): (usize, Unit)) -> u64 {
    let digits = row.text(index).split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = match unit {
        Unit::Seconds | Unit::Either | Unit::Clock => 1,
        Unit::Minutes => 60,
        Unit::Hours => 3600,
    };
    (unit / 10u64.pow(digits.min(9) as u32)).max(1)
}

/// Reads a duration and converts it to seconds, except for [`Unit::Either`].
fn span(row: Row<'_>, (index, unit): (usize, Unit)) -> Result<i64, Fault> {
    let times = |factor: f64| {
        row.read(index, Reason::NotADuration, |text| {
            number(text).map(|number| (number * factor).round() as i64)
        })
    };
    match unit {
        Unit::Seconds | Unit::Either => times(1.0),
        Unit::Minutes => times(60.0),
        Unit::Hours => times(3600.0),
        Unit::Clock => row.read(index, Reason::NotADuration, hours),
    }
}

/// A reader of text tables.
pub(super) struct Mapped {
    source: Source,
    /// Maps in order of preference. The first map whose columns are in the header of a file is used.
    maps: Vec<ColumnMap>,
    columns: Option<Columns>,
    jobs: Option<Jobs>,
    cells: Vec<Cell>,
}

impl Mapped {
    pub fn new(source: Source, maps: Vec<ColumnMap>) -> Mapped {
        let (columns, jobs, cells) = Default::default();
        Mapped { source, maps, columns, jobs, cells }
    }

    /// Sets the columns of the current file.
    fn take_columns(&mut self, columns: Columns) -> Result<(), ReadStop> {
        let jobs = |map| Jobs::new(&self.source, map, &columns, |_| Typed::No);
        let mut found = self.maps.iter().map(jobs);
        // If no map fits, the error names the column that is missing from the first map.
        let jobs = match found.next() {
            Some(Err(first)) => found.find_map(Result::ok).ok_or(first)?,
            Some(jobs) => jobs?,
            None => return Err(ReadStop::Header("there is no column map".to_string())),
        };
        (self.columns, self.jobs) = (Some(columns), Some(jobs));
        Ok(())
    }

    /// Returns a value that all maps have in common.
    fn of_maps<T>(&self, value: impl Fn(&ColumnMap) -> T) -> Option<T> {
        self.maps.first().map(value)
    }
}

impl Log for Mapped {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let comment = self.of_maps(|map| map.comment).flatten();
        if comment.is_some_and(|comment| line.text.trim_start().starts_with(comment)) {
            sink.passed(line.number, "comment", 1);
            return Ok(());
        }
        let is_gwf = self.source.kind == Kind::Gwf;
        if is_gwf && self.columns.is_none() {
            self.take_columns(Columns::named(GWF_COLUMNS.iter().map(|name| name.to_string())))?;
        }
        let separator = self.separator().unwrap_or(b',');
        let (Some(columns), Some(jobs)) = (&self.columns, &mut self.jobs) else {
            let columns = match separator {
                b' ' => Columns::named(line.text.split_ascii_whitespace().map(str::to_string)),
                _ => Columns::read(line, separator)?,
            };
            return self.take_columns(columns);
        };
        if separator != b' ' {
            return jobs.row(columns.row(line, separator, &mut self.cells)?, sink);
        }
        Cell::between_blanks(line.text, &mut self.cells);
        if is_gwf && self.cells.len() >= GWF_NEEDED {
            // Records of this format may end early, or contain further fields.
            if self.cells.len() != columns.len() {
                sink.about(noted::OTHER_LENGTH);
            }
            self.cells.resize(columns.len(), Cell::EMPTY);
        }
        jobs.row(columns.checked(line, &self.cells)?, sink)
    }

    fn separator(&self) -> Option<u8> {
        self.of_maps(|map| map.separator as u8)
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        (self.source.kind != Kind::Gwf).then_some(&mut self.columns)
    }
}
