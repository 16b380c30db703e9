//! Slurm's scheduler for whole nodes: main loop, backfill, priorities and limits as a state machine.
//!
//! [`Controller`] has the state. Its functions are the events of a controller: [`arrive`](Controller::arrive),
//! [`end`](Controller::end), [`calculate`](Controller::calculate), [`main_pass`](Controller::main_pass) and
//! [`backfill_pass`](Controller::backfill_pass). Which of them is called when is decided by the caller;
//! [`crate::replay`] replays a list of jobs.
//!
//! | module | contents |
//! |---|---|
//! | `main_loop` | `job_scheduler.c:_schedule` |
//! | `backfill` | `backfill.c:_attempt_backfill` |
//! | `look_ahead` | `job_test.c:_will_run_test`, `_future_run_test` |

mod backfill;
mod look_ahead;
mod main_loop;

use replay_engine::sanitize::excerpt;

use crate::fairshare::ShareTree;
use crate::job::SiteJob;
use crate::limits::{Applicant, Limits};
use crate::node_set::NodeSet;
use crate::placement::NodeChoice;
use crate::priority::{self, Factors};
use crate::reason::{Reason, ReasonClass};
use crate::site::Site;
use crate::usage::{Decay, Usage};

/// Seconds after which a job that is past its time limit counts as ended (`KillWait`).
pub const KILL_WAIT: i64 = 30;

/// The loop that started a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartedBy {
    /// The main loop.
    Main,
    /// The backfill.
    Backfill,
}

impl StartedBy {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            StartedBy::Main => "main",
            StartedBy::Backfill => "backfill",
        }
    }
}

/// The start of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The instant, in seconds.
    pub at: i64,
    /// Index of the partition.
    pub partition: usize,
    /// Nodes.
    pub nodes: NodeSet,
    /// The loop that started the job.
    pub by: StartedBy,
    /// Priority of the job in the partition.
    pub priority: u32,
}

/// The planned start of a waiting job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The instant, in seconds.
    pub at: i64,
    /// Index of the partition.
    pub partition: usize,
    /// Nodes that the plan reserves; `None` if the start is shown but no nodes are reserved.
    pub nodes: Option<NodeSet>,
    /// Nodes that were free at the planned start, reserved or not.
    pub place: NodeSet,
}

/// A reservation of the last pass of the backfill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Index of the job.
    pub job: usize,
    /// The nodes reserved.
    pub nodes: NodeSet,
    /// Minutes for which they are reserved.
    pub minutes: u32,
}

/// What has become of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Not submitted, or not eligible.
    Absent,
    /// In the queue.
    Waiting,
    /// Running.
    Running,
    /// Ended.
    Ended,
    /// Rejected at submission.
    Rejected,
}

/// The state of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct JobState {
    /// What has become of the job.
    pub phase: Phase,
    /// Instant from which the job may start and its age counts, in seconds.
    pub eligible: i64,
    /// The last reason for which the job waited, or for which it was rejected.
    pub reason: Reason,
    /// Priority in each of its partitions, in the order asked.
    pub priorities: Vec<u32>,
    /// The start; `None` if the job has not started.
    pub start: Option<Start>,
    /// The earliest planned start of the last pass of the backfill.
    pub planned: Option<Planned>,
    /// The first planned start in the future.
    pub first_plan: Option<i64>,
    /// Number of passes that moved the planned start by more than the resolution.
    pub plan_moves: u32,
    /// The planned start before the last pass that planned the job.
    shown: Option<i64>,
    /// Seconds of waiting by class of the reason, in the order of [`ReasonClass::ALL`].
    pub waits: [i64; ReasonClass::ALL.len()],
    /// Until when `waits` counts.
    counted_until: i64,
    /// Nodes of the last plan, which the limits after placement take into account once.
    last_nodes: Option<NodeSet>,
}

/// A job in one of its partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Record {
    job: usize,
    /// Position of the partition in the job's list.
    place: usize,
    partition: usize,
    tier: u32,
    priority: u32,
}

