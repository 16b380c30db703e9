//! The output stage of an import. The output stage counts the jobs, assigns numbers to jobs and names, and writes SWF.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek, Write};

use super::duplicates::{Known, Rows, Run, Runs, Seen};
use super::entry::{Entry, LONGEST_LIMIT, UNKNOWN, dropped, noted};
use super::row_merge::{Joined, Taken};
use super::select::Filter;
use super::spill::{FIELDS, Spill};
use super::value::{digits, is_not_set};
use super::{Class, ColumnMap, Fault, Import, ImportError, Kind, LineFault, Place, Report, plain};
use replay_workload::swf::{Header, Record, Writer, header_fields};
use replay_workload::workload::sidecar::write_trace_line;
use replay_workload::workload::stochastic::{SHAPES_HEADER, write_shape};

/// Largest number of users, of groups or of queues that the header lists.
const LISTED: usize = 100_000;

/// Largest difference between times. A time difference of this size exceeds the length of any log, and a record
/// represents the difference exactly.
const SPAN: i64 = 1 << 50;

/// Largest number of different numbers of processors per node that are counted.
const SHARES: usize = 1 << 12;

/// Half an hour, and a day, in seconds.
const HALF_HOUR: u64 = 1800;
const DAY: u64 = 86_400;

/// A limit of 31 days, in minutes; few machines grant such a long limit to a job.
const LONG: i64 = 31 * 24 * 60;

/// Names in order of first appearance, numbered from 1.
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

/// The counts that determine whether limits are in minutes or in seconds. Two of the counts are the jobs with a limit
/// and the completed jobs with a limit. The third count is the completed jobs that ran no longer than their limit,
/// where the limit is read in minutes. The fourth count is the number of limits that would be unusually long if they
/// were in minutes.
#[derive(Default)]
struct Limits {
    first: (usize, u64),
    jobs: u64,
    completed: u64,
    within: u64,
    long: u64,
    first_long: (usize, u64),
}

/// A number of jobs, and the place of the first of these jobs.
#[derive(Clone, Copy, Default)]
struct Tally {
    first: (usize, u64),
    jobs: u64,
}

impl Tally {
    fn add(&mut self, place: (usize, u64)) {
        self.first = if self.jobs == 0 { place } else { self.first.min(place) };
        self.jobs += 1;
    }
}

/// The destination of the jobs of a log and of the counts; it writes the trace.
pub(super) struct Sink<'a> {
    how: Import,
    /// Output files for nodes, shapes and ids; `None` for a file that is not written.
    beside: [Option<&'a mut dyn Write>; 3],
    spill: Spill,
    users: Names,
    groups: Names,
    queues: Names,
    first: i64,
    last: i64,
    report: Report,
    first_fault: Option<LineFault>,
    /// Notes about the job of the current line. Notes are counted only if the job is kept.
    about: Vec<&'static str>,
    limits: Limits,
    /// Jobs without an estimate.
    no_limit: Tally,
    /// Jobs whose elapsed time differs from end minus start by half hours, and by other times.
    shifted: Tally,
    unlike_elapsed: u64,
    /// Jobs by partition and processors per node.
    shares: HashMap<i64, HashMap<i64, Tally>>,
    filter: Filter,
    joined: Joined,
    /// Ids of jobs in the current file.
    ids: Seen,
    earlier_ids: Seen,
    /// Rows of the files, if there are several files.
    rows: Rows,
    /// Runs of jobs, for kinds of logs that may contain several records of a run.
    runs: Runs,
    /// Values of jobs that a later record of the same run replaced, by number of the job.
    replaced: BTreeMap<u64, [i64; FIELDS]>,
    several: bool,
    /// Hash of the current file's text, if there are several files.
    text: Option<blake3::Hasher>,
    texts: Vec<(blake3::Hash, String)>,
}

