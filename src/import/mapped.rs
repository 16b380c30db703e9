//! Any table, by a [`ColumnMap`]: rows into jobs, and text into rows.

use super::entry::{Entry, Line, UNKNOWN, dropped, status};
use super::map::{Clock, ColumnMap, Span, Status, Unit};
use super::row::{Cell, Columns, Row};
use super::sacct;
use super::source::Source;
use super::value::{bare, hours, number, seconds, whole};
use super::zone::{Moment, Zone, in_order};
use super::{Fault, Log, Reason, Sink, Stop};
use crate::workload::nodes;

/// What a table says itself of a column, whatever the map says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Nothing: text or numbers.
    No,
    /// Points in time, given as dates.
    Date,
    /// Spans of time, given in seconds.
    Span,
}

/// Places of the columns that a map names.
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

/// Makes jobs of rows.
pub(super) struct Jobs {
    source: Source,
    status: Option<Status>,
    zone: Zone,
    places: Places,
    before: String,
}

impl Jobs {
    /// With the columns that there are.
    pub fn new(
        source: &Source,
        map: &ColumnMap,
        columns: &Columns,
        typed: impl Fn(usize) -> Typed,
    ) -> Result<Jobs, Stop> {
        let fields = &map.columns;
        let need = |name: &String| columns.need(name);
        let perhaps = |name: &Option<String>| name.as_ref().map(need).transpose();
        let time = |name: &String| {
            let place = need(name)?;
            Ok::<_, Stop>((place, if typed(place) == Typed::Date { Clock::Iso } else { map.time }))
        };
        let span = |span: &Option<Span>| {
            let found = |span: &Span| -> Result<(usize, Unit), Stop> {
                let place = need(&span.column().to_string())?;
                let unit = if typed(place) == Typed::Span { Unit::Seconds } else { span.unit() };
                Ok((place, unit))
            };
            span.as_ref().map(found).transpose()
        };
        let places = Places {
            id: perhaps(&fields.id)?,
            submit: time(&fields.submit)?,
            start: fields.start.as_ref().map(time).transpose()?,
            end: fields.end.as_ref().map(time).transpose()?,
            wait: span(&fields.wait)?,
            run: span(&fields.run)?,
            size: need(&fields.size)?,
            estimate: span(&fields.estimate)?,
            status: fields.status.as_ref().map(|status| need(&status.column)).transpose()?,
            user: perhaps(&fields.user)?,
            group: perhaps(&fields.group)?,
            queue: perhaps(&fields.queue)?,
            nodes: perhaps(&fields.nodes)?,
        };
        let (source, status, zone) = (source.clone(), fields.status.clone(), map.zone());
        if source.join && places.id.is_none() {
            return Err(Stop::Header("join=yes needs the column id in the map".to_string()));
        }
        Ok(Jobs { source, status, zone, places, before: String::new() })
    }

    /// The columns that are read.
    #[cfg(feature = "frame")]
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

    /// A point in time; `None` where nothing stands.
    fn time(&self, row: Row<'_>, place: (usize, Clock)) -> Result<Option<Moment>, Fault> {
        let (index, clock) = place;
        if row.text(index).is_empty() {
            return Ok(None);
        }
        let number = || row.read(index, Reason::NotATime, seconds);
        let time = match clock {
            Clock::Iso => row.date(index, self.zone)?,
            Clock::Unix | Clock::Seconds => Moment::at(number()?),
            Clock::UnixMs => Moment::at(number()?.div_euclid(1000)),
        };
        Ok(Some(time))
    }

    /// What a job's word for its end says: a status, and whether it has ended.
    fn status(&self, row: Row<'_>, sink: &mut Sink<'_>) -> (i64, bool) {
        let (Some(at), Some(words)) = (self.places.status, &self.status) else {
            return (UNKNOWN, true);
        };
        let word = row.text(at);
        if words.slurm {
            let (status, over, known) = sacct::state(sacct::first_word(word));
            if !known {
                sink.noted(row.line.number, "unknown state, taken as failed");
            }
            return (status, over);
        }
        let has = |words: &[String]| words.iter().any(|own| own == word);
        let status = match [&words.ok, &words.failed, &words.cancelled].map(|words| has(words)) {
            [true, ..] => status::COMPLETED,
            [_, true, _] => status::FAILED,
            [.., true] => status::CANCELLED,
            _ => {
                sink.noted(row.line.number, "status that the map does not know");
                UNKNOWN
            }
        };
        (status, true)
    }

