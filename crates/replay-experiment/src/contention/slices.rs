use std::error::Error;
use std::time::{Duration, Instant};

use replay_engine::cancel::{CancelToken, Cancelled};
use replay_network::traffic::{JobTraffic, Traffic};
use replay_network::{Delivery, Stalled};

/// If a slice takes longer than this time, the next slice is halved. If a slice takes less than a quarter of this time,
/// the next slice is doubled.
const LONG: Duration = Duration::from_millis(40);
/// Largest number of cycles in a slice.
const MOST: u64 = 1 << 24;

/// A runner that advances a network in slices of cycles and checks for cancellation between slices. The number of
/// cycles in a slice adapts to the elapsed time, because the cost of a cycle depends on the number of senders. The
/// results do not depend on the slices.
#[derive(Clone, Debug)]
pub struct Slices {
    cycles: u64,
}

/// Error from running a network.
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// The network is deadlocked.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl SliceError {
    /// The inner error.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Stalled(stalled) => stalled.into(),
            Self::Cancelled(stopped) => stopped.into(),
        }
    }
}

impl Slices {
    /// Creates a runner; the first slices are short.
    pub fn new() -> Self {
        Self { cycles: 64 }
    }

    /// Calls [`Traffic::advance`] repeatedly until the advance is complete or `stop` is raised.
    pub fn advance(
        &mut self,
        traffic: &mut Traffic,
        until: Option<u64>,
        ended: &mut Vec<JobTraffic>,
        stop: &CancelToken,
    ) -> Result<Option<u64>, SliceError> {
        self.advance_with(traffic, until, ended, stop, &mut |_| {})
    }

    /// Calls [`Traffic::advance_seen`] repeatedly until the advance is complete or `stop` is raised.
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
            // If no job is running, the network can advance by any number of cycles in one step.
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
