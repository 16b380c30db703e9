//! `lsb.acct`, the accounting records of LSF.
//!
//! ```text
//! "JOB_FINISH" "10.1" 1527327585 7610 1000 33554438 1 1527326745 0 0 1527326746 "ann" "normal" ..
//! ```
//!
//! A record is a line of fields that are separated by blanks; texts are in quotes, and a quote in a text is doubled. Only
//! records `JOB_FINISH` become jobs. The fields up to `command` are the same in versions 5 to 10; later versions append
//! fields. Lists of hosts have a length in front of them, so the positions of later fields vary.
//!
//! The documentation lists `options3` before `runLimit`; LSF writes `runLimit` first.

use super::entry::{Entry, Line, UNKNOWN, count_nodes, dropped, noted, status};
use super::row::Cell;
use super::source::{Source, Submit, Unit};
use super::value::{digits, happened, is_not_set, known_time, whole};
use super::{Fault, Log, ReadStop, Reason, Sink};

/// Positions of fields in front of the lists of hosts.
mod field {
    pub const EVENT_TIME: usize = 2;
    pub const JOB: usize = 3;
    pub const PROCESSORS: usize = 6;
    pub const SUBMIT: usize = 7;
    pub const BEGIN: usize = 8;
    pub const START: usize = 10;
    pub const USER: usize = 11;
    pub const QUEUE: usize = 12;
    pub const RESOURCES: usize = 13;
    /// Number of hosts that the user asked for. The hosts, the number of execution hosts, and the execution hosts follow.
    pub const ASKED: usize = 22;
}

/// Positions of fields after the execution hosts, counted from the status of the job.
mod after {
    pub const PROJECT: usize = 24;
    pub const MOST_PROCESSORS: usize = 26;
    pub const INDEX: usize = 29;
    pub const EXIT_INFO: usize = 38;
    pub const LAST_RESIZE: usize = 50;
    /// Number of pairs of a key and a value, which follow.
    pub const EXTENSIONS: usize = 53;
}

/// Position of the time in the run state, counted from the run limit.
const RUN_TIME: usize = 13;

/// Bits of the status of a job.
const DONE: i64 = 0x40;
const EXIT: i64 = 0x20;

/// Reasons for the termination of a job by its owner or an administrator: `TERM_FORCE_OWNER`, `TERM_FORCE_ADMIN`,
/// `TERM_OWNER`, `TERM_ADMIN`, `TERM_BUCKET_KILL`.
const KILLED: [i64; 5] = [8, 9, 14, 15, 23];

/// Numbers from this one on stand for an unlimited time.
const UNLIMITED: i64 = 0x7fff_ffff;

/// A reader of LSF's accounting records.
pub(super) struct Lsf {
    source: Source,
    cells: Vec<Cell>,
    id: String,
    list: String,
}

impl Lsf {
    pub fn new(source: Source) -> Lsf {
        let (cells, id, list) = Default::default();
        Lsf { source, cells, id, list }
    }
}

/// Splits a line at blanks; texts are in quotes.
fn split(text: &str, cells: &mut Vec<Cell>) -> Result<(), Fault> {
    cells.clear();
    let bytes = text.as_bytes();
    let is_blank = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let mut at = 0;
    while at < bytes.len() {
        if is_blank(at) {
            at += 1;
            continue;
        }
        let start = at;
        if bytes[at] != b'"' {
            while !is_blank(at) {
                at += 1;
            }
            cells.push(Cell { start, end: at, doubled: false });
            continue;
        }
        let (mut end, mut doubled) = (start + 1, false);
        let is_closed = loop {
            match (bytes.get(end), bytes.get(end + 1)) {
                (Some(b'"'), Some(b'"')) => (end, doubled) = (end + 2, true),
                (Some(b'"'), _) => break is_blank(end + 1),
                (Some(_), _) => end += 1,
                (None, _) => break false,
            }
        };
        if !is_closed {
            let (field, text) = ("field".to_string(), text[start..].to_string());
            return Err(Fault { reason: Reason::Quote, field, at: start, text });
        }
        cells.push(Cell { start: start + 1, end, doubled });
        at = end + 1;
    }
    Ok(())
}

/// The fields of a record.
struct Fields<'a> {
    line: Line<'a>,
    cells: &'a [Cell],
}

