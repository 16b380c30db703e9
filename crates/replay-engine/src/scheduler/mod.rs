//! Scheduling disciplines. A scheduling discipline consists of a queue and a rule that selects the next job to start.
//! The rule does not depend on the positions of processors.
//!
//! The simulation notifies a [`Scheduler`] of arrivals and completions. The simulation then calls
//! [`next_job`](Scheduler::next_job) until this function returns no job; this series of calls is a *round*.
//! [`simulation`](crate::simulation) defines the order of events.
//!
//! An allocator may be unable to place the selected job although enough processors are free
//! ([`Scheduler::on_refused`]). The scheduler puts the job back at its position in the queue and does not select it
//! again before a job completes. If refusals of the allocator [do not
//! last](crate::allocator::Capabilities::refusals_last), the job may also be selected again after another job has
//! started.
//!
//! An allocator may also give a job more processors than requested. [`QueuedJob::takes`] is the maximum number of
//! processors that a waiting job can get, and [`Running::size`] is the number that a running job holds. A discipline
//! that reserves processors uses these numbers.
//!
//! # Allocators that fold jobs
//!
//! At the start of a job, the allocator decides whether the job is [folded](crate::allocator::Reduction) and by how much
//! its run time then increases. All disciplines that accept refusals support folded jobs with every speed-up.
//! `conservative` does not support folded jobs, because it reserves processors and time at the arrival of a job. On
//! hosts that jobs share, two kinds of disciplines are also unsupported: `easy`, and the queue orders that use
//! estimates. The reason is that, on shared hosts, the run time of a job is not known in advance.
//!
//! # Run to the end of the phase
//!
//! Turner 1995 mentions a rule by Setia et al. for shared hosts: a job continues to the end of a phase of computing and
//! communicating, then another job may run. `replay` does not implement the rule by Setia et al., because traces and
//! streams do not contain the ends of phases. The thesis describes the rule in a single sentence and does not define
//! which job runs next.
//!
//! [`registry`] maps names such as `easy` or `priority[order=largest]` to code.
//!
//! # How to add a discipline
//!
//! 1. Write a file with a type that implements [`Scheduler`], and tests.
//! 2. In the same file, add a struct with the options of the discipline, which implements [`SchedulerOptions`], and a
//!    function `table` with name, meaning, source and parameters (see [`crate::naming`]).
//! 3. Add the table to the list in [`registry`], or to the function `add_to` of a crate of strategies if only that crate
//!    uses the discipline.

mod conservative;
mod decorator;
mod easy;
mod order;
mod out_of_order;
mod partitioned;
mod profile;
mod queue;
mod recorded;
pub mod registry;
mod running;
mod strict;

pub use conservative::Conservative;
pub use decorator::Decorator;
pub use easy::{Easy, Guard};
pub use order::QueueOrder;
pub use out_of_order::OutOfOrder;
pub use recorded::WhenFull;
pub(crate) use recorded::table as recorded_table;
pub use running::{Running, RunningJobs};
pub use strict::Strict;

use crate::partitions::JobPartitions;
use crate::workload::JobId;

/// A waiting job, as passed to schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedJob {
    /// The job.
    pub id: JobId,
    /// Number of requested processors; if the allocator [folds](crate::allocator::Reduction) jobs, the minimum number on
    /// which the job can run.
    pub size: u32,
    /// Maximum number of processors that the allocator can give to the job. The maximum exceeds `size` if the allocator
    /// rounds up.
    pub takes: u32,
    /// Estimated run time in seconds.
    pub estimate: i64,
    /// The position in the order of arrival, which the job keeps when it returns after an interruption by an outage.
    pub turn: u64,
}

/// An interval during which a number of processors are out of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The first second of the outage.
    pub from: i64,
    /// The end; [`FOREVER`] if the outage has no end.
    pub until: i64,
    /// The number of processors.
    pub processors: u32,
}

/// A time that is later than any time in a trace. Durations can be added to this time without overflow.
pub const FOREVER: i64 = i64::MAX / 4;

