//! Simulation of schedulers and allocators.
//!
//! # Event order
//!
//! Events with the same time occur in this order:
//!
//! 1. all completions, in the order of jobs; then processors return to service, then other processors go out of service
//!    ([`outages`]);
//! 2. all arrivals, in file order;
//! 3. a *round*: the scheduler is called until it does not start a job.
//!
//! A job of run time 0 completes at its start time, after the round that started it, and another round follows. The
//! order matters. If the scheduler were called after every single event, it would start different jobs, and our values
//! of published means would change in the fourth digit.
//!
//! # Replay and coupled simulation
//!
//! [`Simulation::run`] takes jobs, a machine, a scheduler, an allocator and an [`Observer`]. An allocator that never
//! refuses a job does not influence the schedule, so the run replays a [`Timeline`]. The timeline is computed once per
//! trace, machine size and scheduler, for any number of allocators. In a *coupled* run, one event loop runs scheduler,
//! allocator and service together. A run is coupled in three cases. (1) The allocator may refuse jobs, takes more
//! processors than requested, or allocates whole units. (2) There are outages ([`outages`]). (3) A [`Service`]
//! determines run times from the jobs' traffic. [`Simulation::is_coupled`] returns whether a run is coupled. A test
//! checks that replay and coupled simulation agree for allocators that never refuse a job.
//!
//! [`Simulation::lockstep`] replays a timeline for many tie vectors at once.
//!
//! # Jobs with predecessors
//!
//! A job with a predecessor ([`Follows`](crate::workload::Follows)) arrives when the predecessor has ended *in this
//! replay*. The wait of the job is measured from this arrival ([`Simulation::with_chains`]). Even with predecessors,
//! the timeline does not depend on the allocator. Arrivals at the same time are in file order.
//!
//! # Recorded schedules
//!
//! [`Timeline::recorded`] builds the schedule of a log from the wait times in the log. If the log oversubscribes the
//! machine, the affected jobs get no processors, and the number of these jobs is reported. A job without a recorded
//! start has no events. [`Simulation::replay_recorded`] replays a log with its recorded placements.

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
pub use coupled::check_pair;
pub use engine::{Simulation, Starts, is_always_coupled};
pub use error::SimulationError;
pub use input::{Overhead, Shared};
pub use observer::{Decision, Decisions, Observer, State};
pub use outages::{OutageError, OutageFile, Outages, WhenDown};
pub use recorded::Overfull;
pub use recorded_placements::Conflicts;
pub use timeline::{Event, Timeline, TimelineError};
