//! The shapes file of a trace: the shape of each job, as CSV with the header `job,w,h,d`.
//!
//! ```text
//! job,w,h,d
//! 1,4,3,1
//! 2,16,9,1
//! ```
//!
//! Jobs are identified by their number (SWF field 1) and may be in any order. The product of the sides must be the size
//! of the job. The file may contain jobs outside the window of the trace. Lines that begin with `#` are comments; one
//! of these lines may name the trace ([`sidecar`](crate::workload::sidecar)). The file is read in one pass, with one
//! table entry per job.

mod error;

pub use error::ShapeError;

use crate::lines::{LineError, Lines};
use crate::workload::sidecar::{OtherTrace, TraceLine, is_comment};
use crate::workload::{Job, Links};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// First line of a shapes file: the fields of a line, in order.
pub const SHAPES_HEADER: &str = "job,w,h,d";

/// Returns the path of the shapes file of a trace: `lo.shapes.csv` beside `lo.swf` or `lo.swf.gz`.
///
/// ```
/// use replay_workload::workload::stochastic::shapes_path;
/// assert_eq!(shapes_path("out/lo.swf".as_ref()), std::path::Path::new("out/lo.shapes.csv"));
/// ```
#[must_use]
pub fn shapes_path(trace: &Path) -> PathBuf {
    beside(trace, ".shapes.csv")
}

/// Returns the path of the recorded placements of an imported trace: `lo.nodes.csv` beside `lo.swf`.
#[must_use]
pub fn nodes_path(trace: &Path) -> PathBuf {
    beside(trace, ".nodes.csv")
}

/// Returns the path of the original job ids of an imported trace: `lo.ids.csv` beside `lo.swf`.
#[must_use]
pub fn ids_path(trace: &Path) -> PathBuf {
    beside(trace, ".ids.csv")
}

/// Replaces the extensions `.swf` and `.gz` of a trace's path by `end`.
fn beside(trace: &Path, end: &str) -> PathBuf {
    let mut path = trace.to_path_buf();
    for extension in ["gz", "swf"] {
        if path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension)) {
            path.set_extension("");
        }
    }
    // The extension is appended, not set, because the rest of the name may contain dots.
    let mut path = path.into_os_string();
    path.push(end);
    path.into()
}

/// Writes one line for each job that has a shape. Sides are in processors. `out` should be buffered; it is flushed at
/// the end.
///
/// # Errors
/// Errors of `out`.
pub fn write_shapes(jobs: &[Job], mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{SHAPES_HEADER}")?;
    for (number, shape) in jobs.iter().filter_map(|job| Some((job.number, job.shape?))) {
        write_shape(number, shape, &mut out)?;
    }
    out.flush()
}

/// Writes the shape of one job as a line of a shapes file.
///
/// # Errors
/// Errors of `out`.
pub fn write_shape(number: i64, [w, h, d]: [u16; 3], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{number},{w},{h},{d}")
}

/// The shapes of a trace's jobs, as read from a shapes file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeFile {
    file: String,
    /// Line and shape of each job, by job number.
    rows: HashMap<i64, (u64, [u16; 3])>,
    /// Lines that name the trace.
    traces: Vec<TraceLine>,
}

