use std::io;

use serde::{Deserialize, Serialize};

use super::digest::Both;
use super::{Dir, FolderError};

/// The file that says what stands in a folder, and which files belong to it.
pub const MANIFEST: &str = "manifest.json";
/// The name by which this program knows what is its own.
pub const PROGRAM: &str = "replay";
/// The form of manifests; another one is not understood.
pub const FORMAT: u32 = 1;

/// Bytes of the largest manifest that is read: that of a run of a million cells.
const LARGEST: u64 = 1 << 29;

/// A file as it was written. Size and digest tell it from one that somebody else put in its
/// place: a name alone does not say whose a file is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRecord {
    /// Path below the folder.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// BLAKE3 digest, hexadecimal.
    pub blake3: String,
    /// SHA-256, hexadecimal; empty in manifests of earlier builds.
    #[serde(default)]
    pub sha256: String,
}

impl FileRecord {
    /// What a regular file is now; `None` if there is none of this name.
    ///
    /// # Errors
    /// As [`Dir::file`].
    pub fn of(dir: &Dir, name: &str) -> io::Result<Option<Self>> {
        let Some(mut file) = dir.file(name)? else { return Ok(None) };
        let Both { bytes, blake3, sha256 } = Both::of(&mut file)?;
        Ok(Some(Self { name: name.to_string(), bytes, blake3, sha256 }))
    }

    /// Whether the file is still what it was; `None` if it is gone.
    ///
    /// # Errors
    /// As [`Dir::file`].
    pub fn still(&self, dir: &Dir) -> io::Result<Option<bool>> {
        match dir.file(&self.name)? {
            None => Ok(None),
            // Not read in whole if its size says enough.
            Some(file) if file.metadata()?.len() != self.bytes => Ok(Some(false)),
            Some(_) => Ok(Self::of(dir, &self.name)?.map(|now| now.blake3 == self.blake3)),
        }
    }
}

/// The results that stand in a folder, as their manifest says.
#[derive(Clone, Debug, Deserialize)]
pub struct Results {
    program: String,
    format: u32,
    /// What they are results of: "run", "sweep", "search", "stream" or "contend".
    pub kind: String,
    /// Every file but the manifest.
    pub files: Vec<FileRecord>,
    /// Digest of what decides the numbers; `None` in manifests of earlier builds.
    #[serde(default)]
    pub configuration_digest: Option<String>,
}

impl Results {
    /// Reads the manifest of a folder; `None` if it has none.
    ///
    /// # Errors
    /// [`FolderError`] if it is no manifest of this program, or cannot be read.
    pub fn read(dir: &Dir) -> Result<Option<Self>, FolderError> {
        Ok(Self::text(dir)?.map(|(_, results)| results))
    }

    /// Reads the manifest of a folder as [`read`](Self::read) does, together with its text.
    pub(super) fn text(dir: &Dir) -> Result<Option<(Vec<u8>, Self)>, FolderError> {
        let path = dir.path().join(MANIFEST);
        let Some(text) = dir.read(MANIFEST, LARGEST).map_err(FolderError::io(&path))? else {
            return Ok(None);
        };
        let results: Option<Self> = serde_json::from_slice(&text).ok();
        let ours = results.filter(|it| it.program == PROGRAM && it.format == FORMAT);
        ours.map(|results| Some((text, results))).ok_or(FolderError::Foreign(path))
    }

    /// The record of a file.
    pub fn of(&self, name: &str) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.name == name)
    }
}