    /// Makes a job of a row, or counts it.
    pub fn row(&mut self, row: Row<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let places = &self.places;
        let submit = self.time(row, places.submit)?;
        let submit = submit.ok_or_else(|| row.fault(places.submit.0, Reason::Empty))?;
        let perhaps = |place: Option<(usize, Clock)>| match place {
            Some(place) => self.time(row, place),
            None => Ok(None),
        };
        let times = in_order(submit, perhaps(places.start)?, perhaps(places.end)?);
        let (submit, start, end) = (times.submit, times.start, times.end);
        let (wait, run) = (span(row, places.wait)?, span(row, places.run)?);
        let estimate = span(row, places.estimate)?.filter(|&estimate| estimate > 0);
        let wait = wait.or(start.map(|start| start.saturating_sub(submit)));
        let begin = start.or(wait.map(|wait| submit.saturating_add(wait)));
        let run = run.or(begin.and_then(|begin| Some(end?.saturating_sub(begin))));
        let size = size(row, places.size, self.source.round_up)?;
        let list = row.perhaps(places.nodes);
        if let (Some(at), Err(_)) = (places.nodes, nodes::count(list)) {
            return Err(row.fault(at, Reason::NotANodeList).into());
        }

        let number = row.line.number;
        let (mut known, over) = self.status(row, sink);
        if !over {
            sink.dropped(number, dropped::UNFINISHED);
            return Ok(());
        }
        // A job that never started has no start and yet an end.
        let cancelled = end.is_some() || known == status::CANCELLED;
        let idle = places.start.is_some() && begin.is_none() && cancelled;
        let run = if idle { Some(0) } else { run };
        let Some(run) = run else {
            sink.dropped(number, dropped::NO_RUN);
            return Ok(());
        };
        if run < 0 || wait.is_some_and(|wait| wait < 0) {
            sink.dropped(number, if run < 0 { dropped::RUN } else { dropped::WAIT });
            return Ok(());
        }
        let Some(size) = size else {
            sink.dropped(number, dropped::FRACTION);
            return Ok(());
        };
        if let Some(note) = times.note {
            sink.noted(number, note);
        }
        if idle {
            known = status::CANCELLED;
            sink.noted(number, "never started");
        }
        let id = bare(row.perhaps(places.id));
        if places.id.is_some() {
            if id == self.before && !self.source.join {
                sink.noted(number, "the same job again");
            }
            self.before.clear();
            self.before.push_str(id);
        }
        let entry = Entry {
            id,
            submit,
            wait: wait.unwrap_or(UNKNOWN),
            run,
            size,
            estimate: estimate.unwrap_or(UNKNOWN),
            status: known,
            user: row.perhaps(places.user),
            group: row.perhaps(places.group),
            queue: row.perhaps(places.queue),
            nodes: list,
            ..Entry::NONE
        };
        let kept = sink.job(number, &entry)?;
        if let (Some((_, Unit::Either)), Some(limit), true) = (places.estimate, estimate, kept) {
            let within = run <= limit.saturating_mul(60);
            sink.limit(number, known == status::COMPLETED, within);
        }
        Ok(())
    }
}

/// A size: whole, or rounded up if it has a fraction and may be; `None` if it may not.
pub(super) fn size(row: Row<'_>, index: usize, round_up: bool) -> Result<Option<i64>, Fault> {
    if let Some(size) = whole(row.text(index)) {
        return Ok(Some(size));
    }
    let size = row.read(index, Reason::NotANumber, number)?;
    Ok(round_up.then_some(size.ceil() as i64))
}

/// A span of time in seconds, or in whatever [`Unit::Either`] will turn out to be; `None` where
/// nothing stands.
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

/// A table of text.
pub(super) struct Mapped {
    source: Source,
    map: ColumnMap,
    columns: Columns,
    jobs: Option<Jobs>,
    cells: Vec<Cell>,
}

impl Mapped {
    pub fn new(source: Source, map: ColumnMap) -> Mapped {
        Mapped { source, map, columns: Columns::default(), jobs: None, cells: Vec::new() }
    }
}

impl Log for Mapped {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let separator = self.map.separator as u8;
        let Some(jobs) = &mut self.jobs else {
            self.columns = Columns::read(line, separator)?;
            let typed = |_| Typed::No;
            self.jobs = Some(Jobs::new(&self.source, &self.map, &self.columns, typed)?);
            return Ok(());
        };
        jobs.row(self.columns.row(line, separator, &mut self.cells)?, sink)
    }

    fn begin(&mut self) {
        self.jobs = None;
    }

    fn is_begun(&self) -> bool {
        self.jobs.is_some()
    }
}