impl ShapeFile {
    /// Reads a shapes file; `file` names it in messages. Blank lines and blanks around fields are ignored.
    ///
    /// # Errors
    /// [`ShapeError`] with file, line and field: no header, a missing or an extra field, a field that is not a
    /// number in range, or a repeated job.
    pub fn read(input: impl BufRead, file: &str) -> Result<Self, ShapeError> {
        let mut shapes = Self { file: file.to_string(), rows: HashMap::new(), traces: Vec::new() };
        let (mut lines, mut header) = (Lines::new(input), false);
        loop {
            // Invalid UTF-8 is not a number, so it causes an error. The error message shows replacement characters.
            let read = lines.next_text(|line, text| {
                if is_comment(text) {
                    shapes.traces.extend(TraceLine::parse(file, line, text));
                    return Ok(());
                }
                if header {
                    return shapes.insert(line, text);
                }
                header = text.split(',').map(str::trim).eq(SHAPES_HEADER.split(','));
                if header { Ok(()) } else { Err(ShapeError::header(file, line, text)) }
            });
            let (file, line) = (file.to_string(), lines.number());
            match read {
                Ok(Some(outcome)) => outcome?,
                Ok(None) if header => return Ok(shapes),
                Ok(None) => return Err(ShapeError::header(&file, line.max(1), "")),
                Err(LineError::TooLong(_)) => return Err(ShapeError::TooLong { file, line }),
                Err(LineError::Io(source)) => return Err(ShapeError::Io { file, source }),
            }
        }
    }

    /// Checks that the file, if it names a trace, names the trace with digest `digest`. Messages refer to the trace by
    /// the name `trace`.
    ///
    /// # Errors
    /// [`OtherTrace`] if the file names another trace.
    pub fn check_trace(&self, trace: &str, digest: &str) -> Result<(), OtherTrace> {
        self.traces.iter().try_for_each(|line| line.check(trace, digest))
    }

    /// Assigns to each job the shape that is listed under its job number, and returns the number of jobs without a
    /// shape. `links` contains the repeated job numbers of the trace.
    ///
    /// # Errors
    /// [`ShapeError`] if no job has a shape, if the size of a shape differs from the size of its job, or if several
    /// records have the number of a job with a shape.
    pub fn assign(&self, jobs: &mut [Job], links: &Links) -> Result<u64, ShapeError> {
        let first = jobs.first().map(|job| job.number);
        let (mut with, mut without) = (0u64, 0u64);
        for job in jobs {
            let (file, number) = (self.file.clone(), job.number);
            let Some(&(line, shape)) = self.rows.get(&number) else {
                without += 1;
                continue;
            };
            if let Some(records) = links.repeated_lines(number) {
                return Err(ShapeError::Repeated { file, line, job: number, records });
            }
            let size: u64 = shape.iter().map(|&side| u64::from(side)).product();
            if size != u64::from(job.size) {
                return Err(ShapeError::Size { file, line, job: number, shape, size: job.size });
            }
            job.shape = Some(shape);
            with += 1;
        }
        match first {
            Some(job) if with == 0 => Err(ShapeError::Missing { file: self.file.clone(), job }),
            _ => Ok(without),
        }
    }

    /// Returns the name of the file in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file
    }

    /// Returns the number of shapes in the file.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the file has no shapes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Parses a line below the header.
    fn insert(&mut self, line: u64, text: &str) -> Result<(), ShapeError> {
        let mut fields = text.split(',').map(str::trim);
        let job = self.field(line, 0, fields.next())?;
        let mut shape = [0; 3];
        for (side, index) in shape.iter_mut().zip(1..) {
            *side = self.field(line, index, fields.next())?;
            if *side == 0 {
                return Err(ShapeError::field(&self.file, line, index, "0"));
            }
        }
        if fields.next().is_some() {
            let fields = text.split(',').count();
            return Err(ShapeError::Extra { file: self.file.clone(), line, fields });
        }
        match self.rows.entry(job) {
            Entry::Vacant(vacant) => {
                vacant.insert((line, shape));
                Ok(())
            }
            Entry::Occupied(old) => {
                let (file, first) = (self.file.clone(), old.get().0);
                Err(ShapeError::Twice { file, line, job, first })
            }
        }
    }

    fn field<T: std::str::FromStr>(
        &self,
        line: u64,
        index: usize,
        text: Option<&str>,
    ) -> Result<T, ShapeError> {
        let text = text.unwrap_or("");
        text.parse().map_err(|_| ShapeError::field(&self.file, line, index, text))
    }
}

#[cfg(test)]
mod tests;
