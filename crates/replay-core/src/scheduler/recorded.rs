//! The schedule that the log itself tells.

use super::{Capabilities, QueuedJob, Rejection, Scheduler, SchedulerOptions, Selection, System};
use crate::naming::{Entry, Table, kind};
use crate::workload::JobId;

/// What to do with jobs that started when the machine was full, as logs have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WhenFull {
    /// They run, but hold no processors.
    Virtual,
    /// They are an error.
    Error,
}

/// What `recorded` can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedOptions {
    /// Jobs for which there was no place.
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
        Box::new(Nobody)
    }
}

/// Decides nothing, since all is decided: its schedule is made from the log, see
/// [`Timeline::recorded`](crate::simulation::Timeline::recorded).
struct Nobody;

impl Scheduler for Nobody {
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

/// `recorded`.
pub(super) fn table() -> Table<RecordedOptions> {
    let recorded = Entry::new("recorded", RecordedOptions { overfull: WhenFull::Virtual })
        .about(
            "Every job starts when the log says that it did (SWF field 3): what the machine did, with its \
             holds, priorities, reservations and outages. Jobs whose wait is not known are in no measure of \
             it; schedulers beside it run them, and are compared with it over the others.",
        )
        .source("SWF 2.2, field 3")
        .param(
            "overfull",
            kind::one_of(&[("virtual", WhenFull::Virtual), ("error", WhenFull::Error)]),
            "jobs that started when too few processors were free: they run without any and are in no \
             measure, or are an error",
            |options| &mut options.overfull,
        );
    Table::new("scheduler", [recorded])
}
