//! Input and cost of a simulation.

use std::time::Duration;

use super::Outages;
use crate::cancel::CancelToken;
use crate::scheduler::Promises;
use crate::topology::Topology;
use crate::workload::{Follows, Job};

/// Input of both the replay and the coupled simulation.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub jobs: &'a [Job],
    pub topology: &'a Topology,
    /// Predecessors by job, without cycles; or empty.
    pub follows: &'a [Option<Follows>],
    pub outages: &'a Outages,
    pub stop: &'a CancelToken,
    /// Whether to measure the time in the allocator.
    pub timed: bool,
    pub count_ties: bool,
}

/// Cost of allocation in a coupled run; zero in a replay.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Overhead {
    /// Number of jobs selected by the scheduler, including refused ones.
    pub attempts: u64,
    /// Number of allocator calls. The answer is known without a call if the same request was answered on the same free
    /// processors, or if a [refusal](crate::allocator::Allocator::refusal_covers) covers the request.
    pub allocator_calls: u64,
    /// Number of selected jobs that were refused because too few processors were free.
    pub too_few_free: u64,
    /// Number of elementary operations, if the strategy counts them.
    pub operations: u64,
    /// Number of job sizes that were refused; `None` if the strategy does not fold jobs.
    pub refused_sizes: Option<u64>,
    /// Guarantees to heads of the queue; `None` if the scheduler gives none.
    pub promises: Option<Promises>,
    /// Computation of jobs that share processors; `None` if jobs use their processors exclusively.
    pub shared: Option<Shared>,
    /// Wall-clock time in the allocator, including releases; zero unless [timed](super::Simulation::timed).
    pub time: Duration,
}

/// Use of processors that several jobs share: the hosts of a cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shared {
    /// Number of slots of all hosts.
    pub slots: usize,
    /// Processor time that all jobs computed.
    pub computed: f64,
}
