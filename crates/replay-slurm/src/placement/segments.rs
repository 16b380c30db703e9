//! Placement of requests that consist of several equal segments, and of requests with required nodes.
//!
//! A request for n nodes in segments of g nodes gets n / g placements, each of g nodes. The placements are selected one
//! after the other; each selection treats the previous placements as busy. If there is no place for a segment, a node
//! of the chosen places is removed from the machine, and the selection restarts. The selection of one placement after
//! the other is a heuristic, which can fail although a solution exists. A request may therefore demand an exact search.
//! The exact search takes the first set of disjoint places, in the order of candidates, if there is such a set.

use std::sync::Arc;

use std::collections::HashSet;

use crate::placement::decide::{Decider, Pick, Query};
use crate::placement::free_anchors::FreeAnchors;
use crate::placement::torus::{Cells, Layout};

/// The request of a job.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Number of nodes, at least one.
    pub size: u32,
    /// Number of nodes of each segment; `None` if the job has no segments.
    pub segment: Option<u32>,
    /// For each torus, its required nodes; `None` if no nodes are required.
    pub required: Option<Vec<Cells>>,
    /// Whether to search all sets of disjoint places if selecting one place after the other fails.
    pub exact: bool,
}

/// Reason why a job gets no nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// The job never starts.
    BadConfiguration(Contradiction),
    /// A required node is not free.
    RequiredBusy,
    /// A required node belongs to a torus without placements.
    RequiredElsewhere,
    /// There are more required nodes than requested nodes.
    RequiredTooMany,
    /// There is no place for the job, or no place for its first segment.
    NoFit,
    /// There is no place for a later segment.
    SegmentNoFit,
}

/// Reason why a job never starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Contradiction {
    /// The requested size is not a multiple of the segment.
    #[error("n={0} is not a multiple of segment={1}")]
    NotAMultiple(u32, u32),
    /// No placement has the requested size, or the size of a segment.
    #[error("no placement of the machine has {0} nodes")]
    NoSuchSize(u32),
    /// Some nodes of a job with several segments are required, but not all.
    #[error("{0} nodes are required, but a job with segments needs {1}, all its nodes, or none")]
    SomeRequired(u32, u32),
}

impl Denied {
    /// Returns the code used in files.
    pub const fn word(self) -> &'static str {
        match self {
            Denied::BadConfiguration(_) => "bad_config",
            Denied::RequiredBusy => "req_not_avail",
            Denied::RequiredElsewhere => "req_no_match",
            Denied::RequiredTooMany => "req_too_many",
            Denied::NoFit => "no_fit",
            Denied::SegmentNoFit => "segment_no_fit",
        }
    }
}

/// Returns the places of a request on a [machine](Decider::machine), one per segment.
///
/// # Errors
/// [`Denied`] if there are no places.
pub fn place(
    decider: &Decider,
    layout: &Layout,
    machine: &mut [FreeAnchors],
    request: &Request,
    weights: Option<&[u64]>,
) -> Result<Vec<Pick>, Denied> {
    let size = request.size;
    let part = request.segment.filter(|&segment| segment <= size).unwrap_or(size);
    if part == 0 || !size.is_multiple_of(part) {
        return Err(Denied::BadConfiguration(Contradiction::NotAMultiple(size, part)));
    }
    if !Decider::has_size(layout, part) {
        return Err(Denied::BadConfiguration(Contradiction::NoSuchSize(part)));
    }
    let parts = size / part;
    let required = request.required.as_deref();
    let mut needed = 0;
    if let Some(required) = required {
        needed = required.iter().map(Cells::len).sum();
        check(layout, machine, required)?;
        if needed > size {
            return Err(Denied::RequiredTooMany);
        }
    }
    let query = Query { size: part, required: None, weights };
    let several = |machine: Vec<FreeAnchors>| match request.exact {
        true => exact(decider, layout, machine, parts, &query),
        false => retried(decider, layout, machine, parts, &query),
    };
    match required.filter(|_| needed > 0) {
        required if parts == 1 => {
            let query = Query { required, ..query };
            decider.decide(layout, machine, &query).map(|pick| vec![pick]).ok_or(Denied::NoFit)
        }
        None => several(machine.to_vec()),
        Some(_) if needed < size => {
            Err(Denied::BadConfiguration(Contradiction::SomeRequired(needed, size)))
        }
        // All nodes of the job are required, so no other nodes can be chosen.
        Some(required) => several(decider.machine(layout, required.to_vec())),
    }
}

/// Checks whether the required nodes are available.
fn check(layout: &Layout, machine: &[FreeAnchors], required: &[Cells]) -> Result<(), Denied> {
    let all = || required.iter().zip(machine).zip(layout.toruses());
    if all().any(|((required, open), _)| required.iter().any(|cell| !open.free().contains(cell))) {
        return Err(Denied::RequiredBusy);
    }
    let unplaced = |((required, _), torus): ((&Cells, &FreeAnchors), &Arc<super::Torus>)| {
        torus.placements().is_empty() && !required.is_empty()
    };
    if all().any(unplaced) {
        return Err(Denied::RequiredElsewhere);
    }
    Ok(())
}

