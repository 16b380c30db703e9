//! Files and folders that are ours: how they are told from those of others, written, opened.
//!
//! A folder of results belongs to its user. This program deletes or replaces there only what
//! its own records say that it wrote there itself:
//!
//! * `manifest.json` lists every result with size and BLAKE3 digest. Only a regular file that
//!   is still what the list says is replaced or removed ([`Results`]).
//! * `unfinished.part/` is where results grow ([`Staging`]). It is ours if it says so in
//!   `state.json`.
//! * `lock` says who works in the folder ([`Folder`]), `journal.txt` and `plan.json` what a
//!   sweep has done; their content says that they are ours.
//!
//! Everything in such a folder is reached from the folder as it was opened once ([`Dir`]), name
//! by name, and no link is followed. Between a look at a file and what is done to it there is
//! a moment in which another program may put another file there. Where the system can, a file
//! takes its name only if nobody has it; elsewhere such a file would be lost. The lock keeps
//! out other processes of this program, but nobody else.
//!
//! Results are read as those of one manifest, and their digests are checked ([`ResultFolder`]).
//!
//! A file that a user names takes its name only when it is whole ([`AtomicFile`]). A program that must end
//! at once removes what has no name yet ([`abandon`]).

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
