//! Placements recorded in the log itself.

use super::{Allocator, AllocatorOptions, Refusal, Request};
use crate::machine::Machine;
use crate::naming::{Entry, Table};
use crate::topology::{NodeId, Topology};

/// Options of `recorded`, which has no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedOptions;

impl AllocatorOptions for RecordedOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        match topology.cluster() {
            None => Ok(Box::new(RecordedPlacements)),
            Some(_) => {
                Err("repeats recorded placements on nodes of a network; a cluster has no network"
                    .into())
            }
        }
    }
}

/// Allocator that is never called, because
/// [`Simulation::replay_recorded`](crate::simulation::Simulation::replay_recorded) places the jobs.
struct RecordedPlacements;

impl Allocator for RecordedPlacements {
    fn allocate(
        &mut self,
        _machine: &Machine,
        _request: Request,
        _chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        Err(Refusal::Fragmented)
    }
}

impl RecordedOptions {
    /// Returns the table of `recorded`.
    pub fn table() -> Table<Self> {
        let recorded = Entry::new("recorded", RecordedOptions)
        .about(
"Places every job on the processors recorded in the log: in the file NAME.nodes.csv beside the trace, or in \
             the node lists of field 19. A box of Blue Gene/Q nodes is converted to its midplanes (--machine mira). \
             Requires the scheduler recorded. Nodes whose names are numbers of points map to these points. Other nodes, sorted by name, map to points in scan order. Jobs may share a node; a point holds as many \
             processors as the machine states (4x11*80). Processors that another job holds are counted and \
             reported. Distances are between the distinct nodes of a job.",
        )
        .source("the log");
        Table::new("allocator", [recorded])
    }
}
