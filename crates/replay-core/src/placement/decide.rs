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
//!
//! Without weights that comes to one orientation of each torus, the first that fits, and in it to the
//! first anchor of least cost; no cost is below 0.

use std::sync::Arc;

use super::near::Near;
use super::open::Open;
use super::torus::{Cells, Layout, Torus, cells_of};

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
    tables: Arc<[Table]>,
}

/// What is known of a torus for good.
#[derive(Debug)]
struct Table {
    /// By placement: the first of a larger size.
    next: Vec<Option<usize>>,
    near: Arc<Near>,
}

impl Decider {
    /// Prepares decisions on this layout.
    pub fn new(layout: &Layout) -> Self {
        let table = |torus: &Arc<Torus>| {
            let placements = torus.placements();
            let larger = |size| placements.iter().position(|other| other.size > size);
            let next = placements.iter().map(|one| larger(one.size)).collect();
            Table { next, near: Arc::new(Near::new(torus)) }
        };
        Self { tables: layout.toruses().iter().map(table).collect() }
    }

    /// A machine with these free cells, by torus.
    pub fn machine(&self, layout: &Layout, free: Vec<Cells>) -> Vec<Open> {
        let all = layout.toruses().iter().zip(self.tables.iter()).zip(free);
        all.map(|((torus, table), free)| Open::new(torus, table.near.clone(), free, false))
            .collect()
    }

    /// Whether some placement has this size.
    pub fn has_size(layout: &Layout, size: u32) -> bool {
        let mut placements = layout.toruses().iter().flat_map(|torus| torus.placements());
        placements.any(|placement| placement.size == size)
    }

    /// The best place on a [machine](Self::machine); `None` if there is none.
    pub fn decide(&self, layout: &Layout, machine: &mut [Open], ask: &Ask<'_>) -> Option<Pick> {
        let needed: u32 = ask.required.map_or(0, |all| all.iter().map(Cells::len).sum());
        let mut best: Option<(Pick, u64, u32)> = None;
        for (at, (torus, open)) in layout.toruses().iter().zip(machine).enumerate() {
            let count = open.count();
            let required = ask.required.map(|required| &required[at]);
            // Whoever is in another torus cannot be in a box of this one.
            if count < ask.size || required.is_some_and(|required| required.len() < needed) {
                continue;
            }
            let begin = torus.placements().partition_point(|one| one.size < ask.size);
            let placements = torus.placements()[begin..].iter().enumerate();
            for (index, placement) in placements.take_while(|(_, one)| one.size == ask.size) {
                let index = begin + index;
                open.learn(torus, index);
                let next = self.tables[at].next[index];
                if let Some(next) = next {
                    open.learn(torus, next);
                }
                let mut fits = false;
                for anchor in open.anchors(torus, index) {
                    let mask = placement.mask(anchor);
                    let contains = |required: &Cells| required.common(mask) == needed;
                    if !placement.is_whole(anchor) || !required.is_none_or(contains) {
                        continue;
                    }
                    fits = true;
                    let weight = ask.weights.map_or(0, |weights| {
                        let nodes = cells_of(mask).filter_map(|cell| layout.node(at, cell));
                        nodes.map(|node| weights[node as usize]).max().unwrap_or(0)
                    });
                    let place = open.near().place(index, placement, anchor);
                    let cost = next.map_or(0, |next| open.count_near(torus, place, next)).into();
                    let pick = Pick { torus: at, placement: index, anchor, cost };
                    let better = best.is_none_or(|(other, heaviest, fewest)| {
                        let same = other.torus == at && other.placement == index;
                        let costs = if same { cost.cmp(&other.cost) } else { 0.cmp(&0) };
                        weight.cmp(&heaviest).then(costs).then(count.cmp(&fewest)).is_lt()
                    });
                    if better {
                        best = Some((pick, weight, count));
                    }
                    if cost == 0 && ask.weights.is_none() {
                        break;
                    }
                }
                if fits && ask.weights.is_none() {
                    break;
                }
            }
        }
        best.map(|(pick, ..)| pick)
    }

    /// What [`decide`](Self::decide) compares in a torus, number `at`, where nothing is weighed or required: the free anchors
    /// of the first placement of a size that fits, as placement and anchor, each with its cost. The first of the least wins.
    pub fn costs(
        &self,
        at: usize,
        torus: &Torus,
        open: &mut Open,
        size: u32,
    ) -> Vec<([usize; 2], u64)> {
        let begin = torus.placements().partition_point(|one| one.size < size);
        let of_size = torus.placements()[begin..].iter().take_while(|one| one.size == size);
        for (index, placement) in (begin..).zip(of_size) {
            open.learn(torus, index);
            let next = self.tables.get(at).and_then(|table| table.next[index]);
            if let Some(next) = next {
                open.learn(torus, next);
            }
            let whole = open.anchors(torus, index).filter(|&anchor| placement.is_whole(anchor));
            let cost = |anchor: usize| {
                let place = open.near().place(index, placement, anchor);
                next.map_or(0, |next| open.count_near(torus, place, next)).into()
            };
            let costs: Vec<_> = whole.map(|anchor| ([index, anchor], cost(anchor))).collect();
            if !costs.is_empty() {
                return costs;
            }
        }
        Vec::new()
    }
}
