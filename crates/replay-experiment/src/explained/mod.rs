//! The decisions of a run that start one job, step by step.
//!
//! The run is made twice: once to find which decisions of the allocator gave the job its processors (one, unless
//! outages cut it off and it ran anew), and why the scheduler named it; and as far as there with a [listener](replay_core::allocator::notes).
//! Scheduler and allocator are those of the run, so that what is told is what happened.

pub mod data;

pub mod steps;
mod witness;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::witness::{Listener, Witness};
pub use self::witness::{Moment, Story, Told};
use super::Cell;
use super::admitted::Admitted;
use super::problem::CellProblem;
use replay_core::allocator::Census;
use replay_core::cluster;
use replay_core::metrics::{Locality, Placement};
use replay_core::simulation::{
    CoupledError, Course, Observer, Scene, WhenDown, replay_while, simulate_amid,
};
use replay_core::stop::Stop;
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
    pub numbers: Arc<[i64]>,
    /// When it was cut off to run anew, if it was.
    pub cut: Option<i64>,
}

/// Explains all starts of the job of this number, in order: one, unless it was cut off by outages and ran anew. Empty if
/// there is no such job, or it never started.
///
/// # Errors
/// [`CellProblem`] as for any run of the cell.
pub fn explain(cell: &Cell, number: i64, stop: &Stop) -> Result<Vec<Explained>, CellProblem> {
    let mut allocator = cell.allocator.build(&cell.trace.topology, cell.seed)?;
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
    let refused = |story: Option<&Story>| story?.refused.iter().find_map(|one| one.1);
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
    stories: Vec<Story>,
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
    /// When it was cut off to run anew.
    cut: Option<i64>,
}

/// Runs the cell until the job starts, or where outages can send it back to the queue, until it ends.
fn pass(cell: &Cell, target: JobId, wanted: Vec<u64>, stop: &Stop) -> Result<Passed, CellProblem> {
    let topology = &cell.trace.topology;
    let decisions = Arc::new(AtomicU64::new(0));
    let allocator = cell.allocator.build(topology, cell.seed)?;
    let mut allocator = Listener::new(allocator, decisions.clone(), wanted);
    let points = topology.points(cell.trace.workload.jobs[target.index()].size) as usize;
    if cell.scheduler.recorded().is_some() {
        let schedule = cell.trace.schedule(&cell.scheduler, stop)?;
        let scene = Scene { jobs: cell.trace.jobs(), topology, timed: false, stop };
        let mut found = Vec::new();
        replay_while(&schedule.timeline, scene, &mut allocator, false, |decision| {
            if decision.job != target {
                return ControlFlow::Continue(());
            }
            let start = schedule.timeline.starts()[target.index()];
            let (nodes, decision) = (decision.nodes.to_vec(), decisions.load(Ordering::Relaxed));
            found.push(Found { start, nodes, points, decision, cut: None });
            ControlFlow::Break(())
        })?;
        return Ok(Passed { found, stories: Vec::new(), told: allocator.told });
    }
    // A flag of its own: the rest of the run is of no interest.
    let over = stop.until(std::time::Instant::now() + std::time::Duration::from_secs(1 << 30));
    let mut service = cluster::service(topology, &allocator, 1.0);
    let scheduler = cell.scheduler.build(topology.slots() as u32);
    let mut scheduler = Witness::new(scheduler, target, decisions.clone());
    let outages = cell.trace.outages();
    let returns = !outages.is_empty() && outages.running == WhenDown::Requeue;
    let mut watcher = Watcher {
        target,
        asked: points,
        points,
        decisions,
        over: &over,
        returns,
        is_done: false,
        found: Vec::new(),
    };
    let scene = Scene { jobs: cell.trace.jobs(), topology, timed: false, stop: &over };
    let course = Course { follows: &cell.trace.chains().follows, outages };
    let (service, allocator_of) = (service.as_mut(), &mut allocator);
    match simulate_amid(scene, course, &mut scheduler, allocator_of, service, &mut watcher) {
        Ok(_) => {}
        Err(CoupledError::Stopped(_)) if watcher.is_done => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Passed { found: watcher.found, stories: scheduler.stories(), told: allocator.told })
}

/// Waits for the job.
struct Watcher<'a> {
    target: JobId,
    /// Points that it asks for, and that it is given if not reduced.
    asked: usize,
    points: usize,
    decisions: Arc<AtomicU64>,
    over: &'a Stop,
    /// Whether it can go back to the queue.
    returns: bool,
    is_done: bool,
    found: Vec<Found>,
}

impl Watcher<'_> {
    /// The rest of the run is of no interest.
    fn done(&mut self) {
        self.is_done = true;
        self.over.raise();
    }
}

impl Observer for Watcher<'_> {
    fn reduced(
        &mut self,
        id: JobId,
        _: u32,
        reduction: &replay_core::allocator::reduced::Reduction,
    ) {
        if id == self.target {
            self.points = reduction.request.size as usize;
        }
    }

    fn started(&mut self, id: JobId, now: i64, nodes: &[NodeId], _: Option<Census>) {
        if id != self.target || self.is_done {
            return;
        }
        self.found.push(Found {
            start: now,
            nodes: nodes.to_vec(),
            points: std::mem::replace(&mut self.points, self.asked),
            decision: self.decisions.load(Ordering::Relaxed),
            cut: None,
        });
        if !self.returns {
            self.done();
        }
    }

    fn cut_off(&mut self, id: JobId, now: i64, _: &[NodeId], again: bool) {
        if let Some(last) = self.found.last_mut().filter(|_| id == self.target && again) {
            last.cut = Some(now);
        }
    }

    fn completed(&mut self, id: JobId, _: i64) {
        if id == self.target {
            self.done();
        }
    }
}

#[cfg(test)]
mod tests;
