//! Scheduling disciplines: a queue and a rule that selects the next job to start, independent of processor positions.
//!
//! The simulation notifies a [`Scheduler`] of arrivals and completions and then calls [`next_job`](Scheduler::next_job)
//! until it returns no job; this series of calls is a *round*. [`simulation`](crate::simulation) defines the order of
//! events.
//!
//! An allocator may be unable to place the selected job although enough processors are free
//! ([`Scheduler::on_refused`]). The scheduler puts the job back at its position in the queue and does not select it again
//! before a job completes or, with an allocator whose refusals [do not
//! last](crate::allocator::Capabilities::refusals_last), before a job starts or completes.
//!
//! An allocator may also give a job more processors than requested. [`QueuedJob::takes`] is the maximum for a waiting
//! job, and [`Running::size`] the number that a running job holds; a discipline that reserves processors counts these.
//!
//! # Allocators that fold jobs
//!
//! Whether a job is [folded](crate::allocator::reduced), and how much its run time then increases, is decided when it
//! starts. All disciplines that accept refusals support this with every speed-up, that is, all except `conservative`,
//! which reserves processors and time at arrival. On hosts that jobs share, `easy` and the orders by estimate are
//! unsupported, too, because the run time of a job is not known in advance.
//!
//! # Run to the end of the phase
//!
//! Turner 1995 mentions a rule by Setia et al. for shared hosts: a job continues to the end of a phase of computing and
//! communicating, then another job may run. It is not implemented: traces and streams do not contain the ends of
//! phases, and the one sentence in the thesis does not define which job runs next.
//!
//! [`registry`] maps names such as `easy` or `priority[order=largest]` to code.
//!
//! # How to add one
//!
//! 1. Write its file: a type that implements [`Scheduler`], and tests.
//! 2. Add a struct of its options that implements [`SchedulerOptions`].
//! 3. Add a function `table` with name, meaning, source and parameters (see [`crate::naming`]).
//! 4. Add its `mod` line here and one line to the registry.
//! 5. `replay list schedulers` then lists it, and the tests of [`simulation`](crate::simulation) cover it.

mod by_dimension;
mod conservative;
mod decorator;
mod easy;
mod fchp;
mod lazy;
mod options;
mod order;
mod out_of_order;
mod profile;
mod queue;
mod reason;
mod recorded;
pub mod registry;
mod running;
mod scan;
mod strict;

pub use conservative::Conservative;
pub use decorator::Decorator;
pub use easy::{Easy, Guard};
pub use fchp::Fchp;
pub use lazy::Lazy;
pub use options::SchedulerOptions;
pub use order::QueueOrder;
pub use out_of_order::OutOfOrder;
pub use reason::Reason;
pub use recorded::WhenFull;
pub use running::{Running, RunningJobs};
pub use scan::Scan;
pub use strict::Strict;

use crate::workload::JobId;

/// A waiting job as schedulers see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedJob {
    /// The job.
    pub id: JobId,
    /// Number of requested processors; if the allocator [folds](crate::allocator::reduced) jobs, the minimum on which
    /// the job can run.
    pub size: u32,
    /// Maximum number of processors that it can be given: more than `size` if the allocator rounds up.
    pub takes: u32,
    /// Estimated run time in seconds.
    pub estimate: i64,
    /// The position in the order of arrival, which the job keeps when it returns after an interruption by an outage.
    pub turn: u64,
}

/// A number of processors that are out of service for an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The first second.
    pub from: i64,
    /// The end; [`FOREVER`] if the outage has no end.
    pub until: i64,
    /// The number of processors.
    pub processors: u32,
}

/// A time later than any in a trace, to which durations can be added without overflow.
pub const FOREVER: i64 = i64::MAX / 4;

/// The state of the system when the scheduler is called.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The current time, in trace seconds.
    pub now: i64,
    /// Free processors.
    pub free: u32,
    /// The number of the round. Calls within a round differ only by the jobs started.
    pub round: u64,
    /// The running jobs.
    pub running: &'a RunningJobs,
}

