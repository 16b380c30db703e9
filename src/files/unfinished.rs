//! Files that are being written, for a program that must end at once.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Files without their names yet. As global as the end of the program is.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What [`abandon`] removes, and waits for until this is dropped: a file is begun, or written in one go.
pub(super) fn writing() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file has its name now, or is gone.
pub(super) fn end(part: &Path) {
    writing().remove(part);
}

/// Removes the files that have no name yet, to be followed by the end of the program: no other is begun
/// afterwards. What is just being written in one go gets so much time to become whole.
pub fn abandon(patience: Duration) {
    let late = Instant::now() + patience;
    let parts = loop {
        match UNFINISHED.try_lock() {
            Ok(parts) => break parts,
            Err(TryLockError::Poisoned(parts)) => break parts.into_inner(),
            Err(TryLockError::WouldBlock) if Instant::now() >= late => return,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    };
    for part in parts.iter() {
        // It is ours: whoever made it said so.
        let _ = fs::remove_file(part);
    }
    mem::forget(parts);
}
