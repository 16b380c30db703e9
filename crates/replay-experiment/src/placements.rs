use std::collections::HashMap;
use std::sync::Arc;

use super::{Cell, LogJobs, Measure, ProgressMeter, RunContext};
use replay_core::allocator::Reduction;
use replay_core::metrics::run::{JobMeasures, PlacementMeans};
use replay_core::metrics::{
    Allocation, BlockFragmentation, HierarchySeries, Locality, Placement, TieStatistics,
};
use replay_core::simulation::{Decision, Observer, Timeline};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::{Job, JobId, RecordedLabels};

/// Marks a job that has not started.
const NOT_STARTED: u32 = u32::MAX;

/// Observer that measures every allocation of a run.
pub struct Placements<'a> {
    jobs: &'a [Job],
    labels: &'a RecordedLabels,
    topology: &'a Topology,
    measure: Measure,
    progress: ProgressMeter<'a>,
    locality: Locality,
    /// Pairwise L1 distance of each job.
    pub pairwise: Vec<u64>,
    /// Statistics of the number of candidates with the best score, if counting was requested.
    pub ties: TieStatistics,
    /// Means over all placements.
    pub means: PlacementMeans,
    /// Sums over only those jobs that are in the run that repeats the log; `None` if that run includes all jobs of the
    /// trace.
    over_log: Option<OverLog>,
    measured_jobs: Vec<JobMeasures>,
    /// All allocations in order of their start times; empty if allocations are not recorded.
    pub allocations: Vec<Allocation>,
    /// For each job, the index of its latest allocation; empty if allocations are not recorded.
    latest_allocation: Vec<u32>,
    /// For each job, its index in `measured_jobs`, or [`NOT_STARTED`]; empty if jobs are not recorded.
    measured_index: Vec<u32>,
    /// Arrival time of each job; `None` if arrival times equal submit times.
    arrivals: Option<Vec<i64>>,
    /// Number of points of the job that starts next, if the job gets fewer points than requested.
    reduced: Option<u32>,
    /// Number of points of each job that runs on fewer points than requested.
    served: HashMap<JobId, u32>,
    /// For each job size, on trees and blocks: the number of leaves summed over the jobs, the sum of the minimum
    /// numbers of leaves, and the number of jobs.
    leaves_by_size: HashMap<u32, [i64; 3]>,
    /// Fragmentation over time as defined by Slurm; only on machines of blocks, and only if placements are measured.
    fragmentation: Option<BlockFragmentation>,
}

/// Sums over the jobs of the run that repeats the log.
struct OverLog {
    jobs: Arc<LogJobs>,
    ties: TieStatistics,
    means: PlacementMeans,
}

impl<'a> Placements<'a> {
    /// Creates an observer before the first placement.
    pub fn new(cell: &'a Cell, measure: Measure, context: RunContext<'a>) -> Self {
        let jobs = &cell.trace.workload.jobs;
        Self {
            jobs,
            labels: &cell.trace.workload.labels,
            topology: &cell.trace.topology,
            measure,
            progress: ProgressMeter::new(context, jobs.len()).counted(),
            locality: Locality::new(&cell.trace.topology),
            pairwise: vec![0; jobs.len()],
            ties: TieStatistics::default(),
            means: PlacementMeans::default(),
            over_log: None,
            measured_jobs: Vec::with_capacity(if measure.jobs { jobs.len() } else { 0 }),
            allocations: Vec::new(),
            latest_allocation: vec![NOT_STARTED; if measure.nodes { jobs.len() } else { 0 }],
            measured_index: vec![NOT_STARTED; if measure.jobs { jobs.len() } else { 0 }],
            arrivals: (!cell.trace.chains().follows.is_empty()).then(|| vec![i64::MIN; jobs.len()]),
            reduced: None,
            served: HashMap::new(),
            leaves_by_size: HashMap::new(),
            fragmentation: cell
                .trace
                .topology
                .hierarchy()
                .filter(|_| measure.placements || measure.jobs)
                .and_then(|hierarchy| {
                    let origin = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
                    BlockFragmentation::new(hierarchy, origin)
                }),
        }
    }

