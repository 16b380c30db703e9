use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::moves::State;
use super::{Dir, FileRecord, FolderError, MANIFEST, Results};

/// Pause before the second attempt to read a directory, if another process is replacing its results. A replacement
/// takes milliseconds, because files are only renamed.
const PAUSE: Duration = Duration::from_millis(100);

/// Error from reading a result directory.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// A file or directory cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The file `manifest.json` is not a manifest of this program.
    #[error("{}: not a manifest of replay", .0.display())]
    Manifest(PathBuf),
    /// The digest of a file differs from its digest in the manifest.
    #[error(
        "{}: its digest differs from the digest in {MANIFEST}: the file was changed or damaged after it was \
         written; restore it, or repeat the command that wrote it",
        .0.display()
    )]
    Changed(PathBuf),
    /// A file listed in the manifest is missing.
    #[error(
        "{}: this file is listed in {MANIFEST} but missing; repeat the command that wrote it",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file is not listed in the manifest.
    #[error(
        "{}: this file is not listed in {MANIFEST}: the results were written without it, or the file \
         belongs to another command",
        .0.display()
    )]
    Unlisted(PathBuf),
    /// The directory does not exist, or a file does not exist in a directory without a manifest.
    #[error(
        "{}: no such file: name a directory that a command wrote with --out, or repeat the command if its \
         results were removed",
        .0.display()
    )]
    Absent(PathBuf),
    /// Another process is replacing the results.
    #[error(
        "{}: its results are being replaced: wait for the command that writes to this directory; \
         if that command was killed, repeat it",
        .0.display()
    )]
    BeingReplaced(PathBuf),
}

impl ResultError {
    /// Returns whether a second attempt after a short pause may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::BeingReplaced(_))
    }
}

/// The results of a directory, opened for reading. All results belong to a single manifest.
///
/// Another process may replace results by renaming files. [`file`](Self::file) therefore opens a file once, compares
/// the digest of the opened file with the manifest, and returns the same handle. A later replacement does not affect
/// the reader. A directory without a manifest contains files of other programs. The files of such a directory are
/// returned without a check.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    /// Text of the manifest and the files that it lists; `None` without a manifest.
    manifest: Option<(Vec<u8>, Results)>,
}

impl ResultFolder {
    /// Opens a directory and calls `read`. If another process replaces the results during the call, the directory is
    /// opened again and `read` is called once more.
    ///
    /// # Errors
    /// Errors of `read`, and [`ResultError`] from opening the directory.
    pub fn read<T, E: From<ResultError>>(
        path: &Path,
        mut read: impl FnMut(&Self) -> Result<T, E>,
        is_transient: impl Fn(&E) -> bool,
    ) -> Result<T, E> {
        let mut attempt = || Self::open(path).map_err(E::from).and_then(|folder| read(&folder));
        match attempt() {
            Err(error) if is_transient(&error) => {
                std::thread::sleep(PAUSE);
                attempt()
            }
            outcome => outcome,
        }
    }

