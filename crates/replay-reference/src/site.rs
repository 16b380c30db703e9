//! Reference implementation of Slurm's main loop and backfill for jobs with fixed priorities, without limits of QOS and
//! associations. Sets of nodes are sorted sets, running jobs are searched, every pass is run at every instant that may
//! have one, and each pass sorts its records anew.

use std::collections::BTreeSet;

/// Node numbers.
pub type Nodes = BTreeSet<u32>;

/// A partition.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Nodes.
    pub nodes: Nodes,
    /// Tier.
    pub tier: u32,
    /// Longest time limit in minutes.
    pub max_time: Option<i64>,
}

/// A job; times in seconds.
#[derive(Clone, Debug)]
pub struct Job {
    /// Submission.
    pub submit: i64,
    /// Number of nodes.
    pub nodes: usize,
    /// Run time.
    pub run: i64,
    /// Time limit in minutes.
    pub limit: i64,
    /// Priority.
    pub priority: u32,
    /// Indexes of partitions.
    pub partitions: Vec<usize>,
}

/// Settings of the loops; see `SchedulerSettings` of `replay-site`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are those of Slurm's options")]
pub struct Settings {
    pub interval: i64,
    pub resolution: i64,
    pub window: i64,
    pub test: usize,
    pub slots: usize,
    pub depth: usize,
    pub full_interval: i64,
    pub calc_period: i64,
    pub min_priority: u32,
    pub per_partition: usize,
}

/// Start of a job: instant, partition, nodes, and whether the backfill started it.
pub type Start = (i64, usize, Nodes, bool);

struct State<'a> {
    partitions: &'a [Partition],
    jobs: &'a [Job],
    settings: &'a Settings,
    machine: Nodes,
    waiting: Vec<usize>,
    starts: Vec<Option<Start>>,
    running: Vec<usize>,
}

fn minutes(job: &Job, partition: &Partition) -> i64 {
    partition.max_time.map_or(job.limit, |most| job.limit.min(most))
}

/// Chooses nodes by Slurm's rule without a topology.
fn choose(free: &Nodes, size: usize) -> Option<Nodes> {
    if free.len() < size {
        return None;
    }
    if size == 1 {
        return free.first().map(|&node| Nodes::from([node]));
    }
    let mut runs: Vec<Vec<u32>> = Vec::new();
    for &node in free {
        match runs.last_mut().filter(|run| run[run.len() - 1] + 1 == node) {
            Some(run) => run.push(node),
            None => runs.push(vec![node]),
        }
    }
    let mut chosen = Nodes::new();
    while chosen.len() < size {
        let rest = size - chosen.len();
        let fitting = (0..runs.len())
            .filter(|&at| runs[at].len() >= rest)
            .min_by_key(|&at| (runs[at].len(), at));
        let largest = || (0..runs.len()).max_by_key(|&at| (runs[at].len(), runs.len() - at));
        let at = fitting.or_else(largest)?;
        chosen.extend(runs.remove(at).into_iter().take(rest));
    }
    Some(chosen)
}

