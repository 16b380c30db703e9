//! Writer of SWF. The header is written byte for byte, and records have the column widths of the archive.

use std::fmt;
use std::io::{self, Write};

use super::{Header, Record};

/// Returns header lines `; key: value` for the given fields.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a field that a reader could not parse: the key is blank or contains a colon, or
/// key or value contains a line break.
pub fn header_fields(fields: &[(&str, &str)]) -> io::Result<String> {
    let mut text = String::new();
    for (key, value) in fields {
        let breaks = |s: &str| s.contains(['\n', '\r']);
        if key.trim().is_empty() || key.contains(':') || breaks(key) || breaks(value) {
            let message = format!("{key:?}: {value:?} is not a valid SWF header field");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        text += &format!("; {key}: {value}\n");
    }
    Ok(text)
}

/// Writes a generated trace of jobs that have completed.
///
/// The header starts with `Version`, `MaxJobs`, `MaxRecords` and `MaxProcs` (`processors`). The lines of `about` and
/// then `fields` follow, each as a line `; key: value`. `out` should be buffered; it is flushed at the end.
///
/// # Errors
/// Errors of `out`; before anything is written, the errors of [`header_fields`].
pub(crate) fn write_generated(
    records: &[Record],
    processors: u32,
    about: &str,
    fields: &[(&str, &str)],
    out: impl Write,
) -> io::Result<()> {
    let (count, fields) = (records.len(), header_fields(fields)?);
    let header = format!(
        "; Version: 2.2\n; MaxJobs: {count}\n; MaxRecords: {count}\n; MaxProcs: {processors}\n{about}{fields}"
    );
    let mut writer = Writer::new(out);
    writer.write_header(&Header::parse(header.as_bytes()))?;
    records.iter().try_for_each(|record| writer.write_record(record))?;
    writer.into_inner().flush()
}

/// Writes SWF.
///
/// A [`Reader`](super::Reader) of the written text returns the header text and the records that were written. Numbers
/// and blanks are normalised: `489.00` becomes `489`.
///
/// ```
/// use replay_workload::swf::{Header, Record, Writer};
///
/// let mut writer = Writer::new(Vec::new());
/// writer.write_header(&Header::parse(b"; MaxProcs: 100\n"))?;
/// writer.write_record(&Record { job_number: 1, submit_time: 0.5, ..Record::UNKNOWN })?;
/// let text = String::from_utf8_lossy(writer.get_ref()).into_owned();
/// assert!(text.starts_with("; MaxProcs: 100\n    1      0.5     -1 "), "{text}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W> {
    inner: W,
}

impl<W: Write> Writer<W> {
    /// Creates a writer to `inner`, which should be buffered.
    pub fn new(inner: W) -> Writer<W> {
        Writer { inner }
    }

    /// Writes the header's raw text, and a final line end if it is missing.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_header(&mut self, header: &Header) -> io::Result<()> {
        self.inner.write_all(header.raw())?;
        match header.raw().last() {
            None | Some(b'\n') => Ok(()),
            Some(_) => self.inner.write_all(b"\n"),
        }
    }

    /// Writes one record as a line.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_record(&mut self, r: &Record) -> io::Result<()> {
        self.write_wide(r, b"")
    }

    /// Writes a record as a line, followed by the text `extra`. The text must not contain a line break.
    ///
    /// # Errors
    /// [`io::Error`] if writing fails.
    pub fn write_wide(&mut self, r: &Record, extra: &[u8]) -> io::Result<()> {
        write!(
            self.inner,
            "{:>5} {:>8} {:>6} {:>6} {:>4} {:>6} {:>5} {:>4} {:>6} {:>5} {:>2} {:>3} {:>3} {:>3} {:>2} {:>2} {:>2} {:>2}",
            r.job_number,
            Seconds(r.submit_time),
            Seconds(r.wait_time),
            Seconds(r.run_time),
            r.allocated_processors,
            Seconds(r.average_cpu_time),
            r.used_memory,
            r.requested_processors,
            Seconds(r.requested_time),
            r.requested_memory,
            r.status,
            r.user,
            r.group,
            r.executable,
            r.queue,
            r.partition,
            r.preceding_job,
            Seconds(r.think_time),
        )?;
        if !extra.is_empty() {
            self.inner.write_all(b" ")?;
            self.inner.write_all(extra)?;
        }
        self.inner.write_all(b"\n")
    }

    /// Returns the output.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the output without flushing it.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

/// A time. The time is printed as the shortest text that parses to the same number.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0 as i64;
        if whole as f64 == self.0 { whole.fmt(f) } else { self.0.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_fields_that_would_break_the_header() {
        for field in
            [("", "x"), (" ", "x"), ("a:b", "x"), ("a\nb", "x"), ("a", "x\n1 2 3"), ("a", "\r")]
        {
            let mut out = Vec::new();
            let error = write_generated(&[], 1, "", &[field], &mut out).unwrap_err();
            assert_eq!((error.kind(), out.len()), (io::ErrorKind::InvalidInput, 0), "{field:?}");
        }
    }
}