    /// Opens a directory and reads its manifest.
    ///
    /// # Errors
    /// [`ResultError::Folder`] if `path` is not a directory, and [`ResultError::Absent`] if `path` does not exist.
    /// [`ResultError::Manifest`] if the manifest was not written by this program. [`ResultError::BeingReplaced`] if
    /// there is no manifest because new results are being moved into the directory.
    pub fn open(path: &Path) -> Result<Self, ResultError> {
        let dir = Dir::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ResultError::Absent(path.to_path_buf()),
            _ => FolderError::io(path)(error).into(),
        })?;
        let manifest = Self::read_manifest(&dir)?;
        if manifest.is_none() {
            // There is no manifest while files are moved. The state is read before the manifest, because the move may
            // end between the two checks.
            let moving = matches!(State::read(&dir), Ok(Some(State::Moving(_))));
            if moving || Self::read_manifest(&dir)?.is_some() {
                return Err(ResultError::BeingReplaced(path.to_path_buf()));
            }
        }
        Ok(Self { path: path.to_path_buf(), manifest })
    }

    /// Reads the manifest of a directory, if present.
    fn read_manifest(dir: &Dir) -> Result<Option<(Vec<u8>, Results)>, ResultError> {
        Results::text(dir).map_err(|error| match error {
            FolderError::Foreign(path) => ResultError::Manifest(path),
            error => error.into(),
        })
    }

    /// Returns the path as named by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text of the manifest; `None` if the directory has no manifest.
    pub fn manifest(&self) -> Option<&[u8]> {
        self.manifest.as_ref().map(|(text, _)| text.as_slice())
    }

    /// Returns the files that the manifest lists; empty if the directory has no manifest.
    pub fn files(&self) -> &[FileRecord] {
        self.manifest.as_ref().map_or(&[], |(_, results)| &results.files)
    }

    /// Compares the digest of each existing table with the manifest. Figures are not checked. A missing table is not an
    /// error here; it is an error when a reader opens the table.
    ///
    /// # Errors
    /// [`ResultError`] if a table is changed or unreadable.
    pub fn check_tables(&self) -> Result<(), ResultError> {
        let tables = self.files().iter().filter(|file| !file.name.contains('/'));
        tables.map(|table| self.file(&table.name)).try_for_each(|opened| match opened {
            Ok(_) | Err(ResultError::Missing(_)) => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Checks the digest of a result file, and returns the opened file, positioned at its beginning.
    ///
    /// # Errors
    /// [`ResultError`] if the file is missing, not listed, changed or unreadable, or if the results are being
    /// replaced.
    pub fn file(&self, name: &str) -> Result<File, ResultError> {
        let path = self.path.join(name);
        let io = |error: io::Error| FolderError::io(&path)(error);
        let opened = File::open(&path).and_then(|file| {
            // A directory can be opened like a file, and reading a pipe might never end.
            match file.metadata()?.is_file() {
                true => Ok(file),
                false => Err(io::Error::other("not a regular file")),
            }
        });
        let Some((_, results)) = &self.manifest else {
            // The directory had no manifest when it was opened. After the directory was opened, results may have been
            // replaced twice.
            let is_replaced = Self::open(&self.path).is_ok_and(|now| now.manifest.is_some());
            return match opened {
                _ if is_replaced => Err(ResultError::BeingReplaced(self.path.clone())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Self::open(&self.path)?;
                    Err(ResultError::Absent(path))
                }
                opened => Ok(opened.map_err(io)?),
            };
        };
        let Some(record) = results.of(name) else {
            return Err(self.unless_replaced(ResultError::Unlisted(path)));
        };
        let mut file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.unless_replaced(ResultError::Missing(path)));
            }
            opened => opened.map_err(io)?,
        };
        let is_same = || -> io::Result<bool> {
            let same =
                file.metadata()?.len() == record.bytes && digest(&mut file)? == record.blake3;
            file.rewind()?;
            Ok(same)
        };
        match { is_same }().map_err(io)? {
            true => Ok(file),
            false => Err(self.unless_replaced(ResultError::Changed(path))),
        }
    }

    /// Returns `error`, which reports that a file does not match the manifest. If the manifest has changed since it was
    /// read, returns [`ResultError::BeingReplaced`] instead.
    fn unless_replaced(&self, error: ResultError) -> ResultError {
        let now = Dir::open(&self.path).ok().and_then(|dir| Results::text(&dir).ok().flatten());
        match (now, &self.manifest) {
            (Some((now, _)), Some((text, _))) if now == *text => error,
            _ => ResultError::BeingReplaced(self.path.clone()),
        }
    }
}

