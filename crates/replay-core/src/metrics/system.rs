//! Metrics of the system over time in a coupled simulation: utilization, fragmentation, busy list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::allocator::Reduction;
use crate::allocator::Refusal;
use crate::simulation::{Decision, Observer, Overhead, Shared, State};
use crate::table::measures;
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// An observer that records the data from which the metrics of a coupled simulation are computed. Times have the unit
/// of the jobs' times (trace seconds, ticks or cycles).
#[derive(Clone, Debug, Default)]
pub struct SystemRecorder {
    arrivals: Vec<i64>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// Number of held processors, integrated over time. The next three fields are also integrals over time.
    held: i128,
    requested: i128,
    busy_list: i128,
    fragmented: i128,
    /// Blocked part of the menu of boxes, integrated over time, and the maximum of the blocked part; `None` without a
    /// menu.
    blocked: Option<(i128, u64)>,
    refusals: u64,
    fragmented_refusals: u64,
    postponed_refusals: u64,
    blocks: u64,
    in_blocks: u64,
    in_one_block: u64,
    searches: u64,
    /// The jobs that were folded at their last start.
    folded: BTreeMap<JobId, Folded>,
    /// Additional processor time of folded jobs, compared with running on the requested processors.
    lost: f64,
    /// Processors out of service, integrated over time.
    down: i128,
    killed: u64,
    requeued: u64,
    /// Processor time of interrupted runs.
    cut_off: i128,
}

/// A folded job.
#[derive(Clone, Copy, Debug)]
struct Folded {
    /// Number of requested processors.
    requested: u32,
    /// Number of allocated processors.
    given: u32,
    /// Run time divided by the run time on the requested processors, both in whole ticks; `None` for a job of run
    /// time 0.
    stretch: Option<f64>,
}

impl SystemRecorder {
    /// Creates a recorder for `jobs` jobs.
    pub fn new(jobs: usize) -> Self {
        Self {
            arrivals: vec![i64::MIN; jobs],
            starts: vec![i64::MIN; jobs],
            ends: vec![i64::MIN; jobs],
            ..Self::default()
        }
    }

    /// Converts counts of points to counts of processors, for a machine with several processors per
    /// point. Counts of held and unavailable points are multiplied by `per_point`, and the
    /// requested processor time is replaced by `requested`.
    pub fn in_processors(&mut self, per_point: u32, requested: i128) {
        self.held *= i128::from(per_point);
        self.down *= i128::from(per_point);
        self.cut_off *= i128::from(per_point);
        self.requested = requested;
    }

    /// Returns the arrival time of each job.
    pub fn arrivals(&self) -> &[i64] {
        &self.arrivals
    }

    /// Returns the start time of each job.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// Returns the completion time of each job.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// Computes the metrics between `origin` and the last completion, on a machine with `processors` processors.
    pub fn metrics(&self, origin: i64, processors: usize, overhead: &Overhead) -> SystemMetrics {
        let finish_time = self.ends.iter().copied().max().unwrap_or(origin) - origin;
        let span = finish_time.max(1) as f64;
        let capacity = span * processors as f64;
        SystemMetrics::of(&Simulated { recorder: self, finish_time, span, capacity, overhead })
    }

    /// Computes the metrics of outages on a machine with `processors` processors. `utilization` is the share of the
    /// machine's processor time that jobs used between `origin` and the last completion.
    pub fn outages(&self, origin: i64, processors: usize, utilization: f64) -> OutageMetrics {
        let finish = self.ends.iter().copied().max().unwrap_or(origin);
        let installed = (finish - origin).max(1) as f64 * processors as f64;
        OutageMetrics::of(&Installed { recorder: self, installed, used: utilization * installed })
    }

    fn mean_stretch(&self) -> f64 {
        let stretches = self.folded.values().filter_map(|folded| folded.stretch);
        match stretches.clone().count() {
            0 => 1.0,
            jobs => stretches.sum::<f64>() / jobs as f64,
        }
    }