/// Statistics of the guaranteed start times of heads of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Promises {
    /// Number of jobs that had to wait at the head of the queue and got a guaranteed start; the first guarantee of a
    /// job counts.
    pub given: u64,
    /// Number of these jobs that started later than guaranteed.
    pub broken: u64,
    /// The largest delay beyond a guarantee, in seconds.
    pub worst: i64,
}

/// A scheduling discipline with its queue.
///
/// A type that changes what another scheduler does implements [`Decorator`] instead.
pub trait Scheduler: Send {
    /// Adds a job to the queue. Jobs with equal arrival times arrive in file order; a job that was interrupted arrives
    /// again.
    fn arrive(&mut self, job: QueuedJob, now: i64);

    /// Handles an event of a running job or of the machine.
    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        let _ = event;
    }

    /// Selects the job to start now and removes it from the queue; `None` ends the round. Its size must
    /// not exceed `system.free`.
    fn next_job(&mut self, system: System<'_>) -> Option<Selection>;

    /// Puts the job that [`next_job`](Self::next_job) has just selected back at its position in the queue. Only called
    /// if the scheduler [takes refusals](Capabilities::takes_refusals).
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

    /// Returns the scheduler if it guarantees the head of the queue a start.
    fn reservation(&mut self) -> Option<&mut dyn Reservation> {
        None
    }
}

/// A scheduler that guarantees the head of the queue a start.
pub trait Reservation {
    /// Returns the job that needs a reservation before [`next_job`](Scheduler::next_job) is called. The simulation
    /// answers with [`set_reservation`](Self::set_reservation): the earliest time at which, with running jobs ending at
    /// their estimates, the allocator finds a place on a copy of the machine. Only called if the scheduler [reserves
    /// places](Capabilities::reserves_places) and the allocator may refuse.
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId>;

    /// Reserves a place from time `at` for the job that [`reservation_request`](Self::reservation_request) returned.
    fn set_reservation(&mut self, job: JobId, at: i64);

    /// Returns statistics of the guarantees.
    fn promises(&self) -> Promises;
}

/// Properties of a scheduler that the simulation checks before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Whether the discipline supports allocators that can refuse or give more processors than requested, that is, that
    /// do not [keep the schedule](crate::allocator::Capabilities::keeps_schedule).
    pub takes_refusals: bool,
    /// Whether it requests places; it then has a [`Reservation`].
    pub reserves_places: bool,
}

/// Takes refusals and reserves no places.
impl Default for Capabilities {
    fn default() -> Self {
        Self { takes_refusals: true, reserves_places: false }
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
    /// Processors have gone out of service or returned: a refused job may be selected again.
    MachineChanged,
    /// The processors that will be out of service; sent before the first arrival.
    OutagesKnown {
        /// The outages in order of time, without overlap.
        outages: &'a [Outage],
        /// Number of processors of the machine.
        processors: u32,
    },
    /// The job that has just started holds processors that will be out of service; these must not be counted twice.
    OutagesOverlap {
        /// The job.
        job: JobId,
        /// The outages in order of time, without overlap.
        outages: Vec<Outage>,
    },
}

/// A job that a scheduler starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Selection {
    /// The job.
    pub job: JobId,
    /// Why it was selected; `None` if the definition of the discipline determines it.
    pub reason: Option<Reason>,
    /// Whether the job must leave the [reserved](Reservation) place free; otherwise it is
    /// [rejected](Rejection::TakesReserved).
    pub respects_reservation: bool,
}

impl Selection {
    /// Selects a job that may start on any processors.
    pub fn new(job: JobId, reason: Option<Reason>) -> Self {
        Self { job, reason, respects_reservation: false }
    }
}

/// Why a selected job does not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The allocator has refused it.
    Refused {
        /// Whether the refusal lasts until processors become free; otherwise the allocator may find a place as soon as
        /// another job has started.
        lasts: bool,
    },
    /// The job would have taken processors of the reserved place. When other processors become free, the allocator may
    /// choose those.
    TakesReserved {
        /// Whether the allocator's choice depends only on the free processors; otherwise it may choose others as soon
        /// as time passes.
        lasts: bool,
    },
}

impl Rejection {
    /// Returns the `lasts` flag of the variant.
    pub fn lasts(self) -> bool {
        match self {
            Rejection::Refused { lasts } | Rejection::TakesReserved { lasts } => lasts,
        }
    }
}
