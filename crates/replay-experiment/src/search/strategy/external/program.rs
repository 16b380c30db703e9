//! An external program that is connected by two pipes. The program cannot exhaust the memory of this process, cannot
//! block the search, and does not run longer than the search.
//!
//! The program is a shell command in its own process group. The leader of this group is a *guard*: a shell that reads
//! from a pipe of this process and kills the group when the pipe closes. The operating system closes the pipe of the
//! guard when this process ends for any reason, including `kill -9`. The process group therefore ends with the search.
//! A descendant that leaves the group cannot be killed.

use std::io::{self, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::lines::{LineError, Lines};

/// Time within which the program must exit after the last line.
const GRACE: Duration = Duration::from_secs(5);
/// Time within which the program must exit after a cancellation or an invalid line.
const SHORT_GRACE: Duration = Duration::from_millis(300);
/// Interval between checks for cancellation while this process waits for the program.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Capacity of the queue of lines from the program.
const QUEUED_LINES: usize = 1;

/// Maximum number of bytes of lines that the program has not read.
pub const MOST_UNREAD: usize = 256 << 20;

/// Script of the guard. When the guard reads a line from its input, the guard kills the group immediately. If the input
/// closes without a line, this process has ended. The guard then sends SIGTERM, waits for one second, and kills the
/// group.
const GUARD: &str = "trap '' HUP INT TERM; read -r end || { kill -TERM 0; sleep 1; }; kill -KILL 0";

/// A running program. The program is stopped when the value is dropped or when this process ends.
pub struct Program {
    guard: Child,
    child: Child,
    /// Lines for the program. A separate thread writes the lines for the program, because writing blocks if the program
    /// does not read. The queue is limited by [`MOST_UNREAD`].
    to_program: Option<Sender<String>>,
    /// Number of bytes of the lines in the queue for the program and of the line that is being written.
    unread: Arc<AtomicUsize>,
    /// Lines from the program. A separate thread reads the lines of the program, because reading blocks if the program
    /// does not write.
    from_program: Receiver<Result<String, LineError>>,
    /// Last line sent to the program.
    farewell: String,
    stop: CancelToken,
    /// Whether the program has only the short time to exit, because it sent an invalid line.
    has_short_grace: bool,
}

/// Next output of a program.
pub enum Output {
    /// A line.
    Line(String),
    /// The standard output is closed.
    Closed,
}

impl Program {
    /// Starts a shell command. `farewell` is the last line that will be sent to the program.
    ///
    /// # Errors
    /// [`io::Error`] if there is no shell, or if no further process or thread can be created.
    pub fn start(command: &str, farewell: String, stop: &CancelToken) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", GUARD]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = shell.spawn()?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).process_group(guard.id() as i32);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match shell.spawn() {
            Ok(child) => child,
            Err(error) => {
                stop_guard(&mut guard);
                return Err(error);
            }
        };
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (to_program, answers) = channel();
        let (questions, from_program) = sync_channel(QUEUED_LINES);
        // After this statement, dropping the value stops the process group.
        let to_program = Some(to_program);
        let (stop, unread) = (stop.clone(), Arc::new(AtomicUsize::new(0)));
        let written = unread.clone();
        let program = Self {
            guard,
            child,
            to_program,
            unread,
            from_program,
            farewell,
            stop,
            has_short_grace: false,
        };
        let (input, output) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let thread = |name: &str| thread::Builder::new().name(name.to_string());
        thread("to program").spawn(move || write(input, &answers, &written))?;
        thread("from program").spawn(move || {
            let mut lines = Lines::new(BufReader::new(output));
            loop {
                let line = lines.next(|line| String::from_utf8_lossy(line).into_owned());
                let last = line.is_err();
                // The loop ends when the output of the program ends or when the receiver is dropped.
                let Some(line) = line.transpose() else { break };
                if questions.send(line).is_err() || last {
                    break;
                }
            }
        })?;
        Ok(program)
    }

    /// Sends a line to the program without waiting for the program to read it. If the program has closed its input, the
    /// next call of [`next_line`](Self::next_line) detects this. Returns `false`, without sending the line, if the
    /// program has not read earlier lines of [`MOST_UNREAD`] bytes.
    #[must_use]
    pub fn send_line(&mut self, line: String) -> bool {
        if self.unread.load(Ordering::Relaxed) > MOST_UNREAD {
            return false;
        }
        self.unread.fetch_add(line.len(), Ordering::Relaxed);
        if let Some(program) = &self.to_program {
            // The thread that writes the lines ends if the program has closed its input.
            let _ = program.send(line);
        }
        true
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// [`Cancelled`] if cancelled before a line arrives. The inner error is returned for a line that cannot be read.
    pub fn next_line(&mut self) -> Result<Result<Output, LineError>, Cancelled> {
        loop {
            self.stop.check()?;
            match self.from_program.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return Ok(line.map(Output::Line)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Ok(Output::Closed)),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Shortens the time within which the program must exit; called after an invalid line.
    pub fn shorten_grace(&mut self) {
        self.has_short_grace = true;
    }

    /// Closes the standard input of the program and waits for its exit.
    ///
    /// # Errors
    /// [`Cancelled`] if cancelled before the program exits. The inner error is an error of the system.
    pub fn wait_for_exit(&mut self) -> Result<io::Result<ExitStatus>, Cancelled> {
        self.to_program = None;
        loop {
            match self.child.try_wait().transpose() {
                Some(ended) => return Ok(ended),
                None => self.stop.check()?,
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The input of the program is closed after the last line.
        if let Some(program) = self.to_program.take() {
            let _ = program.send(std::mem::take(&mut self.farewell));
        }
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            let is_short = self.has_short_grace || self.stop.is_raised();
            let grace = if is_short { SHORT_GRACE } else { GRACE };
            if begin.elapsed() >= grace {
                break;
            }
            thread::sleep(POLL_INTERVAL / 4);
        }
        // Kill the group with all descendants of the program.
        stop_guard(&mut self.guard);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Stops a guard and its group.
fn stop_guard(guard: &mut Child) {
    if let Some(mut input) = guard.stdin.take() {
        let _ = input.write_all(b"end\n");
    }
    let _ = guard.wait();
}

/// Writes lines until the program closes its input, and subtracts their lengths from `unread`.
fn write(mut program: ChildStdin, lines: &Receiver<String>, unread: &AtomicUsize) {
    for line in lines {
        if writeln!(program, "{line}").and_then(|()| program.flush()).is_err() {
            break;
        }
        unread.fetch_sub(line.len(), Ordering::Relaxed);
    }
}