/// The state of the system when the scheduler is called.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The current time, in trace seconds.
    pub now: i64,
    /// Free processors.
    pub free: u32,
    /// The number of the round. Within a round, the state changes only when jobs start.
    pub round: u64,
    /// The running jobs.
    pub running: &'a RunningJobs,
}

/// Statistics of the start times that a scheduler guarantees to heads of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Promises {
    /// Number of jobs that had to wait at the head of the queue and got a guaranteed start. Only the first guaranteed
    /// start of a job is counted.
    pub given: u64,
    /// Number of jobs that started later than guaranteed.
    pub broken: u64,
    /// The largest delay of a job beyond its guaranteed start, in seconds.
    pub worst: i64,
}

/// A scheduling discipline with its queue.
///
/// To change the behaviour of another scheduler, implement [`Decorator`] instead.
pub trait Scheduler: Send {
    /// Adds a job to the queue. Jobs with equal arrival times arrive in file order; a job that was interrupted arrives
    /// again.
    fn arrive(&mut self, job: QueuedJob, now: i64);

    /// Handles an event of a running job or of the machine.
    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        let _ = event;
    }

    /// Selects the job to start now and removes it from the queue; `None` ends the round. The size of the job must not
    /// exceed `system.free`.
    fn next_job(&mut self, system: System<'_>) -> Option<Selection>;

    /// Puts the job selected by the last call of [`next_job`](Self::next_job) back at its position in the queue. This
    /// function is called only if the scheduler [takes refusals](Capabilities::takes_refusals).
    fn on_refused(&mut self, job: JobId, rejection: Rejection);

    /// Returns the number of waiting jobs.
    fn waiting(&self) -> usize;

    /// Returns the next time after `after` at which the scheduler must be called even if no job arrives or completes.
    fn next_wakeup(&self, after: i64) -> Option<i64> {
        let _ = after;
        None
    }

    /// Returns the properties of the discipline, which do not change.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns the scheduler as a [`Reservation`] if it guarantees a start time to the head of the queue; otherwise
    /// `None`.
    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        None
    }
}

/// Options of a discipline, from which a scheduler is built.
pub trait SchedulerOptions: Send + Sync {
    /// Returns whether the discipline uses estimates of jobs, for backfilling or for the order of the queue.
    fn uses_estimates(&self) -> bool;

    /// Returns the treatment of jobs for which too few processors were free, if the discipline
    /// replays recorded starts; otherwise `None`.
    fn recorded(&self) -> Option<WhenFull> {
        None
    }

    /// Builds the scheduler with an empty queue, for a machine with `processors` processors.
    fn build(&self, processors: u32) -> Box<dyn Scheduler>;

    /// Builds the scheduler with an empty queue, for a machine with partitions; `None` if the discipline does not
    /// support partitions with these options.
    fn build_partitioned(&self, partitions: &JobPartitions) -> Option<Box<dyn Scheduler>> {
        let _ = partitions;
        None
    }
}

/// A scheduler that guarantees a start time to the head of the queue.
pub trait Reservation {
    /// Returns the job that needs a reservation before [`next_job`](Scheduler::next_job) is called; `None` if no job
    /// needs a reservation. The simulation then calls [`set_reservation`](Self::set_reservation) with the earliest time
    /// at which the allocator finds a place on a copy of the machine. On the copy, running jobs end at their estimated
    /// ends. The simulation calls this function only if the scheduler [reserves
    /// places](Capabilities::reserves_places_for) for this allocator.
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId>;

    /// Reserves a place from time `at` for the job that [`reservation_request`](Self::reservation_request) returned.
    fn set_reservation(&mut self, job: JobId, at: i64);

    /// Returns statistics of the guaranteed start times.
    fn promises(&self) -> Promises;
}

/// Properties of a scheduler that the simulation checks before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Whether the discipline supports allocators that do not [keep the
    /// schedule](crate::allocator::Capabilities::keeps_schedule). An allocator that does not keep the schedule can
    /// refuse jobs or give more processors than requested.
    pub takes_refusals: bool,
    /// What the discipline reserves for the head of the queue. If the discipline may reserve a place,
    /// [`Scheduler::reservation`] returns `Some`.
    pub guard: Guard,
}

