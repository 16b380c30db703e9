//! What is different where jobs share processors: jobs hold slots, and change them.

use crate::machine::Machine;
use crate::topology::{Cluster, NodeId, Topology};

/// The slots of a cluster whose hosts have more than one.
pub struct Sharing {
    cluster: Cluster,
    processors: Vec<NodeId>,
    /// By host: the level that was freed; [`NONE`] if none was.
    freed: Vec<u32>,
    left: Vec<NodeId>,
    entered: Vec<NodeId>,
}

const NONE: u32 = u32::MAX;

impl Sharing {
    /// For a machine on which jobs share processors.
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

    /// The processors to which slots belong.
    pub fn processors(&mut self, slots: &[NodeId]) -> &[NodeId] {
        self.processors.clear();
        self.processors.extend(slots.iter().map(|&slot| NodeId(self.cluster.host(slot))));
        &self.processors
    }

    /// A job has given back the slots `freed`: on each of its hosts every job below moves up by one
    /// level (first come, highest priority: Turner 1995, section 6.2.3). `held` are the slots of all
    /// jobs that run.
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
