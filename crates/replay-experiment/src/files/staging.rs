use std::io;
use std::path::{Path, PathBuf};

use super::moves::{self, NEW, PendingMoves, State, UNFINISHED};
use super::{FileRecord, Folder, FolderError, MANIFEST};

/// Results on their way into a folder. They are written beside what stands there and take
/// its place when they are whole, so that a full disk, or a figure that cannot be drawn,
/// costs nothing that was there before. What could not be completed stays in
/// `unfinished.part` until the next results.
#[derive(Debug)]
pub struct Staging {
    folder: Folder,
    place: PathBuf,
}

impl Staging {
    pub(super) fn begin(folder: Folder) -> Result<Self, FolderError> {
        let (dir, place) = (folder.dir(), folder.path().join(UNFINISHED));
        if State::read(dir)?.is_some() {
            moves::clear(dir);
        }
        let begun = dir
            .make(UNFINISHED)
            .and_then(|_| State::Writing.write(dir))
            .and_then(|()| dir.make(&format!("{UNFINISHED}/{NEW}")).map(drop));
        begun.map_err(FolderError::io(&place))?;
        Ok(Self { place: place.join(NEW), folder })
    }

    /// Whether earlier results would go that the user has not given up.
    pub fn would_replace(&self) -> bool {
        self.folder.earlier.is_some() && !self.folder.force
    }

    /// The folder to write into: new, and nobody else's.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Nothing of it is kept. Earlier results stay as they are.
    pub fn abandon(self) {
        moves::clear(self.folder.dir());
    }

    /// Lets these files, given by their paths, take their places. The files of earlier
    /// results go, so that no old figure stands beside new ones; nothing else is touched.
    /// `manifest` makes the text of the manifest of the new ones. Returns where they are.
    ///
    /// All of it happens or nothing. Should neither be possible, because the disk broke or
    /// the process was killed, then the next command in the folder finishes or undoes it.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn commit(
        self,
        files: &[PathBuf],
        manifest: impl FnOnce(&[FileRecord]) -> Result<String, serde_json::Error>,
    ) -> Result<Vec<PathBuf>, FolderError> {
        let dir = self.folder.dir();
        let failed = || FolderError::io(&self.place);
        let new = dir.below(&format!("{UNFINISHED}/{NEW}")).map_err(failed())?;
        let record = |name: &str| {
            let record = FileRecord::of(&new, name).map_err(FolderError::io(&self.place))?;
            record.ok_or_else(|| FolderError::Io {
                path: self.place.join(name),
                source: io::ErrorKind::NotFound.into(),
            })
        };
        let name = |path: &PathBuf| {
            let below = path.strip_prefix(&self.place).unwrap_or(path);
            below.to_str().map(str::to_string).ok_or_else(|| FolderError::Io {
                path: path.clone(),
                source: io::Error::new(io::ErrorKind::InvalidFilename, "its name is no text"),
            })
        };
        let names = files.iter().map(name).collect::<Result<Vec<String>, _>>()?;
        let mut records = names.iter().map(|name| record(name)).collect::<Result<Vec<_>, _>>()?;
        let text = manifest(&records).map_err(io::Error::from).map_err(failed())?;
        new.put(MANIFEST, text.as_bytes()).map_err(failed())?;
        records.push(record(MANIFEST)?);

        let moves = PendingMoves { old: self.old(&records)?, new: records };
        moves.sync(&new).map_err(failed())?;
        let moving = State::Moving(moves);
        moving.write(dir).map_err(failed())?;
        let State::Moving(moves) = moving else { return Ok(Vec::new()) };
        moves.complete(dir, false).map_err(|incomplete| incomplete.error(dir))?;
        Ok(names.iter().map(|name| self.folder.path().join(name)).collect())
    }

    /// What goes when these come: earlier results, as far as they are still what was written.
    fn old(&self, new: &[FileRecord]) -> Result<Vec<FileRecord>, FolderError> {
        let folder = &self.folder;
        let mut old = Vec::new();
        if let Some(earlier) = &folder.earlier {
            let path = folder.path().join(MANIFEST);
            let manifest =
                FileRecord::of(folder.dir(), MANIFEST).map_err(FolderError::io(&path))?;
            old.extend(manifest);
            for file in &earlier.files {
                let path = folder.path().join(&file.name);
                let still = || file.still(folder.dir()).map_err(FolderError::io(&path));
                if new.iter().any(|new| new.name == file.name) {
                    old.extend(folder.replaceable(&file.name)?);
                } else if still()? == Some(true) {
                    old.push(file.clone());
                }
                // Nothing takes the place of the others, and whoever changed them may want them.
            }
        }
        old.extend_from_slice(&folder.going);
        for file in new.iter().filter(|file| old.iter().all(|old| old.name != file.name)) {
            folder.replaceable(&file.name)?;
        }
        Ok(old)
    }
}
