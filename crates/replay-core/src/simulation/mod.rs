//! The event loop.
//!
//! # Event order
//!
//! Events of one instant happen in this order:
//!
//! 1. all completions due now, by job; then processors that come back into service, and those that leave
//!    it ([`outages`]);
//! 2. all arrivals, in file order;
//! 3. a *round*: the scheduler is asked again and again until it starts nothing more.
//!
//! A job of run time 0 completes at the instant of its start, after the round that
//! started it, and another round follows. The order is not cosmetic: a scheduler asked
//! after every single event starts other jobs, and published means change in the fourth
//! digit.
//!
//! # Timeline replay
//!
//! An allocator that never refuses does not influence the schedule. [`Timeline`] is
//! computed once per trace, machine size and scheduler, then [`replay`]ed by any number of
//! allocators, each with its own machine.
//!
//! # Jobs that follow others
//!
//! A job with a predecessor ([`Follows`](crate::workload::Follows)) arrives when that has ended *in this
//! replay*, and its wait counts from there. The timeline still depends on no allocator
//! ([`Timeline::compute_after`], [`simulate_amid`]). Among arrivals of one instant the order is that of the file.
//!
//! # What the log did
//!
//! [`Timeline::recorded`] is the schedule that a log tells itself, by its waits. Where it had more
//! processors busy than the machine has, jobs run without any, and are counted; one of which it does not tell
//! when it started is in no event. [`replay_placed`] is the log with its places, where it tells these.
//!
//! # Coupled simulation
//!
//! Where the allocator may refuse, takes more processors than were asked for, or where the
//! jobs' own traffic decides how long they run ([`Service`]), scheduler, allocator and
//! service go through one event loop, [`simulate`]. A test shows that it agrees with the
//! timeline where both apply.

mod arrivals;
mod coupled;
mod lockstep;
mod observer;
pub mod outages;
mod placed;
mod recorded;
mod replay;
mod service;
mod timeline;

pub use coupled::{CoupledError, Course, Overhead, Scene, simulate, simulate_amid};
pub use lockstep::{Placed, lockstep};
pub use observer::{Observer, State};
pub use outages::{OutageError, OutageFile, Outages, WhenDown};
pub use placed::{Conflicts, replay_placed};
pub use recorded::Overfull;
pub use replay::{Decision, ReplayError, replay, replay_while};
pub use service::{RunTimes, Service};
pub use timeline::{Event, Timeline, TimelineError};
