use super::NodeId;

/// Workstations on a crossbar: any two are one hop apart, and any set of them is as good as any other.
/// Each host has a number of *slots*, one a level of priority, and runs a process of one job in each;
/// level 0 goes first (Turner 1995, section 6.3).
///
/// Slots are numbered level by level: slot `level * hosts + host`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cluster {
    hosts: u32,
    levels: u32,
}

impl Cluster {
    /// The most slots that a cluster may have.
    pub const MAX_SLOTS: u32 = u16::MAX as u32;

    /// A cluster of `hosts` hosts with `levels` slots each; `None` if either is 0 or there are more
    /// than [`Cluster::MAX_SLOTS`] slots.
    pub const fn new(hosts: u32, levels: u32) -> Option<Self> {
        let slots = hosts as u64 * levels as u64;
        if slots > 0 && slots <= Self::MAX_SLOTS as u64 {
            Some(Self { hosts, levels })
        } else {
            None
        }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Slots of a host: jobs that may share it (the degree of multiprogramming).
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Slots of all hosts.
    pub fn slots(&self) -> usize {
        (self.hosts * self.levels) as usize
    }

    /// The host that a slot belongs to.
    pub fn host(&self, slot: NodeId) -> u32 {
        slot.0 % self.hosts
    }

    /// The level of a slot.
    pub fn level(&self, slot: NodeId) -> u32 {
        slot.0 / self.hosts
    }

    /// A host's slot at a level.
    pub fn slot(&self, host: u32, level: u32) -> NodeId {
        NodeId(level * self.hosts + host)
    }
}
