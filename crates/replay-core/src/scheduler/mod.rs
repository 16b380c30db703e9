//! When jobs start: a queue and a rule. Positions of processors play no part.
//!
//! The simulation tells a [`Scheduler`] of arrivals and completions and then asks it
//! again and again which job to start, until it starts nothing more; one such series of
//! questions is a *round*. The event order is defined in
//! [`simulation`](crate::simulation).
//!
//! An allocator may be unable to place the job that was named although enough processors
//! are free ([`Scheduler::refused`]). The scheduler keeps the job at its place and does not
//! name it again before some job completes; with an allocator whose refusals
//! [do not last](crate::allocator::Allocator::refusals_last), before some job starts or completes.
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
//! the orders by estimate do not work either: nobody can tell how long a job takes there.
//!
//! # Run to the end of the phase
//!
//! Turner 1995 mentions a rule by Setia et al. for hosts that jobs share: a job goes on to the end of a
//! phase of computing and communicating, then another may. It is no discipline here. A phase is a
//! property of a program, and neither traces nor streams say where phases end; and which job goes on
//! then, the one sentence of the thesis leaves open. What a job of phases loses and gains beside another
//! is in [`cluster::pair`](crate::cluster::pair).
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
mod easy;
mod fchp;
mod lazy;
mod options;
mod order;
mod out_of_order;
#[cfg(test)]
pub(crate) mod plain;
mod profile;
mod queue;
mod reason;
mod recorded;
pub mod registry;
mod running;
mod scan;
mod strict;

pub use conservative::Conservative;
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
pub trait Scheduler: Send {
    /// A job joins the queue. Equal arrival times come in file order; one that was cut off comes again.
    fn arrive(&mut self, job: QueuedJob, now: i64);

    /// Before the first arrival: when how many of all `processors` will be out of service, in order of
    /// time and without overlap.
    fn expect(&mut self, outages: &[Outage], processors: u32) {
        let _ = (outages, processors);
    }

    /// The job that has just started holds processors that will be out of service: when how many, in order
    /// of time and without overlap. Who holds them is counted once.
    fn holds_of(&mut self, job: JobId, outages: Vec<Outage>) {
        let _ = (job, outages);
    }

    /// Processors have left the machine or come back: who was refused may be asked for again.
    fn changed(&mut self, now: i64) {
        let _ = now;
    }

    /// A running job has completed.
    fn complete(&mut self, job: JobId, now: i64) {
        let _ = (job, now);
    }

    /// The job to start now, removed from the queue; `None` ends the round. Its size must
    /// not exceed `system.free`.
    fn next(&mut self, system: System<'_>) -> Option<JobId>;

    /// The allocator could not place the job that [`next`](Scheduler::next) has just
    /// named: it goes back to its place in the queue. If the refusal `lasts`, it stands until
    /// processors come free; otherwise the allocator may find a place as soon as another job has
    /// started. Never called on a scheduler that does not [take refusals](Scheduler::takes_refusals).
    fn refused(&mut self, job: JobId, lasts: bool);

    /// Whether the discipline is defined for allocators that can refuse or give more than was
    /// asked for, those that do not [keep the schedule](crate::allocator::Allocator::keeps_schedule).
    fn takes_refusals(&self) -> bool {
        true
    }

    /// The job for which a place must be known before [`next`](Scheduler::next) is asked: the earliest
    /// instant at which, running jobs ending at their estimates, the allocator finds one on a copy of
    /// the machine. [`place_found`](Scheduler::place_found) follows, unless the allocator never refuses.
    fn wants_place(&mut self, system: System<'_>) -> Option<JobId> {
        let _ = system;
        None
    }

    /// The job that [`wants_place`](Scheduler::wants_place) has named will have a place at this instant.
    fn place_found(&mut self, job: JobId, at: i64) {
        let _ = (job, at);
    }

    /// Whether the job that [`next`](Scheduler::next) has just named must leave that place free; if the
    /// processors that it would be given are of it, [`would_take_place`](Scheduler::would_take_place) follows.
    fn spares_place(&self) -> bool {
        false
    }

    /// The job that [`next`](Scheduler::next) has just named would have taken of that place, and goes back to
    /// the queue. Unlike what an allocator [refuses](Scheduler::refused), this says nothing of later: as soon
    /// as other processors are free the allocator may choose others for it, and where it does not go by these alone
    /// (`lasts` is false) as soon as time passes.
    fn would_take_place(&mut self, job: JobId, lasts: bool) {
        self.refused(job, lasts);
    }

    /// Whether it [wants places](Scheduler::wants_place) at all.
    fn promises_places(&self) -> bool {
        false
    }

    /// Why the job that [`next`](Scheduler::next) has just named was; `None` if there is no more to say
    /// than what the discipline is.
    fn reason(&self) -> Option<Reason> {
        None
    }

    /// What became of its guarantees; `None` if it gives none.
    fn promises(&self) -> Option<Promises> {
        None
    }

    /// The next instant after `after` at which to be asked even if no job arrives or completes.
    fn due(&self, after: i64) -> Option<i64> {
        let _ = after;
        None
    }

    /// Number of waiting jobs.
    fn waiting(&self) -> usize;
}