impl<'a> Sink<'a> {
    /// Creates a sink and writes the headers of all files except the trace.
    pub fn new(
        how: &Import,
        mut beside: [Option<&'a mut dyn Write>; 3],
    ) -> Result<Sink<'a>, ImportError> {
        let headers = ["job,nodes", SHAPES_HEADER, "job,id"];
        for (out, header) in beside.iter_mut().zip(headers) {
            if let Some(out) = out {
                writeln!(out, "{header}").map_err(ImportError::Output)?;
            }
        }
        let unit = match how.source.kind {
            Kind::SacctJson => Place::Record,
            kind if kind.is_parquet() => Place::Row,
            _ => Place::Line,
        };
        let map = how.map.as_ref();
        let zone = map.map_or(how.source.zone.clone(), ColumnMap::zone);
        // The times of the log are not known yet; dates are permitted if the log may have dates.
        let zone = how.source.kind.has_dates(map, i64::MAX).then_some(&zone);
        let filter = Filter::new(&how.select, zone).map_err(ImportError::Usage)?;
        let report = Report { unit, ..Report::default() };
        let spill = Spill::new(&how.scratch);
        let (users, groups, queues) = Default::default();
        let (first, last) = (i64::MAX, i64::MIN);
        let (how, first_fault) = (how.clone(), None);
        Ok(Sink {
            how,
            beside,
            spill,
            users,
            groups,
            queues,
            first,
            last,
            report,
            first_fault,
            about: Vec::new(),
            limits: Limits::default(),
            no_limit: Tally::default(),
            shifted: Tally::default(),
            unlike_elapsed: 0,
            shares: HashMap::new(),
            filter,
            joined: Joined::default(),
            ids: Seen::default(),
            earlier_ids: Seen::default(),
            rows: Rows::default(),
            runs: Runs::default(),
            replaced: BTreeMap::new(),
            several: false,
            text: None,
            texts: Vec::new(),
        })
    }

    /// Begins a file of the log; `another` is true if another file follows.
    pub fn begin(&mut self, file: &str, another: bool) {
        self.report.files.push(file.to_string());
        self.earlier_ids.absorb(std::mem::take(&mut self.ids));
        self.rows.begin(another);
        self.several = another || self.report.files.len() > 1;
        self.text = self.several.then(blake3::Hasher::new);
    }

    /// Returns whether the log has several files.
    pub fn is_of_several(&self) -> bool {
        self.several
    }

    /// Removes and returns the hasher for the text of the current file; `None` if the log has a single file.
    pub fn take_digest(&mut self) -> Option<blake3::Hasher> {
        self.text.take()
    }

    /// Puts the hasher back into the sink after the whole text has been hashed.
    pub fn give_digest(&mut self, digest: Option<blake3::Hasher>) {
        self.text = digest;
    }

    /// If the log has several files, hashes all bytes of a file and rewinds the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or rewound.
    pub fn digest_file(&mut self, mut file: File) -> io::Result<File> {
        if let Some(text) = &mut self.text {
            io::copy(&mut file, text)?;
            file.rewind()?;
        }
        Ok(file)
    }

    /// Ends a file.
    ///
    /// # Errors
    /// [`ImportError::SameText`] if an earlier file has the same text.
    pub fn ended(&mut self) -> Result<(), ImportError> {
        let (Some(text), true) = (self.text.take(), self.rows.any()) else { return Ok(()) };
        let (text, file) = (text.finalize(), self.file());
        match self.texts.iter().find(|(own, _)| *own == text) {
            Some((_, other)) => Err(ImportError::SameText { file, other: other.clone() }),
            None => {
                self.texts.push((text, file));
                Ok(())
            }
        }
    }

    /// Returns the name of the current file.
    pub fn file(&self) -> String {
        self.report.files.last().cloned().unwrap_or_default()
    }

    /// Returns the position of a line of the current file within the log: the index of the file and the line number.
    pub fn place(&self, line: u64) -> (usize, u64) {
        (self.report.file(), line)
    }

