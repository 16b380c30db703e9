//! Digests of files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// A file that was read as input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InputRecord {
    /// Path as named by the user.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file's bytes in hexadecimal. A compressed file is not decompressed.
    pub sha256: String,
}

impl InputRecord {
    /// Reads a regular file and computes its digest. Returns `None` if `path` is not a regular file, such as a pipe.
    ///
    /// # Errors
    /// [`io::Error`] if a file-system operation fails.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let Digests { bytes, sha256, .. } = Digests::of(&mut File::open(path)?)?;
        Ok(Some(Self { path: path.display().to_string(), bytes, sha256 }))
    }
}

/// BLAKE3 and SHA-256 digests in hexadecimal, and the length of the data in bytes.
pub(super) struct Digests {
    pub bytes: u64,
    pub blake3: String,
    pub sha256: String,
}

impl Digests {
    /// Reads the input to its end.
    pub fn of(from: &mut impl Read) -> io::Result<Self> {
        let (mut blake3, mut sha256) = (blake3::Hasher::new(), Sha256::new());
        let (mut bytes, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            bytes += count as u64;
            blake3.update(&buffer[..count]);
            sha256.update(&buffer[..count]);
        }
        let sha256: String = sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, blake3: blake3.finalize().to_hex().to_string(), sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_match_the_standards() {
        let digests = Digests::of(&mut &b"abc"[..]).expect("memory");
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((digests.bytes, digests.sha256.as_str()), (3, sha256));
        assert_eq!(digests.blake3, blake3::hash(b"abc").to_hex().to_string());
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(InputRecord::of(dir.path()).expect("a folder"), None);
        assert_eq!(InputRecord::of(&dir.path().join("none")).expect("nothing"), None);
    }
}