    fn lost_percent(&self) -> f64 {
        100.0 * self.lost / (self.requested as f64).max(1.0)
    }

    fn internal_fragmentation_percent(&self) -> f64 {
        match self.held {
            0 => 0.0,
            held => 100.0 * (held - self.requested) as f64 / held as f64,
        }
    }
}

impl Observer for SystemRecorder {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let span = i128::from(to - from);
        self.held += i128::from(state.held) * span;
        self.requested += i128::from(state.requested) * span;
        self.down += i128::from(state.down) * span;
        self.busy_list += i128::from(state.census.map_or(0, |census| census.busy_list)) * span;
        self.fragmented += i128::from(state.fragmented) * span;
        if let Some([blocked, most]) = state.blocked {
            let before = self.blocked.map_or(0, |(sum, _)| sum);
            self.blocked = Some((before + i128::from(blocked) * span, most));
        }
    }

    fn arrived(&mut self, job: JobId, now: i64) {
        self.arrivals[job.index()] = now;
    }

    fn refused(&mut self, _job: JobId, refusal: Refusal) {
        self.refusals += 1;
        self.fragmented_refusals += u64::from(refusal == Refusal::Fragmented);
        self.postponed_refusals += u64::from(matches!(refusal, Refusal::Postponed { .. }));
    }

    fn reduced(&mut self, job: JobId, requested: &Job, reduction: &Reduction) {
        let run = reduction.of(*requested).run;
        let stretch = (requested.run > 0).then(|| run as f64 / requested.run as f64);
        let (requested, given) = (requested.size, reduction.request.size);
        self.folded.insert(job, Folded { requested, given, stretch });
    }

    fn started(&mut self, Decision { job, now, census, .. }: Decision<'_>) {
        self.starts[job.index()] = now;
        let Some(census) = census else { return };
        self.blocks += u64::from(census.blocks);
        self.in_blocks += 1;
        self.in_one_block += u64::from(census.blocks == 1);
        self.searches = census.searches;
    }

    fn cut_off(&mut self, job: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.cut_off += i128::from(now - self.starts[job.index()]) * nodes.len() as i128;
        match again {
            true => {
                self.requeued += 1;
                self.folded.remove(&job);
            }
            false => self.killed += 1,
        }
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.ends[job.index()] = now;
        if let Some(&Folded { requested, given, stretch: Some(stretch) }) = self.folded.get(&job) {
            let run = (now - self.starts[job.index()]) as f64;
            self.lost += run * (f64::from(given) - f64::from(requested) / stretch);
        }
    }
}

/// Input of [`SystemMetrics`].
struct Simulated<'a> {
    recorder: &'a SystemRecorder,
    finish_time: i64,
    /// The value of `finish_time`, but at least 1.
    span: f64,
    /// Processor time of the machine.
    capacity: f64,
    overhead: &'a Overhead,
}

impl Simulated<'_> {
    /// Returns the processor time that jobs requested and used.
    fn useful(&self) -> f64 {
        let shared = self.overhead.shared;
        shared.map_or(self.recorder.requested as f64, |shared| shared.computed)
    }

    /// Returns the processor time that jobs held, including processors that they did not request.
    fn allocated(&self) -> f64 {
        let held = self.recorder.held as f64;
        let of_shared =
            |shared: Shared| shared.computed * held / (self.recorder.requested as f64).max(1.0);
        self.overhead.shared.map_or(held, of_shared)
    }

    fn slots_held_percent(&self) -> Option<f64> {
        let shared = self.overhead.shared?;
        Some(100.0 * self.recorder.held as f64 / (self.span * shared.slots as f64))
    }

    fn blocked_menu(&self) -> Option<f64> {
        let (sum, most) = self.recorder.blocked?;
        Some(100.0 * sum as f64 / (most.max(1) as f64 * self.span))
    }

    fn per_job(&self, count: u64) -> f64 {
        count as f64 / self.recorder.starts.len().max(1) as f64
    }

    /// Returns `value` if the strategy folds jobs; otherwise `None`.
    fn of_folding(&self, value: f64) -> Option<f64> {
        self.overhead.refused_sizes.map(|_| value)
    }

    /// Returns `sum` divided by the number of jobs that got whole units; `None` if no job got whole
    /// units.
    fn of_units(&self, sum: u64) -> Option<f64> {
        let jobs = self.recorder.in_blocks;
        (jobs > 0).then(|| sum as f64 / jobs as f64)
    }
}