    /// Adds a job. Returns whether the job is kept; a job with impossible times or an impossible size is dropped.
    pub fn job(&mut self, line: u64, entry: &Entry<'_>) -> io::Result<bool> {
        let mut entry = *entry;
        if is_not_set(entry.requested) {
            entry.requested = UNKNOWN;
        }
        let is_unknown = is_not_set(entry.size);
        if is_unknown && entry.requested > 0 {
            entry.size = entry.requested;
            self.about(noted::REQUESTED);
        }
        let entry = &entry;
        let &Entry { submit, wait, run, size, estimate, .. } = entry;
        if let Some(why) = self.filter.excludes(entry) {
            self.dropped(line, why);
            return Ok(false);
        }
        if is_unknown && entry.requested <= 0 {
            self.dropped(line, dropped::NO_SIZE);
            return Ok(false);
        }
        let (first, last) = (self.first.min(submit), self.last.max(submit));
        let far = |time: i64| !(UNKNOWN..SPAN).contains(&time);
        if last.checked_sub(first).is_none_or(far) || far(wait) || far(run) {
            self.dropped(line, dropped::FAR);
            return Ok(false);
        }
        if wait > LONGEST_LIMIT || run > LONGEST_LIMIT {
            self.dropped(line, dropped::LONG);
            return Ok(false);
        }
        if size <= 0 {
            self.dropped(line, dropped::SIZE);
            return Ok(false);
        }
        if size > i64::from(u32::MAX) {
            self.dropped(line, dropped::LARGE);
            return Ok(false);
        }
        self.rows.count();
        let again = !entry.id.is_empty() && self.earlier_ids.has(entry.id);
        if again && !self.how.source.join && self.rows.has(entry) {
            self.dropped(line, dropped::SAME_ROW);
            return Ok(false);
        }
        for what in std::mem::take(&mut self.about) {
            self.noted(line, what);
        }
        if !entry.id.is_empty() && !self.how.source.join && !self.rows.take(entry) {
            self.noted(line, noted::ROW_NOT_COMPARED);
        }
        (self.first, self.last) = (first, last);
        let mut entry = *entry;
        if estimate.is_some_and(|estimate| estimate <= 0) {
            self.noted(line, noted::ESTIMATE);
            entry.estimate = None;
        }
        if estimate.is_some_and(|estimate| estimate > LONGEST_LIMIT) {
            self.noted(line, noted::LONG_ESTIMATE);
            entry.estimate = None;
        }
        if entry.estimate.is_none() {
            self.no_limit.add(self.place(line));
        }
        if entry.id.is_empty() {
            return self.write(&entry).map(|()| true);
        }
        if self.how.source.kind.has_repeated_runs() && wait != UNKNOWN {
            let number = self.report.jobs + 1;
            let start = submit.saturating_add(wait);
            match self.runs.take(entry.id, start, entry.nodes, number) {
                Run::New => {}
                Run::Full => self.noted(line, noted::RUN_NOT_COMPARED),
                Run::Again { number, elsewhere } => {
                    if elsewhere {
                        self.noted(line, noted::RUN_ELSEWHERE);
                    }
                    self.passed(line, noted::RUN_AGAIN, 1);
                    let fields = self.fields(&entry);
                    self.replaced.insert(number, fields);
                    return Ok(true);
                }
            }
        }
        if self.how.source.join {
            if let Taken::Joined { elsewhere } = self.joined.take(&entry) {
                self.passed(line, "row merged with an earlier row of its job", 1);
                if elsewhere {
                    let what =
                        "rows of one job on different nodes; the nodes of the first row are kept";
                    self.noted(line, what);
                }
            }
            return Ok(true);
        }
        let known = match again {
            true => Some(noted::AGAIN_IN_FILE),
            false => match self.ids.take(entry.id) {
                Known::New => None,
                Known::Again => Some(noted::AGAIN),
                Known::Full => Some(noted::NOT_COMPARED),
            },
        };
        if let Some(known) = known {
            self.noted(line, known);
        }
        self.write(&entry).map(|()| true)
    }

    /// Writes a job to the spill and to all output files except the trace.
    fn write(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.report.jobs += 1;
        let number = self.report.jobs;
        let [nodes, shapes, ids] = &mut self.beside;
        if let (Some(out), false) = (nodes, entry.nodes.is_empty()) {
            writeln!(out, "{number},\"{}\"", plain(entry.nodes).replace('"', ""))?;
        }
        self.report.nodes += u64::from(!entry.nodes.is_empty());
        if let (Some(out), Some(shape)) = (shapes, entry.shape) {
            write_shape(number as i64, shape, out)?;
            self.report.shapes += 1;
        }
        if !entry.id.is_empty() {
            self.report.renamed += u64::from(digits(entry.id) != Some(number as i64));
            if let Some(out) = ids {
                writeln!(out, "{number},{}", cell(&plain(entry.id)))?;
            }
        }
        let fields = self.fields(entry);
        self.spill.push(fields)
    }

    /// Returns the values of a job for the spill.
    fn fields(&mut self, entry: &Entry<'_>) -> [i64; FIELDS] {
        let &Entry { submit, wait, run, size, requested, estimate, status, .. } = entry;
        let user = self.users.number(entry.user);
        let group = self.groups.number(entry.group);
        let queue = self.queues.number(entry.queue);
        let estimate = estimate.unwrap_or(UNKNOWN);
        [submit, wait, run, size, requested, estimate, status, user, group, queue]
    }

