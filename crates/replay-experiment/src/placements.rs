use std::collections::HashMap;
use std::sync::Arc;

use super::{Cell, LogJobs, Measure, ProgressMeter, RunContext};
use replay_core::allocator::reduced::Reduction;
use replay_core::metrics::run::{JobMeasures, PlacementMeans};
use replay_core::metrics::{Allocation, Locality, TieStatistics};
use replay_core::simulation::{Decision, Observer, Timeline};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::{Job, JobId, Users};

/// The place of a job that has not started.
const NOWHERE: u32 = u32::MAX;

/// Measures every allocation of a run.
pub struct Placements<'a> {
    jobs: &'a [Job],
    users: &'a Users,
    topology: &'a Topology,
    measure: Measure,
    pace: ProgressMeter<'a>,
    locality: Locality,
    /// Pairwise L1 by job.
    pub pairwise: Vec<u64>,
    /// How often the best score was shared, where that was counted.
    pub ties: TieStatistics,
    /// What all placements come to.
    pub means: PlacementMeans,
    /// The same of those jobs alone that the log knows the places of, where it lacks some.
    over_log: Option<OverLog>,
    each: Vec<JobMeasures>,
    /// Every allocation in order of starts, if they are kept.
    pub allocations: Vec<Allocation>,
    /// By job, its latest allocation; empty if they are not kept.
    latest: Vec<u32>,
    /// By job, where it is in `each`, or [`NOWHERE`]; empty if they are not kept.
    place: Vec<u32>,
    /// Arrival by job, where that is not its submission.
    arrivals: Option<Vec<i64>>,
    /// Points of the job that starts next, if they are fewer than it asks for.
    reduced: Option<u32>,
    /// Points of jobs that run on fewer than they ask for.
    served: HashMap<JobId, u32>,
}

/// What is summed over the jobs of a log.
struct OverLog {
    jobs: Arc<LogJobs>,
    ties: TieStatistics,
    means: PlacementMeans,
}

impl<'a> Placements<'a> {
    /// Nothing has been placed yet.
    pub fn new(cell: &'a Cell, measure: Measure, watch: RunContext<'a>) -> Self {
        let jobs = &cell.trace.workload.jobs;
        Self {
            jobs,
            users: &cell.trace.workload.users,
            topology: &cell.trace.topology,
            measure,
            pace: ProgressMeter::new(watch, jobs.len()).counted(),
            locality: Locality::new(&cell.trace.topology),
            pairwise: vec![0; jobs.len()],
            ties: TieStatistics::default(),
            means: PlacementMeans::default(),
            over_log: None,
            each: Vec::with_capacity(if measure.jobs { jobs.len() } else { 0 }),
            allocations: Vec::new(),
            latest: vec![NOWHERE; if measure.nodes { jobs.len() } else { 0 }],
            place: vec![NOWHERE; if measure.jobs { jobs.len() } else { 0 }],
            arrivals: (!cell.trace.chains().follows.is_empty()).then(|| vec![i64::MIN; jobs.len()]),
            reduced: None,
            served: HashMap::new(),
        }
    }

    /// The same with sums of their own over the jobs of a log, if it lacks some.
    pub fn over(self, log: Option<Arc<LogJobs>>) -> Self {
        let (ties, means) = Default::default();
        Self { over_log: log.map(|jobs| OverLog { jobs, ties, means }), ..self }
    }

    /// The jobs of the log, and what was summed over them.
    pub fn over_log(&self) -> Option<(&LogJobs, TieStatistics, &PlacementMeans)> {
        self.over_log.as_ref().map(|log| (&*log.jobs, log.ties, &log.means))
    }

