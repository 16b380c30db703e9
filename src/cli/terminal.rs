//! Standard output. On a terminal, control characters of names and texts from input are replaced.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};

/// Whether standard output was closed when the program started.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Records whether standard output is closed. The program must call this function before the Rust runtime starts,
/// because the runtime opens `/dev/null` in place of a closed standard output, so that data would be lost without an
/// error.
pub extern "C" fn record_closed_stdout() {
    let closed = matches!(fcntl_getfd(rustix::stdio::stdout()), Err(Errno::BADF));
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Returns a handle to standard output.
pub fn stdout() -> Stdout {
    let out = io::stdout();
    let filter = out.is_terminal().then(ControlFilter::default);
    Stdout { out, filter }
}

/// A handle to standard output. On a terminal, control characters are replaced with U+FFFD, as on standard error, except
/// line feeds and tabs: a control character of a name in a trace could otherwise change the terminal. A file or a pipe
/// receives the bytes unchanged.
#[derive(Debug)]
pub struct Stdout {
    out: io::Stdout,
    filter: Option<ControlFilter>,
}

impl Stdout {
    fn check_open(&self) -> io::Result<()> {
        match CLOSED.load(Ordering::Relaxed) {
            true => Err(Errno::BADF.into()),
            false => Ok(()),
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_open()?;
        match &mut self.filter {
            None => self.out.write(bytes),
            Some(filter) => self.out.write_all(&filter.filtered(bytes)).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check_open()?;
        self.out.flush()
    }
}

/// Replaces control characters in UTF-8 that arrives in parts.
#[derive(Debug, Default)]
struct ControlFilter {
    /// Whether the last byte was the first byte of a character from U+0080 to U+00BF. The byte is not yet written.
    held: bool,
}

/// First byte of the characters from U+0080 to U+00BF, which include the control characters U+0080 to U+009F.
const HELD: u8 = 0xc2;

impl ControlFilter {
    fn filtered(&mut self, bytes: &[u8]) -> Vec<u8> {
        let replacement = "\u{fffd}".as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match (std::mem::take(&mut self.held), byte) {
                (true, 0x80..0xa0) => out.extend_from_slice(replacement),
                (held, byte) => {
                    if held {
                        out.push(HELD);
                    }
                    match byte {
                        b'\n' | b'\t' => out.push(byte),
                        0..0x20 | 0x7f => out.extend_from_slice(replacement),
                        HELD => self.held = true,
                        _ => out.push(byte),
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        let text = "a\tb\n\u{1b}[31m\u{9b}\r\u{7f}\0 \u{a0}\u{b5}é– x";
        let expected = "a\tb\n\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd} \u{a0}\u{b5}é– x";
        assert_eq!(ControlFilter::default().filtered(text.as_bytes()), expected.as_bytes());
        // The parts of a character may be written separately.
        let mut filter = ControlFilter::default();
        let parts: Vec<u8> = text.bytes().flat_map(|byte| filter.filtered(&[byte])).collect();
        assert_eq!(parts, expected.as_bytes());
    }
}
