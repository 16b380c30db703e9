use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Dir;
use super::file_id::resolved;
use super::unfinished;

/// A file that is written under a temporary name and renamed when it is complete and on the disk. An existing file is
/// unchanged until the rename; if writing fails, it remains unchanged. A terminal, a pipe or any other non-regular file
/// is written directly.
///
/// Clones share the same file. A clone can therefore be passed to a library that takes a writer and does not return the
/// writer. The first error is stored, because some libraries report an error without its cause or not at all.
#[derive(Clone, Debug)]
pub struct AtomicFile(Arc<Mutex<PartialFile>>);

#[derive(Debug)]
struct PartialFile {
    /// Buffered writer; `None` after the rename.
    out: Option<BufWriter<File>>,
    /// Path of the temporary file; `None` if the file is written directly.
    part: Option<PathBuf>,
    name: PathBuf,
    failed: Option<io::Error>,
}

impl AtomicFile {
    /// Creates a temporary file in the directory of `path`, and missing parent directories. If `path` is a symbolic
    /// link, the target of the link is written, even if it does not exist yet. Temporary files of killed processes for
    /// the same `path` are removed.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails, for example because symbolic links form a loop.
    pub fn create(path: &Path) -> io::Result<Self> {
        let before = match fs::metadata(path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if before.as_ref().is_some_and(|meta| !meta.is_file()) {
            let out = OpenOptions::new().write(true).open(path)?;
            return Ok(Self::new(out, None, path.to_path_buf()));
        }
        let name = match before {
            Some(_) => fs::canonicalize(path)?,
            None => resolved(path)?,
        };
        let last = name.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let above = name.parent().filter(|above| !above.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        let mut unfinished = unfinished::lock_parts();
        let made: Vec<PathBuf> =
            above.ancestors().take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect();
        let created = fs::create_dir_all(above).and_then(|()| Dir::open(above)?.create_part(last));
        let (part, out) = created.inspect_err(|_| unfinished::remove_empty(&made))?;
        let part = name.with_file_name(part);
        unfinished.insert(part.clone(), made);
        if let Some(before) = before {
            // Keep the permissions of the replaced file; ignore file systems without permissions.
            let _ = out.set_permissions(before.permissions());
        }
        Ok(Self::new(out, Some(part), name))
    }

    fn new(out: File, part: Option<PathBuf>, name: PathBuf) -> Self {
        let out = Some(BufWriter::with_capacity(1 << 16, out));
        Self(Arc::new(Mutex::new(PartialFile { out, part, name, failed: None })))
    }

    fn part(&self) -> MutexGuard<'_, PartialFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first write error; `None` if no write has failed.
    pub fn failure(&self) -> Option<io::Error> {
        self.part().failed.as_ref().map(copy)
    }

    /// Waits until the data is on the disk, without renaming the file. Several files that belong together are all
    /// completed before the first of them is [finished](Self::finish).
    ///
    /// # Errors
    /// Returns the first error of an earlier write, or the error of synchronizing the file.
    pub fn complete(&self) -> io::Result<()> {
        let mut part = self.part();
        part.flush()?;
        let synced = part.sync();
        part.record(synced)
    }

    /// [Completes](Self::complete) the file, then renames the file to its final name.
    ///
    /// # Errors
    /// Returns the errors of [`complete`](Self::complete), or the error of renaming the file. If an error is returned,
    /// the file is not renamed.
    pub fn finish(&self) -> io::Result<()> {
        self.complete()?;
        let mut part = self.part();
        let renamed = part.rename();
        part.record(renamed)
    }
}

impl PartialFile {
    /// Stores an error for callers that check only at the end. An interruption by a signal is not stored, because the
    /// writer retries; a stored error would make every retry fail.
    fn record<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed.get_or_insert_with(|| copy(error));
            }
        })
    }

    /// Returns the writer. After a write error, returns the stored error instead of the writer, because data after a
    /// gap is useless.
    fn out(&mut self) -> io::Result<&mut BufWriter<File>> {
        match (&self.failed, &mut self.out) {
            (Some(error), _) => Err(copy(error)),
            (None, Some(out)) => Ok(out),
            (None, None) => Err(io::Error::other("the file is finished")),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out()?.write(bytes);
        self.record(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out()?.flush();
        self.record(flushed)
    }

    fn sync(&self) -> io::Result<()> {
        match (&self.part, &self.out) {
            (Some(_), Some(out)) => out.get_ref().sync_all(),
            _ => Ok(()),
        }
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(part) = &self.part {
            fs::rename(part, &self.name)?;
            unfinished::unregister(part);
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

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // Discard the buffer; dropping the writer would flush it again.
            drop(out.into_parts());
        }
        if let Some(part) = &self.part {
            unfinished::remove(part);
        }
    }
}

/// Copies an error, because `io::Error` is not `Clone`.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// Writes a file atomically; see [`AtomicFile`].
///
/// # Errors
/// [`io::Error`] if a file-system operation fails. If the function fails, an existing file is unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
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
    fn a_file_is_renamed_when_it_is_complete() {
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
    fn foreign_files_with_temporary_names_are_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name| dir.path().join(name);
        fs::write(path("mine"), "mine").expect("a file");
        fs::write(path("b.csv.part"), "mine too").expect("a file");
        std::os::unix::fs::symlink("mine", path("a.csv.part")).expect("a link");
        // A link and its target are the same file.
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

    /// The last bytes may fail to be written when the buffer is flushed at the end.
    #[test]
    #[cfg(target_os = "linux")]
    fn reports_a_full_disk() {
        let dir = tempfile::tempdir().expect("a folder");
        let (name, part) = (dir.path().join("a.csv"), dir.path().join("a.csv.part"));
        fs::write(&name, "old").expect("a file");
        fs::write(&part, "").expect("a file");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut file = AtomicFile::new(full, Some(part), name.clone());
        file.write_all(b"new").expect("into the buffer");
        let message = file.finish().expect_err("no room").to_string();
        assert!(message.starts_with("No space left on device"), "{message}");
        // Further writes do not hide the first error.
        assert!(file.write_all(b"more").is_err() && file.finish().is_err());
        assert_eq!(file.failure().map(|e| e.to_string()), Some(message));
        drop(file);
        assert_eq!(text(&name).as_deref(), Some("old"));
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    #[test]
    fn interruption_by_a_signal_is_not_a_failure() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.csv");
        let mut file = AtomicFile::create(&path).expect("begun");
        let interrupted = io::Error::from(io::ErrorKind::Interrupted);
        file.part().record(Err::<(), _>(interrupted)).expect_err("interrupted");
        assert!(file.failure().is_none());
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(text(&path).as_deref(), Some("new"));
    }

    #[test]
    fn links_are_followed_to_missing_targets() {
        let dir = tempfile::tempdir().expect("a folder");
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, dir.path().join(name)).expect("a link");
        };
        link("second", "first");
        link("below/target", "second");
        link("b", "a");
        link("a", "b");
        write(&dir.path().join("first"), b"new").expect("written");
        assert_eq!(text(&dir.path().join("below/target")).as_deref(), Some("new"));
        let error = write(&dir.path().join("a"), b"new").expect_err("a loop").to_string();
        assert!(error.contains("symbolic links"), "{error}");
        assert_eq!(names(dir.path()), ["a", "b", "below", "first", "second"]);
    }

    #[test]
    fn missing_parents_are_created_and_removed_if_nothing_is_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("new/below/a.csv");
        drop(AtomicFile::create(&path).expect("begun"));
        assert_eq!(names(dir.path()), [""; 0]);
        write(&path, b"new").expect("written");
        assert_eq!(text(&path).as_deref(), Some("new"));
    }

    /// A killed process leaves a file that no process has locked. Files of running processes and foreign files remain.
    #[test]
    fn temporary_files_of_killed_processes_are_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name);
        for number in 0..150 {
            fs::write(path(&format!("a.csv.replay-{number}-0.part")), "half").expect("a file");
        }
        let kept = ["a.csv.part", "a.csv.replay-x-0.part", "b.csv.replay-1-0.part"];
        for name in kept {
            fs::write(path(name), "mine").expect("a file");
        }
        let mut running = AtomicFile::create(&path("a.csv")).expect("begun");
        running.write_all(b"first").expect("written");
        write(&path("a.csv"), b"second").expect("written");
        assert_eq!(names(dir.path()).len(), 1 + kept.len() + 1);
        running.finish().expect("finished");
        assert_eq!(text(&path("a.csv")).as_deref(), Some("first"));
        assert_eq!(names(dir.path()).len(), 1 + kept.len());
        // A name of the maximum length has a temporary name too.
        write(&path(&"n".repeat(255)), b"new").expect("written");
    }

    #[test]
    fn non_regular_files_are_written_directly() {
        write(Path::new("/dev/null"), b"nothing").expect("written");
        assert!(!Path::new("/dev/null.part").exists());
    }
}
