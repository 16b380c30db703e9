//! Imports logs of other formats as traces: an SWF file, and further files with the nodes or shapes of the jobs.
//!
//! The engine reads only SWF. Operators have other data: the output of `sacct`, accounting records of Torque, or a
//! table. [`import`] converts any of these logs to SWF in one pass:
//!
//! ```text
//! files --Lines--> line --(a reader per kind)--> Entry --Sink--> spill, x.nodes.csv, x.shapes.csv, x.ids.csv
//!   \--parquet--> row ----/  \--> dropped, noted, malformed: counted by reason  \--> x.swf
//! ```
//!
//! Memory grows with the number of distinct users, groups and queues, and with the number of deleted jobs of Torque,
//! but not with the length of the log. Jobs are stored in compact form until the first submit time and the names for
//! the header are known; if there are many jobs, they are stored on the disk. With [`Source::join`], all jobs are in
//! memory. A table in Parquet is read by row groups; only one compressed row group is in memory at a time.
//!
//! A job with a repeated id is kept and counted, because it may have been requeued. A job that is repeated in
//! another file with equal values is dropped and counted, because files may overlap. A file that is identical to
//! an earlier file is rejected.
//!
//! Every line either becomes a job or is counted exactly once ([`Report::accounted`]): as dropped (a job that cannot be
//! replayed), as passed over (not a job: a header, a blank line, a step, an event), or as malformed. Each count is
//! reported with the number of the first line that it includes. A malformed line is an error with file, line and column
//! unless malformed lines may be skipped. A line of column names is treated as a header wherever it occurs in a file;
//! it applies to the lines that follow.
//!
//! Jobs are numbered from 1 in the order of the log; their ids in the log are written to [`Outputs::ids`]. Times
//! are whole seconds since the first submission. `UnixStartTime` is the time of the first submission.
//!
//! # Adding a format
//!
//! To add a format, create a file with a type that implements the trait `Log`. Then add a [`Kind`] for the format, an
//! entry in the table of `source.rs`, and a line in the function `reader` of this module. A table with known columns
//! needs only a map in `layouts.rs`.

mod cobalt;
pub mod columns;
pub mod damaged;
mod dirlab;
mod duplicates;
mod entry;
mod error;
mod layouts;
mod map;
mod mapped;
mod parquet;
mod pending_arrays;
mod records;
mod report;
mod rfold;
mod row;
mod row_merge;
mod sacct;
mod sink;
mod source;
mod spill;
#[cfg(test)]
mod tests;
mod torque;
mod value;
mod zone;

pub use error::{Fault, ImportError, LineFault, Reason};
pub use map::ColumnMap;
pub use replay_workload::workload::civil;
pub use report::{Class, Count, Place, Report};
pub use source::{Kind, Limit, Source, Submit, Unit, descriptions};
pub use zone::Zone;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use entry::Line;
use records::{Record, Records};
use replay_workload::lines::LineError;
use replay_workload::sanitize::BYTE_ORDER_MARK;
use replay_workload::swf::{self, Decoder, GzipFault};
use row::Columns;
use sink::Sink;

/// Number of bytes that are read from a file at once.
const BUFFER: usize = 1 << 18;

/// The settings for reading a log.
#[derive(Clone, Debug)]
pub struct Import {
    /// Format of the log.
    pub source: Source,
    /// Columns of the table, for [`Kind::Csv`] and [`Kind::Parquet`].
    pub map: Option<ColumnMap>,
    /// Name of the log in messages, if there is only one input.
    pub file: String,
    /// Number of malformed lines that may be skipped and counted. If this number is 0, the first malformed line is an
    /// error.
    pub max_errors: usize,
    /// Number of processors of the machine, which is written to the header of the trace.
    pub processors: Option<u32>,
    /// Directory for temporary files of large logs.
    pub scratch: PathBuf,
}

