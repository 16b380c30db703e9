//! One decision of a run, step by step.
//!
//! The run is made twice: once to find which decision of the allocator gave the job its processors, and
//! why the scheduler named it; and as far as there with somebody who [listens](crate::allocator::notes).
//! Scheduler and allocator are those of the run, so that what is told is what happened.

pub mod data;
mod rivals;
pub mod steps;
mod witness;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::witness::{Listener, Witness};
pub use self::witness::{Moment, Story, Told};
use super::Cell;
use super::runner::CellProblem;
use crate::allocator::Census;
use crate::cluster;
use crate::metrics::{Locality, Placement};
use crate::simulation::{CoupledError, Course, Observer, Scene, replay_while, simulate_amid};
use crate::stop::Stop;
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Why a job started when and where it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Explained {
    /// The job.
    pub job: Job,
    /// When it started.
    pub start: i64,
    /// What the scheduler did; `None` if it started when the log says.
    pub story: Option<Story>,
    /// The decision that refused it first, if one did.
    pub refusal: Option<Told>,
    /// The decision that gave it processors.
    pub decision: Told,
    /// Its processors.
    pub nodes: Vec<NodeId>,
    /// How close together they are.
    pub placement: Placement,
    /// Numbers of jobs, by id.
    pub numbers: Vec<i64>,
}

/// Explains the start of the job of this number. `None` if there is none, or it never started.
///
/// # Errors
/// [`CellProblem`] as for any run of the cell.
pub fn explain(cell: &Cell, number: i64, stop: &Stop) -> Result<Option<Explained>, CellProblem> {
    let jobs = &cell.trace.workload.jobs;
    let Some(place) = jobs.iter().position(|job| job.number == number) else { return Ok(None) };
    let target = JobId(place as u32);
    let first = pass(cell, target, Vec::new(), stop)?;
    let Some(found) = first.found else { return Ok(None) };
    let refused = first.story.as_ref().and_then(|story| story.refused.iter().find_map(|r| r.1));
    let wanted = refused.into_iter().chain([found.decision]).collect();
    let mut second = pass(cell, target, wanted, stop)?;
    let refusal = refused.and_then(|number| second.told.remove(&number));
    let Some(decision) = second.told.remove(&found.decision) else { return Ok(None) };
    let topology = &cell.trace.topology;
    let points = found.points.min(found.nodes.len()) as u32;
    Ok(Some(Explained {
        job: jobs[place],
        start: found.start,
        story: first.story,
        refusal,
        decision,
        placement: Locality::new(topology).placement(&found.nodes, points),
        nodes: found.nodes,
        numbers: jobs.iter().map(|job| job.number).collect(),
    }))
}

/// What one way through the run has shown.
struct Passed {
    found: Option<Found>,
    story: Option<Story>,
    told: std::collections::HashMap<u64, Told>,
}

/// A job that started.
struct Found {
    start: i64,
    nodes: Vec<NodeId>,
    /// Points that run its processes.
    points: usize,
    /// Which decision of the allocator it was.
    decision: u64,
}

/// Runs the cell until the job starts.
fn pass(cell: &Cell, target: JobId, wanted: Vec<u64>, stop: &Stop) -> Result<Passed, CellProblem> {
    let topology = &cell.trace.topology;
    let decisions = Arc::new(AtomicU64::new(0));
    let allocator = cell.allocator.build(topology, cell.seed)?;
    let mut allocator = Listener::new(allocator, decisions.clone(), wanted);
    let points = topology.points(cell.trace.workload.jobs[target.index()].size) as usize;
    if cell.scheduler.recorded().is_some() {
        let schedule = cell.trace.schedule(&cell.scheduler, stop)?;
        let scene = Scene { jobs: cell.trace.jobs(), topology, timed: false, stop };
        let mut found = None;
        replay_while(&schedule.timeline, scene, &mut allocator, false, |decision| {
            if decision.job != target {
                return ControlFlow::Continue(());
            }
            let start = schedule.timeline.starts()[target.index()];
            let (nodes, decision) = (decision.nodes.to_vec(), decisions.load(Ordering::Relaxed));
            found = Some(Found { start, nodes, points, decision });
            ControlFlow::Break(())
        })?;
        return Ok(Passed { found, story: None, told: allocator.told });
    }
    // A flag of its own: the rest of the run is of no interest.
    let over = stop.until(std::time::Instant::now() + std::time::Duration::from_secs(1 << 30));
    let mut service = cluster::service(topology, &allocator, 1.0);
    let scheduler = cell.scheduler.build(topology.slots() as u32);
    let mut scheduler = Witness::new(scheduler, target, decisions.clone());
    let mut watcher = Watcher { target, points, decisions, over: &over, found: None };
    let scene = Scene { jobs: cell.trace.jobs(), topology, timed: false, stop: &over };
    let course = Course { follows: &cell.trace.chains().follows, outages: cell.trace.outages() };
    let (service, allocator_of) = (service.as_mut(), &mut allocator);
    match simulate_amid(scene, course, &mut scheduler, allocator_of, service, &mut watcher) {
        Ok(_) => {}
        Err(CoupledError::Stopped(_)) if watcher.found.is_some() => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Passed { found: watcher.found, story: Some(scheduler.story), told: allocator.told })
}

/// Waits for the job.
struct Watcher<'a> {
    target: JobId,
    points: usize,
    decisions: Arc<AtomicU64>,
    over: &'a Stop,
    found: Option<Found>,
}

impl Observer for Watcher<'_> {
    fn reduced(&mut self, id: JobId, _: u32, reduction: &crate::allocator::reduced::Reduction) {
        if id == self.target && self.found.is_none() {
            self.points = reduction.request.size as usize;
        }
    }

    fn started(&mut self, id: JobId, now: i64, nodes: &[NodeId], _: Option<Census>) {
        if id == self.target && self.found.is_none() {
            self.found = Some(Found {
                start: now,
                nodes: nodes.to_vec(),
                points: self.points,
                decision: self.decisions.load(Ordering::Relaxed),
            });
            self.over.raise();
        }
    }
}

#[cfg(test)]
mod tests;