    /// Adds separate sums over the jobs in `log`, if `log` is given.
    pub fn over(self, log: Option<Arc<LogJobs>>) -> Self {
        let (ties, means) = Default::default();
        Self { over_log: log.map(|jobs| OverLog { jobs, ties, means }), ..self }
    }

    /// Returns the set of jobs for which separate sums are computed, and these sums.
    pub fn over_log(&self) -> Option<(&LogJobs, TieStatistics, &PlacementMeans)> {
        self.over_log.as_ref().map(|log| (&*log.jobs, log.ties, &log.means))
    }

    /// Records that a job got processors. `tied` is the number of candidates with the best score, if counted.
    fn placed(&mut self, id: JobId, start: i64, nodes: &[NodeId], tied: Option<u32>) {
        self.progress.started();
        let log = self.over_log.as_mut().filter(|log| log.jobs.known[id.index()]);
        if let Some(sets) = tied {
            self.ties.record(sets);
        }
        if let (Some(log), Some(sets)) = (log, tied) {
            log.ties.record(sets);
        }
        let &Job { number, submit, run, estimate, size, .. } = &self.jobs[id.index()];
        if self.measure.nodes {
            self.latest_allocation[id.index()] = self.allocations.len() as u32;
            let times = [start, start + run];
            self.allocations.push(Allocation::new(self.topology, number, times, nodes));
        }
        // A folded job gets fewer points than requested.
        let reduced = self.reduced.take();
        self.served.extend(reduced.map(|points| (id, points)));
        let points = reduced.unwrap_or_else(|| self.topology.points(size));
        if !self.measure.placements && !self.measure.jobs {
            self.pairwise[id.index()] = self.locality.between(nodes, points);
            return;
        }
        let placement = self.locality.placement(nodes, points);
        let per_point = self.topology.per_point();
        self.pairwise[id.index()] = placement.pairwise_l1;
        self.means.record(&placement);
        self.count_leaves(size, &placement, 1);
        if let Some(log) = self.over_log.as_mut().filter(|log| log.jobs.known[id.index()]) {
            log.means.record(&placement);
        }
        if self.measure.jobs {
            let measures = JobMeasures {
                number,
                submit,
                arrival: self.arrivals.as_ref().map_or(submit, |times| times[id.index()]),
                start,
                run,
                own_run: run,
                estimate,
                labels: self.labels.of(&self.jobs[id.index()]),
                size,
                served_size: size.min(points * per_point),
                points,
                held: nodes.len() as u32 * per_point,
                placement: Some(placement),
                tied,
            };
            // A restarted job replaces its earlier record.
            match self.measured_jobs.get_mut(self.measured_index[id.index()] as usize) {
                Some(before) => *before = measures,
                None => {
                    self.measured_index[id.index()] = self.measured_jobs.len() as u32;
                    self.measured_jobs.push(measures);
                }
            }
        }
    }

    /// Adds the number of leaves of a job to the sum for its size. With sign -1, subtracts the number.
    fn count_leaves(&mut self, size: u32, placement: &Placement, sign: i64) {
        if let Some(place) = &placement.hierarchy {
            let [leaves, fewest, jobs] = self.leaves_by_size.entry(size).or_default();
            *leaves += sign * i64::from(place.leaves);
            *fewest += sign * i64::from(place.fewest_leaves);
            *jobs += sign;
        }
    }

    /// Returns the mean number of leaves of the jobs of a size. Returns `None` if there are no jobs of this size, if
    /// the machine is neither a tree nor consists of blocks, or if leaves were not measured.
    pub fn mean_leaves(&self, size: u32) -> Option<f64> {
        let &[leaves, _, jobs] = self.leaves_by_size.get(&size)?;
        (jobs > 0).then(|| leaves as f64 / jobs as f64)
    }