/// Places all segments. After each failure, one more node is removed and the selection is repeated, until no node can
/// be removed.
fn retried(
    decider: &Decider,
    layout: &Layout,
    mut machine: Vec<FreeAnchors>,
    parts: u32,
    query: &Query<'_>,
) -> Result<Vec<Pick>, Denied> {
    let mut first = None;
    // The cursor over the free nodes only moves forward.
    let begun: Vec<Cells> = machine.iter().map(|open| open.free().clone()).collect();
    let mut cursor = layout.nodes_of(&begun).peekable();
    loop {
        let (picks, why) = match attempt(decider, layout, &machine, parts, query) {
            Ok(picks) => return Ok(picks),
            Err(failed) => failed,
        };
        let why = *first.get_or_insert(why);
        let overlaps = |pick: &Pick| pick.placement(layout).overlaps;
        let count: u32 = machine.iter().map(FreeAnchors::count).sum();
        if !picks.iter().any(overlaps) || count <= parts * query.size {
            return Err(why);
        }
        let mut chosen = layout.none();
        for pick in &picks {
            chosen[pick.torus].insert_all(pick.mask(layout));
        }
        let Some(&from) = cursor.peek() else { return Err(why) };
        let Some(node) = layout.nodes_of(&chosen).find(|&node| node >= from) else {
            return Err(why);
        };
        let (torus, cell) = layout.place(node);
        machine[torus].take_cells(&layout.toruses()[torus], [cell]);
        if node == from {
            cursor.next();
        }
    }
}

/// Places one segment after the other. On failure, returns the places found so far, and the reason why the next segment
/// has no place.
fn attempt(
    decider: &Decider,
    layout: &Layout,
    machine: &[FreeAnchors],
    parts: u32,
    query: &Query<'_>,
) -> Result<Vec<Pick>, (Vec<Pick>, Denied)> {
    let mut machine = machine.to_vec();
    let mut picks = Vec::new();
    for part in 0..parts {
        let Some(pick) = decider.decide(layout, &mut machine, query) else {
            let why = if part == 0 { Denied::NoFit } else { Denied::SegmentNoFit };
            return Err((picks, why));
        };
        machine[pick.torus].take(&layout.toruses()[pick.torus], pick.placement, pick.anchor);
        picks.push(pick);
    }
    Ok(picks)
}

/// Places all segments one after the other. If a segment has no place, takes the first set of disjoint places in the
/// order of candidates.
fn exact(
    decider: &Decider,
    layout: &Layout,
    mut machine: Vec<FreeAnchors>,
    parts: u32,
    query: &Query<'_>,
) -> Result<Vec<Pick>, Denied> {
    let why = match attempt(decider, layout, &machine, parts, query) {
        Ok(picks) => return Ok(picks),
        Err((_, why)) => why,
    };
    let mut candidates: Vec<Pick> = Vec::new();
    for (at, (torus, open)) in layout.toruses().iter().zip(&mut machine).enumerate() {
        for (index, placement) in torus.placements().iter().enumerate() {
            if placement.size != query.size {
                continue;
            }
            open.compute(torus, index);
            let whole = open.anchors(torus, index).filter(|&anchor| placement.is_whole(anchor));
            let pick = |anchor| Pick { torus: at, placement: index, anchor, cost: 0 };
            candidates.extend(whole.map(pick));
        }
    }
    let mut free: Vec<Cells> = machine.iter().map(|open| open.free().clone()).collect();
    let mut packed =
        Packing { layout, candidates: &candidates, size: query.size, dead: HashSet::new() };
    let mut chosen = Vec::new();
    match packed.extend(0, parts, &mut free, &mut chosen) {
        true => Ok(chosen.into_iter().map(|at: usize| candidates[at]).collect()),
        false => Err(why),
    }
}

/// A depth-first search for disjoint places.
struct Packing<'a> {
    layout: &'a Layout,
    /// Candidates in order.
    candidates: &'a [Pick],
    size: u32,
    /// States without a solution. A state consists of the next candidate, the number of missing places, and the free
    /// cells that later candidates can use.
    dead: HashSet<(usize, u32, Vec<Cells>)>,
}

impl Packing<'_> {
    /// Searches for `wanted` more disjoint candidates from candidate `next` on, and takes the first solution.
    fn extend(
        &mut self,
        next: usize,
        wanted: u32,
        free: &mut Vec<Cells>,
        chosen: &mut Vec<usize>,
    ) -> bool {
        if wanted == 0 {
            return true;
        }
        let mask = |pick: &Pick| pick.mask(self.layout);
        // The result depends only on the free cells that later candidates can use.
        let left: Vec<usize> = (next..self.candidates.len())
            .filter(|&at| free[self.candidates[at].torus].holds(mask(&self.candidates[at])))
            .collect();
        let mut within = self.layout.none();
        for &at in &left {
            within[self.candidates[at].torus].insert_all(mask(&self.candidates[at]));
        }
        let room: u64 = within.iter().map(|cells| u64::from(cells.len())).sum();
        if (left.len() as u64) < u64::from(wanted)
            || room < u64::from(wanted) * u64::from(self.size)
        {
            return false;
        }
        let state = (left[0], wanted, within);
        if self.dead.contains(&state) {
            return false;
        }
        for &at in &left {
            let pick = self.candidates[at];
            free[pick.torus].remove_all(pick.mask(self.layout));
            chosen.push(at);
            if self.extend(at + 1, wanted - 1, free, chosen) {
                return true;
            }
            chosen.pop();
            free[pick.torus].insert_all(pick.mask(self.layout));
        }
        if self.dead.len() < MAX_DEAD_STATES {
            self.dead.insert(state);
        }
        false
    }
}

/// Maximum number of stored states.
const MAX_DEAD_STATES: usize = 1 << 16;
