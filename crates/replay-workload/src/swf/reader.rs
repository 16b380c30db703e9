//! Streaming reader. Each call reads one record into a variable of the caller.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::{
    Decoder, Error, ErrorTally, Field, GzipFault, Header, ReadOptions, Reason, Record, RecordError,
    error::hint_about_format, parse,
};
use crate::lines::{LineError, Lines};

/// Maximum length of a line in bytes. The limit detects binary data, which often contain no line ends. In the longest
/// lines of known logs, a list of nodes follows the last field, with one entry per processor.
const MAX_LINE: usize = 1 << 20;

/// Maximum total length of comment lines in bytes.
const LONGEST_HEADER: usize = 1 << 24;

/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 18;

/// Reads an SWF trace line by line.
///
/// The header is collected while reading. In a well-formed file, the header is complete before the first record. Later
/// comments are added when they are read. Blank lines are skipped, CRLF is accepted as a line end, and a byte order
/// mark is skipped. Records may be in any order.
///
/// ```
/// use replay_workload::swf::{Reader, Record};
///
/// let trace = "; MaxProcs: 100\n1 0 5 60 4\n2 9 0 60 8\n";
/// let mut reader = Reader::new(trace.as_bytes(), "trace.swf");
/// let mut record = Record::default();
/// let mut processors = 0;
/// while reader.read_record(&mut record)? {
///     processors += record.allocated_processors;
/// }
/// assert_eq!((processors, reader.line()), (12, 3));
/// assert_eq!(reader.header().max_procs(), Some(100));
/// # Ok::<(), replay_workload::swf::Error>(())
/// ```
pub struct Reader<R> {
    lines: Lines<R>,
    state: State,
    done: bool,
}

/// All state of a [`Reader`] except its input. The state is separate from the input, so that a line can be processed
/// while the input's buffer is borrowed.
struct State {
    file: String,
    options: ReadOptions,
    header: Header,
    line: u64,
    extra: Vec<u8>,
    parents: Vec<i64>,
    tally: ErrorTally,
    others: OtherLines,
    /// Number of records for each number of fields below 18.
    short: [u64; Field::COUNT],
}

/// Statistics of lines that are neither records nor errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherLines {
    /// Number of comments, including the header.
    pub comments: u64,
    /// Number of blank lines.
    pub blank: u64,
}

/// The kind of a line.
enum Line {
    Record,
    Other,
}

impl Reader<BufReader<Decoder<File>>> {
    /// Opens a trace, which may be compressed with gzip. Compression is detected by content.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened or read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match File::open(path).and_then(Decoder::new) {
            Ok(decoder) => Ok(Reader::new(BufReader::with_capacity(BUFFER, decoder), file)),
            Err(source) => Err(Error::Io { file, source }),
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Creates a strict reader; `file` is the name in error messages.
    pub fn new(inner: R, file: impl Into<String>) -> Reader<R> {
        let state = State {
            file: file.into(),
            options: ReadOptions::default(),
            header: Header::default(),
            line: 0,
            extra: Vec::new(),
            parents: Vec::new(),
            tally: ErrorTally::default(),
            others: OtherLines::default(),
            short: [0; Field::COUNT],
        };
        Reader { lines: Lines::new(inner), state, done: false }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: ReadOptions) -> Reader<R> {
        self.state.options = options;
        self
    }

