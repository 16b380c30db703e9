//! Accounting records of Torque and PBS.
//!
//! ```text
//! 03/18/2017 00:46:07;E;6335100.bw;user=anna qtime=1489795200 start=1489795522 end=1489797967 ..
//! ```
//!
//! A line is `date time;type;job;key=value key=value ..`. Only lines of type `E` (ended) become jobs. A job that was
//! deleted (`D`) or aborted (`A`) is counted if the log contains no line of type `E` for this job. Lines of other types
//! are passed over. If a key is repeated, its last value is used. A word without a key is part of the preceding value.
//!
//! PBS also writes lines for an array as a whole, with an id such as `4[]` or `4[1-9]`. These lines are not jobs; each
//! task of the array, such as `4[1]`, has lines of its own.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::duplicates::{Known, Seen};
use super::entry::{Entry, Line, UNKNOWN, dropped, noted, status};
use super::source::{Source, Submit, Unit};
use super::value::{
    digits, event, hours, is_american, is_not_set, known_time, leading, number as decimal,
    pbs_duration, whole,
};
use super::{Fault, Log, ReadStop, Reason, Sink};

/// A reader of Torque's accounting records.
pub(super) struct Torque {
    source: Source,
    /// Deleted or aborted jobs for which no end has been read so far. The key is the hash of the job; the value is the
    /// file and line of the job's first record and the number of its records.
    gone: HashMap<u64, ((usize, u64), u64)>,
    /// Jobs that have ended.
    ended: Seen,
    list: String,
}

/// Reason for passing over a record that is not the end of a job.
const EVENT: &str = "event other than the end of a job";

/// Reason for passing over a record of an array.
const ARRAY: &str = "record of an array, whose tasks are jobs of their own";

/// Notes about values that cannot be used as they are. A line for which another value is used is a repaired line.
const QTIME: &str = "unreadable qtime; ctime is used";
const ETIME: &str = "unreadable etime, ignored";
const LIMIT: &str = "unreadable time limit, treated as unknown";
const LIMIT_TEXT: &str = "text after the time limit, ignored";
const EXIT: &str = "unreadable exit status, treated as unknown";
const SIZE: &str = "unreadable size; another field of the record is used";
const SIZE_TEXT: &str = "text after the size, ignored";

impl Torque {
    pub fn new(source: Source) -> Torque {
        let (gone, ended, list) = Default::default();
        Torque { source, gone, ended, list }
    }
}

/// Returns an error at the position of `part`, which is a slice of the line.
#[cold]
fn fault(line: Line<'_>, reason: Reason, field: &str, part: &str) -> Fault {
    let at = (part.as_ptr() as usize).checked_sub(line.text.as_ptr() as usize);
    let at = at.filter(|at| at + part.len() <= line.text.len()).unwrap_or(0);
    Fault { reason, field: field.to_string(), at, text: part.to_string() }
}

/// The relevant values of a line.
#[derive(Default)]
struct Values<'a> {
    qtime: &'a str,
    ctime: &'a str,
    etime: &'a str,
    start: &'a str,
    end: &'a str,
    walltime: &'a str,
    unique: &'a str,
    nodect: &'a str,
    nodes: &'a str,
    slots: &'a str,
    cpus: &'a str,
    hosts: &'a str,
    exit: &'a str,
    indices: &'a str,
    user: &'a str,
    group: &'a str,
    queue: &'a str,
}