/// The outputs of an import. The contents of `nodes` and `shapes` are useful only if the [`Report`] counts at least one
/// job in them. All outputs except the trace end with the digest of the trace
/// ([`sidecar`](replay_workload::workload::sidecar)).
pub struct Outputs<'a> {
    /// The trace.
    pub swf: &'a mut dyn Write,
    /// `job,nodes`: the nodes of jobs, if the log contains node names.
    pub nodes: Option<&'a mut dyn Write>,
    /// The shapes of jobs ([`shapes_path`](replay_workload::workload::stochastic::shapes_path)).
    pub shapes: Option<&'a mut dyn Write>,
    /// `job,id`: the id of each job in the log.
    pub ids: Option<&'a mut dyn Write>,
}

impl<'a> Outputs<'a> {
    /// Writes only the trace.
    pub fn trace(swf: &'a mut dyn Write) -> Self {
        Self { swf, nodes: None, shapes: None, ids: None }
    }
}

/// A reader of one kind of log, line by line.
trait Log {
    /// Processes a line and passes jobs and counts to `sink`.
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop>;

    /// Returns the separator of fields if fields may be quoted; quoted fields may contain line breaks.
    fn separator(&self) -> Option<u8> {
        None
    }

    /// Returns the columns of the current file, which are set when its header is read; `None` for kinds of logs without a
    /// header.
    fn columns(&mut self) -> Option<&mut Option<Columns>> {
        None
    }

    /// Prepares for another file. For kinds of logs with a header, each file begins with its own header.
    fn begin(&mut self) {
        if let Some(columns) = self.columns() {
            *columns = None;
        }
    }

    /// Parses a line as a header and returns its columns; `None` if the line is not a header.
    fn names(&self, line: Line<'_>) -> Option<Columns> {
        Columns::read(line, self.separator()?).ok()
    }

    /// Returns whether a malformed line is a further header, as in concatenated dumps. A further header is counted
    /// and applies to the lines that follow.
    fn again(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<bool, ReadStop> {
        let names = self.names(line);
        let own = self.columns().and_then(|columns| columns.as_ref());
        let (Some(own), Some(names)) = (own, names) else { return Ok(false) };
        if !names.are_alike(own) {
            return Ok(false);
        }
        let what = match names == *own {
            true => "header, repeated",
            false => "header with other columns, used for the lines that follow",
        };
        self.begin();
        self.line(line, sink)?;
        sink.header(line.number, what);
        Ok(true)
    }

    /// Processes the end of the log.
    fn end(&mut self, sink: &mut Sink<'_>) {
        let _ = sink;
    }

    /// Returns whether the header has been read; always true for kinds of logs without a header.
    fn is_begun(&mut self) -> bool {
        self.columns().is_none_or(|columns| columns.is_some())
    }
}

/// The reason why a line is not processed.
enum ReadStop {
    /// The line is malformed.
    Fault(Fault),
    /// The header lacks a required column.
    Header(String),
    /// An output failed.
    Output(std::io::Error),
}

impl From<Fault> for ReadStop {
    fn from(fault: Fault) -> ReadStop {
        ReadStop::Fault(fault)
    }
}

impl From<std::io::Error> for ReadStop {
    fn from(error: std::io::Error) -> ReadStop {
        ReadStop::Output(error)
    }
}

/// The input of an import.
pub enum Input<'a> {
    /// A seekable file; a table in Parquet is read in place.
    File(File),
    /// Any other input, plain or compressed with gzip. A table in Parquet is first copied to [`Import::scratch`],
    /// because the reader begins with the footer at the end of the table.
    Stream(Box<dyn Read + 'a>),
}

/// Imports a log from a single input and writes a trace, as [`import_all`] does with one input named [`Import::file`].
///
/// # Errors
/// [`ImportError`] if the input is unreadable, the header lacks a required column, the number of malformed lines
/// exceeds the limit, there is no job, or an output fails.
///
/// ```
/// use replay_import::{Import, Outputs, import};
///
/// let log = "JobID|Submit|Start|End|AllocNodes|State\n\
///            7|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T08:01:05|4|COMPLETED\n\
///            7.0|2026-03-01T08:00:05|2026-03-01T08:00:05|2026-03-01T08:01:05|4|COMPLETED\n";
/// let (mut swf, how) = (Vec::new(), Import::new("sacct".parse()?, "log.txt"));
/// let report = import(log.as_bytes(), &how, Outputs::trace(&mut swf))?;
/// assert_eq!(report.jobs, 1);
/// let text = String::from_utf8(swf)?;
/// assert!(text.contains("; UnixStartTime: 1772352000\n"), "{text}");
/// assert!(text.ends_with("    1        0      5     60    4     -1    -1    4     -1    -1  1  -1  -1  -1 -1 -1 -1 -1\n"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn import(input: impl Read, how: &Import, outputs: Outputs<'_>) -> Result<Report, ImportError> {
    import_all([(how.file.clone(), Ok(Input::Stream(Box::new(input))))], how, outputs)
}

