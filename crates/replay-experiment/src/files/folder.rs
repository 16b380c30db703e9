use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use super::moves;
use super::{Dir, FileRecord, Results, Staging};

/// Lock file, which identifies the process that uses a directory.
const LOCK: &str = "lock";
/// Prefix of the content of a lock file.
const PREFIX: &[u8] = b"process ";
/// Largest size of a lock file in bytes.
const LARGEST: u64 = 512;

/// Error from using a result directory.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process uses the directory.
    #[error("{} is in use by {holder}", .dir.display())]
    Held {
        /// Path of the directory.
        dir: PathBuf,
        /// Process id and host of the other process, from its lock file.
        holder: String,
    },
    /// A file or directory cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// A file with the same name was not written by this program.
    #[error("{} was not written by replay: move it, or choose another directory", .0.display())]
    Foreign(PathBuf),
    /// A result file was changed after it was written.
    #[error("{} was changed after it was written: move it, or replace it with --force", .0.display())]
    Changed(PathBuf),
    /// The directory contains results of another command or configuration.
    #[error("the directory contains {0}: choose another directory, or replace them with --force")]
    Other(String),
}

impl FolderError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_path_buf(), source }
    }
}

/// A directory that this process has locked. The system releases the lock when the value is dropped or when the process
/// ends for any reason.
///
/// The directory is locked. A writer also locks the file `lock` in the directory; this file identifies the process.
/// Some file systems, such as NFS, cannot lock a directory. If neither the directory nor the file can be locked, other
/// processes are not detected.
#[derive(Debug)]
pub struct DirLock {
    dir: Dir,
    _file: Option<File>,
    /// Whether to remove the lock file on drop.
    ours: bool,
    /// Whether to remove the directory on drop if it is empty.
    new: bool,
}

impl DirLock {
    /// Locks a directory for writing. `holder` is the process id and the host of this process; other processes print
    /// this text in messages.
    ///
    /// # Errors
    /// [`FolderError`] if another process uses the directory, or if the lock file cannot be written or is foreign.
    pub fn exclusive(dir: Dir, holder: &str) -> Result<Self, FolderError> {
        check_lock(&dir, patiently(|| dir.handle().try_lock()))?;
        let path = dir.path().join(LOCK);
        let io = || FolderError::io(&path);
        let content = format!("process {holder}\n");
        let mut file = loop {
            // Lock files of this program are never empty; an empty file is foreign.
            match dir.put_new(LOCK, content.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(io()(error));
                }
                _ => {}
            }
            let Some(file) = dir.file_with(LOCK, OFlags::RDWR).map_err(io())? else { continue };
            check_lock(&dir, patiently(|| file.try_lock()))?;
            // The previous process may have removed the lock file after this process opened it.
            if has_its_name(&file, &dir).map_err(io())? {
                break file;
            }
        };
        if !is_lock(&dir.read(LOCK, LARGEST).map_err(io())?) {
            return Err(FolderError::Foreign(path));
        }
        let written = file
            .rewind()
            .and_then(|()| file.write_all(content.as_bytes()))
            .and_then(|()| file.set_len(content.len() as u64));
        let lock = Self { dir, _file: Some(file), ours: true, new: false };
        written.map_err(io()).map(|()| lock)
    }

    /// Locks a directory for reading. The lock excludes writers but not other readers.
    ///
    /// # Errors
    /// [`FolderError`] if another process has locked the directory for writing.
    pub fn shared(dir: Dir) -> Result<Self, FolderError> {
        check_lock(&dir, patiently(|| dir.handle().try_lock_shared()))?;
        let file = dir.file(LOCK).map_err(FolderError::io(&dir.path().join(LOCK)))?;
        if let Some(file) = &file {
            check_lock(&dir, patiently(|| file.try_lock_shared()))?;
        }
        Ok(Self { dir, _file: file, ours: false, new: false })
    }

    /// The locked directory.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }
}

/// Number of attempts to lock, and the time between them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Tries to lock several times while another process has the lock. A process that this program starts has copies of its
/// handles until it runs its own program, and with them the locks of folders that were just closed.
fn patiently(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            locked => return locked,
        }
    }
    lock()
}

impl Drop for DirLock {
    fn drop(&mut self) {
        if self.ours {
            // If the lock file cannot be removed, the next process replaces it.
            let _ = self.dir.remove(LOCK);
        }
        if self.new {
            // `remove_dir` removes only an empty directory.
            let _ = std::fs::remove_dir(self.dir.path());
        }
    }
}

/// Returns whether `content` is the content of a lock file.
fn is_lock(content: &Option<Vec<u8>>) -> bool {
    content.as_ref().is_some_and(|content| content.starts_with(PREFIX))
}