impl State<'_> {
    fn held(&self, job: usize) -> &Nodes {
        &self.starts[job].as_ref().expect("a running job").2
    }

    fn free(&self) -> Nodes {
        let is_free = |node: &&u32| self.running.iter().all(|&job| !self.held(job).contains(node));
        self.machine.iter().filter(is_free).copied().collect()
    }

    /// End by the time limit.
    fn end(&self, job: usize) -> i64 {
        let (at, partition, ..) = self.starts[job].as_ref().expect("a running job");
        at + 60 * minutes(&self.jobs[job], &self.partitions[*partition])
    }

    fn records(&self) -> Vec<(usize, usize)> {
        let passes = |&(job, partition): &(usize, usize)| {
            let (job, partition) = (&self.jobs[job], &self.partitions[partition]);
            job.nodes <= partition.nodes.len()
                && partition.max_time.is_none_or(|most| job.limit <= most)
        };
        let of_job =
            |&job: &usize| self.jobs[job].partitions.iter().map(move |&partition| (job, partition));
        let mut records: Vec<_> = self.waiting.iter().flat_map(of_job).filter(passes).collect();
        records.sort_by_key(|&(at, partition)| {
            let job = &self.jobs[at];
            (std::cmp::Reverse((self.partitions[partition].tier, job.priority)), job.submit, at)
        });
        records
    }

    fn start(&mut self, job: usize, partition: usize, nodes: Nodes, now: i64, backfill: bool) {
        self.starts[job] = Some((now, partition, nodes, backfill));
        self.waiting.retain(|&other| other != job);
        self.running.push(job);
    }

    fn main_pass(&mut self, now: i64, is_full: bool) {
        let mut available = self.machine.clone();
        let mut blocked = BTreeSet::new();
        let mut count = 0;
        for (job, partition) in self.records() {
            if self.starts[job].is_some() {
                continue;
            }
            if !is_full && count > self.settings.depth {
                break;
            }
            count += 1;
            if blocked.contains(&partition) {
                continue;
            }
            let nodes = &self.partitions[partition].nodes;
            let in_partition: Nodes = available.intersection(nodes).copied().collect();
            let is_closed = self.jobs[job].nodes > in_partition.len();
            let usable: Nodes = in_partition.intersection(&self.free()).copied().collect();
            match choose(&usable, self.jobs[job].nodes).filter(|_| !is_closed) {
                Some(chosen) => self.start(job, partition, chosen, now, false),
                None if is_closed || self.jobs[job].priority >= self.settings.min_priority => {
                    blocked.insert(partition);
                    available.retain(|node| !nodes.contains(node));
                }
                None => {}
            }
        }
    }

    fn look_ahead(
        &self,
        size: usize,
        allowed: &Nodes,
        now: i64,
        from: i64,
        until: Option<i64>,
        now_only: bool,
    ) -> Option<(i64, Nodes)> {
        let usable = |running: &[usize]| -> Nodes {
            let is_free = |node: &&u32| running.iter().all(|&job| !self.held(job).contains(node));
            allowed.iter().filter(is_free).copied().collect()
        };
        if from <= now {
            if let Some(nodes) = choose(&usable(&self.running), size) {
                return Some((now, nodes));
            }
            if now_only {
                return None;
            }
        }
        let mut running: Vec<usize> =
            self.running.iter().copied().filter(|&job| self.end(job) > from).collect();
        running.sort_by_key(|&job| (self.end(job), job));
        if let Some(nodes) = choose(&usable(&running), size) {
            return Some((now, nodes));
        }
        let (mut kept, mut removed) = (running.clone(), Vec::new());
        let (mut next, mut span, mut first) = (0, 30, None);
        loop {
            let mut is_last = true;
            while next < running.len() && until.is_none_or(|until| self.end(running[next]) <= until)
            {
                let job = running[next];
                next += 1;
                if self.held(job).is_disjoint(allowed) {
                    continue;
                }
                kept.retain(|&other| other != job);
                removed.push(job);
                let first = *first.get_or_insert((self.end(job) / 30 + 1) * 30);
                if next < running.len() && self.end(running[next]) > first + span {
                    is_last = false;
                    break;
                }
            }
            if let Some(nodes) = choose(&usable(&kept), size) {
                let ends = removed.iter().filter(|&&job| !self.held(job).is_disjoint(&nodes));
                let end = ends.map(|&job| self.end(job)).max().expect("a node of a removed job");
                return Some((end, nodes));
            }
            if is_last {
                return None;
            }
            span *= 2;
            while self.end(running[next]) > first.expect("a removed job") + span {
                span *= 2;
            }
        }
    }

    fn backfill_pass(&mut self, now: i64) {
        let Settings { resolution: r, window, .. } = *self.settings;
        let (begin, end) = (now / r * r, (now + window) / r * r);
        let mut plan = vec![(begin, end, self.machine.clone())];
        let (mut created, mut tested) = (1, 0);
        let mut per_partition = vec![0; self.partitions.len()];
        for (job, partition) in self.records() {
            if self.starts[job].is_some() {
                continue;
            }
            if tested >= self.settings.test {
                break;
            }
            let now_only = self.jobs[job].priority < self.settings.min_priority;
            if self.settings.per_partition > 0
                && per_partition[partition] >= self.settings.per_partition
            {
                continue;
            }
            per_partition[partition] += 1;
            let size = self.jobs[job].nodes;
            let seconds = 60 * minutes(&self.jobs[job], &self.partitions[partition]);
            let round = |start: i64| (start / r * r, (start + seconds + r - 1) / r * r);
            let mut later = Some(now);
            let mut is_counted = false;
            while let Some(from) = later {
                later = None;
                if from > plan[plan.len() - 1].1 {
                    break;
                }
                let of_partition = &self.partitions[partition].nodes;
                let mut allowed = of_partition.clone();
                for at in 0..plan.len() {
                    let (slot_begin, slot_end, free) = &plan[at];
                    if *slot_end <= from {
                        continue;
                    }
                    if later.is_none() && at + 1 < plan.len() {
                        let mut next = plan[at + 1].2.intersection(of_partition);
                        if next.any(|node| !allowed.contains(node) || !free.contains(node)) {
                            later = Some(*slot_end);
                        }
                    }
                    if *slot_begin > from.max(now) + seconds {
                        if later.is_none() && at + 2 < plan.len() {
                            later = Some(plan[at + 1].1);
                        }
                        break;
                    }
                    allowed.retain(|node| free.contains(node));
                }
                let found = match size > allowed.len() {
                    true => None,
                    false => {
                        tested += usize::from(!is_counted);
                        is_counted = true;
                        self.look_ahead(size, &allowed, now, from, later, now_only)
                    }
                };
                let Some((start, nodes)) = found else {
                    if now_only {
                        break;
                    }
                    continue;
                };
                let start = start.max(from);
                if start > now {
                    let (first, last) = round(start);
                    let clashes = |(begin, end, free): &(i64, i64, Nodes)| {
                        *end > first && *begin < last && !nodes.is_subset(free)
                    };
                    if plan.iter().any(clashes) {
                        later = Some(if start == from { start + r } else { start });
                        continue;
                    }
                    if later.is_some_and(|later| start > later) {
                        continue;
                    }
                    if start > now + window {
                        break;
                    }
                    if created >= self.settings.slots {
                        return;
                    }
                    enter(&mut plan, &mut created, &nodes, first, last.max(first + r));
                    break;
                }
                let usable: Nodes = allowed.intersection(&self.free()).copied().collect();
                let Some(nodes) = choose(&usable, size) else { break };
                self.start(job, partition, nodes.clone(), now, true);
                if created < self.settings.slots {
                    let (first, last) = (plan[0].0, round(now).1);
                    enter(&mut plan, &mut created, &nodes, first, last.max(first + r));
                }
                break;
            }
        }
    }
}

