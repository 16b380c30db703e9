//! An allocator for a machine with partitions.

use super::{
    Allocator, Bounds, Capabilities, Census, MachineEvent, Refusal, Request, RunSetup, Stats,
};
use crate::machine::Machine;
use crate::partitions::JobPartitions;
use crate::topology::{NodeId, Topology};

/// An allocator that chooses the nodes of a job within the partition of its [request](Request::partition).
///
/// Each partition has an allocator and a copy of the machine of its own. On the copy, the nodes outside of the
/// partition are out of service from the begin of the run, and nodes that jobs of overlapping partitions hold are out
/// of service until these jobs end. Hence every strategy that [supports
/// outages](Capabilities::supports_outages) supports partitions.
pub struct Partitioned {
    partitions: JobPartitions,
    topology: Topology,
    parts: Vec<Part>,
    /// Partition of the job that holds each node.
    holder: Vec<u16>,
    /// The partition of the last allocation.
    last: usize,
}

/// A partition with its allocator.
struct Part {
    allocator: Box<dyn Allocator>,
    machine: Machine,
}

impl Partitioned {
    /// Creates an allocator for a machine. `allocators` has a newly built allocator for each partition.
    pub fn new(
        partitions: JobPartitions,
        topology: &Topology,
        allocators: Vec<Box<dyn Allocator>>,
    ) -> Self {
        let machine = Machine::new(topology.clone());
        let part = |allocator| Part { allocator, machine: machine.clone() };
        Self {
            holder: vec![0; topology.processors()],
            parts: allocators.into_iter().map(part).collect(),
            topology: topology.clone(),
            partitions,
            last: 0,
        }
    }

    /// Takes nodes out of service in all partitions but one, or returns them to service.
    fn change_others(&mut self, but: usize, nodes: &[NodeId], down: bool) {
        for (at, part) in self.parts.iter_mut().enumerate() {
            if at == but || !self.partitions.set.overlap(at, but) {
                continue;
            }
            let set = &self.partitions.set.all()[at];
            let within: Vec<NodeId> = nodes.iter().copied().filter(|&node| set.has(node)).collect();
            if within.is_empty() {
                continue;
            }
            match down {
                true => {
                    part.machine.withdraw(&within);
                    part.allocator.on_event(&part.machine, MachineEvent::NodesDown(&within));
                }
                false => {
                    part.machine.restore(&within);
                    part.allocator.on_event(&part.machine, MachineEvent::NodesUp(&within));
                }
            }
        }
    }
}

impl Allocator for Partitioned {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        for (at, part) in self.parts.iter_mut().enumerate() {
            let jobs = match setup.jobs.len() == self.partitions.of.len() {
                true => self.partitions.jobs(at, setup.jobs),
                false => setup.jobs.to_vec(),
            };
            part.allocator.begin(&RunSetup { jobs: &jobs, ..setup.clone() })?;
            part.machine = Machine::new(self.topology.clone());
            let others: Vec<NodeId> = self.partitions.set.all()[at].others().collect();
            if !others.is_empty() {
                part.machine.withdraw(&others);
                part.allocator.on_event(&part.machine, MachineEvent::NodesDown(&others));
            }
        }
        Ok(())
    }

    fn allocate(
        &mut self,
        _machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let at = usize::from(request.partition);
        let part = &mut self.parts[at];
        part.allocator.allocate(&part.machine, request, chosen)?;
        part.machine.occupy(chosen);
        chosen.iter().for_each(|node| self.holder[node.index()] = request.partition);
        self.last = at;
        self.change_others(at, chosen, true);
        Ok(())
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        match event {
            MachineEvent::Released(nodes) => {
                let Some(first) = nodes.first() else { return };
                let at = usize::from(self.holder[first.index()]);
                let part = &mut self.parts[at];
                part.machine.release(nodes);
                part.allocator.on_event(&part.machine, event);
                self.change_others(at, nodes, false);
            }
            MachineEvent::JobQueued(request) | MachineEvent::JobFinished(request) => {
                let part = &mut self.parts[usize::from(request.partition)];
                part.allocator.on_event(&part.machine, event);
            }
            // Outages and hosts that jobs share are not supported together with partitions.
            MachineEvent::NodesDown(_)
            | MachineEvent::NodesUp(_)
            | MachineEvent::HostsObserved(_) => {}
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.parts[0].allocator.capabilities()
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        self.parts[usize::from(request.partition)].allocator.bounds(request)
    }

    /// Sums the counters of the partitions. The units, the reduction and the ties are those of the last allocation.
    fn stats(&self) -> Stats {
        let last = self.parts[self.last].allocator.stats();
        let all = || self.parts.iter().map(|part| part.allocator.stats());
        let census = last.census.map(|last| {
            all().filter_map(|stats| stats.census).fold(
                Census { blocks: last.blocks, ..Census::default() },
                |sum, one| Census {
                    busy_list: sum.busy_list + one.busy_list,
                    searches: sum.searches + one.searches,
                    operations: sum.operations + one.operations,
                    ..sum
                },
            )
        });
        let refused_sizes =
            last.refused_sizes.map(|_| all().filter_map(|one| one.refused_sizes).sum());
        Stats { census, refused_sizes, menu_fragmentation: None, ..last }
    }
}
