//! The slots that jobs hold on shared hosts; a job changes its slots when other jobs end.

use crate::machine::Machine;
use crate::topology::{Cluster, NodeId, Topology};

/// The slots of a cluster with several slots per host.
pub struct Sharing {
    cluster: Cluster,
    processors: Vec<NodeId>,
    /// For each host, the level of its freed slot; [`NONE`] if no slot of the host was freed.
    freed: Vec<u32>,
    left: Vec<NodeId>,
    entered: Vec<NodeId>,
}

const NONE: u32 = u32::MAX;

impl Sharing {
    /// Creates the state for a machine on which jobs share processors; `None` for other machines.
    pub fn on(topology: &Topology) -> Option<Self> {
        let cluster = topology.cluster().filter(|cluster| cluster.levels() > 1)?;
        Some(Self {
            cluster,
            processors: Vec::new(),
            freed: vec![NONE; cluster.hosts() as usize],
            left: Vec::new(),
            entered: Vec::new(),
        })
    }

    /// Returns the processors to which the slots belong.
    pub fn processors(&mut self, slots: &[NodeId]) -> &[NodeId] {
        self.processors.clear();
        self.processors.extend(slots.iter().map(|&slot| NodeId(self.cluster.host(slot))));
        &self.processors
    }

    /// Moves jobs up by one level (first come, highest priority: Turner 1995, section 6.2.3). For each released slot in
    /// `freed`, the jobs that move are all jobs below this slot on the same host. `held` contains the slots of all
    /// running jobs.
    pub fn promote(&mut self, machine: &mut Machine, freed: &[NodeId], held: &mut [Vec<NodeId>]) {
        let cluster = self.cluster;
        for &slot in freed {
            self.freed[cluster.host(slot) as usize] = cluster.level(slot);
        }
        self.left.clear();
        self.entered.clear();
        for slot in held.iter_mut().flatten() {
            let (host, level) = (cluster.host(*slot), cluster.level(*slot));
            if self.freed[host as usize] < level {
                self.left.push(*slot);
                *slot = cluster.slot(host, level - 1);
                self.entered.push(*slot);
            }
        }
        machine.release(&self.left);
        machine.occupy(&self.entered);
        for &slot in freed {
            self.freed[cluster.host(slot) as usize] = NONE;
        }
    }
}
