//! Observes a run of a trace on a network.

use super::Isolation;
use crate::{ProgressMeter, RunContext};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::metrics::{Locality, Placement, SystemRecorder};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Decision, Observer, Overhead};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::JobId;

/// Who decides in a run, and by which seed.
#[derive(Clone, Copy)]
pub struct Strategies<'a> {
    /// Who starts.
    pub scheduler: &'a SchedulerSpec,
    /// Where.
    pub allocator: &'a AllocatorSpec,
    /// That of the allocator and of what jobs draw.
    pub seed: u64,
}

/// What was seen of jobs.
pub struct Seen {
    /// The system over time.
    pub recorder: SystemRecorder,
    /// What it cost to allocate.
    pub overhead: Overhead,
    /// Where jobs were.
    pub placements: Vec<Option<Placement>>,
    /// By job that sends packets, the processors of its processes.
    pub nodes: Vec<Vec<NodeId>>,
}

/// Records where jobs are.
pub struct Watcher<'a> {
    locality: Locality,
    placements: Vec<Option<Placement>>,
    nodes: Vec<Vec<NodeId>>,
    isolation: &'a Isolation,
    watch: RunContext<'a>,
    pace: ProgressMeter<'a>,
}

impl<'a> Watcher<'a> {
    /// Nothing is seen yet.
    pub fn new(topology: &Topology, isolation: &'a Isolation, watch: RunContext<'a>) -> Self {
        let jobs = isolation.jobs.len();
        let (placements, nodes) = (vec![None; jobs], vec![Vec::new(); jobs]);
        let (locality, pace) = (Locality::new(topology), ProgressMeter::new(watch, jobs));
        Self { locality, placements, nodes, isolation, watch, pace }
    }

    /// What it and a recorder have seen by the end of a simulation.
    pub fn seen(self, recorder: SystemRecorder, overhead: Overhead) -> Seen {
        let Self { placements, nodes, .. } = self;
        Seen { recorder, overhead, placements, nodes }
    }
}

impl Observer for Watcher<'_> {
    fn started(&mut self, Decision { job: id, nodes, .. }: Decision<'_>) {
        self.pace.started();
        let size = self.isolation.jobs[id.index()].size;
        self.placements[id.index()] = Some(self.locality.placement(nodes, size));
        if self.isolation.quotas[id.index()] > 0 {
            self.nodes[id.index()] = nodes[..size as usize].to_vec();
        }
    }

    fn completed(&mut self, _: JobId, _: i64) {
        (self.watch.jobs_done)(1);
    }
}