impl<'a> Fields<'a> {
    /// Returns the text of a field; empty if the record ends before it.
    fn text(&self, at: usize) -> &'a str {
        self.cells.get(at).map_or("", |cell| &self.line.text[cell.start..cell.end])
    }

    /// Returns an error about a field.
    #[cold]
    fn fault(&self, at: usize, name: &str, reason: Reason) -> Fault {
        let (reason, start) = match self.cells.get(at) {
            Some(cell) => (reason, cell.start),
            None => (Reason::TooFewFields, self.line.text.len()),
        };
        Fault { reason, field: name.to_string(), at: start, text: self.text(at).to_string() }
    }

    /// Reads a number of 0 or more that every record needs.
    fn number(&self, at: usize, name: &str, reason: Reason) -> Result<i64, Fault> {
        digits(self.text(at)).ok_or_else(|| self.fault(at, name, reason))
    }

    /// Reads the length of a list.
    fn length(&self, at: usize, name: &str) -> Result<usize, Fault> {
        let length = self.number(at, name, Reason::NotANumber)?;
        // The record has at least as many fields as the list has items.
        let length = usize::try_from(length).ok().filter(|&length| length <= self.cells.len());
        length.ok_or_else(|| self.fault(at, name, Reason::TooFewFields))
    }

    /// Returns the position of the run limit, given the position of the status. Records of versions before 8 do not have
    /// this field.
    fn run_limit(&self, status: usize) -> Option<usize> {
        let count = |at: usize| digits(self.text(at)).and_then(|n| usize::try_from(n).ok());
        let extensions = status + after::EXTENSIONS;
        let mut at = (extensions + 1).checked_add(count(extensions)?.checked_mul(2)?)?;
        let hosts = count(at)?;
        at += 1;
        // A host has a name, four measurements and a number of pairs, which follow.
        for _ in 0..hosts {
            at = (at + 6).checked_add(count(at + 5)?.checked_mul(2)?)?;
        }
        (at < self.cells.len()).then_some(at)
    }
}

/// Splits an execution host into its name and its number of slots: `16*host` or `host`; `None` if the text before `*` is
/// not a number.
fn host(text: &str) -> Option<(&str, i64)> {
    match text.split_once('*') {
        Some((count, host)) => Some((host, digits(count)?)),
        None => Some((text, 1)),
    }
}

/// Returns the number of hosts that a resource requirement implies for a number of slots: `span[hosts=1]` or
/// `span[ptile=16]`.
fn hosts(requirement: &str, slots: i64) -> Option<i64> {
    let (_, span) = requirement.split_once("span[")?;
    let span = span.split(']').next()?.trim();
    if let Some(each) = span.strip_prefix("ptile=") {
        let each = digits(each.trim_matches(['\'', '"'])).filter(|&each| each > 0)?;
        return Some(slots.saturating_add(each - 1) / each);
    }
    span.strip_prefix("hosts=").and_then(digits).filter(|&hosts| hosts == 1)
}

impl Log for Lsf {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        if line.text.starts_with('#') {
            sink.passed(line.number, "comment", 1);
            return Ok(());
        }
        split(line.text, &mut self.cells)?;
        let fields = Fields { line, cells: &self.cells };
        let kind = fields.text(0);
        if kind != "JOB_FINISH" {
            let is_type = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if kind.is_empty() || !kind.chars().all(is_type) || !line.text.starts_with('"') {
                return Err(fields.fault(0, "event type", Reason::NotAnEvent).into());
            }
            sink.passed(line.number, "event other than the end of a job", 1);
            return Ok(());
        }
        let time = |at, name| fields.number(at, name, Reason::NotATime).map(happened);
        let needed = |at, name| match known_time(fields.text(at)) {
            Some(time) => Ok(time),
            None => Err(fields.fault(at, name, Reason::NotATime)),
        };
        let end = needed(field::EVENT_TIME, "event time")?;
        let job = fields.number(field::JOB, "jobId", Reason::NotAJob)?;
        let wanted = fields.number(field::PROCESSORS, "numProcessors", Reason::NotANumber)?;
        // The number of hosts is computed from this number only if it is known.
        let wanted = if is_not_set(wanted) { 0 } else { wanted };
        let submitted = needed(field::SUBMIT, "submitTime")?;
        let begin = time(field::BEGIN, "beginTime")?;
        let start = time(field::START, "startTime")?;
        let asked = fields.length(field::ASKED, "numAskedHosts")?;
        let first = field::ASKED + asked + 2;
        let count = fields.length(first - 1, "numExHosts")?;
        let at = first + count;
        let state = fields.number(at, "jStatus", Reason::NotANumber)?;
        // Records of all versions have this field.
        fields.number(at + after::MOST_PROCESSORS, "maxNumProcessors", Reason::NotANumber)?;

