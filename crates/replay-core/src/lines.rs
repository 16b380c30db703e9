//! Text line by line, in bounded memory.
//!
//! Every input that is read by lines is read here: traces, lists of packets, matrices, phases,
//! shapes, journals, what another program says. A line has a longest length, [`LONGEST_LINE`];
//! what has no line ends, such as binary data or an endless device, is found out there.

use std::io::{self, BufRead, Read};

use nom::FindSubstring;

use crate::sanitize::BYTE_ORDER_MARK;

/// Bytes of the longest line, its end included. The longest that mean something are a row of a
/// matrix, and a journal's record of a cell, of as many numbers or job sizes as a machine can
/// have processors.
pub const LONGEST_LINE: usize = 1 << 24;

/// Bytes of the longest text that is read as a whole.
pub const LONGEST_TEXT: u64 = 1 << 24;

/// An input that is read line by line.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    /// The part of a line that came before the end of the input's buffer.
    partial: Vec<u8>,
    number: u64,
}

/// A line that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The input's own complaint.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is longer than [`LONGEST_LINE`]; this is how it begins.
    #[error("a line of more than {LONGEST_LINE} bytes")]
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
    /// The lines of `input`.
    pub fn new(input: R) -> Self {
        Self { input, partial: Vec::new(), number: 0 }
    }

    /// Number of the line that was read last, or that could not be read, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Gives back the input.
    pub fn into_inner(self) -> R {
        self.input
    }

    /// Hands the next line with its end, if it has one, to `take`; `None` at the end of the
    /// input. A line that lies in the input's buffer as a whole is not copied.
    ///
    /// # Errors
    /// [`LineError`].
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
            // nom's one-byte search is memchr.
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

    /// Hands the next line that is not blank to `take`, with its number: without the blanks
    /// around it and the mark of UTF-8 that some programs put first. What is no UTF-8 is
    /// replaced.
    ///
    /// # Errors
    /// [`LineError`].
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

/// The whole of a text that is not longer than [`LONGEST_TEXT`].
///
/// # Errors
/// Those of the input; [`io::ErrorKind::InvalidData`] if it is longer, or no UTF-8.
pub fn whole(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(LONGEST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT {
        let problem = format!("it is longer than {LONGEST_TEXT} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// Without end, and without line ends.
    fn endless() -> impl BufRead {
        BufReader::new(io::repeat(b'7'))
    }

    #[test]
    fn a_line_without_end_is_an_error_with_its_number() {
        let input = BufReader::new("one\n".as_bytes()).chain(endless());
        let mut lines = Lines::new(input);
        assert_eq!(lines.next(<[u8]>::len).expect("a line"), Some(4));
        let Err(LineError::TooLong(start)) = lines.next(<[u8]>::len) else { panic!("a line") };
        assert_eq!((lines.number(), start.len()), (2, LONGEST_LINE));
        // As much as is needed to tell, and no more.
        assert!(start.capacity() <= 2 * LONGEST_LINE);
    }

    #[test]
    fn the_longest_line_is_a_line() {
        let text = [vec![b'x'; LONGEST_LINE - 1], b"\n".to_vec()].concat();
        let mut lines = Lines::new(BufReader::with_capacity(1000, text.as_slice()));
        assert_eq!(lines.next(<[u8]>::len).expect("a line"), Some(LONGEST_LINE));
        let text = [b"x".as_slice(), &text].concat();
        assert!(Lines::new(text.as_slice()).next(|_| ()).is_err());
    }

    #[test]
    fn a_whole_text_has_an_end() {
        assert_eq!(whole("a\nb".as_bytes()).expect("a text"), "a\nb");
        assert!(whole(endless()).is_err());
    }

    proptest! {
        /// Whatever the size of the buffer: the lines, and their numbers.
        #[test]
        fn lines_are_those_of_the_text(text in "[ab\r\n \u{feff}]{0,40}", capacity in 1usize..20) {
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
