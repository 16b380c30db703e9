//! Explains, step by step, why a run starts a given job at its start time and on its processors.
//!
//! The run is simulated twice. The first simulation finds the reason why the scheduler selected the job, and the
//! decisions of the allocator that allocated processors to the job. There are several decisions only if outages
//! interrupted the job and it restarted. The second simulation records these decisions with a
//! [recorder](replay_engine::allocator::explain) and then ends. Both simulations use the scheduler and the allocator of
//! the run, so the explanation describes the run itself.

pub mod data;

mod recording;
pub mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::recording::{JobHistory, Moment, RecordedDecision, RejectedSelection};
use self::recording::{RecordingAllocator, RecordingScheduler};
use super::Cell;
use super::admission::Admitted;
use super::problem::CellProblem;
use replay_engine::allocator::{Allocator, Reduction};
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::{Locality, Placement};
use replay_engine::simulation::{Decision, Observer, Starts, WhenDown};
use replay_engine::topology::NodeId;
use replay_engine::workload::{Job, JobId};

/// Explanation of one start of a job, or of one restart after an outage. The explanation contains the reasons for the
/// start time and for the choice of the processors.
#[derive(Clone, PartialEq, Debug)]
pub struct Explained {
    /// The job.
    pub job: Job,
    /// Start time.
    pub start: i64,
    /// History in the queue of the scheduler; `None` if the job started as recorded in the log.
    pub history: Option<JobHistory>,
    /// First decision after which the job did not start, because the allocator refused it or gave it reserved
    /// processors; `None` if there is no such decision.
    pub refusal: Option<RecordedDecision>,
    /// Decision that allocated the processors.
    pub decision: RecordedDecision,
    /// Allocated processors.
    pub nodes: Vec<NodeId>,
    /// Placement metrics of the processors.
    pub placement: Placement,
    /// Job numbers by id.
    pub numbers: Arc<[i64]>,
    /// For a restart, the time at which an outage interrupted the job.
    pub cut: Option<i64>,
}

/// Explains, in order, all starts of the job with this job number. There are several starts only if outages interrupted
/// the job and it restarted. The result is empty if the job does not exist or never started.
///
/// # Errors
/// [`CellProblem`] if the cell cannot run.
pub fn explain(
    cell: &Cell,
    number: i64,
    stop: &CancelToken,
) -> Result<Vec<Explained>, CellProblem> {
    let mut allocator = cell.build_allocator()?;
    let Admitted { cell, .. } = Admitted::by(allocator.as_mut(), cell)?;
    let cell = cell.as_ref();
    let jobs = &cell.trace.workload.jobs;
    let Some(place) = jobs.iter().position(|job| job.number == number) else {
        return Ok(Vec::new());
    };
    let target = JobId(place as u32);
    let mut simulate = |wanted| simulate(cell, allocator.as_mut(), target, wanted, stop);
    let Simulated { records, mut histories, .. } = simulate(Vec::new())?;
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let refused =
        |history: Option<&JobHistory>| history?.first_rejection().and_then(|one| one.decision);
    let refusals = histories.iter().filter_map(|history| refused(Some(history)));
    let wanted = refusals.chain(records.iter().map(|record| record.decision)).collect();
    let mut decisions = simulate(wanted)?.decisions;
    let topology = &cell.trace.topology;
    let mut locality = Locality::new(topology);
    let numbers: Arc<[i64]> = jobs.iter().map(|job| job.number).collect();
    let mut starts = Vec::new();
    histories.reverse();
    for record in records {
        let history = histories.pop();
        let refusal = refused(history.as_ref()).and_then(|number| decisions.remove(&number));
        let Some(decision) = decisions.remove(&record.decision) else { break };
        let points = record.points.min(record.nodes.len()) as u32;
        starts.push(Explained {
            job: jobs[place],
            start: record.start,
            history,
            refusal,
            decision,
            placement: locality.placement(&record.nodes, points),
            nodes: record.nodes,
            numbers: numbers.clone(),
            cut: record.cut,
        });
    }
    Ok(starts)
}