/// A running job as plans see it, ordered by end, then number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct RunningJob {
    /// End by the time limit, in seconds.
    end: i64,
    number: i64,
    job: usize,
}

/// Result of an attempt to start a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attempt {
    Started,
    /// A limit refuses the job.
    Refused,
    NoPlace,
}

/// A pass of one of the loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pass {
    /// Records that were looked at.
    pub records: u32,
    /// Indexes of the jobs that started, in order.
    pub started: Vec<usize>,
    /// Whether the limit on the number of records or of slots ended the pass.
    pub is_cut: bool,
    /// Whether a test of limits has used the nodes of a plan, which are then forgotten, so that a further pass at once
    /// may have another result.
    pub forgot_plans: bool,
}

/// The state of a site's controller.
pub struct Controller<'a> {
    site: &'a Site,
    jobs: &'a [SiteJob],
    choice: Box<dyn NodeChoice>,
    states: Vec<JobState>,
    /// Indexes of waiting jobs, in the order of arrival.
    waiting: Vec<usize>,
    /// Records of the waiting jobs, in the order of the queue.
    queue: Vec<Record>,
    /// Indexes of waiting jobs that violate the limits of some of their partitions.
    restricted: Vec<usize>,
    /// Whether a test of limits has used the nodes of a plan since the begin of the pass.
    forgot_plans: bool,
    running: Vec<RunningJob>,
    /// Reservations of the last pass of the backfill, in the order of the queue.
    entries: Vec<Entry>,
    /// Nodes that no job holds.
    free: NodeSet,
    in_service: NodeSet,
    limits: Limits<'a>,
    usage: Usage,
    shares: ShareTree,
    /// Fair share of each association.
    fair: Vec<f64>,
    /// Last calculation of the priorities.
    calculated: i64,
    largest_factor: u32,
    largest_qos: u32,
    largest_association: u32,
}

impl<'a> Controller<'a> {
    /// Creates a controller without jobs at the instant `begin`, from which usage is counted. The jobs may arrive in any
    /// order.
    ///
    /// # Errors
    /// A message if the site's rule for the choice of nodes does not support the machine, or if a job refers to a
    /// partition, a QOS or an association that the site does not have.
    pub fn new(site: &'a Site, jobs: &'a [SiteJob], begin: i64) -> Result<Self, String> {
        for job in jobs {
            let known = job.qos < site.qos.len()
                && job.association < site.associations.all().len()
                && !job.partitions.is_empty()
                && job.partitions.iter().all(|&at| at < site.partitions.len());
            if !known || job.nodes == 0 {
                let number = excerpt(&job.number.to_string());
                return Err(format!("job {number} does not belong to this site"));
            }
        }
        let settings = &site.priority;
        let all = site.associations.all();
        let shares = ShareTree::new(&site.associations);
        let usage = Usage::new(Decay::of_half_life(settings.half_life), all.len());
        let state = |job: &SiteJob| JobState {
            phase: Phase::Absent,
            eligible: job.eligible,
            reason: Reason::None,
            priorities: vec![0; job.partitions.len()],
            start: None,
            planned: None,
            first_plan: None,
            plan_moves: 0,
            shown: None,
            waits: [0; ReasonClass::ALL.len()],
            counted_until: job.submit,
            last_nodes: None,
        };
        let mut controller = Self {
            site,
            jobs,
            choice: site.node_choice()?,
            states: jobs.iter().map(state).collect(),
            waiting: Vec::new(),
            queue: Vec::new(),
            restricted: Vec::new(),
            forgot_plans: false,
            running: Vec::new(),
            entries: Vec::new(),
            free: NodeSet::all(site.nodes.len()),
            in_service: NodeSet::all(site.nodes.len()),
            limits: Limits::new(site),
            usage,
            shares,
            fair: Vec::new(),
            calculated: begin,
            largest_factor: site.partitions.iter().map(|one| one.factor).max().unwrap_or(0),
            largest_qos: site.qos.iter().map(|one| one.priority).max().unwrap_or(0),
            largest_association: all.iter().map(|one| one.priority).max().unwrap_or(0),
        };
        controller.share();
        Ok(controller)
    }

