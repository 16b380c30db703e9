//! Loads a trace: reads, cleans and sorts the jobs, and removes jobs outside the window. Loading takes a single pass
//! over the input.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::clean::Cleaner;
use super::dependencies::{Linker, Links};
use super::error::{CleaningError, LoadError};
use super::job::Job;
use super::oversize::fit_to_machine;
use super::policy::{Oversize, Policy};
use super::recorded_values::{RecordedLabels, RecordedValues};
use super::report::{Change, CleaningReport};
use super::stochastic::{ShapeError, ShapeFile, shapes_path};
use super::window::Window;
use crate::swf::{self, Decoder, Header, ReadOptions, Reader, Record};

/// Number of bytes that are read, hashed and parsed at a time. The number is large enough for the hash function to use
/// wide instructions.
const BUFFER: usize = 1 << 18;

/// The jobs of a trace, ready for a scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Name of the trace: the file name without `.swf` and `.gz`.
    pub name: String,
    /// The file as the user named it.
    pub source: PathBuf,
    /// BLAKE3 digest of the uncompressed bytes, in hexadecimal (64 digits).
    pub digest: String,
    /// The trace's header.
    pub header: Header,
    /// Jobs sorted by submit time; jobs with equal times are in file order. [`JobId`](super::JobId) is the index of a
    /// job.
    pub jobs: Vec<Job>,
    /// Recorded wait times of the jobs, in whole seconds.
    pub waits: RecordedValues,
    /// Recorded users, groups, queues and partitions of the jobs.
    pub labels: RecordedLabels,
    /// Dependencies between the records.
    pub links: Links,
    /// The report of cleaning and of the window: counts of dropped and changed jobs.
    pub report: CleaningReport,
}

