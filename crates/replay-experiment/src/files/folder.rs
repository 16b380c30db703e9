use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::moves::{self, Recovered};
use super::{Dir, FileRecord, MANIFEST, Results, Staging, atomic_file};

/// The file by which a process says that it works in a folder.
const LOCK: &str = "lock";
/// How such a file begins, and its largest size.
const WORD: &[u8] = b"process ";
const LARGEST: u64 = 512;

/// What cannot be done in a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process works there.
    #[error("{} is in use by {holder}", .dir.display())]
    Held {
        /// The folder.
        dir: PathBuf,
        /// Who, as it said itself.
        holder: String,
    },
    /// The file system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else's file is in the way.
    #[error("{} is not of this program: move it away, or name another folder", .0.display())]
    Foreign(PathBuf),
    /// A result is not what was written.
    #[error("{} was changed after it was written: move it away, or replace it with --force", .0.display())]
    Changed(PathBuf),
    /// The folder has other results: those of another command, or of another configuration.
    #[error("it holds {0}: choose another folder, or replace them with --force")]
    Other(String),
}

impl FolderError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_path_buf(), source }
    }
}

/// A folder held by this process, together with its opened [`Dir`]. The system releases it
/// when the value is dropped or the process ends, however it ends.
///
/// The folder itself is locked, and for a writer the file `lock` in it as well, which says who
/// holds it: not every file system can lock a folder, NFS cannot. Where neither can be locked,
/// no other process is noticed.
#[derive(Debug)]
pub struct DirLock {
    dir: Dir,
    _file: Option<File>,
    /// Whether the lock's file is ours to remove.
    ours: bool,
    /// Whether the folder goes too if nothing has come into it.
    new: bool,
}

impl DirLock {
    /// Takes a folder for writing. `holder` is what another process is told about this one:
    /// process id and host.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn exclusive(dir: Dir, holder: &str) -> Result<Self, FolderError> {
        let alone = dir.handle().try_lock();
        let nobody_else = alone.is_ok();
        free(&dir, alone)?;
        let path = dir.path().join(LOCK);
        let io = || FolderError::io(&path);
        // What a process left that was killed while it wrote its lock.
        let part = atomic_file::part_name(LOCK.as_ref(), 0);
        let part = part.to_string_lossy();
        if nobody_else && dir.read(&part, LARGEST).is_ok_and(|said| is_lock(&said)) {
            dir.remove(&part).map_err(io())?;
        }
        let says = format!("process {holder}\n");
        let mut file = loop {
            // A lock of ours is never empty, whenever we are killed: an empty file is another's.
            match dir.put_new(LOCK, says.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(io()(error));
                }
                _ => {}
            }
            let Some(file) = dir.file_with(LOCK, OFlags::RDWR).map_err(io())? else { continue };
            free(&dir, file.try_lock())?;
            // Its last holder may have removed it after we opened it.
            if is_at(&file, &dir).map_err(io())? {
                break file;
            }
        };
        if !is_lock(&dir.read(LOCK, LARGEST).map_err(io())?) {
            return Err(FolderError::Foreign(path));
        }
        let written = file
            .rewind()
            .and_then(|()| file.write_all(says.as_bytes()))
            .and_then(|()| file.set_len(says.len() as u64));
        let hold = Self { dir, _file: Some(file), ours: true, new: false };
        written.map_err(io()).map(|()| hold)
    }

    /// Keeps writers out of a folder while it is read; several readers may.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn shared(dir: Dir) -> Result<Self, FolderError> {
        free(&dir, dir.handle().try_lock_shared())?;
        let file = dir.file(LOCK).map_err(FolderError::io(&dir.path().join(LOCK)))?;
        if let Some(file) = &file {
            free(&dir, file.try_lock_shared())?;
        }
        Ok(Self { dir, _file: file, ours: false, new: false })
    }

    /// The folder.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        if self.ours {
            // If it stays, the next holder takes it over.
            let _ = self.dir.remove(LOCK);
        }
        if self.new {
            // Only an empty folder can be removed so.
            let _ = std::fs::remove_dir(self.dir.path());
        }
    }
}

/// Whether a file says what a lock of ours says.
fn is_lock(said: &Option<Vec<u8>>) -> bool {
    said.as_ref().is_some_and(|said| said.starts_with(WORD))
}

