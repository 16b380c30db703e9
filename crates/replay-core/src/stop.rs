//! Ending a computation early.
//!
//! A [`Stop`] is a flag that somebody raises (Ctrl-C, a time that is up) and that every long
//! loop looks at: the simulations at each decision, an allocator inside a decision that can
//! itself take long ([`RunSetup::stop`](crate::allocator::RunSetup::stop)), the
//! network every few milliseconds. What it ends fails with [`Stopped`]. One look costs a
//! load, and a second after the flag is raised everything has ended.
//!
//! ```
//! use replay_core::stop::{Stop, Stopped};
//! use std::time::{Duration, Instant};
//!
//! let all = Stop::new();
//! // A part of the work with a time of its own; it ends with the whole, too.
//! let part = all.until(Instant::now() + Duration::from_secs(3600));
//! assert!(!part.is_raised());
//! all.raise();
//! assert_eq!(part.check(), Err(Stopped));
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// A flag that ends a computation. Clones are one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: AtomicBool,
    /// What raises this flag by itself.
    bounds: Option<Bounds>,
}

/// When a flag is raised by itself.
#[derive(Debug)]
struct Bounds {
    above: Stop,
    deadline: Option<Instant>,
    work: Option<Work>,
}

/// How long a thread may work.
#[derive(Debug)]
struct Work {
    /// What it has worked then, as [`worked`] tells.
    until: Duration,
    begin: Instant,
    /// So many nanoseconds after `begin` it may have worked so long, not before: what a thread has worked
    /// takes ten times as long to ask as the time.
    look: AtomicU64,
}

/// For how long a processor has worked on this thread: others that work on the machine do not count.
pub fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Nanoseconds, as far as they can be counted: for centuries.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Work {
    fn is_done(&self, now: Instant) -> bool {
        let since = nanoseconds(now.saturating_duration_since(self.begin));
        if since < self.look.load(Ordering::Relaxed) {
            return false;
        }
        let left = self.until.saturating_sub(worked());
        self.look.store(since.saturating_add(nanoseconds(left)), Ordering::Relaxed);
        left.is_zero()
    }
}

/// A computation was ended by its [`Stop`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Stopped;

impl Stop {
    /// Whether a deadline raises it, so that work that is not whole by then is lost.
    pub fn is_timed(&self) -> bool {
        self.0
            .bounds
            .as_ref()
            .is_some_and(|bounds| bounds.deadline.is_some() || bounds.above.is_timed())
    }

    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag of its own, which is raised with this one too, and when the time has come.
    pub fn until(&self, deadline: Instant) -> Self {
        self.below(Some(deadline), None)
    }

    /// A flag of its own, which is raised with this one too.
    pub fn part(&self) -> Self {
        self.below(None, None)
    }

    /// The same, when the time has come, and when the thread that calls this has [worked] so long from now on. It
    /// is for that thread alone to look at.
    pub fn after_work(&self, work: Duration, deadline: Instant) -> Self {
        let (until, begin) = (worked() + work, Instant::now());
        let look = AtomicU64::new(nanoseconds(work));
        self.below(Some(deadline), Some(Work { until, begin, look }))
    }

    fn below(&self, deadline: Option<Instant>, work: Option<Work>) -> Self {
        let bounds = Some(Bounds { above: self.clone(), deadline, work });
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
        let over = |Bounds { above, deadline, work }: &Bounds| {
            let is_late = |now| {
                deadline.is_some_and(|deadline| now >= deadline)
                    || work.as_ref().is_some_and(|work| work.is_done(now))
            };
            let timed = deadline.is_some() || work.is_some();
            above.is_raised() || timed && is_late(Instant::now())
        };
        let raised = self.0.bounds.as_ref().is_some_and(over);
        if raised {
            self.raise();
        }
        raised
    }

    /// To be asked at every step of a long loop.
    ///
    /// # Errors
    /// [`Stopped`] once the flag is raised.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_raised() { Err(Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_part_ends_with_the_whole_and_not_the_other_way_round() {
        let far = Instant::now() + Duration::from_secs(3600);
        let whole = Stop::new();
        let [one, other] = [whole.until(far), whole.part()];
        let deep = one.until(far);
        one.raise();
        assert!(deep.is_raised() && !other.is_raised() && !whole.is_raised());
        whole.clone().raise();
        assert!(other.is_raised());
    }

    #[test]
    fn work_that_was_done_raises_the_flag() {
        let (whole, far) = (Stop::new(), Instant::now() + Duration::from_secs(3600));
        assert!(whole.after_work(Duration::ZERO, far).is_raised());
        assert!(whole.after_work(Duration::from_secs(3600), Instant::now()).is_raised());
        let (before, work) = (worked(), Duration::from_millis(2));
        let part = whole.after_work(work, far);
        while !part.is_raised() {}
        assert!(worked() - before >= work && !whole.is_raised());
    }

    #[test]
    fn a_time_that_has_come_raises_the_flag() {
        let whole = Stop::new();
        assert_eq!(whole.until(Instant::now()).check(), Err(Stopped));
        assert_eq!(whole.check(), Ok(()));
    }
}
