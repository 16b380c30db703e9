//! Registry of incomplete files, for a program that must exit immediately.

use std::collections::BTreeMap;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The registry is global, because all threads end when the program exits.
static UNFINISHED: Unfinished =
    Unfinished { parts: Mutex::new(BTreeMap::new()), writes: Mutex::new(()) };

/// Time for which [`abandon`] waits for a file that is being created. Creating a file is one system call, which can
/// take seconds on a busy disk. If the program exited during this call, the file would remain.
const CREATION: Duration = Duration::from_secs(10);

/// Incomplete files.
#[derive(Default)]
struct Unfinished {
    /// Paths of the files with temporary names, each with the directories that were created for the file, innermost
    /// first. The mutex is locked while a file is created or renamed.
    parts: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>>,
    /// Mutex that is locked while a file is written as a whole.
    writes: Mutex<()>,
}

/// Locks the set of files that [`abandon`] removes. A file must be created and inserted under the same guard;
/// [`abandon`] waits for the guard.
pub(super) fn lock_parts() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<PathBuf>>> {
    UNFINISHED.parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a guard to hold while a file is written as a whole. [`abandon`] waits for the guard.
pub(super) fn lock_writes() -> MutexGuard<'static, ()> {
    UNFINISHED.writes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unregisters a file that was renamed.
pub(super) fn unregister(part: &Path) {
    lock_parts().remove(part);
}

/// Removes a file, and the directories that were created for it if they are empty.
pub(super) fn remove(part: &Path) {
    let mut parts = lock_parts();
    // The file was created by this program, which registered it.
    let _ = fs::remove_file(part);
    for dir in parts.remove(part).unwrap_or_default() {
        remove_empty(std::slice::from_ref(&dir));
        // If the directory contains another incomplete file, it is removed with this file.
        let mut others = parts.iter_mut();
        if let Some((_, made)) = others.find(|(part, _)| part.starts_with(&dir)) {
            made.push(dir);
        }
    }
}

/// Removes directories that are empty.
pub(super) fn remove_empty(dirs: &[PathBuf]) {
    for dir in dirs {
        // `remove_dir` removes only an empty directory.
        let _ = fs::remove_dir(dir);
    }
}

/// Removes all incomplete files before the program exits, and prevents the creation of further files. If a file is
/// being written as a whole, waits for at most `patience` until the file is complete.
pub fn abandon(patience: Duration) {
    UNFINISHED.abandon(patience, CREATION);
}

impl Unfinished {
    fn abandon(&self, patience: Duration, creation: Duration) {
        if let Some(parts) = lock_within(&self.parts, creation) {
            for (part, made) in parts.iter() {
                // The file was created by this program, which registered it.
                let _ = fs::remove_file(part);
                remove_empty(made);
            }
            mem::forget(parts);
        }
        if let Some(guard) = lock_within(&self.writes, patience) {
            mem::forget(guard);
        }
    }
}

/// Locks a mutex. Returns `None` if locking takes longer than `patience`.
fn lock_within<T>(mutex: &Mutex<T>, patience: Duration) -> Option<MutexGuard<'_, T>> {
    let late = Instant::now() + patience;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= late => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Creating the file takes longer than `patience`, which limits only the wait for a file that is being written as a
    /// whole.
    #[test]
    fn removes_a_file_that_is_being_created() {
        let dir = tempfile::tempdir().expect("a folder");
        let (early, late) = (dir.path().join("a.csv.part"), dir.path().join("b.csv.part"));
        let unfinished = Unfinished::default();
        fs::write(&early, "half").expect("a file");
        unfinished.parts.lock().expect("a lock").insert(early.clone(), Vec::new());
        let (begun, is_begun) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut parts = unfinished.parts.lock().expect("a lock");
                begun.send(()).expect("a receiver");
                thread::sleep(Duration::from_millis(100));
                fs::write(&late, "").expect("a file");
                parts.insert(late.clone(), Vec::new());
            });
            is_begun.recv().expect("a sender");
            unfinished.abandon(Duration::ZERO, CREATION);
        });
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
        // No further file can be created.
        assert!(unfinished.parts.try_lock().is_err() && unfinished.writes.try_lock().is_err());
    }

    #[test]
    fn does_not_wait_longer_than_granted() {
        let unfinished = Unfinished::default();
        let (parts, whole) = (unfinished.parts.lock(), unfinished.writes.lock());
        unfinished.abandon(Duration::from_millis(1), Duration::from_millis(1));
        drop((parts, whole));
        assert!(unfinished.parts.try_lock().is_ok());
    }
}
