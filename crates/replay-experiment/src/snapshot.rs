//! State of the machine at one instant of a run.

use std::collections::{HashMap, HashSet};

use super::Cell;
use super::admission::Admitted;
use super::problem::CellProblem;
use replay_engine::allocator::Reduction;
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Slots;
use replay_engine::metrics::allocations::{NODES, numbers};
use replay_engine::metrics::{Allocation, JobMeasures, Locality};
use replay_engine::simulation::{Decision, Observer, Starts, Timeline};
use replay_engine::table::{Column, Table};
use replay_engine::topology::NodeId;
use replay_engine::workload::{Job, JobId};

/// Selects an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// The end of this second of the trace, when all events of this second have been processed.
    At(i64),
    /// The instant at which the job with this job number has just received its processors.
    Started(i64),
}

/// State of a machine at an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// Time in seconds of the trace.
    pub at: i64,
    /// Running jobs with their processors, in order of their start times.
    pub holds: Vec<HeldAllocation>,
    /// Number of waiting jobs.
    pub waiting: u64,
    /// Index of the requested job in `holds`.
    pub requested: Option<usize>,
    /// Processors out of service in ascending order.
    pub down: Vec<NodeId>,
    /// First start and last end of the run; `None` if no job runs.
    pub span: Option<[i64; 2]>,
}

/// A job with its processors.
#[derive(Clone, PartialEq, Debug)]
pub struct HeldAllocation {
    /// Measures of the job.
    pub job: JobMeasures,
    /// Processors in the order of allocation.
    pub nodes: Vec<NodeId>,
}

impl Table for HeldAllocation {
    const NAME: &'static str = "held";
    const ROW: &'static str =
        "one row per job that holds processors at an instant, in order of their start times";

    fn columns() -> Vec<Column<Self>> {
        let of_job =
            JobMeasures::columns().into_iter().map(|c| c.of(|hold: &Self| Some(&hold.job)));
        let mut columns: Vec<_> =
            of_job.filter(|column| column.name != JobMeasures::TIED).collect();
        columns.push(Column::new(Allocation::NODES, "", NODES, |hold: &Self| numbers(&hold.nodes)));
        columns
    }
}

/// Simulates a cell until its state at the requested instant is known. Returns `None` if the job with the requested
/// number does not exist or never received processors.
///
/// # Errors
/// [`CellProblem`] if the cell cannot run.
pub fn snapshot(
    cell: &Cell,
    when: When,
    stop: &CancelToken,
) -> Result<Option<Snapshot>, CellProblem> {
    let mut allocator = cell.build_allocator()?;
    let Admitted { cell, .. } = Admitted::by(allocator.as_mut(), cell)?;
    let cell = cell.as_ref();
    let jobs = &cell.trace.workload.jobs;
    let requested = match when {
        When::At(_) => None,
        When::Started(number) => match jobs.iter().position(|job| job.number == number) {
            None => return Ok(None),
            place => place,
        },
    };
    let at = match when {
        When::At(at) => Some(at),
        When::Started(_) => None,
    };
    let topology = &cell.trace.topology;
    let follows = !cell.trace.chains().follows.is_empty();
    let mut observer = SnapshotObserver {
        jobs,
        requested,
        at,
        is_past: false,
        planned: false,
        starts: vec![i64::MAX; jobs.len()],
        // The arrival time of a job that depends on another job is not known in advance.
        arrivals: jobs.iter().map(|job| if follows { i64::MAX } else { job.submit }).collect(),
        held: HashMap::new(),
        reduced: HashMap::new(),
        slots: topology.cluster().map(Slots::new),
        last_end: None,
    };
    let simulation = cell.trace.simulation(stop);
    let schedule = cell.replayed_schedule(&simulation, allocator.as_ref(), stop)?;
    let mut scheduler = cell.build_scheduler();
    let starts = match &schedule {
        Some(schedule) => Starts::Timeline(&schedule.timeline),
        None => Starts::Scheduler(scheduler.as_mut()),
    };
    simulation.run(starts, allocator.as_mut(), &mut observer)?;
    Ok(observer.finish(cell))
}

