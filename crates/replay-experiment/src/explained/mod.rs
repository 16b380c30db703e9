//! The decisions of a run that start one job, step by step.
//!
//! The run is made twice: once to find which decisions of the allocator gave the job its processors (one, unless
//! outages cut it off and it ran anew), and why the scheduler named it; and as far as there with a [listener](replay_core::allocator::notes).
//! Scheduler and allocator are those of the run, so that what is told is what happened.

pub mod data;

mod recording;
pub mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::recording::{JobHistory, Moment, RecordedDecision};
use self::recording::{RecordingAllocator, RecordingScheduler};
use super::Cell;
use super::admission::Admitted;
use super::problem::CellProblem;
use replay_core::allocator::reduced::Reduction;
use replay_core::cancel::CancelToken;
use replay_core::metrics::{Locality, Placement};
use replay_core::simulation::{Decision, Observer, Starts, WhenDown};
use replay_core::topology::NodeId;
use replay_core::workload::{Job, JobId};

/// Why a job started when and where it did, or started anew after it had been cut off.
#[derive(Clone, PartialEq, Debug)]
pub struct Explained {
    /// The job.
    pub job: Job,
    /// When it started.
    pub start: i64,
    /// What the scheduler did; `None` if it started when the log says.
    pub story: Option<JobHistory>,
    /// The decision that refused it first, if one did.
    pub refusal: Option<RecordedDecision>,
    /// The decision that gave it processors.
    pub decision: RecordedDecision,
    /// Its processors.
    pub nodes: Vec<NodeId>,
    /// How close together they are.
    pub placement: Placement,
    /// Numbers of jobs, by id.
    pub numbers: Arc<[i64]>,
    /// When it was cut off to run anew, if it was.
    pub cut: Option<i64>,
}

/// Explains all starts of the job of this number, in order: one, unless it was cut off by outages and ran anew. Empty if
/// there is no such job, or it never started.
///
/// # Errors
/// [`CellProblem`] as for any run of the cell.
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
    let Passed { found, mut stories, .. } = pass(cell, target, Vec::new(), stop)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |story: Option<&JobHistory>| story?.refused.iter().find_map(|one| one.1);
    let asked = stories.iter().filter_map(|story| refused(Some(story)));
    let wanted = asked.chain(found.iter().map(|found| found.decision)).collect();
    let mut told = pass(cell, target, wanted, stop)?.told;
    let topology = &cell.trace.topology;
    let mut locality = Locality::new(topology);
    let numbers: Arc<[i64]> = jobs.iter().map(|job| job.number).collect();
    let mut starts = Vec::new();
    stories.reverse();
    for found in found {
        let story = stories.pop();
        let refusal = refused(story.as_ref()).and_then(|number| told.remove(&number));
        let Some(decision) = told.remove(&found.decision) else { break };
        let points = found.points.min(found.nodes.len()) as u32;
        starts.push(Explained {
            job: jobs[place],
            start: found.start,
            story,
            refusal,
            decision,
            placement: locality.placement(&found.nodes, points),
            nodes: found.nodes,
            numbers: numbers.clone(),
            cut: found.cut,
        });
    }
    Ok(starts)
}

/// What one way through the run has shown.
struct Passed {
    /// The starts of the job, in order.
    found: Vec<Found>,
    /// What the scheduler did before each of them; none if jobs start when the log says.
    stories: Vec<JobHistory>,
    told: std::collections::HashMap<u64, RecordedDecision>,
}

/// A job that started.
struct Found {
    start: i64,
    nodes: Vec<NodeId>,
    /// Points that run its processes.
    points: usize,
    /// Which decision of the allocator it was.
    decision: u64,
    /// When it was cut off to run anew.
    cut: Option<i64>,
}

/// Runs the cell until the job starts, or where outages can send it back to the queue, until it ends.
fn pass(
    cell: &Cell,
    target: JobId,
    wanted: Vec<u64>,
    stop: &CancelToken,
) -> Result<Passed, CellProblem> {
    let topology = &cell.trace.topology;
    let decisions = Arc::new(AtomicU64::new(0));
    let allocator = cell.allocator.build(topology, cell.seed)?;
    let mut allocator = RecordingAllocator::new(allocator, decisions.clone(), wanted);
    let points = topology.points(cell.trace.workload.jobs[target.index()].size) as usize;
    let outages = cell.trace.outages();
    let mut watcher = Watcher {
        target,
        asked: points,
        points,
        decisions: decisions.clone(),
        returns: !outages.is_empty() && outages.running == WhenDown::Requeue,
        is_done: false,
        found: Vec::new(),
    };
    let scheduler = cell.scheduler.build(topology.slots() as u32);
    let mut witness = RecordingScheduler::new(scheduler, target, decisions);
    let is_recorded = cell.scheduler.recorded().is_some();
    let schedule;
    let starts = match is_recorded {
        true => {
            schedule = cell.trace.schedule(&cell.scheduler, stop)?;
            Starts::Timeline(&schedule.timeline)
        }
        false => Starts::Scheduler(&mut witness),
    };
    let simulation = cell.trace.simulation(stop).with_every_event();
    simulation.run(starts, &mut allocator, &mut watcher)?;
    let stories = if is_recorded { Vec::new() } else { witness.stories() };
    Ok(Passed { found: watcher.found, stories, told: allocator.told })
}

/// Waits for the job.
struct Watcher {
    target: JobId,
    /// Points that it asks for, and that it is given if not reduced.
    asked: usize,
    points: usize,
    decisions: Arc<AtomicU64>,
    /// Whether it can go back to the queue.
    returns: bool,
    is_done: bool,
    found: Vec<Found>,
}

impl Observer for Watcher {
    fn is_done(&self) -> bool {
        self.is_done
    }

    fn reduced(&mut self, id: JobId, _: u32, reduction: &Reduction) {
        if id == self.target {
            self.points = reduction.request.size as usize;
        }
    }

    fn started(&mut self, Decision { job: id, now, nodes, .. }: Decision<'_>) {
        if id != self.target {
            return;
        }
        self.found.push(Found {
            start: now,
            nodes: nodes.to_vec(),
            points: std::mem::replace(&mut self.points, self.asked),
            decision: self.decisions.load(Ordering::Relaxed),
            cut: None,
        });
        self.is_done = !self.returns;
    }

    fn cut_off(&mut self, id: JobId, now: i64, _: &[NodeId], again: bool) {
        if let Some(last) = self.found.last_mut().filter(|_| id == self.target && again) {
            last.cut = Some(now);
        }
    }

    fn completed(&mut self, id: JobId, _: i64) {
        self.is_done |= id == self.target;
    }
}

#[cfg(test)]
mod tests;
