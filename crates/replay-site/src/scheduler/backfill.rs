//! The backfill (`backfill.c:_attempt_backfill`): plans the starts of waiting jobs in the order of the queue, and starts
//! those whose planned start is now. Nothing is kept from pass to pass.

use std::collections::HashMap;

use super::look_ahead::Question;
use super::{
    Attempt, Controller, Entry, KILL_WAIT, Pass, Phase, Planned, Record, RunningJob, StartedBy,
};
use crate::job::LONGEST_LIMIT;
use crate::node_set::NodeSet;
use crate::plan::Plan;

/// The state of a pass.
struct Backfill {
    now: i64,
    plan: Plan,
    /// End of the window within which jobs get reservations.
    window: i64,
    resolution: i64,
    max_slots: usize,
    /// Running jobs in the order of their ends, as the pass sees them.
    running: Vec<RunningJob>,
    tested: u32,
    per_user: HashMap<u32, u32>,
    per_partition: HashMap<usize, u32>,
    per_both: HashMap<(u32, usize), u32>,
}

/// What follows a record.
enum Next {
    Record,
    /// The pass ends.
    Stop,
}

impl Backfill {
    /// Returns an interval whose ends are multiples of the resolution and which covers a job.
    fn interval(&self, start: i64, minutes: u32) -> (i64, i64) {
        let r = self.resolution;
        let end = start + 60 * i64::from(minutes);
        (start.div_euclid(r) * r, (end + r - 1).div_euclid(r) * r)
    }

    fn is_full(&self) -> bool {
        self.plan.created() >= self.max_slots
    }

    /// Returns the nodes of `available` that the plan leaves free from `from` on, and the next instant at which other
    /// nodes may be free.
    fn allowed(&self, available: &NodeSet, from: i64, minutes: u32) -> (NodeSet, Option<i64>) {
        let mut allowed = available.clone();
        let mut later = None;
        let slots = self.plan.slots();
        let end = from.max(self.now) + 60 * i64::from(minutes);
        for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.end > from) {
            if let Some(next) = slots.get(at + 1).filter(|_| later.is_none())
                && !next.free.part_is_in_both(available, &allowed, &slot.free)
            {
                later = Some(slot.end);
            }
            if slot.begin > end {
                if later.is_none() && at + 2 < slots.len() {
                    later = Some(slots[at + 1].end);
                }
                break;
            }
            allowed.intersect(&slot.free);
        }
        (allowed, later)
    }
}

