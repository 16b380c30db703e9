//! Execution of running jobs: when a job that holds processors completes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// A model of running jobs, which determines when they complete: the run times of a trace, or a network on which they
/// communicate.
pub trait Service {
    /// Starts a job on `nodes` (the first [`Job::size`] of them run its processes) at `now`, the time that
    /// [`advance`](Service::advance) has reached.
    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64);

    /// Advances to the next time, at most `until`, at which jobs complete, appends these jobs to the empty `completed`,
    /// and returns that time. Returns `None` if no job completes by `until`; the time reached is then `until`.
    ///
    /// # Errors
    /// The error of the service's own simulation, such as that of the network.
    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>>;

    /// Ends a running job now, with its work unfinished; returns `false` if the service cannot do that.
    fn cut_off(&mut self, id: JobId) -> bool {
        let _ = id;
        false
    }

    /// Returns whether a job may run on fewer processors than it requests, with a longer run time.
    fn takes_folded(&self) -> bool {
        true
    }

    /// Returns the processor time, in ticks, that the jobs started so far compute from start to end. `None` if this
    /// equals the processor time that they hold; it differs only where jobs share a processor.
    fn computed(&self) -> Option<f64> {
        None
    }

    /// Returns the current utilization of each host's processor as the cluster's monitor reports it, by host. `None`
    /// without a monitor.
    fn utilization(&mut self) -> Option<&[f64]> {
        None
    }
}

/// The service in which every job completes [`Job::run`] after its start.
#[derive(Clone, Debug, Default)]
pub struct RunTimes {
    ends: BinaryHeap<Reverse<(i64, JobId)>>,
}

impl RunTimes {
    /// Returns the time at which the next job completes; `None` if no job runs.
    pub fn next(&self) -> Option<i64> {
        self.ends.peek().map(|&Reverse((end, _))| end)
    }
}

impl Service for RunTimes {
    fn start(&mut self, id: JobId, job: &Job, _nodes: &[NodeId], now: i64) {
        self.ends.push(Reverse((now + job.run, id)));
    }

    fn cut_off(&mut self, id: JobId) -> bool {
        self.ends.retain(|&Reverse((_, running))| running != id);
        true
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        let Some(&Reverse((now, _))) = self.ends.peek() else { return Ok(None) };
        if now > until {
            return Ok(None);
        }
        while let Some(&Reverse((end, id))) = self.ends.peek() {
            if end > now {
                break;
            }
            completed.push(id);
            self.ends.pop();
        }
        Ok(Some(now))
    }
}
