use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use super::{CellId, record};
use replay_core::lines::Lines;

/// The first line of every journal; the number is that of the records' form.
pub const HEADER: &[u8] = b"replay journal 2\n";
/// How that of any version begins.
const ANY_HEADER: &[u8] = b"replay journal ";

/// Where a record stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// First byte of its line.
    pub offset: u64,
    /// Bytes without the line's end.
    pub length: u32,
    /// Whether the cell failed.
    pub failed: bool,
}

/// What a reading of a whole journal finds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The last sound record of every cell.
    pub index: HashMap<CellId, Place>,
    /// Bytes up to the end of the last whole line.
    pub end: u64,
    /// Whether bytes of a line without its end follow.
    pub torn: bool,
    /// Lines (from 1) whose checksum is wrong.
    pub damaged: Vec<u64>,
}

/// What is no journal of this version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Other {
    /// A journal of another version.
    Version,
    /// Some other file.
    Foreign,
}

/// Reads a journal from its first byte. What was cut off within the header is an empty
/// journal.
pub(super) fn scan(mut input: impl BufRead) -> io::Result<Result<Scan, Other>> {
    let mut scan = Scan::default();
    let mut line = Vec::new();
    // Some other file may have no line's end for long.
    input.by_ref().take(HEADER.len() as u64 + 8).read_until(b'\n', &mut line)?;
    if line != HEADER {
        scan.torn = !line.is_empty();
        let version = line.strip_prefix(ANY_HEADER).and_then(|rest| rest.strip_suffix(b"\n"));
        return Ok(match version {
            _ if HEADER.starts_with(&line) => Ok(scan),
            Some(number) if number.iter().all(u8::is_ascii_digit) => Err(Other::Version),
            _ => Err(Other::Foreign),
        });
    }
    scan.end = line.len() as u64;
    let mut lines = Lines::new(input);
    loop {
        // The header was the first.
        let number = lines.number() + 2;
        let whole = lines.next(|line| {
            let Some(body) = line.strip_suffix(b"\n") else {
                scan.torn = true;
                return false;
            };
            match u32::try_from(body.len()).ok().zip(record::head(body)) {
                Some((length, (id, failed))) => {
                    scan.index.insert(id, Place { offset: scan.end, length, failed });
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
