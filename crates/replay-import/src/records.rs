//! Records of a text: single lines, or several lines if a quoted field contains line breaks (RFC 4180).
//!
//! Without a limit, an opening quote that has no closing quote would make the rest of the file a single record.
//! Therefore at most [`LONGEST`] bytes are read ahead for a record of several lines. If the record does not end within
//! these bytes, or if a closing quote is not at the end of its field, only the first line is a malformed record, and
//! the following lines are read again.

use std::collections::VecDeque;
use std::io::BufRead;

use replay_workload::lines::{LineError, Lines};

/// Largest number of bytes of a record of several lines.
const LONGEST: usize = 1 << 20;

/// A record, or the first line of a malformed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Number of the first line, 1-based.
    pub number: u64,
    /// The lines with their line breaks.
    pub bytes: &'a [u8],
    /// Number of lines after the first.
    pub more: u64,
}

/// A line that was read ahead, with its number.
type Ahead = (u64, Vec<u8>);

/// An input that is read by records.
pub(super) struct Records<R> {
    lines: Lines<R>,
    /// Lines that will be read again.
    again: VecDeque<Ahead>,
    /// All lines of the latest record except its first line.
    latest: Vec<Ahead>,
}

impl<R: BufRead> Records<R> {
    /// Reads records from an input.
    pub fn new(input: R) -> Records<R> {
        Records { lines: Lines::new(input), again: VecDeque::new(), latest: Vec::new() }
    }

    /// Returns the number of the last line that was read from the input, 1-based.
    pub fn number(&self) -> u64 {
        self.lines.number()
    }

    /// Passes the next record to `take` and returns the result of `take`, or `None` at the end of the input. With a
    /// `separator`, fields may be quoted. `visit` is called once for each line of the input. Most records of one line
    /// are not copied.
    ///
    /// # Errors
    /// [`LineError`] if a line is too long or the input fails.
    pub fn next<T>(
        &mut self,
        separator: Option<u8>,
        mut visit: impl FnMut(&[u8]),
        take: impl FnOnce(Record<'_>) -> T,
    ) -> Result<Option<T>, LineError> {
        self.latest.clear();
        let is_open = |bytes: &[u8]| match separator {
            Some(separator) => Quotes::new(separator).after(bytes) == After::Open,
            None => false,
        };
        let mut take = Some(take);
        let (number, mut text) = match self.again.pop_front() {
            Some((number, bytes)) if !is_open(&bytes) => {
                let record = Record { number, bytes: &bytes, more: 0 };
                return Ok(take.map(|take| take(record)));
            }
            Some(first) => first,
            None => {
                let number = self.lines.number() + 1;
                let whole = self.lines.next(|bytes| {
                    visit(bytes);
                    match take.take_if(|_| !is_open(bytes)) {
                        Some(take) => Ok(take(Record { number, bytes, more: 0 })),
                        None => Err(bytes.to_vec()),
                    }
                })?;
                match whole {
                    None => return Ok(None),
                    Some(Ok(taken)) => return Ok(Some(taken)),
                    Some(Err(first)) => (number, first),
                }
            }
        };
        let mut quotes = Quotes::new(separator.unwrap_or_default());
        let mut after = quotes.after(&text);
        let (first, mut length) = (text.len(), text.len());
        let mut ahead: Vec<Ahead> = Vec::new();
        while after == After::Open && length <= LONGEST {
            let line = match self.again.pop_front() {
                Some(line) => Some(line),
                None => {
                    let line = self.lines.next(|bytes| {
                        visit(bytes);
                        bytes.to_vec()
                    })?;
                    line.map(|bytes| (self.lines.number(), bytes))
                }
            };
            let Some(line) = line else { break };
            after = quotes.after(&line.1);
            length += line.1.len();
            ahead.push(line);
        }
        if after == After::Closed {
            ahead.iter().for_each(|(_, bytes)| text.extend_from_slice(bytes));
            self.latest = ahead;
        } else {
            text.truncate(first);
            ahead.into_iter().rev().for_each(|line| self.again.push_front(line));
        }
        let record = Record { number, bytes: &text, more: self.latest.len() as u64 };
        Ok(take.map(|take| take(record)))
    }

    /// Marks the latest record as malformed: all its lines except the first will be read again.
    pub fn part(&mut self) {
        let latest = std::mem::take(&mut self.latest);
        latest.into_iter().rev().for_each(|line| self.again.push_front(line));
    }
}

/// The state of a record after one of its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    /// The record ends with the line.
    Closed,
    /// The record continues on the next line, because a quote is still open.
    Open,
    /// The record is malformed: a closing quote is not at the end of its field.
    Broken,
}

