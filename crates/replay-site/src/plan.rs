//! The plan of a pass of the backfill: which nodes are free when (`backfill.c:_add_reservation`).
//!
//! Running jobs are not in the plan. The order in which slots are split and joined matters, because the backfill tries
//! the ends of slots as later starts.

use crate::node_set::NodeSet;

/// A span of time with the nodes that no job in the plan holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// First second.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Free nodes.
    pub free: NodeSet,
}

/// A list of slots in order of time, without gaps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    slots: Vec<Slot>,
    /// Number of slots that were created. Slots that are joined stay in this number.
    created: usize,
}

impl Plan {
    /// Creates a plan in which `free` is free from `begin` to `end`.
    pub fn new(begin: i64, end: i64, free: NodeSet) -> Self {
        Self { slots: vec![Slot { begin, end, free }], created: 1 }
    }

    /// Returns the slots in order of time.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the number of slots that were created.
    pub fn created(&self) -> usize {
        self.created
    }

    /// Returns the begin of the plan.
    pub fn begin(&self) -> i64 {
        self.slots[0].begin
    }

    /// Returns the end of the plan.
    pub fn end(&self) -> i64 {
        self.slots[self.slots.len() - 1].end
    }

    /// Returns whether some of `nodes` are not free between `begin` and `end`.
    pub fn clashes(&self, nodes: &NodeSet, begin: i64, end: i64) -> bool {
        let overlapping = self.slots.iter().filter(|slot| slot.end > begin && slot.begin < end);
        overlapping.into_iter().any(|slot| !nodes.is_subset(&slot.free))
    }

    /// Splits a slot at `at`, which must not be before the slot or after its end.
    fn split(&mut self, slot: usize, at: i64) {
        let mut after = self.slots[slot].clone();
        self.slots[slot].end = at;
        after.begin = at;
        self.slots.insert(slot + 1, after);
        self.created += 1;
    }

    /// Takes nodes from `begin` to `end`, at least for `resolution` seconds. What is before or after the plan is cut.
    ///
    /// An entry at the begin of the plan leaves an empty slot before it, once in a plan. Afterwards at most one pair of
    /// neighbours with equal nodes is joined.
    pub fn enter(&mut self, nodes: &NodeSet, begin: i64, end: i64, resolution: i64) {
        let begin = begin.max(self.begin());
        let end = end.max(begin + resolution);
        let Some(before) = self.slots.iter().position(|slot| slot.end >= begin) else { return };
        if self.slots[before].end > begin {
            self.split(before, begin);
        }
        let mut after = self.slots.len();
        for slot in before + 1.. {
            if slot >= self.slots.len() {
                break;
            }
            if end < self.slots[slot].end {
                self.split(slot, end);
            }
            self.slots[slot].free.subtract(nodes);
            if end == self.slots[slot].end {
                after = slot + 1;
                break;
            }
        }
        // Pairs from the slot before the one that the entry follows to the slot after the entry.
        let pairs = before.saturating_sub(1)..after.min(self.slots.len() - 1);
        let equal = pairs.into_iter().find(|&at| self.slots[at].free == self.slots[at + 1].free);
        if let Some(at) = equal {
            self.slots[at].end = self.slots[at + 1].end;
            self.slots.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_engine::topology::NodeId;

    fn set(nodes: &[u32]) -> NodeSet {
        NodeSet::of(4, nodes.iter().map(|&node| NodeId(node)))
    }

    fn spans(plan: &Plan) -> Vec<(i64, i64, String)> {
        plan.slots().iter().map(|slot| (slot.begin, slot.end, slot.free.ranges())).collect()
    }

    #[test]
    fn entries_split_slots_and_one_pair_is_joined() {
        let mut plan = Plan::new(0, 1000, NodeSet::all(4));
        plan.enter(&set(&[0, 1]), 300, 600, 60);
        let all = |spans: &[(i64, i64, &str)]| -> Vec<(i64, i64, String)> {
            spans.iter().map(|&(a, b, text)| (a, b, text.to_string())).collect()
        };
        assert_eq!(spans(&plan), all(&[(0, 300, "0-3"), (300, 600, "2-3"), (600, 1000, "0-3")]));
        assert_eq!(plan.created(), 3);
        // The end of the plan cuts an entry, and a short entry has the length of the resolution.
        plan.enter(&set(&[3]), 900, 5000, 60);
        plan.enter(&set(&[2]), 0, 10, 60);
        let expected = [
            (0, 0, "0-3"),
            (0, 60, "0-1,3"),
            (60, 300, "0-3"),
            (300, 600, "2-3"),
            (600, 900, "0-3"),
            (900, 1000, "0-2"),
        ];
        assert_eq!(spans(&plan), all(&expected));
        assert_eq!(plan.created(), 6);
        // Two pairs become equal; only the first is joined, and the number of slots stays.
        plan.enter(&set(&[0, 1]), 60, 300, 60);
        assert_eq!(spans(&plan)[2], (60, 600, "2-3".to_string()));
        assert_eq!(plan.created(), 6);
        assert!(plan.clashes(&set(&[0]), 599, 601) && !plan.clashes(&set(&[0]), 600, 900));
        assert!(!plan.clashes(&set(&[3]), 1000, 2000));
    }
}
