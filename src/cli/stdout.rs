//! Standard output, where nobody may be reading.

use std::io::{self, IsTerminal, LineWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::exit::is_stopped;
use super::interrupt::is_interrupted;
use replay_core::stop::Stopped;

/// Time between two looks at an interruption, in nanoseconds.
const LOOK: i64 = 100_000_000;
/// So often an interrupted program looks whether somebody reads after all.
const PATIENCE: u32 = 5;
/// What a pipe that is ready takes without blocking (`PIPE_BUF` of Linux).
const PIECE: usize = 4096;

/// Nobody has read for so long that nothing more is printed.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Standard output, line by line. While nobody takes what is printed (a full pipe, a terminal that is
/// held), an interruption ends the waiting with an error that [`is_unread`] knows.
pub fn stdout() -> LineWriter<Unread> {
    LineWriter::new(Unread)
}

/// Characters in a line of the terminal; `None` if standard output is none, or does not say.
pub fn columns() -> Option<usize> {
    let out = io::stdout();
    let size = rustix::termios::tcgetwinsize(out.is_terminal().then_some(&out)?).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// Whether an error says that the reader is gone, or that the user did not wait for one.
pub fn is_unread(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || is_stopped(error)
}

/// Standard output by pieces that do not block.
#[derive(Debug)]
pub struct Unread;

impl Write for Unread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let out = io::stdout();
        if GIVEN_UP.load(Ordering::Relaxed) {
            return Err(io::Error::other(Stopped));
        }
        let mut patience = PATIENCE;
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK };
        loop {
            match poll(&mut [PollFd::new(&out, PollFlags::OUT)], Some(&wait)) {
                Ok(0) | Err(Errno::INTR) if is_interrupted() => {
                    patience -= 1;
                    if patience == 0 {
                        GIVEN_UP.store(true, Ordering::Relaxed);
                        return Err(io::Error::other(Stopped));
                    }
                }
                Ok(0) | Err(Errno::INTR) => {}
                // What cannot be asked is told by writing.
                Ok(_) | Err(_) => break,
            }
        }
        match rustix::io::write(&out, &bytes[..bytes.len().min(PIECE)]) {
            Err(Errno::INTR | Errno::AGAIN) => Err(io::ErrorKind::Interrupted.into()),
            written => Ok(written?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_wait_is_known_from_other_errors() {
        assert!(is_stopped(&io::Error::other(Stopped)) && is_unread(&io::Error::other(Stopped)));
        assert!(is_unread(&io::ErrorKind::BrokenPipe.into()));
        for error in [io::Error::other("full"), io::ErrorKind::StorageFull.into()] {
            assert!(!is_stopped(&error) && !is_unread(&error), "{error}");
        }
    }
}
