//! When jobs start: a queue and a rule. Positions of processors play no part.
//!
//! The simulation tells a [`Scheduler`] of arrivals and completions and then asks it
//! again and again which job to start, until it starts nothing more; one such series of
//! questions is a *round*. The event order is defined in
//! [`simulation`](crate::simulation).
//!
//! An allocator may be unable to place the job that was named although enough processors
//! are free ([`Scheduler::on_refused`]). The scheduler keeps the job at its place and does not
//! name it again before some job completes; with an allocator whose refusals
//! [do not last](crate::allocator::Capabilities::refusals_last), before some job starts or completes.
//!
//! An allocator may also give a job more processors than it asked for. A waiting job says
//! how many that can be ([`QueuedJob::takes`]), a running job how many it holds
//! ([`Running::size`]): a discipline that promises processors counts these.
//!
//! # Allocators that fold jobs
//!
//! Whether a job is [folded](crate::allocator::reduced), and how much longer it then takes, is decided
//! when it starts. All disciplines that take refusals work with that, under every speed-up: all but
//! `conservative`, which reserves processors and time at arrival. On hosts that jobs share `easy` and
//! the orders by estimate do not work either: how long a job takes is not known beforehand there.
//!
//! # Run to the end of the phase
//!
//! Turner 1995 mentions a rule by Setia et al. for hosts that jobs share: a job goes on to the end of a
//! phase of computing and communicating, then another may. It is no discipline here. A phase is a
//! property of a program, and neither traces nor streams say where phases end; and which job goes on
//! then, the one sentence of the thesis leaves open.
//!
//! [`registry`] maps names such as `easy` or `priority[order=largest]` to code.
//!
//! # How to add one
//!
//! 1. Write its file: a type with [`Scheduler`], and tests.
//! 2. Beside it, a struct of its options with [`SchedulerOptions`].
//! 3. And a function `table`: name, meaning, source, parameters (see [`crate::naming`]).
//! 4. Add its `mod` line here and one line to the registry.
//! 5. `replay list schedulers` shows it; the tests of [`simulation`](crate::simulation) hold it.

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

/// What a scheduler knows of a waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedJob {
    /// The job.
    pub id: JobId,
    /// Processors it asks for; the fewest on which it may run where the allocator
    /// [folds](crate::allocator::reduced) jobs.
    pub size: u32,
    /// Processors it can be given at most: more than `size` where the allocator rounds up.
    pub takes: u32,
    /// Estimated run time in seconds.
    pub estimate: i64,
    /// Its place in the order of arrival, which it keeps if it comes back after it was cut off.
    pub turn: u64,
}

/// Processors out of service for a time, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// First second.
    pub from: i64,
    /// End; [`FOREVER`] if there is none.
    pub until: i64,
    /// Processors.
    pub processors: u32,
}

/// An instant that no trace comes to, with room for sums beyond it.
pub const FOREVER: i64 = i64::MAX / 4;

/// What a scheduler sees of the system when it is asked.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The instant, in trace seconds.
    pub now: i64,
    /// Free processors.
    pub free: u32,
    /// Number of the round: questions of one round differ only by the jobs started.
    pub round: u64,
    /// The running jobs.
    pub running: &'a RunningJobs,
}

/// What became of the instants at which heads of the queue were to start at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Promises {
    /// Jobs that had to wait at the head of the queue and were told an instant; the first one counts.
    pub given: u64,
    /// Those of them that started later.
    pub broken: u64,
    /// The most by which one did, in seconds.
    pub worst: i64,
}

/// A scheduling discipline with its queue.
///
/// A type that changes what another scheduler does implements [`Decorator`] instead.
pub trait Scheduler: Send {
    /// Adds a job to the queue. Jobs with equal arrival times come in file order; a job that was cut off
    /// comes again.
    fn arrive(&mut self, job: QueuedJob, now: i64);

    /// Follows what happens to running jobs and to the machine.
    fn on_event(&mut self, event: SchedulerEvent<'_>) {
        let _ = event;
    }

