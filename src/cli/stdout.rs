//! Standard output.

use std::io::{self, IsTerminal, LineWriter, Stdout};

/// Standard output, line by line.
pub fn stdout() -> LineWriter<Stdout> {
    LineWriter::new(io::stdout())
}

/// Characters in a line of the terminal; `None` if standard output is none, or does not say.
pub fn columns() -> Option<usize> {
    let out = io::stdout();
    let size = rustix::termios::tcgetwinsize(out.is_terminal().then_some(&out)?).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}
