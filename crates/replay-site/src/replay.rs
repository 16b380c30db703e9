//! Replay of a list of jobs through the two loops of a site's controller.
//!
//! At one instant: ends, arrivals, the calculation of priorities if it is due, the main loop, the backfill. The loops take
//! no time, and nodes are free at the end of their job.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::SiteJob;
use crate::node_set::NodeSet;
use crate::reason::Reason;
use crate::scheduler::{Controller, JobState, KILL_WAIT, Pass, Phase};
use crate::site::Site;
use crate::state::{Dependency, PresentState};

/// What ends a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LimitRule {
    /// The run time or the time limit, whichever is less.
    #[default]
    Kill,
    /// The run time.
    Ignore,
}

/// Counts of the passes of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassCounts {
    /// Passes.
    pub passes: u64,
    /// Records that the passes looked at.
    pub records: u64,
    /// Passes that a limit on the number of records or of slots ended.
    pub cut: u64,
    /// Jobs that the passes started.
    pub started: u64,
}

impl PassCounts {
    fn add(&mut self, pass: &Pass) {
        self.passes += 1;
        self.records += u64::from(pass.records);
        self.cut += u64::from(pass.is_cut);
        self.started += pass.started.len() as u64;
    }
}

/// Result of a replay.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The final state of each job.
    pub states: Vec<JobState>,
    /// End of each job that has started.
    pub ends: Vec<Option<i64>>,
    /// Usage of each association at the end of the last job, in decayed CPU seconds; 0 for accounts.
    pub usage: Vec<f64>,
    /// Passes of the main loop.
    pub main: PassCounts,
    /// Passes of the backfill.
    pub backfill: PassCounts,
    /// Calculations of the priorities.
    pub calculations: u64,
}

/// A replay in progress.
pub struct Replay<'a> {
    site: &'a Site,
    jobs: &'a [SiteJob],
    controller: Controller<'a>,
    rule: LimitRule,
    /// Indexes of the jobs by eligibility, the next one last.
    arrivals: Vec<usize>,
    /// Ends of running jobs.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    end_of: Vec<Option<i64>>,
    /// Last full pass of the main loop; at first the first arrival.
    last_full: i64,
    /// Whether a pass of the main loop may differ from the last one.
    is_stale: bool,
    /// From when the backfill is due.
    backfill_due: i64,
    /// Whether something has changed since the last pass of the backfill.
    is_changed: bool,
    last_calculation: i64,
    main: PassCounts,
    backfill: PassCounts,
    calculations: u64,
    /// Waiting jobs with the jobs they depend on.
    dependent: Vec<(usize, Dependency)>,
    /// Nodes that leave service when their job ends.
    leaving: NodeSet,
    /// Since when no job runs or is to come; `None` if one does.
    idle_since: Option<i64>,
}

impl<'a> Replay<'a> {
    /// Prepares the replay of jobs.
    ///
    /// # Errors
    /// The message of [`Controller::new`].
    pub fn new(site: &'a Site, jobs: &'a [SiteJob], rule: LimitRule) -> Result<Self, String> {
        let mut arrivals: Vec<usize> = (0..jobs.len()).collect();
        arrivals.sort_by_key(|&job| Reverse((jobs[job].eligible, jobs[job].number, job)));
        let first = arrivals.last().map_or(0, |&job| jobs[job].eligible);
        Ok(Self {
            site,
            jobs,
            controller: Controller::new(site, jobs, first)?,
            rule,
            arrivals,
            ends: BinaryHeap::new(),
            end_of: vec![None; jobs.len()],
            last_full: first,
            is_stale: true,
            backfill_due: first + site.scheduler.interval,
            is_changed: false,
            last_calculation: first,
            main: PassCounts::default(),
            backfill: PassCounts::default(),
            calculations: 0,
            dependent: Vec::new(),
            leaving: NodeSet::empty(site.nodes.len()),
            idle_since: None,
        })
    }

