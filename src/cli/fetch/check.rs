//! Checks the file of a trace against its SHA-256 or its number of records.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use replay_engine::swf::{self, Reader, Record};
use replay_engine::workload::KnownTrace;
use replay_experiment::files::InputRecord;

/// How a file was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checked {
    /// The SHA-256 or the number of records is correct.
    Verified,
    /// Neither is known; the file is a complete gzip file of records.
    Unverified,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Checked::Verified => "verified",
            Checked::Unverified => "not verified (its SHA-256 and number of records are not known)",
        })
    }
}

/// Error: a file is not the file of the trace.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .file.display())]
pub struct Mismatch {
    file: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("not a regular file")]
    Irregular,
    #[error("SHA-256 is {got}, expected {expected}")]
    Digest { got: String, expected: String },
    #[error("not a gzip file")]
    NotGzip,
    #[error("{got} records, expected {expected}")]
    Records { got: u64, expected: u64 },
    #[error("not a complete trace: {0}")]
    Content(String),
}

impl Mismatch {
    /// Replaces the path in the message.
    pub fn of(self, file: PathBuf) -> Self {
        Self { file, ..self }
    }
}

/// Checks a file. The outer error means that the file cannot be read.
pub fn check(path: &Path, trace: &KnownTrace) -> io::Result<Result<Checked, Mismatch>> {
    let checked = match &trace.sha256 {
        Some(expected) => digest(path, expected)?,
        None => records(path, trace.records)?,
    };
    Ok(checked.map_err(|problem| Mismatch { file: path.to_path_buf(), problem }))
}

fn digest(path: &Path, expected: &str) -> io::Result<Result<Checked, Problem>> {
    let Some(InputRecord { sha256: got, .. }) =
        InputRecord::of(path).map_err(|error| unreadable(path, error))?
    else {
        return Ok(Err(Problem::Irregular));
    };
    if got.eq_ignore_ascii_case(expected) {
        return Ok(Ok(Checked::Verified));
    }
    let expected = expected.to_string();
    Ok(Err(Problem::Digest { got, expected }))
}

/// Counts the records of a file, which must be compressed with gzip.
fn records(path: &Path, expected: Option<u64>) -> io::Result<Result<Checked, Problem>> {
    let failed = |error| unreadable(path, error);
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Ok(Err(Problem::Irregular));
    }
    let mut start = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(2).read_to_end(&mut start));
    opened.map_err(failed)?;
    if start != [0x1f, 0x8b] {
        return Ok(Err(Problem::NotGzip));
    }
    let count = || -> Result<u64, swf::Error> {
        let (mut reader, mut record, mut count) = (Reader::open(path)?, Record::default(), 0);
        while reader.read_record(&mut record)? {
            count += 1;
        }
        Ok(count)
    };
    Ok(match (count(), expected) {
        (Ok(got), Some(expected)) if got != expected => Err(Problem::Records { got, expected }),
        (Ok(_), Some(_)) => Ok(Checked::Verified),
        (Ok(_), None) => Ok(Checked::Unverified),
        (Err(swf::Error::Io { source, .. }), _) => return Err(failed(source)),
        (Err(error), _) => Err(Problem::Content(error.to_string())),
    })
}

fn unreadable(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))
}
