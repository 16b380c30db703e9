use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use super::{CellId, record};
use replay_engine::lines::Lines;

/// First line of a journal; the number is the version of the record format.
pub const HEADER: &[u8] = b"replay journal 2\n";
/// Prefix of the first line of a journal of any version.
const ANY_HEADER: &[u8] = b"replay journal ";

/// Position of a record in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPosition {
    /// Offset of the first byte of the line.
    pub offset: u64,
    /// Length of the line in bytes, excluding the line break.
    pub length: u32,
    /// Whether the cell failed.
    pub failed: bool,
}

/// Result of scanning a journal.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Position of the last valid record of every cell.
    pub index: HashMap<CellId, RecordPosition>,
    /// Offset of the end of the last complete line.
    pub end: u64,
    /// Whether an incomplete line follows the last complete line.
    pub torn: bool,
    /// Numbers (from 1) of the lines with a wrong checksum.
    pub damaged: Vec<u64>,
}

/// The reason why a file is not a journal of this version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotAJournal {
    /// The file is a journal of another version.
    Version,
    /// The file is not a journal.
    Foreign,
}

/// Scans a journal from its first byte. A file that is truncated within the header is treated as an empty journal.
pub(super) fn scan(mut input: impl BufRead) -> io::Result<Result<Scan, NotAJournal>> {
    let mut scan = Scan::default();
    let mut line = Vec::new();
    // If the file is not a journal, its first line may be very long.
    input.by_ref().take(HEADER.len() as u64 + 8).read_until(b'\n', &mut line)?;
    if line != HEADER {
        scan.torn = !line.is_empty();
        let version = line.strip_prefix(ANY_HEADER).and_then(|rest| rest.strip_suffix(b"\n"));
        return Ok(match version {
            _ if HEADER.starts_with(&line) => Ok(scan),
            Some(number) if number.iter().all(u8::is_ascii_digit) => Err(NotAJournal::Version),
            _ => Err(NotAJournal::Foreign),
        });
    }
    scan.end = line.len() as u64;
    let mut lines = Lines::new(input);
    loop {
        // The header was line 1.
        let number = lines.number() + 2;
        let whole = lines.next(|line| {
            let Some(body) = line.strip_suffix(b"\n") else {
                scan.torn = true;
                return false;
            };
            match u32::try_from(body.len()).ok().zip(record::head(body)) {
                Some((length, (id, failed))) => {
                    scan.index.insert(id, RecordPosition { offset: scan.end, length, failed });
                }
                None => scan.damaged.push(number),
            }
            scan.end += line.len() as u64;
            true
        })?;
        if whole != Some(true) {
            return Ok(Ok(scan));
        }
    }
}
