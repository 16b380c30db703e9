use std::io;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use replay_experiment::files::AtomicFile;

/// Error from writing a table.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// A file or directory cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// The Parquet library rejected the data or failed to write.
    #[error("cannot write {path}: {source}", path = path.display())]
    Frame {
        /// Path of the file.
        path: PathBuf,
        /// Error of the Parquet library.
        source: PolarsError,
    },
}

impl FrameError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_path_buf(), source }
    }

    /// Converts an error that polars returns when it writes a file. Polars reports a full disk as a format error, so an
    /// I/O error recorded by the file takes precedence.
    pub(super) fn written<'a>(
        path: &'a Path,
        file: &AtomicFile,
    ) -> impl FnOnce(PolarsError) -> Self + 'a {
        let failure = file.failure();
        |source| match failure {
            Some(source) => Self::Io { path: path.to_path_buf(), source },
            None => Self::Frame { path: path.to_path_buf(), source },
        }
    }

    pub(super) fn frame(path: &Path) -> impl FnOnce(PolarsError) -> Self + '_ {
        |source| Self::Frame { path: path.to_path_buf(), source }
    }
}
