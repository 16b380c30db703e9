//! Decorators of a scheduler and an allocator that record their decisions without changing them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use replay_engine::allocator::explain::{Explanation, ExplanationLog};
use replay_engine::allocator::{self, Allocator, Refusal, Request, RunSetup};
use replay_engine::machine::Machine;
use replay_engine::scheduler::{
    Decorator, QueuedJob, Reason, Rejection, Running, Scheduler, Selection, System,
};
use replay_engine::topology::NodeId;
use replay_engine::workload::JobId;

/// State of queue and machine when the scheduler selected a job.
#[derive(Clone, PartialEq, Debug)]
pub struct Moment {
    /// Time in seconds of the trace.
    pub now: i64,
    /// Number of free processors.
    pub free: u32,
    /// Reason for the selection, if the scheduler provides a reason.
    pub reason: Option<Reason>,
    /// The job in the queue.
    pub job: QueuedJob,
    /// Running jobs, in order of their estimated ends.
    pub running: Vec<Running>,
    /// Waiting jobs that arrived before the selected job, in order of arrival.
    pub before: Vec<QueuedJob>,
    /// Number of waiting jobs besides the selected job.
    pub waiting: usize,
}

/// History of a job in the queue until the job started or restarted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobHistory {
    /// Time at which the job arrived or returned to the queue, and the number of jobs that were waiting at that time.
    pub arrived: Option<(i64, usize)>,
    /// Number of free processors when the scheduler was first called after the job had arrived or returned to the
    /// queue.
    pub free: Option<u32>,
    /// Jobs that arrived earlier than the job and started while it waited.
    pub before: Vec<JobId>,
    /// Jobs that arrived later than the job and started while it waited.
    pub after: Vec<JobId>,
    /// The selections of the job after which the job did not start.
    pub refused: Vec<RejectedSelection>,
    /// State when the job was last selected.
    pub named: Option<Moment>,
}

impl JobHistory {
    /// Returns the first selection for which the allocator was called and after which the job did not start.
    pub fn first_rejection(&self) -> Option<&RejectedSelection> {
        self.refused.iter().find(|one| one.decision.is_some())
    }
}

/// A selection of a job after which the job did not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RejectedSelection {
    /// Time in seconds of the trace.
    pub at: i64,
    /// Number of the allocator's decision if the allocator was called.
    pub decision: Option<u64>,
    /// If the job would have taken processors that are reserved for the head of the queue: the head. `None` if the
    /// allocator refused the job.
    pub reserved_for: Option<JobId>,
}

/// A scheduler that records the history of one job.
pub struct RecordingScheduler {
    inner: Box<dyn Scheduler>,
    target: JobId,
    /// Number of decisions of the allocator so far.
    decisions: Arc<AtomicU64>,
    waiting: BTreeMap<u64, QueuedJob>,
    turns: HashMap<JobId, u64>,
    /// The job that was selected last, and the number of decisions before this selection.
    named: Option<(QueuedJob, u64)>,
    now: i64,
    /// History since the job arrived or returned to the queue.
    history: JobHistory,
    /// Earlier histories of the job; each of them ends with an interruption.
    earlier: Vec<JobHistory>,
}

impl RecordingScheduler {
    /// Creates a scheduler that records the history of the job `target`.
    pub fn new(inner: Box<dyn Scheduler>, target: JobId, decisions: Arc<AtomicU64>) -> Self {
        Self {
            inner,
            target,
            decisions,
            waiting: BTreeMap::new(),
            turns: HashMap::new(),
            named: None,
            now: i64::MIN,
            history: JobHistory::default(),
            earlier: Vec::new(),
        }
    }

    /// Returns the histories of the job, one for each of its stays in the queue.
    pub fn histories(mut self) -> Vec<JobHistory> {
        self.earlier.push(self.history);
        self.earlier
    }

    /// Puts the job that was selected last back into the queue.
    fn return_to_queue(&mut self, id: JobId, rejection: Rejection) {
        if let Some((job, decisions)) = self.named.take() {
            self.waiting.insert(job.turn, job);
            let after = self.decisions.load(Ordering::Relaxed);
            if id == self.target {
                let reason = self.history.named.as_ref().and_then(|moment| moment.reason);
                let reserved_for = match (rejection, reason) {
                    (Rejection::TakesReserved { .. }, Some(Reason::Backfilled { head, .. })) => {
                        Some(head)
                    }
                    _ => None,
                };
                let decision = (after > decisions).then_some(after);
                self.history.refused.push(RejectedSelection {
                    at: self.now,
                    decision,
                    reserved_for,
                });
            } else {
                for others in [&mut self.history.before, &mut self.history.after] {
                    if others.last() == Some(&id) {
                        others.pop();
                    }
                }
            }
        }
    }