    /// Selects the job to start now and removes it from the queue; `None` ends the round. Its size must
    /// not exceed `system.free`.
    fn next_job(&mut self, system: System<'_>) -> Option<Selection>;

    /// Puts the job that [`next_job`](Self::next_job) has just selected back to its place in the queue. Not
    /// called unless the scheduler [takes refusals](Capabilities::takes_refusals).
    fn on_refused(&mut self, job: JobId, rejection: Rejection);

    /// Returns the number of waiting jobs.
    fn waiting(&self) -> usize;

    /// Returns the next instant after `after` at which the scheduler is to be asked even if no job arrives
    /// or completes.
    fn next_wakeup(&self, after: i64) -> Option<i64> {
        let _ = after;
        None
    }

    /// Returns what the simulation must know of the discipline. It does not change.
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
    /// Returns the job that needs a place before [`next_job`](Scheduler::next_job) is called. The
    /// simulation answers with [`set_reservation`](Self::set_reservation): the earliest instant at which,
    /// running jobs ending at their estimates, the allocator finds a place on a copy of the machine. Only
    /// called if the scheduler [reserves places](Capabilities::reserves_places) and the allocator may refuse.
    fn reservation_request(&mut self, system: System<'_>) -> Option<JobId>;

    /// The job that [`reservation_request`](Self::reservation_request) returned has a place at this instant.
    fn set_reservation(&mut self, job: JobId, at: i64);

    /// Returns how the guarantees were kept.
    fn promises(&self) -> Promises;
}

/// What the simulation must know of a scheduler before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Whether the discipline is defined for allocators that can refuse or give more than was
    /// asked for, those that do not [keep the schedule](crate::allocator::Capabilities::keeps_schedule).
    pub takes_refusals: bool,
    /// Whether it asks for places of its own accord: it then has a [`Reservation`].
    pub reserves_places: bool,
}

/// Takes refusals and reserves no places.
impl Default for Capabilities {
    fn default() -> Self {
        Self { takes_refusals: true, reserves_places: false }
    }
}

/// What happens to running jobs and to the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerEvent<'a> {
    /// A running job has completed.
    Completed {
        /// The job.
        job: JobId,
        /// The instant.
        now: i64,
    },
    /// Processors have left the machine or come back: a refused job may be selected again.
    MachineChanged,
    /// Before the first arrival: the processors that will be out of service.
    OutagesKnown {
        /// In order of time and without overlap.
        outages: &'a [Outage],
        /// Processors of the machine.
        processors: u32,
    },
    /// The job that has just started holds processors that will be out of service; they count once.
    OutagesOverlap {
        /// The job.
        job: JobId,
        /// In order of time and without overlap.
        outages: Vec<Outage>,
    },
}

/// A job that a scheduler starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Selection {
    /// The job.
    pub job: JobId,
    /// Why it was selected; `None` if the definition of the discipline says it all.
    pub reason: Option<Reason>,
    /// Whether the job must leave the [reserved](Reservation) place free; otherwise it is
    /// [rejected](Rejection::TakesReserved).
    pub respects_reservation: bool,
}

impl Selection {
    /// A job that may start anywhere.
    pub fn new(job: JobId, reason: Option<Reason>) -> Self {
        Self { job, reason, respects_reservation: false }
    }
}

/// Why a selected job does not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The allocator has refused it.
    Refused {
        /// Whether the refusal stands until processors come free; otherwise the allocator may find a
        /// place as soon as another job has started.
        lasts: bool,
    },
    /// It would have taken processors of the reserved place. As soon as other processors are free the
    /// allocator may choose others for it.
    TakesReserved {
        /// Whether the allocator chooses by the free processors alone; otherwise it may choose others
        /// as soon as time passes.
        lasts: bool,
    },
}

impl Rejection {
    /// Whether the rejection stands for longer, as the variants say.
    pub fn lasts(self) -> bool {
        match self {
            Rejection::Refused { lasts } | Rejection::TakesReserved { lasts } => lasts,
        }
    }
}
