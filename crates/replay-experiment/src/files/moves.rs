use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::results::{FORMAT, PROGRAM};
use super::{Dir, FileRecord, FolderError};

/// Where results grow, below the folder that they are for.
pub(super) const UNFINISHED: &str = "unfinished.part";
/// Below it: what is new, what was there before, and how far things are.
pub(super) const NEW: &str = "new";
const OLD: &str = "old";
const STATE: &str = "state.json";

/// How far the results in `unfinished.part` are. The file that says so is written ahead of
/// what it says, as a whole: after a death at any instant, the next process finds in it what
/// is to be done.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// They are being written, or were given up. Nothing outside has changed.
    Writing,
    /// They are whole and take their places.
    Moving(PendingMoves),
}

#[derive(Deserialize)]
struct StateFile {
    program: String,
    format: u32,
    state: State,
}

/// What was found undone, and has been done.
#[derive(Debug)]
pub enum Recovered {
    /// New results have taken their places.
    Finished,
    /// They could not; the earlier results are back in theirs.
    Undone(io::Error),
}

impl State {
    /// Writes down how far things are.
    pub fn write(&self, dir: &Dir) -> io::Result<()> {
        let text = json!({"program": PROGRAM, "format": FORMAT, "state": self});
        dir.put(&format!("{UNFINISHED}/{STATE}"), text.to_string().as_bytes())
    }

    /// How far things are; `None` if there is no `unfinished.part`. One that does not say is
    /// not ours.
    pub fn read(dir: &Dir) -> Result<Option<Self>, FolderError> {
        let path = dir.path().join(UNFINISHED);
        let look = || -> io::Result<Option<Option<Self>>> {
            if !dir.has(UNFINISHED)? {
                return Ok(None);
            }
            let text = dir.read(&format!("{UNFINISHED}/{STATE}"), 1 << 29)?;
            let file: Option<StateFile> = text.and_then(|text| serde_json::from_slice(&text).ok());
            let ours = file.filter(|it| it.program == PROGRAM && it.format == FORMAT);
            let state = ours.map(|file| file.state);
            // Killed before it could say anything.
            let begun = state.is_none() && dir.below(UNFINISHED)?.has_only(STATE)?;
            Ok(Some(if begun { Some(Self::Writing) } else { state }))
        };
        match look().map_err(FolderError::io(&path))? {
            None => Ok(None),
            Some(Some(state)) => Ok(Some(state)),
            Some(None) => Err(FolderError::Foreign(path)),
        }
    }
}

/// Which files take the places of which. Every step can be done again, and undone, from
/// whatever state a death leaves: where a file is says how far it is.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct PendingMoves {
    /// Files in `new`, the manifest last.
    pub new: Vec<FileRecord>,
    /// Files of the folder that go: earlier results, replaced or not, their manifest first.
    pub old: Vec<FileRecord>,
}

impl PendingMoves {
    /// Lets the new files take their places. While they do there is no manifest: whoever looks
    /// in finds no list rather than one of other files. With `look`, an old file only goes if
    /// it is what it was.
    pub fn finish(&self, dir: &Dir, look: bool) -> io::Result<()> {
        let (new, old) = sides(dir)?;
        for file in &self.old {
            let name = &file.name;
            // If not, what has the name is new, or nobody's business any more.
            let waits = !self.replaces(name) || new.has(name)?;
            if !waits || old.has(name)? || !dir.has(name)? {
                continue;
            }
            if !look || file.still(dir)? == Some(true) {
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

    /// Puts everything back.
    pub fn undo(&self, dir: &Dir) -> io::Result<()> {
        let (new, old) = sides(dir)?;
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

/// Where new and old files wait.
fn sides(dir: &Dir) -> io::Result<(Dir, Dir)> {
    let place = dir.below(UNFINISHED)?;
    Ok((place.make(NEW)?, place.make(OLD)?))
}

/// New results that could not take their places.
pub(super) struct Incomplete {
    /// Why.
    why: io::Error,
    /// Whether the earlier results are back in theirs.
    undone: bool,
}

impl Incomplete {
    /// As an error in a folder.
    pub fn error(self, dir: &Dir) -> FolderError {
        let Self { why, undone } = self;
        let source = match undone {
            true => why,
            false => {
                let text = format!("{why}; the next command in this folder completes it");
                io::Error::new(why.kind(), text)
            }
        };
        FolderError::Io { path: dir.path().to_path_buf(), source }
    }
}

impl PendingMoves {
    /// Does what has been written down as [`State::Moving`], or undoes it.
    pub fn complete(&self, dir: &Dir, look: bool) -> Result<(), Incomplete> {
        self.finish(dir, look).map_err(|why| {
            let undone = self.undo(dir).and_then(|()| State::Writing.write(dir));
            Incomplete { why, undone: undone.is_ok() }
        })?;
        clear(dir);
        Ok(())
    }
}

/// Completes what an earlier process was killed in: finishes it, or undoes it if that cannot
/// be. Results that were still being written stay where they are.
pub(super) fn recover(dir: &Dir) -> Result<Option<Recovered>, FolderError> {
    let Some(State::Moving(moves)) = State::read(dir)? else { return Ok(None) };
    match moves.complete(dir, true) {
        Ok(()) => Ok(Some(Recovered::Finished)),
        Err(Incomplete { why, undone: true }) => Ok(Some(Recovered::Undone(why))),
        Err(incomplete) => Err(incomplete.error(dir)),
    }
}

/// Removes `unfinished.part`, which has said that it is ours, and that last. What cannot be
/// removed now is of no use, and tried again.
pub(super) fn clear(dir: &Dir) {
    let clear = || -> io::Result<()> {
        dir.below(UNFINISHED)?.clear_but(STATE)?;
        dir.remove_all(UNFINISHED)
    };
    let _ = clear();
}
