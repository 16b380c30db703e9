use std::fmt::Display;
use std::io;
use std::process::ExitCode;

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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Differs => 1,
            Exit::Usage => 2,
            Exit::Data => 3,
        })
    }
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

    /// A usage failure in words.
    pub fn usage_message(message: impl Display) -> Self {
        Self::usage(anyhow::anyhow!("{message}"))
    }

    /// An output that cannot be written.
    pub fn output(what: impl Display, cause: impl Into<anyhow::Error>) -> Self {
        Self::usage(cause.into().context(format!("cannot write {what}")))
    }

    /// Tells the user and gives the exit code. A reader that has closed the pipe has
    /// seen enough: that is success.
    pub fn report(self) -> ExitCode {
        let closed_pipe = self
            .cause
            .chain()
            .any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe));
        if closed_pipe {
            return Exit::Done.into();
        }
        eprintln!("replay: {:#}", self.cause);
        self.exit.into()
    }
}
