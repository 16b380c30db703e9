//! Folders of results: written by one process at a time, and whole or as they were.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::exit::{Failure, tell};
use crate::experiment::journal::{JOURNAL_FILE, Lock, LockError};

/// The file that says what stands in a folder, and which files belong to it.
const MANIFEST: &str = "manifest.json";
/// Where results are written until they are whole.
const UNFINISHED: &str = "unfinished.part";
/// Commands whose results lie in folders; sweeps and merges write the same tables, and a run
/// has no word of its own.
const COMMANDS: [&str; 5] = ["sweep", "merge", "search", "stream", "contend"];

/// The command that a command line names: its first word, if it is one.
fn kind(first: Option<&str>) -> &'static str {
    match COMMANDS.into_iter().find(|&command| Some(command) == first) {
        Some("merge") => "sweep",
        Some(command) => command,
        None => "run",
    }
}

/// Claims a folder for the results of a command until the process ends: creates it if need
/// be, keeps other processes out, and tries to write. Results of another command are not
/// written over: a search of a night is not lost to a slip.
pub fn claim(dir: &Path, command: &[OsString]) -> Result<(), Failure> {
    let failed = |e| Failure::output(format!("into --out {}", dir.display()), e);
    fs::create_dir_all(dir).map_err(failed)?;
    if !hold(dir) {
        // A sweep says who it is.
        return Err(match Lock::shared(dir) {
            Err(held @ LockError::Held { .. }) => Failure::usage(held),
            _ => Failure::usage_message(format!("{} is in use by another process", dir.display())),
        });
    }
    check(dir, command).map_err(failed)
}

/// Locks a folder until the process ends. Not every file system can; in one that cannot, no
/// other process is noticed.
fn hold(dir: &Path) -> bool {
    let Ok(folder) = File::open(dir) else { return true };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => true,
        Ok(()) => {
            std::mem::forget(folder);
            true
        }
    }
}

fn check(dir: &Path, command: &[OsString]) -> io::Result<()> {
    let ours = kind(command.get(1).and_then(|word| word.to_str()));
    if let Some(earlier) = earlier(dir)
        && earlier != ours
    {
        return Err(io::Error::other(format!(
            "it holds the results of a {earlier}; name another folder, or remove them"
        )));
    }
    let file = dir.join("manifest.json.part");
    fs::write(&file, b"")?;
    fs::remove_file(&file)
}

/// What stands in a folder.
fn earlier(dir: &Path) -> Option<&'static str> {
    let Ok(text) = fs::read_to_string(dir.join(MANIFEST)) else {
        // A sweep has its manifest only when it is complete.
        return dir.join(JOURNAL_FILE).exists().then_some("sweep");
    };
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    Some(kind(manifest["command"][1].as_str()))
}

/// Results on their way into a folder. They are written beside what stands there and take
/// its place all at once when they are whole, so that a full disk, or a figure that cannot
/// be drawn, costs nothing that was there before. What could not be completed stays in
/// `DIR/unfinished.part` until the next results.
pub struct Staging {
    dir: PathBuf,
    place: PathBuf,
    committed: bool,
}

impl Staging {
    /// Begins to write results for a folder that is claimed.
    pub fn begin(dir: &Path) -> Result<Self, Failure> {
        let place = dir.join(UNFINISHED);
        let begun = match fs::remove_dir_all(&place) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => fs::create_dir(&place),
        };
        begun.map_err(|e| Failure::output(place.display(), e))?;
        Ok(Self { dir: dir.to_path_buf(), place, committed: false })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Puts everything in its place, the manifest last. Files of earlier results, which
    /// their manifest lists, go, so that no old figure stands beside new ones; nothing else
    /// is touched. Returns where the files are that were written as `written`.
    pub fn commit(mut self, written: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        let failed = |e| Failure::output(self.dir.display(), e);
        let earlier = listed(&self.dir.join(MANIFEST));
        let mut files = Vec::new();
        files_below(&self.place, Path::new(""), &mut files).map_err(failed)?;
        files.sort_by_key(|file| file == Path::new(MANIFEST));
        for file in &files {
            let place = self.dir.join(file);
            let parent = place.parent().map_or(Ok(()), fs::create_dir_all);
            let moved = parent.and_then(|()| fs::rename(self.place.join(file), &place));
            moved.map_err(|e| Failure::output(place.display(), e))?;
        }
        for old in earlier.iter().filter(|old| !files.contains(old)) {
            remove(&self.dir.join(old)).map_err(failed)?;
        }
        fs::remove_dir_all(&self.place).map_err(failed)?;
        self.committed = true;
        let place = |path: &PathBuf| match path.strip_prefix(&self.place) {
            Ok(file) => self.dir.join(file),
            Err(_) => path.clone(),
        };
        Ok(written.iter().map(place).collect())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let begun = fs::read_dir(&self.place).is_ok_and(|mut files| files.next().is_some());
        if begun && !self.committed {
            tell(format_args!("replay: what was completed is in {}", self.place.display()));
        }
    }
}