impl Controller<'_> {
    /// Runs a pass of the backfill at the instant `now`.
    pub fn backfill_pass(&mut self, now: i64) -> Pass {
        let settings = &self.site.scheduler;
        let r = settings.resolution;
        let floor = |time: i64| time.div_euclid(r) * r;
        let window = now + 60 * i64::from(settings.window);
        let mut running = self.running.clone();
        for one in running.iter_mut().take_while(|one| one.end <= now) {
            one.end = self.corrected_end(one.job, now);
        }
        running.sort_unstable();
        let mut backfill = Backfill {
            now,
            plan: Plan::new(floor(now), floor(window), self.in_service.clone()),
            window,
            resolution: r,
            max_slots: settings.max_slots(),
            running,
            tested: 0,
            per_user: HashMap::new(),
            per_partition: HashMap::new(),
            per_both: HashMap::new(),
        };
        self.entries.clear();
        for &job in &self.waiting {
            self.states[job].planned = None;
        }
        let mut pass = Pass::default();
        for record in self.records(now) {
            if self.states[record.job].phase != Phase::Waiting {
                continue;
            }
            if backfill.tested >= settings.test {
                pass.is_cut = true;
                break;
            }
            pass.records += 1;
            if let Next::Stop = self.backfill_record(&mut backfill, record, &mut pass) {
                pass.is_cut = true;
                break;
            }
        }
        for &job in &self.waiting {
            let state = &mut self.states[job];
            let Some(planned) = &state.planned else { continue };
            if state
                .shown
                .replace(planned.at)
                .is_some_and(|last| last.abs_diff(planned.at) > r as u64)
            {
                state.plan_moves += 1;
            }
        }
        pass
    }

    /// Returns the end of a running job that has outrun its estimate: the estimate is doubled from the start, up to the time
    /// limit. A job past its limit ends [`KILL_WAIT`] seconds after `now`.
    fn corrected_end(&self, job: usize, now: i64) -> i64 {
        let one = &self.jobs[job];
        if let (Some(estimate), Some(start)) = (one.estimate, &self.states[job].start) {
            let limit = one.limit_in(&self.site.partitions[start.partition]);
            let most = 60 * i64::from(limit.unwrap_or(LONGEST_LIMIT));
            let mut span = 60 * i64::from(estimate.max(1));
            while start.at + span <= now && span < most {
                span = (2 * span).min(most);
            }
            if start.at + span > now {
                return start.at + span;
            }
        }
        now + KILL_WAIT
    }

    /// Returns whether a counter of a record has reached its limit; otherwise counts the record.
    fn is_counted_out(&self, backfill: &mut Backfill, record: Record) -> bool {
        let settings = &self.site.scheduler;
        let user = self.limits.user(self.jobs[record.job].association);
        let partition = record.partition;
        let counters = [
            (
                backfill.per_both.entry((user, partition)).or_default(),
                settings.per_user_and_partition,
            ),
            (backfill.per_partition.entry(partition).or_default(), settings.per_partition),
            (backfill.per_user.entry(user).or_default(), settings.per_user),
        ];
        if counters.iter().any(|(count, most)| *most > 0 && **count >= *most) {
            return true;
        }
        counters.into_iter().for_each(|(count, _)| *count += 1);
        false
    }

    fn backfill_record(
        &mut self,
        backfill: &mut Backfill,
        record: Record,
        pass: &mut Pass,
    ) -> Next {
        let Record { job, partition, .. } = record;
        let now = backfill.now;
        let applicant = self.limits.applicant(self.site, &self.jobs[job], partition);
        if !self.passes_before(job, &applicant) {
            return Next::Record;
        }
        let is_planned = self.states[job].planned.is_some();
        let now_only = self.is_below_reserve(record, now)
            || (self.site.scheduler.one_reservation && is_planned);
        if self.is_counted_out(backfill, record) || !self.passes_size(job, &applicant) {
            return Next::Record;
        }
        let (size, place) = (self.jobs[job].nodes, &self.site.partitions[partition]);
        let minutes = self.jobs[job].planned_minutes(place);
        let mut available = place.nodes.clone();
        available.intersect(&self.in_service);
        let mut later = Some(now);
        let mut is_tested = false;
        // Each turn tries a later start than the turn before. `later` is `None` if there is no later start to try.
        while let Some(from) = later.filter(|_| !(is_tested && now_only)) {
            if from > backfill.plan.end() {
                return Next::Record;
            }
            let (allowed, after) = backfill.allowed(&available, from, minutes);
            later = after;
            if size > allowed.count() {
                if now_only {
                    return Next::Record;
                }
                continue;
            }
            if !is_tested {
                backfill.tested += 1;
                is_tested = true;
            }
            let question = Question { size, allowed: &allowed, now, from, until: later, now_only };
            let Some((start, nodes)) = self.look_ahead(question, &backfill.running) else {
                continue;
            };
            self.states[job].last_nodes = Some(nodes.clone());
            let start = start.max(from);
            if start > now {
                let (begin, end) = backfill.interval(start, minutes);
                if backfill.plan.clashes(&nodes, begin, end) {
                    let step = if start == from { backfill.resolution } else { 0 };
                    later = Some(start + step);
                    continue;
                }
            }
            if start <= now {
                return self.backfill_start(backfill, record, &allowed, minutes, pass);
            }
            if !now_only && later.is_some_and(|later| start > later) {
                continue;
            }
            return self.backfill_enter(backfill, record, minutes, (start, nodes), now_only);
        }
        Next::Record
    }

    /// Starts a job whose planned start is now, and enters its nodes into the plan.
    fn backfill_start(
        &mut self,
        backfill: &mut Backfill,
        record: Record,
        allowed: &NodeSet,
        minutes: u32,
        pass: &mut Pass,
    ) -> Next {
        let (now, job) = (backfill.now, record.job);
        if self.attempt(record, allowed, now, StartedBy::Backfill) != Attempt::Started {
            return Next::Record;
        }
        pass.started.push(job);
        let Some(start) = &self.states[job].start else { return Next::Record };
        let end = now + 60 * i64::from(minutes);
        let running = RunningJob { end, number: self.jobs[job].number, job };
        let place = backfill.running.partition_point(|other| *other < running);
        backfill.running.insert(place, running);
        if !backfill.is_full() {
            let (begin, (_, end)) = (backfill.plan.begin(), backfill.interval(now, minutes));
            backfill.plan.enter(&start.nodes, begin, end, backfill.resolution);
            self.entries.push(Entry { job, nodes: start.nodes.clone(), minutes });
        }
        Next::Record
    }

    /// Keeps the planned start of a job, and enters its nodes into the plan if the rules allow it.
    fn backfill_enter(
        &mut self,
        backfill: &mut Backfill,
        record: Record,
        minutes: u32,
        (start, nodes): (i64, NodeSet),
        now_only: bool,
    ) -> Next {
        let Record { job, partition, .. } = record;
        let state = &mut self.states[job];
        state.first_plan.get_or_insert(start);
        let is_earlier = state.planned.as_ref().is_none_or(|planned| start < planned.at);
        if is_earlier {
            state.planned =
                Some(Planned { at: start, partition, nodes: None, place: nodes.clone() });
        }
        if now_only || start > backfill.window {
            return Next::Record;
        }
        let applicant = self.limits.applicant(self.site, &self.jobs[job], partition);
        if !self.passes_after(job, &applicant, Some(&nodes)) {
            return Next::Record;
        }
        if backfill.is_full() {
            return Next::Stop;
        }
        let (begin, end) = backfill.interval(start, minutes);
        backfill.plan.enter(&nodes, begin, end, backfill.resolution);
        self.entries.push(Entry { job, nodes: nodes.clone(), minutes });
        if let Some(planned) = self.states[job].planned.as_mut().filter(|_| is_earlier) {
            planned.nodes = Some(nodes);
        }
        Next::Record
    }
}
