//! Files and directories written by this program: recognizing, writing and reading them.
//!
//! A result directory belongs to its user. This program deletes or replaces only files that its own records list as
//! written by itself:
//!
//! * `manifest.json` lists every result with its size and BLAKE3 digest. Only a regular file that still matches its
//!   entry is replaced or removed ([`Results`]).
//! * `unfinished.part/` holds results while they are written ([`Staging`]). It belongs to this program if its
//!   `state.json` says so.
//! * `lock` identifies the process that uses the directory ([`Folder`]); `journal.txt` and `plan.json` record the
//!   progress of a sweep. Their content identifies them as files of this program.
//!
//! All paths in such a directory are resolved name by name from the directory opened once ([`Dir`]), and symbolic
//! links are not followed. Another program may replace a file between a check and the following operation. Where the
//! system permits, a rename fails if the new name exists; elsewhere the existing file would be lost. The lock
//! excludes only other processes of this program.
//!
//! Results are read as files of a single manifest, and their digests are checked ([`ResultFolder`]).
//!
//! A file named by the user is renamed to its final name when it is complete ([`AtomicFile`]). A program that must
//! exit immediately removes incomplete files ([`abandon`]).

mod atomic_file;
mod digest;
mod dir;
mod folder;
mod moves;
mod result_folder;
mod results;
mod staging;
mod unfinished;

pub use atomic_file::{AtomicFile, same_file, write};
pub use digest::InputRecord;
pub use dir::Dir;
pub use folder::{DirLock, Folder, FolderError};
pub use moves::Recovered;
pub use result_folder::{ResultError, ResultFolder};
pub use results::{FORMAT, FileRecord, MANIFEST, PROGRAM, Results};
pub use staging::Staging;
pub use unfinished::abandon;

#[cfg(test)]
mod tests;