impl<'a> Values<'a> {
    fn read(text: &'a str) -> Values<'a> {
        let mut values = Values::default();
        // The current key, and the offset of its value. Words without a key extend the value.
        let (mut key, mut begin) = ("", 0);
        for pair in text.split_ascii_whitespace() {
            let at = pair.as_ptr() as usize - text.as_ptr() as usize;
            if let Some((own, _)) = pair.split_once('=') {
                (key, begin) = (own, at + own.len() + 1);
            }
            let value = &text[begin..at + pair.len()];
            let slot = match key {
                "qtime" => &mut values.qtime,
                "ctime" => &mut values.ctime,
                "etime" => &mut values.etime,
                "start" => &mut values.start,
                "end" => &mut values.end,
                "Resource_List.walltime" => &mut values.walltime,
                "unique_node_count" => &mut values.unique,
                "Resource_List.nodect" => &mut values.nodect,
                "Resource_List.nodes" => &mut values.nodes,
                "total_execution_slots" => &mut values.slots,
                "Resource_List.ncpus" => &mut values.cpus,
                "exec_host" => &mut values.hosts,
                "Exit_status" => &mut values.exit,
                "array_indices" => &mut values.indices,
                "user" => &mut values.user,
                "group" => &mut values.group,
                "queue" => &mut values.queue,
                _ => continue,
            };
            *slot = value;
        }
        values
    }
}

/// Returns whether an id denotes an array, or a range of its tasks, rather than a job: `4[]`, `4[1-9]`.
fn is_array(id: &str) -> bool {
    let index = id.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    index.is_some_and(|(index, _)| digits(index).is_none())
}

/// Returns the number of slots of a host in `exec_host`; `None` if the text does not denote slots. Torque writes numbers
/// and ranges separated by commas; PBS writes a slot and a count, `0*12`.
fn slots(text: &str) -> Option<i64> {
    text.split(',').try_fold(0i64, |sum, part| {
        let count = match (part.split_once('-'), part.split_once('*')) {
            (Some((first, last)), None) => digits(last)? - digits(first)? + 1,
            // `0*1,024` is not a list.
            (None, Some((slot, count))) if part.len() == text.len() => {
                digits(slot).and(digits(count))?
            }
            (None, None) => digits(part).and(Some(1))?,
            _ => return None,
        };
        sum.checked_add(count)
    })
}

/// Returns the number of nodes or processors that `2:ppn=4+3:fast` requests. The name of a host is counted as one node.
fn requested(text: &str, unit: Unit) -> Option<i64> {
    text.split('#').next()?.split('+').try_fold(0i64, |sum, chunk| {
        let mut parts = chunk.split(':');
        let nodes = match parts.next()? {
            "" => return None,
            count if count.bytes().all(|byte| byte.is_ascii_digit()) => digits(count)?,
            // A number with separators of thousands, or with a fraction, is not the name of a host.
            name if name.contains([',', '\'', ' ']) || decimal(name).is_some() => return None,
            _ => 1,
        };
        let each = parts.find_map(|part| part.strip_prefix("ppn=")).map_or(Some(1), digits)?;
        if is_not_set(nodes) || is_not_set(each) {
            return None;
        }
        let each = if unit == Unit::Cores { each } else { 1 };
        sum.checked_add(nodes.checked_mul(each)?)
    })
}

impl Log for Torque {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop> {
        let number = line.number;
        let mut parts = line.text.splitn(4, ';');
        let (when, kind) = (parts.next().unwrap_or_default(), parts.next());
        if !is_american(when) {
            return Err(fault(line, Reason::NotATime, "date", when).into());
        }
        let (Some(kind), Some(id)) = (kind, parts.next()) else {
            let end = &line.text[line.text.len()..];
            return Err(fault(line, Reason::TooFewFields, "record", end).into());
        };
        if is_array(id) {
            sink.passed(number, ARRAY, 1);
            return Ok(());
        }
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let key = hasher.finish();
        match kind {
            "E" => {}
            // A job may be deleted while it ends.
            "D" | "A" if self.ended.has(id) => {
                sink.passed(number, EVENT, 1);
                return Ok(());
            }
            "D" | "A" => {
                self.gone.entry(key).or_insert((sink.place(number), 0)).1 += 1;
                return Ok(());
            }
            _ => {
                sink.passed(number, EVENT, 1);
                return Ok(());
            }
        }
        let text = parts.next().unwrap_or_default();
        let values = Values::read(text);
        if !values.indices.is_empty() {
            sink.passed(number, ARRAY, 1);
            return Ok(());
        }
        if let Some((place, records)) = self.gone.remove(&key) {
            sink.passed_at(place, EVENT, records);
        }
        if self.ended.take(id) == Known::Full {
            sink.noted(number, noted::NOT_COMPARED);
        }
        let needed = |field: &str, value: &str, read: fn(&str) -> Option<i64>, reason| match value {
            "" => Err(fault(line, Reason::Empty, field, text)),
            value => read(value).ok_or_else(|| fault(line, reason, field, value)),
        };
        let queued = match (known_time(values.qtime), known_time(values.ctime)) {
            (Some(qtime), _) => qtime,
            (None, Some(ctime)) => {
                if !values.qtime.is_empty() {
                    sink.repaired(number, QTIME);
                }
                ctime
            }
            (None, None) if values.qtime.is_empty() => {
                needed("ctime", values.ctime, known_time, Reason::NotATime)?
            }
            (None, None) => needed("qtime", values.qtime, known_time, Reason::NotATime)?,
        };
        let start = needed("start", values.start, event, Reason::NotATime)?;
        let end = needed("end", values.end, event, Reason::NotATime)?;
        let eligible = match self.source.submit {
            Submit::Eligible => known_time(values.etime),
            Submit::Submitted => None,
        };
        if self.source.submit == Submit::Eligible && eligible.is_none() && !values.etime.is_empty()
        {
            sink.about(ETIME);
        }
        let later = eligible.filter(|&eligible| eligible > queued);
        let submit = later.unwrap_or(queued);
        let limit = pbs_duration(values.walltime).map(|limit| (limit, false));
        // Text may follow a complete time only: `48:x` is not 48 seconds.
        let limit = limit.or_else(|| leading(values.walltime, hours));
        let estimate = match (values.walltime, limit) {
            ("", _) => None,
            (_, Some((limit, has_more))) => {
                if has_more {
                    sink.repaired(number, LIMIT_TEXT);
                }
                Some(limit)
            }
            (_, None) => {
                sink.about(LIMIT);
                None
            }
        };
        let exit = match (values.exit, leading(values.exit, whole)) {
            (_, Some((exit, _))) => Some(exit),
            ("", None) => None,
            (_, None) => {
                sink.about(EXIT);
                None
            }
        };
        // A host occurs once for each of its slots; in most cases these occurrences are consecutive.
        let (mut hosts, mut cores): (Vec<&str>, i64) = (Vec::new(), 0);
        let mut odd_host = None;
        for item in values.hosts.split('+').filter(|item| !item.is_empty()) {
            let (host, text) = item.split_once('/').unwrap_or((item, "0"));
            let Some(count) = slots(text).filter(|&count| count > 0 && !host.is_empty()) else {
                odd_host = Some(item);
                hosts.clear();
                break;
            };
            cores = cores.saturating_add(count);
            if hosts.last() != Some(&host) {
                hosts.push(host);
            }
        }
        let in_order = hosts.clone();
        hosts.sort_unstable();
        hosts.dedup();
        let is_of_nodes = self.source.size == Unit::Nodes;
        let counts: &[(&str, &str)] = match self.source.size {
            Unit::Cores => {
                &[("total_execution_slots", values.slots), ("Resource_List.ncpus", values.cpus)]
            }
            Unit::Nodes => {
                &[("unique_node_count", values.unique), ("Resource_List.nodect", values.nodect)]
            }
        };
        let found = if is_of_nodes { hosts.len() as i64 } else { cores };
        let found = Some(found).filter(|_| !hosts.is_empty());
        // The field that contains no number, for the error if no field contains the size.
        let mut bad: Option<(&str, &str)> = None;
        let mut size = None;
        for &(field, value) in counts.iter().filter(|(_, value)| !value.is_empty()) {
            match leading(value, digits) {
                // A number of 0 states nothing, because the job has run.
                Some((0, _)) => {}
                Some((count, _)) if is_not_set(count) => {}
                Some((count, false)) => size = Some(count),
                Some((count, true)) => {
                    // The nodes of the job are more certain than a number with text after it.
                    sink.repaired(number, SIZE_TEXT);
                    size = found.or(Some(count));
                }
                None => bad = bad.or(Some((field, value))),
            }
            if size.is_some() {
                break;
            }
        }
        let wanted = requested(values.nodes, self.source.size);
        let size = size.or(found.filter(|_| is_of_nodes)).or(wanted).or(found);
        let Some(size) = size else {
            let nodes = Some(("Resource_List.nodes", values.nodes));
            let bad = bad.or(nodes.filter(|_| !values.nodes.is_empty()));
            let (reason, field, value) = match (bad, odd_host) {
                (Some((field, value)), _) => (Reason::NotANumber, field, value),
                (None, Some(item)) => (Reason::NotANodeList, "exec_host", item),
                (None, None) => {
                    sink.dropped(number, dropped::NO_SIZE);
                    return Ok(());
                }
            };
            return Err(fault(line, reason, field, value).into());
        };
        if bad.is_some() {
            sink.repaired(number, SIZE);
        }
        if odd_host.is_some() {
            sink.about(noted::NO_LIST);
        }
        if is_of_nodes && !hosts.is_empty() && hosts.len() as i64 != size {
            sink.about(noted::UNLIKE);
        }
        if end == 0 && start > 0 {
            sink.dropped(number, dropped::NO_END);
            return Ok(());
        }
        // A record without a start belongs to a job that ended before it started.
        let is_idle = start == 0 && queued > 0;
        let (wait, run) = if is_idle { (UNKNOWN, 0) } else { (start - submit, end - start) };
        if !is_idle && (wait < 0 || run < 0) {
            sink.dropped(number, if wait < 0 { dropped::WAIT } else { dropped::RUN });
            return Ok(());
        }
        if is_idle {
            sink.about(noted::NEVER_STARTED);
        }
        if later.is_some() {
            sink.about("submission moved to the time at which the job became eligible");
        }
        self.list.clear();
        let once = if in_order.len() == hosts.len() { in_order } else { hosts };
        for host in once {
            if !self.list.is_empty() {
                self.list.push(',');
            }
            self.list.push_str(host);
        }
        sink.job(
            number,
            &Entry {
                id,
                submit,
                wait,
                run,
                size,
                estimate,
                status: match exit {
                    _ if is_idle => status::CANCELLED,
                    None => UNKNOWN,
                    Some(0) => status::COMPLETED,
                    Some(exit) if exit == 271 || exit < 0 => status::CANCELLED,
                    Some(_) => status::FAILED,
                },
                user: values.user,
                group: values.group,
                queue: values.queue,
                nodes: &self.list,
                ..Entry::NONE
            },
        )?;
        Ok(())
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        for (place, records) in std::mem::take(&mut self.gone).into_values() {
            sink.passed_at(place, "deleted or aborted job without an end", 1);
            if records > 1 {
                sink.passed_at(place, "further record of a job without an end", records - 1);
            }
        }
    }
}
