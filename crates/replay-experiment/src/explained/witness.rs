//! A scheduler and an allocator that are watched: they do what they would do, and somebody takes notes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use replay_core::allocator::elmer::Hosts;
use replay_core::allocator::notes::{Account, Notes};
use replay_core::allocator::reduced::{Folding, Reduction};
use replay_core::allocator::{Allocator, Census, Refusal, Request};
use replay_core::machine::Machine;
use replay_core::scheduler::{
    Decorator, QueuedJob, Reason, Rejection, Running, Scheduler, Selection, System,
};
use replay_core::stop::Stop;
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
pub struct Story {
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
pub struct Witness {
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
    story: Story,
    /// What it saw before that, each until the job was cut off.
    past: Vec<Story>,
}

impl Witness {
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
            story: Story::default(),
            past: Vec::new(),
        }
    }

    /// What it saw: a story for each time that the job stood in the queue.
    pub fn stories(mut self) -> Vec<Story> {
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

impl Decorator for Witness {
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
pub struct Told {
    /// Free processors before it, in ascending order.
    pub free: Vec<NodeId>,
    /// Processors out of service then, in ascending order.
    pub down: Vec<NodeId>,
    /// What the strategy told.
    pub account: Account,
    /// What came of it: the processors, or why there are none.
    pub outcome: Result<Vec<NodeId>, Refusal>,
}

/// An allocator of which some decisions are listened to.
pub struct Listener {
    inner: Box<dyn Allocator>,
    notes: Notes,
    decisions: Arc<AtomicU64>,
    /// By number, from 1.
    wanted: Vec<u64>,
    /// What was told, by number.
    pub told: HashMap<u64, Told>,
}

impl Listener {
    /// Listens to the decisions of these numbers, and counts them all.
    pub fn new(mut inner: Box<dyn Allocator>, decisions: Arc<AtomicU64>, wanted: Vec<u64>) -> Self {
        let notes = Notes::heard();
        inner.tells(&notes);
        Self { inner, notes, decisions, wanted, told: HashMap::new() }
    }

    /// Makes a decision, and listens if it is one of those.
    fn decide<T>(
        &mut self,
        machine: &Machine,
        chosen: &mut Vec<NodeId>,
        decide: impl FnOnce(&mut dyn Allocator, &mut Vec<NodeId>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let number = self.decisions.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.wanted.contains(&number) {
            return decide(self.inner.as_mut(), chosen);
        }
        self.notes.listen(true);
        let outcome = decide(self.inner.as_mut(), chosen);
        self.notes.listen(false);
        let told = Told {
            free: machine.free_nodes().collect(),
            down: machine.topology().nodes().filter(|&node| machine.is_down(node)).collect(),
            account: self.notes.take(),
            outcome: outcome.as_ref().map(|_| chosen.clone()).map_err(|refusal| *refusal),
        };
        self.told.insert(number, told);
        outcome
    }
}

impl Allocator for Listener {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.decide(machine, chosen, |inner, chosen| inner.allocate(machine, request, chosen))
    }

    fn allocate_or_less(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<Option<Reduction>, Refusal> {
        self.decide(machine, chosen, |inner, chosen| {
            inner.allocate_or_less(machine, request, chosen)
        })
    }

    fn largest_allocation(&mut self, request: Request) -> u64 {
        self.inner.largest_allocation(request)
    }

    fn can_serve(&mut self, request: Request) -> bool {
        self.inner.can_serve(request)
    }

    fn turns_away(&self) -> bool {
        self.inner.turns_away()
    }

    fn expect(&mut self, sizes: &[u32]) -> Result<(), String> {
        self.inner.expect(sizes)
    }

    fn queued(&mut self, request: Request) {
        self.inner.queued(request);
    }

    fn left(&mut self, request: Request) {
        self.inner.left(request);
    }

    fn least(&self, request: Request) -> u32 {
        self.inner.least(request)
    }

    fn least_now(&self, request: Request) -> u32 {
        self.inner.least_now(request)
    }

    fn folds(&self) -> bool {
        self.inner.folds()
    }

    fn folding(&self) -> Folding {
        self.inner.folding()
    }

    fn refused_sizes(&self) -> Option<u64> {
        self.inner.refused_sizes()
    }

    fn hosts(&self) -> Option<Hosts> {
        self.inner.hosts()
    }

    fn observe(&mut self, utilization: &[f64]) {
        self.inner.observe(utilization);
    }

    fn released(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.inner.released(machine, nodes);
    }

    fn census(&self) -> Option<Census> {
        self.inner.census()
    }

    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        self.inner.tied_sets(machine, request)
    }

    fn keeps_schedule(&self) -> bool {
        self.inner.keeps_schedule()
    }

    fn copy(&self) -> Option<Box<dyn Allocator>> {
        self.inner.copy()
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.inner.refusal_covers(refused, asked)
    }

    fn refusals_last(&self) -> bool {
        self.inner.refusals_last()
    }

    fn chooses_by_free(&self) -> bool {
        self.inner.chooses_by_free()
    }

    fn blocked(&self) -> Option<[u64; 2]> {
        self.inner.blocked()
    }

    fn withdrawn(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.inner.withdrawn(machine, nodes);
    }

    fn restored(&mut self, machine: &Machine, nodes: &[NodeId]) {
        self.inner.restored(machine, nodes);
    }

    fn takes_outages(&self) -> bool {
        self.inner.takes_outages()
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn stopped_by(&mut self, stop: &Stop) {
        self.inner.stopped_by(stop);
    }
}
