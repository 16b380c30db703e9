//! What jobs send: patterns, quotas, barriers, and which process runs where.
//!
//! A [`Traffic`] is a [`Network`](super::Network) with the jobs that run on it. A job has
//! processes of *ranks* 0 to n - 1, one to a processor in the order of a [`Mapping`], and a
//! [`Demand`]: a [`Program`] (a loaded [`Pattern`]) and a [`Quota`]. It sends the packets of its
//! pattern's *iterations*, one after another, until its quota is used up, and ends when all
//! of them are delivered.
//!
//! ```
//! use replay_network::Settings;
//! use replay_network::traffic::{Demand, Preset, Program, Traffic, TrafficOptions};
//! use replay_core::topology::{NodeId, Topology};
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
//!     // Two links at most, and nothing in the way.
//!     assert!(ended[0].hops <= 2 * ended[0].packets && ended[0].blocked == 0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | concept |
//! |---|---|
//! | [`pattern`](Pattern) | who sends to whom, who waits for what; the grammar |
//! | [`program`](Program) | a pattern with the file that it names |
//! | `rule`, `exchange`, `table`, `drawn` | the packets of an iteration for n processes |
//! | `sequence`, `streams`, `stretch` | where a job is in its iterations |
//! | [`quota`](Quota), [`preset`](Preset), [`mapping`](Mapping) | how much, as in which paper, where |
//! | `run`, `engine` ([`Traffic`]) | a running job, all of them on their network |
//! | [`demand`](Demand), `random`, `files` | what a job is given, where it draws from, how files are read |
//!
//! # Iterations, steps, barriers
//!
//! An iteration is a list of *steps*, and in a step some processes send, each an ordered list
//! of packets. At a barrier the job waits until all it has sent is delivered; the next
//! step begins in that same cycle, its senders in the order of their ranks. [`Barrier`] says
//! where the barriers are, [`Sends`] and [`Stream`] what happens between them.
//!
//! # Quotas
//!
//! A quota counts the packets of the whole job, and is exact: once so many packets have been
//! handed to senders' queues nothing more is, even in the middle of a step. Quotas are
//! independent of the number of processes (unless [`Quota::per`] says otherwise), so small
//! jobs run many iterations and large ones a part of one: the order inside an iteration
//! matters.
//!
//! A job that has nobody to send to (one process, or a matrix whose every packet stays
//! within a process) sends nothing and ends in the cycle of its start. This is so under both
//! presets; the sides of Lo's jobs are at least 2, so that there it never happens.
//!
//! # Random numbers
//!
//! What a job draws (its quota, a root, random pairs) comes from streams of its own, keyed by
//! the demand's seed and the job's number: it does not depend on other jobs, on the allocator
//! or, except for `random[source=each]`, on the network.
//!
//! # Cost
//!
//! A few operations per packet and no allocation; memory is O(processes) for a running job,
//! whatever its quota, plus the file's entries for `matrix` and `phases` on fewer processes
//! than the file has ranks. Packets in flight are the network's: with [`Sends::AtOnce`]
//! they are as many as one lets be sent between two barriers.
//!
//! # Sources
//!
//! Lo, Windisch, Liu, Nitzberg, "Noncontiguous processor allocation algorithms for
//! distributed memory multicomputers", CIS-TR-94-11, University of Oregon, message-passing
//! experiments (preset [`lo`](Preset::Lo); what the report leaves open is settled so as to
//! reproduce its Table 2); Bani-Mohammad, PhD thesis, University of Glasgow 2008, chapter 4
//! (preset [`bani-mohammad`](Preset::BaniMohammad)).

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
mod sequence;
mod streams;
mod stretch;
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
