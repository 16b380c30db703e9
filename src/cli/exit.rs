//! Exit codes, failures, and lines on standard error.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use replay_engine::naming::NameError;
use replay_engine::sanitize::excerpt;
use replay_experiment::compatibility::Incompatible;
use replay_experiment::resolve::InputError;

/// The outcome of the program; the table in [`cli`](crate::cli) has the exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Done.
    Done,
    /// Done, but a check differs, or some cells or downloads failed.
    Differs,
    /// Usage or configuration.
    Usage,
    /// Bad input data.
    Data,
    /// No space for an output file.
    NoSpace,
    /// Interrupted; finished work is written.
    Interrupted,
}

impl Exit {
    /// The exit code.
    pub const fn code(self) -> i32 {
        match self {
            Exit::Done => 0,
            Exit::Differs => 1,
            Exit::Usage => 2,
            Exit::Data => 3,
            Exit::NoSpace => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code() as u8)
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::usage(error)
    }
}

impl From<Incompatible> for Failure {
    fn from(error: Incompatible) -> Self {
        // With one exception, options have the same names as the keys of a grid file.
        match error.parameter {
            None => Self::usage(error),
            Some("loads") => Self::usage_message(format!("--scale-load: {}", error.problem)),
            // The messages about these options begin with the value of the option.
            Some(
                key @ ("completions" | "deps" | "machine" | "mix" | "network" | "preset"
                | "warm-up"),
            ) => Self::usage_message(format!("--{key} {}", error.problem)),
            Some(key) => Self::usage_message(format!("--{key}: {}", error.problem)),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Usage(cause) => Self::usage(cause),
            InputError::Incompatible(error) => error.into(),
            InputError::Data(cause) => Self::data(cause),
        }
    }
}

/// Writes a line to standard error. Control characters, which file names and texts of logs may contain, are replaced
/// with U+FFFD. Write errors are ignored, whereas `eprintln!` would panic.
pub fn eprint_line(line: impl Display) {
    let line = line.to_string();
    let line = printable(&line);
    let collects = |lines: &mut Option<Vec<String>>| match lines {
        Some(lines) => {
            lines.push(line.to_string());
            true
        }
        None => false,
    };
    if !COLLECTED.with_borrow_mut(collects) {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Writes a warning to standard error, as [`eprint_line`] does. The word `warning` identifies the line for programs that
/// read standard error, such as the Python module.
pub fn eprint_warning(warning: impl Display) {
    eprint_line(format_args!("replay: warning: {warning}"));
}

thread_local! {
    /// Lines of this thread that [`collected`] returns; `None` if lines are written to standard error.
    static COLLECTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs `work` and returns its result and the lines that it would write to standard error on this thread.
pub fn collected<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = COLLECTED.replace(Some(Vec::new()));
    let result = work();
    (result, COLLECTED.replace(outer).unwrap_or_default())
}

/// Replaces the control characters of a message with U+FFFD, except line feeds and tabs.
fn printable(message: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match message.contains(is_control) {
        true => message.replace(is_control, "\u{fffd}").into(),
        false => message.into(),
    }
}

/// Maximum number of characters of a message.
const MESSAGE: usize = 3000;
/// Maximum number of characters of an argument that an error of the parser quotes.
const WORD: usize = 200;

/// Truncates a message, because it may quote a name of megabytes.
fn truncated(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}...", &message[..end]).into(),
        None => message.into(),
    }
}

/// Shortens the arguments that an error of the parser quotes.
pub fn with_short_quotes(mut error: clap::Error) -> clap::Error {
    let long = |(kind, value): (ContextKind, &ContextValue)| match value {
        ContextValue::String(word) if word.chars().nth(WORD).is_some() => {
            Some((kind, excerpt(word)))
        }
        _ => None,
    };
    let long: Vec<_> = error.context().filter_map(long).collect();
    for (kind, word) in long {
        error.insert(kind, ContextValue::String(word));
    }
    error
}

/// An error that ends the program, with its exit code.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    cause: anyhow::Error,
}

impl Failure {
    /// Returns a failure of usage or configuration (exit code 2). If an output file has no space, the exit code is 4.
    pub fn usage(cause: impl Into<anyhow::Error>) -> Self {
        let cause = cause.into();
        let exit = if io_errors(&cause).any(is_no_space) { Exit::NoSpace } else { Exit::Usage };
        Self { exit, cause }
    }

    /// Returns a failure caused by bad input data (exit code 3).
    pub fn data(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Data, cause: cause.into() }
    }

    /// Returns the failure for an interruption before any result exists (exit code 130).
    pub fn interrupted() -> Self {
        Self {
            exit: Exit::Interrupted,
            cause: anyhow::anyhow!("interrupted; nothing was done yet"),
        }
    }

    /// Adds the location of the failure before the message.
    pub fn within(self, place: impl Display) -> Self {
        Self { exit: self.exit, cause: self.cause.context(place.to_string()) }
    }

    /// Returns a failure of usage or configuration (exit code 2) with this message.
    pub fn usage_message(message: impl Display) -> Self {
        Self::usage(anyhow::anyhow!("{message}"))
    }

    /// Returns the failure for an output that cannot be written.
    pub fn output(what: impl Display, cause: impl Into<anyhow::Error>) -> Self {
        Self::usage(cause.into().context(format!("cannot write {what}")))
    }

    /// Returns the failure for standard output that cannot be written, for any reason (exit code 2).
    pub fn stdout(cause: io::Error) -> Self {
        Self { exit: Exit::Usage, ..Self::output("standard output", cause) }
    }

    /// Returns the outcome of the program after this failure.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the message: the texts of the causes, from the outermost to the innermost, joined by colons. A cause is
    /// omitted if the text before it already quotes the cause.
    pub fn message(&self) -> String {
        self.cause.chain().fold(String::new(), |message, cause| {
            let cause = cause.to_string();
            match message.as_str() {
                "" => cause,
                text if text.contains(&cause) => message,
                text => format!("{text}: {cause}"),
            }
        })
    }

    /// Prints the message and returns the exit code. A closed pipe counts as success, without a message.
    pub fn report(self) -> Exit {
        if io_errors(&self.cause).any(|e| e.kind() == io::ErrorKind::BrokenPipe) {
            return Exit::Done;
        }
        eprint_line(format_args!("replay: {}", truncated(&self.message())));
        self.exit
    }
}

/// Returns the I/O errors among the causes of an error.
fn io_errors(error: &anyhow::Error) -> impl Iterator<Item = &io::Error> {
    error.chain().filter_map(|cause| cause.downcast_ref())
}

/// Returns whether a file cannot grow: the disk is full, or a quota or a limit on file size is reached.
fn is_no_space(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(printable("a\tb\nc"), "a\tb\nc");
        assert_eq!(printable("a\u{1b}[31m\u{9b}\r"), "a\u{fffd}[31m\u{fffd}\u{fffd}");
    }

    #[test]
    fn no_space_for_a_file_has_its_own_exit_code() {
        let exit = |number| Failure::output("o", io::Error::from_raw_os_error(number)).exit();
        // EFBIG, ENOSPC, EACCES and ENOTDIR have these numbers on Linux and macOS.
        assert_eq!(
            [27, 28, 13, 20].map(exit),
            [Exit::NoSpace, Exit::NoSpace, Exit::Usage, Exit::Usage]
        );
        assert_eq!(Failure::stdout(io::Error::from_raw_os_error(28)).exit(), Exit::Usage);
    }
}
