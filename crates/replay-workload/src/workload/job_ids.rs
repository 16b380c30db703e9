//! The job ids of an imported log: `lo.ids.csv` beside `lo.swf`.
//!
//! An import numbers the jobs of a log 1, 2, 3, .. and writes the ids that differ from these numbers to a file with the
//! columns `job` and `id`. A job that is not listed has its number as its id.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::load::Workload;
use super::report::Change;
use super::sidecar::{OtherTrace, TraceLine, is_comment};
use super::stochastic::ids_path;
use crate::lines::{LineError, Lines};
use crate::sanitize::excerpt;

/// First line of the file: the fields of a line, in order.
const HEADER: &str = "job,id";

/// The ids of the jobs of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobIds {
    ids: HashMap<i64, String>,
    /// Job numbers by id, in the order of the file.
    numbers: HashMap<String, Vec<i64>>,
}

/// Error: the file of job ids cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JobIdsError {
    /// The file cannot be read.
    #[error("{file}: cannot read: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// A line is not `job,id`.
    #[error(
        "{file}:{line}: {problem}: \"{}\"; write the line job,id and then one line for each job, such as 1,500333, or \
         move the file away", excerpt(.text)
    )]
    Line {
        /// The file.
        file: String,
        /// The line, 1-based.
        line: u64,
        /// Description of the problem.
        problem: &'static str,
        /// Contents of the line.
        text: String,
    },
    /// The file belongs to another trace.
    #[error(transparent)]
    OtherTrace(#[from] OtherTrace),
}

impl JobIds {
    /// Returns the path of the file of a trace.
    pub fn path(workload: &Workload) -> PathBuf {
        ids_path(&workload.source)
    }

    /// Reads the file beside a trace; `None` if the file does not exist. If the cleaning policy renumbered the jobs, the
    /// numbers of the file are those of other jobs, and the result is `None`.
    ///
    /// # Errors
    /// [`JobIdsError`] if the file is unreadable or malformed, or names another trace.
    pub fn beside(workload: &Workload) -> Result<Option<JobIds>, JobIdsError> {
        match workload.report.changes.contains_key(&Change::Renumbered) {
            true => Ok(None),
            false => Self::of_trace(&workload.source, &workload.digest),
        }
    }

    /// Reads the file beside the trace `source` with this digest (BLAKE3 of the uncompressed text, in hexadecimal);
    /// `None` if the file does not exist.
    ///
    /// # Errors
    /// [`JobIdsError`] if the file is unreadable or malformed, or names another trace.
    pub fn of_trace(source: &Path, digest: &str) -> Result<Option<JobIds>, JobIdsError> {
        let path = ids_path(source);
        if !fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let file = path.display().to_string();
        let input = File::open(&path);
        let input = input.map_err(|source| JobIdsError::Io { file: file.clone(), source })?;
        let (ids, traces) = Self::read(BufReader::new(input), &file)?;
        let trace = source.display().to_string();
        traces.iter().try_for_each(|line| line.check(&trace, digest))?;
        Ok(Some(ids))
    }

    /// Reads a file, and the lines that name its trace.
    fn read(input: impl BufRead, file: &str) -> Result<(JobIds, Vec<TraceLine>), JobIdsError> {
        let (mut ids, mut traces) = (JobIds::default(), Vec::new());
        let (mut lines, mut header) = (Lines::new(input), false);
        loop {
            let read = lines.next_text(|line, text| {
                let problem = |problem: &'static str| {
                    let (file, text) = (file.to_string(), text.to_string());
                    Err(JobIdsError::Line { file, line, problem, text })
                };
                if is_comment(text) {
                    traces.extend(TraceLine::parse(file, line, text));
                } else if !header {
                    header = text.split(',').map(str::trim).eq(HEADER.split(','));
                    if !header {
                        return problem("not the line job,id");
                    }
                } else {
                    let Some((number, id)) = row(text) else {
                        return problem("not a job and its id");
                    };
                    if ids.ids.insert(number, id.clone()).is_some() {
                        return problem("the job has an id in an earlier line");
                    }
                    ids.numbers.entry(id).or_default().push(number);
                }
                Ok(())
            });
            match read {
                Ok(Some(outcome)) => outcome?,
                Ok(None) => return Ok((ids, traces)),
                Err(error) => {
                    let (file, line) = (file.to_string(), lines.number());
                    return Err(match error {
                        LineError::Io(source) => JobIdsError::Io { file, source },
                        LineError::TooLong(_) => {
                            let text = String::new();
                            JobIdsError::Line { file, line, problem: "the line is too long", text }
                        }
                    });
                }
            }
        }
    }

    /// Returns the id of a job if the id differs from the job's number.
    pub fn id(&self, number: i64) -> Option<&str> {
        self.ids.get(&number).map(String::as_str)
    }

    /// Returns the numbers of the jobs with an id, in ascending order. Several jobs may have the same id, for example
    /// the runs of a job that was requeued. The list includes the id itself if it is a number that is not listed, even if
    /// the trace has no job of this number.
    pub fn numbers(&self, id: &str) -> Vec<i64> {
        let mut numbers = self.numbers.get(id).cloned().unwrap_or_default();
        // A job that is not listed has its number as its id.
        numbers.extend(id.parse().ok().filter(|number: &i64| !self.ids.contains_key(number)));
        numbers.sort_unstable();
        numbers
    }
}

/// Parses a line `job,id`; the id may be quoted.
fn row(text: &str) -> Option<(i64, String)> {
    let (number, id) = text.split_once(',')?;
    let (number, id) = (number.trim().parse().ok()?, id.trim());
    let id = match id.strip_prefix('"') {
        Some(quoted) => {
            let inner = quoted.strip_suffix('"')?;
            let id = inner.replace("\"\"", "\"");
            (id.matches('"').count() * 2 == inner.matches('"').count()).then_some(id)?
        }
        None if id.contains([',', '"']) => return None,
        None => id.to_string(),
    };
    (!id.is_empty()).then_some((number, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<JobIds, String> {
        JobIds::read(text.as_bytes(), "x.ids.csv").map(|read| read.0).map_err(|e| e.to_string())
    }

    #[test]
    fn jobs_have_ids_and_ids_have_jobs() {
        let ids =
            read("job,id\n1,500333\n2,500020_3\n4,\"a,\"\"b\"\n7,500333\n8,3\n# trace blake3:00\n")
                .expect("ids");
        assert_eq!((ids.id(1), ids.id(4), ids.id(3)), (Some("500333"), Some("a,\"b"), None));
        assert_eq!((ids.numbers("500333"), ids.numbers("a,\"b")), (vec![1, 7, 500_333], vec![4]));
        // Job 3 is not listed, so its id is 3, like that of job 8; the id of job 8 is not 8.
        assert_eq!((ids.numbers("3"), ids.numbers("8")), (vec![3, 8], vec![]));
    }

    #[test]
    fn names_file_and_line_of_problems() {
        for (text, problem) in [
            ("1,2\n", "x.ids.csv:1: not the line job,id: \"1,2\""),
            ("job,id\nx,2\n", "x.ids.csv:2: not a job and its id: \"x,2\""),
            ("job,id\n1,\n", "x.ids.csv:2: not a job and its id"),
            ("job,id\n1,a,b\n", "x.ids.csv:2: not a job and its id"),
            ("job,id\n1,\"a\"b\"\n", "x.ids.csv:2: not a job and its id"),
            ("job,id\n1,a\n1,b\n", "x.ids.csv:3: the job has an id in an earlier line"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
