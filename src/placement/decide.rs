//! One placement for one request, by the rule of Slurm 26.05.
//!
//! Candidates are the anchors of the request's size without a hole whose nodes are all free and
//! that contain every required node: torus by torus, placement by placement, in the order of
//! anchors. The best so far is kept; a later one replaces it if it is better, and the first of
//! these that differs decides:
//!
//! 1. the largest weight of its nodes, smaller is better;
//! 2. its cost, smaller is better, but only between anchors of one placement of one torus;
//! 3. the free nodes of its torus, fewer is better.
//!
//! So between two orientations in one torus the first that fits wins, whatever it costs, and the
//! order of the scan is part of the rule. The *cost* of a candidate looks at the next larger
//! placement of its torus, one orientation: how many of its anchors share a node with the
//! candidate and are free.

use super::near::Near;
use super::torus::{Cells, Layout, cells_of};

/// The place of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pick {
    /// Of the layout.
    pub torus: usize,
    /// Of the torus, by size.
    pub placement: usize,
    /// Of the placement.
    pub anchor: usize,
    /// Anchors of the next larger placement that are free without it only.
    pub cost: u64,
}

/// What candidates are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Nodes.
    pub size: u32,
    /// Nodes that it must contain, by torus; `None` if any will do.
    pub required: Option<&'a [Cells]>,
    /// By node of the layout; `None` if all are equal.
    pub weights: Option<&'a [u64]>,
}

/// The rule at work on one layout.
#[derive(Clone, Debug)]
pub struct Decider {
    /// By torus and placement: the first of a larger size.
    next: Vec<Vec<Option<usize>>>,
    /// By torus and placement: the anchors of the next placement that share a cell.
    near: Vec<Vec<Near>>,
    /// Of the next placement's anchors whether they are free, as far as it is known.
    known: Vec<Option<bool>>,
}

impl Decider {
    /// Prepares decisions on this layout.
    pub fn new(layout: &Layout) -> Self {
        let mut decider = Self { next: Vec::new(), near: Vec::new(), known: Vec::new() };
        for torus in layout.toruses() {
            let placements = torus.placements();
            let larger = |size| placements.iter().position(|other| other.size > size);
            let next: Vec<_> = placements.iter().map(|one| larger(one.size)).collect();
            let near = placements.iter().zip(&next).map(|(one, &next)| {
                let next = next.map(|next| &placements[next]);
                next.map_or(Near::default(), |next| Near::new(torus.sides, one, next))
            });
            decider.near.push(near.collect());
            decider.next.push(next);
        }
        decider
    }

    /// Whether some placement has this size.
    pub fn has_size(layout: &Layout, size: u32) -> bool {
        let mut placements = layout.toruses().iter().flat_map(|torus| torus.placements());
        placements.any(|placement| placement.size == size)
    }

    /// The best place on a machine with these free cells; `None` if there is none.
    pub fn decide(&mut self, layout: &Layout, free: &[Cells], ask: &Ask<'_>) -> Option<Pick> {
        let needed: u32 = ask.required.map_or(0, |all| all.iter().map(Cells::len).sum());
        let mut best: Option<(Pick, u64, u32)> = None;
        for (at, (torus, free)) in layout.toruses().iter().zip(free).enumerate() {
            let count = free.len();
            let required = ask.required.map(|required| &required[at]);
            // Whoever is in another torus cannot be in a box of this one.
            if count < ask.size || required.is_some_and(|required| required.len() < needed) {
                continue;
            }
            let begin = torus.placements().partition_point(|one| one.size < ask.size);
            let placements = torus.placements()[begin..].iter().enumerate();
            for (index, placement) in placements.take_while(|(_, one)| one.size == ask.size) {
                let index = begin + index;
                self.known.clear();
                for anchor in 0..placement.anchors() {
                    let mask = placement.mask(anchor);
                    let contains = |required: &Cells| required.common(mask) == needed;
                    if !placement.is_whole(anchor)
                        || !free.holds(mask)
                        || !required.is_none_or(contains)
                    {
                        continue;
                    }
                    let weight = ask.weights.map_or(0, |weights| {
                        let nodes = cells_of(mask).filter_map(|cell| layout.node(at, cell));
                        nodes.map(|node| weights[node as usize]).max().unwrap_or(0)
                    });
                    let cost = self.cost(layout, free, [at, index, anchor]);
                    let pick = Pick { torus: at, placement: index, anchor, cost };
                    let better = best.is_none_or(|(other, heaviest, fewest)| {
                        let same = other.torus == at && other.placement == index;
                        let costs = if same { cost.cmp(&other.cost) } else { 0.cmp(&0) };
                        weight.cmp(&heaviest).then(costs).then(count.cmp(&fewest)).is_lt()
                    });
                    if better {
                        best = Some((pick, weight, count));
                    }
                }
            }
        }
        best.map(|(pick, ..)| pick)
    }

    /// Anchors of the next placement that share a node with a free one and are free themselves.
    fn cost(&mut self, layout: &Layout, free: &Cells, [at, index, anchor]: [usize; 3]) -> u64 {
        let Some(next) = self.next[at][index] else { return 0 };
        let placements = layout.toruses()[at].placements();
        let next = &placements[next];
        let Self { near, known, .. } = self;
        known.resize(next.anchors(), None);
        let near = near[at][index].of(placements[index].place(anchor));
        let mut is_free =
            |&near: &usize| *known[near].get_or_insert_with(|| free.holds(next.mask(near)));
        near.filter(|near| is_free(near)).count() as u64
    }
}
