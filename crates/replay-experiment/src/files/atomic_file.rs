use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::unfinished;

/// Names that are tried for a file on its way.
pub(super) const ATTEMPTS: u32 = 100;

/// Where a file of this name is written until it is whole: nobody's file, so perhaps not the
/// first name.
pub(super) fn part_name(name: &OsStr, attempt: u32) -> OsString {
    let mut part = name.to_os_string();
    match attempt {
        0 => part.push(".part"),
        _ => part.push(format!(".{attempt}.part")),
    }
    part
}

/// A file that is written beside its name and takes it when it is whole and on the disk. What
/// had the name before stays as it was until then, or for ever if something fails. What is no
/// regular file, a terminal or a pipe, is written at once.
///
/// Its clones are one file: writers that do not give back what they write to get one of them.
/// The first error is kept, since not every writer tells what went wrong, or that anything did.
#[derive(Clone, Debug)]
pub struct AtomicFile(Arc<Mutex<Part>>);

#[derive(Debug)]
struct Part {
    /// `None` once the file has its name.
    out: Option<BufWriter<File>>,
    /// Where it is, if not at its name.
    part: Option<PathBuf>,
    name: PathBuf,
    failed: Option<io::Error>,
}

impl AtomicFile {
    /// Begins a file. A link to a file is followed: it is that file which is meant.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let before = fs::metadata(path).ok();
        if before.as_ref().is_some_and(|meta| !meta.is_file()) {
            let out = OpenOptions::new().write(true).open(path)?;
            return Ok(Self::new(out, None, path.to_path_buf()));
        }
        let name = match before {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_path_buf(),
        };
        let last = name.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        let mut unfinished = unfinished::creating();
        for attempt in 0..=ATTEMPTS {
            let part = name.with_file_name(part_name(&last, attempt));
            // Never what is there already, nor where a link leads.
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
                Ok(out) => {
                    unfinished.insert(part.clone());
                    if let Some(before) = before {
                        // As private as it was; a file system without such things has none.
                        let _ = out.set_permissions(before.permissions());
                    }
                    return Ok(Self::new(out, Some(part), name));
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn new(out: File, part: Option<PathBuf>, name: PathBuf) -> Self {
        let out = Some(BufWriter::with_capacity(1 << 16, out));
        Self(Arc::new(Mutex::new(Part { out, part, name, failed: None })))
    }

    fn part(&self) -> MutexGuard<'_, Part> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a write failed, if one did.
    pub fn failure(&self) -> Option<io::Error> {
        self.part().failed.as_ref().map(copy)
    }

    /// Waits until everything is on the disk, then gives the file its name.
    ///
    /// # Errors
    /// The first of any write, or of these last steps; the file does not get its name then.
    pub fn finish(&self) -> io::Result<()> {
        let mut part = self.part();
        part.flush()?;
        let named = part.name();
        part.noted(named)
    }
}

impl Part {
    /// The outcome of a step; a failure is kept, for those who are not told. A signal that came
    /// meanwhile is none: the writer tries again, and would do so for ever if it were kept.
    fn noted<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed.get_or_insert_with(|| copy(error));
            }
        })
    }

    /// The file, unless something failed: what follows a gap is worth nothing.
    fn out(&mut self) -> io::Result<&mut BufWriter<File>> {
        match (&self.failed, &mut self.out) {
            (Some(error), _) => Err(copy(error)),
            (None, Some(out)) => Ok(out),
            (None, None) => Err(io::Error::other("the file is finished")),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out()?.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out()?.flush();
        self.noted(flushed)
    }

    fn name(&mut self) -> io::Result<()> {
        if let (Some(part), Some(out)) = (&self.part, &self.out) {
            out.get_ref().sync_all()?;
            fs::rename(part, &self.name)?;
            unfinished::end(part);
        }
        (self.part, self.out) = (None, None);
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part().flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // Not by way of the buffer, which would be written once more.
            drop(out.into_parts());
        }
        if let Some(part) = &self.part {
            // It is ours: it was made for this.
            let _ = fs::remove_file(part);
            unfinished::end(part);
        }
    }
}

/// An error like another; they cannot be cloned.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// Writes a file as [`AtomicFile`] does.
///
/// # Errors
/// Those of the file system; what had the name before is as it was then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Whether two paths lead to one file that is there.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let place = |path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    place(one).is_some_and(|one| place(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|e| name(e).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.csv");
        fs::write(&path, "old").expect("a file");
        let mut file = AtomicFile::create(&path).expect("begun");
        file.write_all(b"new").expect("written");
        assert_eq!((text(&path).as_deref(), names(dir.path()).len()), (Some("old"), 2));
        file.finish().expect("finished");
        assert_eq!(text(&path).as_deref(), Some("new"));
        let mut given_up = AtomicFile::create(&path).expect("begun");
        given_up.write_all(b"half").expect("written");
        drop(given_up);
        assert_eq!(text(&path).as_deref(), Some("new"));
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    #[test]
    fn what_lies_beside_it_is_nobody_elses() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name| dir.path().join(name);
        fs::write(path("mine"), "mine").expect("a file");
        fs::write(path("b.csv.part"), "mine too").expect("a file");
        std::os::unix::fs::symlink("mine", path("a.csv.part")).expect("a link");
        // A link to a file means the file.
        fs::write(path("c.csv"), "old").expect("a file");
        std::os::unix::fs::symlink("c.csv", path("link.csv")).expect("a link");
        for name in ["a.csv", "b.csv", "link.csv"] {
            write(&path(name), b"new").expect("written");
        }
        assert_eq!(text(&path("mine")).as_deref(), Some("mine"));
        assert_eq!(text(&path("b.csv.part")).as_deref(), Some("mine too"));
        assert_eq!(text(&path("c.csv")).as_deref(), Some("new"));
        assert!(fs::symlink_metadata(path("link.csv")).is_ok_and(|meta| meta.is_symlink()));
    }

    /// The last bytes may be the ones that find no room: nobody but the buffer knows of them.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_seen_and_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let (name, part) = (dir.path().join("a.csv"), dir.path().join("a.csv.part"));
        fs::write(&name, "old").expect("a file");
        fs::write(&part, "").expect("a file");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut file = AtomicFile::new(full, Some(part), name.clone());
        file.write_all(b"new").expect("into the buffer");
        let told = file.finish().expect_err("no room").to_string();
        assert!(told.starts_with("No space left on device"), "{told}");
        // A writer that hides the cause, or goes on, changes nothing.
        assert!(file.write_all(b"more").is_err() && file.finish().is_err());
        assert_eq!(file.failure().map(|e| e.to_string()), Some(told));
        drop(file);
        assert_eq!(text(&name).as_deref(), Some("old"));
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    #[test]
    fn a_signal_is_no_failure() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.csv");
        let mut file = AtomicFile::create(&path).expect("begun");
        let interrupted = io::Error::from(io::ErrorKind::Interrupted);
        file.part().noted(Err::<(), _>(interrupted)).expect_err("told");
        assert!(file.failure().is_none());
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(text(&path).as_deref(), Some("new"));
    }

    #[test]
    fn what_is_no_file_is_written_at_once() {
        write(Path::new("/dev/null"), b"nothing").expect("written");
        assert!(!Path::new("/dev/null.part").exists());
    }
}
