//! Journal of the finished cells of a command, in a file that survives a crash.
//!
//! A journal is a text file to which lines are only appended. After the header, it has one line for each finished cell,
//! with a checksum, the [id](CellId) of the cell and its result as JSON. A cell is a run of a sweep, a point of the
//! command `stream`, or a trace on a network. Each record is written in a single call. If the program is killed, the
//! file therefore contains complete records and at most one incomplete line at the end; the next
//! [`open`](Journal::open) removes this line. A damaged record in the middle of the file is skipped and counted, and
//! its cell is treated as not finished. If a cell has several records, the last record is used.
//!
//! Records are in the order in which the cells finished; this order depends on threads. Result files are written from
//! the records in grid order, which does not depend on threads. A record contains all data of its cell that result
//! files need, so that a resumed sweep does not run the cell again. The data are named fields, so that fields can be
//! added without invalidating journals.
//!
//! A record occupies about forty bytes of memory. If the program is killed, no record is lost. After a power failure
//! the newest records may be missing, because only [`sync`](Journal::sync) writes records to the disk.

mod cell_id;
mod record;
mod scan;

#[cfg(test)]
mod tests;

pub use cell_id::{CellId, CellIdError};
pub use record::Outcome;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

use crate::files::Dir;
use rustix::fs::OFlags;
pub use scan::HEADER;
use scan::{NotAJournal, RecordPosition, Scan, scan};

/// File name of the journal in a result directory.
pub const JOURNAL_FILE: &str = "journal.txt";

/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 18;

/// Journal of a result directory for cells with results of type `R`.
#[derive(Debug)]
pub struct Journal<R> {
    path: PathBuf,
    file: File,
    reader: BufReader<File>,
    /// Offset of the reader in the file.
    position: u64,
    end: u64,
    index: HashMap<CellId, RecordPosition>,
    damaged: Vec<u64>,
    results: PhantomData<fn() -> R>,
}

/// Error from reading or writing a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal cannot be read or written.
    #[error("cannot {verb} {}: {source}", .path.display())]
    Io {
        /// "read" or "write".
        verb: &'static str,
        /// Path of the journal.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// The file is not a journal.
    #[error("{} is not a journal of replay", .0.display())]
    Foreign(PathBuf),
    /// The journal has another version.
    #[error("{} is a journal of another version of replay", .0.display())]
    Version(PathBuf),
    /// A record has a valid checksum but does not have the fields of this version.
    #[error("{}: cannot read the record of cell {id} of another version: {source}", .path.display())]
    Record {
        /// Path of the journal.
        path: PathBuf,
        /// Id of the cell.
        id: CellId,
        /// Error from decoding the record.
        source: serde_json::Error,
    },
}

/// Returns whether a directory has a journal of any version. A journal always begins with a header line. A file without
/// a complete header, such as an empty file, counts as a truncated journal only if `begun` is set. The flag `begun`
/// states that the directory belongs to a command that writes a journal.
///
/// # Errors
/// [`io::Error`] if a file-system operation fails.
pub fn is_journal(dir: &Dir, begun: bool) -> io::Result<bool> {
    let Some(file) = dir.file(JOURNAL_FILE)? else { return Ok(false) };
    let found = scan(BufReader::new(file.take(HEADER.len() as u64 * 2)))?;
    Ok(match found {
        Ok(scan) => scan.end > 0 || begun,
        Err(NotAJournal::Version) => true,
        Err(NotAJournal::Foreign) => false,
    })
}

/// Removes the journal, of any version, from a directory. If there is no journal, nothing happens. [`is_journal`]
/// explains `begun`.
///
/// # Errors
/// [`JournalError`] if the journal cannot be removed, or if the file is not a journal. A file that is not a journal is
/// kept.
pub fn discard(dir: &Dir, begun: bool) -> Result<(), JournalError> {
    let path = dir.path().join(JOURNAL_FILE);
    let discard = || match dir.has(JOURNAL_FILE)? && is_journal(dir, begun)? {
        true => dir.remove(JOURNAL_FILE).map(|()| true),
        false => dir.has(JOURNAL_FILE).map(|there| !there),
    };
    match discard() {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::Foreign(path)),
        Err(source) => Err(JournalError::Io { verb: "write", path, source }),
    }
}

impl<R> Journal<R> {
    /// Opens or creates the journal of a directory for writing. An incomplete line at the end is removed. An incomplete
    /// header is accepted only with `begun`, see [`is_journal`]. The caller must hold the
    /// [lock](crate::files::DirLock) of the directory.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read or written, or if the file is not a journal. A file that is not a
    /// journal is kept.
    pub fn open(dir: &Dir, begun: bool) -> Result<Self, JournalError> {
        let path = dir.path().join(JOURNAL_FILE);
        let error = |source| JournalError::Io { verb: "write", path: path.clone(), source };
        if !dir.has(JOURNAL_FILE).map_err(error)? {
            dir.put_new(JOURNAL_FILE, HEADER).map_err(error)?;
        }
        let flags = OFlags::RDWR | OFlags::APPEND;
        let file = dir.file_with(JOURNAL_FILE, flags).map_err(error)?;
        let mut journal = Self::load(dir, path.clone(), file)?;
        if journal.end == 0 && !begun {
            return Err(JournalError::Foreign(path));
        }
        if journal.end == 0 {
            journal.file.set_len(0).map_err(error)?;
            journal.write(HEADER)?;
        } else {
            journal.file.set_len(journal.end).map_err(error)?;
        }
        Ok(journal)
    }

