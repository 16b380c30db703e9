//! Decisions of the allocator that can be derived from its earlier decisions.
//!
//! A backfilling scheduler tries every waiting job, and many requests are equal. Equal requests on the same free
//! processors get the same decision, so the second request needs no call. The refusal of a request also covers other
//! requests if the allocator [declares it](Allocator::refusal_covers). For example, if there is no place for a box,
//! there is no place for a larger box either, and starting further jobs creates no place.

use std::collections::HashMap;

use crate::allocator::{Allocator, Refusal, Request};

/// Size and shape of a request.
type Key = (u32, Option<[u16; 3]>);

/// The outcome of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CachedDecision {
    /// The request is refused.
    Refused(Refusal),
    /// The request would take processors of the place reserved for the head of the queue, and the head has no other place.
    TakesReserved,
}

/// Cached decisions.
#[derive(Debug, Default)]
pub struct DecisionCache {
    /// Decisions on the current free processors, for each size and shape.
    same: HashMap<Key, CachedDecision>,
    /// Requests that were refused since processors last became free. No stored request covers another stored request.
    standing: Vec<Request>,
}

impl DecisionCache {
    /// Returns the decision on a request on a machine with `free` free processors, if the decision is known. `spares`
    /// states whether the request must leave the reserved place free.
    pub fn known(
        &mut self,
        request: Request,
        free: usize,
        spares: bool,
        allocator: &mut dyn Allocator,
    ) -> Option<CachedDecision> {
        let key = (request.size, request.shape);
        if let Some(&answer) = self.same.get(&key) {
            return Some(answer)
                .filter(|&answer| spares || answer != CachedDecision::TakesReserved);
        }
        let covered = self.standing.iter().any(|&one| allocator.refusal_covers(one, request));
        let answer = covered.then(|| {
            let too_few = allocator.bounds(request).max_processors > free as u64;
            CachedDecision::Refused(if too_few { Refusal::TooFewFree } else { Refusal::Fragmented })
        })?;
        self.same.insert(key, answer);
        Some(answer)
    }

    /// Stores a refusal.
    pub fn refused(&mut self, request: Request, refusal: Refusal, allocator: &mut dyn Allocator) {
        // The refusal does not hold for another job of this size, because the other job may have waited longer.
        if let Refusal::Postponed { .. } = refusal {
            return;
        }
        self.same.insert((request.size, request.shape), CachedDecision::Refused(refusal));
        if refusal == Refusal::Fragmented && allocator.refusal_covers(request, request) {
            self.standing.retain(|&one| !allocator.refusal_covers(request, one));
            self.standing.push(request);
        }
    }

    /// Stores that a request would take processors of the reserved place. The allocator must [choose by free
    /// processors](crate::allocator::Capabilities::chooses_by_free).
    pub fn takes_reserved(&mut self, request: Request) {
        self.same.insert((request.size, request.shape), CachedDecision::TakesReserved);
    }

    /// Discards decisions that depend on the current free processors. Called after processors were taken or the
    /// reserved place changed.
    pub fn machine_changed(&mut self) {
        self.same.clear();
    }

    /// Discards all decisions. Called after processors became free.
    pub fn clear(&mut self) {
        self.same.clear();
        self.standing.clear();
    }
}
