use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::arrivals::Arrivals;
use crate::cancel::{CancelToken, Cancelled};
use crate::scheduler::{
    QueuedJob, Running, RunningJobs, Scheduler, SchedulerEvent, Selection, System,
};
use crate::workload::{Follows, Job, JobId};

/// The starts and ends of all jobs: the part of a simulation that does not depend on positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    events: Vec<Event>,
    starts: Vec<i64>,
    arrivals: Option<Vec<i64>>,
    pub(super) unplaced: Vec<JobId>,
}

/// A start or an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The job gets processors.
    Start(JobId),
    /// The job releases its processors.
    End(JobId),
}

/// Error of computing a schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimelineError {
    /// A job is larger than the machine.
    #[error("job {number} (line {line}) needs {size} processors, but the machine has {processors}")]
    TooLarge {
        /// Job number in the trace.
        number: i64,
        /// Line in the trace; 0 if the job is not from a trace.
        line: u32,
        /// Number of processors that the job needs.
        size: u32,
        /// Number of processors of the machine.
        processors: u32,
    },
    /// The scheduler violated its contract and left jobs in the queue. The value is the number of these jobs.
    #[error("{0} jobs never started")]
    Starved(usize),
    /// The computation was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Timeline {
    /// Computes the schedule of `jobs` on a machine with `processors` processors. The jobs must be in order of
    /// submission, and the queue of the scheduler must be empty. Raising `stop` cancels the computation.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine or never starts, or on cancellation.
    pub fn compute(
        jobs: &[Job],
        processors: u32,
        scheduler: &mut dyn Scheduler,
        stop: &CancelToken,
    ) -> Result<Self, TimelineError> {
        Self::compute_after(jobs, &[], processors, scheduler, stop)
    }

    /// Computes the schedule like [`compute`](Self::compute) for jobs with predecessors. `follows` contains the
    /// predecessors of each job, without cycles, or is empty.
    ///
    /// # Errors
    /// [`TimelineError`] under the conditions of [`compute`](Self::compute).
    pub(super) fn compute_after(
        jobs: &[Job],
        follows: &[Vec<Follows>],
        processors: u32,
        scheduler: &mut dyn Scheduler,
        stop: &CancelToken,
    ) -> Result<Self, TimelineError> {
        check_sizes(jobs, processors)?;
        let mut timeline =
            Self::new(Vec::with_capacity(2 * jobs.len()), vec![i64::MIN; jobs.len()]);
        let mut running = RunningJobs::default();
        let mut completions: BinaryHeap<Reverse<(i64, JobId)>> = BinaryHeap::new();
        let mut arrivals = Arrivals::new(jobs, follows);
        let mut arrived = 0;
        timeline.arrivals = (!follows.is_empty()).then(|| vec![i64::MIN; jobs.len()]);
        let mut free = processors;
        let mut round = 0;
        let mut last = i64::MIN;
        loop {
            let next_arrival = arrivals.next_time();
            let next_completion = completions.peek().map(|Reverse((end, _))| *end);
            // A reservation that is already due waits for a completion. Only a reservation in the future needs an
            // event.
            let due = scheduler.next_wakeup(last);
            let next = next_arrival.into_iter().chain(next_completion).chain(due);
            let Some(now) = next.min() else { break };
            last = now;
            stop.check()?;

            while let Some(&Reverse((end, id))) = completions.peek() {
                if end > now {
                    break;
                }
                completions.pop();
                let job = &jobs[id.index()];
                free += job.size;
                running.remove(timeline.running(id, job));
                scheduler.on_event(SchedulerEvent::Completed { job: id, now });
                arrivals.completed(id, end);
                timeline.events.push(Event::End(id));
            }
            while let Some((id, arrival)) = arrivals.arrived(now) {
                stop.check()?;
                if let Some(times) = &mut timeline.arrivals {
                    times[id.index()] = arrival;
                }
                let Job { size, estimate, .. } = jobs[id.index()];
                arrived += 1;
                let job = QueuedJob { id, size, takes: size, estimate, turn: arrived };
                scheduler.arrive(job, now);
            }
            round += 1;
            while let Some(Selection { job: id, .. }) =
                scheduler.next_job(System { now, free, round, running: &running })
            {
                stop.check()?;
                let job = &jobs[id.index()];
                free -= job.size;
                timeline.starts[id.index()] = now;
                running.insert(timeline.running(id, job));
                completions.push(Reverse((now + job.run, id)));
                timeline.events.push(Event::Start(id));
            }
        }
        match scheduler.waiting() {
            0 => Ok(timeline),
            waiting => Err(TimelineError::Starved(waiting)),
        }
    }

    /// Creates a schedule from its events and start times.
    pub(super) fn new(events: Vec<Event>, starts: Vec<i64>) -> Self {
        Self { events, starts, arrivals: None, unplaced: Vec::new() }
    }

    fn running(&self, id: JobId, job: &Job) -> Running {
        Running { estimated_end: self.starts[id.index()] + job.estimate, id, size: job.size }
    }

    /// Returns all starts and ends in order of time.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the jobs without processors in ascending order. Unplaced jobs have no recorded start, or the log starts
    /// them when too few processors are free. Unplaced jobs have no events and are excluded from all metrics. The list
    /// is empty unless the schedule is [`recorded`](Self::recorded).
    pub fn unplaced(&self) -> &[JobId] {
        &self.unplaced
    }

    /// Returns the values of all jobs except the [unplaced](Self::unplaced) jobs. `of_jobs` contains one value per job.
    pub fn placed<'a, T: Clone>(&self, of_jobs: &'a [T]) -> Cow<'a, [T]> {
        if self.unplaced.is_empty() {
            return of_jobs.into();
        }
        let mut unplaced = self.unplaced.iter().map(|id| id.index()).peekable();
        let kept = of_jobs.iter().enumerate();
        let kept = kept.filter(|(index, _)| unplaced.next_if_eq(index).is_none());
        kept.map(|(_, one)| one.clone()).collect::<Vec<_>>().into()
    }

    /// Returns the arrival time of each job in trace seconds; `None` if no job has a predecessor. Without predecessors,
    /// every job arrives at its submission.
    pub fn arrivals(&self) -> Option<&[i64]> {
        self.arrivals.as_deref()
    }

    /// Returns the start time of each job in trace seconds; `i64::MIN` for a job without a recorded start.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }
}

/// Fails if a job is larger than the machine.
pub(super) fn check_sizes(jobs: &[Job], processors: u32) -> Result<(), TimelineError> {
    let Some(job) = jobs.iter().find(|job| job.size > processors) else { return Ok(()) };
    let &Job { number, line, size, .. } = job;
    Err(TimelineError::TooLarge { number, line, size, processors })
}

#[cfg(test)]
mod tests;