/// Removes the result files of an earlier run, which its manifest lists; then the manifest.
/// Nothing else is touched.
pub fn remove_results(dir: &Path) -> io::Result<()> {
    let manifest = dir.join(MANIFEST);
    listed(&manifest).iter().try_for_each(|file| remove(&dir.join(file)))?;
    remove(&manifest)
}

/// The files that a manifest lists, as far as they lie inside its folder.
fn listed(manifest: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let listed: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let files = listed["files"].as_array().into_iter().flatten();
    let inside = |file: &&Path| file.components().all(|part| matches!(part, Component::Normal(_)));
    let files = files.filter_map(|file| file.as_str()).map(Path::new);
    files.filter(inside).map(Path::to_path_buf).collect()
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// All files below `root`, as paths from there.
fn files_below(root: &Path, place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(place))? {
        let entry = entry?;
        let path = place.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files_below(root, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, file: &str, text: &str) {
        fs::create_dir_all(dir.join(file).parent().expect("a parent")).expect("a folder");
        fs::write(dir.join(file), text).expect("a file");
    }

    fn read(dir: &Path, file: &str) -> Option<String> {
        fs::read_to_string(dir.join(file)).ok()
    }

    #[test]
    fn results_take_the_place_of_earlier_ones_all_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        write(dir, MANIFEST, r#"{"files": ["runs.csv", "plots/old.svg", "../outside"]}"#);
        write(dir, "runs.csv", "old");
        write(dir, "plots/old.svg", "old");
        write(dir, "plots/own.svg", "the user's");
        let staging = Staging::begin(dir).expect("staging");
        write(staging.path(), "runs.csv", "new");
        write(staging.path(), "plots/new.svg", "new");
        write(staging.path(), MANIFEST, r#"{"files": []}"#);
        assert_eq!(read(dir, "runs.csv").as_deref(), Some("old"));
        let written = [staging.path().join("runs.csv")];
        assert_eq!(staging.commit(&written).expect("done"), [dir.join("runs.csv")]);
        assert_eq!(read(dir, "runs.csv").as_deref(), Some("new"));
        assert_eq!(read(dir, "plots/new.svg").as_deref(), Some("new"));
        assert_eq!(read(dir, MANIFEST).as_deref(), Some(r#"{"files": []}"#));
        assert_eq!(read(dir, "plots/own.svg").as_deref(), Some("the user's"));
        assert!(!dir.join("plots/old.svg").exists() && !dir.join(UNFINISHED).exists());
    }

    #[test]
    fn what_is_not_completed_changes_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        write(dir, "runs.csv", "old");
        let staging = Staging::begin(dir).expect("staging");
        write(staging.path(), "runs.csv", "half");
        drop(staging);
        assert_eq!(read(dir, "runs.csv").as_deref(), Some("old"));
        let staging = Staging::begin(dir).expect("again");
        assert!(!staging.path().join("runs.csv").exists());
    }

    #[test]
    fn a_command_line_says_what_it_is() {
        assert_eq!(kind(Some("search")), "search");
        assert_eq!(kind(Some("merge")), "sweep");
        assert_eq!([kind(Some("--out")), kind(None)], ["run", "run"]);
    }

    #[test]
    fn results_of_another_command_are_kept() {
        let command = |word: &str| ["replay", word, "--out", "search"].map(OsString::from);
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(earlier(dir.path()), None);
        write(dir.path(), JOURNAL_FILE, "");
        assert_eq!(earlier(dir.path()), Some("sweep"));
        let error = check(dir.path(), &command("search")).expect_err("a sweep lies there");
        assert!(error.to_string().contains("results of a sweep"), "{error}");
        write(dir.path(), MANIFEST, r#"{"command": ["replay", "--out", "search"]}"#);
        assert_eq!(earlier(dir.path()), Some("run"));
        assert!(check(dir.path(), &command("--quiet")).is_ok());
    }

    #[test]
    fn a_folder_has_one_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(hold(dir.path()) && !hold(dir.path()));
    }
}
