//! Any table of text, by a [`ColumnMap`].

use super::entry::{Entry, Line, UNKNOWN, dropped, status};
use super::map::{Clock, ColumnMap, Span, Unit};
use super::row::{Cell, Columns, Row};
use super::source::Source;
use super::value::{date, hours, number, seconds, whole};
use super::{Fault, Log, Reason, Sink, Stop};
use crate::workload::nodes;

/// Places of the columns that a map names.
struct Places {
    id: Option<usize>,
    submit: usize,
    start: Option<usize>,
    end: Option<usize>,
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

/// The log.
pub(super) struct Mapped {
    source: Source,
    map: ColumnMap,
    columns: Columns,
    places: Option<Places>,
    cells: Vec<Cell>,
    before: String,
}

impl Mapped {
    pub fn new(source: Source, map: ColumnMap) -> Mapped {
        let (columns, before) = Default::default();
        Mapped { source, map, columns, places: None, cells: Vec::new(), before }
    }

    fn header(&mut self, line: Line<'_>) -> Result<(), Stop> {
        self.columns = Columns::read(line, self.map.separator as u8)?;
        let fields = &self.map.columns;
        let need = |name: &String| self.columns.need(name);
        let perhaps = |name: &Option<String>| name.as_ref().map(need).transpose();
        let span = |span: &Option<Span>| {
            let found = |span: &Span| -> Result<(usize, Unit), Stop> {
                Ok((self.columns.need(span.column())?, span.unit()))
            };
            span.as_ref().map(found).transpose()
        };
        self.places = Some(Places {
            id: perhaps(&fields.id)?,
            submit: need(&fields.submit)?,
            start: perhaps(&fields.start)?,
            end: perhaps(&fields.end)?,
            wait: span(&fields.wait)?,
            run: span(&fields.run)?,
            size: need(&fields.size)?,
            estimate: span(&fields.estimate)?,
            status: fields.status.as_ref().map(|status| need(&status.column)).transpose()?,
            user: perhaps(&fields.user)?,
            group: perhaps(&fields.group)?,
            queue: perhaps(&fields.queue)?,
            nodes: perhaps(&fields.nodes)?,
        });
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

/// A point in time; `None` where nothing stands.
fn time(row: Row<'_>, index: usize, map: &ColumnMap) -> Result<Option<i64>, Fault> {
    if row.text(index).is_empty() {
        return Ok(None);
    }
    let time = match map.time {
        Clock::Iso => row.read(index, Reason::NotATime, |text| date(text, map.zone())),
        Clock::Unix | Clock::Seconds => row.read(index, Reason::NotATime, seconds),
        Clock::UnixMs => {
            let time = row.read(index, Reason::NotATime, seconds);
            time.map(|time| time.div_euclid(1000))
        }
    };
    time.map(Some)
}

/// A span of time in seconds; `None` where nothing stands.
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
        Unit::Seconds => times(1.0),
        Unit::Minutes => times(60.0),
        Unit::Hours => times(3600.0),
        Unit::Clock => row.read(index, Reason::NotADuration, hours),
    };
    span.map(Some)
}

impl Log for Mapped {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let Some(places) = &self.places else { return self.header(line) };
        let row = self.columns.row(line, self.map.separator as u8, &mut self.cells)?;
        let submit = time(row, places.submit, &self.map)?;
        let submit = submit.ok_or_else(|| row.fault(places.submit, Reason::Empty))?;
        let perhaps = |place: Option<usize>| match place {
            Some(index) => time(row, index, &self.map),
            None => Ok(None),
        };
        let (start, end) = (perhaps(places.start)?, perhaps(places.end)?);
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

        let number = line.number;
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
        let mut known = UNKNOWN;
        if let (Some(at), Some(words)) = (places.status, &self.map.columns.status) {
            let word = row.text(at);
            let has = |words: &[String]| words.iter().any(|own| own == word);
            known = match [&words.ok, &words.failed, &words.cancelled].map(|words| has(words)) {
                [true, ..] => status::COMPLETED,
                [_, true, _] => status::FAILED,
                [.., true] => status::CANCELLED,
                _ => {
                    sink.noted(number, "status that the map does not know");
                    UNKNOWN
                }
            };
        }
        if let Some(id) = places.id.map(|at| row.text(at)) {
            if id == self.before {
                sink.noted(number, "the same job again");
            }
            self.before.clear();
            self.before.push_str(id);
        }
        sink.job(
            number,
            &Entry {
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
            },
        )?;
        Ok(())
    }

    fn is_begun(&self) -> bool {
        self.places.is_some()
    }
}
