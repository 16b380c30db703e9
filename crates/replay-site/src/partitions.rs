//! Partitions on the command line: `NAME=NODES[,tier=N][,factor=N][,max-time=TIME][,max-nodes=N]`.

use replay_engine::sanitize::excerpt;
use replay_engine::topology::NodeId;
use replay_engine::workload::nodes;

use crate::conf::number;
use crate::node_set::NodeSet;
use crate::site::Partition;
use crate::times::minutes;

/// Parses a partition of a machine with the CPUs `cpus` of each node. NODES is `all`, or node numbers such as
/// `0-3,7`.
///
/// # Errors
/// A message with the name of the partition and the invalid part.
///
/// ```
/// use replay_site::partitions::partition;
///
/// let short = partition("short=0-1,3,tier=2,max-time=30", &[1; 4])?;
/// assert_eq!((short.nodes.ranges(), short.tier, short.max_time), ("0-1,3".to_string(), 2, Some(30)));
/// # Ok::<(), String>(())
/// ```
pub fn partition(text: &str, cpus: &[u32]) -> Result<Partition, String> {
    let (name, rest) = text.split_once('=').ok_or_else(|| {
        format!("\"{}\" is not NAME=NODES, such as short=0-15 or long=all", excerpt(text))
    })?;
    let name = name.trim();
    let failed = |problem: String| format!("partition {}: {problem}", excerpt(name));
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("\"{}\" is not the name of a partition", excerpt(name)));
    }
    let (options, lists): (Vec<&str>, Vec<&str>) =
        rest.split(',').partition(|part| part.contains('='));
    let list = lists.join(",");
    let set = match list.trim() {
        "all" => NodeSet::all(cpus.len()),
        list => {
            let ranges = nodes::ranges(list).map_err(|e| failed(e.to_string()))?;
            let mut set = NodeSet::empty(cpus.len());
            for (first, last) in ranges {
                if last >= cpus.len() as u64 {
                    let most = cpus.len() - 1;
                    return Err(failed(format!("{last} is not a node from 0 to {most}")));
                }
                (first..=last).for_each(|node| set.insert(NodeId(node as u32)));
            }
            set
        }
    };
    let mut partition = Partition::new(name, set, cpus);
    for option in options {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let bad = |problem: String| failed(format!("{}: {problem}", excerpt(key)));
        match key.trim() {
            "tier" => partition.tier = number(value).map_err(bad)?,
            "factor" => partition.factor = number(value).map_err(bad)?,
            "max-time" => partition.max_time = minutes(value).map_err(bad)?,
            "max-nodes" => partition.max_nodes = Some(number(value).map_err(bad)?),
            _ => {
                return Err(
                    bad("unknown; known are tier, factor, max-time, max-nodes".to_string()),
                );
            }
        }
    }
    Ok(partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_partitions_have_messages() {
        for (text, problem) in [
            ("a", "\"a\" is not NAME=NODES, such as short=0-15 or long=all"),
            ("=all", "\"\" is not the name of a partition"),
            ("a=", "partition a: \"\": an empty name"),
            ("a=0-4", "partition a: 4 is not a node from 0 to 3"),
            ("a=0-1,tier=x", "partition a: tier: \"x\" is not a whole number from 0 to 4294967295"),
            (
                "a=all,qos=x",
                "partition a: qos: unknown; known are tier, factor, max-time, max-nodes",
            ),
        ] {
            assert_eq!(partition(text, &[1; 4]).expect_err(text), problem);
        }
    }
}
