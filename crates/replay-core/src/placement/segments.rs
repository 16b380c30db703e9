//! Requests in several equal parts, and required nodes.
//!
//! A request of n nodes with segments of g gets n / g placements of g nodes, one after the other;
//! each sees those before it as busy. If one finds no place although another choice before it
//! might have left one, a node of what was chosen is taken away from the machine and all begins
//! anew. That is a heuristic: it fails on machines where a choice exists. A request may ask for an exact search instead:
//! then the first set of disjoint places in the order of candidates is taken, if there is any.

use std::sync::Arc;

use std::collections::HashSet;

use super::decide::{Ask, Decider, Pick};
use super::open::Open;
use super::torus::{Cells, Layout};

/// What a job asks of the machine.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Nodes, at least one.
    pub size: u32,
    /// Nodes of each part.
    pub segment: Option<u32>,
    /// Nodes that it must get, by torus.
    pub required: Option<Vec<Cells>>,
    /// Whether all sets of places are searched where one place after the other does not do.
    pub exact: bool,
}

/// Why a job gets nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// No placement has this size, or the segments do not add up to it: it never starts.
    BadConfiguration,
    /// A node that it needs is not free.
    RequiredBusy,
    /// A node that it needs lies in a torus without placements.
    RequiredElsewhere,
    /// It needs more nodes by name than it asks for.
    RequiredTooMany,
    /// No place, or none for the first segment.
    NoFit,
    /// No place for a later segment.
    SegmentNoFit,
}

impl Denied {
    /// The word for it in files.
    pub const fn word(self) -> &'static str {
        match self {
            Denied::BadConfiguration => "bad_config",
            Denied::RequiredBusy => "req_not_avail",
            Denied::RequiredElsewhere => "req_no_match",
            Denied::RequiredTooMany => "req_too_many",
            Denied::NoFit => "no_fit",
            Denied::SegmentNoFit => "segment_no_fit",
        }
    }
}

