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
//! # One entry, two strategies
//!
//! [`Simulation::run`] is given jobs, a machine, a scheduler, an allocator and an [`Observer`]. An allocator that never
//! refuses does not influence the schedule: the run then replays a [`Timeline`], which is computed once per trace,
//! machine size and scheduler for any number of allocators. Where the allocator may refuse, takes more processors than
//! were asked for, or hands out units, where processors are out of service at times ([`outages`]), or where the jobs' own
//! traffic decides how long they run ([`Service`]), scheduler, allocator and service go through one *coupled* event loop.
//! [`Simulation::is_coupled`] is that rule. A test shows that both agree where both apply.
//!
//! [`Simulation::lockstep`] replays a timeline for many tie vectors at once.
//!
//! # Jobs that follow others
//!
//! A job with a predecessor ([`Follows`](crate::workload::Follows)) arrives when that has ended *in this
//! replay*, and its wait counts from there ([`Simulation::with_chains`]). The timeline still depends on no allocator.
//! Among arrivals of one instant the order is that of the file.
//!
//! # What the log did
//!
//! [`Timeline::recorded`] is the schedule of a log, by its waits. Where it had more
//! processors busy than the machine has, jobs run without any, and are counted; a job of which the start is unknown
//! is in no event. [`Simulation::replay_recorded`] is the log with its places, where it records these.

mod arrivals;
mod coupled;
mod engine;
mod error;
mod input;
mod lockstep;
mod observer;
pub mod outages;
mod recorded;
mod recorded_placements;
mod replay;
mod timeline;

pub use crate::service::{RunTimes, Service};
pub use engine::{Simulation, Starts, is_always_coupled};
pub use error::SimulationError;
pub use input::{Overhead, Shared};
pub use lockstep::Placed;
pub use observer::{Decision, Decisions, Observer, State};
pub use outages::{OutageError, OutageFile, Outages, WhenDown};
pub use recorded::Overfull;
pub use recorded_placements::Conflicts;
pub use timeline::{Event, Timeline, TimelineError};