    fn target_turn(&self) -> Option<u64> {
        let turn = self.turns.get(&self.target)?;
        self.waiting.contains_key(turn).then_some(*turn)
    }
}

impl Decorator for RecordingScheduler {
    fn inner(&self) -> &dyn Scheduler {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Scheduler {
        self.inner.as_mut()
    }

    fn arrive(&mut self, job: QueuedJob, now: i64) {
        if job.id == self.target {
            // After an interruption, a job arrives again.
            if self.history.arrived.is_some() {
                self.earlier.push(std::mem::take(&mut self.history));
            }
            self.history.arrived = Some((now, self.waiting.len()));
        }
        self.turns.insert(job.id, job.turn);
        self.waiting.insert(job.turn, job);
        self.inner.arrive(job, now);
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.now = system.now;
        let target = self.target_turn();
        if target.is_some() {
            self.history.free.get_or_insert(system.free);
        }
        let selected = self.inner.next_job(system)?;
        let id = selected.job;
        let turn = self.turns.get(&id).copied()?;
        let job = self.waiting.remove(&turn)?;
        self.named = Some((job, self.decisions.load(Ordering::Relaxed)));
        match target {
            Some(_) if id == self.target => {
                self.history.named = Some(Moment {
                    now: system.now,
                    free: system.free,
                    reason: selected.reason,
                    job,
                    running: system.running.iter().copied().collect(),
                    before: self.waiting.range(..turn).map(|(_, job)| *job).collect(),
                    waiting: self.waiting.len(),
                });
            }
            Some(of_target) if turn < of_target => self.history.before.push(id),
            Some(_) => self.history.after.push(id),
            None => {}
        }
        Some(selected)
    }

    fn on_refused(&mut self, id: JobId, rejection: Rejection) {
        self.return_to_queue(id, rejection);
        self.inner.on_refused(id, rejection);
    }
}

/// A decision of an allocator.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedDecision {
    /// Free processors before the decision, in ascending order.
    pub free: Vec<NodeId>,
    /// Processors out of service, in ascending order.
    pub down: Vec<NodeId>,
    /// Explanation by the strategy.
    pub explanation: Explanation,
    /// The allocated processors, or the refusal.
    pub outcome: Result<Vec<NodeId>, Refusal>,
}

/// An allocator that records some of its decisions.
pub struct RecordingAllocator<'a> {
    inner: &'a mut dyn Allocator,
    log: ExplanationLog,
    decisions: Arc<AtomicU64>,
    /// Numbers of the decisions to record; decisions are counted from 1.
    wanted: Vec<u64>,
    /// Recorded decisions by number.
    pub decisions_by_number: HashMap<u64, RecordedDecision>,
}

impl<'a> RecordingAllocator<'a> {
    /// Creates an allocator that counts all decisions and records the decisions with the numbers in `wanted`.
    pub fn new(inner: &'a mut dyn Allocator, decisions: Arc<AtomicU64>, wanted: Vec<u64>) -> Self {
        Self {
            inner,
            log: ExplanationLog::recording(),
            decisions,
            wanted,
            decisions_by_number: HashMap::new(),
        }
    }
}

impl allocator::Decorator for RecordingAllocator<'_> {
    fn inner(&self) -> &dyn Allocator {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.inner
    }

    /// Returns the copy undecorated, because allocations on a copy are not decisions of the run.
    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(inner)
    }

    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.inner.begin(&RunSetup { explanation: self.log.clone(), ..setup.clone() })
    }

    /// Makes a decision, and records the decision if its number is in `wanted`.
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let number = self.decisions.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.wanted.contains(&number) {
            return self.inner.allocate(machine, request, chosen);
        }
        self.log.set_recording(true);
        let outcome = self.inner.allocate(machine, request, chosen);
        self.log.set_recording(false);
        let recorded = RecordedDecision {
            free: machine.free_nodes().collect(),
            down: machine.topology().nodes().filter(|&node| machine.is_down(node)).collect(),
            explanation: self.log.take(),
            outcome: outcome.map(|()| chosen.clone()),
        };
        self.decisions_by_number.insert(number, recorded);
        outcome
    }
}
