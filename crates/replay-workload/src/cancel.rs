//! Cancellation of long computations.
//!
//! A [`CancelToken`] is a flag that is raised by Ctrl-C or by a deadline. Every long loop checks the flag: a simulation
//! at each decision, an allocator also during a long decision, and the network every few milliseconds. A cancelled
//! computation fails with [`Cancelled`]. A check costs one memory load. All computations end within a second after the
//! flag is raised.
//!
//! ```
//! use replay_workload::cancel::{CancelToken, Cancelled};
//! use std::time::{Duration, Instant};
//!
//! let all = CancelToken::new();
//! // A part of the work with a separate deadline. The part also ends when `all` is raised.
//! let part = all.until(Instant::now() + Duration::from_secs(3600));
//! assert!(!part.is_raised());
//! all.raise();
//! assert_eq!(part.check(), Err(Cancelled));
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that cancels computations. All clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: AtomicBool,
    /// The parent token and the deadline; `None` if the token was not created by [`CancelToken::until`].
    bounds: Option<Bounds>,
}

#[derive(Debug)]
struct Bounds {
    parent: CancelToken,
    deadline: Instant,
}

/// Error that a cancelled computation returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Cancelled;

impl CancelToken {
    /// Returns whether this token has a deadline. Work that is unfinished at the deadline is lost.
    pub fn is_timed(&self) -> bool {
        self.0.bounds.is_some()
    }

    /// Creates a token that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a child token. The child is raised when [`raise`](Self::raise) is called on the child, when this token
    /// is raised, or when `deadline` has passed.
    pub fn until(&self, deadline: Instant) -> Self {
        let bounds = Some(Bounds { parent: self.clone(), deadline });
        Self(Arc::new(Flag { raised: AtomicBool::new(false), bounds }))
    }

    /// Cancels all computations that check this token or its children. A raised flag stays raised.
    pub fn raise(&self) {
        self.0.raised.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is raised; if so, the computation must end.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed)
            || self.0.bounds.is_some() && self.is_raised_by_bounds()
    }

    /// Returns whether the parent token is raised or the deadline has passed; if so, also raises this token.
    #[cold]
    fn is_raised_by_bounds(&self) -> bool {
        let over = |Bounds { parent, deadline }: &Bounds| {
            parent.is_raised() || Instant::now() >= *deadline
        };
        let raised = self.0.bounds.as_ref().is_some_and(over);
        if raised {
            self.raise();
        }
        raised
    }

    /// Returns an error if the flag is raised, so that a loop can end with `?`. Long loops call this function at every
    /// step.
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
    fn a_child_is_raised_with_its_parent_but_not_the_reverse() {
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
    fn a_passed_deadline_raises_the_flag() {
        let whole = CancelToken::new();
        assert_eq!(whole.until(Instant::now()).check(), Err(Cancelled));
        assert_eq!(whole.check(), Ok(()));
    }
}
