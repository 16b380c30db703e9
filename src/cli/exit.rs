use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use replay_core::naming::NameError;
use replay_core::sanitize::excerpt;
use replay_experiment::compatibility::Incompatible;

/// How the program ends; see the table in [`cli`](crate::cli).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Done.
    Done,
    /// Done, but a check differs or some cells failed.
    Differs,
    /// Usage or configuration.
    Usage,
    /// Bad input data.
    Data,
    /// Interrupted; what was done is written.
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
        Self::usage(error)
    }
}

/// A line on standard error, without what a terminal would act on: names of files and words of logs stand in
/// it. Where nobody can read it, the run goes on all the same; `eprintln!` would panic.
pub fn tell(line: impl Display) {
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

thread_local! {
    /// Lines of this thread that are collected instead of written; `None` if they are written.
    static COLLECTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Returns the lines that `work` would write to standard error from this thread, beside its result.
pub fn collected<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = COLLECTED.replace(Some(Vec::new()));
    let result = work();
    (result, COLLECTED.replace(outer).unwrap_or_default())
}

/// A message without characters that a terminal would act on, but for the ends of its lines.
fn printable(message: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match message.contains(acts) {
        true => message.replace(acts, "\u{fffd}").into(),
        false => message.into(),
    }
}

/// Characters of a message that a reader is shown, and of a word in it that was typed.
const MESSAGE: usize = 3000;
const WORD: usize = 200;

/// A message that quotes a name of megabytes says enough in its beginning.
fn beginning(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}...", &message[..end]).into(),
        None => message.into(),
    }
}

/// A command line that is wrong, its words quoted no longer than helps.
pub fn brief(mut error: clap::Error) -> clap::Error {
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

/// Why the program cannot go on.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    cause: anyhow::Error,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub fn usage(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, cause: cause.into() }
    }

    /// The input is not what it should be.
    pub fn data(cause: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Data, cause: cause.into() }
    }

    /// The user wanted no more of it, and nothing was done yet.
    pub fn interrupted() -> Self {
        Self {
            exit: Exit::Interrupted,
            cause: anyhow::anyhow!("interrupted; nothing was done yet"),
        }
    }

    /// The same failure, with where it comes from.
    pub fn within(self, place: impl Display) -> Self {
        Self { exit: self.exit, cause: self.cause.context(place.to_string()) }
    }

    /// A usage failure in words.
    pub fn usage_message(message: impl Display) -> Self {
        Self::usage(anyhow::anyhow!("{message}"))
    }

    /// An output that cannot be written.
    pub fn output(what: impl Display, cause: impl Into<anyhow::Error>) -> Self {
        Self::usage(cause.into().context(format!("cannot write {what}")))
    }

    /// Returns how the program ends by it.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The cause and its causes. Some of our errors quote theirs; nothing is said twice.
    pub fn message(&self) -> String {
        self.cause.chain().fold(String::new(), |message, cause| {
            let cause = cause.to_string();
            match message.as_str() {
                "" => cause,
                said if said.contains(&cause) => message,
                said => format!("{said}: {cause}"),
            }
        })
    }

    /// Tells the user and gives the exit code. A reader that has closed the pipe has
    /// seen enough: that is success.
    pub fn report(self) -> Exit {
        let mut errors = self.cause.chain().filter_map(|e| e.downcast_ref::<io::Error>());
        if errors.any(|e| e.kind() == io::ErrorKind::BrokenPipe) {
            return Exit::Done;
        }
        tell(format_args!("replay: {}", beginning(&self.message())));
        self.exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(printable("a\tb\nc"), "a\tb\nc");
        assert_eq!(printable("a\u{1b}[31m\u{9b}\r"), "a\u{fffd}[31m\u{fffd}\u{fffd}");
    }
}
