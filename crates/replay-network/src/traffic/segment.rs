//! The steps between two barriers.

use super::pattern::Barrier;

/// Consecutive steps without a barrier between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The first step.
    pub first: u32,
    /// Index of the step after the last step of the segment.
    pub end: u32,
    /// Whether the segment repeats without end: after the last step, the first step follows.
    pub repeats: bool,
}

impl Segment {
    /// Returns the segment that begins with `step` of a pattern with `steps` steps.
    pub fn from(step: u32, steps: u32, barrier: Barrier) -> Self {
        match barrier {
            Barrier::Step => Self { first: step, end: step + 1, repeats: false },
            Barrier::Iteration => Self { first: 0, end: steps, repeats: false },
            Barrier::None => Self { first: 0, end: steps, repeats: true },
        }
    }

    /// Returns the step that follows a step of the segment; `None` after the last step of a segment
    /// that does not repeat.
    #[inline]
    pub fn after(self, step: u32) -> Option<u32> {
        match step + 1 {
            next if next < self.end => Some(next),
            _ if self.repeats => Some(self.first),
            _ => None,
        }
    }
}
