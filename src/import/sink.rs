//! Where jobs go: numbered, counted, their names numbered, and out as SWF.

use std::collections::HashMap;
use std::io::{self, Write};

use super::entry::{Entry, UNKNOWN, dropped};
use super::spill::{FIELDS, Spill};
use super::{Class, Fault, Import, ImportError, LineFault, Place, Report, plain};
use crate::swf::{Header, Record, Writer, header_fields};
use crate::workload::stochastic::write_shape;

/// Names of one sort that the header lists; more would make it no header.
const LISTED: usize = 100_000;

/// Times are this far from each other at most: more than a log spans, and exact in a record.
const SPAN: i64 = 1 << 50;

/// Names by first appearance, from 1.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, i64>,
    listed: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> i64 {
        if name.is_empty() {
            return UNKNOWN;
        }
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as i64 + 1;
        self.numbers.insert(name.to_string(), number);
        if self.listed.len() < LISTED {
            self.listed.push(plain(name).into_owned());
        }
        number
    }
}

/// Takes what the lines of a log come to.
pub(super) struct Sink<'a> {
    how: Import,
    nodes: Option<&'a mut dyn Write>,
    shapes: Option<&'a mut dyn Write>,
    spill: Spill,
    users: Names,
    groups: Names,
    queues: Names,
    first: i64,
    last: i64,
    report: Report,
    first_fault: Option<LineFault>,
    /// Seconds in what estimates are told in.
    per_estimate: i64,
}

