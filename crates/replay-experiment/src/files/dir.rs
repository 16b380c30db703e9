use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

use super::file_id::resolved;
use super::part::{is_part_of, part_name};

/// An opened directory. Files are named by their paths relative to this directory (`plots/a.svg`). Symbolic links are
/// not followed, and non-regular files are errors.
#[derive(Debug)]
pub struct Dir {
    handle: File,
    path: PathBuf,
}

/// Flags for opening directories below a [`Dir`].
const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);
/// Flags for opening files. With these flags, opening a pipe does not block.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Calls `openat`, and calls it again if a signal interrupts the call, as the standard library does. Signals
/// interrupt calls on slow file systems such as NFS and FUSE.
fn open_at(
    folder: &File,
    name: impl Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder, name, flags, mode))
}

impl Dir {
    /// Opens a directory. Creates the directory and its parents if they are missing. Links in `path` are followed,
    /// because the user named the directory.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(resolved(path)?)?;
        Self::open(path)
    }

    /// Opens an existing directory. Links in `path` are followed.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = File::open(path)?;
        if !handle.metadata()?.is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        Ok(Self { handle, path: path.to_path_buf() })
    }

    /// Returns the path as named by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// File handle, for locking.
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// Opens a subdirectory of this directory.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails, or if the subdirectory is a symbolic link.
    pub fn below(&self, name: &str) -> io::Result<Self> {
        let mut folder = Self { handle: self.handle.try_clone()?, path: self.path.clone() };
        for part in parts(name)? {
            let path = folder.path.join(part);
            let handle = match open_at(&folder.handle, part, FOLDER, Mode::empty()) {
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let place = path.display();
                    return Err(irregular(&format!(
                        "{place} is not a directory (symbolic links are not followed)"
                    )));
                }
                handle => handle?,
            };
            folder = Self { handle: handle.into(), path };
        }
        Ok(folder)
    }

    /// Creates a subdirectory of this directory, and its missing parents.
    ///
    /// # Errors
    /// See [`below`](Self::below).
    pub fn make(&self, name: &str) -> io::Result<Self> {
        let mut folder = self.below("")?;
        for part in parts(name)? {
            match rustix::fs::mkdirat(&folder.handle, part, Mode::from(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = folder.below(&part.to_string_lossy())?;
        }
        Ok(folder)
    }

    /// Opens the parent directory of a file. Returns the opened directory and the last component of the name.
    fn place<'n>(&self, name: &'n str) -> io::Result<(Self, &'n str)> {
        let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
        parts(last)?;
        Ok((self.below(folder)?, last))
    }

    /// Returns whether a file, a directory or a link with this name exists. A link counts even if its target does not
    /// exist.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails; a missing parent directory is not an error.
    pub fn has(&self, name: &str) -> io::Result<bool> {
        let (folder, last) = match self.place(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            place => place?,
        };
        match rustix::fs::statat(&folder.handle, last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file for reading; `None` if there is no file of this name.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails, or if the file is not regular.
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        self.file_with(name, OFlags::RDONLY)
    }

    /// Opens a regular file with additional flags; `CREATE` creates it if missing.
    ///
    /// # Errors
    /// See [`file`](Self::file).
    pub fn file_with(&self, name: &str, flags: OFlags) -> io::Result<Option<File>> {
        let opened = self.place(name).and_then(|(folder, last)| {
            Ok(open_at(&folder.handle, last, FILE | flags, Mode::from(0o666))?)
        });
        let file: File = match opened {
            Ok(file) => file.into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(irregular("is a symbolic link"));
            }
            // The error `ENXIO` is returned for a pipe without a reader, and for a socket.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                return Err(irregular("is not a regular file"));
            }
            Err(error) => return Err(error),
        };
        match file.metadata()?.is_file() {
            true => Ok(Some(file)),
            false => Err(irregular("is not a regular file")),
        }
    }

    /// Reads a regular file of at most `most` bytes; `None` if there is no file of this name.
    ///
    /// # Errors
    /// See [`file`](Self::file); a larger file is an error.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let too_large =
            || io::Error::new(io::ErrorKind::InvalidData, "is too large for a file of replay");
        if file.metadata()?.len() > most {
            return Err(too_large());
        }
        // The file may grow while it is read.
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > most {
            true => Err(too_large()),
            false => Ok(Some(bytes)),
        }
    }

    /// Writes a file under a temporary name. When the file is complete and on the disk, it is renamed and replaces an
    /// existing file.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_atomically(name, bytes, |folder, part, last| {
            Ok(rustix::fs::renameat(&folder.handle, part, &folder.handle, last)?)
        })
    }

    /// Writes a file as [`put`](Self::put) does, but fails if the name exists.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails, or if the file exists.
    pub fn put_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_atomically(name, bytes, |folder, part, last| {
            folder.rename_new(part, folder, last)
        })
    }

    fn write_atomically(
        &self,
        name: &str,
        bytes: &[u8],
        rename: impl Fn(&Self, &OsStr, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        fault()?;
        let _guard = super::unfinished::lock_writes();
        let (folder, last) = self.place(name)?;
        let (part, mut file) = folder.create_part(OsStr::new(last))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let named = written.and_then(|()| {
            fault()?;
            rename(&folder, &part, last)?;
            folder.sync()
        });
        if named.is_err() && fault().is_ok() {
            // The temporary file was created above.
            let _ = rustix::fs::unlinkat(&folder.handle, &part, AtFlags::empty());
        }
        named
    }

    /// Creates a file under a temporary name. The file is locked until it is closed, so that other processes recognize
    /// that this process writes it. First removes the temporary files of the same name that no process has locked,
    /// because these files were left by killed processes.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub(super) fn create_part(&self, last: &OsStr) -> io::Result<(OsString, File)> {
        for name in self.entries().unwrap_or_default() {
            let name = OsStr::from_bytes(name.to_bytes());
            if is_part_of(name, last) {
                // A file that cannot be removed does not prevent writing.
                let _ = self.remove_if_unlocked(name);
            }
        }
        loop {
            let part = part_name(last);
            let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            // Never open an existing file or follow a link.
            let file = match open_at(&self.handle, &part, flags, Mode::from(0o666)) {
                Err(Errno::EXIST) => continue,
                file => File::from(file?),
            };
            // Between creation and locking, another process may remove the file. A file system without locks returns
            // another error than `WouldBlock`.
            let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && self.is_name_of(&part, &file) {
                return Ok((part, file));
            }
        }
    }

    /// Removes a regular file if no process has locked it.
    fn remove_if_unlocked(&self, name: &OsStr) -> io::Result<()> {
        let file = File::from(open_at(&self.handle, name, FILE | OFlags::RDWR, Mode::empty())?);
        if file.metadata()?.is_file() && file.try_lock().is_ok() && self.is_name_of(name, &file) {
            rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Returns whether a name in this directory leads to an opened file.
    fn is_name_of(&self, name: &OsStr, file: &File) -> bool {
        let named = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        let opened = rustix::fs::fstat(file);
        let id = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        matches!((named, opened), (Ok(named), Ok(opened)) if id(named) == id(opened))
    }

    /// Renames a file; fails if the new name exists.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails, or if the new name exists.
    pub fn rename_new(&self, name: &OsStr, to: &Self, new: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        match rustix::fs::renameat_with(
            &self.handle,
            name,
            &to.handle,
            new,
            rustix::fs::RenameFlags::NOREPLACE,
        ) {
            // Some file systems do not support a rename that fails if the new name exists.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            moved => return Ok(moved?),
        }
        match to.has(new)? {
            true => Err(Errno::EXIST.into()),
            false => Ok(rustix::fs::renameat(&self.handle, name, &to.handle, new)?),
        }
    }

    /// Moves a file to another directory, under the same relative path. Missing subdirectories are created. If a file
    /// with this path already exists in the other directory, the move fails.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn move_to(&self, other: &Self, name: &str) -> io::Result<()> {
        fault()?;
        let (from, last) = self.place(name)?;
        let above = name.rsplit_once('/').map_or("", |(above, _)| above);
        let to = other.make(above)?;
        from.rename_new(OsStr::new(last), &to, last)
    }

    /// Removes a file; a missing file is not an error.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fault()?;
        let (folder, last) = self.place(name)?;
        match rustix::fs::unlinkat(&folder.handle, last, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty subdirectory.
    ///
    /// # Errors
    /// [`io::Error`] if the subdirectory is not empty, or if a file-system operation fails.
    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        fault()?;
        let (above, last) = self.place(name)?;
        Ok(rustix::fs::unlinkat(&above.handle, last, AtFlags::REMOVEDIR)?)
    }

    /// Returns whether all names in the directory start with `prefix`.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn has_only(&self, prefix: &str) -> io::Result<bool> {
        Ok(self.entries()?.iter().all(|name| name.to_bytes().starts_with(prefix.as_bytes())))
    }

    fn entries(&self) -> io::Result<Vec<CString>> {
        let entries = rustix::fs::Dir::read_from(&self.handle)?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
        let others = |name: &CString| ![c".", c".."].contains(&name.as_c_str());
        Ok(names.filter(|name| name.as_ref().map_or(true, others)).collect::<Result<_, _>>()?)
    }

    /// Removes a subdirectory and its content. Links are removed; their targets are kept.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn remove_all(&self, name: &str) -> io::Result<()> {
        fault()?;
        let (above, last) = self.place(name)?;
        above.below(last)?.clear_but("")?;
        Ok(rustix::fs::unlinkat(&above.handle, last, AtFlags::REMOVEDIR)?)
    }

    /// Removes the content of the directory except for the file `kept`, in the same way as
    /// [`remove_all`](Self::remove_all).
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn clear_but(&self, kept: &str) -> io::Result<()> {
        for name in self.entries()?.iter().filter(|name| name.to_bytes() != kept.as_bytes()) {
            fault()?;
            let kind = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let flags = match FileType::from_raw_mode(kind.st_mode) {
                FileType::Directory => {
                    let handle = open_at(&self.handle, name, FOLDER, Mode::empty())?;
                    Self { handle: handle.into(), path: self.path.clone() }.clear_but("")?;
                    AtFlags::REMOVEDIR
                }
                _ => AtFlags::empty(),
            };
            rustix::fs::unlinkat(&self.handle, name, flags)?;
        }
        Ok(())
    }

    /// Checks that this process may create and remove files in the directory.
    ///
    /// # Errors
    /// [`io::Error`] if the permissions do not allow it, or if the file system is read-only.
    pub fn check_writable(&self) -> io::Result<()> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        Ok(rustix::fs::accessat(&self.handle, c".", access, AtFlags::empty())?)
    }

    /// Waits until the names in the directory are on the disk.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails. If the file system cannot synchronize a directory, the call
    /// succeeds.
    pub fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.handle) {
            Err(Errno::INVAL) => Ok(()),
            synced => Ok(synced?),
        }
    }
}

