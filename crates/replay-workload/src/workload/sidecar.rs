//! The line of a sidecar that names its trace. A sidecar is a file beside a trace.
//!
//! `lo.shapes.csv` and `lo.nodes.csv` are read because they are beside `lo.swf`. If a program is killed between two
//! renames, or if only one file is copied, a sidecar can end up beside a trace to which it does not belong. Therefore
//! `synth` and `import` end each sidecar with
//!
//! ```text
//! # trace blake3:DIGEST
//! ```
//!
//! Here, DIGEST is the BLAKE3 digest of the uncompressed trace, in hexadecimal
//! ([`Workload::digest`](super::Workload::digest)). Readers reject a sidecar that names another trace. Readers accept a
//! sidecar that names no trace, for example a file written by hand. The line that names the trace is the last line of a
//! sidecar, because an import can compute the digest only after it has read the whole log.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::sanitize::excerpt;

/// Prefix of a line that names a trace.
const MARK: &str = "# trace blake3:";

/// A line of a sidecar that names its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// The name of the sidecar in messages.
    file: String,
    /// Line, 1-based.
    line: u64,
    /// Digest of the trace, hexadecimal.
    digest: String,
}

/// Error: a sidecar names a trace other than the trace beside the sidecar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: belongs to the trace with digest {}, but {trace} has digest {}; write the trace and the files \
     beside it again, move {file} away, or delete this line if the two belong together",
    excerpt(.named), excerpt(.digest)
)]
pub struct OtherTrace {
    /// The sidecar.
    pub file: String,
    /// Line that names the trace, 1-based.
    pub line: u64,
    /// Digest on this line.
    pub named: String,
    /// The trace beside the sidecar.
    pub trace: String,
    /// Digest of the trace beside the sidecar.
    pub digest: String,
}

/// Writes the line that names a trace by the BLAKE3 digest of its uncompressed text, hexadecimal.
///
/// # Errors
/// Errors of `out`.
pub fn write_trace_line(digest: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MARK}{digest}")
}

/// Returns whether a line of a sidecar is a comment.
pub(super) fn is_comment(text: &str) -> bool {
    text.starts_with('#')
}

impl TraceLine {
    /// Parses a line of the sidecar `file`; `None` if the line does not name a trace.
    pub fn parse(file: &str, line: u64, text: &str) -> Option<Self> {
        let digest = text.strip_prefix(MARK)?.trim().to_string();
        Some(Self { file: file.to_string(), line, digest })
    }

    /// Checks that the line names this trace.
    ///
    /// # Errors
    /// [`OtherTrace`] if the digests differ.
    pub fn check(&self, trace: &str, digest: &str) -> Result<(), OtherTrace> {
        if self.digest.eq_ignore_ascii_case(digest) {
            return Ok(());
        }
        Err(OtherTrace {
            file: self.file.clone(),
            line: self.line,
            named: self.digest.clone(),
            trace: trace.to_string(),
            digest: digest.to_string(),
        })
    }
}

/// Returns whether a sidecar exists. Its path is derived from the path of the trace, so it is not opened if opening it
/// could block.
///
/// # Errors
/// [`io::Error`] if the path cannot be read, or leads to a directory, a pipe or a device.
pub fn is_beside(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is not a regular file, but belongs to the trace by its name; move it away",
        )),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
            _ => Err(error),
        },
    }
}

/// Returns the digest of the trace that the last line of a sidecar names. Returns `None` if the last line does not name
/// a trace: `synth` and `import` did not write this file.
///
/// # Errors
/// [`io::Error`] if the file cannot be read.
pub fn digest_of(path: &Path) -> io::Result<Option<String>> {
    // The last line has a fixed length.
    let length = MARK.len() + 2 * blake3::OUT_LEN + 1;
    let mut file = match File::open(path) {
        // A link whose target does not exist names no trace.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let begin = file.metadata()?.len().saturating_sub(length as u64 + 1);
    file.seek(SeekFrom::Start(begin))?;
    let mut end = Vec::new();
    file.take(length as u64 + 1).read_to_end(&mut end)?;
    let text = end.strip_suffix(b"\n").unwrap_or(&end);
    let line = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = str::from_utf8(line).ok().and_then(|line| line.strip_prefix(MARK));
    let is_digest = |text: &&str| {
        text.len() == 2 * blake3::OUT_LEN && text.bytes().all(|c| c.is_ascii_hexdigit())
    };
    Ok(line.filter(is_digest).map(str::to_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_trace_and_no_other() {
        let mut text = Vec::new();
        let digest = blake3::hash(b"1 0 0 5 2\n").to_hex();
        write_trace_line(&digest, &mut text).expect("memory");
        let text = String::from_utf8(text).expect("text");
        let line = TraceLine::parse("t.shapes.csv", 7, text.trim()).expect("the line");
        assert_eq!(line.check("t.swf", &digest), Ok(()));
        assert_eq!(line.check("t.swf", &digest.to_uppercase()), Ok(()));
        let other = blake3::hash(b"1 0 0 5 4\n").to_hex();
        let error = line.check("t.swf", &other).expect_err("another trace").to_string();
        assert_eq!(
            error,
            format!(
                "t.shapes.csv:7: belongs to the trace with digest {}..., but t.swf has digest {}...; write the trace \
                 and the files beside it again, move t.shapes.csv away, or delete this line if the two belong together",
                &digest[..40],
                &other[..40]
            )
        );
        for comment in ["# a comment", "# trace", "#trace blake3:00", "1,2"] {
            assert_eq!(TraceLine::parse("t.shapes.csv", 1, comment), None);
        }
        // A damaged digest matches no trace.
        let damaged = TraceLine::parse("t", 1, "# trace blake3:\u{1b}xé").expect("a line");
        assert!(damaged.check("t.swf", &digest).is_err());
    }
}
