//! Imports logs of other formats as traces: SWF, and beside it the nodes or shapes of jobs.
//!
//! The engine reads SWF only. Operators have a dump of `sacct`, accounting records of
//! Torque, or a table; [`import`] converts any of them to SWF in one pass:
//!
//! ```text
//! files --Lines--> line --(a reader per kind)--> Entry --Sink--> spill, x.nodes.csv, x.shapes.csv, x.ids.csv
//!   \--parquet--> row ----/  \--> dropped, noted, malformed: counted by reason  \--> x.swf
//! ```
//!
//! Memory does not grow with the length of the log, but with the names of users, groups and queues, and
//! with the deleted jobs of Torque. Jobs are kept packed, on the disk if they are many, until the
//! first submit time and the names for the header are known. With [`Source::join`] all jobs are in memory. Of a
//! table in Parquet, one group of rows is in memory, packed.
//!
//! A job whose id is repeated is kept and counted, since it may have been requeued. A job that is repeated in
//! another file with equal values is dropped and counted, since files may overlap. A file that is identical to an
//! earlier one is refused.
//!
//! Every line is a job, or is counted exactly once: as dropped (a job that cannot be replayed), as passed over
//! (not a job: a header, a blank line, a step, an event), or as malformed ([`Report::accounted`]). A count has
//! the number of its first line. A malformed line is an error with file, line and column unless
//! malformed lines may be skipped, as with SWF. A line of column names is a header wherever it occurs, and holds for
//! the lines that follow.
//!
//! Jobs are numbered from 1 in the order of the log; [`Outputs::ids`] receives their ids in the log. Times are
//! whole seconds since the first submission, whose own time is `UnixStartTime`.
//!
//! # Adding a format
//!
//! Write a type with the trait `Log` in a file of its own; add a [`Kind`], an entry in the table of `source.rs`,
//! and a line in `reader` here. A table with known columns needs only a map in `layouts.rs`.

mod cobalt;
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
pub use report::{Class, Count, Place, Report};
pub use source::{Kind, Limit, Source, Submit, Unit, descriptions};
pub use value::civil;
pub use zone::Zone;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use entry::Line;
use records::{Record, Records};
use replay_core::lines::LineError;
use replay_core::sanitize::BYTE_ORDER_MARK;
use replay_core::swf::{self, Decoder, GzipFault};
use row::Columns;
use sink::Sink;

/// Bytes read from a file at once.
const BUFFER: usize = 1 << 18;

/// How a log is read.
#[derive(Clone, Debug)]
pub struct Import {
    /// Format of the log.
    pub source: Source,
    /// Columns of the table, for [`Kind::Csv`] and [`Kind::Parquet`].
    pub map: Option<ColumnMap>,
    /// Name of the log in messages, if it is a single input.
    pub file: String,
    /// Number of malformed lines that are skipped and counted; with 0 the first one is an error.
    pub max_errors: usize,
    /// Number of processors of the machine, for the header.
    pub processors: Option<u32>,
    /// Directory for temporary files of large logs.
    pub scratch: PathBuf,
}

/// The outputs of an import. The files at `nodes` and `shapes` are useful only if the
/// [`Report`] counts jobs in them. All files beside the trace end with its digest
/// ([`sidecar`](replay_core::workload::sidecar)).
pub struct Outputs<'a> {
    /// The trace.
    pub swf: &'a mut dyn Write,
    /// `job,nodes`: the nodes of jobs, if the log names them.
    pub nodes: Option<&'a mut dyn Write>,
    /// The shapes of jobs ([`shapes_path`](replay_core::workload::stochastic::shapes_path)).
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

    /// Returns the separator of fields if fields may be quoted, and thus contain line breaks.
    fn separator(&self) -> Option<u8> {
        None
    }

    /// Prepares for another file, with its own header if the kind has one.
    fn begin(&mut self) {}

    /// Returns the columns of the current file, if a header names them.
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// Returns the columns that a line would name as a header.
    fn names(&self, line: Line<'_>) -> Option<Columns> {
        Columns::read(line, self.separator()?).ok()
    }

    /// Returns whether a malformed line is another header, as in concatenated dumps. A header is counted and holds
    /// for the lines that follow.
    fn again(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<bool, ReadStop> {
        let (Some(own), Some(names)) = (self.columns(), self.names(line)) else { return Ok(false) };
        if !names.are_alike(own) {
            return Ok(false);
        }
        let what = match names == *own {
            true => "header, repeated",
            false => "header with other columns, used from there on",
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

    /// Returns whether the header, if the kind has one, has been read.
    fn is_begun(&self) -> bool {
        true
    }
}

/// Why a line is not processed.
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
    /// Any other input, plain or compressed with gzip. A table in Parquet is first copied to
    /// [`Import::scratch`], since its contents are listed at its end.
    Stream(Box<dyn Read + 'a>),
}

/// Imports a log from a single input and writes a trace, like [`import_all`] with the name [`Import::file`].
///
/// # Errors
/// [`ImportError`] if the input is unreadable, the header lacks a required column, more lines are malformed than
/// may be skipped, there is no job, or an output fails.
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

/// Imports a log from several inputs, one after the other, each with its name in messages, and writes one
/// trace. Jobs are numbered across inputs, and names have the same numbers in all of them.
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
            // If a quote is never closed, only the first line of the record is malformed.
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

/// Returns the map of a table: the built-in one, or the user's.
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
    /// Creates a strict import of `file`, with the system's directory for temporary files.
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

/// Replaces control characters, which would end a line or affect a terminal.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.replace(char::is_control, "?").into(),
        false => text.into(),
    }
}
