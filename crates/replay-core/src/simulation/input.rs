//! What both ways to simulate are given, and what a run costs.

use std::time::Duration;

use super::Outages;
use crate::cancel::CancelToken;
use crate::scheduler::Promises;
use crate::topology::Topology;
use crate::workload::{Follows, Job};

/// What both strategies are given.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub jobs: &'a [Job],
    pub topology: &'a Topology,
    /// By job, what it follows, without cycles; or empty.
    pub follows: &'a [Option<Follows>],
    pub outages: &'a Outages,
    pub stop: &'a CancelToken,
    /// Whether the time in the allocator is measured.
    pub timed: bool,
    pub count_ties: bool,
}

/// What it cost to allocate in a coupled run; zero in others.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Overhead {
    /// Requests of the scheduler, refusals included.
    pub attempts: u64,
    /// Those of them that came to the allocator. The same request on the same free processors is
    /// answered as before, and others by what a [refusal](crate::allocator::Allocator::refusal_covers) implies for them.
    pub asked: u64,
    /// Elementary operations, if the strategy counts them.
    pub operations: u64,
    /// Sizes of jobs that were refused; `None` if the strategy reduces no job.
    pub refused_sizes: Option<u64>,
    /// What the scheduler promised to heads of the queue; `None` if it promises nothing.
    pub promises: Option<Promises>,
    /// What jobs that share processors computed; `None` if they had all that they held.
    pub shared: Option<Shared>,
    /// Wall-clock time in the allocator, releases included; zero unless [timed](super::Simulation::timed).
    pub time: Duration,
}

/// The processors of a machine as several jobs share them: the hosts of a cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shared {
    /// Slots of all hosts, which jobs hold.
    pub slots: usize,
    /// Processor-time that all jobs computed.
    pub computed: f64,
}
