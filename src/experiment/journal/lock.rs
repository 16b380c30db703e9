use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the lock's file in a folder of results.
const NAME: &str = "lock";

/// A folder held by this process. The system releases it when the value is dropped or
/// the process ends, however it ends; the file stays.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// A folder that cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{} is in use by {holder}", .dir.display())]
    Held {
        /// The folder.
        dir: PathBuf,
        /// Who, as it said itself.
        holder: String,
    },
    /// The file system refused.
    #[error("cannot lock {}: {source}", .dir.display())]
    Io {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Lock {
    /// Takes a folder for writing. `holder` is what another process is told about this
    /// one: process id and host.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn exclusive(dir: &Path, holder: &str) -> Result<Self, LockError> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(NAME));
        let mut file = open.map_err(|source| LockError::Io { dir: dir.to_path_buf(), source })?;
        taken(dir, file.try_lock())?;
        let said = file.set_len(0).and_then(|()| writeln!(file, "{holder}"));
        said.map_err(|source| LockError::Io { dir: dir.to_path_buf(), source })?;
        Ok(Self { _file: file })
    }

    /// Keeps writers out of a folder while it is read; several readers may. A folder
    /// without a lock's file, a copy perhaps, has no writer: `None`.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn shared(dir: &Path) -> Result<Option<Self>, LockError> {
        match File::open(dir.join(NAME)) {
            Ok(file) => {
                taken(dir, file.try_lock_shared())?;
                Ok(Some(Self { _file: file }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LockError::Io { dir: dir.to_path_buf(), source }),
        }
    }
}

fn taken(dir: &Path, outcome: Result<(), TryLockError>) -> Result<(), LockError> {
    let dir = dir.to_path_buf();
    match outcome {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(source)) => Err(LockError::Io { dir, source }),
        Err(TryLockError::WouldBlock) => {
            let said = std::fs::read_to_string(dir.join(NAME)).unwrap_or_default();
            let holder = match said.trim() {
                "" => "another process".to_string(),
                holder => holder.to_string(),
            };
            Err(LockError::Held { dir, holder })
        }
    }
}