    /// Counts a job that cannot be replayed.
    pub fn dropped(&mut self, line: u64, why: &'static str) {
        let place = self.place(line);
        self.about.clear();
        self.report.add(Class::Dropped, why, place, 1);
    }

    /// Adds a note on the job of the current line. The note is counted only if the job is kept.
    pub fn about(&mut self, what: &'static str) {
        self.about.push(what);
    }

    /// Removes the notes on the job of the current line, which is read again later.
    pub fn forget(&mut self) {
        self.about.clear();
    }

    /// Counts a note on a kept job.
    pub fn noted(&mut self, line: u64, what: &'static str) {
        let place = self.place(line);
        self.report.add(Class::Noted, what, place, 1);
    }

    /// Counts a line that was repaired before it was read, whether or not it is a kept job.
    pub fn repaired(&mut self, line: u64, what: &'static str) {
        let place = self.place(line);
        self.report.add(Class::Repaired, what, place, 1);
    }

    /// Counts a note `count` times.
    pub fn noted_times(&mut self, line: u64, what: &'static str, count: u64) {
        self.noted_at(self.place(line), what, count);
    }

    /// Counts a note `count` times for a line that may belong to an earlier file.
    pub fn noted_at(&mut self, place: (usize, u64), what: &'static str, count: u64) {
        self.report.add(Class::Noted, what, place, count);
    }

    /// Counts a job with a limit in an unknown unit, minutes or seconds. `completed` is true if the job completed, and
    /// `run` is the run time of the job.
    pub fn limit(&mut self, line: u64, limit: i64, completed: bool, run: i64) {
        let first = self.place(line);
        let within = run <= limit.saturating_mul(60);
        let limits = &mut self.limits;
        limits.first = if limits.jobs == 0 { first } else { limits.first };
        limits.jobs += 1;
        limits.completed += u64::from(completed);
        limits.within += u64::from(completed && within);
        if limit > LONG {
            limits.first_long = if limits.long == 0 { first } else { limits.first_long };
            limits.long += 1;
        }
    }

    /// Returns the unit of estimates in seconds: 1 or 60.
    fn per_estimate(&mut self) -> i64 {
        let Limits { first, jobs, completed, within, long, first_long } = self.limits;
        // The unit is minutes if at least 95% of the completed jobs ran no longer than their limit, where the limit is
        // read in minutes.
        let (what, seconds) = match within * 20 >= completed * 19 {
            _ if jobs == 0 => return 1,
            true => ("limit read in minutes (limit=seconds reads limits in seconds)", 60),
            false => {
                ("limit read in seconds, because too many jobs exceeded a limit in minutes", 1)
            }
        };
        self.report.add(Class::Noted, what, first, jobs);
        if seconds == 60 && long > 0 {
            let what = "limit above 31 days if read in minutes; the unit may be seconds";
            self.report.add(Class::Noted, what, first_long, long);
        }
        seconds
    }

    /// Counts a job whose end minus start is `measured` on a clock that may be in another zone; `elapsed` is the elapsed time
    /// in the log. Both are in seconds.
    pub fn elapsed(&mut self, line: u64, elapsed: i64, measured: i64) {
        let difference = elapsed.abs_diff(measured);
        if difference <= 1 {
            return;
        }
        match (difference + 1) % HALF_HOUR <= 2 && difference <= DAY {
            true => self.shifted.add(self.place(line)),
            false => self.unlike_elapsed += 1,
        }
    }

    /// Counts a job on `nodes` whole nodes with `cores` processors.
    pub fn share(&mut self, line: u64, partition: &str, nodes: i64, cores: i64) {
        if nodes <= 0 || cores <= 0 {
            return;
        }
        let place = self.place(line);
        let partition = self.queues.numbers.get(partition).copied().unwrap_or(UNKNOWN);
        let shares = self.shares.entry(partition).or_default();
        let each = cores.div_euclid(nodes) + i64::from(cores.rem_euclid(nodes) > 0);
        if shares.len() < SHARES || shares.contains_key(&each) {
            shares.entry(each).or_default().add(place);
        }
    }