/// A point at which a test can inject a failure, see [`faults`].
fn fault() -> io::Result<()> {
    #[cfg(test)]
    faults::step()?;
    Ok(())
}

fn irregular(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Splits a relative path into its components. Fails if the path leads outside the directory.
fn parts(name: &str) -> io::Result<Vec<&OsStr>> {
    let parts = Path::new(name).components().map(|part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    parts.collect::<Option<_>>().ok_or_else(|| irregular("the path leads outside its directory"))
}

/// Injects failures into file-system steps of this thread, to simulate a failing disk or a killed process.
#[cfg(test)]
pub(super) mod faults {
    use std::cell::Cell;
    use std::io;
    use std::ops::Range;

    thread_local! {
        static STEP: Cell<u32> = const { Cell::new(0) };
        static FAILING: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    }

    /// Makes these steps fail. Steps are counted from the next step, which has number 0.
    pub fn at(steps: Range<u32>) {
        STEP.set(0);
        FAILING.set((steps.start, steps.end));
    }

    pub(super) fn step() -> io::Result<()> {
        let (step, (start, end)) = (STEP.get(), FAILING.get());
        STEP.set(step + 1);
        match (start..end).contains(&step) {
            true => Err(rustix::io::Errno::IO.into()),
            false => Ok(()),
        }
    }
}
