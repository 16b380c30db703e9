//! Reader of tables with a [`ColumnMap`]: splits text into rows, and converts rows of text or Parquet tables to jobs.

use std::borrow::Cow;

use super::entry::{Entry, Line, UNKNOWN, count_nodes, dropped, noted, status};
use super::map::{Clock, ColumnMap, Span, Status, Unit};
use super::row::{Cell, Columns, Row};
use super::slurm;
use super::source::{Limit, Source};
use super::value::{bare, hours, number, seconds, whole};
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

/// Positions of the columns that a map names.
struct Places {
    id: Option<usize>,
    submit: (usize, Clock),
    start: Option<(usize, Clock)>,
    end: Option<(usize, Clock)>,
    wait: Option<(usize, Unit)>,
    run: Option<(usize, Unit)>,
    size: usize,
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
    zone: Zone,
    places: Places,
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
        let need = |name: &String| columns.need(name);
        let perhaps = |name: &Option<String>| name.as_ref().map(need).transpose();
        let time = |name: &String| {
            let place = need(name)?;
            Ok::<_, ReadStop>((
                place,
                if typed(place) == Typed::Date { Clock::Iso } else { map.time },
            ))
        };
        let span = |span: &Option<Span>| {
            let found = |span: &Span| -> Result<(usize, Unit), ReadStop> {
                let place = need(&span.column().to_string())?;
                let unit = if typed(place) == Typed::Span { Unit::Seconds } else { span.unit() };
                Ok((place, unit))
            };
            span.as_ref().map(found).transpose()
        };
        let is_open = fields.estimate.as_ref().is_some_and(|span| span.unit() == Unit::Either);
        let limit_note = match source.limit {
            Limit::Minutes if is_open => Some("limit read in minutes"),
            Limit::Seconds if is_open => Some("limit read in seconds"),
            _ => None,
        };
        let places = Places {
            id: perhaps(&fields.id)?,
            submit: time(&fields.submit)?,
            start: fields.start.as_ref().map(time).transpose()?,
            end: fields.end.as_ref().map(time).transpose()?,
            wait: span(&fields.wait)?,
            run: span(&fields.run)?,
            size: need(&fields.size)?,
            estimate: span(&fields.estimate)?.map(|(place, unit)| match (unit, source.limit) {
                (Unit::Either, Limit::Minutes) => (place, Unit::Minutes),
                (Unit::Either, Limit::Seconds) => (place, Unit::Seconds),
                _ => (place, unit),
            }),
            status: fields.status.as_ref().map(|status| need(&status.column)).transpose()?,
            user: perhaps(&fields.user)?,
            group: perhaps(&fields.group)?,
            queue: perhaps(&fields.queue)?,
            nodes: perhaps(&fields.nodes)?,
        };
        let (source, status, zone) = (source.clone(), fields.status.clone(), map.zone());
        if source.join && places.id.is_none() {
            return Err(ReadStop::Header(
                "join=yes needs the key \"id\" in [columns] of the map".to_string(),
            ));
        }
        Ok(Jobs { source, status, zone, places, limit_note })
    }

    /// Returns the indices of the columns that are read.
    pub fn columns(&self) -> Vec<usize> {
        let Places { id, submit, start, end, wait, run, size, .. } = &self.places;
        let Places { estimate, status, user, group, queue, nodes, .. } = &self.places;
        let times = [Some(*submit), *start, *end].into_iter().flatten().map(|(place, _)| place);
        let spans = [wait, run, estimate].into_iter().flatten().map(|(place, _)| *place);
        let others = [Some(*size), *id, *status, *user, *group, *queue, *nodes];
        let mut all: Vec<usize> = times.chain(spans).chain(others.into_iter().flatten()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Reads a point in time; `None` if the field is empty.
    fn time(&self, row: Row<'_>, place: (usize, Clock)) -> Result<Option<Moment>, Fault> {
        let (index, clock) = place;
        if row.text(index).is_empty() {
            return Ok(None);
        }
        let number = || row.read(index, Reason::NotATime, seconds);
        let time = match clock {
            Clock::Iso => row.date(index, &self.zone)?,
            Clock::Unix | Clock::Seconds => Moment::at(number()?),
            Clock::UnixMs => Moment::at(number()?.saturating_add(500).div_euclid(1000)),
        };
        Ok(Some(time))
    }

    /// Returns the status of a job, and whether the job has ended.
    fn status(&self, row: Row<'_>, sink: &mut Sink<'_>) -> (i64, bool) {
        let (Some(at), Some(words)) = (self.places.status, &self.status) else {
            return (UNKNOWN, true);
        };
        let word = &*row.unquoted_text(Some(at));
        if words.slurm {
            let (status, over, known) = slurm::state(slurm::first_word(word));
            if !known {
                sink.about("unknown state, treated as failed");
            }
            return (status, over);
        }
        let has = |words: &[String]| words.iter().any(|own| own == word);
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
        let submit = submit.ok_or_else(|| row.fault(places.submit.0, Reason::Empty))?;
        let perhaps = |place: Option<(usize, Clock)>| match place {
            Some(place) => self.time(row, place),
            None => Ok(None),
        };
        let (start, end) = (perhaps(places.start)?, perhaps(places.end)?);
        let (given_wait, given_run) = (span(row, places.wait)?, span(row, places.run)?);
        let times = in_order(submit, start, end, given_run);
        let (submit, start, end) = (times.submit, times.start, times.end);
        let estimate = span(row, places.estimate)?;
        let waited = start.map(|start| start.saturating_sub(submit));
        let wait = given_wait.or(waited);
        let begin = start.or(wait.map(|wait| submit.saturating_add(wait)));
        let ran = begin.and_then(|begin| Some(end?.saturating_sub(begin)));
        let run = given_run.or(ran);
        let is_date =
            |place: Option<(usize, Clock)>| place.is_some_and(|(_, clock)| clock == Clock::Iso);
        if let (Some(given), Some(ran), true) =
            (given_run, ran, is_date(places.start) && is_date(places.end))
        {
            sink.elapsed(row.line.number, given, ran);
        }
        let size = size(row, places.size, self.source.round_up)?;
        let mut list = of_program(row.unquoted_text(places.nodes));
        let odd_list = count_nodes(&list).err();
        if odd_list.is_some() {
            list = "".into();
        }

        let number = row.line.number;
        let (mut known, over) = self.status(row, sink);
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
            sink.dropped(number, if run < 0 { dropped::RUN } else { dropped::WAIT });
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
        let [id, user, group, queue] =
            [places.id, places.user, places.group, places.queue].map(|at| row.unquoted_text(at));
        let entry = Entry {
            id: bare(&id),
            submit,
            wait: wait.unwrap_or(UNKNOWN),
            run,
            size,
            estimate,
            status: known,
            user: &user,
            group: &group,
            queue: &queue,
            nodes: &list,
            ..Entry::NONE
        };
        let kept = sink.job(number, &entry)?;
        let limit = estimate.filter(|&limit| kept && limit > 0);
        if let (Some((_, Unit::Either)), Some(limit)) = (places.estimate, limit) {
            sink.limit(number, limit, known == status::COMPLETED, run);
        }
        if let (Some(note), Some(_)) = (self.limit_note, limit) {
            sink.noted(number, note);
        }
        Ok(())
    }
}

/// Converts a list of nodes in the notation of Python and JSON, `[1, 2]` or `['n1', 'n2']`, to `1,2`.
fn of_program(list: Cow<'_, str>) -> Cow<'_, str> {
    let within = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    match within.filter(|within| !within.contains(['[', ']'])) {
        None => list,
        Some(within) => {
            let items = within.split(',').map(|item| item.trim().trim_matches(['\'', '"']));
            items.collect::<Vec<_>>().join(",").into()
        }
    }
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

/// Reads a duration and converts it to seconds; with [`Unit::Either`], the number is not converted, because its unit is
/// not yet known. Returns `None` if the field is empty.
fn span(row: Row<'_>, place: Option<(usize, Unit)>) -> Result<Option<i64>, Fault> {
    let Some((index, unit)) = place.filter(|(index, _)| !row.text(*index).is_empty()) else {
        return Ok(None);
    };
    let times = |factor: f64| {
        row.read(index, Reason::NotADuration, |text| {
            number(text).map(|number| (number * factor).round() as i64)
        })
    };
    let span = match unit {
        Unit::Seconds | Unit::Either => times(1.0),
        Unit::Minutes => times(60.0),
        Unit::Hours => times(3600.0),
        Unit::Clock => row.read(index, Reason::NotADuration, hours),
    };
    span.map(Some)
}

/// A reader of text tables.
pub(super) struct Mapped {
    source: Source,
    map: ColumnMap,
    columns: Option<Columns>,
    jobs: Option<Jobs>,
    cells: Vec<Cell>,
}

impl Mapped {
    pub fn new(source: Source, map: ColumnMap) -> Mapped {
        Mapped { source, map, columns: None, jobs: None, cells: Vec::new() }
    }
}

impl Log for Mapped {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let separator = self.map.separator as u8;
        let (Some(columns), Some(jobs)) = (&self.columns, &mut self.jobs) else {
            let columns = Columns::read(line, separator)?;
            self.jobs = Some(Jobs::new(&self.source, &self.map, &columns, |_| Typed::No)?);
            self.columns = Some(columns);
            return Ok(());
        };
        jobs.row(columns.row(line, separator, &mut self.cells)?, sink)
    }

    fn separator(&self) -> Option<u8> {
        Some(self.map.separator as u8)
    }

    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        Some(&mut self.columns)
    }
}