    /// Begins a replay at the present state of a site: running jobs hold their nodes, waiting jobs are in the queue with
    /// their priorities, and one full pass of the main loop and one pass of the backfill have run at the present instant.
    /// A running job ends `run` seconds after its start; if this is over, [`KILL_WAIT`] seconds after the present instant.
    ///
    /// # Errors
    /// The messages of [`Controller::new`] and [`Controller::resume`].
    pub fn from_state(
        site: &'a Site,
        jobs: &'a [SiteJob],
        state: &PresentState,
    ) -> Result<Self, String> {
        let now = state.now;
        let mut replay = Self::new(site, jobs, LimitRule::Kill)?;
        replay.arrivals = Vec::new();
        replay.controller = Controller::new(site, jobs, now)?;
        replay.last_full = now - site.scheduler.full_interval;
        (replay.backfill_due, replay.last_calculation) = (now, now);
        if let Some(usage) = &state.usage {
            replay.controller.set_usage(usage);
        }
        let mut held = NodeSet::empty(site.nodes.len());
        for running in &state.running {
            let (job, nodes) = (running.job, running.nodes.clone());
            held.unite(&nodes);
            replay.controller.resume(job, running.start, running.partition, nodes)?;
            let end = running.start + jobs[job].run.max(0);
            let end = if end > now { end } else { now + KILL_WAIT };
            replay.end_of[job] = Some(end);
            replay.ends.push(Reverse((end, job)));
        }
        let mut in_service = NodeSet::all(site.nodes.len());
        let mut out = state.out_of_service.clone();
        replay.leaving = out.clone();
        replay.leaving.intersect(&held);
        out.subtract(&held);
        in_service.subtract(&out);
        replay.controller.set_in_service(in_service);
        let mut accepted = Vec::new();
        for waiting in &state.waiting {
            let job = waiting.job;
            replay.controller.set_reason(job, waiting.reason);
            match &waiting.dependency {
                Some(dependency) => replay.dependent.push((job, dependency.clone())),
                None if jobs[job].eligible > now || waiting.is_new => replay.arrivals.push(job),
                None => {
                    let priority = waiting.priority.filter(|_| !state.calculates);
                    accepted.push((job, priority));
                }
            }
        }
        replay.controller.accept(accepted);
        if state.calculates {
            replay.controller.calculate(now);
        }
        replay.arrivals.sort_by_key(|&job| Reverse((jobs[job].eligible, jobs[job].number, job)));
        replay.release_dependent(now);
        replay.let_arrive(now);
        replay.is_changed = true;
        replay.main_loop(now, true);
        replay.backfill(now);
        Ok(replay)
    }

    /// Lets jobs arrive whose dependencies are fulfilled.
    fn release_dependent(&mut self, now: i64) {
        let (states, ends) = (self.controller.states(), &self.end_of);
        let mut released = Vec::new();
        self.dependent.retain(|(job, dependency)| {
            let at = dependency.fulfilled(states, ends, now);
            released.extend(at.map(|at| (*job, at)));
            at.is_none()
        });
        for &(job, at) in &released {
            self.controller.set_eligible(job, at);
            self.arrivals.push(job);
        }
        if !released.is_empty() {
            let states = self.controller.states();
            let jobs = self.jobs;
            self.arrivals
                .sort_by_key(|&job| Reverse((states[job].eligible, jobs[job].number, job)));
        }
    }