    /// Opens the journal of a directory for reading. An incomplete line at the end is ignored.
    ///
    /// # Errors
    /// [`JournalError`] if the file is missing, unreadable or not a journal of this version.
    pub fn read_only(dir: &Dir) -> Result<Self, JournalError> {
        let path = dir.path().join(JOURNAL_FILE);
        let file = dir.file(JOURNAL_FILE);
        let file =
            file.map_err(|source| JournalError::Io { verb: "read", path: path.clone(), source })?;
        Self::load(dir, path, file)
    }

    fn load(dir: &Dir, path: PathBuf, file: Option<File>) -> Result<Self, JournalError> {
        let read = || -> io::Result<_> {
            let absent = || io::Error::from(io::ErrorKind::NotFound);
            let (file, again) = (file.ok_or_else(absent)?, dir.file(JOURNAL_FILE)?);
            let mut reader = BufReader::with_capacity(BUFFER, again.ok_or_else(absent)?);
            let found = scan(&mut reader)?;
            reader.rewind()?;
            Ok((file, reader, found))
        };
        let (file, reader, found) = read().map_err(|source| JournalError::Io {
            verb: "read",
            path: path.clone(),
            source,
        })?;
        match found {
            Ok(Scan { index, end, damaged, .. }) => Ok(Self {
                path,
                file,
                reader,
                position: 0,
                end,
                index,
                damaged,
                results: PhantomData,
            }),
            Err(NotAJournal::Version) => Err(JournalError::Version(path)),
            Err(NotAJournal::Foreign) => Err(JournalError::Foreign(path)),
        }
    }

    /// Path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of cells with a record.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns whether no cell has a record.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the ids of the cells with a record, in arbitrary order.
    pub fn ids(&self) -> impl Iterator<Item = CellId> + '_ {
        self.index.keys().copied()
    }

    /// Returns the line numbers (from 1) of the lines that were skipped because of a wrong checksum.
    pub fn damaged(&self) -> &[u64] {
        &self.damaged
    }

    /// Returns whether a cell failed; `None` if the cell has no record.
    pub fn failed(&self, id: CellId) -> Option<bool> {
        self.index.get(&id).map(|record_position| record_position.failed)
    }

    /// Appends the record of a cell: the result, or the reason for the failure. If the cell already has a record, the
    /// new record replaces it.
    ///
    /// # Errors
    /// [`JournalError`] if the record cannot be encoded or written. Earlier records are kept, and the call can be
    /// repeated.
    pub fn append(&mut self, id: CellId, outcome: Result<&R, &str>) -> Result<(), JournalError>
    where
        R: Serialize,
    {
        let line = record::encode(id, outcome).map_err(|source| JournalError::Record {
            path: self.path.clone(),
            id,
            source,
        })?;
        let length = line.len() as u32 - 1;
        let record_position = RecordPosition { offset: self.end, length, failed: outcome.is_err() };
        self.write(line.as_bytes())?;
        self.index.insert(id, record_position);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        if let Err(source) = self.file.write_all(bytes) {
            // Remove the partly written line. If the line cannot be removed here, the next call of `open` removes it.
            let _ = self.file.set_len(self.end);
            return Err(JournalError::Io { verb: "write", path: self.path.clone(), source });
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Reads the outcome of a cell. Returns `None` if the cell has no record. Reading cells in the order of their
    /// records is fastest.
    ///
    /// # Errors
    /// [`JournalError`] if the record cannot be read or decoded.
    pub fn read(&mut self, id: CellId) -> Result<Option<Outcome<R>>, JournalError>
    where
        R: DeserializeOwned,
    {
        let Some(&record_position) = self.index.get(&id) else { return Ok(None) };
        let line = self.line(record_position).map_err(|source| JournalError::Io {
            verb: "read",
            path: self.path.clone(),
            source,
        })?;
        let outcome = record::decode(&line).map_err(|source| JournalError::Record {
            path: self.path.clone(),
            id,
            source,
        })?;
        Ok(Some(outcome))
    }

    fn line(&mut self, record_position: RecordPosition) -> io::Result<String> {
        let mut line = vec![0; record_position.length as usize];
        // An absolute seek would discard the buffer.
        self.reader.seek_relative(record_position.offset as i64 - self.position as i64)?;
        self.position = record_position.offset;
        self.reader.read_exact(&mut line)?;
        self.position += u64::from(record_position.length);
        String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Waits until all records are on the disk.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the data cannot be written.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| JournalError::Io {
            verb: "write",
            path: self.path.clone(),
            source,
        })
    }
}
