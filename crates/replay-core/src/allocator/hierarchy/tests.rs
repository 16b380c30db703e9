mod agreement;
mod examples;
mod samples;

use super::*;

/// Nodes as ranges of numbers.
fn set(text: &str) -> Vec<NodeId> {
    let ranges = crate::workload::nodes::ranges(text);
    let none = text.is_empty().then(Vec::new);
    let ranges = none.unwrap_or_else(|| ranges.expect("ranges"));
    ranges.into_iter().flat_map(|(from, to)| (from..=to).map(|node| NodeId(node as u32))).collect()
}

fn machine(text: &str) -> Hierarchy {
    text.parse::<Topology>().expect("a machine").hierarchy().expect("a hierarchy").clone()
}
