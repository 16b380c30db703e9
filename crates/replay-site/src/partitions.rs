//! Partitions on the command line: `NAME=NODES[,tier=N][,factor=N][,max-time=TIME][,max-nodes=N]`.

use replay_engine::topology::NodeId;
use replay_engine::workload::PartitionDefinition;

use crate::node_set::NodeSet;
use crate::site::Partition;

/// Creates a partition of a machine with the CPUs `cpus` of each node from its definition.
///
/// # Errors
/// A message with the name of the partition if the machine does not have a node.
///
/// ```
/// use replay_site::partitions::partition;
///
/// let short = partition(&"short=0-1,3,tier=2,max-time=30".parse()?, &[1; 4])?;
/// assert_eq!((short.nodes.ranges(), short.tier, short.max_time), ("0-1,3".to_string(), 2, Some(30)));
/// # Ok::<(), String>(())
/// ```
pub fn partition(definition: &PartitionDefinition, cpus: &[u32]) -> Result<Partition, String> {
    let members = definition.members(cpus.len())?;
    let mut nodes = NodeSet::empty(cpus.len());
    let inside = members.iter().zip(0..).filter(|(member, _)| **member);
    inside.for_each(|(_, node)| nodes.insert(NodeId(node)));
    let made = Partition::new(&definition.name, nodes, cpus);
    Ok(Partition {
        tier: definition.tier.unwrap_or(made.tier),
        factor: definition.factor.unwrap_or(made.factor),
        max_time: definition.max_time,
        max_nodes: definition.max_nodes,
        ..made
    })
}
