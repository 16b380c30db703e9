//! Another program at the other end of two pipes, which can neither take the memory nor hold
//! up the search, and which does not outlive it.
//!
//! The program is a command of the shell in a process group of its own. First in that group
//! is a *guard*, a shell that reads from a pipe of ours and ends the group when the pipe
//! closes. The system closes it whatever ends us, `kill -9` among it: so the group ends with
//! the search, and nothing but the shell is needed for it. A descendant that leaves the group
//! is beyond reach.

use std::io::{self, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use replay_core::cancel::{CancelToken, Cancelled};
use replay_core::lines::{LineError, Lines};

/// How long the program may go on after it was told that this is the end.
const GRACE: Duration = Duration::from_secs(5);
/// The same if nobody wants to wait any more, or has reason to.
const HASTE: Duration = Duration::from_millis(300);
/// How often somebody who waits for the program looks whether to end.
const LOOK: Duration = Duration::from_millis(20);

/// Lines in either direction that wait for somebody to take them.
const WAITING: usize = 1;

/// RecordedDecision "end", it ends the group at once. If its input closes without a word we are dead: the
/// program has a second.
const GUARD: &str = "trap '' HUP INT TERM; read -r end || { kill -TERM 0; sleep 1; }; kill -KILL 0";

/// A running program. It ends with the value, or with this process.
pub struct Program {
    guard: Child,
    child: Child,
    /// Written by a thread of its own: the program need not read.
    to_program: Option<SyncSender<String>>,
    /// Read by a thread of its own: the program need not speak.
    from_program: Receiver<Result<String, LineError>>,
    /// What it is told last.
    farewell: String,
    stop: CancelToken,
    /// Whether it has made a mistake, so that nothing it may still say matters.
    dismissed: bool,
}

/// What a program says next.
pub enum Said {
    /// A line.
    Line(String),
    /// Nothing more: its standard output is closed.
    Nothing,
}

impl Program {
    /// Starts a command of the shell, which is told `farewell` before it is ended.
    ///
    /// # Errors
    /// Those of the system: no shell, no more processes or threads.
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
                dismiss(&mut guard);
                return Err(error);
            }
        };
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (to_program, answers) = sync_channel(WAITING);
        let (questions, from_program) = sync_channel(WAITING);
        // From here on whatever happens ends the group.
        let to_program = Some(to_program);
        let stop = stop.clone();
        let program =
            Self { guard, child, to_program, from_program, farewell, stop, dismissed: false };
        let (input, output) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let named = |name: &str| thread::Builder::new().name(name.to_string());
        named("to program").spawn(move || write(input, &answers))?;
        named("from program").spawn(move || {
            let mut lines = Lines::new(BufReader::new(output));
            loop {
                let line = lines.next(|line| String::from_utf8_lossy(line).into_owned());
                let last = line.is_err();
                // It ends with the program's output, or when nobody wants it any more.
                let Some(line) = line.transpose() else { break };
                if questions.send(line).is_err() || last {
                    break;
                }
            }
        })?;
        Ok(program)
    }

    /// Says a line, which the program may take its time to read. One that has stopped
    /// listening is found out when it is asked for more.
    pub fn say(&mut self, mut line: String) {
        while let Some(program) = &self.to_program {
            match program.try_send(line) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(_)) if self.stop.is_raised() => return,
                Err(TrySendError::Full(back)) => line = back,
            }
            thread::sleep(LOOK);
        }
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised first; a line that cannot be read.
    pub fn hear(&mut self) -> Result<Result<Said, LineError>, Cancelled> {
        loop {
            self.stop.check()?;
            match self.from_program.recv_timeout(LOOK) {
                Ok(line) => return Ok(line.map(Said::Line)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Ok(Said::Nothing)),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// It has made a mistake: it is not given time to end by itself.
    pub fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// Closes its standard input and waits for its end.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised first; those of the system.
    pub fn hang_up(&mut self) -> Result<io::Result<ExitStatus>, Cancelled> {
        self.to_program = None;
        loop {
            match self.child.try_wait().transpose() {
                Some(ended) => return Ok(ended),
                None => self.stop.check()?,
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let mut farewell = std::mem::take(&mut self.farewell);
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            // It may have answers to read before; behind the last word its input is closed.
            let told = self.to_program.as_ref().map(|program| program.try_send(farewell));
            farewell = match told {
                Some(Err(TrySendError::Full(back))) => back,
                _ => {
                    self.to_program = None;
                    String::new()
                }
            };
            let haste = self.dismissed || self.stop.is_raised();
            let grace = if haste { HASTE } else { GRACE };
            if begin.elapsed() >= grace {
                break;
            }
            thread::sleep(LOOK / 4);
        }
        // With whatever it has started, and whatever became of it.
        dismiss(&mut self.guard);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a guard and its group.
fn dismiss(guard: &mut Child) {
    if let Some(mut input) = guard.stdin.take() {
        let _ = input.write_all(b"end\n");
    }
    let _ = guard.wait();
}

/// Writes what comes until the program takes no more.
fn write(mut program: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if writeln!(program, "{line}").and_then(|()| program.flush()).is_err() {
            break;
        }
    }
}
