use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Error from drawing or writing a figure.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// A file or directory cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// A file has the name of a figure but is not part of a figure of this program.
    #[error("cannot write {path}: the file was not written by replay as a figure; move it away, or choose another directory", path = .0.display())]
    Foreign(PathBuf),
    /// The plotting library failed. The error types of the library differ by back end, so the error is stored as text.
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