/// Imports a log from several inputs, one after another, and writes one trace. The name of each input appears in
/// messages. Jobs are numbered consecutively across the inputs; a user, group or queue has the same number in every
/// input.
///
/// # Errors
/// [`ImportError`], as for [`import`].
pub fn import_all<'a>(
    inputs: impl IntoIterator<Item = (String, io::Result<Input<'a>>)>,
    how: &Import,
    outputs: Outputs<'_>,
) -> Result<Report, ImportError> {
    let mut inputs = inputs.into_iter().peekable();
    let Outputs { swf, nodes, shapes, ids } = outputs;
    let mut sink = Sink::new(how, [nodes, shapes, ids])?;
    let mut log = reader(how)?;
    while let Some((name, input)) = inputs.next() {
        sink.begin(&name, inputs.peek().is_some());
        let unreadable = |source| swf::Error::Io { file: name.clone(), source };
        let input = input.map_err(unreadable)?;
        if !how.source.kind.is_parquet() {
            log.begin();
            let input: Box<dyn Read> = match input {
                Input::File(file) => Box::new(file),
                Input::Stream(stream) => stream,
            };
            lines(input, &name, log.as_mut(), &mut sink)?;
            sink.ended()?;
            continue;
        }
        let file = match input {
            Input::File(file) => file,
            Input::Stream(mut stream) => {
                let mut copy = spill::nameless(&how.scratch).map_err(ImportError::Output)?;
                io::copy(&mut stream, &mut copy).map_err(unreadable)?;
                copy
            }
        };
        let file = sink.digest_file(file).map_err(unreadable)?;
        parquet::read(file, &how.source, &map(how)?, &mut sink)?;
        sink.ended()?;
    }
    log.end(&mut sink);
    sink.finish(swf)
}

