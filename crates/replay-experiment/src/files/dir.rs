use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

/// A folder that was opened once. Its files are named by their path below it (`plots/a.svg`);
/// no link is followed on the way, and what is no regular file is an error.
#[derive(Debug)]
pub struct Dir {
    handle: File,
    path: PathBuf,
}

/// How folders below a [`Dir`] are opened.
const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);
/// How files are: a pipe must not keep us waiting.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// As `openat`, but a signal that comes meanwhile is no failure: slow file systems, NFS and
/// FUSE among them, let one interrupt an opening. The standard library does the same.
fn open_at(
    folder: &File,
    name: impl Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder, name, flags, mode))
}

impl Dir {
    /// Opens a folder, and makes it if need be. Here links are followed: it is the user who
    /// says which folder it is.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// Opens a folder that is there; links are followed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = File::open(path)?;
        if !handle.metadata()?.is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        Ok(Self { handle, path: path.to_path_buf() })
    }

    /// Where it is, as the user said it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The handle, for a lock.
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// A folder below this one.
    ///
    /// # Errors
    /// Those of the file system; a link is one.
    pub fn below(&self, name: &str) -> io::Result<Self> {
        let mut folder = Self { handle: self.handle.try_clone()?, path: self.path.clone() };
        for part in parts(name)? {
            let path = folder.path.join(part);
            let handle = match open_at(&folder.handle, part, FOLDER, Mode::empty()) {
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let place = path.display();
                    return Err(irregular(&format!("{place} is no folder (no link is followed)")));
                }
                handle => handle?,
            };
            folder = Self { handle: handle.into(), path };
        }
        Ok(folder)
    }

    /// Makes a folder below this one, with those above it.
    ///
    /// # Errors
    /// As [`below`](Self::below).
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

    /// The folder that a file is in, and its last name.
    fn place<'n>(&self, name: &'n str) -> io::Result<(Self, &'n str)> {
        let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
        parts(last)?;
        Ok((self.below(folder)?, last))
    }

    /// Whether something has this name, be it a link that leads nowhere.
    ///
    /// # Errors
    /// Those of the file system, but for a folder that is not there.
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

    /// Opens a regular file for reading; `None` if there is none of this name.
    ///
    /// # Errors
    /// Those of the file system; what is there and no regular file is one.
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        self.file_with(name, OFlags::RDONLY)
    }

    /// Opens a regular file, with these ways to use it beside our own; one that is to be made
    /// (`CREATE`) is made.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn file_with(&self, name: &str, flags: OFlags) -> io::Result<Option<File>> {
        let opened = self.place(name).and_then(|(folder, last)| {
            Ok(open_at(&folder.handle, last, FILE | flags, Mode::from(0o666))?)
        });
        let file: File = match opened {
            Ok(file) => file.into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(irregular("it is a link"));
            }
            // A pipe that nobody reads, a socket.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                return Err(irregular("it is no regular file"));
            }
            Err(error) => return Err(error),
        };
        match file.metadata()?.is_file() {
            true => Ok(Some(file)),
            false => Err(irregular("it is no regular file")),
        }
    }

    /// The bytes of a regular file of at most `most` bytes; `None` if there is none of this
    /// name.
    ///
    /// # Errors
    /// As [`file`](Self::file); a larger file is one.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let too_large = || io::Error::new(io::ErrorKind::InvalidData, "it is too large to be ours");
        if file.metadata()?.len() > most {
            return Err(too_large());
        }
        // It may grow meanwhile.
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > most {
            true => Err(too_large()),
            false => Ok(Some(bytes)),
        }
    }

    /// Writes a file that takes its name, perhaps that of an earlier one, when it is whole and
    /// on the disk.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_whole(name, bytes, |folder, part, last| {
            Ok(rustix::fs::renameat(&folder.handle, part, &folder.handle, last)?)
        })
    }

    /// The same, but a file that has the name stays, and is an error.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_whole(name, bytes, |folder, part, last| folder.rename_new(part, folder, last))
    }

    fn write_whole(
        &self,
        name: &str,
        bytes: &[u8],
        rename: impl Fn(&Self, &OsStr, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        fault()?;
        let _whole = super::unfinished::writing();
        let (folder, last) = self.place(name)?;
        let mut left = Vec::new();
        let (part, mut file) = (0..)
            .find_map(|attempt| {
                let part = super::atomic_file::part_name(OsStr::new(last), attempt);
                let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                match open_at(&folder.handle, &part, flags, Mode::from(0o666)) {
                    Err(Errno::EXIST) if attempt < super::atomic_file::ATTEMPTS => {
                        left.push(part);
                        None
                    }
                    opened => Some(opened.map(|file| (part, File::from(file)))),
                }
            })
            .unwrap_or(Err(Errno::EXIST))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let named = written.and_then(|()| {
            fault()?;
            rename(&folder, &part, last)?;
            folder.sync()
        });
        if named.is_err() && fault().is_ok() {
            // It is ours: it was made above.
            let _ = rustix::fs::unlinkat(&folder.handle, &part, AtFlags::empty());
        }
        if named.is_ok() {
            for part in left.iter().filter(|part| folder.begins(part, bytes)) {
                // Whoever was killed amid writing this very file has left it.
                let _ = rustix::fs::unlinkat(&folder.handle, part, AtFlags::empty());
            }
        }
        named
    }

    /// Whether a regular file holds the beginning of these bytes, and is not empty.
    fn begins(&self, name: &OsStr, bytes: &[u8]) -> bool {
        let text = name.to_str().and_then(|name| self.read(name, bytes.len() as u64).ok()?);
        text.is_some_and(|text| !text.is_empty() && bytes.starts_with(&text))
    }

    /// Gives a file a name that nobody has, or fails.
    fn rename_new(&self, name: &OsStr, to: &Self, new: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        match rustix::fs::renameat_with(
            &self.handle,
            name,
            &to.handle,
            new,
            rustix::fs::RenameFlags::NOREPLACE,
        ) {
            // Not every file system can.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            moved => return Ok(moved?),
        }
        match to.has(new)? {
            true => Err(Errno::EXIST.into()),
            false => Ok(rustix::fs::renameat(&self.handle, name, &to.handle, new)?),
        }
    }

    /// Moves a file to the same name below another folder, which is made if need be. A file
    /// that has the name there stays, and is an error.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn move_to(&self, other: &Self, name: &str) -> io::Result<()> {
        fault()?;
        let (from, last) = self.place(name)?;
        let above = name.rsplit_once('/').map_or("", |(above, _)| above);
        let to = other.make(above)?;
        from.rename_new(OsStr::new(last), &to, last)
    }

    /// Removes a file; one that is not there is no error.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fault()?;
        let (folder, last) = self.place(name)?;
        match rustix::fs::unlinkat(&folder.handle, last, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the names of all that is in the folder begin like this.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn has_only(&self, prefix: &str) -> io::Result<bool> {
        Ok(self.entries()?.iter().all(|name| name.to_bytes().starts_with(prefix.as_bytes())))
    }

    fn entries(&self) -> io::Result<Vec<CString>> {
        let entries = rustix::fs::Dir::read_from(&self.handle)?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
        let others = |name: &CString| ![c".", c".."].contains(&name.as_c_str());
        Ok(names.filter(|name| name.as_ref().map_or(true, others)).collect::<Result<_, _>>()?)
    }

    /// Removes a folder below this one with all that is in it. Links go; what they lead to
    /// stays.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove_all(&self, name: &str) -> io::Result<()> {
        fault()?;
        let (above, last) = self.place(name)?;
        above.below(last)?.clear_but("")?;
        Ok(rustix::fs::unlinkat(&above.handle, last, AtFlags::REMOVEDIR)?)
    }

    /// Removes all that is in the folder, as [`remove_all`](Self::remove_all) does, but for
    /// one file.
    ///
    /// # Errors
    /// Those of the file system.
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

    /// Waits until the names in the folder are on the disk.
    ///
    /// # Errors
    /// Those of the file system, unless it has no such thing.
    pub fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.handle) {
            Err(Errno::INVAL) => Ok(()),
            synced => Ok(synced?),
        }
    }
}

/// Where a test may let a step fail, see [`faults`].
fn fault() -> io::Result<()> {
    #[cfg(test)]
    faults::step()?;
    Ok(())
}

fn irregular(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The names of a path below a folder; one that leads out of it is an error.
fn parts(name: &str) -> io::Result<Vec<&OsStr>> {
    let parts = Path::new(name).components().map(|part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    parts.collect::<Option<_>>().ok_or_else(|| irregular("it leads out of its folder"))
}

/// Lets steps of this thread fail, as on a disk that breaks or in a process that is killed.
#[cfg(test)]
pub(super) mod faults {
    use std::cell::Cell;
    use std::io;
    use std::ops::Range;

    thread_local! {
        static STEP: Cell<u32> = const { Cell::new(0) };
        static FAILING: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    }

    /// From now on these steps, counted from 0, fail.
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
