//! Input and cost of a simulation.

use std::time::Duration;

use super::Outages;
use crate::cancel::CancelToken;
use crate::partitions::JobPartitions;
use crate::scheduler::Promises;
use crate::topology::Topology;
use crate::workload::{Follows, Job};

/// Input of both the replay and the coupled simulation.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub jobs: &'a [Job],
    pub topology: &'a Topology,
    /// Predecessors of each job, without cycles; empty if no job has a predecessor.
    pub follows: &'a [Vec<Follows>],
    pub outages: &'a Outages,
    /// The partition of each job; `None` if jobs may use all nodes.
    pub partitions: Option<&'a JobPartitions>,
    pub stop: &'a CancelToken,
    /// Whether to measure the time in the allocator.
    pub timed: bool,
    pub count_ties: bool,
}

/// Cost of allocation in a coupled run; zero in a replay.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Overhead {
    /// Number of jobs selected by the scheduler, including refused jobs.
    pub attempts: u64,
    /// Number of allocator calls. No call is needed if the allocator has already decided on an equal request with the
    /// same free processors, or if an earlier [refusal covers the
    /// request](crate::allocator::Allocator::refusal_covers).
    pub allocator_calls: u64,
    /// Number of selected jobs that were refused because too few processors were free.
    pub too_few_free: u64,
    /// Number of elementary operations; 0 if the strategy does not count operations.
    pub operations: u64,
    /// Number of job sizes that were refused; `None` if the strategy does not fold jobs.
    pub refused_sizes: Option<u64>,
    /// Statistics of the guaranteed starts; `None` if the scheduler guarantees no starts.
    pub promises: Option<Promises>,
    /// Processor time of jobs that share processors; `None` if jobs use their processors exclusively.
    pub shared: Option<Shared>,
    /// Wall-clock time in the allocator, including releases; zero unless [timed](super::Simulation::timed).
    pub time: Duration,
}

/// Model of processors that several jobs share, such as the hosts of a cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shared {
    /// Number of slots of all hosts.
    pub slots: usize,
    /// Processor time that all jobs together have used.
    pub computed: f64,
}
