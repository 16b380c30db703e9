//! What a simulation is given, and what it cost.

use std::time::Duration;

use crate::scheduler::Promises;
use crate::simulation::Outages;
use crate::stop::Stop;
use crate::topology::Topology;
use crate::workload::{Follows, Job};

/// What a simulation is about.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Jobs in order of submission.
    pub jobs: &'a [Job],
    /// The machine.
    pub topology: &'a Topology,
    /// Measure the wall-clock time that the allocator takes; a coupled simulation does.
    pub timed: bool,
    /// Ends the simulation at its next decision.
    pub stop: &'a Stop,
}

/// What it cost to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overhead {
    /// Requests of the scheduler, refusals included.
    pub attempts: u64,
    /// Those of them that came to the allocator. The same request on the same free processors is
    /// answered as before, and others by what a [refusal](crate::allocator::Allocator::refusal_covers) tells of them.
    pub asked: u64,
    /// Elementary operations, if the strategy counts them.
    pub operations: u64,
    /// Sizes of jobs that were refused; `None` if the strategy reduces no job.
    pub refused_sizes: Option<u64>,
    /// What the scheduler promised to heads of the queue; `None` if it promises nothing.
    pub promises: Option<Promises>,
    /// Wall-clock time in the allocator, releases included; zero unless timed.
    pub time: Duration,
}

/// What jobs wait for beside processors.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// By job, what it follows, without cycles; or empty.
    pub follows: &'a [Option<Follows>],
    /// When processors are out of service.
    pub outages: &'a Outages,
}

impl Default for Course<'_> {
    fn default() -> Self {
        static NONE: Outages = Outages::NONE;
        Self { follows: &[], outages: &NONE }
    }
}
