use super::input::Input;
use super::{Decision, Event, Observer, SimulationError, Timeline};
use crate::allocator::{Allocator, MachineEvent, Refusal, Request, RunSetup, Times};
use crate::machine::Machine;
use crate::topology::NodeId;

/// Replays a timeline. The machine must have the number of processors for which the timeline was
/// computed. The loop allocates no memory per decision once its buffers have grown.
///
/// # Errors
/// [`SimulationError`] if the allocator refuses a job, or on cancellation.
pub fn replay<O: Observer>(
    timeline: &Timeline,
    input: Input<'_>,
    allocator: &mut dyn Allocator,
    observer: &mut O,
) -> Result<(), SimulationError> {
    let Input { jobs, topology, stop, count_ties, .. } = input;
    let mut machine = Machine::new(topology.clone());
    let mut held: Vec<Vec<NodeId>> = Vec::new();
    let mut spare: Vec<u32> = Vec::new();
    let mut slots = vec![0u32; jobs.len()];
    let setup = RunSetup { jobs, stop: stop.clone(), count_ties, ..RunSetup::default() };
    allocator.begin(&setup).map_err(SimulationError::Allocator)?;
    observer.scheduled(timeline);
    let arrivals = timeline.arrivals();
    for event in timeline.events() {
        match *event {
            Event::Start(id) => {
                stop.check()?;
                let job = &jobs[id.index()];
                let now = timeline.starts()[id.index()];
                // A job with a predecessor joins the queue at its arrival, which may be before its submission.
                let submitted = Some(arrivals.map_or(job.submit, |times| times[id.index()]));
                let times = Times { now, limit: job.limit, submitted, job: Some(job.number) };
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
                    Err(Refusal::Cancelled(cancelled)) => return Err(cancelled.into()),
                    Err(refusal) => return Err(SimulationError::Refused(job.number, refusal)),
                }
                debug_assert_eq!(nodes.len(), job.size as usize);
                machine.occupy(nodes);
                let tied = if count_ties { allocator.stats().tied_sets } else { None };
                observer.started(Decision { job: id, now, nodes, census: None, tied });
                if observer.is_done() {
                    return Ok(());
                }
            }
            Event::End(id) => {
                let slot = slots[id.index()];
                let nodes = &held[slot as usize];
                machine.release(nodes);
                allocator.on_event(&machine, MachineEvent::Released(nodes));
                spare.push(slot);
                observer.completed(id, timeline.starts()[id.index()] + jobs[id.index()].run);
            }
        }
    }
    Ok(())
}
