//! Communication matrices and phase files.
//!
//! A *matrix* is CSV without a header: N lines of N numbers. Field j of line i (from 0) is the number of packets per
//! iteration that rank i sends to rank j, or a weight for this pair. Numbers of packets are integers.
//!
//! ```text
//! 0,2,0
//! 1,0,1
//! 0,2,0
//! ```
//!
//! A *phase file* is CSV with a header. Phases are processed in ascending order of their numbers, independent of the
//! order of lines. The packets of a rank in a phase are sent in the order of the file. The highest rank determines the
//! number of ranks.
//!
//! ```text
//! phase,src_rank,dst_rank,packets
//! 0,0,1,2
//! 0,1,0,2
//! 1,0,2,1
//! ```
//!
//! Blank lines, blanks around fields and a byte order mark are ignored. Packets from a rank to itself never enter the
//! network and are omitted. Files are read in one pass, line by line.

mod error;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::table::{Entry, List};
use replay_engine::lines::{LineError, Lines};

pub use error::TableError;

/// Field names of a line in a phase file.
pub const PHASE_FIELDS: [&str; 4] = ["phase", "src_rank", "dst_rank", "packets"];

/// Largest number of ranks in a file.
const MAX_RANKS: usize = u16::MAX as usize;

/// Largest permitted weight. The limit keeps the sum of the weights finite.
const MOST_WEIGHT: f64 = 1e100;

/// Reads a matrix of packets.
pub fn packets(file: &str) -> Result<List<u32>, TableError> {
    matrix(open(file)?, file, 0..=u32::MAX, "an integer from 0 to 4294967295")
}

/// Reads a matrix of weights.
pub fn weights(file: &str) -> Result<List<f64>, TableError> {
    matrix(open(file)?, file, 0.0..=MOST_WEIGHT, "a number from 0 to 1e100")
}

/// Reads phases.
pub fn phases(file: &str) -> Result<List<u32>, TableError> {
    read_phases(open(file)?, file)
}

fn open(file: &str) -> Result<impl BufRead, TableError> {
    let opened = File::open(file).map_err(|source| TableError::Io { file: file.into(), source })?;
    Ok(BufReader::new(opened))
}

fn matrix<V>(
    input: impl BufRead,
    file: &str,
    range: RangeInclusive<V>,
    expected: &'static str,
) -> Result<List<V>, TableError>
where
    V: Copy + PartialOrd + Default + FromStr,
{
    let (mut entries, mut rows, mut columns) = (Vec::new(), 0, 0);
    for_lines(input, file, |line| {
        let count = line.count();
        if columns == 0 {
            columns = count;
        }
        let most = MAX_RANKS;
        if count != columns || count > most {
            return Err(line.fields(count, columns.min(most)));
        }
        for (dst, text) in (0..).zip(line.texts()) {
            let value = parse(text, &range)
                .ok_or_else(|| line.field("entry", dst, columns, text, expected))?;
            if value > V::default() && dst != rows {
                entries.push(Entry { step: 0, src: rows as u32, dst: dst as u32, value });
            }
        }
        rows += 1;
        Ok(())
    })?;
    if rows != columns {
        return Err(TableError::NotSquare { file: file.to_string(), rows, columns });
    }
    complete(file, rows as u32, entries)
}

fn read_phases(input: impl BufRead, file: &str) -> Result<List<u32>, TableError> {
    let (mut entries, mut ranks, mut header) = (Vec::new(), 0, false);
    for_lines(input, file, |line| {
        if !header {
            header = line.texts().eq(PHASE_FIELDS);
            return if header { Ok(()) } else { Err(line.header()) };
        }
        let count = line.count();
        let mut texts = line.texts();
        let [Some(phase), Some(src), Some(dst), Some(packets), None] =
            std::array::from_fn(|_| texts.next())
        else {
            return Err(line.fields(count, PHASE_FIELDS.len()));
        };
        let fail = |at: usize, text: &str, expected| {
            line.field(PHASE_FIELDS[at], at, PHASE_FIELDS.len(), text, expected)
        };
        let whole = "an integer from 0 to 18446744073709551615";
        let step = parse(phase, &(0..=u64::MAX)).ok_or_else(|| fail(0, phase, whole))?;
        let rank = |at, text: &str| {
            let rank = parse(text, &(0..=MAX_RANKS as u32 - 1));
            rank.ok_or_else(|| fail(at, text, "an integer from 0 to 65534"))
        };
        let (src, dst) = (rank(1, src)?, rank(2, dst)?);
        let value = parse(packets, &(0..=u32::MAX))
            .ok_or_else(|| fail(3, packets, "an integer from 0 to 4294967295"))?;
        ranks = ranks.max(src + 1).max(dst + 1);
        if value > 0 && src != dst {
            entries.push(Entry { step, src, dst, value });
        }
        Ok(())
    })?;
    if !header {
        return Err(Line { file, number: 1, text: "" }.header());
    }
    complete(file, ranks, entries)
}

/// Returns the list, or an error if the list has no entries.
fn complete<V>(file: &str, ranks: u32, entries: Vec<Entry<V>>) -> Result<List<V>, TableError> {
    if entries.is_empty() {
        return Err(TableError::Nothing { file: file.to_string() });
    }
    Ok(List { ranks, entries })
}

/// Parses a number in a range.
fn parse<V: FromStr + PartialOrd>(text: &str, range: &RangeInclusive<V>) -> Option<V> {
    text.parse().ok().filter(|value| range.contains(value))
}

/// A line that is not blank.
#[derive(Clone, Copy)]
struct Line<'a> {
    file: &'a str,
    number: u64,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn texts(self) -> impl Iterator<Item = &'a str> {
        self.text.split(',').map(str::trim)
    }

    fn count(self) -> usize {
        self.text.split(',').count()
    }
}

/// Calls `visit` with every line that is not blank, until a call fails.
fn for_lines(
    input: impl BufRead,
    file: &str,
    mut visit: impl FnMut(Line<'_>) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut lines = Lines::new(input);
    loop {
        // Invalid UTF-8 is not a number, so it causes an error; the error message shows replacement characters.
        match lines.next_text(|number, text| visit(Line { file, number, text })) {
            Ok(Some(outcome)) => outcome?,
            Ok(None) => return Ok(()),
            Err(LineError::TooLong(_)) => {
                return Err(TableError::TooLong { file: file.to_string(), line: lines.number() });
            }
            Err(LineError::Io(source)) => {
                return Err(TableError::Io { file: file.to_string(), source });
            }
        }
    }
}

#[cfg(test)]
mod tests;