    /// A job got processors, of so many equally good sets if they were counted.
    fn placed(&mut self, id: JobId, start: i64, nodes: &[NodeId], tied: Option<u32>) {
        self.pace.started();
        let log = self.over_log.as_mut().filter(|log| log.jobs.known[id.index()]);
        if let Some(sets) = tied {
            self.ties.record(sets);
        }
        if let (Some(log), Some(sets)) = (log, tied) {
            log.ties.record(sets);
        }
        let &Job { number, submit, run, estimate, size, .. } = &self.jobs[id.index()];
        if self.measure.nodes {
            self.latest[id.index()] = self.allocations.len() as u32;
            let times = [start, start + run];
            self.allocations.push(Allocation::new(self.topology, number, times, nodes));
        }
        // Of a folded job, those that it has.
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
                user: self.users.of(&self.jobs[id.index()]),
                size,
                served_size: size.min(points * per_point),
                points,
                held: nodes.len() as u32 * per_point,
                placement: Some(placement),
                tied,
            };
            // A job that was cut off starts again.
            match self.each.get_mut(self.place[id.index()] as usize) {
                Some(before) => *before = measures,
                None => {
                    self.place[id.index()] = self.each.len() as u32;
                    self.each.push(measures);
                }
            }
        }
    }

    /// A job gives its processors back.
    fn ended(&mut self, id: JobId, now: i64) {
        let latest = self.latest.get(id.index()).copied().unwrap_or(NOWHERE);
        if let Some(allocation) = self.allocations.get_mut(latest as usize) {
            allocation.end = now;
        }
    }

    /// A job ran on these points, each once.
    pub fn placed_on(&mut self, id: JobId, start: i64, points: &[NodeId]) {
        self.reduced = Some(points.len() as u32);
        self.placed(id, start, points, None);
        if let Some(measures) = self.each.last_mut().filter(|_| self.measure.jobs) {
            // It shares them: it holds what it asks for.
            (measures.served_size, measures.held) = (measures.size, measures.size);
        }
    }

    /// A job ran, and nobody knows where.
    pub fn placed_nowhere(&mut self, id: JobId, start: i64) {
        self.pace.started();
        if !self.measure.jobs {
            return;
        }
        let &Job { number, submit, run, estimate, size, .. } = &self.jobs[id.index()];
        self.each.push(JobMeasures {
            number,
            submit,
            arrival: submit,
            start,
            run,
            own_run: run,
            estimate,
            user: self.users.of(&self.jobs[id.index()]),
            size,
            served_size: size,
            points: self.topology.points(size),
            held: size,
            placement: None,
            tied: None,
        });
    }

    /// The jobs that were to be kept, in order of submission.
    pub fn into_jobs(mut self) -> Vec<JobMeasures> {
        self.each.sort_by_key(|job| (job.submit, job.number));
        self.each
    }
}

impl Observer for Placements<'_> {
    fn scheduled(&mut self, timeline: &Timeline) {
        self.arrivals = timeline.arrivals().map(<[i64]>::to_vec);
    }

    fn reduced(&mut self, _job: JobId, _asked: u32, reduction: &Reduction) {
        self.reduced = Some(reduction.request.size);
    }

    fn arrived(&mut self, id: JobId, now: i64) {
        if let Some(times) = &mut self.arrivals {
            times[id.index()] = now;
        }
    }

    fn started(&mut self, Decision { job, now, nodes, tied, .. }: Decision<'_>) {
        self.placed(job, now, nodes, tied);
    }

    fn cut_off(&mut self, id: JobId, now: i64, nodes: &[NodeId], again: bool) {
        self.ended(id, now);
        let size = self.jobs[id.index()].size;
        let points = self.served.remove(&id).unwrap_or_else(|| self.topology.points(size));
        // Where it starts again counts, not where it was.
        if again && (self.measure.placements || self.measure.jobs) {
            self.means.forget(&self.locality.placement(nodes, points));
        }
    }

    fn completed(&mut self, id: JobId, now: i64) {
        self.ended(id, now);
        if self.measure.jobs {
            let job = &mut self.each[self.place[id.index()] as usize];
            job.run = now - job.start;
        }
    }
}
