//! Reads text line by line in bounded memory.
//!
//! This module reads all line-based inputs: traces, lists of packets, matrices, phases, shapes,
//! journals, and the output of other programs. A line may have at most [`LONGEST_LINE`] bytes. The
//! limit detects input without line ends, such as binary data or an endless device.

use std::io::{self, BufRead, Read};

use nom::FindSubstring;

use crate::sanitize::BYTE_ORDER_MARK;

/// Maximum length of a line in bytes, including its line end. The longest valid lines are the rows of a matrix and the
/// records of cells in a journal. A row of a matrix or a record of a cell can contain a number or a job size for each
/// processor of a machine.
pub const LONGEST_LINE: usize = 1 << 24;

/// Maximum length in bytes of a text that is read as a whole.
pub const LONGEST_TEXT: u64 = 1 << 24;

/// Reads an input line by line.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    /// The beginning of a line that continues beyond the input's buffer.
    partial: Vec<u8>,
    number: u64,
}

/// Error of reading a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Reading the input failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The line is longer than [`LONGEST_LINE`]. The value is the beginning of the line.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong(Vec<u8>),
}

impl From<LineError> for io::Error {
    fn from(error: LineError) -> Self {
        match error {
            LineError::Io(error) => error,
            error => Self::new(io::ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader of the lines of `input`.
    pub fn new(input: R) -> Self {
        Self { input, partial: Vec::new(), number: 0 }
    }

    /// Returns the number, from 1, of the last line that was read, or of the line that could not be
    /// read.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the input.
    pub fn into_inner(self) -> R {
        self.input
    }

    /// Passes the next line, including its line end if present, to `take`; returns `None` at the end
    /// of the input. A line that lies entirely in the input's buffer is not copied.
    ///
    /// # Errors
    /// [`LineError`] if the input fails or the line is too long.
    #[inline]
    pub fn next<T>(&mut self, take: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, LineError> {
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if available.is_empty() {
                let last = std::mem::take(&mut self.partial);
                if last.is_empty() {
                    return Ok(None);
                }
                self.number += 1;
                return Ok(Some(take(&last)));
            }
            // For a single byte, nom's search calls memchr.
            let end = available.find_substring(b"\n".as_slice());
            let read = end.map_or(available.len(), |end| end + 1);
            if self.partial.len() + read > LONGEST_LINE {
                self.number += 1;
                let mut start = std::mem::take(&mut self.partial);
                start.extend_from_slice(&available[..read]);
                start.truncate(LONGEST_LINE);
                return Err(LineError::TooLong(start));
            }
            if end.is_none() {
                self.partial.extend_from_slice(available);
                self.input.consume(read);
                continue;
            }
            self.number += 1;
            let taken = if self.partial.is_empty() {
                take(&available[..read])
            } else {
                self.partial.extend_from_slice(&available[..read]);
                let taken = take(&self.partial);
                self.partial.clear();
                taken
            };
            self.input.consume(read);
            return Ok(Some(taken));
        }
    }

    /// Passes the next non-blank line and its number to `take`, without surrounding whitespace and
    /// without a byte order mark in line 1. Invalid UTF-8 is replaced. Returns `None` at the end of
    /// the input.
    ///
    /// # Errors
    /// [`LineError`] if the input fails or a line is too long.
    pub fn next_text<T>(
        &mut self,
        mut take: impl FnMut(u64, &str) -> T,
    ) -> Result<Option<T>, LineError> {
        loop {
            let number = self.number + 1;
            let taken = self.next(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                let text = match number {
                    1 => text.trim_start_matches(BYTE_ORDER_MARK),
                    _ => &text,
                };
                let text = text.trim();
                (!text.is_empty()).then(|| take(number, text))
            })?;
            match taken {
                None => return Ok(None),
                Some(None) => {}
                Some(taken) => return Ok(taken),
            }
        }
    }
}

/// Reads a text of at most [`LONGEST_TEXT`] bytes.
///
/// # Errors
/// Returns the error of the input, or [`io::ErrorKind::InvalidData`] if the text is longer than [`LONGEST_TEXT`] or is
/// not UTF-8.
pub fn whole(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(LONGEST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT {
        let problem = format!("the text is longer than {LONGEST_TEXT} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// An endless input without line ends.
    fn endless() -> impl BufRead {
        BufReader::new(io::repeat(b'7'))
    }

    #[test]
    fn reports_the_number_of_a_line_that_is_too_long() {
        let input = BufReader::new("one\n".as_bytes()).chain(endless());
        let mut lines = Lines::new(input);
        assert_eq!(lines.next(<[u8]>::len).expect("a line"), Some(4));
        let Err(LineError::TooLong(start)) = lines.next(<[u8]>::len) else { panic!("a line") };
        assert_eq!((lines.number(), start.len()), (2, LONGEST_LINE));
        // Reading stops soon after the limit.
        assert!(start.capacity() <= 2 * LONGEST_LINE);
    }

    #[test]
    fn accepts_a_line_of_the_maximum_length() {
        let text = [vec![b'x'; LONGEST_LINE - 1], b"\n".to_vec()].concat();
        let mut lines = Lines::new(BufReader::with_capacity(1000, text.as_slice()));
        assert_eq!(lines.next(<[u8]>::len).expect("a line"), Some(LONGEST_LINE));
        let text = [b"x".as_slice(), &text].concat();
        assert!(Lines::new(text.as_slice()).next(|_| ()).is_err());
    }

    #[test]
    fn rejects_a_text_that_is_too_long() {
        assert_eq!(whole("a\nb".as_bytes()).expect("a text"), "a\nb");
        assert!(whole(endless()).is_err());
    }

    proptest! {
        /// Lines and their numbers do not depend on the size of the buffer.
        #[test]
        fn splits_a_text_into_lines(text in "[ab\r\n \u{feff}]{0,40}", capacity in 1usize..20) {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()));
            let mut found = Vec::new();
            while let Some(line) = lines.next(<[u8]>::to_vec).expect("memory") {
                found.push(line);
            }
            let expected: Vec<_> = text.as_bytes().split_inclusive(|&byte| byte == b'\n').collect();
            prop_assert_eq!(lines.number() as usize, expected.len());
            prop_assert_eq!(found, expected);
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()));
            let mut found = Vec::new();
            while let Some(line) = lines.next_text(|n, text| (n, text.to_string())).expect("memory") {
                found.push(line);
            }
            let marked = text.trim_start_matches('\u{feff}');
            let numbered = (1u64..).zip(marked.split('\n')).map(|(n, line)| (n, line.trim().to_string()));
            prop_assert_eq!(found, numbered.filter(|(_, line)| !line.is_empty()).collect::<Vec<_>>());
        }
    }
}
