//! Accounting records of Torque and PBS.
//!
//! ```text
//! 03/18/2017 00:46:07;E;6335100.bw;user=anna qtime=1489795200 start=1489795522 end=1489797967 ..
//! ```
//!
//! A line is `date time;type;job;key=value key=value ..`. Only lines of type `E` (ended) become jobs. A job that was
//! deleted (`D`) or aborted (`A`) is counted if the log contains no line of type `E` for this job. Lines of other types
//! are passed over. If a key is repeated, its last value is used. A word without a key is part of the preceding value.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::duplicates::{Known, Seen};
use super::entry::{Entry, Line, UNKNOWN, dropped, noted, status};
use super::source::{Source, Submit, Unit};
use super::value::{digits, hours, is_american, whole};
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
    hosts: &'a str,
    exit: &'a str,
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
                "total_execution_slots" | "Resource_List.ncpus" => &mut values.slots,
                "exec_host" => &mut values.hosts,
                "Exit_status" => &mut values.exit,
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

/// Returns whether a text denotes slots of a host. Torque writes numbers and ranges separated by commas; PBS writes a
/// slot and a count, `0*12`.
fn are_slots(text: &str) -> bool {
    let parts = text.split([',', '-', '*']);
    parts.into_iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the number of nodes or processors that `2:ppn=4+3:fast` requests. The name of a host is counted as one node.
fn requested(text: &str, unit: Unit) -> Option<i64> {
    text.split('#').next()?.split('+').try_fold(0i64, |sum, chunk| {
        let mut parts = chunk.split(':');
        let nodes = match parts.next()? {
            "" => return None,
            count if count.bytes().all(|byte| byte.is_ascii_digit()) => digits(count)?,
            _ => 1,
        };
        let each = parts.find_map(|part| part.strip_prefix("ppn=")).map_or(Some(1), digits)?;
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
        if let Some((place, records)) = self.gone.remove(&key) {
            sink.passed_at(place, EVENT, records);
        }
        if self.ended.take(id) == Known::Full {
            sink.noted(number, noted::NOT_COMPARED);
        }
        let text = parts.next().unwrap_or_default();
        let values = Values::read(text);
        let needed = |field: &str, value: &str, read: fn(&str) -> Option<i64>, reason| match value {
            "" => Err(fault(line, Reason::Empty, field, text)),
            value => read(value).ok_or_else(|| fault(line, reason, field, value)),
        };
        let queued = match values.qtime {
            "" => needed("ctime", values.ctime, digits, Reason::NotATime)?,
            qtime => needed("qtime", qtime, digits, Reason::NotATime)?,
        };
        let start = needed("start", values.start, digits, Reason::NotATime)?;
        let end = needed("end", values.end, digits, Reason::NotATime)?;
        let eligible = match (self.source.submit, values.etime) {
            (Submit::Eligible, etime) if !etime.is_empty() => {
                Some(needed("etime", etime, digits, Reason::NotATime)?)
            }
            _ => None,
        };
        let later = eligible.filter(|&eligible| eligible > queued);
        let submit = later.unwrap_or(queued);
        let estimate = match values.walltime {
            "" => None,
            limit => Some(needed("Resource_List.walltime", limit, hours, Reason::NotADuration)?),
        };
        let exit = match values.exit {
            "" => None,
            exit => Some(needed("Exit_status", exit, whole, Reason::NotANumber)?),
        };
        // A host occurs once for each of its slots; in most cases these occurrences are consecutive.
        let mut hosts: Vec<&str> = Vec::new();
        // If another field contains the size, the job is kept, and an invalid host only removes the job's list of
        // nodes.
        let is_sized = self.source.size == Unit::Cores
            || [values.unique, values.nodect].iter().any(|size| !size.is_empty());
        for item in values.hosts.split('+').filter(|item| !item.is_empty()) {
            let (host, slots) = item.split_once('/').unwrap_or((item, "0"));
            if host.is_empty() || !are_slots(slots) {
                if !is_sized {
                    return Err(fault(line, Reason::NotANodeList, "exec_host", item).into());
                }
                sink.about(noted::NO_LIST);
                hosts.clear();
                break;
            }
            if hosts.last() != Some(&host) {
                hosts.push(host);
            }
        }
        let in_order = hosts.clone();
        hosts.sort_unstable();
        hosts.dedup();
        let size = match self.source.size {
            Unit::Cores if values.slots.is_empty() && !values.nodes.is_empty() => {
                let read = |text: &str| requested(text, Unit::Cores);
                needed("Resource_List.nodes", values.nodes, read, Reason::NotANumber)?
            }
            Unit::Cores => {
                needed("total_execution_slots", values.slots, digits, Reason::NotANumber)?
            }
            Unit::Nodes => match (values.unique, values.nodect) {
                ("", "") if hosts.is_empty() && !values.nodes.is_empty() => {
                    let read = |text: &str| requested(text, Unit::Nodes);
                    needed("Resource_List.nodes", values.nodes, read, Reason::NotANumber)?
                }
                ("", "") => hosts.len() as i64,
                ("", nodect) => needed("Resource_List.nodect", nodect, digits, Reason::NotANumber)?,
                (unique, _) => needed("unique_node_count", unique, digits, Reason::NotANumber)?,
            },
        };
        if self.source.size == Unit::Nodes && !hosts.is_empty() && hosts.len() as i64 != size {
            sink.about(noted::UNLIKE);
        }
        let (wait, run) = (start - submit, end - start);
        if wait < 0 || run < 0 {
            sink.dropped(number, if wait < 0 { dropped::WAIT } else { dropped::RUN });
            return Ok(());
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
