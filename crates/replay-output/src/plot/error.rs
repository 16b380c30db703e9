use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A figure that cannot be drawn or written.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The file system refused.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The plotting library failed; its error types differ by back end, so this is text.
    #[error("cannot draw: {0}")]
    Draw(String),
}

impl PlotError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_path_buf(), source }
    }

    pub(super) fn draw(problem: impl Display) -> Self {
        Self::Draw(problem.to_string())
    }
}
