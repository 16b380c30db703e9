//! Requests in several equal parts, and required nodes.
//!
//! A request of n nodes with segments of g gets n / g placements of g nodes, one after the other;
//! each sees those before it as busy. If one finds no place although another choice before it
//! might have left one, a node of what was chosen is taken away from the machine and all begins
//! anew. That is a heuristic: it fails on machines where a choice exists.

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
    match required.filter(|_| needed > 0) {
        required if parts == 1 => {
            let ask = Ask { required, ..ask };
            decider.decide(layout, machine, &ask).map(|pick| vec![pick]).ok_or(Denied::NoFit)
        }
        None => retried(decider, layout, machine.to_vec(), parts, &ask),
        Some(_) if needed < size => Err(Denied::BadConfiguration),
        // They are all that there is to choose from.
        Some(required) => {
            retried(decider, layout, decider.machine(layout, required.to_vec()), parts, &ask)
        }
    }
}

/// Whether required nodes can be had at all.
fn check(layout: &Layout, machine: &[Open], required: &[Cells]) -> Result<(), Denied> {
    let all = || required.iter().zip(machine).zip(layout.toruses());
    if all().any(|((required, open), _)| required.iter().any(|cell| !open.free().contains(cell))) {
        return Err(Denied::RequiredBusy);
    }
    let unplaced = |((required, _), torus): ((&Cells, &Open), &super::Torus)| {
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
