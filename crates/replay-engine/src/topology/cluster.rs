use super::NodeId;

/// Workstations on a crossbar: any two hosts are one hop apart, so all sets of hosts of one size are equivalent. Each
/// host has a number of *slots*, one per priority level, and runs one process in each slot. Level 0 has the highest
/// priority (Turner 1995, section 6.3).
///
/// Slots are numbered level by level: slot `level * hosts + host`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cluster {
    hosts: u32,
    levels: u32,
}

impl Cluster {
    /// Maximum number of slots of a cluster.
    pub const MAX_SLOTS: u32 = u16::MAX as u32;

    /// Creates a cluster of `hosts` hosts with `levels` slots each. Returns `None` if `hosts` or `levels` is 0, or if
    /// there are more than [`Cluster::MAX_SLOTS`] slots.
    pub const fn new(hosts: u32, levels: u32) -> Option<Self> {
        let slots = hosts as u64 * levels as u64;
        if slots > 0 && slots <= Self::MAX_SLOTS as u64 {
            Some(Self { hosts, levels })
        } else {
            None
        }
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Returns the number of slots per host: the number of jobs that may share a host (the degree of multiprogramming).
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the total number of slots.
    pub fn slots(&self) -> usize {
        (self.hosts * self.levels) as usize
    }

    /// Returns the host of a slot.
    pub fn host(&self, slot: NodeId) -> u32 {
        slot.0 % self.hosts
    }

    /// Returns the priority level of a slot.
    pub fn level(&self, slot: NodeId) -> u32 {
        slot.0 / self.hosts
    }

    /// Returns the slot of a host at a priority level.
    pub fn slot(&self, host: u32, level: u32) -> NodeId {
        NodeId(level * self.hosts + host)
    }
}
