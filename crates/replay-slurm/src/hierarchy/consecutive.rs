//! Slurm's rule for jobs that use no topology (`_eval_nodes_consec` in `eval_nodes.c`), for equal nodes.
//!
//! The rule looks at *runs* of free nodes with consecutive numbers. It takes nodes of one run after the other until the
//! job has all its nodes: the shortest run that can hold the remaining nodes, or the longest run if no run can hold them.
//! Among runs of the same length, the rule takes the first. Within a run, the nodes with the lowest numbers are taken.

use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::number::counted;
use replay_engine::topology::NodeId;

/// Appends `size` free nodes to `chosen`. `free` returns the free nodes, at least `size`, in ascending order.
pub fn choose(
    free: impl Iterator<Item = NodeId>,
    size: u32,
    chosen: &mut Vec<NodeId>,
    explanation: &ExplanationLog,
) {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for NodeId(node) in free {
        match runs.last_mut() {
            Some((first, length)) if *first + *length == node => *length += 1,
            _ => runs.push((node, 1)),
        }
    }
    // The longest run comes last. Of several runs of one length, the first run comes last.
    runs.sort_unstable_by_key(|&(first, length)| (length, std::cmp::Reverse(first)));
    let mut rest = size;
    while let Some(&(_, longest)) = runs.last().filter(|_| rest > 0) {
        let fitting = runs.partition_point(|&(_, length)| length < rest);
        let at = match runs.get(fitting) {
            Some(&(_, shortest)) => runs.partition_point(|&(_, length)| length <= shortest) - 1,
            None => runs.len() - 1,
        };
        let (first, length) = runs.remove(at);
        let taken = length.min(rest);
        chosen.extend((first..first + taken).map(NodeId));
        explanation.sentence(|| {
            let why = match length >= rest {
                true => "the shortest run that can hold them".to_string(),
                false => format!("no run can hold them (at most {longest}), so the longest run"),
            };
            format!(
                "with {} to take: nodes {first} to {} of consecutive free nodes: {why}",
                counted(rest as u64, "node"),
                first + length - 1
            )
        });
        rest -= taken;
    }
}