/// Reads a file of text.
fn lines(
    input: Box<dyn Read + '_>,
    name: &str,
    log: &mut dyn Log,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let file = || name.to_string();
    let decoder = Decoder::new(input);
    let decoder = decoder.map_err(|source| swf::Error::Io { file: file(), source })?;
    let mut lines = Records::new(BufReader::with_capacity(BUFFER, decoder));
    let mut digest = sink.take_digest();
    loop {
        let hash = |bytes: &[u8]| {
            if let Some(digest) = &mut digest {
                digest.update(bytes);
            }
        };
        let taken = lines.next(log.separator(), hash, |record| {
            let Record { number, bytes, more } = record;
            let text = String::from_utf8_lossy(bytes);
            let text = match number {
                1 => text.trim_start_matches(BYTE_ORDER_MARK),
                _ => &text,
            };
            let text = text.trim_end_matches(['\n', '\r']);
            if number == 1 && text.starts_with("PAR1") {
                return Err(ImportError::Parquet { file: file() });
            }
            if text.trim().is_empty() {
                sink.passed(number, "blank line", 1);
                return Ok(true);
            }
            let begun = log.is_begun();
            let mut taken = log.line(Line { number, text }, sink);
            // If an opening quote has no closing quote, only the first line of the record is malformed.
            let is_whole =
                more == 0 || !matches!(&taken, Err(ReadStop::Fault(fault)) if fault.is_of_form());
            let text = if is_whole { text } else { text.lines().next().unwrap_or_default() };
            if !is_whole {
                taken = log.line(Line { number, text }, sink);
            } else if more > 0 {
                sink.passed(number + 1, "continuation line within quotes", more);
            }
            if !begun && log.is_begun() {
                sink.header(number, "header");
            }
            if let Err(ReadStop::Fault(fault)) = taken {
                taken = match log.again(Line { number, text }, sink) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(ReadStop::Fault(fault)),
                    Err(stop) => Err(stop),
                };
            }
            taken.map(|()| is_whole).or_else(|stop| match stop {
                ReadStop::Fault(fault) => sink.malformed(number, text, fault).map(|()| is_whole),
                ReadStop::Header(what) => {
                    Err(ImportError::Header { file: file(), line: number, what })
                }
                ReadStop::Output(source) => Err(ImportError::Output(source)),
            })
        });
        match taken {
            Ok(Some(taken)) => {
                if !taken? {
                    lines.part();
                }
            }
            Ok(None) => break,
            Err(LineError::TooLong(_)) => {
                return Err(ImportError::TooLong { file: file(), line: lines.number() });
            }
            Err(LineError::Io(source)) => {
                let error = match GzipFault::of(&source) {
                    Some(fault) => swf::Error::Gzip { file: file(), line: lines.number(), fault },
                    None => swf::Error::Io { file: file(), source },
                };
                return Err(error.into());
            }
        }
    }
    if !log.is_begun() {
        let what = "there is no header line".to_string();
        return Err(ImportError::Header { file: file(), line: lines.number().max(1), what });
    }
    sink.give_digest(digest);
    sink.lines(lines.number());
    Ok(())
}

/// Returns the column map of a table: the built-in map or the user's map.
fn map(how: &Import) -> Result<ColumnMap, ImportError> {
    let source = &how.source;
    let own = layouts::layout(source.kind, source.zone.clone()).transpose()?;
    let wants = matches!(source.kind, Kind::Csv | Kind::Parquet);
    match (own, &how.map) {
        (Some(own), None) => Ok(own),
        (None, Some(map)) if wants => Ok(map.clone()),
        (None, None) => {
            Err(ImportError::Map(format!("{source} needs --map FILE, which assigns the columns")))
        }
        (_, Some(_)) => {
            let what = format!("{source} has known columns: --map is for csv and parquet only");
            Err(ImportError::Map(what))
        }
    }
}

/// Returns the reader of a text format.
fn reader(how: &Import) -> Result<Box<dyn Log>, ImportError> {
    let source = how.source.clone();
    if how.map.is_some() && source.kind != Kind::Csv {
        map(how)?;
    }
    Ok(match source.kind {
        Kind::Sacct => Box::new(sacct::Sacct::new(source)),
        Kind::Cobalt => Box::new(cobalt::Cobalt::new(source)),
        Kind::Torque => Box::new(torque::Torque::new(source)),
        Kind::Dirlab => Box::new(dirlab::Dirlab::new(source)),
        Kind::Rfold => Box::new(rfold::Rfold::new(source)),
        Kind::Csv | Kind::Fdata | Kind::Pm100 | Kind::Parquet => {
            Box::new(mapped::Mapped::new(source, map(how)?))
        }
    })
}

impl Import {
    /// Creates an import of `file` that skips no malformed lines, with the system's directory for temporary files.
    pub fn new(source: Source, file: impl Into<String>) -> Import {
        Import {
            source,
            map: None,
            file: file.into(),
            max_errors: 0,
            processors: None,
            scratch: std::env::temp_dir(),
        }
    }
}

/// Replaces control characters, because they could end a line or control a terminal.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.replace(char::is_control, "?").into(),
        false => text.into(),
    }
}