impl Capabilities {
    /// Returns whether the discipline reserves places when it runs with an allocator of the given capabilities.
    pub fn reserves_places_for(&self, allocator: &crate::allocator::Capabilities) -> bool {
        let reserves_places = match self.guard {
            Guard::Count => false,
            Guard::Place => true,
            Guard::Auto => allocator.reserves_places,
        };
        reserves_places && !allocator.keeps_schedule
    }
}

/// By default, a discipline takes refusals and reserves no places.
impl Default for Capabilities {
    fn default() -> Self {
        Self { takes_refusals: true, guard: Guard::Count }
    }
}

/// An event of a running job or of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerEvent<'a> {
    /// A running job has completed.
    Completed {
        /// The job.
        job: JobId,
        /// The time.
        now: i64,
    },
    /// A job has started on a machine with [partitions](crate::partitions).
    Held {
        /// The job.
        job: JobId,
        /// The time.
        now: i64,
        /// Number of processors of each partition that the job holds.
        counts: &'a [u32],
    },
    /// Processors have gone out of service or returned: a refused job may be selected again.
    MachineChanged,
    /// All outages of the run. The simulation sends this event before the first arrival.
    OutagesKnown {
        /// The outages in order of time, without overlap.
        outages: &'a [Outage],
        /// Number of processors of the machine.
        processors: u32,
    },
    /// The job that has just started holds processors that will be out of service. The scheduler must not count these
    /// processors twice.
    OutagesOverlap {
        /// The job.
        job: JobId,
        /// The outages in order of time, without overlap.
        outages: Vec<Outage>,
    },
}

/// Reason for which a job was [selected](Selection).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The job is the head of the queue and fits.
    First {
        /// The guaranteed start; `None` if the job did not have to wait as the head of the queue.
        promised: Option<i64>,
    },
    /// The job overtakes the head of the queue, which does not fit now.
    Backfilled {
        /// The head of the queue.
        head: JobId,
        /// The time at which the head fits, assuming that running jobs end at their estimated ends.
        shadow: i64,
        /// Number of processors that remain free at the shadow time after the start of the head if this job does not
        /// run. The value is `None` if a place is reserved or processors go out of service, because processors are then
        /// not counted.
        extra: Option<u32>,
    },
    /// The job's reservation is due.
    Reserved {
        /// The reserved start.
        at: i64,
    },
    /// The job is the first job in queue order that fits.
    FirstThatFits,
}

/// A job that a scheduler starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Selection {
    /// The job.
    pub job: JobId,
    /// The reason for selecting the job; `None` if the discipline has a single reason.
    pub reason: Option<Reason>,
    /// Whether the job must leave the [reserved](Reservation) place free. If the job would take processors of the
    /// place, it is [rejected](Rejection::TakesReserved).
    pub respects_reservation: bool,
}

impl Selection {
    /// Creates a selection of a job that may start on any processors.
    pub fn new(job: JobId, reason: Option<Reason>) -> Self {
        Self { job, reason, respects_reservation: false }
    }
}

/// The reason why a selected job does not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The allocator has refused the job.
    Refused {
        /// Whether the refusal lasts until processors become free; otherwise the allocator may find a place as soon as
        /// another job has started.
        lasts: bool,
    },
    /// The allocator waits for a better place for the job. The simulation sends
    /// [`MachineChanged`](SchedulerEvent::MachineChanged) at the end of the postponement. The allocator may place the
    /// job earlier, as soon as another job has started.
    Postponed {
        /// The end of the postponement, in seconds of the trace.
        until: i64,
    },
    /// The job would have taken processors of the reserved place. Once other processors become free, the allocator may
    /// choose those for the job.
    TakesReserved {
        /// Whether the allocator's choice depends only on the free processors. If the choice depends on more than the
        /// free processors, the allocator may choose other processors as soon as time passes.
        lasts: bool,
    },
}

impl Rejection {
    /// Returns the `lasts` flag of the variant; `false` for a postponement.
    pub fn lasts(self) -> bool {
        match self {
            Rejection::Refused { lasts } | Rejection::TakesReserved { lasts } => lasts,
            Rejection::Postponed { .. } => false,
        }
    }
}