/// Computes the BLAKE3 digest, in hexadecimal, of a file from the current position to the end.
fn digest(file: &mut File) -> io::Result<String> {
    let (mut hasher, mut buffer) = (blake3::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(count) => drop(hasher.update(&buffer[..count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::Folder;

    /// Writes a table of results into a directory. Existing results are replaced.
    fn write(path: &Path, text: &str) {
        let folder = Folder::claim(path, "1 on a", false).expect("a folder");
        let staging = folder.stage().expect("begun");
        let table = staging.path().join("runs.csv");
        fs::write(&table, text).expect("a table");
        let manifest = |files: &[FileRecord]| {
            let made_of = serde_json::json!({"program": "replay", "format": 1, "kind": "run",
                "made_of": text, "files": files});
            serde_json::to_string(&made_of)
        };
        staging.commit(&[table], manifest).expect("in place");
    }

    fn text(folder: &ResultFolder) -> Result<String, ResultError> {
        let mut text = String::new();
        folder.file("runs.csv")?.read_to_string(&mut text).expect("text");
        Ok(text)
    }

    #[test]
    fn rereads_results_replaced_between_manifest_and_table() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), "one");
        let mut attempts = 0;
        let read = |folder: &ResultFolder| {
            attempts += 1;
            if attempts == 1 {
                write(dir.path(), "two");
            }
            let manifest = String::from_utf8_lossy(folder.manifest().expect("one")).into_owned();
            text(folder).map(|text| (manifest, text))
        };
        let (manifest, text) =
            ResultFolder::read(dir.path(), read, ResultError::is_transient).expect("the second");
        assert!(manifest.contains("\"made_of\":\"two\"") && text == "two", "{manifest} {text}");
        assert_eq!(attempts, 2);
    }

    #[test]
    fn fails_if_results_are_replaced_repeatedly() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), "0");
        let mut attempts = 0;
        let read = |folder: &ResultFolder| {
            attempts += 1;
            write(dir.path(), &attempts.to_string());
            text(folder)
        };
        let error = ResultFolder::read(dir.path(), read, ResultError::is_transient);
        assert!(matches!(error, Err(ResultError::BeingReplaced(_))), "{error:?}");
        assert_eq!(attempts, 2);
    }

    #[test]
    fn an_open_table_is_the_checked_one() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), "one");
        let folder = ResultFolder::open(dir.path()).expect("results");
        let mut file = folder.file("runs.csv").expect("checked");
        write(dir.path(), "two");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "one");
    }

    #[test]
    fn reports_a_changed_file() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), "one");
        let table = dir.path().join("runs.csv");
        let folder = ResultFolder::open(dir.path()).expect("results");
        assert!(matches!(folder.file("jobs.csv"), Err(ResultError::Unlisted(_))));
        fs::write(&table, "onE").expect("changed");
        assert!(matches!(text(&folder), Err(ResultError::Changed(path)) if path == table));
        fs::remove_file(&table).expect("gone");
        assert!(matches!(text(&folder), Err(ResultError::Missing(path)) if path == table));
        // Files in a folder without a manifest are treated as files of another program.
        fs::write(&table, "three").expect("changed");
        fs::remove_file(dir.path().join(MANIFEST)).expect("gone");
        assert!(matches!(text(&folder), Err(ResultError::BeingReplaced(_))));
        let folder = ResultFolder::open(dir.path()).expect("a folder");
        assert_eq!(text(&folder).expect("unchecked"), "three");
    }

    #[test]
    fn a_directory_without_manifest_rejects_files_of_new_results() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = ResultFolder::open(dir.path()).expect("a folder");
        let absent = text(&folder).expect_err("no file");
        assert!(matches!(absent, ResultError::Absent(_)), "{absent:?}");
        let named = dir.path().join("runs.csv").display().to_string();
        assert!(absent.to_string().starts_with(&named), "{absent}");
        write(dir.path(), "one");
        for name in ["runs.csv", "jobs.csv"] {
            let error = folder.file(name);
            assert!(matches!(error, Err(ResultError::BeingReplaced(_))), "{error:?}");
        }
    }

    #[test]
    fn a_directory_during_replacement_has_no_results() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), "one");
        fs::remove_file(dir.path().join(MANIFEST)).expect("gone");
        let part = dir.path().join("unfinished.part");
        fs::create_dir(&part).expect("a folder");
        let state = r#"{"program":"replay","format":1,"state":{"moving":{"new":[],"old":[]}}}"#;
        fs::write(part.join("state.json"), state).expect("a state");
        let opened = ResultFolder::open(dir.path());
        assert!(matches!(opened, Err(ResultError::BeingReplaced(_))), "{opened:?}");
    }
}
