//! Workstations that run several parallel jobs at once.
//!
//! Source: S. W. Turner, "Processor Scheduling in a Distributed-Memory Computing Environment", PhD
//! thesis, Michigan State University, 1995, chapters 5 and 6. Its machine is six workstations on a
//! crossbar; its daemon, Elmer, gives a job hosts that other jobs may use already, at a priority
//! below theirs. [`HostSelection`](crate::allocator::elmer::HostSelection) chooses the hosts; this
//! room says how fast each job then goes.
//!
//! | room | concept |
//! |---|---|
//! | [`application`] | what a job does with its processors: compute, EP, Barrier |
//! | [`equations`] | equations 5.1 to 5.5: how long a Barrier job takes beside another job |
//! | [`kernel`] | whether a process that becomes ready interrupts one of lower priority |
//! | [`slots`] | who runs where, at which priority |
//! | [`rates`] | how fast each of the jobs on shared hosts goes |
//! | [`monitor`] | the use of each processor over the last seconds |
//! | [`elmer`] | what Elmer itself costs |
//! | [`time_sharing`] | all of it as the [`Service`] of a simulation |
//!
//! The thesis measured; it states few numbers, and its curves are lost. Equations are the thesis's. The
//! rates, and the constants of EP and Barrier, are a model of ours that agrees with every number and
//! direction it states for a preemptive kernel.

pub mod application;
pub mod elmer;
pub mod equations;
pub mod kernel;
pub mod monitor;
pub mod rates;
pub mod slots;
pub mod time_sharing;

pub use application::Application;
pub use kernel::Kernel;
pub use time_sharing::TimeSharing;

use self::time_sharing::Sharing;
use crate::allocator::Allocator;
use crate::service::{RunTimes, Service};
use crate::topology::Topology;

/// What the jobs of a trace or stream do while they hold processors: they share them if the
/// allocator gives the hosts of a cluster to several, and else run for their run time.
pub(crate) fn service(
    topology: &Topology,
    allocator: &dyn Allocator,
    ticks_per_second: f64,
) -> Box<dyn Service> {
    match (topology.cluster(), allocator.capabilities().hosts) {
        (Some(cluster), Some(hosts)) => {
            let sharing = Sharing { hosts, ticks_per_second, ..Sharing::PLAIN };
            Box::new(TimeSharing::new(cluster, sharing, &[]))
        }
        _ => Box::new(RunTimes::default()),
    }
}
