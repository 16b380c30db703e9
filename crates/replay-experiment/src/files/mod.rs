//! Recognizes, writes and reads the files and directories of this program.
//!
//! A result directory belongs to its user. This program deletes or replaces a file only if its own records show that
//! it has written the file:
//!
//! * `manifest.json` lists every result with its size and BLAKE3 digest. Only a regular file that still matches its
//!   entry is replaced or removed ([`Results`]).
//! * `unfinished.part/` contains results while they are written ([`Staging`]). The directory `unfinished.part/` belongs
//!   to this program if it contains a valid `state.json`. Files are moved one by one and not with their directory,
//!   because the directory may contain files of the user, may be a mount point or the current directory of a shell, and
//!   may have a parent without write permission.
//! * `lock` identifies the process that uses the directory ([`Folder`]); `journal.txt` and `plan.json` record the
//!   progress of a sweep. The content of `lock`, `journal.txt` and `plan.json` identifies them as files of this
//!   program.
//!
//! A result directory is opened once ([`Dir`]). All paths in it are resolved component by component from the opened
//! directory, and symbolic links are not followed. Another program may replace a file between a check and the following
//! operation. On systems that support a rename without replacement, the rename fails if the new name exists; on other
//! systems, the existing file would be lost. The lock excludes only other processes of this program.
//!
//! All results that are read together belong to a single manifest, and their digests are checked ([`ResultFolder`]).
//!
//! An output file that the user named is renamed to its final name when it is complete ([`AtomicFile`]). A program that
//! must exit immediately removes incomplete files ([`abandon`]). A killed program leaves them, under names ending in
//! `.replay-PID-N.part`; the next command that writes the same file removes them, because no process has locked them.

mod atomic_file;
mod digest;
mod dir;
mod file_id;
mod folder;
mod moves;
mod part;
mod result_folder;
mod results;
mod staging;
mod unfinished;

pub use atomic_file::{AtomicFile, write};
pub use digest::InputRecord;
pub use dir::Dir;
pub use file_id::{FileId, same_file};
pub use folder::{DirLock, Folder, FolderError};
pub use result_folder::{ResultError, ResultFolder};
pub use results::{FORMAT, FileRecord, MANIFEST, PROGRAM, Results};
pub use staging::Staging;
pub use unfinished::abandon;

#[cfg(test)]
mod tests;
