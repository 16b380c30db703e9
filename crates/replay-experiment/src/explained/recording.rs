//! A scheduler and an allocator that are watched: they do what they would do, and somebody takes notes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use replay_core::allocator::explain::{Explanation, ExplanationLog};
use replay_core::allocator::{self, Allocator, Refusal, Request, RunSetup};
use replay_core::machine::Machine;
use replay_core::scheduler::{
    Decorator, QueuedJob, Reason, Rejection, Running, Scheduler, Selection, System,
};
use replay_core::topology::NodeId;
use replay_core::workload::JobId;

/// The instant at which a job was named.
#[derive(Clone, PartialEq, Debug)]
pub struct Moment {
    /// In trace seconds.
    pub now: i64,
    /// Free processors.
    pub free: u32,
    /// Why, if the scheduler can tell.
    pub reason: Option<Reason>,
    /// The job as it stood in the queue.
    pub job: QueuedJob,
    /// The running jobs by estimated end.
    pub running: Vec<Running>,
    /// The jobs that came before it and wait, in order of arrival.
    pub before: Vec<QueuedJob>,
    /// All jobs that wait beside it.
    pub waiting: usize,
}

/// What a scheduler did with one job until it started, or started anew.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobHistory {
    /// When it came, or came back, and how many jobs waited then.
    pub arrived: Option<(i64, usize)>,
    /// Free processors when the scheduler was asked first after that.
    pub free: Option<u32>,
    /// Jobs that came before it and started while it waited.
    pub before: Vec<JobId>,
    /// Jobs that came after it and started while it waited.
    pub after: Vec<JobId>,
    /// When it was refused, and whether the allocator was asked: by which of its decisions.
    pub refused: Vec<(i64, Option<u64>)>,
    /// When it was named last.
    pub named: Option<Moment>,
}

/// A scheduler that is watched for one job.
pub struct RecordingScheduler {
    inner: Box<dyn Scheduler>,
    target: JobId,
    /// Decisions of the allocator so far.
    decisions: Arc<AtomicU64>,
    waiting: BTreeMap<u64, QueuedJob>,
    turns: HashMap<JobId, u64>,
    /// The job named last, its turn, and the decisions before.
    named: Option<(QueuedJob, u64)>,
    now: i64,
    /// What it saw since the job came, or came back.
    story: JobHistory,
    /// What it saw before that, each until the job was cut off.
    past: Vec<JobHistory>,
}

impl RecordingScheduler {
    /// Watches for `target`.
    pub fn new(inner: Box<dyn Scheduler>, target: JobId, decisions: Arc<AtomicU64>) -> Self {
        Self {
            inner,
            target,
            decisions,
            waiting: BTreeMap::new(),
            turns: HashMap::new(),
            named: None,
            now: i64::MIN,
            story: JobHistory::default(),
            past: Vec::new(),
        }
    }

    /// What it saw: a story for each time that the job stood in the queue.
    pub fn stories(mut self) -> Vec<JobHistory> {
        self.past.push(self.story);
        self.past
    }

    /// The job named last is back in the queue.
    fn goes_back(&mut self, id: JobId) {
        if let Some((job, decisions)) = self.named.take() {
            self.waiting.insert(job.turn, job);
            let asked = self.decisions.load(Ordering::Relaxed);
            if id == self.target {
                self.story.refused.push((self.now, (asked > decisions).then_some(asked)));
            } else {
                for others in [&mut self.story.before, &mut self.story.after] {
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
            // It comes again when it was cut off.
            if self.story.arrived.is_some() {
                self.past.push(std::mem::take(&mut self.story));
            }
            self.story.arrived = Some((now, self.waiting.len()));
        }
        self.turns.insert(job.id, job.turn);
        self.waiting.insert(job.turn, job);
        self.inner.arrive(job, now);
    }

    fn next_job(&mut self, system: System<'_>) -> Option<Selection> {
        self.now = system.now;
        let target = self.target_turn();
        if target.is_some() {
            self.story.free.get_or_insert(system.free);
        }
        let selected = self.inner.next_job(system)?;
        let id = selected.job;
        let turn = self.turns.get(&id).copied()?;
        let job = self.waiting.remove(&turn)?;
        self.named = Some((job, self.decisions.load(Ordering::Relaxed)));
        match target {
            Some(_) if id == self.target => {
                self.story.named = Some(Moment {
                    now: system.now,
                    free: system.free,
                    reason: selected.reason,
                    job,
                    running: system.running.iter().copied().collect(),
                    before: self.waiting.range(..turn).map(|(_, job)| *job).collect(),
                    waiting: self.waiting.len(),
                });
            }
            Some(of_target) if turn < of_target => self.story.before.push(id),
            Some(_) => self.story.after.push(id),
            None => {}
        }
        Some(selected)
    }

    fn on_refused(&mut self, id: JobId, rejection: Rejection) {
        self.goes_back(id);
        self.inner.on_refused(id, rejection);
    }
}

/// One decision of an allocator.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedDecision {
    /// Free processors before it, in ascending order.
    pub free: Vec<NodeId>,
    /// Processors out of service then, in ascending order.
    pub down: Vec<NodeId>,
    /// What the strategy told.
    pub account: Explanation,
    /// What came of it: the processors, or why there are none.
    pub outcome: Result<Vec<NodeId>, Refusal>,
}

/// An allocator of which some decisions are listened to.
pub struct RecordingAllocator {
    inner: Box<dyn Allocator>,
    notes: ExplanationLog,
    decisions: Arc<AtomicU64>,
    /// By number, from 1.
    wanted: Vec<u64>,
    /// What was told, by number.
    pub told: HashMap<u64, RecordedDecision>,
}

impl RecordingAllocator {
    /// Listens to the decisions of these numbers, and counts them all.
    pub fn new(inner: Box<dyn Allocator>, decisions: Arc<AtomicU64>, wanted: Vec<u64>) -> Self {
        Self { inner, notes: ExplanationLog::heard(), decisions, wanted, told: HashMap::new() }
    }
}

impl allocator::Decorator for RecordingAllocator {
    fn inner(&self) -> &dyn Allocator {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Allocator {
        self.inner.as_mut()
    }

    /// What is asked on a copy is no decision.
    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>> {
        Some(inner)
    }

    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.inner.begin(&RunSetup { notes: self.notes.clone(), ..setup.clone() })
    }

    /// Makes a decision, and listens if it is one of those.
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
        self.notes.listen(true);
        let outcome = self.inner.allocate(machine, request, chosen);
        self.notes.listen(false);
        let told = RecordedDecision {
            free: machine.free_nodes().collect(),
            down: machine.topology().nodes().filter(|&node| machine.is_down(node)).collect(),
            account: self.notes.take(),
            outcome: outcome.map(|()| chosen.clone()),
        };
        self.told.insert(number, told);
        outcome
    }
}