/// Observer that records the state at the instant.
struct SnapshotObserver<'a> {
    /// Jobs of the workload.
    jobs: &'a [Job],
    /// Index of the requested job.
    requested: Option<usize>,
    /// The instant; `None` until it is known.
    at: Option<i64>,
    /// Whether the instant has passed. After the requested instant, only the ends of jobs are recorded.
    is_past: bool,
    /// Whether the start and end times of all jobs are known in advance.
    planned: bool,
    /// Start time of each job; `i64::MAX` if the job has not started.
    starts: Vec<i64>,
    /// Running jobs by job index.
    held: HashMap<usize, RunningJob>,
    /// Arrival time of each job. The arrival time equals the submit time, unless the job depends on another job.
    arrivals: Vec<i64>,
    /// Number of processors of each folded job.
    reduced: HashMap<usize, u32>,
    /// On a cluster, the occupied slots at the instant. A job moves to a higher slot when a job in a higher
    /// slot ends.
    slots: Option<Slots>,
    /// Time of the last end of a job, if ends are observed.
    last_end: Option<i64>,
}

struct RunningJob {
    start: i64,
    /// End time of the job; `i64::MAX` until it is known.
    end: i64,
    nodes: Vec<NodeId>,
}

impl SnapshotObserver<'_> {
    /// Returns the processors of a job at the instant. On a cluster, returns the slots of the job.
    fn places(&self, job: usize, nodes: &[NodeId]) -> Vec<NodeId> {
        let Some(slots) = &self.slots else { return nodes.to_vec() };
        let cluster = slots.cluster();
        let now = |&node: &NodeId| {
            let host = cluster.host(node);
            let own = |&level: &u32| slots.holder(host, level) == Some(job as u32);
            (0..cluster.levels()).find(own).map_or(node, |level| cluster.slot(host, level))
        };
        nodes.iter().map(now).collect()
    }

    fn finish(self, cell: &Cell) -> Option<Snapshot> {
        let jobs = &cell.trace.workload.jobs;
        let at = self.at?;
        let mut locality = Locality::new(&cell.trace.topology);
        let holding = |(place, held): &(&usize, &RunningJob)| {
            held.start <= at && held.end > at || self.requested == Some(**place)
        };
        let mut held: Vec<_> = self.held.iter().filter(holding).collect();
        held.sort_by_key(|(place, held)| (held.start, **place));
        let requested = held.iter().position(|(place, _)| self.requested == Some(**place));
        let holds = held.into_iter().map(|(&place, held)| {
            let &Job { number, submit, run, estimate, size, .. } = &jobs[place];
            let topology = &cell.trace.topology;
            let per_point = topology.per_point();
            let points = self.reduced.get(&place).copied();
            let points = points.unwrap_or_else(|| topology.points(size));
            let run_time = match held.end {
                i64::MAX => run,
                end => end - held.start,
            };
            let job = JobMeasures {
                number,
                submit,
                arrival: self.arrivals[place],
                start: held.start,
                run: run_time,
                own_run: run,
                estimate,
                labels: cell.trace.workload.labels.of(&jobs[place]),
                size,
                served_size: size.min(points * per_point),
                points,
                held: held.nodes.len() as u32 * per_point,
                placement: Some(locality.placement(&held.nodes, points)),
                tied: None,
            };
            HeldAllocation { job, nodes: self.places(place, &held.nodes) }
        });
        let holds = holds.collect();
        if self.requested.is_some() && requested.is_none() {
            return None;
        }
        let runs = || self.starts.iter().zip(jobs).filter(|(start, _)| **start < i64::MAX);
        let own_end = runs().map(|(start, job)| start + job.run).max();
        let first = runs().map(|(start, _)| *start).min();
        let span = first.zip(self.last_end.or(own_end)).map(|(first, last)| [first, last]);
        let waits = |(arrival, start): &(&i64, &i64)| **arrival <= at && **start > at;
        let waiting = self.arrivals.iter().zip(&self.starts).filter(waits).count() as u64;
        // If a job holds a processor during an outage, the processor is out of service only after the job has ended.
        let busy: HashSet<NodeId> = self
            .held
            .values()
            .filter(|held| held.start <= at && held.end > at)
            .flat_map(|held| held.nodes.iter().copied())
            .collect();
        let down = cell.trace.outages().down_at(at).into_iter().filter(|node| !busy.contains(node));
        Some(Snapshot { at, holds, waiting, requested, down: down.collect(), span })
    }
}