/// Recorded data of one simulation of the run.
struct Simulated {
    /// All starts of the job, in order.
    records: Vec<StartRecord>,
    /// For each start, the history in the queue before the start; empty if jobs start as recorded in the log.
    histories: Vec<JobHistory>,
    decisions: std::collections::HashMap<u64, RecordedDecision>,
}

/// A start of the job.
struct StartRecord {
    start: i64,
    nodes: Vec<NodeId>,
    /// Number of points on which the job's processes run.
    points: usize,
    /// Number of the allocator's decision that gave the job its processors.
    decision: u64,
    /// For a restart, the time at which the job was interrupted.
    cut: Option<i64>,
}

/// Simulates the cell until the job starts. If outages can return the job to the queue, the simulation continues until
/// the job ends.
fn simulate(
    cell: &Cell,
    allocator: &mut dyn Allocator,
    target: JobId,
    wanted: Vec<u64>,
    stop: &CancelToken,
) -> Result<Simulated, CellProblem> {
    let topology = &cell.trace.topology;
    let decisions = Arc::new(AtomicU64::new(0));
    let mut allocator = RecordingAllocator::new(allocator, decisions.clone(), wanted);
    let points = topology.points(cell.trace.workload.jobs[target.index()].size) as usize;
    let outages = cell.trace.outages();
    let mut observer = StartObserver {
        target,
        requested: points,
        points,
        decisions: decisions.clone(),
        returns: !outages.is_empty() && outages.running == WhenDown::Requeue,
        is_done: false,
        records: Vec::new(),
    };
    let mut recorder = RecordingScheduler::new(cell.build_scheduler(), target, decisions);
    let mut simulation = cell.trace.simulation(stop);
    if cell.scheduler.recorded().is_none() {
        simulation = simulation.with_every_event();
    }
    let schedule = cell.replayed_schedule(&simulation, &allocator, stop)?;
    let starts = match &schedule {
        Some(schedule) => Starts::Timeline(&schedule.timeline),
        None => Starts::Scheduler(&mut recorder),
    };
    simulation.run(starts, &mut allocator, &mut observer)?;
    let histories = if schedule.is_some() { Vec::new() } else { recorder.histories() };
    Ok(Simulated { records: observer.records, histories, decisions: allocator.decisions_by_number })
}

/// Observes the starts of the job.
struct StartObserver {
    target: JobId,
    /// Number of points that the job requests.
    requested: usize,
    /// Number of points that the job gets at its next start.
    points: usize,
    decisions: Arc<AtomicU64>,
    /// Whether the job can return to the queue.
    returns: bool,
    is_done: bool,
    records: Vec<StartRecord>,
}

impl Observer for StartObserver {
    fn is_done(&self) -> bool {
        self.is_done
    }

    fn reduced(&mut self, id: JobId, _: &Job, reduction: &Reduction) {
        if id == self.target {
            self.points = reduction.request.size as usize;
        }
    }

    fn started(&mut self, Decision { job: id, now, nodes, .. }: Decision<'_>) {
        if id != self.target {
            return;
        }
        self.records.push(StartRecord {
            start: now,
            nodes: nodes.to_vec(),
            points: std::mem::replace(&mut self.points, self.requested),
            decision: self.decisions.load(Ordering::Relaxed),
            cut: None,
        });
        self.is_done = !self.returns;
    }

    fn cut_off(&mut self, id: JobId, now: i64, _: &[NodeId], again: bool) {
        if let Some(last) = self.records.last_mut().filter(|_| id == self.target && again) {
            last.cut = Some(now);
        }
    }

    fn completed(&mut self, id: JobId, _: i64) {
        self.is_done |= id == self.target;
    }
}

#[cfg(test)]
mod tests;
