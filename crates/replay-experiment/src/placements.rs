use std::collections::HashMap;
use std::sync::Arc;

use super::{Cell, LogJobs, Measure, ProgressMeter, RunContext};
use replay_engine::allocator::{Reduction, Refusal};
use replay_engine::metrics::measure::{Placed, Scope};
use replay_engine::metrics::{Allocation, JobMeasures, Locality, Measures};
use replay_engine::simulation::{Decision, Observer, State, Timeline};
use replay_engine::topology::{NodeId, Topology};
use replay_engine::workload::{Job, JobId, RecordedLabels};

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
    /// The measures of the run.
    pub measures: Measures,
    /// Measures of only those jobs that are in the run that repeats the log, and the set of these jobs; `None` if that
    /// run includes all jobs of the trace.
    over_log: Option<(Arc<LogJobs>, Measures)>,
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
}

impl<'a> Placements<'a> {
    /// Creates an observer before the first placement.
    pub fn new(cell: &'a Cell, measure: Measure, scope: Scope, context: RunContext<'a>) -> Self {
        let jobs = &cell.trace.workload.jobs;
        Self {
            jobs,
            labels: &cell.trace.workload.labels,
            topology: &cell.trace.topology,
            measure,
            progress: ProgressMeter::new(context, jobs.len()).counted(),
            locality: Locality::new(&cell.trace.topology),
            pairwise: vec![0; jobs.len()],
            measures: Measures::new(&measure.setup(&cell.trace, scope)),
            over_log: None,
            measured_jobs: Vec::with_capacity(if measure.jobs { jobs.len() } else { 0 }),
            allocations: Vec::new(),
            latest_allocation: vec![NOT_STARTED; if measure.nodes { jobs.len() } else { 0 }],
            measured_index: vec![NOT_STARTED; if measure.jobs { jobs.len() } else { 0 }],
            arrivals: (!cell.trace.chains().follows.is_empty()).then(|| vec![i64::MIN; jobs.len()]),
            reduced: None,
            served: HashMap::new(),
        }
    }

    /// Measures the jobs in `log` separately, too, if `log` is given.
    pub fn over(self, cell: &Cell, log: Option<Arc<LogJobs>>) -> Self {
        let measures = || Measures::new(&self.measure.setup(&cell.trace, Scope::Allocations));
        Self { over_log: log.map(|jobs| (jobs, measures())), ..self }
    }

    /// Returns the set of jobs that are measured separately, and their measures.
    pub fn over_log(&self) -> Option<(&LogJobs, &Measures)> {
        self.over_log.as_ref().map(|(jobs, measures)| (&**jobs, measures))
    }

    /// Records that a job got processors. `tied` is the number of candidates with the best score, if counted.
    fn placed(&mut self, id: JobId, start: i64, nodes: &[NodeId], tied: Option<u32>) {
        self.progress.started();
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
        let placement =
            self.measure.of_placements().then(|| self.locality.placement(nodes, points));
        let pairwise_l1 = match &placement {
            Some(placement) => placement.pairwise_l1,
            None => self.locality.between(nodes, points),
        };
        self.pairwise[id.index()] = pairwise_l1;
        let placed = Placed { size, pairwise_l1, placement: placement.as_ref(), tied };
        self.measures.placed(&placed);
        if let Some((_, measures)) =
            self.over_log.as_mut().filter(|(jobs, _)| jobs.known[id.index()])
        {
            measures.placed(&placed);
        }
        let per_point = self.topology.per_point();
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
                placement,
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

    /// Records that a job released its processors.
    fn ended(&mut self, id: JobId, now: i64) {
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

// Methods that are added to `Observer` must be forwarded to the measures.
#[deny(clippy::missing_trait_methods)]
impl Observer for Placements<'_> {
    fn scheduled(&mut self, timeline: &Timeline) {
        self.measures.scheduled(timeline);
        self.arrivals = timeline.arrivals().map(<[i64]>::to_vec);
    }

    fn is_done(&self) -> bool {
        false
    }

    #[inline]
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.measures.passed(from, to, state);
    }

    #[inline]
    fn arrived(&mut self, id: JobId, now: i64) {
        self.measures.arrived(id, now);
        if let Some(times) = &mut self.arrivals {
            times[id.index()] = now;
        }
    }

    #[inline]
    fn refused(&mut self, id: JobId, refusal: Refusal) {
        self.measures.refused(id, refusal);
    }

    fn reduced(&mut self, id: JobId, requested: &Job, reduction: &Reduction) {
        self.measures.reduced(id, requested, reduction);
        self.reduced = Some(reduction.request.size);
    }

    fn took(&mut self, id: JobId, now: i64, slots: &[NodeId]) {
        self.measures.took(id, now, slots);
    }

    #[inline]
    fn started(&mut self, decision: Decision<'_>) {
        self.measures.started(decision);
        let Decision { job, now, nodes, tied, .. } = decision;
        self.placed(job, now, nodes, tied);
    }

    fn cut_off(&mut self, id: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.measures.cut_off(id, now, nodes, again);
        self.ended(id, now);
        let size = self.jobs[id.index()].size;
        let points = self.served.remove(&id).unwrap_or_else(|| self.topology.points(size));
        // For a restarted job, only the last placement counts.
        if again {
            let placement =
                self.measure.of_placements().then(|| self.locality.placement(nodes, points));
            let pairwise_l1 = self.pairwise[id.index()];
            let placement = placement.as_ref();
            self.measures.withdrawn(&Placed { size, pairwise_l1, placement, tied: None });
        }
    }

    #[inline]
    fn completed(&mut self, id: JobId, now: i64) {
        self.measures.completed(id, now);
        self.ended(id, now);
        if self.measure.jobs {
            let job = &mut self.measured_jobs[self.measured_index[id.index()] as usize];
            job.run = now - job.start;
        }
    }
}