measures! {
    /// Metrics of a coupled simulation: utilization and fragmentation as defined by Lo et al. and Bani-Mohammad 2008
    /// (equations 2.2 and 2.3, weighted by time).
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct SystemMetrics, from system: &Simulated<'_> {
        allocated_utilization: f64 ["share", rising] "utilization including processors lost to internal \
            fragmentation; null, like all following columns, for strategies that neither refuse jobs nor allocate \
            whole units" = system.allocated() / system.capacity;
        internal_fragmentation_percent: f64 ["%"] "processor-time allocated to jobs beyond their request, as a share of all allocated processor-time" = system.recorder.internal_fragmentation_percent();
        refusals: u64 ["refusals"] "refused attempts for which enough processors were free; if the strategy folds \
            jobs, the smallest number to which the strategy would then fold the job is enough" = system.recorder.refusals;
        fragmented_refusals: u64 ["refusals"] "refusals because there was no placement (external fragmentation)" = system.recorder.fragmented_refusals;
        too_few_free_refusals: Option<u64> ["refusals"] "refusals because fewer nodes were free than the job needs; \
            the column refusals does not include these refusals; null on machines other than trees and blocks" = Some(system.overhead.too_few_free);
        switches_refusals: Option<u64> ["refusals"] "refusals because the place was on more leaves than the number of \
            leaves for which the job waits; null on machines other than trees and blocks" = Some(system.recorder.postponed_refusals);
        fragmented_time_percent: f64 ["%"] "share of the time in which at least one job waited after it had been refused because there was no placement" = 100.0 * system.recorder.fragmented as f64 / system.span;
        blocked_menu_percent: Option<f64> ["%"] "time average of the share of positions of the menu's boxes that are not entirely free, weighted by the size of the box; null for strategies without a menu of boxes" = system.blocked_menu();
        no_such_size_jobs: Option<u64> ["jobs"] "jobs excluded from the run because the strategy has no place for their size on the idle machine: no box of the menu has this size, or the rule of a tree or of blocks finds no placement; null for strategies that accept every size" = None;
        mean_blocks: Option<f64> ["units"] "mean number of sub-meshes, blocks or pages per job" = system.of_units(system.recorder.blocks);
        one_block_percent: Option<f64> ["%", rising] "share of jobs in one unit" = system.of_units(100 * system.recorder.in_one_block);
        mean_busy_list: Option<f64> ["units"] "time average of the number of allocated units (m)" = system.of_units(1).map(|_| system.recorder.busy_list as f64 / system.span);
        mean_searches: Option<f64> ["searches"] "mean number of searches per job beyond the first (b)" = system.of_units(system.recorder.searches);
        attempts_per_job: f64 ["attempts"] "number of requests of the scheduler for processors per job, including refused requests" = system.per_job(system.overhead.attempts);
        asked_per_job: f64 ["attempts"] "number of these requests per job that called the allocator; the results of \
            the other requests followed from earlier refusals" = system.per_job(system.overhead.allocator_calls);
        operations_per_job: f64 ["operations"] "number of elementary operations of the allocator per job; 0 if the allocator does not count operations" = system.per_job(system.overhead.operations);
        promised_heads: Option<u64> ["jobs"] "jobs that waited at the head of the queue and got a guaranteed latest \
            start; a head gets a guarantee only if a later job could overtake the head; null for schedulers without \
            guarantees" = system.overhead.promises.map(|promises| promises.given);
        late_heads: Option<u64> ["jobs"] "heads with a guaranteed start that started later than their first \
            guarantee" = system.overhead.promises.map(|promises| promises.broken);
        latest_head: Option<u64> ["s"] "largest delay of a job at the head of the queue beyond its first guaranteed start" = system.overhead.promises.map(|promises| promises.worst.unsigned_abs());
        slots_held_percent: Option<f64> ["%"] "time average of the share of cluster slots that jobs held, including jobs that waited for the processor because of lower priority; null on other machines" = system.slots_held_percent();
        refused_sizes: Option<u64> ["sizes"] "number of job sizes that were refused for lack of processors or of a \
            placement, including the last size of each attempt; null, like all following columns, for strategies that \
            do not fold jobs" = system.overhead.refused_sizes;
        folded_percent: Option<f64> ["%"] "share of jobs that ran on fewer processors than requested; null if the strategy does not fold jobs" = system.of_folding(100.0 * system.per_job(system.recorder.folded.len() as u64));
        mean_fold_stretch: Option<f64> [""] "mean over folded jobs with a run time above 0 of the ratio \
            (run time) / (run time on the requested processors), both as replayed; 1 without such jobs, null if the strategy does not fold jobs" = system.of_folding(system.recorder.mean_stretch());
        lost_efficiency_percent: Option<f64> ["%"] "additional processor-time of folded jobs compared with running on the requested processors, as a share of the processor-time of all jobs; null if the strategy does not fold jobs" = system.of_folding(system.recorder.lost_percent());
    }
    with {
        /// Time from the origin of time to the last completion.
        finish_time: i64 = system.finish_time;
        /// Share of the machine's processor time that jobs requested and held; processors beyond
        /// the request do not count. If jobs share processors, only the time in which jobs compute
        /// counts, because a job also holds a processor while other jobs use it.
        utilization: f64 = system.useful() / system.capacity;
    }
}

