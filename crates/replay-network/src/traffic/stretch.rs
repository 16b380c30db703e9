//! What lies between two barriers.

use super::pattern::Barrier;

/// Steps that are gone through without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The first step.
    pub first: u32,
    /// The first step no more.
    pub end: u32,
    /// Whether the first step follows the last, for ever.
    pub repeats: bool,
}

impl Stretch {
    /// The stretch that begins with `step` of a pattern with so many steps.
    pub fn from(step: u32, steps: u32, barrier: Barrier) -> Self {
        match barrier {
            Barrier::Step => Self { first: step, end: step + 1, repeats: false },
            Barrier::Iteration => Self { first: 0, end: steps, repeats: false },
            Barrier::None => Self { first: 0, end: steps, repeats: true },
        }
    }

    /// The step after one of its steps, if there is one.
    #[inline]
    pub fn after(self, step: u32) -> Option<u32> {
        match step + 1 {
            next if next < self.end => Some(next),
            _ if self.repeats => Some(self.first),
            _ => None,
        }
    }
}
