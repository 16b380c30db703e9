//! The placements that the log itself tells.

use super::{Allocator, AllocatorOptions, Refusal, Request};
use crate::machine::Machine;
use crate::naming::{Entry, Table};
use crate::topology::{NodeId, Topology};

/// `recorded` can be told nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedOptions;

impl AllocatorOptions for RecordedOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        match topology.cluster() {
            None => Ok(Box::new(Nobody)),
            Some(_) => Err("repeats placements on points of a network, a cluster has none".into()),
        }
    }

    fn recorded(&self) -> bool {
        true
    }
}

/// Decides nothing, since all is decided: see
/// [`Simulation::replay_recorded`](crate::simulation::Simulation::replay_recorded).
struct Nobody;

impl Allocator for Nobody {
    fn allocate(
        &mut self,
        _machine: &Machine,
        _request: Request,
        _chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        Err(Refusal::Fragmented)
    }
}

/// `recorded`.
pub fn table() -> Table<RecordedOptions> {
    let recorded = Entry::new("recorded", RecordedOptions)
        .about(
            "Every job runs where the log says that it ran: by the file NAME.nodes.csv beside the trace, or by \
             the lists of nodes in field 19; of a box of nodes of a Blue Gene/Q the midplanes count (--machine \
             mira). Only under the scheduler recorded. Nodes with the numbers of points are these, others lie \
             in order of their names along the scan order; jobs may share a node, and a point holds as many \
             processors as the machine says (4x11*80). Processors that another job holds are counted and told. \
             Distances are between the different nodes of a job.",
        )
        .source("the log");
    Table::new("allocator", [recorded])
}
