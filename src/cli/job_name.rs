//! Jobs that options name: by the number in the trace, or by the id in the log.

use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;

use super::exit::{Failure, eprint_line};
use replay_engine::sanitize::excerpt;
use replay_engine::workload::{JobIds, JobIdsError, Notation, Workload};

/// Prefix of a name that is an id of the log.
const ID: &str = "id:";

/// A job as typed: a number of the trace or an id of the log (`335`, `500020_3`), or only an id (`id:335`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobName(String);

impl FromStr for JobName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.trim().to_string()))
    }
}

impl JobName {
    /// Returns the number of the job in the trace. A number of the trace takes precedence over an equal id of another
    /// job.
    ///
    /// # Errors
    /// A usage error if no job or several jobs have this name.
    pub fn number(&self, workload: &Workload, notation: &Notation) -> Result<i64, Failure> {
        let shown = excerpt(&self.0);
        let (id, number) = match self.0.strip_prefix(ID) {
            Some(id) => (id, None),
            None => (&*self.0, self.0.parse::<i64>().ok()),
        };
        let exists = |number: &i64| workload.jobs.iter().any(|job| job.number == *number);
        let ids = notation.ids.as_ref();
        let mut found = ids.map_or_else(Vec::new, |ids| ids.numbers(id));
        found.retain(exists);
        let file = JobIds::path(workload);
        let file = file.display();
        if let Some(number) = number.filter(exists) {
            found.retain(|other| *other != number);
            if let [other, ..] = found[..] {
                let other = notation.job(other);
                eprint_line(format_args!(
                    "--job {shown} is the number of a job in the trace; {ID}{shown} is job {other} of {file}"
                ));
            }
            return Ok(number);
        }
        let name = &workload.name;
        Err(Failure::usage_message(match &found[..] {
            [number] => return Ok(*number),
            [] if ids.is_some() => format!(
                "--job {shown}: in {name}, no job has this number, or the job received no processors; {file} has no such \
                 id of a job"
            ),
            [] => format!(
                "--job {shown}: in {name}, no job has this number, or the job received no processors; ids of the log \
                 need the file {file}, which import writes"
            ),
            several => {
                let several: Vec<String> = several.iter().map(i64::to_string).collect();
                format!(
                    "--job {shown}: in {file}, several jobs have this id: give one of the numbers {}",
                    several.join(", ")
                )
            }
        }))
    }
}

/// Returns the notation of the jobs and instants of a trace.
///
/// # Errors
/// A usage error if the file with the ids of the log cannot be read; a data error if it is malformed or belongs to
/// another trace.
pub fn notation(workload: &Workload) -> Result<Notation, Failure> {
    Notation::of(workload).map_err(failure)
}

/// Returns the ids of the jobs of a trace, given by its path and digest; `None` if there is no file with ids beside it.
///
/// # Errors
/// As for [`notation`].
pub fn ids(source: &Path, digest: &str) -> Result<Option<JobIds>, Failure> {
    JobIds::of_trace(source, digest).map_err(failure)
}

fn failure(error: JobIdsError) -> Failure {
    match error {
        error @ JobIdsError::Io { .. } => Failure::usage(error),
        error => Failure::data(error),
    }
}
