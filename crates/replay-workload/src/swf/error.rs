//! Errors of reading a trace, with their position.

use std::io;

use super::snippet::{clip, snippet};
use super::{ErrorTally, Field};
use crate::naming::texts;
use crate::number::counted;

texts! {
    /// The reason why a line is not a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reason {
        /// The text is not a number.
        NotANumber => "not a number",
        /// The number has a fraction, but the format requires an integer.
        NotAnInteger => "not an integer",
        /// The number is too large: an integer that does not fit in 64 bits, or a time of at least 2^53 seconds.
        OutOfRange => "out of range",
        /// The line ends before field 5, the job's size.
        TooFewFields => "too few fields",
        /// The line contains a control byte, such as 0.
        ControlByte => "a control byte",
    }
}

/// Error: a line is not a record. The error contains the position, the field and the line.
///
/// The message consists of a first line with the position in a notation that editors recognise, the source line, and
/// carets below the offending text:
///
/// ```text
/// trace.swf:4711:9: requested time "12x" is not a number (field 9 of 18)
///   4711 | 1 2 3 4 5 6 7 8 12x 1
///        |                 ^^^
/// ```
///
/// A [hint](Self::hint) follows in a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {}\n{}{}{}", self.message(),
    snippet(*.line, .source_line, *.column - 1, .text.len()),
    if .hint.is_some() { "\nhint: " } else { "" }, .hint.unwrap_or_default())]
pub struct RecordError {
    /// The file name as given by the user.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// Position of the first byte of the offending text in the line, from 1.
    pub column: usize,
    /// The field.
    pub field: Field,
    /// The reason.
    pub reason: Reason,
    /// The complete offending text.
    pub text: Vec<u8>,
    /// The line, without its line end.
    pub source_line: Vec<u8>,
    /// Advice, if the line indicates another format than SWF.
    pub hint: Option<&'static str>,
}

/// Returns advice about a file whose first line that is neither blank nor a comment does not begin with a number.
pub(super) fn hint_about_format(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii();
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    match line.first() {
        Some(b'#') => Some(
            "comments begin with ; in SWF; if # begins the names of the columns, as in the Grid Workload Format, \
             remove the other lines with # and the character # itself, and use replay import csv --map FILE with the \
             separator of the columns",
        ),
        _ if word.iter().any(|byte| matches!(byte, b';' | b',' | b'|')) => Some(
            "blanks separate the fields of SWF; for a table with another separator, use replay import csv --map FILE, \
             where FILE sets separator and columns",
        ),
        Some(first) if first.is_ascii_alphabetic() || *first == b'"' => Some(
            "if this line has the names of the columns, --max-errors 1 skips it; for a table with other columns than \
             SWF, use replay import csv --map FILE",
        ),
        _ => None,
    }
}

impl RecordError {
    /// Returns the message without position and source line, for example `requested time "12x" is not a number (field 9
    /// of 18)`.
    pub fn message(&self) -> String {
        let text = clip(&self.text);
        let (name, number) = (self.field, self.field.number());
        let what = match self.reason {
            Reason::NotANumber => "is not a number",
            Reason::NotAnInteger => "is not an integer",
            Reason::OutOfRange => "is out of range",
            Reason::TooFewFields => {
                return format!(
                    "{name} is missing: the line has {}; at least 5 are required (field {number} of 18)",
                    counted(number as u64 - 1, "field")
                );
            }
            Reason::ControlByte => {
                let byte = self.text.first().copied().unwrap_or_default();
                return format!("control byte 0x{byte:02x} (field {number} of 18)");
            }
        };
        format!("{name} \"{text}\" {what} (field {number} of 18)")
    }
}

/// Error of reading a trace.
///
/// After an error, the reader is at the end of the input: further reads return no records.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened, or the operating system failed to read it.
    #[error("{file}: cannot read: {source}")]
    Io {
        /// The file name as given by the user.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The gzip data are truncated or damaged.
    #[error("{file}: {fault} (after line {line} of the text)")]
    Gzip {
        /// The file name as given by the user.
        file: String,
        /// Number of lines read before the error.
        line: u64,
        /// The defect of the data.
        fault: super::GzipFault,
    },
    /// The input is not a trace: it has control bytes instead of a record, or a line that is too long.
    #[error("{file}:{line}:{column}: {what}: this is not an SWF trace")]
    NotText {
        /// The file name as given by the user.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The position in the line in bytes, from 1.
        column: usize,
        /// Description of the data.
        what: String,
    },
    /// A line is not a record (strict reading).
    #[error(transparent)]
    Record(Box<RecordError>),
    /// The number of bad lines exceeds the limit of the collecting mode.
    #[error("{file}: reading stopped after {} (at most {limit} allowed)\n{tally}",
        counted(.tally.total() as u64, "bad line"))]
    TooMany {
        /// The file name as given by the user.
        file: String,
        /// The limit, [`ReadOptions::max_errors`](super::ReadOptions::max_errors).
        limit: usize,
        /// Statistics of the bad lines.
        tally: Box<ErrorTally>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(
        source_line: &str,
        column: usize,
        text: &str,
        field: Field,
        reason: Reason,
    ) -> RecordError {
        let (text, source_line) = (text.as_bytes().to_vec(), source_line.as_bytes().to_vec());
        RecordError {
            file: "trace.swf".into(),
            line: 4711,
            column,
            field,
            reason,
            text,
            source_line,
            hint: None,
        }
    }

    #[test]
    fn displays_position_line_and_caret() {
        let shown =
            error("1\t2 3 4 5 6 7 8 12x 1", 17, "12x", Field::RequestedTime, Reason::NotANumber)
                .to_string();
        assert_eq!(
            shown,
            "trace.swf:4711:17: requested time \"12x\" is not a number (field 9 of 18)\n  \
             4711 | 1 2 3 4 5 6 7 8 12x 1\n       |                 ^^^"
        );
    }

    #[test]
    fn hints_at_other_formats() {
        let hint = |line: &str| hint_about_format(line.as_bytes()).unwrap_or("none");
        assert!(hint("id\tsubmit\twait").contains("--max-errors 1"));
        assert!(hint("\"id\" \"submit\"").contains("--max-errors 1"));
        assert!(hint("1001;0;-1;15;12").contains("import csv --map FILE"));
        assert!(hint(" id, submit, wait").contains("separator"));
        assert!(hint("1|2|3").contains("separator"));
        assert!(hint("# Grid Workload Format").contains("import csv --map FILE"));
        assert_eq!(hint("x1 2 3".trim_start_matches('x')), "none");
        assert_eq!(hint("- 2 3"), "none");
    }

    #[test]
    fn describes_missing_fields() {
        let few = error("1 2 3", 6, "", Field::RunTime, Reason::TooFewFields);
        assert_eq!(
            few.message(),
            "run time is missing: the line has 3 fields; at least 5 are required (field 4 of 18)"
        );
    }
}
