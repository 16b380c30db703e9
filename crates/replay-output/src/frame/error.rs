use std::io;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use replay_experiment::files::AtomicFile;

/// A table that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file system refused.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The data frame library refused, or failed to write.
    #[error("cannot write {path}: {source}", path = path.display())]
    Frame {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PolarsError,
    },
}

impl FrameError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_path_buf(), source }
    }

    /// What polars says of a file; a disk that is full it calls a format that is not followed.
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