    /// Reads the next record. Returns `false` at the end of the file; the contents of `record` are then unspecified.
    ///
    /// # Errors
    /// [`Error`] if the input fails, or if a line is not a record and the options do not permit another bad line. After
    /// an error, further calls return `false`.
    pub fn read_record(&mut self, record: &mut Record) -> Result<bool, Error> {
        while !self.done {
            match self.read_line(record) {
                Ok(Line::Record) => return Ok(true),
                Ok(Line::Other) => {}
                Err(error) => {
                    self.done = true;
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// Returns the remaining records with their line numbers.
    pub fn records(&mut self) -> impl Iterator<Item = Result<(u64, Record), Error>> {
        let mut record = Record::UNKNOWN;
        std::iter::from_fn(move || match self.read_record(&mut record) {
            Ok(true) => Some(Ok((self.line(), record))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Returns the line number, from 1, of the last record that was read. At the end of the file, returns the number of
    /// the last line.
    pub fn line(&self) -> u64 {
        self.state.line
    }

    /// Returns the text after field 18 of the last record, without leading blanks; usually empty.
    pub fn extra(&self) -> &[u8] {
        &self.state.extra
    }

    /// Returns the preceding jobs of the last record after the first, which is in
    /// [`Record::preceding_job`]; usually empty. Several preceding jobs have the form `1&2&3` in field 17.
    pub fn other_preceding_jobs(&self) -> &[i64] {
        &self.state.parents
    }

    /// Returns the part of the header that has been read.
    pub fn header(&self) -> &Header {
        &self.state.header
    }

    /// Returns the bad lines skipped so far (collecting mode).
    pub fn tally(&self) -> &ErrorTally {
        &self.state.tally
    }

    /// Returns the numbers of comments and blank lines that were read so far. These statistics, the records and the
    /// [tally](Self::tally) together cover all lines.
    pub fn other_lines(&self) -> OtherLines {
        self.state.others
    }

    /// Returns the number of records read so far for each number of fields below 18. The missing fields of these
    /// records have the value -1 (unknown).
    pub fn short_records(&self) -> BTreeMap<usize, u64> {
        let counts = self.state.short.iter().copied().enumerate();
        counts.filter(|(_, records)| *records > 0).collect()
    }

    /// Returns the input, the header, and the tally of bad lines.
    pub fn into_parts(self) -> (R, Header, ErrorTally) {
        (self.lines.into_inner(), self.state.header, self.state.tally)
    }

    /// Reads and processes a line.
    #[inline]
    fn read_line(&mut self, record: &mut Record) -> Result<Line, Error> {
        let Self { lines, state, done } = self;
        match lines.next(|raw| state.take(raw, record)) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => {
                *done = true;
                Ok(Line::Other)
            }
            Err(LineError::Io(error)) => Err(state.input_error(error)),
            Err(LineError::TooLong(start)) => Err(state.endless(&start)),
        }
    }
}

impl State {
    /// Processes a line, including its line end if present.
    #[inline]
    fn take(&mut self, raw: &[u8], record: &mut Record) -> Result<Line, Error> {
        self.line += 1;
        if raw.len() > MAX_LINE {
            return Err(self.endless_line(raw));
        }
        let raw =
            if self.line == 1 { raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw) } else { raw };
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.iter().find(|&&byte| byte != b' ' && byte != b'\t') {
            None => {
                self.others.blank += 1;
                return Ok(Line::Other);
            }
            Some(b';') => {
                self.others.comments += 1;
                if self.header.raw().len() + raw.len() > LONGEST_HEADER {
                    let what = format!("more than {LONGEST_HEADER} bytes of comment lines");
                    return Err(self.not_text(0, what));
                }
                self.header.push_line(raw);
                return Ok(Line::Other);
            }
            Some(_) => {}
        }
        match parse::record(line, record, &mut self.parents) {
            Ok((fields, extra)) => {
                if let Some(short) = self.short.get_mut(fields) {
                    *short += 1;
                }
                self.extra.clear();
                self.extra.extend_from_slice(extra);
                Ok(Line::Record)
            }
            Err(fault) => self.reject(line, fault).map(|()| Line::Other),
        }
    }

    /// Handles a bad line. In strict mode, the line is an error; otherwise the line is counted, and the call fails if
    /// the count exceeds the limit.
    #[cold]
    fn reject(&mut self, line: &[u8], mut fault: parse::Fault) -> Result<(), Error> {
        let limit = self.options.max_errors;
        let control = line.iter().position(|&byte| byte != b'\t' && (byte < b' ' || byte == 0x7f));
        if let Some(place) = control {
            if limit == 0 {
                let what = format!("control byte 0x{:02x} in a record", line[place]);
                return Err(self.not_text(place, what));
            }
            fault =
                parse::Fault { reason: Reason::ControlByte, start: place, end: place + 1, ..fault };
        }
        let OtherLines { comments, blank } = self.others;
        let is_first = self.line == comments + blank + 1;
        let no_number = (fault.field, fault.reason) == (Field::JobNumber, Reason::NotANumber);
        let hint = if is_first && no_number { hint_about_format(line) } else { None };
        let error = RecordError {
            file: self.file.clone(),
            line: self.line,
            column: fault.start + 1,
            field: fault.field,
            reason: fault.reason,
            text: line[fault.start..fault.end].to_vec(),
            source_line: line.to_vec(),
            hint,
        };
        if limit == 0 {
            return Err(Error::Record(Box::new(error)));
        }
        self.tally.add(error, limit);
        if self.tally.total() > limit {
            let tally = Box::new(std::mem::take(&mut self.tally));
            return Err(Error::TooMany { file: self.file.clone(), limit, tally });
        }
        Ok(())
    }

    /// Returns the error for a line that is longer than the maximum length.
    #[cold]
    fn endless(&mut self, start: &[u8]) -> Error {
        self.line += 1;
        self.endless_line(start)
    }

    #[cold]
    fn endless_line(&self, start: &[u8]) -> Error {
        match start.iter().position(|&byte| byte < b' ' && !byte.is_ascii_whitespace()) {
            Some(place) => self.not_text(place, format!("control byte 0x{:02x}", start[place])),
            None => self.not_text(MAX_LINE, format!("a line longer than {MAX_LINE} bytes")),
        }
    }

    fn not_text(&self, place: usize, what: String) -> Error {
        Error::NotText { file: self.file.clone(), line: self.line, column: place + 1, what }
    }

    #[cold]
    fn input_error(&self, source: io::Error) -> Error {
        let file = self.file.clone();
        match GzipFault::of(&source) {
            Some(fault) => Error::Gzip { file, line: self.line, fault },
            None => Error::Io { file, source },
        }
    }
}