    /// Adds the notes that depend on all jobs.
    fn notes_on_all_jobs(&mut self) {
        let jobs = self.report.jobs;
        let Tally { first, jobs: without } = self.no_limit;
        if without >= jobs {
            self.noted_at(first, noted::NO_LIMITS, jobs);
        } else if without > 0 {
            self.noted_at(first, noted::NO_LIMIT, without);
        }
        let Tally { first, jobs: shifted } = self.shifted;
        if shifted > self.unlike_elapsed {
            self.noted_at(first, noted::SHIFTED, shifted);
        }
        let mut shared = Tally::default();
        for shares in std::mem::take(&mut self.shares).into_values() {
            let most = shares.keys().max().copied().unwrap_or_default();
            for (_, part) in shares.into_iter().filter(|&(each, _)| each < most) {
                shared.first =
                    if shared.jobs == 0 { part.first } else { shared.first.min(part.first) };
                shared.jobs += part.jobs;
            }
        }
        // A few such jobs may be on other nodes than the rest.
        if shared.jobs * 20 >= jobs && shared.jobs > 0 {
            self.noted_at(shared.first, noted::SHARED, shared.jobs);
        }
    }

    /// Counts a header.
    pub fn header(&mut self, line: u64, what: &'static str) {
        self.about.clear();
        self.passed(line, what, 1);
    }

    /// Counts lines that are not jobs.
    pub fn passed(&mut self, line: u64, what: &'static str, count: u64) {
        self.passed_at(self.place(line), what, count);
    }

    /// Counts lines that are not jobs; the lines may belong to an earlier file.
    pub fn passed_at(&mut self, place: (usize, u64), what: &'static str, count: u64) {
        self.report.add(Class::Passed, what, place, count);
    }

    /// Adds `lines` to the number of lines that were read.
    pub fn lines(&mut self, lines: u64) {
        self.report.lines += lines;
    }

    /// Counts a malformed line. Returns an error if more lines are malformed than may be skipped.
    pub fn malformed(&mut self, line: u64, text: &str, fault: Fault) -> Result<(), ImportError> {
        self.about.clear();
        self.report.add_malformed(fault.reason, line);
        let file = self.file();
        let limit = self.how.max_errors;
        if limit == 0 || self.first_fault.is_none() {
            let unit = self.report.unit;
            let found = LineFault::new(&file, unit, line, text, fault);
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

    /// Writes the trace and returns the report.
    pub fn finish(mut self, out: &mut dyn Write) -> Result<Report, ImportError> {
        for job in std::mem::take(&mut self.joined).jobs() {
            self.write(&job.entry()).map_err(ImportError::Output)?;
        }
        if self.report.jobs == 0 {
            let file = self.report.files.first().cloned().unwrap_or_default();
            return Err(ImportError::NoJobs { file, report: Box::new(self.report) });
        }
        self.notes_on_all_jobs();
        let per_estimate = self.per_estimate();
        let jobs = self.report.jobs.to_string();
        let start = self.first.to_string();
        let source = format!("replay import {}", self.how.source);
        let mut fields = vec![("Version", "2.2"), ("Note", &*source)];
        if self.how.source.kind.has_dates(self.how.map.as_ref(), self.first) {
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
        let mut writer = Writer::new(Digested { inner: out, digest: blake3::Hasher::new() });
        let (spill, first, replaced) = (self.spill, self.first, self.replaced);
        let mut number = 0u64;
        writer
            .write_header(&Header::parse(header.as_bytes()))
            .and_then(|()| {
                spill.read(|fields| {
                    number += 1;
                    let fields = replaced.get(&number).copied().unwrap_or(fields);
                    writer.write_record(&record(number as i64, first, per_estimate, fields))
                })
            })
            .map_err(ImportError::Output)?;
        let Digested { inner, digest } = writer.into_inner();
        inner.flush().map_err(ImportError::Output)?;
        let digest = digest.finalize().to_hex().to_string();
        for out in self.beside.into_iter().flatten() {
            write_trace_line(&digest, out)
                .and_then(|()| out.flush())
                .map_err(ImportError::Output)?;
        }
        self.report.digest = digest;
        Ok(self.report)
    }
}

/// A writer that hashes the bytes that it writes.
struct Digested<'a> {
    inner: &'a mut dyn Write,
    digest: blake3::Hasher,
}

impl Write for Digested<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Quotes a field of CSV if necessary.
fn cell(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

/// Returns the SWF record of a job.
fn record(number: i64, first: i64, per_estimate: i64, fields: [i64; FIELDS]) -> Record {
    let [submit, wait, run, size, requested, estimate, status, user, group, queue] = fields;
    // Estimates are below 2^50, so the product does not overflow.
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
