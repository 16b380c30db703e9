//! What a command has done so far, in a file that survives its death.
//!
//! A journal is a text file that only grows: a header, then one line per finished cell
//! with a checksum, the cell's [id](CellId) and its result as JSON: that of a run of a
//! sweep, of a point of streams, or of a trace on a network. A record goes to the system in one write, so a program that is killed at any instant
//! leaves whole records and at most one torn line at the end, which the next
//! [`open`](Journal::open) cuts off. A record damaged in the middle is passed over and
//! counted, and its cell is simply not done. The last record of a cell counts.
//!
//! The records are in the order in which cells finished, which depends on threads; the
//! result files are made from them in grid order, and do not. Everything a result file
//! needs of a cell is in its record as named fields, so that a resumed sweep runs no cell
//! again, and results may gain fields without losing journals.
//!
//! In memory a record takes some forty bytes. After a power failure, rather than a kill,
//! the newest records may be missing: they are synchronised with the disk only by
//! [`sync`](Journal::sync).

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
use scan::{Other, Place, Scan, scan};

/// Name of the journal in a folder of results.
pub const JOURNAL_FILE: &str = "journal.txt";

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// The journal of a folder, of cells that have such results.
#[derive(Debug)]
pub struct Journal<R> {
    path: PathBuf,
    file: File,
    reader: BufReader<File>,
    /// Where the reader stands.
    position: u64,
    end: u64,
    index: HashMap<CellId, Place>,
    damaged: Vec<u64>,
    results: PhantomData<fn() -> R>,
}

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("cannot {verb} {}: {source}", .path.display())]
    Io {
        /// "read" or "write".
        verb: &'static str,
        /// The journal.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Some other file.
    #[error("{} is no journal of this program", .0.display())]
    Foreign(PathBuf),
    /// A journal of another version.
    #[error("{} is a journal of another version", .0.display())]
    Version(PathBuf),
    /// A sound record that this version does not understand.
    #[error("{}: the record of cell {id} is not of this version: {source}", .path.display())]
    Record {
        /// The journal.
        path: PathBuf,
        /// The cell.
        id: CellId,
        /// What is missing.
        source: serde_json::Error,
    },
}

/// Whether a folder has a journal, of whatever version. A journal appears together with its
/// first line; a file without it, such as an empty one, is ours only if the folder is known
/// to be that of a command that keeps one (`begun`), whose journal was cut off.
///
/// # Errors
/// Those of the file system.
pub fn is_journal(dir: &Dir, begun: bool) -> io::Result<bool> {
    let Some(file) = dir.file(JOURNAL_FILE)? else { return Ok(false) };
    let found = scan(BufReader::new(file.take(HEADER.len() as u64 * 2)))?;
    Ok(match found {
        Ok(scan) => scan.end > 0 || begun,
        Err(Other::Version) => true,
        Err(Other::Foreign) => false,
    })
}

/// Removes the journal of a folder, of whatever version, if there is one. `begun` is as in
/// [`is_journal`].
///
/// # Errors
/// [`JournalError`]; a file that is no journal is left alone.
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
    /// Opens the journal of a folder for writing, or begins one. A torn line at the end
    /// is cut off; so is one in the first line if the folder is that of a command that keeps one (`begun`,
    /// as in [`is_journal`]). Only the holder of the folder's [lock](crate::files::Hold) may do
    /// this.
    ///
    /// # Errors
    /// [`JournalError`]; a file that is no journal is left alone.
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

    /// Opens the journal of a folder for reading. A torn line at the end does not count.
    ///
    /// # Errors
    /// [`JournalError`].
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
            Err(Other::Version) => Err(JournalError::Version(path)),
            Err(Other::Foreign) => Err(JournalError::Foreign(path)),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of cells with a record.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether no cell has a record.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The cells with a record, in no order.
    pub fn ids(&self) -> impl Iterator<Item = CellId> + '_ {
        self.index.keys().copied()
    }

    /// Lines (from 1) that were passed over because their checksum is wrong.
    pub fn damaged(&self) -> &[u64] {
        &self.damaged
    }

    /// Whether a cell has a record, and if so, whether it failed.
    pub fn failed(&self, id: CellId) -> Option<bool> {
        self.index.get(&id).map(|place| place.failed)
    }

    /// Adds the record of a cell: its result, or why it failed. An earlier one does not
    /// count any more.
    ///
    /// # Errors
    /// [`JournalError`]. What was recorded before is not lost, and the journal can be
    /// written again when the cause is gone.
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
        let place = Place { offset: self.end, length, failed: outcome.is_err() };
        self.write(line.as_bytes())?;
        self.index.insert(id, place);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        if let Err(source) = self.file.write_all(bytes) {
            // Part of a line may stand there; if it cannot be cut off now, the next
            // opening does it.
            let _ = self.file.set_len(self.end);
            return Err(JournalError::Io { verb: "write", path: self.path.clone(), source });
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// What became of a cell; `None` if there is no record. Fastest in the order of the
    /// records.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn read(&mut self, id: CellId) -> Result<Option<Outcome<R>>, JournalError>
    where
        R: DeserializeOwned,
    {
        let Some(&place) = self.index.get(&id) else { return Ok(None) };
        let line = self.line(place).map_err(|source| JournalError::Io {
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

    fn line(&mut self, place: Place) -> io::Result<String> {
        let mut line = vec![0; place.length as usize];
        // Not an absolute seek, which would empty the buffer.
        self.reader.seek_relative(place.offset as i64 - self.position as i64)?;
        self.position = place.offset;
        self.reader.read_exact(&mut line)?;
        self.position += u64::from(place.length);
        String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| JournalError::Io {
            verb: "write",
            path: self.path.clone(),
            source,
        })
    }
}