/// Tracks the quotes of a record, line by line.
struct Quotes {
    separator: u8,
    within: bool,
}

impl Quotes {
    fn new(separator: u8) -> Quotes {
        Quotes { separator, within: false }
    }

    /// Processes a line, including its line break.
    fn after(&mut self, line: &[u8]) -> After {
        if !self.within && !line.contains(&b'"') {
            return After::Closed;
        }
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
        let line = &line[..end.map_or(0, |end| end + 1)];
        let (mut at, mut is_start) = (0, !self.within);
        while at < line.len() {
            match (self.within, line[at]) {
                (true, b'"') => match line.get(at + 1) {
                    Some(b'"') => at += 1,
                    Some(&byte) if byte != self.separator => return After::Broken,
                    _ => self.within = false,
                },
                (false, b'"') if is_start => self.within = true,
                _ => {}
            }
            is_start = !self.within && line[at] == self.separator;
            at += 1;
        }
        if self.within { After::Open } else { After::Closed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::split;
    use proptest::prelude::*;

    /// Returns the line number, the text and the number of further lines of each record.
    fn records(text: &str, separator: Option<u8>) -> Vec<(u64, String, u64)> {
        let mut records = Records::new(text.as_bytes());
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        let take = |record: Record<'_>| {
            (record.number, String::from_utf8_lossy(record.bytes).into_owned(), record.more)
        };
        while let Some(one) =
            records.next(separator, |line| seen.extend_from_slice(line), take).expect("memory")
        {
            all.push(one);
        }
        assert_eq!(seen, text.as_bytes());
        all
    }

    #[test]
    fn quoted_fields_may_contain_line_breaks() {
        let of = |text: &str| {
            let all = records(text, Some(b','));
            all.into_iter().map(|(number, text, _)| (number, text)).collect::<Vec<_>>()
        };
        let own = |all: &[(u64, &str)]| {
            all.iter().map(|(number, text)| (*number, text.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(of("1,\"a\nb\",2\n3\n"), own(&[(1, "1,\"a\nb\",2\n"), (3, "3\n")]));
        assert_eq!(of("\"a\"\"\r\n\",2\r\n3"), own(&[(1, "\"a\"\"\r\n\",2\r\n"), (3, "3")]));
        // A quote in the middle of a field is ordinary text. Lines are not joined if a quote has no closing quote, or
        // if text follows the closing quote.
        assert_eq!(of("a\"b\nc\n"), own(&[(1, "a\"b\n"), (2, "c\n")]));
        assert_eq!(of("1,\"a\n2\n3"), own(&[(1, "1,\"a\n"), (2, "2\n"), (3, "3")]));
        assert_eq!(of("1,\"a\n2,\"b\nc\"\n"), own(&[(1, "1,\"a\n"), (2, "2,\"b\nc\"\n")]));
        assert_eq!(records("1,\"a\n2\"\n", None).len(), 2);
    }

    #[test]
    fn an_unclosed_quote_ends_after_a_limit() {
        let text = format!("1,\"a\n{}", "2,b\n".repeat(LONGEST));
        let all = records(&text, Some(b','));
        assert_eq!((all.len(), all[0].2), (LONGEST + 1, 0));
        assert!(all.iter().zip(1..).all(|(record, number)| record.0 == number));
    }

    proptest! {
        /// The records contain all text, in order, and every record of several lines can be split.
        #[test]
        fn records_contain_all_text(text in "[a\",\n\r]{0,40}") {
            let all = records(&text, Some(b','));
            let whole: String = all.iter().map(|(_, text, _)| text.as_str()).collect();
            prop_assert_eq!(&whole, &text);
            let (mut number, mut cells) = (1, Vec::new());
            for (first, text, more) in all {
                prop_assert_eq!(first, number);
                let lines = text.split_inclusive('\n').count() as u64;
                prop_assert_eq!(lines, more + 1);
                number += lines;
                let trimmed = text.trim_end_matches(['\n', '\r']);
                if more > 0 {
                    prop_assert!(split(trimmed, b',', &mut cells).is_ok(), "{:?}", text);
                }
            }
        }
    }
}