impl<'a> Sink<'a> {
    /// Nothing yet.
    pub fn new(
        how: &Import,
        mut nodes: Option<&'a mut dyn Write>,
        mut shapes: Option<&'a mut dyn Write>,
    ) -> Result<Sink<'a>, ImportError> {
        let begin = |out: &mut Option<&'a mut dyn Write>, header: &str| match out {
            Some(out) => writeln!(out, "{header}").map_err(ImportError::Output),
            None => Ok(()),
        };
        begin(&mut nodes, "job,nodes")?;
        begin(&mut shapes, crate::workload::stochastic::SHAPES_HEADER)?;
        let unit = if how.source.kind.is_parquet() { Place::Row } else { Place::Line };
        let report = Report { file: how.file.clone(), unit, ..Report::default() };
        let spill = Spill::new(&how.scratch);
        let (users, groups, queues) = Default::default();
        let (first, last) = (i64::MAX, i64::MIN);
        let (how, first_fault) = (how.clone(), None);
        Ok(Sink {
            how,
            nodes,
            shapes,
            spill,
            users,
            groups,
            queues,
            first,
            last,
            report,
            first_fault,
            per_estimate: 1,
        })
    }

    /// A job, and whether it is kept: its times or its size may be impossible.
    pub fn job(&mut self, line: u64, entry: &Entry<'_>) -> io::Result<bool> {
        let &Entry { submit, wait, run, size, requested, estimate, status, .. } = entry;
        let (first, last) = (self.first.min(submit), self.last.max(submit));
        let far = |time: i64| !(UNKNOWN..SPAN).contains(&time);
        if last.checked_sub(first).is_none_or(far) || far(wait) || far(run) || far(estimate) {
            self.dropped(line, dropped::FAR);
            return Ok(false);
        }
        if size <= 0 {
            self.dropped(line, dropped::SIZE);
            return Ok(false);
        }
        (self.first, self.last) = (first, last);
        self.report.jobs += 1;
        let number = self.report.jobs;
        if let (Some(out), false) = (&mut self.nodes, entry.nodes.is_empty()) {
            writeln!(out, "{number},\"{}\"", plain(entry.nodes).replace('"', ""))?;
            self.report.nodes += 1;
        }
        if let (Some(out), Some(shape)) = (&mut self.shapes, entry.shape) {
            write_shape(number as i64, shape, out)?;
            self.report.shapes += 1;
        }
        let user = self.users.number(entry.user);
        let group = self.groups.number(entry.group);
        let queue = self.queues.number(entry.queue);
        let numbers = [submit, wait, run, size, requested, estimate, status, user, group, queue];
        self.spill.push(numbers).map(|()| true)
    }

    /// A job that cannot be replayed.
    pub fn dropped(&mut self, line: u64, why: &'static str) {
        self.report.add(Class::Dropped, why, line, 1);
    }

    /// Something about a job that is kept.
    pub fn noted(&mut self, line: u64, what: &'static str) {
        self.report.add(Class::Noted, what, line, 1);
    }

    /// Estimates of so many jobs were told in a unit of so many seconds.
    pub fn estimates(&mut self, line: u64, what: &'static str, jobs: u64, seconds: i64) {
        self.report.add(Class::Noted, what, line, jobs);
        self.per_estimate = seconds;
    }

    /// So many of what is no job.
    pub fn passed(&mut self, line: u64, what: &'static str, count: u64) {
        self.report.add(Class::Passed, what, line, count);
    }

    /// A malformed line: an error, unless more may be skipped.
    pub fn malformed(&mut self, line: u64, text: &str, fault: Fault) -> Result<(), ImportError> {
        self.report.add_malformed(fault.reason, line);
        let file = self.how.file.clone();
        let limit = self.how.max_errors;
        if limit == 0 || self.first_fault.is_none() {
            let unit = self.report.unit;
            let text = text.to_string();
            let found = LineFault { file: file.clone(), unit, line, fault, text };
            if limit == 0 {
                return Err(ImportError::Line(Box::new(found)));
            }
            self.first_fault = Some(found);
        }
        if self.report.of(Class::Malformed) <= limit as u64 {
            return Ok(());
        }
        let report = Box::new(std::mem::take(&mut self.report));
        match self.first_fault.take().map(Box::new) {
            Some(first) => Err(ImportError::TooMany { file, limit, report, first }),
            None => Ok(()),
        }
    }

    /// Writes the trace.
    pub fn finish(mut self, lines: u64, out: &mut dyn Write) -> Result<Report, ImportError> {
        self.report.lines = lines;
        if self.report.jobs == 0 {
            let (file, report) = (self.how.file.clone(), Box::new(self.report));
            return Err(ImportError::NoJobs { file, report });
        }
        let sides = [self.nodes, self.shapes];
        for out in sides.into_iter().flatten() {
            out.flush().map_err(ImportError::Output)?;
        }
        let jobs = self.report.jobs.to_string();
        let start = self.first.to_string();
        let source = format!("replay import {}", self.how.source);
        let mut fields = vec![("Version", "2.2"), ("Note", &*source)];
        if self.how.source.kind.has_dates(self.how.map.as_ref()) {
            fields.push(("UnixStartTime", &*start));
        }
        fields.extend([("MaxJobs", &*jobs), ("MaxRecords", &*jobs)]);
        let processors = self.how.processors.map(|processors| processors.to_string());
        if let Some(processors) = &processors {
            fields.push(("MaxProcs", processors));
        }
        let of = |key, names: Names| {
            let entries = names.listed.into_iter().zip(1..);
            entries.map(move |(name, number): (String, i64)| (key, format!("{number} {name}")))
        };
        let named = of("User", self.users).chain(of("Group", self.groups));
        let named: Vec<_> = named.chain(of("Queue", self.queues)).collect();
        fields.extend(named.iter().map(|(key, value)| (*key, value.as_str())));
        let header = header_fields(&fields).map_err(ImportError::Output)?;
        let mut writer = Writer::new(out);
        let (spill, first, per_estimate) = (self.spill, self.first, self.per_estimate);
        let mut number = 0;
        writer
            .write_header(&Header::parse(header.as_bytes()))
            .and_then(|()| {
                spill.read(|fields| {
                    number += 1;
                    writer.write_record(&record(number, first, per_estimate, fields))
                })
            })
            .and_then(|()| writer.into_inner().flush())
            .map_err(ImportError::Output)?;
        Ok(self.report)
    }
}

/// The record of a job.
fn record(number: i64, first: i64, per_estimate: i64, fields: [i64; FIELDS]) -> Record {
    let [submit, wait, run, size, requested, estimate, status, user, group, queue] = fields;
    // None is longer than 2^50.
    let estimate = if estimate > 0 { estimate * per_estimate } else { estimate };
    Record {
        job_number: number,
        submit_time: (submit - first) as f64,
        wait_time: wait as f64,
        run_time: run as f64,
        allocated_processors: size,
        requested_processors: if requested > 0 { requested } else { size },
        requested_time: estimate as f64,
        status,
        user,
        group,
        queue,
        ..Record::UNKNOWN
    }
}
