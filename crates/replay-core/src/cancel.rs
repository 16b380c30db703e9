//! Ending a computation early.
//!
//! A [`CancelToken`] is a flag that somebody raises (Ctrl-C, a time that is up) and that every long
//! loop looks at: the simulations at each decision, an allocator inside a decision that can
//! itself take long ([`RunSetup::stop`](crate::allocator::RunSetup::stop)), the
//! network every few milliseconds. What it ends fails with [`Cancelled`]. One look costs a
//! load, and a second after the flag is raised everything has ended.
//!
//! ```
//! use replay_core::cancel::{CancelToken, Cancelled};
//! use std::time::{Duration, Instant};
//!
//! let all = CancelToken::new();
//! // A part of the work with a time of its own; it ends with the whole, too.
//! let part = all.until(Instant::now() + Duration::from_secs(3600));
//! assert!(!part.is_raised());
//! all.raise();
//! assert_eq!(part.check(), Err(Cancelled));
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that ends a computation. Clones are one flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: AtomicBool,
    /// What raises this flag by itself.
    bounds: Option<Bounds>,
}

/// When a flag is raised by itself.
#[derive(Debug)]
struct Bounds {
    above: CancelToken,
    deadline: Instant,
}

/// A computation was ended by its [`CancelToken`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Cancelled;

impl CancelToken {
    /// Whether a deadline raises it, so that work that is not whole by then is lost.
    pub fn is_timed(&self) -> bool {
        self.0.bounds.is_some()
    }

    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag of its own, which is raised with this one too, and when the time has come.
    pub fn until(&self, deadline: Instant) -> Self {
        let bounds = Some(Bounds { above: self.clone(), deadline });
        Self(Arc::new(Flag { raised: AtomicBool::new(false), bounds }))
    }

    /// Ends what looks at it. It cannot be lowered.
    pub fn raise(&self) {
        self.0.raised.store(true, Ordering::Relaxed);
    }

    /// Whether to end.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed) || self.0.bounds.is_some() && self.is_bounded()
    }

    /// Looks at the clocks and at the flag above.
    #[cold]
    fn is_bounded(&self) -> bool {
        let over =
            |Bounds { above, deadline }: &Bounds| above.is_raised() || Instant::now() >= *deadline;
        let raised = self.0.bounds.as_ref().is_some_and(over);
        if raised {
            self.raise();
        }
        raised
    }

    /// To be asked at every step of a long loop.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is raised.
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_raised() { Err(Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_part_ends_with_the_whole_and_not_the_other_way_round() {
        let far = Instant::now() + Duration::from_secs(3600);
        let whole = CancelToken::new();
        let [one, other] = [whole.until(far), whole.until(far)];
        let deep = one.until(far);
        one.raise();
        assert!(deep.is_raised() && !other.is_raised() && !whole.is_raised());
        whole.clone().raise();
        assert!(other.is_raised());
    }

    #[test]
    fn a_time_that_has_come_raises_the_flag() {
        let whole = CancelToken::new();
        assert_eq!(whole.until(Instant::now()).check(), Err(Cancelled));
        assert_eq!(whole.check(), Ok(()));
    }
}
