use std::error::Error;
use std::time::{Duration, Instant};

use replay_core::cancel::{CancelToken, Cancelled};
use replay_network::traffic::{JobTraffic, Traffic};
use replay_network::{Delivery, Stalled};

/// A slice that took longer is too long, one that took a quarter of it too short.
const LONG: Duration = Duration::from_millis(40);
const MOST: u64 = 1 << 24;

/// Lets a network run in slices of cycles and looks between them whether to end. What a cycle
/// costs depends on who sends in it, so that slices are cut by the clock; where they are cut
/// changes nothing.
#[derive(Clone, Debug)]
pub struct Slices {
    cycles: u64,
}

/// A network that goes no further.
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// It is deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// Somebody wants no more of it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl SliceError {
    /// What is inside.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Stalled(stalled) => stalled.into(),
            Self::Cancelled(stopped) => stopped.into(),
        }
    }
}

impl Slices {
    /// Short slices, until it is known what they take.
    pub fn new() -> Self {
        Self { cycles: 64 }
    }

    /// [`Traffic::advance`], until `stop` is raised.
    pub fn advance(
        &mut self,
        traffic: &mut Traffic,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
        stop: &CancelToken,
    ) -> Result<Option<u64>, SliceError> {
        self.advance_with(traffic, until, ended, stop, &mut |_| {})
    }

    /// [`Traffic::advance_with`], until `stop` is raised.
    pub fn advance_with(
        &mut self,
        traffic: &mut Traffic,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
        stop: &CancelToken,
        seen: &mut impl FnMut(&Delivery),
    ) -> Result<Option<u64>, SliceError> {
        loop {
            stop.check()?;
            // With nobody on it any time passes at once.
            let slice = (traffic.running() > 0).then(|| traffic.now() + self.cycles);
            let part = slice.into_iter().chain(until).min();
            let begin = Instant::now();
            let cycle = traffic.advance_with(part, ended, seen)?;
            if cycle.is_some() || part == until {
                return Ok(cycle);
            }
            let took = begin.elapsed();
            if took > LONG {
                self.cycles = (self.cycles / 2).max(1);
            } else if took < LONG / 4 {
                self.cycles = (self.cycles * 2).min(MOST);
            }
        }
    }
}