    /// Returns the state of the controller.
    pub fn controller(&self) -> &Controller<'a> {
        &self.controller
    }

    /// Returns the counts of the passes of the main loop and of the backfill so far.
    pub fn passes(&self) -> (PassCounts, PassCounts) {
        (self.main, self.backfill)
    }

    /// Returns the seconds between two calculations of the priorities.
    fn period(&self) -> i64 {
        i64::from(self.site.priority.calc_period) * 60
    }

    /// Returns the next instant at which something happens; `None` if nothing happens any more.
    pub fn next_instant(&self) -> Option<i64> {
        let arrival = self.arrivals.last().map(|&job| self.controller.states()[job].eligible);
        let end = self.ends.peek().map(|&Reverse((at, _))| at);
        let is_waiting = !self.controller.waiting().is_empty();
        if let Some(since) = self.idle_since {
            // Nothing runs and nothing arrives: what does not start after all loops have run does not start.
            let settings = &self.site.scheduler;
            let longest = self.period().max(settings.full_interval).max(settings.interval);
            if !is_waiting || self.last_calculation > since + 2 * longest {
                return None;
            }
        }
        let timers = [
            (is_waiting && self.is_stale)
                .then(|| self.last_full + self.site.scheduler.full_interval),
            (is_waiting && self.is_changed && self.site.scheduler.backfill)
                .then_some(self.backfill_due),
            (is_waiting || self.controller.running() > 0)
                .then(|| self.last_calculation + self.period()),
        ];
        timers.into_iter().flatten().chain(arrival).chain(end).min()
    }

    /// Records the ends of jobs that have just started.
    fn record_starts(&mut self, pass: &Pass, now: i64) {
        for &job in &pass.started {
            let one = &self.jobs[job];
            let partition =
                self.controller.states()[job].start.as_ref().map(|start| start.partition);
            let partition = partition.map(|at| &self.site.partitions[at]);
            let limit = partition.and_then(|partition| one.limit_in(partition));
            let over = self.site.over_time_limit.filter(|_| self.rule == LimitRule::Kill);
            let most =
                limit.zip(over).map(|(limit, over)| 60 * (i64::from(limit) + i64::from(over)));
            let end = now + one.run.max(0).min(most.unwrap_or(i64::MAX));
            self.end_of[job] = Some(end);
            self.ends.push(Reverse((end, job)));
        }
        if !pass.started.is_empty() {
            self.is_changed = true;
            self.idle_since = None;
        }
    }

    /// Advances to the next instant and returns it; `None` if the replay is finished.
    pub fn step(&mut self) -> Option<i64> {
        let now = self.next_instant()?;
        let interval = self.site.scheduler.full_interval;
        if !self.is_stale && !self.controller.waiting().is_empty() && now > self.last_full {
            // Full passes since the last one would have had the same result.
            self.last_full += (now - self.last_full - 1) / interval * interval;
        }
        let mut is_event = false;
        while let Some(&Reverse((at, job))) = self.ends.peek().filter(|Reverse((at, _))| *at <= now)
        {
            self.ends.pop();
            let nodes =
                self.controller.states()[job].start.as_ref().map(|start| start.nodes.clone());
            self.controller.end(job, at);
            is_event = true;
            if let Some(mut gone) = nodes.filter(|nodes| nodes.intersects(&self.leaving)) {
                gone.intersect(&self.leaving);
                let mut in_service = self.controller.in_service().clone();
                in_service.subtract(&gone);
                self.leaving.subtract(&gone);
                self.controller.set_in_service(in_service);
            }
        }
        if !self.dependent.is_empty() {
            self.release_dependent(now);
        }
        is_event |= self.let_arrive(now);
        self.is_changed |= is_event;
        if now - self.last_calculation >= self.period() {
            self.is_stale |= self.controller.calculate(now);
            self.last_calculation = now;
            self.calculations += 1;
            self.is_changed = true;
        }
        self.is_stale |= is_event;
        let is_full = now - self.last_full >= interval;
        let is_waiting = !self.controller.waiting().is_empty();
        if is_event || (is_full && is_waiting) {
            self.main_loop(now, is_full);
        }
        self.backfill(now);
        if !self.dependent.is_empty() {
            self.release_dependent(now);
        }
        let is_idle = self.arrivals.is_empty() && self.ends.is_empty();
        self.idle_since = self.idle_since.or(Some(now)).filter(|_| is_idle);
        Some(now)
    }

    /// Submits the jobs that are eligible, and returns whether one is accepted.
    fn let_arrive(&mut self, now: i64) -> bool {
        let mut is_event = false;
        while let Some(&job) = self.arrivals.last() {
            if self.controller.states()[job].eligible > now {
                break;
            }
            self.arrivals.pop();
            is_event |= self.controller.arrive(job);
        }
        is_event
    }

    /// Runs a pass of the main loop.
    fn main_loop(&mut self, now: i64, is_full: bool) {
        let pass = self.controller.main_pass(now, is_full);
        if is_full {
            self.last_full = now;
        }
        self.main.add(&pass);
        self.is_stale = !is_full
            || pass.forgot_plans
            || !pass.started.is_empty()
            || self.site.scheduler.min_age > 0;
        self.record_starts(&pass, now);
    }

    /// Runs a pass of the backfill if it is due.
    fn backfill(&mut self, now: i64) {
        let is_due = self.site.scheduler.backfill && now >= self.backfill_due && self.is_changed;
        if !is_due || self.controller.waiting().is_empty() {
            return;
        }
        self.is_changed = false;
        let pass = self.controller.backfill_pass(now);
        self.backfill_due = now + self.site.scheduler.interval;
        self.backfill.add(&pass);
        // A pass without starts leaves only plans, which limits take into account.
        self.is_stale |= self.site.enforces_limits || !pass.started.is_empty();
        self.record_starts(&pass, now);
    }

    /// Runs the replay to its end.
    pub fn finish(mut self) -> Replayed {
        while self.step().is_some() {}
        Replayed {
            states: self.controller.states().to_vec(),
            ends: self.end_of,
            usage: self.controller.usage().of_users().to_vec(),
            main: self.main,
            backfill: self.backfill,
            calculations: self.calculations,
        }
    }
}

/// Replays jobs through the loops of a site.
///
/// # Errors
/// The message of [`Replay::new`].
pub fn replay(site: &Site, jobs: &[SiteJob], rule: LimitRule) -> Result<Replayed, String> {
    Ok(Replay::new(site, jobs, rule)?.finish())
}

impl Replayed {
    /// Returns the number of jobs that were rejected at submission, by reason, in the order of reasons.
    pub fn rejected(&self) -> Vec<(Reason, usize)> {
        self.by_reason(Phase::Rejected)
    }

    /// Returns the number of jobs that wait at the end of the replay, by reason, in the order of reasons.
    pub fn never_started(&self) -> Vec<(Reason, usize)> {
        self.by_reason(Phase::Waiting)
    }

    fn by_reason(&self, phase: Phase) -> Vec<(Reason, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for state in self.states.iter().filter(|state| state.phase == phase) {
            *counts.entry(state.reason).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}