/// The places of a request on a [machine](Decider::machine), one a segment.
///
/// # Errors
/// Why there are none.
pub fn place(
    decider: &Decider,
    layout: &Layout,
    machine: &mut [Open],
    request: &Request,
    weights: Option<&[u64]>,
) -> Result<Vec<Pick>, Denied> {
    let size = request.size;
    let part = request.segment.filter(|&segment| segment <= size).unwrap_or(size);
    if part == 0 || !size.is_multiple_of(part) || !Decider::has_size(layout, part) {
        return Err(Denied::BadConfiguration);
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
    let ask = Ask { size: part, required: None, weights };
    let several = |machine: Vec<Open>| match request.exact {
        true => exact(decider, layout, machine, parts, &ask),
        false => retried(decider, layout, machine, parts, &ask),
    };
    match required.filter(|_| needed > 0) {
        required if parts == 1 => {
            let ask = Ask { required, ..ask };
            decider.decide(layout, machine, &ask).map(|pick| vec![pick]).ok_or(Denied::NoFit)
        }
        None => several(machine.to_vec()),
        Some(_) if needed < size => Err(Denied::BadConfiguration),
        // They are all that there is to choose from.
        Some(required) => several(decider.machine(layout, required.to_vec())),
    }
}

/// Whether required nodes can be had at all.
fn check(layout: &Layout, machine: &[Open], required: &[Cells]) -> Result<(), Denied> {
    let all = || required.iter().zip(machine).zip(layout.toruses());
    if all().any(|((required, open), _)| required.iter().any(|cell| !open.free().contains(cell))) {
        return Err(Denied::RequiredBusy);
    }
    let unplaced = |((required, _), torus): ((&Cells, &Open), &Arc<super::Torus>)| {
        torus.placements().is_empty() && !required.is_empty()
    };
    if all().any(unplaced) {
        return Err(Denied::RequiredElsewhere);
    }
    Ok(())
}

/// Tries to place all parts, and again with a node less, until no node is left to be taken away.
fn retried(
    decider: &Decider,
    layout: &Layout,
    mut machine: Vec<Open>,
    parts: u32,
    ask: &Ask<'_>,
) -> Result<Vec<Pick>, Denied> {
    let mut first = None;
    // It never goes back.
    let begun: Vec<Cells> = machine.iter().map(|open| open.free().clone()).collect();
    let mut cursor = layout.nodes_of(&begun).peekable();
    loop {
        let (picks, why) = match attempt(decider, layout, &machine, parts, ask) {
            Ok(picks) => return Ok(picks),
            Err(failed) => failed,
        };
        let why = *first.get_or_insert(why);
        let overlaps =
            |pick: &Pick| layout.toruses()[pick.torus].placements()[pick.placement].overlaps;
        let count: u32 = machine.iter().map(Open::count).sum();
        if !picks.iter().any(overlaps) || count <= parts * ask.size {
            return Err(why);
        }
        let mut chosen = layout.none();
        for pick in &picks {
            let placement = &layout.toruses()[pick.torus].placements()[pick.placement];
            chosen[pick.torus].insert_all(placement.mask(pick.anchor));
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

/// Places one part after the other. On failure: those that had a place, and why the next has none.
fn attempt(
    decider: &Decider,
    layout: &Layout,
    machine: &[Open],
    parts: u32,
    ask: &Ask<'_>,
) -> Result<Vec<Pick>, (Vec<Pick>, Denied)> {
    let mut machine = machine.to_vec();
    let mut picks = Vec::new();
    for part in 0..parts {
        let Some(pick) = decider.decide(layout, &mut machine, ask) else {
            let why = if part == 0 { Denied::NoFit } else { Denied::SegmentNoFit };
            return Err((picks, why));
        };
        machine[pick.torus].take(&layout.toruses()[pick.torus], pick.placement, pick.anchor);
        picks.push(pick);
    }
    Ok(picks)
}

/// Places all parts one after the other; if that fails, the first set of disjoint places in the order of candidates.
fn exact(
    decider: &Decider,
    layout: &Layout,
    mut machine: Vec<Open>,
    parts: u32,
    ask: &Ask<'_>,
) -> Result<Vec<Pick>, Denied> {
    let why = match attempt(decider, layout, &machine, parts, ask) {
        Ok(picks) => return Ok(picks),
        Err((_, why)) => why,
    };
    let mut candidates: Vec<Pick> = Vec::new();
    for (at, (torus, open)) in layout.toruses().iter().zip(&mut machine).enumerate() {
        for (index, placement) in torus.placements().iter().enumerate() {
            if placement.size != ask.size {
                continue;
            }
            open.learn(torus, index);
            let whole = open.anchors(torus, index).filter(|&anchor| placement.is_whole(anchor));
            let pick = |anchor| Pick { torus: at, placement: index, anchor, cost: 0 };
            candidates.extend(whole.map(pick));
        }
    }
    let mut free: Vec<Cells> = machine.iter().map(|open| open.free().clone()).collect();
    let mut packed =
        Packing { layout, candidates: &candidates, size: ask.size, dead: HashSet::new() };
    let mut chosen = Vec::new();
    match packed.extend(0, parts, &mut free, &mut chosen) {
        true => Ok(chosen.into_iter().map(|at: usize| candidates[at]).collect()),
        false => Err(why),
    }
}

/// A search for disjoint places.
struct Packing<'a> {
    layout: &'a Layout,
    /// In order.
    candidates: &'a [Pick],
    size: u32,
    /// States without a way on: the next candidate, how many places are wanted, and the cells that later ones can have.
    dead: HashSet<(usize, u32, Vec<Cells>)>,
}

impl Packing<'_> {
    /// Chooses so many more of the candidates from `next` on, the first that will do.
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
        let mask = |pick: &Pick| {
            let placement = &self.layout.toruses()[pick.torus].placements()[pick.placement];
            placement.mask(pick.anchor)
        };
        // What later candidates can have of what is free is all that matters for them.
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
            let placement = &self.layout.toruses()[pick.torus].placements()[pick.placement];
            free[pick.torus].remove_all(placement.mask(pick.anchor));
            chosen.push(at);
            if self.extend(at + 1, wanted - 1, free, chosen) {
                return true;
            }
            chosen.pop();
            free[pick.torus].insert_all(placement.mask(pick.anchor));
        }
        if self.dead.len() < MOST_DEAD {
            self.dead.insert(state);
        }
        false
    }
}

/// So many states are remembered.
const MOST_DEAD: usize = 1 << 16;
