//! Plain versions of two searches of the rule, which the rule compares with its own results in all tests.

use super::*;
use proptest::prelude::*;
use replay_engine::topology::Topology;

impl BlockRule {
    /// Chooses a block as [`block`](Self::block) does, by a scan that counts the idle nodes of each block anew.
    pub(super) fn plain_block(
        &self,
        nodes: u32,
        geometry: Geometry,
        within: Within,
        idle: &[u32],
    ) -> Option<usize> {
        let range = |first: usize, blocks: usize| first..(first + blocks).min(self.count);
        let sum = |blocks: std::ops::Range<usize>| idle[blocks].iter().sum::<u32>();
        let candidates = match within {
            Within::Group(first, per_group) => range(first, per_group),
            Within::Machine | Within::FullGroups(..) => 0..self.count,
        };
        let mut best: Option<(u32, usize)> = None;
        for first in candidates.step_by(geometry.per_block) {
            let block = range(first, geometry.per_block);
            let all = sum(block.clone());
            let group_holds = match within {
                Within::FullGroups(per_group, size) => {
                    sum(range(first / per_group * per_group, per_group)) >= size
                }
                Within::Machine | Within::Group(..) => true,
            };
            let holds = geometry.reach(&idle[block], all, &mut Vec::new()) >= nodes;
            if all >= nodes && group_holds && holds && best.is_none_or(|best| all <= best.0) {
                best = Some((all, first));
            }
        }
        best.map(|best| best.1)
    }
}

/// Returns the node that [`lowest`] returns, from a list of all taken nodes.
pub(super) fn plain_lowest(free: &FreeNodes, work: &mut Work, from: NodeId) -> Option<NodeId> {
    let mut nodes = Vec::new();
    extend_from_taken(free, work, &mut nodes);
    nodes.into_iter().filter(|&node| node >= from).min()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A placement consists of distinct free nodes. Its searches agree with the plain searches.
    #[test]
    fn searches_agree_with_plain_searches(
        busy in proptest::collection::vec(0..4u32, 144),
        machine in proptest::sample::select(vec![
            "block[4,16]:4x4", "block[4,16]:6x4", "block[4,8,16]:8x4", "block:8x4", "block[18,72]:8x18",
        ]),
        (size, segment) in (2..100u32, proptest::option::of(2..20u32)),
        (spread, consolidate) in any::<(bool, bool)>(),
    ) {
        let machine: Topology = machine.parse().expect("a machine");
        let machine = machine.hierarchy().expect("blocks");
        let nodes = (0..machine.processors() as u32).filter(|&node| busy[node as usize] > 0);
        let mut free = FreeNodes::of(machine, nodes.map(NodeId));
        let options = BlockOptions { segment, spread, consolidate, lenient: true };
        let mut rule = BlockRule::new(machine.blocks().expect("blocks"), options);
        let mut chosen = Vec::new();
        if rule.place(&mut free, size, &mut chosen).is_ok() {
            let distinct: std::collections::BTreeSet<NodeId> = chosen.iter().copied().collect();
            prop_assert_eq!((chosen.len(), distinct.len()), (size as usize, size as usize));
            prop_assert!(chosen.iter().all(|&node| free.contains(node)));
        }
    }

    /// Nodes are removed and added in any order.
    #[test]
    fn counts_follow_removed_and_added_nodes(
        order in Just((0..144).map(NodeId).collect::<Vec<_>>()).prop_shuffle(),
        (taken, given) in (0..=144usize, 0..=144usize),
    ) {
        let machine: Topology = "block[18,72]:8x18".parse().expect("a machine");
        let machine = machine.hierarchy().expect("blocks");
        let (taken, given) = (taken.max(given), taken.min(given));
        let mut free = FreeNodes::all(machine);
        free.take(&order[..taken]);
        free.give(&order[..given]);
        let mut left: Vec<NodeId> = [&order[..given], &order[taken..]].concat();
        left.sort_unstable();
        let mut below = vec![0; machine.units().len()];
        for &node in &left {
            let mut at = Some(machine.leaf(node));
            while let Some(unit) = at {
                below[unit as usize] += 1;
                at = machine.units()[unit as usize].parent;
            }
        }
        prop_assert_eq!(free.iter().collect::<Vec<_>>(), left.clone());
        prop_assert_eq!(free.below(), below);
        prop_assert_eq!(free.count() as usize, left.len());
        prop_assert_eq!(free.first(), left.first().copied());
    }
}