/// Input of [`OutageMetrics`].
struct Installed<'a> {
    recorder: &'a SystemRecorder,
    /// Processor time of all processors.
    installed: f64,
    /// Processor time that jobs used.
    used: f64,
}

measures! {
    /// Metrics of a run with outages.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
    pub struct OutageMetrics, from machine: &Installed<'_> {
        up_utilization: f64 ["share", rising] "utilization relative to the processors in service; processors that a \
            job still holds during an outage are counted as in service" = match machine.installed - machine.recorder.down as f64 {
            up if up > 0.0 => machine.used / up,
            _ => 0.0,
        };
        down_percent: f64 ["%"] "processor-time out of service, as a share of the processor-time of the machine" = 100.0 * machine.recorder.down as f64 / machine.installed;
        killed_jobs: u64 ["jobs"] "jobs ended by an outage; their run time ends at the outage" = machine.recorder.killed;
        requeued_jobs: u64 ["jobs"] "number of times that an outage interrupted a job, which returned to the queue to \
            run again; the start of such a job is its last start" = machine.recorder.requeued;
        cut_off_percent: f64 ["%"] "processor-time of interrupted runs, as a share of the processor-time of the \
            machine; utilization includes this time for killed jobs, but not for requeued jobs" = 100.0 * machine.recorder.cut_off as f64 / machine.installed;
    }
}

/// Returns the jobs as they ran. The run time of a job is the time for which it held its
/// processors, and its size is the size of the request that was served.
pub fn as_served(jobs: &[Job], recorder: &SystemRecorder) -> Vec<Job> {
    let times = recorder.starts.iter().zip(&recorder.ends);
    let served = (0..).map(JobId).zip(jobs).zip(times).map(|((id, job), (start, end))| {
        let size = recorder.folded.get(&id).map_or(job.size, |folded| folded.given);
        Job { run: end - start, size, ..*job }
    });
    served.collect()
}
