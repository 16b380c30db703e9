//! A search tree for a long queue.

use super::corners::Corners;
use super::{Bounds, Until, Waiting};

/// Number of slots per leaf.
const LEAF: usize = 16;

/// Slots with jobs in queue order, and a binary tree over the slots. Each node of the tree stores
/// lower bounds on the sizes and estimates of the jobs below it ([`Corners`]).
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Jobs in queue order; `None` if the job was removed.
    slots: Vec<Option<Waiting>>,
    /// The nodes of the tree. The root is at index 1. Node i has its children at 2i and 2i + 1. The leaves are the
    /// second half of the nodes, and each leaf covers [`LEAF`] slots. The bounds do not include refused jobs.
    nodes: Vec<Corners>,
    /// The first slot with a job.
    head: usize,
    len: usize,
    /// Slots of the jobs that were refused, for each [`Until`].
    refused: [Vec<usize>; 3],
}

impl Index {
    /// Returns the number of jobs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the jobs in queue order with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Waiting)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, waiting)| Some((slot, waiting.as_ref()?)))
    }

    /// Returns the first job and its slot.
    pub fn head(&self) -> Option<(usize, &Waiting)> {
        self.slots.get(self.head)?.as_ref().map(|waiting| (self.head, waiting))
    }

    /// Moves all jobs of a list, which must be in queue order, into the index.
    pub fn absorb(&mut self, list: &mut Vec<Waiting>) {
        let last = self.slots.iter().rev().find_map(|slot| slot.as_ref());
        let behind = last.zip(list.first()).is_some_and(|(last, first)| last.rank < first.rank);
        let room = self.nodes.len() / 2 * LEAF - self.slots.len();
        if behind && list.len() <= room {
            let from = self.slots.len();
            self.len += list.len();
            self.slots.extend(list.drain(..).map(Some));
            self.register_refused(from);
            (from / LEAF..self.slots.len().div_ceil(LEAF)).for_each(|leaf| self.update(leaf));
            return;
        }
        let mut jobs: Vec<Waiting> = self.slots.drain(..).flatten().collect();
        jobs.append(list);
        // The jobs form two sorted sequences.
        jobs.sort_by_key(|waiting| waiting.rank);
        self.len = jobs.len();
        self.head = 0;
        self.slots = jobs.into_iter().map(Some).collect();
        self.refused = Default::default();
        self.register_refused(0);
        // Allocate space for twice the number of jobs.
        let leaves = (2 * self.len).div_ceil(LEAF).next_power_of_two();
        self.nodes = vec![Corners::NONE; 2 * leaves];
        for leaf in 0..self.len.div_ceil(LEAF) {
            self.nodes[leaves + leaf] = self.leaf(leaf);
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.joined(node);
        }
    }

    /// Registers the refused jobs in slot `from` and all later slots.
    fn register_refused(&mut self, from: usize) {
        for (slot, waiting) in self.slots.iter().enumerate().skip(from) {
            if let Some(until) = waiting.and_then(|waiting| waiting.refused) {
                self.refused[until as usize].push(slot);
            }
        }
    }

    /// Computes the bounds of a leaf.
    fn leaf(&self, leaf: usize) -> Corners {
        let mut corners = Corners::NONE;
        let end = self.slots.len().min((leaf + 1) * LEAF);
        for waiting in self.slots[leaf * LEAF..end].iter().flatten() {
            if waiting.refused.is_none() {
                corners.add(waiting.job.size, waiting.job.estimate);
            }
        }
        corners
    }

    fn joined(&self, node: usize) -> Corners {
        let mut corners = self.nodes[2 * node];
        corners.join(&self.nodes[2 * node + 1]);
        corners
    }

    /// Recomputes a leaf and its ancestors, up to the first ancestor that does not change.
    fn update(&mut self, leaf: usize) {
        let mut node = self.nodes.len() / 2 + leaf;
        let mut corners = self.leaf(leaf);
        while self.nodes[node] != corners {
            self.nodes[node] = corners;
            node /= 2;
            if node == 0 {
                break;
            }
            corners = self.joined(node);
        }
    }

    /// Returns the first job within `bounds` that was not refused, and its slot.
    pub fn first(&self, bounds: &Bounds) -> Option<(usize, &Waiting)> {
        if self.len == 0 { None } else { self.first_below(1, bounds) }
    }

    fn first_below(&self, node: usize, bounds: &Bounds) -> Option<(usize, &Waiting)> {
        // A job never takes fewer processors than it requests.
        let corners = &self.nodes[node];
        let possible = corners.reach(bounds.size, bounds.estimate)
            || corners.reach_size(bounds.size.min(bounds.extra));
        if !possible {
            return None;
        }
        let leaves = self.nodes.len() / 2;
        if node < leaves {
            let left = self.first_below(2 * node, bounds);
            return left.or_else(|| self.first_below(2 * node + 1, bounds));
        }
        let begin = (node - leaves) * LEAF;
        let end = self.slots.len().min(begin + LEAF);
        (begin..end).find_map(|slot| {
            let waiting = self.slots[slot].as_ref()?;
            bounds.admit(waiting).then_some((slot, waiting))
        })
    }

    /// Removes the job in a slot.
    pub fn remove(&mut self, slot: usize) {
        self.slots[slot] = None;
        self.len -= 1;
        if self.len == 0 {
            *self = Self::default();
            return;
        }
        while self.slots[self.head].is_none() {
            self.head += 1;
        }
        self.update(slot / LEAF);
    }

    /// Marks the job in a slot as refused.
    pub fn refuse(&mut self, slot: usize, until: Until) {
        if let Some(waiting) = &mut self.slots[slot] {
            waiting.refused = Some(until);
            self.refused[until as usize].push(slot);
            self.update(slot / LEAF);
        }
    }

    /// Makes refused jobs available again if they were refused until this event.
    pub fn retry(&mut self, until: Until) {
        while let Some(slot) = self.refused[until as usize].pop() {
            if let Some(waiting) = &mut self.slots[slot] {
                waiting.refused = None;
                self.update(slot / LEAF);
            }
        }
    }
}
