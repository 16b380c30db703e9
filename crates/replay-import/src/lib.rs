//! Logs of other kinds made into traces: SWF, and beside it the nodes or shapes of jobs.
//!
//! The engine reads SWF only. What an operator has is a dump of `sacct`, accounting records of
//! Torque, or a table; [`import`] turns any of them into SWF in one pass:
//!
//! ```text
//! files --Lines--> line --(a file per kind)--> Entry --Sink--> spill, x.nodes.csv, x.shapes.csv, x.ids.csv
//!   \--parquet--> row ----/  \--> dropped, noted, malformed: counted by reason  \--> x.swf
//! ```
//!
//! Memory does not grow with the log, but with the names of users, groups and queues in it, and
//! with the deleted jobs of Torque: finished jobs wait packed, on the disk if they are many, until the
//! first submission and the names for the header are known. With [`Source::join`] it holds all jobs. Of a
//! table in Parquet one group of rows is held, packed.
//!
//! A job that comes again, by what the log calls it, is kept and counted: it may have been requeued. One that
//! comes again in another file, the same in all that is told of it, is dropped and counted: two files overlap. A
//! file with the very text of one before is refused.
//!
//! Every line is a job, or is in exactly one count: as dropped (a job that cannot be replayed), as passed over
//! (no job: a header, a blank line, a step, an event), or as malformed ([`Report::accounted`]). Counts come with
//! the number of the first such line. A malformed line is an error with file, line and column unless so many may
//! be skipped, as with SWF. A line of names of columns is a header wherever it stands, and holds from there on.
//!
//! Jobs are numbered from 1 in the order of the log; [`Outputs::ids`] tells what the log calls them. Times are
//! whole seconds since the first submission, whose own time is `UnixStartTime`.
//!
//! # How to add one
//!
//! Write its file, a type with `Log`; add a [`Kind`], its entry to the table in `source.rs`, and a line to
//! `reader` here. A table whose columns are known needs no more than its map in `layouts.rs`.

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

/// Bytes asked of a file at once.
const BUFFER: usize = 1 << 18;

/// How a log is read.
#[derive(Clone, Debug)]
pub struct Import {
    /// What it is.
    pub source: Source,
    /// Columns of a table of one's own, for [`Kind::Csv`] and [`Kind::Parquet`].
    pub map: Option<ColumnMap>,
    /// Its name in messages, if it is in one piece.
    pub file: String,
    /// Malformed lines that are skipped and counted; 0 = the first is an error.
    pub max_errors: usize,
    /// Processors of the machine, for the header.
    pub processors: Option<u32>,
    /// Where a large log may put what it has read.
    pub scratch: PathBuf,
}

/// Where a trace goes. What is written to `nodes` and `shapes` is of use only if the
/// [`Report`] counts any. The files beside the trace end with its digest
/// ([`sidecar`](replay_core::workload::sidecar)).
pub struct Outputs<'a> {
    /// The trace.
    pub swf: &'a mut dyn Write,
    /// `job,nodes`, the nodes of jobs where the log names them.
    pub nodes: Option<&'a mut dyn Write>,
    /// The shapes of jobs ([`shapes_path`](replay_core::workload::stochastic::shapes_path)).
    pub shapes: Option<&'a mut dyn Write>,
    /// `job,id`, what the log calls each job.
    pub ids: Option<&'a mut dyn Write>,
}

impl<'a> Outputs<'a> {
    /// The trace alone.
    pub fn trace(swf: &'a mut dyn Write) -> Self {
        Self { swf, nodes: None, shapes: None, ids: None }
    }
}

/// One kind of log, line by line.
trait Log {
    /// Takes a line: hands jobs and counts to `sink`.
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadStop>;

    /// What stands between its fields, if these may be in quotes, and so have line breaks in them.
    fn separator(&self) -> Option<u8> {
        None
    }

    /// Another file begins, with a header of its own if the kind has one.
    fn begin(&mut self) {}

    /// The columns of this file, where a header names them.
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// The columns that a line names if it is a header.
    fn names(&self, line: Line<'_>) -> Option<Columns> {
        Columns::read(line, self.separator()?).ok()
    }

    /// Whether a line that is no record is a header once more, as in dumps that were put together: it then holds for
    /// the lines that follow, and is counted.
    fn again(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<bool, ReadStop> {
        let (Some(own), Some(names)) = (self.columns(), self.names(line)) else { return Ok(false) };
        if !names.are_alike(own) {
            return Ok(false);
        }
        let what = match names == *own {
            true => "header again",
            false => "header with other columns, which hold from there on",
        };
        self.begin();
        self.line(line, sink)?;
        sink.header(line.number, what);
        Ok(true)
    }

    /// The log is at its end.
    fn end(&mut self, sink: &mut Sink<'_>) {
        let _ = sink;
    }

    /// The lines before the first record are all there were.
    fn is_begun(&self) -> bool {
        true
    }
}

/// Why a line is not taken.
enum ReadStop {
    /// It is malformed.
    Fault(Fault),
    /// The header lacks what nobody can do without.
    Header(String),
    /// Something cannot be written.
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

/// What a log is read from.
pub enum Input<'a> {
    /// A file that can be read in any order: a table in Parquet is read where it is.
    File(File),
    /// Anything else, gzip'ed or plain. Of a table in Parquet a copy is put to [`Import::scratch`]
    /// first, as it has its list of contents at its end.
    Stream(Box<dyn Read + 'a>),
}

/// Reads a log in one piece and writes a trace: [`import_all`] of what [`Import::file`] names.
///
/// # Errors
/// [`ImportError`]: unreadable input, a header without a column that is needed, a malformed line
/// more than may be skipped, no job, or an output that fails.
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

/// Reads a log in several files, one after the other, each with its name in messages, and writes one
/// trace. Jobs are numbered through, names mean the same in all.
///
/// # Errors
/// As [`import`].
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
        let see = |bytes: &[u8]| {
            if let Some(digest) = &mut digest {
                digest.update(bytes);
            }
        };
        let taken = lines.next(log.separator(), see, |record| {
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
            // A quote that was never to be closed makes one record of lines that are none.
            let is_whole =
                more == 0 || !matches!(&taken, Err(ReadStop::Fault(fault)) if fault.is_of_form());
            let text = if is_whole { text } else { text.lines().next().unwrap_or_default() };
            if !is_whole {
                taken = log.line(Line { number, text }, sink);
            } else if more > 0 {
                sink.passed(number + 1, "line that goes on within quotes", more);
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

/// The map of a table, the user's or its own.
fn map(how: &Import) -> Result<ColumnMap, ImportError> {
    let source = &how.source;
    let own = layouts::layout(source.kind, source.zone.clone()).transpose()?;
    let wants = matches!(source.kind, Kind::Csv | Kind::Parquet);
    match (own, &how.map) {
        (Some(own), None) => Ok(own),
        (None, Some(map)) if wants => Ok(map.clone()),
        (None, None) => Err(ImportError::Map(format!(
            "{source} needs --map FILE, which says which column is what"
        ))),
        (_, Some(_)) => {
            let what = format!("{source} knows its columns: a map is for csv and parquet");
            Err(ImportError::Map(what))
        }
    }
}

/// The reader of a source of text.
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
    /// A strict import of a small log.
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

/// Text without characters that would end a line or act on a terminal.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.replace(char::is_control, "?").into(),
        false => text.into(),
    }
}
