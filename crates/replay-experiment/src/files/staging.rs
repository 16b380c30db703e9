use std::io;
use std::path::{Path, PathBuf};

use super::moves::{self, NEW, PendingMoves, State, UNFINISHED};
use super::{FileRecord, Folder, FolderError, MANIFEST};

/// Results that have not yet been committed to their directory. New results are written to `unfinished.part` and
/// replace existing results only when they are complete, so that a full disk or a failing figure does not damage
/// existing results. Incomplete results remain in `unfinished.part` until the next command writes results.
#[derive(Debug)]
pub struct Staging {
    folder: Folder,
    dir_path: PathBuf,
}

impl Staging {
    pub(super) fn begin(folder: Folder) -> Result<Self, FolderError> {
        let (dir, dir_path) = (folder.dir(), folder.path().join(UNFINISHED));
        if State::read(dir)?.is_some() {
            moves::clear(dir);
        }
        let begun = dir
            .make(UNFINISHED)
            .and_then(|_| State::Writing.write(dir))
            .and_then(|()| dir.make(&format!("{UNFINISHED}/{NEW}")).map(drop));
        begun.map_err(FolderError::io(&dir_path))?;
        Ok(Self { dir_path: dir_path.join(NEW), folder })
    }

    /// Returns whether a commit would replace earlier results although `--force` was not given.
    pub fn would_replace(&self) -> bool {
        self.folder.earlier.is_some() && !self.folder.force
    }

    /// Returns the directory into which the new results are written. The directory is new and contains no other files.
    pub fn path(&self) -> &Path {
        &self.dir_path
    }

    /// Discards the new results. Earlier results are unchanged.
    pub fn abandon(self) {
        moves::clear(self.folder.dir());
    }

    /// Moves the given files to the final directory and removes all files of earlier results, so that no old figure
    /// remains. Other files are not changed. `manifest` renders the manifest of the new files. Returns the final paths.
    ///
    /// Until the new files are complete and on the disk, a failure leaves the earlier results unchanged. From then on the
    /// new results replace the earlier ones: if the disk fails or the process is killed, the next command in the
    /// directory completes the move.
    ///
    /// # Errors
    /// [`FolderError`] if a file is foreign, changed, or cannot be read or moved.
    pub fn commit(
        self,
        files: &[PathBuf],
        manifest: impl FnOnce(&[FileRecord]) -> Result<String, serde_json::Error>,
    ) -> Result<Vec<PathBuf>, FolderError> {
        let dir = self.folder.dir();
        let failed = || FolderError::io(&self.dir_path);
        let new = dir.below(&format!("{UNFINISHED}/{NEW}")).map_err(failed())?;
        let record = |name: &str| {
            let record = FileRecord::of(&new, name).map_err(FolderError::io(&self.dir_path))?;
            record.ok_or_else(|| FolderError::Io {
                path: self.dir_path.join(name),
                source: io::ErrorKind::NotFound.into(),
            })
        };
        let name = |path: &PathBuf| {
            let below = path.strip_prefix(&self.dir_path).unwrap_or(path);
            below.to_str().map(str::to_string).ok_or_else(|| FolderError::Io {
                path: path.clone(),
                source: io::Error::new(
                    io::ErrorKind::InvalidFilename,
                    "the file name is not valid UTF-8",
                ),
            })
        };
        let names = files.iter().map(name).collect::<Result<Vec<String>, _>>()?;
        let mut records = names.iter().map(|name| record(name)).collect::<Result<Vec<_>, _>>()?;
        let text = manifest(&records).map_err(io::Error::from).map_err(failed())?;
        new.put(MANIFEST, text.as_bytes()).map_err(failed())?;
        records.push(record(MANIFEST)?);

        let moves = PendingMoves { old: self.old(&records)?, new: records };
        moves.prepare(dir)?;
        moves.sync(&new).map_err(failed())?;
        let moving = State::Moving(moves);
        moving.write(dir).map_err(failed())?;
        let State::Moving(moves) = moving else { return Ok(Vec::new()) };
        moves.complete(dir, false)?;
        Ok(names.iter().map(|name| self.folder.path().join(name)).collect())
    }

    /// Returns the files that the commit replaces or removes: the old manifest, the earlier results that may be
    /// replaced, and the files scheduled for removal.
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
                let is_unchanged =
                    || file.is_unchanged(folder.dir()).map_err(FolderError::io(&path));
                if new.iter().any(|new| new.name == file.name) {
                    old.extend(folder.replaceable(&file.name)?);
                } else if is_unchanged()? == Some(true) {
                    old.push(file.clone());
                }
                // If no new file replaces a changed file, the changed file is kept.
            }
        }
        old.extend_from_slice(&folder.scheduled_removals);
        for file in new.iter().filter(|file| old.iter().all(|old| old.name != file.name)) {
            folder.replaceable(&file.name)?;
        }
        Ok(old)
    }
}
