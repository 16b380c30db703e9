//! Partitions of a machine: sets of nodes, which may overlap, on which jobs may run.

use std::sync::Arc;

use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// The nodes of a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionNodes {
    nodes: Vec<NodeId>,
    /// For each node of the machine, whether it belongs to the partition.
    is_member: Vec<bool>,
    /// Jobs of partitions with a higher tier come first in the queue.
    tier: u32,
}

impl PartitionNodes {
    /// Creates the partition of a machine that has the nodes marked in `is_member`.
    pub fn new(is_member: Vec<bool>, tier: u32) -> Self {
        let members = is_member.iter().zip(0..).filter(|(member, _)| **member);
        Self { nodes: members.map(|(_, node)| NodeId(node)).collect(), is_member, tier }
    }

    /// Returns the nodes in ascending order.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Returns the number of nodes.
    pub fn size(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Returns whether the partition has a node.
    pub fn has(&self, node: NodeId) -> bool {
        self.is_member[node.index()]
    }

    /// Returns the nodes of the machine that do not belong to the partition.
    pub fn others(&self) -> impl Iterator<Item = NodeId> {
        self.is_member.iter().zip(0..).filter(|(member, _)| !**member).map(|(_, node)| NodeId(node))
    }

    /// Returns the tier.
    pub fn tier(&self) -> u32 {
        self.tier
    }

    fn shared(&self, other: &Self) -> u32 {
        self.nodes.iter().filter(|&&node| other.has(node)).count() as u32
    }
}

/// The partitions of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionSet {
    all: Vec<PartitionNodes>,
    /// Number of nodes that each pair of partitions shares.
    shared: Vec<Vec<u32>>,
}

impl PartitionSet {
    /// Creates the partitions of a machine. All partitions are on the same machine.
    pub fn new(all: Vec<PartitionNodes>) -> Self {
        let shared = |one: &PartitionNodes| all.iter().map(|other| one.shared(other)).collect();
        Self { shared: all.iter().map(shared).collect(), all }
    }

    /// Returns the partitions.
    pub fn all(&self) -> &[PartitionNodes] {
        &self.all
    }

    /// Returns the number of nodes that two partitions share.
    pub fn shared(&self, one: usize, other: usize) -> u32 {
        self.shared[one][other]
    }

    /// Returns whether two partitions share a node.
    pub fn overlap(&self, one: usize, other: usize) -> bool {
        self.shared[one][other] > 0
    }

    /// Returns whether the partitions restrict no job: each has all nodes of the machine, and the tiers are equal.
    pub fn is_whole_machine(&self) -> bool {
        let is_whole = |one: &PartitionNodes| one.nodes.len() == one.is_member.len();
        self.all.iter().all(|one| is_whole(one) && one.tier == self.all[0].tier)
    }
}

/// The partition of each job of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobPartitions {
    /// The partitions of the machine.
    pub set: Arc<PartitionSet>,
    /// Index of the partition of each job.
    pub of: Arc<[u16]>,
}

impl JobPartitions {
    /// Returns the index of the partition of a job.
    pub fn of(&self, job: JobId) -> usize {
        usize::from(self.of[job.index()])
    }

    /// Returns the number of nodes of each partition among `nodes`.
    pub fn count(&self, nodes: &[NodeId]) -> Vec<u32> {
        let within = |one: &PartitionNodes| nodes.iter().filter(|&&node| one.has(node)).count();
        self.set.all.iter().map(|one| within(one) as u32).collect()
    }

    /// Returns the jobs of a partition. `jobs` are all jobs of the run.
    pub fn jobs(&self, partition: usize, jobs: &[Job]) -> Vec<Job> {
        let both = jobs.iter().zip(self.of.iter());
        both.filter(|(_, of)| usize::from(**of) == partition).map(|(job, _)| *job).collect()
    }
}
