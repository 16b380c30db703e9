//! Files for readers that open files by name. With `TMPDIR=/dev/shm` they are in memory.

use std::fs;
use std::path::PathBuf;

/// Writes a file in a folder of this process.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("replay-fuzz-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a folder");
    let path = dir.join(name);
    fs::write(&path, bytes).expect("a file");
    path
}