/// Converts the result of a lock operation. It is not an error if the file system does not support locks.
fn check_lock(dir: &Dir, outcome: Result<(), TryLockError>) -> Result<(), FolderError> {
    let Err(TryLockError::WouldBlock) = outcome else { return Ok(()) };
    let content = dir.read(LOCK, LARGEST).ok().flatten().unwrap_or_default();
    let holder = match String::from_utf8_lossy(&content).trim() {
        "" => "another process".to_string(),
        holder => holder.to_string(),
    };
    Err(FolderError::Held { dir: dir.path().to_path_buf(), holder })
}

/// Returns whether an opened lock file still exists under its name.
fn has_its_name(file: &File, dir: &Dir) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |file: &File| file.metadata().map(|meta| (meta.dev(), meta.ino()));
    let named = dir.file(LOCK)?;
    Ok(named.map(|named| identity(&named)).transpose()? == Some(identity(file)?))
}

/// A directory into which this process writes results.
#[derive(Debug)]
pub struct Folder {
    lock: DirLock,
    pub(super) earlier: Option<Results>,
    pub(super) force: bool,
    pub(super) scheduled_removals: Vec<FileRecord>,
    has_recovered: bool,
}

impl Folder {
    /// Locks a directory for writing results, and creates it if it is missing. If an earlier replacement of results was
    /// interrupted, it is completed. With `force`, results are replaced even if they were changed. If this call creates
    /// the directory and the directory remains empty, it is removed on drop.
    ///
    /// # Errors
    /// [`FolderError`] if the directory is in use, or if it cannot be read, written or recovered.
    pub fn claim(path: &Path, holder: &str, force: bool) -> Result<Self, FolderError> {
        let new = !path.exists();
        let dir = Dir::create(path).map_err(FolderError::io(path))?;
        let mut lock = DirLock::exclusive(dir, holder)?;
        lock.new = new;
        let has_recovered = moves::recover(lock.dir())?;
        let earlier = Results::read(lock.dir())?;
        Ok(Self { lock, earlier, force, scheduled_removals: Vec::new(), has_recovered })
    }

    /// Returns whether [`claim`](Self::claim) completed results of a killed process.
    pub fn has_recovered(&self) -> bool {
        self.has_recovered
    }

    /// The opened directory.
    pub fn dir(&self) -> &Dir {
        self.lock.dir()
    }

    /// Returns the path as named by the user.
    pub fn path(&self) -> &Path {
        self.dir().path()
    }

    /// Returns whether `--force` allows existing results to be replaced even if they were changed.
    pub fn is_forced(&self) -> bool {
        self.force
    }

    /// Returns the existing results as listed in their manifest; `None` if there is no manifest.
    pub fn earlier(&self) -> Option<&Results> {
        self.earlier.as_ref()
    }

    /// Checks that results with these names can be written: no foreign file has one of these names, and no existing
    /// result was changed.
    ///
    /// # Errors
    /// [`FolderError`] if a file is foreign, changed or unreadable.
    pub fn check(&self, names: &[&str]) -> Result<(), FolderError> {
        names.iter().try_for_each(|name| self.replaceable(name).map(drop))
    }

    /// Returns the record of the file with this name; `None` if there is no such file. Fails if the file must not be
    /// replaced.
    pub(super) fn replaceable(&self, name: &str) -> Result<Option<FileRecord>, FolderError> {
        let path = self.path().join(name);
        if !self.dir().has(name).map_err(FolderError::io(&path))? {
            return Ok(None);
        }
        let listed = self.earlier.as_ref().and_then(|earlier| earlier.of(name));
        let Some(listed) = listed else { return Err(FolderError::Foreign(path)) };
        match listed.is_unchanged(self.dir()).map_err(FolderError::io(&path))? {
            Some(true) => Ok(Some(listed.clone())),
            Some(false) if !self.force => Err(FolderError::Changed(path)),
            _ => FileRecord::of(self.dir(), name).map_err(FolderError::io(&path)),
        }
    }

    /// Schedules the removal of a file that this program wrote but the manifest does not list. The file is removed when
    /// new results are committed.
    ///
    /// # Errors
    /// [`FolderError::Io`] if the file cannot be read.
    pub fn schedule_removal(&mut self, name: &str) -> Result<(), FolderError> {
        let path = self.path().join(name);
        self.scheduled_removals
            .extend(FileRecord::of(self.dir(), name).map_err(FolderError::io(&path))?);
        Ok(())
    }

    /// Cancels the scheduled removals, because the command rewrites the files before it commits results.
    pub fn cancel_removals(&mut self) {
        self.scheduled_removals.clear();
    }

    /// Starts writing results.
    ///
    /// # Errors
    /// [`FolderError`] if the staging directory cannot be created.
    pub fn stage(self) -> Result<Staging, FolderError> {
        Staging::begin(self)
    }
}