impl Workload {
    /// Loads a trace, plain or compressed with gzip, and the shapes of its jobs if [`shapes_path`] exists.
    ///
    /// # Errors
    /// [`LoadError`] if the file is unreadable or malformed, the policy does not admit a record, or no jobs remain.
    pub fn load(
        path: impl AsRef<Path>,
        policy: &Policy,
        window: &Window,
        options: ReadOptions,
    ) -> Result<Workload, LoadError> {
        let path = path.as_ref();
        let mut workload = match File::open(path) {
            Ok(file) => Workload::from_reader(file, path, policy, window, options)?,
            Err(source) => {
                return Err(swf::Error::Io { file: path.display().to_string(), source }.into());
            }
        };
        let shapes = shapes_path(path);
        let file = shapes.display().to_string();
        // The path of the shapes file is derived from the trace's path. If the shapes file is a pipe or a device,
        // loading must not block on it.
        match fs::metadata(&shapes) {
            Ok(metadata) if metadata.is_file() => {
                let input = File::open(&shapes);
                let input =
                    input.map_err(|source| swf::Error::Io { file: file.clone(), source })?;
                let shapes = ShapeFile::read(BufReader::new(input), &file)?;
                workload.take_shapes(&shapes)?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(swf::Error::Io { file, source }.into()),
        }
        Ok(workload)
    }

    /// Assigns shapes to the jobs. A shape is assigned to the job that has the job number of the shape.
    ///
    /// # Errors
    /// [`ShapeError`] if the shapes do not match the jobs or name another trace, or the policy renumbered the jobs.
    pub fn take_shapes(&mut self, shapes: &ShapeFile) -> Result<(), ShapeError> {
        shapes.check_trace(&self.source.display().to_string(), &self.digest)?;
        if self.report.changes.contains_key(&Change::Renumbered) {
            let (file, policy) = (shapes.name().to_string(), self.report.policy.clone());
            return Err(ShapeError::Renumbered { file, policy });
        }
        self.report.without_shape = shapes.assign(&mut self.jobs, &self.links)?;
        Ok(())
    }

    /// Loads a trace from a reader; `source` is the name of the trace in messages and determines the workload's name.
    ///
    /// # Errors
    /// [`LoadError`], as for [`Workload::load`].
    ///
    /// ```
    /// use replay_workload::workload::{Policy, Window, Workload};
    ///
    /// let trace = "; MaxProcs: 16\n1 9 -1 60 4 -1 -1 -1 -1\n2 5 -1 30 8 -1 -1 -1 10\n";
    /// let workload = Workload::from_reader(
    ///     trace.as_bytes(), "tiny.swf", &Policy::JOHNSON, &Window::ALL, Default::default())?;
    /// assert_eq!(workload.jobs.iter().map(|job| job.number).collect::<Vec<_>>(), [2, 1]);
    /// assert_eq!(workload.report.to_string(), "tiny: 2 records, 2 jobs kept; 0 dropped; \
    ///     2 changed (estimate set from run time 1, estimate raised to run time 1)");
    /// # Ok::<(), replay_workload::workload::LoadError>(())
    /// ```
    pub fn from_reader(
        mut input: impl Read,
        source: impl AsRef<Path>,
        policy: &Policy,
        window: &Window,
        options: ReadOptions,
    ) -> Result<Workload, LoadError> {
        Self::from_any(&mut input, source.as_ref(), policy, window, options)
    }

    /// Loads a trace from a trait object, so that this function is compiled once, with this crate. A generic function
    /// would be compiled with each caller, possibly without optimisation.
    fn from_any(
        input: &mut dyn Read,
        source: &Path,
        policy: &Policy,
        window: &Window,
        options: ReadOptions,
    ) -> Result<Workload, LoadError> {
        let source = source.to_path_buf();
        let file = source.display().to_string();
        let decoder = match Decoder::new(input) {
            Ok(decoder) => decoder,
            Err(source) => return Err(swf::Error::Io { file, source }.into()),
        };
        let input = BufReader::with_capacity(BUFFER, Hashed::new(decoder));
        let mut reader = Reader::new(input, file.clone()).with_options(options);
        let mut cleaner = Cleaner::new(policy, None);
        let (mut record, mut linker) = (Record::UNKNOWN, Linker::default());
        let (mut waits, mut labels) = (RecordedValues::default(), RecordedLabels::default());
        while reader.read_record(&mut record)? {
            cleaner
                .push_wide(reader.line(), &record, reader.extra())
                .map_err(|error| error.in_file(&file))?;
            // A fraction of a second before 0 is unknown, although it truncates to 0.
            let wait = if record.wait_time >= 0.0 { record.wait_time as i64 } else { -1 };
            waits.push(reader.line(), wait);
            labels.push(reader.line(), &record);
            linker.push(reader.line(), &record, reader.other_preceding_jobs());
        }
        let hint = cleaner.advice();
        let (mut jobs, mut report) = cleaner.finish();
        report.lines = reader.line();
        let others = reader.other_lines();
        (report.comments, report.blank) = (others.comments, others.blank);
        report.short = reader.short_records();
        let (input, header, tally) = reader.into_parts();
        let links;
        report.repeated = linker.repeated();
        (links, report.dependencies) = linker.finish();
        report.name = trace_name(&source);
        report.malformed = tally
            .by_reason()
            .iter()
            .map(|(reason, &count)| (reason.to_string(), count as u64))
            .collect();
        let first = tally.first_lines().iter().map(|(reason, &line)| (reason.to_string(), line));
        report.first_malformed = first.collect();
        if report.read == 0 {
            return Err(LoadError::NoRecords { file, tally: Box::new(tally) });
        }
        if jobs.is_empty() {
            return Err(LoadError::NoJobs { file, report: Box::new(report), hint });
        }
        let outside = match window.apply(&mut jobs, &header) {
            Ok(outside) => outside,
            Err(error) => return Err(LoadError::Window { file, error }),
        };
        report.before_window = outside.before as u64;
        report.after_window = outside.after as u64;
        let digest = input.into_inner().hasher.finalize().to_hex().to_string();
        let name = report.name.clone();
        Ok(Workload { name, source, digest, header, jobs, waits, labels, links, report })
    }

    /// Returns a copy of the workload with other jobs: either a subset of its jobs or modified jobs.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Workload {
        Workload {
            jobs,
            name: self.name.clone(),
            source: self.source.clone(),
            digest: self.digest.clone(),
            header: self.header.clone(),
            waits: self.waits.clone(),
            labels: self.labels.clone(),
            links: self.links.clone(),
            report: self.report.clone(),
        }
    }

    /// Applies a rule to the jobs larger than a machine of `procs` processors; see [`fit_to_machine`].
    ///
    /// # Errors
    /// [`CleaningError`] with file and line of the first oversized job, under [`Oversize::Error`].
    pub fn fit_to_machine(&mut self, procs: u32, rule: Oversize) -> Result<(), CleaningError> {
        fit_to_machine(&mut self.jobs, procs, rule, &mut self.report)
            .map_err(|error| error.in_file(&self.source.display().to_string()))
    }
}

/// Returns the file name without directories, `.gz` and `.swf`.
pub(super) fn trace_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    strip_extensions(&name).to_owned()
}

/// Removes the extensions `.gz` and `.swf` from a name, ignoring case.
pub(super) fn strip_extensions(name: &str) -> &str {
    let strip = |name: &'_ str, extension: &str| {
        let stem = name.len().checked_sub(extension.len()).filter(|&stem| stem > 0)?;
        name.get(stem..)?.eq_ignore_ascii_case(extension).then_some(stem)
    };
    let name = strip(name, ".gz").map_or(name, |stem| &name[..stem]);
    strip(name, ".swf").map_or(name, |stem| &name[..stem])
}

/// A reader that hashes the bytes that it returns.
struct Hashed<R> {
    inner: R,
    hasher: blake3::Hasher,
}

impl<R> Hashed<R> {
    fn new(inner: R) -> Hashed<R> {
        Hashed { inner, hasher: blake3::Hasher::new() }
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}
