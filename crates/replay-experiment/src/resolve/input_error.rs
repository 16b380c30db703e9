use std::fmt::{self, Display};

use crate::compatibility::Incompatible;
use replay_engine::naming::NameError;

/// The reason why a grid cannot run.
#[derive(Debug)]
pub enum InputError {
    /// A name, a key or a combination of them is wrong, or a file cannot be opened.
    Usage(anyhow::Error),
    /// Values of the grid cannot be used together.
    Incompatible(Incompatible),
    /// The contents of a file are invalid.
    Data(anyhow::Error),
}

impl InputError {
    pub(crate) fn usage(cause: impl Into<anyhow::Error>) -> Self {
        Self::Usage(cause.into())
    }

    pub(crate) fn usage_message(message: impl Display) -> Self {
        Self::Usage(anyhow::anyhow!("{message}"))
    }

    pub(crate) fn data(cause: impl Into<anyhow::Error>) -> Self {
        Self::Data(cause.into())
    }

    /// Adds the location of the error before the message.
    pub(super) fn within(self, place: String) -> Self {
        match self {
            Self::Usage(cause) => Self::Usage(cause.context(place)),
            Self::Data(cause) => Self::Data(cause.context(place)),
            Self::Incompatible(error) => Self::Usage(anyhow::Error::new(error).context(place)),
        }
    }
}

impl Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(cause) | Self::Data(cause) => write!(f, "{cause:#}"),
            Self::Incompatible(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {}

impl From<NameError> for InputError {
    fn from(error: NameError) -> Self {
        Self::usage(error)
    }
}

impl From<Incompatible> for InputError {
    fn from(error: Incompatible) -> Self {
        Self::Incompatible(error)
    }
}
