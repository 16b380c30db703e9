use std::io;

use serde::{Deserialize, Serialize};

use super::digest::Digests;
use super::{Dir, FolderError};

/// File name of the manifest, which lists the files of a result directory.
pub const MANIFEST: &str = "manifest.json";
/// Program name in files of this program.
pub const PROGRAM: &str = "replay";
/// Version of the manifest format. Manifests with other versions are not read.
pub const FORMAT: u32 = 1;

/// Largest accepted size of a manifest in bytes. This size suffices for a million cells.
const LARGEST: u64 = 1 << 29;

/// Record of a file that was written. The size and the digests distinguish the written file from another file with the
/// same name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRecord {
    /// Path relative to the result directory.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 digest in hexadecimal.
    pub blake3: String,
    /// SHA-256 digest in hexadecimal; empty in manifests of earlier builds.
    #[serde(default)]
    pub sha256: String,
}

impl FileRecord {
    /// Reads a regular file; `None` if there is no file of this name.
    ///
    /// # Errors
    /// See [`Dir::file`].
    pub fn of(dir: &Dir, name: &str) -> io::Result<Option<Self>> {
        let Some(mut file) = dir.file(name)? else { return Ok(None) };
        let Digests { bytes, blake3, sha256 } = Digests::of(&mut file)?;
        Ok(Some(Self { name: name.to_string(), bytes, blake3, sha256 }))
    }

    /// Returns whether the file in the directory is unchanged; `None` if the file is missing.
    ///
    /// # Errors
    /// See [`Dir::file`].
    pub fn is_unchanged(&self, dir: &Dir) -> io::Result<Option<bool>> {
        match dir.file(&self.name)? {
            None => Ok(None),
            // If the size differs, the file has changed, and its digest need not be computed.
            Some(file) if file.metadata()?.len() != self.bytes => Ok(Some(false)),
            Some(_) => Ok(Self::of(dir, &self.name)?.map(|now| now.blake3 == self.blake3)),
        }
    }
}

/// Results in a directory as listed in its manifest.
#[derive(Clone, Debug, Deserialize)]
pub struct Results {
    program: String,
    format: u32,
    /// Kind of results: "run", "sweep", "search", "stream" or "contend".
    pub kind: String,
    /// Every file except the manifest.
    pub files: Vec<FileRecord>,
    /// Digest of the configuration that determines the numbers; `None` in manifests of earlier builds.
    #[serde(default)]
    pub configuration_digest: Option<String>,
}

impl Results {
    /// Reads the manifest of a directory; `None` if the directory has no manifest.
    ///
    /// # Errors
    /// [`FolderError`] if the manifest is foreign or cannot be read.
    pub fn read(dir: &Dir) -> Result<Option<Self>, FolderError> {
        Ok(Self::text(dir)?.map(|(_, results)| results))
    }

    /// Reads the manifest of a directory as [`read`](Self::read) does, and also returns the text of the manifest.
    pub(super) fn text(dir: &Dir) -> Result<Option<(Vec<u8>, Self)>, FolderError> {
        let path = dir.path().join(MANIFEST);
        let Some(text) = dir.read(MANIFEST, LARGEST).map_err(FolderError::io(&path))? else {
            return Ok(None);
        };
        let results: Option<Self> = serde_json::from_slice(&text).ok();
        let ours = results.filter(|it| it.program == PROGRAM && it.format == FORMAT);
        ours.map(|results| Some((text, results))).ok_or(FolderError::Foreign(path))
    }

    /// Returns the record of a file; `None` if the manifest does not list the file.
    pub fn of(&self, name: &str) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.name == name)
    }
}