impl Observer for SnapshotObserver<'_> {
    fn scheduled(&mut self, timeline: &Timeline) {
        (self.planned, self.slots) = (true, None);
        self.starts.copy_from_slice(timeline.starts());
        let submitted = || self.jobs.iter().map(|job| job.submit).collect();
        self.arrivals = timeline.arrivals().map_or_else(submitted, <[i64]>::to_vec);
        self.at = self.at.or(self.requested.map(|place| self.starts[place]));
    }

    fn is_done(&self) -> bool {
        self.planned && self.is_past
    }

    fn reduced(&mut self, id: JobId, _: &Job, reduction: &Reduction) {
        self.reduced.insert(id.index(), reduction.request.size);
    }

    fn arrived(&mut self, id: JobId, now: i64) {
        self.arrivals[id.index()] = now;
    }

    fn took(&mut self, id: JobId, now: i64, slots: &[NodeId]) {
        if !self.is_past
            && self.at.is_none_or(|at| now <= at)
            && let Some(all) = &mut self.slots
        {
            all.take(slots, id.0);
        }
    }

    fn started(&mut self, Decision { job: id, now, nodes, .. }: Decision<'_>) {
        self.starts[id.index()] = now;
        self.is_past = self.is_past || self.at.is_some_and(|at| now > at);
        if self.is_past {
            return;
        }
        let is_requested = self.requested == Some(id.index());
        let end = match self.planned {
            true => now + self.jobs[id.index()].run,
            false => i64::MAX,
        };
        if is_requested || self.at.is_none_or(|at| end > at) {
            self.held.insert(id.index(), RunningJob { start: now, end, nodes: nodes.to_vec() });
        }
        if is_requested {
            (self.at, self.is_past) = (Some(now), true);
        }
    }

    fn cut_off(&mut self, id: JobId, now: i64, _: &[NodeId], again: bool) {
        self.completed(id, now);
        if again && !self.is_past && self.at.is_none_or(|at| now <= at) {
            // The job waits again.
            self.starts[id.index()] = i64::MAX;
        }
    }

    fn completed(&mut self, id: JobId, now: i64) {
        if self.planned {
            return;
        }
        self.last_end = self.last_end.max(Some(now));
        if let (Some(slots), Some(held)) = (&mut self.slots, self.held.get(&id.index()))
            && self.at.is_none_or(|at| now <= at)
        {
            let cluster = slots.cluster();
            for &host in &held.nodes {
                slots.leave(cluster.host(host), id.0);
            }
        }
        // Jobs that ended before the instant have been removed.
        let Some(held) = self.held.get_mut(&id.index()) else { return };
        if held.end < i64::MAX {
            // The job has restarted on other processors.
            return;
        }
        match self.at {
            Some(at) if now > at => held.end = now,
            _ if self.requested == Some(id.index()) => held.end = now,
            _ => drop(self.held.remove(&id.index())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{Measure, RunContext, Trace, run_cell};
    use replay_engine::scheduler::registry::SchedulerSpec;
    use replay_engine::workload::{Policy, Window, Workload};

    fn cell(swf: &str, machine: &str, allocator: &str) -> Cell {
        let source = (swf.as_bytes(), "tiny.swf");
        let jobs = Workload::from_reader(
            source.0,
            source.1,
            &Policy::JOHNSON,
            &Window::ALL,
            Default::default(),
        );
        let fcfs = SchedulerSpec::fcfs();
        let machine = machine.parse().expect("a machine");
        let trace = Trace::new(
            Arc::new(jobs.expect("a trace")),
            machine,
            "johnson",
            std::slice::from_ref(&fcfs),
        );
        Cell {
            trace: Arc::new(trace),
            scheduler: fcfs,
            allocator: replay_strategies::allocator(allocator).expect("a strategy"),
            seed: 0,
        }
    }

    const SWF: &str = "; MaxProcs: 16\n1 0 -1 100 4\n2 10 -1 50 8\n3 20 -1 10 8\n4 200 -1 5 2\n";

    #[test]
    fn snapshots_match_a_small_example() {
        for allocator in ["mc1x1", "gabl", "first-fit"] {
            let cell = cell(SWF, "4x4", allocator);
            let take = |when| snapshot(&cell, when, &CancelToken::new()).expect("it runs");
            let numbers = |when| {
                let is_past = take(when).expect("a snapshot");
                let numbers: Vec<i64> = is_past.holds.iter().map(|hold| hold.job.number).collect();
                (is_past.at, numbers, is_past.waiting, is_past.requested)
            };
            assert_eq!(numbers(When::At(-5)), (-5, vec![], 0, None), "{allocator}");
            assert_eq!(numbers(When::At(0)), (0, vec![1], 0, None), "{allocator}");
            // The third job waits until the second job has ended.
            assert_eq!(numbers(When::At(59)), (59, vec![1, 2], 1, None), "{allocator}");
            assert_eq!(numbers(When::At(60)), (60, vec![1, 3], 0, None), "{allocator}");
            assert_eq!(numbers(When::Started(3)), (60, vec![1, 3], 0, Some(1)), "{allocator}");
            assert_eq!(numbers(When::Started(4)), (200, vec![4], 0, Some(0)), "{allocator}");
            assert_eq!(numbers(When::At(999)), (999, vec![], 0, None), "{allocator}");
            for at in [-5, 59, 999] {
                let span = take(When::At(at)).expect("a snapshot").span;
                assert_eq!(span, Some([0, 205]), "{allocator} {at}");
            }
            assert_eq!(take(When::Started(9)), None, "{allocator}");
        }
    }

    proptest! {
        /// A snapshot at any second contains exactly those jobs that the table of jobs lists as running at this second.
        /// The measures of the jobs are the same in the snapshot and in the table, and no two jobs share a processor.
        /// Both simulation loops are tested.
        #[test]
        fn snapshots_agree_with_the_run(
            jobs in prop::collection::vec((0i64..40, 0i64..60, 1u32..12), 1..60),
            at in 0i64..900,
            allocator in prop::sample::select(vec!["mc1x1", "mbs", "first-fit", "hilbert-best-fit", "random"]),
        ) {
            let mut swf = String::from("; MaxProcs: 16\n");
            let mut submit = 0;
            for (number, (gap, run, size)) in jobs.iter().enumerate() {
                submit += gap;
                swf += &format!("{} {submit} -1 {run} {size}\n", number + 1);
            }
            let cell = cell(&swf, "4x4", allocator);
            let measure = Measure { jobs: true, ..Measure::default() };
            let run = run_cell(0, &cell, measure, RunContext::new(&CancelToken::new())).expect("it runs");
            let mut expected: Vec<JobMeasures> = run.jobs.clone();
            expected.retain(|job| job.start <= at && job.start + job.run > at);
            expected.sort_by_key(|job| job.number);
            let is_past = snapshot(&cell, When::At(at), &CancelToken::new()).expect("it runs").expect("a snapshot");
            let mut found: Vec<JobMeasures> = is_past.holds.iter().map(|hold| hold.job).collect();
            found.sort_by_key(|job| job.number);
            prop_assert_eq!(found, expected);
            let mut nodes: Vec<NodeId> = is_past.holds.iter().flat_map(|hold| hold.nodes.clone()).collect();
            let all = nodes.len();
            nodes.sort_unstable();
            nodes.dedup();
            prop_assert_eq!(nodes.len(), all);
            for job in run.jobs.iter().filter(|job| job.run > 0).take(5) {
                let is_past = snapshot(&cell, When::Started(job.number), &CancelToken::new()).expect("it runs");
                let is_past = is_past.expect("a snapshot");
                let requested_job = &is_past.holds[is_past.requested.expect("it is there")].job;
                prop_assert_eq!(requested_job, job);
            }
        }
    }
}
