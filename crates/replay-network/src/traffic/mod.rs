//! The traffic of jobs: patterns, quotas, barriers, and the mapping of processes to processors.
//!
//! A [`Traffic`] is a [`Network`](super::Network) with the jobs that run on it. A job has processes with the *ranks* 0
//! to n - 1, and a [`Demand`]: a [`Program`] (a loaded [`Pattern`]) and a [`Quota`]. Each process runs on a separate
//! processor; a [`Mapping`] defines the order. The job sends the packets of its pattern's *iterations*, one after
//! another, until its quota is used up. The job ends when all its packets are delivered.
//!
//! ```
//! use replay_network::Settings;
//! use replay_network::traffic::{Demand, Preset, Program, Traffic, TrafficOptions};
//! use replay_engine::topology::{NodeId, Topology};
//! use std::sync::Arc;
//!
//! let mesh: Topology = "16x16".parse()?;
//! let mut traffic = Traffic::new(&mesh, Settings::LO, TrafficOptions::default())?;
//! let program = Arc::new(Program::load("one-to-all".parse()?)?);
//! let quota = Preset::Lo.quota(&program);
//! let demand = Demand { program, quota, seed: 1 };
//! traffic.start(7, &[NodeId(0), NodeId(16), NodeId(32)], &demand)?;
//! let mut ended = Vec::new();
//! while let Some(cycle) = traffic.advance(None, &mut ended)? {
//!     assert_eq!((ended[0].job, ended[0].end), (7, cycle));
//!     // Two links at most, and no blocking.
//!     assert!(ended[0].hops <= 2 * ended[0].packets && ended[0].blocked == 0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | concept |
//! |---|---|
//! | [`pattern`](Pattern) | senders, receivers and barriers; the notation of patterns |
//! | [`program`](Program) | a pattern with the contents of the file that it names |
//! | `rule`, `exchange`, `table`, `drawn` | the packets of an iteration for n processes |
//! | `sequence`, `streams`, `segment` | the position of a job in its iterations |
//! | [`quota`](Quota), [`preset`](Preset), [`mapping`](Mapping) | number of packets, papers, assignment of processes |
//! | `run`, `engine` ([`Traffic`]) | a running job, all jobs on their network |
//! | [`demand`](Demand), `random`, `files` | the input of a job, random streams, reading of files |
//!
//! # Iterations, steps, barriers
//!
//! An iteration is a list of *steps*. In a step, some processes send packets; each of these processes has an ordered
//! list of packets. At a barrier, the job waits until all its packets are delivered. The next step begins in the cycle
//! of the last delivery, and its senders send in the order of their ranks. [`Barrier`] determines the positions of the
//! barriers. [`Sends`] and [`Stream`] determine the order of packets between two barriers.
//!
//! # Quotas
//!
//! A quota counts the packets of the whole job. A quota is exact: after this number of packets, the job sends no more
//! packets, even if a step is not complete. Quotas do not depend on the number of processes (unless [`Quota::per`]
//! selects a quota per process). Small jobs therefore run many iterations, and large jobs only a part of an iteration,
//! so the order of packets within an iteration matters.
//!
//! A job may have no receivers, because it has a single process or because all packets of its matrix stay within a
//! process. A job without receivers sends nothing and ends in the cycle of its start. The rule for jobs without
//! receivers applies to both presets. Lo's jobs always have receivers, because their sides are at least 2.
//!
//! # Random numbers
//!
//! The random numbers of a job (for its quota, a root, or random pairs) come from separate streams, which are
//! determined by the demand's seed and the job's number. Random numbers do not depend on other jobs or on the
//! allocator. With `random[source=each]`, the random numbers also depend on the network.
//!
//! # Cost
//!
//! A packet costs a few operations and no allocation. The memory of a running job is O(processes), regardless of its
//! quota. With `matrix` or `phases`, a job with fewer processes than the file has ranks also needs memory for the
//! entries of the file. The network stores the packets in flight. With [`Sends::AtOnce`], all packets between two
//! barriers are in flight.
//!
//! # Sources
//!
//! Lo, Windisch, Liu, Nitzberg, "Noncontiguous processor allocation algorithms for distributed memory multicomputers",
//! CIS-TR-94-11, University of Oregon, message-passing experiments (preset [`lo`](Preset::Lo); the report leaves some
//! choices open; these choices were made to reproduce Table 2 of the report); Bani-Mohammad, PhD thesis, University of
//! Glasgow 2008, chapter 4 (preset [`bani-mohammad`](Preset::BaniMohammad)).

mod demand;
mod drawn;
mod engine;
mod exchange;
mod files;
mod mapping;
mod pattern;
mod preset;
mod program;
mod quota;
mod random;
mod rule;
mod run;
mod segment;
mod sequence;
mod streams;
mod table;

pub use demand::Demand;
pub use engine::{Traffic, TrafficError, TrafficOptions};
pub use files::TableError;
pub use mapping::Mapping;
pub use pattern::{
    Active, Barrier, Cycle, Grid, Kind, Order, Pattern, Root, Sends, Source, Steps, Stream,
    Strides, Targets, Values, descriptions,
};
pub use preset::Preset;
pub use program::Program;
pub use quota::{Law, Per, Quota, Rounding};
pub use run::JobTraffic;

#[cfg(test)]
mod tests;
