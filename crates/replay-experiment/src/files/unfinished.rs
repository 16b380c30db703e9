//! Files that are being written, for a program that must end at once.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// As global as the end of the program is.
static UNFINISHED: Unfinished =
    Unfinished { parts: Mutex::new(BTreeSet::new()), in_one_go: Mutex::new(()) };

/// How long [`abandon`] waits for a file that is being created. Creation is one call of the system, which on a busy disk
/// takes seconds; a program that ended meanwhile would leave the file behind.
const CREATION: Duration = Duration::from_secs(10);

/// Files that are being written.
#[derive(Default)]
struct Unfinished {
    /// Files without their names yet; locked while one is created or takes its name.
    parts: Mutex<BTreeSet<PathBuf>>,
    /// Locked while a file is written in one go.
    in_one_go: Mutex<()>,
}

/// The files that [`abandon`] removes. It waits for the guard, so that a file is created and noted under one.
pub(super) fn creating() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held while a file is written in one go: [`abandon`] waits for it.
pub(super) fn writing() -> MutexGuard<'static, ()> {
    UNFINISHED.in_one_go.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file has its name now, or is gone.
pub(super) fn end(part: &Path) {
    creating().remove(part);
}

/// Removes the files that have no name yet, to be followed by the end of the program: no other is begun
/// afterwards. What is just being written in one go gets so much time to become whole.
pub fn abandon(patience: Duration) {
    UNFINISHED.abandon(patience, CREATION);
}

impl Unfinished {
    fn abandon(&self, patience: Duration, creation: Duration) {
        if let Some(parts) = lock_within(&self.parts, creation) {
            for part in parts.iter() {
                // It is ours: it was noted when it was created.
                let _ = fs::remove_file(part);
            }
            mem::forget(parts);
        }
        if let Some(guard) = lock_within(&self.in_one_go, patience) {
            mem::forget(guard);
        }
    }
}

/// Locks a mutex, if that is possible within this time.
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

    /// The disk takes longer to create a file than a file may take to become whole.
    #[test]
    fn a_file_that_is_being_created_does_not_stay() {
        let dir = tempfile::tempdir().expect("a folder");
        let (early, late) = (dir.path().join("a.csv.part"), dir.path().join("b.csv.part"));
        let unfinished = Unfinished::default();
        fs::write(&early, "half").expect("a file");
        unfinished.parts.lock().expect("a lock").insert(early);
        let (begun, is_begun) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut parts = unfinished.parts.lock().expect("a lock");
                begun.send(()).expect("a receiver");
                thread::sleep(Duration::from_millis(100));
                fs::write(&late, "").expect("a file");
                parts.insert(late.clone());
            });
            is_begun.recv().expect("a sender");
            unfinished.abandon(Duration::ZERO, CREATION);
        });
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
        // No other is begun.
        assert!(unfinished.parts.try_lock().is_err() && unfinished.in_one_go.try_lock().is_err());
    }

    #[test]
    fn what_takes_too_long_is_not_waited_for() {
        let unfinished = Unfinished::default();
        let (parts, whole) = (unfinished.parts.lock(), unfinished.in_one_go.lock());
        unfinished.abandon(Duration::from_millis(1), Duration::from_millis(1));
        drop((parts, whole));
        assert!(unfinished.parts.try_lock().is_ok());
    }
}