        let number = |place: usize| whole(fields.text(at + place));
        let later = Some(begin)
            .filter(|&begin| self.source.submit == Submit::Eligible && begin > submitted);
        let submit = later.unwrap_or(submitted);
        let (mut names, mut slots): (Vec<&str>, i64) = (Vec::new(), 0);
        for at in first..first + count {
            let Some((name, count)) = host(fields.text(at)) else {
                return Err(fields.fault(at, "execHosts", Reason::NotANodeList).into());
            };
            slots = slots.saturating_add(count);
            if !name.is_empty() && names.last() != Some(&name) {
                names.push(name);
            }
        }
        // A host occurs once for each of its slots; in most cases these occurrences are consecutive.
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < names.len() {
            names = sorted;
        }
        let is_of_nodes = self.source.size == Unit::Nodes;
        let requested = match is_of_nodes {
            true => hosts(fields.text(field::RESOURCES), wanted),
            false => Some(wanted).filter(|&wanted| wanted > 0).or(number(after::MOST_PROCESSORS)),
        };
        let requested = requested.filter(|&requested| requested > 0);
        let is_idle = start == 0;
        let (wait, run) = if is_idle { (UNKNOWN, 0) } else { (start - submit, end - start) };
        if !is_idle && (wait < 0 || run < 0) {
            sink.dropped(line.number, if wait < 0 { dropped::WAIT } else { dropped::RUN });
            return Ok(());
        }
        let found = if is_of_nodes { names.len() as i64 } else { slots };
        let found = Some(found).filter(|&found| found > 0 && !is_idle);
        let Some(size) = found.or(requested) else {
            sink.dropped(line.number, if is_idle { dropped::IDLE } else { dropped::NO_SIZE });
            return Ok(());
        };
        if is_idle {
            sink.about(noted::NEVER_STARTED);
        } else if found.is_none() {
            sink.about(noted::REQUESTED);
        }
        if later.is_some() {
            sink.about("submission moved to the time at which the job became eligible");
        }
        if number(after::LAST_RESIZE).is_some_and(|resized| resized > start) && !is_idle {
            sink.about("resized job; its last allocation is used for the whole run");
        }
        let limit = fields.run_limit(at);
        let ran = limit.and_then(|limit| digits(fields.text(limit + RUN_TIME)));
        if ran.is_some_and(|ran| ran > 0 && ran + 1 < run) {
            sink.about("suspended for a part of its run; the run time includes this part");
        }
        let status = match (state & DONE != 0, state & EXIT != 0) {
            _ if is_idle => status::CANCELLED,
            (true, _) => status::COMPLETED,
            (_, true) if number(after::EXIT_INFO).is_some_and(|why| KILLED.contains(&why)) => {
                status::CANCELLED
            }
            (_, true) => status::FAILED,
            _ => {
                sink.about("unknown state, treated as failed");
                status::FAILED
            }
        };
        self.id.clear();
        self.id.push_str(&job.to_string());
        if let Some(index) = number(after::INDEX).filter(|&index| index > 0) {
            self.id.push_str(&format!("[{index}]"));
        }
        self.list.clear();
        if !is_idle {
            self.list.push_str(&names.join(","));
        }
        if let Err(why) = count_nodes(&self.list) {
            self.list.clear();
            sink.about(why);
        }
        let limit = limit.and_then(|limit| digits(fields.text(limit)));
        let entry = Entry {
            id: &self.id,
            submit,
            wait,
            run,
            size,
            requested: requested.unwrap_or(UNKNOWN),
            estimate: limit.filter(|limit| (1..UNLIMITED).contains(limit)),
            status,
            user: fields.text(field::USER),
            group: fields.text(at + after::PROJECT),
            queue: fields.text(field::QUEUE),
            nodes: &self.list,
            ..Entry::NONE
        };
        sink.job(line.number, &entry)?;
        Ok(())
    }

    fn separator(&self) -> Option<u8> {
        Some(b' ')
    }
}
