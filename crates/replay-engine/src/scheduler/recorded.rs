//! The schedule recorded in the log.

use super::{Capabilities, QueuedJob, Rejection, Scheduler, SchedulerOptions, Selection, System};
use crate::naming::{Entry, Table, kind};
use crate::workload::JobId;

/// Treatment of jobs for which too few processors were free at the start time that the log records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WhenFull {
    /// The jobs run without processors.
    Virtual,
    /// A job for which too few processors were free is an error.
    Error,
}

/// Options of `recorded`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedOptions {
    /// Treatment of jobs for which too few processors were free.
    pub overfull: WhenFull,
}

impl SchedulerOptions for RecordedOptions {
    fn uses_estimates(&self) -> bool {
        false
    }

    fn recorded(&self) -> Option<WhenFull> {
        Some(self.overfull)
    }

    fn build(&self, _processors: u32) -> Box<dyn Scheduler> {
        Box::new(NoScheduler)
    }
}

/// A scheduler that never selects a job. The schedule under `recorded` is built from the log, see
/// [`Timeline::recorded`](crate::simulation::Timeline::recorded).
struct NoScheduler;

impl Scheduler for NoScheduler {
    fn arrive(&mut self, _job: QueuedJob, _now: i64) {}

    fn next_job(&mut self, _system: System<'_>) -> Option<Selection> {
        None
    }

    fn on_refused(&mut self, _job: JobId, _rejection: Rejection) {}

    fn capabilities(&self) -> Capabilities {
        Capabilities { takes_refusals: false, ..Capabilities::default() }
    }

    fn waiting(&self) -> usize {
        0
    }
}

/// The naming table of `recorded`.
pub fn table() -> Table<RecordedOptions> {
    let recorded = Entry::new("recorded", RecordedOptions { overfull: WhenFull::Virtual })
        .about(
            "Every job starts at its recorded time (SWF field 3), which includes the effects of the machine's \
             holds, priorities, reservations and outages. Jobs without a recorded wait are excluded from the metrics \
             of this scheduler. Other schedulers in the same grid run these jobs, but are compared with recorded over \
             the remaining jobs.",
        )
        .source("SWF 2.2, field 3")
        .param(
            "overfull",
            kind::one_of(&[("virtual", WhenFull::Virtual), ("error", WhenFull::Error)]),
            "treatment of jobs for which too few processors were free at the recorded start: run without processors \
                and without metrics, or fail",
            |options| &mut options.overfull,
        );
    Table::new("scheduler", [recorded])
}
