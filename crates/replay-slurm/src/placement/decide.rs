//! Selection of one placement for one request, by the rule of Slurm 26.05.
//!
//! A candidate is an anchor of the requested size. A candidate has no holes, all of its nodes are free, and it contains
//! every required node. Candidates are visited torus by torus, placement by placement, in the order of anchors. A
//! candidate replaces the best candidate so far if it is better by the first criterion in which the two candidates
//! differ:
//!
//! 1. the largest weight of the candidate's nodes: smaller is better;
//! 2. the candidate's cost: smaller is better, but only between anchors of one placement of one torus;
//! 3. the free nodes of the candidate's torus: fewer is better.
//!
//! If two orientations fit in one torus, the first orientation therefore wins, even if its cost is higher. The order of
//! the scan is part of the rule. The *cost* of a candidate is the number of free anchors that share a node with the
//! candidate. Only the anchors of the next larger placement of the same torus, in one orientation, are counted.
//!
//! Without weights, the rule selects the first orientation that fits in each torus. Within this orientation, the rule
//! selects the first anchor of minimum cost. Costs are not negative.

use std::sync::Arc;

use crate::placement::free_anchors::FreeAnchors;
use crate::placement::overlaps::Overlaps;
use crate::placement::torus::{Cells, Layout, Part, Placement, Torus, cells_of};

/// The position of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pick {
    /// Index of the torus in the layout.
    pub torus: usize,
    /// Index of the placement in the torus; placements are in order of size.
    pub placement: usize,
    /// Index of the anchor in the placement.
    pub anchor: usize,
    /// Number of free anchors of the next larger placement that the box blocks.
    pub cost: u64,
}

impl Pick {
    /// Returns the placement of the box.
    pub(crate) fn placement<'a>(&self, layout: &'a Layout) -> &'a Placement {
        &layout.toruses()[self.torus].placements()[self.placement]
    }

    /// Returns the cells of the box, as a mask of its torus.
    pub(crate) fn mask<'a>(&self, layout: &'a Layout) -> &'a [Part] {
        self.placement(layout).mask(self.anchor)
    }
}

/// The criteria for candidates.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Number of nodes.
    pub size: u32,
    /// For each torus, its required nodes; `None` if no nodes are required.
    pub required: Option<&'a [Cells]>,
    /// Weights by node of the layout; `None` if all weights are equal.
    pub weights: Option<&'a [u64]>,
}

/// The rule, prepared for one layout.
#[derive(Clone, Debug)]
pub struct Decider {
    tables: Arc<[Table]>,
}

/// Precomputed properties of a torus.
#[derive(Debug)]
struct Table {
    /// For each placement, the first placement of a larger size.
    next: Vec<Option<usize>>,
    overlaps: Arc<Overlaps>,
}

impl Decider {
    /// Precomputes the tables for decisions on a layout.
    pub fn new(layout: &Layout) -> Self {
        let table = |torus: &Arc<Torus>| {
            let placements = torus.placements();
            let larger = |size| placements.iter().position(|other| other.size > size);
            let next = placements.iter().map(|one| larger(one.size)).collect();
            Table { next, overlaps: Arc::new(Overlaps::new(torus)) }
        };
        Self { tables: layout.toruses().iter().map(table).collect() }
    }

    /// Creates a machine; `free` contains the free cells of each torus.
    pub fn machine(&self, layout: &Layout, free: Vec<Cells>) -> Vec<FreeAnchors> {
        let all = layout.toruses().iter().zip(self.tables.iter()).zip(free);
        all.map(|((torus, table), free)| {
            FreeAnchors::new(torus, table.overlaps.clone(), free, false)
        })
        .collect()
    }

    /// Returns whether any placement has this size.
    pub(crate) fn has_size(layout: &Layout, size: u32) -> bool {
        let mut placements = layout.toruses().iter().flat_map(|torus| torus.placements());
        placements.any(|placement| placement.size == size)
    }

    /// Returns the best position on a [machine](Self::machine); `None` if there is no candidate.
    pub fn decide(
        &self,
        layout: &Layout,
        machine: &mut [FreeAnchors],
        query: &Query<'_>,
    ) -> Option<Pick> {
        let needed: u32 = query.required.map_or(0, |all| all.iter().map(Cells::len).sum());
        let mut best: Option<(Pick, u64, u32)> = None;
        for (at, (torus, open)) in layout.toruses().iter().zip(machine).enumerate() {
            let count = open.count();
            let required = query.required.map(|required| &required[at]);
            // A box of this torus cannot contain required nodes of another torus.
            if count < query.size || required.is_some_and(|required| required.len() < needed) {
                continue;
            }
            let begin = torus.placements().partition_point(|one| one.size < query.size);
            let placements = torus.placements()[begin..].iter().enumerate();
            for (index, placement) in placements.take_while(|(_, one)| one.size == query.size) {
                let index = begin + index;
                open.compute(torus, index);
                let next = self.tables[at].next[index];
                if let Some(next) = next {
                    open.compute(torus, next);
                }
                let mut fits = false;
                for anchor in open.anchors(torus, index) {
                    let mask = placement.mask(anchor);
                    let contains = |required: &Cells| required.common(mask) == needed;
                    if !placement.is_whole(anchor) || !required.is_none_or(contains) {
                        continue;
                    }
                    fits = true;
                    let weight = query.weights.map_or(0, |weights| {
                        let nodes = cells_of(mask).filter_map(|cell| layout.node(at, cell));
                        nodes.map(|node| weights[node as usize]).max().unwrap_or(0)
                    });
                    let place = open.overlaps().place(index, placement, anchor);
                    let cost =
                        next.map_or(0, |next| open.count_overlapping(torus, place, next)).into();
                    let pick = Pick { torus: at, placement: index, anchor, cost };
                    let better = best.is_none_or(|(other, heaviest, fewest)| {
                        let same = other.torus == at && other.placement == index;
                        let costs = if same { cost.cmp(&other.cost) } else { 0.cmp(&0) };
                        weight.cmp(&heaviest).then(costs).then(count.cmp(&fewest)).is_lt()
                    });
                    if better {
                        best = Some((pick, weight, count));
                    }
                    if cost == 0 && query.weights.is_none() {
                        break;
                    }
                }
                if fits && query.weights.is_none() {
                    break;
                }
            }
        }
        best.map(|(pick, ..)| pick)
    }

    /// Returns the candidates that [`decide`](Self::decide) compares in torus `at` if there are no weights and no
    /// required nodes. The candidates are the free anchors of the first placement of this size that fits. Each
    /// candidate is given as placement, anchor and cost. The first candidate of minimum cost wins.
    pub fn costs(
        &self,
        at: usize,
        torus: &Torus,
        open: &mut FreeAnchors,
        size: u32,
    ) -> Vec<([usize; 2], u64)> {
        let begin = torus.placements().partition_point(|one| one.size < size);
        let of_size = torus.placements()[begin..].iter().take_while(|one| one.size == size);
        for (index, placement) in (begin..).zip(of_size) {
            open.compute(torus, index);
            let next = self.tables.get(at).and_then(|table| table.next[index]);
            if let Some(next) = next {
                open.compute(torus, next);
            }
            let whole = open.anchors(torus, index).filter(|&anchor| placement.is_whole(anchor));
            let cost = |anchor: usize| {
                let place = open.overlaps().place(index, placement, anchor);
                next.map_or(0, |next| open.count_overlapping(torus, place, next)).into()
            };
            let costs: Vec<_> = whole.map(|anchor| ([index, anchor], cost(anchor))).collect();
            if !costs.is_empty() {
                return costs;
            }
        }
        Vec::new()
    }
}
