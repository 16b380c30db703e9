//! Observer of a run on a network.

use super::Isolation;
use crate::{ProgressMeter, RunContext};
use replay_core::metrics::{Locality, Placement};
use replay_core::simulation::{Decision, Observer};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::JobId;

/// Records the placements of jobs.
pub struct PlacementRecorder<'a> {
    locality: Locality,
    /// Placement metrics by job.
    pub placements: Vec<Option<Placement>>,
    /// Processors that run the processes of each job; empty for jobs that send no packets.
    pub nodes: Vec<Vec<NodeId>>,
    isolation: &'a Isolation,
    watch: RunContext<'a>,
    meter: ProgressMeter<'a>,
}

impl<'a> PlacementRecorder<'a> {
    /// Creates a recorder without observations.
    pub fn new(topology: &Topology, isolation: &'a Isolation, watch: RunContext<'a>) -> Self {
        let jobs = isolation.jobs.len();
        let (placements, nodes) = (vec![None; jobs], vec![Vec::new(); jobs]);
        let (locality, meter) = (Locality::new(topology), ProgressMeter::new(watch, jobs));
        Self { locality, placements, nodes, isolation, watch, meter }
    }
}

impl Observer for PlacementRecorder<'_> {
    fn started(&mut self, Decision { job: id, nodes, .. }: Decision<'_>) {
        self.meter.started();
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