    /// Returns the values for figures of trees and blocks; empty on other machines.
    pub fn hierarchy_series(&self) -> HierarchySeries {
        let measured = self.leaves_by_size.iter().filter(|(_, [.., jobs])| *jobs > 0);
        let fewest =
            |(&size, &[_, fewest, jobs]): (&u32, &[i64; 3])| (size, fewest as f64 / jobs as f64);
        let mut fewest_leaves: Vec<(u32, f64)> = measured.map(fewest).collect();
        fewest_leaves.sort_unstable_by_key(|&(size, _)| size);
        let fragmentation = self.fragmentation.as_ref();
        HierarchySeries {
            fewest_leaves,
            block_fragmentation: fragmentation.map_or(Vec::new(), BlockFragmentation::series),
        }
    }

    /// Returns the time average of Slurm's fragmentation, in nodes and in percent of its largest value; `None` if not
    /// measured.
    pub fn block_fragmentation(&self) -> Option<[f64; 2]> {
        self.fragmentation.as_ref()?.mean()
    }

    /// Records that a job released its processors.
    fn ended(&mut self, id: JobId, now: i64) {
        if let Some(fragmentation) = &mut self.fragmentation {
            fragmentation.end(id, now);
        }
        let latest_allocation =
            self.latest_allocation.get(id.index()).copied().unwrap_or(NOT_STARTED);
        if let Some(allocation) = self.allocations.get_mut(latest_allocation as usize) {
            allocation.end = now;
        }
    }

    /// Records that a job ran on the points in `points`, which has no duplicates.
    pub fn placed_on(&mut self, id: JobId, start: i64, points: &[NodeId]) {
        self.reduced = Some(points.len() as u32);
        self.placed(id, start, points, None);
        if let Some(measures) = self.measured_jobs.last_mut().filter(|_| self.measure.jobs) {
            // The job shares its points with other jobs. The job holds exactly the number of processors that it
            // requested.
            (measures.served_size, measures.held) = (measures.size, measures.size);
        }
    }

    /// Records that a job ran without a known placement.
    pub fn placed_without_position(&mut self, id: JobId, start: i64) {
        self.progress.started();
        if !self.measure.jobs {
            return;
        }
        let &Job { number, submit, run, estimate, size, .. } = &self.jobs[id.index()];
        self.measured_jobs.push(JobMeasures {
            number,
            submit,
            arrival: submit,
            start,
            run,
            own_run: run,
            estimate,
            labels: self.labels.of(&self.jobs[id.index()]),
            size,
            served_size: size,
            points: self.topology.points(size),
            held: size,
            placement: None,
            tied: None,
        });
    }

    /// Returns the recorded jobs in order of submission.
    pub fn into_jobs(mut self) -> Vec<JobMeasures> {
        self.measured_jobs.sort_by_key(|job| (job.submit, job.number));
        self.measured_jobs
    }
}

impl Observer for Placements<'_> {
    fn scheduled(&mut self, timeline: &Timeline) {
        self.arrivals = timeline.arrivals().map(<[i64]>::to_vec);
    }

    fn reduced(&mut self, _job: JobId, _requested: &Job, reduction: &Reduction) {
        self.reduced = Some(reduction.request.size);
    }

    fn arrived(&mut self, id: JobId, now: i64) {
        if let Some(times) = &mut self.arrivals {
            times[id.index()] = now;
        }
    }

    fn started(&mut self, Decision { job, now, nodes, tied, .. }: Decision<'_>) {
        if let Some(fragmentation) = &mut self.fragmentation {
            fragmentation.start(job, nodes, now);
        }
        self.placed(job, now, nodes, tied);
    }

    fn cut_off(&mut self, id: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.ended(id, now);
        let size = self.jobs[id.index()].size;
        let points = self.served.remove(&id).unwrap_or_else(|| self.topology.points(size));
        // For a restarted job, only the last placement counts.
        if again && (self.measure.placements || self.measure.jobs) {
            let placement = self.locality.placement(nodes, points);
            self.means.forget(&placement);
            self.count_leaves(size, &placement, -1);
        }
    }

    fn completed(&mut self, id: JobId, now: i64) {
        self.ended(id, now);
        if self.measure.jobs {
            let job = &mut self.measured_jobs[self.measured_index[id.index()] as usize];
            job.run = now - job.start;
        }
    }
}
