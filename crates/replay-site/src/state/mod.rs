//! The present state of a site: running and waiting jobs as the controller prints them.
//!
//! | module | contents |
//! |---|---|
//! | `lines` | records `key=value` of `scontrol -o` |
//! | `clock` | instants of the dumps |
//! | `dependency` | dependencies between jobs |
//! | `read` | reader of a folder |
//! | [`history`] | run times of ended jobs relative to their time limits |
//! | [`asked`] | a job that is not submitted yet |
//! | [`when`] | planned and expected starts |
//! | [`check`] | comparison with `squeue --start` |

pub mod asked;
pub mod check;
pub mod clock;
mod dependency;
pub mod history;
mod lines;
mod read;
pub mod when;

pub use dependency::Dependency;
pub use read::{StateOptions, read};

use crate::job::SiteJob;
use crate::node_set::NodeSet;
use crate::reason::Reason;
use clock::Clock;
use history::History;

/// A job that runs at the present instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Running {
    /// Index of the job.
    pub job: usize,
    /// Start, in seconds.
    pub start: i64,
    /// Index of the partition.
    pub partition: usize,
    /// Nodes.
    pub nodes: NodeSet,
}

/// A job that waits at the present instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Index of the job.
    pub job: usize,
    /// Priority until the next calculation; `None` for the calculated priority.
    pub priority: Option<u32>,
    /// Reason until a test writes another.
    pub reason: Reason,
    /// What the job waits for before it is eligible.
    pub dependency: Option<Dependency>,
    /// Whether the job is submitted at the present instant, so that the limits of submissions apply.
    pub is_new: bool,
}

/// The names of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobNames {
    /// Job number, or `ARRAY_TASK` for a task of an array.
    pub id: String,
    /// User.
    pub user: String,
    /// Account.
    pub account: String,
}

/// The present state of a site.
#[derive(Clone, Debug)]
pub struct PresentState {
    /// The present instant, in seconds.
    pub now: i64,
    /// How instants are written.
    pub clock: Clock,
    /// All jobs.
    pub jobs: Vec<SiteJob>,
    /// Names of each job.
    pub names: Vec<JobNames>,
    /// Running jobs.
    pub running: Vec<Running>,
    /// Waiting jobs, in the order of the file.
    pub waiting: Vec<Waiting>,
    /// Whether priorities of waiting jobs are calculated at the present instant.
    pub calculates: bool,
    /// Usage of each association; `None` for none.
    pub usage: Option<Vec<f64>>,
    /// Nodes out of service. Nodes of a running job leave service when the job ends.
    pub out_of_service: NodeSet,
    /// Ended jobs.
    pub history: History,
    /// What was changed or left out, for people.
    pub notes: Vec<String>,
}

impl PresentState {
    /// Adds a job that is submitted at the present instant after all others.
    pub fn submit(&mut self, job: SiteJob, names: JobNames) {
        let at = self.jobs.len();
        self.jobs.push(job);
        self.names.push(names);
        self.waiting.push(Waiting {
            job: at,
            priority: None,
            reason: Reason::None,
            dependency: None,
            is_new: true,
        });
    }
}