    /// Returns the state of each job.
    pub fn states(&self) -> &[JobState] {
        &self.states
    }

    /// Returns the indexes of the waiting jobs, in the order of arrival.
    pub fn waiting(&self) -> &[usize] {
        &self.waiting
    }

    /// Returns the number of running jobs.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns the nodes that no job holds and that are in service.
    pub fn free(&self) -> NodeSet {
        let mut free = self.free.clone();
        free.intersect(&self.in_service);
        free
    }

    /// Returns the usage of all associations.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Sets the usage of each association, and computes the fair shares.
    pub fn set_usage(&mut self, usage: &[f64]) {
        usage.iter().enumerate().for_each(|(at, &used)| self.usage.set(at, used));
        self.share();
    }

    /// Returns the reservations of the last pass of the backfill, in the order of the queue.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the limits, with what the running jobs hold.
    pub fn limits(&self) -> &Limits<'a> {
        &self.limits
    }

    /// Returns the running jobs and their ends by time limit, by end, then job number.
    pub fn ends_by_limit(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.running.iter().map(|running| (running.job, running.end))
    }

    /// Returns the nodes in service.
    pub fn in_service(&self) -> &NodeSet {
        &self.in_service
    }

    /// Sets the nodes in service. Jobs keep nodes that leave service until they end.
    pub fn set_in_service(&mut self, nodes: NodeSet) {
        self.in_service = nodes;
    }

    /// Sets the instant from which a job may start and its age counts, before it arrives.
    pub fn set_eligible(&mut self, job: usize, at: i64) {
        self.states[job].eligible = at;
    }

    /// Sets the reason of a job until a test writes another.
    pub fn set_reason(&mut self, job: usize, reason: Reason) {
        self.states[job].reason = reason;
    }

    /// Computes the fair share of all associations from their usage.
    fn share(&mut self) {
        let settings = &self.site.priority;
        let of_users = self.usage.of_users();
        let shares = self.shares.compute(of_users, settings.fair_tree, settings.dampening);
        self.fair = shares.iter().map(|share| share.factor).collect();
    }

    /// Returns the priority of a job in a partition after it waited for `waited` seconds.
    fn priority(&self, job: &SiteJob, partition: usize, waited: i64) -> u32 {
        let settings = &self.site.priority;
        if let Some(priority) = job.priority {
            return priority;
        }
        if settings.is_basic {
            return 1;
        }
        let partition = &self.site.partitions[partition];
        let resources = job.resources(partition);
        let limit = job.limit_in(partition).unwrap_or(1);
        let [tres_cpu, tres_node] = priority::tres_factors(settings, resources, partition.size);
        let association = &self.site.associations.all()[job.association];
        let factors = Factors {
            age: priority::age_factor(settings, waited),
            assoc: priority::relative(
                association.priority,
                self.largest_association,
                settings.raw_assoc,
            ),
            fairshare: if self.site.has_fair_share { self.fair[job.association] } else { 0.0 },
            size: priority::size_factor(settings, resources, self.site.size(), limit),
            partition: priority::relative(
                partition.factor,
                self.largest_factor,
                settings.raw_partition,
            ),
            qos: priority::relative(
                self.site.qos[job.qos].priority,
                self.largest_qos,
                settings.raw_qos,
            ),
            tres_cpu,
            tres_node,
            nice: job.nice as f64,
        };
        priority::priority(settings, &factors)
    }

    /// Submits a job that is eligible at once, and returns whether it is accepted.
    pub fn arrive(&mut self, job: usize) -> bool {
        let one = &self.jobs[job];
        let applicant = self.limits.applicant(self.site, one, one.partitions[0]);
        let rejected = one.rejected_by_partitions(self.site);
        let rejected =
            rejected.or_else(|| self.limits.at_submission(&applicant).map(Reason::Limit));
        let rejected =
            rejected.or_else(|| self.never_placed(job).then_some(Reason::BadConstraints));
        if let Some(reason) = rejected {
            self.states[job].phase = Phase::Rejected;
            self.states[job].reason = reason;
            return false;
        }
        self.accept([(job, None)]);
        true
    }

    /// Adds jobs to the queue without the tests of a submission. A given priority holds in all partitions of the job until
    /// the next calculation.
    pub fn accept(&mut self, jobs: impl IntoIterator<Item = (usize, Option<u32>)>) {
        jobs.into_iter().for_each(|(job, priority)| self.enqueue(job, priority));
        self.sort_queue();
    }

    /// Adds a job to the end of the queue.
    fn enqueue(&mut self, job: usize, given: Option<u32>) {
        let one = &self.jobs[job];
        let applicant = self.limits.applicant(self.site, one, one.partitions[0]);
        self.limits.submit(&applicant);
        let mut priorities = Vec::with_capacity(one.partitions.len());
        let mut is_restricted = false;
        for (place, &partition) in one.partitions.iter().enumerate() {
            let priority = given.unwrap_or_else(|| self.priority(one, partition, 0));
            priorities.push(priority);
            let is_refused = one.partition_reason(self.site, partition).is_some();
            is_restricted |= is_refused;
            // A job with priority 0 is held.
            if priority > 0 && !is_refused {
                let tier = self.site.partitions[partition].tier;
                self.queue.push(Record { job, place, partition, tier, priority });
            }
        }
        let state = &mut self.states[job];
        state.priorities = priorities;
        state.phase = Phase::Waiting;
        if one.priority.or(given) == Some(0) {
            state.reason = Reason::JobHeldAdmin;
        } else if is_restricted {
            self.restricted.push(job);
        }
        self.waiting.push(job);
    }

    /// Returns whether a job has no placement on the idle machine in any partition whose limits it satisfies.
    fn never_placed(&mut self, job: usize) -> bool {
        let one = &self.jobs[job];
        let mut is_refused = false;
        for &partition in &one.partitions {
            if one.partition_reason(self.site, partition).is_some() {
                continue;
            }
            if self.choice.choose(&self.site.partitions[partition].nodes, one.nodes).is_some() {
                return false;
            }
            is_refused = true;
        }
        is_refused
    }

    /// Adds a job that is running already, since the instant `at`, on these nodes of a partition. Usage is charged from
    /// the begin of the controller on.
    ///
    /// # Errors
    /// A message if another job holds one of the nodes, if the nodes are not in the partition, or if the job is not one
    /// that has not arrived.
    pub fn resume(
        &mut self,
        job: usize,
        at: i64,
        partition: usize,
        nodes: NodeSet,
    ) -> Result<(), String> {
        let number = self.jobs[job].number;
        if self.states[job].phase != Phase::Absent {
            return Err(format!("job {number} is in the queue already"));
        }
        if !nodes.is_subset(&self.site.partitions[partition].nodes) {
            let name = excerpt(&self.site.partitions[partition].name);
            return Err(format!("job {number} runs on nodes outside its partition {name}"));
        }
        if !nodes.is_subset(&self.free) {
            return Err(format!("job {number} runs on a node that another job holds"));
        }
        let first = self.limits.applicant(self.site, &self.jobs[job], self.jobs[job].partitions[0]);
        self.limits.submit(&first);
        let priority = self.jobs[job].priority.unwrap_or(0);
        let start = Start { at, partition, nodes, by: StartedBy::Main, priority };
        self.hold(job, start);
        Ok(())
    }

    /// Sets the priority of a waiting job in all its partitions until the next calculation.
    pub fn set_priority(&mut self, job: usize, priority: u32) {
        self.states[job].priorities.fill(priority);
        self.queue.iter_mut().filter(|record| record.job == job).for_each(|record| {
            record.priority = priority;
        });
        self.sort_queue();
    }

    /// Lets a job hold its nodes.
    fn hold(&mut self, job: usize, start: Start) {
        self.free.subtract(&start.nodes);
        let applicant = self.limits.applicant(self.site, &self.jobs[job], start.partition);
        self.limits.start(&applicant);
        let one = &self.jobs[job];
        let minutes = one.planned_minutes(&self.site.partitions[start.partition]);
        let end = start.at + 60 * i64::from(minutes);
        let running = RunningJob { end, number: one.number, job };
        let place = self.running.partition_point(|other| *other < running);
        self.running.insert(place, running);
        let state = &mut self.states[job];
        state.phase = Phase::Running;
        state.planned = None;
        state.start = Some(start);
    }

    /// Ends a running job at the instant `now`.
    pub fn end(&mut self, job: usize, now: i64) {
        let Some(start) = self.states[job].start.clone() else { return };
        let at = self.running.iter().position(|running| running.job == job);
        let Some(at) = at else { return };
        self.running.remove(at);
        self.free.unite(&start.nodes);
        let applicant = self.limits.applicant(self.site, &self.jobs[job], start.partition);
        self.limits.end(&applicant);
        let first = self.limits.applicant(self.site, &self.jobs[job], self.jobs[job].partitions[0]);
        self.limits.leave(&first);
        self.charge(job, now);
        self.states[job].phase = Phase::Ended;
    }

    /// Charges a running job for the time since the last calculation.
    fn charge(&mut self, job: usize, now: i64) {
        let Some(start) = &self.states[job].start else { return };
        let (one, partition) = (&self.jobs[job], &self.site.partitions[start.partition]);
        let seconds = now - start.at.max(self.calculated);
        let rate = partition.cpus_of(one.nodes) as f64 * self.site.qos[one.qos].usage_factor;
        self.usage.charge(one.association, seconds, rate);
    }

    /// Calculates usage, fair share and the priorities of all waiting jobs at the instant `now`. Returns whether a
    /// priority has changed.
    pub fn calculate(&mut self, now: i64) -> bool {
        self.usage.decay(now - self.calculated);
        for at in 0..self.running.len() {
            self.charge(self.running[at].job, now);
        }
        self.calculated = now;
        if self.site.has_fair_share && self.site.priority.weights.fairshare > 0 {
            self.share();
        }
        let weights = &self.site.priority.weights;
        if weights.age == 0 && weights.fairshare == 0 {
            return false;
        }
        let mut is_changed = false;
        for &job in &self.waiting {
            let one = &self.jobs[job];
            let eligible = self.states[job].eligible;
            let since = if self.site.priority.accrue_always { one.submit } else { eligible };
            for (place, &partition) in one.partitions.iter().enumerate() {
                let priority = self.priority(one, partition, now - since);
                is_changed |= priority != self.states[job].priorities[place];
                self.states[job].priorities[place] = priority;
            }
        }
        if is_changed {
            for record in &mut self.queue {
                record.priority = self.states[record.job].priorities[record.place];
            }
            self.sort_queue();
        }
        is_changed
    }

    /// Sorts the queue: tier, priority, submission, number, order asked. The queue is mostly sorted.
    fn sort_queue(&mut self) {
        let jobs = self.jobs;
        self.queue.sort_by(|a, b| {
            let order = b.tier.cmp(&a.tier).then(b.priority.cmp(&a.priority));
            let (one, other) = (&jobs[a.job], &jobs[b.job]);
            let order = order.then(one.submit.cmp(&other.submit));
            order.then(one.number.cmp(&other.number)).then(a.place.cmp(&b.place))
        });
    }

    /// Begins a pass: returns the records of the queue in order, which are those of each waiting job in each of its
    /// partitions whose limits it satisfies. Sets the reasons of jobs that violate limits of partitions.
    fn records(&mut self, now: i64) -> Vec<Record> {
        self.forgot_plans = false;
        // Reasons change only in passes.
        for &job in &self.waiting {
            let state = &mut self.states[job];
            state.waits[state.reason.class() as usize] += now - state.counted_until;
            state.counted_until = now;
        }
        for &job in &self.restricted {
            let (one, state) = (&self.jobs[job], &mut self.states[job]);
            for &partition in &one.partitions {
                match one.partition_reason(self.site, partition) {
                    Some(reason) => state.reason = reason,
                    None => {
                        let is_of_partition = matches!(
                            state.reason,
                            Reason::PartitionNodeLimit
                                | Reason::PartitionTimeLimit
                                | Reason::PartitionDown
                        );
                        if is_of_partition {
                            state.reason = Reason::None;
                        }
                    }
                }
            }
        }
        self.queue.clone()
    }

    /// Tests the limits before placement (L2), and sets the reason. Returns whether the job passes.
    fn passes_before(&mut self, job: usize, applicant: &Applicant) -> bool {
        let refused = self.limits.before_placement(applicant).map(Reason::Limit);
        self.set_limit_reason(job, refused)
    }

    /// Tests the limits on the size (L3), and sets the reason if the job does not pass. Returns whether the job passes.
    fn passes_size(&mut self, job: usize, applicant: &Applicant) -> bool {
        let refused = self.limits.refuses_size(applicant);
        if let Some(limit) = refused {
            self.states[job].reason = Reason::Limit(limit);
        }
        refused.is_none()
    }

    /// Tests the limits after placement (L4) on `nodes`, or on the nodes of the last plan, which are then forgotten.
    fn passes_after(&mut self, job: usize, applicant: &Applicant, nodes: Option<&NodeSet>) -> bool {
        let last = self.states[job].last_nodes.take();
        self.forgot_plans |= last.is_some();
        let own = nodes.or(last.as_ref());
        let overlap = |group| {
            let Some(own) = own else { return 0 };
            let others = self.running.iter().map(|running| running.job).filter(|&other| {
                let start = self.states[other].start.as_ref();
                start.is_some_and(|start| {
                    let other =
                        self.limits.applicant(self.site, &self.jobs[other], start.partition);
                    self.limits.is_in(&other, group)
                })
            });
            let nodes = others.filter_map(|other| self.states[other].start.as_ref());
            nodes.map(|start| u64::from(start.nodes.overlap(own))).sum()
        };
        let refused = self.limits.after_placement(applicant, overlap).map(Reason::Limit);
        self.set_limit_reason(job, refused)
    }

    /// Removes the reason of a limit, and sets the reason of another. Returns whether there is none.
    fn set_limit_reason(&mut self, job: usize, refused: Option<Reason>) -> bool {
        let state = &mut self.states[job];
        if state.reason.is_limit() {
            state.reason = Reason::None;
        }
        if let Some(reason) = refused {
            state.reason = reason;
        }
        refused.is_none()
    }

    /// Tries to start a job on free nodes of its partition that are in `allowed`.
    fn attempt(&mut self, record: Record, allowed: &NodeSet, now: i64, by: StartedBy) -> Attempt {
        let Record { job, partition, .. } = record;
        let applicant = self.limits.applicant(self.site, &self.jobs[job], partition);
        if !self.passes_before(job, &applicant) || !self.passes_size(job, &applicant) {
            return Attempt::Refused;
        }
        let mut free = self.free();
        free.intersect(&self.site.partitions[partition].nodes);
        free.intersect(allowed);
        let nodes = self.choice.choose(&free, self.jobs[job].nodes);
        if !self.passes_after(job, &applicant, nodes.as_ref()) {
            return Attempt::Refused;
        }
        let Some(nodes) = nodes else { return Attempt::NoPlace };
        self.waiting.retain(|&other| other != job);
        self.queue.retain(|record| record.job != job);
        self.restricted.retain(|&other| other != job);
        self.hold(job, Start { at: now, partition, nodes, by, priority: record.priority });
        Attempt::Started
    }

    /// Returns whether a waiting job neither blocks its partition nor gets a reservation, because of its age or priority.
    fn is_below_reserve(&self, record: Record, now: i64) -> bool {
        let settings = &self.site.scheduler;
        let waited = now - self.states[record.job].eligible;
        waited < settings.min_age || record.priority < settings.min_priority
    }
}
