//! How long a job holds its processors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// What jobs do while they hold processors, and when they are done with it: the run times
/// of a trace, or a network on which they communicate.
pub trait Service {
    /// A job starts on `nodes` (the first [`Job::size`] of them run its processes) at
    /// `now`, the instant that [`advance`](Service::advance) has reached.
    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64);

    /// Goes on to the next instant, not after `until`, at which jobs complete, appends them
    /// to the empty `completed`, and returns that instant; `None` if no job completes by
    /// `until`, which is then the instant reached.
    ///
    /// # Errors
    /// A simulation of its own that cannot go on.
    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>>;

    /// A running job ends now, whatever it has done; `false` if the service cannot do that.
    fn cut_off(&mut self, id: JobId) -> bool {
        let _ = id;
        false
    }

    /// Whether a job may have fewer processes than it asks for, and then runs longer.
    fn takes_folded(&self) -> bool {
        true
    }

    /// Processor-time, in ticks, that the jobs started so far compute from start to end. `None` where
    /// that is what they hold: only jobs that share a processor may hold it and get nothing.
    fn computed(&self) -> Option<f64> {
        None
    }

    /// By host of a cluster, the share of its processor in use, as its monitor shows it now.
    /// `None` where nobody monitors.
    fn utilization(&mut self) -> Option<&[f64]> {
        None
    }
}

/// Jobs complete [`Job::run`] after their start.
#[derive(Clone, Debug, Default)]
pub struct RunTimes {
    ends: BinaryHeap<Reverse<(i64, JobId)>>,
}

impl RunTimes {
    /// When the next job completes, if any runs.
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
