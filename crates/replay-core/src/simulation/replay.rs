use std::ops::ControlFlow;

use super::{Event, Scene, Timeline};
use crate::allocator::{Allocator, MachineEvent, Refusal, Request, RunSetup, Times};
use crate::machine::Machine;
use crate::stop::Stopped;
use crate::topology::NodeId;
use crate::workload::JobId;

/// An allocation as it is made.
#[derive(Debug)]
pub struct Decision<'a> {
    /// The job.
    pub job: JobId,
    /// Its processors.
    pub nodes: &'a [NodeId],
    /// Number of distinct processor sets with the best score, if ties were asked for and
    /// the strategy knows them.
    pub tied: Option<u32>,
}

/// A replay that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The allocator refused although the timeline had counted the processors.
    #[error("the allocator refused job {0}: {1}; such a strategy needs the coupled simulation")]
    Refused(i64, Refusal),
    /// The allocator cannot be made for these jobs.
    #[error("the allocator cannot be made for these jobs: {0}")]
    Allocator(String),
    /// Somebody wants no more of it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Replays the timeline of a scene, whose machine has the processors that the timeline was
/// computed for. `observe` sees every allocation; ties are counted if `ties`. The loop
/// allocates no memory per decision once its buffers have grown.
///
/// # Errors
/// [`ReplayError`] if the allocator refuses a job, or the scene's flag is raised.
pub fn replay(
    timeline: &Timeline,
    scene: Scene<'_>,
    allocator: &mut dyn Allocator,
    ties: bool,
    mut observe: impl FnMut(Decision<'_>),
) -> Result<(), ReplayError> {
    replay_while(timeline, scene, allocator, ties, |decision| {
        observe(decision);
        ControlFlow::Continue(())
    })
}

/// [`replay`] until `observe` breaks it off; the decision it saw last is made, no further
/// one is.
///
/// # Errors
/// As [`replay`].
pub fn replay_while(
    timeline: &Timeline,
    scene: Scene<'_>,
    allocator: &mut dyn Allocator,
    ties: bool,
    mut observe: impl FnMut(Decision<'_>) -> ControlFlow<()>,
) -> Result<(), ReplayError> {
    let Scene { jobs, topology, stop, .. } = scene;
    let mut machine = Machine::new(topology.clone());
    let mut held: Vec<Vec<NodeId>> = Vec::new();
    let mut spare: Vec<u32> = Vec::new();
    let mut slots = vec![0u32; jobs.len()];
    let setup = RunSetup { jobs, stop: stop.clone(), count_ties: ties, ..RunSetup::default() };
    allocator.begin(&setup).map_err(ReplayError::Allocator)?;
    for event in timeline.events() {
        match *event {
            Event::Start(id) => {
                stop.check()?;
                let job = &jobs[id.index()];
                let times = Times { now: timeline.starts()[id.index()], limit: job.limit };
                let request = Request { times, ..Request::shaped(job.size, job.shape) };
                let slot = spare.pop().unwrap_or_else(|| {
                    held.push(Vec::new());
                    held.len() as u32 - 1
                });
                slots[id.index()] = slot;
                let nodes = &mut held[slot as usize];
                nodes.clear();
                match allocator.allocate(&machine, request, nodes) {
                    Ok(()) => {}
                    Err(Refusal::Stopped(stopped)) => return Err(stopped.into()),
                    Err(refusal) => return Err(ReplayError::Refused(job.number, refusal)),
                }
                debug_assert_eq!(nodes.len(), job.size as usize);
                machine.occupy(nodes);
                let tied = if ties { allocator.stats().tied_sets } else { None };
                if observe(Decision { job: id, nodes, tied }).is_break() {
                    return Ok(());
                }
            }
            Event::End(id) => {
                let slot = slots[id.index()];
                let nodes = &held[slot as usize];
                machine.release(nodes);
                allocator.on_event(&machine, MachineEvent::Released(nodes));
                spare.push(slot);
            }
        }
    }
    Ok(())
}
