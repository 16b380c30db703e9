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
/// Subdirectory of [`UNFINISHED`] with the replaced files.
const OLD: &str = "old";
/// State file in [`UNFINISHED`].
const STATE: &str = "state.json";

/// Progress of the results in `unfinished.part`. The state file is written atomically before each step. After a crash
/// at any time, the next process can therefore continue from the state in this file.
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

/// Outcome of recovering an interrupted move.
#[derive(Debug)]
pub enum Recovered {
    /// The new results were moved to the final directory.
    Finished,
    /// The move failed and the earlier results were restored.
    Undone(io::Error),
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

/// New files to move, and the old files that the new files replace. After a crash in any state, every step can be
/// repeated or undone, because the location of each file shows whether the file has been moved.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct PendingMoves {
    /// The files in the directory `new`. The manifest is last.
    pub new: Vec<FileRecord>,
    /// The files to remove from the final directory: all earlier results, including results that are not replaced.
    /// Their manifest is first.
    pub old: Vec<FileRecord>,
}

impl PendingMoves {
    /// Moves the new files to the final directory. The old manifest is removed first, so that readers never find a
    /// manifest that does not match the files. With `check`, an old file is moved away only if it is unchanged.
    pub fn finish(&self, dir: &Dir, check: bool) -> io::Result<()> {
        let (new, old) = new_and_old_dirs(dir)?;
        for file in &self.old {
            let name = &file.name;
            // If `is_pending` is false, the file with this name has already been replaced or is no longer needed.
            let is_pending = !self.replaces(name) || new.has(name)?;
            if !is_pending || old.has(name)? || !dir.has(name)? {
                continue;
            }
            if !check || file.is_unchanged(dir)? == Some(true) {
                dir.move_to(&old, name)?;
            }
        }
        for FileRecord { name, .. } in &self.new {
            if new.has(name)? {
                new.move_to(dir, name)?;
            }
        }
        self.sync(dir)
    }

    /// Restores the earlier results.
    pub fn undo(&self, dir: &Dir) -> io::Result<()> {
        let (new, old) = new_and_old_dirs(dir)?;
        for FileRecord { name, .. } in self.new.iter().rev() {
            if !new.has(name)? && dir.has(name)? {
                dir.move_to(&new, name)?;
            }
        }
        for FileRecord { name, .. } in self.old.iter().rev() {
            if old.has(name)? {
                old.move_to(dir, name)?;
            }
        }
        self.sync(dir)
    }

    fn replaces(&self, name: &str) -> bool {
        self.new.iter().any(|file| file.name == name)
    }

    /// Waits until all names are on the disk.
    pub fn sync(&self, dir: &Dir) -> io::Result<()> {
        let files = self.new.iter().chain(&self.old);
        let folders: BTreeSet<&str> =
            files.map(|file| file.name.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
        folders.into_iter().try_for_each(|folder| match dir.below(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            folder => folder?.sync(),
        })
    }
}

/// Opens the directory of new files and the directory of old files.
fn new_and_old_dirs(dir: &Dir) -> io::Result<(Dir, Dir)> {
    let unfinished = dir.below(UNFINISHED)?;
    Ok((unfinished.make(NEW)?, unfinished.make(OLD)?))
}

/// New results that could not be moved to the final directory.
pub(super) struct Incomplete {
    /// Cause of the failure.
    cause: io::Error,
    /// Whether the earlier results were restored.
    undone: bool,
}

impl Incomplete {
    /// Converts the failure to an error that names the directory.
    pub fn error(self, dir: &Dir) -> FolderError {
        let Self { cause, undone } = self;
        let source = match undone {
            true => cause,
            false => {
                let text =
                    format!("{cause}; the next command in this directory completes the move");
                io::Error::new(cause.kind(), text)
            }
        };
        FolderError::Io { path: dir.path().to_path_buf(), source }
    }
}

impl PendingMoves {
    /// Executes the moves of [`State::Moving`]. If a move fails, all moves are undone.
    pub fn complete(&self, dir: &Dir, check: bool) -> Result<(), Incomplete> {
        self.finish(dir, check).map_err(|cause| {
            let undone = self.undo(dir).and_then(|()| State::Writing.write(dir));
            Incomplete { cause, undone: undone.is_ok() }
        })?;
        clear(dir);
        Ok(())
    }
}

/// Completes or undoes a move that an earlier process did not complete. Incomplete results are kept.
pub(super) fn recover(dir: &Dir) -> Result<Option<Recovered>, FolderError> {
    let Some(State::Moving(moves)) = State::read(dir)? else { return Ok(None) };
    match moves.complete(dir, true) {
        Ok(()) => Ok(Some(Recovered::Finished)),
        Err(Incomplete { cause, undone: true }) => Ok(Some(Recovered::Undone(cause))),
        Err(incomplete) => Err(incomplete.error(dir)),
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