/// Takes nodes out of a plan.
fn enter(
    plan: &mut Vec<(i64, i64, Nodes)>,
    created: &mut usize,
    nodes: &Nodes,
    begin: i64,
    end: i64,
) {
    let begin = begin.max(plan[0].0);
    let Some(before) = plan.iter().position(|slot| slot.1 >= begin) else { return };
    let mut split = |plan: &mut Vec<(i64, i64, Nodes)>, at: usize, time: i64| {
        let after = (time, plan[at].1, plan[at].2.clone());
        plan[at].1 = time;
        plan.insert(at + 1, after);
        *created += 1;
    };
    if plan[before].1 > begin {
        split(plan, before, begin);
    }
    let mut at = before + 1;
    while at < plan.len() {
        if end < plan[at].1 {
            split(plan, at, end);
        }
        plan[at].2.retain(|node| !nodes.contains(node));
        at += 1;
        if plan[at - 1].1 == end {
            break;
        }
    }
    for first in before.saturating_sub(1)..at.min(plan.len() - 1) {
        if plan[first].2 == plan[first + 1].2 {
            plan[first].1 = plan[first + 1].1;
            plan.remove(first + 1);
            return;
        }
    }
}

/// Replays jobs, which are in order of submission, on a machine with nodes `0..machine`; jobs end at their limit at the
/// latest. Returns the start of each job; `None` if it never starts.
pub fn replay(
    machine: u32,
    partitions: &[Partition],
    jobs: &[Job],
    settings: &Settings,
) -> Vec<Option<Start>> {
    let mut state = State {
        partitions,
        jobs,
        settings,
        machine: (0..machine).collect(),
        waiting: Vec::new(),
        starts: vec![None; jobs.len()],
        running: Vec::new(),
    };
    let Some(first) = jobs.first().map(|job| job.submit) else { return Vec::new() };
    let real_end = |state: &State<'_>, job: usize| {
        let at = state.starts[job].as_ref().expect("a running job").0;
        at + jobs[job].run.min(60 * jobs[job].limit)
    };
    let (mut next, mut last_full, mut due, mut calculated) =
        (0, first, first + settings.interval, first);
    let (mut is_changed, mut idle) = (false, 0);
    loop {
        let ends = state.running.iter().map(|&job| real_end(&state, job));
        let arrival = jobs.get(next).map(|job| job.submit);
        let is_waiting = !state.waiting.is_empty();
        let timers = [
            is_waiting.then_some(last_full + settings.full_interval),
            (is_waiting && is_changed).then_some(due),
            (is_waiting || !state.running.is_empty()).then_some(calculated + settings.calc_period),
        ];
        let Some(now) = ends.chain(arrival).chain(timers.into_iter().flatten()).min() else {
            break;
        };
        let before = (state.running.len(), next);
        let over: Vec<usize> =
            state.running.iter().copied().filter(|&job| real_end(&state, job) <= now).collect();
        state.running.retain(|job| !over.contains(job));
        while jobs.get(next).is_some_and(|job| job.submit <= now) {
            state.waiting.push(next);
            next += 1;
        }
        let is_event = (state.running.len(), next) != before;
        is_changed |= is_event;
        if now - calculated >= settings.calc_period {
            (calculated, is_changed) = (now, true);
        }
        let is_full = now - last_full >= settings.full_interval;
        if is_event || (is_full && !state.waiting.is_empty()) {
            let waiting = state.waiting.len();
            state.main_pass(now, is_full);
            is_changed |= state.waiting.len() < waiting;
            last_full = if is_full { now } else { last_full };
        }
        if now >= due && is_changed && !state.waiting.is_empty() {
            let waiting = state.waiting.len();
            state.backfill_pass(now);
            (due, is_changed) = (now + settings.interval, state.waiting.len() < waiting);
        }
        // Nothing runs and nothing arrives: some hundred instants later, what waits never starts.
        idle = if state.running.is_empty() && next == jobs.len() { idle + 1 } else { 0 };
        if idle > 200 {
            break;
        }
    }
    state.starts
}
