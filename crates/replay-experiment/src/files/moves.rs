use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::results::{FORMAT, PROGRAM};
use super::{Dir, FileRecord, FolderError};

/// Subdirectory of the final directory; results are in this subdirectory while they are written.
pub(super) const UNFINISHED: &str = "unfinished.part";
/// Subdirectory of [`UNFINISHED`] with the new files.
pub(super) const NEW: &str = "new";
/// State file in [`UNFINISHED`].
const STATE: &str = "state.json";

/// State of the results in `unfinished.part`. The state file is written atomically. When it lists the files to move, the
/// new results are complete and on the disk, and the moves are only ever completed: by this process, or by the next
/// process if this process is killed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Results are being written, or the writing was abandoned. The final directory is unchanged.
    Writing,
    /// Results are complete and are being moved to the final directory.
    Moving(PendingMoves),
}

#[derive(Deserialize)]
struct StateFile {
    program: String,
    format: u32,
    state: State,
}

impl State {
    /// Writes the state file.
    pub fn write(&self, dir: &Dir) -> io::Result<()> {
        let text = json!({"program": PROGRAM, "format": FORMAT, "state": self});
        dir.put(&format!("{UNFINISHED}/{STATE}"), text.to_string().as_bytes())
    }

    /// Reads the state file. Returns `None` if there is no `unfinished.part`. A directory `unfinished.part` without a
    /// valid state file is foreign.
    pub fn read(dir: &Dir) -> Result<Option<Self>, FolderError> {
        let path = dir.path().join(UNFINISHED);
        let check = || -> io::Result<Option<Option<Self>>> {
            if !dir.has(UNFINISHED)? {
                return Ok(None);
            }
            let text = dir.read(&format!("{UNFINISHED}/{STATE}"), 1 << 29)?;
            let file: Option<StateFile> = text.and_then(|text| serde_json::from_slice(&text).ok());
            let ours = file.filter(|it| it.program == PROGRAM && it.format == FORMAT);
            let state = ours.map(|file| file.state);
            // The directory is empty or contains only a temporary state file, because a process was killed before it
            // wrote the state file.
            let begun = state.is_none() && dir.below(UNFINISHED)?.has_only(STATE)?;
            Ok(Some(if begun { Some(Self::Writing) } else { state }))
        };
        match check().map_err(FolderError::io(&path))? {
            None => Ok(None),
            Some(Some(state)) => Ok(Some(state)),
            Some(None) => Err(FolderError::Foreign(path)),
        }
    }
}

/// New files to move, and the old files that the new files replace. Every step can be repeated, because the location of
/// each file shows whether the step was done.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct PendingMoves {
    /// The files in the directory `new`. The manifest is last.
    pub new: Vec<FileRecord>,
    /// The files to remove from the final directory: all earlier results, including results that are not replaced.
    /// Their manifest is first.
    pub old: Vec<FileRecord>,
}

impl PendingMoves {
    /// Creates the missing subdirectories of the new files, and checks that files can be created in the directories, so
    /// that the moves need no space and no further permissions. The name `unfinished.part` is then on the disk.
    pub fn prepare(&self, dir: &Dir) -> Result<(), FolderError> {
        for folder in folders(&self.new) {
            let made = dir.make(folder).and_then(|made| made.check_writable());
            made.map_err(FolderError::io(&dir.path().join(folder)))?;
        }
        dir.sync().map_err(FolderError::io(dir.path()))
    }

    /// Completes the moves of [`State::Moving`], and removes `unfinished.part`. With `check`, an old file is removed only
    /// if it is unchanged.
    pub fn complete(&self, dir: &Dir, check: bool) -> Result<(), FolderError> {
        // The second attempt succeeds if the disk failed only once.
        let moved = self.run(dir, check).or_else(|_| self.run(dir, true));
        moved.map_err(|(name, cause)| {
            let why = match cause.kind() {
                io::ErrorKind::AlreadyExists => {
                    "the file was not written by replay: move it".to_string()
                }
                _ => cause.to_string(),
            };
            let text = format!("{why}; the next command in this directory completes the results");
            let source = io::Error::new(cause.kind(), text);
            FolderError::Io { path: dir.path().join(name), source }
        })?;
        self.remove_empty_folders(dir);
        clear(dir);
        Ok(())
    }

    /// Removes the subdirectories of old files that are empty and have no new files. Failures are ignored, because an
    /// empty directory is harmless.
    fn remove_empty_folders(&self, dir: &Dir) {
        let new = folders(&self.new);
        for folder in folders(&self.old).into_iter().filter(|folder| !new.contains(folder)) {
            let _ = dir.remove_empty(folder);
        }
    }

    /// Removes the old files, then moves the new files to the final directory. The old manifest is removed first and the
    /// new manifest is moved last, so that readers never find a manifest that does not match the files. If a file of
    /// another program has the name of a new file, the move fails. An error has the name of its file.
    fn run(&self, dir: &Dir, check: bool) -> Result<(), (&str, io::Error)> {
        // If all files were moved, the directory `new` may be gone.
        let new = dir.make(&format!("{UNFINISHED}/{NEW}")).map_err(|error| (UNFINISHED, error))?;
        let remove = |file: &FileRecord| {
            // A file that is not in `new` may already be the new file.
            let is_pending = !self.replaces(&file.name) || new.has(&file.name)?;
            match is_pending && (!check || file.is_unchanged(dir)? == Some(true)) {
                true => dir.remove(&file.name),
                false => Ok(()),
            }
        };
        let place = |file: &FileRecord| match new.has(&file.name)? {
            true => new.move_to(dir, &file.name),
            false => Ok(()),
        };
        for file in &self.old {
            remove(file).map_err(|error| (file.name.as_str(), error))?;
        }
        for file in &self.new {
            place(file).map_err(|error| (file.name.as_str(), error))?;
        }
        self.sync(dir).map_err(|error| ("", error))
    }

    fn replaces(&self, name: &str) -> bool {
        self.new.iter().any(|file| file.name == name)
    }

    /// Waits until all names are on the disk.
    pub fn sync(&self, dir: &Dir) -> io::Result<()> {
        let files = self.new.iter().chain(&self.old);
        folders(files).into_iter().try_for_each(|folder| match dir.below(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            folder => folder?.sync(),
        })
    }
}

/// Returns the directories of files, relative to the directory of results.
fn folders<'f>(files: impl IntoIterator<Item = &'f FileRecord>) -> BTreeSet<&'f str> {
    let files = files.into_iter();
    files.map(|file| file.name.rsplit_once('/').map_or("", |(folder, _)| folder)).collect()
}

/// Completes the moves of an earlier process that was killed. Returns whether there were such moves. Incomplete results
/// are kept.
pub(super) fn recover(dir: &Dir) -> Result<bool, FolderError> {
    match State::read(dir)? {
        Some(State::Moving(moves)) => moves.complete(dir, true).map(|()| true),
        _ => Ok(false),
    }
}

/// Removes `unfinished.part`. The state file is removed last. Failures are ignored, because the next process tries
/// again.
pub(super) fn clear(dir: &Dir) {
    let clear = || -> io::Result<()> {
        dir.below(UNFINISHED)?.clear_but(STATE)?;
        dir.remove_all(UNFINISHED)
    };
    let _ = clear();
}