/// Whether a lock could be taken. A file system that cannot lock has no say.
fn free(dir: &Dir, outcome: Result<(), TryLockError>) -> Result<(), FolderError> {
    let Err(TryLockError::WouldBlock) = outcome else { return Ok(()) };
    let said = dir.read(LOCK, LARGEST).ok().flatten().unwrap_or_default();
    let holder = match String::from_utf8_lossy(&said).trim() {
        "" => "another process".to_string(),
        holder => holder.to_string(),
    };
    Err(FolderError::Held { dir: dir.path().to_path_buf(), holder })
}

/// Whether an opened lock still has its name.
fn is_at(file: &File, dir: &Dir) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let place = |file: &File| file.metadata().map(|meta| (meta.dev(), meta.ino()));
    let named = dir.file(LOCK)?;
    Ok(named.map(|named| place(&named)).transpose()? == Some(place(file)?))
}

/// A folder that this process writes results into.
#[derive(Debug)]
pub struct Folder {
    hold: DirLock,
    pub(super) earlier: Option<Results>,
    pub(super) force: bool,
    pub(super) going: Vec<FileRecord>,
}

impl Folder {
    /// Takes a folder for results: makes it if need be, keeps other processes out, tries to
    /// write, and finishes or undoes what an earlier process was killed in. `recovered` hears
    /// of that. With `force`, results are replaced even if somebody changed them. A folder
    /// that was made for nothing goes with the value.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn claim(
        path: &Path,
        holder: &str,
        force: bool,
        mut recovered: impl FnMut(Recovered),
    ) -> Result<Self, FolderError> {
        let new = !path.exists();
        let dir = Dir::create(path).map_err(FolderError::io(path))?;
        let mut hold = DirLock::exclusive(dir, holder)?;
        hold.new = new;
        if let Some(outcome) = moves::recover(hold.dir())? {
            recovered(outcome);
        }
        let earlier = Results::read(hold.dir())?;
        Ok(Self { hold, earlier, force, going: Vec::new() })
    }

    /// The folder as it was opened.
    pub fn dir(&self) -> &Dir {
        self.hold.dir()
    }

    /// Where it is, as the user said it.
    pub fn path(&self) -> &Path {
        self.dir().path()
    }

    /// Whether the user has given up what stands in it.
    pub fn is_forced(&self) -> bool {
        self.force
    }

    /// The results that stand in it, as their manifest says.
    pub fn earlier(&self) -> Option<&Results> {
        self.earlier.as_ref()
    }

    /// Sees that results of these names can be written once they are there: nobody else's
    /// file has such a name, and no result was changed by hand.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn check(&self, names: &[&str]) -> Result<(), FolderError> {
        names.iter().try_for_each(|name| self.replaceable(name).map(drop))
    }

    /// The file of this name, which may be replaced; `None` if there is none.
    pub(super) fn replaceable(&self, name: &str) -> Result<Option<FileRecord>, FolderError> {
        let path = self.path().join(name);
        if !self.dir().has(name).map_err(FolderError::io(&path))? {
            return Ok(None);
        }
        let listed = self.earlier.as_ref().and_then(|earlier| earlier.of(name));
        let Some(listed) = listed else { return Err(FolderError::Foreign(path)) };
        match listed.still(self.dir()).map_err(FolderError::io(&path))? {
            Some(true) => Ok(Some(listed.clone())),
            Some(false) if !self.force => Err(FolderError::Changed(path)),
            _ => FileRecord::of(self.dir(), name).map_err(FolderError::io(&path)),
        }
    }

    /// Removes results of earlier commands, the manifest last; a file that somebody changed
    /// stays.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn discard(&mut self) -> Result<(), FolderError> {
        // What was to go with them goes now, or is begun anew.
        self.going.clear();
        let Some(earlier) = self.earlier.take() else { return Ok(()) };
        for file in &earlier.files {
            let path = self.path().join(&file.name);
            let gone = || match file.still(self.dir())? {
                Some(true) => self.dir().remove(&file.name),
                _ => Ok(()),
            };
            gone().map_err(FolderError::io(&path))?;
        }
        self.dir().remove(MANIFEST).map_err(FolderError::io(&self.path().join(MANIFEST)))
    }

    /// Lets a file of ours that no manifest lists go when new results take their place.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn schedule_removal(&mut self, name: &str) -> Result<(), FolderError> {
        let path = self.path().join(name);
        self.going.extend(FileRecord::of(self.dir(), name).map_err(FolderError::io(&path))?);
        Ok(())
    }

    /// Begins to write results.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn stage(self) -> Result<Staging, FolderError> {
        Staging::begin(self)
    }
}
