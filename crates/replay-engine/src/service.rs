//! Execution of running jobs. A service determines the time at which a running job completes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// A model of running jobs that determines the times at which they complete. Examples are the run times of a trace, and
/// a network on which the jobs communicate.
pub trait Service {
    /// Starts a job on `nodes` at `now`. The first [`Job::size`] of the nodes run the job's processes. `now` is the
    /// time that [`advance`](Service::advance) has reached.
    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64);

    /// Advances to the next time at which jobs complete, but at most to `until`. Appends these jobs to `completed`,
    /// which must be empty, and returns the time reached. Returns `None` if no job completes by `until`; the time
    /// reached is then `until`.
    ///
    /// # Errors
    /// The error of the service's own simulation, such as the error of the network.
    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>>;

    /// Interrupts a running job now. Returns `false` if the service cannot interrupt jobs.
    fn cut_off(&mut self, id: JobId) -> bool {
        let _ = id;
        false
    }

    /// Returns whether a job may run on fewer processors than it requests, with a longer run time.
    fn takes_folded(&self) -> bool {
        true
    }

    /// Returns the processor time, in ticks, that jobs spend computing from start to end. The sum includes all jobs
    /// that have started so far. Returns `None` if the computing time equals the processor time that the jobs hold. The
    /// two times differ only if jobs share processors.
    fn computed(&self) -> Option<f64> {
        None
    }

    /// Returns, for each host, the current utilization of the processor as the cluster's monitor reports it. `None` if
    /// there is no monitor.
    fn utilization(&mut self) -> Option<&[f64]> {
        None
    }
}

/// The service in which every job completes at its start plus [`Job::run`].
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
