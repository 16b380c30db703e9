use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::arrivals::Arrivals;
use crate::cancel::{CancelToken, Cancelled};
use crate::scheduler::{
    QueuedJob, Running, RunningJobs, Scheduler, SchedulerEvent, Selection, System,
};
use crate::workload::{Follows, Job, JobId};

/// Who starts and ends when: the part of a simulation that does not depend on positions.
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
    /// The job gives them back.
    End(JobId),
}

/// A schedule that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimelineError {
    /// The job can never start.
    #[error("job {number} (line {line}) needs {size} processors, the machine has {processors}")]
    TooLarge {
        /// Job number in the trace.
        number: i64,
        /// Line in the trace; 0 if it comes from none.
        line: u32,
        /// Processors it needs.
        size: u32,
        /// Processors of the machine.
        processors: u32,
    },
    /// The scheduler broke its contract.
    #[error("the scheduler left {0} jobs waiting for ever")]
    Starved(usize),
    /// Somebody wants no more of it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Timeline {
    /// Runs `jobs`, which are in order of submission, through a scheduler with an empty
    /// queue on a machine of `processors`, unless or until `stop` is raised.
    ///
    /// # Errors
    /// [`TimelineError`] if a job is larger than the machine or never starts, or if stopped.
    pub fn compute(
        jobs: &[Job],
        processors: u32,
        scheduler: &mut dyn Scheduler,
        stop: &CancelToken,
    ) -> Result<Self, TimelineError> {
        Self::compute_after(jobs, &[], processors, scheduler, stop)
    }

    /// The same for jobs of which some follow others: `follows` says it by job, without cycles, or is
    /// empty.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    pub(super) fn compute_after(
        jobs: &[Job],
        follows: &[Option<Follows>],
        processors: u32,
        scheduler: &mut dyn Scheduler,
        stop: &CancelToken,
    ) -> Result<Self, TimelineError> {
        fits(jobs, processors)?;
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
            // What was due already waits for a completion: only the future is an instant of its own.
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

    /// A schedule of these events and starts.
    pub(super) fn new(events: Vec<Event>, starts: Vec<i64>) -> Self {
        Self { events, starts, arrivals: None, unplaced: Vec::new() }
    }

    fn running(&self, id: JobId, job: &Job) -> Running {
        Running { estimated_end: self.starts[id.index()] + job.estimate, id, size: job.size }
    }

    /// All starts and ends in order of time.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Jobs without processors, in ascending order: the log has more busy than there are when they start, or does
    /// not tell when they did. They have no events, and are in no measure. None unless the schedule is
    /// [`recorded`](Self::recorded).
    pub fn unplaced(&self) -> &[JobId] {
        &self.unplaced
    }

    /// What is told of each job, without those that have [no processors](Self::unplaced).
    pub fn placed<'a, T: Clone>(&self, of_jobs: &'a [T]) -> Cow<'a, [T]> {
        if self.unplaced.is_empty() {
            return of_jobs.into();
        }
        let mut unplaced = self.unplaced.iter().map(|id| id.index()).peekable();
        let kept = of_jobs.iter().enumerate();
        let kept = kept.filter(|(index, _)| unplaced.next_if_eq(index).is_none());
        kept.map(|(_, one)| one.clone()).collect::<Vec<_>>().into()
    }

    /// When each job arrived, in trace seconds; `None` if no job follows another and all arrived when
    /// they were submitted.
    pub fn arrivals(&self) -> Option<&[i64]> {
        self.arrivals.as_deref()
    }

    /// Start times in trace seconds, by job; the smallest number of one of which the log does not tell when it
    /// started.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }
}

/// An error if a job can never start.
pub(super) fn fits(jobs: &[Job], processors: u32) -> Result<(), TimelineError> {
    let Some(job) = jobs.iter().find(|job| job.size > processors) else { return Ok(()) };
    let &Job { number, line, size, .. } = job;
    Err(TimelineError::TooLarge { number, line, size, processors })
}

#[cfg(test)]
mod tests;
