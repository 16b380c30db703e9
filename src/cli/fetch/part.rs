//! The file of a trace while it is incomplete.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use replay_experiment::files::Dir;

/// The file NAME.part in the folder of the final file NAME. It remains after an interruption. An empty part, and a new
/// folder without a file, are removed. The file is locked: two processes never write to the same part.
#[derive(Debug)]
pub struct Part {
    dir: Dir,
    /// The final name.
    name: String,
    path: PathBuf,
    file: File,
    /// Whether the file still has the name of an incomplete file.
    is_pending: bool,
    /// Whether the folder was created for this file.
    is_new_dir: bool,
}

/// Error: the incomplete file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// Another process fetches the trace.
    #[error("{}: another process writes this file; wait until it ends", .0.display())]
    Busy(PathBuf),
    /// The name belongs to a folder, a link or a device.
    #[error("{}: not a regular file; move it away", .0.display())]
    Irregular(PathBuf),
    /// A file of this name appeared during the download.
    #[error("{} exists and is not replaced; move it away", .0.display())]
    Exists(PathBuf),
    /// A file-system operation failed.
    #[error("cannot write {}: {error}; select another folder with --to DIR", .path.display())]
    Io {
        /// The incomplete file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl Part {
    /// Opens the part of the file `name` in a folder. A missing part and a missing folder are created.
    ///
    /// # Errors
    /// [`PartError`] if another process writes the part, or the file cannot be opened.
    pub fn open(dir: &Path, name: &str) -> Result<Self, PartError> {
        let path = dir.join(format!("{name}.part"));
        let failed = |error| PartError::Io { path: path.clone(), error };
        let is_new_dir = !dir.exists();
        let dir = Dir::create(dir).map_err(failed)?;
        // Between opening and locking, another process may rename the file to its final name. The loop ends, because
        // no process renames a file that this process has locked.
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            // Links are not followed, and a pipe does not block.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let file = match options.custom_flags(flags.bits() as i32).open(&path) {
                Ok(file) => file,
                Err(_) if is_irregular(&path) => return Err(PartError::Irregular(path)),
                Err(error) => return Err(failed(error)),
            };
            let metadata = file.metadata().map_err(failed)?;
            if !metadata.is_file() {
                return Err(PartError::Irregular(path));
            }
            match file.try_lock() {
                // Some file systems have no locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => return Err(PartError::Busy(path)),
            }
            let is_same = std::fs::symlink_metadata(&path)
                .is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino()));
            if is_same {
                return Ok(Self {
                    dir,
                    name: name.to_string(),
                    path,
                    file,
                    is_pending: true,
                    is_new_dir,
                });
            }
        }
    }

    /// Returns the path of the part.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Returns the number of bytes of the part.
    ///
    /// # Errors
    /// [`PartError::Io`] if a file-system operation fails.
    pub fn len(&self) -> Result<u64, PartError> {
        self.file.metadata().map(|metadata| metadata.len()).map_err(|error| self.failed(error))
    }

    /// Moves to the end of the part and returns its length.
    ///
    /// # Errors
    /// [`PartError::Io`] if a file-system operation fails.
    pub fn append(&mut self) -> Result<u64, PartError> {
        self.file.seek(io::SeekFrom::End(0)).map_err(|error| self.failed(error))
    }

    /// Discards the content.
    ///
    /// # Errors
    /// [`PartError::Io`] if a file-system operation fails.
    pub fn restart(&mut self) -> Result<(), PartError> {
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|error| self.failed(error))
    }

    /// Gives the file its final name. An existing file of this name is not replaced.
    ///
    /// # Errors
    /// [`PartError::Exists`] or [`PartError::Io`]; the part remains.
    pub fn finish(mut self) -> Result<(), PartError> {
        self.file.sync_all().map_err(|error| self.failed(error))?;
        let part = format!("{}.part", self.name);
        match self.dir.rename_new(part.as_ref(), &self.dir, &self.name) {
            Ok(()) => {
                self.is_pending = false;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(PartError::Exists(self.dir.path().join(&self.name)))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Deletes the part.
    ///
    /// # Errors
    /// [`PartError::Io`] if a file-system operation fails.
    pub fn delete(mut self) -> Result<(), PartError> {
        self.is_pending = false;
        std::fs::remove_file(&self.path).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> PartError {
        PartError::Io { path: self.path.clone(), error }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.is_pending && self.len().is_ok_and(|bytes| bytes == 0) {
            // An empty part that remains is harmless.
            let _ = std::fs::remove_file(&self.path);
        }
        if self.is_new_dir {
            // Fails if the folder has a file.
            let _ = std::fs::remove_dir(self.dir.path());
        }
    }
}

fn is_irregular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_part_is_locked_and_never_replaces_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut part = Part::open(dir.path(), "a").expect("a part");
        assert!(matches!(Part::open(dir.path(), "a"), Err(PartError::Busy(_))));
        part.file().write_all(b"new").expect("written");
        fs::write(dir.path().join("a"), "mine").expect("a file");
        assert!(matches!(part.finish(), Err(PartError::Exists(_))));
        assert_eq!(fs::read(dir.path().join("a")).expect("a file"), b"mine");
        fs::remove_file(dir.path().join("a")).expect("a file");
        let mut part = Part::open(dir.path(), "a").expect("the part remains");
        assert_eq!(part.append().expect("a length"), 3);
        part.finish().expect("renamed");
        assert_eq!(fs::read(dir.path().join("a")).expect("a file"), b"new");
        assert!(!dir.path().join("a.part").exists());
    }

    #[test]
    fn an_empty_part_is_removed_and_links_are_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        drop(Part::open(dir.path(), "a").expect("a part"));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
        fs::write(dir.path().join("mine"), "mine").expect("a file");
        std::os::unix::fs::symlink("mine", dir.path().join("a.part")).expect("a link");
        fs::create_dir(dir.path().join("b.part")).expect("a folder");
        for name in ["a", "b"] {
            let opened = Part::open(dir.path(), name);
            assert!(matches!(opened, Err(PartError::Irregular(_))), "{opened:?}");
        }
    }
}
