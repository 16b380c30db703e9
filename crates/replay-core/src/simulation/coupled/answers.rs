//! What the allocator has answered on the machine as it is.
//!
//! A backfilling scheduler asks for every waiting job, and many are alike. A request that was answered
//! on the same free processors is answered as before. And where the allocator
//! [says so](Allocator::refusal_covers), a refused request speaks for others: what has no place for a
//! box has none for a larger one, and still has none when further jobs have started.

use std::collections::HashMap;

use crate::allocator::{Allocator, Refusal, Request};

/// Size and shape of a request.
type Asked = (u32, Option<[u16; 3]>);

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It was refused.
    Refused(Refusal),
    /// It would take of the place that is kept for the head of the queue.
    Takes,
}

/// What is known without asking.
#[derive(Debug, Default)]
pub struct Answers {
    /// On these free processors, by size and shape.
    same: HashMap<Asked, Answer>,
    /// Requests without a place since processors came free last, none of which another one covers; each
    /// covers itself.
    standing: Vec<Request>,
}

impl Answers {
    /// The answer to a request where so many processors are `free`, if it is known. Whoever does not
    /// `spare` the kept place may take of it.
    pub fn known(
        &mut self,
        request: Request,
        free: usize,
        spares: bool,
        allocator: &mut dyn Allocator,
    ) -> Option<Answer> {
        let asked = (request.size, request.shape);
        if let Some(&answer) = self.same.get(&asked) {
            return Some(answer).filter(|&answer| spares || answer != Answer::Takes);
        }
        let covered = self.standing.iter().any(|&one| allocator.refusal_covers(one, request));
        let answer = covered.then(|| {
            let too_few = allocator.bounds(request).max_processors > free as u64;
            Answer::Refused(if too_few { Refusal::TooFewFree } else { Refusal::Fragmented })
        })?;
        self.same.insert(asked, answer);
        Some(answer)
    }

    /// A request was refused.
    pub fn refused(&mut self, request: Request, refusal: Refusal, allocator: &mut dyn Allocator) {
        // Another job of this size may have waited longer.
        if let Refusal::Postponed { .. } = refusal {
            return;
        }
        self.same.insert((request.size, request.shape), Answer::Refused(refusal));
        if refusal == Refusal::Fragmented && allocator.refusal_covers(request, request) {
            self.standing.retain(|&one| !allocator.refusal_covers(request, one));
            self.standing.push(request);
        }
    }

    /// A request would have taken of the kept place. The allocator
    /// [chooses by free processors](crate::allocator::Capabilities::chooses_by_free).
    pub fn took(&mut self, request: Request) {
        self.same.insert((request.size, request.shape), Answer::Takes);
    }

    /// Fewer processors are free than before.
    pub fn taken(&mut self) {
        self.same.clear();
    }

    /// Processors came free, or the kept place is another.
    pub fn freed(&mut self) {
        self.same.clear();
        self.standing.clear();
    }
}
