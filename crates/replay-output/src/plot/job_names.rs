//! Names of jobs in figures.

use std::borrow::Cow;
use std::collections::HashMap;

/// Names of jobs by job number. A job without a name is drawn with its number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobNames(pub HashMap<i64, String>);

impl JobNames {
    /// Returns the text that a figure shows for a job.
    pub fn of(&self, job: i64) -> Cow<'_, str> {
        self.0.get(&job).map_or_else(|| job.to_string().into(), |name| name.as_str().into())
    }
}
